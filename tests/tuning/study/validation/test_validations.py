"""Validations: their lengths and verdicts, further ones, and the preset after acceptance."""

from __future__ import annotations

import io
import json
import math
import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest

from elolab import command_line
from elolab.arena.keys.engines_file import EnginesFile
from elolab.arena.notation.openings import is_reserved_for_validation
from elolab.arena.player_spec import player_named
from elolab.arena.run import RunError
from elolab.arena.sequential import POWER, acceptance_probability, target_of
from elolab.arena.statistics.elo import Pentanomial
from elolab.arena.tournament_reader import spec_from_mapping
from elolab.engine.errors import UserError
from elolab.engine.settings.configuration import read_toml
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.presets import load_preset
from elolab.tuning.reports.tuning_report import (
    optimism_sentence,
    tuning_data,
    tuning_sentence,
)
from elolab.tuning.stored_results import result_in
from elolab.tuning.study.plan import prepare_tuning
from elolab.tuning.study.result import StudyResult
from elolab.tuning.study.study_spec import load_tuning
from elolab.tuning.study.tuning_run import tune
from elolab.tuning.study.validation.further import ValidationResult, validate_again
from elolab.tuning.study.validation.preset import preset_text
from elolab.tuning.study.validation.validation_games import judge, planned_validations
from tests.support.small_studies import (
    CountingStop,
    external_study,
    openings,
    records_in,
    run,
    write_study,
)

pytestmark = pytest.mark.usefixtures("without_tuning_charts")
"""The study that all tests share has its charts, for it is made before them."""


@pytest.mark.integration
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


@pytest.mark.integration
def test_a_validation_that_cannot_accept_is_warned_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The study finds its settings all the same, and the result says how long the test would have to be."""
    path, out = write_study(tmp_path), tmp_path / "out"
    assert command_line.main(["tune", str(path), "--dry-run", "--out", str(out)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert (
        "Warning: validation: 6 pairs are too few for the test to accept a gain, even if one side wins all of them; "
        "it needs at least 147." in said
    )
    assert "use a suite of 732 or more openings (this one has " in said
    stream = io.StringIO()
    result = tune(load_tuning(path), out, stream=stream)
    assert "6 pairs are too few for the test to accept a gain" in " ".join(stream.getvalue().split())
    test = result.verdicts[0].test
    assert test is not None
    needed = math.ceil(6 * test.upper_bound / test.log_likelihood_ratio)
    sentence = tuning_sentence(result)
    assert (
        f"the test accepts the gain after about {needed} pairs in total: give [validation] maximum_pairs = {needed} in"
        in sentence
    )
    assert tuning_data(result, None)["validation"][0]["expected_pairs"] == needed
    with pytest.raises(
        UserError, match=r"6 pairs are too few for the test to accept a gain, .* a suite of 732 or more openings"
    ):
        validate_again(out, Limits(nodes=80), None, stream=io.StringIO())


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


@pytest.mark.integration
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
    won = f"won the playoff of 2 pairs against the base with {100 * found['playoff_score']:.1f} %"
    assert won in optimism_sentence(study_result)


@pytest.mark.integration
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
    games = json.loads((folder / "out" / "status.json").read_text("utf-8"))["games"]
    assert games["planned"] == games["played"] == study_result.games + 8
    capsys.readouterr()
    for pairs, missing in ((6, 4), (3, 0)):  # a dry run counts what is there, and knows how long the others took
        words = ["validate", out, "--limit", "nodes=200", "--pairs", str(pairs), "--dry-run", "--json"]
        assert command_line.main(words) == 0
        planned = json.loads(capsys.readouterr().out)
        assert (planned["stages"][0]["games"], planned["games"] - planned["stored"]) == (2 * pairs, missing)
        assert planned["stored"] == study_result.games + 8
        assert (planned["seconds"] > 0) == (missing > 0)
    assert command_line.main(["validate", out, "--pairs", "100000", "--dry-run"]) == 2
    assert "--pairs 100000 needs as many different openings" in capsys.readouterr().err


@pytest.mark.integration
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


@pytest.mark.integration
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
    assert "not finished" in (out / "report.md").read_text("utf-8")


@pytest.mark.integration
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
    assert "the study's own validation at nodes=400 has not accepted the recommendation" in capsys.readouterr().err
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


@pytest.mark.integration
def test_only_a_finished_study_can_be_validated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["validate", str(tmp_path / "missing")]) == 2
    assert "there is no such folder" in capsys.readouterr().err
    path = write_study(tmp_path)
    run(path, tmp_path / "out", stop=CountingStop(6))
    assert command_line.main(["validate", str(tmp_path / "out")]) == 2
    assert "its study has no recommendation yet" in capsys.readouterr().err


@pytest.mark.integration
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


@pytest.mark.integration
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
