"""Exact solving of a position: its score, a best line, and on request the score of every move.

``Solver`` searches to the end of the game. ``TableSolver`` looks the position up in tablebases.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from elolab.engine.engine import Engine, StopFlag
from elolab.engine.errors import UserError
from elolab.engine.games import GAMES, game_named
from elolab.engine.games.contract import Position
from elolab.engine.games.tablebases import Tablebases
from elolab.engine.search.records import END_REASONS, ENDED_AT_DEPTH
from elolab.engine.settings.limits import Limits
from elolab.engine.values import MAX_DEPTH

SETTINGS = {"hash_mb": 256}
"""Settings in which the solver's defaults differ from the engine's. Users can override these settings."""
TO_THE_END = {"endgame_empties": 60, "pass_costs_depth": False}
"""Settings that make the endgame solver search every position to the end of the game, because ordinary scores are not
exact.

Passes must cost no depth; otherwise the ordinary search would handle positions after a pass.
"""

SOLVED = END_REASONS[ENDED_AT_DEPTH]
"""End reason of a solver's search that has solved the position completely."""

DTZ_OF_ZEROING = {2: 1, 1: 101, 0: 0, -1: -101, -2: -1}
"""DTZ (distance to zeroing) of a capture or pawn move, by the move's WDL value; both are for the side that moves."""
LAST_PLY = 100
"""Number of plies without a capture or pawn move after which the 50-move rule draws the game."""
LONGEST_LINE = 1000
"""Maximum length, in plies, of a line read from tablebases."""


def solvable_games() -> list[str]:
    """Names of the games whose positions can be solved, by a search or by tablebases."""
    return [name for name in GAMES if game_named(name).score_unit or game_named(name).has_tablebases]


def unsolvable(game: str) -> UserError:
    """The error for a game that has no solver; the message lists the games that have one."""
    return UserError(f"{game} cannot be played out to the end; solve is for {' and '.join(solvable_games())}")


@dataclass(frozen=True)
class Solution:
    """The exact solution of a position. Scores are in the solver's ``unit``; 0 is a draw, a positive score a win."""

    score: int
    """Score in the solver's ``unit``, from the point of view of the side to move."""
    best_move: str | None
    """A move with the best score; ``None`` if the game is over."""
    line: tuple[str, ...]
    """A line of best moves for both sides, which begins with ``best_move``."""
    nodes: int
    """Number of positions that were searched or looked up."""
    moves: Mapping[str, int] | None
    """Score of every legal move in the solver's ``unit``, from the point of view of the side to move, best move first.
    ``None`` if the scores were not requested.
    """


class Solver:
    """Solves positions of one game by a search to its end; ``settings`` override the engine's and affect only speed."""

    unit = "in discs, empty squares to the winner"
    """Name of the unit of the scores, for output."""

    def __init__(self, game: str, settings: Mapping[str, Any], stop: StopFlag) -> None:
        self._game = game_named(game)
        if not self._game.score_unit:
            raise unsolvable(game)
        self._engine = Engine(game, {**SETTINGS, **settings, **TO_THE_END})
        self._stop = stop
        self._nodes = 0

    def solve(self, position: Position, *, every_move: bool = False) -> Solution:
        """Solve a position exactly. The result is meaningless if the stop flag is set.

        ``every_move`` also computes the score of every legal move.
        """
        self._nodes = 0
        self._engine.new_game()
        if not position.move_codes():
            score = int(self._game.kernels.final_score(position.state)) // self._game.score_unit
            return Solution(score, None, (), 0, {} if every_move else None)
        moves = None
        if every_move:
            scores = {move: self._score_after(position, move) for move in position.legal_moves()}
            moves = dict(sorted(scores.items(), key=lambda pair: -pair[1]))
            score = max(moves.values())
        else:
            score = self._score(position)
        line, nodes = self._engine.best_line(position, score * self._game.score_unit)
        return Solution(score, line[0] if line else None, line, self._nodes + nodes, moves)

    def score(self, position: Position) -> int:
        """The exact score of a position in the solver's ``unit``, for the side to move. The score is meaningless if the
        stop flag is set.
        """
        if not position.move_codes():
            return int(self._game.kernels.final_score(position.state)) // self._game.score_unit
        self._engine.new_game()
        return self._score(position)

    def score_within(self, position: Position, nodes: int) -> int | None:
        """The exact score of a position in the solver's ``unit``, for the side to move; ``None`` if solving takes more
        than ``nodes`` nodes or the stop flag is set.

        The number of nodes depends only on the position and the settings.
        """
        position, sign = position.copy(), 1
        while len(codes := position.move_codes()) == 1:  # a search with a node limit does not search an only move
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


