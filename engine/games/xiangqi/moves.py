"""Legal move generation for Xiangqi.

Only legal moves are generated. If the side to move is not in check, most moves are legal without a test. Two groups of
moves are always tested: moves of the general, and moves of *suspects*, pieces that may expose the general by leaving
their square (pinned pieces, cannon screens, horse legs). If the side is in check, or an enemy cannon faces the general
with nothing in between, moves of other pieces to *critical* squares are also tested: there a piece would block, capture
or become a screen. All remaining moves are illegal in check and legal otherwise.
"""

from __future__ import annotations

import numpy as np

from elolab.engine.compiled.kernel import jit, jit_for_constants, lowest_bit, popcount
from elolab.engine.games.xiangqi.position import (
    ADVISOR_MASKS,
    ALIGNED,
    BIT_OF,
    BITS_IN_HALF,
    CANNON,
    CANNON_SHIFT,
    CHECK_ZONE,
    DOWNWARD_SHIFT,
    ELEPHANT_EYES,
    ELEPHANT_TARGETS,
    FILE_MET,
    FILE_OF,
    FILE_REACH,
    FIRST_CANNON,
    FIRST_ELEPHANT,
    FIRST_HORSE,
    FIRST_PAWN,
    FIRST_ROOK,
    GENERAL,
    GENERAL_TARGETS,
    GUARD_SQUARES,
    HALF_OF,
    HALF_OF_RANK,
    HALF_SQUARES,
    HORSE_LEG_BETWEEN,
    HORSE_MASKS,
    LAST_RANK_OF_HALF,
    NONE,
    NOT_FIRST_FILE,
    NOT_LAST_FILE,
    NOWHERE,
    PAWN_MASKS,
    RANK_MET,
    RANK_OF,
    RANK_REACH,
    RANK_SHIFT,
    RED,
    ROOK,
    ROOK_SHIFT,
    SLIDE_MASK,
    SLOT_BITS,
    SLOT_TYPE,
    SQUARE_BITS,
    UPWARD_SHIFT,
    make,
    unmake,
)

ALL, CAPTURES, COUNT = 0, 1, 2
"""Modes of move generation: all legal moves, captures only, or only the number of legal moves."""

_CRITICAL_POSITION = 1 << 16
"""Bit in the result of ``_suspects`` that is set if the position has critical squares.

On a critical square a piece would block a check, capture the checking piece, or become a cannon's screen.
"""

NO_TEST, EXACT_TEST, TEST_IF_CRITICAL = 0, 1, 2
"""Which moves of a piece are tested for legality: none, all, or only moves to critical squares.

On a critical square the piece would block a check, capture the checking piece, or become a cannon's screen.
"""

# Typed integers instead of literals, so that ``_take`` is compiled only once for each mode.
_ONE, _RANK, _FIRST_HALF, _SECOND_HALF = np.int64(1), np.int64(9), np.int64(0), np.int64(HALF_SQUARES)


@jit
def rank_bits(state, side, rank):
    """Nine bits, one per file: the squares of rank ``rank`` that ``side`` occupies."""
    return (state.occupied[side, HALF_OF_RANK[rank]] >> RANK_SHIFT[rank]) & 511


@jit
def rank_index(state, rank, file):
    """Index into ``RANK_REACH`` and ``RANK_MET`` for the square (file, rank) and the current occupancy of its rank."""
    return (file << 9) + (rank_bits(state, 0, rank) | rank_bits(state, 1, rank))


@jit
def file_index(state, rank, file):
    """Index into ``FILE_REACH`` and ``FILE_MET`` for the square (file, rank) and the current occupancy of its file."""
    return (rank << 10) + (np.int64(state.file_bits[0, file]) | np.int64(state.file_bits[1, file]))


