"""The response model: Elo against the base as a function of the parameters, fitted to every game of a study.

A pair's score between two sets is logistic in the difference of their Elo. Elo is a hill (``tuning.study.model.hill``):
it has one maximum over whole numbers, every dimension has the place of its maximum, a curvature that is positive, a
skew that makes one slope steeper than the other, and mild interactions with the others; far from it Elo levels off;
every choice has an effect. The prior: maxima lie about the middle of the ranges or beyond their ends, curvatures are
log-normal about a common size that is estimated from the games, skews, interactions and effects are moderate. Ranges
that were chosen about their maxima have a closer prior of the maxima's places, if the games speak for it: under the
wide one alone, a hill of many ranges would be thought less probable than that the base is the best. Where the games
speak against a hill (a cliff, ripples), departures from it are added (``tuning.study.model.departures``); where
two hills are the more probable, of which the higher one counts at every point, the model is of two. The posterior is
the normal one around its mode in these terms, carried as draws, with the dispersion of pair scores as it is observed
(pairs vary less than games because of draws and openings). At the end of a study the draws are of hills with and
without the departures that the games leave open, and some are of a hill whose maximum is near the base, each in
proportion to its probability (Bayesian model averaging, Hoeting et al. 1999): so intervals say how far the model may be
wrong.

That curvatures are positive and maxima not far from the ranges is worth more than it seems: a quadratic with free
coefficients takes every dimension that the games say little of for a slope, and recommends an end of its range.

What to recommend is the maximum of the most probable model inside what was sampled, never the best observed result:
among many noisy results the best one is mostly the luckiest. The mean over the posterior would not do either: its
maximum is drawn away from the ends of the ranges, since there the draws with a maximum beyond count less.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arena.figures.statistics import NATURAL_TO_ELO, Pentanomial
from engine.settings.parameters import Value
from tuning.study.model.departures import Group, Possible, choose, drawn_weights, groups_of
from tuning.study.model.hill import (
    CLOSE_DEVIATION,
    MAX_INTERACTING,
    NO_SUMMIT,
    PLACE_DEVIATION,
    SKEW_WIDTH,
    VALLEY_WIDTH,
    Hill,
    HillOverLimits,
    bounded,
    levelled_off,
)
from tuning.study.model.linear_algebra import one_thread
from tuning.study.space import Space

Array = NDArray[np.float64]
Values = tuple[Value, ...]

NEAR_BASE_ODDS = 1 / 8
"""That it is, before any game."""
SECOND_SUMMIT_ODDS = 1 / 2
"""That there are two hills, before any game."""
PAIRS_OF_TWO_HILLS = 600
"""Game pairs from which on two hills are thought of: of fewer what is near the best of one teaches more."""
SCREENED = 200
"""Starts of the search for two hills."""
EVERY = slice(None)
"""All results."""
SEARCHED = 300
"""Results that the search goes by at most, until its end."""
CLIMBS = ((12, 3), (4, 8))
"""How many of the best starts are climbed from, and by how many steps."""
LAST_CLIMBS, LAST_STEPS = 2, 4
"""The same by all results; from the best one to the end."""
FIRST_STEEPNESS = np.log([1.5, 4.0])
"""Of the curvatures of two hills over that of one, at first."""
LOOKED_INTO = 0.1
"""Probability of two hills by which they are looked into at least."""
MIN_APART = 0.15
"""Of a range: sets that are closer in every dimension lie on the same summit."""
TYPICAL_DISPERSION = 0.3
"""Variance of a pair's score over p (1 - p); 1 for a single game without draws."""
DISPERSION_WEIGHT = 50.0
"""Pairs that this prior counts for."""
DRAWS = 256
"""Of the posterior; even, every draw has its mirror image."""
TRUST_QUANTILE = 0.02
"""The trust region reaches from this quantile of the sampled coordinates to its mirror image."""
SWEEPS = 20
MAX_STEPS = 60
MIN_GAIN = 1e-3
"""In the logarithm of the posterior: a step that gains less ends the search for its mode."""
FIRST_DAMPING, MIN_DAMPING, MAX_DAMPING = 1.0, 1e-6, 1e6
"""Of the search's steps (Levenberg and Marquardt)."""
MAX_LOGIT = 20.0
PASSES = 2
"""Of asking which departures there are, since the hill gives way to them."""
SAMPLED_STARTS, SAMPLED_COMPARED = 4, 300
"""Sampled sets from which the maximum of a model with departures is searched, the best of so many."""
REMAINING_POINTS, REMAINING_COORDINATES = 2000, 20_000
"""Sets over which the gain that remains is estimated, and their coordinates altogether, at most."""
IMPORTANCE_POINTS = 1000
"""Sets over which importance is computed."""
IMPORTANCE_SLICES = 20
FOREST_POINTS, FOREST_TREES, FOREST_DEPTH = 400, 24, 24
"""Of Optuna's evaluator: with its defaults and all points it takes most of a minute."""
ELO_DIGITS = 6
"""Decimal places to which sets are compared."""
MAX_CANDIDATES = 41
"""Values of one range that a sweep compares."""


