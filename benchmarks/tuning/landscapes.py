"""The landscapes of the benchmark: simulated parameters with a known true Elo, and games between sets of their values.

Most landscapes have a maximum of 0 Elo at a random place, a given mean over the ranges and a given Elo of the default.
Importances are log-uniform over two decades. Ranges interact in pairs, by up to four fifths of the geometric mean of
both curvatures. Curvatures above and below the optimum differ by a factor of up to e, and losses saturate. Every third
dimension is a coarse whole number. From five dimensions on, one is a switch with three choices and one does not matter.
None of these distributions is the prior of elolab's model.

- ``plain-N``: N dimensions, without any of the properties below
- ``near-5``: the default is 8 Elo below the optimum; ``best-5``: the default is the optimum
- ``wide-5``: ranges are far too wide; ``corner-5``: the optimum is at an end of every range; ``switches-5``: four
  switches
- ``trap-5``: the default lies on the slope of a second, lower summit with its own importances and interactions
- ``summits-5``: the default lies on the slope of either summit
- ``cliff-5``: Elo drops at a wall in one dimension; ``rippled-5``: Elo has ripples in every dimension
- ``rotated-5``: a randomly rotated ellipsoid with a condition number of 100, so interactions are as strong as possible
- ``fishtest-N``: the bowl for which authors of fishtest publish the games that SPSA needs
  (github.com/vdbergh/spsa_simul). In every parameter, an end of the range is 2 Elo below the middle. The start is 2 Elo
  below the optimum, and 61 % of games are drawn. Here the range is extended by half at one end. Otherwise the optimum
  would be in the middle, where elolab's model expects it.

Games follow Davidson's model with 40 % draws between equal players, and an opening bias that both games of a pair
share: the standard deviation of a pair's score is 0.27. The games of ``fishtest-N`` have no bias.
"""

from __future__ import annotations

import math
import random
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from elolab.arena.statistics.elo import NATURAL_TO_ELO
from elolab.engine.settings.parameters import Value
from elolab.tuning.study.space import Dimension, Space

FINE = 1000
"""Number of steps in a dimension that is practically continuous."""
CHOICES = ("a", "b", "c")
SECOND_WAY = 0.45
"""Distance of the two summits of a landscape in every dimension, as a fraction of the range."""
CONDITION = 100.0
"""Largest curvature of a rotated ellipsoid divided by its smallest."""
DECADES = 2.0
"""Number of decades over which importances spread: they lie between ``10 ** -DECADES`` and 1."""
LARGEST_INTERACTION = 0.8
"""Largest mixed derivative of two dimensions, divided by the geometric mean of the two curvatures."""
LARGEST_SKEW = 0.25
"""Largest logarithm of the factor that stretches distances above an optimum, and shrinks distances below it."""
FISHTEST_ELO, FISHTEST_REACH = 2.0, 1 / 3
"""For ``fishtest-N``: Elo lost at an end of the authors' range, and half of that range as a share of the range here."""

Array = NDArray[np.float64]
Values = tuple[Value, ...]


@dataclass(frozen=True)
class GameModel:
    """Davidson's model of games, with openings that favour one colour."""

    draws: float
    """Share of draws between equal players."""
    opening_deviation: float
    """Standard deviation of an opening's bias, as the natural logarithm of a ratio of strengths."""

    @property
    def draw_parameter(self) -> float:
        """Davidson's parameter nu: the share nu / (2 + nu) of the games between equal players is drawn."""
        return 2 * self.draws / (1 - self.draws)


PAIRED = GameModel(0.4, 0.55)
"""A model under which the mean score of a game pair between equal players has a standard deviation of 0.27."""
FISHTEST = GameModel(0.61, 0.0)


@dataclass(frozen=True)
class Family:
    """Properties of a kind of landscape. Random landscapes of the kind have these properties."""

    dimensions: int
    mean: float = -150.0
    """Mean Elo over the ranges, relative to the optimum."""
    default: float = -60.0
    ripple: float = 0.0
    """Height of the landscape's ripples in every dimension, in Elo; 0 for none."""
    cliff: float = 0.0
    """Elo lost beyond a wall in one dimension. The wall is a sixth of the range away from the optimum."""
    corner: bool = False
    """Whether the optimum lies at an end of every range."""
    second: float = 0.0
    """Elo by which a second summit is lower than the optimum; 0 for a single summit.

    The distance of the summits is ``SECOND_WAY`` in every dimension. The default lies on the slope of either summit.
    """
    best_default: bool = False
    """Whether the default is the optimum."""
    trapped: bool = False
    """Whether the default always lies on the slope of the second summit."""
    switches: int = -1
    """Number of dimensions with choices; -1 means one if there are at least five dimensions, otherwise none."""
    rotated: bool = False
    """Whether the shape is a rotated ellipsoid; otherwise ranges interact in pairs."""


