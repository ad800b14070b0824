"""Assertions on the arguments of search functions: checked if ``ELOLAB_DEBUG`` is set, otherwise not compiled.

A violation raises an ``AssertionError`` that names the part of the search and the condition.
"""

from __future__ import annotations

import numpy as np

from elolab.engine.compiled.kernel import jit, popcount
from elolab.engine.compiled.sources import DEBUG
from elolab.engine.games.contract import position_key
from elolab.engine.values import MAX_MOVES, MAX_PLY, MOVE_BITS

MAX_ENTRY_DEPTH = 255
"""Maximum depth that a transposition table entry can hold, in plies."""
MAX_SCORE = 32_767
"""Maximum absolute score that a transposition table entry can hold, in centipawns."""


@jit
def check_node(state, search, alpha, beta, depth, ply):
    """Check a node's window, ply, depth and side to move, and that the position matches its hash key."""
    if DEBUG:
        assert alpha < beta, "search: alpha < beta"
        assert 0 <= ply < MAX_PLY, "search: ply in range"
        assert 0 <= depth <= MAX_ENTRY_DEPTH, "search: depth in range"
        assert state.side == 0 or state.side == 1, "search: side to move is 0 or 1"
        assert np.int64(state.ply) - search.root == ply, "search: ply counts the moves since the root"
        assert state.key == position_key(state), "search: the incremental hash key is that of the position"


@jit
def check_move_count(count):
    """Check that ``count``, a position's number of moves, does not exceed the length of a move list."""
    if DEBUG:
        assert 0 <= count <= MAX_MOVES, "search: number of moves in range"


@jit
def check_table_word(search, word, words_per_bucket):
    """Check that the search has a transposition table, and that ``word`` is the index of a bucket's first word in it.

    A bucket has ``words_per_bucket`` words.
    """
    if DEBUG:
        assert search.table_address != 0, "table: it has memory"
        assert 0 <= word <= search.table_mask * words_per_bucket, "table: index in range"
        assert word % words_per_bucket == 0, "table: index of a bucket's first word"


@jit
def check_entry(move, score, depth, bound, threat):
    """Check that move, score, depth, bound and mate threat of a new transposition table entry fit into their bits."""
    if DEBUG:
        assert 0 <= move < 1 << MOVE_BITS, "table: move in range"
        assert -MAX_SCORE <= score <= MAX_SCORE, "table: score in range"
        assert depth <= MAX_ENTRY_DEPTH, "table: depth in range"
        assert 1 <= bound <= 3, "table: bound in range"
        assert threat == 0 or threat == 1, "table: threat is 0 or 1"


@jit
def check_cached_value(value, greatest):
    """Check that an evaluation lies between -``greatest`` and ``greatest``, so that it fits into a cache entry."""
    if DEBUG:
        assert -greatest <= value <= greatest, "evaluation cache: value in range"


@jit
def check_solver_node(own, other, alpha, beta, empties):
    """Check a solver's node: alpha below beta, no overlap of ``own`` and ``other``, and ``empties`` empty squares."""
    if DEBUG:
        assert alpha < beta, "solver: alpha < beta"
        assert own & other == np.uint64(0), "solver: no square has two discs"
        assert popcount(~(own | other)) == empties, "solver: the empty squares are as many as it is told"
