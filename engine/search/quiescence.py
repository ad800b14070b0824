"""Quiescence search: captures, and near the horizon all evasions of checks, until the position is quiet."""

from __future__ import annotations

import numpy as np

from elolab.engine.compiled.kernel import jit
from elolab.engine.games.assertions import check_node
from elolab.engine.games.contract import (
    capture_gain,
    capture_order,
    evaluate,
    final_score,
    generate,
    generate_noisy,
    in_check,
    loses_material,
    make,
    pieces_key,
    structure_key,
    unmake,
)
from elolab.engine.games.hash_keys import HASH_FACTOR
from elolab.engine.search.clock import spend_node
from elolab.engine.search.ordering import bring_best, move_row, score_moves
from elolab.engine.search.records import CONTINUATION_MOVES, CORRECTION_BITS, CORRECTION_UNIT, CORRECTIONS
from elolab.engine.search.table import (
    EXACT,
    LOWER_BOUND,
    UPPER_BOUND,
    entry_bound,
    entry_depth,
    entry_score,
    probe,
    store,
)
from elolab.engine.values import INFINITY, MATE_BOUND, MAX_PLY

_ONE = np.uint64(1)
MAX_CORRECTION = 100
"""Maximum absolute correction in each correction history, in centipawns; larger errors are clamped to it."""
_STEPS, _MAX_STEP = 256, 16
"""Learning rate of corrections, as a fraction of the difference between the stored correction and the error found.

A search to depth d uses (d + 1) / 256, at most 16 / 256.
"""


@jit
def static_value(state, cache, parameters, alpha, beta):
    """Static evaluation plus tempo bonus, in centipawns for the side to move. Outside (alpha, beta) it is only a bound.

    ``cache`` is the address of the evaluation cache.
    """
    tempo = parameters.tempo
    return evaluate(state, cache, np.int64(alpha - tempo), np.int64(beta - tempo)) + tempo


@jit
def _correction_index(state, key):
    return (np.uint64(state.side) << CORRECTION_BITS) | (key & (CORRECTIONS - _ONE))


@jit
def _last_moves_key(state):
    """Hash of the last two moves, by type of piece and target square."""
    pair = (move_row(state, np.int64(1)) + 1) * (CONTINUATION_MOVES + 1) + move_row(state, np.int64(2)) + 1
    return (np.uint64(pair) * HASH_FACTOR) >> (np.uint64(64) - CORRECTION_BITS)


@jit
def _correction_in(state, search, table, key, percent):
    """Correction that a table has learned for a key, in units of ``CORRECTION_UNIT`` and hundredths."""
    return np.int64(search.corrections[table, _correction_index(state, key)]) * percent


@jit
def corrected_value(state, search, parameters, alpha, beta):
    """``static_value`` plus the corrections learned from earlier searches of positions with the same keys."""
    correction = np.int64(0)
    if parameters.correction_history != 0:
        correction = _correction_in(state, search, 0, structure_key(state), parameters.correction_history)
        percent = parameters.correction_pieces
        if percent != 0:
            correction += _correction_in(state, search, 1, pieces_key(state, np.int64(0)), percent)
            correction += _correction_in(state, search, 2, pieces_key(state, np.int64(1)), percent)
        if parameters.correction_moves != 0:
            correction += _correction_in(state, search, 3, _last_moves_key(state), parameters.correction_moves)
        correction //= 100 * CORRECTION_UNIT
    low, high = np.int64(alpha - correction), np.int64(beta - correction)
    return static_value(state, search.evaluation_cache, parameters, low, high) + correction


@jit
def _learn_in(state, search, table, key, wanted, step):
    index = _correction_index(state, key)
    value = np.int64(search.corrections[table, index])
    search.corrections[table, index] = value + (wanted - value) * step // _STEPS


