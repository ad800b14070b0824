"""Exact solving of a whole position: its score, a best line, and on request the score of every move."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from elolab.engine.engine import Engine, StopFlag
from elolab.engine.errors import UserError
from elolab.engine.games import GAMES, game_named
from elolab.engine.games.contract import Position
from elolab.engine.search.records import END_REASONS, ENDED_AT_DEPTH
from elolab.engine.settings.limits import Limits
from elolab.engine.values import MAX_DEPTH

SETTINGS = {"hash_mb": 256}
"""Settings of the solver that differ from the engine's defaults; users can override them."""
TO_THE_END = {"endgame_empties": 60, "pass_costs_depth": False}
"""Settings with which the solver searches every position to the end of the game, instead of the ordinary search, whose
scores are not exact.

Passes must cost no depth; otherwise the ordinary search would search positions after a pass.
"""

SOLVED = END_REASONS[ENDED_AT_DEPTH]
"""End reason of a search that completed its solution."""


@dataclass(frozen=True)
class Solution:
    """The exact solution of a position. Scores are in the game's own units (discs)."""

    score: int
    """Score from the point of view of the side to move."""
    best_move: str | None
    """A move with the best score; ``None`` if the game is over."""
    line: tuple[str, ...]
    """A line of best moves for both sides, which begins with ``best_move``."""
    nodes: int
    moves: Mapping[str, int] | None
    """Score of every legal move, from the point of view of the side to move; ``None`` if it was not requested."""


class Solver:
    """Solver for positions of one game; ``settings`` override the engine's and affect only the speed."""

    def __init__(self, game: str, settings: Mapping[str, Any], stop: StopFlag) -> None:
        self._game = game_named(game)
        if not self._game.score_unit:
            able = ", ".join(name for name in GAMES if game_named(name).score_unit)
            raise UserError(f"{game} cannot be played out to the end; solve is for {able}")
        self._engine = Engine(game, {**SETTINGS, **settings, **TO_THE_END})
        self._stop = stop
        self._nodes = 0

    def solve(self, position: Position, *, every_move: bool = False) -> Solution:
        """Solve a position exactly; the result is meaningless if the stop flag is set."""
        self._nodes = 0
        self._engine.new_game()
        if not position.move_codes():
            score = int(self._game.kernels.final_score(position.state)) // self._game.score_unit
            return Solution(score, None, (), 0, {} if every_move else None)
        moves = None
        if every_move:
            moves = {move: self._score_after(position, move) for move in position.legal_moves()}
            score = max(moves.values())
        else:
            score = self._score(position)
        line, nodes = self._engine.best_line(position, score * self._game.score_unit)
        return Solution(score, line[0] if line else None, line, self._nodes + nodes, moves)

    def score(self, position: Position) -> int:
        """The exact score without a line; meaningless if the stop flag is set."""
        if not position.move_codes():
            return int(self._game.kernels.final_score(position.state)) // self._game.score_unit
        self._engine.new_game()
        return self._score(position)

    def score_within(self, position: Position, nodes: int) -> int | None:
        """The exact score, or ``None`` if solving takes more than ``nodes`` nodes or the stop flag is set.

        The number of nodes depends on the position and the settings only.
        """
        position, sign = position.copy(), 1
        while len(codes := position.move_codes()) == 1:  # under a limit a search does not think about an only move
            self._game.kernels.make(position.state, codes[0])
            sign = -sign
        if not codes:
            return sign * int(self._game.kernels.final_score(position.state)) // self._game.score_unit
        self._engine.new_game()
        result = self._engine.search(position, Limits(depth=MAX_DEPTH, nodes=nodes), stop=self._stop)
        return sign * result.score // self._game.score_unit if result.ended_by == SOLVED else None

    def _score_after(self, position: Position, move: str) -> int:
        child = position.copy()
        child.push(move)
        if not child.move_codes():
            return -int(self._game.kernels.final_score(child.state)) // self._game.score_unit
        return -self._score(child)

    def _score(self, position: Position) -> int:
        result = self._engine.search(position, Limits(depth=MAX_DEPTH), stop=self._stop)
        self._nodes += result.nodes
        return result.score // self._game.score_unit
