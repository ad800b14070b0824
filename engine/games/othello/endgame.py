"""Exact solving of Othello endgames, once the search depth reaches the end of the game.

The solver is an alpha-beta search on bitboards, with values in whole discs. Nodes with at least
``endgame_sort_empties`` empty squares sort their moves and use the transposition table, under separate keys because
these entries are exact. Nodes with fewer empty squares first try moves in regions with an odd number of empty squares.
Specialized functions solve positions with one to four empty squares.
"""

from __future__ import annotations

import numpy as np

from elolab.engine.compiled.kernel import jit, lowest_bit, popcount
from elolab.engine.games.assertions import check_solver_node
from elolab.engine.games.othello.boards import (
    CORNERS,
    FULL,
    NONE,
    ONE,
    SQUARES,
    flips,
    legal_squares,
    neighbours,
    stable_discs,
)
from elolab.engine.games.othello.position import STOCK, board_key, make, other_discs, own_discs, unmake
from elolab.engine.games.othello.rules import A_DISC, final_difference, generate, is_over
from elolab.engine.search.clock import spend_nodes
from elolab.engine.search.table import (
    EXACT,
    LOWER_BOUND,
    UPPER_BOUND,
    entry_bound,
    entry_move,
    entry_score,
    probe,
    store,
)

WORST = -65
"""A value in discs that is below every possible result."""
_SOLVED = np.uint64(0x6F74_6865_6C6C_6F21)
"""Constant xored into position keys, so that the solver's exact table entries differ from the search's estimates."""
_LAST = 4
"""Maximum number of empty squares for which there is a specialized function."""
_ACCOUNTED_TOGETHER = 8
"""Maximum number of empty squares of a subtree that is searched completely before its nodes are reported to the search.

So search limits are checked about once a millisecond, and not at every node.
"""
_STABILITY_FROM = 20
"""Minimum alpha, in discs, at which stable discs are computed: with a lower alpha they rarely cause a cutoff."""

