"""The compiled state of a chess position: layout, hashing, making and unmaking moves.

A move is the integer ``origin | target << 7 | kind << 14``. Its kind is the piece type of a promotion, ``CASTLING``, or
0 for any other move. A castling move's origin is the king's square, its target the rook's. Castling rooks may stand on
any file, as in Chess960. ``engine.games.contract`` describes the functions without a docstring.
"""

from __future__ import annotations

import numpy as np

from elolab.engine.compiled.kernel import jit, jit_inlined, lowest_bit
from elolab.engine.games.chess.boards import (
    BETWEEN,
    BISHOP_LINES,
    BITS,
    KING_ATTACKS,
    KNIGHT_ATTACKS,
    NO_SQUARE,
    NONE,
    ONE,
    PAWN,
    PAWN_ATTACKS,
    ROOK_LINES,
    SQUARES,
    bishop_attacks,
    has_several,
    rook_attacks,
)
from elolab.engine.games.hash_keys import HASH_FACTOR, random_keys
from elolab.engine.settings.features import CHESS_TERMS
from elolab.engine.values import MAX_GAME_PLIES

PIECES = 16
"""Size of arrays that are indexed by piece code: a piece's type, plus 8 for Black."""
ALL = 6
"""Index in ``pieces`` of all pieces of White; add 8 for Black. In ``board`` the same number marks an empty square."""
EMPTY = 6
TERM_COUNT = len(CHESS_TERMS)
PAWN_CACHE_ENTRIES = 1024
"""Number of entries of the pawn cache, which holds the values of pawn terms. A power of two."""
MATERIAL_CACHE_ENTRIES = 64
"""Number of entries of the material cache, which holds the values of material terms. A power of two."""

CASTLING = 5
"""Kind of a castling move, in a move's integer code."""
RIGHTS = 4
"""Number of castling rights, in the order K, Q, k, q. Right number r is bit r of ``castling``."""

STATE_DTYPE = np.dtype(
    [
        ("chess", np.int64),  # the marker that chooses the game's functions; must come first
        # Indices are unsigned, which avoids numba's test for negative ones.
        ("side", np.uint8),  # side to move: 0 White, 1 Black
        ("ply", np.uint16),  # moves made since the state was set up; index into the undo arrays
        ("key", np.uint64),  # hash of pieces, squares, side to move, castling rights, legal en passant
        ("pawn_key", np.uint64),  # hash of the pawns of both sides
        ("counts", np.uint64),  # number of pieces of each code, four bits each
        ("checkers", np.uint64),  # pieces that give check to the side to move
        ("score", np.int32),  # sum of ``values`` of the pieces on their squares
        ("quiet", np.int64),  # plies since the last capture or pawn's move
        ("first_ply", np.int64),  # plies of the game before the state was set up (from the FEN's move number)
        ("reversible", np.int64),  # plies since the last capture, pawn's move, lost castling right or null move
        ("fold", np.int64),  # rules in force, see engine.rules.Rules
        ("move_limit", np.int64),
        ("insufficient", np.int64),
        ("pieces", np.uint64, (PIECES,)),  # squares of each code; of all pieces of a side at ``ALL``
        ("board", np.uint8, (SQUARES,)),  # code on each square, ``EMPTY`` for none
        ("king", np.uint8, (2,)),  # squares of the kings
        ("castling", np.uint8),  # rights, as bits
        ("en_passant", np.uint8),  # square that a pawn may capture on in passing, if it is legal, else ``NO_SQUARE``
        ("castling_rook", np.uint8, (RIGHTS,)),  # square of each right's rook; ``NO_SQUARE`` without the right
        ("rights_kept", np.uint8, (SQUARES,)),  # rights that remain after a move from or to each square
        ("castling_keys", np.uint64, (1 << RIGHTS,)),  # part of ``key`` for each set of rights
        # Value of each code on each square, for White (Black's negative): packed pairs of
        # ``engine.games.packed_values``.
        ("values", np.int32, (PIECES, SQUARES)),
        ("evaluation", np.int64),  # code of the value tables in ``values`` + 1; 0 for none yet
        ("weights_address", np.int64),  # address of the weights in ``values`` and ``term_weights``; 0 for none
        ("term_weights", np.int32, (TERM_COUNT,)),  # packed pairs, as in ``values``
        # Cache of pawn terms: key, passed pawns, packed value; see ``terms``.
        ("pawn_cache", np.uint64, (PAWN_CACHE_ENTRIES, 3)),
        # Cache of material terms: ``counts``, packed value; see ``terms``.
        ("material_cache", np.uint64, (MATERIAL_CACHE_ENTRIES, 2)),
        ("undo_key", np.uint64, (MAX_GAME_PLIES,)),
        ("undo_pawn_key", np.uint64, (MAX_GAME_PLIES,)),
        ("undo_checkers", np.uint64, (MAX_GAME_PLIES,)),
        ("undo_move", np.int32, (MAX_GAME_PLIES,)),
        ("undo_score", np.int32, (MAX_GAME_PLIES,)),
        ("undo_quiet", np.int16, (MAX_GAME_PLIES,)),
        ("undo_reversible", np.int16, (MAX_GAME_PLIES,)),
        (
            "undo_captured",
            np.uint8,
            (MAX_GAME_PLIES,),
        ),  # code of the piece on the target: captured, the castling rook, or ``EMPTY``
        ("undo_castling", np.uint8, (MAX_GAME_PLIES,)),
        ("undo_en_passant", np.uint8, (MAX_GAME_PLIES,)),
    ],
    align=True,
)


