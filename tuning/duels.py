"""The duel method: a walk whose every step is a match between two sets of parameters on both sides of its centre.

Simultaneous perturbation (Spall 1992) with the step measured in wins. Duel ``k`` lays two sets at the centre plus and
minus a perturbation of random sign in every dimension at once, whole numbers rounded at random in proportion; the
centre then moves towards the winner. A few of the duels are the centre against a perturbed set, which tells the
response model of curvature. Dimensions of choices, which have no distance, carry a preference for each choice that
rises with its wins and decides how often it is drawn.

Everything here is a function of the specification, the random seed and the results of earlier duels; the draws come
from SHA-256, so that they are the same in every version of everything. Constants were found by simulation
(``benchmarks/tuning_landscapes.py``).
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass

from engine.parameters import Value
from tuning.space import Space

PERTURBATION_END = 0.2
"""Of a range: how far each side of the last duel lies from the centre."""
STEP_END = 0.02
"""What a game won moves the centre at the end of a budget of ``STEP_GAMES`` games, in perturbations squared over
ranges; it falls with the square root of the budget."""
STEP_GAMES = 1000
STEP_DECAY, PERTURBATION_DECAY = 0.602, 0.101
"""Spall's exponents alpha and gamma."""
STABILITY_SHARE = 0.1
"""Spall's A, as a share of the duels."""
CURVATURE_SHARE = 0.05
"""Share of duels of the centre against a perturbed set, which tell half as much of the slope."""
EARLIEST_CURVATURE_SHARE = 0.2
"""The same of runs that did not record it."""
PREFERENCE_STEP = 0.2
"""What a pair won adds to the preference of the choice that won it, and takes from the other's, in natural units."""
EXPLORATION = 0.5
"""Share of the draws of a choice that are even over all choices."""
SINGLE_PAIR_GAMES = 4000
"""Up to this budget a duel is one pair; beyond, one more for every such number of games."""
LONGEST_DUEL = 8
"""Pairs of the longest duel."""
LAG_BATCHES = 1
"""Batches that may wait beside the one being laid out, so that no processor waits for a batch's last game."""


@dataclass(frozen=True)
class Duel:
    """Two sets of parameters and where in the schedule they meet. Values are in the order of the dimensions."""

    number: int
    first: tuple[Value, ...]
    second: tuple[Value, ...]


@dataclass(frozen=True)
class Schedule:
    """How far and how fast the walk goes. Distances are in ranges."""

    duels: int
    """Of the whole walk."""
    pairs: int
    """Colour-swapped pairs of games in each."""
    curvature_share: float = CURVATURE_SHARE
    """Share of duels of the centre against a perturbed set."""

    def perturbation(self, number: int) -> float:
        """How far from the centre the sets of a duel lie: c_k = c / (k + 1)^gamma, ending in ``PERTURBATION_END``."""
        return PERTURBATION_END * (self.duels / (number + 1)) ** PERTURBATION_DECAY

    def step(self, number: int) -> float:
        """How far a game won moves the centre: a_k / c_k with a_k = a / (A + k + 1)^alpha."""
        offset = STABILITY_SHARE * self.duels
        end = STEP_END * math.sqrt(STEP_GAMES / max(1, 2 * self.duels * self.pairs)) * PERTURBATION_END**2
        gain = end * ((offset + self.duels) / (offset + number + 1)) ** STEP_DECAY
        return gain / self.perturbation(number)


def pairs_of_a_duel(games: int) -> int:
    """Pairs in each duel of a budget."""
    return max(1, min(LONGEST_DUEL, math.ceil(games / SINGLE_PAIR_GAMES)))


def draws(seed: int, number: int, count: int) -> list[float]:
    """Numbers evenly spread over [0, 1): the SHA-256 of ``"<seed>:duel:<number>:<block>"``, four to a block."""
    found: list[float] = []
    for block in range(math.ceil(count / 4)):
        digest = hashlib.sha256(f"{seed}:duel:{number}:{block}".encode()).digest()
        found += [(int.from_bytes(digest[at : at + 8], "big") >> 11) / 2**53 for at in range(0, 32, 8)]
    return found[:count]


