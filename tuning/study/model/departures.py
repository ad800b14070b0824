"""Departures from a hill: what else Elo may do along a dimension or over several, and how much of it the games show.

Each group of features is a Gaussian process: along one dimension a rough one, which may have steps, ripples and slopes
that end (Ornstein and Uhlenbeck's); over all dimensions together a smooth one, which may have other summits. Its
standard deviation is the one under which the results are the most probable (their evidence, also called marginal
likelihood), and 0, no departure, unless the evidence for it outweighs a prior that expects none.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from elolab.tuning.study.model.hill import Hill
from elolab.tuning.study.space import Space

Array = NDArray[np.float64]

KNOTS = 17
"""Of a range: between them a departure along a dimension is linear."""
ALONG_LENGTH = 0.25
"""Of a range: over which such a departure forgets itself."""
JOINT_LENGTH = 0.25
"""Of a range, in every dimension: the same of one over all dimensions."""
JOINT_POINTS = 100
"""Sampled sets that a departure over all dimensions is made of."""
JITTER = 1e-6
DEVIATIONS = (4.0, 12.0, 36.0, 108.0)
"""Elo: standard deviations of a departure to choose from."""
MIN_EVIDENCE = 6.0
"""Natural logarithm of how much more probable the results must be with a departure than without it."""
MAX_GROUPS = 6
"""Departures of one model at most."""


@dataclass(frozen=True)
class Group:
    """The features of one possible departure: independent standard normal weights give the process of deviation 1."""

    place: int | None
    """The dimension along which it is; ``None`` for one over all ranges."""
    ordered: tuple[int, ...]
    knots: Array
    """Shape (knots,), or of the joint one (points, ranges): where it is described."""
    root: Array
    """Of the covariance there: from weights to values, or of the joint one to coefficients."""

    def features(self, points: Array) -> Array:
        """Of coordinates (points, dimensions), shape (points, weights)."""
        if self.place is None:
            return np.asarray(_joint(points[:, self.ordered], self.knots) @ self.root, float)
        step = self.knots[1] - self.knots[0]
        hats = np.maximum(0.0, 1 - np.abs(np.clip(points[:, self.place, None], 0, 1) - self.knots) / step)
        return np.asarray(hats @ self.root, float)


@dataclass(frozen=True)
class Possible:
    """A departure that a model does not have, less what the model's terms would take over of it if it were there."""

    group: Group
    hill: Hill
    chosen: Sequence[Group]
    """Departures that the model has."""
    terms: Array
    """Of the model: the hill's, then the weights of ``chosen``."""
    moves: Array
    """What every weight takes from each of these, shape (terms, weights)."""

    def features(self, points: Array) -> Array:
        """Of coordinates (points, dimensions), shape (points, weights)."""
        _, slopes = self.hill.elo_with_slopes(self.terms[: self.hill.terms], points)
        slopes = np.concatenate([slopes, *(group.features(points) for group in self.chosen)], axis=1)
        return self.group.features(points) - slopes @ self.moves


def groups_of(space: Space, sampled: Array) -> list[Group]:
    """Every departure that is thought of, after these coordinates were sampled."""
    ordered = tuple(place for place, dimension in enumerate(space.dimensions) if not dimension.choices)
    knots = np.linspace(0, 1, KNOTS)
    along = np.exp(-np.abs(knots[:, None] - knots) / ALONG_LENGTH)
    root = np.linalg.cholesky(along)
    found = [Group(place, ordered, knots, root) for place in ordered]
    if len(ordered) > 1:
        distinct = np.unique(sampled[:, ordered], axis=0)
        order = np.random.Generator(np.random.PCG64(0)).permutation(len(distinct))
        points = distinct[np.sort(order[:JOINT_POINTS])]
        covariance = _joint(points, points) + JITTER * np.eye(len(points))
        found.append(Group(None, ordered, points, np.linalg.inv(np.linalg.cholesky(covariance)).T))
    return found


