"""The UCCI player: lines and dialogues without a process, games against mock engines, and against real ones."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elolab.arena.players.announced_options import AnnouncedOption
from elolab.arena.players.player import PlayerClock, PlayerFault
from elolab.arena.players.registry import PlayerError, check_player
from elolab.arena.protocols.ucci import (
    UcciClient,
    UcciGameLine,
    go_command,
    moves_that_lose,
    option_commands,
    parse_information,
    parse_option,
)
from elolab.arena.records import Opening, PlayerSpec
from elolab.arena.tournament_reader import spec_from_mapping
from elolab.engine.engine import StopFlag
from elolab.engine.games import game_named
from elolab.engine.rules import Adjudication, Rules
from elolab.engine.settings.limits import Limits
from elolab.engine.values import MATE
from tests.support.xiangqi_match import (
    AFTER_CAPTURES,
    START,
    assert_same_games,
    builtin,
    mock_spec,
    need_program,
    play_one,
    playing,
    with_keys,
)

# --- Lines ------------------------------------------------------------------------------------------------------------

ELEPHANT_EYE = """\
id name ElephantEye 3.3
id author Morning Yellow
option usemillisec type check default true
option promotion type check default false
option hashsize type spin min 0 max 1024 default 16
option style type combo var solid var normal var risky default normal
option bookfiles type string default ../BOOK.DAT
option newgame type button
option copyright type label
ucciok"""


def introduced(text: str = ELEPHANT_EYE) -> UcciClient:
    session = UcciClient()
    assert session.hello() == ["ucci"]
    for line in text.splitlines():
        session.receive(line)
    assert session.is_idle
    return session


def test_options_as_engines_announce_them() -> None:
    session = introduced()
    assert session.engine_name == "ElephantEye 3.3"
    assert session.options["usemillisec"] == AnnouncedOption("usemillisec", "check", "true")
    assert session.options["hashsize"] == AnnouncedOption("hashsize", "spin", "16", 0, 1024)
    assert session.options["style"] == AnnouncedOption("style", "combo", "normal", choices=("solid", "normal", "risky"))
    assert session.options["bookfiles"] == AnnouncedOption("bookfiles", "string", "../BOOK.DAT")
    assert session.options["newgame"].kind == "button"
    # Fairy-Stockfish's default comes first.
    assert parse_option("option Protocol type combo default ucci var uci var ucci") == AnnouncedOption(
        "Protocol", "combo", "ucci", choices=("uci", "ucci")
    )
    assert parse_option("option") is None


def test_options_are_sent_in_the_protocol_s_own_words() -> None:
    wanted = (("HashSize", "32"), ("style", "Risky"), ("newgame", ""), ("promotion", "1"))
    assert option_commands(wanted, introduced().options) == [
        "setoption hashsize 32", "setoption style risky", "setoption newgame", "setoption promotion true",
    ]  # fmt: skip
    assert option_commands((("hidden", "7"),), {}) == ["setoption hidden 7"]
    assert option_commands((("newgame", "true"),), introduced().options) == ["setoption newgame"]
    assert option_commands((("newgame", "false"),), introduced().options) == []


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("hashsiz", "16", "the engine has no option 'hashsiz'; did you mean 'hashsize'"),
        ("hashsize", "2000", "option hashsize = '2000': expected 0 to 1024"),
        ("style", "wild", "expected solid, normal, risky"),
    ],
)
def test_options_that_the_engine_would_not_take(name: str, value: str, text: str) -> None:
    with pytest.raises(PlayerFault, match=text):
        option_commands(((name, value),), introduced().options)


@pytest.mark.parametrize(
    ("line", "score", "depth", "nodes"),
    [
        ("info depth 6 score 4 pv b0c2 b9c7", 4, 6, None),
        ("info depth 6 score -125 pv b0c2", -125, 6, None),
        ("info time 5000 nodes 5000000", None, None, 5_000_000),
        ("info depth 5 seldepth 5 multipv 1 score cp -123 nodes 1621 pv b7c7", -123, 5, 1621),
        ("info depth 5 score mate 2 pv b7c7", MATE - 3, 5, None),
        ("info depth 1 pv score 5", None, 1, None),
        ("info message score 5", None, None, None),
        (f"info depth 3 score {MATE - 5} pv a0a1", MATE - 5, 3, None),
        ("info depth 3 score 99999999999999999999999 pv a0a1", MATE, 3, None),
    ],
)
def test_information(line: str, score: int | None, depth: int | None, nodes: int | None) -> None:
    found = parse_information(line)
    assert (found.score, found.depth, found.nodes) == (score, depth, nodes)


CLOCK = PlayerClock(61_234_000_000, 1500, 59_999, 500, 0)


@pytest.mark.parametrize(
    ("limit", "clock", "unit_ms", "mode", "line"),
    [
        ("depth=7", None, 1, "", "go depth 7"),
        ("nodes=900", None, 1000, "draw", "go draw nodes 900"),
        ("move_time=2", None, 1, "", "go time 2000 movestogo 1"),
        ("move_time=2", None, 1000, "", "go time 2 movestogo 1"),
        ("clock=90+1.5", CLOCK, 1, "", "go time 61234 increment 1500 opptime 59999 oppincrement 500"),
        ("clock=90+1.5", CLOCK, 1000, "ponder", "go ponder time 61 increment 1 opptime 59 oppincrement 0"),
        ("clock=40/90", CLOCK._replace(moves_to_go=7, opponent_remaining_ms=None), 1, "", "go time 61234 movestogo 7"),
        (
            "clock=40/90",
            CLOCK._replace(moves_to_go=7, opponent_moves_to_go=8),
            1,
            "",
            "go time 61234 movestogo 7 opptime 59999 oppmovestogo 8",
        ),
        (
            "clock=90+1.5",
            CLOCK._replace(opponent_moves_to_go=8),
            1,
            "",
            "go time 61234 increment 1500 opptime 59999 oppmovestogo 8",
        ),
        ("clock=90", PlayerClock(0, 0, 0, 0, 0), 1000, "", "go time 1 increment 0 opptime 1 oppincrement 0"),
    ],
)
def test_go(limit: str, clock: PlayerClock | None, unit_ms: int, mode: str, line: str) -> None:
    assert go_command(Limits.parse(limit), clock, unit_ms, mode) == line


def test_positions_begin_after_the_last_capture() -> None:
    """The protocol's own example: two cannons, of which the second takes a pawn, and an advisor."""
    fen = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1"
    after = "rnbakabnr/9/1c2c4/p1p1C1p1p/9/9/P1P1P1P1P/1C7/9/RNBAKABNR b - - 0 2"
    line, moves = UcciGameLine(fen), ["h2e2", "h7e7", "e2e6", "d9e8"]
    assert [line.command(moves[:plies]) for plies in range(5)] == [
        f"position fen {fen}",
        f"position fen {fen} moves h2e2",
        f"position fen {fen} moves h2e2 h7e7",
        f"position fen {after}",
        f"position fen {after} moves d9e8",
    ]
    assert line.command_after(moves, "e6e8") == f"position fen {after} moves d9e8 e6e8"
    assert UcciGameLine(fen).command_after([], "h2e2") == f"position fen {fen} moves h2e2"
    assert UcciGameLine(fen).command(moves) == f"position fen {after} moves d9e8"


