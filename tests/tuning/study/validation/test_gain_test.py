"""The test of a gain against simulated matches, and a study whose budget covers its validation."""

from __future__ import annotations

import io
import json
import math
from pathlib import Path

import numpy as np
import pytest

from elolab import command_line
from elolab.arena.sequential import tilted_outcomes
from elolab.arena.statistics.elo import Pentanomial
from elolab.engine.settings.configuration import ConfigurationError
from elolab.tuning.group_sequential import crossing_bounds, crossing_probability
from elolab.tuning.reports.tuning_report import tuning_sentence
from elolab.tuning.stored_results import result_in
from elolab.tuning.study.result import StudyResult
from elolab.tuning.study.study_spec import MAX_SEARCH, MIN_SEARCH, load_tuning, tuning_from_text
from elolab.tuning.study.tuning_run import tune
from elolab.tuning.study.validation.further import validate_again
from elolab.tuning.study.validation.gain_test import GainTest, confirming_pairs
from tests.support.small_studies import CountingStop, write_study

EQUALS = np.array([0.13, 0.2, 0.34, 0.2, 0.13])


def test_bounds_are_those_of_simulated_motions() -> None:
    shares = np.linspace(0.1, 1, 10)
    bounds = crossing_bounds(shares, 0.05 * shares**2)
    generator = np.random.default_rng(1)
    steps = generator.normal(0, math.sqrt(0.1), (40_000, 10))
    for drift in (0.0, 2.0):
        crossed = (np.cumsum(steps + 0.1 * drift, axis=1) / np.sqrt(shares) >= bounds).any(axis=1).mean()
        assert crossing_probability(shares, bounds, drift) == pytest.approx(crossed, abs=0.008)


@pytest.mark.parametrize(
    "pairs", [20, pytest.param(61, marks=pytest.mark.integration), pytest.param(400, marks=pytest.mark.integration)]
)
def test_no_gain_is_confirmed_in_one_test_of_twenty_however_long(pairs: int) -> None:
    """Matches of equals, continued to twice the horizon; and a gain as often as the plan says."""
    generator, runs = np.random.default_rng(pairs), 250
    test = GainTest(pairs)
    analyses = test.analyses(2 * test.horizon)
    gain = test.confirmed_gain(0.8)
    for elo, end in ((0.0, analyses[-1]), (gain, test.horizon)) if pairs > 20 else ((0.0, analyses[-1]),):
        confirmed, outcomes = 0, tilted_outcomes(EQUALS, elo)
        for _ in range(runs):
            counts, before = np.zeros(5, int), 0
            for look in (look for look in analyses if look <= end):
                counts += generator.multinomial(look - before, outcomes)
                before = look
                if test.test(Pentanomial(tuple(map(int, counts)))).verdict == "upper accepted":
                    confirmed += 1
                    break
        assert confirmed / runs <= 0.07 if not elo else abs(confirmed / runs - 0.8) < 0.15


def test_what_a_test_needs_is_what_it_is_planned_for() -> None:
    pairs = confirming_pairs(30, 0.8)
    assert GainTest(pairs).confirmed_gain(0.8) == pytest.approx(30, abs=2)
    assert confirming_pairs(0, 0.8) == confirming_pairs(-5, 0.8) == 10**9
    test, counts = GainTest(100), Pentanomial((10, 20, 36, 22, 12))
    needed = test.test(counts).pairs_needed
    assert needed is not None
    assert needed in test.analyses(needed)
    assert 100 < needed < 100_000
    assert test.test(Pentanomial((12, 22, 36, 20, 10))).pairs_needed is None


def test_the_interval_excludes_no_gain_exactly_if_a_gain_is_confirmed() -> None:
    test = GainTest(60)
    for wins in range(61):
        counts = Pentanomial((0, 0, 60 - wins, 0, wins))
        assert (test.estimate(counts).elo_low > 0) == (test.test(counts).verdict == "upper accepted")


