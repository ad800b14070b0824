"""Reads and writes chess moves in algebraic notation: standard (SAN), long, with figurines, and as in UCI.

Four notations are written, the first three with ``+`` after a check and ``#`` after a mate:

- ``san``: ``Nf3``, ``exd5``, ``Nbd2``, ``R1a3``, ``Qh4e1``, ``e8=Q``, ``O-O``. If another piece of the same type can
  move to the square, the file of the origin is added, or else its rank, or else both [PGN, 8.2.3]. Pinned pieces do not
  count.
- ``figurine``: SAN with ♔♕♖♗♘ in place of letters, for both sides.
- ``lan``: ``Ng1-f3``, ``e4xd5``, ``e7-e8=Q``, ``O-O``.
- ``uci``: ``g1f3``, ``e7e8q``; castling as ``engine.games.chess.notation`` writes it.

Any text that names exactly one legal move is read:

- SAN with or without the marks of captures and checks, with a redundant origin (``Ng1f3``), ``P`` for a pawn,
  lower-case letters of pieces (``nf3``; ``b`` is a file), figurines of both colours, ``:`` or ``-`` in place of ``x``;
- promotions as ``e8=Q``, ``e8Q``, ``e8(Q)``, ``e8/Q``, ``e8q``; pawn captures without a rank (``exd``, ``ed``);
- castling with O, o or 0, with or without dashes;
- coordinates (``e2e4``, ``E2-E4``, ``e7e8q``), castling also as the king's move to its own rook.

Marks such as ``!?``, ``e.p.``, ``ch``, ``++`` and ``mate`` may follow a move. Whether the move gives the stated check
is not verified.

Source: [PGN] S. J. Edwards, "Portable Game Notation Specification and Implementation Guide" (1994).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from elolab.engine.compiled.kernel import array_of, jit
from elolab.engine.games.chess.boards import PAWN
from elolab.engine.games.chess.moves import count_moves, generate
from elolab.engine.games.chess.notation import is_chess960, parse_position, square_name, uci_move
from elolab.engine.games.chess.position import CASTLING, EMPTY, KING_TARGETS, make
from elolab.engine.games.contract import MoveError, WrongMoveError

if TYPE_CHECKING:
    from elolab.engine.games.contract import Position

NOTATIONS = ("san", "figurine", "lan", "uci")

_LETTERS = "PNBRQK"
_FIGURINES = ("", "♘", "♗", "♖", "♕", "♔")
_READ_FIGURINES = str.maketrans("♔♕♖♗♘♙♚♛♜♝♞♟", "KQRBNPKQRBNP", "\ufe0e\ufe0f\u200b")
_DASHES = str.maketrans("‐‑–—−", "-----")

# A move's name as read: the target, and what is known of type, origin and promotion, in one number.
_ANY_TYPE = 7
_SHORT_CASTLING, _LONG_CASTLING, _FILES = 64, 65, 66
"""Special targets in a move pattern (see ``_shape_of``) besides the 64 squares: castling, and pawn captures without a
rank.

