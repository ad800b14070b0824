"""The interface for examining a program in a protocol; each protocol is a subclass."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import ClassVar

from elolab.arena.checking.contract import Answer, CheckSettings, Failed, Information, Skipped
from elolab.arena.checking.wire import Wire
from elolab.arena.players.contract import PlayerClock, PlayerFault
from elolab.arena.players.options import Option
from elolab.arena.protocols import uci
from elolab.engine.games.contract import Position
from elolab.engine.settings.limits import Limits


@dataclass
class Knowledge:
    """Facts learned about a program that hold for all its processes."""

    first_rank: int | None = None
    """The lowest rank's number in moves; ``None`` while it is not known."""
    answers_ready: bool = True
    """Whether it answers the question of ``settle``."""


class Dialect(ABC):
    """One conversation with a process of the program.

    Operations missing from some protocols raise ``Skipped`` here. Failures of the program raise ``Failed``.
    """

    title: ClassVar[str]
    limits: frozenset[str] = frozenset()
    """The limits it can express, of ``depth``, ``nodes``, ``move_time``, ``clock`` and ``moves_to_go``."""
    time_unit_ms: int = 1
    """Unit of times on the wire."""
    farewell: ClassVar[str] = "quit"
    synchronisation: ClassVar[str] = ""
    """The question of ``settle``, for messages."""
    awaited: ClassVar[str] = ""
    """The answer to a search, for messages."""
    listens_while_thinking: ClassVar[bool] = False
    """Whether ``ask_ready`` must be answered during a search."""
    recommendations: ClassVar[frozenset[str]] = frozenset({"illegal_position", "illegal_move"})
    """Names of checks whose demands the protocol leaves open, beside those that all protocols do: mostly what becomes
    of a program that is told what is not legal."""

    def __init__(self, wire: Wire, settings: CheckSettings, knowledge: Knowledge) -> None:
        self.wire = wire
        self.settings = settings
        self.knowledge = knowledge
        self.name = ""
        """The program's own name."""
        self.announced: list[tuple[str, Option | None]] = []
        """The options in the program's words, and as read; ``None`` if they cannot be."""
        self._began_ns = 0
        self._was_ready = False

    # Every protocol has these.

    @abstractmethod
    async def greet(self) -> None:
        """Shake hands; sets ``name`` and ``announced``."""

    async def configure(self) -> None:
        """Set the options of the settings; raises ``PlayerFault`` for one that cannot be set."""
        for name, _ in self.settings.options:
            raise PlayerFault("startup_failure", f"option {name}: over {self.title} there are none")

    async def settle(self) -> None:
        """Wait until the program has processed its input; for a fixed time if it cannot confirm that."""
        if self.knowledge.answers_ready:
            await self.ask_ready()
        else:
            await self.wire.overhear(self.settings.quiet_ms)

    async def ask_ready(self) -> list[str]:
        """Ask whether the input has been processed; returns the output up to the answer.

        The first answer may take as long as the start, because programs prepare themselves then.
        """
        lines = await self.wait_ready(self.settings.timeout_ms if self._was_ready else self.settings.start_ms)
        self._was_ready = True
        return lines

    @abstractmethod
    async def wait_ready(self, ms: int) -> list[str]:
        """Ask, and wait at most so long; returns the output up to the answer."""

    @abstractmethod
    async def begin_game(self) -> None:
        """Begin a new game."""

    @abstractmethod
    async def begin(self, position: Position, limits: Limits, clock: PlayerClock | None = None) -> None:
        """Ask for a move; ``answer`` waits for it."""

    @abstractmethod
    def is_answer(self, line: str) -> bool:
        """Whether a line ends a search; called once for every line."""

    def looks_like_answer(self, line: str) -> bool:
        """Whether an unawaited line looks like the end of a search."""
        return self.is_answer(line)

    @abstractmethod
    def read_answer(self, lines: Sequence[str], elapsed_ms: float) -> Answer:
        """Read the answer from the output of a search."""

    @property
    @abstractmethod
    def ordinary(self) -> Limits:
        """Limits of a short search."""

    @abstractmethod
    async def tell_illegal_position(self) -> None:
        """Send an invalid position."""

    @abstractmethod
    async def tell_illegal_move(self, position: Position, move: str) -> None:
        """Send an illegal move."""

    @abstractmethod
    async def ask_in_finished_game(self, position: Position) -> None:
        """Ask for a move in a finished game; raises ``Failed`` for a wrong answer."""

    # Searches.

    async def search(
        self, position: Position, limits: Limits | None = None, clock: PlayerClock | None = None
    ) -> Answer:
        """Ask for a move and wait for it, within the limits and the margin."""
        limits = limits or self.ordinary
        await self.begin(position, limits, clock)
        times = [clock.remaining_ms] if clock is not None else []
        if limits.move_time_ms is not None:
            times.append(limits.move_time_ms)
        return await self.answer(min(times) if times else None)

    async def answer(self, told_ms: int | None = None) -> Answer:
        """Wait for the end of the search; with ``told_ms``, an answer later than that and the margin is a failure."""
        if told_ms is None:
            lines = await self.wire.hear_until(self.is_answer, self.settings.timeout_ms, self.awaited)
        else:
            lines = await self._answer_in_time(told_ms)
        return self.read_answer(lines, (self.wire.arrived_ns - self._began_ns) / 1e6)

    async def _answer_in_time(self, told_ms: int) -> list[str]:
        is_over = False

        def ends(line: str) -> bool:
            nonlocal is_over
            is_over = self.is_answer(line)
            return is_over

        spent_ms = (time.monotonic_ns() - self._began_ns) / 1e6
        lines = await self.wire.overhear(told_ms + self.settings.margin_ms - spent_ms, ends)
        if not is_over:
            raise Failed("failure.late", told=told_ms, margin=self.settings.margin_ms)
        return lines

    async def ask_for_search(self, *lines: str) -> None:
        """Send lines, the last of which begins a search; time counts from here."""
        self.wire.take_unasked()
        self._began_ns = time.monotonic_ns()
        await self.wire.say(*lines)

    def clock_limits(self) -> Limits:
        """A clock as the settings have it; where times are told in seconds, of ten times as long."""
        clock_ms = self.settings.clock_ms
        if self.time_unit_ms > 1:
            clock_ms = -(-10 * clock_ms // self.time_unit_ms) * self.time_unit_ms
            return Limits(clock_ms=clock_ms)
        return Limits(clock_ms=clock_ms, increment_ms=self.settings.increment_ms)

    def read_information(self, line: str) -> Information | None:
        """Parse a line about a search, ``None`` for other lines; raises ``Failed`` if it is malformed."""
        raise self.lacking()

    def read_move(self, said: str) -> str | None:
        """A move in the game's notation, ``None`` if the words are no move."""
        raise self.lacking()

    def read_with_ranks(self, said: str) -> str | None:
        """Read a move of files and ranks, in the program's ranks or, while these are unknown, in either base."""
        bases = (0, 1) if self.knowledge.first_rank is None else (self.knowledge.first_rank,)
        return next((move for base in bases if (move := uci.read_move(said.lower(), base)) is not None), None)

    # Not every protocol has these.

    def lacking(self) -> Skipped:
        """The outcome of an operation for which the protocol has no command."""
        return Skipped("skip.protocol", protocol=self.title)

    @property
    def is_asked_to_pass(self) -> bool:
        """Whether a side that can only pass is asked for its move."""
        return True

    @property
    def declared_first_rank(self) -> int | None:
        """The first rank by the protocol, or by the program's announcement."""
        raise self.lacking()

    async def begin_at_start_word(self) -> None:
        """Ask for a move in the start position, using the protocol's word for it."""
        raise self.lacking()

    async def begin_endless(self, position: Position) -> None:
        """Begin a search that only ``interrupt`` ends."""
        raise self.lacking()

    async def interrupt(self) -> Answer | None:
        """End the running search; its answer, where the protocol has one. Takes no longer than ``stop_ms``."""
        raise self.lacking()

    async def ask_ready_while_thinking(self) -> float:
        """Milliseconds until ``ask_ready`` is answered during a search, which must go on."""
        raise self.lacking()

    async def interrupt_nothing(self) -> None:
        """Send the interruption while idle; raises ``Failed`` if it is answered like a search."""
        raise self.lacking()

    async def search_to_ponder(self, position: Position, limits: Limits, clock: PlayerClock) -> Answer:
        """Search as usual, after announcing that pondering will follow."""
        raise self.lacking()

    async def ponder(self, position: Position, limits: Limits, clock: PlayerClock) -> None:
        """Begin a search of the position after the opponent's expected move."""
        raise self.lacking()

    async def hit(self, position: Position, clock: PlayerClock) -> Answer:
        """Report that the expected move was made: the clock runs, and the move is due."""
        raise self.lacking()

    async def miss(self, position: Position, limits: Limits, clock: PlayerClock) -> Answer:
        """Report another move, the last of ``position``; the reply to it is due."""
        raise self.lacking()

    async def search_without(self, position: Position, banned: Collection[str]) -> Answer:
        """Ask for a move outside a list of moves."""
        raise self.lacking()

    async def say_garbage(self, lines: Sequence[str]) -> None:
        """Send meaningless lines."""
        await self.wire.say(*lines)

    def option_line(self, option: Option, value: str) -> str:
        """The line that sets an option."""
        raise self.lacking()

    def unknown_option_line(self) -> str:
        """The line that sets a nonexistent option."""
        raise self.lacking()

    def resource(self, name: str) -> Option | None:
        """The option for ``memory`` (of the transposition table, in MiB) or ``threads``; ``None`` without one."""
        raise self.lacking()
