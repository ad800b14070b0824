"""Plays the moves of a game between two external UCI programs in compiled code, without the interpreter lock.

``play_programs`` sends commands to both programs in turn, reads and checks their moves, charges their clocks, and
applies rules and adjudication. It handles only the usual course of a game. At anything else, such as an unknown
spelling of a move, a fault or an unexpected line, the function returns. A loop in Python, which applies the same rules
and clocks, then continues the game from there.

``program_games`` has its objects for Python. Nothing here takes part in a search, so this file is not part of the
engine's identity.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from elolab.engine.compiled.exchange import (
    DONE,
    MAX_ARRIVALS,
    OUTPUT_BYTES,
    POLL_IN,
    READ_ANSWER,
    WRITE,
    exchange,
    poll,
)
from elolab.engine.compiled.exchanged import GO_BYTES, SENT
from elolab.engine.compiled.kernel import JIT_DISABLED, jit, multiply_words, publish_word, read_flag
from elolab.engine.play import (
    ILLEGAL,
    NO_SCORE,
    OPEN,
    play_move,
    spend_clock,
)
from elolab.engine.values import BAN_BOUND, MATE, MAX_GAME_PLIES, MAX_PLY

if TYPE_CHECKING:
    pass

QUESTION_BYTES = 12_288
"""Size in bytes of the buffer for a ``position`` and a ``go`` line. Python handles longer lines."""
WORD_BYTES = 8
"""Maximum length, in bytes, of a move's text that compiled code handles."""
NO_CLOCK_MS = 1 << 40
"""A time limit per move, in milliseconds, for players without one: so large that it has no effect."""
HALF_OUTPUT, HALF_ARRIVALS = OUTPUT_BYTES // 2, MAX_ARRIVALS // 2

LEAVE, ASKED, EMPTY, UNREADY = -3, -4, -5, -6
"""Codes that ``play_programs`` returns besides verdict codes. ``LEAVE``: Python must request the next move. ``ASKED``:
the move has been requested; Python must read the answer. ``EMPTY``: the buffers must be emptied before the next call.
``UNREADY``: the new game has been announced; Python must read the answers.
"""

SLOTS_BITS = 13
SLOTS = 1 << SLOTS_BITS
MIXER = 0x9E37_79B9_7F4A_7C15
SHIFT = np.uint64(64 - SLOTS_BITS)

WORDS_DTYPE = np.dtype([
    ("move_words", np.int64),
    ("words", np.uint64, (SLOTS,)),  # texts of moves, hashed by themselves; 0 is an empty slot
    ("codes_of_words", np.int64, (SLOTS,)),
    ("codes", np.uint64, (SLOTS,)),  # codes of moves, hashed by themselves; 0 is an empty slot
    ("words_of_codes", np.uint64, (SLOTS,)),  # 0 if the code's text is not known for certain
])  # fmt: skip
"""Hash tables of the moves' spellings in one style: codes by text, and texts by code.

A text is stored as a number, with its first letter in the lowest byte.
"""

