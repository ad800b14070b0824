"""Games and openings read from texts instead of files; a mistake is raised."""

from __future__ import annotations

from collections.abc import Iterator

from elolab.arena.notation.archives.archive import ArchiveFile, Entry, Reading
from elolab.arena.notation.convert import check_target, converted, read_source
from elolab.arena.notation.openings import Suite, position_lines, suite_of_lines
from elolab.arena.notation.pgn import PortableGame, PortableGameError, try_games
from elolab.engine.games import game_named


def read_games(text: str, where: str, game: str, ranks: str = "0") -> Iterator[PortableGame]:
    """Read the games of a PGN text."""
    return map(_demanded, try_games(text, where, game, ranks))


def convert(text: str, where: str, game: str, target: str, ranks: str = "0", plies: int | None = None) -> str:
    """Convert a text of games or positions to the form ``target``."""
    contract = game_named(game)
    check_target(target, contract)
    source = ArchiveFile(where, text.encode())
    return "".join(converted(map(_demanded, read_source(source, Reading(contract, ranks), plies)), contract, target))


def parse_suite(text: str, where: str, game: str, *, check: bool = True) -> Suite:
    """Parse a list of positions."""
    return suite_of_lines(position_lines(text, where), where, game_named(game), check=check)


def _demanded(entry: Entry) -> PortableGame:
    if isinstance(entry, PortableGameError):
        raise entry
    return entry
