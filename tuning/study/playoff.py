"""The playoff: the last tenth of a study's games decides between the model's maximum and the base.

The response model alone can extrapolate badly where ranges are far too wide, and of many sets the one it likes best is
partly the luckiest. So that set meets the base once more, and the decision weighs what the model believes of their
difference by these games. How far the model may be wrong for its shape is in its draws, which are of hills with and
without departures (``tuning.study.model``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from elolab.arena.figures.statistics import NATURAL_TO_ELO
from elolab.tuning.study.model.maxima import remaining_gains
from elolab.tuning.study.model.response import Array, ResponseModel
from elolab.tuning.study.space import Values

SHARE = 0.1
"""Of the budget."""
INTERVAL_90 = NormalDist().inv_cdf(0.95)
"""Standard deviations on each side of a 90 % interval: 1.645."""
MIN_DEVIATIONS = 0.5
"""A gain smaller than so many of its standard deviations is none: the base is recommended. In simulations 0.3 to 1 keep
a base that is the best already about as often; the more, the more often a real but uncertain gain is lost."""
MIN_SLOPE = 1e-3
"""Of the score by the difference in natural units: beyond, games say nothing of it."""


@dataclass(frozen=True)
class Decision:
    """What the games of a study recommend."""

    values: Values
    """The model's maximum, or the base."""
    is_base: bool
    gain: float
    """Expected Elo against the base; 0 of the base itself."""
    deviation: float
    """Its standard deviation."""
    believed: float
    """What the model alone expected of its maximum, in Elo against the base."""
    pairs: int
    """Played in the playoff."""
    score: float = 0.5
    """Mean score of the model's maximum in them."""
    left: tuple[float, float, float] | None = None
    """What may still be gained where the base is recommended: Elo expected of the best other set, 90 % interval.

    ``None`` where another set is recommended.
    """

    def interval(self, deviations: float = INTERVAL_90) -> tuple[float, float]:
        """Bounds of the gain, 90 % unless so many standard deviations are asked for."""
        return self.gain - deviations * self.deviation, self.gain + deviations * self.deviation


def decide(
    model: ResponseModel, best: Values, pairs: int = 0, score: float = 0.5,
    region: tuple[Array, Array] | None = None,
) -> Decision:  # fmt: skip
    """Choose between the model's maximum and the base, after so many pairs with that mean score of the maximum.

    A gain that may as well be luck does not move the base, which has proved itself otherwise.

    The model's belief about the difference is a normal prior; the playoff's score updates it. Where the base is the
    model's own maximum, what may be left to gain is sought in the ``region`` of coordinates.
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