_SEED = 0x63_68_65_73_73
"""Seed of the hash keys."""
_KEYS = random_keys(_SEED, (PIECES + 2) * SQUARES + 1)
PIECE_KEYS = _KEYS[: PIECES * SQUARES].reshape(PIECES, SQUARES).copy()
"""Hash keys by piece code and square: shape (PIECES, SQUARES). The keys of codes that no piece has are 0."""
PIECE_KEYS[[6, 7, 14, 15]] = 0
CASTLING_KEYS = _KEYS[PIECES * SQUARES : (PIECES + 1) * SQUARES].copy()
"""Hash keys of castling rights, by the square of the rook."""
EN_PASSANT_KEYS = np.append(_KEYS[(PIECES + 1) * SQUARES : (PIECES + 2) * SQUARES], np.uint64(0))
"""Hash keys by en passant square; 0 for ``NO_SQUARE``."""
SIDE_KEY = _KEYS[-1]

_EIGHT = np.uint64(8)
_ALL = np.uint64(ALL)
_PAWN, _KNIGHT, _BISHOP, _ROOK, _QUEEN, _KING = (np.uint64(kind) for kind in range(6))
_TYPE_BITS = np.uint64(7)
_SQUARE_BITS = np.uint64(63)
_FOUR, _FIVE = np.uint64(4), np.uint64(5)
KING_TARGETS = np.array([6, 2, 62, 58], np.uint8)
"""Square of the king after castling, by number of the castling right."""
ROOK_TARGETS = np.array([5, 3, 61, 59], np.uint8)
"""Square of the rook after castling, by number of the castling right."""


# Squares and pieces


@jit_inlined
def occupied(state):
    """Bitboard of all pieces."""
    return state.pieces[_ALL] | state.pieces[_ALL | _EIGHT]


@jit
def own(state):
    """Bitboard of the pieces of the side to move."""
    return state.pieces[_ALL | (np.uint64(state.side) << np.uint64(3))]


@jit
def enemy(state):
    """Bitboard of the pieces of the side not to move."""
    return state.pieces[_ALL | ((ONE ^ np.uint64(state.side)) << np.uint64(3))]


@jit
def count_of(state, piece):
    """Number of pieces on the board with the piece code ``piece``."""
    return np.int64((state.counts >> (np.uint64(piece) << np.uint64(2))) & np.uint64(15))


@jit_inlined
def sliders(state, side):
    """Two bitboards of a side: rooks and queens, and bishops and queens."""
    base = np.uint64(side) << np.uint64(3)
    queens = state.pieces[base | _QUEEN]
    return state.pieces[base | _ROOK] | queens, state.pieces[base | _BISHOP] | queens


