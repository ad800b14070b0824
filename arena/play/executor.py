"""Plays games concurrently and yields their records as games end.

``Runner`` is the interface that runs use. ``GameRunner`` plays in threads of this process, ``arena.cluster`` on other
machines.

Games between two built-in players run entirely in compiled code without Python's global lock, so that threads use all
processors. Other games, and games with pondering, are played by ``arena.play.game.play_game``.
"""

from __future__ import annotations

import functools
import gc
import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass
from importlib import import_module
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from elolab.arena.play.estimates import duration_text
from elolab.arena.players.interruption import Pauses
from elolab.arena.players.processors import OFF, ProcessorPool, Processors, pin_thread, shares, wake_soon
from elolab.arena.records import (
    DialogueSoFar,
    FinishedGame,
    GameJob,
    GameRecord,
    GameSoFar,
    MoveRecord,
    PlayerSpec,
    RunningGame,
    exact_score_detail,
    no_dialogue,
    no_moves,
    utc_now,
)
from elolab.engine.language import console

if TYPE_CHECKING:
    from typing import Self

    from elolab.arena.play.dialogue_log import DialogueLog
    from elolab.arena.play.game import GameInProgress
    from elolab.arena.players.player import Player
    from elolab.engine.engine import StopFlag
    from elolab.engine.play import PlayedMoves
    from elolab.engine.search_statistics import SearchStatisticsSettings

    KeptPlayers = dict[tuple[PlayerSpec, SearchStatisticsSettings | None], Player]

WHAT_PLAYS = (
    "elolab.arena.play.game", "elolab.arena.players.detect", "elolab.arena.players.process",
    "elolab.arena.players.registry", "elolab.engine.compiled.identity", "elolab.engine.play",
)  # fmt: skip
"""Modules that game threads need; they are imported before the threads start."""
TICK_SECONDS = 0.5
"""Seconds between calls of ``tick`` while no game ends."""
STOPPING_SECONDS = 3.0
"""Seconds that running games have to end after the stop flag is set."""
TOGETHER_SECONDS = 0.02
"""Seconds for which finished games are collected and then yielded together, because storing many at once is faster.

If the process is killed, at most these games and the running games are lost.
"""
TOGETHER_SHARE = 0.3
"""After a long game, finished games are collected for this share of its duration, at most ``MAX_TOGETHER_SECONDS``.

A game is long if this share exceeds ``TOGETHER_SECONDS``. Games are collected for so long only while a further game
waits for each thread, so that no thread is idle.
"""
MAX_TOGETHER_SECONDS = 0.5
GARBAGE_OBJECTS = 50_000
"""Number of new objects after which garbage is collected, in the whole process, while a ``GameRunner`` is open.

Games leave few cycles of references, and each collection costs as much time as a move. Other code of the process that
leaves many cycles may need more memory meanwhile.
"""
MAX_REPLAYS = 2
"""Maximum number of replays of a game in which elolab read a move late; then the least disturbed record counts."""
REPLAYED_SHARE = 0.1
"""Maximum share of games that are replayed because elolab read a move late.

Without a maximum, an overloaded machine would replay nearly all games.
"""


@dataclass(eq=False)
class _Task:
    """A game to play: waiting, in progress, or ended."""

    job: GameJob
    prepared: GameInProgress | None = None
    """The game as prepared for the thread that will play it (``GameInProgress.successor``); ``None`` if unprepared."""
    began: float = 0.0
    """Time at which the game began (``time.monotonic``)."""
    pauses: int = 0
    """Number of pauses of the process, such as by Ctrl-Z, before the game began."""
    read_moves: Callable[[], GameSoFar] = no_moves
    read_dialogue: Callable[[], DialogueSoFar] = no_dialogue
    game: FinishedGame | None = None
    """The game after its end; ``None`` if it was not finished."""
    thread: _GameThread | None = None
    """The thread that has played the prepared game in compiled code, until the result is read; otherwise ``None``."""
    error: BaseException | None = None
    """The exception that ended the game; ``None`` without one."""

    def follow(
        self, read_moves: Callable[[], GameSoFar], read_dialogue: Callable[[], DialogueSoFar] = no_dialogue
    ) -> None:
        """Set the functions that read the moves so far and the dialogues."""
        self.read_moves, self.read_dialogue = read_moves, read_dialogue

    def complete(self) -> _Task:
        """Set ``game`` to the result of a prepared game that has ended; raises the exception that ended it, if any.

        Reading the results of several games in a row, on one thread, is faster than reading each on its own thread.
        """
        if self.error is not None:
            raise self.error
        if self.thread is not None and self.prepared is not None:
            self.thread.take_results()
            self.game, self.thread = self.prepared.completed(), None
        return self

    @functools.cached_property
    def record(self) -> GameRecord | None:
        """The game's record, created on first use; ``None`` if the game was not finished.

        Creating several records in a row, on the thread that stores them, is faster than one on each game's thread.
        """
        return None if self.game is None else self.game.record()


