"""Generation of legal chess moves, check detection, perft.

Only legal moves are generated. If the king is not in check, unpinned pieces may move freely, and a pinned piece moves
along its pin. If it is in check, pieces may only capture the checker or step between it and the king. A king's move is
generated only if no enemy piece attacks its target.
"""

from __future__ import annotations

import numpy as np

from elolab.engine.compiled.kernel import jit, jit_for_constants, lowest_bit, popcount
from elolab.engine.games.chess.boards import (
    BETWEEN,
    BISHOP_LINES,
    BITS,
    KING_ATTACKS,
    KNIGHT,
    KNIGHT_ATTACKS,
    NO_SQUARE,
    NONE,
    ONE,
    PAWN_ATTACKS,
    QUEEN,
    RANKS,
    ROOK,
    ROOK_LINES,
    WHITE,
    bishop_attacks,
    has_several,
    pawns_attack,
    pawns_attack_east,
    pawns_attack_west,
    pawns_step,
    rook_attacks,
)
from elolab.engine.games.chess.position import (
    ALL,
    CASTLING,
    KING_TARGETS,
    ROOK_TARGETS,
    en_passant_is_legal,
    is_castling,
    is_promotion,
    make,
    occupied,
    slider_attacks_on,
    sliders,
    unmake,
)

# Modes of move generation.
_EVERY, _NOISY, _COUNT = range(3)

_ALL = np.uint64(ALL)
_THREE, _EIGHT = np.uint64(3), np.uint64(8)
_PAWN, _KNIGHT, _BISHOP, _ROOK, _QUEEN, _KING = (np.uint64(kind) for kind in range(6))
_TYPE_BITS = np.uint64(7)
_SQUARE_BITS = np.uint64(63)
_LAST_RANKS = RANKS[0] | RANKS[7]
_THIRD_RANKS = RANKS[[2, 5]].copy()
"""Bitboard of the rank that a pawn's first single step reaches, by side."""


@jit
def in_check(state):
    return state.checkers != NONE


@jit
def gives_check(state, move):
    side = np.uint64(state.side) & ONE
    origin = np.uint64(move) & _SQUARE_BITS
    target = np.uint64(move >> 7) & _SQUARE_BITS
    king = np.uint64(state.king[ONE ^ side]) & _SQUARE_BITS
    straight, diagonal = sliders(state, side)
    filled = occupied(state)
    if is_castling(move):
        right = np.uint64(2) * side + np.uint64(target < origin)
        landed = BITS[np.uint64(ROOK_TARGETS[right])]
        straight = (straight ^ BITS[target]) | landed
        filled = (filled ^ BITS[origin] ^ BITS[target]) | landed | BITS[np.uint64(KING_TARGETS[right])]
    else:
        kind = np.uint64(state.board[origin]) & _TYPE_BITS
        filled = (filled ^ BITS[origin]) | BITS[target]
        if kind == _PAWN:
            if target == np.uint64(state.en_passant):
                filled ^= BITS[target ^ _EIGHT]
            elif is_promotion(move):
                kind = np.uint64(move >> 14) & _TYPE_BITS
        if kind == _PAWN and PAWN_ATTACKS[side, target] & BITS[king] != NONE:
            return True
        if kind == _KNIGHT and KNIGHT_ATTACKS[target] & BITS[king] != NONE:
            return True
        straight &= ~BITS[origin]
        diagonal &= ~BITS[origin]
        if kind == _ROOK or kind == _QUEEN:
            straight |= BITS[target]
        if kind == _BISHOP or kind == _QUEEN:
            diagonal |= BITS[target]
    if ROOK_LINES[king] & straight != NONE and rook_attacks(king, filled) & straight != NONE:
        return True
    return BISHOP_LINES[king] & diagonal != NONE and bishop_attacks(king, filled) & diagonal != NONE


