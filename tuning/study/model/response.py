"""The response model: Elo against the base as a function of the parameters, fitted to every game of a study.

A pair's score between two sets is logistic in the difference of their Elo. Elo is a hill (``tuning.study.model.hill``).
It has one maximum over the ranges, that is, the parameters whose values are numbers. Every range has a coordinate of
the maximum, a positive curvature and interactions with other ranges. Far from the maximum Elo levels off. Every choice,
that is, every value of the other parameters, has an effect. If two hills are more probable, the model has two, and the
higher one determines the Elo at each point.

The prior expects maxima around the middle of the ranges or beyond their ends, or near the base: a base that was tuned
before loses little Elo in any range. The results determine which is more probable. Curvatures are log-normal around a
common size, which is estimated from the games. Interactions and effects are moderate. Positive curvatures matter: a
quadratic with free coefficients mistakes a dimension with little information for a slope, and recommends an end of its
range.

The posterior is normal around its mode and represented by draws; it uses the observed dispersion of pair scores. (Pairs
vary less than games because of draws and openings.) At the end of a study some draws come from the less probable models
(other place of the maximum, other number of hills), in proportion to their probabilities. This is Bayesian model
averaging (Hoeting et al. 1999).

The recommendation is the maximum of the most probable model inside the sampled region. It is never the best observed
result, which is usually a lucky one. The maximum of the posterior mean would be wrong too: it lies too far from the
ends of the ranges.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from elolab.tuning.study.model.hill import VALLEY_WIDTH, Hill, levelled_off
from elolab.tuning.study.space import Values

Array = NDArray[np.float64]


@dataclass(frozen=True)
class TwoHills:
    """The most probable model with two hills, with its probability; a model with one hill may be more probable."""

    summits: tuple[Array, Array]
    """Coordinates of both maxima, the higher one first, each of shape (ranges,). A maximum may lie outside the ranges.
    """
    model: ResponseModel
    probability: float


class ResponseModel:
    """Elo as a function of a set of values, with its uncertainty. Only differences between sets are meaningful."""

    def __init__(
        self,
        hill: Hill,
        terms: Array,
        dispersion: float,
        mode: ResponseModel | None = None,
        *,
        two_hills: TwoHills | None = None,
    ) -> None:
        """``terms`` has random draws of the coefficients of ``hill`` from the posterior, shape (draws, terms).

        ``mode`` is the model of the most probable coefficients, by default this model itself.
        """
        self.space = hill.space
        self.mode = mode or self
        """A response model with the most probable terms as its only draw."""
        self.dispersion = dispersion
        """Variance of a pair's score divided by p (1 - p), with p the expected score."""
        self.two_hills = two_hills
        """The most probable model with two hills; ``None`` if there are too few results."""
        self._hill = hill
        self._maxima = terms[:, None, self._hill.maxima]
        self._log_largest_losses = terms[:, self._hill.largest_loss, None]
        self._hessians = self._hill.hessians(terms)
        if hill.is_double:
            self._second_maxima = terms[:, None, self._hill.second_maxima]
            self._second_hessians = self._hill.hessians(terms, second=True)
            self._heights = terms[:, self._hill.height]
        self._effects = terms[:, self._hill.effects]

    def elo(self, points: Array) -> Array:
        """Elo at the coordinates ``points``, for each random draw of the model from its posterior; shape (points,
        draws).

        Only differences between points are meaningful.
        """
        elo = self._below_summit(points, self._maxima, self._hessians)
        if self._hill.is_double:
            other = self._below_summit(points, self._second_maxima, self._second_hessians) + self._heights
            elo = VALLEY_WIDTH * np.logaddexp(elo / VALLEY_WIDTH, other / VALLEY_WIDTH)
        elo = elo + self._hill.indicators(points) @ self._effects.T
        return np.asarray(elo, float)

    def _below_summit(self, points: Array, maxima: Array, hessians: Array) -> Array:
        """Elo of points relative to the Elo of one maximum, for each posterior draw, shape (points, draws); ignores
        choices.

        ``maxima`` and ``hessians`` describe the maximum, with one entry per draw.
        """
        apart = points[None, :, self._hill.ordered] - maxima
        lost = 0.5 * ((apart @ hessians) * apart).sum(axis=2)
        return np.asarray(-levelled_off(lost, self._log_largest_losses)[0].T, float)

    def draws(self, sets: Sequence[Values], against: Values | None = None) -> Array:
        """Elo of each set of values minus the Elo of ``against``, by default the base; shape (sets, draws).

        Each column is one random draw of the model from its posterior.
        """
        other = self.space.default_values if against is None else against
        elo = self.elo(np.array([self.space.coordinates(values) for values in (*sets, other)], float))
        return np.asarray(elo[:-1] - elo[-1], float)

    def gain(self, sets: Sequence[Values], against: Values | None = None) -> tuple[Array, Array]:
        """Posterior mean and standard deviation of each set's Elo minus the Elo of ``against`` (default: the base)."""
        found = self.draws(sets, against)
        return found.mean(axis=1), found.std(axis=1)

    def difference(self, one: Values, other: Values) -> tuple[float, float]:
        """Posterior mean and standard deviation of the Elo of ``one`` minus the Elo of ``other``."""
        mean, deviation = self.gain([one], other)
        return float(mean[0]), float(deviation[0])

    def curvatures(self, values: Values) -> Array:
        """Curvatures, in Elo per squared range, at the maximum that determines the Elo of ``values``; shape (ranges,).

        With two maxima, the hill that is higher at ``values`` determines the Elo. The most probable coefficients are
        used.
        """
        mode, second = self.mode, False
        if mode._hill.is_double:
            point = np.array([self.space.coordinates(values)], float)
            other = mode._below_summit(point, mode._second_maxima, mode._second_hessians) + mode._heights
            second = bool(other[0, 0] > mode._below_summit(point, mode._maxima, mode._hessians)[0, 0])
        return np.asarray(np.diagonal((mode._second_hessians if second else mode._hessians)[0]), float)

    def summits(self, values: Values, region: tuple[Array, Array]) -> list[Values]:
        """The sets of values nearest to the two maxima of a model with two hills, the higher first; empty for one hill.

        Categorical dimensions have the values in ``values``. Both sets lie within ``region``, the lower and upper
        bounds of the coordinates.
        """
        found = []
        for maximum in () if self.two_hills is None else self.two_hills.summits:
            there = list(values)
            within = np.clip(maximum, *(bound[self._hill.ordered] for bound in region))
            for place, coordinate in zip(self._hill.ordered, within, strict=True):
                there[place] = self.space.dimensions[place].value_at(float(coordinate))
            found.append(self.space.effective_values(there))
        return found

    def effects(self, place: int) -> Array:
        """Elo of the choices of dimension ``place`` for each posterior draw, shape (draws, choices).

        Only differences between choices are meaningful.
        """
        return self._effects[:, self._hill.effects_of(place)]
