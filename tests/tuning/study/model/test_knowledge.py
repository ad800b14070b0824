"""What a model knows about each parameter."""

from __future__ import annotations

import math

import numpy as np
import pytest

from elolab.tuning.study.model.importance import knowledge
from elolab.tuning.study.space import Dimension, Space


class SteepAndFlat:
    """A model in which the first range matters, the second one hardly, and the choice not at all."""

    space = Space(
        (Dimension("steep", 0, 10), Dimension("flat", 0, 10), Dimension("mode", choices=("a", "b"))),
        (("steep", 5), ("flat", 5), ("mode", "a")), external=True,
    )  # fmt: skip

    def gain(self, sets: list[tuple[float, float, str]], against: tuple[float, float, str]) -> tuple[object, object]:
        found = [-4 * (one[0] - against[0]) ** 2 - 0.1 * abs(one[1] - against[1]) for one in sets]
        deviations = [0.0 if one == against else 5.0 for one in sets]
        return np.array(found), np.array(deviations)


def test_each_parameter_is_known_by_the_size_of_its_loss() -> None:
    steep, flat, mode = knowledge(SteepAndFlat(), (5, 5, "a"), 1000)  # type: ignore[arg-type]
    assert (steep.name, steep.possible, steep.loss, steep.deviation) == ("steep", (4, 5, 6), 100, 5)
    assert steep.games < 1000  # known
    assert flat.possible == tuple(range(11))
    assert flat.games == pytest.approx(1000 * (1.6448536269514722 * 5 / 0.5) ** 2)
    assert (mode.possible, mode.games) == (("a", "b"), math.inf)
