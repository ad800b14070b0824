"""Reads and writes the text of Othello positions and moves.

A position is 64 characters for the squares a1 to h1, a2 to h2 and so on to h8, then the side to move. A move is a
square such as ``d3``, or ``pass``.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import Any

from elolab.engine.compiled.kernel import new_record
from elolab.engine.games.contract import MoveError, PositionError
from elolab.engine.games.othello.boards import SQUARES
from elolab.engine.games.othello.position import BLACK, PASS_SQUARE, STATE_DTYPE, WHITE, refresh_key

START = "---------------------------OX------XO--------------------------- X"
PASS_WORDS = ("pass", "pa", "ps", "--")
_OCCUPANTS = "XO"
_EMPTY = "-."
_DIGITS = [str.maketrans(_OCCUPANTS + _EMPTY, digits) for digits in ("1000", "0100")]
"""For each side, a table for ``str.translate`` that converts a board's letters to bits: 1 for a disc of the side."""


def square_name(square: int) -> str:
    """Name of a square: its file, a to h, and its rank, 1 to 8."""
    return "abcdefgh"[square % 8] + str(square // 8 + 1)


@functools.cache
def format_move(code: int) -> str:
    """Text of a move's integer code: a square such as ``d3``, or ``pass``."""
    return "pass" if code >> 7 == PASS_SQUARE else square_name(code >> 7)


def read_move(word: str) -> str:
    """Convert a move to standard spelling (``d3``, ``pass``). Raises ``MoveError`` if it is unreadable."""
    move = word.lower()
    if move in PASS_WORDS:
        return "pass"
    if not re.fullmatch(r"[a-h][1-8]", move):
        raise MoveError(f"cannot read the move {word!r}, expected a square such as d3, or pass")
    return move


def read_moves(position: Any, moves: Sequence[str], ranks: str) -> list[str]:
    """Convert moves to standard spelling (``d3``, ``pass``). Raises ``MoveError`` if one is unreadable.

    ``position`` and ``ranks`` have no effect in Othello.
    """
    return [read_move(word) for word in moves]


def parse_position(text: str) -> Any:
    """Create a state from the text of a position: 64 squares and the side to move. Raises ``PositionError``.

    Letters may be upper or lower case, and ``.`` may stand for an empty square. The four central squares must be
    occupied.
    """
    fields = text.split()
    if "/" in text and fields[1:] and fields[1] in ("w", "b", "r"):
        raise PositionError(f"board {text!r}: expected 64 characters and X or O (this looks like a FEN)")
    if len(fields) != 2:
        raise PositionError(f"board {text!r}: expected 64 characters (X, O or -) and the side to move, X or O")
    board, side = fields[0].upper(), fields[1].upper()
    if len(board) != SQUARES:
        raise PositionError(f"board {text!r}: {len(board)} squares, expected 64 (a1 to h1, a2 to h8)")
    if side not in _OCCUPANTS:
        raise PositionError(f"board {text!r}: side to move is {fields[1]!r}, expected X (Black) or O (White)")
    if board.strip(_OCCUPANTS + _EMPTY):
        square = next(square for square, letter in enumerate(board) if letter not in _OCCUPANTS + _EMPTY)
        raise PositionError(f"board {text!r}: {board[square]!r} on {square_name(square)}, expected X, O or -")
    # The first square is the lowest bit.
    discs = [int(board[::-1].translate(digits), 2) for digits in _DIGITS]
    for square in (27, 28, 35, 36):
        if not (discs[0] | discs[1]) >> square & 1:
            raise PositionError(f"board {text!r}: {square_name(square)} is empty, where every game begins with a disc")
    state = new_record(STATE_DTYPE)
    state.discs[BLACK], state.discs[WHITE] = discs
    state.side = _OCCUPANTS.index(side)
    refresh_key(state)
    return state


def format_position(state: Any) -> str:
    """Text of a position: 64 characters for the squares, and the side to move."""
    return f"{''.join(_board_letters(state))} {_OCCUPANTS[int(state.side)]}"


def _board_letters(state: Any) -> list[str]:
    black, white = int(state.discs[BLACK]), int(state.discs[WHITE])
    return ["X" if black >> square & 1 else "O" if white >> square & 1 else "-" for square in range(SQUARES)]


def draw(state: Any) -> str:
    """Draw the board as text for a terminal, with a1 at the top left."""
    letters = _board_letters(state)
    rows = [f"{rank + 1} {' '.join(letters[8 * rank : 8 * rank + 8])}" for rank in range(8)]
    return "\n".join(["  a b c d e f g h", *rows])
