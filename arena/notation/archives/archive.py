"""The interface of an archive format, and the replay of moves that all formats share.

A reader yields the games of one file. For an illegal or truncated game it yields an error instead and continues; the
error is one line with the file, the number of the game, the ply and the move.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from elolab.arena.notation.pgn import PortableGame, PortableGameError, PortableMove
from elolab.engine.errors import UserError

if TYPE_CHECKING:
    from elolab.engine.games.contract import Game, Position

PASS = "pass"
"""Notation of a pass."""

Entry = PortableGame | PortableGameError
"""A game, or the error of a game that cannot be read."""


def _nothing_beside(suffix: str) -> bytes | None:
    """Return ``None``: the default of ``ArchiveFile.beside``, for input without a folder, such as standard input."""
    return None


@dataclass(frozen=True)
class ArchiveFile:
    """One file of games."""

    where: str
    """Name of the file in error messages."""
    data: bytes
    """Decompressed content of the file."""
    is_chosen: bool = True
    """Whether the user named this file; a file found in a folder or zip file may be something other than an archive."""
    beside: Callable[[str], bytes | None] = _nothing_beside
    """Function that returns the content of the file of the same name with another suffix, such as ``.jou``.

    ``None`` means that there is no such file.
    """
    first_line: int = 1
    """Line number in the file at which ``data`` begins; more than 1 for a later part of a large text."""
    first_game: int = 1
    """Number of the first game of ``data``, counted from 1 at the start of the file."""


@dataclass(frozen=True)
class Reading:
    """Options for reading games from an archive."""

    game: Game
    ranks: str = "0"
    """Number of the lowest rank in the moves of PGN files: ``0``, ``1``, or ``auto`` to infer it."""
    plies: int | None = None
    """Maximum number of plies to read of each game, ``None`` for all; later moves are not checked."""


@dataclass(frozen=True)
class ArchiveFormat:
    """A file format for games."""

    name: str
    game: str
    """Name of the only game that the format can store; empty for any game."""
    recognises: Callable[[bytes], bool]
    """Function that returns whether a file's content is in this format, even if the content is damaged."""
    read: Callable[[ArchiveFile, Reading], Iterator[Entry]]
    """Function that yields the games of a file in this format.

    Raises ``PortableGameError`` if the games cannot be separated.
    """


class ArchivedMove(NamedTuple):
    """A move as stored in an archive."""

    move: str
    """Move in the game's protocol notation."""
    comment: str = ""
    side: int | None = None
    """Side that makes the move, 0 for the first mover; ``None`` if the archive does not record it."""


def start_position(game: Game, text: str, where: str) -> Position:
    """Parse a position in the game's notation; raises ``PortableGameError``, naming ``where``, for other texts."""
    try:
        return game.position(text)
    except UserError as error:
        raise PortableGameError.at(f"{where}: start position", error) from None


def replay(
    position: Position, moves: Iterable[ArchivedMove], where: str, plies: int | None = None
) -> tuple[PortableMove, ...]:
    """Play ``moves`` by the rules of the game, at most ``plies`` of them; returns all moves played.

    Inserts passes that the game requires and the archive omits. For an illegal move, raises ``PortableGameError`` with
    the number of that move.
    """
    played: list[PortableMove] = []
    for ply, entry in enumerate(moves, start=1):
        if plies is not None and len(played) >= plies:
            break
        try:
            played += _played(position, entry)
        except UserError as error:
            raise PortableGameError.at(f"{where}, ply {ply}", error) from None
    return tuple(played[:plies])


def _played(position: Position, entry: ArchivedMove) -> list[PortableMove]:
    """Play a move, after a pass if the move is legal only then; returns the moves played."""
    move = PortableMove(entry.move, entry.comment)
    try:
        _check_side(position, entry)
        position.push(entry.move)
    except UserError:
        if entry.move == PASS or position.legal_moves() != [PASS]:
            raise
        position.push(PASS)
        _check_side(position, entry)
        position.push(entry.move)
        return [PortableMove(PASS), move]
    return [move]


def _check_side(position: Position, entry: ArchivedMove) -> None:
    if entry.side is not None and entry.side != position.side_to_move:
        mover, other = (position.game.side_names[side] for side in (entry.side, position.side_to_move))
        raise UserError(f"{entry.move!r} is {mover}'s, but {other} is to move in position {position.text!r}")
