"""Names in little room: never longer than it, never two alike."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elolab.arena.statistics.names import shorten_unique
from elolab.engine.language import columns_of

LETTERS = st.sampled_from("ab-红…1'")


@given(st.lists(st.text(LETTERS, min_size=1, max_size=40), unique=True, min_size=1, max_size=30), st.integers(8, 30))
def test_different_names_are_shown_differently_and_fit(names: list[str], columns: int) -> None:
    shown = shorten_unique(names, columns)
    assert len(set(shown)) == len(names)
    assert max(map(columns_of, shown)) <= columns
    for name, text in zip(names, shown, strict=True):
        assert columns_of(name) > columns or text == name


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (["short", "longer than the room, and one"], ["short", "longer than… and one"]),
        (["the engine with tempo 1 and history on", "the engine with tempo 2 and history on"],
         ["the engine…po 1 and…", "the engine…po 2 and…"]),
    ],
)  # fmt: skip
def test_what_tells_names_apart_stays(names: list[str], shown: list[str]) -> None:
    assert shorten_unique(names, 20) == shown


def test_where_nothing_else_helps_names_are_numbered() -> None:
    """They begin and end alike, and where the first differences are, two of them still look alike."""
    middles = (("b", 1), ("b", 2), ("c", 1))
    names = [f"engine number one, a {one} with a tail {other} that all of them have" for one, other in middles]
    assert shorten_unique(names, 20) == ["engine number one,…1", "engine number one,…2", "engine num… a c wit…"]
    taken = "engine number one,…1"
    assert shorten_unique([*names, taken], 20) == [
        "engine number one…1'", "engine number one,…2", "engine num… a c wit…", taken
    ]  # fmt: skip


def test_equal_names_are_shown_alike() -> None:
    assert len(set(shorten_unique(["x" * 50, "x" * 50, "y"], 20))) == 2
