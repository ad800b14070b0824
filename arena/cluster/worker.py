"""The worker's side of a cluster: plays chunks of games and returns the records.

A *seat* plays the chunks of one run, one at a time. Between chunks it keeps compiled code and players' processes. If no
chunk arrives for ``IDLE_SECONDS``, the seat ends the processes, because the client may have died.
"""

from __future__ import annotations

import math
import os
import platform
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from elolab.arena.cluster.sent_files import SentFile, keep, placed
from elolab.arena.play.executor import GameRunner
from elolab.arena.players.processors import memory_megabytes, processor_count
from elolab.arena.provenance.record import GameFile, files_of
from elolab.arena.provenance.sources import SHOWN_DIGITS, source_digests, sources_digest
from elolab.arena.records import DialogueSoFar, GameJob, GameRecord, GameSoFar, PlayerSpec, no_dialogue
from elolab.engine.engine import StopFlag
from elolab.engine.errors import UserError
from elolab.engine.settings.parameters import BY_NAME
from elolab.engine.settings.weights import Weights, find_weights, provide_weights

IDLE_SECONDS = 60.0
"""Seconds without a chunk after which a worker ends the processes of a run's players."""
REPORT_SECONDS = 1.0
"""Seconds between reports on games in progress."""
DIALOGUE_SECONDS = 5.0
"""Seconds for which reports contain the dialogue of a chunk's game after it was requested."""


class ChunkGame(NamedTuple):
    """A game of a chunk that is in progress."""

    place: int
    """Index of the game in its chunk."""
    seconds: float
    so_far: GameSoFar
    dialogue: DialogueSoFar = no_dialogue()
    """The last lines exchanged with both players; empty unless an order has requested them."""

    def moves_so_far(self) -> GameSoFar:
        """The moves that had been made when the report was sent."""
        return GameSoFar(*self.so_far)


Report = Callable[[list[ChunkGame]], None]
"""Function that receives the games in progress of a chunk."""


@dataclass(frozen=True)
class Chunk:
    """Games for a worker, and the data that it needs to play them."""

    run: str
    """Unique identifier of the run that sent the chunk."""
    number: int
    """Index of the chunk within the run, in order of sending."""
    jobs: tuple[GameJob, ...]
    identity: str
    """Identity (see ``engine.compiled.identity``) that the worker's built-in engine must have."""
    sources: str
    """Digest that the source files of the worker's elolab must have."""
    weights: tuple[Weights, ...] = ()
    """Evaluation weights that are not shipped with elolab."""
    files: Mapping[GameFile, str] = field(default_factory=dict)
    """Digests that the files of external players must have, where known."""
    sendable: Mapping[GameFile, str] = field(default_factory=dict)
    """Absolute paths, on the client, of the players' files that the client can send."""
    platform: str = ""
    """The client's system and processor architecture (``platform_name``)."""
    limit_scale: float | None = None
    """Factor for wall-time limits on the worker, stored with the games; ``None`` if limits are not scaled."""


@dataclass(frozen=True)
class PlayedChunk:
    """Results of a chunk; games missing from it were not played."""

    records: tuple[GameRecord, ...] = ()
    unavailable: Mapping[str, str] = field(default_factory=dict)
    """Reason for each player that could not be started on the worker, by the player's name."""
    remarks: tuple[str, ...] = ()
    """Warnings for the user."""
    seconds: float = 0.0
    files: Mapping[GameFile, str] = field(default_factory=dict)
    """Digests of the files that external players used."""
    lacking: tuple[GameFile, ...] = ()
    """Files that the client must send before the worker can play; if there are any, no game was played."""
    refusal: str = ""
    """Reason why the worker cannot play any games; empty if it can."""
    error: str = ""
    """Error message that ends the whole run; empty if there is none."""


@dataclass(frozen=True)
class Order:
    """An order to the workers of a run, for example to begin no further game."""

    run: str
    number: int
    """The order applies to all chunks up to this number; an order of kind ``dialogue`` only to this chunk."""
    kind: str
    """The action that the workers take.

    ``finish``: begin no further game. ``stop``: also abandon running games. ``release``: end the players' processes.
    ``dialogue``: include dialogues in the reports for ``DIALOGUE_SECONDS``.
    """


def introduction() -> dict[str, Any]:
    """Description of this worker, from which the client decides whether to use the worker.

    Contents: the engine's identity, digests of the source files, host, process number, number of processors, memory in
    MiB.
    """
    from elolab.engine.compiled.identity import engine_identity

    return {
        "identity": engine_identity(), "sources": dict(source_digests()), "host": platform.node(),
        "process": str(os.getpid()), "processors": processor_count(), "memory": memory_megabytes(),
    }  # fmt: skip