@jit
def attackers_of_side(state, side, square, filled):
    """Bitboard of the pieces of ``side`` that attack a square, with ``filled`` as the occupied squares."""
    base = np.uint64(side) << np.uint64(3)
    at = np.uint64(square) & _SQUARE_BITS
    found = PAWN_ATTACKS[ONE ^ np.uint64(side), at] & state.pieces[base | _PAWN]
    found |= KNIGHT_ATTACKS[at] & state.pieces[base | _KNIGHT]
    found |= KING_ATTACKS[at] & state.pieces[base | _KING]
    straight, diagonal = sliders(state, side)
    if ROOK_LINES[at] & straight != NONE:
        found |= rook_attacks(at, filled) & straight
    if BISHOP_LINES[at] & diagonal != NONE:
        found |= bishop_attacks(at, filled) & diagonal
    return found


@jit
def attackers_to(state, square, filled):
    """Bitboard of the pieces of both sides that attack a square, with ``filled`` as the occupied squares."""
    return attackers_of_side(state, 0, square, filled) | attackers_of_side(state, 1, square, filled)


@jit
def slider_attacks_on(state, side, square, filled):
    """Whether a rook, bishop or queen of ``side`` attacks a square, with ``filled`` as the occupied squares."""
    at = np.uint64(square) & _SQUARE_BITS
    straight, diagonal = sliders(state, side)
    # Pieces on squares no longer filled have been captured.
    straight &= filled
    diagonal &= filled
    if ROOK_LINES[at] & straight != NONE and rook_attacks(at, filled) & straight != NONE:
        return True
    return BISHOP_LINES[at] & diagonal != NONE and bishop_attacks(at, filled) & diagonal != NONE


@jit
def pinned(state, side):
    """Bitboard of a side's pieces that are pinned to its king."""
    king = np.uint64(state.king[np.uint64(side)])
    straight, diagonal = sliders(state, 1 - side)
    snipers = (ROOK_LINES[king] & straight) | (BISHOP_LINES[king] & diagonal)
    filled = occupied(state)
    found = NONE
    while snipers != NONE:
        sniper = np.uint64(lowest_bit(snipers))
        snipers &= snipers - ONE
        between = BETWEEN[king, sniper] & filled
        if not has_several(between):
            found |= between
    return found & state.pieces[_ALL | (np.uint64(side) << np.uint64(3))]


@jit
def find_checkers(state):
    """Bitboard of the pieces that give check to the side to move."""
    side = np.int64(state.side) & 1
    return attackers_of_side(state, 1 - side, np.uint64(state.king[np.uint64(side)]), occupied(state))


@jit
def put(state, piece, square):
    """Place a piece on an empty square of a new state; ``refresh`` then computes keys and other derived fields."""
    code = np.uint64(piece)
    at = np.uint64(square)
    state.board[at] = code
    state.pieces[code] |= BITS[at]
    state.pieces[(code & _EIGHT) | _ALL] |= BITS[at]
    state.counts += ONE << (code << np.uint64(2))
    if code & _TYPE_BITS == _KING:
        state.king[code >> np.uint64(3)] = at


# Hashing


@jit
def position_key(state):
    key = NONE
    for square in range(SQUARES):
        key ^= PIECE_KEYS[np.uint64(state.board[square]), np.uint64(square)]
    for right in range(RIGHTS):
        if state.castling >> right & 1:
            key ^= CASTLING_KEYS[np.uint64(state.castling_rook[right])]
    key ^= EN_PASSANT_KEYS[np.uint64(state.en_passant)]
    return key ^ SIDE_KEY if state.side == 1 else key


@jit
def structure_key(state):
    """Hash of the pawns of both sides, updated incrementally."""
    return state.pawn_key


@jit
def pieces_key(state, side):
    """Hash of a side's pieces other than pawns, computed from scratch."""
    base = np.uint64(side) << np.uint64(3)
    key = NONE
    for kind in (_KNIGHT, _BISHOP, _ROOK, _QUEEN, _KING):
        key = (key ^ state.pieces[base | kind]) * HASH_FACTOR
        # Only the upper bits depend on all squares; the lower ones become indices of tables.
        key ^= key >> np.uint64(48)
    return key


@jit
def pawn_key(state):
    """Hash of the pawns of both sides, computed from scratch."""
    key = NONE
    for square in range(SQUARES):
        if state.board[square] & 7 == PAWN:
            key ^= PIECE_KEYS[np.uint64(state.board[square]), np.uint64(square)]
    return key


