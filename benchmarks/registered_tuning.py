"""Tunes one study with several samplers and equal budgets, and validates every recommendation at four times the limit.

    python benchmarks/registered_tuning.py [FILE] [--samplers duel spsa tpe] [--limit LIMIT] [--pairs 500]
                                           [--spsa-share 0.1] [--out DIR] [--concurrency N]

``FILE`` is the file of a study, by default ``registered-tuning.toml``. That file states the question and the
measurement; it was written before any game was played. Every recommendation, including one that its own study did not
confirm, then plays the base settings over ``--pairs`` pairs on reserved openings. The table has one line per sampler. A
repeated command plays only the missing games.
"""

from __future__ import annotations

import argparse
import math
import sys
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

from elolab.engine.settings.limits import Limits
from elolab.tuning.study.study_spec import tuning_from_mapping
from elolab.tuning.study.tuning_run import tune
from elolab.tuning.study.validation.further import validate_again

FILE = Path(__file__).with_name("registered-tuning.toml")
FACTOR = 4
"""Nodes per move in the final match, as a multiple of the nodes in the tuning."""
SPSA_STEP = 0.02
"""SPSA's learning rate at the end (``r_end``), for a budget of a few thousand games."""


def study(content: dict[str, Any], sampler: str, spsa_share: float) -> dict[str, Any]:
    """The study's file, as a dictionary, with another sampler; for SPSA, with schedules that suit the budget.

    ``spsa_share`` is SPSA's perturbation at the end of the study, as a share of each parameter's range.
    """
    found = content | {"sampler": sampler, "name": f"{content['name']}-{sampler}"}
    if sampler == "spsa":
        dimensions: dict[str, Any] = dict(content.get("dimensions", {}))
        for one in tuning_from_mapping(content, str(FILE)).space.dimensions:
            if not one.choices:
                size = math.log(one.high / one.low) if one.scale == "log" else one.high - one.low
                schedule = {"c_end": spsa_share * size, "r_end": SPSA_STEP}
                dimensions[one.name] = {**dimensions.get(one.name, {}), **schedule}
        found["dimensions"] = dimensions
    return found


def longer(limits: Limits) -> Limits:
    """Limits with ``FACTOR`` times the nodes; raises ``SystemExit`` if ``limits`` have no node limit."""
    if limits.nodes is None:
        raise SystemExit("the tuning has no limit in nodes: give --limit for the final match")
    return replace(limits, nodes=FACTOR * limits.nodes)


def main() -> int:
    """Run all studies and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path, default=FILE)
    parser.add_argument("--samplers", nargs="+", default=["duel", "spsa", "tpe"])
    parser.add_argument("--limit", help=f"of the final match; default: {FACTOR} times the nodes of the tuning")
    parser.add_argument("--pairs", type=int, default=500)
    parser.add_argument(
        "--spsa-share", type=float, default=0.1, help="SPSA's perturbation at the end, as a share of each range"
    )
    parser.add_argument("--out", type=Path, default=Path("results"))
    parser.add_argument("--concurrency", type=int, default=1)
    arguments = parser.parse_args()
    content = tomllib.loads(arguments.file.read_text("utf-8"))
    rows = []
    for sampler in arguments.samplers:
        spec = tuning_from_mapping(study(content, sampler, arguments.spsa_share), str(arguments.file))
        limits = Limits.parse(arguments.limit) if arguments.limit else longer(spec.conditions.limits)
        folder = arguments.out / spec.name
        result = tune(spec, folder, concurrency=arguments.concurrency, stream=sys.stderr)
        if result.interrupted or result.decision is None:
            return result.exit_code
        games = result.games_before_validation + 2 * sum(one.counts.pairs for one in result.verdicts)
        rows.append((sampler, games, f"{result.decision.gain:+.1f}", "yes" if result.confirmed else "no", "0"))
        if not result.decision.is_base:
            found = validate_again(folder, limits, arguments.pairs, concurrency=arguments.concurrency)
            if found.verdict is None or found.interrupted:
                return found.exit_code
            low, high = found.verdict.interval
            rows[-1] = (*rows[-1][:-1], f"{found.verdict.elo:+.1f} [{low:+.1f}, {high:+.1f}]")
    print(f"| sampler | games | expected Elo | confirmed in its budget | Elo at {limits}, 95 % |")
    print("| --- | --- | --- | --- | --- |")
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
