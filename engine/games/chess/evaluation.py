"""Evaluation of chess positions: incremental piece-square values; the full evaluation adds terms and endgame knowledge.

The full evaluation's weights come from a file. The tables of the other evaluations are our own, set by hand from common
knowledge: pieces gain in the centre, rooks on the seventh rank, pawns as they advance, and the king in its corner. The
rows of tables are ranks, from White's first to White's last. The columns are files a to d, which files e to h mirror.
Values are in centipawns.
"""

from __future__ import annotations

import numpy as np

from elolab.engine.compiled.kernel import jit, load_word, popcount
from elolab.engine.games.chess.boards import (
    BISHOP,
    KING,
    KNIGHT,
    ONE,
    PAWN,
    QUEEN,
    ROOK,
    SQUARES,
)
from elolab.engine.games.chess.captures import EXCHANGE_VALUES, captured_piece
from elolab.engine.games.chess.endgames import is_rare_ending, with_endgame_knowledge
from elolab.engine.games.chess.position import PIECES, TERM_COUNT, is_promotion, past_move
from elolab.engine.games.chess.terms import sum_of_terms
from elolab.engine.games.chess.weight_layout import FIRST_TERM, FIRST_VALUE, MARK
from elolab.engine.games.evaluation_cache import NOT_CACHED, cached_value, keep_value
from elolab.engine.games.packed_values import END, at_end, at_start, blend
from elolab.engine.settings.parameters import choice_code

MATERIAL = {PAWN: 100, KNIGHT: 320, BISHOP: 330, ROOK: 500, QUEEN: 950, KING: 0}
"""Material values by piece type, in centipawns, set for this project."""

MATERIAL_CHESS = {PAWN: 100, KNIGHT: 300, BISHOP: 300, ROOK: 500, QUEEN: 900, KING: 0}
"""Textbook material values by piece type, in centipawns: knight and bishop 3 pawns, rook 5, queen 9."""

# fmt: off
_ABOVE_MATERIAL: dict[int, tuple[tuple[int, ...], ...]] = {
    PAWN: (
        (0, 0, 0, 0), (0, 0, 0, -10), (2, 2, 4, 6), (0, 4, 8, 20), (4, 8, 14, 26), (16, 20, 28, 36), (50, 56, 60, 64),
        (0, 0, 0, 0),
    ),
    KNIGHT: (
        (-46, -30, -24, -18), (-30, -16, -2, 4), (-20, 0, 10, 16), (-10, 8, 18, 24), (-6, 10, 22, 28),
        (-10, 10, 20, 24), (-24, -8, 6, 10), (-44, -24, -14, -10),
    ),
    BISHOP: (
        (-16, -8, -10, -6), (-4, 10, 4, 6), (-2, 8, 10, 8), (-2, 6, 10, 16), (-4, 8, 10, 16), (-4, 6, 8, 10),
        (-10, 0, 2, 2), (-14, -8, -8, -6),
    ),
    ROOK: (
        (-6, -2, 4, 8), (-10, -2, 0, 2), (-8, -2, 0, 2), (-6, 0, 2, 4), (-4, 2, 4, 6), (0, 4, 6, 8), (12, 14, 16, 18),
        (6, 6, 8, 8),
    ),
    QUEEN: (
        (-14, -8, -6, 0), (-8, 0, 4, 4), (-6, 2, 4, 4), (-4, 2, 6, 8), (-4, 4, 6, 10), (-4, 4, 8, 10), (-6, 0, 6, 8),
        (-4, 2, 4, 6),
    ),
    KING: (
        (20, 34, 8, -6), (14, 14, -10, -20), (-14, -20, -26, -32), (-30, -36, -42, -48), (-40, -46, -52, -56),
        (-50, -54, -60, -64), (-56, -60, -64, -68), (-60, -64, -68, -72),
    ),
}
# fmt: on


def _table(material: dict[int, int], squares: dict[int, tuple[tuple[int, ...], ...]] | None) -> np.ndarray:
    """Piece-square values by piece code and square, from White's point of view: shape (PIECES, SQUARES).

    ``material`` has a value for each piece type. ``squares`` has rows of values to add, by type; ``None`` for material
    only. Black's values are White's, mirrored across the middle and negated.
    """
    table = np.zeros((PIECES, SQUARES), np.int32)
    for kind, value in material.items():
        for square in range(SQUARES):
            rank, file = divmod(square, 8)
            above = squares[kind][rank][min(file, 7 - file)] if squares else 0
            table[kind, square] = value + above
            table[8 + kind, square ^ 56] = -(value + above)
    return table


_VALUES = np.array([MATERIAL[kind] for kind in range(KING)], np.int64)

_FULL = choice_code("evaluation", "full")
_TABLES = np.zeros((_FULL, PIECES, SQUARES), np.int32)
_TABLES[choice_code("evaluation", "squares")] = _table(dict.fromkeys(MATERIAL, 0), _ABOVE_MATERIAL)
_TABLES[choice_code("evaluation", "material_chess")] = _table(MATERIAL_CHESS, None)
_TABLES[choice_code("evaluation", "material")] = _table(MATERIAL, None)
_TABLES[choice_code("evaluation", "piece_square")] = _table(MATERIAL, _ABOVE_MATERIAL)

