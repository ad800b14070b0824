"""Reads and writes the text of Xiangqi positions (FEN) and moves (ICCS), with full validation."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from elolab.engine.compiled.kernel import array_of, new_record
from elolab.engine.errors import argument
from elolab.engine.games.contract import MoveError, PositionError
from elolab.engine.games.fen import EMPTY_SQUARE, format_board, read_board, read_counter, read_fields
from elolab.engine.games.xiangqi.moves import is_safe
from elolab.engine.games.xiangqi.position import (
    ADVISOR,
    BLACK,
    ELEPHANT,
    FIRST_ADVISOR,
    FIRST_CANNON,
    FIRST_ELEPHANT,
    FIRST_HORSE,
    FIRST_PAWN,
    FIRST_ROOK,
    GENERAL,
    HORSE,
    NOWHERE,
    PAWN,
    RED,
    SIDE_KEY,
    SLOT_TYPE,
    SQUARES,
    STATE_DTYPE,
    TYPE_COUNTS,
    in_palace,
    set_up,
)

START = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1"

_LETTERS = "kabnrcp"
_LETTER_OF_SLOT = {0: EMPTY_SQUARE} | {
    slot: _LETTERS[kind].upper() if slot < 32 else _LETTERS[kind]
    for slot, kind in enumerate(SLOT_TYPE.tolist())
    if kind < len(_LETTERS)
}
_TYPE_OF_LETTER = {letter: kind for kind, letter in enumerate(_LETTERS)} | {"e": ELEPHANT, "h": HORSE}
_TYPE_NAMES = ("general", "advisor", "elephant", "horse", "rook", "cannon", "pawn")
_SIDE_NAMES = ("Red", "Black")
_FIRST_SLOT = (0, FIRST_ADVISOR, FIRST_ELEPHANT, FIRST_HORSE, FIRST_ROOK, FIRST_CANNON, FIRST_PAWN)

_ELEPHANT_POINTS = {2, 6, 18, 22, 26, 38, 42}
_ADVISOR_POINTS = {3, 5, 13, 21, 23}


def square_name(square: int) -> str:
    """ICCS name of a square: its file, a to i, and its rank, 0 to 9."""
    return "abcdefghi"[square % 9] + str(square // 9)


@functools.cache
def format_move(code: int) -> str:
    """Convert a move's integer code to ICCS coordinates, for instance ``h2e2``."""
    return square_name(code & 127) + square_name(code >> 7)


def parse_position(text: str) -> Any:
    """Create a state from a FEN. Only the board and the side to move are required.

    Accepts ``w`` or ``r`` for Red, N or H for horses, B or E for elephants. Raises ``PositionError`` for an impossible
    position, with the name of the square, and for text after the last field.
    """
    if re.fullmatch(r"[XO*.\-]{64}.*", text.strip(), re.I):
        raise PositionError(f"FEN {text!r}: expected a Xiangqi position (this looks like an Othello board)")
    fields = read_fields(text)
    board = _read_board(text)
    if fields[1] not in ("w", "r", "b"):
        raise PositionError(f"FEN {text!r}: side to move is {fields[1]!r}, expected w (or r) for Red, b for Black")
    if moves := [field for field in fields[2:4] if re.fullmatch("[a-i][0-9][a-i][0-9]", field, re.I)]:
        raise PositionError(f"FEN {text!r}: {moves[0]!r} is a move, expected - - after the side to move")
    side = BLACK if fields[1] == "b" else RED
    state = new_record(STATE_DTYPE)
    state.square[:] = NOWHERE
    used: dict[tuple[int, int], int] = {}
    slots = []
    for _, (owner, kind) in sorted(board.items()):
        number = used[owner, kind] = used.get((owner, kind), -1) + 1
        slots.append(16 * (owner + 1) + _FIRST_SLOT[kind] + number)
    set_up(array_of(state), np.array(slots, np.int64), np.array(sorted(board), np.int64))
    state.side = side
    state.in_check = -1
    if side == BLACK:
        state.key ^= SIDE_KEY
    state.quiet = read_counter(text, fields, 4, "plies since the last capture", 0)
    state.first_ply = 2 * (read_counter(text, fields, 5, "move number", 1) - 1) + side
    _refuse_attacked_general(text, state, side)
    return state


def _read_board(text: str) -> dict[int, tuple[int, int]]:
    """Parse the board field of the FEN ``text``: side and type of each piece by square. Raises ``PositionError``."""
    letters = read_board(text, 10, 9, 0, "".join(_TYPE_OF_LETTER))
    board = {
        square: (RED if letter.isupper() else BLACK, _TYPE_OF_LETTER[letter.lower()])
        for square, letter in letters.items()
    }
    _check_counts(text, board)
    for square, (side, kind) in sorted(board.items()):
        _check_square(text, square, side, kind)
    return board


def _check_counts(text: str, board: dict[int, tuple[int, int]]) -> None:
    held: dict[tuple[int, int], list[int]] = {}
    for square, piece in sorted(board.items()):
        held.setdefault(piece, []).append(square)
    for side in (RED, BLACK):
        for kind, most in enumerate(TYPE_COUNTS):
            squares = held.get((side, kind), [])
            if len(squares) > most:
                extra = square_name(squares[most])
                raise PositionError(
                    f"FEN {text!r}: {_SIDE_NAMES[side]} has {len(squares)} {_TYPE_NAMES[kind]}s, at most {most} "
                    f"(one too many on {extra})"
                )
        if (side, GENERAL) not in held:
            raise PositionError(f"FEN {text!r}: {_SIDE_NAMES[side]} has no general")


