"""What the full evaluation sees beside pieces on squares: counted terms, each with a weight by phase.

What each term is, ``engine.settings.features.XIANGQI_TERMS`` says.
The kernels write how much of each term Red has more than Black into the state; the evaluation is their product with the
weights of the position's phase. Counting and weighing are apart, so that weights can be fitted to games.
"""

from __future__ import annotations

import numpy as np

from engine.compiled.kernel import jit, lowest_bit, popcount
from engine.games.xiangqi.moves import blocked_legs, file_index, rank_bits, rank_index
from engine.games.xiangqi.position import (
    ADVISOR,
    ALIGNED,
    BIT_OF,
    CANNON,
    CANNON_SHIFT,
    DOWNWARD_SHIFT,
    ELEPHANT,
    FILE_MET,
    FILE_OF,
    FILE_REACH,
    FIRST_CANNON,
    FIRST_HORSE,
    FIRST_PAWN,
    FIRST_ROOK,
    HALF_OF,
    HALF_SQUARES,
    HORSE,
    HORSE_MASKS,
    NONE,
    NOWHERE,
    PAWN_MASKS,
    PHASES,
    RANK_MET,
    RANK_OF,
    RANK_REACH,
    ROOK,
    ROOK_SHIFT,
    SLIDE_MASK,
    SLOT_TYPE,
    SQUARE_BITS,
    SQUARES,
    TERM_COUNT,
    UPWARD_SHIFT,
    in_palace,
)

(
    ROOK_MOBILITY, CANNON_MOBILITY, HORSE_MOBILITY, ROOK_ON_PALACE, CANNON_ON_PALACE, HORSE_ON_PALACE, PAWN_ON_PALACE,
    SECOND_ATTACKER, THIRD_ATTACKER, OPEN_CANNON, BOTTOM_CANNON, BOUND_TO_ROOK, BOUND_TO_CANNON, ATTACK_ON_ROOK,
    ATTACK_ON_MINOR, LINKED_PAWNS, BLOCKED_PAWN, ROOK_ON_BARE_PALACE, HORSE_ON_BARE_PALACE,
    CANNON_ON_BARE_RIVER, NO_ATTACKER,
) = range(TERM_COUNT)  # fmt: skip
FIRST_OF_PIECES = ROOK_ON_BARE_PALACE

_PALACE_FILES = 0b000111000
_PALACE_RANKS = (0b1110000000, 0b0000000111)
"""Ranks of the palace that a side attacks, as bits of a file."""
_PALACE_SQUARES = [
    sum(int(BIT_OF[square]) for square in range(SQUARES) if in_palace(square) and HALF_OF[square] == 1 - side)
    for side in range(2)
]
FULL_MATERIAL = 9600
"""Centipawns of both sides at the start, generals not counted."""

PALACE_MASKS = np.array(_PALACE_SQUARES, np.int64)
"""The palace that a side attacks, as bits of the half it lies in (half 1 for Red)."""


@jit
def _lines_of_general(state, side, sign):
    """Cannons and rooks that look at ``side``'s general, and the pieces they bind; counted for the other side."""
    side &= 1
    base = (side + 1) << 4
    enemy = 48 - base
    general = np.int64(state.square[base])
    rank = np.int64(RANK_OF[general])
    file = np.int64(FILE_OF[general])
    first_slider = enemy + FIRST_ROOK
    lines = ALIGNED[general, state.square[first_slider]] | ALIGNED[general, state.square[first_slider + 1]]
    lines |= ALIGNED[general, state.square[first_slider + 2]] | ALIGNED[general, state.square[first_slider + 3]]
    for vertical in range(2):
        if (lines >> vertical) & 1 == 0:
            continue
        if vertical:
            line = np.int64(FILE_MET[file_index(state, rank, file)])
            start, step = file, 9
        else:
            line = np.int64(RANK_MET[rank_index(state, rank, file)])
            start, step = rank * 9, 1
        for shift in (UPWARD_SHIFT, DOWNWARD_SHIFT):
            first = (line >> shift) & 15
            if first == NONE:
                continue
            one = np.int64(state.board[(start + first * step) & SQUARE_BITS])
            if one & enemy:
                if SLOT_TYPE[one] == CANNON:
                    state.terms[OPEN_CANNON if vertical else BOTTOM_CANNON] += sign
                continue
            second = (line >> (shift + 4)) & 15
            if second == NONE:
                continue
            two = np.int64(state.board[(start + second * step) & SQUARE_BITS])
            if two & enemy:
                if SLOT_TYPE[two] == ROOK:
                    state.terms[BOUND_TO_ROOK] += sign
                continue
            third = (line >> (shift + 8)) & 15
            if third == NONE:
                continue
            three = np.int64(state.board[(start + third * step) & SQUARE_BITS])
            if three & enemy and SLOT_TYPE[three] == CANNON:
                state.terms[BOUND_TO_CANNON] += sign


