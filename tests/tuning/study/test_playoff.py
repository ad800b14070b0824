"""What the playoff makes of the model's belief, against the posterior by numerical integration."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from elolab.tuning.study.playoff import Decision, decide

BASE, BEST = (3, 59), (4, 70)


def decided(believed: float, deviation: float, pairs: int, score: float, best: Any = BEST) -> Decision:
    """By a model that expects ``believed`` Elo of the best set, and pairs that vary by 0.4 of p (1 - p)."""
    model = SimpleNamespace(
        space=SimpleNamespace(default_values=BASE), dispersion=0.4, difference=lambda one, other: (believed, deviation)
    )
    return decide(model, best, pairs, score)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("believed", "deviation", "pairs", "score"), [(40.0, 30.0, 25, 0.6), (120.0, 60.0, 8, 0.5), (5.0, 8.0, 400, 0.55)]
)
def test_the_games_update_the_models_belief(believed: float, deviation: float, pairs: int, score: float) -> None:
    """A normal prior of the Elo; the mean score is normal around the expected one, linearised at the belief."""
    found = decided(believed, deviation, pairs, score)
    elo = np.linspace(believed - 12 * deviation, believed + 12 * deviation, 200_001)
    at_belief = 1 / (1 + 10 ** (-believed / 400))
    steepness = at_belief * (1 - at_belief) * math.log(10) / 400
    noise = math.sqrt(0.4 * at_belief * (1 - at_belief) / pairs)
    weights = stats.norm.pdf(elo, believed, deviation)
    weights *= stats.norm.pdf(score, at_belief + steepness * (elo - believed), noise)
    mean = float((weights * elo).sum() / weights.sum())
    spread = math.sqrt((weights * (elo - mean) ** 2).sum() / weights.sum())
    assert (found.gain, found.deviation) == pytest.approx((mean, spread), rel=1e-6)
    assert (found.values, found.is_base, found.believed, found.score) == (BEST, False, believed, score)
    assert found.interval() == pytest.approx(stats.norm.interval(0.9, mean, spread), rel=1e-6)


def test_a_gain_that_may_as_well_be_luck_does_not_move_the_base() -> None:
    assert [decided(believed, 20.0, 0, 0.5).values for believed in (-30.0, 9.9, 10.1)] == [BASE, BASE, BEST]
    lost = decided(40.0, 30.0, 100, 0.4)
    assert (lost.values, lost.is_base, lost.gain, lost.deviation, lost.believed) == (BASE, True, 0, 0, 40)
    assert decided(0.0, 0.0, 0, 0.5, BASE).is_base
