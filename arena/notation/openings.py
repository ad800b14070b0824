"""Opening suites: reading and checking them, dividing them into halves, and the order of openings.

A suite is an EPD file, a file of games, or a folder or zip file of such files. Files may be compressed (``.gz``,
``.bz2``, ``.zst``). Files are read in parts, and ``OpeningTable`` keeps the openings on disk, so that millions of them
fit into memory. The first ``CHECKED_LINES`` of a list of positions are checked when it is read, the others when they
are used. Lists shipped with elolab are not checked, except their first line.

A line of EPD is a position followed by operations, such as ``id "name";``. In Xiangqi the position is a FEN, with or
without its two counters. ``id`` names the opening, ``hmvc`` and ``fmvn`` are the counters, and other operations are
ignored. A ``#`` at the beginning of a word starts a comment, except in quotation marks. Games may be PGN or any other
format of ``arena.notation.archives``; their first moves are the openings. Coordinates count ranks from 0 or, if that
makes a move of the file illegal, from 1.

*Halves.* The last bit of a SHA-256 decides: 1 is the validation half, 0 the tournament half. The hashed text is the
board, the side to move and the moves of the opening, if it has any, with one space between. Boards that differ only by
a symmetry share one text. An opening is therefore in the same half of every suite.

*Order.* The openings are sorted by the SHA-256 of ``"<seed>:<index in the suite>"``, so the order does not depend on a
library. Pair ``k`` of any pairing plays opening ``order[(start + k) mod size]``.
"""

from __future__ import annotations

import functools
import hashlib
import math
import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from elolab.arena.files import replace_file
from elolab.arena.notation.archives.archive import ArchiveFile, Reading
from elolab.arena.notation.archives.archive_files import COMPRESSED, packed, sources
from elolab.arena.notation.archives.formats import entries, format_of, is_foreign, is_games
from elolab.arena.notation.game_moves import other_game_with
from elolab.arena.notation.opening_table import OpeningTable
from elolab.arena.notation.pgn import decode_text
from elolab.arena.records import Opening, canonical_json
from elolab.engine.errors import UserError
from elolab.engine.games import game_named
from elolab.engine.settings.configuration import ConfigurationError, find_config, shipped_folder
from elolab.engine.settings.epd import MOVES, position_and_operations

if TYPE_CHECKING:
    from elolab.engine.games.contract import Game, Position

SUITE_ENDINGS = tuple(ending + packing for ending in (".epd", ".fen") for packing in COMPRESSED)
"""Suffixes of files with lists of positions."""
CHECKED_LINES = 20_000
"""Number of positions of a list that are checked when the list is read."""
MAX_MOVE = 16
"""Maximum length of a move, in characters."""


class OpeningError(UserError):
    """Raised for an opening suite that cannot be used; the message names the file, the line and the remedy."""


@dataclass(frozen=True)
class Suite:
    """An opening suite: distinct openings in the order of the file."""

    name: str
    openings: Sequence[Opening]

    @functools.cached_property
    def digest(self) -> str:
        """Digest of the positions and moves in order; it does not depend on names and comments."""
        found = hashlib.sha256(b"[")
        for number, opening in enumerate(self._unchecked()):
            found.update(b"," * (number > 0) + canonical_json([opening.position, list(opening.moves)]).encode())
        found.update(b"]")
        return found.hexdigest()[:32]

    def part(self, part: str) -> SuitePart:
        """The part of the suite named ``tournament`` or ``validation`` (the two halves) or ``all``."""
        return SuitePart(self, part, range(len(self.openings)) if part == "all" else self._halves[part])

    def check(self, indices: Iterable[int]) -> None:
        """Check openings, given by their indices; raises ``OpeningError`` if one is illegal."""
        if len(self.openings) > CHECKED_LINES:
            for index in indices:
                self.openings[index]

    @functools.cached_property
    def _halves(self) -> dict[str, Sequence[int]]:
        """Indices of the openings of each half, by the name of the half (see ``part``)."""
        tournament, validation = array("q"), array("q")
        for index, opening in enumerate(self._unchecked()):
            (validation if is_reserved_for_validation(opening) else tournament).append(index)
        return {"tournament": tournament, "validation": validation}

    def _unchecked(self) -> Iterator[Opening]:
        return self.openings.unchecked() if isinstance(self.openings, OpeningTable) else iter(self.openings)


