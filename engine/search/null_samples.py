"""Null cutoffs searched again without null moves, after the search that made them: which of them were wrong?

The searches have a record, a table and a history of their own, run outside the player's clock and nodes, and leave
nothing behind that play could depend on.
"""

from __future__ import annotations

import numpy as np

from engine.compiled.kernel import jit, store_word
from engine.games.contract import in_check, make, make_null, unmake, unmake_null
from engine.search.clock import start_clock
from engine.search.driver import new_game
from engine.search.node import enter_node
from engine.search.statistics import (
    NULL_SAMPLED,
    NULL_UNRESOLVED,
    NULL_WRONG,
    note_null,
    sample_count,
    sample_nodes,
    sample_word,
)
from engine.search.table import GAME_NUMBERS, WORDS_PER_BUCKET


@jit
def _prepare_checker(search, checker):
    """Empty tables and histories, and the limits of one sample."""
    number = checker.game_number + 1
    if number == GAME_NUMBERS:
        for word in range((checker.table_mask + 1) * WORDS_PER_BUCKET):
            store_word(checker.table_address, word, np.uint64(0))
        number = 1
    new_game(checker, number)
    start_clock(checker)
    checker.verifying = 0
    checker.deepest_ply = 0
    checker.root = search.root
    checker.stop_address = search.stop_address
    checker.node_limit = sample_nodes(search)


@jit
def check_null_samples(state, search, checker, lists, parameters):
    """Search the samples of the last search again, in the position it was made from, which is left as it is.

    ``checker`` is a search record, ``parameters`` are the player's without null moves. A null cutoff claims that the
    position is worth beta or more at its depth; it is wrong if the search without null moves says that it is less.
    """
    if search.search_statistics_address == 0:
        return
    for number in range(sample_count(search)):
        depth = sample_word(search, number, 0)
        beta = sample_word(search, number, 1)
        length = sample_word(search, number, 2)
        for index in range(length):
            in_check(state)
            move = sample_word(search, number, 3 + index)
            if move == 0:
                make_null(state)
            else:
                make(state, move)
        note_null(state, search, NULL_SAMPLED, depth)
        _prepare_checker(search, checker)
        value = enter_node(state, checker, lists, parameters, beta - 1, beta, depth, length)
        if checker.stopped != 0:
            note_null(state, search, NULL_UNRESOLVED, depth)
        elif value < beta:
            note_null(state, search, NULL_WRONG, depth)
        for index in range(length - 1, -1, -1):
            if sample_word(search, number, 3 + index) == 0:
                unmake_null(state)
            else:
                unmake(state)
