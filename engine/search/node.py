"""The main search: alpha-beta and principal variation search over any game, in numbered steps."""

from __future__ import annotations

import math

import numpy as np

from engine.games.contract import (
    PATH_DRAW,
    PATH_LOSS,
    PATH_OPEN,
    generate,
    in_check,
    is_quiet,
    key_after,
    make,
    make_null,
    path_verdict,
    unmake,
    unmake_null,
)
from engine.kernel import jit
from engine.parameters import choice_code
from engine.search.clock import spend_node
from engine.search.null_move import may_try_null_move, must_verify
from engine.search.ordering import pick_move, reward_cutoff, reward_history, score_moves
from engine.search.quiescence import quiescence, static_value, terminal_value
from engine.search.table import (
    EXACT,
    LOWER_BOUND,
    UPPER_BOUND,
    entry_bound,
    entry_depth,
    entry_move,
    entry_score,
    prefetch_bucket,
    probe,
    store,
)
from engine.values import BAN, INFINITY, MATE_BOUND, MAX_MOVES, MAX_PLY

ALPHABETA = choice_code("algorithm", "alphabeta")
RECORD_CUTOFF_AND_PV = choice_code("history_record", "cutoff_and_pv")

LOGARITHM = np.array([0] + [round(100 * math.log(number)) for number in range(1, 256)], np.int64)
"""100 times the natural logarithm, rounded once, so that reductions are the same on every processor."""


@jit
def bounded(parameters, value, alpha, beta):
    """The value itself, or (without ``fail_soft``) the bound it passed."""
    if parameters.fail_soft != 0:
        return value
    return min(max(value, alpha), beta)


@jit
def remember_variation(search, ply, move):
    """The principal variation of this ply: the move, then the next ply's."""
    search.variation[ply, ply] = move
    end = search.variation_end[ply + 1]
    for index in range(ply + 1, end):
        search.variation[ply, index] = search.variation[ply + 1, index]
    search.variation_end[ply] = max(end, ply + 1)


