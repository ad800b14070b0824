"""Verdicts over many comparisons with interim analyses: group-sequential bounds, Holm's correction, intervals.

Every comparison asks two questions: is there a difference, and is it smaller than a margin? So "almost no effect" can
be confirmed, not only left unrejected. Each comparison is analysed after numbers of pairs that are fixed beforehand.
Its bounds come from a group-sequential test with error spending of the O'Brien-Fleming type (Lan and DeMets, "Discrete
sequential boundaries for clinical trials", 1983).

Holm's correction runs over all comparisons, for differences and for equivalences separately. A verdict of equivalence
does not relax the bounds for differences: the comparisons that remain undecided are the ones that chance carried
farthest from zero. So the probability of any false difference is at most the error rate, and so is the probability of
any false equivalence.

Everything here is a pure function of counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from statistics import NormalDist

from elolab.arena.sequential import PLAUSIBLE_ELO, POWER, TYPICAL_DEVIATION, Reach, first_pairs
from elolab.arena.statistics.elo import NATURAL_TO_ELO, Pentanomial, elo_of_score, score_of_elo
from elolab.arena.statistics.intervals import deviations_from, score_bounds
from elolab.tuning.group_sequential import crossing_bounds, quantile, upper_tail

BETTER, WORSE, EQUIVALENT, UNDECIDED = "better", "worse", "equivalent", "undecided"
DIFFERENT = (BETTER, WORSE)

MARGIN_ELO = 5.0
"""Default margin of equivalence, in Elo: smaller differences count as equivalent."""
ERROR_RATE = 0.05
"""Default probability of any false difference, and of any false equivalence."""
FUTILITY_POWER = 0.05
"""Minimum predictive power, the probability of a verdict by the end of the plan. With less, a question is stopped.

In simulations, runs with this value played 46 % as many games as runs that divide the games equally among the
questions, and reached 98.7 % as many verdicts. With the value 0.01 the two percentages were 50 % and 99.1 %.
"""
ADDITIONAL_SQUARE = 1 / 2
"""Constant added to the sum of squared deviations: the contribution of one pair won and one pair lost.

It keeps the standard error positive if all pairs have one outcome, as often happens between nearly equal settings.
"""

ROUNDING = 1e-9
"""Deviations up to this fraction of a pair's standard deviation are rounding errors and count as 0."""

_NORMAL = NormalDist()


@dataclass(frozen=True)
class VerdictRule:
    """The rule for verdicts, fixed before the first game."""

    margin_elo: float = MARGIN_ELO
    """Effects smaller than this, in Elo, count as equivalent; 0 switches equivalence off."""
    error_rate: float = ERROR_RATE
    rounds: int = 10
    """Number of analyses of each comparison, including the final one, spaced equally in pairs."""


def analyses_of(pairs: int, rounds: int) -> tuple[int, ...]:
    """Numbers of pairs after which a comparison of at most ``pairs`` pairs is analysed.

    There are ``rounds`` numbers at equal distances; the last one is the maximum.
    """
    return tuple(sorted({math.ceil(pairs * number / rounds) for number in range(1, rounds + 1)}))


# Bounds


def spent(fraction: float, error: float) -> float:
    """Part of a one-sided error rate that the analyses may use up to ``fraction`` of the planned pairs.

    This is the spending function of the O'Brien-Fleming type.
    """
    if fraction >= 1:
        return error
    return 2 * upper_tail(quantile(error / 2) / math.sqrt(fraction))


@lru_cache(maxsize=4096)
def critical_values(analyses: tuple[int, ...], error: float) -> tuple[float, ...]:
    """Bounds for each analysis, in standard errors, with a total one-sided error of ``error``.

    ``analyses`` has the number of pairs at each analysis, ascending.

    If the true effect is the null value, the probability of crossing any bound is ``error``.
    """
    fractions = [analysis / analyses[-1] for analysis in analyses]
    return crossing_bounds(fractions, [spent(fraction, error) for fraction in fractions])


# Estimates


def normal_deviate(distance: float, degrees: float) -> float:
    """The standard normal deviate with the tail probability of a Student t value of ``distance``.

    The function uses Wallace's approximation ("Bounds on normal approximations to Student's and the chi-square
    distributions", 1959), accurate to 0.03 if ``degrees``, the number of degrees of freedom, is at least 4.
    """
    if math.isinf(degrees):
        return distance
    scale = (8 * degrees + 1) / (8 * degrees + 3)
    return math.copysign(scale * math.sqrt(degrees * math.log1p(distance * distance / degrees)), distance)


