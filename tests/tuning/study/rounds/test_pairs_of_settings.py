"""The sampler duel as functions: draws, schedule, walk, response model, playoff, on landscapes that are known."""

from __future__ import annotations

import hashlib
import json
import math
import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from elolab.arena.statistics.elo import Pentanomial
from elolab.engine.language import Catalogue
from elolab.engine.settings.parameters import Value
from elolab.tuning.reports.tuning_charts import slices_chart
from elolab.tuning.reports.tuning_report import optimism_sentence
from elolab.tuning.study.model.importance import importances, main_effect
from elolab.tuning.study.model.maxima import expected_remaining_gain, maximum
from elolab.tuning.study.model.observations import Observations
from elolab.tuning.study.model.posterior import fit
from elolab.tuning.study.model.response import ResponseModel
from elolab.tuning.study.playoff import Decision, decide
from elolab.tuning.study.result import StudyResult
from elolab.tuning.study.rounds.pairs_of_settings import (
    EXPLORING_FROM,
    EXPLORING_SHARE,
    Round,
    RoundDesign,
    SettingsPair,
    design_of,
    design_pair,
    draws,
    exploring_set,
    first_design,
    game_pairs_per_settings_pair,
    half_width,
    round_pairs,
)
from elolab.tuning.study.space import Dimension, Space
from elolab.tuning.study.study_spec import tuning_from_mapping

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


