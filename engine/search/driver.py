"""The driver: root search, iterative deepening, aspiration windows, multi-PV, and the decision to stop.

Aspiration [AW]: the window is the last iteration's value plus and minus the half-width; the first iteration has a full
window. A value equal to a bound counts as a failure, and the depth is searched again with another window. The depth
advances only after a success. The value of a stopped search is ignored.

``engine.settings.parameters`` lists the sources, such as [AW].
"""

from __future__ import annotations

import numpy as np

from elolab.engine.compiled.kernel import jit
from elolab.engine.games.assertions import check_node
from elolab.engine.games.contract import (
    generate,
    in_check,
    is_quiet,
    make,
    plies_left,
    repetition_key,
    solvable,
    unmake,
)
from elolab.engine.search.clock import (
    adapt_soft_limit,
    allocate_iteration_time,
    arm_clock,
    elapsed_ns,
    next_iteration_fits,
    spend_node,
    start_clock,
    stop_if_soft_limit_passed,
)
from elolab.engine.search.node import (
    ALPHABETA,
    MTDF,
    RECORD_CUTOFF_AND_PV,
    bounded,
    enter_node,
    next_depth,
    note_static_value,
    reduction,
    remember_variation,
)
from elolab.engine.search.ordering import (
    clear_history,
    pick_move,
    prepare_heuristics,
    reward_cutoff,
    reward_history,
    score_moves,
)
from elolab.engine.search.quiescence import corrected_value, locate_corrections, terminal_value
from elolab.engine.search.records import (
    ENDED_AT_DEPTH,
    ENDED_BY_FORECAST,
    ENDED_BY_MATE,
    ENDED_BY_SINGLE_MOVE,
    ENDED_BY_UNIQUE_MOVE,
    ENDED_WITHOUT_MOVES,
    MAX_LINES,
    NO_LIMIT,
    RUNNING,
)
from elolab.engine.search.reports import report_line
from elolab.engine.search.statistics import (
    note_iteration_end,
    note_iteration_start,
    note_root_result,
    note_search_end,
    note_search_start,
)
from elolab.engine.search.table import EXACT, LOWER_BOUND, SEARCH_NUMBERS, UPPER_BOUND, entry_move, probe, store
from elolab.engine.settings.parameters import choice_code
from elolab.engine.values import BAN_BOUND, INFINITY, MATE_BOUND, MAX_DEPTH

_OFF = choice_code("aspiration", "off")
_FULL = choice_code("aspiration", "full")
_GRADUAL = choice_code("aspiration", "gradual")
_NAIVE_HALF = choice_code("aspiration", "naive_half")
_NAIVE = choice_code("aspiration", "naive")
_GUESS_TWO_BACK = choice_code("mtdf_guess", "two_back")
_GUESS_ZERO = choice_code("mtdf_guess", "zero")
_ORDER_AS_NODES = choice_code("root_order", "as_nodes")

MAX_TURNS = 4
"""Number of changes between failing low and failing high after which the aspiration window is opened fully."""


