"""The response model: Elo against the base as a function of the parameters, fitted to every game of a study.

A pair's score between two sets is logistic in the difference of their Elo. Elo is a hill (``tuning.study.model.hill``).
It has one maximum over the ranges of whole numbers. Every range has a coordinate of the maximum, a positive curvature,
a skew that makes one slope steeper than the other, and mild interactions. Far from the maximum Elo levels off. Every
choice has an effect. If two hills are more probable, the model has two, and Elo at every point is that of the higher
one.

The prior expects maxima around the middle of the ranges or beyond their ends. Curvatures are log-normal around a common
size, which is estimated from the games. Skews, interactions and effects are moderate. For ranges chosen around their
maxima there is a narrower prior of the maxima; the results decide which prior applies. Positive curvatures matter: a
quadratic with free coefficients mistakes a dimension with little information for a slope, and recommends an end of its
range.

The posterior is normal around its mode and represented by draws; it uses the observed dispersion of pair scores. (Pairs
vary less than games because of draws and openings.) At the end of a study some draws come from a hill whose maximum
lies near the base, and some from the other number of hills, in proportion to their probabilities (Bayesian model
averaging, Hoeting et al. 1999).

The recommendation is the maximum of the most probable model inside the sampled region. It is never the best observed
result, which is usually a lucky one. The maximum of the posterior mean would be wrong too: it lies too far from the
ends of the ranges.
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
"""Minimum probability of two hills that ``rival`` assumes, so that the other summit is sampled often enough."""
MIN_APART = 0.15
"""Two sets closer than this in every dimension, as a fraction of the range, belong to the same summit."""


@dataclass(frozen=True)
class Summit:
    """The top of a hill."""

    maximum: Array
    """Coordinates of the summit, shape (ranges,); they may lie beyond the ends of the ranges."""
    curvatures: Array
    """Curvature of each range at the summit, in Elo over range squared, shape (ranges,)."""


@dataclass(frozen=True)
class TwoHills:
    """The most probable model with two hills, and its probability; a model with one hill may be more probable."""

    summits: tuple[Summit, Summit]
    """Both summits, the higher one first."""
    model: ResponseModel
    probability: float


class ResponseModel:
    """Elo as a function of a set of values, with its uncertainty; only Elo differences between sets have a meaning."""

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
        """The response model whose only draw is the most probable terms."""
        self.dispersion = dispersion
        """Variance of a pair's score over p (1 - p), with p the expected score."""
        self.two_hills = two_hills
        """The most probable model with two hills; ``None`` for few results or many ranges."""
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
        """Elo at the given coordinates, by every draw of the posterior.

        The result has one row per row of ``points``, and one column per draw.
        """
        elo = self._below_summit(points, self._maxima, self._hessians)
        if self._hill.is_double:
            other = self._below_summit(points, self._second_maxima, self._second_hessians) + self._heights
            elo = VALLEY_WIDTH * np.logaddexp(elo / VALLEY_WIDTH, other / VALLEY_WIDTH)
        elo = elo + self._hill.indicators(points) @ self._effects.T
        return np.asarray(elo, float)

    def _below_summit(self, points: Array, maxima: Array, hessians: Array) -> Array:
        """Elo of the points relative to the summit of a hill, without choices, by every draw; shape (points, draws)."""
        apart = points[None, :, self._hill.ordered] - maxima
        bent = apart * (1 + self._skews * np.tanh(apart / SKEW_WIDTH))
        lost = 0.5 * ((bent @ hessians) * bent).sum(axis=2)
        return np.asarray(-levelled_off(lost, self._log_largest_losses)[0].T, float)

    def draws(self, sets: Sequence[Values], against: Values | None = None) -> Array:
        """Elo of each set minus the Elo of ``against`` (default: the base), by every draw.

        The shape is (sets, draws).
        """
        other = self.space.default_values if against is None else against
        elo = self.elo(np.array([self.space.coordinates(values) for values in (*sets, other)], float))
        return np.asarray(elo[:-1] - elo[-1], float)

    def gain(self, sets: Sequence[Values], against: Values | None = None) -> tuple[Array, Array]:
        """Posterior mean and standard deviation of each set's Elo minus that of ``against`` (default: the base)."""
        found = self.draws(sets, against)
        return found.mean(axis=1), found.std(axis=1)

    def difference(self, one: Values, other: Values) -> tuple[float, float]:
        """Posterior mean and standard deviation of the Elo of ``one`` minus the Elo of ``other``."""
        mean, deviation = self.gain([one], other)
        return float(mean[0]), float(deviation[0])

    def curvatures(self, values: Values) -> Array:
        """Curvature of each range on the set's hill, in Elo over range squared, shape (ranges,).

        The set's hill is the one that is higher there. The most probable terms determine both.
        """
        mode, second = self.mode, False
        if mode._hill.is_double:
            point = np.array([self.space.coordinates(values)], float)
            other = mode._below_summit(point, mode._second_maxima, mode._second_hessians) + mode._heights
            second = bool(other[0, 0] > mode._below_summit(point, mode._maxima, mode._hessians)[0, 0])
        return np.asarray(np.diagonal((mode._second_hessians if second else mode._hessians)[0]), float)

    def summits(self, values: Values, region: tuple[Array, Array] | None = None) -> list[Values]:
        """The sets nearest to both summits of two hills, the higher one first; empty without two hills.

        Their choices are those of ``values``. They lie within the ranges and, if given, within ``region``: the pair of
        lower and upper bounds of the coordinates.
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
        """The set at another summit than ``best``, its curvatures, and the probability that it is better than ``best``.

        It is the higher summit of two hills, or the other one if ``best`` lies on the higher one. The probability is
        that of two hills, at least ``LOOKED_INTO``, times that of a higher Elo under two hills.

        Returns ``None`` without two hills, or without a summit away from ``best``.
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
        """Elo of the choices of dimension ``place`` by every draw, up to a constant, shape (draws, choices)."""
        return self._effects[:, self._hill.effects_of(place)]
