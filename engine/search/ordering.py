"""Move ordering: transposition table move, captures, killers, history."""

from __future__ import annotations

import numpy as np

from elolab.engine.compiled.kernel import jit, prefetch
from elolab.engine.games.contract import capture_order, gives_check, history_piece, is_quiet, loses_material, past_move
from elolab.engine.search.records import (
    CONTINUATION_MOVES,
    CONTINUATION_PIECES,
    CONTINUATION_SQUARES,
    CONTINUATIONS,
    HISTORY_BLOCK,
    HISTORY_SIZE,
)
from elolab.engine.settings.parameters import choice_code

_NONE, _ONE = np.uint64(0), np.uint64(1)
_HASH_MOVE = 1 << 30
_GOOD_CAPTURE = 1 << 28
_KILLER = 1 << 27
_MAX_HISTORY = 1 << 24
"""History value at which all histories are halved, so that history values stay below the ordering scores of killers."""
_LOSING_CAPTURE = -(1 << 28)
WORST_HISTORY = -(1 << 27)
"""A lower bound of the ordering scores of all moves other than losing captures."""
_HISTORY_LIMIT = 1 << 14
"""Maximum absolute history value under ``history_gravity``."""
_GRAVITY_BONUS = 128
"""Factor of the history bonus under ``history_gravity``: bonus = factor * depth ** ``history_weight``.

The bonus is at most an eighth of ``_HISTORY_LIMIT``.
"""

_NO_CAPTURE_ORDER = choice_code("capture_order", "none")
_SEE = choice_code("capture_order", "see")
_FROM_TO_SIDE = choice_code("history_index", "from_to_side")
_PIECE_TO = choice_code("history_index", "piece_to")
_CLEAR = choice_code("history_decay", "clear")
_HALVE = choice_code("history_decay", "halve")


@jit
def _history_index(state, parameters, move):
    target = (move >> 7) & 127
    if parameters.history_index == _PIECE_TO:
        return (history_piece(state, move) << 7) | target
    # The origin is in the upper bits, so that a piece's moves lie together in memory.
    index = ((move & 127) << 7) | target
    if parameters.history_index == _FROM_TO_SIDE:
        index |= np.int64(state.side) << 14
    return index


@jit
def bounded_history(order):
    """Convert an ordering score to a history value, -100 to 100. Killers, and moves ordered before them, get 100."""
    return max(min(order, _HISTORY_LIMIT), -_HISTORY_LIMIT) * 100 // _HISTORY_LIMIT


@jit
def move_row(state, back):
    """Index of the row of a continuation history for the piece type and target square of the move made ``back`` plies
    ago.

    Returns -1 if that move was a null move, or before the start of the game.
    """
    if np.int64(state.ply) < back:
        return np.int64(-1)
    move = past_move(state, np.int64(state.ply) - back)
    if move == 0:
        return np.int64(-1)
    target = (move >> 7) & 127
    # The target square holds the piece that moved, or the piece that captured it since.
    return history_piece(state, target) % CONTINUATION_PIECES * CONTINUATION_SQUARES + target


@jit
def _continuation_row(state, parameters, back):
    """The result of ``move_row``, or -1 if the parameters do not use the history of moves made ``back`` plies ago."""
    return np.int64(-1) if parameters.continuation_history < back else move_row(state, back)


@jit
def _continuation_place(state, move):
    """Index (uint64) of a move's column in the continuation history."""
    piece = np.uint64(history_piece(state, move)) % np.uint64(CONTINUATION_PIECES)
    return piece * np.uint64(CONTINUATION_SQUARES) + np.uint64((move >> 7) & 127)


@jit
def _continuation_address(search, table, row):
    """Memory address of row ``row`` of the continuation history number ``table``. Row -1 stands for row 0."""
    return search.continuation.ctypes.data + 2 * CONTINUATION_MOVES * (table * CONTINUATION_MOVES + max(row, 0))


@jit
def _victim(state, move):
    """Type of the piece on the target square of a move, as a column (uint64) of the capture history."""
    return np.uint64(history_piece(state, (move >> 7) & 127)) % np.uint64(CONTINUATION_PIECES)