def reach_of_t(value: float, degrees: float) -> float:
    """The Student t value with the tail probability of a standard normal ``value``; inverts ``normal_deviate``."""
    if math.isinf(degrees):
        return value
    if degrees < 1:
        return math.inf
    exponent = (value * (8 * degrees + 3) / (8 * degrees + 1)) ** 2 / degrees
    return math.sqrt(degrees * math.expm1(exponent)) if exponent < 700 else math.inf


@dataclass(frozen=True)
class EffectEstimate:
    """An estimated effect at one analysis, on a scale such as Elo or mean score."""

    value: float
    error: float
    """Standard error of ``value``; infinite without observations."""
    degrees: float
    """Degrees of freedom of ``error``."""
    null_value: float
    """Value of the effect if there is no difference: 0 in Elo, 0.5 as a mean score."""
    low_margin: float
    high_margin: float
    """Upper bound of the values that count as equivalent; ``low_margin`` is the lower bound."""

    def deviations_from(self, value: float) -> float:
        """The estimate minus ``value``, as a standard normal deviate.

        The deviate has the same tail probability as the difference has under Student's t.
        """
        if not math.isfinite(self.error) or self.degrees < 1:
            return 0.0
        return normal_deviate((self.value - value) / self.error, self.degrees)

    def interval(self, value: float) -> tuple[float, float]:
        """Bounds of the interval that reaches ``value`` standard normal deviates to either side, on the estimate's
        scale.
        """
        if not math.isfinite(self.error) or self.degrees < 1:
            return -math.inf, math.inf
        reach = self.error * reach_of_t(value, self.degrees)
        return self.value - reach, self.value + reach


def match_estimate(counts: Pentanomial, margin_elo: float) -> EffectEstimate:
    """Estimate of a match: the mean score of a pair, from 0 to 1. Its intervals use Student's t.

    Scores that differ from 0.5 by less than ``margin_elo`` count as equivalent.
    """
    pairs = counts.pairs
    if pairs < 2:
        return EffectEstimate(0.5, math.inf, 0, 0.5, score_of_elo(-margin_elo), score_of_elo(margin_elo))
    mean = sum(count * place / 4 for place, count in enumerate(counts.counts)) / pairs
    squares = sum(count * (place / 4 - mean) ** 2 for place, count in enumerate(counts.counts))
    error = math.sqrt((squares + ADDITIONAL_SQUARE) / (pairs - 1) / pairs)
    return EffectEstimate(mean, error, pairs - 1, 0.5, score_of_elo(-margin_elo), score_of_elo(margin_elo))


@dataclass(frozen=True)
class MatchEvidence(EffectEstimate):
    """Estimate of a match, with intervals computed from the outcomes of its pairs instead of from Student's t.

    ``arena.statistics.intervals`` computes the intervals.
    """

    counts: tuple[int, ...]
    """Number of pairs with each outcome, worst for the variant first: 0, 0.5, 1, 1.5 and 2 points."""

    def deviations_from(self, value: float) -> float:
        """The estimate minus ``value``, in standard normal deviates.

        The result is the number of deviates for which ``interval`` has ``value`` as one of its bounds.
        """
        return deviations_from(self.counts, value)

    def interval(self, value: float) -> tuple[float, float]:
        """Bounds of the interval that reaches ``value`` standard normal deviates to either side, as mean scores of a
        pair.
        """
        return score_bounds(self.counts, value)


def match_evidence(counts: Pentanomial, margin_elo: float) -> EffectEstimate:
    """Estimate of a match: the mean score of a pair, from 0 to 1.

    From two pairs on the estimate is a ``MatchEvidence``; with fewer pairs the intervals use Student's t. Scores that
    differ from 0.5 by less than ``margin_elo`` count as equivalent.
    """
    plain = match_estimate(counts, margin_elo)
    if counts.pairs < 2:
        return plain
    return MatchEvidence(
        plain.value, plain.error, plain.degrees, 0.5, plain.low_margin, plain.high_margin, counts.counts
    )


