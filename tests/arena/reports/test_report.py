"""The report: what it says, how it packs games, and the page itself in a real browser."""

from __future__ import annotations

import base64
import csv
import json
import re
import zlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from elolab.arena.records import GameRecord, GameSummary, MoveRecord, Opening, Outcome, Pairing, PlayerSpec
from elolab.arena.reports.document import TEXT, TextTable, table_markdown
from elolab.arena.reports.packed_games import NO_DEPTH, NO_NODES, NO_SCORE, packed_times
from elolab.arena.reports.tournament_charts import convergence, ratings_chart
from elolab.arena.reports.write import exported
from elolab.arena.schedule import games_that_count
from elolab.arena.sequential import SequentialSettings
from elolab.arena.statistics.numbers import signed
from elolab.arena.statistics.standings import tables_of
from elolab.arena.tournament_spec import TournamentSpec
from elolab.engine.language import LANGUAGES
from elolab.engine.rules import Adjudication, Rules
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.parameters import resolve
from elolab.engine.values import BAN, BAN_BOUND, MATE, MATE_BOUND
from tests.support.browser import Browser
from tests.support.report_files import chunk_of, write_report

START = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1"
LATE = {"fault": {"player": "external", "text": "late by 3 ms"}, "dialogue": ["0.1 > go", "0.2 < <b>hm</b>"]}
NAMES = ("default", "<plain> & simple", "external")
LINE = ("h2e2", "h9g7", "h0g2", "i9h9", "i0h0", "b9c7", "h0h6", "c6c5")
MOVES = (
    MoveRecord("h2e2", 31, 5, 1000, 1.25, "h2e2 h9g7 h0g2"),
    MoveRecord("h9g7", -28, 6, 999, 0.5, "h9g7 h0g2 a9a5 b0c2"),
    MoveRecord("h0g2", None, None, None, 1234.5),
    MoveRecord("i9h9", 29990, 7, 123456, 12.0),
)


def specification() -> TournamentSpec:
    parameters = tuple(resolve({}, "test", "xiangqi").items())
    players = (
        PlayerSpec(NAMES[0], "builtin", Limits(nodes=1000), parameters),
        PlayerSpec(NAMES[1], "builtin", Limits(depth=4), tuple(resolve({"null_move": False}, game="xiangqi").items())),
        PlayerSpec(
            NAMES[2], "uci", Limits(move_time_ms=100), command=("some-engine", "--quiet"), options=(("Hash", "16"),)
        ),
    )
    return TournamentSpec(
        name="sample", game="xiangqi", format="round_robin", players=players, pairs=2, seed=7, openings="xiangqi",
        rules=Rules(), adjudication=Adjudication(), source="sample.toml",
    )  # fmt: skip


def game(number: int, first: int, second: int, pair: int, result: str, reason: str, **rest: object) -> GameRecord:
    opening = Opening(START, LINE[:2] if pair else (), f"line {pair}")
    moves = tuple(MoveRecord(move, 10, 3, 100, 1.0) for move in LINE[2:]) if pair else MOVES
    return GameRecord(
        key=f"{number:032x}", pairing=Pairing(number, pair, first, second, pair), first=NAMES[first],
        second=NAMES[second], opening=opening, moves=moves, result=result, reason=reason,
        engine_identity="0123456789ab", **rest,
    )  # type: ignore[arg-type]  # fmt: skip


def sample() -> list[GameRecord]:
    return [
        game(0, 0, 1, 0, "1-0", "checkmate"),
        game(1, 1, 0, 0, "0-1", "resign_adjudication"),
        game(2, 0, 1, 1, "1/2-1/2", "repetition"),
        game(3, 1, 0, 1, "0-1", "checkmate"),
        game(4, 0, 2, 0, "1-0", "time_forfeit", detail=LATE),
    ]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(tmp_path_factory.mktemp("run"), specification(), sample(), planned_games=12)


