"""The main search: alpha-beta and principal variation search over any game, in numbered steps."""

from __future__ import annotations

import math

import numpy as np

from elolab.engine.compiled.kernel import address_of, call_at, jit
from elolab.engine.games.assertions import check_move_count, check_node
from elolab.engine.games.contract import (
    PATH_DRAW,
    PATH_LOSS,
    PATH_OPEN,
    generate,
    gives_check,
    in_check,
    is_pass,
    is_quiet,
    key_after,
    key_is_quick,
    loses_material,
    make,
    make_null,
    path_verdict,
    solvable,
    solve,
    unmake,
    unmake_null,
)
from elolab.engine.games.evaluation_cache import prefetch_value
from elolab.engine.search.clock import spend_node
from elolab.engine.search.null_move import (
    AFTER_NULL,
    EXCLUSION,
    NORMAL,
    VERIFICATION,
    is_mate_threat,
    may_try_null_move,
    must_verify,
    null_evaluation_reduction,
    null_move_banned,
    null_reduction,
)
from elolab.engine.search.ordering import (
    WORST_HISTORY,
    bounded_history,
    leave_out_quiet,
    pick_move,
    reward_cutoff,
    reward_history,
    score_moves,
)
from elolab.engine.search.quiescence import (
    corrected_value,
    learn_correction,
    locate_corrections,
    quiescence,
    quiescence_by_table,
    terminal_value,
)
from elolab.engine.search.records import REDUCTION_DEPTHS, REDUCTION_MOVES
from elolab.engine.search.statistics import (
    NULL_REFUTED,
    NULL_TRY,
    NULL_VERIFIED,
    note_null,
    note_null_cutoff,
    note_null_score,
)
from elolab.engine.search.table import (
    EXACT,
    LOWER_BOUND,
    UPPER_BOUND,
    entry_bound,
    entry_depth,
    entry_move,
    entry_score,
    entry_threat,
    is_null_cutoff,
    prefetch_bucket,
    probe,
    store,
)
from elolab.engine.settings.parameters import choice_code
from elolab.engine.values import BAN, INFINITY, MATE_BOUND, MAX_MOVES, MAX_PLY

ALPHABETA = choice_code("algorithm", "alphabeta")
MTDF = choice_code("algorithm", "mtdf")
RETURN_BETA = choice_code("null_return", "beta")
STORE_VERIFIED = choice_code("null_store", "verified")
STORE_ALL = choice_code("null_store", "all")
STORE_NODE_DEPTH = choice_code("null_store_depth", "node")
RECORD_CUTOFF_AND_PV = choice_code("history_record", "cutoff_and_pv")

LOGARITHM = np.array([0] + [round(100 * math.log(number)) for number in range(1, 256)], np.int64)
"""Table of 100 times the natural logarithm of each index; entry 0 is 0.

The values are rounded to integers, so that reductions are the same on every processor.
"""


@jit
def bounded(parameters, value, alpha, beta):
    """``value``, clamped to [alpha, beta] unless ``fail_soft`` is on or ``value`` is a mate score."""
    if parameters.fail_soft != 0 or value >= MATE_BOUND or value <= -MATE_BOUND:
        return value
    return min(max(value, alpha), beta)


@jit
def remember_variation(search, ply, move):
    """Set the principal variation of this ply: the move, followed by the variation of the next ply."""
    search.variation[ply, ply] = move
    end = search.variation_end[ply + 1]
    for index in range(ply + 1, end):
        search.variation[ply, index] = search.variation[ply + 1, index]
    search.variation_end[ply] = max(end, ply + 1)


