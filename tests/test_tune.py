"""Whole studies: the same trials and games at any concurrency and after any stop, and only a confirmed gain counts."""

from __future__ import annotations

import csv
import io
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import optuna
import pytest

import elolab
from arena.openings import is_reserved_for_validation
from arena.records import GameRecord
from arena.statistics import Pentanomial
from arena.store import STORE_NAME, Store
from engine.configuration import read_toml
from engine.engine import StopFlag
from engine.errors import UserError
from engine.presets import load_preset
from tuning.report import trials_frame, tuning_data
from tuning.run_folder import RunError
from tuning.spec import TuningSpec, load_tuning
from tuning.study import STUDY_NAME, Tuned, observations, open_study, prepare_tuning, tune
from tuning.validate import judge

ROOT = Path(__file__).parent.parent


def openings(count: int) -> str:
    """Legal positions, all different: the start with one cannon of each side elsewhere."""
    lines = []
    for red in range(9):
        for black in range(9):
            rows = ["rnbakabnr", "9", "1c5c1", "p1p1p1p1p", "9", "9", "P1P1P1P1P", "1C5C1", "9", "RNBAKABNR"]
            rows[7] = cannons(red).upper()
            rows[2] = cannons(black)
            if red != black or red in (1, 7):
                lines.append("/".join(rows) + " w - - 0 1")
    return "\n".join(dict.fromkeys(lines[:count])) + "\n"


def cannons(place: int) -> str:
    """A rank with two cannons: one on its square, the other one somewhere."""
    squares = ["1"] * 9
    squares[7 if place < 4 else 1] = "c"
    squares[place] = "c"
    text, empty = "", 0
    for square in squares:
        if square == "1":
            empty += 1
            continue
        text += (str(empty) if empty else "") + square
        empty = 0
    return text + (str(empty) if empty else "")


def write_study(folder: Path, extra: str = "", **changes: Any) -> Path:
    """A small study beside its openings."""
    (folder / "few.epd").write_text(openings(60))
    settings = {
        "seed": 3,
        "limit": "nodes=60",
        "pairs": 3,
        "trials": 5,
        "openings": "few.epd",
        "startup_trials": 2,
        "trial_openings": "common",
    }
    dimensions = changes.pop("dimensions", {})
    lines = [f"{key} = {json.dumps(value)}" for key, value in {**settings, **changes}.items()]
    extra += "".join(f"[dimensions.{name}]\nchoices = {one['choices']}\n" for name, one in dimensions.items())
    lines.append('parameters = ["null_depth", "lmr_base", "evaluation"]')
    lines.append("[set]\nhash_mb = 1")
    lines.append("[adjudication]\nmaximum_plies = 50")
    lines.append("[validation]\npairs = 6")
    path = folder / "small.toml"
    path.write_text("\n".join(lines) + "\n" + extra)
    return path


def run(path: Path, out: Path, concurrency: int = 1, **options: Any) -> Tuned:
    return tune(load_tuning(path), out, concurrency=concurrency, stream=io.StringIO(), presets=out, **options)


def records_in(out: Path) -> list[GameRecord]:
    with Store(out, read_only=True) as store:
        return store.records()


def outline(tuned: Tuned) -> Any:
    return [(trial.values, trial.counts) for trial in tuned.trials], tuned.digest, tuned.recommendation


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Tuned]:
    """A small study: its file, folder and end."""
    folder = tmp_path_factory.mktemp("tuned")
    path = write_study(folder)
    return path, folder / "out", run(path, folder / "out")


def test_trials_are_matches_on_common_openings_and_validation_on_reserved_ones(
    played: tuple[Path, Path, Tuned],
) -> None:
    path, out, tuned = played
    spec = load_tuning(path)
    records = records_in(out)
    trials = [record for record in records if record.pairing.round < spec.trials]
    validation = [record for record in records if record.pairing.round == spec.trials]
    assert not any(is_reserved_for_validation(record.opening) for record in trials)
    assert all(is_reserved_for_validation(record.opening) for record in validation)
    sets = {record.first for record in trials} | {record.second for record in trials}
    assert len(records) == 2 * 3 * (len(sets) - 1) + len(validation)
    assert len({record.opening.position for record in trials}) == 3
    assert len(validation) == (0 if tuned.verdict is None else 12)
    assert all("default with hash_mb 1" in (record.first, record.second) for record in records)


