"""Scores, Elo, intervals and sequential tests as pure functions of counts.

Elo is logistic Elo, positive when the player whose counts are given is the stronger. Intervals are 95 %. Games played
from the same opening with colours swapped form a pair; their five outcomes are the pentanomial. No result is ever
NaN: where the counts say nothing, bounds are infinite.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from arena.figures.brownian import worse_outcome_probability
from arena.figures.student import student_cdf, student_quantile

INTERVAL_DEVIATIONS = NormalDist().inv_cdf(0.975)
"""Standard errors on each side of a 95 % interval: 1.96, where they are known or come from many items."""
STUDENT_BELOW = 100
"""Pairs, or unpaired games, from which their spread is known well enough; intervals of fewer are by Student's t."""
NATURAL_TO_ELO = 400 / math.log(10)
"""Elo of one natural unit of log odds."""
NORMALIZED_UNIT = 800 / math.log(10)
"""Normalized Elo of one standard deviation a game."""
EMPTY_COUNT = 1e-3
"""What stands for a count of zero in a likelihood, so that its logarithm exists."""
TILT_PRECISION = 1e-10
"""Newton's last step for the parameter of a tilted distribution, over its distance from the nearer pole."""
SPRT_MODELS = ("normalized", "logistic")

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """What a set of counts says about one player against another, from the view of the player counted."""

    score: float
    """Mean score of a game, 0 to 1; 1/2 when nothing was played."""
    standard_error: float
    """Of ``score``; infinite when nothing was played."""
    score_low: float
    score_high: float
    """Bounds of the 95 % interval of ``score``, 0 to 1."""
    elo: float
    elo_error: float
    """Half the width of the 95 % interval, in Elo; infinite when a bound is."""
    elo_low: float
    elo_high: float
    normalized_elo: float
    """(score - 1/2) in standard deviations of a game, times 800 / ln 10."""
    los: float
    """Likelihood of superiority: the probability that the player is the stronger, 0 to 1."""
    pairs_ratio: float | None
    """Pairs won over pairs lost; 1 when neither happened, ``None`` for unpaired games."""


@dataclass(frozen=True)
class Pentanomial:
    """Counts of the outcomes of pairs, from one player's view: LL, LD, WL or DD, WD, WW."""

    counts: tuple[int, int, int, int, int]

    def __post_init__(self) -> None:
        if len(self.counts) != 5 or min(self.counts) < 0:
            raise ValueError(f"pentanomial counts are {self.counts!r}, expected five numbers of at least 0")

    @classmethod
    def from_pairs(cls, pairs: Iterable[tuple[float, float]]) -> Pentanomial:
        """Count pairs given as the player's scores (0, 1/2 or 1) of both games."""
        counts = [0] * 5
        for one, other in pairs:
            counts[round(2 * (one + other))] += 1
        return cls((counts[0], counts[1], counts[2], counts[3], counts[4]))

    @property
    def pairs(self) -> int:
        """Complete pairs counted."""
        return sum(self.counts)

    def __add__(self, other: Pentanomial) -> Pentanomial:
        a, b = self.counts, other.counts
        return Pentanomial((a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4]))

    def estimate(self) -> Estimate:
        """Score, Elo, interval and likelihood of superiority."""
        losses, losing, _, winning, wins = self.counts
        return _estimate(self.counts, games_per_item=2, ratio=_ratio(winning + wins, losses + losing))


@dataclass(frozen=True)
class Trinomial:
    """Counts of unpaired games, from one player's view."""

    wins: int
    draws: int
    losses: int

    def __post_init__(self) -> None:
        if min(self.wins, self.draws, self.losses) < 0:
            raise ValueError(f"wins, draws and losses are {self!r}, expected at least 0 each")

    @property
    def counts(self) -> tuple[int, int, int]:
        """Losses, draws, wins: in the order of their scores."""
        return self.losses, self.draws, self.wins

    @property
    def games(self) -> int:
        """Games counted."""
        return self.wins + self.draws + self.losses

    @property
    def points(self) -> float:
        """One for a win, one half for a draw."""
        return self.wins + self.draws / 2

    @property
    def score(self) -> float:
        """Points a game, 0 to 1; 1/2 without games."""
        return self.points / self.games if self.games else 0.5

    def estimate(self) -> Estimate:
        """Score, Elo, interval and likelihood of superiority."""
        return _estimate(self.counts, games_per_item=1, ratio=None)


def elo_of_score(score: float) -> float:
    """Logistic Elo of a mean score; infinite at 0 and 1 and beyond."""
    if score <= 0:
        return -math.inf
    if score >= 1:
        return math.inf
    return 0.0 - 400 * math.log10(1 / score - 1)


