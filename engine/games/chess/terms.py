"""Terms of the full evaluation other than piece-square values: each is a count times a pair of weights.

A pair has the weights for opening and endgame, packed into one integer. ``engine.settings.features.CHESS_TERMS``
defines the terms. The functions return sums of counts times weights, White's minus Black's, as packed pairs. If
``counts`` is an array, they also add the counts to it, so that weights can be fitted to games. If it is ``None``, they
do not, and the terms of pawns and of material come from caches.
"""

from __future__ import annotations

import numpy as np

from elolab.engine.compiled.kernel import jit, lowest_bit, popcount
from elolab.engine.games.chess.boards import (
    BETWEEN,
    BISHOP,
    BISHOP_LINES,
    BITS,
    FILES,
    KING,
    KING_ATTACKS,
    KNIGHT,
    KNIGHT_ATTACKS,
    NONE,
    ONE,
    PAWN,
    QUEEN,
    RANKS,
    ROOK,
    ROOK_LINES,
    SQUARES,
    WHITE,
    bishop_attacks,
    has_several,
    pawns_attack,
    pawns_attack_east,
    pawns_attack_west,
    pawns_step,
    rook_attacks,
)
from elolab.engine.games.chess.position import MATERIAL_CACHE_ENTRIES, PAWN_CACHE_ENTRIES
from elolab.engine.games.hash_keys import HASH_FACTOR
from elolab.engine.settings.features import CHESS_MATERIAL, CHESS_TERMS

_NUMBER = {name: number for number, name in enumerate(CHESS_TERMS)}

KNIGHT_MOBILITY = _NUMBER["knight_mobility_0"]
BISHOP_MOBILITY = _NUMBER["bishop_mobility_0"]
ROOK_MOBILITY = _NUMBER["rook_mobility_0"]
QUEEN_MOBILITY = _NUMBER["queen_mobility_0"]
ISOLATED, ISOLATED_OPEN = _NUMBER["isolated"], _NUMBER["isolated_open"]
DOUBLED = _NUMBER["doubled"]
BACKWARD, BACKWARD_OPEN = _NUMBER["backward"], _NUMBER["backward_open"]
CONNECTED = _NUMBER["connected_2"]
PHALANX, CONNECTED_OPPOSED, SUPPORTED_TWICE = (
    _NUMBER[name] for name in ("phalanx", "connected_opposed", "supported_twice")
)
DOUBLED_ISOLATED, UNOPPOSED = _NUMBER["doubled_isolated"], _NUMBER["unopposed"]
PASSED = _NUMBER["passed_2"]
PASSED_FREE = _NUMBER["passed_free_4"]
PASSED_SAFE = _NUMBER["passed_safe_4"]
PASSED_CLEAR, PASSED_DEFENDED = _NUMBER["passed_clear"], _NUMBER["passed_defended"]
PASSED_OWN_KING, PASSED_ENEMY_KING = _NUMBER["passed_own_king"], _NUMBER["passed_enemy_king"]
PASSED_ROOK_BEHIND, PASSED_ENEMY_ROOK_BEHIND = _NUMBER["passed_rook_behind"], _NUMBER["passed_enemy_rook_behind"]
SHELTER, SHELTER_FILE = _NUMBER["shelter_2"], _NUMBER["shelter_file_2"]
STORM, STORM_BLOCKED = _NUMBER["storm_2"], _NUMBER["storm_blocked"]
STORM_ADVANCE, KING_PAWN_DISTANCE = _NUMBER["storm_advance"], _NUMBER["king_pawn_distance"]
KING_HALF_OPEN_FILE, KING_OPEN_FILE = _NUMBER["king_half_open_file"], _NUMBER["king_open_file"]
DANGER = _NUMBER["danger_1"]
SAFE_CHECK, UNSAFE_CHECK = _NUMBER["safe_check_knight"], _NUMBER["unsafe_check"]
ZONE_TWICE, ZONE_TWICE_LOOSE = _NUMBER["zone_twice"], _NUMBER["zone_twice_loose"]
FLANK_DEFENDED = _NUMBER["flank_defended"]
KING_BLOCKER, PINNED_MINOR, PINNED_ROOK = (_NUMBER[name] for name in ("king_blocker", "pinned_minor", "pinned_rook"))
BISHOP_PAIR, BISHOP_PAIR_PAWNS, BISHOP_PAWNS = (
    _NUMBER[name] for name in ("bishop_pair", "bishop_pair_pawns", "bishop_pawns")
)
KNIGHT_OUTPOST, BISHOP_OUTPOST = _NUMBER["knight_outpost"], _NUMBER["bishop_outpost"]
OUTPOST_IN_REACH, MINOR_IN_HOLE = _NUMBER["outpost_in_reach"], _NUMBER["minor_in_hole"]
KNIGHT_KING_DISTANCE, BISHOP_KING_DISTANCE = _NUMBER["knight_king_distance"], _NUMBER["bishop_king_distance"]
LONG_DIAGONAL, TRAPPED_ROOK = _NUMBER["long_diagonal"], _NUMBER["trapped_rook"]
MINOR_BEHIND_PAWN = _NUMBER["minor_behind_pawn"]
ROOK_OPEN_FILE, ROOK_HALF_OPEN_FILE = _NUMBER["rook_open_file"], _NUMBER["rook_half_open_file"]
BLOCKED_PAWNS, MATERIAL = _NUMBER["blocked_pawns"], _NUMBER[CHESS_MATERIAL[0]]
SPACE = _NUMBER["space"]
PAWN_ON_MINOR, PAWN_ON_ROOK, PAWN_ON_QUEEN = (_NUMBER[f"pawn_on_{kind}"] for kind in ("minor", "rook", "queen"))
MINOR_ON_MINOR, MINOR_ON_ROOK, MINOR_ON_QUEEN = (_NUMBER[f"minor_on_{kind}"] for kind in ("minor", "rook", "queen"))
ROOK_ON_MINOR, ROOK_ON_QUEEN = _NUMBER["rook_on_minor"], _NUMBER["rook_on_queen"]
KING_ON_LOOSE, HANGING, PAWN_PUSH = _NUMBER["king_on_loose"], _NUMBER["hanging"], _NUMBER["pawn_push"]
MINOR_ON_PAWN, ROOK_ON_PAWN, HANGING_TWICE = (
    _NUMBER[name] for name in ("minor_on_pawn", "rook_on_pawn", "hanging_twice")
)
RESTRICTED, SLIDER_ON_QUEEN = _NUMBER["restricted"], _NUMBER["slider_on_queen"]

