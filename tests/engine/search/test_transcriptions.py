"""The presets are the texts' programs: node for node, they search what a plain transcription of the text searches."""

from __future__ import annotations

import random
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from elolab.arena.notation.openings import load_suite
from elolab.engine.engine import Clock, Engine, SearchResult
from elolab.engine.games import game_named
from elolab.engine.games.othello.evaluation import evaluate_boards
from elolab.engine.games.packed_values import at_start
from elolab.engine.search.reports import ReportBoard
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.parameters import Value, to_record
from elolab.engine.settings.presets import load_preset
from elolab.engine.values import MATE_BOUND
from tests.support.transcriptions import (
    ChessBoard,
    Discs,
    Iteration,
    Moreland,
    OthelloIterativeDeepening,
    OthelloMtdf,
    TimedMove,
    XiangqiBoard,
    XqwizardLight,
    othello_moves,
    othello_on_the_clock,
    read_discs,
)

Overrides = tuple[tuple[str, Value], ...]
LARGE_TABLE: Overrides = (("hash_mb", 64),)
"""No bucket overflows, so that a dictionary is the same."""


@cache
def engine_of(preset: str, game: str, overrides: Overrides = ()) -> Engine:
    """The preset with some settings laid over it."""
    return Engine(game, {**load_preset(preset, game), **dict(overrides)})


def engine_search(engine: Engine, text: str, depth: int) -> tuple[SearchResult, list[Iteration]]:
    """One search from the state the engine is in, and its iterations; the passes are not told of each."""
    board = ReportBoard()
    result = engine.search(engine.game.position(text), Limits(depth=depth), board=board)
    reports = board.unread()
    lines = [tuple(map(engine.game.format_move, report.variation)) for report in reports]
    return result, [
        Iteration(report.depth, report.nodes, report.score, line) for report, line in zip(reports, lines, strict=True)
    ]


def random_position(game: str, seed: int, plies: int) -> str:
    """A position after random moves, with a move to make."""
    choice = random.Random(seed)
    while True:
        position = game_named(game).position()
        for _ in range(plies):
            moves = position.legal_moves()
            if not moves:
                break
            position.push(choice.choice(moves))
        if position.legal_moves() and position.ply == plies:
            return position.text


# Othello


@cache
def static(discs: Discs) -> int:
    """The preset's static value."""
    return int(evaluate_boards(_othello_state(), np.uint64(discs.own), np.uint64(discs.other)))


@cache
def _othello_state() -> np.record:
    state = game_named("othello").position().state
    game_named("othello").kernels.prepare(state, to_record(engine_of("othello-ids", "othello").parameters))
    return state


MUST_PASS = (
    "OOOOOOO--OOOOXOXOOOOXXXX-OOXXXXXOOXXXXOX-OXXXOOXXXXOOOOXXXXOOOO- O",
    "X-O-X-O-OXXXXXXXOOOOXXXXOXOXOXXXOOXXXXXXOOOXXOX-OOOOXXXXOOOOOX-O X",
    "XXXX----XOXXX---XXXXXXXOXOOOOXOOXXOOOOXO-XOXOXXOOOXXXXOOOOOOOOOO X",
)


@cache
def othello_positions() -> tuple[tuple[str, int], ...]:
    """Positions and the depth to which they are searched: openings, middle games, and endings to the last square."""
    suite = load_suite("othello", "othello").openings
    openings = [(opening.position, 5 if number % 3 == 0 else 4) for number, opening in enumerate(suite[::1700])]
    middle_games = [(random_position("othello", plies, plies), 4 + plies % 2) for plies in range(14, 50, 3)]
    endings = [(random_position("othello", plies, plies), 60) for plies in range(52, 60)]
    return (*openings, *middle_games, *endings, *((text, 60) for text in MUST_PASS))


@cache
def ids_transcribed(text: str, depth: int) -> tuple[Iteration, ...]:
    """The transcription's iterations."""
    return tuple(OthelloIterativeDeepening(static).iterations(read_discs(text), depth))


