"""The archive formats, in the order in which they are tried.

A new format is a module with a constant ``FORMAT``, and an entry in ``FORMATS``. ``arena.notation.pgn`` parses PGN.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from elolab.arena.notation.archives import cbf, dhtmlxq, ggf, polyglot, wthor, xqf
from elolab.arena.notation.archives.archive import ArchiveFile, ArchiveFormat, Entry, Reading
from elolab.arena.notation.archives.archive_files import COMPRESSED, sources
from elolab.arena.notation.pgn import PortableGame, PortableGameError, decode_text, try_games
from elolab.engine.games import game_named

_TAG = re.compile(rb'^[\s\xef\xbb\xbf]*\[[A-Za-z]\w* +"', re.MULTILINE)


def _read_pgn(source: ArchiveFile, reading: Reading) -> Iterator[Entry]:
    """Yield the games of a PGN file or of a text with bare moves."""
    text = decode_text(source.data, source.where, reading.game.encodings, source.first_line)
    return try_games(
        text, source.where, reading.game.name, reading.ranks, plies=reading.plies, first_line=source.first_line,
        first_game=source.first_game,
    )  # fmt: skip


_PGN = ArchiveFormat("PGN", "", lambda data: _TAG.search(data) is not None, _read_pgn)
FORMATS: tuple[ArchiveFormat, ...] = (
    xqf.FORMAT, cbf.FORMAT, wthor.FORMAT, ggf.FORMAT, dhtmlxq.FORMAT, polyglot.FORMAT, _PGN
)  # fmt: skip

BEGINNING = 1 << 16
"""Number of bytes at the beginning of a file that show whether it is text."""
_PGN_ENDINGS = tuple(f".pgn{packing}" for packing in COMPRESSED)


def _begins(*beginnings: bytes) -> Callable[[bytes], bool]:
    return lambda data: data.lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith(beginnings)


_ARCHIVES_NOT_READ = (
    (_begins(b"ccbridge"), "CCBridge's own format is not read", "save it there as XQF, CBF or PGN"),
    (wthor.holds_names, "names of WTHOR", "give the file of games (WTH_....wtb) that lies beside it"),
    (_begins(b"(;ff[", b"(;ca[", b"(;gm["), "SGF is not read", "save the games as PGN, or of Othello as GGF"),
)
"""Archive formats that elolab cannot read: a test of a file's first bytes, the problem and the remedy."""
_NOT_GAMES = (
    (_begins(b"sqlite format 3"), "an SQLite database", "in a run's folder, games.pgn has the games"),
    (_begins(b"<!doctype html", b"<html"), "an HTML page without games in DhtmlXQ", "save the games as PGN or XQF"),
    (_begins(b"<?xml", b"<"), "XML, but not a game of CCBridge (CBF)", "save the games as PGN or XQF"),
    (lambda data: re.match(rb'\s*[{[]\s*["{]', data) is not None, "JSON", "save the games as PGN"),
    (_begins(b"%pdf", b"\x89png", b"\xff\xd8\xff", b"gif8", b"rar!\x1a", b"7z\xbc\xaf", b"\x7felf", b"mz\x90"),
     "a program, picture, document or archive of another kind, not games", ""),
    (lambda data: b"\0" in data[:BEGINNING] and not data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)),
     "not text, and no archive that elolab knows (a Polyglot book of chess is sorted, in entries of 16 bytes)", ""),
)  # fmt: skip
"""Kinds of files without games that users often give by mistake, with problem and remedy."""


def format_of(data: bytes) -> ArchiveFormat | None:
    """Detect the archive format of a file's content; ``None`` for other content, such as bare moves or positions."""
    return next((archive for archive in FORMATS if archive.recognises(data)), None)


def is_games(source: ArchiveFile) -> bool:
    """Whether the content or name of a file shows that it holds games, perhaps in a format that elolab cannot read."""
    return source.where.lower().endswith(_PGN_ENDINGS) or is_archive(source)


def is_archive(source: ArchiveFile) -> bool:
    """Whether the content of a file is in an archive format; bare moves are not.

    A WTHOR file of names belongs to the games in its folder; it counts as an archive only if the user named it.
    """
    if format_of(source.data) is not None:
        return True
    is_refused = any(begins(source.data) for begins, *_ in _ARCHIVES_NOT_READ)
    return is_refused and (source.is_chosen or not wthor.holds_names(source.data))


def is_foreign(source: ArchiveFile, game: str) -> bool:
    """Whether a file not named by the user is an archive of another game, or one that elolab cannot read."""
    archive = format_of(source.data)
    if source.is_chosen or (archive is None and not is_archive(source)):
        return False
    return archive is None or archive.game not in ("", game)


def entries(source: ArchiveFile, reading: Reading) -> Iterator[Entry]:
    """Yield the games of a file in any format; bare moves count as a game.

    For a game, or a whole file, that cannot be read, yields an error instead.
    """
    archive = format_of(source.data)
    game = reading.game
    try:
        if archive is None:
            for begins, problem, remedy in (*_ARCHIVES_NOT_READ, *_NOT_GAMES):
                if begins(source.data):
                    raise PortableGameError(f"{source.where}: {problem}", remedy)
            archive = _PGN
        if archive.game and archive.game != game.name:
            holds = f"{archive.name} holds games of {game_named(archive.game).title}, not of {game.title}"
            raise PortableGameError(f"{source.where}: {holds}", f"choose the game {archive.game} or another file")
        yield from archive.read(source, reading)
    except PortableGameError as error:
        yield error


def load_games(path: Path, game: str) -> list[PortableGame]:
    """All games of a file; raises ``PortableGameError`` if a game cannot be read."""
    games: list[PortableGame] = []
    reading = Reading(game_named(game))
    for source in sources(path):
        found: Iterable[Entry] = entries(source, reading) if isinstance(source, ArchiveFile) else [source]
        for entry in found:
            if isinstance(entry, PortableGameError):
                raise entry
            games.append(entry)
    return games
