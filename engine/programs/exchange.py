"""Xiangqi games between two UCI programs, with the moves requested, read and judged in compiled code.

Python takes several times as long for a move as the system takes to transfer it. This module handles the common case: a
program without a clock answers within ``PATIENCE_MS``, with lines that are easy to parse and a legal move. In any other
case it returns, and Python continues from that state: before a request, or within an answer.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from elolab.engine.compiled.kernel import JIT_DISABLED, array_of, call_at, jit, monotonic_ns, new_record, read_flag
from elolab.engine.engine import StopFlag
from elolab.engine.games.xiangqi.notation import format_move
from elolab.engine.play import NO_SCORE, OPEN, Arbiter, count_leading
from elolab.engine.programs.pipes import read_bytes, wait_for_input, write_bytes
from elolab.engine.rules import Ending
from elolab.engine.values import BAN_BOUND, MATE, MAX_GAME_PLIES, MAX_PLY

PATIENCE_MS = 100
"""Most milliseconds to wait for an answer; for slower programs, the overhead of Python is negligible."""
OUTPUT_BYTES = 1 << 20
"""Size of the buffer for the programs' output; when it is full, Python takes over."""
READ_BYTES = 1 << 16
QUESTION_BYTES = 1 << 14
"""Size of a request: a position and the moves of the longest game."""
KEPT_QUESTIONS = 40
"""Number of last moves reported with their requests, for the description of a fault."""
NO_NUMBER = -1
"""A depth or number of nodes that the program did not report."""
_UNWRITTEN = -(1 << 62)
"""The score of a row that has not been written."""

UNASKED = 0
"""State: the next move has not been requested, or the game is over."""
ASKED = 1
"""State: the move has been requested, at least in part, without an answer of the common case."""

EXCHANGE_DTYPE = np.dtype(
    [
        ("exchange", np.int64),
        ("inputs", np.int64, (2,)),  # descriptors of each side's program
        ("outputs", np.int64, (2,)),
        ("errors", np.int64, (2,)),  # -1 for one that is closed
        ("first_ranks", np.int64, (2,)),
        ("allowed_ns", np.int64, (2,)),  # time limit of a move
        ("question_bytes", np.int64, (2,)),
        ("command_bytes", np.int64, (2,)),
        ("questions_address", np.int64),
        ("output_address", np.int64),
        ("stop_address", np.int64),
        ("make_move", np.int64),  # address of the arbiter's function
        ("open_verdict", np.int64),
        ("room", np.int64),  # moves that may still be made
        ("side", np.int64),  # whose move it is
        ("has_moves", np.int64, (2,)),  # whether each side's question names moves already
        ("moves", np.int64),  # made since the opening
        ("made", np.int64),  # rows written: moves made by the exchange
        ("verdict", np.int64),
        ("unsent", np.int64),  # bytes of the last question
        ("began_ns", np.int64),  # when it was asked
        ("arrived_ns", np.int64),  # the last output
        ("taken", np.int64),  # output up to here belongs to moves that were made
        ("output_bytes", np.int64),
        ("score", np.int64),  # of the answer that is being read
        ("depth", np.int64),
        ("nodes", np.int64),
        ("scored_from", np.int64),
        ("scored_to", np.int64),
    ]
)

ROW_DTYPE = np.dtype(
    [
        ("move", np.int64),  # the kernels' number
        ("score", np.int64),
        ("depth", np.int64),
        ("nodes", np.int64),
        ("began_ns", np.int64),
        ("arrived_ns", np.int64),
        ("question_bytes", np.int64),
        ("output_from", np.int64),
        ("output_to", np.int64),
        ("scored_from", np.int64),  # the line with the score; empty if there is none
        ("scored_to", np.int64),
    ]
)


def _bytes(word: str) -> Any:
    return np.frombuffer(word.encode(), np.uint8)


