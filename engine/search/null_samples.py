"""Estimates the error rate of null move cutoffs by searching a sample of them again without null moves.

The samples are searched after the search for a move, with a record, table and history of their own. They do not count
against the player's clock or nodes, so they cannot influence play.
"""

from __future__ import annotations

import numpy as np

from elolab.engine.compiled.kernel import jit, store_word
from elolab.engine.games.contract import in_check, make, make_null, unmake, unmake_null
from elolab.engine.search.clock import start_clock
from elolab.engine.search.driver import new_game
from elolab.engine.search.node import enter_node
from elolab.engine.search.statistics import (
    NULL_SAMPLED,
    NULL_UNRESOLVED,
    NULL_WRONG,
    note_null,
    sample_count,
    sample_nodes,
    sample_word,
)
from elolab.engine.search.table import GAME_NUMBERS, WORDS_PER_BUCKET


@jit
def _prepare_checker(search, checker):
    """Reset the checker's table, history, clock and limits, to search one sample."""
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
    """Search the sampled null cutoffs of the last search again without null moves, and count the wrong ones.

    ``state`` is the root position of that search, unchanged on return. ``checker`` is the search record to use.
    ``parameters`` are the player's parameters, with null moves off. A null cutoff claims a value of at least beta. The
    cutoff is wrong if the search without null moves returns less.
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
