"""Several limits in one study: who plays at which, what the model makes of it, and how it is told."""

from __future__ import annotations

import io
import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from elolab.arena.play.store import Store
from elolab.arena.statistics.elo import NATURAL_TO_ELO
from elolab.engine.errors import UserError
from elolab.engine.language import Catalogue
from elolab.engine.settings.limits import Limits
from elolab.tuning.reports.tuning_report import limit_words
from elolab.tuning.reports.wording import MESSAGES
from elolab.tuning.study.model.hill import HillOverLimits
from elolab.tuning.study.model.maxima import maximum
from elolab.tuning.study.model.observations import Observations
from elolab.tuning.study.model.posterior import fit
from elolab.tuning.study.rounds.budgets import pairs_before_playoff, rounds_of
from elolab.tuning.study.rounds.limit_shares import LimitShares, equal_cost, target_alone
from elolab.tuning.study.space import Dimension, Space
from elolab.tuning.study.study_spec import TuningSpec, load_tuning, tuning_from_mapping, tuning_from_text
from elolab.tuning.study.tuning_run import tune
from tests.support.small_studies import CountingStop

SHORT, MIDDLE, LONG = (Limits(nodes=nodes) for nodes in (1250, 5000, 20_000))
STUDY = {
    "game": "xiangqi", "limit": "nodes=20000", "budget": {"games": 8000}, "parameters": ["null_depth"],
    "validation": {"kind": "sprt"},
}  # fmt: skip
SPACE = Space((Dimension("x", 0, 1000), Dimension("y", 0, 1000)), (("x", 500), ("y", 500)), external=True)


def study(**changes: Any) -> TuningSpec:
    return tuning_from_mapping(STUDY | changes, "several.toml")


def test_shares_are_kept_from_any_number_on() -> None:
    shares = LimitShares(LONG, (SHORT, MIDDLE, LONG), (0.6, 0.3, 0.1))
    for start in (0, 777):
        found = Counter(shares.of_settings_pair(start + number) for number in range(1000))
        for limits, share in zip(shares.limits, shares.shares, strict=True):
            assert abs(found[limits] - 1000 * share) <= 5


def test_by_default_every_limit_gets_as_much_processor_time() -> None:
    assert equal_cost((SHORT, MIDDLE, LONG)) == pytest.approx((16 / 21, 4 / 21, 1 / 21))
    spec = study(limits=["nodes=1250", "nodes=5000", "nodes=20000"])
    assert spec.limit_shares.shares == pytest.approx((16 / 21, 4 / 21, 1 / 21))
    given = study(limits=["nodes=1250", "nodes=5000"], limit_shares=[3, 1])
    assert given.limit_shares.shares == (0.75, 0.25)
    assert given.limit_shares.log_limit(SHORT) == pytest.approx(math.log(1 / 16))
    assert given.limit_shares.log_limit(LONG) == 0
    assert tuning_from_text(given.text, "several.toml") == given


def test_the_playoff_takes_a_tenth_of_the_time() -> None:
    spec = study(limits=["nodes=1250", "nodes=5000", "nodes=20000"])
    pairs = sum(one.pairs for one in rounds_of(spec, 8000))
    playoff, mean_nodes = 4000 - pairs, 3 * 20_000 / 21
    assert playoff * 20_000 / (playoff * 20_000 + pairs * mean_nodes) == pytest.approx(0.1, abs=0.002)
    assert sum(one.pairs for one in rounds_of(study(), 8000)) == pairs_before_playoff(8000) == 3600


def test_one_limit_is_as_it_was() -> None:
    spec = study()
    assert spec.limit_shares == target_alone(LONG)
    assert "limits" not in spec.content()
    assert spec.limit_shares.of_settings_pair(5) == LONG


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"limits": "nodes=5"}, "limits = 'nodes=5', expected a list of different limits"),
        ({"limits": ["nodes=500", "nodes=500"]}, "expected a list of different limits"),
        ({"limits": ["nods=500"]}, "limits: limit 'nods=500': cannot read 'nods=500' (did you mean 'nodes'?)"),
        ({"limits": ["nodes=500"], "sampler": "tpe"}, "expected sampler = 'duel' with it"),
        ({"limit_shares": [1]}, "limit_shares = [1], expected none without limits"),
        ({"limits": ["nodes=500", "nodes=900"], "limit_shares": [1]}, "expected a list of 2 numbers above 0"),
        ({"limits": ["nodes=500", "nodes=900"], "limit_shares": [1, 0]}, "expected a list of 2 numbers above 0"),
        ({"limits": ["nodes=500", "nodes=900"], "limit_shares": [1, "a"]}, "expected a list of 2 numbers above 0"),
    ],
)
def test_mistakes_are_named(keys: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError) as error:
        study(**keys)
    assert str(error.value).startswith("several.toml: ")
    assert said in str(error.value)


