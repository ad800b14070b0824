"""The pages on the claims of the literature are what their source texts and the kept results make of them."""

from __future__ import annotations

import io
import math
import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pandas
import pytest

from elolab.engine.engine import StopFlag
from elolab.engine.errors import UserError
from elolab.engine.language import Catalogue
from elolab.tuning.claims.claims_results import ClaimsResult
from elolab.tuning.claims.claims_run import run_claims
from elolab.tuning.claims.claims_spec import load_claims
from elolab.tuning.reports.claims_report import claims_text, quoted_effect
from elolab.tuning.reports.wording import MESSAGES
from tests.support.small_claims import SMALL

sys.path.insert(0, str(Path(__file__).parents[3] / "docs" / "site"))
from claims_pages import PAGES, claims_page, read_kept_claims

ROOT = Path(__file__).parents[3]
EACH_PAGE = pytest.mark.parametrize("page", PAGES)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of all that the pages are made from."""
    for folder in ("docs", "configs/claims", "results/reference/claims"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("*.png"))
    return tmp_path


@EACH_PAGE
def test_a_page_is_what_its_command_writes(page: str) -> None:
    assert (ROOT / "docs" / page).read_text("utf-8") == claims_page(ROOT, page), "run make docs"


@EACH_PAGE
def test_every_brace_is_filled_in(page: str) -> None:
    text = claims_page(ROOT, page)
    assert "{{" not in text
    assert "\n\n\n" not in text


@pytest.fixture
def kept(project: Path, small_run: ClaimsResult) -> Path:
    """The same with a table of its own and a run of it."""
    (project / "configs/claims/mine.toml").write_text(SMALL, "utf-8")
    folder = project / "results/reference/claims/mine"
    folder.mkdir(parents=True, exist_ok=True)
    small_run.frame().to_csv(folder / "claims.csv", index=False)
    small_run.cells_frame().to_csv(folder / "cells.csv", index=False)
    return project


@pytest.fixture(scope="module")
def small_run(tmp_path_factory: pytest.TempPathFactory) -> ClaimsResult:
    """What a run of the small table has found before its first game, and one cell with figures."""
    folder = tmp_path_factory.mktemp("small")
    (folder / "mine.toml").write_text(SMALL, "utf-8")
    stop = StopFlag()
    stop.set()
    result = run_claims(load_claims(folder / "mine.toml", "quick"), folder / "out", stop=stop, stream=io.StringIO())
    first = result.results[0]
    row = replace(first.cells[0].row, effect=12.34, low=3.0, high=math.inf, cases=50, games=100, verdict="confirmed")
    cells = (replace(first.cells[0], row=row), *first.cells[1:])
    return replace(result, results=(replace(first, verdict="confirmed", cells=cells), *result.results[1:]))


def test_braces_are_filled_from_runs_by_parts(kept: Path) -> None:
    names = ("asked", "parts", "confirmed", "open", "unfinished", "games", "C20a then depth=2",
             "C20a then depth=2 verdict", "C20a verdict", "C20b verdict", "reports")  # fmt: skip
    source = " ".join(f"{{{{mine {name}}}}}" for name in names)
    (kept / "docs/claims-source.md").write_text(source, "utf-8")
    text = claims_page(kept, "claims.md").splitlines()[-1]
    assert text == (
        "5 5 1 0 3 100 +12.3 Elo [+3.0, ∞] confirmed confirmed shown [mine](../results/reference/claims/mine/report.md)"
    )
    (kept / "docs/claims-source.zh-CN.md").write_text("{{mine rows}}", "utf-8")
    table = claims_page(kept, "claims.zh-CN.md").splitlines()[2:]
    assert len(table) == 2 + 5
    assert "| C20a | 多一层更强。 | 证实 | depth=2：+12.3 Elo [+3.0, ∞]，证实 |" in table[2]
    assert "depth=2：尚无对局" in table[2]
    assert "原文两者皆无。" in table[3]


def test_all_tables_may_be_one_family(kept: Path) -> None:
    """Four parts of each of two tables expect something: 0.01 is enough for the second among four, but not eight."""
    for path in (kept / "configs/claims").glob("*.toml"):
        path.unlink()
    for name in ("mine", "other"):
        (kept / f"configs/claims/{name}.toml").write_text(SMALL, "utf-8")
    path = kept / "results/reference/claims/mine/claims.csv"
    table = pandas.read_csv(path)
    of_two = table["part"].isin(["C20a", "C1a"])
    table.loc[of_two, "p_value"] = [0.003, 0.01]
    table["family"] = of_two.map({True: "stays", False: None})
    table.to_csv(path, index=False)
    (kept / "docs/claims-source.md").write_text("{{all parts}} {{all own}} {{all stay}} {{all lost}}", "utf-8")
    assert claims_page(kept, "claims.md").splitlines()[-1] == "8 2 1 C1a (mine)"


def test_games_are_quoted_by_their_median_unbiased_effect(kept: Path, small_run: ClaimsResult) -> None:
    first = small_run.results[0]
    row = replace(first.cells[0].row, median_unbiased=9.8)
    assert quoted_effect(first.cells[0].row, Catalogue(MESSAGES, "en")) == "+12.3 Elo"
    assert quoted_effect(row, Catalogue(MESSAGES, "en")) == "+9.8 Elo"
    result = replace(first, cells=(replace(first.cells[0], row=row), *first.cells[1:]))
    changed = replace(small_run, results=(result, *small_run.results[1:]))
    assert "then +9.8 Elo" in claims_text(changed)
    changed.cells_frame().to_csv(kept / "results/reference/claims/mine/cells.csv", index=False)
    (kept / "docs/claims-source.md").write_text("{{mine C20a then depth=2}}", "utf-8")
    assert claims_page(kept, "claims.md").splitlines()[-1] == "+9.8 Elo [+3.0, ∞]"


def test_the_limits_of_the_full_budget_are_named(project: Path) -> None:
    (project / "docs/claims-source.md").write_text("{{othello limits}}", "utf-8")
    text = claims_page(project, "claims.md").splitlines()[-1]
    assert text.startswith("play `nodes=2000`; long `nodes=20000`; ")
    assert "deep `depth=6 / depth=11`" in text


@EACH_PAGE
def test_the_numbers_of_parts_by_verdict_add_up(page: str) -> None:
    text = claims_page(ROOT, page)
    for line in re.findall(r"^(?:Of \d+ parts.*\n.*|共 .*个分项.*)$", text, re.MULTILINE):
        counts = re.match(r"\D*(\d+)(.*?)[;；]", line.replace("\n", " "))
        assert counts is not None
        assert int(counts[1]) == sum(map(int, re.findall(r"\d+", counts[2]))), line


def test_an_engine_that_is_asked_nothing_has_no_column(kept: Path) -> None:
    cells = kept / "results/reference/claims/mine/cells.csv"
    lines = cells.read_text("utf-8").splitlines(keepends=True)
    cells.write_text("".join(line for line in lines if ",then," not in line), "utf-8")
    (kept / "docs/claims-source.md").write_text("{{mine rows}}", "utf-8")
    table = claims_page(kept, "claims.md").splitlines()[2:]
    assert table[0] == "| Part | Statement | Verdict | now | Family | Games |"
    assert table[1] == "| --- | --- | --- | --- | --- | ---: |"
    assert all(line.count(" | ") == 5 for line in table[2:])


def test_cells_are_read_as_they_were_written(kept: Path, small_run: ClaimsResult) -> None:
    written = [row for result in small_run.results for row in result.rows]
    read = [row for part in read_kept_claims(kept, "mine").parts.values() for row in part.cells]
    assert read == written


@EACH_PAGE
def test_links_lead_somewhere(page: str) -> None:
    for link in re.findall(r"\]\(([^):]+)\)", claims_page(ROOT, page)):
        assert (ROOT / "docs" / link).exists(), link


def test_runs_by_earlier_rules_are_named_as_such(project: Path) -> None:
    old = project / "results/reference/claims/before"
    old.mkdir(parents=True, exist_ok=True)
    (old / "measures.csv").write_text("claim\n", "utf-8")
    (project / "docs/claims-source.md").write_text("{{earlier}}", "utf-8")
    text = claims_page(project, "claims.md")
    assert "Reports under the rules of an earlier version" in text
    assert "[before](../results/reference/claims/before/report.md)" in text


@pytest.mark.parametrize("braces", ["{{xiangqi C99z now play}}", "{{chess rows}}", "{{xiangqi C14}}"])
def test_braces_that_name_nothing_are_refused(project: Path, braces: str) -> None:
    (project / "docs/claims-source.md").write_text(braces, "utf-8")
    with pytest.raises(UserError, match=r"claims-source\.md: .* names nothing"):
        claims_page(project, "claims.md")