MAX_DANGER = 23
"""Highest index in the table of weights for king attacks; greater attack values use the last weight."""
FIRST_FREE_RANK = 3
"""First rank, counted from 0, at which the squares in front of a passed pawn are evaluated."""

# What adds to the index of attacks on a king: for each attacking piece; for each square around the king, attacked and
# attacked without defence; for each kind of check that cannot be answered by a capture. Half the sum is the index.
_ATTACKER = (0, 3, 3, 4, 5)
_ZONE_SQUARE = 1
_LOOSE_SQUARE = 2
_CHECK = (0, 6, 3, 7, 5)
_WITHOUT_QUEEN = 8

_PAWN_CACHE_MASK = np.uint64(PAWN_CACHE_ENTRIES - 1)
_MATERIAL_CACHE_SHIFT = np.uint64(65 - MATERIAL_CACHE_ENTRIES.bit_length())

_EIGHT, _SIXTEEN, _THIRTY_TWO = np.uint64(8), np.uint64(16), np.uint64(32)
_EVERY_OTHER_BYTE = np.uint64(0x00FF_00FF_00FF_00FF)
_EVERY_OTHER_PAIR = np.uint64(0x0000_FFFF_0000_FFFF)
_NOT_FILE_A = np.uint64(0xFEFE_FEFE_FEFE_FEFE)
_NOT_FILE_H = np.uint64(0x7F7F_7F7F_7F7F_7F7F)
_DARK_SQUARES = np.uint64(0xAA55_AA55_AA55_AA55)
_OUTPOST_RANKS = np.array([0x0000_FFFF_FF00_0000, 0x0000_00FF_FFFF_0000], np.uint64)
"""Bitboard of ranks 4 to 6, by side; each side counts ranks from its own first rank."""
_SPACE = np.array([0x0000_0000_3C3C_3C00, 0x003C_3C3C_0000_0000], np.uint64)
"""Bitboard of ranks 2 to 4 on files c to f, by side; each side counts ranks from its own first rank."""
_FROM_RANK = np.array([(1 << 64) - (1 << 8 * rank) for rank in range(8)], np.uint64)
"""Bitboard of each rank and all ranks above it."""
_CENTRE = np.uint64(0x0000_0018_1800_0000)
"""Bitboard of d4, e4, d5 and e5."""
_FLANKS = np.array(
    [
        FILES[first : last + 1].sum()
        for first, last in zip((0, 0, 0, 2, 2, 4, 4, 5), (2, 3, 3, 5, 5, 7, 7, 7), strict=True)
    ],
    np.uint64,
)
"""Bitboard of the files on the king's side of the board, by the king's file: three at the edge, else four."""
_CAMPS = np.array([0x0000_00FF_FFFF_FFFF, 0xFFFF_FFFF_FF00_0000], np.uint64)
"""Bitboard of the first five ranks, by side; each side counts ranks from its own first rank."""
_THIRD_RANK = np.array([0xFF << 16, 0xFF << 40], np.uint64)
_DISTANCES = np.array(
    [[max(abs(a % 8 - b % 8), abs(a // 8 - b // 8)) for b in range(SQUARES)] for a in range(SQUARES)], np.int8
)
"""Distance between two squares in king moves, on an empty board: shape (64, 64)."""


def _zone(king: int) -> int:
    """Bitboard of the 3 x 3 squares around a king; on the border, shifted inwards to keep nine squares."""
    file, rank = min(max(king % 8, 1), 6), min(max(king // 8, 1), 6)
    return sum(1 << 8 * (rank + up) + file + across for up in (-1, 0, 1) for across in (-1, 0, 1))


_ZONES = np.array([_zone(king) for king in range(SQUARES)], np.uint64)
_KING_MIX = np.array(
    [
        [pow(6_364_136_223_846_793_005, 1 + king + SQUARES * side, 1 << 64) for king in range(SQUARES)]
        for side in (0, 1)
    ],
    np.uint64,
)
"""Pseudo-random words for each side and king square, which make the kings' squares part of the pawn cache's key."""


@jit
def _weigh(state, counts, term, count):
    """``count`` times the weights of a term, as a packed pair (opening, endgame); ``count`` is negative for Black.

    If ``counts`` is an array, also adds ``count`` to the term's element.
    """
    if counts is not None:
        counts[term] += count
    return np.int64(state.term_weights[np.uint64(term)]) * count


@jit
def _turned(bits):
    """Mirror a bitboard vertically: rank 1 becomes rank 8."""
    bits = ((bits >> _EIGHT) & _EVERY_OTHER_BYTE) | ((bits & _EVERY_OTHER_BYTE) << _EIGHT)
    bits = ((bits >> _SIXTEEN) & _EVERY_OTHER_PAIR) | ((bits & _EVERY_OTHER_PAIR) << _SIXTEEN)
    return (bits >> _THIRTY_TWO) | (bits << _THIRTY_TWO)


@jit
def _beside(bits):
    """Bitboard of the squares directly to the left and to the right of the squares in ``bits``."""
    return ((bits & _NOT_FILE_H) << ONE) | ((bits & _NOT_FILE_A) >> ONE)


@jit
def _up(bits):
    """Bitboard of the squares in ``bits``, and of all squares above them on the same files."""
    bits |= bits << _EIGHT
    bits |= bits << _SIXTEEN
    return bits | (bits << _THIRTY_TWO)


@jit
def _down(bits):
    """Bitboard of the squares in ``bits``, and of all squares below them on the same files."""
    bits |= bits >> _EIGHT
    bits |= bits >> _SIXTEEN
    return bits | (bits >> _THIRTY_TWO)


@jit
def _count_side_of_pawns(state, counts, own, enemy, king, sign):
    """Value of one side's pawns and king shelter, for White, as a packed pair (opening, endgame); also its passed
    pawns.

    ``own``, ``enemy``, ``king`` (a square) and the bitboard of passed pawns are mirrored vertically for Black, so that
    the side's pawns always move up. ``sign`` is 1 for White and -1 for Black; ``counts`` is as for ``sum_of_terms``.
    """
    beside = _beside(own)
    own_ahead = _down(own) >> _EIGHT
    enemy_ahead = _down(enemy) >> _EIGHT
    isolated = own & ~_beside(_up(_down(own)))
    is_open = ~(enemy_ahead | own_ahead)
    attacked = _beside(enemy) >> _EIGHT
    backward = own & ~isolated & ~_up(beside) & (attacked >> _EIGHT)
    connected = own & (beside | (beside << _EIGHT))
    passed = own & is_open & ~_beside(enemy_ahead)
    value = _weigh(state, counts, ISOLATED, sign * popcount(isolated))
    value += _weigh(state, counts, ISOLATED_OPEN, sign * popcount(isolated & is_open))
    value += _weigh(state, counts, DOUBLED, sign * popcount(own & own_ahead))
    value += _weigh(state, counts, BACKWARD, sign * popcount(backward))
    value += _weigh(state, counts, BACKWARD_OPEN, sign * popcount(backward & is_open))
    value += _weigh(state, counts, PHALANX, sign * popcount(own & beside))
    value += _weigh(state, counts, CONNECTED_OPPOSED, sign * popcount(connected & enemy_ahead))
    by_two = ((own & _NOT_FILE_A) << np.uint64(7)) & ((own & _NOT_FILE_H) << np.uint64(9))
    value += _weigh(state, counts, SUPPORTED_TWICE, sign * popcount(own & by_two))
    value += _weigh(state, counts, DOUBLED_ISOLATED, sign * popcount(isolated & own_ahead))
    value += _weigh(state, counts, UNOPPOSED, sign * popcount(own & is_open & ~passed))
    for step in range(6):
        rank = RANKS[np.uint64(step + 1)]
        value += _weigh(state, counts, CONNECTED + step, sign * popcount(connected & rank))
        value += _weigh(state, counts, PASSED + step, sign * popcount(passed & rank))
    own_file = king & 7
    middle = min(max(own_file, 1), 6)
    ahead = _FROM_RANK[np.uint64(king >> 3)]
    for file in range(middle - 1, middle + 2):
        on_file = FILES[np.uint64(file)] & ahead
        # 64 if there is no pawn: rank 8.
        shelter = min(max((lowest_bit(own & on_file) >> 3) - 1, 0), 3)
        value += _weigh(state, counts, (SHELTER_FILE if file == own_file else SHELTER) + shelter, sign)
        if own & FILES[np.uint64(file)] == NONE:
            value += _weigh(state, counts, KING_HALF_OPEN_FILE, sign)
            if enemy & FILES[np.uint64(file)] == NONE:
                value += _weigh(state, counts, KING_OPEN_FILE, sign)
        # 64 if there is no pawn: rank 8.
        advance = max(4 - (lowest_bit(enemy & FILES[np.uint64(file)]) >> 3), 0)
        value += _weigh(state, counts, STORM_ADVANCE, sign * advance)
        nearest = lowest_bit(enemy & on_file)
        rank = nearest >> 3
        if rank <= 4:
            is_blocked = (own << _EIGHT) & BITS[np.uint64(nearest)] != NONE
            value += _weigh(state, counts, STORM_BLOCKED if is_blocked else STORM + max(rank - 1, 0), sign)
    if own != NONE:
        distance = np.int64(SQUARES)
        bits = own
        while bits != NONE:
            distance = min(distance, np.int64(_DISTANCES[np.uint64(king), np.uint64(lowest_bit(bits))]))
            bits &= bits - ONE
        value += _weigh(state, counts, KING_PAWN_DISTANCE, sign * distance)
    return value, passed


@jit
def _count_pawns(state, counts):
    """Value of the pawns and of both kings' pawn shelter, for White, as a packed pair (opening, endgame).

    Also returns the passed pawns of both sides as a bitboard. ``counts`` is as for ``sum_of_terms``.
    """
    white, black = state.pieces[np.uint64(PAWN)], state.pieces[np.uint64(PAWN + 8)]
    ours, our_passed = _count_side_of_pawns(state, counts, white, black, np.int64(state.king[0]), np.int64(1))
    theirs, their_passed = _count_side_of_pawns(
        state, counts, _turned(black), _turned(white), np.int64(state.king[1]) ^ 56, np.int64(-1)
    )
    return ours + theirs, our_passed | _turned(their_passed)


@jit
def _pawns(state, counts):
    """The results of ``_count_pawns``, taken from the state's cache if ``counts`` is ``None``."""
    if counts is not None:
        return _count_pawns(state, counts)
    key = state.pawn_key ^ _KING_MIX[0, np.uint64(state.king[0])] ^ _KING_MIX[1, np.uint64(state.king[1])]
    place = key & _PAWN_CACHE_MASK
    if state.pawn_cache[place, 0] != key:
        value, passed = _count_pawns(state, counts)
        state.pawn_cache[place, 0] = key
        state.pawn_cache[place, 1] = passed
        state.pawn_cache[place, 2] = np.uint64(value)
        return value, passed
    return np.int64(state.pawn_cache[place, 2]), state.pawn_cache[place, 1]


@jit
def _count_material(state, counts):
    """Value, for White, of the material terms, products of two piece counts, as a packed pair (opening, endgame)."""
    value = np.int64(0)
    term = MATERIAL
    for kind in range(KNIGHT, KING):
        own, enemy = popcount(state.pieces[np.uint64(kind)]), popcount(state.pieces[np.uint64(kind + 8)])
        if own | enemy == 0:
            term += 2 * kind + 1
            continue
        for other in range(kind):
            own_others, enemy_others = (
                popcount(state.pieces[np.uint64(other)]),
                popcount(state.pieces[np.uint64(other + 8)]),
            )
            value += _weigh(state, counts, term, own * own_others - enemy * enemy_others)
            value += _weigh(state, counts, term + 1, own * enemy_others - enemy * own_others)
            term += 2
        value += _weigh(state, counts, term, (own * (own - 1) - enemy * (enemy - 1)) >> 1)
        term += 1
    return value


@jit
def _material(state, counts):
    """The result of ``_count_material``, taken from the state's cache if ``counts`` is ``None``."""
    if counts is not None:
        return _count_material(state, counts)
    place = (state.counts * HASH_FACTOR) >> _MATERIAL_CACHE_SHIFT
    if state.material_cache[place, 0] != state.counts:
        value = _count_material(state, counts)
        state.material_cache[place, 0] = state.counts
        state.material_cache[place, 1] = np.uint64(value)
        return value
    return np.int64(state.material_cache[place, 1])


@jit
def _count_pieces(state, counts, side, sign, all_pieces, own_pawn_attacks, enemy_pawn_attacks):
    """Value, for White, of the mobility and placement of one side's knights, bishops, rooks and queens.

    The value is a packed pair (opening, endgame). ``sign`` is 1 for White and -1 for Black, ``counts`` as for
    ``sum_of_terms``; the last three arguments are bitboards. Also returns bitboards of the squares attacked by knights,
    bishops, rooks and queens, and by two or more of all the side's pieces, and the sum of attack values against the
    enemy's king.
    """
    base = np.uint64(side << 3)
    enemy = np.uint64(8) - base
    own_pawns, enemy_pawns = state.pieces[base + np.uint64(PAWN)], state.pieces[enemy + np.uint64(PAWN)]
    zone = _ZONES[np.uint64(state.king[np.uint64(1 - side)])]
    king = np.uint64(state.king[np.uint64(side)])
    once = KING_ATTACKS[king]
    twice = (once & own_pawn_attacks) | (pawns_attack_west(side, own_pawns) & pawns_attack_east(side, own_pawns))
    once |= own_pawn_attacks
    free = ~(own_pawns | state.pieces[base + np.uint64(KING)] | enemy_pawn_attacks)
    queens = state.pieces[base + np.uint64(QUEEN)]
    # No enemy pawn can ever attack these squares.
    ahead = pawns_step(1 - side, enemy_pawns)
    spans = _beside(_down(ahead) if side == WHITE else _up(ahead))
    holes = _OUTPOST_RANKS[np.uint64(side)] & ~spans
    outposts = holes & own_pawn_attacks
    danger = np.int64(0)
    value = np.int64(0)

    knight_attacks = NONE
    bits = state.pieces[base + np.uint64(KNIGHT)]
    minors = bits
    value += _weigh(state, counts, KNIGHT_OUTPOST, sign * popcount(bits & outposts))
    while bits != NONE:
        square = lowest_bit(bits)
        reached = KNIGHT_ATTACKS[np.uint64(square)]
        bits &= bits - ONE
        knight_attacks |= reached
        twice |= once & reached
        once |= reached
        value += _weigh(state, counts, KNIGHT_KING_DISTANCE, sign * np.int64(_DISTANCES[king, np.uint64(square)]))
        value += _weigh(state, counts, KNIGHT_MOBILITY + popcount(reached & free), sign)
        if reached & zone != NONE:
            danger += _ATTACKER[KNIGHT]
    reachable = popcount(knight_attacks & outposts & ~state.pieces[base + np.uint64(6)])
    value += _weigh(state, counts, OUTPOST_IN_REACH, sign * reachable)

    bishop_reach = NONE
    bits = state.pieces[base + np.uint64(BISHOP)]
    minors |= bits
    value += _weigh(state, counts, BISHOP_OUTPOST, sign * popcount(bits & outposts))
    if bits & _DARK_SQUARES != NONE and bits & ~_DARK_SQUARES != NONE:
        value += _weigh(state, counts, BISHOP_PAIR, sign)
        value += _weigh(state, counts, BISHOP_PAIR_PAWNS, sign * popcount(own_pawns | enemy_pawns))
    while bits != NONE:
        square = lowest_bit(bits)
        colour = _DARK_SQUARES if BITS[np.uint64(square)] & _DARK_SQUARES != NONE else ~_DARK_SQUARES
        bits &= bits - ONE
        reached = bishop_attacks(square, all_pieces ^ queens)
        bishop_reach |= reached
        twice |= once & reached
        once |= reached
        value += _weigh(state, counts, BISHOP_KING_DISTANCE, sign * np.int64(_DISTANCES[king, np.uint64(square)]))
        if has_several(BISHOP_LINES[np.uint64(square)] & _CENTRE) and has_several(
            bishop_attacks(square, own_pawns | enemy_pawns) & _CENTRE
        ):
            value += _weigh(state, counts, LONG_DIAGONAL, sign)
        value += _weigh(state, counts, BISHOP_MOBILITY + popcount(reached & free), sign)
        value += _weigh(state, counts, BISHOP_PAWNS, sign * popcount(own_pawns & colour))
        if reached & zone != NONE:
            danger += _ATTACKER[BISHOP]
    value += _weigh(state, counts, MINOR_IN_HOLE, sign * popcount(minors & holes & ~own_pawn_attacks))
    value += _weigh(state, counts, MINOR_BEHIND_PAWN, sign * popcount(pawns_step(side, minors) & own_pawns))

    rook_reach = NONE
    bits = state.pieces[base + np.uint64(ROOK)]
    others = all_pieces ^ queens ^ bits
    while bits != NONE:
        square = lowest_bit(bits)
        bits &= bits - ONE
        reached = rook_attacks(square, others)
        rook_reach |= reached
        twice |= once & reached
        once |= reached
        mobility = popcount(reached & free)
        value += _weigh(state, counts, ROOK_MOBILITY + mobility, sign)
        file = FILES[np.uint64(square & 7)]
        if file & own_pawns == NONE:
            is_open = file & enemy_pawns == NONE
            value += _weigh(state, counts, ROOK_OPEN_FILE if is_open else ROOK_HALF_OPEN_FILE, sign)
        elif mobility <= 3:
            king_file = np.int64(king) & 7
            if (square & 7) < king_file if king_file < 4 else (square & 7) > king_file:
                value += _weigh(state, counts, TRAPPED_ROOK, sign)
        if reached & zone != NONE:
            danger += _ATTACKER[ROOK]

    queen_reach = NONE
    bits = queens
    while bits != NONE:
        square = lowest_bit(bits)
        bits &= bits - ONE
        reached = bishop_attacks(square, all_pieces) | rook_attacks(square, all_pieces)
        queen_reach |= reached
        twice |= once & reached
        once |= reached
        value += _weigh(state, counts, QUEEN_MOBILITY + popcount(reached & free), sign)
        if reached & zone != NONE:
            danger += _ATTACKER[QUEEN]
    return value, knight_attacks, bishop_reach, rook_reach, queen_reach, twice, danger


@jit
def _count_danger(state, counts, side, sign, all_pieces, attacks, defended, danger):
    """Value, for White, of one side's attacks on the enemy's king, as a packed pair (opening, endgame).

    ``danger`` is the sum of attack values so far; ``sign`` is 1 for White and -1 for Black. ``attacks`` are bitboards
    of the squares attacked by the side's knights, bishops, rooks and queens, by all its pieces except its king, and by
    two or more of all its pieces. ``defended`` are three bitboards of the squares that the enemy defends: without its
    queens and king, with all its pieces, and by two or more.
    """
    base = np.uint64(side << 3)
    king = np.uint64(state.king[np.uint64(1 - side)])
    zone = _ZONES[king]
    knights, bishops, rooks, queens, every, twice = attacks
    firmly, at_all, defended_twice = defended
    danger += _ZONE_SQUARE * popcount(zone & every) + _LOOSE_SQUARE * popcount(zone & every & ~firmly)
    not_own = ~state.pieces[base + np.uint64(6)]
    safe = not_own & ~at_all
    along = rook_attacks(king, all_pieces)
    across = bishop_attacks(king, all_pieces)
    by_knight, by_bishop = KNIGHT_ATTACKS[king] & knights & not_own, across & bishops & not_own
    by_rook, by_queen = along & rooks & not_own, (along | across) & queens & not_own
    if by_knight & safe != NONE:
        danger += _CHECK[KNIGHT]
    if by_bishop & safe != NONE:
        danger += _CHECK[BISHOP]
    if by_rook & safe != NONE:
        danger += _CHECK[ROOK]
    if by_queen & safe != NONE:
        danger += _CHECK[QUEEN]
    if state.pieces[base + np.uint64(QUEEN)] == NONE:
        danger -= _WITHOUT_QUEEN
    value = np.int64(0)
    index = min(danger >> 1, MAX_DANGER)
    if index > 0:
        value += _weigh(state, counts, DANGER - 1 + index, sign)
    safe |= every & twice & ~firmly & ~defended_twice
    unsafe = (by_knight | by_bishop | by_rook | by_queen) & ~safe
    value += _weigh(state, counts, SAFE_CHECK, sign * popcount(by_knight & safe))
    value += _weigh(state, counts, SAFE_CHECK + 1, sign * popcount(by_bishop & safe))
    value += _weigh(state, counts, SAFE_CHECK + 2, sign * popcount(by_rook & safe))
    value += _weigh(state, counts, SAFE_CHECK + 3, sign * popcount(by_queen & safe))
    value += _weigh(state, counts, UNSAFE_CHECK, sign * popcount(unsafe))
    value += _weigh(state, counts, ZONE_TWICE, sign * popcount(zone & twice))
    value += _weigh(state, counts, ZONE_TWICE_LOOSE, sign * popcount(zone & twice & ~defended_twice))
    flank = _FLANKS[king & np.uint64(7)] & _CAMPS[np.uint64(1 - side)]
    value += _weigh(state, counts, FLANK_DEFENDED, sign * popcount(flank & at_all))
    enemy = np.uint64(8) - base
    straight = state.pieces[base + np.uint64(ROOK)] | state.pieces[base + np.uint64(QUEEN)]
    diagonal = state.pieces[base + np.uint64(BISHOP)] | state.pieces[base + np.uint64(QUEEN)]
    sliders = (ROOK_LINES[king] & straight) | (BISHOP_LINES[king] & diagonal)
    while sliders != NONE:
        between = BETWEEN[king, np.uint64(lowest_bit(sliders))] & all_pieces
        sliders &= sliders - ONE
        if between == NONE or has_several(between):
            continue
        value += _weigh(state, counts, KING_BLOCKER, sign)
        if between & (state.pieces[enemy + np.uint64(KNIGHT)] | state.pieces[enemy + np.uint64(BISHOP)]) != NONE:
            value += _weigh(state, counts, PINNED_MINOR, sign)
        elif between & state.pieces[enemy + np.uint64(ROOK)] != NONE:
            value += _weigh(state, counts, PINNED_ROOK, sign)
    return value


@jit
def _count_threats(state, counts, side, sign, all_pieces, own_attacks, enemy_attacks):
    """Value, for White, of one side's attacks on enemy pieces, as a packed pair (opening, endgame).

    ``sign`` is 1 for White and -1 for Black, ``counts`` as for ``sum_of_terms``. ``own_attacks`` are bitboards of the
    squares attacked by the side's pawns, knights, bishops, rooks and king, by all its pieces, and by two or more of
    them. ``enemy_attacks`` are bitboards of the squares attacked by the enemy's pawns, by all its pieces, and by two or
    more of them.
    """
    base = np.uint64(side << 3)
    enemy = np.uint64(8) - base
    by_pawns, by_knights, by_bishops, by_rooks, by_king, by_any, by_two = own_attacks
    guarded_by_pawns, guarded, guarded_twice = enemy_attacks
    knights, bishops = state.pieces[enemy + np.uint64(KNIGHT)], state.pieces[enemy + np.uint64(BISHOP)]
    rooks, queens = state.pieces[enemy + np.uint64(ROOK)], state.pieces[enemy + np.uint64(QUEEN)]
    minors = knights | bishops
    by_minors = by_knights | by_bishops
    value = _weigh(state, counts, PAWN_ON_MINOR, sign * popcount(by_pawns & minors))
    value += _weigh(state, counts, PAWN_ON_ROOK, sign * popcount(by_pawns & rooks))
    value += _weigh(state, counts, PAWN_ON_QUEEN, sign * popcount(by_pawns & queens))
    crossed = popcount(by_knights & bishops) + popcount(by_bishops & knights)
    value += _weigh(state, counts, MINOR_ON_MINOR, sign * crossed)
    value += _weigh(state, counts, MINOR_ON_ROOK, sign * popcount(by_minors & rooks))
    value += _weigh(state, counts, MINOR_ON_QUEEN, sign * popcount(by_minors & queens))
    value += _weigh(state, counts, ROOK_ON_MINOR, sign * popcount(by_rooks & minors & ~guarded_by_pawns))
    value += _weigh(state, counts, ROOK_ON_QUEEN, sign * popcount(by_rooks & queens))
    loose = state.pieces[enemy + np.uint64(6)] & ~guarded & ~state.pieces[enemy + np.uint64(KING)]
    value += _weigh(state, counts, KING_ON_LOOSE, sign * popcount(by_king & loose))
    value += _weigh(state, counts, HANGING, sign * popcount(by_any & loose))
    held = guarded_by_pawns | (guarded_twice & ~by_two)
    weak = by_any & ~held
    enemy_pawns = state.pieces[enemy + np.uint64(PAWN)]
    value += _weigh(state, counts, MINOR_ON_PAWN, sign * popcount(by_minors & enemy_pawns & weak))
    value += _weigh(state, counts, ROOK_ON_PAWN, sign * popcount(by_rooks & enemy_pawns & weak))
    value += _weigh(state, counts, HANGING_TWICE, sign * popcount((minors | rooks | queens) & weak & by_two & guarded))
    value += _weigh(state, counts, RESTRICTED, sign * popcount(guarded & weak))
    if queens != NONE and not has_several(queens):
        queen = lowest_bit(queens)
        reached = by_bishops & bishop_attacks(queen, all_pieces) | by_rooks & rook_attacks(queen, all_pieces)
        reached &= by_two & ~held & ~state.pieces[base + np.uint64(6)]
        value += _weigh(state, counts, SLIDER_ON_QUEEN, sign * popcount(reached))
    pawns = state.pieces[base + np.uint64(PAWN)]
    steps = pawns_step(side, pawns) & ~all_pieces
    value += _weigh(state, counts, BLOCKED_PAWNS, sign * (popcount(pawns) - popcount(steps)))
    steps |= pawns_step(side, steps & _THIRD_RANK[np.uint64(side)]) & ~all_pieces
    steps &= ~guarded_by_pawns & (by_any | ~guarded)
    pushed = pawns_attack(side, steps) & (minors | rooks | queens)
    value += _weigh(state, counts, PAWN_PUSH, sign * popcount(pushed))
    free = _SPACE[np.uint64(side)] & ~pawns & ~guarded_by_pawns
    return value + _weigh(state, counts, SPACE, sign * popcount(free))


@jit
def _count_passed(state, counts, side, sign, passed, all_pieces, own_attacks, enemy_attacks):
    """Value, for White, of one side's passed pawns (``passed``) without their ranks, as a packed pair (opening,
    endgame).

    Counts free, safe and defended squares ahead of the pawns, the distances of both kings, and rooks behind the pawns.
    ``sign`` is 1 for White and -1 for Black, ``counts`` as for ``sum_of_terms``. ``passed``, ``all_pieces`` and the
    attacks are bitboards.
    """
    base = np.uint64(side << 3)
    turn = 56 * side
    own_king, enemy_king = np.uint64(state.king[np.uint64(side)]), np.uint64(state.king[np.uint64(1 - side)])
    own_rooks = state.pieces[base + np.uint64(ROOK)]
    enemy_rooks = state.pieces[np.uint64(8) - base + np.uint64(ROOK)]
    value = np.int64(0)
    bits = passed & state.pieces[base + np.uint64(PAWN)]
    while bits != NONE:
        square = lowest_bit(bits)
        bits &= bits - ONE
        rank = (square ^ turn) >> 3
        step = rank - FIRST_FREE_RANK
        if step < 0:
            continue
        ahead = np.uint64(square + 8 - 16 * side)
        if BITS[ahead] & all_pieces == NONE:
            value += _weigh(state, counts, PASSED_FREE + step, sign)
        last = np.uint64((square & 7) + (56 ^ turn))
        way = BETWEEN[np.uint64(square), last] | BITS[last]
        if way & enemy_attacks == NONE:
            value += _weigh(state, counts, PASSED_SAFE + step, sign)
            if way & state.pieces[np.uint64(14) - base] == NONE:
                value += _weigh(state, counts, PASSED_CLEAR, sign * (step + 1))
        value += _weigh(state, counts, PASSED_DEFENDED, sign * (step + 1) * popcount(way & own_attacks))
        value += _weigh(state, counts, PASSED_OWN_KING, sign * (step + 1) * np.int64(_DISTANCES[own_king, ahead]))
        value += _weigh(state, counts, PASSED_ENEMY_KING, sign * (step + 1) * np.int64(_DISTANCES[enemy_king, ahead]))
        behind = FILES[np.uint64(square & 7)] & rook_attacks(square, all_pieces)
        behind &= BITS[np.uint64(square)] - ONE if side == WHITE else ~(BITS[np.uint64(square)] - ONE)
        value += _weigh(state, counts, PASSED_ROOK_BEHIND, sign * np.int64(behind & own_rooks != NONE))
        value += _weigh(state, counts, PASSED_ENEMY_ROOK_BEHIND, sign * np.int64(behind & enemy_rooks != NONE))
    return value


@jit
def sum_of_terms(state, counts):
    """Sum of all evaluation terms, for White, as a packed pair (opening, endgame).

    ``counts`` is ``None``, or an int16 array of shape (TERM_COUNT,) to which each term's count is added.
    """
    all_pieces = state.pieces[np.uint64(6)] | state.pieces[np.uint64(14)]
    white_pawns = pawns_attack(np.int64(0), state.pieces[np.uint64(PAWN)])
    black_pawns = pawns_attack(np.int64(1), state.pieces[np.uint64(PAWN + 8)])
    value, passed = _pawns(state, counts)
    value += _material(state, counts)
    found, w_knights, w_bishops, w_rooks, w_queens, w_twice, w_danger = _count_pieces(
        state, counts, np.int64(0), np.int64(1), all_pieces, white_pawns, black_pawns
    )
    value += found
    found, b_knights, b_bishops, b_rooks, b_queens, b_twice, b_danger = _count_pieces(
        state, counts, np.int64(1), np.int64(-1), all_pieces, black_pawns, white_pawns
    )
    value += found
    w_king, b_king = KING_ATTACKS[np.uint64(state.king[0])], KING_ATTACKS[np.uint64(state.king[1])]
    w_pieces = w_knights | w_bishops | w_rooks
    b_pieces = b_knights | b_bishops | b_rooks
    w_firmly, b_firmly = w_pieces | white_pawns, b_pieces | black_pawns
    white, black = w_firmly | w_queens | w_king, b_firmly | b_queens | b_king
    value += _count_danger(
        state, counts, np.int64(0), np.int64(1), all_pieces,
        (w_knights, w_bishops, w_rooks, w_queens, w_firmly | w_queens, w_twice), (b_firmly, black, b_twice), w_danger,
    )  # fmt: skip
    value += _count_danger(
        state, counts, np.int64(1), np.int64(-1), all_pieces,
        (b_knights, b_bishops, b_rooks, b_queens, b_firmly | b_queens, b_twice), (w_firmly, white, w_twice), b_danger,
    )  # fmt: skip
    value += _count_threats(
        state, counts, np.int64(0), np.int64(1), all_pieces,
        (white_pawns, w_knights, w_bishops, w_rooks, w_king, white, w_twice), (black_pawns, black, b_twice),
    )  # fmt: skip
    value += _count_threats(
        state, counts, np.int64(1), np.int64(-1), all_pieces,
        (black_pawns, b_knights, b_bishops, b_rooks, b_king, black, b_twice), (white_pawns, white, w_twice),
    )  # fmt: skip
    if passed != NONE:
        value += _count_passed(state, counts, np.int64(0), np.int64(1), passed, all_pieces, white, black)
        value += _count_passed(state, counts, np.int64(1), np.int64(-1), passed, all_pieces, black, white)
    return value
