"""Search statistics: they change nothing, agree with the counters, and find the null cutoffs that are wrong."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from elolab.engine.engine import Clock, Engine, SearchResult, StopFlag
from elolab.engine.games import game_named
from elolab.engine.search.reports import ReportBoard
from elolab.engine.search.statistics import MAX_SAMPLES
from elolab.engine.search_statistics import (
    END_COLUMNS,
    ITERATION_COLUMNS,
    MATERIAL_STEP,
    NULL_COLUMNS,
    SearchStatisticsSettings,
    summed_search_statistics,
)
from elolab.engine.settings.limits import Limits

GAME = game_named("xiangqi")
MIDDLEGAMES = [bench.text for bench in GAME.bench_positions[1:5]]
NULL_TABLES = ("null_by_material", "null_by_pieces", "null_by_depth")

WAYS: dict[str, dict[str, Any]] = {
    "default": {},
    "verified": {"null_verify": "always", "null_depth": 4, "null_in_pv": True, "null_eval_gate": False},
    "bold": {"null_not_twice": False, "null_need_attackers": False, "null_min_depth": 1, "null_not_in_check": False},
    "mtdf": {"algorithm": "mtdf", "null_store": "all", "hash_mb": 0},
    "plain": {"algorithm": "alphabeta", "aspiration": "naive", "null_move": False},
}


def search(way: dict[str, Any], text: str, limits: Limits, interval: int | None = 0, **rest: Any) -> SearchResult:
    """One search by a new engine, with search statistics unless ``interval`` is ``None``."""
    settings = None if interval is None else SearchStatisticsSettings(interval, 20_000)
    return Engine("xiangqi", way, settings).search(GAME.position(text), limits, **rest)


def column(rows: dict[str, list[int]], columns: tuple[str, ...], name: str) -> int:
    """Sum of a column of a table."""
    return sum(row[columns.index(name)] for row in rows.values())


@pytest.mark.parametrize("way", WAYS)
def test_search_statistics_change_nothing_that_is_searched(way: str) -> None:
    """Two moves in a row, so that what the first search left behind shows."""
    engines = [Engine("xiangqi", WAYS[way], settings) for settings in (None, SearchStatisticsSettings(3, 5_000))]
    sampled = 0
    for text in MIDDLEGAMES:
        found = []
        for engine in engines:
            position = GAME.position(text)
            first = engine.search(position, Limits(nodes=15_000))
            assert position.text == GAME.position(text).text
            position.push(str(first.move))
            second = engine.search(position, Limits(depth=4))
            for result in (first, second):
                assert (result.search_statistics is None) == (engine is engines[0])
                if result.search_statistics is not None:
                    sampled += column(result.search_statistics["null_by_depth"], NULL_COLUMNS, "sampled")
            found.append(
                [
                    (each.move, each.score, each.depth, each.nodes, each.principal_variation, each.counters)
                    for each in (first, second)
                ]
            )
        assert found[0] == found[1]
    assert (sampled > 0) == (WAYS[way].get("null_move", True))


@pytest.mark.parametrize("way", WAYS)
def test_the_tables_add_up_to_the_counters(way: str) -> None:
    for text in MIDDLEGAMES:
        result = search(WAYS[way], text, Limits(nodes=20_000))
        data = result.search_statistics
        assert data is not None
        assert data["counters"] == result.counters
        assert (data["searches"], data["nodes"]) == (1, result.nodes)
        for table in NULL_TABLES:
            for counter, name in (
                ("null_tries", "tries"), ("null_cutoffs", "cutoffs"), ("null_verified", "verified"),
                ("null_refuted", "refuted"),
            ):  # fmt: skip
                assert column(data[table], NULL_COLUMNS, name) == result.counters[counter], (table, name)
        for own in map(int, data["null_by_material"]):
            assert own % MATERIAL_STEP == 0
        pieces = sum(character.isalpha() for character in text.split()[0])
        assert all(int(count) <= pieces for count in data["null_by_pieces"])


@pytest.mark.parametrize("limits", [Limits(nodes=20_000), Limits(depth=5)], ids=str)
def test_iterations_are_those_that_the_board_reports(limits: Limits) -> None:
    board = ReportBoard()
    result = search({}, MIDDLEGAMES[0], limits, board=board)
    data = result.search_statistics
    assert data is not None
    reports = board.unread()
    before = [0, *(report.nodes for report in reports)]
    rows = {int(depth): dict(zip(ITERATION_COLUMNS, row, strict=True)) for depth, row in data["iterations"].items()}
    assert list(rows) == [report.depth for report in reports]
    costs = [after - earlier for earlier, after in pairwise(before)]
    assert [row["nodes_to"] for row in rows.values()] == before[1:]
    assert [row["nodes"] for row in rows.values()] == costs
    assert [row["nodes_before"] for row in rows.values()] == [0, *costs[:-1]]
    assert data["last_iteration_nodes"] == costs[-1]
    assert data["after_iteration_nodes"] == result.nodes - before[-1]
    assert result.ended_by == ("node_limit" if limits.nodes else "depth_limit")
    # A new result of the root comes with every iteration at the latest.
    assert data["after_result_nodes"] < result.nodes - (before[-2] if limits.depth else 0)


NODE_CLOCK = Limits(clock_ms=10_000, clock_kind="node", nodes_per_second=20_000)
ONE_SAVING_MOVE = "4k4/9/9/8r/r7n/8N/9/9/9/R4K3 w - - 0 1"
MATE_IN_ONE = "4k4/R8/9/9/9/9/9/9/9/1R3K3 w - - 0 1"
ONE_LEGAL_MOVE = "3akr3/4R4/9/9/9/9/9/9/9/4K4 b - - 0 1"
MATED = "R3k4/1R7/9/9/9/9/9/9/9/5K3 b - - 0 1"


@pytest.mark.parametrize(
    ("reason", "way", "text", "limits"),
    [
        ("depth_limit", {}, GAME.start, Limits(depth=3)),
        ("node_limit", {}, GAME.start, Limits(nodes=3000)),
        ("mate", {}, MATE_IN_ONE, Limits(depth=9)),
        ("unique_move", {"unique_move_check": True}, ONE_SAVING_MOVE, Limits(nodes=100_000)),
        ("single_move", {}, ONE_LEGAL_MOVE, Limits(nodes=100_000)),
        ("no_moves", {}, MATED, Limits(nodes=1000)),
        ("hard_limit", {"time_soft_factor": 5000}, GAME.start, NODE_CLOCK),
        ("soft_limit", {}, GAME.start, NODE_CLOCK),
        ("forecast", {"time_soft_factor": 5000, "time_predict": "last_ratio"}, GAME.start, NODE_CLOCK),
    ],
)
def test_what_ended_a_search(reason: str, way: dict[str, Any], text: str, limits: Limits) -> None:
    half_and_twice = {"time_divisor": 20, "time_soft_factor": 500, "time_hard_factor": 2000}
    clock = Clock(limits.clock_ms) if limits.clock_ms else None
    result = search({**half_and_twice, **way}, text, limits, clock=clock)
    data = result.search_statistics
    assert data is not None
    assert result.ended_by == reason
    assert list(data["ends"]) == [reason]
    row = dict(zip(END_COLUMNS, data["ends"][reason], strict=True))
    assert (row["searches"], row["nodes"], row["time_ns"]) == (1, result.nodes, round(result.time_ms * 1e6))
    timed = limits.clock_ms is not None
    # A twentieth of 10 s, and twice that.
    assert (row["proper_searches"], row["proper_ns"]) == ((1, 500_000_000) if timed else (0, 0))
    assert (row["hard_searches"], row["hard_ns"]) == ((1, 1_000_000_000) if timed else (0, 0))
    if reason == "hard_limit":
        assert row["hard_used_ns"] == row["proper_used_ns"] == 20_000 * 50_000
    if reason not in ("hard_limit", "soft_limit", "node_limit"):
        assert data["after_iteration_nodes"] == 0


def test_a_stop_is_a_reason_too() -> None:
    stop = StopFlag()
    stop.set()
    assert search({}, GAME.start, Limits(depth=20), stop=stop).ended_by == "stop"


EXPOSED_GENERALS = (
    "r1b1ka3/4a4/2n1c4/p1p3C1R/9/9/P1c3r2/2N1C4/4AR3/2B1KA3 w - - 0 15",
    "6b2/5k3/4Ra3/9/P8/9/4c2r1/2n1Bp3/1C2A4/3AK1B2 b - - 4 39",
)


def test_mates_by_a_skipped_turn_are_counted_by_both_offsets() -> None:
    way = {"null_in_pv": True, "null_eval_gate": False, "null_depth": 4, "stop_on_mate": False}
    totals = {}
    for offset in ("two", "null_depth"):
        results = [
            search({**way, "mate_threat_offset": offset}, text, Limits(nodes=60_000)) for text in EXPOSED_GENERALS
        ]
        totals[offset] = summed_search_statistics(result.search_statistics or {} for result in results)
    for total in totals.values():
        assert total["mate_at_two"] > 0
        assert total["mate_at_null_depth"] > 0
    assert totals["two"]["counters"]["mate_threats"] == totals["two"]["mate_at_two"]
    assert totals["null_depth"]["counters"]["mate_threats"] == totals["null_depth"]["mate_at_null_depth"]
    # The parameter chooses what is a threat; with nothing that uses threats, the tree is the same.
    assert totals["two"]["mate_at_two"] == totals["null_depth"]["mate_at_two"]


SOUND = {
    "algorithm": "alphabeta", "aspiration": "off", "late_move_reductions": False, "hash_mb": 0,
    "rules_in_search": False, "reverse_futility_depth": 0, "futility_depth": 0, "razoring_depth": 0,
    "late_move_pruning_depth": 0, "delta_margin": 0,
}  # fmt: skip
"""A search in which nothing but the null move can make a value wrong."""
RECKLESS = {"null_need_attackers": False, "null_eval_gate": False, "null_min_depth": 1}
ZUGZWANGS = (
    "3k5/9/9/9/9/9/9/4p4/p8/5K3 w - - 0 1",
    "9/9/3k5/9/9/9/2r6/6p2/9/5K3 w - - 0 1",
    "9/n2k5/9/9/9/9/9/9/4c4/5K3 w - - 0 1",
    "3k5/9/9/9/9/9/9/3Ap4/5K3/6p2 b - - 0 1",
)
"""Endings in which whoever must move would often rather not."""


def samples_of(engine: Engine) -> list[tuple[int, int, list[int]]]:
    """Depth, beta and path (kernels' moves, 0 for a skipped turn) of the null cutoffs kept of the last search."""
    memory = engine.memory
    assert memory is not None
    record = memory.statistics_record
    rows = record.samples[: int(record.sample_count)]
    return [(int(row[0]), int(row[1]), row[3 : 3 + int(row[2])].tolist()) for row in rows]


def test_wrong_null_cutoffs_are_those_that_a_plain_search_refutes() -> None:
    """Every sample again: its path played by the rules, its value by a whole search without null moves."""
    judge = Engine("xiangqi", {**SOUND, "null_move": False})
    seen = wrong = 0
    for text in ZUGZWANGS:
        engine = Engine("xiangqi", {**SOUND, **RECKLESS}, SearchStatisticsSettings(1, 10**9))
        position = GAME.position(text)
        data = engine.search(position, Limits(depth=5)).search_statistics
        assert data is not None
        expected = 0
        samples = samples_of(engine)
        for depth, beta, path in samples:
            reached = GAME.position(text)
            for code in path:
                if code == 0:
                    GAME.kernels.in_check(reached.state)
                    GAME.kernels.make_null(reached.state)
                else:
                    reached.push(GAME.format_move(code))
            expected += judge.search(reached, Limits(depth=depth)).score < beta
        for table in NULL_TABLES:
            assert column(data[table], NULL_COLUMNS, "sampled") == len(samples)
            assert column(data[table], NULL_COLUMNS, "wrong") == expected
            assert column(data[table], NULL_COLUMNS, "unresolved") == 0
        seen += len(samples)
        wrong += expected
    assert 0 < wrong < seen


def test_samples_come_at_their_interval_over_the_whole_search_and_across_searches() -> None:
    engine = Engine("xiangqi", {"null_min_depth": 2}, SearchStatisticsSettings(40, 1))
    position = GAME.position(MIDDLEGAMES[0])
    cutoffs = sampled = unresolved = 0
    for _ in range(6):
        result = engine.search(position, Limits(nodes=2000))
        assert result.search_statistics is not None
        cutoffs += result.counters["null_cutoffs"]
        sampled += column(result.search_statistics["null_by_depth"], NULL_COLUMNS, "sampled")
        unresolved += column(result.search_statistics["null_by_depth"], NULL_COLUMNS, "unresolved")
        assert sampled == cutoffs // 40
    # One node decides next to nothing.
    assert 0 < unresolved <= sampled
    crowded = Engine("xiangqi", {"null_min_depth": 2}, SearchStatisticsSettings(1, 1))
    result = crowded.search(position, Limits(nodes=20_000))
    assert result.counters["null_cutoffs"] > 10 * MAX_SAMPLES
    depths = [depth for depth, _, _ in samples_of(crowded)]
    assert MAX_SAMPLES // 2 <= len(depths) <= MAX_SAMPLES
    assert crowded.search(position, Limits(depth=1)).search_statistics["null_by_depth"] == {}  # type: ignore[index]


def test_sums_of_searches_add_row_by_row() -> None:
    parts = [search({}, text, Limits(depth=3)).search_statistics or {} for text in MIDDLEGAMES]
    total = summed_search_statistics(parts)
    assert total["searches"] == len(parts)
    assert total["nodes"] == sum(part["nodes"] for part in parts)
    assert total["iterations"]["3"] == [
        sum(values) for values in zip(*(p["iterations"]["3"] for p in parts), strict=True)
    ]
    assert total["counters"]["cutoffs"] == sum(part["counters"]["cutoffs"] for part in parts)
    assert summed_search_statistics([]) == {}
