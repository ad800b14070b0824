"""XQF, the file format of XQStudio and the most common archive format of Xiangqi; each file holds one game.

A file has a header of 1024 bytes, then a tree of moves in preorder. From version 0x0B on, squares, lengths of comments
and the tree are encrypted with keys from the header. Strings are GB18030; in the header, each string is preceded by its
length.

A node is four bytes: origin, target, flags, and an unused byte. A square is ten times the file plus the rank; 24 is
added to origins and 32 to targets, and encrypted versions add a key to both. The first node is the position before all
moves. One flag means that another move follows, as the next node. Another flag means that the move has an alternative,
which is stored after all nodes that follow the move. In old versions, each node is followed by the length of its
comment in four bytes, and the comment. In encrypted versions, a flag shows whether a node has a comment.

Source: XQStudio's own unit for Delphi, ``XQFRW.pas``, as published by its author.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from elolab.arena.notation.archives.archive import (
    ArchivedMove,
    ArchiveFile,
    ArchiveFormat,
    Entry,
    Reading,
    replay,
    start_position,
)
from elolab.arena.notation.archives.pieces import Square, fen_of, is_square, move_name
from elolab.arena.notation.pgn import PortableGame, PortableGameError

MAGIC = b"XQ"
FIRST_ENCRYPTED = 0x0B
FIRST_SHUFFLED = 0x0C
"""First version of XQF that also permutes the pieces in the header."""

HEADER = np.dtype(
    {
        "names": [
            "version", "key_mask", "key_or", "keys", "pieces", "side", "result", "title", "event", "date", "place",
            "red", "black", "time_rule", "annotator", "author",
        ],
        "formats": [
            "u1", "u1", ("u1", 4), ("u1", 4), ("u1", 32), "u1", "u1", "V64", "V64", "V16", "V16",
            "V16", "V16", "V64", "V16", "V16",
        ],
        "offsets": [2, 3, 8, 12, 16, 50, 51, 80, 208, 272, 288, 304, 320, 336, 464, 480],
        "itemsize": 1024,
    }
)  # fmt: skip

_PHRASE = np.frombuffer(b"[(C) Copyright Mr. Dong Shiwei.]", np.uint8)
"""Phrase from which ``_phrase_key`` derives the key of the encrypted tree of moves."""
_RESULTS = {1: "1-0", 2: "0-1", 3: "1/2-1/2", 4: "1/2-1/2"}
_ORIGIN_OFFSET, _TARGET_OFFSET = 24, 32
_FOLLOWS, _COMMENTED = 0x80, 0x20
_OLD_FOLLOWS = 0xF0


@dataclass(frozen=True)
class _Keys:
    """Numbers that decryption subtracts from squares and lengths of comments; all 0 in files without encryption."""

    squares: int = 0
    origin: int = 0
    target: int = 0
    comment_size: int = 0


class _TreeNode(NamedTuple):
    origin: int
    target: int
    comment: str


def read(source: ArchiveFile, reading: Reading) -> Iterator[Entry]:
    """Read the file's game; variations are skipped."""
    where = f"{source.where}: game 1"
    if len(source.data) < HEADER.itemsize:
        said = f"truncated in the header ({len(source.data)} bytes of {HEADER.itemsize})"
        raise PortableGameError(f"{where}: {said}")
    header = np.frombuffer(source.data, HEADER, 1)[0]
    keys = _keys(header)
    tree = np.frombuffer(source.data, np.uint8, offset=HEADER.itemsize)
    if header["version"] >= FIRST_ENCRYPTED:
        tree = tree - np.resize(_phrase_key(header), len(tree))
    root, *line = _main_line(tree.tobytes(), keys, int(header["version"]), reading, where)
    position = start_position(reading.game, _start(header, keys, line, where), where)
    moves = [
        ArchivedMove(move_name(_square(node.origin), _square(node.target), f"{where}, ply {ply}"), node.comment)
        for ply, node in enumerate(line[: reading.plies], start=1)
    ]
    text = position.text
    played = replay(position, moves, where, reading.plies)
    yield PortableGame(_tags(header), text, played, _RESULTS.get(int(header["result"]), "*"), root.comment)


