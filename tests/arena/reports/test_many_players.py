"""Reports of many players: no table grows with their square."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import pytest

from elolab.arena.records import GameRecord, Pairing
from elolab.arena.reports.contents import MAX_TABLED_PLAYERS
from elolab.arena.reports.grids import crosstable_html
from elolab.arena.tournament_spec import TournamentSpec
from tests.arena.reports.test_report import game, specification
from tests.support.report_files import write_report

pytestmark = pytest.mark.usefixtures("without_charts")

SPAN = 4
"""Everybody plays so many neighbours on either side."""


def many(count: int) -> tuple[TournamentSpec, list[GameRecord]]:
    """A tournament in which every player won a pair against each of the next few, and a game outside pairs."""
    players = tuple(replace(specification().players[0], name=f"p{number:03}") for number in range(count))
    numbers, records = itertools.count(), []
    for first in range(count):
        for second in range(first + 1, min(first + 1 + SPAN, count)):
            for one, other, result in ((first, second, "1-0"), (second, first, "0-1")):
                number = next(numbers)
                record = game(number, 0, 1, 0, result, "checkmate")
                names = players[one].name, players[other].name
                records.append(replace(record, pairing=Pairing(number, 0, one, other, number // 2), first=names[0],
                                       second=names[1]))  # fmt: skip
    return replace(specification(), players=players), records


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    spec, records = many(MAX_TABLED_PLAYERS + 2)
    return write_report(tmp_path_factory.mktemp("many"), spec, records, planned_games=len(records))


def sizes(count: int, folder: Path) -> tuple[int, int]:
    """Characters of the page and of the summary."""
    folder.mkdir()
    spec, records = many(count)
    page = write_report(folder, spec, records, planned_games=len(records))
    return len(page.read_text("utf-8")), len((folder / "report.md").read_text("utf-8"))


@pytest.mark.integration
def test_pages_grow_with_the_players_and_not_with_their_square(tmp_path: Path) -> None:
    counts = (MAX_TABLED_PLAYERS + 1, 2 * MAX_TABLED_PLAYERS, 3 * MAX_TABLED_PLAYERS - 1)
    for small, middle, large in zip(*(sizes(count, tmp_path / str(count)) for count in counts), strict=True):
        assert large - middle < 1.15 * (middle - small)


@pytest.mark.integration
def test_a_report_of_fewer_players_has_its_tables(page: Path, tmp_path: Path) -> None:
    spec, records = many(MAX_TABLED_PLAYERS)
    text = write_report(tmp_path, spec, records, planned_games=len(records)).read_text("utf-8")
    assert 'class="cross' in text
    assert 'class="cross' not in page.read_text("utf-8")


def test_a_page_that_follows_a_run_leaves_the_crosstable_out() -> None:
    assert crosstable_html([str(number) for number in range(MAX_TABLED_PLAYERS + 1)], (), "en") == ""
