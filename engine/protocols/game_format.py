"""Othello games in the Generic Game Format (GGF) of the Generic Game Server, as the NBoard protocol uses it.

A game is ``(;GM[Othello]...;)``, a list of tags with values in brackets. ``BO[8 BOARD SIDE]`` is the first position,
from row 1 on: ``*`` for Black, ``O`` for White, ``-`` for an empty square. Each ``B[...]`` and ``W[...]`` is a move,
and ``PA`` a pass; an evaluation and a time may follow, each after a slash. All other tags are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from elolab.engine.errors import UserError
from elolab.engine.games import game_named
from elolab.engine.games.contract import Position
from elolab.engine.protocols.turns import PASS, play_in_turn

_GAME_NAME = "othello"
_TAG = re.compile(r"([A-Za-z]+)\s*\[((?:[^\]\\]|\\.)*)\]")
_GAME = re.compile(r"\(\s*;(.*);\s*\)")
_SIDES = ("B", "W")


class GameFormatError(UserError):
    """An unreadable game in GGF; the message describes the mistake."""


def read_game(text: str) -> Position:
    """Parse a game in GGF: returns the position at its end, which includes the moves.

    The text may omit passes. Raises ``GameFormatError`` or another ``UserError``.
    """
    found = _GAME.search(text)
    if found is None:
        raise GameFormatError("the game does not begin with (; and end with ;)")
    position: Position | None = None
    for name, value in _TAG.findall(found.group(1)):
        tag = name.upper()
        if tag == "GM" and value.strip().lower() != _GAME_NAME:
            raise GameFormatError(f"a game of {value!r}, expected GM[Othello]")
        if tag == "BO":
            position = game_named(_GAME_NAME).position(_read_board(value))
        elif tag in _SIDES:
            if position is None:
                raise GameFormatError("a move before the position", "BO[8 BOARD SIDE] comes first")
            play_in_turn(position, _SIDES.index(tag), read_move(value))
    if position is None:
        raise GameFormatError("no position", "expected BO[8 BOARD SIDE]")
    return position


def write_game(start: str, moves: Sequence[str]) -> str:
    """Write a game as one line of GGF, given the text of its first position and its moves."""
    board, side = start.split()
    first = "XO".index(side)
    tags = [f"BO[8 {board.replace('X', '*')} {'*' if first == 0 else 'O'}]"]
    tags += [f"{_SIDES[(first + ply) % 2]}[{write_move(move)}]" for ply, move in enumerate(moves)]
    return f"(;GM[Othello]TY[8]{''.join(tags)};)"


def read_move(text: str) -> str:
    """Convert a move in GGF, such as ``D3/1.50/0.2``, to ``d3`` or ``pass``; raises ``MoveError``."""
    words = text.split("/")[0].split()
    return game_named(_GAME_NAME).read_moves(game_named(_GAME_NAME).position(), words[:1] or [""], "0")[0]


def write_move(move: str) -> str:
    """Convert a move to GGF: ``D3``, or ``PA`` for a pass."""
    return "PA" if move == PASS else move.upper()


def _read_board(text: str) -> str:
    words = text.split()
    if len(words) < 3 or words[0] != "8":
        raise GameFormatError(f"BO[{text}]: expected 8, the squares and the side to move")
    squares, side = "".join(words[1:-1]), words[-1]
    return f"{squares.replace('*', 'X')} {side.replace('*', 'X')}"
