"""Whether a given piece could capture on a given square: for exchanges and for the chase rule.

A piece's own general's safety is not looked at here (see ``moves.is_safe``), nor what stands on the target.
"""

from __future__ import annotations

import numpy as np

from engine.games.xiangqi.moves import file_line, rank_bits, rank_line
from engine.games.xiangqi.position import (
    ADVISOR,
    ADVISOR_MASKS,
    BIT_OF,
    CANNON,
    CANNON_SHIFT,
    ELEPHANT,
    ELEPHANT_EYES,
    ELEPHANT_TARGETS,
    FILE_OF,
    GENERAL_TARGETS,
    HALF_OF,
    HORSE,
    HORSE_MASKS,
    NOWHERE,
    PAWN,
    PAWN_MASKS,
    RANK_OF,
    ROOK,
    ROOK_SHIFT,
    SLOT_TYPE,
)
from engine.kernel import jit



@jit
def major_attacks(state, attacker, target):
    """Whether the rook, horse or cannon in slot ``attacker`` could capture on ``target``."""
    origin = np.int64(state.square[attacker])
    kind = SLOT_TYPE[attacker]
    rank = np.int64(RANK_OF[origin])
    file = np.int64(FILE_OF[origin])
    if kind == HORSE:
        along_rank = rank_bits(state, 0, rank) | rank_bits(state, 1, rank)
        along_file = np.int64(state.file_bits[0, file]) | np.int64(state.file_bits[1, file])
        blocked = (((along_rank << 1) >> file) & 5) | ((((along_file << 1) >> rank) & 5) << 1)
        return HORSE_MASKS[origin, blocked, HALF_OF[target]] & BIT_OF[target] != 0
    shift = ROOK_SHIFT if kind == ROOK else CANNON_SHIFT
    if RANK_OF[target] == rank:
        return (rank_line(state, rank, file) >> shift) & (1 << np.int64(FILE_OF[target])) != 0
    if FILE_OF[target] == file:
        return (file_line(state, rank, file) >> shift) & (1 << np.int64(RANK_OF[target])) != 0
    return False


@jit
def _steps_to(state, slot, at, target):
    """Whether a general, advisor, elephant or pawn could capture on ``target``."""
    side = (slot >> 4) - 1
    kind = SLOT_TYPE[slot]
    if kind == PAWN:
        return PAWN_MASKS[side, at, HALF_OF[target]] & BIT_OF[target] != 0
    if kind == ADVISOR:
        return ADVISOR_MASKS[at, HALF_OF[target]] & BIT_OF[target] != 0
    index = 0
    if kind == ELEPHANT:
        while ELEPHANT_TARGETS[at, index] != NOWHERE:
            if ELEPHANT_TARGETS[at, index] == target and state.board[ELEPHANT_EYES[at, index]] == 0:
                return True
            index += 1
        return False
    while GENERAL_TARGETS[at, index] != NOWHERE:
        if GENERAL_TARGETS[at, index] == target:
            return True
        index += 1
    return False


@jit
def reaches(state, slot, at, target):
    """Whether any piece, in its own way of moving, could capture on ``target``."""
    kind = SLOT_TYPE[slot]
    if kind == HORSE or kind == ROOK or kind == CANNON:
        return major_attacks(state, slot, target)
    return _steps_to(state, slot, at, target)