def score_of_elo(elo: float) -> float:
    """Expected score at a difference in logistic Elo."""
    return 1 / (1 + 10 ** (-elo / 400))


def interval_deviations(items: int) -> float:
    """Standard errors, by the variance around the sample's mean, on each side of a 95 % interval of 2 or more items.

    Below ``STUDENT_BELOW`` the quantile of Student's t with one degree of freedom less, over the unbiased variance.
    """
    if items >= STUDENT_BELOW:
        return INTERVAL_DEVIATIONS
    return student_quantile(0.975, items - 1) * math.sqrt(items / (items - 1))


def superiority(deviations: float, items: int) -> float:
    """Likelihood of superiority at so many of these standard errors: above 97.5 % where the interval lies above 0."""
    if items >= STUDENT_BELOW:
        return NormalDist().cdf(deviations)
    return student_cdf(deviations * math.sqrt((items - 1) / items), items - 1)


def _ratio(numerator: int, denominator: int) -> float:
    if denominator:
        return numerator / denominator
    return math.inf if numerator else 1.0


def _estimate(counts: Sequence[int], games_per_item: int, ratio: float | None) -> Estimate:
    """The estimate from counts of items (games or pairs) whose scores are spread evenly from 0 to 1."""
    total = sum(counts)
    if not total:
        return Estimate(0.5, math.inf, 0.0, 1.0, 0.0, math.inf, -math.inf, math.inf, 0.0, 0.5, ratio)
    values = [index / (len(counts) - 1) for index in range(len(counts))]
    mean = sum(count * value for count, value in zip(counts, values, strict=True)) / total
    variance = sum(count * (value - mean) ** 2 for count, value in zip(counts, values, strict=True)) / total
    excess = mean - 0.5
    if max(counts) < total:
        error = math.sqrt(variance / total)
        below = above = interval_deviations(total) * error
        los = superiority(excess / error, total)
    else:
        # Every item came out alike, so the sample variance says nothing. Another outcome may still have a
        # probability of up to 1 - 0.025^(1/N); at worst it is the one farthest away.
        other = 1 - 0.025 ** (1 / total)
        below, above = other * mean, other * (1 - mean)
        error = max(below, above) / INTERVAL_DEVIATIONS
        los = NormalDist().cdf(excess / error)
    score_low, score_high = max(mean - below, 0.0), min(mean + above, 1.0)
    low, high = elo_of_score(score_low), elo_of_score(score_high)
    normalized = 0.0
    if excess:
        deviation = math.sqrt(games_per_item * variance)
        normalized = excess / deviation * NORMALIZED_UNIT if deviation else math.copysign(math.inf, excess)
    return Estimate(
        mean, error, score_low, score_high, elo_of_score(mean), (high - low) / 2, low, high, normalized, los, ratio
    )


# --- Sequential probability ratio test ---------------------------------------------------------------------------


@dataclass(frozen=True)
class SequentialTest:
    """The state of a sequential probability ratio test of ``elo_lower`` against ``elo_upper``."""

    log_likelihood_ratio: float
    lower_bound: float
    upper_bound: float
    elo_lower: float
    elo_upper: float
    model: str
    """Whether the hypotheses are in ``normalized`` or ``logistic`` Elo."""

    @property
    def verdict(self) -> str:
        """``upper accepted``, ``lower accepted`` or ``undecided``."""
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
    """The generalised sequential probability ratio test; ``alpha`` and ``beta`` are its error probabilities."""
    if not (0 < alpha < 0.5 and 0 < beta < 0.5):
        raise ValueError(f"alpha {alpha} and beta {beta} must lie between 0 and 1/2")
    ratio = log_likelihood_ratio(counts, elo_lower, elo_upper, model)
    lower, upper = math.log(beta / (1 - alpha)), math.log((1 - beta) / alpha)
    return SequentialTest(ratio, lower, upper, elo_lower, elo_upper, model)


def log_likelihood_ratio(
    counts: Pentanomial | Trinomial, elo_lower: float, elo_upper: float, model: str = "normalized"
) -> float:
    """Natural logarithm of the likelihood under ``elo_upper`` over that under ``elo_lower``.

    Each likelihood is that of the most likely distribution of outcomes whose mean (logistic) or mean in standard
    deviations (normalized) is the hypothesis. Zero counts are taken as ``EMPTY_COUNT``.
    """
    games_per_item = 2 if isinstance(counts, Pentanomial) else 1
    rows = np.array([counts.counts], float)
    return float(log_likelihood_ratios(rows, games_per_item, elo_lower, elo_upper, model)[0])


