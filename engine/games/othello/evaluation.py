"""Evaluation of Othello positions: weighted features and, if the file of weights has them, patterns.

Each feature, except the last two, is the side to move's count minus the other side's count. The weights are in
hundredths of a disc and come from a file (``engine.settings.weights``), one set for each number of discs placed since
the start. Patterns are defined in ``engine.games.othello.patterns``. A finished game evaluates to its exact result.
Counting is separate from weighing, so that ``elolab fit-evaluation`` uses the same counts.
"""

from __future__ import annotations

import numpy as np

from elolab.engine.compiled.kernel import jit, load_word, popcount
from elolab.engine.games.evaluation_cache import NOT_CACHED, cached_value, keep_value
from elolab.engine.games.othello.boards import (
    CORNERS,
    NONE,
    edge_stable_discs,
    legal_squares,
    neighbours,
)
from elolab.engine.games.othello.patterns import (
    BYTES,
    DIGIT_VALUES,
    INSTANCE_STARTS,
    INSTANCES,
    LANES,
    STRIDE,
)
from elolab.engine.games.othello.position import FEATURES, other_discs, own_discs
from elolab.engine.games.othello.rules import A_DISC, final_difference
from elolab.engine.games.othello.weight_layout import FIRST_WEIGHT, MARK
from elolab.engine.settings.weights import STEPS

_DISCS_AT_START = 4
_INSTANCES = len(INSTANCES)
_LANES, _STRIDE = np.uint64(LANES), np.uint64(STRIDE)
_BYTE = np.uint64(BYTES - 1)
_RANK_2, _RANK_3, _RANK_4, _RANK_5, _RANK_6, _RANK_7, _RANK_8 = (np.uint64(8 * rank) for rank in range(1, 8))
_TABLE_2, _TABLE_3, _TABLE_4, _TABLE_5, _TABLE_6, _TABLE_7, _TABLE_8 = (np.uint64(BYTES * rank) for rank in range(1, 8))
_TWO, _THREE, _FOUR, _TOP = np.uint64(2), np.uint64(3), np.uint64(4), np.uint64(48)
_MAX_ESTIMATE = 6300
"""Maximum static evaluation of an unfinished game, in hundredths of a disc; it is below a win by 64 discs."""

_X_OF_CORNERS = np.uint64(0x0042_0000_0000_4200)
_EDGE_SQUARES = np.uint64(0x7E81_8181_8181_817E)
"""Bitboard of the border squares without the corners."""
_A_SQUARES = np.uint64(0x2400_8100_0081_0024)
"""Bitboard of the A squares: border squares two steps from a corner."""
_CENTRE_SQUARES = np.uint64(0x0000_3C3C_3C3C_0000)


@jit
def _beside_empty_corners(corners):
    """Bitboard of the squares next to ``corners``: the corners' X squares (diagonal) and C squares (on the border)."""
    return neighbours(corners) & ~CORNERS


@jit
def _difference(own, other, mask):
    return popcount(own & mask) - popcount(other & mask)


@jit
def count_features(own, other, own_moves, other_moves):
    """Features of a position: a tuple of int64, in the order of ``engine.settings.features.OTHELLO``.

    ``own`` are the discs of the side to move, ``other`` the other side's; ``own_moves`` and ``other_moves`` are the
    squares on which each side may place a disc.
    """
    empty = ~(own | other)
    beside_empty = neighbours(empty)
    danger = _beside_empty_corners(empty & CORNERS)
    own_stable = edge_stable_discs(own, other) & _EDGE_SQUARES
    other_stable = edge_stable_discs(other, own) & _EDGE_SQUARES
    loose = _EDGE_SQUARES & ~(own_stable | other_stable | danger)
    return (
        popcount(own_moves) - popcount(other_moves),
        # Potential mobility: empty squares beside the other side's discs.
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
        # Parity: with an odd number of empty squares the side to move also moves last, if nobody passes.
        np.int64(1) if popcount(empty) & 1 != 0 else np.int64(-1),
    )


