"""What is measured by searches: shares, costs and their differences clustered by game, mates, positions."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from elolab.arena.notation.openings import load_suite
from elolab.arena.play.store import Store
from elolab.arena.records import Opening
from elolab.engine.engine import Engine, StopFlag
from elolab.engine.games import game_named
from elolab.engine.search_statistics import END_COLUMNS, NULL_COLUMNS
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.parameters import resolve
from elolab.engine.values import MATE
from elolab.tuning.ablation.position_searches import PositionSearches
from elolab.tuning.claims.measures import (
    CONDITIONS,
    MOVE_CHANGES,
    REACHED_END,
    SHARE_NAMES,
    SHARES,
    Counted,
    Searched,
    SuiteSearches,
    clustered_error,
    exact_failures,
    log_ratio,
    log_ratio_of_ratios,
    mates_that_change,
    rate_of_cases,
    share_difference,
    share_of,
)
from elolab.tuning.claims.position_suites import PositionSuites, texts_of_self_play


def windows(*counts: tuple[int, int]) -> list[Searched]:
    return [Searched(0, 10, 9000, hits, cases) for hits, cases in counts]


def test_an_error_is_that_of_the_games_and_not_of_their_positions() -> None:
    """Directly: the games' sums of deviations, squared, with G / (G - 1)."""
    logs = [0.3, 0.5, -0.1, 0.2, 0.9, 0.4]
    games = [1, 1, 2, 2, 2, 3]
    mean = sum(logs) / 6
    sums = [sum(log - mean for log, own in zip(logs, games, strict=True) if own == game) / 6 for game in (1, 2, 3)]
    direct = math.sqrt(3 / 2 * sum(value**2 for value in sums))
    estimate = log_ratio([(1000 * math.exp(log), 1000) for log in logs], games)
    assert (estimate.value, estimate.error, estimate.units) == (
        pytest.approx(mean), pytest.approx(direct), 3
    )  # fmt: skip
    low, high = estimate.interval(0.05)
    assert (high - low) / 2 == pytest.approx(stats.t.ppf(0.975, 2) * direct, rel=0.06)
    # One position a game: the usual standard error of a mean.
    alone = log_ratio([(1000 * math.exp(log), 1000) for log in logs], range(6))
    assert alone.error == pytest.approx(stats.sem(logs))
    assert clustered_error([1.0, -1.0], [4, 4]) == (math.inf, 1)


def test_an_interaction_of_costs_is_the_difference_of_two_logarithms() -> None:
    games = [1, 1, 2, 3]
    neither, second, first, both = [100, 80, 90, 100], [50, 60, 70, 40], [60, 70, 100, 90], [20, 30, 60, 10]
    logs = np.log(np.array(both) / second) - np.log(np.array(first) / neither)
    parts = logs - logs.mean()
    sums = [parts[0] + parts[1], parts[2], parts[3]]
    estimate = log_ratio_of_ratios([neither, second, first, both], games)
    assert estimate.value == pytest.approx(logs.mean())
    assert estimate.error == pytest.approx(math.sqrt(3 / 2 * sum(part**2 for part in sums)) / 4)
    assert (estimate.units, estimate.cases) == (3, 4)
    # A factor that changes nothing leaves the ratio alone.
    assert log_ratio_of_ratios([neither, neither, first, first], games).value == pytest.approx(0)