@jit_for_constants
def _take(lists, row, count, mode, origin, targets):
    """Append the moves from ``origin`` to all squares of a bitboard, ``targets``.

    The moves go to ``lists.moves[row]``, from index ``count`` on. In the mode ``_COUNT`` they are only counted. Returns
    ``count`` plus the number of moves.
    """
    if mode == _COUNT:
        return count + np.uint64(popcount(targets))
    while targets != NONE:
        lists.moves[row, count] = origin | (lowest_bit(targets) << 7)
        targets &= targets - ONE
        count += ONE
    return count


@jit_for_constants
def _take_pawns(lists, row, count, mode, targets, back):
    """Append or count pawn moves, without promotions, to each square of the bitboard ``targets``; see ``_take``.

    Each move's origin is its target minus ``back``. Returns ``count`` plus the number of moves.
    """
    if mode == _COUNT:
        return count + np.uint64(popcount(targets))
    while targets != NONE:
        target = lowest_bit(targets)
        lists.moves[row, count] = (target - back) | (target << 7)
        targets &= targets - ONE
        count += ONE
    return count


@jit_for_constants
def _take_promotions(lists, row, count, mode, targets, back):
    """Append or count promotions on each square of ``targets``: to every piece, or in the mode ``_NOISY`` to a queen
    only.

    Arguments and result are as for ``_take_pawns``.
    """
    if mode == _COUNT:
        return count + (np.uint64(popcount(targets)) << np.uint64(2))
    while targets != NONE:
        target = lowest_bit(targets)
        move = (target - back) | (target << 7)
        targets &= targets - ONE
        lists.moves[row, count] = move | (QUEEN << 14)
        count += ONE
        if mode == _EVERY:
            for kind in range(ROOK, KNIGHT - 1, -1):
                lists.moves[row, count] = move | (kind << 14)
                count += ONE
    return count


@jit_for_constants
def _generate_pawns(state, lists, row, count, mode, side, pawns, enemies, filled, allowed):
    """Append or count the moves of the bitboard ``pawns`` to squares in ``allowed``, without en passant captures; see
    ``_take``.

    ``enemies`` are the squares of enemy pieces, ``filled`` all occupied squares. Returns ``count`` plus the number of
    moves.
    """
    # Distance from origin to target.
    step = 8 if side == WHITE else -8
    ahead = pawns_step(side, pawns) & ~filled
    twice = pawns_step(side, ahead & _THIRD_RANKS[np.uint64(side)]) & ~filled & allowed
    ahead &= allowed
    west = pawns_attack_west(side, pawns) & enemies & allowed
    east = pawns_attack_east(side, pawns) & enemies & allowed
    if (ahead | west | east) & _LAST_RANKS != NONE:
        count = _take_promotions(lists, row, count, mode, west & _LAST_RANKS, step - 1)
        count = _take_promotions(lists, row, count, mode, east & _LAST_RANKS, step + 1)
        count = _take_promotions(lists, row, count, mode, ahead & _LAST_RANKS, step)
        west &= ~_LAST_RANKS
        east &= ~_LAST_RANKS
        ahead &= ~_LAST_RANKS
    count = _take_pawns(lists, row, count, mode, west, step - 1)
    count = _take_pawns(lists, row, count, mode, east, step + 1)
    if mode != _NOISY:
        count = _take_pawns(lists, row, count, mode, ahead, step)
        count = _take_pawns(lists, row, count, mode, twice, 2 * step)
    return count


