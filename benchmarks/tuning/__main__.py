"""Compares tuning methods on landscapes whose optimum is known: their regret, and the gains that they confirm.

    python benchmarks/tuning                              mean regret of elolab's method and SPSA on every landscape
    python benchmarks/tuning --methods duel clop tbpsa    mean regret of other methods; README.md describes them
    python benchmarks/tuning --confirm                    what a budget for search and validation confirms
    python benchmarks/tuning --fishtest                   games until the regret is below 0.5 Elo, on fishtest's bowls
    python benchmarks/tuning --figure regret.svg          regret over the budget, all methods in results.csv
    python benchmarks/tuning --development                the same on other seeds, for work on the methods
    python benchmarks/tuning --further                    on 200 other seeds, for rates such as interval coverage
    python benchmarks/tuning --variant END_SHARE=0        change of the regret if a constant has another value
    python benchmarks/tuning --refit 60                   what fitting the model to 60 parameters costs

*Regret* is the true Elo by which a method's recommendation is worse than the optimum, at the end of a budget in games.
The file ``results.csv`` keeps every cell of a table; it is read instead of computed again, unless ``--again`` is given.
"""

from __future__ import annotations

import argparse
import math
import time
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from functools import partial
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import methods as ours
import numpy as np
import others
from cells import REGRET, Cell, Played, Results, draw
from landscapes import CHOICES, FINE, LANDSCAPES, landscape_of
from variants import constant, print_variants

from elolab.arena.statistics.elo import NATURAL_TO_ELO
from elolab.engine.settings.parameters import Value
from elolab.tuning.study.model.importance import importances
from elolab.tuning.study.model.maxima import expected_remaining_gain
from elolab.tuning.study.model.observations import Observations
from elolab.tuning.study.model.posterior import fit
from elolab.tuning.study.rounds.pairs_of_settings import design_of, design_pair, first_design
from elolab.tuning.study.space import Dimension, Space

METHODS = ours.METHODS | others.METHODS
SEEDS = range(26_000, 26_040)
"""Seeds of the published figures. They are never used in development."""
FURTHER_SEEDS = range(40_000, 40_200)
DEVELOPMENT_SEEDS = range(1_000, 1_040)
BUDGETS, CONFIRMED_BUDGETS = (1000, 4000), (300, 1000, 4000, 16000)
FISHTEST_GAMES = {"fishtest-1": 152_589, "fishtest-4": 376_868, "fishtest-6": 500_158}
"""Budgets in games after which SPSA is within half an Elo of the optimum with 95 % probability, by landscape.

The numbers come from the theory of fishtest's authors. They are tried in addition to powers of two.
"""
FISHTEST_BUDGETS = tuple(2**power for power in range(12, 19))
SHARE = 0.95
"""Share of the runs that must end within ``REGRET`` of the optimum, on the landscapes of fishtest's authors."""
RESULTS = Path(__file__).parent / "results.csv"


def regret(name: str, games: int, method: str, variant: str, seed: int) -> float:
    """Regret of a method, in Elo, if the constant in ``variant`` (NAME=VALUE) has another value.

    An empty ``variant`` means the unchanged method.
    """
    with constant(variant) if variant else nullcontext():
        return played(name, games, method, seed).regret


def played(name: str, games: int, method: str, seed: int) -> Played:
    """Run the method ``method`` on the landscape ``name`` with this budget and seed."""
    began, landscape = time.process_time(), landscape_of(name, seed)
    found, base = METHODS[method](landscape, games, seed), landscape.space.default_values
    gain = landscape.elo(found.values) - landscape.elo(base)
    decision, covered = found.decision, None
    if decision is not None:
        low, high = decision.interval()
        covered = low <= gain <= high
    seconds = time.process_time() - began
    return Played(-landscape.elo(found.values), gain, found.values == base, found.is_confirmed, covered, seconds)


Cells = Callable[[str, int, str], Cell]
"""A function of a landscape, a budget in games and a method; returns averages over the method's runs on all seeds."""


def print_regrets(names: Sequence[str], budgets: Sequence[int], methods: Sequence[str], cells: Cells) -> None:
    """Print the mean regret of every method, and for the first method also the largest regret, coverage and time."""
    print(f"mean regret in Elo ± its standard error; of {methods[0]}: the largest regret, how often the 90 % interval")
    print("holds the true gain, the recommendation is worse than the default, and is the default, in %; seconds a run")
    heads = ("largest", "covered", "worse", "default", "s")
    widths = [max(16, len(method) + 2) for method in methods]
    columns = "".join(f"{method:>{width}}" for method, width in zip(methods, widths, strict=True))
    print(f"{'landscape':<12}{'games':>7}{columns}" + "".join(f"{head:>9}" for head in heads))
    for name in names:
        for games in budgets:
            found = [cells(name, games, method) for method in methods]
            texts = [one.regret_text for one in found]
            first = found[0]
            shares = (first.covered, first.worse, first.default)
            print(
                f"{name:<12}{games:>7}{''.join(f'{text:>{width}}' for text, width in zip(texts, widths, strict=True))}"
                f"{first.largest:>9.1f}{''.join(f'{100 * share:>9.0f}' for share in shares)}{first.seconds:>9.1f}",
                flush=True,
            )


