"""Games of chess are adjudicated at the ply at which fastchess ends them, by a plain account of its rules.

fastchess 1.8 keeps one count of plies near zero, for both sides together. A capture or a pawn's move restarts it. A
draw needs as many completed moves as ``movenumber`` by the position's own number. [Source: its ``match.hpp``]
"""

from __future__ import annotations

import random

import chess
import pytest

from elolab.engine.games import game_named
from elolab.engine.play import Arbiter
from elolab.engine.rules import Adjudication, Ending, Rules

GAME = game_named("chess")
DRAW = Ending("1/2-1/2", "draw_adjudication")
NO_RULES = Rules("draw", 5, 0, False)


def drawn_after(board: chess.Board, moves: list[str], scores: list[int], words: tuple[int, int, int]) -> int | None:
    """The ply after which fastchess draws the game by the words ``movenumber``, ``movecount`` and ``score``."""
    number, count, margin = words
    board, near = board.copy(), 0
    for ply, (move, score) in enumerate(zip(moves, scores, strict=True), 1):
        board.push_uci(move)
        near = 0 if board.halfmove_clock == 0 else near
        near = near + 1 if abs(score) <= margin else 0
        if near >= 2 * count and board.fullmove_number - 1 >= number:
            return ply
    return None


@pytest.mark.parametrize(
    "number", [3, *(pytest.param(number, marks=pytest.mark.integration) for number in (0, 12, 30))]
)
def test_draws_come_at_the_ply_of_fastchess(number: int) -> None:
    chance = random.Random(number)
    drawn = 0
    for _ in range(60):
        board = chess.Board()
        for _ in range(chance.randrange(9)):
            board.push(chance.choice(list(board.legal_moves)))
        board.fullmove_number = chance.randrange(1, 20)
        board.halfmove_clock = 0
        moves: list[str] = []
        after = board.copy()
        while len(moves) < 70 and (legal := list(after.legal_moves)):
            calm = [move for move in legal if not after.is_zeroing(move)]
            moves.append(chance.choice(calm if calm and chance.random() < 0.9 else legal).uci())
            after.push_uci(moves[-1])
        scores = [chance.choice((5, -8, 3, 10)) if chance.random() < 0.95 else 90 for _ in moves]
        words = (number, chance.choice((1, 2, 4)), 10)
        expected = drawn_after(board, moves, scores, words)
        adjudication = Adjudication(
            resign_moves=0, maximum_plies=0, draw_score=words[2], draw_moves=words[1],
            draw_after_ply=2 * max(0, number - words[1]),
        )  # fmt: skip
        arbiter = Arbiter(GAME.position(board.fen()), NO_RULES, adjudication)
        endings = [arbiter.play(move, score) for move, score in zip(moves, scores, strict=True)]
        found = endings.index(DRAW) + 1 if DRAW in endings else None
        assert found == expected, (board.fen(), moves, scores, words)
        drawn += found is not None
    assert drawn > 20
