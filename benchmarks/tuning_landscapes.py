"""How far from the optimum every way of tuning ends, on simulated landscapes whose optimum is known.

    python benchmarks/tuning_landscapes.py                    the published table: every landscape, duel and SPSA
    python benchmarks/tuning_landscapes.py --development      the same on other seeds, for work on the methods
    python benchmarks/tuning_landscapes.py --further          on 200 other seeds, for rates such as the intervals'
    python benchmarks/tuning_landscapes.py --landscapes plain-5 --budgets 1000 --methods duel tpe-best tpe-model
    python benchmarks/tuning_landscapes.py --refit 60           what fitting the model to 60 parameters costs

A landscape has its maximum of 0 Elo at a known place, a given mean over the ranges and a given default; importances
are log-normal, interactions mild, slopes skew, tails saturate. Every third dimension is a coarse whole number; from
five dimensions on one is a switch of three choices and one does not matter. Games follow Davidson's model, with 40 %
draws at equality and an opening whose bias both games of a pair share (standard deviation of a pair's score 0.27); Elo
is logistic, as a match measures it.

*Regret* is the true Elo lost to the optimum by what a method recommends at the end of its budget, whatever it is spent
on. Methods: ``duel`` is what ``elolab tune`` does, ``duel-model`` the same with the whole budget and no playoff,
``duel-overlap-2`` the same with the key ``overlap = 2``.
``spsa-textbook`` is the usual advice for simultaneous perturbation (c = range / 20, r = 0.002), ``spsa-automatic`` one
with a schedule that follows from the number of games (c = range / 5, r = 0.02 sqrt(1000 / games)), and recommends the
mean of its later half; ``spsa-model`` the model's maximum of the same games. Optuna's samplers play trials of equal
length against the default; ``-best`` recommends the best trial, ``-model`` the model's maximum.

Landscapes beside the plain ones: ``wide`` has ranges far too wide, ``corner`` the optimum at an end of every range,
``cliff`` a wall, ``summits`` a second, lower summit, ``rippled`` ripples, and ``best`` a default that is the optimum.
"""

from __future__ import annotations

import argparse
import math
import random
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from elolab.arena.statistics.elo import NATURAL_TO_ELO
from elolab.engine.settings.parameters import Value
from elolab.tuning.study.model.importance import importances
from elolab.tuning.study.model.maxima import combinations, expected_remaining_gain, maximum
from elolab.tuning.study.model.observations import Observations
from elolab.tuning.study.model.posterior import fit
from elolab.tuning.study.model.response import ResponseModel
from elolab.tuning.study.playoff import SHARE, Decision, decide
from elolab.tuning.study.rounds.pairs_of_settings import (
    design_of,
    design_pair,
    first_design,
    game_pairs_per_settings_pair,
)
from elolab.tuning.study.space import Dimension, Space
from elolab.tuning.study.study_spec import DEFAULT_ROUND_PAIRS, MIN_ROUNDS, SAMPLERS

SEEDS = tuple(range(26_000, 26_040))
"""Of the published figures; never used in development."""
FURTHER_SEEDS = tuple(range(40_000, 40_200))
"""Of rates, which need more of them: how often intervals hold the gain, and recommendations are worse than the default.
"""
DEVELOPMENT_SEEDS = tuple(range(1_000, 1_040))

DRAW_PARAMETER = 4 / 3
"""Davidson's nu: nu / (2 + nu) = 40 % draws between equals."""
OPENING_DEVIATION = 0.55
"""Of an opening's bias, in natural units of log strength: pairs of equals then have a standard deviation of 0.27."""
FINE = 1000
"""Steps of a dimension that is as good as continuous."""
CHOICES = ("a", "b", "c")
SECOND_WAY = 0.45
"""Of a range: how far two summits are apart in every dimension."""
TRIALS = 80
OVERLAPS = (1, 2, 4, 8)
"""Rounds that are under way when another one is laid out, beside none."""

Array = NDArray[np.float64]
Values = tuple[Value, ...]


