"""A group-sequential test, within a budget of games, of whether a set of values gains Elo.

The probability of a wrong confirmation is at most 5 %, whatever the true gain and however many pairs are played.

The test is planned for a number of game pairs, its *horizon*. Up to the horizon it may spend four fifths of its error,
in proportion to a power of the share of pairs played (Lan and DeMets 1983). The last fifth is kept for pairs beyond the
horizon, so that an undecided test may continue. In simulations such a test confirms more gains within a budget than a
sequential probability ratio test or a mixture of likelihood ratios, because their bounds do not depend on the horizon
(``benchmarks/tuning``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from statistics import NormalDist

from elolab.arena.sequential import MOST_PAIRS, TYPICAL_DEVIATION, first_pairs
from elolab.arena.statistics.elo import Pentanomial, SequentialEstimate, elo_of_score, score_of_elo
from elolab.arena.statistics.intervals import deviations_from, score_bounds
from elolab.tuning.group_sequential import crossing_bounds, crossing_probability

LOOKS = 20
"""Number of analyses up to the number of game pairs for which the test is planned (the horizon)."""
MIN_BATCH = 5
"""Minimum number of game pairs between two analyses."""
LATER_BATCHES = 5
"""Distance between analyses after the planned number of game pairs (the horizon), as a multiple of the earlier
distance.
"""
HORIZON_SHARE = 0.8
"""Share of the error probability that is spent up to the planned number of game pairs (the horizon)."""
EXPONENT = 3
"""Exponent of the error spending: the error spent is proportional to this power of the share of pairs played.

With a higher exponent fewer tests end early, and more gains are confirmed by the planned number of game pairs.
"""
POWERS = (0.5, 0.8, 0.95)
"""Probabilities of confirming a gain. For each, a plan states the true gain that is confirmed with this probability."""
MAX_ELO = 1000.0

_NORMAL = NormalDist()


@dataclass(frozen=True)
class GainState:
    """The state of a gain test after a number of game pairs."""

    deviations: float
    """Mean score of the recommendation minus one half, in standard errors."""
    bound: float
    """Value of ``deviations`` from which on a gain is confirmed; infinite between two analyses."""
    pairs_needed: int | None
    """Total number of game pairs with which a gain of the observed size is confirmed with 80 % probability.

    ``None`` if no gain is observed, or if a gain is already confirmed.
    """

    @property
    def verdict(self) -> str:
        """``upper accepted`` if a gain is confirmed, otherwise ``undecided``."""
        return "upper accepted" if self.deviations >= self.bound else "undecided"


@dataclass(frozen=True)
class Outlook:
    """Prospects of a longer test, on the assumption that the true gain equals the observed gain."""

    pairs: int
    """Total number of game pairs of the longer test."""
    half_width: float
    """Half width of the interval after ``pairs`` game pairs, in Elo."""
    probability: float
    """Probability that the test confirms a gain within ``pairs`` game pairs."""


@dataclass(frozen=True)
class GainTest:
    """A test of a gain that is planned for ``pairs`` game pairs."""

    pairs: int
    error: float = 0.05
    """Maximum probability of confirming a gain that does not exist, however long the test is."""

    @cached_property
    def batch_pairs(self) -> int:
        """Number of game pairs from one analysis to the next, for the analyses up to the ``horizon``."""
        return min(self.pairs, max(MIN_BATCH, math.ceil(self.pairs / LOOKS)))

    @cached_property
    def horizon(self) -> int:
        """Number of game pairs at the last planned analysis: ``pairs`` rounded down to whole ``batch_pairs``."""
        return self.pairs // self.batch_pairs * self.batch_pairs

    def next_analysis(self, pairs: int) -> int:
        """Number of game pairs at the first analysis after at least ``pairs`` game pairs."""
        if pairs <= self.horizon:
            return max(1, math.ceil(pairs / self.batch_pairs)) * self.batch_pairs
        step = LATER_BATCHES * self.batch_pairs
        return self.horizon + math.ceil((pairs - self.horizon) / step) * step

    def analyses(self, pairs: int) -> tuple[int, ...]:
        """All numbers of game pairs, up to ``pairs``, after which the test is analysed."""
        planned = range(self.batch_pairs, min(pairs, self.horizon) + 1, self.batch_pairs)
        step = LATER_BATCHES * self.batch_pairs
        return (*planned, *range(self.horizon + step, pairs + 1, step))

    def test(self, counts: Pentanomial) -> GainState:
        """The state of the test; ``counts`` are outcomes of game pairs from the recommendation's point of view."""
        deviations, bound = deviations_from(counts.counts, 0.5), self.bound(counts.pairs)
        return GainState(deviations, bound, self.pairs_needed(counts) if deviations < bound else None)

    def bound(self, pairs: int) -> float:
        """Value of ``GainState.deviations`` from which on a gain is confirmed after ``pairs`` game pairs.

        The bound is infinite if the test is not analysed after this number of pairs.
        """
        if not pairs or pairs != self.next_analysis(pairs):
            return math.inf
        return _bounds(self, len(self.analyses(pairs)))[-1]

    def spent(self, pairs: int) -> float:
        """Part of ``error`` that analyses up to ``pairs`` game pairs may spend."""
        share = pairs / self.horizon
        if share <= 1:
            return self.error * HORIZON_SHARE * share**EXPONENT
        return self.error * (HORIZON_SHARE + (1 - HORIZON_SHARE) * (1 - 1 / share))

    def estimate(self, counts: Pentanomial) -> SequentialEstimate:
        """The observed Elo, with an interval that is valid although the match may have been ended early.

        The interval is a repeated confidence interval (Jennison and Turnbull 1989). At any analysis the interval lies
        above 0 exactly if the test confirms a gain. The probability that the true value ever lies outside is at most
        twice ``error``. Between two analyses the interval is as wide as at the next one. The likelihood of superiority
        is computed as for a match of fixed length.
        """
        if not counts.pairs:
            return SequentialEstimate(0.0, -math.inf, math.inf, 0.5)
        low, high = score_bounds(counts.counts, self.bound(self.next_analysis(counts.pairs)))
        found = counts.estimate()
        return SequentialEstimate(found.elo, elo_of_score(low), elo_of_score(high), found.los)

    # --- What the test can show ---------------------------------------------------------------------------------

    def probability(self, elo: float, pairs: int | None = None) -> float:
        """Probability that the test confirms a true gain of ``elo`` Elo within ``pairs`` game pairs.

        The default of ``pairs`` is the planned number (``horizon``).
        """
        return _power(self, self.horizon if pairs is None else pairs, round(elo, 3))

    def confirmed_gain(self, power: float, pairs: int | None = None) -> float:
        """Smallest true gain, in Elo, that is confirmed within ``pairs`` game pairs with probability ``power``."""
        low, high = 0.0, MAX_ELO
        while high - low > 0.1:
            middle = (low + high) / 2
            low, high = (low, middle) if self.probability(middle, pairs) >= power else (middle, high)
        return high

    def outlook(self, counts: Pentanomial) -> tuple[Outlook, ...]:
        """Prospects of longer tests, which would confirm a gain of the observed size with the probabilities ``POWERS``.

        The result is empty if no gain is observed, or if a gain is already confirmed.
        """
        if self.test(counts).pairs_needed is None:
            return ()
        found = {one.pairs: one for power in POWERS if (one := _outlook(self, counts, power)) is not None}
        return tuple(found.values())

    def pairs_needed(self, counts: Pentanomial, power: float = 0.8) -> int | None:
        """Total number of game pairs with which the test confirms a gain of the observed size with probability
        ``power``.

        The total includes the pairs played so far, and the probability is conditional on their outcomes. ``None`` if no
        gain is observed.
        """
        played, excess = counts.pairs, counts.score - 0.5 if counts.pairs else 0.0
        if excess <= 0:
            return None
        deviations = deviations_from(counts.counts, 0.5)
        deviation = excess * math.sqrt(played) / deviations if deviations > 0 else TYPICAL_DEVIATION

        def suffices(more: int) -> bool:
            pairs = self.next_analysis(played + more)
            mean = (pairs * excess) / deviation
            wanted = _last_bound(self, pairs) * math.sqrt(pairs)
            return mean - _NORMAL.inv_cdf(power) * math.sqrt(max(pairs - played, 1)) >= wanted

        return self.next_analysis(played + first_pairs(suffices))


