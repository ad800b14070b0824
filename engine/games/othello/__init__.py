"""Othello: rules, evaluation, endgame, notation, and its registration with the search."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from elolab.engine.compiled.kernel import implement
from elolab.engine.games.contract import BenchPosition, EvaluationFitting, Game, Position, check_contract
from elolab.engine.games.othello import endgame, evaluation, notation, perft, position, retracing, rules
from elolab.engine.rules import Adjudication
from elolab.engine.settings.parameters import resolve, to_record

KERNELS: dict[str, Any] = {
    "generate": rules.generate,
    "generate_noisy": rules.generate_noisy,
    "make": position.make,
    "key_after": position.key_after,
    "key_is_quick": position.key_is_quick,
    "unmake": position.unmake,
    "make_null": position.make_null,
    "unmake_null": position.unmake_null,
    "in_check": rules.in_check,
    "gives_check": rules.gives_check,
    "is_quiet": rules.is_quiet,
    "is_pass": rules.is_pass,
    "perft": perft.perft,
    "final_score": rules.final_score,
    "path_verdict": rules.path_verdict,
    "repetition_key": rules.repetition_key,
    "judge": rules.judge,
    "null_move_allowed": rules.null_move_allowed,
    "plies_left": rules.plies_left,
    "evaluate": evaluation.evaluate,
    "prepare": evaluation.prepare,
    "capture_order": evaluation.capture_order,
    "capture_gain": evaluation.capture_gain,
    "loses_material": evaluation.loses_material,
    "history_piece": evaluation.history_piece,
    "material": evaluation.material,
    "piece_count": evaluation.piece_count,
    "past_move": position.past_move,
    "position_key": position.position_key,
    "solvable": endgame.solvable,
    "solve": endgame.solve,
    "best_line": endgame.best_line,
}

check_contract(KERNELS, "othello")
implement("othello", **KERNELS)


class Othello(Game):
    """The game as the arena and the command line see it."""

    name = "othello"
    title = "Othello"
    side_names = ("Black", "White")
    start = notation.START
    default_suite = "othello"
    odds_scale = 775.0
    side_letters = ("X", "O")
    empty_square = "-"
    max_game_plies = position.MAX_GAME
    score_name = "discs"
    score_unit = rules.A_DISC
    adjudication = Adjudication(resign_moves=0)  # a lead in discs may turn until the last move
    position_option = "board"
    state_dtype = position.STATE_DTYPE
    kernels = SimpleNamespace(**KERNELS)
    bench_positions = (
        BenchPosition(notation.START, 10),
        BenchPosition("------------------XX------OOOOO---OOOO----X-OXX----O------------ X", 10),
        # Fourteen empty squares: all variants of the benchmark solve it.
        BenchPosition("--XXXXX--OOOXX-O-OOOXXOX-OXOXOXXOXXXOXXX--XOXOXX-XXXOOO--OOOOO-- X", 20),
        BenchPosition("------O-XXX--O---XXXXXXX--XXOX---OXXOXX-O-O-O----O-O--------O--- X", 10),
        BenchPosition("---O-O-----OO--X--OOO-XX--OOOOOO--OOXXOO---OXOOOXXXXXO-X---OXOO- X", 10),
        BenchPosition("-OOO----X-XO----XXXO-OOOXXXOOO-OOOXOXOOOXOXOXXO-XXXXX-X-XXXXXX-X X", 12),
    )

    @property
    def fitting(self) -> EvaluationFitting:
        """Fitting of the weights of ``evaluation``."""
        from elolab.engine.games.othello.fitting import OthelloFitting

        return OthelloFitting()

    def parse_state(self, text: str) -> Any:
        """A state from a board's text, with the default evaluation's weights; raises ``PositionError``."""
        state = notation.parse_position(text)
        evaluation.prepare(state, _default_parameters())
        return state

    def format_state(self, state: Any) -> str:
        """The board's 64 characters and the side to move."""
        return notation.format_position(state)

    def format_move(self, code: int) -> str:
        """``d3``, or ``pass``."""
        return notation.format_move(code)

    def read_moves(self, position: Position, moves: Sequence[str], ranks: str) -> list[str]:
        """Squares in either case, and any usual word for a pass; raises ``MoveError``."""
        return notation.read_moves(moves)

    def moves_to(self, text: str) -> tuple[str, ...] | None:
        """Moves from the start to a position; see ``retracing.moves_to``."""
        return retracing.moves_to(text)

    def perft(self, position: Position, depth: int, passes: str = "ply") -> int:
        """Leaves ``depth`` plies deep, a finished game being one leaf; see ``Game.perft``."""
        count = perft.perft_with_free_passes if passes == "free" else perft.perft
        return int(count(position.state, position.lists, depth))

    def describe(self, position: Position) -> str:
        """The board as text, rank 1 above."""
        return notation.draw(position.state)


@functools.cache
def _default_parameters() -> Any:
    return to_record(resolve({}, game="othello"))


GAME = Othello()
