"""The maximum of a response model, and the Elo that further games could still gain."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from elolab.engine.settings.parameters import Value
from elolab.tuning.study.model.linear_algebra import one_thread
from elolab.tuning.study.model.response import ResponseModel
from elolab.tuning.study.space import Space, Values

Array = NDArray[np.float64]

SWEEPS = 20
REMAINING_POINTS, REMAINING_COORDINATES = 2000, 20_000
"""Largest number of sets of values, and largest total number of their coordinates, in a sample.

The sample estimates the gain that further games could bring.
"""
ELO_DIGITS = 6
"""Decimal places to which Elo is rounded before sets are compared."""
MAX_CANDIDATES = 41
"""Maximum number of values per range that one step of the search compares."""


@one_thread()
def maximum(model: ResponseModel, region: tuple[Array, Array], starts: Sequence[Values]) -> Values:
    """The set of values with the highest Elo under the most probable model, within ``region``; all choices are allowed.

    ``region`` is the pair of lower and upper bounds of the coordinates. The search starts from each of ``starts`` and
    improves one dimension at a time until no change helps. If a model with two maxima is possible but not the most
    probable, both models decide; see ``_weighed``.
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
    """Choose between ``best``, the maximum of the model with one maximum, and the maxima of the model with two.

    The choice has the highest Elo averaged over both models, weighted with their probabilities. A set between two
    maxima may be the best of one model and bad in the other, while the two maxima are good in both. ``best`` is
    returned if there is no model with two maxima, or if that model is the more probable one. ``candidates`` has the
    values of each dimension that the search compares.
    """
    other = model.two_hills
    if other is None or other.probability > 0.5:
        return best
    found = [best, *(_climb(other.model.mode, candidates, summit) for summit in model.summits(best, region))]
    elo = (1 - other.probability) * model.mode.gain(found)[0] + other.probability * other.model.mode.gain(found)[0]
    return found[int(np.argmax(np.round(elo, ELO_DIGITS)))]


def expected_remaining_gain(model: ResponseModel, region: tuple[Array, Array], best: Values) -> float:
    """Expected Elo that would be gained over ``best`` if the true maximum were known."""
    return float(remaining_gains(model, region, best).mean())


@one_thread()
def remaining_gains(model: ResponseModel, region: tuple[Array, Array], best: Values) -> Array:
    """Elo of the best set of values in ``region`` minus the Elo of ``best``, shape (draws,).

    There is one gain, of at least 0, for each random draw of the model from its posterior. The region is sampled with a
    fixed seed, so that equal models give equal numbers.
    """
    generator = np.random.Generator(np.random.PCG64(0))
    low, high = region
    count = min(REMAINING_POINTS, math.ceil(REMAINING_COORDINATES / len(low)))
    points = low + (high - low) * generator.random((count, len(low)))
    for place, dimension in enumerate(model.space.dimensions):
        if dimension.choices:
            points[:, place] = generator.integers(len(dimension.choices), size=count)
    here = model.elo(np.array([model.space.coordinates(best)], float))
    return np.asarray(np.maximum((model.elo(points) - here).max(axis=0), 0.0), float)


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
            # Rounded, because rounding errors may differ between runs: the first of equal sets is chosen.
            here = sets[int(np.argmax(np.round(model.elo(points).mean(axis=1), ELO_DIGITS)))]
        if here == before:
            break
    return here


def combinations(space: Space, most: int) -> list[Values]:
    """One set of values for every combination of choices; all other dimensions have the base's values.

    If there are more than ``most`` combinations, the base is the only set.
    """
    lists = [
        dimension.choices or (value,) for dimension, value in zip(space.dimensions, space.default_values, strict=True)
    ]
    if math.prod(map(len, lists)) > most:
        return [space.default_values]
    return list(dict.fromkeys(space.effective_values(values) for values in itertools.product(*lists)))