@pytest.mark.integration
def test_othello_ids_is_the_texts_iterative_deepening() -> None:
    engine = engine_of("othello-ids", "othello")
    assert len(othello_positions()) >= 40
    to_the_end = passes = 0
    for text, depth in othello_positions():
        expected = ids_transcribed(text, depth)
        result, iterations = engine_search(engine, text, depth)
        assert iterations == list(expected), text
        last = expected[-1]
        found = (result.nodes, result.score, result.move, result.principal_variation)
        assert found == (last.nodes, last.score, last.line[0], last.line), text
        to_the_end += last.depth == read_discs(text).empties
        passes += "pass" in last.line
    assert to_the_end >= 10
    assert passes >= 5


@cache
def mtdf_transcribed(text: str, depth: int) -> tuple[Iteration, ...]:
    """The transcription's iterations."""
    return tuple(OthelloMtdf(static).deepening(read_discs(text), depth))


@pytest.mark.integration
def test_othello_mtdf_is_the_texts_mtdf() -> None:
    engine = engine_of("othello-mtdf", "othello", LARGE_TABLE)
    for text, depth in othello_positions():
        engine.new_game()
        expected = mtdf_transcribed(text, depth)
        result, iterations = engine_search(engine, text, depth)
        assert [(one.depth, one.nodes, one.score, one.line[0]) for one in iterations] == [
            (one.depth, one.nodes, one.score, one.line[0]) for one in expected
        ], text
        last = expected[-1]
        found = (result.nodes, result.score, result.move, result.counters["mtdf_passes"])
        assert found == (last.nodes, last.score, last.line[0], last.passes), text


def moves_with_one_memory(overrides: Overrides) -> tuple[int, int]:
    """Searches of a few moves of one game, and how many of them differ from the transcription's."""
    engine = engine_of("othello-mtdf", "othello", (*LARGE_TABLE, *overrides))
    searches = different = 0
    for text, depth in othello_positions()[::4]:
        engine.new_game()
        position = engine.game.position(text)
        program = OthelloMtdf(static)
        for _ in range(3):
            if position.legal_moves():
                expected = list(program.deepening(read_discs(position.text), depth))[-1]
                result = engine.search(position, Limits(depth=depth))
                found = (result.nodes, result.score, result.move, result.counters["mtdf_passes"])
                searches += 1
                different += found != (expected.nodes, expected.score, expected.line[0], expected.passes)
                position.push(expected.line[0])
            if replies := position.legal_moves():
                position.push(replies[-1])
    return searches, different


@pytest.mark.integration
def test_an_entry_deeper_than_needed_serves_in_the_moves_to_come() -> None:
    searches, different = moves_with_one_memory(())
    assert searches >= 25
    assert different == 0
    # Within one search no entry is deeper than needed: the discs on the board tell the depth.
    assert moves_with_one_memory((("hash_exact_depth_only", True),))[1] > 0


def played_within(iterations: tuple[Iteration, ...], nodes: int) -> Iteration:
    """The last iteration completed."""
    return [iteration for iteration in iterations if iteration.nodes <= nodes][-1]


