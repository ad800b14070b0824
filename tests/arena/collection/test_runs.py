"""Runs as a collection: the list, two side by side, and what is removed."""

from __future__ import annotations

import gzip
import io
import itertools
import json
import math
import os
import re
import shutil
import sqlite3
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from elolab.arena.collection.comparison import compared
from elolab.arena.collection.listing import RunEntry, entry_of, run_folders
from elolab.arena.play.live import LIVE_NAME
from elolab.arena.play.store import LOCK_NAME, STORE_NAME, FolderLock, Store
from elolab.arena.play.tournament_run import run
from elolab.arena.provenance.record import PROGRAMS
from elolab.arena.provenance.status import new_status, write_status
from elolab.arena.records import GameRecord, Opening, Pairing
from elolab.arena.run import RunError
from elolab.arena.sequential import SequentialSettings
from elolab.arena.statistics.elo import Pentanomial
from elolab.arena.statistics.match_statistics import figures_of
from elolab.arena.tournament_reader import spec_from_mapping
from elolab.arena.watching.snapshot import RunFollower
from elolab.cli.shared import match_options as words_of_tournament
from elolab.command_line import main
from elolab.engine.language import LANGUAGES, Catalogue, columns_of
from tests.support.unreadable import keep_out

SAY = Catalogue("elolab.arena.collection")
ROOT = Path(__file__).parents[3]


