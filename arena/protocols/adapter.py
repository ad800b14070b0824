"""An adapter that lets a UCCI engine play under a Qianhong program, like UCCI2QH (2007) for ElephantEye.

The adapter handles commands like the built-in engine (``engine.protocols.qianhong``), but a ``UcciPlayer`` searches.
The player sends ``banmoves`` for moves that Qianhong forbids and for moves that lose by the repetition rules. Qianhong
has no resignation, so the adapter plays a legal move when the engine resigns. If the engine fails, the adapter answers
``ERROR``, and the next search restarts the engine.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import PurePath
from typing import TextIO, TypeVar

from elolab.arena.players.external import canonical_position
from elolab.arena.players.player import GameStopped, NoMove, PlayerClock, PlayerFault, PlayerResigned, Pondered, Reply
from elolab.arena.protocols.ucci import UcciPlayer
from elolab.arena.records import Opening, PlayerSpec
from elolab.engine.engine import SearchResult, StopFlag
from elolab.engine.games.contract import MoveError, Position
from elolab.engine.protocols.engine_server import CommandError, Search, SearchTask
from elolab.engine.protocols.qianhong import QianhongServer
from elolab.engine.rules import Rules
from elolab.engine.search.reports import ReportBoard
from elolab.engine.settings.limits import Limits

GAME = "xiangqi"
"""The game that Qianhong and UCCI engines play."""
START_TIMEOUT_MS = 60_000
"""Maximum time in milliseconds that the engine may take to start."""
MARGIN_MS = 30_000
"""Milliseconds by which a move may exceed the clock before the engine counts as hanging; no game is lost on time."""
STOP_MS = 10_000
"""Maximum time in milliseconds for a move after the engine receives ``stop``; a slower engine counts as hanging."""
POLL_S = 0.01
"""Interval in seconds at which a pondering search checks whether the expected move was played."""

Result = TypeVar("Result")


def adapted_spec(
    command: Sequence[str], options: Sequence[tuple[str, str]], directory: str | None, time_unit: str
) -> PlayerSpec:
    """The player specification of a UCCI engine whose clock is sent with each search.

    ``command`` is the program and its arguments, ``options`` has pairs of name and value, and ``time_unit`` is one of
    ``TIME_UNITS``.
    """
    return PlayerSpec(
        PurePath(command[0]).name, "ucci", Limits(clock_ms=1000), command=tuple(command), options=tuple(options),
        directory=directory, start_timeout_ms=START_TIMEOUT_MS, margin_ms=MARGIN_MS, ponder=True,
        protocol_keys=(("time_unit", time_unit),),
    )  # fmt: skip


class AdaptedPlayer(UcciPlayer):
    """A UCCI player that never resigns and can search any position next, because people take moves back."""

    def __init__(self, spec: PlayerSpec, game: str) -> None:
        super().__init__(spec, game)
        self._start = ""
        """Start position of the engine's current game; empty if the next search must begin a new game."""
        self._sent_moves: list[str] = []
        """The moves since ``_start`` that were sent to the engine."""
        self._allowed: Sequence[str] = ()
        self.abandoned: StopFlag = StopFlag()
        """Set while nobody waits for an answer, so that an engine that starts or hangs is ended soon."""

    @property
    def _patience_ms(self) -> int:
        return super()._patience_ms if self.abandoned.is_set() else STOP_MS

    @property
    def engine_name(self) -> str:
        """The name that the engine sent at its start, or else the name of its program."""
        return self._client.engine_name or self.name

    def forget(self) -> None:
        """Make the next search start a new game."""
        self._start = ""

    def take_up(self, position: Position, moves: Sequence[str], allowed: Sequence[str]) -> None:
        """Prepare a search of the position after ``moves``, restricted to the ``allowed`` moves if there are any.

        Starts the engine or a new game if needed. A stop of the search does not interrupt the start of the engine.
        """
        if self._start != position.start or self.process_id is None:
            self.new_game(Opening(position.start), self.abandoned)
        elif list(moves[: len(self._sent_moves)]) != self._sent_moves:
            self._line = self._game_line(canonical_position(self._game, position.start))
        self._start, self._sent_moves, self._allowed = position.start, [*moves], allowed

    def _banned(self, position: Position) -> list[str]:
        losing, legal = super()._banned(position), position.legal_moves()
        banned = [move for move in legal if self._allowed and move not in self._allowed]
        both = [move for move in legal if move in losing or move in banned]
        return both if len(both) < len(legal) else banned

    def _wait_for_move(self, lines: Sequence[str], clock: PlayerClock | None, stop: StopFlag, spent_ns: int = 0) -> int:
        """Send ``lines`` and wait for the move; returns the time used in nanoseconds, including ``spent_ns``.

        If ``stop`` ends the search, the move that the engine then sends also counts. Raises ``GameStopped`` if no move
        comes.
        """
        try:
            return super()._wait_for_move(lines, clock, stop, spent_ns)
        except GameStopped:
            if not self._client.answer:
                raise
            return time.monotonic_ns() - self._running().asked_ns + spent_ns

    def _reply(self, elapsed_ns: int, position: Position) -> Reply:
        try:
            return super()._reply(elapsed_ns, position)
        except (PlayerResigned, NoMove):
            return self._made_move(elapsed_ns, position)


