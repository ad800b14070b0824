"""A hill: Elo with one maximum over the ranges, and an effect of every choice; its terms, prior and derivatives.

Far below its summit a hill levels off: settings that lose nearly every game cannot lose many more. Without that the few
results from far down, of whose small scores each says much about a curvature, would make all slopes too gentle.
Or two hills, of which the higher one counts at every point: two summits and a valley between them. They have skews and
interactions in common; places, curvatures and heights are each one's own.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from elolab.tuning.study.space import Space

Array = NDArray[np.float64]

PLACE_MEAN, PLACE_DEVIATION, CLOSE_DEVIATION = 0.5, 0.5, 0.2
"""Of a range: prior mean and standard deviation of the place of its maximum, and the smaller deviation where ranges
were chosen about their maxima."""
NEAR_BASE_DEVIATION = 0.05
"""The same about the base, if the base is the best already."""
MAX_INTERACTING = 16
"""Ranges: with more of them no interactions are looked for, of which the games would tell next to nothing."""
LOG_CURVATURE = math.log(400.0)
"""Logarithm of Elo over range squared: prior mean of the common size of the curvatures."""
COMMON_DEVIATION, OWN_DEVIATION = 1.0, 1.0
"""Standard deviations of the common size and of each curvature about it, in natural logarithms."""
MIN_LOG_CURVATURE, MAX_LOG_CURVATURE = LOG_CURVATURE - 6.0, LOG_CURVATURE + 4.0
INTERACTION_DEVIATION = 0.15
"""Of a mixed derivative over the geometric mean of the two curvatures."""
SKEW_DEVIATION = 0.15
"""Of the part by which a slope is steeper, or flatter, far from the maximum."""
SKEW_WIDTH = 0.3
"""Of a range: how far from the maximum a skew shows."""
LOG_LARGEST_LOSS, LARGEST_LOSS_DEVIATION = math.log(1000.0), 1.0
"""Logarithm of the Elo below the summit at which a hill has levelled off: prior mean and standard deviation."""
MIN_LOG_LARGEST_LOSS, MAX_LOG_LARGEST_LOSS = LOG_LARGEST_LOSS - 3.0, LOG_LARGEST_LOSS + 4.0
CHOICE_DEVIATION = 40.0
"""Elo: standard deviation of the effect of a choice."""
MOVEMENT_DEVIATION = 0.05
"""Of a range: how far the place of a maximum moves when the limit is e times as large."""
SHRINKAGE_DEVIATION = 0.2
"""Of the logarithm by which Elo shrinks, or grows, with that."""
HEIGHT_DEVIATION = 20.0
"""Elo: prior standard deviation of the height of one of two summits over the other."""
CONTRAST_DEVIATION = 0.4
"""Of the logarithm of the ratio of their curvatures, in every dimension."""
VALLEY_WIDTH = 6.0
"""Elo: where two hills differ by less the valley between them is rounded, by 0.7 of it where they are equal."""
NO_SUMMIT = -1e6
"""Elo: height of a second summit that is none."""


class Hill:
    """The terms of the model in one vector: maxima, logarithms of curvatures, interactions, skews, the logarithm of the
    largest loss, effects.

    Of two hills the second one's maxima, the logarithms of the first one's curvatures over its own, and the height of
    the second summit over the first one follow; the logarithms of curvatures are then the means of both. The largest
    loss is below each one's own summit.
    """

    def __init__(self, space: Space, *, is_double: bool = False) -> None:
        self.space, self.is_double = space, is_double
        self.ordered = [place for place, dimension in enumerate(space.dimensions) if not dimension.choices]
        self.choices = [place for place, dimension in enumerate(space.dimensions) if dimension.choices]
        self.sizes = [len(space.dimensions[place].choices) for place in self.choices]
        self.count = len(self.ordered)
        self.base = np.array(space.coordinates(space.default_values), float)[self.ordered]
        self.one, self.other = np.triu_indices(self.count if self.count <= MAX_INTERACTING else 0, 1)
        count, crossed = self.count, len(self.one)
        self.maxima = slice(0, count)
        self.curvatures = slice(count, 2 * count)
        self.interactions = slice(2 * count, 2 * count + crossed)
        self.skews = slice(2 * count + crossed, 3 * count + crossed)
        self.largest_loss = 3 * count + crossed
        self.effects = slice(self.largest_loss + 1, self.largest_loss + 1 + sum(self.sizes))
        end = self.effects.stop
        self.second_maxima = slice(end, end + count)
        self.contrasts = slice(end + count, end + 2 * count)
        self.height = end + 2 * count
        self.terms = self.height + 1 if is_double else end

    def effects_of(self, place: int) -> slice:
        """Where the effects of one dimension's choices lie among all effects."""
        before = self.choices.index(place)
        start = sum(self.sizes[:before])
        return slice(start, start + self.sizes[before])

    def prior(self, deviation_of_places: float = PLACE_DEVIATION, *, is_near_base: bool = False) -> tuple[Array, Array]:
        """Mean and precision of all terms before any game, in general or if the base is the best already."""
        mean, deviation = np.zeros(self.terms), np.zeros(self.terms)
        mean[self.maxima], deviation[self.maxima] = PLACE_MEAN, deviation_of_places
        if is_near_base:
            mean[self.maxima], deviation[self.maxima] = self.base, NEAR_BASE_DEVIATION
        mean[self.curvatures], deviation[self.curvatures] = LOG_CURVATURE, OWN_DEVIATION
        deviation[self.interactions] = INTERACTION_DEVIATION
        deviation[self.skews] = SKEW_DEVIATION
        mean[self.largest_loss], deviation[self.largest_loss] = LOG_LARGEST_LOSS, LARGEST_LOSS_DEVIATION
        deviation[self.effects] = CHOICE_DEVIATION
        if self.is_double:
            mean[self.second_maxima], deviation[self.second_maxima] = PLACE_MEAN, deviation_of_places
            deviation[self.contrasts], deviation[self.height] = CONTRAST_DEVIATION, HEIGHT_DEVIATION
        covariance = np.diag(deviation**2)
        covariance[self.curvatures, self.curvatures] += COMMON_DEVIATION**2
        return mean, np.asarray(np.linalg.inv(covariance), float)

    def hessians(self, terms: Array, *, second: bool = False) -> Array:
        """The matrix of curvatures and mixed derivatives of a hill, shape (..., dimensions, dimensions)."""
        root = np.exp(self.log_curvatures(terms, second=second) / 2)
        matrix = np.zeros((*terms.shape[:-1], self.count, self.count))
        matrix[..., self.one, self.other] = matrix[..., self.other, self.one] = terms[..., self.interactions]
        return np.asarray((matrix + np.eye(self.count)) * root[..., :, None] * root[..., None, :], float)

    def log_curvatures(self, terms: Array, *, second: bool = False) -> Array:
        """The logarithms of the curvatures of a hill, shape (..., dimensions)."""
        if not self.is_double:
            return np.asarray(terms[..., self.curvatures], float)
        contrasts = terms[..., self.contrasts] / 2
        return np.asarray(terms[..., self.curvatures] + (-contrasts if second else contrasts), float)

    def indicators(self, points: Array) -> Array:
        """Which choice every point has, shape (points, effects)."""
        columns = [
            points[:, place, None] == np.arange(size) for place, size in zip(self.choices, self.sizes, strict=True)
        ]
        return np.concatenate(columns, axis=1).astype(float) if columns else np.zeros((len(points), 0))

    def elo(self, terms: Array, points: Array) -> Array:
        """Elo of the points, shape (points,)."""
        _, _, _, lost, _ = self._below_summits(terms, points)
        elo = self._heights(terms) - levelled_off(lost, terms[self.largest_loss])[0]
        return _highest(elo) + self.indicators(points) @ terms[self.effects]

    def elo_with_slopes(self, terms: Array, points: Array) -> tuple[Array, Array]:
        """Elo of the points, shape (points,), and its derivatives by every term, shape (points, terms)."""
        skews, roots = terms[self.skews], np.exp(self._log_curvatures_of_both(terms) / 2)
        apart, bend, bent, lost, pull = self._below_summits(terms, points)
        indicators = self.indicators(points)
        levelled, by_loss, by_largest = levelled_off(lost, terms[self.largest_loss])
        elo = self._heights(terms) - levelled
        highest = _highest(elo)
        by_height = np.exp((elo - highest) / VALLEY_WIDTH) if self.is_double else np.ones_like(elo)
        weights = (by_height * by_loss)[:, :, None]
        by_place = weights * pull * (1 + skews * (bend + apart * (1 - bend * bend) / SKEW_WIDTH))
        by_curvature = weights * (-0.5 * bent * pull)
        stretched = roots[:, None] * bent
        crossed = -stretched[:, :, self.one] * stretched[:, :, self.other]
        shared = [by_curvature, weights * crossed, weights * (-pull * apart * bend)]
        shared.append((-by_height * by_largest)[:, :, None])
        slopes = [by_place[0], *(one.sum(axis=0) for one in shared), indicators]
        if self.is_double:
            slopes += [by_place[1], (by_curvature[0] - by_curvature[1]) / 2, by_height[1][:, None]]
        return highest + indicators @ terms[self.effects], np.concatenate(slopes, axis=1)

    def _below_summits(self, terms: Array, points: Array) -> tuple[Array, Array, Array, Array, Array]:
        """Of every hill and point: the way from the maximum, its bend, the bent way, the Elo lost on it, its slopes.

        Shapes (hills, points, ranges), of Elo (hills, points); without choices, and as if no hill levelled off.
        """
        maxima, hessians = terms[None, self.maxima], self.hessians(terms)[None]
        if self.is_double:
            maxima = np.stack([maxima[0], terms[self.second_maxima]])
            hessians = np.stack([hessians[0], self.hessians(terms, second=True)])
        apart = points[:, self.ordered] - maxima[:, None]
        bend = np.tanh(apart / SKEW_WIDTH)
        bent = apart * (1 + terms[self.skews] * bend)
        pull = bent @ hessians
        return apart, bend, bent, 0.5 * (bent * pull).sum(axis=2), pull

    def _heights(self, terms: Array) -> Array:
        """Of the summits, shape (hills, 1)."""
        return np.array([[0.0], [terms[self.height]]]) if self.is_double else np.zeros((1, 1))

    def _log_curvatures_of_both(self, terms: Array) -> Array:
        """Shape (hills, ranges)."""
        return np.stack([self.log_curvatures(terms, second=second) for second in (False, True)[: 1 + self.is_double]])

    def exchanged(self, terms: Array) -> Array:
        """The terms of the same two hills, the second one named first."""
        found = terms.copy()
        found[..., self.maxima], found[..., self.second_maxima] = (
            terms[..., self.second_maxima], terms[..., self.maxima]
        )  # fmt: skip
        found[..., self.contrasts], found[..., self.height] = -terms[..., self.contrasts], -terms[..., self.height]
        return found

    def at_target(self, terms: Array) -> Array:
        """The terms that ``ResponseModel`` takes."""
        return terms


