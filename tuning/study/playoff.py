"""The playoff: the last tenth of a study's games, which decides between the model's maximum and the base.

The response model alone extrapolates badly if ranges are far too wide, and its best set of values is partly lucky. So
that set plays against the base, and these games update the model's expectation of the difference. In simulations the
playoff reduces the bias of the reported gain (``benchmarks/tuning``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from elolab.arena.statistics.elo import NATURAL_TO_ELO
from elolab.tuning.study.model.maxima import remaining_gains
from elolab.tuning.study.model.response import Array, ResponseModel
from elolab.tuning.study.space import Values

SHARE = 0.1
"""The playoff's share of the games of a budget."""
INTERVAL_90 = NormalDist().inv_cdf(0.95)
"""Half width of a 90 % interval in standard deviations: 1.645."""
MAX_GAIN = 800.0
"""Largest absolute gain, in Elo, that a decision considers; games can hardly distinguish larger gains from each other.
"""
GRID_POINTS = 4001
LEAST_GAIN = 0.05
"""Smallest expected gain, in Elo, that is recommended. Smaller gains round to 0.0 and are not worth a validation."""


@dataclass(frozen=True)
class Decision:
    """The recommendation that follows from a study's games."""

    values: Values
    """The recommended values: the model's maximum, or the base."""
    is_base: bool
    gain: float
    """Expected Elo relative to the base; 0 if the base is recommended."""
    deviation: float
    """Standard deviation of ``gain``, in Elo."""
    believed: float
    """The model's expectation for its maximum before the playoff, in Elo relative to the base."""
    pairs: int
    """Number of game pairs of the playoff."""
    score: float = 0.5
    """Mean score of the model's maximum in the playoff, 0 to 1."""
    left: tuple[float, float, float] | None = None
    """Gain over the base that other values may still offer: expected Elo of ``other``, and bounds of its 90 % interval.

    ``None`` if the base is not recommended.
    """
    other: Values | None = None
    """The set of values that may offer the gain ``left``; ``None`` if ``left`` is the gain of the unknown best set."""

    def interval(self, deviations: float = INTERVAL_90) -> tuple[float, float]:
        """``gain`` minus and plus ``deviations`` standard deviations, in Elo; by default a 90 % interval."""
        return self.gain - deviations * self.deviation, self.gain + deviations * self.deviation


def decide(
    model: ResponseModel, best: Values, pairs: int = 0, score: float = 0.5,
    region: tuple[Array, Array] | None = None,
) -> Decision:  # fmt: skip
    """Choose between the model's maximum ``best`` and the base values, given the maximum's mean score in the playoff.

    The model's estimate of their difference is a normal prior, which the ``pairs`` game pairs of the playoff update.
    The maximum is recommended if its expected gain is at least ``LEAST_GAIN``, otherwise the base values. If the base
    values are the model's maximum, the remaining gain is estimated within ``region``, in model coordinates.
    """
    base = model.space.default_values
    believed, deviation = model.difference(best, base)
    if best == base:
        left = None
        if region is not None:
            gains = remaining_gains(model, region, base)
            left = float(gains.mean()), float(np.quantile(gains, 0.05)), float(np.quantile(gains, 0.95))
        return Decision(base, True, 0.0, 0.0, 0.0, pairs, left=left)
    gain, deviation = updated(believed, deviation, pairs / model.dispersion, score)
    if gain < LEAST_GAIN:
        reach = INTERVAL_90 * deviation
        return Decision(base, True, 0.0, 0.0, believed, pairs, score, (gain, gain - reach, gain + reach), best)
    return Decision(best, False, gain, deviation, believed, pairs, score)


def updated(believed: float, deviation: float, weight: float, score: float) -> tuple[float, float]:
    """Posterior mean and standard deviation of a gain, in Elo, after games with the mean score ``score``.

    The prior is normal, with mean ``believed`` and standard deviation ``deviation``, truncated at ``MAX_GAIN``.
    ``weight`` is the number of game pairs divided by the dispersion of their scores.
    """
    reach = max(8 * deviation, 1e-9)
    low, high = (min(max(believed + way * reach, -MAX_GAIN), MAX_GAIN) for way in (-1, 1))
    if not weight and high - low > 1.9 * reach:
        return believed, deviation
    gains = np.linspace(low, high, GRID_POINTS)
    expected = 1 / (1 + np.exp(-gains / NATURAL_TO_ELO))
    density = -((gains - believed) ** 2) / (2 * max(deviation, 1e-9) ** 2)
    density += weight * (score * np.log(expected) + (1 - score) * np.log(1 - expected))
    shares = np.exp(density - density.max())
    shares /= shares.sum()
    mean = float(shares @ gains)
    return mean, math.sqrt(float(shares @ (gains - mean) ** 2))
