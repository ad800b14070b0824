"""Connects to a Dask cluster and keeps a list of its suitable workers; the only module that uses Dask.

A thread maintains the connection: every second it asks the scheduler for its workers, examines new ones, and
reconnects if the scheduler was lost.
"""

from __future__ import annotations

import asyncio
import functools
import logging
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import CancelledError, ThreadPoolExecutor
from typing import Any

from elolab.arena.cluster.sent_files import SentFile
from elolab.arena.cluster.site import ClusterError, RefusedWorker, Site, Worker
from elolab.arena.cluster.worker import Chunk, ChunkGame, Order, PlayedChunk, carry_out, introduction, play_chunk
from elolab.arena.play.publishing import machine
from elolab.arena.provenance.sources import difference_in_sources
from elolab.engine.errors import argument
from elolab.engine.language import console

CONNECT_SECONDS = 10.0
LOOK_SECONDS = 1.0
"""Seconds between queries of the cluster's workers."""
ANSWER_SECONDS = 10.0
"""Seconds without an answer after which the scheduler is considered lost."""
PATIENCE_SECONDS = 60.0
"""Maximum number of seconds to wait for a lost scheduler to return, or for a first worker to appear."""
QUIET_LOGGERS = ("distributed", "distributed.client", "distributed.core", "concurrent.futures", "tornado.application")
"""Loggers silenced because elolab reports broken connections itself."""
FORGOTTEN_SECONDS = 5.0
"""Seconds without a report after which a worker's game in progress is no longer shown."""
TLS_REMEDY = "set distributed.comm.tls.ca-file, .client.cert and .client.key in Dask's settings"
TOPIC = "elolab-games"
"""Dask topic to which workers publish their games in progress."""


def play_chunk_on_dask(chunk: Chunk, *sent: SentFile) -> PlayedChunk:
    """Play a chunk on a Dask worker and publish its games in progress; ``sent`` are files that the worker lacked."""
    from distributed import get_worker

    worker = get_worker()

    def report(games: list[ChunkGame]) -> None:
        about = {"worker": worker.address, "load": machine()["load"], "run": chunk.run, "chunk": chunk.number}
        worker.log_event(TOPIC, {**about, "games": [list(game) for game in games]})

    return play_chunk(chunk, *sent, report=report)


