"""Whole studies: the same trials and games at any concurrency and after any stop, and only a confirmed gain counts."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import optuna
import pytest

from elolab import command_line
from elolab.arena.engines_file import EnginesFile
from elolab.arena.notation.openings import is_reserved_for_validation
from elolab.arena.play.damage import renew_checksums
from elolab.arena.play.live import LIVE_NAME
from elolab.arena.play.store import STORE_NAME, Store
from elolab.arena.player_spec import player_named
from elolab.arena.provenance.record import PROGRAMS
from elolab.arena.records import GameRecord
from elolab.arena.run import RunError
from elolab.arena.sequential import POWER, acceptance_probability, target_of
from elolab.arena.spec import spec_from_mapping
from elolab.arena.statistics.elo import Pentanomial
from elolab.cli.shared.tuning_runs import report_written
from elolab.engine.compiled.identity import engine_identity
from elolab.engine.engine import StopFlag
from elolab.engine.errors import UserError
from elolab.engine.settings.configuration import read_toml
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.presets import load_preset
from elolab.tuning.keys.study import MODELLING_SAMPLERS
from elolab.tuning.reports.study import (
    optimism_sentence,
    rounds_frame,
    tuning_data,
    tuning_sentence,
    write_tuning_report,
)
from elolab.tuning.stored_results import result_in
from elolab.tuning.study.console_words import validation_words
from elolab.tuning.study.plan import FILE_METADATA, plan_of_run, prepare_tuning
from elolab.tuning.study.result import RoundEnd, RoundResult, StudyResult
from elolab.tuning.study.rounds.budgets import PLAYOFF_SERIES, pairs_before_playoff, rounds_of
from elolab.tuning.study.rounds.round_stream import MAX_VALUE, seconds_per_game
from elolab.tuning.study.spec import load_tuning
from elolab.tuning.study.state import StudyState
from elolab.tuning.study.storage import STUDY_NAME, without_password
from elolab.tuning.study.tuning_run import RECOMMENDATION_METADATA, tune
from elolab.tuning.study.validation.further import ValidationResult, plan_of_validation, validate_again
from elolab.tuning.study.validation.preset import preset_text
from elolab.tuning.study.validation.validation_games import judge, planned_validations

ROOT = Path(__file__).parents[3]

pytestmark = pytest.mark.usefixtures("without_tuning_charts")
"""The study that all tests share has its charts, for it is made before them."""


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


WEAK_BASE = '[set]\nhash_mb = 1\nevaluation = "material_chess"'


def write_study(folder: Path, extra: str = "", **changes: Any) -> Path:
    """A small study beside its openings."""
    (folder / "few.epd").write_text(openings(60))
    settings: dict[str, Any] = {
        "seed": 3,
        "limit": "nodes=60",
        "round_pairs": 4,
        "openings": "few.epd",
        "startup_trials": 2,
        "trials": 5,
        "parameters": ["null_depth", "lmr_base", "evaluation"],
    }
    games = changes.pop("games", 46)
    sampler = changes.get("sampler", "duel")
    del settings["trials" if sampler == "duel" else "round_pairs"]
    if sampler not in MODELLING_SAMPLERS:
        del settings["startup_trials"]
    validation = changes.pop("validation", {"maximum_pairs": 6, "slow": "off"})
    lines = [f"{key} = {json.dumps(value)}" for key, value in {**settings, **changes}.items()]
    # A base so weak that even so few games show a gain: otherwise it would be recommended itself.
    lines += [f"budget = {{ games = {games} }}" if games else "", WEAK_BASE]
    lines += ["[adjudication]\nmaximum_plies = 50", "[validation]"]
    lines += [f"{key} = {json.dumps(value)}" for key, value in validation.items()]
    path = folder / "small.toml"
    path.write_text("\n".join(lines) + "\n" + extra)
    return path


def run(path: Path, out: Path, concurrency: int = 1, *, with_report: bool = False, **options: Any) -> StudyResult:
    """Tune; the figures of a report cost more than the games, so only those who look at it get one."""
    result = tune(load_tuning(path), out, concurrency=concurrency, stream=io.StringIO(), **options)
    if with_report:
        write_tuning_report(result)
    return result


def records_in(out: Path) -> list[GameRecord]:
    with Store(out, read_only=True) as store:
        return store.records()


def outline(study_result: StudyResult) -> Any:
    return study_result.rounds, study_result.digest, study_result.decision, study_result.verdicts


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, StudyResult]:
    """A small study: its file, folder and end."""
    folder = tmp_path_factory.mktemp("tuned")
    path = write_study(folder)
    return path, folder / "out", run(path, folder / "out", with_report=True)


@pytest.fixture
def copied(played: tuple[Path, Path, StudyResult], tmp_path: Path) -> tuple[Path, Path]:
    """The file of that study, and a folder of its run that a test may change."""
    path, out, _ = played
    return path, shutil.copytree(out, tmp_path / "out")


def sets_of(record: GameRecord) -> list[tuple[Any, ...]]:
    return [tuple(values) for values in record.detail["sets"]]


def test_rounds_are_settings_pairs_on_fresh_openings_and_validation_is_on_reserved_ones(
    played: tuple[Path, Path, StudyResult],
) -> None:
    path, out, _ = played
    spec = load_tuning(path)
    records = records_in(out)
    games = [record for record in records if not record.pairing.series]
    validation = [record for record in records if record.pairing.series.startswith("validation")]
    assert not any(is_reserved_for_validation(record.opening) for record in games)
    assert all(is_reserved_for_validation(record.opening) for record in validation)
    assert len(validation) in (0, 12)
    names = {spec.player(dict(zip(spec.space.names, values, strict=True))).name
             for record in games for values in sets_of(record)}  # fmt: skip
    assert names == {record.first for record in games} | {record.second for record in games}
    available = len(prepare_tuning(spec).openings)
    assert len({record.opening.position for record in games}) == available == 17  # all, before any comes again
    assert all(record.first != record.second for record in records)


def test_the_budget_holds_and_the_playoff_has_a_tenth(played: tuple[Path, Path, StudyResult]) -> None:
    _, out, study_result = played
    rounds = rounds_of(study_result.spec, 46)
    assert sum(one.pairs for one in rounds) == pairs_before_playoff(46) == 21
    playoff = [record for record in records_in(out) if record.pairing.series == PLAYOFF_SERIES]
    assert len(playoff) in (0, 4)
    assert len(study_result.rounds) == len(rounds)


def test_counts_are_those_of_the_games_from_the_first_sets_view(played: tuple[Path, Path, StudyResult]) -> None:
    _, out, study_result = played
    spec = study_result.spec
    for end in study_result.rounds:
        points: dict[int, float] = {}
        for record in records_in(out):
            if not record.pairing.series and record.pairing.round == end.number:
                assert record.score is not None
                first, _ = sets_of(record)
                name = spec.player(dict(zip(spec.space.names, first, strict=True))).name
                score = record.score if record.first == name else 1 - record.score
                points[record.pairing.pair] = points.get(record.pairing.pair, 0) + score
        expected = [sum(round(2 * score) == place for score in points.values()) for place in range(5)]
        assert list(end.counts.counts) == expected


def test_optuna_reads_the_study(played: tuple[Path, Path, StudyResult]) -> None:
    _, out, study_result = played
    study = optuna.load_study(study_name="small", storage=f"sqlite:///{out / STUDY_NAME}")
    assert [trial.state for trial in study.trials] == [optuna.trial.TrialState.COMPLETE] * len(study_result.rounds)
    for frozen, end in zip(study.trials, study_result.rounds, strict=True):
        assert tuple(frozen.params.values()) == end.values
        assert frozen.value == end.elo
        assert frozen.user_attrs["pentanomial"] == list(end.counts.counts)
        sums = [sum(column) for column in zip(*(pair[3] for pair in frozen.user_attrs["duels"]), strict=True)]
        assert sums == list(end.counts.counts)


def test_the_folder_may_have_any_name(played: tuple[Path, Path, StudyResult], tmp_path: Path) -> None:
    path, _, study_result = played
    out = tmp_path / "100%25 {new} ?x=1#;棋"
    assert outline(run(path, out)) == outline(study_result)
    assert (out / STUDY_NAME).is_file()


def test_concurrency_does_not_matter(played: tuple[Path, Path, StudyResult], tmp_path: Path) -> None:
    path, _, study_result = played
    assert outline(run(path, tmp_path / "two", concurrency=2)) == outline(study_result)


@pytest.mark.parametrize("sampler", ["tpe", pytest.param("random", marks=pytest.mark.slow)])
def test_other_samplers_play_matches_against_the_base(sampler: str, tmp_path: Path) -> None:
    path = write_study(tmp_path, sampler=sampler)
    one = run(path, tmp_path / "one")
    assert outline(run(path, tmp_path / "two", concurrency=2)) == outline(one)
    assert len(one.rounds) == 5
    base = one.spec.space.default_values
    rounds = [record for record in records_in(tmp_path / "one") if not record.pairing.series]
    assert {record.pairing.round for record in rounds} == set(range(5))
    assert all(sets_of(record)[1] == base for record in rounds)


def test_a_trial_that_won_every_pair_is_infinitely_stronger_but_for_optuna(tmp_path: Path) -> None:
    (tmp_path / "few.epd").write_text(openings(60))
    (tmp_path / "won.toml").write_text(
        'budget = { games = 46 }\nlimit = "nodes=300"\nopenings = "few.epd"\nparameters = ["quiescence"]\n'
        'sampler = "random"\ntrials = 8\n[set]\nquiescence = false\nhash_mb = 1\n[adjudication]\nmaximum_plies = 120\n'
        '[validation]\nmaximum_pairs = 2\nslow = "off"\n'
    )
    out = tmp_path / "out"
    tuning = run(tmp_path / "won.toml", out)
    observed = [end.elo for end in tuning.rounds]
    assert math.inf in observed
    assert rounds_frame(tuning)["elo"].tolist() == observed
    (name,) = optuna.get_all_study_names(f"sqlite:///{out / STUDY_NAME}")
    told = optuna.load_study(study_name=name, storage=f"sqlite:///{out / STUDY_NAME}").trials
    assert [trial.value for trial in told] == [min(elo, MAX_VALUE) for elo in observed]


def test_a_budget_in_time_ends_at_a_round(tmp_path: Path) -> None:
    path = write_study(tmp_path, "[budget]\nseconds = 1\n", games=None)
    study_result = run(path, tmp_path / "out")
    assert study_result.decision is not None
    assert 1 <= len(study_result.rounds) <= study_result.planned_rounds
    with Store(tmp_path / "out", read_only=True) as store:
        assert len(store.metadata("tuning budgets")) == 2
    assert outline(run(path, tmp_path / "out")) == outline(study_result)


def test_a_budget_in_time_is_not_spent_on_what_the_first_game_waits_for() -> None:
    """Compiling took most of the time of a short study, and of what its games were taken to need."""

    def seconds(first_ended: float, now: float, *, mean_ms: float, concurrency: int) -> float:
        return seconds_per_game((100.0, first_ended, now), 50, mean_ms / 1000, concurrency)

    assert seconds(160.5, 185.0, mean_ms=500.0, concurrency=1) == pytest.approx(0.5)
    assert seconds(100.5, 125.0, mean_ms=500.0, concurrency=1) == pytest.approx(0.5)
    assert seconds(160.5, 160.5, mean_ms=500.0, concurrency=50) == pytest.approx(0.01)
    assert seconds(160.0, 170.0, mean_ms=500.0, concurrency=2) == pytest.approx(0.25)  # all but at once


@pytest.mark.parametrize("polls", [3, pytest.param(12, marks=pytest.mark.slow)])
def test_a_budget_in_time_goes_on_after_a_stop_in_its_first_round(tmp_path: Path, polls: int) -> None:
    path = write_study(tmp_path, "[budget]\nseconds = 1\n", games=None)
    assert run(path, tmp_path / "out", stop=CountingStop(polls)).interrupted
    study_result = run(path, tmp_path / "out")
    assert study_result.decision is not None
    with Store(tmp_path / "out", read_only=True) as store:
        assert len(store.metadata("tuning budgets")) == 2
    assert outline(run(path, tmp_path / "out")) == outline(study_result)


def test_a_shared_study_ends_early_too(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'shared.sqlite'}"
    study_result = run(write_study(tmp_path, storage=url, stop_below=400.0), tmp_path / "out")
    assert study_result.stopped_early
    assert len(study_result.rounds) == 2 < study_result.planned_rounds


def test_a_study_ends_early_when_little_is_left_to_gain(tmp_path: Path) -> None:
    study_result = run(write_study(tmp_path, stop_below=400.0), tmp_path / "out")
    assert study_result.stopped_early
    assert len(study_result.rounds) == 2 < study_result.planned_rounds
    assert study_result.decision is not None
    assert outline(run(tmp_path / "small.toml", tmp_path / "out")) == outline(study_result)


def test_again_plays_nothing(played: tuple[Path, Path, StudyResult]) -> None:
    path, out, study_result = played
    before = {record.key: record.started_at for record in records_in(out)}
    assert outline(run(path, out)) == outline(study_result)
    assert {record.key: record.started_at for record in records_in(out)} == before
    live = json.loads((out / LIVE_NAME).read_text())
    assert live["all_done"] == live["all_planned"] == study_result.games


def test_a_lost_study_is_made_again_from_the_games(
    played: tuple[Path, Path, StudyResult], copied: tuple[Path, Path]
) -> None:
    path, out = copied
    (out / STUDY_NAME).unlink()
    before = {record.key: record.started_at for record in records_in(out)}
    assert outline(run(path, out)) == outline(played[2])
    assert {record.key: record.started_at for record in records_in(out)} == before


def test_a_damaged_study_is_named_with_the_remedy(
    played: tuple[Path, Path, StudyResult], copied: tuple[Path, Path]
) -> None:
    path, out = copied
    (out / STUDY_NAME).write_bytes(b"no database" * 500)
    with pytest.raises(UserError, match=r"study.sqlite: cannot be used: .*; remove it: .* again from the games"):
        run(path, out)
    (out / STUDY_NAME).unlink()
    assert outline(run(path, out)) == outline(played[2])


def test_a_study_that_contradicts_its_games_is_refused(copied: tuple[Path, Path]) -> None:
    path, out = copied
    with Store(out) as store:
        store.connection.execute(
            "UPDATE games SET result = CASE number % 2 WHEN 0 THEN '1-0' ELSE '0-1' END WHERE number < 8"
        )
        renew_checksums(store.connection)
    with pytest.raises(UserError, match=r"between other settings|counted the pairs"):
        run(path, out)


def test_games_of_other_sets_are_refused(copied: tuple[Path, Path]) -> None:
    path, out = copied
    (out / STUDY_NAME).unlink()
    with Store(out) as store:
        store.connection.execute(
            "UPDATE games SET detail = json_set(detail, '$.sets[0][1]', 149) WHERE number IN (0, 1)"
        )
        renew_checksums(store.connection)
    with pytest.raises(RunError, match="game 0 was played between other settings"):
        run(path, out)


def test_a_run_that_recorded_keys_without_effect_is_read_and_goes_on(
    played: tuple[Path, Path, StudyResult], copied: tuple[Path, Path]
) -> None:
    """Older versions took ``trials`` beside the sampler duel."""
    (path, out), study_result = copied, played[2]
    with Store(out) as store:
        text, where = store.metadata(FILE_METADATA)
        text = json.dumps({**json.loads(text), "trials": 7})
        store.record_metadata({FILE_METADATA: [text, where], "tuning": {**store.metadata("tuning"), "trials": 7}})
    (out / STUDY_NAME).unlink()  # it has a digest of all keys, and is made again from the games
    assert result_in(out).decision == study_result.decision
    assert outline(run(path, out)) == outline(study_result)


class CountingStop(StopFlag):
    """A stop flag that is set after being polled so many times."""

    def __init__(self, polls: int) -> None:
        super().__init__()
        self.left = polls

    def is_set(self) -> bool:
        self.left -= 1
        if self.left < 0:
            self.set()
        return super().is_set()


def test_a_study_stopped_anywhere_goes_on_as_if_it_had_not_been(
    played: tuple[Path, Path, StudyResult], tmp_path: Path
) -> None:
    path, _, study_result = played
    stops = 0
    for polls in (3, 25, 41, 55):
        stopped = run(path, tmp_path / "out", stop=CountingStop(polls))
        stops += stopped.interrupted
        assert stopped.exit_code in (0, 3, 130)
    assert stops >= 3
    assert outline(run(path, tmp_path / "out")) == outline(study_result)


@pytest.mark.slow
def test_a_study_killed_at_any_moment_loses_nothing(played: tuple[Path, Path, StudyResult], tmp_path: Path) -> None:
    path, _, study_result = played
    command = [sys.executable, str(ROOT / "elolab"), "tune", str(path), "--out", str(tmp_path / "out")]
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
    assert outline(run(path, tmp_path / "out")) == outline(study_result)
    after = {record.key: record.started_at for record in records_in(tmp_path / "out")}
    assert seen.items() <= after.items()
    assert min(sizes) < len(after)


def _count(out: Path, before: int) -> int:
    try:
        with Store(out, read_only=True) as store:
            return len(store)
    except Exception:  # the other process is making it
        return before


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"limit": "nodes=61"}, ["another tuning", "limit = 'nodes=60' there", "'nodes=61'", "--out"]),
        ({"round_pairs": 5}, ["round_pairs = 4 there, 5"]),
        ({"parameters": ["null_depth", "lmr_base"]}, ["dimensions.evaluation"]),
        ({"sampler": "random"}, ["sampler = 'duel' there"]),
        ({"seed": 4}, ["seed = 3 there"]),
    ],
)
def test_a_folder_of_another_study_is_refused(
    played: tuple[Path, Path, StudyResult], tmp_path: Path, changes: dict[str, Any], words: list[str]
) -> None:
    _, out, _ = played
    with pytest.raises(UserError) as raised:
        run(write_study(tmp_path, **changes), out)
    assert all(word in str(raised.value) for word in words), str(raised.value)


def test_a_run_of_another_version_of_the_method_is_refused(copied: tuple[Path, Path]) -> None:
    path, out = copied
    with Store(out) as store:
        store.record_metadata({"tuning method": {"curvature_share": 0.05}})
    with pytest.raises(UserError, match=r"another version of elolab.*--out"):
        run(path, out)


def test_a_folder_of_a_tournament_is_refused(tmp_path: Path) -> None:
    with Store(tmp_path / "out") as store:
        store.record_metadata({"specification": {}})
    with pytest.raises(RunError, match="holds another run, not a tuning;"):
        run(write_study(tmp_path), tmp_path / "out")


def test_another_engine_is_refused_unless_accepted(
    played: tuple[Path, Path, StudyResult], copied: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    (path, out), study_result = copied, played[2]
    dry_run = ["tune", str(path), "--out", str(out), "--dry-run"]
    assert command_line.main(dry_run) == 0
    with Store(out) as store:
        store.record_metadata({"engine_identity": "0123456789ab"})
        store.connection.execute("UPDATE games SET engine_identity = '0123456789ab' WHERE number < 3")
        renew_checksums(store.connection)
        store.connection.commit()
    with pytest.raises(RunError, match=r"0123456789ab.*--accept-engine-change") as refusal:
        run(path, out)
    for words in (dry_run, ["validate", str(out), "--dry-run"]):
        capsys.readouterr()
        assert command_line.main(words) == 2
        assert capsys.readouterr().err == f"elolab: {refusal.value}\n"
    assert command_line.main([*dry_run, "--accept-engine-change"]) == 0
    with Store(out) as store:
        assert store.metadata("engine_identity") == "0123456789ab", "a dry run writes nothing"
    mixed = run(path, out, accept_engine_change=True)
    assert outline(mixed) == outline(study_result)
    assert (study_result.engine, mixed.engine) == (engine_identity(), f"{engine_identity()} + 0123456789ab")


# Other lengths


def test_a_study_whose_budget_grows_on_the_way_is_the_same_as_one_that_had_it_at_once(tmp_path: Path) -> None:
    """Rounds of a given size begin alike under every budget, so only their number is another."""
    stopped = run(write_study(tmp_path), tmp_path / "out", stop=CountingStop(30))
    assert stopped.interrupted
    assert 0 < stopped.games < 2 * pairs_before_playoff(46)
    longer = write_study(tmp_path, games=66)
    grown, at_once = run(longer, tmp_path / "out"), run(longer, tmp_path / "at once")
    assert outline(grown) == outline(at_once)


def test_a_finished_study_takes_another_budget_and_keeps_its_games(
    played: tuple[Path, Path, StudyResult], copied: tuple[Path, Path], tmp_path: Path
) -> None:
    (_, out), first = copied, played[2]
    before = {record.key: record.pairing for record in records_in(out)}
    grown = run(write_study(tmp_path, games=66, validation={"maximum_pairs": 8, "slow": "off"}), out)
    assert len(grown.rounds) > len(first.rounds)
    assert grown.study_games <= 66 + 2 * 2  # and the playoff that the shorter budget had
    after = {record.key: record.pairing for record in records_in(out)}
    assert before.items() <= after.items()
    tuned = sum(not pairing.series.startswith("validation") for pairing in after.values())
    assert tuned < grown.games
    assert f"after {tuned} games" in tuning_sentence(replace(grown, verdicts=()))
    assert len({pairing.place for pairing in after.values()}) == len(after)
    again = run(write_study(tmp_path, games=66, validation={"maximum_pairs": 8, "slow": "off"}), out)
    assert outline(again) == outline(grown)
    fewer = run(write_study(tmp_path), out)
    assert {record.key for record in records_in(out)} == after.keys()
    assert (fewer.decision, fewer.verdicts, fewer.interrupted) == (grown.decision, grown.verdicts, False)


def test_a_smaller_budget_ends_a_study_that_was_stopped_beyond_it(tmp_path: Path) -> None:
    stopped = run(write_study(tmp_path, games=200), tmp_path / "out", stop=CountingStop(170))
    played = stopped.games
    assert played > 46
    shorter = run(write_study(tmp_path, validation={"maximum_pairs": 1, "slow": "off"}), tmp_path / "out")
    assert shorter.decision is not None
    assert not shorter.interrupted
    assert played <= shorter.games <= played + 4  # an open pair of games, and the validation


def test_a_validation_grows_and_shrinks_with_its_bound(
    played: tuple[Path, Path, StudyResult], copied: tuple[Path, Path], tmp_path: Path
) -> None:
    (_, out), first = copied, played[2]
    lengths = [verdict.counts.pairs for verdict in first.verdicts]
    for pairs in (9, 3):
        result = run(write_study(tmp_path, validation={"maximum_pairs": pairs, "slow": "off"}), out)
        lengths += [verdict.counts.pairs for verdict in result.verdicts]
    assert lengths == [6, 9, 9]


@pytest.mark.parametrize(
    ("games", "pairs", "slow"), [(200, 732, 25), (46, 732, 5), (4000, 2000, 500), (10**6, 10_000, 500)]
)
def test_a_validation_is_as_long_as_its_tuning_unless_asked_otherwise(
    tmp_path: Path, games: int, pairs: int, slow: int
) -> None:
    validation = load_tuning(write_study(tmp_path, games=games, validation={"slow": "fixed"})).validation
    assert [stage.pairs for stage in planned_validations(validation, games, 10**6)] == [pairs, slow]
    assert [stage.pairs for stage in planned_validations(validation, games, 7)] == [7, min(slow, 7)]


@pytest.mark.parametrize("games", [46, 200, 4000])
@pytest.mark.parametrize(
    "validation", [{}, {"elo_upper": 50}, {"model": "logistic"}, {"slow": "sprt"}, {"maximum_pairs": 800}]
)
def test_a_validation_by_default_probably_accepts_a_large_gain(
    tmp_path: Path, games: int, validation: dict[str, Any]
) -> None:
    spec = load_tuning(write_study(tmp_path, games=games, validation=validation)).validation
    for stage in planned_validations(spec, games, 10**6):
        test = spec.test(stage.kind)
        assert acceptance_probability(test, target_of(test), stage.pairs) >= POWER


def test_a_validation_that_cannot_accept_is_warned_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The study finds its settings all the same, and the result says how long the test would have to be."""
    path, out = write_study(tmp_path), tmp_path / "out"
    assert command_line.main(["tune", str(path), "--dry-run", "--out", str(out)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Warning: validation: 6 pairs cannot accept a gain, even if all of them are won; 147 could." in said
    assert "use a suite of 732 or more openings (this one has " in said
    stream = io.StringIO()
    result = tune(load_tuning(path), out, stream=stream)
    assert "6 pairs cannot accept a gain" in " ".join(stream.getvalue().split())
    test = result.verdicts[0].test
    assert test is not None
    needed = math.ceil(6 * test.upper_bound / test.log_likelihood_ratio)
    sentence = tuning_sentence(result)
    assert f"about {needed} pairs in all would accept it: give [validation] maximum_pairs = {needed} in" in sentence
    assert tuning_data(result, None)["validation"][0]["expected_pairs"] == needed
    with pytest.raises(UserError, match=r"6 pairs cannot accept a gain, .* a suite of 732 or more openings"):
        validate_again(out, Limits(nodes=80), None, stream=io.StringIO())


@pytest.mark.parametrize("polls", [0, 5, 30, 62, 75])
def test_a_study_stopped_anywhere_says_the_best_so_far(
    played: tuple[Path, Path, StudyResult], tmp_path: Path, polls: int
) -> None:
    path, _, whole = played
    out = tmp_path / "out"
    stopped = run(path, out, stop=CountingStop(polls))
    assert (stopped.decision is None) == (stopped.games < 2)
    if stopped.interrupted:
        assert tuning_sentence(stopped).startswith("Stopped")
        assert not stopped.confirmed
    assert stopped.study_games <= stopped.planned == 46
    again = result_in(out)
    assert outline(again) == outline(stopped)
    assert again.games == stopped.games <= whole.games


# Shared storages


def test_two_folders_work_on_one_study(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'shared.sqlite'}"
    path = write_study(tmp_path, storage=url)
    one = run(path, tmp_path / "one", stop=CountingStop(20))
    assert one.interrupted
    other = run(path, tmp_path / "two")
    assert other.waiting_for
    assert other.exit_code == 1
    ended = run(path, tmp_path / "one")
    assert len(ended.rounds) == ended.planned_rounds
    assert ended.decision is not None
    assert ended.observations is not None
    own = {record.pairing.round for record in records_in(tmp_path / "one")}
    theirs = {record.pairing.round for record in records_in(tmp_path / "two")}
    assert own & theirs == set()
    assert {end.number for end in ended.rounds} <= own | theirs
    # What a round's centre was worth by the model of the time stays that, whoever reads it, and when.
    trials = optuna.load_study(study_name="small", storage=url).get_trials(states=(optuna.trial.TrialState.COMPLETE,))
    told = {trial.user_attrs.get("round", trial.number): trial.value for trial in trials}
    seen = {end.number: end.elo for end in ended.rounds}
    assert seen == {end.number: end.elo for end in run(path, tmp_path / "two").rounds} == told
    assert len(set(seen.values())) > 2


def test_a_shared_study_that_was_lost_is_told_again(tmp_path: Path) -> None:
    path = write_study(tmp_path, storage=f"sqlite:///{tmp_path / 'shared.sqlite'}")
    before = run(path, tmp_path / "out")
    keys = {record.key for record in records_in(tmp_path / "out")}
    (tmp_path / "shared.sqlite").unlink()
    again = run(path, tmp_path / "out")
    assert [end.counts for end in again.rounds] == [end.counts for end in before.rounds]
    assert {record.key for record in records_in(tmp_path / "out")} == keys


def test_a_shared_study_of_another_specification_is_refused(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'shared.sqlite'}"
    run(write_study(tmp_path, storage=url), tmp_path / "one")
    with pytest.raises(RunError, match=r"another specification than .*small\.toml"):
        run(write_study(tmp_path, storage=url, seed=4), tmp_path / "two")


@pytest.mark.parametrize("url", ["sqlite:////no/such/folder/study.sqlite", "postgresql://nobody@127.0.0.1:1/none"])
def test_a_storage_that_cannot_be_reached_is_one_line(tmp_path: Path, url: str) -> None:
    with pytest.raises(UserError) as raised:
        run(write_study(tmp_path, storage=url), tmp_path / "out")
    assert "\n" not in str(raised.value)
    assert url in str(raised.value)


def test_a_storage_that_is_no_url_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"storage = 'study.db', expected a URL such as postgresql://"):
        run(write_study(tmp_path, storage="study.db"), tmp_path / "out")


def test_passwords_are_not_shown() -> None:
    assert without_password("postgresql://me:secret@host/study") == "postgresql://me@host/study"
    assert without_password("/folder/study.sqlite") == "/folder/study.sqlite"


# External engines


def external_study(folder: Path, dimensions: str, options: str = "") -> Path:
    """A study of the mock engine's options."""
    path = write_study(folder, extra=dimensions)
    command = json.dumps([sys.executable, "-I", "-S", str(ROOT / "tests" / "support" / "mock_engines.py"), "plain"])
    text = path.read_text().replace(WEAK_BASE, f"[engine]\ncommand = {command}\noptions = {{{options}}}")
    path.write_text("\n".join(line for line in text.splitlines() if not line.startswith("parameters")) + "\n")
    return path


def test_options_of_an_external_engine_are_dimensions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = external_study(tmp_path, "[dimensions.Hash]\ndefault = 16\nlow = 1\nhigh = 64\nscale = 'log'\n")
    plan = prepare_tuning(load_tuning(path))
    assert plan_of_run(plan, tmp_path / "out", 1).data()["unknown_speed"] == [Path(sys.executable).name]
    study_result = run(path, tmp_path / "out")
    assert plan_of_run(plan, tmp_path / "out", 1).seconds is not None
    shutil.copytree(tmp_path / "out", tmp_path / "copy")
    with Store(tmp_path / "copy") as store:
        store.record_metadata({RECOMMENDATION_METADATA: [32]})
    validation, _ = plan_of_validation(tmp_path / "copy", None, 3, None, 1, accepts_changes=False)
    assert validation.pace == plan_of_run(plan, tmp_path / "copy", 1).pace != 1, "the study's games tell its speed"
    assert validation.seconds is not None
    records = records_in(tmp_path / "out")
    assert len(study_result.rounds) == study_result.planned_rounds
    assert {name for record in records for name in (record.first, record.second)} - {"python3 as it is"}
    played = {values for record in records if "sets" in record.detail for values in sets_of(record)}
    assert len(played) > 3
    assert all(1 <= values[0] <= 64 for values in played)
    with Store(tmp_path / "out") as store:  # as if the program had been built anew since then
        ((program, directory, _),) = store.metadata(PROGRAMS)
        store.record_metadata({PROGRAMS: [[program, directory, "another"]]})
    with pytest.raises(RunError, match=rf"the program '{sys.executable}' has changed .* --accept-engine-change"):
        run(path, tmp_path / "out")
    assert command_line.main(["tune", str(path), "--out", str(tmp_path / "out"), "--dry-run"]) == 2
    assert "has changed since it played games there" in capsys.readouterr().err
    assert outline(run(path, tmp_path / "out", accept_engine_change=True)) == outline(study_result)


def test_a_budget_grows_although_rounds_had_no_games(tmp_path: Path) -> None:
    """Two settings over few openings have soon played all of them, and meet again without games."""
    path = external_study(tmp_path, "[dimensions.Ponder]\ndefault = false\nchoices = [false, true]\n")
    first = run(path, tmp_path / "out")
    assert first.games < first.planned
    path.write_text(path.read_text().replace("games = 46", "games = 120"))
    grown = run(path, tmp_path / "out")
    assert len(grown.rounds) > len(first.rounds)
    assert grown.rounds[: len(first.rounds)] == first.rounds
    path.write_text(path.read_text().replace("games = 120", "games = 46"))
    assert len(run(path, tmp_path / "out").rounds) == len(grown.rounds)


@pytest.mark.parametrize("games", [46, 200])
def test_a_budget_changes_although_the_rounds_before_the_stop_had_no_games(
    games: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are as long as they were: Optuna's study has counted the games of others that they share."""
    path = external_study(tmp_path, "[dimensions.Ponder]\ndefault = false\nchoices = [false, true]\n")
    path.write_text(path.read_text().replace("games = 46", "games = 80").replace("round_pairs = 4\n", ""))
    (tmp_path / "few.epd").write_text(openings(14))
    stop, note_end = StopFlag(), StudyState.note_end

    def note_end_and_stop(state: StudyState, result: RoundResult) -> RoundEnd:
        if result.number == 9:
            stop.set()
        return note_end(state, result)

    with monkeypatch.context() as patched:
        patched.setattr(StudyState, "note_end", note_end_and_stop)
        stopped = run(path, tmp_path / "out", stop=stop)
    assert stopped.interrupted
    assert stopped.games < 2 * sum(end.counts.pairs for end in stopped.rounds)
    path.write_text(path.read_text().replace("games = 80", f"games = {games}"))
    assert run(path, tmp_path / "out").rounds[:10] == stopped.rounds


@pytest.mark.parametrize(
    ("dimensions", "options", "words"),
    [
        ("[dimensions.Hahs]\ndefault = 16\nlow = 1\nhigh = 64\n", "", ["'Hahs'", "did you mean 'Hash'"]),
        ("[dimensions.Hash]\ndefault = 80\nlow = 1\nhigh = 64\n", "", ["[dimensions.Hash]", "default = 80"]),
        ("[dimensions.Hash]\nlow = 1\nhigh = 64\n", "", ["[dimensions.Hash]", "default is missing"]),
        ("[dimensions.Hash]\ndefault = 2\nlow = 1\nhigh = 64\n", "Hash = 3", ["Hash is searched too"]),
        ("", "", ["nothing to tune", "[dimensions.OPTION]"]),
    ],
)
def test_mistakes_about_external_engines_are_one_line(
    tmp_path: Path, dimensions: str, options: str, words: list[str]
) -> None:
    with pytest.raises(UserError) as raised:
        run(external_study(tmp_path, dimensions, options), tmp_path / "out")
    assert "\n" not in str(raised.value)
    assert all(word in str(raised.value) for word in words), str(raised.value)


# Validation


def stage_and_validation(path: Path) -> Any:
    validation = load_tuning(path).validation
    return validation, planned_validations(validation, 46, 100)[0]


def test_validations_longer_than_there_are_openings_are_refused(tmp_path: Path) -> None:
    reserved = len(prepare_tuning(load_tuning(write_study(tmp_path, validation={"slow": "off"}))).reserved)
    for key in ("maximum_pairs", "slow_pairs"):
        path = write_study(tmp_path, validation={key: reserved})
        assert len(prepare_tuning(load_tuning(path)).reserved) == reserved
        path = write_study(tmp_path, validation={key: reserved + 1})
        with pytest.raises(RunError, match=rf"{key} = {reserved + 1} needs .* has {reserved}"):
            prepare_tuning(load_tuning(path))


def test_only_an_accepted_upper_hypothesis_validates(tmp_path: Path) -> None:
    validation, stage = stage_and_validation(write_study(tmp_path))
    assert judge(validation, stage, Pentanomial((10, 50, 400, 250, 90))).passed
    assert not judge(validation, stage, Pentanomial((50, 120, 400, 160, 60))).passed
    assert not judge(validation, stage, Pentanomial((0, 0, 0, 0, 0))).passed
    assert not judge(validation, stage, Pentanomial((90, 250, 400, 50, 10))).passed


def test_the_slow_match_must_not_speak_against_the_set(tmp_path: Path) -> None:
    path = write_study(tmp_path, validation={"maximum_pairs": 6, "slow_pairs": 5})
    validation = load_tuning(path).validation
    first, second = planned_validations(validation, 46, 100)
    assert str(second.limits) == "nodes=240"
    assert (first.kind, second.kind, second.pairs) == ("sprt", "fixed", 5)
    assert judge(validation, second, Pentanomial((10, 20, 40, 20, 9))).passed
    assert not judge(validation, second, Pentanomial((90, 250, 400, 50, 10))).passed


@pytest.fixture(scope="module")
def improved(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, StudyResult]:
    """A study from a base that is easily bettered: without quiescence search."""
    folder = tmp_path_factory.mktemp("improved")
    (folder / "few.epd").write_text(openings(60))
    (folder / "weak.toml").write_text(
        'budget = { games = 46 }\nround_pairs = 4\nlimit = "nodes=300"\nopenings = "few.epd"\n'
        'parameters = ["quiescence"]\n'
        "[set]\nquiescence = false\nhash_mb = 1\n[adjudication]\nmaximum_plies = 120\n"
        '[validation]\nelo_upper = 200\nslow_limit = "nodes=400"\nslow_pairs = 4\n'
    )
    spec = load_tuning(folder / "weak.toml")
    study_result = tune(spec, folder / "out", concurrency=2, stream=io.StringIO())
    return folder, study_result


def test_a_confirmed_gain_becomes_a_preset(improved: tuple[Path, StudyResult]) -> None:
    folder, study_result = improved
    assert study_result.confirmed
    assert study_result.exit_code == 0
    assert study_result.preset == folder / "out" / "weak.toml"
    assert load_preset(str(study_result.preset), "xiangqi") == {"hash_mb": 1}
    assert "quiescence off" in read_toml(study_result.preset)["description"]
    data = tuning_data(study_result, Path("report.html"))
    assert [entry["passed"] for entry in data["validation"]] == [True, True]
    assert data["validation"][0]["test"]["verdict"] == "upper accepted"
    found = data["recommendation"]
    assert found["changed"] == {"quiescence": True}
    assert (found["kind"], found["playoff_pairs"]) == ("model maximum", 2)
    # Two pairs move the model's belief, which both have to do with, a little.
    assert 0 < abs(found["expected_elo"] - found["believed_elo"]) < found["deviation"]
    assert 0.5 < found["playoff_score"] <= 1
    won = f"won the playoff of 2 pairs against the base, with {100 * found['playoff_score']:.1f} % of the points"
    assert won in optimism_sentence(study_result)


def test_a_recommendation_is_validated_again_from_its_folder(
    improved: tuple[Path, StudyResult], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, study_result = improved
    monkeypatch.chdir(folder)
    out = str(folder / "out")
    assert command_line.main(["validate", out, "--limit", "nodes=200", "--pairs", "4", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["pairs"], data["limit"], data["kind"], data["test"]) == (4, "nodes=200", "fixed", None)
    assert data["parameters"] == study_result.recommended
    again = [record for record in records_in(folder / "out") if record.pairing.series == "validation 02"]
    assert len(again) == 8
    assert all(is_reserved_for_validation(record.opening) for record in again)
    assert command_line.main(["validate", out, "--limit", "nodes=200", "--pairs", "4"]) == 0
    assert len(records_in(folder / "out")) == study_result.games + 8
    capsys.readouterr()
    for pairs, missing in ((6, 4), (3, 0)):  # a dry run counts what is there, and knows how long the others took
        words = ["validate", out, "--limit", "nodes=200", "--pairs", str(pairs), "--dry-run", "--json"]
        assert command_line.main(words) == 0
        planned = json.loads(capsys.readouterr().out)
        assert (planned["games"], planned["games"] - planned["stored"]) == (2 * pairs, missing)
        assert (planned["seconds"] > 0) == (missing > 0)
    assert command_line.main(["validate", out, "--pairs", "100000", "--dry-run"]) == 2
    assert "--pairs 100000 needs as many different openings" in capsys.readouterr().err


def test_a_match_of_fixed_length_counts_no_games_of_a_sequential_test(
    improved: tuple[Path, StudyResult], tmp_path: Path
) -> None:
    folder, study_result = improved
    out = tmp_path / "out"
    shutil.copytree(folder / "out", out)

    def validate(pairs: int | None, maximum: int | None = None, **options: Any) -> ValidationResult:
        return validate_again(out, None, pairs, maximum, stream=io.StringIO(), **options)

    before = {record.key for record in records_in(out)}
    assert validate(3, stop=CountingStop(8)).interrupted
    match = validate(3)
    assert match.verdict is not None
    assert match.verdict.counts.pairs == 3
    fresh = [record for record in records_in(out) if record.key not in before]
    of_tests = {
        record.opening for record in records_in(out)
        if record.key in before and record.pairing.series == "validation 00"
    }  # fmt: skip
    assert len({record.opening for record in fresh}) == 3
    assert not of_tests & {record.opening for record in fresh}
    # Neither has games of the other, whichever goes on.
    own = study_result.verdicts[0].counts
    assert result_in(out).verdicts[0].counts == own
    assert validate(None, own.pairs + 2).verdict is not None
    games = len(records_in(out))
    again = validate(3)
    assert (again.verdict, len(records_in(out))) == (match.verdict, games)
    assert match.verdict in result_in(out).further
    reserved = len(prepare_tuning(study_result.spec).reserved)
    with pytest.raises(RunError, match=rf"--pairs {reserved} needs as many openings from which no sequential test"):
        validate(reserved)
    assert len(records_in(out)) == games


def test_a_further_validation_that_was_stopped_is_reported_as_such(
    improved: tuple[Path, StudyResult], tmp_path: Path
) -> None:
    folder, _ = improved
    out = tmp_path / "out"
    shutil.copytree(folder / "out", out)
    stopped = validate_again(out, Limits(nodes=150), 9, stream=io.StringIO(), stop=CountingStop(12))
    assert stopped.interrupted
    assert stopped.verdict is not None
    (further,) = [one for one in result_in(out).further if str(one.limits) == "nodes=150"]
    assert (further.unfinished_of, further.counts) == (9, stopped.verdict.counts)
    assert command_line.main(["report", str(out)]) == 0
    assert "stopped" in (out / "report.md").read_text("utf-8")


def test_what_the_study_itself_rejected_is_not_written(
    improved: tuple[Path, StudyResult], tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    folder, study_result = improved
    out = tmp_path / "out"
    shutil.copytree(folder / "out", out)
    (out / "weak.toml").unlink()
    slow = planned_validations(study_result.spec.validation, 46, 100)[1]
    rejected = judge(study_result.spec.validation, slow, Pentanomial((90, 250, 400, 50, 10)))
    assert not rejected.passed
    monkeypatch.setattr(
        "elolab.tuning.study.validation.validation_games.InterimAnalyses.verdict",
        lambda analyses, **named: rejected if analyses.games.planned == slow else study_result.verdicts[0],
    )
    monkeypatch.chdir(folder)
    assert command_line.main(["validate", str(out)]) == 3
    assert "not validated at nodes=400 in the study itself" in capsys.readouterr().err
    assert not (out / "weak.toml").exists()
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    assert command_line.main(["validate", str(out)]) == 0
    assert (out / "weak.toml").is_file()


def test_a_tuned_engine_is_started_as_it_was(tmp_path: Path) -> None:
    dimensions = "[dimensions.Hash]\ndefault = 16\nlow = 1\nhigh = 64\n"
    path = external_study(tmp_path, dimensions)
    more = f'directory = {json.dumps(str(tmp_path))}\nstart_timeout = 33\nrestart = "always"\n[adjudication]'
    path.write_text(path.read_text().replace("[adjudication]", more, 1))
    spec = load_tuning(path)
    counts = Pentanomial((10, 50, 400, 250, 90))
    verdict = judge(spec.validation, planned_validations(spec.validation, 46, 100)[0], counts)
    (player,) = tomllib.loads(preset_text("0123456789ab", spec, {"Hash": 8}, verdict))["players"]
    assert (player["directory"], player["start_timeout"], player["restart"]) == (str(tmp_path), 33, "always")
    cup = {"limit": "nodes=9", "pairs": 1, "openings": str(tmp_path / "few.epd"), "players": [{}, player]}
    assert spec_from_mapping(cup, "cup.toml").players[1].start_timeout_ms == 33_000
    written = tmp_path / "tuned.toml"
    written.write_text(preset_text("0123456789ab", spec, {"Hash": 8}, verdict))
    assert player_named(str(written), EnginesFile(None)).entry == player


def test_only_a_finished_study_can_be_validated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["validate", str(tmp_path / "missing")]) == 2
    assert "there is no such folder" in capsys.readouterr().err
    path = write_study(tmp_path)
    run(path, tmp_path / "out", stop=CountingStop(6))
    assert command_line.main(["validate", str(tmp_path / "out")]) == 2
    assert "its study has no recommendation yet" in capsys.readouterr().err


def test_a_preset_of_somebody_else_is_not_overwritten(improved: tuple[Path, StudyResult], tmp_path: Path) -> None:
    folder, study_result = improved
    out = tmp_path / "out"
    for content in (b"[xiangqi]\n", "# \u6d4b\u8bd5\n[xiangqi]\n".encode("gbk")):
        shutil.copytree(folder / "out", out, dirs_exist_ok=True)
        (out / "weak.toml").write_bytes(content)
        again = tune(study_result.spec, out, stream=io.StringIO())
        assert again.preset == out / "weak-tuned.toml"
        assert (out / "weak.toml").read_bytes() == content
    written = (folder / "out" / "weak.toml").read_text()
    (out / "weak.toml").write_text(written, "utf-8-sig")
    again = tune(study_result.spec, out, stream=io.StringIO())
    assert again.preset == out / "weak.toml"
    assert (out / "weak.toml").read_text() == written


@pytest.mark.parametrize("command", [["tune", "weak.toml", "--out", "out"], ["validate", "out"]])
def test_a_preset_goes_to_the_folder_of_the_run(
    improved: tuple[Path, StudyResult], tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch, command: list[str],
) -> None:  # fmt: skip
    folder, _ = improved
    for name in ("weak.toml", "few.epd"):
        shutil.copyfile(folder / name, tmp_path / name)
    shutil.copytree(folder / "out", tmp_path / "out")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "configs" / "engines").mkdir(parents=True)
    assert command_line.main(command) == 0
    assert "play it: elolab match out/weak.toml default" in capsys.readouterr().out
    assert not list((tmp_path / "configs" / "engines").iterdir())


# What is written and printed


def test_tables_and_reports_are_written(played: tuple[Path, Path, StudyResult]) -> None:
    _, out, study_result = played
    rows = list(csv.DictReader((out / "rounds.csv").open()))
    assert [int(row["round"]) for row in rows] == list(range(1, len(study_result.rounds) + 1))
    frame = rounds_frame(study_result)
    assert list(frame.columns)[:4] == ["round", "null_depth", "lmr_base", "evaluation"]
    assert (frame[["LL", "LD", "even", "WD", "WW"]].sum(axis=1) == frame.pairs).all()
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


def test_a_best_trial_above_what_the_model_expects_is_called_optimistic(
    played: tuple[Path, Path, StudyResult],
) -> None:
    _, _, study_result = played
    raised = replace(study_result, rounds=tuple(replace(end, elo=end.elo + 1000) for end in study_result.rounds))
    assert "it was optimistic by" in optimism_sentence(raised)
    assert "赢家诅咒" in optimism_sentence(raised, "zh")
    lowered = replace(study_result, rounds=tuple(replace(end, elo=end.elo - 1000) for end in study_result.rounds))
    assert "optimistic" not in optimism_sentence(lowered)


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


def test_a_validation_is_told_with_true_minus_signs(played: tuple[Path, Path, StudyResult], tmp_path: Path) -> None:
    _, _, study_result = played
    spec = load_tuning(write_study(tmp_path, validation={"maximum_pairs": 6, "slow_maximum_pairs": 6}))
    stages = planned_validations(spec.validation, 46, 100)
    verdicts = tuple(judge(spec.validation, stage, Pentanomial((2, 1, 1, 1, 0))) for stage in stages)
    assert all(verdict.test is not None and verdict.test.log_likelihood_ratio < 0 for verdict in verdicts)
    assert "LLR −0." in validation_words(verdicts[0], 79)
    shown = replace(study_result, spec=spec, verdicts=verdicts)
    report = write_tuning_report(shown, folder=tmp_path).with_name("report.md").read_text("utf-8")
    _, validation = report.split("## Validation")
    assert "| −2.94 to +2.94 |" in validation
    assert "asks for −5 against 0 of the same Elo" in validation
    assert not re.findall(r"(?<![\w−])-\d", validation + validation_words(verdicts[0], 79))


def test_a_dry_run_plays_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_study(tmp_path)
    assert command_line.main(["tune", str(path), "--out", str(tmp_path / "out"), "--dry-run", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["games"], data["stored"], data["rounds"]) == (46 + 2 * 6, 0, 6)
    assert [stage["games"] for stage in data["stages"]] == [46, 12]
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_an_interrupt_says_how_to_go_on(tmp_path: Path) -> None:
    path = write_study(tmp_path, games=20000)
    command = [sys.executable, str(ROOT / "elolab"), "tune", str(path), "--out", str(tmp_path / "out")]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    deadline = time.monotonic() + 60
    while not (tmp_path / "out" / STUDY_NAME).is_file() and time.monotonic() < deadline:
        time.sleep(0.05)
    while _count(tmp_path / "out", 0) < 1 and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    error = process.communicate(timeout=60)[1]
    assert process.returncode == 130
    words = r"elolab: interrupted: (1 game is|\d+ games are) stored; to go on: elolab tune "
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