@jit
def _aligned(state, enemy, square):
    """Lines through a square that contain an enemy rook, cannon or general: bit 0 for the rank, bit 1 for the file.

    ``enemy`` is the enemy's first piece slot, 16 or 32.
    """
    first = enemy + FIRST_ROOK
    lines = ALIGNED[square, state.square[first]] | ALIGNED[square, state.square[first + 1]]
    lines |= ALIGNED[square, state.square[first + 2]] | ALIGNED[square, state.square[first + 3]]
    return lines | ALIGNED[square, state.square[enemy]]


@jit
def _slider_attacks(state, enemy, line, start, step, target, moved):
    """Whether an enemy rook, general or cannon would attack a square along a line after a move.

    ``enemy`` is the enemy's first piece slot, 16 or 32. ``line`` is the square's entry in ``RANK_MET`` or ``FILE_MET``
    after the move. Square number p of the line is ``start`` + p * ``step``. ``moved`` is the slot that stands on
    ``target`` after the move, or 0 if that piece belongs to the attacked side.
    """
    for shift in (UPWARD_SHIFT, DOWNWARD_SHIFT):
        first = (line >> shift) & 15
        if first == NONE:
            continue
        at = (start + first * step) & SQUARE_BITS
        slot = moved if at == target else np.int64(state.board[at])
        if slot & enemy:
            kind = SLOT_TYPE[slot]
            if kind == ROOK or kind == GENERAL:
                return True
        second = (line >> (shift + 4)) & 15
        if second == NONE:
            continue
        at = (start + second * step) & SQUARE_BITS
        slot = moved if at == target else np.int64(state.board[at])
        if slot & enemy and SLOT_TYPE[slot] == CANNON:
            return True
    return False


@jit_for_constants
def is_safe(state, side, origin, target):
    """Whether ``side``'s general is safe after its piece on ``origin`` moves to ``target``.

    If both squares are ``NOWHERE``, tests the current position. Generals that face each other count as an attack.
    """
    side &= 1
    general = np.int64(state.square[(side + 1) << 4])
    if origin == general:
        general = np.int64(target)
    return not _attacked_once_moved(state, side, general, 0, origin, target)


@jit_for_constants
def _attacked_once_moved(state, side, general, moved, origin, target):
    """Whether the general of ``side`` on the square ``general`` is attacked after the piece on ``origin`` moves to
    ``target``.

    ``moved`` is the piece slot of the moving piece if it belongs to the other side, otherwise 0.
    """
    side &= 1
    origin &= SQUARE_BITS
    target &= SQUARE_BITS
    enemy = 32 - (side << 4)
    rank = np.int64(RANK_OF[general])
    file = np.int64(FILE_OF[general])
    aligned = _aligned(state, enemy, general)
    if moved != 0:
        aligned |= ALIGNED[general, target]
    if aligned & 1:
        bits = rank_bits(state, 0, rank) | rank_bits(state, 1, rank)
        if RANK_OF[origin] == rank:
            bits &= ~(1 << np.int64(FILE_OF[origin]))
        if RANK_OF[target] == rank:
            bits |= 1 << np.int64(FILE_OF[target])
        if _slider_attacks(state, enemy, np.int64(RANK_MET[(file << 9) + (bits & 511)]), rank * 9, 1, target, moved):
            return True
    if aligned & 2:
        bits = np.int64(state.file_bits[0, file]) | np.int64(state.file_bits[1, file])
        if FILE_OF[origin] == file:
            bits &= ~(1 << np.int64(RANK_OF[origin]))
        if FILE_OF[target] == file:
            bits |= 1 << np.int64(RANK_OF[target])
        if _slider_attacks(state, enemy, np.int64(FILE_MET[(rank << 10) + (bits & 1023)]), file, 9, target, moved):
            return True
    for horse in (enemy + FIRST_HORSE, enemy + FIRST_HORSE + 1):
        at = target if horse == moved else np.int64(state.square[horse])
        leg = np.int64(HORSE_LEG_BETWEEN[at, general])
        if leg != 255 and (at != target or horse == moved) and leg != target:
            if state.board[leg] == 0 or leg == origin:
                return True
    pawns = enemy + FIRST_PAWN
    for at in (general - 1, general + 1, general + 9 - 18 * side):
        slot = moved if at == target else np.int64(state.board[at & SQUARE_BITS])
        if slot >= pawns and slot < pawns + 5 and at != origin:
            return True
    return False


