"""Perft of Othello, with passes that count as a ply and with free passes.

The last move need not be played: if a pass is a ply, a position one ply above the leaves has as many leaves as legal
moves, or one if it has none (a pass or a finished game). Moves two plies above the leaves are therefore collected in
batches; one loop without branches, which the compiler vectorizes, plays and counts a batch.
"""

from __future__ import annotations

import numpy as np

from elolab.engine.compiled.kernel import jit, load_word, lowest_bit, popcount, store_word
from elolab.engine.games.othello.boards import NONE, ONE, SQUARES, flips, flips_of_bit, legal_squares
from elolab.engine.games.othello.position import other_discs, own_discs

_BATCH = 512
"""Moves in a batch: enough to fill vectors, few enough for the first-level cache."""
_ROOM = _BATCH + SQUARES
"""Capacity of a batch: the position that completes it adds all its moves."""

# Layout of a batch, a uint64 array passed by address: number of moves, then for each move the own discs, the other
# side's discs and the square as a bit.
_WAITING = 0
_OWN = 1
_OTHER = _OWN + _ROOM
_PLACED = _OTHER + _ROOM
_WORDS = _PLACED + _ROOM


@jit
def _count_batch(batch):
    """Number of leaves one ply below the moves of a batch; empties the batch."""
    leaves = np.int64(0)
    for index in range(np.int64(load_word(batch, _WAITING))):
        own = load_word(batch, _OWN + index)
        other = load_word(batch, _OTHER + index)
        placed = load_word(batch, _PLACED + index)
        turned = flips_of_bit(own, other, placed)
        leaves += max(popcount(legal_squares(other ^ turned, own ^ turned ^ placed)), np.int64(1))
    store_word(batch, _WAITING, NONE)
    return leaves


@jit
def _gather(batch, own, other, squares):
    """Add a position's moves to a batch; if the batch is then full, empty it and return its leaves, else 0."""
    place = np.int64(load_word(batch, _WAITING))
    while squares != NONE:
        rest = squares & (squares - ONE)
        store_word(batch, _OWN + place, own)
        store_word(batch, _OTHER + place, other)
        store_word(batch, _PLACED + place, squares ^ rest)
        squares = rest
        place += 1
    store_word(batch, _WAITING, np.uint64(place))
    return _count_batch(batch) if place >= _BATCH else np.int64(0)


@jit
def _count_in_batches(batch, own, other, depth):
    """Leaves ``depth`` (at least 2) plies deep, without those below moves still in the batch; a pass is a ply."""
    squares = legal_squares(own, other)
    if squares == NONE:
        replies = legal_squares(other, own)
        if replies == NONE:
            return np.int64(1)
        if depth == 2:
            return popcount(replies)
        return _count_in_batches(batch, other, own, np.int64(depth - 1))
    if depth == 2:
        return _gather(batch, own, other, squares)
    leaves = np.int64(0)
    while squares != NONE:
        square = lowest_bit(squares)
        squares &= squares - ONE
        turned = flips(own, other, square)
        leaves += _count_in_batches(
            batch, other ^ turned, own ^ turned ^ (ONE << np.uint64(square)), np.int64(depth - 1)
        )
    return leaves


@jit
def perft(state, lists, depth):
    """Leaves of the tree of legal moves; a pass is a ply, a finished game one leaf."""
    own = own_discs(state)
    other = other_discs(state)
    if depth == 0:
        return np.int64(1)
    if depth == 1:
        return max(popcount(legal_squares(own, other)), np.int64(1))
    words = np.zeros(_WORDS, np.uint64)
    batch = np.int64(words.ctypes.data)
    leaves = _count_in_batches(batch, own, other, np.int64(depth))
    leaves += _count_batch(batch)
    words[0] = NONE  # keeps the array alive until here, since only its address was passed
    return leaves


@jit
def _count_with_free_passes(own, other, depth):
    """Leaves ``depth`` (at least 1) plies deep, where a pass costs no ply."""
    squares = legal_squares(own, other)
    if squares == NONE:
        if legal_squares(other, own) == NONE:
            return np.int64(1)
        return _count_with_free_passes(other, own, depth)
    if depth == 1:
        return popcount(squares)
    leaves = np.int64(0)
    while squares != NONE:
        square = lowest_bit(squares)
        squares &= squares - ONE
        turned = flips(own, other, square)
        leaves += _count_with_free_passes(
            other ^ turned, own ^ turned ^ (ONE << np.uint64(square)), np.int64(depth - 1)
        )
    return leaves


@jit
def perft_with_free_passes(state, lists, depth):
    """Leaves of the tree of legal moves; a pass costs no ply, a finished game is one leaf."""
    if depth == 0:
        return np.int64(1)
    return _count_with_free_passes(own_discs(state), other_discs(state), np.int64(depth))
