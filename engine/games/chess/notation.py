"""Reads and writes the text of chess positions (FEN, X-FEN, Shredder-FEN) and moves (UCI), with full validation.

Castling rights are written as in X-FEN: K, Q, k or q for the outermost rook, otherwise the letter of the rook's file.
Castling is written as a king's move of two files if the king stands on the e-file and the rook in the corner, otherwise
as the king's move to its own rook. Both spellings are read.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from elolab.engine.compiled.kernel import new_record
from elolab.engine.games.chess.boards import (
    BITS,
    BLACK,
    KING,
    KNIGHT,
    NO_SQUARE,
    PAWN,
    ROOK,
    WHITE,
)
from elolab.engine.games.chess.position import (
    CASTLING,
    EMPTY,
    KING_TARGETS,
    RIGHTS,
    STATE_DTYPE,
    attackers_of_side,
    may_capture_in_passing,
    occupied,
    put,
    refresh,
)
from elolab.engine.games.contract import MoveError, PositionError
from elolab.engine.games.fen import EMPTY_SQUARE, format_board, read_board, read_counter, read_fields

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"

LETTERS = "pnbrqk"
"""Letters of Black's pieces in a FEN, by piece type. White's are the capital letters."""
_LETTER_OF_CODE = dict(enumerate(LETTERS.upper())) | dict(enumerate(LETTERS, 8))
_TYPE_NAMES = ("pawn", "knight", "bishop", "rook", "queen", "king")
_SIDE_NAMES = ("White", "Black")
_FULL_SET = (8, 2, 2, 2, 1, 1)
"""Number of pieces of each type that a side has in the start position."""
_RIGHT_LETTERS = "KQkq"
_CORNERS = (7, 0, 63, 56)
_USUAL_KING = (4, 60)


def square_name(square: int) -> str:
    """Name of a square: its file, a to h, and its rank, 1 to 8."""
    return "abcdefgh"[square % 8] + str(square // 8 + 1)


def square_number(name: str) -> int:
    """Number of a square, from 0 for a1 to 63 for h8."""
    return "abcdefgh".index(name[0]) + 8 * (int(name[1]) - 1)


# Moves


def uci_move(code: int, chess960: bool) -> str:
    """Convert a move's integer code to UCI. With ``chess960``, castling is always the king's move to its own rook."""
    origin, target, kind = code & 127, code >> 7 & 127, code >> 14
    if kind == CASTLING and not chess960:
        right = 2 * (origin // 56) + int(target < origin)
        if origin == _USUAL_KING[right // 2] and target == _CORNERS[right]:
            target = int(KING_TARGETS[right])
    return square_name(origin) + square_name(target) + (LETTERS[kind] if 0 < kind < CASTLING else "")


@functools.cache
def format_move(code: int) -> str:
    """Convert a move's integer code to UCI, for instance ``e2e4``, ``e7e8q`` or ``e1g1``."""
    return uci_move(code, False)


def read_moves(position: Any, moves: Sequence[str], ranks: str) -> list[str]:
    """Convert moves to UCI notation as written by ``format_move``. Raises ``MoveError``.

    ``moves`` follow ``position``, which does not change. ``ranks`` has no effect in chess.
    """
    words = [_read_word(word) for word in moves]
    # Only a move along a first rank may be castling in another spelling, which takes a position to tell.
    last = max((number for number, word in enumerate(words, 1) if _MAYBE_CASTLING.fullmatch(word)), default=0)
    trial = position.copy() if last else position
    for index in range(last):
        codes = trial.move_codes()
        spellings = {name: format_move(code) for code in codes if code >> 14 == CASTLING for name in _names(code)}
        spellings |= {format_move(code): format_move(code) for code in codes}
        words[index] = spellings.get(words[index], words[index])
        if index + 1 < last:
            trial.push(words[index])
    return words


_MAYBE_CASTLING = re.compile(r".([18]).\1|O-O(-O)?")


