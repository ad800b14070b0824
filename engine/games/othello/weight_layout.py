"""How the kernels of Othello read the weights of their evaluation."""

from __future__ import annotations

import numpy as np

from elolab.engine.games.othello.patterns import packed, weight_count
from elolab.engine.settings.configuration import ConfigurationError
from elolab.engine.settings.weights import Weights, pattern_rows, steps_of

MARK = np.uint64(0x4F74_6865_6C6C_6F31)
"""The first word: weights of another game are left alone."""
FIRST_WEIGHT = 3
"""Behind the mark, the address of the patterns' weights, and the number of their phases (both 0 without patterns)."""

_PATTERNS: dict[str, np.ndarray] = {}
"""Every array of patterns whose address stands in words, by digest; they live with the process."""


def kernel_words(weights: Weights, where: str) -> np.ndarray:
    """The mark, the patterns' address and phases, and the weights of each step in turn, as two's complement uint64.

    Raises ``ConfigurationError`` if the patterns are not of the size that the kernels know.
    """
    address = 0
    if weights.pattern_phases:
        rows = pattern_rows(weights)
        if rows.shape[1] != weight_count():
            raise ConfigurationError(
                f"{where}: patterns: {rows.shape[1]} weights in a phase, expected {weight_count()}; fit them again"
            )
        # Never replaced: other words may hold the address of what is there.
        if weights.digest not in _PATTERNS:
            _PATTERNS[weights.digest] = packed(rows)
        address = _PATTERNS[weights.digest].ctypes.data
    head = np.array([MARK, address, weights.pattern_phases], np.uint64)
    return np.concatenate([head, steps_of(weights).reshape(-1).view(np.uint64)])
