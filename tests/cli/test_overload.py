"""Every command that plays warns of more games at a time than the processors can play, before and when it begins."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from elolab.arena import run as run_module
from elolab.arena.watching.snapshot import RunFollower
from elolab.arena.watching.view import printed
from elolab.command_line import main

ABLATION = """
game = "othello"
limit = "{limit}"
base = "default"

pairs = 40

[[values]]
parameter = "killers"
values = [0]
"""
STUDY = """
game = "othello"
base = "default"
limit = "{limit}"
seed = 1

[budget]
games = 400

[dimensions.killers]
"""
PLAYERS = ["default", "default", "--game", "othello"]
RUNS = {
    "match": ["match", *PLAYERS, "--pairs", "1", "--limit"],
    "sprt": ["sprt", *PLAYERS, "--pairs", "60", "--elo0", "0", "--elo1", "100", "--limit"],
    "tournament": ["tournament", *PLAYERS, "--pairs", "1", "--limit"],
    "ablate": ["ablate", "spec.toml"],
    "tune": ["tune", "spec.toml"],
}


EACH_KIND = pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[] if kind in ("match", "tune") else [pytest.mark.integration]) for kind in RUNS]
)


@pytest.fixture(autouse=True)
def two_processors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(run_module, "processor_count", lambda: 2)


def words(kind: str, limit: str) -> list[str]:
    if kind in ("ablate", "tune"):
        Path("spec.toml").write_text((ABLATION if kind == "ablate" else STUDY).format(limit=limit))
        return RUNS[kind]
    return [*RUNS[kind], limit]


@pytest.mark.integration
@EACH_KIND
def test_games_on_a_clock_that_lack_processors_are_refused(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    for line in ([*words(kind, "clock=10+0.1"), "--dry-run"], [*words(kind, "move_time=0.1"), "--out", "out"]):
        assert main([*line, "--concurrency", "24"]) == 2
        (said,) = capsys.readouterr().err.splitlines()[-1:]
        assert "too few processors: 24 games at a time, 1 thread per engine, need 24, but the machine has 2" in said
        assert said.endswith("use --concurrency 2 or less; or permit it with --oversubscribe")
    assert not Path("out").exists()


@pytest.mark.integration
@EACH_KIND
def test_hash_tables_that_the_memory_lacks_are_refused_at_any_limit(
    kind: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(run_module, "memory_megabytes", lambda: 100)
    line = [*words(kind, "nodes=10"), "--dry-run", "--concurrency"]
    assert main([*line, "3"]) == 0
    assert "3 of 2 processors; hash tables 96 of 100 MiB" in " ".join(capsys.readouterr().out.split())
    assert main([*line, "4"]) == 2
    (said,) = capsys.readouterr().err.splitlines()[-1:]
    assert "not enough memory: the hash tables of 4 games at a time need 128 MiB (32 a game)" in said
    assert "use --concurrency 3 or less, or smaller hash tables (Hash, hash_mb); or permit it" in said
    assert main([*line, "4", "--oversubscribe", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["machine"]["hashes"] == 128
    assert "need 128 MiB" in data["warnings"][0]


@pytest.mark.integration
@EACH_KIND
def test_a_dry_run_warns(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    line = [*words(kind, "clock=10+0.1"), "--dry-run", "--oversubscribe"]
    assert main([*line, "--concurrency", "24"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert (
        "Warning: too few processors: 24 games at a time, with 1 thread per engine and no pondering, "
        "need 24 processors, but the machine has 2."
    ) in said
    assert "set concurrency to 2 or less" in said
    assert main([*line, "--concurrency", "24", "--json"]) == 0
    (warning,) = json.loads(capsys.readouterr().out)["warnings"]
    assert "need 24 processors, but the machine has 2" in warning
    assert main([*line, "--concurrency", "2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["warnings"] == []
    assert main([*words(kind, "nodes=10"), "--dry-run", "--concurrency", "24", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["warnings"] == []


def test_pondering_and_affinity_count_too(capsys: pytest.CaptureFixture[str]) -> None:
    line = ["match", *PLAYERS, "--pairs", "1", "--each", "ponder", "--limit", "clock=10+0.1", "--dry-run", "--json"]
    line.append("--oversubscribe")
    assert main([*line, "--concurrency", "4"]) == 0
    data = json.loads(capsys.readouterr().out)
    (warning,) = data["warnings"]
    assert "2 games at a time, with 1 thread per engine and pondering, need 4 processors" in warning
    plan = data["machine"]
    assert (plan["games"], plan["busy"], plan["hashes"]) == (2, 4, 2 * plan["hash"]), "each game takes two slots"
    assert main([*line, "--concurrency", "1"]) == 0
    plan = json.loads(capsys.readouterr().out)["machine"]
    assert (plan["games"], plan["busy"]) == (1, 2)
    assert main([*line, "--concurrency", "1", "--affinity", "0"]) == 0
    (warning,) = json.loads(capsys.readouterr().out)["warnings"]
    assert "and pondering, needs 2 processors, but the machine has 1" in warning


@pytest.mark.integration
def test_a_run_warns_when_it_begins(capsys: pytest.CaptureFixture[str]) -> None:
    line = [*words("match", "clock=5+0.1"), "--maxmoves", "2", "--out", "out"]
    assert main([*line, "--concurrency", "3", "--oversubscribe"]) == 0
    said = capsys.readouterr().err
    assert said.count("too few processors: 3 games at a time") == 1


LATE = """
game = "othello"
format = "match"
pairs = 1