class TableSolver(Tablebases):
    """Solves chess positions by the Syzygy tablebases in ``folders``. ``solve`` is called as in ``Solver``.

    A score is the DTZ (distance to zeroing): the number of plies, the next move included, until the winner mates,
    captures or moves a pawn. It is negative if the side to move loses. ``ignore_50`` counts wins that the 50-move rule
    prevents. The tables' DTZ may be one ply too small, so a win on the last ply of that rule counts as a draw unless it
    is certain.
    """

    unit = "in plies to mate, a capture or a pawn's move (DTZ); 0 is drawn"

    def __init__(self, folders: str, ignore_50: bool, stop: StopFlag) -> None:
        """Open the tables; raises ``UserError`` if there are none. Setting ``stop`` ends a solution early."""
        super().__init__(folders)
        self._ignore_50 = ignore_50
        self._stop = stop

    def solve(self, position: Position, *, every_move: bool = False) -> Solution:
        """Solve a position exactly; ``every_move`` also computes the score of every legal move.

        The line continues to the end of the game, or for one move if the game is drawn. The result is meaningless if
        the stop flag is set. Raises ``UserError`` if the tables lack the position or one that follows.
        """
        position = position.copy()
        scores = self._scores(position)
        best = next(iter(scores), None)
        score = -int(position.in_check) if best is None else scores[best]
        moves = scores if every_move else None
        line: list[str] = []
        nodes = 0
        while scores and not self._stop.is_set():
            nodes += len(scores)
            line.append(next(iter(scores)))
            if not scores[line[-1]] or len(line) == LONGEST_LINE:
                break
            position.push(line[-1])
            scores = self._scores(position)
        return Solution(score, best, tuple(line), nodes, moves)

    def _scores(self, position: Position) -> dict[str, int]:
        """DTZ (distance to zeroing) of every legal move, from the side to move's point of view, best move first."""
        board = self._board(position.text)
        if board.castling_rights:
            raise UserError(f"{position.text}: tablebases have no positions in which a side may castle")
        pieces = len(board.piece_map())
        if pieces > self.largest:
            raise UserError(f"{position.text}: {pieces} pieces; the tablebases have at most {self.largest}")
        spent = board.halfmove_clock
        ranked = []
        for move in position.legal_moves():
            child = position.copy()
            child.push(move)
            after = self._board(child.text)
            dtz, is_certain = self._dtz_of_move(after)
            score = dtz if self._ignore_50 or abs(dtz) + spent <= LAST_PLY - (spent > 0 and not is_certain) else 0
            rank = (_sign(score), _sign(dtz), after.is_checkmate(), -dtz)
            ranked.append((rank, move, score))
        ranked.sort(key=lambda row: row[0], reverse=True)
        return {move: score for _, move, score in ranked}

    def _dtz_of_move(self, after: Any) -> tuple[int, bool]:
        """DTZ (distance to zeroing) of the move that led to the board ``after``, for the side that made the move.

        The second value is true if the number is exact to the ply.
        """
        try:
            if after.is_checkmate():
                return 1, True
            if not after.halfmove_clock:
                return DTZ_OF_ZEROING[-int(self._tables.probe_wdl(after))], True
            dtz = -int(self._tables.probe_dtz(after))
        except self._missing as error:
            *_, kind, _, name = error.args[0].split()
            raise UserError(f"the tablebases lack {name}.{'rtbz' if kind == 'dtz' else 'rtbw'}") from None
        return dtz + _sign(dtz), False


def _sign(score: int) -> int:
    return (score > 0) - (score < 0)
