"""The response model: Elo against the base as a function of the parameters, fitted to every game of a study.

A pair's score between two sets is logistic in the difference of their Elo. Elo is a hill (``tuning.study.model.hill``):
it has one maximum over whole numbers, every dimension has the place of its maximum, a curvature that is positive, a
skew that makes one slope steeper than the other, and mild interactions with the others; far from it Elo levels off;
every choice has an effect. The prior: maxima lie about the middle of the ranges or beyond their ends, curvatures are
log-normal about a common size that is estimated from the games, skews, interactions and effects are moderate. Ranges
that were chosen about their maxima have a closer prior of the maxima's places, if the games speak for it: under the
wide one alone, a hill of many ranges would be thought less probable than that the base is the best. Where the games
speak against a hill (a cliff, ripples), departures from it are added (``tuning.study.model.departures``); where
two hills are the more probable, of which the higher one counts at every point, the model is of two. The posterior is
the normal one around its mode in these terms, carried as draws, with the dispersion of pair scores as it is observed
(pairs vary less than games because of draws and openings). At the end of a study the draws are of hills with and
without the departures that the games leave open, and some are of a hill whose maximum is near the base, each in
proportion to its probability (Bayesian model averaging, Hoeting et al. 1999): so intervals say how far the model may be
wrong.

That curvatures are positive and maxima not far from the ranges is worth more than it seems: a quadratic with free
coefficients takes every dimension that the games say little of for a slope, and recommends an end of its range.

What to recommend is the maximum of the most probable model inside what was sampled, never the best observed result:
among many noisy results the best one is mostly the luckiest. The mean over the posterior would not do either: its
maximum is drawn away from the ends of the ranges, since there the draws with a maximum beyond count less.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from elolab.tuning.study.model.hill import SKEW_WIDTH, VALLEY_WIDTH, Hill, levelled_off
from elolab.tuning.study.space import Space, Values

Array = NDArray[np.float64]

LOOKED_INTO = 0.1
"""Probability of two hills by which they are looked into at least."""
MIN_APART = 0.15
"""Of a range: sets that are closer in every dimension lie on the same summit."""


@dataclass(frozen=True)
class Summit:
    """The top of a hill."""

    maximum: Array
    """Coordinates, shape (ranges,); they may lie beyond the ends."""
    curvatures: Array
    """Elo over range squared, shape (ranges,)."""


@dataclass(frozen=True)
class TwoHills:
    """What the results say if there are two hills, whether they are the most probable model or not."""

    summits: tuple[Summit, Summit]
    """The higher one first."""
    model: ResponseModel
    probability: float


class ResponseModel:
    """Elo as a function of the set, with its uncertainty. Only differences between sets mean anything."""

    def __init__(
        self,
        space: Space,
        terms: Array,
        dispersion: float,
        mode: ResponseModel | None = None,
        *,
        is_double: bool = False,
        two_hills: TwoHills | None = None,
    ) -> None:
        self.space = space
        self.mode = mode or self
        """The most probable terms alone."""
        self.dispersion = dispersion
        """Variance of a pair's score over p (1 - p)."""
        self.two_hills = two_hills
        """``None`` if they were not looked for."""
        self._hill = Hill(space, is_double=is_double)
        self._maxima = terms[:, None, self._hill.maxima]
        self._skews = terms[:, None, self._hill.skews]
        self._log_largest_losses = terms[:, self._hill.largest_loss, None]
        self._hessians = self._hill.hessians(terms)
        if is_double:
            self._second_maxima = terms[:, None, self._hill.second_maxima]
            self._second_hessians = self._hill.hessians(terms, second=True)
            self._heights = terms[:, self._hill.height]
        self._effects = terms[:, self._hill.effects]

    def elo(self, points: Array) -> Array:
        """Elo of coordinates (points, dimensions) by every draw of the posterior, shape (points, draws)."""
        elo = self._below_summit(points, self._maxima, self._hessians)
        if self._hill.is_double:
            other = self._below_summit(points, self._second_maxima, self._second_hessians) + self._heights
            elo = VALLEY_WIDTH * np.logaddexp(elo / VALLEY_WIDTH, other / VALLEY_WIDTH)
        elo = elo + self._hill.indicators(points) @ self._effects.T
        return np.asarray(elo, float)

    def _below_summit(self, points: Array, maxima: Array, hessians: Array) -> Array:
        """Elo of a hill without choices by every draw, shape (points, draws)."""
        apart = points[None, :, self._hill.ordered] - maxima
        bent = apart * (1 + self._skews * np.tanh(apart / SKEW_WIDTH))
        lost = 0.5 * ((bent @ hessians) * bent).sum(axis=2)
        return np.asarray(-levelled_off(lost, self._log_largest_losses)[0].T, float)

    def draws(self, sets: Sequence[Values], against: Values | None = None) -> Array:
        """Elo of each set minus another's (default: the base) by every draw, shape (sets, draws)."""
        other = self.space.default_values if against is None else against
        elo = self.elo(np.array([self.space.coordinates(values) for values in (*sets, other)], float))
        return np.asarray(elo[:-1] - elo[-1], float)

    def gain(self, sets: Sequence[Values], against: Values | None = None) -> tuple[Array, Array]:
        """Posterior mean and standard deviation, in Elo, of each set minus another (default: the base)."""
        found = self.draws(sets, against)
        return found.mean(axis=1), found.std(axis=1)

    def difference(self, one: Values, other: Values) -> tuple[float, float]:
        """The same of a single pair of sets."""
        mean, deviation = self.gain([one], other)
        return float(mean[0]), float(deviation[0])

    def curvatures(self, values: Values) -> Array:
        """Of every range in turn, Elo over range squared, of the most probable model's hill that a set lies on."""
        mode, second = self.mode, False
        if mode._hill.is_double:
            point = np.array([self.space.coordinates(values)], float)
            other = mode._below_summit(point, mode._second_maxima, mode._second_hessians) + mode._heights
            second = bool(other[0, 0] > mode._below_summit(point, mode._maxima, mode._hessians)[0, 0])
        return np.asarray(np.diagonal((mode._second_hessians if second else mode._hessians)[0]), float)

    def summits(self, values: Values, region: tuple[Array, Array] | None = None) -> list[Values]:
        """Sets at the summits of two hills, the higher one first, with what else there is from ``values``.

        Within the ranges, and within a region of coordinates if there is one.
        """
        found = []
        for summit in () if self.two_hills is None else self.two_hills.summits:
            there = list(values)
            maximum = summit.maximum
            if region is not None:
                maximum = np.clip(maximum, region[0][self._hill.ordered], region[1][self._hill.ordered])
            for place, coordinate in zip(self._hill.ordered, maximum, strict=True):
                there[place] = self.space.dimensions[place].value_at(float(coordinate))
            found.append(self.space.effective_values(there))
        return found

    def rival(self, best: Values) -> tuple[Values, Array, float] | None:
        """A summit apart from the set ``best``, its curvatures, and how probable it is that it is the higher one.

        The higher summit of two hills, or the other one if that is where ``best`` lies. That there are two hills is
        taken to be so probable at least that they are looked into.
        """
        if self.two_hills is None:
            return None
        here = np.array(self.space.coordinates(best))[self._hill.ordered]
        for values, summit in zip(self.summits(best), self.two_hills.summits, strict=True):
            place = np.array(self.space.coordinates(values))[self._hill.ordered]
            if np.abs(place - here).max() > MIN_APART:
                higher = float((self.two_hills.model.draws([values], best) > 0).mean())
                return values, summit.curvatures, higher * max(self.two_hills.probability, LOOKED_INTO)
        return None

    def effects(self, place: int) -> Array:
        """Elo of every choice of a dimension by every draw, shape (draws, choices), up to a constant."""
        return self._effects[:, self._hill.effects_of(place)]
