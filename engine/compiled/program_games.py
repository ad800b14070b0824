"""Games between two external UCI programs in compiled code: the objects by which Python uses ``program_play``."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import threading
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from elolab.engine.compiled.exchange import (
    Conversation,
    words_of,
)
from elolab.engine.compiled.exchanged import GO_BYTES, SENT, Received, Sent
from elolab.engine.compiled.program_play import (
    FIGURES,
    MIXER,
    NO_CLOCK_MS,
    PROGRAM_DTYPE,
    PROGRAM_GAME_DTYPE,
    QUESTION_BYTES,
    SHIFT,
    SLOTS,
    WORDS_DTYPE,
    packed,
    play_programs,
)
from elolab.engine.games.contract import decode_verdict
from elolab.engine.play import (
    CLOCKS_DTYPE,
    NO_SCORE,
    TO_BE_SOLVED,
    Arbiter,
    start_clocks,
)

if TYPE_CHECKING:
    from elolab.engine.engine import StopFlag
    from elolab.engine.games.contract import Position
    from elolab.engine.rules import Adjudication, Ending, Rules
    from elolab.engine.settings.limits import Limits


class MoveWords:
    """Spellings of moves in one style of notation, for compiled code. Threads share the table, and entries are never
    removed.

    The table contains only texts passed to ``learn``. One text has the same meaning in every position where the move is
    legal.
    """

    def __init__(self) -> None:
        self.array = np.zeros(1, WORDS_DTYPE)
        self._known: dict[int, str] = {}
        """The text of each move code seen so far; an empty string for a code with different texts."""
        self._lock = threading.Lock()

    def learn(self, word: str, code: int) -> None:
        """Register ``word`` as the text of the move ``code``.

        If a code gets a second text, compiled code no longer writes that move, and leaves it to Python.
        """
        if self._known.get(code) == word:
            return
        with self._lock:
            record = self.array[0]
            text = packed(word)
            if code not in self._known:
                if not text or len(self._known) >= SLOTS // 2:
                    return
                self._known[code] = word
                self._enter(record, "words", "codes_of_words", text, code)
                self._enter(record, "codes", "words_of_codes", code, text)
            elif self._known[code] != word:
                self._known[code] = ""
                self._enter(record, "codes", "words_of_codes", code, 0)

    def _enter(self, record: Any, keys: str, values: str, key: int, value: int) -> None:
        slot = (key * MIXER & 0xFFFF_FFFF_FFFF_FFFF) >> int(SHIFT)
        while record[keys][slot] not in (0, key):
            slot = (slot + 1) % SLOTS
        record[values][slot] = value
        record[keys][slot] = key


@functools.cache
def move_words(style: Hashable) -> MoveWords:
    """The table of spellings shared by all programs that write moves in the same ``style``."""
    return MoveWords()


_ProgramWords = words_of(PROGRAM_DTYPE)


def _place_of(field: str) -> tuple[int, int]:
    """Offset and length, in bytes, of a field of ``PROGRAM_DTYPE``."""
    dtype, place = PROGRAM_DTYPE.fields[field][:2]  # type: ignore[index]
    return place, dtype.itemsize


class ProgramSide:
    """One external program, playing one side of games with the same time limits."""

    def __init__(
        self,
        talk: Conversation,
        words: MoveWords,
        go: tuple[str, str, str],
        limits: Limits,
        *,
        margin_ms: int = 0,
        watchdog_ms: int = 0,
        noticed_ns: int = -1,
        made_for: object = None,
    ) -> None:
        """Set up the commands and limits of a program.

        - ``talk``: the communication with the program.
        - ``words``: the spellings of its moves.
        - ``go``: the three fixed parts of the ``go`` line: before the times, between the times and ``movestogo``, and
          after them. Without a clock, the first part is the whole line.
        - ``margin_ms``: time that may be exceeded before the game is lost on time, in milliseconds.
        - ``watchdog_ms``: maximum time for a move, in milliseconds, under limits without time.
        - ``noticed_ns``: delay of the arena, in nanoseconds, from which a move counts as disturbed; negative to count
          none.
        - ``made_for``: any value by which the caller recognizes an object that it can use for another game.
        """
        self.talk, self.words, self.limits, self.margin_ms = talk, words, limits, margin_ms
        self.made_for = made_for
        self.announcement = ""
        """The lines given to ``announce``."""
        self.array: Any = np.zeros(1, PROGRAM_DTYPE)
        """The program's record of ``PROGRAM_DTYPE`` as an array of one element."""
        program = self.array[0]
        self._question_at = program["question_at"] = program["question"].ctypes.data
        self._announcement_at = program["announcement_at"] = program["announcement"].ctypes.data
        memory = self.array.view(np.uint8).data
        self._parts = tuple(
            memory[place : place + length]
            for place, length in map(_place_of, ("question", "sent", "sent_go", "output", "arrival_ends", "arrival_ns"))
        )
        self._words = _ProgramWords.from_address(self.array.ctypes.data)
        for name, part in zip(("start", "middle", "end"), go, strict=True):
            letters = np.frombuffer(part.encode(), np.uint8)
            program[name][: len(letters)] = letters
            program[f"{name}_bytes"] = len(letters)
        untimed_ms = watchdog_ms if limits.clock_ms is None else NO_CLOCK_MS
        program["move_ms"] = untimed_ms if limits.move_time_ms is None else limits.move_time_ms
        program["margin_ms"] = margin_ms if limits.is_timed else 0
        program["noticed_ns"] = noticed_ns

    def set_line(self, line: str, has_moves: bool) -> bool:
        """Set the ``position`` line; returns false if it is too long. ``has_moves``: whether it contains moves."""
        letters = line.encode()
        if len(letters) > QUESTION_BYTES - 2 * GO_BYTES:
            return False
        ctypes.memmove(self._question_at, letters, len(letters))
        self._words.line_bytes, self._words.has_moves = len(letters), has_moves
        return True

    def clear(self) -> None:
        """Discard the announcement of a new game and the counts of late moves that an abandoned game may have left."""
        words = self._words
        words.asked = words.used_arrivals = words.disturbed = words.worst_late_ns = words.announcement_bytes = 0

    def announce(self, lines: str, start_ns: int) -> None:
        """Let the next call of compiled code announce a game to the program by ``lines``: at most ``GO_BYTES`` bytes,
        line ends included.

        The program may take ``start_ns`` nanoseconds to answer.
        """
        letters = lines.encode() + b"\n"
        assert len(letters) <= GO_BYTES
        ctypes.memmove(self._announcement_at, letters, len(letters))
        self.announcement = lines
        self._words.announcement_bytes, self._words.start_ns = len(letters), start_ns

    def disturbed(self) -> tuple[int, int]:
        """Number of moves that the arena read late since this property was last used, and the largest delay in ns."""
        words = self._words
        if not words.disturbed:
            return 0, 0
        found = words.disturbed, words.worst_late_ns
        words.disturbed = words.worst_late_ns = 0
        return found

    def exchanged(self) -> tuple[Sent, Received]:
        """The commands and the output so far of the running call of compiled code. Any thread may call this."""
        return self._sent(), self.talk.output()

    def take(self) -> tuple[Sent, Received, int]:
        """Return and clear the last call's commands, its output, and the number of output pieces of finished moves."""
        words, (output, ends, times_ns) = self._words, self._parts[3:]
        count = 8 * words.arrivals
        received = Received(bytes(output[: words.filled]), bytes(ends[:count]), bytes(times_ns[:count]))
        sent = self._sent()
        used, words.used_arrivals, words.asked = words.used_arrivals, 0, 0
        return sent, received, used

    def _sent(self) -> Sent:
        words = self._words
        line, records, goes = self._parts[:3]
        asked = words.asked
        kept = bytes(goes[: GO_BYTES * min(asked, SENT)])
        return Sent(asked, bytes(line[: words.line_bytes]), bytes(records), kept, self.talk.asked_ns)


