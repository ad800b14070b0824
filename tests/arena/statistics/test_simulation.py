"""A small part of ``benchmarks/statistics_simulation.py``: enough to notice an interval or a test that is wrong."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks"))

import statistics_simulation as simulation

from elolab.arena.statistics.elo import Pentanomial, elo_of_score, estimate_after_test

TESTS = 300


@pytest.mark.integration
@pytest.mark.parametrize(
    ("kind", "elo"),
    [
        ("ordinary", 20),
        ("drawish", -100),
        ("ordinary", -200),
        ("decisive", 200),
    ],
)
def test_intervals_cover_the_truth(kind: str, elo: int) -> None:
    low, high = simulation.COVERAGE_GOAL
    assert low <= simulation.coverage(kind, elo, 10_000) <= high


@pytest.mark.integration
@pytest.mark.parametrize(("truth", "wrong"), [(0, 1), (100, -1)])
def test_sequential_tests_err_no_more_often_than_they_may(truth: float, wrong: int) -> None:
    ended = simulation.run_tests(simulation.with_normalized_elo("ordinary", truth), 0, 100, "normalized", TESTS, 3)
    allowed = simulation.ERROR + 2 * math.sqrt(simulation.ERROR * (1 - simulation.ERROR) / TESTS)
    assert (ended.accepted == wrong).mean() <= allowed
    assert (ended.accepted == 0).sum() == 0
    assert 20 < ended.pairs.mean() < 80


@pytest.mark.slow
def test_the_estimate_after_a_test_corrects_most_of_the_bias() -> None:
    chances = simulation.with_normalized_elo("ordinary", 50)
    truth = elo_of_score(float(chances @ simulation.SCORES))
    ended = simulation.run_tests(chances, 0, 100, "normalized", TESTS, 5)
    won = [Pentanomial(tuple(int(count) for count in row)) for row in ended.counts]  # type: ignore[arg-type]
    after = [estimate_after_test(counts, 0, 100) for counts in won]
    assert np.mean([entry.elo > truth for entry in after]) == pytest.approx(0.5, abs=0.08)
    assert np.mean([entry.elo_low <= truth <= entry.elo_high for entry in after]) > 0.93
    naive = np.array([counts.estimate().elo for counts in won])
    accepted = ended.accepted == 1
    corrected = np.array([entry.elo for entry in after])
    assert np.median(naive[accepted]) - truth > 1.2 * (np.median(corrected[accepted]) - truth)


@pytest.mark.integration
def test_the_joint_fit_covers_on_an_uneven_schedule() -> None:
    found = simulation.joint_coverage(300)
    assert 0.93 <= np.mean(list(found.values())) <= 0.97
    assert min(found.values()) > 0.9


def test_coupling_keeps_the_chances_of_each_game() -> None:
    one, other = np.array([0.2, 0.3, 0.5]), np.array([0.4, 0.2, 0.4])
    table = simulation.coupled(np.outer(one, other), one, other)
    assert table.sum(axis=1) == pytest.approx(one)
    assert table.sum(axis=0) == pytest.approx(other)
    assert table[2, 0] > one[2] * other[0]
