"""What a search remembers of evaluations."""

from __future__ import annotations

import numpy as np
import pytest

from elolab.engine.compiled.kernel import new_record
from elolab.engine.engine import SearchMemory
from elolab.engine.games import GAMES, game_named
from elolab.engine.games.contract import MOVE_LISTS_DTYPE
from elolab.engine.games.evaluation_cache import MAX_VALUE, NOT_CACHED, WORDS, cached_value, keep_value
from elolab.engine.search.driver import think
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.parameters import resolve

KEY = 0xFEDC_BA98_7654_3210


@pytest.mark.parametrize("value", [0, 1, -1, MAX_VALUE, -MAX_VALUE])
def test_a_value_is_found_under_its_key_alone(value: int) -> None:
    cache = np.zeros(WORDS, np.uint64)
    address = cache.ctypes.data
    assert cached_value(address, np.uint64(KEY)) == NOT_CACHED
    keep_value(address, np.uint64(KEY), value)
    assert cached_value(address, np.uint64(KEY)) == value
    for bit in range(64):
        assert cached_value(address, np.uint64(KEY ^ (1 << bit))) == NOT_CACHED, bit


def test_the_last_value_of_a_place_is_kept() -> None:
    cache = np.zeros(WORDS, np.uint64)
    other = KEY ^ (1 << 40)
    keep_value(cache.ctypes.data, np.uint64(KEY), 5)
    keep_value(cache.ctypes.data, np.uint64(other), 7)
    assert cached_value(cache.ctypes.data, np.uint64(KEY)) == NOT_CACHED
    assert cached_value(cache.ctypes.data, np.uint64(other)) == 7


def test_without_a_cache_nothing_is_kept() -> None:
    keep_value(0, np.uint64(KEY), 5)
    assert cached_value(0, np.uint64(KEY)) == NOT_CACHED


@pytest.mark.parametrize("name", GAMES)
def test_a_search_finds_the_same_with_and_without(name: str) -> None:
    game = game_named(name)
    found = []
    for is_cached in (True, False):
        memory = SearchMemory(resolve({}, game=name), 3000)
        if not is_cached:
            memory.search.evaluation_cache = 0
        memory.set_limits(Limits(nodes=3000), None)
        memory.new_game()
        position, lists = game.position(game.bench_positions[0].text), new_record(MOVE_LISTS_DTYPE)
        memory.compile_search(position.state, lists)
        game.kernels.prepare(position.state, memory.parameters)
        think(position.state, memory.search, lists, memory.parameters)
        found.append((int(memory.search.line_move[0]), int(memory.search.line_score[0]), int(memory.search.nodes)))
        assert np.any(memory.evaluation_cache != 0) == is_cached
    assert found[0] == found[1]
