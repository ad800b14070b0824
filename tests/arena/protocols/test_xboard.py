"""The xboard player: lines and dialogues without a process, games against mock engines, and against real ones."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elolab.arena.players.announced_options import AnnouncedOption
from elolab.arena.players.player import MAX_VARIATION, PlayerClock, PlayerFault
from elolab.arena.players.registry import PlayerError, check_player
from elolab.arena.protocols import xboard
from elolab.arena.protocols.move_texts import RankedMoves
from elolab.arena.protocols.xboard import (
    XboardClient,
    XboardPlayer,
    clock_commands,
    edit_commands,
    limit_commands,
    option_commands,
    parse_features,
    parse_move,
    parse_option,
    parse_thinking,
    parse_thinking_time,
    variation_text,
)
from elolab.arena.records import Opening, PlayerSpec
from elolab.engine.engine import StopFlag
from elolab.engine.games import game_named
from elolab.engine.rules import Adjudication
from elolab.engine.settings.limits import Limits
from elolab.engine.values import MATE, MAX_PLY
from tests.support.xiangqi_match import (
    AFTER_CAPTURES,
    BLACK_TO_MOVE,
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

INTRODUCTION = """\
# banner
feature myname="Some Engine 2.1" variants="xiangqi,chess" usermove=1 ping=1 setboard=1 colors=0
feature memory=1 smp=1 option="Style -combo solid /// *normal /// risky" option="Contempt -spin 0 -10 10"
feature option="Own Book -check 1" option="Clear -button" option="Log -file none" done=1"""


def introduced(text: str = INTRODUCTION) -> XboardClient:
    session = XboardClient()
    assert session.hello() == ["xboard", "protover 2"]
    for line in text.splitlines():
        session.receive(line)
    assert session.is_idle
    return session


def test_features() -> None:
    assert parse_features('feature setboard=1 myname="My engine, v. 2" san=0 option="Own Book -check 1" done=0') == [
        ("setboard", "1"), ("myname", "My engine, v. 2"), ("san", "0"), ("option", "Own Book -check 1"), ("done", "0"),
    ]  # fmt: skip
    assert parse_features("feature") == []
    session = introduced()
    assert session.has("ping")
    assert not session.has("nps")
    assert session.options == {
        "style": AnnouncedOption("Style", "combo", "normal", choices=("solid", "normal", "risky")),
        "contempt": AnnouncedOption("Contempt", "spin", "0", -10, 10),
        "own book": AnnouncedOption("Own Book", "check", "true"),
        "clear": AnnouncedOption("Clear", "button", ""),
        "log": AnnouncedOption("Log", "string", "none"),
    }
    assert parse_option("nonsense") is None
    # Lines as long as these took hours, and all other games' time with it.
    noise = 50_000
    assert parse_features("feature " + "a" * noise) == []
    assert parse_features("feature " + " " * noise + "a=1 b" + " " * noise) == [("a", "1")]
    assert parse_option("Clear" + " " * noise + "-button") == AnnouncedOption("Clear", "button")
    assert parse_option("Clear" + " " * noise) is None


def test_features_are_answered() -> None:
    answers = introduced('feature ping=1 san=1 option="a -check 1" playother=1 done=1').acknowledgements()
    assert answers == ["accepted ping", "rejected san", "accepted option", "accepted playother", "accepted done"]


def test_options() -> None:
    session = introduced()
    wanted = {"style": "Risky", "Own book": "false", "clear": "", "memory": "64", "cores": "2", "ranks": "1"}
    assert option_commands(tuple(wanted.items()), session.options, session.features) == [
        "option Style=risky", "option Own Book=0", "option Clear", "memory 64", "cores 2",
    ]  # fmt: skip
    assert option_commands((("clear", "false"),), session.options, session.features) == []


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("contemt", "1", "the engine has no option 'contemt'; did you mean 'Contempt'"),
        ("contempt", "11", "expected -10 to 10"),
        ("memory", "0", "expected 1 to"),
        ("own book", "maybe", "expected true or false"),
    ],
)
def test_options_that_the_engine_would_not_take(name: str, value: str, text: str) -> None:
    session = introduced()
    with pytest.raises(PlayerFault, match=text):
        option_commands(((name, value),), session.options, session.features)


@pytest.mark.parametrize(
    ("line", "score", "depth", "nodes"),
    [
        (" 4     10        6      22328 h9g7", 10, 4, 22328),
        ("4. -8 22 13884 1. ... Cb7-e7 2. Pa3-a4", -8, 4, 13884),
        ("3& 12 1 99\tb9c7", 12, 3, 99),
        ("-1    440 14325750        256 h2h9", 440, 0, 256),
        ("9 100003 5 1000 a0a1", MATE - 5, 9, 1000),
        ("9 -100003 5 1000 a0a1", 6 - MATE, 9, 1000),
        ("9 99999999999999999999 5 1000 a0a1", MATE - MAX_PLY, 9, 1000),
        ("# 4 10 6 22328", None, None, None),
        ("1. ... h2e2", None, None, None),
        ("4 10", None, None, None),
    ],
)
def test_thinking_output(line: str, score: int | None, depth: int | None, nodes: int | None) -> None:
    found = parse_thinking(line)
    assert (found.score, found.depth, found.nodes) == (score, depth, nodes)
    assert (parse_thinking_time(line) is None) == (nodes is None)


def test_thinking_output_counts_hundredths_of_a_second() -> None:
    assert parse_thinking_time(" 4     10        6      22328 h9g7") == 60


@pytest.mark.parametrize(
    ("line", "first_rank", "variation"),
    [
        ("6 57 1 7297 6 429235 0\t h0g2 h7h5 g3g4", 0, "h0g2 h7h5 g3g4"),  # Fairy-Stockfish
        ("3 8 1 4254 1. Pa3-a4 Pc6-c5 2. Cb2xb9 Ce7xb0+", 0, "a3a4 c6c5 b2b9 e7b0"),  # HoiXiangqi
        (" 4     10        6      22328 h9g7", 0, "h9g7"),  # MaxQi
        ("4. -8 22 13884 1... h10g8 2.b3c3 h8h9", 1, "h9g7 b2c2 h7h8"),
        ("5 8 21 60983 h2e2 zz a0a1", 0, "h2e2"),
        ("5 8 21 60983", 0, ""),
        ("5 8 21 60983 h2e2 " + 10**6 * "1.", 0, "h2e2"),
        ("tellics h2e2", 0, ""),
        ("5 8 21 60983" + 1000 * " h2e2 h9g7", 0, " ".join(["h2e2 h9g7"] * (MAX_VARIATION // 2))),
    ],
)
def test_the_principal_variation(line: str, first_rank: int, variation: str) -> None:
    assert RankedMoves(first_rank).read_line(variation_text(line), game_named("xiangqi").position()) == variation


def test_moves_as_engines_write_them() -> None:
    assert parse_move("move h2e2") == "h2e2"
    assert parse_move("1. ... h9g7") == "h9g7"
    assert parse_move("12 . ... h9-g7") == "h9-g7"
    assert [parse_move(line) for line in ("moves", "move", "1. h2e2", "a move h2e2")] == [None] * 4


@pytest.mark.parametrize(
    ("limit", "lines"),
    [
        ("depth=7", ["st 60", "sd 7"]),
        ("nodes=900", ["nps 900", "st 1"]),
        ("move_time=2,depth=9", ["st 2", "sd 9"]),
        ("clock=90+0.5", ["level 0 1:30 0.5"]),
        ("clock=40/300", ["level 40 5 0"]),
    ],
)
def test_limits(limit: str, lines: list[str]) -> None:
    assert limit_commands(Limits.parse(limit), 60_000) == lines


def test_clocks_are_in_centiseconds() -> None:
    assert clock_commands(PlayerClock(61_239_000_000, 0, 59_991, 0, 0)) == ["time 6123", "otim 5999"]
    assert clock_commands(PlayerClock(2_000_000, 0, None, 0, 0)) == ["time 1", "otim 1"]
    assert clock_commands(None) == []


def test_a_position_piece_by_piece() -> None:
    assert edit_commands("3k5/9/9/9/9/9/4c4/9/4R4/4K4 w - - 0 1", 0) == [
        "edit", "#", "Re1", "Ke0", "c", "Kd9", "Ce3", ".",
    ]  # fmt: skip
    assert edit_commands("3k5/9/9/9/9/9/9/9/9/4K4 w - - 0 1", 1)[2:5] == ["Ke1", "c", "Kd10"]


# --- Dialogues --------------------------------------------------------------------------------------------------------


def replay(session: XboardClient, script: str) -> list[str]:
    """Let the engine say the lines; the events they were."""
    return [event for event in (session.receive(line) for line in script.strip().splitlines()) if event]


def test_a_whole_conversation() -> None:
    session = introduced()
    assert session.synchronise("force", "usermove h2e2") == ["force", "usermove h2e2", "ping 1"]
    # What comes before the pong is of the last game, whatever it is.
    assert replay(session, "move a0a1\n1-0 {White mates}\nresign\npong 1") == ["pong 1"]
    assert session.unexpected == 3
    assert session.think("time 6000", "go") == ["time 6000", "go"]
    assert replay(session, " 1 5 0 99 b9c7\n2 -7 1 1234 h9g7\nmove h9g7") == ["move"]
    found = session.information()
    assert (session.answer, found.score, found.depth, found.nodes) == ("move h9g7", -7, 2, 1234)
    assert session.is_idle


def test_without_ping_nothing_is_waited_for() -> None:
    session = introduced("feature setboard=1 done=1")
    assert session.synchronise("force") == ["force"]
    assert session.is_idle


def test_an_old_pong_is_no_answer_to_a_new_ping() -> None:
    session = introduced()
    session.synchronise()
    assert replay(session, "pong 1") == ["pong 1"]
    session.synchronise()
    assert replay(session, "pong 1") == []
    assert not session.is_idle


def test_an_offer_is_heard_once() -> None:
    session = introduced()
    session.think("go")
    replay(session, "offer draw\nmove a0a1")
    assert session.take_offer()
    assert not session.take_offer()


@given(st.text(max_size=200))
def test_no_text_upsets_the_session(text: str) -> None:
    session = XboardClient()
    session.hello()
    for line in (text, f"feature {text}", f'feature option="{text}"', f"3 {text}", f"pong {text}", f"move {text}"):
        session.receive(line)
        parse_option(text)
        parse_thinking(line)


# --- Specifications ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"limits": Limits(depth=4, nodes=9)}, "xboard has nodes only alone"),
        ({"limits": Limits(clock_ms=9000, move_time_ms=1000)}, "a clock or a time a move, not both"),
        ({"limits": Limits(move_time_ms=100)}, "xboard counts whole seconds"),
        ({"limits": Limits(clock_ms=1500)}, "xboard counts whole seconds"),
        ({"options": (("ranks", "2"),)}, "expected 0, 1 or auto"),
    ],
)
def test_what_xboard_cannot_express_is_refused(changes: dict[str, Any], text: str) -> None:
    with pytest.raises(PlayerError, match=text):
        check_player(with_keys(mock_spec("xboard"), **changes), "xiangqi", "cup.toml")


# --- Games ------------------------------------------------------------------------------------------------------------


def test_a_game_as_it_is_told(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    spec = mock_spec("xboard", settings={"file": notes}, options=(("contempt", "3"),))
    record = play_one(spec, mock_spec("xboard", name="black"))
    assert (record.result, record.reason) == ("1/2-1/2", "repetition"), record.detail
    said = [(move.score, move.depth, move.nodes) for move in record.moves[:3]]
    assert said == [(10, 3, 700), (10, 3, 700), (11, 3, 700)]
    told = notes.read_text().splitlines()[1:]
    assert told[:2] == ["xboard", "protover 2"]
    at = told.index("option Contempt=3")
    assert told[at + 1 : at + 15] == [
        "ping 1", "new", "variant xiangqi", "force", "easy", "post", "st 60", "sd 3", "ping 2", "force", "ping 3", "go",
        "force", "usermove a9a8",
    ]  # fmt: skip


SHORT = Adjudication(maximum_plies=6)
AFTER_TWO = "rnbakab1r/9/1c4nc1/p1p1p1p1p/9/9/P1P1P1P1P/1C2C4/9/RNBAKABNR w - - 0 1"
AFTER_A_CANNON = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C2C4/9/RNBAKABNR b - - 0 1"
ENDGAME = "r2k5/9/9/4p4/9/9/9/9/9/R3K4 w - - 0 1"


@pytest.mark.integration
@pytest.mark.parametrize(
    ("mode", "features", "opening", "lines"),
    [
        ("good", "setboard=1", Opening(AFTER_A_CANNON), [f"setboard {AFTER_A_CANNON}", "ping 2"]),
        ("good", "setboard=0", Opening(AFTER_A_CANNON), ["usermove h2e2", "ping 2"]),
        ("no_setboard", "setboard=1", Opening(AFTER_A_CANNON), ["usermove h2e2", "ping 2"]),
        ("good", "setboard=1", Opening(START, ("h2e2", "h9g7")), ["usermove h2e2", "usermove h9g7", "ping 2"]),
        ("good", "setboard=0", Opening(ENDGAME), ["edit", "#", "Ra0", "Ke0", "c", "Ra9", "Kd9", "Pe6", ".", "ping 2"]),
    ],
)
def test_openings_are_set_up_or_led_to(
    tmp_path: Path, mode: str, features: str, opening: Opening, lines: list[str]
) -> None:
    """By ``setboard``, by moves where it has none or refuses it, and piece by piece where no moves are known."""
    notes = tmp_path / "notes"
    spec = mock_spec("xboard", mode, settings={"file": notes, "features": features})
    with playing(spec, mock_spec("xboard", name="black"), adjudication=SHORT) as play:
        for _ in range(2):
            record = play(opening)
            assert record.reason == "maximum_length", record.detail
    said = notes.read_text().splitlines()
    at = len(said) - said[::-1].index("sd 3")
    assert [re.sub(r"ping .*", "ping 2", line) for line in said[at : at + len(lines)]] == lines
    # What it refused it is not asked again.
    expected = 1 if mode == "no_setboard" else 2 * lines[0].startswith("setboard")
    assert sum(line.startswith("setboard") for line in said) == expected


@pytest.mark.parametrize(
    ("features", "limit", "lines"),
    [
        ("setboard=1", "clock=3/60", [f"setboard {AFTER_TWO}"]),
        ("setboard=1", "clock=60", ["usermove h2e2", "usermove h9g7"]),
        ("setboard=0", "clock=60", ["usermove h2e2", "usermove h9g7"]),
    ],
)
def test_moves_of_the_opening_count_for_no_control(tmp_path: Path, features: str, limit: str, lines: list[str]) -> None:
    notes = tmp_path / "notes"
    spec = mock_spec("xboard", limit=limit, settings={"file": notes, "features": features})
    with playing(spec, mock_spec("xboard", name="black"), adjudication=SHORT) as play:
        record = play(Opening(START, ("h2e2", "h9g7")))
    assert record.reason == "maximum_length", record.detail
    said = notes.read_text().splitlines()
    at = next(place for place, line in enumerate(said) if line.startswith("level "))
    assert said[at + 1 : at + 1 + len(lines)] == lines
    # The game's own moves are told as ever.
    assert any(line.startswith("usermove") for line in said[at + 1 + len(lines) :])


@pytest.mark.parametrize("opening", [Opening(START, ("h2e2", "h9g7")), Opening(AFTER_TWO)], ids=["moves", "position"])
@pytest.mark.parametrize(("mode", "features"), [("good", "setboard=0"), ("no_setboard", "setboard=1")])
def test_an_engine_that_would_count_moves_of_the_opening_is_refused(mode: str, features: str, opening: Opening) -> None:
    spec = mock_spec("xboard", mode, limit="clock=3/60", settings={"features": features})
    record = play_one(spec, mock_spec("xboard", name="black"), opening)
    assert record.reason == "startup_failure"
    assert "cannot receive limit = 'clock=3/60+0' after an opening of 2 plies" in record.detail["fault"]["text"]


def test_moves_to_a_control_without_an_opening_need_no_setboard() -> None:
    spec = mock_spec("xboard", limit="clock=3/60", settings={"features": "setboard=0"})
    assert play_one(spec, mock_spec("xboard", name="black")).reason == "repetition"


def test_an_opening_that_cannot_be_told() -> None:
    spec = mock_spec("xboard", settings={"features": "setboard=0"})
    record = play_one(spec, mock_spec("ucci"), Opening(ENDGAME.replace(" w ", " b ")))
    assert record.reason == "startup_failure"
    assert "cannot receive the opening 'r2k5" in record.detail["fault"]["text"]


def test_an_engine_that_ponders_is_left_in_the_game(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    spec = mock_spec("xboard", limit="clock=60+1", settings={"file": notes}, ponder=True)
    assert play_one(spec, mock_spec("ucci", name="black")).reason == "repetition"
    said = notes.read_text().splitlines()
    assert "hard" in said
    assert "level 0 1 1" in said
    assert said.count("go") == 1
    at = said.index("usermove a9a8")
    assert re.fullmatch(r"time \d+", said[at - 2])
    assert said[at - 1].startswith("otim ")
    assert said.count("force") == 2  # at the beginning of the game, and before the first move


def test_nodes_where_the_engine_has_them(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    spec = mock_spec("xboard", limit="nodes=900", settings={"file": notes, "features": "nps=1"})
    assert play_one(spec, mock_spec("ucci", name="black")).reason == "repetition"
    said = notes.read_text().splitlines()
    assert said[said.index("nps 900") + 1] == "st 1"


MANNERS = ("no_ping", "no_done", "old_fashioned", "claims_between")


@pytest.mark.integration
@pytest.mark.parametrize("mode", MANNERS)
def test_manners_that_lose_nothing(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if mode == "no_done":
        monkeypatch.setattr(xboard, "FEATURES_MS", 1000)
    with playing(mock_spec("xboard", mode), mock_spec("ucci", name="black")) as play:
        assert play().reason == "repetition"
        assert play().reason == "repetition"


@pytest.mark.parametrize(("mode", "ponder"), [("holds_drawn", False), ("holds_drawn", True), ("claims_once", False)])
def test_an_engine_that_holds_the_game_drawn_is_told_of_it_afresh(tmp_path: Path, mode: str, ponder: bool) -> None:
    """It plays by other rules, and would not play on by itself."""
    notes = tmp_path / "notes"
    settings = {"file": notes, "features": "setboard=1"}
    spec = mock_spec("xboard", mode, "clock=60", settings=settings, ponder=ponder)
    record = play_one(spec, mock_spec("xboard", name="black"))
    assert (record.reason, len(record.moves)) == ("repetition", 8), record.detail
    said = notes.read_text().splitlines()
    (at,) = [place for place, line in enumerate(said) if line.startswith("setboard")]
    assert re.fullmatch("setboard .* w - - 0 1", said[at])
    assert said[at - 6 : at] == ["new", "variant xiangqi", "force", "hard" if ponder else "easy", "post", "level 0 1 0"]
    assert said[at + 1].startswith("ping")
    assert "go" in said[at + 2 : at + 5]


@pytest.mark.parametrize("ponder", [False, True])
def test_one_that_is_told_afresh_in_the_middle_of_a_control_is_told_what_is_left_of_it(
    tmp_path: Path, ponder: bool
) -> None:
    notes = tmp_path / "notes"
    settings = {"file": notes, "features": "setboard=1"}
    spec = mock_spec("xboard", "holds_drawn", "clock=3/60", settings=settings, ponder=ponder)
    record = play_one(spec, mock_spec("xboard", name="black"))
    assert (record.reason, len(record.moves)) == ("repetition", 8), record.detail
    said = [line for line in notes.read_text().splitlines() if line.startswith(("level", "setboard", "go", "usermove"))]
    # After two moves of its own it holds the game drawn; its third ends the control.
    first, middle, last = [place for place, line in enumerate(said) if line.startswith("level")]
    assert [said[first], said[middle], said[last]] == ["level 3 1 0", "level 1 1 0", "level 3 1 0"]
    assert [said[place + 1].split()[0] for place in (middle, last)] == ["setboard", "setboard"]
    assert said[middle + 2 : last] == ["go"]
    assert said[last + 2] == "go"


def test_one_that_holds_the_game_drawn_and_cannot_be_told_is_at_fault() -> None:
    record = play_one(mock_spec("xboard", "claims_once"), mock_spec("xboard", name="black"))
    assert (record.result, record.reason, len(record.moves)) == ("0-1", "no_move", 2)
    text = record.detail["fault"]["text"]
    assert text.startswith("mock claims_once: answered '1/2-1/2 {Draw by repetition}', though it had legal moves; ")
    assert "asked again, it does not support setboard" in text
    deaf = mock_spec("xboard", "holds_drawn", watchdog_ms=200)
    record = play_one(deaf, mock_spec("xboard", name="black"))
    assert (record.reason, len(record.moves)) == ("no_move", 4)
    assert "claimed the result '1/2-1/2 {50 move rule}'" in record.detail["fault"]["text"]


def test_an_engine_that_asks_for_time_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xboard, "FEATURES_MS", 500)
    slow = mock_spec("xboard", "slow", settings={"seconds": 0.8})
    assert play_one(slow, mock_spec("ucci", name="black")).reason == "repetition"


def test_a_process_for_each_game_where_the_engine_wants_it() -> None:
    player = XboardPlayer(mock_spec("xboard", settings={"features": "reuse=0"}), "xiangqi")
    try:
        player.new_game(Opening(START), StopFlag())
        first = player.process_id
        player.new_game(Opening(START), StopFlag())
        assert player.process_id not in (None, first)
    finally:
        player.close()


@pytest.mark.integration
@pytest.mark.parametrize(
    ("mode", "moves"), [("resign", 2), ("claims_loss", 2), ("resigns_late", 4), ("resigns_late_by_result", 4)]
)
def test_a_resignation_is_no_fault(mode: str, moves: int) -> None:
    record = play_one(mock_spec("xboard", mode), mock_spec("ucci", name="black"))
    assert (record.result, record.reason, record.detail, len(record.moves)) == ("0-1", "resignation", {}, moves)


def test_a_resignation_is_of_the_game_in_which_it_was_said() -> None:
    session = XboardClient()
    assert not session.has_resigned(0)
    for line, sides in (
        ("1-0 {Black resigns}", [1]), ("0-1 {Black mates}", []), ("resign", [0, 1]), ("1-0 {White mates}", [0, 1]),
    ):  # fmt: skip
        session.receive(line)
        assert [side for side in (0, 1) if session.has_resigned(side)] == sides, line


def test_draws_are_agreed_over_two_protocols(tmp_path: Path) -> None:
    never = Adjudication(0, 0, 0, 0, 0, 0)
    for first, second in (("ucci", "xboard"), ("xboard", "ucci")):
        record = play_one(mock_spec(first, "offers"), mock_spec(second, "accepts", name="black"), adjudication=never)
        assert (record.result, record.reason, len(record.moves)) == ("1/2-1/2", "draw_agreement", 4), record.detail
    notes = tmp_path / "notes"
    deaf = mock_spec("xboard", name="black", settings={"file": notes, "features": "draw=0"})
    assert play_one(mock_spec("ucci", "offers"), deaf, adjudication=never).reason == "repetition"
    assert "draw" not in notes.read_text().splitlines()


@pytest.mark.parametrize(
    ("mode", "text"),
    [
        ("claims_draw", "loss: under the rules in force the game continues"),
        ("stubborn", "answered 'Illegal move: a8a9' to 'a8a9'"),
    ],
)
def test_what_it_claims_wrongly_loses_the_game(mode: str, text: str) -> None:
    record = play_one(mock_spec("xboard", mode), mock_spec("ucci", name="black"))
    assert (record.result, record.reason) == ("0-1", "no_move"), record.detail
    assert text in record.detail["fault"]["text"]


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        (mock_spec("xboard", "no_features", start_timeout_ms=300), "did not complete the xboard handshake"),
        (mock_spec("xboard", options=(("contemt", "1"),)), "did you mean 'Contempt'"),
        (mock_spec("xboard", limit="nodes=9"), "it has no feature nps=1, without which xboard knows no nodes"),
        (mock_spec("xboard", settings={"features": "variants=chess"}), "does not play xiangqi: it has the variants 'c"),
    ],
)
def test_failures_to_start(spec: PlayerSpec, text: str) -> None:
    record = play_one(spec, mock_spec("ucci", name="black"))
    assert (record.result, record.reason) == ("*", "startup_failure")
    assert text in record.detail["fault"]["text"]


# --- Real engines -----------------------------------------------------------------------------------------------------


@pytest.mark.integration
def test_over_xboard_it_plays_as_it_does_built_in() -> None:
    assert_same_games("xboard")


@pytest.mark.integration
@pytest.mark.parametrize("program", ["hoixiangqi", "maxqi", "fairy-stockfish"])
def test_games_against_engines_of_others(program: str) -> None:
    """From the start and from an opening in play, to the length of a game, without a fault."""
    need_program(program)
    spec = PlayerSpec(program, "xboard", Limits(depth=3), command=(program,))
    with playing(spec, builtin("depth=2"), adjudication=Adjudication(maximum_plies=12)) as play:
        for opening in (Opening(START), AFTER_CAPTURES, BLACK_TO_MOVE):
            record = play(opening)
            assert "fault" not in record.detail, record.detail
            assert len(record.moves) >= 10
            assert all(move.score is not None and move.depth for move in record.moves[::2])
