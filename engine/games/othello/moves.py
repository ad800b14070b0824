"""Legal moves of Othello, and the counts of move sequences in both conventions."""

from __future__ import annotations

import numpy as np

from engine.games.othello.boards import NONE, ONE, flips, legal_squares
from engine.games.othello.position import PASS, STOCK, other_discs, own_discs
from engine.kernel import jit, lowest_bit, popcount


@jit
def generate(state, lists, row):
    """Write every legal move into row ``row`` of ``lists.moves`` and return their number: 0 where the game is over."""
    own = own_discs(state)
    other = other_discs(state)
    squares = legal_squares(own, other)
    index = np.uint64(row)
    if squares == NONE:
        if legal_squares(other, own) == NONE:
            return np.int64(0)
        lists.moves[index, np.uint64(0)] = PASS
        return np.int64(1)
    count = np.uint64(0)
    while squares != NONE:
        lists.moves[index, count] = STOCK + (lowest_bit(squares) << 7)
        squares &= squares - ONE
        count += ONE
    return np.int64(count)


@jit
def generate_noisy(state, lists, row):
    """There are no captures to be searched out: every move is quiet."""
    return np.int64(0)


@jit
def in_check(state):
    """There is no check."""
    return False


@jit
def is_quiet(state, move):
    """Every move is."""
    return True


@jit
def is_pass(state, move):
    """Whether a move is a pass."""
    return move == PASS


@jit
def count_leaves(own, other, depth, free):
    """Leaves ``depth`` (at least 1) plies deep; a finished game is one. With ``free`` a pass costs no ply."""
    squares = legal_squares(own, other)
    if squares == NONE:
        if legal_squares(other, own) == NONE:
            return np.int64(1)
        if free != 0:
            return count_leaves(other, own, depth, free)
        return count_leaves(other, own, np.int64(depth - 1), free) if depth > 1 else np.int64(1)
    if depth == 1:
        return popcount(squares)
    leaves = np.int64(0)
    while squares != NONE:
        square = lowest_bit(squares)
        squares &= squares - ONE
        turned = flips(own, other, square)
        leaves += count_leaves(other ^ turned, own ^ turned ^ (ONE << np.uint64(square)), np.int64(depth - 1), free)
    return leaves


@jit
def perft(state, lists, depth):
    """Leaves of the tree of legal moves; a pass is a ply."""
    if depth == 0:
        return np.int64(1)
    return count_leaves(own_discs(state), other_discs(state), np.int64(depth), np.int64(0))


@jit
def perft_with_free_passes(state, lists, depth):
    """Leaves of the tree of legal moves; a pass costs no ply."""
    if depth == 0:
        return np.int64(1)
    return count_leaves(own_discs(state), other_discs(state), np.int64(depth), np.int64(1))
