"""Opening suites: reading and checking them, their two halves and order, and generating balanced ones.

A suite is an EPD file: one position (FEN) a line, optionally followed by ``; id "name"``; ``#`` starts a comment. Or
it is a PGN file (``.pgn``), whose games' first moves are the openings. Both may be compressed (``.gz``).

*The halves.* An opening belongs to the validation half if the last bit of the SHA-256 of its board and side to move
(the first two fields of the text, one space between, positions that differ by symmetry being the same) is 1, otherwise
to the tournament half. So the half of a position never changes, whatever suite it is in.

*The order.* The openings are sorted by the SHA-256 of ``"<seed>:<index in the suite>"``, so that the order is the same
in every version of everything. Pair ``k`` of any pairing plays opening ``order[(start + k) mod size]``.
"""

from __future__ import annotations

import functools
import gzip
import hashlib
import math
import re
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice, repeat
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from arena.files import replace_file
from arena.notation.pgn import decode_text, read_games
from arena.records import Opening, digest_of
from engine.errors import UserError
from engine.settings.configuration import find_config, shipped_folder

if TYPE_CHECKING:
    from engine.engine import Engine
    from engine.games.contract import Game, Position
    from engine.settings.limits import Limits

PARTS = ("tournament", "validation", "all")


class OpeningError(UserError):
    """An opening suite that cannot be used; names the file, the line and the remedy."""


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
        """The half ``tournament`` or ``validation``, or ``all`` of it."""
        return SuitePart(self, part, self._parts[part])

    @functools.cached_property
    def _parts(self) -> dict[str, tuple[int, ...]]:
        """The places of each part's openings."""
        every = tuple(range(len(self.openings)))
        reserved = frozenset(index for index in every if is_reserved_for_validation(self.openings[index]))
        free = tuple(index for index in every if index not in reserved)
        return dict(zip(PARTS, (free, tuple(sorted(reserved)), every), strict=True))


@dataclass(frozen=True)
class SuitePart:
    """Some openings of a suite."""

    suite: Suite
    name: str
    indices: tuple[int, ...]
    """Places in ``suite.openings``, ascending."""

    def __len__(self) -> int:
        return len(self.indices)

    def order(self, seed: int, start: int = 0, arrangement: str = "random") -> tuple[int, ...]:
        """The places in ``suite.openings`` that pairs 0, 1, ... of any pairing play.

        ``arrangement`` is ``random`` (by ``seed``) or ``sequential``; ``start`` is where pair 0 begins.
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
    """Board and side to move of a position's text; those that differ by symmetry alone have the same.

    A board written rank by rank, with ``/`` between, has a mirror image; one written as a single square of characters
    is alike from all its sides.
    """
    fields = position.split()
    board = fields[0]
    size = math.isqrt(len(board))
    if "/" not in board and size * size == len(board) < 256 and board.isascii():
        # Translation puts in the place of each index what the table, here the board, has there.
        table = board.encode("ascii").ljust(256)
        return " ".join([min(map(bytes.translate, _images(size), repeat(table))).decode("ascii"), *fields[1:2]])
    mirrored = "/".join(rank[::-1] for rank in board.split("/"))
    return " ".join([min(board, mirrored), *fields[1:2]])


@functools.cache
def _images(size: int) -> list[bytes]:
    """The eight turns and reflections of a square of at most 256 characters, each as the places they come from."""
    places = np.arange(size * size, dtype=np.uint8).reshape(size, size)
    turned = [np.rot90(places, quarters) for quarters in range(4)]
    return [image.tobytes() for place in turned for image in (place, place[::-1])]


def load_suite(name_or_path: str, game: str, *, check_all: bool = False, plies: int | None = None) -> Suite:
    """Read a suite: a file, or the name of one in ``configs/openings`` or of a shipped one.

    Every position is checked; those of shipped suites only if ``check_all`` (the tests do that). ``plies`` is how many
    moves of each game of a PGN file to take (default: all). Raises ``OpeningError`` with the line number of the first
    position that is not legal, over, or there twice.
    """
    path = find_config("openings", name_or_path)
    if path.name.endswith((".pgn", ".pgn.gz")):
        return parse_games(_read_text(path), str(path), game, plies)
    shipped = path.resolve().parent == (shipped_folder() / "openings").resolve()
    return parse_suite(_read_text(path), str(path), game, check=check_all or not shipped)


@functools.lru_cache(maxsize=4)
def parse_suite(text: str, where: str, game: str, *, check: bool = True) -> Suite:
    """The suite in a file's text; ``where`` names it in errors. Raises ``OpeningError``."""
    stem = re.sub(r"(\.epd)?(\.gz)?$", "", Path(where).name)
    checker = _position_checker(game) if check else None
    openings: list[Opening] = []
    seen: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        line = line.partition("#")[0].strip()
        if not line:
            continue
        position, name = split_line(line)
        if checker is not None:
            position = _checked(checker, position, f"{where}: line {number}")
        distinct = " ".join(position.split()[:2])
        if distinct in seen:
            raise OpeningError(f"{where}: line {number}: the position of line {seen[distinct]} again; remove one")
        seen[distinct] = number
        openings.append(Opening(position, (), name or f"{stem} {len(openings) + 1}"))
    if not openings:
        raise OpeningError(f"{where}: no openings in it; expected one position (FEN) a line")
    return Suite(stem, tuple(openings))


