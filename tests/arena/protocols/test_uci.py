"""The UCI player: the protocol by scripted dialogues, the player against mock engines that keep to it."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from elolab.arena.play.game import play_game
from elolab.arena.players import external
from elolab.arena.players.announced_options import AnnouncedOption
from elolab.arena.players.player import GameStopped, PlayerClock, PlayerFault
from elolab.arena.players.registry import PlayerError, check_player, make_player
from elolab.arena.protocols.uci import (
    UciClient,
    UciPlayer,
    find_games,
    forced_first_rank,
    go_command,
    option_commands,
    position_command,
)
from elolab.arena.protocols.uci_family import (
    parse_option,
)
from elolab.arena.records import GameConditions, Opening, Pairing, PlayerSpec
from elolab.engine.engine import StopFlag
from elolab.engine.games import game_named
from elolab.engine.rules import Adjudication, Rules
from elolab.engine.settings.limits import Limits

MOCK = str(Path(__file__).parents[2] / "support" / "mock_engines.py")
START = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1"

# --- Reading ----------------------------------------------------------------------------------------------------------

FAIRY_STOCKFISH = """\
Fairy-Stockfish 11.1 LB 64 by Fabian Fichter
id name Fairy-Stockfish 11.1 LB 64
id author Fabian Fichter

