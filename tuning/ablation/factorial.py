"""Factorial designs: the combinations of two-level factors to play, and estimates of main effects and interactions.

A factor's levels are coded -1 (low) and +1 (high). The model of a combination's strength is a sum of main effects and
two-factor interactions, in Elo. With two factors, the four sides of the square are matches between combinations that
differ in one factor. With more factors, every combination of the design plays the combination with all factors low.

Effects are contrasts of the matches' Elo, and use every pair of every match. With two factors the contrasts are simple:
a factor's main effect is the mean of its two matches. The interaction is the mean of the two differences between the
matches of one factor. Both means are weighted for the least error. With more factors, the contrasts come from a
least-squares fit to all matches.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from elolab.arena.statistics.elo import NATURAL_TO_ELO, elo_of_score
from elolab.tuning.ablation.comparison_verdicts import ADDITIONAL_SQUARE, ROUNDING, EffectEstimate, estimate_in_elo

Combination = tuple[int, ...]
"""A combination of levels: -1 (low) or +1 (high) for every factor, in the order of the factors."""

GENERATORS: dict[tuple[int, int], tuple[tuple[int, ...], ...]] = {
    (3, 2): ((0, 1),),
    (4, 2): ((0, 1, 2),),
    (5, 2): ((0, 1, 2, 3),),
    (5, 4): ((0, 1), (0, 2)),
    (6, 2): ((0, 1, 2, 3, 4),),
    (6, 4): ((0, 1, 2), (1, 2, 3)),
}
"""Defining relations of fractional designs, by number of factors and fraction (2: half, 4: quarter).

Each entry has one tuple for each dependent factor; the dependent factors are the last ones. The tuple holds indices of
other factors: the product of their levels is the dependent factor's level, up to its sign.
"""

MAX_FACTORS = 6


@dataclass(frozen=True)
class Effect:
    """An effect that the design estimates: a main effect (one factor) or an interaction (two)."""

    factors: tuple[int, ...]
    aliases: tuple[tuple[tuple[int, ...], int], ...]
    """Effects that the design cannot separate from this effect: factor indices and sign (1 or -1) of each."""
    parts: tuple[tuple[float, ...], ...]
    """Alternative estimates of the effect, each a contrast: one weight per match, for a sum of the matches' Elo."""

    @property
    def weights(self) -> tuple[float, ...]:
        """Mean of the contrasts ``parts``: one weight per match, for matches with equal numbers of pairs."""
        return tuple(float(weight) for weight in np.mean(self.parts, axis=0))

    def weights_of(self, scores: np.ndarray) -> tuple[float, ...]:
        """Weights, one per match, of the mean of ``parts`` that has the smallest standard error (generalised least
        squares).

        ``scores`` are the pairs' scores, from 0 to 1, shape (matches, pairs); NaN for unplayed pairs. Each part's share
        of the mean lies between 0 and 1. Matches share openings, so the errors of the parts are correlated.
        """
        if len(self.parts) == 1:
            return self.parts[0]
        one, other = (contrast_estimate(part, scores, 0.0).error ** 2 for part in self.parts)
        if math.isinf(one) or math.isinf(other):
            return self.weights if one == other else self.parts[int(one > other)]
        both = contrast_estimate(tuple(np.sum(self.parts, axis=0)), scores, 0.0).error ** 2
        spread = 2 * (one + other) - both  # squared error of the parts' difference
        share = min(max((one + 3 * other - both) / 2 / spread, 0.0), 1.0) if spread > ROUNDING * both else 0.5
        return tuple(share * first + (1 - share) * second for first, second in zip(*self.parts, strict=True))


@dataclass(frozen=True)
class Design:
    """The matches of a factorial, each between two combinations, and the effects that they estimate."""

    matches: tuple[tuple[Combination, Combination], ...]
    """Variant and reference of each match."""
    effects: tuple[Effect, ...]


