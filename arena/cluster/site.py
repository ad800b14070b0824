"""The interface between a run and its workers: a site with workers, each a ``concurrent.futures`` executor."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import CancelledError, Executor
from dataclasses import dataclass
from typing import NamedTuple

from elolab.arena.cluster.worker import Chunk, ChunkGame, Order, PlayedChunk, heed, play_chunk
from elolab.engine.errors import UserError, argument
from elolab.engine.settings.limits import Limits


def clock_problem(limits: Limits) -> str:
    """The reason why games at these limits need permission to run on workers; empty if they do not."""
    if not limits.is_timed or limits.clock_kind != "wall":
        return ""
    return (
        f"{limits} is a wall clock, and other games on a worker take their part of its time; use cpu or node_clock=N, "
        f"or allow it with {argument('wall_clock_on_cluster')}"
    )


class ClusterError(UserError):
    """Workers that cannot play the games; the message names scheduler, worker or player and the remedy."""

    exit_code = 1


@dataclass(frozen=True)
class Worker:
    """A worker that plays chunks of games."""

    address: str
    """Unique address."""
    name: str
    """Name for people."""
    threads: int
    """Chunks played at a time."""
    executor: Executor
    play: Callable[[Chunk], PlayedChunk]
    """Function to submit to the executor."""
    host: str = ""
    """Machine of the worker."""
    processors: int = 0
    """Processors that it may use there; 0 if unknown."""


class RefusedWorker(NamedTuple):
    """A worker that gets no games."""

    name: str
    """Name for people."""
    reason: str


class Site(ABC):
    """A place with workers; all methods return at once or within seconds."""

    @abstractmethod
    def workers(self) -> Mapping[str, Worker]:
        """Workers that may play now, by address. Raises ``ClusterError`` if there will not be any."""

    @abstractmethod
    def refused(self) -> Mapping[str, RefusedWorker]:
        """Workers that may not play, by address."""

    @abstractmethod
    def refuse(self, worker: Worker, reason: str) -> None:
        """Give the worker no more games, and report the reason."""

    @property
    @abstractmethod
    def is_connected(self) -> bool:
        """Whether ``workers`` is up to date; if not, a worker missing from it may still exist."""

    @abstractmethod
    def given_up(self) -> str:
        """The reason to end the run after a long loss of connection; empty if there is none."""

    @abstractmethod
    def is_loss(self, error: BaseException) -> bool:
        """Whether the error means that the chunk was lost, with its worker or in transfer, and can be replayed."""

    @abstractmethod
    def tell(self, order: Order) -> None:
        """Send an order to every worker."""

    def running(self, run: str) -> Iterable[tuple[int, ChunkGame]]:
        """The known games in progress of a run, each with its chunk's number."""
        return ()

    @abstractmethod
    def close(self) -> None:
        """Stop sending chunks."""


class ExecutorSite(Site):
    """A single worker: an executor that the caller made and will shut down."""

    def __init__(self, executor: Executor, concurrency: int) -> None:
        """``concurrency`` is how many chunks the executor plays at a time."""
        name = type(executor).__name__
        self._worker = Worker("executor", name, concurrency, executor, play_chunk)

    def workers(self) -> Mapping[str, Worker]:
        """The single worker."""
        return {self._worker.address: self._worker}

    def refused(self) -> Mapping[str, RefusedWorker]:
        """Always empty: without its executor a run ends."""
        return {}

    def refuse(self, worker: Worker, reason: str) -> None:
        """Raise ``ClusterError``."""
        raise ClusterError(
            f"{worker.name}: {reason}; every game stored before is safe: give the same command with an executor whose "
            "processes have this elolab"
        )

    @property
    def is_connected(self) -> bool:
        """Always true."""
        return True

    def given_up(self) -> str:
        """Always empty."""
        return ""

    def is_loss(self, error: BaseException) -> bool:
        """Whether the chunk was cancelled from outside; after any other error the executor is unusable."""
        return isinstance(error, CancelledError)

    def tell(self, order: Order) -> None:
        """Pass the order to this process, for executors with threads; others end their chunks seconds later."""
        heed(order)

    def close(self) -> None:
        """Does nothing: the executor belongs to the caller."""
