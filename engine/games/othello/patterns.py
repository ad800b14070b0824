"""Patterns of Othello's evaluation: small sets of squares with a weight for each occupation.

An occupation index is a number in base three, with one digit per square: 0 for an empty square, 1 for a disc of the
side to move, 2 for a disc of the other side. A pattern applies in all rotations and reflections, which share one table.
If a reflection maps a pattern onto itself, mirrored occupations share one weight. So the evaluation is the same for all
rotations and reflections of a position. The choice of edges, corners, lines and diagonals follows Buro's Logistello.
"""

from __future__ import annotations

import functools

import numpy as np


def _squares(names: str) -> tuple[int, ...]:
    return tuple("abcdefgh".index(name[0]) + 8 * (int(name[1]) - 1) for name in names.split())


PATTERNS: dict[str, tuple[int, ...]] = {
    "edge with X squares": _squares("a1 b1 c1 d1 e1 f1 g1 h1 b2 g2"),
    "corner, 3 by 3": _squares("a1 b1 c1 a2 b2 c2 a3 b3 c3"),
    "corner, 2 by 5": _squares("a1 b1 c1 d1 e1 a2 b2 c2 d2 e2"),
    "second rank": _squares("a2 b2 c2 d2 e2 f2 g2 h2"),
    "third rank": _squares("a3 b3 c3 d3 e3 f3 g3 h3"),
    "fourth rank": _squares("a4 b4 c4 d4 e4 f4 g4 h4"),
    "diagonal of 8": _squares("a1 b2 c3 d4 e5 f6 g7 h8"),
    "diagonal of 7": _squares("b1 c2 d3 e4 f5 g6 h7"),
    "diagonal of 6": _squares("c1 d2 e3 f4 g5 h6"),
    "diagonal of 5": _squares("d1 e2 f3 g4 h5"),
    "diagonal of 4": _squares("e1 f2 g3 h4"),
}
"""Squares of each pattern in one orientation, by pattern name.

A pattern's index is a number in base 3 with one digit per square; the first square is the lowest digit.
"""

RANKS = 8
BYTES = 256
LANES = 48
"""Number of pattern instances, rounded up to fill whole vector registers of the processor."""


def _images(squares: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The eight rotations and reflections of a pattern's squares; the first is the pattern itself."""
    places = [(square % 8, square // 8) for square in squares]
    found = []
    for swapped in (False, True):
        for across in (False, True):
            for down in (False, True):
                turned = [(rank, file) if swapped else (file, rank) for file, rank in places]
                turned = [(7 - file if across else file, 7 - rank if down else rank) for file, rank in turned]
                found.append(tuple(file + 8 * rank for file, rank in turned))
    return found


def _instances() -> tuple[tuple[int, tuple[int, ...]], ...]:
    """All distinct rotations and reflections of all patterns, each as the pattern's index in ``PATTERNS`` and its
    squares.

    The first square is the lowest digit of the occupation index.
    """
    found = []
    for number, squares in enumerate(PATTERNS.values()):
        seen = set()
        for image in _images(squares):
            if frozenset(image) not in seen:
                seen.add(frozenset(image))
                found.append((number, image))
    return tuple(found)


INSTANCES = _instances()
SIZES = tuple(3 ** len(squares) for squares in PATTERNS.values())
STARTS = tuple(int(start) for start in np.cumsum((0, *SIZES[:-1])))
"""Index of each pattern's first occupation in the table of all occupations, by the pattern's index in ``PATTERNS``."""
OCCUPATIONS = sum(SIZES)
STRIDE = (OCCUPATIONS + 3) // 4 * 4
"""Number of 16-bit pattern weights of one phase in compiled code, padded to fill whole 64-bit words."""
INSTANCE_STARTS = np.array([STARTS[number] for number, _ in INSTANCES] + [0] * (LANES - len(INSTANCES)), np.uint64)


def _digit_values() -> np.ndarray:
    """Contribution of the discs on a rank to the occupation index of each pattern instance.

    The discs of one side on a rank are a byte. The result is a flat uint16 array, indexed by rank, byte and instance.
    The values are for discs of the side to move; a disc of the other side contributes twice as much.
    """
    values = np.zeros((RANKS, BYTES, LANES), np.uint16)
    for lane, (_, squares) in enumerate(INSTANCES):
        for digit, square in enumerate(squares):
            occupied = (np.arange(BYTES) >> (square % 8)) & 1
            values[square // 8, :, lane] += (occupied * 3**digit).astype(np.uint16)
    return values.reshape(-1)


DIGIT_VALUES = _digit_values()


@functools.cache
def weight_numbers() -> np.ndarray:
    """Index of the weight for each occupation: int32 of shape (OCCUPATIONS,). Mirrored occupations of a symmetric
    pattern have the same index.
    """
    numbers = np.empty(OCCUPATIONS, np.int32)
    used = 0
    for start, size, squares in zip(STARTS, SIZES, PATTERNS.values(), strict=True):
        occupations = np.arange(size)
        digits = [occupations // 3**place % 3 for place in range(len(squares))]
        least = occupations
        for image in _images(squares):
            if set(image) == set(squares):
                # The square of digit ``place`` has moved to where another digit is read.
                moved = sum(digits[place] * 3 ** squares.index(image[place]) for place in range(len(squares)))
                least = np.minimum(least, moved)
        kept, inverse = np.unique(least, return_inverse=True)
        numbers[start : start + size] = used + inverse
        used += len(kept)
    return numbers


@functools.cache
def weight_count() -> int:
    """Number of distinct pattern weights in one phase."""
    return int(weight_numbers().max()) + 1


def packed(weights: np.ndarray) -> np.ndarray:
    """Pack weights (int16 of shape (phases, weight_count())) for compiled code: four weights in each uint64."""
    table = np.zeros((len(weights), STRIDE), "<i2")
    table[:, :OCCUPATIONS] = weights[:, weight_numbers()]
    return np.ascontiguousarray(table).view("<u8").astype(np.uint64).reshape(-1)
