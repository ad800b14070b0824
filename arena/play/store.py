"""The append-only store of a run's games: one SQLite file in the run's folder, with one writer.

SQLite's write-ahead log with full synchronisation protects games that ``add`` has accepted: they survive a kill, a
power failure and a full disk. ``arena.play.damage`` detects bits that have changed since. A game's key is a digest of
everything that determines the game (``GameJob.key``). A game's place in the schedule is stored separately, because the
place changes when a tournament is extended. The folder must be on a local disk.
"""

from __future__ import annotations

import errno
import fcntl
import gc
import itertools
import json
import operator
import os
import sqlite3
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from elolab.arena.files import OTHER_FOLDER
from elolab.arena.play import damage
from elolab.arena.play.damage import CONTENT_COLUMNS, PLACE_COLUMNS, checksum_of
from elolab.arena.records import GameRecord, MoveRecord, Opening, Outcome, Pairing, digest_of, points_of
from elolab.engine.errors import UserError, argument

APPLICATION_ID = 0x656C6F6C
"""Value of ``application_id`` in the SQLite header of elolab's files: "elol" in ASCII."""
SCHEMA_VERSION = 5
SCHEMA = f"""
BEGIN IMMEDIATE;
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL, checksum INTEGER) WITHOUT ROWID;
CREATE TABLE games (
    key TEXT PRIMARY KEY,
    number INTEGER NOT NULL,
    round INTEGER NOT NULL,
    pair INTEGER NOT NULL,
    first_index INTEGER NOT NULL,
    second_index INTEGER NOT NULL,
    opening_index INTEGER NOT NULL,
    first TEXT NOT NULL,
    second TEXT NOT NULL,
    opening_position TEXT NOT NULL,
    opening_moves TEXT NOT NULL,
    opening_name TEXT NOT NULL,
    result TEXT NOT NULL,
    reason TEXT NOT NULL,
    plies INTEGER NOT NULL,
    digest TEXT NOT NULL,
    engine_identity TEXT NOT NULL,
    started_at TEXT NOT NULL,
    duration_ms REAL NOT NULL,
    final_position TEXT NOT NULL,
    detail TEXT NOT NULL,
    moves TEXT NOT NULL,
    instruments TEXT, -- search statistics of both sides as JSON; null without any
    series TEXT NOT NULL DEFAULT '',
    place_checksum INTEGER,
    checksum INTEGER
);
CREATE INDEX games_by_place ON games (series, number);
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {SCHEMA_VERSION};
COMMIT;
"""
STORE_NAME = "games.sqlite"
LOCK_NAME = "lock"
LOCK_ATTEMPTS, LOCK_PAUSE_SECONDS = 5, 0.04
"""Number of further attempts to take a lock that another process holds, and the pause before each in seconds."""
OPENING_SECONDS = 30.0
"""Maximum seconds for which a writer that opens the store waits for a reader, such as a report."""
CLOSING_MS = 1000
"""Maximum milliseconds for which a writer that closes the store waits for readers.

If a reader remains, SQLite's log file is not removed.
"""

COLUMNS = (
    "key", "series", "number", "round", "pair", "first_index", "second_index", "opening_index", "first", "second",
    "opening_position", "opening_moves", "opening_name", "result", "reason", "plies", "digest", "engine_identity",
    "started_at", "duration_ms", "final_position", "detail", "moves", "instruments",
)  # fmt: skip
_PLACE, _CONTENT = (operator.itemgetter(*map(COLUMNS.index, names)) for names in (PLACE_COLUMNS, CONTENT_COLUMNS))
"""Functions that select ``PLACE_COLUMNS`` and ``CONTENT_COLUMNS`` from a row with the columns ``COLUMNS``."""

_WANTED = "WHERE key IN (SELECT value FROM json_each(?)) "


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Context manager that suspends garbage collection, which would double the time to read very many rows."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


GAMES_ELSEWHERE = "games elsewhere"
"""Name of the metadata entry with the number of games that other programs played; their moves are unknown."""


class StoreError(UserError):
    """Raised if a store cannot be used as requested; the message names the folder and the remedy."""


class StoreFailure(StoreError):
    """Raised if a store cannot be accessed, for example because the disk is full; games stored earlier are safe."""

    exit_code = 1


class DamagedStore(StoreError):
    """Raised if a store's file differs from what was written; no games are read from it."""

    exit_code = 1


