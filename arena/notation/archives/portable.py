"""PGN as an archive format; ``arena.notation.pgn`` parses it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from elolab.arena.notation.archives.archive import ArchiveFile, ArchiveFormat, Entry, Reading
from elolab.arena.notation.pgn import decode_text, try_games

_TAG = re.compile(rb'^[\s\xef\xbb\xbf]*\[[A-Za-z]\w* +"', re.MULTILINE)


def read(source: ArchiveFile, reading: Reading) -> Iterator[Entry]:
    """Yield the games of a PGN file or of a text with bare moves."""
    text = decode_text(source.data, source.where, reading.game.encodings, source.first_line)
    return try_games(
        text, source.where, reading.game.name, reading.ranks, plies=reading.plies, first_line=source.first_line,
        first_game=source.first_game,
    )  # fmt: skip


FORMAT = ArchiveFormat("PGN", "", lambda data: _TAG.search(data) is not None, read)
