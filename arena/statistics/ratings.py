"""Joint ratings of many players: one fit to all games, with its covariance.

Ratings are in Elo; intervals are 95 % intervals. Results depend only on counts and are never NaN.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from elolab.arena.statistics.elo import NATURAL_TO_ELO, Array, Estimate, Pentanomial, Trinomial
from elolab.arena.statistics.intervals import INTERVAL_DEVIATIONS

RATING_PRIOR_DEVIATION = 6.0
"""Standard deviation of a rating in the weak prior, in natural units of the model (about 1 000 Elo)."""
ADVANTAGE_PRIOR_DEVIATION = 2.0
"""Standard deviation of the first-move advantage in the prior, in natural units."""
DRAW_PRIOR_DEVIATION = 3.0
"""Standard deviation of the logarithm of the draw parameter in the prior."""
SCALE_PRECISION = 1e-10
"""Relative change of the scale (Elo per natural unit) at which the iteration in ``_scale_of_fixed`` stops."""
PLAIN_SCALES, MAX_SCALES = 20, 200
"""Number of iterations without damping, and total number of iterations, in ``_scale_of_fixed``."""
NEWTON_PRECISION = 1e-12
"""Newton's method stops when twice the expected increase of the log posterior is below this value."""
DISPERSION_PRIOR_PAIRS = 20.0
"""Weight, in pairs, of the prior of the dispersions.

According to the prior, the games of a pair are independent, and all pairings have the same dispersion.
"""
LEAST_SQUARES = 2.0
"""Minimum assumed for the sum of squared deviations of pair scores from their expectation, if all games are drawn.

Pair scores range from 0 to 2. The sum is 2 for two pairs between equal players, one won 2-0 and one lost 0-2.
"""


@dataclass(frozen=True)
class PairingCounts:
    """The results between two players, from the point of view of the player with index ``first``.

    An outcome is twice the score of ``first``: 0 for a loss, 1 for a draw, 2 for a win.
    """

    first: int
    second: int
    pairs: tuple[tuple[int, int, int], tuple[int, int, int], tuple[int, int, int]]
    """Complete pairs by the outcomes of the game in which ``first`` moved first (rows) and the other game (columns)."""
    single: tuple[tuple[int, int, int], tuple[int, int, int]] = ((0, 0, 0), (0, 0, 0))
    """Games outside complete pairs: ``first`` moved first in row 0, second in row 1; columns are outcomes."""

    def pentanomial(self) -> Pentanomial:
        """The pair outcomes, from the point of view of ``first``."""
        counts = [0] * 5
        for row, entries in enumerate(self.pairs):
            for column, count in enumerate(entries):
                counts[row + column] += count
        return Pentanomial((counts[0], counts[1], counts[2], counts[3], counts[4]))

    def outcomes(self) -> Array:
        """Numbers of games, shape (2, 3): lost, drawn and won by ``first``, who moved first in the games of row 0."""
        pairs = np.array(self.pairs, float)
        return np.stack([pairs.sum(axis=1), pairs.sum(axis=0)]) + np.array(self.single, float)

    def trinomial(self) -> Trinomial:
        """Wins, draws and losses of ``first`` in all games, within and outside pairs."""
        counts = [0] * 3
        for row, entries in enumerate(self.pairs):
            for column, count in enumerate(entries):
                counts[row] += count
                counts[column] += count
        losses, draws, wins = (sum(games) for games in zip(counts, *self.single, strict=True))
        return Trinomial(wins, draws, losses)


@dataclass(frozen=True)
class PairingTable:
    """The results of many pairings as arrays. The fields have the same meaning as in ``PairingCounts``."""

    first: NDArray[np.int64]
    """Index of the player from whose point of view the results are counted, shape (pairings,)."""
    second: NDArray[np.int64]
    pairs: Array
    """Complete pairs by the outcomes of both games, shape (pairings, 3, 3)."""
    single: Array
    """Games outside complete pairs by first mover and outcome, shape (pairings, 2, 3)."""

    @classmethod
    def of(cls, pairings: Sequence[PairingCounts]) -> PairingTable:
        """Convert a sequence of pairings to a table."""
        return cls(
            np.array([pairing.first for pairing in pairings], np.int64),
            np.array([pairing.second for pairing in pairings], np.int64),
            np.array([pairing.pairs for pairing in pairings], float).reshape(-1, 3, 3),
            np.array([pairing.single for pairing in pairings], float).reshape(-1, 2, 3),
        )

    def games_by_first_mover(self) -> tuple[NDArray[np.int64], NDArray[np.int64], Array]:
        """All games, in two rows per pairing: games in which ``first`` moved first, then games in which it did not.

        Returns three arrays: the indices of the players who moved first, shape (rows,); the indices of their opponents,
        shape (rows,); and the losses, draws and wins of the players who moved first, shape (rows, 3).
        """
        firsts = np.stack([self.first, self.second], axis=1).reshape(-1)
        seconds = np.stack([self.second, self.first], axis=1).reshape(-1)
        forward = self.pairs.sum(axis=2) + self.single[:, 0]
        backward = self.pairs.sum(axis=1) + self.single[:, 1]
        return firsts, seconds, np.stack([forward, backward[:, ::-1]], axis=1).reshape(-1, 3)