PROGRAM_DTYPE = np.dtype([
    ("program", np.int64),
    ("question_at", np.int64),  # address of ``question``
    ("line_bytes", np.int64),  # length of the ``position`` line
    ("has_moves", np.int64),  # whether the line has moves already
    ("start_bytes", np.int64),
    ("middle_bytes", np.int64),
    ("end_bytes", np.int64),
    ("move_ms", np.int64),  # time limit of each move, apart from the clock
    ("margin_ms", np.int64),
    ("noticed_ns", np.int64),  # delay of the arena from which a move counts as disturbed; negative: none does
    ("disturbed", np.int64),
    ("worst_late_ns", np.int64),
    ("used_arrivals", np.int64),  # number of pieces of output that belong to moves that have been made
    ("asked", np.int64),  # number of questions since the last ``ProgramSide.take``
    ("announcement_at", np.int64),  # address of ``announcement``
    ("announcement_bytes", np.int64),  # length of the announcement; 0 if there is none that still has to be sent
    ("start_ns", np.int64),  # time that the program may take to answer the announcement
    ("filled", np.int64),  # bytes of ``output``
    ("arrivals", np.int64),  # number of pieces of ``output``
    ("sent", np.int64, (3 * SENT,)),  # ``Sent.records``
    ("arrival_ends", np.int64, (MAX_ARRIVALS,)),  # offset of each piece's end in ``output``
    ("arrival_ns", np.int64, (MAX_ARRIVALS,)),
    ("sent_go", np.uint8, (SENT, GO_BYTES)),
    ("start", np.uint8, (GO_BYTES,)),  # parts of the ``go`` line: before the times, between them and the moves to go,
    ("middle", np.uint8, (GO_BYTES,)),  # and after these; only the first if there is no clock
    ("end", np.uint8, (GO_BYTES,)),
    ("question", np.uint8, (QUESTION_BYTES,)),  # the ``position`` line, after it the ``go`` line
    ("announcement", np.uint8, (GO_BYTES,)),  # the lines that announce the game
    ("output", np.uint8, (OUTPUT_BYTES,)),  # the program's output, once ``play_programs`` has returned
])  # fmt: skip
"""State of one program in a game: its command lines, its limits, the latest commands sent to it, and its output."""

_FOUND = 10
FIGURES = 8
"""Number of int64 values stored for each move: code, score in centipawns for the mover, depth in plies, nodes, time in
nanoseconds, time in milliseconds as reported by the program, and the principal variation. The last takes two values,
offset and length in the mover's output. Depth, nodes, reported time and length are negative if unknown.
"""
PROGRAM_GAME_DTYPE = np.dtype([
    ("program_game", np.int64),
    ("plies_at", np.int64),  # address of ``plies``
    ("plies", np.int64),
    ("figures", np.int64, (MAX_GAME_PLIES * FIGURES,)),
    ("line", np.int64, (_FOUND,)),  # values parsed from one line of thinking output
    ("scored", np.int64, (_FOUND,)),  # the last line with an exact score
    ("counted", np.int64, (_FOUND,)),  # the last line with nodes
])  # fmt: skip
"""The moves of a game between two programs, with ``FIGURES`` values for each."""

_DEPTH, _SCORE, _NODES, _TIME, _VARIATION, _VARIATION_END, _IS_BOUND, _IS_REMARK, _MULTIPV = range(9)
"""Indices of the values parsed from a line of thinking output. A missing value is -1, or ``NO_SCORE`` for the score."""


def packed(word: str) -> int:
    """Pack a word of at most ``WORD_BYTES`` bytes, such as a move's text, into an integer; 0 if the word is longer."""
    letters = word.encode(errors="replace")
    return int.from_bytes(letters, "little") if len(letters) <= WORD_BYTES else 0


_WITH_NUMBER = tuple(np.uint64(packed(word)) for word in ("depth", "score", "nodes", "time", "multipv"))
_DEPTH_WORD, _SCORE_WORD, _NODES_WORD, _TIME_WORD, _MULTIPV_WORD = _WITH_NUMBER
_CP, _MATE, _PV, _STRING, _LOWER, _UPPER, _BESTMOVE, _INFO, _READYOK = (
    np.uint64(packed(word))
    for word in ("cp", "mate", "pv", "string", "lowerbou", "upperbou", "bestmove", "info", "readyok")
)
_BOUND_LETTERS = 10
_BLANK, _NEWLINE, _RETURN, _ZERO, _NINE, _MINUS, _PLUS = 32, 10, 13, 48, 57, 45, 43
_MOST_DIGITS = 15
_MOST_DEPTH = 10**6
_VARIATION_BYTES = 400
_NOTHING = np.uint64(0)
_BYTE = np.uint64(8)


# --- Reading --------------------------------------------------------------------------------------------------------


