"""The GTP player: the protocol by scripted dialogues, the player against mock engines and real ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elolab.arena.play.tournament_run import prepare
from elolab.arena.players.player import GameStopped, PlayerClock, PlayerFault
from elolab.arena.players.process import find_program
from elolab.arena.players.registry import PlayerError, check_player
from elolab.arena.protocols.gtp import (
    MAX_ANSWER,
    GtpAnswer,
    GtpClient,
    GtpPlayer,
    play_command,
    read_move,
    time_left_command,
    time_settings_command,
)
from elolab.arena.records import Opening, PlayerSpec
from elolab.arena.tournament_reader import spec_from_mapping
from elolab.engine.engine import StopFlag
from elolab.engine.errors import UserError
from elolab.engine.games import game_named
from elolab.engine.settings.limits import Limits
from tests.support.othello_match import (
    PASS_NEXT,
    START,
    builtin,
    final_text,
    mock_spec,
    own_engine,
    play_one,
    playing,
    with_keys,
)

# --- Lines ------------------------------------------------------------------------------------------------------------


def heard(session: GtpClient, script: str) -> list[str]:
    """Let the engine say some lines; the commands that were answered."""
    return [command for command in map(session.receive, script.splitlines()) if command]


def test_answers_are_told_apart_by_their_numbers() -> None:
    session = GtpClient()
    assert session.is_idle
    assert session.ask("name", "list_commands") == ["1 name", "2 list_commands"]
    assert heard(session, "=1 GTP GRhino\n\n=2 play\ngenmove\n\n") == ["name", "list_commands"]
    assert session.is_idle
    assert session.answers == [GtpAnswer("name", True, "GTP GRhino"), GtpAnswer("list_commands", True, "play\ngenmove")]
    assert session.ask("genmove b") == ["3 genmove b"]
    assert heard(session, "=2 A1\n\n=4 A2\n\nhello\n?3 cannot\n") == []
    assert not session.is_idle
    assert heard(session, "\n") == ["genmove b"]
    assert session.answers == [GtpAnswer("genmove b", False, "cannot")]
    assert session.unexpected == 2


def test_answers_without_numbers_come_in_order() -> None:
    session = GtpClient()
    session.ask("name", "genmove w")
    assert heard(session, "= Mock\n\n\n\n=D3\n\n") == ["name", "genmove w"]
    assert [answer.text for answer in session.answers] == ["Mock", "D3"]
    assert heard(session, "= E3\n\n") == []
    assert session.unexpected == 1


def test_an_endless_answer_takes_no_endless_memory() -> None:
    session = GtpClient()
    session.ask("list_commands")
    heard(session, "=1\n" + "x\n" * (2 * MAX_ANSWER))
    assert not session.is_idle
    heard(session, "\n")
    assert len(session.answers[0].text.splitlines()) <= MAX_ANSWER


@given(st.lists(st.text(max_size=20), max_size=10))
def test_no_text_upsets_the_session(lines: list[str]) -> None:
    session = GtpClient()
    session.ask("genmove b")
    for line in lines:
        session.receive(line)
        read_move(line)


@pytest.mark.parametrize(
    ("text", "move"),
    [("D3", "d3"), (" h8 ", "h8"), ("PASS", "pass"), ("resign", "resign"), ("", None), ("i9", None), ("d3 d4", None)],
)
def test_moves(text: str, move: str | None) -> None:
    assert read_move(text) == move


def test_play_commands() -> None:
    assert [play_command("d3", 0), play_command("pass", 1)] == ["play b D3", "play w pass"]


@pytest.mark.parametrize(
    ("limit", "clock", "settings", "left"),
    [
        ("clock=60", PlayerClock(41_900_000_000, 0, None, 0, 0), "time_settings 60 0 0", "time_left w 41 0"),
        ("clock=60+0.5", PlayerClock(999_000_000, 500, None, 0, 0), "time_settings 60 0 0", "time_left w 0 0"),
        ("clock=20/30", PlayerClock(9_000_000_000, 0, None, 0, 7), "time_settings 0 30 20", "time_left w 9 7"),
        ("move_time=2", None, "time_settings 0 2 1", "time_left w 2 1"),
    ],
)
def test_clocks(limit: str, clock: PlayerClock | None, settings: str, left: str) -> None:
    limits = Limits.parse(limit)
    assert time_settings_command(limits) == settings
    assert time_left_command(limits, clock, 1) == left


def test_no_clock() -> None:
    assert time_settings_command(Limits()) is None
    assert time_left_command(Limits(), None, 0) is None


# --- Specifications ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"limits": Limits(depth=4)}, "limit = 'depth=4', but GTP has no limit by .* set its level .* limit = \"own\""),
        ({"limits": Limits(nodes=9, clock_ms=1000)}, "GTP has no limit by depth or nodes"),
        ({"limits": Limits(clock_ms=9000, move_time_ms=1000)}, "not both"),
        ({"limits": Limits(move_time_ms=100)}, "limit = 'move_time=0.1', but GTP counts whole seconds"),
        ({"limits": Limits(clock_ms=1500)}, "whole seconds"),
        ({"limits": Limits(clock_ms=9000, clock_kind="cpu")}, "cannot play on the cpu clock"),
        ({"options": (("Hash", "1"),)}, "options are UCI's, and GTP has none; give commands"),
        ({"gtp_passes": "sent"}, "gtp_passes = 'sent', expected send or omit"),
        ({"commands": ("level 3\nquit",)}, "commands: .* is no GTP command"),
        ({"commands": ("",)}, "commands: '' is no GTP command"),
        ({"ponder": True}, "ponder = true, but gtp has no pondering"),
        ({"command": ()}, "command is missing"),
        ({"watchdog_ms": 0}, "watchdog_ms = 0"),
    ],
)
def test_what_gtp_cannot_express_is_refused(changes: dict[str, Any], text: str) -> None:
    with pytest.raises(PlayerError, match=text) as caught:
        check_player(with_keys(mock_spec("gtp"), **changes), "othello", "cup.toml")
    assert str(caught.value).startswith("cup.toml: player 'mock good'")


def test_a_game_the_protocol_does_not_know() -> None:
    with pytest.raises(PlayerError, match="xiangqi cannot be played over gtp, only othello can; for xiangqi use uci"):
        check_player(mock_spec("gtp"), "xiangqi")


def test_limits_and_passes_that_are_fine() -> None:
    for changes in ({}, {"limits": Limits.parse("clock=10+0.1")}, {"gtp_passes": "omit", "commands": ("level 3",)}):
        check_player(with_keys(mock_spec("gtp"), **changes), "othello")  # type: ignore[arg-type]


# --- Games ------------------------------------------------------------------------------------------------------------

TOLD = mock_spec("gtp", settings={"passes": "told"})
ITSELF = mock_spec("gtp", settings={"passes": "itself"}, gtp_passes="omit", name="mock itself")


@pytest.mark.integration
@pytest.mark.parametrize("black", [TOLD, ITSELF])
@pytest.mark.parametrize("white", [TOLD, ITSELF])
def test_games_with_passes_between_engines_of_both_kinds(black: PlayerSpec, white: PlayerSpec) -> None:
    """Each mock engine keeps the board by rules of its own, and refuses what it holds to be illegal."""
    white = replace(white, name="white")
    with playing(black, white) as play:
        record = play(PASS_NEXT)
        assert record.reason == "final_score", record.detail
        assert record.moves[0].move == "pass"
        assert final_text(record) == record.final_position
        second = play(Opening(START))
        assert second.reason == "final_score", second.detail
        says = [" ".join(dialogue()) for dialogue in play.dialogues]
    for spec, said in zip((black, white), says, strict=True):
        assert ("pass" in said) is (spec.protocol_key("gtp_passes", "send") == "send")


def test_an_opening_given_as_a_position_is_told_in_moves() -> None:
    opening = Opening("----OX------OX-----XO------XO-----XXOX---X--O------------------- X")
    with playing(TOLD, replace(ITSELF, name="white")) as play:
        record = play(opening)
        said = play.dialogues[0]()
    assert record.reason == "final_score", record.detail
    assert len([line for line in said if " play " in line]) >= 10


def test_an_opening_that_no_moves_lead_to() -> None:
    board = "X--------------------------OX------XO-----------------------OO-- X"
    record = play_one(TOLD, replace(ITSELF, name="white"), Opening(board))
    assert (record.result, record.reason) == ("*", "startup_failure")
    assert "was not reached by moves from the start of the game" in record.detail["fault"]["text"]


def test_a_suite_that_gtp_cannot_play_is_refused_before_anything_is_played(tmp_path: Path) -> None:
    suite = tmp_path / "mine.epd"
    suite.write_text("X--------------------------OX------XO-----------------------OO-- X\n")
    rhino = {"name": "rhino", "protocol": "gtp", "command": "x", "limit": "own"}
    data = {"game": "othello", "pairs": 1, "limit": "depth=1", "openings": str(suite)}
    prepare(spec_from_mapping(data | {"players": [{}, {"name": "other"}]}, "cup.toml"))
    with pytest.raises(UserError, match=r"cup\.toml: player 'rhino': the opening .* use openings of fewer discs"):
        prepare(spec_from_mapping(data | {"players": [{}, rhino]}, "cup.toml"))


@pytest.mark.integration
def test_own_commands_and_engines_of_little_manners() -> None:
    for mode, settings, commands in (
        ("good", {"numbers": "no"}, ("level 3",)),
        ("chatter", {}, ()),
        ("twice", {}, ()),
        ("shy", {}, ()),
    ):
        spec = mock_spec("gtp", mode, settings=settings, commands=commands)
        record = play_one(spec, replace(TOLD, name="white"))
        assert record.reason == "final_score", (mode, record.detail)


def test_clocks_are_told_and_kept() -> None:
    spec = replace(TOLD, limits=Limits.parse("clock=30+1"), name="timed")
    with playing(spec, ITSELF) as play:
        record = play(Opening(START))
        said = "\n".join(play.dialogues[0]())
    assert record.reason == "final_score", record.detail
    assert "time_left b 6" in said  # thirty seconds, and one more for each of the moves so far
    with playing(mock_spec("gtp", "shy", Limits.parse("clock=30+1")), ITSELF) as play:
        record = play(Opening(START))
        said = "\n".join(play.dialogues[0]())
    assert record.reason == "final_score", record.detail
    assert said.count("time_left b") <= 1, "after the first refusal it is not told again"


def test_a_resignation_is_no_fault() -> None:
    record = play_one(mock_spec("gtp", "resign"), TOLD, Opening(START))
    assert (record.result, record.reason, record.detail) == ("0-1", "resignation", {})
    assert len(record.moves) == 2


@pytest.mark.integration
@pytest.mark.parametrize(
    ("mode", "changes", "reason", "text"),
    [
        ("none", {}, "no_move", "answered '? I would rather not' to 'genmove b'"),
        ("pass", {}, "no_move", "answered '= PASS', though it had legal moves; asked again, it answered"),
        ("endless_answer", {"watchdog_ms": 300}, "no_answer", "watchdog"),
    ],
)
def test_answers_that_lose_the_game(mode: str, changes: dict[str, Any], reason: str, text: str) -> None:
    record = play_one(mock_spec("gtp", mode, **changes), TOLD, Opening(START))
    assert (record.result, record.reason) == ("0-1", reason), record.detail
    assert text in record.detail["fault"]["text"]


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        (mock_spec("gtp", "wrong_size"), "answered '? unacceptable size' to 'boardsize 8'"),
        (mock_spec("gtp", commands=("level 9",)), "answered '? no such level' to 'level 9'"),
        (mock_spec("gtp", "timeless", Limits(move_time_ms=1000)), "does not know time_settings"),
        (mock_spec("gtp", command=("no-such-engine",)), "no such program"),
        (
            mock_spec("gtp", settings={"passes": "itself"}),
            "answered '? syntax error' to 'play b pass'; if the program passes by itself, give gtp_passes = \"omit\"",
        ),
    ],
)
def test_failures_to_start(spec: PlayerSpec, text: str) -> None:
    opening = Opening(START, (*PASS_NEXT.moves, "pass"))
    record = play_one(spec, replace(TOLD, name="white"), opening)
    assert (record.result, record.reason) == ("*", "startup_failure")
    assert text in record.detail["fault"]["text"]


def test_the_stop_flag_interrupts_a_search() -> None:
    player = GtpPlayer(mock_spec("gtp", "hang", settings={"at": 1}), "othello")
    try:
        player.new_game(Opening(START), StopFlag())
        stop = StopFlag()
        stop.set()
        with pytest.raises(GameStopped):
            player.move(game_named("othello").position(), [], None, stop)
        player.new_game(Opening(START), StopFlag())  # it is of use again, in a process of its own
    finally:
        player.close()


def test_a_player_that_was_not_started_cannot_move() -> None:
    with pytest.raises(PlayerFault, match="is not running"):
        GtpPlayer(TOLD, "othello").move(game_named("othello").position(), [], None, StopFlag())


# --- Real engines -----------------------------------------------------------------------------------------------------


@pytest.mark.integration
@pytest.mark.parametrize("passes", ["send", "omit"])
def test_over_gtp_it_plays_as_it_does_built_in(passes: str) -> None:
    """Against itself, from an opening with a pass, told of passes or not: the same moves."""
    expected = play_one(builtin("a"), builtin("b"))
    with playing(own_engine("gtp", gtp_passes=passes), builtin()) as play:
        for swapped in (False, True):
            record = play(swapped=swapped)
            assert record.reason == "final_score", record.detail
            assert [move.move for move in record.moves] == [move.move for move in expected.moves]


@pytest.mark.integration
def test_a_game_against_rhino() -> None:
    try:
        find_program(("gtp-rhino",), None)
    except PlayerFault:
        pytest.skip("gtp-rhino is not installed (Debian's package grhino)")
    rhino = PlayerSpec("rhino", "gtp", Limits(), command=("gtp-rhino", "--level", "1"))
    rhino = with_keys(rhino, gtp_passes="omit")
    with playing(rhino, builtin()) as play:
        for opening in (PASS_NEXT, Opening("----OX------OX-----XO------XO-----XXOX---X--O------------------- X")):
            record = play(opening)
            assert record.reason == "final_score", record.detail
            assert final_text(record) == record.final_position
