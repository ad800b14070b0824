"""The second validation as a test of no regression: what it plays, when it is passed, and how it is told."""

from __future__ import annotations

import io
import json
import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import optimize

from elolab.arena.statistics.elo import Pentanomial, log_likelihood_ratios, sequential_test
from elolab.engine.errors import UserError
from elolab.tuning.reports.tuning_report import tuning_data, verdict_sentence, write_tuning_report
from elolab.tuning.stored_results import result_in
from elolab.tuning.study.plan import prepare_tuning
from elolab.tuning.study.result import StudyResult
from elolab.tuning.study.study_spec import INTERIM_PAIRS, TuningSpec, load_tuning, tuning_from_mapping, tuning_from_text
from elolab.tuning.study.tuning_run import tune
from elolab.tuning.study.validation.validation_games import (
    InterimAnalyses,
    PlannedValidation,
    Verdict,
    judge,
    planned_validations,
)

STUDY = {"game": "xiangqi", "limit": "nodes=1000", "budget": {"games": 8000}, "parameters": ["null_depth"]}


def study(**validation: Any) -> TuningSpec:
    return tuning_from_mapping(STUDY | {"validation": {"kind": "sprt"} | validation}, "small.toml")


def verdict_of(spec: TuningSpec, *counts: int) -> Verdict:
    return judge(spec.validation, planned_validations(spec.validation, 8000, 10_000)[1], Pentanomial(counts))  # type: ignore[arg-type]


def test_it_comes_second_on_the_processor_clock_and_is_as_long_as_the_first() -> None:
    first, second = planned_validations(study().validation, 8000, 10_000)
    assert (first.kind, second.kind) == ("sprt", "non_regression")
    assert (str(second.limits), second.pairs) == ("move_time=0.004,cpu", first.pairs)
    shorter = study(maximum_pairs=900, slow_maximum_pairs=700)
    assert [stage.pairs for stage in planned_validations(shorter.validation, 8000, 10_000)] == [900, 700]
    assert [stage.pairs for stage in planned_validations(shorter.validation, 8000, 50)] == [50, 50]


@pytest.mark.parametrize(
    ("counts", "verdict"),
    [
        ((200, 700, 2000, 900, 300), "upper accepted"),
        ((700, 1700, 4000, 1750, 750), "upper accepted"),
        ((300, 900, 2000, 700, 200), "lower accepted"),
        ((20, 70, 200, 71, 20), "undecided"),
    ],
)
def test_only_an_accepted_upper_hypothesis_passes(counts: tuple[int, ...], verdict: str) -> None:
    spec = study()
    found = verdict_of(spec, *counts)
    assert found.test == sequential_test(Pentanomial(counts), -5, 0, "normalized", 0.05, 0.05)  # type: ignore[arg-type]
    assert (found.test.verdict, found.passed) == (verdict, verdict == "upper accepted")
    logistic = study(model="logistic", slow_elo_lower=-8, slow_elo_upper=1, alpha=0.01)
    test = verdict_of(logistic, *counts).test
    assert test == sequential_test(Pentanomial(counts), -8, 1, "logistic", 0.01, 0.05)  # type: ignore[arg-type]


def test_a_match_that_was_stopped_is_not_passed_whatever_it_shows() -> None:
    validation = study().validation
    for stage in (
        planned_validations(validation, 8000, 10_000)[0],
        PlannedValidation(validation.limits, "fixed", 5000),
    ):
        found = judge(validation, stage, Pentanomial((0, 0, 10, 500, 2000)))
        assert [found.passed, replace(found, unfinished_of=5000).passed] == [True, False]


def test_a_gain_is_confirmed_only_if_every_validation_passed() -> None:
    spec = study()
    good, bad = verdict_of(spec, 200, 700, 2000, 900, 300), verdict_of(spec, 300, 900, 2000, 700, 200)
    for verdicts, interrupted, expected in (
        ((good, good), False, 0), ((good, bad), False, 3), ((bad, good), False, 3), ((), False, 3),
        ((good, good), True, 130),
    ):  # fmt: skip
        ended = StudyResult(spec, Path(), (), 0, 0, interrupted=interrupted, verdicts=verdicts)
        assert (ended.confirmed, ended.exit_code) == (expected == 0, expected)


