"""Scores, Elo, intervals, sequential tests and joint ratings as pure functions of counts.

Elo is logistic Elo, positive when the player whose counts are given is the stronger. Intervals are 95 %. Games played
from the same opening with colours swapped form a pair; their five outcomes are the pentanomial. No result is ever
NaN: where the counts say nothing, bounds are infinite.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from arena.brownian import worse_outcome_probability

INTERVAL_DEVIATIONS = NormalDist().inv_cdf(0.975)
"""Standard errors on each side of a 95 % interval: 1.96."""
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

    def reversed(self) -> Pentanomial:
        """The same pairs from the opponent's view."""
        losses, losing, even, winning, wins = self.counts
        return Pentanomial((wins, winning, even, losing, losses))

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

    def reversed(self) -> Trinomial:
        """The same games from the opponent's view."""
        return Trinomial(self.losses, self.draws, self.wins)

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


def _ratio(numerator: int, denominator: int) -> float:
    if denominator:
        return numerator / denominator
    return math.inf if numerator else 1.0


def _estimate(counts: Sequence[int], games_per_item: int, ratio: float | None) -> Estimate:
    """The estimate from counts of items (games or pairs) whose scores are spread evenly from 0 to 1."""
    total = sum(counts)
    if not total:
        return Estimate(0.5, math.inf, 0.0, math.inf, -math.inf, math.inf, 0.0, 0.5, ratio)
    values = [index / (len(counts) - 1) for index in range(len(counts))]
    mean = sum(count * value for count, value in zip(counts, values, strict=True)) / total
    variance = sum(count * (value - mean) ** 2 for count, value in zip(counts, values, strict=True)) / total
    if max(counts) < total:
        error = math.sqrt(variance / total)
        below = above = INTERVAL_DEVIATIONS * error
    else:
        # Every item came out alike, so the sample variance says nothing. Another outcome may still have a
        # probability of up to 1 - 0.025^(1/N); at worst it is the one farthest away.
        other = 1 - 0.025 ** (1 / total)
        below, above = other * mean, other * (1 - mean)
        error = max(below, above) / INTERVAL_DEVIATIONS
    low, high = elo_of_score(mean - below), elo_of_score(mean + above)
    excess = mean - 0.5
    normalized = 0.0
    if excess:
        deviation = math.sqrt(games_per_item * variance)
        normalized = excess / deviation * NORMALIZED_UNIT if deviation else math.copysign(math.inf, excess)
    los = NormalDist().cdf(excess / error)
    return Estimate(mean, error, elo_of_score(mean), (high - low) / 2, low, high, normalized, los, ratio)


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
        if np.abs(following - current).max() < 1e-12:
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
    the 2.5 % quantile (Siegmund, "Estimation following sequential tests", 1978). The variance is the observed one.
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

    bounds = [elo_of_score(_falling_root(worse, share)) for share in (0.5, 0.975, 0.025)]
    return SequentialEstimate(bounds[0], bounds[1], bounds[2], worse(0.5))


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


# --- Joint ratings of many players -------------------------------------------------------------------------------


@dataclass(frozen=True)
class PairingCounts:
    """Everything two players did against each other, seen from the player with index ``first``.

    An outcome is coded as twice the score of ``first``: 0 a loss, 1 a draw, 2 a win.
    """

    first: int
    second: int
    pairs: tuple[tuple[int, int, int], tuple[int, int, int], tuple[int, int, int]]
    """Complete pairs: row = outcome of the game in which ``first`` moved first, column = of the other game."""
    single: tuple[tuple[int, int, int], tuple[int, int, int]] = ((0, 0, 0), (0, 0, 0))
    """Games outside complete pairs: row 0 where ``first`` moved first, row 1 where ``second`` did."""

    def pentanomial(self) -> Pentanomial:
        """The complete pairs from the view of ``first``."""
        counts = [0] * 5
        for row, entries in enumerate(self.pairs):
            for column, count in enumerate(entries):
                counts[row + column] += count
        return Pentanomial((counts[0], counts[1], counts[2], counts[3], counts[4]))

    def outcomes(self) -> Array:
        """All games, shape (2, 3): row 0 where ``first`` moved first, row 1 where ``second`` did; by outcome."""
        pairs = np.array(self.pairs, float)
        return np.stack([pairs.sum(axis=1), pairs.sum(axis=0)]) + np.array(self.single, float)

    def trinomial(self) -> Trinomial:
        """All games, paired or not, from the view of ``first``."""
        losses, draws, wins = (int(count) for count in self.outcomes().sum(axis=0))
        return Trinomial(wins, draws, losses)


