"""Xiangqi's interface to ``elolab fit-evaluation``: encodes positions as rows of integers, and counts their features.

A row is six uint64. Each holds fifteen squares of four bits each, lowest bits first: 0 for an empty square, otherwise
the piece's type + 1, plus 8 for the side not to move. The board is turned so that the side to move plays upwards, as
Red does. The highest bit of the first word marks quiet positions: neither side is in check, and the next move of the
game is not a capture.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from elolab.engine.compiled.kernel import jit, new_record
from elolab.engine.games.contract import EvaluationFitting
from elolab.engine.games.xiangqi import notation
from elolab.engine.games.xiangqi.evaluation import prepare
from elolab.engine.games.xiangqi.moves import in_check
from elolab.engine.games.xiangqi.position import (
    NOWHERE,
    PHASES,
    SLOT_TYPE,
    SLOTS,
    SQUARES,
    STATE_DTYPE,
    TERM_COUNT,
    make,
    put,
)
from elolab.engine.games.xiangqi.terms import count_terms, phase
from elolab.engine.games.xiangqi.weight_layout import FEATURE_OF_SQUARES
from elolab.engine.rules import Adjudication
from elolab.engine.settings.features import XIANGQI, XIANGQI_PIECES, XIANGQI_SQUARES
from elolab.engine.settings.parameters import resolve, to_record

WORDS = 6
_SQUARES_PER_WORD = 15
_OTHER_SIDE = 8
_QUIET = np.uint64(1 << 63)
_FIRST_SLOT = np.array([16 + int(np.argmax(SLOT_TYPE[16:32] == kind)) for kind in range(len(XIANGQI_PIECES))], np.int64)

_CODES = {
    notation.square_name(one) + notation.square_name(other): one | other << 7
    for one in range(SQUARES)
    for other in range(SQUARES)
}
"""Integer code of every move, by its protocol notation."""


@jit
def _write_row(state, row):
    """Write the position into ``row``, uint64 of shape (WORDS,), turned so that the side to move plays upwards."""
    for word in range(WORDS):
        row[word] = 0
    for square in range(SQUARES):
        slot = np.int64(state.board[square])
        if slot == 0:
            continue
        piece = np.int64(SLOT_TYPE[slot]) + 1
        if (slot >> 4) - 1 != state.side:
            piece += _OTHER_SIDE
        at = square if state.side == 0 else (9 - square // 9) * 9 + square % 9
        row[at // _SQUARES_PER_WORD] |= np.uint64(piece) << np.uint64(4 * (at % _SQUARES_PER_WORD))


@jit
def _replay(state, codes, rows):
    """Play legal moves from ``state``; write the start and each later position into ``rows``.

    ``codes`` are the moves' integer codes; ``rows`` has the shape (moves + 1, WORDS).
    """
    for ply in range(rows.shape[0]):
        _write_row(state, rows[ply])
        if ply < codes.shape[0]:
            move = np.int64(codes[ply])
            if not in_check(state) and state.board[(move >> 7) & 127] == 0:
                rows[ply, 0] |= _QUIET
            make(state, move)


@jit
def _set_up(state, row):
    """Set up a row's position on the empty board of ``state``, with the side to move as Red."""
    used = np.zeros(SLOTS, np.int64)
    for square in range(SQUARES):
        word = row[square // _SQUARES_PER_WORD]
        piece = np.int64((word >> np.uint64(4 * (square % _SQUARES_PER_WORD))) & np.uint64(15))
        if piece == 0:
            continue
        side = np.int64(0)
        if piece > _OTHER_SIDE:
            side = np.int64(1)
            piece -= _OTHER_SIDE
        first = _FIRST_SLOT[piece - 1] + 16 * side
        put(state, first + used[first], square)
        used[first] += 1


@jit
def _survey(state, rows, phases, counts):
    """Write the phase and the features of n positions into ``phases``, shape (n,), and ``counts``, shape (n, features).

    Uses ``state`` as a work area: its board must be empty, and is empty again on return.
    """
    for index in range(rows.shape[0]):
        _set_up(state, rows[index])
        count_terms(state)
        phases[index] = phase(state)
        for feature in range(counts.shape[1]):
            counts[index, feature] = state.terms[feature] if feature < TERM_COUNT else 0
        for slot in range(16, SLOTS):
            square = np.int64(state.square[slot])
            if square == NOWHERE:
                continue
            if slot < 32:
                counts[index, FEATURE_OF_SQUARES[SLOT_TYPE[slot], square]] += 1
            else:
                counts[index, FEATURE_OF_SQUARES[SLOT_TYPE[slot], (9 - square // 9) * 9 + square % 9]] -= 1
        _clear(state)


@jit
def _clear(state):
    for slot in range(16, SLOTS):
        square = np.int64(state.square[slot])
        if square != NOWHERE:
            state.board[square] = 0
            state.square[slot] = NOWHERE
    for side in range(2):
        state.material[side] = 0
        state.pieces[side] = 0
        state.crossers[side] = 0
        for half in range(2):
            state.occupied[side, half] = 0
        for file in range(9):
            state.file_bits[side, file] = 0
        for kind in range(8):
            state.counts[side, kind] = 0


class XiangqiFitting(EvaluationFitting):
    """Xiangqi as an ``EvaluationFitting``, for ``elolab fit-evaluation``."""

    parameter = "evaluation_weights"
    features = XIANGQI
    words = WORDS
    regression = "logistic"
    odds_scale = 450.0
    phases = 2
    groups = tuple(
        tuple(XIANGQI.index(f"{piece}_{square}") for square in XIANGQI_SQUARES[piece])
        for piece in XIANGQI_PIECES
        if piece != "general"
    )
    self_play = MappingProxyType({})
    self_play_limit = "nodes=800"
    opening_plies = (4, 14)
    # Resign early: the last moves of a won game say little about the value of squares.
    adjudication = Adjudication(resign_score=1200, resign_moves=5, draw_moves=0, maximum_plies=300)

    def rows_in_words(self, phases: int) -> str:
        """A sentence for the file of weights: the unit of the weights, and the meaning of the file's two rows."""
        return "Centipawns: with all the material of the start, and with none."

    def rows_of_game(self, start: str, moves: Sequence[str]) -> np.ndarray:
        codes = np.array([_CODES[move] for move in moves], np.int64)
        rows = np.zeros((len(codes) + 1, self.words), np.uint64)
        _replay(notation.parse_position(start), codes, rows)
        return rows

    def usable(self, rows: np.ndarray) -> np.ndarray:
        """Boolean mask of the positions that are marked as quiet; see ``EvaluationFitting``."""
        return (rows[:, 0] & _QUIET) != 0

    def survey(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The phase (remaining material, 0 to ``PHASES``) and the features of each row; see ``EvaluationFitting``."""
        state = new_record(STATE_DTYPE)
        state.square[:] = NOWHERE
        # Loads the piece values that count the material.
        prepare(state, to_record(resolve({}, game="xiangqi")))
        phases = np.zeros(len(rows), np.int64)
        counts = np.zeros((len(rows), len(self.features)), np.int8)
        _survey(state, np.ascontiguousarray(rows), phases, counts)
        return phases, counts

    def row_shares(self, steps: np.ndarray) -> np.ndarray:
        """Shares, from 0 to 1, of the two rows of weights, for full and for no material: shape (n, 2) for n phases."""
        return np.stack([steps, PHASES - steps], axis=1) / PHASES

    def text_of(self, row: Any) -> str:
        """FEN of the position that a row encodes, with the side to move as Red."""
        state = new_record(STATE_DTYPE)
        state.square[:] = NOWHERE
        _set_up(state, row)
        return notation.format_position(state)


FITTING = XiangqiFitting()
