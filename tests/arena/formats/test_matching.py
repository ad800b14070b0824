"""The cheapest way to pair everybody, against trying all ways."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elolab.arena.formats.matching import Costs, cheapest_pairing


def least_cost(costs: Costs, left: tuple[int, ...]) -> int | None:
    """The least cost of all ways to pair those who are left."""
    if not left:
        return 0
    found = []
    for partner in left[1:]:
        cost = costs[left[0]][partner]
        rest = least_cost(costs, tuple(place for place in left[1:] if place != partner))
        if cost is not None and rest is not None:
            found.append(cost + rest)
    return min(found, default=None)


@st.composite
def cost_tables(draw: st.DrawFn) -> list[list[int | None]]:
    size = draw(st.sampled_from([2, 4, 6, 8]))
    largest = draw(st.sampled_from([1, 3, 20, 10**15]))
    legal = draw(st.floats(0.3, 1))
    generator = random.Random(draw(st.integers(0, 2**32)))
    costs: list[list[int | None]] = [[None] * size for _ in range(size)]
    for one in range(size):
        for other in range(one):
            if generator.random() < legal:
                costs[one][other] = costs[other][one] = generator.randint(-largest, largest)
    return costs


@given(cost_tables())
def test_it_is_the_cheapest_of_all_and_is_found_whenever_there_is_one(costs: list[list[int | None]]) -> None:
    partners = cheapest_pairing(costs)
    least = least_cost(costs, tuple(range(len(costs))))
    if partners is None:
        assert least is None
        return
    assert all(partners[partner] == place != partner for place, partner in enumerate(partners))
    paid = [costs[place][partner] for place, partner in enumerate(partners) if place < partner]
    assert None not in paid
    assert sum(cost for cost in paid if cost is not None) == least


def test_nested_blossoms_are_gone_through() -> None:
    """Chains of triangles, in which every augmenting path runs through blossoms within blossoms."""
    for triangles in (2, 6, 12):
        size = 3 * triangles
        costs: list[list[int | None]] = [[None] * size for _ in range(size)]

        def join(one: int, other: int, cost: int, costs: list[list[int | None]] = costs) -> None:
            costs[one][other] = costs[other][one] = cost

        for first in range(0, size, 3):
            for one, other in ((0, 1), (1, 2), (0, 2)):
                join(first + one, first + other, 0)
            if first + 3 < size:
                join(first + 2, first + 3, 1)
        partners = cheapest_pairing(costs)
        assert partners is not None
        paid = sum(costs[place][partner] or 0 for place, partner in enumerate(partners)) // 2
        assert paid == triangles // 2


@pytest.mark.parametrize("size", [1, 3, 5])
def test_an_odd_number_cannot_be_paired(size: int) -> None:
    assert cheapest_pairing([[0] * size for _ in range(size)]) is None


def test_nobody_is_a_pairing_too() -> None:
    assert cheapest_pairing([]) == []