@jit
def search_root(state, search, lists, parameters, alpha, beta, depth, first):
    """Search the root moves from index ``first`` on, move the best one to ``first``, and return its value.

    A move that raises alpha is stored in the results at once, so that an abort loses nothing; other moves leave the
    results unchanged. With ``root_order`` "as_nodes", an abort keeps such a move only if the previous iteration's best
    move has been searched too. The value is meaningless if ``search.stopped`` is set.
    """
    check_node(state, search, alpha, beta, depth, np.int64(0))
    search.variation_end[0] = 0
    iteration = depth
    line = search.current_line
    former_best = np.int64(0)
    if parameters.root_order == _ORDER_AS_NODES:
        _order_as_node(state, search, lists, parameters, first)
        if search.depth > 0 and search.line_depth[line] != iteration:
            former_best = np.int64(search.line_move[line])
    search.former_best_left = 1 if former_best != 0 else 0
    checked = in_check(state)
    locate_corrections(state, search, parameters, np.int64(0))
    static = corrected_value(state, search, parameters, np.int64(-INFINITY), np.int64(INFINITY), np.int64(0))
    note_static_value(search, np.int64(0), static, checked)
    if checked and parameters.check_extension != 0:
        depth += 1
    # A search that solves the game must not reduce: a reduced search would not reach the end.
    solving = solvable(state, parameters, depth)
    best = np.int64(-INFINITY)
    best_move = np.int64(0)
    best_index = first
    original_alpha = alpha
    for index in range(first, search.root_count):
        move = np.int64(search.root_moves[index])
        if not spend_node(search, parameters):
            return np.int64(0)
        new_depth = np.int64(next_depth(state, parameters, move, depth))
        reducible = parameters.lmr_root != 0 and not checked and not solving and is_quiet(state, move)
        make(state, move)
        if index == first or parameters.algorithm == ALPHABETA:
            value = -enter_node(state, search, lists, parameters, -beta, -alpha, new_depth, 1)
        else:
            value = np.int64(INFINITY)
            reduced = _root_reduction(state, search, parameters, depth, np.int64(index - first), reducible)
            if reduced > 0:
                value = -enter_node(state, search, lists, parameters, -alpha - 1, -alpha, new_depth - reduced, 1)
            if value > alpha and search.stopped == 0:
                value = -enter_node(state, search, lists, parameters, -alpha - 1, -alpha, new_depth, 1)
            if value > alpha and value < beta and search.stopped == 0:
                search.researches += 1
                value = -enter_node(state, search, lists, parameters, -beta, -alpha, new_depth, 1)
        unmake(state)
        if search.stopped != 0:
            return np.int64(0)
        if move == former_best:
            search.former_best_left = 0
        if value > best:
            best = value
            if value > alpha:
                alpha = value
                best_move = move
                remember_variation(search, np.int64(0), move)
                _keep_result(search, line, move, value, iteration)
                if line == 0:
                    note_root_result(search)
                if parameters.root_order == _ORDER_AS_NODES:
                    best_index = index
                else:
                    _move_to_front(search, index, first)
                # After a fail high, search the window again before stopping; in MTD(f) every pass fails.
                is_result = line == 0 and search.former_best_left == 0
                if search.soft_at_root != 0 and is_result and (value < beta or parameters.algorithm == MTDF):
                    stop_if_soft_limit_passed(search)
                    if search.stopped != 0:
                        search.stopped_at_result = 1
                        return np.int64(0)
                if value >= beta:
                    reward_cutoff(state, search, lists, parameters, move, depth, np.int64(0), np.int64(0))
                    break
    if best_index != first:
        _move_to_front(search, best_index, first)
    best = bounded(parameters, best, original_alpha, beta)
    bound = EXACT
    if best >= beta:
        bound = LOWER_BOUND
    elif best_move == 0:
        bound = UPPER_BOUND
    elif parameters.history_record == RECORD_CUTOFF_AND_PV:
        reward_history(state, search, parameters, best_move, depth)
    if first == 0 and search.filter_count == 0:
        store(search, state.key, best_move, best, depth, bound, np.int64(0), np.int64(0))
    return best


@jit
def _root_reduction(state, search, parameters, depth, number, reducible):
    """Late move reduction, in plies, for the first search of a root move that has just been made.

    ``number`` is the number of root moves searched before this move. ``reducible`` is false for a move that must not be
    reduced. Moves that give check are not reduced either.
    """
    late = number >= parameters.lmr_min_moves and depth >= parameters.lmr_min_depth
    if not (reducible and late and parameters.late_move_reductions != 0) or in_check(state):
        return np.int64(0)
    return reduction(search, parameters, depth, number, np.int64(0))


@jit
def _copy_line(search, source, target):
    search.line_move[target] = search.line_move[source]
    search.line_score[target] = search.line_score[source]
    search.line_depth[target] = search.line_depth[source]
    search.line_length[target] = search.line_length[source]
    for index in range(search.line_length[source]):
        search.line_variation[target, index] = search.line_variation[source, index]


@jit
def _keep_result(search, line, move, value, depth):
    """Store a move, its value, its depth and the principal variation as the result of variation ``line``.

    Unless ``line`` already began with this move, the variations from ``line`` on move down one place. The one dropped
    is a later variation with the same move or, without such a variation, the last.
    """
    if search.line_move[line] != move:
        place = search.lines - 1
        for other in range(line + 1, search.lines):
            if search.line_move[other] == move:
                place = other
                break
        # Shift the lines in between down by one, into the move's old place.
        for other in range(place, line, -1):
            _copy_line(search, other - 1, other)
    search.line_move[line] = move
    search.line_score[line] = value
    search.line_depth[line] = depth
    length = search.variation_end[0]
    search.line_length[line] = length
    for index in range(length):
        search.line_variation[line, index] = search.variation[0, index]


