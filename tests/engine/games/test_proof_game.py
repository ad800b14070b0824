"""Moves that lead to a position: those found are played through, and what no game reaches has none."""

from __future__ import annotations

import random

import pytest

from elolab.arena.notation.openings import load_suite
from elolab.engine.games import game_named
from elolab.engine.games.contract import PositionError
from elolab.engine.games.proof_game import proof_game


@pytest.mark.integration
def test_moves_to_the_openings_of_the_suite_lead_there() -> None:
    game = game_named("othello")
    openings = random.Random(1).sample(load_suite("othello", "othello").openings, 50)
    for opening in openings:
        moves = proof_game(game.name, opening.position)
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
        moves = proof_game(game.name, position.text)
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
        assert proof_game(game.name, board) is None
    with pytest.raises(PositionError):
        proof_game(game.name, "nonsense")


def test_the_search_gives_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("elolab.engine.games.proof_game.MAX_POSITIONS", 5)
    proof_game.cache_clear()
    board = "----OX------OX-----XO------XO-----XXOX---X--O------------------- X"
    assert proof_game("othello", board) is None
    proof_game.cache_clear()


def placement_and_side(text: str) -> list[str]:
    """What positions have in common that differ in their counters alone."""
    return text.split()[:2]


@pytest.mark.integration
def test_moves_to_xiangqi_openings_of_the_suite_lead_there() -> None:
    game = game_named("xiangqi")
    openings = random.Random(3).sample(load_suite("xiangqi", "xiangqi").openings, 12)
    for opening in openings:
        moves = proof_game(game.name, opening.position)
        assert moves is not None
        assert placement_and_side(game.position(None, moves).text) == placement_and_side(opening.position)


@pytest.mark.parametrize("plies", [0, 1, 2, 5])
def test_xiangqi_positions_of_games_are_reached(plies: int) -> None:
    game = game_named("xiangqi")
    for number in range(3):
        chance = random.Random(number)
        position = game.position()
        while position.ply < plies:
            position.push(chance.choice(position.legal_moves()))
        moves = proof_game(game.name, position.text)
        assert moves is not None
        assert placement_and_side(game.position(None, moves).text) == placement_and_side(position.text)


def test_positions_that_follow_checks_are_reached() -> None:
    """A check on the way has to be answered."""
    game = game_named("xiangqi")
    looked_at = 0
    for number in range(35):
        chance, checks = random.Random(number), 0
        position = game.position()
        while position.ply < 8:
            legal = position.legal_moves()
            position.push(chance.choice([move for move in legal if move[3] in "789" or move[2] == "e"] or legal))
            checks += bool(game.kernels.in_check(position.state))
        if checks:
            looked_at += 1
            moves = proof_game(game.name, position.text)
            assert moves is not None, position.text
            assert placement_and_side(game.position(None, moves).text) == placement_and_side(position.text)
    assert looked_at == 3


def test_xiangqi_positions_that_are_out_of_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    game = game_named("xiangqi")
    # Pieces that have to go, more than there are moves for; then a search that may look at little.
    assert proof_game(game.name, "3k5/9/9/9/9/9/9/9/1r7/r3K4 w - - 0 1") is None
    far = game.position(None, ["h2e2", "h9g7", "h0g2", "i9h9"]).text
    proof_game.cache_clear()
    monkeypatch.setattr("elolab.engine.games.proof_game.MAX_POSITIONS", 3)
    assert proof_game(game.name, far) is None
    proof_game.cache_clear()
    with pytest.raises(PositionError):
        proof_game(game.name, "nonsense")