_ANSWER = _bytes("bestmove")
_INFO = _bytes("info")
_DEPTH = _bytes("depth")
_NODES = _bytes("nodes")
_SCORE = _bytes("score")
_CENTIPAWNS = _bytes("cp")
_MATE = _bytes("mate")
_LINES = _bytes("multipv")
_REMARK = _bytes("string")
_LOWER = _bytes("lowerbound")
_UPPER = _bytes("upperbound")
_MOVES = _bytes(" moves")
_SPACE, _LINE_FEED, _RETURN, _LAST_LETTER = 32, 10, 13, 126
_ZERO, _NINE, _MINUS, _PLUS = 48, 57, 45, 43
_FILE_A, _FILE_I = 97, 105
_MOST_DIGITS = 15
_DEEPEST = 10_000

_UNUSUAL = -1
"""Result of a parser for input that Python must handle."""


# --- Reading ----------------------------------------------------------------------------------------------------------


@jit
def _is_word(text, begin, end, word):
    """Whether the bytes from ``begin`` to ``end`` are those of ``word``."""
    if end - begin != word.size:
        return False
    for place in range(word.size):  # noqa: SIM110
        if text[begin + place] != word[place]:
            return False
    return True


@jit
def _end_of_word(text, begin, end):
    while begin < end and text[begin] != _SPACE:
        begin += 1
    return begin


@jit
def _after_spaces(text, begin, end):
    while begin < end and text[begin] == _SPACE:
        begin += 1
    return begin


@jit
def _first_word_ends(text, begin, end, word):
    """End of ``word`` if it is the first word of the line from ``begin`` to ``end``; else ``_UNUSUAL``."""
    begin = _after_spaces(text, begin, end)
    stop = _end_of_word(text, begin, end)
    return stop if _is_word(text, begin, stop, word) else np.int64(_UNUSUAL)


@jit
def _is_number(text, begin, end):
    """Whether these bytes are a number with at most ``_MOST_DIGITS`` digits."""
    if begin < end and (text[begin] == _MINUS or text[begin] == _PLUS):
        begin += 1
    if begin == end or end - begin > _MOST_DIGITS:
        return False
    for place in range(begin, end):  # noqa: SIM110
        if text[place] < _ZERO or text[place] > _NINE:
            return False
    return True


@jit
def _number(text, begin, end):
    value = np.int64(0)
    for place in range(begin, end):
        if text[place] >= _ZERO:
            value = 10 * value + np.int64(text[place]) - _ZERO
    return -value if text[begin] == _MINUS else value


@jit
def _read_information(exchanges, text, begin, end, place):
    """Read score, depth and nodes of an ``info`` line, unless later lines gave them.

    Lines are read from the last to the first; the first word ends at ``place``. As in
    ``arena.protocols.uci.UciSession``, score and depth are from the last line with an exact score of the first
    variation, nodes from the last line with nodes. Returns 1 if all is known, 0 if not, or ``_UNUSUAL``.
    """
    talk = exchanges[0]
    depth = nodes = np.int64(NO_NUMBER)
    score = np.int64(NO_SCORE)
    is_bound = False
    place = _after_spaces(text, place, end)
    while place < end:
        stop = _end_of_word(text, place, end)
        is_depth = _is_word(text, place, stop, _DEPTH)
        is_nodes = _is_word(text, place, stop, _NODES)
        is_lines = _is_word(text, place, stop, _LINES)
        is_score = _is_word(text, place, stop, _SCORE)
        if _is_word(text, place, stop, _REMARK):
            return np.int64(0)
        if _is_word(text, place, stop, _LOWER) or _is_word(text, place, stop, _UPPER):
            is_bound = True
        is_mate = False
        if is_score:
            place = _after_spaces(text, stop, end)
            stop = _end_of_word(text, place, end)
            is_mate = _is_word(text, place, stop, _MATE)
            if not is_mate and not _is_word(text, place, stop, _CENTIPAWNS):
                return np.int64(_UNUSUAL)
        if is_depth or is_nodes or is_lines or is_score:
            place = _after_spaces(text, stop, end)
            stop = _end_of_word(text, place, end)
            if not _is_number(text, place, stop):
                return np.int64(_UNUSUAL)
            number = _number(text, place, stop)
            if is_lines:
                is_bound = is_bound or number != 1
            elif is_score:
                score = _mate_score(number) if is_mate else max(1 - BAN_BOUND, min(BAN_BOUND - 1, number))
            elif is_depth:
                if depth != NO_NUMBER or text[place] < _ZERO or number > _DEEPEST:
                    return np.int64(_UNUSUAL)
                depth = number
            else:
                if nodes != NO_NUMBER or text[place] < _ZERO:
                    return np.int64(_UNUSUAL)
                nodes = number
        place = _after_spaces(text, stop, end)
    if nodes != NO_NUMBER and talk.nodes == NO_NUMBER:
        talk.nodes = nodes
        if talk.depth == NO_NUMBER:
            talk.depth = depth  # unless the line with the score tells another
    if score != NO_SCORE and not is_bound and talk.score == NO_SCORE:
        talk.score = score
        talk.scored_from, talk.scored_to = begin, end
        if depth != NO_NUMBER:
            talk.depth = depth
    return np.int64(talk.score != NO_SCORE and talk.nodes != NO_NUMBER)