class Observations:
    """Every result of a study as rows: two sets, the pairs they played, and the first one's mean score."""

    def __init__(self, space: Space) -> None:
        self.space = space
        self._first: list[tuple[float, ...]] = []
        self._second: list[tuple[float, ...]] = []
        self._pairs: list[int] = []
        self._scores: list[float] = []
        self._sets: dict[Values, None] = {}
        self._log_limits: list[float] = []

    def __len__(self) -> int:
        return len(self._pairs)

    @property
    def pairs(self) -> int:
        """Pairs of all results."""
        return sum(self._pairs)

    @property
    def log_limits(self) -> Array:
        """Of every result, the logarithm of its limit over the one that the model is asked for, shape (results,)."""
        return np.array(self._log_limits, float)

    def add(self, first: Values, second: Values, counts: Pentanomial, log_limit: float = 0.0) -> None:
        """Add a result; one without pairs, or of a set against itself, says nothing and is left out."""
        if counts.pairs and first != second:
            score = sum(place * count for place, count in enumerate(counts.counts)) / (4 * counts.pairs)
            self.add_score(first, second, counts.pairs, score, log_limit)

    def add_score(self, first: Values, second: Values, pairs: int, score: float, log_limit: float = 0.0) -> None:
        """Add a result as the mean score of so many pairs."""
        self._sets[first] = self._sets[second] = None
        self._first.append(self.space.coordinates(first))
        self._second.append(self.space.coordinates(second))
        self._pairs.append(pairs)
        self._scores.append(score)
        self._log_limits.append(log_limit)

    def arrays(self) -> tuple[Array, Array, Array, Array]:
        """Coordinates of the first and of the second sets, shape (results, dimensions); pairs, scores."""
        shape = (len(self), len(self.space.dimensions))
        return (
            np.array(self._first, float).reshape(shape),
            np.array(self._second, float).reshape(shape),
            np.array(self._pairs, float),
            np.array(self._scores, float),
        )

    def sampled(self) -> list[Values]:
        """Every set that has played, once, in the order of its first result."""
        return list(self._sets)

    def trust_region(self) -> tuple[Array, Array]:
        """Lower and upper ends of what was sampled, in coordinates; of choices, all of them."""
        first, second, _, _ = self.arrays()
        default = np.array(self.space.coordinates(self.space.default_values))
        if not len(self):
            return default, default
        sampled = np.concatenate([first, second])
        low = np.quantile(sampled, TRUST_QUANTILE, axis=0)
        return low, np.quantile(sampled, 1 - TRUST_QUANTILE, axis=0)


@dataclass(frozen=True)
class Summit:
    """The top of a hill."""

    maximum: Array
    """Coordinates, shape (ranges,); they may lie beyond the ends."""
    curvatures: Array
    """Elo over range squared, shape (ranges,)."""


@dataclass(frozen=True)
class TwoHills:
    """What the results say if there are two hills, whether they are the most probable model or not."""

    summits: tuple[Summit, Summit]
    """The higher one first."""
    model: ResponseModel
    probability: float


