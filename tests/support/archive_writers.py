"""Files of XQF and WTHOR as their programs write them, made from the formats' descriptions without the readers.

``cchess`` 1.25, another reader of XQF, found in these files the positions, moves, comments and variations put into
them (versions 0x0A to 0x12); files of XQStudio itself are not at hand.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

ORDER = "RNBAKABNRCCPPPPPrnbakabnrccppppp"
PHRASE = b"[(C) Copyright Mr. Dong Shiwei.]"


@dataclass
class Branch:
    """A move, what is said of it, and what may follow: the first of them is the main line."""

    move: str = ""
    comment: str = ""
    next: list[Branch] = field(default_factory=list)


def branches(moves: str, comments: dict[int, str] | None = None) -> Branch:
    """A tree without variations; comments by ply, 0 being that before the first move."""
    said = comments or {}
    root = Branch(comment=said.get(0, ""))
    last = root
    for ply, move in enumerate(moves.split(), start=1):
        last.next.append(Branch(move, said.get(ply, "")))
        last = last.next[0]
    return root


def xqf_file(
    tree: Branch, fen: str, version: int = 0x0A, *, keys: Sequence[int] = (17, 34, 51, 68), mask: int = 0xC3,
    masks: Sequence[int] = (1, 130, 7, 90), side: int = 0, result: int = 0, **strings: str,
) -> bytes:  # fmt: skip
    """An XQF file. ``keys`` are those of the header: sum, squares, origins, targets; ``strings`` its fields."""
    encrypted = version >= 0x0B
    square_key = origin_key = target_key = size_key = 0
    if encrypted:
        square_key = (keys[1] ** 2 * 54 + 221) * keys[1] % 256
        origin_key = (keys[2] ** 2 * 54 + 221) * square_key % 256
        target_key = (keys[3] ** 2 * 54 + 221) * origin_key % 256
        size_key = (keys[0] * 256 + keys[1]) % 32000 + 767
    header = bytearray(1024)
    header[0:4] = b"XQ" + bytes((version, mask))
    header[8:12], header[12:16] = bytes(masks), bytes(keys)
    for place, square in enumerate(_squares(fen)):
        stored = ((255 if square is None else square) + square_key) % 256
        header[16 + ((place - square_key - 1) % 32 if version >= 0x0C else place)] = stored
    header[50], header[51] = side, result
    places = {
        "title": (80, 63), "event": (208, 63), "date": (272, 15), "place": (288, 15), "red": (304, 15),
        "black": (320, 15), "time_rule": (336, 63), "annotator": (464, 15), "author": (480, 15),
    }  # fmt: skip
    for name, text in strings.items():
        place, size = places[name]
        data = text.encode("gb18030")[:size]
        header[place : place + 1 + len(data)] = bytes((len(data),)) + data
    body = bytearray()

    def write(branch: Branch, alternative: bool) -> None:
        origin, target = (88, 88) if not branch.move else (_number(branch.move[:2]) + 24, _number(branch.move[2:]) + 32)
        data = branch.comment.encode("gb18030")
        if encrypted:
            flags = 0x80 * bool(branch.next) + 0x40 * alternative + 0x20 * bool(data)
        else:
            flags = 0xF0 * bool(branch.next) + 0x0F * alternative
        body.extend(((origin + origin_key) % 256, (target + target_key) % 256, flags, 0))
        if data or not encrypted:
            body.extend(struct.pack("<I", len(data) + size_key) + data)
        for number, following in enumerate(branch.next):
            write(following, number + 1 < len(branch.next))

    write(tree, False)
    if encrypted:
        key = [letter & (masks[i % 4] | keys[i % 4] & mask) for i, letter in enumerate(PHRASE)]
        body = bytearray((byte + key[place % 32]) % 256 for place, byte in enumerate(body))
    return bytes(header + body)


def _number(square: str) -> int:
    return 10 * "abcdefghi".index(square[0]) + int(square[1])


def _squares(fen: str) -> list[int | None]:
    """The squares of the 32 pieces, those of a kind from the left to the right."""
    found: dict[str, list[int]] = {}
    for row, rank in enumerate(fen.split()[0].split("/")):
        file = 0
        for letter in rank:
            if letter.isdigit():
                file += int(letter)
            else:
                found.setdefault(letter, []).append(10 * file + 9 - row)
                file += 1
    squares = {letter: sorted(places) for letter, places in found.items()}
    return [squares[letter].pop(0) if squares.get(letter) else None for letter in ORDER]


def wtb_file(
    games: Sequence[tuple[int, int, int, int, int, str]], year: int = 2001, *, announced: int | None = None,
    size: int = 8, solitaire: int = 0, depth: int = 24,
) -> bytes:  # fmt: skip
    """A file of WTHOR games: numbers of tournament, Black, White; black discs at the end, with best play; squares."""
    count = len(games) if announced is None else announced
    data = struct.pack("<4BIHH4B", 20, 24, 3, 15, count, 0, year, size, solitaire, depth, 0)
    for tournament, black, white, discs, best, moves in games:
        squares = bytes(10 * int(move[1]) + "abcdefgh".index(move[0].lower()) + 1 for move in moves.split())
        data += struct.pack("<3H2B", tournament, black, white, discs, best) + squares.ljust(60, b"\0")
    return data


def names_file(names: Sequence[str], size: int) -> bytes:
    """A file of names: 20 bytes each for players (``.jou``), 26 for tournaments (``.trn``)."""
    header = struct.pack("<4BIHH4B", 20, 24, 3, 15, 0, len(names), 0, 0, 0, 0, 0)
    return header + b"".join(name.encode("latin-1").ljust(size, b"\0") for name in names)