@jit
def _move_to_front(search, index, first):
    """Move the root move at ``index`` to index ``first``; the other root moves keep their order."""
    move = search.root_moves[index]
    for other in range(index, first, -1):
        search.root_moves[other] = search.root_moves[other - 1]
    search.root_moves[first] = move


@jit
def _collect_root_moves(state, search, lists, parameters):
    """Write the legal moves that the search may consider into ``root_moves``, in search order.

    Returns the number of all legal moves.
    """
    count = generate(state, lists, 0)
    score_moves(state, search, lists, parameters, np.int64(0), count, entry_move(probe(search, state.key)))
    search.root_count = 0
    for index in range(count):
        move = pick_move(state, parameters, lists, np.int64(0), index, count)
        allowed = search.filter_count == 0
        for other in range(search.filter_count):
            if search.filter_moves[other] == move:
                allowed = True
        if allowed:
            search.root_moves[search.root_count] = move
            search.root_count += 1
    return count


@jit
def _order_as_node(state, search, lists, parameters, first):
    """Sort the root moves as at other nodes. The first ``first`` moves are already searched and stay in place."""
    _collect_root_moves(state, search, lists, parameters)
    for line in range(first):
        for index in range(line, search.root_count):
            if search.root_moves[index] == search.line_move[line]:
                _move_to_front(search, index, line)
                break


@jit
def _search_window(state, search, lists, parameters, depth, previous):
    """Search the current variation to ``depth`` with an aspiration window around ``previous``; returns its value."""
    line = search.current_line
    alpha = np.int64(-INFINITY)
    beta = np.int64(INFINITY)
    half_width = parameters.aspiration_window
    if parameters.aspiration != _OFF and previous > -INFINITY:
        alpha = max(previous - half_width, -INFINITY)
        beta = min(previous + half_width, INFINITY)
    windowed = alpha > -INFINITY or beta < INFINITY
    last_failure = 0
    turns = 0
    while True:
        value = search_root(state, search, lists, parameters, alpha, beta, depth, line)
        if search.stopped != 0:
            return value
        if windowed and last_failure == 0:
            search.windows += 1
        failed_low = value <= alpha and alpha > -INFINITY
        failed_high = value >= beta and beta < INFINITY
        if not failed_low and not failed_high:
            return value
        if last_failure == 0:
            search.windows_missed += 1
        if failed_low:
            search.fails_low += 1
        else:
            search.fails_high += 1
        failure = -1 if failed_low else 1
        if failure == -last_failure:
            turns += 1
        last_failure = failure
        if turns >= MAX_TURNS:
            # Search instability: each failure contradicts the last and would do so for ever.
            search.alternations += 1
            alpha = np.int64(-INFINITY)
            beta = np.int64(INFINITY)
        elif parameters.aspiration == _FULL:
            alpha = np.int64(-INFINITY)
            beta = np.int64(INFINITY)
        elif parameters.aspiration == _GRADUAL:
            half_width = half_width * parameters.aspiration_growth // 1000 + 1
            reach = half_width if half_width < BAN_BOUND else np.int64(2 * INFINITY)
            if failed_low:
                alpha = max(previous - reach, -INFINITY)
            else:
                beta = min(previous + reach, INFINITY)
        elif failed_low:
            # The other bound stays; a failure on that side opens it too.
            alpha = np.int64(-INFINITY)
            if parameters.aspiration == _NAIVE:
                beta = value + 1
        else:
            beta = np.int64(INFINITY)
            if parameters.aspiration == _NAIVE or parameters.aspiration == _NAIVE_HALF:
                alpha = value - 1


@jit
def _search_mtdf(state, search, lists, parameters, depth, guess):
    """Search the current variation to ``depth`` plies by MTD(f); returns the variation's value in centipawns [OT].

    A sequence of null windows, the first at ``guess``, converges on the value.
    """
    line = search.current_line
    lower = np.int64(-INFINITY)
    upper = np.int64(INFINITY)
    value = guess
    while lower < upper:
        beta = max(value, lower + 1)
        search.mtdf_passes += 1
        value = search_root(state, search, lists, parameters, beta - 1, beta, depth, line)
        if search.stopped != 0:
            return value
        if value < beta:
            upper = value
        else:
            lower = value
        if upper < lower:
            # Search instability: trust the last pass, which had the fullest table.
            return value
    return value


