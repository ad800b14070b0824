"""Endings of chess: mate, stalemate, repetition, the 50-move rule, insufficient material.

The arbiter (``judge``) and the search (``path_verdict``) use the same implementation. Two positions are equal if they
have the same pieces, side to move, castling rights and legal en passant captures. ``engine.games.contract`` describes
the functions without a docstring.
"""

from __future__ import annotations

import numpy as np

from elolab.engine.compiled.kernel import jit, popcount
from elolab.engine.games.chess.boards import NONE
from elolab.engine.games.chess.moves import count_moves
from elolab.engine.games.chess.position import occupied
from elolab.engine.games.contract import PATH_DRAW, PATH_OPEN, encode_verdict
from elolab.engine.games.repetition import earlier_occurrence, repetition_key_of
from elolab.engine.values import MATE

_OPEN = encode_verdict("*", "unfinished")
_CHECKMATE = (encode_verdict("0-1", "checkmate"), encode_verdict("1-0", "checkmate"))
"""Verdict code of checkmate, by the side that is mated."""
_STALEMATE = encode_verdict("1/2-1/2", "stalemate")
_REPETITION = encode_verdict("1/2-1/2", "repetition")
_MOVE_LIMIT = encode_verdict("1/2-1/2", "move_limit")
_INSUFFICIENT = encode_verdict("1/2-1/2", "insufficient_material")

_DARK_SQUARES = np.uint64(0xAA55_AA55_AA55_AA55)
_KNIGHT, _BISHOP, _ROOK, _QUEEN = (np.uint64(kind) for kind in range(1, 5))
_EIGHT = np.uint64(8)


@jit
def is_material_insufficient(state):
    """Whether no side can mate: bare kings, a single minor piece, or one bishop each on squares of one colour."""
    pieces = popcount(occupied(state))
    if pieces > 4:
        return False
    white_bishops, black_bishops = state.pieces[_BISHOP], state.pieces[_BISHOP | _EIGHT]
    if pieces == 2:
        return True
    if pieces == 3:
        return (white_bishops | black_bishops | state.pieces[_KNIGHT] | state.pieces[_KNIGHT | _EIGHT]) != NONE
    if white_bishops == NONE or black_bishops == NONE:
        return False
    dark = (white_bishops | black_bishops) & _DARK_SQUARES
    return dark == NONE or dark == (white_bishops | black_bishops)


@jit
def _move_limit_reached(state):
    return state.move_limit != 0 and state.quiet >= state.move_limit


@jit
def judge(state, lists):
    if count_moves(state, lists) == 0:
        return _CHECKMATE[np.int64(state.side)] if state.checkers != NONE else _STALEMATE
    if state.fold > 1 and earlier_occurrence(state, state.fold - 1) >= 0:
        return _REPETITION
    if state.insufficient != 0 and is_material_insufficient(state):
        return _INSUFFICIENT
    return _MOVE_LIMIT if _move_limit_reached(state) else _OPEN


@jit
def restarts_draw_count(state):
    return state.quiet == 0


@jit
def path_verdict(state, root):
    """``PATH_DRAW`` if repetition, move limit or material make the position a draw within a search, else ``PATH_OPEN``.

    ``root`` is the ply of the search's root; see ``engine.games.contract.path_verdict``.
    """
    if state.reversible >= 4 and state.fold > 1:
        last = np.int64(state.ply)
        seen = 0
        ply = last - 4
        first = max(last - np.int64(state.reversible), 0)
        while ply >= first:
            if state.undo_key[np.uint64(ply)] == state.key:
                seen += 1
                # Within the tree one repetition is enough, since the cycle could go on for ever.
                if ply > root or seen == state.fold - 1:
                    return PATH_DRAW
            ply -= 2
    if _move_limit_reached(state):
        return PATH_DRAW
    if state.insufficient != 0 and is_material_insufficient(state):
        return PATH_DRAW
    return PATH_OPEN


@jit
def repetition_key(state):
    return repetition_key_of(state)


@jit
def final_score(state):
    """Score of a position without legal moves: ``-MATE`` for checkmate, 0 for stalemate."""
    return -MATE if state.checkers != NONE else 0


@jit
def null_move_allowed(state):
    """Whether the side to move has a knight, bishop, rook or queen. With pawns alone, zugzwang is common."""
    base = np.uint64(state.side) << np.uint64(3)
    pieces = state.pieces[base | _KNIGHT] | state.pieces[base | _BISHOP]
    return (pieces | state.pieces[base | _ROOK] | state.pieces[base | _QUEEN]) != NONE
