"""What every game gives to the search, the arena and the command line.

Two halves. The *compiled contract* is the list of stubs below: each game registers functions of the same names under
the marker of its state record, and the search calls them without knowing the game. The *Python contract* is ``Game``
and ``Position``: text in and out, legal moves, the arbiter's verdict.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from elolab.engine.compiled.kernel import announce_compilation, game_stub, new_record
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
"""Room for the move lists of a whole tree; one record serves one search."""

ENDLESS = 1 << 20
"""What ``plies_left`` returns in games that may go on."""

# Codes of ``path_verdict``, the view of the side to move.
PATH_OPEN, PATH_DRAW, PATH_LOSS, PATH_WIN = range(4)


@game_stub
def generate(state, lists, row):  # type: ignore[no-untyped-def]
    """Write every legal move into ``lists.moves[row]``; return their number (0: the game is over)."""


@game_stub
def generate_noisy(state, lists, row):  # type: ignore[no-untyped-def]
    """Write the legal moves quiescence should try (captures) into ``lists.moves[row]``; return their number."""


@game_stub
def make(state, move):  # type: ignore[no-untyped-def]
    """Play a legal move (int64)."""


@game_stub
def key_after(state, move):  # type: ignore[no-untyped-def]
    """The hash the position will have after a move."""


@game_stub
def key_is_quick(state):  # type: ignore[no-untyped-def]
    """Whether ``key_after`` takes far less than making the move: a constant of the game, for compiled code too."""


@game_stub
def unmake(state):  # type: ignore[no-untyped-def]
    """Take back the last move."""


@game_stub
def make_null(state):  # type: ignore[no-untyped-def]
    """Skip the turn (never asked for in check)."""


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
    """Score of a position without legal moves, the side to move's view, at distance 0 (``-MATE`` where that loses)."""


@game_stub
def plies_left(state):  # type: ignore[no-untyped-def]
    """Depth at which a search has seen every game end, for it goes no deeper; ``ENDLESS`` where nothing bounds it."""


@game_stub
def solvable(state, parameters, depth):  # type: ignore[no-untyped-def]
    """Whether ``solve`` should value a node to be searched to ``depth``."""


@game_stub
def solve(state, search, lists, parameters, alpha, beta, ply):  # type: ignore[no-untyped-def]
    """Exact value of a position for the side to move, within or beyond (alpha, beta).

    It may use the rows of ``lists`` from ``ply`` on and the table, accounts for its nodes by
    ``engine.search.clock.spend_nodes``, and means nothing once ``search.stopped`` is set.
    """


@game_stub
def evaluate(state, cache, alpha, beta):  # type: ignore[no-untyped-def]
    """Static evaluation in centipawns, the side to move's view (without tempo).

    ``cache`` is the address of an ``engine.games.evaluation_cache`` that a game may use, or 0.

    A value at or below alpha may be an upper bound, one at or above beta a lower bound of the evaluation.
    It is exact where the game is over, if the search may meet such positions at its horizon with a score that is not a
    mate.
    """


@game_stub
def prepare(state, parameters):  # type: ignore[no-untyped-def]
    """Set what the evaluation keeps incrementally to the parameters' values."""


@game_stub
def is_quiet(state, move):  # type: ignore[no-untyped-def]
    """Whether a move changes no material."""


@game_stub
def is_pass(state, move):  # type: ignore[no-untyped-def]
    """Whether a legal move only gives the turn away, so that it need not cost depth."""


@game_stub
def capture_order(state, move):  # type: ignore[no-untyped-def]
    """Ordering score, at least 0, of a move that is not quiet: most valuable victim, then least valuable attacker."""


@game_stub
def capture_gain(state, move):  # type: ignore[no-untyped-def]
    """The most centipawns a move that is not quiet wins at once."""


@game_stub
def loses_material(state, move):  # type: ignore[no-untyped-def]
    """Whether a move that is not quiet loses material by static exchange evaluation."""


@game_stub
def history_piece(state, move):  # type: ignore[no-untyped-def]
    """A small number (0 to 31) for the moving piece's type and side."""


@game_stub
def path_verdict(state, root):  # type: ignore[no-untyped-def]
    """What the path to this position decides (repetition, move limit, material): a ``PATH_`` code.

    ``root`` is the ply of the search's root: a repetition within the tree counts at once, one of the game's history by
    the arbiter's rule.
    """


@game_stub
def repetition_key(state):  # type: ignore[no-untyped-def]
    """A hash (uint64) of those positions of the game so far whose next occurrence the arbiter judges; 0 without any."""


@game_stub
def judge(state, lists):  # type: ignore[no-untyped-def]
    """The arbiter's verdict: result code + 4 * reason code (of ``engine.rules``); 3 ("*") while the game goes on."""


@game_stub
def best_line(state, search, lists, parameters, score):  # type: ignore[no-untyped-def]
    """Write a best line of a position, of which ``solve`` found the exact score, as line 0 of the search's results."""


@game_stub
def null_move_allowed(state):  # type: ignore[no-untyped-def]
    """Whether the side to move has attacking pieces, without which skipping a turn proves nothing."""


