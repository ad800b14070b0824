"""Opening suites: reading and checking them, their two halves and order.

A suite is an EPD file, a file of games, or a folder or zip file of such files. Files may be compressed (``.gz``).

A line of EPD is a position and operations after it, such as ``id "name";``. In Xiangqi the position is a FEN, with or
without its two counters. ``id`` names the opening, ``hmvc`` and ``fmvn`` are the counters, and other operations are
ignored. A ``#`` at the beginning of a word starts a comment, except in quotation marks. Games may be PGN or any other
format of ``arena.notation.archives``; their first moves are the openings. Coordinates count ranks from 0 or, if that
makes a move of the file illegal, from 1.

*The halves.* The last bit of a SHA-256 decides: 1 is the validation half, 0 the tournament half. The hashed text is the
board and the side to move, the first two fields of the position with one space between. Positions that differ only by
symmetry have one text. So the half of a position never changes, whatever suite it is in.

*The order.* The openings are sorted by the SHA-256 of ``"<seed>:<index in the suite>"``, so the order depends on no
library. Pair ``k`` of any pairing plays opening ``order[(start + k) mod size]``.
"""

from __future__ import annotations

import functools
import gzip
import hashlib
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from elolab.arena.files import replace_file
from elolab.arena.notation.archives.archive import ArchiveFile, Reading
from elolab.arena.notation.archives.archive_files import sources
from elolab.arena.notation.archives.formats import entries, format_of, is_foreign, is_games
from elolab.arena.notation.pgn import decode_text
from elolab.arena.records import Opening, digest_of
from elolab.engine.errors import UserError
from elolab.engine.settings.configuration import ConfigurationError, find_config, shipped_folder
from elolab.engine.settings.epd import MOVES, position_and_operations

if TYPE_CHECKING:
    from elolab.engine.games.contract import Game

PARTS = ("tournament", "validation", "all")
SUITE_ENDINGS = (".epd", ".epd.gz", ".fen", ".fen.gz")
"""File name endings of position lists."""
MAX_MOVE = 16
"""Longest text of a move, in characters."""


class OpeningError(UserError):
    """An opening suite that cannot be used; the message names the file, the line and the remedy."""


@dataclass(frozen=True)
class Suite:
    """Openings in the order of their file, all distinct."""

    name: str
    openings: tuple[Opening, ...]

    @functools.cached_property
    def digest(self) -> str:
        """Digest of the positions and moves in order; names and comments do not count."""
        return digest_of([[opening.position, list(opening.moves)] for opening in self.openings])

    def part(self, part: str) -> SuitePart:
        """A part of the suite: the half ``tournament`` or ``validation``, or ``all``."""
        return SuitePart(self, part, self._parts[part])

    @functools.cached_property
    def _parts(self) -> dict[str, tuple[int, ...]]:
        """The indices of each part's openings, by the name of the part."""
        every = tuple(range(len(self.openings)))
        reserved = frozenset(index for index in every if is_reserved_for_validation(self.openings[index]))
        free = tuple(index for index in every if index not in reserved)
        return dict(zip(PARTS, (free, tuple(sorted(reserved)), every), strict=True))


@dataclass(frozen=True)
class SuitePart:
    """A part of a suite: one of its two halves, or all of it."""

    suite: Suite
    name: str
    indices: tuple[int, ...]
    """Indices of the part's openings in ``suite.openings``, ascending."""

    def __len__(self) -> int:
        return len(self.indices)

    def order(self, seed: int, start: int = 0, arrangement: str = "random") -> tuple[int, ...]:
        """The index into ``suite.openings`` for each pair 0, 1, ... of any pairing.

        ``arrangement`` is ``random`` (by ``seed``) or ``sequential``; ``start`` is the offset of pair 0.
        """
        indices = self.indices
        if arrangement == "random":
            indices = tuple(sorted(indices, key=lambda index: _shuffling_key(seed, index)))
        if not indices:
            return ()
        start %= len(indices)
        return indices[start:] + indices[:start]


def _shuffling_key(seed: int, index: int) -> bytes:
    return hashlib.sha256(f"{seed}:{index}".encode()).digest()


def is_reserved_for_validation(opening: Opening) -> bool:
    """Whether an opening belongs to the validation half; see the module's text for the rule."""
    text = " ".join([placement_of(opening.position), *opening.moves])
    return hashlib.sha256(text.encode()).digest()[-1] & 1 == 1


def placement_of(position: str) -> str:
    """Board and side to move of a position's text, in a form that is equal for positions that differ by symmetry alone.

    Boards with ranks separated by ``/`` have a mirror image; a board written as one square of characters has eight
    images.
    """
    fields = position.split()
    board = fields[0]
    size = math.isqrt(len(board))
    if "/" not in board and size * size == len(board) < 256 and board.isascii():
        # str.translate replaces each index by the board's character there.
        table = board.encode("ascii").ljust(256)
        return " ".join([min(map(bytes.translate, _images(size), repeat(table))).decode("ascii"), *fields[1:2]])
    mirrored = "/".join(rank[::-1] for rank in board.split("/"))
    return " ".join([min(board, mirrored), *fields[1:2]])


