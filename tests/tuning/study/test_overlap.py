"""Rounds that overlap: a round knows just what its number says, at any concurrency and after any stop."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import optuna
import pytest

from elolab.arena.play.executor import GameRunner
from elolab.arena.play.store import Store
from elolab.arena.records import GameJob, GameRecord
from elolab.arena.run import RunError
from elolab.tuning.stored_results import result_in
from elolab.tuning.study.model.observations import Observations
from elolab.tuning.study.plan import prepare_tuning
from elolab.tuning.study.result import StudyResult
from elolab.tuning.study.rounds.budgets import rounds_of
from elolab.tuning.study.state import StudyState
from elolab.tuning.study.storage import STUDY_NAME, RoundTrials
from elolab.tuning.study.study_spec import load_tuning
from tests.support.small_studies import CountingStop, openings, outline, records_in, run, write_study

OVERLAP = 2
GAMES = 46


def write(folder: Path, **changes: Any) -> Path:
    """The file of a study of six rounds, or of seven trials."""
    trials = {"trials": 7} if changes.get("sampler", "duel") != "duel" else {}
    return write_study(folder, **{"overlap": OVERLAP, "games": GAMES, **trials, **changes})


@pytest.fixture(scope="module", params=["duel", pytest.param("tpe", marks=pytest.mark.slow)])
def overlapped(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, StudyResult]:
    """The file of a study of overlapping rounds, and how it ends at one game at a time."""
    folder = tmp_path_factory.mktemp(request.param)
    path = write(folder, sampler=request.param)
    return path, run(path, folder / "out")


def simulate_workers(monkeypatch: pytest.MonkeyPatch, workers: int, seed: int) -> list[set[int]]:
    """Let games end in a random order, as of so many workers, one at a time; the rounds that were under way then."""
    under_way: list[set[int]] = []
    play = GameRunner.batches

    def shuffled(
        runner: GameRunner, jobs: Iterable[GameJob | None], enough: Callable[[], bool] = bool
    ) -> Iterator[list[GameRecord]]:
        generator, source, asked = random.Random(seed), iter(jobs), []
        while True:
            while len(asked) < workers and (job := next(source, None)) is not None:
                asked.append(job)
            if not asked:
                return
            if not asked[0].pairing.series:
                under_way.append({job.pairing.round for job in asked})
            yield from play(runner, [asked.pop(generator.randrange(len(asked)))])

    monkeypatch.setattr(GameRunner, "batches", shuffled)
    return under_way


@pytest.mark.integration
def test_a_round_is_laid_out_from_all_but_the_last_rounds(tmp_path: Path) -> None:
    """What every trial kept of its design is made anew here from the results of those before it."""
    path = write(tmp_path)
    run(path, tmp_path / "out", concurrency=2)
    spec = load_tuning(path)
    finished = RoundTrials(spec, tmp_path / "out", "nobody", 100).finished()
    trials = optuna.load_study(study_name="small", storage=f"sqlite:///{tmp_path / 'out' / STUDY_NAME}").trials
    rounds = rounds_of(spec, GAMES)
    assert len(trials) == len(rounds) > 2 * OVERLAP
    state = StudyState(Observations(spec.space), len(prepare_tuning(spec).openings))
    for number, trial in enumerate(trials):
        if number > OVERLAP:
            known = number - OVERLAP - 1
            state.add(finished[known], rounds)
            state.refit(is_last=False)
        assert tuple(trial.params.values()) == state.design().centre
        assert trial.user_attrs["start"] == json.loads(json.dumps(state.design().plain()))


@pytest.mark.integration
def test_concurrency_does_not_matter(overlapped: tuple[Path, StudyResult], tmp_path: Path) -> None:
    path, study_result = overlapped
    assert outline(run(path, tmp_path / "two", concurrency=2)) == outline(study_result)


@pytest.mark.integration
@pytest.mark.parametrize("workers", [pytest.param(3, marks=pytest.mark.slow), 100])
def test_neither_does_the_order_in_which_games_end(
    overlapped: tuple[Path, StudyResult], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    path, study_result = overlapped
    under_way = simulate_workers(monkeypatch, workers, seed=5)
    assert outline(run(path, tmp_path / "out")) == outline(study_result)
    # The next rounds begin before the last games of one have ended, but no more of them than overlap.
    most = {max(rounds) - min(rounds) for rounds in under_way}
    assert max(most) in ((OVERLAP,) if workers == 100 else range(1, OVERLAP + 1))


@pytest.mark.integration
def test_rounds_that_do_not_overlap_wait_for_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    under_way = simulate_workers(monkeypatch, 100, seed=5)
    run(write(tmp_path, overlap=0), tmp_path / "out")
    assert under_way
    assert {len(rounds) for rounds in under_way} == {1}


@pytest.mark.integration
def test_a_study_stopped_anywhere_goes_on_as_if_it_had_not_been(
    overlapped: tuple[Path, StudyResult], tmp_path: Path
) -> None:
    path, study_result = overlapped
    stops = 0
    for polls in (2, 17, 40, 56):
        stopped = run(path, tmp_path / "out", 2, stop=CountingStop(polls))
        stops += stopped.interrupted
        assert outline(result_in(tmp_path / "out")) == outline(stopped)
    assert stops >= 3
    assert outline(run(path, tmp_path / "out", 2)) == outline(study_result)


@pytest.mark.integration
def test_a_lost_study_is_made_again_from_the_games(overlapped: tuple[Path, StudyResult], tmp_path: Path) -> None:
    path, study_result = overlapped
    assert run(path, tmp_path / "out", stop=CountingStop(60)).interrupted
    (tmp_path / "out" / STUDY_NAME).unlink()
    assert outline(run(path, tmp_path / "out")) == outline(study_result)


@pytest.mark.integration
def test_what_is_read_after_a_stop_is_not_told_too_early(
    overlapped: tuple[Path, StudyResult], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All rounds that were laid out are complete, and whoever looks lays out no other: the next one knows as before."""
    path, study_result = overlapped
    out, whole = tmp_path / "out", 2 * sum(one.pairs for one in rounds_of(study_result.spec, GAMES)[: 1 + OVERLAP])

    def kill(*_: object) -> None:
        with Store(out, read_only=True) as store:
            if len(store) >= whole:
                raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        simulate_workers(patched, 1, seed=5)
        patched.setattr("elolab.arena.play.live.RunProgress.finished", kill)
        with pytest.raises(KeyboardInterrupt):
            run(path, out)
    (out / STUDY_NAME).unlink()
    stopped = run(path, out, stop=CountingStop(0))
    assert (stopped.interrupted, len(stopped.rounds)) == (True, 1 + OVERLAP)
    assert outline(run(path, out)) == outline(study_result)


