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
    ADVISOR_MASKS,
    ALIGNED,
    BIT_OF,
    CANNON,
    CANNON_SHIFT,
    DOWNWARD_SHIFT,
    ELEPHANT,
    ELEPHANT_EYE_MASKS,
    ELEPHANT_EYES,
    ELEPHANT_MASKS,
    ELEPHANT_TARGETS,
    FILE_MET,
    FILE_OF,
    FILE_REACH,
    FIRST_ADVISOR,
    FIRST_CANNON,
    FIRST_ELEPHANT,
    FIRST_HORSE,
    FIRST_PAWN,
    FIRST_ROOK,
    GENERAL_MASKS,
    HALF_OF,
    HALF_OF_RANK,
    HALF_SQUARES,
    HORSE,
    HORSE_MASKS,
    HORSE_ORIGIN_MASKS,
    NONE,
    NOWHERE,
    PAWN,
    PAWN_MASKS,
    PHASES,
    RANK_MET,
    RANK_OF,
    RANK_REACH,
    RANK_SHIFT,
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
    ATTACK_ON_MINOR, LINKED_PAWNS, BLOCKED_PAWN, HANGING_MINOR, HANGING_GUARD, HANGING_PAWN, ROOK_CHECK, HORSE_CHECK,
    GENERAL_SQUARES, ROOK_ON_BARE_PALACE, HORSE_ON_BARE_PALACE, CANNON_ON_BARE_RIVER, NO_ATTACKER, SINGLE_ATTACKER,
    NO_MAJOR, NO_PAWN, HORSE_WITH_ADVISOR, CANNON_WITH_ADVISOR, HORSE_WITH_ELEPHANT, ROOK_WITH_ELEPHANT,
    HORSE_WITH_PAWN, ROOK_WITH_PAWN, CANNON_WITH_PAWN, CANNON_AGAINST_ADVISOR, PAWN_AGAINST_ADVISOR,
    HORSE_AGAINST_ELEPHANT, ROOK_AGAINST_ELEPHANT, PAWN_AGAINST_ELEPHANT, HORSE_AGAINST_CANNON, ROOK_AGAINST_CANNON,
    HORSE_AGAINST_PAWN, ROOK_AGAINST_PAWN, CANNON_AGAINST_PAWN,
) = range(TERM_COUNT)  # fmt: skip
FIRST_OF_PIECES = ROOK_ON_BARE_PALACE

_TO_RANKS = sum(1 << 8 * rank for rank in range(5))
"""Times five bits of a file, each is nine places above the one before; ``_EVERY_RANK`` drops the rest."""
_EVERY_RANK = sum(1 << 9 * rank for rank in range(5))
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
def _in_half(along_rank, along_file, rank, file, half):
    """Squares of a rank and a file, as bits of each, as bits of a half."""
    of_file = (((along_file >> (5 * half)) & 31) * _TO_RANKS & _EVERY_RANK) << file
    return of_file | (along_rank << RANK_SHIFT[rank] if HALF_OF_RANK[rank] == half else 0)


@jit
def _guards_attack(state, side):
    """What a side's advisors, elephants and general attack, as bits of its own half."""
    side &= 1
    base = (side + 1) << 4
    found = GENERAL_MASKS[state.square[base], side]
    found |= ADVISOR_MASKS[state.square[base + FIRST_ADVISOR], side]
    found |= ADVISOR_MASKS[state.square[base + FIRST_ADVISOR + 1], side]
    occupied = state.occupied[0, side] | state.occupied[1, side]
    for slot in (base + FIRST_ELEPHANT, base + FIRST_ELEPHANT + 1):
        at = np.int64(state.square[slot])
        if ELEPHANT_EYE_MASKS[at, side] & occupied == 0:
            found |= ELEPHANT_MASKS[at, side]
        else:
            index = 0
            while ELEPHANT_TARGETS[at, index] != NOWHERE:
                if state.board[ELEPHANT_EYES[at, index]] == 0:
                    found |= BIT_OF[ELEPHANT_TARGETS[at, index]]
                index += 1
    return found