@dataclass(frozen=True)
class Ratings:
    """A joint fit of the ratings of many players.

    Ratings are Elo: small differences equal logistic Elo. In a group of players connected by games, they are relative
    to the anchors or, without anchors, to the group's mean. Players of different groups cannot be compared.
    """

    elo: Array
    """Rating of each player in Elo, shape (players,)."""
    covariance: Array
    """Covariance of the ratings in Elo squared, shape (players, players); infinite between groups."""
    first_move_advantage: float
    """Advantage of the first move, in Elo."""
    first_move_error: float
    """Half the width of the 95 % interval of ``first_move_advantage``, in Elo."""
    draw_parameter: float
    """Davidson's nu: the probability of a draw divided by the geometric mean of the players' winning probabilities."""
    dispersion: float
    """Variance of pair scores, divided by their variance for independent games; below 1 if openings decide games."""
    groups: tuple[tuple[int, ...], ...]
    """Groups of players connected by games, as indices; largest group first. All players of a group can be compared."""
    anchors: dict[int, float] = field(default_factory=dict)
    """Fixed ratings in Elo, keyed by the index of the player."""

    def error(self, player: int) -> float:
        """Half the width of the 95 % interval of a player's rating, in Elo; 0 for an anchor, infinite without games.

        The interval is relative to the anchors of the player's group or, without anchors, to the group's mean.
        """
        if player not in self.anchors and (player,) in self.groups:
            return math.inf
        return INTERVAL_DEVIATIONS * math.sqrt(max(self.covariance[player, player], 0.0))

    def difference(self, one: int, other: int) -> tuple[float, float]:
        """Rating of ``one`` minus rating of ``other`` in Elo, and half the width of its 95 % interval."""
        if math.isinf(self.covariance[one, other]):
            return 0.0, math.inf
        variance = self.covariance[one, one] + self.covariance[other, other] - 2 * self.covariance[one, other]
        return float(self.elo[one] - self.elo[other]), INTERVAL_DEVIATIONS * math.sqrt(max(variance, 0.0))

    def los_matrix(self) -> Array:
        """Probability, 0 to 1, that the player of the row is stronger than the player of the column; 0.5 if unknown.

        The shape is (players, players).
        """
        variances = np.diag(self.covariance)
        with np.errstate(invalid="ignore", divide="ignore"):
            deviations = np.sqrt(np.maximum(variances[:, None] + variances - 2 * self.covariance, 0.0))
            quotients = np.subtract.outer(self.elo, self.elo) / deviations
        # Players of different groups cannot be compared, except two anchors.
        quotients[np.isinf(self.covariance) | np.isnan(quotients)] = 0.0
        cumulative = NormalDist().cdf
        return np.array([[cumulative(value) for value in row] for row in quotients.tolist()])


