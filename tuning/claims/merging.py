"""Merging of cells that ended in other folders of results, from any machine, so that their games are not played again.

A cell's result is a pure function of its games and searches, which depend on its settings and seed. So a row of
``cells.csv`` can replace games. This needs a rule with an equal digest, and openings, weights and defaults that agree
with ``surroundings.json``. The run's own store keeps the rows, so that the run can resume without the other folders.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from elolab.arena.notation.csv_tables import unquoted
from elolab.arena.play.store import STORE_NAME, Store
from elolab.arena.run import RunError, plain
from elolab.engine.compiled.identity import engine_identity, equivalent_identities
from elolab.engine.errors import argument
from elolab.engine.settings.toml_values import format_toml
from elolab.tuning.claims.claims_results import CellKey, CellRow, cell_row, verdict_of_row
from elolab.tuning.claims.claims_spec import STRENGTH, ClaimsSpec
from elolab.tuning.claims.registration import (
    AMENDMENT_COLUMNS,
    AMENDMENTS,
    Amendment,
    KnownElsewhere,
    changed_surroundings,
    is_searched_here,
    surroundings_of,
)

TABLES = ("claims", "cells", "amendments")
SURROUNDINGS_FILE = "surroundings.json"
MERGED = "claims merged"
"""Key of the store's metadata about merged cells. For each part it holds the digest of the part's rule, the date of
registration, and the cells' lines of ``cells.csv``."""


@dataclass(frozen=True)
class MergedPart:
    """The cells of one part of a claim that come from other folders."""

    digest: str
    """Digest of the part's whole specification when its cells were measured: game, budget, rule and presets."""
    date: str
    """Time at which that specification was registered: UTC, ISO 8601."""
    amendments: tuple[Amendment, ...]
    lines: tuple[Mapping[str, str], ...]
    """Lines of ``cells.csv`` for cells that have ended."""

    @property
    def rows(self) -> tuple[CellRow, ...]:
        """Rows of the ended cells."""
        return tuple(map(cell_row, self.lines))

    def known(self, positions: int) -> KnownElsewhere:
        """Date and numbers of the part's results.

        ``positions`` is the part's number of positions. It counts only if searches measure the part.
        """
        is_played = any(row.kind in STRENGTH for row in self.rows)
        return KnownElsewhere(self.date, sum(row.games for row in self.rows), 0 if is_played else positions)

    def joined(self, other: MergedPart) -> MergedPart:
        """The cells of both objects, for one part; a cell that both have comes from this object."""
        keys = {row.key for row in self.rows}
        return replace(
            self,
            date=min(self.date, other.date),
            amendments=tuple(dict.fromkeys((*self.amendments, *other.amendments))),
            lines=(*self.lines, *(line for line in other.lines if cell_row(line).key not in keys)),
        )


def read_merged(spec: ClaimsSpec, folders: Sequence[Path], accept_engine_change: bool = False) -> dict[str, MergedPart]:
    """Read the ended cells from folders of results, by part; if several folders have a cell, the first folder wins.

    Raises ``RunError`` if a folder holds no results, or if a part ran there with another rule, openings, weights or
    defaults. Cells of another engine also raise it unless ``accept_engine_change``.
    """
    found: dict[str, MergedPart] = {}
    here = surroundings_of(spec) if folders else {}
    for folder in folders:
        try:
            parts, there = _parts_in(folder, {part.id for part in spec.parts}), _surroundings_in(folder)
        except FileNotFoundError as error:
            raise RunError(
                f"{error.filename}: no such file",
                f"{argument('merge')} takes folders that elolab claims wrote",
            ) from None
        except (OSError, ValueError, KeyError, IndexError, TypeError, AttributeError, OverflowError) as error:
            raise RunError(
                f"{folder}: its tables are incomplete, or an older version wrote them ({error})",
                f"copy them again, or rewrite them with elolab report {folder} if its games are there",
            ) from None
        for part in spec.parts:
            if part.id not in parts:
                continue
            own = parts[part.id]
            if own.digest != part.digest:
                raise RunError(
                    f"{folder / 'claims.csv'}: {part.id} ran with another game, budget, rule or preset (digest "
                    f"{own.digest[:8]}, here {part.digest[:8]})",
                    f"give the {argument('game')}, {argument('claims')} and {argument('budget')} that it ran with, or "
                    f"other parts with {argument('only')}",
                )
            for row in own.rows:
                if row.verdict != (verdict := verdict_of_row(part, row)):
                    raise RunError(
                        f"{folder / 'cells.csv'}: the verdict on {' '.join(row.key)} is {row.verdict}, but its numbers "
                        f"give {verdict}",
                        "copy the table again",
                    )
            if not accept_engine_change:
                refuse_other_engines(own.rows, folder / "cells.csv")
            for name, before, now in changed_surroundings(there.get(part.id, {}), here[part.id]):
                raise RunError(
                    f"{folder}: {part.id} ran with {name} = {format_toml(before)}, here it is {format_toml(now)}",
                    "merge results of the same openings, weights and defaults, or name other parts with "
                    f"{argument('only')}",
                )
            found[part.id] = found[part.id].joined(own) if part.id in found else own
    return found


