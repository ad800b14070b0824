"""A real ablation with games allotted in rounds, and the same one as a fixed equal split: verdicts and games of both.

    python benchmarks/allotment_games.py [--limit nodes=500] [--pairs 200] [--out DIR]

The ablation is configs/ablations/first.toml without the comparisons on the clock. The games are the same on every
machine; two processors need some ten minutes. Given again, the command goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from engine.command_line import usable_processors
from engine.configuration import read_toml
from tuning.ablation import Ablated, ablate
from tuning.comparisons import ablation_from_mapping

SPECIFICATION = Path(__file__).parent.parent / "configs" / "ablations" / "first.toml"
LOOKS = 10


def ablated(data: dict[str, Any], rounds: int, out: Path) -> Ablated:
    """The ablation with so many looks at each comparison, each after an equal part of its games."""
    spec = ablation_from_mapping({**data, "rounds": rounds}, str(SPECIFICATION))
    return ablate(spec, out, concurrency=usable_processors())


def main() -> None:
    """Print a row a comparison."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", default="nodes=500", help="of every move (default %(default)s)")
    parser.add_argument("--pairs", type=int, default=200, help="of games in each comparison (default %(default)s)")
    parser.add_argument("--out", type=Path, default=Path("results/allotment"), help="folder (default %(default)s)")
    arguments = parser.parse_args()
    data = {**read_toml(SPECIFICATION), "limit": arguments.limit, "pairs": arguments.pairs}
    data["values"] = [one for one in data["values"] if "limit" not in one]
    data["nodes_to_depth"] = {"depth": 0}
    in_rounds = ablated(data, LOOKS, arguments.out / "in-rounds")
    split = ablated(data, 1, arguments.out / "equal-split")
    if in_rounds.interrupted or split.interrupted:
        sys.exit("interrupted; the same command goes on")
    print(f"{'':<32}{'in rounds':>12}{'games':>8}{'equal split':>14}{'games':>8}{'Elo':>8}")
    same = contradicted = 0
    for one, other in zip(in_rounds.rows, split.rows, strict=True):
        same += one.verdict == other.verdict
        contradicted += {one.verdict, other.verdict} == {"better", "worse"}
        print(f"{one.label[:31]:<32}{one.verdict:>12}{one.games:>8}{other.verdict:>14}{other.games:>8}{other.elo:>+8.1f}")
    games, most = (sum(row.games for row in way.rows) for way in (in_rounds, split))
    print(f"{games} of {most} games, {100 * games / most:.1f} %; the same verdict {same} of {len(split.rows)} times, "
          f"an opposite one {contradicted} times")  # fmt: skip


if __name__ == "__main__":
    main()
