"""Lines of EPD: a position, followed by operations such as ``id "name";``.

The position is a FEN, with or without its two counters, or another game's position text. The ``;`` before the first
operation and after the last one is optional. A ``#`` at the beginning of a word starts a comment, except within
quotation marks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_TOKEN = re.compile(r'\s*("[^"]*"?|;|[^\s;"]+)')
_MARKS = frozenset('#;"')
_COUNTER = re.compile(r"-|\d+")
_CHESS_RANKS = 8
_CHESS_FIELDS = (re.compile(r"-|[KQkqA-Ha-h]{1,4}"), re.compile(r"-|[a-h][36]"))
"""Regular expressions for the FEN fields castling rights and en passant, in a position with eight ranks."""
_FIELDS = 6
"""Number of fields of a FEN: board, side to move, two that depend on the game, and the two counters."""
MOVES = "moves"
"""Word that separates a position from its moves in protocols such as UCI. It is never the name of an EPD operation."""


def position_and_operations(line: str) -> tuple[str, dict[str, str]]:
    """Parse a line: returns the position, and the operands of its operations by name. Both are empty for a comment
    line.

    If the position has no counters, they are taken from the operations ``hmvc`` and ``fmvn``.
    """
    if not _MARKS.intersection(line):
        return " ".join(line.split()), {}
    words: list[str] = []
    for word in _TOKEN.findall(line):
        if word.startswith("#"):
            break
        words.append(word)
    end = next((place for place, word in enumerate(words) if word == ";"), len(words))
    size = min(2, end)
    forms = list(_CHESS_FIELDS) if words[:1] and words[0].count("/") == _CHESS_RANKS - 1 else []
    while size < min(end, _FIELDS) and (forms.pop(0) if forms else _COUNTER).fullmatch(words[size]):
        size += 1
    if size < end and (end == len(words) or not words[size].isidentifier() or words[size] == MOVES):
        size = end  # no operation: the caller's position parser reports the mistake
    position = words[:size]
    operations = _operations(words[size:])
    if len(position) == _FIELDS - 2 and operations.keys() & {"hmvc", "fmvn"}:
        position += [operations.get("hmvc", "0"), operations.get("fmvn", "1")]
    return " ".join(position), operations


def _operations(words: Sequence[str]) -> dict[str, str]:
    """Parse a line's operations: returns their operands, without quotation marks, by operation name."""
    found: dict[str, str] = {}
    code, operands = "", []
    for word in [*words, ";"]:
        if word != ";":
            if code:
                operands.append(word.strip('"'))
            code = code or word
            continue
        if code:
            found[code] = " ".join(operands)
        code, operands = "", []
    return found
