"""The expected outcome of a sequential test: the probabilities of its verdicts, and its length.

The log-likelihood ratio is modelled as a Brownian motion with the mean and variance of one pair's contribution. Its
bounds take into account that analyses are only made after whole batches; see ``_stopping_bounds``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from elolab.arena.sequential import (
    SequentialSettings,
    contribution_of_pair,
    tilted_outcomes,
    typical_outcomes,
)
from elolab.arena.statistics.brownian import expected_duration, lower_bound_probability, upper_bound_probability
from elolab.arena.statistics.elo import (
    EMPTY_COUNT,
    NORMALIZED_UNIT,
    Array,
    Pentanomial,
    elo_of_score,
    sequential_test,
)

OVERSHOOT = 0.5826
"""Mean overshoot of a random walk with normal steps over a distant bound, in standard deviations of a step."""
STEPS_OF_TABLE = 4
"""Number of steps into which a table of true strengths divides the distance between the hypotheses."""
LATE = 0.95
"""Fraction of tests that have ended after ``Expectation.late_pairs`` pairs."""


@dataclass(frozen=True)
class Expectation:
    """The expected outcome of a test at one true strength of the first player."""

    elo: float
    """The first player's true strength in logistic Elo."""
    normalized_elo: float
    h1: float
    """Probability that the test accepts H1, 0 to 1."""
    h0: float
    undecided: float
    """Probability that the test is undecided after the last pair, 0 to 1."""
    pairs: float
    """Mean number of pairs until the end of the test."""
    median_pairs: int
    """Number of pairs after which half of the tests have ended."""
    late_pairs: int
    """Number of pairs after which 95 % of the tests (``LATE``) have ended."""


def outcomes_of_draws(draws: float) -> Array:
    """Probabilities of a pair's five outcomes, LL to WW, if its games are independent.

    ``draws`` is the probability of a draw in a game, 0 to 1.
    """
    won = (1 - draws) / 2
    return np.array([won**2, 2 * won * draws, 2 * won**2 + draws**2, 2 * won * draws, won**2])


def outcomes_of_pairs(counts: Sequence[int]) -> Array:
    """Estimate the probabilities of a pair's five outcomes, LL to WW, from the counts of an earlier match.

    At least one count must be positive.
    """
    observed = np.maximum(np.array(counts, float), EMPTY_COUNT)
    return observed / observed.sum()


def expectation(settings: SequentialSettings, elo: float, pairs: int, outcomes: Array | None = None) -> Expectation:
    """The expected outcome of a test with at most ``pairs`` pairs at a true strength of ``elo`` (logistic).

    ``outcomes`` are probabilities of a pair's five outcomes, LL to WW, shape (5,); by default elolab's assumption for a
    match not yet played. These probabilities are tilted to the mean score of ``elo``, which keeps their spread.
    """
    outcomes = typical_outcomes(elo) if outcomes is None else tilted_outcomes(outcomes, elo)
    mean, variance = contribution_of_pair(settings, outcomes)
    lower, upper = _stopping_bounds(settings, variance)
    drift = mean / variance

    def probabilities(count: float) -> tuple[float, float]:
        duration = count * variance
        return (
            upper_bound_probability(lower, upper, drift, duration),
            lower_bound_probability(lower, upper, drift, duration),
        )

    def ended_after(share: float) -> int:
        low, high = 0.0, float(pairs)
        while high - low > 0.5:
            middle = (low + high) / 2
            low, high = (low, middle) if sum(probabilities(middle)) >= share else (middle, high)
        return min(pairs, settings.batch_pairs * math.ceil(high / settings.batch_pairs))

    h1, h0 = probabilities(pairs)
    length = expected_duration(lower, upper, drift, pairs * variance) / variance
    length += (h1 + h0) * settings.batch_pairs / 4  # the overshoot adds a quarter of a batch
    return Expectation(
        elo, normalized_elo_of(outcomes), h1, h0, max(0.0, 1 - h1 - h0), min(length, pairs), ended_after(0.5),
        ended_after(LATE),
    )  # fmt: skip


def _stopping_bounds(settings: SequentialSettings, variance: float) -> tuple[float, float]:
    """The bounds of a Brownian motion that models a log-likelihood ratio with interim analyses.

    Analyses are only made after whole batches, when the ratio is already beyond its bound. Therefore the bounds of the
    motion are farther away, by ``OVERSHOOT`` standard deviations of a batch (Siegmund, "Sequential Analysis", 1985,
    chapter X). ``variance`` is the variance of one pair's contribution to the ratio.
    """
    test = sequential_test(Pentanomial((0, 0, 0, 0, 0)), alpha=settings.alpha, beta=settings.beta)
    beyond = OVERSHOOT * math.sqrt(settings.batch_pairs * variance)
    return test.lower_bound - beyond, test.upper_bound + beyond


def normalized_elo_of(outcomes: Array) -> float:
    """Normalized Elo of a player, from the probabilities of a pair's five outcomes, LL to WW, shape (5,)."""
    scores = np.linspace(0, 1, 5)
    mean = float(outcomes @ scores)
    return (mean - 0.5) / math.sqrt(2 * float(outcomes @ (scores - mean) ** 2)) * NORMALIZED_UNIT


def logistic_elo(normalized_elo: float, outcomes: Array | None = None) -> float:
    """Convert normalized Elo to logistic Elo.

    ``outcomes`` are probabilities of a pair's five outcomes, tilted as in ``expectation``; ``None`` takes typical ones.
    """
    elo = 0.0
    for _ in range(50):
        tilted = typical_outcomes(elo) if outcomes is None else tilted_outcomes(outcomes, elo)
        scores = np.linspace(0, 1, 5)
        deviation = math.sqrt(2 * float(tilted @ (scores - float(tilted @ scores)) ** 2))
        before, elo = elo, elo_of_score(min(max(0.5 + deviation * normalized_elo / NORMALIZED_UNIT, 0.001), 0.999))
        if abs(elo - before) < 1e-9:
            break
    return elo


def expectations(
    settings: SequentialSettings, pairs: int, outcomes: Array | None = None, strengths: Sequence[float] | None = None
) -> list[Expectation]:
    """The expected outcome of a test at several true strengths; see ``expectation``.

    ``strengths`` are in the unit of ``settings.model``. By default they range from H0 - d to H1 + d, where d is the
    distance between the hypotheses, in steps of d / ``STEPS_OF_TABLE``.
    """
    if strengths is None:
        gap = settings.elo1 - settings.elo0
        steps = range(-STEPS_OF_TABLE, 2 * STEPS_OF_TABLE + 1)
        strengths = [settings.elo0 + step * gap / STEPS_OF_TABLE for step in steps]
    if settings.model == "normalized":
        strengths = [logistic_elo(strength, outcomes) for strength in strengths]
    return [expectation(settings, elo, pairs, outcomes) for elo in strengths]
