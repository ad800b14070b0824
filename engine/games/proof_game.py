"""Proof games: sequences of moves that lead from the start of a game to a given position.

The search deepens iteratively over the number of moves, not counting passes. It prunes by each game's
``moves_missing``, a lower bound of the number of moves still needed. The search is quick for opening positions, and
gives up on positions from the middle game.
"""

from __future__ import annotations

import functools
from typing import Any

from elolab.engine.compiled.kernel import new_record
from elolab.engine.games import game_named
from elolab.engine.games.contract import ENDLESS, MOVE_LISTS_DTYPE, Position

MAX_MOVES = 16
"""Maximum length of a proof game, in plies, for games of unlimited length."""
MAX_POSITIONS = 60_000
"""Number of positions after which the search gives up. Searching so many positions takes a few seconds."""


@functools.lru_cache(maxsize=4096)
def proof_game(name: str, text: str) -> tuple[str, ...] | None:
    """Moves, passes included, from the start of the game to a position; ``None`` if the search finds none.

    ``name`` is the name of the game, and ``text`` the text of the position. Raises ``PositionError`` for an invalid
    text.
    """
    game = game_named(name)
    target, start = game.position(text), game.position()
    fewest = game.moves_missing(start.state, target.state)
    if fewest is None:
        return None
    longest, step = fewest, 1
    if game.kernels.plies_left(start.state) == ENDLESS:
        fewest += (fewest + target.side_to_move) & 1  # sides alternate: the side to move gives the parity
        longest, step = MAX_MOVES, 2
    search = _Search(target)
    for moves in range(fewest, longest + 1, step):
        if search.reach(start.state, moves):
            return tuple(search.path)
    return None


class _Search:
    """Iterative-deepening search for a game that ends in the target position."""

    def __init__(self, target: Position) -> None:
        self.path: list[str] = []
        self._game, self._target = target.game, target.state
        self._lists = new_record(MOVE_LISTS_DTYPE)
        self._positions = 0
        self._failed: set[tuple[int, int, int]] = set()

    def reach(self, state: Any, left: int) -> bool:
        """Whether the target can be reached from ``state`` with at most ``left`` more moves, not counting passes.

        If so, appends these moves, passes included, to ``path``, and makes them in ``state``.
        """
        missing = self._game.moves_missing(state, self._target)
        if missing is None or missing > left:
            return False
        if missing == 0 and state.side == self._target.side:
            return True
        visited = (int(state.key), int(state.side), left)
        if visited in self._failed or self._positions >= MAX_POSITIONS:
            return False
        self._positions += 1
        kernels, row = self._game.kernels, len(self.path)
        count = kernels.generate(state, self._lists, row)
        for move in self._lists.moves[row, :count].tolist():
            costs = not kernels.is_pass(state, move)
            kernels.make(state, move)
            self.path.append(self._game.format_move(move))
            if self.reach(state, left - costs):
                return True
            self.path.pop()
            kernels.unmake(state)
        self._failed.add(visited)
        return False
