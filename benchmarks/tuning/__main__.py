"""Which way of tuning ends nearest to the optimum, and which confirms its gain, on landscapes whose optimum is known.

    python benchmarks/tuning                              mean regret of elolab's method and SPSA on every landscape
    python benchmarks/tuning --confirm                    what a budget for search and validation confirms
    python benchmarks/tuning --fishtest                   games until the regret is below 0.5 Elo, on fishtest's bowls
    python benchmarks/tuning --development                the same on other seeds, for work on the methods
    python benchmarks/tuning --further                    on 200 other seeds, for rates such as the intervals'
    python benchmarks/tuning --landscapes plain-5 --budgets 1000 --methods duel tpe-best tpe-model
    python benchmarks/tuning --refit 60                   what fitting the model to 60 parameters costs

*Regret* is the true Elo lost to the optimum by what a method recommends at the end of its budget, in games.
``landscapes.py`` describes the landscapes, ``methods.py`` the methods: a function in its table ``METHODS`` is a method.
"""

from __future__ import annotations

import argparse
import math
import time
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np
from landscapes import CHOICES, FINE, LANDSCAPES, landscape_of
from methods import METHODS, best_of

from elolab.arena.statistics.elo import NATURAL_TO_ELO
from elolab.engine.settings.parameters import Value
from elolab.tuning.study.model.importance import importances
from elolab.tuning.study.model.maxima import expected_remaining_gain
from elolab.tuning.study.model.observations import Observations
from elolab.tuning.study.model.posterior import fit
from elolab.tuning.study.rounds.pairs_of_settings import design_of, design_pair, first_design
from elolab.tuning.study.space import Dimension, Space

SEEDS = range(26_000, 26_040)
"""Seeds of the published figures; they are never used in development."""
FURTHER_SEEDS = range(40_000, 40_200)
DEVELOPMENT_SEEDS = range(1_000, 1_040)
BUDGETS, CONFIRMED_BUDGETS = (1000, 4000), (300, 1000, 4000, 16000)
FISHTEST_BUDGETS = tuple(2**power for power in range(12, 20))
REGRET, SHARE = 0.5, 0.95
"""Regret in Elo, and share of the runs that must end below it, on the landscapes of fishtest's authors."""


@dataclass(frozen=True)
class Played:
    """A method's run on one landscape."""

    regret: float
    gain: float
    """True gain over the default, in Elo."""
    is_default: bool
    is_confirmed: bool
    is_covered: bool | None
    """Whether the 90 % interval of the gain contains the true one; ``None`` without an interval."""
    seconds: float
    """Processor time."""


def played(name: str, games: int, method: str, seed: int) -> Played:
    """Run a method on a landscape."""
    began, landscape = time.process_time(), landscape_of(name, seed)
    found, base = METHODS[method](landscape, games, seed), landscape.space.default_values
    gain = landscape.elo(found.values) - landscape.elo(base)
    decision, covered = found.decision, None
    if decision is not None:
        low, high = decision.interval()
        covered = low <= gain <= high
    seconds = time.process_time() - began
    return Played(-landscape.elo(found.values), gain, found.values == base, found.is_confirmed, covered, seconds)


Runs = Callable[[str, int, str], list[Played]]
"""Runs of a method on every seed of a landscape, with a budget."""


def mean_text(values: Sequence[float]) -> str:
    """Mean and its standard error."""
    return f"{np.mean(values):.2f} ± {np.std(values) / math.sqrt(len(values)):.2f}"


def print_regrets(names: Sequence[str], budgets: Sequence[int], methods: Sequence[str], runs: Runs) -> None:
    """Mean regret of every method; of the first one, more."""
    print(f"mean regret in Elo ± its standard error; of {methods[0]}: the largest regret, how often the 90 % interval")
    print("holds the true gain, the recommendation is worse than the default, and is the default, in %; seconds a run")
    heads = ("largest", "covered", "worse", "default", "s")
    widths = [max(16, len(method) + 2) for method in methods]
    columns = "".join(f"{method:>{width}}" for method, width in zip(methods, widths, strict=True))
    print(f"{'landscape':<12}{'games':>7}{columns}" + "".join(f"{head:>9}" for head in heads))
    for name in names:
        for games in budgets:
            found = [runs(name, games, method) for method in methods]
            cells = [mean_text([one.regret for one in of_method]) for of_method in found]
            first = found[0]
            covered = [one.is_covered for one in first if one.is_covered is not None]
            shares = [np.mean(covered) if covered else math.nan, np.mean([one.gain < 0 for one in first])]
            shares.append(np.mean([one.is_default for one in first]))
            print(
                f"{name:<12}{games:>7}{''.join(f'{cell:>{width}}' for cell, width in zip(cells, widths, strict=True))}"
                f"{max(one.regret for one in first):>9.1f}{''.join(f'{100 * share:>9.0f}' for share in shares)}"
                f"{np.mean([one.seconds for one in first]):>9.1f}", flush=True,
            )  # fmt: skip