# The model


def test_derivatives_are_those_of_finite_differences() -> None:
    generator = np.random.default_rng(5)
    points, log_limits = generator.random((6, 2)), np.array([0.0, -1.0, -2.8, 0.7, -0.3, -2.0])
    shape = HillOverLimits(SPACE, log_limits)
    mean, precision = shape.prior()
    assert precision.shape == (shape.terms, shape.terms)
    terms = mean + generator.normal(0, 0.05, shape.terms)
    elo, slopes = shape.elo_with_slopes(terms, points)
    for term in range(shape.terms):
        step = np.zeros(shape.terms)
        step[term] = 1e-5
        up, down = (shape.elo_with_slopes(terms + sign * step, points)[0] for sign in (1, -1))
        assert slopes[:, term] == pytest.approx((up - down) / 2e-5, rel=1e-4, abs=1e-5)
    target = shape.at_target.elo_with_slopes(terms[: shape.at_target.terms], points)[0]
    assert elo[0] == pytest.approx(target[0])
    assert abs(elo[2] - target[2]) > 0.1


@pytest.mark.integration
def test_the_maximum_is_carried_over_to_the_target() -> None:
    """The optimum moves by 0.06 of a range when the nodes are e times as many; nothing was played at the target."""
    generator, moved, there = np.random.default_rng(8), np.array([0.06, -0.04]), np.array([0.62, 0.41])

    def elo(values: tuple[int, ...], log_limit: float) -> float:
        apart = np.array(values) / 1000 - there - moved * log_limit
        return float(-150 * (apart * apart).sum())

    told, untold = Observations(SPACE), Observations(SPACE)
    for number in range(600):
        log_limit = math.log((1250, 5000)[number % 2] / 20_000)
        first, second = (tuple(int(value) for value in generator.integers(0, 1001, 2)) for _ in range(2))
        score = 1 / (1 + math.exp(-(elo(first, log_limit) - elo(second, log_limit)) / NATURAL_TO_ELO))
        told.add_score(first, second, 100, score, log_limit)
        untold.add_score(first, second, 100, score)
    found = [maximum(fit(one), one.trust_region(), [SPACE.default_values]) for one in (told, untold)]
    distances = [np.abs(np.array(values, float) / 1000 - there).max() for values in found]
    assert distances[0] < 0.03
    assert distances[1] > 0.08


# A study


@pytest.mark.integration
def test_a_study_plays_at_its_limits_and_goes_on_after_a_stop(tmp_path: Path) -> None:
    path = tmp_path / "several.toml"
    path.write_text(
        'game = "othello"\nbudget = { games = 46 }\nlimit = "nodes=80"\nlimits = ["nodes=20", "nodes=40"]\n'
        'limit_shares = [2, 1]\nparameters = ["history_weight", "aspiration_window"]\nround_pairs = 6\n'
        '[set]\nhash_mb = 1\n[validation]\nmaximum_pairs = 2\nslow = "off"\n'
    )
    spec = load_tuning(path)
    whole = tune(spec, tmp_path / "whole", stream=io.StringIO())
    with Store(tmp_path / "whole", read_only=True) as store:
        details = [(record.pairing, record.detail) for record in store.iterate()]
    by_series = {series: Counter(detail["limit"] for place, detail in details if place.series == series and detail)
                 for series in ("", "playoff")}  # fmt: skip
    assert set(by_series[""]) == {"nodes=20", "nodes=40"}
    assert by_series[""]["nodes=20"] == pytest.approx(2 * by_series[""]["nodes=40"], abs=6)
    assert set(by_series["playoff"]) <= {"nodes=80"}
    stopped = tune(spec, tmp_path / "stopped", stream=io.StringIO(), stop=CountingStop(9))
    assert stopped.interrupted
    again = tune(spec, tmp_path / "stopped", stream=io.StringIO(), concurrency=2)
    assert (again.digest, again.rounds, again.decision) == (whole.digest, whole.rounds, whole.decision)
    words = (limit_words(spec, Catalogue(MESSAGES, language)) for language in ("en", "zh"))
    assert next(words) == "nodes=80; games of the rounds: 66.7 % at nodes=20, 33.3 % at nodes=40"
    assert "33.3 % 为 nodes=40" in next(words)
