"""Lower bound of the number of moves between two Xiangqi positions, by shortest paths on an empty board."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from elolab.engine.games.xiangqi.position import (
    ADVISOR,
    ADVISOR_MASKS,
    ALIGNED,
    BITS_IN_HALF,
    ELEPHANT,
    ELEPHANT_MASKS,
    GENERAL,
    GENERAL_MASKS,
    HORSE,
    HORSE_ORIGIN_MASKS,
    NOWHERE,
    PAWN,
    PAWN_MASKS,
    SLOT_TYPE,
    SQUARES,
)

OUT_OF_REACH = 1_000
"""Stands for an infinite number of moves: the piece can never reach the square."""
_MASKS = {GENERAL: GENERAL_MASKS, ADVISOR: ADVISOR_MASKS, ELEPHANT: ELEPHANT_MASKS, HORSE: HORSE_ORIGIN_MASKS}
_KINDS = SLOT_TYPE.tolist()


def moves_missing(state: Any, target: Any) -> int | None:
    """Lower bound of the number of plies from a state to a target position.

    For each square on which the state lacks the target's piece, the bound includes the moves of the nearest piece of
    that type. For each surplus piece it includes one capture. ``None`` if the target has more pieces of some type than
    the state.
    """
    here, there = _squares_by_kind(state), _squares_by_kind(target)
    moves, captures = [0, 0], [0, 0]
    for (side, kind), squares in here.items():
        wanted = there[side, kind]
        surplus = len(squares) - len(wanted)
        if surplus < 0:
            return None
        captures[1 - side] += surplus
        for end in wanted - squares:
            moves[side] += min(_distances(side, kind, square).get(end, OUT_OF_REACH) for square in squares)
    own, other = (max(moves[side], captures[side]) for side in (int(state.side), 1 - int(state.side)))
    return max(2 * own - 1, 2 * other)


def _squares_by_kind(state: Any) -> dict[tuple[int, int], set[int]]:
    """Squares of the pieces, by (side, type)."""
    found: dict[tuple[int, int], set[int]] = {(side, kind): set() for side in range(2) for kind in range(PAWN + 1)}
    for slot, square in enumerate(state.square.tolist()):
        if slot >= 16 and square != NOWHERE:
            found[(slot >> 4) - 1, _KINDS[slot]].add(square)
    return found


@functools.cache
def _distances(side: int, kind: int, origin: int) -> dict[int, int]:
    """Number of moves that a piece of type ``kind`` needs from ``origin`` on an empty board, by reachable square."""
    found, edge = {origin: 0}, [origin]
    while edge:
        reached = {end for square in edge for end in _targets(side, kind, square)} - found.keys()
        found |= dict.fromkeys(reached, found[edge[0]] + 1)
        edge = list(reached)
    return found


def _targets(side: int, kind: int, square: int) -> list[int]:
    """Squares that a piece of type ``kind`` can reach from ``square`` in one move on an empty board."""
    if kind in _MASKS or kind == PAWN:
        masks = PAWN_MASKS[side] if kind == PAWN else _MASKS[kind]
        reached = (BITS_IN_HALF & masks[square][:, None]).any(axis=0)
    else:
        reached = ALIGNED[square] != 0
    return [int(end) for end in np.flatnonzero(reached[:SQUARES])]
