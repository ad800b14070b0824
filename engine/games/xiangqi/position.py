"""The compiled state of a Xiangqi position: layout, geometry tables, making and unmaking moves.

Squares are numbered rank * 9 + file, 0 to 89, with rank 0 nearest to Red. ``NOWHERE`` (90) is the square of a captured
piece. The board holds *slots*, which identify single pieces and not only types, as the chase rule requires: 16 to 31
are Red's sixteen pieces, 32 to 47 Black's, in the order general, two advisors, elephants, horses, rooks, cannons, five
pawns. A move is the integer ``origin + (target << 7)``.

Occupancy is stored by side as two *halves* of 45 squares, so that the nine bits of a rank lie together, and also by
file. The *reach* tables hold the squares that a slider reaches on a line; the *met* tables hold the first, second and
third piece in each direction. Both are indexed by a square's place on the line and the line's occupancy. They serve
rooks, cannons, checks and pins. ``engine.games.contract`` describes the functions without a docstring.
"""

from __future__ import annotations

import numpy as np

from elolab.engine.compiled.kernel import jit
from elolab.engine.games.hash_keys import random_keys
from elolab.engine.settings.features import XIANGQI_TERMS
from elolab.engine.values import MAX_GAME_PLIES

SQUARES = 90
NOWHERE = 90
RED, BLACK = 0, 1
SQUARE_BITS, SLOT_BITS = 127, 63
"""Bit masks that change no square and no piece slot, but prove to the compiler that an index is not negative.

Without them, numba tests every index for a negative value, which takes a tenth of the running time.
"""
GENERAL, ADVISOR, ELEPHANT, HORSE, ROOK, CANNON, PAWN = range(7)
SLOTS = 48
FIRST_ADVISOR, FIRST_ELEPHANT, FIRST_HORSE, FIRST_ROOK, FIRST_CANNON, FIRST_PAWN = 1, 3, 5, 7, 9, 11
"""First piece slot of each piece type, as an offset from its side's first slot, 16 or 32."""

TYPE_COUNTS = (1, 2, 2, 2, 2, 2, 5)
_SLOT_TYPES = [kind for kind, count in enumerate(TYPE_COUNTS) for _ in range(count)]
SLOT_TYPE = np.array([255] * 16 + _SLOT_TYPES * 2, np.uint8)
"""Piece type of each piece slot; 255 for the unused slots below 16."""