def match_elo_estimate(counts: Pentanomial, margin_elo: float) -> EffectEstimate:
    """The estimate in Elo of a match of fixed length; finite even if one side won every pair.

    The estimate is the log odds of the mean score p, after up to half a pair is added to each side. The addition is
    proportional to a pair's variance divided by p (1 - p), the variance without drawn pairs. It makes the estimate
    almost unbiased (Anscombe, "On estimating binomial response relations", 1956; Gart and Zweifel, 1967). The standard
    error is linearised at that mean.
    """
    pairs = counts.pairs
    if pairs < 2:
        return estimate_in_elo(0.0, math.inf, pairs, margin_elo)
    plain = match_estimate(counts, margin_elo)
    mean = (pairs * plain.value + 0.5) / (pairs + 1)
    given = 0.5 * min(1.0, pairs * plain.error**2 / (mean * (1 - mean)))
    mean = (pairs * plain.value + given) / (pairs + 2 * given)
    slope = NATURAL_TO_ELO / (mean * (1 - mean))
    return estimate_in_elo(elo_of_score(mean), slope * plain.error, pairs, margin_elo)


def estimate_in_elo(elo: float, error: float, pairs: int, margin_elo: float) -> EffectEstimate:
    """Convert a weighted sum of matches' Elo into an estimate; ``error`` is its standard error.

    ``pairs``, the number of pairs of each match, gives the degrees of freedom. Effects smaller than ``margin_elo``
    count as equivalent.
    """
    return EffectEstimate(elo, error if pairs > 1 else math.inf, pairs - 1, 0.0, -margin_elo, margin_elo)


EstimateAfter = Callable[[int], EffectEstimate]


# Verdicts


@dataclass(frozen=True)
class Question:
    """A comparison or a factorial's effect that gets a verdict, with its estimate and verdict at one analysis."""

    estimate: EffectEstimate
    analyses: tuple[int, ...]
    """Number of pairs at each planned analysis, the final one last."""
    analyses_done: int
    """Number of analyses done, including the current one; 0 before the first."""
    verdict: str = UNDECIDED
    matches: tuple[int, ...] = ()
    """Indices of the matches that answer the question; all have the same number of planned pairs."""
    estimate_after: EstimateAfter | None = field(default=None, compare=False, repr=False)
    """Function that receives a number of pairs n, and returns the estimate from the first n pairs of each match."""
    is_given_up: bool = False
    """Whether the question is stopped for futility and gets no more games."""

    @classmethod
    def about(cls, matches: tuple[int, ...], estimate_after: EstimateAfter, pairs: int, rule: VerdictRule) -> Question:
        """Make a question without games; ``matches`` are the indices of its matches, of at most ``pairs`` pairs."""
        analyses = analyses_of(pairs, rule.rounds)
        return cls(estimate_after(0), analyses, 0, matches=matches, estimate_after=estimate_after)

    def with_estimate_after(self, pairs: int) -> Question:
        """A copy of the question with its estimate after ``pairs`` pairs of each match; unchanged if it already has a
        verdict.
        """
        if self.verdict != UNDECIDED or not pairs or self.estimate_after is None:
            return self
        return replace(self, estimate=self.estimate_after(pairs), analyses_done=self.analyses.index(pairs) + 1)

    @property
    def above(self) -> float:
        """The estimate minus the null value, in standard normal deviates."""
        return self.estimate.deviations_from(self.estimate.null_value)

    @property
    def inside(self) -> float:
        """Distance of the estimate from the nearer bound of the margin of equivalence, in standard normal deviates;
        negative if the estimate lies outside the margin."""
        estimate = self.estimate
        return min(estimate.deviations_from(estimate.low_margin), -estimate.deviations_from(estimate.high_margin))

    def bound(self, rate: float) -> float:
        """Critical value of the current analysis, in standard normal deviates, for a two-sided error of ``rate``."""
        return critical_values(self.analyses, rate / 2)[self.analyses_done - 1]

    def last_bound(self, rate: float) -> float:
        """Critical value of the final analysis, in standard normal deviates, for a two-sided error of ``rate``."""
        return critical_values(self.analyses, rate / 2)[-1]


def _levels(verdicts: Sequence[str], rule: VerdictRule) -> tuple[float, float]:
    """Two-sided error rates at which the next difference and the next equivalence are judged.

    Holm's correction computes them from the verdicts given so far.
    """
    different = sum(verdict in DIFFERENT for verdict in verdicts)
    left = len(verdicts) - different, len(verdicts) - verdicts.count(EQUIVALENT)
    return rule.error_rate / max(1, left[0]), rule.error_rate / max(1, left[1])


