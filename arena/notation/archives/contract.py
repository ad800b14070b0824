"""What a format of archives has to give, and the replaying that all of them share.

A reader gives the games of one file one after another. A game that is illegal or cut is an error in its place, one line
with the file, the game's number, the ply and the move, and the next game goes on.
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
"""The move of games in which a player may have none."""

Entry = PortableGame | PortableGameError
"""A game, or what is wrong with it."""


def _nothing_beside(suffix: str) -> bytes | None:
    """Of what has no folder, such as standard input."""
    return None


@dataclass(frozen=True)
class Source:
    """One file of games."""

    where: str
    """What to call it in errors."""
    data: bytes
    """Its content, unpacked."""
    is_chosen: bool = True
    """Whether it was named itself; what is merely found in a folder or zip file may be something else."""
    beside: Callable[[str], bytes | None] = _nothing_beside
    """The content of a file in the same folder by the end of its name (``.jou``); ``None`` without one."""


@dataclass(frozen=True)
class Reading:
    """What is wanted of games."""

    game: Game
    ranks: str = "0"
    """Base of ranks in coordinates in PGN: ``0``, ``1`` or ``auto``."""
    plies: int | None = None
    """How many first moves to read; those after them are not even looked at. Formats that are PGN read all."""
    variations: bool = False
    """Whether variations are games too, each from the start of its game; a tag ``Variation`` numbers them from 1."""


@dataclass(frozen=True)
class ArchiveFormat:
    """A format of files with games."""

    name: str
    game: str
    """The game that is played in it; empty if it may be any."""
    recognises: Callable[[bytes], bool]
    """Whether a file's content is in this format, maybe damaged."""
    read: Callable[[Source, Reading], Iterator[Entry]]
    """The games of a recognised file; raises ``PortableGameError`` where they cannot be told apart."""


class ArchivedMove(NamedTuple):
    """A move as an archive has it."""

    move: str
    """The game's protocol notation."""
    comment: str = ""
    side: int | None = None
    """Whose move it is said to be, 0 for the first mover's colour; ``None`` if the archive does not say."""


def start_position(game: Game, text: str, where: str) -> Position:
    """The position of a text; raises ``PortableGameError``."""
    try:
        return game.position(text)
    except UserError as error:
        raise PortableGameError(f"{where}: start position: {error}") from None


def replay(
    position: Position, moves: Iterable[ArchivedMove], where: str, plies: int | None = None
) -> tuple[PortableMove, ...]:
    """Play moves, the first ``plies`` of them if given, by the rules of the game.

    Passes that the game demands and the archive leaves out are put in. Raises ``PortableGameError`` with the number of
    the first move that is not legal.
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
    """Play a move, and before it the pass without which it is not legal."""
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
