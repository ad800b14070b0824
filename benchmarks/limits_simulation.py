"""Simulates whether tuning at several search limits finds more at the target limit, with fixed random seeds.

    python benchmarks/limits_simulation.py [--runs N] [--budget GAMES]

The optimum of a landscape (``tuning/landscapes.py``) moves with the logarithm of the nodes per move, by a different
amount in each dimension, and differences in Elo shrink. The processor time of a game is proportional to its nodes.
Every method has the same budget of processor time; a tenth of it is for a playoff at the target. Three kinds of methods
are compared. The first plays many games at the shortest limit, the second few games at the target. The third divides
the time among several limits, and the model extrapolates to the target. *Regret* is the true Elo at the target by which
a recommendation is worse than the optimum.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent / "tuning"))

from landscapes import FAMILIES, Games, Hills, Landscape
from methods import best_of

from elolab.tuning.study.model.observations import Observations
from elolab.tuning.study.model.posterior import fit
from elolab.tuning.study.playoff import SHARE, decide
from elolab.tuning.study.rounds.pairs_of_settings import design_of, design_pair, first_design
from elolab.tuning.study.space import Values

TARGET = 20_000
"""Nodes per move of the target limit."""
BUDGET = 400
"""Default budget of processor time, as the number of games at the target limit that take this time."""
SEEDS = range(31_000, 31_014)
ROUNDS = 20
MOVEMENTS = (0.0, 0.03, 0.06)
"""Standard deviations of the optimum's shift per dimension, as shares of the range, if nodes per move grow e-fold."""
SHRINKAGE = 0.1
"""Exponent of the decrease of Elo differences, which are proportional to ``nodes ** -SHRINKAGE`` (nodes per move)."""


@dataclass(frozen=True)
class Plan:
    """A division of the processor time among search limits."""

    name: str
    limits: tuple[int, ...]
    shares: tuple[float, ...]
    """Shares of the processor time, one per limit."""
    knows_limits: bool = True
    """Whether the model knows the limits; otherwise it treats all results as results at the target."""


PLANS = (
    Plan("shortest only", (1250,), (1.0,), knows_limits=False),
    Plan("quarter of the target only", (5000,), (1.0,), knows_limits=False),
    Plan("target only", (TARGET,), (1.0,)),
    Plan("1250, 5000, 20000, a third of the time each", (1250, 5000, TARGET), (1 / 3, 1 / 3, 1 / 3)),
    Plan("the same, the model not told", (1250, 5000, TARGET), (1 / 3, 1 / 3, 1 / 3), knows_limits=False),
    Plan("1250 and 5000, half of the time each", (1250, 5000), (0.5, 0.5)),
    Plan("5000 and 20000, half of the time each", (5000, TARGET), (0.5, 0.5)),
)


class MovingLandscape(Hills):
    """A landscape whose optimum moves with the nodes per move. At ``TARGET`` nodes it is a landscape of ``family``."""

    def __init__(self, seed: int, movement: float, family: str = "plain-5") -> None:
        super().__init__(FAMILIES[family], seed)
        generator = np.random.default_rng([seed, 91])
        self._there = self._optimum
        self._movement = movement * generator.normal(size=len(self._optimum))

    def at(self, nodes: int) -> LandscapeAtLimit:
        """The landscape as it is at ``nodes`` nodes per move."""
        return LandscapeAtLimit(self, nodes)

    def elo_at(self, values: Values, nodes: int) -> float:
        """True Elo at ``nodes`` nodes per move, up to a constant."""
        log_limit = math.log(nodes / TARGET)
        self._known.clear()
        self._optimum = self._there + log_limit * self._movement
        elo = super().elo(values) * math.exp(-SHRINKAGE * log_limit)
        self._known.clear()
        self._optimum = self._there
        return elo


class LandscapeAtLimit(Landscape):
    """A moving landscape at one search limit, on which games can be played."""

    def __init__(self, moving: MovingLandscape, nodes: int) -> None:
        super().__init__()
        self._moving, self._nodes, self.space = moving, nodes, moving.space

    def compute(self, sets: Sequence[Values]) -> None:
        """Compute and cache the Elo of sets of values."""
        self._known.update((values, self._moving.elo_at(values, self._nodes)) for values in sets)


def regret(plan: Plan, landscape: MovingLandscape, seed: int, budget: int) -> float:
    """True Elo at the target by which a plan's recommendation is worse than the optimum."""
    space = landscape.space
    tables = {nodes: Games(landscape.at(nodes), seed + nodes) for nodes in {*plan.limits, TARGET}}
    pairs_of = [
        round((1 - SHARE) * share * budget / 2 * TARGET / nodes)
        for nodes, share in zip(plan.limits, plan.shares, strict=True)
    ]
    schedule = spread(pairs_of)
    observations, best, design = Observations(space), space.default_values, first_design(space)
    each = max(1, len(schedule) // ROUNDS)
    for number, place in enumerate(schedule):
        if number and number % each == 0:
            model = fit(observations)
            best = best_of(model, observations, best)
            design = design_of(model, best)
        pair = design_pair(space, seed, design, number, number)
        if pair.first != pair.second:
            nodes = plan.limits[place]
            log_limit = math.log(nodes / TARGET) if plan.knows_limits else 0.0
            score = tables[nodes].play(pair.first, pair.second, 1)
            observations.add_score(pair.first, pair.second, 1, score, log_limit)
    model = fit(observations)
    best = best_of(model, observations, best)
    playoff = int(budget / 2 * SHARE)
    score = tables[TARGET].play(best, space.default_values, playoff) if best != space.default_values else 0.5
    return -landscape.elo(decide(model, best, playoff, score).values)


def spread(counts: Sequence[int]) -> list[int]:
    """Indices of limits in playing order, evenly mixed; index i occurs ``counts[i]`` times."""
    places = [(number + 0.5) / count for count in counts for number in range(count)]
    which = [place for place, count in enumerate(counts) for _ in range(count)]
    return [which[index] for index in np.argsort(places, kind="stable")]


def main() -> int:
    """Print the mean regrets with standard errors."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=len(SEEDS), help="landscapes (default %(default)s)")
    parser.add_argument("--budget", type=int, default=BUDGET, help="in games at the target (default %(default)s)")
    parser.add_argument("--plans", type=int, nargs="*", help="numbers of the ways of tuning, from 0")
    arguments = parser.parse_args()
    print(f"regret at {TARGET} nodes after the processor time of {arguments.budget} games there, "
          f"{arguments.runs} landscapes of five dimensions, default at 60")  # fmt: skip
    for movement in MOVEMENTS:
        print(f"optimum moves by {movement:g} of a range for e times the nodes:")
        for plan in PLANS if arguments.plans is None else [PLANS[number] for number in arguments.plans]:
            found = [
                regret(plan, MovingLandscape(seed, movement), seed, arguments.budget)
                for seed in range(SEEDS.start, SEEDS.start + arguments.runs)
            ]
            error = np.std(found, ddof=1) / math.sqrt(len(found))
            print(f"  {plan.name}: {np.mean(found):.1f} ± {error:.1f}, worst {max(found):.1f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
