"""The interface that every game implements for the search, the arena and the command line.

It has two halves. The *compiled contract* is the list of stubs below: each game registers functions of the same names
under the marker of its state record, and the search calls them without knowing the game. The *Python contract* is
``Game`` and ``Position``: positions and moves as text, legal moves, and the arbiter's verdict.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from elolab.engine.compiled.kernel import announce_compilation, game_stub, implement, new_record
from elolab.engine.errors import UserError
from elolab.engine.rules import REASONS, RESULTS, Adjudication, Ending, Rules
from elolab.engine.settings.parameters import Value
from elolab.engine.values import MAX_MOVES, MAX_PLY

MOVE_LISTS_DTYPE = np.dtype(
    [
        ("moves", np.int32, (MAX_PLY + 2, MAX_MOVES)),  # one row a ply
        ("order", np.int32, (MAX_PLY + 2, MAX_MOVES)),  # their ordering scores
    ]
)
"""Move lists of all plies of a search tree, one row a ply; one record serves one search."""

ENDLESS = 1 << 20
"""Value of ``plies_left`` in games without a bounded length."""

# Codes of ``path_verdict``, the view of the side to move.
PATH_OPEN, PATH_DRAW, PATH_LOSS, PATH_WIN = range(4)


@game_stub
def generate(state, lists, row):  # type: ignore[no-untyped-def]
    """Write every legal move into ``lists.moves[row]``; return their number (0: the game is over)."""


@game_stub
def generate_noisy(state, lists, row):  # type: ignore[no-untyped-def]
    """Write the legal moves that quiescence tries (captures) into ``lists.moves[row]``; return their number."""


@game_stub
def make(state, move):  # type: ignore[no-untyped-def]
    """Play a legal move (int64)."""


@game_stub
def key_after(state, move):  # type: ignore[no-untyped-def]
    """The hash of the position after a move, computed before the move is made."""


@game_stub
def key_is_quick(state):  # type: ignore[no-untyped-def]
    """Whether ``key_after`` is much cheaper than making the move: a constant of each game."""


@game_stub
def unmake(state):  # type: ignore[no-untyped-def]
    """Take back the last move."""


@game_stub
def make_null(state):  # type: ignore[no-untyped-def]
    """Skip the turn; the side to move must not be in check."""


@game_stub
def unmake_null(state):  # type: ignore[no-untyped-def]
    """Take back a skipped turn."""


@game_stub
def in_check(state):  # type: ignore[no-untyped-def]
    """Whether the side to move must answer a threat to lose at once."""


@game_stub
def gives_check(state, move):  # type: ignore[no-untyped-def]
    """Whether the other side is ``in_check`` after a legal move."""


@game_stub
def final_score(state):  # type: ignore[no-untyped-def]
    """Score of a position without legal moves, the side to move's view, at the root (``-MATE`` if that is a loss)."""


@game_stub
def plies_left(state):  # type: ignore[no-untyped-def]
    """Most plies until the game ends, which bounds the search's depth; ``ENDLESS`` if there is no such bound."""


@game_stub
def solvable(state, parameters, depth):  # type: ignore[no-untyped-def]
    """Whether ``solve`` should replace the search of a node of this ``depth``."""


@game_stub
def solve(state, search, lists, parameters, alpha, beta, ply):  # type: ignore[no-untyped-def]
    """Exact value of a position for the side to move; a bound outside (alpha, beta).

    It may use the table and the rows of ``lists`` from ``ply`` on, and counts its nodes with
    ``engine.search.clock.spend_nodes``. The value is meaningless once ``search.stopped`` is set.
    """


@game_stub
def evaluate(state, cache, alpha, beta):  # type: ignore[no-untyped-def]
    """Static evaluation in centipawns, the side to move's view (without tempo).

    ``cache`` is the address of an ``engine.games.evaluation_cache`` that a game may use, or 0.

    A value at or below alpha may be an upper bound, one at or above beta a lower bound of the evaluation.
    If finished games can have scores other than mate, the evaluation of a finished game is exact.
    """


@game_stub
def prepare(state, parameters):  # type: ignore[no-untyped-def]
    """Load the evaluation's settings from ``parameters`` into the state and recompute its incremental sums."""


@game_stub
def is_quiet(state, move):  # type: ignore[no-untyped-def]
    """Whether a move changes no material."""


@game_stub
def is_pass(state, move):  # type: ignore[no-untyped-def]
    """Whether a legal move is a pass, which may be searched without losing depth."""


@game_stub
def capture_order(state, move):  # type: ignore[no-untyped-def]
    """Ordering score, at least 0, of a move that is not quiet: most valuable victim, then least valuable attacker."""


@game_stub
def capture_gain(state, move):  # type: ignore[no-untyped-def]
    """Upper bound of the centipawns that a move that is not quiet wins immediately."""


