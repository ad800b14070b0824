"""The games of a run in its report: all of them in games.pgn, and for the replay on its page."""

from __future__ import annotations

from pathlib import Path

from elolab.arena.files import replacing
from elolab.arena.notation.pgn import GameWriter
from elolab.arena.play.store import STORE_NAME, Store
from elolab.arena.reports.games import GAMES_FOLDER, GamePacker, GamesOnPage
from elolab.arena.reports.write import PGN_NAME


def games_of_run(directory: Path, folder: Path, game: str, event: str, language: str) -> GamesOnPage | None:
    """Write the PGN of a run into a folder, its own or another; its games for the page, ``None`` without any.

    Games that are too many for the page are written beside it. Raises ``FileError`` if a file cannot be written,
    ``StoreError`` if the games cannot be read.
    """
    if not (directory / STORE_NAME).is_file():
        return None
    with (
        Store(directory, read_only=True) as store,
        replacing(folder / PGN_NAME) as stream,
        GamePacker((), folder / GAMES_FOLDER, game, language) as packer,
    ):
        writer = GameWriter(stream, event, game)
        for record in store.iterate():
            writer.write(record)
            packer.add(record)
        packed = packer.packed()
    return GamesOnPage(game, event, packed, language=language) if packed.games else None
