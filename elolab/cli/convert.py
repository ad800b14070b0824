"""The command ``convert``: converts games between notations, formats and encodings."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, TextIO, cast

from elolab.cli.shared import options
from elolab.engine.errors import UserError

if TYPE_CHECKING:
    from elolab.arena.notation.archives.archive import Entry, Reading
    from elolab.arena.notation.pgn import PortableGame

MAX_COMPLAINTS = 20
"""Maximum number of messages about unreadable games."""
EXIT_UNREAD = 1
"""Exit code if some games were unreadable; the others are written."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``elolab convert``."""
    from elolab.arena.notation.convert import TARGETS
    from elolab.arena.notation.pgn import ENCODINGS

    parser.description = (
        "Convert games and positions. INPUT holds games (PGN with moves in any notation, merely moves; Xiangqi in "
        "XQF, CBF or DhtmlXQ, Othello in GGF or WTHOR) or positions (FEN or EPD, one a line), in UTF-8, GBK or Big5, "
        "or is a folder or zip file of such files. Every move is checked: what is wrong with a game is one line, the "
        "others are written, and the exit code is 1.\n\n"
        "iccs, wxf, chinese (simplified) and traditional write PGN with the moves in that notation, pgn in the one "
        "that was read. fen and epd write the position after the last move of each game; epd writes each position once "
        "and reports how many it left out. ggf writes games of Othello with values and times."
    )
    parser.add_argument("input", metavar="INPUT", help="file or folder to read, or - for standard input")
    options.add_game(parser)
    parser.add_argument("--to", choices=TARGETS, help="what to write (default iccs, of Othello pgn)")
    parser.add_argument("--out", metavar="FILE", help="file to write (default: print)")
    parser.add_argument("--encoding", choices=ENCODINGS, default="utf-8", help="encoding of the output (default utf-8)")
    parser.add_argument(
        "--plies", type=options.whole_number(0), metavar="N", help="keep only the first N moves of each game"
    )
    parser.add_argument(
        "--variations", action="store_true", help="variations of XQF and DhtmlXQ become games too (default: ignored)"
    )
    parser.add_argument(
        "--ranks",
        choices=("0", "1", "auto"),
        default="0",
        help="number of the lowest rank in coordinates read: 0 (default), 1, or auto: whichever makes a game legal",
    )


def run(arguments: argparse.Namespace) -> int:
    """Convert games or positions."""
    from elolab.arena.files import replace_file
    from elolab.arena.notation.archives.archive import Reading
    from elolab.arena.notation.convert import check_target, converted

    game = options.game_of(arguments)
    target = arguments.to or (*game.move_notations, "pgn")[0]
    check_target(target, game)
    reading = Reading(game, arguments.ranks, variations=arguments.variations)
    unread = _Unread()
    games = unread.without(_entries(arguments.input, reading, arguments.plies))
    first = next(games, None)
    if first is not None:
        left_out: list[None] = []
        texts = converted(chain([first], games), game, target, lambda: left_out.append(None))
        parts = _encoded(texts, arguments.encoding, arguments.out or "standard output")
        if arguments.out is None:
            sys.stdout.flush()
            sys.stdout.buffer.writelines(parts)
        else:
            replace_file(Path(arguments.out), lambda stream: cast("TextIO", stream).buffer.writelines(parts))
        if left_out:
            positions = "1 position" if len(left_out) == 1 else f"{len(left_out)} positions"
            print(f"elolab: {positions} left out: the same board and side to move came up before", file=sys.stderr)
    if unread.count > MAX_COMPLAINTS:
        _warn(f"and {unread.count - MAX_COMPLAINTS} more games that cannot be read")
    return UserError.exit_code if first is None else EXIT_UNREAD if unread.count else 0


def _entries(name: str, reading: Reading, plies: int | None) -> Iterator[Entry]:
    """Read the games of ``INPUT``, a path or ``-`` for standard input; unreadable games become errors.

    ``plies`` limits the moves of each game.
    """
    from elolab.arena.notation.archives.archive import ArchiveFile
    from elolab.arena.notation.archives.archive_files import unpacked
    from elolab.arena.notation.convert import read_all, read_source

    if name == "-":
        where = "standard input"
        return read_source(ArchiveFile(where, unpacked(sys.stdin.buffer.read(), where)), reading, plies)
    return read_all(Path(name), reading, plies)


class _Unread:
    """Counts unreadable games, and reports the first ``MAX_COMPLAINTS`` in one line each on standard error."""

    def __init__(self) -> None:
        self.count = 0

    def without(self, entries: Iterable[Entry]) -> Iterator[PortableGame]:
        """Yield the readable games of ``entries``; count and report the others."""
        from elolab.arena.notation.pgn import PortableGameError

        for entry in entries:
            if not isinstance(entry, PortableGameError):
                yield entry
                continue
            self.count += 1
            if self.count <= MAX_COMPLAINTS:
                _warn(str(entry))


def _warn(message: str) -> None:
    from elolab.arena.colours import RED, coloured, one_line

    print(coloured(f"elolab: {one_line(message)}", RED, sys.stderr), file=sys.stderr)


def _encoded(texts: Iterable[str], encoding: str, where: str) -> Iterator[bytes]:
    """Encode the parts of a text; an error gives the line number in the whole text, and ``where`` as its file."""
    from elolab.arena.notation.pgn import encode_text

    line = 1
    for text in texts:
        yield encode_text(text, encoding, where, line)
        line += text.count("\n")
