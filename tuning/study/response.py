"""The response model: Elo against the base as a function of the parameters, fitted to every game of a study.

A pair's score between two sets is logistic in the difference of their Elo. Over whole numbers, Elo has one
maximum: every dimension has the place of its maximum, a curvature that is positive, a skew that makes one slope steeper
than the other, and mild interactions with the others; every choice has an effect. The prior: maxima lie about the
middle of the ranges, curvatures are log-normal about a common size that is estimated from the games, skews,
interactions and effects are moderate. The posterior is the normal one around its mode in these terms, carried as draws,
with the dispersion of pair scores as it is observed (pairs vary less than games because of draws and openings).

That curvatures are positive and maxima inside the ranges is worth more than it seems: a quadratic with free
coefficients takes every dimension that the games say little of for a slope, and recommends an end of its range.

What to recommend is the maximum of the posterior mean inside what was sampled, never the best observed result: among
many noisy results the best one is mostly the luckiest.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from arena.figures.statistics import NATURAL_TO_ELO, Pentanomial
from engine.settings.parameters import Value
from tuning.study.space import Space

Array = NDArray[np.float64]
Values = tuple[Value, ...]

PLACE_MEAN, PLACE_DEVIATION = 0.5, 0.3
"""Of a range: prior mean and standard deviation of the place of its maximum."""
LOG_CURVATURE = math.log(400.0)
"""Logarithm of Elo over range squared: prior mean of the common size of the curvatures."""
COMMON_DEVIATION, OWN_DEVIATION = 1.0, 1.0
"""Standard deviations of the common size and of each curvature about it, in natural logarithms."""
MIN_LOG_CURVATURE, MAX_LOG_CURVATURE = LOG_CURVATURE - 6.0, LOG_CURVATURE + 4.0
INTERACTION_DEVIATION = 0.15
"""Of a mixed derivative over the geometric mean of the two curvatures."""
SKEW_DEVIATION = 0.15
"""Of the part by which a slope is steeper, or flatter, far from the maximum."""
SKEW_WIDTH = 0.3
"""Of a range: how far from the maximum a skew shows."""
CHOICE_DEVIATION = 40.0
"""Elo: standard deviation of the effect of a choice."""
MOVEMENT_DEVIATION = 0.05
"""Of a range: how far the place of a maximum moves when the limit is e times as large."""
SHRINKAGE_DEVIATION = 0.2
"""Of the logarithm by which Elo shrinks, or grows, with that."""
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
REMAINING_POINTS = 2000
"""Sets over which the gain that remains is estimated."""
IMPORTANCE_POINTS = 1000
"""Sets over which importance is computed."""
IMPORTANCE_SLICES = 20
FOREST_POINTS, FOREST_TREES, FOREST_DEPTH = 400, 24, 24
"""Of Optuna's evaluator: with its defaults and all points it takes most of a minute."""
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

    def trust_region(self) -> tuple[Array, Array]:
        """Lower and upper ends of what was sampled, in coordinates; of choices, all of them."""
        first, second, _, _ = self.arrays()
        default = np.array(self.space.coordinates(self.space.default_values))
        if not len(self):
            return default, default
        sampled = np.concatenate([first, second])
        low = np.quantile(sampled, TRUST_QUANTILE, axis=0)
        return low, np.quantile(sampled, 1 - TRUST_QUANTILE, axis=0)