option name Debug Log File type string default 
option name Contempt type spin default 24 min -100 max 100
option name Analysis Contempt type combo default Both var Both var Off var White var Black
option name Hash type spin default 16 min 1 max 131072
option name Clear Hash type button
option name Ponder type check default false
option name UCI_Variant type combo default chess var 3check var chess var king of the hill var xiangqi
option name SyzygyPath type string default <empty>
uciok"""  # noqa: W291  as the engine writes it


def introduced(text: str = FAIRY_STOCKFISH) -> UciClient:
    session = UciClient()
    session.hello()
    for line in text.splitlines():
        session.receive(line)
    return session


def test_options_as_a_real_engine_announces_them() -> None:
    session = introduced()
    assert session.engine_name == "Fairy-Stockfish 11.1 LB 64"
    options = session.options
    assert options["contempt"] == AnnouncedOption("Contempt", "spin", "24", -100, 100)
    assert options["analysis contempt"].choices == ("Both", "Off", "White", "Black")
    assert options["uci_variant"].choices == ("3check", "chess", "king of the hill", "xiangqi")
    assert options["clear hash"] == AnnouncedOption("Clear Hash", "button")
    assert options["ponder"] == AnnouncedOption("Ponder", "check", "false")
    assert options["debug log file"] == AnnouncedOption("Debug Log File", "string")
    assert options["syzygypath"].default == "<empty>"


def test_the_parts_of_an_option_stand_in_any_order_and_may_be_called_default() -> None:
    for text, default, choices in (
        ("default default var default var risky", "default", ("default", "risky")),
        ("var default var very risky default very risky", "very risky", ("default", "very risky")),
        ("default var a var b", "", ("a", "b")),
    ):
        option = AnnouncedOption("Style", "combo", default, choices=choices)
        assert parse_option(f"option name Style type combo {text}") == option
    assert parse_option("option name Log type string default C:/min var/log max 5") == AnnouncedOption(
        "Log", "string", "C:/min var/log max 5"
    )
    assert parse_option("option name Hash type spin max 9 default 3 min -1") == AnnouncedOption(
        "Hash", "spin", "3", -1, 9
    )


def test_forced_ranks() -> None:
    assert forced_first_rank((("Hash", "16"),)) is None
    assert forced_first_rank((("ranks", "auto"),)) is None
    assert forced_first_rank((("ranks", "1"),)) == 1
    with pytest.raises(PlayerFault, match="expected 0, 1 or auto"):
        forced_first_rank((("ranks", "2"),))


# --- Writing ----------------------------------------------------------------------------------------------------------


def test_options_are_sent_in_order_and_the_variant_first() -> None:
    wanted = (("hash", "32"), ("Clear Hash", ""), ("Ponder", "off"), ("Analysis Contempt", "off"), ("ranks", "1"))
    assert option_commands(wanted, introduced().options, "xiangqi") == [
        "setoption name UCI_Variant value xiangqi",
        "setoption name Hash value 32",
        "setoption name Clear Hash",
        "setoption name Ponder value false",
        "setoption name Analysis Contempt value Off",
    ]


def test_an_engine_without_variants_is_sent_none() -> None:
    assert option_commands((), introduced("option name Hash type spin default 1 min 1 max 8").options, "xiangqi") == []


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("Hsh", "16", "the engine has no option 'Hsh'; did you mean 'Hash'"),
        ("zzzzzz", "16", "it has Debug Log File, Contempt"),
        ("Hash", "0", "option Hash = '0': expected 1 to 131072"),
        ("Hash", "200000", "expected 1 to 131072"),
        ("Hash", "much", "expected a whole number"),
        ("Ponder", "maybe", "expected true or false"),
        ("Analysis Contempt", "Whit", "expected Both, Off, White, Black .did you mean 'White'"),
        ("UCI_Variant", "go", "expected 3check, chess, king of the hill, xiangqi"),
        ("Use NNUE", "true", "the engine has no option 'Use NNUE'"),
    ],
)
def test_options_the_engine_would_not_take(name: str, value: str, text: str) -> None:
    with pytest.raises(PlayerFault, match=text) as caught:
        option_commands(((name, value),), introduced().options, "xiangqi")
    assert caught.value.reason == "startup_failure"


def test_a_button_that_is_off_is_not_pressed() -> None:
    options = introduced().options
    for value, told in (("true", ["setoption name Clear Hash"]), ("false", []), ("off", [])):
        assert option_commands((("clear hash", value),), options, "xiangqi")[1:] == told


def test_switching_off_what_an_old_engine_does_not_have_is_no_error() -> None:
    commands = option_commands((("Use NNUE", "false"),), introduced().options, "xiangqi")
    assert commands == ["setoption name UCI_Variant value xiangqi"]
    newer = introduced("option name Use NNUE type check default true").options
    assert option_commands((("Use NNUE", "false"),), newer, "xiangqi") == ["setoption name Use NNUE value false"]


@pytest.mark.parametrize(
    ("limit", "clock", "side", "line"),
    [
        ("nodes=1000", None, 0, "go nodes 1000"),
        ("depth=6", None, 1, "go depth 6"),
        ("move_time=0.1,depth=9", None, 0, "go movetime 100 depth 9"),
        ("clock=10+0.1", PlayerClock(9_000_000_000, 100, 8000, 50, 0), 0, "go wtime 9000 btime 8000 winc 100 binc 50"),
        ("clock=10+0.1", PlayerClock(9_000_000_000, 100, 8000, 50, 0), 1, "go wtime 8000 btime 9000 winc 50 binc 100"),
        (
            "clock=40/10",
            PlayerClock(9_000_000_000, 0, None, 0, 7),
            0,
            "go wtime 9000 btime 9000 winc 0 binc 0 movestogo 7",
        ),
        ("clock=10", PlayerClock(0, 0, 0, 0, 0), 0, "go wtime 1 btime 1 winc 0 binc 0"),
        ("clock=10,nodes=5", PlayerClock(10_000_000, 0, 10, 0, 0), 0, "go wtime 10 btime 10 winc 0 binc 0 nodes 5"),
    ],
)
def test_go(limit: str, clock: PlayerClock | None, side: int, line: str) -> None:
    assert go_command(Limits.parse(limit), clock, side) == line


def test_position() -> None:
    assert position_command(START, [], 1) == f"position fen {START}"
    assert position_command(START, ["h2e2", "h9g7"], 0) == f"position fen {START} moves h2e2 h9g7"
    assert position_command(START, ["h2e2", "h9g7"], 1) == f"position fen {START} moves h3e3 h10g8"


# --- Scripted dialogues -----------------------------------------------------------------------------------------------


def replay(session: UciClient, script: str) -> list[str]:
    """Let the engine say the lines; the events they were."""
    return [event for event in (session.receive(line) for line in script.strip().splitlines()) if event]


def test_a_whole_conversation() -> None:
    session = UciClient()
    assert session.is_idle
    assert session.hello() == ["uci"]
    assert replay(session, "id name X\nreadyok\nuciok") == ["uciok"]
    assert session.synchronise("ucinewgame") == ["ucinewgame", "isready"]
    assert not session.is_idle
    assert replay(session, "info string hello\nreadyok") == ["readyok"]
    assert session.think("position fen F", "go nodes 9") == ["position fen F", "go nodes 9"]
    events = replay(
        session,
        """
