"""The command ``convert``: converts games between notations, formats and encodings."""

from __future__ import annotations

import argparse
import functools
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, TextIO, cast

from elolab.cli.shared import options
from elolab.cli.shared.parser import UsageError
from elolab.engine.errors import UserError

if TYPE_CHECKING:
    from elolab.arena.notation.archives.archive import Entry, Reading
    from elolab.arena.notation.pgn import PortableGame
    from elolab.engine.games.contract import Game

MAX_COMPLAINTS = 20
"""Maximum number of messages about unreadable games."""
EXIT_UNREAD = 1
"""Exit code if some games were unreadable; the readable ones are written."""


def configure(parser: argparse.ArgumentParser) -> None:
    from elolab.arena.notation.convert import TARGETS
    from elolab.arena.notation.pgn import ENCODINGS

    parser.description = (
        "Convert games and positions. INPUT holds games (PGN with moves in any notation, or moves alone; Xiangqi in "
        "XQF, CBF or DhtmlXQ, Othello in GGF or WTHOR) or positions (FEN or EPD, one a line), in UTF-8, GBK or Big5, "
        "or is a folder or zip file of such files. Every move is checked. An invalid game is reported in one line, the "
        "others are written, and the exit code is 1.\n\n"
        "iccs, wxf, chinese (simplified) and traditional write PGN with the moves in that notation, pgn in the one "
        "that was read. fen and epd write the position after the last move of each game; epd writes each position once "
        "and reports how many it left out.\n\n"
        "plain, jsonl, and epd with --every-ply write training data: position, score, move and result of every ply, "
        "score and result for the side to move. INPUT may also be the folder of a run."
    )
    parser.add_argument("input", metavar="INPUT", help="file or folder to read, or - for standard input")
    options.add_game(parser)
    formats = ", ".join(TARGETS)
    parser.add_argument(
        "--to", choices=TARGETS, metavar="FORMAT", help=f"what to write: {formats} (default iccs, of Othello pgn)"
    )
    parser.add_argument(
        "--every-ply", action="store_true", help="epd: a line for every ply, with move (sm), score (ce) and result (c9)"
    )
    parser.add_argument(
        "--skip", metavar="WORDS",
        help="plies that training data leaves out: check (side to move in check), unscored (always in plain), faults "
        "(games lost on time or by another fault), first=N (of each game), adjudicated=N (last plies of adjudicated "
        "games); with commas between",
    )  # fmt: skip
    parser.add_argument("--out", metavar="FILE", help="file to write (default: print)")
    parser.add_argument("--encoding", choices=ENCODINGS, default="utf-8", help="encoding of the output (default utf-8)")
    parser.add_argument(
        "--plies", type=options.whole_number(0), metavar="N", help="keep only the first N moves of each game"
    )
    parser.add_argument(
        "--ranks",
        choices=("0", "1", "auto"),
        default="0",
        help="number of the lowest rank in coordinates read: 0 (default), 1, or auto: whichever makes a game legal",
    )


def run(arguments: argparse.Namespace) -> int:
    from elolab.arena.files import replace_file
    from elolab.arena.notation.archives.archive import Reading
    from elolab.arena.notation.convert import check_target, converted
    from elolab.arena.notation.training import TrainingFilter, training_data

    game = _game_of(arguments)
    target = arguments.to or (*game.move_notations, "pgn")[0]
    check_target(target, game)
    is_training = _is_training(arguments, target)
    skipped = TrainingFilter.parse(arguments.skip or "")
    reading = Reading(game, arguments.ranks)
    unread = _Unread()
    games = unread.without(_entries(arguments.input, reading, arguments.plies))
    first = next(games, None)
    if first is not None:
        counts: Counter[str] = Counter()
        leave_out = functools.partial(counts.update, ["left out"])
        if is_training:
            texts = training_data(chain([first], games), game, target, skipped, leave_out)
        else:
            texts = converted(chain([first], games), game, target, leave_out)
        texts = _counting(texts, counts, "written")
        parts = _encoded(texts, arguments.encoding, arguments.out or "standard output")
        if arguments.out is None:
            sys.stdout.flush()
            sys.stdout.buffer.writelines(parts)
        else:
            replace_file(Path(arguments.out), lambda stream: cast("TextIO", stream).buffer.writelines(parts))
        if counts["left out"]:
            print(f"elolab: {_left_out_text(counts['left out'], is_training=is_training)}", file=sys.stderr)
        if is_training and not counts["written"]:
            print("elolab: no ply is left to write: see --skip; plain needs scores", file=sys.stderr)
    if unread.count > MAX_COMPLAINTS:
        _warn(f"and {unread.count - MAX_COMPLAINTS} more games that cannot be read")
    return UserError.exit_code if first is None else EXIT_UNREAD if unread.count else 0