class _GameThread:
    """A thread that plays games, with the players and the compiled code that it keeps from game to game."""

    def __init__(self) -> None:
        self.task: _Task | None = None
        """The game in progress."""
        self.game: GameInProgress | None = None
        """The game with programs in progress, after which this thread plays ``following``."""
        self.following: deque[_Task] = deque()
        """The game that has been prepared to be played next, if any."""
        self.players: KeptPlayers = {}
        self.tables: dict[str, Any] = {}
        """Compiled code for games between built-in players, by name of the game."""
        self.processors: Processors = frozenset()
        """The processors of the last game."""
        self.is_in_compiled_code: bool = False
        """Whether compiled code has played the last game to its end, so that a prepared game can start."""
        self._played: deque[GameInProgress] = deque()
        """Games that compiled code has played to their ends and whose results have not been read."""
        self._lock = threading.Lock()

    def next_task(self) -> _Task | None:
        """Remove and return the prepared game; ``None`` if there is none. Only this thread calls this.

        Afterwards, ``prepare`` accepts no game until one has started.
        """
        self.game = None  # from now on no other game is prepared
        return self.withdraw()

    def withdraw(self) -> _Task | None:
        """Remove and return the prepared game; ``None`` if there is none. Any thread may call this."""
        try:
            return self.following.popleft()
        except IndexError:
            return None

    def prepare(self, task: _Task) -> bool:
        """Prepare a game to be played next by this thread; called by another thread.

        Returns false if the game in progress has ended, or if compiled code cannot play ``task`` after it.
        """
        game = self.game
        prepared = None if game is None else game.successor(task.job)
        if prepared is None:
            return False
        task.prepared = prepared
        task.follow(prepared.read_moves, prepared.read_dialogue)
        self.following.append(task)
        # The thread may have ended its game meanwhile, without taking the prepared one.
        if self.game is None and self.withdraw() is not None:
            task.prepared = None
            return False
        return True

    def start(self, task: _Task) -> bool:
        """Play a prepared game in compiled code; returns whether the game has ended.

        If it has not, the caller continues it in Python. If the game's players have changed since its preparation, the
        preparation is dropped and no move is played.
        """
        game = task.prepared
        assert game is not None
        if not (self.is_in_compiled_code or game.can_start):
            task.prepared = None
            return False
        self.game = game
        self.is_in_compiled_code = game.start()
        if self.is_in_compiled_code:
            task.thread = self
            self._played.append(game)
        return self.is_in_compiled_code

    def take_results(self) -> None:
        """Read the results of games that compiled code has played. Any thread may call this.

        The players may play in Python only after this.
        """
        with self._lock:
            while self._played:
                self._played.popleft().take()