``_FILES`` plus a file, 0 to 7, is a pawn capture on any square of that file.
"""

# What distinguishes a move's name, as bits.
_OTHERS, _SAME_FILE, _SAME_RANK, _CAPTURE, _CHECK, _MATE = (1 << bit for bit in range(6))
_TYPE_SHIFT = 6

_CASTLING = re.compile(r"[Oo0]-?[Oo0](-?[Oo0])?")
_SHAPE = re.compile(
    r"(?P<piece>[PNBRQKnrqkp])?(?P<file>[a-h])?(?P<rank>[1-8])?[x:\-]?(?P<to>[a-h][1-8])"
    r"(?:[=/]?(?P<promoted>[NBRQnbrq])|\((?P<bracketed>[NBRQnbrq])\)|=)?"
)
_PAWN_CAPTURE = re.compile(r"(?P<file>[a-h])[x:]?(?P<to>[a-h])")
_COORDINATES = re.compile(r"([a-h][1-8])-?([a-h][1-8])=?([nbrq]?)", re.IGNORECASE)
_MARKS = re.compile(r"(?:[!?+#=†‡\u25a1]|e\.?p\.?|dbl\.?|ch\.?|mate)*$")
_NULL_MOVES = ("--", "z0", "null", "<>", "@@@@", "0000", "pass")


@jit
def _matches(shape, state, move):
    """Whether a legal move fits ``shape``, a pattern made by ``_shape_of``."""
    target, kind_read = shape & 127, shape >> 7 & 7
    origin, square, kind = move & 127, move >> 7 & 127, move >> 14
    if target == _SHORT_CASTLING or target == _LONG_CASTLING:
        return kind == CASTLING and (square > origin) == (target == _SHORT_CASTLING)
    file, rank, promotion = shape >> 10 & 15, shape >> 14 & 15, shape >> 18 & 7
    if (file != 0 and file - 1 != origin & 7) or (rank != 0 and rank - 1 != origin >> 3):
        return False
    if kind == CASTLING:
        # Coordinates name castling if they lead to the rook, or to a target that the king cannot reach by one step.
        if file == 0 or rank == 0 or promotion != 0:
            return False
        reached = np.int64(KING_TARGETS[2 * (origin // 56) + np.int64(square < origin)])
        return target == square or (target == reached and abs(reached - origin) > 1)
    if promotion != 0 and promotion != kind:
        return False
    if target >= _FILES:
        return state.board[origin] & 7 == PAWN and square & 7 == target - _FILES and origin & 7 != square & 7
    return target == square and (kind_read == _ANY_TYPE or kind_read == state.board[origin] & 7)


@jit
def _play_named(states, lists, shapes, codes):
    """Play a sequence of moves, each given as a pattern of ``_shape_of``; returns the number of moves played.

    Stops at the first pattern that matches no legal move or several. ``shapes`` has the patterns; ``codes`` receives
    the codes of the moves. Both are int64 of shape (n,). ``states`` and ``lists`` are arrays of one record.
    """
    state, row = states[0], lists[0]
    for index in range(shapes.size):
        found = 0
        for place in range(generate(state, row, 0)):
            move = np.int64(row.moves[0, place])
            if _matches(shapes[index], state, move):
                found += 1
                codes[index] = move
        if found != 1:
            return index
        make(state, codes[index])
    return shapes.size


@jit
def _tell_apart(states, lists, codes, marks):
    """Play the legal moves ``codes``, and write bit flags into ``marks`` that determine each move's SAN.

    The flags give the piece's type. They also tell whether the move is a capture, gives check, or needs the file or
    rank of its origin. Both arrays have the shape (n,). ``states`` and ``lists`` are arrays of one record.
    """
    state, row = states[0], lists[0]
    for index in range(codes.size):
        move = codes[index]
        origin, target, kind = move & 127, move >> 7 & 127, move >> 14
        piece = state.board[origin]
        mark = np.int64(piece & 7) << _TYPE_SHIFT
        if kind != CASTLING and (state.board[target] != EMPTY or (piece & 7 == PAWN and origin & 7 != target & 7)):
            mark |= _CAPTURE
        for place in range(generate(state, row, 0)):
            other = np.int64(row.moves[0, place])
            start = other & 127
            if start != origin and other >> 7 & 127 == target and state.board[start] == piece:
                mark |= _OTHERS
                if start & 7 == origin & 7:
                    mark |= _SAME_FILE
                if start >> 3 == origin >> 3:
                    mark |= _SAME_RANK
        make(state, move)
        if state.checkers != 0:
            mark |= _CHECK
            if count_moves(state, row) == 0:
                mark |= _MATE
        marks[index] = mark


def format_moves(position: Position, moves: Sequence[str], notation: str) -> list[str]:
    """Convert UCI moves to one of ``NOTATIONS`` and play them on ``position``; raises ``WrongMoveError``."""
    if notation == "uci":
        return list(moves)
    trial = position.copy()
    codes = np.zeros(len(moves), np.int64)
    marks = np.zeros(len(moves), np.int64)
    for index, move in enumerate(moves):
        try:
            codes[index] = trial.code_of(move)
        except MoveError as error:
            raise WrongMoveError(index, *error.args) from None
        trial.push(move)
    _tell_apart(array_of(position.state), array_of(position.lists), codes, marks)
    position.moves += moves
    return [_name(code, mark, notation) for code, mark in zip(codes.tolist(), marks.tolist(), strict=True)]


def format_move_name(position: Position, move: str, notation: str) -> str:
    """Convert a UCI move (``g1f3``) to ``notation``, one of ``NOTATIONS``; raises ``MoveError`` if it is illegal."""
    return format_moves(position.copy(), [move], notation)[0]


def _name(code: int, marks: int, notation: str) -> str:
    origin, target, kind = code & 127, code >> 7 & 127, code >> 14
    end = "#" if marks & _MATE else "+" if marks & _CHECK else ""
    if kind == CASTLING:
        return ("O-O" if target > origin else "O-O-O") + end
    piece, start = marks >> _TYPE_SHIFT, square_name(origin)
    letters = _FIGURINES if notation == "figurine" else ("", *_LETTERS[1:])
    promotion = f"={letters[kind]}" if kind else ""
    if notation == "lan":
        return f"{letters[piece]}{start}{'x' if marks & _CAPTURE else '-'}{square_name(target)}{promotion}{end}"
    told = ""
    if piece == PAWN:
        told = start[0] if marks & _CAPTURE else ""
    elif marks & _OTHERS:
        told = start[0] if not marks & _SAME_FILE else start[1] if not marks & _SAME_RANK else start
    return f"{letters[piece]}{told}{'x' if marks & _CAPTURE else ''}{square_name(target)}{promotion}{end}"


def read_game(
    position: Position, words: Sequence[str], ranks: str = "0", ranks_of_file: Callable[[], str] = str
) -> list[str]:
    """Convert a game's moves, ``words``, from any notation to UCI (``g1f3``), and play them on ``position``.

    ``ranks`` and ``ranks_of_file`` have no effect in chess. Raises ``WrongMoveError`` if a text is unreadable, or
    matches no legal move or several.
    """
    room = position.game.max_game_plies - position.ply
    shapes = [_shape_of(word) for word in words[:room]]
    readable = shapes.index(_UNREADABLE) if _UNREADABLE in shapes else len(shapes)
    codes = np.zeros(readable, np.int64)
    played = _play_named(
        array_of(position.state), array_of(position.lists), np.array(shapes[:readable], np.int64), codes
    )
    moves = list(map(position.game.format_move, codes[:played].tolist()))
    position.moves += moves
    if played < len(words):
        if played == room:
            raise WrongMoveError(played, f": the game is longer than {position.game.max_game_plies} plies")
        problem, remedy = _mistake(position, words[played])
        raise WrongMoveError(played, f": {problem}", remedy)
    return moves


def parse_move_name(position: Position, text: str) -> str:
    """Convert a move from any notation to UCI (``g1f3``); raises ``MoveError`` unless it matches one legal move."""
    try:
        return read_game(position.copy(), [text])[0]
    except WrongMoveError as error:
        raise MoveError(error.args[0].removeprefix(": "), error.args[1]) from None


def _mistake(position: Position, text: str) -> tuple[str, str]:
    """Problem and remedy of a text that does not name exactly one legal move of a position."""
    where = f"{position.after_moves} in position {position.text!r}"
    if text.lower() in _NULL_MOVES:
        return f"{text!r} is a null move, which only analysis has, {where}", "leave the game out"
    shape = _shape_of(text)
    if shape == _UNREADABLE:
        return f"cannot read move {text!r}: expected SAN such as Nf3, exd5, e8=Q or O-O, or squares such as e2e4", ""
    found = [move for move in position.legal_moves() if _matches(shape, position.state, position.code_of(move))]
    if not found:
        return f"no legal move is {text!r} {where}", ""
    names = [format_move_name(position, move, "san") for move in found]
    return f"move {text!r} may be {' or '.join(names)} {where}", "write one of these"


_UNREADABLE = -1
"""Result of ``_shape_of`` for a text that is not a move."""


@functools.lru_cache(maxsize=1 << 15)
def _shape_of(text: str) -> int:
    """Parse a move's text to a pattern for ``_matches``: an integer with target, piece type, origin and promotion where
    given.

    Returns ``_UNREADABLE`` for a text that is not a move.
    """
    word = "".join(text.split()).translate(_READ_FIGURINES).translate(_DASHES)
    word = word[: _MARKS.search(word).start()]  # type: ignore[union-attr]
    if castling := _CASTLING.fullmatch(word):
        return _LONG_CASTLING if castling[1] else _SHORT_CASTLING
    if match := _COORDINATES.fullmatch(word):
        origin, target, promoted = (part.lower() for part in match.groups())
        return _packed(target, _ANY_TYPE, origin[0], origin[1], promoted)
    if match := _SHAPE.fullmatch(word):
        is_whole = match["piece"] is None and match["file"] is not None and match["rank"] is not None
        kind = _ANY_TYPE if is_whole else _LETTERS.index((match["piece"] or "P").upper())
        promoted = match["promoted"] or match["bracketed"] or ""
        return _packed(match["to"], kind, match["file"], match["rank"], promoted)
    if match := _PAWN_CAPTURE.fullmatch(word):
        return _FILES + "abcdefgh".index(match["to"]) | PAWN << 7 | "abcdefgh".index(match["file"]) + 1 << 10
    return _UNREADABLE


def _packed(target: str, kind: int, file: str | None, rank: str | None, promoted: str) -> int:
    square = "abcdefgh".index(target[0]) + 8 * (int(target[1]) - 1)
    shape = square | kind << 7 | ("abcdefgh".index(file) + 1 if file else 0) << 10 | int(rank or 0) << 14
    return shape | (_LETTERS.index(promoted.upper()) if promoted else 0) << 18


def looks_like_a_move(text: str) -> bool:
    """Whether a text has the form of a move in some notation."""
    return _shape_of(text) != _UNREADABLE


def notation_of(text: str) -> str:
    """Detect which of ``NOTATIONS`` a move is written in; ``san`` if several fit."""
    if any(figurine in text for figurine in "♔♕♖♗♘♚♛♜♝♞"):
        return "figurine"
    if re.match(r"[NBRQK]?[a-h][1-8][x:-][a-h][1-8]", text):
        return "lan"
    return "uci" if re.fullmatch(r"[a-h][1-8][a-h][1-8][nbrq]?", text) else "san"


# Moves and positions in the styles of programs

STYLES = ("standard", "chess960", "castling", "san")
"""Spellings of moves that external programs use; they differ in castling.