@jit
def _touches_zone(general, move):
    """Whether a move of another piece may start or end an attack on the general that stands on square ``general``."""
    return CHECK_ZONE[general, move & 127] | CHECK_ZONE[general, (move >> 7) & 127] != 0


@jit
def in_check(state):
    """Whether the side to move is in check. The state caches the result until the position changes."""
    if state.in_check < 0:
        side = np.int64(state.side) & 1
        ply = np.int64(state.ply)
        # The last move's side was legal, so the general was not attacked before: only the move's squares matter.
        if ply > 0 and not _touches_zone(state.square[(side + 1) << 4], np.int64(state.undo_move[ply - 1])):
            state.in_check = 0
        else:
            state.in_check = 0 if is_safe(state, side, NOWHERE, NOWHERE) else 1
    return state.in_check != 0


@jit
def gives_check(state, move):
    other = 1 - (np.int64(state.side) & 1)
    general = np.int64(state.square[(other + 1) << 4])
    if not _touches_zone(general, move):
        return False
    origin = move & 127
    return _attacked_once_moved(state, other, general, np.int64(state.board[origin]), origin, move >> 7)


@jit
def _is_legal(state, move, test):
    """Whether a move of a piece other than the general is legal; ``test`` is ``EXACT_TEST`` or ``TEST_IF_CRITICAL``."""
    side = np.int64(state.side) & 1
    if test == TEST_IF_CRITICAL:
        target = (move >> 7) & SQUARE_BITS
        if state.critical[HALF_OF[target]] & BIT_OF[target] == 0:
            return not in_check(state)
    elif not _touches_zone(state.square[(side + 1) << 4], move):
        return not in_check(state)
    return is_safe(state, side, move & 127, move >> 7)


@jit
def _add_critical(state, square):
    """Mark a square as critical in the state: moves to it must be tested for legality.

    Returns ``_CRITICAL_POSITION``, a bit that ``_suspects`` includes in its result.
    """
    square &= SQUARE_BITS
    state.critical[HALF_OF[square]] |= BIT_OF[square]
    return _CRITICAL_POSITION


@jit
def _add_critical_line(state, start, step, one, other):
    """Mark the squares with the numbers ``one`` to ``other`` of a line as critical: moves to them must be tested for
    legality.

    Square number p of the line is ``start`` + p * ``step``.
    """
    for place in range(min(one, other), max(one, other) + 1):
        _add_critical(state, start + place * step)
    return _CRITICAL_POSITION


@jit
def _suspects_on_line(state, base, line, start, step, place):
    """Suspects on one line through the general: pieces of its side that may expose it by leaving their squares; see
    ``_suspects``.

    Also marks the line's critical squares.

    The general is square number ``place`` of the line; square number p is ``start`` + p * ``step``. ``base`` is the
    first piece slot of the general's side. ``line`` is the general's entry in ``RANK_MET`` or ``FILE_MET``.
    """
    enemy = 48 - base
    suspects = 0
    for shift in (UPWARD_SHIFT, DOWNWARD_SHIFT):
        first = (line >> shift) & 15
        if first == NONE:
            continue
        one = np.int64(state.board[(start + first * step) & SQUARE_BITS])
        if one & enemy:
            kind = SLOT_TYPE[one]
            # A cannon with nothing in between gives no check, but any piece in between becomes its screen.
            if kind == ROOK or kind == CANNON or kind == GENERAL:
                suspects |= _add_critical_line(state, start, step, place, first)
        second = (line >> (shift + 4)) & 15
        if second == NONE:
            continue
        two = np.int64(state.board[(start + second * step) & SQUARE_BITS])
        if two & enemy:
            kind = SLOT_TYPE[two]
            if kind == CANNON:
                suspects |= _add_critical_line(state, start, step, place, second)
            if (kind == ROOK or kind == GENERAL or kind == CANNON) and one & base:
                suspects |= 1 << (one - base)
        third = (line >> (shift + 8)) & 15
        if third == NONE:
            continue
        three = np.int64(state.board[(start + third * step) & SQUARE_BITS])
        if three & enemy and SLOT_TYPE[three] == CANNON:
            if one & base:
                suspects |= 1 << (one - base)
            if two & base:
                suspects |= 1 << (two - base)
    return suspects


