"""Logistic regression of game outcomes on features ("Texel tuning"), with held-out games.

The evaluation of a position blends two or more rows of weights. The fit starts from given weights. It maximises the log
likelihood of the targets minus a penalty on each weight's change: a normal prior around the start. The features of a
group share a further change with a wider prior, so that a piece's value can change as a whole, without a penalty for
every square. Newton's method finds the maximum. An approximate Hessian is enough, and several steps use it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from elolab.engine.settings.weights import MAX_PACKED_WEIGHT
from elolab.tuning.evaluation.held_out import Columns, Fit, Solver, fit_with_held_out

PRIOR_DEVIATIONS = (8.0, 24.0, 72.0)
"""Candidate standard deviations of the prior, in evaluation points."""
GROUP_DEVIATION = 4.0
"""Prior standard deviation of a group's shared change, divided by one feature's standard deviation."""
UNGROUPED_DEVIATION = 2.0
"""Prior standard deviation of an ungrouped feature's change, divided by a grouped feature's standard deviation."""
CHUNK = 20_000
CLOSE_ENOUGH = 1e-4
"""Newton's method ends when its step is smaller than this, in evaluation points."""
STEPS_PER_HESSIAN = 8
MAX_STEPS = 100
MAX_EXPONENT = 700.0
"""Bound on the argument of ``exp``, which overflows for larger numbers."""
LARGEST_FACTOR = 20.0
"""Largest absolute factor by which ``losses_of`` multiplies weights."""


@dataclass(frozen=True)
class WinSample(Columns):
    """The positions of a logistic regression, as arrays."""

    features: np.ndarray
    """Values of the features: int8, shape (n, features)."""
    shares: np.ndarray
    """float64, shape (n, rows): share of each row of weights in a position's evaluation."""
    outcomes: np.ndarray
    """float64, shape (n,): the result of the position's game for the side to move: 1, 1/2 or 0."""
    targets: np.ndarray
    """float64, shape (n,): targets of the regression: the outcomes, or weighted means of outcomes and search scores."""


def expected_score(values: np.ndarray, scale: float) -> np.ndarray:
    """Expected points, 0 to 1, of positions with the evaluations ``values``.

    At an evaluation equal to ``scale`` the odds of winning are e to 1.
    """
    found: np.ndarray = 1 / (1 + np.exp(np.minimum(-values / scale, MAX_EXPONENT)))
    return found


def values_of(sample: WinSample, weights: np.ndarray) -> np.ndarray:
    """Evaluation of each position by weights of shape (rows, features); float64 of shape (n,)."""
    values = np.empty(len(sample))
    for start in range(0, len(sample), CHUNK):
        part = slice(start, start + CHUNK)
        values[part] = np.sum((sample.features[part].astype(np.float64) @ weights.T) * sample.shares[part], axis=1)
    return values


def logistic_loss(values: np.ndarray, targets: np.ndarray, scale: float) -> float:
    """Mean negative log likelihood of the targets under the evaluations ``values``; 0 without positions.

    ``scale`` is as in ``expected_score``.
    """
    if not len(values):
        return 0.0
    odds = values / scale
    return float(np.mean(np.logaddexp(0, odds) - targets * odds))


def losses_of(sample: WinSample, weights: np.ndarray, scale: float) -> tuple[float, float]:
    """Two logistic losses of the outcomes: with ``weights``, and with ``weights`` times the factor that minimises the
    loss.

    The factor's absolute value is at most ``LARGEST_FACTOR``. Without this bound there may be no minimum, for example
    if the weights favour the winner in every position. ``scale`` is as in ``expected_score``.
    """
    values = values_of(sample, weights)
    factor, low, high = 1.0, -LARGEST_FACTOR, LARGEST_FACTOR
    for _ in range(MAX_STEPS if values.any() else 0):
        expected = expected_score(factor * values, scale)
        slope = values @ (sample.outcomes - expected) * scale
        curvature = values**2 @ (expected * (1 - expected))
        low, high = (factor, high) if slope > 0 else (low, factor)
        following = factor + slope / curvature if curvature else math.inf
        following = following if low <= following <= high else (low + high) / 2
        step, factor = following - factor, following
        if abs(step) < 1e-9:
            break
    plain, scaled = (logistic_loss(by * values, sample.outcomes, scale) for by in (1.0, factor))
    return plain, scaled


