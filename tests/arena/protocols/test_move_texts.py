"""Moves as programs write them: in either rank base in Xiangqi, and in every style of chess."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elolab.arena.players.player import MAX_VARIATION
from elolab.arena.protocols.move_texts import (
    detect_first_rank,
    read_move,
    read_variation,
    write_move,
)
from elolab.engine.games import game_named

MOVES = st.builds("{}{}{}{}".format, *(st.sampled_from("abcdefghi"), st.integers(0, 9)) * 2)


@given(MOVES, st.sampled_from([0, 1]))
def test_moves_come_back_from_either_base(move: str, first_rank: int) -> None:
    assert read_move(write_move(move, first_rank), first_rank) == move


@pytest.mark.parametrize(
    ("text", "first_rank", "move"),
    [
        ("h3e3", 1, "h2e2"),
        ("a10a9", 1, "a9a8"),
        ("h10i10", 1, "h9i9"),
        ("h2e2", 0, "h2e2"),
        ("a10a9", 0, None),
        ("a0a1", 1, None),
        ("a11a9", 1, None),
        ("j1a1", 1, None),
        ("h2e2q", 0, None),
        ("H2E2", 0, None),
        ("h2-e2", 0, None),
        ("", 0, None),
    ],
)
def test_reading_moves(text: str, first_rank: int, move: str | None) -> None:
    assert read_move(text, first_rank) == move


def test_every_first_move_shows_its_base() -> None:
    legal = game_named("xiangqi").position().legal_moves()
    for move in legal:
        assert detect_first_rank(write_move(move, 0), legal) == 0
        assert detect_first_rank(write_move(move, 1), legal) == 1
    assert detect_first_rank("e9e8", legal) is None


def test_both_bases_legal_decides_nothing() -> None:
    assert detect_first_rank("a1a2", ["a1a2", "a0a1"]) is None


@pytest.mark.parametrize(
    ("text", "first_rank", "variation"),
    [
        ("h1g3 f10e9 b3c3", 1, "h0g2 f9e8 b2c2"),
        ("h0g2 f9e8  b2c2", 0, "h0g2 f9e8 b2c2"),
        ("h0g2 f10e9 b2c2", 0, "h0g2"),
        ("h0g2 (none) b2c2", 0, "h0g2"),
        ("h0g2 " + 10**6 * "1", 0, "h0g2"),
        ("", 0, ""),
        ("a0a1 " * 1000, 0, " ".join(["a0a1"] * MAX_VARIATION)),
    ],
)
def test_a_principal_variation(text: str, first_rank: int, variation: str) -> None:
    assert read_variation(text, first_rank) == variation


@given(st.text(max_size=200))
def test_no_text_upsets_the_reader(text: str) -> None:
    read_move(text, 1)
