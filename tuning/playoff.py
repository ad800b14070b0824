"""The playoff: the last tenth of a study's games decides between the few sets that may be recommended.

The response model alone can extrapolate badly where ranges are far too wide, the walk's average is safe but late, and
the base needs no change at all. So the three meet, and the decision weighs what the model believes of their
differences, with an allowance for what its shape cannot express, by what they scored against each other.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from arena.statistics import NATURAL_TO_ELO
from tuning.response import Array, ResponseModel, Values

SHARE = 0.1
"""Of the budget."""
INTERVAL_90 = NormalDist().inv_cdf(0.95)
"""Standard deviations on each side of a 90 % interval: 1.645."""
MISFIT_SHARE = 0.15
"""Standard deviation of what the model's shape misses, as a share of the difference that it predicts."""
MISFIT_ELO = 3.0
"""The same in Elo, however small the difference."""


@dataclass(frozen=True)
class Decision:
    """What the games of a study recommend."""

    values: Values
    gain: float
    """Expected Elo against the base."""
    deviation: float
    """Its standard deviation."""
    kind: str
    """Which of the finalists it is."""
    finalists: tuple[tuple[str, Values], ...]
    gains: tuple[float, ...]
    """Expected Elo of each finalist against the base."""

    def interval(self) -> tuple[float, float]:
        """Bounds of the gain, 90 %."""
        return self.gain - INTERVAL_90 * self.deviation, self.gain + INTERVAL_90 * self.deviation


def pairings(finalists: int) -> list[tuple[int, int]]:
    """Who meets whom, in turn."""
    return list(itertools.combinations(range(finalists), 2))


def decide(
    model: ResponseModel,
    finalists: Sequence[tuple[str, Values]],
    results: Mapping[tuple[int, int], tuple[int, float]],
) -> Decision:
    """Choose among finalists, of which the base is the last.

    ``results`` has for places in ``finalists`` (one, other) the pairs played and the first's mean score. The model's
    belief about the differences from the base is a normal prior; the playoff's scores update it.
    """
    sets = [values for _, values in finalists]
    mean, covariance = _belief(model, sets)
    for (one, other), (pairs, score) in results.items():
        if not pairs:
            continue
        contrast = np.zeros(len(sets))
        contrast[one], contrast[other] = 1.0, -1.0
        expected = float(contrast @ mean) / NATURAL_TO_ELO
        slope = max(1e-3, 1 / (2 + np.exp(expected) + np.exp(-expected)))
        noise = model.dispersion * slope / pairs / slope**2 * NATURAL_TO_ELO**2
        surprise = (score - 1 / (1 + np.exp(-expected))) / slope * NATURAL_TO_ELO
        gain = covariance @ contrast / (contrast @ covariance @ contrast + noise)
        mean = mean + gain * surprise
        covariance = covariance - np.outer(gain, contrast @ covariance)
    chosen = int(np.argmax(mean - mean[-1]))
    if mean[chosen] <= mean[-1]:
        chosen = len(sets) - 1
    kind, values = finalists[chosen]
    deviation = 0.0 if chosen == len(sets) - 1 else float(np.sqrt(max(covariance[chosen, chosen], 0.0)))
    return Decision(
        values, float(mean[chosen]), deviation, kind, tuple(finalists), tuple(float(value) for value in mean)
    )


def _belief(model: ResponseModel, sets: Sequence[Values]) -> tuple[Array, Array]:
    """The model's mean and covariance of each set minus the last one, with an allowance for its shape."""
    points = np.array([model.space.coordinates(values) for values in sets], float)
    features = model.features(points)
    change = features - features[-1]
    mean = change @ model.coefficients
    covariance = change @ model.covariance @ change.T
    misfit = MISFIT_ELO**2 + (MISFIT_SHARE * mean) ** 2
    misfit[-1] = 0.0
    return mean, covariance + np.diag(misfit)