@dataclass(frozen=True)
class Family:
    """What a kind of landscape is like."""

    dimensions: int
    mean: float = -150.0
    """Elo over the ranges."""
    default: float = -60.0
    ripple: float = 0.0
    """Elo of ripples in every dimension."""
    cliff: float = 0.0
    """Elo lost beyond a wall in one dimension, a sixth of the range from the optimum."""
    corner: bool = False
    """Whether the optimum lies at an end of every range."""
    second: float = 0.0
    """Elo by which a second summit is lower, ``SECOND_WAY`` of every range away; the default is on the way down from
    either of the two. 0 for a single summit."""
    best_default: bool = False
    """Whether the default is the optimum."""
    switches: int = -1
    """Dimensions of choices; -1 for one from five dimensions on."""


FAMILIES = {
    "plain-2": Family(2),
    "plain-5": Family(5),
    "plain-10": Family(10),
    "wide-5": Family(5, mean=-350.0, default=-150.0),
    "corner-5": Family(5, corner=True),
    "cliff-5": Family(5, cliff=100.0),
    "summits-5": Family(5, second=12.0),
    "rippled-5": Family(5, ripple=4.0),
    "best-5": Family(5, best_default=True),
    "switches-5": Family(5, switches=4),
}


class Landscape:
    """One landscape: a space to search and the true Elo of every set in it."""

    def __init__(self, family: Family, seed: int) -> None:
        generator = np.random.default_rng([seed, family.dimensions, 77])
        switches = family.switches if family.switches >= 0 else int(family.dimensions >= 5)
        self._family = family
        self._numbers = family.dimensions - switches
        self._saturation = -2.5 * family.mean
        while not self._draw(generator, switches):
            pass
        self._known: dict[Values, float] = {}

    def _draw(self, generator: np.random.Generator, switches: int) -> bool:
        """Draw everything; False if the default cannot be placed."""
        count = self._numbers
        importance = np.exp(generator.normal(0, 1, count))
        if self._family.dimensions >= 5:
            importance[generator.integers(count)] = 0
        self._steps = np.full(count, FINE)
        self._steps[2::3] = generator.integers(5, 21, len(self._steps[2::3]))
        places = generator.integers(0, 2, count) if self._family.corner else generator.uniform(0.2, 0.8, count)
        self._optimum = np.round(places * self._steps) / self._steps
        self._second = np.where(self._optimum < 0.5, self._optimum + SECOND_WAY, self._optimum - SECOND_WAY)
        self._skew = generator.normal(0, 0.15, count)
        self._phase = generator.uniform(20, 40, count)
        mixed = np.triu(generator.normal(0, 0.15, (count, count)), 1)
        mixed = mixed + mixed.T + np.eye(count)
        if np.linalg.eigvalsh(mixed).min() < 0.2:
            return False
        shape = np.sqrt(np.outer(importance, importance)) * mixed
        effects = np.exp(generator.normal(0, 1, (switches, 1))) * generator.uniform(0, 1, (switches, len(CHOICES))) ** 2
        for row in effects:
            row[generator.integers(len(CHOICES))] = 0
        self._wall = int(generator.integers(count))
        self._scale(generator, shape, effects)
        return self._place_default(generator, switches)

    def _scale(self, generator: np.random.Generator, shape: Array, effects: Array) -> None:
        """Find the scale at which the mean over the ranges is the family's."""
        points = np.round(generator.random((4000, self._numbers)) * self._steps) / self._steps
        choices = generator.integers(len(CHOICES), size=(4000, len(effects)))
        low, high = 1.0, 1e6
        for _ in range(60):
            middle = math.sqrt(low * high)
            self._shape, self._effects = shape * middle, effects * middle
            if self._elo(points, choices).mean() > self._family.mean:
                low = middle
            else:
                high = middle

    def _place_default(self, generator: np.random.Generator, switches: int) -> bool:
        """A point at the default's Elo on the way from a summit to a random point, or the optimum itself."""
        if self._family.best_default:
            self.space = self._space(self._optimum, self._effects.argmin(axis=1))
            return True
        wanted = self._family.default
        is_second = self._family.second > 0 and generator.random() < 0.5
        summit = self._second if is_second else self._optimum
        for _ in range(200):
            far, choices = generator.random(self._numbers), generator.integers(len(CHOICES), size=switches)
            if self._elo(far[None], choices[None])[0] > wanted:
                continue
            low, high = 0.0, 1.0
            for _ in range(50):
                middle = (low + high) / 2
                point = np.round((summit + middle * (far - summit)) * self._steps) / self._steps
                found = self._elo(point[None], choices[None])[0]
                low, high = (middle, high) if found > wanted else (low, middle)
            if abs(found - wanted) < 5:
                self.space = self._space(point, choices)
                return True
        return False

    def _space(self, default: Array, choices: NDArray[np.int64]) -> Space:
        numbers = [Dimension(f"number{place}", 0, int(steps)) for place, steps in enumerate(self._steps)]
        switches = [Dimension(f"switch{place}", choices=CHOICES) for place in range(len(choices))]
        base: list[tuple[str, Value]] = [
            (one.name, round(value * one.high)) for one, value in zip(numbers, default, strict=True)
        ]
        base += [(one.name, CHOICES[choice]) for one, choice in zip(switches, choices, strict=True)]
        return Space((*numbers, *switches), tuple(base), external=True)

    def _elo(self, points: Array, choices: NDArray[np.int64]) -> Array:
        """True Elo, shape (points,), of coordinates (points, numbers) and places of choices (points, switches)."""
        apart = points - self._optimum
        loss = self._loss(apart)
        if self._family.second:
            loss = np.minimum(loss, self._loss(points - self._second) + self._family.second)
        loss = loss + self._effects[np.arange(choices.shape[1]), choices].sum(axis=1)
        elo = -self._saturation * np.tanh(loss / self._saturation)
        elo = elo - self._family.ripple * (1 - np.cos(self._phase * apart)).sum(axis=1) / 2
        return np.asarray(elo - self._family.cliff * (apart[:, self._wall] > 1 / 6), float)

    def _loss(self, apart: Array) -> Array:
        """Elo lost on the way down from a summit, before saturation, shape (points,)."""
        bent = apart * np.exp(self._skew * np.tanh(apart / 0.3))
        return np.asarray(np.einsum("ni,ij,nj->n", bent, self._shape, bent), float)

    def elo(self, values: Values) -> float:
        """True Elo of a set; the optimum has 0."""
        if values not in self._known:
            self.compute([values])
        return self._known[values]

    def compute(self, sets: Sequence[Values]) -> None:
        """Compute the Elo of sets at once, which is much faster than one by one."""
        points = np.array([values[: self._numbers] for values in sets], float) / self._steps
        choices = np.array([[CHOICES.index(str(value)) for value in values[self._numbers :]] for values in sets], int)
        self._known.update(zip(sets, self._elo(points, choices).tolist(), strict=True))