def unpacked(data: bytes) -> tuple[dict, dict[str, np.ndarray]]:
    """The documented layout, read independently of the page."""
    length = int.from_bytes(data[:4], "little")
    header, rest = json.loads(data[4 : 4 + length]), data[4 + length :]
    total, columns = sum(header["games"]["plies"]), {}
    for name, width in (("move", 2), ("score", 2), ("depth", 1), ("nodes", 4), ("time", 2), ("plies", 1)):
        planes = np.frombuffer(rest[: width * total], np.uint8).reshape(width, total).astype(np.int64)
        columns[name] = sum(planes[plane] << (8 * plane) for plane in range(width))
        rest = rest[width * total :]
    total = int(columns["plies"].sum())
    planes = np.frombuffer(rest, np.uint8).reshape(2, total).astype(np.int64)
    columns["variations"] = planes[0] + 256 * planes[1]
    return header, columns


def test_packed_games_keep_every_move() -> None:
    records = sample()
    header, columns = unpacked(chunk_of(records, "xiangqi"))
    moves = [entry for record in records for entry in record.moves]
    assert [header["vocabulary"][index] for index in columns["move"]] == [entry.move for entry in moves]
    scores = columns["score"].astype(np.uint16).view(np.int16)
    assert scores.tolist() == [NO_SCORE if entry.score is None else entry.score for entry in moves]
    assert columns["depth"].tolist() == [NO_DEPTH if entry.depth is None else entry.depth for entry in moves]
    assert columns["nodes"].tolist() == [NO_NODES if entry.nodes is None else entry.nodes for entry in moves]
    places = iter(columns["variations"].tolist())
    variations = [" ".join(header["vocabulary"][next(places)] for _ in range(plies)) for plies in columns["plies"]]
    assert variations == [entry.principal_variation for entry in moves]
    assert header["games"]["key"] == [record.key[:12] for record in records]
    assert header["openings"][1] == [START, "h2e2 h9g7"]
    assert header["faults"] == {"4": {"text": "external: late by 3 ms.", "dialogue": "0.1 > go\n0.2 < <b>hm</b>"}}
    assert "4" not in header["details"]


def test_details_of_a_game_are_sentences() -> None:
    """The settings of a study are in the players' names; what has no sentence is not shown."""
    details: tuple[dict[str, object], ...] = (
        {"sets": [[2, "false"], [3, "true"]], "something": {"new": 1}},
        {"sets": [[2], [3]], "limit": "nodes=400", "exact_score": -12},
        {"overruns": [{"moves": 0, "worst_ms": 0.0}, {"moves": 2, "worst_ms": 50.5}]},
        {"pondering": [{"tries": 3, "hits": [4]}, {"tries": 0, "hits": []}]},
    )
    told = {
        "en": {
            "1": "With best play, White wins by 12 discs. Limit: nodes=400.",
            "2": "<plain> & simple exceeded the time limit by up to 50.5 ms on 2 moves, within the margin.",
            "3": "default pondered 3 times; the opponent made the expected move 1 time.",
        },
        "zh": {
            "1": "双方走最佳着法时，白方胜 12 子。 搜索限制：nodes=400。",
            "2": "<plain> & simple 有 2 着超出限时，最多 50.5 毫秒，仍在宽限之内。",
            "3": "default 后台思考 3 次，其中 1 次猜中对手的着法。",
        },
    }
    records = [game(place, 0, 1, 0, "0-1", "checkmate", detail=detail) for place, detail in enumerate(details)]
    for language, sentences in told.items():
        header, _ = unpacked(chunk_of(records, "othello", language))
        assert header["details"] == sentences
        assert header["faults"] == {}