@jit_for_constants
def _generate_pinned(state, lists, row, count, mode, side, king, pins, enemies, filled, allowed):
    """Append or count the moves of the pinned pieces ``pins`` along their pins. The king must not be in check.

    Arguments and result are as for ``_generate_pawns``.
    """
    base = np.uint64(side) << _THREE
    straight, diagonal = sliders(state, 1 - side)
    snipers = (ROOK_LINES[king] & straight) | (BISHOP_LINES[king] & diagonal)
    while snipers != NONE:
        sniper = np.uint64(lowest_bit(snipers)) & _SQUARE_BITS
        snipers &= snipers - ONE
        between = BETWEEN[king, sniper]
        bit = between & filled
        if has_several(bit) or bit & pins == NONE:
            continue
        line = (between | BITS[sniper]) & allowed
        origin = np.uint64(lowest_bit(bit)) & _SQUARE_BITS
        kind = np.uint64(state.board[origin]) ^ base
        if kind == _PAWN:
            count = _generate_pawns(state, lists, row, count, mode, side, bit, enemies, filled, line)
        elif kind == _BISHOP:
            count = _take(lists, row, count, mode, np.int64(origin), bishop_attacks(origin, filled) & line)
        elif kind == _ROOK:
            count = _take(lists, row, count, mode, np.int64(origin), rook_attacks(origin, filled) & line)
        elif kind == _QUEEN:
            targets = (rook_attacks(origin, filled) | bishop_attacks(origin, filled)) & line
            count = _take(lists, row, count, mode, np.int64(origin), targets)
    return count


@jit
def _is_castling_legal(state, side, right, king, filled):
    """Whether the side to move, ``side``, may castle now by a castling right that it has. The side must not be in
    check.

    ``right`` is the number of the right, 0 to 3, ``king`` the king's square, ``filled`` the occupied squares.
    """
    rook = np.uint64(state.castling_rook[right]) & _SQUARE_BITS
    king_to, rook_to = np.uint64(KING_TARGETS[right]), np.uint64(ROOK_TARGETS[right])
    both = BITS[king] | BITS[rook]
    others = filled ^ both
    path = BETWEEN[king, king_to] | BITS[king_to]
    if others & (path | BETWEEN[rook, rook_to] | BITS[rook_to]) != NONE:
        return False
    path &= ~BITS[king]
    while path != NONE:
        if is_attacked(state, 1 - side, np.uint64(lowest_bit(path)), filled ^ BITS[king]):
            return False
        path &= path - ONE
    # A rook that leaves its file may uncover an attack along the rank.
    return not slider_attacks_on(state, 1 - side, king_to, others | BITS[king_to] | BITS[rook_to])


@jit
def is_attacked(state, side, square, filled):
    """Whether a piece of ``side`` attacks a square, with ``filled`` as the occupied squares."""
    base = np.uint64(side) << _THREE
    at = np.uint64(square) & _SQUARE_BITS
    found = PAWN_ATTACKS[ONE ^ np.uint64(side), at] & state.pieces[base]
    found |= KNIGHT_ATTACKS[at] & state.pieces[base | _KNIGHT]
    found |= KING_ATTACKS[at] & state.pieces[base | _KING]
    if found != NONE:
        return True
    straight, diagonal = sliders(state, side)
    if ROOK_LINES[at] & straight != NONE and rook_attacks(at, filled) & straight != NONE:
        return True
    return BISHOP_LINES[at] & diagonal != NONE and bishop_attacks(at, filled) & diagonal != NONE


@jit
def _pins(state, side, king, filled, owned):
    """Bitboard of the pieces of ``side`` that are pinned to their king, which stands on ``king``.

    ``filled`` are the occupied squares, ``owned`` the squares of the pieces of ``side``.
    """
    straight, diagonal = sliders(state, 1 - side)
    snipers = (ROOK_LINES[king] & straight) | (BISHOP_LINES[king] & diagonal)
    found = NONE
    while snipers != NONE:
        between = BETWEEN[king, np.uint64(lowest_bit(snipers)) & _SQUARE_BITS] & filled
        snipers &= snipers - ONE
        if not has_several(between):
            found |= between
    return found & owned


