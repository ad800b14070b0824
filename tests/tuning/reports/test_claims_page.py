"""The pages on the claims of the literature hold what the stored results say, and nothing else."""

from __future__ import annotations

import csv
import math
import re
import shutil
import sys
from pathlib import Path

import pytest

from elolab.engine.errors import UserError
from elolab.engine.settings.configuration import read_toml

sys.path.insert(0, str(Path(__file__).parents[3] / "docs" / "site"))
import page_parts
from claims_pages import FIGURES, PAGES, ROWS, claims_figure, claims_page, read_tables

ROOT = Path(__file__).parents[3]
EACH_PAGE = pytest.mark.parametrize("page", PAGES)
MAIN = ("claims.md", "claims.zh-CN.md")
VERDICTS = {"confirmed": "证实", "refuted": "否定", "negligible": "可忽略", "open": "未定"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of all that the pages are made from."""
    for folder in ("docs", "configs/claims", "results/reference/claims"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("*.png", "*.svg", "*.gz"))
    return tmp_path


def stored(table: str, name: str) -> list[dict[str, str]]:
    with (ROOT / "results/reference/claims" / f"{table}-full" / f"{name}.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def rows_of_page(page: str) -> dict[str, list[str]]:
    """The cells of each row of the page's table, by claim."""
    lines = re.findall(r"^\| \*\*(C\d+)\*\*(.*) \|$", (ROOT / "docs" / page).read_text("utf-8"), re.MULTILINE)
    return {claim: [cell.strip() for cell in rest.split("|")] for claim, rest in lines}


@pytest.mark.integration
@EACH_PAGE
def test_a_page_is_what_its_command_writes(page: str) -> None:
    text = claims_page(ROOT, page)
    assert (ROOT / "docs" / page).read_text("utf-8") == text, "run make docs"
    assert "{{" not in text
    assert "\n\n\n" not in text


def test_a_figure_is_kept_where_its_font_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_parts, "chinese_font", lambda: "SimHei")
    (tmp_path / "one.svg").write_text("drawn elsewhere")
    page_parts.write_figure(tmp_path / "one.svg", lambda: pytest.fail("drawn again"))
    assert (tmp_path / "one.svg").read_text() == "drawn elsewhere"


@pytest.mark.parametrize("page", MAIN)
def test_the_page_has_a_row_for_each_claim_and_fits_a_reader(page: str) -> None:
    text = (ROOT / "docs" / page).read_text("utf-8")
    assert len(text.splitlines()) <= 150
    assert list(rows_of_page(page)) == [f"C{number}" for number in range(1, 30)] == list(ROWS)
    said = re.findall(r"^- \*\*(C\d+)\*\* (.*(?:\n  .*)*)", text, re.MULTILINE)
    assert [claim for claim, _ in said] == list(ROWS)
    if page == "claims.md":
        assert max(len(words.split()) for _, words in said) <= 80
        abstract = text.split("\n\n")[3]
        assert len(abstract.split()) <= 160
        refuted, unknown = (set(re.findall(r"\(C\d+\)", part)) for part in re.split(r"\*\*[^*]+:\*\*", abstract)[2:4])
        rows = rows_of_page(page)
        assert refuted == {f"({claim})" for claim, row in rows.items() if row[1].startswith("refuted")}
        assert unknown <= {f"({claim})" for claim, row in rows.items() if "open" in row[1] + row[2]}


@pytest.mark.parametrize("page", MAIN)
def test_the_table_has_the_numbers_of_the_stored_results(page: str) -> None:
    """Read without the page's own code: verdicts from claims.csv, effects and bounds from cells.csv."""
    for claim, (_, then, now, asked, command) in rows_of_page(page).items():
        table, ids = ROWS[claim]
        parts = [row for row in stored(table, "claims") if row["part"] in ids.split()]
        assert len(parts) == len(ids.split())
        cells = [row for row in stored(table, "cells") if row["part"] in ids.split()]
        for engine, shown in (("then", then), ("now", now)):
            verdicts = {part[f"verdict_{engine}"] for part in parts}
            if "" in verdicts:
                assert shown == "–"
                continue
            verdict = verdicts.pop() if len(verdicts) == 1 else "open"
            assert shown.startswith((verdict, VERDICTS[verdict]))
            numbers = [float(one.replace("−", "-").replace("∞", "inf")) for one in
                       re.findall(r"[+−]?(?:\d+\.?\d*|∞)", shown.split("[")[1])]  # fmt: skip
            own = [cell for cell in cells if cell["engine"] == engine]
            assert any(
                numbers == pytest.approx([*sorted((float(cell["low"]), float(cell["high"])))], rel=0.02, abs=0.06)
                for cell in own
            ), (claim, engine)
        games = sum(int(part["games"]) for part in parts)
        assert int(re.findall(r"\d+", asked)[0]) == games or not games
        assert command.endswith(f"--repeat {ids}`")
        assert ("--game othello" in command) == table.startswith("othello")


