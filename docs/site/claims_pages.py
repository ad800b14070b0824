"""The pages ``docs/claims*.md`` and their figure: texts with every table and number taken from the stored results.

    make docs

The texts are ``docs/claims-source*.md``. What stands there in double braces is filled in. The stored results of a table
``NAME`` of ``configs/claims`` are in ``results/reference/claims/NAME-full``.

- ``{{table}}``: the row of each claim: its text, the verdict and number then and now, how much was asked, the command
  that repeats it
- ``{{xiangqi rows}}``: a table of all parts of a table of claims, with their cells
- ``{{xiangqi C9a now play}}``: the effect of that cell, with its interval: part, engine and the limit's name
- ``{{xiangqi C9a then verdict}}``: the verdict on that part in that engine
- ``{{xiangqi count}}``: parts, games and verdicts of a table; ``{{all count}}``: of all tables as one family
- ``{{earlier}}``: links to the reports of runs by the rules of an earlier version, which know no parts
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from page_parts import rows_of, write_figure

from elolab.engine.errors import UserError
from elolab.engine.language import Catalogue
from elolab.engine.settings.configuration import read_toml
from elolab.tuning.claims.claims_results import CellRow, cell_row
from elolab.tuning.claims.claims_spec import STRENGTH
from elolab.tuning.claims.part_verdicts import OPEN, VERDICTS, stays_in_family, verdict_of_cells
from elolab.tuning.keys.claims import ENGINES
from elolab.tuning.reports.claims_charts import claims_forest
from elolab.tuning.reports.claims_report import quoted_effect, range_text
from elolab.tuning.reports.tuning_charts import chart_words
from elolab.tuning.reports.wording import MESSAGES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FOLDER = Path("results") / "reference" / "claims"
PAGES = {
    "claims.md": "en", "claims.zh-CN.md": "zh", "claims-appendix.md": "en", "claims-appendix.zh-CN.md": "zh",
}  # fmt: skip
"""The pages, and their languages."""
FIGURES = {"claims-forest.svg": "en", "claims-forest.zh-CN.svg": "zh"}
"""The figures in ``docs``, and their languages."""
TEXTS = {"en": "claim", "zh": "claim_zh"}
"""The key under which a table of claims has a text in a language."""
ROWS = {
    "C1": ("xiangqi", "C1a"), "C2": ("xiangqi", "C2a"), "C3": ("restated", "C3f"), "C4": ("xiangqi", "C4a"),
    "C5": ("xiangqi", "C5c"), "C6": ("xiangqi", "C6a"), "C7": ("xiangqi", "C7b"), "C8": ("xiangqi", "C8a"),
    "C9": ("xiangqi", "C9a"), "C10": ("xiangqi", "C10a"), "C11": ("xiangqi", "C11c"),
    "C12": ("othello-restated", "C12d"), "C13": ("xiangqi", "C13a"), "C14": ("restated", "C14e"),
    "C15": ("xiangqi", "C15a C15b C15c C15d"), "C16": ("othello-restated", "C16d"),
    "C17": ("othello", "C17b"), "C18": ("xiangqi", "C18a C18c C18e"),
    "C19": ("xiangqi", "C19a"), "C20": ("othello", "C20a"), "C21": ("supplement", "C21b"), "C22": ("xiangqi", "C22a"),
    "C23": ("restated", "C23d"), "C24": ("xiangqi", "C24a C24b"), "C25": ("xiangqi", "C25b"),
    "C26": ("xiangqi", "C26a C26b C26c C26d C26e C26f C26g C26h"), "C27": ("xiangqi", "C27a"),
    "C28": ("othello-restated", "C12d"), "C29": ("othello", "C29a"),
}  # fmt: skip
"""The parts that answer each claim in the page's table, which must all hold: their table and ids."""
RESTATED = ("restated", "othello-restated")
"""Tables of questions that were put anew, after other results."""


@dataclass(frozen=True)
class KeptPart:
    """What the stored results say of one part."""

    verdicts: Mapping[str, str]
    """The verdict in each engine that is asked."""
    p_values: Mapping[str, float]
    stays: frozenset[str]
    """Engines whose verdict stays under Holm's procedure over its table."""
    depends: bool
    games: int
    amendments: int
    cells: tuple[CellRow, ...]