@jit_for_constants
def _generate(state, lists, to_row, mode):
    row = np.uint64(to_row)
    count = np.uint64(0)
    side = np.int64(state.side) & 1
    base = np.uint64(side) << _THREE
    owned = state.pieces[base | _ALL]
    enemies = state.pieces[(base ^ _EIGHT) | _ALL]
    filled = owned | enemies
    king = np.uint64(state.king[np.uint64(side)]) & _SQUARE_BITS
    checkers = state.checkers
    wanted = enemies if mode == _NOISY else ~owned
    if not has_several(checkers):
        allowed = ~NONE
        if checkers != NONE:
            allowed = BETWEEN[king, np.uint64(lowest_bit(checkers)) & _SQUARE_BITS] | checkers
        wanted &= allowed
        pins = _pins(state, side, king, filled, owned)
        if pins != NONE and checkers == NONE:
            count = _generate_pinned(
                state, lists, row, count, mode, side, king, pins, enemies, filled, enemies if mode == _NOISY else ~NONE
            )
        free = ~pins
        movers = state.pieces[base | _KNIGHT] & free
        while movers != NONE:
            origin = lowest_bit(movers)
            movers &= movers - ONE
            count = _take(lists, row, count, mode, origin, KNIGHT_ATTACKS[np.uint64(origin) & _SQUARE_BITS] & wanted)
        queens = state.pieces[base | _QUEEN]
        movers = (state.pieces[base | _BISHOP] | queens) & free
        while movers != NONE:
            origin = lowest_bit(movers)
            movers &= movers - ONE
            count = _take(lists, row, count, mode, origin, bishop_attacks(origin, filled) & wanted)
        movers = (state.pieces[base | _ROOK] | queens) & free
        while movers != NONE:
            origin = lowest_bit(movers)
            movers &= movers - ONE
            count = _take(lists, row, count, mode, origin, rook_attacks(origin, filled) & wanted)
        pawns = state.pieces[base]
        count = _generate_pawns(state, lists, row, count, mode, side, pawns & free, enemies, filled, allowed)
        if state.en_passant != NO_SQUARE:
            square = np.uint64(state.en_passant) & _SQUARE_BITS
            captors = PAWN_ATTACKS[np.uint64(1 - side), square] & pawns
            others = filled ^ BITS[square ^ _EIGHT]
            while captors != NONE:
                origin = lowest_bit(captors)
                captors &= captors - ONE
                if en_passant_is_legal(state, side, origin, square, others):
                    count = _take(lists, row, count, mode, origin, BITS[square])
        if mode != _NOISY and checkers == NONE and state.castling >> np.uint64(2 * side) & 3 != 0:
            for wing in range(2):
                right = np.uint64(2 * side + wing)
                if state.castling >> right & 1 != 0 and _is_castling_legal(state, side, right, king, filled):
                    if mode != _COUNT:
                        rook = np.int64(state.castling_rook[right])
                        lists.moves[row, count] = np.int64(king) | (rook << 7) | (CASTLING << 14)
                    count += ONE
    targets = KING_ATTACKS[king] & (enemies if mode == _NOISY else ~owned)
    if targets != NONE:
        targets &= ~pawns_attack(1 - side, state.pieces[base ^ _EIGHT])
        safe = NONE
        while targets != NONE:
            bit = targets & (~targets + ONE)
            targets ^= bit
            if not is_attacked(state, 1 - side, np.uint64(lowest_bit(bit)), filled ^ BITS[king]):
                safe |= bit
        count = _take(lists, row, count, mode, np.int64(king), safe)
    return np.int64(count)


@jit
def generate(state, lists, row):
    return _generate(state, lists, np.int64(row), _EVERY)


@jit
def generate_noisy(state, lists, row):
    """Write the legal captures and promotions into row ``row`` of ``lists.moves`` and return their number.

    Promotions to rook, bishop and knight are left out.
    """
    return _generate(state, lists, np.int64(row), _NOISY)


@jit
def count_moves(state, lists):
    """Number of legal moves. Unlike move generation, does not write to ``lists``."""
    return _generate(state, lists, np.int64(0), _COUNT)


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