class ResponseModel:
    """Elo as a function of the set, with its uncertainty. Only differences between sets mean anything."""

    def __init__(
        self,
        space: Space,
        terms: Array,
        dispersion: float,
        groups: Sequence[Group | Possible] = (),
        mode: ResponseModel | None = None,
        *,
        is_double: bool = False,
        two_hills: TwoHills | None = None,
    ) -> None:
        self.space = space
        self.mode = mode or self
        """The most probable terms alone."""
        self.dispersion = dispersion
        """Variance of a pair's score over p (1 - p)."""
        self.groups = tuple(groups)
        """Departures from the hill that the games show; of the last model's draws all that may be there."""
        self.two_hills = two_hills
        """``None`` if they were not looked for."""
        self._hill = Hill(space, is_double=is_double)
        self._maxima = terms[:, None, self._hill.maxima]
        self._skews = terms[:, None, self._hill.skews]
        self._log_largest_losses = terms[:, self._hill.largest_loss, None]
        self._hessians = self._hill.hessians(terms)
        if is_double:
            self._second_maxima = terms[:, None, self._hill.second_maxima]
            self._second_hessians = self._hill.hessians(terms, second=True)
            self._heights = terms[:, self._hill.height]
        self._effects = terms[:, self._hill.effects]
        self._weights = terms[:, self._hill.terms :]

    def elo(self, points: Array) -> Array:
        """Elo of coordinates (points, dimensions) by every draw of the posterior, shape (points, draws)."""
        elo = self._below_summit(points, self._maxima, self._hessians)
        if self._hill.is_double:
            other = self._below_summit(points, self._second_maxima, self._second_hessians) + self._heights
            elo = VALLEY_WIDTH * np.logaddexp(elo / VALLEY_WIDTH, other / VALLEY_WIDTH)
        elo = elo + self._hill.indicators(points) @ self._effects.T
        if self.groups:
            elo = elo + np.concatenate([group.features(points) for group in self.groups], axis=1) @ self._weights.T
        return np.asarray(elo, float)

    def _below_summit(self, points: Array, maxima: Array, hessians: Array) -> Array:
        """Elo of a hill without choices by every draw, shape (points, draws)."""
        apart = points[None, :, self._hill.ordered] - maxima
        bent = apart * (1 + self._skews * np.tanh(apart / SKEW_WIDTH))
        lost = 0.5 * ((bent @ hessians) * bent).sum(axis=2)
        return np.asarray(-levelled_off(lost, self._log_largest_losses)[0].T, float)

    def draws(self, sets: Sequence[Values], against: Values | None = None) -> Array:
        """Elo of each set minus another's (default: the base) by every draw, shape (sets, draws)."""
        other = self.space.default_values if against is None else against
        elo = self.elo(np.array([self.space.coordinates(values) for values in (*sets, other)], float))
        return np.asarray(elo[:-1] - elo[-1], float)

    def gain(self, sets: Sequence[Values], against: Values | None = None) -> tuple[Array, Array]:
        """Posterior mean and standard deviation, in Elo, of each set minus another (default: the base)."""
        found = self.draws(sets, against)
        return found.mean(axis=1), found.std(axis=1)

    def difference(self, one: Values, other: Values) -> tuple[float, float]:
        """The same of a single pair of sets."""
        mean, deviation = self.gain([one], other)
        return float(mean[0]), float(deviation[0])

    def curvatures(self, values: Values) -> Array:
        """Of every range in turn, Elo over range squared, of the most probable model's hill that a set lies on."""
        mode, second = self.mode, False
        if mode._hill.is_double:
            point = np.array([self.space.coordinates(values)], float)
            other = mode._below_summit(point, mode._second_maxima, mode._second_hessians) + mode._heights
            second = bool(other[0, 0] > mode._below_summit(point, mode._maxima, mode._hessians)[0, 0])
        return np.asarray(np.diagonal((mode._second_hessians if second else mode._hessians)[0]), float)

    def summits(self, values: Values, region: tuple[Array, Array] | None = None) -> list[Values]:
        """Sets at the summits of two hills, the higher one first, with what else there is from ``values``.

        Within the ranges, and within a region of coordinates if there is one.
        """
        found = []
        for summit in () if self.two_hills is None else self.two_hills.summits:
            there = list(values)
            maximum = summit.maximum
            if region is not None:
                maximum = np.clip(maximum, region[0][self._hill.ordered], region[1][self._hill.ordered])
            for place, coordinate in zip(self._hill.ordered, maximum, strict=True):
                there[place] = self.space.dimensions[place].value_at(float(coordinate))
            found.append(self.space.effective_values(there))
        return found

    def rival(self, best: Values) -> tuple[Values, Array, float] | None:
        """A summit apart from the set ``best``, its curvatures, and how probable it is that it is the higher one.

        The higher summit of two hills, or the other one if that is where ``best`` lies. That there are two hills is
        taken to be so probable at least that they are looked into.
        """
        if self.two_hills is None:
            return None
        here = np.array(self.space.coordinates(best))[self._hill.ordered]
        for values, summit in zip(self.summits(best), self.two_hills.summits, strict=True):
            place = np.array(self.space.coordinates(values))[self._hill.ordered]
            if np.abs(place - here).max() > MIN_APART:
                higher = float((self.two_hills.model.draws([values], best) > 0).mean())
                return values, summit.curvatures, higher * max(self.two_hills.probability, LOOKED_INTO)
        return None

    def effects(self, place: int) -> Array:
        """Elo of every choice of a dimension by every draw, shape (draws, choices), up to a constant."""
        return self._effects[:, self._hill.effects_of(place)]


@one_thread()
def fit(observations: Observations, *, is_last: bool = False) -> ResponseModel:
    """The model of all results; the last one of a study also considers that the base may be the best already."""
    return _Fit(observations).model(is_last)


def _score(logits: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-np.clip(logits, -MAX_LOGIT, MAX_LOGIT))), float)


