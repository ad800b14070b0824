"""The response model's fit: its most probable terms, by how much they may be wrong, and which model it is."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from elolab.arena.statistics.elo import NATURAL_TO_ELO
from elolab.tuning.study.model.departures import Group, Possible, choose, drawn_weights, groups_of
from elolab.tuning.study.model.hill import (
    CLOSE_DEVIATION,
    MAX_INTERACTING,
    NO_SUMMIT,
    PLACE_DEVIATION,
    Hill,
    HillOverLimits,
    bounded,
)
from elolab.tuning.study.model.linear_algebra import one_thread
from elolab.tuning.study.model.observations import Observations
from elolab.tuning.study.model.response import ResponseModel, Summit, TwoHills

Array = NDArray[np.float64]

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
TYPICAL_DISPERSION = 0.3
"""Variance of a pair's score over p (1 - p); 1 for a single game without draws."""
DISPERSION_WEIGHT = 50.0
"""Pairs that this prior counts for."""
DRAWS = 256
"""Of the posterior; even, every draw has its mirror image."""
MAX_STEPS = 60
MIN_GAIN = 1e-3
"""In the logarithm of the posterior: a step that gains less ends the search for its mode."""
FIRST_DAMPING, MIN_DAMPING, MAX_DAMPING = 1.0, 1e-6, 1e6
"""Of the search's steps (Levenberg and Marquardt)."""
MAX_LOGIT = 20.0
PASSES = 2
"""Of asking which departures there are, since the hill gives way to them."""


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
