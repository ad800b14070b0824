"""The common part of players that are external programs, for all protocols.

A process plays many games. It is replaced after a fault, and after every game with ``restart = "always"``. After a late
move, a process that obeyed the order to stop is kept. Each protocol has a subclass of ``ProtocolClient``, which parses
lines and tracks the replies that are due. The protocol's subclass of ``ExternalPlayer`` decides which lines to send.
"""

from __future__ import annotations

import functools
import os
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from elolab.arena.players.player import (
    LEVEL_SCORE,
    Fault,
    GameStopped,
    NoMove,
    PlayerClock,
    PlayerFault,
    PlayerResigned,
    Pondered,
    Reply,
    seconds_text,
)
from elolab.arena.players.process import LINE_BYTES, DeadlinePassed, DialogueSink, EngineProcess, ProcessEnded
from elolab.arena.players.processors import Processors, pin_process

if TYPE_CHECKING:
    from elolab.arena.players.announced_options import AnnouncedOption
    from elolab.arena.records import Opening, PlayerSpec
    from elolab.engine.compiled.exchanged import Received, Sent
    from elolab.engine.compiled.program_games import ProgramArbiter, ProgramSide
    from elolab.engine.engine import StopFlag
    from elolab.engine.games.contract import Position
    from elolab.engine.settings.limits import Limits

LogDialogue = Callable[[str, Sequence[str], int], DialogueSink | None]
"""Function that opens the log of a dialogue; its arguments are the player's name, the command and the process number.

The result is ``None`` if no log is kept.
"""
QUOTED = 80
"""Maximum number of characters of an engine's line that the text of a fault quotes."""
PASS = "pass"
"""Notation of a pass, the move of a side that has no other move."""
STARTS_AT_ONCE = max(4, os.cpu_count() or 1)
"""Maximum number of programs that start at the same time; more would take processor time from running games."""
NOTICED_NS = 1_000_000
"""Minimum recorded delay, in nanoseconds, between a reply's arrival and its reading; a smaller one may be noise."""
_STARTS = threading.Semaphore(STARTS_AT_ONCE)
LATE_ANSWER_MS = 250
"""Milliseconds that an overdue engine has to obey a stop command; after that it counts as hanging."""


@functools.lru_cache(maxsize=1000)  # a match plays its openings again and again, and reading one takes milliseconds
def canonical_position(game: str, text: str) -> str:
    """The position in the game's canonical text form."""
    from elolab.engine.games import game_named

    return game_named(game).position(text).text


@functools.lru_cache(maxsize=1000)
def move_style(game: str, text: str) -> str:
    """Name of the style in which programs write moves in a game from this position (see ``Game.move_style``)."""
    from elolab.engine.games import game_named

    return game_named(game).move_style(game_named(game).parse_state(text))


def without_history(position: Position) -> str:
    """The position as text with its move counters reset, as at the start of a game."""
    board, side, *fields = position.text.split()
    return " ".join([board, side, *fields[:2], *(("0", "1") if fields else ())])


class ProtocolClient(ABC):
    """Tracks the replies that are due and parses the engine's output.

    The client does no input or output: its methods take received lines, and return lines to send.
    """

    def __init__(self) -> None:
        self.engine_name = ""
        self.answer = ""
        """The line that ended the last search; empty before the first one."""
        self.unexpected = 0
        """Number of unrequested replies, which are ignored."""
        self._due: set[str] = set()

    @property
    def is_idle(self) -> bool:
        """Whether no reply is due."""
        return not self._due

    @abstractmethod
    def receive(self, line: str) -> str:
        """Process a line from the engine; returns the name of the reply that it completes, or an empty text."""

    @abstractmethod
    def synchronise(self, *before: str) -> list[str]:
        """Return the lines ``before``, followed by a command that the engine answers once it has processed them.

        In a protocol without such a command, returns only ``before``.
        """

    def stop(self) -> list[str]:
        """Return the lines that stop a search; the answer to the search is still due."""
        return self.synchronise("stop")

    def _expect(self, reply: str, *lines: str) -> list[str]:
        """Mark ``reply`` as due, and return ``lines`` as the lines to send."""
        self._due.add(reply)
        return [*lines]

    def _take(self, reply: str) -> str:
        """Mark a reply as received and return it; if it was not due, count it as unexpected and return ``""``."""
        if reply not in self._due:
            self.unexpected += 1
            return ""
        self._due.discard(reply)
        return reply


