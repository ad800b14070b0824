"""Bounds and power of group-sequential tests with an error-spending function (Lan and DeMets 1983).

The statistic is a Brownian motion. At each analysis its value divided by the square root of the information is a
standard normal deviate under the null hypothesis. Gauss-Legendre quadrature integrates the density of the paths that
crossed no bound, from analysis to analysis.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from statistics import NormalDist

import numpy as np

MAX_VALUE = 8.0
"""Maximum of any bound, in standard errors; the tail probability beyond this bound is below 1e-15."""
NODES_PER_DEVIATION = 1.5
"""Quadrature nodes per standard deviation of the motion between two analyses, for integrals accurate to 1e-8."""
NODES_STEP, MAX_NODES = 32, 1024
"""The number of quadrature nodes is a multiple of ``NODES_STEP``, and at most ``MAX_NODES``."""
PRECISION = 1e-10
"""Accuracy of a bound, in standard errors."""
MAX_STEPS = 100

_NORMAL = NormalDist()

Array = np.ndarray


class CrossingPaths:
    """Paths of a Brownian motion, computed from analysis to analysis. A path ends when it crosses the upper bound."""

    def __init__(self, drift: float = 0.0) -> None:
        """Start at information 0; ``drift`` is the mean of the motion per unit of information."""
        self._drift = drift
        self._information = 0.0
        self._sums: Array = np.zeros(1)
        self._weights: Array = np.ones(1)
        """Probability of each value of the motion in ``_sums``, over all paths that have not ended."""
        self.crossed = 0.0
        """Probability that a path has crossed a bound so far."""

    def passing(self, information: float, bound: float) -> float:
        """Probability that the motion crosses a bound for the first time at the next analysis.

        ``information`` is the information at this analysis; ``bound`` is in standard errors.
        """
        more = information - self._information
        values = (bound * math.sqrt(information) - self._sums - self._drift * more) / math.sqrt(more)
        return float((self._weights * _upper_tails(values)).sum())

    def bound_that_passes(self, information: float, probability: float, near: float) -> float:
        """The bound, from 0 to ``MAX_VALUE``, that the motion crosses with ``probability`` at the next analysis.

        ``information`` is the information at this analysis; ``near`` is a first guess of the bound. Newton's method
        finds the bound; a step that would leave the range is replaced by bisection.
        """
        low, high, bound = 0.0, MAX_VALUE, near
        root, more = math.sqrt(information), information - self._information
        for _ in range(MAX_STEPS):
            excess = self.passing(information, bound) - probability
            low, high = (bound, high) if excess > 0 else (low, bound)
            values = (bound * root - self._sums - self._drift * more) / math.sqrt(more)
            slope = float((self._weights * np.exp(-(values**2) / 2)).sum()) * root / math.sqrt(2 * math.pi * more)
            step = excess / slope if slope > 0 else math.inf
            if abs(step) < PRECISION or high - low < PRECISION:
                break
            bound = bound + step if low < bound + step < high else (low + high) / 2
        return bound

    def advance(self, information: float, bound: float) -> None:
        """Move to the analysis at ``information``; add the probability of crossing ``bound`` there to ``crossed``."""
        self.crossed += self.passing(information, bound)
        more = information - self._information
        root = math.sqrt(information)
        lowest = min(0.0, self._drift * information) - MAX_VALUE * root
        length = bound * root - lowest
        places, weights = _nodes(NODES_PER_DEVIATION * length / math.sqrt(more))
        following = lowest + length * places
        steps = (following[:, None] - self._sums[None, :] - self._drift * more) / math.sqrt(more)
        density = (np.exp(-(steps**2) / 2) / math.sqrt(2 * math.pi * more)) @ self._weights
        self._weights, self._sums, self._information = density * weights * length, following, information


def crossing_bounds(information: Sequence[float], spent: Sequence[float]) -> tuple[float, ...]:
    """The bounds of all analyses, in standard errors, for a test with the error spending ``spent``.

    ``spent[i]`` is the probability, under the null hypothesis, of a crossing up to analysis i. ``information`` and
    ``spent`` have one entry per analysis and do not decrease.
    """
    paths = CrossingPaths()
    bounds: list[float] = []
    for now, wanted in zip(information, spent, strict=True):
        increment = max(wanted - paths.crossed, 0.0)
        if not bounds:
            bounds.append(min(quantile(increment), MAX_VALUE))
        else:
            bounds.append(paths.bound_that_passes(now, increment, bounds[-1]))
        paths.advance(now, bounds[-1])
    return tuple(bounds)


def crossing_probability(information: Sequence[float], bounds: Sequence[float], drift: float) -> float:
    """Probability that a Brownian motion crosses a bound at any analysis; ``drift`` is the motion's mean per
    unit of information.
    """
    paths = CrossingPaths(drift)
    for now, bound in zip(information, bounds, strict=True):
        paths.advance(now, bound)
    return paths.crossed


def _nodes(number: float) -> tuple[Array, Array]:
    """Quadrature nodes from 0 to 1 and their weights: at least ``number`` nodes, but at most ``MAX_NODES``."""
    return _legendre(min(math.ceil(number / NODES_STEP) * NODES_STEP, MAX_NODES))


@lru_cache(maxsize=MAX_NODES // NODES_STEP)
def _legendre(number: int) -> tuple[Array, Array]:
    places, weights = np.polynomial.legendre.leggauss(number)
    return (places + 1) / 2, weights / 2


def quantile(tail: float) -> float:
    """The standard normal deviate with upper tail probability ``tail``."""
    return -_NORMAL.inv_cdf(max(tail, 1e-300))


def upper_tail(value: float) -> float:
    """Probability that a standard normal deviate exceeds ``value``."""
    return math.erfc(value / math.sqrt(2)) / 2


_upper_tails = np.vectorize(upper_tail, otypes=[float])
