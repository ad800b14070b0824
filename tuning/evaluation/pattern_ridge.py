"""Ridge regression of results on features and patterns together: a hundred thousand weights per phase.

A phase's weights minimise the sum of squared errors of its positions plus ``strength`` times the sum of squared pattern
weights. Conjugate gradients find the weights without the normal matrix, because each pattern instance selects one
weight per position. A phase is also trained on positions a few steps before and after it. The selected strength has the
smallest held-out error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from elolab.engine.settings.weights import MAX_WEIGHT, STEPS
from elolab.tuning.evaluation.held_out import Columns, Fit, FitError, is_held_out
from elolab.tuning.evaluation.ridge import (
    FEWER_PHASES,
    MIN_POSITIONS_PER_FEATURE,
    nearest_filled,
    phases_of,
    root_of_mean,
)

STRENGTHS = (10.0, 50.0, 200.0, 800.0)
"""Candidate strengths of the penalty on pattern weights.

Noisy game results need strong regularisation, search scores weak regularisation.
"""
FEATURE_STRENGTH = 1e-3
"""Penalty on a feature's weight: this multiple of the feature's sum of squares, plus 1."""
ROUNDS = 30
"""Iterations of conjugate gradients; the held-out error converges well before the last."""
OVERLAP = 3
"""Number of stages of the game, before and after a phase, whose positions also train the weights of the phase."""
CURVE = (4, 2)
"""Divisors of the number of training games, one for each point of the learning curve except the last.

The last point uses all games.
"""


@dataclass(frozen=True)
class PatternSample(Columns):
    """The positions of a ridge regression on features and patterns, as arrays."""

    features: np.ndarray
    """Values of the features: float64, shape (n, features)."""
    steps: np.ndarray
    """int64, shape (n,): each position's stage of the game, from 0 to ``STEPS`` - 1."""
    numbers: np.ndarray
    """Shape (n, instances): the index of the weight that each pattern instance selects in a position."""
    results: np.ndarray
    """float64, shape (n,): value that the evaluation of each position should have, in evaluation points."""


Best = dict[int, tuple[float, np.ndarray]]
"""Selected strength and fitted weights of each phase, by phase; phases with too few positions are missing.

The weights are one vector: first the patterns, then the features.
"""


