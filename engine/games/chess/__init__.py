"""Chess and Chess960: rules, evaluation, notation, and their registration with the search."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from elolab.engine.games import algebraic, defaults
from elolab.engine.games.chess import captures, evaluation, moves, notation, position, rules
from elolab.engine.games.contract import BenchPosition, Game, Position, register_game
from elolab.engine.rules import Adjudication, Rules
from elolab.engine.values import MAX_GAME_PLIES, MAX_PLY


class Chess(Game):
    """Chess as a ``Game``, the interface of all games."""

    name = "chess"
    title = "Chess"
    side_names = ("White", "Black")
    start = notation.START
    default_suite = "chess"
    side_letters = ("w", "b")
    ranks = "87654321"
    stalemate = "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"
    standard_rules = Rules(repetition="draw", move_limit=100)
    odds_scale = 226.0
    max_game_plies = MAX_GAME_PLIES - MAX_PLY - 2
    notation = notation
    move_names = algebraic
    has_tablebases = True
    encodings = ("cp1252", "latin-1")
    variants = (
        "chess", "standard", "normal", "classical", "from position", "chess960", "chess 960", "960", "fischerandom",
        "fischerrandom", "fischer random", "freestyle", "frc", "dfrc",
    )  # fmt: skip
    state_dtype = position.STATE_DTYPE
    kernels = register_game("chess", defaults, captures, evaluation, moves, position, rules)
    bench_positions = (
        BenchPosition(notation.START, 10),
        BenchPosition("r2q1rk1/pp2ppbp/2np1np1/8/3NP1b1/2N1BP2/PPPQ2PP/R3KB1R w KQ - 0 10", 9),
        BenchPosition("r1bqkb1r/pp3ppp/2n1pn2/2pp4/3P4/2PBPN2/PP3PPP/RNBQ1RK1 b kq - 1 7", 9),
        BenchPosition("8/5pk1/3p2p1/1P1Pp2p/4P2P/5KP1/8/8 w - - 0 40", 14),
        BenchPosition("r4rk1/1p3ppp/p1n1b3/3p4/3N1P2/P1R1P3/1P2B1PP/5RK1 b - - 3 20", 10),
        BenchPosition("2r3k1/5pp1/p3p2p/1p1bP3/3N1q2/P4P2/1PQ3PP/4R1K1 w - - 0 28", 9),
        # Positions with a mate to find, a mate to avert, promotions, and a lone king to be mated.
        BenchPosition("6k1/5ppp/2q5/8/8/8/1Q3PPP/3R2K1 w - - 0 1", 8),
        BenchPosition("5rk1/5ppp/8/6N1/2q5/8/1B3PPP/5QK1 b - - 0 1", 8),
        BenchPosition("8/P2k4/8/2n5/8/8/p4K2/8 w - - 0 1", 11),
        BenchPosition("8/8/3k4/8/8/8/4K3/2R5 w - - 0 1", 10),
    )

    def apply_rules(self, state: Any, rules: Rules) -> None:
        state.fold = rules.fold
        state.move_limit = rules.move_limit
        state.insufficient = int(rules.insufficient)

    def pgn_tags(self, start: str) -> dict[str, str]:
        """The tag ``Variant`` for a game whose start position has Chess960 castling rights; other games need no tag."""
        return {"Variant": "Chess960"} if notation.is_chess960(self.parse_state(start)) else {}

    def draw_after_ply(self, adjudication: Adjudication, state: Any) -> int:
        """Number of plies, from the start of play, before moves count towards a draw by adjudication.

        The setting ``draw_after_ply`` counts by the FEN's move number, as in fastchess.
        """
        return max(0, adjudication.draw_after_ply - int(state.first_ply) - int(state.ply))

    def move_style(self, state: Any) -> str:
        """``chess960`` if a state has castling rights that standard chess does not allow, else ``standard``."""
        return algebraic.style_of(state)

    def has_one_meaning(self, word: str) -> bool:
        """Whether a move's text cannot be castling, so that it means the same move in every position."""
        return not algebraic.may_castle(word)

    def write_position(self, text: str, style: str) -> str:
        return algebraic.write_position(text, style)

    def write_moves(self, position: Callable[[], Position], moves: Sequence[str], style: str) -> list[str]:
        return algebraic.write_moves(position, moves, style)

    def rule_messages(self, rules: Rules) -> tuple[tuple[str, dict[str, Any]], ...]:
        return (
            ("rules.repetition", {"fold": rules.fold}),
            ("rules.move_limit" if rules.move_limit else "rules.no_move_limit", {"plies": rules.move_limit}),
            ("rules.insufficient" if rules.insufficient else "rules.no_insufficient", {}),
        )

    def supports_draw_claim(self, position: Position, rules: Rules) -> bool:
        """Whether the standard rules give a draw, or a player may claim one: 50 moves or threefold repetition."""
        ending = position.copy().judge(self.standard_rules)
        return ending is not None and ending.result == "1/2-1/2"


GAME = Chess()
