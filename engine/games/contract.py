"""The interface that every game implements for the search, the arena and the command line.

It has two halves. The *compiled contract* is the list of functions below: each game registers its own functions under
these names, and the search calls them without knowing the game. The *Python contract* is ``Game`` and ``Position``:
positions and moves as text, legal moves, and the arbiter's verdict.
"""

from __future__ import annotations

import importlib
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from elolab.engine.compiled.kernel import announce_compilation, array_of, game_stub, implement, new_record
from elolab.engine.errors import MoveError as MoveError
from elolab.engine.errors import PositionError as PositionError
from elolab.engine.errors import WrongMoveError as WrongMoveError
from elolab.engine.rules import REASONS, RESULTS, Adjudication, Ending, Rules
from elolab.engine.settings.features import FEATURES
from elolab.engine.settings.parameters import Value
from elolab.engine.values import MAX_MOVES, MAX_PLY

MOVE_LISTS_DTYPE = np.dtype(
    [
        ("moves", np.int32, (MAX_PLY + 2, MAX_MOVES)),  # one row a ply
        ("order", np.int32, (MAX_PLY + 2, MAX_MOVES)),  # their ordering scores
    ]
)
"""Record type of the move lists of a search, with one row for each ply of the tree."""

ENDLESS = 1 << 20
"""Result of ``plies_left`` for games of unlimited length, in plies."""

# Codes of ``path_verdict``, from the point of view of the side to move.
PATH_OPEN, PATH_DRAW, PATH_LOSS, PATH_WIN = range(4)


@game_stub
def generate(state, lists, row):  # type: ignore[no-untyped-def]
    """Write every legal move into ``lists.moves[row]`` and return their number; 0 if the game is over."""


@game_stub
def generate_noisy(state, lists, row):  # type: ignore[no-untyped-def]
    """Write the legal moves for quiescence search, such as captures, to ``lists.moves[row]``; return their number."""


@game_stub
def make(state, move):  # type: ignore[no-untyped-def]
    """Play a legal move (int64)."""


@game_stub
def key_after(state, move):  # type: ignore[no-untyped-def]
    """Hash of the position after a move, computed without making the move."""


@game_stub
def key_is_quick(state):  # type: ignore[no-untyped-def]
    """Whether ``key_after`` is much faster than making the move. The result is the same for all positions of a game."""


@game_stub
def unmake(state):  # type: ignore[no-untyped-def]
    """Take back the last move."""


@game_stub
def make_null(state):  # type: ignore[no-untyped-def]
    """Make a null move: pass the turn. The side to move must not be in check."""


@game_stub
def unmake_null(state):  # type: ignore[no-untyped-def]
    """Take back a null move."""


@game_stub
def in_check(state):  # type: ignore[no-untyped-def]
    """Whether the side to move is in check: the opponent threatens to win with the next move."""


@game_stub
def gives_check(state, move):  # type: ignore[no-untyped-def]
    """Whether a legal move puts the other side in check; see ``in_check``."""


@game_stub
def final_score(state):  # type: ignore[no-untyped-def]
    """Score of a position without legal moves, for the side to move, in centipawns; ``-MATE`` for a loss.

    The caller adjusts mate scores by the distance from the root.
    """


@game_stub
def plies_left(state):  # type: ignore[no-untyped-def]
    """Maximum number of plies until the game ends, which limits the search depth; ``ENDLESS`` if there is no limit."""


@game_stub
def solvable(state, parameters, depth):  # type: ignore[no-untyped-def]
    """Whether the search should call ``solve`` at a node that has ``depth`` plies left to search."""


@game_stub
def solve(state, search, lists, parameters, alpha, beta, ply):  # type: ignore[no-untyped-def]
    """Exact value of a position in the search's points, for the side to move; only a bound if it lies outside (alpha,
    beta).

    The solver may use the transposition table, and the rows of ``lists`` from ``ply`` on. It counts its nodes with
    ``engine.search.clock.spend_nodes``. The value is meaningless once ``search.stopped`` is set.
    """


@game_stub
def evaluate(state, cache, alpha, beta):  # type: ignore[no-untyped-def]
    """Static evaluation in centipawns, from the point of view of the side to move, without the tempo bonus.

    ``cache`` is the address of a cache of ``engine.games.evaluation_cache`` that a game may use; 0 for no cache.

    A value at or below alpha may be an upper bound, one at or above beta a lower bound of the evaluation.
    If finished games can have scores other than mate, the evaluation of a finished game is exact.
    """


