"""Verdicts, allocation of games, factorial designs: bounds by the literature and by simulation, Holm, contrasts."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest
from scipy import optimize, stats

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks"))

from allocation_simulation import beside_equal_split, false_difference_rate, simulated_pairs

from elolab.arena.statistics.elo import Pentanomial, elo_of_score, score_of_elo
from elolab.tuning.ablation.allocation import Allocation
from elolab.tuning.ablation.comparison_verdicts import (
    BETTER,
    EQUIVALENT,
    UNDECIDED,
    WORSE,
    EffectEstimate,
    Question,
    VerdictRule,
    analyses_of,
    can_decide,
    critical_values,
    detectable_elo,
    estimate_in_elo,
    judged,
    match_elo_estimate,
    match_estimate,
    min_pairs,
    pairs_for_equivalence,
    pairs_still_needed,
    pairs_to_decide,
    simultaneous_interval,
)
from elolab.tuning.ablation.factorial import GENERATORS, combination_weights, contrast_estimate, design_of
from elolab.tuning.ablation.rows import judgements_of

# Bounds


def test_bounds_are_those_of_the_literature() -> None:
    """Lan and DeMets' bounds for O'Brien and Fleming's spending, two-sided 5 %, five equal analyses."""
    published = (4.8769, 3.3569, 2.6803, 2.2898, 2.0310)
    assert critical_values((1, 2, 3, 4, 5), 0.025) == pytest.approx(published, abs=2e-3)
    assert critical_values((7,), 0.025) == pytest.approx((1.959964,), abs=1e-6)


@pytest.mark.parametrize(
    ("analyses", "error"), [((10, 20, 30, 40), 0.05), ((5, 6, 30, 100), 0.01), ((1, 9, 10), 0.025)]
)
def test_the_chance_of_passing_any_bound_is_the_error(analyses: tuple[int, ...], error: float) -> None:
    generator = np.random.default_rng(5)
    steps = np.diff(np.array([0, *analyses]))
    sums = np.cumsum(generator.normal(size=(200_000, len(analyses))) * np.sqrt(steps), axis=1)
    passed = (sums / np.sqrt(analyses) >= np.array(critical_values(analyses, error))).any(axis=1).mean()
    assert passed == pytest.approx(error, abs=3 * math.sqrt(error / 200_000))


def test_bounds_are_stricter_for_a_smaller_error() -> None:
    analyses = analyses_of(200, 10)
    for strict, mild in ((0.001, 0.002), (0.0125, 0.025)):
        strict_bounds, mild_bounds = critical_values(analyses, strict), critical_values(analyses, mild)
        assert all(one >= other for one, other in zip(strict_bounds, mild_bounds, strict=True))


def test_analyses_are_spread_evenly_and_end_with_the_last_pair() -> None:
    assert analyses_of(100, 4) == (25, 50, 75, 100)
    assert analyses_of(3, 10) == (1, 2, 3)
    assert analyses_of(7, 1) == (7,)


# Evidence


@pytest.mark.parametrize("degrees", [4, 9, 30, 500])
@pytest.mark.parametrize("distance", [-3.0, -0.5, 0.0, 1.0, 2.5, 6.0])
def test_deviates_are_as_unlikely_as_students(degrees: int, distance: float) -> None:
    estimate = EffectEstimate(distance, 1.0, degrees, 0.0, -1.0, 1.0)
    exact = NormalDist().inv_cdf(float(stats.t.cdf(distance, degrees)))
    assert estimate.deviations_from(0.0) == pytest.approx(exact, abs=0.03)


def test_the_interval_is_the_inverse_of_the_deviate() -> None:
    estimate = EffectEstimate(0.55, 0.02, 12, 0.5, 0.49, 0.51)
    low, high = estimate.interval(2.4)
    assert estimate.deviations_from(low) == pytest.approx(2.4)
    assert estimate.deviations_from(high) == pytest.approx(-2.4)