@pytest.mark.parametrize(
    ("outcome", "elo_upper", "decided_after", "pairs"), [(2, 5, None, 110), (2, 5, 50, 50), (4, 100, None, 25)]
)
def test_all_games_are_there_but_those_after_the_verdict_do_not_count(
    outcome: int, elo_upper: int, decided_after: int | None, pairs: int
) -> None:
    """Even pairs decide nothing, unless a verdict had fallen; won ones decide at the first look."""
    spec = study(elo_upper=elo_upper)
    stage = PlannedValidation(spec.validation.limits, "sprt", 110)
    games = SimpleNamespace(
        spec=spec, planned=stage, most_pairs=110, missing_in=lambda pairs: 0,
        counts=lambda pairs: Pentanomial(tuple(len(pairs) * (place == outcome) for place in range(5))),  # type: ignore[arg-type]
    )  # fmt: skip
    analyses = InterimAnalyses(games, decided_after)  # type: ignore[arg-type]
    analyses.analyse()
    verdict = analyses.verdict(is_complete=True)
    assert verdict is not None
    assert (analyses.is_over, verdict.counts.pairs, verdict.passed) == (True, pairs, outcome == 4)


def test_undecided_is_said_not_to_be_validated() -> None:
    found = verdict_of(study(), 20, 70, 200, 71, 20)
    assert "undecided after the maximum number of pairs, so not validated" in verdict_sentence(found)
    assert "未通过验证" in verdict_sentence(found, "zh")


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ((30, 90, 200, 200, 80), [("the gain was accepted", "接受有增益的假设"), ("no regression", "没有退步")]),
        ((80, 200, 200, 90, 30), [("the gain was rejected", "拒绝有增益的假设"), ("weaker", "更弱")]),
    ],
)
def test_the_hypothesis_that_was_accepted_is_said(counts: tuple[int, ...], said: list[tuple[str, str]]) -> None:
    validation = study().validation
    for stage, words in zip(planned_validations(validation, 8000, 10_000), said, strict=True):
        found = judge(validation, stage, Pentanomial(counts))  # type: ignore[arg-type]
        ends = [verdict_sentence(found, name).split(comma)[-1] for name, comma in (("en", ", "), ("zh", "，"))]
        assert tuple(ends) == words


def share_of_worse_tests(counts: Pentanomial, batch: int) -> float:
    """Share of tests of 0 against 60 Elo between equals that end worse: rejected earlier, or with a lower score."""
    scores, seen = np.linspace(0, 1, 5), np.array(counts.counts)
    tilt = optimize.brentq(lambda rate: seen * np.exp(rate * scores) @ (scores - 0.5), -9, 9)
    chances = seen * np.exp(tilt * scores) / (seen @ np.exp(tilt * scores))
    drawn = np.random.default_rng(1).multinomial(batch, chances, (10_000, counts.pairs // batch)).cumsum(axis=1)
    ratios = np.array([log_likelihood_ratios(look, 2, 0, 60) for look in drawn.swapaxes(0, 1)])
    ended = (np.abs(ratios[:-1]) >= math.log(19)).any(axis=0)
    rejected = (ratios[:-1] <= -math.log(19)).any(axis=0)
    gap = drawn[:, -1] @ scores - seen @ scores
    return float(np.where(ended, rejected, (gap < 0) + (gap == 0) / 2).mean())


@pytest.mark.integration
def test_the_likelihood_of_superiority_belongs_to_the_interval() -> None:
    validation = study(elo_upper=60).validation
    first, second = planned_validations(validation, 8000, 10_000)
    counts = Pentanomial((7, 4, 35, 0, 4))
    found = judge(validation, first, counts)
    assert found.after_test is not None
    assert found.los == found.after_test.los == pytest.approx(share_of_worse_tests(counts, INTERIM_PAIRS), abs=0.03)
    assert judge(validation, replace(second, kind="fixed"), counts).los == counts.estimate().los


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"slow_elo_lower": 1}, "slow_elo_lower (1) below slow_elo_upper (0)"),
        ({"slow": "fixed", "slow_elo_lower": -3}, "slow_elo_lower = -3, expected none with slow = 'fixed'"),
        ({"slow_pairs": 5, "slow_maximum_pairs": 9}, "slow_maximum_pairs = 9, expected none"),
        ({"slow": "non_regression", "slow_pairs": 5}, "slow_pairs = 5, expected none"),
        ({"slow": "sprt", "slow_pairs": 5}, "slow_pairs = 5, expected none with slow = 'sprt'"),
        ({"slow": "off", "slow_limit": "nodes=9"}, "slow_limit = 'nodes=9', expected none with slow = 'off'"),
    ],
)
def test_keys_of_another_second_match_are_refused(keys: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError) as error:
        study(**keys)
    assert str(error.value).startswith("small.toml: [validation]: ")
    assert said in str(error.value)


