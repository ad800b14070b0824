"""Evaluations that a search remembers, since it meets many positions again, above all at the next depth.

A flat uint64 array, one word an entry: a position's key, but in place of its lowest bits, which are those of the
entry's place in the array, the value. What is kept depends on nothing but the position and the weights: an array serves
one set of parameters, through any number of games.
"""

from __future__ import annotations

import numpy as np

from elolab.engine.assertions import check_cached_value
from elolab.engine.compiled.kernel import jit, load_word, prefetch, store_word

PLACE_BITS = 15
WORDS = 1 << PLACE_BITS
"""256 KiB; with more of them more is found, and no search was faster."""
MAX_VALUE = (1 << (PLACE_BITS - 1)) - 1
"""Values are from ``-MAX_VALUE`` to this."""
NOT_CACHED = 1 << PLACE_BITS
_PLACE_MASK = WORDS - 1


@jit
def cached_value(cache, key):
    """The value that was kept last for a position's key, or ``NOT_CACHED``; ``cache`` is the array's address or 0."""
    if cache == 0:
        return np.int64(NOT_CACHED)
    word = np.int64(load_word(cache, np.int64(key) & _PLACE_MASK))
    if (word ^ np.int64(key)) >> PLACE_BITS != 0:
        return np.int64(NOT_CACHED)
    return (word << (64 - PLACE_BITS)) >> (64 - PLACE_BITS)


@jit
def keep_value(cache, key, value):
    """Remember a value for a position's key."""
    if cache != 0:
        check_cached_value(value, MAX_VALUE)
        word = (np.int64(key) & ~_PLACE_MASK) | (value & _PLACE_MASK)
        store_word(cache, np.int64(key) & _PLACE_MASK, np.uint64(word))


@jit
def prefetch_value(cache, key):
    """Let an entry's memory be fetched while something else is computed."""
    prefetch(cache + 8 * (np.int64(key) & _PLACE_MASK))
