"""Xiangqi (Chinese chess): rules, evaluation, notation, and its registration with the search."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from elolab.engine.games import defaults
from elolab.engine.games.contract import BenchPosition, Game, Position, register_game
from elolab.engine.games.xiangqi import distances, evaluation, move_names, moves, notation, position, rules
from elolab.engine.rules import REPETITION_RULES, Rules
from elolab.engine.values import MAX_GAME_PLIES, MAX_PLY

USUAL_MOVE_LIMIT = 100
"""Number of plies without a capture, checks included, after which many other programs declare a draw."""


class Xiangqi(Game):
    """Xiangqi as a ``Game``, the interface of all games."""

    name = "xiangqi"
    title = "Chinese Chess"
    side_names = ("Red", "Black")
    start = notation.START
    ranks = "9876543210"
    coloured_side = 0
    stalemate = "3k5/4P4/9/9/9/9/9/9/9/4K4 b - - 0 1"
    default_suite = "xiangqi"
    odds_scale = 450.0
    max_game_plies = MAX_GAME_PLIES - MAX_PLY - 2
    move_names = move_names
    notation = notation
    state_dtype = position.STATE_DTYPE
    kernels = register_game("xiangqi", defaults, evaluation, moves, position, rules)
    bench_positions = (
        BenchPosition(notation.START, 9),
        BenchPosition("r1bakab1r/9/1cn2cn2/p1p1p1p1p/9/2P6/P3P1P1P/1C2C1N2/9/RNBAKABR1 w - - 0 5", 9),
        BenchPosition("r2akab1r/3n5/4b3n/p1p1pRp1p/9/2P3P2/P3P3c/N2C3C1/4A4/1RBAK1B2 w - - 0 13", 9),
        BenchPosition("1r2kab1r/2c1a4/n1c1b1n2/4p2N1/p1p6/1C4P2/P1P1P4/2N1B3C/4A4/1RBAK2R1 w - - 0 1", 9),
        BenchPosition("3ak4/4a4/4P4/2P3P2/9/9/2p3p2/4p4/4A4/3AK4 w - - 0 1", 12),
        BenchPosition("2bakab2/9/c7c/1C5C1/p1p1p1p1p/P1P1P1P1P/9/9/9/2BAKAB2 b - - 0 1", 10),
        # Positions with mate threats, a mate to find, mates to avert, and a side without attackers.
        BenchPosition("4ka3/4a4/bC7/p3n3p/6R2/P3p3P/9/2r1B4/4A4/3AK1B2 w - - 0 1", 10),
        BenchPosition("4k4/9/9/9/9/9/9/R8/1R7/3K5 w - - 0 1", 9),
        BenchPosition("1r3k3/9/2N6/9/2r6/9/9/2n5R/9/3K5 w - - 0 1", 9),
        BenchPosition("3ak4/9/4b4/9/9/8p/4P4/9/4A4/3K1A3 w - - 0 1", 12),
    )

    def apply_rules(self, state: Any, rules: Rules) -> None:
        state.repetition = REPETITION_RULES.index(rules.repetition)
        state.fold = rules.fold
        state.move_limit = rules.move_limit
        state.insufficient = int(rules.insufficient)

    def rule_messages(self, rules: Rules) -> tuple[tuple[str, dict[str, Any]], ...]:
        """Descriptions of the rules of repetition, move limit and insufficient material; see ``Game.rule_messages``."""
        return (
            ("rules.repetition", {"repetition": rules.repetition, "fold": rules.fold}),
            ("rules.move_limit" if rules.move_limit else "rules.no_move_limit", {"plies": rules.move_limit}),
            ("rules.insufficient" if rules.insufficient else "rules.no_insufficient", {}),
        )

    def write_moves(self, position: Callable[[], Position], moves: Sequence[str], style: str) -> list[str]:
        """Convert moves from the game's notation to a style: ``1`` numbers the ranks from 1, any other style from 0."""
        return [notation.shift_ranks(move, 1) for move in moves] if style == "1" else list(moves)

    def supports_draw_claim(self, position: Position, rules: Rules) -> bool:
        """Whether other programs may consider the position a draw.

        True after ``USUAL_MOVE_LIMIT`` plies without a capture, at the third occurrence of a position, and if no side
        has an attacking piece.
        """
        if position.state.quiet >= min(USUAL_MOVE_LIMIT, rules.move_limit or USUAL_MOVE_LIMIT):
            return True
        ending = position.copy().judge(Rules(repetition="draw"))
        return ending is not None and ending.result == "1/2-1/2"

    def moves_missing(self, state: Any, target: Any) -> int | None:
        return distances.moves_missing(state, target)


GAME = Xiangqi()
