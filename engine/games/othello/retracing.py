"""Search for moves that lead from the start of the game to a given position.

A forward search that plays only on squares occupied in the target and visits no position twice. It succeeds quickly
with few discs; with many it gives up.
"""

from __future__ import annotations

import functools

from elolab.engine.games.othello.notation import START, parse_position, square_name

MAX_POSITIONS = 200_000
"""Positions visited before the search gives up, after a few seconds."""

_FULL = (1 << 64) - 1
_NOT_FIRST_FILE = 0xFEFE_FEFE_FEFE_FEFE
_NOT_LAST_FILE = 0x7F7F_7F7F_7F7F_7F7F
# Shifts towards a higher square with the squares that a step in that direction may reach, then towards a lower one.
_DIRECTIONS = (
    (1, _NOT_FIRST_FILE), (8, _FULL), (9, _NOT_FIRST_FILE), (7, _NOT_LAST_FILE),
    (-1, _NOT_LAST_FILE), (-8, _FULL), (-9, _NOT_LAST_FILE), (-7, _NOT_FIRST_FILE),
)  # fmt: skip

Position = tuple[int, int, int]
"""Discs of the side to move, discs of the other, and which side is to move (0: Black)."""


@functools.lru_cache(maxsize=4096)
def moves_to(text: str) -> tuple[str, ...] | None:
    """Moves, passes included, from the start of the game to a position; ``None`` if none were found.

    Raises ``PositionError`` for an invalid text.
    """
    target = _read(text)
    path: list[str] = []
    seen: set[Position] = set()
    return tuple(path) if _reach(_read(START), target, seen, path) else None


def _read(text: str) -> Position:
    state = parse_position(text)
    side = int(state.side)
    return int(state.discs[side]), int(state.discs[1 - side]), side


def _reach(position: Position, target: Position, seen: set[Position], path: list[str]) -> bool:
    """Whether the target was reached; appends the moves to ``path``, and adds visited positions to ``seen``."""
    if position == target:
        return True
    if position in seen or len(seen) >= MAX_POSITIONS:
        return False
    seen.add(position)
    own, other, side = position
    wanted = (target[0] | target[1]) & ~(own | other)
    may_move = False
    for square in range(64):
        bit = 1 << square
        if (own | other) & bit:
            continue
        if not wanted & bit and may_move:
            continue
        turned = _turned(own, other, bit)
        if not turned:
            continue
        may_move = True
        if wanted & bit:
            path.append(square_name(square))
            if _reach((other ^ turned, own | turned | bit, 1 - side), target, seen, path):
                return True
            path.pop()
    if not may_move and _can_move(other, own):
        path.append("pass")
        if _reach((other, own, 1 - side), target, seen, path):
            return True
        path.pop()
    return False


def _can_move(own: int, other: int) -> bool:
    return any(_turned(own, other, 1 << square) for square in range(64) if not (own | other) >> square & 1)


def _turned(own: int, other: int, bit: int) -> int:
    """Discs that an own disc placed on an empty square flips."""
    turned = 0
    for shift, allowed in _DIRECTIONS:
        line, disc = 0, _step(bit, shift) & allowed
        while disc & other:
            line |= disc
            disc = _step(disc, shift) & allowed
        if disc & own:
            turned |= line
    return turned


def _step(disc: int, shift: int) -> int:
    return (disc << shift if shift > 0 else disc >> -shift) & _FULL