def log_likelihood_ratios(
    counts: Array, games_per_item: int, elo_lower: float, elo_upper: float, model: str = "normalized"
) -> Array:
    """``log_likelihood_ratio`` of many tests at once, shape (tests,).

    ``counts`` has shape (tests, outcomes), outcomes in the order of their scores; an item is a game (1) or a pair (2).
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
    """The most likely distributions of mean ``score`` given observed frequencies (all positive), a row each."""
    return _tilted(observed, np.broadcast_to(_outcome_scores(observed) - score, observed.shape))


def _distributions_with_deviations(observed: Array, deviations: float) -> Array:
    """The most likely distributions whose mean exceeds 1/2 by ``deviations`` of their own standard deviation.

    The constraint is not linear; it is linearised at the current distribution, from the uniform one, at most 10 times.
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
    """``observed / (1 + theta direction)`` with the theta at which the mean of ``direction`` is 0, for every row.

    The mean falls in theta between the two poles: Newton's method, with bisection where it would leave them, cannot
    fail.
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
    """Strength after a sequential test, without the bias that comes from having stopped when things went well."""

    elo: float
    """Median-unbiased: too high as often as too low. In logistic Elo, whatever the model of the hypotheses."""
    elo_low: float
    elo_high: float
    """Bounds of the 95 % interval."""
    los: float
    """Likelihood of superiority, 0 to 1."""

    @property
    def elo_error(self) -> float:
        """Half the width of the 95 % interval; infinite when a bound is."""
        return (self.elo_high - self.elo_low) / 2


def estimate_after_test(
    counts: Pentanomial | Trinomial,
    elo_lower: float = 0.0,
    elo_upper: float = 5.0,
    model: str = "normalized",
    alpha: float = 0.05,
    beta: float = 0.05,
) -> SequentialEstimate:
    """The median-unbiased estimate when a sequential test has stopped, or now if it has not.

    The log-likelihood ratio is taken for a Brownian motion, stopped at the bounds; the estimate is the strength at
    which what was observed is the median of the outcomes, the bounds of the interval those at which it is the 97.5 and
    the 2.5 % quantile (Siegmund, "Estimation following sequential tests", 1978). The variance is the observed one: of
    few items the quantiles lie farther out by as much as those of Student's t, so that where no bound was near the
    interval is that of the same counts as a match.
    """
    test = sequential_test(counts, elo_lower, elo_upper, model, alpha, beta)
    total = sum(counts.counts)
    if not total:
        return SequentialEstimate(0.0, -math.inf, math.inf, 0.5)
    seen = counts.estimate()
    variance = total * seen.standard_error**2
    games_per_item = 2 if isinstance(counts, Pentanomial) else 1
    low, high = (
        score_of_elo(elo) if model == "logistic" else 0.5 + elo / NORMALIZED_UNIT * math.sqrt(games_per_item * variance)
        for elo in (elo_lower, elo_upper)
    )
    middle, gap = (low + high) / 2, high - low
    duration = total * gap**2 / variance
    end = (seen.score - middle) / gap * duration
    bound = {"upper accepted": test.upper_bound, "lower accepted": test.lower_bound}.get(test.verdict)
    if bound is None and not test.lower_bound <= end <= test.upper_bound:
        bound = test.upper_bound if end > 0 else test.lower_bound
    if bound is not None:  # it has overshot, for results come in whole batches: it was at the bound a little earlier
        duration, end = duration * max(bound / end, 0.0) if end else duration, bound

    def worse(score: float) -> float:
        drift = (score - middle) / gap
        return worse_outcome_probability(test.lower_bound, test.upper_bound, drift, duration, end)

    los = worse(0.5)
    outer = 0.975
    if max(counts.counts) < total < STUDENT_BELOW:
        outer = NormalDist().cdf(interval_deviations(total))
        los = superiority(NormalDist().inv_cdf(los), total) if 0 < los < 1 else los
    bounds = [elo_of_score(_falling_root(worse, share)) for share in (0.5, outer, 1 - outer)]
    return SequentialEstimate(bounds[0], bounds[1], bounds[2], los)


def _falling_root(function: Callable[[float], float], value: float) -> float:
    """Where a falling function takes a value between 0 and 1; 0 or 1 if it lies beyond."""
    low, high = 0.0, 1.0
    if function(low) <= value:
        return low
    if function(high) >= value:
        return high
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if function(middle) > value else (low, middle)
    return middle