@pytest.mark.integration
@pytest.mark.parametrize("key", ["maximum_pairs", "slow_maximum_pairs", "slow_pairs"])
def test_more_pairs_than_openings_are_refused(key: str) -> None:
    with pytest.raises(UserError, match=rf"\[validation\]: {key} = 999999 needs as many different openings"):
        prepare_tuning(study(**{key: 999_999}))


def test_studies_from_before_there_were_such_tests_keep_their_match_of_fixed_length() -> None:
    old = tuning_from_text(json.dumps(STUDY), "small.toml")
    second = planned_validations(old.validation, 8000, 10_000)[1]
    assert (second.kind, str(second.limits), second.pairs) == ("fixed", "nodes=4000", 500)
    assert "slow_elo_lower" not in old.content()["validation"]
    for spec in (study(), study(slow="off"), study(slow_pairs=7)):
        assert tuning_from_text(spec.text, "small.toml") == spec


@pytest.mark.integration
@pytest.mark.usefixtures("without_tuning_charts")
def test_it_is_played_reported_and_read_again(tmp_path: Path) -> None:
    """From a base without quiescence search, so that both tests are soon decided."""
    (tmp_path / "weak.toml").write_text(
        'game = "xiangqi"\nbudget = { games = 46 }\nround_pairs = 7\nlimit = "nodes=100"\nparameters = ["quiescence"]\n'
        "[set]\nquiescence = false\nhash_mb = 1\n[adjudication]\nmaximum_plies = 60\n"
        "[validation]\nelo_upper = 200\nslow_elo_lower = -200\nslow_maximum_pairs = 8\n"
    )
    out = tmp_path / "out"
    result = tune(load_tuning(tmp_path / "weak.toml"), out, stream=io.StringIO())
    assert [(verdict.kind, verdict.passed) for verdict in result.verdicts] == [("sprt", True), ("non_regression", True)]
    assert result.verdicts[1].counts.pairs == 8
    for verdict in result.verdicts:
        assert verdict.speed is not None
        assert verdict.speed.pairs == verdict.counts.pairs
        for speed in (verdict.speed.nodes_per_second, verdict.speed.reference_nodes_per_second):
            assert speed is not None
            assert speed > 1000
    assert 0.5 < result.verdicts[1].speed.time_ms < 5  # type: ignore[union-attr, operator]
    assert result_in(out).verdicts == result.verdicts
    page = write_tuning_report(result).read_text("utf-8")
    assert "\N{MINUS SIGN}200 with 0" in page
    assert "Nodes per second" in page
    assert tuning_data(result, page)["validation"][1]["speed"]["speed_ratio"] > 0  # type: ignore[arg-type]
