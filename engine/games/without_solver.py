"""Compiled functions shared by the games that have no passes, no maximum length and no endgame solver."""

from __future__ import annotations

import numpy as np

from elolab.engine.compiled.kernel import jit
from elolab.engine.games.contract import ENDLESS


@jit
def is_pass(state, move):
    """Always false: no move is a pass."""
    return False


@jit
def plies_left(state):
    """Always ``ENDLESS``, because there is no useful bound on the length of a game."""
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