@jit
def _word_at(text, place, end):  # type: ignore[no-untyped-def]
    """Pack the first eight letters of the word at ``place`` into an integer; also returns the index of the word's end.

    The index is -1 if the word contains a control character.
    """
    word, begin = _NOTHING, place
    while place < end and text[place] != _BLANK:
        if text[place] < _BLANK:
            return word, np.int64(-1)
        if place - begin < WORD_BYTES:
            word |= np.uint64(text[place]) << (_BYTE * np.uint64(place - begin))
        place += 1
    return word, place


@jit
def _number_at(text, place, end):  # type: ignore[no-untyped-def]
    """Parse ``text[place:end]`` as a whole number; -1 if it is anything else, or has too many digits."""
    if place >= end or end - place > _MOST_DIGITS:
        return np.int64(-1)
    number = np.int64(0)
    for index in range(place, end):
        if text[index] < _ZERO or text[index] > _NINE:
            return np.int64(-1)
        number = 10 * number + np.int64(text[index]) - _ZERO
    return number


@jit
def _score_at(text, place, end, is_mate):  # type: ignore[no-untyped-def]
    """Parse ``text[place:end]`` as a score in centipawns, or with ``is_mate`` as the number of moves to mate.

    Returns the score in centipawns, mates as in ``engine.values``; ``NO_SCORE`` if the text is unreadable.
    """
    is_negative = text[place] == _MINUS
    number = _number_at(text, place + (is_negative or text[place] == _PLUS), end)
    if number < 0:
        return np.int64(NO_SCORE)
    if not is_mate:
        number = min(number, np.int64(BAN_BOUND - 1))
        return -number if is_negative else number
    if is_negative or number == 0:
        return min(2 * number, np.int64(MAX_PLY)) - MATE
    return MATE - min(2 * number - 1, np.int64(MAX_PLY))


@jit
def _read_thinking(text, place, end, found):  # type: ignore[no-untyped-def]
    """Parse the line of thinking output in ``text[place:end]``, after the word ``info``, into the array ``found``.

    ``_DEPTH`` and the following constants are the indices of ``found``. Returns false if the form of the line is
    unexpected.
    """
    for index in range(_FOUND):
        found[index] = -1
    found[_SCORE] = NO_SCORE
    expected, is_mate = _NOTHING, False
    while place < end:
        word, after = _word_at(text, place, end)
        if after <= place:  # two blanks, or a control character
            return False
        if expected == _SCORE_WORD:
            if word != _CP and word != _MATE:
                return False
            is_mate, expected = word == _MATE, _CP
        elif expected == _CP:
            if found[_SCORE] == NO_SCORE:
                found[_SCORE] = _score_at(text, place, after, is_mate)
                if found[_SCORE] == NO_SCORE:
                    return False
            expected = _NOTHING
        elif expected != _NOTHING:
            number = _number_at(text, place, after)
            if number < 0:
                return False
            index = _DEPTH if expected == _DEPTH_WORD else _NODES if expected == _NODES_WORD else _TIME
            index = _MULTIPV if expected == _MULTIPV_WORD else index
            if found[index] < 0:
                found[index] = number
            expected = _NOTHING
        elif word == _PV:
            if found[_VARIATION] < 0:
                found[_VARIATION], found[_VARIATION_END] = after + 1, min(end, after + 1 + _VARIATION_BYTES)
        elif after - place == _BOUND_LETTERS and word in (_LOWER, _UPPER):
            found[_IS_BOUND] = 1
        elif word == _STRING:
            found[_IS_REMARK] = 1
            return True
        elif word in _WITH_NUMBER:
            expected = word
        place = after + 1
    # A blank at the end, or a word without its number, is unusual.
    return place == end + 1 and expected == _NOTHING


