"""Memory layout of the full evaluation's weights for compiled code."""

from __future__ import annotations

import numpy as np

from elolab.engine.games.packed_values import END
from elolab.engine.games.xiangqi.position import PHASES, SLOT_TYPE, SLOTS, SQUARES, TERM_COUNT
from elolab.engine.settings.features import XIANGQI_PIECES, XIANGQI_SQUARES
from elolab.engine.settings.weights import Weights, rows_of

MARK = np.uint64(0x5869_616E_6771_6931)
"""First word of the array of weights. It identifies the game, so that compiled code ignores weights of another game."""
FIRST_VALUE = 1
FIRST_TERM = FIRST_VALUE + SLOTS * SQUARES


def _feature_of_squares() -> np.ndarray:
    """Index of the feature of a Red piece on each square: int64 of shape (piece types, SQUARES).

    It is -1 if the piece can never stand on the square.
    """
    table = np.full((len(XIANGQI_PIECES), SQUARES), -1, np.int64)
    feature = TERM_COUNT
    for kind, piece in enumerate(XIANGQI_PIECES):
        for name in XIANGQI_SQUARES[piece]:
            file, rank = "abcdefghi".index(name[0]), int(name[1])
            table[kind, [rank * 9 + file, rank * 9 + 8 - file]] = feature
            feature += 1
    return table


FEATURE_OF_SQUARES = _feature_of_squares()


def kernel_words(weights: Weights, where: str) -> np.ndarray:
    """Convert a file of weights to the array for compiled code: uint64, in two's complement.

    It holds ``MARK`` and two tables. The piece-square values have the shape (SLOTS, SQUARES). The term weights have the
    shape (PHASES + 1, TERM_COUNT). ``where`` names the file in errors.
    """
    rows = rows_of(weights)
    start, end = rows[0], rows[-1]
    of_squares = np.where(FEATURE_OF_SQUARES >= 0, (start + END * end)[FEATURE_OF_SQUARES], 0)
    turned = of_squares.reshape(-1, 10, 9)[:, ::-1].reshape(-1, SQUARES)
    values = np.zeros((SLOTS, SQUARES), np.int64)
    values[16:32] = of_squares[SLOT_TYPE[16:32]]
    values[32:] = -turned[SLOT_TYPE[32:]]
    now = np.arange(PHASES + 1)[:, None]
    terms = (start[:TERM_COUNT] * now + end[:TERM_COUNT] * (PHASES - now) + PHASES // 2) // PHASES
    words = np.concatenate([values.reshape(-1), terms.reshape(-1)]).view(np.uint64)
    return np.concatenate([np.array([MARK], np.uint64), words])