class HillOverLimits(Hill):
    """The same of results at several limits: places of maxima move, and Elo shrinks, with the logarithm of the limit.

    The terms of the limit that is asked for come first and are those of ``Hill``; there the others change nothing.
    """

    def __init__(self, space: Space, log_limits: Array, *, is_double: bool = False) -> None:
        """``log_limits`` are those of the points that ``elo_with_slopes`` is asked about, shape (points,)."""
        super().__init__(space, is_double=is_double)
        self._at_target = Hill(space, is_double=is_double)
        self._log_limits = log_limits[:, None]
        self._movements = slice(self.terms, self.terms + self.count)
        self.terms += self.count + 1

    def prior(self, deviation_of_places: float = PLACE_DEVIATION, *, is_near_base: bool = False) -> tuple[Array, Array]:
        """Mean and precision of all terms before any game."""
        mean, precision = self._at_target.prior(deviation_of_places, is_near_base=is_near_base)
        deviation = np.array([MOVEMENT_DEVIATION] * self.count + [SHRINKAGE_DEVIATION])
        extended = np.diag(np.concatenate([np.zeros(len(mean)), deviation**-2.0]))
        extended[: len(mean), : len(mean)] = precision
        return np.concatenate([mean, np.zeros(len(deviation))]), extended

    def elo(self, terms: Array, points: Array) -> Array:
        """Elo of the points at their limits."""
        return self.elo_with_slopes(terms, points)[0]

    def elo_with_slopes(self, terms: Array, points: Array) -> tuple[Array, Array]:
        """Elo of the points at their limits, and its derivatives by every term."""
        moved = points.copy()
        moved[:, self.ordered] -= self._log_limits * terms[self._movements]
        elo, slopes = super().elo_with_slopes(terms, moved)
        scale = np.exp(self._log_limits * terms[self.terms - 1])
        by_place = slopes[:, self.maxima] + (slopes[:, self.second_maxima] if self.is_double else 0.0)
        slopes = np.concatenate([slopes, self._log_limits * by_place, self._log_limits * elo[:, None]], 1)
        return scale[:, 0] * elo, scale * slopes

    def at_target(self, terms: Array) -> Array:
        """The terms without those of other limits."""
        return np.asarray(terms[..., : self._at_target.terms], float)


