"""Chess's interface to ``elolab fit-evaluation``: encodes positions as rows of integers, and counts their features.

A row is five uint64. Each of the first four holds sixteen squares of four bits each, lowest bits first: 0 for an empty
square, otherwise the piece's type + 1, plus 8 for the side not to move. The board is turned so that the side to move
plays upwards. The last word is 1 for suitable positions: no side is in check, the next move of the game is neither a
capture nor a promotion, and no endgame knowledge changes the evaluation.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from elolab.engine.compiled.kernel import jit, new_record
from elolab.engine.games.chess import notation
from elolab.engine.games.chess.boards import KING, NO_SQUARE, ROOK, SQUARES
from elolab.engine.games.chess.captures import is_quiet
from elolab.engine.games.chess.endgames import is_rare_ending
from elolab.engine.games.chess.evaluation import PHASES, phase
from elolab.engine.games.chess.position import CASTLING, EMPTY, PIECES, STATE_DTYPE, TERM_COUNT, make
from elolab.engine.games.chess.terms import sum_of_terms
from elolab.engine.games.chess.weight_layout import FEATURE_OF_SQUARES
from elolab.engine.games.contract import EvaluationFitting
from elolab.engine.rules import Adjudication
from elolab.engine.settings.features import CHESS, CHESS_PIECES, CHESS_SQUARES

WORDS = 5
_SQUARES_PER_WORD = 16
_OTHER_SIDE = 8
_SQUARES = {file + rank: 8 * (int(rank) - 1) + "abcdefgh".index(file) for file in "abcdefgh" for rank in "12345678"}
"""Square numbers by name, such as 0 for ``a1``."""


@jit
def _write_row(state, row):
    """Write the position into ``row``, uint64 of shape (WORDS,), turned so that the side to move plays upwards."""
    side = np.int64(state.side)
    for word in range(WORDS):
        row[word] = 0
    for square in range(SQUARES):
        code = np.int64(state.board[square])
        if code == EMPTY:
            continue
        piece = (code & 7) + 1 + (_OTHER_SIDE if code >> 3 != side else 0)
        at = square ^ 56 * side
        row[at // _SQUARES_PER_WORD] |= np.uint64(piece) << np.uint64(4 * (at % _SQUARES_PER_WORD))


@jit
def _code_of(state, origin, target, promotion):
    """Code of a legal move, given its two squares and the type of piece to promote to, which is 0 without a promotion.

    Castling may be given as a king's move of two files or, as in Chess960, as the king's move to its rook.
    """
    castles = abs(target - origin) == 2 or state.board[target] == ROOK + 8 * np.int64(state.side)
    if state.board[origin] & 7 == KING and castles:
        right = 2 * np.int64(state.side) + np.int64(target < origin)
        return origin | np.int64(state.castling_rook[right]) << 7 | CASTLING << 14
    return origin | target << 7 | promotion << 14


@jit
def _replay(state, moves, rows):
    """Play legal moves from ``state``; write the start and the position after each move into ``rows``.

    ``moves`` has a row of origin, target and promotion for each move; ``rows`` has the shape (moves + 1, WORDS).
    """
    for ply in range(rows.shape[0]):
        _write_row(state, rows[ply])
        if ply < moves.shape[0]:
            move = _code_of(state, np.int64(moves[ply, 0]), np.int64(moves[ply, 1]), np.int64(moves[ply, 2]))
            if state.checkers == 0 and is_quiet(state, move) and not is_rare_ending(state):
                rows[ply, WORDS - 1] = 1
            make(state, move)


@jit
def _set_up(state, row):
    """Set up a row's position in ``state``, the side to move as White: only the fields that the evaluation reads."""
    for code in range(PIECES):
        state.pieces[code] = 0
    for square in range(SQUARES):
        word = row[square // _SQUARES_PER_WORD]
        piece = np.int64((word >> np.uint64(4 * (square % _SQUARES_PER_WORD))) & np.uint64(15))
        state.board[square] = EMPTY
        if piece == 0:
            continue
        code = piece - 1
        bit = np.uint64(1) << np.uint64(square)
        state.board[square] = code
        state.pieces[code] |= bit
        state.pieces[EMPTY + (code & 8)] |= bit
        if code & 7 == KING:
            state.king[code >> 3] = square


@jit
def _survey(state, rows, phases, counts):
    """Write n phases into ``phases``, shape (n,), and features into ``counts``, (n, features). Overwrites ``state``."""
    terms = np.zeros(TERM_COUNT, np.int16)
    for index in range(rows.shape[0]):
        _set_up(state, rows[index])
        terms[:] = 0
        sum_of_terms(state, terms)
        phases[index] = phase(state)
        for feature in range(counts.shape[1]):
            counts[index, feature] = terms[feature] if feature < TERM_COUNT else 0
        for square in range(SQUARES):
            code = np.int64(state.board[square])
            if code < EMPTY:
                counts[index, FEATURE_OF_SQUARES[code, square]] += 1
            elif code > EMPTY:
                counts[index, FEATURE_OF_SQUARES[code - 8, square ^ 56]] -= 1


class ChessFitting(EvaluationFitting):
    """Chess as an ``EvaluationFitting``, for ``elolab fit-evaluation``."""

    parameter = "evaluation_weights"
    features = CHESS
    words = WORDS
    regression = "logistic"
    odds_scale = 220.0
    phases = 2
    groups = tuple(
        tuple(CHESS.index(f"{piece}_{square}") for square in CHESS_SQUARES[piece])
        for piece in CHESS_PIECES
        if piece != "king"
    )
    self_play = MappingProxyType({})
    self_play_limit = "nodes=800"
    opening_plies = (4, 12)
    # Resign early: the last moves of a won game say little about the value of squares.
    adjudication = Adjudication(resign_score=1000, resign_moves=4, draw_moves=0, maximum_plies=300)

    def rows_in_words(self, phases: int) -> str:
        """A sentence for the file of weights: the unit of the weights, and the meaning of the file's two rows."""
        return "Centipawns: with all the material of the start, and with none."

    def rows_of_game(self, start: str, moves: Sequence[str]) -> np.ndarray:
        numbers = [(_SQUARES[move[:2]], _SQUARES[move[2:4]], " nbrq".index(move[4:] or " ")) for move in moves]
        rows = np.zeros((len(moves) + 1, self.words), np.uint64)
        _replay(notation.parse_position(start), np.array(numbers, np.int64).reshape(-1, 3), rows)
        return rows

    def usable(self, rows: np.ndarray) -> np.ndarray:
        """Boolean mask of the positions that are marked as suitable; see ``EvaluationFitting``."""
        return rows[:, -1] != 0

    def survey(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The phase (from 0 to ``PHASES``) and the features of each position; see ``EvaluationFitting``."""
        phases = np.zeros(len(rows), np.int64)
        counts = np.zeros((len(rows), len(self.features)), np.int8)
        _survey(new_record(STATE_DTYPE), np.ascontiguousarray(rows), phases, counts)
        return phases, counts

    def row_shares(self, steps: np.ndarray) -> np.ndarray:
        """Shares, from 0 to 1, of the two rows of weights, for opening and endgame: shape (n, 2) for n phases."""
        return np.stack([steps, PHASES - steps], axis=1) / PHASES

    def text_of(self, row: Any) -> str:
        """FEN of the position with the side to move as White, without castling rights."""
        state = notation.parse_position(notation.START)
        _set_up(state, row)
        state.castling = 0
        state.en_passant = NO_SQUARE
        return notation.format_position(state)


FITTING = ChessFitting()
