"""How an Othello game ends, and what it is worth: the difference of discs, empty squares to the winner."""

from __future__ import annotations

import numpy as np

from engine.compiled.kernel import jit, popcount
from engine.games.contract import PATH_OPEN, encode_verdict
from engine.games.othello.boards import NONE, legal_squares
from engine.games.othello.position import other_discs, own_discs

A_DISC = 100
"""Units of a score in a disc."""

_OPEN = encode_verdict("*", "unfinished")
_FIRST_WINS = encode_verdict("1-0", "final_score")
_SECOND_WINS = encode_verdict("0-1", "final_score")
_DRAW = encode_verdict("1/2-1/2", "final_score")


@jit
def final_difference(own, other):
    """Discs of the side to move less those of the other in a finished game, empty squares to the winner."""
    difference = popcount(own) - popcount(other)
    empties = popcount(~(own | other))
    if difference > 0:
        return difference + empties
    return difference - empties if difference < 0 else np.int64(0)


@jit
def is_over(own, other):
    """Whether neither side can move."""
    return legal_squares(own, other) == NONE and legal_squares(other, own) == NONE


@jit
def final_score(state):
    """Score of a finished game in hundredths of a disc, the side to move's view."""
    return A_DISC * final_difference(own_discs(state), other_discs(state))


@jit
def judge(state, lists):
    """The arbiter's verdict: open until neither side can move, then by the discs."""
    if not is_over(own_discs(state), other_discs(state)):
        return _OPEN
    difference = final_difference(state.discs[0], state.discs[1])
    if difference == 0:
        return _DRAW
    return _FIRST_WINS if difference > 0 else _SECOND_WINS


@jit
def path_verdict(state, root):
    """Positions never repeat."""
    return PATH_OPEN


@jit
def repetition_key(state):
    """Positions never repeat."""
    return np.uint64(0)


@jit
def null_move_allowed(state):
    """Nothing speaks against it but that having to move is often a burden here."""
    return True


@jit
def plies_left(state):
    """Empty squares: each move but a pass fills one, and the evaluation knows a finished game."""
    return popcount(~(state.discs[0] | state.discs[1]))