@jit
def score_moves(state, search, lists, parameters, ply, count, hash_move):
    """Fill ``lists.order[ply]`` with the ordering scores of the first ``count`` moves in ``lists.moves[ply]``.

    ``hash_move`` is the transposition table's move, 0 for none.
    """
    # Loop invariants, read once: the compiler cannot prove that they do not change.
    first = np.int64(hash_move if parameters.hash_move != 0 else 0)
    killer = np.int64(search.killers[ply, 0] if parameters.killers > 0 else 0)
    second_killer = np.int64(search.killers[ply, 1] if parameters.killers > 1 else 0)
    order_captures = parameters.capture_order != _NO_CAPTURE_ORDER
    use_history = parameters.history != 0
    use_capture_history = use_history and parameters.history_captures != 0
    by_piece = parameters.history_index == _PIECE_TO
    of_side = np.int64(state.side) << 14 if parameters.history_index == _FROM_TO_SIDE else np.int64(0)
    row = np.uint64(ply)
    one_back = _continuation_row(state, parameters, np.int64(1))
    two_back = _continuation_row(state, parameters, np.int64(2))
    continues = one_back >= 0 or two_back >= 0
    first_address = _continuation_address(search, 0, one_back)
    second_address = _continuation_address(search, 1, two_back)
    for number in range(count):
        index = np.uint64(number)
        move = np.int64(lists.moves[row, index])
        quiet = is_quiet(state, move)
        order = np.int64(0)
        if move == first:
            order = np.int64(_HASH_MOVE)
        elif order_captures and not quiet:
            order = np.int64(capture_order(state, move)) + _GOOD_CAPTURE
            if parameters.capture_history != 0:
                learnt = np.int64(search.captures[_continuation_place(state, move), _victim(state, move)])
                order += learnt * parameters.capture_history // _HISTORY_LIMIT
        elif move == killer:
            order = np.int64(_KILLER + 1)
        elif move == second_killer:
            order = np.int64(_KILLER)
        elif use_capture_history or (use_history and quiet):
            place = np.int64(history_piece(state, move)) << 7 if by_piece else of_side | ((move & 127) << 7)
            order = np.int64(search.history[np.uint64(place | ((move >> 7) & 127))])
        lists.order[row, index] = order
        if continues and quiet and order < _KILLER:
            offset = 2 * np.int64(_continuation_place(state, move))  # bytes
            prefetch(first_address + offset)
            prefetch(second_address + offset)
    if continues:
        _add_continuation(state, search, lists, row, np.uint64(count), one_back, two_back)


@jit
def _add_continuation(state, search, lists, ply, count, one_back, two_back):
    """Add the continuation histories to the scores of the quiet moves that are ordered by history.

    ``one_back`` and ``two_back`` are the results of ``_continuation_row`` for the last move and the move before it.
    """
    index = np.uint64(0)
    while index < count:
        move = np.int64(lists.moves[ply, index])
        order = np.int64(lists.order[ply, index])
        if order < _KILLER and is_quiet(state, move):
            column = _continuation_place(state, move)
            if one_back >= 0:
                order += search.continuation[_NONE, np.uint64(one_back), column]
            if two_back >= 0:
                order += search.continuation[_ONE, np.uint64(two_back), column]
            lists.order[ply, index] = order
        index += _ONE


@jit
def bring_best(lists, ply, start, count):
    """Swap the move with the highest score to index ``start``. Candidates are the indices ``start`` to ``count`` - 1.

    Of equal scores, the first move is taken.
    """
    # Unsigned indices avoid numba's test for negative ones, with which this loop took a sixth of the search.
    row = np.uint64(ply)
    first = np.uint64(start)
    last = np.uint64(count)
    highest = lists.order[row, first]
    if start > 0 and highest == lists.order[row, first - _ONE]:
        # The score equals the previous move's, which was the maximum: mostly moves without a history.
        return
    index = first + _ONE
    # Find the maximum first (vector instructions), then its index.
    while index < last:
        highest = max(highest, lists.order[row, index])
        index += _ONE
    best = first
    while lists.order[row, best] != highest:
        best += _ONE
    if best != first:
        move = lists.moves[row, best]
        lists.moves[row, best] = lists.moves[row, first]
        lists.order[row, best] = lists.order[row, first]
        lists.moves[row, first] = move
        lists.order[row, first] = highest


