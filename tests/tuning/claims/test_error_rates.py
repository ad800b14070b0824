"""Intervals of rows at another error rate, against the estimates that they come from."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from elolab.arena.statistics.elo import Pentanomial, elo_of_score
from elolab.tuning.ablation.comparison_verdicts import critical_values, match_estimate
from elolab.tuning.claims.cells import common_columns
from elolab.tuning.claims.claims_results import CellRow
from elolab.tuning.claims.claims_spec import ClaimPart, load_claims
from elolab.tuning.claims.error_rates import interval_at
from elolab.tuning.claims.measures import Searched, SearchEstimate, log_ratio, rate_of_cases, share_of
from elolab.tuning.claims.part_verdicts import OPEN
from tests.support.small_claims import write_claims

MakeRow = Callable[..., tuple[ClaimPart, CellRow]]


@pytest.fixture(scope="module")
def row_of(tmp_path_factory: pytest.TempPathFactory) -> MakeRow:
    """A function that gives a part of the small table, and a row of its first cell with the columns that it is told."""
    spec = load_claims(write_claims(tmp_path_factory.mktemp("small")), "quick")
    parts = {part.id: (claim, part) for claim in spec.claims for part in claim.parts}

    def make(name: str, **columns: object) -> tuple[ClaimPart, CellRow]:
        claim, part = parts[name]
        empty = {
            "unit": "×", "effect": 0.0, "median_unbiased": None, "low": 0.0, "high": 0.0, "verdict": OPEN,
            "p_value": None, "cases": 0, "hits": 0, "games": 0, "looks": 1, "looks_planned": 1, "ended": "complete",
            "games_needed": None, "positions_needed": None,
        }  # fmt: skip
        common = common_columns(claim, part, part.cells[0])
        return part, CellRow(**{**common, **empty, **columns})  # type: ignore[arg-type]

    return make


def test_a_match_has_the_interval_of_its_pairs(row_of: MakeRow) -> None:
    counts = (30, 40, 150, 60, 45)
    _, row = row_of("C20a", unit="Elo", cases=325, looks=5, looks_planned=20, error_rate=0.0125,
                    **dict(zip(("LL", "LD", "even", "WD", "WW"), counts, strict=True)))  # fmt: skip
    estimate = match_estimate(Pentanomial(counts), 20)
    for rate in (0.05, 0.0125):
        bound = critical_values(tuple(range(50, 1001, 50)), rate / 2)[4]
        assert interval_at(row, rate) == pytest.approx([*map(elo_of_score, estimate.interval(bound))], abs=1e-6)


@pytest.mark.parametrize(
    ("name", "unit", "estimate"),
    [
        ("C1a", "×", log_ratio([(100 + 7 * number % 40, 120) for number in range(400)], range(400))),
        ("C1b", "%", share_of("windows_missed", [Searched(0, 1, 1, number % 3, 4) for number in range(400)],
                               range(400))),
        ("C1c", "cases", rate_of_cases(7, 900)),
        ("C1c", "cases", rate_of_cases(0, 900)),
    ],
)  # fmt: skip
def test_a_search_has_the_interval_of_its_estimate(
    name: str, unit: str, estimate: SearchEstimate, row_of: MakeRow
) -> None:
    shown = math.exp if unit == "×" else float
    low, high = map(shown, estimate.interval(0.0125))
    _, row = row_of(name, unit=unit, cases=estimate.cases, hits=estimate.hits, low=low, high=high, error_rate=0.0125)
    assert interval_at(row, 0.0125) == pytest.approx((low, high))
    assert interval_at(row, 0.05) == pytest.approx([*map(shown, estimate.interval(0.05))], rel=2e-3)