[[players]]
name = "late"
limit = "clock=0.001"
margin = 0
set = { min_depth = 8 }

[[players]]
name = "quick"
limit = "nodes=10"
"""


@pytest.mark.usefixtures("without_charts")
def test_games_lost_on_time_stand_out_wherever_their_elo_does(capsys: pytest.CaptureFixture[str]) -> None:
    Path("late.toml").write_text(LATE)
    assert main(["tournament", "late.toml", "--out", "out", "--json"]) == 1
    (warning,) = json.loads(capsys.readouterr().out)["warnings"]
    assert warning.startswith("2 of 2 games (100 %) were lost on time (late 2): do not trust the Elo.")
    assert main(["report", "out"]) == 0
    shown = capsys.readouterr().out
    assert f"Warning: {warning}" in " ".join(shown.split())
    assert max(map(len, shown.splitlines())) <= 80
    for name in ("report.md", "report.html"):
        assert warning in Path("out", name).read_text()
    state = RunFollower(Path("out")).read()
    assert [told["en"] for told in state["warnings"]] == [warning]
    lines = ["".join(text for text, _ in line) for line in printed(state, [], "en")]
    assert f"Warning: {warning}" in " ".join(" ".join(lines).split())
    assert main(["report", "out", "--language", "zh"]) == 0
    shown = capsys.readouterr().out.replace("\n", "")
    assert "警告：2 局中有 2 局（100 %）超时判负（late 2 局）：Elo 不可信。" in shown
    short = "pairs = 1\n[adjudication]\nmaximum_plies = 4"
    Path("late.toml").write_text(LATE.replace("margin = 0", "margin = 60").replace("pairs = 1", short))
    assert main(["tournament", "late.toml", "--out", "forgiven", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["warnings"] == []


@pytest.mark.integration
@pytest.mark.usefixtures("without_tuning_charts")
def test_games_of_an_ablation_lost_on_time_stand_out_too(capsys: pytest.CaptureFixture[str]) -> None:
    content = ABLATION.format(limit="clock=0.001").replace("pairs = 40", "pairs = 20\nset = { min_depth = 15 }")
    Path("spec.toml").write_text(content)
    assert main(["ablate", "spec.toml", "--out", "out", "--json"]) == 1
    (warning,) = json.loads(capsys.readouterr().out)["warnings"]
    assert "were lost on time" in warning
    for name in ("report.md", "report.html"):
        assert warning in Path("out", name).read_text()
    assert main(["ablate", "spec.toml", "--out", "out"]) == 1
    assert f"Warning: {warning}" in " ".join(capsys.readouterr().out.split())