def test_settings_that_never_differed_are_not_equivalent_at_once() -> None:
    """VerdictRule of three: so many even pairs leave room for as many others as would make up the margin."""
    for pairs, verdict in ((60, UNDECIDED), (150, UNDECIDED), (400, EQUIVALENT)):
        seen = Question(match_estimate(Pentanomial((0, 0, pairs, 0, 0)), 5.0), (pairs,), 1)
        assert judged([seen], VerdictRule()) == (verdict,)
        unseen = 1 - 0.025 ** (1 / pairs)
        assert (score_of_elo(5.0) - 0.5 > unseen / 2) == (verdict == EQUIVALENT)


def test_a_match_won_outright_has_a_finite_error() -> None:
    estimate = match_estimate(Pentanomial((0, 0, 0, 0, 8)), 5.0)
    assert estimate.value == 1
    assert 0 < estimate.error < 0.1
    assert math.isinf(match_estimate(Pentanomial((0, 0, 1, 0, 0)), 5.0).error)


def test_the_error_of_a_match_is_that_of_the_mean_with_two_outcomes_more() -> None:
    """scipy's standard error of the mean, but for one pair won and one lost outright in the sum of squares."""
    counts = (1, 3, 9, 4, 2)
    scores = np.repeat(np.linspace(0, 1, 5), counts)
    estimate = match_estimate(Pentanomial(counts), 5.0)
    assert estimate.value == pytest.approx(scores.mean())
    assert estimate.error**2 == pytest.approx(stats.sem(scores) ** 2 + 0.5 / 18 / 19)
    assert estimate.degrees == 18


# Verdicts


def question(elo: float, error: float, verdict: str = UNDECIDED) -> Question:
    return Question(estimate_in_elo(elo, error, 10_000, 5.0), (10_000,), 1, verdict)


@pytest.mark.parametrize(
    ("elo", "error", "verdict"),
    [(30, 5, BETTER), (-30, 5, WORSE), (0, 1, EQUIVALENT), (2, 1, EQUIVALENT), (5, 10, UNDECIDED), (8, 1, BETTER)],
)
def test_a_single_verdict(elo: float, error: float, verdict: str) -> None:
    assert judged([question(elo, error)], VerdictRule()) == (verdict,)


def test_without_a_margin_nothing_is_equivalent() -> None:
    assert judged([question(0, 0.001)], VerdictRule(margin_elo=0)) == (UNDECIDED,)


def test_a_difference_makes_the_next_easier_but_an_equivalence_does_not() -> None:
    middling = question(22, 10)  # 2.2 standard errors: enough for one question, too few for two
    assert judged([middling], VerdictRule()) == (BETTER,)
    assert judged([middling, question(5, 10)], VerdictRule()) == (UNDECIDED, UNDECIDED)
    assert judged([middling, question(50, 10)], VerdictRule()) == (BETTER, BETTER)
    assert judged([middling, question(0, 1)], VerdictRule()) == (UNDECIDED, EQUIVALENT)


def test_a_difference_does_not_make_an_equivalence_easier_either() -> None:
    near = question(0, 5 / 2.5)  # 2.5 standard errors from both margins: enough for one question, too few for five
    assert judged([near], VerdictRule()) == (EQUIVALENT,)
    found = judged([near, *[question(500, 10)] * 4], VerdictRule())
    assert found == (UNDECIDED, *[BETTER] * 4)


def test_verdicts_stay() -> None:
    assert judged([question(0, 100, WORSE)], VerdictRule()) == (WORSE,)


def test_before_the_first_analysis_nothing_is_decided() -> None:
    unseen = Question(estimate_in_elo(100, 1, 100, 5.0), (10, 20), 0)
    assert judged([unseen], VerdictRule()) == (UNDECIDED,)
    assert simultaneous_interval(unseen, 1, VerdictRule()) == (-math.inf, math.inf)
    assert pairs_still_needed(unseen, 1, VerdictRule()) is None


