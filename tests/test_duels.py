"""The duel method as functions: draws, schedule, walk, response model, playoff, on landscapes that are known."""

from __future__ import annotations

import hashlib
import math
import random

import numpy as np
import pytest

from arena.statistics import Pentanomial
from engine.parameters import Value
from tuning.duels import Schedule, Walk, draws, pairs_of_a_duel, tail_average
from tuning.playoff import decide, pairings
from tuning.response import Evidence, ResponseModel, expected_remaining_gain, fit, importances, maximum
from tuning.space import Dimension, Space

Values = tuple[Value, ...]

SPACE = Space(
    (Dimension("fine", 0, 1000), Dimension("coarse", 1, 9), Dimension("kind", choices=("a", "b", "c"))),
    (("fine", 200), ("coarse", 7), ("kind", "a")),
    external=True,
)
OPTIMUM = (600, 4, "b")


def truth(values: Values) -> float:
    """Elo of a set; 0 at the optimum, about -75 at the base."""
    fine, coarse = (float(value) for value in values[:2])
    return -300 * ((fine - 600) / 1000) ** 2 - 80 * ((coarse - 4) / 8) ** 2 - (0 if values[2] == "b" else 15)


def score_of(generator: random.Random, elo: float, pairs: int) -> float:
    """Mean score of pairs with 40 % draws at equality."""
    expected = 1 / (1 + 10 ** (-elo / 400))
    drawn = 0.4 * min(1.0, 2 * min(expected, 1 - expected))
    points = 0.0
    for _ in range(2 * pairs):
        throw = generator.random()
        points += 0.5 if throw < drawn else float(throw < drawn + expected - drawn / 2)
    return points / 2 / pairs