def parse_games(text: str, where: str, game: str, plies: int | None = None) -> Suite:
    """The first ``plies`` moves of the games in a PGN text (all moves if ``None``) as openings.

    Of openings that lead to the same position or to mirror images only the first is kept. Raises
    ``PortableGameError``, or ``OpeningError`` with the number of a game that is over by then.
    """
    stem = re.sub(r"(\.pgn)?(\.gz)?$", "", Path(where).name)
    contract = _position_checker(game)
    openings: dict[str, Opening] = {}
    for number, portable in enumerate(read_games(text, where, game), start=1):
        moves = tuple(entry.move for entry in portable.moves[:plies])
        start = _checked(contract, portable.start, f"{where}: game {number}", moves)
        reached = placement_of(contract.position(start, moves).text)
        openings.setdefault(reached, Opening(start, moves, portable.name(contract) or f"{stem} {number}"))
    return Suite(stem, tuple(openings.values()))


def split_line(line: str) -> tuple[str, str]:
    """Position and name of one line of EPD."""
    position, *operations = line.split(";")
    name = ""
    for operation in operations:
        match = re.fullmatch(r'\s*id\s+(?:"([^"]*)"|(\S.*?))\s*', operation)
        if match:
            name = match.group(1) or match.group(2) or ""
    return " ".join(position.split()), name


def _position_checker(game: str) -> Game:
    from engine.games import game_named

    return game_named(game)


def _checked(game: Game, text: str, where: str, moves: Sequence[str] = ()) -> str:
    """The position's text as the game writes it: however it was spelled, it is one opening and stays in its half."""
    from engine.rules import Rules

    try:
        ending = game.position(text, moves).judge(Rules())
    except UserError as error:
        raise OpeningError(f"{where}: {error}") from None
    if ending is not None and moves:
        raise OpeningError(f"{where}: over after {len(moves)} plies ({ending.reason}); take fewer with opening_plies")
    if ending is not None:
        raise OpeningError(f"{where}: {text!r}: the game is over there ({ending.reason}); remove the line")
    return game.position(text).text


def _read_text(path: Path) -> str:
    try:
        data = path.read_bytes()
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
        return decode_text(data, str(path))
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise OpeningError(f"{path}: the compressed file is damaged: {error}") from None
    except OSError as error:
        raise OpeningError(f"{path}: cannot be read: {error.strerror}") from None


def suite_text(positions: Iterable[str], comments: Sequence[str] = ()) -> str:
    """The text of a suite's file."""
    return "".join([*(f"# {comment}\n" for comment in comments), *(f"{position}\n" for position in positions)])


def write_suite(path: Path, text: str) -> None:
    """Write a suite's file, compressed if its name ends in ``.gz`` (the same bytes for the same text)."""
    replace_file(path, gzip.compress(text.encode(), mtime=0) if path.name.endswith(".gz") else text)


# Generating

CANDIDATES_PER_BATCH = 64
CANDIDATES_PER_OPENING = 400
"""The generator gives up after this many candidates for each opening wanted."""


