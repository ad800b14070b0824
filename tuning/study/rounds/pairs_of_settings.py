"""The sampler ``duel``: matches between two sets of values on opposite sides of the expected maximum.

The method is simultaneous perturbation (Spall 1992) around a centre. Before every round the response model is fitted to
all games; its maximum is the round's centre. The two sets of a settings pair lie on opposite sides of a point near the
centre, in every dimension at once with a random sign. The more a dimension matters, the smaller the distance of the two
sets in that dimension. Values are rounded to one of the two nearest candidate values at random, the nearer one more
often. Such a match measures the slope at its middle, whatever the curvature is. Matches with different middles measure
the curvature.

Such matches give no information about other regions. So some settings pairs compare the centre with a random set from
the whole ranges.

Choices always differ between the two sets. One random draw of the model from its posterior selects the best choice, and
a second draw selects the best of the other choices. So games go to the choices that may still be the best (top-two
Thompson sampling, Russo 2016).

The settings pairs depend only on the specification, the random seed, the model and the index of the settings pair.
Random numbers come from SHA-256, so that they are the same in every version of Python and its libraries. Constants were
found by simulation (``benchmarks/tuning``).
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from elolab.engine.settings.parameters import Value
from elolab.tuning.study.model.response import ResponseModel
from elolab.tuning.study.space import Space, Values

HALF_WIDTH, HALF_WIDTH_PAIRS, HALF_WIDTH_CURVATURE = 0.19, 400, 1000.0
"""Reference values for the half width of a settings pair: 0.19 after 400 game pairs, at a curvature of 1000 Elo.

The half width is the distance of each of two sets of values from their middle, as a fraction of the range. Curvatures
are in Elo per squared range.
"""
PAIRS_EXPONENT, CURVATURE_EXPONENT = 1 / 6, 1 / 3
"""Exponents with which the half width of settings pairs falls as the number of game pairs and the curvature grow.

Near the estimated maximum, noise loses Elo in proportion to ``1 / (pairs * curvature * width**2)``. If Elo falls
unequally on the two sides of the maximum, this loses Elo in proportion to ``curvature * width**4``. The exponents
minimise the sum of both losses.
"""
FIRST_WIDTH, MAX_WIDTH = 0.3, 0.35
"""Half width of settings pairs in the first round, and the largest half width later, as fractions of the range."""
END_SHARE = 0.25
"""Minimum distance from the ends of a range to the middle between two sets of values that play each other.

The unit is the half width, that is, the distance of each set from the middle.
"""
SHIFT_SHARE = 0.6
"""Maximum distance from the centre of a round to the middle between two sets of values that play each other.

The unit is the half width, that is, the distance of each set from the middle. The distances are uniformly distributed.
In the first round the maximum is 1.
"""
EXPLORING_SHARE, EXPLORING_FROM = 0.1, 600
"""Share of the settings pairs that compare the centre with a random set of values from the whole ranges, and number of
game pairs after which such settings pairs begin."""
EXPLORING_WIDTH = 0.35
"""Factor on the distance from the centre, for a set of values that plays against a random set of values.

The result should show the centre's Elo, so the set must be close to the centre.
"""
EVEN_SHARE = 0.05
"""Share of the settings pairs whose two choices are drawn uniformly, because the model's effects may be wrong."""
MEETING_DIGITS, CURVATURE_DIGITS = 4, 4
SINGLE_PAIR_GAMES = 4000
"""Largest budget, in games, under which two sets of values play one game pair against each other.

Up to twice this budget they play two game pairs, up to three times this budget three, and so on.
"""
MAX_PAIRS_PER_SETTINGS_PAIR = 8
"""Maximum number of game pairs of a settings pair."""

MAX_DRAWS = 40
"""Maximum number of attempts to draw a settings pair with two different sets of values."""

Meetings = tuple[tuple[tuple[float, ...], ...], ...]
"""One matrix per dimension with choices: the frequency with which choice i (row) plays against choice j (column)."""


@dataclass(frozen=True)
class SettingsPair:
    """Two sets of values that play each other, and the number of this settings pair in the schedule."""

    number: int
    first: Values
    second: Values


@dataclass(frozen=True)
class ScheduledSettingsPair:
    """A settings pair and its game pairs in the run: their series, first number, count and round."""

    settings: SettingsPair
    first_pair: int
    pairs: int
    round: int = 0
    series: str = ""


@dataclass(frozen=True)
class Round:
    """A round of the schedule: settings pairs whose values are drawn around one centre. A round is one Optuna trial."""

    number: int
    first_settings_pair: int
    """Number of the round's first settings pair in the schedule."""
    settings_pairs: int
    """Number of settings pairs in the round."""
    game_pairs: int
    """Number of game pairs per settings pair."""
    first_pair: int
    """Number of the round's first game pair in the schedule."""

    @property
    def pairs(self) -> int:
        """Total number of game pairs of the round."""
        return self.settings_pairs * self.game_pairs


