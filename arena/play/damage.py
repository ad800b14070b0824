"""Damage to a store's file: detecting it, and building a new file from intact rows.

SQLite detects malformed pages, but not a flipped bit in a score, a move or a result. So every row has checksums: one of
a game's place in the schedule, which changes when a tournament is extended, and one of everything else.
"""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
import zlib
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

PLACE_COLUMNS = ("key", "series", "number", "round", "pair", "first_index", "second_index", "opening_index")
"""Columns in ``place_checksum``."""
CONTENT_COLUMNS = (
    "key", "first", "second", "opening_position", "opening_moves", "opening_name", "result", "reason", "plies",
    "digest", "engine_identity", "started_at", "duration_ms", "final_position", "detail", "moves", "instruments",
)  # fmt: skip
"""Columns in ``checksum``."""
FACT_COLUMNS = ("name", "value")

_OF_GAMES: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("games", PLACE_COLUMNS, "place_checksum"),
    ("games", CONTENT_COLUMNS, "checksum"),
)
_OF_FACTS = ("facts", FACT_COLUMNS, "checksum")
_CHECKED = (*_OF_GAMES, _OF_FACTS)
"""Tables, columns, and the column of their checksum."""
_ROWS = (
    ("games", (PLACE_COLUMNS, CONTENT_COLUMNS), ("place_checksum", "checksum")),
    ("facts", (FACT_COLUMNS,), ("checksum",)),
)
"""The checksums by table: all checksums of a row are verified in one pass, because a game's place follows its moves."""
_SCANS = (
    "SELECT rowid FROM games NOT INDEXED",
    "SELECT rowid FROM games NOT INDEXED ORDER BY rowid DESC",
    "SELECT rowid FROM games INDEXED BY games_by_place",
)
"""Scans of the games through different pages: one may find rows that another misses."""


class Damage(Exception):
    """A file that differs from what was written; the text says where."""


def checksum_of(values: Iterable[Any]) -> int:
    """CRC-32 of a row's values, texts as they are or in UTF-8."""
    # A list, because a generator takes a fifth longer, and there are millions of values.
    return zlib.crc32(b"\x1f".join([value if type(value) is bytes else str(value).encode() for value in values]))


def add_checksums(connection: sqlite3.Connection) -> None:
    """Upgrade a file to the schema with checksums."""
    for table, _, checksum in _CHECKED:
        connection.execute(f"ALTER TABLE {table} ADD COLUMN {checksum} INTEGER")
    renew_checksums(connection)


def renew_checksums(connection: sqlite3.Connection) -> None:
    """Compute the checksums of all rows as they are now."""
    for table, columns, checksum in _CHECKED:
        key = columns[0]
        rows = [(checksum_of(row), row[0]) for row in connection.execute(f"SELECT {', '.join(columns)} FROM {table}")]
        connection.executemany(f"UPDATE {table} SET {checksum} = ? WHERE {key} = ?", rows)


def check(connection: sqlite3.Connection, beside: Callable[[], sqlite3.Connection] | None = None) -> None:
    """Raise ``Damage`` if the file's structure or any row differs from what was written.

    ``beside`` opens the file a second time, so that both checks run in parallel.
    """
    try:
        if beside is None:
            structure, damaged = _structure_by(connection), ""
            if structure == "ok":
                damaged = _damaged_rows(connection)
        else:
            with ThreadPoolExecutor(1, "structure") as pool:  # SQLite checks without holding the interpreter's lock
                structure_beside = pool.submit(_structure_beside, beside)
                damaged = _damaged_rows(connection)
            structure = structure_beside.result()
    except sqlite3.DatabaseError as error:
        raise Damage(str(error)) from None
    if structure != "ok" or damaged:
        raise Damage(damaged if structure == "ok" else " ".join(structure.split()))


def _structure_beside(open_file: Callable[[], sqlite3.Connection]) -> str:
    with closing(open_file()) as connection:
        return _structure_by(connection)


def _structure_by(connection: sqlite3.Connection) -> str:
    """SQLite's verdict on the file's pages: ``ok``, or the problem."""
    return str(connection.execute("PRAGMA integrity_check(1)").fetchone()[0])


def _damaged_rows(connection: sqlite3.Connection) -> str:
    """Rows with wrong checksums, as text; empty if there are none."""
    for table, groups, checksums in _ROWS:
        columns = [column for group in groups for column in group]
        ends = list(accumulate(map(len, groups), initial=len(checksums)))
        damaged = []
        with _texts_as_bytes(connection):
            for row in connection.execute(f"SELECT {', '.join((*checksums, *columns))} FROM {table}"):
                if row[: len(checksums)] != tuple(checksum_of(row[start:end]) for start, end in pairwise(ends)):
                    damaged.append(_key_of(row[len(checksums)]))
        if damaged:
            kind = "game" if table == "games" else "entry"
            more = f" and {len(damaged) - 1} more" if len(damaged) > 1 else ""
            return f"checksum of the {kind} {damaged[0]}{more}"
    return ""