@game_stub
def loses_material(state, move):  # type: ignore[no-untyped-def]
    """Whether a move that is not quiet loses material by static exchange evaluation."""


@game_stub
def history_piece(state, move):  # type: ignore[no-untyped-def]
    """A small number (0 to 31) for the moving piece's type and side."""


@game_stub
def path_verdict(state, root):  # type: ignore[no-untyped-def]
    """Verdict of the path to this position (repetition, move limit, material): a ``PATH_`` code.

    ``root`` is the ply of the search's root. A position from within the tree is judged at its first repetition, one
    from the game's history by the arbiter's rule.
    """


@game_stub
def repetition_key(state):  # type: ignore[no-untyped-def]
    """Hash (uint64) of the game's positions that the arbiter judges if they occur once more; 0 if there are none."""


@game_stub
def judge(state, lists):  # type: ignore[no-untyped-def]
    """The arbiter's verdict: result code + 4 * reason code (of ``engine.rules``); 3 ("*") if the game is not over."""


@game_stub
def best_line(state, search, lists, parameters, score):  # type: ignore[no-untyped-def]
    """Write a best line of the position into line 0 of the search's results; ``score`` is its exact score."""


@game_stub
def null_move_allowed(state):  # type: ignore[no-untyped-def]
    """Whether the side to move has attacking pieces; without them a null move proves nothing."""


@game_stub
def material(state):  # type: ignore[no-untyped-def]
    """Material of the side to move in centipawns."""


@game_stub
def position_key(state):  # type: ignore[no-untyped-def]
    """The hash of the position (uint64), computed from scratch; ``state.key`` must equal it."""


@game_stub
def piece_count(state):  # type: ignore[no-untyped-def]
    """Pieces of both sides on the board."""


@game_stub
def past_move(state, ply):  # type: ignore[no-untyped-def]
    """The move made at a ply of the state (``state.ply`` before it was made); 0 for a skipped turn."""


@game_stub
def perft(state, lists, depth):  # type: ignore[no-untyped-def]
    """Number of leaves ``depth`` plies deep."""


COMPILED_CONTRACT = (
    "generate", "generate_noisy", "make", "key_after", "key_is_quick", "unmake", "make_null", "unmake_null", "in_check",
    "gives_check", "final_score", "evaluate", "prepare", "is_quiet", "capture_order", "capture_gain",
    "loses_material", "history_piece", "is_pass", "plies_left", "solvable", "solve", "best_line",
    "path_verdict", "repetition_key", "judge", "null_move_allowed", "material", "position_key",
    "piece_count", "past_move", "perft",
)  # fmt: skip
"""The stubs a game must implement."""


def register_game(marker: str, *modules: Any) -> SimpleNamespace:
    """Register a game's compiled functions, which have the names of the stubs, and return them by name.

    ``marker`` is the first field of the game's state record, ``modules`` define the functions. Raises ``TypeError``
    for missing ones.
    """
    found = {name: getattr(module, name) for module in modules for name in COMPILED_CONTRACT if hasattr(module, name)}
    if missing := [name for name in COMPILED_CONTRACT if name not in found]:
        raise TypeError(f"game {marker} lacks {', '.join(missing)}")
    implement(marker, **found)
    return SimpleNamespace(**found)


class PositionError(UserError):
    """A text that is not a legal position; the message names the place of the mistake."""


class MoveError(UserError):
    """An unreadable or illegal move; the message names the move and the position."""