@game_stub
def prepare(state, parameters):  # type: ignore[no-untyped-def]
    """Load the evaluation's settings from ``parameters`` into the state, and recompute the state's incremental sums."""


@game_stub
def is_quiet(state, move):  # type: ignore[no-untyped-def]
    """Whether a move is quiet: neither a capture nor another move that changes material."""


@game_stub
def is_pass(state, move):  # type: ignore[no-untyped-def]
    """Whether a legal move is a pass. The search can leave passes out of its depth count."""


@game_stub
def capture_order(state, move):  # type: ignore[no-untyped-def]
    """Ordering score, at least 0, of a move that is not quiet: most valuable victim, then least valuable attacker."""


@game_stub
def capture_gain(state, move):  # type: ignore[no-untyped-def]
    """Upper bound, in centipawns, of the immediate gain of a move that is not quiet."""


@game_stub
def loses_material(state, move):  # type: ignore[no-untyped-def]
    """Whether a move that is not quiet loses material by static exchange evaluation."""


@game_stub
def history_piece(state, move):  # type: ignore[no-untyped-def]
    """Index of the moving piece's type and side in history tables, 0 to 31."""


@game_stub
def path_verdict(state, root):  # type: ignore[no-untyped-def]
    """Verdict on the current position by repetition, move limit and material, within a search.

    Returns ``PATH_OPEN``, ``PATH_DRAW``, ``PATH_LOSS`` or ``PATH_WIN``, for the side to move. ``root`` is the ply of
    the search's root. If the position has already occurred within the search tree, one repetition is enough. If it
    occurred only in the game before the root, the repetition counts at the occurrence that the rules prescribe.
    """


@game_stub
def repetition_key(state):  # type: ignore[no-untyped-def]
    """Combined hash (uint64) of all past positions whose next occurrence would end the game; 0 for none."""


@game_stub
def judge(state, lists):  # type: ignore[no-untyped-def]
    """The arbiter's verdict: result code + 4 * reason code (of ``engine.rules``); 3 if the game is not over."""


@game_stub
def best_line(state, search, lists, parameters, score):  # type: ignore[no-untyped-def]
    """Write a best line from the position into the first line of the search's results.

    ``score`` is the position's exact score in the search's points, for the side to move.
    """


@game_stub
def null_move_allowed(state):  # type: ignore[no-untyped-def]
    """Whether a null move makes sense: without attacking pieces of the side to move, zugzwang is too common."""


@game_stub
def material(state):  # type: ignore[no-untyped-def]
    """Material of the side to move in centipawns."""


@game_stub
def position_key(state):  # type: ignore[no-untyped-def]
    """Hash of the position (uint64), computed from scratch; it must equal ``state.key``."""


@game_stub
def piece_count(state):  # type: ignore[no-untyped-def]
    """Number of pieces of both sides on the board."""


@game_stub
def past_move(state, ply):  # type: ignore[no-untyped-def]
    """The move made when ``state.ply`` had the value ``ply``; 0 for a null move."""


@game_stub
def structure_key(state):  # type: ignore[no-untyped-def]
    """Hash (uint64) of features that rarely change, such as the pawns; 0 in a game without such features."""


@game_stub
def pieces_key(state, side):  # type: ignore[no-untyped-def]
    """Hash (uint64) of a side's pieces that ``structure_key`` leaves out; 0 in a game without a ``structure_key``."""


@game_stub
def restarts_draw_count(state):  # type: ignore[no-untyped-def]
    """Whether the last move, such as a capture, restarts the move count of draw adjudication."""


@game_stub
def perft(state, lists, depth):  # type: ignore[no-untyped-def]
    """Perft: number of leaves of the tree of legal moves ``depth`` plies deep."""


COMPILED_CONTRACT = (
    "generate", "generate_noisy", "make", "key_after", "key_is_quick", "unmake", "make_null", "unmake_null", "in_check",
    "gives_check", "final_score", "evaluate", "prepare", "is_quiet", "capture_order", "capture_gain",
    "loses_material", "history_piece", "is_pass", "plies_left", "solvable", "solve", "best_line",
    "path_verdict", "repetition_key", "judge", "null_move_allowed", "material", "position_key",
    "piece_count", "past_move", "structure_key", "pieces_key", "restarts_draw_count", "perft",
)  # fmt: skip
"""Names of the compiled functions that every game must implement."""


