"""Effects after looks: median-unbiased against simulations, p-values against known tests, what is still needed."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from elolab.arena.statistics.elo import Pentanomial, score_of_elo
from elolab.tuning.ablation.comparison_verdicts import match_estimate, reach_of_t
from elolab.tuning.claims.look_results import LookResult, PlannedLooks
from elolab.tuning.claims.part_verdicts import OPEN, PartRule

LOOKS = tuple(100 * look for look in range(1, 6))


def stopped(rng: np.random.Generator, rule: PartRule, truth: float) -> LookResult:
    """A cell of five looks, its error 1 at the end, played until it is decided or futile."""
    looks, total = PlannedLooks(LOOKS, rule, 0.05), 0.0
    for done in range(1, len(LOOKS) + 1):
        total += rng.normal(truth / len(LOOKS), math.sqrt(1 / len(LOOKS)))
        fraction = done / len(LOOKS)
        seen = LookResult(looks, done, total / fraction, 1 / math.sqrt(fraction))
        reach = looks.bounds[done - 1] * seen.error
        if rule.verdict(seen.effect - reach, seen.effect + reach) != OPEN or seen.is_futile():
            break
    return seen


@pytest.mark.integration
@pytest.mark.parametrize(
    ("rule", "truth", "runs"),
    [
        (PartRule("better", 1.2), 2.5, 150),
        (PartRule("not_worse", 1.0), -0.5, 150),
        *(
            pytest.param(rule, truth, 1000, marks=pytest.mark.slow)
            for rule, truth in (
                (PartRule("better", 1.2), 2.5), (PartRule("better", 1.2), 0.3), (PartRule("not_worse", 1.0), -0.5),
                (PartRule("equivalent", 3.0), 1.0), (PartRule("better", 0.0, "opposite"), 1.0),
            )
        ),
    ],
)  # fmt: skip
def test_half_of_the_median_unbiased_effects_lie_above_the_truth(rule: PartRule, truth: float, runs: int) -> None:
    rng = np.random.default_rng(5)
    above = sum(stopped(rng, rule, truth).unbiased_effect() > truth for _ in range(runs))
    assert abs(above / runs - 0.5) < 3 * 0.5 / math.sqrt(runs)


@pytest.mark.integration
@pytest.mark.parametrize("lost", [0.08, 0.3])
def test_effects_of_matches_that_are_nearly_won_outright(lost: float) -> None:
    """Their first looks wait for more pairs by Student's t; a verdict's p-value is within what its looks may spend."""
    rng = np.random.default_rng(3)
    looks = PlannedLooks(tuple(range(13, 261, 13)), PartRule("better", score_of_elo(10) - 0.5), 0.05 / 3)
    probabilities = [lost**2, 0, 2 * lost * (1 - lost), 0, (1 - lost) ** 2]
    above = []
    for _ in range(30):
        outcomes = rng.choice(5, size=looks.analyses[-1], p=probabilities)
        for done, pairs in enumerate(looks.analyses, 1):
            estimate = match_estimate(Pentanomial(tuple(np.bincount(outcomes[:pairs], minlength=5).tolist())), 10)
            seen = looks.result(done, estimate)
            assert seen is not None
            reach = reach_of_t(looks.bounds[done - 1], seen.degrees) * seen.error
            interval = seen.effect - reach, seen.effect + reach
            if looks.rule.verdict(*interval) != OPEN or seen.is_futile():
                break
        above.append(seen.unbiased_effect() > 0.5 - lost)
        p_value = seen.p_value(*interval)
        assert p_value is None or p_value <= looks.error_rate * 1.01
    assert abs(np.mean(above) - 0.5) < 3 * 0.5 / math.sqrt(len(above))


def test_what_stopped_early_for_its_size_is_taken_back() -> None:
    """Three of five looks, far above the bound: the estimate is corrected towards nothing, by less than its error."""
    seen = LookResult(PlannedLooks(LOOKS, PartRule("better", 0.5), 0.05), 3, 4.0, 1 / math.sqrt(0.6))
    assert 4.0 - seen.error < seen.unbiased_effect() < 4.0


def test_without_looks_on_the_way_nothing_is_corrected() -> None:
    looks = PlannedLooks((400,), PartRule("better", 0.5), 0.05)
    seen = LookResult(looks, 1, 2.5, 1.0)
    assert seen.unbiased_effect() == 2.5
    assert seen.p_value(0.54, 4.46) == pytest.approx(2 * stats.norm.sf(2.5))
    equivalent = LookResult(PlannedLooks((400,), PartRule("equivalent", 3.0), 0.05), 1, 0.5, 1.0)
    assert equivalent.p_value(-1.46, 2.46) == pytest.approx(2 * stats.norm.sf(2.5))
    assert seen.p_value(-1, 3) is None


def test_p_values_are_those_of_all_looks() -> None:
    """Under no effect the p-value of what was found is as small as its size: the error over all looks is kept."""
    rng, runs, rule = np.random.default_rng(9), 1500, PartRule("better", 0.0)
    found = 0
    for _ in range(runs):
        seen = stopped(rng, rule, 0.0)
        reach = seen.looks.bounds[seen.done - 1] * seen.error
        p_value = seen.p_value(seen.effect - reach, seen.effect + reach)
        found += p_value is not None
        assert p_value is None or p_value <= 0.0501
    assert abs(found / runs - 0.05) < 3 * math.sqrt(0.05 * 0.95 / runs)


def test_the_pairs_still_needed_would_decide_with_the_power_said() -> None:
    looks = PlannedLooks((400,), PartRule("better", 5.0), 0.05)
    seen = LookResult(looks, 1, 2.0, 2.0)
    needed = seen.pairs_still_needed()
    assert needed is not None
    error = 2.0 * math.sqrt(400 / (400 + needed))
    # Of its two ways the easier is to be found negligible: 3 to the margin.
    assert stats.norm.cdf(3.0 / error - stats.norm.ppf(0.975)) == pytest.approx(0.8, abs=0.01)
    assert LookResult(looks, 1, 0.0, 0.0001).pairs_still_needed() == 1