@jit
def _read_thoughts(text, begin, end, game):  # type: ignore[no-untyped-def]
    """Parse the complete lines of thinking output in ``text[begin:end]``; returns false if one has an unexpected form.

    Stores in ``game`` the values of the last line with an exact score, and of the last line with a node count.
    """
    scored, counted, line = game.scored, game.counted, game.line
    for index in range(_FOUND):
        scored[index] = counted[index] = -1
    scored[_SCORE] = NO_SCORE
    has_score = has_nodes = False
    while end > begin and not (has_score and has_nodes):
        start = end - 1  # of the line, whose newline is at ``end`` - 1
        while start > begin and text[start - 1] != _NEWLINE:
            start -= 1
        stop = end - 1 - (end - 1 > start and text[end - 2] == _RETURN)
        end = start
        word, after = _word_at(text, start, stop)
        if word != _INFO:
            if text[start] < _ZERO or text[start] > _NINE:  # nor thinking output as in other protocols
                return False
            continue
        if not _read_thinking(text, after + 1, stop, line):
            return False
        if line[_IS_REMARK] > 0:
            continue
        if line[_NODES] >= 0 and not has_nodes:
            has_nodes = True
            for index in range(_FOUND):
                counted[index] = line[index]
        if line[_SCORE] != NO_SCORE and not has_score and line[_IS_BOUND] < 0 and line[_MULTIPV] in (-1, 1):
            has_score = True
            for index in range(_FOUND):
                scored[index] = line[index]
    return True


@jit
def _read_best_move(text, begin, end):  # type: ignore[no-untyped-def]
    """Parse ``text[begin:end]``, a ``bestmove`` line; return the packed move, or 0 for a line of unexpected form."""
    end -= end > begin and text[end - 1] == _RETURN
    word, after = _word_at(text, begin, end)
    if word != _BESTMOVE or after - begin != WORD_BYTES:
        return _NOTHING
    word, last = _word_at(text, after + 1, end)
    return word if last - after - 1 <= WORD_BYTES and last > after + 1 else _NOTHING


# --- Texts of moves -------------------------------------------------------------------------------------------------


@jit
def _slot_of(keys, key):  # type: ignore[no-untyped-def]
    """Index of the slot with ``key`` in the hash table ``keys`` (uint64), or of the empty slot where it belongs."""
    slot = np.int64(multiply_words(key, np.uint64(MIXER)) >> SHIFT)
    while keys[slot] != key and keys[slot] != _NOTHING:
        slot = (slot + 1) % SLOTS
    return slot


@jit
def _code_of(table, word):  # type: ignore[no-untyped-def]
    """The move code for the packed text ``word`` in a table of ``WORDS_DTYPE``; 0 if the text is unknown."""
    slot = _slot_of(table.words, word)
    return table.codes_of_words[slot] if table.words[slot] == word else np.int64(0)


@jit
def _word_of(table, code):  # type: ignore[no-untyped-def]
    """The packed text for the move ``code`` in a table of ``WORDS_DTYPE``; 0 if it is unknown."""
    slot = _slot_of(table.codes, np.uint64(code))
    return table.words_of_codes[slot] if table.codes[slot] == np.uint64(code) else _NOTHING


# --- Writing --------------------------------------------------------------------------------------------------------


@jit
def _append(text, place, part, length):  # type: ignore[no-untyped-def]
    for index in range(length):
        text[place + index] = part[index]
    return place + length


@jit
def _append_word(text, place, word):  # type: ignore[no-untyped-def]
    while word != _NOTHING:
        text[place] = np.uint8(word & np.uint64(255))
        word >>= _BYTE
        place += 1
    return place


@jit
def _append_number(text, place, number):  # type: ignore[no-untyped-def]
    digits, rest = 1, number
    while rest > 9:
        rest //= 10
        digits += 1
    for index in range(digits - 1, -1, -1):
        text[place + index] = _ZERO + number % 10
        number //= 10
    return place + digits


_MOVES = tuple(b" moves")
_BLACK_TIME = tuple(b" btime ")
_TO_GO = tuple(b" movestogo ")