@dataclass(frozen=True)
class SuitePart:
    """A suite, or one of its two halves."""

    suite: Suite
    name: str
    indices: Sequence[int]
    """Indices of the part's openings in ``suite.openings``, ascending."""

    def __len__(self) -> int:
        return len(self.indices)

    def order(self, seed: int, start: int = 0, arrangement: str = "random") -> tuple[int, ...]:
        """For each pair 0, 1, ... of any two players, the index of its opening in ``suite.openings``.

        The order is rotated so that pair 0 gets opening number ``start``. ``arrangement`` is ``random`` (by ``seed``)
        or ``sequential``.
        """
        indices = tuple(self.indices)
        if arrangement == "random":
            indices = tuple(sorted(indices, key=lambda index: hashlib.sha256(f"{seed}:{index}".encode()).digest()))
        if not indices:
            return ()
        start %= len(indices)
        return indices[start:] + indices[:start]


def is_reserved_for_validation(opening: Opening) -> bool:
    """Whether an opening belongs to a suite's validation half, by the last bit of a hash of the opening."""
    text = " ".join([placement_of(opening.position), *opening.moves])
    return hashlib.sha256(text.encode()).digest()[-1] & 1 == 1


def placement_of(position: str) -> str:
    """Board and side to move, in a form that is equal for positions that differ only by a symmetry of the board.

    A board with ranks separated by ``/`` has a mirror image, a board in one string eight rotations and reflections.
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


def identity_of(position: str) -> str:
    """Text that is equal for all positions that count as one opening.

    Normally this is the result of ``placement_of``. With castling rights or an en passant square the mirror image is
    another opening, and the text is the first four fields of the position.
    """
    fields = position.split()
    if all(field == "-" for field in fields[2:4]):
        return placement_of(position)
    return " ".join(fields[:4])


@functools.cache
def _images(size: int) -> list[bytes]:
    """The eight rotations and reflections of a square board of ``size`` by ``size`` squares.

    Byte ``i`` of an image is the index of the square that the image moves to square ``i``.
    """
    places = np.arange(size * size, dtype=np.uint8).reshape(size, size)
    turned = [np.rot90(places, quarters) for quarters in range(4)]
    return [image.tobytes() for place in turned for image in (place, place[::-1])]


def load_suite(name_or_path: str, game: str, *, check_all: bool = False, plies: int | None = None) -> Suite:
    """Read a suite from a file or folder, or by its name in ``configs/openings`` or among the suites shipped with
    elolab.

    Positions of a shipped list are not checked, except the first, unless ``check_all`` is set (by tests). ``plies``
    limits the moves taken from each game; ``None`` takes all. Raises ``UserError``, which names the line or game, if an
    opening is illegal or repeated, or if the game is over after it.
    """
    path = find_suite(name_or_path)
    try:
        status = path.stat()
    except OSError as error:
        raise OpeningError(f"{path}: cannot be read: {error.strerror}") from None
    # The time of a folder does not depend on the contents of its files.
    read = _suite_of.__wrapped__ if path.is_dir() else _suite_of
    return read(path, game, check_all, plies, (status.st_mtime_ns, status.st_size))


@functools.lru_cache(maxsize=4)
def _suite_of(path: Path, game: str, check_all: bool, plies: int | None, state: tuple[int, int]) -> Suite:
    """Read a suite as ``load_suite`` does; cached, so that a file is read again only if its ``state`` has changed.

    ``state`` is the file's time of modification and its size.
    """
    found = sources(path)
    first = next(found, None)
    every = chain([] if first is None else [first], found)
    if isinstance(first, ArchiveFile) and first.is_chosen and not path.is_dir() and not is_games(first):
        contract = game_named(game)
        if _is_suite(first, decode_text(first.data, first.where, contract.encodings), contract):
            is_shipped = path.resolve().parent == (shipped_folder() / "openings").resolve()
            lines = chain.from_iterable(_lines_of(source, contract) for source in every)
            return suite_of_lines(lines, str(path), contract, check=check_all or not is_shipped)
    return _suite_of_games(_entries_of_all(every, game, plies), path)


def suite_of_file(openings: str, game: str, source: str, *, plies: int | None = None) -> Suite:
    """Read the suite ``openings`` of a specification; ``source`` names the specification's file or the command line.

    ``plies`` is as for ``load_suite``. If the suite cannot be found and ``source`` is a TOML file, the error message
    begins with that file and the key ``openings``.
    """
    try:
        return load_suite(openings, game, plies=plies)
    except ConfigurationError as error:
        if Path(source).suffix != ".toml":
            raise
        raise ConfigurationError.at(f"{source}: openings = {openings!r}", error) from None


def find_suite(name_or_path: str) -> Path:
    """Path of a suite (a file or folder) from its name or path; raises ``ConfigurationError`` if there is none."""
    try:
        return find_config("openings", name_or_path)
    except ConfigurationError:
        folders = (Path(name_or_path), Path("configs") / "openings" / name_or_path)
        folder = next(filter(Path.is_dir, folders), None)
        if folder is None:
            raise
        return folder


def entries_of(path: Path, game: str, plies: int | None = None) -> Iterator[Opening | UserError]:
    """Read a suite; yields a checked opening (possibly a duplicate) or an error for each line or game.

    Openings may have no name. Files of other kinds in a folder or zip file are skipped.
    """
    return (
        entry if isinstance(entry, UserError) else entry[0] for entry in _entries_of_all(sources(path), game, plies)
    )


_Reached = tuple[Opening, str]
"""An opening, and the text of the position to which its moves lead."""


def _entries_of_all(
    found: Iterable[ArchiveFile | UserError], game: str, plies: int | None
) -> Iterator[_Reached | UserError]:
    contract = game_named(game)
    for source in found:
        if isinstance(source, UserError):
            yield source
        elif is_foreign(source, game):
            continue
        elif is_games(source):
            yield from _games(source, contract, plies)
        elif source.is_chosen or source.where.lower().endswith(SUITE_ENDINGS):
            try:
                text = decode_text(source.data, source.where, contract.encodings, source.first_line)
            except UserError as error:
                yield error
                continue
            if _is_suite(source, text, contract):
                for line in position_lines(text, source.where, source.first_line):
                    try:
                        opening = _checked_line(contract, line)
                        yield opening, opening.position
                    except OpeningError as error:
                        yield error
            else:
                yield from _games(source, contract, plies)


def _is_suite(source: ArchiveFile, text: str, game: Game) -> bool:
    """Whether a text, which is not in an archive format, lists positions rather than bare moves."""
    is_named_so = source.where.lower().endswith(SUITE_ENDINGS) and format_of(source.data) is None
    return is_named_so or not text.strip() or holds_positions(text, game)


def holds_positions(text: str, game: Game) -> bool:
    """Whether a text is a list of positions, not of games; decided by its first line with content."""
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    first = next((line for line in lines if line), "")
    if first.startswith("["):
        return False
    board = first.split(" ")[0]
    if game.position_option == "board":  # one character per square; moves contain digits
        return len(board) > MAX_MOVE and not any(character.isdigit() for character in board)
    return board.count("/") >= 7


class PositionLine(NamedTuple):
    """A line of a list of positions."""

    where: str
    """The file and the number of the line, for errors."""
    position: str
    name: str


def position_lines(text: str, where: str, first_line: int = 1) -> Iterator[PositionLine]:
    """Yield each non-empty line of an EPD file; the positions are not yet checked."""
    for number, line in enumerate(text.splitlines(), start=first_line):
        position, name = split_line(line)
        if position:
            yield PositionLine(f"{where}: line {number}", position, name)


def _lines_of(source: ArchiveFile | UserError, game: Game) -> Iterator[PositionLine]:
    if isinstance(source, UserError):
        raise source
    text = decode_text(source.data, source.where, game.encodings, source.first_line)
    return position_lines(text, source.where, source.first_line)


def _checked_line(game: Game, line: PositionLine) -> Opening:
    if mistake := moves_mistake(line.position):
        raise OpeningError.at(line.where, mistake)
    return Opening(_checked(game, line.position, line.where), (), line.name)


def suite_of_lines(lines: Iterable[PositionLine], where: str, game: Game, *, check: bool = True) -> Suite:
    """Make a suite from a list of positions; raises ``OpeningError`` for an invalid line or a repeated position.

    Lines after the first ``CHECKED_LINES`` are checked on use. Without ``check``, only the first line is checked.
    """
    stem = _stem(where)
    numbers = array("q")
    seen: dict[int, int] = {}

    def use(index: int, opening: Opening) -> Opening:
        if index < CHECKED_LINES:
            return opening
        return _checked_line(game, PositionLine(f"{where}: line {numbers[index]}", opening.position, opening.name))

    table = OpeningTable(use if check else None)
    for line in lines:
        number = int(line.where.rpartition(" ")[2])
        is_checked = len(table) < (CHECKED_LINES if check else 1)  # the first may be another game's
        try:
            opening = _checked_line(game, line) if is_checked else Opening(line.position, (), line.name)
        except OpeningError:
            if not len(table) and (other := other_game_with(line.position, game.name)):
                raise ConfigurationError(f"{where}: a suite of {other}, not of {game.name}") from None
            raise
        earlier = seen.setdefault(_digest_of(" ".join(opening.position.split()[:4])), number)
        if earlier != number:
            raise OpeningError(f"{line.where}: repeats the position of line {earlier}", "remove one of the lines")
        numbers.append(number)
        table.append(opening if opening.name else Opening(opening.position, (), f"{stem} {len(table) + 1}"))
    if not table:
        raise OpeningError(f"{where}: no openings in it", "expected one position (FEN) a line")
    return Suite(stem, table.finish())


def _digest_of(text: str) -> int:
    """A 64-bit hash of a text, to recognise repeated texts."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())


