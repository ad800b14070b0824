"""Legal moves of Othello."""

from __future__ import annotations

import numpy as np

from engine.compiled.kernel import jit, lowest_bit
from engine.games.othello.boards import NONE, ONE, legal_squares
from engine.games.othello.position import PASS, STOCK, other_discs, own_discs


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