@functools.cache
def _images(size: int) -> list[bytes]:
    """The eight rotations and reflections of a square board.

    Byte ``i`` of an image is the index of the square that moves to place ``i``.
    """
    places = np.arange(size * size, dtype=np.uint8).reshape(size, size)
    turned = [np.rot90(places, quarters) for quarters in range(4)]
    return [image.tobytes() for place in turned for image in (place, place[::-1])]


def load_suite(name_or_path: str, game: str, *, check_all: bool = False, plies: int | None = None) -> Suite:
    """Read a suite from a file or a folder, or by its name in ``configs/openings`` or among the shipped suites.

    Positions are checked; positions of shipped suites only with ``check_all`` (used by the tests). ``plies`` limits the
    moves taken from each game (default: all). Raises ``UserError`` naming a line or game that is illegal or over, or a
    repeated line.
    """
    path = find_suite(name_or_path)
    found = sources(path)
    if not path.is_dir():
        first = next(found, None)
        if isinstance(first, ArchiveFile) and first.is_chosen and not is_games(first):
            text = decode_text(first.data, str(path))
            if _is_suite(first, text, game):
                shipped = path.resolve().parent == (shipped_folder() / "openings").resolve()
                return parse_suite(text, str(path), game, check=check_all or not shipped)
        found = chain([] if first is None else [first], found)
    return _suite_of_games(_entries_of_all(found, game, plies), path, game)


def find_suite(name_or_path: str) -> Path:
    """Find the file of a suite by name or path, or else the folder with its files.

    Raises ``ConfigurationError`` if there is none.
    """
    try:
        return find_config("openings", name_or_path)
    except ConfigurationError:
        folders = (Path(name_or_path), Path("configs") / "openings" / name_or_path)
        folder = next(filter(Path.is_dir, folders), None)
        if folder is None:
            raise
        return folder


def entries_of(path: Path, game: str, plies: int | None = None) -> Iterator[Opening | UserError]:
    """Read every line or game of a suite; yields for each a checked opening (possibly a duplicate) or an error.

    Openings without a name have an empty one. Files of other kinds in a folder or zip file are skipped.
    """
    return _entries_of_all(sources(path), game, plies)


def _entries_of_all(
    found: Iterable[ArchiveFile | UserError], game: str, plies: int | None
) -> Iterator[Opening | UserError]:
    for source in found:
        if isinstance(source, UserError):
            yield source
        elif is_foreign(source, game):
            continue
        elif is_games(source):
            yield from _games(source, game, plies)
        elif source.is_chosen or source.where.lower().endswith(SUITE_ENDINGS):
            try:
                text = decode_text(source.data, source.where)
            except UserError as error:
                yield error
                continue
            if _is_suite(source, text, game):
                yield from (entry for _, entry in _lines(text, source.where, _position_checker(game)))
            else:
                yield from _games(source, game, plies)


def _is_suite(source: ArchiveFile, text: str, game: str) -> bool:
    """Whether a text that is no archive lists positions rather than bare moves."""
    is_named_so = source.where.lower().endswith(SUITE_ENDINGS) and format_of(source.data) is None
    return is_named_so or not text.strip() or holds_positions(text, _position_checker(game))


def holds_positions(text: str, game: Game) -> bool:
    """Whether a text is a list of positions rather than of games, judged by its first line with content."""
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    first = next((line for line in lines if line), "")
    if first.startswith("["):
        return False
    board = first.split(" ")[0]
    if game.position_option == "board":  # one character a square; moves have digits
        return len(board) > MAX_MOVE and not any(character.isdigit() for character in board)
    return board.count("/") >= 7


@functools.lru_cache(maxsize=4)
def parse_suite(text: str, where: str, game: str, *, check: bool = True) -> Suite:
    """Parse the text of a suite; ``where`` names it in errors. Raises ``OpeningError`` for an invalid line."""
    stem = re.sub(r"(\.epd)?(\.gz)?$", "", Path(where).name)
    openings: list[Opening] = []
    seen: dict[str, int] = {}
    for number, entry in _lines(text, where, _position_checker(game) if check else None):
        if isinstance(entry, UserError):
            raise entry
        distinct = " ".join(entry.position.split()[:2])
        if distinct in seen:
            raise OpeningError(f"{where}: line {number}: the position of line {seen[distinct]} again; remove one")
        seen[distinct] = number
        openings.append(entry if entry.name else Opening(entry.position, (), f"{stem} {len(openings) + 1}"))
    if not openings:
        raise OpeningError(f"{where}: no openings in it; expected one position (FEN) a line")
    return Suite(stem, tuple(openings))


