"""Reading the moves of a game in any notation."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from elolab.engine.errors import UserError

if TYPE_CHECKING:
    from elolab.engine.games.contract import Position

_OTHELLO_SQUARE = re.compile(r"[a-hA-H][1-8]|pass|PA", re.IGNORECASE)
_ONLY_CHESS = re.compile(r"[O0]-[O0](-[O0])?[+#]?|Q[a-h]?[1-8]?x?[a-h][1-8][+#]?|[a-h](x[a-h])?[18]=?[QRBN][+#]?")
_CHESS = re.compile(rf"[KRBN]?[a-h]?[1-8]?x?[a-h][1-8][+#!?]*|{_ONLY_CHESS.pattern}")
"""Matches moves of Western chess; a game with such moves and without advisors or cannons is hardly Xiangqi."""


class WrongMoveError(UserError):
    """A move that cannot be read or is not legal; ``number`` is the move's index in the game, from 0."""

    def __init__(self, number: int, text: str) -> None:
        super().__init__(text)
        self.number = number


def read_moves(
    position: Position, words: Sequence[str], ranks: str, ranks_of_file: Callable[[], str] = lambda: ""
) -> list[str]:
    """Convert moves in any notation to the game's protocol notation; advances ``position`` past the last move.

    ``ranks`` is the number of the first rank in coordinates: ``0``, ``1``, or ``auto`` to infer it. ``ranks_of_file()``
    returns the number found in the SAN games of the same file. Raises ``WrongMoveError``, naming the notation that the
    words seem to be in.
    """
    first = position.side_to_move
    try:
        return _read(position, words, ranks, ranks_of_file)
    except WrongMoveError as error:
        number = first + error.number
        side = position.game.side_names[number % 2]
        seems = seeming_notation(words)
        hint = f"; the moves look like {seems}" if seems else ""
        raise WrongMoveError(error.number, f"{side}'s move {number // 2 + 1}{error}{hint}") from None


def _read(position: Position, words: Sequence[str], ranks: str, ranks_of_file: Callable[[], str]) -> list[str]:
    if not position.game.move_notations:
        return [_played(position, number, word) for number, word in enumerate(words)]
    from elolab.arena.notation.algebraic import AlgebraicError, read_algebraic
    from elolab.engine.games.xiangqi.move_names import is_coordinates

    if is_algebraic_game(words):
        try:
            moves = read_algebraic(position, words, ranks, ranks_of_file)
        except AlgebraicError as error:
            raise WrongMoveError(error.number, f": {error}") from None
        for move in moves:
            position.push(move)
        return moves
    first_rank = int(ranks == "1")
    if ranks == "auto" and words and all(is_coordinates(word) for word in words):
        try:
            words = position.game.read_moves(position, [word.rstrip("!?+#") for word in words], ranks)
        except UserError as error:
            raise WrongMoveError(0, f": {error}") from None
    return [_named(position, number, word, first_rank) for number, word in enumerate(words)]


def _played(position: Position, number: int, word: str) -> str:
    """Play a move of a game that has only one notation; returns it in that notation. ``number`` is its index, for
    errors.
    """
    try:
        (move,) = position.game.read_moves(position, [word], "0")
        position.push(move)
    except UserError as error:
        raise WrongMoveError(number, f": {error}") from None
    return move


def _named(position: Position, number: int, word: str, first_rank: int) -> str:
    """Play a move of Xiangqi in ICCS, WXF or Chinese notation; returns it in ICCS.

    ``number`` is its index in the game, for errors.
    """
    from elolab.engine.games.xiangqi.move_names import parse_move_name

    try:
        move = parse_move_name(position, word, first_rank)
        position.push(move)
    except UserError as error:
        base = ", ranks from 1" if first_rank else ""
        written = "" if word in str(error) else f" ({word!r}{base})"
        raise WrongMoveError(number, f"{written}: {error}") from None
    return move


def is_algebraic_game(words: Sequence[str]) -> bool:
    """Whether most moves are in SAN; ignores coordinates with a capital letter, which are ambiguous."""
    from elolab.arena.notation.algebraic import is_algebraic
    from elolab.engine.games.xiangqi.move_names import is_coordinates

    return 2 * sum(is_algebraic(word) and not is_coordinates(word) for word in words) > len(words)


def seeming_notation(words: Sequence[str]) -> str:
    """English name of the notation that the moves resemble; empty if they resemble none."""
    from elolab.engine.games.xiangqi.move_names import looks_like_a_move, notation_of

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