def test_dialogues_are_kept_from_their_end_and_bounded_together(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [f"{number} < line {number}" for number in range(5)]
    faulty = [game(place, 0, 1, 0, "0-1", "crash", detail=LATE | {"dialogue": lines}) for place in range(3)]
    monkeypatch.setattr("elolab.arena.reports.packed_games.MAX_DIALOGUE", 30)
    monkeypatch.setattr("elolab.arena.reports.packed_games.MAX_DIALOGUES", 45)
    header, _ = unpacked(chunk_of(faulty, "xiangqi"))
    kept = [header["faults"][place]["dialogue"].splitlines() for place in "012"]
    assert kept == [lines[-2:], lines[-2:], []]


@pytest.mark.parametrize("time_ms", [0.0, 0.001, 0.999, 1.2345, 99.9, 1234.5, 86_400_000.0])
def test_packed_times_are_within_half_a_percent(time_ms: float) -> None:
    (packed,) = packed_times(np.array([time_ms])).tolist()
    assert packed < 2**16
    assert (packed % 1024) * 10 ** (packed // 1024) / 1000 == pytest.approx(time_ms, rel=0.006, abs=0.0006)


def test_five_thousand_games_stay_small() -> None:
    generator = np.random.default_rng(1)
    squares = [f"{file}{rank}" for file in "abcdefghi" for rank in range(10)]
    vocabulary = [one + other for one in squares[::3] for other in squares[::2] if one != other][:1200]
    moves = tuple(
        MoveRecord(vocabulary[a], int(b), int(c), int(d), float(e))
        for a, b, c, d, e in zip(
            generator.integers(0, 1200, 35_000), generator.normal(0, 200, 35_000), generator.integers(3, 9, 35_000),
            generator.lognormal(8, 1, 35_000), generator.lognormal(0, 0.5, 35_000), strict=True,
        )
    )  # fmt: skip
    records = [
        GameRecord(f"{number:032x}", Pairing(number, number, 0, 1, 0), NAMES[0], NAMES[1], Opening(START),
                   moves[140 * number : 140 * (number + 1)], "1-0", "checkmate", "0123456789ab")
        for number in range(250)
    ]  # fmt: skip
    # Random moves and node counts compress worst; a twentieth of 5 000 games must stay below a twentieth of 10 MB.
    assert len(base64.b64encode(zlib.compress(chunk_of(records, "xiangqi"), 9))) < 10_000_000 / 20


def test_files_of_a_report(report: Path) -> None:
    folder = report.parent
    for name in ("ratings", "crosstable", "pairs", "convergence", "endings", "lengths"):
        assert (folder / "plots" / f"{name}.svg").read_bytes().startswith(b"<?xml")
    rows = list(csv.DictReader((folder / "standings.csv").open(encoding="utf-8")))
    assert sorted(row["player"] for row in rows) == sorted(NAMES)
    rows = list(csv.DictReader((folder / "crosstable.csv").open(encoding="utf-8")))
    assert len(rows) == 4
    text = (folder / "report.md").read_text(encoding="utf-8")
    for picture in re.findall(r"!\[.*?\]\((.*?)\)", text):
        assert (folder / picture).is_file()


def test_the_matrix_says_who_is_stronger_than_whom(report: Path) -> None:
    rows = list(csv.DictReader((report.parent / "superiority.csv").open(encoding="utf-8")))
    for row in rows:
        assert float(row[row["player"]]) == 0.5
        for other in rows:
            assert float(row[other["player"]]) + float(other[row["player"]]) == pytest.approx(1)
    page = report.read_text(encoding="utf-8")
    assert page.count('class="cross matrix"') == 1
    assert '<a href="#superiority">Likelihood of superiority</a>' in page
    share = 100 * float(next(row for row in rows if row["player"] == "default")[NAMES[1]])
    assert f"<strong>{share:.1f}</strong>" in page


def sequential_report(folder: Path) -> Path:
    """A test that was decided, and two games more that ended later."""
    players = specification().players[:2]
    test = SequentialSettings(0, 150, batch_pairs=4)
    spec = replace(specification(), players=players, format="sprt", sprt=test, pairs=100)
    games = []
    for pair in range(60):
        games.append(game(2 * pair, 0, 1, pair, "1-0", "checkmate"))
        games.append(game(2 * pair + 1, 1, 0, pair, "1/2-1/2" if pair % 2 else "0-1", "repetition"))
    count = games_that_count(spec, [Outcome(record.key, record.pairing, record.score) for record in games])
    assert count < 100
    return write_report(folder, spec, games[: count + 2], planned_games=count)


def test_a_sequential_test_has_a_section_and_marks_what_does_not_count(tmp_path: Path, browser: Browser) -> None:
    report = sequential_report(tmp_path)
    page, text = report.read_text(encoding="utf-8"), (tmp_path / "report.md").read_text(encoding="utf-8")
    for said in ("H1 accepted after", "2 games ended after the test was decided", "Elo after the test", "bounds −2.94"):
        assert said in page
        assert said in text
    assert "Likelihood of superiority" not in page
    assert (tmp_path / "plots" / "sequential.svg").is_file()
    (standing, _) = csv.DictReader((tmp_path / "standings.csv").open(encoding="utf-8"))
    number = int(standing["games"])
    document = loaded(browser, report, f"#game={number}")
    assert "This game ended after the test was decided and does not count." in document
    assert body_of(document, "game-list").count("(not counted)") == 2


@pytest.mark.usefixtures("without_charts")
def test_anchors_are_said(tmp_path: Path) -> None:
    spec = replace(specification(), anchors=((NAMES[1], 1800.0),))
    page = write_report(tmp_path, spec, sample(), planned_games=12).read_text(encoding="utf-8")
    assert "Elo, with &lt;plain&gt; &amp; simple = 1800 fixed" in page
    assert '<td class="number">1800.0</td><td class="number">fixed</td>' in page


def test_page_and_summary_say_what_was_played(report: Path) -> None:
    page, text = report.read_text(encoding="utf-8"), (report.parent / "report.md").read_text(encoding="utf-8")
    settings = ("nodes=1000", "null_move = off", "some-engine --quiet", "Hash = 16")
    for said in (*settings, "0123456789ab", "7 of 12 planned games"):
        assert said in page
        assert said in text
    assert specification().command_line == "elolab tournament sample.toml"
    assert "elolab tournament sample.toml" in page


def test_page_loads_nothing_and_escapes_names(report: Path) -> None:
    page = report.read_text(encoding="utf-8")
    assert "&lt;plain&gt; &amp; simple" in page
    assert "<plain>" not in page
    assert "{{" not in page
    addresses = set(re.findall(r"https?://[^\s\"'<)]+", page))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert not re.search(r"<(link|img|iframe)\b|<script[^>]+src=", page)


def test_ids_in_the_page_are_unique(report: Path) -> None:
    page = report.read_text(encoding="utf-8")
    ids = re.findall(r'\sid="([^"]+)"', page[: page.index('<script type="application/octet-stream"')])
    assert len(ids) == len(set(ids))


@pytest.mark.integration
def test_same_records_give_the_same_files(report: Path, tmp_path: Path) -> None:
    again = write_report(tmp_path, specification(), iter(sample()), planned_games=12)
    for path in sorted(path for path in report.parent.rglob("*") if path.is_file()):
        other = again.parent / path.relative_to(report.parent)
        assert other.read_bytes() == path.read_bytes(), path.name


@pytest.mark.integration
def test_a_tournament_without_games_has_a_report(tmp_path: Path) -> None:
    page = write_report(tmp_path, specification(), [], planned_games=12).read_text(encoding="utf-8")
    assert "12 of 12 planned games" in page
    assert "nan" not in (tmp_path / "report.md").read_text(encoding="utf-8").lower()


def two_players(results: list[tuple[str, str]]) -> tuple[TournamentSpec, list[GameRecord]]:
    """A match, and its games by the results of the first game and the second one of each pair."""
    games = []
    for pair, (one, other) in enumerate(results):
        games += [
            game(2 * pair, 0, 1, pair, one, "checkmate"), game(2 * pair + 1, 1, 0, pair, other, "checkmate")
        ]  # fmt: skip
    return replace(specification(), players=specification().players[:2], format="match", pairs=len(results)), games


@pytest.mark.usefixtures("without_charts")
def test_the_finding_of_a_match_is_that_of_its_figures(tmp_path: Path) -> None:
    for results, said in (
        ([("1-0", "0-1")] * 10, "default leads and is clearly ahead of"),
        ([("0-1", "1-0")] * 10, "clearly ahead of default"),
        ([("1-0", "1-0")] * 9 + [("1-0", "0-1")], "default leads, but is not clearly ahead of"),
        ([("1-0", "1-0")] * 10, "are level"),
    ):  # fmt: skip
        spec, games = two_players(results)
        write_report(tmp_path, spec, games, planned_games=len(games))
        summary = (tmp_path / "report.md").read_text(encoding="utf-8").split("\n\n")[2]
        rows = csv.DictReader((tmp_path / "crosstable.csv").open(encoding="utf-8"))
        figures = max(rows, key=lambda row: float(row["elo"]))
        assert said in summary
        shown = (signed(float(figures[name])) for name in ("elo", "elo_low", "elo_high"))
        assert "({} Elo, 95 % interval {} to {})".format(*shown) in summary


@pytest.mark.usefixtures("without_charts")
def test_a_hole_in_a_run_that_was_made_shorter_misses_nothing(tmp_path: Path) -> None:
    spec, games = two_players([("1-0", "0-1")] * 3)
    for pairs, missing in ((2, ""), (3, "1 of 6 planned games has not been played")):
        write_report(tmp_path, replace(spec, pairs=pairs), games[:4] + games[5:], planned_games=6)
        text = (tmp_path / "report.md").read_text(encoding="utf-8")
        assert missing in text
        assert ("been played" in text) == bool(missing)


@pytest.mark.usefixtures("without_charts")
def test_one_game_outside_pairs_is_one(tmp_path: Path) -> None:
    spec, games = two_players([("1-0", "0-1")] * 3)
    one, two = "1 game is outside complete pairs: it counts", "2 games are outside complete pairs: they count"
    for places, said, pairs in (((0, 2, 3, 4, 5), one, "2 complete pairs"), ((0, 2, 4, 5), two, "1 complete pair.")):
        write_report(tmp_path, spec, [games[place] for place in places], planned_games=6)
        text = (tmp_path / "report.md").read_text(encoding="utf-8")
        assert said in text
        assert pairs in text


@pytest.mark.usefixtures("without_charts")
@pytest.mark.parametrize("language", LANGUAGES)
def test_tables_have_a_dash_for_what_is_not_known_of_players_without_games(tmp_path: Path, language: str) -> None:
    _, games = two_players([("1-0", "0-1"), ("1-0", "1-0")] * 10)
    write_report(tmp_path, specification(), games, planned_games=120, language=language)
    line = next(line for line in (tmp_path / "report.md").read_text("utf-8").splitlines() if line.startswith("| 3 |"))
    rank, _, rating, error, points, played, *_, score, _, depth, nodes, time = line.strip("| ").split(" | ")
    assert (rank, points, played) == ("3", "0", "0")
    assert {rating, error, score, depth, nodes, time} == {"–"}
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "∞" not in page


@pytest.mark.integration
def test_figures_show_nothing_of_players_without_games_nor_a_moment_twice() -> None:
    spec, games = two_players([("1-0", "0-1"), ("1-0", "1-0")] * 10)
    names = [player.name for player in specification().players]
    tables = tables_of(spec.game, names, games)
    (axes,) = ratings_chart(tables, "en").axes
    places = {float(place) for line in axes.lines for place in line.get_ydata() if line.get_marker() == "o"}
    assert places == {0.0, 1.0}
    pairs, ratings = convergence(tables, [GameSummary.of(record) for record in games])
    assert pairs == sorted(set(pairs)) == list(range(1, 21))
    assert len(ratings) == len(pairs)
    ratings_chart(tables_of(spec.game, names, []), "en")


# In a browser


SHOWN = "(replay.game !== null && !element('replay').hasAttribute('aria-busy')) || !element('failure').hidden"
"""Whether a page shows a game, or says why it does not."""


def loaded(browser: Browser, page: Path, fragment: str) -> str:
    """The page's document after its scripts ran."""
    browser.open("about:blank")  # for another fragment alone is no other page
    browser.open(f"{page.as_uri()}{fragment}")
    return after(browser, "")


def after(browser: Browser, actions: str) -> str:
    """The document after ``actions`` (JavaScript) ran on the loaded page; a promise at their end is waited for."""
    browser.until(SHOWN)
    browser.value(actions)
    browser.until(SHOWN)
    document: str = browser.value("document.documentElement.outerHTML")
    return document


def acted(browser: Browser, page: Path, actions: str) -> str:
    """The document after ``actions`` ran on the page with game 0 open."""
    loaded(browser, page, "#game=0&ply=0")
    return after(browser, actions)


def body_of(document: str, table: str) -> str:
    found = re.search(rf'<table id="{table}".*?<tbody>(.*?)</tbody>', document, re.DOTALL)
    assert found, f"no table {table}"
    return found.group(1)


def check_third_game(document: str) -> None:
    assert re.search(r'<p id="failure" role="alert" hidden=""></p>', document)
    moves = body_of(document, "move-list")
    assert re.findall(r"[a-i]\d[a-i]\d", moves) == list(LINE)
    assert moves.count("opening") == 2
    # h0g2 is Red's and i9h9 Black's: 10 centipawns each in the mover's view.
    assert re.findall(r"[+−]0\.10", moves)[:2] == ["+0.10", "−0.10"]
    assert "Game 3: &lt;plain&gt; &amp; simple – default, 0–1" in document
    # After all eight plies: Red's rook stands on h6, and a black pawn on c5.
    position = re.search(r'<code id="position">(.*?)</code>', document)
    assert position
    assert position.group(1) == "r1bakabr1/9/1cn3nc1/p3p1pRp/2p6/9/P1P1P1P1P/1C2C1N2/9/RNBAKAB2 w - - 8 5"
    assert document.count("<title>Red pawn</title>") == 5


def test_replay_in_a_browser(report: Path, browser: Browser) -> None:
    document = loaded(browser, report, "#game=3&ply=8")
    check_third_game(document)
    assert body_of(document, "game-list").count("<tr") == 5


def test_replay_without_the_browsers_own_decompression(report: Path, tmp_path: Path, browser: Browser) -> None:
    page = tmp_path / "old.html"
    text = report.read_text(encoding="utf-8")
    page.write_text(text.replace('"use strict";', "delete window.DecompressionStream;", 1), encoding="utf-8")
    check_third_game(loaded(browser, page, "#game=3&ply=8"))


def test_faults_and_missing_values_are_shown(report: Path, browser: Browser) -> None:
    document = loaded(browser, report, "#game=4")
    head = document.partition('id="fault"')[2].partition('<div class="replay-grid">')[0]
    assert "late by 3 ms" in head
    assert "0.2 &lt; &lt;b&gt;hm&lt;/b&gt;" in head
    assert " hidden" not in head
    other = loaded(browser, report, "#game=3").partition('id="fault"')[2]
    assert other.startswith(" hidden")
    moves = body_of(document, "move-list")
    assert "−mate in 5" in moves
    assert "–" in moves
    assert "1\u202f230" in moves


def test_keys_move_through_game_and_games(report: Path, browser: Browser) -> None:
    keys = ["ArrowRight", "ArrowRight", "ArrowLeft", "f", "l"]
    press = 'for (const key of %s) element("replay").dispatchEvent(new KeyboardEvent("keydown", { key }));'
    document = acted(browser, report, press % json.dumps(keys))
    assert "After ply 1 of 4, Black to move:" in document
    assert re.search(r'id="seat-near">.{0,60}&lt;plain&gt; &amp; simple \(Black\)', document)
    # The toggle turned whatever this machine's fonts had chosen.
    letters = 'id="letters" aria-pressed="true"' in document
    assert (">K</text>" in document) == letters
    assert (">帥</text>" in document) != letters
    document = acted(browser, report, press % json.dumps(["ArrowDown", "ArrowDown", "End"]))
    assert "Game 2: default – &lt;plain&gt; &amp; simple, ½–½" in document
    assert "After ply 8 of 8, Red to move:" in document


def test_scores_beyond_the_ordinary_are_put_in_words(report: Path, browser: Browser) -> None:
    scores = [MATE_BOUND, -MATE + 3, MATE_BOUND - 1, BAN_BOUND, 4 - BAN, BAN_BOUND - 1, -31]
    document = acted(browser, report, f"document.title = {scores}.map(scoreText).join();")
    title = re.search("<title>(.*?)</title>", document)
    assert title
    mates, repetitions = ["+mate in 64", "−mate in 2"], ["+repetition", "+repetition", "−repetition"]
    assert title.group(1).split(",") == [*mates, *repetitions, "+288.71", "−0.31"]


def show_names(names: Sequence[str], width: int, folder: Path, browser: Browser) -> None:
    """Load a report of four games between players with these names, in a window of ``width`` pixels."""
    records = [replace(one, first=names[one.pairing.first], second=names[one.pairing.second]) for one in sample()[:4]]
    spec = specification()
    players = tuple(replace(player, name=name) for player, name in zip(spec.players, names, strict=False))
    browser.resize(width)
    loaded(browser, write_report(folder, replace(spec, players=players), records, planned_games=4), "")


def test_long_names_break_no_other_words(tmp_path: Path, browser: Browser) -> None:
    """A word in one line is one rectangle."""
    names = [f"{'W' * 59}{number}" for number in range(2)]
    show_names(names, 1120, tmp_path, browser)
    lines = """[...document.querySelectorAll('#game-list tbody tr')].map((row) => {
        const range = document.createRange(), text = row.cells[4].firstChild;
        range.setStart(text, 0);
        range.setEnd(text, text.data.split(' ')[0].length);
        return range.getClientRects().length;
    })"""
    assert set(browser.value(lines)) == {1}


def test_names_of_settings_break_after_an_underscore(tmp_path: Path, browser: Browser) -> None:
    names = [f"history_weight {number}, aspiration_window 228" for number in range(2)]
    show_names(names, 390, tmp_path, browser)
    lines = """[...document.querySelectorAll('#game-list tbody tr')].flatMap((row) => [1, 2].flatMap((column) =>
        [...row.cells[column].childNodes].filter((node) => node.data).map((text) => {
            const range = document.createRange();
            range.setStart(text, 0);
            range.setEnd(text, text.data.split(' ')[0].length);
            return range.getClientRects().length;
        })))"""
    assert browser.value(lines) == [1] * 4 * 2 * 3


def test_filters_and_sorting(report: Path, browser: Browser) -> None:
    choose = """
        const change = (id, value) => { element(id).value = value; element(id).dispatchEvent(new Event("change")); };
        change("filter-player", "0"); change("filter-result", "won");
        document.querySelector('th[data-key="plies"] button').click();
        document.querySelector('th[data-key="plies"] button').click();
    """
    document = acted(browser, report, choose)
    assert re.findall(r'href="#game=(\d+)"', body_of(document, "game-list")) == ["3", "0", "1", "4"]
    assert "4 of 5 games" in document
    assert 'data-key="plies" aria-sort="descending"' in document


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("<script>alert(1)</script>", r"\<script>alert(1)\</script>"),
        ("[click](http://x)", r"\[click](http://x)"),
        ("a|`b`", r"a\|\`b\`"),
        ("null_move 4 * 2", "null_move 4 * 2"),
        ("`b` [c](d)", r"\`b\` \[c](d)"),
        ("A*1 and *B", r"A\*1 and \*B"),
        ("_old_ and __new", r"\_old\_ and \_\_new"),
        (r"$a$ \<b>", r"\$a\$ \\\<b>"),
    ],
)
def test_a_player_s_name_is_plain_text_in_markdown(name: str, written: str) -> None:
    table = TextTable((("player", ""),), (TEXT,), ((name,),))
    assert table_markdown(table).splitlines()[-1] == f"| {written} |"