def fit_wins(
    sample: WinSample, start: np.ndarray, groups: Sequence[Sequence[int]], scale: float,
    deviations: Sequence[float] = PRIOR_DEVIATIONS,
) -> Fit:  # fmt: skip
    """Fit weights to the games that are not held out.

    The error is the logistic loss of the outcome at an evaluation without the bonus for the side to move.

    ``start`` has the initial weights, shape (rows, features). ``groups`` lists the features of each group. At an
    evaluation equal to ``scale`` the odds of winning are e to 1. ``deviations`` are candidate standard deviations of
    the prior; the one with the smallest held-out error is used.
    """

    def error(part: WinSample, weights: np.ndarray) -> float:
        return logistic_loss(values_of(part, weights), part.outcomes, scale)

    def solver(part: WinSample) -> Solver:
        return _Newton(part, start, groups, scale).solve

    return fit_with_held_out(sample, sorted(deviations), solver, error, MAX_PACKED_WEIGHT)


class _Newton:
    """Newton's method for the best weights of a sample. Each solution starts from the previous one.

    The unknowns are the changes of all features and of each group, row by row. The last unknown is a bonus for the side
    to move. The fit does not return this bonus, because the search adds its own.
    """

    def __init__(self, sample: WinSample, start: np.ndarray, groups: Sequence[Sequence[int]], scale: float) -> None:
        self._sample, self._start, self._scale = sample, start.astype(np.float64), scale
        rows, features = start.shape
        self._shared = np.zeros((features, len(groups)))
        for group, members in enumerate(groups):
            self._shared[list(members), group] = 1
        self._unknowns = rows * (features + len(groups)) + 1
        self._found = np.zeros(self._unknowns)
        self._hessian: np.ndarray | None = None

    def solve(self, deviation: float) -> np.ndarray:
        """The weights for one standard deviation of the prior; float64 of shape (rows, features)."""
        penalty = self._penalty(deviation)
        on_hessian = 0
        for _ in range(MAX_STEPS):
            if self._hessian is None or on_hessian == STEPS_PER_HESSIAN:
                self._hessian, on_hessian = self._curvature(), 0
            gradient = self._gradient() - penalty * self._found
            step = np.linalg.solve(self._hessian + np.diag(penalty), gradient)
            self._found += step
            on_hessian += 1
            if np.abs(step).max() < CLOSE_ENOUGH:
                break
        return self._weights()

    def _penalty(self, deviation: float) -> np.ndarray:
        alone = self._shared.sum(axis=1) == 0
        of_features = np.where(alone, UNGROUPED_DEVIATION, 1.0) * deviation
        of_groups = np.full(self._shared.shape[1], GROUP_DEVIATION * deviation)
        row = np.concatenate([of_features, of_groups]) ** -2
        return np.concatenate([*[row] * len(self._start), [1e-12]])

    def _weights(self) -> np.ndarray:
        changes = self._found[:-1].reshape(len(self._start), -1)
        features = self._start.shape[1]
        found: np.ndarray = self._start + changes[:, :features] + changes[:, features:] @ self._shared.T
        return found

    def _parts(self) -> Iterator[tuple[WinSample, np.ndarray]]:
        """Yield the sample in chunks, each with its positions' expected scores under the current weights."""
        for start in range(0, len(self._sample), CHUNK):
            part = self._sample.part(slice(start, start + CHUNK))
            yield part, expected_score(values_of(part, self._weights()) + self._found[-1], self._scale)

    def _gradient(self) -> np.ndarray:
        """Gradient of the log likelihood. It is in double precision, because it determines the solution."""
        rows, features = self._start.shape
        by_row = np.zeros((rows, features))
        tempo = 0.0
        for part, expected in self._parts():
            errors = (part.targets - expected) / self._scale
            by_row += (part.shares * errors[:, None]).T @ part.features.astype(np.float64)
            tempo += float(errors.sum())
        return np.concatenate([np.concatenate([by_row, by_row @ self._shared], axis=1).reshape(-1), [tempo]])

    def _curvature(self) -> np.ndarray:
        """Hessian of the negative log likelihood. Single precision is enough, because it only determines the steps."""
        found = np.zeros((self._unknowns, self._unknowns))
        shared = self._shared.astype(np.float32)
        for part, expected in self._parts():
            features = part.features.astype(np.float32)
            columns = np.concatenate([features, features @ shared], axis=1)
            shares = part.shares.astype(np.float32)
            design = np.concatenate(
                [*(columns * share[:, None] for share in shares.T), np.ones((len(columns), 1), np.float32)], axis=1
            )
            importance = (expected * (1 - expected) / self._scale**2).astype(np.float32)
            found += design.T @ (design * importance[:, None])
        return found
