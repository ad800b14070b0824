"""The interface between a run and its workers: a site has workers, each backed by a ``concurrent.futures`` executor."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import CancelledError, Executor
from dataclasses import dataclass
from typing import Any, NamedTuple

from elolab.arena.cluster.sent_files import SentFile
from elolab.arena.cluster.worker import ChunkGame, Order, PlayedChunk, carry_out, play_chunk
from elolab.engine.errors import UserError, argument
from elolab.engine.settings.limits import Limits


class ClusterError(UserError):
    """Raised when workers cannot play the games; the message names the scheduler, worker or player, and the remedy."""

    exit_code = 1


def clock_mistake(limits: Limits) -> ClusterError | None:
    """The error for games that run on workers only with the user's permission; ``None`` for limits that need none."""
    if not limits.is_on_wall_clock:
        return None
    return ClusterError(
        f"{limits} is a wall clock, and other games on a worker take their part of its time",
        f"use cpu or node_clock=N, or allow it with {argument('wall_clock_on_cluster')}",
    )


@dataclass(frozen=True)
class Worker:
    """A worker that plays chunks of games."""

    address: str
    """Address that identifies the worker."""
    name: str
    """Name shown to the user."""
    threads: int
    """Number of chunks that the worker plays at the same time."""
    executor: Executor
    play: Callable[..., PlayedChunk]
    """The function that plays a chunk; it is submitted to the worker's executor."""
    host: str = ""
    """Name of the worker's machine."""
    processors: int = 0
    """Number of processors that the worker can use; 0 if unknown."""
    memory: int = 0
    """Memory that the worker can use, in MiB; 0 if unknown."""
    share: Callable[[SentFile], Any] = lambda sent: sent
    """Function that sends a file to the worker; its result is passed to ``play``, which then receives the file."""


class RefusedWorker(NamedTuple):
    """A worker that gets no games."""

    name: str
    """Name shown to the user."""
    reason: str


class Site(ABC):
    """A source of workers, such as a cluster; no method blocks for longer than a few seconds."""

    @abstractmethod
    def workers(self) -> Mapping[str, Worker]:
        """Workers that can play now, by address. Raises ``ClusterError`` if no worker is left and none is expected."""

    def refused(self) -> Mapping[str, RefusedWorker]:
        """Workers that get no games, by address."""
        return {}

    @abstractmethod
    def refuse(self, worker: Worker, reason: str) -> None:
        """Give the worker no more games; ``reason`` is shown to the user."""

    @property
    def is_connected(self) -> bool:
        """Whether the list of workers is up to date; otherwise a worker missing from the list may still be playing."""
        return True

    def given_up(self) -> str:
        """The reason why the run should end, such as a long loss of connection; empty if it should continue."""
        return ""

    @abstractmethod
    def is_loss(self, error: BaseException) -> bool:
        """Whether the error means that a chunk was lost in transfer or with its worker and can be sent again."""

    @abstractmethod
    def send_order(self, order: Order) -> None:
        """Send an order to every worker."""

    def running(self, run: str) -> Iterable[tuple[int, ChunkGame]]:
        """The last reported games in progress of a run, each with the number of its chunk."""
        return ()

    def ask_for_dialogue(self, run: str, chunk: int) -> None:  # noqa: B027 - nothing to do without reports
        """Request the dialogue of a chunk's game for the next reports; does nothing if the site has no reports."""

    def loads(self) -> Mapping[str, float]:
        """Load average of each worker's machine over the last minute, by worker address; may omit some workers."""
        return {}

    def close(self) -> None:  # noqa: B027 - nothing to do without a connection
        """Disconnect; no chunk can be sent afterwards."""


class ExecutorSite(Site):
    """A site with one worker: an executor of the caller, who must shut it down."""

    def __init__(self, executor: Executor, concurrency: int) -> None:
        """``concurrency`` is the number of chunks that the executor plays at the same time."""
        name = type(executor).__name__
        self._worker = Worker("executor", name, concurrency, executor, play_chunk)

    def workers(self) -> Mapping[str, Worker]:
        return {self._worker.address: self._worker}

    def refuse(self, worker: Worker, reason: str) -> None:
        """Raise ``ClusterError``, because there is no other worker."""
        raise ClusterError(
            f"{worker.name}: {reason}",
            "every game stored before is safe: give the same command with an executor whose processes have this elolab",
        )

    def is_loss(self, error: BaseException) -> bool:
        """Whether the chunk was cancelled from outside; any other error means that the executor is unusable."""
        return isinstance(error, CancelledError)

    def send_order(self, order: Order) -> None:
        """Carry out the order in this process.

        An executor that uses threads obeys; one that uses processes plays its chunks to the end.
        """
        carry_out(order)