Mode = tuple[Array, Array, Array]
"""The most probable terms, the negated second derivatives there, and what is expected of each result."""


@dataclass(frozen=True)
class _Alternative:
    """Another model of the same results."""

    hill: Hill
    log_odds: float
    """Logarithm of its probability, up to what all models have in common."""
    draws: Array


class _Fit:
    """The search for the posterior of one model."""

    def __init__(self, observations: Observations) -> None:
        self._space = observations.space
        self._log_limits = observations.log_limits
        self._hill = self._hills(is_double=False)
        first, second, self._pairs, self._scores = observations.arrays()
        self._points = np.concatenate([first, second])
        """Coordinates of every result's first set, then of every second one."""
        self._deviation_of_places = PLACE_DEVIATION
        self._mean, self._precision = self._hill.prior()
        self._features = np.zeros((len(self._pairs), 0))
        """Of the first set minus the second one, over the unit of Elo: of the departures."""
        self._dispersion = TYPICAL_DISPERSION
        self._found_two_hills: TwoHills | None = None

    def _hills(self, *, is_double: bool, rows: slice = EVERY) -> Hill:
        if self._log_limits.any():
            return HillOverLimits(self._space, np.tile(self._log_limits[rows], 2), is_double=is_double)
        return Hill(self._space, is_double=is_double)

    def model(self, is_last: bool) -> ResponseModel:
        """Fit a hill, ask whether there are two and for departures from them, fit all that is there."""
        terms, _, expected = self._mode(self._mean)
        self._dispersion = self._observed_dispersion(expected)
        hill = self._with_close_maxima(self._mode(terms))
        near_base = [self._near_base(hill)] if is_last else []
        found, log_odds, others = self._with_second_summit(hill)
        others = [*near_base, *others] if is_last else []
        terms, information, chosen = self._with_departures(found)
        draws, groups = self._drawn(terms, information), [self._groups[place] for place in chosen]
        is_double = self._hill.is_double or any(one.hill.is_double for one in others)
        mode = ResponseModel(
            self._space, self._hill.at_target(terms[None]), self._dispersion, groups, is_double=self._hill.is_double
        )
        possible: list[Possible] = []
        draws = self._at_target(self._hill, draws, is_double)
        if is_last:
            possible, weights = self._possible(terms, information, chosen)
            draws = np.concatenate([draws, *weights], axis=1)
        self._mix(draws, log_odds, others, is_double)
        everything: list[Group | Possible] = [*groups, *possible]
        return ResponseModel(
            self._space, draws, self._dispersion, everything, mode, is_double=is_double, two_hills=self._found_two_hills
        )

    def _at_target(self, hill: Hill, terms: Array, is_double: bool) -> Array:
        """The terms that ``ResponseModel`` takes, of a hill with a second summit if the others have one."""
        terms = hill.at_target(terms)
        if hill.is_double or not is_double:
            return terms
        plain, double = Hill(self._space), Hill(self._space, is_double=True)
        second = np.zeros((len(terms), double.terms - plain.terms))
        second[:, -1] = NO_SUMMIT
        return np.concatenate([terms[:, : plain.terms], second, terms[:, plain.terms :]], axis=1)

    def _mix(self, draws: Array, log_odds: float, others: Sequence[_Alternative], is_double: bool) -> None:
        """Let draws of other models take the place of some, each model as often as it is probable."""
        odds = [math.exp(min(max(one.log_odds - log_odds, -MAX_LOGIT), MAX_LOGIT)) for one in others]
        start = 0
        for one, share in zip(others, odds, strict=True):
            end = start + round(share / (1 + sum(odds)) * DRAWS)
            at_target = self._at_target(one.hill, one.draws[start:end], is_double)
            draws[start:end, : at_target.shape[1]] = at_target
            draws[start:end, at_target.shape[1] :] = 0.0
            start = end

    def _with_close_maxima(self, hill: Mode) -> Mode:
        """The hill under the prior of the maxima's places that the games speak for; that prior is kept."""
        wide, evidence = (self._mean, self._precision), self._evidence(hill)
        self._mean, self._precision = self._hill.prior(CLOSE_DEVIATION)
        close = self._mode(hill[0])
        if self._evidence(close) > evidence:
            self._deviation_of_places = CLOSE_DEVIATION
            return close
        self._mean, self._precision = wide
        return hill

    def _near_base(self, hill: Mode) -> _Alternative:
        """A hill that is near the base, which may be the best already."""
        general = self._mean, self._precision
        self._mean, self._precision = self._hill.prior(is_near_base=True)
        found = self._mode(hill[0])
        log_odds = math.log(NEAR_BASE_ODDS) + self._evidence(found)
        self._mean, self._precision = general
        return _Alternative(self._hill, log_odds, self._drawn(found[0], found[1]))

    def _with_second_summit(self, hill: Mode) -> tuple[Mode, float, list[_Alternative]]:
        """The more probable of a hill and two hills, the logarithm of its probability, and the other one."""
        evidence = self._evidence(hill)
        if not 0 < self._hill.count <= MAX_INTERACTING or self._pairs.sum() < PAIRS_OF_TWO_HILLS:
            return hill, evidence, []
        drawn = self._drawn(hill[0], hill[1])
        single = self._hill, self._mean, self._precision
        self._hill = self._hills(is_double=True)
        self._mean, self._precision = self._hill.prior(self._deviation_of_places)
        double = self._two_hills(hill[0], single[0])
        log_odds = math.log(SECOND_SUMMIT_ODDS) + self._evidence(double)
        self._found_two_hills = self._described(double, log_odds - evidence)
        if log_odds > evidence:
            return double, log_odds, [_Alternative(single[0], evidence, drawn)]
        other = _Alternative(self._hill, log_odds, self._drawn(double[0], double[1]))
        self._hill, self._mean, self._precision = single
        return hill, evidence, [other]

    def _described(self, double: Mode, log_odds: float) -> TwoHills:
        draws = self._drawn(double[0], double[1])
        at_target = self._at_target(self._hill, np.vstack([double[0], draws]), is_double=True)
        first, second = (
            Summit(at_target[0, places], np.exp(self._hill.log_curvatures(double[0], second=is_second)))
            for places, is_second in ((self._hill.maxima, False), (self._hill.second_maxima, True))
        )
        mode = ResponseModel(self._space, at_target[:1], self._dispersion, is_double=True)
        model = ResponseModel(self._space, at_target[1:], self._dispersion, mode=mode, is_double=True)
        return TwoHills((first, second), model, 1 / (1 + math.exp(-min(max(log_odds, -MAX_LOGIT), MAX_LOGIT))))

    def _two_hills(self, hill: Array, single: Hill) -> Mode:
        """The most probable two hills that are found, the higher one first.

        Where summits may be is drawn from the sets that were sampled; the most promising are climbed from.
        """
        double = self._hill
        generator = np.random.Generator(np.random.PCG64(2))
        sampled = self._points[:, double.ordered]
        starts = np.tile(self._mean, (SCREENED, 1))
        starts[:, : single.effects.stop] = hill[: single.effects.stop]
        starts[:, double.height + 1 :] = hill[single.effects.stop :]
        places = generator.integers(len(sampled), size=(SCREENED, 2))
        starts[::2, double.maxima] = sampled[places[::2, 0]]
        starts[:, double.second_maxima] = sampled[places[:, 1]]
        starts[:, double.curvatures] += generator.choice(FIRST_STEEPNESS, size=(SCREENED, double.count))
        few = slice(None, None, math.ceil(len(self._pairs) / SEARCHED))
        everything = self._points, self._pairs, self._scores, self._features
        self._points = np.concatenate([half[few] for half in np.split(self._points, 2)])
        self._pairs, self._scores, self._features = (rows[few] for rows in everything[1:])
        self._hill = self._hills(is_double=True, rows=few)
        starts = self._climbed(bounded(double, starts))
        self._hill = double
        self._points, self._pairs, self._scores, self._features = everything
        climbed = [self._mode(start, LAST_STEPS) for start in starts]
        found = self._mode(max(climbed, key=lambda one: self._posterior(one[0], one[2]))[0])
        return self._mode(double.exchanged(found[0])) if found[0][double.height] > 0 else found

    def _climbed(self, starts: Array) -> Array:
        """What the best of these terms lead to."""
        values = np.array([self._posterior(start, self._expected(start)) for start in starts])
        for count, steps in CLIMBS:
            climbed = [self._mode(starts[place], steps) for place in np.argsort(-values, kind="stable")[:count]]
            starts = np.array([terms for terms, _, _ in climbed])
            values = np.array([self._posterior(terms, expected) for terms, _, expected in climbed])
        return np.asarray(starts[np.argsort(-values, kind="stable")[:LAST_CLIMBS]], float)

    def _evidence(self, found: tuple[Array, Array, Array]) -> float:
        """Logarithm of the probability of the results under the prior (Laplace's approximation), up to a constant."""
        terms, information, expected = found
        volumes = np.linalg.slogdet(self._precision)[1] - np.linalg.slogdet(information)[1]
        return self._posterior(terms, expected) + float(volumes) / 2

    def _drawn(self, terms: Array, information: Array) -> Array:
        """Draws from the posterior, each followed by its mirror image, shape (draws, terms)."""
        generator = np.random.Generator(np.random.PCG64(0))
        noise = generator.standard_normal((DRAWS // 2, len(terms)))
        mirrored = np.stack([noise, -noise], axis=1).reshape(DRAWS, len(terms))
        return bounded(self._hill, terms + np.linalg.solve(np.linalg.cholesky(information).T, mirrored.T).T)

    def _possible(
        self, terms: Array, information: Array, chosen: Collection[int]
    ) -> tuple[list[Possible], list[Array]]:
        """The departures that were not chosen and may be there nevertheless, and draws of their weights."""
        expected, slopes = self._expectation(terms)
        precision = self._pairs * expected * (1 - expected) / self._dispersion
        surprise = self._pairs * (self._scores - expected) / self._dispersion
        generator = np.random.Generator(np.random.PCG64(1))
        at_target_hill = Hill(self._space, is_double=self._hill.is_double)
        groups = [self._groups[place] for place in chosen]
        found: list[Possible] = []
        weights: list[Array] = []
        for place, features in enumerate(self._group_features):
            if place not in chosen:
                weighted = features * precision[:, None]
                moves = np.linalg.solve(information, slopes.T @ weighted)
                left = features.T @ weighted - weighted.T @ slopes @ moves
                weights.append(drawn_weights(features.T @ surprise, left, generator, DRAWS))
                at_target = self._hill.at_target(np.vstack([terms, moves.T]))
                found.append(Possible(self._groups[place], at_target_hill, groups, at_target[0], at_target[1:].T))
        return found, weights

    def _with_departures(self, found: tuple[Array, Array, Array]) -> tuple[Array, Array, Collection[int]]:
        """Mode, negated second derivatives and departures of the model that the games speak for, from a hill on."""
        terms, information, _ = found
        count = self._hill.terms
        self._groups = groups_of(self._space, self._points)
        self._group_features = features = [
            np.subtract(*np.split(group.features(self._points), 2)) / NATURAL_TO_ELO for group in self._groups
        ]
        chosen: dict[int, float] = {}
        for _ in range(PASSES):
            before, chosen = chosen, self._departures(terms[:count], features)
            if chosen == before:
                break
            self._features = np.hstack([np.zeros((len(self._pairs), 0)), *(features[group] for group in chosen)])
            spread = [1 / deviation**2 for group, deviation in chosen.items() for _ in range(features[group].shape[1])]
            self._mean = np.concatenate([self._mean[:count], np.zeros(len(spread))])
            precision = np.diag(np.concatenate([np.zeros(count), spread]))
            precision[:count, :count] = self._precision[:count, :count]
            self._precision = precision
            terms, information, _ = self._mode(np.concatenate([terms[:count], np.zeros(len(spread))]))
        return terms, information, list(chosen)

    def _departures(self, hill: Array, features: Sequence[Array]) -> dict[int, float]:
        """Which departures the games show where the hill is as it is now."""
        kept, self._features = self._features, np.zeros((len(self._pairs), 0))
        expected, slopes = self._expectation(hill)
        self._features = kept
        count = len(hill)
        columns = np.concatenate([slopes, *features], axis=1)
        ends = np.cumsum([count, *(one.shape[1] for one in features)])
        weights = self._pairs * expected * (1 - expected) / self._dispersion
        information = (columns * weights[:, None]).T @ columns
        information[:count, :count] += self._precision[:count, :count]
        slope = columns.T @ (self._pairs * (self._scores - expected) / self._dispersion)
        slope[:count] -= self._precision[:count, :count] @ (hill - self._mean[:count])
        places = [slice(int(start), int(end)) for start, end in itertools.pairwise(ends)]
        return choose(information, slope, places, count)

    def _observed_dispersion(self, expected: Array) -> float:
        observed = float((self._pairs * (self._scores - expected) ** 2 / (expected * (1 - expected))).sum())
        return (DISPERSION_WEIGHT * TYPICAL_DISPERSION + observed) / (DISPERSION_WEIGHT + len(self._pairs))

    def _expected(self, terms: Array) -> Array:
        """The expected score of every result."""
        hill, weights = terms[: self._hill.terms], terms[self._hill.terms :]
        elo = self._hill.elo(hill, self._points)
        return _score((elo[: len(self._pairs)] - elo[len(self._pairs) :]) / NATURAL_TO_ELO + self._features @ weights)

    def _expectation(self, terms: Array) -> tuple[Array, Array]:
        """The expected score of every result, and the derivatives of its logit by every term."""
        hill, weights, count = terms[: self._hill.terms], terms[self._hill.terms :], len(self._pairs)
        elo, slopes = self._hill.elo_with_slopes(hill, self._points)
        logits = (elo[:count] - elo[count:]) / NATURAL_TO_ELO + self._features @ weights
        slopes = np.concatenate([(slopes[:count] - slopes[count:]) / NATURAL_TO_ELO, self._features], axis=1)
        return _score(logits), slopes

    def _posterior(self, terms: Array, expected: Array) -> float:
        """Its logarithm, up to a constant."""
        surprise = terms - self._mean
        scores = self._scores
        likelihood = (self._pairs * (scores * np.log(expected) + (1 - scores) * np.log(1 - expected))).sum()
        return float(likelihood / self._dispersion - surprise @ self._precision @ surprise / 2)

    def _mode(self, terms: Array, steps: int = MAX_STEPS) -> Mode:
        """The mode, the negated second derivatives there (Gauss and Newton), and what is expected of each result."""
        damping = FIRST_DAMPING
        expected, slopes = self._expectation(terms)
        value = self._posterior(terms, expected)
        for _ in range(steps):
            weights = self._pairs * expected * (1 - expected) / self._dispersion
            hessian = (slopes * weights[:, None]).T @ slopes + self._precision
            surprise = self._precision @ (terms - self._mean)
            gradient = slopes.T @ (self._pairs * (self._scores - expected) / self._dispersion) - surprise
            step = np.linalg.solve(hessian + damping * np.diag(np.diag(hessian)), gradient)
            there = bounded(self._hill, terms + step)
            there_expected, there_slopes = self._expectation(there)
            there_value = self._posterior(there, there_expected)
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
        weights = self._pairs * expected * (1 - expected) / self._dispersion
        return terms, (slopes * weights[:, None]).T @ slopes + self._precision, expected


@one_thread()
def maximum(model: ResponseModel, region: tuple[Array, Array], starts: Sequence[Values]) -> Values:
    """The best set by the most probable model inside a region of coordinates; choices are free.

    Found by changing one dimension at a time from each of ``starts`` until nothing helps; with conditional dimensions
    pairs of a choice and what depends on it are covered by the starts and the sweeps.
    """
    space = model.space
    candidates = [_candidates(space, place, region) for place in range(len(space.dimensions))]
    best: tuple[float, Values] | None = None
    for start in [*starts, *model.summits(starts[0], region)]:
        found = _climb(model.mode, candidates, space.effective_values(start))
        value = float(model.mode.gain([found])[0][0])
        if best is None or value > best[0] + 10.0**-ELO_DIGITS:
            best = (value, found)
    assert best is not None
    return _weighed(model, region, candidates, best[1])


def _weighed(
    model: ResponseModel, region: tuple[Array, Array], candidates: Sequence[Sequence[Value]], best: Values
) -> Values:
    """The best of a hill's maximum and the summits of two hills, where there may be two: each by both models.

    A set between two summits may be the best by one hill and far below by the other model, while the summits are good
    by both: then they are worth more than how probable they are would say.
    """
    other = model.two_hills
    if other is None or other.probability > 0.5:
        return best
    found = [best, *(_climb(other.model.mode, candidates, summit) for summit in model.summits(best, region))]
    elo = (1 - other.probability) * model.mode.gain(found)[0] + other.probability * other.model.mode.gain(found)[0]
    return found[int(np.argmax(np.round(elo, ELO_DIGITS)))]


@one_thread()
def sampled_starts(model: ResponseModel, observations: Observations) -> list[Values]:
    """The best sampled sets by the model, for ``maximum``; none of a model that is a hill, which has one summit."""
    if not model.mode.groups:
        return []
    compared = observations.sampled()
    compared = compared[:: max(1, len(compared) // SAMPLED_COMPARED)]
    elo = np.round(model.gain(compared)[0], ELO_DIGITS)
    return [compared[place] for place in np.argsort(-elo, kind="stable")[:SAMPLED_STARTS]]


@one_thread()
def importances(model: ResponseModel, region: tuple[Array, Array]) -> dict[str, float]:
    """The share of each parameter in the variance of the model over a region, by functional ANOVA, largest first.

    Optuna's fANOVA evaluator over a sample of the model's predictions where scikit-learn is installed; otherwise the
    variance of each parameter's main effect, of which that one is an estimate.
    """
    space = model.space
    generator = np.random.Generator(np.random.PCG64(0))
    low, high = region
    points = low + (high - low) * generator.random((IMPORTANCE_POINTS, len(low)))
    sets = []
    for point in points:
        drawn = generator.random(len(low))
        sets.append(
            tuple(
                dimension.choices[int(share * len(dimension.choices))]
                if dimension.choices
                else dimension.value_at(float(coordinate))
                for dimension, coordinate, share in zip(space.dimensions, point, drawn, strict=True)
            )
        )
    elo = model.mode.gain([space.effective_values(values) for values in sets])[0]
    try:
        shares = _forest_shares(space, sets, elo)
    except ImportError:
        shares = {
            name: _main_effect(np.array([space.dimensions[place].coordinate(values[place]) for values in sets]), elo)
            for place, name in enumerate(space.names)
        }
    total = sum(shares.values()) or 1.0
    return dict(sorted(((name, share / total) for name, share in shares.items()), key=lambda entry: -entry[1]))


def _main_effect(coordinates: Array, elo: Array) -> float:
    """The variance over the means of ``elo`` in slices of one coordinate, less what chance would leave."""
    order = np.argsort(coordinates, kind="stable")
    distinct = np.unique(coordinates)
    edges = np.searchsorted(coordinates[order], distinct[:: 1 + len(distinct) // IMPORTANCE_SLICES])
    slices = [part for part in np.split(elo[order], edges[1:]) if len(part)]
    means, sizes = np.array([part.mean() for part in slices]), np.array([len(part) for part in slices])
    between = float((sizes * (means - elo.mean()) ** 2).sum() / len(elo))
    return max(0.0, between - float(elo.var()) * (len(slices) - 1) / len(elo))


def _forest_shares(space: Space, sets: Sequence[Values], elo: Array) -> dict[str, float]:
    import optuna
    from optuna.importance import FanovaImportanceEvaluator, get_param_importances

    from tuning.study.sampler import distribution_of

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction="maximize")
    distributions = {dimension.name: distribution_of(dimension) for dimension in space.dimensions}
    chosen = slice(FOREST_POINTS)
    study.add_trials(
        [
            optuna.trial.create_trial(
                params=dict(zip(space.names, values, strict=True)), distributions=distributions, value=float(value)
            )
            for values, value in zip(sets[chosen], elo[chosen], strict=True)
        ]
    )
    evaluator = FanovaImportanceEvaluator(n_trees=FOREST_TREES, max_depth=FOREST_DEPTH, seed=0)
    return dict(get_param_importances(study, evaluator=evaluator))


@one_thread()
def expected_remaining_gain(model: ResponseModel, region: tuple[Array, Array], best: Values) -> float:
    """Elo that perfect knowledge of the model's terms would gain over ``best``: mean over the posterior.

    The region is sampled by fixed pseudo-random draws, so that the same model gives the same number.
    """
    generator = np.random.Generator(np.random.PCG64(0))
    low, high = region
    count = min(REMAINING_POINTS, math.ceil(REMAINING_COORDINATES / len(low)))
    points = low + (high - low) * generator.random((count, len(low)))
    for place, dimension in enumerate(model.space.dimensions):
        if dimension.choices:
            points[:, place] = generator.integers(len(dimension.choices), size=count)
    here = model.elo(np.array([model.space.coordinates(best)], float))
    return float(np.maximum((model.elo(points) - here).max(axis=0), 0.0).mean())


def _candidates(space: Space, place: int, region: tuple[Array, Array]) -> list[Value]:
    dimension = space.dimensions[place]
    if dimension.choices:
        return list(dimension.choices)
    low, high = float(region[0][place]), float(region[1][place])
    spread = [low + (high - low) * step / (MAX_CANDIDATES - 1) for step in range(MAX_CANDIDATES)]
    return list(dict.fromkeys(dimension.value_at(coordinate) for coordinate in spread))


def _climb(model: ResponseModel, candidates: Sequence[Sequence[Value]], start: Values) -> Values:
    space, here = model.space, start
    for _ in range(SWEEPS):
        before = here
        for place in range(len(here)):
            sets = [here, *((*here[:place], value, *here[place + 1 :]) for value in candidates[place])]
            if space.has_conditions:
                sets = list(dict.fromkeys(space.effective_values(values) for values in sets))
                points = np.array([space.coordinates(values) for values in sets], float)
            else:
                points = np.tile(np.array(space.coordinates(here), float), (len(sets), 1))
                points[1:, place] = [space.dimensions[place].coordinate(value) for value in candidates[place]]
            # Of sets that are equal but for rounding errors, which need not be the same twice, the first one.
            here = sets[int(np.argmax(np.round(model.elo(points).mean(axis=1), ELO_DIGITS)))]
        if here == before:
            break
    return here


def combinations(space: Space, most: int) -> list[Values]:
    """Every combination of choices with the base's whole numbers; only the base where there are more than ``most``."""
    lists = [
        dimension.choices or (value,) for dimension, value in zip(space.dimensions, space.default_values, strict=True)
    ]
    if math.prod(map(len, lists)) > most:
        return [space.default_values]
    return list(dict.fromkeys(space.effective_values(values) for values in itertools.product(*lists)))