class _Shape:
    """The terms of the model in one vector: maxima, logarithms of curvatures, interactions, skews, effects."""

    def __init__(self, space: Space) -> None:
        self.ordered = [place for place, dimension in enumerate(space.dimensions) if not dimension.choices]
        self.choices = [place for place, dimension in enumerate(space.dimensions) if dimension.choices]
        self.sizes = [len(space.dimensions[place].choices) for place in self.choices]
        self.count = len(self.ordered)
        self.one, self.other = np.triu_indices(self.count, 1)
        count, crossed = self.count, len(self.one)
        self.maxima = slice(0, count)
        self.curvatures = slice(count, 2 * count)
        self.interactions = slice(2 * count, 2 * count + crossed)
        self.skews = slice(2 * count + crossed, 3 * count + crossed)
        self.effects = slice(3 * count + crossed, 3 * count + crossed + sum(self.sizes))
        self.terms = self.effects.stop

    def at_target(self, terms: Array) -> Array:
        """The terms that ``ResponseModel`` takes."""
        return terms

    def effects_of(self, place: int) -> slice:
        """Where the effects of one dimension's choices lie among all effects."""
        before = self.choices.index(place)
        start = sum(self.sizes[:before])
        return slice(start, start + self.sizes[before])

    def prior(self) -> tuple[Array, Array]:
        """Mean and precision of all terms before any game."""
        mean, deviation = np.zeros(self.terms), np.zeros(self.terms)
        mean[self.maxima], deviation[self.maxima] = PLACE_MEAN, PLACE_DEVIATION
        mean[self.curvatures], deviation[self.curvatures] = LOG_CURVATURE, OWN_DEVIATION
        deviation[self.interactions] = INTERACTION_DEVIATION
        deviation[self.skews] = SKEW_DEVIATION
        deviation[self.effects] = CHOICE_DEVIATION
        covariance = np.diag(deviation**2)
        covariance[self.curvatures, self.curvatures] += COMMON_DEVIATION**2
        return mean, np.asarray(np.linalg.inv(covariance), float)

    def hessians(self, terms: Array) -> Array:
        """The matrix of curvatures and mixed derivatives, shape (..., dimensions, dimensions)."""
        root = np.exp(terms[..., self.curvatures] / 2)
        matrix = np.zeros((*terms.shape[:-1], self.count, self.count))
        matrix[..., self.one, self.other] = matrix[..., self.other, self.one] = terms[..., self.interactions]
        return np.asarray((matrix + np.eye(self.count)) * root[..., :, None] * root[..., None, :], float)

    def indicators(self, points: Array) -> Array:
        """Which choice every point has, shape (points, effects)."""
        columns = [
            points[:, place, None] == np.arange(size) for place, size in zip(self.choices, self.sizes, strict=True)
        ]
        return np.concatenate(columns, axis=1).astype(float) if columns else np.zeros((len(points), 0))

    def elo_with_slopes(self, terms: Array, points: Array) -> tuple[Array, Array]:
        """Elo of the points, shape (points,), and its derivatives by every term, shape (points, terms)."""
        skews, hessian = terms[self.skews], self.hessians(terms)
        apart = points[:, self.ordered] - terms[self.maxima]
        bend = np.tanh(apart / SKEW_WIDTH)
        bent = apart * (1 + skews * bend)
        pull = bent @ hessian
        indicators = self.indicators(points)
        elo = -0.5 * (bent * pull).sum(axis=1) + indicators @ terms[self.effects]
        root = np.exp(terms[self.curvatures] / 2)
        by_apart = 1 + skews * (bend + apart * (1 - bend * bend) / SKEW_WIDTH)
        crossed = -(root[self.one] * root[self.other]) * bent[:, self.one] * bent[:, self.other]
        slopes = [pull * by_apart, -0.5 * bent * pull, crossed, -pull * apart * bend, indicators]
        return elo, np.concatenate(slopes, axis=1)


class _ShapeOverLimits(_Shape):
    """The same of results at several limits: places of maxima move, and Elo shrinks, with the logarithm of the limit.

    The terms of the limit that is asked for come first and are those of ``_Shape``; there the others change nothing.
    """

    def __init__(self, space: Space, log_limits: Array) -> None:
        """``log_limits`` are those of the points that ``elo_with_slopes`` is asked about, shape (points,)."""
        super().__init__(space)
        self._at_target = _Shape(space)
        self._log_limits = log_limits[:, None]
        self._movements = slice(self.terms, self.terms + self.count)
        self.terms += self.count + 1

    def prior(self) -> tuple[Array, Array]:
        """Mean and precision of all terms before any game."""
        mean, precision = self._at_target.prior()
        deviation = np.array([MOVEMENT_DEVIATION] * self.count + [SHRINKAGE_DEVIATION])
        extended = np.diag(np.concatenate([np.zeros(len(mean)), deviation**-2.0]))
        extended[: len(mean), : len(mean)] = precision
        return np.concatenate([mean, np.zeros(len(deviation))]), extended

    def elo_with_slopes(self, terms: Array, points: Array) -> tuple[Array, Array]:
        """Elo of the points at their limits, and its derivatives by every term."""
        moved = points.copy()
        moved[:, self.ordered] -= self._log_limits * terms[self._movements]
        elo, slopes = super().elo_with_slopes(terms, moved)
        scale = np.exp(self._log_limits * terms[-1])
        slopes = np.concatenate([slopes, self._log_limits * slopes[:, self.maxima], self._log_limits * elo[:, None]], 1)
        return scale[:, 0] * elo, scale * slopes

    def at_target(self, terms: Array) -> Array:
        """The terms without those of other limits."""
        return terms[..., : self._at_target.terms]


class ResponseModel:
    """Elo as a function of the set, with its uncertainty. Only differences between sets mean anything."""

    def __init__(self, space: Space, terms: Array, dispersion: float) -> None:
        self.space = space
        self.dispersion = dispersion
        """Variance of a pair's score over p (1 - p)."""
        self._shape = _Shape(space)
        self._maxima = terms[:, None, self._shape.maxima]
        self._skews = terms[:, None, self._shape.skews]
        self._hessians = self._shape.hessians(terms)
        self._effects = terms[:, self._shape.effects]

    def elo(self, points: Array) -> Array:
        """Elo of coordinates (points, dimensions) by every draw of the posterior, shape (points, draws)."""
        apart = points[None, :, self._shape.ordered] - self._maxima
        bent = apart * (1 + self._skews * np.tanh(apart / SKEW_WIDTH))
        elo = -0.5 * ((bent @ self._hessians) * bent).sum(axis=2)
        return np.asarray(elo.T + self._shape.indicators(points) @ self._effects.T, float)

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

    def effects(self, place: int) -> Array:
        """Elo of every choice of a dimension by every draw, shape (draws, choices), up to a constant."""
        return self._effects[:, self._shape.effects_of(place)]