@jit
def reduction(parameters, depth, number):
    """Plies by which the ``number``-th move (from 0) is searched less deeply."""
    amount = LOGARITHM[min(depth, 255)] * LOGARITHM[min(number, MAX_MOVES - 1)] // parameters.lmr_divisor
    return min(max((parameters.lmr_base + amount) // 100, 0), depth - 2)


@jit
def table_cutoff(parameters, entry, alpha, beta, depth, ply):
    """Whether an entry decides the node."""
    if parameters.hash_exact_depth_only != 0:
        if entry_depth(entry) != depth:
            return False
    elif entry_depth(entry) < depth:
        return False
    bound = entry_bound(entry)
    score = entry_score(entry, ply)
    if bound == EXACT:
        return True
    return (bound == LOWER_BOUND and score >= beta) or (bound == UPPER_BOUND and score <= alpha)


@jit
def search_node(state, search, lists, parameters, alpha, beta, depth, ply, null_before):
    """Value of the position for the side to move, within or beyond (alpha, beta).

    ``null_before`` is 1 directly after a null move, and in a verification search. When ``search.stopped`` is set the
    value means nothing.
    """
    # Step 1. A side in check must not be judged at the horizon.
    checked = in_check(state)
    if checked and parameters.check_extension != 0 and depth < MAX_PLY:
        depth += 1

    # Step 2. What the path decides: repetition, move limit, bare material.
    search.variation_end[ply] = ply
    if parameters.rules_in_search != 0:
        verdict = path_verdict(state, search.root)
        if verdict != PATH_OPEN:
            value = np.int64(0)
            if verdict != PATH_DRAW:
                value = ply - BAN if verdict == PATH_LOSS else BAN - ply
            return bounded(parameters, value, alpha, beta)

    # Step 3. The horizon.
    if depth <= 0:
        if parameters.quiescence != 0:
            value = quiescence(state, search, lists, parameters, alpha, beta, ply, np.int64(0))
        else:
            value = static_value(state, parameters)
        return bounded(parameters, value, alpha, beta)
    if ply > search.deepest_ply:
        search.deepest_ply = ply
    if ply >= MAX_PLY - 1:
        return bounded(parameters, static_value(state, parameters), alpha, beta)

    # Step 4. The transposition table. Nodes of the principal variation are always searched, except under plain
    # alpha-beta, whose nodes nearly all have an open window.
    open_window = beta - alpha > 1
    entry = probe(search, state.key)
    hash_move = entry_move(entry)
    if entry != 0 and (not open_window or parameters.algorithm == ALPHABETA):
        if table_cutoff(parameters, entry, alpha, beta, depth, ply):
            return bounded(parameters, entry_score(entry, ply), alpha, beta)

    # Step 5. Null move: if even skipping the turn keeps the score above beta, a real move will.
    if parameters.null_move != 0 and not checked:
        static = static_value(state, parameters)
        if may_try_null_move(state, parameters, beta, depth, static, checked, open_window, null_before):
            search.null_tries += 1
            null_depth = max(depth - parameters.null_depth, 0)
            make_null(state)
            value = -search_node(
                state, search, lists, parameters, -beta, -beta + 1, np.int64(null_depth), ply + 1, np.int64(1)
            )
            unmake_null(state)
            if search.stopped != 0:
                return np.int64(0)
            if value >= beta:
                confirmed = True
                if must_verify(state, parameters, depth):
                    check_depth = np.int64(depth - parameters.null_depth + 1)
                    again = search_node(
                        state, search, lists, parameters, beta - 1, beta, check_depth, ply, np.int64(1)
                    )
                    if search.stopped != 0:
                        return np.int64(0)
                    confirmed = again >= beta
                    if not confirmed:
                        search.null_refuted += 1
                if confirmed:
                    search.null_cutoffs += 1
                    search.variation_end[ply] = ply
                    # A mate found by skipping a turn is unproven.
                    return bounded(parameters, beta if value >= MATE_BOUND else value, alpha, beta)

    # Step 6. Moves, in the order of promise; the table's move is tried before the others are even generated.
    count = np.int64(1)
    generated = hash_move == 0 or parameters.hash_move == 0
    if generated:
        count = generate(state, lists, ply)
        if count == 0:
            return bounded(parameters, terminal_value(state, ply), alpha, beta)
        score_moves(state, search, lists, parameters, ply, count, hash_move)

    # Step 7. The move loop.
    best = np.int64(-INFINITY)
    best_move = np.int64(0)
    raised = alpha
    index = np.int64(-1)
    while index + 1 < count:
        index += 1
        if generated:
            move = pick_move(state, parameters, lists, ply, index, count)
        else:
            move = hash_move
        quiet = is_quiet(state, move)
        if not spend_node(search, parameters):
            return np.int64(0)
        prefetch_bucket(search, key_after(state, move))
        make(state, move)

        # Step 8. Late quiet moves are first tried at reduced depth.
        reduced = np.int64(0)
        if (
            parameters.late_move_reductions != 0
            and index >= parameters.lmr_min_moves
            and depth >= parameters.lmr_min_depth
            and quiet
            and not checked
            and not in_check(state)
        ):
            reduced = reduction(parameters, depth, np.int64(index))

        # Step 9. Search the child: plain alpha-beta with the whole window, otherwise null windows after the first.
        child = np.int64(depth - 1)
        if index == 0 or parameters.algorithm == ALPHABETA:
            value = -search_node(
                state, search, lists, parameters, -beta, -raised, child - reduced, ply + 1, np.int64(0)
            )
            if reduced > 0 and value > raised and search.stopped == 0:
                value = -search_node(state, search, lists, parameters, -beta, -raised, child, ply + 1, np.int64(0))
        else:
            value = -search_node(
                state, search, lists, parameters, -raised - 1, -raised, child - reduced, ply + 1, np.int64(0)
            )
            if reduced > 0 and value > raised and search.stopped == 0:
                value = -search_node(
                    state, search, lists, parameters, -raised - 1, -raised, child, ply + 1, np.int64(0)
                )
            if value > raised and value < beta and search.stopped == 0:
                search.researches += 1
                value = -search_node(state, search, lists, parameters, -beta, -raised, child, ply + 1, np.int64(0))
        unmake(state)
        if search.stopped != 0:
            return np.int64(0)

        # Step 10. Keep the best; stop at a refutation.
        if value > best:
            best = value
            if value > raised:
                raised = value
                best_move = move
                remember_variation(search, ply, move)
                if value >= beta:
                    search.cutoffs += 1
                    if index == 0:
                        search.first_move_cutoffs += 1
                    reward_cutoff(state, search, parameters, move, depth, ply)
                    break
        if not generated:
            generated = True
            count = generate(state, lists, ply)
            score_moves(state, search, lists, parameters, ply, count, hash_move)
            # The table's move comes first again, and is done.
            pick_move(state, parameters, lists, ply, np.int64(0), count)

    # Step 11. Record the result.
    best = bounded(parameters, best, alpha, beta)
    bound = EXACT
    if best >= beta:
        bound = LOWER_BOUND
    elif best_move == 0:
        bound = UPPER_BOUND
    elif parameters.history_record == RECORD_CUTOFF_AND_PV:
        reward_history(state, search, parameters, best_move, depth)
    store(search, state.key, best_move, best, depth, bound, ply)
    return best
