"""Detects repetitions of a position, from the hash keys of earlier positions that a state stores.

A state has ``key``, ``ply`` and ``undo_key``, the earlier keys by ply. ``reversible`` is the number of plies since the
last irreversible move. ``fold`` is the occurrence at which a repetition ends the game, such as 3 for threefold.
"""

from __future__ import annotations

import numpy as np

from elolab.engine.compiled.kernel import jit


@jit
def earlier_occurrence(state, wanted):
    """Ply of an earlier occurrence of the current position: the latest one if ``wanted`` is 1, the one before if 2.

    Returns -1 if the position has fewer than ``wanted`` earlier occurrences.
    """
    last = np.int64(state.ply)
    first = max(last - np.int64(state.reversible), 0)
    seen = 0
    ply = last - 4
    while ply >= first:
        if state.undo_key[ply] == state.key:
            seen += 1
            if seen == wanted:
                return ply
        ply -= 2
    return -1


@jit
def _key_at(state, ply):
    """Hash of the position at a ply, from 0 to ``state.ply``, which is the current position."""
    return state.key if ply == state.ply else state.undo_key[ply]


@jit
def repetition_key_of(state):
    """Combined hash of all past positions whose next occurrence would end the game; 0 if there are none.

    The value of a position depends on this set, so a transposition table entry is valid only for an equal set. The
    combination is an xor of one number for each position: the product of the two halves of its hash. In an xor, plain
    hashes of the positions along a cycle could cancel each other out.
    """
    key = np.uint64(0)
    last = np.int64(state.ply)
    first = max(last - np.int64(state.reversible), 0)
    if state.fold <= 1 or last - first < 4:
        return key
    for ply in range(first + 4, last + 1):
        found = _key_at(state, ply)
        seen = 1
        earlier = ply - 4
        while earlier >= first:
            if state.undo_key[earlier] == found:
                seen += 1
            earlier -= 2
        if seen == state.fold - 1:
            key ^= (found >> np.uint64(32)) * (found & np.uint64(0xFFFFFFFF))
    return key
