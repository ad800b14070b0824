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
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
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
"""Time that running games have to end after the stop flag is set, in seconds."""
TOGETHER_SECONDS = 0.02
"""Time for which finished games are collected to be yielded together, because storing each one alone costs more.

If the process is killed, at most these games and the running games are lost.
"""
TOGETHER_SHARE = 0.3
"""Share of a game's duration for which finished games are collected, if this is at least ``TOGETHER_SECONDS``.

Other games are queued, so that no thread waits meanwhile.
"""
MAX_TOGETHER_SECONDS = 0.5
GARBAGE_OBJECTS = 50_000
"""Number of new objects after which garbage is collected while games are played.

Games leave few cycles of references, and each collection costs as much time as a move.
"""
MAX_REPLAYS = 2
"""Maximum number of replays of a game in which elolab read a move late; then the least disturbed record is kept."""
REPLAYED_SHARE = 0.1
"""Maximum share of games that are replayed because elolab read a move late; it protects overloaded machines."""


@dataclass
class _Running:
    """A game that a thread is playing."""

    job: GameJob
    began: float
    """Time at which the game began (``time.monotonic``)."""
    read_moves: Callable[[], GameSoFar] = no_moves
    read_dialogue: Callable[[], DialogueSoFar] = no_dialogue

    def follow(
        self, read_moves: Callable[[], GameSoFar], read_dialogue: Callable[[], DialogueSoFar] = no_dialogue
    ) -> None:
        """Set the functions that read the moves so far and the dialogues."""
        self.read_moves, self.read_dialogue = read_moves, read_dialogue


@dataclass(frozen=True)
class _Played:
    """The result of playing a job."""

    job: GameJob
    game: FinishedGame | None
    """The game; ``None`` if it was not finished."""
    pauses: int
    """Number of pauses of the process, such as by Ctrl-Z, before the game began."""

    @functools.cached_property
    def record(self) -> GameRecord | None:
        """The game's record, created on first use.

        It is fastest to create it on the thread that stores it, one record after another.
        """
        return None if self.game is None else self.game.record()


