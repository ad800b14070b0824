"""What plays chunks of games for a run: a site with workers, each of them an executor as of ``concurrent.futures``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import CancelledError, Executor
from dataclasses import dataclass
from typing import NamedTuple

from elolab.arena.cluster.worker import Chunk, ChunkGame, Order, PlayedChunk, heed, play_chunk
from elolab.engine.errors import UserError
from elolab.engine.settings.limits import Limits


def clock_problem(limits: Limits) -> str:
    """Why games at these limits do not belong on workers unless that is allowed; empty if they do."""
    if not limits.is_timed or limits.clock_kind != "wall":
        return ""
    return (
        f"{limits} is a wall clock, and other games on a worker take their part of its time; use cpu or node_clock=N, "
        "or allow it with --wall-clock-on-cluster"
    )


class ClusterError(UserError):
    """Workers that cannot play the games; names the scheduler, worker or player and the remedy."""

    exit_code = 1


@dataclass(frozen=True)
class Worker:
    """Something that plays chunks."""

    address: str
    """No other worker has it."""
    name: str
    """As people know it."""
    threads: int
    """Chunks it plays at a time."""
    executor: Executor
    play: Callable[[Chunk], PlayedChunk]
    """What the executor is given."""
    host: str = ""
    """The machine on which it is."""
    processors: int = 0
    """Those that it may use there; 0 where nobody can say."""


class RefusedWorker(NamedTuple):
    """A worker that gets no games."""

    name: str
    """As people know it."""
    reason: str


class Site(ABC):
    """Where workers are. All methods return at once or within seconds."""

    @abstractmethod
    def workers(self) -> Mapping[str, Worker]:
        """Those that may play now, by their addresses. Raises ``ClusterError`` if there will not be any."""

    @abstractmethod
    def refused(self) -> Mapping[str, RefusedWorker]:
        """Those that may not play, by their addresses."""

    @abstractmethod
    def refuse(self, worker: Worker, reason: str) -> None:
        """Give the worker no more games, and say why."""

    @property
    @abstractmethod
    def is_connected(self) -> bool:
        """Whether ``workers`` is up to date; if not, nothing is known of a worker that it lacks."""

    @abstractmethod
    def given_up(self) -> str:
        """Why the run had better end, if the connection was lost and has not come back for long; empty if not."""

    @abstractmethod
    def is_loss(self, error: BaseException) -> bool:
        """Whether a chunk that ended with the error is lost with its worker or on the way, and can be played again."""

    @abstractmethod
    def tell(self, order: Order) -> None:
        """Have every worker heed it."""

    def running(self, run: str) -> Iterable[tuple[int, ChunkGame]]:
        """What is known of a run's games being played, each with its chunk's number."""
        return ()

    @abstractmethod
    def close(self) -> None:
        """No more chunks will be sent."""


class ExecutorSite(Site):
    """One worker: an executor that somebody else has made, and will shut down."""

    def __init__(self, executor: Executor, concurrency: int) -> None:
        """``concurrency`` is how many chunks the executor plays at a time."""
        name = type(executor).__name__
        self._worker = Worker("executor", name, concurrency, executor, play_chunk)

    def workers(self) -> Mapping[str, Worker]:
        """The one."""
        return {self._worker.address: self._worker}

    def refused(self) -> Mapping[str, RefusedWorker]:
        """Nobody: without its executor a run ends."""
        return {}

    def refuse(self, worker: Worker, reason: str) -> None:
        """Raise ``ClusterError``."""
        raise ClusterError(
            f"{worker.name}: {reason}; every game stored before is safe: give the same command with an executor whose "
            "processes have this elolab"
        )

    @property
    def is_connected(self) -> bool:
        """Always."""
        return True

    def given_up(self) -> str:
        """Never."""
        return ""

    def is_loss(self, error: BaseException) -> bool:
        """Whether the chunk was cancelled by somebody else; after any other error the executor is of no use."""
        return isinstance(error, CancelledError)

    def tell(self, order: Order) -> None:
        """Tell this process, in which an executor of threads plays; others end their chunks, seconds later."""
        heed(order)

    def close(self) -> None:
        """The executor stays as it is."""
