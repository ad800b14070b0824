"""A hill: Elo as a function of a set of values, with one maximum over the ranges and an effect of every choice.

A *range* is a tuned parameter whose values are numbers. A *choice* is a value of a tuned parameter that has a list of
values instead.

The module defines the hill's terms (the model's coefficients), their prior, and the derivatives of Elo with respect to
the terms.

Far below its summit a hill levels off, because settings that lose nearly every game cannot lose many more. Without
this, the few results from far below would have too much weight, and make all slopes too gentle.

A model with two hills has the Elo of the higher hill at every point, so that there are two summits and a valley. The
hills share interactions. Each hill has its own maximum, curvatures and height.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from elolab.tuning.study.space import Space

Array = NDArray[np.float64]

PLACE_MEAN, PLACE_DEVIATION = 0.5, 0.3
"""Prior mean and standard deviation of a maximum's coordinate, which is 0 and 1 at the ends of a range.
"""
NEAR_BASE_LOSS = 2.0
"""Prior mean of the Elo that the base loses in each range, in the model with a maximum near the base."""
OTHER_CHOICE_MEAN, OTHER_CHOICE_DEVIATION = -20.0, 20.0
"""Prior mean and standard deviation of a choice's effect, in Elo, in the model with a maximum near the base.

The effect of the base's choice has the mean 0.
"""
MAX_INTERACTING = 16
"""Maximum number of numeric dimensions with interactions.

The dimensions with the largest curvatures interact; interactions of other dimensions change Elo only a little.
"""
LOG_CURVATURE = math.log(400.0)
"""Prior mean of the logarithm of the curvatures. A curvature is in Elo per squared range."""
COMMON_DEVIATION, OWN_DEVIATION = 1.0, 1.0
"""Prior standard deviations of the logarithms of curvatures: of their common mean, and around this mean."""
MIN_LOG_CURVATURE, MAX_LOG_CURVATURE = LOG_CURVATURE - 6.0, LOG_CURVATURE + 4.0
INTERACTION_DEVIATION = 0.15
"""Prior standard deviation of an interaction: the mixed derivative divided by the geometric mean of both curvatures."""
LOG_LARGEST_LOSS, LARGEST_LOSS_DEVIATION = math.log(1000.0), 1.0
"""Prior mean and standard deviation of the logarithm of the largest loss.

The largest loss is the Elo that a hill loses infinitely far from its summit.
"""
MIN_LOG_LARGEST_LOSS, MAX_LOG_LARGEST_LOSS = LOG_LARGEST_LOSS - 3.0, LOG_LARGEST_LOSS + 4.0
CHOICE_DEVIATION = 40.0
"""Prior standard deviation of the effect of a choice, in Elo."""
MOVEMENT_DEVIATION = 0.05
"""Prior standard deviation of a maximum's movement, as a fraction of the range, when the search limit grows e-fold."""
SHRINKAGE_DEVIATION = 0.2
"""Prior standard deviation of the log factor by which Elo shrinks or grows when the search limit grows e-fold."""
HEIGHT_DEVIATION = 20.0
"""Prior standard deviation of the difference in height between two summits, in Elo."""
CONTRAST_DEVIATION = 0.4
"""Prior standard deviation of the logarithm of the ratio of two hills' curvatures in one dimension."""
VALLEY_WIDTH = 6.0
"""Width of the smooth transition between two hills, in Elo. The valley is rounded where the hills differ by less."""
NO_SUMMIT = -1e6
"""Height, in Elo, of a second summit that does not exist."""


