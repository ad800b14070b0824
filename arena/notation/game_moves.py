"""Reading the moves of a game in any notation, and recognizing positions and moves of another game."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from elolab.engine.errors import UserError, WrongMoveError
from elolab.engine.games import GAMES, game_named

if TYPE_CHECKING:
    from elolab.engine.games.contract import Position

_OTHELLO_SQUARE = re.compile(r"[a-hA-H][1-8]|pass|PA", re.IGNORECASE)
_ONLY_CHESS = re.compile(r"[O0]-[O0](-[O0])?[+#]?|Q[a-h]?[1-8]?x?[a-h][1-8][+#]?|[a-h](x[a-h])?[18]=?[QRBN][+#]?")
_CHESS = re.compile(rf"[KRBN]?[a-h]?[1-8]?x?[a-h][1-8][+#!?]*|{_ONLY_CHESS.pattern}")
"""Matches chess moves; a text with such moves, but none of advisors or cannons, is not a game of Xiangqi."""


def other_game_with(position: str, game: str) -> str | None:
    """Name of a game, other than ``game``, in which the text is a valid position; ``None`` if there is none."""
    for other in GAMES:
        try:
            if other != game and game_named(other).position(position):
                return other
        except UserError:
            continue
    return None


def read_moves(
    position: Position, words: Sequence[str], ranks: str, ranks_of_file: Callable[[], str] = lambda: ""
) -> list[str]:
    """Convert moves in any notation to the game's protocol notation; advances ``position`` past the last move.

    ``ranks`` is the number of the first rank in coordinates: ``0``, ``1``, or ``auto`` to infer it. ``ranks_of_file()``
    returns the number that the SAN games of the same file use. Raises ``WrongMoveError`` for an illegal or unreadable
    move; the message names the notation that the moves resemble.
    """
    first = position.side_to_move
    names = position.game.move_names
    try:
        if names is None:
            return [_played(position, number, word) for number, word in enumerate(words)]
        return list(names.read_game(position, words, ranks, ranks_of_file))
    except WrongMoveError as error:
        from elolab.engine.games import algebraic

        number = first + error.number
        side = position.game.side_names[number % 2]
        seems = "" if position.game.move_names is algebraic else seeming_notation(words)
        problem, remedy = error.args
        remedy = "; ".join(filter(None, (remedy, seems and f"the moves look like {seems}")))
        raise WrongMoveError(error.number, f"{side}'s move {number // 2 + 1}{problem}", remedy) from None


def _played(position: Position, number: int, word: str) -> str:
    """Play a move of a game that has only one notation, and return it in that notation.

    Raises ``WrongMoveError`` with the move's index ``number`` if the move is illegal.
    """
    try:
        (move,) = position.game.read_moves(position, [word], "0")
        position.push(move)
    except UserError as error:
        raise WrongMoveError(number, f": {error.args[0]}", error.args[1]) from None
    return move


def seeming_notation(words: Sequence[str]) -> str:
    """English name of the notation that the moves resemble; empty if they resemble none."""
    from elolab.engine.games.xiangqi.move_names import is_algebraic_game, looks_like_a_move, notation_of

    if words and all(_OTHELLO_SQUARE.fullmatch(word) for word in words):
        return "Othello"
    if any(_ONLY_CHESS.fullmatch(word) for word in words) or (words and all(_CHESS.fullmatch(word) for word in words)):
        return "SAN of chess"
    if is_algebraic_game(words):
        return "SAN of Xiangqi"
    found = [notation_of(word) for word in words if looks_like_a_move(word)]
    if 2 * len(found) <= len(words):
        return ""
    likeliest = max(set(found), key=found.count)
    names = {"iccs": "coordinates", "wxf": "WXF", "chinese": "Chinese notation", "traditional": "Chinese notation"}
    return f"{names[likeliest]} of Xiangqi"