@jit
def refresh(state):
    """Recompute all derived fields of a state: castling tables, keys and checkers.

    The pieces, ``side``, ``castling_rook``, ``castling`` and ``en_passant`` must be set.
    """
    for square in range(SQUARES):
        state.rights_kept[square] = 15
    for rights in range(1 << RIGHTS):
        state.castling_keys[rights] = NONE
    for right in range(RIGHTS):
        if state.castling >> right & 1:
            state.rights_kept[state.castling_rook[right]] &= ~(1 << right) & 15
            state.rights_kept[state.king[right >> 1]] &= ~(1 << right) & 15
            for rights in range(1 << RIGHTS):
                if rights >> right & 1:
                    state.castling_keys[rights] ^= CASTLING_KEYS[np.uint64(state.castling_rook[right])]
    state.key = position_key(state)
    state.pawn_key = pawn_key(state)
    state.checkers = find_checkers(state)


# Moves


@jit_inlined
def is_castling(move):
    """Whether a move castles."""
    return move >> 14 == CASTLING


@jit_inlined
def is_promotion(move):
    """Whether a move promotes a pawn."""
    return move >> 14 != 0 and move >> 14 != CASTLING


@jit
def en_passant_is_legal(state, side, origin, square, others):
    """Whether the pawn of ``side`` on ``origin`` may capture en passant on ``square`` without exposing the side's king
    to attack.

    ``others`` are the occupied squares without the captured pawn.
    """
    filled = (others ^ BITS[np.uint64(origin) & _SQUARE_BITS]) | BITS[np.uint64(square) & _SQUARE_BITS]
    return not slider_attacks_on(state, 1 - side, np.uint64(state.king[np.uint64(side)]), filled)


@jit
def may_capture_in_passing(state, side, square, others):
    """Whether any pawn of ``side`` may legally capture en passant on ``square``.

    ``others`` are the occupied squares without the captured pawn.
    """
    other = ONE ^ np.uint64(side)
    captors = PAWN_ATTACKS[other, np.uint64(square) & _SQUARE_BITS] & state.pieces[np.uint64(side) << np.uint64(3)]
    while captors != NONE:
        if en_passant_is_legal(state, np.int64(side), np.uint64(lowest_bit(captors)), square, others):
            return True
        captors &= captors - ONE
    return False


@jit
def _passed_square(state, side, target, others):
    """The en passant square after a pawn of ``side`` has made a double step to ``target``.

    The result is ``NO_SQUARE`` if no legal en passant capture is possible. ``others`` are the occupied squares without
    the pawn that has moved.
    """
    # One rank behind the target.
    square = target ^ _EIGHT
    return square if may_capture_in_passing(state, ONE ^ np.uint64(side), square, others) else np.uint64(NO_SQUARE)


@jit
def key_is_quick(state):
    """Always true, because ``key_after`` only xors a few keys."""
    return True


@jit
def key_after(state, move):
    origin = np.uint64(move) & _SQUARE_BITS
    target = np.uint64(move >> 7) & _SQUARE_BITS
    piece = np.uint64(state.board[origin])
    victim = np.uint64(state.board[target])
    kept = state.castling & state.rights_kept[origin] & state.rights_kept[target]
    key = state.key ^ SIDE_KEY ^ PIECE_KEYS[piece, origin]
    key ^= EN_PASSANT_KEYS[np.uint64(state.en_passant)]
    key ^= state.castling_keys[np.uint64(state.castling)] ^ state.castling_keys[np.uint64(kept)]
    if is_castling(move):
        right = np.uint64(2) * np.uint64(state.side) + np.uint64(target < origin)
        key ^= PIECE_KEYS[piece, np.uint64(KING_TARGETS[right])]
        return key ^ PIECE_KEYS[victim, target] ^ PIECE_KEYS[victim, np.uint64(ROOK_TARGETS[right])]
    key ^= PIECE_KEYS[victim, target]
    if piece & _TYPE_BITS == _PAWN:
        if target == np.uint64(state.en_passant):
            key ^= PIECE_KEYS[piece ^ _EIGHT, target ^ _EIGHT]
        elif move >> 14 != 0:
            return key ^ PIECE_KEYS[(piece & _EIGHT) | (np.uint64(move >> 14) & _TYPE_BITS), target]
        elif target ^ origin == np.uint64(16):
            key ^= EN_PASSANT_KEYS[_passed_square(state, state.side, target, occupied(state) ^ BITS[origin])]
    return key ^ PIECE_KEYS[piece, target]


