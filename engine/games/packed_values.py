"""Pairs of values packed into one integer: the first for the material of the start position, the second for no
material.

A pair is ``start + END * end``. Packed pairs can be added directly, as long as both sums fit into 16 bits.
"""

from __future__ import annotations

import numpy as np

from elolab.engine.compiled.kernel import jit

END = 1 << 16
"""Factor of the second value in a packed pair."""


@jit
def at_start(pair):
    """First value of a packed pair: the value for the full material of the start position."""
    return (np.int64(pair) << 48) >> 48


@jit
def at_end(pair):
    """Second value of a packed pair: the value for no material."""
    return (np.int64(pair) - at_start(pair)) >> 16


@jit
def blend(pair, now, bits):
    """Interpolate between the values of a packed pair at phase ``now``.

    The phase goes from 0, for no material, to 2 ** ``bits``, for full material. Rounds towards zero, so that
    evaluations of mirrored positions differ only in sign.
    """
    full = 1 << bits
    sum_of_both = at_start(pair) * now + at_end(pair) * (full - now)
    return (sum_of_both + ((sum_of_both >> 63) & (full - 1))) >> bits
