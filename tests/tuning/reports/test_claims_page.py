"""The pages on the claims of the literature are what their source texts and the kept results make of them."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from engine.errors import UserError
from tuning.reports.claims_page import PAGES, claims_page, read_kept_claims

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


def test_both_languages_have_the_same_figures() -> None:
    pages = [claims_page(ROOT, page) for page in PAGES]
    figures = [re.findall(r"[+−]?[\d.]+(?: %|×| Elo| pp| 百分点) \[.*?\]|\d+ / \d+", page) for page in pages]
    assert len(figures[0]) > 40
    assert sorted(figures[0]) == sorted(figure.replace("百分点", "pp") for figure in figures[1])
    links = [[link.replace(".zh-CN", "") for link in re.findall(r"\]\((.*?)\)", page)] for page in pages]
    assert links[0] == links[1]


@EACH_PAGE
def test_links_lead_somewhere(page: str) -> None:
    for link in re.findall(r"\]\(([^):]+)\)", claims_page(ROOT, page)):
        assert (ROOT / "docs" / link).exists(), link


def test_a_claim_asked_again_shows_the_later_answer() -> None:
    kept = read_kept_claims(ROOT, "xiangqi")
    assert kept.results["C7"].run == "xiangqi-again"
    assert kept.results["C9"].run == "xiangqi"


def test_other_results_make_another_page(project: Path) -> None:
    table = project / "results/reference/claims/othello/claims.csv"
    table.write_text(table.read_text("utf-8").replace(",confirmed,", ",refuted,"), "utf-8")
    assert "0 confirmed, 11 refuted" in claims_page(project, "claims.md")


@pytest.mark.parametrize("braces", ["{{xiangqi C99 something}}", "{{chess rows}}", "{{xiangqi C14 no such measure}}"])
def test_braces_that_name_nothing_are_refused(project: Path, braces: str) -> None:
    (project / "docs/claims-source.md").write_text(braces, "utf-8")
    with pytest.raises(UserError, match=r"claims-source\.md: .* names nothing"):
        claims_page(project, "claims.md")