def design_of(factors: int, fraction: int = 1) -> Design:
    """The design for a number of two-level factors; ``fraction`` 2 plays half of all combinations, 4 a quarter.

    A main effect is the gain from low to high, averaged over the other factors. An interaction is the increase of one
    factor's effect when the other goes from low to high. Raises ``KeyError`` for an unsupported fraction.
    """
    cells = _combinations(factors, fraction)
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
            Effect(
                term, tuple(aliases[term]),
                _sides(matches, term) if factors == 2 else (tuple(float(value) for value in 2 ** len(term) * row),),
            )
            for term, row in zip(kept, solution, strict=True)
        ),
    )  # fmt: skip


def _sides(matches: Sequence[tuple[Combination, Combination]], term: tuple[int, ...]) -> tuple[tuple[float, ...], ...]:
    """The contrasts of one effect (``Effect.parts``) in a design with two factors; ``term`` has the effect's factors.

    A main effect has one contrast for each of the factor's two matches. An interaction has one for each factor: the
    difference between the factor's two matches.
    """
    own = [[one != other for one, other in zip(variant, reference, strict=True)].index(True)
           for variant, reference in matches]  # fmt: skip
    if len(term) == 1:
        places = [place for place, factor in enumerate(own) if factor in term]
        return tuple(tuple(float(place == other) for other in range(len(matches))) for place in places)
    return tuple(
        tuple(
            float(variant[1 - factor]) if changed == factor else 0.0
            for (variant, _), changed in zip(matches, own, strict=True)
        )
        for factor in term
    )


def _combinations(factors: int, fraction: int) -> tuple[Combination, ...]:
    """The combinations of the design; the first one has all factors low."""
    generators = () if fraction == 1 else GENERATORS[factors, fraction]
    free = factors - len(generators)
    cells = []
    for levels in product((-1, 1), repeat=free):
        # This sign keeps the combination of all low factors in the design.
        made = [
            -((-1) ** len(generator)) * math.prod(levels[factor] for factor in generator) for generator in generators
        ]
        cells.append((*levels, *made))
    return tuple(cells)


def combination_weights(design: Design, combination: Combination) -> tuple[float, ...]:
    """Weights, one per match, with which the sum of the matches' Elo is the strength of ``combination``.

    The strength is relative to the combination with all factors low.
    """
    total = np.zeros(len(design.matches))
    for effect in design.effects:
        order = len(effect.factors)
        rise = math.prod(combination[factor] for factor in effect.factors) - (-1) ** order
        total += rise / 2**order * np.array(effect.weights)
    return tuple(float(weight) for weight in total)


def contrast_estimate(weights: Sequence[float], scores: np.ndarray, margin_elo: float) -> EffectEstimate:
    """Estimate the sum of the matches' Elo, weighted with ``weights``, which has one weight per match.

    ``scores`` are the pairs' scores, 0 to 1, shape (matches, pairs). All played pairs are used; unplayed pairs are NaN.
    Effects smaller than ``margin_elo`` count as equivalent. Matches share openings, so their results are correlated.
    The standard error therefore comes from the weighted sums per opening, linearised at the mean scores.
    """
    used = np.array(weights) != 0
    factors, scores = np.array(weights)[used, None], scores[used]
    played = ~np.isnan(scores)
    pairs = played.sum(axis=1, keepdims=True)
    if not pairs.size or pairs.min() < 2:
        return estimate_in_elo(0.0, math.inf, 0, margin_elo)
    sums = np.where(played, scores, 0.0).sum(axis=1, keepdims=True)
    # If a match is won or lost outright, each side gets a quarter of a pair, so that the Elo is finite.
    given = 0.25 * ((sums == 0) | (sums == pairs))
    means = (sums + given) / (pairs + 2 * given)
    elo = float((factors * np.array([[elo_of_score(float(mean))] for mean in means[:, 0]])).sum())
    slopes = factors * NATURAL_TO_ELO / (means * (1 - means))
    parts = np.where(played, scores - sums / pairs, 0.0) * slopes / np.sqrt(pairs * (pairs - 1))
    least = slopes**2 * ADDITIONAL_SQUARE / (pairs * (pairs - 1))
    error = math.sqrt(float((parts.sum(axis=0) ** 2).sum() + least.sum()))
    variances = (parts**2).sum(axis=1, keepdims=True) + least
    degrees = float(variances.sum() / (variances / (pairs - 1)).sum())
    return EffectEstimate(elo, error, degrees, 0.0, -margin_elo, margin_elo)
