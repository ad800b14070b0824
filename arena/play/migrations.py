"""Migrations of a store's file from older versions of elolab. Released entries never change."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Callable, Iterable, Sequence

from elolab.arena.play.damage import add_checksums

APPLICATION_ID = 0x656C6F6C
"""Marks our files in SQLite's header ("elol")."""
SCHEMA_1 = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
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
    moves TEXT NOT NULL
);
CREATE INDEX games_by_number ON games (number);
"""

SCHEMA_2 = "ALTER TABLE games ADD COLUMN instruments TEXT"
"""Each side's search statistics as JSON; null without any."""


def schema_3(connection: sqlite3.Connection) -> None:
    """Replace ranges of one line of numbers by a series and a number in it."""
    connection.execute("ALTER TABLE games ADD COLUMN series TEXT NOT NULL DEFAULT ''")
    connection.execute("DROP INDEX games_by_number")
    connection.execute("CREATE INDEX games_by_place ON games (series, number)")
    kinds = {name for (name,) in connection.execute("SELECT name FROM facts")}
    rows = connection.execute("SELECT key, number, pair, round FROM games").fetchall()
    if "tuning" in kinds:
        _move(connection, _tuning_series(rows))
    elif "claims" in kinds:
        _move(connection, ((f"C{n // 10**8:02d}.{n // 10**7 % 10:02d}", n % 10**7, r, key) for key, n, _, r in rows))
    elif "evaluation fit" in kinds:
        (content,) = connection.execute("SELECT value FROM facts WHERE name = 'evaluation fit'").fetchone()
        _move(connection, _fit_series(rows, len(json.loads(content)["match_limits"])))


def _tuning_series(rows: Sequence[tuple[str, int, int, int]]) -> Iterable[tuple[str, int, int, str]]:
    """Numbers from 10^9 on were validations, 10^8 each; pairs from 10^8 on, rounded up to whole suites, were the
    playoff."""
    # Passes through the openings before a game: a multiple of their number.
    laps = {n // 2 - pair for _, n, pair, _ in rows if n < 10**8 and n // 2 != pair}
    later = [n // 2 - pair for _, n, pair, _ in rows if 10**8 <= n < 10**9]
    openings = min(laps, default=0)
    first = math.ceil(10**8 / openings) * openings if openings else min(later, default=0)
    for key, number, _, round_ in rows:
        if number >= 10**9:
            yield f"validation {(number - 10**9) // 10**8:02d}", number % 10**8, 0, key
        elif number >= 10**8:
            yield "playoff", number - 2 * first, 0, key
        else:
            yield "", number, round_, key


def _fit_series(rows: Sequence[tuple[str, int, int, int]], limits: int) -> Iterable[tuple[str, int, int, str]]:
    """Numbers from 10^9 on were matches, 10^6 each; those below games of self-play, 10^7 an iteration."""
    for key, number, _, round_ in rows:
        if number < 10**9:
            yield f"games {number // 10**7:03d}", number % 10**7, round_, key
            continue
        iteration, match = divmod((number - 10**9) // 10**6, 2 * limits)
        yield f"match {iteration:03d}.{match:02d}", number % 10**6, round_, key


def _move(connection: sqlite3.Connection, places: Iterable[tuple[str, int, int, str]]) -> None:
    connection.executemany("UPDATE games SET series = ?, number = ?, round = ? WHERE key = ?", list(places))


def schema_5(connection: sqlite3.Connection) -> None:
    """Allow a principal variation as a move's sixth value. No row changes, but older versions read five values."""


MIGRATIONS: tuple[str | Callable[[sqlite3.Connection], None], ...] = (
    SCHEMA_1,
    SCHEMA_2,
    schema_3,
    add_checksums,
    schema_5,
)
"""Entry ``n`` migrates a file from version ``n`` to ``n + 1``."""


def migrate(
    connection: sqlite3.Connection, migrations: Sequence[str | Callable[[sqlite3.Connection], None]] = MIGRATIONS
) -> None:
    """Migrate a file to the newest schema, each step in a transaction."""
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    for number in range(version, len(migrations)):
        step = migrations[number]
        connection.execute("BEGIN IMMEDIATE")
        try:
            if isinstance(step, str):
                for statement in step.split(";"):
                    connection.execute(statement)
            else:
                step(connection)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {number + 1}")
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