class Runner(ABC):
    """Plays games in this process or on other machines. Use it as a context manager, or ``close`` it."""

    unavailable: dict[str, str]
    """Reason for each player that could not be started, by player name; its games are skipped."""

    def __init__(self, stop: StopFlag) -> None:
        self._stop = stop
        self.unavailable = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *exception: object) -> None:
        if kind is not None:
            self._stop.set()
        self.close()

    @property
    @abstractmethod
    def concurrency(self) -> int:
        """Current number of simultaneous games."""

    @abstractmethod
    def close(self) -> None:
        """End the processes of all players; no games can be played afterwards."""

    @abstractmethod
    def release_players(self) -> None:
        """End the processes of all players; later games start them again."""

    @abstractmethod
    def batches(
        self, jobs: Iterable[GameJob | None], enough: Callable[[], bool] = lambda: False
    ) -> Iterator[list[GameRecord]]:
        """Play the jobs and yield lists of records of games that ended together.

        ``jobs`` is read shortly before the games start. It may yield ``None`` if the next job depends on a running
        game; it is then read again after a game ends. Setting the stop flag abandons running games, which can be played
        again. Once ``enough`` returns true, running games finish and are yielded, and no others start. Games of
        ``unavailable`` players are not yielded.
        """

    def run(self, jobs: Iterable[GameJob | None], enough: Callable[[], bool] = lambda: False) -> Iterator[GameRecord]:
        """Play the jobs as ``batches`` does, and yield the records one by one."""
        with closing(self.batches(jobs, enough)) as batches:  # type: ignore[type-var]
            for batch in batches:
                yield from batch

    @abstractmethod
    def running(self) -> list[RunningGame]:
        """Games in progress, in schedule order."""

    def waiting(self) -> str:
        """Text that explains why no game has ended yet, in the console's language; empty if no game is running."""
        games = self.running()
        if not games:
            return ""
        job, seconds = games[0].job, games[0].seconds
        key = "progress.first_compiled" if _is_compiled(job) else "progress.first_started"
        return console("elolab.arena")(key, time=duration_text(seconds))

    def workers(self) -> list[dict[str, Any]]:
        """Workers on other machines as data for ``live.json``; empty if this process plays all games."""
        return []

    def refused(self) -> dict[str, str]:
        """Reasons why workers get no games, by worker name."""
        return {}


