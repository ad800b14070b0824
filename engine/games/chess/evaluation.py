"""Evaluation of chess positions: material and placement, mixed by the phase of the game."""

from __future__ import annotations

import numpy as np

from elolab.engine.compiled.kernel import jit
from elolab.engine.games.chess.boards import SQUARES
from elolab.engine.games.chess.captures import EXCHANGE_VALUES, captured_piece
from elolab.engine.games.chess.position import END, PIECES, count_of, is_promotion
from elolab.engine.games.evaluation_cache import NOT_CACHED, cached_value, keep_value

MATERIAL = (100, 320, 330, 500, 950, 0)
"""Material values by piece type, in centipawns, set for this project."""
_PHASE_WEIGHTS = (0, 1, 1, 2, 4, 0)
_WHOLE_PHASE = 24


def _placement(kind: int, square: int) -> tuple[int, int]:
    """Values of a white piece on a square, at the start and at the end of the game."""
    file, rank = square % 8, square // 8
    central = 3 - (abs(2 * file - 7) + 1) // 2 + 3 - (abs(2 * rank - 7) + 1) // 2
    if kind == 0:
        return 4 * central * (file in (3, 4)) + 2 * rank, 8 * rank
    if kind == 5:
        return -12 * min(rank, 4) - (10 if file in (3, 4) else 0), 8 * central
    weight = (0, 8, 5, 1, 2)[kind]
    return weight * (central - 3), weight * (central - 3)


def _table() -> np.ndarray:
    table = np.zeros((PIECES, SQUARES), np.int32)
    for kind, worth in enumerate(MATERIAL):
        for square in range(SQUARES):
            start, end = _placement(kind, square)
            table[kind, square] = worth + start + END * (worth + end)
            table[kind + 8, square ^ 56] = -table[kind, square]
    return table


_TABLE = _table()


@jit
def at_start(pair):
    """The first number of a packed pair."""
    low = np.int64(pair) & 0xFFFF
    return low - 0x10000 if low >= 0x8000 else low


@jit
def at_end(pair):
    """The second number of a packed pair."""
    return (np.int64(pair) + 0x8000) >> 16


@jit
def full_score(state):
    """The score of the pieces on their squares, computed by a scan of the board, White's view."""
    score = np.int64(0)
    for square in range(SQUARES):
        score += np.int64(state.values[state.board[square], square])
    return score


@jit
def prepare(state, parameters):
    """Load the piece values into the state, and recompute its score."""
    if state.evaluation == 1:
        return
    state.evaluation = 1
    for piece in range(PIECES):
        for square in range(SQUARES):
            state.values[piece, square] = _TABLE[piece, square]
    state.score = full_score(state)


@jit
def _mixed(state):
    """Value of the pieces on their squares in centipawns, White's view."""
    phase = np.int64(0)
    for kind in range(1, 5):
        phase += _PHASE_WEIGHTS[kind] * (count_of(state, kind) + count_of(state, kind + 8))
    phase = min(phase, _WHOLE_PHASE)
    pair = np.int64(state.score)
    return (at_start(pair) * phase + at_end(pair) * (_WHOLE_PHASE - phase)) // _WHOLE_PHASE


@jit
def evaluate(state, cache, alpha, beta):
    """Static evaluation in centipawns for the side to move, without the tempo bonus."""
    score = cached_value(cache, state.key)
    if score == NOT_CACHED:
        score = _mixed(state)
        keep_value(cache, state.key, score)
    return score if state.side == 0 else -score


@jit
def material(state):
    """Material of the side to move in centipawns, without the king; values as in ``MATERIAL``."""
    base = np.int64(state.side) << 3
    total = np.int64(0)
    for kind in range(5):
        total += MATERIAL[kind] * count_of(state, base + kind)
    return total


@jit
def capture_gain(state, move):
    """Upper bound, in centipawns, of the immediate gain of a capture or promotion."""
    target = np.uint64(move >> 7) & np.uint64(63)
    victim = captured_piece(state, move)
    pair = state.values[victim, target]
    gain = max(abs(at_start(pair)), abs(at_end(pair)))
    if is_promotion(move):
        gain += EXCHANGE_VALUES[np.uint64(move >> 14) & np.uint64(7)] - EXCHANGE_VALUES[0]
    return gain