@pytest.mark.integration
def test_the_move_at_half_the_proper_time_is_that_of_a_search_with_so_much_time(tmp_path: Path) -> None:
    """Against the clock: a fixed time a move of half of the proper time, 1 s / 20 + 0.03 s, at 100 nodes a ms."""
    limits = Limits.parse("clock=1+0.03,node_clock=100000")
    engine = Engine("othello", {"hash_mb": 1})
    position, openings = engine.game.position(), []
    for _ in range(24):
        openings.append(Opening(position.text))
        move = engine.search(position, Limits(nodes=50)).move
        assert move is not None
        position.push(move)
    both = {"hash_mb": 1, "time_divisor": 20, "endgame_empties": 0, "clock_reserve_ms": 0}
    whole = resolve({**both, "time_strategy": "elephanteye", "time_hard_factor": 2000, "time_soft_factor": 2000},
                    game="othello")  # fmt: skip
    half = Engine("othello", {**both, "time_strategy": "fixed", "time_fixed_ms": 40})
    with Store(tmp_path) as store:
        searches = SuiteSearches("othello", store, 1, StopFlag())
        found = searches.search(whole, limits, openings, Counted(MOVE_CHANGES, 0))
        shallow = searches.search(whole, replace(limits, depth=1), openings[:1], Counted(MOVE_CHANGES, 0))
    assert found is not None
    assert shallow is not None
    assert (shallow[0].hits, shallow[0].cases) == (0, 0)  # over long before
    ends = Engine("othello", whole)
    expected = []
    for opening in openings:
        moves = []
        for one in (ends, half):
            one.new_game()
            moves.append(one.search(one.game.position(opening.position), limits).move)
        expected.append(int(moves[0] != moves[1]))
    assert [row.hits for row in found if row.cases] == [
        hit for hit, row in zip(expected, found, strict=True) if row.cases
    ]  # fmt: skip
    assert 0 < sum(expected) < len(expected)


def test_games_of_like_positions_are_worth_one_position_each() -> None:
    """Every position thrice: clustered by game the error stays, as if independent it would shrink."""
    counts = [(3, 10), (0, 10), (6, 20), (1, 5)]
    once = share_of("windows_missed", windows(*counts), range(4))
    thrice = share_of("windows_missed", windows(*(one for one in counts for _ in range(3))), [0] * 3 + [1] * 3 + [2] * 3
                      + [3] * 3)  # fmt: skip
    assert thrice.error == pytest.approx(once.error)
    assert share_of("windows_missed", windows(*(one for one in counts for _ in range(3))), range(12)).error < once.error


def test_re_searches_that_miss_again_are_those_after_the_first_of_an_iteration(tmp_path: Path) -> None:
    """By the definition: where both bounds are reopened none can; one side alone is followed by the other at most."""
    openings = [Opening(bench.text) for bench in game_named("xiangqi").bench_positions[:6]]
    with Store(tmp_path) as store:
        searches = SuiteSearches("xiangqi", store, 1, StopFlag())
        found = {}
        for way in ("full", "one_sided"):
            values = resolve({"aspiration": way, "aspiration_window": 1, "stop_on_mate": False}, game="xiangqi")
            rows = searches.search(values, Limits(depth=6), openings, Counted("researches_missed", 0))
            missed = searches.search(values, Limits(depth=6), openings, Counted("windows_missed", 0))
            assert rows is not None
            assert missed is not None
            found[way] = rows
            # Every miss is searched again, so that all re-searches but those of first misses are what missed again.
            assert [row.cases - row.hits for row in rows] == [row.hits for row in missed]
    assert sum(row.cases for row in found["full"]) > 0
    assert not any(row.hits for row in found["full"])
    assert any(row.hits for row in found["one_sided"])


def test_shares_are_ratios_of_sums() -> None:
    counts = [(3, 10), (0, 10), (6, 20), (1, 5)]
    share = share_of("windows_missed", windows(*counts), range(4))
    assert (share.hits, share.cases, share.value) == (10, 45, pytest.approx(100 * 10 / 45))
    deviation = math.sqrt(4 / 3 * sum((hits - 10 / 45 * cases) ** 2 for hits, cases in counts)) / 45
    assert share.error == pytest.approx(100 * deviation)
    assert math.isinf(share_of("windows_missed", windows((0, 0)), [0]).interval(0.05)[1])


@pytest.mark.parametrize(("hits", "side"), [(0, -1), (50, 1)])
def test_what_was_seen_never_or_always_leaves_possible_what_so_many_games_do(hits: int, side: int) -> None:
    share = share_of("windows_missed", windows(*[(hits, 50)] * 4), range(4))
    # By Clopper and Pearson's bound, half of an error of 5 % on either side.
    reach = 100 * stats.beta.ppf(0.975, 1, 4)
    assert share.interval(0.05) == pytest.approx((0, reach) if side < 0 else (100 - reach, 100))
    assert share.tail(50, side) == pytest.approx(0.5**4)
    assert share.tail(50, -side) == 1
    assert rate_of_cases(0, 300).interval(0.05)[1] == pytest.approx(100 * stats.beta.ppf(0.975, 1, 300))