def fit_ratings(
    player_count: int,
    pairings: Sequence[PairingCounts] | PairingTable,
    anchor: int | None = None,
    anchors: Mapping[int, float] | None = None,
) -> Ratings:
    """Fit the ratings of all players at once by maximum a posteriori (Davidson 1970, with a first-move advantage).

    The player who moves first wins, draws and loses in proportion to exp(d/2), nu and exp(-d/2), where d is the
    difference of strengths plus the advantage. A weak normal prior keeps ratings finite, even of players who won or
    lost all games.

    The covariance is A^-1 B A^-1 (White, "Maximum likelihood estimation of misspecified models", 1982). A is the
    information of the model. B is A weighted by dispersions, because the games of a pair are not independent. Each
    pairing has its own dispersion, shrunk towards the dispersion of all pairs and of independent games, so that normal
    quantiles also hold for few pairs.

    ``anchors`` are fixed ratings in Elo, keyed by player; ``anchor`` fixes a single player at 0 Elo. A connected group
    without anchors has the mean 0. A single anchor in a group only shifts the group; several anchors are fixed during
    the fit. The arguments are not changed. Raises ``ValueError`` if an anchor is not a player.
    """
    given = {anchor: 0.0} if anchor is not None else dict(anchors or {})
    for player in given:
        if not 0 <= player < player_count:
            raise ValueError(f"anchor is {player}, expected a player from 0 to {player_count - 1}")
    table = pairings if isinstance(pairings, PairingTable) else PairingTable.of(pairings)
    groups = connected_groups(player_count, zip(table.first.tolist(), table.second.tolist(), strict=True))
    fit = _RatingFit(player_count, *table.games_by_first_mover())
    solution, information = fit.solve({})
    scale = _elo_per_natural_unit(solution)
    fixed, origin = _fixed_in_their_groups(groups, given)
    if fixed:
        scale = _scale_of_fixed(fit, fixed, scale)
        solution, information = fit.solve({player: elo / scale for player, elo in fixed.items()})
    dispersion, dispersions = _pair_dispersions(player_count, table, solution)
    inverse = _inverse_of_free(information, fixed)
    covariance = inverse @ fit.weighted_information(solution, _row_weights(table, dispersions)) @ inverse * scale**2
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
        draw_parameter=_draw_parameter(solution),
        dispersion=dispersion,
        groups=groups,
        anchors=given,
    )


def with_match(ratings: Ratings, match: Estimate) -> Ratings:
    """Copy ``ratings`` of two players, with their difference replaced by the Elo of their match.

    All tables then show the same difference. ``match`` is the estimate for player 0. If its Elo is infinite, the fitted
    difference remains and the interval ends at the finite bound of the estimate. Ratings of two anchors are unchanged.
    """
    if len(ratings.anchors) > 1 or not math.isfinite(match.standard_error):
        return ratings
    elo, error = match.elo, match.elo_error
    if not math.isfinite(elo):
        elo = float(ratings.elo[0] - ratings.elo[1])
    if not math.isfinite(error):
        error = max(abs(elo - bound) for bound in (match.elo_low, match.elo_high) if math.isfinite(bound))
    # Without an anchor, each rating is half the difference away from the mean.
    shares = np.array([0.0, -1.0] if 0 in ratings.anchors else [1.0, 0.0] if 1 in ratings.anchors else [0.5, -0.5])
    origin = sum(ratings.anchors.values())
    variance = (error / INTERVAL_DEVIATIONS) ** 2
    return replace(ratings, elo=origin + shares * elo, covariance=np.outer(shares, shares) * variance)


def _fixed_in_their_groups(
    groups: Sequence[Sequence[int]], anchors: Mapping[int, float]
) -> tuple[dict[int, float], Array]:
    """The ratings that the fit keeps fixed, and the Elo to add to each fitted rating.

    Fixed ratings are in Elo, keyed by player; only groups with several anchors have them, relative to the mean of these
    anchors. The Elo to add, shape (players,), is the mean of the anchors in the player's group, 0 without anchors.
    """
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
    """Covariance of all parameters: the inverse of the information for fitted parameters, 0 for fixed ones."""
    free = np.setdiff1d(np.arange(len(information)), list(fixed))
    covariance = np.zeros_like(information)
    covariance[np.ix_(free, free)] = np.linalg.inv(information[np.ix_(free, free)])
    return covariance


def outcome_probabilities(differences: Array, draw_parameter: float) -> Array:
    """Probabilities of a loss, a draw and a win, shape (rows, 3), for differences of strength in natural units.

    ``draw_parameter`` is Davidson's nu.
    """
    exponents = np.stack(
        [-differences / 2, np.full_like(differences, math.log(draw_parameter)), differences / 2], axis=-1
    )
    weights = np.exp(exponents - exponents.max(axis=-1, keepdims=True))
    probabilities: Array = weights / weights.sum(axis=-1, keepdims=True)
    return probabilities


