"""The sampler ``duel``: matches between two sets of parameters on both sides of where the maximum is believed to be.

Simultaneous perturbation (Spall 1992) around a centre that a model places. Before every round the response model is
fitted to all games so far; the centre of the round is its maximum. The two sets of a settings pair lie on both sides of
a point near the centre, in every dimension at once with a random sign, the closer the more that dimension matters,
whole numbers rounded at random in proportion. Such a match measures the slope at its middle whatever the curvature is;
that the middles differ measures the curvature. Neither shows what lies elsewhere, nor a valley between two summits that
lie opposite each other: so some settings pairs play the centre against a set from anywhere in the ranges, and where two
hills are possible sets near both summits meet, the more often the less is known of which is the higher one. The two
sets always differ in their choices: the one that a draw from the posterior takes for the best meets the best of the
others by a second draw, so that games go to the choices that may still be the best (top-two Thompson sampling, Russo
2016).

Everything here is a function of the specification, the random seed and where the round stands; the draws come from
SHA-256, so that they are the same in every version of everything. Constants were found by simulation
(``benchmarks/tuning_landscapes.py``).
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto

import numpy as np

from elolab.engine.settings.parameters import Value
from elolab.tuning.study.model.posterior import PAIRS_OF_TWO_HILLS
from elolab.tuning.study.model.response import ResponseModel
from elolab.tuning.study.space import Dimension, Space, Values

HALF_WIDTH, HALF_WIDTH_PAIRS, HALF_WIDTH_CURVATURE = 0.19, 400, 1000.0
"""Of a range: how far each set lies from the middle of its settings pair after so many game pairs, in a dimension of
that curvature (Elo over range squared)."""
PAIRS_EXPONENT, CURVATURE_EXPONENT = 1 / 6, 1 / 3
"""At which it falls with the number of pairs and with the curvature. Where the slope seems to be 0, the noise of the
games loses Elo in proportion to 1 / (pairs * curvature * width ** 2) and a skew to curvature * width ** 4: the sum is
least for a width of these powers."""
FIRST_WIDTH = 0.3
"""Of a range: the same before anything is known."""
MIN_WIDTH, MAX_WIDTH = 0.06, 0.35
END_SHARE = 0.25
"""Middles keep this share of the half-width from the ends of the range; what would lie beyond an end is at the end."""
SHIFT_SHARE = 0.6
"""The middle of a settings pair lies up to this share of the half-width from the centre, evenly spread."""
FIRST_SHIFT = 0.3
"""Of a range: the same in the first round, whose centre is the base."""
ACROSS_SHARE, ACROSS_RATE = 0.5, 5.0
"""Share of the settings pairs that play one summit against another, at most, and over the probability that the other
one is the higher."""
ACROSS_WIDTH = 0.35
"""Half-width of such pairs over that of others: the closer to the summits, the better their heights are compared."""
EXPLORING_SHARE = 0.1
"""Share of the settings pairs that play the centre against a set from anywhere in the ranges, once two hills are
thought of."""
RIVAL_RATE = 0.5
"""Share of the settings pairs about the other summit, over the same."""
MIN_RIVAL_SHARE = 0.02
"""Of the probability: a summit that is less likely to be the higher one is left alone."""
EVEN_SHARE = 0.05
"""Share of the meetings of choices that are even over all of them: the model may be wrong."""
MEETING_DIGITS, CURVATURE_DIGITS = 4, 4
SINGLE_PAIR_GAMES = 4000
"""Up to this budget a settings pair plays one game pair; beyond, one more for every such number of games."""
MAX_PAIRS_PER_SETTINGS_PAIR = 8
"""Game pairs of a settings pair at most."""

MAX_DRAWS = 40
"""How often a settings pair is drawn until its sets differ; where they do not, there is little to choose."""

Meetings = tuple[tuple[tuple[float, ...], ...], ...]
"""For every dimension of choices how often each choice is the first set's (row) and the second one's (column)."""


class Side(Enum):
    """Where a set of a settings pair is."""

    CENTRE = auto()
    RIVAL = auto()
    """At the other summit."""
    ANYWHERE = auto()
    """Anywhere in the ranges."""


@dataclass(frozen=True)
class SettingsPair:
    """Two sets of parameters and their place in the schedule. Values are in the order of the dimensions."""

    number: int
    first: Values
    second: Values


@dataclass(frozen=True)
class ScheduledSettingsPair:
    """A pair of settings and its place among the run's pairs of games."""

    settings: SettingsPair
    first_pair: int
    pairs: int
    round: int = 0
    series: str = ""


@dataclass(frozen=True)
class Round:
    """A part of the schedule: one Optuna trial."""

    number: int
    first_settings_pair: int
    """Number of its first settings pair."""
    settings_pairs: int
    """Number of settings pairs."""
    game_pairs: int
    """Pairs of games per settings pair."""
    first_pair: int
    """Place of its first pair of games in the schedule."""

    @property
    def pairs(self) -> int:
        """Pairs of games of the round."""
        return self.settings_pairs * self.game_pairs


