"""Fit of the response model: the most probable model with one or two hills, and random draws from its posterior."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from elolab.arena.statistics.elo import NATURAL_TO_ELO
from elolab.tuning.study.model.hill import (
    MAX_INTERACTING,
    NO_SUMMIT,
    Hill,
    HillOverLimits,
    bounded,
)
from elolab.tuning.study.model.linear_algebra import one_thread
from elolab.tuning.study.model.observations import Observations
from elolab.tuning.study.model.response import ResponseModel, TwoHills
from elolab.tuning.study.space import Space

Array = NDArray[np.float64]

NEAR_BASE_ODDS = 1 / 2
"""Prior odds of the model in which the maximum lies near the base."""
SECOND_SUMMIT_ODDS = 1 / 2
"""Prior odds of the model with two hills (maxima)."""
PAIRS_OF_TWO_HILLS = 600
"""Minimum number of game pairs for a model with two hills (maxima).

With fewer pairs, games near a single maximum give more information.
"""
PAIRS_PER_RANGE = 100
"""A model with two hills (maxima) needs at least this many game pairs for each dimension with numbers as values."""
SCREENED = 200
"""Number of starting points that are evaluated before two local maxima of the strength are climbed from the best."""
SEARCHED = 300
"""Maximum number of results in the search for a second maximum of the response; only the last stage uses all."""
CLIMBS = ((12, 3), (4, 8))
"""Stages of the search for two hills. Each has the number of starting points that it keeps, and the number of steps."""
LAST_CLIMBS, LAST_STEPS = 2, 4
"""Last stage of the search for two hills: number of starting points, and number of steps with all results.

The best of these points is then optimised.
"""
FIRST_STEEPNESS = np.log([1.5, 4.0])
"""Logarithms of two factors on the curvatures. Each starting point of the search for two hills uses one, at random."""
TYPICAL_DISPERSION = 0.3
"""Prior dispersion: the variance of a pair's score divided by p (1 - p), with p the expected score.

For single games without draws the dispersion would be 1.
"""
DISPERSION_WEIGHT = 50.0
"""The prior dispersion counts like an observed dispersion of this many results."""
DRAWS = 256
"""Number of random draws from the posterior. It is even, because half of them mirror the other half about the mode."""
LAST_SPREAD = 1.4
"""Factor by which the last model of a study spreads its posterior draws. The factor allows for errors of the model.

In simulations 90 % intervals then contain the true gain in about 90 % of studies.
"""
MAX_STEPS = 60
MIN_GAIN = 1e-3
"""The search for the mode ends when a step increases the log posterior by less than this."""
FIRST_DAMPING, MIN_DAMPING, MAX_DAMPING = 1.0, 1e-6, 1e6
"""Levenberg-Marquardt damping of the steps: first, smallest and largest value."""
MAX_LOGIT = 20.0


@dataclass(frozen=True)
class ObservedResults:
    """Results of matches between two sets of values, as arrays with one entry per result."""

    points: Array
    """Coordinates of the first set of every result, then of every second set, shape (2 * results, dimensions)."""
    pairs: Array
    scores: Array
    """Mean score of each result's first set of values, 0 to 1."""
    log_limits: Array
    """Natural logarithm of each result's search limit relative to the target limit."""

    def every(self, step: int) -> ObservedResults:
        """A subset of the results: every ``step``-th one, beginning with the first."""
        points = np.concatenate([half[::step] for half in np.split(self.points, 2)])
        return ObservedResults(points, self.pairs[::step], self.scores[::step], self.log_limits[::step])

    def hill(self, space: Space, interacting: Sequence[int], *, is_double: bool = False) -> Hill:
        """The model's shape for these results: a ``HillOverLimits`` if the results have several search limits, else a
        ``Hill``.

        ``interacting`` has the indices of the numeric dimensions that interact; ``is_double`` makes a model with two
        maxima.
        """
        if self.log_limits.any():
            return HillOverLimits(space, np.tile(self.log_limits, 2), interacting, is_double=is_double)
        return Hill(space, interacting, is_double=is_double)


@dataclass(frozen=True)
class Mode:
    """The mode of the posterior: the most probable coefficients of the model."""

    terms: Array
    information: Array
    """Negated second derivatives of the log posterior at the mode, shape (terms, terms)."""
    expected: Array
    """Expected score of the first set of values in every result, 0 to 1."""


