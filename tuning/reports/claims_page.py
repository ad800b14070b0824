"""The pages ``docs/claims*.md``: their text with every table and figure taken from the kept results.

    make docs

The text is ``docs/claims-source*.md``. What stands there in double braces is filled in; its first word is the game,
whose results are in the folders that ``RUNS`` names:

- ``{{xiangqi rows}}``: the rows of the table of verdicts
- ``{{xiangqi confirmed}}``, ``refuted``, ``undecided``, ``decided`` (all three), ``asked``: numbers of claims
- ``{{xiangqi open}}``: the claims without a result
- ``{{xiangqi games xiangqi-again}}``: the games of a folder
- ``{{xiangqi C14 half and twice against fixed}}``: what that measure of the claim gave, with its interval
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.errors import UserError
from engine.language import Catalogue
from engine.settings.configuration import read_toml
from tuning.claims.run import MeasureRow
from tuning.claims.spec import CONFIRMED, REFUTED, UNDECIDED
from tuning.reports.claims import effect_text, range_text
from tuning.reports.document import MESSAGES

RUNS = {"xiangqi": ("xiangqi", "xiangqi-again"), "othello": ("othello", "othello-again")}
"""Folders of ``results/reference/claims`` by game; where two have the same claim, the later one holds."""
PAGES = {"claims.md": "en", "claims.zh-CN.md": "zh"}
"""The pages, and their languages."""
TEXTS = {"en": "claim", "zh": "claim_zh"}
"""The key under which a table of claims has a claim's text in a language."""
VERDICTS = (CONFIRMED, REFUTED, UNDECIDED)


@dataclass(frozen=True)
class KeptClaim:
    """What the kept results say of one claim."""

    run: str
    """The folder they are in."""
    verdict: str
    headline: MeasureRow
    games: int
    measures: Mapping[str, MeasureRow]
    """By label."""


@dataclass(frozen=True)
class KeptClaims:
    """What the kept results say of a game's claims."""

    texts: Mapping[str, Mapping[str, Any]]
    """The tables of all claims of the game, by id in the order of the file."""
    results: Mapping[str, KeptClaim]
    """Of those with a result, by id in the same order."""
    games: Mapping[str, int]
    """Games by folder."""


def read_kept_claims(root: Path, game: str) -> KeptClaims:
    """Read the table of claims of a game and its kept results below the project's folder ``root``."""
    texts = {entry["id"]: entry for entry in read_toml(root / "configs" / "claims" / f"{game}.toml")["claims"]}
    found: dict[str, KeptClaim] = {}
    games = {}
    for run in RUNS[game]:
        folder = root / "results" / "reference" / "claims" / run
        measures: dict[str, dict[str, MeasureRow]] = {}
        for row in _rows(folder / "measures.csv"):
            measures.setdefault(row["claim"], {})[row["label"]] = _measure_row(row)
        claims = _rows(folder / "claims.csv")
        games[run] = sum(int(row["games"]) for row in claims)
        for row in claims:
            own = measures[row["claim"]]
            found[row["claim"]] = KeptClaim(run, row["verdict"], own[row["measure"]], int(row["games"]), own)
    return KeptClaims(texts, {name: found[name] for name in texts if name in found}, games)


def claims_page(root: Path, page: str) -> str:
    """The text of a page (a key of ``PAGES``), filled in. Raises ``UserError`` for braces that name nothing."""
    source = _source_of(page)
    message = Catalogue(MESSAGES, PAGES[page])
    kept = {game: read_kept_claims(root, game) for game in RUNS}

    def fill(match: re.Match[str]) -> str:
        subject, *what = match[1].split(" ", 2)
        try:
            return _filled(kept[subject], what[0], " ".join(what[1:]), message)
        except (KeyError, IndexError):
            raise UserError(f"docs/{source}: {match[0]} names nothing in results/reference/claims") from None

    text = re.sub(r"\{\{(.*?)\}\}", fill, (root / "docs" / source).read_text("utf-8"))
    return f"<!-- Made by `make docs` from {source} and results/reference/claims; edit the former. -->\n\n" + text


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


def _filled(kept: KeptClaims, what: str, rest: str, message: Catalogue) -> str:
    verdicts = [result.verdict for result in kept.results.values()]
    if what == "rows":
        return "\n".join(
            f"| {name} | {kept.texts[name][TEXTS[message.language]]} | {message(f'outcome.{result.verdict}')} "
            f"| {_figure(result.headline, message)} | {result.games} |"
            for name, result in kept.results.items()
        )
    if what in VERDICTS:
        return str(verdicts.count(what))
    if what == "decided":
        return str(len(verdicts))
    if what == "asked":
        return str(len(kept.texts))
    if what == "open":
        return ", ".join(name for name in kept.texts if name not in kept.results)
    if what == "games":
        return str(kept.games[rest])
    return _figure(kept.results[what].measures[rest], message)


def _figure(row: MeasureRow, message: Catalogue) -> str:
    return f"{effect_text(row, message)} {range_text(row)}".rstrip().replace("+∞", "∞")


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _measure_row(row: Mapping[str, str]) -> MeasureRow:
    return MeasureRow(
        claim=row["claim"], label=row["label"], kind=row["kind"], of=row["of"], limit=row["limit"],
        expect=row["expect"], outcome=row["outcome"], unit=row["unit"], effect=float(row["effect"]),
        low=float(row["low"]), high=float(row["high"]), threshold=float(row["threshold"]), cases=int(row["cases"]),
        games=int(row["games"]), games_needed=None,
    )  # fmt: skip


if __name__ == "__main__":
    for written in write_claims_pages(Path.cwd()):
        print(written)