@jit
def _others_lose(state, search, lists, parameters, depth):
    """Whether all root moves except the best are proven to lose [EE 8.3]. False if the search is stopped before that.

    Stores no transposition table entry for the root, because a value without the best move is not the position's value.
    """
    for index in range(1, search.root_count):
        if search.root_moves[index] == search.line_move[0]:
            _move_to_front(search, index, np.int64(0))
            break
    alpha = np.int64(-MATE_BOUND)
    if in_check(state) and parameters.check_extension != 0:
        depth += 1
    for index in range(1, search.root_count):
        if not spend_node(search, parameters):
            return False
        make(state, np.int64(search.root_moves[index]))
        value = -enter_node(state, search, lists, parameters, -alpha - 1, -alpha, depth - 1, 1)
        unmake(state)
        if search.stopped != 0 or value > alpha:
            return False
    return True


@jit
def _first_guess(search, parameters, depth_before):
    """First guess of the value for MTD(f), in centipawns; ``depth_before`` is the last completed depth, 0 for none."""
    if depth_before == 0 or parameters.mtdf_guess == _GUESS_ZERO:
        return np.int64(0)
    if parameters.mtdf_guess == _GUESS_TWO_BACK and search.previous_score > -INFINITY:
        return search.previous_score
    return search.line_score[search.current_line]


@jit
def _note_iteration(search, parameters, began_ns, best_before, score_before):
    """Record an iteration's duration, best move and score for time management, and adapt the soft limit.

    ``began_ns`` is the start of the iteration on the search's clock. ``best_before`` and ``score_before`` are the best
    move and score of the previous iteration.
    """
    for index in range(3, 0, -1):
        search.iteration_ns[index] = search.iteration_ns[index - 1]
    search.iteration_ns[0] = max(elapsed_ns(search) - began_ns, 1)
    search.best_move_stable = search.best_move_stable + 1 if search.line_move[0] == best_before else 1
    search.previous_score = score_before
    adapt_soft_limit(search, parameters, search.line_score[0] - score_before if score_before > -INFINITY else 0)


