"""Merging of cells that ended in other results folders, from any machine, so that they need not run again.

A cell's result is a pure function of its games and searches, which depend on its settings and seed. So rows of
``cells.csv`` replace games if the part's rule has the same digest, and openings, weights and defaults agree with
``surroundings.json``. The run's own store keeps the rows, so that it can resume without the other folders.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from elolab.arena.notation.csv_tables import unquoted
from elolab.arena.play.store import STORE_NAME, Store
from elolab.arena.run import RunError, plain
from elolab.engine.compiled.identity import engine_identity, equivalent_identities
from elolab.engine.errors import argument
from elolab.engine.settings.toml_values import format_toml
from elolab.tuning.claims.courses import outcome_of_row
from elolab.tuning.claims.registration import (
    AMENDMENTS,
    Amendment,
    AskedElsewhere,
    changed_surroundings,
    is_searched_here,
    surroundings_of,
)
from elolab.tuning.claims.results import AMENDMENT_COLUMNS, OF_SPECIFICATION, CellKey, CellRow, cell_row
from elolab.tuning.claims.spec import STRENGTH, ClaimsSpec, Part

COLUMNS = {
    "claims": frozenset({"part", "digest", "registered"}),
    "cells": frozenset(field.name for field in fields(CellRow) if field.name not in OF_SPECIFICATION),
    "amendments": frozenset(AMENDMENT_COLUMNS),
}  # fmt: skip
"""The columns that each table must have."""
SURROUNDINGS_FILE = "surroundings.json"
MERGED = "claims merged"
"""Metadata name; its value has by part: digest, date of registration, and lines of cells."""


@dataclass(frozen=True)
class MergedPart:
    """One part's cells from other folders."""

    digest: str
    """Digest of the rule under which the cells ran."""
    date: str
    """When that rule was registered: UTC, ISO 8601."""
    amendments: tuple[Amendment, ...]
    lines: tuple[Mapping[str, str], ...]
    """Lines of ``cells.csv`` for cells that have ended."""

    @property
    def rows(self) -> tuple[CellRow, ...]:
        """The ended cells."""
        return tuple(map(cell_row, self.lines))

    def asked(self, positions: int) -> AskedElsewhere:
        """The part's history elsewhere; ``positions`` is its number of positions if it is not played in games."""
        is_played = any(row.kind in STRENGTH for row in self.rows)
        return AskedElsewhere(self.date, sum(row.games for row in self.rows), 0 if is_played else positions)


def read_merged(spec: ClaimsSpec, folders: Sequence[Path], accept_engine_change: bool = False) -> dict[str, MergedPart]:
    """Read the ended cells of some folders, by part; for the same cell the folder named first wins.

    Raises ``RunError`` if a folder holds no results, or a part ran there under another rule, with other openings,
    weights or defaults, or, unless accepted, with another engine.
    """
    found: dict[str, MergedPart] = {}
    here = surroundings_of(spec) if folders else {}
    for folder in folders:
        tables = {table: _lines(folder, table) for table in COLUMNS}
        there = _surroundings_in(folder)
        for part in spec.parts:
            own = _part_of(part, folder, tables, accept_engine_change)
            if own is not None:
                _refuse_other_surroundings(part, folder, there, here)
                found[part.id] = own if part.id not in found else _joined(found[part.id], own)
    return found


def _part_of(
    part: Part, folder: Path, tables: Mapping[str, Sequence[Mapping[str, str]]], accept_engine_change: bool
) -> MergedPart | None:
    """A part's cells from a folder's tables; ``None`` if none has ended there."""
    registered = next((line for line in tables["claims"] if line["part"] == part.id), None)
    lines = tuple(line for line in tables["cells"] if line["part"] == part.id and line["ended"])
    if registered is None or not lines:
        return None
    if registered["digest"] != part.digest:
        raise RunError(
            f"{folder / 'claims.csv'}: {part.id} was asked with another game, budget, rule or settings (digest "
            f"{registered['digest'][:8]}, here {part.digest[:8]})",
            f"give the {argument('game')}, {argument('claims')} and {argument('budget')} that it was asked with, or "
            f"other parts with {argument('only')}; where presets have changed since, ask it again",
        )
    try:
        rows = tuple(map(cell_row, lines))
        amendments = tuple(_amendment(line) for line in tables["amendments"] if line["part"] == part.id)
    except (ValueError, OverflowError) as error:
        raise RunError(f"{folder}: its tables have no such values of {part.id} ({error}); {_remedy(folder)}") from None
    for row in rows:
        verdict = outcome_of_row(part, row).verdict
        if row.verdict != verdict:
            raise RunError(
                f"{folder / 'cells.csv'}: {part.id} {row.engine} {row.limit_name} is said to be {row.verdict}, but its "
                f"figures make it {verdict}; {_remedy(folder)}"
            )
    if not accept_engine_change:
        refuse_other_engines(rows, folder / "cells.csv")
    return MergedPart(part.digest, registered["registered"], amendments, lines)


def surroundings_text(surroundings: Mapping[str, Any]) -> str:
    """The file with surroundings: each distinct one once, and an index into them by part."""
    different: list[Any] = []
    for one in surroundings.values():
        if one not in different:
            different.append(one)
    parts = {name: different.index(one) for name, one in surroundings.items()}
    return json.dumps({"parts": parts, "surroundings": different}, ensure_ascii=False, indent=1) + "\n"