@jit
def make(state, move):
    ply = np.uint64(state.ply)
    side = np.uint64(state.side) & ONE
    other = ONE ^ side
    base = side << np.uint64(3)
    enemy_base = base ^ _EIGHT
    origin = np.uint64(move) & _SQUARE_BITS
    target = np.uint64(move >> 7) & _SQUARE_BITS
    piece = np.uint64(state.board[origin]) & np.uint64(15)
    victim = np.uint64(state.board[target]) & np.uint64(15)
    castling = np.uint64(state.castling)
    passing = np.uint64(state.en_passant)
    state.undo_key[ply] = state.key
    state.undo_pawn_key[ply] = state.pawn_key
    state.undo_checkers[ply] = state.checkers
    state.undo_move[ply] = move
    state.undo_score[ply] = state.score
    state.undo_quiet[ply] = state.quiet
    state.undo_reversible[ply] = state.reversible
    state.undo_castling[ply] = castling
    state.undo_en_passant[ply] = passing
    key = state.key ^ SIDE_KEY ^ EN_PASSANT_KEYS[passing]
    score = np.int64(state.score)
    quiet = state.quiet + 1
    reversible = state.reversible + 1
    state.en_passant = NO_SQUARE
    kept = castling & np.uint64(state.rights_kept[origin]) & np.uint64(state.rights_kept[target])
    if kept != castling:
        key ^= state.castling_keys[castling] ^ state.castling_keys[kept]
        state.castling = kept
        reversible = 0
    if is_castling(move):
        # In Chess960 the king or the rook may stay on its square, or move to the square of the other piece.
        right = np.uint64(2) * side + np.uint64(target < origin)
        king_to, rook_to = np.uint64(KING_TARGETS[right]), np.uint64(ROOK_TARGETS[right])
        state.undo_captured[ply] = victim
        state.board[origin] = EMPTY
        state.board[target] = EMPTY
        state.board[king_to] = piece
        state.board[rook_to] = victim
        state.king[side] = king_to
        state.pieces[piece] = BITS[king_to]
        state.pieces[victim] ^= BITS[target] ^ BITS[rook_to]
        state.pieces[base | _ALL] ^= BITS[origin] ^ BITS[target] ^ BITS[king_to] ^ BITS[rook_to]
        key ^= PIECE_KEYS[piece, origin] ^ PIECE_KEYS[piece, king_to]
        key ^= PIECE_KEYS[victim, target] ^ PIECE_KEYS[victim, rook_to]
        score += np.int64(state.values[piece, king_to]) - np.int64(state.values[piece, origin])
        score += np.int64(state.values[victim, rook_to]) - np.int64(state.values[victim, target])
    else:
        at = target
        if piece == base and target == passing:
            at = target ^ _EIGHT
            victim = enemy_base
            state.board[at] = EMPTY
        state.undo_captured[ply] = victim
        if victim != np.uint64(EMPTY):
            quiet = 0
            reversible = 0
            state.pieces[victim] ^= BITS[at]
            state.pieces[enemy_base | _ALL] ^= BITS[at]
            state.counts -= ONE << (victim << np.uint64(2))
            key ^= PIECE_KEYS[victim, at]
            score -= np.int64(state.values[victim, at])
            if victim == enemy_base:
                state.pawn_key ^= PIECE_KEYS[victim, at]
        both = BITS[origin] | BITS[target]
        state.board[origin] = EMPTY
        state.board[target] = piece
        state.pieces[piece] ^= both
        state.pieces[base | _ALL] ^= both
        key ^= PIECE_KEYS[piece, origin] ^ PIECE_KEYS[piece, target]
        score += np.int64(state.values[piece, target]) - np.int64(state.values[piece, origin])
        if piece == base:
            quiet = 0
            reversible = 0
            state.pawn_key ^= PIECE_KEYS[piece, origin] ^ PIECE_KEYS[piece, target]
            promotion = np.uint64(move >> 14)
            if promotion != NONE:
                new = base | (promotion & _TYPE_BITS)
                state.board[target] = new
                state.pieces[piece] ^= BITS[target]
                state.pieces[new] ^= BITS[target]
                state.counts += ONE << (new << np.uint64(2))
                state.counts -= ONE << (piece << np.uint64(2))
                key ^= PIECE_KEYS[piece, target] ^ PIECE_KEYS[new, target]
                state.pawn_key ^= PIECE_KEYS[piece, target]
                score += np.int64(state.values[new, target]) - np.int64(state.values[piece, target])
            elif target ^ origin == np.uint64(16):
                square = _passed_square(state, side, target, occupied(state) ^ BITS[target])
                state.en_passant = square
                key ^= EN_PASSANT_KEYS[square]
        elif piece == base | _KING:
            state.king[side] = target
    state.key = key
    state.score = score
    state.quiet = quiet
    state.reversible = reversible
    state.side = other
    state.ply = ply + ONE
    state.checkers = find_checkers(state)


