"""Cells that have ended in other folders are taken over by a run, with their rules, amendments and engine."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from elolab import command_line
from elolab.arena.play.store import Store
from elolab.engine.compiled.identity import engine_identity
from elolab.engine.engine import StopFlag
from elolab.engine.errors import UserError
from elolab.tuning.claims.cells import searches_at_most
from elolab.tuning.claims.claims_results import ClaimsResult
from elolab.tuning.claims.claims_run import plan_of_run
from elolab.tuning.claims.claims_spec import load_claims
from elolab.tuning.claims.merging import known_before, merged_cells
from elolab.tuning.reports.claims_report import write_claims_report
from tests.support.small_claims import change_weights, draw_no_figures, figures, run, write_claims


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, ClaimsResult]:
    """The table of a run, its folder with the tables of its report, and its end."""
    folder = tmp_path_factory.mktemp("merged")
    path = write_claims(folder)
    result = run(path, folder / "out")
    with pytest.MonkeyPatch.context() as monkeypatch:
        draw_no_figures(monkeypatch)
        write_claims_report(result)
    return path, folder / "out", result


def tables_of(out: Path, folder: Path) -> Path:
    """The folder with nothing but the tables of that run, as they are kept in a repository."""
    folder.mkdir()
    for name in ("claims", "cells", "amendments"):
        shutil.copy(out / f"{name}.csv", folder)
    return folder


def rewrite(path: Path, change: Callable[[dict[str, str]], dict[str, str]]) -> None:
    rows = [change(row) for row in csv.DictReader(path.open(encoding="utf-8"))]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def stopped() -> StopFlag:
    stop = StopFlag()
    stop.set()
    return stop


def test_a_run_that_takes_all_over_plays_nothing_and_has_the_same_verdicts(
    ended: tuple[Path, Path, ClaimsResult], tmp_path: Path
) -> None:
    path, out, result = ended
    kept = tables_of(out, tmp_path / "kept")
    merged = run(path, tmp_path / "new", merge=[kept], stop=stopped())
    assert not merged.missing
    assert merged.merged == sum(len(part.cells) for part in result.results)
    assert figures(merged) == figures(result)
    for one, other in zip(merged.results, result.results, strict=True):
        assert (one.verdicts, one.depends) == (other.verdicts, other.depends)
    assert merged.registration.dates == result.registration.dates
    assert merged.engine == engine_identity()
    with Store(tmp_path / "new", read_only=True) as store:
        assert not len(store)
    # A digest of no games could be taken for that of those taken over.
    assert not merged.digest
    # The folder knows what it took over.
    shutil.rmtree(kept)
    again = run(path, tmp_path / "new")
    assert figures(again) == figures(result)


def test_what_others_left_is_played(ended: tuple[Path, Path, ClaimsResult], tmp_path: Path) -> None:
    path, out, result = ended
    left = ("C1b", "C20b")
    kept = tables_of(out, tmp_path / "kept")
    rewrite(kept / "cells.csv", lambda row: {**row, "ended": "" if row["part"] in left else row["ended"]})
    some = tables_of(out, tmp_path / "some")
    rewrite(some / "cells.csv", lambda row: {**row, "effect": "99", "ended": row["ended"] * (row["part"] == "C20a")})
    spec = load_claims(path, "quick")
    assert plan_of_run(spec, tmp_path / "new", 1).games == 96
    merged = run(path, tmp_path / "new", merge=[kept, some])
    assert (merged.missing, figures(merged)) == ((), figures(result))  # of the same cell the first folder's holds
    assert merged.merged == sum(len(part.cells) for part in result.results if part.part.id not in left)
    taken = merged_cells(spec, known_before(tmp_path / "new"))
    assert len(taken) == merged.merged
    assert plan_of_run(spec, tmp_path / "new", 1, merged=taken).games == 64
    assert searches_at_most(spec, taken) == 4 * len(result.results[3].cells)


def test_what_was_asked_otherwise_is_refused(
    ended: tuple[Path, Path, ClaimsResult], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out, result = ended
    kept = tables_of(out, tmp_path / "kept")
    other = write_claims(tmp_path, ("margin = 10", "margin = 15"))
    with pytest.raises(UserError, match="C20a ran with another game, budget, rule or preset") as raised:
        run(other, tmp_path / "new", merge=[kept])
    assert "--only" in str(raised.value)
    assert "\n" not in str(raised.value)
    assert not (tmp_path / "new").exists()
    told = ["claims", "--claims", str(path), "--out", str(tmp_path / "new"), "--dry-run", "--merge"]
    assert command_line.main([*told, str(tmp_path)]) == 2
    assert "claims.csv: no such file; --merge takes folders" in capsys.readouterr().err
    (tmp_path / "older").mkdir()
    (tmp_path / "older" / "claims.csv").write_text("claim,verdict\nC1,open\n")
    for table in ("cells", "amendments"):
        (tmp_path / "older" / f"{table}.csv").write_text("claim\n")
    assert command_line.main([*told, str(tmp_path / "older")]) == 2
    assert "older: its tables are incomplete, or an older version wrote them ('part')" in capsys.readouterr().err
    assert command_line.main([*told, str(kept)]) == 0
    printed = capsys.readouterr().out
    assert "0 games" in printed
    assert "searches of positions (the time below does not include them): 0\n" in printed
    rewrite(kept / "cells.csv", lambda row: {**row, "engine_identity": "another"})
    with pytest.raises(UserError, match=r"played by engine another.*--accept-engine-change"):
        run(path, tmp_path / "new", merge=[kept])
    mixed = run(path, tmp_path / "new", merge=[kept], accept_engine_change=True, stop=stopped())
    assert mixed.engine == "another"
    assert [part.verdicts for part in mixed.results] == [part.verdicts for part in result.results]


@pytest.mark.parametrize("cut", [1, 10, 40, 150])
@pytest.mark.parametrize("table", ["cells", "claims"])
def test_a_table_that_was_cut_off_is_refused(
    ended: tuple[Path, Path, ClaimsResult], tmp_path: Path, table: str, cut: int
) -> None:
    path, out, _ = ended
    kept = tables_of(out, tmp_path / "kept")
    whole = (kept / f"{table}.csv").read_bytes()
    (kept / f"{table}.csv").write_bytes(whole[:-cut])
    with pytest.raises(UserError, match=rf"incomplete.* \({table}\.csv: line \d+ .*\); copy them again, or") as told:
        run(path, tmp_path / "new", merge=[kept])
    assert "\n" not in str(told.value)
    assert not (tmp_path / "new").exists()


def test_a_table_with_values_of_another_kind_is_refused(ended: tuple[Path, Path, ClaimsResult], tmp_path: Path) -> None:
    path, out, _ = ended
    kept = tables_of(out, tmp_path / "kept")
    rewrite(kept / "cells.csv", lambda row: {**row, "effect": "9x"})
    with pytest.raises(UserError, match=r"kept: its tables are incomplete, .*'9x'.*; copy them again"):
        run(path, tmp_path / "new", merge=[kept])


@pytest.mark.parametrize("changed", ["openings of the suite", "parameters.then.evaluation_weights"])
def test_other_openings_and_weights_are_refused(
    changed: str, ended: tuple[Path, Path, ClaimsResult], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """They have the same names, so that no rule has another digest."""
    monkeypatch.chdir(tmp_path)
    path, kept = write_claims(tmp_path), tables_of(ended[1], tmp_path / "kept")
    older, new = tables_of(ended[1], tmp_path / "older"), tmp_path / "new"
    shutil.copy(ended[1] / "surroundings.json", kept)
    told = ["claims", "--claims", str(path), "--only", "C1a", "C1b", "--out", str(new), "--merge"]
    assert command_line.main([*told, str(kept), "--dry-run"]) == 0
    if changed == "openings of the suite":
        suite = tmp_path / "few.epd"
        suite.write_text("".join(suite.read_text("utf-8").splitlines(keepends=True)[:-1]), "utf-8")
    else:
        change_weights(tmp_path)
    for more in (["--dry-run"], [], ["--amend", "why"], ["--accept-engine-change"]):
        capsys.readouterr()
        assert command_line.main([*told, str(older), str(kept), *more]) == 2
        [line] = capsys.readouterr().err.splitlines()
        assert line.startswith(f"elolab: {kept}: C1a ran with {changed} = '")
        assert line.endswith("'; merge results of the same openings, weights and defaults, or name other parts with "
                             "--only")  # fmt: skip
    assert not new.exists()
    # Older folders do not say what they were.
    assert run(path, new, ("C1a", "C1b"), merge=[older], stop=stopped()).merged > 0


def test_surroundings_go_with_what_is_taken_over(ended: tuple[Path, Path, ClaimsResult], tmp_path: Path) -> None:
    path, out, _ = ended
    merged = run(path, tmp_path / "new", merge=[out], stop=stopped())
    write_claims_report(merged)
    assert (tmp_path / "new" / "surroundings.json").read_bytes() == (out / "surroundings.json").read_bytes()


@pytest.mark.parametrize("content", ["", "[]", '{"parts": {"C1a": 7}, "surroundings": []}', '{"parts": {"C1a": 0}}'])
def test_surroundings_that_are_not_whole_are_refused(
    content: str, ended: tuple[Path, Path, ClaimsResult], tmp_path: Path
) -> None:
    path, out, _ = ended
    kept = tables_of(out, tmp_path / "kept")
    (kept / "surroundings.json").write_text(content)
    with pytest.raises(UserError, match=r"its tables are incomplete, .*; copy them again, or"):
        run(path, tmp_path / "new", merge=[kept])


def test_a_verdict_that_does_not_follow_is_refused(ended: tuple[Path, Path, ClaimsResult], tmp_path: Path) -> None:
    path, out, result = ended
    kept = tables_of(out, tmp_path / "kept")
    verdict = next(one for one in result.results if one.part.id == "C20a").rows[0].verdict
    other = "refuted" if verdict == "confirmed" else "confirmed"
    rewrite(kept / "cells.csv", lambda row: {**row, "verdict": other} if row["part"] == "C20a" else row)
    said = rf"cells.csv: the verdict on C20a then depth=2 is {other}, but its numbers give {verdict}; copy the table"
    with pytest.raises(UserError, match=said):
        run(path, tmp_path / "new", merge=[kept])


def test_amendments_come_along(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    draw_no_figures(monkeypatch)
    first = run(write_claims(tmp_path), tmp_path / "out", ("C20a",))
    path = write_claims(tmp_path, ("margin = 10", "margin = 15"))
    amended = run(path, tmp_path / "out", ("C20a",), amend="a slip; see a -> b: c")
    write_claims_report(amended)
    for _ in range(2):
        merged = run(path, tmp_path / "new", ("C20a",), merge=[tmp_path / "out"])
        assert merged.registration == amended.registration
        assert not merged.is_fixed_beforehand
    page = write_claims_report(merged).read_text("utf-8")
    assert "from another folder, which has the games and searches" in page
    assert "games.sqlite" not in page
    # A rule that is changed once games of it are known elsewhere was not fixed beforehand.
    write_claims(tmp_path)
    write_claims_report(run(path, tmp_path / "again", ("C20a",)))
    taken = run(path, tmp_path / "last", ("C20a",), merge=[tmp_path / "again"])
    assert taken.is_fixed_beforehand
    write_claims(tmp_path, ("margin = 10", "margin = 15"))
    changed = run(path, tmp_path / "last", ("C20a",), amend="late")
    assert [(one.games, one.positions) for one in changed.registration.amendments] == [(first.results[0].games, 0)]
    assert changed.merged == 0
    assert not changed.is_fixed_beforehand


def test_an_amendment_knows_of_positions_that_were_searched_elsewhere(
    ended: tuple[Path, Path, ClaimsResult], tmp_path: Path
) -> None:
    _, out, _ = ended
    kept = tables_of(out, tmp_path / "kept")
    path = write_claims(tmp_path)
    run(path, tmp_path / "new", ("C1b",), merge=[kept], stop=stopped())
    path.write_text(path.read_text("utf-8").replace('deep = { then = "depth=2"', 'deep = { then = "depth=3"'))
    changed = run(path, tmp_path / "new", ("C1b",), amend="deeper", stop=stopped())
    assert [(one.games, one.positions) for one in changed.registration.amendments] == [(0, 4)]
    assert not changed.is_fixed_beforehand


def test_a_new_rule_does_not_come_together_with_what_it_asks_of(
    ended: tuple[Path, Path, ClaimsResult], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Games of other folders are known before they are taken over."""
    _, out, result = ended
    kept, path = tables_of(out, tmp_path / "kept"), write_claims(tmp_path)
    run(path, tmp_path / "new", ("C1b",), stop=stopped())
    games = next(one.games for one in result.results if one.part.id == "C20a")
    text = path.read_text("utf-8")
    start, end = text.index('[[claims.parts]]\nid = "C20a"'), text.index('[[claims.parts]]\nid = "C20b"')
    other = text[start:end].replace("C20a", "C20c").replace("margin = 10", "margin = 90")
    path.write_text(text[:end] + other + text[end:], "utf-8")
    told = ["claims", "--claims", str(path), "--out", str(tmp_path / "new"), "--only", "C20a", "C20c"]
    for more in (["--dry-run"], []):
        assert command_line.main([*told, "--merge", str(kept), *more]) == 2
        assert "C20c of " in (said := capsys.readouterr().err)
        assert "is a new rule for games or searches whose results another part has shown" in said
    late = run(path, tmp_path / "new", ("C20a", "C20c"), merge=[kept], amend="wider", stop=stopped())
    assert [(one.part, one.games) for one in late.registration.amendments] == [("C20c", games)]
    assert not late.is_fixed_beforehand
    # What is taken over from where its own rule came first is not late, as often as it is.
    (tmp_path / "both").mkdir()
    first = run(path, tmp_path / "both" / "out", ("C20a", "C20c"))
    assert first.is_fixed_beforehand
    write_claims_report(first)
    write_claims(tmp_path)
    run(path, tmp_path / "last", ("C1b",), stop=stopped())
    path.write_text(text[:end] + other + text[end:], "utf-8")
    for _ in range(2):
        assert run(
            path, tmp_path / "last", ("C20a", "C20c"), merge=[tmp_path / "both" / "out"], stop=stopped()
        ).is_fixed_beforehand