class ClockState(NamedTuple):
    """The state of one side's clock between two moves."""

    remaining_ns: int
    moves_made: int
    overruns: int
    worst_overrun_ns: int


_ClockWords, _GameWords = words_of(CLOCKS_DTYPE), words_of(PROGRAM_GAME_DTYPE)
_UNUSED: list[tuple[Any, Any, Any, Any]] = []
"""Memory of ended games, as returned by ``_memory``, for later games, because allocation is slow."""


def _memory() -> tuple[Any, Any, Any, Any]:
    """Memory for a game: its record and its clocks as arrays of one element, then both as ``ctypes`` structures.

    The types are ``PROGRAM_GAME_DTYPE`` and ``CLOCKS_DTYPE``; the structures share the memory of the arrays.
    """
    with contextlib.suppress(IndexError):
        return _UNUSED.pop()
    games, clocks = np.zeros(1, PROGRAM_GAME_DTYPE), np.zeros(1, CLOCKS_DTYPE)
    games["plies_at"] = games["plies"].ctypes.data
    return games, clocks, _GameWords.from_address(games.ctypes.data), _ClockWords.from_address(clocks.ctypes.data)


class ProgramGame:
    """A game between two external programs, played in compiled code as long as nothing unusual happens."""

    def __init__(self, sides: Sequence[ProgramSide], first_mover: int) -> None:
        """``sides`` are the two programs; the first one plays the side that moves first from the start position.

        ``first_mover`` is the side (0 or 1) that makes the first move after the opening.
        """
        self.sides = sides
        first, second = sides
        self._memory = self._games, self._clocks, self._game, self._clock = _memory()
        self._start = start_clocks(first.limits, first.margin_ms, second.limits, second.margin_ms)
        self.restart(first_mover)

    def restart(self, first_mover: int) -> None:
        """Begin another game between the same programs."""
        self._first_mover = first_mover
        self._clocks[0] = self._start
        self._game.plies = 0

    def set_clock(self, side: int, clock: ClockState) -> None:
        words = self._clock
        words.remaining_ns[side], words.moves_made[side] = clock.remaining_ns, clock.moves_made
        words.overruns[side], words.worst_overrun_ns[side] = clock.overruns, clock.worst_overrun_ns

    def clock(self, side: int) -> ClockState:
        """The clock of a side after the last move."""
        words = self._clock
        return ClockState(
            words.remaining_ns[side], words.moves_made[side], words.overruns[side], words.worst_overrun_ns[side]
        )

    def call(
        self, plies: int, longest: int, arbiter: Sequence[Any], wait_arguments: tuple[int, int, int]
    ) -> Callable[[], int]:
        """Prepare a call of ``play_programs`` that plays on from the position after ``plies`` moves.

        Returns a function without arguments that calls ``play_programs`` and returns the code. ``longest`` is the
        maximum number of plies. ``arbiter`` has the arguments from ``states`` to ``trackers``; ``wait_arguments`` has
        the last three, as ``Conversation.wait_arguments`` returns them.
        """
        first, second = self.sides
        self._game.plies = plies
        return functools.partial(
            play_programs, self._games, first.array, second.array, first.talk.array, second.talk.array,
            first.words.array, second.words.array, self._clocks, *arbiter, longest, *wait_arguments,
        )  # fmt: skip

    @property
    def plies(self) -> int:
        """Number of moves played so far. Any thread may read this."""
        return int(self._game.plies)

    def release(self) -> None:
        """Let other games use this game's memory. This object must not be used or read afterwards."""
        _UNUSED.append(self._memory)

    @property
    def last_score(self) -> int:
        """Score of the last move in centipawns, from the mover's point of view; ``NO_SCORE`` if the move has none."""
        return int(self._game.figures[FIGURES * (self._game.plies - 1) + 1])

    def moves(self, begin: int) -> ProgramMoves:
        """The moves from index ``begin`` on, without principal variations. Any thread may call this."""
        end = self._game.plies
        return ProgramMoves(self._game.figures[FIGURES * begin : FIGURES * end], (self._first_mover + begin) % 2, [])