def _names(code: int) -> tuple[str, ...]:
    """Texts of a castling move besides UCI's: the king's move to its rook or target square, ``O-O`` or ``O-O-O``."""
    origin, right = code & 127, 2 * ((code & 127) // 56) + int((code >> 7 & 127) < (code & 127))
    end = square_name(origin) + square_name(int(KING_TARGETS[right]))
    return (uci_move(code, True), end, "O-O-O" if right % 2 else "O-O")


def _read_word(word: str) -> str:
    if re.fullmatch("[O0o]-[O0o](-[O0o])?[+#]?", word.strip()):
        return word.strip().rstrip("+#").upper().replace("0", "O")
    match = re.fullmatch(r"([a-h][1-8])-?([a-h][1-8])=?([nbrq]?)", word.strip().lower())
    if not match:
        raise MoveError(f"cannot read the move {word!r}, expected squares such as e2e4, or e7e8q")
    return "".join(match.groups())


# Positions


def is_chess960(state: Any) -> bool:
    """Whether a castling right belongs to a king or rook on a square other than in standard chess."""
    return any(
        int(state.castling) >> right & 1
        and (int(state.castling_rook[right]), int(state.king[right // 2])) != (_CORNERS[right], _USUAL_KING[right // 2])
        for right in range(RIGHTS)
    )


def parse_position(text: str) -> Any:
    """Create a state from a FEN. Only the board and the side to move are required.

    Castling rights may be in the letters of X-FEN or Shredder-FEN. Raises ``PositionError`` for text after
    the last field, and for an impossible position; the message names the square at fault.
    """
    if re.fullmatch(r"[XO*.\-]{64}.*", text.strip(), re.I):
        raise PositionError(f"FEN {text!r}: expected a chess position (this looks like an Othello board)")
    fields = read_fields(text)
    board = read_board(text, 8, 8, 1, LETTERS)
    if fields[1] not in ("w", "b"):
        raise PositionError(f"FEN {text!r}: side to move is {fields[1]!r}, expected w or b")
    if moves := [field for field in fields[2:4] if re.fullmatch("[a-h][1-8][a-h][1-8][nbrq]?", field)]:
        raise PositionError(f"FEN {text!r}: {moves[0]!r} is a move, expected castling rights behind the side to move")
    _check_pieces(text, board)
    state = new_record(STATE_DTYPE)
    state.board[:] = EMPTY
    state.castling_rook[:] = NO_SQUARE
    state.en_passant = NO_SQUARE
    state.side = side = BLACK if fields[1] == "b" else WHITE
    for square, letter in board.items():
        put(state, LETTERS.index(letter.lower()) + 8 * letter.islower(), square)
    _read_castling(text, state, fields[2] if len(fields) > 2 else "-")
    refresh(state)
    _check_kings(text, state)
    _read_en_passant(text, state, fields[3] if len(fields) > 3 else "-")
    refresh(state)
    state.quiet = read_counter(text, fields, 4, "plies since the last capture or pawn's move", 0)
    state.first_ply = 2 * (read_counter(text, fields, 5, "move number", 1) - 1) + side
    return state


def _check_pieces(text: str, board: dict[int, str]) -> None:
    for square, letter in sorted(board.items()):
        if letter in "Pp" and square // 8 in (0, 7):
            raise PositionError(f"FEN {text!r}: a pawn cannot stand on {square_name(square)}")
    for side, name in enumerate(_SIDE_NAMES):
        letters = LETTERS if side else LETTERS.upper()
        held = [sum(piece == letter for piece in board.values()) for letter in letters]
        if held[KING] != 1:
            raise PositionError(f"FEN {text!r}: {name} has {held[KING] or 'no'} king{'s' * (held[KING] > 1)}")
        promoted = sum(max(0, held[kind] - _FULL_SET[kind]) for kind in range(KNIGHT, KING))
        if held[PAWN] > 8:
            raise PositionError(f"FEN {text!r}: {name} has {held[PAWN]} pawns, at most 8")
        if held[PAWN] + promoted > 8:
            raise PositionError(
                f"FEN {text!r}: {name} has {held[PAWN]} pawns and {promoted} promoted pieces, at most 8 together"
            )


def _check_kings(text: str, state: Any) -> None:
    white, black = (int(square) for square in state.king)
    if max(abs(white % 8 - black % 8), abs(white // 8 - black // 8)) == 1:
        names = f"{square_name(white)} and {square_name(black)}"
        raise PositionError(f"FEN {text!r}: the kings stand side by side on {names}")
    side = int(state.side)
    king = int(state.king[1 - side])
    if attackers_of_side(state, side, king, np.uint64(occupied(state))):
        name = _SIDE_NAMES[1 - side]
        raise PositionError(f"FEN {text!r}: {name}, who is not to move, is in check (king on {square_name(king)})")
    checks = int(state.checkers).bit_count()
    if checks > 2:
        raise PositionError(f"FEN {text!r}: {checks} pieces give check to {_SIDE_NAMES[side]}, at most 2")


def _read_castling(text: str, state: Any, field: str) -> None:
    if field == "-":
        return
    for letter in field:
        if letter.lower() not in "kqabcdefgh":
            raise PositionError(f"FEN {text!r}: castling rights are {field!r}, expected letters such as KQkq, or -")
        side = WHITE if letter.isupper() else BLACK
        name = _SIDE_NAMES[side]
        home = 56 * side
        king = int(state.king[side])
        if king // 8 != home // 8:
            raise PositionError(
                f"FEN {text!r}: castling right {letter!r}, but {name}'s king stands on {square_name(king)}, not on "
                f"rank {home // 8 + 1}"
            )
        rook = _castling_rook(state, side, letter.lower())
        if rook is None:
            raise PositionError(
                f"FEN {text!r}: castling right {letter!r}, but {name} has no rook for it on rank {home // 8 + 1}"
            )
        right = 2 * side + int(rook < king)
        if int(state.castling) >> right & 1:
            raise PositionError(f"FEN {text!r}: castling rights {field!r} name two rooks on the same side of a king")
        state.castling_rook[right] = rook
        state.castling |= 1 << right


def _castling_rook(state: Any, side: int, letter: str) -> int | None:
    """Square of the rook for a castling right, given its lower-case letter in the FEN; ``None`` if no rook fits."""
    king, home = int(state.king[side]), 56 * side
    if letter == "k":
        squares = range(home + 7, king, -1)
    elif letter == "q":
        squares = range(home, king)
    else:
        squares = range(home + "abcdefgh".index(letter), home + "abcdefgh".index(letter) + 1)
    return next((square for square in squares if int(state.board[square]) == ROOK + 8 * side), None)


def _read_en_passant(text: str, state: Any, field: str) -> None:
    """Set the state's en passant square from the field ``text`` of a FEN, but only if a capture there is legal.

    ``field`` describes the field in errors.
    """
    if field == "-":
        return
    side = int(state.side)
    if not re.fullmatch(f"[a-h]{'36'[side == WHITE]}", field):
        expected = f"a square on rank {'36'[side == WHITE]}"
        raise PositionError(f"FEN {text!r}: en passant square is {field!r}, expected {expected}, or -")
    square = square_number(field)
    step = 8 if side == WHITE else -8
    pawn = PAWN + 8 * (1 - side)
    if int(state.board[square - step]) != pawn or any(int(state.board[at]) != EMPTY for at in (square, square + step)):
        raise PositionError(f"FEN {text!r}: no pawn can have passed {field}, the en passant square, with its last move")
    others = np.uint64(occupied(state)) ^ BITS[square - step]
    if may_capture_in_passing(state, side, square, others):
        state.en_passant = square


def format_position(state: Any) -> str:
    """Canonical FEN: castling rights of X-FEN, en passant only if it is legal; move numbers begin with 1."""
    letters = [_LETTER_OF_CODE.get(code, EMPTY_SQUARE) for code in state.board.tolist()]
    side = "b" if state.side else "w"
    passing = int(state.en_passant)
    number = 1 + (int(state.first_ply) + int(state.ply)) // 2
    return (
        f"{format_board(letters, 8)} {side} {_format_castling(state)} "
        f"{'-' if passing == NO_SQUARE else square_name(passing)} {int(state.quiet)} {number}"
    )


def _format_castling(state: Any) -> str:
    letters = ""
    for right in range(RIGHTS):
        if int(state.castling) >> right & 1:
            letter = _RIGHT_LETTERS[right]
            rook = int(state.castling_rook[right])
            if _castling_rook(state, right // 2, letter.lower()) != rook:
                letter = "abcdefgh"[rook % 8] if right // 2 else "ABCDEFGH"[rook % 8]
            letters += letter
    return letters or "-"


def draw(state: Any) -> str:
    """Draw the board as text for a terminal, with White at the bottom; White's pieces are upper case."""
    letters = [LETTERS[code & 7] if code != EMPTY else "." for code in state.board.tolist()]
    shown = [
        letter.upper() if not code & 8 else letter for letter, code in zip(letters, state.board.tolist(), strict=True)
    ]
    rows = [f"{rank + 1}  {' '.join(shown[8 * rank : 8 * rank + 8])}" for rank in range(7, -1, -1)]
    return "\n".join([*rows, "   a b c d e f g h"])