@dataclass(frozen=True)
class RoundDesign:
    """The design of a round: the centre of its settings pairs, and the data that determine their spread."""

    centre: Values
    meetings: Meetings
    curvatures: tuple[float, ...] = ()
    """Curvature of each range in Elo per squared range; empty in the first round."""

    @property
    def is_first(self) -> bool:
        """Whether the design comes before the first fitted model; its sets of values then have a wider spread."""
        return not self.curvatures

    def plain(self) -> list[object]:
        """The design without its centre, as plain data for JSON."""
        return [list(self.curvatures), [[list(row) for row in rows] for rows in self.meetings]]

    @staticmethod
    def from_plain(centre: Values, plain: Sequence[object]) -> RoundDesign:
        """The design with this centre and the data that the property ``plain`` returned.

        Data of older versions may have further entries, which are ignored.
        """
        curvatures, meetings, *_ = plain
        assert isinstance(curvatures, list)
        assert isinstance(meetings, list)
        rows = tuple(tuple(tuple(row) for row in rows) for rows in meetings)
        return RoundDesign(centre, rows, tuple(curvatures))


def first_design(space: Space) -> RoundDesign:
    """The design around the base; every choice plays every other choice equally often."""
    sizes = [len(dimension.choices) for dimension in space.dimensions if dimension.choices]
    return RoundDesign(_nearest_in_space(space, space.default_values), tuple(_even(size) for size in sizes))


def design_of(model: ResponseModel, best: Values) -> RoundDesign:
    """The design around the model's maximum ``best``. The model determines how often two choices play each other."""
    meetings = tuple(
        _meetings(model.effects(place)) for place, dimension in enumerate(model.space.dimensions) if dimension.choices
    )
    curvatures = tuple(float(f"{curvature:.{CURVATURE_DIGITS}g}") for curvature in model.curvatures(best))
    return RoundDesign(_nearest_in_space(model.space, best), meetings, curvatures)


def _nearest_in_space(space: Space, values: Sequence[Value]) -> Values:
    """The set of values in the space that is nearest to ``values``.

    ``values`` may be the base's, which may lie outside the space or between its values.
    """
    return tuple(
        (value if value in dimension.choices else dimension.choices[0])
        if dimension.choices
        else dimension.value_at(dimension.coordinate(value))
        for dimension, value in zip(space.dimensions, values, strict=True)
    )


def _even(size: int) -> tuple[tuple[float, ...], ...]:
    each = 1 / (size * (size - 1))
    return tuple(tuple(0.0 if one == other else each for other in range(size)) for one in range(size))


def _meetings(effects: np.ndarray) -> tuple[tuple[float, ...], ...]:
    """Matrix of the frequencies with which two choices of a dimension play each other; the sum of all entries is 1.

    ``effects`` contains the choices' Elo for random draws of the model from its posterior, shape (draws, choices). An
    entry is the frequency with which one draw rates the first choice best, and another draw rates the second choice
    best among the rest.
    """
    size = effects.shape[1]
    best = np.bincount(effects.argmax(axis=1), minlength=size) / len(effects)
    found = np.zeros((size, size))
    for one in range(size):
        others = effects.copy()
        others[:, one] = -np.inf
        found[one] = best[one] * np.bincount(others.argmax(axis=1), minlength=size) / len(effects)
    # Which of the two sets has which choice must carry no information.
    found = (1 - EVEN_SHARE) * (found + found.T) / 2 + EVEN_SHARE * np.array(_even(size))
    return tuple(tuple(round(float(share), MEETING_DIGITS) for share in row) for row in found)


def half_width(pairs: int, curvature: float) -> float:
    """Half width of a settings pair in one dimension: the distance of each set of values from their middle.

    The result is a fraction of the range. ``pairs`` is the number of game pairs played before; ``curvature`` is in Elo
    per squared range.
    """
    by_pairs = ((pairs + 1) / HALF_WIDTH_PAIRS) ** -PAIRS_EXPONENT
    by_curvature = (curvature / HALF_WIDTH_CURVATURE) ** -CURVATURE_EXPONENT
    return min(HALF_WIDTH * by_pairs * by_curvature, MAX_WIDTH)


def game_pairs_per_settings_pair(games: int) -> int:
    """Number of game pairs that each settings pair plays under a budget of ``games`` games."""
    return max(1, min(MAX_PAIRS_PER_SETTINGS_PAIR, math.ceil(games / SINGLE_PAIR_GAMES)))


def draws(seed: int, number: int, count: int, purpose: str = "duel") -> list[float]:
    """Pseudo-random numbers, ``count`` in all, uniform in [0, 1).

    Each SHA-256 of ``"<seed>:<purpose>:<number>:<block>"`` gives four of them.
    """
    found: list[float] = []
    for block in range(math.ceil(count / 4)):
        digest = hashlib.sha256(f"{seed}:{purpose}:{number}:{block}".encode()).digest()
        found += [(int.from_bytes(digest[at : at + 8], "big") >> 11) / 2**53 for at in range(0, 32, 8)]
    return found[:count]