class Hill:
    """Elo as a function of a set of values, with one maximum or two, and the order of the model's coefficients in a
    vector.

    The coefficients are called terms: coordinates of the maximum, logarithms of curvatures, interactions, the logarithm
    of the largest loss, and effects of choices. Two hills have further terms: the second hill's maximum; the log ratios
    of the first hill's curvatures to the second's; the second hill's height over the first. The logarithms of
    curvatures are then means of both hills.
    """

    def __init__(self, space: Space, interacting: Sequence[int] | None = None, *, is_double: bool = False) -> None:
        """``interacting`` has the indices of the numeric dimensions that interact with each other, by default all.

        ``is_double`` makes a model with two hills, that is, with two maxima.
        """
        self.space, self.is_double = space, is_double
        self.ordered = [place for place, dimension in enumerate(space.dimensions) if not dimension.choices]
        self.choices = [place for place, dimension in enumerate(space.dimensions) if dimension.choices]
        self.sizes = [len(space.dimensions[place].choices) for place in self.choices]
        self.count = len(self.ordered)
        self.base = np.array(space.coordinates(space.default_values), float)[self.ordered]
        self.interacting = tuple(range(self.count) if interacting is None else interacting)
        places = np.array(self.interacting, int)
        self.one, self.other = (places[which] for which in np.triu_indices(len(places), 1))
        count, crossed = self.count, len(self.one)
        self.maxima = slice(0, count)
        self.curvatures = slice(count, 2 * count)
        self.interactions = slice(2 * count, 2 * count + crossed)
        self.largest_loss = 2 * count + crossed
        self.effects = slice(self.largest_loss + 1, self.largest_loss + 1 + sum(self.sizes))
        end = self.effects.stop
        self.second_maxima = slice(end, end + count)
        self.contrasts = slice(end + count, end + 2 * count)
        self.height = end + 2 * count
        self.terms = self.height + 1 if is_double else end
        self.at_target: Hill = self
        """The hill at the target limit. Its terms are the first terms of this hill."""

    def effects_of(self, place: int) -> slice:
        """Part of ``effects`` that belongs to the choices of dimension ``place``, as a slice from 0 on."""
        before = self.choices.index(place)
        start = sum(self.sizes[:before])
        return slice(start, start + self.sizes[before])

    def prior(self, near_base: Array | None = None) -> tuple[Array, Array]:
        """Mean vector and precision matrix (inverse covariance) of the normal prior of the model's coefficients.

        ``near_base`` selects the prior of a maximum near the base. The array has approximate logarithms of the
        curvatures, shape (ranges,). The smaller the curvature in a range, the farther the maximum may lie from the
        base.
        """
        mean, deviation = np.zeros(self.terms), np.zeros(self.terms)
        mean[self.maxima], deviation[self.maxima] = PLACE_MEAN, PLACE_DEVIATION
        deviation[self.effects] = CHOICE_DEVIATION
        if near_base is not None:
            near = np.sqrt(2 * NEAR_BASE_LOSS * np.exp(-near_base))
            mean[self.maxima], deviation[self.maxima] = self.base, np.minimum(near, PLACE_DEVIATION)
            is_chosen = self.indicators(np.array([self.space.coordinates(self.space.default_values)], float))[0]
            mean[self.effects], deviation[self.effects] = OTHER_CHOICE_MEAN * (1 - is_chosen), OTHER_CHOICE_DEVIATION
        mean[self.curvatures], deviation[self.curvatures] = LOG_CURVATURE, OWN_DEVIATION
        deviation[self.interactions] = INTERACTION_DEVIATION
        mean[self.largest_loss], deviation[self.largest_loss] = LOG_LARGEST_LOSS, LARGEST_LOSS_DEVIATION
        if self.is_double:
            mean[self.second_maxima], deviation[self.second_maxima] = PLACE_MEAN, PLACE_DEVIATION
            deviation[self.contrasts], deviation[self.height] = CONTRAST_DEVIATION, HEIGHT_DEVIATION
        covariance = np.diag(deviation**2)
        covariance[self.curvatures, self.curvatures] += COMMON_DEVIATION**2
        return mean, np.asarray(np.linalg.inv(covariance), float)

    def hessians(self, terms: Array, *, second: bool = False) -> Array:
        """Second derivatives of the Elo loss around a maximum: curvatures on the diagonal, mixed derivatives elsewhere.

        ``terms`` are coefficients of the model. The shape is (..., ranges, ranges), for the dimensions with numbers as
        values. ``second`` selects the maximum of the second hill.
        """
        root = np.exp(self.log_curvatures(terms, second=second) / 2)
        matrix = np.zeros((*terms.shape[:-1], self.count, self.count))
        matrix[..., self.one, self.other] = matrix[..., self.other, self.one] = terms[..., self.interactions]
        return np.asarray((matrix + np.eye(self.count)) * root[..., :, None] * root[..., None, :], float)

    def log_curvatures(self, terms: Array, *, second: bool = False) -> Array:
        """Logarithms of the curvatures at a maximum of Elo, shape (..., ranges), for the dimensions with numbers as
        values.

        ``terms`` are coefficients of the model. ``second`` selects the maximum of the second hill.
        """
        if not self.is_double:
            return np.asarray(terms[..., self.curvatures], float)
        contrasts = terms[..., self.contrasts] / 2
        return np.asarray(terms[..., self.curvatures] + (-contrasts if second else contrasts), float)

    def indicators(self, points: Array) -> Array:
        """Matrix of shape (points, effects): 1 if the point has the choice with this effect, otherwise 0."""
        columns = [
            points[:, place, None] == np.arange(size) for place, size in zip(self.choices, self.sizes, strict=True)
        ]
        return np.concatenate(columns, axis=1).astype(float) if columns else np.zeros((len(points), 0))

    def elo(self, terms: Array, points: Array) -> Array:
        """Elo of points, shape (points,), for the coefficients ``terms``; each row of ``points`` has one point's
        coordinates.
        """
        _, lost, _ = self._below_summits(terms, points)
        elo = self._heights(terms) - levelled_off(lost, terms[self.largest_loss])[0]
        return _highest(elo) + self.indicators(points) @ terms[self.effects]

    def elo_with_slopes(self, terms: Array, points: Array) -> tuple[Array, Array]:
        """Elo of points, shape (points,), and the derivatives of Elo with respect to each term, shape (points, terms).

        ``terms`` are the model's coefficients; each row of ``points`` has one point's coordinates.
        """
        roots = np.exp(self._log_curvatures_of_both(terms) / 2)
        apart, lost, pull = self._below_summits(terms, points)
        indicators = self.indicators(points)
        levelled, by_loss, by_largest = levelled_off(lost, terms[self.largest_loss])
        elo = self._heights(terms) - levelled
        highest = _highest(elo)
        by_height = np.exp((elo - highest) / VALLEY_WIDTH) if self.is_double else np.ones_like(elo)
        weights = (by_height * by_loss)[:, :, None]
        by_place = weights * pull
        by_curvature = weights * (-0.5 * apart * pull)
        stretched = roots[:, None] * apart
        crossed = -stretched[:, :, self.one] * stretched[:, :, self.other]
        shared = [by_curvature, weights * crossed, (-by_height * by_largest)[:, :, None]]
        slopes = [by_place[0], *(one.sum(axis=0) for one in shared), indicators]
        if self.is_double:
            slopes += [by_place[1], (by_curvature[0] - by_curvature[1]) / 2, by_height[1][:, None]]
        return highest + indicators @ terms[self.effects], np.concatenate(slopes, axis=1)

    def _below_summits(self, terms: Array, points: Array) -> tuple[Array, Array, Array]:
        """Vectors from each maximum to the points, the Elo lost on the way, and the derivatives of this loss.

        The loss has the shape (hills, points) and does not yet level off. Vectors and derivatives have a further axis
        for the numeric dimensions. Choices are ignored.
        """
        maxima, hessians = terms[None, self.maxima], self.hessians(terms)[None]
        if self.is_double:
            maxima = np.stack([maxima[0], terms[self.second_maxima]])
            hessians = np.stack([hessians[0], self.hessians(terms, second=True)])
        apart = points[:, self.ordered] - maxima[:, None]
        pull = apart @ hessians
        return apart, 0.5 * (apart * pull).sum(axis=2), pull

    def _heights(self, terms: Array) -> Array:
        """Elo of the maximum of each hill, shape (hills, 1)."""
        return np.array([[0.0], [terms[self.height]]]) if self.is_double else np.zeros((1, 1))

    def _log_curvatures_of_both(self, terms: Array) -> Array:
        """Logarithms of the curvatures of each hill, shape (hills, ranges), for the numeric dimensions."""
        return np.stack([self.log_curvatures(terms, second=second) for second in (False, True)[: 1 + self.is_double]])

    def exchanged(self, terms: Array) -> Array:
        """The coefficients of the same model with two hills, if the first and the second hill change places."""
        found = terms.copy()
        found[..., self.maxima], found[..., self.second_maxima] = (
            terms[..., self.second_maxima],
            terms[..., self.maxima],
        )
        found[..., self.contrasts], found[..., self.height] = -terms[..., self.contrasts], -terms[..., self.height]
        return found