def test_intervals_of_percentages_are_wilsons_for_as_many_cases_as_have_their_error() -> None:
    for hits, cases in ((1, 400), (30, 2000), (1990, 2000)):
        wilson = stats.binomtest(hits, cases).proportion_ci(0.95, "wilson")
        low, high = rate_of_cases(hits, cases).interval(0.05)
        assert (low, high) == (pytest.approx(100 * wilson.low, rel=0.02), pytest.approx(100 * wilson.high, rel=0.02))
    # Clustered: every position four times is worth as much as once, and no bound leaves what is possible.
    counts = [(9, 10), (10, 10), (10, 10), (10, 10), (10, 10), (10, 10)]
    once = share_of("windows_missed", windows(*counts), range(6)).interval(0.05)
    low, high = once
    assert 0 < low < 98.3 < high < 100
    four = share_of("windows_missed", windows(*counts * 4), list(range(6)) * 4).interval(0.05)
    assert four == pytest.approx(once)
    # A bound is the value that is as improbable as half of the error rate.
    share = share_of("windows_missed", windows(*counts), range(6))
    for bound, side in ((low, 1), (high, -1)):
        assert share.tail(bound, side) == pytest.approx(0.025)


def test_what_converged_is_a_miss_without_alternations() -> None:
    counters = {"windows_missed": 3, "windows": 8, "alternations": 0}
    for name in CONDITIONS:
        assert CONDITIONS[name]({"counters": counters}, 0) == (3, 8)
    counters["alternations"] = 1
    assert [of({"counters": counters}, 0)[0] for of in CONDITIONS.values()] == [3, 0]


def test_a_difference_of_shares_is_paired_by_position() -> None:
    hits = (1, 5, 9, 3)
    difference = share_difference(
        "windows_missed", windows(*((count, 10) for count in hits)), windows(*((count + 1, 10) for count in hits)),
        range(4),
    )  # fmt: skip
    assert difference.value == pytest.approx(-10)
    assert difference.error == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(("seen", "other"), [(0, 0), (10, 10), (0, 10), (0, 3)])
def test_a_difference_of_shares_that_were_seen_never_or_always_is_not_exact(seen: int, other: int) -> None:
    sides = [windows(*((hits, 10) for _ in range(4))) for hits in (seen, other)]
    difference = share_difference("windows_missed", *sides, range(4))
    one_sided = sum(hits in (0, 10) for hits in (seen, other))
    reach = 100 * (1 - 0.025**0.25)
    assert difference.value == pytest.approx(10 * (seen - other))
    assert difference.error * stats.norm.ppf(0.975) == pytest.approx(reach * one_sided**0.5)


def test_null_moves_are_counted_by_material_and_depth() -> None:
    def row(**values: int) -> list[int]:
        return [values.get(column, 0) for column in NULL_COLUMNS]

    deeper = row(verified=6, refuted=1, sampled=8, wrong=2, unresolved=3)
    data = {
        "null_by_material": {"900": row(verified=10, refuted=5), "1800": row(verified=20, refuted=1)},
        "null_by_depth": {"2": row(verified=4, refuted=2), "3": deeper},
        "ends": {"soft_limit": [3 if column == "searches" else 0 for column in END_COLUMNS]},
    }
    assert SHARES["verifications_failed"](data, 1800) == (1, 20)
    assert SHARES["verifications_failed"](data, 0) == (6, 30)
    assert SHARES["shallow_verifications_failed"](data, 3) == (2, 4)
    assert SHARES["null_cutoffs_wrong"](data, 0) == (2, 5)
    assert SHARES["soft_stops"](data, 0) == (3, 3)