@jit
def _iterate(state, search, lists, parameters):
    """Deepen iteratively until the search ends. Returns the end reason, or ``RUNNING`` if ``search.stopped`` is set."""
    left = plies_left(state)
    deepest = min(search.depth_limit, MAX_DEPTH, left)
    # Near its end the game is solved, whatever the depth limit.
    solves = left <= min(parameters.endgame_empties, MAX_DEPTH)
    last = left if solves else deepest
    depth = min(parameters.min_depth, last)
    if parameters.iterative_deepening == 0 and search.depth_limit <= MAX_DEPTH:
        depth = last
    lines = min(search.lines, search.root_count)
    allocate_iteration_time(search, parameters, np.int64(depth), left)
    while True:
        began_ns = elapsed_ns(search)
        note_iteration_start(search)
        best_before = search.line_move[0]
        score_before = search.line_score[0]
        for line in range(lines):
            search.current_line = line
            previous = search.line_score[line] if search.depth > 0 else np.int64(-INFINITY)
            if parameters.algorithm == MTDF:
                guess = _first_guess(search, parameters, search.depth)
                value = _search_mtdf(state, search, lists, parameters, np.int64(depth), guess)
            else:
                value = _search_window(state, search, lists, parameters, np.int64(depth), previous)
            if search.stopped != 0:
                # A stop at a new result keeps that result.
                thrown_away = parameters.keep_partial_iteration == 0 or search.former_best_left != 0
                if thrown_away and search.stopped_at_result == 0 and search.depth > 0:
                    for other in range(lines):
                        _copy_line(search, MAX_LINES + other, other)
                return RUNNING
            search.line_score[line] = value
            report_line(search, line, depth)
        search.depth = depth
        if parameters.keep_partial_iteration == 0 or parameters.root_order == _ORDER_AS_NODES:
            for line in range(lines):
                _copy_line(search, line, MAX_LINES + line)
        note_iteration_end(search, depth)
        if search.clock_armed == 0:
            arm_clock(search)
        _note_iteration(search, parameters, began_ns, best_before, score_before)
        if parameters.stop_on_mate != 0 and lines == 1:
            if search.line_score[0] >= MATE_BOUND or search.line_score[0] <= -MATE_BOUND:
                return ENDED_BY_MATE
        if search.soft_at_root == 0:
            stop_if_soft_limit_passed(search)
        if search.stopped != 0:
            return RUNNING
        if depth >= last:
            # An iteration to the end may have pruned moves: solve exactly, unless depth is the only limit, since it
            # does not bound a solver (measured: 0.7 s with 22 empty squares, 4.2 s with 24).
            bounded = search.depth_limit == NO_LIMIT or search.node_limit < NO_LIMIT or search.hard_ns < NO_LIMIT
            more = parameters.endgame_exact_iteration != 0 and bounded and search.depth_limit > left
            if solves or depth < left or not more:
                return ENDED_AT_DEPTH
            solves = True
            parameters.endgame_empties = left
        if parameters.unique_move_check != 0 and lines == 1 and search.line_score[0] > -MATE_BOUND:
            if _others_lose(state, search, lists, parameters, np.int64(depth)):
                search.unique_moves += 1
                return ENDED_BY_UNIQUE_MOVE
            if search.stopped != 0:
                return RUNNING
        # Play an only move at once, unless depth is the only limit or the caller chose the move.
        if search.root_count == 1 and search.filter_count == 0:
            if search.node_limit < NO_LIMIT or search.hard_ns < NO_LIMIT:
                return ENDED_BY_SINGLE_MOVE
        depth = min(depth + parameters.depth_step, last)
        if solves and search.depth >= min(parameters.endgame_presearch, deepest):
            # Skip the iterations in between, which would cost more than they help: the next one solves the game.
            depth = last
        # Compare the forecast with the deadline of the coming iteration.
        allocate_iteration_time(search, parameters, np.int64(depth), left)
        if not next_iteration_fits(search, parameters):
            search.predicted_stops += 1
            return ENDED_BY_FORECAST


@jit
def think(state, search, lists, parameters):
    """Search a position, write the results into the lines of ``search``, and return the move to play (0: none).

    The caller first sets limits, time allocation, filter and number of lines, and calls ``new_game`` once before the
    first search.
    """
    start_clock(search)
    note_search_start(search)
    search.root = state.ply
    search.history_key = repetition_key(state) if parameters.rules_in_search != 0 else np.uint64(0)
    search.search_number = (search.search_number + 1) & (SEARCH_NUMBERS - 1)
    search.depth = 0
    search.deepest_ply = 0
    search.current_line = 0
    search.verifying = 0
    search.best_move_stable = 0
    search.previous_score = -INFINITY
    for index in range(4):
        search.iteration_ns[index] = 0
    prepare_heuristics(search, parameters)
    for ply in range(2):
        search.static_values[ply] = -INFINITY
    for line in range(search.lines):
        search.line_move[line] = 0
        search.line_score[line] = -INFINITY
        search.line_depth[line] = 0
        search.line_length[line] = 0
    count = _collect_root_moves(state, search, lists, parameters)
    reason = ENDED_WITHOUT_MOVES
    if count == 0:
        search.line_score[0] = terminal_value(state, np.int64(0))
    if search.root_count > 0:
        # ``_iterate`` may raise it for this search.
        empties = parameters.endgame_empties
        reason = _iterate(state, search, lists, parameters)
        parameters.endgame_empties = empties
        if search.line_move[0] == 0:
            # Stopped before any result: play the first move in the order, with score 0.
            search.line_move[0] = search.root_moves[0]
            search.line_score[0] = 0
    search.elapsed_ns = elapsed_ns(search)
    search.end_reason = search.stopped if search.stopped != 0 else reason
    note_search_end(search)
    return search.line_move[0]


@jit
def new_game(search, game_number):
    """Clear the data of earlier games. ``game_number``, 1 to 65 535, must be new to this transposition table."""
    search.game_number = game_number
    search.search_number = 0
    clear_history(search)
    for ply in range(search.killers.shape[0]):
        search.killers[ply, 0] = 0
        search.killers[ply, 1] = 0