def test_a_refused_run_changes_nothing(
    ended: tuple[Path, Path, ClaimsResult], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, out, _ = ended
    kept, folder = tables_of(out, tmp_path / "kept"), tmp_path / "new"
    path = write_claims(tmp_path)
    before = run(path, folder, ("C20a",), merge=[kept], stop=stopped())
    told = ["claims", "--claims", str(path), "--out", str(folder), "--only", "C20a", "--merge", str(kept)]
    write_claims(tmp_path, ("margin = 10", "margin = 15"))
    assert command_line.main(told[:-2]) == 2
    assert "was registered with margin = 10.0" in capsys.readouterr().err
    assert command_line.main(["report", str(folder)]) == 0
    assert "1 part of a claim" in capsys.readouterr().out
    write_claims(tmp_path)
    assert figures(run(path, folder, ("C20a",), stop=stopped())) == figures(before)


def test_what_the_run_itself_has_ended_stays_its_own(ended: tuple[Path, Path, ClaimsResult], tmp_path: Path) -> None:
    path, out, result = ended
    kept = tables_of(out, tmp_path / "kept")
    rewrite(kept / "cells.csv", lambda row: {**row, "effect": "99"})
    own = tmp_path / "own"
    shutil.copytree(out, own)
    merged = run(path, own, merge=[kept])
    assert (figures(merged), merged.merged) == (figures(result), 0)


def test_another_engine_is_refused_when_the_run_goes_on(ended: tuple[Path, Path, ClaimsResult], tmp_path: Path) -> None:
    path, out, _ = ended
    kept = tables_of(out, tmp_path / "kept")
    rewrite(kept / "cells.csv", lambda row: {**row, "engine_identity": "another"})
    run(path, tmp_path / "new", merge=[kept], accept_engine_change=True, stop=stopped())
    with pytest.raises(UserError, match="played by engine another"):
        run(path, tmp_path / "new", stop=stopped())