def test_every_share_can_be_read_from_a_search(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        stop = StopFlag()
        searches = SuiteSearches("xiangqi", store, 1, stop)
        start = Engine("xiangqi").game.position().text
        values = resolve({"hash_mb": 1, "null_verify": "always"}, game="xiangqi")
        for name in SHARE_NAMES:
            limits = Limits.parse("clock=0.3+0.01,node_clock=4000") if name == MOVE_CHANGES else Limits(depth=4)
            found = searches.search(values, limits, [Opening(start)], Counted(name, 0))
            assert found is not None
            assert found[0].hits >= 0
            assert found[0].cases >= 0
        engine = Engine("xiangqi", values)
        plain = searches.search(values, Limits(depth=4), [Opening(start)])
        assert plain is not None
        assert plain[0].nodes == engine.search(engine.game.position(start), Limits(depth=4)).nodes
        assert plain[0].processor_ns > 0
        stop.set()
        assert searches.search(values, Limits(depth=4), [Opening(start)]) == plain
        assert searches.search(values, Limits(depth=3), [Opening(start)]) is None


def test_a_search_by_a_clock_has_seen_the_end_where_its_score_is_the_solvers(tmp_path: Path) -> None:
    plain = {"hash_mb": 1, "endgame_empties": 0, "endgame_exact_iteration": False, "probcut_depth": 0,
             "late_move_reductions": False, "null_move": False}  # fmt: skip
    solver = Engine("othello", {"hash_mb": 1, "endgame_empties": 60})
    openings = [Opening(text) for text in texts_of_self_play(solver, Opening(solver.game.start), 300)[-14:]]
    exact = [solver.search(solver.game.position(one.position), Limits(depth=20)).score for one in openings]
    with Store(tmp_path) as store:
        searches = SuiteSearches("othello", store, 1, StopFlag())
        values = resolve(plain, game="othello")
        found = {
            clock: searches.search(values, Limits.parse(clock), openings, Counted(REACHED_END, 0))
            for clock in ("clock=0.2+0.02,node_clock=5000", "clock=60+1,node_clock=1000000")
        }
    short, long = found.values()
    assert short is not None
    assert long is not None
    assert [row.cases for row in (*short, *long)] == [1] * 28
    assert 0 < sum(row.hits for row in short) < sum(row.hits for row in long)
    for rows in (short, long):
        assert all(row.score == score for row, score in zip(rows, exact, strict=True) if row.hits)
    assert any(row.score != score for row, score in zip(short, exact, strict=True))


def test_mates_must_keep_winner_and_length() -> None:
    def scores(*values: int) -> list[Searched]:
        return [Searched(value, 10, 9000) for value in values]

    by_depth = {4: scores(MATE - 3, 50, MATE - 1, -(MATE - 2)), 5: scores(MATE - 3, MATE - 3, MATE - 3, -(MATE - 2))}
    assert mates_that_change(by_depth, 4) == (4, 1)
    assert exact_failures(list(zip(scores(100, 200), scores(100, 300), strict=True))) == 1


@pytest.mark.integration
def test_positions_are_one_a_game_the_same_every_time_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("elolab.tuning.claims.position_suites.NODES_A_MOVE", 10)
    suite, stop = load_suite("othello", "othello"), StopFlag()

    def suites(folder: str, seed: int, threads: int) -> PositionSuites:
        return PositionSuites(PositionSearches("othello", stores[folder], threads, stop), seed, suite, range(20))

    with Store(tmp_path / "one") as one, Store(tmp_path / "other") as other:
        stores = {"one": one, "other": other}
        five = suites("one", 7, 2).positions("games", 5, 1)
        assert five is not None
        assert [position.game for position in five] == [0, 1, 2, 3, 4]
        assert suites("other", 7, 1).positions("games", 3, 1) == five[:3]
        assert suites("other", 8, 1).positions("games", 3, 1) != five[:3]
        pairs = suites("one", 7, 1).positions("games", 4, 2)
        assert pairs is not None
        assert [position.game for position in pairs] == [0, 0, 1, 1]
        last = suites("one", 7, 1).positions("last", 3, 1)
        assert last is not None
        assert all(position.opening.position.count("-") <= 12 for position in last)
        before_passes = suites("one", 7, 1).positions("passes", 12, 1)
        assert before_passes is not None
        assert 0 < len(before_passes) < 12  # some games have no pass so near their end
        for position in before_passes:
            opening = suite.openings[position.game]
            texts = texts_of_self_play(Engine("othello", {"hash_mb": 1}), opening, 300)
            later = texts[texts.index(position.opening.position) :]
            boards = [text.split()[0] for text in later]
            assert len(boards) <= 9
            assert any(one == other for one, other in pairwise(boards))
        stop.set()  # afterwards it can only be read
        assert suites("one", 7, 1).positions("games", 5, 1) == five
        assert suites("one", 7, 1).positions("games", 6, 1) is None