@jit
def _suspects(state, base, general):
    """Suspects of the side to move: pieces whose moves must all be tested. Bit n stands for piece slot ``base`` + n.

    If the position has critical squares, the result includes ``_CRITICAL_POSITION``, and ``state.critical`` has the
    squares. ``state.critical`` may have more squares than necessary; this costs only needless tests. ``base`` is the
    side's first slot, and ``general`` the square of its general.
    """
    base &= SLOT_BITS
    general &= SQUARE_BITS
    enemy = 48 - base
    rank = np.int64(RANK_OF[general])
    file = np.int64(FILE_OF[general])
    suspects = 0
    state.critical[0] = 0
    state.critical[1] = 0
    aligned = _aligned(state, enemy, general)
    if aligned & 1:
        line = np.int64(RANK_MET[rank_index(state, rank, file)])
        suspects |= _suspects_on_line(state, base, line, rank * 9, 1, file)
    if aligned & 2:
        line = np.int64(FILE_MET[file_index(state, rank, file)])
        suspects |= _suspects_on_line(state, base, line, file, 9, rank)
    for horse in (enemy + FIRST_HORSE, enemy + FIRST_HORSE + 1):
        at = np.int64(state.square[horse])
        leg = np.int64(HORSE_LEG_BETWEEN[at, general])
        if leg != 255:
            blocker = np.int64(state.board[leg])
            if blocker == 0:
                suspects |= _add_critical(state, leg) | _add_critical(state, at)
            elif blocker & base:
                suspects |= 1 << (blocker - base)
    pawns = enemy + FIRST_PAWN
    for at in (general - 1, general + 1, general + 9 - 18 * ((base >> 4) - 1)):
        slot = np.int64(state.board[at & SQUARE_BITS])
        if slot >= pawns and slot < pawns + 5:
            suspects |= _add_critical(state, np.int64(at))
    return suspects


@jit_for_constants
def _take(state, lists, row, count, mode, test, origin, mask, start, step):
    """Append to row ``row`` of ``lists.moves`` the legal moves from ``origin`` to the squares of ``mask``, or only
    count these moves.

    Bit b of ``mask`` is square ``start`` + b * ``step``. ``mode`` is a mode of move generation such as ``CAPTURES``,
    ``test`` a legality test such as ``NO_TEST``. Returns ``count`` plus the number of moves.
    """
    if mode == COUNT and test == NO_TEST:
        return count + popcount(mask)
    while mask != 0:
        target = (start + lowest_bit(mask) * step) & SQUARE_BITS
        mask &= mask - 1
        move = origin | (target << 7)
        if test == NO_TEST or _is_legal(state, move, test):
            if mode != COUNT:
                lists.moves[np.uint64(row), np.uint64(count)] = move
            count += 1
    return count


@jit
def _elephant_mask(state, origin):
    """Squares that an elephant on ``origin`` can reach, as bits of the elephant's half of the board."""
    mask = 0
    index = 0
    while ELEPHANT_TARGETS[origin, index] != NOWHERE:
        if state.board[ELEPHANT_EYES[origin, index]] == 0:
            mask |= BIT_OF[ELEPHANT_TARGETS[origin, index]]
        index += 1
    return mask


