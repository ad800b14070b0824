"""The observations of a study: one row for each match between two sets of values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from elolab.arena.statistics.elo import Pentanomial
from elolab.tuning.study.space import Space, Values

Array = NDArray[np.float64]

TRUST_QUANTILE = 0.02
"""The trust region begins at this quantile of the coordinates that were played, and ends at 1 minus this quantile."""


class Observations:
    """All results of a study as rows: two sets of values, number of game pairs, the first set's mean score."""

    def __init__(self, space: Space) -> None:
        self.space = space
        self._first: list[tuple[float, ...]] = []
        self._second: list[tuple[float, ...]] = []
        self._pairs: list[int] = []
        self._scores: list[float] = []
        self._log_limits: list[float] = []

    def __len__(self) -> int:
        return len(self._pairs)

    @property
    def pairs(self) -> int:
        """Total number of game pairs in all results."""
        return sum(self._pairs)

    @property
    def log_limits(self) -> Array:
        """Natural logarithm of each result's search limit relative to the target limit, shape (results,)."""
        return np.array(self._log_limits, float)

    def add(self, first: Values, second: Values, counts: Pentanomial, log_limit: float = 0.0) -> None:
        """Add a match result for ``first``. Results without pairs or between equal sets are ignored.

        ``log_limit`` is the natural logarithm of the search limit divided by the target limit.
        """
        if counts.pairs and first != second:
            score = sum(place * count for place, count in enumerate(counts.counts)) / (4 * counts.pairs)
            self.add_score(first, second, counts.pairs, score, log_limit)

    def add_score(self, first: Values, second: Values, pairs: int, score: float, log_limit: float = 0.0) -> None:
        """Add a match result: ``score`` is the mean score of ``first`` over ``pairs`` game pairs, 0 to 1."""
        self._first.append(self.space.coordinates(first))
        self._second.append(self.space.coordinates(second))
        self._pairs.append(pairs)
        self._scores.append(score)
        self._log_limits.append(log_limit)

    def arrays(self) -> tuple[Array, Array, Array, Array]:
        """Four arrays: coordinates of the first sets of values and of the second sets; numbers of game pairs; mean
        scores.

        The first two have the shape (results, dimensions), the last two the shape (results,). The scores, from 0 to 1,
        are from the first set's point of view.
        """
        shape = (len(self), len(self.space.dimensions))
        return (
            np.array(self._first, float).reshape(shape),
            np.array(self._second, float).reshape(shape),
            np.array(self._pairs, float),
            np.array(self._scores, float),
        )

    def trust_region(self) -> tuple[Array, Array]:
        """Lower and upper bounds of the region in which the model is trusted, each of shape (dimensions,).

        The bounds are quantiles of the coordinates that have been played.
        """
        first, second, _, _ = self.arrays()
        default = np.array(self.space.coordinates(self.space.default_values))
        if not len(self):
            return default, default
        sampled = np.concatenate([first, second])
        low = np.quantile(sampled, TRUST_QUANTILE, axis=0)
        return low, np.quantile(sampled, 1 - TRUST_QUANTILE, axis=0)