def _game_of(arguments: argparse.Namespace) -> Game:
    """The game, such as Xiangqi, of the run whose folder is to be converted; otherwise the game of ``--game``."""
    from elolab.arena.collection.games import game_of_run
    from elolab.arena.collection.listing import is_run
    from elolab.arena.play.store import Store
    from elolab.engine.games import game_named

    if arguments.input != "-" and is_run(Path(arguments.input)):
        with Store(Path(arguments.input), read_only=True, glance=True) as store:
            if name := game_of_run(store):
                return game_named(name)
    return options.game_of(arguments)


def _is_training(arguments: argparse.Namespace, target: str) -> bool:
    """Whether to write training data. Raises ``UsageError`` for options that do not fit the format ``target``."""
    from elolab.arena.notation.convert import TRAINING

    is_training = target in TRAINING or (target == "epd" and arguments.every_ply)
    if arguments.every_ply and target != "epd":
        raise UsageError("convert --every-ply: give --to epd too; plain and jsonl have every ply anyway")
    if arguments.skip is not None and not is_training:
        raise UsageError("convert --skip: only training data skips plies", "give --to plain, jsonl, or epd --every-ply")
    if arguments.plies is not None and is_training:
        raise UsageError("convert --plies: shortened games have no result", "leave it out")
    return is_training


def _left_out_text(count: int, *, is_training: bool) -> str:
    if is_training:
        games = "1 game" if count == 1 else f"{count} games"
        return f"{games} left out: without a result"
    positions = "1 position" if count == 1 else f"{count} positions"
    return f"{positions} left out: the same board and side to move came up before"


def _entries(name: str, reading: Reading, plies: int | None) -> Iterator[Entry]:
    """Read the games of ``name``: a path, a run's folder or ``-`` for standard input. Unreadable games become errors.

    ``reading`` has the options for files, such as the game and the notation. ``plies`` limits the moves of each game.
    """
    from elolab.arena.collection.games import portable_games
    from elolab.arena.collection.listing import is_run
    from elolab.arena.notation.archives.archive import ArchiveFile
    from elolab.arena.notation.archives.archive_files import unpacked
    from elolab.arena.notation.convert import read_all, read_source, shortened

    if name == "-":
        where = "standard input"
        return read_source(ArchiveFile(where, unpacked(sys.stdin.buffer.read(), where)), reading, plies)
    if is_run(Path(name)):
        games = portable_games(Path(name), reading.game)
        return games if plies is None else (shortened(portable, plies) for portable in games)
    return read_all(Path(name), reading, plies)


def _counting(parts: Iterable[str], counts: Counter[str], name: str) -> Iterator[str]:
    """Yield each part unchanged, and add the number of parts to ``counts[name]``."""
    for part in parts:
        counts[name] += 1
        yield part


class _Unread:
    """Filters out unreadable games, counts them, and prints a line about each of the first ``MAX_COMPLAINTS``."""

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
    """Encode the parts of a text, one by one, in ``encoding``. An error names the line and the file, ``where``."""
    from elolab.arena.notation.pgn import encode_text

    line = 1
    for text in texts:
        yield encode_text(text, encoding, where, line)
        line += text.count("\n")
