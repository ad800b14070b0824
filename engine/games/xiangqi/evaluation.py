"""Evaluation of Xiangqi positions: incremental piece-square values; the full evaluation adds terms.

The full evaluation's weights come from a file. The tables of the other evaluations are our own, set by hand from common
knowledge. Rooks, horses and cannons are worth more where they are active, and less on their starting squares and on the
rim. A pawn doubles its value across the river and approaches a horse or cannon near the palace. The general stays at
home. The rows of tables are ranks, from Red's first (0) to Black's first (9). The columns are files a to e, which files
f to i mirror. Values are in centipawns.
"""

from __future__ import annotations

import numpy as np

from elolab.engine.compiled.kernel import jit, load_word, sum_of_products
from elolab.engine.games.evaluation_cache import NOT_CACHED, cached_value, keep_value
from elolab.engine.games.packed_values import END, at_end, at_start, blend
from elolab.engine.games.xiangqi.attacks import cheapest_attacker, drop, lift
from elolab.engine.games.xiangqi.position import (
    ADVISOR,
    CANNON,
    ELEPHANT,
    FIRST_OF_PIECES,
    GENERAL,
    HORSE,
    NOWHERE,
    PAWN,
    PHASE_BITS,
    PHASES,
    PIECE_TERMS,
    PLACE_TERMS,
    ROOK,
    SLOT_TYPE,
    SLOTS,
    SQUARES,
    TERM_COUNT,
)
from elolab.engine.games.xiangqi.terms import count_pieces, count_places, phase
from elolab.engine.games.xiangqi.weight_layout import FIRST_TERM, FIRST_VALUE, MARK
from elolab.engine.settings.parameters import choice_code
from elolab.engine.values import BAN_BOUND

MATERIAL = {GENERAL: 0, ADVISOR: 200, ELEPHANT: 200, HORSE: 400, ROOK: 900, CANNON: 450, PAWN: 100}
"""Material values by piece type, in centipawns, set for this project."""

MATERIAL_CHESS = {GENERAL: 0, ADVISOR: 100, ELEPHANT: 100, HORSE: 300, ROOK: 500, CANNON: 300, PAWN: 100}
"""Material values as in international chess, from section 3.1 of the tutorial of XQWizard Light.

A rook counts 5, horse and cannon 3 like knight and bishop, a pawn 1. The text has no values for advisors and elephants:
they count as pawns.
"""

# fmt: off
_ABOVE_MATERIAL: dict[int, tuple[tuple[int, ...], ...]] = {
    GENERAL: (
        (0, 0, 0, 0, 12), (0, 0, 0, -12, -10), (0, 0, 0, -30, -28), (0,) * 5, (0,) * 5,
        (0,) * 5, (0,) * 5, (0,) * 5, (0,) * 5, (0,) * 5,
    ),
    ADVISOR: (
        (0, 0, 0, 0, 0), (0, 0, 0, 0, 8), (0, 0, 0, -6, 0), (0,) * 5, (0,) * 5,
        (0,) * 5, (0,) * 5, (0,) * 5, (0,) * 5, (0,) * 5,
    ),
    ELEPHANT: (
        (0, 0, 0, 0, 0), (0,) * 5, (-14, 0, 0, 0, 14), (0,) * 5, (0, 0, -6, 0, 0),
        (0,) * 5, (0,) * 5, (0,) * 5, (0,) * 5, (0,) * 5,
    ),
    HORSE: (
        (-40, -30, -14, -16, -30),
        (-28, -10, -6, -4, -34),
        (-12, 0, 12, 4, 2),
        (-6, 6, 8, 16, 6),
        (-4, 20, 18, 24, 26),
        (-2, 24, 28, 34, 32),
        (0, 30, 34, 40, 36),
        (-2, 34, 46, 42, 38),
        (-8, 26, 52, 32, 4),
        (-20, -6, 10, 0, -16),
    ),
    ROOK: (
        (-26, -4, -8, 14, 0),
        (-10, 4, 2, 14, 0),
        (-14, 2, 0, 14, 4),
        (-6, 8, 4, 16, 12),
        (0, 14, 12, 20, 18),
        (4, 18, 16, 24, 22),
        (8, 20, 20, 28, 30),
        (4, 18, 16, 26, 34),
        (10, 26, 24, 36, 44),
        (4, 12, 12, 22, 24),
    ),
    CANNON: (
        (-6, -4, 2, 6, 8),
        (-4, 2, 6, 4, 8),
        (0, 0, 8, 6, 18),
        (-4, 0, 2, 2, 10),
        (-4, 0, 4, 2, 14),
        (-4, 0, 2, 2, 16),
        (2, 4, 2, 4, 16),
        (4, 4, 0, -8, -4),
        (8, 6, 0, -10, -12),
        (18, 14, 2, -8, -6),
    ),
    PAWN: (
        (0,) * 5, (0,) * 5, (0,) * 5,
        (-8, 0, 0, 0, 6),
        (-2, 0, 14, 0, 20),
        (52, 78, 96, 116, 124),
        (74, 104, 128, 164, 176),
        (82, 116, 160, 244, 264),
        (72, 104, 152, 262, 284),
        (-10, 0, 10, 40, 56),
    ),
}
# fmt: on