@given(st.data())
def test_positions_of_any_game_are_the_same_told_so(data: st.DataObject) -> None:
    game = game_named("xiangqi")
    position = game.position()
    line = UcciGameLine(position.text)
    for _ in range(data.draw(st.integers(0, 25))):
        position.push(data.draw(st.sampled_from(position.legal_moves())))
        if data.draw(st.booleans()):
            line.command(position.moves)
    fen, _, moves = line.command(position.moves).removeprefix("position fen ").partition(" moves ")
    told = game.position(fen, moves.split())
    assert told.text.split()[:2] == position.text.split()[:2]
    assert told.state.reversible == position.state.reversible


def test_moves_that_lose_by_repetition() -> None:
    """Red's rook gives check on every move; at the third occurrence Red loses, so its next check is banned."""
    game = game_named("xiangqi")
    position = game.position("4k4/9/9/9/9/9/9/9/R8/3K5 w - - 0 1")
    for move in ("a1a9", "e9e8", "a9a8", "e8e9", "a8a9", "e9e8", "a9a8", "e8e9"):
        assert moves_that_lose(position) == []
        position.push(move)
        assert position.judge(Rules()) is None
    assert moves_that_lose(position) == ["a8a9"]
    trial = position.copy()
    trial.push("a8a9")
    ending = trial.judge(Rules())
    assert ending is not None
    assert (ending.result, ending.reason) == ("0-1", "perpetual_check")
    # Where repetitions are draws nothing is banned.
    position.judge(Rules("draw"))
    assert moves_that_lose(position) == []


