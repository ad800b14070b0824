"""Tables, reports and console texts of a study."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from elolab import command_line
from elolab.arena.statistics.elo import Pentanomial
from elolab.cli.shared.tuning_runs import report_written
from elolab.engine.compiled.identity import engine_identity
from elolab.tuning.reports.tuning_report import (
    optimism_sentence,
    rounds_frame,
    tuning_sentence,
    write_tuning_report,
)
from elolab.tuning.study.result import StudyResult
from elolab.tuning.study.storage import STUDY_NAME
from elolab.tuning.study.study_spec import load_tuning
from elolab.tuning.study.validation.validation_games import judge, planned_validations
from tests.support.small_studies import (
    count_games,
    write_study,
)

ROOT = Path(__file__).parents[3]

WITHOUT_CHARTS = pytest.mark.usefixtures("without_tuning_charts")


@pytest.mark.integration
def test_tables_and_reports_are_written(played: tuple[Path, Path, StudyResult]) -> None:
    _, out, study_result = played
    write_tuning_report(study_result)
    rows = list(csv.DictReader((out / "rounds.csv").open()))
    assert [int(row["round"]) for row in rows] == list(range(1, len(study_result.rounds) + 1))
    frame = rounds_frame(study_result)
    assert list(frame.columns)[:4] == ["round", "null_depth", "lmr_base", "evaluation"]
    assert (frame[["LL", "LD", "even", "WD", "WW"]].sum(axis=1) == frame.pairs).all()
    parameters = list(csv.DictReader((out / "parameters.csv").open()))
    assert list(parameters[0]) == ["parameter", study_result.spec.base_name, "recommended"]
    assert [row["parameter"] for row in parameters] == list(study_result.spec.space.names)
    page = (out / "report.html").read_text()
    assert page.count("<svg") == 4
    assert 'data-game="xiangqi"' in page
    assert (out / "games.pgn").read_text().count("[Event ") == study_result.games
    assert "http://" not in page.replace("http://www.w3.org", "")
    report = (out / "report.md").read_text()
    captions = re.findall(r"^!\[.*\n\n(.*)", report, re.MULTILINE)
    end = f"; engine {engine_identity()}; made by elolab tune {study_result.spec.conditions.source} --out {out}."
    assert [caption.endswith(end) for caption in captions] == [True] * 4, captions
    assert (out / "plots" / "convergence.svg").read_bytes().startswith(b"<?xml")


@pytest.mark.integration
@WITHOUT_CHARTS
def test_the_report_and_the_console_are_in_chinese_too(
    played: tuple[Path, Path, StudyResult], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out, study_result = played
    page = write_tuning_report(replace(study_result, directory=tmp_path), "zh").read_text("utf-8")
    text = (tmp_path / "report.md").read_text("utf-8")
    for said in ("调参报告", "归一化 Elo", "对局对", "象棋（xiangqi）", f"--out {tmp_path} --language zh"):
        assert said in page
        assert said in text
    assert command_line.main(["tune", str(path), "--dry-run", "--out", str(out), "--language", "zh"]) == 0
    assert "调参用的开局：17" in capsys.readouterr().out


@pytest.mark.integration
def test_a_best_trial_above_what_the_model_expects_is_called_optimistic(
    played: tuple[Path, Path, StudyResult],
) -> None:
    _, _, study_result = played
    raised = replace(study_result, rounds=tuple(replace(end, elo=end.elo + 1000) for end in study_result.rounds))
    assert "The estimate was optimistic by" in optimism_sentence(raised)
    assert "赢家诅咒" in optimism_sentence(raised, "zh")
    lowered = replace(study_result, rounds=tuple(replace(end, elo=end.elo - 1000) for end in study_result.rounds))
    assert "optimistic" not in optimism_sentence(lowered)


@pytest.mark.integration
@WITHOUT_CHARTS
def test_the_command_prints_the_outcome(
    played: tuple[Path, Path, StudyResult], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, out, study_result = played
    monkeypatch.chdir(out)
    assert command_line.main(["tune", str(path), "--out", str(out)]) == study_result.exit_code == 3
    printed = capsys.readouterr()
    assert max(map(len, printed.out.splitlines()[:-1])) <= 80
    assert printed.out.splitlines()[-2:] == [f"games digest: {study_result.digest}", str(out / "report.html")]
    assert " ".join((printed.out + printed.err).split()).count(tuning_sentence(study_result)) == 1
    assert command_line.main(["tune", str(path), "--out", str(out), "--json"]) == 3
    printed = capsys.readouterr()
    assert printed.err.count("elolab: No") == 1, "where standard output is for programs"
    data = json.loads(printed.out)
    assert data["games_digest"] == study_result.digest
    assert data["confirmed"] is False


@WITHOUT_CHARTS
def test_a_validation_is_told_with_true_minus_signs(played: tuple[Path, Path, StudyResult], tmp_path: Path) -> None:
    _, _, study_result = played
    spec = load_tuning(write_study(tmp_path, validation={"maximum_pairs": 6, "slow_maximum_pairs": 6}))
    stages = planned_validations(spec.validation, 46, 100)
    verdicts = tuple(judge(spec.validation, stage, Pentanomial((2, 1, 1, 1, 0))) for stage in stages)
    assert all(verdict.test is not None and verdict.test.log_likelihood_ratio < 0 for verdict in verdicts)
    shown = replace(study_result, spec=spec, verdicts=verdicts)
    report = write_tuning_report(shown, folder=tmp_path).with_name("report.md").read_text("utf-8")
    _, validation = report.split("## Validation")
    assert "| −2.94 to +2.94 |" in validation
    assert "compares −5 with 0 of the same Elo" in validation
    assert not re.findall(r"(?<![\w−])-\d", validation)


def test_a_dry_run_plays_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_study(tmp_path)
    assert command_line.main(["tune", str(path), "--out", str(tmp_path / "out"), "--dry-run", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["games"], data["stored"], data["rounds"]) == (46 + 2 * 6, 0, 6)
    assert [stage["games"] for stage in data["stages"]] == [46, 12]
    assert not (tmp_path / "out").exists()


@pytest.mark.integration
@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_an_interrupt_says_how_to_go_on(tmp_path: Path) -> None:
    path = write_study(tmp_path, games=20000)
    command = [sys.executable, str(ROOT / "elolab"), "tune", str(path), "--out", str(tmp_path / "out")]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    deadline = time.monotonic() + 60
    while not (tmp_path / "out" / STUDY_NAME).is_file() and time.monotonic() < deadline:
        time.sleep(0.05)
    while count_games(tmp_path / "out", 0) < 1 and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    error = process.communicate(timeout=60)[1]
    assert process.returncode == 130
    words = r"elolab: interrupted: (1 game is|\d+ games are) stored; to resume: elolab tune "
    assert re.match(words, error.splitlines()[-1])


def test_a_report_that_is_skipped_leaves_the_outcome_to_be_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted() -> Path:
        raise KeyboardInterrupt

    monkeypatch.setattr("elolab.arena.players.interruption.requests_to_end", lambda: 1)
    with report_written(interrupted) as report:
        assert report is None
    monkeypatch.setattr("elolab.arena.players.interruption.requests_to_end", lambda: 0)  # a run that came to its end
    with pytest.raises(KeyboardInterrupt), report_written(interrupted):
        pass
