"""Packs the games of a report's page into the format that ``report.js`` reads.

A page has one index of all its games, for the list: JSON, compressed by zlib, in base64. The games are in chunks of
about 200 games. A chunk is little-endian and consists of:

- the length of its header in bytes (uint32), and the header (JSON, UTF-8)
- a column for each entry of ``COLUMNS``, with one value per move of its games
- the moves of all principal variations (uint16)

Columns of multi-byte values are stored as planes (all low bytes first), which compress better. A move takes about ten
bytes, a move of a variation one or two.

A page with few games contains all chunks itself. With more games, the chunks are scripts in a folder next to the page
and are loaded when needed. Their file names contain digests of their contents, so that a page never loads the games of
another report.
"""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from elolab.arena.files import FileError, replace_file
from elolab.arena.notation.pgn import date_of, round_of
from elolab.arena.notation.played_tags import SHARED_TAGS, SIDE_TAGS, PlayedAs, termination_of
from elolab.arena.players.player import MAX_VARIATION
from elolab.arena.records import GameRecord, MoveRecord
from elolab.arena.reports.render import REPORTS
from elolab.arena.statistics.faults import cause_of
from elolab.engine.games import game_named
from elolab.engine.language import DEFAULT_LANGUAGE, Catalogue, GameWords, game_words, messages_of

if TYPE_CHECKING:
    from elolab.engine.games.contract import Game

CHUNK_MOVES = 20_000
"""Number of moves at which a chunk is complete: about 200 games, 200 kB."""
MAX_EMBEDDED = 2_500_000
"""Maximum total length, in characters, of chunks inside a page: about 2000 games.

If the chunks are longer, all of them are written to files.
"""
GAMES_FOLDER = "report-games"
"""Name of the folder, next to the page, that contains the chunks if they are too long for the page itself."""
COLUMNS = (("move", "<u2"), ("score", "<i2"), ("depth", "u1"), ("nodes", "<u4"), ("time", "<u2"), ("plies", "u1"))
"""Name and NumPy type of each column of a chunk.

``move`` is an index into the header's ``vocabulary``. ``score`` is in centipawns for the side that moved.
``time`` has the format of ``packed_times``. ``plies`` is the length of the principal variation.
"""
NO_SCORE = -32768
NO_DEPTH = 255
NO_NODES = 2**32 - 1
MANTISSA_BITS = 10
_DIGITS = 10.0 ** np.arange(3, 19)
"""Times, in microseconds; from each of them on, ``packed_times`` drops one more decimal digit."""
MAX_DIALOGUE = 16_384
"""Maximum number of characters of the dialogue before a fault that a page shows."""
MAX_DIALOGUES = 4 * 2**20
"""Maximum number of characters of all dialogues in a chunk. Later faults in the chunk are shown without a dialogue."""


@dataclass(frozen=True)
class PackedGames:
    """All games of a page in packed form."""

    index: str
    """The index for the page's list of games: JSON, compressed by zlib, in base64."""
    reasons: tuple[str, ...]
    """The different reasons for which the games ended."""
    games: int
    embedded: tuple[str, ...] = ()
    """Compressed chunks for inclusion in the page; empty if the chunks are in files."""
    files: tuple[str, ...] = ()
    """File names of the chunks in ``GAMES_FOLDER``; empty if the chunks are inside the page."""


