"""Converts games and positions from one notation or file format into another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from elolab.arena.notation.archives.archive import ArchiveFile, Entry, Reading
from elolab.arena.notation.archives.archive_files import sources
from elolab.arena.notation.archives.formats import entries, is_archive, is_games
from elolab.arena.notation.openings import (
    SUITE_ENDINGS,
    PositionLine,
    epd_line,
    holds_positions,
    moves_mistake,
    position_lines,
)
from elolab.arena.notation.pgn import NOTATIONS, PortableGame, PortableGameError, decode_text, portable_text
from elolab.arena.notation.training import training_data
from elolab.engine.errors import UserError, argument

if TYPE_CHECKING:
    from elolab.engine.games.contract import Game

TRAINING = ("plain", "jsonl")
"""Formats that hold only training data; EPD can hold training data too."""
TARGETS = (*NOTATIONS, "fen", "epd", "pgn", *TRAINING)
"""Formats that a conversion can write.

In order: PGN in each notation of moves, positions as FEN, opening suites as EPD, PGN in the notation of the input, and
training data.
"""


def check_target(target: str, game: Game) -> None:
    """Raise ``UserError`` if games or positions of ``game`` cannot be written in the format ``target``."""
    assert target in TARGETS, target
    if target in NOTATIONS and target not in game.move_notations:
        held = f"are written as {', '.join(game.move_notations)}" if game.move_notations else "have one notation only"
        raise UserError(
            f"{argument('to', target)}: moves of {game.name} {held}", f"give {argument('to', 'pgn')}, fen or epd"
        )


def read_all(path: Path, reading: Reading, plies: int | None = None) -> Iterator[Entry]:
    """Read the games and positions of a file, or of all files with games in a folder or zip file.

    ``plies`` is the maximum number of plies to keep of each game. Yields an error for an unreadable game or file.
    """
    nothing = True
    for source in sources(path):
        found = [source] if isinstance(source, PortableGameError) else read_source(source, reading, plies)
        for entry in found:
            nothing = False
            yield entry
    if nothing:
        yield PortableGameError(f"{path}: no games or positions in it that elolab can read")


def read_source(source: ArchiveFile, reading: Reading, plies: int | None = None) -> Iterator[Entry]:
    """Read the games and positions of one file; keeps at most ``plies`` plies of each game.

    Yields nothing for a file of unknown format that was found in a folder.
    """
    found: Iterable[Entry] = entries(source, reading)
    if is_archive(source):
        pass
    elif not (source.is_chosen or is_games(source) or source.where.lower().endswith(SUITE_ENDINGS)):
        return
    else:
        try:
            text = decode_text(source.data, source.where, reading.game.encodings, source.first_line)
        except PortableGameError as error:
            yield error
            return
        if holds_positions(text, reading.game):
            found = _read_positions(position_lines(text, source.where, source.first_line), reading.game)
    for entry in found:
        yield entry if plies is None or isinstance(entry, PortableGameError) else shortened(entry, plies)


def converted(
    games: Iterable[PortableGame], game: Game, target: str, repeated: Callable[[], None] = lambda: None
) -> Iterator[str]:
    """Convert games to the format ``target``, one of ``TARGETS``; yields the text in parts.

    Formats of positions contain the position after a game's last move. ``repeated`` is called for each repeated
    position, which EPD omits.
    """
    if target in ("fen", "epd"):
        yield from _position_lines(games, game, target, repeated)
    elif target in TRAINING:
        yield from training_data(games, game, target)
    else:
        for number, portable in enumerate(games):
            text = portable_text(portable, game, portable.notation if target == "pgn" else target)
            yield f"\n{text}" if number else text


def _read_positions(lines: Iterable[PositionLine], game: Game) -> Iterator[Entry]:
    """Read positions as games without moves; an invalid line yields an error."""
    for where, position, name in lines:
        if mistake := moves_mistake(position):
            yield PortableGameError.at(where, mistake)
            continue
        try:
            start = game.position(position).text
        except UserError as error:
            yield PortableGameError.at(where, error)
        else:
            yield PortableGame((("Opening", name),) if name else (), start, ())


_TAGS_OF_THE_END = {
    "plycount", "termination", "reason", "discdifference", "theoreticaldiscdifference", "theoreticalempties"
}  # fmt: skip


def shortened(portable: PortableGame, plies: int) -> PortableGame:
    """The first ``plies`` plies of a game; unchanged if the game is not longer.

    A cut game loses its result, the tags about its end and its closing comment.
    """
    if len(portable.moves) <= plies:
        return portable
    tags = tuple((name, value) for name, value in portable.tags if name.lower() not in _TAGS_OF_THE_END)
    return replace(portable, moves=portable.moves[:plies], tags=tags, result="*", closing_comment="")


def _position_lines(
    games: Iterable[PortableGame], game: Game, target: str, repeated: Callable[[], None]
) -> Iterator[str]:
    seen: set[tuple[str, ...]] = set()
    for portable in games:
        text = game.position(portable.start, [entry.move for entry in portable.moves]).text
        board_and_side = tuple(text.split()[:4])
        if target == "fen":
            yield f"{text}\n"
        elif board_and_side in seen:
            repeated()
        else:
            seen.add(board_and_side)
            name = "".join(character for character in portable.name(game) if character not in '";#')
            yield f"{epd_line(text, name)}\n"