@dataclass(frozen=True)
class RoundDesign:
    """What the settings pairs of a round are designed around."""

    centre: Values
    meetings: Meetings
    curvatures: tuple[float, ...] = ()
    """Of the ranges in turn, Elo over range squared; empty while nothing is known."""
    rival: Values = ()
    """Another summit, which may be the higher one; empty if none is known of."""
    rival_curvatures: tuple[float, ...] = ()
    rival_share: float = 0.0
    """How probable it is that the other summit is the higher one."""

    @property
    def is_first(self) -> bool:
        """Whether nothing was known yet: the middles are then spread wider."""
        return not self.curvatures

    def plain(self) -> list[object]:
        """What the centre does not tell, as plain data."""
        rival = [[list(self.rival), list(self.rival_curvatures), self.rival_share]] if self.rival else []
        return [list(self.curvatures), [[list(row) for row in rows] for rows in self.meetings], *rival]

    @staticmethod
    def from_plain(centre: Values, plain: Sequence[object]) -> RoundDesign:
        """The inverse of ``plain``."""
        curvatures, meetings, *more = plain
        assert isinstance(curvatures, list)
        assert isinstance(meetings, list)
        rows = tuple(tuple(tuple(row) for row in rows) for rows in meetings)
        if not more:
            return RoundDesign(centre, rows, tuple(curvatures))
        assert isinstance(more[0], list)
        rival, rival_curvatures, rival_share = more[0]
        return RoundDesign(centre, rows, tuple(curvatures), tuple(rival), tuple(rival_curvatures), rival_share)


def first_design(space: Space) -> RoundDesign:
    """At the base, every choice against every other."""
    sizes = [len(dimension.choices) for dimension in space.dimensions if dimension.choices]
    return RoundDesign(_listed(space, space.default_values), tuple(_even(size) for size in sizes))


def design_of(model: ResponseModel, best: Values) -> RoundDesign:
    """At the model's maximum ``best``, choices by the posterior."""
    meetings = tuple(
        _meetings(model.effects(place)) for place, dimension in enumerate(model.space.dimensions) if dimension.choices
    )
    curvatures = _rounded(model.curvatures(best))
    found = model.rival(best)
    if found is None or found[2] < MIN_RIVAL_SHARE:
        return RoundDesign(_listed(model.space, best), meetings, curvatures)
    rival, rival_curvatures, share = found
    return RoundDesign(
        _listed(model.space, best), meetings, curvatures, _listed(model.space, rival), _rounded(rival_curvatures),
        round(share, MEETING_DIGITS),
    )  # fmt: skip


def _rounded(curvatures: Iterable[float]) -> tuple[float, ...]:
    return tuple(float(f"{curvature:.{CURVATURE_DIGITS}g}") for curvature in curvatures)


def _listed(space: Space, values: Sequence[Value]) -> Values:
    """The nearest set of values that the dimensions list; the base may lie between or beyond them."""
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
    """How often two independent draws name each choice as the best, and each as the best of the others."""
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
    """How far from their middle the sets of a settings pair lie in a dimension, in ranges, after so many game pairs."""
    by_pairs = ((pairs + 1) / HALF_WIDTH_PAIRS) ** -PAIRS_EXPONENT
    by_curvature = (curvature / HALF_WIDTH_CURVATURE) ** -CURVATURE_EXPONENT
    return min(max(HALF_WIDTH * by_pairs * by_curvature, MIN_WIDTH), MAX_WIDTH)


def game_pairs_per_settings_pair(games: int) -> int:
    """Game pairs of each settings pair of a budget."""
    return max(1, min(MAX_PAIRS_PER_SETTINGS_PAIR, math.ceil(games / SINGLE_PAIR_GAMES)))


def draws(seed: int, number: int, count: int, purpose: str = "duel") -> list[float]:
    """Numbers evenly spread over [0, 1): the SHA-256 of ``"<seed>:<purpose>:<number>:<block>"``, four to a block."""
    found: list[float] = []
    for block in range(math.ceil(count / 4)):
        digest = hashlib.sha256(f"{seed}:{purpose}:{number}:{block}".encode()).digest()
        found += [(int.from_bytes(digest[at : at + 8], "big") >> 11) / 2**53 for at in range(0, 32, 8)]
    return found[:count]