@pytest.mark.usefixtures("without_charts")
def test_no_name_is_a_formula_in_a_spreadsheet(tmp_path: Path) -> None:
    """Also of openings, which come from other people's files; numbers below zero stay numbers."""
    names = {NAMES[0]: "=1+1", NAMES[1]: "-2+3", NAMES[2]: "@SUM(A1)"}
    spec = specification()
    spec = replace(spec, players=tuple(replace(player, name=names[player.name]) for player in spec.players))
    games = [
        replace(record, first=names[record.first], second=names[record.second],
                opening=replace(record.opening, name="+cmd|' /C calc'!A0"))
        for record in sample()
    ]  # fmt: skip
    with exported(tmp_path, spec, games, len(games)) as records:
        write_report(tmp_path, spec, records, planned_games=len(games))
    for name in ("games", "standings", "crosstable", "superiority"):
        rows = list(csv.reader((tmp_path / f"{name}.csv").open(encoding="utf-8", newline="")))
        for cell in (cell for row in rows for cell in row if cell[:1] in tuple("=+-@")):
            float(cell)
        assert any(cell == "'=1+1" for row in rows for cell in row)
    (standing,) = (row for row in csv.DictReader((tmp_path / "standings.csv").open()) if row["player"] == "'@SUM(A1)")
    assert float(standing["rating"]) < 0


