"""Perft of Othello. A pass counts as a ply, or is free."""

from __future__ import annotations

import numpy as np

from elolab.engine.compiled.kernel import jit, lowest_bit, popcount
from elolab.engine.games.othello.boards import NONE, ONE, flips, legal_squares
from elolab.engine.games.othello.position import other_discs, own_discs


@jit
def _leaves(own, other, depth, pass_plies):
    """Number of leaves ``depth`` plies deep, at least 1; ``own`` is to move. A pass is ``pass_plies`` plies, 0 or 1."""
    squares = legal_squares(own, other)
    if squares == NONE:
        below = np.int64(depth - pass_plies)
        if below == 0 or legal_squares(other, own) == NONE:
            return np.int64(1)
        return _leaves(other, own, below, pass_plies)
    if depth == 1:
        return popcount(squares)
    leaves = np.int64(0)
    while squares != NONE:
        square = lowest_bit(squares)
        squares &= squares - ONE
        turned = flips(own, other, square)
        leaves += _leaves(other ^ turned, own ^ turned ^ (ONE << np.uint64(square)), np.int64(depth - 1), pass_plies)
    return leaves


@jit
def perft_of_passes(state, depth, pass_plies):
    """Perft with finished games as leaves; a pass counts as ``pass_plies`` plies, 0 or 1."""
    if depth == 0:
        return np.int64(1)
    return _leaves(own_discs(state), other_discs(state), np.int64(depth), np.int64(pass_plies))


@jit
def perft(state, lists, depth):
    """Perft: number of leaves of the tree of legal moves. A pass is a ply, and a finished game is one leaf."""
    return perft_of_passes(state, depth, np.int64(1))