# --- Dialogues --------------------------------------------------------------------------------------------------------


def replay(session: UcciClient, script: str) -> list[str]:
    """Let the engine say the lines; the events they were."""
    return [event for event in (session.receive(line) for line in script.strip().splitlines()) if event]


def test_a_whole_conversation() -> None:
    session = introduced()
    assert session.synchronise("setoption newgame") == ["setoption newgame", "isready"]
    assert replay(session, "readyok") == ["readyok"]
    assert session.think("position fen F", "banmoves h6i4", "go depth 6") == [
        "position fen F", "banmoves h6i4", "go depth 6",
    ]  # fmt: skip
    script = """
info message depth 9 score 9
info time 2 nodes 50
info depth 5 score 12 pv b0c2
info time 8 nodes 5000
info depth 6 score 4 pv b0c2 b9c7
bestmove b0c2 ponder b9c7 draw"""
    assert replay(session, script) == ["bestmove"]
    found = session.information()
    assert (found.score, found.depth, found.nodes) == (4, 6, 5000)
    assert session.answer == "bestmove b0c2 ponder b9c7 draw"


def test_a_stop_that_came_too_late_is_answered_and_passed_over() -> None:
    session = introduced()
    session.think("position fen F", "go depth 6")
    assert session.stop() == ["stop", "isready"]
    assert replay(session, "bestmove b0c2\nnobestmove\nreadyok") == ["bestmove", "readyok"]
    assert session.answer == "bestmove b0c2"
    assert session.unexpected == 1


def test_an_engine_without_isready_is_forgiven_one_stray_answer() -> None:
    session = introduced()
    session.synchronise()
    session.do_without_isready()
    assert session.is_idle
    assert session.synchronise("setoption newgame") == ["setoption newgame"]
    session.think("position fen F", "go depth 6")
    assert session.stop() == ["stop"]
    assert replay(session, "bestmove b0c2") == ["bestmove"]
    assert session.is_idle
    session.think("position fen F", "go depth 6")
    assert replay(session, "nobestmove\nbestmove b0a2") == ["bestmove"]
    session.think("position fen F", "go depth 6")
    assert replay(session, "nobestmove") == ["nobestmove"]


@given(st.text(max_size=200))
def test_no_text_upsets_the_session(text: str) -> None:
    session = UcciClient()
    session.hello()
    for line in (text, f"option {text}", f"info depth 3 score {text}", f"option a type combo {text}"):
        session.receive(line)
        parse_information(line)


# --- Specifications ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"limits": Limits(depth=4, nodes=9)}, "UCCI has a depth, nodes, a time a move or a clock; give one of them"),
        ({"limits": Limits(clock_ms=9000, move_time_ms=1000)}, "give one of them"),
        ({"limits": Limits(nodes=9), "ponder": True}, "UCCI ponders on time alone"),
        ({"time_unit": "minutes"}, "time_unit = 'minutes', expected auto, milliseconds or seconds"),
        ({"moves_since": "none"}, "moves_since = 'none', expected capture or opening"),
        ({"options": (("usemillisec", "false"),)}, "option usemillisec is set by itself"),
    ],
)
def test_what_ucci_cannot_express_is_refused(changes: dict[str, Any], text: str) -> None:
    with pytest.raises(PlayerError, match=text) as caught:
        check_player(with_keys(mock_spec("ucci"), **changes), "xiangqi", "cup.toml")
    assert str(caught.value).startswith("cup.toml: player 'mock good'")


def test_a_file_names_the_keys() -> None:
    player: dict[str, Any] = {"name": "eye", "protocol": "ucci", "command": "eleeye"}
    player |= {"time_unit": "seconds", "options": {"hashsize": 9}}
    data = {"game": "xiangqi", "pairs": 1, "limit": "clock=60", "players": [player, {"name": "own"}]}
    spec = spec_from_mapping(data, "cup.toml").players[0]
    assert spec.protocol_keys == (("moves_since", "capture"), ("time_unit", "seconds"))
    assert spec.options == (("hashsize", "9"),)


# --- Games ------------------------------------------------------------------------------------------------------------


