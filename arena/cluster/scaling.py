"""Scales wall-time limits to the speed of each machine of a cluster.

A machine runs a short benchmark before its first game of a run. The limits of its games are multiplied by the ratio of
the reference speed to the machine's speed, so that a slow machine gets more time. fishtest, Stockfish's test platform,
scales its time controls in the same way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import Future

from elolab.arena.cluster.site import Site, Worker
from elolab.engine.games import DEFAULT_GAME
from elolab.engine.language import console

LEAST_SCALE, MOST_SCALE = 0.25, 4.0
"""Range of the factors for wall-time limits.

The range bounds the effect of a wrong benchmark, and keeps limits similar to those in the specification.
"""
NAMED_DIFFERENCE = 0.05
"""elolab prints a line about each machine whose factor differs from 1 by more than this."""
BENCHMARK_SECONDS = 2.0
"""Processor time of the benchmark, in seconds."""
MOST_FAILURES = 5
"""Number of times that a machine may be lost during the benchmark before its worker is refused."""
REFERENCE = "reference speed"
"""Name of the store's metadata entry with the run's reference speed, in nodes per second."""


def measured_speed() -> float:
    """Speed of the built-in engine on fixed positions, in nodes per second of processor time on one thread."""
    from elolab.engine.bench import GIVEN, BenchSearch, searches_under, speed

    found: list[BenchSearch] = []
    while sum(search.cpu_seconds for search in found) < BENCHMARK_SECONDS:
        found += searches_under(DEFAULT_GAME, {})
    return speed(found, variant=GIVEN) or 0.0


class LimitScaling:
    """The factors for limits on a run's machines, and the benchmarks that determine them."""

    def __init__(
        self, reference: float | None, keep: Callable[[float], None], warn: Callable[[str], None] = lambda text: None
    ) -> None:
        """``reference`` is the run's reference speed in nodes per second.

        If it is ``None``, the first machine's speed becomes the reference, and ``keep`` stores that speed. ``warn``
        gets a line for each machine whose factor differs from 1 by more than ``NAMED_DIFFERENCE``.
        """
        self._reference, self._keep, self._warn = reference, keep, warn
        self._scales: dict[str, float] = {}
        """Factor for limits on each machine measured so far, by machine name."""
        self._measuring: dict[str, tuple[Worker, Future[float]]] = {}
        self._failures: Counter[str] = Counter()

    @property
    def is_measuring(self) -> bool:
        """Whether a benchmark is running."""
        return bool(self._measuring)

    def scale_of(self, worker: Worker) -> float:
        """Factor for the limits of games on a worker; the worker must be one that ``ready`` has returned."""
        return self._scales[_machine_of(worker)]

    def ready(self, site: Site) -> Mapping[str, Worker]:
        """Workers on machines that have been measured, by address; starts the benchmark on other machines.

        No game runs on a machine during its benchmark: the machine's workers are returned only afterwards.
        """
        self._collect(site)
        workers = site.workers()
        for worker in workers.values():
            machine = _machine_of(worker)
            if machine not in self._scales and machine not in self._measuring:
                try:
                    self._measuring[machine] = worker, worker.executor.submit(measured_speed)
                except Exception as error:
                    self._fail(site, worker, error)
        return {address: worker for address, worker in workers.items() if _machine_of(worker) in self._scales}

    def cancel(self) -> None:
        """Cancel the benchmarks that are still running."""
        for _, future in self._measuring.values():
            future.cancel()
        self._measuring.clear()

    def _collect(self, site: Site) -> None:
        """Collect the results of finished benchmarks, and forget the benchmarks of workers that are gone."""
        workers = site.workers()
        for machine, (worker, future) in [*self._measuring.items()]:
            is_gone = workers.get(worker.address) is not worker
            if not is_gone and not future.done():
                continue
            del self._measuring[machine]
            if is_gone:
                future.cancel()
                continue
            try:
                self._take_in(worker, future.result())
            except Exception as error:
                self._fail(site, worker, error)

    def _take_in(self, worker: Worker, speed: float) -> None:
        if self._reference is None:
            self._reference = speed
            self._keep(speed)
        scale = min(max(round(self._reference / speed, 3), LEAST_SCALE), MOST_SCALE)
        self._scales[_machine_of(worker)] = scale
        if abs(scale - 1) > NAMED_DIFFERENCE:
            self._warn(
                console("elolab.arena")(
                    "progress.scaled_limits", worker=worker.name, scale=f"{scale:g}", speed=f"{speed:.0f}",
                    reference=f"{self._reference:.0f}",
                )
            )  # fmt: skip

    def _fail(self, site: Site, worker: Worker, error: Exception) -> None:
        """Handle a failed benchmark: refuse the worker, unless it was lost and may be measured again."""
        machine = _machine_of(worker)
        self._failures[machine] += 1
        if not site.is_loss(error) or self._failures[machine] >= MOST_FAILURES:
            site.refuse(worker, f"the benchmark of its speed failed: {type(error).__name__}: {error}")


def _machine_of(worker: Worker) -> str:
    """Name of the worker's machine; workers on one machine share a benchmark."""
    return worker.host or worker.address
