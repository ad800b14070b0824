"""Scores, Elo, confidence intervals and sequential tests as pure functions of counts.

Elo is logistic Elo, for the player whose results are counted. Intervals are 95 %. A pair is two games from
the same opening with colours swapped; the counts of its five outcomes are the pentanomial. No result is ever NaN:
bounds are infinite if the counts contain no information.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from elolab.arena.statistics.brownian import worse_outcome_probability
from elolab.arena.statistics.intervals import INTERVAL_DEVIATIONS, rising_root, score_bounds

NATURAL_TO_ELO = 400 / math.log(10)
"""Elo per unit of log odds (natural logarithm)."""
NORMALIZED_UNIT = 800 / math.log(10)
"""Normalized Elo per standard deviation of a game's score."""
EMPTY_COUNT = 1e-3
"""Value that replaces a count of zero in a likelihood, so that its logarithm exists."""
TILT_PRECISION = 1e-10
"""Precision of Newton's method in ``_tilted``, relative to the distance to the nearer pole of the function.

The iteration stops when a step is shorter than this fraction of the distance.
"""
LEAST_NOISE = 0.2
"""Minimum of the relative variance that ``_noise_of_ratio`` computes."""
SPRT_MODELS = ("normalized", "logistic")

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """Estimates of a player's strength from counts of its results."""

    score: float
    """Mean score of a game, 0 to 1; 0.5 without games."""
    standard_error: float
    """Standard error of ``score`` from the spread of the results; 0 if results are equal, infinite without games."""
    score_low: float
    score_high: float
    """Upper bound of the 95 % interval of ``score``, 0 to 1; ``score_low`` is the lower bound."""
    elo: float
    elo_error: float
    """Half the width of the 95 % interval, in Elo; infinite if a bound is infinite."""
    elo_low: float
    elo_high: float
    normalized_elo: float
    """Normalized Elo: ``score - 0.5`` in standard deviations of a game's score, times 800 / ln 10."""
    los: float
    """Likelihood of superiority: the probability, 0 to 1, that the player is the stronger one."""
    pairs_ratio: float | None
    """Number of won pairs divided by number of lost pairs; 1 if both are 0, ``None`` for unpaired games."""


@dataclass(frozen=True)
class Pentanomial:
    """Counts of pair outcomes, worst first: LL, LD, WL or DD, WD, WW (L for a lost, D a drawn, W a won game)."""

    counts: tuple[int, int, int, int, int]

    def __post_init__(self) -> None:
        if len(self.counts) != 5 or min(self.counts) < 0:
            raise ValueError(f"pentanomial counts are {self.counts!r}, expected five numbers of at least 0")

    @classmethod
    def from_pairs(cls, pairs: Iterable[tuple[float, float]]) -> Pentanomial:
        """Count pairs, each given as the player's scores (0, 0.5 or 1) in both games."""
        counts = [0] * 5
        for one, other in pairs:
            counts[round(2 * (one + other))] += 1
        return cls((counts[0], counts[1], counts[2], counts[3], counts[4]))

    @property
    def pairs(self) -> int:
        """Number of pairs."""
        return sum(self.counts)

    @property
    def score(self) -> float:
        """Mean score of a game, 0 to 1; 0.5 without pairs."""
        return sum(count * place for place, count in enumerate(self.counts)) / (4 * self.pairs) if self.pairs else 0.5

    def __add__(self, other: Pentanomial) -> Pentanomial:
        a, b = self.counts, other.counts
        return Pentanomial((a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4]))

    def estimate(self) -> Estimate:
        """Estimate the score, the Elo with its interval, and the likelihood of superiority."""
        losses, losing, _, winning, wins = self.counts
        return _estimate(self.counts, games_per_item=2, ratio=_ratio(winning + wins, losses + losing))