def test_the_simultaneous_interval_excludes_nothing_just_when_the_first_verdict_falls() -> None:
    for elo in np.linspace(20, 40, 21):
        asked = question(float(elo), 10)
        low, _ = simultaneous_interval(asked, 5, VerdictRule())
        others = [question(5, 10)] * 4
        assert (low > 0) == (judged([asked, *others], VerdictRule())[0] == BETTER)


# Planning


def test_the_games_said_to_be_needed_have_the_power() -> None:
    """Matches of as many pairs as said to find their difference find it in about 80 % of cases."""
    rule = VerdictRule(margin_elo=0, rounds=1)
    generator = np.random.default_rng(7)
    sample = simulated_pairs([40.0], 20_000, generator)[0]
    pairs = pairs_to_decide(elo_of_score(float(sample.mean()) / 4), 3, rule, float(sample.std()) / 4)
    found = 0
    for _ in range(400):
        counts = np.bincount(generator.choice(sample, pairs), minlength=5)
        estimate = match_estimate(Pentanomial(tuple(map(int, counts))), 0)  # type: ignore[arg-type]
        found += judged([Question(estimate, (pairs,), 1)], VerdictRule(margin_elo=0, error_rate=0.05 / 3))[0] == BETTER
    assert 0.72 < found / 400 < 0.88


def test_power_calculations_agree_with_each_other() -> None:
    rule = VerdictRule()
    pairs = pairs_to_decide(30, 10, rule)
    assert detectable_elo(pairs, 10, rule) == pytest.approx(30, rel=0.02)
    assert pairs_for_equivalence(10, rule) > pairs_to_decide(5, 10, rule)
    assert pairs_to_decide(30, 20, rule) > pairs
    least = min_pairs(10, rule)
    assert can_decide(least, 10, rule)
    assert not can_decide(least - 1, 10, rule)


def test_an_open_question_says_what_it_would_need() -> None:
    rule = VerdictRule()
    halfway = Question(EffectEstimate(score_of_elo(15), 0.015, 399, 0.5, score_of_elo(-5), score_of_elo(5)), (400,), 1)
    needed = pairs_still_needed(halfway, 4, rule)
    assert needed is not None
    total = needed + 400
    level = NormalDist().inv_cdf(1 - 0.05 / 4 / 2) + NormalDist().inv_cdf(0.8)
    assert total == pytest.approx((level * 0.015 * 20 / (score_of_elo(15) - 0.5)) ** 2, rel=0.01)


def test_at_an_interim_analysis_it_needs_what_is_left_by_the_final_bound() -> None:
    """By what pairs vary like so far, not as if all planned ones had been played."""
    estimate = EffectEstimate(score_of_elo(15), 0.015, 99, 0.5, score_of_elo(-5), score_of_elo(5))
    needed = pairs_still_needed(Question(estimate, (100, 200, 400), 1), 4, VerdictRule())
    level = critical_values((100, 200, 400), 0.05 / 4 / 2)[-1] + NormalDist().inv_cdf(0.8)
    assert needed == math.ceil((level * 0.015 * 10 / (score_of_elo(15) - 0.5)) ** 2) - 100