@jit
def pick_move(state, parameters, lists, ply, start, count):
    """Swap the best remaining move to index ``start`` and return it. ``count`` is the number of moves in the row.

    Tests a capture for loss of material only when the capture's turn comes, because most captures are never tried.
    """
    while True:
        bring_best(lists, ply, start, count)
        move = np.int64(lists.moves[ply, start])
        order = np.int64(lists.order[ply, start])
        if parameters.capture_order != _SEE or order < _GOOD_CAPTURE or order == _HASH_MOVE:
            return move
        if not loses_material(state, move):
            return move
        lists.order[ply, start] = order - _GOOD_CAPTURE + _LOSING_CAPTURE


@jit
def leave_out_quiet(state, lists, ply, start, count, spare_checks):
    """Remove the quiet moves from index ``start`` on, among ``count`` moves; returns the new number of moves.

    ``spare_checks`` keeps quiet moves that give check. Overwrites the move list of the next ply. Removes nothing if two
    of the remaining moves have the same score, because the order of equal moves depends on the moves between them.
    """
    row = np.uint64(ply)
    scratch = row + _ONE
    first = np.uint64(start)
    left = np.uint64(0)
    index = first
    while index < np.uint64(count):
        move = np.int64(lists.moves[row, index])
        if not is_quiet(state, move) or (spare_checks and gives_check(state, move)):
            order = lists.order[row, index]
            other = np.uint64(0)
            while other < left:
                if lists.order[scratch, other] == order:
                    return count
                other += _ONE
            lists.moves[scratch, left] = move
            lists.order[scratch, left] = order
            left += _ONE
        index += _ONE
    index = np.uint64(0)
    while index < left:
        lists.moves[row, first + index] = lists.moves[scratch, index]
        lists.order[row, first + index] = lists.order[scratch, index]
        index += _ONE
    return start + np.int64(left)


@jit
def _bonus(parameters, depth):
    """History bonus of a move: the remaining depth, at least 1, to the power of ``history_weight``."""
    depth = max(depth, 1)
    bonus = np.int64(1)
    for _ in range(parameters.history_weight):
        bonus *= depth
    return bonus