@dataclass(frozen=True)
class Trinomial:
    """Counts of a player's won, drawn and lost games, not grouped into pairs."""

    wins: int
    draws: int
    losses: int

    def __post_init__(self) -> None:
        if min(self.wins, self.draws, self.losses) < 0:
            raise ValueError(f"wins, draws and losses are {self!r}, expected at least 0 each")

    @property
    def counts(self) -> tuple[int, int, int]:
        """The numbers of losses, draws and wins, in this order."""
        return self.losses, self.draws, self.wins

    @property
    def games(self) -> int:
        """Number of games."""
        return self.wins + self.draws + self.losses

    @property
    def points(self) -> float:
        """Points won: 1 for a win, 0.5 for a draw."""
        return self.wins + self.draws / 2

    @property
    def score(self) -> float:
        """Points per game, 0 to 1; 0.5 without games."""
        return self.points / self.games if self.games else 0.5

    def estimate(self) -> Estimate:
        """Estimate the score, the Elo with its interval, and the likelihood of superiority."""
        return _estimate(self.counts, games_per_item=1, ratio=None)


def elo_of_score(score: float) -> float:
    """Logistic Elo of a mean score: ``-inf`` for 0 or less, ``inf`` for 1 or more."""
    if score <= 0:
        return -math.inf
    if score >= 1:
        return math.inf
    return 0.0 - 400 * math.log10(1 / score - 1)


def score_of_elo(elo: float) -> float:
    """Expected score, 0 to 1, at a difference in logistic Elo."""
    return 1 / (1 + 10 ** (-elo / 400))


def _ratio(numerator: int, denominator: int) -> float:
    if denominator:
        return numerator / denominator
    return math.inf if numerator else 1.0


def _estimate(counts: Sequence[int], games_per_item: int, ratio: float | None) -> Estimate:
    """The estimate from counts of games or pairs by outcome, worst first.

    The scores of the outcomes are equally spaced from 0 to 1.

    ``games_per_item`` is 1 for games and 2 for pairs; ``ratio`` becomes ``pairs_ratio``.
    """
    total = sum(counts)
    if not total:
        return Estimate(0.5, math.inf, 0.0, 1.0, 0.0, math.inf, -math.inf, math.inf, 0.0, 0.5, ratio)
    values = [index / (len(counts) - 1) for index in range(len(counts))]
    mean = sum(count * value for count, value in zip(counts, values, strict=True)) / total
    variance = sum(count * (value - mean) ** 2 for count, value in zip(counts, values, strict=True)) / total
    excess = mean - 0.5
    score_low, score_high = score_bounds(tuple(counts))
    reach = mean - score_low if excess > 0 else score_high - mean
    los = NormalDist().cdf(INTERVAL_DEVIATIONS * excess / reach) if excess else 0.5
    low, high = elo_of_score(score_low), elo_of_score(score_high)
    normalized = 0.0
    if excess:
        deviation = math.sqrt(games_per_item * variance)
        normalized = excess / deviation * NORMALIZED_UNIT if deviation else math.copysign(math.inf, excess)
    return Estimate(
        mean, math.sqrt(variance / total), score_low, score_high, elo_of_score(mean), (high - low) / 2, low, high,
        normalized, los, ratio,
    )  # fmt: skip


# --- Sequential probability ratio test ---------------------------------------------------------------------------


@dataclass(frozen=True)
class SequentialTest:
    """The state of a sequential probability ratio test of the hypotheses ``elo_lower`` (H0) and ``elo_upper`` (H1)."""

    log_likelihood_ratio: float
    lower_bound: float
    upper_bound: float
    elo_lower: float
    elo_upper: float
    model: str
    """Scale of the hypotheses: ``normalized`` or ``logistic`` Elo."""

    @property
    def verdict(self) -> str:
        """The decision of the test: ``upper accepted``, ``lower accepted`` or ``undecided``."""
        if self.log_likelihood_ratio >= self.upper_bound:
            return "upper accepted"
        return "lower accepted" if self.log_likelihood_ratio <= self.lower_bound else "undecided"


