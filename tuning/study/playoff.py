"""The playoff: the last tenth of a study's games, which decides between the model's maximum and the base.

The response model alone extrapolates badly if ranges are far too wide, and the set it rates highest is partly lucky. So
that set plays the base again, and these games update the model's belief about the difference.
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
"""The playoff's share of the budget's games."""
INTERVAL_90 = NormalDist().inv_cdf(0.95)
"""Half-width of a 90 % interval in standard deviations: 1.645."""
MIN_DEVIATIONS = 0.5
"""Minimum gain of a recommendation, in standard deviations of the gain; below it the base is recommended.

In simulations, values from 0.3 to 1 protect a base that is best equally well; larger values miss more real gains.
"""
MIN_SLOPE = 1e-3
"""Minimum assumed derivative of the expected score by the strength difference, in natural logistic units.

Smaller derivatives are raised to it, because games then carry almost no information.
"""


@dataclass(frozen=True)
class Decision:
    """The recommendation from a study's games."""

    values: Values
    """The model's maximum, or the base."""
    is_base: bool
    gain: float
    """Expected Elo relative to the base; 0 for the base."""
    deviation: float
    """Standard deviation of ``gain``, in Elo."""
    believed: float
    """The model's expectation for its maximum before the playoff, in Elo relative to the base."""
    pairs: int
    """Number of game pairs of the playoff."""
    score: float = 0.5
    """Mean score of the model's maximum in the playoff, 0 to 1."""
    left: tuple[float, float, float] | None = None
    """Gain that may remain if the base is recommended: expected Elo of the best other set, and its 90 % interval.

    ``None`` if another set is recommended.
    """

    def interval(self, deviations: float = INTERVAL_90) -> tuple[float, float]:
        """Lower and upper bound of the gain, in Elo: ``gain`` minus and plus ``deviations`` standard deviations.

        The default is a 90 % interval.
        """
        return self.gain - deviations * self.deviation, self.gain + deviations * self.deviation


def decide(
    model: ResponseModel, best: Values, pairs: int = 0, score: float = 0.5,
    region: tuple[Array, Array] | None = None,
) -> Decision:  # fmt: skip
    """Choose between the model's maximum ``best`` and the base, given the maximum's mean score in the playoff.

    The model's belief about the difference is a normal prior, which the playoff's score updates. The base stays
    recommended unless the gain is clear. If the base is the model's maximum, the remaining gain is estimated within
    ``region`` (coordinates).
    """
    base = model.space.default_values
    believed, deviation = model.difference(best, base)
    gain, variance = believed, deviation**2
    if best == base:
        left = None
        if region is not None:
            gains = remaining_gains(model, region, base)
            left = float(gains.mean()), float(np.quantile(gains, 0.05)), float(np.quantile(gains, 0.95))
        return Decision(base, True, 0.0, 0.0, 0.0, pairs, left=left)
    if pairs:
        expected = gain / NATURAL_TO_ELO
        slope = max(MIN_SLOPE, 1 / (2 + math.exp(expected) + math.exp(-expected)))
        noise = model.dispersion / slope / pairs * NATURAL_TO_ELO**2
        surprise = (score - 1 / (1 + math.exp(-expected))) / slope * NATURAL_TO_ELO
        weight = variance / (variance + noise)
        gain, variance = gain + weight * surprise, variance * (1 - weight)
    if gain <= MIN_DEVIATIONS * math.sqrt(variance):
        reach = INTERVAL_90 * math.sqrt(variance)
        return Decision(base, True, 0.0, 0.0, believed, pairs, score, (gain, gain - reach, gain + reach))
    return Decision(best, False, gain, math.sqrt(variance), believed, pairs, score)
