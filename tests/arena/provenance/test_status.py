"""``status.json``: however a run of any kind ends, the file says how, and a reader can tell that its process died."""

from __future__ import annotations

import io
import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from elolab.arena.play.live import LIVE_NAME
from elolab.arena.play.store import Store, StoreError
from elolab.arena.provenance.status import STATUS_NAME
from elolab.arena.records import games_digest
from elolab.command_line import main
from elolab.engine.engine import StopFlag
from elolab.engine.settings.limits import Limits
from elolab.tuning.evaluation.evaluation_fit import FitSpec, fit_evaluation
from tests.support import small_ablation, small_claims, small_studies, small_tournaments
from tests.support.interrupted_runs import mock_command
from tests.support.marked_processes import wait_until

ROOT = Path(__file__).parents[3]
SCHEMA = json.loads((ROOT / "configs/schemas/status.json").read_text("utf-8"))
Play = Callable[..., Any]


def status_of(folder: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """What ``elolab runs --json`` says, which must follow the schema."""
    capsys.readouterr()
    assert main(["runs", str(folder), "--json"]) == 0
    (entry,) = json.loads(capsys.readouterr().out)["runs"]
    jsonschema.validate(entry["status"], SCHEMA)
    return dict(entry["status"])


def tournament(folder: Path, out: Path, **options: Any) -> None:
    small_tournaments.play(small_tournaments.write_spec(folder), out, **options)


def sequential_test(folder: Path, out: Path, **options: Any) -> None:
    extra = 'format = "sprt"\n[sprt]\nelo0 = 0\nelo1 = 100\nalpha = 0.4\nbeta = 0.4\nbatch_pairs = 1\n'
    small_tournaments.play(small_tournaments.write_spec(folder, players=2, pairs=3, extra=extra), out, **options)


def tuning(folder: Path, out: Path, **options: Any) -> None:
    small_studies.run(small_studies.write_study(folder), out, **options)


def ablation(folder: Path, out: Path, **options: Any) -> None:
    small_ablation.write_openings(folder)
    small_ablation.run(small_ablation.write_ablation(folder), out, **options)


def claims(folder: Path, out: Path, **options: Any) -> None:
    small_claims.run(small_claims.write_claims(folder), out, **options)


def fit(folder: Path, out: Path, **options: Any) -> None:
    spec = FitSpec(
        game="othello", start="othello-by-hand", games=40, limits=Limits(depth=1), seed=5, iterations=1,
        until_no_gain=False, phases=2, patterns=False, score_share=0, match_pairs=0, match_limits=(Limits(depth=1),),
    )  # fmt: skip
    fit_evaluation(spec, out, stream=io.StringIO(), **options)


KINDS = {
    "tournament": tournament, "sprt": sequential_test, "tuning": tuning, "ablation": ablation, "claims": claims,
    "fit": fit,
}  # fmt: skip


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, marks=[] if kind in ("tournament", "ablation") else [pytest.mark.integration])
        for kind in KINDS
    ],
)
def test_every_kind_of_run_says_how_it_ended(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    out, play, stop = tmp_path / "out", KINDS[kind], StopFlag()
    begun: list[dict[str, Any]] = []

    def stop_at_first(self: Any, games: Any) -> list[bool]:
        begun.append(json.loads((out / STATUS_NAME).read_text()))
        stop.set()
        return add_all(self, games)

    add_all = Store.add_all
    with monkeypatch.context() as patched:
        patched.setattr(Store, "add_all", stop_at_first)
        play(tmp_path, out, stop=stop)
    assert begun[0]["reason"] == "running"
    stopped = status_of(out, capsys)
    assert (stopped["reason"], stopped["signal"], stopped["verdict"]) in [
        ("interrupted", None, None), ("interrupted", None, "undecided")
    ]  # fmt: skip
    assert stopped["games"]["played"] > 0
    assert stopped["ended_at"] >= stopped["began_at"]

    def fail(self: Any, games: Any) -> list[bool]:
        raise ValueError("on\npurpose")

    with monkeypatch.context() as patched:
        patched.setattr(Store, "add_all", fail)
        with pytest.raises(ValueError, match="purpose"):
            play(tmp_path, out)
    failed = status_of(out, capsys)
    assert (failed["reason"], failed["error"]) == ("failed", "on purpose")
    assert failed["digests"]["games"] == stopped["digests"]["games"]
    with Store(out, read_only=True) as store:
        assert failed["digests"]["games"] == games_digest(store.records())


@pytest.mark.integration
@pytest.mark.usefixtures("without_charts")
def test_a_finished_test_has_its_verdict_and_an_older_folder_what_it_holds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    sequential_test(tmp_path, out)
    ended = status_of(out, capsys)
    assert (ended["reason"], ended["verdict"], ended["format"]) == ("finished", "undecided", "sprt")
    (out / STATUS_NAME).unlink()
    older = status_of(out, capsys)
    assert older["reason"] == "finished"
    assert [older[key] for key in ("games", "digests", "format")] == [
        ended[key] for key in ("games", "digests", "format")
    ]
    (out / LIVE_NAME).unlink()
    assert status_of(out, capsys)["reason"] == "unknown"


@pytest.mark.integration
@pytest.mark.usefixtures("without_charts")
def test_a_fault_has_the_file_of_its_dialogue_and_a_player_that_is_missing_leaves_games_undone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bad.toml").write_text(
        f'protocol = "uci"\ncommand = {json.dumps(mock_command("mock_engines", "illegal"))}\n'
    )
    out, words = tmp_path / "out", ["--pairs", "1", "--limit", "nodes=20", "--out"]
    main(["match", "default", str(tmp_path / "bad.toml"), *words, str(out)])
    found = status_of(out, capsys)
    assert found["games"] == {"planned": 2, "played": 2, "faults": 2}
    assert [(fault["player"], fault["reason"]) for fault in found["faults"]] == [("bad", "illegal_move")] * 2
    for fault in found["faults"]:
        assert "bestmove" in (out / fault["dialogue"]).read_text("utf-8")
    assert {file["path"] for file in found["digests"]["files"]} >= {sys.executable}
    (tmp_path / "none.toml").write_text('protocol = "uci"\ncommand = "./none"\n')
    main(["tournament", "default", "material", str(tmp_path / "none.toml"), *words, str(tmp_path / "none")])
    missing = status_of(tmp_path / "none", capsys)
    assert (missing["reason"], missing["games"]["planned"], missing["games"]["played"]) == ("incomplete", 6, 2)


@pytest.mark.integration
def test_a_killed_run_has_died_and_a_signal_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    words = ["match", "default", "material", "--pairs", "400", "--limit", "nodes=200", "--out", str(out)]
    for number, reason in ((signal.SIGKILL, "died"), (signal.SIGTERM, "interrupted")):
        before = stored(out)
        process = subprocess.Popen(
            [sys.executable, str(ROOT / "elolab"), *words], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        assert wait_until(lambda before=before: stored(out) > before, 120)
        assert status_of(out, capsys)["reason"] == "running"
        process.send_signal(number)
        process.wait()
        ended = status_of(out, capsys)
        assert (ended["reason"], ended["signal"]) == (reason, "SIGTERM" if reason == "interrupted" else None)
        assert ended["process"] == process.pid
        assert ended["games"]["played"] == stored(out)


def stored(out: Path) -> int:
    try:
        with Store(out, read_only=True, glance=True) as store:
            return len(store)
    except (StoreError, sqlite3.Error):  # not there yet
        return 0
