"""The compiled state of an Othello position: layout, hashing, making and unmaking moves.

A move is the integer ``STOCK`` + (square << 7): its origin is always ``STOCK``, its target a square, 0 (a1) to 63 (h8).
A pass has the target ``PASS_SQUARE``. It is the only legal move if only the opponent can place a disc.
``engine.games.contract`` describes the functions without a docstring.
"""

from __future__ import annotations

import numpy as np

from elolab.engine.compiled.kernel import jit, multiply_words
from elolab.engine.games.othello.boards import NONE, ONE, flips
from elolab.engine.games.othello.patterns import LANES
from elolab.engine.settings.features import OTHELLO
from elolab.engine.settings.weights import STEPS
from elolab.engine.values import MAX_PLY

BLACK, WHITE = 0, 1
STOCK = 1
PASS_SQUARE = 64
PASS = STOCK + (PASS_SQUARE << 7)

MAX_GAME = 128
"""Upper bound of the number of plies of a game: 60 discs, and no two passes in a row."""
FEATURES = len(OTHELLO)

STATE_DTYPE = np.dtype(
    [
        ("othello", np.int64),  # the marker that chooses the game's functions; must come first
        ("side", np.uint8),  # side to move: 0 Black, 1 White
        ("ply", np.uint16),  # moves made since the state was set up; index into the undo arrays
        ("key", np.uint64),  # hash of own and other discs; colours do not matter
        ("discs", np.uint64, (2,)),  # by colour
        ("weights_address", np.int64),  # address that ``weights`` were copied from
        ("weights", np.int32, (STEPS, FEATURES)),  # of the evaluation by discs placed, hundredths of a disc
        ("pattern_address", np.int64),  # of the patterns' weights, int16 by phase and occupation; 0 for none
        ("pattern_phases", np.int64),
        ("occupations", np.uint16, (LANES,)),  # of each pattern's instances, where the evaluation counts them
        ("undo_key", np.uint64, (MAX_GAME + MAX_PLY + 2,)),
        ("undo_flips", np.uint64, (MAX_GAME + MAX_PLY + 2,)),
        ("undo_move", np.int32, (MAX_GAME + MAX_PLY + 2,)),
    ],
    align=True,
)

# Odd multipliers with bits well spread (the first three of splitmix64's constants).
_FIRST, _SECOND, _THIRD = (
    np.uint64(0x9E37_79B9_7F4A_7C15), np.uint64(0xBF58_476D_1CE4_E5B9), np.uint64(0x94D0_49BB_1331_11EB)
)  # fmt: skip
_HALF = np.uint64(32)
_ROUND = np.uint64(29)


@jit
def board_key(own, other):
    """Hash of a position; ``own`` has the discs of the side to move, ``other`` the other side's discs."""
    mixed = multiply_words(own ^ _SECOND, _FIRST)
    mixed = multiply_words(mixed ^ (mixed >> _HALF) ^ other, _SECOND)
    mixed = multiply_words(mixed ^ (mixed >> _ROUND), _THIRD)
    return mixed ^ (mixed >> _HALF)


@jit
def own_discs(state):
    """Discs of the side to move."""
    return state.discs[np.uint64(state.side)]


@jit
def other_discs(state):
    """Discs of the side not to move."""
    return state.discs[np.uint64(1 - state.side)]


@jit
def position_key(state):
    return board_key(own_discs(state), other_discs(state))


@jit
def refresh_key(state):
    """Recompute ``state.key`` from scratch."""
    state.key = position_key(state)


@jit
def key_after(state, move):
    own, other = own_discs(state), other_discs(state)
    square = move >> 7
    if square == PASS_SQUARE:
        return board_key(other, own)
    turned = flips(own, other, square)
    return board_key(other ^ turned, own ^ (turned | (ONE << np.uint64(square))))


@jit
def make(state, move):
    ply = np.uint64(state.ply)
    side = np.uint64(state.side)
    enemy = ONE - side
    state.undo_key[ply] = state.key
    state.undo_move[ply] = move
    square = move >> 7
    turned = NONE
    if square != PASS_SQUARE:
        turned = flips(state.discs[side], state.discs[enemy], square)
        state.discs[side] ^= turned | (ONE << np.uint64(square))
        state.discs[enemy] ^= turned
    state.undo_flips[ply] = turned
    state.side = enemy
    state.ply = ply + ONE
    state.key = board_key(state.discs[enemy], state.discs[side])


@jit
def unmake(state):
    ply = np.uint64(state.ply) - ONE
    enemy = np.uint64(state.side)
    side = ONE - enemy
    square = np.int64(state.undo_move[ply]) >> 7
    if square != PASS_SQUARE:
        turned = state.undo_flips[ply]
        state.discs[side] ^= turned | (ONE << np.uint64(square))
        state.discs[enemy] ^= turned
    state.side = side
    state.ply = ply
    state.key = state.undo_key[ply]


@jit
def make_null(state):
    """Make a null move: pass the turn, even if there are legal moves."""
    make(state, np.int64(PASS))
    state.undo_move[np.uint64(state.ply) - ONE] = 0


@jit
def unmake_null(state):
    state.undo_move[np.uint64(state.ply) - ONE] = PASS
    unmake(state)


@jit
def past_move(state, ply):
    return np.int64(state.undo_move[np.uint64(ply)])
