"""The examination: well-behaved programs keep to their protocols, and every vice fails the line that is about it."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from elolab.arena.checking.checks import CHECKS, chosen
from elolab.arena.checking.dialects import DIALECTS, dialect_named
from elolab.arena.checking.examination import CheckOutcome, Examination
from elolab.arena.checking.findings import CheckSettings
from elolab.arena.checking.outcome_text import mark_of
from elolab.engine.games import game_named
from tests.support.xiangqi_match import need_program

ROOT = Path(__file__).parents[3]
SUPPORT = ROOT / "tests" / "support"
SETTINGS = CheckSettings(
    "xiangqi", "uci", (), margin_ms=250, timeout_ms=5_000, quiet_ms=30, ending_ms=2_000, stop_ms=2_000, move_time_ms=60,
    clock_ms=300, game_moves=8, nodes=5_000, repetitions=2,
)  # fmt: skip
IMPATIENT = {"timeout_ms": 400, "stop_ms": 300, "ending_ms": 300}
"""For programs that will not do what is waited for."""


def patience(check: str, says: str) -> dict[str, int]:
    """Little where something will not come, which has to be waited for in vain; the start only if it is that."""
    if says not in ("no_answer", "silent", "lingers"):
        return {}
    return IMPATIENT | ({"start_ms": 1_000} if check in ("handshake", "ready", "ready_while_thinking") else {})


def mock(protocol: str, vice: str = "none", **changes: int) -> CheckSettings:
    program = SUPPORT / "mock_examined_engine.py"
    command = (sys.executable, "-I", "-S", str(program), vice, f"protocol={protocol}")
    return replace(SETTINGS, protocol=protocol, command=command, **changes)


def othello_mock(protocol: str, mode: str = "good", **changes: int) -> CheckSettings:
    program = SUPPORT / "mock_othello_engines.py"
    command = (sys.executable, "-I", "-S", str(program), mode, f"protocol={protocol}", "at=1")
    return replace(SETTINGS, game="othello", protocol=protocol, command=command, **changes)


def examine(settings: CheckSettings, *names: str) -> dict[str, CheckOutcome]:
    """The outcomes of all checks, or of those named and what they need."""
    examination = Examination(settings, chosen(names or None))
    try:
        return {outcome.check.name: outcome for outcome in examination.run()}
    finally:
        examination.close()


def failures(outcomes: dict[str, CheckOutcome]) -> dict[str, str]:
    """The message of every failed check."""
    return {name: one.remark.key for name, one in outcomes.items() if one.verdict == "failed" and one.remark}


@pytest.mark.integration
@pytest.mark.parametrize(
    "protocol",
    ["uci", "ucicyclone", "ucci", "xboard"],
)
def test_a_program_without_vices_keeps_to_its_protocol(protocol: str) -> None:
    outcomes = examine(mock(protocol))
    assert failures(outcomes) == {}
    skipped = {name for name, outcome in outcomes.items() if outcome.verdict == "skipped"}
    lacking = {
        "uci": {"banned_moves"},
        "ucicyclone": {"banned_moves"},
        "ucci": set(),
        "xboard": {"banned_moves", "start_word", "nodes", "variations", "ready_while_thinking"},
    }
    assert skipped == {"must_pass"} | lacking[protocol]
    assert list(outcomes) == [check.name for check in CHECKS]


@pytest.mark.integration
@pytest.mark.parametrize("manner", ["prefers_depth", "draws_after_120_plies"])
def test_nor_is_it_blamed_for_a_depth_told_earlier_or_for_the_usual_draw(manner: str) -> None:
    outcomes = examine(mock("xboard", manner, **IMPATIENT), "low_clock", "quiet_plies", "stop", "ponder_hit")
    assert {outcome.verdict for outcome in outcomes.values()} == {"passed"}


@pytest.mark.integration
def test_a_program_without_a_depth_limit_gets_a_time_from_its_first_search_on() -> None:
    outcomes = examine(mock("xboard", "knows_no_depth", **IMPATIENT), "depth", "told_moves", "quiet_plies")
    assert failures(outcomes) == {}
    assert {name for name, outcome in outcomes.items() if outcome.verdict == "skipped"} == {"depth"}


CASTLES = """
while read -r command number; do case "$command" in
    protover) echo 'feature ping=1 setboard=1 usermove=1 done=1';;
    ping) echo "pong $number";;
    go) echo 'move O-O';;
