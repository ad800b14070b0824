"""The xboard protocol, as an examination speaks it."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from typing import ClassVar

from elolab.arena.checking.contract import Answer, CheckSettings, Failed, Information, Skipped
from elolab.arena.checking.dialects.dialect import Dialect, Knowledge
from elolab.arena.checking.wire import Wire
from elolab.arena.players.contract import PlayerClock, PlayerFault, first_word
from elolab.arena.players.options import Option
from elolab.arena.protocols import uci, xboard
from elolab.engine.games import game_named
from elolab.engine.games.contract import Position
from elolab.engine.settings.limits import Limits

ENDLESS_MS = 600_000
"""Milliseconds for a move that is not waited for."""
NO_DEPTH = 99
"""Plies that no search comes to."""
RESOURCES = {"memory": ("memory", "memory"), "threads": ("cores", "smp")}
"""The commands, and the features that announce them."""


class XboardDialect(Dialect):
    """The Chess Engine Communication Protocol, version 2 (Mann and Muller, 2009)."""

    title: ClassVar[str] = "xboard"
    limits = frozenset({"depth", "move_time", "clock", "moves_to_go"})
    time_unit_ms = 1000
    synchronisation: ClassVar[str] = "ping"
    awaited: ClassVar[str] = "move"
    recommendations: ClassVar[frozenset[str]] = frozenset(
        {"stop", "stop_at_once", "quit_while_thinking", "unknown_option", "garbage", *Dialect.recommendations}
    )
    """The text permits to ignore ``?``, and so not to listen while thinking; and it asks for a line of complaint about
    what is wrong, which some engines (HoiXiangqi) say and end."""

    def __init__(self, wire: Wire, settings: CheckSettings, knowledge: Knowledge) -> None:
        super().__init__(wire, settings, knowledge)
        self._session = xboard.XboardSession()
        self._pings = 0
        self._depth_is_told = False
        self._side = 0
        """The side that is asked for a move."""
        self._game: tuple[str, Limits] | None = None
        """The position and the limits with which the program's game began; ``None`` if it has to be told anew."""
        self._known: list[str] = []
        """Moves of that game that the program knows of."""

    async def greet(self) -> None:
        """The features."""
        await self.wire.say(*self._session.hello())
        lines = await self.wire.overhear(xboard.FEATURES_MS, self._is_introduced)
        if not self._session.is_idle and self._session.needs_time:
            lines += await self.wire.hear_until(self._is_introduced, self.settings.start_ms, "feature done=1")
        if not self._session.features:
            raise Failed("failure.no_answer", awaited="feature", seconds=f"{xboard.FEATURES_MS / 1000:g}")
        self._session.take_for_done()
        self.name = self._session.features.get("myname", "")
        for line in lines:
            for feature, value in xboard.parse_features(line) if line.startswith("feature") else ():
                if feature == "option":
                    self.announced.append((value, xboard.parse_option(value)))
        if self._session.has("nps"):
            self.limits |= {"nodes"}

    def _is_introduced(self, line: str) -> bool:
        return self._session.receive(line) == "done"

    async def configure(self) -> None:
        """Accept features and set options; the game must be among the variants."""
        session = self._session
        variants = session.features.get("variants")
        game = xboard.VARIANTS[self.settings.game]
        if variants is not None and game not in re.split(r"[\s,]+", variants):
            raise PlayerFault("startup_failure", f"does not play {game}: it has the variants {variants[:80]!r}")
        options = xboard.option_commands(self.settings.options, session.options, session.features)
        await self.wire.say(*session.acknowledgements(), *options)
        forced = uci.forced_first_rank(self.settings.options)
        if forced is not None:
            self.knowledge.first_rank = forced

    async def settle(self) -> None:
        """Without the feature, a while."""
        await self._settled()

    async def _settled(self) -> list[str]:
        """The output until earlier input has been processed."""
        if self._session.has("ping") and self.knowledge.answers_ready:
            return await self.ask_ready()
        return await self.wire.overhear(self.settings.quiet_ms)

    async def wait_ready(self, ms: int) -> list[str]:
        """``ping``, where it is announced."""
        if not self._session.has("ping"):
            raise Skipped("skip.feature", name="ping")
        self._pings += 1
        pong = ["pong", str(self._pings)]
        await self.wire.say(f"ping {self._pings}")
        return await self.wire.hear_until(lambda line: line.split() == pong, ms, " ".join(pong))

    async def begin_game(self) -> None:
        """``new``, and the program only watches."""
        self._game = None
        await self.wire.say("new", f"variant {xboard.VARIANTS[self.settings.game]}", "force", "easy", "post")
        await self.settle()

    async def begin(self, position: Position, limits: Limits, clock: PlayerClock | None = None) -> None:
        """The moves that it does not know, or the whole game, and ``go``."""
        await self._set_up(position, limits)
        await self._go(position, clock)

    async def _go(self, position: Position, clock: PlayerClock | None) -> None:
        self._side = position.side_to_move
        await self.ask_for_search(*self._clocks(clock), "go")

    def _clocks(self, clock: PlayerClock | None) -> list[str]:
        return xboard.clock_commands(clock) if self._session.features.get("time") != "0" else []

    async def _set_up(self, position: Position, limits: Limits, mode: str = "easy") -> None:
        """Have the program watch the game up to the position; raises ``Failed`` if it refuses."""
        if self._game == (position.start, limits) and position.moves[: len(self._known)] == self._known:
            lines = ["force", *self._told(position.moves[len(self._known) :])]
        else:
            lines = [
                "new", f"variant {xboard.VARIANTS[self.settings.game]}", "force", mode, "post",
                *xboard.limit_commands(limits, self.settings.timeout_ms), *self._no_depth(limits),
                *self._start(position.start), *self._told(position.moves),
            ]  # fmt: skip
        self._game, self._known = (position.start, limits), list(position.moves)
        await self.wire.say(*lines)
        for line in await self._settled():
            is_refusal = line.startswith(("Illegal move", "tellusererror")) or (
                line.startswith("Error") and ("setboard" in line or "variant" in line)
            )
            if is_refusal:
                raise Failed("failure.refused", command=lines[-1], said=line)

    def _no_depth(self, limits: Limits) -> list[str]:
        """The lines that cancel an earlier depth limit: ``new`` should, but many engines keep it."""
        self._depth_is_told |= limits.depth is not None
        return [f"sd {NO_DEPTH}"] if self._depth_is_told and limits.depth is None else []

    def _start(self, position: str) -> list[str]:
        if position == game_named(self.settings.game).start:
            return []
        if not self._session.has("setboard"):
            raise Skipped("skip.feature", name="setboard")
        return [xboard.setboard_command(position, self.name)]

    def _told(self, moves: Sequence[str]) -> list[str]:
        word = "usermove " if self._session.has("usermove") else ""
        return [word + uci.write_move(move, self.knowledge.first_rank or 0) for move in moves]

    def is_answer(self, line: str) -> bool:
        """A move, or a result instead."""
        return xboard.is_answer(line)

    def read_answer(self, lines: Sequence[str], elapsed_ms: float) -> Answer:
        """The move, which is then on the program's board; it resigns by the word or by the result."""
        line = lines[-1]
        said = xboard.parse_move(line)
        move = None if said is None else self.read_move(said)
        if move is not None:
            self._known.append(move)
        else:
            self._game = None
        has_resigned = first_word(line) in ("resign", xboard.LOSSES[self._side])
        return Answer(line, said, move, elapsed_ms, tuple(lines[:-1]), has_resigned=has_resigned)

    def read_move(self, said: str) -> str | None:
        """In the program's ranks."""
        return self.read_with_ranks(said.replace("-", ""))

    @property
    def ordinary(self) -> Limits:
        """A depth."""
        return Limits(depth=self.settings.depth)

    @property
    def declared_first_rank(self) -> int | None:
        """As on all boards of ten ranks."""
        return 0

    async def tell_illegal_position(self) -> None:
        """Board and side are none."""
        if not self._session.has("setboard"):
            raise Skipped("skip.feature", name="setboard")
        self._game = None
        await self.wire.say("new", f"variant {xboard.VARIANTS[self.settings.game]}", "force")
        await self.wire.say("setboard 9/9/x/44 z - - 0 1")

    async def tell_illegal_move(self, position: Position, move: str) -> None:
        """After the legal ones."""
        await self._set_up(position, self.ordinary)
        self._game = None
        await self.wire.say(*self._told([move]))

    async def ask_in_finished_game(self, position: Position) -> None:
        """It may claim the result, or say nothing."""
        await self._set_up(position, self.ordinary)
        self._game = None
        await self._go(position, None)
        for line in [*await self.wire.overhear(self.settings.quiet_ms), *await self._settled()]:
            if xboard.parse_move(line) is not None:
                raise Failed("failure.moved_after_end", said=line)

    async def begin_endless(self, position: Position) -> None:
        """A long time for the move."""
        await self.begin(position, Limits(move_time_ms=ENDLESS_MS))

    async def interrupt(self) -> Answer | None:
        """``?``; a move has to come."""
        self._began_ns = time.monotonic_ns()
        await self.wire.say("?")
        lines = await self.wire.hear_until(self.is_answer, self.settings.stop_ms, self.awaited)
        return self.read_answer(lines, (self.wire.arrived_ns - self._began_ns) / 1e6)

    async def interrupt_nothing(self) -> None:
        """``?`` without a search is passed over."""
        await self._set_up(game_named(self.settings.game).position(), self.ordinary)
        await self.wire.say("?")
        for line in [*await self._settled(), *await self.wire.overhear(self.settings.quiet_ms)]:
            if self.is_answer(line):
                raise Failed("failure.unasked", said=line)

    async def search_to_ponder(self, position: Position, limits: Limits, clock: PlayerClock) -> Answer:
        """``hard``: it stays in the game, and thinks about a reply of its choice."""
        self._game = None
        await self._set_up(position, limits, "hard")
        await self._go(position, clock)
        return await self.answer(clock.remaining_ms)

    async def ponder(self, position: Position, limits: Limits, clock: PlayerClock) -> None:
        """It does so by itself."""

    async def hit(self, position: Position, clock: PlayerClock) -> Answer:
        """The opponent's move."""
        self._side, self._known = position.side_to_move, list(position.moves)
        await self.ask_for_search(*self._clocks(clock), *self._told(position.moves[-1:]))
        answer = await self.answer(clock.remaining_ms)
        self._game = None
        return answer

    async def miss(self, position: Position, limits: Limits, clock: PlayerClock) -> Answer:
        """The same: what it pondered on is its own affair."""
        return await self.hit(position, clock)

    def option_line(self, option: Option, value: str) -> str:
        """``option``, or a command of its own."""
        if option.name in [command for command, _ in RESOURCES.values()]:
            return f"{option.name} {value}"
        return xboard.option_command(option, value)

    def unknown_option_line(self) -> str:
        """An option no program has."""
        return "option Elolab No Such Option=1"

    def resource(self, name: str) -> Option | None:
        """By the features."""
        command, feature = RESOURCES[name]
        return Option(command, "spin", low=1) if self._session.has(feature) else None

    def read_information(self, line: str) -> Information | None:
        """Thinking output; its variation is for people, in any notation."""
        found = xboard.parse_thinking(line)
        if found == uci.Information():
            return None
        return Information(found.depth, found.nodes, found.score is not None)
