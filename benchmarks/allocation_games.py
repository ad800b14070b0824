"""A real ablation with games allocated in rounds, and the same one as a fixed equal split: verdicts and games of both.

    python benchmarks/allocation_games.py [--limit nodes=500] [--pairs 600] [--analyses 20] [--out DIR]

The ablation is configs/ablations/first.toml without the comparisons on the clock. All games of the equal split are
played; those that the rounds would have asked for are among them, for a game is the same whenever it is played. The
games are the same on every machine; two processors need some twenty minutes. Given again, the command goes on where it
was stopped.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from elolab.arena.play.store import Store
from elolab.cli.shared.parser import usable_processors
from elolab.engine.settings.configuration import read_toml
from elolab.tuning.ablation.allocation import Allocation
from elolab.tuning.ablation.rows import PlayedComparisons
from elolab.tuning.ablation.run import ablate, prepare_ablation
from elolab.tuning.ablation.spec import AblationSpec, ablation_from_mapping
from elolab.tuning.matches import MatchTable

SPECIFICATION = Path(__file__).parent.parent / "configs" / "ablations" / "first.toml"


def in_rounds(spec: AblationSpec, directory: Path) -> Allocation:
    """What becomes of the ablation by games that are all stored already."""
    plan = prepare_ablation(spec)
    with Store(directory, read_only=True) as store:
        table = MatchTable(spec.conditions, plan.suite, store)
        played = PlayedComparisons(spec.comparisons, plan.matches, spec.factorials, table, spec.rule)
        allocation = Allocation([match.pairs for match in plan.matches], played.research_questions(spec), spec.rule)
        while (wanted := allocation.next_pairs()) is not None:
            allocation.analyse(wanted)
    return allocation


def main() -> None:
    """Print a row a comparison."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", default="nodes=500", help="of every move (default %(default)s)")
    parser.add_argument("--pairs", type=int, default=600, help="of games in each comparison (default %(default)s)")
    parser.add_argument("--analyses", type=int, default=20, help="of a comparison (default %(default)s, as in claims)")
    parser.add_argument("--out", type=Path, default=Path("results/allocation"), help="folder (default %(default)s)")
    arguments = parser.parse_args()
    data = {**read_toml(SPECIFICATION), "limit": arguments.limit, "pairs": arguments.pairs}
    data["values"] = [one for one in data["values"] if "limit" not in one]
    data["nodes_to_depth"] = {"depth": 0}
    data["rounds"] = 1
    spec = ablation_from_mapping(data, str(SPECIFICATION))
    split = ablate(spec, arguments.out, concurrency=usable_processors())
    if split.interrupted:
        sys.exit("interrupted; the same command goes on")
    allocation = in_rounds(replace(spec, rule=replace(spec.rule, rounds=arguments.analyses)), arguments.out)
    print(f"{'':<32}{'in rounds':>12}{'games':>8}{'equal split':>14}{'games':>8}{'Elo':>8}")
    same = contradicted = 0
    for row, question, pairs in zip(split.rows, allocation.questions, allocation.pairs, strict=True):
        same += question.verdict == row.verdict
        contradicted += {question.verdict, row.verdict} == {"better", "worse"}
        ways = f"{question.verdict:>12}{2 * pairs:>8}{row.verdict:>14}{row.games:>8}"
        print(f"{row.label[:31]:<32}{ways}{row.elo:>+8.1f}")
    games, most = 2 * sum(allocation.pairs), sum(row.games for row in split.rows)
    print(f"{games} of {most} games, {100 * games / most:.1f} %; the same verdict {same} of {len(split.rows)} times, "
          f"an opposite one {contradicted} times")  # fmt: skip


if __name__ == "__main__":
    main()
