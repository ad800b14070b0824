"""Ridge regression of results on features and patterns together: a hundred thousand weights per phase.

A phase's weights minimise the sum of squared errors of its positions plus ``strength`` times the sum of squared pattern
weights. Conjugate gradients solve it without the matrix, because each pattern has one occupation per position. A phase
also learns from positions a few steps before and after it. The strength is the one with the smallest held-out error.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from elolab.engine.settings.weights import MAX_WEIGHT, STEPS
from elolab.tuning.evaluation.ridge import (
    FEWER_PHASES,
    MIN_POSITIONS_PER_FEATURE,
    Fit,
    FitError,
    Sample,
    is_held_out,
    phases_of,
)

STRENGTHS = (10.0, 50.0, 200.0, 800.0)
"""Candidate strengths: noisy game results need strong ones, search scores weak ones."""
FEATURE_STRENGTH = 1e-3
"""Strength for the features' weights, relative to each feature's sum of squares."""
ROUNDS = 30
"""Rounds of conjugate gradients; the held-out error converges well before."""
OVERLAP = 3
"""Steps before and after a phase whose positions it also uses."""
CURVE = (4, 2, 1)
"""Divisors of the number of training games in the learning curve."""


def fit_patterns(sample: Sample, steps: np.ndarray, numbers: np.ndarray, size: int, phases: int) -> Fit:
    """Fit features and patterns to the games that are not held out.

    ``steps`` (n,) are the steps of the positions. ``numbers`` (n, instances) are the indices of each position's pattern
    weights, below ``size``. Raises ``FitError`` if there are too few positions.
    """
    held_out = is_held_out(sample.games)
    games = np.unique(sample.games[~held_out])
    own_phase = phases_of(steps, phases)
    fits = [_best_of_phase(phase, phases, sample, steps, numbers, size, held_out, STRENGTHS) for phase in range(phases)]
    filled = [phase for phase, found in enumerate(fits) if found is not None]
    if not filled:
        raise FitError("too few positions for any phase", FEWER_PHASES)
    nearest = [min(filled, key=lambda other: abs(other - phase)) for phase in range(phases)]
    chosen = [found for phase in nearest if (found := fits[phase]) is not None]
    features = np.stack([weights[size:] for _, weights in chosen])
    patterns = np.stack([weights[:size] for _, weights in chosen])
    whole = np.clip(np.rint(features), -MAX_WEIGHT, MAX_WEIGHT).astype(np.int64)
    whole_patterns = np.clip(np.rint(patterns), -MAX_WEIGHT, MAX_WEIGHT).astype(np.int16)
    errors = _errors(sample, own_phase, numbers, whole, whole_patterns)
    curve = []
    for divisor in CURVE[:-1]:
        last = games[max(1, len(games) // divisor) - 1]
        some = held_out | (sample.games <= last)
        partial = [
            _best_of_phase(phase, phases, sample, steps, numbers, size, held_out, (chosen[phase][0],), some)
            for phase in range(phases)
        ]
        if any(found is None for phase, found in enumerate(partial) if phase in filled):
            continue
        kept = [found for phase in nearest if (found := partial[phase]) is not None]
        partial_errors = _errors(
            sample, own_phase, numbers, np.stack([weights[size:] for _, weights in kept]),
            np.stack([weights[:size] for _, weights in kept]),
        )  # fmt: skip
        training = some & ~held_out
        curve.append((max(1, len(games) // divisor), _root(partial_errors[training]), _root(partial_errors[held_out])))
    training_error, held_out_error = _root(errors[~held_out]), _root(errors[held_out])
    curve.append((len(games), training_error, held_out_error))
    return Fit(
        whole, tuple(strength for strength, _ in chosen), training_error, held_out_error, int((~held_out).sum()),
        int(held_out.sum()), tuple(curve), whole_patterns,
    )  # fmt: skip


def _best_of_phase(
    phase: int, phases: int, sample: Sample, steps: np.ndarray, numbers: np.ndarray, size: int, held_out: np.ndarray,
    strengths: Sequence[float], used: np.ndarray | None = None,
) -> tuple[float, np.ndarray] | None:  # fmt: skip
    """A phase's strength and weights (patterns, then features); ``None`` if there are too few positions."""
    length = STEPS // phases
    near = (steps >= phase * length - OVERLAP) & (steps < (phase + 1) * length + OVERLAP)
    training = near & ~held_out if used is None else near & ~held_out & used
    kept = held_out & (phases_of(steps, phases) == phase)
    if training.sum() < MIN_POSITIONS_PER_FEATURE * sample.features.shape[1]:
        return None
    found = []
    for strength in strengths:
        weights = _solved(sample.features[training], numbers[training], sample.results[training], size, strength)
        values = _values(sample.features[kept], numbers[kept], weights, size)
        found.append((float(np.sum((values - sample.results[kept]) ** 2)), strength, weights))
    _, strength, weights = min(found, key=lambda entry: entry[:2])
    return strength, weights


def _values(features: np.ndarray, numbers: np.ndarray, weights: np.ndarray, size: int) -> np.ndarray:
    """Values of positions by weights (patterns, then features)."""
    values: np.ndarray = weights[:size][numbers].sum(axis=1) + features @ weights[size:]
    return values


def _solved(features: np.ndarray, numbers: np.ndarray, results: np.ndarray, size: int, strength: float) -> np.ndarray:
    """The weights by conjugate gradients, each unknown scaled by its frequency."""
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


def _errors(
    sample: Sample, phases: np.ndarray, numbers: np.ndarray, features: np.ndarray, patterns: np.ndarray
) -> np.ndarray:
    """Error at each position, with the weights of its phase."""
    values = np.einsum("nf,nf->n", sample.features, features[phases].astype(np.float64))
    for phase in range(len(patterns)):
        mask = phases == phase
        values[mask] += patterns[phase].astype(np.float64)[numbers[mask]].sum(axis=1)
    return values - sample.results


def _root(errors: np.ndarray) -> float:
    return float(np.sqrt(np.mean(errors**2))) if len(errors) else 0.0
