"""Evaluation of Othello positions: a few features, weighted by the phase of the game.

Each feature but the last two is a difference, the side to move's count less the other's. The weights are hundredths of
a disc and come from a file (``engine.weights``), one set for each number of discs placed since the start. A finished
game is worth exactly its result. Counting and weighing are apart, so that weights can be fitted to games
(``elolab fit-evaluation``) with the very counts they will be used with.
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
from engine.games.othello.position import FEATURES, other_discs, own_discs
from engine.games.othello.rules import A_DISC, final_difference
from engine.kernel import jit, load_word, popcount
from engine.parameters import BY_NAME
from engine.weights import STEPS

FEATURE_NAMES: tuple[str, ...] = BY_NAME["evaluation_weights"].legal
"""The features in the order in which they are counted."""

_DISCS_AT_START = 4
_HIGHEST_ESTIMATE = 6300
"""An estimate stays within what a finished game can be worth."""

_X_OF_CORNERS = np.uint64(0x0042_0000_0000_4200)
_EDGE_SQUARES = np.uint64(0x7E81_8181_8181_817E)
"""The border without its corners."""
_A_SQUARES = np.uint64(0x2400_8100_0081_0024)
"""The squares of the border two from a corner."""
_CENTRE_SQUARES = np.uint64(0x0000_3C3C_3C3C_0000)


@jit
def _beside_empty_corners(corners):
    """The X and C squares of the given corners."""
    return neighbours(corners) & ~CORNERS


@jit
def _difference(own, other, mask):
    return popcount(own & mask) - popcount(other & mask)


@jit
def count_features(own, other, own_moves, other_moves):
    """The features of a position whose side to move owns ``own``, given both sides' legal squares.

    A tuple of FEATURES int64, in the order of ``FEATURE_NAMES``.
    """
    empty = ~(own | other)
    beside_empty = neighbours(empty)
    danger = _beside_empty_corners(empty & CORNERS)
    own_stable = edge_stable_discs(own, other) & _EDGE_SQUARES
    other_stable = edge_stable_discs(other, own) & _EDGE_SQUARES
    loose = _EDGE_SQUARES & ~(own_stable | other_stable | danger)
    return (
        popcount(own_moves) - popcount(other_moves),
        # A side may hope to play beside the other's discs.
        popcount(neighbours(other) & empty) - popcount(neighbours(own) & empty),
        _difference(own, other, beside_empty),
        _difference(own, other, CORNERS),
        _difference(own_moves, other_moves, CORNERS),
        _difference(own_moves, other_moves, danger),
        _difference(own, other, danger & _X_OF_CORNERS),
        _difference(own, other, danger & _EDGE_SQUARES),
        _difference(own, other, loose & _A_SQUARES),
        popcount(own_stable) - popcount(other_stable),
        _difference(own, other, loose),
        _difference(own, other, _CENTRE_SQUARES),
        popcount(own) - popcount(other),
        np.int64(1),
        # With an odd number of empty squares the side to move also makes the last move, unless somebody passes.
        np.int64(1) if popcount(empty) & 1 != 0 else np.int64(-1),
    )


@jit
def step_of(own, other):
    """The row of the weights that applies: the number of discs placed since the start."""
    return min(popcount(own | other) - _DISCS_AT_START, STEPS - 1)


@jit
def evaluate_boards(state, own, other):
    """Static evaluation in hundredths of a disc, the view of the side that owns ``own`` and is to move."""
    own_moves = legal_squares(own, other)
    other_moves = legal_squares(other, own)
    if own_moves == NONE and other_moves == NONE:
        return A_DISC * final_difference(own, other)
    counts = count_features(own, other, own_moves, other_moves)
    weights = state.weights[np.uint64(step_of(own, other))]
    value = np.int64(0)
    for feature in range(FEATURES):
        value += counts[feature] * weights[np.uint64(feature)]
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
    for step in range(STEPS):
        for feature in range(FEATURES):
            state.weights[step, feature] = np.int64(load_word(address, step * FEATURES + feature))


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
