"""How programs write moves: a ``MoveTexts`` converts between the moves of a game and the texts of a program.

Xiangqi programs number the ranks from 0 or from 1 (``RankedMoves``). In other games, programs use one of several
notations that the game itself can read and write (``GameMoves``).
"""

from __future__ import annotations

import functools
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import repeat
from typing import TYPE_CHECKING

from elolab.arena.players.player import MAX_VARIATION, variation_of
from elolab.engine.errors import UserError, WrongMoveError
from elolab.engine.games import REGISTERED

if TYPE_CHECKING:
    from elolab.engine.games.contract import Game, Position

RANKED = tuple(name for name, entry in REGISTERED.items() if entry.is_ranked)
"""Games whose moves contain rank numbers that start at 0 in some programs and at 1 in others."""
_MOVE = re.compile(r"([a-i])(\d{1,2})([a-i])(\d{1,2})")
_ICCS_MOVES = re.compile(r"[a-i][0-9][a-i][0-9](?: [a-i][0-9][a-i][0-9])*")


@functools.lru_cache(maxsize=10_000)
def read_move(text: str, first_rank: int) -> str | None:
    """Convert an engine's move to ICCS notation with ranks 0 to 9; ``None`` if the text is no move.

    ``first_rank`` is 0 or 1, the number that the engine gives to the first rank.
    """
    match = _MOVE.fullmatch(text)
    if match is None:
        return None
    from_file, from_rank, to_file, to_rank = match.groups()
    ranks = (int(from_rank) - first_rank, int(to_rank) - first_rank)
    if not all(0 <= rank <= 9 for rank in ranks):
        return None
    return f"{from_file}{ranks[0]}{to_file}{ranks[1]}"


@functools.cache  # the whole game is converted for every move
def write_move(move: str, first_rank: int) -> str:
    """Convert an ICCS move for an engine that gives the number ``first_rank`` (0 or 1) to the first rank."""
    if first_rank == 0:
        return move
    return f"{move[0]}{int(move[1]) + first_rank}{move[2]}{int(move[3]) + first_rank}"


def read_variation(text: str, first_rank: int) -> str:
    """Convert an engine's principal variation to ICCS moves separated by blanks, as in ``Reply``.

    ``first_rank`` is 0 or 1, the number that the engine gives to the first rank.
    """
    if first_rank == 0 and _ICCS_MOVES.fullmatch(text):  # the usual case; every move has a variation
        return text[: 5 * MAX_VARIATION - 1]
    return variation_of(map(read_move, text.split(), repeat(first_rank)))


def detect_first_rank(text: str, legal: Collection[str]) -> int | None:
    """Detect from one move whether an engine numbers the ranks from 0 or from 1.

    ``text`` is the engine's move; ``legal`` has the legal moves in ICCS notation. Returns the number with which the
    move is legal; ``None`` if it is legal with both numbers or with neither.
    """
    bases = [base for base in (0, 1) if read_move(text, base) in legal]
    return bases[0] if len(bases) == 1 else None


@functools.lru_cache(maxsize=10_000)
def _read_alone(game: Game, text: str) -> str | None:
    """Read a move without knowing its position; ``None`` if that is impossible."""
    try:
        return game.read_moves(game.position(), [text], "")[0]
    except UserError:
        return None


class MoveTexts(ABC):
    """Converts moves between a game's notation and a program's notation."""

    def write_position(self, text: str) -> str:
        """Convert a position (FEN) to the program's notation."""
        return text

    @abstractmethod
    def write(self, start: str, moves: Sequence[str], first: int = 0) -> Iterable[str]:
        """Convert the moves of a game, from index ``first`` on, to the program's notation.

        ``moves`` has all moves since the position ``start``, because a notation such as SAN depends on the position.
        """

    @abstractmethod
    def read(self, text: str, position: Position | None) -> str | None:
        """Convert a move of the program; ``None`` if the text is no move.

        ``position`` is the position before the move, ``None`` if it is unknown.
        """

    @abstractmethod
    def read_line(self, text: str, position: Position | None) -> str:
        """Convert a sequence of moves, such as a principal variation, to moves separated by blanks, as in ``Reply``.

        ``position`` is the position before the first move, ``None`` if unknown. Stops at the first word that is no
        move.
        """

    def has_one_meaning(self, word: str) -> bool:
        """Whether the text of a move means the same move in every position in which it is legal."""
        return True


class RankedMoves(MoveTexts):
    """Converts Xiangqi moves for a program that gives the number ``first_rank`` (0 or 1) to the first rank."""

    def __init__(self, first_rank: int) -> None:
        self.first_rank = first_rank

    def write(self, start: str, moves: Sequence[str], first: int = 0) -> Iterable[str]:
        return map(write_move, moves[first:], repeat(self.first_rank))

    def read(self, text: str, position: Position | None) -> str | None:
        return read_move(text, self.first_rank)

    def read_line(self, text: str, position: Position | None) -> str:
        return read_variation(text, self.first_rank)


class GameMoves(MoveTexts):
    """Converts moves to the notation ``style`` of a game (see ``Game.write_moves``), and from any of its notations."""

    def __init__(self, game: Game, style: str) -> None:
        self._game, self.style = game, style

    def write_position(self, text: str) -> str:
        return self._game.write_position(text, self.style)

    def write(self, start: str, moves: Sequence[str], first: int = 0) -> Iterable[str]:
        """Convert the moves; replays the game from ``start`` if the notation depends on the position."""
        position: Callable[[], Position] = lambda: self._game.position(start, moves[:first])  # noqa: E731
        return self._game.write_moves(position, moves[first:], self.style)

    def read(self, text: str, position: Position | None) -> str | None:
        """Convert a move, which need not be legal; ``None`` if the text is no move.

        Without a position, only texts that mean the same move in every position can be read.
        """
        if position is None:
            return _read_alone(self._game, text)
        try:
            (move,) = self._game.read_moves(position, [text], "")
        except UserError:
            named = self._named([text], position)
            return named[0] if named else None
        return move

    def has_one_meaning(self, word: str) -> bool:
        return self._game.has_one_meaning(word)

    def read_line(self, text: str, position: Position | None) -> str:
        """Convert a sequence of moves up to the first word that is no move.

        Without a position, only moves whose texts mean the same in every position can be converted.
        """
        words = text.split(maxsplit=MAX_VARIATION)[:MAX_VARIATION]
        if position is None:
            return variation_of(_read_alone(self._game, word) for word in words)
        try:
            return " ".join(self._game.read_moves(position, words, ""))
        except UserError:
            return " ".join(self._named(words, position))

    def _named(self, words: Sequence[str], position: Position) -> list[str]:
        """Convert ``words`` in any notation of the game, such as SAN, up to the first that is no legal move."""
        names = self._game.move_names
        if names is None:
            return []
        try:
            return list(names.read_game(position.copy(), words, "0", str))
        except WrongMoveError as error:
            return list(names.read_game(position.copy(), words[: error.number], "0", str))
