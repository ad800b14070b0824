"""Pseudo-random keys for hashes of positions."""

from __future__ import annotations

import numpy as np

HASH_FACTOR = np.uint64(0x9E37_79B9_7F4A_7C15)
"""Factor of multiplicative hashing, an odd number near 2**64 divided by the golden ratio.

The upper bits of the product of factor and number depend on all bits of the number.
"""


def random_keys(seed: int, count: int) -> np.ndarray:
    """64-bit pseudo-random keys, made by splitmix64 from a seed: uint64 of shape (count,).

    The keys, and so all hashes made from them, are the same on every machine.
    """
    keys, state, mask = [], seed, (1 << 64) - 1
    for _ in range(count):
        state = (state + 0x9E3779B97F4A7C15) & mask
        word = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & mask
        word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & mask
        keys.append(word ^ (word >> 31))
    return np.array(keys, np.uint64)