def test_fresh_openings_are_different_in_every_trial(tmp_path: Path) -> None:
    path = write_study(tmp_path, trial_openings="fresh", dimensions={"killers": {"choices": [1, 2]}})
    path.write_text(path.read_text().replace('["null_depth", "lmr_base", "evaluation"]', "[]"))
    tuned = run(path, tmp_path / "out")
    played = [record for record in records_in(tmp_path / "out") if record.pairing.round < 5]
    rounds: dict[str, set[int]] = {}
    for record in played:
        rounds.setdefault(record.opening.position, set()).add(record.pairing.round)
    assert all(len(found) == 1 for found in rounds.values())
    tried = [trial for trial in tuned.trials if trial.counts.pairs]
    assert len(tried) >= 2  # the same set again, killers = 1: the only one besides the base
    assert [trial.same_as for trial in tried[1:]] == [tried[0].number] * (len(tried) - 1)
    (observed,) = observations(tuned.spec, tuned.trials)
    assert observed.counts.pairs == 3 * len(tried)
    assert outline(run(path, tmp_path / "two", concurrency=2)) == outline(tuned)


def test_counts_are_those_of_the_games_from_the_candidates_view(played: tuple[Path, Path, Tuned]) -> None:
    path, out, tuned = played
    conditions = load_tuning(path).conditions
    for trial in tuned.trials:
        name = conditions.player(trial.values).name
        points: dict[int, float] = {}
        for record in records_in(out):
            if name in (record.first, record.second) and record.pairing.round < len(tuned.trials):
                assert record.score is not None
                score = record.score if record.first == name else 1 - record.score
                points[record.pairing.pair] = points.get(record.pairing.pair, 0) + score
        expected = [sum(round(2 * score) == place for score in points.values()) for place in range(5)]
        assert list(trial.counts.counts) == expected


def test_optuna_reads_the_study(played: tuple[Path, Path, Tuned]) -> None:
    _, out, tuned = played
    study = optuna.load_study(study_name="small", storage=f"sqlite:///{out / STUDY_NAME}")
    assert [trial.state for trial in study.trials] == [optuna.trial.TrialState.COMPLETE] * 5
    for frozen, trial in zip(study.trials, tuned.trials, strict=True):
        assert frozen.params == trial.suggested
        assert frozen.value == trial.told
        assert frozen.user_attrs["pentanomial"] == list(trial.counts.counts)
        assert "elo_error" in frozen.user_attrs


def test_concurrency_does_not_matter(played: tuple[Path, Path, Tuned], tmp_path: Path) -> None:
    path, _, tuned = played
    assert outline(run(path, tmp_path / "two", concurrency=2)) == outline(tuned)


def test_batches_are_part_of_the_specification(tmp_path: Path) -> None:
    path = write_study(tmp_path, batch=2)
    one = run(path, tmp_path / "one")
    assert outline(run(path, tmp_path / "two", concurrency=2)) == outline(one)
    assert len(one.trials) == 5


def test_again_plays_nothing(played: tuple[Path, Path, Tuned]) -> None:
    path, out, tuned = played
    before = {record.key: record.started_at for record in records_in(out)}
    assert outline(run(path, out)) == outline(tuned)
    assert {record.key: record.started_at for record in records_in(out)} == before


def test_a_lost_study_is_made_again_from_the_games(played: tuple[Path, Path, Tuned], tmp_path: Path) -> None:
    path, _, tuned = played
    run(path, tmp_path / "out")
    (tmp_path / "out" / STUDY_NAME).unlink()
    before = {record.key: record.started_at for record in records_in(tmp_path / "out")}
    assert outline(run(path, tmp_path / "out")) == outline(tuned)
    assert {record.key: record.started_at for record in records_in(tmp_path / "out")} == before


def test_a_study_that_contradicts_its_games_is_refused(tmp_path: Path) -> None:
    path = write_study(tmp_path)
    run(path, tmp_path / "out")
    with Store(tmp_path / "out") as store:
        store.connection.execute("DELETE FROM games WHERE number < 4")
    with pytest.raises(RunError, match=f"trial 1 counted .* remove {STUDY_NAME}"):
        run(path, tmp_path / "out")


class CountingStop(StopFlag):
    """A stop flag that is set after so many looks at it."""

    def __init__(self, looks: int) -> None:
        super().__init__()
        self.left = looks

    def is_set(self) -> bool:
        self.left -= 1
        if self.left < 0:
            self.set()
        return super().is_set()


def test_a_study_stopped_anywhere_goes_on_as_if_it_had_not_been(
    played: tuple[Path, Path, Tuned], tmp_path: Path
) -> None:
    path, _, tuned = played
    stops = 0
    for looks in (1, 9, 17, 30, 31, 32):
        stopped = run(path, tmp_path / "out", stop=CountingStop(looks))
        stops += stopped.interrupted
        assert stopped.exit_code in (0, 3, 130)
    assert stops >= 3
    assert outline(run(path, tmp_path / "out")) == outline(tuned)


