"""A second, tiny complete game for the tests: three piles, take one to three stones from one, who cannot move loses.

It has the compiled contract with a state record of its own and the Python contract, so that everything written once for
all games can be tried on a game that has nothing in common with Xiangqi. The theory is known: the side to move wins if
the piles modulo 4 do not xor to zero.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from elolab.engine.compiled.kernel import jit, new_record
from elolab.engine.games import defaults
from elolab.engine.games.contract import (
    BenchPosition,
    Game,
    MoveError,
    Position,
    PositionError,
    encode_verdict,
    register_game,
)
from elolab.engine.rules import Rules
from elolab.engine.search.driver import think
from elolab.engine.values import MATE, MAX_GAME_PLIES

PILES = 3
MAX_STONES = 15

STATE_DTYPE = np.dtype(
    [
        ("takeaway", np.int64),  # the marker
        ("side", np.uint8),
        ("ply", np.uint16),
        ("key", np.uint64),
        ("piles", np.int64, (PILES,)),
        ("undo_move", np.int32, (MAX_GAME_PLIES,)),
    ],
    align=True,
)

_LOST = (encode_verdict("0-1", "stalemate"), encode_verdict("1-0", "stalemate"))
_OPEN = encode_verdict("*", "unfinished")


_KEYS = np.array(
    [[pow(31, 16 * pile + stones + 1, (1 << 61) - 1) for stones in range(MAX_STONES + 1)] for pile in range(PILES)],
    np.uint64,
)
_SIDE_KEY = np.uint64(0x5DEECE66D1234567)


@jit
def position_key(state):
    """A hash of piles and side to move."""
    key = _KEYS[0, state.piles[0]] ^ _KEYS[1, state.piles[1]] ^ _KEYS[2, state.piles[2]]
    return key ^ _SIDE_KEY if state.side != 0 else key


@jit
def generate(state, lists, row):
    """Take ``stones`` from ``pile``: pile + 1 + 4 * stones."""
    count = 0
    for pile in range(PILES):
        for stones in range(1, 4):
            if stones <= state.piles[pile]:
                lists.moves[row, count] = pile + 1 + 4 * stones
                count += 1
    return count


@jit
def generate_noisy(state, lists, row):
    """The moves that empty a pile."""
    count = 0
    for pile in range(PILES):
        if 1 <= state.piles[pile] <= 3:
            lists.moves[row, count] = pile + 1 + 4 * state.piles[pile]
            count += 1
    return count


@jit
def make(state, move):
    """Play a move."""
    state.undo_move[state.ply] = move
    state.piles[(move & 3) - 1] -= move >> 2
    state.side = 1 - state.side
    state.ply += 1
    state.key = position_key(state)


@jit
def key_after(state, move):
    make(state, move)
    key = state.key
    unmake(state)
    return key


@jit
def unmake(state):
    """Take back the last move."""
    state.ply -= 1
    move = np.int64(state.undo_move[state.ply])
    state.piles[(move & 3) - 1] += move >> 2
    state.side = 1 - state.side
    state.key = position_key(state)


@jit
def make_null(state):
    """Skip the turn."""
    state.undo_move[state.ply] = 0
    state.ply += 1
    state.side = 1 - state.side
    state.key = position_key(state)


@jit
def unmake_null(state):
    """Take back a skipped turn."""
    state.ply -= 1
    state.side = 1 - state.side
    state.key = position_key(state)


@jit
def final_score(state):
    """Who cannot move has lost."""
    return -MATE


@jit
def evaluate(state, cache, alpha, beta):
    """Something odd and even, so that the search has values to compare: the stones left."""
    return (state.piles[0] + state.piles[1] + state.piles[2]) & 3


@jit
def prepare(state, parameters):
    """Nothing is kept incrementally."""


@jit
def is_quiet(state, move):
    """Whether a move leaves stones on its pile."""
    return state.piles[(move & 3) - 1] != move >> 2


@jit
def capture_order(state, move):
    """The stones taken."""
    return np.int64(move >> 2)


@jit
def capture_gain(state, move):
    return 0


@jit
def loses_material(state, move):
    """There is nothing to lose."""
    return False


@jit
def history_piece(state, move):
    """The pile."""
    return np.int64((move & 3) - 1)


@jit
def judge(state, lists):
    """Open until there are no stones."""
    return _LOST[state.side] if state.piles.sum() == 0 else _OPEN


@jit
def plies_left(state):
    """A stone at a time, and one ply more, to see that nothing is left."""
    return np.int64(state.piles.sum()) + 1


@jit
def null_move_allowed(state):
    """Skipping a turn is often best here, so that null moves prove nothing."""
    return False


@jit
def material(state):
    """Stones."""
    return np.int64(state.piles.sum())


@jit
def piece_count(state):
    """Piles that have stones."""
    return np.int64((state.piles > 0).sum())


@jit
def past_move(state, ply):
    """The move made at a ply; 0 for a skipped turn."""
    return np.int64(state.undo_move[ply])


@jit
def perft(state, lists, depth):
    """Leaves of the tree."""
    if depth == 0:
        return 1
    leaves = 0
    for index in range(generate(state, lists, depth)):
        make(state, np.int64(lists.moves[depth, index]))
        leaves += perft(state, lists, depth - 1)
        unmake(state)
    return leaves


@jit
def think_both(one, one_search, one_parameters, other, other_search, other_parameters, lists):
    """One compiled function over two games: the sum of a search of each."""
    first = think(one, one_search, lists, one_parameters)
    second = think(other, other_search, lists, other_parameters)
    return first * 100_000 + second


class TakeAway(Game):
    """The game as tests see it; positions are ``3-4-5 w``, moves ``b2`` (two stones from the second pile)."""

    name = "takeaway"
    title = "Take-away"
    side_names = ("White", "Black")
    start = "3-4-5 w"
    default_suite = "takeaway"
    max_game_plies = 64
    state_dtype = STATE_DTYPE
    kernels = register_game("takeaway", defaults, sys.modules[__name__])
    bench_positions = (BenchPosition("3-4-5 w", 8),)

    def parse_state(self, text: str) -> Any:
        """Piles and side."""
        try:
            piles, side = text.split()
            stones = [int(pile) for pile in piles.split("-")]
        except ValueError:
            raise PositionError(f"cannot read {text!r}, expected for instance 3-4-5 w") from None
        if len(stones) != PILES or side not in ("w", "b") or not all(0 <= pile <= MAX_STONES for pile in stones):
            raise PositionError(f"{text!r}: expected three piles of 0 to {MAX_STONES} stones and w or b")
        state = new_record(STATE_DTYPE)
        state.piles[:] = stones
        state.side = int(side == "b")
        state.key = position_key(state)
        return state

    def format_state(self, state: Any) -> str:
        """Piles and side."""
        return "-".join(str(int(pile)) for pile in state.piles) + (" b" if state.side else " w")

    def format_move(self, code: int) -> str:
        """Pile and stones."""
        if not code & 3 > 0:
            raise MoveError(f"no move {code}")
        return "abc"[(code & 3) - 1] + str(code >> 2)

    def read_moves(self, position: Position, moves: Sequence[str], ranks: str) -> list[str]:
        """The moves as they are."""
        return list(moves)

    def describe(self, position: Position) -> str:
        """The position's text."""
        return position.text

    def apply_rules(self, state: Any, rules: Rules) -> None:
        """No rule of the arbiter applies."""


GAME = TakeAway()