class Position:
    """A position of a game with the moves that led to it; owns the compiled state.

    Created by ``Game.position``. Moves are the game's protocol notation (ICCS in Xiangqi: ``h2e2``).
    """

    def __init__(self, game: Game, state: Any, start: str) -> None:
        self.game = game
        self.state = state
        self.start = start
        """Text of the position before the first of ``moves``."""
        self.moves: list[str] = []
        """Moves pushed so far."""
        self.lists = new_record(MOVE_LISTS_DTYPE)

    @property
    def text(self) -> str:
        """Canonical text of the position (a FEN in Xiangqi)."""
        return self.game.format_state(self.state)

    @property
    def side_to_move(self) -> int:
        """0 for the colour that moves first in the game (Red), 1 for the other."""
        return int(self.state.side)

    @property
    def ply(self) -> int:
        """Moves pushed so far."""
        return len(self.moves)

    @property
    def in_check(self) -> bool:
        """Whether the side to move is in check."""
        return bool(self.game.kernels.in_check(self.state))

    def move_codes(self) -> list[int]:
        """The legal moves as the kernels number them."""
        count = int(self.game.kernels.generate(self.state, self.lists, 0))
        return [int(code) for code in self.lists.moves[0, :count]]

    def legal_moves(self) -> list[str]:
        """The legal moves in protocol notation."""
        return [self.game.format_move(code) for code in self.move_codes()]

    @property
    def after_moves(self) -> str:
        """Words for error messages, such as ``after 3 moves``."""
        return f"after {self.ply} move{'' if self.ply == 1 else 's'}"

    def code_of(self, move: str) -> int:
        """The kernels' number of a legal move; raises ``MoveError``."""
        codes = {self.game.format_move(code): code for code in self.move_codes()}
        if move not in codes:
            raise MoveError(f"illegal move {move!r} {self.after_moves} in position {self.text!r}")
        return codes[move]

    def check_room(self) -> None:
        """Raise ``MoveError`` if the state has no room for another move."""
        if self.ply >= self.game.max_game_plies:
            raise MoveError(f"the game is longer than {self.game.max_game_plies} plies")

    def push(self, move: str) -> None:
        """Play a move; raises ``MoveError`` if it is not legal or the state has no room for it."""
        code = self.code_of(move)
        self.check_room()
        # Records whether this position is a check, for the move limit.
        self.game.kernels.in_check(self.state)
        self.game.kernels.make(self.state, code)
        self.game.kernels.in_check(self.state)
        self.moves.append(move)

    def judge(self, rules: Rules) -> Ending | None:
        """The arbiter's verdict under ``rules``; ``None`` if the game is not over."""
        self.game.apply_rules(self.state, rules)
        verdict = int(self.game.kernels.judge(self.state, self.lists))
        ending = decode_verdict(verdict)
        return None if ending.result == "*" else ending

    def copy(self) -> Position:
        """An independent copy."""
        twin = Position(self.game, self.state.copy(), self.start)
        twin.moves = list(self.moves)
        return twin


def decode_verdict(verdict: int) -> Ending:
    """The ending for a code returned by ``judge``."""
    return Ending(RESULTS[verdict & 3], REASONS[verdict >> 2])


def encode_verdict(result: str, reason: str) -> int:
    """The ``judge`` code of an ending, for constants of compiled code."""
    return RESULTS.index(result) + 4 * REASONS.index(reason)


@dataclass(frozen=True)
class BenchPosition:
    """A position of the benchmark and its search depth in plies."""

    text: str
    depth: int