@jit
def unmake(state):
    ply = np.uint64(state.ply) - ONE
    side = (np.uint64(state.side) & ONE) ^ ONE
    base = side << np.uint64(3)
    move = np.int64(state.undo_move[ply])
    origin = np.uint64(move) & _SQUARE_BITS
    target = np.uint64(move >> 7) & _SQUARE_BITS
    victim = np.uint64(state.undo_captured[ply]) & np.uint64(15)
    state.ply = ply
    state.side = side
    state.key = state.undo_key[ply]
    state.pawn_key = state.undo_pawn_key[ply]
    state.checkers = state.undo_checkers[ply]
    state.score = state.undo_score[ply]
    state.quiet = state.undo_quiet[ply]
    state.reversible = state.undo_reversible[ply]
    state.castling = state.undo_castling[ply]
    passing = np.uint64(state.undo_en_passant[ply])
    state.en_passant = passing
    if is_promotion(move):
        new = base | (np.uint64(move >> 14) & _TYPE_BITS)
        state.pieces[new] ^= BITS[target]
        state.pieces[base] ^= BITS[target]
        state.board[target] = base
        state.counts += ONE << (base << np.uint64(2))
        state.counts -= ONE << (new << np.uint64(2))
    if is_castling(move):
        right = np.uint64(2) * side + np.uint64(target < origin)
        king_to, rook_to = np.uint64(KING_TARGETS[right]), np.uint64(ROOK_TARGETS[right])
        state.board[king_to] = EMPTY
        state.board[rook_to] = EMPTY
        state.board[origin] = base | _KING
        state.board[target] = victim
        state.king[side] = origin
        state.pieces[base | _KING] = BITS[origin]
        state.pieces[victim] ^= BITS[target] ^ BITS[rook_to]
        state.pieces[base | _ALL] ^= BITS[origin] ^ BITS[target] ^ BITS[king_to] ^ BITS[rook_to]
        return
    piece = np.uint64(state.board[target]) & np.uint64(15)
    both = BITS[origin] | BITS[target]
    state.board[origin] = piece
    state.board[target] = victim
    state.pieces[piece] ^= both
    state.pieces[base | _ALL] ^= both
    if piece == base | _KING:
        state.king[side] = origin
    if victim != np.uint64(EMPTY):
        at = target
        if piece == base and target == passing:
            at = target ^ _EIGHT
            state.board[target] = EMPTY
            state.board[at] = victim
        state.pieces[victim] ^= BITS[at]
        state.pieces[(base ^ _EIGHT) | _ALL] ^= BITS[at]
        state.counts += ONE << (victim << np.uint64(2))


@jit
def make_null(state):
    ply = np.uint64(state.ply)
    state.undo_key[ply] = state.key
    state.undo_move[ply] = 0
    state.undo_quiet[ply] = state.quiet
    state.undo_reversible[ply] = state.reversible
    state.undo_en_passant[ply] = state.en_passant
    state.key ^= SIDE_KEY ^ EN_PASSANT_KEYS[np.uint64(state.en_passant)]
    state.en_passant = NO_SQUARE
    state.quiet += 1
    # No position before the null move can be repeated after it.
    state.reversible = 0
    state.side = ONE ^ np.uint64(state.side)
    state.ply = ply + ONE


@jit
def unmake_null(state):
    ply = np.uint64(state.ply) - ONE
    state.ply = ply
    state.side = ONE ^ np.uint64(state.side)
    state.key = state.undo_key[ply]
    state.quiet = state.undo_quiet[ply]
    state.reversible = state.undo_reversible[ply]
    state.en_passant = state.undo_en_passant[ply]


@jit
def past_move(state, ply):
    return np.int64(state.undo_move[np.uint64(ply)])