def test_judgements_are_in_elo_and_of_all_questions_together() -> None:
    """Of the middle one of three questions; bounds by scipy's multivariate normal distribution, needs by hand."""
    outcomes = np.array([[2, 3, 1, 2, 2, 3] * 20] * 3)
    allocation = allocate(outcomes, VerdictRule(margin_elo=20.0, rounds=2), 3 * 60)
    assert allocation.pairs == [60] * 3
    judgement = judgements_of(allocation)[1]
    rate = 0.05 / 3 / 2
    first = stats.norm.isf(2 * stats.norm.sf(stats.norm.isf(rate / 2) * math.sqrt(2)))
    within = stats.multivariate_normal([0, 0], [[1, math.sqrt(0.5)], [math.sqrt(0.5), 1]])
    final = optimize.brentq(lambda bound: 1 - within.cdf([first, bound]) - rate, 1, 5, xtol=1e-4)
    scores = np.repeat([0.25, 0.5, 0.75], [10, 30, 20])
    error = math.sqrt(stats.sem(scores) ** 2 + 0.5 / 59 / 60)
    reach = error * stats.t.isf(stats.norm.sf(first), 59)
    bounds = [elo_of_score(float(scores.mean()) + side * reach) for side in (-1, 1)]
    assert (judgement.simultaneous_low, judgement.simultaneous_high) == pytest.approx(bounds, rel=0.02)
    assert judgement.verdict == UNDECIDED
    distance = scores.mean() - 0.5
    assert distance > score_of_elo(20.0) - scores.mean()
    pairs = ((final + stats.norm.ppf(0.8)) * error * math.sqrt(60) / distance) ** 2 - 60
    assert judgement.games_needed == pytest.approx(2 * pairs, rel=0.02)


def test_matches_that_cancel_each_other_would_need_no_number_of_games() -> None:
    """Of eight combinations those that differ only in the first factor play alike: rounding makes no effect of it."""
    design, alike = design_of(3), np.array([[0.25, 0.5, 0.0], [1.0, 0.25, 0.75], [0.75, 0.5, 0.25]])
    scores = np.array([[0.5] * 3 if variant[1:] == (-1, -1) else alike[2 * (variant[1] > 0) + (variant[2] > 0) - 1]
                       for variant, _ in design.matches])  # fmt: skip
    for effect in design.effects:
        estimate = contrast_estimate(effect.weights, scores, 0.0)
        needed = pairs_still_needed(Question(estimate, (3,), 1), 6, VerdictRule(margin_elo=0))
        assert (needed is None) == (0 in effect.factors)


@pytest.mark.parametrize(
    ("pairs", "shares"),
    [(40, (0.0, 0.1, 0.3, 0.3, 0.3)), (100, (0.01, 0.02, 0.07, 0.2, 0.7)), (40, (0.15, 0.1, 0.2, 0.25, 0.3)),
     (250, (0.0, 0.01, 0.04, 0.15, 0.8)), (10, (0.1, 0.2, 0.4, 0.2, 0.1))],
)  # fmt: skip
def test_intervals_of_a_fixed_length_hold_the_true_elo(pairs: int, shares: tuple[float, ...]) -> None:
    truth = elo_of_score(sum(share * place / 4 for place, share in enumerate(shares)))
    runs, bound = 1500, NormalDist().inv_cdf(0.975)
    samples = np.random.default_rng(8).multinomial(pairs, shares, runs)
    estimates = [match_elo_estimate(Pentanomial(tuple(map(int, sample))), 5.0) for sample in samples]
    held = sum(low <= truth <= high for low, high in (one.interval(bound) for one in estimates)) / runs
    assert held > 0.95 - 3 * math.sqrt(0.05 * 0.95 / runs)
    values = np.array([one.value for one in estimates])
    assert abs(values.mean() - truth) < values.std() * 0.1  # all but unbiased


def test_a_match_of_a_fixed_length_has_a_finite_interval_however_it_ended() -> None:
    bound = NormalDist().inv_cdf(0.975)
    for pairs in (2, 10, 100, 1000):
        low, high = match_elo_estimate(Pentanomial((0, 0, 0, 0, pairs)), 5.0).interval(bound)
        lost = match_elo_estimate(Pentanomial((pairs, 0, 0, 0, 0)), 5.0).interval(bound)
        assert math.isfinite(low)
        assert math.isfinite(high)
        assert lost == pytest.approx((-high, -low))
        assert low < elo_of_score(stats.beta.ppf(0.5, pairs, 1)) < high
    assert match_elo_estimate(Pentanomial((0, 0, 0, 0, 100)), 5.0).interval(bound)[0] > 200
    assert math.isinf(match_elo_estimate(Pentanomial((0, 0, 0, 0, 1)), 5.0).error)
    # Near the middle it is the usual one.
    counts = Pentanomial((30, 90, 260, 80, 40))
    usual = [elo_of_score(end) for end in match_estimate(counts, 5.0).interval(bound)]
    assert match_elo_estimate(counts, 5.0).interval(bound) == pytest.approx(usual, abs=0.2)


