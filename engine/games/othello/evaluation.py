"""Evaluation of Othello positions: a few features, weighted by the phase of the game.

Each feature but the last two is a difference, the side to move's count less the other's. The weights are hundredths of
a disc and come from a file (``engine.weights``); the phase is the number of discs placed since the start, in tens. A
finished game is worth exactly its result.
"""

from __future__ import annotations

import numpy as np

from engine.games.othello.boards import (
    CORNERS,
    NONE,
    edge_stable_discs,
    legal_squares,
    neighbours,
)
from engine.games.othello.position import FEATURES, PHASES, other_discs, own_discs
from engine.games.othello.rules import A_DISC, final_difference
from engine.kernel import jit, load_word, popcount
from engine.parameters import BY_NAME

FEATURE_NAMES: tuple[str, ...] = BY_NAME["evaluation_weights"].legal

(
    _MOBILITY, _POTENTIAL_MOBILITY, _CORNERS, _CORNER_MOVES, _X_SQUARES, _C_SQUARES, _EDGE_STABLE, _EDGES, _CENTRE,
    _DISCS, _TO_MOVE, _LAST_MOVE,
) = range(FEATURES)  # fmt: skip

_NEXT_PHASE = 10
"""Discs from one phase to the next."""
_HIGHEST_ESTIMATE = 6300
"""An estimate stays within what a finished game can be worth."""

_X_OF_CORNERS = np.uint64(0x0042_0000_0000_4200)
_EDGE_SQUARES = np.uint64(0x7E81_8181_8181_817E)
"""The border without its corners."""
_CENTRE_SQUARES = np.uint64(0x0000_3C3C_3C3C_0000)


@jit
def _beside_empty_corners(corners):
    """The X and C squares of the given corners."""
    return neighbours(corners) & ~CORNERS


@jit
def _difference(own, other, mask):
    return popcount(own & mask) - popcount(other & mask)


@jit
def evaluate_boards(state, own, other):
    """Static evaluation in hundredths of a disc, the view of the side that owns ``own`` and is to move."""
    own_moves = legal_squares(own, other)
    other_moves = legal_squares(other, own)
    if own_moves == NONE and other_moves == NONE:
        return A_DISC * final_difference(own, other)
    empty = ~(own | other)
    placed = 60 - popcount(empty)
    phase = np.uint64(min(placed // _NEXT_PHASE, PHASES - 1))
    weights = state.weights[phase]
    danger = _beside_empty_corners(empty & CORNERS)
    own_stable = edge_stable_discs(own, other) & _EDGE_SQUARES
    other_stable = edge_stable_discs(other, own) & _EDGE_SQUARES
    loose = _EDGE_SQUARES & ~(own_stable | other_stable | danger)
    value = weights[_MOBILITY] * (popcount(own_moves) - popcount(other_moves))
    # A side may hope to play beside the other's discs.
    value += weights[_POTENTIAL_MOBILITY] * (popcount(neighbours(other) & empty) - popcount(neighbours(own) & empty))
    value += weights[_CORNERS] * _difference(own, other, CORNERS)
    value += weights[_CORNER_MOVES] * _difference(own_moves, other_moves, CORNERS)
    value += weights[_X_SQUARES] * _difference(own, other, danger & _X_OF_CORNERS)
    value += weights[_C_SQUARES] * _difference(own, other, danger & _EDGE_SQUARES)
    value += weights[_EDGE_STABLE] * (popcount(own_stable) - popcount(other_stable))
    value += weights[_EDGES] * _difference(own, other, loose)
    value += weights[_CENTRE] * _difference(own, other, _CENTRE_SQUARES)
    value += weights[_DISCS] * (popcount(own) - popcount(other))
    value += weights[_TO_MOVE]
    # With an odd number of empty squares the side to move also makes the last move, unless somebody passes.
    value += weights[_LAST_MOVE] if placed & 1 != 0 else -weights[_LAST_MOVE]
    return np.int64(min(max(value, -_HIGHEST_ESTIMATE), _HIGHEST_ESTIMATE))


@jit
def evaluate(state, alpha, beta):
    """Static evaluation in hundredths of a disc, the side to move's view; never a mere bound."""
    return evaluate_boards(state, own_discs(state), other_discs(state))


@jit
def prepare(state, parameters):
    """Take the weights of ``parameters.evaluation_weights``."""
    address = parameters.evaluation_weights
    if address == 0 or state.weights_address == address:
        return
    state.weights_address = address
    for phase in range(PHASES):
        for feature in range(FEATURES):
            state.weights[phase, feature] = np.int64(load_word(address, phase * FEATURES + feature))


@jit
def material(state):
    """Hundredths of a disc that the side to move has on the board."""
    return A_DISC * popcount(own_discs(state))


@jit
def piece_count(state):
    """Discs of both sides."""
    return popcount(state.discs[0] | state.discs[1])


@jit
def capture_order(state, move):
    """Unused: every move is quiet."""
    return np.int64(0)


@jit
def capture_gain(state, move):
    """Unused: every move is quiet."""
    return np.int64(0)


@jit
def loses_material(state, move):
    """Discs are not material to be lost."""
    return False


@jit
def history_piece(state, move):
    """The side to move: discs are all alike."""
    return np.int64(state.side)