@jit
def _count_side(state, side, sign):
    """Add one side's terms with its sign, and note what it attacks."""
    side &= 1
    base = (side + 1) << 4
    enemy = 1 - side  # also the half of the board that is the enemy's
    palace = PALACE_MASKS[side]
    palace_ranks = _PALACE_RANKS[side]
    attackers = 0
    near = _guards_attack(state, side)
    far = np.int64(0)

    near_reach = np.int64(0)
    far_reach = np.int64(0)
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
        along_rank = (along_rank | (along_rank >> ROOK_SHIFT)) & SLIDE_MASK
        along_file = (along_file | (along_file >> ROOK_SHIFT)) & SLIDE_MASK
        near_reach |= _in_half(along_rank, along_file, rank, file, side)
        far_reach |= _in_half(along_rank, along_file, rank, file, enemy)
        attacked = 0
        if (palace_ranks >> rank) & 1:
            attacked = popcount(along_rank & _PALACE_FILES)
        if (_PALACE_FILES >> file) & 1:
            attacked += popcount(along_file & palace_ranks)
        if attacked > 0:
            attackers += 1
            on_palace += attacked
    state.terms[ROOK_MOBILITY] += sign * mobility
    state.terms[ROOK_ON_PALACE] += sign * on_palace
    state.rook_reach[side, side] = near_reach
    state.rook_reach[side, enemy] = far_reach
    near |= near_reach
    far |= far_reach

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
        near |= _in_half(along_rank, along_file, rank, file, side)
        far |= _in_half(along_rank, along_file, rank, file, enemy)
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

    near_reach = np.int64(0)
    far_reach = np.int64(0)
    mobility = 0
    on_palace = 0
    for slot in (base + FIRST_HORSE, base + FIRST_HORSE + 1):
        at = np.int64(state.square[slot])
        if at == NOWHERE:
            continue
        legs = blocked_legs(state, at)
        near_mask = HORSE_MASKS[at, legs, side]
        far_mask = HORSE_MASKS[at, legs, enemy]
        near_reach |= near_mask
        far_reach |= far_mask
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
    state.horse_reach[side, side] = near_reach
    state.horse_reach[side, enemy] = far_reach
    near |= near_reach
    far |= far_reach

    for slot in range(base + FIRST_PAWN, base + FIRST_PAWN + 5):
        at = np.int64(state.square[slot])
        if at == NOWHERE:
            continue
        mask = PAWN_MASKS[side, at, enemy]
        far |= mask
        if HALF_OF[at] == enemy:
            attacked = popcount(mask & palace)
            if attacked > 0:
                attackers += 1
                state.terms[PAWN_ON_PALACE] += sign * attacked
            _count_threats(state, mask & state.occupied[enemy, enemy], HALF_SQUARES * enemy, 1, sign)
            if FILE_OF[at] < 8:
                other = np.int64(state.board[at + 1])
                if other >= base + FIRST_PAWN and other < base + FIRST_PAWN + 5:
                    state.terms[LINKED_PAWNS] += sign
        else:
            near |= PAWN_MASKS[side, at, side]
            if state.board[at + 9 - 18 * side] != 0:
                state.terms[BLOCKED_PAWN] += sign
    state.attacks[side, side] = near
    state.attacks[side, enemy] = far

    if attackers >= 2:
        state.terms[SECOND_ATTACKER] += sign
        if attackers >= 3:
            state.terms[THIRD_ATTACKER] += sign


@jit
def _count_hanging(state, side, sign):
    """Add the enemy pieces that a side attacks and nothing defends; both sides' attacks must be known."""
    side &= 1
    enemy = 1 - side
    for half in range(2):
        hanging = state.attacks[side, half] & state.occupied[enemy, half] & ~state.attacks[enemy, half]
        while hanging != 0:
            kind = SLOT_TYPE[state.board[(HALF_SQUARES * half + lowest_bit(hanging)) & SQUARE_BITS]]
            hanging &= hanging - 1
            if kind == PAWN:
                state.terms[HANGING_PAWN] += sign
            elif kind == CANNON or kind == HORSE:
                state.terms[HANGING_MINOR] += sign
            elif kind == ADVISOR or kind == ELEPHANT:
                state.terms[HANGING_GUARD] += sign


@jit
def _count_checks(state, side, sign):
    """Add the checks a side may give, less the enemy general's squares; both sides' attacks must be known."""
    side &= 1
    enemy = 1 - side  # also the half of the board that is the enemy's
    general = np.int64(state.square[(enemy + 1) << 4])
    free = GENERAL_MASKS[general, enemy] & ~(state.attacks[side, enemy] | state.occupied[enemy, enemy])
    state.terms[GENERAL_SQUARES] -= sign * popcount(free)
    near_reach = state.rook_reach[side, side]
    far_reach = state.rook_reach[side, enemy]
    if near_reach | far_reach != 0:
        rank = np.int64(RANK_OF[general])
        file = np.int64(FILE_OF[general])
        along_rank = np.int64(RANK_REACH[rank_index(state, rank, file)]) & SLIDE_MASK
        along_file = np.int64(FILE_REACH[file_index(state, rank, file)]) & SLIDE_MASK
        near_line = _in_half(along_rank, along_file, rank, file, side)
        far_line = _in_half(along_rank, along_file, rank, file, enemy)
        checks = popcount(near_reach & near_line & ~state.attacks[enemy, side])
        checks += popcount(far_reach & far_line & ~state.attacks[enemy, enemy])
        state.terms[ROOK_CHECK] += sign * checks
    reach = state.horse_reach[side, enemy] & HORSE_ORIGIN_MASKS[general, enemy] & ~state.occupied[side, enemy]
    state.terms[HORSE_CHECK] += sign * popcount(reach & ~state.attacks[enemy, enemy])