class HillOverLimits(Hill):
    """A model of Elo for results at several search limits.

    The maxima move, and Elo shrinks or grows, with the logarithm of the limit. The first coefficients are the terms of
    ``Hill`` at the target limit. Further coefficients, for movement and shrinkage, have no effect at the target limit.
    """

    def __init__(
        self, space: Space, log_limits: Array, interacting: Sequence[int] | None = None, *, is_double: bool = False
    ) -> None:
        """``log_limits`` has the natural logarithm of each point's search limit divided by the target limit, shape
        (points,).

        ``elo`` and ``elo_with_slopes`` must receive exactly these points. The other arguments are as in ``Hill``.
        """
        super().__init__(space, interacting, is_double=is_double)
        self.at_target = Hill(space, interacting, is_double=is_double)
        self._log_limits = log_limits[:, None]
        self._movements = slice(self.terms, self.terms + self.count)
        self.terms += self.count + 1

    def prior(self, near_base: Array | None = None) -> tuple[Array, Array]:
        """Mean vector and precision matrix (inverse covariance) of the normal prior of the model's coefficients.

        ``near_base`` is as in ``Hill.prior``.
        """
        mean, precision = self.at_target.prior(near_base)
        deviation = np.array([MOVEMENT_DEVIATION] * self.count + [SHRINKAGE_DEVIATION])
        extended = np.diag(np.concatenate([np.zeros(len(mean)), deviation**-2.0]))
        extended[: len(mean), : len(mean)] = precision
        return np.concatenate([mean, np.zeros(len(deviation))]), extended

    def elo(self, terms: Array, points: Array) -> Array:
        """Elo of the points, each at the search limit of its games, shape (points,)."""
        return self.elo_with_slopes(terms, points)[0]

    def elo_with_slopes(self, terms: Array, points: Array) -> tuple[Array, Array]:
        """Elo of the points, each at the search limit of its games, and the derivatives with respect to each
        coefficient.

        The shapes are (points,) and (points, terms).
        """
        moved = points.copy()
        moved[:, self.ordered] -= self._log_limits * terms[self._movements]
        elo, slopes = super().elo_with_slopes(terms, moved)
        scale = np.exp(self._log_limits * terms[self.terms - 1])
        by_place = slopes[:, self.maxima] + (slopes[:, self.second_maxima] if self.is_double else 0.0)
        slopes = np.concatenate([slopes, self._log_limits * by_place, self._log_limits * elo[:, None]], 1)
        return scale[:, 0] * elo, scale * slopes


