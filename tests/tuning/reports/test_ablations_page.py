"""The page of four ablations holds what the stored results say."""

from __future__ import annotations

import csv
import re
import sys
from pathlib import Path

import pytest

from elolab.engine.errors import UserError
from elolab.engine.language import Catalogue
from elolab.engine.settings.configuration import find_config
from elolab.tuning.reports.wording import MESSAGES

sys.path.insert(0, str(Path(__file__).parents[3] / "docs" / "site"))
from ablations_pages import FOLDER, GAMES, PAGES, QUESTIONS, ablations_page, question_chart, read_ablations

ROOT = Path(__file__).parents[3]
EACH_PAGE = pytest.mark.parametrize("page", PAGES)


@EACH_PAGE
def test_a_page_is_what_its_command_writes(page: str) -> None:
    text = ablations_page(ROOT, page)
    assert (ROOT / "docs" / page).read_text("utf-8") == text, "run make docs"
    assert "{{" not in text
    for link in re.findall(r"\]\(([^):#]+)\)", text):
        assert (ROOT / "docs" / link).exists(), link


def test_the_tables_have_the_numbers_of_the_stored_results() -> None:
    lines = [line.split(" | ") for line in (ROOT / "docs/ablations.md").read_text("utf-8").splitlines()]
    shown = [line for line in lines if len(line) == 6 and " ± " in line[2]]
    stored = []
    for question in QUESTIONS:
        for game, ending in GAMES.items():
            path = ROOT / FOLDER / f"{question}{ending}" / "ablation.csv"
            if path.is_file():
                with path.open(encoding="utf-8") as file:
                    stored += [(game, row) for row in csv.DictReader(file)]
    assert len(shown) == len(stored) > 20
    for (game, label, elo, verdict, games, _), (stored_game, row) in zip(shown, stored, strict=True):
        assert (game.strip("| ").lower(), label, verdict, games) == (
            stored_game, row["label"], row["verdict"], row["games"],
        )  # fmt: skip
        assert int(elo.split()[0].replace("−", "-")) == round(float(row["elo"]))


@pytest.mark.integration
@pytest.mark.parametrize("question", QUESTIONS)
def test_a_figure_has_every_comparison_and_depths_up_to_eight(question: str) -> None:
    ablations = read_ablations(ROOT, question)
    assert [one.game for one in ablations][:1] == ["xiangqi"]
    figure = question_chart(ablations, Catalogue(MESSAGES, "en"))
    labels = [label.get_text() for axes in figure.axes for label in axes.get_yticklabels()]
    assert sum(" / " in label for label in labels) == sum(len(one.comparisons) for one in ablations)
    for ablation in ablations:
        assert find_config("ablations", ablation.name).is_file()
        depths = {depth for row in ablation.comparisons for depth in ablation.ratios(row)}
        assert not depths or max(depths) == 8, ablation.name


def test_braces_that_name_nothing_are_refused(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/ablations-source.md").write_text("{{null-depth xiangqi none}}", "utf-8")
    with pytest.raises(UserError, match=r"ablations-source\.md: .* names nothing"):
        ablations_page(tmp_path, "ablations.md")