def print_confirmations(names: Sequence[str], budgets: Sequence[int], methods: Sequence[str], cells: Cells) -> None:
    """Print how often each method confirms a gain, how often wrongly, and the true gain of its recommendations."""
    print("confirmed gains in %, true gain of what is recommended in Elo ± its standard error, and confirmations of no")
    print("gain in %; the budget in games is for search and validation")
    print(f"{'landscape':<12}{'games':>7}" + "".join(f"{method:>32}" for method in methods))
    for name in names:
        for games in budgets:
            found = [cells(name, games, method) for method in methods]
            texts = [f"{100 * one.confirmed:.0f} {one.gain_text:>16} {100 * one.wrong:>4.1f}" for one in found]
            print(f"{name:<12}{games:>7}" + "".join(f"{text:>32}" for text in texts), flush=True)


def print_fishtest(names: Sequence[str], budgets: Sequence[int], methods: Sequence[str], cells: Cells) -> None:
    """Print the smallest budget with which 95 % of the runs end within half an Elo of the optimum, and the exact share.

    Budgets are tried in ascending order until one is enough. The default budgets include the one in ``FISHTEST_GAMES``.
    """
    print(f"games until {100 * SHARE:.0f} % of the runs end within {REGRET} Elo of the optimum, and their share")
    print(f"{'landscape':<12}{'theory':>10}" + "".join(f"{method:>22}" for method in methods))
    for name in names:
        texts = []
        for method in methods:
            text = "not reached"
            theory = {FISHTEST_GAMES[name]} if budgets is FISHTEST_BUDGETS else set()
            for games in sorted({*budgets} | theory):
                share = cells(name, games, method).within
                if share >= SHARE:
                    text = f"{games} ({100 * share:.0f} %)"
                    break
            texts.append(text)
        print(f"{name:<12}{FISHTEST_GAMES.get(name, ''):>10}" + "".join(f"{text:>22}" for text in texts), flush=True)


def print_refit(parameters: int) -> None:
    """Print the processor time of fits to ``parameters`` parameters in a round and in a report, after 4000 games."""
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
    best = ours.best_of(model, observations, space.default_values)
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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    tables = parser.add_mutually_exclusive_group()
    tables.add_argument("--confirm", action="store_true", help="what a budget for search and validation confirms")
    tables.add_argument("--fishtest", action="store_true", help="games to half an Elo on fishtest's bowls")
    tables.add_argument("--variant", nargs="+", metavar="NAME=VALUE", help="change of the regret by constants")
    tables.add_argument("--refit", type=int, metavar="PARAMETERS", help="processor time of fitting so many")
    parser.add_argument("--landscapes", nargs="+", choices=LANDSCAPES, help="default: all that suit the table")
    parser.add_argument("--budgets", nargs="+", type=int, help="in games")
    parser.add_argument("--methods", nargs="+", choices=METHODS, help="columns")
    parser.add_argument("--figure", type=Path, metavar="FILE", help="draw regret over the budget from results.csv")
    parser.add_argument("--again", action="store_true", help="run cells that results.csv has")
    parser.add_argument("--seeds", type=int, metavar="N", help="only the first N seeds")
    parser.add_argument("--development", action="store_true", help="other seeds, for work on the methods")
    parser.add_argument("--further", action="store_true", help="200 further seeds, for rates such as the intervals'")
    parser.add_argument("--processes", type=int, default=1, help="runs at a time (default: 1)")
    arguments = parser.parse_args()
    if arguments.refit is not None:
        print_refit(arguments.refit)
        return
    results = Results(RESULTS)
    if arguments.figure:
        draw(results, arguments.figure, SEEDS[0])
        return
    seeds = DEVELOPMENT_SEEDS if arguments.development else FURTHER_SEEDS if arguments.further else SEEDS
    seeds = seeds[: arguments.seeds]
    bowls = [name for name in LANDSCAPES if name.startswith("fishtest")]
    hills = [name for name in LANDSCAPES if name not in bowls]
    names, budgets, methods, table = hills, BUDGETS, ["duel", "spsa-automatic"], print_regrets
    if arguments.confirm:
        budgets, methods, table = CONFIRMED_BUDGETS, ["halves", "whole-budget"], print_confirmations
    elif arguments.fishtest:
        names, budgets, table = bowls, FISHTEST_BUDGETS, print_fishtest
        methods = ["duel", "spsa-fishtest"]
    methods = arguments.methods or methods
    for method in methods:
        package = others.PACKAGES.get(method.split("-")[0])
        if package is not None and find_spec(package) is None:
            print(f"{method} is left out: pip install {package}")
            methods = [one for one in methods if one != method]
    warnings.simplefilter("ignore")
    print(f"{len(seeds)} random seeds from {seeds[0]}")
    with ProcessPoolExecutor(arguments.processes) as pool:
        if arguments.variant:
            print_variants(
                arguments.landscapes or names, arguments.budgets or budgets, arguments.variant,
                lambda name, games, variant: list(pool.map(partial(regret, name, games, methods[0], variant), seeds)),
            )  # fmt: skip
            return

        def cells(name: str, games: int, method: str) -> Cell:
            known = None if arguments.again else results.cell(name, games, method, seeds)
            if known is None:
                runs = list(pool.map(partial(played, name, games, method), seeds))
                known = results.add(name, games, method, seeds, runs)
            return known

        table(arguments.landscapes or names, arguments.budgets or budgets, methods, cells)


if __name__ == "__main__":
    main()