def _highest(elo: Array) -> Array:
    """Elo of the hills together, shape (points,), of each one's, shape (hills, points)."""
    if len(elo) == 1:
        return np.asarray(elo[0], float)
    apart = np.abs(elo[0] - elo[1]) / VALLEY_WIDTH
    return np.asarray(elo.max(axis=0) + VALLEY_WIDTH * np.log1p(np.exp(-apart)), float)


def levelled_off(lost: Array, log_largest: Array | float) -> tuple[Array, Array, Array]:
    """Elo lost on a hill that levels off where one that does not loses ``lost``; its derivatives by the two arguments.

    With the largest loss M it is lost / sqrt(1 + (lost / M) ** 2): the same near the summit, M far from it. Results
    close to the summit say nothing of M, those far from it nearly nothing of the form: tanh fits as well.
    """
    squared = (lost * np.exp(-log_largest)) ** 2
    by_loss = (1 + squared) ** -1.5
    return lost / np.sqrt(1 + squared), by_loss, lost * squared * by_loss


def bounded(hill: Hill, terms: Array) -> Array:
    """The terms with curvatures and a largest loss that are within reason; others may be anything."""
    bounded = terms.copy()
    bounded[..., hill.curvatures] = np.clip(terms[..., hill.curvatures], MIN_LOG_CURVATURE, MAX_LOG_CURVATURE)
    bounded[..., hill.largest_loss] = np.clip(terms[..., hill.largest_loss], MIN_LOG_LARGEST_LOSS, MAX_LOG_LARGEST_LOSS)
    return bounded