ClientKind = TypeVar("ClientKind", bound=ProtocolClient)


class ExternalPlayer(ABC, Generic[ClientKind]):
    """A player that is an external program; see ``arena.players.player.Player``."""

    protocol_name: ClassVar[str]
    """Name of the protocol, for messages."""

    def __init__(self, spec: PlayerSpec, game: str, make_client: Callable[[], ClientKind]) -> None:
        self.spec = spec
        self.name = spec.name
        self._game = game
        self._process: EngineProcess | None = None
        self._make_client = make_client
        self._client = make_client()
        self._games = 0
        self._processors: Processors = frozenset()
        """Numbers of the processors that the engine may use; if empty, the system chooses."""
        self.log_dialogue: LogDialogue = lambda player, command, process_id: None
        """Function called for every new process; returns the log of its dialogue, or ``None`` if no log is kept."""
        self._starting: StopFlag | None = None
        """Stop flag that interrupts the engine's start; ``None`` without a start or if nothing may interrupt it."""
        self._is_announced = False
        """Whether the announcement of a new game is queued or sent, and its answer has not been processed yet."""

    @property
    def process_id(self) -> int | None:
        """Process number of the engine; ``None`` if it is not running."""
        return self._process.process_id if self._process is not None and not self._process.has_ended else None

    @property
    def announced_options(self) -> Mapping[str, AnnouncedOption] | None:
        """Options announced at the engine's last start, by lower-case name; ``None`` if the protocol has no options."""
        return None

    # For subclasses.

    @abstractmethod
    def _handshake(self, deadline_ns: int) -> None:
        """Perform the handshake with the newly started engine and set its options.

        Raises ``DeadlinePassed`` after ``deadline_ns`` (``time.monotonic_ns``).
        """

    @abstractmethod
    def _begin_game(self, opening: Opening, deadline_ns: int, stop: StopFlag) -> None:
        """Announce a new game and wait until the engine is ready; raises ``DeadlinePassed`` after ``deadline_ns``."""

    @abstractmethod
    def _question(
        self, position: Position, moves: Sequence[str], clock: PlayerClock | None, stop: StopFlag
    ) -> list[str]:
        """Prepare the engine for a search, before its clock starts; returns the lines that ask for a move."""

    @abstractmethod
    def _restart(self, position: Position, moves: Sequence[str]) -> None:
        """Make the next request send ``position`` as the start of a new game, without the ``moves`` that led to it."""

    @abstractmethod
    def _reply(self, elapsed_ns: int, position: Position) -> Reply:
        """Make a ``Reply`` from the answer that the client has received; raises the same exceptions as ``move``."""

    @property
    def _passes_by_itself(self) -> bool:
        """Whether elolab makes a forced pass for the engine, without asking the engine."""
        return False

    def move(self, position: Position, moves: Sequence[str], clock: PlayerClock | None, stop: StopFlag) -> Reply:
        """Let the engine search; its clock runs from just before the request until the answer has arrived."""
        if self._passes_by_itself and position.legal_moves() == [PASS]:
            return Reply(PASS, None, None, None, 0)
        lines = self._question(position, moves, clock, stop)
        return self._search(lines, position, clock, stop)

    def program_side(self, side: int, opponent: Limits, noticed_ns: int) -> ProgramSide | None:
        """Data for compiled code that plays this player's moves as ``side``; ``None`` if only Python can play them.

        ``opponent`` has the limits of the other player. A move that elolab reads more than ``noticed_ns`` nanoseconds
        late counts as disturbed. The data are for one game; ``release_side`` makes them available for later games.
        """
        return None

    def release_side(self, side: ProgramSide) -> None:
        """Note that the game for which ``program_side`` returned ``side`` has ended."""

    def prepare_game(self, opening: Opening, moves: Sequence[str], side: ProgramSide) -> Any:
        """Prepare compiled code to announce a game after the current one, and to play on after ``moves``.

        Any thread may call this. Returns what ``adopt_game`` needs; ``None`` if Python must start that game.
        """
        return None

    def is_free_for(self, side: ProgramSide) -> bool:
        """Whether the engine's process is the same as when ``side`` was prepared, and is waiting for a game."""
        process = self._process
        return process is not None and process.talk is side.talk and process.is_quiet and self._client.is_idle

    def adopt_game(self, prepared: Any, moves: Sequence[str], side: ProgramSide, began_ns: int) -> None:
        """Continue in Python a game that compiled code has announced at ``began_ns`` (``time.monotonic_ns``).

        ``prepared`` is what ``prepare_game`` returned.
        """

    def show_program_dialogue(self, side: ProgramSide) -> None:
        """Let viewers read what compiled code exchanges for ``side``."""
        self._running().dialogue.unread = side.exchanged

    def keep_program_game(self, side: ProgramSide, began_ns: int) -> bytes:
        """Record the dialogue of a game that compiled code has announced and played; returns the engine's output.

        Any thread may call this. The game was announced at ``began_ns`` (``time.monotonic_ns``).
        """
        sent, received, _ = side.take()
        dialogue = self._running().dialogue
        dialogue.sent(side.announcement, began_ns)
        dialogue.exchanged(sent, received)
        return received.output

    def program_line(self, moves: Sequence[str], arbiter: ProgramArbiter) -> tuple[str, bool] | None:
        """The line by which compiled code sends the engine the position after ``moves``, and whether it has moves.

        ``None`` if Python must request the next move.
        """
        return None

    def variation_reader(self) -> Callable[[str], str]:
        """Function that converts a principal variation from the engine's notation to the notation of ``Reply``."""
        return str

    def note_ready(self) -> None:
        """Note that compiled code has sent what ``announce_game`` prepared, and that the engine is ready."""

    def keep_program_dialogue(self, sent: Sent, received: Received, used: int) -> None:
        """Record what compiled code has sent and received; see ``EngineProcess.keep_exchanged``."""
        self._running().keep_exchanged(sent, received, used)

    def finish_move(self, position: Position, clock: PlayerClock | None, stop: StopFlag) -> Reply:
        """Read and return the answer to a request that compiled code has sent."""
        return self._search((), position, clock, stop)

    def move_afresh(
        self, position: Position, moves: Sequence[str], clock: PlayerClock | None, stop: StopFlag, spent_ns: int
    ) -> Reply:
        """Let the engine search again after an answer without a move; see ``arena.players.player.Player``."""
        self._restart(position, moves)
        lines = self._question(position, moves, clock, stop)
        return self._search(lines, position, clock, stop, spent_ns)

    def _search(
        self, lines: Sequence[str], position: Position, clock: PlayerClock | None, stop: StopFlag, spent_ns: int = 0
    ) -> Reply:
        reply = self._reply(self._wait_for_move(lines, clock, stop, spent_ns), position)
        late_ns = self._running().late_ns
        return reply._replace(late_ns=late_ns) if late_ns >= NOTICED_NS else reply

    @property
    def _patience_ms(self) -> int:
        """Milliseconds that the engine has to obey a stop command."""
        return LATE_ANSWER_MS

    def _halt(self) -> bool:
        """Stop the search; ends the process if the engine does not obey. Returns whether the engine sent its answer."""
        deadline_ns = time.monotonic_ns() + self._patience_ms * 1_000_000
        try:
            self._converse(self._client.stop(), deadline_ns)
        except (DeadlinePassed, ProcessEnded):
            self._running().end()
        return self._client.answer != ""

    def hear_draw_offer(self) -> None:
        """Do nothing: the default for protocols without draw offers."""

    def ponder(self, position: Position, moves: Sequence[str], clock: PlayerClock | None) -> None:
        """Do nothing: the default for protocols without pondering, which reject players with ``ponder``."""

    def move_after_pondering(
        self, position: Position, moves: Sequence[str], clock: PlayerClock | None, stop: StopFlag, pondered: Pondered
    ) -> Reply:
        """Search as ``move`` does: the default for protocols without pondering."""
        return self.move(position, moves, clock, stop)

    def stop_pondering(self) -> None:
        """Do nothing: the default for protocols without pondering."""

    # Start and end.

    def pin(self, processors: Processors) -> None:
        """Restrict the engine to these processors, now if it is running, and at every later start."""
        if processors != self._processors:
            self._processors = processors
            if self.process_id is not None:
                pin_process(self.process_id, processors)

    def start(self, stop: StopFlag | None = None) -> None:
        """Start the engine and prepare it for games; raises ``GameStopped`` once ``stop`` is set."""
        if self.process_id is not None:
            return
        self.close()
        while not _STARTS.acquire(timeout=0.1):
            if stop is not None and stop.is_set():
                raise GameStopped
        try:
            self._launch(stop)
        finally:
            _STARTS.release()

    def _launch(self, stop: StopFlag | None) -> None:
        self._starting = stop
        deadline_ns = self._start_deadline_ns()
        self._client = self._make_client()
        self._games = 0
        try:
            self._process = EngineProcess(self.spec.command, self.spec.directory, self._processors)
            self._process.dialogue.sink = self.log_dialogue(self.name, self._process.command, self._process.process_id)
            self._handshake(deadline_ns)
        except DeadlinePassed:
            waited = seconds_text(self.spec.start_timeout_ms)
            what = Fault("no_handshake", protocol=self.protocol_name, waited=waited, heard=self._last_line())
            raise self._failed("startup_failure", what) from None
        except ProcessEnded:
            what = Fault("ended_in_handshake", protocol=self.protocol_name)
            raise self._failed("startup_failure", what) from None
        except PlayerFault as error:
            raise self._failed(error.reason, error.fault) from None
        except GameStopped:
            self._running().end()
            raise
        finally:
            self._starting = None

    def announce_game(self, opening: Opening, stop: StopFlag) -> None:
        """Prepare the announcement of a new game, which compiled code then sends; does nothing by default."""

    def new_game(self, opening: Opening, stop: StopFlag) -> None:
        """Announce a new game to the engine, unless ``announce_game`` has done so, and wait until it is ready."""
        for last_try in (False, True):
            try:
                if self._is_announced:
                    self._read_replies(0, stop)
                else:
                    self._start_for_game(stop)
                    self._begin_game(opening, self._start_deadline_ns(), stop)
                self._is_announced = False
                self._games += 1
                return
            except (DeadlinePassed, ProcessEnded):
                # It may have crashed after the result of its last game; then a new process may succeed.
                fault = self._failed("startup_failure", Fault("not_ready"))
                self._is_announced = False
                if last_try:
                    raise fault from None

    def _start_for_game(self, stop: StopFlag) -> None:
        """Start the engine if it does not run, or restart it if each game needs a new process."""
        if self.spec.restart == "always" and self._games > 0:
            self.close()
        self.start(stop)

    def search_statistics(self) -> None:
        """Always ``None``: external engines report no search statistics."""

    def dialogue(self) -> list[str]:
        """The last lines exchanged with the current process, or the previous one if none is running; oldest first."""
        return self._process.dialogue.tail() if self._process is not None else []

    def close(self) -> None:
        """End the process: with ``quit`` if no reply is due, otherwise immediately."""
        if self._process is not None:
            self._process.end("quit" if self._client.is_idle else None)

    # Writing and reading.

    def _start_deadline_ns(self) -> int:
        return time.monotonic_ns() + self.spec.start_timeout_ms * 1_000_000

    def _running(self) -> EngineProcess:
        if self._process is None:
            raise PlayerFault("crash", Fault("not_running"), self.name)
        return self._process

    def _drain_unsolicited_lines(self) -> None:
        """Process lines that have already arrived, so that none is mistaken for the answer to the next request."""
        for line in self._running().take_unasked():
            self._client.receive(line)

    def _converse(self, lines: Sequence[str], deadline_ns: int, stop: StopFlag | None = None) -> None:
        """Send lines and read output until no reply is due; raises ``GameStopped`` once ``stop`` is set."""
        if self._client.is_idle:
            self._running().send(lines, deadline_ns)
        else:
            self._running().ask(lines)
            self._read_replies(deadline_ns, stop or self._starting)

    def _read_replies(self, deadline_ns: int, stop: StopFlag | None) -> None:
        """Read the engine's output until no reply is due; a pending request is written first."""
        process, client = self._running(), self._client
        while not client.is_idle:
            client.receive(process.read_line(deadline_ns, stop, skips_thinking=True))

    def _wait_for_move(self, lines: Sequence[str], clock: PlayerClock | None, stop: StopFlag, spent_ns: int = 0) -> int:
        """Send the lines that ask for a move, if there are any, and wait for the move.

        Returns the nanoseconds to charge: the duration of the wait plus ``spent_ns``, which the engine used before.
        """
        process = self._running()
        allowance_ns = max(0, self._allowance_ms(clock) * 1_000_000 - spent_ns)
        try:
            if lines:
                process.ask(lines, allowance_ns)
            self._read_replies(0, stop)
        except DeadlinePassed:
            raise self._overdue(clock, process.asked_ns - spent_ns) from None
        except ProcessEnded:
            raise self._failed("crash", Fault("ended_moving")) from None
        except GameStopped:
            self._halt()
            raise
        return max(0, process.arrived_ns - process.asked_ns) + spent_ns

    def _allowance_ms(self, clock: PlayerClock | None) -> int:
        """Milliseconds after which the engine is stopped if it has not moved."""
        if clock is None:
            time_ms = self.spec.limits.move_time_ms
            return self.spec.watchdog_ms if time_ms is None else time_ms + self.spec.margin_ms
        times = [clock.remaining_ms]
        if self.spec.limits.move_time_ms is not None:
            times.append(self.spec.limits.move_time_ms)
        return min(times) + self.spec.margin_ms

    def _overdue(self, clock: PlayerClock | None, began_ns: int) -> Exception:
        """Stop an overdue engine and return the exception to raise; ``began_ns`` is the time when its search began.

        An engine that has a time limit and answers the stop has only moved too late (``time_forfeit``). Any other fault
        is ``no_answer``, and the process ends.
        """
        heard, overdue = self._last_line(began_ns), self._no_move_in_time(clock)
        answered = self._halt()
        if not self.spec.limits.is_timed:
            waited = seconds_text(self._allowance_ms(clock))
            what = Fault("watchdog", waited=waited, heard=heard)
            if answered:
                what = Fault("ignored_limit", waited=waited, limit=str(self.spec.limits), heard=heard)
            return self._failed("no_answer", what)
        if answered:  # keep it: another start would take time from other games
            return PlayerFault("time_forfeit", overdue, self.name)
        return self._failed("no_answer", Fault("ignored_stop", overdue=overdue, heard=heard))

    def _no_move_in_time(self, clock: PlayerClock | None) -> Fault:
        """The fault of an engine that has not moved within its time and the margin."""
        move_ms = self.spec.limits.move_time_ms
        is_move_time = clock is None or (move_ms is not None and move_ms < clock.remaining_ms)
        allowed = Fault("move_time" if is_move_time else "remaining_time", margin=self.spec.margin_ms)
        return Fault("no_move_in_time", waited=seconds_text(self._allowance_ms(clock)), allowed=allowed)

    def _last_line(self, since_ns: int = 0) -> Fault:
        """A quotation of the engine's last line since ``since_ns`` (``time.monotonic_ns``), as part of a fault.

        The line may be a misspelt or unfinished answer.
        """
        if self._process is None:
            return Fault("said_nothing")
        last, before = ([*self._process.dialogue.last_two_received(since_ns), "", ""])[:2]
        if not last:
            return Fault("said_nothing")
        line = last[:QUOTED]
        if not self._process.is_in_overlong_line:
            return Fault("last_said", line=line)
        if not before:
            return Fault("endless_line", bytes=LINE_BYTES, line=line)
        return Fault("endless_line_after", bytes=LINE_BYTES, line=line, before=before[:QUOTED])

    def _resignation(self, said: str, elapsed_ns: int, score: int | None) -> Exception:
        """The exception for a resignation in the engine's line ``said``.

        ``PlayerResigned``; or ``NoMove`` if the engine's own score does not indicate a lost position.
        """
        if score is None or score < -LEVEL_SCORE:
            return PlayerResigned()
        what = Fault("resigned_unlost", said=said[:QUOTED], score=score)
        return NoMove(what, elapsed_ns, score, is_resignation=True)

    def _failed(self, reason: str, what: Fault | str) -> PlayerFault:
        """End the process and return the fault to raise; if the process ended by itself, the fault describes how.

        ``reason`` and ``what`` are as for ``PlayerFault``.
        """
        what = Fault.of(what)
        if self._process is not None:
            died = self._process.has_died
            self._process.end()
            if died:
                what = Fault("and_exit", what=what, exit=self._process.exit)
        return PlayerFault(reason, what, self.name)