def _outlook(test: GainTest, counts: Pentanomial, power: float) -> Outlook | None:
    pairs, deviations = test.pairs_needed(counts, power), deviations_from(counts.counts, 0.5)
    if pairs is None or deviations <= 0:
        return None
    error = (counts.score - 0.5) * math.sqrt(counts.pairs / pairs) / deviations
    reach = _last_bound(test, pairs) * error
    low, high = (elo_of_score(min(max(counts.score + way * reach, 0.0), 1.0)) for way in (-1, 1))
    return Outlook(pairs, (high - low) / 2, power)


def confirming_pairs(elo: float, power: float, deviation: float = TYPICAL_DEVIATION, error: float = 0.05) -> int:
    """Number of game pairs for which a test must be planned to confirm a true gain of ``elo`` with probability
    ``power``.

    ``deviation`` is the standard deviation of the mean score, 0 to 1, of a game pair. ``error`` is the probability of a
    wrong confirmation. The result is ``MOST_PAIRS`` if ``elo`` is not positive.
    """
    excess = score_of_elo(elo) - 0.5
    if excess <= 0:
        return MOST_PAIRS
    last = _last_bound(GainTest(LOOKS * MIN_BATCH, error), LOOKS * MIN_BATCH)
    wanted = (last + _NORMAL.inv_cdf(power)) * deviation / excess
    return min(MOST_PAIRS, max(MIN_BATCH, math.ceil(wanted**2)))


def _bounds(test: GainTest, number: int) -> tuple[float, ...]:
    """Bounds of ``GainState.deviations`` at the first ``number`` analyses of a test.

    The bound of an analysis does not depend on ``number``.
    """
    return _first_bounds(test, math.ceil(number / LOOKS) * LOOKS)[:number]


@lru_cache(maxsize=256)
def _first_bounds(test: GainTest, number: int) -> tuple[float, ...]:
    analyses = test.analyses(test.horizon + number * LATER_BATCHES * test.batch_pairs)[:number]
    return crossing_bounds([pairs / test.horizon for pairs in analyses], [test.spent(pairs) for pairs in analyses])


def _last_bound(test: GainTest, pairs: int) -> float:
    """Bound of ``GainState.deviations`` at the last analysis up to ``pairs`` pairs.

    For very long tests the result is the limit that the bounds approach.
    """
    longest = test.horizon + LATER_BATCHES * test.batch_pairs * LOOKS * 2
    return _bounds(test, len(test.analyses(test.next_analysis(min(pairs, longest)))))[-1]


@lru_cache(maxsize=4096)
def _power(test: GainTest, pairs: int, elo: float) -> float:
    analyses = test.analyses(pairs)
    if not analyses:
        return 0.0
    score = score_of_elo(elo)
    # A pair's variance shrinks with p (1 - p), the more one-sided the match.
    deviation = TYPICAL_DEVIATION * 2 * math.sqrt(score * (1 - score))
    drift = (score - 0.5) / deviation * math.sqrt(test.horizon)
    information = [number / test.horizon for number in analyses]
    return crossing_probability(information, _bounds(test, len(analyses)), drift)