@jit
def _append_move(program, word):  # type: ignore[no-untyped-def]
    """Append a move (packed text ``word``) to the ``position`` line of ``program``, a record of ``PROGRAM_DTYPE``."""
    text, place = program.question, program.line_bytes
    if program.has_moves == 0:
        place = _append(text, place, _MOVES, len(_MOVES))
        program.has_moves = 1
    text[place] = _BLANK
    program.line_bytes = _append_word(text, place + 1, word)


@jit
def _remaining_ms(clocks, side):  # type: ignore[no-untyped-def]
    return clocks.remaining_ns[side] // 1_000_000


@jit
def _write_question(program, clocks, side):  # type: ignore[no-untyped-def]
    """Write the ``go`` line of ``side`` (0 or 1) after the ``position`` line; returns the length of both in bytes."""
    text, place = program.question, program.line_bytes
    text[place] = _NEWLINE
    begin = place + 1
    place = _append(text, begin, program.start, program.start_bytes)
    if clocks.clock_ns[side] >= 0:
        own = max(np.int64(1), _remaining_ms(clocks, side))
        other = max(np.int64(1), _remaining_ms(clocks, 1 - side)) if clocks.clock_ns[1 - side] >= 0 else own
        place = _append_number(text, place, own if side == 0 else other)
        place = _append(text, place, _BLACK_TIME, len(_BLACK_TIME))
        place = _append_number(text, place, other if side == 0 else own)
        place = _append(text, place, program.middle, program.middle_bytes)
        control = clocks.moves_per_control[side]
        if control > 0:
            place = _append(text, place, _TO_GO, len(_TO_GO))
            place = _append_number(text, place, control - clocks.moves_made[side] % control)
        place = _append(text, place, program.end, program.end_bytes)
    slot = program.asked % SENT
    program.asked += 1
    program.sent[slot], program.sent[SENT + slot] = 0, program.line_bytes
    program.sent[2 * SENT + slot] = _append(program.sent_go[slot], 0, text[begin:place], place - begin)
    text[place] = _NEWLINE
    return place + 1


# --- Playing --------------------------------------------------------------------------------------------------------


@jit
def play_programs(  # type: ignore[no-untyped-def]
    games, first_programs, second_programs, first_talks, second_talks, first_words, second_words, all_clocks, states,
    lists, adjudications, trackers, longest, stop, schedule, wake_ns
):  # fmt: skip
    """Let both programs move in turn, until the game ends or anything unusual happens.

    Returns a verdict code if the game has ended, otherwise ``LEAVE``, ``ASKED``, ``EMPTY`` or ``UNREADY``. Every array
    of records has one element. Arguments ``first_...`` belong to the side that moves first in the game, ``second_...``
    to the other. The game is left to Python at ``longest`` plies. ``stop``, ``schedule`` and ``wake_ns`` are as for
    ``exchange``.

    If commands that announce a new game are waiting (see ``ProgramSide.announce``), the function first sends them and
    waits until both programs have answered ``readyok``. At the end it moves the output of both programs to their
    records, so that the next game can begin at once.
    """
    for talks, programs in ((first_talks, first_programs), (second_talks, second_programs)):
        _announce(programs[0], talks[0])
    code = _play_on(
        games, first_programs, second_programs, first_talks, second_talks, first_words, second_words, all_clocks,
        states, lists, adjudications, trackers, longest, stop, schedule, wake_ns
    )  # fmt: skip
    for talks, programs in ((first_talks, first_programs), (second_talks, second_programs)):
        _move_output(programs[0], talks[0])
    return code


@jit
def _announce(program, talk):  # type: ignore[no-untyped-def]
    """Make the program's announcement of a game, if there is one, the next command of the conversation ``talk``."""
    if program.announcement_bytes > 0:
        talk.question_at, talk.question_bytes = program.announcement_at, program.announcement_bytes
        talk.written, talk.allowance_ns = 0, program.start_ns
        program.announcement_bytes = 0