@jit
def _count_threats(state, mask, start, step, sign):
    """Add the rooks, horses and cannons among the enemy pieces on the squares start + bit * step of ``mask``."""
    while mask != 0:
        kind = SLOT_TYPE[state.board[(start + lowest_bit(mask) * step) & SQUARE_BITS]]
        mask &= mask - 1
        if kind == ROOK:
            state.terms[ATTACK_ON_ROOK] += sign
        elif kind == CANNON or kind == HORSE:
            state.terms[ATTACK_ON_MINOR] += sign


@jit
def _count_side(state, side, sign):
    """Add one side's terms with its sign."""
    side &= 1
    base = (side + 1) << 4
    enemy = 1 - side  # also the half of the board that is the enemy's
    palace = PALACE_MASKS[side]
    palace_ranks = _PALACE_RANKS[side]
    attackers = 0

    mobility = 0
    on_palace = 0
    for slot in (base + FIRST_ROOK, base + FIRST_ROOK + 1):
        at = np.int64(state.square[slot])
        if at == NOWHERE:
            continue
        rank = np.int64(RANK_OF[at])
        file = np.int64(FILE_OF[at])
        along_rank = np.int64(RANK_REACH[rank_index(state, rank, file)])
        along_file = np.int64(FILE_REACH[file_index(state, rank, file)])
        mobility += popcount((along_rank & SLIDE_MASK) | (along_file & SLIDE_MASK) << 10)
        attacked = 0
        if (palace_ranks >> rank) & 1:
            attacked = popcount((along_rank | (along_rank >> ROOK_SHIFT)) & _PALACE_FILES)
        if (_PALACE_FILES >> file) & 1:
            attacked += popcount((along_file | (along_file >> ROOK_SHIFT)) & palace_ranks)
        if attacked > 0:
            attackers += 1
            on_palace += attacked
    state.terms[ROOK_MOBILITY] += sign * mobility
    state.terms[ROOK_ON_PALACE] += sign * on_palace

    mobility = 0
    on_palace = 0
    for slot in (base + FIRST_CANNON, base + FIRST_CANNON + 1):
        at = np.int64(state.square[slot])
        if at == NOWHERE:
            continue
        rank = np.int64(RANK_OF[at])
        file = np.int64(FILE_OF[at])
        along_rank = np.int64(RANK_REACH[rank_index(state, rank, file)])
        along_file = np.int64(FILE_REACH[file_index(state, rank, file)])
        mobility += popcount((along_rank & SLIDE_MASK) | (along_file & SLIDE_MASK) << 10)
        along_rank >>= CANNON_SHIFT
        along_file >>= CANNON_SHIFT
        attacked = 0
        if (palace_ranks >> rank) & 1:
            attacked = popcount(along_rank & _PALACE_FILES)
        if (_PALACE_FILES >> file) & 1:
            attacked += popcount(along_file & palace_ranks)
        if attacked > 0:
            attackers += 1
            on_palace += attacked
        _count_threats(state, along_rank & rank_bits(state, enemy, rank), rank * 9, 1, sign)
        _count_threats(state, along_file & np.int64(state.file_bits[enemy, file]), file, 9, sign)
    state.terms[CANNON_MOBILITY] += sign * mobility
    state.terms[CANNON_ON_PALACE] += sign * on_palace

    mobility = 0
    on_palace = 0
    for slot in (base + FIRST_HORSE, base + FIRST_HORSE + 1):
        at = np.int64(state.square[slot])
        if at == NOWHERE:
            continue
        legs = blocked_legs(state, at)
        near_mask = HORSE_MASKS[at, legs, side]
        far_mask = HORSE_MASKS[at, legs, enemy]
        mobility += popcount(near_mask & ~state.occupied[side, side])
        mobility += popcount(far_mask & ~state.occupied[side, enemy])
        attacked = popcount(far_mask & palace)
        if attacked > 0:
            attackers += 1
            on_palace += attacked
        _count_threats(state, near_mask & state.occupied[enemy, side], HALF_SQUARES * side, 1, sign)
        _count_threats(state, far_mask & state.occupied[enemy, enemy], HALF_SQUARES * enemy, 1, sign)
    state.terms[HORSE_MOBILITY] += sign * mobility
    state.terms[HORSE_ON_PALACE] += sign * on_palace

    for slot in range(base + FIRST_PAWN, base + FIRST_PAWN + 5):
        at = np.int64(state.square[slot])
        if at == NOWHERE:
            continue
        if HALF_OF[at] == enemy:
            mask = PAWN_MASKS[side, at, enemy]
            attacked = popcount(mask & palace)
            if attacked > 0:
                attackers += 1
                state.terms[PAWN_ON_PALACE] += sign * attacked
            _count_threats(state, mask & state.occupied[enemy, enemy], HALF_SQUARES * enemy, 1, sign)
            if FILE_OF[at] < 8:
                other = np.int64(state.board[at + 1])
                if other >= base + FIRST_PAWN and other < base + FIRST_PAWN + 5:
                    state.terms[LINKED_PAWNS] += sign
        elif state.board[at + 9 - 18 * side] != 0:
            state.terms[BLOCKED_PAWN] += sign

    if attackers >= 2:
        state.terms[SECOND_ATTACKER] += sign
        if attackers >= 3:
            state.terms[THIRD_ATTACKER] += sign


