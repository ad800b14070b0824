"""Confidence intervals for a mean score that also hold for few or one-sided results.

``counts`` has the number of results by outcome; the outcomes have equally spaced scores from 0 to 1. The text below is
about lower bounds. An upper bound is the lower bound of the mirrored counts.

- The *usual* bound is z standard errors below the mean of n results: mean - z sqrt(S) / n. S is the sum of squared
  deviations from the mean, but at least (z d)^2, where d is the distance from the mean to the farther end of the scale.
- The *exact* bound with the error probability a is the a-quantile of sum(w_i x_i). The x_i are the scores of all
  results and one more score of 0; the weights w_i are uniform over all weights with the sum 1. Sources: N. Gaffke,
  "Three test statistics for a nonparametric one-sided hypothesis on the mean of a nonnegative variable", 2005.
  E. Learned-Miller and P. Thomas, "A new confidence interval for the mean of a bounded random variable", 2019. With two
  outcomes it is the bound of Clopper and Pearson.

The computed bound is the usual bound, clipped to a range between two exact bounds. The lower end of the range is the
exact bound with the nominal error probability; the upper end is the exact bound with ``tolerance`` times that
probability. A better result raises the usual bound and both ends of the range, so it raises the computed bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from statistics import NormalDist

import numpy as np

FEW, MANY = 50, 100
"""Numbers of results between which ``tolerance`` rises linearly; below and above it is constant.

``tolerance`` is the factor by which the error probability of a bound may exceed its nominal value.
"""
TOLERANCE_OF_FEW, TOLERANCE_OF_MANY = 1.4, 2.2
"""Values of ``tolerance`` for at most ``FEW`` and for at least ``MANY`` results.

