"""The games that a page lists and replays: which of them, and how they are packed into the page.

Layout of the uncompressed data, all little-endian: the length of the header (uint32), the header (JSON, UTF-8), then
columns over all moves of all games, in the order of ``COLUMNS``, and the moves of all principal variations one after
the other (uint16). What has more than one byte is stored as planes (all low bytes first), which compress better:
some ten bytes a move, and one or two a move of a variation. ``report.js`` reads it.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from arena.notation.pgn import date_of, round_of
from arena.players.contract import MAX_VARIATION
from arena.records import GameRecord, MoveRecord
from engine.language import DEFAULT_LANGUAGE, Catalogue, GameWords, game_words, messages_of

if TYPE_CHECKING:
    from markupsafe import Markup

REPORTS = "arena.reports"
"""The package whose messages the list of games and the replay have."""
MAX_MOVES = 60_000
"""Moves of the games on a page that does not have all of them: half a megabyte, some six hundred games."""
MAX_VARIATION_MOVES = 1_000_000
"""Moves of all principal variations on a page; where there are more, all of them are cut to as many plies."""
COLUMNS = (("move", "<u2"), ("score", "<i2"), ("depth", "u1"), ("nodes", "<u4"), ("time", "<u2"), ("plies", "u1"))
"""Moves index the header's ``vocabulary``; scores are the mover's centipawns; see ``packed_times``; plies are those of
the principal variation."""
NO_SCORE = -32768
NO_DEPTH = 255
NO_NODES = 2**32 - 1
MANTISSA_BITS = 10
_DIGITS = 10.0 ** np.arange(3, 19)
"""From each of these on, a time in microseconds loses one more digit."""
MAX_DETAIL = 2000
"""Characters of what else is known of a game that the page keeps; the store has it whole."""
MAX_DIALOGUE = 16_384
"""Characters of the dialogue before a fault that the page keeps."""
MAX_DIALOGUES = 4 * 2**20
"""Characters of all of them together; beyond, a fault is told without."""


@dataclass(frozen=True)
class GamesOnPage:
    """The games that a page lists and replays, and what it says of them."""

    game: str
    """Its name in ``engine.games``."""
    event: str
    """What is played, for the tag of that name."""
    players: tuple[str, ...]
    records: Sequence[GameRecord]
    """In schedule order."""
    counted: int | None = None
    """Games with this number or a higher one lie beyond the end of a sequential test; ``None`` without one."""
    note: str = ""
    """Which games these are, where they are not all."""
    language: str = DEFAULT_LANGUAGE

    @property
    def words(self) -> GameWords:
        """What the game and its sides are called."""
        return game_words(self.game, self.language)

    @property
    def notations(self) -> tuple[tuple[str, str], ...]:
        """In what moves can be written, and what that is called; empty where there is no choice."""
        from engine.games import game_named

        if not game_named(self.game).move_notations:
            return ()
        from engine.games.xiangqi.move_names import NOTATIONS

        say = Catalogue(REPORTS, self.language)
        return tuple((notation, say(f"notation.{notation}")) for notation in NOTATIONS)

    @property
    def data(self) -> Markup:
        """What report.js needs to know besides the games, as JSON."""
        return script_data(self.facts(sorted({record.reason for record in self.records})))

    def facts(self, reasons: Iterable[str]) -> dict[str, Any]:
        """The same as plain data; ``reasons`` are those for which games may have ended."""
        from engine.games import game_named

        reasons = tuple(reasons)
        contract, words, endings = game_named(self.game), self.words, Catalogue("engine", self.language)
        messages = messages_of(REPORTS, self.language)
        return {
            "game": self.game,
            "sides": words.side_names,
            "pieces": words.pieces,
            "counted": self.counted,
            "endings": {reason: endings.name_of("ending", reason) for reason in reasons},
            "explanations": {reason: endings.name_of("explanation", reason) for reason in reasons},
            "pgn": {
                "game": contract.title, "event": self.event, "sides": contract.side_names, "start": contract.start,
            },
            "messages": {
                key.removeprefix("script."): text for key, text in messages.items() if key.startswith("script.")
            },
        }  # fmt: skip

    @property
    def packed(self) -> str:
        """See ``packed_games``."""
        return packed_games(self.players, self.records)


def script_data(data: Any) -> Markup:
    """Plain data as JSON that can stand in a script element."""
    from markupsafe import Markup

    return Markup(json.dumps(data, ensure_ascii=False).replace("<", "\\u003c"))


@dataclass(frozen=True)
class Candidate:
    """What decides whether a game is on a page that does not have all of them."""

    key: str
    group: tuple[str, frozenset[str]]
    """The part of the run, and the two who played."""
    pair: tuple[int, ...]
    """The game pair that it belongs to, within its group."""
    moves: int

    @classmethod
    def of(cls, record: GameRecord) -> Candidate:
        """What matters of a game."""
        place = record.pairing
        group = (place.series, frozenset((record.first, record.second)))
        return cls(record.key, group, (place.round, place.pair), len(record.moves))


def chosen(candidates: Iterable[Candidate], most: int) -> set[str]:
    """The keys of games that together have at most so many moves; all, if they have no more.

    Whole pairs, in turn of each part of the run, and within it of each two players the first one, then the second, and
    so on. ``candidates`` are in schedule order.
    """
    parts: dict[str, dict[frozenset[str], dict[tuple[int, ...], list[Candidate]]]] = {}
    for game in candidates:
        series, players = game.group
        parts.setdefault(series, {}).setdefault(players, {}).setdefault(game.pair, []).append(game)
    found: set[str] = set()
    for pair in _in_turn([_in_turn([iter(pairs.values()) for pairs in part.values()]) for part in parts.values()]):
        most -= sum(game.moves for game in pair)
        if most < 0:
            break
        found.update(game.key for game in pair)
    return found


def _in_turn(sequences: Sequence[Iterator[list[Candidate]]]) -> Iterator[list[Candidate]]:
    """The first of each, then the second of each that has one, and so on."""
    waiting = list(sequences)
    while waiting:
        left = []
        for sequence in waiting:
            for pair in sequence:
                yield pair
                left.append(sequence)
                break
        waiting = left


def packed_games(players: Sequence[str], records: Sequence[GameRecord]) -> str:
    """The games, in the order given, as base64 of the zlib-compressed layout above."""
    vocabulary: dict[str, int] = {}
    moves = [entry for record in records for entry in record.moves]
    variations = [entry.principal_variation.split() for entry in moves]
    plies = _plies_shown(variations)
    columns = _columns(moves, vocabulary) if moves else [np.array([], dtype) for _, dtype in COLUMNS[:-1]]
    columns.append(np.array([min(plies, len(variation)) for variation in variations], "u1"))
    numbers = [
        vocabulary.setdefault(move, len(vocabulary)) for variation in variations for move in variation[:plies]
    ]
    columns.append(np.array(numbers, "<u2"))
    header = _header(players, records, vocabulary) | {"variation_plies": plies if plies < MAX_VARIATION else 0}
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    planes = [column[..., None].view(np.uint8).reshape(len(column), column.itemsize).T.tobytes() for column in columns]
    data = len(text).to_bytes(4, "little") + text + b"".join(planes)
    return base64.b64encode(zlib.compress(data, 9)).decode("ascii")


def _plies_shown(variations: Sequence[Sequence[str]], most: int = MAX_VARIATION_MOVES) -> int:
    """To how many plies principal variations are cut, so that all together have at most so many moves."""
    lengths = np.array([len(variation) for variation in variations], np.int64)
    shown = (plies for plies in range(MAX_VARIATION, 0, -1) if np.minimum(lengths, plies).sum() <= most)
    return next(shown, 0)


def _columns(moves: Sequence[MoveRecord], vocabulary: dict[str, int]) -> list[NDArray[Any]]:
    """One array a column but the last, each of shape (moves,); adds every move's text to ``vocabulary``."""
    names, scores, depths, nodes, times_ms, _ = zip(*moves, strict=True)
    values: tuple[Iterable[int], ...] = (
        [vocabulary.setdefault(name, len(vocabulary)) for name in names],
        _known(scores, -32767, 32767, NO_SCORE),
        _known(depths, 0, NO_DEPTH - 1, NO_DEPTH),
        _known(nodes, 0, NO_NODES - 1, NO_NODES),
        packed_times(np.array(times_ms, np.float64)),
    )
    return [np.array(column, dtype) for (_, dtype), column in zip(COLUMNS[:-1], values, strict=True)]


