"""The pages ``docs/claims*.md``: their text with every table and figure taken from the kept results.

    make docs

The text is ``docs/claims-source*.md``. What stands there in double braces is filled in. Kept results are folders of
``results/reference/claims`` whose names begin with that of a table of ``configs/claims``; where two have the same part,
the later by name holds.

- ``{{xiangqi rows}}``: a table of all parts with their cells in the engines that any part is asked in, or that no run
  is kept yet
- ``{{xiangqi confirmed}}``, ``refuted``, ``negligible``, ``depends``, ``open``: numbers of parts; ``unfinished``: of
  those that have games left and no verdict yet; ``shown``: of those that expect nothing; ``asked``: of all that have a
  result; ``parts``: of all that its full budget has
- ``{{xiangqi played}}``: parts that are answered by games; ``cells``: the places at which they are asked;
  ``decided``, ``futility``, ``complete``: those of them that have ended so
- ``{{xiangqi games}}``: games of all kept runs; ``{{xiangqi C9b games}}``: those of a part
- ``{{xiangqi reports}}``: links to their reports
- ``{{xiangqi limits}}``: the limits that its full budget names
- ``{{xiangqi C9a now play}}``: what that cell gave, with its interval: part, engine and the limit's name
- ``{{xiangqi C9a now play verdict}}``, ``{{xiangqi C9a verdict}}``: the verdict on that cell, or on the part
- ``{{all parts}}``: parts of all tables that expect something; ``{{all own}}``: verdicts that stay in the family of
  their own table; ``{{all stay}}``: those that would stay if all these parts were one family; ``{{all lost}}``: the
  parts of those that would not
- ``{{earlier}}``: links to the reports of runs by the rules of an earlier version, which know no parts
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elolab.arena.notation.csv_tables import unquoted
from elolab.engine.errors import UserError
from elolab.engine.language import Catalogue
from elolab.engine.settings.configuration import read_toml
from elolab.tuning.claims.cells import COMPLETE, DECIDED, FUTILITY
from elolab.tuning.claims.claims_results import CellRow, cell_row
from elolab.tuning.claims.claims_spec import STRENGTH
from elolab.tuning.claims.part_verdicts import OPEN, PART_VERDICTS, SHOWN, UNFINISHED, stays_in_family
from elolab.tuning.keys.claims import ENGINES
from elolab.tuning.reports.claims_report import quoted_effect, range_text
from elolab.tuning.reports.wording import MESSAGES

FOLDER = Path("results") / "reference" / "claims"
PAGES = {"claims.md": "en", "claims.zh-CN.md": "zh"}
"""The pages, and their languages."""
TEXTS = {"en": "claim", "zh": "claim_zh"}
"""The key under which a table of claims has a part's text in a language."""


@dataclass(frozen=True)
class KeptPart:
    """What the kept results say of one part."""

    verdict: str
    """Or ``unfinished``: open, with cells that have games left."""
    family: str
    games: int
    cells: tuple[CellRow, ...]
    p_value: float | None = None


@dataclass(frozen=True)
class KeptClaims:
    """What the kept results say of the claims of a table."""

    texts: Mapping[str, Mapping[str, Any]]
    """The tables of all parts of the file, by id in its order."""
    limits: Mapping[str, str | Mapping[str, str]]
    """Those of its full budget, by name; where the engines have different ones, of each."""
    parts: Mapping[str, KeptPart]
    """Of those with a result, by id in the same order, then those that the file has no more."""
    runs: tuple[str, ...]
    """The folders they are from."""