RATING_PRIOR_DEVIATION = 6.0
"""Standard deviation of the weak prior of a rating, in natural units of the model (about 1 000 Elo)."""
ADVANTAGE_PRIOR_DEVIATION = 2.0
"""The same for the first-move advantage."""
DRAW_PRIOR_DEVIATION = 3.0
"""The same for the logarithm of the draw parameter."""
SCALE_PRECISION = 1e-10
"""Relative change of the Elo of a natural unit below which ratings fixed in Elo stay where they are."""
NEWTON_PRECISION = 1e-12
"""Newton's method ends when a step promises to raise the log posterior by less than half of this."""
DISPERSION_PRIOR_PAIRS = 20.0
"""Pairs' worth of belief that the games of a pair are independent, and that pairings are alike in this."""


@dataclass(frozen=True)
class Ratings:
    """A joint fit of the ratings of many players.

    Ratings are Elo: differences near 0 mean what logistic Elo means. Within a connected group they are relative to the
    anchors, or without one to the group's mean; between groups that never met, directly or through others, nothing is
    known.
    """

    elo: Array
    """Rating of each player, shape (players,)."""
    covariance: Array
    """Of the anchored ratings, in Elo squared, shape (players, players); infinite between groups."""
    first_move_advantage: float
    """Elo that having the first move is worth."""
    first_move_error: float
    """Half the width of its 95 % interval."""
    draw_parameter: float
    """Davidson's nu: the odds of a draw against the geometric mean of the odds of either win."""
    dispersion: float
    """Variance of all pairs' scores over that of independent games; below 1 where the openings decide games."""
    groups: tuple[tuple[int, ...], ...]
    """Connected groups of players, largest first; one group if all ratings can be compared."""
    anchors: dict[int, float] = field(default_factory=dict)
    """Players whose ratings were given, and what they are."""

    def error(self, player: int) -> float:
        """Half the width of the 95 % interval of a player's rating relative to its anchors; 0 for an anchor."""
        return INTERVAL_DEVIATIONS * math.sqrt(max(self.covariance[player, player], 0.0))

    def difference(self, one: int, other: int) -> tuple[float, float]:
        """Elo of ``one`` above ``other``, and half the width of its 95 % interval."""
        if math.isinf(self.covariance[one, other]):
            return 0.0, math.inf
        variance = self.covariance[one, one] + self.covariance[other, other] - 2 * self.covariance[one, other]
        return float(self.elo[one] - self.elo[other]), INTERVAL_DEVIATIONS * math.sqrt(max(variance, 0.0))

    def los_matrix(self) -> Array:
        """Probability that the row's player is stronger than the column's, shape (players, players); 1/2 = unknown."""
        count = len(self.elo)
        matrix = np.full((count, count), 0.5)
        for one in range(count):
            for other in range(count):
                elo, error = self.difference(one, other)
                if error > 0:
                    matrix[one, other] = NormalDist().cdf(INTERVAL_DEVIATIONS * elo / error)
                elif elo:  # both are anchors
                    matrix[one, other] = float(elo > 0)
        return matrix


