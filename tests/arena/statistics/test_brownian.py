"""Brownian motion between two bounds against the expansion in eigenfunctions, and what is made of it after a test."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elolab.arena.statistics.brownian import log_normal_cdf, worse_outcome_probability
from elolab.arena.statistics.elo import (
    Pentanomial,
    Trinomial,
    elo_of_score,
    estimate_after_test,
    log_likelihood_ratios,
    sequential_test,
)

GOLDEN = Pentanomial((365, 16618, 36229, 16974, 390))


def by_eigenfunctions(lower: float, upper: float, drift: float, duration: float, end: float) -> float:
    """The same probability from the sine series, which shares no term with the sum over images."""
    width = upper - lower
    orders = np.arange(1, 400)
    rates = drift**2 / 2 + (orders * math.pi / width) ** 2 / 2
    weights = np.sin(orders * math.pi * -lower / width) * np.exp(-rates * duration)
    if drift:
        ever = math.expm1(-2 * drift * upper) / (math.exp(-2 * drift * upper) - math.exp(-2 * drift * lower))
    else:
        ever = upper / width
    later = math.exp(drift * lower) * (orders * math.pi / width**2 * weights / rates).sum()
    nodes, shares = np.polynomial.legendre.leggauss(200)
    places = lower + (end - lower) * (nodes + 1) / 2
    waves = np.sin(np.outer(places - lower, orders * math.pi / width)) @ weights
    return ever - later + (end - lower) / width * float((shares * np.exp(drift * places) * waves).sum())


@pytest.mark.integration
@given(st.floats(-6, -0.5), st.floats(0.5, 6), st.integers(-20, 20), st.floats(0.5, 200), st.floats(0, 1))
def test_images_agree_with_eigenfunctions(
    lower: float, upper: float, tenths: int, duration: float, share: float
) -> None:
    drift, end = tenths / 10, lower + share * (upper - lower)
    expected = by_eigenfunctions(lower, upper, drift, duration, end)
    assert worse_outcome_probability(lower, upper, drift, duration, end) == pytest.approx(expected, abs=1e-9)


@pytest.mark.integration
@given(st.floats(-5000, 5000), st.floats(1e-6, 1e4), st.floats(-2.9, 2.9))
def test_no_drift_and_no_duration_overflows(drift: float, duration: float, end: float) -> None:
    probability = worse_outcome_probability(-2.9, 2.9, drift, duration, end)
    assert 0 <= probability <= 1
    assert worse_outcome_probability(-2.9, 2.9, drift + 0.1, duration, end) <= probability + 1e-9


def test_before_anything_happened_and_impossible_questions() -> None:
    assert [worse_outcome_probability(-1, 1, 3.0, 0.0, end) for end in (-0.5, 0.0, 0.5)] == [0.0, 0.5, 1.0]
    for lower, upper, duration, end in ((1, 2, 1, 1.5), (-1, 1, 1, 2), (-1, 1, -1, 0)):
        with pytest.raises(ValueError, match="do not fit"):
            worse_outcome_probability(lower, upper, 0.0, duration, end)


def test_the_logarithm_of_the_normal_distribution_is_scipys() -> None:
    special = pytest.importorskip("scipy.special")
    for deviations in (-1000.0, -40.0, -25.1, -24.9, -5.0, 0.0, 3.0, 10.0):
        assert log_normal_cdf(deviations) == pytest.approx(special.log_ndtr(deviations), rel=1e-10, abs=1e-15)


def test_golden_estimate_after_a_test() -> None:
    estimate = estimate_after_test(GOLDEN, 0, 2)
    assert estimate.elo == pytest.approx(0.932149, abs=5e-7)
    assert (estimate.elo_low, estimate.elo_high) == pytest.approx((-0.051444, 1.878152), abs=5e-7)


def test_stopping_at_the_upper_bound_flatters_and_the_estimate_corrects_it() -> None:
    counts, opponents = Pentanomial((10, 70, 150, 100, 30)), Pentanomial((30, 100, 150, 70, 10))
    assert sequential_test(counts, 0, 30).verdict == "upper accepted"
    naive, corrected = counts.estimate(), estimate_after_test(counts, 0, 30)
    assert corrected.elo < naive.elo
    assert corrected.elo_low < corrected.elo < corrected.elo_high
    assert 0.9 < corrected.los < naive.los
    mirrored = estimate_after_test(opponents, -30, 0)
    assert mirrored.elo == pytest.approx(-corrected.elo)
    assert mirrored.los == pytest.approx(1 - corrected.los)


@pytest.mark.integration
@pytest.mark.parametrize("batch", [1, 8])
@pytest.mark.parametrize(
    ("counts", "verdict"), [((10, 70, 150, 110, 30), 1), ((0, 1, 20, 9, 19), 1), ((31, 110, 150, 70, 10), -1)]
)
def test_a_test_is_stopped_where_it_ended(counts: tuple[int, int, int, int, int], verdict: int, batch: int) -> None:
    """The estimate of a test that has ended, from its definition: by the sine series and scipy's roots and moments."""
    optimize, stats = pytest.importorskip("scipy.optimize"), pytest.importorskip("scipy.stats")
    scores, bound = np.repeat(np.linspace(0, 1, 5), counts), math.log(19)
    hypotheses = (0, 30) if verdict > 0 else (-30, 0)
    assert sequential_test(Pentanomial(counts), *hypotheses).verdict != "undecided"
    seen = Pentanomial(counts).estimate()
    distance = (scores.mean() - 0.5) / scores.std() / 2
    noise = 1 - 2 * distance * stats.skew(scores) + distance**2 * (stats.kurtosis(scores, fisher=False) - 1)
    noise = min(max(noise, 0.2), 1.0)

    def worse(score: float, deviation: float, noise: float = 1.0) -> float:
        gap = 30 * math.log(10) / 800 * math.sqrt(2) * deviation
        middle = 0.5 + gap / 2 * verdict
        duration = len(scores) * gap**2 / deviation**2
        end = (scores.mean() - middle) / gap * duration
        end = max(end, bound) if verdict > 0 else min(end, -bound)
        duration *= noise * (1 - batch / 2 / len(scores) * (bound / abs(end)) ** 4)
        lower, upper = (-bound, end) if verdict > 0 else (end, bound)
        return by_eigenfunctions(lower, upper, (score - middle) / gap / noise, duration, end)

    found = estimate_after_test(Pentanomial(counts), *hypotheses, batch=batch)
    scale = math.sqrt(len(scores)) / stats.norm.ppf(0.975)
    below, above = (abs(end - seen.score) * scale for end in (seen.score_low, seen.score_high))
    for elo, share, deviation, part in (
        (found.elo, 0.5, scores.std(), noise), (found.elo_low, 0.975, below, 1.0), (found.elo_high, 0.025, above, 1.0)
    ):  # fmt: skip
        expected = optimize.brentq(
            lambda score, share=share, deviation=deviation, part=part: worse(score, deviation, part) - share,
            0.05, 0.999, xtol=1e-12,
        )  # fmt: skip
        assert elo == pytest.approx(-400 * math.log10(1 / expected - 1), abs=1e-3)
    assert found.los == pytest.approx(worse(0.5, below if verdict > 0 else above), abs=1e-9)