def design_pair(space: Space, seed: int, design: RoundDesign, number: int, pairs: int) -> SettingsPair:
    """Draw the two sets of values of the settings pair with index ``number`` in the schedule.

    ``pairs`` is the number of earlier game pairs. In a space with few values, rounding may make both sets equal. Both
    are then drawn again, up to ``MAX_DRAWS`` times in total.
    """
    size = 3 * len(space.dimensions)
    explores = exploring_set(design, seed, number, pairs)
    for attempt in range(1, MAX_DRAWS + 1):
        first, second = _drawn_sets(space, design, explores, pairs, draws(seed, number, attempt * size)[-size:])
        if first != second:
            break
    return SettingsPair(number, first, second)


def design_round(space: Space, seed: int, design: RoundDesign, one: Round) -> list[ScheduledSettingsPair]:
    """Draw all settings pairs of a round."""
    pairs = []
    for place in range(one.settings_pairs):
        first_pair = one.first_pair + place * one.game_pairs
        settings = design_pair(space, seed, design, one.first_settings_pair + place, first_pair)
        pairs.append(ScheduledSettingsPair(settings, first_pair, one.game_pairs, one.number))
    return pairs


def round_pairs(space: Space, seed: int, values: Values, design: Any, one: Round) -> list[ScheduledSettingsPair]:
    """The settings pairs of a round, for any sampler.

    ``values`` are the trial's values, and ``design`` is the data that the sampler stored in the trial. For ``duel`` it
    is ``RoundDesign.plain``, from which the pairs are drawn. For ``spsa`` it is ``Iteration.plain``, which has the two
    sets of values of all pairs. For other samplers it is empty, and the trial's values play against the base. In a
    finished round, ``design`` may have the key ``played`` instead, with the sets that have played.
    """
    if isinstance(design, list) and design:
        return design_round(space, seed, RoundDesign.from_plain(values, design), one)
    design = design or {"sets": (space.effective_values(values), space.default_values)}
    played = design["played"] if "played" in design else [design["sets"]] * one.settings_pairs
    return [
        ScheduledSettingsPair(
            SettingsPair(one.first_settings_pair + place, tuple(first), tuple(second)),
            one.first_pair + place * one.game_pairs, one.game_pairs, one.number,
        )
        for place, (first, second) in enumerate(played)
    ]  # fmt: skip


def exploring_set(design: RoundDesign, seed: int, number: int, pairs: int) -> int | None:
    """Index, 0 or 1, of the set of values that is drawn from the whole ranges; ``None`` if neither is, which is usual.

    ``number`` is the index of the settings pair in the schedule, ``pairs`` the number of game pairs before it.
    """
    if design.is_first or pairs < EXPLORING_FROM:
        return None
    exploring, drawn = draws(seed, number, 2, "sides")
    return int(drawn < 0.5) if exploring < EXPLORING_SHARE else None


def _drawn_sets(
    space: Space, design: RoundDesign, explores: int | None, pairs: int, drawn: Sequence[float]
) -> tuple[Values, Values]:
    """The two sets of values of a settings pair, computed from the random numbers ``drawn``, three for each dimension.

    ``explores`` is the result of ``exploring_set``; ``pairs`` is the number of game pairs before the settings pair.
    """
    meetings, curvatures = iter(design.meetings), iter(design.curvatures)
    sets: tuple[list[Value], list[Value]] = [], []
    for place, dimension in enumerate(space.dimensions):
        one, two, three = drawn[3 * place : 3 * place + 3]
        if dimension.choices:
            for values, choice in zip(sets, _drawn_meeting(next(meetings), one), strict=True):
                values.append(dimension.choices[choice])
            continue
        width = FIRST_WIDTH if design.is_first else half_width(pairs, next(curvatures))
        width *= 1.0 if explores is None else EXPLORING_WIDTH
        middle = _middle(dimension.coordinate(design.centre[place]), width, two, is_first=design.is_first)
        sign = 1 if one < 0.5 else -1
        for which, (values, way, rounding) in enumerate(zip(sets, (sign, -sign), (three, 1 - three), strict=True)):
            values.append(dimension.value_at(two if which == explores else middle + way * width, rounding))
    return space.effective_values(sets[0]), space.effective_values(sets[1])


def _middle(centre: float, width: float, drawn: float, *, is_first: bool) -> float:
    """Coordinate, in one range, of the middle between two sets of values that play each other.

    ``centre`` is the coordinate of the round's centre, and ``width`` the distance of each set from the middle.
    ``drawn`` is a random number from 0 to 1.
    """
    middle = centre + width * (1.0 if is_first else SHIFT_SHARE) * (2 * drawn - 1)
    # Near an end the middles are reflected: if all were in one place, no curvature could be seen there.
    end = END_SHARE * width
    return end + abs(middle - end) if middle < 0.5 else 1 - end - abs(1 - end - middle)


def _drawn_meeting(meetings: tuple[tuple[float, ...], ...], drawn: float) -> tuple[int, int]:
    cells = [(one, other) for one in range(len(meetings)) for other in range(len(meetings)) if one != other]
    left = drawn * sum(meetings[one][other] for one, other in cells)
    for cell in cells:
        left -= meetings[cell[0]][cell[1]]
        if left < 0:
            return cell
    return cells[-1]
