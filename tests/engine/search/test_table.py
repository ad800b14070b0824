"""The transposition table: what it keeps, for which keys and games, and how mates are stored."""

from __future__ import annotations

import itertools

import numpy as np

from elolab.engine.engine import SearchMemory
from elolab.engine.search import table
from elolab.engine.settings.parameters import resolve
from elolab.engine.values import BAN, MATE


def table_memory(megabytes: int = 1) -> SearchMemory:
    """A searcher's memory with an empty table."""
    memory = SearchMemory(resolve({"hash_mb": megabytes}), None)
    memory.new_game()
    return memory


def test_the_table_keeps_mates_relative_to_the_node() -> None:
    """Stored at ply 7 and read at ply 2, a mate five plies below the node is five plies below it still."""
    memory = table_memory()  # which the table is part of
    search_record = memory.search
    key = np.uint64(0x1234_5678_9ABC_DEF0)
    for here, there in ((7, 2), (2, 7), (0, 90), (90, 0), (4, 4)):
        for score, expected in (
            (MATE - here - 5, MATE - there - 5), (here + 5 - MATE, there + 5 - MATE), (123, 123), (-28_000, -28_000),
        ):  # fmt: skip
            table.store(search_record, key, 77, score, 6, table.EXACT, here, 0)
            entry = table.probe(search_record, key)
            assert table.entry_score(entry, there) == expected
            assert (table.entry_move(entry), table.entry_depth(entry), table.entry_bound(entry)) == (77, 6, table.EXACT)


def test_the_table_does_not_keep_what_the_path_decided() -> None:
    memory = table_memory()  # which the table is part of
    search_record = memory.search
    for score in (BAN - 3, 3 - BAN):
        table.store(search_record, np.uint64(99), 5, score, 6, table.EXACT, 3, 0)
        assert table.probe(search_record, np.uint64(99)) == 0


def test_the_table_answers_only_for_its_key_and_its_game() -> None:
    memory = table_memory()
    key = np.uint64(1 << 63 | 12345)
    table.store(memory.search, key, 5, 10, 6, table.LOWER_BOUND, 0, 0)
    assert table.probe(memory.search, key) != 0
    # The same bucket, another key.
    assert table.probe(memory.search, key ^ np.uint64(1 << 62)) == 0
    memory.new_game()
    assert table.probe(memory.search, key) == 0


def test_the_table_keeps_deep_entries_and_known_moves() -> None:
    memory = table_memory()  # which the table is part of
    search_record = memory.search
    bucket = [np.uint64(number << 40 | 5) for number in range(1, 6)]
    table.store(search_record, bucket[0], 11, 0, 9, table.EXACT, 0, 0)
    for key in bucket[1:]:
        table.store(search_record, key, 22, 0, 2, table.EXACT, 0, 0)
    assert table.entry_depth(table.probe(search_record, bucket[0])) == 9
    assert table.entry_depth(table.probe(search_record, bucket[-1])) == 2
    assert table.probe(search_record, bucket[1]) == 0
    # A bound without a move keeps the move that is known.
    table.store(search_record, bucket[0], 0, -5, 9, table.UPPER_BOUND, 0, 0)
    entry = table.probe(search_record, bucket[0])
    assert (table.entry_move(entry), table.entry_bound(entry)) == (11, table.UPPER_BOUND)
    # So does one for which the bucket's other slot is kept; the first slot's is left alone.
    table.store(search_record, bucket[-1], 0, -7, 3, table.UPPER_BOUND, 0, 0)
    entry = table.probe(search_record, bucket[-1])
    assert (table.entry_move(entry), table.entry_bound(entry), table.entry_depth(entry)) == (22, table.UPPER_BOUND, 3)
    assert table.entry_depth(table.probe(search_record, bucket[0])) == 9
    # In a later search of the game an old deep entry gives way.
    search_record.search_number += 1
    table.store(search_record, bucket[3], 33, 0, 1, table.EXACT, 0, 0)
    assert table.entry_move(table.probe(search_record, bucket[3])) == 33


def test_the_table_is_no_larger_than_a_node_limit_needs() -> None:
    for megabytes, nodes in itertools.product((1, 16, 64), (1, 1000, 10**6, None)):
        words = len(table.allocate(megabytes, nodes))
        assert words * 8 <= megabytes << 20
        assert (words // table.WORDS_PER_BUCKET) & (words // table.WORDS_PER_BUCKET - 1) == 0
    assert len(table.allocate(64, 100)) < len(table.allocate(64, None))