@dataclass(frozen=True)
class KeptClaims:
    """What the stored results say of the claims of a table."""

    game: str
    claims: Mapping[str, Mapping[str, Any]]
    """The tables of all claims of the file, by id."""
    texts: Mapping[str, Mapping[str, Any]]
    """The tables of all parts of the file, by id in its order."""
    limits: Mapping[str, str | Mapping[str, str]]
    """Search limits of the full budget, by name; a table by engine where the engines have different limits."""
    parts: Mapping[str, KeptPart]
    """The parts that have a result, by id, in the order of ``texts``."""
    run: str
    """Name of the folder of the results; empty without results."""
    positions: int
    """Number of positions that a part of weight 1 searches."""

    def positions_of(self, part: str) -> int:
        """Number of positions that a part searches."""
        return round(self.positions * self.texts[part].get("weight", 1))


def read_kept_claims(root: Path, table: str) -> KeptClaims:
    """Read a table of claims and its stored results below the project's folder ``root``."""
    file = read_toml(root / "configs" / "claims" / f"{table}.toml")
    texts = {part["id"]: part for claim in file["claims"] for part in claim["parts"]}
    limits = file.get("budgets", {}).get("full", {}).get("limits", {})
    folder = root / FOLDER / f"{table}-full"
    found: dict[str, KeptPart] = {}
    if (folder / "cells.csv").is_file():
        cells: dict[str, list[CellRow]] = {}
        for row in rows_of(folder / "cells.csv"):
            cells.setdefault(row["part"], []).append(cell_row(row))
        for row in rows_of(folder / "claims.csv"):
            asked = [engine for engine in ENGINES if row[f"verdict_{engine}"]]
            found[row["part"]] = KeptPart(
                {engine: row[f"verdict_{engine}"] for engine in asked},
                {engine: float(row[f"p_value_{engine}"]) for engine in asked if row[f"p_value_{engine}"]},
                frozenset(engine for engine in asked if row[f"family_{engine}"] == "stays"),
                row["depends"] == "True", int(row["games"]), int(row["amendments"]), tuple(cells[row["part"]]),
            )  # fmt: skip
    order = [name for name in texts if name in found]
    claims = {claim["id"]: claim for claim in file["claims"]}
    return KeptClaims(
        file["game"], claims, texts, limits, {name: found[name] for name in order}, folder.name if found else "",
        file.get("budgets", {}).get("full", {}).get("positions", 0),
    )  # fmt: skip


def read_tables(root: Path) -> dict[str, KeptClaims]:
    """Every table of claims below the project's folder ``root``, by name."""
    names = sorted(path.stem for path in (root / "configs" / "claims").glob("*.toml"))
    return {name: read_kept_claims(root, name) for name in names}


def earlier_runs(root: Path) -> list[str]:
    """Folders of runs by the rules of an earlier version."""
    return sorted(path.parent.name for path in (root / FOLDER).glob("*/measures.csv"))


def claims_page(root: Path, page: str) -> str:
    """The text of a page (a key of ``PAGES``), filled in. Raises ``UserError`` for braces that name nothing."""
    source = page.replace("claims", "claims-source", 1)
    message = Catalogue(MESSAGES, PAGES[page])
    kept = read_tables(root)

    def fill(match: re.Match[str]) -> str:
        subject, *what = match[1].split(" ")
        try:
            if subject == "earlier":
                return _earlier(root, message)
            if subject == "table":
                return _answers_table(kept, message)
            if subject == "all":
                return _count_of_all(kept, message)
            return _filled(kept[subject], what, message)
        except (KeyError, IndexError, StopIteration):
            raise UserError(f"docs/{source}: {match[0]} names nothing in {FOLDER}") from None

    text = re.sub(r"\{\{(.*?)\}\}", fill, (root / "docs" / source).read_text("utf-8"))
    return f"<!-- Made by `make docs` from {source} and {FOLDER}; edit the former. -->\n\n" + text


def claims_figure(root: Path, language: str) -> Figure:
    """The figure of the page: the least favourable cell of each claim, then and now, with the claim's verdict."""
    kept = read_tables(root)
    rows = {
        claim: {engine: replace(row, verdict=answer.verdicts[engine]) for engine, row in answer.rows.items()}
        for claim in ROWS for answer in (answer_of(kept, claim),)
    }  # fmt: skip
    return claims_forest(rows, chart_words(Catalogue(MESSAGES, language)))


