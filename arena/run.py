"""A run: a folder that belongs to one specification, and the only way to play its missing games.

The games are a pure function of the specification and the results so far; ``Run.play`` plays them. All reports are
computed from the store.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TextIO, TypedDict

from elolab.arena.colours import text_columns
from elolab.arena.files import OTHER_FOLDER, replace_file
from elolab.arena.play.executor import GameRunner
from elolab.arena.play.live import LIVE_NAME, RunProgress, read_live
from elolab.arena.play.store import STORE_NAME, Store, check_place
from elolab.arena.players.interruption import Pauses, stopping_on_signals
from elolab.arena.players.processors import (
    OFF,
    PlayerLoad,
    largest_load,
    memory_error,
    memory_load,
    memory_megabytes,
    overload,
    overload_error,
    overload_text,
    processor_count,
    shares,
)
from elolab.arena.provenance.record import Provenance, changed_since
from elolab.arena.provenance.status import (
    DECIDED,
    FAILED,
    FAULTS,
    FINISHED,
    INCOMPLETE,
    INTERRUPTED,
    Conclusion,
    RunEnding,
    ended_status,
    new_status,
    write_status,
)
from elolab.arena.records import GameJob, GameRecord, Outcome, Pairing
from elolab.arena.statistics.faults import STOP_AFTER_FAULTS, FaultStreaks
from elolab.engine.errors import UserError, argument
from elolab.engine.language import console, wrapped
from elolab.engine.settings.toml_values import format_toml

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from elolab.arena.play.executor import Runner
    from elolab.engine.engine import StopFlag

_WITHOUT_CLUSTER = f"leave it out, or play without {argument('cluster')}"
MIX_OR_OTHER = f"to mix them anyway add {argument('accept_engine_change')}, otherwise {OTHER_FOLDER}"
OTHER_OR_REMOVE = f"{OTHER_FOLDER}, or remove that one"
ENGINE_IDENTITY = "engine_identity"
SEVERAL = " + "
"""Separator between engine identities in a text that lists several."""
KIND = "run kind"
"""Metadata key of the kind of run in a store."""


class RunError(UserError):
    """Raised if a run cannot be played; the message names the folder or file and the remedy."""


class StoppedByFaults(RunError):
    """Raised when a player has lost too many games in a row by faults. All finished games are stored."""

    exit_code = 1


class RunOptions(TypedDict, total=False):
    """Options for playing a run, which may influence the times of moves, but not which games are played."""

    concurrency: int
    """Number of games played at the same time (default 1).

    With a Dask cluster, the workers determine that number; ``concurrency`` is then only the number of threads for
    computations in this process.
    """
    cluster: str | Executor | None
    """Where to play: address of a Dask scheduler, host names for SSH, or an executor (default: this process)."""
    wall_clock_on_cluster: bool
    """Whether a cluster may play wall-clock games (default: no), which other load on a machine distorts."""
    scale_limits: bool
    """Whether a cluster scales wall-clock limits to each machine's speed (default: no); see ``cluster.scaling``."""
    affinity: str
    """How to reserve processors for each game: ``off`` (default), ``auto`` or a list.

    ``auto`` divides all processors among the games; a list such as ``0-3,8`` divides the listed processors.
    """
    oversubscribe: bool
    """Whether to play even if the games need more processors or memory than the machine has (default: no)."""
    accept_engine_change: bool
    """Whether to continue a run whose games were played by another engine or other builds of a player (default: no)."""
    stream: TextIO | None
    """Text stream for the progress display (default: standard error)."""
    stop: StopFlag | None
    """Flag that stops the run when it is set. Ctrl-C, SIGTERM and SIGHUP set it too."""
    log: str | None
    """Folder for logs of the complete dialogues with external players; ``None`` for no logs."""
    every: int | None
    """Number of games between complete status lines (default: none on a terminal, else one line a minute)."""
    verbose: bool
    """Whether to print a line for each finished game."""
    stop_after_faults: int | None
    """Number of consecutive games that a player may lose by faults before the run stops with ``StoppedByFaults``.

    0 never stops; ``None`` takes the number from the specification.
    """
    files: Mapping[str, str]
    """Additional files to write into the run's folder, once the run has claimed it: texts keyed by file name."""