# Allocation


def allocate(outcomes: np.ndarray, rule: VerdictRule, max_pairs: int | None = None) -> Allocation:
    def question(match: int) -> Question:
        def estimate_after(pairs: int) -> EffectEstimate:
            counts = Pentanomial(tuple(np.bincount(outcomes[match, :pairs], minlength=5)))
            return match_estimate(counts, rule.margin_elo)

        return Question.about((match,), estimate_after, outcomes.shape[1], rule)

    questions = [question(match) for match in range(len(outcomes))]
    allocation = Allocation([outcomes.shape[1]] * len(outcomes), questions, rule, max_pairs)
    while (wanted := allocation.next_pairs()) is not None:
        allocation.analyse(wanted)
    return allocation


def test_games_go_where_the_verdict_is_open() -> None:
    outcomes = simulated_pairs([-300, 60, 25], 400, np.random.default_rng(3))
    ended = allocate(outcomes, VerdictRule())
    assert ended.questions[0].verdict == WORSE
    assert ended.questions[1].verdict == BETTER
    assert ended.pairs[0] < ended.pairs[1] < ended.pairs[2]
    assert all(pairs in analyses_of(400, 10) for pairs in ended.pairs)


def test_what_cannot_be_decided_is_given_up() -> None:
    outcomes = simulated_pairs([0.0], 400, np.random.default_rng(11))
    ended = allocate(outcomes, VerdictRule())
    assert [question.is_given_up for question in ended.questions] == [True]
    assert ended.pairs[0] < 400
    assert allocate(outcomes, VerdictRule(rounds=1)).pairs == [400]


def test_the_most_of_all_together_is_kept() -> None:
    outcomes = simulated_pairs([10.0, 10.0, -10.0], 300, np.random.default_rng(4))
    assert sum(allocate(outcomes, VerdictRule(), 200).pairs) <= 200


def test_questions_that_share_matches_keep_them_going() -> None:
    seen: list[int] = []

    def settled(pairs: int) -> EffectEstimate:
        return estimate_in_elo(100.0, 1.0 if pairs else math.inf, 1000, 5.0)

    def open_to_the_end(pairs: int) -> EffectEstimate:
        seen.append(pairs)
        return estimate_in_elo(15.0, 50 / math.sqrt(pairs) if pairs else math.inf, 1000, 5.0)

    rule = VerdictRule(rounds=4)
    questions = [Question.about((0,), settled, 100, rule), Question.about((1, 2), open_to_the_end, 100, rule)]
    allocation = Allocation([100, 100, 100], questions, rule)
    while (wanted := allocation.next_pairs()) is not None:
        allocation.analyse(wanted)
    assert allocation.pairs[0] == 25
    assert allocation.pairs[1] == allocation.pairs[2] > 25
    assert sorted(set(seen)) == [0, *range(25, allocation.pairs[1] + 1, 25)]