def _stem(name: str) -> str:
    """Name of a suite: its file name without suffixes."""
    return re.sub(r"(\.\w+)?(\.gz|\.bz2|\.zst)?$", "", Path(name).name)


def _suite_of_games(found: Iterable[_Reached | UserError], path: Path) -> Suite:
    """Make a suite from games; of openings that lead to equal or mirrored positions, only the first is kept."""
    stem = _stem(path.name)
    table, seen = OpeningTable(), set[int]()
    for number, entry in enumerate(found, start=1):
        if isinstance(entry, UserError):
            raise entry
        opening, reached = entry
        identity = _digest_of(identity_of(reached))
        if identity not in seen:
            seen.add(identity)
            table.append(opening if opening.name else Opening(opening.position, opening.moves, f"{stem} {number}"))
    if not table:
        raise OpeningError(f"{path}: no games in it that elolab can read")
    return Suite(stem, table.finish())


def _games(source: ArchiveFile, game: Game, plies: int | None) -> Iterator[_Reached | UserError]:
    """Read a file's games as openings; ranks count from 0 or 1, whichever makes more games legal."""
    if "0" not in game.ranks:
        yield from _games_in(source, game, plies, "0")
        return
    found = list(_games_in(source, game, plies, "0"))
    wrong = sum(isinstance(entry, UserError) for entry in found)
    if wrong:
        others = list(_games_in(source, game, plies, "1"))
        if sum(isinstance(entry, UserError) for entry in others) < wrong:
            found = others
    yield from found