class _RatingFit:
    """The log posterior of a rating fit, a strictly concave function. ``solve`` finds its maximum.

    A point is a vector of strengths, first-move advantage and ln nu. The games have the form of
    ``PairingTable.games_by_first_mover``.
    """

    def __init__(
        self, player_count: int, firsts: NDArray[np.int64], seconds: NDArray[np.int64], outcomes: Array
    ) -> None:
        self._count, self._firsts, self._seconds, self._outcomes = player_count, firsts, seconds, outcomes
        deviations = np.full(player_count, RATING_PRIOR_DEVIATION)
        self._precision = np.r_[deviations, ADVANTAGE_PRIOR_DEVIATION, DRAW_PRIOR_DEVIATION] ** -2.0

    def solve(self, fixed: Mapping[int, float]) -> tuple[Array, Array]:
        """Maximise the log posterior with some strengths fixed, by Newton's method with step halving.

        ``fixed`` has strengths in natural units, keyed by player. Returns the point of the maximum, and the information
        there: the negative Hessian for all parameters. The iteration also stops if rounding errors prevent progress.
        """
        point = np.zeros(self._count + 2)
        point[list(fixed)] = list(fixed.values())
        free = np.setdiff1d(np.arange(len(point)), list(fixed))
        value = self._posterior(point)
        while True:
            gradient, information = self._derivatives(self._outcomes, point)
            step = np.zeros_like(point)
            step[free] = np.linalg.solve(information[np.ix_(free, free)], gradient[free])
            if gradient @ step < NEWTON_PRECISION:
                return point, information
            fraction = 1.0
            while (following := self._posterior(point + fraction * step)) < value and fraction > 1e-10:
                fraction /= 2
            if fraction <= 1e-10 or following <= value:  # rounding errors, with many games
                return point, information
            point, value = point + fraction * step, following

    def weighted_information(self, point: Array, weights: Array) -> Array:
        """Information (negative Hessian) at ``point`` with a weight for the games of each row, shape (rows,)."""
        return self._derivatives(self._outcomes * weights[:, None], point)[1]

    def _posterior(self, point: Array) -> float:
        logarithms = np.log(np.maximum(self._chances(point), np.finfo(float).tiny))
        return float((self._outcomes * logarithms).sum() - self._precision @ point**2 / 2)

    def _chances(self, point: Array) -> Array:
        """Probabilities of a loss, a draw and a win of the player who moves first, at ``point``, shape (rows, 3)."""
        return outcome_probabilities(point[self._firsts] - point[self._seconds] + point[-2], _draw_parameter(point))

    def _derivatives(self, outcomes: Array, point: Array) -> tuple[Array, Array]:
        """Gradient and Fisher information of the log posterior at ``point``.

        ``outcomes`` has the losses, draws and wins of the player who moves first, shape (rows, 3).
        """
        chances = self._chances(point)
        totals = outcomes.sum(axis=1)
        expected = chances[:, 1] / 2 + chances[:, 2]
        drawn = chances[:, 1]
        gradient = self._summed(outcomes[:, 1] / 2 + outcomes[:, 2] - totals * expected) - self._precision * point
        gradient[-1] += outcomes[:, 1].sum() - totals @ drawn
        information = np.diag(self._precision)
        self._add_squares(information, totals * (drawn / 4 + chances[:, 2] - expected**2))
        mixed = self._summed(totals * drawn * (0.5 - expected))
        information[-1] += mixed
        information[:, -1] += mixed
        information[-1, -1] += totals @ (drawn * (1 - drawn))
        return gradient, information

    def _summed(self, rows: Array) -> Array:
        """Derivatives of a sum over rows with respect to all strengths, the first-move advantage and ln nu.

        ``rows`` has the derivative of each row with respect to its difference of strength, shape (rows,). The
        derivative with respect to ln nu is returned as 0.
        """
        ahead, behind = (np.bincount(place, rows, self._count) for place in (self._firsts, self._seconds))
        return np.r_[ahead - behind, rows.sum(), 0.0]

    def _add_squares(self, information: Array, rows: Array) -> None:
        """Add the second derivatives with respect to strengths and first-move advantage to ``information``.

        ``rows`` has the second derivatives with respect to each row's difference of strength, shape (rows,).
        """
        count = self._count
        ahead, behind = (np.bincount(place, rows, count) for place in (self._firsts, self._seconds))
        met = np.bincount(self._firsts * count + self._seconds, rows, count**2).reshape(count, count)
        information[:count, :count] += np.diag(ahead + behind) - met - met.T
        information[:count, -2] += ahead - behind
        information[-2, :count] += ahead - behind
        information[-2, -2] += rows.sum()


def _draw_parameter(point: Array) -> float:
    """The draw parameter nu at a point, limited because first steps of Newton's method may overshoot."""
    return math.exp(max(-700.0, min(700.0, float(point[-1]))))


def _elo_per_natural_unit(solution: Array) -> float:
    """Logistic Elo per natural unit of strength, for equal players who each move first once.

    ``solution`` is the point of a fit. With more draws, a natural unit changes the score less; this factor makes small
    differences equal logistic Elo.
    """
    _, draw, win = outcome_probabilities(np.array([solution[-2]]), _draw_parameter(solution))[0]
    slope = draw / 4 + win - (draw / 2 + win) ** 2
    return float(4 * slope * NATURAL_TO_ELO)


