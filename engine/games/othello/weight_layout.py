"""Memory layout of Othello's evaluation weights for compiled code."""

from __future__ import annotations

import numpy as np

from elolab.engine.games.othello.patterns import packed, weight_count
from elolab.engine.settings.configuration import ConfigurationError
from elolab.engine.settings.weights import Weights, pattern_rows, steps_of

MARK = np.uint64(0x4F74_6865_6C6C_6F31)
"""First word of the array of weights. It identifies the game, so that compiled code ignores weights of another game."""
FIRST_WEIGHT = 3
"""Index of the first weight in the array.

The words before it are ``MARK``, the address of the pattern weights, and the number of phases of the pattern weights.
The last two are 0 without patterns.
"""

_PATTERNS: dict[str, np.ndarray] = {}
"""Arrays of pattern weights, by digest. Compiled code has only their addresses, so this dictionary keeps them alive."""


def kernel_words(weights: Weights, where: str) -> np.ndarray:
    """Convert a file of weights to the array for compiled code: uint64, in two's complement.

    It holds ``MARK``, the address and the number of phases of the pattern weights, and then the weights of each step of
    a game. Raises ``ConfigurationError``, which names the file as ``where``, if the number of pattern weights does not
    match the compiled code.
    """
    address = 0
    if weights.pattern_phases:
        rows = pattern_rows(weights)
        if rows.shape[1] != weight_count():
            raise ConfigurationError(
                f"{where}: patterns: {rows.shape[1]} weights in a phase, expected {weight_count()}", "fit them again"
            )
        # Never replaced: other word arrays may hold the address of the existing array.
        if weights.digest not in _PATTERNS:
            _PATTERNS[weights.digest] = packed(rows)
        address = _PATTERNS[weights.digest].ctypes.data
    head = np.array([MARK, address, weights.pattern_phases], np.uint64)
    return np.concatenate([head, steps_of(weights).reshape(-1).view(np.uint64)])
