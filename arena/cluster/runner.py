"""Plays games in chunks on the workers of a ``Site``.

Each thread of a worker plays one chunk, and one more chunk waits per thread, so that no thread is idle. A chunk should
take about ``CHUNK_SECONDS``, long enough to make the cost of transfer negligible; its size follows from the duration of
the worker's last games. A chunk that is lost in transfer or with its worker is sent again.
"""

from __future__ import annotations

import itertools
import math
import time
import uuid
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from elolab.arena.cluster.scaling import LimitScaling
from elolab.arena.cluster.sent_files import files_to_send, platform_name, read_file
from elolab.arena.cluster.site import ClusterError, Site, Worker, clock_mistake
from elolab.arena.cluster.worker import Chunk, ChunkGame, Order, PlayedChunk, difference_in_files
from elolab.arena.play.executor import TICK_SECONDS, Runner
from elolab.arena.players.processors import (
    PlayerLoad,
    memory_error,
    memory_load,
    overload,
    overload_text,
)
from elolab.arena.provenance.record import GameFile
from elolab.arena.provenance.sources import sources_digest
from elolab.arena.records import DialogueSoFar, GameJob, GameRecord, RunningGame
from elolab.engine.language import console
from elolab.engine.settings.configuration import find_config, shipped_folder
from elolab.engine.settings.parameters import BY_NAME
from elolab.engine.settings.weights import Weights, find_weights, is_provided, name_and_digest

if TYPE_CHECKING:
    from elolab.engine.engine import StopFlag

CHUNK_SECONDS = 4.0
"""Target duration of a chunk in seconds.

Long compared to the transfer of a chunk, but short enough to lose little work with a lost worker.
"""
MOST_GAMES = 1000
"""Maximum number of games in a chunk."""
GROWTH = 4
"""Maximum ratio of the number of games in a worker's next chunk to the number in its last chunk.

The size of a chunk is computed from the duration of the last games, and the first few games are a poor estimate.
"""
FAREWELL_SECONDS = 3.0
"""Seconds for which a stopped run waits for the results of games that have already ended on workers."""
LOSS_DIVISOR = 8
"""The games of a lost chunk are sent again in smaller chunks: the size is divided by this number.

A game that crashes workers is therefore soon alone in its chunk.
"""
MOST_LOSSES = 5
"""The run fails once this number of workers has been lost while playing the same game, alone in its chunk."""
SPEED_WINDOW_SECONDS = 60.0


@dataclass
class _Record:
    """Statistics of a worker."""

    name: str
    threads: int
    size: int = 0
    """Number of games in the worker's last finished chunk; 0 before the first."""
    game_seconds: float = 0.0
    games: int = 0
    finishes: deque[tuple[float, int]] = field(default_factory=deque)
    """Arrival time and number of games of recently finished chunks."""
    unavailable: dict[str, str] = field(default_factory=dict)
    """Reason for each player that could not be started on this worker, by the player's name."""
    lacking: dict[GameFile, Any] = field(default_factory=dict)
    """Result of ``Worker.share`` for each file that the worker lacks; ``None`` until the file is sent."""
    limit_scale: float | None = None
    """Factor for wall-time limits on the worker; ``None`` if limits are not scaled, or before its first chunk."""
    began: float = field(default_factory=time.monotonic)

    def add(self, played: PlayedChunk) -> None:
        """Add the results of a chunk to the statistics."""
        if not played.records:
            return
        each = played.seconds / len(played.records)
        self.game_seconds = each if not self.game_seconds else (self.game_seconds + each) / 2
        self.size = len(played.records)
        self.games += self.size
        self.finishes.append((time.monotonic(), self.size))

    def chunk_size(self) -> int:
        """Number of games for the worker's next chunk."""
        if not self.size:
            return 1
        return max(1, min(int(CHUNK_SECONDS / max(self.game_seconds, 1e-6)), GROWTH * self.size, MOST_GAMES))

    def games_per_second(self) -> float:
        """Finished games per second over the last minute."""
        now = time.monotonic()
        while self.finishes and self.finishes[0][0] < now - SPEED_WINDOW_SECONDS:
            self.finishes.popleft()
        elapsed = min(max(now - self.began, 1e-6), SPEED_WINDOW_SECONDS)
        return sum(games for _, games in self.finishes) / elapsed


