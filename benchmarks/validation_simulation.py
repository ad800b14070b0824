"""Simulates which recommendations of a tuning pass its validation, with fixed random seeds.

    python benchmarks/validation_simulation.py [--runs N] [--games N]

A validation has two stages: a sequential test of a gain at the search limit of the tuning, and a test of no regression
at a longer limit. A recommendation may have different strengths at the two limits, because a gain at few nodes may be
worth nothing at more. Each stage is analysed every ``INTERIM_PAIRS`` pairs, and is undecided at its maximum length.
Hypotheses, error probabilities and lengths are the defaults of studies. The table has each stage alone, both together,
and a match of fixed length as an alternative to the second stage. Strengths are logistic Elo. The outcomes of pairs are
drawn from distributions with a given spread.
"""

from __future__ import annotations

import argparse
import math
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1]))

from statistics_simulation import SCORES, tilted

from elolab.arena.statistics.elo import (
    NORMALIZED_UNIT,
    log_likelihood_ratios,
    score_of_elo,
)
from elolab.arena.statistics.intervals import INTERVAL_DEVIATIONS
from elolab.tuning.study.study_spec import Validation, tuning_from_mapping
from elolab.tuning.study.validation.validation_games import INTERIM_PAIRS, PlannedValidation, planned_validations

OUTCOMES = (0.10, 0.17, 0.46, 0.17, 0.10)
"""Probabilities of a game pair's outcomes (LL to WW) between equal players; the score's standard deviation is 0.27."""
STRENGTHS = (-10, -5, 0, 5, 10, 20)
"""Simulated strengths of the recommendation relative to the base, in logistic Elo."""
GAMES = 8000
"""Budget of the tuning in games; the lengths of both stages follow from it."""
OPENINGS = 15_000
"""Number of reserved openings, as in the shipped suites."""
FIXED_PAIRS = 500
RUNS = 2000


@dataclass(frozen=True)
class Passed:
    """The result of a validation stage over all simulated runs."""

    accepted: float
    """Share of the runs that passed."""
    undecided: float
    pairs: float
    """Mean number of game pairs per run."""


def default_validation() -> Validation:
    """A validation beyond the study's budget, with a non-regression test at the longer limit; the rest by default."""
    content = {"game": "xiangqi", "limit": "nodes=1000", "budget": {"games": GAMES}, "parameters": ["null_depth"],
               "validation": {"kind": "sprt", "slow": "non_regression"}}  # fmt: skip
    return tuning_from_mapping(content, "simulated.toml").validation


def sequential_stage(
    validation: Validation, stage: PlannedValidation, elo: float, runs: int, random_seed: int = 1
) -> Passed:
    """Simulate a sequential test of a stage in all runs at once; ``elo`` is the recommendation's true logistic Elo."""
    generator = np.random.default_rng(random_seed)
    chances = tilted(OUTCOMES, score_of_elo(elo))
    lower, upper = validation.hypotheses(stage.kind)
    low = math.log(validation.beta / (1 - validation.alpha))
    high = math.log((1 - validation.beta) / validation.alpha)
    counts = np.zeros((runs, 5))
    ended: NDArray[np.int64] = np.zeros(runs, np.int64)
    going = np.arange(runs)
    played = 0
    while played < stage.pairs and len(going):
        step = min(INTERIM_PAIRS, stage.pairs - played)
        played += step
        counts[going] += generator.multinomial(step, chances, len(going))
        ratios = log_likelihood_ratios(counts[going], 2, lower, upper, validation.model)
        ended[going] = np.where(ratios >= high, 1, np.where(ratios <= low, -1, 0))
        going = going[ended[going] == 0]
    return Passed(float((ended == 1).mean()), float((ended == 0).mean()), float(counts.sum(axis=1).mean()))


def fixed_stage(pairs: int, elo: float, runs: int, random_seed: int = 2) -> Passed:
    """Simulate a match of fixed length; ``elo`` is the recommendation's true logistic Elo.

    The match passes unless the whole interval of its Elo lies below 0.
    """
    generator = np.random.default_rng(random_seed)
    counts = generator.multinomial(pairs, tilted(OUTCOMES, score_of_elo(elo)), runs)
    mean = counts @ SCORES / pairs
    error = np.sqrt((counts @ SCORES**2 / pairs - mean**2) / pairs)
    return Passed(float((mean + INTERVAL_DEVIATIONS * error >= 0.5).mean()), 0.0, float(pairs))


def deviation() -> float:
    """Standard deviation of a game pair's mean score (0 to 1) between equal players."""
    chances = np.array(OUTCOMES)
    return float(np.sqrt(chances @ (SCORES - 0.5) ** 2))


def normalized(elo: float) -> float:
    """Convert logistic Elo to normalized Elo."""
    chances = tilted(OUTCOMES, score_of_elo(elo))
    mean = float(chances @ SCORES)
    return (mean - 0.5) / math.sqrt(2 * float(chances @ (SCORES - mean) ** 2)) * NORMALIZED_UNIT


def main() -> int:
    """Print every stage alone, then both together."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=RUNS, help="simulated validations (default %(default)s)")
    parser.add_argument("--games", type=int, default=GAMES, help="of the tuning before (default %(default)s)")
    arguments = parser.parse_args()
    validation = default_validation()
    stages = planned_validations(validation, arguments.games, OPENINGS)
    print(f"{arguments.runs} validations of each, after a tuning of {arguments.games} games; deviation of a pair's "
          f"score {deviation():.2f}; Elo is logistic, in brackets normalized")  # fmt: skip
    found = []
    for stage in stages:
        lower, upper = validation.hypotheses(stage.kind)
        print(f"{stage.kind} at {stage.limits}, {lower:g} against {upper:g} {validation.model} Elo, at most "
              f"{stage.pairs} pairs:")  # fmt: skip
        found.append({elo: sequential_stage(validation, stage, elo, arguments.runs) for elo in STRENGTHS})
        for elo, one in found[-1].items():
            print(f"  {elo:+d} Elo ({normalized(elo):+.1f}): passed {100 * one.accepted:.1f} %, undecided "
                  f"{100 * one.undecided:.1f} %, {2 * one.pairs:.0f} games")  # fmt: skip
    print(f"match of {FIXED_PAIRS} pairs instead of the second: passed " + ", ".join(
        f"{elo:+d} Elo {100 * fixed_stage(FIXED_PAIRS, elo, arguments.runs).accepted:.1f} %" for elo in STRENGTHS
    ))  # fmt: skip
    print("both together: passed, and games of both, by the strength at the tuning's limit (rows) and the long one:")
    print("        " + "".join(f"{elo:>+18d}" for elo in STRENGTHS))
    for here, one in found[0].items():
        cells = [
            f"{100 * one.accepted * two.accepted:.1f} % {2 * (one.pairs + one.accepted * two.pairs):.0f}"
            for two in found[1].values()
        ]
        print(f"  {here:>+5d} " + "".join(f"{cell:>18}" for cell in cells))
    return 0


if __name__ == "__main__":
    sys.exit(main())