class AdaptedEngine:
    """A UCCI program that chooses the moves of an ``AdaptedSession``; ``search`` is an ``engine_server.Search``."""

    def __init__(self, spec: PlayerSpec) -> None:
        self._player = AdaptedPlayer(spec, GAME)

    def start(self) -> str:
        """Start the program; returns the engine's name. Raises ``CommandError`` with the reason if that fails."""
        self._wait_for(self._player.start)
        return self._player.engine_name

    def new_game(self) -> None:
        """Make the next search start a new game."""
        self._player.forget()

    def close(self) -> None:
        """End the program."""
        self._player.close()

    def await_answer(self, is_awaited: bool) -> None:
        """Set whether the search's answer will be used.

        If it will not, an engine that is still starting or that hangs is ended sooner.
        """
        if is_awaited:
            self._player.abandoned.clear()
        else:
            self._player.abandoned.set()

    def search(self, task: SearchTask, stop: StopFlag, ponder: StopFlag | None, board: ReportBoard) -> SearchResult:
        """Search for a move and for the reply that the engine expects.

        ``task`` must have a clock. With a flag ``ponder``, the engine ponders until the flag is cleared, and then
        searches as after ``ponderhit``. If ``ponder`` is ``None``, the engine does not ponder. Nothing is written to
        ``board``. Raises ``CommandError`` if the program fails.
        """
        assert task.clock is not None, "a level is a clock"
        position = task.position
        clock = PlayerClock(int(task.clock.remaining_ms * 1_000_000), 0, None, 0, task.clock.moves_to_go)
        try:
            if ponder is None:
                reply = self._wait_for(lambda: self._move(position, clock, task.search_moves, stop))
            else:
                reply = self._ponder(position, clock, ponder, stop)
        except GameStopped:
            return _result(position, None)
        try:
            position.code_of(reply.move)
        except MoveError as error:
            raise self._failed(f"{self._player.name}: answered {reply.said!r}: {error}") from None
        return _result(position, reply)

    def _ponder(self, position: Position, clock: PlayerClock, ponder: StopFlag, stop: StopFlag) -> Reply:
        player, moves = self._player, position.moves
        self._wait_for(lambda: player.take_up(position, moves[:-1], ()))
        self._wait_for(lambda: player.ponder(position, moves, clock))
        while ponder.is_set() and not stop.is_set():
            time.sleep(POLL_S)
        if player.abandoned.is_set():
            self._wait_for(player.stop_pondering)
            raise GameStopped
        return self._wait_for(
            lambda: self._with_retry(
                lambda: player.move_after_pondering(position, moves, clock, stop, Pondered(True, 0)),
                position,
                clock,
                stop,
            )
        )

    def _move(self, position: Position, clock: PlayerClock, allowed: Sequence[str], stop: StopFlag) -> Reply:
        self._player.take_up(position, position.moves, allowed)
        return self._with_retry(lambda: self._player.move(position, position.moves, clock, stop), position, clock, stop)

    def _with_retry(self, search: Callable[[], Reply], position: Position, clock: PlayerClock, stop: StopFlag) -> Reply:
        """Search; if the search ends without a move, send the position as a new game and search once more."""
        try:
            return search()
        except NoMove as declined:
            return self._player.move_afresh(position, position.moves, clock, stop, declined.elapsed_ns)

    def _wait_for(self, converse: Callable[[], Result]) -> Result:
        try:
            return converse()
        except PlayerFault as fault:
            raise self._failed(fault.text) from None
        except NoMove as declined:
            raise self._failed(f"{self._player.name}: {declined.what.text()}") from None

    def _failed(self, text: str) -> CommandError:
        """End the program; returns the exception for the caller to raise, with the message ``text``.

        The next search restarts the program.
        """
        self._player.close()
        return CommandError(text)


def _result(position: Position, reply: Reply | None) -> SearchResult:
    if reply is None:
        return SearchResult(None, 0, 0, 0, 0.0, ())
    variation = [reply.move]
    after = position.copy()
    after.push(reply.move)
    if reply.expected in after.legal_moves():
        variation.append(str(reply.expected))
    return SearchResult(
        reply.move, reply.score or 0, reply.depth or 0, reply.nodes or 0, reply.elapsed_ns / 1e6, tuple(variation)
    )


class AdaptedSession(QianhongServer):
    """A Qianhong server that lets a UCCI engine choose the moves."""

    def __init__(self, spec: PlayerSpec, output: TextIO, *, rules: Rules | None = None) -> None:
        super().__init__(GAME, {}, output, rules=rules)
        self._adapted = AdaptedEngine(spec)

    @property
    def searcher(self) -> Search:
        """The search function of the UCCI engine."""
        return self._adapted.search

    def new_game(self) -> None:
        """Make the next search begin a new game; nothing is sent to the program yet."""
        self._adapted.new_game()

    def start(self, task: SearchTask) -> None:
        """Start the search that ``task`` describes."""
        self._adapted.await_answer(True)
        super().start(task)

    def abandon(self) -> None:
        """End a running search, if there is one, without an answer."""
        self._adapted.await_answer(False)
        super().abandon()

    def warm_up(self) -> None:
        """Start the program; raises ``CommandError`` with the reason if that fails."""
        self.title = self._adapted.start()

    def warn(self, message: str) -> None:
        """Write a warning to the error stream, because Qianhong's protocol has no error messages."""
        print(f"elolab: adapt: {message}", file=sys.stderr, flush=True)

    def close(self) -> None:
        """End the program."""
        self._adapted.close()