def sequential_test(
    counts: Pentanomial | Trinomial,
    elo_lower: float = 0.0,
    elo_upper: float = 5.0,
    model: str = "normalized",
    alpha: float = 0.05,
    beta: float = 0.05,
) -> SequentialTest:
    """Compute the state of a generalised sequential probability ratio test from the counts.

    ``elo_lower`` and ``elo_upper`` are the hypotheses H0 and H1, on the scale ``model``; ``alpha`` and ``beta`` are the
    error probabilities. Raises ``ValueError`` unless both are between 0 and 0.5.
    """
    if not (0 < alpha < 0.5 and 0 < beta < 0.5):
        raise ValueError(f"alpha {alpha} and beta {beta} must lie between 0 and 1/2")
    ratio = log_likelihood_ratio(counts, elo_lower, elo_upper, model)
    lower, upper = math.log(beta / (1 - alpha)), math.log((1 - beta) / alpha)
    return SequentialTest(ratio, lower, upper, elo_lower, elo_upper, model)


def log_likelihood_ratio(
    counts: Pentanomial | Trinomial, elo_lower: float, elo_upper: float, model: str = "normalized"
) -> float:
    """Natural logarithm of the likelihood ratio of ``elo_upper`` to ``elo_lower``.

    Each likelihood is the maximum over all distributions of outcomes that agree with the hypothesis. In the logistic
    model a hypothesis fixes the mean score. In the normalized model it fixes the distance of the mean from 0.5 in
    standard deviations. Counts of zero are replaced by ``EMPTY_COUNT``.
    """
    games_per_item = 2 if isinstance(counts, Pentanomial) else 1
    rows = np.array([counts.counts], float)
    return float(log_likelihood_ratios(rows, games_per_item, elo_lower, elo_upper, model)[0])


def log_likelihood_ratios(
    counts: Array, games_per_item: int, elo_lower: float, elo_upper: float, model: str = "normalized"
) -> Array:
    """Log-likelihood ratios of many tests at once, shape (tests,); see ``log_likelihood_ratio``.

    ``counts`` has shape (tests, outcomes), with the worst outcome first. ``games_per_item`` is 1 for outcomes of games
    and 2 for outcomes of pairs. The other arguments are as for ``log_likelihood_ratio``. Raises ``ValueError`` for an
    unknown ``model`` or an impossible hypothesis.
    """
    if model not in SPRT_MODELS:
        raise ValueError(f"model is {model!r}, expected one of {', '.join(SPRT_MODELS)}")
    observed = np.maximum(counts, EMPTY_COUNT)
    total = observed.sum(axis=-1, keepdims=True)
    observed = observed / total
    lower, upper = (
        _distributions_with_score(observed, score_of_elo(elo))
        if model == "logistic"
        else _distributions_with_deviations(observed, math.sqrt(games_per_item) * elo / NORMALIZED_UNIT)
        for elo in (elo_lower, elo_upper)
    )
    ratios = (total * observed * np.log(upper / lower)).sum(axis=-1)
    return np.where(counts.sum(axis=-1) > 0, ratios, 0.0)


def _distributions_with_score(observed: Array, score: float) -> Array:
    """For each row of positive observed frequencies, the most likely distribution with the mean ``score``."""
    return _tilted(observed, np.broadcast_to(_outcome_scores(observed) - score, observed.shape))


def _distributions_with_deviations(observed: Array, deviations: float) -> Array:
    """For each row, the most likely distribution whose mean is ``deviations`` standard deviations above 0.5.

    The constraint is not linear. Up to ten times, the constraint is linearised at the current distribution, first at
    the uniform one. Raises ``ValueError`` if there is no such distribution.
    """
    scores = _outcome_scores(observed)
    current = np.full_like(observed, 1 / observed.shape[-1])
    for _ in range(10):
        mean = (current @ scores)[..., None]
        sigma = np.sqrt((current * (scores - mean) ** 2).sum(axis=-1, keepdims=True))
        direction = scores - 0.5 - deviations * sigma * (1 + ((scores - mean) / sigma) ** 2) / 2
        if (direction.min(axis=-1) >= 0).any() or (direction.max(axis=-1) <= 0).any():
            raise ValueError(f"no distribution of outcomes lies {deviations:.2f} standard deviations from 1/2")
        following = _tilted(observed, direction)
        if np.abs(following - current).max(initial=0) < 1e-12:
            return following
        current = following
    return current


