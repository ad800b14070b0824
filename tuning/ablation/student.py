"""Student's t distribution: what a mean's distance from the truth is in standard errors estimated from few items.

Everything follows from the regularised incomplete beta function, which is summed as its continued fraction (Abramowitz
and Stegun, "Handbook of Mathematical Functions", 26.5.8 and 26.7.1).
"""

from __future__ import annotations

import math
from functools import lru_cache

PRECISION = 1e-15
"""Relative: a further factor of the continued fraction, or step of Newton's method, that changes less is the last."""
TINY = 1e-300
"""Stands for a denominator of zero in the continued fraction."""
MAX_STEPS = 1000


def student_cdf(value: float, degrees: float) -> float:
    """Probability that Student's t with so many degrees of freedom (above 0) is at most ``value``."""
    if degrees <= 0:
        raise ValueError(f"degrees of freedom are {degrees}, expected a number above 0")
    if math.isinf(value):
        return float(value > 0)
    tail = _incomplete_beta(degrees / 2, 1 / 2, value * value / degrees) / 2
    return tail if value < 0 else 1 - tail


@lru_cache(maxsize=1024)
def student_quantile(probability: float, degrees: float) -> float:
    """The value below which Student's t with so many degrees of freedom lies with a probability between 0 and 1."""
    if not 0 < probability < 1:
        raise ValueError(f"the probability is {probability}, expected one between 0 and 1")
    if degrees <= 0:
        raise ValueError(f"degrees of freedom are {degrees}, expected a number above 0")
    if probability < 0.5:
        return -student_quantile(1 - probability, degrees)
    # Above 0 the distribution function is concave: Newton's method from 0 comes from below and never passes the root.
    value, log_scale = 0.0, _log_density_at_zero(degrees)
    for _ in range(MAX_STEPS):
        density = math.exp(log_scale - (degrees + 1) / 2 * math.log1p(value * value / degrees))
        step = (probability - student_cdf(value, degrees)) / density
        value += step
        if abs(step) <= PRECISION * 4 * value:
            break
    return value


def _log_density_at_zero(degrees: float) -> float:
    return math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2) - math.log(math.pi * degrees) / 2


def _incomplete_beta(a: float, b: float, odds: float) -> float:
    """The regularised incomplete beta function at 1 / (1 + ``odds``); ``odds`` of 0 or more keep what is close to 1."""
    if odds == 0:
        return 1.0
    log_factor = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) - (a + b) * math.log1p(odds) + b * math.log(odds)
    share = 1 / (1 + odds)
    if share < (a + 1) / (a + b + 2):  # where the fraction converges fast
        return math.exp(log_factor) * _beta_fraction(a, b, share) / a
    return 1 - math.exp(log_factor) * _beta_fraction(b, a, odds * share) / b


def _beta_fraction(a: float, b: float, share: float) -> float:
    """The continued fraction of the incomplete beta function, from the front by Lentz's method."""
    numerator, denominator = 1.0, 1 / _not_zero(1 - (a + b) * share / (a + 1))
    fraction = denominator
    for step in range(1, MAX_STEPS):
        even = step * (b - step) * share / ((a + 2 * step - 1) * (a + 2 * step))
        odd = -(a + step) * (a + b + step) * share / ((a + 2 * step) * (a + 2 * step + 1))
        for term in (even, odd):
            denominator = 1 / _not_zero(1 + term * denominator)
            numerator = _not_zero(1 + term / numerator)
            factor = numerator * denominator
            fraction *= factor
        if abs(factor - 1) < PRECISION:
            break
    return fraction


def _not_zero(value: float) -> float:
    return value if abs(value) > TINY else TINY
