"""Chess on bitboards: squares, masks, and the squares that pieces attack.

A board is a uint64: bit 0 is a1, bit 7 h1, bit 63 h8. Sliding pieces need no large tables: on each of the four lines
through a square, a subtraction finds the first piece in both directions.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from elolab.engine.compiled.kernel import add_words, jit, jit_inlined, leading_zeros

WHITE, BLACK = 0, 1
PAWN, KNIGHT, BISHOP, ROOK, QUEEN, KING = range(6)
SQUARES = 64
NO_SQUARE = 64

ONE = np.uint64(1)
NONE = np.uint64(0)
_HIGHEST_BIT = np.uint64(1 << 63)
_ALL_BITS = np.uint64((1 << 64) - 1)
_SQUARE_BITS = np.uint64(63)

FILES = np.array([0x0101_0101_0101_0101 << file for file in range(8)], np.uint64)
"""Bitboard of each file."""
RANKS = np.array([0xFF << 8 * rank for rank in range(8)], np.uint64)
"""Bitboard of each rank."""
_NOT_FILE_A = np.uint64(0xFEFE_FEFE_FEFE_FEFE)
_NOT_FILE_H = np.uint64(0x7F7F_7F7F_7F7F_7F7F)
_SEVEN, _EIGHT, _NINE = np.uint64(7), np.uint64(8), np.uint64(9)

BITS = np.array([1 << square for square in range(SQUARES)] + [0], np.uint64)
"""Bit of each square; 0 for ``NO_SQUARE``."""

_DIRECTIONS = ((1, 0), (0, 1), (1, 1), (-1, 1))
"""Steps (files, ranks) along rank, file and both diagonals, each towards higher square numbers."""
_KNIGHT_STEPS = ((1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2))
_KING_STEPS = tuple((across, up) for across in (-1, 0, 1) for up in (-1, 0, 1) if across or up)


def _walk(square: int, across: int, up: int, longest: int = 8) -> list[int]:
    """The squares that follow ``square`` in a direction, up to the board's edge, at most ``longest``.

    A step goes ``across`` files to the right and ``up`` ranks.
    """
    squares: list[int] = []
    file, rank = square % 8 + across, square // 8 + up
    while 0 <= file < 8 and 0 <= rank < 8 and len(squares) < longest:
        squares.append(rank * 8 + file)
        file, rank = file + across, rank + up
    return squares


def _bits(squares: Iterable[int]) -> int:
    return sum(1 << square for square in squares)


def _steps(steps: Iterable[tuple[int, int]]) -> np.ndarray:
    """For each square, the bitboard of the squares that a piece reaches by one of the steps (files, ranks)."""
    return np.array([sum(_bits(_walk(square, *step, 1)) for step in steps) for square in range(SQUARES)], np.uint64)


KNIGHT_ATTACKS = _steps(_KNIGHT_STEPS)
"""Bitboard of the squares that a knight attacks from each square."""
KING_ATTACKS = _steps(_KING_STEPS)
"""Bitboard of the squares that a king attacks from each square."""
PAWN_ATTACKS = np.array([_steps([(-1, up), (1, up)]) for up in (1, -1)], np.uint64)
"""Bitboard of the squares that a pawn attacks, by side and square of the pawn: shape (2, 64)."""

_LOWER = np.array([[_bits(_walk(s, -a, -u)) for a, u in _DIRECTIONS] for s in range(SQUARES)], np.uint64)
"""For each square and each line through it, the bitboard of the line's squares with lower numbers: shape (64, 4).

The four lines are rank, file, rising diagonal and falling diagonal.
"""
_UPPER = np.array([[_bits(_walk(s, a, u)) for a, u in _DIRECTIONS] for s in range(SQUARES)], np.uint64)
"""For each square and each line through it, the bitboard of the line's squares with higher numbers; see ``_LOWER``."""

ROOK_LINES = np.array([_LOWER[s, 0] | _LOWER[s, 1] | _UPPER[s, 0] | _UPPER[s, 1] for s in range(SQUARES)], np.uint64)
"""Bitboard of the squares that a rook attacks from each square of an empty board."""
BISHOP_LINES = np.array([_LOWER[s, 2] | _LOWER[s, 3] | _UPPER[s, 2] | _UPPER[s, 3] for s in range(SQUARES)], np.uint64)
"""Bitboard of the squares that a bishop attacks from each square of an empty board."""


def _between() -> np.ndarray:
    table = np.zeros((SQUARES, SQUARES), np.uint64)
    for square in range(SQUARES):
        for step in _KING_STEPS:
            line = _walk(square, *step)
            for number, other in enumerate(line):
                table[square, other] = _bits(line[:number])
    return table


BETWEEN = _between()
"""Bitboard of the squares strictly between two squares, indexed by both; 0 without a common rank, file or diagonal."""


@jit_inlined
def has_several(bits):
    """Whether a word has more than one bit set."""
    return bits & add_words(bits, _ALL_BITS) != NONE


@jit_inlined
def _line_attacks(square, direction, occupied):
    """Bitboard of the squares on a line that a sliding piece attacks: in both directions, up to and including the first
    piece.

    ``direction`` is the index of the line, 0 to 3, as in ``_LOWER``; ``occupied`` are the occupied squares.
    """
    lower = _LOWER[square, direction]
    upper = _UPPER[square, direction]
    # The highest piece below the square, or the lowest bit. Subtracting it from the pieces above borrows through all
    # squares up to the first of them, and changes all squares down to it.
    below = _HIGHEST_BIT >> np.uint64(leading_zeros((lower & occupied) | ONE))
    above = upper & occupied
    return (lower | upper) & (above ^ ~add_words(~above, below))


@jit_inlined
def rook_attacks(square, occupied):
    """Bitboard of the squares that a rook on ``square`` attacks; ``occupied`` are the occupied squares."""
    at = np.uint64(square) & _SQUARE_BITS
    return _line_attacks(at, np.uint64(0), occupied) | _line_attacks(at, np.uint64(1), occupied)


@jit_inlined
def bishop_attacks(square, occupied):
    """Bitboard of the squares that a bishop on ``square`` attacks; ``occupied`` are the occupied squares."""
    at = np.uint64(square) & _SQUARE_BITS
    return _line_attacks(at, np.uint64(2), occupied) | _line_attacks(at, np.uint64(3), occupied)


@jit
def pawns_step(side, pawns):
    """Bitboard of the squares directly in front of a side's pawns."""
    return pawns << _EIGHT if side == WHITE else pawns >> _EIGHT


@jit
def pawns_attack_west(side, pawns):
    """Bitboard of the squares that a side's pawns attack towards the a-file."""
    pawns &= _NOT_FILE_A
    return pawns << _SEVEN if side == WHITE else pawns >> _NINE


@jit
def pawns_attack_east(side, pawns):
    """Bitboard of the squares that a side's pawns attack towards the h-file."""
    pawns &= _NOT_FILE_H
    return pawns << _NINE if side == WHITE else pawns >> _SEVEN


@jit
def pawns_attack(side, pawns):
    """Bitboard of the squares that a side's pawns attack."""
    return pawns_attack_west(side, pawns) | pawns_attack_east(side, pawns)