def judged(questions: Sequence[Question], rule: VerdictRule) -> tuple[str, ...]:
    """The verdicts on all questions at their current analyses; earlier verdicts stay.

    By Holm's correction, each question judged different leaves a larger part of the error rate to the remaining ones.
    Equivalences have a separate error rate, which Holm's correction divides in the same way.
    """
    verdicts = [question.verdict for question in questions]

    def newly_decided() -> bool:
        for_difference, for_equivalence = _levels(verdicts, rule)
        for place, question in enumerate(questions):
            if verdicts[place] != UNDECIDED or not question.analyses_done:
                continue
            if rule.margin_elo > 0 and question.inside >= question.bound(for_equivalence):
                verdicts[place] = EQUIVALENT
            elif abs(question.above) >= question.bound(for_difference):
                verdicts[place] = BETTER if question.above > 0 else WORSE
            if verdicts[place] != UNDECIDED:
                return True
        return False

    while newly_decided():
        pass
    return tuple(verdicts)


def predictive_power(question: Question, levels: tuple[float, float], rule: VerdictRule) -> float:
    """The probability that the question is decided by the end of its plan, given its estimate so far.

    The probability is an average over the true values that the estimate leaves possible. ``levels`` are the two-sided
    error rates for a difference and for an equivalence. The result is an upper bound, because the probabilities of both
    verdicts are added.
    """
    done = question.analyses[question.analyses_done - 1] / question.analyses[-1] if question.analyses_done else 0.0
    if question.verdict != UNDECIDED or not 0 < done < 1 or not math.isfinite(question.estimate.error):
        return 1.0 if done < 1 else 0.0

    def chance(now: float, level: float) -> float:
        return upper_tail((question.last_bound(level) * math.sqrt(done) - now) / math.sqrt(1 - done))

    estimate, (for_difference, for_equivalence) = question.estimate, levels
    total = chance(question.above, for_difference) + chance(-question.above, for_difference)
    if rule.margin_elo > 0:
        # Equivalence needs both margins this far away at the end, so half their distance must exceed the bound.
        room = (estimate.high_margin - estimate.low_margin) / 2 / (estimate.error * math.sqrt(done))
        if room >= question.last_bound(for_equivalence):
            total += chance(question.inside, for_equivalence)
    return min(total, 1.0)


def futile(questions: Sequence[Question], rule: VerdictRule) -> tuple[bool, ...]:
    """One truth value per question: true if it is undecided and its predictive power is below ``FUTILITY_POWER``.

    Such questions are stopped for futility. Stopping can only prevent a verdict, never cause a false one.
    """
    levels = _levels([question.verdict for question in questions], rule)
    return tuple(
        question.verdict == UNDECIDED and predictive_power(question, levels, rule) < FUTILITY_POWER
        for question in questions
    )


def simultaneous_interval(question: Question, questions: int, rule: VerdictRule) -> tuple[float, float]:
    """Confidence interval of one of ``questions`` questions, on the estimate's scale.

    The intervals hold together, for all questions and all analyses.
    """
    if not question.analyses_done:
        return -math.inf, math.inf
    return question.estimate.interval(question.bound(rule.error_rate / questions))


def pairs_still_needed(question: Question, questions: int, rule: VerdictRule) -> int | None:
    """Number of further pairs after which the question is probably decided; ``None`` if no number is enough.

    If the current estimate is the true value, the probability of a verdict is then ``POWER``. The error rate is the one
    for the first verdict among ``questions`` questions.
    """
    estimate = question.estimate
    if question.verdict != UNDECIDED or not question.analyses_done or not math.isfinite(estimate.error):
        return None
    played = question.analyses[question.analyses_done - 1]
    deviation = estimate.error * math.sqrt(played)
    level = question.last_bound(rule.error_rate / questions)
    inside = min(estimate.high_margin - estimate.value, estimate.value - estimate.low_margin)
    distances = [abs(estimate.value - estimate.null_value)]
    if rule.margin_elo > 0:
        distances.append(inside)
    if max(distances) <= ROUNDING * deviation:
        return None
    return max(1, math.ceil(((level + _NORMAL.inv_cdf(POWER)) * deviation / max(distances)) ** 2) - played)


# Planning


