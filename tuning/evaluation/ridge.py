"""Ridge regression of results on features, phase by phase, with held-out games.

A phase's weights minimise the mean squared error of the training positions plus ``strength`` times the sum of squared
weights, each multiplied by its feature's mean square, so that the strength has no unit. The strength is the one with
the smallest held-out error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from elolab.engine.errors import UserError, argument
from elolab.engine.settings.weights import MAX_WEIGHT, STEPS

STRENGTHS = (1e-5, 1e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 3e-1)
HELD_OUT_EVERY = 10
"""One of this many games is held out."""
CURVE = (16, 8, 4, 2, 1)
"""Divisors of the number of training games in the learning curve."""
MIN_POSITIONS_PER_FEATURE = 5
"""A phase with fewer positions per feature takes the weights of the nearest phase that has enough."""


FEWER_PHASES = f"play more games ({argument('games')}) or tell fewer phases apart ({argument('phases')})"


class FitError(UserError):
    """Too few positions for a fit."""


@dataclass(frozen=True)
class Sample:
    """Positions as input of the regression."""

    features: np.ndarray
    """float64, shape (n, features)."""
    phases: np.ndarray
    """int64, shape (n,)."""
    results: np.ndarray
    """float64, shape (n,): target of the weighted sum, in the evaluation's points."""
    games: np.ndarray
    """int64, shape (n,): numbers of the games."""

    def __len__(self) -> int:
        return len(self.results)

    def part(self, chosen: np.ndarray) -> Sample:
        """A subset of the positions: an index array or a mask."""
        return Sample(self.features[chosen], self.phases[chosen], self.results[chosen], self.games[chosen])


@dataclass(frozen=True)
class Fit:
    """Fitted weights and their errors, which are root mean squares in the evaluation's points."""

    weights: np.ndarray
    """Whole numbers, int64, shape (phases, features)."""
    strengths: tuple[float, ...]
    """Ridge strengths: one for all phases, or one each."""
    training_error: float
    held_out_error: float
    training: int
    """Number of positions in the fit."""
    held_out: int
    """Number of held-out positions."""
    curve: tuple[tuple[int, float, float], ...]
    """Number of training games, training error and held-out error of fits to fewer games, ascending."""
    patterns: np.ndarray | None = None
    """Weights of patterns, int16, shape (phases, weights of a phase)."""


def is_held_out(games: np.ndarray) -> np.ndarray:
    """A mask of held-out games, by their numbers."""
    return games % HELD_OUT_EVERY == HELD_OUT_EVERY - 1


def phases_of(steps: np.ndarray, phases: int) -> np.ndarray:
    """The row of weights for each step."""
    return steps * phases // STEPS


def fit(sample: Sample, phases: int, strengths: Sequence[float] = STRENGTHS) -> Fit:
    """Fit the weights to the games that are not held out; ``sample`` includes held-out ones."""
    held_out = is_held_out(sample.games)
    training, kept = sample.part(~held_out), sample.part(held_out)
    moments = _moments(training, phases)
    fits = [(root_mean_square(kept, _solved(moments, strength)), strength) for strength in strengths]
    strength = min(fits)[1]
    curve = []
    numbers = np.unique(training.games)
    for divisor in CURVE:
        games = numbers[: max(1, len(numbers) // divisor)]
        some = training.part(training.games <= games[-1])
        try:
            weights = _solved(_moments(some, phases), strength)
        except FitError:  # too few games
            continue
        curve.append((len(games), root_mean_square(some, weights), root_mean_square(kept, weights)))
    weights = np.clip(np.rint(_solved(moments, strength)), -MAX_WEIGHT, MAX_WEIGHT).astype(np.int64)
    return Fit(
        weights, (strength,), root_mean_square(training, weights), root_mean_square(kept, weights), len(training),
        len(kept), tuple(curve),
    )  # fmt: skip


def root_mean_square(sample: Sample, weights: np.ndarray) -> float:
    """Error of weights of shape (phases, features) on a sample; 0 for an empty one."""
    if not len(sample):
        return 0.0
    values = np.einsum("nf,nf->n", sample.features, weights[sample.phases].astype(np.float64))
    return float(np.sqrt(np.mean((values - sample.results) ** 2)))


def _moments(sample: Sample, phases: int) -> list[tuple[int, np.ndarray, np.ndarray]]:
    """For each phase: number of positions, mean products of the features, and of features and results."""
    found = []
    for phase in range(phases):
        mask = sample.phases == phase
        features, results = sample.features[mask], sample.results[mask]
        count = max(1, len(results))
        found.append((len(results), features.T @ features / count, features.T @ results / count))
    return found


def _solved(moments: Sequence[tuple[int, np.ndarray, np.ndarray]], strength: float) -> np.ndarray:
    """The weights of every phase, float64 of shape (phases, features). Raises ``FitError``."""
    size = len(moments[0][2])
    weights = np.zeros((len(moments), size))
    filled = []
    for phase, (count, products, targets) in enumerate(moments):
        if count < MIN_POSITIONS_PER_FEATURE * size:
            continue
        squares = np.diag(products)
        # A feature that never occurred gets the weight 0.
        penalty = np.where(squares > 0, strength * squares, 1.0)
        weights[phase] = np.linalg.solve(products + np.diag(penalty), targets)
        filled.append(phase)
    if not filled:
        raise FitError(
            f"too few positions: no phase has {MIN_POSITIONS_PER_FEATURE} for each of {size} features",
            FEWER_PHASES,
        )
    for phase in range(len(moments)):
        if phase not in filled:
            weights[phase] = weights[min(filled, key=lambda other: abs(other - phase))]
    return weights