def print_confirmations(names: Sequence[str], budgets: Sequence[int], methods: Sequence[str], runs: Runs) -> None:
    """What every method confirms: share of confirmed gains, true gain recommended, share of wrong confirmations."""
    print("confirmed gains in %, true gain of what is recommended in Elo ± its standard error, and confirmations of no")
    print("gain in %; the budget in games is for search and validation")
    print(f"{'landscape':<12}{'games':>7}" + "".join(f"{method:>32}" for method in methods))
    for name in names:
        for games in budgets:
            cells = []
            for method in methods:
                found = runs(name, games, method)
                right = np.mean([one.is_confirmed and one.gain > 0 for one in found])
                wrong = np.mean([one.is_confirmed and one.gain <= 0 for one in found])
                cells.append(f"{100 * right:.0f} {mean_text([one.gain for one in found]):>16} {100 * wrong:>4.1f}")
            print(f"{name:<12}{games:>7}" + "".join(f"{cell:>32}" for cell in cells), flush=True)


def print_fishtest(names: Sequence[str], budgets: Sequence[int], methods: Sequence[str], runs: Runs) -> None:
    """The smallest of the budgets with which 95 % of the runs end within half an Elo of the optimum."""
    print(f"games until {100 * SHARE:.0f} % of the runs end within {REGRET} Elo of the optimum")
    print(f"{'landscape':<12}" + "".join(f"{method:>18}" for method in methods))
    for name in names:
        cells = []
        for method in methods:
            reached = (
                games for games in budgets
                if np.mean([one.regret <= REGRET for one in runs(name, games, method)]) >= SHARE
            )  # fmt: skip
            cells.append(str(next(reached, f"over {budgets[-1]}")))
        print(f"{name:<12}" + "".join(f"{cell:>18}" for cell in cells), flush=True)


def print_refit(parameters: int) -> None:
    """Print the processor time of everything that a round, or a report, asks of the model, at 4000 games."""
    generator = np.random.default_rng(1)
    numbers = tuple(Dimension(f"number{place}", 0, FINE) for place in range(parameters - parameters // 10))
    switches = tuple(Dimension(f"switch{place}", choices=CHOICES) for place in range(parameters // 10))
    base: list[tuple[str, Value]] = [(one.name, 300) for one in numbers]
    space = Space((*numbers, *switches), (*base, *((one.name, CHOICES[0]) for one in switches)), external=True)
    weights = 20 * np.exp(generator.normal(0, 1, len(numbers)))
    observations = Observations(space)
    for number in range(2000):
        pair = design_pair(space, 1, first_design(space), number, number)
        places = np.array([values[: len(numbers)] for values in (pair.first, pair.second)], float) / FINE
        losses = ((places - 0.5) ** 2) @ weights
        expected = 1 / (1 + math.exp((losses[0] - losses[1]) / NATURAL_TO_ELO))
        observations.add_score(pair.first, pair.second, 1, generator.binomial(4, expected) / 4)
    marks = [time.process_time()]
    model = fit(observations, is_last=True)
    marks.append(time.process_time())
    best = best_of(model, observations, space.default_values)
    design_of(model, best)
    marks.append(time.process_time())
    expected_remaining_gain(model, observations.trust_region(), best)
    marks.append(time.process_time())
    importances(model, observations.trust_region())
    marks.append(time.process_time())
    names = ("model", "maximum and design", "gain that remains", "importance")
    for name, (start, end) in zip(names, pairwise(marks), strict=True):
        print(f"{name:<20}{end - start:>7.2f} s")


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    tables = parser.add_mutually_exclusive_group()
    tables.add_argument("--confirm", action="store_true", help="what a budget for search and validation confirms")
    tables.add_argument("--fishtest", action="store_true", help="games to half an Elo on fishtest's bowls")
    tables.add_argument("--refit", type=int, metavar="PARAMETERS", help="processor time of fitting so many")
    parser.add_argument("--landscapes", nargs="+", choices=LANDSCAPES, help="default: all that suit the table")
    parser.add_argument("--budgets", nargs="+", type=int, help="in games")
    parser.add_argument("--methods", nargs="+", choices=METHODS, help="columns")
    parser.add_argument("--seeds", type=int, metavar="N", help="only the first N seeds")
    parser.add_argument("--development", action="store_true", help="other seeds, for work on the methods")
    parser.add_argument("--further", action="store_true", help="200 further seeds, for rates such as the intervals'")
    parser.add_argument("--processes", type=int, default=1, help="runs at a time (default: 1)")
    arguments = parser.parse_args()
    if arguments.refit is not None:
        print_refit(arguments.refit)
        return
    seeds = DEVELOPMENT_SEEDS if arguments.development else FURTHER_SEEDS if arguments.further else SEEDS
    seeds = seeds[: arguments.seeds]
    bowls = [name for name in LANDSCAPES if name.startswith("fishtest")]
    others = [name for name in LANDSCAPES if name not in bowls]
    names, budgets, methods, table = others, BUDGETS, ["duel", "spsa-automatic"], print_regrets
    if arguments.confirm:
        budgets, methods, table = CONFIRMED_BUDGETS, ["halves", "whole-budget"], print_confirmations
    elif arguments.fishtest:
        names, budgets, table = bowls, FISHTEST_BUDGETS, print_fishtest
    warnings.simplefilter("ignore")
    print(f"{len(seeds)} random seeds from {seeds[0]}")
    with ProcessPoolExecutor(arguments.processes) as pool:

        def runs(name: str, games: int, method: str) -> list[Played]:
            return list(pool.map(partial(played, name, games, method), seeds))

        table(arguments.landscapes or names, arguments.budgets or budgets, arguments.methods or methods, runs)


if __name__ == "__main__":
    main()