@jit
def _halve_history(search):
    for block in range(HISTORY_SIZE // HISTORY_BLOCK):
        if search.history_filled[block] != 0:
            for place in range(HISTORY_BLOCK):
                search.history[block * HISTORY_BLOCK + place] >>= 1


@jit
def clear_history(search):
    """Clear all histories and the corrections of the static evaluation."""
    for block in range(HISTORY_SIZE // HISTORY_BLOCK):
        if search.history_filled[block] != 0:
            search.history_filled[block] = 0
            for place in range(HISTORY_BLOCK):
                search.history[block * HISTORY_BLOCK + place] = 0
    if search.corrections_filled != 0:
        search.corrections_filled = 0
        for table in range(search.corrections.shape[0]):
            for index in range(search.corrections.shape[1]):
                search.corrections[table, index] = 0
    if search.captures_filled != 0:
        search.captures_filled = 0
        for row in range(CONTINUATION_MOVES):
            for column in range(CONTINUATION_PIECES):
                search.captures[row, column] = 0
    if search.continuation_filled != 0:
        search.continuation_filled = 0
        for table in range(CONTINUATIONS):
            for row in range(CONTINUATION_MOVES):
                for place in range(CONTINUATION_MOVES):
                    search.continuation[table, row, place] = 0


@jit
def reward_history(state, search, parameters, move, depth):
    """Increase the history of a good move. Captures are included only with ``history_captures``."""
    if parameters.history == 0 or (parameters.history_captures == 0 and not is_quiet(state, move)):
        return
    index = _history_index(state, parameters, move)
    search.history_filled[index // HISTORY_BLOCK] = 1
    if parameters.history_gravity != 0:
        _move_histories(state, search, parameters, move, gravity_bonus(parameters, depth))
        return
    value = search.history[index] + _bonus(parameters, depth)
    search.history[index] = value
    if value >= _MAX_HISTORY:
        _halve_history(search)


@jit
def gravity_bonus(parameters, depth):
    """History bonus of a move that caused a cutoff at ``depth``, under ``history_gravity``."""
    return min(_GRAVITY_BONUS * _bonus(parameters, depth), _HISTORY_LIMIT // 8)


@jit
def with_gravity(value, change):
    """The history value that results when ``change``, a bonus or a negative malus, is applied to ``value``.

    A change has less effect the closer ``value`` already is to the limit in the same direction.
    """
    return value + change - value * abs(change) // _HISTORY_LIMIT


@jit
def _move_histories(state, search, parameters, move, change):
    """Add ``change``, a bonus or a negative malus, to a move's history and continuation histories."""
    index = _history_index(state, parameters, move)
    search.history[index] = with_gravity(np.int64(search.history[index]), change)
    if parameters.continuation_history == 0 or not is_quiet(state, move):
        return
    search.continuation_filled = 1
    place = _continuation_place(state, move)
    for back in range(1, CONTINUATIONS + 1):
        row = _continuation_row(state, parameters, np.int64(back))
        if row >= 0:
            value = np.int64(search.continuation[back - 1, row, place])
            search.continuation[back - 1, row, place] = with_gravity(value, change)


@jit
def punish_histories(state, search, lists, parameters, depth, ply, count):
    """Decrease the histories of the quiet moves among the node's first ``count`` moves, which caused no cutoff."""
    malus = -gravity_bonus(parameters, depth)
    for index in range(count):
        move = np.int64(lists.moves[ply, index])
        if is_quiet(state, move):
            search.history_filled[_history_index(state, parameters, move) // HISTORY_BLOCK] = 1
            _move_histories(state, search, parameters, move, malus)


@jit
def _move_capture_history(state, search, move, change):
    """Add ``change``, a bonus or a negative malus, to the history of a capture or promotion."""
    search.captures_filled = 1
    row, column = _continuation_place(state, move), _victim(state, move)
    search.captures[row, column] = with_gravity(np.int64(search.captures[row, column]), change)


@jit
def _learn_captures(state, search, lists, parameters, move, depth, ply, tried):
    """Update the capture history after a cutoff by ``move``.

    The history of ``move`` rises if it is a capture. The histories of captures among the first ``tried`` moves fall.
    """
    bonus = gravity_bonus(parameters, depth)
    if not is_quiet(state, move):
        _move_capture_history(state, search, move, bonus)
    for index in range(tried):
        other = np.int64(lists.moves[ply, index])
        if not is_quiet(state, other):
            _move_capture_history(state, search, other, -bonus)


@jit
def reward_cutoff(state, search, lists, parameters, move, depth, ply, tried):
    """Update histories and killers after a beta cutoff by ``move``; the node's first ``tried`` moves caused none."""
    reward_history(state, search, parameters, move, depth)
    if tried > 0 and parameters.history_malus != 0 and parameters.history_gravity != 0 and is_quiet(state, move):
        punish_histories(state, search, lists, parameters, depth, ply, tried)
    if parameters.capture_history != 0:
        _learn_captures(state, search, lists, parameters, move, depth, ply, tried)
    if parameters.killers > 0 and is_quiet(state, move) and search.killers[ply, 0] != move:
        search.killers[ply, 1] = search.killers[ply, 0]
        search.killers[ply, 0] = move


@jit
def prepare_heuristics(search, parameters):
    """Prepare killers and history for the next search: clear the killers, and clear, halve or keep the history."""
    for ply in range(search.killers.shape[0]):
        search.killers[ply, 0] = 0
        search.killers[ply, 1] = 0
    if parameters.history_decay == _CLEAR:
        clear_history(search)
    elif parameters.history_decay == _HALVE:
        _halve_history(search)
