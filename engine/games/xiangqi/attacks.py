"""Tests whether a piece could capture on a square. Used for static exchange evaluation and the chase rule.

The tests ignore whether the capturing side's general is safe, and which piece stands on the target square.
"""

from __future__ import annotations

import numpy as np

from elolab.engine.compiled.kernel import jit
from elolab.engine.games.xiangqi.moves import blocked_legs, file_index, rank_index
from elolab.engine.games.xiangqi.position import (
    ADVISOR,
    ADVISOR_MASKS,
    BIT_OF,
    CANNON,
    CANNON_SHIFT,
    DOWNWARD_SHIFT,
    ELEPHANT,
    ELEPHANT_MASKS,
    FILE_MET,
    FILE_OF,
    FILE_REACH,
    FIRST_ADVISOR,
    FIRST_CANNON,
    FIRST_ELEPHANT,
    FIRST_HORSE,
    FIRST_PAWN,
    FIRST_ROOK,
    GENERAL_TARGETS,
    HALF_OF,
    HORSE,
    HORSE_LEG_BETWEEN,
    HORSE_MASKS,
    NONE,
    NOWHERE,
    PAWN,
    PAWN_MASKS,
    RANK_MET,
    RANK_OF,
    RANK_REACH,
    ROOK,
    ROOK_SHIFT,
    SLIDE_MASK,
    SLOT_BITS,
    SLOT_TYPE,
    SQUARE_BITS,
    SQUARES,
    UPWARD_SHIFT,
)


@jit
def major_attacks(state, attacker, target):
    """Whether a rook, horse or cannon could capture on the square ``target``.

    ``attacker`` is the capturing piece's slot, a number that identifies the piece: 16 to 31 for Red's pieces, 32 to 47
    for Black's.
    """
    origin = np.int64(state.square[attacker])
    kind = SLOT_TYPE[attacker]
    rank = np.int64(RANK_OF[origin])
    file = np.int64(FILE_OF[origin])
    if kind == HORSE:
        return HORSE_MASKS[origin, blocked_legs(state, origin), HALF_OF[target]] & BIT_OF[target] != 0
    shift = ROOK_SHIFT if kind == ROOK else CANNON_SHIFT
    if RANK_OF[target] == rank:
        return (np.int64(RANK_REACH[rank_index(state, rank, file)]) >> shift) & (1 << np.int64(FILE_OF[target])) != 0
    if FILE_OF[target] == file:
        return (np.int64(FILE_REACH[file_index(state, rank, file)]) >> shift) & (1 << np.int64(RANK_OF[target])) != 0
    return False


@jit
def slides_to(state, origin, target):
    """Whether ``target`` lies on a rank or file with ``origin`` and nothing stands on it or in between."""
    rank = np.int64(RANK_OF[origin])
    file = np.int64(FILE_OF[origin])
    if RANK_OF[target] == rank:
        return np.int64(RANK_REACH[rank_index(state, rank, file)]) & SLIDE_MASK & (1 << np.int64(FILE_OF[target])) != 0
    if FILE_OF[target] == file:
        return np.int64(FILE_REACH[file_index(state, rank, file)]) & SLIDE_MASK & (1 << np.int64(RANK_OF[target])) != 0
    return False


@jit
def _steps_to(state, slot, at, target):
    """Whether a general, advisor, elephant or pawn, standing on square ``at``, could capture on ``target``.

    ``slot`` is the piece's slot, a number that identifies the piece: 16 to 31 for Red's, 32 to 47 for Black's.
    """
    side = (slot >> 4) - 1
    kind = SLOT_TYPE[slot]
    if kind == PAWN:
        return PAWN_MASKS[side, at, HALF_OF[target]] & BIT_OF[target] != 0
    if kind == ADVISOR:
        return ADVISOR_MASKS[at, HALF_OF[target]] & BIT_OF[target] != 0
    if kind == ELEPHANT:
        # The eye lies half way.
        near = ELEPHANT_MASKS[at, HALF_OF[target]] & BIT_OF[target] != 0
        return near and state.board[(at + target) >> 1] == 0
    index = 0
    while GENERAL_TARGETS[at, index] != NOWHERE:
        if GENERAL_TARGETS[at, index] == target:
            return True
        index += 1
    return False


@jit
def reaches(state, slot, at, target):
    """Whether a piece of any type, standing on square ``at``, could capture on ``target``.

    ``slot`` is the piece's slot, a number that identifies the piece: 16 to 31 for Red's, 32 to 47 for Black's.
    """
    kind = SLOT_TYPE[slot]
    if kind == HORSE or kind == ROOK or kind == CANNON:
        return major_attacks(state, slot, target)
    return _steps_to(state, slot, at, target)


