"""The interface of an archive format, and the replay of moves that all formats share.

A reader yields the games of one file. An illegal or truncated game yields an error instead (one line with the file, the
game's number, the ply and the move), and reading goes on.
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
"""The move of a player who must pass."""

Entry = PortableGame | PortableGameError
"""A game, or the error in its place."""


def _nothing_beside(suffix: str) -> bytes | None:
    """Return ``None``: the default of ``beside`` for input without a folder, such as standard input."""
    return None


@dataclass(frozen=True)
class ArchiveFile:
    """One file of games."""

    where: str
    """Name of the file in errors."""
    data: bytes
    """Its content, unpacked."""
    is_chosen: bool = True
    """Whether the user named it; a file merely found in a folder or zip file may be something else."""
    beside: Callable[[str], bytes | None] = _nothing_beside
    """The content of a file in the same folder by the end of its name (``.jou``); ``None`` without one."""


@dataclass(frozen=True)
class Reading:
    """Options of reading games."""

    game: Game
    ranks: str = "0"
    """Base of ranks in coordinates in PGN: ``0``, ``1`` or ``auto``."""
    plies: int | None = None
    """Number of first moves to read; later ones are not even examined. PGN formats read all."""
    variations: bool = False
    """Whether to read variations as games of their own, from the start; a tag ``Variation`` numbers them from 1."""


@dataclass(frozen=True)
class ArchiveFormat:
    """A file format of games."""

    name: str
    game: str
    """The only game it is for; empty for any."""
    recognises: Callable[[bytes], bool]
    """Detects content in this format, even if damaged."""
    read: Callable[[ArchiveFile, Reading], Iterator[Entry]]
    """Yields the games of a recognised file; raises ``PortableGameError`` if it cannot separate them."""


class ArchivedMove(NamedTuple):
    """A move as stored in an archive."""

    move: str
    """Move in the game's protocol notation."""
    comment: str = ""
    side: int | None = None
    """Side to move according to the archive, 0 for the first mover; ``None`` if it does not say."""


def start_position(game: Game, text: str, where: str) -> Position:
    """The position of a text; raises ``PortableGameError``."""
    try:
        return game.position(text)
    except UserError as error:
        raise PortableGameError(f"{where}: start position: {error}") from None


def replay(
    position: Position, moves: Iterable[ArchivedMove], where: str, plies: int | None = None
) -> tuple[PortableMove, ...]:
    """Play moves (the first ``plies`` of them, if given) by the rules of the game.

    Passes that the game requires and the archive omits are inserted. Raises ``PortableGameError`` with the number of
    the first illegal move.
    """
    played: list[PortableMove] = []
    for ply, entry in enumerate(moves, start=1):
        if plies is not None and len(played) >= plies:
            break
        try:
            played += _played(position, entry)
        except UserError as error:
            raise PortableGameError(f"{where}, ply {ply}: {error}") from None
    return tuple(played[:plies])


def _played(position: Position, entry: ArchivedMove) -> list[PortableMove]:
    """Play a move, preceded by a pass if it is legal only after one."""
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