class Games:
    """Matches on a landscape; counts what they cost."""

    def __init__(self, landscape: Landscape, seed: int) -> None:
        self._landscape = landscape
        self._random = random.Random(seed)

    def play(self, first: Values, second: Values, pairs: int) -> float:
        """Mean score of the first set in so many pairs."""
        strength = log_strength(self._landscape.elo(first) - self._landscape.elo(second))
        points = 0
        for _ in range(pairs):
            bias = self._random.gauss(0, OPENING_DEVIATION)
            for signed_bias in (bias, -bias):
                root = math.exp((strength + signed_bias) / 2)
                total = root + 1 / root + DRAW_PARAMETER
                drawn = self._random.random() * total
                points += 2 if drawn < root else 1 if drawn < root + DRAW_PARAMETER else 0
        return points / 4 / pairs


@cache
def strengths() -> tuple[Array, Array]:
    """Davidson's logarithms of the ratio of two strengths, and the Elo that a match measures over all openings."""
    logarithms = np.linspace(-16.0, 16.0, 6401)
    places, weights = np.polynomial.hermite_e.hermegauss(40)
    roots = np.exp((logarithms[:, None] + OPENING_DEVIATION * places) / 2)
    scores = (roots + DRAW_PARAMETER / 2) / (roots + 1 / roots + DRAW_PARAMETER) @ (weights / weights.sum())
    return logarithms, np.log(scores / (1 - scores)) * NATURAL_TO_ELO


def log_strength(elo: float) -> float:
    """Davidson's logarithm of the ratio of strengths at which a match has the expected score of logistic Elo."""
    logarithms, measured = strengths()
    return float(np.interp(elo, measured, logarithms))