class EvaluationFitting(ABC):
    """The interface of ``elolab fit-evaluation`` to a game whose evaluation is a weighted sum of features.

    A position is a row of ``words`` uint64, from the side to move's view. A *linear* regression predicts the game's own
    score, exact near the end of the game; a *logistic* one predicts the winner.
    """

    parameter: str
    """The setting that names the file of weights."""
    features: tuple[str, ...]
    words: int
    regression: str
    """``linear`` or ``logistic``."""
    phases: int
    """Rows of weights: the default for a linear regression, fixed for a logistic one."""
    self_play: Mapping[str, Value]
    """Settings of the self-play games that differ from the defaults, to save time."""
    self_play_limit: str
    """Default limit of a move in the self-play games."""
    opening_plies: tuple[int, int]
    """Minimum and maximum number of random plies at the start of a self-play game, for variety."""
    adjudication: Adjudication
    """Adjudication of the self-play games."""
    # Linear regression only.
    unit: int = 1
    """Evaluation points per point of the game's own score."""
    solved_steps: int = 0
    """First step (of ``engine.settings.weights.STEPS``) whose positions are solved for exact results."""
    # Logistic regression only.
    odds_scale: float = 1.0
    """Evaluation points that multiply the odds of winning by e; sets the scale of the weights."""
    groups: tuple[tuple[int, ...], ...] = ()
    """Groups of features whose weights should move together, such as one piece type's squares."""

    @abstractmethod
    def rows_of_game(self, start: str, moves: Sequence[str]) -> np.ndarray:
        """The position before each of the legal moves and the last one: uint64 of shape (moves + 1, words)."""

    @abstractmethod
    def usable(self, rows: np.ndarray) -> np.ndarray:
        """Mask (n,) of a game's rows that are fit for regression."""

    @abstractmethod
    def survey(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The steps (n,) and features (n, features) of n rows, counted by the evaluation's own code.

        The evaluation is the product of the features and the weights of the step, plus the sum of the patterns'
        weights, clamped to a range.
        """

    def row_shares(self, steps: np.ndarray) -> np.ndarray:
        """Share of each row of weights at each of n steps, shape (n, phases); for a logistic regression."""
        return np.ones((len(steps), 1))

    @abstractmethod
    def rows_in_words(self, phases: int) -> str:
        """A sentence for the file of weights that explains its values and its ``phases`` rows."""

    @property
    def pattern_weights(self) -> int:
        """Number of pattern weights in each phase; 0 without patterns."""
        return 0

    def patterns(self, rows: np.ndarray) -> np.ndarray:
        """Indices of the pattern weights that apply to each of n rows: int32 of shape (n, instances)."""
        return np.zeros((len(rows), 0), np.int32)

    @abstractmethod
    def text_of(self, row: Any) -> str:
        """A position text of the row for ``Game.position``."""


class Game:
    """A game's public interface; ``engine.games.game_named`` returns its only instance."""

    name: str
    title: str
    """Its name in PGN and reports."""
    side_names: tuple[str, str]
    """First mover's colour, second mover's colour."""
    start: str
    """Text of the start position."""
    side_letters: tuple[str, str] = ("wr", "b")
    """Letters for the side to move, the second word of a position's text: first mover's, second mover's."""
    empty_square: str = ""
    """Character for an empty square in a position's text; empty if digits count empty squares."""
    default_suite: str
    """Name of the default opening suite."""
    max_game_plies: int
    score_name: str = "pawns"
    """Plural name of a hundred points of a search's score."""
    score_unit: int = 0
    """Points of a search's score in one point of the game's own score (a disc); 0 in games that are won or lost."""
    odds_scale: float = 1.0
    """Points of a search's score that multiply the odds of winning by e, with draws as half a win.

    Fitted to games by ``benchmarks/win_probability.py``.
    """
    adjudication: Adjudication = Adjudication()
    """Default adjudication of its tournaments."""
    position_option: str = "fen"
    """Command line option for a position: ``fen`` or ``board``."""
    move_notations: tuple[str, ...] = ()
    """Notations for people, besides the protocol's own; see ``arena.notation.pgn``."""
    notation: ModuleType
    """Its functions ``parse_position``, ``format_position``, ``format_move``, ``read_moves`` and ``draw``."""
    state_dtype: np.dtype[Any]
    kernels: SimpleNamespace
    """Its compiled functions by the names of the compiled contract."""
    bench_positions: tuple[BenchPosition, ...]

    @property
    def fitting(self) -> EvaluationFitting | None:
        """The game's interface to ``elolab fit-evaluation``; ``None`` if its weights do not come from a file."""
        return None

    def position(self, text: str | None = None, moves: Sequence[str] = (), ranks: str = "0") -> Position:
        """A position from its text (the start if ``None``) and moves played from it.

        ``ranks`` is the number of the first rank in ``moves``: ``0``, ``1`` or ``auto``. Raises ``PositionError`` or
        ``MoveError``.
        """
        announce_compilation()
        text = self.start if text is None else text
        position = Position(self, self.parse_state(text), text)
        for move in self.read_moves(position, moves, ranks):
            position.push(move)
        return position

    def read_moves(self, position: Position, moves: Sequence[str], ranks: str) -> list[str]:
        """The moves in the game's own notation; ``ranks`` as for ``position``. Raises ``MoveError``."""
        found: list[str] = self.notation.read_moves(position, moves, ranks)
        return found

    def parse_state(self, text: str) -> Any:
        """A state record from a position text, under the default rules; raises ``PositionError``."""
        state = self.notation.parse_position(text)
        self.apply_rules(state, Rules())
        return state

    def format_state(self, state: Any) -> str:
        """The canonical text of a state."""
        return str(self.notation.format_position(state))

    def side_to_move(self, text: str) -> int:
        """0 if the first mover's side is to move in a legal position's text (empty: the start), 1 if the other."""
        words = (text or self.start).split()
        return int(len(words) > 1 and words[1].lower() in self.side_letters[1].lower())

    def empty_squares(self, text: str) -> int:
        """Number of empty squares in a legal position's text."""
        board = text.split()[0]
        if self.empty_square:
            return board.count(self.empty_square)
        return sum(int(letter) for letter in board if letter.isdigit())

    def format_move(self, code: int) -> str:
        """Protocol notation of a kernel's move."""
        return str(self.notation.format_move(code))

    def apply_rules(self, state: Any, rules: Rules) -> None:
        """Write the rules into a state, in place."""

    def rule_messages(self, rules: Rules) -> tuple[tuple[str, dict[str, Any]], ...]:
        """The rules that apply to this game, as keys of its ``messages`` with their fields."""
        return ()

    def supports_draw_claim(self, position: Position, rules: Rules) -> bool:
        """Whether a common variant of the rules calls the position a draw that ``rules`` do not call a draw."""
        return False

    def moves_missing(self, state: Any, target: Any) -> int | None:
        """Lower bound of the plies from a state to a target, without passes; 0 only if the boards are equal.

        ``None`` if the target cannot be reached.
        """
        return 0 if state.key == target.key else 1

    def perft(self, position: Position, depth: int, passes: str = "ply") -> int:
        """Number of leaves ``depth`` plies deep; with ``passes`` "free", a forced pass is not a ply."""
        return int(self.kernels.perft(position.state, position.lists, depth))

    def describe(self, position: Position) -> str:
        """The position as text for a terminal."""
        return str(self.notation.draw(position.state))
