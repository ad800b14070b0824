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
    """A normal prior of the Elo; pairs / 0.4 single games without draws have the same variance as the pairs."""
    found = decided(believed, deviation, pairs, score)
    elo = np.linspace(believed - 8 * deviation, believed + 8 * deviation, 200_001)
    wins, losses = pairs / 0.4 * score, pairs / 0.4 * (1 - score)
    expected = 1 / (1 + 10 ** (-elo / 400))
    weights = stats.norm.pdf(elo, believed, deviation) * stats.beta.pdf(expected, wins + 1, losses + 1)
    mean = float((weights * elo).sum() / weights.sum())
    spread = math.sqrt((weights * (elo - mean) ** 2).sum() / weights.sum())
    assert (found.gain, found.deviation) == pytest.approx((mean, spread), rel=1e-6)
    assert (found.values, found.is_base, found.believed, found.score) == (BEST, False, believed, score)
    assert found.interval() == pytest.approx(stats.norm.interval(0.9, mean, spread), rel=1e-6)


def test_games_correct_a_belief_that_is_far_from_them() -> None:
    """Thirteen nearly even pairs against a model that has lost its way leave nothing of 630 Elo."""
    found = decided(-630.0, 300.0, 13, 0.54)
    assert abs(found.left[0] if found.left else found.gain) < 60


def test_a_set_is_recommended_only_for_an_expected_gain_that_does_not_round_to_nothing() -> None:
    expected = {-30.0: BASE, -0.1: BASE, 0.04: BASE, 0.06: BEST}
    assert {believed: decided(believed, 20.0, 0, 0.5).values for believed in expected} == expected
    lost = decided(40.0, 30.0, 100, 0.4)
    assert (lost.values, lost.is_base, lost.gain, lost.deviation, lost.believed) == (BASE, True, 0, 0, 40)
    assert decided(0.0, 0.0, 0, 0.5, BASE).is_base