def fit_ratings(
    player_count: int,
    pairings: Sequence[PairingCounts],
    anchor: int | None = None,
    anchors: Mapping[int, float] | None = None,
) -> Ratings:
    """Fit all players' ratings at once by maximum a posteriori (Davidson 1970, with a first-move advantage).

    The player who moves first wins, draws and loses in proportion to exp(d/2), nu and exp(-d/2), where d is the
    difference of strengths plus the advantage. A weak normal prior keeps players who won or lost everything finite.
    The covariance allows for the games of a pair not being independent, each two players by the dispersion of their own
    pairs (drawn towards that of all pairs while they are few): A^-1 B A^-1, where A is the model's information and B
    the same with the dispersions as weights (White, "Maximum likelihood estimation of misspecified models", 1982).
    ``anchors`` are players whose ratings are
    given, with their Elo, and ``anchor`` is short for one of 0 Elo; a connected group without any has the mean 0. One
    anchor only shifts its group; several of one group are fixed while the others are fitted. Mutates nothing.
    """
    given = {anchor: 0.0} if anchor is not None else dict(anchors or {})
    for player in given:
        if not 0 <= player < player_count:
            raise ValueError(f"anchor is {player}, expected a player from 0 to {player_count - 1}")
    groups = connected_groups(player_count, [(pairing.first, pairing.second) for pairing in pairings])
    fit = _Fit(player_count, *_games_by_first_mover(pairings))
    solution, information = fit.solve({})
    scale = _elo_per_natural_unit(solution)
    fixed, origin = _fixed_in_their_groups(groups, given)
    while fixed:
        solution, information = fit.solve({player: elo / scale for player, elo in fixed.items()})
        before, scale = scale, _elo_per_natural_unit(solution)
        if abs(scale - before) < SCALE_PRECISION * scale:
            break
    dispersion, dispersions = _pair_dispersions(player_count, pairings, solution)
    inverse = _inverse_of_free(information, fixed)
    covariance = inverse @ fit.weighted_information(solution, _row_weights(pairings, dispersions)) @ inverse * scale**2
    projection = _anchoring(player_count, groups, given, fixed)
    anchored = projection @ covariance[:player_count, :player_count] @ projection.T
    label = np.empty(player_count, int)
    for number, group in enumerate(groups):
        label[list(group)] = number
    anchored[label[:, None] != label[None, :]] = math.inf
    elo = projection @ solution[:player_count] * scale + origin
    elo[list(given)] = list(given.values())
    return Ratings(
        elo=elo,
        covariance=anchored,
        first_move_advantage=float(solution[-2] * scale),
        first_move_error=INTERVAL_DEVIATIONS * math.sqrt(covariance[-2, -2]),
        draw_parameter=math.exp(solution[-1]),
        dispersion=dispersion,
        groups=groups,
        anchors=given,
    )


def _fixed_in_their_groups(
    groups: Sequence[Sequence[int]], anchors: Mapping[int, float]
) -> tuple[dict[int, float], Array]:
    """The anchors that share a group, in Elo above their mean, and the Elo to add to every player, shape (players,)."""
    fixed: dict[int, float] = {}
    origin = np.zeros(sum(len(group) for group in groups))
    for group in groups:
        own = {player: anchors[player] for player in group if player in anchors}
        if own:
            mean = sum(own.values()) / len(own)
            origin[list(group)] = mean
            if len(own) > 1:
                fixed |= {player: elo - mean for player, elo in own.items()}
    return fixed, origin


def _inverse_of_free(information: Array, fixed: Iterable[int]) -> Array:
    """The covariance of everything that was fitted; zero for what was fixed."""
    free = np.setdiff1d(np.arange(len(information)), list(fixed))
    covariance = np.zeros_like(information)
    covariance[np.ix_(free, free)] = np.linalg.inv(information[np.ix_(free, free)])
    return covariance


def _games_by_first_mover(pairings: Sequence[PairingCounts]) -> tuple[NDArray[np.int64], NDArray[np.int64], Array]:
    """Indices of first and second movers, shape (rows,), and counts of loss, draw, win of the first, (rows, 3)."""
    rows = [(pairing.first, pairing.second) for pairing in pairings for _ in range(2)]
    rows[1::2] = [(second, first) for first, second in rows[1::2]]
    indices = np.array(rows, np.int64).reshape(-1, 2)
    outcomes = np.concatenate([pairing.outcomes() for pairing in pairings]) if pairings else np.zeros((0, 3))
    outcomes[1::2] = outcomes[1::2, ::-1].copy()
    return indices[:, 0], indices[:, 1], outcomes


