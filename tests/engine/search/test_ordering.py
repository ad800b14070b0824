"""The order in which moves are picked, with and without those that are to be pruned."""

from __future__ import annotations

import numpy as np
import pytest

from elolab.engine.games import game_named
from elolab.engine.games.contract import Position
from elolab.engine.search.ordering import bring_best, leave_out_quiet

GAME = game_named("xiangqi")
FEN = "1r2kab1r/2c1a4/n1c1b1n2/4p2N1/p1p6/1C4P2/P1P1P4/2N1B3C/4A4/1RBAK2R1 w - - 0 1"
"""With captures, checks and other moves."""
CHECKING = "3ak4/4a4/4P4/2P3P2/9/9/2p3p2/3Rp4/4A4/3AK1C1R w - - 0 1"


def picked(position: Position, start: int, count: int) -> list[int]:
    """The moves of row 0 from ``start`` on in the order in which they are picked."""
    for index in range(start, count):
        bring_best(position.lists, 0, index, count)
    return [int(move) for move in position.lists.moves[0, start:count]]


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