@dataclass(frozen=True)
class GamesOnPage:
    """The games that a page lists and replays, with the data that describe them."""

    game: str
    """Name of the game, such as ``chess``."""
    event: str
    """Value of the PGN tag ``Event``."""
    packed: PackedGames = PackedGames("", (), 0)
    """The packed games; empty if the page loads its games from a server."""
    counted: int | None = None
    """Index of the first game that does not count, because a sequential test had ended; ``None`` if all games count."""
    language: str = DEFAULT_LANGUAGE
    players: Mapping[str, PlayedAs] = field(default_factory=dict)
    """How each player played, keyed by name, for the replay and copied games; unknown players are missing."""

    @property
    def words(self) -> GameWords:
        """Names of the game and its sides in the report's language."""
        return game_words(self.game, self.language)

    @property
    def notations(self) -> tuple[tuple[str, str], ...]:
        """Move notations that the reader can choose from, as pairs of key and title; empty if there is only one."""
        say = Catalogue(REPORTS, self.language)
        return tuple((notation, say(f"notation.{notation}")) for notation in self.contract.move_notations)

    @property
    def contract(self) -> Game:
        """The rules of the game; see ``engine.games.contract.Game``."""
        return game_named(self.game)

    @property
    def folder(self) -> str:
        """Name of the folder, next to the page, with the chunks of games."""
        return GAMES_FOLDER

    @property
    def policy(self) -> Markup:
        """Content security policy for scripts; allows ``file:``, because a page opened from a file has no origin."""
        return Markup("script-src 'unsafe-inline'" + (" 'self' file:" if self.packed.files else "") + "; ")

    @property
    def data(self) -> Markup:
        """The data other than games that ``report.js`` needs, as JSON."""
        return script_data(self.facts(sorted(self.packed.reasons)))

    def facts(self, reasons: Iterable[str]) -> dict[str, Any]:
        """The data that ``report.js`` needs besides the games; ``reasons`` are the reasons that can end a game."""
        reasons = tuple(reasons)
        contract, words, endings = self.contract, self.words, Catalogue("elolab.engine", self.language)
        messages = messages_of(REPORTS, self.language)
        return {
            "game": self.game,
            "sides": words.side_names,
            "pieces": words.pieces,
            "counted": self.counted,
            "endings": {reason: endings.name_of("ending", reason) for reason in reasons},
            "explanations": {reason: endings.name_of("explanation", reason) for reason in reasons},
            "pgn": {
                "tags": contract.pgn_tags(contract.start), "event": self.event, "sides": contract.side_names,
                "start": contract.start,
                "terminations": {reason: termination_of(reason) for reason in reasons},
                "names": {reason: Catalogue("elolab.engine").name_of("ending", reason) for reason in reasons},
                "players": {name: played.tags for name, played in self.players.items()},
                "shared": SHARED_TAGS, "own": SIDE_TAGS,
            },
            "messages": {
                key.removeprefix("script."): text for key, text in messages.items() if key.startswith("script.")
            },
        }  # fmt: skip


def script_data(data: Any) -> Markup:
    """Plain data as JSON, escaped so that it is safe inside a script element."""
    return Markup(json.dumps(data, ensure_ascii=False).replace("<", "\\u003c"))


class GamePacker:
    """Packs games for a report's page. Games must be added in schedule order.

    Chunk files of an earlier report are kept, because the earlier page still needs them. ``remove_other_chunks``
    removes them once the new page has replaced the earlier one.
    """

    def __init__(self, players: Sequence[str], folder: Path, game: str, language: str) -> None:
        """Start without games.

        ``players`` sets the order of players in the index. If the games do not fit into the page, their chunks
        are written into ``folder``, which is then created.
        """
        self._words = (game, language)
        self._players = {name: number for number, name in enumerate(players)}
        self._folder = folder
        self._chunk = PackedChunk(*self._words)
        self._chunks: list[dict[str, Any]] = []
        self._embedded: list[str] = []
        self._size = 0
        self._is_embedded = True
        self._reasons: dict[str, int] = {}
        self._openings: dict[str, int] = {}
        self._columns: dict[str, list[Any]] = {name: [] for name in INDEX_COLUMNS}

    def add(self, record: GameRecord) -> None:
        """Add a game. Raises ``FileError`` if a chunk cannot be written."""
        place, columns = record.pairing, self._columns
        columns["number"].append("-".join([*place.series.split(), str(place.number)]) if place.series else place.number)
        columns["pair"].append(place.pair)
        columns["first"].append(self._players.setdefault(record.first, len(self._players)))
        columns["second"].append(self._players.setdefault(record.second, len(self._players)))
        columns["opening"].append(self._openings.setdefault(record.opening.name, len(self._openings)))
        columns["result"].append(record.result)
        columns["reason"].append(self._reasons.setdefault(record.reason, len(self._reasons)))
        columns["plies"].append(len(record.moves))
        self._chunk.add(record)
        if self._chunk.moves >= CHUNK_MOVES:
            self._close_chunk()

    def packed(self) -> PackedGames:
        """Finish packing; returns all games added so far. Can be called once."""
        if self._chunk.games:
            self._close_chunk()
        index = {
            "players": list(self._players), "reasons": list(self._reasons), "openings": list(self._openings),
            "folder": self._folder.name, "chunks": self._chunks, "games": self._columns,
        }  # fmt: skip
        text = json.dumps(index, ensure_ascii=False, separators=(",", ":"))
        return PackedGames(
            compressed(text.encode()),
            tuple(self._reasons),
            len(self._columns["number"]),
            tuple(self._embedded),
            () if self._is_embedded else tuple(f"{chunk['name']}.js" for chunk in self._chunks),
        )

    def _close_chunk(self) -> None:
        data = self._chunk.data()
        name = f"{len(self._chunks) + 1:04}-{hashlib.sha256(data).hexdigest()[:12]}"
        self._chunks.append({"name": name, "games": self._chunk.games})
        self._chunk = PackedChunk(*self._words)
        if self._is_embedded:
            self._embed(compressed(data))
        else:
            self._write(name, compressed(data))

    def _embed(self, text: str) -> None:
        self._embedded.append(text)
        self._size += len(text)
        if self._size <= MAX_EMBEDDED:
            return
        self._is_embedded = False
        try:
            self._folder.mkdir(exist_ok=True)
        except OSError as error:
            raise FileError(f"{self._folder}: cannot be made: {error.strerror}") from None
        for chunk, embedded in zip(self._chunks, self._embedded, strict=True):
            self._write(chunk["name"], embedded)
        self._embedded = []

    def _write(self, name: str, text: str) -> None:
        """Write a chunk to its file, unless the file exists."""
        path = self._folder / f"{name}.js"
        if not path.is_file():
            replace_file(path, f'receiveChunk("{name}", "{text}");\n')