def _keys(header: Any) -> _Keys:
    if header["version"] < FIRST_ENCRYPTED:
        return _Keys()
    total, squares, origin, target = map(int, header["keys"])
    square_key = _mixed(squares) * squares
    origin_key = _mixed(origin) * (square_key & 0xFF)
    target_key = _mixed(target) * (origin_key & 0xFF)
    return _Keys(square_key & 0xFF, origin_key & 0xFF, target_key & 0xFF, (total * 256 + squares) % 32000 + 767)


def _mixed(key: int) -> int:
    return key * key * 54 + 221


def _phrase_key(header: Any) -> np.ndarray:
    """Derive the 32-byte key that encrypts the tree of moves; the key repeats over the whole tree."""
    masked = (header["keys"] & header["key_mask"]) | header["key_or"]
    return _PHRASE & np.resize(masked, len(_PHRASE))


def _main_line(tree: bytes, keys: _Keys, version: int, reading: Reading, where: str) -> list[_TreeNode]:
    """Read the nodes of the main line; the first node is the position before all moves.

    Raises ``PortableGameError`` if the file ends within a node. Stops after more nodes than any game has moves.
    """
    place, nodes = 0, list[_TreeNode]()
    while len(nodes) <= reading.game.max_game_plies + 1:
        node = tree[place : place + 4]
        flags = node[2] if len(node) == 4 else 0
        size = 8 if version < FIRST_ENCRYPTED or flags & _COMMENTED else 4
        if len(node) < 4 or len(tree) - place < size:
            raise PortableGameError(
                f"{where}: truncated at node {len(nodes)} of the moves (byte {HEADER.itemsize + place})"
            )
        length = 0
        if size == 8:
            length = max(0, int.from_bytes(tree[place + 4 : place + 8], "little") - keys.comment_size)
        place += size
        if length > len(tree) - place:
            said = f"a comment of {length} bytes at node {len(nodes)}, but {len(tree) - place} are left"
            raise PortableGameError(f"{where}: truncated or damaged: {said}")
        comment = " ".join(tree[place : place + length].decode("gb18030", "replace").split())
        origin = (node[0] - _ORIGIN_OFFSET - keys.origin) & 0xFF
        nodes.append(_TreeNode(origin, (node[1] - _TARGET_OFFSET - keys.target) & 0xFF, comment))
        place += length
        if not flags & (_FOLLOWS if version >= FIRST_ENCRYPTED else _OLD_FOLLOWS):
            break
    return nodes


def _square(number: int) -> Square:
    return divmod(number, 10)


def _start(header: Any, keys: _Keys, line: list[_TreeNode], where: str) -> str:
    places = header["pieces"]
    if header["version"] >= FIRST_SHUFFLED:
        places = np.roll(places, keys.squares + 1)
    if header["version"] >= FIRST_ENCRYPTED:
        places = places - np.uint8(keys.squares)
    squares = [_square(int(place)) for place in places]
    first = _square(line[0].origin) if line else None
    side = int(header["side"] == 1)
    return fen_of([square if is_square(square) else None for square in squares], first, side, where)


def _tags(header: Any) -> tuple[tuple[str, str], ...]:
    title, event = _text(header["title"]), _text(header["event"])
    tags = {
        "Event": event or title,
        "Site": _text(header["place"]),
        "Date": date_tag(_text(header["date"])),
        "Red": _text(header["red"]),
        "Black": _text(header["black"]),
        "Title": title if event and title != event else "",
        "TimeControl": _text(header["time_rule"]),
        "Annotator": _text(header["annotator"]) or _text(header["author"]),
    }
    return tuple((name, value) for name, value in tags.items() if value)


def _text(field: Any) -> str:
    data = bytes(field)
    text = data[1 : 1 + data[0]].decode("gb18030", "replace")
    return " ".join(text.replace("\0", " ").split())


_DATE = re.compile(r"(\d{4})\D{1,2}(\d{1,2})(?:\D{1,2}(\d{1,2}))?\D*")


def date_tag(text: str) -> str:
    """Convert a date that begins with the year to PGN, such as ``2019.07.31``; other text is returned unchanged."""
    match = _DATE.fullmatch(text)
    if match is None:
        return f"{text}.??.??" if re.fullmatch(r"\d{4}", text) else text
    year, month, day = match[1], int(match[2]), int(match[3] or 0)
    return f"{year}.{month:02}.{f'{day:02}' if day else '??'}"


FORMAT = ArchiveFormat("XQF", "xiangqi", lambda data: data.startswith(MAGIC), read)