def detectable_elo(pairs: int, questions: int, rule: VerdictRule, deviation: float = TYPICAL_DEVIATION) -> float:
    """Smallest Elo difference that a comparison detects with probability ``POWER`` in ``pairs`` game pairs.

    The comparison is one of ``questions`` questions. ``deviation`` is the standard deviation of a pair's score, 0 to 1.
    The result is infinite if no difference is detectable.
    """
    return elo_of_score(0.5 + _distance_at(pairs, questions, rule, POWER) * deviation / math.sqrt(pairs))


def equivalent_margin(pairs: int, questions: int, rule: VerdictRule) -> float:
    """Smallest margin, in Elo, within which a comparison of two equally strong settings is judged equivalent.

    The comparison has ``pairs`` game pairs and is one of ``questions`` questions. The probability of the verdict is
    ``POWER``.
    """
    distance = _distance_at(pairs, questions, rule, (1 + POWER) / 2)
    return elo_of_score(0.5 + distance * TYPICAL_DEVIATION / math.sqrt(pairs))


def pairs_to_decide(elo: float, questions: int, rule: VerdictRule, deviation: float = TYPICAL_DEVIATION) -> int:
    """Number of game pairs with which a comparison detects a difference of ``elo`` Elo with probability ``POWER``.

    The comparison is one of ``questions`` questions. ``deviation`` is the standard deviation of a pair's score, 0 to 1.
    """
    distance = _distance_at(1000, questions, rule, POWER)
    return math.ceil((distance * deviation / abs(score_of_elo(elo) - 0.5)) ** 2)


def pairs_for_equivalence(questions: int, rule: VerdictRule) -> int:
    """Number of game pairs with which a comparison confirms equivalence with probability ``POWER`` at equal strength.

    The comparison is one of ``questions`` questions.
    """
    # Both margins can be missed, so each side gets half of the probability of failure.
    distance = _distance_at(1000, questions, rule, (1 + POWER) / 2)
    return math.ceil((distance * TYPICAL_DEVIATION / (score_of_elo(rule.margin_elo) - 0.5)) ** 2)


def _distance_at(pairs: int, questions: int, rule: VerdictRule, power: float) -> float:
    """Smallest effect that a comparison of ``pairs`` pairs detects with probability ``power``, in standard errors.

    The comparison is one of ``questions`` questions. An effect is the distance of the true value from the null value.
    """
    level = critical_values(analyses_of(pairs, rule.rounds), rule.error_rate / questions / 2)[-1]
    return level + _NORMAL.inv_cdf(power)


def can_decide(pairs: int, questions: int, rule: VerdictRule) -> bool:
    """Whether a comparison of ``pairs`` pairs gets a verdict if one side wins every pair.

    The comparison is one of ``questions`` questions.
    """
    return _verdict_on(Pentanomial((0, 0, 0, 0, pairs)), questions, rule) != UNDECIDED


def _verdict_on(counts: Pentanomial, questions: int, rule: VerdictRule) -> str:
    """The verdict on a comparison with the outcomes ``counts``, which is one of ``questions`` questions."""
    analyses = analyses_of(counts.pairs, rule.rounds)
    question = Question(match_estimate(counts, rule.margin_elo), analyses, len(analyses))
    return judged([question], replace(rule, error_rate=rule.error_rate / questions))[0]


def min_pairs(questions: int, rule: VerdictRule) -> int:
    """Smallest number of game pairs with which one of ``questions`` comparisons can get a verdict."""
    return next(pairs for pairs in range(2, 1000) if can_decide(pairs, questions, rule))


def reach_of_comparison(pairs: int, questions: int, rule: VerdictRule, where: str) -> tuple[Reach, ...]:
    """Power of a comparison of ``pairs`` pairs to detect a difference and, unless the margin is 0, equivalence.

    ``where`` names the file or command that sets the number of pairs.
    """
    length = "pairs = {pairs}"
    difference = Reach(
        "difference", pairs, min_pairs(questions, rule), detectable_elo(pairs, questions, rule), PLAUSIBLE_ELO,
        pairs_to_decide(PLAUSIBLE_ELO, questions, rule), where, length, "margin",
    )  # fmt: skip
    if rule.margin_elo == 0:
        return (difference,)
    least = first_pairs(lambda count: _verdict_on(Pentanomial((0, 0, count, 0, 0)), questions, rule) == EQUIVALENT)
    equivalence = Reach(
        "equivalence", pairs, least, equivalent_margin(pairs, questions, rule), rule.margin_elo,
        pairs_for_equivalence(questions, rule), where, length, "margin",
    )  # fmt: skip
    return difference, equivalence