def play(folder: Path, pairs: int = 2, **changes: Any) -> Path:
    players = [{"name": "default"}, {"name": "material", "preset": "material"}]
    content = {"format": "match", "limit": "nodes=20", "pairs": pairs, "players": players, **changes}
    run(spec_from_mapping(content, "match"), folder, stream=io.StringIO())
    return folder


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished match, another with a limit of its own, and one that was killed, in a folder below."""
    root = tmp_path_factory.mktemp("runs")
    play(root / "one")
    play(root / "two", limit="nodes=30", seed=5)
    play(root / "deep" / "stopped", 1)
    live = root / "deep" / "stopped" / "live.json"
    live.write_text(json.dumps(json.loads(live.read_text()) | {"state": "running"}))  # as one that was killed
    (root / "deep" / "other").mkdir()
    return root


@pytest.mark.integration
def test_the_list_says_what_there_is(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs", str(results), "--json"]) == 0
    runs = json.loads(capsys.readouterr().out)["runs"]
    assert [Path(one["folder"]).name for one in runs] == ["stopped", "one", "two"]
    assert [(one["kind"], one["state"], one["played"], one["planned"]) for one in runs] == [
        ("match", "died", 2, 2), ("match", "finished", 4, 4), ("match", "finished", 4, 4)
    ]  # fmt: skip
    assert main(["runs", "list", str(results)]) == 0
    table = capsys.readouterr().out.splitlines()
    assert table[0].split()[:4] == ["folder", "kind", "state", "games"]
    assert "4/4" in table[2]
    assert runs[1]["result"] in table[2]
    assert main(["runs", "--language", "zh", str(results)]) == 0
    assert "意外终止" in capsys.readouterr().out


def test_a_match_that_one_player_won_throughout_shows_its_score(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    won = Pentanomial((0, 0, 0, 0, 2)).estimate()
    monkeypatch.setattr("elolab.arena.collection.listing.match_estimate", lambda store, games: won)
    assert entry_of(results / "one", Catalogue("elolab.arena.collection")).result == "default scored 100.0 % in 4 games"


@pytest.mark.parametrize(
    ("reason", "lives", "state"),
    [("decided", False, "finished"), ("running", True, "running"), ("running", False, "died"),
     ("incomplete", False, "stopped"), ("failed", False, "failed")],
)  # fmt: skip
def test_a_bisection_is_one_entry_and_is_removed_as_one(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], reason: str, lives: bool, state: str
) -> None:
    folder = tmp_path / "bisect-x"
    shutil.copytree(results / "one", folder / "0123abcd")
    shutil.copytree(results / "two", folder / "89abcdef")
    (folder / "89abcdef" / "faults").mkdir()
    (folder / "report.md").write_text("# Bisection\n\nThe first bad commit is 89abcdef.\n")
    ended = None if reason == "running" else "2026-01-01T00:00:00Z"
    status = new_status("bisection", "bisect.json") | {"reason": reason, "ended_at": ended, "games": {"planned": 90}}
    write_status(folder, status)
    lock = FolderLock(folder / LOCK_NAME) if lives else None
    assert main(["runs", str(tmp_path), "--json"]) == 0
    (entry,) = json.loads(capsys.readouterr().out)["runs"]
    assert (entry["folder"], entry["kind"], entry["state"]) == (str(folder), "bisection", state)
    assert (entry["played"], entry["planned"], entry["result"]) == (8, 90, "The first bad commit is 89abcdef.")
    assert main(["runs", str(folder), "--json"]) == 0
    steps = json.loads(capsys.readouterr().out)["runs"]
    assert [Path(step["folder"]).name for step in steps] == ["0123abcd", "89abcdef"]
    if lock is not None:  # as between two steps, while it builds a commit
        assert main(["runs", "remove", "--yes", str(folder)]) == 2
        error = capsys.readouterr().err
        assert f"in use by another elolab (process {os.getpid()}); wait for it to end, or stop it\n" in error
        lock.release()
    assert main(["runs", "remove", "--yes", str(folder)]) == 0
    assert "8 games" in capsys.readouterr().out
    assert not folder.exists()


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("columns", [200, 100, 80, 60, 40, 10])
def test_the_list_fits_into_the_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, columns: int, language: str
) -> None:
    result = "a player with a rather long name +12.3 ± 45.6 Elo"
    folders = [tmp_path / f"a-tournament-of-the-long-name-{number}" for number in range(3)]
    found = {
        folder: RunEntry(folder, "round_robin", "finished", 1000, 10_000, "2026-01-02T03:04:05", result, {})
        for folder in folders
    }
    monkeypatch.setattr("elolab.arena.collection.listing.run_folders", lambda root, unreadable: folders)
    monkeypatch.setattr("elolab.arena.collection.listing.entry_of", lambda folder, say: found[folder])
    words = ["runs", str(tmp_path), "--language", language]
    monkeypatch.delenv("COLUMNS", raising=False)
    assert main(words) == 0
    whole = capsys.readouterr().out
    assert all(str(folder) in whole for folder in folders)
    assert whole.count(result) == 3
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", str(columns))
    assert main(words) == 0
    fitted = capsys.readouterr().out
    lines = fitted.splitlines()
    assert max(map(columns_of, lines)) <= columns
    assert (fitted == whole) == (max(map(columns_of, whole.splitlines())) <= columns)
    if columns >= 60:
        assert [line.split()[0][-1] for line in lines[1:]] == ["0", "1", "2"]
        assert all(re.search(f"1000/10000 +{result[:5]}", line) for line in lines[1:]) or "2026" in fitted


def test_what_is_being_worked_on_runs_and_stays(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Store(results / "one"):
        assert entry_of(results / "one", SAY).state == "running"
        assert main(["runs", "remove", "--yes", str(results / "two"), str(results / "one")]) == 2
    assert f"in use by another elolab (process {os.getpid()})" in capsys.readouterr().err
    assert len(list(run_folders(results))) == 3
    assert entry_of(results / "one", SAY).state == "finished"


def test_the_last_change_is_that_of_the_log_while_a_run_goes_on(tmp_path: Path) -> None:
    play(tmp_path, 1)
    for path in tmp_path.iterdir():
        os.utime(path, (86_400, 86_400))
    assert entry_of(tmp_path, SAY).updated_at == "1970-01-02T00:00:00Z"
    assert entry_of(tmp_path, SAY).updated_at == "1970-01-02T00:00:00Z", "reading it is no change"
    with Store(tmp_path) as store:
        store.record_metadata({"something": 1})
        assert entry_of(tmp_path, SAY).updated_at > "2020"


def test_runs_behind_links_are_listed_once(results: Path, tmp_path: Path) -> None:
    results, elsewhere = shutil.copytree(results, tmp_path / "results"), tmp_path / "elsewhere"
    for copy in (elsewhere / "day" / "far", results / ".kept" / "hidden"):
        shutil.copytree(results / "one", copy)
    links = {
        "linked": elsewhere, "twice": elsewhere, "part": elsewhere / "day", "again": results / "one", "self": results,
        "up": results.parent, "kept": results / ".kept",
    }  # fmt: skip
    own = [folder.relative_to(results).as_posix() for folder in run_folders(results)]
    for name, target in links.items():
        (results / name).symlink_to(target)
    (elsewhere / "loop").symlink_to(elsewhere)
    found = [folder.relative_to(results).as_posix() for folder in run_folders(results)]
    assert found == sorted([*own, "kept/hidden", "linked/day/far"])


def test_a_damaged_run_is_listed(tmp_path: Path) -> None:
    (tmp_path / "games.sqlite").write_bytes(b"no database at all, though of its name")
    assert [entry_of(folder, SAY).state for folder in run_folders(tmp_path)] == ["damaged"]


def test_two_side_by_side(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folders = [str(results / "one"), str(results / "two")]
    assert main(["runs", "compare", *folders, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert {entry["key"]: entry["values"] for entry in data["settings"]} == {
        "seed": [1, 5],
        "players.default.limits": ["nodes=20", "nodes=30"],
        "players.material.limits": ["nodes=20", "nodes=30"],
    }
    assert data["views"] == ["default - material"] * 2
    assert main(["runs", "compare", *folders]) == 0
    text = capsys.readouterr().out
    assert "A: Elo from the point of view of default against material" in text
    assert "B − A" in text
    assert "seed" in text
    assert main(["runs", "compare", folders[0], folders[0]]) == 0
    assert "All settings are equal." in capsys.readouterr().out
    assert main(["runs", "compare", folders[0], str(results)]) == 2


@pytest.mark.integration
def test_switches_that_differ_are_said_as_files_have_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    others = ({"name": "other", "set": {"null_move": value}} for value in (True, False))
    folders = [str(play(tmp_path / name, 1, players=[{"name": "default"}, other]))
               for name, other in zip("ab", others, strict=True)]  # fmt: skip
    assert main(["runs", "compare", *folders]) == 0
    assert "  players.other.parameters.null_move  A true  B false\n" in capsys.readouterr().out
    assert main(["report", *folders, "--out", str(tmp_path / "both"), "--json"]) == 0
    report = (tmp_path / "both" / "report.md").read_text("utf-8")
    assert f"null_move = true in {folders[0]}, but false in {folders[1]}" in report


def test_of_a_tuning_the_settings_are_compared_and_not_what_it_came_to(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, seed, seconds in (("one", 1, 3.5), ("two", 1, 4.5), ("three", 2, 4.5)):
        with Store(tmp_path / name) as store:
            told = {
                "run kind": "tuning",
                "tuning": {"seed": seed},
                "tuning seconds": seconds,
                "tuning file": ["text", f"{name}.toml"],
            }
            store.record_metadata(told)
    one, two, three = (str(tmp_path / name) for name in ("one", "two", "three"))
    assert main(["runs", "compare", one, two]) == 0
    assert "All settings are equal." in capsys.readouterr().out
    assert main(["runs", "compare", one, three, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["settings"] == [{"key": "tuning.seed", "values": [1, 2]}]


def test_builds_of_programs_are_told_apart_by_the_programs_names(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = [tmp_path / "tournament", tmp_path / "other", tmp_path / "ablation"]
    for folder in folders[:2]:
        shutil.copytree(results / "one", folder)
    for folder, digits in zip(folders, "aba", strict=True):
        with Store(folder) as store:
            store.record_metadata({PROGRAMS: [["./mine", None, 64 * digits], ["yours", "/bin", 64 * "c"]]})
    for other in folders[1:]:
        assert main(["runs", "compare", "--json", str(folders[0]), str(other)]) == 0
        found = {entry["key"]: entry["values"] for entry in json.loads(capsys.readouterr().out)["settings"]}
        programs = {key: values for key, values in found.items() if "program" in key}
        assert programs == ({"program ./mine": [12 * "a", 12 * "b"]} if other == folders[1] else {})
    assert main(["runs", "compare", str(folders[0]), str(folders[1])]) == 0
    assert "  program ./mine  A aaaaaaaaaaaa  B bbbbbbbbbbbb\n" in capsys.readouterr().out


def test_pairs_and_rounds_are_compared_as_they_were_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = {"format": "round_robin", "limit": "nodes=1"}
    folders = [play(tmp_path / f"{pairs}", pairs, rounds=rounds, **more) for pairs, rounds in ((2, 2), (1, 4))]
    assert main(["runs", "compare", "--json", *map(str, folders)]) == 0
    settings = json.loads(capsys.readouterr().out)["settings"]
    assert {entry["key"]: entry["values"] for entry in settings} == {"pairs": [2, 1], "rounds": [2, 4]}
    players = [{"name": name} for name in ("default", "material", "third")]
    with pytest.raises(RunError, match=r"a longer tournament: pairs = 2 in 2 rounds, not pairs = 3 as in match;"):
        play(folders[0], 3, players=[players[0], {**players[1], "preset": "material"}, players[2]], **more)


def test_the_interval_of_the_difference_is_that_of_independent_runs() -> None:
    from elolab.arena.collection.comparison import RatedPlayer, change

    assert change(RatedPlayer(10, 3, 1), RatedPlayer(25, 4, 1)) == (15, 5)
    assert change(RatedPlayer(10, 3, 1), RatedPlayer(25, math.inf, 1)) == (15, math.inf)


def test_nothing_is_told_of_a_player_without_games() -> None:
    from elolab.arena.collection.comparison import ComparedRun, RatedPlayer, comparison_lines

    one = ComparedRun(Path("x"), {}, {"a": RatedPlayer(0.0, math.inf, 0), "b": RatedPlayer(0.0, 5.0, 4)})
    other = ComparedRun(Path("y"), {}, {"a": RatedPlayer(9.0, 5.0, 4), "b": RatedPlayer(0.0, 5.0, 4)})
    (line,) = [line.split() for line in comparison_lines(one, other, SAY) if line.startswith("a ")]
    assert line == ["a", "-", "+9.0", "±", "5.0", "(4)", "-"]


def test_differences_are_told_of_ratings_on_one_scale_alone() -> None:
    from elolab.arena.collection.comparison import ComparedRun, RatedPlayer, comparison_lines

    def rated(rating: float, **more: Any) -> ComparedRun:
        return ComparedRun(Path("x"), {}, {"a": RatedPlayer(rating, 5.0, 4)}, **more)

    def difference(one: ComparedRun, other: ComparedRun) -> str:
        return comparison_lines(one, other, SAY)[-1].split("  ")[-1].strip()

    assert difference(rated(10.0), rated(20.0)) == "+10.0 ± 7.1"
    assert difference(rated(10.0), rated(2000.0, anchors=(("a", 2000.0),))) == "-"
    assert difference(rated(-math.inf), rated(-math.inf)) == "-"
    fields = [rated(10.0, groups=(("a", *others),)) for others in (("b", "c"), ("b", "d"), ("b", "c"))]
    fields[2] = replace(fields[2], settings={"players": {"b": {"limits": ["nodes=30"]}}})
    assert difference(fields[0], fields[0]) == "0.0 ± 7.1"
    assert difference(fields[0], fields[1]) == "-", "other opponents have another mean"
    assert difference(fields[0], fields[2]) == "-", "so have those with other settings"
    assert "B − A is empty (-)" in "\n".join(comparison_lines(fields[0], fields[1], SAY))
    assert "left out" not in "\n".join(comparison_lines(fields[0], fields[0], SAY))
    anchored = [replace(one, anchors=(("a", 2000.0),)) for one in fields]
    assert difference(anchored[0], anchored[1]) == "0.0 ± 7.1"
    match = rated(10.0, view=("Pika - dev", "Old"))
    assert "from the point of view of Pika - dev against Old" in "\n".join(comparison_lines(match, match, SAY))


def test_a_tournament_with_rounds_is_led_by_its_placing_and_ends_with_walkovers(tmp_path: Path) -> None:
    players = [{"name": "default"}, {"name": "material", "preset": "material"}, {"name": "none", "protocol": "uci",
               "command": "no-such-program"}]  # fmt: skip
    cup = {"format": "knockout", "limit": "nodes=20", "pairs": 1, "players": players}
    run(spec_from_mapping(cup, "cup"), tmp_path, stream=io.StringIO())
    found = entry_of(tmp_path, SAY)
    assert (found.state, found.played) == ("finished", found.planned)
    assert found.result.startswith(("default has won", "material has won"))


def test_nobody_leads_a_gauntlet_by_score(tmp_path: Path) -> None:
    players = [{"name": name} for name in ("challenger", "two")] + [{"name": "weak", "preset": "material"}]
    play(tmp_path, 1, format="gauntlet", players=players)
    found, live = entry_of(tmp_path, SAY), json.loads((tmp_path / LIVE_NAME).read_text())
    tally = next(row for row in live["standings"] if row["player"] == "challenger")
    share = f"{100 * (tally['wins'] + tally['draws'] / 2) / 4:.1f}"
    assert found.result == f"challenger scored {share} % in 4 games"
    assert live["words"].startswith(f"+{tally['wins']} ={tally['draws']} −{tally['losses']} ")
    assert [name for name in ("challenger", "two", "weak") if name in live["words"]] == ["challenger"]
    assert entry_of(tmp_path, Catalogue("elolab.arena.collection", "zh")).result == f"challenger：4 局得分率 {share} %"
    play(tmp_path / "all", 1, format="round_robin", players=players)
    assert " leads with " in entry_of(tmp_path / "all", SAY).result


def test_what_cannot_be_read_is_told_beside_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    play(tmp_path / "one", 1)
    (tmp_path / "closed").mkdir()
    keep_out(monkeypatch, tmp_path / "closed")
    assert main(["runs", str(tmp_path)]) == 1
    shown = capsys.readouterr()
    assert "finished" in shown.out
    assert shown.err == f"elolab: runs: {tmp_path}/closed: cannot be read: Permission denied\n"


def test_a_store_without_permission_is_not_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    play(tmp_path, 1)
    error = sqlite3.OperationalError("unable to open database file")
    error.sqlite_errorcode = sqlite3.SQLITE_CANTOPEN

    def refuse(*arguments: Any, **options: Any) -> None:
        raise error

    monkeypatch.setattr("sqlite3.connect", refuse)
    monkeypatch.setattr("os.access", lambda path, mode: False)
    assert entry_of(tmp_path, SAY).state == "unreadable"
    state = RunFollower(tmp_path).read()
    assert state["state"] == "unreadable"
    assert state["trouble"] == f"{tmp_path}/games.sqlite: cannot be read: Permission denied; change its permissions"


def test_where_there_are_no_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    assert main(["runs", ".."]) == 0
    assert capsys.readouterr().out == ".. contains no runs.\n"


def test_a_run_of_an_unknown_version_does_not_hide_the_others(tmp_path: Path) -> None:
    play(tmp_path / "one", 1)
    with Store(tmp_path / "one") as store:
        store.record_metadata({"specification": {**store.metadata("specification"), "unheard_of": 1}})
    play(tmp_path / "two", 1)
    assert [entry_of(folder, SAY).state for folder in run_folders(tmp_path)] == ["damaged", "finished"]


@pytest.mark.integration
def test_only_what_was_asked_for_is_removed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    one, two, mine = (play(Path("results") / name, 1) for name in ("one", "two", "mine"))
    (mine / "notes").mkdir()
    for words, said in (
        ([], "the following arguments are required: DIR"),
        (["results"], "contains no run, so elolab does not remove it; give its runs one by one, such as results/mine"),
        ([str(one), "nowhere"], "nowhere: no such folder"),
        ([str(one), str(mine)], "contains a folder 'notes' that does not belong to the run"),
    ):
        assert main(["runs", "remove", "--yes", *words]) == 2
        assert said in capsys.readouterr().err
    assert main(["runs", "remove", str(one)]) == 2
    assert "add --yes" in capsys.readouterr().err  # nobody is there to be asked
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    for answer, code, left in (("n", 1, {"one", "two", "mine"}), ("y", 0, {"two", "mine"})):
        monkeypatch.setattr("builtins.input", lambda question, answer=answer: answer)
        assert main(["runs", "remove", str(one)]) == code
        assert {folder.name for folder in Path("results").iterdir()} == left
    monkeypatch.chdir(two)
    assert main(["runs", "remove", "--yes", "."]) == 2
    assert "the current folder is this one or inside it" in capsys.readouterr().err


@pytest.mark.integration
def test_games_that_cannot_be_counted_are_not_called_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    play(Path("one"), 1)
    play(Path("two"), 1)
    (Path("two") / STORE_NAME).write_bytes(b"SQLite format 3\0" + bytes(4000))
    asked: list[str] = []
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda question: asked.append(question) or "n")
    for words in (["one"], ["two"], ["one", "two"]):
        assert main(["runs", "remove", *words]) == 1
    assert asked == [
        "Permanently remove one with 2 games? [y/N] ",
        "Permanently remove two with an unknown number of games? [y/N] ",
        "Permanently remove 2 runs with at least 2 games? [y/N] ",
    ]
    capsys.readouterr()
    assert main(["runs", "remove", "--yes", "one", "two"]) == 0
    assert capsys.readouterr().out == "removed one (2 games)\nremoved two (an unknown number of games)\n"


@pytest.mark.integration
def test_folders_are_named_after_limit_and_seed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        "elolab.cli.shared.tournament_output.write_results", lambda *of_the_run: (None, None)
    )  # no report: it takes long
    monkeypatch.setattr("elolab.cli.shared.tournament_output.print_result", lambda *of_the_run: None)

    def folder(*words: str) -> str:
        before = set(Path("results").glob("*"))
        assert main(["match", "default", "material", "--pairs", "1", *words]) == 0
        new = set(Path("results").glob("*")) - before
        return new.pop().name if new else ""

    base = "match-default-material-nodes-20-seed-1"
    assert folder("--limit", "nodes=20") == base
    assert folder("--limit", "nodes=20") == ""  # resumed
    assert folder("--limit", "nodes=20", "--pairs", "2") == ""  # extended
    assert folder("--limit", "nodes=21") == "match-default-material-nodes-21-seed-1"
    assert folder("--limit", "nodes=20", "--seed", "2") == "match-default-material-nodes-20-seed-2"
    assert folder("--limit", "nodes=20", "--resign", "movecount=0") == f"{base}-2"
    assert folder("--limit", "nodes=20", "--resign", "movecount=0") == ""
    assert folder("--limit", "nodes=20", "--event", "mine") == "mine"
    # A folder with more games than these openings allow is another one's.
    with gzip.open(ROOT / "configs/openings/xiangqi.epd.gz", "rt") as lines:
        Path("few.epd").write_text("".join(itertools.islice(lines, 2)))
    assert folder("--limit", "nodes=22", "--pairs", "3") == "match-default-material-nodes-22-seed-1"
    assert folder("--limit", "nodes=22", "--openings", "few.epd") == "match-default-material-nodes-22-seed-1-2"
    # What no folder could hold has no folder of its own.
    capsys.readouterr()
    assert main(["match", "default", "material", "--limit", "nodes=22", "--openings", "few.epd", "--pairs", "3"]) == 2
    said = capsys.readouterr().err
    assert "needs 3 different openings" in said
    assert "other settings" not in said
    long = folder("--limit", "nodes=20,depth=7,clock=40/60+0.125,node_clock=1000000")
    assert len(long) <= 60
    assert words_of_tournament.FOLDER_SUFFIX_LENGTH < 60


def test_other_runs_are_listed_with_the_games_of_all_stages_and_the_finding_of_their_report(tmp_path: Path) -> None:
    with Store(tmp_path):
        pass
    live = {"kind": "tuning", "state": "finished", "planned": 200, "all_planned": 450, "words": "+0.0"}
    (tmp_path / LIVE_NAME).write_text(json.dumps(live))
    assert (entry_of(tmp_path, SAY).planned, entry_of(tmp_path, SAY).result) == (450, "+0.0")
    (tmp_path / "report.md").write_text(
        "# t\n\n*Tuning report*\n\nA **gain** of 3 \\[1, 5] is confirmed.\n\n## Parameters\n"
    )
    assert entry_of(tmp_path, SAY).result == "A gain of 3 [1, 5] is confirmed."


@pytest.mark.integration
def test_of_a_test_that_has_ended_the_games_that_count_are_compared(tmp_path: Path) -> None:
    """Two more were playing when it ended. Where it ends is found by its ratio after every pair, all won and drawn."""
    test = {"elo0": 0.0, "elo1": 100.0, "model": "logistic", "batch_pairs": 1}
    settings = SequentialSettings(elo0=0.0, elo1=100.0, model="logistic", batch_pairs=1)
    verdicts = [figures_of(Pentanomial((0, 0, 0, pairs, 0)), settings)["verdict"] for pairs in range(100)]
    ended = verdicts.index("H1 accepted")
    assert ended > 2
    players = [{"name": "a"}, {"name": "b", "preset": "material"}]
    content = {"format": "sprt", "limit": "nodes=20", "pairs": 60, "players": players, "sprt": test}
    with Store(tmp_path) as store:
        spec = spec_from_mapping(content, "test")
        store.record_metadata({"specification": spec.content(), "engine_identity": "one"})
        for number in range(2 * ended + 2):
            pair, second = divmod(number, 2)
            store.add(
                GameRecord(
                    f"{number:032x}", Pairing(number, pair, second, 1 - second, pair), "ab"[second], "ba"[second],
                    Opening("", (), ""), (), "1/2-1/2" if second else "1-0", "checkmate", "one",
                )
            )  # fmt: skip
    rated = compared(tmp_path, {}).players["a"]
    counted = figures_of(Pentanomial((0, 0, 0, ended, 0)))
    assert (rated.games, rated.rating, rated.error) == (2 * ended, counted["elo"], counted["elo_error"])