@jit_for_constants
def _take_sliders(state, lists, row, count, mode, suspects, others, base):
    """Append or count the moves of rooks and cannons. Returns ``count`` plus the number of moves.

    All moves of ``suspects``, pieces that may expose the general, are tested for legality; bit n stands for piece slot
    ``base`` + n. ``others`` is the legality test for other pieces. ``base`` is the side's first slot, 16 or 32.
    """
    base &= SLOT_BITS
    side = (base >> 4) - 1
    for offset in range(FIRST_ROOK, FIRST_CANNON + 2):
        origin = np.int64(state.square[base + offset])
        if origin == NOWHERE:
            continue
        test = EXACT_TEST if (suspects >> offset) & 1 else others
        shift = ROOK_SHIFT if offset < FIRST_CANNON else CANNON_SHIFT
        rank = np.int64(RANK_OF[origin])
        file = np.int64(FILE_OF[origin])
        enemies = rank_bits(state, 1 - side, rank)
        line = np.int64(RANK_REACH[(file << 9) + (rank_bits(state, side, rank) | enemies)])
        mask = (line >> shift) & enemies
        if mode != CAPTURES:
            mask |= line & SLIDE_MASK
        count = _take(state, lists, row, count, mode, test, origin, mask, rank * 9, _ONE)
        enemies = np.int64(state.file_bits[1 - side, file])
        line = np.int64(FILE_REACH[(rank << 10) + (np.int64(state.file_bits[side, file]) | enemies)])
        mask = (line >> shift) & enemies
        if mode != CAPTURES:
            mask |= line & SLIDE_MASK
        count = _take(state, lists, row, count, mode, test, origin, mask, file, _RANK)
    return count


@jit
def blocked_legs(state, origin):
    """Pieces next to a horse on ``origin`` that block its legs: bit 0 to the left, 1 below, 2 to the right, 3 above."""
    rank = np.int64(RANK_OF[origin])
    file = np.int64(FILE_OF[origin])
    along_rank = rank_bits(state, 0, rank) | rank_bits(state, 1, rank)
    along_file = np.int64(state.file_bits[0, file]) | np.int64(state.file_bits[1, file])
    return (((along_rank << 1) >> file) & 5) | ((((along_file << 1) >> rank) & 5) << 1)


JUMPER_OFFSETS = np.array([5, 6, 11, 12, 13, 14, 15, 3, 4, 1, 2], np.uint8)
"""Piece slots of horses, pawns, elephants and advisors, minus their side's first slot, in the order of generation."""
JUMPERS = len(JUMPER_OFFSETS)
_FIRST_GUARD = 7
"""Index of the first elephant in ``JUMPER_OFFSETS``; the advisors come after the elephants."""


@jit
def pawn_bits(state, side, half):
    """A side's pawns in one half of the board, as bits of that half."""
    first = ((side + 1) << 4) + FIRST_PAWN
    bits = BITS_IN_HALF[half, state.square[first]] | BITS_IN_HALF[half, state.square[first + 1]]
    bits |= BITS_IN_HALF[half, state.square[first + 2]] | BITS_IN_HALF[half, state.square[first + 3]]
    return bits | BITS_IN_HALF[half, state.square[first + 4]]


@jit
def _pawns_reach(state, side, low, high):
    """Whether a side's pawn can move to ``low`` or ``high``, squares of the first and the second half as bits."""
    side &= 1
    near = pawn_bits(state, side, side)
    far = pawn_bits(state, side, 1 - side)
    aside = (far & NOT_FIRST_FILE) >> 1 | (far & NOT_LAST_FILE) << 1
    if side == RED:
        return (near << 9) & low | (near >> LAST_RANK_OF_HALF | far << 9 | aside) & high != 0
    return (near >> 9) & high | (near << LAST_RANK_OF_HALF | far >> 9 | aside) & low != 0