def outcome_probabilities(differences: Array, draw_parameter: float) -> Array:
    """Probabilities of loss, draw and win at differences in natural units, shape (rows, 3)."""
    exponents = np.stack(
        [-differences / 2, np.full_like(differences, math.log(draw_parameter)), differences / 2], axis=-1
    )
    weights = np.exp(exponents - exponents.max(axis=-1, keepdims=True))
    probabilities: Array = weights / weights.sum(axis=-1, keepdims=True)
    return probabilities


class _Fit:
    """The strictly concave log posterior of (strengths, advantage, ln nu), given games by first mover."""

    def __init__(
        self, player_count: int, firsts: NDArray[np.int64], seconds: NDArray[np.int64], outcomes: Array
    ) -> None:
        self._outcomes = outcomes
        self._design = np.zeros((len(firsts), player_count + 2))
        rows = np.arange(len(firsts))
        self._design[rows, firsts] += 1
        self._design[rows, seconds] -= 1
        self._design[:, -2] = 1
        deviations = np.full(player_count, RATING_PRIOR_DEVIATION)
        self._precision = np.r_[deviations, ADVANTAGE_PRIOR_DEVIATION, DRAW_PRIOR_DEVIATION] ** -2.0

    def solve(self, fixed: Mapping[int, float]) -> tuple[Array, Array]:
        """The maximum with some strengths fixed, and the information there (minus the second derivative of all).

        Newton's method; steps are halved until they help.
        """
        point = np.zeros(self._design.shape[1])
        point[list(fixed)] = list(fixed.values())
        free = np.setdiff1d(np.arange(len(point)), list(fixed))
        value = self._posterior(point)
        while True:
            gradient, information = _derivatives(self._design, self._outcomes, self._precision, point)
            step = np.zeros_like(point)
            step[free] = np.linalg.solve(information[np.ix_(free, free)], gradient[free])
            if gradient @ step < NEWTON_PRECISION:
                return point, information
            fraction = 1.0
            while (following := self._posterior(point + fraction * step)) < value and fraction > 1e-10:
                fraction /= 2
            if fraction <= 1e-10:
                return point, information
            point, value = point + fraction * step, following

    def weighted_information(self, point: Array, weights: Array) -> Array:
        """The information at a point with the games of each row counted ``weights`` times, shape (rows,)."""
        return _derivatives(self._design, self._outcomes * weights[:, None], self._precision, point)[1]

    def _posterior(self, point: Array) -> float:
        chances = outcome_probabilities(self._design @ point, math.exp(point[-1]))
        return float((self._outcomes * np.log(chances)).sum() - self._precision @ point**2 / 2)


def _derivatives(design: Array, outcomes: Array, precision: Array, point: Array) -> tuple[Array, Array]:
    """Gradient and information of the log posterior at ``point``; ``design`` has 0 in the column of ln nu."""
    chances = outcome_probabilities(design @ point, math.exp(point[-1]))
    totals = outcomes.sum(axis=1)
    expected = chances[:, 1] / 2 + chances[:, 2]
    drawn = chances[:, 1]
    gradient = design.T @ (outcomes[:, 1] / 2 + outcomes[:, 2] - totals * expected) - precision * point
    gradient[-1] += outcomes[:, 1].sum() - totals @ drawn
    variance = drawn / 4 + chances[:, 2] - expected**2
    information = design.T @ (design * (totals * variance)[:, None]) + np.diag(precision)
    mixed = design.T @ (totals * drawn * (0.5 - expected))
    information[-1] += mixed
    information[:, -1] += mixed
    information[-1, -1] += totals @ (drawn * (1 - drawn))
    return gradient, information


