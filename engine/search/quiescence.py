"""Quiescence search: captures, and near the horizon all evasions of checks, until the position is quiet."""

from __future__ import annotations

import numpy as np

from elolab.engine.compiled.kernel import jit, prefetch
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
from elolab.engine.games.evaluation_cache import prefetch_value
from elolab.engine.games.hash_keys import HASH_FACTOR
from elolab.engine.search.clock import spend_node
from elolab.engine.search.ordering import bring_best, move_row, score_moves
from elolab.engine.search.records import (
    CONTINUATION_MOVES,
    CORRECTION_BITS,
    CORRECTION_UNIT,
    CORRECTIONS,
)
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
_TABLE_SIZE = 2 * int(CORRECTIONS)  # entries (int16) of one correction table
MAX_CORRECTION = 100
"""Maximum absolute correction in each correction history, in centipawns; larger errors are clamped to this value."""
_STEPS, _MAX_STEP = 256, 16
"""Learning rate of corrections. A search to depth d uses (d + 1) / ``_STEPS``, at most ``_MAX_STEP`` / ``_STEPS``.

The stored correction moves by this fraction of its distance from the error found.
"""


@jit
def static_value(state, cache, parameters, alpha, beta):
    """Static evaluation plus tempo bonus, in centipawns for the side to move. Outside (alpha, beta) it is only a bound.

    ``cache`` is the address of the evaluation cache.
    """
    tempo = parameters.tempo
    return evaluate(state, cache, np.int64(alpha - tempo), np.int64(beta - tempo)) + tempo


@jit
def _last_moves_key(state):
    """Hash of the last two moves, by type of piece and target square."""
    pair = (move_row(state, np.int64(1)) + 1) * (CONTINUATION_MOVES + 1) + move_row(state, np.int64(2)) + 1
    return (np.uint64(pair) * HASH_FACTOR) >> (np.uint64(64) - CORRECTION_BITS)


@jit
def _locate(state, search, ply, table, key):
    """Prefetch the entry for ``key`` in correction history number ``table``, and store its index for ``ply``."""
    place = (np.uint64(state.side) << CORRECTION_BITS) | (key & (CORRECTIONS - _ONE))
    search.correction_places[np.uint64(ply), np.uint64(table)] = place
    prefetch(search.corrections.ctypes.data + 2 * (table * _TABLE_SIZE + np.int64(place)))


@jit
def locate_corrections(state, search, parameters, ply):
    """Prefetch the position's entries in all correction histories, and store the entries' indices for ``ply``."""
    if parameters.correction_history == 0:
        return
    _locate(state, search, ply, 0, structure_key(state))
    if parameters.correction_pieces != 0:
        _locate(state, search, ply, 1, pieces_key(state, np.int64(0)))
        _locate(state, search, ply, 2, pieces_key(state, np.int64(1)))
    if parameters.correction_moves != 0:
        _locate(state, search, ply, 3, _last_moves_key(state))


@jit
def _correction_in(search, ply, table):
    """The position's entry in correction history number ``table``, in units of 1 / ``CORRECTION_UNIT`` centipawns."""
    number = np.uint64(table)
    return np.int64(search.corrections[number, np.uint64(search.correction_places[np.uint64(ply), number])])


@jit
def corrected_value(state, search, parameters, alpha, beta, ply):
    """``static_value`` plus the position's corrections, learned from earlier searches.

    A correction applies to all positions that share an entry of a correction history, such as positions with equal
    pawns.

    The caller has called ``locate_corrections`` for this ply.
    """
    correction = np.int64(0)
    if parameters.correction_history != 0:
        correction = _correction_in(search, ply, 0) * parameters.correction_history
        percent = parameters.correction_pieces
        if percent != 0:
            correction += (_correction_in(search, ply, 1) + _correction_in(search, ply, 2)) * percent
        if parameters.correction_moves != 0:
            correction += _correction_in(search, ply, 3) * parameters.correction_moves
        correction //= 100 * CORRECTION_UNIT
    low, high = np.int64(alpha - correction), np.int64(beta - correction)
    return static_value(state, search.evaluation_cache, parameters, low, high) + correction


@jit
def _learn_in(search, ply, table, wanted, step):
    place = search.correction_places[ply, table]
    value = np.int64(search.corrections[table, place])
    search.corrections[table, place] = value + (wanted - value) * step // _STEPS


@jit
def learn_correction(search, parameters, error, depth, ply):
    """Move the corrections located for a ply towards ``error``, by a step that grows with ``depth``.

    The error is a search's score minus the corrected static evaluation, in centipawns.
    """
    wanted = min(max(error, -MAX_CORRECTION), MAX_CORRECTION) * CORRECTION_UNIT
    step = min(depth + 1, _MAX_STEP)
    search.corrections_filled = 1
    _learn_in(search, ply, 0, wanted, step)
    if parameters.correction_pieces != 0:
        _learn_in(search, ply, 1, wanted, step)
        _learn_in(search, ply, 2, wanted, step)
    if parameters.correction_moves != 0:
        _learn_in(search, ply, 3, wanted, step)


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
    """Whether a table entry makes a search of a quiescence node unnecessary; false unless the window is null."""
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

    ``below`` is the number of plies below the horizon. The caller has called ``locate_corrections`` for this ply.
    """
    check_node(state, search, alpha, beta, np.int64(0), ply)
    search.variation_end[ply] = ply
    if ply > search.deepest_ply:
        search.deepest_ply = ply
    if ply >= MAX_PLY - 1:
        return corrected_value(state, search, parameters, alpha, beta, ply)
    evade = below < parameters.quiescence_check_plies and in_check(state)
    best = np.int64(-INFINITY)
    floor = np.int64(0)
    tried = np.int64(0)
    if evade:
        count = generate(state, lists, ply)
        if count == 0:
            return terminal_value(state, ply)
    else:
        best = corrected_value(state, search, parameters, alpha, beta, ply)
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
        prefetch_value(search.evaluation_cache, state.key)
        locate_corrections(state, search, parameters, ply + 1)
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
    """Value of a position at the horizon, in centipawns for the side to move.

    It comes from the transposition table, or from quiescence, and is then stored as an entry of depth 0. A deeper entry
    is not overwritten. Positions below the horizon are not probed, because their buckets have not been prefetched. The
    function is separate from ``quiescence`` to keep the stack frame of that recursion small.
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
