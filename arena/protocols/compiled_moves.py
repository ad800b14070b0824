"""Fast play between two external programs: compiled code exchanges most of the moves of a game.

The Python loop of ``arena.play.game`` takes some hundred microseconds per move, and parallel games wait for each other.
Compiled code (``engine.compiled.program_play``) takes a tenth of that. Compiled code is for the usual cases in
protocols that have a ``ProgramSide``; the Python loop plays all other cases.

Python itself is slow after a second of waiting, because its code and data have left the processor's cache. If the same
programs play many games in a row, another thread therefore prepares the next game (``prepare``). The thread that plays
the games then only makes one call (``start``), and another thread reads the result (``fetch_ending``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from elolab.arena.players.external import ExternalPlayer
from elolab.arena.records import MoveRecord
from elolab.engine.compiled.exchange import NEVER_NS
from elolab.engine.compiled.program_games import ClockState, ProgramArbiter, ProgramGame, ProgramMoves, ProgramSide
from elolab.engine.compiled.program_play import ASKED, EMPTY, IS_COMPILED, UNREADY

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from elolab.arena.players.player import Player, PlayerClock, Reply
    from elolab.arena.records import Opening
    from elolab.engine.engine import StopFlag
    from elolab.engine.rules import Ending


NO_MOVES = ProgramMoves((), 0, [])


class CompiledMoves:
    """Plays moves of one game in compiled code and appends them to the game's lists of moves."""

    def __init__(
        self,
        players: tuple[ExternalPlayer[Any], ...],
        sides: Sequence[ProgramSide],
        arbiter: ProgramArbiter,
        line: list[str],
        moves: list[MoveRecord],
    ) -> None:
        """Prepare a game.

        ``line`` has all moves since the opening's start position, ``moves`` the records of the moves after the opening.
        Both lists belong to the caller, and ``play`` extends them.
        """
        self._players, self._arbiter, self._line, self._moves = players, arbiter, line, moves
        self._game = ProgramGame(sides, arbiter.side_to_move)
        self._both = tuple(zip(players, sides, strict=True))
        self._prepared: list[Any] = []
        """For each player, the result of ``prepare_game``, with which it can go on in Python."""
        self._thread: tuple[Any, tuple[int, int, int]] | None = None
        """The arguments of ``ProgramArbiter.call`` that depend on the thread that plays this game."""
        self._call: Callable[[], int] | None = None
        """The call that starts the game, if it has been prepared."""
        self._code: int | None = None
        """The code that ``_call`` has returned, until it is noted; otherwise ``None``."""
        self._compiled = 0
        """Length of ``moves`` after the last move that compiled code has played."""
        self.has_asked: bool = False
        """Whether compiled code has asked the side to move for a move and left the answer for Python to read."""
        self._last: ProgramMoves = NO_MOVES
        """Moves that compiled code has played and that are not yet in ``moves``."""
        self._has_ended: bool = False
        self.is_unready = True
        """Whether one of the players is not known to be ready for the first move."""

    @classmethod
    def of(
        cls,
        players: tuple[Player, Player],
        noticed_ns: Sequence[int],
        arbiter: ProgramArbiter,
        line: list[str],
        moves: list[MoveRecord],
    ) -> CompiledMoves | None:
        """Create the compiled part of a game that has just started; ``None`` if only the Python loop can play it.

        ``noticed_ns`` has a delay in nanoseconds for each side. If the arena reads a move with a longer delay after the
        arrival, the move counts as disturbed by other load on the machine.
        """
        external = tuple(player for player in players if isinstance(player, ExternalPlayer))
        if not IS_COMPILED or len(external) < len(players):
            return None
        sides = []
        for number, player in enumerate(external):
            side = player.program_side(number, players[1 - number].spec.limits, noticed_ns[number])
            if side is None:
                return None
            sides.append(side)
        return cls(external, sides, arbiter, line, moves)

    def restart(self, line: list[str], moves: list[MoveRecord]) -> None:
        """Use this object for another game, in which the same players have the same sides.

        The caller must already have restarted the arbiter. The arguments are as for the constructor.
        """
        self._line, self._moves, self._last, self._compiled = line, moves, NO_MOVES, 0
        self._game.restart(self._arbiter.side_to_move)
        for side in self._game.sides:
            side.clear()

    def prepare(self, opening: Opening, before: CompiledMoves) -> bool:
        """Prepare this game from ``opening``, so that the thread that now plays ``before`` can ``start`` it next.

        The same programs must play both games. Any thread may call this. Returns false if that is impossible while
        ``before`` is played.
        """
        thread = before._thread
        if thread is not None and thread[1][2] == NEVER_NS:
            self._prepared = [player.prepare_game(opening, self._line, side) for player, side in self._both]
            if None not in self._prepared:
                self._thread, self._call = thread, self._arbiter.call(self._game, *thread)
                return True
        self.end()
        return False

    @property
    def can_start(self) -> bool:
        """Whether the prepared game can start: its programs still run in the same processes and wait for a game."""
        return all(player.is_free_for(side) for player, side in self._both)

    def start(self) -> bool:
        """Start a prepared game on its thread; returns whether compiled code has played it to its end.

        If it has, call ``fetch_ending`` next, on any thread; if not, call ``adopt`` on this thread.
        """
        assert self._call is not None
        for player, side in self._both:
            player.show_program_dialogue(side)
        self._code = self._call()
        return self._code >= 0

    def adopt(self, began_ns: int) -> None:
        """Let the players continue, in Python, a prepared game that ``start`` has not played to its end.

        Compiled code announced the game at ``began_ns`` (``time.monotonic_ns``).
        """
        for (player, side), prepared in zip(self._both, self._prepared, strict=True):
            player.adopt_game(prepared, self._line, side, began_ns)

    def fetch_ending(self, began_ns: int) -> Ending | None:
        """Return the ending of a prepared game that ``start`` has played to its end, and fetch its moves.

        ``append_fetched`` then appends them. Any thread may call this. ``began_ns`` is as for ``adopt``.
        """
        code, self._code = self._code, None
        assert code is not None
        ending = self._arbiter.note_call(self._game, code)
        self._last = moves = self._game.moves(0)
        for player, side in self._both:
            moves.outputs.append(player.keep_program_game(side, began_ns))
        return ending

    def play(self, clocks: Sequence[ClockState], stop: StopFlag) -> Ending | None:
        """Play as many moves as possible in compiled code; returns the game's ending, or ``None`` if the game goes on.

        ``clocks`` has the clock of each side before the next move.
        """
        ending, code = None, EMPTY
        if self._code is None:
            for side, clock in enumerate(clocks):
                self._game.set_clock(side, clock)
        while code == EMPTY:
            if self._code is not None:
                code, self._code = self._code, None
            elif self._prepare():
                lists = self._arbiter.position.list_array
                self._thread = lists, self._game.sides[0].talk.wait_arguments(stop)
                code = self._arbiter.call(self._game, *self._thread)()
            else:
                return None
            ending = self._arbiter.note_call(self._game, code)
            self._last = self._fetch_moves()
            if self.is_unready and code != UNREADY:
                self.is_unready = False
                for player in self._players:
                    player.note_ready()
            if ending is None:
                self._append_to_line()
        self.has_asked = code == ASKED
        return ending

    def clocks(self) -> list[tuple[ClockState, tuple[int, int]]]:
        """For each side: the clock after ``play``, and the number and largest delay (ns) of the side's disturbed moves.

        A move is disturbed if the arena read it late because of other load on the machine.
        """
        return [(self._game.clock(side), self._game.sides[side].disturbed()) for side in (0, 1)]

    def finish_move(self, side: int, clock: PlayerClock | None, stop: StopFlag) -> Reply:
        """Wait for the answer of ``side`` to a request that compiled code has sent, and return it."""
        self.has_asked = False
        return self._players[side].finish_move(self._arbiter.position, clock, stop)

    def end(self) -> None:
        """Mark the game as ended, and release its memory for other games."""
        if not self._has_ended:
            self._has_ended, self._call = True, None
            self._game.release()
            for player, side in self._both:
                player.release_side(side)

    def append_fetched(self) -> None:
        """Append the fetched moves that are not yet in ``moves``. Once the game has ended, any thread may call this."""
        self._moves += self._records(self._last)
        self._last = NO_MOVES

    def learn(self) -> None:
        """Add moves that Python has played in an ended game to the table of move texts that compiled code can read."""
        if self._compiled == len(self._moves):
            return
        for player in self._players:
            player.program_line(self._line, self._arbiter)

    def read_moves(self) -> list[MoveRecord]:
        """Return the records of all moves so far. Can be called on any thread."""
        moves = self._moves[:]
        return moves + self._records(self._last if self._has_ended else self._game.moves(len(moves)))

    @property
    def asked_ns(self) -> int:
        """Time of the last request for a move, on the clock ``time.monotonic_ns``."""
        return max(side.talk.asked_ns for side in self._game.sides)

    def _prepare(self) -> bool:
        """Pass the moves played so far to compiled code; returns false if only Python can play the next move."""
        for player, side in self._both:
            line = player.program_line(self._line, self._arbiter)
            if line is None or not side.set_line(*line):
                return False
            player.show_program_dialogue(side)
        return True

    def _fetch_moves(self) -> ProgramMoves:
        """Fetch the moves that compiled code has played, and pass the exchanged lines to the players' dialogues."""
        moves = self._game.moves(len(self._moves))
        for player, side in self._both:
            sent, received, used = side.take()
            player.keep_program_dialogue(sent, received, used)
            moves.outputs.append(received.output)
        return moves

    def _append_to_line(self) -> None:
        """Append the fetched moves to both lists of the game: the moves since the opening's start, and the records."""
        self._line += self._arbiter.note_moves(self._last.codes)
        self.append_fetched()
        self._compiled = len(self._moves)

    def _records(self, moves: ProgramMoves) -> list[MoveRecord]:
        text, read = self._arbiter.text_of, [player.variation_reader() for player in self._players]
        return [
            MoveRecord(
                text(code), score, depth, nodes, time_ms, read[side](variation) if variation else "", reported_ms
            )
            for side, code, score, depth, nodes, time_ms, variation, reported_ms in moves.rows()
        ]
