"""Detects damage to a store's file.

SQLite notices malformed pages, but not a flipped bit in a score, a move or a result. Every row therefore has checksums.
A game has two: one for its place in the schedule, which changes when a tournament is extended, and one for everything
else.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable
from itertools import accumulate, pairwise
from typing import Any

PLACE_COLUMNS = ("key", "series", "number", "round", "pair", "first_index", "second_index", "opening_index")
"""Columns that ``place_checksum`` covers: the game's key and its place in the schedule."""
CONTENT_COLUMNS = (
    "key", "first", "second", "opening_position", "opening_moves", "opening_name", "result", "reason", "plies",
    "digest", "engine_identity", "started_at", "duration_ms", "final_position", "detail", "moves", "instruments",
)  # fmt: skip
"""Columns that ``checksum`` covers: the game's key and its content."""
_CHECKSUMS: dict[str, dict[str, tuple[str, ...]]] = {
    "games": {"place_checksum": PLACE_COLUMNS, "checksum": CONTENT_COLUMNS},
    "facts": {"checksum": ("name", "value")},
}
"""Columns covered by each checksum, by table and checksum column; the first column is the row's key."""


class Damage(Exception):
    """Raised if a store's file differs from what was written; the message names the place in the file."""


def checksum_of(values: Iterable[Any]) -> int:
    """CRC-32 of a row's values: bytes directly, other values as UTF-8 text."""
    # A list, because a generator takes a fifth longer, and there are millions of values.
    return zlib.crc32(b"\x1f".join([value if type(value) is bytes else str(value).encode() for value in values]))


def renew_checksums(connection: sqlite3.Connection) -> None:
    """Recompute the stored checksums of all rows from their current content."""
    for table, checksums in _CHECKSUMS.items():
        for checksum, columns in checksums.items():
            rows = connection.execute(f"SELECT {', '.join(columns)} FROM {table}").fetchall()
            renewed = [(checksum_of(row), row[0]) for row in rows]
            connection.executemany(f"UPDATE {table} SET {checksum} = ? WHERE {columns[0]} = ?", renewed)


def check(connection: sqlite3.Connection) -> None:
    """Raise ``Damage`` if the file's structure or any row differs from what was written."""
    factory, connection.text_factory = connection.text_factory, bytes  # damaged texts may not be valid UTF-8
    try:
        (structure,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
        if structure != b"ok":
            raise Damage(" ".join(structure.decode().split()))
        for table, checksums in _CHECKSUMS.items():
            _check_rows(connection, table, checksums)
    except sqlite3.DatabaseError as error:
        raise Damage(str(error)) from None
    finally:
        connection.text_factory = factory


def _check_rows(connection: sqlite3.Connection, table: str, checksums: dict[str, tuple[str, ...]]) -> None:
    """Verify all checksums of a table in one pass."""
    columns = [column for covered in checksums.values() for column in covered]
    ends = list(accumulate(map(len, checksums.values()), initial=len(checksums)))
    for row in connection.execute(f"SELECT {', '.join((*checksums, *columns))} FROM {table}"):
        if row[: len(checksums)] != tuple(checksum_of(row[start:end]) for start, end in pairwise(ends)):
            key = row[len(checksums)]
            name = key.decode(errors="replace") if isinstance(key, bytes) else str(key)
            raise Damage(f"checksum of the {'game' if table == 'games' else 'entry'} {name}")
