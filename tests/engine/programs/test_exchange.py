"""Moves exchanged in compiled code: as the interpreter would read, judge and ask; what is unusual is left to it.

The programs are threads at the other end of pipes. The oracles are ``arena.protocols.uci`` and ``Arbiter.play``.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elolab.arena.protocols.uci import GameLine, UciSession, read_move
from elolab.engine.engine import StopFlag
from elolab.engine.games import game_named
from elolab.engine.play import Arbiter
from elolab.engine.programs import exchange
from elolab.engine.programs.exchange import Exchange, Exchanged, Program
from elolab.engine.rules import Adjudication, Ending, Rules

GAME = game_named("xiangqi")
LINE = ("h2e2", "h9g7", "h0g2", "i9h9", "i0h0", "b9c7", "c3c4", "g6g5")
SCORED = "info depth 5 seldepth 7 multipv 1 score cp 31 nodes 1200 nps 9 time 1 pv h2e2 h9g7"


class Answering:
    """A program that answers each question, which is two lines, as a function of the moves played says."""

    def __init__(self, answer: Callable[[list[str]], bytes | None]) -> None:
        self.questions: list[str] = []
        self._answer = answer
        self._from, self.input = os.pipe()
        self.output, self._to = os.pipe()
        self.error, self.error_input = os.pipe()
        for descriptor in (self.input, self.output, self.error):
            os.set_blocking(descriptor, False)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        with open(self._from, encoding="ascii") as lines:
            for line in lines:
                self.questions.append(line.rstrip("\n"))
                if line.startswith("go"):
                    position = self.questions[-2]
                    said = self._answer(position.partition(" moves ")[2].split())
                    if said is None:
                        break
                    os.write(self._to, said)
        os.close(self._to)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            os.close(self.input)
        self._thread.join()
        for descriptor in (self.output, self.error, self.error_input):
            os.close(descriptor)


def following(information: str = SCORED, first_rank: int = 0, end: str = "\n") -> Callable[[list[str]], bytes]:
    """Answers with the next move of ``LINE``."""

    def answer(moves: Sequence[str]) -> bytes:
        move = LINE[len(moves)]
        written = f"{move[0]}{int(move[1]) + first_rank}{move[2]}{int(move[3]) + first_rank}"
        return f"{information}{end}bestmove {written} ponder a0a1{end}".encode()

    return answer


@contextlib.contextmanager
def programs(*answers: Callable[[list[str]], bytes | None]) -> Iterator[list[Answering]]:
    answering = [Answering(answer) for answer in answers]
    try:
        yield answering
    finally:
        for program in answering:
            program.close()


def play(
    answering: Sequence[Answering],
    *,
    room: int = len(LINE),
    ranks: Sequence[int] = (0, 0),
    before: Sequence[str] = (),
    adjudication: Adjudication | None = None,
    allowed_ns: int = 2**62,
    stop: StopFlag | None = None,
) -> tuple[Exchanged, Arbiter]:
    position = GAME.position(GAME.start, before)
    arbiter = Arbiter(position, Rules(), adjudication or Adjudication(resign_moves=0, draw_moves=0))
    sides = tuple(
        Program(
            one.input, one.output, one.error,
            GameLine(GAME.start, first).command(before), "go nodes 1200", first, allowed_ns,
        )
        for one, first in zip(answering, ranks, strict=True)
    )  # fmt: skip
    exchanged = Exchange(arbiter, stop or StopFlag()).play((sides[0], sides[1]), len(before) % 2, room)
    return exchanged, arbiter


@pytest.mark.parametrize("before", [(), LINE[:3]])
@pytest.mark.parametrize("ranks", [(0, 0), (1, 0), (1, 1)])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_moves_are_asked_for_read_and_made(before: Sequence[str], ranks: Sequence[int], end: str) -> None:
    with programs(*(following(first_rank=first, end=end) for first in ranks)) as answering:
        exchanged, _ = play(answering, ranks=ranks, before=before, room=len(LINE) - len(before))
    assert [move.move for move in exchanged.moves] == [*LINE[len(before) :]]
    assert [move.side for move in exchanged.moves] == [ply % 2 for ply in range(len(before), len(LINE))]
    assert {(move.score, move.depth, move.nodes) for move in exchanged.moves} == {(31, 5, 1200)}
    assert all(0 < move.began_ns <= move.arrived_ns for move in exchanged.moves)
    assert (exchanged.ending, exchanged.question, exchanged.output, exchanged.side) == (None, "", b"", 0)
    for side, (program, first) in enumerate(zip(answering, ranks, strict=True)):
        line = GameLine(GAME.start, first)
        expected = []
        for ply in range(len(before), len(LINE)):
            if ply % 2 == side:
                expected += [line.command(LINE[:ply]), "go nodes 1200"]
        assert program.questions == expected
        own = [move for move in exchanged.moves if move.side == side]
        assert "\n".join(move.question for move in own).split("\n") == expected
        assert all(move.output.decode().endswith(f" ponder a0a1{end}") for move in own)


def test_an_answer_in_pieces() -> None:
    def slowly(program: list[Answering], moves: list[str]) -> bytes:
        for piece in (b"info depth 3 sco", b"re cp 7 nodes 9\nbest", b"move h2"):
            os.write(program[0]._to, piece)
            time.sleep(0.01)
        return b"e2\n"

    slow: list[Answering] = []
    with programs(lambda moves: slowly(slow, moves), following()) as answering:
        slow += answering
        exchanged, _ = play(answering, room=1)
    assert [(move.move, move.score, move.depth, move.nodes) for move in exchanged.moves] == [("h2e2", 7, 3, 9)]


NUMBERS = st.integers(-40_000, 40_000).map(str)
WORDS = st.one_of(
    st.tuples(st.just("depth"), st.integers(0, 300).map(str)),
    st.tuples(st.just("nodes"), st.integers(0, 10**12).map(str)),
    st.tuples(st.just("score cp"), NUMBERS),
    st.tuples(st.just("score mate"), st.integers(-60, 60).map(str)),
    st.tuples(st.just("multipv"), st.sampled_from("123")),
    st.sampled_from([("lowerbound",), ("upperbound",), ("string", "a"), ("seldepth", "9"), ("pv", "h2e2"), ("x",)]),
)
INFORMATION = st.lists(WORDS, unique_by=lambda words: words[0].split()[0], max_size=7).map(
    lambda words: " ".join(["info", *(" ".join(part) for part in words)])
)


OTHER_LINES = st.sampled_from(["", "info", "information 5", "banner depth 3"])
SPACING = st.sampled_from([(" ", ""), (" ", " "), ("  ", "   ")])
"""What stands between words, and before the first."""


@given(st.lists(st.one_of(INFORMATION, OTHER_LINES), max_size=5), SPACING)
def test_what_is_said_before_a_move_is_read_as_by_the_interpreter(lines: list[str], spacing: tuple[str, str]) -> None:
    between, before = spacing
    said = "".join(f"{before}{line.replace(' ', between)}\n" for line in [*lines, "bestmove h2e2"])
    with programs(lambda moves: said.encode(), following()) as answering:
        exchanged, _ = play(answering, room=1)
    session = UciSession()
    session.think()
    assert session.receive(said.rstrip("\n")) == "bestmove"
    if exchanged.moves:
        move = exchanged.moves[0]
        assert (move.score, move.depth, move.nodes) == session.information()
        assert move.output.decode() == said
    else:
        assert exchanged.output.decode() == said


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ((), (None, None, None)),
        ((SCORED, "info nodes 1300 time 5"), (31, 5, 1300)),
        ((SCORED, "info depth 6 score cp 99 lowerbound nodes 1250 pv a0a1"), (31, 5, 1250)),
        ((SCORED, "info depth 6 multipv 2 score cp 8 nodes 1250"), (31, 5, 1250)),
        ((SCORED, "info string depth 9 score cp 4 nodes 2"), (31, 5, 1200)),
        ((SCORED.replace("cp 31", "mate -2"), "debug: done"), (-29_996, 5, 1200)),
        (("info depth 4 currmove h2e2", "info score cp -5"), (-5, None, None)),
        (("  info  depth  4 multipv  1 score  cp 12   nodes 7 ",), (12, 4, 7)),
        (("infodepth 4 score cp 12 nodes 7",), (None, None, None)),
    ],
)
def test_usual_lines_are_not_left_to_the_interpreter(
    lines: Sequence[str], expected: tuple[int | None, int | None, int | None]
) -> None:
    for answer in ("bestmove h2e2\n", "   bestmove  h2e2  \r\n"):
        said = "\n".join([*lines, answer]).encode()
        with programs(lambda moves, said=said: said, following()) as answering:  # type: ignore[misc]
            exchanged, _ = play(answering, room=1)
        assert [(move.score, move.depth, move.nodes) for move in exchanged.moves] == [expected]


@pytest.mark.parametrize(
    "said",
    [
        b"bestmove (none)\n", b"bestmove\n", b"bestmove h2e9\n", b"bestmove h2\n", b"bestmove h2e11\n",
        b"bestmovex h2e2\n", b"bestmove h2e2\nbestmove h2e2\n", b"info score cp x nodes 5\nbestmove h2e2\n",
        b"info depth 5 score 31\nbestmove h2e2\n",
        b"info string \xe5\xb0\x86\nbestmove h2e2\n", b"info depth\t5\nbestmove h2e2\n",
        b"a\rinfo depth 5\nbestmove h2e2\n",
        b"info depth 99999999999999999 nodes 4\nbestmove h2e2\n", b"x" * 1_000_000 + b"\nbestmove h2e2\n",
    ],
    ids=lambda said: repr(said[:60]),
)  # fmt: skip
def test_what_is_unusual_is_handed_over_whole(said: bytes) -> None:
    with programs(following(), lambda moves: None if moves != [LINE[0]] else said) as answering:
        exchanged, arbiter = play(answering)
        rest = bytearray()
        deadline = time.monotonic() + 10
        while len(exchanged.output) + len(rest) < len(said) and time.monotonic() < deadline:
            with contextlib.suppress(BlockingIOError):
                rest += os.read(answering[1].output, 1 << 16)
    assert [move.move for move in exchanged.moves] == [LINE[0]]
    assert exchanged.output + rest == said
    assert exchanged.question == f"{GameLine(GAME.start, 0).command(LINE[:1])}\ngo nodes 1200"
    assert (exchanged.side, exchanged.unsent, arbiter.moves) == (1, b"", 1)
    assert exchanged.began_ns > exchanged.moves[0].arrived_ns
    assert arbiter.play(LINE[1], None) is None  # nothing has happened on the board


def test_a_program_that_ends_or_says_nothing_is_left_waiting() -> None:
    silence = threading.Event()

    def wait(moves: list[str]) -> None:
        silence.wait(10)

    for answer in (lambda moves: None, wait):
        with programs(following(), answer) as answering:
            exchanged, _ = play(answering)
            silence.set()
        assert (len(exchanged.moves), exchanged.output, bool(exchanged.question)) == (1, b"", True)


def test_a_program_that_does_not_read_leaves_its_question_unsent() -> None:
    with programs(following(), following()) as answering:
        blocked = answering[1]
        stuffing, told = os.pipe()
        os.set_blocking(told, False)
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(told, b"x" * 4096)
        own, blocked.input = blocked.input, told
        exchanged, _ = play(answering)
        os.close(own)
        os.close(stuffing)
    assert len(exchanged.moves) == 1
    assert exchanged.unsent.decode() == f"{exchanged.question}\n"


def test_errors_and_what_nobody_asked_for_are_read_by_the_interpreter() -> None:
    with programs(following(), following()) as answering:
        os.write(answering[1].error_input, b"assertion failed\n")
        exchanged, _ = play(answering)
        assert (len(exchanged.moves), bool(exchanged.question)) == (1, True)
    with programs(following(), following()) as answering:
        os.write(answering[1]._to, b"bestmove a0a1\n")
        exchanged, _ = play(answering)
        assert (len(exchanged.moves), exchanged.question, exchanged.output) == (1, "", b"bestmove a0a1\n")
        assert answering[1].questions == []


def test_a_move_that_takes_too_long_and_a_run_that_is_stopped() -> None:
    def late(moves: list[str]) -> bytes:
        time.sleep(0.02)
        return following()(moves)

    with programs(following(), late) as answering:
        exchanged, _ = play(answering, allowed_ns=15_000_000)
    assert len(exchanged.moves) <= 1
    assert exchanged.question
    stop = StopFlag()

    def stopping(moves: list[str]) -> bytes:
        stop.set()
        return following()(moves)

    with programs(following(), stopping) as answering:
        exchanged, _ = play(answering, stop=stop)
    assert (len(exchanged.moves), exchanged.question) == (2, "")


def test_the_game_ends_as_the_arbiter_says() -> None:
    adjudication = Adjudication(resign_score=500, resign_moves=2, draw_moves=0, maximum_plies=30)
    losing, winning = SCORED.replace("31", "-900"), SCORED.replace("31", "900")
    with programs(following(losing), following(winning)) as answering:
        exchanged, arbiter = play(answering, adjudication=adjudication)
    oracle = Arbiter(GAME.position(), Rules(), adjudication)
    ending: Ending | None = None
    for ply, move in enumerate(LINE):
        ending = oracle.play(move, -900 if ply % 2 == 0 else 900)
        if ending is not None:
            break
    assert ending is not None
    assert (exchanged.ending, len(exchanged.moves), arbiter.moves) == (ending, ply + 1, ply + 1)


def test_output_that_grows_too_long_is_left_to_the_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "OUTPUT_BYTES", 2 * exchange.READ_BYTES + 500)
    with programs(following("info string " + "x" * 290), following()) as answering:
        exchanged, _ = play(answering)
    assert 1 < len(exchanged.moves) < len(LINE)
    assert exchanged.question == ""


@given(st.text(alphabet="abij0123456789 (-", max_size=8))
def test_moves_are_read_as_by_the_interpreter(text: str) -> None:
    for first_rank in (0, 1):
        with programs(lambda moves: f"bestmove {text}\n".encode(), following()) as answering:
            exchanged, _ = play(answering, room=1, ranks=(first_rank, 0))
        words = text.split()
        expected = read_move(words[0], first_rank) if words else None
        legal = expected in GAME.position().legal_moves()
        assert [move.move for move in exchanged.moves] == ([expected] if legal else [])
