"""Tables of text that fit a width, and names that stay distinguishable when they are shortened."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elolab.arena.statistics.text_table import Column, fitting, name_column, shorten_unique, table_lines
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


PLAYERS = ("default", "no-late-move-reductions", "no-late-move-pruning")
TABLE = [
    Column("#", ("1", "2", "10")),
    name_column("player", PLAYERS),
    Column("Elo", ("+12.5", "0.0", "-12.5")),
    Column("games", ("40", "40", "8"), rank=1),
    Column("note", ("", "lost on time", ""), left=True, rank=2, least=6),
]


def test_a_wide_table_is_aligned_with_two_spaces_between_columns() -> None:
    lines = [
        " #  player                     Elo  games  note",
        " 1  default                  +12.5     40",
        " 2  no-late-move-reductions    0.0     40  lost on time",
        "10  no-late-move-pruning     -12.5      8",
    ]
    assert table_lines(TABLE, None) == table_lines(TABLE, 55) == lines


def test_a_narrow_table_has_single_spaces_shorter_names_and_at_last_fewer_columns() -> None:
    for width in range(16, 55):
        lines = table_lines(TABLE, width)
        assert max(map(len, lines)) <= width
        assert len({line[:12] for line in lines}) == 4, lines
    assert table_lines(TABLE, 40)[2] == " 2 no-lat…tions   0.0    40 lost on time"
    assert [column.head for column in fitting(TABLE, 29)] == ["#", "player", "Elo", "games"]
    assert [column.head for column in fitting(TABLE, 17)] == ["#", "player", "Elo"]


def test_names_of_two_columns_are_shortened_alike() -> None:
    table = [name_column("player", PLAYERS[:2], PLAYERS), name_column("opponent", PLAYERS[1:], PLAYERS)]
    first, second = (line.split() for line in table_lines(table, 25)[1:])
    assert first[1] == second[0]


def test_chinese_heads_count_two_columns_a_character() -> None:
    assert table_lines([name_column("\u9009\u624b", ["a"]), Column("\u80dc", ["3"])], 20) == [
        "\u9009\u624b  \u80dc",
        "a      3",
    ]
