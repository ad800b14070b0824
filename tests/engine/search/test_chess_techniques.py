"""Techniques that only chess has on by default: corrections of the evaluation, history of captures, pruning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from elolab.engine.compiled.kernel import new_record
from elolab.engine.engine import Engine, SearchMemory
from elolab.engine.games import game_named
from elolab.engine.games.contract import MOVE_LISTS_DTYPE
from elolab.engine.search.ordering import reward_cutoff, score_moves
from elolab.engine.search.quiescence import MAX_CORRECTION, corrected_value, learn_correction, locate_corrections
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.parameters import resolve
from elolab.engine.values import INFINITY


def test_pruning_and_reductions_of_chess_save_nodes() -> None:
    game = game_named("chess")

    def nodes(texts: Sequence[str], depth: int, **settings: int) -> int:
        engine, found = Engine("chess", {"exchange_pruning_depth": 0, "lmr_checks": False} | settings), 0
        for text in texts:
            engine.new_game()
            found += engine.search(game.position(text), Limits(depth=depth)).nodes
        return found

    texts = [position.text for position in game.bench_positions]
    assert nodes(texts, 7, reverse_futility_improving=100) < nodes(texts, 7, reverse_futility_improving=0)
    assert nodes(texts, 6, exchange_pruning_depth=4) < nodes(texts, 6)
    queens = ["8/5pk1/6p1/3q4/8/1Q4P1/5PK1/8 w - - 0 1"]  # many checks and answers to them
    assert nodes(queens, 7, lmr_checks=1) < nodes(queens, 7)


@pytest.mark.integration
def test_the_evaluation_is_corrected_by_what_searches_found_with_the_same_pawns() -> None:
    game = game_named("chess")
    start, knight, pawn = (game.position(None, moves).state for moves in ((), ("g1f3", "g8f6"), ("e2e4", "e7e5")))
    alone = {"hash_mb": 1, "correction_history": 50, "correction_pieces": 0, "correction_moves": 0}
    memory = SearchMemory(resolve(alone, game="chess"), None)
    memory.new_game()
    for state in (start, knight, pawn):
        game.kernels.prepare(state, memory.parameters)

    def correction(state: Any) -> int:
        wide = (-INFINITY, INFINITY)
        plain = game.kernels.evaluate(state, 0, *wide) + memory.parameters.tempo
        locate_corrections(state, memory.search, memory.parameters, 0)
        return int(corrected_value(state, memory.search, memory.parameters, *wide, 0)) - int(plain)

    assert correction(start) == 0
    learn_correction(memory.search, memory.parameters, 80, 15, 0)
    # A sixteenth of the way to 80 centipawns, and half of that.
    assert (correction(start), correction(knight), correction(pawn)) == (2, 2, 0)
    locate_corrections(start, memory.search, memory.parameters, 1)
    for _ in range(200):
        learn_correction(memory.search, memory.parameters, 5 * MAX_CORRECTION, 15, 1)
    assert MAX_CORRECTION // 2 - 2 <= correction(start) <= MAX_CORRECTION // 2
    memory.new_game()
    assert correction(start) == 0


@pytest.mark.parametrize(
    ("key", "moves", "same"),
    [
        # The other pieces of one side, and of both sides.
        ("correction_pieces", ("e2e4", "a7a6"), 5),
        ("correction_pieces", ("g1f3", "a7a6"), 2),
        ("correction_pieces", ("g1f3", "g8f6"), 0),
        # The last two moves, after other moves before them; other moves to the same squares.
        ("correction_moves", ("a2a3", "h7h6", "e2e4", "e7e5"), 2),
        ("correction_moves", ("e2e4", "d7d5"), 0),
    ],
)
def test_corrections_of_other_keys_carry_over_where_the_key_is_the_same(
    key: str, moves: tuple[str, ...], same: int
) -> None:
    game = game_named("chess")
    learned = game.position(None, ("e2e4", "e7e5") if key == "correction_moves" else ()).state
    other = game.position(None, moves).state
    only = {"correction_pieces": 0, "correction_moves": 0, key: 50}
    memory = SearchMemory(resolve({"hash_mb": 1, "correction_history": 1} | only, game="chess"), None)
    memory.new_game()
    for state in (learned, other):
        game.kernels.prepare(state, memory.parameters)
    locate_corrections(learned, memory.search, memory.parameters, 0)
    learn_correction(memory.search, memory.parameters, 80, 15, 0)
    locate_corrections(other, memory.search, memory.parameters, 1)
    wide = (-INFINITY, INFINITY)
    plain = game.kernels.evaluate(other, 0, *wide) + memory.parameters.tempo
    # A sixteenth of the way to 80 centipawns, and half of that, 2.5 from each table with the key, rounded down.
    assert int(corrected_value(other, memory.search, memory.parameters, *wide, 1)) - int(plain) == same
    memory.new_game()
    assert corrected_value(other, memory.search, memory.parameters, *wide, 1) == plain


def test_captures_that_cut_are_tried_before_captures_of_the_same_value() -> None:
    game = game_named("chess")
    state = game.position("4k3/8/8/2p3p1/1P5P/8/8/4K3 w - - 0 1").state
    lists = new_record(MOVE_LISTS_DTYPE)
    memory = SearchMemory(resolve({"hash_mb": 1, "capture_history": 800}, game="chess"), None)
    memory.new_game()
    count = int(game.kernels.generate(state, lists, 0))
    moves = [int(move) for move in lists.moves[0, :count]]
    captures = [index for index in range(count) if not game.kernels.is_quiet(state, moves[index])]
    assert len(captures) == 2

    def orders() -> list[int]:
        score_moves(state, memory.search, lists, memory.parameters, 0, count, np.int64(0))
        return [int(lists.order[0, index]) for index in captures]

    first, second = orders()
    assert first == second
    # The second capture cuts after the first, at depth 4: 2048 of 16 384 in history, so 100 of 800 points.
    lists.moves[0, 0], lists.moves[0, 1] = (moves[index] for index in captures)
    reward_cutoff(state, memory.search, lists, memory.parameters, np.int64(lists.moves[0, 1]), np.int64(4), 0, 1)
    lists.moves[0, :count] = moves
    assert orders() == [first - 100, second + 100]
    memory.new_game()
    assert orders() == [first, second]


def test_quiescence_tries_only_the_first_captures() -> None:
    game = game_named("chess")

    def nodes(limit: int) -> int:
        engine = Engine("chess", {"quiescence_moves": limit, "delta_margin": 0})
        return engine.search(
            game.position("r2qk2r/ppp2ppp/2n2n2/2bpp1B1/2BPP1b1/2N2N2/PPP2PPP/R2QK2R w KQkq - 0 1"), Limits(depth=1)
        ).nodes

    assert nodes(1) < nodes(3) < nodes(0) == nodes(100)