def write_claims_pages(root: Path) -> list[Path]:
    """Write all pages and figures below the project's folder ``root`` and return their paths."""
    paths = []
    for page in PAGES:
        path = root / "docs" / page
        path.write_text(claims_page(root, page), "utf-8")
        paths.append(path)
    for name, language in FIGURES.items():
        path = root / "docs" / name
        write_figure(path, partial(claims_figure, root, language))
        paths.append(path)
    return paths


# The table of claims


@dataclass(frozen=True)
class Answer:
    """What the parts that answer a claim come to."""

    claim: str
    text: Mapping[str, Any]
    verdicts: Mapping[str, str]
    """In each engine in which all parts are asked: the verdict that they share, otherwise ``open``."""
    rows: Mapping[str, CellRow]
    """In each engine the cell that is least favourable to the claim."""
    stays: frozenset[str]
    """Engines in which all verdicts stay in the family."""
    depends: bool
    is_amended: bool
    games: int
    positions: int
    command: str


def answer_of(kept: Mapping[str, KeptClaims], claim: str) -> Answer:
    """The answer to a claim by its parts in ``ROWS``."""
    table, ids = ROWS[claim]
    own = kept[table]
    parts = [own.parts[name] for name in ids.split()]
    engines = [engine for engine in ENGINES if all(engine in part.verdicts for part in parts)]
    rows = {
        engine: min((row for part in parts for row in part.cells if row.engine == engine), key=_favour)
        for engine in engines
    }
    text = own.claims.get(claim) or next(one.claims[claim] for one in kept.values() if claim in one.claims)
    words = [] if own.game == "xiangqi" else ["--game", own.game]
    played = parts[0].cells[0].kind in STRENGTH
    return Answer(
        claim, text, {engine: verdict_of_cells([part.verdicts[engine] for part in parts]) for engine in engines}, rows,
        frozenset(engine for engine in engines if all(engine in part.stays for part in parts)),
        any(part.depends for part in parts), table in RESTATED or any(part.amendments for part in parts),
        sum(part.games for part in parts),
        0 if played else max(own.positions_of(name) for name in ids.split()),
        " ".join(["elolab claims", *words, "--repeat", ids]),
    )  # fmt: skip


def _favour(row: CellRow) -> float:
    """How far the least favourable end of the interval lies in the expected direction, in units of the margin or 1."""
    low, high = row.outcome(row.low, row.high)
    if row.expect in ("equal", "equivalent"):
        return -max(high, -low)
    return -high if row.expect == "same" else low


def _answers_table(kept: Mapping[str, KeptClaims], message: Catalogue) -> str:
    heads = [message(f"claims.{name}") for name in ("claim", "verdict_then", "verdict_now", "asked", "repeat")]
    lines = [" | ".join(["", *heads, ""]).strip(), "| --- | --- | --- | ---: | --- |"]
    for claim in ROWS:
        answer = answer_of(kept, claim)
        mark = "†" * answer.is_amended + "‡" * answer.depends
        name = f"**{claim}**{mark} {answer.text[TEXTS[message.language]]}"
        engines = [_answer_text(answer, engine, message) for engine in ENGINES]
        asked = (message("claims.games_needed", games=answer.games) if answer.games
                 else message("claims.positions_needed", positions=answer.positions))  # fmt: skip
        lines.append(" | ".join(["", name, *engines, asked, f"`{answer.command}`", ""]).strip())
    return "\n".join(lines)


def _answer_text(answer: Answer, engine: str, message: Catalogue) -> str:
    if engine not in answer.verdicts:
        return "–"
    verdict = message(f"outcome.{answer.verdicts[engine]}")
    alone = answer.verdicts[engine] != OPEN and engine not in answer.stays
    return verdict + r"\*" * alone + f"<br>{_figure(answer.rows[engine], message)}"


# Tables of parts


def _earlier(root: Path, message: Catalogue) -> str:
    runs = earlier_runs(root)
    return message("claims.earlier", reports=message("list.comma").join(map(_link, runs))) if runs else ""