With the first value, 95 % intervals cover the true score in at least 93 % of matches, whatever the distribution of
outcomes. With the second, they cover it in 94 to 96 % of ordinary matches of 100 pairs
(``benchmarks/statistics_simulation.py``).
"""
INTERVAL_DEVIATIONS = NormalDist().inv_cdf(0.975)
"""Half the width of a 95 % interval in standard errors: 1.96."""
LEAST_TAIL = 1e-300
"""Lower limit for the error probability of a bound, so that its quantile is finite."""
CONTOUR_STEP = 1 / 16
"""Step of the trapezoid rule in ``_exact_error``; with it, the error of the integral is less than 1e-13."""
CONTOUR_PLACES = np.arange(CONTOUR_STEP / 2, 16, CONTOUR_STEP)
CONTOUR, CONTOUR_WEIGHTS = np.sinh(CONTOUR_PLACES), np.cosh(CONTOUR_PLACES) * CONTOUR_STEP / math.pi
ROOT_PRECISION = 1e-12
"""Relative error of the function value at which ``rising_root`` stops."""
MAX_ROOT_STEPS = 100
SADDLE_STEPS = 16
"""Number of bisection steps in the search for the saddle point, which does not have to be exact."""

_NORMAL = NormalDist()


@lru_cache(maxsize=1 << 16)
def score_bounds(counts: tuple[int, ...], deviations: float = INTERVAL_DEVIATIONS) -> tuple[float, float]:
    """Lower and upper bound of the mean score, each from 0 to 1.

    ``counts`` has the number of results for each outcome, worst first. ``deviations`` is half the width of the interval
    in standard errors, such as 1.96 for 95 %.
    """
    return _lower_bound(counts, deviations), 1 - _lower_bound(counts[::-1], deviations)


@lru_cache(maxsize=1 << 16)
def deviations_from(counts: tuple[int, ...], score: float) -> float:
    """Number of standard errors by which the mean score is above ``score``; negative if below, 0 without results.

    ``counts`` has the number of results for each outcome, worst first. This is the inverse of ``score_bounds``: with
    the absolute value of the result as ``deviations``, one of the bounds is ``score``.
    """
    items, mean, _ = _moments(counts)
    if not items or mean == score:
        return 0.0
    return _deviations_above(counts, score) if mean > score else -_deviations_above(counts[::-1], 1 - score)


def tolerance(items: int) -> float:
    """Factor by which the error probability of a bound may exceed its nominal value, for ``items`` results.

    With more results, the factor rises linearly from ``TOLERANCE_OF_FEW`` to ``TOLERANCE_OF_MANY``.
    """
    share = min(max((items - FEW) / (MANY - FEW), 0.0), 1.0)
    return TOLERANCE_OF_FEW + share * (TOLERANCE_OF_MANY - TOLERANCE_OF_FEW)


def _moments(counts: Sequence[int]) -> tuple[int, float, float]:
    """Number of results, mean score, and sum of squared deviations from the mean."""
    items, last = sum(counts), len(counts) - 1
    mean = sum(count * place for place, count in enumerate(counts)) / (items * last) if items else 0.5
    return items, mean, sum(count * (place / last - mean) ** 2 for place, count in enumerate(counts))


def _lower_bound(counts: tuple[int, ...], deviations: float) -> float:
    items, mean, squares = _moments(counts)
    if not items or not mean:
        return 0.0
    tail = max(_NORMAL.cdf(-deviations), LEAST_TAIL)
    usual = mean - deviations * max(math.sqrt(squares), deviations * max(mean, 1 - mean)) / items
    error, tolerated = _exact_error(counts, usual), min(tolerance(items) * tail, 0.5)
    if tail <= error <= tolerated:
        return usual
    wanted, low, high = (tail, max(usual, 0.0), mean) if error < tail else (tolerated, 0.0, usual)
    return rising_root(lambda score: _exact_error(counts, score), wanted, low, high)


def _deviations_above(counts: Sequence[int], score: float) -> float:
    """The number ``deviations`` for which ``_lower_bound`` returns ``score``, which must be below the mean."""
    items, mean, squares = _moments(counts)
    distance = items * (mean - score)
    usual = math.sqrt(distance / max(mean, 1 - mean))
    if squares:
        usual = min(usual, distance / math.sqrt(squares))
    exact = _exact_error(counts, score)
    error = min(max(exact / tolerance(items), min(_NORMAL.cdf(-usual), exact)), 0.5)
    return -_NORMAL.inv_cdf(max(error, LEAST_TAIL))


def _exact_error(counts: Sequence[int], score: float) -> float:
    """The error probability of ``score`` as an exact lower bound: P(sum of w_i (x_i - score) <= 0).

    The weights w_i are independent exponential variables divided by their sum; the division does not change the sign.
    The probability therefore follows from the moment generating function of a sum of exponential variables, as an
    integral along a line through the saddle point, parallel to the imaginary axis (Daniels, "Tail probability
    approximations", 1987).
    """
    last = len(counts) - 1
    shapes = [(counts[0] + 1, -score)]
    shapes += [(count, place / last - score) for place, count in enumerate(counts) if count and place]
    if score <= 0:
        return 0.0
    highest = shapes[-1][1]
    if highest <= 0:
        return 1.0
    is_tail = sum(shape * value for shape, value in shapes) > 0
    low, high = (-1 / score, 0.0) if is_tail else (0.0, 1 / highest)
    for _ in range(SADDLE_STEPS):  # any line near the saddle point gives this integral
        point = (low + high) / 2
        slope = sum(shape * value / (1 - value * point) for shape, value in shapes) - 1 / point
        low, high = (low, point) if slope > 0 else (point, high)
    curvature = sum(shape * (value / (1 - value * point)) ** 2 for shape, value in shapes) + point**-2
    width = 1 / math.sqrt(curvature)
    line = point + 1j * width * CONTOUR
    exponents = sum(shape * np.log(1 - value * line) for shape, value in shapes)
    tail = float((np.exp(-exponents) / line).real @ CONTOUR_WEIGHTS) * width
    return -tail if is_tail else 1 - tail


def rising_root(function: Callable[[float], float], value: float, low: float, high: float) -> float:
    """Solve ``function(x) = value`` for an increasing function and ``low < x < high``, by the Illinois method."""
    below, above = function(low) - value, function(high) - value
    root, last = low, 0
    for _ in range(MAX_ROOT_STEPS):
        root = high - above * (high - low) / (above - below)
        found = function(root) - value
        if abs(found) < ROOT_PRECISION * abs(value) or not low < root < high:
            break
        if found > 0:
            high, above, below, last = root, found, below / (2 if last > 0 else 1), 1
        else:
            low, below, above, last = root, found, above / (2 if last < 0 else 1), -1
    return root
