"""WTHOR, the database of the French Othello federation, with one file per year, such as ``WTH_2001.wtb``.

After a header of 16 bytes, each game has 68 bytes. These are the numbers of the tournament and of both players, Black's
discs at the end, Black's discs after best play from ``depth`` empty squares, and 60 moves. A move is ten times the rank
plus the file of its square. Passes are omitted. The names are in the files ``wthor.trn`` (tournaments) and
``wthor.jou`` (players) of the same folder: the same header, then 26 or 20 bytes per name.

Source: Fédération Française d'Othello, "Format des fichiers de la base WTHOR".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from elolab.arena.notation.archives.archive import ArchivedMove, ArchiveFile, ArchiveFormat, Entry, Reading, replay
from elolab.arena.notation.pgn import PortableGame, PortableGameError

HEADER = np.dtype(
    [
        ("century", "u1"), ("year_of_century", "u1"), ("month", "u1"), ("day", "u1"),
        ("games", "<u4"), ("names", "<u2"), ("year", "<u2"), ("size", "u1"), ("solitaire", "u1"),
        ("depth", "u1"), ("reserved", "u1"),
    ]
)  # fmt: skip
"""Layout of the header.

``year`` is the year of the games, ``depth`` the number of empty squares from which theoretical scores are computed.
"""
GAME = np.dtype(
    [
        ("tournament", "<u2"), ("black", "<u2"), ("white", "<u2"), ("discs", "u1"), ("theoretical", "u1"),
        ("moves", "u1", 60),
    ]
)  # fmt: skip
NAME_SIZES = {".jou": 20, ".trn": 26}
SQUARES = 64

_SQUARE_NAMES = {10 * rank + file: "abcdefgh"[file - 1] + str(rank) for rank in range(1, 9) for file in range(1, 9)}


def recognises(data: bytes) -> bool:
    """Whether the content begins with the header of a file of games.

    Such a header has no names, and has a valid date or the number of games that fits the length of the content.
    """
    header = _header(data)
    if header is None or header["names"]:
        return False
    games = int(header["games"])
    return _has_date(header) or (games > 0 and len(data) == HEADER.itemsize + GAME.itemsize * games)


def holds_names(data: bytes) -> bool:
    """Whether the content begins with the header of a file of names."""
    header = _header(data)
    return header is not None and header["names"] > 0 and header["games"] == 0 and _has_date(header)


def read(source: ArchiveFile, reading: Reading) -> Iterator[Entry]:
    """Yield all games of a WTHOR file."""
    header = _header(source.data)
    assert header is not None, "a file that was recognised"
    if header["size"] not in (0, 8):
        size = header["size"]
        raise PortableGameError(f"{source.where}: WTHOR games on {size} x {size} squares, expected 8 x 8")
    if header["solitaire"]:
        raise PortableGameError(f"{source.where}: a WTHOR file of solitaires, not of games between two players")
    whole = (len(source.data) - HEADER.itemsize) // GAME.itemsize
    claimed = int(header["games"])
    records = np.frombuffer(source.data, GAME, min(whole, claimed), HEADER.itemsize)
    players, tournaments = (_names(source.beside(suffix), size) for suffix, size in NAME_SIZES.items())
    for number, record in enumerate(records, start=1):
        tags = (
            ("Event", _name(tournaments, int(record["tournament"]), "tournament")),
            *((("Date", f"{header['year']}.??.??"),) if header["year"] else ()),
            ("Black", _name(players, int(record["black"]), "player")),
            ("White", _name(players, int(record["white"]), "player")),
            *_score_tags(record, int(header["depth"])),
        )
        try:
            yield _game(record, tags, f"{source.where}: game {number}", reading)
        except PortableGameError as error:
            yield error
    if whole < claimed:
        said = f"truncated: {claimed} games are announced, {whole} are complete"
        yield PortableGameError(f"{source.where}: game {whole + 1}: {said}")
    elif not claimed:
        yield PortableGameError(f"{source.where}: no games in it")


def _header(data: bytes) -> Any:
    return np.frombuffer(data, HEADER, 1)[0] if len(data) >= HEADER.itemsize else None


def _has_date(header: Any) -> bool:
    return (
        19 <= header["century"] <= 21
        and header["year_of_century"] < 100
        and 1 <= header["month"] <= 12
        and 1 <= header["day"] <= 31
    )


def _names(data: bytes | None, size: int) -> Sequence[str]:
    """Names in a file of names, in order; ``size`` is the number of bytes per name.

    Empty if there is no file, incomplete if the file is truncated.
    """
    header = _header(data or b"")
    if data is None or header is None:
        return ()
    count = min(int(header["names"]), (len(data) - HEADER.itemsize) // size)
    # A name is the bytes before the first NUL, in Latin-1.
    fields = np.frombuffer(data, f"V{size}", count, HEADER.itemsize)
    return [bytes(entry).partition(b"\0")[0].decode("latin-1").strip() for entry in fields]


def _name(names: Sequence[str], number: int, kind: str) -> str:
    """The name at index ``number``; if it is missing, a text made of ``kind`` and the index."""
    return (names[number] if number < len(names) else "") or f"{kind} {number}"


def _score_tags(record: Any, depth: int) -> tuple[tuple[str, str], ...]:
    """Tags for Black's lead in discs at the end and after best play, and for ``depth`` unless it is 0.

    ``depth`` is the number of empty squares from which best play was computed. Empty squares count for the winner.
    """
    tags = [("DiscDifference", int(record["discs"])), ("TheoreticalDiscDifference", int(record["theoretical"]))]
    leads = [(name, f"{2 * discs - SQUARES:+}") for name, discs in tags if discs <= SQUARES]
    return (*leads, *((("TheoreticalEmpties", str(depth)),) if depth else ()))


def _game(record: Any, tags: tuple[tuple[str, str], ...], where: str, reading: Reading) -> PortableGame:
    discs = int(record["discs"])
    if discs > SQUARES:
        raise PortableGameError(f"{where}: {discs} black discs on {SQUARES} squares")
    position = reading.game.position()
    played = replay(position, _moves(record, where), where, reading.plies)
    result = "1/2-1/2" if 2 * discs == SQUARES else "1-0" if 2 * discs > SQUARES else "0-1"
    return PortableGame(tags, reading.game.start, played, result)


def _moves(record: Any, where: str) -> Iterator[ArchivedMove]:
    for ply, square in enumerate(record["moves"].tolist(), start=1):
        if not square:
            return
        if square not in _SQUARE_NAMES:
            problem = f"{where}, ply {ply}: {square} is not a square"
            raise PortableGameError(problem, "expected ten times the rank plus the file")
        yield ArchivedMove(_SQUARE_NAMES[square])


FORMAT = ArchiveFormat("WTHOR", "othello", recognises, read)
