"""The rules of verdicts: of a cell by its interval, of a part by its cells, of the family by p-values."""

from __future__ import annotations

import math

import numpy as np
import pytest

from elolab.tuning.ablation.comparison_verdicts import analyses_of
from elolab.tuning.claims.look_results import PlannedLooks
from elolab.tuning.claims.part_verdicts import (
    CONFIRMED,
    NEGLIGIBLE,
    OPEN,
    REFUTED,
    SHOWN,
    PartRule,
    are_apart,
    stays_in_family,
    verdict_of_cells,
)


@pytest.mark.parametrize(
    ("expect", "refuted_by", "low", "high", "verdict"),
    [
        # A direction, its margin 5: what is expected is positive.
        ("better", "margin", 1, 9, CONFIRMED),
        ("better", "margin", 7, 9, CONFIRMED),
        ("better", "margin", 1, 4, NEGLIGIBLE),
        ("better", "margin", -4, 4, NEGLIGIBLE),
        ("better", "margin", -4, 6, OPEN),
        ("better", "margin", -9, -1, OPEN),
        ("better", "margin", -9, -6, REFUTED),
        ("better", "opposite", -9, -1, REFUTED),
        ("better", "opposite", -4, -1, NEGLIGIBLE),
        ("better", "negligible", -4, 4, REFUTED),
        ("better", "negligible", 1, 4, REFUTED),
        ("better", "negligible", -9, -1, OPEN),
        ("less", "margin", 1, 9, CONFIRMED),
        # No effect.
        ("equivalent", "margin", -4, 4, CONFIRMED),
        ("equivalent", "margin", 6, 9, REFUTED),
        ("equivalent", "margin", -9, -6, REFUTED),
        ("equivalent", "margin", 1, 9, OPEN),
        # Non-inferiority: a significant deficit within the margin refutes nothing.
        ("not_worse", "margin", -4, -1, CONFIRMED),
        ("not_worse", "margin", -9, -1, OPEN),
        ("not_worse", "margin", -9, -6, REFUTED),
        ("not_worse", "margin", 1, 9, CONFIRMED),
        (None, "margin", 7, 9, SHOWN),
    ],
)
def test_a_cell_is_judged_by_its_interval(
    expect: str | None, refuted_by: str, low: float, high: float, verdict: str
) -> None:
    rule = PartRule(expect, 5.0, refuted_by)
    assert rule.verdict(low, high) == verdict
    rejected = rule.hypotheses(low, high)
    assert bool(rejected) == (verdict not in (OPEN, SHOWN))
    for value, side in rejected:
        assert low >= value if side > 0 else high <= value


def test_what_is_expected_to_be_less_is_turned() -> None:
    assert PartRule("less", 0).turned(-3, -1) == (1, 3)
    assert PartRule("not_more", 0).sign == PartRule("below", 0).sign == PartRule("worse", 0).sign == -1
    assert PartRule("more", 0).turned(-3, -1) == (-3, -1)


@pytest.mark.parametrize(
    ("expect", "hits", "cases", "high", "verdict"),
    [
        ("occurs", 1, 100, 5.0, CONFIRMED), ("occurs", 0, 100, 3.0, OPEN), ("occurs", 0, 1000, 0.4, NEGLIGIBLE),
        ("same", 1, 1000, 0.6, REFUTED), ("same", 0, 100, 3.0, OPEN), ("same", 0, 1000, 0.4, CONFIRMED),
        ("same", 0, 0, math.inf, OPEN), (None, 3, 9, 50.0, SHOWN),
    ],
)  # fmt: skip
def test_cases_are_judged_by_one_or_by_what_none_leaves_possible(
    expect: str | None, hits: int, cases: int, high: float, verdict: str
) -> None:
    assert PartRule(expect, 1.0).verdict_of_cases(hits, cases, high) == verdict


@pytest.mark.parametrize(
    ("cells", "verdict"),
    [
        ([CONFIRMED, CONFIRMED], CONFIRMED), ([NEGLIGIBLE], NEGLIGIBLE), ([CONFIRMED, REFUTED], OPEN),
        ([CONFIRMED, OPEN], OPEN), ([OPEN, OPEN], OPEN), ([SHOWN, SHOWN], SHOWN),
    ],
)  # fmt: skip
def test_an_engine_has_the_verdict_that_all_its_cells_share(cells: list[str], verdict: str) -> None:
    assert verdict_of_cells(cells) == verdict
    assert verdict_of_cells(cells[::-1]) == verdict


@pytest.mark.parametrize(
    ("one", "other", "apart"),
    [((1, 9), (-20, -6), True), ((1, 47), (-19, 9), False), ((20, 40), (-9, 14), True), ((20, 40), (-9, 16), False)],
)
def test_effects_differ_if_their_intervals_lie_further_apart_than_the_margin(
    one: tuple[float, float], other: tuple[float, float], apart: bool
) -> None:
    assert are_apart(one, other, 5.0) == are_apart(other, one, 5.0) == apart


def test_the_family_is_held_by_holms_steps() -> None:
    """Worked by hand: 0.05 / 5, 0.05 / 4, 0.05 / 3; the third fails, and with it all after it."""
    values = {"a": 0.009, "b": 0.0124, "c": 0.02, "d": 0.021, "open": None}
    assert stays_in_family(values, 5) == {"a", "b"}
    assert stays_in_family(values, 50) == set()


def test_a_verdict_of_several_cells_is_false_no_more_often_than_of_one() -> None:
    """Two cells, each with ten looks, at an effect that is expected to be positive but is 0: both confirm rarely; one
    alone is false as often as its error rate says, and the two intervals at half the rate hold together."""
    cells, looks, runs = 2, 10, 12000
    bounds, joint = (
        np.array(PlannedLooks(analyses_of(1000, looks), PartRule("better", 0), rate).bounds) for rate in (0.05, 0.025)
    )
    steps = np.random.default_rng(11).normal(size=(runs, cells, looks)) / math.sqrt(looks)
    deviates = steps.cumsum(axis=2) / np.sqrt(np.arange(1, looks + 1) / looks)
    confirmed = (deviates > bounds).any(axis=2)
    assert confirmed[:, 0].mean() == pytest.approx(0.025, abs=0.004)
    assert confirmed.all(axis=1).mean() < 0.003
    missed = (np.abs(deviates) > joint).any(axis=(1, 2)).mean()
    assert 0.04 < missed < 0.05 + 2 * math.sqrt(0.05 * 0.95 / runs)
