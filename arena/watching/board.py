"""Draws boards in a terminal, with letters or Chinese characters, and tracks the position of a running game.

A square is two terminal columns wide: a letter and a blank, or one Chinese character.
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


def board_lines(game: str, position: str, pieces: dict[str, str]) -> list[list[Span]]:
    """A board as lines of text: ranks from the top, then the letters of the files. Empty for a game without a board.

    ``pieces`` maps letters in ``position`` to the texts to draw; other letters are drawn unchanged. The pieces of one
    side are coloured: Red in Xiangqi, White in Othello, Black in chess.
    """
    contract = game_named(game)
    if not contract.ranks:
        return []

    def square(sign: str) -> Span:
        return (pieces.get(sign, f"{sign} "), RED if contract.side_of(sign) == contract.coloured_side else "")

    rows = contract.board_rows(position)
    files = "".join(f"{letter} " for letter in FILES[: len(rows[0])])
    lines = [
        [(f"{rank} ", ""), *((EMPTY, "") if sign == " " else square(sign) for sign in row)]
        for rank, row in zip(contract.ranks, rows, strict=True)
    ]
    return [*lines, [("  ", ""), (files, "")]]


class Retraced:
    """Computes the position of the displayed game; plays only the moves that are new since the last call."""

    def __init__(self) -> None:
        self._game: tuple[str, str, Sequence[str]] = ("", "", ())
        self._made: list[str] = []
        self._position: Position | None = None

    def position(self, game: dict[str, Any]) -> str | None:
        """The position, as text, after the moves of a game in ``live.json``; ``None`` if the moves are illegal."""
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
