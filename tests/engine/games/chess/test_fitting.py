"""Chess's interface to the fit: positions of games as rows, and features that make up the evaluation."""

from __future__ import annotations

import random

import chess
import numpy as np
import pytest

from elolab.engine.engine import Engine
from elolab.engine.games import game_named
from elolab.engine.games.chess.evaluation import MAX_OF_TERMS
from elolab.engine.games.chess.fitting import ChessFitting
from elolab.engine.settings.features import CHESS_TERMS
from elolab.engine.settings.weights import find_weights, rows_of

GAME = game_named("chess")
FITTING = ChessFitting()
CASTLING = ["e2e4", "e7e5", "g1f3", "b8c6", "f1c4", "d7d6", "e1g1", "c8g4", "d2d3", "d8d7", "b1c3", "e8c8", "f1e1"]
PASSING = ["e2e4", "a7a6", "e4e5", "d7d5", "e5d6", "a6a5", "d6c7", "a5a4", "c7b8n", "a8b8"]


def random_moves(seed: int, plies: int) -> list[str]:
    generator = random.Random(seed)
    board = chess.Board()
    for _ in range(plies):
        moves = list(board.legal_moves)
        if not moves:
            break
        board.push(generator.choice(moves))
    return [move.uci() for move in board.move_stack]


GAMES = [CASTLING, PASSING, *(random_moves(seed, 200) for seed in range(4))]


def is_rare(board: chess.Board) -> bool:
    """Whether the evaluation may apply knowledge of endgames."""
    pawns = [board.pieces(chess.PAWN, side) for side in chess.COLORS]
    kinds = (chess.KNIGHT, chess.ROOK, chess.QUEEN)
    return not all(pawns) or not any(board.pieces(kind, side) for kind in kinds for side in chess.COLORS)


@pytest.mark.integration
@pytest.mark.parametrize("moves", GAMES)
def test_rows_are_the_positions_and_mark_the_quiet_ones(moves: list[str]) -> None:
    rows = FITTING.rows_of_game(GAME.start, moves)
    assert len(rows) == len(moves) + 1
    usable = FITTING.usable(rows)
    board = chess.Board()
    for row, is_usable, move in zip(rows, usable, [*moves, None], strict=True):
        seen = board if board.turn else board.mirror()
        assert FITTING.text_of(row).split()[0] == seen.fen().split()[0]
        if move is None:
            assert not is_usable
            continue
        played = chess.Move.from_uci(move)
        changes = board.is_capture(played) or played.promotion is not None
        assert bool(is_usable) == (not board.is_check() and not changes and not is_rare(board))
        board.push(played)


@pytest.mark.integration
@pytest.mark.parametrize("moves", GAMES)
def test_features_times_weights_are_the_evaluation(moves: list[str]) -> None:
    engine = Engine("chess", {"tempo": 0})
    weights = rows_of(find_weights("chess"))
    rows = FITTING.rows_of_game(GAME.start, moves)
    steps, features = FITTING.survey(rows)
    shares = FITTING.row_shares(steps)
    assert np.allclose(shares.sum(axis=1), 1)
    by_row = shares @ weights
    terms = np.sum(features[:, : len(CHESS_TERMS)] * by_row[:, : len(CHESS_TERMS)], axis=1)
    squares = np.sum(features[:, len(CHESS_TERMS) :] * by_row[:, len(CHESS_TERMS) :], axis=1)
    expected = squares + np.clip(terms, -MAX_OF_TERMS, MAX_OF_TERMS)
    position, compared = GAME.position(), 0
    for ply in range(len(rows)):
        board = chess.Board(position.text)
        if not is_rare(board) and any(board.legal_moves):
            compared += 1
            # Both sums are rounded for themselves.
            assert engine.static_score(position) == pytest.approx(expected[ply], abs=2)
        if ply < len(moves):
            position.push(moves[ply])
    assert compared


@pytest.mark.integration
def test_castling_in_chess960_is_the_king_s_move_to_its_rook() -> None:
    start, moves = "bnrkr3/pppppppp/8/8/8/8/PPPPPPPP/BNRKR3 w ECec - 0 1", ["d1e1", "d8c8", "a2a3"]
    board = chess.Board(start, chess960=True)
    for row, move in zip(FITTING.rows_of_game(start, moves), [*moves, None], strict=True):
        seen = board if board.turn else board.mirror()
        assert FITTING.text_of(row).split()[0] == seen.board_fen()
        if move is not None:
            board.push_uci(move)