def test_a_game_as_it_is_told(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    spec = mock_spec("ucci", settings={"file": notes}, options=(("hashsize", "32"),))
    record = play_one(spec, mock_spec("ucci", name="black"))
    assert (record.result, record.reason) == ("1/2-1/2", "repetition"), record.detail
    said = [(move.score, move.depth, move.nodes) for move in record.moves[:3]]
    assert said == [(10, 3, 700), (10, 3, 700), (11, 3, 700)]
    assert notes.read_text().splitlines()[1:9] == [
        "ucci", "setoption usemillisec true", "setoption hashsize 32", "isready", "setoption newgame", "isready",
        f"position fen {START}", "go depth 3",
    ]  # fmt: skip


def test_seconds_where_milliseconds_are_not_announced(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    for settings, unit, line in (
        ({"milliseconds": "no"}, "auto", "go time 60 increment 0"),
        ({"milliseconds": "no", "name": "Fairy-Stockfish 11.1"}, "auto", "go time 60000 increment 500"),
        ({"milliseconds": "no"}, "milliseconds", "go time 60000 increment 500"),
        ({}, "seconds", "go time 60 increment 0"),
    ):
        notes.unlink(missing_ok=True)
        spec = mock_spec("ucci", limit="clock=60+0.5", settings={"file": notes, **settings}, time_unit=unit)
        record = play_one(spec, mock_spec("ucci", name="black"))
        assert record.reason == "repetition", record.detail
        said = notes.read_text().splitlines()
        assert line in said, settings
        assert ("setoption usemillisec true" in said) is (not settings and unit != "seconds")


def test_an_engine_that_says_little(tmp_path: Path) -> None:
    """No options, no ``isready``: it plays all the same, and is not asked again."""
    notes = tmp_path / "notes"
    spec = mock_spec("ucci", settings={"file": notes, "isready": "no", "options": "no"}, options=(("hidden", "1"),))
    with playing(spec, mock_spec("ucci", name="black")) as play:
        assert play().reason == "repetition"
        assert play().reason == "repetition"
    said = notes.read_text().splitlines()
    assert said.count("isready") == 1
    assert "setoption hidden 1" in said


def test_moves_that_lose_are_banned(tmp_path: Path) -> None:
    """Red has given check on every move of a repetition, and may not go on."""
    notes = tmp_path / "notes"
    cycle = ("a1a9", "e9e8", "a9a8", "e8e9", "a8a9", "e9e8", "a9a8", "e8e9")
    opening = Opening("4k4/9/9/9/9/9/9/9/R8/3K5 w - - 0 1", cycle)
    play_one(mock_spec("ucci", settings={"file": notes}), mock_spec("ucci", name="black"), opening)
    said = notes.read_text().splitlines()
    at = said.index("banmoves a8a9")
    assert said[at - 1].startswith("position fen 4k4")
    assert said[at + 1] == "go depth 3"


def test_pondering(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    spec = mock_spec("ucci", limit="clock=60", settings={"file": notes}, ponder=True)
    record = play_one(spec, mock_spec("ucci", name="black"))
    assert record.reason == "repetition", record.detail
    assert record.detail["pondering"][0] == {"tries": 3, "hits": [2, 4, 6]}
    said = notes.read_text().splitlines()
    assert said.count("ponderhit") == 3
    assert "setoption ponder true" in said
    assert f"position fen {START} moves a0a1 a9a8" in said
    assert any(line.startswith("go ponder time ") for line in said)


def test_a_miss_is_stopped_even_where_the_stop_comes_too_late(tmp_path: Path) -> None:
    for isready in ("yes", "no"):
        spec = mock_spec("ucci", "late_stop", "clock=60", settings={"isready": isready}, ponder=True)
        record = play_one(spec, builtin("depth=1"), Opening(START, ("a0a1", "a9a8")))
        # Black does as it likes, so Red ponders in vain until its rook can no longer go to and fro.
        assert record.reason in ("illegal_move", "repetition"), record.detail
        pondering = record.detail["pondering"][0]
        assert pondering["tries"] > len(pondering["hits"])
        assert len(record.moves) > 2


def test_a_resignation_is_no_fault() -> None:
    record = play_one(mock_spec("ucci", "resign"), mock_spec("ucci", name="black"))
    assert (record.result, record.reason, record.detail, len(record.moves)) == ("0-1", "resignation", {}, 2)


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        (mock_spec("ucci", options=(("hash", "1"),)), "did you mean 'hashsize'"),
        (
            mock_spec("ucci", limit="move_time=0.1", settings={"milliseconds": "no"}),
            "counts whole seconds .* cannot receive limit = 'move_time=0.1'; .* time_unit = \"milliseconds\"",
        ),
    ],
)
def test_failures_to_start(spec: PlayerSpec, text: str) -> None:
    record = play_one(spec, mock_spec("ucci", name="black"))
    assert (record.result, record.reason) == ("*", "startup_failure")
    assert re.search(text, record.detail["fault"]["text"])


def test_the_stop_flag_interrupts_a_search() -> None:
    from elolab.arena.players.player import GameStopped
    from elolab.arena.protocols.ucci import UcciPlayer

    player = UcciPlayer(mock_spec("ucci", "until_stop", settings={"at": 1}), "xiangqi")
    try:
        player.new_game(Opening(START), StopFlag())
        before = player.process_id
        stop = StopFlag()
        stop.set()
        with pytest.raises(GameStopped):
            player.move(game_named("xiangqi").position(), [], None, stop)
        player.new_game(Opening(START), StopFlag())
        assert player.process_id == before
    finally:
        player.close()


# --- Draws by agreement -----------------------------------------------------------------------------------------------

AT_ONCE = Adjudication(resign_moves=0, draw_moves=0, maximum_plies=0, draw_after_ply=0, draw_score=15)


def test_a_draw_is_agreed_in_words_or_by_a_score() -> None:
    """Red offers from its second move on, with scores that Black would not take for a draw, and Black's words count."""
    accepts = mock_spec("ucci", "accepts", name="black")
    for margin, reason in ((0, "draw_agreement"), (15, "draw_agreement")):
        adjudication = Adjudication(0, 0, margin, 0, 0, 0)
        record = play_one(mock_spec("ucci", "offers"), accepts, adjudication=adjudication)
        assert (record.result, record.reason, len(record.moves)) == ("1/2-1/2", reason, 4), record.detail
    deaf = mock_spec("ucci", name="black")
    assert play_one(mock_spec("ucci", "offers"), deaf, adjudication=AT_ONCE).reason == "draw_agreement"
    strict = Adjudication(0, 0, 0, 0, 0, 0)
    assert play_one(mock_spec("ucci", "offers"), deaf, adjudication=strict).reason == "repetition"


def test_offers_before_draws_are_adjudicated_are_not_heard(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    black = mock_spec("ucci", "accepts", name="black", settings={"file": notes})
    later = Adjudication(0, 0, 15, 0, 5, 0)
    record = play_one(mock_spec("ucci", "offers"), black, adjudication=later)
    assert (record.reason, len(record.moves)) == ("draw_agreement", 6)
    said = [line for line in notes.read_text().splitlines() if line.startswith("go")]
    assert said == ["go depth 3", "go depth 3", "go draw depth 3"]


def test_an_offer_is_put_to_an_engine_that_ponders(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    black = mock_spec("ucci", "accepts", "clock=60", name="black", settings={"file": notes}, ponder=True)
    record = play_one(mock_spec("ucci", "offers"), black, adjudication=Adjudication(0, 0, 0, 0, 0, 0))
    assert record.reason == "draw_agreement"
    assert "ponderhit draw" in notes.read_text().splitlines()


# --- Real engines -----------------------------------------------------------------------------------------------------


@pytest.mark.integration
def test_over_ucci_it_plays_as_it_does_built_in() -> None:
    """Told all moves from the opening on: the same moves, scores, depths and nodes, to the same digest."""
    assert_same_games("ucci", moves_since="opening")


@pytest.mark.integration
def test_a_game_against_fairy_stockfish() -> None:
    need_program("fairy-stockfish")
    fairy = PlayerSpec("fairy", "ucci", Limits(nodes=500), command=("fairy-stockfish",))
    clock = Limits.parse("clock=2+0.02")
    timed = PlayerSpec("timed", "ucci", clock, command=("fairy-stockfish",), ponder=True)
    record = play_one(fairy, timed, AFTER_CAPTURES, adjudication=Adjudication(maximum_plies=16))
    assert "fault" not in record.detail, record.detail
    assert record.reason in ("checkmate", "maximum_length")
    assert all(move.score is not None and move.nodes for move in record.moves)