def fit(observations: Observations) -> ResponseModel:
    """The model of all results."""
    log_limits = observations.log_limits
    shape = _ShapeOverLimits(observations.space, log_limits) if log_limits.any() else _Shape(observations.space)
    first, second, pairs, scores = observations.arrays()
    mean, precision = shape.prior()

    def expectation(terms: Array) -> tuple[Array, Array]:
        one, one_slopes = shape.elo_with_slopes(terms, first)
        other, other_slopes = shape.elo_with_slopes(terms, second)
        logits = np.clip((one - other) / NATURAL_TO_ELO, -MAX_LOGIT, MAX_LOGIT)
        return 1 / (1 + np.exp(-logits)), (one_slopes - other_slopes) / NATURAL_TO_ELO

    def posterior(terms: Array, expected: Array, dispersion: float) -> float:
        surprise = terms - mean
        likelihood = (pairs * (scores * np.log(expected) + (1 - scores) * np.log(1 - expected))).sum() / dispersion
        return float(likelihood - surprise @ precision @ surprise / 2)

    def mode(terms: Array, dispersion: float) -> tuple[Array, Array, Array]:
        """The mode, the negated second derivatives there (Gauss and Newton), and what is expected of each result."""
        damping = FIRST_DAMPING
        expected, slopes = expectation(terms)
        value = posterior(terms, expected, dispersion)
        for _ in range(MAX_STEPS):
            weights = pairs * expected * (1 - expected) / dispersion
            hessian = (slopes * weights[:, None]).T @ slopes + precision
            gradient = slopes.T @ (pairs * (scores - expected) / dispersion) - precision @ (terms - mean)
            step = np.linalg.solve(hessian + damping * np.diag(np.diag(hessian)), gradient)
            there = _bounded(shape, terms + step)
            there_expected, there_slopes = expectation(there)
            there_value = posterior(there, there_expected, dispersion)
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
        weights = pairs * expected * (1 - expected) / dispersion
        return terms, (slopes * weights[:, None]).T @ slopes + precision, expected

    found, _, expected = mode(mean, TYPICAL_DISPERSION)
    observed = float((pairs * (scores - expected) ** 2 / (expected * (1 - expected))).sum())
    dispersion = (DISPERSION_WEIGHT * TYPICAL_DISPERSION + observed) / (DISPERSION_WEIGHT + len(pairs))
    found, hessian, _ = mode(found, dispersion)
    noise = np.random.Generator(np.random.PCG64(0)).standard_normal((DRAWS // 2, shape.terms))
    apart = np.linalg.solve(np.linalg.cholesky(hessian).T, np.concatenate([noise, -noise]).T).T
    return ResponseModel(observations.space, shape.at_target(_bounded(shape, found + apart)), dispersion)


def _bounded(shape: _Shape, terms: Array) -> Array:
    """The terms with curvatures that are within reason; others may be anything."""
    bounded = terms.copy()
    bounded[..., shape.curvatures] = np.clip(terms[..., shape.curvatures], MIN_LOG_CURVATURE, MAX_LOG_CURVATURE)
    return bounded


def maximum(model: ResponseModel, region: tuple[Array, Array], starts: Sequence[Values]) -> Values:
    """The set with the highest posterior mean inside a region of coordinates; choices are free.

    Found by changing one dimension at a time from each of ``starts`` until nothing helps; with conditional dimensions
    pairs of a choice and what depends on it are covered by the starts and the sweeps.
    """
    space = model.space
    candidates = [_candidates(space, place, region) for place in range(len(space.dimensions))]
    best: tuple[float, Values] | None = None
    for start in starts:
        found = _climb(model, candidates, space.effective_values(start))
        value = float(model.gain([found])[0][0])
        if best is None or value > best[0] + 1e-9:
            best = (value, found)
    assert best is not None
    return best[1]


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
    elo = model.gain([space.effective_values(values) for values in sets])[0]
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


def expected_remaining_gain(model: ResponseModel, region: tuple[Array, Array], best: Values) -> float:
    """Elo that perfect knowledge of the model's terms would gain over ``best``: mean over the posterior.

    The region is sampled by fixed pseudo-random draws, so that the same model gives the same number.
    """
    generator = np.random.Generator(np.random.PCG64(0))
    low, high = region
    points = low + (high - low) * generator.random((REMAINING_POINTS, len(low)))
    for place, dimension in enumerate(model.space.dimensions):
        if dimension.choices:
            points[:, place] = generator.integers(len(dimension.choices), size=REMAINING_POINTS)
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
            sets = [here, *({space.effective_values((*here[:place], value, *here[place + 1 :])): None
                             for value in candidates[place]})]  # fmt: skip
            here = sets[int(np.argmax(model.gain(sets)[0]))]
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