class ProgramMoves(NamedTuple):
    """Moves that compiled code has played, with ``FIGURES`` values for each move."""

    figures: Sequence[int]
    """``FIGURES`` values for each move, one move after another."""
    side: int
    """The side that played the first of these moves: 0 or 1."""
    outputs: list[bytes]
    """Output of both programs, by side, with the principal variations; an empty list if the output is unavailable."""

    @property
    def codes(self) -> Sequence[int]:
        return self.figures[::FIGURES]

    def rows(self) -> Iterator[tuple[int, int, int | None, int | None, int | None, float, str, float | None]]:
        """Yield a tuple for each move; unknown values are ``None``.

        The values are the side, the move's code, the score in centipawns from the mover's point of view, depth in
        plies, nodes, time in milliseconds, principal variation, and the time in milliseconds that the program reported.
        """
        figures, side = iter(self.figures), self.side
        for code, score, depth, nodes, time_ns, reported_ms, place, length in zip(*[figures] * FIGURES, strict=True):
            yield (
                side,
                code,
                None if score == NO_SCORE else score,
                None if depth < 0 else depth,
                None if nodes < 0 else nodes,
                time_ns / 1e6,
                self.outputs[side][place : place + length].decode(errors="replace")
                if length > 0 and self.outputs
                else "",
                None if reported_ms < 0 else float(reported_ms),
            )
            side = 1 - side


