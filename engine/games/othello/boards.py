"""Othello on bitboards: legal moves, flips, stable discs.

A board is two uint64: ``own`` has the discs of the side to move, ``other`` the other side's discs. Bit 0 is a1, bit 7
h1, bit 63 h8, in the order of the board's text. No function loops over squares.
"""

from __future__ import annotations

import numpy as np

from elolab.engine.compiled.kernel import add_words, jit, jit_inlined, leading_zeros

SQUARES = 64
ONE = np.uint64(1)
NONE = np.uint64(0)
FULL = np.uint64(0xFFFF_FFFF_FFFF_FFFF)
_HIGHEST_BIT = np.uint64(1 << 63)

_INNER_FILES = np.uint64(0x7E7E_7E7E_7E7E_7E7E)
_NOT_FILE_A = np.uint64(0xFEFE_FEFE_FEFE_FEFE)
_NOT_FILE_H = np.uint64(0x7F7F_7F7F_7F7F_7F7F)
_FILE_A = np.uint64(0x0101_0101_0101_0101)
_FILE_H = np.uint64(0x8080_8080_8080_8080)
_RANK_1 = np.uint64(0xFF)
_RANK_8 = np.uint64(0xFF << 56)
CORNERS = np.uint64(0x8100_0000_0000_0081)
_BORDER = np.uint64(0xFF81_8181_8181_81FF)

# Distances between neighbours along the four lines, and their multiples.
_ACROSS, _ACROSS_2 = np.uint64(1), np.uint64(2)
_ALONG, _ALONG_2 = np.uint64(8), np.uint64(16)
_RISING, _RISING_2 = np.uint64(9), np.uint64(18)
_FALLING, _FALLING_2 = np.uint64(7), np.uint64(14)


def _ray(square: int, across: int, down: int) -> int:
    """Bitboard of the squares beyond ``square`` up to the border; a step is ``across`` files and ``down`` ranks."""
    bits, file, rank = 0, square % 8 + across, square // 8 + down
    while 0 <= file < 8 and 0 <= rank < 8:
        bits |= 1 << rank * 8 + file
        file, rank = file + across, rank + down
    return bits


_UPWARD = ((1, 0), (-1, 1), (0, 1), (1, 1))
"""The four directions towards higher square numbers, as steps (files, ranks); the other four are their opposites."""
RAYS = np.array(
    [
        [_ray(square, a, d) for a, d in _UPWARD] + [_ray(square, -a, -d) for a, d in _UPWARD]
        for square in range(SQUARES)
    ],
    np.uint64,
)
"""Bitboards of the squares beyond each square, up to the border, in each direction: shape (64 squares, 8 directions).

The four directions towards higher square numbers come first.
"""


@jit_inlined
def _reached(own, between, shift, double):
    """Bitboard of the squares just beyond a run of one to six ``between`` discs that starts next to an ``own`` disc.

    ``shift`` is the difference of square numbers between neighbours on the line, ``double`` twice that. Both directions
    of the line are searched.
    """
    up = between & (own << shift)
    down = between & (own >> shift)
    up |= between & (up << shift)
    down |= between & (down >> shift)
    pairs_up = between & (between << shift)
    pairs_down = pairs_up >> shift
    up |= pairs_up & (up << double)
    down |= pairs_down & (down >> double)
    up |= pairs_up & (up << double)
    down |= pairs_down & (down >> double)
    return (up << shift) | (down >> shift)


@jit_inlined
def legal_squares(own, other):
    """Bitboard of the squares on which the side with the discs ``own`` may place a disc against the discs ``other``."""
    inner = other & _INNER_FILES
    reached = _reached(own, inner, _ACROSS, _ACROSS_2) | _reached(own, other, _ALONG, _ALONG_2)
    reached |= _reached(own, inner, _RISING, _RISING_2) | _reached(own, inner, _FALLING, _FALLING_2)
    return reached & ~(own | other)


@jit
def _flips_upward(own, other, ray):
    # The addition's carry passes squares off the ray and the other side's discs on it; it must stop at an own disc.
    end = add_words(other | ~ray, ONE) & own & ray
    return (end - np.uint64(end != NONE)) & ray


@jit
def _flips_downward(own, other, ray):
    # The ray's highest square without a disc of the other side; if there is none, any square off the ray will do.
    end = (_HIGHEST_BIT >> np.uint64(leading_zeros(ray & ~other) & 63)) & own & ray
    return add_words(~(end << ONE), ONE) & ray