@jit_for_constants
def _take_jumpers(state, lists, row, count, mode, suspects, others, base):
    """Append or count the moves of horses, pawns, elephants and advisors. Arguments, result: see ``_take_sliders``."""
    base &= SLOT_BITS
    side = (base >> 4) - 1
    # Allowed targets: enemy pieces, and empty squares unless only captures are wanted.
    if mode == CAPTURES:
        low, high = state.occupied[1 - side, 0], state.occupied[1 - side, 1]
    else:
        low, high = ~state.occupied[side, 0], ~state.occupied[side, 1]
    pawns_move = mode != CAPTURES or _pawns_reach(state, side, low, high)
    end = JUMPERS
    if mode == CAPTURES and (low if side == RED else high) & GUARD_SQUARES[side] == 0:
        end = _FIRST_GUARD
    # One loop for all of them keeps the machine code small enough for the instruction cache.
    for place in range(end):
        offset = np.int64(JUMPER_OFFSETS[place])
        if offset >= FIRST_PAWN and not pawns_move:
            continue
        origin = np.int64(state.square[base + offset])
        if origin == NOWHERE:
            continue
        test = EXACT_TEST if (suspects >> offset) & 1 else others
        if offset >= FIRST_PAWN:
            low_targets, high_targets = PAWN_MASKS[side, origin, 0], PAWN_MASKS[side, origin, 1]
        elif offset >= FIRST_HORSE:
            blocked = blocked_legs(state, origin)
            low_targets, high_targets = HORSE_MASKS[origin, blocked, 0], HORSE_MASKS[origin, blocked, 1]
        elif offset >= FIRST_ELEPHANT:
            mask = _elephant_mask(state, origin)
            low_targets, high_targets = (mask, 0) if side == RED else (0, mask)
        else:
            low_targets, high_targets = ADVISOR_MASKS[origin, 0], ADVISOR_MASKS[origin, 1]
        count = _take(state, lists, row, count, mode, test, origin, low_targets & low, _FIRST_HALF, _ONE)
        count = _take(state, lists, row, count, mode, test, origin, high_targets & high, _SECOND_HALF, _ONE)
    return count


@jit_for_constants
def _generate(state, lists, row, mode):
    base = ((np.int64(state.side) & 1) + 1) << 4
    enemy = 48 - base
    general = np.int64(state.square[base])
    suspects = np.int64(_suspects(state, base, general))
    others = np.int64(TEST_IF_CRITICAL if suspects & _CRITICAL_POSITION else NO_TEST)
    # Sliders first: their captures matter most when move ordering is off.
    count = _take_sliders(state, lists, np.int64(row), np.int64(0), mode, suspects, others, base)
    count = _take_jumpers(state, lists, np.int64(row), count, mode, suspects, others, base)
    index = 0
    while GENERAL_TARGETS[general, index] != NOWHERE:
        target = np.int64(GENERAL_TARGETS[general, index])
        index += 1
        victim = np.int64(state.board[target])
        if victim & base or (mode == CAPTURES and victim & enemy == 0):
            continue
        if is_safe(state, np.int64(state.side), general, target):
            if mode != COUNT:
                lists.moves[np.uint64(row), np.uint64(count)] = general | (target << 7)
            count += 1
    return count


@jit
def generate(state, lists, row):
    return _generate(state, lists, np.int64(row), ALL)


@jit
def generate_noisy(state, lists, row):
    """Write every legal capture into row ``row`` of ``lists.moves`` and return their number."""
    return _generate(state, lists, np.int64(row), CAPTURES)


@jit
def count_moves(state, lists):
    """Number of legal moves. Unlike move generation, does not write to ``lists``."""
    return _generate(state, lists, np.int64(0), COUNT)


@jit
def perft(state, lists, depth):
    """Perft: number of leaves ``depth`` plies deep; uses a row of ``lists`` for each ply."""
    if depth <= 1:
        return count_moves(state, lists) if depth == 1 else 1
    count = generate(state, lists, depth)
    leaves = 0
    for index in range(count):
        make(state, np.int64(lists.moves[depth, index]))
        leaves += perft(state, lists, depth - 1)
        unmake(state)
    return leaves
