"""The engine as a program: whatever it is told it goes on, it ends with its input, and it plays as the engine does."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from elolab.arena.play.game import play_game
from elolab.arena.players.registry import make_player
from elolab.arena.records import GameJob, Opening, Pairing, PlayerSpec
from elolab.command_line import main
from elolab.engine.engine import Clock, Engine, StopFlag
from elolab.engine.games import GAMES, game_named
from elolab.engine.protocols import SERVED_PROTOCOLS, protocols_for
from elolab.engine.protocols.engine_server import EngineServer
from elolab.engine.protocols.inbox import MAX_LINE, EndOfInput, InputLine, LineTooLong, read_lines
from elolab.engine.protocols.ucci import UcciServer
from elolab.engine.rules import Adjudication, Rules
from elolab.engine.search.reports import ReportBoard
from elolab.engine.settings.limits import Limits
from tests.support.conversation import Conversation
from tests.support.residence import resident_share

ROOT = Path(__file__).parents[3]


@dataclass(frozen=True)
class Manner:
    """What to say to a session of a protocol."""

    beginning: str
    """Said first; searches of a level or depth of its own are short afterwards."""
    patient: str
    """Said first where a search is to be a long one."""
    answer: str
    """The line that answers ``patient``."""
    endless: str
    """Asks for a search that does not end soon, and for more to be written while it runs."""
    synchronisation: tuple[str, str] | None
    """What ends a search or waits for it, and what is then answered; ``None`` where there is nothing of the kind."""


MANNERS = {
    "ucci": Manner("ucci", "ucci", "ucciok", "go infinite", ("stop\nisready", "readyok")),
    "uci": Manner("uci", "uci", "uciok", "go infinite", ("stop\nisready", "readyok")),
    "ucicyclone": Manner("uci", "uci", "uciok", "go infinite", ("stop\nisready", "readyok")),
    "xboard": Manner(
        "xboard\nsd 2\nst 1",
        "protover 2\nst 1000",
        "feature done=1",
        "post\ngo",
        ("force\nping 1234", "pong 1234"),
    ),
    "qianhong": Manner("qianhong", "LEVEL 9", "OK", "AI\nLEVEL", None),
    "gtp": Manner(
        "elolab-limit depth=2",
        "elolab-limit move_time=0.2",
        "=",
        "genmove b",
        ("1234 name", "=1234 elolab"),
    ),
    "nboard": Manner("nboard 2", "set depth 60\nping 1", "pong", "go", ("ping 1234", "pong 1234")),
}


# Lines from bytes


def test_a_huge_line_costs_no_memory_and_only_itself() -> None:
    class Counted(io.BytesIO):
        most = 0

        def readline(self, size: int | None = -1, /) -> bytes:
            line = super().readline(size)
            self.most = max(self.most, len(line))
            return line

    stream = Counted(b"x" * 100 * MAX_LINE + b"\nisready\r\nhalf")
    assert list(read_lines(stream)) == [LineTooLong(), InputLine("isready"), InputLine("half"), EndOfInput()]
    assert stream.most == MAX_LINE + 1


@pytest.mark.parametrize(("surplus", "event"), [(0, InputLine), (1, LineTooLong)])
@pytest.mark.parametrize("end", [b"\n", b""])
def test_the_longest_line(surplus: int, event: type, end: bytes) -> None:
    first, last = read_lines(io.BytesIO(b"x" * (MAX_LINE + surplus) + end))
    assert isinstance(first, event)
    assert last == EndOfInput()


def test_what_is_not_utf8_and_nul_become_harmless() -> None:
    assert next(read_lines(io.BytesIO(b"go\0depth \xff\xfe\n"))) == InputLine("go depth \ufffd\ufffd")


# Garbage

VOCABULARY = """
ucci uci isready position startpos fen moves h2e2 h3e3 h9g7 a10a9 go depth infinite nodes time movetime wtime btime
movestogo increment searchmoves mate ponder draw ponderhit stop setoption name value true false usemillisec hashsize
Hash NullMove Tempo MultiPV debug on newgame ucinewgame banmoves probe w - 0 1 2 -1 99999999999999999999 １ x
rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR
LEVEL FEN PLAY H2-E2 LOAD AI ABORT TIMEOUT HINTS UNDO BAN BGTHINK ON OFF SCR
genmove play b w d3 c4 pass PA undo clear_board boardsize 8 komi showboard final_score list_commands known_command
time_settings time_left elolab-set EndgameEmpties # 17
nboard set game hint ping learn contempt D3/1/2 (;GM[Othello]BO[8 -*O ;) B[D3]
xboard protover 2 new force usermove setboard ? level 5:00 st nps otim hard easy post remove option=1 memory result
"""
"""Without ``batch`` and ``elolab-limit``, after which a search of 99999999999999999999 nodes is not to be stopped."""
WORDS = st.sampled_from(VOCABULARY.split())
LINES = st.one_of(
    st.lists(WORDS, max_size=8).map(lambda words: " ".join(words).encode() + b"\n"),
    st.binary(max_size=30).map(lambda data: data + b"\n"),
    st.text(max_size=30).map(lambda text: text.encode("utf-8", "surrogatepass") + b"\r\n"),
)


def test_every_protocol_has_its_manners_and_a_game() -> None:
    assert set(MANNERS) == set(SERVED_PROTOCOLS)
    for entry in SERVED_PROTOCOLS.values():
        assert issubclass(entry.load(), EngineServer)
        assert set(entry.games) <= set(GAMES)
    assert [entry.name for entry in protocols_for("xiangqi")] == ["ucci", "uci", "ucicyclone", "xboard", "qianhong"]
    assert protocols_for("draughts") == []


@pytest.mark.integration
@pytest.mark.parametrize("protocol", MANNERS)
@given(lines=st.lists(LINES, max_size=25), half=st.binary(max_size=10))
@settings(max_examples=20)
def test_no_input_ends_it_early_or_keeps_it_from_ending(protocol: str, lines: list[bytes], half: bytes) -> None:
    manner, entry = MANNERS[protocol], SERVED_PROTOCOLS[protocol]
    conversation = Conversation(lambda output: entry.load()(entry.games[0], {"hash_mb": 1}, output))
    conversation.say(manner.beginning)
    conversation.say_bytes(b"".join(lines))
    if manner.synchronisation is not None:
        command, answer = manner.synchronisation
        conversation.say(command)
        conversation.hear_until(answer)
    conversation.say_bytes(half)
    assert all(line.isprintable() for line in conversation.close())


@pytest.mark.parametrize(
    ("protocol", "lines", "answer"),
    [
        ("uci", "setoption name Hash value 64\nisready", "readyok"),
        ("uci", "isready\nsetoption name Hash value 64\nucinewgame\ndebug on\nx", "info string unknown"),
        ("ucicyclone", "setoption name Hash value 64\nisready", "readyok"),
        ("ucci", "ucci\nsetoption hashsize 64\nisready", "readyok"),
        ("xboard", "memory 64\nping 1", "pong 1"),
        ("gtp", "elolab-set hash_mb 64\nclear_board\n7 name", "=7"),
        ("qianhong", "LEVEL", "10"),
        ("nboard", "ping 1", "pong 1"),
    ],
)
def test_the_memory_of_the_next_search_is_there_once_it_is_ready(protocol: str, lines: str, answer: str) -> None:
    entry = SERVED_PROTOCOLS[protocol]
    takes_size = "64" in lines
    conversation = Conversation(
        lambda output: entry.load()(entry.games[0], {"hash_mb": 1 if takes_size else 64}, output)
    )
    conversation.say(lines)
    conversation.hear_until(answer)
    table = conversation.session.engine.memory.table  # type: ignore[union-attr]
    assert table.nbytes == 64 << 20
    assert resident_share(table) == 1
    conversation.close()


@pytest.mark.parametrize("protocol", MANNERS)
def test_it_stops_searching_when_nobody_listens(protocol: str) -> None:
    manner, entry = MANNERS[protocol], SERVED_PROTOCOLS[protocol]
    conversation = Conversation(lambda output: entry.load()(entry.games[0], {}, output))
    conversation.say(manner.patient)
    conversation.hear_until(manner.answer)
    conversation.listener.is_gone = True
    conversation.say(manner.endless)
    with pytest.raises(BrokenPipeError):
        conversation.close()
    assert not [thread for thread in threading.enumerate() if thread.name == "search"]


def test_an_error_of_the_search_is_told_and_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise MemoryError

    conversation = Conversation(lambda output: UcciServer("xiangqi", {}, output))
    conversation.say("ucci")
    conversation.hear_until("ucciok")
    monkeypatch.setattr(Engine, "search", fail)
    conversation.say("go depth 1")
    assert conversation.hear() == "info message not enough memory; choose a smaller hash table"
    assert conversation.hear() == "nobestmove"
    assert conversation.close() == []


# Reports and pondering


def test_the_board_tells_of_every_line_of_every_iteration() -> None:
    engine, position, board = Engine("xiangqi"), game_named("xiangqi").position(), ReportBoard()
    result = engine.search(position, Limits(depth=4), lines=3, board=board)
    reports = board.unread()
    assert [(report.depth, report.line) for report in reports] == [(d, line) for d in (1, 2, 3, 4) for line in range(3)]
    # Where moves are pruned, a later line may turn out the better; the result has the best first.
    last = sorted(reports[-3:], key=lambda report: -report.score)
    assert [report.score for report in last] == [line.score for line in result.lines]
    assert reports[-1].nodes == result.nodes
    assert tuple(position.game.format_move(code) for code in last[0].variation) == result.principal_variation
    assert all(earlier.nodes <= later.nodes for earlier, later in pairwise(reports))
    assert board.unread() == []


def test_a_search_that_nobody_watches_is_the_same() -> None:
    position = game_named("xiangqi").position()
    watched = Engine("xiangqi").search(position, Limits(depth=5), board=ReportBoard())
    alone = Engine("xiangqi").search(position, Limits(depth=5))
    assert (watched.nodes, watched.move, watched.score) == (alone.nodes, alone.move, alone.score)


NODE_CLOCK = Limits(move_time_ms=20, clock_kind="node", nodes_per_second=1_000_000)
"""20 000 nodes."""


def ponder(elapsed: str, nodes_before_hit: int) -> tuple[int, int]:
    """Nodes at the ponder hit that did not count, and nodes in all, of a search on the node clock."""
    engine = Engine("xiangqi", {"ponder_elapsed": elapsed, "hash_mb": 1, "poll_interval_nodes": 64})
    flag, stop, board = StopFlag(), StopFlag(), ReportBoard()
    flag.set()
    found = []
    position = game_named("xiangqi").position()
    search = threading.Thread(
        target=lambda: found.append(engine.search(position, NODE_CLOCK, stop=stop, ponder=flag, board=board))
    )
    search.start()
    while not any(report.nodes > nodes_before_hit for report in board.unread()):
        assert search.is_alive(), "a clock ended the search before the ponder hit"
    flag.clear()
    search.join()
    assert engine.memory is not None
    return int(engine.memory.search.uncounted_ns) // 1000, found[0].nodes


def test_no_clock_runs_before_the_ponder_hit_and_all_of_it_after() -> None:
    uncounted, nodes = ponder("from_hit", 100_000)
    assert uncounted > 100_000
    assert nodes - uncounted == 20_000


def test_time_from_the_start_has_long_passed_at_a_late_hit() -> None:
    uncounted, nodes = ponder("from_start", 100_000)
    assert uncounted == 0
    assert nodes > 100_000


def test_a_hit_before_the_search_begins_is_an_ordinary_search() -> None:
    position = game_named("xiangqi").position()
    ordinary = Engine("xiangqi").search(position, NODE_CLOCK)
    hit = Engine("xiangqi").search(position, NODE_CLOCK, ponder=StopFlag())
    assert (hit.nodes, hit.move) == (ordinary.nodes, ordinary.move) == (20_000, ordinary.move)


@pytest.mark.parametrize(("ponders", "factor"), [(False, 1000), (True, 1250)])
def test_who_ponders_may_spend_more(ponders: bool, factor: int) -> None:
    engine = Engine("xiangqi", {"ponder_time_factor": 1250, "time_soft_factor": 500, "hash_mb": 1})
    clock = Clock(20_000, ponders=ponders)
    engine.search(game_named("xiangqi").position(), Limits(depth=1, clock_ms=20_000), clock)
    assert engine.memory is not None
    assert int(engine.memory.search.soft_ns) == 1_000_000_000 * factor // 1000 // 2


# The program


def program(*words: str) -> list[str]:
    return [sys.executable, str(ROOT / "elolab"), "engine", *words]


Ended = tuple[int, list[str], list[str]]
"""Exit code, what it said, and what it complained of (other than that it has to be compiled)."""
Run = Callable[[list[str], bytes], Ended]
"""A function of the words of the command line and of the input."""


def ended(code: int, said: str, complaints: str) -> Ended:
    """Of whole texts."""
    return code, said.splitlines(), [line for line in complaints.splitlines() if "compiling the engine" not in line]


def run(words: list[str], said: bytes) -> Ended:
    """In a process of its own."""
    finished = subprocess.run(program(*words), input=said, capture_output=True, timeout=300)
    return ended(finished.returncode, finished.stdout.decode(), finished.stderr.decode())


@pytest.fixture
def run_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """The same command line in this process, which saves the start of one."""

    def run_here(words: list[str], said: bytes) -> Ended:
        path = tmp_path / "input"
        path.write_bytes(said)
        with path.open() as file:
            monkeypatch.setattr(sys, "stdin", file)
            code = main(["engine", *words])
        assert not [thread for thread in threading.enumerate() if thread.name == "search"]
        return ended(code, *capsys.readouterr())

    return run_here


@pytest.mark.integration
def test_a_file_of_commands_is_worked_off() -> None:
    said = b"ucci\nsetoption batch true\nposition startpos moves h2e2\ngo depth 4\ngo depth 2\nquit\n"
    code, lines, complaints = run([], said)
    assert (code, complaints) == (0, [])
    assert [line.split()[0] for line in lines if line.split()[0] in ("ucciok", "bestmove", "bye")] == [
        "ucciok", "bestmove", "bestmove", "bye",
    ]  # fmt: skip
    assert lines[-1] == "bye"


@pytest.mark.parametrize("protocol", MANNERS)
def test_it_ends_with_its_input(protocol: str, run_here: Run) -> None:
    words = ["--protocol", protocol, "--game", SERVED_PROTOCOLS[protocol].games[0]]
    code, lines, complaints = run_here(words, b"\xff\0garbage")
    assert (code, complaints) == (0, [])
    refusals = {
        "gtp": ["? unknown command", ""],
        "xboard": ["Error (unknown command): \N{REPLACEMENT CHARACTER} garbage"],
    }
    assert lines == refusals.get(protocol, [])


@pytest.mark.integration
def test_the_usual_protocol_of_a_game_needs_no_name() -> None:
    assert run(["--game", "othello"], b"2 protocol_version\n") == (0, ["=2 2", ""], [])


@pytest.mark.integration
def test_an_empty_input_and_a_closed_output(run_here: Run) -> None:
    assert run_here([], b"") == (0, [], [])
    read, write = os.pipe()
    os.close(read)
    with subprocess.Popen(program(), stdin=subprocess.PIPE, stdout=write, stderr=subprocess.PIPE) as process:
        os.close(write)
        _, complaint = process.communicate(b"ucci\ngo infinite\n", timeout=120)
    assert process.returncode == 141
    assert b"Traceback" not in complaint


def test_settings_from_a_preset_and_the_command_line(tmp_path: Path, run_here: Run) -> None:
    preset = tmp_path / "slow.toml"
    preset.write_text("[xiangqi]\ntempo = 77\nevaluation = 'material'\n")
    _, lines, _ = run_here(["--preset", str(preset), "--set", "tempo=78"], b"ucci\ngo depth 0\nquit\n")
    assert lines[0].endswith("slow")
    assert "option Tempo type spin min 0 max 200 default 78" in lines
    assert lines[-3:] == ["info depth 0 score 78", "nobestmove", "bye"]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--preset", "defualt"], "no engine preset 'defualt' (did you mean 'default' or "),
        (["--protocol", "gpt"], "invalid choice: 'gpt'"),
        (["--protocol", "gtp"], "cannot play xiangqi, only othello (--game othello); xiangqi is played over ucci or"),
        (["--protocol", "uci", "--game", "othello"], "othello is played over gtp or nboard"),
        (["--set", "nul_move=on"], "unknown parameter 'nul_move'"),
        (["--game", "checkers"], "checkers"),
    ],
)
def test_mistakes_on_the_command_line(words: list[str], text: str, run_here: Run) -> None:
    code, said, complaints = run_here(words, b"")
    assert (code, said, len(complaints)) == (2, [], 1)
    assert text in complaints[0]


def test_it_describes_itself_to_qianhong(run_here: Run) -> None:
    assert run_here(["--protocol", "qianhong", "-info"], b"")[1][0] == "QHPLUGIN V1.3"


# A match against itself


def play(specs: tuple[PlayerSpec, PlayerSpec]) -> list[tuple[str, int | None, int | None, int | None]]:
    """The moves of a game with scores, depths and nodes."""
    job = GameJob(
        "xiangqi", Rules(), Adjudication(maximum_plies=16), Pairing(0, 0, 0, 1, 0), *specs,
        Opening(game_named("xiangqi").start, ("h2e2",)), 1,
    )  # fmt: skip
    players = (make_player(specs[0], "xiangqi"), make_player(specs[1], "xiangqi"))
    try:
        record = play_game(job, players, StopFlag())
    finally:
        for player in players:
            player.close()
    assert record.reason == "maximum_length", record
    return [(move.move, move.score, move.depth, move.nodes) for move in record.moves]


@pytest.mark.integration
def test_over_uci_it_plays_as_it_does_built_in() -> None:
    """In both rank bases: the same moves, scores and nodes.

    What an iteration found that was then broken off is told with its depth, and recorded with that of the last before.
    """
    limits = Limits(nodes=700)
    programs = tuple(
        PlayerSpec(f"ranks {ranks}", "uci", limits, command=tuple(program("--protocol", "uci", "--ranks", ranks)))
        for ranks in ("0", "1")
    )
    engine = Engine("xiangqi")
    builtin = tuple(
        PlayerSpec(name, "builtin", limits, parameters=tuple(engine.parameters.items())) for name in ("a", "b")
    )
    told, kept = play(programs), play(builtin)  # type: ignore[arg-type]
    assert [(move, score, nodes) for move, score, _, nodes in told] == [
        (move, score, nodes) for move, score, _, nodes in kept
    ]
    deeper = [(above or 0) - (below or 0) for (_, _, above, _), (_, _, below, _) in zip(told, kept, strict=True)]
    assert set(deeper) == {0, 1}
