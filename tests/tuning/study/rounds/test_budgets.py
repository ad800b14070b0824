"""Budgets in games and in time, also changed on the way."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from elolab.arena.play.store import Store
from elolab.engine.engine import StopFlag
from elolab.tuning.reports.tuning_report import (
    tuning_sentence,
)
from elolab.tuning.stored_results import result_in
from elolab.tuning.study.result import RoundEnd, RoundResult, StudyResult
from elolab.tuning.study.rounds.budgets import pairs_before_playoff
from elolab.tuning.study.rounds.round_stream import seconds_per_game
from elolab.tuning.study.state import StudyState
from tests.support.small_studies import (
    CountingStop,
    external_study,
    openings,
    outline,
    records_in,
    run,
    write_study,
)

pytestmark = pytest.mark.usefixtures("without_tuning_charts")
"""The study that all tests share has its charts, for it is made before them."""


@pytest.mark.integration
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


@pytest.mark.integration
@pytest.mark.parametrize("polls", [3, pytest.param(12, marks=pytest.mark.slow)])
def test_a_budget_in_time_goes_on_after_a_stop_in_its_first_round(tmp_path: Path, polls: int) -> None:
    path = write_study(tmp_path, "[budget]\nseconds = 1\n", games=None)
    assert run(path, tmp_path / "out", stop=CountingStop(polls)).interrupted
    study_result = run(path, tmp_path / "out")
    assert study_result.decision is not None
    with Store(tmp_path / "out", read_only=True) as store:
        assert len(store.metadata("tuning budgets")) == 2
    assert outline(run(path, tmp_path / "out")) == outline(study_result)


@pytest.mark.integration
def test_a_study_whose_budget_grows_on_the_way_is_the_same_as_one_that_had_it_at_once(tmp_path: Path) -> None:
    """Rounds of a given size begin alike under every budget, so only their number is another."""
    stopped = run(write_study(tmp_path), tmp_path / "out", stop=CountingStop(30))
    assert stopped.interrupted
    assert 0 < stopped.games < 2 * pairs_before_playoff(46)
    longer = write_study(tmp_path, games=66)
    grown, at_once = run(longer, tmp_path / "out"), run(longer, tmp_path / "at once")
    assert outline(grown) == outline(at_once)


@pytest.mark.integration
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


@pytest.mark.integration
def test_a_smaller_budget_ends_a_study_that_was_stopped_beyond_it(tmp_path: Path) -> None:
    stopped = run(write_study(tmp_path, games=200), tmp_path / "out", stop=CountingStop(170))
    played = stopped.games
    assert played > 46
    shorter = run(write_study(tmp_path, validation={"maximum_pairs": 1, "slow": "off"}), tmp_path / "out")
    assert shorter.decision is not None
    assert not shorter.interrupted
    assert played <= shorter.games <= played + 4  # an open pair of games, and the validation


@pytest.mark.integration
@pytest.mark.parametrize("polls", [30, 0, 5, 62, 75])
def test_a_study_stopped_anywhere_says_the_best_so_far(
    played: tuple[Path, Path, StudyResult], tmp_path: Path, polls: int
) -> None:
    path, _, whole = played
    out = tmp_path / "out"
    stopped = run(path, out, stop=CountingStop(polls))
    assert (stopped.decision is None) == (stopped.games < 2)
    if stopped.interrupted:
        assert tuning_sentence(stopped).startswith(("No pair of games", "The study has played"))
        assert not stopped.confirmed
    assert stopped.study_games <= stopped.planned == 46
    again = result_in(out)
    assert outline(again) == outline(stopped)
    assert again.games == stopped.games <= whole.games


@pytest.mark.integration
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


@pytest.mark.integration
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
