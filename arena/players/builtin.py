"""The built-in engine as a player of the Python game loop."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Sequence
from concurrent.futures import wait
from typing import TYPE_CHECKING, Any, TypeVar

from elolab.arena.players.player import MAX_VARIATION, Fault, PlayerClock, PlayerFault, Pondered, Reply
from elolab.arena.players.processors import Processors, pin_thread
from elolab.arena.players.registry import Protocol
from elolab.arena.players.threads import start_thread
from elolab.arena.records import BUILTIN
from elolab.engine.settings import schema
from elolab.engine.settings.presets import DEFAULT_PRESET, SETTINGS

if TYPE_CHECKING:
    from elolab.arena.records import Opening, PlayerSpec
    from elolab.engine.engine import Clock, Engine, PonderGrant, SearchResult, StopFlag
    from elolab.engine.games.contract import Position
    from elolab.engine.search_statistics import SearchStatisticsSettings

Result = TypeVar("Result")

WAKE_SECONDS = 0.05
"""Seconds between checks of the run's stop flag during the wait for a ponder search."""


class BuiltinPlayer:
    """The built-in engine (``engine.engine.Engine``) as a ``Player``, without a process.

    On a wall clock, the player ponders in a thread of its own. On CPU and node clocks it runs the ponder search only
    after the opponent's move, with as much CPU time or as many nodes as the opponent used. Games on these clocks are
    therefore reproducible at any load.
    """

    def __init__(self, spec: PlayerSpec, game: str, search_statistics: SearchStatisticsSettings | None = None) -> None:
        self.spec = spec
        self.name = spec.name
        self._game = game
        self._settings = search_statistics
        self._counted: dict[str, Any] = {}
        self._engine: Engine | None = None
        self._expected: tuple[Position, PlayerClock | None] | None = None
        """On CPU and node clocks: position and clock of the postponed ponder search; ``None`` if there is none."""
        self._search: PonderSearch | None = None
        self._processors: Processors = frozenset()
        """Numbers of the processors on which to search; if empty, the system chooses."""

    def pin(self, processors: Processors) -> None:
        """Restrict searches to these processors, beginning with the next search."""
        self._processors = processors

    def start(self) -> None:
        """Create the engine if it does not exist."""
        if self._engine is None:
            self._engine = self._make_engine()

    def _make_engine(self) -> Engine:
        from elolab.engine.engine import Engine

        return Engine(self._game, dict(self.spec.parameters), self._settings)

    def announce_game(self, opening: Opening, stop: StopFlag) -> None:
        """Do nothing: ``new_game`` makes all preparations."""

    def new_game(self, opening: Opening, stop: StopFlag) -> None:
        """Clear the engine's tables for a new game."""
        self.stop_pondering()
        self._running().new_game()
        self._counted = {}

    def move(self, position: Position, moves: Sequence[str], clock: PlayerClock | None, stop: StopFlag) -> Reply:
        """Search for a move; the search measures the charged time on the kind of clock of the player's limits."""
        engine = self._running()
        search = functools.partial(engine.search, position, self.spec.limits, self._clock(clock), stop)
        result = self._pinned(search)
        self._count(result)
        return self._reply(result, _nanoseconds(result))

    def hear_draw_offer(self) -> None:
        """Do nothing: ``arena.play.game`` accepts a draw for the built-in engine if the engine's score permits."""

    def ponder(self, position: Position, moves: Sequence[str], clock: PlayerClock | None) -> None:
        """On a wall clock, start a ponder search; on other clocks, store its position until the opponent has moved."""
        if self.spec.limits.clock_kind == "wall":
            search = self._running().search
            self._search = PonderSearch(
                functools.partial(search, position, self.spec.limits, self._clock(clock)), self._pinned
            )
        else:
            self._expected = (position, clock)

    def move_after_pondering(
        self, position: Position, moves: Sequence[str], clock: PlayerClock | None, stop: StopFlag, pondered: Pondered
    ) -> Reply:
        """After a ponder hit, continue the ponder search; only the time since the opponent's move is charged.

        After a miss, search again; the engine keeps the tables that pondering has filled. On CPU and node clocks, the
        ponder search runs only now; its work is not charged.
        """
        from elolab.engine.engine import PonderGrant

        if self._expected is not None:
            expected, clock_before = self._expected
            self._expected = None
            grant = PonderGrant(pondered.opponent_ns, pondered.is_hit)
            if pondered.is_hit:
                result = self._granted(position, clock, grant, stop)
                return self._reply(result, max(0, _nanoseconds(result) - grant.granted_ns))
            if grant.granted_ns > 0:
                self._granted(expected, clock_before, grant, stop)
        if pondered.is_hit:
            assert self._search is not None, "ponder comes first"
            search, self._search = self._search, None
            result, elapsed_ns = search.hit(stop)
            self._count(result)
            return self._reply(result, elapsed_ns)
        self.stop_pondering()
        return self.move(position, moves, clock, stop)

    def stop_pondering(self) -> None:
        """End the ponder search, if there is one."""
        self._expected = None
        if self._search is not None:
            search, self._search = self._search, None
            self._count(search.abandon())

    def search_statistics(self) -> dict[str, Any] | None:
        """Search events counted in all searches of the game, including pondering; ``None`` if they are not counted."""
        return self._counted if self._settings is not None else None

    def dialogue(self) -> list[str]:
        """Always empty, because the built-in engine exchanges no text."""
        return []

    def close(self) -> None:
        """End any ponder search and free the engine."""
        self.stop_pondering()
        self._engine = None

    def _pinned(self, search: Callable[[], Result]) -> Result:
        """Run ``search`` in the calling thread, restricted to the player's processors."""
        if self._processors:
            pin_thread(self._processors)
        return search()

    def _count(self, result: SearchResult | None) -> None:
        from elolab.engine.search_statistics import add_search_statistics

        if result is not None and result.search_statistics is not None:
            add_search_statistics(self._counted, result.search_statistics)

    def _running(self) -> Engine:
        self.start()
        assert self._engine is not None
        return self._engine

    def _clock(self, clock: PlayerClock | None) -> Clock | None:
        from elolab.engine.engine import Clock

        if clock is None:
            return None
        opponent_ms = clock.opponent_remaining_ms
        return Clock(clock.remaining_ms, opponent_ms, clock.moves_to_go, clock.remaining_ns, self.spec.ponder)

    def move_afresh(
        self, position: Position, moves: Sequence[str], clock: PlayerClock | None, stop: StopFlag, spent_ns: int
    ) -> Reply:
        """Search as ``move`` does; the built-in engine always answers with a move."""
        return self.move(position, moves, clock, stop)

    def _granted(
        self, position: Position, clock: PlayerClock | None, grant: PonderGrant, stop: StopFlag
    ) -> SearchResult:
        engine = self._running()
        search = functools.partial(engine.search, position, self.spec.limits, self._clock(clock), stop, ponder=grant)
        result = self._pinned(search)
        self._count(result)
        return result

    def _reply(self, result: SearchResult, elapsed_ns: int) -> Reply:
        if result.move is None:
            raise PlayerFault("illegal_move", Fault("found_no_move"), self.name)
        variation = result.principal_variation
        expected = variation[1] if len(variation) > 1 else None
        return Reply(
            result.move, result.score, result.depth, result.nodes, elapsed_ns, expected=expected,
            principal_variation=" ".join(variation[:MAX_VARIATION]),
        )  # fmt: skip


