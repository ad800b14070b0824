"""What an examination needs to say in every protocol; each protocol is a subclass."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from typing import ClassVar

from arena.checking.contract import Answer, CheckSettings, Failed, Information, Option, Skipped
from arena.checking.wire import Wire
from arena.players.contract import PlayerClock
from engine.games.contract import Position
from engine.settings.limits import Limits


class Dialect(ABC):
    """One conversation with a process of the program.

    Everything that not every protocol knows raises ``Skipped`` here. What the program fails in raises ``Failed``.
    """

    title: ClassVar[str]
    limits: ClassVar[frozenset[str]] = frozenset()
    """Of ``depth``, ``nodes``, ``move_time``, ``clock``, ``increment`` and ``moves_to_go``, what it can tell."""
    time_unit_ms: int = 1
    """In what times are told."""
    farewell: ClassVar[str] = "quit"
    has_ranks: ClassVar[bool] = False
    """Whether moves have ranks whose lowest number programs differ on."""
    synchronisation: ClassVar[str] = ""
    """The question and answer of ``settle``, for people; empty where the protocol has nothing of the kind."""

    def __init__(self, wire: Wire, settings: CheckSettings) -> None:
        self.wire = wire
        self.settings = settings
        self.name = ""
        """What the program calls itself."""
        self.options: list[Option] = []
        self.first_rank = 0
        """The lowest rank's number in moves."""
        self.declared_first_rank: int | None = 0
        """What the program, or the protocol, says that it is; ``None`` if nothing does."""
        self._began_ns = 0

    # Every protocol has these.

    @abstractmethod
    async def greet(self) -> None:
        """The handshake, in which ``name`` and ``options`` are learned."""

    async def configure(self) -> None:
        """Set the options of the settings; raises ``UserError`` for one that cannot be set."""

    @abstractmethod
    async def settle(self) -> None:
        """Wait until what was said has been dealt with."""

    @abstractmethod
    async def begin_game(self) -> None:
        """A new game begins."""

    @abstractmethod
    async def begin(self, position: Position, limits: Limits, clock: PlayerClock | None = None) -> None:
        """Ask for a move; ``answer`` waits for it."""

    @abstractmethod
    def is_answer(self, line: str) -> bool:
        """Whether a line ends a search."""

    @abstractmethod
    def read_answer(self, lines: Sequence[str], elapsed_ms: float) -> Answer:
        """What was said up to the answer."""

    @property
    @abstractmethod
    def ordinary(self) -> Limits:
        """Limits of a short search."""

    @property
    @abstractmethod
    def awaited(self) -> str:
        """What answers a search, for messages."""

    @abstractmethod
    async def tell_illegal_position(self) -> None:
        """Describe a position that is none."""

    @abstractmethod
    async def tell_illegal_move(self, position: Position) -> None:
        """Tell of a move that is not legal."""

    @abstractmethod
    async def ask_in_finished_game(self, position: Position) -> None:
        """Ask for a move where there is none; raises ``Failed`` if that is not answered as it should be."""

    # Searches.

    async def search(self, position: Position, limits: Limits | None = None, clock: PlayerClock | None = None) -> Answer:
        """Ask for a move and wait for it, as long as the limits and the margin allow."""
        limits = limits or self.ordinary
        await self.begin(position, limits, clock)
        times = [clock.remaining_ms] if clock is not None else []
        if limits.move_time_ms is not None:
            times.append(limits.move_time_ms)
        return await self.answer(min(times) if times else None)

    async def answer(self, told_ms: int | None = None) -> Answer:
        """The end of the search that runs; with ``told_ms`` it is late if that and the margin have passed."""
        spent_ms = (time.monotonic_ns() - self._began_ns) / 1e6
        if told_ms is None:
            lines = await self.wire.hear_until(self.is_answer, self.settings.timeout_ms, self.awaited)
        else:
            left_ms = told_ms + self.settings.margin_ms - spent_ms
            lines = await self.wire.overhear(left_ms, self.is_answer)
            if not lines or not self.is_answer(lines[-1]):
                raise Failed("failure.late", told=told_ms, margin=self.settings.margin_ms)
        elapsed_ms = (self.wire.arrived_ns - self._began_ns) / 1e6
        return self.read_answer(lines, elapsed_ms)

    async def ask_for_search(self, *lines: str) -> None:
        """Say lines, the last of which begins a search; time counts from here."""
        self.wire.take_unasked()
        self._began_ns = time.monotonic_ns()
        await self.wire.say(*lines)

    def read_information(self, line: str) -> Information | None:
        """What a line says of a search, ``None`` if it is about nothing of it; ``Failed`` if it is malformed."""
        raise self.lacking()

    def read_move(self, said: str) -> str | None:
        """A move in the game's notation, ``None`` if the words are no move."""
        raise self.lacking()

    # Not every protocol has these.

    def lacking(self) -> Skipped:
        """The protocol has no words for it."""
        return Skipped("skip.protocol", protocol=self.title)

    @property
    def has_start_word(self) -> bool:
        """Whether the start position has a word of its own, and other positions are described."""
        return False

    async def begin_at_start_word(self) -> None:
        """Ask for a move in the start position, called by its word."""
        raise self.lacking()

    async def begin_endless(self, position: Position) -> None:
        """Begin a search that only ``stop`` ends."""
        raise self.lacking()

    async def stop(self) -> None:
        """Ask the running search for its move now."""
        raise self.lacking()

    async def begin_pondering(self, position: Position, limits: Limits, clock: PlayerClock) -> None:
        """Begin a search of a position that the opponent's expected move, its last, led to."""
        raise self.lacking()

    async def hit(self, expected: str) -> None:
        """The expected move has been made: the clock runs."""
        raise self.lacking()

    async def miss(self) -> None:
        """Another move has been made: the search ends."""
        raise self.lacking()

    async def search_without(self, position: Position, banned: Collection[str]) -> Answer:
        """Ask for a move that is none of some."""
        raise self.lacking()

    def option_line(self, option: Option, value: str) -> str:
        """The line that sets an option."""
        raise self.lacking()

    def unknown_option_line(self) -> str:
        """A line that sets an option there is not."""
        raise self.lacking()