def _surroundings_in(folder: Path) -> dict[str, Any]:
    """A folder's registered surroundings by part; empty if an older version wrote its tables."""
    path = folder / SURROUNDINGS_FILE
    try:
        content = json.loads(path.read_text("utf-8"))
        return {name: dict(content["surroundings"][place]) for name, place in content["parts"].items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, IndexError, TypeError, AttributeError):
        raise RunError(f"{path}: is not whole, or cannot be read; {_remedy(folder)}") from None


def _refuse_other_surroundings(part: Part, folder: Path, there: Mapping[str, Any], here: Mapping[str, Any]) -> None:
    for name, before, now in changed_surroundings(there.get(part.id, {}), here[part.id]):
        raise RunError(
            f"{folder}: {part.id} was asked with {name} = {format_toml(before)}, here it is {format_toml(now)}",
            "take over what was asked with the same openings, weights and defaults, or name other parts with "
            f"{argument('only')}",
        )


def refuse_other_engines(rows: Iterable[CellRow], where: Path) -> None:
    """Raise ``RunError`` if another engine played or searched one of the cells."""
    for row in rows:
        if row.engine_identity not in equivalent_identities():
            raise RunError(
                f"{where}: {row.part} was played by engine {row.engine_identity}, this is engine {engine_identity()}",
                f"to mix them anyway add {argument('accept_engine_change')}",
            )


def _lines(folder: Path, table: str) -> list[dict[str, str]]:
    path = folder / f"{table}.csv"
    try:
        text = path.read_text("utf-8")
    except OSError:
        raise RunError(
            f"{path}: there is no such file, or none to be read",
            f"{argument('merge')} takes folders that elolab claims wrote",
        ) from None
    except UnicodeDecodeError:
        raise RunError(f"{path}: is not whole, or no table; {_remedy(folder)}") from None
    reader, lines = csv.DictReader(io.StringIO(text, newline=""), strict=True), []
    try:
        for line in reader:
            if None in line or None in line.values():
                raise csv.Error("more values than columns, or fewer")
            lines.append({column: unquoted(cell) for column, cell in line.items()})
        if not text.endswith("\n"):
            raise csv.Error("no end of the line")
    except csv.Error as error:
        raise RunError(f"{path}: line {reader.line_num} is not whole ({error}); {_remedy(folder)}") from None
    wanted = COLUMNS[table]
    if lines and not wanted <= lines[0].keys():
        missing = ", ".join(sorted(wanted - lines[0].keys()))
        raise RunError(
            f"{path}: has no column {missing}: an older version wrote it; elolab report {folder} writes it anew if its "
            "games are there"
        )
    return lines


def _remedy(folder: Path) -> str:
    """The remedy for a table that cannot be read."""
    return f"copy it anew, or elolab report {folder} writes it if its games are there"


def _amendment(line: Mapping[str, str]) -> Amendment:
    values: dict[str, Any] = dict(line)
    values["changes"] = tuple(tuple(change) for change in json.loads(line["changes"]))
    values["games"], values["positions"] = int(line["games"]), int(line["positions"])
    return Amendment(**{column: values[column] for column in AMENDMENT_COLUMNS})


def _joined(first: MergedPart, second: MergedPart) -> MergedPart:
    known = {_place(line) for line in first.lines}
    return MergedPart(
        first.digest,
        min(first.date, second.date),
        tuple(dict.fromkeys((*first.amendments, *second.amendments))),
        (*first.lines, *(line for line in second.lines if _place(line) not in known)),
    )


def _place(line: Mapping[str, str]) -> tuple[str, str]:
    return line["engine"], line["limit_name"]


def keep_merged(store: Store, merged: Mapping[str, MergedPart]) -> None:
    """Keep merged cells in the run's store; cells merged earlier take precedence.

    A part for which the run itself has searched positions stays its own.
    """
    known = known_merged(store)
    merged = {name: part for name, part in merged.items() if not is_searched_here(store, name)}
    for name, part in merged.items():
        before = known.get(name)
        known[name] = part if before is None or before.digest != part.digest else _joined(before, part)
    if not merged:
        return
    amendments = list(store.metadata(AMENDMENTS) or [])
    for part in merged.values():
        own = [{column: entry[column] for column in AMENDMENT_COLUMNS} for entry in amendments]
        amendments += [entry for entry in map(_plain_amendment, part.amendments) if entry not in own]
    entries = {
        name: {"digest": part.digest, "date": part.date, "lines": plain(list(part.lines))}
        for name, part in known.items()
    }
    store.record_metadata({MERGED: entries, AMENDMENTS: amendments})


def _plain_amendment(amendment: Amendment) -> Any:
    return plain({column: getattr(amendment, column) for column in AMENDMENT_COLUMNS})


def known_merged(store: Store) -> dict[str, MergedPart]:
    """The cells that a run has merged, by part; their amendments are among the run's own."""
    return {
        name: MergedPart(entry["digest"], entry["date"], (), tuple(entry["lines"]))
        for name, entry in (store.metadata(MERGED) or {}).items()
    }


def known_before(directory: Path) -> dict[str, MergedPart]:
    """The cells merged by the run in that folder, by part; empty without a run."""
    if not (directory / STORE_NAME).is_file():
        return {}
    with Store(directory, read_only=True) as store:
        return known_merged(store)


def merged_cells(spec: ClaimsSpec, merged: Mapping[str, MergedPart]) -> dict[CellKey, CellRow]:
    """The merged rows that belong to cells of the specification."""
    digests = {part.id: part.digest for part in spec.parts}
    return {row.key: row for name, part in merged.items() if digests.get(name) == part.digest for row in part.rows}