def _elo_per_natural_unit(solution: Array) -> float:
    """Logistic Elo of a natural unit of strength, for equal players who each move first once.

    The more draws, the less a unit changes the score; this makes small differences mean the same as logistic Elo.
    """
    _, draw, win = outcome_probabilities(np.array([solution[-2]]), math.exp(solution[-1]))[0]
    slope = draw / 4 + win - (draw / 2 + win) ** 2
    return float(4 * slope * NATURAL_TO_ELO)


def _pair_dispersions(
    player_count: int, pairings: Sequence[PairingCounts], solution: Array
) -> tuple[float, list[float]]:
    """Observed over modelled variance of the score of a pair: of all pairs together, and of each pairing's.

    All together is drawn towards 1 while there are few pairs, each pairing towards all together.
    """
    observed, expected, pairs = np.zeros((3, len(pairings)))
    advantage, draw_parameter = solution[-2], math.exp(solution[-1])
    scores = np.add.outer([0, 0.5, 1], [0, 0.5, 1])
    for place, pairing in enumerate(pairings):
        counts = np.array(pairing.pairs, float)
        difference = solution[pairing.first] - solution[pairing.second]
        chances = outcome_probabilities(np.array([difference + advantage, difference - advantage]), draw_parameter)
        means = chances[:, 1] / 2 + chances[:, 2]
        pairs[place] = counts.sum()
        observed[place] = (counts * (scores - means.sum()) ** 2).sum()
        expected[place] = pairs[place] * (chances[:, 1] / 4 + chances[:, 2] - means**2).sum()
    if not expected.sum():
        return 1.0, [1.0] * len(pairings)
    # The fit has used up one degree of freedom for every rating but one, and one for the advantage.
    freedom = max(pairs.sum() - player_count, 1.0) / pairs.sum()

    def drawn(observed: float, expected: float, pairs: float, towards: float) -> float:
        if not expected:
            return towards
        belief = DISPERSION_PRIOR_PAIRS * expected / pairs
        return float((observed + belief * towards) / (expected * freedom + belief))

    together = drawn(observed.sum(), expected.sum(), pairs.sum(), 1.0)
    return together, [drawn(*row, together) for row in zip(observed, expected, pairs, strict=True)]


def _row_weights(pairings: Sequence[PairingCounts], dispersions: Sequence[float]) -> Array:
    """What the games of each row of ``_games_by_first_mover`` add to the variance: single games as they are."""
    weights = []
    for pairing, dispersion in zip(pairings, dispersions, strict=True):
        pairs = sum(map(sum, pairing.pairs))
        for single in pairing.single:
            games = pairs + sum(single)
            weights.append((dispersion * pairs + sum(single)) / games if games else 1.0)
    return np.array(weights)


def connected_groups(player_count: int, edges: Iterable[tuple[int, int]]) -> tuple[tuple[int, ...], ...]:
    """Groups of players connected by games, largest first, then by lowest index."""
    parent = list(range(player_count))

    def root(player: int) -> int:
        while parent[player] != player:
            parent[player] = parent[parent[player]]
            player = parent[player]
        return player

    for one, other in edges:
        parent[root(one)] = root(other)
    members: dict[int, list[int]] = {}
    for player in range(player_count):
        members.setdefault(root(player), []).append(player)
    return tuple(sorted((tuple(group) for group in members.values()), key=lambda group: (-len(group), group)))


def _anchoring(
    player_count: int, groups: Sequence[Sequence[int]], anchors: Iterable[int], fixed: Iterable[int]
) -> Array:
    """Matrix that subtracts from each strength its group's anchor or, without one, mean; nothing from fixed groups."""
    projection = np.eye(player_count)
    for group in groups:
        rows = np.array(group)
        own = [player for player in anchors if player in group]
        if not own:
            projection[np.ix_(rows, rows)] -= 1 / len(group)
        elif not set(own) & set(fixed):
            projection[rows, own[0]] -= 1
    return projection