class Runner(ABC):
    """Plays jobs in this process or on other machines. Use it as a context manager, or ``close`` it."""

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
    """Plays jobs in ``concurrency`` threads, which keep compiled code and players' processes for several games."""

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
        the dialogues with external players.
        """
        assert concurrency >= 1
        super().__init__(stop)
        self._processors = ProcessorPool(shares(affinity, concurrency))
        self._warn = warn
        self._log = log
        self._pauses = pauses or Pauses()
        self._pauses_told = self._pauses.count
        self._disturbed: dict[str, list[GameRecord]] = {}
        """Records of games in which elolab read a move late and that are being replayed, by game key."""
        self._ended = self._replayed = 0
        """Number of games that have ended, and number of replays because elolab read a move late."""
        self._concurrency = concurrency
        self._tick = tick
        self._enough: Callable[[], bool] = bool
        self._pool = ThreadPoolExecutor(concurrency, "game")
        self._slots = threading.Semaphore(concurrency)
        self._door = threading.Lock()
        self._local = threading.local()
        self._lock = threading.Lock()
        self._running: dict[int, _Running] = {}
        """Running games by thread, not by key, because a game may be in progress twice."""
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
        self._pool.shutdown(wait=not self._has_left, cancel_futures=True)
        self._close_players()
        gc.unfreeze()
        gc.set_threshold(*self._thresholds)

    def release_players(self) -> None:
        """End the processes of all players; later games start them again."""
        self.close()
        self._pool = ThreadPoolExecutor(self.concurrency, "game")
        self._local = threading.local()

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
        with self._lock:
            games = [
                RunningGame(game.job, now - game.began, game.read_moves, read_dialogue=game.read_dialogue)
                for game in self._running.values()
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
        pending: set[Future[_Played]] = set()
        ended: SimpleQueue[Future[_Played]] = SimpleQueue()  # waiting for all pending futures would take time for each

        def submit(job: GameJob) -> None:
            # Until a game has ended, code may have to be compiled, for which this thread does not wait.
            game = self._prepared(job) if self._ended and not _is_compiled(job) else None
            future = self._pool.submit(self._play, job, game)
            pending.add(future)
            future.add_done_callback(ended.put)

        records: list[GameRecord] = []
        due = time.monotonic()
        try:
            while True:
                while len(pending) < 2 * self.concurrency and (job := self._next_job(source)) is not None:
                    submit(job)
                patience = due - time.monotonic()
                # If no more games can start, the next job may depend on finished ones.
                if records and (patience <= 0 or len(pending) < 2 * self.concurrency):
                    yield records
                    records, due = [], time.monotonic() + TOGETHER_SECONDS
                    continue
                if not pending:
                    return
                finished = _taken(ended, min(patience, TICK_SECONDS) if records else TICK_SECONDS)
                queue_is_full = len(pending) == 2 * self.concurrency
                if finished and queue_is_full and (seconds := _together_seconds(finished[0].result())):
                    time.sleep(seconds)
                    finished += _taken(ended, 0)
                if not finished and not records and self._must_leave(pending):
                    return
                pending.difference_update(finished)
                for future in finished:
                    played = future.result()
                    if self._is_disturbed(played):
                        self._tell_of_pause()
                        submit(played.job)
                    elif played.record is not None and not self._is_void(played.record):
                        record = self._least_disturbed(played.record)
                        if record is None:
                            submit(played.job)
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

    def _wait_for(self, pending: Iterable[Future[_Played]]) -> None:
        """Cancel queued games and wait for running games until ``_must_leave`` returns true."""
        left = [future for future in pending if not future.cancel()]
        while left and not self._must_leave(left):
            wait(left, TICK_SECONDS)
            left = [future for future in left if not future.done()]

    def _must_leave(self, pending: Iterable[Future[_Played]]) -> bool:
        """Whether the time limit since the stop flag is over; the remaining games are then abandoned.

        Such a game waits for code to be compiled, which takes up to a minute, or hangs. Its thread keeps this process
        alive, except in a command, which exits nevertheless (``arena.players.interruption``).
        """
        if not self._stop.is_set():
            return False
        self._leave_at = self._leave_at or time.monotonic() + STOPPING_SECONDS
        if time.monotonic() < self._leave_at:
            return False
        for future in pending:
            future.cancel()
        self._has_left = True
        return True

    def _is_void(self, record: GameRecord) -> bool:
        """Whether to discard a game: a player could not be started, or the run's shutdown may have caused a fault.

        On shutdown of the machine or of a batch job, the players' processes may end before this one.
        """
        return record.reason == "startup_failure" or ("fault" in record.detail and self._stop.is_set())

    def _is_disturbed(self, played: _Played) -> bool:
        """Whether a pause of the process may have influenced the game."""
        if played.record is None or played.pauses == self._pauses.count:
            return False
        players = (played.job.first, played.job.second)
        on_clock = any(player.limits.is_timed and player.limits.clock_kind == "wall" for player in players)
        return on_clock or played.job.thinks_on_both_sides or played.record.reason in ("no_answer", "startup_failure")

    def _least_disturbed(self, record: GameRecord) -> GameRecord | None:
        """The record of a game to keep; ``None`` if elolab read a move late, so that the game will be replayed."""
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
        if self._pauses_told != self._pauses.count:
            self._pauses_told = self._pauses.count
            self._warn(console("elolab.arena")("progress.paused"))

    def _next_job(self, source: Iterator[GameJob | None]) -> GameJob | None:
        """The next job to start; ``None`` if no game may start now."""
        return None if self._stop.is_set() or self._enough() else next(source, None)

    def _prepared(self, job: GameJob) -> GameInProgress:
        """A game for ``_play_with_players``, prepared on any thread."""
        from elolab.arena.play.game import GameInProgress

        return GameInProgress(job, self._stop)

    def _play(self, job: GameJob, game: GameInProgress | None) -> _Played:
        pauses = self._pauses.count
        played = _Played(job, self._game_of(job, game), pauses)
        if played.game is None or played.game.reason != "startup_failure" or self._stop.is_set():
            return played
        if played.record is not None and not self._is_disturbed(played):
            self._mark_unavailable(job, played.record.detail)
        return played

    def _game_of(self, job: GameJob, game: GameInProgress | None) -> FinishedGame | None:
        if self._stop.is_set() or {job.first.name, job.second.name} & self.unavailable.keys():
            return None
        with self._occupied_slots(job) as processors:
            if self._stop.is_set() or self._enough():
                return None
            thread, running = threading.get_ident(), _Running(job, time.monotonic())
            with self._lock:
                self._running[thread] = running
            try:
                if _is_compiled(job):
                    if processors:
                        pin_thread(processors)
                    return self._play_compiled(running)
                return self._play_with_players(running, processors, game or self._prepared(job))
            finally:
                with self._lock:
                    del self._running[thread]

    @contextmanager
    def _occupied_slots(self, job: GameJob) -> Iterator[Processors]:
        """Context manager that takes one of the ``concurrency`` slots, or two if both sides may think at the same time.

        It gives the processors for the game; empty if the operating system assigns them.
        """
        needed = self._slots_of(job)
        with self._door:  # one at a time: a game that needs two slots must not starve behind games that need one
            for _ in range(needed):
                self._slots.acquire()
        before: Processors = self._local.__dict__.get("processors", frozenset())
        try:
            with self._processors.taken(needed, before) as processors:
                self._local.processors = processors
                yield processors
        finally:
            self._slots.release(needed)

    def _slots_of(self, job: GameJob) -> int:
        """Number of slots that a game takes."""
        return min(2 if job.thinks_on_both_sides else 1, self.concurrency)

    def _play_compiled(self, running: _Running) -> FinishedGame | None:
        from elolab.engine.compiled.identity import engine_identity
        from elolab.engine.play import PlayedMoves, PlayerSettings

        job, played = running.job, PlayedMoves(running.job.game)
        running.follow(lambda: _so_far(played))
        started_at, started = utc_now(), time.perf_counter()
        game = self._compiled_games(job.game).play(
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

    def _compiled_games(self, game: str) -> Any:
        """This thread's compiled code for games between built-in players of a game, created on first use."""
        from elolab.engine.play import CompiledGames

        tables = self._local.__dict__.setdefault("tables", {})
        if game not in tables:
            tables[game] = CompiledGames(game)
        return tables[game]

    def _play_with_players(
        self, running: _Running, processors: Processors, game: GameInProgress
    ) -> FinishedGame | None:
        from elolab.arena.play.game import finish_game

        if not (running.job.first.is_builtin or running.job.second.is_builtin):
            wake_soon()
        players = self._players_of(running.job, self._kept_players())
        if processors:
            for player in players:
                player.pin(processors)
        finished = finish_game(game, players, running.follow)
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

    def _kept_players(self) -> KeptPlayers:
        """The players that this thread keeps between games."""
        kept: KeptPlayers = self._local.__dict__.setdefault("players", {})
        return kept

    def _players_of(self, job: GameJob, kept: KeptPlayers) -> tuple[Player, Player]:
        """The players for a job; players of the thread's last game are reused if they fit and closed otherwise."""
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


def _taken(ended: SimpleQueue[Future[_Played]], seconds: float) -> list[Future[_Played]]:
    """Games that have ended; waits at most ``seconds`` for the first one. Empty if none ends in that time."""
    taken: list[Future[_Played]] = []
    with suppress(Empty):
        taken.append(ended.get(timeout=max(0.0, seconds)))
        while True:
            taken.append(ended.get_nowait())
    return taken


def _together_seconds(played: _Played) -> float:
    """Seconds for which to collect games after ``played`` has ended."""
    seconds = 0.0 if played.game is None else TOGETHER_SHARE * played.game.duration_ms / 1000
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