class Store:
    """The games and metadata of a run, in a SQLite file in its folder; as a context manager, closes the file."""

    def __init__(self, directory: Path, *, read_only: bool = False, glance: bool = False) -> None:
        """Open a folder's store; unless ``read_only``, creates missing folders and files and excludes other writers.

        The check for damage takes one or two seconds per 100 000 games. With ``glance``, for frequent short reads, the
        check is omitted and no additional files are created. Raises ``StoreError`` if the store cannot be opened, is
        damaged, or has another writer.
        """
        self.directory = directory
        self._is_glance = glance
        self._lock: FolderLock | None = None
        if read_only:
            if not (directory / STORE_NAME).is_file():
                raise StoreError(f"{directory}: no games in it (there is no {STORE_NAME})")
        else:
            self._lock = FolderLock(made_folder(directory) / LOCK_NAME)
        try:
            self.connection = self._opened(read_only)
        except BaseException:
            if self._lock is not None:
                self._lock.release()
            raise

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file and release the lock.

        A writer first merges SQLite's log into the file, so that only one file remains.
        """
        with suppress(sqlite3.Error):  # a full disk may prevent merging the log; the next opening merges it
            if self._lock is not None:
                # While the file is in WAL mode, every reader creates a log.
                self.connection.execute(f"PRAGMA busy_timeout = {CLOSING_MS}")
                self.connection.execute("PRAGMA journal_mode = DELETE")
        with suppress(sqlite3.Error):
            self.connection.close()
        if self._lock is not None:
            self._lock.release()

    # Metadata

    def metadata(self, name: str) -> Any:
        """The value of a metadata entry; ``None`` if it does not exist."""
        rows = self._rows("SELECT value FROM facts WHERE name = ?", (name,))
        return json.loads(rows[0][0]) if rows else None

    def all_metadata(self) -> dict[str, Any]:
        """All metadata entries, by name."""
        return {name: json.loads(value) for name, value in self._rows("SELECT name, value FROM facts")}

    def metadata_names(self) -> set[str]:
        """The names of all metadata entries."""
        return {name for (name,) in self._rows("SELECT name FROM facts")}

    def record_metadata(self, metadata: Mapping[str, Any], places: Iterable[tuple[str, Pairing]] = ()) -> None:
        """Store metadata entries in one transaction, replacing earlier values.

        ``places`` has pairs of a game's key and its new place in the schedule of an extended tournament.
        """
        entries = [(name, json.dumps(value, ensure_ascii=False)) for name, value in metadata.items()]
        rows = [(*entry, checksum_of(entry)) for entry in entries]
        moved = [(*place[1:], checksum_of(place), place[0]) for place in (_place_of(*one) for one in places)]
        with self._failures(), self._transaction():
            self.connection.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?, ?)", rows)
            assigned = ", ".join(f"{column} = ?" for column in (*PLACE_COLUMNS[1:], "place_checksum"))
            self.connection.executemany(f"UPDATE games SET {assigned} WHERE key = ?", moved)

    # Games

    def add(self, record: GameRecord, *, reproducible: bool = True) -> bool:
        """Store a finished game; returns whether it is new. ``add_all`` describes the details."""
        return self.add_all([(record, reproducible)])[0]

    def add_all(self, games: Iterable[tuple[GameRecord, bool]]) -> list[bool]:
        """Store finished games in one transaction, each paired with whether it is reproducible; returns whether each is
        new.

        A game that is already stored is ignored. A reproducible game (same players, same limits in nodes or depth, same
        engine) must be identical to the stored one; otherwise ``StoreError`` is raised with both digests. Raises
        ``StoreFailure`` if the disk is full; no game is stored then.
        """
        columns, marks = ", ".join((*COLUMNS, "place_checksum", "checksum")), ", ".join("?" * (len(COLUMNS) + 2))
        insert = f"INSERT OR IGNORE INTO games ({columns}) VALUES ({marks})"
        rows = [(record, reproducible, _row_of(record)) for record, reproducible in games]
        new, known = [], []
        with self._failures(), self._transaction():
            for record, reproducible, row in rows:
                cursor = self.connection.execute(insert, (*row, checksum_of(_PLACE(row)), checksum_of(_CONTENT(row))))
                new.append(cursor.rowcount == 1)
                if not new[-1] and reproducible:
                    query = "SELECT digest, engine_identity FROM games WHERE key = ?"
                    known.append((record, *self.connection.execute(query, (record.key,)).fetchone()))
        for record, stored, identity in known:
            if identity == record.engine_identity and stored != record.digest:
                raise StoreError(
                    f"{self.directory}: game {record.key} ({record.first} against {record.second}) was played again by "
                    f"the same engine and came out different (digest {stored} before, {record.digest} now)",
                    "this must not happen: please report it",
                )
        return new

    def keys(self) -> set[str]:
        """The keys of all games."""
        return {key for (key,) in self._rows("SELECT key FROM games")}

    def __len__(self) -> int:
        return int(self._rows("SELECT count(*) FROM games")[0][0])

    @property
    def played(self) -> int:
        """Number of games in the run: stored games, and games counted in ``GAMES_ELSEWHERE``."""
        return len(self) + int(self.metadata(GAMES_ELSEWHERE) or 0)

    def records(self) -> list[GameRecord]:
        """The records of all games in schedule order."""
        return list(self.iterate())

    def iterate(self, keys: Collection[str] | None = None) -> Iterator[GameRecord]:
        """Yield the games in schedule order; with ``keys``, only games with these keys."""
        wanted, parameters = ("", ()) if keys is None else (_WANTED, (json.dumps([*keys]),))
        query = f"SELECT {', '.join(COLUMNS)} FROM games {wanted}ORDER BY series, number, key"
        with self._failures():
            for row in self.connection.execute(query, parameters):
                yield _record_of(row)

    def find(self, game: str) -> list[GameRecord]:
        """Games with the schedule number ``game``; if there are none, games whose key begins with ``game``."""
        query = f"SELECT {', '.join(COLUMNS)} FROM games WHERE "
        if game.isascii() and game.isdigit():
            number = int(game) if len(game) < 16 else -1
            rows = self._rows(query + "number = ? ORDER BY series", (number,))
            if rows:
                return [_record_of(row) for row in rows]
        query += "substr(key, 1, ?) = ? ORDER BY series, number"
        rows = self._rows(query, (len(game), game))
        return [_record_of(row) for row in rows]

    def scores(self) -> dict[str, float | None]:
        """First mover's score in each game (1, 1/2 or 0), by game key; ``None`` without a result."""
        with self._failures():
            return {key: points_of(result) for key, result in self.connection.execute("SELECT key, result FROM games")}

    def outcomes(self) -> list[Outcome]:
        """Key, pairing and score of every game, in schedule order."""
        query = (
            "SELECT key, result, number, pair, first_index, second_index, opening_index, round, series "
            "FROM games ORDER BY series, number"
        )
        with self._failures(), _without_garbage_collection():
            return [
                Outcome(key, Pairing(*place), points_of(result))
                for key, result, *place in self.connection.execute(query)
            ]

    def details(self, name: str) -> Iterator[tuple[Pairing, Any]]:
        """Yield the pairing and the value of ``detail[name]`` for every game that has it, in schedule order."""
        query = (
            "SELECT number, pair, first_index, second_index, opening_index, round, series, detail FROM games "
            "WHERE instr(detail, ?) > 0 ORDER BY series, number"
        )
        with self._failures():
            for *place, text in self.connection.execute(query, (json.dumps(name),)):
                detail = json.loads(text).get(name)
                if detail is not None:
                    yield Pairing(*place), detail

    def numbers_lost_by(self, reasons: Collection[str]) -> list[int]:
        """Numbers, in schedule order, of games lost for one of these reasons (values of ``GameRecord.reason``)."""
        marks = ", ".join("?" * len(reasons))
        query = f"SELECT number FROM games WHERE reason IN ({marks}) AND result <> '1/2-1/2' ORDER BY series, number"
        return [number for (number,) in self._rows(query, tuple(reasons))]

    def ended_by(self, reasons: Collection[str]) -> Iterator[GameRecord]:
        """Yield the games that ended for one of these reasons, in schedule order."""
        marks = ", ".join("?" * len(reasons))
        query = f"SELECT {', '.join(COLUMNS)} FROM games WHERE reason IN ({marks}) ORDER BY series, number, key"
        with self._failures():
            for row in self.connection.execute(query, tuple(reasons)):
                yield _record_of(row)

    def numbers_of(self, series: str, player: str) -> set[int]:
        """Numbers of the games of a series (``Pairing.series``) in which ``player`` moved first."""
        query = "SELECT number FROM games WHERE series = ? AND first = ?"
        return {number for (number,) in self._rows(query, (series, player))}

    def digest(self, games: int | None = None) -> str:
        """Digest of the games with a schedule number below ``games``, by default all; see
        ``arena.records.games_digest``.
        """
        last = -1 if games is None else games
        rows = self._rows(
            "SELECT key, digest FROM games WHERE ? < 0 OR number < ? ORDER BY series, number", (last, last)
        )
        return digest_of([list(row) for row in rows])

    def engine_identities(self) -> set[str]:
        """Identities (see ``engine.compiled.identity``) of the built-in engines that played the games."""
        return {name for (name,) in self._rows("SELECT DISTINCT engine_identity FROM games")}

    def mean_duration_ms(self) -> float | None:
        """Mean duration of a game in milliseconds; ``None`` if there are no games."""
        mean: float | None = self._rows("SELECT avg(duration_ms) FROM games")[0][0]
        return mean

    def copy_to(self, directory: Path) -> None:
        """Write a consistent copy to another folder, which must exist; another process may add games meanwhile."""
        with self._failures(), closing(sqlite3.connect(directory / STORE_NAME)) as copy:
            self.connection.backup(copy)

    def check(self) -> None:
        """Raise ``DamagedStore`` if the file differs from what was written."""
        self._check(self.connection)

    # The file itself

    def _check(self, connection: sqlite3.Connection) -> None:
        try:
            damage.check(connection)
        except damage.Damage as found:
            raise DamagedStore(
                f"{self.directory / STORE_NAME}: damaged ({found}), so nothing is read from it",
                "restore it from a copy, or move it away and give the command that played its games again",
            ) from None

    def _rows(self, query: str, parameters: tuple[Any, ...] = ()) -> list[Any]:
        with self._failures():
            return self.connection.execute(query, parameters).fetchall()

    def _opened(self, read_only: bool) -> sqlite3.Connection:
        """Open the SQLite connection and, unless ``glance`` was given, check the file for damage."""
        with self._failures():
            connection = self._connected(read_only)
            try:
                if not self._is_glance:
                    self._check(connection)
                if not read_only:  # not earlier, so that a damaged file stays unchanged
                    connection.execute("PRAGMA journal_mode = WAL")
            except BaseException:
                connection.close()
                raise
            return connection

    def _connected(self, read_only: bool) -> sqlite3.Connection:
        path = (self.directory / STORE_NAME).resolve()
        if read_only:
            # Without write permission in the folder, SQLite opens the file only as immutable. It then ignores the log,
            # which is right only if there is none.
            log = path.with_name(f"{path.name}-wal")
            is_logged = log.is_file() and log.stat().st_size > 0
            may_write = os.access(self.directory, os.W_OK) and not self._is_glance
            mode = "ro" if is_logged or may_write else "ro&immutable=1"
            connection = sqlite3.connect(f"{path.as_uri()}?mode={mode}", uri=True, isolation_level=None)
        else:
            connection = sqlite3.connect(path, isolation_level=None, timeout=OPENING_SECONDS)
        try:
            is_new = self._is_new(connection)
            if is_new and read_only:  # its writer has not begun yet
                connection.close()
                connection = sqlite3.connect(":memory:", isolation_level=None)
            if is_new:
                connection.executescript(SCHEMA)
            if not read_only:
                connection.execute("PRAGMA synchronous = FULL")
        except BaseException:
            connection.close()
            raise
        return connection

    def _is_new(self, connection: sqlite3.Connection) -> bool:
        """Whether the file is empty; raises ``StoreError`` if another program or version of elolab has written it."""
        version, mark, tables = (
            connection.execute(query).fetchone()[0]
            for query in ("PRAGMA user_version", "PRAGMA application_id", "SELECT count(*) FROM sqlite_master")
        )
        if mark != APPLICATION_ID and (mark or version or tables):
            raise StoreError(f"{self.directory / STORE_NAME}: not a file of elolab's", OTHER_FOLDER)
        if mark and version != SCHEMA_VERSION:
            raise StoreError(
                f"{self.directory / STORE_NAME}: written by another version of elolab (schema {version}, this one "
                f"reads {SCHEMA_VERSION})",
                "use that version, or another folder",
            )
        return not mark

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Context manager in which all reads see the store as at the beginning, even if another process adds games."""
        with self._failures():
            self.connection.execute("BEGIN")
        try:
            yield
        finally:
            self.connection.execute("ROLLBACK")

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self.connection.execute("COMMIT")
        except BaseException:
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
            raise

    @contextmanager
    def _failures(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise self._explained(error) from None

    def _explained(self, error: sqlite3.Error) -> StoreError:
        path, code = self.directory / STORE_NAME, getattr(error, "sqlite_errorcode", 0) & 0xFF
        said = " ".join(str(error).split())
        if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
            reason = "the disk is full" if code == sqlite3.SQLITE_FULL else "the disk or the allowed file size is full"
            return StoreFailure(
                f"{path}: {reason} ({said})",
                "every game stored before is safe: make room and give the same command again",
            )
        if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_ERROR):
            return DamagedStore(
                f"{path}: damaged, or not a file of elolab's ({said})",
                f"restore it from a copy, or {OTHER_FOLDER}",
            )
        if code == sqlite3.SQLITE_CANTOPEN and os.path.exists(path) and not os.access(path, os.R_OK):
            return StoreFailure(f"{path}: cannot be read: {os.strerror(errno.EACCES)}", "change its permissions")
        return StoreFailure(f"{path}: cannot be used: {said}", "every game stored before is safe")


def _place_of(key: str, pairing: Pairing) -> tuple[Any, ...]:
    """The values of ``PLACE_COLUMNS`` for a game with this key and pairing."""
    place = (*pairing.place, pairing.round, pairing.pair, pairing.first, pairing.second, pairing.opening)
    return (key, *place)


def _row_of(record: GameRecord) -> tuple[Any, ...]:
    place = record.pairing
    moves = [
        (move, score, depth, nodes, round(time_ms, 3), variation, reported_ms) if reported_ms is not None
        else (move, score, depth, nodes, round(time_ms, 3), variation) if variation
        else (move, score, depth, nodes, round(time_ms, 3))
        for move, score, depth, nodes, time_ms, variation, reported_ms in record.moves
    ]  # fmt: skip
    return (
        *_place_of(record.key, place),
        record.first, record.second,
        record.opening.position, " ".join(record.opening.moves), record.opening.name,
        record.result, record.reason, len(record.moves), record.digest, record.engine_identity,
        record.started_at, record.duration_ms, record.final_position,
        json.dumps(record.detail, ensure_ascii=False, sort_keys=True),
        json.dumps(moves, separators=(",", ":")),
        None if record.search_statistics is None else json.dumps(record.search_statistics, separators=(",", ":")),
    )  # fmt: skip


def _record_of(row: tuple[Any, ...]) -> GameRecord:
    (
        key, series, number, round_, pair, first_index, second_index, opening_index, first, second, position,
        opening_moves, opening_name, result, reason, _, digest, identity, started_at, duration_ms, final_position,
        detail, moves, counted,
    ) = row  # fmt: skip
    record = GameRecord(
        key=key,
        pairing=Pairing(number, pair, first_index, second_index, opening_index, round_, series),
        first=first,
        second=second,
        opening=Opening(position, tuple(opening_moves.split()), opening_name),
        moves=tuple(itertools.starmap(MoveRecord, json.loads(moves))),
        result=result,
        reason=reason,
        engine_identity=identity,
        started_at=started_at,
        duration_ms=duration_ms,
        final_position=final_position,
        detail=json.loads(detail),
        search_statistics=None if counted is None else tuple(json.loads(counted)),
    )
    record.__dict__["digest"] = digest  # set the cached property: the checksum has verified the digest
    return record


def check_place(directory: Path) -> None:
    """Raise ``StoreError`` if a writer could not create the folder or its files; creates nothing."""
    there = next(path for path in (directory, *directory.parents) if os.path.lexists(path))
    if not there.is_dir():
        raise _cannot_make(directory, f"a file {'of that name' if there == directory else there} is in the way")
    if there != directory:
        if not os.access(there, os.W_OK):
            raise _cannot_make(directory, os.strerror(errno.EACCES))
        return
    for path in (directory, directory / LOCK_NAME, directory / STORE_NAME):
        if path != directory and os.path.lexists(path) and not path.is_file() and not _leads_to_a_new_file(path):
            raise StoreError(f"{path}: not a file", f"remove it, or {OTHER_FOLDER}")
        if path.exists() and not os.access(path, os.W_OK):
            raise StoreError(
                f"{path}: cannot be written to: {os.strerror(errno.EACCES)}",
                f"change its permissions, or {OTHER_FOLDER}",
            )


def _leads_to_a_new_file(path: Path) -> bool:
    """Whether the path is a symbolic link to a file that does not exist yet, in an existing folder."""
    return path.is_symlink() and not path.exists() and Path(os.path.realpath(path)).parent.is_dir()


def made_folder(directory: Path) -> Path:
    """Create a run's folder if needed, and return it; raises ``StoreError`` if that fails."""
    check_place(directory)
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _cannot_make(directory, error.strerror) from None
    return directory


