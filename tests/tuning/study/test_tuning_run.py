"""Whole studies: the same trials and games at any concurrency and after any stop."""

from __future__ import annotations

import json
import math
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import optuna
import pytest

from elolab import command_line
from elolab.arena.notation.openings import is_reserved_for_validation
from elolab.arena.play.damage import renew_checksums
from elolab.arena.play.live import LIVE_NAME
from elolab.arena.play.store import STORE_NAME, Store
from elolab.arena.run import RunError
from elolab.engine.compiled.identity import engine_identity
from elolab.engine.errors import UserError
from elolab.tuning.reports.tuning_report import (
    rounds_frame,
)
from elolab.tuning.stored_results import result_in
from elolab.tuning.study.plan import FILE_METADATA, prepare_tuning
from elolab.tuning.study.result import StudyResult
from elolab.tuning.study.rounds.budgets import PLAYOFF_SERIES, pairs_before_playoff, rounds_of
from elolab.tuning.study.rounds.round_stream import MAX_VALUE
from elolab.tuning.study.storage import STUDY_NAME
from elolab.tuning.study.study_spec import load_tuning
from tests.support.small_studies import (
    CountingStop,
    count_games,
    openings,
    outline,
    records_in,
    run,
    sets_of,
    write_study,
)

ROOT = Path(__file__).parents[3]

pytestmark = pytest.mark.usefixtures("without_tuning_charts")


@pytest.mark.integration
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


@pytest.mark.integration
def test_the_budget_holds_and_the_playoff_has_a_tenth(played: tuple[Path, Path, StudyResult]) -> None:
    _, out, study_result = played
    rounds = rounds_of(study_result.spec, 46)
    assert sum(one.pairs for one in rounds) == pairs_before_playoff(46) == 21
    playoff = [record for record in records_in(out) if record.pairing.series == PLAYOFF_SERIES]
    assert len(playoff) in (0, 4)
    assert len(study_result.rounds) == len(rounds)


@pytest.mark.integration
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


@pytest.mark.integration
def test_concurrency_does_not_matter(played: tuple[Path, Path, StudyResult], tmp_path: Path) -> None:
    path, _, study_result = played
    assert outline(run(path, tmp_path / "two", concurrency=2)) == outline(study_result)


@pytest.mark.integration
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


@pytest.mark.integration
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


@pytest.mark.integration
def test_a_study_ends_early_when_little_is_left_to_gain(tmp_path: Path) -> None:
    study_result = run(write_study(tmp_path, stop_below=400.0), tmp_path / "out")
    assert study_result.stopped_early
    assert len(study_result.rounds) == 2 < study_result.planned_rounds
    assert study_result.decision is not None
    assert outline(run(tmp_path / "small.toml", tmp_path / "out")) == outline(study_result)


@pytest.mark.integration
def test_again_plays_nothing(played: tuple[Path, Path, StudyResult]) -> None:
    path, out, study_result = played
    before = {record.key: record.started_at for record in records_in(out)}
    assert outline(run(path, out)) == outline(study_result)
    assert {record.key: record.started_at for record in records_in(out)} == before
    live = json.loads((out / LIVE_NAME).read_text())
    assert live["all_done"] == live["all_planned"] == study_result.games


@pytest.mark.integration
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


@pytest.mark.integration
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


@pytest.mark.integration
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
                stored = count_games(tmp_path / "out", stored)
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


@pytest.mark.integration
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


@pytest.mark.integration
def test_a_run_of_another_version_of_the_method_is_refused(copied: tuple[Path, Path]) -> None:
    path, out = copied
    with Store(out) as store:
        store.record_metadata({"tuning method": {"curvature_share": 0.05}})
    with pytest.raises(UserError, match=r"another version of elolab.*--out"):
        run(path, out)


def test_a_folder_of_a_tournament_is_refused(tmp_path: Path) -> None:
    with Store(tmp_path / "out") as store:
        store.record_metadata({"specification": {}})
    with pytest.raises(RunError, match="holds a run of kind unknown, not tuning;"):
        run(write_study(tmp_path), tmp_path / "out")


@pytest.mark.integration
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