@jit
def _mate_score(number):
    # A mate in n of one's own moves takes 2n - 1 plies, being mated in n moves 2n.
    plies = min(2 * number - 1 if number > 0 else -2 * number, MAX_PLY)
    return MATE - plies if number > 0 else plies - MATE


@jit
def _read_lines(exchanges, text, begin, end):
    """Read the lines before an answer; false if Python must handle one of them."""
    talk = exchanges[0]
    talk.score, talk.depth, talk.nodes = NO_SCORE, NO_NUMBER, NO_NUMBER
    talk.scored_from = talk.scored_to = begin
    known = np.int64(0)
    while end > begin and known == 0:
        start = end - 1  # the line feed
        while start > begin and text[start - 1] != _LINE_FEED:
            start -= 1
        stop = end - 1
        if stop > start and text[stop - 1] == _RETURN:
            stop -= 1
        word_end = _first_word_ends(text, start, stop, _INFO)
        if word_end != _UNUSUAL:
            known = _read_information(exchanges, text, start, stop, word_end)
        end = start
    return known != _UNUSUAL


@jit
def _read_rank(text, begin, end, first_rank):
    """Parse a rank of one or two digits, counted from 0; ``_UNUSUAL`` if it is invalid."""
    if not _is_number(text, begin, end) or end - begin > 2 or text[begin] < _ZERO:
        return np.int64(_UNUSUAL)
    rank = _number(text, begin, end) - first_rank
    return rank if 0 <= rank <= 9 else np.int64(_UNUSUAL)


@jit
def _read_move(text, begin, end, first_rank):
    """Parse the move of an answer: its code, or ``_UNUSUAL``."""
    begin = _after_spaces(text, _first_word_ends(text, begin, end, _ANSWER), end)
    end = _end_of_word(text, begin, end)
    second = begin + 1
    while second < end and not _FILE_A <= text[second] <= _FILE_I:
        second += 1
    if second >= end or not _FILE_A <= text[begin] <= _FILE_I:
        return np.int64(_UNUSUAL)
    rank = _read_rank(text, begin + 1, second, first_rank)
    other_rank = _read_rank(text, second + 1, end, first_rank)
    if rank == _UNUSUAL or other_rank == _UNUSUAL:
        return np.int64(_UNUSUAL)
    origin = 9 * rank + np.int64(text[begin]) - _FILE_A
    target = 9 * other_rank + np.int64(text[second]) - _FILE_A
    return origin | target << 7


# --- Writing ----------------------------------------------------------------------------------------------------------


