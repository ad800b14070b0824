"""The response model: Elo against the base as a function of the parameters, fitted to every game of a study.

A pair's score between two sets is logistic in the difference of their Elo, and Elo is a quadratic function of the
coordinates of whole numbers plus an effect for every choice. Priors are normal: curvature downwards of one common size
(which the games choose, by the marginal likelihood), mild interactions, slopes such that the maximum lies about the
ranges, effects of choices of some tens of Elo. The posterior is the normal one around its mode, with the dispersion of
pair scores as it is observed (pairs vary less than games because of draws and openings).

What to recommend is the maximum of the posterior mean inside what was sampled, never the best observed result: among
many noisy results the best one is mostly the luckiest.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arena.statistics import NATURAL_TO_ELO, Pentanomial
from engine.parameters import Value
from tuning.space import Space

Array = NDArray[np.float64]
Values = tuple[Value, ...]

CURVATURES = (100.0, 200.0, 400.0, 800.0, 1600.0, 3200.0, 6400.0)
"""Elo over range squared: candidates for the common size of the curvature."""
TYPICAL_CURVATURE = 600.0
"""Median of the log-normal belief about it."""
CURVATURE_BELIEF = 1.0
"""Standard deviation of its logarithm."""
SLOPE_SHARE = 0.25
"""Standard deviation of a slope over the curvature: how far the maximum may lie from the reference, in ranges."""
INTERACTION_SHARE = 0.15
"""Standard deviation of a mixed derivative over the curvature."""
CHOICE_DEVIATION = 20.0
"""Elo: standard deviation of the effect of a choice."""
TYPICAL_DISPERSION = 0.3
"""Variance of a pair's score over p (1 - p); 1 for a single game without draws."""
DISPERSION_WEIGHT = 50.0
"""Pairs that the belief in it counts for."""
TRUST_QUANTILE = 0.02
"""The trust region reaches from this quantile of the sampled coordinates to its mirror image."""
SWEEPS = 20
NEWTON_STEPS = 25
NEWTON_PRECISION = 1e-3
"""Elo: a change below it ends the iteration."""
LARGEST_LOGIT = 20.0
REMAINING_POINTS, REMAINING_DRAWS = 2000, 200
"""Sets and posterior draws from which the gain that remains is estimated."""
IMPORTANCE_POINTS = 1000
"""Sets over which importance is computed."""
IMPORTANCE_SLICES = 20
FOREST_POINTS, FOREST_TREES, FOREST_DEPTH = 400, 24, 24
"""Of Optuna's evaluator: with its defaults and all points it takes most of a minute."""
JITTER = 1e-6
"""Elo squared: keeps a covariance positive."""
MOST_CANDIDATES = 41
"""Values of one range that a sweep compares."""


class Evidence:
    """Every result of a study as rows: two sets, the pairs they played, and the first one's mean score."""

    def __init__(self, space: Space) -> None:
        self.space = space
        self._first: list[tuple[float, ...]] = []
        self._second: list[tuple[float, ...]] = []
        self._pairs: list[int] = []
        self._scores: list[float] = []

    def __len__(self) -> int:
        return len(self._pairs)

    @property
    def pairs(self) -> int:
        """Pairs of all results."""
        return sum(self._pairs)

    def add(self, first: Values, second: Values, counts: Pentanomial) -> None:
        """Add a result; one without pairs, or of a set against itself, says nothing and is left out."""
        if counts.pairs and first != second:
            score = sum(place * count for place, count in enumerate(counts.counts)) / (4 * counts.pairs)
            self.add_score(first, second, counts.pairs, score)

    def add_score(self, first: Values, second: Values, pairs: int, score: float) -> None:
        """Add a result as the mean score of so many pairs."""
        self._first.append(self.space.coordinates(first))
        self._second.append(self.space.coordinates(second))
        self._pairs.append(pairs)
        self._scores.append(score)

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


@dataclass(frozen=True)
class ResponseModel:
    """Elo as a function of the set, with its uncertainty. Only differences between sets mean anything."""

    space: Space
    reference: Array
    """Coordinates around which the function is written, shape (dimensions,)."""
    coefficients: Array
    """Posterior mean: slopes, curvatures, interactions, effects of choices."""
    covariance: Array
    curvature: float
    """Common size of the curvatures that the games chose, in Elo over range squared."""
    dispersion: float

    def features(self, points: Array) -> Array:
        """What the coefficients multiply, shape (points, coefficients), of coordinates (points, dimensions)."""
        return _features(self.space, points, self.reference)

    def gain(self, sets: Sequence[Values], against: Values | None = None) -> tuple[Array, Array]:
        """Posterior mean and standard deviation, in Elo, of each set minus another (default: the base)."""
        other = self.space.default_values if against is None else against
        points = np.array([self.space.coordinates(values) for values in sets], float)
        start = np.array([self.space.coordinates(other)], float)
        change = self.features(points) - self.features(start)
        mean = change @ self.coefficients
        variance = np.einsum("ij,jk,ik->i", change, self.covariance, change)
        return mean, np.sqrt(np.maximum(variance, 0.0))

    def difference(self, one: Values, other: Values) -> tuple[float, float]:
        """The same of a single pair of sets."""
        mean, deviation = self.gain([one], other)
        return float(mean[0]), float(deviation[0])