def _outcome_scores(observed: Array) -> Array:
    return np.linspace(0, 1, observed.shape[-1])


def _tilted(observed: Array, direction: Array) -> Array:
    """Compute ``observed / (1 + theta direction)`` for each row, with a theta that makes the mean of ``direction`` 0.

    The mean has a pole on each side of theta = 0, where a denominator is 0. Between the poles, the mean decreases with
    theta. Newton's method, with bisection as a fallback, therefore always converges.
    """
    low, high = left_pole, right_pole = -1 / direction.max(axis=-1), -1 / direction.min(axis=-1)
    theta = np.zeros_like(low)
    for _ in range(200):
        pulls = direction / (1 + theta[..., None] * direction)
        mean = (observed * pulls).sum(axis=-1)
        low, high = np.where(mean > 0, theta, low), np.where(mean > 0, high, theta)
        following = theta + mean / (observed * pulls**2).sum(axis=-1)
        following = np.where((low < following) & (following < high), following, (low + high) / 2)
        step, theta = np.abs(following - theta), following
        if (step <= TILT_PRECISION * np.minimum(theta - left_pole, right_pole - theta)).all():
            break
    tilted: Array = observed / (1 + theta[..., None] * direction)
    return tilted / tilted.sum(axis=-1, keepdims=True)


@dataclass(frozen=True)
class SequentialEstimate:
    """Estimates after a sequential test, corrected for the bias due to early stopping."""

    elo: float
    """Median-unbiased estimate in logistic Elo, whatever the scale of the hypotheses."""
    elo_low: float
    elo_high: float
    """Upper bound of the 95 % interval in logistic Elo; ``elo_low`` is the lower bound."""
    los: float
    """Likelihood of superiority: the probability, 0 to 1, that the player is the stronger one."""

    @property
    def elo_error(self) -> float:
        """Half the width of the 95 % interval in logistic Elo; infinite if a bound is infinite."""
        return (self.elo_high - self.elo_low) / 2


def estimate_after_test(
    counts: Pentanomial | Trinomial,
    elo_lower: float = 0.0,
    elo_upper: float = 5.0,
    model: str = "normalized",
    alpha: float = 0.05,
    beta: float = 0.05,
    batch: int = 1,
) -> SequentialEstimate:
    """The median-unbiased estimate from a sequential test that has stopped or is still running.

    The log-likelihood ratio is modelled as a Brownian motion that stops at the bounds of the test. At the estimated
    strength, the observed outcome is the median of all outcomes. At the lower and upper bounds of the interval, this
    outcome is the 97.5 % and the 2.5 % quantile (Siegmund, "Estimation following sequential tests", 1978). The estimate
    uses the observed variance of results. Each bound uses the variance that gives the same bound in a match with these
    counts; the interval therefore equals the interval of a match if the test never came near its bounds.

    ``batch`` is the number of pairs, or of games for a ``Trinomial``, between interim analyses. All others are as for
    ``sequential_test``.
    """
    test = sequential_test(counts, elo_lower, elo_upper, model, alpha, beta)
    total = sum(counts.counts)
    if not total:
        return SequentialEstimate(0.0, -math.inf, math.inf, 0.5)
    seen = counts.estimate()
    reaches = seen.score - seen.score_low, seen.score_high - seen.score
    below, above = (total * (reach / INTERVAL_DEVIATIONS) ** 2 for reach in reaches)
    widest = max(below, above)  # if all results are equal, one of these may be 0
    below, above, variance = below or widest, above or widest, total * seen.standard_error**2 or widest

    def strength(variance: float, share: float, noise: float = 1.0) -> float:
        return _falling_root(lambda score: _worse_outcome(counts, test, batch, variance, noise, score), share)

    middle = strength(variance, 0.5, _noise_of_ratio(counts, test))
    los = _worse_outcome(counts, test, batch, below if middle > 0.5 else above, 1.0, 0.5)
    low, high = strength(below, 0.975), strength(above, 0.025)
    return SequentialEstimate(elo_of_score(middle), elo_of_score(low), elo_of_score(high), los)