def test_a_study_killed_at_any_moment_loses_nothing(played: tuple[Path, Path, Tuned], tmp_path: Path) -> None:
    path, _, tuned = played
    command = [sys.executable, str(ROOT / "elolab.py"), "tune", str(path), "--out", str(tmp_path / "out")]
    moments = random.Random(11)
    seen: dict[str, str] = {}
    sizes = []
    for _ in range(3):
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL, cwd=tmp_path)
        deadline = time.monotonic() + 60
        stored = len(seen)
        while process.poll() is None and stored <= len(seen) and time.monotonic() < deadline:
            time.sleep(0.01)
            if (tmp_path / "out" / STORE_NAME).is_file():
                stored = _count(tmp_path / "out", stored)
        time.sleep(moments.uniform(0, 0.2))
        process.kill()
        process.wait()
        now = {record.key: record.started_at for record in records_in(tmp_path / "out")}
        assert seen.items() <= now.items()
        seen = now
        sizes.append(len(seen))
    assert outline(run(path, tmp_path / "out")) == outline(tuned)
    after = {record.key: record.started_at for record in records_in(tmp_path / "out")}
    assert seen.items() <= after.items()
    assert min(sizes) < len(after)


def _count(out: Path, before: int) -> int:
    try:
        with Store(out, read_only=True) as store:
            return len(store)
    except Exception:  # the other process is making it
        return before


def test_more_trials_go_on_from_those_played(played: tuple[Path, Path, Tuned], tmp_path: Path) -> None:
    path, _, tuned = played
    spec = load_tuning(path)
    folder = tmp_path / "more"
    folder.mkdir()
    run(path, folder / "out")
    longer = run(write_study(folder, trials=7), folder / "out")
    assert [trial.values for trial in longer.trials[:5]] == [trial.values for trial in tuned.trials]
    assert len(longer.trials) == spec.trials + 2


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"limit": "nodes=61"}, ["another tuning", "limit = 'nodes=60' there", "'nodes=61'", "--out"]),
        ({"pairs": 4}, ["pairs = 3 there, 4"]),
        ({"trials": 4}, ["trials = 5 there, 4"]),
        ({"sampler": "random"}, ["sampler = 'tpe' there"]),
        ({"seed": 4}, ["seed = 3 there"]),
    ],
)
def test_a_folder_of_another_study_is_refused(
    played: tuple[Path, Path, Tuned], tmp_path: Path, changes: dict[str, Any], words: list[str]
) -> None:
    _, out, _ = played
    with pytest.raises(UserError) as raised:
        run(write_study(tmp_path, **changes), out)
    assert all(word in str(raised.value) for word in words), str(raised.value)


def test_a_folder_of_a_tournament_is_refused(tmp_path: Path) -> None:
    with Store(tmp_path / "out") as store:
        store.record_facts({"specification": {}})
    with pytest.raises(RunError, match="holds another run"):
        run(write_study(tmp_path), tmp_path / "out")


def test_another_engine_is_refused_unless_accepted(
    played: tuple[Path, Path, Tuned], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, _, tuned = played
    run(path, tmp_path / "out")
    with Store(tmp_path / "out") as store:
        store.record_facts({"engine_identity": "0123456789ab"})
    with pytest.raises(RunError, match=r"0123456789ab.*--accept-engine-change"):
        run(path, tmp_path / "out")
    assert outline(run(path, tmp_path / "out", accept_engine_change=True)) == outline(tuned)


def test_too_few_openings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"pairs = 500 needs .* the tournament half of the suite .*few\.epd"):
        prepare_tuning(load_tuning(write_study(tmp_path, pairs=500)))


# Validation


def validation_of(path: Path) -> Any:
    return load_tuning(path).validation


def test_only_an_interval_above_zero_confirms(tmp_path: Path) -> None:
    validation = validation_of(write_study(tmp_path))
    assert judge(validation, Pentanomial((1, 5, 40, 20, 9))).confirmed
    assert not judge(validation, Pentanomial((5, 12, 40, 16, 6))).confirmed
    assert not judge(validation, Pentanomial((0, 0, 0, 0, 0))).confirmed
    assert judge(validation, Pentanomial((0, 0, 0, 0, 40))).confirmed


def test_the_interval_is_the_statistics_own_at_95_percent(tmp_path: Path) -> None:
    counts = Pentanomial((5, 30, 60, 40, 9))
    verdict = judge(validation_of(write_study(tmp_path)), counts)
    assert verdict.low == pytest.approx(counts.estimate().elo_low)
    assert verdict.high == pytest.approx(counts.estimate().elo_high)


