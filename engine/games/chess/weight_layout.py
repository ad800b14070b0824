"""Memory layout of the full evaluation's weights for compiled code."""

from __future__ import annotations

import numpy as np

from elolab.engine.games.chess.boards import KING, SQUARES
from elolab.engine.games.chess.position import PIECES
from elolab.engine.games.packed_values import END
from elolab.engine.settings.features import CHESS_PIECES, CHESS_SQUARES, CHESS_TERMS
from elolab.engine.settings.weights import Weights, rows_of

MARK = np.uint64(0x4368_6573_7320_2031)
"""First word of the array of weights. It identifies the game, so that compiled code ignores weights of another game."""
FIRST_VALUE = 1
FIRST_TERM = FIRST_VALUE + PIECES * SQUARES


def _feature_of_squares() -> np.ndarray:
    """Index of the feature of a white piece on each square: int64 of shape (piece types, SQUARES).

    It is -1 if the piece can never stand on the square.
    """
    table = np.full((KING + 1, SQUARES), -1, np.int64)
    feature = len(CHESS_TERMS)
    for kind, piece in enumerate(CHESS_PIECES):
        for name in CHESS_SQUARES[piece]:
            file, rank = "abcdefgh".index(name[0]), int(name[1]) - 1
            table[kind, [8 * rank + file, 8 * rank + 7 - file]] = feature
            feature += 1
    return table


FEATURE_OF_SQUARES = _feature_of_squares()


def kernel_words(weights: Weights, where: str) -> np.ndarray:
    """Convert a file of weights to the array for compiled code: uint64, in two's complement.

    It holds ``MARK``, the piece-square values of shape (PIECES, SQUARES), and the terms' weights. All values are packed
    pairs, as ``engine.games.packed_values`` describes. ``where`` names the file in errors.
    """
    rows = rows_of(weights)
    pairs = rows[0] + END * rows[-1]
    of_squares = np.where(FEATURE_OF_SQUARES >= 0, pairs[FEATURE_OF_SQUARES], 0)
    values = np.zeros((PIECES, SQUARES), np.int64)
    values[: KING + 1] = of_squares
    values[8 : 8 + KING + 1] = -of_squares.reshape(-1, 8, 8)[:, ::-1].reshape(-1, SQUARES)
    words = np.concatenate([values.reshape(-1), pairs[: len(CHESS_TERMS)]]).view(np.uint64)
    return np.concatenate([np.array([MARK], np.uint64), words])