def design_pair(space: Space, seed: int, design: RoundDesign, number: int, pairs: int) -> SettingsPair:
    """The sets of settings pair ``number``, before which so many game pairs were played.

    Where values are few the two may round to the same set, whose games would show nothing: then they are drawn again,
    up to ``MAX_DRAWS`` times.
    """
    size = 3 * len(space.dimensions)
    sides = sides_of(design, seed, number, pairs)
    for attempt in range(1, MAX_DRAWS + 1):
        first, second = _drawn_sets(space, design, sides, pairs, draws(seed, number, attempt * size)[-size:])
        if first != second:
            break
    return SettingsPair(number, first, second)


def design_round(space: Space, seed: int, design: RoundDesign, one: Round) -> list[ScheduledSettingsPair]:
    """All settings pairs of a round."""
    pairs = []
    for place in range(one.settings_pairs):
        first_pair = one.first_pair + place * one.game_pairs
        settings = design_pair(space, seed, design, one.first_settings_pair + place, first_pair)
        pairs.append(ScheduledSettingsPair(settings, first_pair, one.game_pairs, one.number))
    return pairs


def trial_against_base(space: Space, values: Values, one: Round) -> list[ScheduledSettingsPair]:
    """The settings pair of a round with another sampler than ``duel``: the trial's set against the base."""
    settings = SettingsPair(one.first_settings_pair, space.effective_values(values), space.default_values)
    return [ScheduledSettingsPair(settings, one.first_pair, one.game_pairs, one.number)]


def sides_of(design: RoundDesign, seed: int, number: int, pairs: int) -> tuple[Side, Side]:
    """Where the first and the second set of settings pair ``number``, after so many game pairs, are."""
    if design.is_first or pairs < PAIRS_OF_TWO_HILLS:
        return Side.CENTRE, Side.CENTRE
    exploring, drawn = draws(seed, number, 2, "sides")
    if exploring < EXPLORING_SHARE:
        return (Side.CENTRE, Side.ANYWHERE) if drawn < 0.5 else (Side.ANYWHERE, Side.CENTRE)
    if not design.rival:
        return Side.CENTRE, Side.CENTRE
    across = ACROSS_SHARE * min(1.0, ACROSS_RATE * design.rival_share)
    if drawn < across:
        return (Side.RIVAL, Side.CENTRE) if drawn < across / 2 else (Side.CENTRE, Side.RIVAL)
    side = Side.RIVAL if drawn - across < RIVAL_RATE * design.rival_share else Side.CENTRE
    return side, side


def _drawn_sets(
    space: Space, design: RoundDesign, sides: tuple[Side, Side], pairs: int, drawn: Sequence[float]
) -> tuple[Values, Values]:
    """The two sets of a settings pair after so many game pairs, by three draws per dimension."""
    meetings = iter(design.meetings)
    ordered = 0
    first: list[Value] = []
    second: list[Value] = []
    for place, dimension in enumerate(space.dimensions):
        one, two, three = drawn[3 * place : 3 * place + 3]
        if dimension.choices:
            ours, theirs = _drawn_meeting(next(meetings), one)
            first.append(dimension.choices[ours])
            second.append(dimension.choices[theirs])
            continue
        ways = [_middle_and_width(dimension, place, ordered, design, sides, side, pairs, two) for side in sides]
        ordered += 1
        sign = 1 if one < 0.5 else -1
        first.append(dimension.value_at(ways[0][0] + sign * ways[0][1], three))
        second.append(dimension.value_at(ways[1][0] - sign * ways[1][1], 1 - three))
    return space.effective_values(first), space.effective_values(second)


def _middle_and_width(
    dimension: Dimension, place: int, ordered: int, design: RoundDesign, sides: tuple[Side, Side], side: Side,
    pairs: int, drawn: float,
) -> tuple[float, float]:  # fmt: skip
    """The point that a set lies beside in one range, and how far beside it; both in ranges."""
    if side is Side.ANYWHERE:
        return drawn, 0.0
    is_rival = side is Side.RIVAL
    centre, curvatures = (design.rival, design.rival_curvatures) if is_rival else (design.centre, design.curvatures)
    width = FIRST_WIDTH if design.is_first else half_width(pairs, curvatures[ordered])
    width *= ACROSS_WIDTH if sides[0] is not sides[1] else 1.0
    shift = FIRST_SHIFT if design.is_first else SHIFT_SHARE * width
    middle = dimension.coordinate(centre[place]) + shift * (2 * drawn - 1)
    # Near an end the middles are thrown back: if all were in one place, no curvature could be seen there.
    end = END_SHARE * width
    return end + abs(middle - end) if middle < 0.5 else 1 - end - abs(1 - end - middle), width


def _drawn_meeting(meetings: tuple[tuple[float, ...], ...], drawn: float) -> tuple[int, int]:
    cells = [(one, other) for one in range(len(meetings)) for other in range(len(meetings)) if one != other]
    left = drawn * sum(meetings[one][other] for one, other in cells)
    for cell in cells:
        left -= meetings[cell[0]][cell[1]]
        if left < 0:
            return cell
    return cells[-1]