class Walk:
    """The centre and the preferences, from which duels are laid out and which learn from their results."""

    def __init__(self, space: Space, schedule: Schedule, seed: int) -> None:
        self.schedule = schedule
        self._space = space
        self._seed = seed
        self.centre: list[float] = []
        """Coordinates in the ranges, 0 to 1; meaningless for a dimension of choices."""
        self.preferences: list[list[float]] = []
        """Of every choice, in natural units; empty for a range."""
        self.restart()

    def restart(self) -> None:
        """Go back to the base, without preferences."""
        self.centre = list(self._space.coordinates(self._space.default_values))
        self.preferences = [[0.0] * len(dimension.choices) for dimension in self._space.dimensions]

    def values(self) -> tuple[Value, ...]:
        """The set at the centre: whole numbers rounded, of choices the preferred ones."""
        return tuple(
            self._preferred(place) if dimension.choices else dimension.value_at(self.centre[place])
            for place, dimension in enumerate(self._space.dimensions)
        )

    def _preferred(self, place: int) -> Value:
        """The choice with the highest preference; the base's if several are equal."""
        dimension, own = self._space.dimensions[place], self.preferences[place]
        base = self._space.default_values[place]
        best = max(own)
        if base in dimension.choices and own[dimension.choices.index(base)] == best:
            return base
        return dimension.choices[own.index(best)]

    def lay_out(self, number: int) -> Duel:
        """The sets of duel ``number`` around the centre as it is now."""
        dimensions = self._space.dimensions
        drawn = draws(self._seed, number, 1 + 3 * len(dimensions))
        from_centre = drawn[0] < self.schedule.curvature_share
        distance = self.schedule.perturbation(number)
        first: list[Value] = []
        second: list[Value] = []
        for place, dimension in enumerate(dimensions):
            one, two, three = drawn[1 + 3 * place : 4 + 3 * place]
            if dimension.choices:
                first.append(self._drawn_choice(place, one))
                second.append(self._drawn_choice(place, two))
                continue
            aside = distance if one < 0.5 else -distance
            centre = self.centre[place]
            first.append(dimension.value_at(centre + aside, three))
            second.append(dimension.value_at(centre if from_centre else centre - aside, 1 - three))
        return Duel(number, self._space.effective_values(first), self._space.effective_values(second))

    def _drawn_choice(self, place: int, drawn: float) -> Value:
        choices = self._space.dimensions[place].choices
        own = self.preferences[place]
        weights = [math.exp(value - max(own)) for value in own]
        total = sum(weights)
        for choice, weight in zip(choices, weights, strict=True):
            drawn -= EXPLORATION / len(choices) + (1 - EXPLORATION) * weight / total
            if drawn < 0:
                return choice
        return choices[-1]

    def learn(self, duel: Duel, score: float, pairs: int | None = None) -> None:
        """Move towards the winner; ``score`` is the first set's mean score of a pair, 0 to 1.

        A move is a function of the duel and its result alone, up to the ends of the ranges.
        """
        excess = (score - 0.5) * (self.schedule.pairs if pairs is None else pairs)
        dimensions = self._space.dimensions
        drawn = draws(self._seed, duel.number, 1 + 3 * len(dimensions))
        move = self.schedule.step(duel.number) * 4 * excess  # games won minus games lost
        for place, dimension in enumerate(dimensions):
            if dimension.choices:
                for value, sign in ((duel.first[place], 1), (duel.second[place], -1)):
                    self.preferences[place][dimension.choices.index(value)] += sign * PREFERENCE_STEP * excess
                continue
            if duel.first[place] != duel.second[place]:
                aside = move if drawn[1 + 3 * place] < 0.5 else -move
                self.centre[place] = min(max(self.centre[place] + aside, 0.0), 1.0)


def tail_average(centres: Sequence[Sequence[float]]) -> list[float]:
    """The mean of the later half of the centres."""
    later = centres[len(centres) // 2 :]
    return [sum(column) / len(later) for column in zip(*later, strict=True)]
