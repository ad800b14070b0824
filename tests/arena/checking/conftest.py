"""Positions to ask programs for moves in, from fewer random games than an examination looks through."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import pytest

from elolab.arena.checking import examination, sample_positions

FEW_GAMES = 8
"""Enough for a position of each kind (``test_sample_positions.py`` is about those of all games)."""


@functools.cache
def few_positions_of(name: str) -> sample_positions.SamplePositions:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sample_positions, "GAMES", FEW_GAMES)
        return sample_positions.positions_of.__wrapped__(name)


@pytest.fixture(autouse=True, scope="module")
def few_positions() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(examination, "positions_of", few_positions_of)
        yield