@jit
def prepare_reductions(search, parameters):
    """Fill the table of late move reductions that ``reduction`` reads. Reading the table instead of computing a
    reduction saves two divisions per move.
    """
    for depth in range(REDUCTION_DEPTHS):
        for number in range(REDUCTION_MOVES):
            amount = LOGARITHM[depth] * LOGARITHM[number] // parameters.lmr_divisor
            search.reductions[depth, number] = min(max((parameters.lmr_base + amount) // 100, 0), depth - 2)


@jit
def reduction(search, parameters, depth, number, order):
    """Late move reduction, in plies, of move number ``number`` (from 0). ``order`` is the move's ordering score."""
    plies = np.int64(search.reductions[min(depth, REDUCTION_DEPTHS - 1), min(number, REDUCTION_MOVES - 1)])
    if parameters.lmr_history == 0:
        return plies
    return min(max(plies - (parameters.lmr_history * bounded_history(order) + 5000) // 10000, 0), depth - 2)


@jit
def note_static_value(search, ply, static, checked):
    """Record a node's static evaluation for ``is_improving``.

    For a node in check (``checked``), records the evaluation of the node two plies before instead.
    """
    search.static_values[ply + 2] = search.static_values[ply] if checked else static


@jit
def is_improving(search, ply):
    """Whether the node's static evaluation is better than two plies before, when the same side was to move."""
    return search.static_values[ply + 2] > search.static_values[ply]


@jit
def table_static(parameters, entry, static, ply):
    """The static evaluation, or the score of the table entry if the entry's bound shows that this score is better."""
    if parameters.hash_static == 0 or entry == 0:
        return static
    score = entry_score(entry, ply)
    bound = entry_bound(entry)
    if score >= MATE_BOUND or score <= -MATE_BOUND:
        return static
    if bound == EXACT or (bound == LOWER_BOUND and score > static) or (bound == UPPER_BOUND and score < static):
        return score
    return static


@jit
def mate_cutoff(parameters, entry, alpha, beta, ply):
    """Whether the table entry proves a mate score that causes a cutoff at the node, regardless of the entry's depth."""
    if parameters.hash_mate_any_depth == 0:
        return False
    score = entry_score(entry, ply)
    bound = entry_bound(entry)
    if score >= MATE_BOUND and score >= beta:
        return bound != UPPER_BOUND
    return score <= -MATE_BOUND and score <= alpha and bound != LOWER_BOUND


@jit
def table_cutoff(parameters, entry, alpha, beta, depth, ply):
    """Whether the table entry makes a search of the node unnecessary: by a proven mate, or by its depth and bound."""
    if mate_cutoff(parameters, entry, alpha, beta, ply):
        return True
    score = entry_score(entry, ply)
    bound = entry_bound(entry)
    if parameters.hash_exact_depth_only != 0:
        if entry_depth(entry) != depth:
            return False
    elif entry_depth(entry) < depth:
        return False
    if bound == EXACT:
        return True
    return (bound == LOWER_BOUND and score >= beta) or (bound == UPPER_BOUND and score <= alpha)


@jit
def next_depth(state, parameters, move, depth):
    """Depth of the child after ``move``: ``depth`` - 1, or ``depth`` for a forced pass without ``pass_costs_depth``."""
    if parameters.pass_costs_depth == 0 and is_pass(state, move):
        return depth
    return depth - 1


@jit
def probcut_check_depth(parameters, depth, check):
    """Depth of ProbCut search number ``check`` (from 0): at most half of ``depth``, with the same parity."""
    shallow = depth * (check + 1) // (2 * parameters.probcut_checks)
    return max(shallow - ((depth - shallow) & 1), 0)


@jit
def enhanced_cutoff(state, search, lists, parameters, beta, depth, ply, count):
    """A score of at least ``beta`` that a child's table entry proves (enhanced transposition cutoff).

    Looks at the positions after the first ``count`` moves; returns ``-INFINITY`` if no entry proves such a score.
    """
    for index in range(count):
        move = np.int64(lists.moves[ply, index])
        new_depth = next_depth(state, parameters, move, depth)
        make(state, move)
        entry = probe(search, state.key)
        unmake(state)
        if entry != 0 and entry_bound(entry) != LOWER_BOUND:
            value = -entry_score(entry, ply + 1)
            if value >= beta and table_cutoff(parameters, entry, -beta, -beta + 1, new_depth, ply + 1):
                return value
    return np.int64(-INFINITY)


@jit
def _prefetch(search, key):
    """Load a position's transposition table bucket and cached evaluation into the processor's cache in advance."""
    prefetch_bucket(search, key)
    prefetch_value(search.evaluation_cache, key)


@jit
def path_value(state, lists, verdict, ply):
    """Score, in centipawns for the side to move, of a position that repetition or another rule decides.

    ``verdict`` is ``PATH_DRAW``, ``PATH_WIN`` or ``PATH_LOSS``. Wins and losses are adjusted by the distance from the
    root. A position without legal moves gets its final score even if a rule says draw, as the arbiter decides.
    """
    if verdict == PATH_DRAW:
        if generate(state, lists, ply) == 0:
            return terminal_value(state, ply)
        return np.int64(0)
    return ply - BAN if verdict == PATH_LOSS else BAN - ply


@jit
def horizon(state, search, lists, parameters, alpha, beta, ply):
    """Value of a node at depth 0, in centipawns for the side to move.

    It is the result by repetition or another rule, otherwise the quiescence value or the static evaluation. The
    function is separate from ``search_node`` because most nodes end here, and the stack frame of ``search_node`` is
    large.
    """
    search.variation_end[ply] = ply
    locate_corrections(state, search, parameters, ply)
    if parameters.rules_in_search != 0:
        verdict = path_verdict(state, search.root)
        if verdict != PATH_OPEN:
            return bounded(parameters, path_value(state, lists, verdict, ply), alpha, beta)
    if parameters.quiescence_table != 0 and parameters.quiescence != 0:
        value = quiescence_by_table(state, search, lists, parameters, alpha, beta, ply)
    elif parameters.quiescence != 0:
        value = quiescence(state, search, lists, parameters, alpha, beta, ply, np.int64(0))
    else:
        value = corrected_value(state, search, parameters, alpha, beta, ply)
    return bounded(parameters, value, alpha, beta)


@jit
def search_node(state, search, lists, parameters, alpha, beta, depth, ply, node_type):
    """Value of the position, in centipawns for the side to move. Outside (alpha, beta) it is a bound.

    ``node_type`` is one of the node types of ``engine.search.null_move``. The value is meaningless if
    ``search.stopped`` is set.
    """
    check_node(state, search, alpha, beta, depth, ply)

    # Step 1. Check extension: do not evaluate a side in check at the horizon.
    checked = in_check(state)
    if checked and parameters.check_extension != 0 and depth < MAX_PLY:
        depth += 1

    # Step 2. The end of the game, where the game can solve it exactly; the horizon.
    if node_type != EXCLUSION and solvable(state, parameters, depth):
        search.variation_end[ply] = ply
        return bounded(parameters, solve(state, search, lists, parameters, alpha, beta, ply), alpha, beta)
    if depth <= 0:
        return horizon(state, search, lists, parameters, alpha, beta, ply)

    # Step 3. The path's verdict: repetition, move limit, bare material.
    locate_corrections(state, search, parameters, ply)
    search.variation_end[ply] = ply
    if parameters.rules_in_search != 0:
        verdict = path_verdict(state, search.root)
        if verdict != PATH_OPEN:
            return bounded(parameters, path_value(state, lists, verdict, ply), alpha, beta)
    if ply > search.deepest_ply:
        search.deepest_ply = ply
    if ply >= MAX_PLY - 1:
        return bounded(parameters, corrected_value(state, search, parameters, alpha, beta, ply), alpha, beta)

    # Step 4. The static evaluation. It comes before the table probe because the prefetched entry is still on its way
    # from memory, and few nodes are decided by the table.
    static = np.int64(0)
    low, high = alpha, beta
    if not checked:
        # The tests below compare with a bound of the window and at most this margin; beyond, a bound is enough.
        reach = depth * max(parameters.reverse_futility_margin, parameters.futility_margin, parameters.razoring_margin)
        low = np.int64(alpha - reach)
        high = np.int64(beta + reach)
        static = corrected_value(state, search, parameters, low, high, ply)

    note_static_value(search, ply, static, checked)
    evaluation = static
    is_evaluated = not checked and low < static < high

    # Step 5. The transposition table. With spare_open_windows, principal variation search takes only proven mates from
    # it at nodes with an open window; in plain alpha-beta nearly all windows are open, so the table always applies.
    # A stored null cutoff does not count where no null move may be tried.
    pv_node = beta - alpha > 1 and parameters.algorithm != ALPHABETA and parameters.spare_open_windows != 0
    null_banned = null_move_banned(search, parameters, node_type)
    entry = probe(search, state.key)
    hash_move = entry_move(entry)
    threat = entry_threat(entry)
    if entry != 0 and node_type != EXCLUSION and not (null_banned and is_null_cutoff(entry)):
        if pv_node:
            decided = mate_cutoff(parameters, entry, alpha, beta, ply)
        else:
            decided = table_cutoff(parameters, entry, alpha, beta, depth, ply)
        if decided:
            search.table_cutoffs += 1
            return bounded(parameters, entry_score(entry, ply), alpha, beta)

    static = table_static(parameters, entry, static, ply)

    # Step 6. Reverse futility pruning and razoring: near the horizon, with a static evaluation far outside the window.
    if not checked and not pv_node and alpha > -MATE_BOUND and beta < MATE_BOUND:
        margin = parameters.reverse_futility_margin * depth
        if parameters.reverse_futility_improving != 0 and is_improving(search, ply):
            margin = max(margin - parameters.reverse_futility_improving, 0)
        if depth <= parameters.reverse_futility_depth and static - margin >= beta:
            return bounded(parameters, static, alpha, beta)
        if depth <= parameters.razoring_depth and static + parameters.razoring_margin * depth <= alpha:
            value = quiescence(state, search, lists, parameters, alpha, beta, ply, np.int64(0))
            if search.stopped != 0:
                return np.int64(0)
            if value <= alpha:
                return bounded(parameters, value, alpha, beta)

    # Step 7. Null move: if even skipping the turn keeps the score above beta, a real move will.
    if not null_banned and (not checked or parameters.null_not_in_check == 0):
        if may_try_null_move(state, parameters, entry, beta, depth, ply, static, pv_node):
            search.null_tries += 1
            note_null(state, search, NULL_TRY, depth)
            reduced_by = null_reduction(parameters, depth) + null_evaluation_reduction(parameters, static, beta)
            null_depth = np.int64(max(depth - reduced_by, 0))
            if checked:
                # Passing in check loses the general: count a node and fail low.
                if not spend_node(search, parameters):
                    return np.int64(0)
                value = np.int64(-INFINITY)
            else:
                make_null(state)
                _prefetch(search, state.key)
                value = -search_node(
                    state, search, lists, parameters, -beta, -beta + 1, null_depth, ply + 1, np.int64(AFTER_NULL)
                )
                unmake_null(state)
            if search.stopped != 0:
                return np.int64(0)
            note_null_score(search, parameters, value, ply)
            if is_mate_threat(parameters, value, ply):
                search.mate_threats += 1
                threat = np.int64(1)
            if value >= beta:
                verified = must_verify(state, parameters, depth)
                confirmed = True
                if verified:
                    search.null_verified += 1
                    note_null(state, search, NULL_VERIFIED, depth)
                    search.verifying += 1
                    again = search_node(
                        state, search, lists, parameters, beta - 1, beta,
                        np.int64(max(depth - reduced_by + 1, 0)), ply, np.int64(VERIFICATION)
                    )  # fmt: skip
                    search.verifying -= 1
                    if search.stopped != 0:
                        return np.int64(0)
                    confirmed = again >= beta
                if confirmed:
                    search.null_cutoffs += 1
                    note_null_cutoff(state, search, depth, beta, ply)
                    search.variation_end[ply] = ply
                    # A mate found by skipping a turn is unproven.
                    if value >= MATE_BOUND or parameters.null_return == RETURN_BETA:
                        value = beta
                    if parameters.null_store == STORE_ALL or (verified and parameters.null_store == STORE_VERIFIED):
                        stored = np.int64(depth) if parameters.null_store_depth == STORE_NODE_DEPTH else null_depth
                        store(search, state.key, np.int64(0), value, stored, LOWER_BOUND, ply, threat)
                    return bounded(parameters, value, alpha, beta)
                search.null_refuted += 1
                note_null(state, search, NULL_REFUTED, depth)
    if threat != 0 and parameters.mate_threat_extension != 0:
        depth += 1

    # Step 8. ProbCut: a shallower search far outside the window predicts the deeper one.
    try_probcut = parameters.probcut_depth != 0 and depth >= parameters.probcut_depth
    if try_probcut and not pv_node and not checked and node_type != EXCLUSION:
        high = static >= beta
        bound = beta + parameters.probcut_margin if high else alpha - parameters.probcut_margin
        if alpha > -MATE_BOUND and beta < MATE_BOUND:
            for check in range(parameters.probcut_checks):
                value = search_node(
                    state, search, lists, parameters, bound - 1 if high else bound, bound if high else bound + 1,
                    np.int64(probcut_check_depth(parameters, depth, check)), ply, np.int64(AFTER_NULL)
                )  # fmt: skip
                search.variation_end[ply] = ply
                if search.stopped != 0:
                    return np.int64(0)
                if (high and value >= bound) or (not high and value <= bound):
                    search.probcuts += 1
                    if parameters.algorithm == MTDF and -MATE_BOUND < value < MATE_BOUND:
                        # MTD(f) guesses next from this value; from the bound it would advance a centipawn a pass.
                        value += -parameters.probcut_margin if high else parameters.probcut_margin
                        return bounded(parameters, value, alpha, beta)
                    return beta if high else alpha
        hash_move = entry_move(probe(search, state.key)) if hash_move == 0 else hash_move

    # Step 9. Without a table move: internal iterative deepening, or internal iterative reduction.
    if hash_move == 0:
        if parameters.internal_iterative_deepening != 0 and beta - alpha > 1 and depth > 2:
            search_node(state, search, lists, parameters, alpha, beta, np.int64(depth // 2), ply, np.int64(AFTER_NULL))
            if search.stopped != 0:
                return np.int64(0)
            search.variation_end[ply] = ply
            hash_move = entry_move(probe(search, state.key))
        elif (
            parameters.internal_iterative_reduction != 0
            and depth >= parameters.internal_iterative_reduction
            # Without table moves at all, every node would be reduced, for nothing.
            and search.table_mask >= 0
            and parameters.hash_move != 0
        ):
            depth -= 1

    # Step 10. Singular extension: search the table move deeper if all other moves are far worse.
    singular = np.int64(0)
    if (
        parameters.singular_depth != 0
        and depth >= parameters.singular_depth
        and hash_move != 0
        and node_type != EXCLUSION
        and entry != 0
        and entry_bound(entry) != UPPER_BOUND
        and entry_depth(entry) >= depth - 3
    ):
        expected = entry_score(entry, ply)
        if -MATE_BOUND < expected < MATE_BOUND:
            search.singular_tries += 1
            search.excluded[ply] = hash_move
            singular_beta = expected - parameters.singular_margin * depth
            value = search_node(
                state, search, lists, parameters, np.int64(singular_beta - 1), np.int64(singular_beta),
                np.int64(depth // 2), ply, np.int64(EXCLUSION)
            )  # fmt: skip
            if search.stopped != 0:
                return np.int64(0)
            search.variation_end[ply] = ply
            if value < singular_beta:
                search.singular_moves += 1
                singular = np.int64(1)

    # Step 11. Generate and order the moves; a table move is searched before the others are generated.
    count = np.int64(1)
    try_enhanced_cutoff = parameters.enhanced_cutoff_depth != 0 and depth >= parameters.enhanced_cutoff_depth
    try_enhanced_cutoff = try_enhanced_cutoff and not pv_node and node_type != EXCLUSION
    generated = (
        hash_move == 0
        or parameters.hash_move == 0
        or parameters.single_reply_extension != 0
        or node_type == EXCLUSION
        or try_enhanced_cutoff
    )
    if generated:
        count = generate(state, lists, ply)
        check_move_count(count)
        if count == 0:
            return bounded(parameters, terminal_value(state, ply), alpha, beta)
        if count == 1 and parameters.single_reply_extension != 0:
            depth += 1
        score_moves(state, search, lists, parameters, ply, count, hash_move)
        if try_enhanced_cutoff:
            value = enhanced_cutoff(state, search, lists, parameters, beta, depth, ply, count)
            if value >= beta:
                search.enhanced_cutoffs += 1
                return bounded(parameters, value, alpha, beta)
    prune_quiets = not pv_node and not checked and alpha > -MATE_BOUND
    futile = prune_quiets and depth <= parameters.futility_depth
    futile = futile and static + parameters.futility_margin * depth <= alpha
    max_moves = np.int64(MAX_MOVES)
    if prune_quiets and depth <= parameters.late_move_pruning_depth:
        max_moves = parameters.late_move_pruning_base + depth * depth
        if parameters.late_move_pruning_not_improving != 100 and not is_improving(search, ply):
            max_moves = max_moves * parameters.late_move_pruning_not_improving // 100

    # Step 12. The move loop.
    best = np.int64(-INFINITY)
    best_move = np.int64(0)
    original_alpha = alpha
    index = np.int64(-1)
    thinned_out = False
    while index + 1 < count:
        index += 1
        if generated:
            move = pick_move(state, parameters, lists, ply, index, count)
            if node_type == EXCLUSION and move == search.excluded[ply]:
                continue
        else:
            move = hash_move
        quiet = is_quiet(state, move)

        # Step 13. Futility and late move pruning: skip quiet moves too late in the order or too far below alpha.
        if (futile or index >= max_moves) and quiet and best > -MATE_BOUND:
            if not thinned_out:
                # The condition holds for all later quiet moves: remove them from the list.
                thinned_out = True
                count = leave_out_quiet(state, lists, ply, index + 1, count, parameters.pruning_spares_checks != 0)
            if parameters.pruning_spares_checks == 0 or not gives_check(state, move):
                continue
        if index > 0 and prune_quiets and depth <= parameters.exchange_pruning_depth and best > -MATE_BOUND:
            # A capture's place in the order already shows whether it loses material.
            losing = loses_material(state, move) if quiet else lists.order[ply, index] < WORST_HISTORY
            if losing and not gives_check(state, move):
                continue
        new_depth = next_depth(state, parameters, move, np.int64(depth))
        # Prefetch the child's entries as soon as its key is known.
        if key_is_quick(state):
            _prefetch(search, key_after(state, move))
        make(state, move)
        if not key_is_quick(state):
            _prefetch(search, state.key)
        if not spend_node(search, parameters):
            unmake(state)
            return np.int64(0)

        # Step 14. Late quiet moves are first tried at reduced depth.
        reduced = np.int64(0)
        if (
            parameters.late_move_reductions != 0
            and index >= parameters.lmr_min_moves
            and depth >= parameters.lmr_min_depth
            and quiet
            and (parameters.lmr_checks != 0 or not (checked or in_check(state)))
        ):
            reduced = reduction(search, parameters, depth, np.int64(index), np.int64(lists.order[ply, index]))

        # Step 15. Search the child: with the whole window in plain alpha-beta and for the first move, else with a null
        # window. Search again at full depth if a reduced search raises alpha, and with the whole window if a
        # null-window value lies inside it.
        if singular != 0 and move == hash_move:
            new_depth += 1
        search_depth = np.int64(new_depth - reduced)
        upper = beta if index == 0 or parameters.algorithm == ALPHABETA else alpha + 1
        while True:
            if search_depth <= 0 and (parameters.check_extension == 0 or not in_check(state)):
                value = -horizon(state, search, lists, parameters, -upper, -alpha, ply + 1)
            else:
                value = -search_node(
                    state, search, lists, parameters, -upper, -alpha, search_depth, ply + 1, np.int64(NORMAL)
                )
            if value <= alpha or search.stopped != 0:
                break
            if search_depth < new_depth:
                search.reduced_researches += 1
                search_depth = new_depth
            elif upper < beta and value < beta:
                search.researches += 1
                upper = beta
            else:
                break
        unmake(state)
        if search.stopped != 0:
            return np.int64(0)

        # Step 16. Keep the best; stop at a refutation.
        if value > best:
            best = value
            if value > alpha:
                alpha = value
                best_move = move
                remember_variation(search, ply, move)
                if value >= beta:
                    search.cutoffs += 1
                    if index == 0:
                        search.first_move_cutoffs += 1
                    reward_cutoff(state, search, lists, parameters, move, depth, ply, index)
                    break
        if not generated:
            generated = True
            count = generate(state, lists, ply)
            check_move_count(count)
            score_moves(state, search, lists, parameters, ply, count, hash_move)
            # The table move comes first again; it has been searched.
            pick_move(state, parameters, lists, ply, np.int64(0), count)

    # Step 17. Record the result.
    if node_type == EXCLUSION:
        # Not the position's value, so not stored. Alpha if the excluded move is the only one: it counts as singular.
        return original_alpha if best == -INFINITY else best
    best = bounded(parameters, best, original_alpha, beta)
    bound = EXACT
    if best >= beta:
        bound = LOWER_BOUND
    elif best_move == 0:
        bound = UPPER_BOUND
    elif parameters.history_record == RECORD_CUTOFF_AND_PV:
        reward_history(state, search, parameters, best_move, depth)
    store(search, state.key, best_move, best, depth, bound, ply, threat)
    if parameters.correction_history != 0 and is_evaluated and (best_move == 0 or is_quiet(state, best_move)):
        # A bound is evidence only on its side of the evaluation.
        if (bound != LOWER_BOUND or best > evaluation) and (bound != UPPER_BOUND or best < evaluation):
            learn_correction(search, parameters, best - evaluation, np.int64(depth), ply)
    return best


def enter_address(state, search, lists, parameters):
    """Memory address of ``search_node``, compiled for the types of these records.

    The caller stores it in ``search.node_address``, from where ``enter_node`` calls it.
    """
    number = 0
    return address_of(search_node, state, search, lists, parameters, number, number, number, number, number)


@jit
def enter_node(state, search, lists, parameters, alpha, beta, depth, ply):
    """Call ``search_node`` through its address, so that callers do not contain a copy of its large code."""
    return call_at(
        search.node_address,
        (
            state, search, lists, parameters, np.int64(alpha), np.int64(beta), np.int64(depth), np.int64(ply),
            np.int64(NORMAL),
        ),
    )  # fmt: skip