def register_game(marker: str, *modules: Any) -> SimpleNamespace:
    """Register a game's compiled functions, and return them as attributes of an object.

    ``marker`` is the name of the first field of the game's state record. ``modules`` define the functions, under the
    names in ``COMPILED_CONTRACT``; a later module replaces functions of an earlier one. Raises ``TypeError`` if one is
    missing.
    """
    found = {name: getattr(module, name) for module in modules for name in COMPILED_CONTRACT if hasattr(module, name)}
    if missing := [name for name in COMPILED_CONTRACT if name not in found]:
        raise TypeError(f"game {marker} lacks {', '.join(missing)}")
    implement(marker, **found)
    return SimpleNamespace(**found)


_OF_THREAD = threading.local()


def _lists_of_thread() -> tuple[Any, Any]:
    """The memory for move lists of the calling thread, as a record and as an array of one element."""
    try:
        return _OF_THREAD.lists  # type: ignore[no-any-return]
    except AttributeError:
        lists = new_record(MOVE_LISTS_DTYPE)
        _OF_THREAD.lists = lists, array_of(lists)
        return _lists_of_thread()


class Position:
    """A position of a game, with the moves that led to it. Owns the compiled state record.

    ``Game.position`` creates positions. Moves are in the game's protocol notation, such as ``h2e2`` in Xiangqi (ICCS).
    """

    def __init__(self, game: Game, state: Any, start: str) -> None:
        self.game = game
        self.state = state
        self.start = start
        """Text of the position before the first of ``moves``."""
        self.moves: list[str] = []
        """Moves played from ``start``, in protocol notation."""

    @property
    def lists(self) -> Any:
        """Move lists of type ``MOVE_LISTS_DTYPE``, which all positions on a thread share: allocation is slow."""
        return _lists_of_thread()[0]

    @property
    def list_array(self) -> Any:
        """``lists`` as an array of one element."""
        return _lists_of_thread()[1]

    @property
    def text(self) -> str:
        """Canonical text of the position, such as a FEN."""
        return self.game.format_state(self.state)

    @property
    def side_to_move(self) -> int:
        """Side to move: 0 for the side that moves first in the game, 1 for the other."""
        return int(self.state.side)

    @property
    def ply(self) -> int:
        """Number of moves played from ``start``."""
        return len(self.moves)

    @property
    def in_check(self) -> bool:
        """Whether the side to move is in check."""
        return bool(self.game.kernels.in_check(self.state))

    def move_codes(self) -> list[int]:
        """The legal moves as integer codes, as compiled functions use them."""
        count = int(self.game.kernels.generate(self.state, self.lists, 0))
        return [int(code) for code in self.lists.moves[0, :count]]

    def legal_moves(self) -> list[str]:
        """The legal moves in protocol notation."""
        return [self.game.format_move(code) for code in self.move_codes()]

    @property
    def after_moves(self) -> str:
        """Text that tells error messages after how many moves the position arose, such as ``after 3 moves``."""
        return f"after {self.ply} move{'' if self.ply == 1 else 's'}"

    def code_of(self, move: str) -> int:
        """The integer code of a legal move, as used by compiled functions. Raises ``MoveError`` for any other move."""
        codes = {self.game.format_move(code): code for code in self.move_codes()}
        if move not in codes:
            raise MoveError(f"illegal move {move!r} {self.after_moves} in position {self.text!r}")
        return codes[move]

    def check_room(self) -> None:
        """Raise ``MoveError`` if the state cannot store another move."""
        if self.ply >= self.game.max_game_plies:
            raise MoveError(f"the game is longer than {self.game.max_game_plies} plies")

    def push(self, move: str) -> None:
        """Play a move. Raises ``MoveError`` if it is illegal, or if the state cannot store another move."""
        code = self.code_of(move)
        self.check_room()
        # Records whether this position is a check, for the move limit.
        self.game.kernels.in_check(self.state)
        self.game.kernels.make(self.state, code)
        self.game.kernels.in_check(self.state)
        self.moves.append(move)

    def judge(self, rules: Rules) -> Ending | None:
        """The arbiter's verdict on the position under ``rules``; ``None`` if the game is not over."""
        self.game.apply_rules(self.state, rules)
        verdict = int(self.game.kernels.judge(self.state, self.lists))
        ending = decode_verdict(verdict)
        return None if ending.result == "*" else ending

    def copy(self) -> Position:
        """A copy of the position with its own state and list of moves."""
        twin = Position(self.game, self.state.copy(), self.start)
        twin.moves = list(self.moves)
        return twin


