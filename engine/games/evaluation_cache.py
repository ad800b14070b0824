"""Cache of static evaluations. Searches reach many positions repeatedly, especially at the next depth.

The cache is a uint64 array with one word per entry. The lowest bits of a position's key are the index. The word holds
the other bits of the key, and the value in place of the lowest bits. Entries depend only on the position and the
weights, so an array can serve any number of games with the same parameters.
"""

from __future__ import annotations

import numpy as np

from elolab.engine.compiled.kernel import jit, load_word, prefetch, store_word
from elolab.engine.games.assertions import check_cached_value

PLACE_BITS = 15
WORDS = 1 << PLACE_BITS
"""Number of entries of the cache (256 KiB). A larger cache had more hits in measurements, but made no search faster."""
MAX_VALUE = (1 << (PLACE_BITS - 1)) - 1
"""Largest absolute value that an entry can hold."""
NOT_CACHED = 1 << PLACE_BITS
_PLACE_MASK = WORDS - 1


@jit
def cached_value(cache, key):
    """The value stored for a position's key, or ``NOT_CACHED``. ``cache`` is the array's address; 0 for no cache."""
    if cache == 0:
        return np.int64(NOT_CACHED)
    word = np.int64(load_word(cache, np.int64(key) & _PLACE_MASK))
    if (word ^ np.int64(key)) >> PLACE_BITS != 0:
        return np.int64(NOT_CACHED)
    return (word << (64 - PLACE_BITS)) >> (64 - PLACE_BITS)


@jit
def keep_value(cache, key, value):
    """Store the value for a position's key in the cache at address ``cache``; overwrites the entry at its index."""
    if cache != 0:
        check_cached_value(value, MAX_VALUE)
        word = (np.int64(key) & ~_PLACE_MASK) | (value & _PLACE_MASK)
        store_word(cache, np.int64(key) & _PLACE_MASK, np.uint64(word))


@jit
def prefetch_value(cache, key):
    """Load the entry for a position's key, in the cache at address ``cache``, into the processor's cache in advance."""
    prefetch(cache + 8 * (np.int64(key) & _PLACE_MASK))
