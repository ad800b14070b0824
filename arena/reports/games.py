"""All games of a tournament packed for the report's replay: some ten bytes a move, compressed, as text.

Layout of the uncompressed data, all little-endian: the length of the header (uint32), the header (JSON, UTF-8), then
columns over all moves of all games, in the order of ``COLUMNS``. A column of more than one byte is stored as planes
(all low bytes first), which compress better. ``report.js`` reads it.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.records import GameRecord, MoveRecord

COLUMNS = (("move", "<u2"), ("score", "<i2"), ("depth", "u1"), ("nodes", "<u4"), ("time", "<u2"))
"""Moves index the header's ``vocabulary``; scores are the mover's centipawns; see ``packed_times``."""
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


def packed_games(players: Sequence[str], records: Sequence[GameRecord]) -> str:
    """The games, in the order given, as base64 of the zlib-compressed layout above."""
    vocabulary: dict[str, int] = {}
    moves = [entry for record in records for entry in record.moves]
    columns = _columns(moves, vocabulary) if moves else [np.array([], dtype) for _, dtype in COLUMNS]
    header = json.dumps(_header(players, records, vocabulary), ensure_ascii=False, separators=(",", ":")).encode()
    planes = [column[..., None].view(np.uint8).reshape(len(moves), column.itemsize).T.tobytes() for column in columns]
    data = len(header).to_bytes(4, "little") + header + b"".join(planes)
    return base64.b64encode(zlib.compress(data, 9)).decode("ascii")


def _columns(moves: Sequence[MoveRecord], vocabulary: dict[str, int]) -> list[NDArray[Any]]:
    """One array a column, each of shape (moves,); adds every move's text to ``vocabulary``."""
    names, scores, depths, nodes, times_ms = zip(*moves, strict=True)
    values: tuple[Iterable[int], ...] = (
        [vocabulary.setdefault(name, len(vocabulary)) for name in names],
        _known(scores, -32767, 32767, NO_SCORE),
        _known(depths, 0, NO_DEPTH - 1, NO_DEPTH),
        _known(nodes, 0, NO_NODES - 1, NO_NODES),
        packed_times(np.array(times_ms, np.float64)),
    )
    return [np.array(column, dtype) for (_, dtype), column in zip(COLUMNS, values, strict=True)]


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
        name: [] for name in ("number", "pair", "first", "second", "opening", "result", "reason", "plies", "key")
    }
    details: dict[str, str] = {}
    faults: dict[str, dict[str, Any]] = {}
    room = MAX_DIALOGUES
    for index, record in enumerate(records):
        opening = (record.opening.position, record.opening.moves, record.opening.name)
        games["number"].append(record.pairing.number)
        games["pair"].append(record.pairing.pair)
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
