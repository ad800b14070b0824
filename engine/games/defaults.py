"""Compiled functions for what a game lacks, such as checks, passes, repetitions or an endgame solver.

``register_game`` takes this module first; a game's own functions replace these.
"""

from __future__ import annotations

import numpy as np

from elolab.engine.compiled.kernel import jit
from elolab.engine.games.contract import ENDLESS, PATH_OPEN


@jit
def key_is_quick(state):
    """Always false: ``key_after`` takes as long as the move."""
    return False


@jit
def in_check(state):
    """Always false: there is no check."""
    return False


@jit
def gives_check(state, move):
    """Always false: there is no check."""
    return False


@jit
def is_pass(state, move):
    """Always false: no move is a pass."""
    return False


@jit
def path_verdict(state, root):
    """Always ``PATH_OPEN``: positions never repeat."""
    return PATH_OPEN


@jit
def repetition_key(state):
    """Always 0: positions never repeat."""
    return np.uint64(0)


@jit
def structure_key(state):
    """Always 0: no part of a position stays the same for many moves."""
    return np.uint64(0)


@jit
def pieces_key(state, side):
    """Always 0: a game without a ``structure_key`` needs no hash of the other pieces."""
    return np.uint64(0)


@jit
def restarts_draw_count(state):
    """Always false: no move restarts the move count of draw adjudication."""
    return False


@jit
def plies_left(state):
    """Always ``ENDLESS``: there is no useful bound on the length of a game."""
    return np.int64(ENDLESS)


@jit
def solvable(state, parameters, depth):
    """Always false: there is no endgame solver."""
    return False


@jit
def solve(state, search, lists, parameters, alpha, beta, ply):
    """Never called, because ``solvable`` is false."""
    return np.int64(0)


@jit
def best_line(state, search, lists, parameters, score):
    """Never called, because ``solvable`` is false."""
