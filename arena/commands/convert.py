"""The command ``convert``: games between notations, formats and encodings."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from engine.commands.arguments import (
    add_game_argument,
    game_of,
    whole_number,
)
from engine.errors import UserError


def configure(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``elolab convert``."""
    from arena.notation.convert import TARGETS
    from arena.notation.pgn import ENCODINGS

    parser.description = (
        "Convert games and positions. INPUT holds games (PGN with moves in any notation, or merely moves) or positions "
        "(FEN or EPD, one a line), in UTF-8 or GBK; every move is checked.\n\n"
        "iccs, wxf, chinese (simplified) and traditional write PGN with the moves in that notation, pgn in the one "
        "that was read. fen and epd write the position after the last move of each game, epd each position once."
    )
    parser.add_argument("input", metavar="INPUT", help="file to read, or - for standard input")
    add_game_argument(parser)
    parser.add_argument("--to", choices=TARGETS, help="what to write (default iccs, of Othello pgn)")
    parser.add_argument("--out", metavar="FILE", help="file to write (default: print)")
    parser.add_argument("--encoding", choices=ENCODINGS, default="utf-8", help="of what is written (default utf-8)")
    parser.add_argument("--plies", type=whole_number(0), metavar="N", help="keep only the first N moves of each game")
    parser.add_argument(
        "--ranks",
        choices=("0", "1", "auto"),
        default="0",
        help="number of the lowest rank in coordinates read: 0 (default), 1, or auto: whichever makes a game legal",
    )


def run(arguments: argparse.Namespace) -> int:
    """Convert games or positions."""
    from arena.files import replace_file
    from arena.notation.convert import convert
    from arena.notation.pgn import decode_text, encode_text

    content, where = _input(arguments.input)
    text = decode_text(content, where)
    game = game_of(arguments)
    target = arguments.to or (*game.move_notations, "pgn")[0]
    converted = convert(text, where, game.name, target, arguments.ranks, arguments.plies)
    data = encode_text(converted, arguments.encoding, arguments.out or "standard output")
    if arguments.out is None:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
    else:
        replace_file(Path(arguments.out), data)
    return 0


def _input(name: str) -> tuple[bytes, str]:
    """The bytes of ``INPUT`` and what to call it in errors."""
    if name == "-":
        return sys.stdin.buffer.read(), "standard input"
    try:
        return Path(name).read_bytes(), name
    except OSError as error:
        raise UserError(f"{name}: cannot be read: {error.strerror}") from None