def test_who_was_given_up_stays_so_with_the_pairs_of_then_though_a_match_of_it_goes_on() -> None:
    """Not even once another is decided, with whose share of the error it would have had a chance."""
    seen: list[int] = []

    def futile_at_first(pairs: int) -> EffectEstimate:
        seen.append(pairs)
        value, error = (8.0, 40.0) if pairs == 50 else (500.0, 1.0)
        return estimate_in_elo(value, error if pairs else math.inf, 1000, 5.0)

    def open_to_the_end(pairs: int) -> EffectEstimate:
        return estimate_in_elo(15.0, 50 / math.sqrt(pairs) if pairs else math.inf, 1000, 5.0)

    rule = VerdictRule(rounds=2)
    questions = [Question.about((0, 1), futile_at_first, 100, rule), Question.about((1,), open_to_the_end, 100, rule)]
    allocation = Allocation([100, 100], questions, rule)
    while (wanted := allocation.next_pairs()) is not None:
        allocation.analyse(wanted)
    assert allocation.pairs == [50, 100]
    assert set(seen) == {0, 50}
    assert (allocation.questions[0].verdict, allocation.questions[0].is_given_up) == (UNDECIDED, True)
    assert allocation.why_ended(0, 100) == "futility"


@pytest.mark.integration
def test_without_effects_false_differences_are_rare() -> None:
    """A small version of benchmarks/allocation_simulation.py; a large margin makes many equivalences."""
    runs = 400
    most = 0.05 + 2 * math.sqrt(0.05 * 0.95 / runs)
    assert false_difference_rate(runs, VerdictRule(rounds=4), comparisons=8, pairs=60) <= most
    assert false_difference_rate(runs, VerdictRule(margin_elo=60, rounds=4), comparisons=8, pairs=60) <= most


@pytest.mark.integration
def test_the_allocation_reaches_the_split_s_verdicts_with_fewer_games() -> None:
    found = beside_equal_split(12, VerdictRule())
    assert found.games <= 0.62
    assert found.same >= 0.95
    assert found.contradictions == 0


# Factorials


@pytest.mark.parametrize(("factors", "fraction"), [(2, 1), (3, 1), (4, 1), *GENERATORS])
def test_effects_are_found_where_strengths_add_up(factors: int, fraction: int) -> None:
    generator = np.random.default_rng(factors)
    design = design_of(factors, fraction)
    sizes = {effect.factors: float(generator.normal(0, 20)) for effect in design.effects}

    def strength(cell: Sequence[int]) -> float:
        return sum(size / 2 ** len(term) * math.prod(cell[factor] for factor in term) for term, size in sizes.items())

    shown = [strength(variant) - strength(reference) for variant, reference in design.matches]
    for effect in design.effects:
        found = sum(weight * elo for weight, elo in zip(effect.weights, shown, strict=True))
        assert found == pytest.approx(sizes[effect.factors], abs=1e-9)
    cells = {cell for match in design.matches for cell in match}
    assert len(cells) == 2**factors // fraction
    lowest = strength(min(cells))
    for cell in cells if fraction == 1 else ():
        above = sum(weight * elo for weight, elo in zip(combination_weights(design, cell), shown, strict=True))
        assert above == pytest.approx(strength(cell) - lowest, abs=1e-9)


def test_two_factors_are_played_along_the_sides_of_the_square() -> None:
    design = design_of(2)
    assert len(design.matches) == 4
    for variant, reference in design.matches:
        assert sum(one != other for one, other in zip(variant, reference, strict=True)) == 1
    interaction = next(effect for effect in design.effects if len(effect.factors) == 2)
    shown = {((1, -1), (-1, -1)): 10.0, ((1, 1), (-1, 1)): 50.0, ((-1, 1), (-1, -1)): 3.0, ((1, 1), (1, -1)): 43.0}
    assert sum(
        weight * shown[match] for weight, match in zip(interaction.weights, design.matches, strict=True)
    ) == pytest.approx(40)