class ProgramArbiter(Arbiter):
    """An arbiter that can also play the moves of two programs in compiled code."""

    def __init__(
        self, position: Position, rules: Rules, adjudication: Adjudication, stop: StopFlag | None = None
    ) -> None:
        super().__init__(position, rules, adjudication, stop)
        self._adjudication = adjudication
        self.codes: list[int] = []
        """Codes of all moves played so far."""
        self.text_of = position.game.format_move
        """Function that converts a move's code to its text in protocol notation."""

    def restart(self, start: Position) -> None:
        """Begin another game under the same rules and adjudication, without allocating memory.

        ``start`` is the new game's start position, in which the rules are already stored. The position is copied.
        """
        position = self._position
        self._state[0] = start.state
        self._tracker.view(np.uint8)[:] = 0
        self._settings["draw_after_ply"] = position.game.draw_after_ply(self._adjudication, start.state)
        position.start, position.moves = start.start, list(start.moves)
        self._moves, self._unsolved, self.codes = 0, None, []

    @property
    def position(self) -> Position:
        """The current position; callers must not change it."""
        return self._position

    @property
    def side_to_move(self) -> int:
        """Side to move: 0 for the side that moves first in the game, 1 for the other."""
        return self._position.side_to_move

    def play(self, move: str, score: int | None) -> Ending | None:
        """Play a move and return the ending, if any; see ``Arbiter.play``."""
        ending = super().play(move, score)
        state = self._position.state
        self.codes.append(int(self._position.game.kernels.past_move(state, int(state.ply) - 1)))
        return ending

    def call(self, programs: ProgramGame, lists: Any, wait_arguments: tuple[int, int, int]) -> Callable[[], int]:
        """Prepare the call that lets both programs play on from the current position; see ``ProgramGame.call``.

        Pass the code that the call returns to ``note_call``. ``lists`` are the move lists (``Position.list_array``) of
        the thread that makes the call.
        """
        position = self._position
        longest = self._moves + position.game.max_game_plies - position.ply
        return programs.call(self._moves, longest, (self._state, lists, self._settings, self._tracker), wait_arguments)

    def note_call(self, programs: ProgramGame, code: int) -> Ending | None:
        """Update the arbiter after a prepared call has returned ``code``; returns the game's ending.

        Returns ``None`` if the game goes on. ``programs`` is the game that was played.
        """
        self._moves = programs.plies
        if code == TO_BE_SOLVED:
            self._unsolved = (1 - self._position.side_to_move, programs.last_score)
        return decode_verdict(code) if code >= 0 else None

    def note_moves(self, codes: Sequence[int]) -> list[str]:
        """Record the moves ``codes``, which ``play_programs`` has played, and return their texts.

        Called only for games that continue, because a finished game does not need the list of moves.
        """
        texts = list(map(self.text_of, codes))
        self.codes += codes
        self._position.moves += texts
        return texts