def fit_patterns(sample: PatternSample, size: int, phases: int) -> Fit:
    """Fit features and patterns to the games that are not held out.

    ``size`` is the number of pattern weights of a phase. Raises ``FitError`` if there are too few positions.
    """
    held_out = is_held_out(sample.games)
    games = np.unique(sample.games[~held_out])
    best = best_of_phases(sample, size, dict.fromkeys(range(phases), STRENGTHS), ~held_out)
    if not best:
        raise FitError("too few positions for any phase", FEWER_PHASES)
    nearest = nearest_filled(list(best), phases)
    features, patterns = _stacked(best, nearest, size)
    whole = np.clip(np.rint(features), -MAX_WEIGHT, MAX_WEIGHT).astype(np.int64)
    whole_patterns = np.clip(np.rint(patterns), -MAX_WEIGHT, MAX_WEIGHT).astype(np.int16)
    errors = _errors(sample, whole, whole_patterns)
    curve = []
    for divisor in CURVE:
        last = games[max(1, len(games) // divisor) - 1]
        training = ~held_out & (sample.games <= last)
        strengths = {phase: (best[phase][0],) if phase in best else () for phase in range(phases)}
        partial = best_of_phases(sample, size, strengths, training)
        if partial.keys() == best.keys():
            some = _errors(sample, *_stacked(partial, nearest, size))
            curve.append((max(1, len(games) // divisor), root_of_mean(some[training]), root_of_mean(some[held_out])))
    training_error, held_out_error = root_of_mean(errors[~held_out]), root_of_mean(errors[held_out])
    curve.append((len(games), training_error, held_out_error))
    return Fit(
        whole, tuple(best[phase][0] for phase in nearest), training_error, held_out_error, int((~held_out).sum()),
        int(held_out.sum()), tuple(curve), whole_patterns,
    )  # fmt: skip


def best_of_phases(
    sample: PatternSample, size: int, strengths: Mapping[int, Sequence[float]], training: np.ndarray
) -> Best:
    """Fit each phase to its positions that the mask ``training`` selects.

    ``strengths`` lists the candidate strengths of each phase; the one with the smallest held-out error is selected.
    ``size`` is the number of pattern weights of a phase.
    """
    best: Best = {}
    length, phases = STEPS // len(strengths), phases_of(sample.steps, len(strengths))
    for phase, candidates in strengths.items():
        near = (sample.steps >= phase * length - OVERLAP) & (sample.steps < (phase + 1) * length + OVERLAP)
        used, kept = sample.part(training & near), sample.part(is_held_out(sample.games) & (phases == phase))
        if len(used) < MIN_POSITIONS_PER_FEATURE * sample.features.shape[1]:
            continue
        found = []
        for strength in candidates:
            weights = _solved(used.features, used.numbers, used.results, size, strength)
            values = _values(kept.features, kept.numbers, weights, size)
            found.append((float(np.sum((values - kept.results) ** 2)), strength, weights))
        if found:
            best[phase] = min(found, key=lambda entry: entry[:2])[1:]
    return best


def _stacked(best: Best, phases: Sequence[int], size: int) -> tuple[np.ndarray, np.ndarray]:
    """The features' weights and the patterns' weights as two arrays, with one row for each of ``phases``.

    ``size`` is the number of pattern weights of a phase.
    """
    weights = np.stack([best[phase][1] for phase in phases])
    return weights[:, size:], weights[:, :size]


def _values(features: np.ndarray, numbers: np.ndarray, weights: np.ndarray, size: int) -> np.ndarray:
    """Evaluations of positions. ``numbers`` are indices into the pattern weights.

    ``weights`` contains ``size`` pattern weights, then the features' weights.
    """
    values: np.ndarray = weights[:size][numbers].sum(axis=1) + features @ weights[size:]
    return values


def _solved(features: np.ndarray, numbers: np.ndarray, results: np.ndarray, size: int, strength: float) -> np.ndarray:
    """Weights (patterns, then features) that minimise the penalised squared error, found by conjugate gradients.

    ``results`` are the wanted evaluations, ``size`` is the number of pattern weights, and ``strength`` the penalty. The
    preconditioner is diagonal: the number of positions in which a weight occurs, plus the weight's penalty.
    """
    places = numbers.reshape(-1)
    instances = numbers.shape[1]

    def gathered(errors: np.ndarray) -> np.ndarray:
        found = np.bincount(places, np.repeat(errors, instances), minlength=size)
        return np.concatenate([found, features.T @ errors])

    squares = np.sum(features**2, axis=0)
    penalty = np.concatenate([np.full(size, strength), FEATURE_STRENGTH * squares + 1])
    scale = np.concatenate([np.bincount(places, minlength=size).astype(np.float64), squares]) + penalty
    weights = np.zeros(len(penalty))
    residual = gathered(results)
    step = residual / scale
    product = float(residual @ step)
    for _ in range(ROUNDS):
        if product <= 0:
            break
        turned = gathered(_values(features, numbers, step, size)) + penalty * step
        length = product / float(step @ turned)
        weights += length * step
        residual -= length * turned
        before, scaled = product, residual / scale
        product = float(residual @ scaled)
        step = scaled + product / before * step
    return weights


def _errors(sample: PatternSample, features: np.ndarray, patterns: np.ndarray) -> np.ndarray:
    """Evaluation minus result of each position, by the weights of its phase.

    ``features`` and ``patterns`` hold weights, one row per phase.
    """
    phases = phases_of(sample.steps, len(features))
    values = np.einsum("nf,nf->n", sample.features, features[phases].astype(np.float64))
    for phase in range(len(patterns)):
        mask = phases == phase
        values[mask] += patterns[phase].astype(np.float64)[sample.numbers[mask]].sum(axis=1)
    return values - sample.results