def test_keys_of_one_kind_choose_it_or_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    text = 'game = "xiangqi"\nlimit = "nodes=60"\nbudget = { games = 400 }\nparameters = ["null_depth"]\n[validation]\n'
    path.write_text(text)
    spec = load_tuning(path)
    assert (spec.validation.kind, spec.validation.slow) == ("gain", "off")
    path.write_text(text + "elo_upper = 10\n")
    assert (load_tuning(path).validation.kind, load_tuning(path).validation.slow) == ("sprt", "non_regression")
    path.write_text(text + 'kind = "gain"\nelo_upper = 10\n')
    with pytest.raises(ConfigurationError, match=r"elo_upper = 10.* belongs to kind = 'sprt'"):
        load_tuning(path)
    recorded = json.loads(spec.text)
    del recorded["validation"]["kind"]
    assert tuning_from_text(json.dumps(recorded), "older").validation.kind == "sprt"


@pytest.fixture(scope="module")
def in_budget(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, StudyResult]:
    """A study of 240 games in all, its file and its folder."""
    folder = tmp_path_factory.mktemp("budget")
    path, out = write_study(folder, games=240, validation={"kind": "gain"}), folder / "out"
    return path, out, tune(load_tuning(path), out, stream=io.StringIO())


@pytest.mark.integration
@pytest.mark.usefixtures("without_tuning_charts")
def test_a_budget_covers_search_and_validation(in_budget: tuple[Path, Path, StudyResult]) -> None:
    path, out, result = in_budget
    assert result.games <= 240
    assert 240 * MIN_SEARCH * 0.8 <= result.games_before_validation <= 240 * MAX_SEARCH + 2
    (verdict,) = result.verdicts
    assert verdict.kind == "gain"
    again = tune(load_tuning(path), out, stream=io.StringIO())
    assert (again.games, again.verdicts, again.digest) == (result.games, result.verdicts, result.digest)
    assert result_in(out).verdicts == result.verdicts


@pytest.mark.integration
@pytest.mark.usefixtures("without_tuning_charts")
def test_an_interrupted_study_ends_as_if_it_had_not_been(
    in_budget: tuple[Path, Path, StudyResult], tmp_path: Path
) -> None:
    path, _, result = in_budget
    first = tune(load_tuning(path), tmp_path / "out", stream=io.StringIO(), stop=CountingStop(result.games - 4))
    assert first.interrupted
    second = tune(load_tuning(path), tmp_path / "out", stream=io.StringIO())
    assert (second.games, second.digest, second.verdicts) == (result.games, result.digest, result.verdicts)


@pytest.mark.integration
def test_what_is_missing_is_one_command(
    in_budget: tuple[Path, Path, StudyResult], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A validation that goes on keeps the bounds for which it was planned, and plays only what is missing."""
    path, out, result = in_budget
    assert command_line.main(["tune", str(path), "--dry-run", "--out", str(tmp_path / "new")]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "at most 240 games" in said  # an early end of the search may leave games for another analysis
    assert "Elo with 80 % probability" in said
    (verdict,) = result.verdicts
    if verdict.passed:
        assert result.preset is not None
        return
    assert f"elolab validate {out} --maximum-pairs" in tuning_sentence(result)
    more = validate_again(out, None, None, verdict.counts.pairs + 10, stream=io.StringIO())
    assert more.verdict is not None
    assert more.verdict.counts.pairs > verdict.counts.pairs


def test_a_budget_too_small_for_both_is_refused(tmp_path: Path) -> None:
    path = write_study(tmp_path, games=50, validation={"kind": "gain"})
    with pytest.raises(ConfigurationError, match=r"games = 50, but .* need at least 55"):
        load_tuning(path)


def test_the_outlook_is_what_longer_tests_of_the_same_score_give() -> None:
    test, counts = GainTest(200), Pentanomial((10, 40, 90, 40, 20))
    found = test.outlook(counts)
    assert [one.probability for one in found] == [0.5, 0.8, 0.95]
    assert found[1].pairs == test.pairs_needed(counts)
    for one in found:
        scaled = Pentanomial(tuple(round(count * one.pairs / 200) for count in counts.counts))  # type: ignore[arg-type]
        longer = test.estimate(scaled)
        assert one.half_width == pytest.approx((longer.elo_high - longer.elo_low) / 2, rel=0.05)
    assert test.outlook(Pentanomial((20, 40, 90, 40, 10))) == ()
    assert test.outlook(Pentanomial((5, 10, 50, 60, 75))) == ()
