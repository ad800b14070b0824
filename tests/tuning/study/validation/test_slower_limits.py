"""The limit of the second validation: so many times the first, of built-in players as processor time."""

from __future__ import annotations

import pytest

from elolab.engine.settings.limits import Limits
from elolab.tuning.study.validation.slower_limits import on_processor_clock, slower


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        ("nodes=1000", "nodes=4000"),
        ("depth=6", "depth=7"),
        ("depth=6,nodes=1000", "depth=6,nodes=4000"),
        ("move_time=0.1", "move_time=0.4"),
        ("clock=40/10+0.1,cpu", "clock=40/40+0.4,cpu"),
    ],
)
def test_four_times_the_nodes_and_times(limit: str, expected: str) -> None:
    assert str(slower(Limits.parse(limit))) == expected


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        ("nodes=1000", "move_time=0.004,cpu"),  # at a million nodes a second
        ("nodes=60", "move_time=0.001,cpu"),  # not below a millisecond
        ("depth=6", "move_time=0.003,cpu"),  # 3^6 nodes
        ("move_time=0.1", "move_time=0.4,cpu"),
        ("clock=40/10+0.1", "clock=40/40+0.4,cpu"),
        ("clock=10+0.1,cpu", "clock=40+0.4,cpu"),
        ("clock=10+0.1,node_clock=10000", "clock=0.4+0.004,cpu"),  # a hundredth of that speed
        ("clock=10,node_clock=10000", "clock=0.4+0,cpu"),
    ],
)
def test_about_four_times_as_processor_time(limit: str, expected: str) -> None:
    assert on_processor_clock(Limits.parse(limit)) == Limits.parse(expected)