def test_each_verdict_follows_from_its_numbers() -> None:
    """The rules for a direction and for equality, by plain comparisons of the bounds of each cell with the margin."""
    for table in {table for table, _ in ROWS.values()}:
        parts = {part["id"]: part for claim in read_toml(ROOT / "configs/claims" / f"{table}.toml")["claims"]
                 for part in claim["parts"]}  # fmt: skip
        for row in stored(table, "cells"):
            low, high, margin = float(row["low"]), float(row["high"]), float(row["margin"])
            if row["part"] not in parts or row["kind"] not in ("elo", "nodes") or not row["expect"]:
                continue
            assert float(row["error_rate"]) == 0.05
            if row["kind"] == "nodes":
                low, high, margin = math.log(low), math.log(high), math.log1p(margin / 100)
            if row["expect"] in ("less", "worse", "not_more"):
                low, high = -high, -low
            if row["expect"] in ("equal", "equivalent"):
                expected = "confirmed" if -margin < low and high < margin else (
                    "refuted" if low > margin or high < -margin else "open")  # fmt: skip
            elif row["expect"] in ("not_worse", "not_more"):
                expected = "confirmed" if low > -margin else "refuted" if high < -margin else "open"
            elif -margin < low and high < margin:
                refutes = parts[row["part"]].get("refuted_by") == "negligible"
                expected = "refuted" if refutes else "negligible"
            else:
                bound = 0 if parts[row["part"]].get("refuted_by") == "opposite" else -margin
                expected = "confirmed" if low > 0 else "refuted" if high < bound else "open"
            assert row["verdict"] == expected, (table, row["part"], row["engine"], row["limit_name"])


@pytest.mark.integration
def test_an_engine_has_the_verdict_that_all_its_cells_share() -> None:
    for table in [name for name, kept in read_tables(ROOT).items() if kept.run]:
        cells = stored(table, "cells")
        for part in stored(table, "claims"):
            for engine in ("then", "now"):
                own = {row["verdict"] for row in cells if (row["part"], row["engine"]) == (part["part"], engine)}
                assert part[f"verdict_{engine}"] == (own.pop() if len(own) == 1 else "open" if own else "")


@pytest.mark.integration
@pytest.mark.parametrize("language", FIGURES.values())
def test_the_figure_has_every_claim_then_and_now(language: str) -> None:
    figure = claims_figure(ROOT, language)
    titles = [label.get_text() for axes in figure.axes for label in axes.get_yticklabels()]
    assert {title for title in titles if title} == set(ROWS)
    for name in FIGURES:
        assert (ROOT / "docs" / name).is_file()


@pytest.mark.integration
@EACH_PAGE
def test_links_lead_somewhere(page: str) -> None:
    for link in re.findall(r"\]\(([^):#]+)(?:#[^)]*)?\)", claims_page(ROOT, page)):
        assert (ROOT / "docs" / link).exists(), link


@pytest.mark.integration
@pytest.mark.parametrize("braces", ["{{xiangqi C99z now play}}", "{{checkers rows}}", "{{xiangqi C14}}"])
def test_braces_that_name_nothing_are_refused(project: Path, braces: str) -> None:
    (project / "docs/claims-source.md").write_text(braces, "utf-8")
    with pytest.raises(UserError, match=r"claims-source\.md: .* names nothing"):
        claims_page(project, "claims.md")


@pytest.mark.integration
def test_a_table_without_results_says_so(project: Path) -> None:
    shutil.rmtree(project / "results/reference/claims/endgames-full")
    (project / "docs/claims-source.md").write_text("{{endgames rows}}", "utf-8")
    assert claims_page(project, "claims.md").endswith("No run under these rules is stored yet.")