FAMILIES = {
    "plain-2": Family(2),
    "plain-5": Family(5),
    "plain-10": Family(10),
    "plain-20": Family(20),
    "near-5": Family(5, default=-8.0),
    "trap-5": Family(5, second=20.0, trapped=True),
    "wide-5": Family(5, mean=-350.0, default=-150.0),
    "corner-5": Family(5, corner=True),
    "cliff-5": Family(5, cliff=100.0),
    "summits-5": Family(5, second=12.0),
    "rippled-5": Family(5, ripple=4.0),
    "best-5": Family(5, best_default=True),
    "switches-5": Family(5, switches=4),
    "rotated-5": Family(5, rotated=True, switches=0),
}


class Landscape(ABC):
    """A space to search, with the true Elo of every set of values. An Elo that was computed is cached."""

    space: Space
    games = PAIRED

    def __init__(self) -> None:
        self._known: dict[Values, float] = {}

    def elo(self, values: Values) -> float:
        """True Elo of a set of values, relative to the optimum."""
        if values not in self._known:
            self.compute([values])
        return self._known[values]

    @abstractmethod
    def compute(self, sets: Sequence[Values]) -> None:
        """Compute the Elo of many sets of values at once, which is much faster than one by one."""


class Bowl(Landscape):
    """A quadratic bowl whose optimum lies, in every dimension, a third of the range away from one end."""

    games = FISHTEST

    def __init__(self, dimensions: int, seed: int) -> None:
        super().__init__()
        generator = np.random.default_rng([seed, dimensions, 78])
        self._optimum = generator.integers(1, 3, dimensions) / 3
        ways = generator.choice([-1, 1], dimensions)
        default = np.round((self._optimum + ways * FISHTEST_REACH / math.sqrt(dimensions)) * FINE)
        numbers = tuple(Dimension(f"number{place}", 0, FINE) for place in range(dimensions))
        base = tuple((one.name, int(value)) for one, value in zip(numbers, default, strict=True))
        self.space = Space(numbers, base, external=True)

    def compute(self, sets: Sequence[Values]) -> None:
        """Compute the Elo of many sets of values at once."""
        apart = (np.array(sets, float) / FINE - self._optimum) / FISHTEST_REACH
        self._known.update(zip(sets, (-FISHTEST_ELO * apart**2).sum(axis=1).tolist(), strict=True))


class Hills(Landscape):
    """A random landscape of a family."""

    def __init__(self, family: Family, seed: int) -> None:
        super().__init__()
        generator = np.random.default_rng([seed, family.dimensions, 77])
        switches = family.switches if family.switches >= 0 else int(family.dimensions >= 5)
        self._family = family
        self._numbers = family.dimensions - switches
        self._saturation = -2.5 * family.mean
        while not self._draw(generator, switches):
            pass

    def _draw(self, generator: np.random.Generator, switches: int) -> bool:
        """Draw all random properties, with ``switches`` dimensions of choices; return ``False`` if no default fits."""
        count = self._numbers
        shape, second_shape = self._drawn_shape(generator), self._drawn_shape(generator)
        self._steps = np.full(count, FINE)
        self._steps[2::3] = generator.integers(5, 21, len(self._steps[2::3]))
        places = generator.integers(0, 2, count) if self._family.corner else generator.uniform(0.2, 0.8, count)
        self._optimum = np.round(places * self._steps) / self._steps
        self._second = np.where(self._optimum < 0.5, self._optimum + SECOND_WAY, self._optimum - SECOND_WAY)
        self._skew = generator.uniform(-LARGEST_SKEW, LARGEST_SKEW, count)
        self._phase = generator.uniform(20, 40, count)
        effects = np.exp(generator.normal(0, 1, (switches, 1))) * generator.uniform(0, 1, (switches, len(CHOICES))) ** 2
        for row in effects:
            row[generator.integers(len(CHOICES))] = 0
        self._wall = int(generator.integers(count))
        self._scale(generator, np.stack([shape, second_shape]), effects)
        return self._place_default(generator, switches)

    def _drawn_shape(self, generator: np.random.Generator) -> Array:
        """Draw half the Hessian matrix at a summit, that is importances and interactions, up to a factor."""
        count = self._numbers
        if self._family.rotated:
            axes = np.linalg.qr(generator.normal(size=(count, count)))[0]
            return np.asarray(axes @ np.diag(np.geomspace(1, CONDITION, count)) @ axes.T, float)
        importance = 10 ** generator.uniform(-DECADES, 0, count)
        if self._family.dimensions >= 5:
            importance[generator.integers(count)] = 0
        mixed = np.eye(count)
        order = generator.permutation(count)
        for one, other in zip(order[::2], order[1::2], strict=False):
            mixed[one, other] = mixed[other, one] = generator.uniform(-LARGEST_INTERACTION, LARGEST_INTERACTION)
        return np.asarray(np.sqrt(np.outer(importance, importance)) * mixed, float)

    def _scale(self, generator: np.random.Generator, shapes: Array, effects: Array) -> None:
        """Scale ``shapes`` and ``effects`` so that the mean Elo over the ranges is the landscape family's mean."""
        points = np.round(generator.random((4000, self._numbers)) * self._steps) / self._steps
        choices = generator.integers(len(CHOICES), size=(4000, len(effects)))
        low, high = 1.0, 1e6
        for _ in range(60):
            middle = math.sqrt(low * high)
            self._shapes, self._effects = shapes * middle, effects * middle
            if self._elo(points, choices).mean() > self._family.mean:
                low = middle
            else:
                high = middle

    def _place_default(self, generator: np.random.Generator, switches: int) -> bool:
        """Place the default at the optimum, or between a summit and a random point, where the Elo is the family's
        ``default``.

        Returns ``False`` if no such point is found.
        """
        if self._family.best_default:
            self.space = self._space(self._optimum, self._effects.argmin(axis=1))
            return True
        wanted = self._family.default
        is_second = self._family.second > 0 and (self._family.trapped or generator.random() < 0.5)
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
        """True Elo of n points, shape (n,), from coordinates between 0 and 1, (n, numbers), and indices of choices."""
        apart = points - self._optimum
        loss = self._loss(apart, self._shapes[0])
        if self._family.second:
            loss = np.minimum(loss, self._loss(points - self._second, self._shapes[1]) + self._family.second)
        loss = loss + self._effects[np.arange(choices.shape[1]), choices].sum(axis=1)
        elo = -self._saturation * np.tanh(loss / self._saturation)
        elo = elo - self._family.ripple * (1 - np.cos(self._phase * apart)).sum(axis=1) / 2
        return np.asarray(elo - self._family.cliff * (apart[:, self._wall] > 1 / 6), float)

    def _loss(self, apart: Array, shape: Array) -> Array:
        """Elo lost at n points before saturation, shape (n,). ``apart``, (n, numbers): distances from a summit."""
        bent = apart * np.exp(self._skew * np.sign(apart))
        return np.asarray(np.einsum("ni,ij,nj->n", bent, shape, bent), float)

    def compute(self, sets: Sequence[Values]) -> None:
        """Compute the Elo of many sets of values at once, which is much faster than one by one."""
        points = np.array([values[: self._numbers] for values in sets], float) / self._steps
        choices = np.array([[CHOICES.index(str(value)) for value in values[self._numbers :]] for values in sets], int)
        self._known.update(zip(sets, self._elo(points, choices).tolist(), strict=True))