def _check_square(text: str, square: int, side: int, kind: int) -> None:
    """Raise ``PositionError``, with the FEN ``text``, if a piece of type ``kind`` can never stand on ``square``."""
    at = square if side == RED else (9 - square // 9) * 9 + square % 9
    legal = True
    if kind == GENERAL:
        legal = in_palace(at) and at < 27
    elif kind == ADVISOR:
        legal = at in _ADVISOR_POINTS
    elif kind == ELEPHANT:
        legal = at in _ELEPHANT_POINTS
    elif kind == PAWN:
        # A pawn before the river stays on its starting file, on its first rank or the next.
        legal = at >= 45 or (at >= 27 and at % 9 % 2 == 0)
    if not legal:
        raise PositionError(
            f"FEN {text!r}: a {_SIDE_NAMES[side]} {_TYPE_NAMES[kind]} cannot stand on {square_name(square)}"
        )


def _refuse_attacked_general(text: str, state: Any, side: int) -> None:
    red, black = int(state.square[16]), int(state.square[32])
    between = range(red + 9, black, 9)
    if red % 9 == black % 9 and not any(state.board[square] for square in between):
        facing = f"{square_name(red)} and {square_name(black)}"
        raise PositionError(f"FEN {text!r}: the generals face each other on {facing}")
    other = 1 - side
    if not is_safe(state, other, NOWHERE, NOWHERE):
        general = square_name(red if other == RED else black)
        raise PositionError(
            f"FEN {text!r}: {_SIDE_NAMES[other]}, who is not to move, is in check (general on {general})"
        )


def format_position(state: Any) -> str:
    """Canonical FEN: N for horses, B for elephants, ``w`` for Red, with both counters; move numbers begin with 1."""
    letters = [_LETTER_OF_SLOT[slot] for slot in state.board[:SQUARES].tolist()]
    side = "b" if state.side else "w"
    number = 1 + (int(state.first_ply) + int(state.ply)) // 2
    return f"{format_board(letters, 9)} {side} - - {int(state.quiet)} {number}"


def parse_coordinates(move: str, first_rank: int) -> int | None:
    """Integer code of a move in coordinates such as ``h2e2`` or ``H2-E2``; ``None`` if a square is off the board.

    ``first_rank`` is the number of Red's home rank in the text, 0 or 1.
    """
    match = re.fullmatch(r"([a-i])(\d{1,2})-?([a-i])(\d{1,2})", move.strip().lower())
    if not match:
        raise MoveError(f"cannot read move {move!r}: expected coordinates such as h2e2")
    squares = []
    for file, rank in ((match[1], int(match[2])), (match[3], int(match[4]))):
        if not 0 <= rank - first_rank <= 9:
            return None
        squares.append((rank - first_rank) * 9 + "abcdefghi".index(file))
    return squares[0] | squares[1] << 7


def shift_ranks(move: str, by: int) -> str:
    """A move in coordinates, with ``by`` added to the numbers of both ranks."""
    return f"{move[0]}{int(move[1]) + by}{move[2]}{int(move[3]) + by}"


def read_moves(position: Any, moves: Sequence[str], ranks: str) -> list[str]:
    """Convert moves to coordinates with ranks from 0 to 9. Raises ``MoveError`` for an illegal move.

    ``ranks`` is the number of the first rank in ``moves``: ``0``, ``1``, or ``auto`` to infer it. ``auto`` selects the
    number that makes all moves legal. If both numbers do, and the resulting moves differ, raises ``MoveError``, which
    shows both readings.
    """
    if ranks in ("0", "1"):
        return _in_base(moves, int(ranks))
    readings = {}
    for base in (0, 1):
        try:
            reading = _in_base(moves, base)
            trial = position.copy()
            for move in reading:
                trial.push(move)
            readings[base] = reading
        except MoveError as error:
            failure = error
    if len(readings) == 2 and readings[0]:
        raise MoveError(
            f"moves {' '.join(moves)}: legal with ranks 0-9 ({' '.join(readings[0])}) and with ranks 1-10 "
            f"({' '.join(readings[1])} in ranks 0-9)",
            f"say {argument('ranks', 0)} or {argument('ranks', 1)}",
        )
    if not readings:
        raise failure
    return next(iter(readings.values()))


def _in_base(moves: Sequence[str], base: int) -> list[str]:
    reading = []
    for number, move in enumerate(moves, 1):
        code = parse_coordinates(move, base)
        if code is None or not code & 127 < SQUARES:
            raise MoveError(f"move {number}, {move!r}: off the board (ranks {base} to {base + 9})")
        reading.append(format_move(code))
    return reading


def draw(state: Any) -> str:
    """Draw the board as text, with Red at the bottom."""
    lines = []
    for rank in range(9, -1, -1):
        row = []
        for file in range(9):
            slot = int(state.board[rank * 9 + file])
            letter = "." if slot == 0 else _LETTERS[SLOT_TYPE[slot]]
            row.append(letter.upper() if 0 < slot < 32 else letter)
        lines.append(f"{rank}  {' '.join(row)}")
    lines.append("   a b c d e f g h i")
    return "\n".join(lines)
