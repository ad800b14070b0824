"""Which set of parameters to recommend, given what every trial scored.

The best observed trial is never the answer: among many noisy results the best one is mostly the luckiest. The method
here smooths the results of all trials with a Gaussian process over the space (normal prior, known noise of each trial,
the base itself known to be worth 0 Elo against itself), so that a result counts as far as its neighbours agree, and
recommends the set with the highest posterior mean among the base and the sets that were tried. It replaces nothing
else: a later method needs only ``recommend``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from arena.statistics import Pentanomial
from engine.parameters import Value
from tuning.space import Space

Array = NDArray[np.float64]

METHOD = "highest posterior mean of a Gaussian process over all trials, among the base and the sets tried"

PRIOR_PAIRS = (0.05, 0.2, 0.5, 0.2, 0.05)
"""One pair's worth of even outcomes added to every trial, so that its noise is finite."""
OFFSET_DEVIATION = 60.0
"""Elo: how far the mean of the whole space may lie from the base's."""
DEVIATIONS = (5.0, 10.0, 20.0, 40.0, 80.0, 160.0)
"""Elo: candidates for the standard deviation over the space."""
LENGTHS = (0.2, 0.4, 0.8, 1.6, 3.2, 12.8)
"""Candidates for the distance, in ranges, over which the value changes; the largest means "does not matter"."""
TYPICAL_DEVIATION, TYPICAL_LENGTH = 40.0, 0.8
"""Medians of the log-normal beliefs about the two."""
BELIEF_WIDTH = 1.0
"""Standard deviation of the logarithms of the two."""
SWEEPS = 3
"""Rounds of choosing each candidate given the others."""
PINNED_VARIANCE = 1e-4
"""Elo squared: the noise of the base's own value, and what keeps the matrix invertible."""


@dataclass(frozen=True)
class Observation:
    """A set of parameters and what it scored against the base."""

    values: Mapping[str, Value]
    counts: Pentanomial


@dataclass(frozen=True)
class ResponseModel:
    """Elo against the base as a function of the set, with its uncertainty."""

    space: Space
    points: Array
    """Coordinates of the sets the model knows, shape (sets, dimensions)."""
    weights: Array
    """Inverse covariance times observed Elo, shape (sets,)."""
    inverse_root: Array
    """Inverse of the lower Cholesky factor of the covariance, shape (sets, sets)."""
    deviation: float
    lengths: Array
    """Shape (dimensions,), in ranges."""

    def predict(self, sets: Sequence[Mapping[str, Value]]) -> tuple[Array, Array]:
        """Posterior mean and standard deviation in Elo of each set, both of shape (sets,)."""
        between = _covariance(self.space, _points(self.space, sets), self.points, self.deviation, self.lengths)
        mean = between @ self.weights
        explained = ((between @ self.inverse_root.T) ** 2).sum(axis=1)
        prior = OFFSET_DEVIATION**2 + self.deviation**2
        return mean, np.sqrt(np.maximum(prior - explained, 0.0))


@dataclass(frozen=True)
class Recommendation:
    """What the trials suggest, to be confirmed by fresh games."""

    values: dict[str, Value]
    """The dimensions' values; the base's own if nothing seems better."""
    predicted_elo: float
    """Posterior mean against the base."""
    predicted_deviation: float
    """Posterior standard deviation, in Elo."""
    model: ResponseModel = field(repr=False, compare=False)
    """What all trials say of any set."""
    method: str = METHOD


def noisy_elo(counts: Pentanomial) -> tuple[float, float]:
    """Elo and its variance from the counts of a trial, both finite whatever the counts.

    One even pair is added; the variance is that of the mean score, carried over to Elo by its slope there.
    """
    numbers = np.array(counts.counts, float) + PRIOR_PAIRS
    scores = np.arange(5) / 4
    total = numbers.sum()
    mean = float(numbers @ scores / total)
    variance = float(numbers @ (scores - mean) ** 2 / total) / total
    slope = 400 / math.log(10) / (mean * (1 - mean))
    return -400 * math.log10(1 / mean - 1), slope**2 * variance