@jit
def _move_output(program, talk):  # type: ignore[no-untyped-def]
    """Move the output that has been read from the conversation ``talk`` to the program's record."""
    output, said = program.output, talk.output_bytes
    for index in range(talk.filled):
        output[index] = said[index]
    for index in range(talk.arrivals):
        program.arrival_ends[index], program.arrival_ns[index] = talk.arrival_ends[index], talk.arrival_ns[index]
    program.filled, program.arrivals = talk.filled, talk.arrivals
    talk.filled = talk.line_start = talk.arrivals = 0


@jit
def _play_on(  # type: ignore[no-untyped-def]
    games, first_programs, second_programs, first_talks, second_talks, first_words, second_words, all_clocks, states,
    lists, adjudications, trackers, longest, stop, schedule, wake_ns
):  # fmt: skip
    """Play as ``play_programs`` does, with the same arguments, but leave the programs' output in their ``talks``."""
    state, game, clocks = states[0], games[0], all_clocks[0]
    if _is_asking(first_talks[0]) or _is_asking(second_talks[0]):
        if not _are_ready(first_talks, second_talks, stop, schedule, wake_ns):
            return np.int64(UNREADY)
        first_programs[0].used_arrivals = first_talks[0].arrivals
        second_programs[0].used_arrivals = second_talks[0].arrivals
    while True:
        side = np.int64(state.side)
        talks = first_talks if side == 0 else second_talks
        programs = first_programs if side == 0 else second_programs
        talk, program = talks[0], programs[0]
        other = (second_talks if side == 0 else first_talks)[0]
        talk.total_waited_ns, talk.total_read_ns = other.total_waited_ns, other.total_read_ns
        if talk.filled > HALF_OUTPUT or talk.arrivals > HALF_ARRIVALS:
            return np.int64(EMPTY)
        if game.plies >= longest or program.line_bytes > QUESTION_BYTES - 2 * GO_BYTES or read_flag(stop) != 0:
            return np.int64(LEAVE)
        if poll(talk.output, POLL_IN, -1, -1, -1, 0) != 0:  # unexpected output, or the program has ended
            return np.int64(LEAVE)
        _ask(program, talk, clocks, side)
        begun = talk.filled
        is_answered = exchange(talks, READ_ANSWER, stop, schedule, wake_ns) == DONE
        program.sent[(program.asked - 1) % SENT] = talk.asked_ns
        if not is_answered:
            return np.int64(ASKED)
        verdict = _make_move(
            game, first_programs[0], second_programs[0], talk, begun, first_words[0], second_words[0], clocks, states,
            lists, adjudications, trackers
        )  # fmt: skip
        if verdict != OPEN:
            return verdict


@jit
def _is_asking(talk):  # type: ignore[no-untyped-def]
    """Whether part of the command has not been written yet."""
    return talk.written < talk.question_bytes


@jit
def _are_ready(first_talks, second_talks, stop, schedule, wake_ns):  # type: ignore[no-untyped-def]
    """Write both programs' announcement of a new game and read their answers; returns whether both are ``readyok``."""
    for talks in (first_talks, second_talks):
        if exchange(talks, WRITE, stop, schedule, wake_ns) != DONE:
            return False
    for talks in (first_talks, second_talks):
        if exchange(talks, READ_ANSWER, stop, schedule, wake_ns) != DONE:
            return False
        talk = talks[0]
        text, end = talk.output_bytes, talk.filled - 1
        end -= end > talk.line_start and text[end - 1] == _RETURN
        word, after = _word_at(text, talk.line_start, end)
        if word != _READYOK or after != end or text[talk.filled - 1] != _NEWLINE:
            return False
    return True


@jit
def _ask(program, talk, clocks, side):  # type: ignore[no-untyped-def]
    talk.question_bytes = _write_question(program, clocks, side)
    talk.question_at, talk.written = program.question_at, 0
    talk.line_start = talk.filled
    allowed_ms = program.move_ms
    if clocks.clock_ns[side] >= 0:
        allowed_ms = min(allowed_ms, _remaining_ms(clocks, side))
    talk.allowance_ns = (allowed_ms + program.margin_ms) * 1_000_000