def _link(run: str) -> str:
    return f"[{run}](../{FOLDER.as_posix()}/{run}/report.md)"


def _count_of_all(kept: Mapping[str, KeptClaims], message: Catalogue) -> str:
    """How many verdicts there are in all tables, and how many stay in their own family and in one of all."""
    known = {f"{table} {part} {engine}": own.p_values.get(engine) for table, one in kept.items()
             for part, own in one.parts.items() for engine in own.verdicts
             if one.texts[part].get("expect")}  # fmt: skip
    own = sum(len(part.stays) for one in kept.values() for part in one.parts.values())
    stay = stays_in_family(known, len(known))
    decided = sum(value is not None for value in known.values())
    return message("claims.count_of_all", verdicts=len(known), decided=decided, own=own, stay=len(stay))


def _filled(kept: KeptClaims, what: Sequence[str], message: Catalogue) -> str:
    name = what[0]
    if name == "rows":
        return _parts_table(kept, message) if kept.run else message("claims.no_run")
    if name == "count":
        return _count(kept, message) if kept.run else message("claims.no_run")
    part, engine, limit = kept.parts[name], what[1], " ".join(what[2:])
    if limit == "verdict":
        return message(f"outcome.{part.verdicts[engine]}")
    cell = next(row for row in part.cells if (row.engine, row.limit_name) == (engine, limit))
    return _figure(cell, message)


def _count(kept: KeptClaims, message: Catalogue) -> str:
    found = Counter(verdict for part in kept.parts.values() for verdict in part.verdicts.values())
    shown = message("list.comma").join(
        message("claims.count_of_verdict", count=found[one], verdict=message(f"outcome.{one}"))
        for one in (*VERDICTS, "shown") if found[one]
    )  # fmt: skip
    limits = message("list.semicolon").join(f"{limit} `{_limit_text(own)}`" for limit, own in kept.limits.items())
    games = sum(part.games for part in kept.parts.values())
    return message("claims.count", parts=len(kept.parts), games=games, verdicts=shown, limits=limits,
                   report=_link(kept.run))  # fmt: skip


def _limit_text(limit: str | Mapping[str, str]) -> str:
    """A limit, or those of both engines, then and now."""
    return limit if isinstance(limit, str) else " / ".join(limit[engine] for engine in ENGINES)


def _parts_table(kept: KeptClaims, message: Catalogue) -> str:
    # An engine in which no part of the table is asked has no column.
    engines = [engine for engine in ENGINES if any(engine in part.verdicts for part in kept.parts.values())]
    heads = [message("claims.part"), message("claims.says"), *(message(f"engine.{engine}") for engine in engines),
             message("claims.games")]  # fmt: skip
    lines = [" | ".join(["", *heads, ""]).strip(), "| " + "--- | " * (len(heads) - 1) + "---: |"]
    for name, part in kept.parts.items():
        mark = "†" * bool(part.amendments) + "‡" * part.depends
        of_engines = [_engine_text(kept, name, engine, message) for engine in engines]
        row = [name + mark, kept.texts[name].get(TEXTS[message.language], ""), *of_engines, str(part.games)]
        lines.append(" | ".join(["", *row, ""]).strip())
    return "\n".join(lines)


def _engine_text(kept: KeptClaims, name: str, engine: str, message: Catalogue) -> str:
    """The verdict of an engine and its cells, each with its limit, or why there are none."""
    part = kept.parts[name]
    if engine not in part.verdicts:
        return str(kept.texts[name].get(f"not_{engine}{'' if message.language == 'en' else '_zh'}", ""))
    alone = engine in part.p_values and engine not in part.stays
    verdict = f"**{message(f'outcome.{part.verdicts[engine]}')}**" + r"\*" * alone
    cells = [
        message("claims.cell_of_limit", limit=row.limit_name, figure=_figure(row, message)) for row in part.cells
        if row.engine == engine
    ]  # fmt: skip
    return "<br>".join([verdict, *cells])


def _figure(row: CellRow, message: Catalogue) -> str:
    """The effect with its interval; cases also as a rate, for its interval is that of the rate."""
    return f"{quoted_effect(row, message)} {range_text(row)}".rstrip().replace("+∞", "∞")


if __name__ == "__main__":
    for written in write_claims_pages(Path.cwd()):
        print(written)