def test_far_from_its_bounds_a_test_changes_little() -> None:
    """With hypotheses so close together that no bound could have been reached, the estimate is the ordinary one."""
    counts = Pentanomial((50, 200, 400, 260, 60))
    naive, corrected = counts.estimate(), estimate_after_test(counts, 0, 0.2, "logistic")
    assert corrected.elo == pytest.approx(naive.elo, abs=0.01)
    assert corrected.elo_error == pytest.approx(naive.elo_error, rel=0.01)


@pytest.mark.parametrize(
    "counts", [(0, 0, 0, 0, 0), (0, 0, 0, 0, 1), (1, 0, 0, 0, 0), (0, 0, 7, 0, 0), (0, 0, 0, 1, 9), (0, 0, 0, 0, 900)]
)
@pytest.mark.parametrize("model", ["normalized", "logistic"])
def test_degenerate_counts_have_an_honest_estimate(counts: tuple[int, int, int, int, int], model: str) -> None:
    estimate = estimate_after_test(Pentanomial(counts), 0, 5, model)
    assert not any(math.isnan(value) for value in vars(estimate).values())
    assert estimate.elo_low <= estimate.elo <= estimate.elo_high
    assert 0 <= estimate.los <= 1
    if sum(counts) < 2:
        assert estimate.elo_low < -300 or estimate.elo_high > 300


def test_unpaired_games_too() -> None:
    estimate = estimate_after_test(Trinomial(wins=136, draws=111, losses=96), 0, 30)
    assert estimate.elo_low < estimate.elo < Trinomial(136, 111, 96).estimate().elo


@pytest.mark.integration
@pytest.mark.parametrize(("draws", "strength"), [(0.92, 50.0), (0.0, 0.0)])
def test_the_estimate_is_as_often_too_high_as_too_low(draws: float, strength: float) -> None:
    """Tests of 0 against 50 normalized Elo, looked at every 8 pairs; 92 % draws once gave 40 % instead of 50 %."""
    tests, batch = 600, 8
    generator, counts = np.random.default_rng(3), np.zeros((tests, 5), int)
    mean = 0.5 + strength * math.log(10) / 800 * math.sqrt(1 - draws) / 2  # of a game, whose deviation hardly changes
    game = np.array([1 - draws, 2 * draws, 1 - draws]) / 2 + np.array([-1, 0, 1]) * (mean - 0.5)
    going = np.arange(tests)
    while len(going):
        counts[going] += generator.multinomial(batch, np.convolve(game, game), len(going))
        ratios = log_likelihood_ratios(counts[going], 2, 0, 50)
        going = going[np.abs(ratios) < math.log(19)]
    rows, times = np.unique(counts, axis=0, return_counts=True)
    truth = elo_of_score(mean)
    found = [estimate_after_test(Pentanomial(tuple(row)), 0, 50, batch=batch).elo for row in rows.tolist()]
    assert 0.46 <= float(times @ (np.array(found) > truth)) / tests <= 0.54
