"""Othello: rules, evaluation, endgame, notation, and its registration with the search."""

from __future__ import annotations

import functools
from typing import Any

from elolab.engine.games import defaults
from elolab.engine.games.contract import BenchPosition, Game, Position, register_game
from elolab.engine.games.othello import endgame, evaluation, notation, perft, position, rules
from elolab.engine.rules import Adjudication
from elolab.engine.settings.parameters import resolve, to_record


class Othello(Game):
    """Othello as a ``Game``, the interface of all games."""

    name = "othello"
    title = "Othello"
    side_names = ("Black", "White")
    start = notation.START
    default_suite = "othello"
    odds_scale = 775.0
    side_letters = ("X", "O")
    empty_square = "-"
    ranks = "12345678"
    max_game_plies = position.MAX_GAME
    has_passes = True
    score_name = "discs"
    score_unit = rules.A_DISC
    adjudication = Adjudication(resign_moves=0)  # a lead in discs may turn until the last move
    position_option = "board"
    notation = notation
    state_dtype = position.STATE_DTYPE
    kernels = register_game("othello", defaults, endgame, evaluation, perft, position, rules)
    bench_positions = (
        BenchPosition(notation.START, 10),
        BenchPosition("------------------XX------OOOOO---OOOO----X-OXX----O------------ X", 10),
        # Fourteen empty squares: all variants of the benchmark solve it.
        BenchPosition("--XXXXX--OOOXX-O-OOOXXOX-OXOXOXXOXXXOXXX--XOXOXX-XXXOOO--OOOOO-- X", 20),
        BenchPosition("------O-XXX--O---XXXXXXX--XXOX---OXXOXX-O-O-O----O-O--------O--- X", 10),
        BenchPosition("---O-O-----OO--X--OOO-XX--OOOOOO--OOXXOO---OXOOOXXXXXO-X---OXOO- X", 10),
        BenchPosition("-OOO----X-XO----XXXO-OOOXXXOOO-OOOXOXOOOXOXOXXO-XXXXX-X-XXXXXX-X X", 12),
    )

    def parse_state(self, text: str) -> Any:
        """Create a state from a board's text, with the default evaluation's weights. Raises ``PositionError``."""
        state = super().parse_state(text)
        evaluation.prepare(state, _default_parameters())
        return state

    def moves_missing(self, state: Any, target: Any) -> int | None:
        """Number of moves, without passes, from a state to a target: the number of discs that must be added.

        ``None`` if the target cannot be reached.
        """
        occupied, wanted = (int(one.discs[0] | one.discs[1]) for one in (state, target))
        if occupied & ~wanted or (occupied == wanted and (state.discs != target.discs).any()):
            return None
        return (wanted ^ occupied).bit_count()

    def perft(self, position: Position, depth: int, passes: str = "ply") -> int:
        """Perft that counts a finished game as one leaf; see ``Game.perft``."""
        return int(perft.perft_of_passes(position.state, depth, int(passes != "free")))


@functools.cache
def _default_parameters() -> Any:
    return to_record(resolve({}, game="othello"))


GAME = Othello()