def test_what_a_fraction_cannot_tell_apart_is_said() -> None:
    half = design_of(3, 2)
    assert {effect.factors: effect.aliases for effect in half.effects} == {
        (0,): (((1, 2), -1),), (1,): (((0, 2), -1),), (2,): (((0, 1), -1),),
    }  # fmt: skip
    # An interaction of +20 Elo between the first two, and nothing else, is seen as -10 of the third.
    shown = [5 * (one[0] * one[1] - other[0] * other[1]) for one, other in half.matches]
    seen = {
        effect.factors: sum(weight * elo for weight, elo in zip(effect.weights, shown, strict=True))
        for effect in half.effects
    }
    assert seen == {(0,): pytest.approx(0), (1,): pytest.approx(0), (2,): pytest.approx(-10)}
    assert all(not effect.aliases for effect in design_of(5, 2).effects)


def test_what_matches_share_is_not_counted_as_error() -> None:
    generator = np.random.default_rng(9)
    opening = generator.normal(0, 0.15, 4000)
    scores = np.clip(np.array([0.5 + opening + generator.normal(0, 0.1, 4000) for _ in range(2)]), 0, 1)
    apart, together = (contrast_estimate(weights, scores, 5.0) for weights in ((1.0, -1.0), (1.0, 1.0)))
    assert apart.error < together.error / 2
    slope = 400 / math.log(10) / 0.25
    assert apart.error == pytest.approx(slope * 0.1 * math.sqrt(2 / 4000), rel=0.05)


def test_a_contrast_of_matches_won_outright_is_finite() -> None:
    estimate = contrast_estimate((1.0, -1.0), np.array([[1.0] * 5, [0.0] * 5]), 5.0)
    assert math.isfinite(estimate.value)
    assert math.isfinite(estimate.error)
    assert math.isinf(contrast_estimate((1.0,), np.array([[1.0]]), 5.0).error)


def unequal_matches(pairs: Sequence[int], means: Sequence[float]) -> np.ndarray:
    """Scores of matches of different lengths over the same openings, shape (matches, pairs); NaN is not played."""
    generator = np.random.default_rng(4)
    scores = np.full((len(pairs), max(pairs)), math.nan)
    for row, count, mean in zip(scores, pairs, means, strict=True):
        row[:count] = generator.choice([0, 0.25, 0.5, 0.75, 1], count, p=stats.binom.pmf(range(5), 4, mean))
    return scores


@pytest.mark.parametrize("pairs", [(15, 60, 60, 60), (60, 15, 30, 45), (60, 60, 60, 60)])
def test_effects_use_every_pair_and_lie_between_their_parts(pairs: tuple[int, ...]) -> None:
    """Only openings that all matches had played counted: an effect of -97 stood beside rows of -55 and -92."""
    design, scores = design_of(2), unequal_matches(pairs, (0.42, 0.46, 0.36, 0.55))
    for effect in design.effects:
        weights = effect.weights_of(scores)
        found = contrast_estimate(weights, scores, 0.0)
        parts = [contrast_estimate(part, scores, 0.0) for part in effect.parts]
        assert min(part.value for part in parts) <= found.value <= max(part.value for part in parts)
        assert found.error <= min(part.error for part in parts) * (1 + 1e-9)
        for share in np.linspace(0, 1, 21):  # no other mean of the parts has a smaller error
            other = share * np.array(effect.parts[0]) + (1 - share) * np.array(effect.parts[1])
            assert found.error <= contrast_estimate(tuple(other), scores, 0.0).error * (1 + 1e-9)
        for place, weight in enumerate(weights):
            if weight:  # whatever pair changes, so does the effect
                changed = scores.copy()
                changed[place, pairs[place] - 1] = float(not changed[place, pairs[place] - 1])
                assert contrast_estimate(weights, changed, 0.0).value != found.value


def test_alike_matches_have_the_effect_of_each() -> None:
    scores = np.array([[0.0, 0.25, 0.5, 0.5], [0.0, 0.25, 0.5, 0.5]] * 2)
    main = design_of(2).effects[0]
    assert contrast_estimate(main.weights_of(scores), scores, 0.0).value == pytest.approx(elo_of_score(1.25 / 4))