@jit
def read_patterns(own, other, occupations):
    """Write the occupation index of each pattern instance into ``occupations``, uint16 of shape (LANES,).

    ``engine.games.othello.patterns`` defines the index. ``own`` and ``other`` are the discs of the side to move and of
    the other side.
    """
    # A table maps a rank's byte to its contribution to all instances, so that each step adds whole vectors.
    own_0 = (own & _BYTE) * _LANES
    own_1 = ((own >> _RANK_2) & _BYTE | _TABLE_2) * _LANES
    own_2 = ((own >> _RANK_3) & _BYTE | _TABLE_3) * _LANES
    own_3 = ((own >> _RANK_4) & _BYTE | _TABLE_4) * _LANES
    own_4 = ((own >> _RANK_5) & _BYTE | _TABLE_5) * _LANES
    own_5 = ((own >> _RANK_6) & _BYTE | _TABLE_6) * _LANES
    own_6 = ((own >> _RANK_7) & _BYTE | _TABLE_7) * _LANES
    own_7 = ((own >> _RANK_8) | _TABLE_8) * _LANES
    other_0 = (other & _BYTE) * _LANES
    other_1 = ((other >> _RANK_2) & _BYTE | _TABLE_2) * _LANES
    other_2 = ((other >> _RANK_3) & _BYTE | _TABLE_3) * _LANES
    other_3 = ((other >> _RANK_4) & _BYTE | _TABLE_4) * _LANES
    other_4 = ((other >> _RANK_5) & _BYTE | _TABLE_5) * _LANES
    other_5 = ((other >> _RANK_6) & _BYTE | _TABLE_6) * _LANES
    other_6 = ((other >> _RANK_7) & _BYTE | _TABLE_7) * _LANES
    other_7 = ((other >> _RANK_8) | _TABLE_8) * _LANES
    for place in range(LANES):
        lane = np.uint64(place)
        ours = DIGIT_VALUES[own_0 + lane] + DIGIT_VALUES[own_1 + lane] + DIGIT_VALUES[own_2 + lane]
        ours += DIGIT_VALUES[own_3 + lane] + DIGIT_VALUES[own_4 + lane] + DIGIT_VALUES[own_5 + lane]
        ours += DIGIT_VALUES[own_6 + lane] + DIGIT_VALUES[own_7 + lane]
        theirs = DIGIT_VALUES[other_0 + lane] + DIGIT_VALUES[other_1 + lane] + DIGIT_VALUES[other_2 + lane]
        theirs += DIGIT_VALUES[other_3 + lane] + DIGIT_VALUES[other_4 + lane] + DIGIT_VALUES[other_5 + lane]
        theirs += DIGIT_VALUES[other_6 + lane] + DIGIT_VALUES[other_7 + lane]
        occupations[lane] = ours + theirs + theirs


@jit
def _pattern_value(state, own, other, step):
    """Sum of the pattern weights, in hundredths of a disc for the side to move.

    ``step``, the number of discs placed since the start, selects the weights.
    """
    read_patterns(own, other, state.occupations)
    phase = np.uint64(step * state.pattern_phases // STEPS)
    first = phase * _STRIDE
    value = np.int64(0)
    for place in range(_INSTANCES):
        lane = np.uint64(place)
        index = first + INSTANCE_STARTS[lane] + np.uint64(state.occupations[lane])
        # Four int16 weights a word, the lowest first: shift up, then down with the sign.
        word = load_word(state.pattern_address, index >> _TWO)
        value += np.int64(word << (_TOP - ((index & _THREE) << _FOUR))) >> np.int64(48)
    return value


@jit
def step_of(own, other):
    """Number of discs placed since the start of the game, at most ``STEPS`` - 1; also the index of the weights."""
    return min(popcount(own | other) - _DISCS_AT_START, STEPS - 1)


@jit
def evaluate_boards(state, own, other):
    """Static evaluation in hundredths of a disc, for the side to move. ``own`` has the discs of the side to move,
    ``other`` the other side's discs.
    """
    own_moves = legal_squares(own, other)
    other_moves = legal_squares(other, own)
    if own_moves == NONE and other_moves == NONE:
        return A_DISC * final_difference(own, other)
    counts = count_features(own, other, own_moves, other_moves)
    step = step_of(own, other)
    weights = state.weights[np.uint64(step)]
    value = np.int64(0)
    for feature in range(FEATURES):
        value += counts[feature] * weights[np.uint64(feature)]
    if state.pattern_address != 0:
        value += _pattern_value(state, own, other, step)
    return np.int64(min(max(value, -_MAX_ESTIMATE), _MAX_ESTIMATE))


@jit
def evaluate(state, cache, alpha, beta):
    """Static evaluation in hundredths of a disc for the side to move, exact even outside (alpha, beta)."""
    value = cached_value(cache, state.key)
    if value == NOT_CACHED:
        value = evaluate_boards(state, own_discs(state), other_discs(state))
        keep_value(cache, state.key, value)
    return value


@jit
def prepare(state, parameters):
    """Copy the weights at the address ``parameters.evaluation_weights`` into the state; see ``weight_layout``."""
    address = parameters.evaluation_weights
    if address == 0 or state.weights_address == address or load_word(address, 0) != MARK:
        return
    state.weights_address = address
    state.pattern_address = np.int64(load_word(address, 1))
    state.pattern_phases = np.int64(load_word(address, 2))
    for step in range(STEPS):
        for feature in range(FEATURES):
            state.weights[step, feature] = np.int64(load_word(address, FIRST_WEIGHT + step * FEATURES + feature))


@jit
def material(state):
    """Number of discs of the side to move, times 100."""
    return A_DISC * popcount(own_discs(state))


@jit
def piece_count(state):
    return popcount(state.discs[0] | state.discs[1])


@jit
def capture_order(state, move):
    """Always 0 and never used, because every move in Othello is quiet."""
    return np.int64(0)


@jit
def capture_gain(state, move):
    """Always 0 and never used, because every move in Othello is quiet."""
    return np.int64(0)


@jit
def loses_material(state, move):
    """Always false: discs are not material."""
    return False


@jit
def history_piece(state, move):
    """Index of the moving piece in history tables: the side to move, 0 or 1, because all discs of a side are alike."""
    return np.int64(state.side)