@pytest.mark.parametrize(("nodes", "cell"), [((None, None), ""), ((None, 40), "40"), ((0, 0), "0"), ((7, 40), "47")])
def test_nodes_that_no_player_said_are_an_empty_cell_of_the_games(
    nodes: tuple[int | None, int | None], cell: str, tmp_path: Path
) -> None:
    """As in the table of moves, where ``elolab.load_games`` has NA."""
    moves = tuple(MoveRecord(move, 3, 1, told, 1.0) for move, told in zip(("h2e2", "h9g7"), nodes, strict=True))
    record = replace(sample()[0], moves=moves)
    with exported(tmp_path, specification(), [record], 1) as games:
        list(games)
    (row,) = csv.DictReader((tmp_path / "games.csv").open())
    assert (row["nodes"], row["plies"]) == (cell, "2")


@pytest.mark.usefixtures("without_charts")
def test_wrong_reports_of_players_are_a_section(tmp_path: Path) -> None:
    records = [game(0, 0, 1, 0, "1-0", "checkmate"), game(1, 1, 0, 0, "0-1", "checkmate")]
    moves = (records[1].moves[0]._replace(principal_variation="a0a9"), *records[1].moves[1:])
    write_report(tmp_path, specification(), [records[0], replace(records[1], moves=moves)], planned_games=2)
    text = (tmp_path / "report.md").read_text("utf-8")
    assert "## Principal variations and mate scores" in text
    table = text.partition("## Principal variations and mate scores")[2].partition("\n## ")[0]
    assert "| Player | Moves with a report | Variations | Illegal | Other move | Wrong side |" in table
    (row,) = (line for line in table.splitlines() if line.startswith("| \\<plain> & simple |"))
    assert row.split("|")[4:6] == [" 2 (0:2) ", " 1 (1:1) "]