@dataclass(frozen=True)
class Candidate:
    """A position that random play reached, and what the engine thinks of it (centipawns, side to move)."""

    position: str
    score: int


Proposer = Callable[[int, int], Sequence[Candidate | None]]
"""``propose(first, count)``: candidates number ``first`` to ``first + count - 1``, ``None`` for each that fell away.

A candidate must depend on its number alone. Called from several threads at once.
"""


class RandomPlay:
    """Proposes positions after random legal moves from the start, scored by a short search.

    Move ``ply`` of candidate ``number`` is the one at the place given by the SHA-256 of ``"<seed>:<number>:<ply>"``,
    read as a big-endian number, modulo the number of legal moves.
    """

    def __init__(self, game: str, seed: int, plies: int, limits: Limits) -> None:
        self._game = game
        self._seed = seed
        self._plies = plies
        self._limits = limits
        self._local = threading.local()

    def __call__(self, first: int, count: int) -> list[Candidate | None]:
        return [self._candidate(number) for number in range(first, first + count)]

    def _candidate(self, number: int) -> Candidate | None:
        from engine.rules import Rules

        position = _position_checker(self._game).position()
        for ply in range(self._plies):
            moves = position.legal_moves()
            if not moves:
                return None
            place = int.from_bytes(hashlib.sha256(f"{self._seed}:{number}:{ply}".encode()).digest(), "big")
            position.push(moves[place % len(moves)])
        if position.judge(Rules()) is not None:
            return None
        return Candidate(_fresh_text(position), self._score(position))

    def _score(self, position: Position) -> int:
        engine = self._engine()
        engine.new_game()
        fresh = _position_checker(self._game).position(_fresh_text(position))
        return engine.search(fresh, self._limits).score

    def _engine(self) -> Engine:
        from engine.engine import Engine

        if not hasattr(self._local, "engine"):
            # Without a transposition table: clearing one would take longer than the search.
            self._local.engine = Engine(self._game, {"hash_mb": 0})
        engine: Engine = self._local.engine
        return engine


def _fresh_text(position: Position) -> str:
    """The position's text with its counters (fields 5 and 6 of a FEN) as at the start of a game."""
    fields = position.text.split()
    if len(fields) == 6:
        fields[4:] = ["0", "1"]
    return " ".join(fields)


def generate(
    propose: Proposer,
    count: int,
    *,
    max_score: int,
    concurrency: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> list[str]:
    """The first ``count`` distinct candidates, in their order, that are within ``max_score`` centipawns of even.

    Mirror images count as the same. The result does not depend on ``concurrency``. ``progress`` is called with the
    number of openings found and of candidates seen. Raises ``OpeningError`` if there are too few.
    """
    found: dict[str, str] = {}
    seen = over = 0
    for candidate in _candidates(propose, CANDIDATES_PER_OPENING * count + CANDIDATES_PER_BATCH, concurrency):
        seen += 1
        over += candidate is None
        if candidate is not None and abs(candidate.score) <= max_score:
            found.setdefault(placement_of(candidate.position), candidate.position)
        if progress is not None:
            progress(len(found), seen)
        if len(found) == count:
            return list(found.values())
    raise OpeningError(
        f"only {len(found)} of {count} openings found among {seen} candidates, {over} of which were over; use a higher "
        f"--max-score, or {'fewer' if 2 * over > seen else 'more'} --plies"
    )


def _candidates(propose: Proposer, limit: int, concurrency: int) -> Iterator[Candidate | None]:
    """Candidates 0, 1, ... in order, computed in batches by several threads, a bounded number ahead."""
    starts = iter(range(0, limit, CANDIDATES_PER_BATCH))
    with ThreadPoolExecutor(concurrency, "openings") as pool:
        ahead = [pool.submit(propose, start, CANDIDATES_PER_BATCH) for start in islice(starts, 2 * concurrency)]
        try:
            while ahead:
                yield from ahead.pop(0).result()
                start = next(starts, None)
                if start is not None:
                    ahead.append(pool.submit(propose, start, CANDIDATES_PER_BATCH))
        finally:
            for future in ahead:
                future.cancel()
