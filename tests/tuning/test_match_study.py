"""Studies by matches of a command or a function: search, confirmation, resuming, and what is refused."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jsonschema
import optuna
import pytest

import elolab
from elolab.arena.play.stages import StagePlan
from elolab.arena.play.store import Store
from elolab.arena.statistics.elo import Pentanomial
from elolab.command_line import main
from elolab.engine.engine import StopFlag
from elolab.engine.errors import UserError
from elolab.tuning import match_command
from elolab.tuning.match_command import MatchCommand, counts_of
from elolab.tuning.study.plan import plan_of_run, prepare_tuning
from elolab.tuning.study.playoff import SHARE
from elolab.tuning.study.result import STUDY_NAME
from elolab.tuning.study.rounds import budgets, round_stream
from elolab.tuning.study.rounds.settings_pair_matches import MATCHES_NAME, PLAYOFF_STEP
from elolab.tuning.study.study_spec import TuningSpec, matches_from_mapping
from elolab.tuning.study.tuning_run import tune
from tests.support.interrupted_runs import STATUS_SCHEMA
from tests.support.marked_processes import MARK, processes_marked, wait_until

DIMENSIONS: dict[str, Any] = {
    "margin": {"low": 0.0, "high": 1.0, "default": 0.2},
    "rate": {"low": 0.001, "high": 1.0, "scale": "log", "default": 0.1},
    "mode": {"choices": ["old", "new"], "default": "old"},
}


def points(one: dict[str, Any], other: dict[str, Any], pairs: int, seed: int) -> list[int]:
    """The stronger set wins most pairs, by a rule without chance."""
    better = abs(other["margin"] - 0.7) - abs(one["margin"] - 0.7) + 0.3 * (one["mode"] == "new")
    better -= 0.3 * (other["mode"] == "new")
    counts = [0, 0, 0, 0, 0]
    for number in range(seed, seed + pairs):
        counts[min(max(round(2 + 5 * better + (number * 7 % 5 - 2) / 2), 0), 4)] += 1
    return counts


SCRIPT = """
import json, pathlib, sys
one, other = (json.loads(pathlib.Path(path).read_text()) for path in sys.argv[1:3])
pairs, seed = map(int, sys.argv[3:])
with open("calls", "a") as calls: print(pairs, seed, file=calls)
print("playing")
print("0 0", pairs, "0 0")
"""


def command_study(folder: Path, script: str = SCRIPT, **changes: Any) -> Path:
    (folder / "match.py").write_text(script)
    words = f"{sys.executable} -I -S {folder / 'match.py'}"
    keys = {"command": f"{words} {{a}} {{b}} {{pairs}} {{seed}}", "sampler": "tpe", "round_pairs": 8, **changes}
    lines = [f"{key} = {json.dumps(value)}" for key, value in keys.items() if value is not None]
    path = folder / "mine.toml"
    path.write_text("\n".join([*lines, "budget = { games = 60 }", "[dimensions.margin]", "low = 0", "high = 9",
                               "default = 4\n"]))  # fmt: skip
    return path


pytestmark = pytest.mark.usefixtures("without_tuning_charts")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.integration
@pytest.mark.parametrize("sampler", ["duel", "spsa"])
def test_a_function_tunes_anything(sampler: str, tmp_path: Path) -> None:
    given: dict[str, Any] = {"dimensions": DIMENSIONS, "games": 120, "sampler": sampler}
    found = elolab.tune(objective=points, folder=tmp_path / "whole", **given)
    assert isinstance(found, elolab.MatchedStudy)
    assert found.best is not None
    assert found.best["mode"] == "new"
    assert found.confirmed
    assert not found.interrupted
    assert found.confirmation is not None
    assert list(found.trials.columns) == ["trial", "elo", "pairs", "margin", "rate", "mode"]
    assert found.write_report().name == "report.html"
    plots = {path.stem for path in (tmp_path / "whole" / "plots").glob("*.svg")}
    assert plots == {"convergence", "slices", "contours", "importance"}
    lines = (tmp_path / "whole" / MATCHES_NAME).read_text().splitlines()
    played = sum(json.loads(line)["pairs"] for line in lines[1:])
    assert played <= 60
    # Stopped in the middle of a line, and continued by several threads: the same.
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / MATCHES_NAME).write_text("\n".join(lines[:5]) + "\n" + lines[5][:9])
    again = elolab.tune(objective=points, folder=tmp_path / "parts", concurrency=3, **given)
    assert isinstance(again, elolab.MatchedStudy)
    assert (again.best, again.confirmation) == (found.best, found.confirmation)
    assert again.trials.equals(found.trials)
    assert sorted((tmp_path / "parts" / MATCHES_NAME).read_text().splitlines()) == sorted(lines)
    study = optuna.load_study(study_name="tune", storage=f"sqlite:///{tmp_path / 'parts' / STUDY_NAME}")
    assert len(study.trials) == len(found.trials)


@pytest.mark.integration
def test_an_interruption_keeps_the_matches(tmp_path: Path) -> None:
    calls: list[int] = []

    def stopping(one: dict[str, Any], other: dict[str, Any], pairs: int, seed: int) -> list[int]:
        calls.append(seed)
        if len(calls) == 12:
            raise KeyboardInterrupt
        return points(one, other, pairs, seed)

    given: dict[str, Any] = {"dimensions": DIMENSIONS, "games": 100, "folder": tmp_path / "run"}
    stopped = elolab.tune(objective=stopping, **given)
    assert isinstance(stopped, elolab.MatchedStudy)
    assert stopped.interrupted
    assert stopped.best is not None
    assert not stopped.confirmed
    assert "not validated" in stopped.write_report().with_suffix(".md").read_text()
    ended = elolab.tune(objective=stopping, **given)
    assert not ended.interrupted
    assert len(set(calls)) == len(calls) - 1  # only the interrupted match was played again


@pytest.mark.integration
def test_a_command_plays_the_matches(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = command_study(tmp_path)
    assert main(["tune", str(path), "--out", "run", "--concurrency", "2"]) == 3
    assert "No gain is confirmed: 0.0 Elo" in capsys.readouterr().out
    calls = (tmp_path / "calls").read_text().splitlines()
    assert main(["tune", str(path), "--out", "run", "--json"]) == 3
    data = json.loads(capsys.readouterr().out)
    assert not data["interrupted"]
    assert (data["rounds"], data["planned_rounds"]) == (2, 2)
    assert (tmp_path / "calls").read_text().splitlines() == calls
    assert json.loads((tmp_path / "run" / "recommended.json").read_text()) == data["recommendation"]["parameters"]
    entry = status_of("run", capsys)
    played = sum(int(call.split()[0]) for call in calls)
    assert (entry["state"], entry["played"], entry["status"]["games"]["played"]) == ("finished", 2 * played, 2 * played)
    assert (entry["status"]["reason"], entry["status"]["verdict"]) == ("finished", "not confirmed")
    assert main(["tune", str(command_study(tmp_path, seed=2)), "--out", "run"]) == 2
    assert "holds another tuning by matches: seed = 1 there, 2 in" in capsys.readouterr().err


def test_a_dry_run_plays_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tune", str(command_study(tmp_path)), "--dry-run", "--language", "zh"]) == 0
    assert "维数：1，轮数：2" in capsys.readouterr().out
    assert not (tmp_path / "calls").exists()
    assert not (tmp_path / "results").exists()


def status_of(folder: str, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """The entry of a run in ``elolab runs``, whose status follows the schema."""
    capsys.readouterr()
    assert main(["runs", folder, "--json"]) == 0
    (entry,) = json.loads(capsys.readouterr().out)["runs"]
    jsonschema.validate(entry["status"], STATUS_SCHEMA)
    return dict(entry)


WAITING = """
import os, subprocess, sys, time
if os.path.exists("calls"):
    subprocess.Popen([sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)"])
    open("waiting", "w").close()
    time.sleep(600)
open("calls", "w").close()
print("0 0 8 0 0")
"""


@pytest.mark.integration
def test_a_report_says_what_is_known(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = command_study(tmp_path, match_pairs=8, constraints=["margin + 1 <= 9"])
    with path.open("a") as file:
        file.write("[dimensions.depth]\nlow = 1\nhigh = 5\ndefault = 2\nneeds = { margin = 4 }\n")
    assert main(["tune", str(path), "--out", "run"]) == 3
    before = (tmp_path / "run" / "report.md").read_text()
    for known in (
        "| margin | 4 |", "| depth | 2 |", "Constraints: margin + 1 \\<= 9",
        "Conditional settings: depth counts only with margin = 4",
        "Rounds: 2 of 2", "## The model", "convergence.svg", "importance.svg", "elolab tune",
    ):  # fmt: skip
        assert known in before
    capsys.readouterr()
    assert main(["report", "run"]) == 0
    assert "run/report.html" in capsys.readouterr().out
    assert (tmp_path / "run" / "report.md").read_text() == before
    lines = (tmp_path / "run" / MATCHES_NAME).read_bytes().splitlines(keepends=True)
    (tmp_path / "run" / MATCHES_NAME).write_bytes(b"".join(lines[:2]))
    assert main(["report", "run", "--language", "zh", "--out", "part"]) == 0  # a run that is not finished
    assert "已下 16 局，未经验证" in (tmp_path / "part" / "report.md").read_text()
    assert status_of("run", capsys)["result"].startswith(("No gain is confirmed", "base stays"))


@pytest.mark.integration
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_signal_ends_the_programs_of_a_command(
    number: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = command_study(tmp_path, WAITING, match_pairs=8)
    words = [sys.executable, "-m", "elolab", "tune", str(path), "--out", "run"]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env={**os.environ, MARK: str(tmp_path)})
    assert wait_until((tmp_path / "waiting").exists, 60)
    os.kill(process.pid, number)
    _, errors = process.communicate()
    assert wait_until(lambda: not processes_marked(str(tmp_path)))
    entry = status_of("run", capsys)
    assert entry["kind"] == entry["status"]["kind"] == "tuning by matches"
    assert entry["state"] == ("died" if number == signal.SIGKILL else "stopped")
    if number == signal.SIGKILL:
        assert entry["status"]["reason"] == "died"
        return
    assert process.returncode == 130
    assert "to resume: elolab tune" in errors
    assert (entry["status"]["reason"], entry["status"]["signal"]) == ("interrupted", "SIGTERM")
    assert entry["status"]["games"] == {"planned": 60, "played": 16, "faults": 0}


@pytest.mark.integration
@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("import sys; sys.exit('no board')", "exit code 1: no board (3 times)"),
        ("print('hello')", "its last line is 'hello', expected the numbers of pairs"),
        ("", "its last line is '', expected"),
        ("print(0, 0, 3, 0, 0)", "[0, 0, 3, 0, 0], which are 3 pairs; expected 8"),
        ("print('3 4 8')", "[3, 4, 8], which are 7.5 pairs; expected 8"),
    ],
)
def test_a_command_that_fails_is_named(
    script: str, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tune", str(command_study(tmp_path, script)), "--out", "run"]) == 1
    error = capsys.readouterr().err.strip().splitlines()[-1]
    assert "mine.toml: command: " in error
    assert reason in error
    assert "give the same command again" in error
    assert not (tmp_path / "run").exists()


@pytest.mark.integration
def test_a_failure_keeps_the_matches_before_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = WAITING.split("    subprocess")[0] + "    sys.exit('lost')\n" + WAITING[WAITING.index('open("calls"') :]
    assert main(["tune", str(command_study(tmp_path, script, match_pairs=8)), "--out", "run"]) == 1
    status = status_of("run", capsys)["status"]
    assert (status["reason"], status["games"]["played"]) == ("failed", 16)
    assert "exit code 1: lost (3 times)" in status["error"]


def test_a_failure_that_passes_is_forgotten(tmp_path: Path) -> None:
    script = "import os, sys\nif not os.path.exists('tried'): open('tried', 'w'); sys.exit(1)\nprint('0-16-0')"
    script = script.replace("0-16-0", "[0, 16, 0]")
    (tmp_path / "once.py").write_text(script)
    command = MatchCommand(f"{sys.executable} -I -S once.py {{a}} {{b}} {{pairs}}", "here")
    assert command({"x": 1}, {"x": 2}, 8, 1) == (0, 0, 8, 0, 0)


def test_a_stopped_command_ends_its_program() -> None:
    stop = StopFlag()
    command = MatchCommand(f"{sys.executable} -c 1 {{a}} {{b}} {{pairs}}", "here", stop)
    stop.set()
    with pytest.raises(KeyboardInterrupt):
        command({}, {}, 1, 1)
    assert match_command.ATTEMPTS > 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"limit": "nodes=100"}, "limit applies to games that elolab plays"),
        ({"command": "./mine {a} {b}"}, "{pairs} is missing; expected {a}, {b}, {pairs}"),
        ({"command": "./mine {a} {b} {pairs} {games}"}, "there is no {games}"),
        ({"command": "./mine '{a}"}, "No closing quotation"),
        ({"command": "/no/such {a} {b} {pairs}"}, "cannot be started: No such file"),
        ({"round_pairs": 600}, "round_pairs = 600, expected"),
        ({"sampler": "spas"}, "sampler = 'spas'"),
        ({"dimension": 1}, "unknown key 'dimension'"),
        ({"command": None, "match_pairs": 3}, "match_pairs = 3, expected none without command"),
    ],
)
def test_mistakes_are_named(
    changes: dict[str, Any], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tune", str(command_study(tmp_path, **changes)), "--out", "run"]) in (1, 2)
    assert message in capsys.readouterr().err


def test_a_budget_needs_a_few_games() -> None:
    with pytest.raises(UserError, match="games = 10, expected at least 40"):
        matches_from_mapping({"dimensions": DIMENSIONS, "budget": {"games": 10}}, "here")
    with pytest.raises(UserError, match=r"budget = .*expected one of \{ games = N \}"):
        matches_from_mapping({"dimensions": DIMENSIONS, "budget": {}}, "here")


def test_a_folder_of_games_is_refused(tmp_path: Path) -> None:
    with Store(tmp_path / "run") as store:
        store.record_metadata({"run kind": "tournament"})
    spec = matches_from_mapping({"dimensions": DIMENSIONS, "budget": {"games": 60}}, "here")
    with pytest.raises(UserError, match="holds a run of kind tournament, not tuning by matches"):
        tune(spec, tmp_path / "run", points)


def test_wins_draws_and_losses_become_pairs_with_the_same_score() -> None:
    found = counts_of((30, 40, 30), 50, 1)
    assert found == counts_of((30, 40, 30), 50, 1) != counts_of((30, 40, 30), 50, 2)
    assert (found.pairs, found.score) == (50, 0.5)
    assert counts_of(0.75, 1, 1) == Pentanomial((0, 0, 0, 1, 0))
    with pytest.raises(UserError, match=r"the match returned 0\.5"):
        counts_of(0.5, 2, 1)


@pytest.mark.integration
@pytest.mark.parametrize("sampler", ["duel", "spsa"])
def test_a_larger_budget_goes_on_from_the_matches(sampler: str, tmp_path: Path) -> None:
    calls: list[tuple[int, int]] = []

    def counted(one: dict[str, Any], other: dict[str, Any], pairs: int, seed: int) -> list[int]:
        calls.append((pairs, seed))
        return points(one, other, pairs, seed)

    given: dict[str, Any] = {"dimensions": DIMENSIONS, "sampler": sampler, "folder": tmp_path}
    small = elolab.tune(objective=counted, games=60, **given)
    searched = len(small.trials)
    large = elolab.tune(objective=counted, games=120, **given)
    assert isinstance(large, elolab.MatchedStudy)
    assert large.trials["margin"][:searched].tolist() == small.trials["margin"].tolist()
    assert len(large.trials) > searched
    assert len(set(calls)) <= len(calls) <= 120  # a playoff or a test of another recommendation may be new
    before = len(calls)
    again = elolab.tune(objective=counted, games=120, **given)
    assert len(calls) == before
    assert (again.best, again.confirmation) == (large.best, large.confirmation)


@pytest.mark.integration
def test_a_budget_in_time_is_estimated_from_the_first_matches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = matches_from_mapping({"dimensions": DIMENSIONS, "budget": {"seconds": 1}}, "here")
    options: dict[str, Any] = {"concurrency": 2, "stream": io.StringIO()}
    played: list[int] = []
    clock = SimpleNamespace(monotonic=lambda: 0.01 * len(played))  # each worker takes 0.02 s for a match
    for module in (budgets, round_stream):
        monkeypatch.setattr(module, "time", clock)

    def timed(one: dict[str, Any], other: dict[str, Any], pairs: int, seed: int) -> list[int]:
        played.append(seed)
        return points(one, other, pairs, seed)

    ended = tune(spec, tmp_path, timed, **options)
    assert ended.decision is not None
    assert ended.rounds[0].counts.pairs == 2  # a match for each worker
    assert len(ended.rounds) > 1
    again = tune(spec, tmp_path, lambda *match: 1 / 0, **options)
    assert (again.decision, again.games) == (ended.decision, ended.games)


@pytest.mark.integration
@pytest.mark.usefixtures("without_tuning_charts")
def test_a_recommendation_is_validated_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = SCRIPT.replace(
        'print("0 0", pairs, "0 0")', 'better = other["margin"] < one["margin"]\n'
        'won = pairs if better and seed % 4 else 0\nprint(pairs - won, 0, 0, 0, won)',
    )  # fmt: skip
    path = command_study(tmp_path, script, sampler="duel", round_pairs=5, match_pairs=5)
    main(["tune", str(path), "--out", "run"])
    pairs = json.loads((tmp_path / "run" / "recommended.json").read_text())
    assert pairs["margin"] > 4
    capsys.readouterr()
    assert main(["validate", "run", "--maximum-pairs", "40", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["passed"]
    assert found["preset"] is None
    calls = (tmp_path / "calls").read_text()
    assert main(["validate", "run", "--maximum-pairs", "40"]) == 0
    assert main(["validate", "run", "--pairs", "5"]) == 0
    assert (tmp_path / "calls").read_text().count("\n") == calls.count("\n") + 1
    games = json.loads((tmp_path / "run" / "status.json").read_text("utf-8"))["games"]
    assert games["planned"] == games["played"]
    assert main(["validate", "run", "--limit", "nodes=100"]) == 2
    assert "a command's matches have no limit" in capsys.readouterr().err


def plan_of(folder: Path, budget: int, sampler: str) -> tuple[TuningSpec, StagePlan]:
    spec = matches_from_mapping({"dimensions": DIMENSIONS, "budget": {"games": budget}, "sampler": sampler}, "here")
    return spec, plan_of_run(prepare_tuning(spec), folder, 1)


@pytest.mark.integration
@pytest.mark.parametrize(
    ("sampler", "is_better"),
    [
        ("tpe", True),
        ("duel", True),
        ("spsa", True),
        ("duel", False),
    ],
)
def test_a_plan_announces_what_is_played_at_most(sampler: str, tmp_path: Path, *, is_better: bool) -> None:
    played: list[int] = []
    stopped: list[int] = []

    def match(one: dict[str, Any], other: dict[str, Any], pairs: int, seed: int) -> list[int]:
        if seed > PLAYOFF_STEP and not stopped:
            stopped.append(seed)
            raise KeyboardInterrupt  # at the playoff's first match
        played.append(2 * pairs)
        best = 0.7 if is_better else 0.2
        better = round(4 * (abs(other["margin"] - best) - abs(one["margin"] - best)) + seed % 3 - 1)
        counts = [0, 0, 0, 0, 0]
        counts[min(max(2 + better, 0), 4)] = pairs
        return counts

    for budget in (60, 60, 140):
        spec, plan = plan_of(tmp_path, budget, sampler)
        missing = plan.games - plan.stored
        played.clear()
        result = tune(spec, tmp_path, match, stream=io.StringIO())
        assert sum(played) <= missing, (budget, plan.lines())
        after = plan_of(tmp_path, budget, sampler)[1]
        assert result.interrupted or after.games == after.stored, after.lines()
        assert result.planned == after.stages[0].games  # the search may have ended early
        games = json.loads((tmp_path / "status.json").read_text("utf-8"))["games"]
        assert games["planned"] >= games["played"], games
        for announced, one in zip(plan.stages[:2], after.stages[:2], strict=True):
            assert announced.is_rest or one.stored <= announced.games, (announced.name, one.stored)


def test_a_validation_gets_the_games_that_whole_trials_leave(tmp_path: Path) -> None:
    spec, plan = plan_of(tmp_path, 592, "tpe")
    schedule = budgets.rounds_of(spec, 592)
    pairs = sum(one.pairs for one in schedule)
    study, validation = plan.stages
    assert 2 * (pairs + budgets.playoff_after(pairs, SHARE)) < study.games
    assert validation.is_rest
    assert plan.games == 592  # whatever the validation gets, although its analyses are some pairs apart


@pytest.mark.integration
def test_spsa_plays_as_many_pairs_at_once_as_asked(tmp_path: Path) -> None:
    sizes: dict[bool, set[int]] = {True: set(), False: set()}

    def match(one: dict[str, Any], other: dict[str, Any], pairs: int, seed: int) -> list[int]:
        sizes[seed >= PLAYOFF_STEP].add(pairs)
        return points(one, other, pairs, seed)

    data = {"dimensions": DIMENSIONS, "budget": {"games": 400}, "sampler": "spsa"}
    tune(matches_from_mapping({**data, "match_pairs": 4}, "here"), tmp_path / "four", match, stream=io.StringIO())
    assert max(sizes[False]) == max(sizes[True]) == 4
    sizes[False].clear()
    tune(matches_from_mapping(data, "here"), tmp_path / "one", match, stream=io.StringIO())
    assert sizes[False] == {1}
    tune(matches_from_mapping({**data, "sampler": "duel"}, "here"), tmp_path / "duel", match, stream=io.StringIO())
    assert sizes[False] == {1}
    assert max(sizes[True]) == 8  # playoff and validation