@dataclass(frozen=True)
class Posterior:
    """The posterior of the model's coefficients (terms), from a normal prior and the likelihood of the results."""

    results: ObservedResults
    hill: Hill
    mean: Array
    precision: Array
    """Inverse covariance of the prior."""
    dispersion: float
    """Variance of a pair's score divided by p (1 - p), with p the expected score."""

    def mode(self, terms: Array, steps: int = MAX_STEPS) -> Mode:
        """Find the mode by at most ``steps`` damped Gauss-Newton steps that start at the coefficients ``terms``."""
        damping, scores = FIRST_DAMPING, self.results.scores
        expected, slopes = self._expected_with_slopes(terms)
        value = self.log_density(terms, expected)
        for _ in range(steps):
            hessian = self._information(expected, slopes)
            surprise = self.precision @ (terms - self.mean)
            gradient = slopes.T @ (self.results.pairs * (scores - expected) / self.dispersion) - surprise
            step = np.linalg.solve(hessian + damping * np.diag(np.diag(hessian)), gradient)
            there = bounded(self.hill, terms + step)
            there_expected, there_slopes = self._expected_with_slopes(there)
            there_value = self.log_density(there, there_expected)
            if there_value > value:
                gained = there_value - value
                terms, expected, slopes, value = there, there_expected, there_slopes, there_value
                damping = max(damping / 4, MIN_DAMPING)
                if gained < MIN_GAIN:
                    break
            else:
                damping *= 4
                if damping > MAX_DAMPING:
                    break
        return Mode(terms, self._information(expected, slopes), expected)

    def expected(self, terms: Array) -> Array:
        """Expected score of the first set of values in every result, 0 to 1."""
        return self._score(self.hill.elo(terms, self.results.points))

    def log_density(self, terms: Array, expected: Array) -> float:
        """Logarithm of the posterior density at the coefficients ``terms``, up to a constant.

        ``expected`` are the expected scores of the results at these coefficients.
        """
        surprise, scores = terms - self.mean, self.results.scores
        likelihood = (self.results.pairs * (scores * np.log(expected) + (1 - scores) * np.log(1 - expected))).sum()
        return float(likelihood / self.dispersion - surprise @ self.precision @ surprise / 2)

    def log_evidence(self, mode: Mode) -> float:
        """Logarithm of the probability of the results under the prior (Laplace's approximation), up to a constant."""
        volumes = np.linalg.slogdet(self.precision)[1] - np.linalg.slogdet(mode.information)[1]
        return self.log_density(mode.terms, mode.expected) + float(volumes) / 2

    def draws(self, mode: Mode, spread: float = 1.0) -> Array:
        """Random draws of the coefficients from the posterior, shape (draws, terms).

        Each draw is followed by its mirror image about the mode. ``spread`` multiplies the distances of all draws from
        the mode.
        """
        generator = np.random.Generator(np.random.PCG64(0))
        noise = generator.standard_normal((DRAWS // 2, len(mode.terms)))
        mirrored = np.stack([noise, -noise], axis=1).reshape(DRAWS, len(mode.terms))
        root = np.linalg.cholesky(mode.information).T
        return bounded(self.hill, mode.terms + spread * np.linalg.solve(root, mirrored.T).T)

    def best_starts(self, starts: Array) -> Array:
        """The best coefficients after the stages ``CLIMBS`` of the search for two hills, which begins at the points
        ``starts``.
        """
        values = np.array([self.log_density(start, self.expected(start)) for start in starts])
        for count, steps in CLIMBS:
            climbed = [self.mode(starts[place], steps) for place in np.argsort(-values, kind="stable")[:count]]
            starts = np.array([one.terms for one in climbed])
            values = np.array([self.log_density(one.terms, one.expected) for one in climbed])
        return np.asarray(starts[np.argsort(-values, kind="stable")[:LAST_CLIMBS]], float)

    def _expected_with_slopes(self, terms: Array) -> tuple[Array, Array]:
        """Expected score of every result, and the derivatives of the score's logit, shape (results, terms).

        The derivatives are with respect to each coefficient of the model.
        """
        elo, slopes = self.hill.elo_with_slopes(terms, self.results.points)
        count = len(self.results.pairs)
        return self._score(elo), (slopes[:count] - slopes[count:]) / NATURAL_TO_ELO

    def _score(self, elo: Array) -> Array:
        count = len(self.results.pairs)
        logits = (elo[:count] - elo[count:]) / NATURAL_TO_ELO
        return np.asarray(1 / (1 + np.exp(-np.clip(logits, -MAX_LOGIT, MAX_LOGIT))), float)

    def _information(self, expected: Array, slopes: Array) -> Array:
        weights = self.results.pairs * expected * (1 - expected) / self.dispersion
        return np.asarray((slopes * weights[:, None]).T @ slopes + self.precision, float)


@dataclass(frozen=True)
class Explanation:
    """A candidate model of the results: a model with one or two maxima, with its posterior, mode and probability."""

    posterior: Posterior
    mode: Mode
    log_odds: float
    """Logarithm of the model's probability, up to a constant that all candidates share."""

    def drawn(self, spread: float, *, is_double: bool) -> Array:
        """Random draws of the coefficients from the posterior, shape (draws, terms), for ``ResponseModel``.

        ``spread`` multiplies the distances of the draws from the mode. With ``is_double``, a model with one maximum
        gets the coefficients of a second one, with the height ``NO_SUMMIT``.
        """
        hill = self.posterior.hill
        terms = self.posterior.draws(self.mode, spread)[:, : hill.at_target.terms]
        if hill.is_double or not is_double:
            return terms
        second = np.zeros((len(terms), 2 * hill.count + 1))
        second[:, -1] = NO_SUMMIT
        return np.concatenate([terms, second], axis=1)


@one_thread()
def fit(observations: Observations, *, is_last: bool = False) -> ResponseModel:
    """Fit the response model to all results.

    There are up to three candidates: one maximum, one maximum near the base, and two maxima. The result has random
    draws from the posterior of the most probable candidate. With ``is_last`` it also has draws from the other
    candidates, in proportion to their probabilities.
    """
    first, second, pairs, scores = observations.arrays()
    results = ObservedResults(np.concatenate([first, second]), pairs, scores, observations.log_limits)
    far = _single_hill(observations.space, results)
    near, double = _near_base(far), _two_hills(far)
    best, *others = sorted(filter(None, (far, near, double)), key=lambda one: -one.log_odds)
    two_hills = None if double is None else _described(double, double.log_odds - max(far.log_odds, near.log_odds))
    return _averaged(best, others if is_last else [], two_hills, LAST_SPREAD if is_last else 1.0)


def _single_hill(space: Space, results: ObservedResults) -> Explanation:
    """The most probable model with one maximum.

    A first fit without interactions finds the numeric dimensions with the largest curvatures; only these may interact.
    """
    plain = results.hill(space, ())
    first = Posterior(results, plain, *plain.prior(), TYPICAL_DISPERSION).mode(plain.prior()[0])
    steepest = np.argsort(-first.terms[plain.curvatures], kind="stable")[:MAX_INTERACTING]
    hill = results.hill(space, sorted(steepest.tolist()))
    posterior = Posterior(results, hill, *hill.prior(), _dispersion(results, first.expected))
    mode = posterior.mode(np.insert(first.terms, [plain.interactions.start] * len(hill.one), 0.0))
    return Explanation(posterior, mode, posterior.log_evidence(mode))


def _near_base(hill: Explanation) -> Explanation:
    """A candidate like ``hill``, but with the prior of a maximum near the base."""
    mean, precision = hill.posterior.hill.prior(hill.mode.terms[hill.posterior.hill.curvatures])
    posterior = replace(hill.posterior, mean=mean, precision=precision)
    mode = posterior.mode(hill.mode.terms)
    return Explanation(posterior, mode, math.log(NEAR_BASE_ODDS) + posterior.log_evidence(mode))


def _dispersion(results: ObservedResults, expected: Array) -> float:
    observed = float((results.pairs * (results.scores - expected) ** 2 / (expected * (1 - expected))).sum())
    return (DISPERSION_WEIGHT * TYPICAL_DISPERSION + observed) / (DISPERSION_WEIGHT + len(results.pairs))


def _two_hills(single: Explanation) -> Explanation | None:
    """The most probable model with two hills (maxima), the higher hill first; ``None`` if there are too few results.

    The search starts with maxima at sampled sets of values, and continues from the most probable starting points.
    """
    results, hill, space = single.posterior.results, single.posterior.hill, single.posterior.hill.space
    if not hill.count or results.pairs.sum() < max(PAIRS_OF_TWO_HILLS, PAIRS_PER_RANGE * hill.count):
        return None
    double = results.hill(space, hill.interacting, is_double=True)
    posterior = Posterior(results, double, *double.prior(), single.posterior.dispersion)
    few = results.every(math.ceil(len(results.pairs) / SEARCHED))
    on_few = replace(posterior, results=few, hill=few.hill(space, hill.interacting, is_double=True))
    starts = on_few.best_starts(bounded(double, _starts_of_two_hills(single, posterior)))
    climbed = [posterior.mode(start, LAST_STEPS) for start in starts]
    best = max(climbed, key=lambda one: posterior.log_density(one.terms, one.expected))
    mode = posterior.mode(best.terms)
    if mode.terms[double.height] > 0:
        mode = posterior.mode(double.exchanged(mode.terms))
    return Explanation(posterior, mode, math.log(SECOND_SUMMIT_ODDS) + posterior.log_evidence(mode))


def _starts_of_two_hills(single: Explanation, posterior: Posterior) -> Array:
    """Coefficients with two maxima at which the search for two hills starts, shape (starts, terms).

    One or both maxima lie at sampled sets of values; all other coefficients come from the model with one maximum.
    """
    double, end, terms = posterior.hill, single.posterior.hill.effects.stop, single.mode.terms
    generator = np.random.Generator(np.random.PCG64(2))
    sampled = posterior.results.points[:, double.ordered]
    starts = np.tile(posterior.mean, (SCREENED, 1))
    starts[:, :end] = terms[:end]
    starts[:, double.height + 1 :] = terms[end:]
    places = generator.integers(len(sampled), size=(SCREENED, 2))
    starts[::2, double.maxima] = sampled[places[::2, 0]]
    starts[:, double.second_maxima] = sampled[places[:, 1]]
    starts[:, double.curvatures] += generator.choice(FIRST_STEEPNESS, size=(SCREENED, double.count))
    return starts


def _described(double: Explanation, log_odds: float) -> TwoHills:
    """Maxima, probability and response model of the candidate with two hills.

    ``log_odds`` is the natural logarithm of the candidate's odds against the best candidate with one hill.
    """
    posterior, hill, terms = double.posterior, double.posterior.hill, double.mode.terms
    at_target = np.vstack([terms, posterior.draws(double.mode)])[:, : hill.at_target.terms]
    first, second = at_target[0, hill.maxima], at_target[0, hill.second_maxima]
    mode = ResponseModel(hill.at_target, at_target[:1], posterior.dispersion)
    model = ResponseModel(hill.at_target, at_target[1:], posterior.dispersion, mode)
    return TwoHills((first, second), model, 1 / (1 + math.exp(-min(max(log_odds, -MAX_LOGIT), MAX_LOGIT))))


def _averaged(
    best: Explanation, others: Sequence[Explanation], two_hills: TwoHills | None, spread: float
) -> ResponseModel:
    """The response model of the candidate ``best``, with posterior draws from all candidates in proportion to
    probability.

    ``spread`` multiplies the distances of the draws from their modes.
    """
    hill, dispersion = best.posterior.hill.at_target, best.posterior.dispersion
    widest = max((one.posterior.hill.at_target for one in (best, *others)), key=lambda one: one.terms)
    draws = best.drawn(spread, is_double=widest.is_double)
    odds = [math.exp(min(max(one.log_odds - best.log_odds, -MAX_LOGIT), MAX_LOGIT)) for one in others]
    start = 0
    for one, share in zip(others, odds, strict=True):
        end = start + round(share / (1 + sum(odds)) * DRAWS)
        draws[start:end] = one.drawn(spread, is_double=widest.is_double)[start:end]
        start = end
    mode = ResponseModel(hill, best.mode.terms[None, : hill.terms], dispersion)
    return ResponseModel(widest, draws, dispersion, mode, two_hills=two_hills)