INDEX_COLUMNS = ("number", "pair", "first", "second", "opening", "result", "reason", "plies")
"""Columns of the page's index. ``first``, ``second``, ``opening`` and ``reason`` are indices into lists of names."""


def remove_other_chunks(folder: Path, files: Collection[str] = ()) -> None:
    """Remove all chunk files in ``folder`` except ``files``. Also removes the folder if it is then empty."""
    if not folder.is_dir():
        return
    for path in folder.glob("*.js"):
        if path.name not in files:
            path.unlink(missing_ok=True)
    if not files:
        try:
            folder.rmdir()
        except OSError:  # the folder contains other files
            pass


class PackedChunk:
    """Collects games in columns, which need less memory than records, and packs them into one chunk."""

    def __init__(self, game: str, language: str) -> None:
        self._game, self._language = game, language
        self.games = 0
        self.header: dict[str, Any] = {
            "openings": {},
            "vocabulary": {},
            "games": {name: [] for name in ("round", "date", "opening", "plies", "key")},
            "details": {},
            "faults": {},
        }
        self._moves: list[int] = []
        self._scores: list[int | None] = []
        self._depths: list[int | None] = []
        self._nodes: list[int | None] = []
        self._times_ms: list[float] = []
        self._variation_plies: list[int] = []
        self._variations: list[int] = []
        self._room = MAX_DIALOGUES

    @property
    def moves(self) -> int:
        """Number of moves in the chunk so far."""
        return len(self._moves)

    def add(self, record: GameRecord) -> None:
        """Add a game."""
        header, games = self.header, self.header["games"]
        opening = (record.opening.position, " ".join(record.opening.moves))
        games["round"].append(round_of(record))
        games["date"].append(date_of(record))
        games["opening"].append(header["openings"].setdefault(opening, len(header["openings"])))
        games["plies"].append(len(record.moves))
        games["key"].append(record.key[:12])
        if record.detail:
            self._add_details(record)
        if record.moves:
            self._add_moves(record.moves)
        self.games += 1

    def _add_details(self, record: GameRecord) -> None:
        place = str(self.games)
        if fault := fault_of_game(record, self._language):
            dialogue = _end_of(record.detail.get("dialogue", ()), min(self._room, MAX_DIALOGUE))
            self._room -= len(dialogue)
            self.header["faults"][place] = {"text": fault, "dialogue": dialogue}
        if details := details_of_game(record, self._game, self._language):
            self.header["details"][place] = details

    def _add_moves(self, moves: Sequence[MoveRecord]) -> None:
        vocabulary = self.header["vocabulary"]
        names, scores, depths, nodes, times_ms, variations, _ = zip(*moves, strict=True)
        self._moves += [vocabulary.setdefault(name, len(vocabulary)) for name in names]
        self._scores += scores
        self._depths += depths
        self._nodes += nodes
        self._times_ms += times_ms
        if not any(variations):
            self._variation_plies += [0] * len(moves)
            return
        for variation in variations:
            line = variation.split()[:MAX_VARIATION]
            self._variation_plies.append(len(line))
            self._variations += [vocabulary.setdefault(move, len(vocabulary)) for move in line]

    def data(self) -> bytes:
        """The chunk as bytes, in the format that the module describes."""
        values: tuple[Any, ...] = (
            self._moves,
            _known(self._scores, -32767, 32767, NO_SCORE),
            _known(self._depths, 0, NO_DEPTH - 1, NO_DEPTH),
            _known(self._nodes, 0, NO_NODES - 1, NO_NODES),
            packed_times(np.array(self._times_ms, np.float64)),
            self._variation_plies,
        )
        columns = [np.array(column, dtype) for (_, dtype), column in zip(COLUMNS, values, strict=True)]
        columns.append(np.array(self._variations, "<u2"))
        planes = [column[..., None].view(np.uint8).reshape(len(column), column.itemsize).T for column in columns]
        header = self.header | {name: [*self.header[name]] for name in ("openings", "vocabulary")}
        text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
        return len(text).to_bytes(4, "little") + text + b"".join(plane.tobytes() for plane in planes)