@jit
def flips(own, other, square):
    """Bitboard of the discs of ``other`` that a move of ``own`` to the empty square ``square`` (0 to 63) flips."""
    row = np.uint64(square)
    turned = _flips_upward(own, other, RAYS[row, np.uint64(0)])
    turned |= _flips_upward(own, other, RAYS[row, np.uint64(1)])
    turned |= _flips_upward(own, other, RAYS[row, np.uint64(2)])
    turned |= _flips_upward(own, other, RAYS[row, np.uint64(3)])
    turned |= _flips_downward(own, other, RAYS[row, np.uint64(4)])
    turned |= _flips_downward(own, other, RAYS[row, np.uint64(5)])
    turned |= _flips_downward(own, other, RAYS[row, np.uint64(6)])
    turned |= _flips_downward(own, other, RAYS[row, np.uint64(7)])
    return turned


@jit
def neighbours(discs):
    """Bitboard of the squares in ``discs`` and all squares adjacent to them."""
    wide = discs | ((discs << _ACROSS) & _NOT_FILE_A) | ((discs >> _ACROSS) & _NOT_FILE_H)
    return wide | (wide << _ALONG) | (wide >> _ALONG)


@jit
def _full_lines(discs, shift, border_low, border_high):
    """Bitboard of the squares whose line, in one of the four line directions, is full: all its squares are in
    ``discs``.

    ``shift`` is the difference of square numbers between neighbours on a line. ``border_low`` and ``border_high`` are
    bitboards of the squares at the two ends of the lines.
    """
    up = discs
    down = discs
    for _ in range(7):
        up &= border_low | (up << shift)
        down &= border_high | (down >> shift)
    return up & down


_LOW_RISING = _RANK_1 | _FILE_A
_HIGH_RISING = _RANK_8 | _FILE_H
_LOW_FALLING = _RANK_1 | _FILE_H
_HIGH_FALLING = _RANK_8 | _FILE_A


@jit
def stable_discs(own, other):
    """Bitboard of discs of ``own`` that can never be flipped to ``other``. Some such discs are missed.

    A disc is stable if one of three conditions holds along each of its four lines: the line is full, the disc is at an
    end of the line, or a neighbour on the line is a stable own disc.
    """
    both = own | other
    across = _full_lines(both, _ACROSS, _FILE_A, _FILE_H) | _FILE_A | _FILE_H
    along = _full_lines(both, _ALONG, _RANK_1, _RANK_8) | _RANK_1 | _RANK_8
    rising = _full_lines(both, _RISING, _LOW_RISING, _HIGH_RISING) | _BORDER
    falling = _full_lines(both, _FALLING, _LOW_FALLING, _HIGH_FALLING) | _BORDER
    stable = own & across & along & rising & falling
    while True:
        before = stable
        # Shifts wrap at the border, but border squares are stable in these directions anyway.
        wide = across | (stable << _ACROSS) | (stable >> _ACROSS)
        high = along | (stable << _ALONG) | (stable >> _ALONG)
        up = rising | (stable << _RISING) | (stable >> _RISING)
        down = falling | (stable << _FALLING) | (stable >> _FALLING)
        stable |= own & wide & high & up & down
        if stable == before:
            return stable


@jit
def edge_stable_discs(own, other):
    """Bitboard of discs of ``own`` on edges that ``other`` cannot flip along the edge.

    These are the discs on a full edge, and the discs connected along an edge to a corner held by ``own``; corners are
    included.
    """
    run = own & CORNERS
    for _ in range(6):
        across = ((run << _ACROSS) & _NOT_FILE_A) | ((run >> _ACROSS) & _NOT_FILE_H)
        along = (run << _ALONG) | (run >> _ALONG)
        run |= own & ((across & (_RANK_1 | _RANK_8)) | (along & (_FILE_A | _FILE_H)))
    both = own | other
    full = NONE
    if both & _RANK_1 == _RANK_1:
        full |= _RANK_1
    if both & _RANK_8 == _RANK_8:
        full |= _RANK_8
    if both & _FILE_A == _FILE_A:
        full |= _FILE_A
    if both & _FILE_H == _FILE_H:
        full |= _FILE_H
    return run | (own & full)
