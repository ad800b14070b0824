"""The order in which moves are picked, with and without those that are to be pruned."""

from __future__ import annotations

import numpy as np
import pytest

from elolab.engine.engine import Engine, SearchMemory
from elolab.engine.games import game_named
from elolab.engine.games.contract import Position
from elolab.engine.search import ordering
from elolab.engine.search.ordering import bring_best, leave_out_quiet
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.parameters import resolve

GAME = game_named("xiangqi")
FEN = "1r2kab1r/2c1a4/n1c1b1n2/4p2N1/p1p6/1C4P2/P1P1P4/2N1B3C/4A4/1RBAK2R1 w - - 0 1"
"""With captures, checks and other moves."""
CHECKING = "3ak4/4a4/4P4/2P3P2/9/9/2p3p2/3Rp4/4A4/3AK1C1R w - - 0 1"


def picked(position: Position, start: int, count: int) -> list[int]:
    """The moves of row 0 from ``start`` on in the order in which they are picked."""
    for index in range(start, count):
        bring_best(position.lists, 0, index, count)
    return [int(move) for move in position.lists.moves[0, start:count]]


@pytest.mark.integration
@pytest.mark.parametrize("fen", [GAME.start, FEN, CHECKING])
@pytest.mark.parametrize("scores", [2, 5, 1 << 20])
@pytest.mark.parametrize("spare_checks", [False, True])
def test_leaving_out_quiet_moves_leaves_the_order_of_the_others(fen: str, scores: int, spare_checks: bool) -> None:
    position = GAME.position(fen)
    state, lists, kernels = position.state, position.lists, GAME.kernels
    left_out = 0
    for seed in range(8):
        random = np.random.default_rng(seed)
        count = int(kernels.generate(state, lists, 0))
        order = random.permutation(scores)[:count] if scores > count else random.integers(0, scores, count)
        wanted = {
            int(move)
            for move in lists.moves[0, :count]
            if not kernels.is_quiet(state, int(move)) or (spare_checks and kernels.gives_check(state, int(move)))
        }
        lists.order[0, :count] = order
        everything = picked(position, 0, count)
        kernels.generate(state, lists, 0)
        lists.order[0, :count] = order
        bring_best(lists, 0, 0, count)
        fewer = int(leave_out_quiet(state, lists, 0, 1, count, spare_checks))
        others = [move for move in everything[1:] if move in wanted]
        assert [move for move in picked(position, 1, fewer) if move in wanted] == others
        if scores > count:
            assert fewer == 1 + len(others), "no two are alike: all the others go"
        left_out += count - fewer
    assert left_out > 0 or scores == 2


GRAVITY: dict[str, object] = {"history_gravity": True}
MALUS: dict[str, object] = {**GRAVITY, "history_malus": True}


def _memory(overrides: dict[str, object] | None = None) -> SearchMemory:
    memory = SearchMemory(resolve({"hash_mb": 1, **(overrides or {})}, game="xiangqi"), None)
    memory.new_game()
    return memory


def _searched(overrides: dict[str, object], depth: int = 7) -> SearchMemory:
    """The memory of a search of the start position."""
    engine = Engine("xiangqi", overrides)
    engine.search(GAME.position(), Limits(depth=depth))
    assert engine.memory is not None
    return engine.memory


def test_gravity_bounds_histories() -> None:
    value = reached = 0
    for _ in range(200):
        value = int(ordering.with_gravity(value, 2048))
        reached = max(reached, value)
    assert 15_000 < reached <= 1 << 14
    # What has failed lately counts more than the successes before it.
    assert int(ordering.with_gravity(value, -2048)) < value - 3000
    parameters = _memory(GRAVITY).parameters
    assert [int(ordering.gravity_bonus(parameters, depth)) for depth in (1, 2, 3, 30)] == [128, 512, 1152, 2048]


def test_only_the_malus_makes_histories_negative() -> None:
    assert _searched({**GRAVITY, "history_malus": False}).search.history.min() == 0
    history = _searched(MALUS).search.history
    assert history.min() < 0 < history.max()
    assert max(-history.min(), history.max()) <= 1 << 14


@pytest.mark.parametrize("plies", [0, 1, 2])
def test_the_continuation_history_knows_so_many_earlier_moves_and_a_new_game_none(plies: int) -> None:
    memory = _searched({**MALUS, "continuation_history": plies})
    assert [bool(table.any()) for table in memory.search.continuation] == [plies > 0, plies > 1]
    memory.new_game()
    assert not memory.search.continuation.any()


def test_a_reply_is_ordered_by_what_it_replies_to() -> None:
    """Two positions that differ in the opponent's last move: a reply that cut after one is earlier there alone."""
    memory = _memory({**GRAVITY, "continuation_history": 1, "history": True})
    orders = []
    for last in ("h2e2", "b2c2"):
        position = GAME.position(GAME.start, [last])
        reply = position.code_of("b9c7")
        if not orders:
            ordering.reward_cutoff(
                position.state, memory.search, position.lists, memory.parameters, reply, 5, 3, 0
            )  # fmt: skip
            memory.search.history[:] = 0
            memory.search.killers[:] = 0
        count = int(GAME.kernels.generate(position.state, position.lists, 0))
        ordering.score_moves(position.state, memory.search, position.lists, memory.parameters, 0, count, 0)
        found = position.lists.moves[0, :count].tolist().index(reply)
        orders.append(int(position.lists.order[0, found]))
    assert orders[0] > 0 == orders[1]