def _joint(points: Array, others: Array) -> Array:
    squared = (points**2).sum(axis=1)[:, None] + (others**2).sum(axis=1) - 2 * points @ others.T
    return np.asarray(np.exp(-np.maximum(squared, 0) / (2 * points.shape[1] * JOINT_LENGTH**2)), float)


def choose(information: Array, slope: Array, features: Sequence[slice], known: int) -> dict[int, float]:
    """Which groups depart, by number, and their standard deviations in Elo.

    ``information`` is the negated second derivative of the logarithm of the likelihood by all terms, the first
    ``known`` of which are the hill's and have their prior's in it; ``slope`` is the first derivative where all weights
    of departures are 0. One group after the other is taken in, that with the most evidence beside those before it.
    """
    chosen: dict[int, float] = {}
    least = MIN_EVIDENCE + math.log(max(1, len(features)))
    while len(chosen) < MAX_GROUPS:
        places = np.arange(len(slope))
        taken = np.concatenate([places[:known], *(places[features[one]] for one in chosen)])
        base = information[np.ix_(taken, taken)].copy()
        widths = [features[one].stop - features[one].start for one in chosen]
        spread = np.repeat([1 / deviation**2 for deviation in chosen.values()], widths)
        base[np.arange(known, len(base)), np.arange(known, len(base))] += spread
        solved = np.linalg.solve(base, np.column_stack([information[taken, known:], slope[taken]]))
        best = (least, -1, 0.0)
        for group, columns in enumerate(features):
            if group in chosen:
                continue
            cross, part = information[taken, columns], solved[:, _behind(columns, known)]
            inner, gain = information[columns, columns] - cross.T @ part, slope[columns] - cross.T @ solved[:, -1]
            best = max(best, *((_evidence(gain, inner, deviation), group, deviation) for deviation in DEVIATIONS))
        if best[1] < 0:
            break
        chosen[best[1]] = best[2]
    return chosen


def drawn_weights(slope: Array, information: Array, generator: np.random.Generator, draws: int) -> Array:
    """Weights of a possible departure from their posterior, shape (draws, weights); two by two mirror images.

    ``slope`` and ``information`` are the derivatives of the logarithm of the likelihood where the weights are 0.
    Whether it is there at all is as probable as not before any game, and each of its standard deviations alike.
    """
    evidence = np.array([0.0, *(_evidence(slope, information, deviation) for deviation in DEVIATIONS)])
    odds = np.exp(evidence - evidence.max()) * np.array([1.0, *[1 / len(DEVIATIONS)] * len(DEVIATIONS)])
    sizes = generator.choice(len(odds), size=draws // 2, p=odds / odds.sum())
    noise, found = generator.standard_normal((draws // 2, len(slope))), np.zeros((draws // 2, 2, len(slope)))
    for size, deviation in enumerate(DEVIATIONS, 1):
        precision = information + np.eye(len(slope)) / deviation**2
        apart = np.linalg.solve(np.linalg.cholesky(precision).T, noise[sizes == size].T).T
        found[sizes == size] = np.linalg.solve(precision, slope) + np.stack([apart, -apart], axis=1)
    return found.reshape(draws, len(slope))


def _behind(columns: slice, known: int) -> slice:
    """The same columns counted from the first one behind those that are known."""
    return slice(columns.start - known, columns.stop - known)


def _evidence(slope: Array, information: Array, deviation: float) -> float:
    """Logarithm of how much more probable the results are with weights of that deviation than with none.

    ``slope`` and ``information`` are the derivatives of the logarithm of the likelihood where the weights are 0.
    """
    root = np.linalg.cholesky(information + np.eye(len(slope)) / deviation**2)
    half = np.linalg.solve(root, slope)
    return float(half @ half / 2 - np.log(np.diag(root)).sum() - len(slope) * math.log(deviation))