QUADRANT = np.array([square // 32 * 2 + square % 8 // 4 for square in range(SQUARES)], np.int64)
_QUADRANTS = [sum(1 << square for square in range(SQUARES) if QUADRANT[square] == number) for number in range(4)]
_QUADRANT_0, _QUADRANT_1, _QUADRANT_2, _QUADRANT_3 = (np.uint64(mask) for mask in _QUADRANTS)

BESIDE = np.array(
    [
        sum(
            1 << other
            for other in range(SQUARES)
            if other != square and abs(other % 8 - square % 8) <= 1 and abs(other // 8 - square // 8) <= 1
        )
        for square in range(SQUARES)
    ],
    np.uint64,
)
"""Bitboard of the squares adjacent to each square. A move is legal only next to a disc of the other side."""

# Terms of a move's ordering score.
_TABLE_MOVE = 1 << 24
_HINT = 1 << 23
_REPLY = 64
_CORNER_REPLY = 64
_POTENTIAL_REPLY = 12
_CORNER = 96
_ODD_REGION = 32


@jit
def _turned(own, other, square):
    """Bitboard of the discs of ``other`` that a move of ``own`` to an empty square flips; 0 if the move is illegal."""
    if other & BESIDE[np.uint64(square)] == NONE:
        return NONE
    return flips(own, other, square)


@jit
def _last_square(search, own, other, square):
    """Exact result, in discs for the side to move (``own``), with one empty square, ``square``."""
    difference = 2 * popcount(own) - 63
    turned = popcount(_turned(own, other, square))
    if turned != 0:
        search.leaf_nodes += 1
        return difference + 2 * turned + 1
    turned = popcount(_turned(other, own, square))
    if turned != 0:
        search.leaf_nodes += 1
        return difference - 2 * turned - 1
    return difference + 1 if difference > 0 else difference - 1


@jit
def _last_two(search, own, other, alpha, beta, one, two):
    """Exact result, in discs for the side to move (``own``), with two empty squares, ``one`` and ``two``.

    A result outside (alpha, beta) is only a bound.
    """
    best = np.int64(WORST)
    turned = _turned(own, other, one)
    if turned != NONE:
        search.leaf_nodes += 1
        best = -_last_square(search, other ^ turned, own ^ turned ^ (ONE << np.uint64(one)), two)
        if best >= beta:
            return best
    turned = _turned(own, other, two)
    if turned != NONE:
        search.leaf_nodes += 1
        return max(best, -_last_square(search, other ^ turned, own ^ turned ^ (ONE << np.uint64(two)), one))
    if best > WORST:
        return best
    # A pass: the other side chooses the move with the lowest result.
    worst = np.int64(-WORST)
    turned = _turned(other, own, one)
    if turned != NONE:
        search.leaf_nodes += 1
        worst = _last_square(search, own ^ turned, other ^ turned ^ (ONE << np.uint64(one)), two)
        if worst <= alpha:
            return worst
    turned = _turned(other, own, two)
    if turned != NONE:
        search.leaf_nodes += 1
        return min(worst, _last_square(search, own ^ turned, other ^ turned ^ (ONE << np.uint64(two)), one))
    return worst if worst < -WORST else final_difference(own, other)


@jit
def _last_three(search, parameters, own, other, alpha, beta, one, two, three, passed):
    """Exact result, in discs for the side to move (``own``), with three empty squares, ``one``, ``two`` and ``three``.

    ``passed`` is 1 if the last move was a pass, otherwise 0. A result outside (alpha, beta) is only a bound.
    """
    if parameters.endgame_parity != 0:
        # Two squares in one quadrant: play the third, the odd one, first.
        if QUADRANT[np.uint64(one)] == QUADRANT[np.uint64(two)]:
            one, three = three, one
        elif QUADRANT[np.uint64(one)] == QUADRANT[np.uint64(three)]:
            one, two = two, one
    best = np.int64(WORST)
    turned = _turned(own, other, one)
    if turned != NONE:
        search.leaf_nodes += 1
        best = -_last_two(search, other ^ turned, own ^ turned ^ (ONE << np.uint64(one)), -beta, -alpha, two, three)
        if best >= beta:
            return best
        alpha = max(alpha, best)
    turned = _turned(own, other, two)
    if turned != NONE:
        search.leaf_nodes += 1
        value = -_last_two(search, other ^ turned, own ^ turned ^ (ONE << np.uint64(two)), -beta, -alpha, one, three)
        if value >= beta:
            return value
        best = max(best, value)
        alpha = max(alpha, best)
    turned = _turned(own, other, three)
    if turned != NONE:
        search.leaf_nodes += 1
        value = -_last_two(search, other ^ turned, own ^ turned ^ (ONE << np.uint64(three)), -beta, -alpha, one, two)
        best = max(best, value)
    if best > WORST:
        return best
    if passed != 0:
        return final_difference(own, other)
    return -_last_three(search, parameters, other, own, -beta, -alpha, one, two, three, np.int64(1))


@jit
def _after_four(search, parameters, own, other, alpha, beta, played, one, two, three):
    """Value, in discs for the mover (``own``), of a move to ``played``; ``WORST`` if the move is illegal.

    Before the move four squares are empty: ``played``, ``one``, ``two`` and ``three``. A value outside (alpha, beta) is
    only a bound.
    """
    turned = _turned(own, other, played)
    if turned == NONE:
        return np.int64(WORST)
    search.leaf_nodes += 1
    return -_last_three(
        search, parameters, other ^ turned, own ^ turned ^ (ONE << np.uint64(played)), -beta, -alpha, one, two, three,
        np.int64(0)
    )  # fmt: skip


@jit
def _last_four(search, parameters, own, other, alpha, beta, passed):
    """Exact result, in discs for the side to move (``own``), with any four empty squares.

    ``passed`` is 1 if the last move was a pass, otherwise 0. A result outside (alpha, beta) is only a bound.
    """
    empty = ~(own | other)
    if parameters.endgame_parity != 0:
        odd = empty & _odd_regions(empty)
        even = empty & ~odd
    else:
        odd, even = empty, NONE
    # Order the squares: odd regions first.
    if odd == NONE:
        odd, even = even, NONE
    one = lowest_bit(odd)
    odd &= odd - ONE
    if odd == NONE:
        odd, even = even, NONE
    two = lowest_bit(odd)
    odd &= odd - ONE
    if odd == NONE:
        odd, even = even, NONE
    three = lowest_bit(odd)
    odd &= odd - ONE
    four = lowest_bit(odd | even)
    best = _after_four(search, parameters, own, other, alpha, beta, one, two, three, four)
    if best >= beta:
        return best
    alpha = max(alpha, best)
    best = max(best, _after_four(search, parameters, own, other, alpha, beta, two, one, three, four))
    if best >= beta:
        return best
    alpha = max(alpha, best)
    best = max(best, _after_four(search, parameters, own, other, alpha, beta, three, one, two, four))
    if best >= beta:
        return best
    alpha = max(alpha, best)
    best = max(best, _after_four(search, parameters, own, other, alpha, beta, four, one, two, three))
    if best > WORST:
        return best
    if passed != 0:
        return final_difference(own, other)
    return -_last_four(search, parameters, other, own, -beta, -alpha, np.int64(1))


@jit
def _odd_regions(empty):
    """Bitboard of the quadrants of the board in which ``empty``, the empty squares, has an odd number of bits."""
    odd = NONE
    if popcount(empty & _QUADRANT_0) & 1 != 0:
        odd |= _QUADRANT_0
    if popcount(empty & _QUADRANT_1) & 1 != 0:
        odd |= _QUADRANT_1
    if popcount(empty & _QUADRANT_2) & 1 != 0:
        odd |= _QUADRANT_2
    if popcount(empty & _QUADRANT_3) & 1 != 0:
        odd |= _QUADRANT_3
    return odd


@jit
def _most_discs(parameters, own, other, alpha):
    """Upper bound of the result, in discs for the side to move (``own``), derived from the stable discs of ``other``.

    Returns ``-WORST``, which is above every result, if stable discs are switched off or alpha is below
    ``_STABILITY_FROM``.
    """
    if parameters.endgame_stability == 0 or alpha < _STABILITY_FROM:
        return np.int64(-WORST)
    return np.int64(64 - 2 * popcount(stable_discs(other, own)))


@jit
def _solve_unsorted(search, parameters, own, other, alpha, beta, empties):
    """Exact result, in discs for the side to move (``own``), without move sorting and transposition table.

    For positions with few empty squares; ``empties`` is their number. Adds its nodes to ``search.leaf_nodes``. A result
    outside (alpha, beta) is only a bound. The result is meaningless if ``search.stopped`` is set.
    """
    check_solver_node(own, other, alpha, beta, empties)
    most = _most_discs(parameters, own, other, alpha)
    if most <= alpha:
        return most
    squares = legal_squares(own, other)
    if squares == NONE:
        if legal_squares(other, own) == NONE:
            return final_difference(own, other)
        return -_solve_unsorted(search, parameters, other, own, -beta, -alpha, empties)
    first = FULL
    if parameters.endgame_parity != 0:
        first = _odd_regions(~(own | other))
    best = np.int64(WORST)
    group = squares & first
    rest = squares & ~first
    while True:
        if group == NONE:
            if rest == NONE:
                return best
            group = rest
            rest = NONE
        corner = group & CORNERS
        square = lowest_bit(corner if corner != NONE else group)
        bit = ONE << np.uint64(square)
        group ^= bit
        turned = flips(own, other, square)
        search.leaf_nodes += 1
        if empties == _LAST + 1:
            value = -_last_four(search, parameters, other ^ turned, own ^ turned ^ bit, -beta, -alpha, np.int64(0))
        else:
            value = -_solve_unsorted(
                search, parameters, other ^ turned, own ^ turned ^ bit, -beta, -alpha, np.int64(empties - 1)
            )
        if empties > _ACCOUNTED_TOGETHER:
            _account(search, parameters)
            if search.stopped != 0:
                return np.int64(0)
        if value > best:
            best = value
            if value >= beta:
                return best
            alpha = max(alpha, value)


@jit
def _account(search, parameters):
    """Add the nodes in ``search.leaf_nodes`` by ``spend_nodes``, which sets ``search.stopped`` at a limit."""
    nodes = np.int64(search.leaf_nodes)
    search.leaf_nodes = 0
    spend_nodes(search, parameters, nodes)


@jit
def _order_moves(search, lists, parameters, own, other, squares, beta, empties, row, table_move, hint):
    """Write the moves to ``squares``, a bitboard, and their ordering scores into row ``row`` of ``lists``.

    ``table_move`` is the square of the best move in the solver's table entry, ``hint`` the square of the best move in
    the search's own entry; -1 for none. If a child's table entry proves that the node's value is at least ``beta``,
    returns that lower bound; otherwise returns ``WORST``.
    """
    index = np.uint64(row)
    count = np.uint64(0)
    odd = _odd_regions(~(own | other)) if parameters.endgame_parity != 0 else NONE
    try_enhanced_cutoff = parameters.enhanced_cutoff_depth != 0 and empties >= parameters.enhanced_cutoff_depth
    while squares != NONE:
        square = lowest_bit(squares)
        bit = ONE << np.uint64(square)
        squares ^= bit
        turned = flips(own, other, square)
        next_own = other ^ turned
        next_other = own ^ turned ^ bit
        if try_enhanced_cutoff:
            entry = probe(search, board_key(next_own, next_other) ^ _SOLVED)
            if entry != 0 and entry_bound(entry) != LOWER_BOUND:
                value = -entry_score(entry, 0) // A_DISC
                if value >= beta:
                    return value
        order = np.int64(0)
        if square == table_move:
            order = np.int64(_TABLE_MOVE)
        elif square == hint:
            order = np.int64(_HINT)
        if parameters.endgame_fastest_first != 0:
            replies = legal_squares(next_own, next_other)
            order -= _REPLY * popcount(replies) + _CORNER_REPLY * popcount(replies & CORNERS)
            order -= _POTENTIAL_REPLY * popcount(neighbours(next_other) & ~(next_own | next_other))
        if bit & CORNERS != NONE:
            order += _CORNER
        if bit & odd != NONE:
            order += _ODD_REGION
        lists.moves[index, count] = square
        lists.order[index, count] = order
        count += ONE
    return np.int64(WORST)


@jit
def _best_first(lists, row, start, count):
    """Move the square with the highest ordering score to index ``start`` of a row, and return the square.

    The candidates are the indices ``start`` to ``count`` - 1.
    """
    best = start
    for place in range(start + 1, count):
        if lists.order[row, place] > lists.order[row, best]:
            best = place
    square = lists.moves[row, best]
    lists.moves[row, best] = lists.moves[row, start]
    lists.order[row, best] = lists.order[row, start]
    lists.moves[row, start] = square
    return np.int64(square)


@jit
def _solve_few(search, parameters, own, other, alpha, beta, empties):
    """Solve a position with few empty squares by ``_solve_unsorted``, and report the nodes to ``spend_nodes``.

    ``empties`` is the number of empty squares. Returns the result in discs for the side to move (``own``); a result
    outside (alpha, beta) is only a bound. The result is meaningless if ``search.stopped`` is set.
    """
    search.leaf_nodes = 0
    if empties == _LAST:
        value = _last_four(search, parameters, own, other, alpha, beta, np.int64(0))
    else:
        value = _solve_unsorted(search, parameters, own, other, alpha, beta, empties)
    _account(search, parameters)
    return value


@jit
def _solve_sorted(search, lists, parameters, own, other, alpha, beta, empties, row):
    """Exact result, in discs for the side to move (``own``), with move sorting and transposition table.

    ``empties`` is the number of empty squares, ``row`` the row of ``lists`` for the node's moves. A result outside
    (alpha, beta) is only a bound. The result is meaningless if ``search.stopped`` is set.
    """
    check_solver_node(own, other, alpha, beta, empties)
    most = _most_discs(parameters, own, other, alpha)
    if most <= alpha:
        return most
    squares = legal_squares(own, other)
    if squares == NONE:
        if legal_squares(other, own) == NONE:
            return final_difference(own, other)
        return -_solve_sorted(search, lists, parameters, other, own, -beta, -alpha, empties, np.int64(row + 1))
    key = board_key(own, other)
    entry = probe(search, key ^ _SOLVED)
    table_move = np.int64(-1)
    hint = np.int64(-1)
    if entry != 0:
        value = entry_score(entry, 0) // A_DISC
        bound = entry_bound(entry)
        if bound == EXACT or (bound == LOWER_BOUND and value >= beta) or (bound == UPPER_BOUND and value <= alpha):
            return value
        table_move = (entry_move(entry) >> 7) if entry_move(entry) != 0 else np.int64(-1)
    if table_move < 0:
        entry = probe(search, key)
        if entry != 0 and entry_move(entry) != 0:
            hint = entry_move(entry) >> 7
    proven = _order_moves(search, lists, parameters, own, other, squares, beta, empties, row, table_move, hint)
    if proven >= beta:
        return proven
    count = popcount(squares)
    best = np.int64(WORST)
    best_square = np.int64(-1)
    original_alpha = alpha
    for index in range(count):
        square = _best_first(lists, row, index, count)
        bit = ONE << np.uint64(square)
        turned = flips(own, other, square)
        next_own = other ^ turned
        next_other = own ^ turned ^ bit
        if not spend_nodes(search, parameters, np.int64(1)):
            return np.int64(0)
        upper = beta if index == 0 else alpha + 1
        while True:
            if empties <= parameters.endgame_sort_empties:
                value = -_solve_few(search, parameters, next_own, next_other, -upper, -alpha, np.int64(empties - 1))
            else:
                value = -_solve_sorted(
                    search, lists, parameters, next_own, next_other, -upper, -alpha, np.int64(empties - 1),
                    np.int64(row + 1)
                )  # fmt: skip
            if search.stopped != 0:
                return np.int64(0)
            if value <= alpha or value >= beta or upper == beta:
                break
            upper = beta
        if value > best:
            best = value
            best_square = square
            if value >= beta:
                break
            alpha = max(alpha, value)
    bound = EXACT
    if best >= beta:
        bound = LOWER_BOUND
    elif best <= original_alpha:
        bound = UPPER_BOUND
    move = STOCK + (best_square << 7)
    store(search, key ^ _SOLVED, move, A_DISC * best, empties, bound, np.int64(0), np.int64(0))
    return best


@jit
def solvable(state, parameters, depth):
    """Whether the solver should take over a node with ``depth`` plies left to search.

    The solver takes over if ``depth`` reaches the end of the game, and at most ``endgame_empties`` squares are empty.
    """
    empties = popcount(~(state.discs[0] | state.discs[1]))
    return empties <= parameters.endgame_empties and depth >= empties


@jit
def solve(state, search, lists, parameters, alpha, beta, ply):
    """Exact result, in hundredths of a disc for the side to move. Outside (alpha, beta) it is only a bound.

    The result is meaningless if ``search.stopped`` is set.
    """
    own = own_discs(state)
    other = other_discs(state)
    empties = popcount(~(own | other))
    # Round the window outwards to whole discs.
    low = np.int64(max(alpha // A_DISC, WORST))
    high = np.int64(min(-(-beta // A_DISC), -WORST))
    if empties >= parameters.endgame_sort_empties:
        value = _solve_sorted(search, lists, parameters, own, other, low, high, empties, np.int64(ply))
    else:
        value = _solve_few(search, parameters, own, other, low, high, empties)
    return A_DISC * value


@jit
def _line_move(state, search, lists, parameters, score):
    """A move that achieves ``score``, in hundredths of a disc; 0 if there is none or the search was stopped.

    The transposition table's move is tried first, then the legal moves in order.
    """
    count = generate(state, lists, np.int64(0))
    entry = probe(search, state.key ^ _SOLVED)
    known = entry_move(entry) if entry != 0 else np.int64(0)
    for attempt in range(count + 1):
        move = known
        if attempt > 0:
            move = np.int64(lists.moves[0, attempt - 1])
            if move == known:
                continue
        if move == 0:
            continue
        make(state, move)
        value = -solve(state, search, lists, parameters, -score, -score + 1, np.int64(1))
        unmake(state)
        if search.stopped != 0:
            return np.int64(0)
        if value >= score:
            return move
    return np.int64(0)


@jit
def best_line(state, search, lists, parameters, score):
    """Write a best line from a position into line 0 of the search's results.

    ``score`` is the position's exact score in hundredths of a disc, for the side to move.
    """
    length = 0
    while not is_over(own_discs(state), other_discs(state)):
        move = _line_move(state, search, lists, parameters, score)
        if move == 0:
            break
        search.line_variation[0, length] = move
        length += 1
        make(state, move)
        score = -score
    for _ in range(length):
        unmake(state)
    search.line_length[0] = length