def fault_of_game(record: GameRecord, language: str) -> str:
    """A sentence on the fault that ended a game; empty if there was no fault or no details are stored."""
    player, fault = cause_of(record) or ("", None)
    say = Catalogue("elolab.arena", language)
    return "" if fault is None else say("fault.of_player", player=player, text=fault.text(language))


def details_of_game(record: GameRecord, game: str, language: str) -> str:
    """Sentences on unusual facts of a game: late or disturbed moves, pondering, an exact score, changed limits.

    Empty if there are none.
    """
    return " ".join(_sentences(record, game, Catalogue(REPORTS, language)))


def _sentences(record: GameRecord, game: str, say: Catalogue) -> Iterator[str]:
    detail, players = record.detail, (record.first, record.second)
    for player, overrun in zip(players, detail.get("overruns", ()), strict=False):
        if overrun["moves"]:
            yield say("detail.overruns", player=player, moves=overrun["moves"], worst=f"{overrun['worst_ms']:g}")
    if "disturbed" in detail:
        yield say("detail.disturbed", moves=detail["disturbed"]["moves"], worst=f"{detail['disturbed']['worst_ms']:g}")
    for player, pondering in zip(players, detail.get("pondering", ()), strict=False):
        if pondering["tries"]:
            yield say("detail.pondering", player=player, count=pondering["tries"], hits=len(pondering["hits"]))
    if record.exact_score:
        words = game_words(game, say.language)
        winner = words.side_names[0 if record.exact_score > 0 else 1]
        yield say("detail.exact_score", winner=winner, points=abs(record.exact_score), unit=words.score_name)
    if "limit" in detail:
        yield say("detail.limit", limit=detail["limit"])
    if "limit_scale" in detail:
        yield say("detail.limit_scale", scale=f"{detail['limit_scale']:g}")


def compressed(data: bytes) -> str:
    """Compress data with zlib and encode them in base64, for ``report.js``."""
    return base64.b64encode(zlib.compress(data, 9)).decode("ascii")


def _known(values: Sequence[int | None], least: int, most: int, unknown: int) -> NDArray[np.int64]:
    """Convert values to an array, clipped to the range from ``least`` to ``most``; ``None`` becomes ``unknown``."""
    if None not in values:
        return np.array(values, np.int64).clip(least, most)
    known = np.array([least if value is None else value for value in values], np.int64).clip(least, most)
    known[[value is None for value in values]] = unknown
    return known


def packed_times(times_ms: NDArray[np.float64]) -> NDArray[np.int64]:
    """Round times to about three significant digits and pack each into 16 bits.

    A packed value stands for ``(value % 1024) * 10 ** (value // 1024)`` microseconds.
    """
    microseconds = np.rint(times_ms * 1000).clip(0)
    exponents = np.searchsorted(_DIGITS, microseconds, "right")
    mantissas = np.rint(microseconds / 10.0**exponents).astype(np.int64)
    return exponents << MANTISSA_BITS | mantissas


def _end_of(dialogue: Sequence[str], most: int) -> str:
    """The last lines of a dialogue as text of at most ``most`` characters."""
    text = "\n".join(dialogue)
    return text if len(text) <= most else text[-most:].partition("\n")[2] if most else ""
