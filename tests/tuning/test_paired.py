"""elolab's sampler and paired objective in a study of one's own, beside Optuna's samplers."""

from __future__ import annotations

import math
import random

import optuna
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

import elolab
from elolab.engine.errors import UserError
from elolab.engine.settings.parameters import Value

DISTRIBUTIONS = {
    "place": FloatDistribution(0, 1),
    "rate": FloatDistribution(1e-4, 1, log=True),
    "count": IntDistribution(0, 20, step=2),
    "mode": CategoricalDistribution(["plain", "good"]),
}
BASE: dict[str, Value] = {"place": 0.2, "rate": 0.1, "count": 4, "mode": "plain"}


def strength(values: dict[str, Value]) -> float:
    """Elo; the best values are 0.7, 0.01, any count and ``good``."""
    place, rate = float(values["place"]), float(values["rate"])
    return -400 * (place - 0.7) ** 2 - 15 * math.log(rate / 0.01) ** 2 - 40 * (values["mode"] != "good")


def match(one: dict[str, Value], other: dict[str, Value], pairs: int, seed: int) -> float:
    assert pairs == 1
    source, share = random.Random(seed), 1 / (1 + 10 ** ((strength(other) - strength(one)) / 400))
    return sum(source.random() < share for _ in range(2)) / 2


def objective() -> elolab.PairedObjective:
    return elolab.PairedObjective(match, DISTRIBUTIONS, BASE)


@pytest.fixture(autouse=True)
def _quiet() -> None:
    optuna.logging.set_verbosity(optuna.logging.WARNING)


@pytest.mark.integration
def test_a_study_of_ones_own_finds_and_confirms_a_gain() -> None:
    paired = objective()
    study = optuna.create_study(direction="maximize", sampler=paired.sampler())
    study.optimize(paired, n_trials=25)
    found = paired.recommendation(study)
    assert strength(found.values) > strength(BASE) + 100
    assert 0 < found.low < found.elo < found.high
    assert not found.is_base
    confirmed = paired.confirm(found.values, 100)
    assert confirmed.is_confirmed
    assert sum(confirmed.counts) <= 100
    assert not paired.confirm({**BASE, "count": 8}, 100).is_confirmed


@pytest.mark.integration
def test_trials_of_the_user_and_of_an_earlier_process_count() -> None:
    paired = objective()
    study = optuna.create_study(direction="maximize", sampler=paired.sampler())
    wanted = {"place": 0.5, "rate": 0.05, "count": 6, "mode": "good"}
    study.enqueue_trial(wanted)
    study.optimize(paired, n_trials=6)
    assert study.trials[0].params == wanted
    later = objective()
    study.sampler = later.sampler()
    study.optimize(later, n_trials=6)
    assert later.recommendation(study) == paired.recommendation(study)


@pytest.mark.integration
@pytest.mark.parametrize("sampler", ["TPESampler", "RandomSampler"])
def test_samplers_of_optuna_play_the_base_and_get_the_same_recommendation(sampler: str) -> None:
    paired = objective()
    study = optuna.create_study(direction="maximize", sampler=getattr(optuna.samplers, sampler)(seed=1))
    study.optimize(paired, n_trials=20)
    assert strength(paired.recommendation(study).values) > strength(BASE)


def test_wrong_input_is_named() -> None:
    with pytest.raises(UserError, match="base: mode is missing"):
        elolab.PairedObjective(match, DISTRIBUTIONS, {"place": 0.2, "rate": 0.1, "count": 4})
    for outside in (-0.1, "0.2"):
        with pytest.raises(UserError, match=r"base: place = \S+ in the base, expected .* range .* 0(\.0)? to 1"):
            elolab.PairedObjective(match, DISTRIBUTIONS, {**BASE, "place": outside})
    elolab.PairedObjective(match, DISTRIBUTIONS, {**BASE, "count": 5, "mode": "old"})  # between steps, another choice
    broken = elolab.PairedObjective(lambda one, other, pairs, seed: 3.0, DISTRIBUTIONS, BASE)
    study = optuna.create_study(direction="maximize", sampler=broken.sampler())
    with pytest.raises(UserError, match=r"the match returned 3\.0"):
        study.optimize(broken, n_trials=1)
    with pytest.raises(UserError, match="no finished trial"):
        broken.recommendation(study)