def play_chunk(chunk: Chunk, *sent: SentFile, report: Report = lambda running: None) -> PlayedChunk:
    """Play the games of a chunk one after another; other threads may play other chunks at the same time.

    ``sent`` are files that the worker lacked; ``report`` is called periodically with the games in progress. Does not
    raise: if the worker cannot play, the result's ``refusal`` gives the reason.
    """
    if refusal := _refusal(chunk):
        return PlayedChunk(refusal=f"{refusal} (process {os.getpid()} on {platform.node()})")
    for weights in chunk.weights:
        provide_weights(weights)
    players = [*{id(player): player for job in chunk.jobs for player in (job.first, job.second)}.values()]
    for one in sent:
        if refusal := keep(one):
            return PlayedChunk(refusal=refusal)
    places = {player: placed(player, chunk.sendable, chunk.files, chunk.platform) for player in players}
    if lacking := tuple(dict.fromkeys(file for place in places.values() for file in place.lacking)):
        return PlayedChunk(lacking=lacking)
    foreign = {file for place in places.values() for file in place.sent}
    files = {file: digest for player in players for file, digest in files_of(player).items() if file not in foreign}
    files |= {file: chunk.files[file] for file in foreign}
    if refusal := difference_in_files(chunk.files, files) or _difference_in_weights(players):
        return PlayedChunk(refusal=refusal)
    wanted = chunk.files.keys() - foreign
    problems = {player.name: place.problem or _missing_file(player, wanted) for player, place in places.items()}
    here_as = {player: _scaled(place.player, chunk.limit_scale) for player, place in places.items()}
    jobs = [replace(job, first=here_as[job.first], second=here_as[job.second]) for job in chunk.jobs]
    nominal = {here.key: job for here, job in zip(jobs, chunk.jobs, strict=True)}
    is_changed = bool(foreign) or chunk.limit_scale is not None
    with _SEATS.taken(chunk.run) as seat:
        here = replace(chunk, jobs=tuple(jobs)) if is_changed else chunk
        played = seat.play(here, report, {name: problem for name, problem in problems.items() if problem})
    if is_changed:
        records = tuple(_for_client(record, nominal[record.key], chunk.limit_scale) for record in played.records)
        played = replace(played, records=records)
    return replace(played, files=files)


def _scaled(player: PlayerSpec, scale: float | None) -> PlayerSpec:
    """The player with its wall-time limits multiplied by ``scale``; unchanged if ``scale`` is ``None``."""
    return player if scale is None else replace(player, limits=player.limits.scaled(scale))


def _for_client(record: GameRecord, job: GameJob, scale: float | None) -> GameRecord:
    """Return the record as the client expects it: with the key of ``job``, and with ``scale`` if limits were scaled."""
    if scale is None or not (job.first.limits.is_on_wall_clock or job.second.limits.is_on_wall_clock):
        return replace(record, key=job.key)
    return replace(record, key=job.key, detail={**record.detail, "limit_scale": scale})


def _refusal(chunk: Chunk) -> str:
    """The difference between this worker's elolab and the version that the chunk requires; empty if there is none."""
    from elolab.engine.compiled.identity import engine_identity

    for what, here, wanted in (
        ("its engine is", engine_identity(), chunk.identity),
        ("the sources of its elolab are", sources_digest(), chunk.sources),
    ):
        if here != wanted:
            return f"{what} {here}, not {wanted}"
    return ""


def difference_in_files(wanted: Mapping[GameFile, str], there: Mapping[GameFile, str]) -> str:
    """Description of the first file whose digest differs between a worker and the run; empty if there is none.

    ``wanted`` has the run's digests, ``there`` the worker's; a file missing from ``wanted`` may have any digest.
    """
    for file, digest in there.items():
        if digest != (expected := wanted.get(file, digest)):
            return f"its {file} is {digest[:SHOWN_DIGITS]}, not {expected[:SHOWN_DIGITS]}"
    return ""


def _missing_file(player: PlayerSpec, wanted: Iterable[GameFile]) -> str:
    """Description of the first of the ``wanted`` files that ``player`` needs and this worker lacks; empty if there is
    none.

    The player's program is not included: starting the player checks it.
    """
    missing = (file for file in wanted if not file.is_program and file.is_of(player) and file.digest() is None)
    return next((f"its {file} is missing" for file in missing), "")


def _difference_in_weights(players: Iterable[PlayerSpec]) -> str:
    """Error message if the players' evaluation weights cannot be loaded on this worker; empty if they can."""
    values = {value for player in players for name, value in player.parameters if BY_NAME[name].kind == "weights"}
    try:
        for value in sorted(values):
            find_weights(value)
    except UserError as error:
        return f"weights {value}: {error}"
    return ""


def carry_out(order: Order) -> None:
    """Carry out an order; returns immediately."""
    _SEATS.carry_out(order)


