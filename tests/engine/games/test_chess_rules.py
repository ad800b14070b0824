"""How games of chess end: mate, stalemate, moves without progress, repetition, material; against python-chess."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace

import chess
import pytest

from elolab.engine.games import game_named
from elolab.engine.games.contract import PATH_DRAW, PATH_OPEN
from elolab.engine.rules import Ending, Rules

GAME = game_named("chess")
RULES = GAME.standard_rules
BACK_AND_FORTH = ["g1f3", "g8f6", "f3g1", "f6g8"]


def ending(text: str | None = None, moves: list[str] | None = None, rules: Rules = RULES) -> Ending | None:
    """The verdict on a position after moves."""
    return GAME.position(text, moves or []).judge(rules)


def test_mate_and_stalemate() -> None:
    assert ending(None, ["f2f3", "e7e5", "g2g4", "d8h4"]) == Ending("0-1", "checkmate")
    assert ending(GAME.stalemate) == Ending("1/2-1/2", "stalemate")
    assert ending() is None


@pytest.mark.parametrize("limit", [100, 150])
def test_moves_without_capture_or_pawn_draw_the_game(limit: int) -> None:
    """By default 50 of each side; mate on the last of them wins."""
    rules = replace(RULES, move_limit=limit)
    text = "4k3/8/8/8/8/8/P7/R3K3 w Q - {} 80"
    assert ending(text.format(limit - 1), rules=rules) is None
    assert ending(text.format(limit - 1), ["a1b1"], rules) == Ending("1/2-1/2", "move_limit")
    assert ending(text.format(limit - 1), ["a2a3"], rules) is None
    assert ending(f"7k/6pp/8/8/8/8/8/R3K3 w - - {limit - 1} 80", ["a1a8"], rules) == Ending("1-0", "checkmate")
    assert ending(text.format(limit - 1), ["a1b1"], replace(rules, move_limit=0)) is None
    assert RULES.move_limit == 100


@pytest.mark.parametrize("fold", [3, 4, 5])
def test_the_game_is_drawn_at_an_occurrence_of_a_position(fold: int) -> None:
    rules = replace(RULES, fold=fold)
    assert ending(None, BACK_AND_FORTH * (fold - 1), rules) == Ending("1/2-1/2", "repetition")
    assert ending(None, (BACK_AND_FORTH * (fold - 1))[:-1], rules) is None


def test_castling_rights_and_legal_captures_in_passing_distinguish_positions() -> None:
    rooks = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"
    cycle = ["a1b1", "a8b8", "b1a1", "b8a8"]
    assert ending(rooks, cycle * 2) is None, "the first occurrence had more rights"
    assert ending(rooks, cycle * 3) == Ending("1/2-1/2", "repetition")
    shuffle = ["e1d1", "e8d8", "d1e1", "d8e8"]
    moves = ["d2d4", "e8d8", "e1d1", "d8e8", "d1e1", "e8d8", "e1d1", "d8e8", "d1e1"]
    pawns = "4k3/8/8/8/4p3/8/3P4/4K3 w - - 0 1"
    assert ending(pawns, moves) is None
    far = "4k3/8/8/8/p7/8/3P4/4K3 w - - 0 1"
    assert ending(far, moves) == Ending("1/2-1/2", "repetition"), "no pawn could capture in passing"
    assert ending("4k3/8/8/8/8/8/P7/4K3 w - - 0 1", shuffle * 2) == Ending("1/2-1/2", "repetition")


@pytest.mark.parametrize("seed", range(12))
def test_repetitions_of_random_games_agree_with_python_chess(seed: int) -> None:
    """Few pieces, so that positions recur."""
    generator = random.Random(seed)
    game = GAME.position("r3k3/8/8/8/8/8/8/4K2R w Kq - 0 1")
    board = chess.Board(game.text)
    for _ in range(120):
        move = generator.choice(game.legal_moves())
        game.push(move)
        board.push_uci(move)
        found = game.judge(replace(RULES, insufficient=False))
        if board.is_checkmate() or board.is_stalemate():
            break
        assert (found == Ending("1/2-1/2", "repetition")) == board.is_repetition(3)
        if board.is_repetition(3):
            break


def test_insufficient_material_is_that_of_match_managers() -> None:
    """Bare kings, one knight or bishop, or one bishop each on the same colour; python-chess counts more bishops too."""
    found = {}
    for white, black in itertools.product(["", "N", "B", "NN", "BN", "R", "P", "Q"], ["", "n", "b"]):
        text = "4k3/8/8/8/8/8/8/4K3 w - - 0 1"
        board = chess.Board(text)
        squares = iter([chess.C3, chess.G5, chess.A6, chess.H2])  # dark, dark, light, light
        for letter in white + black:
            board.set_piece_at(next(squares), chess.Piece.from_symbol(letter))
        if not board.is_valid():
            continue
        verdict = ending(board.fen())
        found[white, black] = verdict == Ending("1/2-1/2", "insufficient_material")
        assert found[white, black] == board.is_insufficient_material(), (white, black)
    assert {pair for pair, drawn in found.items() if drawn} == {
        ("", ""), ("", "n"), ("", "b"), ("N", ""), ("B", ""), ("B", "b"),
    }  # fmt: skip
    same, other = "4k3/8/8/6b1/8/2B5/8/4K3 w - - 0 1", "4k3/8/8/5b2/8/2B5/8/4K3 w - - 0 1"
    assert ending(same) is not None
    assert ending(other) is None
    assert ending("4k3/8/8/8/8/B1B5/8/4K3 w - - 0 1") is None, "two bishops of one side, as fastchess has it"
    assert ending(same, rules=replace(RULES, insufficient=False)) is None


def test_the_search_takes_the_first_repetition_within_its_tree_as_a_draw() -> None:
    game = GAME.position(moves=BACK_AND_FORTH)
    assert GAME.kernels.path_verdict(game.state, 0) == PATH_OPEN, "ply 0 is in the game before the root"
    assert GAME.kernels.path_verdict(game.state, -1) == PATH_DRAW
    assert GAME.kernels.path_verdict(GAME.position(moves=BACK_AND_FORTH * 2).state, 8) == PATH_DRAW
    assert GAME.kernels.repetition_key(GAME.position(moves=BACK_AND_FORTH).state) != 0
    assert GAME.kernels.repetition_key(GAME.position(moves=BACK_AND_FORTH[:3]).state) == 0


def test_a_null_move_needs_a_piece() -> None:
    assert not GAME.kernels.null_move_allowed(GAME.position("4k3/p7/8/8/8/8/P7/4K3 w - - 0 1").state)
    assert GAME.kernels.null_move_allowed(GAME.position("4k3/p7/8/8/8/8/P7/4K1N1 w - - 0 1").state)