def _mirrored(rows: tuple[tuple[int, ...], ...]) -> list[int]:
    """Values of all 90 squares, given ten rows of values for files a to e; files f to i mirror them."""
    return [value for row in rows for value in (*row, *row[3::-1])]


def _table(material: dict[int, int], squares: dict[int, tuple[tuple[int, ...], ...]] | None) -> np.ndarray:
    """Piece-square values by piece slot and square, from Red's point of view: shape (SLOTS, SQUARES).

    ``material`` has a value for each piece type. ``squares`` has rows of values to add, by type; ``None`` for material
    only. Black's values are Red's, mirrored across the river and negated.
    """
    table = np.zeros((SLOTS, SQUARES), np.int32)
    for slot in range(16, SLOTS):
        kind = int(SLOT_TYPE[slot])
        above = _mirrored(squares[kind]) if squares else [0] * SQUARES
        for square in range(SQUARES):
            if slot < 32:
                table[slot, square] = material[kind] + above[square]
            else:
                table[slot, square] = -(material[kind] + above[(9 - square // 9) * 9 + square % 9])
    return table


_FULL = choice_code("evaluation", "full")
_TABLES = np.zeros((_FULL, SLOTS, SQUARES), np.int32)
_TABLES[choice_code("evaluation", "squares")] = _table(dict.fromkeys(MATERIAL, 0), _ABOVE_MATERIAL)
_TABLES[choice_code("evaluation", "material_chess")] = _table(MATERIAL_CHESS, None)
_TABLES[choice_code("evaluation", "material")] = _table(MATERIAL, None)
_TABLES[choice_code("evaluation", "piece_square")] = _table(MATERIAL, _ABOVE_MATERIAL)

MAX_OF_PLACES = 300
"""Maximum absolute value, in centipawns, of the sum of the square terms (evaluation terms that depend on squares).

If the score without the square terms lies outside (alpha, beta) by more than this value, the evaluation returns early
and does not compute them.
"""

_MAX_SCORE = BAN_BOUND - 1 - MAX_OF_PLACES - 1000
"""Maximum absolute value, in centipawns, of an evaluation before square terms (see ``terms``) and tempo are added.

With them, the evaluation is still below the scores of decided games.
"""

_PIECE_VALUES = np.array([0] * 16 + [MATERIAL[int(SLOT_TYPE[slot])] for slot in range(16, SLOTS)], np.int16)

MAX_EXCHANGED = 31
_GENERAL_IN_EXCHANGE = 10_000
"""Value of a general in static exchanges, in centipawns: so high that a general captures only undefended pieces."""


@jit
def full_score(state):
    """Sum of the piece-square values for Red, as a packed pair (opening, endgame), computed by a scan of the board.

    Tests compare it with the incrementally updated score in the state.
    """
    score = np.int64(0)
    for square in range(SQUARES):
        slot = np.int64(state.board[square])
        if slot != 0:
            score += np.int64(state.values[slot, square])
    return score


@jit
def prepare(state, parameters):
    """Load the piece-square values of ``parameters.evaluation`` into the state; recompute its score and material."""
    evaluation = parameters.evaluation
    address = parameters.evaluation_weights
    if evaluation != _FULL or address == 0 or load_word(address, 0) != MARK:
        address = 0
    if state.evaluation == evaluation + 1 and state.weights_address == address:
        return
    state.evaluation = evaluation + 1
    state.weights_address = address
    if address != 0:
        for slot in range(16, SLOTS):
            for square in range(SQUARES):
                state.values[slot, square] = np.int64(load_word(address, FIRST_VALUE + slot * SQUARES + square))
        for place in range((PHASES + 1) * TERM_COUNT):
            state.term_weights[place] = np.int64(load_word(address, FIRST_TERM + place))
    else:
        # Without a file the full evaluation falls back to the last table, without terms.
        table = min(evaluation, _FULL - 1)
        for slot in range(16, SLOTS):
            for square in range(SQUARES):
                state.values[slot, square] = _TABLES[table, slot, square] * (END + 1)
        for place in range((PHASES + 1) * TERM_COUNT):
            state.term_weights[place] = 0
    for slot in range(16, SLOTS):
        state.piece_values[slot] = _PIECE_VALUES[slot]
    state.phase = -1
    state.places_known = 0
    state.score = full_score(state)
    for side in range(2):
        state.material[side] = 0
    for slot in range(16, SLOTS):
        if state.square[slot] != NOWHERE:
            state.material[(slot >> 4) - 1] += state.piece_values[slot]


@jit
def _weigh_places(state, now):
    """Weighted sum of the square terms (where pieces stand) at phase ``now``, in centipawns for Red."""
    row = now * TERM_COUNT
    red = sum_of_products(state.place_terms, 0, state.term_weights, row, PLACE_TERMS)
    return red - sum_of_products(state.place_terms, PLACE_TERMS, state.term_weights, row, PLACE_TERMS)


@jit
def _weigh_pieces(state, now):
    """Weighted sum of the piece-count terms at phase ``now``, in centipawns for Red."""
    row = now * TERM_COUNT + FIRST_OF_PIECES
    return sum_of_products(state.terms, FIRST_OF_PIECES, state.term_weights, row, PIECE_TERMS)


@jit
def evaluate(state, cache, alpha, beta):
    """Static evaluation in centipawns, for the side to move. A value outside (alpha, beta) may be only a bound."""
    if state.evaluation != _FULL + 1:
        score = at_start(state.score)
        return score if state.side == 0 else -score
    if state.phase < 0:
        state.phase = phase(state)
        count_pieces(state)
        state.of_pieces = _weigh_pieces(state, np.int64(state.phase))
    now = np.int64(state.phase)
    score = blend(state.score, now, PHASE_BITS) + state.of_pieces
    score = min(max(score, -_MAX_SCORE), _MAX_SCORE)
    own = score if state.side == 0 else -score
    if own + MAX_OF_PLACES <= alpha:
        return own + MAX_OF_PLACES
    if own - MAX_OF_PLACES >= beta:
        return own - MAX_OF_PLACES
    if state.places_known == 0:
        value = cached_value(cache, state.key)
        if value == NOT_CACHED:
            count_places(state)
            value = min(max(_weigh_places(state, now), -MAX_OF_PLACES), MAX_OF_PLACES)
            keep_value(cache, state.key, value)
        state.of_places = value
        state.places_known = 1
    places = np.int64(state.of_places)
    return own + places if state.side == 0 else own - places


@jit
def material(state):
    """Material of the side to move in centipawns, without the general; values as in ``MATERIAL``."""
    return state.material[state.side]


@jit
def piece_count(state):
    """Number of pieces of both sides on the board, generals included."""
    return state.pieces[0] + state.pieces[1]


@jit
def is_quiet(state, move):
    """Whether a move is not a capture."""
    return state.board[(move >> 7) & 127] == 0


@jit
def history_piece(state, move):
    """Index of the moving piece's type and side in history tables, 0 to 13."""
    slot = np.int64(state.board[move & 127])
    return np.int64(SLOT_TYPE[slot]) + 7 * ((slot >> 4) - 1)


@jit
def capture_order(state, move):
    """Ordering score of a capture, at least 1: most valuable victim, then least valuable attacker."""
    attacker = np.int64(state.piece_values[state.board[move & 127]])
    victim = np.int64(state.piece_values[state.board[(move >> 7) & 127]])
    return victim * 16 - attacker // 16 + 64


@jit
def capture_gain(state, move):
    """Piece-square value of the captured piece in centipawns, the higher of the two values for opening and endgame."""
    target = (move >> 7) & 127
    pair = state.values[state.board[target], target]
    return max(abs(at_start(pair)), abs(at_end(pair)))


@jit
def loses_material(state, move):
    """Whether a capture loses material, by static exchange evaluation on its target square.

    Each side captures with its least valuable piece, the general last, and stops when a further capture would lose
    material. Pieces that have captured are removed from the board, so that cannon screens and horse legs stay correct.
    Pins are ignored. The exchange ends early once the side to capture cannot lose.
    """
    origin = move & 127
    target = (move >> 7) & 127
    slot = np.int64(state.board[origin])
    # Balance of the side to capture, if the piece that captured last is lost.
    won = np.int64(state.piece_values[slot]) - np.int64(state.piece_values[state.board[target]])
    if won <= 0:
        return False
    side = (slot >> 4) - 1
    loses = False
    lifted = 0
    while lifted < MAX_EXCHANGED:
        state.exchange_slot[lifted] = slot
        state.exchange_square[lifted] = state.square[slot]
        lift(state, slot)
        lifted += 1
        side = 1 - side
        slot = cheapest_attacker(state, side, target)
        if slot == 0:
            break
        loses = not loses
        won = (_GENERAL_IN_EXCHANGE if SLOT_TYPE[slot] == GENERAL else np.int64(state.piece_values[slot])) - won
        # An even exchange loses nothing.
        if won < 0 or (won == 0 and not loses):
            break
    for index in range(lifted - 1, -1, -1):
        drop(state, np.int64(state.exchange_slot[index]), np.int64(state.exchange_square[index]))
    return loses
