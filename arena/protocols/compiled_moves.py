"""The moves of a game between two external programs that compiled code plays, and their way into the game's record.

The loop of ``arena.play.game`` takes some hundred microseconds a move, and the threads of many games wait for each
other. Compiled code (``engine.compiled.program_play``) takes a tenth of that. It plays what is usual, for players whose
protocol supports it, and leaves the rest to the loop.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from elolab.arena.players.external import ExternalPlayer
from elolab.arena.records import MoveRecord
from elolab.engine.compiled.program_play import (
    ASKED,
    EMPTY,
    IS_COMPILED,
    ClockState,
    ProgramArbiter,
    ProgramGame,
    ProgramMoves,
    ProgramSide,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from elolab.arena.players.player import Player, PlayerClock, Reply
    from elolab.engine.engine import StopFlag
    from elolab.engine.rules import Ending


NO_MOVES = ProgramMoves((), 0, [])


class CompiledMoves:
    """Plays moves of one game in compiled code and adds them to the game's own lists."""

    def __init__(
        self,
        players: tuple[ExternalPlayer[Any], ...],
        sides: Sequence[ProgramSide],
        arbiter: ProgramArbiter,
        line: list[str],
        moves: list[MoveRecord],
    ) -> None:
        """``line`` has all moves from the opening's first position on; ``moves`` only those after the opening."""
        self._players, self._arbiter, self._line, self._moves = players, arbiter, line, moves
        self._game = ProgramGame(sides, arbiter.side_to_move)
        self._compiled = 0
        """Number of moves after the last one that compiled code has made."""
        self.has_asked: bool = False
        """Whether compiled code has asked the side to move, whose answer has yet to be read."""
        self._last: ProgramMoves = NO_MOVES
        """The moves last taken over, as long as they are not in the game's list."""
        self._has_ended: bool = False

    @classmethod
    def of(
        cls,
        players: tuple[Player, Player],
        noticed_ns: Sequence[int],
        arbiter: ProgramArbiter,
        line: list[str],
        moves: list[MoveRecord],
    ) -> CompiledMoves | None:
        """The object for a game whose players have just started it; ``None`` if only Python can play it.

        ``noticed_ns`` is the arena's lateness, for each side, from which a move counts as disturbed.
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

    def play(self, clocks: Sequence[ClockState], stop: StopFlag) -> Ending | None:
        """Play as many moves as possible; returns the game's ending, ``None`` if it has not ended."""
        for side, clock in enumerate(clocks):
            self._game.set_clock(side, clock)
        ending, code = None, EMPTY
        while code == EMPTY:
            if not self._prepare():
                return None
            ending, code = self._arbiter.play_programs(self._game, stop)
            self._last = self._taken()
            if ending is None:
                self._keep()
        self.has_asked = code == ASKED
        return ending

    def clocks(self) -> list[tuple[ClockState, tuple[int, int]]]:
        """Each side's clock after ``play``, with the number of its moves that the arena read late, and the largest
        lateness in nanoseconds.
        """
        return [(self._game.clock(side), self._game.sides[side].disturbed()) for side in (0, 1)]

    def finish_move(self, side: int, clock: PlayerClock | None, stop: StopFlag) -> Reply:
        """Read and return the answer to the question that compiled code has asked ``side``."""
        self.has_asked = False
        return self._players[side].finish_move(self._arbiter.position, clock, stop)

    def end(self) -> None:
        """Note that the game has ended, so that its memory may be used for another game."""
        self._has_ended = True

    def keep(self) -> None:
        """Complete the game's list of moves after ``end``; callable on any thread."""
        self._moves += self._records(self._last)
        self._last = NO_MOVES

    def learn(self) -> None:
        """Let compiled code learn the moves of a game that has ended, except those that it has made itself."""
        if self._compiled == len(self._moves):
            return
        for player in self._players:
            player.program_line(self._line, self._arbiter)

    def read_moves(self) -> list[MoveRecord]:
        """The moves so far; callable on any thread."""
        moves = self._moves[:]
        return moves + self._records(self._last if self._has_ended else self._game.moves(len(moves)))

    @property
    def asked_ns(self) -> int:
        """Time at which one of the programs was last asked for a move (``time.monotonic_ns``)."""
        return max(side.talk.asked_ns for side in self._game.sides)

    def _prepare(self) -> bool:
        """Tell compiled code all that has happened since; returns false if the next move is Python's."""
        for number, player in enumerate(self._players):
            line = player.program_line(self._line, self._arbiter)
            if line is None or not self._game.sides[number].set_line(*line):
                return False
        return True

    def _taken(self) -> ProgramMoves:
        """Take over what compiled code has done; returns its moves."""
        moves = self._game.moves(len(self._moves))
        for player, side in zip(self._players, self._game.sides, strict=True):
            sent, received, used = side.take()
            player.keep_program_dialogue(sent, received, used)
            moves.outputs.append(received.output)
        return moves

    def _keep(self) -> None:
        """Add the moves last taken over to the game's lists."""
        self._line += self._arbiter.note_moves(self._last.codes)
        self.keep()
        self._compiled = len(self._moves)

    def _records(self, moves: ProgramMoves) -> list[MoveRecord]:
        text, read = self._arbiter.text_of, [player.read_variation for player in self._players]
        return [
            MoveRecord(
                text(code), score, depth, nodes, time_ms, read[side](variation) if variation else "", reported_ms
            )
            for side, code, score, depth, nodes, time_ms, variation, reported_ms in moves.rows()
        ]