def _parts_in(folder: Path, names: set[str]) -> dict[str, MergedPart]:
    """Read the ended cells of the parts ``names`` from a folder's tables; parts without ended cells are left out."""
    claims, cells, amendments = (_lines(folder / f"{table}.csv") for table in TABLES)
    found = {}
    for line in (one for one in claims if one["part"] in names):
        name = line["part"]
        part = MergedPart(
            line["digest"], line["registered"],
            tuple(
                Amendment.from_plain({**one, "changes": json.loads(one["changes"])})
                for one in amendments if one["part"] == name
            ),
            tuple(cell for cell in cells if cell["part"] == name and cell["ended"]),
        )  # fmt: skip
        if part.rows:
            found[name] = part
    return found


def _lines(path: Path) -> list[dict[str, str]]:
    """The lines of a CSV file as dictionaries by column. Raises ``ValueError`` if the file is truncated."""
    text = path.read_text("utf-8")
    reader, lines = csv.DictReader(io.StringIO(text, newline="")), []
    for line in reader:
        if None in line or None in line.values():
            raise ValueError(f"{path.name}: line {reader.line_num} has too few or too many values")
        lines.append({column: unquoted(cell) for column, cell in line.items()})
    if not text.endswith("\n"):
        raise ValueError(f"{path.name}: line {reader.line_num} is truncated")
    return lines


def surroundings_text(surroundings: Mapping[str, Any]) -> str:
    """The text of ``surroundings.json``: the distinct surroundings, and for each part an index into them."""
    different: list[Any] = []
    for one in surroundings.values():
        if one not in different:
            different.append(one)
    parts = {name: different.index(one) for name, one in surroundings.items()}
    return json.dumps({"parts": parts, "surroundings": different}, ensure_ascii=False, indent=1) + "\n"


def _surroundings_in(folder: Path) -> dict[str, Any]:
    """The registered surroundings in a folder's tables, by part; empty if an older version wrote the tables."""
    path = folder / SURROUNDINGS_FILE
    if not path.exists():
        return {}
    content = json.loads(path.read_text("utf-8"))
    return {name: dict(content["surroundings"][place]) for name, place in content["parts"].items()}


def refuse_other_engines(rows: Iterable[CellRow], where: Path) -> None:
    """Raise ``RunError`` if a cell was measured by another engine than the current one; ``where`` names the folder."""
    for row in rows:
        if row.engine_identity not in equivalent_identities():
            raise RunError(
                f"{where}: {row.part} was played by engine {row.engine_identity}, this is engine {engine_identity()}",
                f"to mix them anyway add {argument('accept_engine_change')}",
            )


def keep_merged(store: Store, merged: Mapping[str, MergedPart]) -> None:
    """Write merged cells into the run's store; cells that were merged earlier take precedence.

    A part for which this run has searched positions keeps its own results.
    """
    known, amendments = known_merged(store), list(store.metadata(AMENDMENTS) or [])
    merged = {name: part for name, part in merged.items() if not is_searched_here(store, name)}
    for name, part in merged.items():
        before = known.get(name)
        known[name] = before.joined(part) if before is not None and before.digest == part.digest else part
        own = set(map(Amendment.from_plain, amendments))
        amendments += [
            plain({column: getattr(one, column) for column in AMENDMENT_COLUMNS})
            for one in part.amendments if one not in own
        ]  # fmt: skip
    if merged:
        entries = {
            name: {"digest": part.digest, "date": part.date, "lines": plain(list(part.lines))}
            for name, part in known.items()
        }
        store.record_metadata({MERGED: entries, AMENDMENTS: amendments})


def known_merged(store: Store) -> dict[str, MergedPart]:
    """The cells that a run has merged from other folders, by part.

    Their ``amendments`` are empty, because the store keeps all amendments in one list.
    """
    return {
        name: MergedPart(entry["digest"], entry["date"], (), tuple(entry["lines"]))
        for name, entry in (store.metadata(MERGED) or {}).items()
    }


def known_before(directory: Path) -> dict[str, MergedPart]:
    """The cells that the run in ``directory`` has merged from other folders, by part; empty if there is no run."""
    if not (directory / STORE_NAME).is_file():
        return {}
    with Store(directory, read_only=True) as store:
        return known_merged(store)


def merged_cells(spec: ClaimsSpec, merged: Mapping[str, MergedPart]) -> dict[CellKey, CellRow]:
    """The merged rows for cells of the specification, by the cell's key."""
    digests = {part.id: part.digest for part in spec.parts}
    return {row.key: row for name, part in merged.items() if digests.get(name) == part.digest for row in part.rows}
