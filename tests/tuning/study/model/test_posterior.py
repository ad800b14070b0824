"""What the response model makes of landscapes that are not what it expects: corners, cliffs, nothing to gain, many."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from elolab.tuning.study.model.hill import Hill, HillOverLimits, levelled_off
from elolab.tuning.study.model.importance import importances
from elolab.tuning.study.model.maxima import expected_remaining_gain, maximum
from elolab.tuning.study.model.observations import Observations
from elolab.tuning.study.model.posterior import fit
from elolab.tuning.study.playoff import decide
from elolab.tuning.study.rounds.pairs_of_settings import design_of, design_pair, first_design
from elolab.tuning.study.space import Dimension, Space, Values

Truth = Callable[[np.ndarray], float]


def space_of(count: int, base: int) -> Space:
    """Ranges of 0 to 1000 with the same base."""
    dimensions = tuple(Dimension(f"number{place}", 0, 1000) for place in range(count))
    return Space(dimensions, tuple((one.name, base) for one in dimensions), external=True)


def played(space: Space, truth: Truth, rounds: int, pairs: int, each: int, seed: int = 1) -> Observations:
    """A tuning of some rounds on a landscape; every settings pair plays so many game pairs."""
    generator, observations = np.random.default_rng(seed), Observations(space)
    design, best = first_design(space), space.default_values
    for number in range(rounds * pairs):
        if number and number % pairs == 0:
            model = fit(observations)
            best = maximum(model, observations.trust_region(), [best])
            design = design_of(model, best)
        pair = design_pair(space, seed, design, number, number * each)
        one, other = (truth(np.array(values, float) / 1000) for values in (pair.first, pair.second))
        expected = 1 / (1 + 10 ** ((other - one) / 400))
        score = expected + generator.normal(0, 0.27) / math.sqrt(each)
        observations.add_score(pair.first, pair.second, each, min(max(score, 0.0), 1.0))
    return observations


def best_of(observations: Observations) -> Values:
    """The best set by the model of a study at its end."""
    model = fit(observations, is_last=True)
    return maximum(model, observations.trust_region(), [observations.space.default_values])


@pytest.mark.integration
def test_a_maximum_in_a_corner_is_found() -> None:
    def corner(place: np.ndarray) -> float:
        return float(-200 * place[0] ** 2 - 300 * (1 - place[1]) ** 2)

    best = best_of(played(space_of(2, 500), corner, rounds=6, pairs=60, each=4))
    assert corner(np.array(best, float) / 1000) > -4


@pytest.mark.integration
def test_the_higher_of_two_summits_is_found() -> None:
    def summits(place: np.ndarray) -> float:
        high, low = (500 * ((place - summit) ** 2).sum() for summit in (0.25, 0.7))
        return -float(min(high, low + 20))

    observations = played(space_of(3, 600), summits, rounds=8, pairs=60, each=8)
    model = fit(observations, is_last=True)
    assert model.two_hills is not None
    assert model.two_hills.probability > 0.99
    best = maximum(model, observations.trust_region(), [observations.space.default_values])
    assert summits(np.array(best, float) / 1000) > -6


@pytest.mark.parametrize("is_double", [False, True])
@pytest.mark.parametrize("limits", [1, 2])
def test_derivatives_of_hills_are_those_of_their_elo(is_double: bool, limits: int) -> None:
    generator, space = np.random.default_rng(1), space_of(3, 500)
    hill = Hill(space, is_double=is_double)
    if limits == 2:
        hill = HillOverLimits(space, generator.normal(size=8), is_double=is_double)
    terms = hill.prior()[0] + generator.normal(0, 0.2, hill.terms)
    points, step = generator.random((8, 3)), 1e-5
    elo, slopes = hill.elo_with_slopes(terms, points)
    moved = [hill.elo(terms + step * way, points) - hill.elo(terms - step * way, points) for way in np.eye(hill.terms)]
    assert slopes == pytest.approx(np.array(moved).T / (2 * step), abs=1e-4)
    assert elo == pytest.approx(hill.elo(terms, points))


def test_a_maximum_near_the_base_may_lie_farther_away_where_the_hill_is_flat() -> None:
    space = Space(
        (*(Dimension(name, 0, 1000) for name in ("steep", "gentle", "flat")), Dimension("mode", choices=("a", "b"))),
        (("steep", 200), ("gentle", 500), ("flat", 700), ("mode", "b")), external=True,
    )  # fmt: skip
    hill = Hill(space)
    mean, precision = hill.prior(np.log([1600.0, 100.0, 0.01]))
    assert mean[hill.maxima] == pytest.approx([0.2, 0.5, 0.7])
    assert np.sqrt(np.diag(np.linalg.inv(precision)))[hill.maxima] == pytest.approx([0.05, 0.2, 0.3])
    assert mean[hill.effects].tolist() == [-20, 0]


def test_a_hill_levels_off_at_the_largest_loss() -> None:
    """By a thousandth of the loss where it is a twentieth of the largest one, and to the largest one far away."""
    found, _, _ = levelled_off(np.array([0.0, 50.0, 1e7]), math.log(1000.0))
    assert found == pytest.approx([0.0, 50 * 1.0025**-0.5, 1000.0], rel=1e-6)


def test_results_from_far_down_do_not_make_slopes_gentle() -> None:
    """Expected scores of sets near the summit and from anywhere: the gain is that of the truth, here a tanh."""
    space, generator = space_of(3, 300), np.random.default_rng(1)

    def truth(place: np.ndarray) -> float:
        return float(-500 * math.tanh(2 * ((place - 0.6) ** 2).sum()))

    observations = Observations(space)
    for number in range(600):
        one = generator.uniform(0.45, 0.75, 3)
        other = generator.random(3) if number % 5 == 0 else generator.uniform(0.45, 0.75, 3)
        sets = [tuple(int(value) for value in np.round(1000 * place)) for place in (one, other)]
        elo = [truth(np.array(values, float) / 1000) for values in sets]
        observations.add_score(sets[0], sets[1], 4, 1 / (1 + 10 ** ((elo[1] - elo[0]) / 400)))
    gain = -truth(np.full(3, 0.3))
    assert fit(observations).difference((600, 600, 600), space.default_values)[0] == pytest.approx(gain, rel=0.03)


def test_little_is_lost_and_no_gain_is_claimed_where_there_is_nothing_to_gain() -> None:
    """The maximum is recommended unless its gain rounds to 0.0; the base is the best here, so it can only lose."""
    space, losses = space_of(3, 400), []

    def strength(place: np.ndarray) -> float:
        return float(-400 * ((place - 0.4) ** 2).sum())

    for seed in range(6):
        observations = played(space, strength, rounds=4, pairs=60, each=2, seed=seed)
        model = fit(observations, is_last=True)
        decision = decide(model, maximum(model, observations.trust_region(), [space.default_values]))
        low, high = decision.interval()
        assert decision.is_base or (decision.gain > 0 and low < 0 < high)
        losses.append(-strength(np.array(space.coordinates(decision.values))))
    assert max(losses) < 5
    assert sum(losses) / len(losses) < 2


def test_a_gain_is_recommended_where_there_is_one() -> None:
    observations = played(
        space_of(3, 100), lambda place: float(-400 * ((place - 0.5) ** 2).sum()), rounds=4, pairs=60, each=2
    )
    model = fit(observations, is_last=True)
    decision = decide(model, maximum(model, observations.trust_region(), [observations.space.default_values]))
    low, high = decision.interval()
    assert not decision.is_base
    assert low < 192 < high


@pytest.mark.parametrize("seed", [2, 7])
def test_few_games_of_many_ranges_do_not_make_the_base_the_best(seed: int) -> None:
    """Under a prior that is wide about every maximum alone, the base seems to be the best already."""
    generator = np.random.default_rng(seed)
    summit, weights = generator.uniform(0.25, 0.75, 10), np.exp(generator.normal(0, 0.7, 10))
    weights *= 60 / (weights * (summit - 0.5) ** 2).sum()
    observations = played(
        space_of(10, 500), lambda place: -float((weights * (place - summit) ** 2).sum()), rounds=4, pairs=100, each=1,
        seed=seed,
    )  # fmt: skip
    model = fit(observations, is_last=True)
    best = maximum(model, observations.trust_region(), [observations.space.default_values])
    assert (model.draws([best]) > 0).mean() > 0.8


@pytest.mark.integration
@pytest.mark.parametrize(("curvature", "wall"), [(600, 0.55), (1800, 0.6)])
def test_a_cliff_is_kept_away_from(curvature: float, wall: float) -> None:
    def cliff(place: np.ndarray) -> float:
        return float(-curvature / 2 * ((place - 0.5) ** 2).sum() - (120 if place[0] > wall else 0))

    best = best_of(played(space_of(2, 300), cliff, rounds=8, pairs=60, each=6))
    assert cliff(np.array(best, float) / 1000) > -4


@pytest.mark.integration
def test_sixty_parameters_are_fitted() -> None:
    """All figures are finite, and no more terms are fitted than a few to a parameter."""
    space = space_of(60, 300)
    observations = played(space, lambda place: float(-30 * ((place - 0.5) ** 2).sum()), rounds=1, pairs=300, each=4)
    model = fit(observations, is_last=True)
    best = maximum(model, observations.trust_region(), [space.default_values])
    assert all(map(math.isfinite, model.difference(best, space.default_values)))
    assert math.isfinite(expected_remaining_gain(model, observations.trust_region(), best))
    assert sum(importances(model, observations.trust_region()).values()) == pytest.approx(1)
    assert np.isfinite(design_of(model, best).curvatures).all()