def _highest(elo: Array) -> Array:
    """Smooth maximum over hills, shape (points,); ``elo`` has the shape (hills, points)."""
    if len(elo) == 1:
        return np.asarray(elo[0], float)
    apart = np.abs(elo[0] - elo[1]) / VALLEY_WIDTH
    return np.asarray(elo.max(axis=0) + VALLEY_WIDTH * np.log1p(np.exp(-apart)), float)


def levelled_off(lost: Array, log_largest: Array | float) -> tuple[Array, Array, Array]:
    """Elo lost below a maximum after levelling off, and the derivatives with respect to ``lost`` and ``log_largest``.

    ``lost`` is the Elo lost without levelling off; ``log_largest`` is the logarithm of the largest possible loss M. The
    result is ``lost / sqrt(1 + (lost / M)**2)``: about ``lost`` near the maximum, and about M far from it.
    """
    squared = (lost * np.exp(-log_largest)) ** 2
    by_loss = (1 + squared) ** -1.5
    return lost / np.sqrt(1 + squared), by_loss, lost * squared * by_loss


def bounded(hill: Hill, terms: Array) -> Array:
    """A copy of the coefficients ``terms`` in which curvatures and the largest loss lie within their bounds."""
    bounded = terms.copy()
    bounded[..., hill.curvatures] = np.clip(terms[..., hill.curvatures], MIN_LOG_CURVATURE, MAX_LOG_CURVATURE)
    bounded[..., hill.largest_loss] = np.clip(terms[..., hill.largest_loss], MIN_LOG_LARGEST_LOSS, MAX_LOG_LARGEST_LOSS)
    return bounded
