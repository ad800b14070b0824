"""What settings spend, by hand: iterations of searches to a depth, and moves of games."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest
from scipy import stats

from elolab.arena.records import GameRecord, MoveRecord, Opening, Pairing
from elolab.tuning.ablation.depth_cost import DepthCost, DepthRow, depth_rows, half_width_of_t
from elolab.tuning.ablation.speed import speed_row, spent_in
from elolab.tuning.matches import REFERENCE, VARIANT
from tests.support.cases import for_each

START = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR"


@for_each([*range(1, 201), 1000, 1001, 100_000])
def test_half_widths_are_scipys(degrees: int) -> None:
    assert half_width_of_t(degrees) == pytest.approx(stats.t.ppf(0.975, degrees), rel=1e-11)


def test_depths_are_of_the_searches_that_reached_the_deepest() -> None:
    """The third found a mate at depth 2: it is in no row, or rows would be of different positions."""
    searches = [
        DepthCost(0, ((1, 10, 2_000_000), (2, 40, 4_000_000), (3, 90, 9_000_000))),
        DepthCost(0, ((1, 20, 2_000_000), (2, 80, 9_000_000), (3, 250, 16_000_000))),
        DepthCost(0, ((1, 5, 1), (2, 9, 1))),
    ]
    nodes, times = [math.sqrt(200), math.sqrt(3200), 150], [2, 6, 12]
    rows = depth_rows("mine", searches)
    assert [(row.depth, row.positions, row.nodes, row.time_ms, row.nodes_per_second) for row in rows] == [
        pytest.approx((depth, 2, nodes[depth - 1], times[depth - 1], 1000 * nodes[depth - 1] / times[depth - 1]))
        for depth in (1, 2, 3)
    ]
    assert [row.branching_factor for row in rows] == [None, pytest.approx(4), pytest.approx(150 / math.sqrt(3200))]


def test_a_depth_that_was_left_out_is_no_branching() -> None:
    rows = depth_rows("mine", [DepthCost(0, ((1, 10, 2_000_000), (3, 90, 9_000_000)))])
    assert rows[-1] == DepthRow("mine", 3, 1, pytest.approx(90), pytest.approx(9), None, pytest.approx(10_000))


def record(key: str, side: str, *moves: tuple[int | None, int | None, float]) -> GameRecord:
    """Moves are depth, nodes and milliseconds."""
    return GameRecord(
        key, Pairing(0, 0, 0, 1, 0), "one", "other", Opening(f"{START} {side} - - 0 1", (), ""),
        tuple(MoveRecord("a0a1", 1, *move) for move in moves), "1-0", "checkmate", "0",
    )  # fmt: skip


def job(key: str, first: int) -> Any:
    return SimpleNamespace(key=key, pairing=SimpleNamespace(first=first, second=1 - first))


def test_both_sides_of_a_match_spend_what_their_own_moves_took() -> None:
    """Black begins the second game, which is the variant there; of the second pair a game is missing."""
    records = [
        record("a", "w", (4, 100, 10.0), (2, 300, 20.0), (None, None, 30.0)),
        record("b", "b", (6, 500, 10.0), (3, 100, 20.0)),
        record("c", "w", (40, 9000, 1.0), (50, 9000, 1.0)),
    ]
    pairs = [(job("a", VARIANT), job("b", REFERENCE)), (job("c", VARIANT), job("d", REFERENCE))]
    table: Any = SimpleNamespace(jobs=lambda match: pairs)
    row = speed_row("mine", None, table, spent_in(records, "xiangqi"))  # type: ignore[arg-type]
    assert (row.label, row.pairs) == ("mine", 1)
    assert (row.depth, row.nodes, row.time_ms) == pytest.approx((5, 300, 50 / 3))
    assert (row.reference_depth, row.reference_nodes, row.reference_time_ms) == pytest.approx((2.5, 200, 20))
    assert (row.nodes_per_second, row.reference_nodes_per_second) == pytest.approx((30_000, 10_000))
    assert (row.speed_ratio, row.time_ratio) == pytest.approx((3, 5 / 6))