class GameRunner(Runner):
    """Plays games in ``concurrency`` threads, which keep compiled code and players' processes for several games.

    Between two programs that compiled code can play (``arena.protocols.compiled_moves``), a thread does little more
    than call that code. The thread that calls ``batches`` prepares each game, and reads its result, for several games
    in a row: Python is much faster if its code and data are still in the processor's cache. Short games are not
    prepared, because threads would have to wait for the preparation.

    Until ``close``, Python collects garbage less often in the whole process (``GARBAGE_OBJECTS``).
    """

    def __init__(
        self,
        concurrency: int,
        stop: StopFlag,
        *,
        tick: Callable[[], None] | None = None,
        affinity: str = OFF,
        warn: Callable[[str], None] = lambda text: None,
        pauses: Pauses | None = None,
        log: DialogueLog | None = None,
    ) -> None:
        """``tick`` is called periodically; ``warn`` is called with warnings and may be called on any thread.

        A game on the clock during which one of the ``pauses`` happened is replayed, because its clocks kept running.
        ``affinity`` is as in ``arena.players.processors``; an invalid value raises ``AffinityError``. ``log`` stores
        the dialogues with external players; ``None`` stores none.
        """
        assert concurrency >= 1
        super().__init__(stop)
        self._processors = ProcessorPool(shares(affinity, concurrency))
        self._warn = warn
        self._log = log
        self._pauses = pauses or Pauses()
        self._pauses_reported = self._pauses.count
        self._disturbed: dict[str, list[GameRecord]] = {}
        """Earlier records of games that are replayed because elolab read a move late, by game key."""
        self._ended = self._replayed = 0
        """Number of games that have ended, and number of replays because elolab read a move late."""
        self._concurrency = concurrency
        self._tick = tick
        self._enough: Callable[[], bool] = bool
        self._pool = ThreadPoolExecutor(concurrency, "game")
        self._waiting: deque[_Task] = deque()
        """Games that wait for any thread."""
        self._ended_tasks: SimpleQueue[_Task] = SimpleQueue()
        self._slots = threading.Semaphore(concurrency)
        self._door = threading.Lock()
        self._local = threading.local()
        self._lock = threading.Lock()
        self._threads: list[_GameThread] = []
        self._players: list[Player] = []
        """Players of all threads."""
        self._leave_at = 0.0
        """Time (``time.monotonic``) at which running games are abandoned; 0 until the stop flag is seen."""
        self._has_left: bool = False
        """Whether threads that did not end in time were abandoned."""
        _import_what_plays()
        gc.freeze()  # otherwise each full garbage collection visits all modules while games wait
        self._thresholds = gc.get_threshold()
        gc.set_threshold(GARBAGE_OBJECTS, *self._thresholds[1:])

    @property
    def concurrency(self) -> int:
        """Number of simultaneous games, as given at construction."""
        return self._concurrency

    def close(self) -> None:
        """Wait for running games, then end the processes of all players."""
        self._drop_waiting()
        self._pool.shutdown(wait=not self._has_left, cancel_futures=True)
        self._close_players()
        gc.unfreeze()
        gc.set_threshold(*self._thresholds)

    def release_players(self) -> None:
        """End the processes of all players; later games start them again."""
        self.close()
        self._pool = ThreadPoolExecutor(self.concurrency, "game")
        self._local = threading.local()
        self._threads.clear()

    def _close_players(self) -> None:
        from elolab.arena.players.threads import start_thread

        closing = [start_thread(player.close) for player in self._players]
        if self._has_left and wait(closing, STOPPING_SECONDS).not_done:  # a game's thread hangs
            return
        for future in closing:
            future.result()
        self._players.clear()

    def running(self) -> list[RunningGame]:
        """Games in progress, in schedule order."""
        now = time.monotonic()
        tasks = [thread.task for thread in self._threads]  # by thread, because a game may be in progress twice
        games = [
            RunningGame(task.job, now - task.began, task.read_moves, read_dialogue=task.read_dialogue)
            for task in tasks
            if task is not None
        ]
        return sorted(games, key=lambda game: game.job.pairing.place)

    def batches(
        self, jobs: Iterable[GameJob | None], enough: Callable[[], bool] = lambda: False
    ) -> Iterator[list[GameRecord]]:
        """Play the jobs; see ``Runner.batches``. At most ``concurrency`` games run at a time; as many more are queued.

        Once the stop flag is set, only finished games are yielded. Games with a fault are dropped then, because the
        shutdown may have caused the fault.
        """
        self._enough = enough
        source = iter(jobs)
        pending: set[_Task] = set()
        are_long = False

        def submit(job: GameJob) -> None:
            task = _Task(job)
            pending.add(task)
            self._wait_for_thread(task)

        records: list[GameRecord] = []
        due = time.monotonic()
        try:
            while True:
                while len(pending) < 2 * self.concurrency and (job := self._next_job(source)) is not None:
                    submit(job)
                if len(pending) < 2 * self.concurrency:
                    self._share_prepared()
                elif are_long:
                    self._prepare_waiting()
                patience = due - time.monotonic()
                # If no more games can start, the next job may depend on finished ones.
                if records and (patience <= 0 or len(pending) < 2 * self.concurrency):
                    yield records
                    records, due = [], time.monotonic() + TOGETHER_SECONDS
                    continue
                if not pending:
                    return
                finished = self._taken(pending, min(patience, TICK_SECONDS) if records else TICK_SECONDS)
                queue_is_full = len(pending) == 2 * self.concurrency
                seconds = _together_seconds(finished[0].complete()) if finished else 0.0
                are_long = seconds > 0 if finished else are_long
                if queue_is_full and seconds:
                    time.sleep(seconds)
                    finished += self._taken(pending, 0)
                if not finished and not records and self._must_leave():
                    return
                pending.difference_update(finished)
                for task in finished:
                    task.complete()
                    if self._is_disturbed(task):
                        self._tell_of_pause()
                        submit(task.job)
                    elif task.record is not None and not self._is_void(task.record):
                        record = self._least_disturbed(task.record)
                        if record is None:
                            submit(task.job)
                        else:
                            records.append(record)
                if self._tick is not None:
                    self._tick()
        except GeneratorExit:  # the caller has enough games: running ones may end
            self._wait_for(pending)
            raise
        except BaseException:
            self._stop.set()
            self._wait_for(pending)
            raise

    def _wait_for_thread(self, task: _Task) -> None:
        """Queue a game, which the next free thread will play."""
        self._waiting.append(task)
        self._pool.submit(self._serve)

    def _prepare_waiting(self) -> None:
        """Prepare waiting games for threads whose players can play them next.

        The oldest game comes first, and no other game overtakes it, so that it cannot wait for ever.
        """
        threads = [thread for thread in self._threads if thread.game is not None and not thread.following]
        while threads and self._waiting:
            with suppress(IndexError):
                task = self._waiting.popleft()
                thread = next((thread for thread in threads if thread.prepare(task)), None)
                if thread is None:
                    self._waiting.appendleft(task)
                    self._pool.submit(self._serve)
                    return
                threads.remove(thread)

    def _share_prepared(self) -> None:
        """Let free threads play games that have been prepared for threads that are busy."""
        free = self.concurrency - len(self._waiting) - sum(thread.task is not None for thread in self._threads)
        for thread in self._threads:
            if free > 0 and (task := thread.withdraw()) is not None:
                task.prepared, free = None, free - 1
                self._wait_for_thread(task)

    def _taken(self, pending: set[_Task], seconds: float) -> list[_Task]:
        """Wait at most ``seconds`` until a task of ``pending`` has ended; returns all that have ended, perhaps none."""
        taken: list[_Task] = []
        with suppress(Empty):
            taken.append(self._ended_tasks.get(timeout=max(0.0, seconds)))
            while True:
                taken.append(self._ended_tasks.get_nowait())
        return [task for task in taken if task in pending]

    def _drop_waiting(self) -> set[_Task]:
        """Remove and return the games that have not begun."""
        dropped = {task for thread in self._threads if (task := thread.withdraw()) is not None}
        with suppress(IndexError):
            while True:
                dropped.add(self._waiting.popleft())
        return dropped

    def _wait_for(self, pending: set[_Task]) -> None:
        """Drop waiting games, and wait for the end of running games, at most until ``_must_leave`` returns true."""
        left = pending - self._drop_waiting()
        while left and not self._must_leave():
            left.difference_update(self._taken(left, TICK_SECONDS))

    def _must_leave(self) -> bool:
        """Whether running games must be abandoned, ``STOPPING_SECONDS`` after the stop flag was first seen.

        A game that has not ended by then hangs, or waits up to a minute for code to be compiled. The game's thread
        keeps this process alive. A command exits nevertheless (``arena.players.interruption``).
        """
        if not self._stop.is_set():
            return False
        self._leave_at = self._leave_at or time.monotonic() + STOPPING_SECONDS
        if time.monotonic() < self._leave_at:
            return False
        self._drop_waiting()
        self._has_left = True
        return True

    def _is_void(self, record: GameRecord) -> bool:
        """Whether to discard a game: a player could not be started, or the run's shutdown may have caused a fault.

        On shutdown of the machine or of a batch job, the players' processes may end before this one.
        """
        return record.reason == "startup_failure" or ("fault" in record.detail and self._stop.is_set())

    def _is_disturbed(self, task: _Task) -> bool:
        """Whether a pause of the process may have influenced the game."""
        if task.record is None or task.pauses == self._pauses.count:
            return False
        players = (task.job.first, task.job.second)
        on_clock = any(player.limits.is_timed and player.limits.clock_kind == "wall" for player in players)
        return on_clock or task.job.thinks_on_both_sides or task.record.reason in ("no_answer", "startup_failure")

    def _least_disturbed(self, record: GameRecord) -> GameRecord | None:
        """The record to keep of a game; ``None`` if the game will be replayed, because elolab read a move late.

        After the last replay, returns the record in which elolab was least late.
        """
        self._ended += 1
        if "disturbed" not in record.detail and record.key not in self._disturbed:
            return record
        tries = self._disturbed.setdefault(record.key, [])
        tries.append(record)
        may_replay = self._replayed <= REPLAYED_SHARE * self._ended and not self._stop.is_set()
        if "disturbed" in record.detail and len(tries) <= MAX_REPLAYS and may_replay:
            if not self._replayed:
                self._warn(console("elolab.arena")("progress.disturbed"))
            self._replayed += 1
            return None
        return min(self._disturbed.pop(record.key), key=_lateness_ms)

    def _tell_of_pause(self) -> None:
        if self._pauses_reported != self._pauses.count:
            self._pauses_reported = self._pauses.count
            self._warn(console("elolab.arena")("progress.paused"))

    def _next_job(self, source: Iterator[GameJob | None]) -> GameJob | None:
        """The next job to start; ``None`` if no game may start now."""
        return None if self._stop.is_set() or self._enough() else next(source, None)

    def _serve(self) -> None:
        """Play the oldest waiting game on this thread, then the games that have been prepared for this thread."""
        thread: _GameThread | None = self._local.__dict__.get("thread")
        if thread is None:
            thread = self._local.thread = _GameThread()
            self._threads.append(thread)
        try:
            first = self._waiting.popleft()
        except IndexError:  # the game has been prepared for another thread
            return
        with self._occupied_slots(first.job, thread) as processors:
            task: _Task | None = first
            while task is not None:
                self._play(task, thread, processors)
                self._ended_tasks.put(task)
                task = thread.next_task()

    def _play(self, task: _Task, thread: _GameThread, processors: Processors) -> None:
        """Play a game, unless the run ends; ``task`` gets the result or the exception."""
        try:
            if not (self._stop.is_set() or self._enough()):
                task.pauses, task.began = self._pauses.count, time.monotonic()
                thread.task = task
                if task.prepared is None or not thread.start(task):
                    self._play_in_python(task, thread, processors)
        except BaseException as error:  # raised again on the thread that called ``batches``
            task.error = error
        finally:
            thread.task = None

    def _play_in_python(self, task: _Task, thread: _GameThread, processors: Processors) -> None:
        job = task.job
        if task.prepared is None and {job.first.name, job.second.name} & self.unavailable.keys():
            return
        thread.is_in_compiled_code = False
        if _is_compiled(job):
            if processors:
                pin_thread(processors)
            task.game = self._play_compiled(task, thread)
        else:
            task.game = self._play_with_players(task, thread, processors)
        if task.game is None or task.game.reason != "startup_failure" or self._stop.is_set():
            return
        if task.record is not None and not self._is_disturbed(task):
            self._mark_unavailable(job, task.record.detail)

    @contextmanager
    def _occupied_slots(self, job: GameJob, thread: _GameThread) -> Iterator[Processors]:
        """Context manager that takes one of the ``concurrency`` slots, or two if both sides may think at the same time.

        The context gives the processors for the game, or none if the operating system assigns them.
        """
        needed = self._slots_of(job)
        with self._door:  # one at a time: a game that needs two slots must not starve behind games that need one
            for _ in range(needed):
                self._slots.acquire()
        try:
            with self._processors.taken(needed, thread.processors) as processors:
                thread.processors = processors
                yield processors
        finally:
            self._slots.release(needed)

    def _slots_of(self, job: GameJob) -> int:
        """Number of ``concurrency`` slots that a game takes: 2 if both sides may think at the same time, else 1."""
        return min(2 if job.thinks_on_both_sides else 1, self.concurrency)

    def _play_compiled(self, task: _Task, thread: _GameThread) -> FinishedGame | None:
        from elolab.engine.compiled.identity import engine_identity
        from elolab.engine.play import CompiledGames, PlayedMoves, PlayerSettings

        job, played = task.job, PlayedMoves(task.job.game)
        task.follow(lambda: _so_far(played))
        started_at, started = utc_now(), time.perf_counter()
        if job.game not in thread.tables:
            thread.tables[job.game] = CompiledGames(job.game)
        game = thread.tables[job.game].play(
            job.opening.position,
            job.opening.moves,
            PlayerSettings(dict(job.first.parameters), job.first.limits, job.first.margin_ms),
            PlayerSettings(dict(job.second.parameters), job.second.limits, job.second.margin_ms),
            job.rules,
            job.adjudication,
            self._stop,
            job.search_statistics,
            played,
        )
        if game.reason == "stopped":
            return None
        timing: dict[str, Any] = {} if game.late is None else {"late_move": asdict(game.late)}
        if game.overruns is not None:
            timing["overruns"] = [asdict(side) for side in game.overruns]
        record = GameRecord(
            key=job.key,
            pairing=job.pairing,
            first=job.first.name,
            second=job.second.name,
            opening=job.opening,
            moves=tuple(map(MoveRecord, game.moves, game.scores, game.depths, game.nodes, game.times_ms)),
            result=game.result,
            reason=game.reason,
            engine_identity=engine_identity(),
            started_at=started_at,
            duration_ms=round(1000 * (time.perf_counter() - started), 3),
            final_position=game.final_position,
            detail=exact_score_detail(game.exact_score) | timing,
            search_statistics=game.search_statistics,
        )
        return FinishedGame(record.reason, record.duration_ms, lambda: record)

    def _play_with_players(self, task: _Task, thread: _GameThread, processors: Processors) -> FinishedGame | None:
        from elolab.arena.play.game import GameInProgress, finish_game

        job, game = task.job, task.prepared
        thread.take_results()
        if game is None:
            if not (job.first.is_builtin or job.second.is_builtin):
                wake_soon()
            players = self._players_of(job, thread.players)
            if processors:
                for player in players:
                    player.pin(processors)
            game = thread.game = GameInProgress(job, self._stop, players)
        finished = finish_game(game, task.follow)
        return None if finished.reason == "stopped" else finished

    def _mark_unavailable(self, job: GameJob, detail: Mapping[str, Any]) -> None:
        """Record why a player could not be started; ``detail`` is from the record of the failed game.

        The first time, also test which protocol the player's program really uses, and add that to the reason.
        """
        from elolab.arena.players.detect import other_protocol

        fault = detail["fault"]
        with self._lock:
            is_new = fault["player"] not in self.unavailable
            self.unavailable.setdefault(fault["player"], fault["text"])
        if is_new and "dialogue" in detail and not self._stop.is_set():
            words = other_protocol((job.first, job.second)[fault["side"]])
            if words:
                with self._lock:
                    self.unavailable[fault["player"]] = f"{fault['text']}; {words}"

    def _players_of(self, job: GameJob, kept: KeptPlayers) -> tuple[Player, Player]:
        """The players for a job. Players in ``kept`` that the job does not need are closed, the others reused.

        ``kept`` holds the players of the thread's last game; on return, it holds the new game's players.
        """
        from elolab.arena.players.registry import make_player

        wanted = [(spec, job.search_statistics) for spec in (job.first, job.second)]
        for key in [key for key in kept if key not in wanted]:
            player = kept.pop(key)
            with self._lock:
                self._players.remove(player)
            player.close()
        for key in wanted:
            if key not in kept:
                kept[key] = make_player(key[0], job.game, job.search_statistics)
                with self._lock:
                    self._players.append(kept[key])
                if self._log is not None and not key[0].is_builtin:
                    kept[key].log_dialogue = self._log.begin  # type: ignore[attr-defined]
        return kept[wanted[0]], kept[wanted[1]]