def decode_verdict(verdict: int) -> Ending:
    """Convert a code returned by ``judge`` into an ``Ending``."""
    return Ending(RESULTS[verdict & 3], REASONS[verdict >> 2])


def encode_verdict(result: str, reason: str) -> int:
    """Convert a result and a reason to the code that ``judge`` returns. Used for constants of compiled code."""
    return RESULTS.index(result) + 4 * REASONS.index(reason)


@dataclass(frozen=True)
class BenchPosition:
    """A position of the benchmark, with its search depth in plies."""

    text: str
    depth: int


class EvaluationFitting(ABC):
    """A game's interface to ``elolab fit-evaluation``, for an evaluation that is a weighted sum of features.

    A position is a row of ``words`` uint64, from the point of view of the side to move. A *linear* regression predicts
    the game's final score, such as a difference in discs; a *logistic* regression predicts the winner.
    """

    parameter: str
    """Name of the engine parameter that selects the file of weights."""
    features: tuple[str, ...]
    words: int
    regression: str
    """Kind of regression that fits the weights: ``linear`` or ``logistic``."""
    phases: int
    """Number of phases of the game; each has its own row of weights.

    For a linear regression this is a default, which the user can change; for a logistic regression it is fixed.
    """
    self_play: Mapping[str, Value]
    """Engine parameters in which self-play games differ from the defaults, to save time."""
    self_play_limit: str
    """Default search limit of each move in the self-play games."""
    opening_plies: tuple[int, int]
    """Minimum and maximum number of random plies at the start of a self-play game, for variety."""
    adjudication: Adjudication
    """Rules for ending the self-play games early by adjudication."""
    # Linear regression only.
    unit: int = 1
    """Number of evaluation points that equal one point of the game's own score, such as a disc."""
    solved_steps: int = 0
    """First step of the game at which positions are solved for a linear regression, so that the final scores are exact.

    In Othello a step is the number of discs placed since the start.
    """
    # Logistic regression only.
    odds_scale: float = 1.0
    """Advantage, in evaluation points, that multiplies the odds of winning by e (2.718...). This number sets the scale
    of the weights.
    """
    groups: tuple[tuple[int, ...], ...] = ()
    """Groups of features whose weights should change together, such as the squares of one piece type.

    Each group has the features' indices in ``features``.
    """

    @abstractmethod
    def rows_of_game(self, start: str, moves: Sequence[str]) -> np.ndarray:
        """Encode the positions of a game: uint64 of shape (moves + 1, words). The first row is the start position, row
        n the position after n moves.

        ``start`` is the text of the start position; ``moves`` are legal moves in protocol notation.
        """

    @abstractmethod
    def usable(self, rows: np.ndarray) -> np.ndarray:
        """Boolean mask of shape (n,): true for each of the game's n positions that is suitable for regression."""

    @abstractmethod
    def survey(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The step and the features of each of n positions, counted by the evaluation's own code.

        The shapes are (n,) and (n, features). A step is an integer that measures how far the game has advanced. The
        evaluation is the product of the features with the step's weights, plus the sum of the pattern weights, clamped
        to a range.
        """

    def row_shares(self, steps: np.ndarray) -> np.ndarray:
        """Share, from 0 to 1, that each row of weights has in the evaluation at each of n steps: shape (n, phases).

        A game needs this method only for logistic regression.
        """
        return np.ones((len(steps), 1))

    @abstractmethod
    def rows_in_words(self, phases: int) -> str:
        """A sentence for the file of weights: the weights' unit, and the meaning of the file's ``phases`` rows."""

    @property
    def pattern_weights(self) -> int:
        """Number of pattern weights in each phase; 0 for an evaluation without patterns."""
        return 0

    def patterns(self, rows: np.ndarray) -> np.ndarray:
        """Indices of the pattern weights that apply to each of n positions: int32 of shape (n, instances).

        An instance is a pattern in one of its orientations on the board.
        """
        return np.zeros((len(rows), 0), np.int32)

    @abstractmethod
    def text_of(self, row: Any) -> str:
        """Text of the position that a row encodes, in the form that ``Game.position`` reads."""


class Game:
    """A game's public interface. There is one instance per game, which ``engine.games.game_named`` returns."""

    name: str
    title: str
    """Name of the game in PGN and reports."""
    side_names: tuple[str, str]
    """Names of the two sides, in the order in which they move."""
    start: str
    """Text of the start position."""
    side_letters: tuple[str, str] = ("wr", "b")
    """For each side, the letters that mean "side to move" in the second part of a position's text."""
    empty_square: str = ""
    """Character of an empty square in a position's text; an empty string if digits count empty squares, as in FEN."""
    ranks: str = ""
    """Names of the board's ranks, one character each, from the top rank down."""
    coloured_side: int = 1
    """Side (0 or 1) whose pieces are drawn in colour on a terminal."""
    default_suite: str
    """Name of the default opening suite."""
    max_game_plies: int
    score_name: str = "pawns"
    """Plural name of the unit that equals 100 points of a search's score, such as pawns."""
    score_unit: int = 0
    """Number of points of a search's score that equal one point of the game's own score, such as a disc.

    0 in games that are only won, drawn or lost.
    """
    odds_scale: float = 1.0
    """Advantage, in points of a search's score, that multiplies the odds of winning by e (2.718...).

    Odds count a draw as half a win. ``benchmarks/win_probability.py`` fitted the value to games.
    """
    standard_rules: Rules = Rules()
    """Default rules of the game."""
    adjudication: Adjudication = Adjudication()
    """Default rules for ending tournament games early by adjudication."""
    stalemate: str = ""
    """Text of a stalemate position, for tests of external programs; empty in games without stalemate.

    The tests need a given position because random games hardly ever end in stalemate.
    """
    has_passes: bool = False
    """Whether a side without a legal move passes, instead of ending the game."""
    position_option: str = "fen"
    """Name of the command-line option for a position: ``fen`` or ``board``."""
    move_names: ModuleType | None = None
    """The game's module for move notations that people use; ``None`` if there is only the protocol notation.

    The module has ``NOTATIONS``, and functions as in ``engine.games.algebraic``: ``format_moves``, ``read_game``,
    ``looks_like_a_move`` and ``notation_of``.
    """
    has_tablebases: bool = False
    """Whether Syzygy tablebases exist for endgames of this game."""
    variants: tuple[str, ...] = ()
    """Valid values of the PGN tag ``Variant`` for this game, in lower case; empty if the tag is not checked."""
    encodings: tuple[str, ...] = ("gb18030", "big5hkscs")
    """Character encodings of the game's files besides UTF-8, as Python names them."""
    notation: ModuleType
    """The game's module with ``parse_position``, ``format_position``, ``format_move``, ``read_moves`` and ``draw``."""
    state_dtype: np.dtype[Any]
    kernels: SimpleNamespace
    """The game's compiled functions, as attributes named as in ``COMPILED_CONTRACT``."""
    bench_positions: tuple[BenchPosition, ...]

    @property
    def move_notations(self) -> tuple[str, ...]:
        """Names of the move notations that people use, the most common one first; may be empty."""
        return () if self.move_names is None else tuple(self.move_names.NOTATIONS)

    def pgn_tags(self, start: str) -> dict[str, str]:
        """PGN tags that identify the game's variant; ``start`` is the text of the start position."""
        return {"Game": self.title}

    @property
    def fitting(self) -> EvaluationFitting | None:
        """The game's interface to ``elolab fit-evaluation``: the object ``FITTING`` of its module ``fitting``.

        ``None`` if the game's weights do not come from a file.
        """
        if self.name not in FEATURES:
            return None
        fitting: EvaluationFitting = importlib.import_module(f"elolab.engine.games.{self.name}.fitting").FITTING
        return fitting

    def position(self, text: str | None = None, moves: Sequence[str] = (), ranks: str = "0") -> Position:
        """Create a position from the text of an earlier position (``None``: the start of the game) and the moves played
        since.

        ``ranks`` is the number of the first rank in ``moves``: ``0``, ``1``, or ``auto`` to detect it. Raises
        ``PositionError`` for an invalid text, and ``MoveError`` for an invalid move.
        """
        announce_compilation()
        text = self.start if text is None else text
        position = Position(self, self.parse_state(text), text)
        for move in self.read_moves(position, moves, ranks):
            position.push(move)
        return position

    def move_style(self, state: Any) -> str:
        """Name of the style in which programs usually write moves, in a game that starts from ``state``.

        Empty if they use this game's protocol notation.
        """
        return ""

    def has_one_meaning(self, word: str) -> bool:
        """Whether a move's text, ``word``, means the same move in every style, in every position where it is legal."""
        return True

    def write_position(self, text: str, style: str) -> str:
        """Convert a position's text, as written by ``format_state``, to a style of ``write_moves``."""
        return text

    def write_moves(self, position: Callable[[], Position], moves: Sequence[str], style: str) -> list[str]:
        """Convert legal moves, in the order played, to the style of another program. ``read_moves`` reads every style.

        ``position`` returns the position before the moves, in an object that the method may change. ``position`` is
        called only if the style depends on the position.
        """
        return list(moves)

    def read_moves(self, position: Position, moves: Sequence[str], ranks: str) -> list[str]:
        """Convert moves to the game's protocol notation; ``ranks`` is as for ``position``. Raises ``MoveError``."""
        found: list[str] = self.notation.read_moves(position, moves, ranks)
        return found

    def parse_state(self, text: str) -> Any:
        """Create a state record from a position text, under the standard rules; raises ``PositionError``."""
        state = self.notation.parse_position(text)
        self.apply_rules(state, self.standard_rules)
        return state

    def format_state(self, state: Any) -> str:
        """Canonical text of a state, such as a FEN."""
        return str(self.notation.format_position(state))

    def side_to_move(self, text: str) -> int:
        """Side to move in a legal position's text: 0 for the side that moves first in the game, 1 for the other.

        An empty text stands for the start position.
        """
        words = (text or self.start).split()
        return int(len(words) > 1 and words[1].lower() in self.side_letters[1].lower())

    def first_ply(self, text: str) -> int:
        """Number of plies before a legal position, from the move number in its text; 0 or 1 if the text has none."""
        words = text.split()
        number = int(words[5]) if len(words) > 5 and words[5].isdecimal() else 1
        return 2 * (max(number, 1) - 1) + self.side_to_move(text)

    def empty_squares(self, text: str) -> int:
        """Number of empty squares in a legal position's text."""
        board = text.split()[0]
        if self.empty_square:
            return board.count(self.empty_square)
        return sum(int(letter) for letter in board if letter.isdigit())

    def board_rows(self, text: str) -> list[str]:
        """Rows of the board in a legal position's text, top row first: one character per square, a space if empty."""
        board = text.split()[0]
        if self.empty_square:
            files = len(board) // len(self.ranks)
            rows = [board[start : start + files] for start in range(0, len(board), files)]
            return [row.replace(self.empty_square, " ") for row in rows]
        return ["".join(" " * int(sign) if sign.isdigit() else sign for sign in row) for row in board.split("/")]

    def side_of(self, piece: str) -> int:
        """Side of a piece, given its letter in a position's text; 0 is the side that moves first in the game."""
        return int(piece.islower() or piece == self.side_letters[1])

    def format_move(self, code: int) -> str:
        """Convert a move's integer code to protocol notation."""
        return str(self.notation.format_move(code))

    def draw_after_ply(self, adjudication: Adjudication, state: Any) -> int:
        """Number of plies after which draw adjudication may apply, counted from ``state``, where play starts."""
        return adjudication.draw_after_ply

    def apply_rules(self, state: Any, rules: Rules) -> None:
        """Store the rules of the game in a state record, in place."""

    def rule_messages(self, rules: Rules) -> tuple[tuple[str, dict[str, Any]], ...]:
        """Descriptions of the rules that apply to this game, as messages of the game's message catalogue. Empty for a
        game with only one set of rules.

        Each element is the key of a message, and the values of the message's fields.
        """
        return ()

    def supports_draw_claim(self, position: Position, rules: Rules) -> bool:
        """Whether common rules give, or let a player claim, a draw in a position that is not a draw under ``rules``."""
        return False

    def moves_missing(self, state: Any, target: Any) -> int | None:
        """Lower bound of the number of moves, passes not counted, from a state to a target; 0 only if the boards are
        equal.

        ``None`` if the target cannot be reached.
        """
        return 0 if state.key == target.key else 1

    def perft(self, position: Position, depth: int, passes: str = "ply") -> int:
        """Perft: number of leaves ``depth`` plies deep. With ``passes="free"``, forced passes do not count as plies."""
        return int(self.kernels.perft(position.state, position.lists, depth))

    def describe(self, position: Position) -> str:
        """Draw the position as text for a terminal."""
        return str(self.notation.draw(position.state))
