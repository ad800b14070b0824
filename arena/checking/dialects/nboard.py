"""The NBoard protocol, as an examination speaks it."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from typing import ClassVar

from elolab.arena.checking.contract import Answer, CheckSettings, Failed, Information
from elolab.arena.checking.dialects.dialect import Dialect, Knowledge
from elolab.arena.checking.wire import Wire
from elolab.arena.players.contract import PlayerClock, number_of
from elolab.arena.protocols import nboard
from elolab.engine.games.contract import Position
from elolab.engine.protocols.game_format import write_game
from elolab.engine.settings.limits import Limits

ENDLESS_DEPTH = 60
"""Plies: no search from the start comes to its end."""

_SEARCH = re.compile(r"search\s+(\S+)\s+(\S+)\s+\S+\s+(\S+)")
_NODES = re.compile(r"nodestats\s+(\S+)")
_MOVES = re.compile(r"[A-Ha-h][1-8]|[Pp][Aa]")
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")


class NBoardDialect(Dialect):
    """The NBoard protocol, version 2 (Welty)."""

    title: ClassVar[str] = "NBoard"
    limits = frozenset({"depth"})
    synchronisation: ClassVar[str] = "ping"
    awaited: ClassVar[str] = "==="

    def __init__(self, wire: Wire, settings: CheckSettings, knowledge: Knowledge) -> None:
        super().__init__(wire, settings, knowledge)
        self._pings = 0

    async def greet(self) -> None:
        """Which version, and a ping: there is no other answer."""
        await self.wire.say(f"nboard {nboard.VERSION}", f"set depth {self.settings.depth}")
        for line in await self.wait_ready(self.settings.start_ms):
            if line.startswith("set myname "):
                self.name = line.removeprefix("set myname ").strip()

    async def wait_ready(self, ms: int) -> list[str]:
        """``ping``."""
        self._pings += 1
        pong = ["pong", str(self._pings)]
        await self.wire.say(f"ping {self._pings}")
        return await self.wire.hear_until(lambda line: line.split() == pong, ms, " ".join(pong))

    async def begin_game(self) -> None:
        """Does nothing: every search sends the whole game."""
        await self.ask_ready()

    async def begin(self, position: Position, limits: Limits, clock: PlayerClock | None = None) -> None:
        """The depth, the game, and ``go``."""
        await self.wire.say(f"set depth {limits.depth}", f"set game {write_game(position.start, position.moves)}")
        await self.ask_ready()
        await self.ask_for_search("go")

    def is_answer(self, line: str) -> bool:
        """``===``."""
        return line.startswith("===")

    def read_answer(self, lines: Sequence[str], elapsed_ms: float) -> Answer:
        """The move, whatever its evaluation."""
        words = re.split(r"[\s/]+", lines[-1].removeprefix("===").strip())
        return Answer(lines[-1], words[0], self.read_move(words[0]), elapsed_ms, tuple(lines[:-1]))

    def read_move(self, said: str) -> str | None:
        """``d3`` or ``pass``."""
        return nboard.read_move(said)

    @property
    def ordinary(self) -> Limits:
        """A depth."""
        return Limits(depth=self.settings.depth)

    async def tell_illegal_position(self) -> None:
        """A board of too few squares."""
        await self.wire.say("set game (;GM[Othello]TY[8]BO[8 --*O-- *];)")

    async def tell_illegal_move(self, position: Position, move: str) -> None:
        """``move`` tells of one move after the game."""
        await self.wire.say(f"set game {write_game(position.start, position.moves)}", f"move {move.upper()}")

    async def ask_in_finished_game(self, position: Position) -> None:
        """Nobody asks: whoever drives the program knows the rules."""
        raise self.lacking()

    @property
    def is_asked_to_pass(self) -> bool:
        """Nobody asks where there is no choice."""
        return False

    async def begin_endless(self, position: Position) -> None:
        """To a depth that is out of reach."""
        await self.begin(position, Limits(depth=ENDLESS_DEPTH))

    async def interrupt(self) -> Answer | None:
        """``ping`` ends the search; whether a move is named is left open."""
        self._began_ns = time.monotonic_ns()
        lines = await self.wait_ready(self.settings.stop_ms)
        answers = [line for line in lines if self.is_answer(line)]
        return self.read_answer([answers[0]], (self.wire.arrived_ns - self._began_ns) / 1e6) if answers else None

    async def interrupt_nothing(self) -> None:
        """``ping`` without a search."""
        for line in [*await self.ask_ready(), *await self.wire.overhear(self.settings.quiet_ms)]:
            if self.is_answer(line):
                raise Failed("failure.unasked", said=line)

    def read_information(self, line: str) -> Information | None:
        """``search`` and ``nodestats``."""
        nodes = _NODES.match(line)
        if nodes is not None:
            if not nodes.group(1).isdigit():
                raise Failed("failure.information", line=line, word=nodes.group(1))
            return Information(nodes=number_of(nodes.group(1)))
        if not line.startswith("search"):
            return None
        found = _SEARCH.match(line)
        if found is None or not _NUMBER.fullmatch(found.group(2)):
            raise Failed("failure.information", line=line, word="search")
        variation, _, depth = found.groups()
        digits = re.match(r"\d+", depth)  # "100%" and "73%" are selective or exact searches
        moves = tuple(_MOVES.findall(variation))
        return Information(number_of(digits.group()) if digits and "%" not in depth else None, None, True, moves)