def read_kept_claims(root: Path, table: str) -> KeptClaims:
    """Read a table of claims and its kept results below the project's folder ``root``."""
    file = read_toml(root / "configs" / "claims" / f"{table}.toml")
    texts = {part["id"]: part for claim in file["claims"] for part in claim["parts"]}
    limits = file.get("budgets", {}).get("full", {}).get("limits", {})
    found: dict[str, KeptPart] = {}
    runs = []
    for folder in sorted((root / FOLDER).glob(f"{table}*")):
        if not (folder / "cells.csv").is_file():
            continue
        runs.append(folder.name)
        cells: dict[str, list[CellRow]] = {}
        for row in _rows(folder / "cells.csv"):
            cells.setdefault(row["part"], []).append(cell_row(row))
        for row in _rows(folder / "claims.csv"):
            own = tuple(cells.get(row["part"], ()))
            is_unfinished = row["verdict"] == OPEN and not all(cell.ended for cell in own)
            verdict = UNFINISHED if is_unfinished else row["verdict"]
            p_value = float(row["p_value"]) if row["p_value"] else None
            found[row["part"]] = KeptPart(verdict, row["family"], int(row["games"]), own, p_value)
    order = [*(name for name in texts if name in found), *(name for name in found if name not in texts)]
    return KeptClaims(texts, limits, {name: found[name] for name in order}, tuple(runs))


def earlier_runs(root: Path) -> list[str]:
    """Folders of runs by the rules of an earlier version."""
    return sorted(path.parent.name for path in (root / FOLDER).glob("*/measures.csv"))


def claims_page(root: Path, page: str) -> str:
    """The text of a page (a key of ``PAGES``), filled in. Raises ``UserError`` for braces that name nothing."""
    source = _source_of(page)
    message = Catalogue(MESSAGES, PAGES[page])
    tables = [path.stem for path in (root / "configs" / "claims").glob("*.toml")]
    kept = {table: read_kept_claims(root, table) for table in tables}

    def fill(match: re.Match[str]) -> str:
        subject, *what = match[1].split(" ")
        try:
            if subject == "earlier":
                return _earlier(root, message)
            if subject == "all":
                return _of_all(kept, what[0], message)
            return _filled(kept[subject], what, message)
        except (KeyError, IndexError, StopIteration):
            raise UserError(f"docs/{source}: {match[0]} names nothing in {FOLDER}") from None

    text = re.sub(r"\{\{(.*?)\}\}", fill, (root / "docs" / source).read_text("utf-8"))
    return f"<!-- Made by `make docs` from {source} and {FOLDER}; edit the former. -->\n\n" + text


def write_claims_pages(root: Path) -> list[Path]:
    """Write all pages below the project's folder ``root`` and return their paths."""
    paths = []
    for page in PAGES:
        path = root / "docs" / page
        path.write_text(claims_page(root, page), "utf-8")
        paths.append(path)
    return paths


def _source_of(page: str) -> str:
    return page.replace("claims", "claims-source", 1)


def _earlier(root: Path, message: Catalogue) -> str:
    runs = earlier_runs(root)
    return message("claims.earlier", reports=_links(runs, message)) if runs else ""


def _links(runs: list[str] | tuple[str, ...], message: Catalogue) -> str:
    return message("list.comma").join(f"[{run}](../{FOLDER.as_posix()}/{run}/report.md)" for run in runs)


def _of_all(kept: Mapping[str, KeptClaims], name: str, message: Catalogue) -> str:
    """What the parts of all tables come to as one family."""
    parts = sum(
        "expect" in part and part.get("only", "full") == "full" for one in kept.values() for part in one.texts.values()
    )
    known = {(table, part): own for table, one in sorted(kept.items()) for part, own in one.parts.items()}
    stay = stays_in_family({f"{part} ({table})": own.p_value for (table, part), own in known.items()}, parts)
    own_stay = [f"{part} ({table})" for (table, part), own in known.items() if own.family == "stays"]
    lost = message("list.comma").join(one for one in own_stay if one not in stay)
    return {"parts": str(parts), "own": str(len(own_stay)), "stay": str(len(stay)), "lost": lost}[name]