def _lines(text: str, where: str, checker: Game | None) -> Iterator[tuple[int, Opening | UserError]]:
    """Yield the number and the opening, or the error, of each EPD line that is not empty."""
    for number, line in enumerate(text.splitlines(), start=1):
        position, name = split_line(line)
        if not position:
            continue
        try:
            if mistake := moves_mistake(position):
                raise OpeningError(f"{where}: line {number}: {mistake}")
            if checker is not None:
                position = _checked(checker, position, f"{where}: line {number}")
            yield number, Opening(position, (), name)
        except OpeningError as error:
            yield number, error


def _suite_of_games(found: Iterable[Opening | UserError], path: Path, game: str) -> Suite:
    """Collect the openings of games; of equal or mirrored positions only the first is kept."""
    stem = re.sub(r"(\.\w+)?(\.gz|\.bz2)?$", "", path.name)
    contract = _position_checker(game)
    openings: dict[str, Opening] = {}
    for number, entry in enumerate(found, start=1):
        if isinstance(entry, UserError):
            raise entry
        reached = placement_of(contract.position(entry.position, entry.moves).text)
        named = entry if entry.name else Opening(entry.position, entry.moves, f"{stem} {number}")
        openings.setdefault(reached, named)
    if not openings:
        raise OpeningError(f"{path}: no games in it that elolab can read")
    return Suite(stem, tuple(openings.values()))


def _games(source: ArchiveFile, game: str, plies: int | None) -> list[Opening | UserError]:
    """Read a file's games as openings; ranks are counted from 0 or from 1, whichever makes more games legal."""
    found = list(_games_in(source, game, plies, "0"))
    wrong = sum(isinstance(entry, UserError) for entry in found)
    if wrong and _position_checker(game).move_notations:
        others = list(_games_in(source, game, plies, "1"))
        if sum(isinstance(entry, UserError) for entry in others) < wrong:
            return others
    return found


def _games_in(source: ArchiveFile, game: str, plies: int | None, ranks: str) -> Iterator[Opening | UserError]:
    contract = _position_checker(game)
    for number, portable in enumerate(entries(source, Reading(contract, ranks, plies)), start=1):
        if isinstance(portable, UserError):
            yield portable
            continue
        moves = tuple(entry.move for entry in portable.moves[:plies])
        try:
            start = _checked(contract, portable.start, f"{source.where}: game {number}", moves)
            yield Opening(start, moves, portable.name(contract))
        except OpeningError as error:
            yield error


def split_line(line: str) -> tuple[str, str]:
    """Position and name of one line of EPD; both empty if it holds only a comment."""
    position, operations = position_and_operations(line)
    return position, operations.get("id", "")


def moves_mistake(position: str) -> str:
    """Error message for an EPD line whose position is followed by moves, as in a protocol's position command.

    Empty if no moves follow.
    """
    if MOVES not in position.split():
        return ""
    return "a line is one position and has no moves; give the position that they lead to, or games in a file of PGN"


def _position_checker(game: str) -> Game:
    from elolab.engine.games import game_named

    return game_named(game)


def _checked(game: Game, text: str, where: str, moves: Sequence[str] = ()) -> str:
    """Check a position and ``moves`` from it; returns the position's text in the game's canonical spelling.

    So all spellings of a position are one opening. Raises ``OpeningError`` if something is illegal or the game is over.
    """

    try:
        position = game.position(text)
        written = position.text
        for move in moves:
            position.push(move)
        ending = position.judge(position.game.standard_rules)
    except UserError as error:
        raise OpeningError(f"{where}: {error}") from None
    if ending is not None and moves:
        raise OpeningError(f"{where}: over at ply {len(moves)} ({ending.reason}); take fewer with opening_plies")
    if ending is not None:
        raise OpeningError(f"{where}: {text!r}: the game is over there ({ending.reason}); remove the line")
    return written


def suite_text(lines: Iterable[str], comments: Sequence[str] = ()) -> str:
    """Format a suite's file from lines made by ``epd_line``, or from bare positions."""
    return "".join([*(f"# {comment}\n" for comment in comments), *(f"{line}\n" for line in lines)])


def epd_line(position: str, name: str = "", **operations: object) -> str:
    """Format a line of EPD that ``split_line`` can read; a ``;`` ends every operation."""
    words = [f"{code} {operand}" for code, operand in operations.items()]
    if name:
        words.append('id "{}"'.format(name.replace('"', "'")))
    return "; ".join([position, *words]) + (";" if words else "")


def write_suite(path: Path, text: str) -> None:
    """Write a suite's file, compressed if its name ends in ``.gz``; equal texts give identical files."""
    replace_file(path, gzip.compress(text.encode(), mtime=0) if path.name.endswith(".gz") else text)