@game_stub
def material(state):  # type: ignore[no-untyped-def]
    """Material of the side to move in centipawns."""


@game_stub
def position_key(state):  # type: ignore[no-untyped-def]
    """The hash of the position (uint64) computed anew: what ``state.key`` must be."""


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
"""The stubs a game must register."""


class PositionError(UserError):
    """A position text that is not a legal position; the message says where."""


class MoveError(UserError):
    """A move that cannot be read or is not legal; the message says which and where."""


class Position:
    """A position of a game with the moves that led to it; owns the compiled state.

    Created by ``Game.position``. Moves are the game's protocol notation (ICCS in Xiangqi: ``h2e2``).
    """

    def __init__(self, game: Game, state: Any, start: str) -> None:
        self.game = game
        self.state = state
        self.start = start
        """Text of the position the moves began from."""
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
        """Where the game is, in words for messages: ``after 3 moves``."""
        return f"after {self.ply} move{'' if self.ply == 1 else 's'}"

    def code_of(self, move: str) -> int:
        """The kernels' number of a legal move; raises ``MoveError``."""
        codes = {self.game.format_move(code): code for code in self.move_codes()}
        if move not in codes:
            raise MoveError(f"illegal move {move!r} {self.after_moves} in position {self.text!r}")
        return codes[move]

    def check_room(self) -> None:
        """Raise ``MoveError`` if the game is too long to remember another move."""
        if self.ply >= self.game.max_game_plies:
            raise MoveError(f"the game is longer than {self.game.max_game_plies} plies")

    def push(self, move: str) -> None:
        """Play a move; raises ``MoveError`` if it is not legal or the game is too long to remember."""
        code = self.code_of(move)
        self.check_room()
        # The move limit needs to know of every check on the way.
        self.game.kernels.in_check(self.state)
        self.game.kernels.make(self.state, code)
        self.game.kernels.in_check(self.state)
        self.moves.append(move)

    def judge(self, rules: Rules) -> Ending | None:
        """The arbiter's verdict under ``rules``; ``None`` while the game goes on."""
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
    """The ending a ``judge`` kernel's code stands for."""
    return Ending(RESULTS[verdict & 3], REASONS[verdict >> 2])


def encode_verdict(result: str, reason: str) -> int:
    """The code of an ending, for the kernels' named constants."""
    return RESULTS.index(result) + 4 * REASONS.index(reason)


@dataclass(frozen=True)
class BenchPosition:
    """A position of the benchmark with the depth it is searched to."""

    text: str
    depth: int