class Games:
    """Plays matches between two sets of values of a landscape, and counts the game pairs played."""

    def __init__(self, landscape: Landscape, seed: int) -> None:
        self._landscape = landscape
        self._random = random.Random(seed)
        self.pairs = 0
        """Number of pairs played so far."""

    def play(self, first: Values, second: Values, pairs: int) -> float:
        """Play ``pairs`` game pairs; return the mean score per game, from 0 to 1, of the first set of values."""
        counts = self.count(first, second, pairs)
        return sum(place * count for place, count in enumerate(counts)) / 4 / pairs

    def count(self, first: Values, second: Values, pairs: int) -> tuple[int, int, int, int, int]:
        """Play ``pairs`` game pairs; return how many pairs give the first set 0, 0.5, 1, 1.5 and 2 points."""
        model = self._landscape.games
        draw = model.draw_parameter
        strength = log_strength(self._landscape.elo(first) - self._landscape.elo(second), model)
        counts = [0, 0, 0, 0, 0]
        for _ in range(pairs):
            bias, points = self._random.gauss(0, model.opening_deviation), 0
            for signed_bias in (bias, -bias):
                root = math.exp((strength + signed_bias) / 2)
                total = root + 1 / root + draw
                drawn = self._random.random() * total
                points += 2 if drawn < root else 1 if drawn < root + draw else 0
            counts[points] += 1
        self.pairs += pairs
        return counts[0], counts[1], counts[2], counts[3], counts[4]


@cache
def strengths(model: GameModel) -> tuple[Array, Array]:
    """A table: log ratios of strengths in Davidson's model, and for each the Elo of a match over all openings."""
    logarithms = np.linspace(-16.0, 16.0, 6401)
    places, weights = np.polynomial.hermite_e.hermegauss(40)
    roots = np.exp((logarithms[:, None] + model.opening_deviation * places) / 2)
    scores = (roots + model.draw_parameter / 2) / (roots + 1 / roots + model.draw_parameter) @ (weights / weights.sum())
    return logarithms, np.log(scores / (1 - scores)) * NATURAL_TO_ELO


def log_strength(elo: float, model: GameModel) -> float:
    """Log ratio of strengths in Davidson's model for which the expected score is the score of ``elo`` (logistic)."""
    logarithms, measured = strengths(model)
    return float(np.interp(elo, measured, logarithms))


LANDSCAPES = (*FAMILIES, "fishtest-1", "fishtest-4", "fishtest-6")


def landscape_of(name: str, seed: int) -> Landscape:
    """The landscape called ``name``, drawn with a random seed."""
    if name in FAMILIES:
        return Hills(FAMILIES[name], seed)
    return Bowl(int(name.removeprefix("fishtest-")), seed)