@dataclass(frozen=True)
class _Sent:
    """A chunk that was sent to a worker and has not returned."""

    chunk: Chunk
    worker: Worker


class _Queue:
    """Queue of games to send, in schedule order; games that a worker returned unplayed come first."""

    def __init__(self, jobs: Iterator[GameJob | None]) -> None:
        self._source = jobs
        self._waiting: deque[GameJob] = deque()
        self._limits: dict[str, int] = {}
        """Maximum size of the next chunk that contains this game, by game key; only for games lost with a worker."""
        self._losses: Counter[str] = Counter()
        """Number of workers lost while playing a chunk of this game alone, by game key."""

    def known(self, most: int) -> int:
        """Queue games until ``most`` wait or the next game depends on results; returns the number that wait."""
        while len(self._waiting) < most:
            job = next(self._source, None)
            if job is None:  # the end, or the next game is not yet known
                break
            self._waiting.append(job)
        return len(self._waiting)

    def take(self, size: int, excluded: Collection[str] = ()) -> tuple[GameJob, ...]:
        """Remove and return at most ``size`` games in schedule order, skipping games of players in ``excluded``."""
        taken: list[GameJob] = []
        left: list[GameJob] = []
        while len(taken) < size and self.known(1):
            job = self._waiting.popleft()
            size = min(size, max(self._limits.get(job.key, size), len(taken)))
            suits = job.first.name not in excluded and job.second.name not in excluded
            (taken if suits and len(taken) < size else left).append(job)
        self._waiting.extendleft(reversed(left))
        return tuple(taken)

    def drop(self, players: Collection[str]) -> None:
        """Remove the waiting games of these players."""
        self._waiting = deque(job for job in self._waiting if not _has(job, players))

    def put_back(self, jobs: Iterable[GameJob]) -> None:
        """Put unplayed games back to the front of the queue, in the given order."""
        self._waiting.extendleft(reversed(tuple(jobs)))

    def put_back_lost(self, jobs: tuple[GameJob, ...]) -> GameJob | None:
        """Put the games of a lost worker back to the front of the queue.

        Returns a game that ``MOST_LOSSES`` lost workers played alone in a chunk; ``None`` if there is no such game.
        """
        self.put_back(jobs)
        for job in jobs:
            self._limits[job.key] = max(1, len(jobs) // LOSS_DIVISOR)
        if len(jobs) == 1:
            self._losses[jobs[0].key] += 1
        return next((job for job in jobs if self._losses[job.key] >= MOST_LOSSES), None)


class ClusterRunner(Runner):
    """Plays games on the workers of a ``Site``."""

    def __init__(
        self,
        site: Site,
        stop: StopFlag,
        *,
        tick: Callable[[], None] = lambda: None,
        warn: Callable[[str], None] = lambda text: None,
        wall_clock: bool = False,
        files: dict[GameFile, str] | None = None,
        sides: Sequence[PlayerLoad] = (),
        oversubscribe: bool = False,
        scaling: LimitScaling | None = None,
    ) -> None:
        """``tick`` is called at intervals, ``warn`` with each warning for the user.

        Without ``wall_clock``, games limited by real time raise ``ClusterError``, because other load on a worker
        disturbs them. ``files`` holds the required digests of external players' files. If a file is not in it, the
        first worker's digest is added, and the other workers must match it. ``sides`` has the processors and memory
        that each player needs. A worker whose machine is too small is refused; with ``oversubscribe`` there is only a
        warning. ``scaling`` gives the factors for wall-time limits; with ``None`` the limits are not scaled.
        """
        from elolab.engine.compiled.identity import engine_identity

        super().__init__(stop)
        self._site, self._tick, self._warn, self._wall_clock = site, tick, warn, wall_clock
        self._identity, self._sources = engine_identity(), sources_digest()
        self._files = {} if files is None else files
        self._sides, self._oversubscribe = sides, oversubscribe
        self._scaling = scaling
        self._run = uuid.uuid4().hex
        self._numbers = itertools.count()
        self._last = -1
        """Index of the last chunk that was sent; -1 before the first."""
        self._sent: dict[Future[PlayedChunk], _Sent] = {}
        self._records: dict[str, _Record] = {}
        self._warned: set[str] = set()
        """Warnings already issued; each is issued once."""
        self._paths: dict[GameFile, str] = {}
        """Absolute paths, on this machine, of files that workers lacked."""

    @property
    def concurrency(self) -> int:
        """Number of threads of all workers, at least 1."""
        return max(1, sum(worker.threads for worker in self._site.workers().values()))

    def close(self) -> None:
        """Order the workers to drop the remaining games and end their players, and close the site."""
        if self._sent:
            self._tell("stop")
        self._abandon()
        self.release_players()
        self._site.close()

    def release_players(self) -> None:
        """Order all workers to end their players' processes; starting them again for later games takes seconds."""
        self._tell("release")

    def running(self) -> list[RunningGame]:
        sent = {one.chunk.number: one for one in self._sent.values()}
        games = []
        for number, game in self._site.running(self._run):
            if number in sent:
                job, worker = sent[number].chunk.jobs[game.place], sent[number].worker.name
                read_dialogue = partial(self._dialogue, number, game)
                games.append(RunningGame(job, game.seconds, game.moves_so_far, worker, read_dialogue))
        return sorted(games, key=lambda game: game.job.pairing.place)

    def _dialogue(self, chunk: int, game: ChunkGame) -> DialogueSoFar:
        """The dialogue of a game as last reported; also requests the dialogue for the next reports."""
        self._site.ask_for_dialogue(self._run, chunk)
        return game.dialogue

    def waiting(self) -> str:
        if not self._site.workers():
            return console("elolab.arena")("progress.no_workers")
        if self._scaling is not None and self._scaling.is_measuring:
            return console("elolab.arena")("progress.measuring_speed")
        return super().waiting()

    def workers(self) -> list[dict[str, Any]]:
        present, refused = self._site.workers(), self._site.refused()
        busy, loads = {sent.worker.address for sent in self._sent.values()}, self._site.loads()
        for worker in present.values():
            self._record_of(worker)
        for address, worker_refused in refused.items():
            self._records.setdefault(address, _Record(worker_refused.name, 0))
        data = []
        for address, record in self._records.items():
            state = "playing" if address in busy else "idle"
            state = state if address in present else "refused" if address in refused else "gone"
            data.append(
                {
                    "name": record.name, "threads": record.threads, "games": record.games,
                    "games_per_second": record.games_per_second(), "state": state,
                    **({"reason": refused[address].reason} if state == "refused" else {}),
                    **({} if record.limit_scale is None else {"limit_scale": record.limit_scale}),
                    **({"processors": present[address].processors} if address in present else {}),
                    **({"load": loads[address]} if address in loads else {}),
                }
            )  # fmt: skip
        return data

    def refused(self) -> dict[str, str]:
        return {worker.name: worker.reason for worker in self._site.refused().values()}

    def batches(
        self, jobs: Iterable[GameJob | None], enough: Callable[[], bool] = lambda: False
    ) -> Iterator[list[GameRecord]]:
        """Play the jobs on the workers; yields the records that arrive together (see ``Runner.batches``).

        When the stop flag is set, ended games are still yielded. Raises ``ClusterError`` if no worker is left.
        """
        queue = _Queue(self._wanted(jobs))
        is_finishing = False
        try:
            while not self._stop.is_set():
                if enough():
                    if not self._sent:
                        return
                    if not is_finishing:
                        self._tell("finish")
                        is_finishing = True
                elif not self._send_out(queue):
                    return
                yield from self._collected(queue, TICK_SECONDS)
                self._tick()
            if self._sent:
                self._tell("stop")
            yield from self._last_records(queue)
        finally:
            if self._sent:
                self._tell("stop")
                self._abandon()

    def _wanted(self, jobs: Iterable[GameJob | None]) -> Iterator[GameJob | None]:
        """Yield the games whose players are available, and ``None`` where the schedule has a game that is not yet
        known.

        Raises ``ClusterError`` for a game with a clock if clocks are not allowed on workers.
        """
        for job in jobs:
            for player in () if job is None else (job.first, job.second):
                if not self._wall_clock and (mistake := clock_mistake(player.limits)):
                    raise ClusterError.at(f"player {player.name!r}", mistake)
            if job is None or not _has(job, self.unavailable):
                yield job

    # Sending

    def _send_out(self, queue: _Queue) -> bool:
        """Send chunks until every worker has two per thread or no game waits.

        Returns false once all games have been sent and all results have arrived.
        """
        workers = self._site.workers()
        if why := self._site.given_up():
            self._warn(why)
            self._stop.set()
            return True
        self._drop_unavailable(queue, workers)
        ready = workers if self._scaling is None else self._scaling.ready(self._site)
        slots = 2 * sum(worker.threads for worker in ready.values())
        counts = dict.fromkeys(ready, 0)
        for sent in self._sent.values():
            if sent.worker.address in counts:
                counts[sent.worker.address] += 1
        for level in range(max((2 * worker.threads for worker in ready.values()), default=0)):
            for worker in ready.values():  # in turn, so that no worker gets all of the last games
                if counts[worker.address] <= level < 2 * worker.threads and self._send(worker, queue, slots):
                    counts[worker.address] += 1
        if workers and not self._sent and queue.known(1):
            self._drop_unmatched(queue, workers)
        return bool(self._sent) or queue.known(1) > 0

    def _send(self, worker: Worker, queue: _Queue, slots: int) -> bool:
        """Send a worker its next chunk; returns false if no waiting game suits it, or if sending fails.

        ``slots`` is the number of chunks that all workers together can hold: the last games are divided evenly among
        them.
        """
        record = self._record_of(worker)
        if worker.address not in self._site.workers():  # it was just refused
            return False
        size = record.chunk_size()
        # The last games are divided, so that all workers end at about the same time.
        size = min(size, math.ceil(queue.known(size * slots) / slots))
        jobs = queue.take(size, record.unavailable)
        if not jobs:
            return False
        if not self._submit(worker, jobs):
            queue.put_back(jobs)
            return False
        return True

    def _submit(self, worker: Worker, jobs: tuple[GameJob, ...]) -> bool:
        """Send the games to the worker as a chunk; returns false if the sending fails."""
        self._last = next(self._numbers)
        weights = travelling_weights(jobs)
        sendable = self._sendable(jobs)
        limit_scale = None if self._scaling is None else self._scaling.scale_of(worker)
        self._record_of(worker).limit_scale = limit_scale
        chunk = Chunk(
            self._run, self._last, jobs, self._identity, self._sources, weights, dict(self._files), sendable,
            platform_name(), limit_scale,
        )  # fmt: skip
        try:
            future = worker.executor.submit(worker.play, chunk, *self._shared(worker))
        except Exception as error:
            if not self._site.is_loss(error):
                self._site.refuse(worker, _described(error))
            return False
        self._sent[future] = _Sent(chunk, worker)
        return True

    def _sendable(self, jobs: Iterable[GameJob]) -> dict[GameFile, str]:
        """The players' files that this machine can send, with their absolute paths."""
        players = {id(player): player for job in jobs for player in (job.first, job.second)}.values()
        return files_to_send((player for player in players if not player.is_builtin), self._files)

    def _shared(self, worker: Worker) -> list[Any]:
        """Send a worker the files that it lacks, each only once; returns the arguments of ``Worker.play`` for them.

        Raises ``ClusterError`` if a file has changed since the run began.
        """
        lacking = self._record_of(worker).lacking
        for file, shared in lacking.items():
            if shared is None:
                content = read_file(self._paths[file], self._files[file])
                if content is None:
                    raise ClusterError(f"{file} has changed since the run began", "give the same command again")
                lacking[file] = worker.share(content)
        return list(lacking.values())

    def _record_of(self, worker: Worker) -> _Record:
        if worker.address not in self._records:
            self._records[worker.address] = _Record(worker.name, worker.threads)
            self._check_load(worker)
        return self._records[worker.address]

    def _check_load(self, worker: Worker) -> None:
        """Check that a worker's machine is large enough to play on all its threads; otherwise refuse it or warn.

        The worker is refused, unless ``oversubscribe`` is set, if games on a wall clock lack processors or hash tables
        lack memory. Other overloads cause a warning.
        """
        together = [
            other for other in self._site.workers().values()
            if other.host == worker.host and (other.address in self._records or other is worker)
        ]  # fmt: skip
        games = sum(other.threads for other in together)
        load = overload(self._sides, games, worker.processors, pondering_slots=1)
        memory = memory_load(self._sides, games, worker.memory)
        if load is not None and load.is_on_wall_clock and not self._oversubscribe:
            self._site.refuse(worker, overload_text(load, "worker"))
        elif memory.is_too_large and not self._oversubscribe:
            self._site.refuse(worker, str(memory_error(memory)))
        else:
            for text in (overload_text(load, "worker"), str(memory_error(memory)) if memory.is_too_large else ""):
                if text:
                    self._remark(f"{worker.name}: {text}")

    # Receiving

    def _collected(self, queue: _Queue, seconds: float) -> Iterator[list[GameRecord]]:
        """Yield the records of chunks that return within ``seconds``."""
        if not self._sent:
            time.sleep(seconds)
            return
        for future in wait(self._sent, seconds, FIRST_COMPLETED).done:
            sent = self._sent.pop(future)
            try:
                played = future.result()
            except BaseException as error:
                if isinstance(error, KeyboardInterrupt) or self._stop.is_set():
                    self._stop.set()
                    return
                self._handle_failure(sent, error, queue)
                continue
            yield from self._taken_in(sent, played, queue)
        if self._site.is_connected:
            self._return_lost(queue)

    def _return_lost(self, queue: _Queue) -> None:
        """Put the games of workers that are gone or refused back into the queue."""
        workers, refused = self._site.workers(), self._site.refused()
        lost = [one for one in self._sent.items() if workers.get(one[1].worker.address) is not one[1].worker]
        played = Counter(sent.worker.address for sent in self._sent.values())
        for future, sent in sorted(lost, key=lambda one: -one[1].chunk.number):
            del self._sent[future]
            future.cancel()
            worker = sent.worker
            played[worker.address] -= 1
            if worker.address in refused or played[worker.address] >= worker.threads:  # it had not begun this chunk
                queue.put_back(sent.chunk.jobs)
            else:
                self._put_back_lost(sent.worker, sent.chunk.jobs, queue)

    def _taken_in(self, sent: _Sent, played: PlayedChunk, queue: _Queue) -> Iterator[list[GameRecord]]:
        worker, record = sent.worker, self._record_of(sent.worker)
        if refusal := difference_in_files(self._files, played.files):  # another worker's games have arrived meanwhile
            played = PlayedChunk(refusal=refusal)
        if played.records:
            self._files.update(played.files)
            record.lacking.clear()
        record.add(played)
        if played.records:
            yield [*played.records]
        if played.error:
            raise ClusterError(played.error)
        for text in played.remarks:
            self._remark(f"{worker.name}: {text}")
        for player, reason in played.unavailable.items():
            record.unavailable[player] = reason
            self._remark(
                console("elolab.arena")("progress.missing_on_worker", worker=worker.name, name=player, reason=reason)
            )
        keys = {one.key for one in played.records}
        unplayed = tuple(job for job in sent.chunk.jobs if job.key not in keys)
        if played.lacking:
            queue.put_back(unplayed)
            self._paths |= sent.chunk.sendable
            record.lacking |= {file: record.lacking.get(file) for file in played.lacking}
        elif played.refusal:
            queue.put_back(unplayed)
            self._site.refuse(worker, played.refusal)
        elif played.records or played.unavailable or self._stop.is_set():
            queue.put_back(unplayed)
        else:
            self._put_back_lost(worker, unplayed, queue)

    def _handle_failure(self, sent: _Sent, error: BaseException, queue: _Queue) -> None:
        """Put the games of a failed chunk back into the queue; ``error`` is the exception.

        The worker gets no more chunks, unless the chunk was cancelled, lost in transfer or lost with its worker.
        """
        jobs = sent.chunk.jobs
        if isinstance(error, CancelledError):  # the scheduler was lost, which is not due to a game
            queue.put_back(jobs)
        elif self._site.is_loss(error):
            self._put_back_lost(sent.worker, jobs, queue)
        else:
            queue.put_back(jobs)
            self._site.refuse(sent.worker, _described(error))

    def _put_back_lost(self, worker: Worker, jobs: tuple[GameJob, ...], queue: _Queue) -> None:
        fatal = queue.put_back_lost(jobs)
        if fatal is not None:
            raise ClusterError(
                f"the game of {fatal.first.name!r} against {fatal.second.name!r} from opening "
                f"{fatal.opening.name!r}: {MOST_LOSSES} workers ended while they played it alone, the last of them "
                f"{worker.name}",
                "look at that worker's log and memory, then give the same command to go on",
            )

    def _remark(self, text: str) -> None:
        if text not in self._warned:
            self._warned.add(text)
            self._warn(text)

    # Players that some workers cannot start

    def _drop_unavailable(self, queue: _Queue, workers: Mapping[str, Worker]) -> None:
        """Mark players as unavailable if no worker can start them, and drop their games."""
        records = [self._record_of(worker) for worker in workers.values()]
        for player, reason in records[0].unavailable.items() if records else ():
            if player not in self.unavailable and all(player in record.unavailable for record in records):
                self.unavailable[player] = reason
        if self.unavailable:  # workers may have returned their games since
            queue.drop(self.unavailable)

    def _drop_unmatched(self, queue: _Queue, workers: Mapping[str, Worker]) -> None:
        """If no worker can start both players of the next game, mark one of the players as unavailable.

        The marked player is one that the first worker cannot start.
        """
        (job,) = queue.take(1)
        queue.put_back([job])
        records = [self._record_of(worker) for worker in workers.values()]
        names = (job.first.name, job.second.name)
        if all(record.unavailable.keys() & set(names) for record in records):
            missing = next(name for name in names if name in records[0].unavailable)
            self.unavailable[missing] = f"no worker has both {names[0]!r} and {names[1]!r}"

    # The end

    def _last_records(self, queue: _Queue) -> Iterator[list[GameRecord]]:
        """Yield the records of games that ended on workers before the run was stopped."""
        until = time.monotonic() + FAREWELL_SECONDS
        while self._sent and time.monotonic() < until and self._site.is_connected:
            yield from self._collected(queue, 0.1)

    def _tell(self, kind: str) -> None:
        self._site.send_order(Order(self._run, self._last, kind))

    def _abandon(self) -> None:
        if self._site.is_connected:
            for future in self._sent:
                future.cancel()
            if self._scaling is not None:
                self._scaling.cancel()
        self._sent.clear()


def _has(job: GameJob, players: Collection[str]) -> bool:
    return job.first.name in players or job.second.name in players


def _described(error: BaseException) -> str:
    if isinstance(error, BrokenProcessPool):
        return 'a process of it ended (in a script, what starts it belongs under if __name__ == "__main__":)'
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def travelling_weights(jobs: Iterable[GameJob]) -> tuple[Weights, ...]:
    """Evaluation weights of built-in players that must be sent with chunks, because elolab does not ship them."""
    values = {
        value
        for player in {id(player): player for job in jobs for player in (job.first, job.second)}.values()
        for name, value in player.parameters
        if BY_NAME[name].kind == "weights"
    }
    return tuple(find_weights(value) for value in sorted(values) if not _is_shipped(value))


def _is_shipped(value: str) -> bool:
    name, digest = name_and_digest(value)
    if is_provided(digest):
        return False
    return find_config("weights", name).parent == shipped_folder() / "weights"