``standard`` is the game's own notation. ``chess960`` writes every castling as the king's move to its own rook.
``castling`` writes ``O-O`` and ``O-O-O``. ``san`` writes all moves in SAN.
"""
_WORDS = ("O-O", "O-O-O")
_MAYBE_CASTLING = re.compile(r".([18]).\1")
"""Matches moves along the first or last rank; the position decides whether such a move is castling."""
_STANDARD_CASTLING = frozenset({"e1g1", "e1c1", "e8g8", "e8c8"})


def style_of(state: Any) -> str:
    """Style of UCI moves in a game that starts from a state: ``chess960`` if king or rooks castle from other squares
    than in standard chess, else ``standard``.
    """
    return "chess960" if is_chess960(state) else "standard"


def may_castle(move: str) -> bool:
    """Whether a move in UCI notation may be castling, judged by its two squares alone."""
    return _MAYBE_CASTLING.fullmatch(move) is not None


def write_position(text: str, style: str) -> str:
    """Convert a FEN to a style of ``STYLES``. With ``chess960``, castling rights are the files of the rooks
    (Shredder-FEN).

    Shredder-FEN is used because some programs always take K and Q for the rooks in the corners.
    """
    if style != "chess960":
        return text
    state = parse_position(text)
    files = [int(rook) % 8 for rook in state.castling_rook]
    letters = [("ABCDEFGH", "abcdefgh")[right // 2][file] for right, file in enumerate(files)]
    rights = "".join(letter for right, letter in enumerate(letters) if int(state.castling) >> right & 1)
    board, side, _, *rest = text.split()
    return " ".join([board, side, rights or "-", *rest])


def write_moves(position: Callable[[], Any], moves: Sequence[str], style: str) -> list[str]:
    """Convert legal moves to a style of ``STYLES``; see ``Game.write_moves``."""
    written = list(moves)
    if style == "san":
        return format_moves(position(), moves, style)
    if style == "standard":
        return written
    is_candidate = _STANDARD_CASTLING.__contains__ if style == "chess960" else _MAYBE_CASTLING.fullmatch
    last = max((number for number, move in enumerate(moves, 1) if is_candidate(move)), default=0)
    if not last:
        return written
    trial = position()
    for index in range(last):
        code = trial.code_of(moves[index])
        if code >> 14 == CASTLING:
            written[index] = _castling_word(code) if style == "castling" else uci_move(code, True)
        trial.push(moves[index])
    return written


def _castling_word(code: int) -> str:
    return _WORDS[(code >> 7 & 127) < (code & 127)]