@jit
def _write_square(text, place, square, first_rank):
    """Write the name of a square into ``text`` at ``place``; returns the place after it."""
    text[place] = _FILE_A + square % 9
    rank = square // 9 + first_rank
    place += 1
    if rank > 9:
        text[place] = _ZERO + rank // 10
        place += 1
    text[place] = _ZERO + rank % 10
    return place + 1


@jit
def _note_move(exchanges, questions, move):
    """Append a move to the requests of both sides."""
    talk = exchanges[0]
    for side in range(2):
        text = questions[side]
        place = talk.question_bytes[side]
        if talk.has_moves[side] == 0:
            talk.has_moves[side] = 1
            for letter in range(_MOVES.size):
                text[place + letter] = _MOVES[letter]
            place += _MOVES.size
        text[place] = _SPACE
        place = _write_square(text, place + 1, move & 127, talk.first_ranks[side])
        talk.question_bytes[side] = _write_square(text, place, move >> 7, talk.first_ranks[side])


# --- Talking ----------------------------------------------------------------------------------------------------------


@jit
def _ask(exchanges, questions, commands):
    """Write the request to the program; false if the pipe did not take all of it."""
    talk = exchanges[0]
    side = talk.side
    begin = talk.question_bytes[side]
    count = begin + talk.command_bytes[side]
    for place in range(talk.command_bytes[side]):
        questions[side, begin + place] = commands[side, place]
    talk.began_ns = monotonic_ns()
    sent = write_bytes(talk.inputs[side], talk.questions_address + side * QUESTION_BYTES, count)
    talk.unsent = count - max(sent, 0)
    return sent == count


@jit
def _listen(exchanges, output):
    """Read an answer; returns the start of its last line, or ``_UNUSUAL`` for other output or a time-out."""
    talk = exchanges[0]
    side = talk.side
    line = scanned = talk.output_bytes
    while True:
        if output.size - talk.output_bytes < READ_BYTES:
            return np.int64(_UNUSUAL)
        if wait_for_input(talk.outputs[side], talk.errors[side], PATIENCE_MS) != 1:
            return np.int64(_UNUSUAL)
        count = read_bytes(talk.outputs[side], talk.output_address + talk.output_bytes, READ_BYTES)
        if count <= 0:
            return np.int64(_UNUSUAL)
        talk.arrived_ns = monotonic_ns()
        talk.output_bytes += count
        while scanned < talk.output_bytes:
            letter = output[scanned]
            if letter == _LINE_FEED:
                end = scanned - 1 if scanned > line and output[scanned - 1] == _RETURN else scanned
                if _first_word_ends(output, line, end, _ANSWER) != _UNUSUAL:
                    return line if scanned + 1 == talk.output_bytes else np.int64(_UNUSUAL)
                line = scanned + 1
            elif (letter < _SPACE and letter != _RETURN) or letter > _LAST_LETTER:
                return np.int64(_UNUSUAL)
            if letter != _LINE_FEED and scanned > line and output[scanned - 1] == _RETURN:
                return np.int64(_UNUSUAL)  # Python also accepts other line ends
            scanned += 1


