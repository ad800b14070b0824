"""Moves of Xiangqi in standard algebraic notation (SAN), as Western programs write it; read, never written.

``Che2`` names the piece, if needed the file or rank (or both) of its origin, and its target square: ``Hg7``, ``R9xd7``,
``Cb3-c3``. Letters are K, A, R, C, P with N or H for horses and B or E for elephants; pawns mostly have none (``c4``,
``xe4``). ``x`` marks a capture; ``+``, ``#``, ``!`` or ``?`` may follow. Ranks count from Red's side. WinBoard, XBoard,
BanksiaGUI and pychess count from 0, Fairy-Stockfish and the forks of cutechess from 1. Only the moves of a whole game
reveal the base.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from elolab.engine.errors import argument
from elolab.engine.games.contract import MoveError, Position
from elolab.engine.games.xiangqi.notation import format_move
from elolab.engine.games.xiangqi.position import ADVISOR, CANNON, ELEPHANT, GENERAL, HORSE, PAWN, ROOK, SLOT_TYPE

_KINDS = {
    "K": GENERAL, "A": ADVISOR, "B": ELEPHANT, "E": ELEPHANT, "N": HORSE, "H": HORSE, "R": ROOK, "C": CANNON,
    "P": PAWN, "": PAWN,
}  # fmt: skip
_SHAPE = re.compile(r"([KABENHRCP]?)([a-i]?)(\d{1,2})?[x:-]?([a-i])(\d{1,2})[+#!?]*")
_COORDINATES = re.compile(r"[a-i]\d{1,2}-?[a-i]\d{1,2}[+#!?]*")


def is_algebraic(text: str) -> bool:
    """Whether a move is written in SAN. Coordinates with a capital letter (``H2e2``) also match."""
    return _SHAPE.fullmatch(text) is not None and _COORDINATES.fullmatch(text) is None


def parse_algebraic(position: Position, text: str, first_rank: int) -> str:
    """Find the legal move (ICCS) that a text in SAN denotes, with ranks counted from ``first_rank``.

    Raises ``MoveError`` if the text is not in SAN, or fits no legal move or several.
    """
    shape = _SHAPE.fullmatch(text)
    if shape is None:
        raise MoveError(f"cannot read move {text!r}: expected SAN such as Che2, R9xd7 or c4")
    letter, file, rank, to_file, to_rank = shape.groups()
    square, is_whole = _square(to_file, to_rank, first_rank), bool(not letter and file and rank)
    codes = [
        code
        for code in position.move_codes()
        if code >> 7 == square
        and (is_whole or SLOT_TYPE[position.state.board[code & 127]] == _KINDS[letter])
        and (not file or "abcdefghi"[(code & 127) % 9] == file)
        and (rank is None or (code & 127) // 9 == int(rank) - first_rank)
    ]
    if len(codes) == 1:
        return format_move(codes[0])
    if codes:
        moves = " or ".join(map(format_move, codes))
        raise MoveError(f"move {text!r} may be {moves} in position {position.text!r}; write one of these")
    ranks = f"ranks from {first_rank}"
    raise MoveError(f"no legal move is {text!r} ({ranks}) {position.after_moves} in position {position.text!r}")


def read_algebraic(
    position: Position, texts: Sequence[str], ranks: str, ranks_of_file: Callable[[], str] = lambda: ""
) -> list[str]:
    """Convert the moves of a game to ICCS, with ranks counted from 0 or 1, whichever makes all moves legal.

    If both do, ``ranks_of_file()`` gives the number from which the file's other games count. If that is empty,
    ``ranks`` decides: ``0``, ``1`` or ``auto``. Raises ``AlgebraicError`` if neither number makes all moves legal, or
    if ``auto`` cannot decide. The error names the first illegal move, by the number with more legal moves before it.
    """
    readings = [_read_in(position, texts, first_rank) for first_rank in (0, 1)]
    legal = [moves for moves, error in readings if error is None]
    if not legal:
        moves, error = max(readings, key=lambda reading: len(reading[0]))
        raise AlgebraicError(len(moves), str(error))
    if len(legal) == 1 or legal[0] == legal[1]:
        return legal[0]
    decided = ranks_of_file() or ranks
    if decided == "auto":
        raise AlgebraicError(
            0, f"moves {' '.join(texts)}: legal with ranks from 0 ({' '.join(legal[0])}) and from 1 "
            f"({' '.join(legal[1])}); say {argument('ranks', 0)} or {argument('ranks', 1)}",
        )  # fmt: skip
    return legal[int(decided)]


def ranks_told_by(position: Position, texts: Sequence[str]) -> str:
    """The number from which a game counts ranks, ``0`` or ``1``, if its moves are legal with only that one.

    Empty if they are legal with both or with neither.
    """
    legal = [base for base in ("0", "1") if _read_in(position, texts, int(base))[1] is None]
    return legal[0] if len(legal) == 1 else ""


class AlgebraicError(MoveError):
    """Raised for a game in SAN that cannot be read; ``number`` is the index of the wrong move, from 0."""

    def __init__(self, number: int, text: str) -> None:
        super().__init__(text)
        self.number = number


def _read_in(position: Position, texts: Sequence[str], first_rank: int) -> tuple[list[str], MoveError | None]:
    """The legal moves (ICCS) before the first illegal one, and the error of that move; ``None`` if all are legal."""
    trial = position.copy()
    moves: list[str] = []
    for text in texts:
        try:
            move = parse_algebraic(trial, text, first_rank)
            trial.push(move)
        except MoveError as error:
            return moves, error
        moves.append(move)
    return moves, None


def _square(file: str, rank: str, first_rank: int) -> int:
    """Index of a square: nine times the rank from Red's side plus the file, both from 0; -1 if it is off the board."""
    row = int(rank) - first_rank
    return row * 9 + "abcdefghi".index(file) if 0 <= row <= 9 else -1