def test_a_folder_belongs_to_one_overlap(tmp_path: Path) -> None:
    run(write(tmp_path, overlap=0), tmp_path / "out", stop=CountingStop(9))
    with Store(tmp_path / "out", read_only=True) as store:
        assert "overlap" not in store.metadata("tuning")  # as in folders of before there was such a key
    with pytest.raises(RunError, match=r"overlap = not set there, 2 in .*small\.toml"):
        run(write(tmp_path), tmp_path / "out")


@pytest.mark.slow
def test_a_budget_that_grows_on_the_way_is_the_same_as_one_at_once(tmp_path: Path) -> None:
    stopped = run(write(tmp_path), tmp_path / "out", stop=CountingStop(40))
    assert stopped.interrupted
    longer = write(tmp_path, games=110)
    assert outline(run(longer, tmp_path / "out")) == outline(run(longer, tmp_path / "at once", 2))


@pytest.mark.slow
def test_a_smaller_budget_ends_with_the_rounds_that_were_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    simulate_workers(monkeypatch, 100, seed=5)

    class Enough(Exception):
        """Stands for a kill."""

    def kill(*_: object) -> None:
        with Store(tmp_path / "out", read_only=True) as store:
            if len(store) > 60:
                raise Enough

    monkeypatch.setattr("elolab.arena.play.live.RunProgress.finished", kill)
    with pytest.raises(Enough):
        run(write(tmp_path, games=200), tmp_path / "out")
    monkeypatch.undo()
    begun = 1 + max(record.pairing.round for record in records_in(tmp_path / "out"))
    shorter = write(tmp_path, games=46, validation={"maximum_pairs": 1, "slow": "off"})
    ended = run(shorter, tmp_path / "out")
    assert ended.decision is not None
    assert begun - 1 <= len(ended.rounds) <= begun
    assert outline(run(shorter, tmp_path / "out")) == outline(ended)