@jit
def learn_correction(state, search, parameters, error, depth):
    """Move the corrections for the position's keys towards ``error``, by a step that grows with ``depth``.

    The error is a search's score minus the corrected static evaluation, in centipawns.
    """
    wanted = min(max(error, -MAX_CORRECTION), MAX_CORRECTION) * CORRECTION_UNIT
    step = min(depth + 1, _MAX_STEP)
    search.corrections_filled = 1
    _learn_in(state, search, 0, structure_key(state), wanted, step)
    if parameters.correction_pieces != 0:
        _learn_in(state, search, 1, pieces_key(state, np.int64(0)), wanted, step)
        _learn_in(state, search, 2, pieces_key(state, np.int64(1)), wanted, step)
    if parameters.correction_moves != 0:
        _learn_in(state, search, 3, _last_moves_key(state), wanted, step)


@jit
def terminal_value(state, ply):
    """Score of a position without legal moves, for the side to move; mates are counted from the root."""
    score = final_score(state)
    if score <= -MATE_BOUND:
        return score + ply
    if score >= MATE_BOUND:
        return score - ply
    return score


@jit
def _decides(parameters, entry, alpha, beta, ply):
    """Whether the table entry decides a quiescence node without a search; never with an open window."""
    if entry == 0 or beta - alpha > 1 or (parameters.hash_exact_depth_only != 0 and entry_depth(entry) > 0):
        return False
    bound = entry_bound(entry)
    if bound == EXACT:
        return True
    score = entry_score(entry, ply)
    return score >= beta if bound == LOWER_BOUND else score <= alpha


@jit
def quiescence(state, search, lists, parameters, alpha, beta, ply, below):
    """Quiescence value of a position, in centipawns for the side to move.

    ``below`` is the number of plies below the horizon.
    """
    check_node(state, search, alpha, beta, np.int64(0), ply)
    search.variation_end[ply] = ply
    if ply > search.deepest_ply:
        search.deepest_ply = ply
    if ply >= MAX_PLY - 1:
        return corrected_value(state, search, parameters, alpha, beta)
    evade = below < parameters.quiescence_check_plies and in_check(state)
    best = np.int64(-INFINITY)
    floor = np.int64(0)
    tried = np.int64(0)
    if evade:
        count = generate(state, lists, ply)
        if count == 0:
            return terminal_value(state, ply)
    else:
        best = corrected_value(state, search, parameters, alpha, beta)
        if best >= beta:
            return best
        alpha = max(alpha, best)
        floor = best + parameters.delta_margin
        count = generate_noisy(state, lists, ply)
    if evade:
        score_moves(state, search, lists, parameters, ply, count, np.int64(0))
    else:
        for index in range(count):
            move = np.int64(lists.moves[ply, index])
            lists.order[ply, index] = capture_order(state, move)
    for index in range(count):
        bring_best(lists, ply, index, count)
        move = np.int64(lists.moves[ply, index])
        if not evade:
            if parameters.quiescence_moves != 0 and tried >= parameters.quiescence_moves:
                break
            if parameters.delta_margin != 0 and floor + capture_gain(state, move) <= alpha:
                continue
            if parameters.quiescence_see != 0 and loses_material(state, move):
                continue
        if not spend_node(search, parameters):
            return np.int64(0)
        tried += 1
        make(state, move)
        value = -quiescence(state, search, lists, parameters, -beta, -alpha, ply + 1, below + 1)
        unmake(state)
        if search.stopped != 0:
            return np.int64(0)
        if value > best:
            best = value
            if value > alpha:
                alpha = value
                if value >= beta:
                    break
    return best


@jit
def quiescence_by_table(state, search, lists, parameters, alpha, beta, ply):
    """Value of a position at the horizon: from the transposition table, or from quiescence, stored as an entry of depth
    0.

    A deeper entry is not overwritten. Positions below the horizon are not probed, because their buckets have not been
    prefetched. The function is separate from ``quiescence`` to keep the stack frame of that recursion small.
    """
    entry = probe(search, state.key)
    if _decides(parameters, entry, alpha, beta, ply):
        search.variation_end[ply] = ply
        search.table_cutoffs += 1
        return entry_score(entry, ply)
    value = quiescence(state, search, lists, parameters, alpha, beta, ply, np.int64(0))
    if search.stopped == 0 and (entry == 0 or entry_depth(entry) == 0):
        bound = LOWER_BOUND if value >= beta else UPPER_BOUND if value <= alpha else EXACT
        store(search, state.key, np.int64(0), value, np.int64(0), bound, ply, np.int64(0))
    return value
