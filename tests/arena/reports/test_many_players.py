"""Reports of many players: no table grows with their square; a page loads one player's opponents when asked."""

from __future__ import annotations

import csv
import itertools
import json
from dataclasses import replace
from pathlib import Path

import pytest

from elolab.arena.records import GameRecord, Pairing
from elolab.arena.reports.contents import MAX_TABLED_PLAYERS
from elolab.arena.reports.games import GAMES_FOLDER
from elolab.arena.reports.page import crosstable_html
from elolab.arena.reports.write import write_report
from elolab.arena.statistics.numbers import percent_text
from elolab.arena.tournament_spec import TournamentSpec
from tests.arena.reports.test_many_games import chunk_in
from tests.arena.reports.test_report import game, loaded, specification
from tests.support.browser import Browser

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


def test_pages_grow_with_the_players_and_not_with_their_square(tmp_path: Path) -> None:
    counts = (MAX_TABLED_PLAYERS + 1, 2 * MAX_TABLED_PLAYERS, 3 * MAX_TABLED_PLAYERS - 1)
    for small, middle, large in zip(*(sizes(count, tmp_path / str(count)) for count in counts), strict=True):
        assert large - middle < 1.15 * (middle - small)


def test_the_script_beside_the_page_has_what_the_tables_have(page: Path) -> None:
    (script,) = (page.parent / GAMES_FOLDER).glob("opponents-*.js")
    rows = json.loads(chunk_in(script))
    standings = [row["player"] for row in csv.DictReader((page.parent / "standings.csv").open())]
    results_of = csv.DictReader((page.parent / "crosstable.csv").open())
    crosstable = {(row["player"], row["opponent"]): row for row in results_of}
    heads, *shares = csv.reader((page.parent / "superiority.csv").open())
    assert [name for name, *_ in shares] == heads[1:] == standings
    assert len(rows) == len(standings)
    for place, own in enumerate(rows):
        assert [other for other, *_ in own] == [other for other in range(len(standings)) if other != place]
        for other, results, score, elo, los, difference, joint in own:
            assert joint == percent_text(float(shares[place][1 + other]))
            assert "±" in difference
            found = crosstable.pop((standings[place], standings[other]), None)
            if found is None:
                assert (results, score, elo, los) == ("", "", "", "")
            else:
                assert results == f"{found['wins']}-{found['draws']}-{found['losses']}"
                assert score == f"{100 * float(found['score']):.1f}"
    assert not crosstable


def test_a_report_of_fewer_players_has_its_tables_and_no_script(page: Path, tmp_path: Path) -> None:
    spec, records = many(MAX_TABLED_PLAYERS)
    text = write_report(tmp_path, spec, records, planned_games=len(records)).read_text("utf-8")
    assert 'class="cross' in text
    assert not (tmp_path / GAMES_FOLDER).exists()
    assert 'class="cross' not in page.read_text("utf-8")


def test_a_page_that_follows_a_run_leaves_the_crosstable_out() -> None:
    assert crosstable_html([str(number) for number in range(MAX_TABLED_PLAYERS + 1)], (), "en") == ""


def choose(player: str) -> str:
    """JavaScript that chooses a player and waits for the opponents."""
    return f"""new Promise((done) => {{
      const chooser = element("opponents-of"), body = element("opponents").querySelector("tbody");
      const watcher = new MutationObserver(() => done(1));
      watcher.observe(body, {{ childList: true }});
      watcher.observe(element("failure"), {{ childList: true }});
      chooser.value = "{player}";
      chooser.dispatchEvent(new Event("change"));
    }})"""


def test_a_browser_shows_one_players_opponents(page: Path, browser: Browser) -> None:
    loaded(browser, page, "")
    assert browser.value("element('opponents').hidden") is True
    browser.value(choose("1"))
    cells = "[...row.cells].map((cell) => cell.textContent)"
    rows = browser.value(f"[...element('opponents').querySelectorAll('tbody tr')].map((row) => {cells})")
    assert len(rows) == MAX_TABLED_PLAYERS + 1
    assert rows[0][:4] == ["1", "p000", "0-0-2", "0.0"]
    assert rows[-1][1:6] == [f"p{MAX_TABLED_PLAYERS + 1:03}", "", "", "", ""]


def test_a_page_without_its_script_says_so(page: Path, tmp_path: Path, browser: Browser) -> None:
    lonely = tmp_path / "report.html"
    lonely.write_text(page.read_text("utf-8"), "utf-8")
    loaded(browser, lonely, "")
    browser.value(choose("1"))
    assert "beside this page cannot be read" in browser.value("element('failure').textContent")
