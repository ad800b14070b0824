"""The command ``bisect`` on a repository of weak and strong engines that play Othello over GTP."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import elolab
import elolab.engine.compiled.cache
from elolab import command_line
from elolab.arena.play import tournament_run
from tests.support.documents import ROOT
from tests.support.git_repository import MOCK, GitRepository

pytestmark = pytest.mark.usefixtures("without_charts")

ENGINE = f"""\
#!{sys.executable} -IS
import sys
import threading
import time
sys.path.insert(0, {str(MOCK.parent)!r})
import mock_othello_engines as mock
legal = mock.Board.moves
worth = {{0: 9, 7: 9, 56: 9, 63: 9, 1: -3, 6: -3, 8: -3, 9: -9, 14: -9, 15: -3, 48: -3, 49: -9, 54: -9, 55: -3, 57: -3}}
mock.Board.moves = lambda self, colour: sorted(legal(self, colour), key=lambda square: -worth.get(square, 0) * STRENGTH)
mock.MockEngine("normal", {{"protocol": "gtp"}}).run()
"""
"""Takes corners if STRENGTH is 1, and gives them away if it is -1."""
SUBJECTS = ("zero", "one", "two", "three", "four", "five", "six")
OPTIONS = ["--each", "cmd=./mine", "build=cp engine.py mine && chmod +x mine", "proto=gtp", "--game", "othello"]
OPTIONS += ["--limit", "move_time=9", "--elo1", "200", "--alpha", "0.4", "--beta", "0.4", "--batch-pairs", "1"]
OPTIONS += ["--out", "out", "--concurrency", "2", "--pairs", "12"]


@pytest.fixture(autouse=True)
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GitRepository:
    """Commits zero to six: from four on the engine is weak, and three has none, so that it cannot be built."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))
    monkeypatch.chdir(tmp_path)
    made = GitRepository(tmp_path / "mine")
    for number, subject in enumerate(SUBJECTS):
        (made.folder / "engine.py").unlink(missing_ok=True)
        source = ENGINE.replace("STRENGTH", "-1" if number >= 4 else "1")
        made.commit(subject, **({} if subject == "three" else {"engine_py": f"{source}# {subject}\n"}))
    return made


def bisect(*words: str) -> int:
    return command_line.main(["bisect", *OPTIONS, *words])


@pytest.mark.integration
def test_the_plan_is_told_before_and_a_dry_run_plays_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bisect("mine@HEAD~6", "mine@HEAD", "--pairs", "50", "--dry-run") == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "6 commits after" in said
    assert "at most 4 tests" in said
    assert "at most 400 games" in said
    assert not (tmp_path / "out").exists()
    assert not list((tmp_path / "cache").rglob("build.json"))


