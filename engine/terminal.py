"""Text for a terminal, where Chinese characters and full-width signs take two columns."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Sequence

ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"
GAP = "  "
"""Between two columns of a table."""
_OPENING, _CLOSING = "“‘（《〈【", "，。、；：！？”’）》〉】"


def width_of(text: str) -> int:
    """Columns that the text takes."""
    if text.isascii():
        return len(text)
    return len(text) + sum(unicodedata.east_asian_width(character) in "WF" for character in text)


def clipped(text: str, columns: int) -> str:
    """A text of at most so many columns: of one that is longer, the beginning and an ellipsis."""
    if width_of(text) <= columns:
        return text
    while text and width_of(text) > columns - 1:
        text = text[:-1]
    return text + ELLIPSIS


def in_columns(cells: Sequence[str], widths: Sequence[int]) -> str:
    """A row of a table: each cell set to the left in so many columns or, where the width is negative, to the right."""
    placed = []
    for cell, width in zip(cells, widths, strict=True):
        room = " " * (abs(width) - width_of(cell))
        placed.append(room + cell if width < 0 else cell + room)
    return GAP.join(placed).rstrip()


def filled(text: str, columns: int) -> str:
    """The text in lines of at most so many columns, broken between words and, in Chinese, between characters."""
    if not any(map(_is_wide, text)):
        return textwrap.fill(text, columns)
    lines, line = [], ""
    for piece in _pieces(text):
        if line and width_of(line + piece.rstrip()) > columns:
            lines.append(line.rstrip())
            line = piece.lstrip()
        else:
            line += piece
    return "\n".join([*lines, line.rstrip()])


def _pieces(text: str) -> list[str]:
    """What a line may not be broken inside of: a word with the space after it, a wide character with its marks."""
    pieces: list[str] = []
    for character in text:
        previous = pieces[-1] if pieces else ""
        wide = _is_wide(character) and character not in _CLOSING
        joined = character.isspace() or character in _CLOSING or not previous or previous[-1] in _OPENING
        word = not wide and previous and not previous[-1].isspace() and not _is_wide(previous[-1])
        if pieces and (joined or word):
            pieces[-1] += character
        else:
            pieces.append(character)
    return pieces


def _is_wide(character: str) -> bool:
    return unicodedata.east_asian_width(character) in "WF"