class DaskSite(Site):
    """The workers of a Dask scheduler that run the same version of elolab as this process."""

    def __init__(
        self, address: str, warn: Callable[[str], None], is_stopped: Callable[[], bool] = lambda: False
    ) -> None:
        """Connect to the scheduler and examine its workers; ``warn`` may be called on any thread.

        Raises ``ClusterError`` if ``distributed`` is not installed or no scheduler answers, ``KeyboardInterrupt`` if
        ``is_stopped`` returns true first.
        """
        from elolab.engine.compiled.identity import engine_identity

        try:
            import distributed
        except ImportError:
            raise ClusterError(f"{argument('cluster')} needs Dask", 'pip install "elolab[cluster]"') from None
        self._distributed: Any = distributed
        self._address, self._warn = address, warn
        self._identity = engine_identity()
        self._lock = threading.RLock()
        self._workers: dict[str, Worker] = {}
        self._refused: dict[str, RefusedWorker] = {}
        self._known: set[str] = set()
        """Addresses of workers already examined."""
        self._scheduler = ""
        self._running: dict[tuple[str, int], tuple[float, list[ChunkGame]]] = {}
        """Last report on each chunk, by run and chunk number: time of the report and games in progress."""
        self._loads: dict[str, tuple[float, float]] = {}
        """Load average of each worker's machine, by worker address: time of the report and value."""
        self._dialogues: set[tuple[str, int]] = set()
        """Chunks whose dialogues a viewer has requested, by run and chunk number."""
        self._away_since: float | None = None
        self._none_since = time.monotonic()
        self._had_workers = False
        self._is_closing = threading.Event()
        self._levels = {name: logging.getLogger(name).level for name in QUIET_LOGGERS}
        for name in QUIET_LOGGERS:
            logging.getLogger(name).setLevel(logging.CRITICAL)
        try:
            self._client = self._connected(CONNECT_SECONDS, is_stopped)
            self._look()
        except BaseException as error:
            self._restore_loggers()
            if isinstance(error, ClusterError) or not isinstance(error, Exception):
                raise
            while error.__cause__ is not None:  # the innermost error explains most
                error = error.__cause__
            remedy = TLS_REMEDY if address.startswith("tls:") else "start one with: dask scheduler"
            said = str(error) or "no answer in time"  # errors of cancelled calls have no text
            where = argument("cluster", address)
            raise ClusterError(f"{where}: no Dask scheduler answers there ({said})", remedy) from None
        self._thread = threading.Thread(target=self._follow, name="cluster", daemon=True)
        self._thread.start()

    # Interface for runs

    def workers(self) -> Mapping[str, Worker]:
        with self._lock:
            if self._workers or not self.is_connected:
                return dict(self._workers)
            waited = time.monotonic() - self._none_since
            reasons = [f"{worker.name}: {worker.reason}" for worker in self._refused.values()]
        if waited < PATIENCE_SECONDS and (self._had_workers or not reasons):
            return {}
        where, safe = argument("cluster", self._address), "the games stored before are safe"
        if reasons:
            raise ClusterError(f"{where}: none of its workers is suitable: {'; '.join(reasons)}", safe)
        start = f"start some with: dask worker {self._address}"
        raise ClusterError(f"{where}: it has had no workers for {waited:.0f} s", f"{start}; {safe}")

    def refused(self) -> Mapping[str, RefusedWorker]:
        with self._lock:
            return dict(self._refused)

    def refuse(self, worker: Worker, reason: str) -> None:
        self._turn_away(worker.address, worker.name, reason)

    @property
    def is_connected(self) -> bool:
        return self._away_since is None

    def given_up(self) -> str:
        away = self._away_since
        if away is None or time.monotonic() - away < PATIENCE_SECONDS:
            return ""
        return console("elolab.arena")("progress.scheduler_lost", address=self._address)

    def is_loss(self, error: BaseException) -> bool:
        return (
            isinstance(
                error, CancelledError | OSError | self._distributed.KilledWorker | self._distributed.CancelledError
            )
            or "Scheduler" in type(error).__name__
        )

    def send_order(self, order: Order) -> None:
        """Send an order to every worker; a worker that does not receive it plays its chunks to the end."""
        with self._lock:
            addresses = [*self._workers]
        if addresses and self.is_connected:
            try:
                self._call_on(carry_out, order, addresses, seconds=3.0)
            except Exception as error:  # the connection was just lost
                logging.getLogger(__name__).debug("%s", error)

    def running(self, run: str) -> Iterable[tuple[int, ChunkGame]]:
        with self._lock:
            return [
                (chunk, game) for (whose, chunk), (_, games) in self._running.items() if whose == run for game in games
            ]

    def ask_for_dialogue(self, run: str, chunk: int) -> None:
        with self._lock:
            self._dialogues.add((run, chunk))

    def loads(self) -> Mapping[str, float]:
        now = time.monotonic()
        with self._lock:
            return {address: load for address, (at, load) in self._loads.items() if now - at < FORGOTTEN_SECONDS}

    def close(self) -> None:
        self._is_closing.set()
        self._thread.join(ANSWER_SECONDS)
        self._end_client()
        self._restore_loggers()

    # The connection

    def _connected(self, seconds: float, is_stopped: Callable[[], bool]) -> Any:
        """Connect a Dask client within ``seconds``; raises ``KeyboardInterrupt`` once ``is_stopped`` returns true."""
        with ThreadPoolExecutor(1) as pool:  # the calling thread may have an event loop
            pool.submit(asyncio.run, _await_scheduler(self._address, seconds, is_stopped)).result()
        with warnings.catch_warnings():
            # Dask warns about different package versions; elolab compares what matters itself.
            warnings.simplefilter("ignore")
            client = self._distributed.Client(self._address, timeout=seconds, set_as_default=False, name="elolab")
        client.subscribe_topic(TOPIC, self._store_report)
        return client

    def _store_report(self, event: tuple[float, dict[str, Any]]) -> None:
        """Store a worker's report on its games in progress; ``event`` is the time and content of a Dask event."""
        said, now = event[1], time.monotonic()
        with self._lock:
            self._running[said["run"], said["chunk"]] = (now, [ChunkGame(*game) for game in said["games"]])
            self._loads[said["worker"]] = now, said["load"]
            self._running = {chunk: one for chunk, one in self._running.items() if now - one[0] < FORGOTTEN_SECONDS}

    def _call_on(self, function: Callable[..., Any], argument: Any, addresses: list[str], seconds: float) -> Any:
        """Call ``function(argument)`` on the workers at ``addresses``, even while they play.

        Returns the result of each call, or the exception that it raised, by address. Waits at most ``seconds``.
        """
        client = self._client
        arguments = () if argument is None else (argument,)
        return client.sync(
            client._run, function, *arguments, workers=addresses, on_error="return", callback_timeout=seconds
        )

    def _follow(self) -> None:
        """Maintain the connection and the list of workers; runs on a thread of its own."""
        while not self._is_closing.wait(LOOK_SECONDS):
            try:
                if self._client.status not in ("running", "connecting"):
                    self._end_client()
                    self._client = self._connected(LOOK_SECONDS, self._is_closing.is_set)
                self._look()
                self._forward_requests()
            except (Exception, KeyboardInterrupt) as error:  # an interrupted exchange may raise anything
                self._lose_scheduler(error)

    def _forward_requests(self) -> None:
        """Order the workers to report the dialogues of games that viewers have requested since the last call."""
        with self._lock:
            asked, self._dialogues = self._dialogues, set()
        for run, chunk in asked:
            self.send_order(Order(run, chunk, "dialogue"))

    def _lose_scheduler(self, error: BaseException) -> None:
        with self._lock:
            if self._away_since is not None:
                return
            self._away_since = time.monotonic()
            self._workers.clear()
            self._known.clear()
        logging.getLogger(__name__).debug("%s", error)
        self._warn(
            console("elolab.arena")("progress.scheduler_away", address=self._address, seconds=int(PATIENCE_SECONDS))
        )

    def _look(self) -> None:
        """Update the list of workers and examine new ones."""
        client = self._client
        cluster = client.sync(client.scheduler.identity, n_workers=-1, callback_timeout=ANSWER_SECONDS)
        present: dict[str, dict[str, Any]] = cluster["workers"]
        with self._lock:
            if cluster["id"] != self._scheduler:
                self._workers.clear()
                self._known.clear()
            self._scheduler = cluster["id"]
            self._workers = {address: worker for address, worker in self._workers.items() if address in present}
            self._known &= present.keys()
            new = [address for address in present if address not in self._known]
            for address in self._refused.keys() - present.keys():
                self._refused.pop(address)
        if new:
            for address, answer in self._call_on(introduction, None, new, ANSWER_SECONDS).items():
                self._admit(address, present[address], answer)
        with self._lock:
            is_back = self._away_since is not None
            self._away_since = None
            if is_back or self._workers:
                self._none_since = time.monotonic()
        if is_back:
            self._warn(console("elolab.arena")("progress.scheduler_back", address=self._address))

    def _admit(self, address: str, about: Mapping[str, Any], answer: Any) -> None:
        """Accept a worker if it runs the same version of elolab as this process; otherwise refuse it.

        ``about`` is the scheduler's description of the worker. ``answer`` is the worker's ``introduction``, or the
        exception raised when it was requested.
        """
        name = str(about["name"])
        name = address if name == address else f"{name} ({address})"
        with self._lock:
            self._known.add(address)
        if isinstance(answer, Exception) and "ModuleNotFoundError" in repr(answer):  # wrapped by Dask
            self._turn_away(address, name, f"elolab, or this version of it, is not installed there ({answer})")
        elif isinstance(answer, BaseException):
            self._turn_away(address, name, f"{type(answer).__name__}: {answer}")
        elif reason := self._difference_to(answer):
            self._turn_away(address, name, reason)
        else:
            executor = self._client.get_executor(workers=[address], allow_other_workers=False, pure=False)
            with self._lock:
                self._workers[address] = Worker(
                    address,
                    name,
                    about["nthreads"],
                    executor,
                    play_chunk_on_dask,
                    answer["host"],
                    answer["processors"],
                    answer["memory"],
                    functools.partial(self._client.scatter, workers=[address], hash=False),
                )
                self._refused.pop(address, None)
                self._had_workers = True

    def _difference_to(self, introduced: Mapping[str, Any]) -> str:
        """Describe the difference that could make a worker's elolab play differently; empty if there is none.

        ``introduced`` is the worker's ``introduction``.
        """
        where = difference_in_sources(introduced.get("sources", {}))
        if introduced["identity"] != self._identity:
            return f"its engine is {introduced['identity']}, not {self._identity}" + (f" ({where})" if where else "")
        return f"it has other sources of elolab: {where}; install the same version there" if where else ""

    def _turn_away(self, address: str, name: str, reason: str) -> None:
        refused = RefusedWorker(name, reason)
        with self._lock:
            if self._workers.pop(address, None) is not None and not self._workers:
                self._had_workers = False  # refused workers do not come back
            is_new = self._refused.get(address) != refused
            self._refused[address] = refused
        if is_new:
            self._warn(console("elolab.arena")("progress.worker_refused", worker=name, reason=reason))

    def _restore_loggers(self) -> None:
        for name, level in self._levels.items():
            logging.getLogger(name).setLevel(level)

    def _end_client(self) -> None:
        try:
            self._client.close(timeout=2)
        except Exception as error:  # the scheduler may already be gone
            logging.getLogger(__name__).debug("%s", error)


async def _await_scheduler(address: str, seconds: float, is_stopped: Callable[[], bool]) -> None:
    """Wait at most ``seconds`` until a scheduler answers at ``address``.

    Raises ``TimeoutError`` or ``ConnectionError`` if none answers, and ``KeyboardInterrupt`` once ``is_stopped``
    returns true. Dask's own client would wait for ever if another program listens at the address.
    """
    from distributed import rpc
    from distributed.security import Security

    scheduler = rpc(address, timeout=seconds, connection_args=Security().get_connection_args("client"))
    answer = asyncio.ensure_future(scheduler.identity())
    deadline = time.monotonic() + seconds
    try:
        while not (await asyncio.wait([answer], timeout=0.1))[0]:
            if is_stopped():
                raise KeyboardInterrupt
            if time.monotonic() > deadline:
                raise TimeoutError(f"no answer within {seconds:.0f} s")
        if answer.result().get("type") != "Scheduler":
            raise ConnectionError("another program of Dask answers")
    finally:
        answer.cancel()
        await scheduler.close_rpc()
