"""Draws boards for a terminal with letters or Chinese characters, and tracks the position of a game in progress.

A square takes two columns of a terminal: a letter and a space, or one Chinese character.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from elolab.arena.colours import RED
from elolab.engine.errors import UserError
from elolab.engine.games import game_named
from elolab.engine.games.contract import Position

Span = tuple[str, str]
"""A text and its colour from ``arena.colours``; the colour is empty for plain text."""

EMPTY = ". "
FILES = "abcdefghi"


def _xiangqi_rows(text: str, pieces: dict[str, str]) -> list[tuple[str, list[Span]]]:
    rows = []
    for number, row in enumerate(text.split()[0].split("/")):
        squares: list[Span] = []
        for sign in row:
            if sign.isdigit():
                squares += [(EMPTY, "")] * int(sign)
            else:
                squares.append((pieces.get(sign, f"{sign} "), RED if sign.isupper() else ""))
        rows.append((f"{9 - number} ", squares))
    return rows


def _othello_rows(text: str, pieces: dict[str, str]) -> list[tuple[str, list[Span]]]:
    cells = text.split()[0]
    signs: dict[str, Span] = {"X": ("X ", ""), "O": ("O ", RED)}
    return [
        (f"{row + 1} ", [signs.get(sign.upper(), (EMPTY, "")) for sign in cells[8 * row : 8 * row + 8]])
        for row in range(8)
    ]


_ROWS = {"xiangqi": _xiangqi_rows, "othello": _othello_rows}
"""The function that draws a game's board, by game.

It takes a position's text and the names of pieces by letter. It returns the rows from the top; each has its label and
the texts of its squares.
"""


def board_lines(game: str, position: str, pieces: dict[str, str]) -> list[list[Span]]:
    """The lines of a board: ranks from the top, then the letters of the files; empty for a game without a drawing.

    ``pieces`` maps letters of the position's text to names; other letters are shown unchanged. The first mover's pieces
    in Xiangqi and the white discs in Othello are red.
    """
    if game not in _ROWS:
        return []
    rows = _ROWS[game](position, pieces)
    files = "".join(f"{letter} " for letter in FILES[: len(rows[0][1])])
    return [*([(head, ""), *squares] for head, squares in rows), [("  ", ""), (files, "")]]


class Retraced:
    """The position of the displayed game; replays only the moves added since the last call."""

    def __init__(self) -> None:
        self._game: tuple[str, str, Sequence[str]] = ("", "", ())
        self._made: list[str] = []
        self._position: Position | None = None

    def position(self, game: dict[str, Any]) -> str | None:
        """The position's text after the moves of a game in ``live.json``; ``None`` if they are illegal."""
        begun = (game["game"], game["position"], game["opening_moves"])
        moves = game["moves"]
        try:
            if self._position is None or begun != self._game or moves[: len(self._made)] != self._made:
                self._position = game_named(begun[0]).position(begun[1] or None, begun[2])
                self._game, self._made = begun, []
            for move in moves[len(self._made) :]:
                self._position.push(move)
                self._made.append(move)
        except UserError:
            self._position = None
            return None
        return self._position.text