class PonderSearch:
    """A ponder search in its own thread: until the opponent moves or, after a ponder hit, until it finds a move."""

    def __init__(
        self, search: Callable[..., SearchResult], pinned: Callable[[Callable[[], SearchResult]], SearchResult]
    ) -> None:
        """Start the search; ``pinned`` runs it on the player's processors.

        ``search`` is called with a stop flag and with ``ponder``, a flag that is set until a ponder hit.
        """
        from elolab.engine.engine import StopFlag

        self._stop, self._ponder = StopFlag(), StopFlag()
        self._ponder.set()
        self._search = start_thread(pinned, functools.partial(search, self._stop, ponder=self._ponder))

    def hit(self, stop: StopFlag) -> tuple[SearchResult, int]:
        """Continue the search after a ponder hit; returns its result, and the nanoseconds from this call to the end."""
        hit_ns = time.monotonic_ns()
        self._ponder.clear()
        while not wait([self._search], WAKE_SECONDS).done:
            if stop.is_set():
                self._stop.set()
        result = self._search.result()
        return result, max(0, result.start_ns + _nanoseconds(result) - hit_ns)

    def abandon(self) -> SearchResult | None:
        """Stop the search and return its result so far; ``None`` if the search failed."""
        self._stop.set()
        self._ponder.clear()
        return None if self._search.exception() is not None else self._search.result()


def _nanoseconds(result: SearchResult) -> int:
    return round(result.time_ms * 1e6)


KEYS = schema.declare(
    "elolab.arena.keys", "player", "builtin",
    preset=schema.text(default=DEFAULT_PRESET, example="fenon"),
    set=schema.table(SETTINGS, example={"null_depth": 3, "killers": 0}),
)  # fmt: skip

PROTOCOL = Protocol(
    name=BUILTIN,
    title="the built-in engine",
    player=BuiltinPlayer,
    is_external=False,
    keys=KEYS,
    can_ponder=True,
)
