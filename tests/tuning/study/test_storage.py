"""Optuna's study of a run: made again from the games, shared by several folders, never contradicting the games."""

from __future__ import annotations

from pathlib import Path

import optuna
import pytest

from elolab.arena.play.damage import renew_checksums
from elolab.arena.play.store import Store
from elolab.arena.run import RunError
from elolab.engine.errors import UserError
from elolab.tuning.study.result import StudyResult
from elolab.tuning.study.storage import STUDY_NAME, without_password
from tests.support.small_studies import (
    CountingStop,
    outline,
    records_in,
    run,
    write_study,
)

pytestmark = pytest.mark.usefixtures("without_tuning_charts")
"""The study that all tests share has its charts, for it is made before them."""


@pytest.mark.integration
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


@pytest.mark.integration
def test_the_folder_may_have_any_name(played: tuple[Path, Path, StudyResult], tmp_path: Path) -> None:
    path, _, study_result = played
    out = tmp_path / "100%25 {new} ?x=1#;棋"
    assert outline(run(path, out)) == outline(study_result)
    assert (out / STUDY_NAME).is_file()


@pytest.mark.integration
def test_a_lost_study_is_made_again_from_the_games(
    played: tuple[Path, Path, StudyResult], copied: tuple[Path, Path]
) -> None:
    path, out = copied
    (out / STUDY_NAME).unlink()
    before = {record.key: record.started_at for record in records_in(out)}
    assert outline(run(path, out)) == outline(played[2])
    assert {record.key: record.started_at for record in records_in(out)} == before


@pytest.mark.integration
def test_a_damaged_study_is_named_with_the_remedy(
    played: tuple[Path, Path, StudyResult], copied: tuple[Path, Path]
) -> None:
    path, out = copied
    (out / STUDY_NAME).write_bytes(b"no database" * 500)
    with pytest.raises(UserError, match=r"study.sqlite: cannot be used: .*; remove it: .* rebuilds it from the games"):
        run(path, out)
    (out / STUDY_NAME).unlink()
    assert outline(run(path, out)) == outline(played[2])


@pytest.mark.integration
def test_a_study_that_contradicts_its_games_is_refused(copied: tuple[Path, Path]) -> None:
    path, out = copied
    with Store(out) as store:
        store.connection.execute(
            "UPDATE games SET result = CASE number % 2 WHEN 0 THEN '1-0' ELSE '0-1' END WHERE number < 8"
        )
        renew_checksums(store.connection)
    with pytest.raises(UserError, match=r"between other settings|counted the pairs"):
        run(path, out)


@pytest.mark.integration
def test_a_shared_study_ends_early_too(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'shared.sqlite'}"
    study_result = run(write_study(tmp_path, storage=url, stop_below=400.0), tmp_path / "out")
    assert study_result.stopped_early
    assert len(study_result.rounds) == 2 < study_result.planned_rounds


@pytest.mark.integration
def test_two_folders_work_on_one_study(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'shared.sqlite'}"
    path = write_study(tmp_path, storage=url)
    one = run(path, tmp_path / "one", stop=CountingStop(12))
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


@pytest.mark.integration
def test_a_shared_study_that_was_lost_is_told_again(tmp_path: Path) -> None:
    path = write_study(tmp_path, storage=f"sqlite:///{tmp_path / 'shared.sqlite'}")
    before = run(path, tmp_path / "out")
    keys = {record.key for record in records_in(tmp_path / "out")}
    (tmp_path / "shared.sqlite").unlink()
    again = run(path, tmp_path / "out")
    assert [end.counts for end in again.rounds] == [end.counts for end in before.rounds]
    assert {record.key for record in records_in(tmp_path / "out")} == keys


@pytest.mark.integration
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