def _known(values: Sequence[int | None], least: int, most: int, unknown: int) -> NDArray[np.int64]:
    """The values within bounds, ``None`` as ``unknown``."""
    known = np.array([least if value is None else max(least, min(most, value)) for value in values], np.int64)
    known[[value is None for value in values]] = unknown
    return known


def packed_times(times_ms: NDArray[np.float64]) -> NDArray[np.int64]:
    """Times to three significant digits in 16 bits: microseconds = (value % 1024) * 10 ** (value // 1024)."""
    microseconds = np.rint(times_ms * 1000).clip(0)
    exponents = np.searchsorted(_DIGITS, microseconds, "right")
    mantissas = np.rint(microseconds / 10.0**exponents).astype(np.int64)
    return exponents << MANTISSA_BITS | mantissas


def _header(players: Sequence[str], records: Sequence[GameRecord], vocabulary: dict[str, int]) -> dict[str, Any]:
    number_of = {name: number for number, name in enumerate(players)}
    reasons: dict[str, int] = {}
    openings: dict[tuple[str, tuple[str, ...], str], int] = {}
    games: dict[str, list[Any]] = {
        name: []
        for name in (
            "number", "pair", "round", "date", "first", "second", "opening", "result", "reason", "plies", "key"
        )
    }  # fmt: skip
    details: dict[str, str] = {}
    faults: dict[str, dict[str, Any]] = {}
    room = MAX_DIALOGUES
    for index, record in enumerate(records):
        opening = (record.opening.position, record.opening.moves, record.opening.name)
        place = record.pairing
        games["number"].append("-".join([*place.series.split(), str(place.number)]) if place.series else place.number)
        games["pair"].append(place.pair)
        games["round"].append(round_of(record))
        games["date"].append(date_of(record))
        games["first"].append(number_of[record.first])
        games["second"].append(number_of[record.second])
        games["opening"].append(openings.setdefault(opening, len(openings)))
        games["result"].append(record.result)
        games["reason"].append(reasons.setdefault(record.reason, len(reasons)))
        games["plies"].append(len(record.moves))
        games["key"].append(record.key[:12])
        if "fault" in record.detail:
            dialogue = _end_of(record.detail.get("dialogue", ()), min(room, MAX_DIALOGUE))
            room -= len(dialogue)
            faults[str(index)] = {"text": record.detail["fault"]["text"], "dialogue": dialogue}
        others = {name: value for name, value in record.detail.items() if name not in ("fault", "dialogue")}
        if others:
            details[str(index)] = json.dumps(others, ensure_ascii=False)[:MAX_DETAIL]
    return {
        "players": list(players),
        "reasons": list(reasons),
        "openings": [[position, " ".join(moves), name] for position, moves, name in openings],
        "vocabulary": list(vocabulary),
        "games": games,
        "details": details,
        "faults": faults,
    }


def _end_of(dialogue: Sequence[str], most: int) -> str:
    """The last lines of a dialogue that have so many characters together."""
    text = "\n".join(dialogue)
    return text if len(text) <= most else text[-most:].partition("\n")[2] if most else ""