@pytest.fixture(scope="module")
def improved(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Tuned]:
    """A study from a base that is easily bettered: without quiescence search."""
    folder = tmp_path_factory.mktemp("improved")
    (folder / "few.epd").write_text(openings(60))
    (folder / "weak.toml").write_text(
        'pairs = 4\ntrials = 3\nlimit = "nodes=300"\nopenings = "few.epd"\nparameters = ["quiescence"]\n'
        "[set]\nquiescence = false\nhash_mb = 1\n[adjudication]\nmaximum_plies = 120\n[validation]\npairs = 20\n"
    )
    (folder / "presets").mkdir()
    spec = load_tuning(folder / "weak.toml")
    tuned = tune(spec, folder / "out", concurrency=2, stream=io.StringIO(), presets=folder / "presets")
    return folder, tuned


def test_a_confirmed_gain_becomes_a_preset(improved: tuple[Path, Tuned]) -> None:
    folder, tuned = improved
    assert tuned.confirmed
    assert tuned.exit_code == 0
    assert tuned.preset == folder / "presets" / "weak.toml"
    assert load_preset(str(tuned.preset), "xiangqi") == {"hash_mb": 1}
    assert "quiescence off" in read_toml(tuned.preset)["description"]
    data = tuning_data(tuned)
    assert data["validation"]["low"] > 0
    assert data["recommendation"]["changed"] == {"quiescence": True}


def test_a_preset_of_somebody_else_is_not_overwritten(improved: tuple[Path, Tuned]) -> None:
    folder, tuned = improved
    other = folder / "other"
    other.mkdir()
    (other / "weak.toml").write_text("[xiangqi]\n")
    again = tune(tuned.spec, folder / "out", stream=io.StringIO(), presets=other)
    assert again.preset == folder / "out" / "weak.toml"
    assert (other / "weak.toml").read_text() == "[xiangqi]\n"


# What is written and printed


def test_tables_and_reports_are_written(played: tuple[Path, Path, Tuned]) -> None:
    _, out, tuned = played
    rows = list(csv.DictReader((out / "trials.csv").open()))
    assert [int(row["trial"]) for row in rows] == [1, 2, 3, 4, 5]
    frame = trials_frame(tuned)
    assert list(frame.columns)[:4] == ["trial", "null_depth", "lmr_base", "evaluation"]
    assert (frame.games == 2 * frame.pairs).all()
    assert tuned.report == out / "report.html"
    page = (out / "report.html").read_text()
    assert page.count("<svg") == 2
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "optimistic" in (out / "report.md").read_text()
    assert (out / "plots" / "history.png").read_bytes().startswith(b"\x89PNG")


def test_the_command_prints_the_outcome(
    played: tuple[Path, Path, Tuned], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, out, tuned = played
    monkeypatch.chdir(out)
    assert elolab.main(["tune", str(path), "--out", str(out)]) == tuned.exit_code == 3
    printed = capsys.readouterr()
    assert max(map(len, printed.out.splitlines()[:-1])) <= 80
    assert printed.out.splitlines()[-2:] == [f"games digest: {tuned.digest}", str(out / "report.html")]
    assert printed.err.count("elolab: No") == 1
    assert elolab.main(["tune", str(path), "--out", str(out), "--json"]) == 3
    data = json.loads(capsys.readouterr().out)
    assert data["games_digest"] == tuned.digest
    assert data["confirmed"] is False


def test_a_dry_run_plays_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_study(tmp_path)
    assert elolab.main(["tune", str(path), "--out", str(tmp_path / "out"), "--dry-run", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["games"], data["stored"], data["trials"]) == (2 * (5 * 3 + 6), 0, 5)
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_an_interrupt_says_how_to_go_on(tmp_path: Path) -> None:
    path = write_study(tmp_path, trials=2000)
    command = [sys.executable, str(ROOT / "elolab.py"), "tune", str(path), "--out", str(tmp_path / "out")]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    deadline = time.monotonic() + 60
    while not (tmp_path / "out" / STUDY_NAME).is_file() and time.monotonic() < deadline:
        time.sleep(0.05)
    while _count(tmp_path / "out", 0) < 1 and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    error = process.communicate(timeout=60)[1]
    assert process.returncode == 130
    assert "games are stored; to go on: elolab tune" in error.splitlines()[-1]


def test_a_study_needs_no_more_than_its_specification_to_open(played: tuple[Path, Path, Tuned], tmp_path: Path) -> None:
    path, _, _ = played
    spec: TuningSpec = load_tuning(path)
    assert open_study(tmp_path / STUDY_NAME, spec).study_name == "small"
    assert open_study(tmp_path / STUDY_NAME, spec).trials == []