def _filled(kept: KeptClaims, what: list[str], message: Catalogue) -> str:
    verdicts = [part.verdict for part in kept.parts.values()]
    name = what[0]
    if name == "rows":
        return _table(kept, message) if kept.runs else message("claims.no_run")
    if name == "reports":
        return _links(kept.runs, message) or message("claims.no_run")
    if name == "limits":
        return message("list.semicolon").join(f"{limit} `{_limit_text(own)}`" for limit, own in kept.limits.items())
    if name in (*PART_VERDICTS, UNFINISHED, SHOWN):
        return str(verdicts.count(name))
    if name == "asked":
        return str(sum(part in kept.parts for part in kept.texts))
    if name == "parts":
        return str(sum(part.get("only", "full") == "full" for part in kept.texts.values()))
    of_games = [part.cells for part in kept.parts.values() if part.cells and part.cells[0].kind in STRENGTH]
    if name == "played":
        return str(len(of_games))
    if name in ("cells", DECIDED, FUTILITY, COMPLETE):
        return str(sum(name in ("cells", row.ended) for rows in of_games for row in rows))
    if name == "games":
        return str(sum(part.games for part in kept.parts.values()))
    part, is_verdict = kept.parts[name], what[-1] == "verdict"
    if what[1:] == ["games"]:
        return str(part.games)
    if is_verdict and len(what) == 2:
        return message(f"outcome.{part.verdict}")
    engine, limit = what[1], " ".join(what[2 : len(what) - is_verdict])
    cell = next(row for row in part.cells if (row.engine, row.limit_name) == (engine, limit))
    return message(f"outcome.{cell.shown_verdict}") if is_verdict else _figure(cell, message)


def _limit_text(limit: str | Mapping[str, str]) -> str:
    """A limit, or those of both engines, then and now."""
    return limit if isinstance(limit, str) else " / ".join(limit[engine] for engine in ENGINES)


def _table(kept: KeptClaims, message: Catalogue) -> str:
    # Where an engine is asked nothing at all, the page says why once.
    cells = [row for part in kept.parts.values() for row in part.cells]
    engines = [engine for engine in ENGINES if any(row.engine == engine for row in cells)]
    heads = [message("claims.part"), message("claims.says"), message("claims.verdict"),
             *(message(f"engine.{engine}") for engine in engines), message("claims.family"),
             message("claims.games")]  # fmt: skip
    lines = [" | ".join(["", *heads, ""]).strip(), "| " + "--- | " * (len(heads) - 1) + "---: |"]
    for name, part in kept.parts.items():
        text = kept.texts.get(name, {}).get(TEXTS[message.language], "")
        of_engines = [_engine_text(kept, name, engine, message) for engine in engines]
        family = {"": "", "stays": message("claims.stays"), "does not": message("claims.does_not_stay")}[part.family]
        row = [name, text, message(f"outcome.{part.verdict}"), *of_engines, family, str(part.games)]
        lines.append(" | ".join(["", *row, ""]).strip())
    return "\n".join(lines)


def _engine_text(kept: KeptClaims, name: str, engine: str, message: Catalogue) -> str:
    """The cells of an engine, each with its limit, or why there are none."""
    rows = [row for row in kept.parts[name].cells if row.engine == engine]
    if not rows:
        return str(kept.texts.get(name, {}).get(f"not_{engine}{'' if message.language == 'en' else '_zh'}", ""))
    return "<br>".join(_cell_text(row, message) for row in rows)


def _cell_text(row: CellRow, message: Catalogue) -> str:
    if not row.cases and not row.ended:
        return message("claims.cell_not_asked", limit=row.limit_name)
    return message("claims.cell_of_limit", limit=row.limit_name, figure=_figure(row, message),
                   verdict=message(f"outcome.{row.shown_verdict}"))  # fmt: skip


def _figure(row: CellRow, message: Catalogue) -> str:
    """The effect with its interval."""
    return f"{quoted_effect(row, message)} {range_text(row)}".rstrip().replace("+∞", "∞")


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return [{column: unquoted(cell) for column, cell in row.items()} for row in csv.DictReader(file)]


if __name__ == "__main__":
    for written in write_claims_pages(Path.cwd()):
        print(written)
