"""Ridge regression of results on features, phase by phase, with held-out games.

A phase's weights minimise the mean squared error of the training positions plus ``strength`` times the sum of squared
weights, each multiplied by its feature's mean square, so that the strength has no unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from elolab.engine.errors import argument
from elolab.engine.settings.weights import MAX_WEIGHT, STEPS
from elolab.tuning.evaluation.held_out import Columns, Fit, FitError, Solver, fit_with_held_out

STRENGTHS = (1e-5, 1e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 3e-1)
MIN_POSITIONS_PER_FEATURE = 5
"""Minimum positions per feature; a phase with fewer takes the weights of the nearest phase that has enough."""
FEWER_PHASES = f"play more games ({argument('games')}) or use fewer phases ({argument('phases')})"


@dataclass(frozen=True)
class Sample(Columns):
    """The positions of a ridge regression, as arrays."""

    features: np.ndarray
    """Values of the features: float64, shape (n, features)."""
    phases: np.ndarray
    """int64, shape (n,): each position's phase, which is its row of weights."""
    results: np.ndarray
    """float64, shape (n,): value that the evaluation of each position should have, in evaluation points."""


def phases_of(steps: np.ndarray, phases: int) -> np.ndarray:
    """The phase (row of weights, from 0) of each stage; a game has ``STEPS`` stages and ``phases`` phases."""
    return steps * phases // STEPS


def fit(sample: Sample, phases: int, strengths: Sequence[float] = STRENGTHS) -> Fit:
    """Fit the weights to the games of ``sample`` that are not held out.

    Of the candidate ``strengths``, the one with the smallest held-out error is used.
    """
    return fit_with_held_out(sample, strengths, lambda part: _solver(part, phases), root_mean_square, MAX_WEIGHT)


def root_mean_square(sample: Sample, weights: np.ndarray) -> float:
    """Root mean square error of weights of shape (phases, features) on a sample; 0 for an empty sample."""
    values = np.einsum("nf,nf->n", sample.features, weights[sample.phases].astype(np.float64))
    return root_of_mean(values - sample.results)


def root_of_mean(errors: np.ndarray) -> float:
    """Root mean square of ``errors``; 0 if empty."""
    return float(np.sqrt(np.mean(errors**2))) if len(errors) else 0.0


def nearest_filled(filled: Sequence[int], phases: int) -> list[int]:
    """For each of ``phases`` phases, the nearest phase in ``filled``, the phases with enough positions."""
    return [min(filled, key=lambda other: abs(other - phase)) for phase in range(phases)]


def _solver(sample: Sample, phases: int) -> Solver:
    """Make the function that returns the weights of every phase for a given strength of the penalty.

    Raises ``FitError`` if no phase has enough positions.
    """
    size = sample.features.shape[1]
    moments = {}
    for phase in range(phases):
        mask = sample.phases == phase
        count = int(mask.sum())
        if count >= MIN_POSITIONS_PER_FEATURE * size:
            features, results = sample.features[mask], sample.results[mask]
            moments[phase] = features.T @ features / count, features.T @ results / count
    if not moments:
        raise FitError(
            f"too few positions: no phase has {MIN_POSITIONS_PER_FEATURE} for each of {size} features",
            FEWER_PHASES,
        )

    def solve(strength: float) -> np.ndarray:
        weights = {}
        for phase, (products, targets) in moments.items():
            squares = np.diag(products)
            # A feature that never occurred gets the weight 0.
            penalty = np.where(squares > 0, strength * squares, 1.0)
            weights[phase] = np.linalg.solve(products + np.diag(penalty), targets)
        return np.stack([weights[phase] for phase in nearest_filled(list(moments), phases)])

    return solve