def _is_compiled(job: GameJob) -> bool:
    """Whether compiled code plays the whole game, between two built-in players."""
    return all(player.is_builtin and not player.ponder for player in (job.first, job.second))


def _together_seconds(task: _Task) -> float:
    """Seconds for which to collect games after ``task`` has ended."""
    seconds = 0.0 if task.game is None else TOGETHER_SHARE * task.game.duration_ms / 1000
    return 0.0 if seconds < TOGETHER_SECONDS else min(seconds, MAX_TOGETHER_SECONDS)


def _so_far(played: PlayedMoves) -> GameSoFar:
    """The moves so far of a game that compiled code plays."""
    moves, scores = played.read()
    depths, nodes, times_ns = (
        getattr(played.record, name)[: len(moves)].tolist() for name in ("depths", "nodes", "times_ns")
    )
    return GameSoFar(moves, scores, depths, nodes, [time_ns / 1e6 for time_ns in times_ns])


def _lateness_ms(record: GameRecord) -> float:
    """Largest lateness of elolab in reading a move of the game, in milliseconds; 0 if no move was disturbed."""
    return float(record.detail.get("disturbed", {}).get("worst_ms", 0))


def _import_what_plays() -> None:
    """Import the modules that games need, because concurrent first imports in threads may deadlock."""
    for name in WHAT_PLAYS:
        import_module(name)
    from elolab.engine.compiled.exchange import load_exchange

    load_exchange()