info depth 1 seldepth 1 multipv 1 score cp 72 nodes 50 nps 50000 tbhits 0 time 1 pv h1g3
info depth 4 seldepth 4 multipv 1 score cp 139 nodes 676 nps 338000 tbhits 0 time 2 pv h1g3 f10e9 b3c3 h8h4
info depth 4 seldepth 4 multipv 2 score cp 95 nodes 676 nps 338000 tbhits 0 time 2 pv b1c3
info depth 5 currmove h1g3 currmovenumber 1
info depth 5 seldepth 6 multipv 1 score cp 94 upperbound nodes 1000 nps 333333 tbhits 0 time 3 pv h8c8
info string score cp 5555 nodes 5555
bestmove h1g3 ponder h8c8""",
    )
    assert events == ["bestmove"]
    assert session.is_idle
    assert session.answer == "bestmove h1g3 ponder h8c8"
    found = session.information()
    assert (found.score, found.depth, found.nodes) == (139, 4, 1000)
    assert session.variation == "h1g3 f10e9 b3c3 h8h4"
    assert session.reported_ms == 3  # of the last line with nodes, although its score is a bound


def test_an_engine_that_says_nothing_about_its_search() -> None:
    session = UciClient()
    session.think("position fen F", "go depth 1")
    assert replay(session, "info string ok\nbestmove a0a1") == ["bestmove"]
    found = session.information()
    assert (found.score, found.depth, found.nodes) == (None, None, None)
    assert session.variation == ""
    assert session.reported_ms is None


def test_the_last_search_leaves_nothing_behind() -> None:
    session = UciClient()
    session.think("position fen F", "go depth 1")
    replay(session, "info depth 9 score cp 99 nodes 9 time 7 pv a0a1\nbestmove a0a1")
    assert session.reported_ms == 7
    session.think("position fen F moves a0a1", "go depth 1")
    replay(session, "bestmove a9a8")
    assert session.information().score is None
    assert session.reported_ms is None
    assert session.variation == ""


def test_only_replies_that_are_due_count() -> None:
    session = UciClient()
    assert replay(session, "bestmove a0a1\nreadyok\nuciok") == []
    assert session.unexpected == 3
    session.think("position fen F", "go depth 1")
    assert replay(session, "bestmove a0a1\nbestmove a1a2") == ["bestmove"]
    assert session.answer == "bestmove a0a1"


def test_after_stop_both_replies_are_due_in_either_order() -> None:
    for script in ("readyok\nbestmove a0a1", "bestmove a0a1\nreadyok"):
        session = UciClient()
        session.think("position fen F", "go infinite")
        assert session.synchronise("stop") == ["stop", "isready"]
        first, second = script.splitlines()
        session.receive(first)
        assert not session.is_idle
        session.receive(second)
        assert session.is_idle


@pytest.mark.parametrize(
    ("first", "to_chess", "games"),
    [
        ("e2e4", None, ("chess",)),
        ("h2e2", None, ("xiangqi",)),
        ("h3e3", None, ("xiangqi",)),
        ("b1c3", "b8c6", ("chess",)),  # a horse's move in Xiangqi too
        ("b1c3", "b1c3", ("xiangqi",)),
        ("b1c3", None, ("xiangqi",)),
        ("e7e5", None, ()),
        (None, None, ()),
    ],
)
def test_the_first_moves_of_a_program_show_its_game(
    first: str | None, to_chess: str | None, games: tuple[str, ...]
) -> None:
    def program(lines: Sequence[str], is_end: Callable[[str], bool]) -> list[str]:
        move = to_chess if any(line.startswith("position fen") for line in lines) else first
        said = ["uciok"] if lines[0] == "uci" else [] if move is None else ["info depth 1", f"bestmove {move}"]
        assert not said or is_end(said[-1])
        return said

    assert find_games(program) == games


# --- Against mock engines ---------------------------------------------------------------------------------------------


def mock_spec(mode: str = "good", limit: str = "nodes=100", **changes: object) -> PlayerSpec:
    settings = changes.pop("settings", {})
    assert isinstance(settings, dict)
    words = tuple(f"{name}={value}" for name, value in settings.items())
    command = (sys.executable, "-I", "-S", MOCK, mode, *words)
    spec = PlayerSpec(mode, "uci", Limits.parse(limit), command=command, start_timeout_ms=5_000)
    return replace(spec, **changes)  # type: ignore[arg-type]


@pytest.fixture
def make() -> Iterator[Callable[..., UciPlayer]]:
    players: list[UciPlayer] = []

    def make_one(spec: PlayerSpec) -> UciPlayer:
        players.append(UciPlayer(spec, "xiangqi"))
        return players[-1]

    yield make_one
    for player in players:
        player.close()


@pytest.mark.parametrize("ranks", [0, 1])
def test_a_game_in_either_rank_base(make: Callable[..., UciPlayer], ranks: int) -> None:
    player = make(mock_spec(settings={"ranks": ranks}))
    player.start()
    player.new_game(Opening(START), StopFlag())
    position = game_named("xiangqi").position(START)
    for number, expected in enumerate(["a0a1", "a9a8", "a1a0", "a8a9"]):
        reply = player.move(position, list(position.moves), None, StopFlag())
        assert (reply.move, reply.score, reply.depth, reply.nodes) == (expected, 10 + number // 2, 3, 700)
        assert reply.elapsed_ns > 0
        position.push(reply.move)
    probes = [line for line in player.dialogue() if "go depth 1" in line]
    assert len(probes) == (1 if ranks == 0 else 0)


def test_the_variant_and_options_reach_the_engine(make: Callable[..., UciPlayer], tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    player = make(mock_spec(settings={"file": notes}, options=(("hash", "64"), ("clear hash", ""))))
    player.start()
    assert notes.read_text().splitlines()[1:] == [
        "setoption name UCI_Variant value xiangqi",
        "setoption name Hash value 64",
        "setoption name Clear Hash",
    ]


def test_an_answer_too_many_is_not_taken_for_the_next(make: Callable[..., UciPlayer]) -> None:
    player = make(mock_spec("twice", settings={"at": 1}))
    player.new_game(Opening(START), StopFlag())
    position = game_named("xiangqi").position(START)
    for expected in ("a0a1", "a9a8", "a1a0"):
        position.push(player.move(position, list(position.moves), None, StopFlag()).move)
        assert position.moves[-1] == expected
        time.sleep(0.05)  # let the surplus line arrive


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        (mock_spec("exit_at_start"), "code 3; the end of its error output: cannot find my network file"),
        (mock_spec("silent", start_timeout_ms=300), r"the UCI handshake within 0\.3 s \(it said nothing\)"),
        (mock_spec(command=("no-such-engine",)), "no such program"),
        (mock_spec(options=(("Hsh", "1"),)), "did you mean 'Hash'"),
        (mock_spec(options=(("Hash", "0"),)), "expected 1 to 1024"),
        (mock_spec("illegal", settings={"ranks": 0, "at": 1}), "does it play xiangqi"),
        (mock_spec("only_chess", settings={"ranks": 0}), "plays chess only: it has the option UCI_Chess960"),
    ],
)
def test_failures_to_start(make: Callable[..., UciPlayer], spec: PlayerSpec, text: str) -> None:
    player = make(spec)
    began = time.monotonic()
    with pytest.raises(PlayerFault, match=text) as caught:
        player.start()
    assert time.monotonic() - began < 5.0
    assert caught.value.reason == "startup_failure"
    assert player.process_id is None


def test_the_stop_flag_interrupts_a_handshake(make: Callable[..., UciPlayer]) -> None:
    player, stop = make(mock_spec("silent", start_timeout_ms=60_000)), StopFlag()
    threading.Timer(0.2, stop.set).start()
    began = time.monotonic()
    with pytest.raises(GameStopped):
        player.new_game(Opening(START), stop)
    assert time.monotonic() - began < 5.0
    assert player.process_id is None


def test_a_process_lives_from_game_to_game_or_is_replaced_for_each(make: Callable[..., UciPlayer]) -> None:
    for restart, alike in (("on_fault", True), ("always", False)):
        player = make(mock_spec(restart=restart))
        player.new_game(Opening(START), StopFlag())
        first = player.process_id
        player.new_game(Opening(START), StopFlag())
        assert (player.process_id == first) is alike


def test_a_process_that_died_between_games_is_replaced(make: Callable[..., UciPlayer]) -> None:
    import os
    import signal

    player = make(mock_spec())
    player.new_game(Opening(START), StopFlag())
    first = player.process_id
    assert first is not None
    os.kill(first, signal.SIGKILL)
    player.new_game(Opening(START), StopFlag())
    assert player.process_id not in (None, first)


@pytest.mark.parametrize(("mode", "reason"), [("until_stop", "time_forfeit"), ("hang", "no_answer")])
def test_an_overdue_engine_is_restarted_only_if_it_does_not_obey_a_stop(
    make: Callable[..., UciPlayer], mode: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(external, "LATE_ANSWER_MS", 60_000 if mode == "until_stop" else 250)
    limits = Limits.parse("move_time=0.05")
    players = make(mock_spec(mode, settings={"at": 1}, limits=limits, margin_ms=0)), make(mock_spec(limits=limits))
    conditions = GameConditions("xiangqi", Rules(), Adjudication(), seed=1)
    job = conditions.job(Pairing(0, 0, 0, 1, 0), players[0].spec, players[1].spec, Opening(START))
    record = play_game(job, players, StopFlag())
    assert (record.result, record.reason) == ("0-1", reason)
    assert (players[0].process_id is not None) is (mode == "until_stop")
    first = players[0].process_id
    players[0].new_game(Opening(START), StopFlag())
    assert players[0].process_id is not None
    assert first in (None, players[0].process_id)


@pytest.mark.parametrize(("mode", "says"), [("until_stop", "it ignores its limit (nodes=9)"), ("hang", "it last said")])
def test_the_watchdog_tells_an_engine_that_ignores_its_limit_from_one_that_hangs(
    make: Callable[..., UciPlayer], mode: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(external, "LATE_ANSWER_MS", 60_000 if mode == "until_stop" else 250)
    player = make(mock_spec(mode, settings={"at": 1}, limits=Limits.parse("nodes=9"), watchdog_ms=100))
    player.new_game(Opening(START), StopFlag())
    with pytest.raises(PlayerFault) as caught:
        player.move(game_named("xiangqi").position(), [], None, StopFlag())
    assert caught.value.reason == "no_answer"
    assert "0.1 s, the watchdog's deadline" in caught.value.text
    assert says in caught.value.text
    assert ("ignores" in caught.value.text) is (mode == "until_stop")


@pytest.mark.parametrize("mode", ["until_stop", "hang"])
def test_the_stop_flag_interrupts_a_search(make: Callable[..., UciPlayer], mode: str) -> None:
    player = make(mock_spec(mode, settings={"at": 1}, watchdog_ms=30_000))
    player.new_game(Opening(START), StopFlag())
    stop = StopFlag()
    stop.set()
    began = time.monotonic()
    with pytest.raises(GameStopped):
        player.move(game_named("xiangqi").position(START), [], None, stop)
    assert time.monotonic() - began < 5.0
    player.new_game(Opening(START), StopFlag())  # it is of use again, restarted or not


# --- Specifications ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"limits": Limits.parse("clock=10,node_clock=1000")}, "cannot play on the node clock"),
        ({"limits": Limits.parse("clock=10,cpu")}, "cannot play on the cpu clock"),
        ({"limits": Limits()}, "no limit"),
        ({"command": ()}, "command is missing"),
        ({"protocol": "uic"}, "expected builtin, uci, .* .did you mean 'uci'"),
        ({"options": (("ranks", "3"),)}, "expected 0, 1 or auto"),
        ({"restart": "never"}, "expected on_fault or always"),
        ({"watchdog_ms": 0}, "watchdog_ms = 0"),
    ],
)
def test_specifications_no_harness_could_run(changes: dict[str, object], text: str) -> None:
    spec = replace(mock_spec(), **changes)  # type: ignore[arg-type]
    with pytest.raises(PlayerError, match=text) as caught:
        check_player(spec, "xiangqi", "demo.toml")
    assert str(caught.value).startswith("demo.toml: player 'good'")
    with pytest.raises(PlayerError):
        make_player(spec, "xiangqi")


def test_a_game_the_protocol_does_not_know() -> None:
    with pytest.raises(PlayerError, match="othello cannot be played over uci"):
        check_player(mock_spec(), "othello")