@jit
def _slider_on(state, line, start, step, base, kind):
    """Piece slot of a rook or cannon (``kind``) of one side that attacks a square along a line; 0 if there is none.

    An attacking rook is the first piece on the line, seen from the square; a cannon is the second. ``line`` is the
    square's entry in ``RANK_MET`` or ``FILE_MET`` (module ``position``). Square number p of the line is ``start`` + p *
    ``step``. ``base`` is the side's first slot, 16 or 32.
    """
    place = 0 if kind == ROOK else 4
    for shift in (UPWARD_SHIFT, DOWNWARD_SHIFT):
        met = (line >> (shift + place)) & 15
        if met != NONE:
            slot = np.int64(state.board[(start + met * step) & SQUARE_BITS])
            if slot & base and SLOT_TYPE[slot] == kind:
                return slot
    return 0


@jit
def _pawn_attacker(state, side, base, target):
    """Piece slot of a pawn of ``side`` that could capture on ``target``; 0 if there is none.

    ``base`` is the side's first slot, 16 or 32.
    """
    pawns = base + FIRST_PAWN
    behind = target - 9 + 18 * side
    if 0 <= behind < SQUARES:
        slot = np.int64(state.board[behind])
        if slot >= pawns and slot < pawns + 5:
            return slot
    if HALF_OF[target] != side:
        file = np.int64(FILE_OF[target])
        if file > 0:
            slot = np.int64(state.board[target - 1])
            if slot >= pawns and slot < pawns + 5:
                return slot
        if file < 8:
            slot = np.int64(state.board[target + 1])
            if slot >= pawns and slot < pawns + 5:
                return slot
    return 0


@jit
def cheapest_attacker(state, side, target):
    """Piece slot of ``side``'s least valuable piece that could capture on ``target``; 0 if there is none.

    The order is pawn, advisor, elephant, horse, cannon, rook, general; it is the same in all tables of piece values.
    """
    side &= 1
    target &= SQUARE_BITS
    base = (side + 1) << 4
    slot = _pawn_attacker(state, side, base, target)
    if slot != 0:
        return slot
    if HALF_OF[target] == side:
        bit = BIT_OF[target]
        for slot in (base + FIRST_ADVISOR, base + FIRST_ADVISOR + 1):
            if ADVISOR_MASKS[state.square[slot], side] & bit != 0:
                return slot
        for slot in (base + FIRST_ELEPHANT, base + FIRST_ELEPHANT + 1):
            at = np.int64(state.square[slot])
            if ELEPHANT_MASKS[at, side] & bit != 0 and state.board[(at + target) >> 1] == 0:
                return slot
    for slot in (base + FIRST_HORSE, base + FIRST_HORSE + 1):
        leg = np.int64(HORSE_LEG_BETWEEN[state.square[slot], target])
        if leg != 255 and state.board[leg] == 0:
            return slot
    rank = np.int64(RANK_OF[target])
    file = np.int64(FILE_OF[target])
    for kind, first in ((CANNON, FIRST_CANNON), (ROOK, FIRST_ROOK)):
        one = np.int64(state.square[base + first])
        two = np.int64(state.square[base + first + 1])
        if RANK_OF[one] == rank or RANK_OF[two] == rank:
            line = np.int64(RANK_MET[rank_index(state, rank, file)])
            slot = _slider_on(state, line, rank * 9, 1, base, kind)
            if slot != 0:
                return slot
        if FILE_OF[one] == file or FILE_OF[two] == file:
            line = np.int64(FILE_MET[file_index(state, rank, file)])
            slot = _slider_on(state, line, file, 9, base, kind)
            if slot != 0:
                return slot
    general = np.int64(state.square[base])
    if general != NOWHERE and HALF_OF[target] == side and _steps_to(state, base, general, target):
        return base
    return 0


@jit
def lift(state, slot):
    """Remove a piece, given its piece slot, from the board during a static exchange; ``drop`` puts it back.

    The state's incremental sums and hash are not updated.
    """
    slot &= SLOT_BITS
    at = np.int64(state.square[slot])
    side = ((slot >> 4) - 1) & 1
    state.square[slot] = NOWHERE
    state.board[at] = 0
    state.occupied[side, HALF_OF[at]] ^= BIT_OF[at]
    state.file_bits[side, FILE_OF[at]] ^= 1 << RANK_OF[at]


@jit
def drop(state, slot, at):
    """Put a piece that ``lift`` has removed, given its piece slot, back on square ``at``."""
    slot &= SLOT_BITS
    side = ((slot >> 4) - 1) & 1
    state.square[slot] = at
    state.board[at] = slot
    state.occupied[side, HALF_OF[at]] ^= BIT_OF[at]
    state.file_bits[side, FILE_OF[at]] ^= 1 << RANK_OF[at]