@jit
def exchange_moves(exchanges, questions, commands, output, rows, states, lists, adjudications, trackers):
    """Play moves until the game ends or Python must take over; returns ``UNASKED`` or ``ASKED``.

    ``exchanges`` has one record of ``EXCHANGE_DTYPE``; ``questions`` and ``commands`` are bytes by side; ``output``
    receives the programs' output, ``rows`` the moves; the others are the arbiter's. Records are passed as arrays of one
    element, as in ``engine.play``.
    """
    talk = exchanges[0]
    while talk.room > 0 and read_flag(talk.stop_address) == 0 and output.size - talk.output_bytes >= 2 * READ_BYTES:
        side = talk.side
        # Output before the request must not be taken for the answer.
        stray = read_bytes(talk.outputs[side], talk.output_address + talk.output_bytes, READ_BYTES)
        if stray > 0:
            talk.arrived_ns = monotonic_ns()
            talk.output_bytes += stray
            return np.int64(UNASKED)
        if not _ask(exchanges, questions, commands):
            return np.int64(ASKED)
        answer = _listen(exchanges, output)
        if answer == _UNUSUAL or not _read_lines(exchanges, output, talk.taken, answer):
            return np.int64(ASKED)
        end = talk.output_bytes - 1
        if output[end - 1] == _RETURN:
            end -= 1
        move = _read_move(output, answer, end, talk.first_ranks[side])
        if move == _UNUSUAL or talk.arrived_ns - talk.began_ns > talk.allowed_ns[side]:
            return np.int64(ASKED)
        arguments = (states, lists, adjudications, trackers, np.int64(move), np.int64(talk.score), talk.moves + 1)
        verdict = call_at(talk.make_move, arguments)
        if verdict == _UNUSUAL:  # not legal
            return np.int64(ASKED)
        row = rows[talk.made]
        row.move, row.score, row.depth, row.nodes = move, talk.score, talk.depth, talk.nodes
        row.began_ns, row.arrived_ns = talk.began_ns, talk.arrived_ns
        row.question_bytes = talk.question_bytes[side]
        row.output_from, row.output_to = talk.taken, talk.output_bytes
        row.scored_from, row.scored_to = talk.scored_from, talk.scored_to
        talk.taken = talk.output_bytes
        talk.made += 1
        talk.moves += 1
        talk.room -= 1
        talk.side = 1 - side
        _note_move(exchanges, questions, move)
        if verdict != talk.open_verdict:
            talk.verdict = verdict
            return np.int64(UNASKED)
    return np.int64(UNASKED)


# --- For the interpreter ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Program:
    """One side's program: descriptors of its pipes, and its requests."""

    input: int
    """Descriptor to write to; all three descriptors must be non-blocking."""
    output: int
    error: int
    """-1 if it is closed."""
    position: str
    """The ``position`` line up to the first move to be made."""
    command: str
    """The line that starts a search."""
    first_rank: int
    """Number of the lowest rank in its notation: 0 or 1."""
    allowed_ns: int
    """Time limit of a move, in nanoseconds."""


class ExchangedMove(NamedTuple):
    """A move made by the exchange."""

    side: int
    move: str
    score: int | None
    """The mover's score, as in ``arena.players.contract.Reply``."""
    depth: int | None
    nodes: int | None
    began_ns: int
    """Time of the request, by ``time.monotonic_ns``."""
    arrived_ns: int
    question: str
    """The request; empty except for the last ``KEPT_QUESTIONS`` moves."""
    output: bytes
    """The program's output for this move."""
    scored: bytes
    """The line of the output with the score; empty if there is none."""


@dataclass(frozen=True)
class Exchanged:
    """State after an exchange, from which Python continues the game."""

    moves: tuple[ExchangedMove, ...]
    ending: Ending | None
    """How the game ended; ``None`` while it goes on."""
    side: int
    """The side to move."""
    question: str
    """The pending request to that side's program; empty if there is none."""
    unsent: bytes
    """The rest of the request that is yet to be written."""
    began_ns: int
    output: bytes
    """The program's output since its last move."""
    arrived_ns: int