@dataclass(frozen=True)
class Purpose:
    """The specification of a run, and how it may change when the run is resumed."""

    kind: str
    """Kind of run, for messages and ``live.json``."""
    content: Mapping[str, Any]
    """The specification as plain data."""
    source: str
    """The file from which the specification was read, for messages."""
    growing: tuple[str, ...] = ()
    """Keys of tables that may get new entries when a run is resumed. Existing entries must not change."""
    lengths: tuple[str, ...] = ()
    """Paths of values in ``content`` that only limit the length of the run, such as ``match_pairs``.

    These values may change when the run is resumed. Games played under a larger limit are kept.
    """
    check: Callable[[Store, Any], None] | None = None
    """A function that checks whether a run may be resumed; it raises ``RunError`` if not.

    Its arguments are the store and the recorded content; ``growing`` and ``lengths`` are ignored. Without a function
    (``None``), the recorded content must equal ``content``, apart from changes that ``growing`` and ``lengths`` allow.
    """
    places: Callable[[Store], Iterable[tuple[str, Pairing]]] = lambda store: ()
    """A function that returns the new places of stored games in the schedule, as pairs of a game's key and pairing.

    Called if ``content`` has changed since the run was recorded.
    """
    more: Mapping[str, Any] = field(default_factory=dict)
    """Further metadata to record in the store."""
    sides: tuple[PlayerLoad, ...] = ()
    """The load of each player in the run: search limit, threads, pondering and hash table."""
    stop_after_faults: int = STOP_AFTER_FAULTS
    """Number of consecutive games that a player may lose by faults before the run stops; 0 never stops."""
    key: str = ""
    """Metadata key of ``content`` in the store; if empty, ``kind`` is the key."""


