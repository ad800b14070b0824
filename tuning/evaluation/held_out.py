"""Regression with held-out games, whose error selects the strength of the prior and gives the learning curve."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Self, TypeVar

import numpy as np

from elolab.engine.errors import UserError

HELD_OUT_EVERY = 10
"""Distance between held-out games: one game in ten is held out."""
CURVE = (16, 8, 4, 2, 1)
"""Divisors of the number of training games, one for each point of the learning curve; the last uses all games."""


class FitError(UserError):
    """Raised if there are too few positions for a fit."""


@dataclass(frozen=True)
class Columns:
    """Base class of a sample: arrays with one row per position, sorted by game."""

    games: np.ndarray
    """int64, shape (n,): the number that identifies each position's game, ascending."""

    def __len__(self) -> int:
        return len(self.games)

    def part(self, chosen: np.ndarray | slice) -> Self:
        """The positions that a mask or a slice selects."""
        return type(self)(**{field.name: getattr(self, field.name)[chosen] for field in fields(self)})


@dataclass(frozen=True)
class Fit:
    """Fitted weights and their errors. Errors are root mean squares in evaluation points, or logistic losses."""

    weights: np.ndarray
    """Weights of the features, rounded: int64, shape (phases, features)."""
    strengths: tuple[float, ...]
    """Selected strengths of the prior: one for all phases, or one per phase."""
    training_error: float
    held_out_error: float
    training: int
    """Number of training positions, from the games that are not held out."""
    held_out: int
    """Number of held-out positions."""
    curve: tuple[tuple[int, float, float], ...]
    """The learning curve: number of training games, training error and held-out error of each point.

    Points have rising numbers of games; the last point uses all training games.
    """
    patterns: np.ndarray | None = None
    """Weights of the patterns, int16, shape (phases, weights of a phase); ``None`` if none were fitted."""


Input = TypeVar("Input", bound=Columns)
Solver = Callable[[float], np.ndarray]
"""A function from a strength of the prior to the fitted weights, float64 of shape (phases, features)."""


def is_held_out(games: np.ndarray) -> np.ndarray:
    """Boolean mask of the positions in held-out games; ``games`` has the number of the game of each position."""
    return games % HELD_OUT_EVERY == HELD_OUT_EVERY - 1


def fit_with_held_out(
    sample: Input, strengths: Sequence[float], solver_of: Callable[[Input], Solver],
    error: Callable[[Input, np.ndarray], float], largest: int,
) -> Fit:  # fmt: skip
    """Fit weights to the games that are not held out, and select the strength of the prior.

    The selected strength is the one of ``strengths`` with the smallest held-out error. ``solver_of`` makes, for a
    sample, the function from a strength to weights. ``error`` is the error of weights on a sample. Weights are rounded
    and clipped to the range from ``-largest`` to ``largest``. The learning curve omits points with too few positions.
    """
    held_out = is_held_out(sample.games)
    training, kept = sample.part(~held_out), sample.part(held_out)
    solve = solver_of(training)
    fits = [(error(kept, weights), strength, weights) for strength in strengths for weights in [solve(strength)]]
    _, strength, best = min(fits, key=lambda entry: entry[:2])
    curve = []
    numbers = np.unique(training.games)
    for divisor in CURVE:
        games = numbers[: max(1, len(numbers) // divisor)]
        some = training.part(training.games <= games[-1])
        try:
            weights = best if divisor == 1 else solver_of(some)(strength)
        except FitError:
            continue
        curve.append((len(games), error(some, weights), error(kept, weights)))
    whole = np.clip(np.rint(best), -largest, largest).astype(np.int64)
    return Fit(whole, (strength,), error(training, whole), error(kept, whole), len(training), len(kept), tuple(curve))