def walked(games: int, seed: int) -> tuple[Evidence, list[list[float]], Walk]:
    generator, evidence = random.Random(seed), Evidence(SPACE)
    walk = Walk(SPACE, Schedule(games // 2, 1), seed)
    centres = []
    for number in range(games // 2):
        duel = walk.lay_out(number)
        if duel.first != duel.second:
            score = score_of(generator, truth(duel.first) - truth(duel.second), 1)
            walk.learn(duel, score)
            evidence.add_score(duel.first, duel.second, 1, score)
        centres.append(list(walk.centre))
    return evidence, centres, walk


@pytest.fixture(scope="module")
def tuned() -> list[tuple[Evidence, ResponseModel, Values]]:
    """Four small tunings: results, model and its maximum."""
    found = []
    for seed in range(4):
        evidence, centres, _ = walked(1500, seed)
        model = fit(evidence, tail_average(centres))
        found.append((evidence, model, maximum(model, evidence.trust_region(), [SPACE.default_values])))
    return found


def test_draws_are_those_of_the_documented_hash() -> None:
    digest = hashlib.sha256(b"5:duel:7:1").digest()
    expected = int.from_bytes(digest[:8], "big") / 2**64
    assert draws(5, 7, 6)[4] == pytest.approx(expected, abs=1e-15)
    many = [draw for number in range(500) for draw in draws(1, number, 3)]
    assert abs(np.mean(many) - 0.5) < 0.03
    assert 0 <= min(many) < max(many) < 1


def test_the_schedule_is_spalls() -> None:
    schedule = Schedule(900, 1)
    assert schedule.perturbation(899) == pytest.approx(0.2)
    assert schedule.perturbation(0) / schedule.perturbation(899) == pytest.approx(900**0.101)
    gains = [schedule.step(number) * schedule.perturbation(number) for number in (0, 899)]
    assert gains[0] / gains[1] == pytest.approx((990 / 91) ** 0.602)
    assert gains[1] == pytest.approx(0.02 * math.sqrt(1000 / 1800) * 0.2**2)
    assert [pairs_of_a_duel(games) for games in (1000, 4000, 4001, 16_000, 10**6)] == [1, 1, 2, 4, 8]


def test_duels_lie_on_both_sides_of_the_centre() -> None:
    walk = Walk(SPACE, Schedule(400, 1, curvature_share=0.2), 3)
    walk.centre = [0.5, 0.5, 0.0]
    duels = [walk.lay_out(number) for number in range(400)]
    mirrored = [duel for duel in duels if duel.second[0] != 500]
    assert 40 < 400 - len(mirrored) < 120  # a fifth of them with the centre itself
    for duel in mirrored:
        assert float(duel.first[0]) + float(duel.second[0]) == pytest.approx(1000, abs=1)
    assert np.mean([float(duel.first[1]) for duel in duels]) == pytest.approx(5, abs=0.3)
    assert {duel.first[2] for duel in duels} == {"a", "b", "c"}


def test_the_centre_moves_towards_the_winner() -> None:
    for score, sign in ((1.0, 1), (0.0, -1)):
        walk = Walk(SPACE, Schedule(400, 1), 3)
        duel = next(one for one in map(walk.lay_out, range(400)) if one.first[2] != one.second[2])
        before = list(walk.centre)
        walk.learn(duel, score)
        for place in range(2):
            apart = float(duel.first[place]) - float(duel.second[place])
            assert (walk.centre[place] - before[place]) * apart * sign >= 0
        assert (walk.preferences[2]["abc".index(str(duel.first[2]))]) * sign > 0
        after = list(walk.centre)
        walk.learn(duel, 0.5)
        assert walk.centre == after


def test_the_walk_stays_in_the_ranges() -> None:
    walk = Walk(SPACE, Schedule(300, 8), 1)
    for number in range(300):
        duel = walk.lay_out(number)
        walk.learn(duel, 1.0 if float(duel.first[0]) > float(duel.second[0]) else 0.0)
        assert all(0 <= coordinate <= 1 for coordinate in walk.centre[:2])
        assert 0 <= float(duel.first[0]) <= 1000
    assert walk.centre[0] > 0.5


def test_a_tuning_finds_the_optimum_of_a_known_landscape(
    tuned: list[tuple[Evidence, ResponseModel, Values]],
) -> None:
    """The mean over seeds, a single one may be unlucky; 1500 games leave about a fifth of what the base loses."""
    regrets = [-truth(best) for _, _, best in tuned]
    assert np.mean(regrets) < -truth(SPACE.default_values) / 4
    assert max(regrets) < -truth(SPACE.default_values)


def test_the_interval_of_the_gain_holds_the_truth(tuned: list[tuple[Evidence, ResponseModel, Values]]) -> None:
    inside = 0
    for _, model, best in tuned:
        mean, deviation = model.difference(best, SPACE.default_values)
        inside += abs(mean - (truth(best) - truth(SPACE.default_values))) < 2.5 * deviation
    assert inside >= 3


def test_the_model_recovers_a_quadratic_from_many_results() -> None:
    evidence, generator = Evidence(SPACE), np.random.default_rng(2)
    for _ in range(600):
        sets = [(int(generator.integers(1001)), int(generator.integers(1, 10)), "abc"[generator.integers(3)])
                for _ in range(2)]  # fmt: skip
        expected = 1 / (1 + 10 ** (-(truth(sets[0]) - truth(sets[1])) / 400))
        evidence.add_score(sets[0], sets[1], 400, expected)
    model = fit(evidence)
    fine, coarse, kind = maximum(model, evidence.trust_region(), [SPACE.default_values])
    assert float(fine) == pytest.approx(600, abs=12)
    assert (coarse, kind) == (4, "b")
    mean, _ = model.difference(OPTIMUM, SPACE.default_values)
    assert mean == pytest.approx(-truth(SPACE.default_values), abs=2)


def test_importance_belongs_to_what_matters(tuned: list[tuple[Evidence, ResponseModel, Values]]) -> None:
    evidence, model, _ = tuned[0]
    shares = importances(model, evidence.trust_region())
    assert sum(shares.values()) == pytest.approx(1)
    assert next(iter(shares)) == "fine"


def test_little_remains_to_be_gained_after_many_games(tuned: list[tuple[Evidence, ResponseModel, Values]]) -> None:
    early, _, _ = walked(100, 0)
    start = fit(early)
    left = [
        expected_remaining_gain(model, evidence.trust_region(), maximum(model, evidence.trust_region(), [best]))
        for evidence, model, best in [(early, start, SPACE.default_values), tuned[0]]
    ]
    assert left[0] > left[1] > 0


def test_equal_results_are_not_counted_where_a_set_meets_itself() -> None:
    evidence = Evidence(SPACE)
    evidence.add(SPACE.default_values, SPACE.default_values, Pentanomial((1, 2, 3, 4, 5)))
    evidence.add(OPTIMUM, SPACE.default_values, Pentanomial((0, 0, 0, 0, 0)))
    assert len(evidence) == 0


# The playoff


def test_the_playoff_overrules_a_model_that_is_wrong(tuned: list[tuple[Evidence, ResponseModel, Values]]) -> None:
    _, model, best = tuned[0]
    finalists = [("model maximum", best), ("base", SPACE.default_values)]
    assert pairings(3) == [(0, 1), (0, 2), (1, 2)]
    believed = decide(model, finalists, {})
    assert believed.kind == "model maximum"
    assert believed.gain == pytest.approx(model.difference(best, SPACE.default_values)[0])
    refuted = decide(model, finalists, {(0, 1): (4000, 0.4)})
    assert refuted.kind == "base"
    assert refuted.gain == 0
    confirmed = decide(model, finalists, {(0, 1): (4000, 0.6)})
    assert confirmed.deviation < believed.deviation
    low, high = confirmed.interval()
    assert low < 400 * math.log10(0.6 / 0.4) < high