@jit
def _count_pieces_of(state, side, sign):
    """Add one side's terms that depend on the numbers of pieces alone."""
    enemy = 1 - side
    rooks = np.int64(state.counts[side, ROOK])
    cannons = np.int64(state.counts[side, CANNON])
    horses = np.int64(state.counts[side, HORSE])
    advisors_lost = 2 - np.int64(state.counts[enemy, ADVISOR])
    state.terms[ROOK_ON_BARE_PALACE] += sign * rooks * advisors_lost
    state.terms[HORSE_ON_BARE_PALACE] += sign * horses * advisors_lost
    state.terms[CANNON_ON_BARE_RIVER] += sign * cannons * (2 - np.int64(state.counts[enemy, ELEPHANT]))
    if state.crossers[side] == 0:
        state.terms[NO_ATTACKER] += sign


@jit
def count_pieces(state):
    """Write the terms from ``FIRST_OF_PIECES`` on, Red's less Black's, into ``state.terms``."""
    for term in range(FIRST_OF_PIECES, TERM_COUNT):
        state.terms[term] = 0
    _count_pieces_of(state, np.int64(0), np.int64(1))
    _count_pieces_of(state, np.int64(1), np.int64(-1))


@jit
def count_places(state):
    """Write the terms before ``FIRST_OF_PIECES``, Red's less Black's, into ``state.terms``."""
    for term in range(FIRST_OF_PIECES):
        state.terms[term] = 0
    _count_side(state, np.int64(0), np.int64(1))
    _count_side(state, np.int64(1), np.int64(-1))
    _lines_of_general(state, np.int64(0), np.int64(-1))
    _lines_of_general(state, np.int64(1), np.int64(1))


@jit
def phase(state):
    """How much of the start's material is left, in sixteenths."""
    return min((state.material[0] + state.material[1]) * PHASES // FULL_MATERIAL, PHASES)
