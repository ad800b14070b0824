"""DhtmlXQ, the UBB code of dpxq.com and other Chinese sites and programs, in ``.ubb`` files and web pages.

Each value is a text between ``[DhtmlXQ_name]`` and ``[/DhtmlXQ_name]``:

- ``movelist``: four digits a move, the file and rank of origin and target; files count from 0 on Red's left, ranks
  from 0 at Black's home;
- ``binit``: the start squares of the 32 pieces, 99 for a piece that is not on the board;
- ``comment7`` or ``comment0_7``: the comment after ply 7.

Variations are skipped.

Source: the script of the viewer on dpxq.com.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from elolab.arena.notation.archives.archive import (
    ArchivedMove,
    ArchiveFile,
    ArchiveFormat,
    Entry,
    Reading,
    replay,
    start_position,
)
from elolab.arena.notation.archives.pieces import PIECES, RANKS, Square, fen_of, is_square, move_name
from elolab.arena.notation.archives.xqf import date_tag
from elolab.arena.notation.pgn import PortableGame, PortableGameError, decode_text, result_of

_TAG = re.compile(r"\[(/?)DhtmlXQ(?:HTML)?(?:_(\w+))?\]", re.IGNORECASE)
_BREAKS = re.compile(r"<br\s*/?>|\|\|", re.IGNORECASE)
_STANDARD = "8979695949392919097717866646260600102030405060708012720323436383"
"""Start squares of the 32 pieces in the format of the tag ``binit``; used if a game lacks this tag."""


@dataclass
class _TaggedGame:
    """The tags of one game; names are in lower case, without ``DhtmlXQ_``."""

    where: str
    tags: dict[str, str] = field(default_factory=dict)


def read(source: ArchiveFile, reading: Reading) -> Iterator[Entry]:
    """Yield the games of a text or web page."""
    text = decode_text(source.data, source.where)
    for draft in _drafts(text, source.where):
        try:
            yield _game(draft, reading)
        except PortableGameError as error:
            yield error


def _drafts(text: str, where: str) -> Iterator[_TaggedGame]:
    """Split a text into games: a repeated tag begins the next game."""
    number, draft = 1, _TaggedGame(f"{where}: game 1")
    opened: re.Match[str] | None = None
    for tag in _TAG.finditer(text):
        if tag[1] and tag[2] and opened is not None and opened[2].lower() == tag[2].lower():
            name = tag[2].lower()
            if name in draft.tags:
                yield draft
                number += 1
                draft = _TaggedGame(f"{where}: game {number}")
            value = _BREAKS.sub(" ", html.unescape(text[opened.end() : tag.start()]))
            draft.tags[name] = " ".join(value.split())
        opened = tag if tag[2] and not tag[1] else None
    if draft.tags.keys() & {"movelist", "binit", "move_0_1_0"}:
        yield draft
    else:
        raise PortableGameError(f"{draft.where}: truncated: [DhtmlXQ_movelist] is missing or has no end")


def _game(draft: _TaggedGame, reading: Reading) -> PortableGame:
    where, digits = draft.where, _digits(draft)
    moves = [_squares(digits[place : place + 4]) for place in range(0, len(digits), 4)]
    start = fen_of(_start(draft, where), moves[0][0] if moves else None, 0, where)
    position = start_position(reading.game, start, where)
    text = position.text
    archived = [
        ArchivedMove(move_name(*squares, f"{where}, ply {ply}"), _comment(draft, ply))
        for ply, squares in enumerate(moves[: reading.plies], start=1)
    ]
    played = replay(position, archived, where, reading.plies)
    remark = _comment(draft, 0) or draft.tags.get("remark", "")
    return PortableGame(_pgn_tags(draft), text, played, result_of(draft.tags.get("result", "")) or "*", remark)


def _digits(draft: _TaggedGame) -> str:
    """The digits of the game's moves, four per move."""
    digits = re.sub(r"[\s,]", "", draft.tags.get("movelist", draft.tags.get("move_0_1_0", "")))
    if not re.fullmatch(r"(?:[0-9]{4})*", digits):
        wrong = re.search(r"[^0-9]", digits)
        said = f"{wrong[0]!r} in it" if wrong else f"{len(digits)} digits, expected four a move"
        at = f"{draft.where}, ply {len(digits) // 4 + 1}"
        raise PortableGameError(f"{at}: truncated or damaged: [DhtmlXQ_movelist]: {said}")
    return digits


def _comment(draft: _TaggedGame, ply: int) -> str:
    return draft.tags.get(f"comment0_{ply}") or draft.tags.get(f"comment{ply}", "")


def _squares(digits: str) -> tuple[Square, Square]:
    files_and_ranks = [int(digit) for digit in digits]
    origin, target = files_and_ranks[:2], files_and_ranks[2:]
    return (origin[0], RANKS - 1 - origin[1]), (target[0], RANKS - 1 - target[1])


def _start(draft: _TaggedGame, where: str) -> list[Square | None]:
    digits = draft.tags.get("binit") or _STANDARD
    if not re.fullmatch(r"[0-9]+", digits) or len(digits) != 2 * len(PIECES):
        said = f"{len(digits)} characters, expected {2 * len(PIECES)} digits"
        raise PortableGameError(f"{where}: [DhtmlXQ_binit]: {said}")
    squares = [(int(digits[place]), RANKS - 1 - int(digits[place + 1])) for place in range(0, len(digits), 2)]
    return [square if is_square(square) else None for square in squares]


def _pgn_tags(draft: _TaggedGame) -> tuple[tuple[str, str], ...]:
    given = draft.tags
    names = {
        "Event": given.get("event") or given.get("title"),
        "Site": given.get("place"),
        "Date": date_tag(given.get("date", "")),
        "Round": given.get("round"),
        "Red": given.get("red") or given.get("redname"),
        "Black": given.get("black") or given.get("blackname"),
        "RedTeam": given.get("redteam"),
        "BlackTeam": given.get("blackteam"),
        "Title": given.get("title") if given.get("event") else "",
        "Opening": given.get("open"),
        "TimeControl": given.get("timerule"),
        "Annotator": given.get("author"),
    }
    return tuple((name, value) for name, value in names.items() if value)


FORMAT = ArchiveFormat("DhtmlXQ", "xiangqi", lambda data: b"[dhtmlxq" in data.lower(), read)