def _games_in(source: ArchiveFile, game: Game, plies: int | None, ranks: str) -> Iterator[_Reached | UserError]:
    for number, portable in enumerate(entries(source, Reading(game, ranks, plies)), start=source.first_game):
        if isinstance(portable, UserError):
            yield portable
            continue
        moves = tuple(entry.move for entry in portable.moves[:plies])
        try:
            start, where = portable.start, f"{source.where}: game {number}"
            end = portable.end if len(moves) == len(portable.moves) else None
            if end is None:
                start = _checked(game, start, where, moves)
                end = game.position(start, moves)
            else:
                _check_open(end, start, where, len(moves))
            yield Opening(start, moves, portable.name(game)), end.text
        except OpeningError as error:
            yield error


def split_line(line: str) -> tuple[str, str]:
    """Position and name of one line of EPD; both are empty if the line holds only a comment."""
    position, operations = position_and_operations(line)
    return position, operations.get("id", "")


def moves_mistake(position: str) -> OpeningError | None:
    """The error if moves follow the position in an EPD line, as in UCI's ``position`` command; else ``None``."""
    if MOVES not in position.split():
        return None
    return OpeningError(
        "a line is one position and has no moves", "give the position that they lead to, or games in a file of PGN"
    )


def _checked(game: Game, text: str, where: str, moves: Sequence[str] = ()) -> str:
    """Check a position and the ``moves`` from it; returns the position as text in the game's canonical form.

    Different spellings of a position therefore count as one opening. Raises ``OpeningError`` if it is illegal or the
    game is over.
    """
    try:
        position = game.position(text)
        written = position.text
        for move in moves:
            position.push(move)
    except UserError as error:
        raise OpeningError.at(where, error) from None
    _check_open(position, text, where, len(moves))
    return written


def _check_open(position: Position, start: str, where: str, plies: int) -> None:
    """Raise ``OpeningError`` if the game is over at a position, ``plies`` plies after the position ``start``."""
    ending = position.judge(position.game.standard_rules)
    if ending is not None and plies:
        raise OpeningError(
            f"{where}: the game is over at ply {plies} ({ending.reason})", "give a smaller opening_plies"
        )
    if ending is not None:
        raise OpeningError(f"{where}: {start!r}: the game is over there ({ending.reason})", "remove the line")


def suite_text(lines: Iterable[str], comments: Sequence[str] = ()) -> str:
    """Contents of a suite's file, from lines made by ``epd_line`` or from bare positions."""
    return "".join([*(f"# {comment}\n" for comment in comments), *(f"{line}\n" for line in lines)])


def epd_line(position: str, name: str = "", **operations: object) -> str:
    """Format a line of EPD that ``split_line`` can read; a ``;`` ends every operation."""
    words = [f"{code} {operand}" for code, operand in operations.items()]
    if name:
        words.append('id "{}"'.format(name.replace('"', "'")))
    return "; ".join([position, *words]) + (";" if words else "")


def write_suite(path: Path, text: str) -> None:
    """Write a suite's file, compressed as its name says (``.gz``, ``.bz2``, ``.zst``); equal texts give equal files."""
    data = packed(text.encode(), path.name)
    replace_file(path, text if data is None else data)
