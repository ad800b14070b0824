"""Rules of Othello: legal moves, endings, and the final score.

The final score is the difference of discs; the winner also gets the empty squares.
"""

from __future__ import annotations

import numpy as np

from elolab.engine.compiled.kernel import jit, lowest_bit, popcount
from elolab.engine.games.contract import encode_verdict
from elolab.engine.games.othello.boards import NONE, ONE, legal_squares
from elolab.engine.games.othello.position import PASS, STOCK, other_discs, own_discs

A_DISC = 100
"""Number of score points per disc."""

_OPEN = encode_verdict("*", "unfinished")
_FIRST_WINS = encode_verdict("1-0", "final_score")
_SECOND_WINS = encode_verdict("0-1", "final_score")
_DRAW = encode_verdict("1/2-1/2", "final_score")


# Moves


@jit
def generate(state, lists, row):
    """Write every legal move into row ``row`` of ``lists.moves`` and return their number: 0 if the game is over."""
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
    """Always 0, because every move is quiet."""
    return np.int64(0)


@jit
def is_quiet(state, move):
    """Always true: every move is quiet."""
    return True


@jit
def is_pass(state, move):
    return move == PASS


# Endings


@jit
def final_difference(own, other):
    """Final score in discs for the side to move (``own``). The winner also gets the empty squares."""
    difference = popcount(own) - popcount(other)
    empties = popcount(~(own | other))
    if difference > 0:
        return difference + empties
    return difference - empties if difference < 0 else np.int64(0)


@jit
def is_over(own, other):
    """Whether neither side can place a disc, so that the game is over."""
    return legal_squares(own, other) == NONE and legal_squares(other, own) == NONE


@jit
def final_score(state):
    """Score of a finished game in hundredths of a disc, from the point of view of the side to move."""
    return A_DISC * final_difference(own_discs(state), other_discs(state))


@jit
def judge(state, lists):
    """The arbiter's verdict code: open while a side can place a disc, then the side with more discs wins."""
    if not is_over(own_discs(state), other_discs(state)):
        return _OPEN
    difference = final_difference(state.discs[0], state.discs[1])
    if difference == 0:
        return _DRAW
    return _FIRST_WINS if difference > 0 else _SECOND_WINS


@jit
def null_move_allowed(state):
    """Always true. Zugzwang is common in Othello, so null moves are off by default, but users may try them."""
    return True


@jit
def plies_left(state):
    """Number of empty squares, because each move except a pass fills one."""
    return popcount(~(state.discs[0] | state.discs[1]))