PHASE_BITS = 6
PHASES = 1 << PHASE_BITS
"""Highest phase of the full evaluation, with all pieces of the start position. Phase 0 means only pawns and kings."""
_FULL_COUNT = 24
_PHASE_OF_COUNT = np.array([round(PHASES * count / _FULL_COUNT) for count in range(_FULL_COUNT + 1)], np.int64)
"""Phase by a count of both sides' pieces: knights and bishops count 1, rooks 2, queens 4; at most ``_FULL_COUNT``."""

MAX_OF_TERMS = 600
"""Maximum absolute value, in centipawns, of the sum of the evaluation terms (all but piece-square values).

If the score without these terms lies outside (alpha, beta) by more than this value, the evaluation returns early and
does not compute them.
"""

_MAX_SCORE = 15_000
"""Limit, in centipawns, of material and placement. Evaluation terms, endgame knowledge and tempo are added to them.

With them, the evaluation is still below the scores of decided games, and fits into the evaluation cache.
"""


@jit
def full_score(state):
    """Sum of the piece-square values for White, as a packed pair (opening, endgame), computed by a scan of the board.

    Tests compare it with the incrementally updated score in the state.
    """
    score = np.int64(0)
    for square in range(SQUARES):
        score += np.int64(state.values[np.uint64(state.board[square]), np.uint64(square)])
    return score


@jit
def prepare(state, parameters):
    """Load the piece-square values of ``parameters.evaluation`` and the weights of the terms into the state.

    Recomputes the state's score.
    """
    evaluation = parameters.evaluation
    address = parameters.evaluation_weights
    if evaluation != _FULL or address == 0 or load_word(address, 0) != MARK:
        address = 0
    if state.evaluation == evaluation + 1 and state.weights_address == address:
        return
    state.evaluation = evaluation + 1
    state.weights_address = address
    for piece in range(PIECES):
        for square in range(SQUARES):
            if address != 0:
                value = np.int64(load_word(address, FIRST_VALUE + piece * SQUARES + square))
            else:
                # Without a file the full evaluation falls back to the last table, without terms.
                value = np.int64(_TABLES[min(evaluation, _FULL - 1), piece, square]) * (END + 1)
            state.values[piece, square] = value
    for term in range(TERM_COUNT):
        state.term_weights[term] = np.int64(load_word(address, FIRST_TERM + term)) if address != 0 else 0
    for place in range(state.pawn_cache.shape[0]):
        state.pawn_cache[place, 0] = 0
    for place in range(state.material_cache.shape[0]):
        state.material_cache[place, 0] = 0
    state.score = full_score(state)


@jit
def phase(state):
    """Phase of the game, from 0 for pawns and kings alone to ``PHASES`` for the pieces of the start position."""
    knights = state.pieces[np.uint64(KNIGHT)] | state.pieces[np.uint64(KNIGHT + 8)]
    bishops = state.pieces[np.uint64(BISHOP)] | state.pieces[np.uint64(BISHOP + 8)]
    rooks = state.pieces[np.uint64(ROOK)] | state.pieces[np.uint64(ROOK + 8)]
    queens = state.pieces[np.uint64(QUEEN)] | state.pieces[np.uint64(QUEEN + 8)]
    count = popcount(knights | bishops) + 2 * popcount(rooks) + 4 * popcount(queens)
    return _PHASE_OF_COUNT[np.uint64(min(count, _FULL_COUNT))]


@jit
def evaluate(state, cache, alpha, beta):
    """Static evaluation in centipawns, for the side to move. A value outside (alpha, beta) may be only a bound."""
    sign = 1 - 2 * np.int64(state.side)
    if state.evaluation != _FULL + 1:
        return sign * at_start(state.score)
    now = phase(state)
    score = min(max(blend(state.score, now, PHASE_BITS), -_MAX_SCORE), _MAX_SCORE)
    own = sign * score
    is_rare = is_rare_ending(state)
    if not is_rare:
        if own + MAX_OF_TERMS <= alpha:
            return own + MAX_OF_TERMS
        if own - MAX_OF_TERMS >= beta:
            return own - MAX_OF_TERMS
    value = cached_value(cache, state.key)
    if value == NOT_CACHED and state.ply > 0 and past_move(state, np.int64(state.ply) - 1) == 0:
        # A null move does not change the value, because the cache holds values from White's point of view.
        value = cached_value(cache, state.undo_key[np.uint64(state.ply) - ONE])
    if value == NOT_CACHED:
        terms = blend(sum_of_terms(state, None), now, PHASE_BITS)
        value = score + min(max(terms, -MAX_OF_TERMS), MAX_OF_TERMS)
        if is_rare:
            value = with_endgame_knowledge(state, value)
        keep_value(cache, state.key, value)
    return sign * value


@jit
def material(state):
    """Material of the side to move in centipawns, without the king; values as in ``MATERIAL``."""
    base = np.uint64(state.side) << np.uint64(3)
    total = np.int64(0)
    for kind in range(KING):
        total += _VALUES[kind] * popcount(state.pieces[base + np.uint64(kind)])
    return total


@jit
def capture_gain(state, move):
    """Upper bound, in centipawns, of the immediate gain of a capture or promotion.

    A captured piece counts with the higher of its two piece-square values, for opening and endgame.
    """
    target = np.uint64(move >> 7) & np.uint64(63)
    pair = state.values[captured_piece(state, move), target]
    gain = max(abs(at_start(pair)), abs(at_end(pair)))
    if is_promotion(move):
        gain += EXCHANGE_VALUES[np.uint64(move >> 14) & np.uint64(7)] - EXCHANGE_VALUES[PAWN]
    return gain
