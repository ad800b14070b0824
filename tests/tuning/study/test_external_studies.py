"""Studies of an external engine's options."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from elolab import command_line
from elolab.arena.play.store import Store
from elolab.arena.provenance.record import PROGRAMS
from elolab.arena.run import RunError
from elolab.engine.errors import UserError
from elolab.tuning.study.plan import plan_of_run, prepare_tuning
from elolab.tuning.study.rounds.budgets import RECOMMENDATION_METADATA
from elolab.tuning.study.study_spec import load_tuning
from elolab.tuning.study.validation.further import plan_of_validation
from tests.support.small_studies import (
    external_study,
    outline,
    records_in,
    run,
    sets_of,
)

pytestmark = pytest.mark.usefixtures("without_tuning_charts")
"""The study that all tests share has its charts, for it is made before them."""


@pytest.mark.integration
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
