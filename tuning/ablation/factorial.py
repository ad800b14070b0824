"""Factorial designs: which combinations of two-level factors are played, and what factors and pairs of them are worth.

A factor's levels are coded -1 (low) and +1 (high). The strength of a combination is taken as a sum of main effects and
of interactions of two factors, in Elo. With two factors the four sides of the square are played, each a match between
combinations that differ in one factor; with more, every combination of the design against the one with all factors low.
Effects are least-squares contrasts of the matches' Elo.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from arena.figures.statistics import NATURAL_TO_ELO, elo_of_score
from tuning.ablation.verdicts import ADDITIONAL_SQUARE, EffectEstimate, estimate_in_elo

Cell = tuple[int, ...]
"""A combination: -1 or +1 for every factor."""

GENERATORS: dict[tuple[int, int], tuple[tuple[int, ...], ...]] = {
    (3, 2): ((0, 1),),
    (4, 2): ((0, 1, 2),),
    (5, 2): ((0, 1, 2, 3),),
    (5, 4): ((0, 1), (0, 2)),
    (6, 2): ((0, 1, 2, 3, 4),),
    (6, 4): ((0, 1, 2), (1, 2, 3)),
}
"""By factors and fraction (2 is a half, 4 a quarter): each of the last factors as the product of these others."""

MAX_FACTORS = 6


@dataclass(frozen=True)
class Effect:
    """What the design estimates: a main effect (one factor) or an interaction (two)."""

    factors: tuple[int, ...]
    aliases: tuple[tuple[tuple[int, ...], int], ...]
    """Effects aliased with this one (inseparable by this design), and the sign with which they are in it."""
    weights: tuple[float, ...]
    """One per match: the effect in Elo is the sum of these times the matches' Elo."""


@dataclass(frozen=True)
class Design:
    """The matches of a factorial, each between two cells, and the effects they show."""

    matches: tuple[tuple[Cell, Cell], ...]
    """Variant and reference."""
    effects: tuple[Effect, ...]


def design_of(factors: int, fraction: int = 1) -> Design:
    """The design of so many two-level factors; ``fraction`` 2 is half of all combinations, 4 a quarter.

    A main effect is what going from low to high is worth on the average over the other factors; an interaction is by
    how much one factor's effect grows as the other goes from low to high. Raises ``KeyError`` without such a fraction.
    """
    cells = _cells(factors, fraction)
    if factors == 2:
        matches = tuple(
            (high, low)
            for low in cells
            for high in cells
            if sum(one != other for one, other in zip(high, low, strict=True)) == 1 and high > low
        )
    else:
        matches = tuple((cell, cells[0]) for cell in cells[1:])
    terms = [*((factor,) for factor in range(factors)), *combinations(range(factors), 2)]
    kept: list[tuple[int, ...]] = []
    aliases: dict[tuple[int, ...], list[tuple[tuple[int, ...], int]]] = {}
    columns: list[np.ndarray] = []
    for term in terms:
        column = np.array([math.prod(cell[factor] for factor in term) for cell in cells], float)
        same = [
            (one, int(np.sign(column @ other)))
            for one, other in zip(kept, columns, strict=True)
            if abs(column @ other) == len(cells)
        ]
        if same:
            aliases[same[0][0]].append((term, same[0][1]))
            continue
        kept.append(term)
        aliases[term] = []
        columns.append(column)
    place = {cell: number for number, cell in enumerate(cells)}
    table = np.array(columns).T
    differences = np.array([table[place[variant]] - table[place[reference]] for variant, reference in matches])
    # A coefficient is half of a main effect and, for two factors, a quarter of the interaction.
    solution = np.linalg.pinv(differences)
    return Design(
        matches,
        tuple(
            Effect(term, tuple(aliases[term]), tuple(float(value) for value in 2 ** len(term) * row))
            for term, row in zip(kept, solution, strict=True)
        ),
    )


def _cells(factors: int, fraction: int) -> tuple[Cell, ...]:
    """The combinations of the design, that with the lowest levels first."""
    generators = () if fraction == 1 else GENERATORS[factors, fraction]
    free = factors - len(generators)
    cells = []
    for levels in product((-1, 1), repeat=free):
        # The sign makes the combination with all free factors low end in lows too.
        made = [
            -((-1) ** len(generator)) * math.prod(levels[factor] for factor in generator) for generator in generators
        ]
        cells.append((*levels, *made))
    return tuple(cells)


def cell_weights(design: Design, cell: Cell) -> tuple[float, ...]:
    """One per match: the strength of a cell above that of the lowest is the sum of these times the matches' Elo."""
    total = np.zeros(len(design.matches))
    for effect in design.effects:
        order = len(effect.factors)
        rise = math.prod(cell[factor] for factor in effect.factors) - (-1) ** order
        total += rise / 2**order * np.array(effect.weights)
    return tuple(float(weight) for weight in total)


def contrast_estimate(weights: Sequence[float], scores: np.ndarray, margin_elo: float) -> EffectEstimate:
    """What a weighted sum of matches' Elo comes to; ``scores`` are the pairs' scores, 0 to 1, shape (matches, pairs).

    Matches have common openings, so what they share in a pair's result cancels or adds up: the error is that of the
    sum, pair by pair, linearised at the mean scores. Missing pairs (NaN) are left out in all matches.
    """
    complete = scores[:, ~np.isnan(scores).any(axis=0)]
    pairs = complete.shape[1]
    if pairs < 2:
        return estimate_in_elo(0.0, math.inf, pairs, margin_elo)
    # A quarter of a pair is given to either side, so that a match won outright has a finite strength.
    means = (complete.sum(axis=1) + 0.25) / (pairs + 0.5)
    elo = float(sum(weight * elo_of_score(float(mean)) for weight, mean in zip(weights, means, strict=True)))
    slopes = NATURAL_TO_ELO / (means * (1 - means))
    parts = (np.array(weights) * slopes) @ (complete - complete.mean(axis=1, keepdims=True))
    least = float(((np.array(weights) * slopes) ** 2).sum()) * ADDITIONAL_SQUARE
    error = math.sqrt((float(parts @ parts) + least) / (pairs - 1) / pairs)
    return estimate_in_elo(elo, error, pairs, margin_elo)
