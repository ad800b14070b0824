"""Importance of each parameter, computed from a response model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elolab.engine.settings.parameters import Value
from elolab.tuning.study.model.linear_algebra import one_thread
from elolab.tuning.study.model.response import ResponseModel
from elolab.tuning.study.space import Dimension, Space, Values

Array = NDArray[np.float64]

IMPORTANCE_POINTS = 1000
"""Number of randomly sampled sets of parameter values over which importance is computed."""
IMPORTANCE_SLICES = 20
SLICE_POINTS = 60
"""Number of values of a range at which reports evaluate the model."""
KNOWN_DEVIATIONS = NormalDist().inv_cdf(0.95)
"""A loss is positive with 95 % probability if its mean is at least this many standard deviations above 0."""
FOREST_POINTS, FOREST_TREES, FOREST_DEPTH = 400, 24, 24
"""Sample size, number of trees and tree depth for Optuna's evaluator. Its defaults would take most of a minute."""


@one_thread()
def importances(model: ResponseModel, region: tuple[Array, Array]) -> dict[str, float]:
    """Each parameter's share of the variance of the model's Elo over a region (functional ANOVA), largest first.

    ``region`` is the pair of lower and upper bounds of the coordinates.

    With scikit-learn installed, Optuna's fANOVA evaluator estimates the shares from a sample of the model's
    predictions. Otherwise a share is the variance of the parameter's main effect in that sample.
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
            name: main_effect(np.array([space.dimensions[place].coordinate(values[place]) for values in sets]), elo)
            for place, name in enumerate(space.names)
        }
    total = sum(shares.values()) or 1.0
    return dict(sorted(((name, share / total) for name, share in shares.items()), key=lambda entry: -entry[1]))


def main_effect(coordinates: Array, elo: Array) -> float:
    """Variance of the mean ``elo`` between intervals of one coordinate, minus the variance expected by chance."""
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

    from elolab.tuning.study.sampler import distribution_of

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


@dataclass(frozen=True)
class ParameterKnowledge:
    """Knowledge of a model about one parameter, while all other parameters have their recommended values."""

    name: str
    possible: tuple[Value, ...]
    """Values that may be as good as the recommended one: each loses Elo with a probability of at most 95 %."""
    worst: Value
    """The value with the largest expected loss."""
    loss: float
    """Expected loss of Elo if ``worst`` replaces the recommended value; ``deviation`` is its standard deviation."""
    deviation: float
    games: float
    """Total number of games after which the loss would be positive with 95 % probability; infinite if there is no loss.
    """


def knowledge(model: ResponseModel, best: Values, games: int) -> list[ParameterKnowledge]:
    """Knowledge about each parameter around the set of values ``best``.

    ``games`` is the number of games to which the model is fitted. Standard deviations are assumed to fall with the
    square root of the number of games.
    """
    found = []
    for place, dimension in enumerate(model.space.dimensions):
        values = values_along(dimension)
        sets = [model.space.effective_values((*best[:place], value, *best[place + 1 :])) for value in values]
        gain, deviation = model.gain(sets, best)
        possible = gain + KNOWN_DEVIATIONS * deviation >= 0
        at = int(np.argmin(gain))
        loss, error = -float(gain[at]), float(deviation[at])
        needed = games * (KNOWN_DEVIATIONS * error / loss) ** 2 if loss > 0 else math.inf
        kept = tuple(value for value, is_possible in zip(values, possible, strict=True) if is_possible)
        found.append(ParameterKnowledge(dimension.name, kept, values[at], loss, error, max(needed, 0.0)))
    return found


def values_along(dimension: Dimension) -> list[Any]:
    """Values of a range from end to end, at most about ``SLICE_POINTS``; for a dimension with choices, all of them."""
    if dimension.choices:
        return list(dimension.choices)
    if not dimension.is_whole:
        return [dimension.value_at(place) for place in np.linspace(0, 1, SLICE_POINTS)]
    low, high = int(dimension.low), int(dimension.high)
    return [*range(low, high, max(1, (high - low) // SLICE_POINTS)), high]