class EvaluationFitting(ABC):
    """What ``elolab fit-evaluation`` needs to know of a game whose evaluation is a sum of weighted features.

    Positions are rows of ``words`` uint64, always seen by the side to move. The regression is *linear* where the
    evaluation predicts the game's own score, solved exactly near the end, and *logistic* where it predicts who wins.
    """

    parameter: str
    """The setting that names the file of weights."""
    features: tuple[str, ...]
    words: int
    regression: str
    """``linear`` or ``logistic``."""
    phases: int
    """Rows of weights: in a linear regression the usual number, in a logistic one the only possible."""
    self_play: Mapping[str, Value]
    """Settings of the games to fit to that differ from the default: what only costs time there."""
    self_play_limit: str
    """What a player usually spends on a move of these games."""
    opening_plies: tuple[int, int]
    """Fewest and most random plies of these games, so that they are all different and not only even."""
    adjudication: Adjudication
    """When these games end early."""
    # Of a linear regression.
    unit: int = 1
    """Points of an evaluation in one point of the game's own score."""
    solved_steps: int = 0
    """From this step (of ``engine.settings.weights.STEPS``) on, results are exact: positions are solved."""
    # Of a logistic one.
    odds_scale: float = 1.0
    """Points of the evaluation by which the odds of winning grow e-fold: what keeps the scale of the weights."""
    groups: tuple[tuple[int, ...], ...] = ()
    """Features whose weights rather change together: the squares of one type of piece."""

    @abstractmethod
    def rows_of_game(self, start: str, moves: Sequence[str]) -> np.ndarray:
        """The position before each of the legal moves and the last one: uint64 of shape (moves + 1, words)."""

    @abstractmethod
    def usable(self, rows: np.ndarray) -> np.ndarray:
        """Which of the rows of a game are worth fitting to: a mask of shape (n,)."""

    @abstractmethod
    def survey(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The steps (n,) and the features (n, features) of n rows, by the same counting as in the evaluation.

        The evaluation is the features times the weights of the step and the sum of the patterns' weights, within
        limits.
        """

    def row_shares(self, steps: np.ndarray) -> np.ndarray:
        """How much each row of weights counts at each of n steps, shape (n, phases); for a logistic regression."""
        return np.ones((len(steps), 1))

    @abstractmethod
    def rows_in_words(self, phases: int) -> str:
        """What the values in a file of weights are, and its so many rows: a sentence for the file."""

    @property
    def pattern_weights(self) -> int:
        """Weights of patterns in each phase, beside those of the features; 0 if there are no patterns."""
        return 0

    def patterns(self, rows: np.ndarray) -> np.ndarray:
        """Numbers of the patterns' weights that count in each of n rows: int32 of shape (n, instances)."""
        return np.zeros((len(rows), 0), np.int32)

    @abstractmethod
    def text_of(self, row: Any) -> str:
        """A position text of the row for ``Game.position``."""


class Game:
    """A game as everything outside its folder sees it; one instance each, found by ``engine.games.game_named``."""

    name: str
    title: str
    """Its name in PGN and reports."""
    side_names: tuple[str, str]
    """First mover's colour, second mover's colour."""
    start: str
    """Text of the start position."""
    side_letters: tuple[str, str] = ("wr", "b")
    """What may stand for the side to move, the second word of a position's text: the first mover's and the second's."""
    empty_square: str = ""
    """What stands for an empty square in a position's text; where there is no such character, digits count them."""
    default_suite: str
    """Name of the opening suite used where none is given."""
    max_game_plies: int
    score_name: str = "pawns"
    """What a hundred points of a search's score are called."""
    score_unit: int = 0
    """Points of a search's score in one point of the game's own score (a disc); 0 in games that are won or lost."""
    odds_scale: float = 1.0
    """Points of a search's score by which the odds of winning grow e-fold, draws being half a win.

    Fitted to games by ``benchmarks/win_probability.py``.
    """
    adjudication: Adjudication = Adjudication()
    """When its tournaments end games early, unless they say otherwise."""
    position_option: str = "fen"
    """The option of the command line that describes a position: ``fen`` or ``board``."""
    move_notations: tuple[str, ...] = ()
    """Notations in which people write its moves, besides the protocol's own; see ``arena.notation.pgn``."""
    state_dtype: np.dtype[Any]
    kernels: SimpleNamespace
    """Its compiled functions by the names of the compiled contract."""
    bench_positions: tuple[BenchPosition, ...]

    @property
    def fitting(self) -> EvaluationFitting | None:
        """How its evaluation is fitted to games; ``None`` where the weights do not come from a file."""
        return None

    def position(self, text: str | None = None, moves: Sequence[str] = (), ranks: str = "0") -> Position:
        """A position from its text (the start if ``None``) and moves played from it.

        ``ranks`` is the base in which the moves count ranks: ``0``, ``1`` or ``auto``. Raises ``PositionError`` or
        ``MoveError``.
        """
        announce_compilation()
        text = self.start if text is None else text
        position = Position(self, self.parse_state(text), text)
        for move in self.read_moves(position, moves, ranks):
            position.push(move)
        return position

    def read_moves(self, position: Position, moves: Sequence[str], ranks: str) -> list[str]:
        """The moves in the game's own notation; raises ``MoveError``."""
        return list(moves)

    def parse_state(self, text: str) -> Any:
        """A state record from a position text; raises ``PositionError``."""
        raise PositionError(f"{self.name} cannot read {text!r}")

    def format_state(self, state: Any) -> str:
        """The canonical text of a state."""
        raise PositionError(f"{self.name} has no text for positions")

    def side_to_move(self, text: str) -> int:
        """0 if the first mover's side is to move in a legal position's text (empty: the start), 1 if the other."""
        words = (text or self.start).split()
        return int(len(words) > 1 and words[1].lower() in self.side_letters[1].lower())

    def empty_squares(self, text: str) -> int:
        """How many squares are empty in a legal position's text."""
        board = text.split()[0]
        if self.empty_square:
            return board.count(self.empty_square)
        return sum(int(letter) for letter in board if letter.isdigit())

    def format_move(self, code: int) -> str:
        """Protocol notation of a kernel's move."""
        raise MoveError(f"{self.name} has no text for move {code}")

    def apply_rules(self, state: Any, rules: Rules) -> None:
        """Put the rules in force into a state."""

    def rule_messages(self, rules: Rules) -> tuple[tuple[str, dict[str, Any]], ...]:
        """Those options of the rules that mean something in this game: keys of its ``messages``, and their fields."""
        return ()

    def supports_draw_claim(self, position: Position, rules: Rules) -> bool:
        """Whether a usual variant of the game's rules would call the position drawn, though ``rules`` do not."""
        return False

    def moves_to(self, text: str) -> tuple[str, ...] | None:
        """Moves that lead from the start of the game to a position, for programs that can be told nothing else.

        ``None`` if none were found. Raises ``PositionError``.
        """
        return () if text == self.start else None

    def perft(self, position: Position, depth: int, passes: str = "ply") -> int:
        """Leaves ``depth`` plies deep; ``passes`` is ``free`` if a forced pass is to cost no ply."""
        return int(self.kernels.perft(position.state, position.lists, depth))

    def describe(self, position: Position) -> str:
        """The position as text for a terminal."""
        return position.text


def check_contract(kernels: Mapping[str, Any], name: str) -> None:
    """Refuse a game that lacks a function of the compiled contract."""
    missing = [function for function in COMPILED_CONTRACT if function not in kernels]
    if missing:
        raise TypeError(f"game {name} lacks {', '.join(missing)}")