def fit(evidence: Evidence, reference: Sequence[float] | None = None) -> ResponseModel:
    """The model of all results, written around ``reference`` (coordinates; default: the base)."""
    space = evidence.space
    around = np.array(space.coordinates(space.default_values) if reference is None else reference, float)
    first, second, pairs, scores = evidence.arrays()
    design = (_features(space, first, around) - _features(space, second, around)) / NATURAL_TO_ELO
    dispersion = TYPICAL_DISPERSION
    best: tuple[float, float, Array, Array] | None = None
    for curvature in CURVATURES:
        mean, precision = _prior(space, curvature)
        found, hessian, likelihood = _mode(design, pairs, scores, mean, precision, dispersion)
        belief = (math.log(curvature / TYPICAL_CURVATURE) / CURVATURE_BELIEF) ** 2 / 2
        evidence_of_size = likelihood - belief
        if best is None or evidence_of_size > best[0]:
            best = (evidence_of_size, curvature, found, hessian)
    assert best is not None
    _, curvature, found, hessian = best
    dispersion = _dispersion(design, pairs, scores, found)
    mean, precision = _prior(space, curvature)
    found, hessian, _ = _mode(design, pairs, scores, mean, precision, dispersion)
    return ResponseModel(space, around, found, np.asarray(np.linalg.inv(hessian), float), curvature, dispersion)


def _ordered(space: Space) -> list[int]:
    return [place for place, dimension in enumerate(space.dimensions) if not dimension.choices]


def _features(space: Space, points: Array, reference: Array) -> Array:
    ordered = _ordered(space)
    apart = points[:, ordered] - reference[ordered]
    one, other = np.triu_indices(len(ordered), 1)
    columns = [apart, -0.5 * apart * apart, -apart[:, one] * apart[:, other]]
    for place, dimension in enumerate(space.dimensions):
        if dimension.choices:
            columns.append((points[:, place, None] == np.arange(len(dimension.choices))).astype(float))
    return np.concatenate(columns, axis=1)


def _prior(space: Space, curvature: float) -> tuple[Array, Array]:
    """Means and precisions (inverse variances) of the coefficients."""
    ordered = len(_ordered(space))
    crossed = ordered * (ordered - 1) // 2
    choices = sum(len(dimension.choices) for dimension in space.dimensions)
    mean = np.concatenate([np.zeros(ordered), np.full(ordered, curvature), np.zeros(crossed + choices)])
    deviation = np.concatenate(
        [
            np.full(ordered, SLOPE_SHARE * curvature),
            np.full(ordered, curvature),
            np.full(crossed, INTERACTION_SHARE * curvature),
            np.full(choices, CHOICE_DEVIATION),
        ]
    )
    return mean, deviation**-2


def _mode(
    design: Array, pairs: Array, scores: Array, mean: Array, precision: Array, dispersion: float
) -> tuple[Array, Array, float]:
    """The posterior's mode, its Hessian there, and the logarithm of the marginal likelihood up to a constant."""
    found = mean.copy()
    for _ in range(NEWTON_STEPS):
        expected = _logistic(design @ found)
        weight = pairs * expected * (1 - expected) / dispersion
        hessian = (design * weight[:, None]).T @ design + np.diag(precision)
        gradient = design.T @ (pairs * (scores - expected) / dispersion) - precision * (found - mean)
        change = np.linalg.solve(hessian, gradient)
        found = found + change
        if np.abs(change).max(initial=0.0) < NEWTON_PRECISION:
            break
    expected = _logistic(design @ found)
    likelihood = (pairs * (scores * np.log(expected) + (1 - scores) * np.log(1 - expected))).sum() / dispersion
    surprise = (precision * (found - mean) ** 2).sum()
    volume = np.log(precision).sum() - np.linalg.slogdet(hessian)[1]
    return found, hessian, float(likelihood + (volume - surprise) / 2)


def _logistic(logits: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-np.clip(logits, -LARGEST_LOGIT, LARGEST_LOGIT))), float)


def _dispersion(design: Array, pairs: Array, scores: Array, found: Array) -> float:
    expected = _logistic(design @ found)
    observed = float((pairs * (scores - expected) ** 2 / (expected * (1 - expected))).sum())
    return (DISPERSION_WEIGHT * TYPICAL_DISPERSION + observed) / (DISPERSION_WEIGHT + len(pairs))


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

    from tuning.sampler import distribution_of

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
    """Elo that perfect knowledge of the model's coefficients would gain over ``best``: mean over the posterior.

    The posterior and the region are sampled by fixed quasi-random draws, so that the same model gives the same number.
    """
    generator = np.random.Generator(np.random.PCG64(0))
    low, high = region
    points = low + (high - low) * generator.random((REMAINING_POINTS, len(low)))
    for place, dimension in enumerate(model.space.dimensions):
        if dimension.choices:
            points[:, place] = generator.integers(len(dimension.choices), size=REMAINING_POINTS)
    here = np.array([model.space.coordinates(best)], float)
    change = model.features(points) - model.features(here)
    root = np.linalg.cholesky(model.covariance + JITTER * np.eye(len(model.covariance)))
    noise = generator.standard_normal((REMAINING_DRAWS, len(model.coefficients)))
    gains = change @ (model.coefficients + noise @ root.T).T
    return float(np.maximum(gains.max(axis=0), 0.0).mean())


def _candidates(space: Space, place: int, region: tuple[Array, Array]) -> list[Value]:
    dimension = space.dimensions[place]
    if dimension.choices:
        return list(dimension.choices)
    low, high = float(region[0][place]), float(region[1][place])
    spread = [low + (high - low) * step / (MOST_CANDIDATES - 1) for step in range(MOST_CANDIDATES)]
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
