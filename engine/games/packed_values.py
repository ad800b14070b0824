"""Pairs of values packed in one integer: one for the full material of the start, one for none.

Sums of pairs are pairs of sums as long as both fit 16 bits. A pair is ``start + END * end``.
"""

from __future__ import annotations

import numpy as np

from elolab.engine.compiled.kernel import jit

END = 1 << 16
"""Factor of the endgame value in a packed pair."""


@jit
def at_start(pair):
    """First number of a packed pair of values: the value for the full material of the start position."""
    return (np.int64(pair) << 48) >> 48


@jit
def at_end(pair):
    """Second number of a packed pair of values: the value for no material."""
    return (np.int64(pair) - at_start(pair)) >> 16


@jit
def blend(pair, now, bits):
    """Interpolate a packed pair of values at phase ``now``, from 0 for no material to 2 ** ``bits`` for full material.

    Rounds towards zero, so that evaluations for the two sides differ only in sign.
    """
    full = 1 << bits
    sum_of_both = at_start(pair) * now + at_end(pair) * (full - now)
    return (sum_of_both + ((sum_of_both >> 63) & (full - 1))) >> bits