def played(games: int, seed: int) -> tuple[Observations, ResponseModel, Values]:
    """A small tuning: results, model and its maximum."""
    generator, observations = random.Random(seed), Observations(SPACE)
    design, model, best = first_design(SPACE), None, SPACE.default_values
    for number in range(games // 2):
        if number and number % 50 == 0:
            model = fit(observations)
            best = maximum(model, observations.trust_region(), [best])
            design = design_of(model, best)
        pair = design_pair(SPACE, seed, design, number, number)
        if pair.first != pair.second:
            score = score_of(generator, truth(pair.first) - truth(pair.second), 1)
            observations.add_score(pair.first, pair.second, 1, score)
    model = fit(observations)
    return observations, model, maximum(model, observations.trust_region(), [best])


@pytest.fixture(scope="module")
def studies() -> list[tuple[Observations, ResponseModel, Values]]:
    """Four small tunings."""
    return [played(1500, seed) for seed in range(4)]


def test_draws_are_those_of_the_documented_hash() -> None:
    digest = hashlib.sha256(b"5:duel:7:1").digest()
    expected = int.from_bytes(digest[:8], "big") / 2**64
    assert draws(5, 7, 6)[4] == pytest.approx(expected, abs=1e-15)
    many = [draw for number in range(500) for draw in draws(1, number, 3)]
    assert abs(np.mean(many) - 0.5) < 0.03
    assert 0 <= min(many) < max(many) < 1


def test_sets_lie_closer_the_more_was_played() -> None:
    assert half_width(399, 1000) == pytest.approx(0.19)
    assert half_width(6399, 1000) == pytest.approx(0.19 / 16 ** (1 / 6))
    assert half_width(399, 2000) == pytest.approx(0.19 / 2 ** (1 / 3))
    assert half_width(0, 10) == 0.35
    assert [game_pairs_per_settings_pair(games) for games in (1000, 4000, 4001, 16_000, 10**6)] == [1, 1, 2, 4, 8]


@pytest.mark.parametrize("centre", [500, 20, 1000])
def test_settings_pairs_lie_on_both_sides_of_a_point_near_the_centre(centre: int) -> None:
    design = RoundDesign((centre, 5, "a"), first_design(SPACE).meetings, (1000.0, 250.0))
    settings_pairs = [design_pair(SPACE, 3, design, number, 399) for number in range(400)]
    both = np.array([[float(pair.first[0]), float(pair.second[0])] for pair in settings_pairs])
    assert 150 < (both[:, 0] > both[:, 1]).sum() < 250
    assert np.abs(both.mean(axis=1) - centre).max() <= 191 * (0.6 if centre == 500 else 1.1)
    if centre == 500:
        assert {abs(one - other) for one, other in both} <= {379, 380, 381}
        assert np.std(both.mean(axis=1)) == pytest.approx(190 * 0.6 / math.sqrt(3), abs=8)
    else:  # near an end one of the sets is often at the end, and the middles still differ
        assert np.mean(np.abs(both - (0 if centre < 500 else 1000)).min(axis=1) == 0) > 0.5
        assert np.std(both.mean(axis=1)) > 10
    assert np.mean([float(pair.first[1]) for pair in settings_pairs]) == pytest.approx(5, abs=0.3)
    first = [design_pair(SPACE, 3, RoundDesign(design.centre, design.meetings), number, 399) for number in range(400)]
    assert np.std([(float(pair.first[0]) + float(pair.second[0])) / 2 for pair in first]) > np.std(both.mean(axis=1))


def test_some_settings_pairs_compare_the_centre_with_a_set_from_anywhere() -> None:
    design = RoundDesign((500, 5, "a"), first_design(SPACE).meetings, (1000.0, 250.0))
    assert {exploring_set(design, 3, number, EXPLORING_FROM - 1) for number in range(400)} == {None}
    first = RoundDesign(design.centre, design.meetings)
    assert {exploring_set(first, 3, number, EXPLORING_FROM) for number in range(400)} == {None}
    found = {number: which for number in range(400) if (which := exploring_set(design, 3, number, 600)) is not None}
    assert len(found) / 400 == pytest.approx(EXPLORING_SHARE, abs=0.04)
    far = []
    for number, which in found.items():
        pair = design_pair(SPACE, 3, design, number, EXPLORING_FROM)
        sets = [float(pair.first[0]), float(pair.second[0])]
        far.append(sets[which])
        assert abs(sets[1 - which] - 500) < 120
    assert min(far) < 100
    assert max(far) > 900
    recorded = json.loads(json.dumps(design.plain()))
    assert RoundDesign.from_plain(design.centre, recorded) == design
    assert RoundDesign.from_plain(design.centre, [*recorded, "of an older version"]) == design


def test_a_finished_round_has_the_pairs_that_it_played() -> None:
    """An older version may have laid them out otherwise."""
    played = [[list(OPTIMUM), list(SPACE.default_values)], [list(SPACE.default_values), list(OPTIMUM)]]
    found = round_pairs(SPACE, 3, OPTIMUM, {"played": played}, Round(4, 20, 2, 3, 60))
    assert [one.settings for one in found] == [
        SettingsPair(20, OPTIMUM, SPACE.default_values), SettingsPair(21, SPACE.default_values, OPTIMUM),
    ]  # fmt: skip
    assert [(one.first_pair, one.pairs, one.round) for one in found] == [(60, 3, 4), (63, 3, 4)]


def test_sets_differ_where_values_are_few() -> None:
    space = Space((Dimension("coarse", 1, 3), Dimension("other", 0, 1)), (("coarse", 2), ("other", 0)), external=True)
    design = RoundDesign((2, 0), (), (1000.0, 1000.0))
    settings_pairs = [design_pair(space, 3, design, number, 10**6) for number in range(300)]
    assert all(pair.first != pair.second for pair in settings_pairs)
    assert {pair.first for pair in settings_pairs} == {(one, other) for one in (1, 2, 3) for other in (0, 1)}


def test_every_choice_meets_every_other_at_first() -> None:
    settings_pairs = [design_pair(SPACE, 3, first_design(SPACE), number, number) for number in range(600)]
    counts = Counter((pair.first[2], pair.second[2]) for pair in settings_pairs)
    assert set(counts) == {(one, other) for one in "abc" for other in "abc" if one != other}
    assert min(counts.values()) > 60


@pytest.mark.integration
def test_choices_that_may_be_the_best_meet_most(studies: list[tuple[Observations, ResponseModel, Values]]) -> None:
    _, model, best = studies[0]
    effects = model.effects(2)
    shares = {
        (one, other): share
        for one, row in zip("abc", design_of(model, best).meetings[0], strict=True)
        for other, share in zip("abc", row, strict=True)
    }
    assert sum(shares.values()) == pytest.approx(1, abs=0.01)
    assert all(shares[one, other] == shares[other, one] for one, other in shares)
    assert all(shares[one, one] == 0 for one in "abc")
    assert all(share >= 0.05 / 6 - 1e-4 for (one, other), share in shares.items() if one != other)
    # By hand: the best of one draw against the best of the others of an independent one.
    expected = 0.0
    for one in range(3):
        rest = effects.copy()
        rest[:, one] = -np.inf
        is_best, is_next = effects.argmax(axis=1) == one, rest.argmax(axis=1)
        expected += is_best.mean() * float((is_next == 1).mean()) if one != 1 else is_best.mean()
    with_b = sum(share for (one, other), share in shares.items() if "b" in (one, other))
    assert with_b == pytest.approx(0.95 * expected + 0.05 * 2 / 3, abs=0.001)


def test_a_base_beside_the_listed_values_is_brought_to_the_nearest() -> None:
    dimensions = (Dimension("coarse", 0, 100, step=10), Dimension("kind", choices=("a", "b")))
    space = Space(dimensions, (("coarse", 57), ("kind", "c")), external=True)
    assert first_design(space).centre == (60, "a")


@pytest.mark.integration
def test_a_design_survives_as_plain_data(studies: list[tuple[Observations, ResponseModel, Values]]) -> None:
    _, model, best = studies[0]
    design = design_of(model, best)
    assert RoundDesign.from_plain(best, json.loads(json.dumps(design.plain()))) == design


@pytest.mark.integration
def test_a_tuning_finds_the_optimum_of_a_known_landscape(
    studies: list[tuple[Observations, ResponseModel, Values]],
) -> None:
    """The mean over seeds, a single one may be unlucky; 1500 games leave about a fifth of what the base loses."""
    regrets = [-truth(best) for _, _, best in studies]
    assert np.mean(regrets) < -truth(SPACE.default_values) / 4
    assert max(regrets) < -truth(SPACE.default_values)


@pytest.mark.integration
def test_the_interval_of_the_gain_holds_the_truth(studies: list[tuple[Observations, ResponseModel, Values]]) -> None:
    inside = 0
    for _, model, best in studies:
        mean, deviation = model.difference(best, SPACE.default_values)
        inside += abs(mean - (truth(best) - truth(SPACE.default_values))) < 2.5 * deviation
    assert inside >= 3


def test_the_model_recovers_a_quadratic_from_many_results() -> None:
    observations, generator = Observations(SPACE), np.random.default_rng(2)
    for _ in range(600):
        sets = [(int(generator.integers(1001)), int(generator.integers(1, 10)), "abc"[generator.integers(3)])
                for _ in range(2)]  # fmt: skip
        expected = 1 / (1 + 10 ** (-(truth(sets[0]) - truth(sets[1])) / 400))
        observations.add_score(sets[0], sets[1], 400, expected)
    model = fit(observations)
    fine, coarse, kind = maximum(model, observations.trust_region(), [SPACE.default_values])
    assert float(fine) == pytest.approx(600, abs=12)
    assert (coarse, kind) == (4, "b")
    mean, _ = model.difference(OPTIMUM, SPACE.default_values)
    assert mean == pytest.approx(-truth(SPACE.default_values), abs=2)


@pytest.mark.integration
def test_importance_belongs_to_what_matters(studies: list[tuple[Observations, ResponseModel, Values]]) -> None:
    observations, model, _ = studies[0]
    shares = importances(model, observations.trust_region())
    assert sum(shares.values()) == pytest.approx(1)
    assert next(iter(shares)) == "fine"


@pytest.mark.integration
def test_little_remains_to_be_gained_after_many_games(
    studies: list[tuple[Observations, ResponseModel, Values]],
) -> None:
    left = [
        expected_remaining_gain(model, observations.trust_region(), best)
        for observations, model, best in [played(100, 0), studies[0]]
    ]
    assert left[0] > left[1] > 0


def test_equal_results_are_not_counted_where_a_set_meets_itself() -> None:
    observations = Observations(SPACE)
    observations.add(SPACE.default_values, SPACE.default_values, Pentanomial((1, 2, 3, 4, 5)))
    observations.add(OPTIMUM, SPACE.default_values, Pentanomial((0, 0, 0, 0, 0)))
    assert len(observations) == 0


# The playoff


@pytest.mark.integration
def test_the_playoff_overrules_a_model_that_is_wrong(studies: list[tuple[Observations, ResponseModel, Values]]) -> None:
    _, model, best = studies[0]
    believed = decide(model, best)
    assert (believed.values, believed.is_base) == (best, False)
    assert believed.gain == believed.believed == pytest.approx(model.difference(best, SPACE.default_values)[0])
    refuted = decide(model, best, 4000, 0.4)
    assert (refuted.values, refuted.is_base, refuted.gain) == (SPACE.default_values, True, 0)
    assert refuted.believed == believed.gain
    confirmed = decide(model, best, 4000, 0.6)
    assert confirmed.deviation < believed.deviation
    low, high = confirmed.interval()
    assert low < 400 * math.log10(0.6 / 0.4) < high
    assert decide(model, SPACE.default_values).is_base


@pytest.mark.integration
@pytest.mark.parametrize(
    ("score", "said"),
    [
        (0.6, "The model's maximum won the playoff of 50 pairs against the base with 60.0 % (+70.4 Elo"),
        (0.4, "The base won the playoff of 50 pairs: the model's maximum scored 40.0 % (\N{MINUS SIGN}"),
        (0.5, "The playoff of 50 pairs between the model's maximum and the base ended even (0.0 Elo"),
    ],
)
def test_a_study_says_who_won_the_playoff(
    studies: list[tuple[Observations, ResponseModel, Values]], score: float, said: str
) -> None:
    _, model, best = studies[0]
    spec = tuning_from_mapping(
        {"limit": "nodes=100", "budget": {"games": 400}, "parameters": ["null_depth"]}, "study.toml"
    )
    decision = decide(model, best, 50, score)
    assert decision.score == score
    sentence = optimism_sentence(StudyResult(spec, Path(), (), 1, 400, decision=decision))
    assert said in " ".join(sentence.split())


def test_a_dimension_that_games_say_little_of_is_not_pushed_to_an_end() -> None:
    """Every settings pair here has the same middle, so that its slope fits any curvature."""
    observations = Observations(SPACE)
    for low, high in ((250, 750), (300, 700)):
        for first, second in (((low, 4, "b"), (high, 4, "b")), ((high, 4, "b"), (low, 4, "b"))):
            expected = 1 / (1 + 10 ** (-(truth(first) - truth(second)) / 400))
            observations.add_score(first, second, 300, expected)
    place = float(maximum(fit(observations), (np.zeros(3), np.ones(3)), [SPACE.default_values])[0])
    assert 400 < place < 900


def test_a_steeper_slope_on_one_side_does_not_move_the_summit() -> None:
    """Wide settings pairs alone show a mean slope, which is not that at the maximum."""
    observations, generator = Observations(SPACE), np.random.default_rng(4)

    def skewed(values: Values) -> float:
        apart = (float(values[0]) - 600) / 1000
        return -600 * apart * apart * (1.35 if apart > 0 else 0.75)

    for _ in range(400):
        sets = [(int(generator.integers(200, 1001)), 4, "b") for _ in range(2)]
        expected = 1 / (1 + 10 ** (-(skewed(sets[0]) - skewed(sets[1])) / 400))
        observations.add_score(sets[0], sets[1], 100, expected)
    model = fit(observations)
    assert float(maximum(model, observations.trust_region(), [SPACE.default_values])[0]) == pytest.approx(600, abs=20)
    for there in (300, 900):
        mean, _ = model.mode.difference((there, 4, "b"), (600, 4, "b"))
        assert mean == pytest.approx(skewed((there, 4, "b")), abs=4)


@pytest.mark.integration
def test_a_slice_shows_no_effect_of_what_the_recommendation_has_switched_off() -> None:
    study = {"limit": "nodes=100", "budget": {"games": 400}, "parameters": ["null_move", "null_depth"]}
    spec = tuning_from_mapping(study, "study.toml")
    generator, observations = random.Random(1), Observations(spec.space)
    for _ in range(200):
        first, second = ((True, generator.randint(1, 6)) for _ in range(2))
        if first != second:
            observations.add_score(first, second, 1, score_of(generator, 40 * (first[1] - second[1]), 1))
    heights = {}
    for is_on in (True, False):
        values = spec.space.effective_values((is_on, 4))
        decision = Decision(values, is_base=False, gain=10, deviation=5, believed=10, pairs=0)
        studies = StudyResult(
            spec, Path(), (), 1, 400, decision=decision, model=fit(observations), observations=observations
        )
        line = slices_chart(studies, Catalogue("elolab.tuning.reports")).axes[1].lines[0]
        heights[is_on] = np.ptp(np.asarray(line.get_ydata(), float))
    assert heights[True] > 20
    assert heights[False] == 0


def test_a_main_effect_is_less_by_what_chance_leaves_between_slices() -> None:
    """By hand: means of 1 and 5 have the variance 4; of that of all four, 5, chance leaves a quarter between two."""
    coordinates = np.array([0.0, 0.0, 1.0, 1.0])
    assert main_effect(coordinates, np.array([0.0, 2.0, 4.0, 6.0])) == pytest.approx(4 - 5 / 4)
    assert main_effect(coordinates, np.array([0.0, 6.0, 2.0, 4.0])) == 0
    # Twenty values in four slices of five: groups (0..4), (5..9), (10..14), (15..19).
    values = np.arange(20.0)
    between, total = np.var([2, 7, 12, 17]), np.var(values)
    assert main_effect(np.repeat(np.arange(4.0), 5), values) == pytest.approx(between - total * 3 / 20)