@pytest.mark.integration
def test_a_budget_in_time_keeps_the_rounds_under_way_when_it_is_estimated_anew(tmp_path: Path) -> None:
    path = write_study(tmp_path, "[budget]\nseconds = 1\n", games=None, overlap=OVERLAP)
    assert run(path, tmp_path / "out", stop=CountingStop(9)).interrupted
    study_result = run(path, tmp_path / "out", 2)
    assert study_result.decision is not None
    with Store(tmp_path / "out", read_only=True) as store:
        assert [leg["rounds"] for leg in store.metadata("tuning budgets")] == [0, 1 + OVERLAP]
    assert outline(run(path, tmp_path / "out")) == outline(study_result)


@pytest.mark.integration
def test_a_study_that_ends_early_plays_the_rounds_that_were_laid_out(tmp_path: Path) -> None:
    study_result = run(write(tmp_path, stop_below=400.0), tmp_path / "out")
    assert study_result.stopped_early
    assert len(study_result.rounds) == 2 + OVERLAP < study_result.planned_rounds
    assert outline(run(tmp_path / "small.toml", tmp_path / "out", 2)) == outline(study_result)


@pytest.mark.integration
def test_two_folders_work_on_one_study(tmp_path: Path) -> None:
    path = write(tmp_path, storage=f"sqlite:///{tmp_path / 'shared.sqlite'}")
    assert run(path, tmp_path / "one", stop=CountingStop(12)).interrupted
    assert len(run(path, tmp_path / "two").waiting_for) == 1 + OVERLAP
    ended = run(path, tmp_path / "one")
    assert [end.number for end in ended.rounds] == list(range(ended.planned_rounds))
    own, theirs = (
        {record.pairing.round for record in records_in(tmp_path / name) if not record.pairing.series}
        for name in ("one", "two")
    )
    assert not own & theirs
    assert own | theirs == {end.number for end in ended.rounds}


# Validation


def weak_study(folder: Path, overlap: int) -> Path:
    """A study that soon finds that quiescence search is worth much, and tests it at once."""
    (folder / "few.epd").write_text(openings(60))
    path = folder / f"weak{overlap}.toml"
    path.write_text(
        f'overlap = {overlap}\nbudget = {{ games = 46 }}\nlimit = "nodes=150"\nopenings = "few.epd"\n'
        'parameters = ["quiescence"]\n[set]\nquiescence = false\nhash_mb = 1\n[adjudication]\nmaximum_plies = 80\n'
        '[validation]\nelo_upper = 200\nslow = "off"\n'
    )
    return path


@pytest.mark.integration
def test_looks_that_overlap_end_where_those_in_turn_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("elolab.tuning.study.validation.validation_games.INTERIM_PAIRS", 2)
    in_turn, overlapping = weak_study(tmp_path, 0), weak_study(tmp_path, OVERLAP)
    first = run(in_turn, tmp_path / "in turn")
    ended = run(overlapping, tmp_path / "one")
    assert [verdict.passed for verdict in ended.verdicts] == [True]
    assert ended.recommended == first.recommended
    assert ended.verdicts == first.verdicts
    counted = ended.verdicts[0].counts.pairs
    assert counted < validated_pairs(tmp_path / "one") == counted + 2 * OVERLAP
    assert validated_pairs(tmp_path / "in turn") == counted
    stopped = run(overlapping, tmp_path / "out", stop=CountingStop(60))
    assert outline(result_in(tmp_path / "out")) == outline(stopped)
    simulate_workers(monkeypatch, 100, seed=5)
    assert outline(run(overlapping, tmp_path / "out")) == outline(ended)


@pytest.mark.integration
def test_a_stopped_study_takes_the_same_games_of_another_round_up_once(tmp_path: Path) -> None:
    """With few openings and one switch a round under way meets again; reading the folder must find the same."""
    path = weak_study(tmp_path, 2)
    path.write_text(path.read_text().replace("overlap = 2", "overlap = 2\nround_pairs = 4"))
    stopped = run(path, tmp_path / "out", stop=CountingStop(60))
    assert len(stopped.rounds) >= 2
    assert outline(result_in(tmp_path / "out")) == outline(stopped)


def validated_pairs(out: Path) -> int:
    """Pairs of the validation that are stored."""
    return sum(record.pairing.series == "validation 00" for record in records_in(out)) // 2
