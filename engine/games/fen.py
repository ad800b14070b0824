"""Parts of a FEN that all games share: the board, rank by rank, and the counters at the end."""

from __future__ import annotations

from collections.abc import Sequence

from elolab.engine.games.contract import PositionError
from elolab.engine.settings.whole_numbers import natural_number

_FIELDS = 6
"""Number of fields of a FEN: board, side to move, two that depend on the game, plies without progress, move number."""


def read_fields(text: str) -> list[str]:
    """Split a FEN into its fields; the last four may be missing. Raises ``PositionError``."""
    fields = text.split()
    if len(fields) < 2:
        raise PositionError(f"FEN {text!r}: expected a board and a side to move")
    # Protocols append moves to a FEN, which may lack its last fields.
    end = min(fields.index("moves") if "moves" in fields else _FIELDS, _FIELDS)
    if surplus := fields[end:]:
        raise PositionError(f"FEN {text!r}: {' '.join(surplus)!r} is not part of it, which ends with the move number")
    return fields


def read_board(text: str, ranks: int, files: int, first_rank: int, letters: str) -> dict[int, str]:
    """Parse the first field of the FEN ``text``: returns the letter of each piece by square. Raises ``PositionError``.

    The board has ``ranks`` ranks and ``files`` files. Squares are numbered from 0 along the first rank, then the next.
    ``first_rank`` is the number of the first rank in errors. ``letters`` are the valid lower-case letters. Digits
    side by side are added, as in Stockfish and fastchess.
    """
    rows = text.split()[0].split("/")
    top = first_rank + ranks - 1
    if len(rows) != ranks:
        raise PositionError(f"FEN {text!r}: {len(rows)} ranks, expected {ranks} (rank {top} first)")
    board: dict[int, str] = {}
    for index, row in enumerate(rows):
        rank, file = ranks - 1 - index, 0
        for letter in row:
            if letter in "123456789":
                file += int(letter)
                continue
            if letter.lower() not in letters:
                raise PositionError(f"FEN {text!r}: unknown piece {letter!r} in rank {rank + first_rank}")
            if file < files:
                board[rank * files + file] = letter
            file += 1
        if file != files:
            raise PositionError(f"FEN {text!r}: rank {rank + first_rank} has {file} files, expected {files}")
    return board


EMPTY_SQUARE = "1"
"""Stands for an empty square in the argument ``letters`` of ``format_board``."""


def format_board(letters: Sequence[str], files: int) -> str:
    """The board field of a FEN, for a board with ``files`` files.

    ``letters`` has the letter on each square, or ``EMPTY_SQUARE``, along each rank, bottom rank first.
    """
    starts = range(len(letters) - files, -1, -files)
    text = "/".join(["".join(letters[start : start + files]) for start in starts])
    for count in range(files, 1, -1):
        text = text.replace(EMPTY_SQUARE * count, str(count))
    return text


def read_counter(text: str, fields: list[str], index: int, name: str, least: int) -> int:
    """Parse one of the two counters at the end of a FEN. Returns ``least``, the counter's minimum, if the counter is
    missing or ``-``.

    ``index`` is the counter's index in ``fields``. An error quotes the FEN, ``text``, and the counter's ``name``.
    """
    if len(fields) <= index or fields[index] == "-":
        return least
    number = natural_number(fields[index])
    if number is None or number > 9999:
        raise PositionError(f"FEN {text!r}: {name} is {fields[index]!r}, expected a number from {least} to 9999")
    return max(least, number)