@pytest.mark.integration
def test_it_finds_the_commit_and_resumes_without_playing_again(
    repository: GitRepository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = repository.git("log", "--reverse", "--format=%H").split()
    assert bisect("mine@HEAD~6", "mine@HEAD", "--json") == 0
    data = json.loads(capsys.readouterr().out)
    verdicts = {SUBJECTS[names.index(step["commit"])]: step["verdict"] for step in data["steps"]}
    assert verdicts == {"six": "bad", "three": "skipped", "two": "good", "four": "bad"}
    assert data["suspects"] == names[3:5]
    assert data["finished"]
    skipped = next(step for step in data["steps"] if step["verdict"] == "skipped")
    assert "failed with exit code 1" in skipped["reason"]
    for step in data["steps"]:
        assert step is skipped or (tmp_path / "out" / step["folder"] / "report.html").is_file()
    assert json.loads((tmp_path / "out" / "bisect.json").read_text()) == data
    status = json.loads((tmp_path / "out" / "status.json").read_text())
    jsonschema.validate(status, json.loads((ROOT / "configs/schemas/status.json").read_text()))
    assert (status["kind"], status["reason"], status["verdict"]) == ("bisection", "decided", "range")
    parts = [json.loads(path.read_text()) for path in (tmp_path / "out").glob("*/status.json")]
    assert status["games"]["played"] == sum(part["games"]["played"] for part in parts) > 0
    assert status["verdicts"] == {step["commit"]: step["verdict"] for step in data["steps"]}
    report = (tmp_path / "out" / "report.md").read_text()
    assert "{" not in report
    assert all(text in report for text in ("one of these 2", names[4][:8], "plots/bisection.svg"))

    shutil.rmtree(tmp_path / "out" / skipped["commit"][:8], ignore_errors=True)
    repository.commit("seven")  # which does not matter: the commits are those of the first run
    assert bisect("mine@HEAD~7", "mine@HEAD~1", "--json") == 0
    output = capsys.readouterr()
    assert json.loads(output.out) == data
    assert "building" not in output.err
    assert bisect("mine@HEAD~7", "mine@HEAD") == 2
    assert "holds another bisection: bad = " in capsys.readouterr().err


@pytest.mark.integration
@pytest.mark.parametrize("steps", [0, 1], ids=["before the games", "after the last game"])
def test_a_signal_during_a_step_ends_the_bisection_which_resumes(
    steps: int, repository: GitRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, signals = tournament_run.sequential_run, [signal.SIGTERM]

    def read_and_signal(spec: Any, outcomes: Any) -> Any:  # a run reads its test before its games, and after them
        if signals and bool(outcomes) == bool(steps):
            os.kill(os.getpid(), signals.pop())
        return read(spec, outcomes)

    monkeypatch.setattr(tournament_run, "sequential_run", read_and_signal)
    assert bisect("mine@HEAD~6", "mine@HEAD") == 130
    status = json.loads((tmp_path / "out" / "status.json").read_text())
    assert (status["reason"], status["signal"], len(status["verdicts"])) == ("interrupted", "SIGTERM", steps)
    assert bisect("mine@HEAD~6", "mine@HEAD") == 0
    assert json.loads((tmp_path / "out" / "status.json").read_text())["verdict"] == "range"


@pytest.mark.integration
def test_from_python_it_finds_the_commits(repository: GitRepository, tmp_path: Path) -> None:
    names = repository.git("log", "--reverse", "--format=%H").split()
    player = {"source": "mine", "build": "cp engine.py mine && chmod +x mine", "command": "./mine", "protocol": "gtp"}
    sprt = {"elo1": 200, "alpha": 0.4, "beta": 0.4, "batch_pairs": 1}
    rest: dict[str, Any] = {"game": "othello", "limit": "move_time=9", "sprt": sprt, "pairs": 12, "folder": "again"}
    found = elolab.bisect(player, "HEAD~4", "HEAD~2", concurrency=2, **rest)
    verdicts = dict(zip(found.steps["subject"], found.steps["verdict"], strict=True))
    assert verdicts == {"four": "bad", "three": "skipped"}
    assert (found.finished, found.suspects) == (True, tuple(names[3:5]))
    assert all((found.folder / folder / "games.sqlite").is_file() for folder in found.steps["folder"] if folder)
    assert found.steps["elo"][0] < 0
    data = json.loads((found.folder / "bisect.json").read_text())
    assert (data["suspects"], data["reference"]) == (names[3:5], f"mine@{names[2][:8]}")
    assert json.loads((found.folder / "status.json").read_text())["verdict"] == "range"
    assert names[4][:8] in (found.folder / "report.md").read_text()
    again = elolab.bisect(player, "HEAD~4", "HEAD~2", concurrency=2, **rest)
    assert again.steps.equals(found.steps)
    with pytest.raises(elolab.UserError, match="holds another bisection: good = "):
        elolab.bisect(player, "HEAD~5", "HEAD~2", concurrency=2, **rest)
    with pytest.raises(elolab.UserError, match="no commits lead from"):
        elolab.bisect(player, "HEAD", "HEAD~2", **rest)
    with pytest.raises(elolab.UserError, match="table with a repository"):
        elolab.bisect({"command": "./mine"}, "HEAD~6", "HEAD", **rest)
    with pytest.raises(elolab.UserError, match="failed with exit code 1"):
        elolab.bisect(player, "HEAD~6", "HEAD~3", **{**rest, "folder": "other"})


@pytest.mark.integration
def test_without_a_fault_it_ends_after_one_step(capsys: pytest.CaptureFixture[str]) -> None:
    assert bisect("mine@HEAD~6", "mine@HEAD~4", "--language", "zh") == 3
    assert "没有坏提交" in capsys.readouterr().out


@pytest.mark.integration
@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("mine@HEAD", "mine@HEAD~2"), "no commits lead from"),
        (("mine@HEAD~6",), "1 player, expected two: elolab bisect A B"),
        (("default", "mine@HEAD"), "'default' is not a git commit; give REPO@REV"),
        (("mine@HEAD~6", "mine@HEAD~3"), "failed with exit code 1"),
        (("mine@HEAD~6", "mine@HEAD", "--event", "cup"), "--event is for one match"),
        (("mine@HEAD~6", "mine@HEAD", "--pairs", "1"), "bisect: 1 pair"),
    ],
)
def test_mistakes_are_named_and_leave_no_folder(
    words: tuple[str, ...], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bisect(*words, *(("--elo1", "10") if "--pairs" in words else ())) == 2
    assert says in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
