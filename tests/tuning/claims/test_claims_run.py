"""Runs of claims: stopped and resumed, registration, amendments, reports."""

from __future__ import annotations

import csv
import gzip
import json
import math
import re
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from elolab import command_line
from elolab.arena.play.live import LIVE_NAME
from elolab.arena.play.store import Store
from elolab.arena.statistics.faults import FaultCount
from elolab.engine.engine import StopFlag
from elolab.engine.errors import UserError
from elolab.engine.language import Catalogue
from elolab.tuning.claims.cells import (
    game_seconds,
    games_at_most,
)
from elolab.tuning.claims.claims_results import ClaimsResult
from elolab.tuning.claims.claims_spec import load_claims
from elolab.tuning.claims.part_verdicts import OPEN, SHOWN
from elolab.tuning.claims.registration import AMENDMENTS
from elolab.tuning.keys.claims import EXPECTED
from elolab.tuning.matches import MatchTable
from elolab.tuning.reports.claims_report import (
    COMPRESSED,
    FILES,
    claims_data,
    claims_text,
    rule_text,
    write_claims_report,
)
from elolab.tuning.reports.wording import MESSAGES
from tests.support.small_claims import change_weights, draw_no_figures, figures, run, write_claims


@pytest.fixture(scope="module")
def claims_result(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, ClaimsResult]:
    """A small run: its table, folder and end."""
    folder = tmp_path_factory.mktemp("claims")
    path = write_claims(folder)
    return path, folder / "out", run(path, folder / "out")


@pytest.mark.integration
def test_games_forfeited_by_faults_are_told(claims_result: tuple[Path, Path, ClaimsResult]) -> None:
    _, _, result = claims_result
    assert (result.faults, result.exit_code) == ((), 0)
    late = replace(result, faults=(FaultCount("now", "time_forfeit", 2, 3, None),))
    assert late.exit_code == 1
    assert claims_data(late, None)["faults"] == [late.faults[0].data]
    assert replace(late, interrupted=True).exit_code == 130


@pytest.mark.integration
def test_every_cell_has_been_asked(claims_result: tuple[Path, Path, ClaimsResult]) -> None:
    _, out, ended = claims_result
    assert ended.exit_code == 0
    assert not ended.missing
    rows = {result.part.id: result.rows for result in ended.results}
    assert {name: [(row.engine, row.limit_name) for row in own] for name, own in rows.items()} == {
        "C20a": [("then", "depth=2"), ("now", "depth=2")],
        "C20b": [("now", "play")],
        "C1a": [("then", "shallow"), ("then", "deep"), ("now", "shallow"), ("now", "deep")],
        "C1b": [("then", "deep"), ("now", "deep")],
        "C1c": [("now", "mate")],
    }
    assert [row.unit for own in rows.values() for row in own] == [*["Elo"] * 3, *["×"] * 4, *["%"] * 2, "cases"]
    assert all(row.cases == 4 for row in rows["C1a"])
    assert rows["C20b"][0].games == 4 * rows["C20b"][0].cases * 2
    assert ended.is_indicative
    assert ended.is_fixed_beforehand
    with Store(out, read_only=True) as store:
        assert len(store) == sum(result.games for result in ended.results)


@pytest.mark.integration
def test_a_run_that_is_stopped_reports_what_it_has_and_ends_as_one_that_was_not(
    claims_result: tuple[Path, Path, ClaimsResult], tmp_path: Path
) -> None:
    path, _, ended = claims_result
    stop = StopFlag()
    stop.set()
    stopped = run(path, tmp_path / "out", stop=stop)
    assert stopped.exit_code == 130
    assert len(stopped.missing) == 5
    assert {one.verdict for result in stopped.results for one in result.verdicts.values()} == {OPEN, SHOWN}
    text = claims_text(stopped)
    assert "5 parts are not finished" in text
    assert not re.search(r"\b(inf|nan)\b", text)
    some = run(path, tmp_path / "out", ("C1a", "C20b"))
    assert [result.part.id for result in some.results] == ["C20b", "C1a"]
    again = run(path, tmp_path / "out", concurrency=2)
    assert (figures(again), again.digest) == (figures(ended), ended.digest)


