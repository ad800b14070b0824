"""Brownian motion with drift, stopped at two bounds: a model of the log-likelihood ratio in a sequential test.

The unit of time is chosen so that the variance grows by 1 per unit; ``drift`` is the mean change per unit.
Probabilities come from reflected paths: a motion between two bounds is an alternating sum of free motions that start
from the mirror images of its start (Darling and Siegert, "The first passage problem for a continuous Markov process",
1953). Products of very large and very small numbers are computed as logarithms, so that no drift or duration overflows.
"""

from __future__ import annotations

import math

import numpy as np

DEVIATIONS_THAT_MATTER = 9.0
"""Distance in standard deviations beyond which a mirror image of the start contributes less than 1e-17."""
NODES = 120
"""Number of points at which ``expected_duration`` evaluates its integrand."""
NEGLIGIBLE_EXPONENT = 30.0
"""Negated exponent: a probability below exp(-30) is too small to influence a mean duration."""
MAX_DIRECT = 25.0
"""Number of standard deviations below the mean up to which ``log_normal_cdf`` uses ``math.erfc``.

Farther below, it uses an asymptotic series.
"""


def worse_outcome_probability(lower: float, upper: float, drift: float, duration: float, end: float) -> float:
    """Probability that a motion from 0 has a worse outcome than being at ``end`` after ``duration``.

    The worst outcome is an early stop at ``lower``. Better outcomes are, in this order, a later stop at ``lower``, a
    position between the bounds after ``duration`` (the higher the better), a late stop at ``upper``, and an early stop
    at ``upper``. ``end`` may be a bound. ``drift`` is per unit of time; a larger drift means a smaller probability.
    Raises ``ValueError`` unless ``lower < 0 < upper`` and ``lower <= end <= upper``.
    """
    if not (lower < 0 < upper and lower <= end <= upper and duration >= 0):
        raise ValueError(f"bounds {lower}, {upper}, duration {duration} and end {end} do not fit together")
    if duration == 0:
        return 1.0 if end > 0 else 0.5 if end == 0 else 0.0
    stopped = _reached_lower(lower, upper, drift, duration)
    return min(1.0, max(0.0, stopped + _between(lower, upper, drift, duration, end)))


def upper_bound_probability(lower: float, upper: float, drift: float, duration: float) -> float:
    """Probability that a motion from 0 reaches ``upper`` within ``duration`` without reaching ``lower`` before."""
    if duration <= 0:
        return 0.0
    return min(1.0, max(0.0, _reached_lower(-upper, -lower, -drift, duration)))


def lower_bound_probability(lower: float, upper: float, drift: float, duration: float) -> float:
    """Probability that a motion from 0 reaches ``lower`` within ``duration`` without reaching ``upper`` before."""
    return upper_bound_probability(-upper, -lower, -drift, duration)


def expected_duration(lower: float, upper: float, drift: float, longest: float) -> float:
    """Mean time until a motion from 0 reaches a bound, but at most ``longest`` for each motion.

    The mean is the integral of the probability that no bound has been reached. That probability falls at least
    exponentially, so the integral is cut off where it is negligible.
    """
    rate = ((math.pi / (upper - lower)) ** 2 + drift**2) / 2
    end = min(longest, NEGLIGIBLE_EXPONENT / rate + (upper - lower) / max(abs(drift), 1 / (upper - lower)))
    times, weights = np.polynomial.legendre.leggauss(NODES)
    total = 0.0
    for time, weight in zip(times, weights, strict=True):
        duration = end * ((1 + time) / 2) ** 2  # denser at the start, where the probability falls fastest
        reached = upper_bound_probability(lower, upper, drift, duration)
        reached += lower_bound_probability(lower, upper, drift, duration)
        total += weight * end * (1 + time) / 2 * max(0.0, 1 - reached)
    return total


def _images(lower: float, upper: float, duration: float) -> range:
    """Indices of the mirror images of the start that contribute to a probability, whatever the drift is."""
    furthest = math.ceil(DEVIATIONS_THAT_MATTER * math.sqrt(duration) / (2 * (upper - lower))) + 1
    return range(-furthest, furthest + 1)


def _reached_lower(lower: float, upper: float, drift: float, duration: float) -> float:
    """Probability that ``lower`` is reached within ``duration`` without reaching ``upper`` before."""
    root = math.sqrt(duration)
    total = 0.0
    for number in _images(lower, upper, duration):
        signed = 2 * number * (upper - lower) - lower
        distance = abs(signed)
        # The probability of passing a level at ``distance``, weighted for the drift, has two parts.
        passed = math.exp(drift * (lower - distance) + log_normal_cdf((drift * duration - distance) / root))
        passed += math.exp(drift * (lower + distance) + log_normal_cdf((-drift * duration - distance) / root))
        total += math.copysign(passed, signed)
    return total


def _between(lower: float, upper: float, drift: float, duration: float, end: float) -> float:
    """Probability that neither bound is reached within ``duration`` and that the motion then is below ``end``."""
    root = math.sqrt(duration)
    total = 0.0
    for number in _images(lower, upper, duration):
        shift = 2 * number * (upper - lower)
        for start, sign in ((shift, 1), (shift + 2 * lower, -1)):
            low, high = ((bound - start - drift * duration) / root for bound in (lower, end))
            total += sign * _weighted_interval(drift * start, low, high)
    return total


def _weighted_interval(exponent: float, low: float, high: float) -> float:
    """``exp(exponent)`` times the probability that a standard normal variable lies between ``low`` and ``high``."""
    if low > 0:
        low, high = -high, -low
    return math.exp(exponent + log_normal_cdf(high)) - math.exp(exponent + log_normal_cdf(low))


def log_normal_cdf(deviations: float) -> float:
    """Natural logarithm of the standard normal distribution function, accurate even where that underflows."""
    if deviations > -MAX_DIRECT:
        return math.log(math.erfc(-deviations / math.sqrt(2)) / 2)
    # Asymptotic series of Mills' ratio; its next term is below 1e-11 here.
    square = deviations**-2
    series = 1 - square * (1 - 3 * square * (1 - 5 * square * (1 - 7 * square)))
    return -deviations * deviations / 2 - math.log(-deviations * math.sqrt(2 * math.pi)) + math.log(series)