def _cannot_make(directory: Path, reason: str | None) -> StoreError:
    return StoreError(f"{directory}: cannot make the folder: {reason}", f"give another one with {argument('out')}")


def is_in_use(directory: Path) -> bool:
    """Whether a process writes to the folder's store."""
    return user_of(directory) is not None


def user_of(directory: Path) -> str | None:
    """Process id, as text, of the process that writes to the folder's store; ``None`` if no such process is found.

    The result is ``unknown`` if the lock file does not contain the id.
    """
    try:
        handle = os.open(directory / LOCK_NAME, os.O_RDONLY)
    except OSError:  # no lock exists, or it is unreadable
        return None
    try:
        # A shared lock: readers do not block each other, and NFS grants exclusive ones only to writers.
        return None if _locked(handle, is_shared=True) else _holder(handle)
    except OSError:  # a file system without locks
        return None
    finally:
        os.close(handle)


class FolderLock:
    """Lock that excludes a second writer from a folder; the system releases it even if the process is killed."""

    def __init__(self, path: Path, remedy: str = f"wait for it to end, stop it, or {OTHER_FOLDER}") -> None:
        """Acquire the lock; raises ``StoreError``, with the process and the ``remedy``, if another process holds it."""
        self._path = path
        for attempt in range(LOCK_ATTEMPTS + 1):
            if attempt:  # ``is_in_use`` holds the lock for a moment
                time.sleep(LOCK_PAUSE_SECONDS)
            try:
                self._handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
            except OSError as error:
                raise StoreError(
                    f"{path.parent}: cannot write there: {error.strerror}", "give another folder"
                ) from None
            try:
                # The previous holder removed the file at its end: another one may have replaced it.
                if _locked(self._handle) and _leads_to(path, self._handle):
                    break
            except OSError as error:
                os.close(self._handle)
                raise StoreError(
                    f"{path.parent}: its file system has no locks to keep a second run out ({error.strerror})",
                    f"give a folder on a local disk with {argument('out')}",
                ) from None
            holder = _holder(self._handle)
            os.close(self._handle)
        else:
            raise StoreError(f"{path.parent}: in use by another elolab (process {holder})", remedy)
        try:
            os.ftruncate(self._handle, 0)
            os.write(self._handle, f"{os.getpid()}\n".encode())
        except OSError:
            pass  # on a full disk the lock still works; only its holder's id is missing

    def release(self) -> None:
        """Release the lock and remove its file; may be called twice."""
        if self._handle >= 0:
            # The file is removed before its lock is released, so that a waiting process sees that it has an old file.
            with suppress(OSError):
                if _leads_to(self._path, self._handle) and not self._path.is_symlink():
                    self._path.unlink()
            os.close(self._handle)
            self._handle = -1


def _leads_to(path: Path, handle: int) -> bool:
    """Whether the path still refers to the file open under the descriptor ``handle``."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(handle))
    except OSError:
        return False


def _holder(handle: int) -> str:
    """Process id, as text, of the process that holds the lock; ``unknown`` if the lock file is empty."""
    return os.read(handle, 20).decode("ascii", "replace").strip() or "unknown"


def _locked(handle: int, *, is_shared: bool = False) -> bool:
    """Try to lock an open file without waiting; returns false if another process holds the lock.

    Several processes can hold a lock that ``is_shared``. The system releases the lock when the process ends. Raises
    ``OSError`` if the file system does not support locks.
    """
    try:
        fcntl.flock(handle, (fcntl.LOCK_SH if is_shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):  # the latter on systems with mandatory locks
        return False
    return True