class Exchange:
    """The part of a game between two programs that compiled code plays."""

    def __init__(self, arbiter: Arbiter, stop: StopFlag) -> None:
        self._arbiter = arbiter
        self._stop = stop
        self._talk = new_record(EXCHANGE_DTYPE)
        self._questions = np.empty((2, QUESTION_BYTES), np.uint8)
        self._commands = np.empty((2, QUESTION_BYTES), np.uint8)
        self._output = np.empty(OUTPUT_BYTES, np.uint8)
        self._rows = np.zeros(MAX_GAME_PLIES, ROW_DTYPE)  # no move's code is 0
        self._rows["score"] = _UNWRITTEN
        if JIT_DISABLED:
            self._rows = self._rows.view(np.recarray)

    def play(self, programs: tuple[Program, Program], side: int, room: int) -> Exchanged:
        """Play at most ``room`` moves, beginning with ``side``; may take the whole game, so call it in a thread."""
        talk = self._talk
        for number, program in enumerate(programs):
            talk.inputs[number], talk.outputs[number], talk.errors[number] = (
                program.input, program.output, program.error,
            )  # fmt: skip
            talk.first_ranks[number] = program.first_rank
            talk.allowed_ns[number] = program.allowed_ns
            talk.has_moves[number] = " moves " in program.position
            talk.question_bytes[number] = _put(self._questions[number], program.position)
            talk.command_bytes[number] = _put(self._commands[number], f"\n{program.command}\n")
        talk.questions_address = self._questions.ctypes.data
        talk.output_address = self._output.ctypes.data
        talk.stop_address = self._stop.address
        talk.make_move = self._arbiter.play_address
        talk.open_verdict = talk.verdict = OPEN
        talk.side, talk.room, talk.moves = side, room, self._arbiter.moves
        talk.made = talk.unsent = talk.began_ns = talk.arrived_ns = talk.taken = talk.output_bytes = 0
        status = exchange_moves(
            array_of(talk), self._questions, self._commands, self._output, self._rows, *self._arbiter.arrays
        )
        moves = tuple(self._moves(side))
        ending = self._arbiter.go_on_after(
            [move.move for move in moves], int(talk.verdict), moves[-1].score if moves else None
        )
        begun = bytes(self._questions[talk.side, : talk.question_bytes[talk.side]])
        question = begun + bytes(self._commands[talk.side, : talk.command_bytes[talk.side]])
        return Exchanged(
            moves,
            ending,
            int(talk.side),
            question.decode().rstrip("\n") if status == ASKED else "",
            question[len(question) - int(talk.unsent) :],
            int(talk.began_ns),
            bytes(self._output[talk.taken : talk.output_bytes]),
            int(talk.arrived_ns),
        )

    def read(self) -> tuple[list[str], list[int | None]]:
        """The moves so far and the movers' scores; may be called from another thread during ``play``.

        As in ``engine.play.PlayedMoves``, a move counts once both its number and its score have been written.
        """
        moves, scores = self._rows["move"], self._rows["score"]
        count = count_leading((moves != 0) & (scores != _UNWRITTEN))
        said = [None if score == NO_SCORE else score for score in scores[:count].tolist()]
        return list(map(move_name, moves[:count].tolist())), said

    def _moves(self, side: int) -> Iterator[ExchangedMove]:
        talk = self._talk
        output = self._output[: talk.output_bytes].tobytes()
        questions, commands = (
            [text[: sizes[number]].tobytes().decode() for number, text in enumerate(texts)]
            for texts, sizes in ((self._questions, talk.question_bytes), (self._commands, talk.command_bytes))
        )
        rows = self._rows[: talk.made].tolist()
        kept = len(rows) - KEPT_QUESTIONS
        for place, row in enumerate(rows):
            move, score, depth, nodes, began_ns, arrived_ns, asked, begin, end, scored_from, scored_to = row
            yield ExchangedMove(
                side,
                move_name(move),
                None if score == NO_SCORE else score,
                None if depth == NO_NUMBER else depth,
                None if nodes == NO_NUMBER else nodes,
                began_ns,
                arrived_ns,
                questions[side][:asked] + commands[side][:-1] if place >= kept else "",
                output[begin:end],
                output[scored_from:scored_to],
            )
            side = 1 - side


move_name = functools.cache(format_move)


def _put(text: Any, line: str) -> int:
    """Write a line to the beginning of an array of bytes; returns its length."""
    written = np.frombuffer(line.encode(), np.uint8)
    text[: written.size] = written
    return int(written.size)