@dataclass(frozen=True)
class Outcome:
    """What a method recommends."""

    values: Values
    decision: Decision | None = None


Method = Callable[[Landscape, int, int], Outcome]
"""Of a landscape, a budget in games and a random seed."""


def best_of(model: ResponseModel, observations: Observations, start: Values) -> Values:
    """The model's maximum, as a study finds it."""
    starts = [start, *combinations(model.space, 16)]
    return maximum(model, observations.trust_region(), starts)


def play_settings_pairs(
    landscape: Landscape, games: int, seed: int, share: float, overlap: int = 0
) -> tuple[ResponseModel, Values, Games]:
    """What ``elolab tune`` plays with all but ``share`` of the budget: model, the model's maximum, and the table.

    So many rounds ``overlap``: the results of the last ones are not known yet when a round is laid out.
    """
    space, pairs, each = landscape.space, games // 2 - int(games // 2 * share), game_pairs_per_settings_pair(games)
    pairs_per_round = max(1, round(min(DEFAULT_ROUND_PAIRS, max(1, pairs // MIN_ROUNDS)) / each))
    observations, table = Observations(space), Games(landscape, seed)
    design, best = first_design(space), space.default_values
    unknown: list[list[tuple[Values, Values, float]]] = [[]]
    """By round: the results that no round has been laid out from yet."""
    for start in range(0, pairs // each, pairs_per_round):
        if start:
            if len(unknown) > overlap:
                add_results(observations, unknown.pop(0), each)
                model = fit(observations)
                best = best_of(model, observations, best)
                design = design_of(model, best)
            unknown.append([])
        numbers = range(start, min(start + pairs_per_round, pairs // each))
        designed = [design_pair(space, seed, design, number, number * each) for number in numbers]
        landscape.compute([values for pair in designed for values in (pair.first, pair.second)])
        unknown[-1] = [
            (pair.first, pair.second, table.play(pair.first, pair.second, each))
            for pair in designed if pair.first != pair.second
        ]  # fmt: skip
    for results in unknown:
        add_results(observations, results, each)
    model = fit(observations, is_last=True)
    return model, best_of(model, observations, best), table


def add_results(observations: Observations, results: Sequence[tuple[Values, Values, float]], pairs: int) -> None:
    """Make a round's results known, each the mean score of so many pairs."""
    for first, second, score in results:
        observations.add_score(first, second, pairs, score)


def duel(landscape: Landscape, games: int, seed: int, overlap: int = 0) -> Outcome:
    """What ``elolab tune`` does."""
    model, best, table = play_settings_pairs(landscape, games, seed, SHARE, overlap)
    base, pairs = landscape.space.default_values, int(games // 2 * SHARE)
    decision = decide(model, best, pairs, table.play(best, base, pairs)) if best != base else decide(model, base)
    return Outcome(decision.values, decision)


def duel_model(landscape: Landscape, games: int, seed: int) -> Outcome:
    """The model's maximum after settings pairs with the whole budget."""
    return Outcome(play_settings_pairs(landscape, games, seed, 0.0)[1])


@dataclass(frozen=True)
class Spsa:
    """Simultaneous perturbation (Spall 1992), choices by a preference that rises with their wins."""

    perturbation_end: float
    """Of a range."""
    rate_end: float
    """What a game won moves the centre at the end, in perturbations squared over ranges."""

    def play(
        self, landscape: Landscape, games: int, seed: int
    ) -> tuple[list[list[float]], list[list[float]], Observations]:
        """The centre after every settings pair, the preferences of the switches at the end, and all results."""
        space, table, random_source = landscape.space, Games(landscape, seed), random.Random(f"{seed}:spsa")
        centre = list(space.coordinates(space.default_values))
        preferences = [[0.0] * len(dimension.choices) for dimension in space.dimensions]
        centres, observations, count = [], Observations(space), games // 2
        for number in range(count):
            aside = self.perturbation_end * (count / (number + 1)) ** 0.101
            gain = self.rate_end * self.perturbation_end**2 * (1.1 * count / (0.1 * count + number + 1)) ** 0.602
            signs = [random_source.choice((-1, 1)) for _ in space.dimensions]
            first: list[Value] = []
            second: list[Value] = []
            for place, dimension in enumerate(space.dimensions):
                if dimension.choices:
                    weights = [0.5 / len(CHOICES) + 0.5 * share for share in _softmax(preferences[place])]
                    first += random_source.choices(dimension.choices, weights)
                    second += random_source.choices(dimension.choices, weights)
                    continue
                threshold = random_source.random()
                first.append(dimension.value_at(centre[place] + signs[place] * aside, threshold))
                second.append(dimension.value_at(centre[place] - signs[place] * aside, 1 - threshold))
            one, other = tuple(first), tuple(second)
            if one != other:
                score = table.play(one, other, 1)
                observations.add_score(one, other, 1, score)
                for place, dimension in enumerate(space.dimensions):
                    if dimension.choices:
                        preferences[place][dimension.choices.index(one[place])] += 0.2 * (score - 0.5)
                        preferences[place][dimension.choices.index(other[place])] -= 0.2 * (score - 0.5)
                    elif one[place] != other[place]:
                        moved = centre[place] + signs[place] * gain / aside * 4 * (score - 0.5)
                        centre[place] = min(max(moved, 0.0), 1.0)
            centres.append(list(centre))
        return centres, preferences, observations

    def values(self, space: Space, centre: Sequence[float], preferences: Sequence[Sequence[float]]) -> Values:
        """The set at a centre, with the preferred choices."""
        return tuple(
            dimension.choices[int(np.argmax(liked))] if dimension.choices else dimension.value_at(coordinate)
            for dimension, coordinate, liked in zip(space.dimensions, centre, preferences, strict=True)
        )


def _softmax(preferences: Sequence[float]) -> list[float]:
    powers = [math.exp(value) for value in preferences]
    return [power / sum(powers) for power in powers]


def spsa_textbook(landscape: Landscape, games: int, seed: int) -> Outcome:
    """The last centre of a walk by the usual advice."""
    method = Spsa(1 / 20, 0.002 / 400 * 20**2)
    centres, preferences, _ = method.play(landscape, games, seed)
    return Outcome(method.values(landscape.space, centres[-1], preferences))


def _wide(games: int) -> Spsa:
    return Spsa(0.2, 0.02 * math.sqrt(1000 / games))


def spsa_automatic(landscape: Landscape, games: int, seed: int) -> Outcome:
    """The mean of the later half of a walk that is scheduled for few games."""
    centres, preferences, _ = _wide(games).play(landscape, games, seed)
    later = centres[len(centres) // 2 :]
    return Outcome(_wide(games).values(landscape.space, np.mean(later, axis=0).tolist(), preferences))


def spsa_model(landscape: Landscape, games: int, seed: int) -> Outcome:
    """The model's maximum of the games of such a walk."""
    _, _, observations = _wide(games).play(landscape, games, seed)
    return Outcome(best_of(fit(observations), observations, landscape.space.default_values))


@cache
def trials_of(sampler: str, landscape: Landscape, games: int, seed: int) -> tuple[Values, Observations]:
    """A study of trials against the default: the best trial's set, and all games. Played once for both picks."""
    import optuna

    from elolab.tuning.study.sampler import ReproducibleSampler, distribution_of, suggest

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    space, table, observations = landscape.space, Games(landscape, seed), Observations(landscape.space)
    distributions = {dimension.name: distribution_of(dimension) for dimension in space.dimensions}
    study = optuna.create_study(
        direction="maximize", sampler=ReproducibleSampler(sampler, seed, distributions, startup_trials=10)
    )
    pairs = games // 2 // TRIALS
    best: tuple[float, Values] | None = None
    for _ in range(TRIALS):
        trial = study.ask()
        values = tuple(suggest(trial, dimension) for dimension in space.dimensions)
        score = 0.5 if values == space.default_values else table.play(values, space.default_values, pairs)
        study.tell(trial, score)
        if values != space.default_values:
            observations.add_score(values, space.default_values, pairs, score)
        if best is None or score > best[0]:
            best = (score, values)
    assert best is not None
    return best[1], observations


def of_optuna(sampler: str, pick: str) -> Method:
    """What a sampler of Optuna's recommends: its best trial, or our model's maximum of the same games."""

    def method(landscape: Landscape, games: int, seed: int) -> Outcome:
        best, observations = trials_of(sampler, landscape, games, seed)
        if pick == "best":
            return Outcome(best)
        return Outcome(best_of(fit(observations), observations, landscape.space.default_values))

    return method


METHODS: dict[str, Method] = {
    "duel": duel,
    **{f"duel-overlap-{overlap}": partial(duel, overlap=overlap) for overlap in OVERLAPS},
    "duel-model": duel_model,
    "spsa-textbook": spsa_textbook,
    "spsa-automatic": spsa_automatic,
    "spsa-model": spsa_model,
    **{f"{name}-{pick}": of_optuna(name, pick) for name in SAMPLERS[1:] for pick in ("best", "model")},
}  # fmt: skip
HEADS = ("largest", "covered", "worse", "default", "s")


def row(family: str, games: int, methods: Sequence[str], seeds: Sequence[int]) -> str:
    """Play every seed by every method and describe it in a line: the regrets, and more of the first method."""
    began = time.process_time()
    landscapes = [Landscape(FAMILIES[family], seed) for seed in seeds]
    found = [
        [METHODS[method](landscape, games, seed) for landscape, seed in zip(landscapes, seeds, strict=True)]
        for method in methods
    ]
    regrets = np.array([
        [-landscape.elo(one.values) for landscape, one in zip(landscapes, ends, strict=True)] for ends in found
    ])  # fmt: skip
    base = np.array([-landscape.elo(landscape.space.default_values) for landscape in landscapes])
    gains, decisions = base - regrets[0], [one.decision for one in found[0]]
    covered = [
        decision.interval()[0] <= gain <= decision.interval()[1]
        for gain, decision in zip(gains, decisions, strict=True) if decision is not None
    ]  # fmt: skip
    at_base = [
        one.values == landscape.space.default_values for landscape, one in zip(landscapes, found[0], strict=True)
    ]
    cells = [f"{of_method.mean():>8.2f} ± {of_method.std() / math.sqrt(len(seeds)):<5.2f}" for of_method in regrets]
    widths = [max(16, len(method) + 2) for method in methods]
    shares = [np.mean(covered) if covered else math.nan, (gains < 0).mean(), np.mean(at_base)]
    return (
        f"{family:<12}{games:>6}{''.join(f'{cell:>{width}}' for cell, width in zip(cells, widths, strict=True))}"
        f"{regrets[0].max():>9.1f}{''.join(f'{100 * share:>9.0f}' for share in shares)}"
        f"{(time.process_time() - began) / len(seeds):>9.1f}"
    )


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
    parser.add_argument("--landscapes", nargs="+", choices=FAMILIES, help="default: all")
    parser.add_argument("--budgets", nargs="+", type=int, default=[1000, 4000], help="in games (default: 1000 4000)")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=["duel", "spsa-automatic"],
                        help="columns; of the first one more is shown (default: duel spsa-automatic)")  # fmt: skip
    parser.add_argument("--development", action="store_true", help="other seeds, for work on the methods")
    parser.add_argument("--further", action="store_true", help="200 further seeds, for rates such as the intervals'")
    parser.add_argument("--refit", type=int, metavar="PARAMETERS", help="only: processor time of fitting so many")
    arguments = parser.parse_args()
    if arguments.refit is not None:
        print_refit(arguments.refit)
        return
    seeds = DEVELOPMENT_SEEDS if arguments.development else FURTHER_SEEDS if arguments.further else SEEDS
    warnings.simplefilter("ignore")
    print(f"{len(seeds)} random seeds; mean regret in Elo ± its standard error; of {arguments.methods[0]} the largest,")
    print("how often the 90 % interval holds the true gain, the recommendation is worse than the default, and is")
    print("the default, in %; processor time of a seed in seconds")
    columns = "".join(f"{method:>{max(16, len(method) + 2)}}" for method in arguments.methods)
    print(f"{'landscape':<12}{'games':>6}{columns}" + "".join(f"{head:>9}" for head in HEADS))
    for family in arguments.landscapes or FAMILIES:
        for games in arguments.budgets:
            print(row(family, games, arguments.methods, seeds), flush=True)


if __name__ == "__main__":
    main()
