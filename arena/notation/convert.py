"""Converts games and positions from one notation or file format into another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from elolab.arena.notation.archives import ggf
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
"""Formats that hold training data alone; EPD does on request."""
TARGETS = (*NOTATIONS, "fen", "epd", "pgn", "ggf", *TRAINING)
"""Formats that a conversion can write: PGN in each notation of moves, positions, opening suites, PGN in the notation of
the input, GGF, and training data.
"""


def check_target(target: str, game: Game) -> None:
    """Raise ``UserError`` if games or positions of ``game`` cannot be written in the target form."""
    assert target in TARGETS, target
    if target in NOTATIONS and target not in game.move_notations:
        held = f"are written as {', '.join(game.move_notations)}" if game.move_notations else "have one notation only"
        raise UserError(
            f"{argument('to', target)}: moves of {game.name} {held}", f"give {argument('to', 'pgn')}, fen or epd"
        )
    if target == "ggf" and game.name != ggf.FORMAT.game:
        raise UserError(
            f"{argument('to', 'ggf')}: holds games of Othello, not of {game.title}", f"give {argument('to', 'pgn')}"
        )


def read_all(path: Path, reading: Reading, plies: int | None = None) -> Iterator[Entry]:
    """Read the games and positions of a file, or of all files with games in a folder or zip file.

    ``plies`` shortens each game to its first moves. An error takes the place of a game, or of a whole file, that cannot
    be read.
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
    """Read the games and positions of one file, each game shortened to ``plies``.

    Yields nothing if a file found in a folder has no known format.
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
    """Convert games to the form ``target``, one of ``TARGETS``; yields the parts of the text one after another.

    A game becomes the position after its last move. ``repeated`` is called for each repeated position that EPD drops.
    """
    if target in ("fen", "epd"):
        yield from _position_lines(games, game, target, repeated)
    elif target in TRAINING:
        yield from training_data(games, game, target)
    elif target == "ggf":
        yield from (ggf.ggf_text(portable, game) for portable in games)
    else:
        for number, portable in enumerate(games):
            text = portable_text(portable, game, portable.notation if target == "pgn" else target)
            yield f"\n{text}" if number else text


def _read_positions(lines: Iterable[PositionLine], game: Game) -> Iterator[Entry]:
    """Read positions as games without moves; an invalid line yields an error."""
    for where, position, name in lines:
        if mistake := moves_mistake(position):
            yield PortableGameError(f"{where}: {mistake}")
            continue
        try:
            start = game.position(position).text
        except UserError as error:
            yield PortableGameError(f"{where}: {error}")
        else:
            yield PortableGame((("Opening", name),) if name else (), start, ())


_TAGS_OF_THE_END = {
    "plycount", "termination", "reason", "discdifference", "theoreticaldiscdifference", "theoreticalempties"
}  # fmt: skip


def shortened(portable: PortableGame, plies: int) -> PortableGame:
    """The first plies of a game; without its result and its end, unless it has no more plies."""
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
