"""Student's t distribution against scipy's."""

from __future__ import annotations

import math

import pytest
from scipy import stats

from elolab.tuning.ablation.student import student_cdf, student_quantile

LEVELS = (0.5, 0.5001, 0.6, 0.75, 0.9, 0.95, 0.975, 0.99, 0.999, 0.9999)


@pytest.mark.parametrize("degrees", [*range(1, 201), 0.5, 2.5, 1e3, 1e5])
def test_quantiles_are_scipys(degrees: float) -> None:
    found = [student_quantile(level, degrees) for level in LEVELS]
    assert found == pytest.approx(stats.t.ppf(LEVELS, degrees), rel=1e-9, abs=1e-9)
    assert [student_quantile(1 - level, degrees) for level in LEVELS] == pytest.approx([-value for value in found])


@pytest.mark.parametrize("degrees", [1, 2, 3, 9, 30, 200, 5000])
def test_probabilities_are_scipys_far_into_the_tail(degrees: int) -> None:
    values = [-300.0, -20.0, -3.0, -0.7, -1e-4, 0.0, 1e-4, 0.7, 3.0, 20.0]
    found = [student_cdf(value, degrees) for value in values]
    assert found == pytest.approx(stats.t.cdf(values, degrees), rel=1e-9, abs=1e-300)
    assert (student_cdf(-math.inf, degrees), student_cdf(math.inf, degrees)) == (0.0, 1.0)


def test_many_degrees_are_the_normal_distribution() -> None:
    assert student_quantile(0.975, 1e7) == pytest.approx(1.959964, abs=1e-6)


@pytest.mark.parametrize("probability", [0.0, 1.0, -0.1, 1.5, math.nan])
def test_impossible_probabilities_are_refused(probability: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        student_quantile(probability, 5)


@pytest.mark.parametrize("degrees", [0.0, -1.0])
def test_without_degrees_of_freedom_there_is_no_distribution(degrees: float) -> None:
    with pytest.raises(ValueError, match="above 0"):
        student_quantile(0.9, degrees)
