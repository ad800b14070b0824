"""Terms of the full evaluation other than piece-square values: each is a count, with a weight for each phase.

``engine.settings.features.XIANGQI_TERMS`` defines the terms. *Square terms* depend on where pieces stand; the state
stores them for each side. *Piece-count terms* depend only on the numbers of pieces; the state stores Red's minus
Black's. The evaluation multiplies both by the weights of the position's phase. Counting is separate from weighing, so
that weights can be fitted to games.
"""

from __future__ import annotations

import numpy as np

from elolab.engine.compiled.kernel import jit, lowest_bit, popcount
from elolab.engine.games.xiangqi.moves import blocked_legs, file_index, pawn_bits, rank_index
from elolab.engine.games.xiangqi.position import (
    ADVISOR,
    ADVISOR_MASKS,
    ALIGNED,
    BIT_OF,
    BITS_IN_HALF,
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
    FIRST_FILE,
    FIRST_HORSE,
    FIRST_OF_PIECES,
    FIRST_ROOK,
    GENERAL_MASKS,
    HALF_OF,
    HALF_OF_RANK,
    HALF_SQUARES,
    HORSE,
    HORSE_MASKS,
    HORSE_ORIGIN_MASKS,
    LAST_RANK_OF_HALF,
    NONE,
    NOT_FIRST_FILE,
    NOT_LAST_FILE,
    NOWHERE,
    PAWN,
    PAWN_MASKS,
    PHASES,
    PLACE_TERMS,
    RANK_MET,
    RANK_OF,
    RANK_REACH,
    RANK_SHIFT,
    RED,
    ROOK,
    ROOK_SHIFT,
    SLIDE_MASK,
    SLOT_TYPE,
    SQUARE_BITS,
    SQUARES,
    TERM_COUNT,
    UPWARD_SHIFT,
    WHOLE_HALF,
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
assert ROOK_ON_BARE_PALACE == FIRST_OF_PIECES

_TO_RANKS = sum(1 << 8 * rank for rank in range(5))
"""Multiplier that spreads five adjacent bits to places nine bits apart; mask the product with ``FIRST_FILE``."""
_PALACE_SQUARES = [
    sum(int(BIT_OF[square]) for square in range(SQUARES) if in_palace(square) and HALF_OF[square] == 1 - side)
    for side in range(2)
]
FULL_MATERIAL = 9600
"""Material of both sides in the start position, in centipawns, without the generals."""

PALACE_MASKS = np.array(_PALACE_SQUARES, np.int64)
"""Squares of the enemy's palace, by attacking side, as bits of the enemy's half of the board."""

PAWN_ZONES = np.array(
    [
        sum(
            int(BIT_OF[square])
            for square in range(SQUARES)
            if HALF_OF[square] == 1 - side and PAWN_MASKS[side, square, 1 - side] & PALACE_MASKS[side]
        )
        for side in range(2)
    ],
    np.int64,
)
"""Squares from which a pawn attacks the enemy's palace, by the pawn's side, as bits of the enemy's half."""


@jit
def _count_lines(state, side):
    """Count a side's evaluation terms for the rank and file of the enemy's general, and store them in the state.

    The terms count cannons that face the general with no piece in between, and pieces that must stay to shield the
    general from a rook or cannon.
    """
    side &= 1
    open_cannons = 0
    bottom_cannons = 0
    bound_to_rooks = 0
    bound_to_cannons = 0
    base = (side + 1) << 4
    general = np.int64(state.square[48 - base])
    rank = np.int64(RANK_OF[general])
    file = np.int64(FILE_OF[general])
    first_slider = base + FIRST_ROOK
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
            if one & base:
                if SLOT_TYPE[one] == CANNON:
                    open_cannons += vertical
                    bottom_cannons += 1 - vertical
                continue
            second = (line >> (shift + 4)) & 15
            if second == NONE:
                continue
            two = np.int64(state.board[(start + second * step) & SQUARE_BITS])
            if two & base:
                if SLOT_TYPE[two] == ROOK:
                    bound_to_rooks += 1
                continue
            third = (line >> (shift + 8)) & 15
            if third == NONE:
                continue
            three = np.int64(state.board[(start + third * step) & SQUARE_BITS])
            if three & base and SLOT_TYPE[three] == CANNON:
                bound_to_cannons += 1
    row = side * PLACE_TERMS
    state.place_terms[row + OPEN_CANNON] = open_cannons
    state.place_terms[row + BOTTOM_CANNON] = bottom_cannons
    state.place_terms[row + BOUND_TO_ROOK] = bound_to_rooks
    state.place_terms[row + BOUND_TO_CANNON] = bound_to_cannons


@jit
def _file_in_half(along_file, file, half):
    """Convert squares on file ``file`` from ten bits, one per rank (``along_file``), to bits of a half of the board."""
    return (((along_file >> (5 * half)) & 31) * _TO_RANKS & FIRST_FILE) << file


@jit
def _bits_of_two(state, half, first):
    """Squares of the pieces with piece slots ``first`` and ``first`` + 1, as bits of a half of the board."""
    return BITS_IN_HALF[half, state.square[first]] | BITS_IN_HALF[half, state.square[first + 1]]


@jit
def _guards_attack(state, side):
    """Squares that a side's advisors, elephants and general attack, as bits of the side's own half of the board."""
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
def _count_side(state, side):
    """Store one side's attacks, and the evaluation terms that do not depend on the other side's attacks, in the state.

    In names, *near* is the side's own half of the board, and *far* the enemy's half. The function counts bits instead
    of branching, because the processor would mispredict most branches that depend on a piece's square.
    """
    side &= 1
    base = (side + 1) << 4
    other = 48 - base
    enemy = 1 - side
    palace = PALACE_MASKS[side]
    near_rooks = _bits_of_two(state, side, other + FIRST_ROOK)
    far_rooks = _bits_of_two(state, enemy, other + FIRST_ROOK)
    near_minors = _bits_of_two(state, side, other + FIRST_HORSE) | _bits_of_two(state, side, other + FIRST_CANNON)
    far_minors = _bits_of_two(state, enemy, other + FIRST_HORSE) | _bits_of_two(state, enemy, other + FIRST_CANNON)
    near = _guards_attack(state, side)
    far = np.int64(0)
    attackers = 0
    attacks_on_rooks = 0
    attacks_on_minors = 0

    near_reach = np.int64(0)
    far_reach = np.int64(0)
    rook_mobility = 0
    rooks_on_palace = 0
    cannon_mobility = 0
    cannons_on_palace = 0
    for slot in range(base + FIRST_ROOK, base + FIRST_CANNON + 2):
        at = np.int64(state.square[slot])
        if at == NOWHERE:
            continue
        rank = np.int64(RANK_OF[at])
        file = np.int64(FILE_OF[at])
        along_rank = np.int64(RANK_REACH[rank_index(state, rank, file)])
        along_file = np.int64(FILE_REACH[file_index(state, rank, file)])
        mobility = popcount((along_rank & SLIDE_MASK) | (along_file & SLIDE_MASK) << 10)
        is_rook = slot < base + FIRST_CANNON
        if is_rook:
            along_rank = (along_rank | (along_rank >> ROOK_SHIFT)) & SLIDE_MASK
            along_file = (along_file | (along_file >> ROOK_SHIFT)) & SLIDE_MASK
        else:
            along_rank >>= CANNON_SHIFT
            along_file >>= CANNON_SHIFT
        on_rank = along_rank << RANK_SHIFT[rank]
        is_far = -(np.int64(HALF_OF_RANK[rank]) ^ side)
        near_mask = _file_in_half(along_file, file, side) | (on_rank & ~is_far)
        far_mask = _file_in_half(along_file, file, enemy) | (on_rank & is_far)
        near |= near_mask
        far |= far_mask
        attacked = popcount(far_mask & palace)
        attackers += attacked > 0
        if is_rook:
            near_reach |= near_mask
            far_reach |= far_mask
            rook_mobility += mobility
            rooks_on_palace += attacked
        else:
            cannon_mobility += mobility
            cannons_on_palace += attacked
            attacks_on_rooks += popcount(near_mask & near_rooks) + popcount(far_mask & far_rooks)
            attacks_on_minors += popcount(near_mask & near_minors) + popcount(far_mask & far_minors)
    state.rook_reach[side, side] = near_reach
    state.rook_reach[side, enemy] = far_reach

    near_reach = np.int64(0)
    far_reach = np.int64(0)
    horse_mobility = 0
    horses_on_palace = 0
    for slot in (base + FIRST_HORSE, base + FIRST_HORSE + 1):
        at = np.int64(state.square[slot])
        if at == NOWHERE:
            continue
        legs = blocked_legs(state, at)
        near_mask = HORSE_MASKS[at, legs, side]
        far_mask = HORSE_MASKS[at, legs, enemy]
        near_reach |= near_mask
        far_reach |= far_mask
        horse_mobility += popcount(near_mask & ~state.occupied[side, side])
        horse_mobility += popcount(far_mask & ~state.occupied[side, enemy])
        attacked = popcount(far_mask & palace)
        attackers += attacked > 0
        horses_on_palace += attacked
        attacks_on_rooks += popcount(near_mask & near_rooks) + popcount(far_mask & far_rooks)
        attacks_on_minors += popcount(near_mask & near_minors) + popcount(far_mask & far_minors)
    state.horse_reach[side, side] = near_reach
    state.horse_reach[side, enemy] = far_reach

    near_pawns = pawn_bits(state, side, side)
    far_pawns = pawn_bits(state, side, enemy)
    if side == RED:
        near_steps = (near_pawns << 9) & WHOLE_HALF
        crossing = near_pawns >> LAST_RANK_OF_HALF
    else:
        near_steps = near_pawns >> 9
        crossing = (near_pawns << LAST_RANK_OF_HALF) & WHOLE_HALF
    blocked = popcount(near_steps & (state.occupied[0, side] | state.occupied[1, side]))
    blocked += popcount(crossing & (state.occupied[0, enemy] | state.occupied[1, enemy]))
    near |= near_reach | near_steps
    far |= far_reach | crossing
    pawns_on_palace = 0
    linked_pawns = 0
    if far_pawns != 0:
        ahead = (far_pawns << 9) & WHOLE_HALF if side == RED else far_pawns >> 9
        to_left = (far_pawns & NOT_FIRST_FILE) >> 1
        to_right = (far_pawns & NOT_LAST_FILE) << 1
        far |= ahead | to_left | to_right
        attackers += popcount(far_pawns & PAWN_ZONES[side])
        pawns_on_palace = popcount(ahead & palace) + popcount(to_left & palace) + popcount(to_right & palace)
        attacks_on_rooks += popcount(ahead & far_rooks) + popcount(to_left & far_rooks) + popcount(to_right & far_rooks)
        attacks_on_minors += popcount(ahead & far_minors)
        attacks_on_minors += popcount(to_left & far_minors) + popcount(to_right & far_minors)
        linked_pawns = popcount(far_pawns & to_left)
    state.attacks[side, side] = near
    state.attacks[side, enemy] = far

    row = side * PLACE_TERMS
    state.place_terms[row + ROOK_MOBILITY] = rook_mobility
    state.place_terms[row + CANNON_MOBILITY] = cannon_mobility
    state.place_terms[row + HORSE_MOBILITY] = horse_mobility
    state.place_terms[row + ROOK_ON_PALACE] = rooks_on_palace
    state.place_terms[row + CANNON_ON_PALACE] = cannons_on_palace
    state.place_terms[row + HORSE_ON_PALACE] = horses_on_palace
    state.place_terms[row + PAWN_ON_PALACE] = pawns_on_palace
    state.place_terms[row + SECOND_ATTACKER] = attackers >= 2
    state.place_terms[row + THIRD_ATTACKER] = attackers >= 3
    state.place_terms[row + ATTACK_ON_ROOK] = attacks_on_rooks
    state.place_terms[row + ATTACK_ON_MINOR] = attacks_on_minors
    state.place_terms[row + LINKED_PAWNS] = linked_pawns
    state.place_terms[row + BLOCKED_PAWN] = blocked


@jit
def _count_hanging(state, side):
    """Count a side's evaluation terms for undefended enemy pieces that it attacks, and store them in the state.

    ``state.attacks`` must hold both sides' attacks.
    """
    side &= 1
    enemy = 1 - side
    minors = 0
    guards = 0
    pawns = 0
    for half in range(2):
        hanging = state.attacks[side, half] & state.occupied[enemy, half] & ~state.attacks[enemy, half]
        while hanging != 0:
            kind = SLOT_TYPE[state.board[(HALF_SQUARES * half + lowest_bit(hanging)) & SQUARE_BITS]]
            hanging &= hanging - 1
            pawns += kind == PAWN
            minors += kind == CANNON or kind == HORSE
            guards += kind == ADVISOR or kind == ELEPHANT
    row = side * PLACE_TERMS
    state.place_terms[row + HANGING_MINOR] = minors
    state.place_terms[row + HANGING_GUARD] = guards
    state.place_terms[row + HANGING_PAWN] = pawns


@jit
def _count_checks(state, side):
    """Count a side's evaluation terms for checks, and store them in the state.

    The terms are the safe checks of rooks, those of horses, and the negated number of free squares of the enemy's
    general.
    ``state.attacks`` must hold both sides' attacks.
    """
    side &= 1
    enemy = 1 - side  # also the half of the board that is the enemy's
    general = np.int64(state.square[(enemy + 1) << 4])
    safe_near = ~state.attacks[enemy, side]
    safe_far = ~state.attacks[enemy, enemy]
    free = GENERAL_MASKS[general, enemy] & ~(state.attacks[side, enemy] | state.occupied[enemy, enemy])
    rank = np.int64(RANK_OF[general])
    file = np.int64(FILE_OF[general])
    # The general and its whole rank lie in the enemy's half.
    along_rank = np.int64(RANK_REACH[rank_index(state, rank, file)]) & SLIDE_MASK
    along_file = np.int64(FILE_REACH[file_index(state, rank, file)]) & SLIDE_MASK
    near_line = _file_in_half(along_file, file, side)
    far_line = _file_in_half(along_file, file, enemy) | (along_rank << RANK_SHIFT[rank])
    checks = popcount(state.rook_reach[side, side] & near_line & safe_near)
    checks += popcount(state.rook_reach[side, enemy] & far_line & safe_far)
    reach = state.horse_reach[side, enemy] & HORSE_ORIGIN_MASKS[general, enemy] & ~state.occupied[side, enemy]
    row = side * PLACE_TERMS
    state.place_terms[row + GENERAL_SQUARES] = -popcount(free)
    state.place_terms[row + ROOK_CHECK] = checks
    state.place_terms[row + HORSE_CHECK] = popcount(reach & safe_far)


@jit
def count_pieces(state):
    """Store the evaluation terms that depend on the numbers of pieces, Red's minus Black's, in ``state.terms``.

    The first of them has the index ``FIRST_OF_PIECES``.
    """
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
    """Store each side's square terms (evaluation terms that depend on where pieces stand) in ``state.place_terms``."""
    for side in range(2):
        _count_side(state, np.int64(side))
    for side in range(2):
        _count_hanging(state, np.int64(side))
        _count_checks(state, np.int64(side))
        _count_lines(state, np.int64(side))


@jit
def count_terms(state):
    """Store all evaluation terms, Red's minus Black's, in ``state.terms``. Used only for fitting and tests."""
    count_pieces(state)
    count_places(state)
    for term in range(FIRST_OF_PIECES):
        state.terms[term] = np.int64(state.place_terms[term]) - np.int64(state.place_terms[PLACE_TERMS + term])


@jit
def phase(state):
    """Phase of the game: the remaining share of the initial material, in sixteenths."""
    return min((state.material[0] + state.material[1]) * PHASES // FULL_MATERIAL, PHASES)