def _scale_of_fixed(fit: _RatingFit, fixed: Mapping[int, float], free_scale: float) -> float:
    """Elo per natural unit of a fit in which some ratings are fixed in Elo.

    The scale depends on the fit and the fit on the scale; an iteration makes both agree. If that is impossible, because
    the games contradict the anchors, returns ``free_scale``, the scale of the fit without anchors.
    """
    scale = free_scale
    for step in range(MAX_SCALES):
        try:
            solution, _ = fit.solve({player: elo / scale for player, elo in fixed.items()})
            found = _elo_per_natural_unit(solution)
        except (ArithmeticError, np.linalg.LinAlgError):
            break
        if abs(found - scale) < SCALE_PRECISION * scale:
            return found
        if not found > 0:
            break
        # Damped in later steps, because some iterations would oscillate forever.
        scale = found if step < PLAIN_SCALES else math.sqrt(scale * found)
    return free_scale


def _pair_dispersions(player_count: int, table: PairingTable, solution: Array) -> tuple[float, Array]:
    """The dispersion of all pairs and of each pairing: observed variance of pair scores divided by modelled variance.

    ``solution`` is the point of the fit. A prior shrinks the dispersion of all pairs towards 1, and the dispersion of a
    pairing towards the dispersion of all pairs. The sum of squares is at least ``LEAST_SQUARES`` times the share of
    draws, so that it stays positive if nearly all games are drawn.
    """
    advantage, draw_parameter = solution[-2], _draw_parameter(solution)
    difference = solution[table.first] - solution[table.second]
    chances = outcome_probabilities(np.stack([difference + advantage, difference - advantage], axis=1), draw_parameter)
    means = chances[..., 1] / 2 + chances[..., 2]
    scores = np.add.outer([0, 0.5, 1], [0, 0.5, 1])
    pairs = table.pairs.sum(axis=(1, 2))
    drawn_pairs = (pairs * chances[..., 1].mean(axis=1)).sum()
    observed = (table.pairs * (scores - means.sum(axis=1)[:, None, None]) ** 2).sum(axis=(1, 2))
    expected = pairs * (chances[..., 1] / 4 + chances[..., 2] - means**2).sum(axis=1)
    if not expected.sum():
        return 1.0, np.ones(len(pairs))
    drawn_share = drawn_pairs / pairs.sum()
    observed += max(0.0, LEAST_SQUARES * drawn_share - observed.sum()) * pairs / pairs.sum()
    # Degrees of freedom of the fit: one for each rating except one, and one for the advantage.
    freedom = max(pairs.sum() - player_count, 1.0) / pairs.sum()

    def drawn(observed: Array, expected: Array, pairs: Array, towards: float) -> Array:
        belief = DISPERSION_PRIOR_PAIRS * expected / np.maximum(pairs, 1)
        found = (observed + belief * towards) / np.where(expected > 0, expected * freedom + belief, 1)
        return np.where(expected > 0, found, towards)

    together = float(drawn(observed.sum(), expected.sum(), pairs.sum(), 1.0))
    return together, drawn(observed, expected, pairs, together)


def _row_weights(table: PairingTable, dispersions: Array) -> Array:
    """Mean dispersion of the games in each row of ``games_by_first_mover``, shape (rows,).

    Games outside complete pairs have the dispersion 1."""
    pairs, single = table.pairs.sum(axis=(1, 2))[:, None], table.single.sum(axis=2)
    games = pairs + single
    weights = (dispersions[:, None] * pairs + single) / np.maximum(games, 1)
    return np.where(games > 0, weights, 1.0).reshape(-1)


def connected_groups(player_count: int, edges: Iterable[tuple[int, int]]) -> tuple[tuple[int, ...], ...]:
    """Groups of players connected by games, as indices; largest group first, then lowest index first.

    ``edges`` has the pairs of players who met.
    """
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
    """Matrix that makes strengths relative to the anchor of their group or, without an anchor, to the group's mean.

    The shape is (players, players). Groups with several anchors (in ``fixed``) do not change.
    """
    projection = np.eye(player_count)
    for group in groups:
        rows = np.array(group)
        own = [player for player in anchors if player in group]
        if not own:
            projection[np.ix_(rows, rows)] -= 1 / len(group)
        elif not set(own) & set(fixed):
            projection[rows, own[0]] -= 1
    return projection