esac; done
"""


def test_castling_may_be_written_with_letters_over_xboard() -> None:
    settings = replace(SETTINGS, game="chess", protocol="xboard", command=("sh", "-c", CASTLES))
    examination = Examination(settings, ())
    try:
        examination.start()
        for position in ("4k3/8/8/8/8/8/8/4K2R w K - 0 1", "4k2r/8/8/8/8/8/8/4K3 b k - 0 1"):
            answer = examination.search(game_named("chess").position(position))
            assert answer.move in ("e1g1", "e8g8")
    finally:
        examination.close()


@pytest.mark.integration
def test_so_does_a_program_that_plays_othello_over_gtp() -> None:
    outcomes = examine(othello_mock("gtp", clock_ms=100))
    assert failures(outcomes) == {}
    passed = {name for name, outcome in outcomes.items() if outcome.verdict == "passed"}
    assert passed >= {"must_pass", "told_moves", "endgame", "checkmate", "garbage", "clock_game", "illegal_move"}


@pytest.mark.integration
def test_a_program_over_nboard_that_says_the_same_whatever_it_was_told_fails_that_alone() -> None:
    outcomes = examine(othello_mock("nboard"))
    assert failures(outcomes) == {
        "name": "failure.no_name",
        "depth": "failure.depth",
        "variations": "failure.variation",
        "stop": "failure.early",
    }


def test_a_second_answer_is_told_before_what_comes_of_it() -> None:
    names = [check.name for check in CHECKS]
    taken_for_the_next = ("told_moves", "described", "only_move", "long_game", "stalemate", "moves_to_go")
    assert all(names.index("single_answer") < names.index(name) for name in taken_for_the_next)


VICES = [
    ("uci", "exits_at_start", "handshake", "ended"),
    ("uci", "silent", "handshake", "silent"),
    ("uci", "never_ready", "ready", "no_answer"),
    ("uci", "nameless", "name", "no_name"),
    ("uci", "announces_nonsense", "options", "option_default"),
    ("uci", "says_1_counts_0", "ranks", "ranks"),
    ("ucicyclone", "counts_1", "ranks", "ranks"),
    ("uci", "knows_no_startpos", "start_word", "illegal_move"),
    ("uci", "ignores_moves", "told_moves", "illegal_move"),
    ("uci", "ignores_descriptions", "described", "illegal_move"),
    ("uci", "overlooks_checks", "in_check", "illegal_move"),
    ("uci", "overlooks_the_only_move", "only_move", "no_move"),
    ("uci", "has_short_buffer", "long_game", "illegal_move"),
    ("uci", "fails_in_repetitions", "repeated", "no_move"),
    ("uci", "counts_100_plies", "quiet_plies", "quiet_plies"),
    ("ucci", "counts_100_plies", "quiet_plies", "quiet_plies"),
    ("ucci", "ignores_bans", "banned_moves", "banned_move"),
    ("uci", "moves_after_mate", "checkmate", "moved_after_end"),
    ("ucci", "moves_after_stalemate", "stalemate", "moved_after_end"),
    ("uci", "searches_too_deep", "depth", "depth"),
    ("xboard", "searches_too_deep", "depth", "depth"),
    ("uci", "searches_too_much", "nodes", "nodes"),
    ("uci", "late_by_move_time", "move_time", "late"),
    ("uci", "late_by_low_clock", "low_clock", "late"),
    ("uci", "wastes_its_control", "moves_to_go", "late"),
    ("uci", "loses_on_time", "clock_game", "late"),
    ("uci", "cannot_count", "information", "information"),
    ("uci", "says_nothing", "reported", "not_reported"),
    ("ucci", "invents_variations", "variations", "variation"),
    ("uci", "answers_twice", "single_answer", "again"),
    ("xboard", "answers_twice", "single_answer", "again"),
    ("uci", "ignores_stop", "stop", "no_answer"),
    ("uci", "answers_before_stop", "stop", "early"),
    ("uci", "ignores_second_stop", "stop_at_once", "no_answer"),
    ("ucci", "answers_idle_stops", "stop_while_idle", "unasked"),
    ("uci", "not_ready_while_thinking", "ready_while_thinking", "no_answer"),
    ("ucci", "answers_before_ponderhit", "ponder_hit", "early"),
    ("uci", "ignores_ponderhit", "ponder_hit", "late"),
    ("uci", "ignores_stop", "ponder_miss", "no_answer"),
    ("uci", "busy", "idle", "busy"),
    ("uci", "dies_of_style", "default_options", "ended"),
    ("ucci", "dies_of_memory", "memory_option", "ended"),
    ("uci", "dies_of_threads", "threads_option", "ended"),
    ("ucci", "dies_of_unknown_options", "unknown_option", "ended"),
    ("uci", "dies_of_garbage", "garbage", "ended"),
    ("uci", "dies_of_empty_lines", "empty_lines", "ended"),
    ("uci", "dies_of_carriage_returns", "line_ends", "ended"),
    ("uci", "dies_of_illegal_positions", "illegal_position", "ended"),
    ("xboard", "dies_of_illegal_moves", "illegal_move", "ended"),
    ("uci", "dies_of_new_games", "new_game", "ended"),
    ("uci", "leaks", "memory", "memory"),
    ("uci", "ignores_quit", "quit", "lingers"),
    ("ucci", "ignores_quit_while_thinking", "quit_while_thinking", "lingers"),
    ("uci", "ignores_end_of_input", "end_of_input", "lingers"),
    ("uci", "ignores_end_of_input_while_thinking", "end_of_input_while_thinking", "lingers"),
    ("uci", "leaves_child", "nobody_left", "children"),
]
"""The protocol, the vice, the check that has to fail and what it has to say."""


@pytest.mark.integration
@pytest.mark.parametrize(
    ("protocol", "vice", "check", "says"),
    [
        pytest.param(*vice, marks=[] if place % 3 == 1 else [pytest.mark.integration])
        for place, vice in enumerate(VICES)
    ],
)
def test_every_vice_fails_its_line_alone(protocol: str, vice: str, check: str, says: str) -> None:
    more = {"repetitions": 8} if check in ("told_moves", "described") else {}
    outcomes = examine(mock(protocol, vice, **patience(check, says), **more), check)
    assert failures(outcomes) == {check: f"failure.{says}"}


@pytest.mark.parametrize(
    ("protocol", "demands"), [("uci", False), ("ucicyclone", False), ("ucci", False), ("xboard", False), ("gtp", True)]
)
def test_only_gtp_demands_an_answer_to_what_is_not_legal(protocol: str, demands: bool) -> None:
    """Others leave open what an engine does then, and one that ends has not failed."""
    checks = {"illegal_position", "illegal_move"}
    assert dialect_named(protocol).recommendations.isdisjoint(checks) == demands
    assert demands or dialect_named(protocol).recommendations >= checks


def test_every_check_is_failed_by_some_vice() -> None:
    shown_by_othello = {"must_pass"}
    shown_by_others = {"start_position", "endgame"}  # any illegal move fails them
    assert {check for _, _, check, _ in VICES} == {check.name for check in CHECKS} - shown_by_othello - shown_by_others


def other_mock(program: str, *words: str, **changes: Any) -> CheckSettings:
    return replace(SETTINGS, command=(sys.executable, "-I", "-S", str(SUPPORT / program), *words), **changes)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "check", "says"),
    [
        ("exit_at_start", "handshake", "ended"),
        ("silent", "handshake", "silent"),
        ("exit", "start_position", "ended"),
        ("segfault", "start_position", "ended"),
        ("illegal", "start_position", "illegal_move"),
        ("garbage", "start_position", "no_move"),
        ("empty", "start_position", "no_move"),
        ("none", "start_position", "no_move"),
        ("hang", "start_position", "no_answer"),
        ("until_stop", "start_position", "no_answer"),
        ("info_flood", "start_position", "no_answer"),
        ("byte_flood", "start_position", "no_answer"),
        ("late", "start_position", "no_answer"),
        ("twice", "single_answer", "again"),
        ("leave", "single_answer", "ended"),
        ("deaf", "quit", "lingers"),
        ("immortal", "quit", "lingers"),
        ("child_holds_pipe", "nobody_left", "children"),
    ],
)
def test_the_mocks_of_players_over_uci_fail_where_they_misbehave(
    mode: str, check: str, says: str, tmp_path: Path
) -> None:
    """The second search is the one that they misbehave in: the first finds out the ranks."""
    at = {"child_holds_pipe": 99, "twice": 3, "deaf": 3}.get(mode, 2)
    words = (mode, f"at={at}", "seconds=5", f"file={tmp_path / 'notes'}")
    settings = other_mock("mock_engines.py", *words, **patience(check, says))
    assert failures(examine(settings, check)) == {check: f"failure.{says}"}


@pytest.mark.slow
@pytest.mark.parametrize(("protocol", "mode", "check", "says"), [
    ("ucci", "none", "start_position", "no_move"),
    ("ucci", "garbage", "start_position", "no_move"),
    ("xboard", "no_features", "handshake", "silent"),
    ("xboard", "claims_draw", "start_position", "no_move"),
    ("xboard", "illegal", "start_position", "illegal_move"),
    ("xboard", "hang", "start_position", "no_answer"),
])  # fmt: skip
def test_so_do_those_of_players_over_ucci_and_xboard(protocol: str, mode: str, check: str, says: str) -> None:
    settings = other_mock("mock_xiangqi_engines.py", mode, f"protocol={protocol}", "at=2", protocol=protocol,
                          **patience(check, says))  # fmt: skip
    assert failures(examine(settings, check)) == {check: f"failure.{says}"}


@pytest.mark.slow
@pytest.mark.parametrize(("protocol", "mode", "check", "says"), [
    ("gtp", "silent", "handshake", "silent"),
    ("gtp", "wrong_size", "start_position", "refused"),
    ("gtp", "exit", "start_position", "ended"),
    ("gtp", "illegal", "start_position", "illegal_move"),
    ("gtp", "garbage", "start_position", "no_move"),
    ("gtp", "endless_answer", "start_position", "no_answer"),
    ("gtp", "twice", "single_answer", "again"),
    ("nboard", "illegal", "start_position", "illegal_move"),
    ("nboard", "empty", "start_position", "no_move"),
    ("nboard", "info_flood", "start_position", "no_answer"),
    ("nboard", "twice", "single_answer", "again"),
])  # fmt: skip
def test_so_do_those_of_players_of_othello(protocol: str, mode: str, check: str, says: str) -> None:
    words = (mode, f"protocol={protocol}", "at=1")
    settings = other_mock("mock_othello_engines.py", *words, protocol=protocol, game="othello", **patience(check, says))
    assert failures(examine(settings, check)) == {check: f"failure.{says}"}


REAL = [
    ("uci", ("fairy-stockfish",), (), set()),
    ("ucci", ("fairy-stockfish",), (), set()),
    ("xboard", ("fairy-stockfish",), (), set()),
    ("ucicyclone", ("fairy-stockfish",), (), {"ranks"}),  # as it counts them over UCI, from 1
    ("xboard", ("maxqi",), (), set()),
    ("xboard", ("hoixiangqi",), (), set()),
    ("gtp", ("gtp-rhino", "--level", "1"), (("gtp_passes", "omit"),), set()),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("protocol", "command", "options", "fails"), REAL, ids=lambda value: str(value)[:40])
def test_engines_of_others(
    protocol: str, command: tuple[str, ...], options: tuple[tuple[str, str], ...], fails: set[str]
) -> None:
    """What is demanded of all programs; how well they keep their time depends on the machine."""
    need_program(command[0])
    game = "othello" if protocol == "gtp" else "xiangqi"
    settings = CheckSettings(game, protocol, command, options=options, margin_ms=2_000)
    untimed = [check.name for check in CHECKS if check.name not in ("clock_game", "moves_to_go")]
    outcomes = examine(settings, *untimed)
    failed = {name for name, one in outcomes.items() if mark_of(one) == "failed"}
    assert failed == fails


@pytest.mark.slow
@pytest.mark.parametrize("protocol", DIALECTS)
def test_our_engine_over_all_its_protocols(protocol: str) -> None:
    """The times for stopping and ending are those of a busy machine; its endless searches take ten minutes."""
    game = "othello" if protocol in ("gtp", "nboard") else "xiangqi"
    program = (sys.executable, str(ROOT / "elolab"), "engine", "--protocol", protocol, "--game", game)
    settings = CheckSettings(
        game, protocol, program, margin_ms=2_000, start_ms=600_000, stop_ms=10_000, ending_ms=10_000, quiet_ms=100,
        game_moves=20, clock_ms=500,
    )  # fmt: skip
    assert failures(examine(settings)) == {}