@jit
def _make_move(  # type: ignore[no-untyped-def]
    game, first_program, second_program, talk, begun, first_words, second_words, clocks, states, lists, adjudications,
    trackers
):  # fmt: skip
    """Read a program's answer and make its move; returns the verdict code, or ``ASKED`` if Python must read the answer.

    ``begun`` is the offset in the buffer at which the program's output for this move begins. The other arguments are
    the records of ``play_programs``.
    """
    text, place = talk.output_bytes, talk.line_start
    while text[place] != _NEWLINE:
        place += 1
    side = np.int64(states[0].side)
    word = _read_best_move(text, talk.line_start, place)
    code = _code_of(first_words if side == 0 else second_words, word) if word != _NOTHING else np.int64(0)
    if code == 0 or place + 1 != talk.filled or not _read_thoughts(text, begun, talk.line_start, game):
        return np.int64(ASKED)
    first_word, second_word = _word_of(first_words, code), _word_of(second_words, code)
    elapsed = max(np.int64(0), talk.arrival_ns[talk.arrivals - 1] - talk.asked_ns)
    if first_word == _NOTHING or second_word == _NOTHING or _is_too_late(clocks, side, elapsed):
        return np.int64(ASKED)
    score, ply = game.scored[_SCORE], game.plies
    verdict = play_move(states, lists, adjudications, trackers, code, score, ply + 1)
    if verdict == ILLEGAL:
        return np.int64(ASKED)
    spend_clock(clocks, side, elapsed)
    program = first_program if side == 0 else second_program
    _note_lateness(program, talk.waited_ns)
    _append_move(first_program, first_word)
    _append_move(second_program, second_word)
    program.used_arrivals = talk.arrivals
    _record_move(game, ply, code, elapsed)
    return verdict


@jit
def _is_too_late(clocks, side, elapsed):  # type: ignore[no-untyped-def]
    """Whether a move of ``side`` (0 or 1) that took ``elapsed`` nanoseconds loses the game on time."""
    late = np.int64(0)
    if clocks.move_limit_ns[side] >= 0:
        late = max(late, elapsed - clocks.move_limit_ns[side])
    if clocks.clock_ns[side] >= 0:
        late = max(late, elapsed - clocks.remaining_ns[side])
    return late > clocks.margin_ns[side]


@jit
def _note_lateness(program, late_ns):  # type: ignore[no-untyped-def]
    """Count the program's move as disturbed if the arena's thread waited too long for a processor before it read the
    move.

    ``late_ns`` is the delay in nanoseconds.
    """
    if 0 <= program.noticed_ns < late_ns:
        program.disturbed += 1
        program.worst_late_ns = max(program.worst_late_ns, late_ns)


@jit
def _record_move(game, ply, code, elapsed):  # type: ignore[no-untyped-def]
    scored, counted = game.scored, game.counted
    figures, is_counted = game.figures[FIGURES * ply : FIGURES * (ply + 1)], counted[_NODES] >= 0
    figures[0], figures[1], figures[4] = code, scored[_SCORE], elapsed
    figures[2] = min(_MOST_DEPTH, scored[_DEPTH] if scored[_DEPTH] >= 0 else counted[_DEPTH])
    figures[3] = counted[_NODES] if is_counted else scored[_NODES]
    figures[5] = counted[_TIME] if is_counted else scored[_TIME]
    figures[6], figures[7] = scored[_VARIATION], scored[_VARIATION_END] - scored[_VARIATION]
    publish_word(game.plies_at, 0, np.uint64(ply + 1))  # another thread that reads it also reads the move


IS_COMPILED = not JIT_DISABLED
"""Whether ``play_programs`` is compiled. If it is not, games are played by the loop in Python, which is then faster."""
