"""Communication with a program that is being checked; each protocol has a subclass.

The protocol's client in ``arena.protocols`` formats and parses the lines. ``Failed`` is raised when the program ends or
does not answer, ``Skipped`` when the protocol lacks an operation.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

from elolab.arena.checking.findings import CheckSettings, Failed, SearchAnswer, SearchLine, Skipped
from elolab.arena.players.announced_options import AnnouncedOption
from elolab.arena.players.external import ProtocolClient
from elolab.arena.players.player import PlayerClock, PlayerFault, first_word
from elolab.arena.players.process import DeadlinePassed, EngineProcess, ProcessEnded
from elolab.arena.protocols.move_texts import RANKED, GameMoves, MoveTexts, RankedMoves
from elolab.engine.games import game_named
from elolab.engine.games.contract import Position
from elolab.engine.settings.limits import Limits

MAX_LINES = 10_000
"""Maximum number of output lines kept per answer; older ones are dropped."""
WRITE_MS = 2_000
"""Maximum time, in milliseconds, for which a program may leave its input unread."""
RESOURCES = {"memory": ("hash", "hashsize", "memory"), "threads": ("threads", "numthreads", "cores")}
"""Usual names, in lower case, of two options: the transposition table's size in MiB, and the number of threads."""

ClientKind = TypeVar("ClientKind", bound=ProtocolClient)


@dataclass
class Knowledge:
    """Facts about a program that the checks learn; they apply to all of its processes."""

    first_rank: int | None = None
    """Number of the board's lowest rank in the program's moves, 0 or 1; ``None`` while unknown."""
    answers_ready: bool = True
    """Whether the program answers when it is asked for its readiness (``ask_ready``)."""
    knows_depth: bool | None = None
    """Whether the program accepts a depth limit; ``None`` while unknown."""