@jit
def count_pieces(state):
    """Write the terms from ``FIRST_OF_PIECES`` on, Red's less Black's, into ``state.terms``."""
    advisors, enemy_advisors = np.int64(state.counts[0, ADVISOR]), np.int64(state.counts[1, ADVISOR])
    elephants, enemy_elephants = np.int64(state.counts[0, ELEPHANT]), np.int64(state.counts[1, ELEPHANT])
    horses, enemy_horses = np.int64(state.counts[0, HORSE]), np.int64(state.counts[1, HORSE])
    rooks, enemy_rooks = np.int64(state.counts[0, ROOK]), np.int64(state.counts[1, ROOK])
    cannons, enemy_cannons = np.int64(state.counts[0, CANNON]), np.int64(state.counts[1, CANNON])
    pawns, enemy_pawns = np.int64(state.counts[0, PAWN]), np.int64(state.counts[1, PAWN])
    majors = rooks + horses + cannons
    enemy_majors = enemy_rooks + enemy_horses + enemy_cannons
    state.terms[ROOK_ON_BARE_PALACE] = rooks * (2 - enemy_advisors) - enemy_rooks * (2 - advisors)
    state.terms[HORSE_ON_BARE_PALACE] = horses * (2 - enemy_advisors) - enemy_horses * (2 - advisors)
    state.terms[CANNON_ON_BARE_RIVER] = cannons * (2 - enemy_elephants) - enemy_cannons * (2 - elephants)
    state.terms[NO_ATTACKER] = np.int64(majors + pawns == 0) - np.int64(enemy_majors + enemy_pawns == 0)
    state.terms[SINGLE_ATTACKER] = np.int64(majors == 1) - np.int64(enemy_majors == 1)
    state.terms[NO_MAJOR] = np.int64(majors == 0) - np.int64(enemy_majors == 0)
    state.terms[NO_PAWN] = np.int64(pawns == 0) - np.int64(enemy_pawns == 0)
    state.terms[HORSE_WITH_ADVISOR] = horses * advisors - enemy_horses * enemy_advisors
    state.terms[CANNON_WITH_ADVISOR] = cannons * advisors - enemy_cannons * enemy_advisors
    state.terms[HORSE_WITH_ELEPHANT] = horses * elephants - enemy_horses * enemy_elephants
    state.terms[ROOK_WITH_ELEPHANT] = rooks * elephants - enemy_rooks * enemy_elephants
    state.terms[HORSE_WITH_PAWN] = horses * pawns - enemy_horses * enemy_pawns
    state.terms[ROOK_WITH_PAWN] = rooks * pawns - enemy_rooks * enemy_pawns
    state.terms[CANNON_WITH_PAWN] = cannons * pawns - enemy_cannons * enemy_pawns
    state.terms[CANNON_AGAINST_ADVISOR] = cannons * enemy_advisors - enemy_cannons * advisors
    state.terms[PAWN_AGAINST_ADVISOR] = pawns * enemy_advisors - enemy_pawns * advisors
    state.terms[HORSE_AGAINST_ELEPHANT] = horses * enemy_elephants - enemy_horses * elephants
    state.terms[ROOK_AGAINST_ELEPHANT] = rooks * enemy_elephants - enemy_rooks * elephants
    state.terms[PAWN_AGAINST_ELEPHANT] = pawns * enemy_elephants - enemy_pawns * elephants
    state.terms[HORSE_AGAINST_CANNON] = horses * enemy_cannons - enemy_horses * cannons
    state.terms[ROOK_AGAINST_CANNON] = rooks * enemy_cannons - enemy_rooks * cannons
    state.terms[HORSE_AGAINST_PAWN] = horses * enemy_pawns - enemy_horses * pawns
    state.terms[ROOK_AGAINST_PAWN] = rooks * enemy_pawns - enemy_rooks * pawns
    state.terms[CANNON_AGAINST_PAWN] = cannons * enemy_pawns - enemy_cannons * pawns


@jit
def count_places(state):
    """Write the terms before ``FIRST_OF_PIECES``, Red's less Black's, into ``state.terms``."""
    for term in range(FIRST_OF_PIECES):
        state.terms[term] = 0
    _count_side(state, np.int64(0), np.int64(1))
    _count_side(state, np.int64(1), np.int64(-1))
    _count_hanging(state, np.int64(0), np.int64(1))
    _count_hanging(state, np.int64(1), np.int64(-1))
    _count_checks(state, np.int64(0), np.int64(1))
    _count_checks(state, np.int64(1), np.int64(-1))
    _lines_of_general(state, np.int64(0), np.int64(-1))
    _lines_of_general(state, np.int64(1), np.int64(1))


@jit
def phase(state):
    """How much of the start's material is left, in sixteenths."""
    return min((state.material[0] + state.material[1]) * PHASES // FULL_MATERIAL, PHASES)