@contextmanager
def _texts_as_bytes(connection: sqlite3.Connection) -> Iterator[None]:
    """Read texts as bytes, because damaged ones may not be valid UTF-8."""
    factory, connection.text_factory = connection.text_factory, bytes
    try:
        yield
    finally:
        connection.text_factory = factory


def _key_of(value: Any) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def _checked(
    connection: sqlite3.Connection, table: str, columns: Iterable[str], checksum: str, number: int | None = None
) -> Iterator[tuple[str, bool]]:
    """The key of every row, or of the one with that number, and whether ``columns`` match their checksum."""
    query = f"SELECT {checksum}, {', '.join(columns)} FROM {table}"
    parameters: tuple[int, ...] = ()
    if number is not None:
        query, parameters = f"{query} WHERE rowid = ?", (number,)
    with _texts_as_bytes(connection):
        for stored, *values in connection.execute(query, parameters):
            yield _key_of(values[0]), stored == checksum_of(values)


def repair(path: Path, migrate: Callable[[sqlite3.Connection], None]) -> tuple[int, Path]:
    """Replace a damaged file by a new one with the intact games, and keep a copy of the old file.

    Returns the number of saved games and the copy's path. ``migrate`` creates the tables of a new file. Raises
    ``Damage`` if the specification of the games cannot be read, and ``OSError`` if there is no room for the copy or the
    new file; then the file stays unchanged, and no copy is left.
    """
    copy, new = _name_for_copy(path), path.with_name(f"{path.name}-new")
    new.unlink(missing_ok=True)
    try:
        _copy(path, copy)
        with (
            closing(sqlite3.connect(copy, isolation_level=None)) as source,
            closing(sqlite3.connect(new, isolation_level=None)) as target,
        ):
            migrate(target)
            saved = _save(source, target)
    except BaseException as error:
        for made in (new, copy, _log_of(copy)):
            made.unlink(missing_ok=True)
        if not isinstance(error, sqlite3.DatabaseError):
            raise
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
            raise OSError(errno.ENOSPC, "the disk is full") from None
        raise Damage(str(error)) from None
    _fold_log(path)
    for suffix in ("-wal", "-shm"):  # the old file's log, not the new one's
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    os.replace(new, path)
    return saved, copy


def _log_of(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def _fold_log(path: Path) -> None:
    """Write a file's log into the file if possible: the log remains if another process has the file open.

    The log must be gone before another file replaces this one. An interruption in between leaves the file damaged as
    before, with nothing lost.
    """
    with suppress(sqlite3.DatabaseError), closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA wal_checkpoint(FULL)")


def _name_for_copy(path: Path) -> Path:
    """A name that neither a file nor the log of an interrupted copy has."""
    number = 1
    while (copy := path.with_name(f"{path.stem}-damaged-{number}{path.suffix}")).exists() or _log_of(copy).exists():
        number += 1
    return copy


def _copy(path: Path, copy: Path) -> None:
    """Copy a file and its log."""
    if _log_of(path).exists():
        shutil.copyfile(_log_of(path), _log_of(copy))
    shutil.copyfile(path, copy)


def _columns_of(connection: sqlite3.Connection) -> list[str]:
    return [row[1] for row in connection.execute("PRAGMA table_info(games)")]


def _save(source: sqlite3.Connection, target: sqlite3.Connection) -> int:
    """Copy all metadata and the intact games; returns the number of games."""
    if not all(is_whole for _, is_whole in _checked(source, *_OF_FACTS)):
        raise Damage("what the games belong to cannot be read")
    target.execute("BEGIN IMMEDIATE")
    target.executemany("INSERT INTO facts VALUES (?, ?, ?)", source.execute("SELECT name, value, checksum FROM facts"))
    columns = _columns_of(target)
    marks = ", ".join("?" * len(columns))
    saved = 0
    for number in sorted(_row_numbers(source)):
        try:
            checks = [list(_checked(source, *checked, number)) for checked in _OF_GAMES]
            if all(len(found) == 1 and found[0][1] for found in checks):
                row = source.execute(f"SELECT {', '.join(columns)} FROM games WHERE rowid = ?", (number,)).fetchone()
                target.execute(f"INSERT OR IGNORE INTO games ({', '.join(columns)}) VALUES ({marks})", row)
                saved += 1
        except sqlite3.DatabaseError:
            continue  # an unreadable row
    target.execute("COMMIT")
    return saved


def _row_numbers(source: sqlite3.Connection) -> set[int]:
    """Numbers of all rows of games that can be found."""
    found: set[int] = set()
    for query in _SCANS:
        try:
            for (number,) in source.execute(query):
                found.add(number)
        except sqlite3.DatabaseError:
            continue  # another scan may find the rest
    return found
