"""Chess and Chess960: rules, evaluation, notation, and their registration with the search."""

from __future__ import annotations

from typing import Any

from elolab.engine.games.chess import captures, evaluation, move_names, moves, notation, position, rules
from elolab.engine.games.contract import BenchPosition, Game, register_game
from elolab.engine.rules import Rules
from elolab.engine.values import MAX_GAME_PLIES, MAX_PLY


class Chess(Game):
    """Chess's implementation of ``Game``."""

    name = "chess"
    title = "Chess"
    side_names = ("White", "Black")
    start = notation.START
    ranks = "87654321"
    stalemate = "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"
    default_suite = "chess"
    side_letters = ("w", "b")
    ranks = "87654321"
    stalemate = "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"
    standard_rules = Rules(repetition="draw", move_limit=100)
    odds_scale = 300.0
    max_game_plies = MAX_GAME_PLIES - MAX_PLY - 2
    notation = notation
    move_names = move_names
    encodings = ("cp1252", "latin-1")
    variants = (
        "chess", "standard", "normal", "classical", "from position", "chess960", "chess 960", "960", "fischerandom",
        "fischerrandom", "fischer random", "freestyle", "frc", "dfrc",
    )  # fmt: skip
    state_dtype = position.STATE_DTYPE
    kernels = register_game("chess", captures, evaluation, moves, position, rules)
    bench_positions = (BenchPosition(notation.START, 9),)

    def apply_rules(self, state: Any, rules: Rules) -> None:
        """Store the rules in a state, in place."""
        state.fold = rules.fold
        state.move_limit = rules.move_limit
        state.insufficient = int(rules.insufficient)

    def pgn_tags(self, start: str) -> dict[str, str]:
        """The tag ``Variant`` of a game that begins with castling as in Chess960; other games need no tag."""
        return {"Variant": "Chess960"} if notation.is_chess960(self.parse_state(start)) else {}

    def rule_messages(self, rules: Rules) -> tuple[tuple[str, dict[str, Any]], ...]:
        """Descriptions of the rules of repetition, move limit and insufficient material; see ``Game.rule_messages``."""
        return (
            ("rules.repetition", {"fold": rules.fold}),
            ("rules.move_limit" if rules.move_limit else "rules.no_move_limit", {"plies": rules.move_limit}),
            ("rules.insufficient" if rules.insufficient else "rules.no_insufficient", {}),
        )


GAME = Chess()