class _Seat:
    """Plays the chunks of one run, one game at a time."""

    def __init__(self, run: str) -> None:
        self.run = run
        self.left_at = time.monotonic()
        """Time (``time.monotonic``) when the last chunk ended, or the seat was created."""
        self.chunk: Chunk | None = None
        self._stop = StopFlag()
        self._remarks: list[str] = []
        self._report: Report = lambda running: None
        self._reported = 0.0
        self._runner = GameRunner(1, self._stop, tick=self._tick, warn=self._remarks.append)

    def play(self, chunk: Chunk, report: Report, missing: Mapping[str, str]) -> PlayedChunk:
        """Play a chunk until it ends or an order stops it.

        ``report`` is called periodically with the games in progress. ``missing`` has the players that cannot play on
        this worker because of a file, by name, each with the reason; their games are skipped.
        """
        self._stop.clear()
        self._runner.unavailable.clear()
        self._runner.unavailable.update(missing)
        self._remarks.clear()
        self.chunk, self._report = chunk, report
        started = time.perf_counter()
        records: list[GameRecord] = []
        refusal = error = ""
        try:
            if _SEATS.is_stopped(chunk):
                self._stop.set()
            for record in self._runner.run(chunk.jobs, lambda: _SEATS.is_finished(chunk)):
                _ = record.digest  # computed on the worker and sent with the record
                records.append(record)
        except UserError as problem:
            error = str(problem)
        except Exception as problem:  # a problem of this machine: others can play these games
            refusal = f"{type(problem).__name__}: {problem}"
        finally:
            self.chunk = None
            self.left_at = time.monotonic()
        return PlayedChunk(
            tuple(records), dict(self._runner.unavailable), tuple(self._remarks), time.perf_counter() - started,
            refusal=refusal, error=error,
        )  # fmt: skip

    def give_up(self) -> None:
        """Abort the current game without a result."""
        self._stop.set()

    def close(self) -> None:
        """End the players' processes; must not be called during a game."""
        self._runner.close()

    def _tick(self) -> None:
        now, chunk = time.monotonic(), self.chunk
        if chunk is not None and now - self._reported >= REPORT_SECONDS:
            self._reported = now
            places = {job.key: place for place, job in enumerate(chunk.jobs)}
            wants_dialogue = _SEATS.wants_dialogue(chunk)
            self._report([
                ChunkGame(
                    places[game.job.key], game.seconds, game.read_moves(),
                    game.read_dialogue() if wants_dialogue else no_dialogue(),
                )
                for game in self._runner.running()
            ])  # fmt: skip


class _Seats:
    """The seats of this process and the orders that it received; each seat plays the chunks of one run."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._free: list[_Seat] = []
        self._taken: list[_Seat] = []
        self._stopped: dict[str, int] = {}
        self._finished: dict[str, int] = {}
        self._dialogues: dict[tuple[str, int], float] = {}
        """Time (``time.monotonic``) of the last request for the dialogues of a chunk, by run and chunk number."""
        self._janitor: threading.Thread | None = None

    @contextmanager
    def taken(self, run: str) -> Iterator[_Seat]:
        """Context manager that reserves a ``_Seat`` of the run to play one chunk; creates one if none is free."""
        with self._lock:
            seat = next((one for one in reversed(self._free) if one.run == run), None)
            if seat is not None:
                self._free.remove(seat)
            else:
                seat = _Seat(run)
            self._taken.append(seat)
            if self._janitor is None:
                self._janitor = threading.Thread(target=self._clear, name="idle seats", daemon=True)
                self._janitor.start()
        try:
            yield seat
        finally:
            with self._lock:
                self._taken.remove(seat)
                self._free.append(seat)

    def carry_out(self, order: Order) -> None:
        """Carry out an order; returns immediately."""
        with self._lock:
            if order.kind in ("finish", "stop"):
                self._finished[order.run] = order.number
            if order.kind == "stop":
                self._stopped[order.run] = order.number
                for seat in self._taken:
                    if seat.chunk is not None and self.is_stopped(seat.chunk):
                        seat.give_up()
            if order.kind == "dialogue":
                self._dialogues[order.run, order.number] = time.monotonic()
        if order.kind == "release":
            # Players may need time to exit.
            threading.Thread(target=self._close, args=(lambda seat: seat.run == order.run,), daemon=True).start()

    def is_stopped(self, chunk: Chunk) -> bool:
        """Whether an order says to abandon the chunk's running games."""
        return chunk.number <= self._stopped.get(chunk.run, -1)

    def wants_dialogue(self, chunk: Chunk) -> bool:
        """Whether the dialogue of the chunk's game was requested within the last ``DIALOGUE_SECONDS``."""
        return time.monotonic() - self._dialogues.get((chunk.run, chunk.number), -math.inf) < DIALOGUE_SECONDS

    def is_finished(self, chunk: Chunk) -> bool:
        """Whether an order forbids the chunk to begin further games."""
        return chunk.number <= self._finished.get(chunk.run, -1)

    def _close(self, is_unneeded: Callable[[_Seat], bool]) -> None:
        with self._lock:
            closing = [seat for seat in self._free if is_unneeded(seat)]
            self._free = [seat for seat in self._free if seat not in closing]
        for seat in closing:
            seat.close()

    def _clear(self) -> None:
        """Look periodically for seats that have been idle for ``IDLE_SECONDS``; end the processes of their players."""
        while True:
            time.sleep(IDLE_SECONDS / 4)
            self._close(lambda seat: time.monotonic() - seat.left_at > IDLE_SECONDS)


_SEATS = _Seats()
