"""Games and positions from one notation or file format into another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from elolab.arena.notation.archives.contract import Entry, Reading, Source
from elolab.arena.notation.archives.formats import entries, is_archive, is_games
from elolab.arena.notation.archives.ggf import ggf_text
from elolab.arena.notation.archives.sources import sources
from elolab.arena.notation.openings import SUITE_ENDINGS, epd_line, holds_positions, moves_mistake, split_line
from elolab.arena.notation.pgn import (
    FORMATS,
    PortableGame,
    PortableGameError,
    decode_text,
    portable_text,
)
from elolab.engine.errors import UserError

if TYPE_CHECKING:
    from elolab.engine.games.contract import Game

TARGETS = (*FORMATS, "fen", "epd", "pgn", "ggf")
"""Notations of moves (written as PGN), positions, opening suites, PGN in the notation that was read, and GGF."""


def convert(text: str, where: str, game: str, target: str, ranks: str = "0", plies: int | None = None) -> str:
    """A text of games (PGN, or merely moves) or of positions (FEN or EPD, one a line) in another form.

    ``plies`` keeps only so many first moves of each game. Positions become games without moves; a game becomes the
    position after its last move, and those that come up twice are one in EPD. Raises ``UserError`` naming the file, the
    game or line, and the move.
    """
    from elolab.engine.games import game_named

    contract = game_named(game)
    check_target(target, contract)
    source = Source(where, text.encode())
    return "".join(converted(map(_demanded, read_source(source, Reading(contract, ranks), plies)), contract, target))


def check_target(target: str, game: Game) -> None:
    """Raise ``UserError`` if games or positions of ``game`` are not written so."""
    assert target in TARGETS, target
    if target in FORMATS and target not in game.move_notations:
        raise UserError(f"--to {target}: moves of {game.name} have one notation only; give --to pgn, fen or epd")
    if target == "ggf" and game.name != "othello":
        raise UserError(f"--to ggf: holds games of Othello, not of {game.title}; give --to pgn")


def read_all(path: Path, reading: Reading, plies: int | None = None) -> Iterator[Entry]:
    """The games and positions of a file, or of all files in a folder or zip file that hold some.

    What is wrong with a game, or with a whole file, comes in its place.
    """
    nothing = True
    for source in sources(path):
        found = [source] if isinstance(source, PortableGameError) else read_source(source, reading, plies)
        for entry in found:
            nothing = False
            yield entry
    if nothing:
        yield PortableGameError(f"{path}: no games or positions in it that elolab can read")


def read_source(source: Source, reading: Reading, plies: int | None = None) -> Iterator[Entry]:
    """The games and positions of one file; none of one that merely lay in a folder and is something else."""
    found: Iterable[Entry]
    if is_archive(source):
        found = entries(source, reading)
    elif not (source.is_chosen or is_games(source) or source.where.lower().endswith(SUITE_ENDINGS)):
        return
    else:
        try:
            text = decode_text(source.data, source.where)
        except PortableGameError as error:
            yield error
            return
        is_list = holds_positions(text, reading.game)
        found = read_positions(text, source.where, reading.game) if is_list else entries(source, reading)
    for entry in found:
        yield entry if plies is None or isinstance(entry, PortableGameError) else _shortened(entry, plies)


def _demanded(entry: Entry) -> PortableGame:
    if isinstance(entry, PortableGameError):
        raise entry
    return entry


def converted(
    games: Iterable[PortableGame], game: Game, target: str, repeated: Callable[[], None] = lambda: None
) -> Iterator[str]:
    """What games become: the parts of a text one after another.

    ``repeated`` is called for each position that EPD leaves out because it came up before.
    """
    if target in ("fen", "epd"):
        yield from _position_lines(games, game, target, repeated)
    elif target == "ggf":
        yield from (ggf_text(portable, game) for portable in games)
    else:
        for number, portable in enumerate(games):
            text = portable_text(portable, game, portable.notation if target == "pgn" else target)
            yield f"\n{text}" if number else text


def read_positions(text: str, where: str, game: Game) -> Iterator[Entry]:
    """Games without moves from FEN or EPD lines; in place of a wrong line, what is wrong, with its number."""
    for number, line in enumerate(text.splitlines(), start=1):
        position, name = split_line(line)
        if not position:
            continue
        if mistake := moves_mistake(position):
            yield PortableGameError(f"{where}: line {number}: {mistake}")
            continue
        try:
            start = game.position(position).text
        except UserError as error:
            yield PortableGameError(f"{where}: line {number}: {error}")
        else:
            yield PortableGame((("Opening", name),) if name else (), start, ())


_TAGS_OF_THE_END = {"plycount", "termination", "discdifference", "theoreticaldiscdifference", "theoreticalempties"}


def _shortened(portable: PortableGame, plies: int) -> PortableGame:
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
        board_and_side = tuple(text.split()[:2])
        if target == "fen":
            yield f"{text}\n"
        elif board_and_side in seen:
            repeated()
        else:
            seen.add(board_and_side)
            name = "".join(character for character in portable.name(game) if character not in '";#')
            yield f"{epd_line(text, name)}\n"