def node_limits(iterations: tuple[Iteration, ...]) -> list[int]:
    """Limits at each iteration's end, beside it, and in between; none before the first one's."""
    ends = [iteration.nodes for iteration in iterations]
    limits = {end + beside for end in ends for beside in (-1, 0, 1)}
    limits |= {a + (b - a) * part // 7 for a, b in pairwise(ends) for part in range(1, 7)}
    return sorted(limit for limit in limits if limit >= ends[0])


CUT_OFF = (*range(0, 18, 3), *range(19, 30, 2), 31, 35)
"""Positions, by number, that are searched with limits in nodes: those with more than one iteration."""


def cut_off_searches(keep_partial_iteration: bool) -> tuple[int, int]:
    """Searches cut off by a limit in nodes, and how many of them did not play the last completed iteration's result."""
    searches = different = 0
    engine = engine_of("othello-ids", "othello", (("keep_partial_iteration", keep_partial_iteration),))
    for number in CUT_OFF:
        text, depth = othello_positions()[number]
        iterations = ids_transcribed(text, depth)
        for limit in node_limits(iterations):
            expected = played_within(iterations, limit)
            result = engine.search(engine.game.position(text), Limits(nodes=limit, depth=depth))
            assert result.nodes == min(limit, iterations[-1].nodes)
            assert result.depth == expected.depth
            searches += 1
            found = (result.move, result.score, result.principal_variation)
            different += found != (expected.line[0], expected.score, expected.line)
    return searches, different


@pytest.mark.integration
def test_what_is_cut_off_is_thrown_away() -> None:
    assert load_preset("othello-ids", "othello")["keep_partial_iteration"] is False
    searches, different = cut_off_searches(keep_partial_iteration=False)
    assert searches >= 100
    assert different == 0


@pytest.mark.integration
def test_with_the_part_of_an_iteration_kept_the_move_would_be_another() -> None:
    assert cut_off_searches(keep_partial_iteration=True)[1] > 0


# Othello's clock

MAX_NODES = 6000
"""Of the transcription: no deadline is later."""
MILLISECOND = 1_000_000
RESERVE_MS = 20


@cache
def timed_positions() -> tuple[str, ...]:
    """Positions with 50 to 7 empty squares; one with a single move would end at once, on which the text is silent."""
    openings = [opening.position for opening in load_suite("othello", "othello").openings[5::25000]]
    played = [random_position("othello", 100 + plies, plies) for plies in (*range(15, 45, 8), *range(45, 54))]
    return tuple(text for text in (*openings, *played) if len(othello_moves(read_discs(text))) > 1)


@cache
def timed_iterations(text: str) -> tuple[Iteration, ...]:
    """What the transcription completes within the most nodes."""
    return tuple(OthelloIterativeDeepening(static, MAX_NODES).iterations(read_discs(text)))


def remaining_times(text: str, a_node: int) -> list[int]:
    """Milliseconds on the clock: some for the first iterations, and two for each iteration that may follow.

    One lies midway between what lets its forecast meet its own deadline and what lets it meet the deadline before; one
    between what its forecast needs and what it turns out to need.
    """
    empties, iterations = read_discs(text).empties, timed_iterations(text)
    times = [iterations[0].nodes * max((empties - 2) // 2, 1) * tenths // 10 for tenths in (2, 5, 9, 12, 20, 35, 80)]
    ends = [0, *(iteration.nodes for iteration in iterations)]
    for number, (before, end) in enumerate(pairwise(ends), 1):
        last = end - before
        forecast = end + (last * 3 if number == 1 else last * last // (before - ends[number - 2]))
        depth = iterations[0].depth + number
        own, own_before = (max((empties - each + 2) // 2, 1) for each in (depth, depth - 1))
        times.append((forecast * (own + own_before) + end + before) // 2)
        if number < len(iterations):
            times.append((forecast + iterations[number].nodes) * own // 2 + end)
    return [time * a_node // MILLISECOND for time in times if time * a_node >= MILLISECOND]


def is_close(timed: TimedMove) -> bool:
    """Whether a forecast all but meets its deadline: the engine's go by logarithms, right to about one percent."""
    return any(
        50 * abs(one.elapsed + one.forecast - one.deadline) <= one.forecast + one.elapsed for one in timed.decisions
    )


def earlier_deadline_decides_otherwise(timed: TimedMove) -> bool:
    """Whether forecasts held against the deadline of the iteration before would have led elsewhere."""
    return any(
        (one.elapsed + one.forecast <= one.deadline) != (one.elapsed + one.forecast <= one.deadline_before)
        for one in timed.decisions
    )


@cache
def timed_cases(forecasts: bool) -> tuple[tuple[str, int, int, TimedMove], ...]:
    """Position, milliseconds remaining, nodes a second, and the transcription's move."""
    cases = []
    for text in timed_positions():
        for speed in (1000, 7000):
            a_node = Limits(nodes_per_second=speed).nanoseconds_per_node
            for remaining in remaining_times(text, a_node):
                timed = othello_on_the_clock(
                    timed_iterations(text), read_discs(text).empties, remaining * MILLISECOND,
                    RESERVE_MS * MILLISECOND, a_node, forecasts,
                )  # fmt: skip
                if timed.nodes <= MAX_NODES and not (forecasts and is_close(timed)):
                    cases.append((text, remaining, speed, timed))
    return tuple(cases)


def differing_moves(preset: str, overrides: Overrides = ()) -> list[tuple[object, ...]]:
    """The cases in which a preset with the clock of the text does something else than the transcription."""
    engine = engine_of(preset, "othello", overrides)
    assert engine.parameters["clock_reserve_ms"] == RESERVE_MS
    differing: list[tuple[object, ...]] = []
    for text, remaining, speed, timed in timed_cases(preset == "othello-ids-forecast"):
        limits = Limits(clock_ms=remaining, clock_kind="node", nodes_per_second=speed)
        result = engine.search(engine.game.position(text), limits, Clock(remaining))
        found = (result.nodes, result.depth, result.score, result.move, result.ended_by)
        expected = (
            timed.nodes, timed.played.depth, timed.played.score, timed.played.line[0], timed.ended_by
        )  # fmt: skip
        if found != expected:
            differing.append((text, remaining, speed, found, expected))
    return differing


@pytest.mark.integration
def test_the_forecast_is_held_against_the_coming_deadline_to_the_node() -> None:
    cases = [timed for *_, timed in timed_cases(True)]
    assert len(cases) >= 60
    assert sum(map(earlier_deadline_decides_otherwise, cases)) >= 10
    assert sum(timed.ended_by == "hard_limit" for timed in cases) >= 10
    assert sum(timed.ended_by == "depth_limit" for timed in cases) >= 3
    assert differing_moves("othello-ids-forecast") == []


EVERY_NODE: Overrides = (("poll_interval_nodes", 1),)


@pytest.mark.integration
@pytest.mark.parametrize(
    "overrides",
    [
        EVERY_NODE,
        (),
    ],
    ids=["every_node", "as_shipped"],
)
def test_without_forecast_every_deadline_is_met_to_the_node(overrides: Overrides) -> None:
    """An iteration's deadline may be earlier than that of the iteration before."""
    cases = [timed for *_, timed in timed_cases(False)]
    assert len(cases) >= 60
    assert sum(timed.ended_by == "depth_limit" for timed in cases) >= 3
    assert differing_moves("othello-ids", overrides) == []


# Xiangqi

MATES = (
    "4k4/9/9/9/9/9/9/R8/1R7/3K5 w - - 0 1",
    "3a5/3k5/3a1r3/c8/R5b1P/8C/N8/4pA3/3K5/4nA3 w - - 0 1",
    "4ka1r1/3C1P3/c2a5/6n2/6b2/2B6/9/p4K3/9/3A1AB2 w - - 0 1",
    "1c2k1b2/1N2a2P1/3a5/2n6/6b2/2B6/7p1/1r3A3/C4R3/4K1B2 b - - 0 1",
    "3kr4/4a4/b1ca5/3R5/6n2/2B5C/2P2N3/B4A3/4K4/3A2p2 w - - 0 1",
    "1nb2a3/3kC4/2N3Prc/p7p/N8/P1p6/4P3P/R3C4/4K4/2B5c w - - 3 51",
    "3a5/2Rna4/3k4b/p1p2n3/1cb2P3/2PN1rBp1/P4C3/3AB4/1c3K3/R2A5 w - - 5 59",
    "1r2kabr1/7Rc/5aP2/3n3P1/p8/3C5/9/3Ap4/2N5N/4KAB1c b - - 3 60",
    "2b3b1R/4k4/5a3/4C2r1/5P3/2B2N1p1/P1P6/N2AKA3/9/6B2 b - - 12 89",
    "C1b6/8N/br3knR1/1P1c5/3P5/7p1/6C2/3c1A3/5r1p1/1NBK5 w - - 6 90",
    "4k1b2/4a1R2/R3N4/9/2P6/8P/9/3A5/9/2B2K3 w - - 5 102",
    "4k1R2/4a4/R3N4/9/2P6/8P/9/3A5/9/2B2K3 b - - 0 102",
    "2b3b1R/4k4/5a3/4r4/5P3/2B2N1p1/P1P6/N2AKA3/9/6B2 w - - 0 90",
)
"""Endings, most of them with mates within the depth searched, two of them for the side that is mated."""


@cache
def xiangqi_positions() -> tuple[tuple[str, int], ...]:
    """Positions and the depth to which they are searched.

    The draws of the rules, on which the text is silent, are out of reach: no position of these trees comes up again,
    and pieces that can attack are left.
    """
    suite = load_suite("xiangqi", "xiangqi").openings
    openings = [(opening.position, 3) for opening in suite[::2000]]
    deeper = [(opening.position, 4) for opening in suite[700::16000]]
    middle_games = [(random_position("xiangqi", plies, plies), 3) for plies in range(10, 100, 6)]
    endings = [(random_position("xiangqi", plies, plies), 4) for plies in range(100, 200, 40)]
    return (*openings, *deeper, *middle_games, *endings, *((text, 4) for text in MATES))


@cache
def piece_values() -> tuple[tuple[int, ...], ...]:
    """The preset's values by the engine's slots and squares, Red's view."""
    game = game_named("xiangqi")
    state = game.position().state
    game.kernels.prepare(state, to_record(engine_of("xqwlight-0.3", "xiangqi").parameters))
    return tuple(tuple(int(at_start(int(value))) for value in row) for row in state.values)


def xiangqi_board(text: str) -> XiangqiBoard:
    """The transcription's board."""
    return XiangqiBoard(game_named("xiangqi").position(text), piece_values())


@cache
def xqwizard_transcribed(text: str, depth: int) -> tuple[Iteration, ...]:
    """The transcription's iterations."""
    return tuple(XqwizardLight(xiangqi_board(text)).search_main(depth))


@pytest.mark.integration
def test_xqwlight_is_the_texts_search_main() -> None:
    # No new game in between: the history is empty before each search anyway.
    engine = engine_of("xqwlight-0.3", "xiangqi")
    assert len(xiangqi_positions()) >= 40
    mates = []
    for text, depth in xiangqi_positions():
        assert xiangqi_board(text).static() == engine.static_score(engine.game.position(text)), text
        expected = xqwizard_transcribed(text, depth)
        result, iterations = engine_search(engine, text, depth)
        assert iterations == list(expected), text
        last = expected[-1]
        found = (result.nodes, result.score, result.move, result.principal_variation)
        assert found == (last.nodes, last.score, last.line[0], last.line), text
        if result.ended_by == "mate":
            mates.append(result.score)
    assert len(mates) >= 8
    assert min(mates) < 0 < max(mates)


@pytest.mark.integration
def test_a_part_of_an_iteration_counts_only_once_the_best_move_before_was_searched_too() -> None:
    """The order is not by the last results: what comes before that move may be worse, however well it does."""
    engine = engine_of("xqwlight-0.3", "xiangqi", (("keep_partial_iteration", True),))
    assert engine.parameters["root_order"] == "as_nodes"
    kept = thrown_away = 0
    for text, depth in xiangqi_positions()[::3]:
        iterations = xqwizard_transcribed(text, depth)
        if len(iterations) < 2 or abs(iterations[-1].score) >= MATE_BOUND:
            continue
        before, after = iterations[-2:]
        for tenths in range(1, 10, 2):
            nodes = before.nodes + (after.nodes - before.nodes) * tenths // 10
            found = engine.search(engine.game.position(text), Limits(nodes=nodes))
            if found.move == before.line[0]:
                thrown_away += 1
                continue
            kept += 1
            values = [
                -engine.search(engine.game.position(text, [move]), Limits(depth=after.depth - 1)).score
                for move in (found.move, before.line[0])
                if move is not None
            ]
            assert values[0] == found.score
            assert values[0] > values[1], (text, nodes)
    assert kept >= 5
    assert thrown_away >= 5


# What the comparisons would notice


@pytest.mark.integration
@pytest.mark.parametrize(
    ("name", "value"),
    [("mtdf_guess", "zero"), ("hash_move", False), ("min_depth", 2), ("fail_soft", False)],
)
def test_mtdf_with_another_setting_is_not_the_texts(name: str, value: Value) -> None:
    engine = engine_of("othello-mtdf", "othello", (*LARGE_TABLE, (name, value)))
    different = 0
    for text, depth in othello_positions()[:30:5]:
        engine.new_game()
        nodes = engine_search(engine, text, depth)[0].nodes
        different += nodes != mtdf_transcribed(text, depth)[-1].nodes
    assert different


@pytest.mark.integration
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("history_weight", 1),
        ("history_record", "cutoff"),
        ("history_index", "from_to_side"),
        ("history_captures", False),
        ("history_decay", "keep"),
        ("root_order", "best_first"),
        ("aspiration", "full"),
        ("check_extension", True),
        ("quiescence", True),
    ],
)
def test_xqwlight_with_another_setting_is_not_the_texts(name: str, value: Value) -> None:
    engine = engine_of("xqwlight-0.3", "xiangqi", ((name, value),))
    different = 0
    for text, depth in xiangqi_positions():
        different += engine_search(engine, text, depth)[0].nodes != xqwizard_transcribed(text, depth)[-1].nodes
    assert different


# Chess

CHESS_POSITIONS = (
    "r1bqkb1r/pppp1ppp/2n2n2/4p3/2B1P3/5N2/PPPP1PPP/RNBQ1RK1 b kq - 5 4",
    "r2q1rk1/ppp2ppp/2npbn2/2b1p3/4P3/2PP1N2/PPBN1PPP/R1BQ1RK1 w - - 4 9",
    "rnbqkbnr/ppp2ppp/8/3pp3/3PP3/8/PPP2PPP/RNBQKBNR w KQkq - 0 3",
    "8/pp3k2/2p2p1p/3p1Pp1/1P1P2P1/P1P1K3/8/8 w - g6 0 40",
    "6k1/1P3ppp/8/8/8/2p5/5PPP/6K1 w - - 0 1",
    "3r2k1/pp3pp1/2n4p/8/3P4/2N1PN2/PP3PPP/3R2K1 b - - 0 20",
)
"""Positions without mates in reach, one with an en passant capture and one with promotions."""
PLAINEST: Overrides = (
    ("hash_mb", 0), ("killers", 0), ("capture_order", "none"), ("quiescence", False), ("root_order", "as_nodes"),
)  # fmt: skip
"""The text is silent on all this."""


@cache
def moreland_transcribed(text: str, depth: int) -> tuple[Iteration, ...]:
    """The transcription's iterations."""
    engine = engine_of("moreland", "chess", PLAINEST)
    position = engine.game.position(text)
    engine.game.kernels.prepare(position.state, to_record(engine.parameters))
    values = [[int(at_start(int(value))) for value in row] for row in position.state.values[:6]]
    return tuple(Moreland(ChessBoard(position, values)).iterations(depth))


@pytest.mark.integration
def test_moreland_is_the_texts_loop_over_a_window() -> None:
    engine = engine_of("moreland", "chess", PLAINEST)
    missed = 0
    for text in CHESS_POSITIONS:
        engine.new_game()
        expected = moreland_transcribed(text, 3)
        result, iterations = engine_search(engine, text, 3)
        assert iterations == list(expected), text
        assert (result.nodes, result.score) == (expected[-1].nodes, expected[-1].score), text
        missed += result.counters["windows_missed"]
    assert missed


@pytest.mark.integration
@pytest.mark.parametrize(
    ("name", "value"),
    [("aspiration", "off"), ("aspiration_window", 30), ("history_captures", True), ("history_weight", 1)],
)
def test_moreland_with_another_setting_is_not_the_texts(name: str, value: Value) -> None:
    engine = engine_of("moreland", "chess", (*PLAINEST, (name, value)))
    different = 0
    for text in CHESS_POSITIONS:
        engine.new_game()
        different += engine_search(engine, text, 3)[0].nodes != moreland_transcribed(text, 3)[-1].nodes
    assert different