def _hypotheses_as_scores(
    counts: Pentanomial | Trinomial, test: SequentialTest, variance: float
) -> tuple[float, float]:
    """The mean scores (0 to 1) of the lower and the upper hypothesis; ``variance`` is the variance of a result."""
    if test.model == "logistic":
        return score_of_elo(test.elo_lower), score_of_elo(test.elo_upper)
    deviation = math.sqrt((2 if isinstance(counts, Pentanomial) else 1) * variance) / NORMALIZED_UNIT
    return 0.5 + test.elo_lower * deviation, 0.5 + test.elo_upper * deviation


def _worse_outcome(
    counts: Pentanomial | Trinomial, test: SequentialTest, batch: int, variance: float, noise: float, score: float
) -> float:
    """Probability that the test has a worse outcome than the observed one if the true mean score is ``score``.

    ``variance`` is the variance of a result; ``_noise_of_ratio`` describes ``noise``. Because interim analyses are only
    made after whole batches, the ratio of a stopped test is beyond its bound. The modelled motion therefore stops at
    that ratio, but half a batch earlier. This correction becomes smaller the farther the ratio is beyond the bound.
    """
    total = sum(counts.counts)
    low, high = _hypotheses_as_scores(counts, test, variance)
    middle, gap = (low + high) / 2, high - low
    duration, drift = total * gap**2 / variance, (score - middle) / gap
    end = (counts.score - middle) / gap * duration
    lower, upper = min(test.lower_bound, end), max(test.upper_bound, end)
    if test.verdict == "undecided":
        return worse_outcome_probability(lower, upper, drift, duration, end)
    if test.verdict == "upper accepted":
        lower, end, beyond = test.lower_bound, upper, upper / test.upper_bound
    else:
        upper, end, beyond = test.upper_bound, lower, lower / test.lower_bound
    duration *= noise * (1 - min(batch, total) / (2 * total) / beyond**4)
    return worse_outcome_probability(lower, upper, drift / noise, duration, end)


def _noise_of_ratio(counts: Pentanomial | Trinomial, test: SequentialTest) -> float:
    """Variance of the log-likelihood ratio, relative to its variance if the variance of results were known.

    The ratio is proportional to the mean minus a fixed score, divided by the power p of the observed variance, which is
    1 or 1/2. Rare results change both the mean and the variance. Let d be p times the difference in standard
    deviations. By the delta method the relative variance is 1 - 2 d skewness + d^2 (kurtosis - 1). The approximation is
    too coarse outside the range from ``LEAST_NOISE`` to 1, so the result is clipped to that range.
    """
    shares = np.array(counts.counts) / sum(counts.counts)
    scores = np.linspace(0, 1, len(shares)) - counts.score
    variance = float(shares @ scores**2)
    if not variance:
        return 1.0
    middle = sum(_hypotheses_as_scores(counts, test, variance)) / 2
    distance = (counts.score - 0.5) / 2 if test.model == "normalized" else counts.score - middle
    steps = scores - distance * (scores**2 / variance - 1)
    return min(max(float(shares @ steps**2) / variance, LEAST_NOISE), 1.0)


def _falling_root(function: Callable[[float], float], value: float) -> float:
    """Solve ``function(x) = value`` for a decreasing function and x from 0 to 1, clipped to this range."""
    low, high = 0.0, 1.0
    if function(low) <= value:
        return low
    if function(high) >= value:
        return high
    return rising_root(lambda place: -function(place), -value, low, high)
