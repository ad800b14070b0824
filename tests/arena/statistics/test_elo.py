"""The statistics against published values, closed forms and scipy; simulations are in another file."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from elolab.arena.statistics.elo import (
    NORMALIZED_UNIT,
    Pentanomial,
    Trinomial,
    elo_of_score,
    estimate_after_test,
    log_likelihood_ratio,
    score_of_elo,
    sequential_test,
)

GOLDEN = Pentanomial((365, 16618, 36229, 16974, 390))
COUNTS = st.tuples(*[st.integers(0, 50)] * 5)


def test_golden_pentanomial() -> None:
    estimate = GOLDEN.estimate()
    assert estimate.elo == pytest.approx(0.99934, abs=5e-6)
    assert estimate.elo_error == pytest.approx(0.92308, abs=5e-6)
    assert estimate.los == pytest.approx(0.983078, abs=5e-7)
    assert estimate.pairs_ratio == pytest.approx((16974 + 390) / (16618 + 365))


def test_golden_log_likelihood_ratios() -> None:
    assert log_likelihood_ratio(GOLDEN, 0, 2, "normalized") == pytest.approx(2.250368, abs=5e-7)
    assert log_likelihood_ratio(GOLDEN, 0, 2, "logistic") == pytest.approx(-0.005920, abs=5e-7)


def test_normalized_ratio_agrees_with_its_closed_form() -> None:
    deviations = GOLDEN.estimate().normalized_elo / NORMALIZED_UNIT * math.sqrt(2)
    lower, upper = 0.0, math.sqrt(2) * 2 / NORMALIZED_UNIT
    closed = GOLDEN.pairs / 2 * math.log((1 + (deviations - lower) ** 2) / (1 + (deviations - upper) ** 2))
    assert log_likelihood_ratio(GOLDEN, 0, 2) == pytest.approx(closed, abs=1e-4)


def test_golden_trinomial() -> None:
    estimate = Trinomial(wins=136, draws=111, losses=96).estimate()
    assert estimate.elo == pytest.approx(40.70, abs=0.005)
    assert estimate.elo_error == pytest.approx(30.43, abs=0.005)
    assert estimate.pairs_ratio is None


@pytest.mark.parametrize("counts", [(1, 2, 3, 3, 1), (0, 1, 5, 3, 0), (2, 11, 30, 14, 3), (0, 0, 6, 0, 0)])
def test_an_unfinished_test_has_the_interval_of_its_match(counts: tuple[int, int, int, int, int]) -> None:
    """Its bounds are too far away to have mattered, so the same pairs must not have two intervals."""
    match, test = Pentanomial(counts).estimate(), estimate_after_test(Pentanomial(counts), 0, 5)
    assert sequential_test(Pentanomial(counts), 0, 5).verdict == "undecided"
    for found, expected in zip((test.elo, test.los), (match.elo, match.los), strict=True):
        assert found == pytest.approx(expected, abs=1e-6)
    if len([count for count in counts if count]) > 1:
        assert (test.elo_low, test.elo_high) == pytest.approx((match.elo_low, match.elo_high), abs=1e-6)


@pytest.mark.parametrize(
    "counts", [(0, 0, 0, 0, 0), (0, 0, 0, 0, 1), (1, 0, 0, 0, 0), (0, 0, 7, 0, 0), (0, 0, 0, 1, 9)]
)
@pytest.mark.parametrize("model", ["normalized", "logistic"])
def test_degenerate_counts_never_give_nan(counts: tuple[int, int, int, int, int], model: str) -> None:
    estimate = Pentanomial(counts).estimate()
    numbers = [value for value in vars(estimate).values() if value is not None]
    assert not any(math.isnan(value) for value in numbers)
    assert estimate.elo_low <= estimate.elo <= estimate.elo_high
    assert 0 <= estimate.los <= 1
    assert math.isfinite(log_likelihood_ratio(Pentanomial(counts), 0, 5, model))


def test_one_outcome_only_still_has_an_interval_that_shrinks() -> None:
    few, many = (Pentanomial((0, 0, 0, 0, pairs)).estimate() for pairs in (3, 300))
    assert few.elo == many.elo == math.inf
    assert few.elo_low < 0 < many.elo_low
    drawn = Pentanomial((0, 0, 300, 0, 0)).estimate()
    assert drawn.elo == 0
    assert 0 < drawn.elo_error < 10
    assert drawn.los == 0.5


@pytest.mark.parametrize("pairs", [1, 2, 7, 150])
def test_pairs_that_all_came_out_alike_have_the_exact_binomial_interval(pairs: int) -> None:
    """By scipy (Clopper and Pearson): all won; all even, another outcome lies half as far away."""
    low = stats.binomtest(pairs, pairs).proportion_ci(0.95, "exact").low
    won, even = (Pentanomial(counts).estimate() for counts in ((0, 0, 0, 0, pairs), (0, 0, pairs, 0, 0)))
    assert (won.score_low, won.score_high) == pytest.approx((low, 1), abs=1e-12)
    assert (even.score_low, even.score_high) == pytest.approx((low / 2, 1 - low / 2), abs=1e-12)


@given(COUNTS)
def test_the_opponents_view_mirrors_the_players(counts: tuple[int, int, int, int, int]) -> None:
    mine, theirs = Pentanomial(counts).estimate(), Pentanomial(counts[::-1]).estimate()
    assert mine.elo == pytest.approx(-theirs.elo, abs=1e-9)
    assert mine.elo_low == pytest.approx(-theirs.elo_high, abs=1e-6)
    assert mine.los == pytest.approx(1 - theirs.los, abs=1e-12)


@pytest.mark.integration
@settings(max_examples=40, deadline=None)
@given(COUNTS)
def test_the_logistic_distribution_is_scipys_constrained_maximum(counts: tuple[int, int, int, int, int]) -> None:
    optimize = pytest.importorskip("scipy.optimize")
    observed = np.maximum(np.array(counts, float), 1.0)
    pentanomial = Pentanomial(tuple(int(count) for count in observed))  # type: ignore[arg-type]
    values = np.linspace(0, 1, 5)

    def best(score: float) -> float:
        answer = optimize.minimize(
            lambda p: -(observed * np.log(p)).sum() / observed.sum(),
            np.full(5, 0.2),
            jac=lambda p: -observed / p / observed.sum(),
            bounds=[(1e-9, 1)] * 5,
            constraints=[
                {"type": "eq", "fun": lambda p: p.sum() - 1},
                {"type": "eq", "fun": lambda p: p @ values - score},
            ],
            method="SLSQP",
            options={"maxiter": 500, "ftol": 1e-14},
        )
        return -answer.fun * observed.sum()

    expected = best(score_of_elo(20)) - best(0.5)
    assert log_likelihood_ratio(pentanomial, 0, 20, "logistic") == pytest.approx(expected, abs=1e-3)


def test_bounds_and_verdicts() -> None:
    undecided = sequential_test(GOLDEN, 0, 2)
    assert (undecided.lower_bound, undecided.upper_bound) == pytest.approx((-2.944439, 2.944439), abs=1e-6)
    assert undecided.verdict == "undecided"
    assert sequential_test(Pentanomial((5, 40, 200, 90, 20)), 0, 5).verdict == "undecided"
    assert sequential_test(Pentanomial((50, 400, 2000, 900, 200)), 0, 5).verdict == "upper accepted"
    assert sequential_test(Pentanomial((200, 900, 2000, 400, 50)), 0, 5).verdict == "lower accepted"
    assert sequential_test(Trinomial(900, 900, 400), 0, 5).verdict == "upper accepted"


def test_each_bound_has_the_error_of_its_own_hypothesis() -> None:
    """A loose ``beta`` brings the lower bound near; Wald's formula by hand."""
    test = sequential_test(GOLDEN, 0, 2, alpha=0.01, beta=0.2)
    assert (test.lower_bound, test.upper_bound) == pytest.approx((-1.599388, 4.382027), abs=1e-6)


def test_from_pairs_counts_by_points() -> None:
    pairs = [(0, 0), (0, 0.5), (1, 0), (0.5, 0.5), (0, 1), (1, 0.5), (1, 1), (1, 1)]
    assert Pentanomial.from_pairs(pairs).counts == (1, 1, 3, 1, 2)


def test_elo_and_score_are_inverse_and_honest_at_the_ends() -> None:
    assert [elo_of_score(score_of_elo(elo)) for elo in (-300.0, 0.0, 12.5)] == pytest.approx([-300, 0, 12.5])
    assert [elo_of_score(score) for score in (0, 1)] == [-math.inf, math.inf]
    assert math.copysign(1, elo_of_score(0.5)) == 1