class Run:
    """A folder with games, to which ``play`` adds missing games; a context manager.

    Entering the context claims the folder. It raises ``UserError`` if the folder is in use, or belongs to another run
    or engine. Leaving the context ends the players' processes and records how the run ended.
    """

    def __init__(
        self,
        directory: Path,
        purpose: Purpose,
        *,
        concurrency: int = 1,
        cluster: str | Executor | None = None,
        wall_clock_on_cluster: bool = False,
        scale_limits: bool = False,
        affinity: str = OFF,
        oversubscribe: bool = False,
        accept_engine_change: bool = False,
        stream: TextIO | None = None,
        stop: StopFlag | None = None,
        log: str | None = None,
        every: int | None = None,
        verbose: bool = False,
        stop_after_faults: int | None = None,
        files: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        from elolab.engine.engine import StopFlag

        self.directory, self.purpose = directory, purpose
        self.threads, self._affinity = concurrency, affinity
        """The arguments ``concurrency`` and ``affinity``.

        Computations between games use ``threads`` threads, on the processors of ``_affinity``.
        """
        self._oversubscribe = oversubscribe
        self._cluster, self._wall_clock_on_cluster = cluster, wall_clock_on_cluster
        self._scale_limits = scale_limits
        self.stop = stop or StopFlag()
        self.progress = RunProgress(
            stream or sys.stderr, kind=purpose.kind, live_file=directory / LIVE_NAME, every=every, verbose=verbose
        )
        self.is_interrupted: bool = False
        """Whether the stop flag ended the run before all its games were played."""
        self._faults = FaultStreaks(purpose.stop_after_faults if stop_after_faults is None else stop_after_faults)
        self.conclusion = Conclusion()
        """The findings of the run so far, for ``status.json``."""
        self._signals: list[int] = []
        self._is_complete: bool = True
        """Whether the last call of ``play`` has played all its games."""
        self.is_refused: bool = False
        """Set by a caller if the run cannot begin, so that new folders are removed.

        A ``UserError`` before the first stored game has the same effect.
        """
        self.scores: dict[str, float | None] = {}
        """Score of the first mover in each stored game (1, 0.5, 0 or ``None``), keyed by the game's key."""
        self.has_other_results: bool = False
        """Set by a caller if the folder contains results other than games, so that it is never removed."""
        self._made = [one for one in (directory, *directory.parents) if not one.exists()]
        """The folders that did not exist before the run: the run's folder first, then its parents."""
        self._files = files
        self._log_folder = log
        self._accept_engine_change = accept_engine_change
        self._pauses = Pauses()
        self._resources = ExitStack()

    def __enter__(self) -> Run:
        check_options(self.threads, self._cluster, self._affinity, self._log_folder)
        check_clocks(self.purpose, self._cluster, self._wall_clock_on_cluster, self._scale_limits)
        warning = overload_warning(
            self.purpose, self.threads, self._cluster, self._affinity, oversubscribe=self._oversubscribe
        )
        with ExitStack() as resources:
            self._signals = resources.enter_context(stopping_on_signals(self.stop, self._pauses))
            resources.push(self._remove_if_refused)
            self.store = resources.enter_context(Store(self.directory))
            self._claim()
            for name, text in self._files.items():
                replace_file(self.directory / name, text)
            self.scores = self.store.scores()
            self._status = new_status(self.purpose.kind, self.purpose.key or self.purpose.kind)
            write_status(self.directory, self._status, durable=False)
            resources.push(self._conclude)  # runs before the folder is released
            self._runner = resources.enter_context(self._make_runner())
            if warning:
                self.progress.remark(warning)
            self.progress.waiting = self._runner.waiting
            self.progress.workers = self._runner.workers
            self._resources = resources.pop_all()
        return self

    def _make_runner(self) -> Runner:
        if self._cluster is not None:
            return self._make_cluster_runner(self._cluster)
        log = None
        if self._log_folder is not None:
            from elolab.arena.play.dialogue_log import DialogueLog

            log = DialogueLog(Path(self._log_folder), self.progress.remark)
        return GameRunner(
            self.threads, self.stop, tick=self.tick, affinity=self._affinity, warn=self.progress.remark,
            pauses=self._pauses, log=log,
        )  # fmt: skip

    def _make_cluster_runner(self, cluster: str | Executor) -> Runner:
        from elolab.arena.cluster.runner import ClusterRunner
        from elolab.arena.cluster.scaling import REFERENCE, LimitScaling
        from elolab.arena.cluster.site import ExecutorSite, Site

        site: Site
        if isinstance(cluster, str):
            from elolab.arena.cluster.address import ssh_hosts
            from elolab.arena.cluster.dask_cluster import DaskSite
            from elolab.arena.cluster.ssh_cluster import SshSite

            kind = SshSite if ssh_hosts(cluster) else DaskSite
            site = kind(cluster, self.progress.remark, self.stop.is_set)
        else:
            site = ExecutorSite(cluster, self.threads)
        scaling = None
        if self._scale_limits:
            scaling = LimitScaling(
                self.store.metadata(REFERENCE),
                lambda speed: self.store.record_metadata({REFERENCE: speed}),
                self.progress.remark,
            )
        return ClusterRunner(
            site, self.stop, tick=self.tick, warn=self.progress.remark, wall_clock=self._wall_clock_on_cluster,
            files=self._provenance.files, sides=self.purpose.sides,
            oversubscribe=self._oversubscribe, scaling=scaling,
        )  # fmt: skip

    def __exit__(self, kind: type[BaseException] | None, *exception: Any) -> None:
        self._resources.__exit__(kind, *exception)

    def _remove_if_refused(self, kind: type[BaseException] | None, error: BaseException | None, *trace: Any) -> None:
        """Remove the folders that a refused run has created, unless they contain games, other results or logs.

        ``error`` is the exception that ends the run, if any; a ``UserError`` means that the run was refused.
        """
        is_kept = bool(self.scores) or self.has_other_results
        if is_kept or not self._made or not (self.is_refused or isinstance(error, UserError)):
            return
        if self._log_folder is not None and Path(self._log_folder).resolve().is_relative_to(self.directory.resolve()):
            return
        shutil.rmtree(self.directory, ignore_errors=True)
        for parent in self._made[1:]:
            with suppress(OSError):  # not empty: another process uses the folder
                parent.rmdir()

    def _conclude(self, kind: type[BaseException] | None, error: BaseException | None, *trace: Any) -> None:
        """Write how the run ended to ``live.json`` and ``status.json``; ignores an unreadable store.

        ``error`` is the exception that ends the run, if any.
        """
        self.progress.close("failed" if kind is not None else "interrupted" if self.is_interrupted else "finished")
        with suppress(UserError):  # the store has become unreadable, which ended the run
            status = ended_status(
                self._status, self.store, self.progress.all_planned, self.conclusion, self._ending(error)
            )
            write_status(self.directory, status)

    def _ending(self, error: BaseException | None) -> RunEnding:
        """How the run ends; ``error`` is the exception that ends it, if any."""
        if error is None and not self.is_interrupted:
            is_decided = self.conclusion.is_decided
            return RunEnding(DECIDED if is_decided else FINISHED if self._is_complete else INCOMPLETE)
        if error is None or isinstance(error, KeyboardInterrupt):
            return RunEnding(INTERRUPTED, self.signal)
        reason = FAULTS if isinstance(error, StoppedByFaults) else FAILED
        return RunEnding(reason, error=" ".join(f"{error}".split()) or type(error).__name__)

    @property
    def signal(self) -> int | None:
        """Number of the last signal that asked the run to stop; ``None`` if none did."""
        return self._signals[-1] if self._signals else None

    @property
    def concurrency(self) -> int:
        """Number of games that can be played at the same time now; on a cluster, it changes with the workers."""
        return self._runner.concurrency

    @property
    def unavailable(self) -> dict[str, str]:
        """Players that could not be started: maps the name of each to the reason."""
        return self._runner.unavailable

    def tick(self) -> None:
        """Refresh the progress display if it is due."""
        self.progress.tick(self._runner.running)

    def play(
        self,
        jobs: Iterable[GameJob | None],
        finished: Callable[[Outcome], None] = lambda outcome: None,
        enough: Callable[[], bool] = lambda: False,
    ) -> bool:
        """Play and store all games that are not stored yet; returns false if some remain unplayed.

        ``jobs`` is read slightly ahead of the games. It yields ``None`` while the next game is not known, and is read
        again after a game has ended. ``finished`` is called with the outcome of each game after it is stored. Once
        ``enough()`` is true, no more games are started. Raises ``StoppedByFaults`` after too many faults in a row.
        """
        missing: dict[str, GameJob] = {}

        def wanted() -> Iterator[GameJob | None]:
            for job in jobs:
                if job is None:
                    yield None
                elif job.key not in self.scores and job.key not in missing:
                    missing[job.key] = job
                    self._provenance.note(job)
                    yield job

        asked = wanted()
        with closing(self._runner.batches(asked, enough)) as batches:  # type: ignore[type-var]
            try:
                for records in batches:
                    self._store([(missing.pop(record.key), record) for record in records], finished)
            except BaseException:  # for example a full disk: do not wait for running games, which would be lost
                self.stop.set()
                raise
        self._is_complete = not missing and next(asked, None) is None
        self.is_interrupted = not self._is_complete and self.stop.is_set()
        if self._faults.reason:
            raise StoppedByFaults(
                f"{self.purpose.source}: {self._faults.reason}",
                f"the games are stored; fix the player and give the same command again, or go on however often it "
                f"fails with {argument('stop_after_faults', 0)}",
            )
        return self._is_complete

    def _store(self, games: list[tuple[GameJob, GameRecord]], finished: Callable[[Outcome], None]) -> None:
        """Store games that ended together, and call ``finished`` for each."""
        entries = [
            (replace(record, detail={**record.detail, **job.detail}) if job.detail else record, job.is_reproducible)
            for job, record in games
        ]
        players = (player for job, _ in games for player in (job.first, job.second))
        self._provenance.record(players, self._runner.refused())
        self.store.add_all(entries)
        for record, _ in entries:
            self.scores[record.key] = record.score
            self.progress.finished(record)
            finished(Outcome(record.key, record.pairing, record.score))
            self.progress.counted()
            self._faults.add(record)
        if self._faults.reason:
            self.stop.set()

    def release_players(self) -> None:
        """End the players' processes and free their memory. The next games start them again."""
        self._runner.release_players()

    def missing_games(self, jobs: Iterable[GameJob]) -> int:
        """Number of distinct games in ``jobs`` that are not stored yet."""
        return len({job.key for job in jobs} - self.scores.keys())

    def refuse_unavailable(self) -> None:
        """Raise ``RunError`` if a player could not be started."""
        for name, reason in self.unavailable.items():
            raise RunError(f"{self.purpose.source}: player {name!r} cannot be started: {reason}")

    # Claiming the folder

    def _claim(self) -> None:
        """Record the specification of this run in the folder.

        Raises ``RunError`` if the folder already contains another run; see ``check_store``.
        """
        from elolab.engine.compiled.identity import engine_identity

        store, purpose = self.store, self.purpose
        check_store(store, purpose, accepts_changes=self._accept_engine_change)
        key = purpose.key or purpose.kind
        self.recorded = recorded = store.metadata(key)
        """The specification that was recorded in the folder before this run; ``None`` for a new folder."""
        self._provenance = Provenance(store, accepts_changes=self._accept_engine_change)
        content = {key: dict(purpose.content), KIND: purpose.kind, **purpose.more, ENGINE_IDENTITY: engine_identity()}
        changed = recorded is not None and plain(recorded) != plain(purpose.content)
        store.record_metadata(content, purpose.places(store) if changed else ())


def check_options(concurrency: int, cluster: str | Executor | None, affinity: str, log: str | None) -> None:
    """Raise ``UserError`` if no run can be played with these options; see ``RunOptions``. Starts and writes nothing."""
    if cluster is not None and log is not None:
        raise RunError(f"{argument('log')} keeps dialogues of this machine only", _WITHOUT_CLUSTER)
    if cluster is not None and affinity != OFF:
        raise RunError(f"{argument('affinity')} chooses processors of this machine only", _WITHOUT_CLUSTER)
    if log is not None:
        from elolab.arena.play.dialogue_log import check_log_folder

        check_log_folder(Path(log))
    shares(affinity, concurrency)


def check_clocks(
    purpose: Purpose, cluster: str | Executor | None, wall_clock_on_cluster: bool, scale_limits: bool = False
) -> None:
    """Raise ``RunError`` if a cluster would play games with time limits that other load on its machines distorts.

    ``wall_clock_on_cluster`` allows these games. Also raises ``RunError`` if ``scale_limits`` would have no effect:
    without a cluster, or if no player has a wall-clock limit.
    """
    if scale_limits and cluster is None:
        option = argument("scale_limits")
        raise RunError(f"{option} scales limits on a cluster's machines", f"leave it out, or add {argument('cluster')}")
    if scale_limits and not any(side.is_on_wall_clock for side in purpose.sides):
        raise RunError(
            f"{purpose.source}: {argument('scale_limits')} scales wall-time limits, and no player has one",
            "leave it out, or give a limit such as clock=10+0.1",
        )
    if cluster is None or wall_clock_on_cluster:
        return
    from elolab.arena.cluster.site import clock_mistake

    for side in purpose.sides:
        if mistake := clock_mistake(side.limits):
            raise RunError.at(f"{purpose.source}: {side.place}", mistake)


def overload_warning(
    purpose: Purpose, concurrency: int, cluster: str | Executor | None, affinity: str, *, oversubscribe: bool = False
) -> str:
    """A warning if the concurrent games need more processors or memory than this machine has; otherwise empty.

    Raises ``RunError``, unless ``oversubscribe`` is set, if there are too few processors for wall-clock games or too
    little memory for the hash tables. The workers of a cluster are not checked here; ``ClusterRunner`` does that. The
    other arguments are as in ``RunOptions``.
    """
    if cluster is not None or not purpose.sides:
        return ""
    processors = _processors_of(affinity, concurrency)
    load = overload(purpose.sides, concurrency, processors)
    games = largest_load(purpose.sides, concurrency, processors).games
    memory = memory_load(purpose.sides, games, memory_megabytes())
    if not oversubscribe:
        permit = f"; or permit it with {argument('oversubscribe')}"
        if memory.is_too_large:
            raise RunError.at(purpose.source, memory_error(memory, permit))
        if load is not None and load.is_on_wall_clock:
            raise RunError.at(purpose.source, overload_error(load, permit))
    return " ".join(filter(None, (overload_text(load), str(memory_error(memory)) if memory.is_too_large else "")))


def _processors_of(affinity: str, concurrency: int) -> int:
    """Number of processors available to the games; 0 if unknown. The arguments are as in ``RunOptions``."""
    shared = shares(affinity, concurrency)
    return processor_count() if shared is None else len(frozenset().union(*shared))


def machine_plan(
    purpose: Purpose, concurrency: int, cluster: str | Executor | None, affinity: str
) -> dict[str, Any] | None:
    """The processors and memory that the games need, and that this machine has, as plain data; memory is in MiB.

    The value 0 means unknown. Returns ``None`` for a run on a cluster or without players. The arguments after
    ``purpose`` are as in ``RunOptions``.
    """
    if cluster is not None or not purpose.sides:
        return None
    load = largest_load(purpose.sides, concurrency, _processors_of(affinity, concurrency))
    memory = memory_load(purpose.sides, load.games, memory_megabytes())
    return {
        "games": load.games, "threads": load.threads, "ponders": any(side.ponders for side in purpose.sides),
        "busy": load.needed, "processors": load.processors, "hash": memory.each, "hashes": memory.needed,
        "memory": memory.machine,
    }  # fmt: skip


def machine_line(plan: Mapping[str, Any]) -> str:
    """The data of ``machine_plan`` as text in the console's language, wrapped to the width of the terminal."""
    say = console("elolab.arena")
    ponders = say("dry_run.machine_ponders") if plan["ponders"] else ""
    return "\n".join(wrapped(say("dry_run.machine", **{**plan, "ponders": ponders}), text_columns() - 1))


def check_directory(directory: Path, purpose: Purpose, *, accepts_changes: bool) -> None:
    """Raise the ``UserError`` that entering a ``Run`` in this folder would raise. Writes nothing.

    Do not call it while another process uses the folder, because the folder may change during the check.
    ``accepts_changes`` is as for ``check_store``.
    """
    check_place(directory)
    if not (directory / STORE_NAME).is_file():
        return
    with Store(directory, read_only=True) as store:
        check_store(store, purpose, accepts_changes=accepts_changes)


def check_store(store: Store, purpose: Purpose, *, accepts_changes: bool) -> None:
    """Raise ``RunError`` if the store belongs to another run, or if its games were played by other players or engines.

    ``accepts_changes`` allows another engine and other builds of the players.
    """
    recorded = store.metadata(purpose.key or purpose.kind)
    if recorded is not None:
        if purpose.check is not None:
            purpose.check(store, recorded)
        else:
            _check_same(store, purpose, recorded)
        if not accepts_changes:
            _check_engine(store)
            check_provenance(store)
    elif len(store) or store.metadata_names():
        kind = kind_in(store) or "unknown"
        raise RunError(f"{store.directory}: holds a run of kind {kind}, not {purpose.kind}", OTHER_FOLDER)


def _check_same(store: Store, purpose: Purpose, recorded: Any) -> None:
    before, now = (without(content, purpose.lengths) for content in (recorded, plain(purpose.content)))
    for table in purpose.growing:
        now[table] = {key: entry for key, entry in now[table].items() if key in before[table]}
    for path, old, new in differences(before, now):
        raise RunError(
            f"{store.directory}: holds another {purpose.kind}: {path} = {setting_text(old)} there, {setting_text(new)} "
            f"in {purpose.source}",
            OTHER_OR_REMOVE,
        )


def _check_engine(store: Store) -> None:
    from elolab.engine.compiled.identity import engine_identity, equivalent_identities

    before = store.metadata(ENGINE_IDENTITY)
    if len(store) and before not in equivalent_identities():
        raise RunError(
            f"{store.directory}: its games were played by engine {before}, this is engine {engine_identity()}",
            MIX_OR_OTHER,
        )


def check_provenance(store: Store) -> None:
    """Raise ``RunError`` if a player's files or elolab's driver code have changed since the last stored game."""
    if changed := changed_since(store):
        raise RunError(f"{store.directory}: {changed}", MIX_OR_OTHER)


def was_begun(directory: Path, purpose: Purpose) -> bool:
    """Whether the folder contains this run, possibly with another length."""
    if not (directory / STORE_NAME).is_file():
        return False
    with Store(directory, read_only=True) as store:
        recorded = store.metadata(purpose.key or purpose.kind)
    lengths = purpose.lengths
    return recorded is not None and without(recorded, lengths) == without(plain(purpose.content), lengths)


def kind_in(store: Store) -> str:
    """The kind of run in a store; empty if unknown. In runs of older versions, it is read from ``live.json``."""
    return str(store.metadata(KIND) or read_live(store.directory).get("kind", ""))


def engines_of(store: Store) -> str:
    """The identity of the built-in engine, and of its earlier versions that played stored games, as text."""
    from elolab.engine.compiled.identity import engine_identity

    identity = engine_identity()
    return SEVERAL.join([identity, *sorted(store.engine_identities() - {identity})])


def plain(data: Any) -> Any:
    """Convert data to the types that a store returns: mappings with text keys, lists and plain Python values."""
    if isinstance(data, Mapping):
        return {str(key): plain(value) for key, value in data.items()}
    if hasattr(data, "tolist"):  # NumPy arrays, numbers and texts, for example from pandas
        data = data.tolist()
    return [plain(entry) for entry in data] if isinstance(data, list | tuple) else data


def without(content: Mapping[str, Any], paths: Iterable[str]) -> dict[str, Any]:
    """Copy ``content`` without the values at ``paths``: keys joined by dots, such as ``sprt.pairs``."""
    left = dict(content)
    for path in paths:
        left.pop(path, None)
        for key, table in left.items():
            if path.startswith(f"{key}.") and isinstance(table, Mapping):
                left[key] = without(table, [path.removeprefix(f"{key}.")])
    return left


def setting_text(value: Any) -> str:
    """A setting as error messages show it: in TOML, or ``not set`` for ``None``."""
    return "not set" if value is None else format_toml(value)


def differences(before: Any, now: Any, path: str = "") -> list[tuple[str, Any, Any]]:
    """Compare two pieces of plain data; returns the path, the earlier value and the current value of each difference.

    A path joins keys with dots and counts list entries from 1, as in ``players 2.limit``. A missing value is ``None``.
    """
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        found = []
        for key in [*before, *(key for key in now if key not in before)]:
            found += differences(before.get(key), now.get(key), f"{path}.{key}" if path else str(key))
        return found
    if isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        found = []
        for place, (one, other) in enumerate(zip(before, now, strict=True), start=1):
            found += differences(one, other, f"{path} {place}")
        return found
    return [] if before == now else [(path, before, now)]