class Dialect(ABC, Generic[ClientKind]):
    """Communication with one process of the program.

    The defaults describe a protocol without optional features: methods for such a feature raise ``Skipped``.
    """

    title: ClassVar[str]
    client_class: type[ProtocolClient]
    """The protocol's client, which tournaments use too; it formats and parses lines."""
    own_keys: ClassVar[frozenset[str]] = frozenset()
    """Keys of ``[[players]]`` tables that only this protocol has; the checks accept them as options."""
    limits: frozenset[str] = frozenset()
    """Names of the search limits that the protocol can express, such as ``depth``, ``move_time`` or ``clock``."""
    time_unit_ms: int = 1
    """Unit of the times sent to the program, in milliseconds."""
    synchronisation: ClassVar[str] = ""
    """The command that asks whether the input has been processed, as messages quote it."""
    ready: ClassVar[str] = ""
    """First word of the answer to ``synchronisation``."""
    awaited: ClassVar[str] = ""
    """Name that messages use for the answer to a search, such as ``bestmove``."""
    farewell: ClassVar[str] = "quit"
    interruption: ClassVar[tuple[str, ...] | None] = None
    """Lines that interrupt a search; empty if ``synchronisation`` interrupts it, ``None`` if nothing does."""
    endless: ClassVar[Limits | None] = None
    """Limits of a search that only ``interrupt`` ends; ``None`` if the protocol has no such search."""
    start_lines: ClassVar[tuple[str, ...]] = ()
    """Lines that send the start position by the protocol's own word, such as UCI's ``startpos``."""
    illegal_position: ClassVar[tuple[str, ...]] = ()
    """Lines that send an invalid position."""
    unknown_option: ClassVar[str] = ""
    """A line that sets an option unknown to every program."""
    listens_while_thinking: ClassVar[bool] = False
    """Whether the protocol requires a program to answer ``synchronisation`` during a search."""
    recommendations: ClassVar[frozenset[str]] = frozenset({"illegal_position", "illegal_move"})
    """Names of checks whose failure is only reported as advice.

    By default these are the checks of illegal input, because most protocols do not define how a program treats it.
    """

    def __init__(self, process: EngineProcess, settings: CheckSettings, knowledge: Knowledge) -> None:
        self.client: ClientKind = self.client_class()  # type: ignore[assignment]
        self.process = process
        self.settings = settings
        self.knowledge = knowledge
        self.line_end = ""
        """Suffix of every line sent."""
        self.name = ""
        """Name that the program gives itself; empty until known."""
        self.announced: list[tuple[str, AnnouncedOption | None]] = []
        """Each option line of the program, with the option parsed from it; ``None`` if the line is malformed."""
        self._began_ns = 0
        self._was_ready = False

    # Lines.

    def send(self, *lines: str) -> None:
        """Send lines to the program; raises ``Failed`` if the program has ended or does not read them."""
        if not lines:
            return
        try:
            self.process.send([line + self.line_end for line in lines], _after(WRITE_MS))
        except DeadlinePassed:
            raise Failed("failure.does_not_read", seconds=f"{WRITE_MS / 1000:g}") from None
        except ProcessEnded:
            raise self._ended() from None

    def read_until(self, is_end: Callable[[str], bool], ms: float, awaited: str) -> list[str]:
        """Read lines up to the first one that ``is_end`` accepts; returns them all.

        Raises ``Failed`` if there is no such line within ``ms`` milliseconds. The remark names ``awaited``, the
        expected answer.
        """
        lines, is_over = self._read(ms, is_end)
        if not is_over:
            key = "failure.no_answer" if self.process.dialogue.last_received() else "failure.silent"
            raise Failed(key, awaited=awaited, seconds=f"{ms / 1000:g}")
        return lines

    def read_for(self, ms: float, is_end: Callable[[str], bool] = lambda line: False) -> list[str]:
        """Read and return the lines of the next ``ms`` milliseconds, up to the first one that ``is_end`` accepts."""
        return self._read(ms, is_end)[0]

    def _read(self, ms: float, is_end: Callable[[str], bool]) -> tuple[list[str], bool]:
        deadline_ns = _after(ms)
        lines: deque[str] = deque(maxlen=MAX_LINES)
        try:
            while not lines or not is_end(lines[-1]):
                lines.append(self.process.read_line(deadline_ns))
        except DeadlinePassed:
            return list(lines), False
        except ProcessEnded:
            raise self._ended() from None
        return list(lines), True

    def leave(self, farewell: str | None) -> bool:
        """Send ``farewell``, or close the input for ``None``; returns whether the program ends within ``ending_ms``."""
        try:
            return self.process.leave(farewell, self.settings.ending_ms)
        except (DeadlinePassed, ProcessEnded):
            return False

    def _ended(self) -> Failed:
        """The ``Failed`` error for a process that has ended by itself; it names the exit code or the signal."""
        self.process.end()
        return Failed("failure.ended", how=self.process.exit.text())

    def lacking(self) -> Skipped:
        """The ``Skipped`` error for an operation that the protocol does not support."""
        return Skipped("skip.protocol", protocol=self.title)

    # Handshake and synchronisation.

    @abstractmethod
    def greet(self) -> None:
        """Perform the handshake; sets ``name`` and ``announced``."""

    def configure(self) -> None:
        """Set the options from the settings; raises ``PlayerFault`` if an option cannot be set."""
        for name, _ in self.settings.options:
            raise PlayerFault("startup_failure", f"option {name}: {self.title} has no options")

    @property
    def can_synchronise(self) -> bool:
        """Whether the program can confirm that it has processed its input."""
        return True

    def settled(self) -> list[str]:
        """Wait until the program confirms its readiness, or else for ``quiet_ms``; returns the program's output."""
        if self.knowledge.answers_ready and self.can_synchronise:
            return self.ask_ready()
        return self.read_for(self.settings.quiet_ms)

    def ask_ready(self, max_ms: int | None = None) -> list[str]:
        """Ask whether the input has been processed; returns the output up to the answer.

        ``max_ms`` is the time limit. By default, the first answer may take as long as the handshake, because many
        programs initialise before they answer.
        """
        if not self.can_synchronise:
            raise Skipped("skip.feature", name=self.synchronisation)
        ms = self.settings.timeout_ms if self._was_ready else self.settings.start_ms
        self.send(*self.client.synchronise())

        def is_ready(line: str) -> bool:
            # Some lines, such as xboard's ``tellusererror``, make the client expect no answer.
            return first_word(self.client.receive(line)) == self.ready or self.client.is_idle

        lines = self.read_until(is_ready, ms if max_ms is None else max_ms, self.ready)
        self._was_ready = True
        return lines

    def ask_ready_while_thinking(self) -> float:
        """Ask for readiness during a search, which must continue; returns the milliseconds until the answer."""
        if not self.listens_while_thinking:
            raise self.lacking()
        if not self.knowledge.answers_ready:
            raise Skipped("skip.not_ready")
        began_ns = time.monotonic_ns()
        for line in self.ask_ready():
            if self.is_answer(line):
                raise Failed("failure.early", said=line)
        return (self.process.arrived_ns - began_ns) / 1e6

    @abstractmethod
    def begin_game(self) -> None:
        """Begin a new game."""

    # Searches.

    @property
    def ordinary(self) -> Limits:
        """Limits of a short search, as most checks use it."""
        return Limits(depth=self.settings.depth)

    @abstractmethod
    def begin(self, position: Position, limits: Limits, clock: PlayerClock | None = None) -> None:
        """Ask for a move in ``position`` without waiting for the answer, which ``answer`` reads."""

    @abstractmethod
    def is_answer(self, line: str) -> bool:
        """Whether a line has the form of an answer to a search."""

    def ends_search(self, line: str) -> bool:
        """Whether a line ends the current search; called once for each line, because some protocols count answers."""
        return self.is_answer(line)

    def is_unasked(self, line: str) -> bool:
        """Whether a line is an answer that a program must not give when it is interrupted while idle."""
        return self.is_answer(line)

    @abstractmethod
    def read_answer(self, lines: Sequence[str], elapsed_ms: float) -> SearchAnswer:
        """Read the answer from the output of a search that took ``elapsed_ms``."""

    def ask_for_search(self, *lines: str) -> None:
        """Send lines that begin a search, and record its start time."""
        self.process.take_unasked()
        self._began_ns = time.monotonic_ns()
        self.send(*lines)

    def search(
        self, position: Position, limits: Limits | None = None, clock: PlayerClock | None = None
    ) -> SearchAnswer:
        """Ask for a move and wait for it; raises ``Failed`` if the move exceeds its time by more than ``margin_ms``."""
        limits = limits or self.ordinary
        self.begin(position, limits, clock)
        times = [clock.remaining_ms] if clock is not None else []
        if limits.move_time_ms is not None:
            times.append(limits.move_time_ms)
        return self.answer(min(times) if times else None)

    def answer(self, limit_ms: int | None = None) -> SearchAnswer:
        """Wait for the answer to the search that has begun, and parse it.

        ``limit_ms`` is the time that the program was given. Raises ``Failed`` if the answer takes longer than that plus
        ``margin_ms``, or without ``limit_ms`` longer than ``timeout_ms``.
        """
        if limit_ms is None:
            lines = self.read_until(self.ends_search, self.settings.timeout_ms, self.awaited)
        else:
            spent_ms = (time.monotonic_ns() - self._began_ns) / 1e6
            lines, is_over = self._read(limit_ms + self.settings.margin_ms - spent_ms, self.ends_search)
            if not is_over:
                raise Failed("failure.late", told=limit_ms, margin=self.settings.margin_ms)
        return self.read_answer(lines, (self.process.arrived_ns - self._began_ns) / 1e6)

    def begin_at_start_word(self) -> None:
        """Ask for a move in the start position, using the protocol's word for it."""
        if not self.start_lines:
            raise self.lacking()
        self.ask_for_search(*self.start_lines, f"go depth {self.settings.depth}")

    def search_without(self, position: Position, banned: Collection[str]) -> SearchAnswer:
        """Search ``position`` for a move that is not in ``banned``."""
        raise self.lacking()

    def begin_endless(self, position: Position) -> None:
        """Begin a search that only ``interrupt`` ends."""
        if self.endless is None:
            raise self.lacking()
        self.begin(position, self.endless)

    def interrupt(self) -> SearchAnswer | None:
        """Interrupt the search; returns its answer, or ``None`` if the protocol requires none.

        Raises ``Failed`` if the program takes longer than ``stop_ms``.
        """
        if self.interruption is None:
            raise self.lacking()
        self._began_ns = time.monotonic_ns()
        self.send(*self.interruption)
        lines = self.read_until(self.ends_search, self.settings.stop_ms, self.awaited)
        return self.read_answer(lines, (self.process.arrived_ns - self._began_ns) / 1e6)

    def interrupt_nothing(self) -> None:
        """Interrupt an idle program; raises ``Failed`` if it answers as if a search had ended."""
        if self.interruption is None:
            raise self.lacking()
        self.send(*self.interruption)
        for line in [*self.settled(), *self.read_for(self.settings.quiet_ms)]:
            if self.is_unasked(line):
                raise Failed("failure.unasked", said=line)

    def search_to_ponder(self, position: Position, limits: Limits, clock: PlayerClock) -> SearchAnswer:
        """Switch pondering on, then search as usual."""
        raise self.lacking()

    def ponder(self, position: Position, limits: Limits, clock: PlayerClock) -> None:
        """Let the program ponder on ``position``, whose last move is the expected move of the opponent."""
        raise self.lacking()

    def hit(self, position: Position, clock: PlayerClock) -> SearchAnswer:
        """Tell the program that its opponent played the expected move, the last of ``position``; returns the answer."""
        raise self.lacking()

    def miss(self, position: Position, limits: Limits, clock: PlayerClock) -> SearchAnswer:
        """Tell the program that its opponent played another move, the last of ``position``; returns the answer."""
        raise self.lacking()

    def clock_limits(self) -> Limits:
        """Clock and increment from the settings, as limits.

        If the protocol sends times in whole seconds, the clock is ten times as long as in the settings, without
        increment.
        """
        clock_ms = self.settings.clock_ms
        if self.time_unit_ms > 1:
            return Limits(clock_ms=-(-10 * clock_ms // self.time_unit_ms) * self.time_unit_ms)
        return Limits(clock_ms=clock_ms, increment_ms=self.settings.increment_ms)

    # Moves and other contents of lines.

    @property
    def declared_first_rank(self) -> int | None:
        """Number of the lowest rank that the protocol defines or the program announces; ``None`` if neither does."""
        raise self.lacking()

    @property
    def is_asked_to_pass(self) -> bool:
        """Whether the protocol asks a program for a move when the program can only pass."""
        return True

    def read_move(self, said: str) -> str | None:
        """Convert a move from the program's notation to the game's; ``None`` if the text is not a move.

        While it is unknown whether ranks count from 0 or 1, both are accepted.
        """
        texts = [self.texts]
        if self.settings.game in RANKED and self.knowledge.first_rank is None:
            texts = [RankedMoves(0), RankedMoves(1)]
        return next((move for one in texts if (move := one.read(said.lower(), None)) is not None), None)

    def write_move(self, move: str) -> str:
        """Convert a move to the program's notation."""
        return " ".join(self.texts.write("", [move]))

    @property
    def texts(self) -> MoveTexts:
        """The notation in which the program writes moves."""
        if self.settings.game in RANKED:
            return RankedMoves(self.knowledge.first_rank or 0)
        return GameMoves(game_named(self.settings.game), "standard")

    def read_information(self, line: str) -> SearchLine | None:
        """Parse a line of search output; ``None`` for other lines. Raises ``Failed`` for a malformed line."""
        raise self.lacking()

    # Input that programs must survive.

    def send_illegal_position(self) -> None:
        """Send an invalid position."""
        self.send(*self.illegal_position)

    @abstractmethod
    def send_illegal_move(self, position: Position, move: str) -> None:
        """Send ``position`` followed by an illegal move."""

    @abstractmethod
    def ask_in_finished_game(self, position: Position) -> None:
        """Ask for a move in a finished game; raises ``Failed`` for a wrong answer."""

    def send_garbage(self, lines: Sequence[str]) -> None:
        """Send meaningless lines."""
        self.send(*lines)

    # Options.

    @property
    def options(self) -> Mapping[str, AnnouncedOption]:
        """The program's options, by name in lower case."""
        raise self.lacking()

    def option_lines(self, options: Sequence[tuple[str, str]]) -> list[str]:
        """The lines that set options; raises ``PlayerFault`` for a name or value that the program does not have."""
        raise self.lacking()

    def resource(self, name: str) -> AnnouncedOption | None:
        """The program's option for ``memory`` or ``threads`` (see ``RESOURCES``); ``None`` if it has no such option."""
        return next((self.options[word] for word in RESOURCES[name] if word in self.options), None)


def _after(ms: float) -> int:
    return time.monotonic_ns() + round(ms * 1_000_000)
