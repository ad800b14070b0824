"""Positions to ask programs for moves in, from fewer random games than an examination looks through."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import pytest

from elolab.arena.checking import examination, positions

FEW_GAMES = 8
"""Enough for a position of each kind (``test_positions.py`` is about those of all games)."""


@functools.cache
def few_positions_of(name: str) -> positions.SamplePositions:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(positions, "GAMES", FEW_GAMES)
        return positions.positions_of.__wrapped__(name)


@pytest.fixture(autouse=True, scope="module")
def few_positions() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(examination, "positions_of", few_positions_of)
        yield