@pytest.mark.integration
def test_who_follows_a_run_that_found_nothing_to_do_sees_it_at_its_end(tmp_path: Path) -> None:
    path, out = write_claims(tmp_path), tmp_path / "out"
    for _ in range(2):
        result = run(path, out, ("C20b", "C1a"))
        live = json.loads((out / LIVE_NAME).read_text("utf-8"))
        games = sum(part.games for part in result.results)
        assert (live["done"], live["planned"]) == (games, games)
        assert "5 of 5 cells finished" in live["words"]


@pytest.mark.integration
def test_runs_by_the_same_rules_are_told_to_have_the_same_settings_whenever_they_were_registered(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, changes, day in (("one", (), 1), ("two", (), 2), ("three", (('expect = "less"', 'expect = "more"'),), 2)):
        monkeypatch.setattr("elolab.tuning.claims.registration.datetime", fixed_clock(day))
        run(write_claims(tmp_path, *changes), tmp_path / name, ("C1a",))
    assert command_line.main(["runs", "compare", str(tmp_path / "one"), str(tmp_path / "two")]) == 0
    assert "All settings are equal." in capsys.readouterr().out
    assert command_line.main(["runs", "compare", str(tmp_path / "one"), str(tmp_path / "three")]) == 0
    assert re.search(r"C1a\.content\.expect +A less +B more", capsys.readouterr().out)


def fixed_clock(day: int) -> type[datetime]:
    """A clock that stands still."""

    class Clock(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Clock:
            return cls(2026, 1, day, tzinfo=tz)

    return Clock


@pytest.mark.integration
def test_the_cheapest_cell_is_played_to_its_end_before_dear_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    play_parts = MatchTable.play_parts

    def noted(table: MatchTable, parts: Any, **options: Any) -> bool:
        def note() -> Any:
            for part in parts:
                asked.extend([part[0].series] if part else [])
                yield part

        return play_parts(table, note(), **options)

    monkeypatch.setattr(MatchTable, "play_parts", noted)
    result = run(write_claims(tmp_path), tmp_path / "out", ("C20",))
    assert not result.missing
    cells = {f"{part.id} {cell.name}": cell for part in (one.part for one in result.results) for cell in part.cells}
    order = sorted(cells, key=lambda name: game_seconds(cells[name]) * games_at_most(cells[name]))
    assert [name for place, name in enumerate(asked) if name not in asked[:place]] == order
    assert len(asked) > len(order)
    for cell, later in zip(order, order[2:], strict=False):
        assert max(place for place, name in enumerate(asked) if name == cell) < asked.index(later)


def test_a_sitting_ends_after_its_minutes(tmp_path: Path) -> None:
    result = run(write_claims(tmp_path), tmp_path / "out", minutes=1e-9)
    assert (result.exit_code, result.interrupted) == (0, False)
    assert result.missing


@pytest.mark.integration
def test_a_rule_that_is_changed_after_games_is_refused(
    claims_result: tuple[Path, Path, ClaimsResult], tmp_path: Path
) -> None:
    """As it once was not: the opposite expected, and three times the pairs."""
    _, out, ended = claims_result
    path = write_claims(tmp_path, ('expect = "better"', 'expect = "worse"'), ("pairs = 8", "pairs = 24"))
    with pytest.raises(UserError) as raised:
        run(path, out)
    said = str(raised.value)
    assert "\n" not in said
    assert "C20a was registered with expect = 'better'" in said
    assert "now has 'worse' (and" in said
    assert "--amend" in said
    with Store(out, read_only=True) as store:
        assert len(store) == sum(result.games for result in ended.results)
        assert not store.metadata(AMENDMENTS)


@pytest.mark.integration
@pytest.mark.usefixtures("without_figures")
@pytest.mark.parametrize("changed", ["openings of the suite", "parameters.then.evaluation_weights"])
def test_what_lies_outside_of_the_table_is_registered_too(
    changed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Openings and weights have the same names as before, so that no rule says anything else; nor do digests."""
    monkeypatch.chdir(tmp_path)
    out = tmp_path / "out"
    before = run(write_claims(tmp_path), out, ("C1a",))
    if changed == "openings of the suite":
        suite = tmp_path / "few.epd"
        suite.write_text("".join(suite.read_text("utf-8").splitlines(keepends=True)[:-1]), "utf-8")
    else:
        change_weights(tmp_path)
    path = tmp_path / "mine.toml"
    with pytest.raises(UserError, match=re.escape(f"C1a was registered with {changed} = ")):
        run(path, out, ("C1a",))
    amended = run(path, out, ("C1a",), amend="another sample")
    assert amended.results[0].part.digest == before.results[0].part.digest
    (amendment,) = amended.registration.amendments
    assert amendment.changes[0][0] == changed
    assert not amended.is_fixed_beforehand
    assert "Not every rule was fixed beforehand" in write_claims_report(amended).with_suffix(".md").read_text("utf-8")


@pytest.mark.integration
@pytest.mark.usefixtures("without_figures")
def test_a_part_that_is_known_is_not_left_out_in_silence(tmp_path: Path) -> None:
    """As it once was, which made the family smaller too; parts that are not picked are not left out."""
    out = tmp_path / "out"
    path = write_claims(tmp_path)
    first = run(path, out, ("C20a", "C1b"))
    assert run(path, out, ("C1b",)).is_fixed_beforehand
    text = path.read_text("utf-8")
    start, end = text.index('[[claims.parts]]\nid = "C20a"'), text.index('[[claims.parts]]\nid = "C20b"')
    path.write_text(text[:start] + text[end:], "utf-8")
    with pytest.raises(UserError, match=r"C20a was registered and has results, but .* no longer has it"):
        run(path, out, ("C1b",))
    for _ in range(2):
        left = run(path, out, ("C1b",), amend="it did not please")
        assert left.spec.family == first.spec.family
        assert [(one.part, one.games) for one in left.registration.amendments] == [("C20a", first.results[0].games)]
        assert not left.is_fixed_beforehand
    page = write_claims_report(left).with_suffix(".md").read_text("utf-8")
    assert "it did not please" in page


@pytest.mark.integration
@pytest.mark.usefixtures("without_figures")
def test_a_new_rule_for_known_games_is_not_fixed_beforehand(tmp_path: Path) -> None:
    """As it once was: a part with another name and margin is told the games of the first, which were known."""
    out = tmp_path / "out"
    path = write_claims(tmp_path)
    first = run(path, out, ("C20a",))
    text = path.read_text("utf-8")
    start, end = text.index('[[claims.parts]]\nid = "C20a"'), text.index('[[claims.parts]]\nid = "C20b"')
    other = text[start:end].replace("C20a", "C20c").replace("margin = 10", "margin = 90")
    path.write_text(text[:start] + text[start:end] + other + text[end:], "utf-8")
    assert run(path, out, ("C20a", "C1b")).is_fixed_beforehand
    with pytest.raises(UserError, match=r"C20c of .* is a new rule for games or searches whose results another"):
        run(path, out, ("C20c",))
    for _ in range(2):
        late = run(path, out, ("C20c",), amend="a wider margin")
        assert [(one.part, one.games) for one in late.registration.amendments] == [("C20c", first.results[0].games)]
        assert not late.is_fixed_beforehand
    assert "a wider margin" in write_claims_report(late).with_suffix(".md").read_text("utf-8")


@pytest.fixture
def without_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    draw_no_figures(monkeypatch)


@pytest.mark.integration
@pytest.mark.usefixtures("without_figures")
def test_an_amendment_says_switches_as_the_file_does(tmp_path: Path) -> None:
    out, before = tmp_path / "out", ('aspiration = "full" }\nreference', "history = false }\nreference")
    run(write_claims(tmp_path, before), out, ("C1a",))
    path = write_claims(tmp_path, before, ("history = false", "history = true"))
    with pytest.raises(UserError, match=r"history = false, but .* now has true"):
        run(path, out, ("C1a",))
    amended = run(path, out, ("C1a",), amend="a slip")
    assert {change[1:] for change in amended.registration.amendments[0].changes} == {("false", "true")}
    assert "history: false → true" in write_claims_report(amended).read_text("utf-8")


@pytest.mark.integration
@pytest.mark.usefixtures("without_figures")
def test_an_amendment_is_kept_with_its_reason_and_printed(tmp_path: Path) -> None:
    out = tmp_path / "out"
    before = run(write_claims(tmp_path), out, ("C20a",))
    path = write_claims(tmp_path, ("margin = 10", "margin = 15"))
    with pytest.raises(UserError, match="margin = 10"):
        run(path, out, ("C20a",))
    for blank in ("", " \t"):
        with pytest.raises(UserError, match=r"--amend .*: expected the reason"):
            run(path, out, ("C20a",), amend=blank)
    assert command_line.main(["claims", "--claims", str(path), "--out", str(out), "--amend", " ", "--dry-run"]) == 2
    amended = run(path, out, ("C20a",), amend="the margin was a slip")
    assert not amended.is_fixed_beforehand
    (amendment,) = amended.registration.amendments
    assert (amendment.part, amendment.why, amendment.changes) == (
        "C20a", "the margin was a slip", (("margin", "10.0", "15.0"),)
    )  # fmt: skip
    assert (amendment.games, amendment.old_digest) == (before.results[0].games, before.results[0].part.digest)
    assert run(path, out, ("C20a",)).registration.amendments == (amendment,)
    page = write_claims_report(amended).read_text("utf-8")
    date = amendment.date.replace("T", " ").partition("+")[0].rpartition(":")[0]
    for said in (
        "the margin was a slip", "margin: 10.0 → 15.0", "Not every rule was fixed beforehand",
        f'<td class="whole">{date} UTC</td>',
    ):  # fmt: skip
        assert said in page
    assert "Every rule was fixed beforehand" not in page
    rows = list(csv.DictReader((out / "amendments.csv").open(encoding="utf-8")))
    assert [(row["part"], row["games"]) for row in rows] == [("C20a", str(amendment.games))]
    # Before anything of a part is known, a change leaves all fixed beforehand.
    stop = StopFlag()
    stop.set()
    other = tmp_path / "other"
    run(write_claims(tmp_path), other, stop=stop)
    assert run(path, other, stop=stop, amend="early").is_fixed_beforehand


def test_a_folder_of_an_older_version_is_refused(tmp_path: Path) -> None:
    with Store(tmp_path / "out") as store:
        store.record_metadata({"claims": {"game": "xiangqi", "depth": 6}})
    with pytest.raises(UserError, match="by the rules of an older version"):
        run(write_claims(tmp_path), tmp_path / "out")


@pytest.mark.integration
def test_tables_and_report_are_written_in_both_languages(
    claims_result: tuple[Path, Path, ClaimsResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, out, ended = claims_result
    english = write_claims_report(ended).read_text("utf-8")
    files = {COMPRESSED.get(name, f"{name}.csv"): columns for name, columns in FILES.items()}
    for name, columns in files.items():
        with (gzip.open if name.endswith(".gz") else open)(out / name, "rt", encoding="utf-8") as file:
            assert tuple(csv.DictReader(file).fieldnames or ()) == columns
    with (out / "columns.csv").open(encoding="utf-8") as file:
        described = [(row["file"], row["column"]) for row in csv.DictReader(file) if row["meaning"]]
    assert described == [(name, column) for name, columns in files.items() for column in columns]
    for said in (
        "Deeper is stronger.", "indicative", "Every rule was fixed beforehand", "The text knows neither.",
        f"elolab claims --game xiangqi --budget quick --claims {path} --only C20a", "then (moreland)",
    ):  # fmt: skip
        assert said in english, said
    # Of searches the columns for games are left out.
    tables = [table for table in re.findall(r"<thead>(.*?)</thead>", english) if ">Interim analyses<" in table]
    assert {(">Games<" in table, ">Median-unbiased<" in table) for table in tables} == {(True, True), (False, False)}
    assert {plot.stem for plot in (out / "plots").glob("*.svg")} == {"verdicts", "C20", "C1"}
    draw_no_figures(monkeypatch)
    chinese = write_claims_report(ended, "zh").read_text("utf-8")
    for said in (
        '<html lang="zh-CN">',
        "搜得越深越强。",
        "每条规则都是事先固定的",
        "当时",
        f"--out {out} --language zh",
    ):
        assert said in chinese, said
    assert ended.frame().shape[0] == 5


@pytest.mark.integration
def test_a_cell_follows_from_its_searches(claims_result: tuple[Path, Path, ClaimsResult]) -> None:
    """By pandas, from the table of searches alone: costs and shares with their intervals, by Student's t."""
    _, _, ended = claims_result
    searches = ended.searches_frame()
    rows = {row.key: row for result in ended.results for row in result.rows}
    row = rows["C1a", "now", "deep"]
    own = searches[(searches["part"] == "C1a") & (searches["engine"] == "now") & (searches["limit_name"] == "deep")]
    nodes = own.pivot(index="game", columns="side", values="nodes")
    logs = np.log(nodes["variant"] / nodes["reference"])
    assert row.effect == pytest.approx(math.exp(logs.mean()))
    reach = stats.t.ppf(1 - row.error_rate / 2, len(logs) - 1) * stats.sem(logs)
    assert math.log(row.high / row.low) / 2 == pytest.approx(reach, rel=0.06)
    share = searches[(searches["part"] == "C1b") & (searches["engine"] == "then")]
    assert 100 * share["hits"].sum() / share["cases"].sum() == pytest.approx(rows["C1b", "then", "deep"].effect)
    assert json.loads(row.variant) == {"algorithm": "alphabeta", "aspiration": "full"}
    assert json.loads(row.reference) == {"algorithm": "alphabeta", "aspiration": "off"}
    assert rows["C1b", "then", "deep"].reference == ""
    assert json.loads(rows["C20b", "now", "play"].variant)["aspiration"] == ["off", "full"]
    assert searches[searches["suite"] == "games"]["position"].nunique() == 4


def test_every_rule_can_be_said_in_words(tmp_path: Path) -> None:
    parts = load_claims(write_claims(tmp_path), "quick").parts
    for language in ("en", "zh"):
        message = Catalogue(MESSAGES, language)
        for kind, words in EXPECTED.items():
            for expect in (None, *words):
                for refuted_by in ("margin", "opposite", "negligible"):
                    part = replace(parts[0], kind=kind, expect=expect, refuted_by=refuted_by, margin=7.5)
                    text = rule_text(part, message)
                    assert ("7.5" in text) == (expect is not None)
    assert "lies within 10 Elo" in rule_text(parts[0], Catalogue(MESSAGES, "en"))


@pytest.mark.integration
@pytest.mark.usefixtures("without_figures")
def test_the_command_runs_plans_and_prints_digests(
    claims_result: tuple[Path, Path, ClaimsResult], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out, ended = claims_result
    told = ["claims", "--claims", str(path)]
    assert command_line.main([*told, "--dry-run", "--out", str(tmp_path / "none")]) == 0
    planned = capsys.readouterr().out
    assert "96 games" in planned
    assert "parts: 5, searches of positions (the time below does not include them): 56\n" in planned
    assert not (tmp_path / "none").exists()
    changed = write_claims(tmp_path, ("margin = 10", "margin = 15"))
    assert command_line.main(["claims", "--claims", str(changed), "--dry-run", "--out", str(out)]) == 2
    assert "--amend" in capsys.readouterr().err, "as the run would say"
    assert command_line.main([*told, "--digests"]) == 0
    printed = dict(line.split() for line in capsys.readouterr().out.splitlines())
    assert printed == {**{result.part.id: result.part.digest for result in ended.results}, "all": ended.spec.digest}
    assert command_line.main([*told, "--out", str(out)]) == 0
    printed_lines = capsys.readouterr().out.splitlines()
    assert max(map(len, printed_lines[:-1])) <= 80
    assert printed_lines[-2:] == [f"games digest: {ended.digest}", str(out / "report.html")]
    assert command_line.main([*told, "--out", str(out), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert [(part["verdicts"], part["depends"]) for part in data["parts"]] == [
        ({engine: asdict(one) for engine, one in result.verdicts.items()}, result.depends) for result in ended.results
    ]
    assert command_line.main(["report", str(out)]) == 0
    assert "5 parts of claims" in capsys.readouterr().out
    assert command_line.main(["claims", "--game", "othello", "--claims", str(path), "--out", str(out)]) == 2
    assert "is for xiangqi, not othello" in capsys.readouterr().err
    assert math.isclose(sum(part["games"] for part in data["parts"]), sum(one.games for one in ended.results))


@pytest.mark.integration
def test_a_line_of_the_page_is_repeated_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["claims", "--repeat", "C3f", "--dry-run"]) == 0
    assert capsys.readouterr().out.startswith("claims-restated-full: ")
    assert command_line.main(["claims", "--game", "othello", "--repeat", "C29a", "--dry-run"]) == 0
    assert capsys.readouterr().out.startswith("claims-othello-full: ")
    for words, said in (
        (["--repeat", "C3z"], "has part 'C3z' (did you mean 'C3"),
        (["--repeat", "C1a", "C3f"], "has all of C1a, C3f; repeat them one by one"),
        (["--repeat", "C1a", "--only", "C1"], "leave out --only and --claims"),
    ):
        assert command_line.main(["claims", *words]) == 2
        assert said in capsys.readouterr().err
