"""Simultaneous perturbation stochastic approximation (SPSA, Spall 1992) with the schedules of fishtest and OpenBench.

Theta is the current set of values. Iteration k plays the settings ``theta + c_k * delta`` against
``theta - c_k * delta``, where every component of ``delta`` is +1 or -1 at random. Theta moves towards the winner, by
``a_k / c_k * delta`` times the games won minus the games lost. Here ``c_k = c / k**gamma`` and
``a_k = a / (A + k)**alpha`` (``GAMMA``, ``ALPHA``, ``STABILITY``). As in fishtest, k counts game pairs. The values at
the end of the search determine c and a: c_k is then ``c_end``, and a_k is ``r_end * c_end**2``.

Theta moves in coordinates: 0 and 1 are the ends of a range, on its scale. Values are rounded to one of the two nearest
candidates at random. The published SPSA has no choices. Here every choice has a preference, which rises when its
settings win.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from elolab.arena.statistics.elo import Pentanomial
from elolab.engine.settings.parameters import Value
from elolab.tuning.study.rounds.pairs_of_settings import draws
from elolab.tuning.study.space import R_END, Dimension, Space, Values

ALPHA, GAMMA, STABILITY = 0.602, 0.101, 0.1
"""Exponents of the decrease of steps and of perturbations (Spall 1998), and the constant A as a share of the pairs."""
C_END = 1 / 20
"""Default of ``c_end``, the perturbation at the end of the search, as a fraction of the range."""
PREFERENCE_STEP = 0.05
"""Amount by which each game won raises the preference for a choice."""
EVEN_SHARE = 0.5
"""Part of the probability of drawing a choice that is equal for all choices, whatever the preferences are."""

Theta = tuple[tuple[float, ...], ...]
"""For each dimension: the coordinate of its value, from 0 to 1, or the preference for each of its choices."""


@dataclass(frozen=True)
class Iteration:
    """One iteration: two sets of values that play each other, and the change of theta (the current values) per game
    won.

    ``step`` is the change if the first set wins a game; if the second set wins, theta changes by ``-step``.
    """

    first: Values
    second: Values
    step: Theta

    def plain(self) -> dict[str, object]:
        """The iteration as plain data for JSON."""
        return {"sets": [list(self.first), list(self.second)], "step": [list(part) for part in self.step]}


@dataclass(frozen=True)
class Spsa:
    """SPSA in a space of values, with schedules for a given number of game pairs."""

    space: Space
    pairs: int
    """Number of game pairs of the whole search."""
    seed: int = 1
    c_end: float = C_END
    """Perturbation of a value at the end of the search, as a fraction of the range; at least half a step.

    Dimensions with a ``c_end`` of their own ignore this value.
    """
    r_end: float = R_END
    """Step at the end of the search: each game won moves a value by ``r_end`` times ``c_end``.

    Dimensions with an ``r_end`` of their own ignore this value.
    """

    def start(self) -> Theta:
        """Theta (the current set of values) at the start of the search: the base.

        Every choice has the preference 0, except the base's choice, which has slightly more.
        """
        return tuple(
            tuple(float(one == value) * 1e-9 for one in dimension.choices)
            if dimension.choices
            else (min(max(dimension.coordinate(value), 0.0), 1.0),)
            for dimension, value in zip(self.space.dimensions, self.space.default_values, strict=True)
        )

    def iteration(self, theta: Theta, number: int, played: int) -> Iteration:
        """The iteration with the number ``number``, at the current values ``theta``, after ``played`` game pairs.

        Its random numbers depend only on the number and the seed.
        """
        drawn = draws(self.seed, number, 2 * len(self.space.dimensions), "spsa")
        first: list[Value] = []
        second: list[Value] = []
        steps: list[tuple[float, ...]] = []
        for place, (dimension, part) in enumerate(zip(self.space.dimensions, theta, strict=True)):
            one, two = drawn[2 * place : 2 * place + 2]
            if dimension.choices:
                ours, theirs = _drawn_choice(part, one), _drawn_choice(part, two)
                first.append(dimension.choices[ours])
                second.append(dimension.choices[theirs])
                places = range(len(part))
                steps.append(tuple(PREFERENCE_STEP * ((at == ours) - (at == theirs)) for at in places))
                continue
            aside, step = self.schedule(dimension, played + 1)
            sign = 1 if one < 0.5 else -1
            first.append(dimension.value_at(part[0] + sign * aside, two))
            second.append(dimension.value_at(part[0] - sign * aside, 1 - two))
            steps.append((sign * step if first[-1] != second[-1] else 0.0,))
        effective = self.space.effective_values
        return Iteration(effective(first), effective(second), tuple(steps))

    def schedule(self, dimension: Dimension, k: int) -> tuple[float, float]:
        """Perturbation ``c_k`` and step ``a_k / c_k`` for one game won, as fractions of the range of ``dimension``."""
        size = math.log(dimension.high / dimension.low) if dimension.scale == "log" else dimension.high - dimension.low
        least = 0.0 if dimension.scale == "log" else dimension.step / 2 / size
        c_end = max(self.c_end, least) if dimension.c_end is None else dimension.c_end / size
        r_end = self.r_end if dimension.r_end is None else dimension.r_end
        stability = STABILITY * self.pairs
        aside = c_end * (self.pairs / k) ** GAMMA
        return aside, r_end * c_end**2 * ((stability + self.pairs) / (stability + k)) ** ALPHA / aside

    def after(self, theta: Theta, step: Sequence[Sequence[float]], counts: Pentanomial) -> Theta:
        """Theta (the current set of values) after an iteration.

        ``theta`` is the set before the iteration, ``step`` the change for each game that the first set wins, and
        ``counts`` the outcomes from the first set's point of view.
        """
        won = sum((place - 2) * count for place, count in enumerate(counts.counts))
        moved = []
        for dimension, part, more in zip(self.space.dimensions, theta, step, strict=True):
            found = tuple(one + won * other for one, other in zip(part, more, strict=True))
            moved.append(found if dimension.choices else (min(max(found[0], 0.0), 1.0),))
        return tuple(moved)

    def values(self, theta: Sequence[Sequence[float]]) -> Values:
        """The set of values that belongs to ``theta``: the nearest candidates in ranges, and the choices with most
        preference.
        """
        return self.space.effective_values([
            dimension.choices[int(np.argmax(part))] if dimension.choices else dimension.value_at(part[0])
            for dimension, part in zip(self.space.dimensions, theta, strict=True)
        ])  # fmt: skip


def _drawn_choice(preferences: Sequence[float], drawn: float) -> int:
    """Index of a choice, drawn at random; ``drawn`` is a random number from 0 to 1.

    A part of the probability, ``EVEN_SHARE``, is equal for all choices. The other part is proportional to the
    exponential of the preference.
    """
    powers = [math.exp(one - max(preferences)) for one in preferences]
    shares = [EVEN_SHARE / len(powers) + (1 - EVEN_SHARE) * power / sum(powers) for power in powers]
    return next((at for at, total in enumerate(accumulate(shares)) if drawn < total), len(shares) - 1)
