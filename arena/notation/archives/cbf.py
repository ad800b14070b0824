"""CBF, the XML files of CCBridge 3; each file holds one game.

``ChineseChessRecord`` has a ``Head`` with the start position (FEN) and the players, and a ``MoveList``. The ``value``
of a ``Move`` is file and rank of origin and target as ``77-47``: files from 0 on Red's left, ranks from 0 at Black's
home. The first move, ``00-00``, stands for the start; ``end`` marks the last. Text within a move is the comment on it.
The result is 0 unknown, 1 Red has won, 2 Black has won, 3 and 4 draw. Variations are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree import ElementTree

from elolab.arena.notation.archives.archive import (
    ArchivedMove,
    ArchiveFile,
    ArchiveFormat,
    Entry,
    Reading,
    replay,
    start_position,
)
from elolab.arena.notation.archives.pieces import RANKS, Square, move_name
from elolab.arena.notation.archives.xqf import date_tag
from elolab.arena.notation.pgn import PortableGame, PortableGameError, decode_text

_MARK = b"<ChineseChessRecord"
_MARK_UTF16 = tuple(_MARK.decode().encode(encoding) for encoding in ("utf-16-le", "utf-16-be"))
_DECLARATION = re.compile(r"<\?xml[^>]*\?>")
_DOCUMENT_TYPE = re.compile(r"<!DOCTYPE|<!ENTITY", re.IGNORECASE)
_MOVE = re.compile(r"([0-8])([0-9])-([0-8])([0-9])")
_START = "00-00"
_RESULTS = {"1": "1-0", "2": "0-1", "3": "1/2-1/2", "4": "1/2-1/2"}
_TAGS = {
    "Event": ("Contest", "Name"), "Site": ("Site",), "Date": ("Date",), "Round": ("Round",), "Red": ("Red",),
    "Black": ("Black",), "RedTeam": ("RedTeam",), "BlackTeam": ("BlackTeam",), "RedElo": ("RedRating",),
    "BlackElo": ("BlackRating",), "ECCO": ("ECCO",), "TimeControl": ("TimeRule",), "Annotator": ("Commentator",),
}  # fmt: skip
"""PGN tags, each with the elements of ``Head`` that may hold its value; the first non-empty one is used."""


def recognises(data: bytes) -> bool:
    """Whether the content is a game in the XML format of CCBridge 3."""
    return any(mark in data[:1024] for mark in (_MARK, *_MARK_UTF16))


def read(source: ArchiveFile, reading: Reading) -> Iterator[Entry]:
    """Yield the file's only game, or an error for an illegal move."""
    where = f"{source.where}: game 1"
    text = _DECLARATION.sub("", decode_text(source.data, source.where), count=1)
    if _DOCUMENT_TYPE.search(text):
        raise PortableGameError(f"{where}: damaged: a CBF file declares no document type")
    try:
        root = ElementTree.fromstring(text.strip("\ufeff\0 \n"))
    except ElementTree.ParseError as error:
        raise PortableGameError(f"{where}: truncated or damaged: {error}") from None
    head = {child.tag: " ".join("".join(child.itertext()).split()) for child in root.iterfind("Head/*")}
    position = start_position(reading.game, head.get("FEN") or reading.game.start, where)
    start = position.text
    moves = list(_moves(root, where))
    comment = moves.pop(0).comment if moves and not moves[0].move else ""
    played = replay(position, moves, where, reading.plies)
    yield PortableGame(_pgn_tags(head), start, played, _RESULTS.get(head.get("RecordResult", ""), "*"), comment)


def _moves(root: ElementTree.Element, where: str) -> Iterator[ArchivedMove]:
    """The moves of the game with their comments; the first entry has only the comment on the start position."""
    for ply, element in enumerate(root.iterfind("MoveList/Move")):
        value, comment = element.get("value", "").strip(), " ".join((element.text or "").split())
        if ply == 0 and value == _START:
            yield ArchivedMove("", comment)
            continue
        match = _MOVE.fullmatch(value)
        if match is None:
            raise PortableGameError(
                f"{where}, ply {ply}: {value!r} is not a move", "expected files and ranks such as 77-47"
            )
        file, rank, to_file, to_rank = map(int, match.groups())
        yield ArchivedMove(move_name(_square(file, rank), _square(to_file, to_rank), where), comment)
        if element.get("end"):
            return


def _square(file: int, rank: int) -> Square:
    return file, RANKS - 1 - rank


def _pgn_tags(head: dict[str, str]) -> tuple[tuple[str, str], ...]:
    found = ((tag, next(filter(None, map(head.get, names)), "")) for tag, names in _TAGS.items())
    return tuple((tag, date_tag(value) if tag == "Date" else value) for tag, value in found if value)


FORMAT = ArchiveFormat("CBF", "xiangqi", recognises, read)
