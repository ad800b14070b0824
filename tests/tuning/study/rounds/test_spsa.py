"""The sampler ``spsa``: its schedules, its walk, studies by games that stop and resume, and a study of one's own."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import optuna
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

import elolab
from elolab.arena.statistics.elo import Pentanomial
from elolab.engine.errors import UserError
from elolab.tuning.study.rounds.spsa import Spsa, Theta
from elolab.tuning.study.space import Dimension, Space
from elolab.tuning.study.study_spec import load_tuning
from tests.support.small_studies import CountingStop, outline, records_in, run, sets_of, write_study

SPACE = Space(
    (
        Dimension("number", 0, 400, c_end=8.0, r_end=0.004),
        Dimension("ratio", 1, 1000, 0, "log"),
        Dimension("coarse", 0, 4),
        Dimension("mode", choices=("a", "b", "c")),
    ),
    (("number", 100), ("ratio", 10), ("coarse", 1), ("mode", "b")),
    external=True,
)
WON, LOST, EVEN = Pentanomial((0, 0, 0, 0, 4)), Pentanomial((4, 0, 0, 0, 0)), Pentanomial((0, 0, 4, 0, 0))


@pytest.mark.parametrize("k", [1, 7, 500, 1000])
def test_the_schedules_are_those_of_fishtest(k: int) -> None:
    # As fishtest's server computes them: c = c_end N^gamma, a = r_end c_end^2 (A + N)^alpha, A = N / 10.
    pairs, c_end, r_end = 1000, 8.0, 0.004
    c = c_end * pairs**0.101 / k**0.101
    r = r_end * c_end**2 * (100 + pairs) ** 0.602 / (100 + k) ** 0.602 / c**2
    perturbation, step = Spsa(SPACE, pairs).schedule(SPACE.dimensions[0], k)
    assert 400 * perturbation == pytest.approx(c)
    assert 400 * step == pytest.approx(r * c)


def test_defaults_follow_from_the_ranges() -> None:
    spsa = Spsa(SPACE, 1000)
    assert spsa.schedule(SPACE.dimensions[1], 1000) == pytest.approx((1 / 20, 0.002 / 20))
    assert spsa.schedule(SPACE.dimensions[2], 1000) == pytest.approx((1 / 8, 0.002 / 8))  # half a step
    assert spsa.values(spsa.start()) == SPACE.default_values


def test_an_iteration_moves_towards_the_winner() -> None:
    spsa = Spsa(SPACE, 1000)
    theta = spsa.start()
    one = spsa.iteration(theta, 3, 0)
    assert one == spsa.iteration(theta, 3, 0) != spsa.iteration(theta, 4, 0)
    up, down = spsa.after(theta, one.step, WON), spsa.after(theta, one.step, LOST)
    assert spsa.after(theta, one.step, EVEN) == theta
    for place in (0, 1):
        towards = SPACE.dimensions[place].coordinate(one.first[place]) - theta[place][0]
        assert (up[place][0] - theta[place][0]) * towards > 0
        assert up[place][0] - theta[place][0] == pytest.approx(theta[place][0] - down[place][0])


def walked(elo: Any, pairs: int = 4000) -> tuple[Spsa, Theta]:
    """Theta after a search in which the better set wins every pair."""
    spsa = Spsa(SPACE, pairs, r_end=0.02)
    theta = spsa.start()
    for number in range(pairs // 4):
        one = spsa.iteration(theta, number, 4 * number)
        for dimension, value in zip(SPACE.dimensions, one.first, strict=True):
            assert dimension.contains(value)
        difference = elo(one.first) - elo(one.second)
        theta = spsa.after(theta, one.step, WON if difference > 0 else LOST if difference < 0 else EVEN)
    return spsa, theta


def test_a_walk_ends_near_the_optimum_with_the_best_choice() -> None:
    def elo(values: Any) -> float:
        number, ratio, _, mode = values
        return -(((number - 300) / 40) ** 2) - math.log(ratio / 100) ** 2 + 8 * (mode == "c")

    spsa, theta = walked(elo)
    number, ratio, _, mode = spsa.values(theta)
    assert 150 < number <= 400
    assert 20 < ratio < 400
    assert mode == "c"


def test_a_walk_stays_in_the_ranges() -> None:
    spsa, theta = walked(lambda values: values[0] + values[2])
    assert spsa.values(theta)[0] == 400
    assert all(0 <= part[0] <= 1 for part in theta[:3])


@pytest.mark.integration
def test_a_study_by_games_stops_and_resumes(tmp_path: Path) -> None:
    path = write_study(tmp_path, sampler="spsa", round_pairs=2, overlap=1)
    whole = run(path, tmp_path / "whole", with_report=True)
    assert run(path, tmp_path / "parts", stop=CountingStop(20)).interrupted
    (tmp_path / "parts" / "study.sqlite").unlink()
    assert outline(run(path, tmp_path / "parts", concurrency=2)) == outline(whole)
    assert [end.counts.pairs for end in whole.rounds[:-1]] == [2] * (len(whole.rounds) - 1)
    space = load_tuning(path).space
    base = space.default_values
    rounds = [record for record in records_in(tmp_path / "whole") if record.pairing.series == ""]
    assert any(base not in sets_of(record) for record in rounds)
    assert len({str(sets_of(record)) for record in rounds if record.pairing.round == 1}) == 1
    study = optuna.load_study(study_name="small", storage=f"sqlite:///{tmp_path / 'whole' / 'study.sqlite'}")
    assert whole.decision is not None
    assert not whole.decision.is_base
    assert whole.recommended == elolab.SpsaSampler(space, 1).last_iterate(study)
    assert "last iterate of SPSA" in (tmp_path / "whole" / "report.html").read_text()


DISTRIBUTIONS = {
    "place": FloatDistribution(0, 1),
    "count": IntDistribution(0, 20, step=2),
    "mode": CategoricalDistribution(["plain", "good"]),
}


def paired() -> elolab.PairedObjective:
    def match(one: dict[str, Any], other: dict[str, Any], pairs: int, seed: int) -> float:
        better = (one["place"] - other["place"]) + 0.3 * ((one["mode"] == "good") - (other["mode"] == "good"))
        return 0.5 + 0.5 * (better > 0.05) - 0.5 * (better < -0.05)

    base = {"place": 0.3, "count": 4, "mode": "plain"}
    return elolab.PairedObjective(match, DISTRIBUTIONS, base, pairs_per_trial=4)


@pytest.mark.integration
def test_a_study_of_ones_own_continues_in_another_process() -> None:
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    objective = paired()
    study = optuna.create_study(direction="maximize", sampler=objective.spsa_sampler(12, {"place": 0.1}, r_end=0.05))
    study.optimize(objective, n_trials=12)
    found = objective.recommendation(study)
    assert found.values["place"] > 0.5
    assert found.values["mode"] == "good"
    first, parts = paired(), optuna.create_study(direction="maximize")
    for objective, trials in ((first, 5), (paired(), 7)):
        parts.sampler = objective.spsa_sampler(12, {"place": 0.1}, r_end=0.05)
        parts.optimize(objective, n_trials=trials)
    assert [trial.params for trial in parts.trials] == [trial.params for trial in study.trials]
    parts.enqueue_trial({"place": 0.9, "count": 2, "mode": "good"})
    parts.optimize(objective, n_trials=1)
    assert parts.trials[-1].user_attrs["duels"][0][1:3] == [[0.9, 2, "good"], [0.3, 4, "plain"]]


def test_keys_of_spsa_are_refused_elsewhere(tmp_path: Path) -> None:
    extra = "[dimensions.lmr_base]\nc_end = 4\n"
    assert load_tuning(write_study(tmp_path, extra, sampler="spsa")).space.dimensions[1].c_end == 4
    with pytest.raises(UserError, match=r"\[dimensions.lmr_base\]: c_end has no effect with sampler = 'duel'"):
        load_tuning(write_study(tmp_path, extra))
    with pytest.raises(UserError, match=r"\[dimensions.evaluation\]: r_end is for a range; use choices alone"):
        load_tuning(write_study(tmp_path, "[dimensions.evaluation]\nr_end = 0.1\n", sampler="spsa"))
    with pytest.raises(UserError, match="trials = 4 has no effect with sampler = 'spsa'"):
        load_tuning(write_study(tmp_path, sampler="spsa", trials=4))
    with pytest.raises(UserError, match="c_end: speed is none of the distributions"):
        paired().spsa_sampler(3, {"speed": 1.0})