RANK_OF = np.array([square // 9 for square in range(SQUARES)] + [15], np.uint8)
FILE_OF = np.array([square % 9 for square in range(SQUARES)] + [15], np.uint8)
HALF_SQUARES = 45
HALF_OF = np.array([square // HALF_SQUARES for square in range(SQUARES)] + [0], np.uint8)
BIT_OF = np.array([1 << square % HALF_SQUARES for square in range(SQUARES)] + [0], np.int64)
"""Bit of each square within its half of the board; 0 for ``NOWHERE``."""
BITS_IN_HALF = np.array(
    [[int(BIT_OF[square]) if HALF_OF[square] == half else 0 for square in range(SQUARES + 1)] for half in range(2)],
    np.int64,
)
"""Bit of a square within a half of the board: shape (2, SQUARES + 1); 0 in the wrong half and for ``NOWHERE``."""
WHOLE_HALF = (1 << HALF_SQUARES) - 1
FIRST_FILE = sum(1 << 9 * rank for rank in range(5))
NOT_FIRST_FILE = WHOLE_HALF & ~FIRST_FILE
NOT_LAST_FILE = WHOLE_HALF & ~(FIRST_FILE << 8)
"""Squares of all files except the last, as bits of a half of the board."""
LAST_RANK_OF_HALF = 9 * 4
"""Number of bits by which squares of a half's first rank are shifted to its last rank."""
RANK_SHIFT = np.array([9 * (rank % 5) for rank in range(10)], np.uint8)
"""By rank, the index of the rank's first bit within its half of the board. A rank has nine bits."""
HALF_OF_RANK = np.array([rank // 5 for rank in range(10)], np.uint8)

TERM_COUNT = len(XIANGQI_TERMS)
FIRST_OF_PIECES = XIANGQI_TERMS.index("rook_on_bare_palace")
PIECE_TERMS = TERM_COUNT - FIRST_OF_PIECES
PLACE_TERMS = FIRST_OF_PIECES + 1
"""Number of square terms (evaluation terms that depend on squares) stored for each side, plus one that is always 0.

The number is a multiple of eight, for vector instructions.
"""
PHASE_BITS = 4
PHASES = 1 << PHASE_BITS
"""Highest phase of the full evaluation, with the full material of the start position. Phase 0 means no material."""

CHINESE, ASIAN, CHECK_ONLY, DRAW = 3, 2, 1, 0
"""Codes of the repetition rules, as in ``engine.rules.REPETITION_RULES``."""

STATE_DTYPE = np.dtype(
    [
        ("xiangqi", np.int64),  # the marker that chooses the game's functions; must come first
        # Indices are unsigned, which avoids numba's test for negative ones.
        ("side", np.uint8),  # side to move: 0 Red, 1 Black
        ("ply", np.uint16),  # moves made since the state was set up; index into the undo arrays
        ("key", np.uint64),  # hash of pieces, squares and side to move
        ("score", np.int64),  # evaluation of the pieces on their squares, for Red; two numbers as in ``values``
        ("quiet", np.int64),  # plies since the last capture
        ("first_ply", np.int64),  # plies of the game before the state was set up (from the FEN's move number)
        ("reversible", np.int64),  # plies since the last capture or null move
        ("in_check", np.int64),  # whether the side to move is in check; -1 if not yet known
        ("evaluation", np.int64),  # code of the value tables in ``values`` + 1; 0 for none yet
        ("weights_address", np.int64),  # address that the values were copied from; 0 if not from a file
        ("repetition", np.int64),  # rules in force, see engine.rules.Rules
        ("fold", np.int64),
        ("move_limit", np.int64),
        ("insufficient", np.int64),
        ("material", np.int64, (2,)),  # centipawns of each side, the general not counted
        ("crossers", np.int64, (2,)),  # rooks, horses, cannons and pawns of each side
        ("pieces", np.int64, (2,)),  # pieces of each side
        ("counts", np.uint8, (2, 8)),  # pieces of each side and type
        ("board", np.uint8, (96,)),  # slot on each square, 0 if empty
        ("square", np.uint8, (SLOTS,)),  # square of each slot
        ("occupied", np.int64, (2, 2)),  # occupancy by side and half of the board, 45 bits
        ("file_bits", np.uint16, (2, 9)),  # occupancy of each file by each side, 10 bits
        # Value of each slot on each square, for Red (Black's negative): with the material of the start, plus ``END``
        # times the value with none.
        ("values", np.int32, (SLOTS, SQUARES)),
        ("piece_values", np.int16, (SLOTS,)),  # for material, positive
        ("phase", np.int8),  # phase of the full evaluation; -1 if it and ``of_pieces`` are not yet known
        ("places_known", np.int8),  # whether ``of_places`` is known
        ("of_pieces", np.int32),  # weighted sum of the piece-count terms, centipawns, for Red
        ("of_places", np.int32),  # weighted sum of the square terms, centipawns, for Red
        # Scratch of the full evaluation, by side and half: squares attacked, and squares that rooks and horses reach.
        ("attacks", np.int64, (2, 2)),
        ("rook_reach", np.int64, (2, 2)),
        ("horse_reach", np.int64, (2, 2)),
        ("place_terms", np.int16, (2 * PLACE_TERMS,)),  # and each side's terms of the squares
        ("terms", np.int16, (TERM_COUNT,)),  # Red's minus Black's; square terms only after ``count_terms``
        ("term_weights", np.int16, ((PHASES + 1) * TERM_COUNT,)),  # centipawns, a row for each phase
        ("critical", np.int64, (2,)),  # scratch of the generation of moves: critical squares by half
        ("exchange_slot", np.uint8, (32,)),  # scratch of the static exchange evaluation: at most 31 captures
        ("exchange_square", np.uint8, (32,)),
        ("undo_key", np.uint64, (MAX_GAME_PLIES,)),
        ("undo_move", np.int32, (MAX_GAME_PLIES,)),
        ("undo_score", np.int32, (MAX_GAME_PLIES,)),
        ("undo_quiet", np.int16, (MAX_GAME_PLIES,)),
        ("undo_reversible", np.int16, (MAX_GAME_PLIES,)),
        ("undo_captured", np.uint8, (MAX_GAME_PLIES,)),
        ("undo_in_check", np.int8, (MAX_GAME_PLIES,)),
        ("undo_phase", np.int8, (MAX_GAME_PLIES,)),
        ("undo_of_pieces", np.int32, (MAX_GAME_PLIES,)),
    ],
    align=True,
)


ALIGNED = np.array(
    [
        [(one // 9 == two // 9) | (one % 9 == two % 9) << 1 if two < SQUARES else 0 for two in range(SQUARES + 1)]
        for one in range(SQUARES)
    ],
    np.uint8,
)
"""Lines that two squares share, indexed by both squares: bit 0 for a rank, bit 1 for a file; 0 for ``NOWHERE``."""


_SEED = 0x58_69_61_6E_67_71_69
"""Seed of the hash keys."""


def _slot_keys() -> np.ndarray:
    """Hash keys by piece slot and square, uint64 (SLOTS, SQUARES). Pieces of one type and side have the same keys."""
    by_type = random_keys(_SEED, 2 * 7 * SQUARES).reshape(2, 7, SQUARES)
    table = np.zeros((SLOTS, SQUARES), np.uint64)
    for slot in range(16, SLOTS):
        table[slot] = by_type[(slot - 16) // 16, SLOT_TYPE[slot]]
    return table


PIECE_KEYS = _slot_keys()
SIDE_KEY = random_keys(_SEED, 2 * 7 * SQUARES + 1)[-1]

# Two tables for each kind of line, so that values used together lie together. A reach entry:
SLIDE_MASK = 1023  # bits 0-9: empty squares reached
ROOK_SHIFT = 10  # bits 10-19: first pieces met
CANNON_SHIFT = 20  # bits 20-29: second pieces met
# A met entry: places of the first, second and third piece, four bits each.
UPWARD_SHIFT = 0  # bits 0-11: in ascending direction
DOWNWARD_SHIFT = 12  # bits 12-23: in descending direction
NONE = 15  # there is no such piece


def _line_entries(place: int, occupancy: int, length: int) -> tuple[int, int]:
    """Entries of the reach and met tables for one square and one occupancy of a line of ``length`` squares.

    The reach entry holds three sets of squares as bits: empty squares that a slider reaches, squares on which a rook
    captures, and squares on which a cannon captures. The met entry holds the places of the first three pieces in each
    direction, four bits each.

    ``place`` is the square's place on the line.
    """
    reach = places = 0
    for step, shift in ((1, UPWARD_SHIFT), (-1, DOWNWARD_SHIFT)):
        met, at = [], place + step
        while 0 <= at < length:
            if occupancy >> at & 1:
                met.append(at)
            elif not met:
                reach |= 1 << at
            at += step
        if met:
            reach |= 1 << met[0] + ROOK_SHIFT
        if len(met) > 1:
            reach |= 1 << met[1] + CANNON_SHIFT
        for order in range(3):
            places |= (met[order] if order < len(met) else NONE) << shift + 4 * order
    return reach, places


def _line_tables(length: int) -> tuple[np.ndarray, np.ndarray]:
    """The two tables, reach and met, for lines of ``length`` squares, as uint32.

    The entry of a piece at ``place`` is at index place * 2**length + occupancy; see ``_line_entries``.
    """
    entries = [_line_entries(place, bits, length) for place in range(length) for bits in range(1 << length)]
    both = np.array(entries, np.uint32)
    return np.ascontiguousarray(both[:, 0]), np.ascontiguousarray(both[:, 1])


RANK_REACH, RANK_MET = _line_tables(9)
FILE_REACH, FILE_MET = _line_tables(10)


def _steps(square: int, deltas: tuple[tuple[int, int], ...]) -> list[tuple[int, int, int]]:
    """Steps from a square that stay on the board, each as (file difference, rank difference, target square).

    ``deltas`` are the steps to try, as (file difference, rank difference).
    """
    file, rank = square % 9, square // 9
    return [(df, dr, (rank + dr) * 9 + file + df) for df, dr in deltas if 0 <= file + df < 9 and 0 <= rank + dr < 10]


def in_palace(square: int) -> bool:
    """Whether a square lies in the palace of either side."""
    return 3 <= square % 9 <= 5 and (square // 9 <= 2 or square // 9 >= 7)


def _padded(lists: list[list[int]], width: int) -> np.ndarray:
    """Table of shape (91, width) of each square's targets, padded at the end with ``NOWHERE``."""
    table = np.full((SQUARES + 1, width), NOWHERE, np.uint8)
    for square, targets in enumerate(lists):
        table[square, : len(targets)] = targets
    return table


_ORTHOGONAL = ((0, 1), (0, -1), (1, 0), (-1, 0))
_DIAGONAL = ((1, 1), (1, -1), (-1, 1), (-1, -1))
_HORSE_JUMPS = ((1, 2), (-1, 2), (1, -2), (-1, -2), (2, 1), (2, -1), (-2, 1), (-2, -1))


def _mask(squares: list[int]) -> tuple[int, int]:
    """Convert squares to bits of the first and of the second half of the board."""
    halves = [0, 0]
    for square in squares:
        halves[square // HALF_SQUARES] |= 1 << square % HALF_SQUARES
    return halves[0], halves[1]


GENERAL_TARGETS = _padded(
    [[t for _, _, t in _steps(s, _ORTHOGONAL) if in_palace(s) and in_palace(t)] for s in range(SQUARES)], 5
)
GENERAL_MASKS = np.array(
    [_mask([t for _, _, t in _steps(s, _ORTHOGONAL) if in_palace(s) and in_palace(t)]) for s in range(SQUARES)]
    + [(0, 0)],
    np.int64,
)
"""Squares that a general can move to, by the general's square: shape (SQUARES + 1, 2).

The numbers of a row are bits of the first and the second half of the board. The row for ``NOWHERE``, the last, is 0.
"""

ADVISOR_MASKS = np.array(
    [_mask([t for _, _, t in _steps(s, _DIAGONAL) if in_palace(s) and in_palace(t)]) for s in range(SQUARES)]
    + [(0, 0)],
    np.int64,
)
"""Squares that an advisor can move to, by the advisor's square: shape (SQUARES + 1, 2).

The numbers of a row are bits of the first and the second half of the board. The row for ``NOWHERE``, the last, is 0.
"""

_elephant = [
    [
        (t, s + df // 2 + dr // 2 * 9)
        for df, dr, t in _steps(s, tuple((2 * df, 2 * dr) for df, dr in _DIAGONAL))
        if (s // 9 <= 4) == (t // 9 <= 4)
    ]
    for s in range(SQUARES)
]
ELEPHANT_TARGETS = _padded([[t for t, _ in row] for row in _elephant], 5)
ELEPHANT_EYES = _padded([[eye for _, eye in row] for row in _elephant], 5)

ELEPHANT_MASKS = np.array([_mask([t for t, _ in row]) for row in _elephant] + [(0, 0)], np.int64)
"""Squares that an elephant can move to on an empty board, by the elephant's square: shape (SQUARES + 1, 2).

The numbers of a row are bits of the first and the second half of the board. The row for ``NOWHERE``, the last, is 0.
"""
GUARD_SQUARES = np.bitwise_or.reduce(ADVISOR_MASKS | ELEPHANT_MASKS).copy()
"""Squares that advisors and elephants can ever reach: the bits of the first and of the second half of the board."""
ELEPHANT_EYE_MASKS = np.array([_mask([eye for _, eye in row]) for row in _elephant] + [(0, 0)], np.int64)
"""Elephant eyes, squares on which a piece blocks an elephant, by the elephant's square: shape (SQUARES + 1, 2).

The numbers of a row are bits of the first and the second half of the board. The row for ``NOWHERE``, the last, is 0.
"""

_horse = [
    [(t, s + (df // 2 if abs(df) == 2 else dr // 2 * 9)) for df, dr, t in _steps(s, _HORSE_JUMPS)]
    for s in range(SQUARES)
]


def _horse_masks(square: int) -> list[tuple[int, int]]:
    """Squares that a horse on ``square`` can move to, for each of the 16 sets of blocked legs.

    An element has the bits of the first and of the second half of the board. The index of the element is the set of
    blocked legs: bit 0 for the leg to the left, 1 below, 2 right, 3 above.
    """
    bit_of_leg = {square - 1: 1, square - 9: 2, square + 1: 4, square + 9: 8}
    return [_mask([t for t, leg in _horse[square] if not blocked & bit_of_leg[leg]]) for blocked in range(16)]


HORSE_ORIGIN_MASKS = np.array([_mask([t for t, _ in row]) for row in _horse] + [(0, 0)], np.int64)
"""Squares from which a horse reaches a target on an empty board, by target square: shape (SQUARES + 1, 2).

The numbers of a row are bits of the first and the second half of the board. The row for ``NOWHERE``, the last, is 0.
"""

HORSE_MASKS = np.array([_horse_masks(square) for square in range(SQUARES)] + [[(0, 0)] * 16], np.int64)
"""Squares that a horse can move to, by the horse's square and its blocked legs, as ``blocked_legs`` returns them.

The shape is (SQUARES + 1, 16, 2); the last axis has bits of the first and the second half of the board. Elements for
``NOWHERE``, the last square, are 0.
"""

# The leg that must be free for a horse on one square to reach another; 255 if it cannot. NOWHERE reaches nothing.
HORSE_LEG_BETWEEN = np.full((SQUARES + 1, SQUARES + 1), 255, np.uint8)
for _square, _row in enumerate(_horse):
    for _target, _leg in _row:
        HORSE_LEG_BETWEEN[_square, _target] = _leg

CHECK_ZONE = np.zeros((SQUARES, SQUARES + 1), np.uint8)
"""Table [general's square, square]: 1 if a move from or to the square can affect attacks on the general, otherwise 0.

The element is 1 for the squares of the general's rank and file, for squares from which a horse attacks the general, and
for the legs of these horses.
"""
for _general in range(SQUARES):
    for _square in range(SQUARES):
        CHECK_ZONE[_general, _square] = _general // 9 == _square // 9 or _general % 9 == _square % 9
    for _horse_square in np.flatnonzero(HORSE_LEG_BETWEEN[:, _general] != 255):
        CHECK_ZONE[_general, [_horse_square, HORSE_LEG_BETWEEN[_horse_square, _general]]] = 1


def _pawn_targets(side: int, square: int) -> list[int]:
    forward = 1 if side == RED else -1
    crossed = square // 9 > 4 if side == RED else square // 9 < 5
    deltas = ((0, forward), (1, 0), (-1, 0)) if crossed else ((0, forward),)
    return [target for _, _, target in _steps(square, deltas)]


PAWN_MASKS = np.array(
    [[_mask(_pawn_targets(side, s)) for s in range(SQUARES)] + [(0, 0)] for side in (RED, BLACK)], np.int64
)
"""Squares that a pawn can move to, by the pawn's side and square: shape (2, SQUARES + 1, 2).

The last axis has bits of the first and the second half of the board. Elements for ``NOWHERE``, the last square, are 0.
"""


@jit
def put(state, slot, square):
    """Place the piece with piece slot ``slot`` on an empty square.

    Updates all incremental sums and the hash, except for the side to move in the hash.
    """
    side = (slot >> 4) - 1
    state.board[square] = slot
    state.square[slot] = square
    state.occupied[side, HALF_OF[square]] ^= BIT_OF[square]
    state.file_bits[side, FILE_OF[square]] ^= np.int64(1) << RANK_OF[square]
    state.key ^= PIECE_KEYS[slot, square]
    state.score += state.values[slot, square]
    state.material[side] += state.piece_values[slot]
    state.pieces[side] += 1
    state.counts[side, SLOT_TYPE[slot]] += 1
    state.phase = -1
    state.places_known = 0
    if SLOT_TYPE[slot] >= HORSE:
        state.crossers[side] += 1


@jit
def set_up(states, slots, squares):
    """Put pieces on an empty board: ``slots`` on ``squares``, both 1-d int64. ``states`` is an array of one state."""
    for index in range(slots.size):
        put(states[0], slots[index], squares[index])


@jit
def position_key(state):
    key = np.uint64(0)
    for square in range(SQUARES):
        # The row of slot 0 is zero.
        key ^= PIECE_KEYS[state.board[square], square]
    return key ^ SIDE_KEY if state.side == BLACK else key


@jit
def key_after(state, move):
    origin = move & 127
    target = (move >> 7) & 127
    slot = state.board[origin]
    # The row of slot 0 is zero: an empty target changes nothing.
    change = PIECE_KEYS[slot, origin] ^ PIECE_KEYS[slot, target] ^ PIECE_KEYS[state.board[target], target]
    return state.key ^ change ^ SIDE_KEY


@jit
def key_is_quick(state):
    """Always true: a move changes the hash by only a few keys."""
    return True


@jit
def make(state, move):
    """Play a move, which need not be legal; ``unmake`` takes it back."""
    origin = move & 127
    target = (move >> 7) & 127
    slot = np.int64(state.board[origin])
    captured = np.int64(state.board[target])
    side = np.int64(state.side)
    ply = np.int64(state.ply)
    state.undo_key[ply] = state.key
    state.undo_move[ply] = move
    state.undo_score[ply] = state.score
    state.undo_quiet[ply] = state.quiet
    state.undo_reversible[ply] = state.reversible
    state.undo_captured[ply] = captured
    state.undo_in_check[ply] = state.in_check
    state.undo_phase[ply] = state.phase
    state.undo_of_pieces[ply] = state.of_pieces
    if captured != 0:
        enemy = 1 - side
        state.square[captured] = NOWHERE
        state.occupied[enemy, HALF_OF[target]] ^= BIT_OF[target]
        state.file_bits[enemy, FILE_OF[target]] ^= np.int64(1) << RANK_OF[target]
        state.key ^= PIECE_KEYS[captured, target]
        state.score -= state.values[captured, target]
        state.material[enemy] -= state.piece_values[captured]
        state.pieces[enemy] -= 1
        state.counts[enemy, SLOT_TYPE[captured]] -= 1
        if SLOT_TYPE[captured] >= HORSE:
            state.crossers[enemy] -= 1
        state.phase = -1
        state.quiet = 0
        state.reversible = 0
    else:
        state.quiet += 1
        state.reversible += 1
    state.board[origin] = 0
    state.board[target] = slot
    state.square[slot] = target
    state.occupied[side, HALF_OF[origin]] ^= BIT_OF[origin]
    state.file_bits[side, FILE_OF[origin]] ^= np.int64(1) << RANK_OF[origin]
    state.occupied[side, HALF_OF[target]] ^= BIT_OF[target]
    state.file_bits[side, FILE_OF[target]] ^= np.int64(1) << RANK_OF[target]
    state.key ^= PIECE_KEYS[slot, origin] ^ PIECE_KEYS[slot, target] ^ SIDE_KEY
    state.score += np.int64(state.values[slot, target]) - np.int64(state.values[slot, origin])
    state.side = 1 - side
    state.ply = ply + 1
    state.in_check = -1
    state.places_known = 0


@jit
def unmake(state):
    ply = np.int64(state.ply) - 1
    move = np.int64(state.undo_move[ply])
    origin = move & 127
    target = (move >> 7) & 127
    slot = np.int64(state.board[target])
    captured = np.int64(state.undo_captured[ply])
    side = 1 - np.int64(state.side)
    state.board[origin] = slot
    state.board[target] = captured
    state.square[slot] = origin
    state.occupied[side, HALF_OF[origin]] ^= BIT_OF[origin]
    state.file_bits[side, FILE_OF[origin]] ^= np.int64(1) << RANK_OF[origin]
    state.occupied[side, HALF_OF[target]] ^= BIT_OF[target]
    state.file_bits[side, FILE_OF[target]] ^= np.int64(1) << RANK_OF[target]
    if captured != 0:
        enemy = 1 - side
        state.square[captured] = target
        state.occupied[enemy, HALF_OF[target]] ^= BIT_OF[target]
        state.file_bits[enemy, FILE_OF[target]] ^= np.int64(1) << RANK_OF[target]
        state.material[enemy] += state.piece_values[captured]
        state.pieces[enemy] += 1
        state.counts[enemy, SLOT_TYPE[captured]] += 1
        if SLOT_TYPE[captured] >= HORSE:
            state.crossers[enemy] += 1
        state.phase = state.undo_phase[ply]
        state.of_pieces = state.undo_of_pieces[ply]
    state.places_known = 0
    state.side = side
    state.ply = ply
    state.key = state.undo_key[ply]
    state.score = state.undo_score[ply]
    state.quiet = state.undo_quiet[ply]
    state.reversible = state.undo_reversible[ply]
    state.in_check = state.undo_in_check[ply]


@jit
def past_move(state, ply):
    return np.int64(state.undo_move[ply])


@jit
def make_null(state):
    """Make a null move: pass the turn. Earlier positions no longer count for repetition."""
    ply = np.int64(state.ply)
    state.undo_key[ply] = state.key
    state.undo_move[ply] = 0
    state.undo_score[ply] = state.score
    state.undo_quiet[ply] = state.quiet
    state.undo_reversible[ply] = state.reversible
    state.undo_captured[ply] = 0
    state.undo_in_check[ply] = state.in_check
    state.key ^= SIDE_KEY
    state.side = 1 - state.side
    state.reversible = 0
    state.quiet += 1
    state.ply = ply + 1
    state.in_check = 0


@jit
def unmake_null(state):
    ply = np.int64(state.ply) - 1
    state.side = 1 - state.side
    state.ply = ply
    state.key = state.undo_key[ply]
    state.quiet = state.undo_quiet[ply]
    state.reversible = state.undo_reversible[ply]
    state.in_check = state.undo_in_check[ply]
