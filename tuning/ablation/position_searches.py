"""Searches of positions in several threads, each with its own engine; the run's store keeps the results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any, TypeVar

from elolab.arena.play.executor import TICK_SECONDS
from elolab.arena.play.store import Store
from elolab.arena.records import Opening, digest_of
from elolab.engine.search_statistics import SearchStatisticsSettings
from elolab.engine.settings.parameters import Value

if TYPE_CHECKING:
    from elolab.engine.engine import Engine, StopFlag

Item = TypeVar("Item")


class PositionSearches:
    """Searches positions in several threads. The method ``kept`` also keeps the results in the run's store."""

    def __init__(
        self, game: str, store: Store, threads: int, stop: StopFlag, tick: Callable[[], None] = lambda: None
    ) -> None:
        """``store`` keeps the results, and ``tick`` is called periodically while the searches run.

        Once ``stop`` is set, searches end and their results are lost.
        """
        self.game, self.store, self.stop = game, store, stop
        self._threads, self._tick = threads, tick

    def kept(
        self,
        label: str,
        content: Sequence[Any],
        positions: Sequence[Opening],
        values: Mapping[str, Value],
        search: Callable[[Engine, Opening], Any],
        statistics: SearchStatisticsSettings | None = None,
    ) -> list[Any] | None:
        """Result of ``search`` for each position, as plain data; ``None`` if the run stopped before the end.

        Results that the store already has are read from there. The store's key for them consists of ``label``,
        ``content``, the engine and ``positions``. ``values`` are the engine's parameters; ``statistics`` selects the
        counters of the searches.
        """
        from elolab.engine.compiled.identity import equivalent_identities

        places = [[opening.position, list(opening.moves)] for opening in positions]
        described = [*content[:-1], places, content[-1]]  # in the order of the digests of stored runs
        names = [f"{label} {digest_of([self.game, identity, *described])}" for identity in equivalent_identities()]
        for name in names:
            if (known := self.store.metadata(name)) is not None:
                return list(known)
        found = self.by_threads(values, positions, search, statistics)
        if found is not None:
            self.store.record_metadata({names[0]: found})
        return found

    def by_threads(
        self,
        values: Mapping[str, Value],
        items: Sequence[Item],
        search: Callable[[Engine, Item], Any],
        statistics: SearchStatisticsSettings | None = None,
    ) -> list[Any] | None:
        """Results of ``search`` for every item, in order; ``None`` if the stop flag was set.

        Each thread has its own engine with the parameters ``values``; ``statistics`` selects the search's counters.
        """
        from elolab.engine.engine import Engine

        def search_all(own: Sequence[Item]) -> list[Any]:
            engine = Engine(self.game, values, statistics)
            return [search(engine, item) for item in own if not self.stop.is_set()]

        if self.stop.is_set():
            return None
        with ThreadPoolExecutor(self._threads, "positions") as pool:
            parts = [pool.submit(search_all, items[start :: self._threads]) for start in range(self._threads)]
            while wait(parts, TICK_SECONDS).not_done:
                self._tick()
        if self.stop.is_set():
            return None
        return [parts[place % self._threads].result()[place // self._threads] for place in range(len(items))]
