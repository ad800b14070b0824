"""Moves that lead to an Othello position: those found are played through, and what no game reaches has none."""

from __future__ import annotations

import random

import pytest

from arena.notation.openings import load_suite
from engine.games import game_named
from engine.games.contract import PositionError
from engine.games.othello import retracing


def test_moves_to_the_openings_of_the_suite_lead_there() -> None:
    game = game_named("othello")
    openings = random.Random(1).sample(load_suite("othello", "othello").openings, 200)
    for opening in openings:
        moves = game.moves_to(opening.position)
        assert moves is not None
        assert len(moves) == 10
        assert game.position(game.start, moves).text == opening.position


@pytest.mark.parametrize("plies", [0, 1, 9, 12, 15])
def test_positions_of_games_are_reached_passes_and_all(plies: int) -> None:
    game = game_named("othello")
    for number in range(3):
        chance = random.Random(number)
        position = game.position(game.start, ["d3", "c3", "e6", "d2", "d1", "e1", "b2", "c1"] if plies >= 9 else [])
        while position.ply < plies:
            position.push(chance.choice(position.legal_moves()))
        assert ("pass" in position.moves) is (plies >= 9)
        moves = game.moves_to(position.text)
        assert moves is not None
        assert game.position(game.start, moves).text == position.text


def test_positions_that_no_game_has() -> None:
    game = game_named("othello")
    # A disc that touches no other; the start with the other side to move; colours that no two moves give.
    for board in (
        "X--------------------------OX------XO--------------------------- X",
        game.start.replace(" X", " O"),
        "--------------------O------XO------XO--------------------------- X",
    ):
        assert game.moves_to(board) is None
    with pytest.raises(PositionError):
        game.moves_to("nonsense")


def test_the_search_gives_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retracing, "MAX_POSITIONS", 5)
    retracing.moves_to.cache_clear()
    assert retracing.moves_to("----OX------OX-----XO------XO-----XXOX---X--O------------------- X") is None
    retracing.moves_to.cache_clear()


def test_in_xiangqi_only_the_start_can_be_reached() -> None:
    game = game_named("xiangqi")
    assert game.moves_to(game.start) == ()
    assert game.moves_to("3k5/9/9/9/9/9/9/9/1r7/r3K4 w - - 0 1") is None