def recommend(space: Space, observations: Sequence[Observation]) -> Recommendation:
    """The set with the highest posterior mean among the base and those observed."""
    model = fit(space, observations)
    candidates = [space.default, *(dict(observation.values) for observation in observations)]
    mean, deviation = model.predict(candidates)
    mean[0] = deviation[0] = 0.0
    chosen = int(np.argmax(mean))
    return Recommendation(candidates[chosen], float(mean[chosen]), float(deviation[chosen]), model)


def fit(space: Space, observations: Sequence[Observation]) -> ResponseModel:
    """The model of all observations; equal sets must have been merged (they are the same games)."""
    sets = [space.default, *(observation.values for observation in observations)]
    points = _points(space, sets)
    measured = [noisy_elo(observation.counts) for observation in observations]
    elo = np.array([0.0, *(value for value, _ in measured)])
    noise = np.array([0.0, *(variance for _, variance in measured)]) + PINNED_VARIANCE

    def posterior(deviation: float, lengths: Array) -> float:
        return _log_posterior(_covariance(space, points, points, deviation, lengths) + np.diag(noise), elo) - _surprise(
            deviation, lengths
        )

    deviation, lengths = _most_likely(posterior, len(space.dimensions))
    root = np.linalg.cholesky(_covariance(space, points, points, deviation, lengths) + np.diag(noise))
    inverse_root = np.linalg.inv(root)
    return ResponseModel(space, points, inverse_root.T @ (inverse_root @ elo), inverse_root, deviation, lengths)


def _most_likely(posterior: Callable[[float, Array], float], dimensions: int) -> tuple[float, Array]:
    """The best of the candidates for the deviation and each length, chosen in turn."""
    deviation, lengths = TYPICAL_DEVIATION, np.full(dimensions, TYPICAL_LENGTH)

    def with_length(place: int, length: float) -> Array:
        changed = lengths.copy()
        changed[place] = length
        return changed

    for _ in range(SWEEPS):
        before = (deviation, lengths.copy())
        deviation = max(DEVIATIONS, key=lambda candidate: posterior(candidate, lengths))
        for place in range(dimensions):
            lengths = with_length(
                place, max(LENGTHS, key=lambda length: posterior(deviation, with_length(place, length)))
            )
        if deviation == before[0] and (lengths == before[1]).all():
            break
    return deviation, lengths


def _log_posterior(covariance: Array, elo: Array) -> float:
    root = np.linalg.cholesky(covariance)
    standardised = np.linalg.solve(root, elo)
    return float(-(standardised @ standardised) / 2 - np.log(np.diag(root)).sum())


def _surprise(deviation: float, lengths: Array) -> float:
    """Minus the logarithm of the log-normal beliefs."""
    logs = np.log([deviation / TYPICAL_DEVIATION, *(lengths / TYPICAL_LENGTH)])
    return float((logs**2).sum() / (2 * BELIEF_WIDTH**2))


def _points(space: Space, sets: Sequence[Mapping[str, Value]]) -> Array:
    """Coordinates of sets, shape (sets, dimensions)."""
    return np.array(
        [[dimension.coordinate(values[dimension.name]) for dimension in space.dimensions] for values in sets]
    )


def _covariance(space: Space, one: Array, other: Array, deviation: float, lengths: Array) -> Array:
    """Prior covariance in Elo squared between two lists of points, shape (len(one), len(other))."""
    distance = np.zeros((len(one), len(other)))
    for place, dimension in enumerate(space.dimensions):
        apart = one[:, place, None] - other[None, :, place]
        if dimension.choices:  # any two choices are one range apart
            apart = (apart != 0).astype(float)
        distance += (apart / lengths[place]) ** 2
    return OFFSET_DEVIATION**2 + deviation**2 * np.exp(-distance / 2)
