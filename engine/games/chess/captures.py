"""Captures and promotions in chess: which moves are quiet, move ordering, and static exchange evaluation."""

from __future__ import annotations

import numpy as np

from elolab.engine.compiled.kernel import jit
from elolab.engine.games.chess.boards import (
    BITS,
    NONE,
    ONE,
    bishop_attacks,
    rook_attacks,
)
from elolab.engine.games.chess.position import (
    ALL,
    EMPTY,
    attackers_to,
    is_castling,
    is_promotion,
    occupied,
    sliders,
)

EXCHANGE_VALUES = np.array([100, 320, 330, 500, 950, 10_000, 0, 0] * 2, np.int64)
"""Value of each piece code in exchanges, in centipawns. A king's value lets it capture only undefended pieces."""

_THREE, _EIGHT = np.uint64(3), np.uint64(8)
_ALL = np.uint64(ALL)
_PAWN, _KNIGHT, _BISHOP, _ROOK, _QUEEN, _KING = (np.uint64(kind) for kind in range(6))
_TYPE_BITS = np.uint64(7)
_SQUARE_BITS = np.uint64(63)


@jit
def piece_count(state):
    """Number of pieces of both sides on the board, kings included."""
    total = np.int64(0)
    counts = state.counts
    while counts != NONE:
        total += np.int64(counts & np.uint64(15))
        counts >>= np.uint64(4)
    return total


@jit
def history_piece(state, move):
    """Index of the moving piece in history tables: its type plus 7 for Black, 0 to 13; 6 for a null move."""
    code = np.int64(state.board[move & 63])
    return (code & 7) + 7 * (code >> 3)


@jit
def captured_piece(state, move):
    """Code of the piece that a move captures, also en passant; ``EMPTY`` if the move is not a capture."""
    if is_castling(move):
        return np.uint64(EMPTY)
    target = np.uint64(move >> 7) & _SQUARE_BITS
    piece = np.uint64(state.board[np.uint64(move) & _SQUARE_BITS])
    if target == np.uint64(state.en_passant) and piece & _TYPE_BITS == _PAWN:
        return piece ^ _EIGHT
    return np.uint64(state.board[target])


@jit
def is_quiet(state, move):
    """Whether a move neither captures nor promotes."""
    if move >> 14 != 0:
        return is_castling(move)
    target = np.uint64(move >> 7) & _SQUARE_BITS
    if state.board[target] != EMPTY:
        return False
    return target != np.uint64(state.en_passant) or state.board[np.uint64(move) & _SQUARE_BITS] & 7 != 0


@jit
def _promotion_gain(move):
    """Value, in centipawns, that a promotion adds by replacing the pawn; 0 for other moves."""
    if not is_promotion(move):
        return np.int64(0)
    return EXCHANGE_VALUES[np.uint64(move >> 14) & _TYPE_BITS] - EXCHANGE_VALUES[0]


@jit
def capture_order(state, move):
    """Ordering score, at least 1, of a capture or promotion: highest gain first, then least valuable attacker."""
    gain = EXCHANGE_VALUES[captured_piece(state, move)] + _promotion_gain(move)
    attacker = np.int64(state.board[np.uint64(move) & _SQUARE_BITS] & 7)
    return gain * 8 - attacker + 8


@jit
def loses_material(state, move):
    """Whether a capture or promotion loses material, by static exchange evaluation on its target square.

    Each side captures with its least valuable piece, the king last, and stops when a further capture would lose
    material. Pins are ignored.
    """
    if is_castling(move):
        return False
    origin = np.uint64(move) & _SQUARE_BITS
    target = np.uint64(move >> 7) & _SQUARE_BITS
    piece = np.uint64(state.board[origin]) & np.uint64(15)
    standing = piece
    if is_promotion(move):
        standing = (piece & _EIGHT) | (np.uint64(move >> 14) & _TYPE_BITS)
    # Balance of the side to capture, if the piece that captured last is lost.
    won = EXCHANGE_VALUES[standing] - EXCHANGE_VALUES[captured_piece(state, move)] - _promotion_gain(move)
    if won <= 0:
        return False
    filled = (occupied(state) ^ BITS[origin]) | BITS[target]
    if target == np.uint64(state.en_passant) and piece & _TYPE_BITS == _PAWN:
        filled ^= BITS[target ^ _EIGHT]
    attackers = attackers_to(state, target, filled)
    straight, diagonal = sliders(state, 0)
    more_straight, more_diagonal = sliders(state, 1)
    straight |= more_straight
    diagonal |= more_diagonal
    base = piece & _EIGHT
    loses = False
    while True:
        base ^= _EIGHT
        attackers &= filled
        own = attackers & state.pieces[base | _ALL]
        if own == NONE:
            return loses
        kind = _PAWN
        while own & state.pieces[base | kind] == NONE:
            kind += ONE
        found = own & state.pieces[base | kind]
        if kind == _KING:
            # The king may capture only if no piece can recapture.
            return loses if attackers & ~own & state.pieces[(base ^ _EIGHT) | _ALL] != NONE else not loses
        loses = not loses
        won = EXCHANGE_VALUES[kind] - won
        # An even exchange loses nothing.
        if won < 0 or (won == 0 and not loses):
            return loses
        filled ^= found & (~found + ONE)
        if kind == _PAWN or kind == _BISHOP or kind == _QUEEN:
            attackers |= bishop_attacks(target, filled) & diagonal
        if kind == _ROOK or kind == _QUEEN:
            attackers |= rook_attacks(target, filled) & straight
