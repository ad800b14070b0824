"""Reads and writes moves in ICCS, WXF, and Chinese notation in simplified and traditional characters.

ICCS writes coordinates (``H2-E2``). WXF and Chinese notation name the piece, the file it leaves, the direction, and the
file it reaches or, along a file, the number of points: ``C2=5`` and 炮二平五. Each side counts files from its own
right. In Chinese notation Red's files are Chinese numerals, Black's are digits.

If several pieces of one kind stand on a file, this module writes (examples for Red, on the third file):

======================  =========================  ================================  ====================
pieces on the file      WXF                        Chinese                           sources
======================  =========================  ================================  ====================
two                     ``R+=4 R-=4``              前车平四 后车平四                 [WXF82]
two advisors/elephants  ``A4+5 A4-5``              仕四进五 仕四退五                 the direction differs
three pawns             ``13=4 23=4 33=4``         前兵平四 中兵平四 后兵平四        [WXF18], [XQB]
four, five pawns        ``13=4`` ... ``53=4``      一兵平四 ... 五兵平四             [WXF18], [XQB]
pawns on two files      ``13=4 23=4``, ``17=6``    前三平四 后三平四, 前七平六       [WXF18], [CXA]
======================  =========================  ================================  ====================

Other forms are read if they name exactly one legal move:

- ``+R=4`` for ``R+=4``; ``.`` for ``=``; N, B, G, S for H, E, K, P;
- the older forms of tandem pawns [WXF82]: ``P+=4 P3=4 P-=4`` for three, ``++=4 P+=4 P3=4 P-=4 --=4`` for four or five,
  ``3+=4 33=4 3-=4`` on two files;
- ``Pa=4`` to ``Pe=4`` and 一兵 to 五兵, which count the pawns of all such files from the right, front to rear [XQB];
- 前兵三平四;
- the file of one of two tandem pieces (``R3=4``) if only one of the two can make this move.

If an older form is equal to one in the table (``33=4``: the third pawn from the front, formerly the middle pawn), the
newer meaning is tried first.

SAN, as Western programs write it, is read too. ``Che2`` names the piece, if needed the file or rank (or both) of its
origin, and its target square: ``Hg7``, ``R9xd7``, ``Cb3-c3``. Letters are K, A, R, C, P with N or H for horses and B or
E for elephants; pawns mostly have none (``c4``, ``xe4``). ``x`` marks a capture; ``+``, ``#``, ``!`` or ``?`` may
follow. Ranks are numbered from Red's side. WinBoard, XBoard, BanksiaGUI and pychess begin with 0, Fairy-Stockfish and
the forks of cutechess with 1. Only the moves of a whole game reveal which.

Sources: [WXF82] World Xiangqi Federation, "Official Xiangqi piece names and notation" (1982, 1997). [WXF18] World
Xiangqi Rules (2018). [XQB] xqbase.com, "着法表示" in its standards for computer Xiangqi, and ElephantEye's ``cchess``.
[CXA] Chinese Xiangqi Association's rules, as DhtmlXQ writes them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from elolab.engine.errors import UserError, argument
from elolab.engine.games.contract import MoveError, Position, WrongMoveError
from elolab.engine.games.xiangqi.notation import format_move, parse_coordinates
from elolab.engine.games.xiangqi.position import (
    ADVISOR,
    BLACK,
    CANNON,
    ELEPHANT,
    GENERAL,
    HORSE,
    NOWHERE,
    PAWN,
    RED,
    ROOK,
    SLOT_TYPE,
)

NOTATIONS = ("iccs", "wxf", "chinese", "traditional")

_LETTERS = "KAEHRCP"
_LETTER_SYNONYMS = {"N": "H", "B": "E", "G": "K", "S": "P"}
_NAMES = {
    "chinese": ("帅仕相马车炮兵", "将士象马车炮卒"),
    "traditional": ("帥仕相馬車炮兵", "將士象馬車砲卒"),
}
_DIRECTIONS = {
    "chinese": {"+": "进", "-": "退", "=": "平"},
    "traditional": {"+": "進", "-": "退", "=": "平"},
}
_FRONT_TO_REAR = {"chinese": "前中后", "traditional": "前中後"}
_NUMERALS = "一二三四五六七八九"
_ONLY_TRADITIONAL = set("帥將馬傌車俥硨砲進後")

# Input is translated into one alphabet first: WXF letters, digits, + for 前 and 进, - for 后 and 退, M for 中.
_READ_AS = {
    "帅": "K", "帥": "K", "将": "K", "將": "K", "仕": "A", "士": "A", "相": "E", "象": "E", "马": "H", "馬": "H",
    "傌": "H", "车": "R", "車": "R", "俥": "R", "砗": "R", "硨": "R", "炮": "C", "砲": "C", "包": "C", "兵": "P",
    "卒": "P", "前": "+", "后": "-", "後": "-", "中": "M", "进": "+", "進": "+", "上": "+", "退": "-", "下": "-",
    "平": "=", ".": "=", "·": "=", "‐": "-", "–": "-", "—": "-", "−": "-",
} | {numeral: str(number) for number, numeral in enumerate(_NUMERALS, 1)}  # fmt: skip
_READING = str.maketrans(_READ_AS)

_KINDS = SLOT_TYPE.tolist()
_SLOTS = {
    side: [[slot for slot in range(16 * (side + 1), 16 * (side + 2)) if _KINDS[slot] == kind] for kind in range(7)]
    for side in (RED, BLACK)
}
"""Piece slots (the numbers of single pieces) of each type: ``_SLOTS[side][type]``."""

_COORDINATES = re.compile(r"[A-Ia-i]\d{1,2}-?[A-Ia-i]\d{1,2}")
_SHAPE = re.compile(r"([-+M1-9A-Z=]{2,3})([-+=][1-9])")


@dataclass(frozen=True)
class _Place:
    """Place of a piece among the pieces of its side and type, from which the piece's name in a move follows."""

    file: int
    """Number of the piece's file, 1 to 9, counted from the right of the piece's own side."""
    rank: int
    """Index of the piece among its side's pieces of the same type on the file; 0 is the foremost."""
    count: int
    """Number of the side's pieces of this type on the file, this piece included."""
    tandem_files: int
    """Number of tandem files: files with several of the side's pieces of this type."""
    overall: int
    """Index of the piece among all pieces of its type on tandem files; 0 for a piece on any other file.

    Files are counted from the side's own right, and pieces on a file from front to rear.
    """

    @property
    def middle(self) -> bool:
        """Whether the piece is the middle one of an odd number of pieces, at least three, of its type on the file."""
        return self.count > 1 and 2 * self.rank == self.count - 1

    @property
    def end(self) -> int:
        """Code of the piece's place on its file: 0 for the foremost, 2 for the last, 1 in between."""
        return 0 if self.rank == 0 else 2 if self.rank == self.count - 1 else 1


_FULL_WIDTH_DIGITS = str.maketrans("123456789", "１２３４５６７８９")


def format_moves(position: Position, moves: Sequence[str], notation: str) -> list[str]:
    """Convert ICCS moves to one of ``NOTATIONS``, and play them on ``position``.

    Digits in Chinese moves are full-width, so that columns align. Raises ``MoveError`` if a move is illegal. Exception:
    for ``iccs``, moves are neither checked nor played.
    """
    if notation == "iccs":
        return [format_coordinates(move) for move in moves]
    names = []
    for move in moves:
        names.append(format_move_name(position, move, notation))
        position.push(move)
    if notation == "wxf":
        return names
    # Older programs read a Chinese move as four characters of two bytes each.
    return [name.translate(_FULL_WIDTH_DIGITS) for name in names]


def read_game(
    position: Position, words: Sequence[str], ranks: str = "0", ranks_of_file: Callable[[], str] = str
) -> list[str]:
    """Convert a game's moves, ``words``, from any notation to ICCS (``h2e2``), and play them on ``position``.

    ``ranks`` is the number of the first rank in coordinates: ``0``, ``1``, or ``auto`` to infer it. ``ranks_of_file()``
    returns the number that other SAN games of the same file use. ``WrongMoveError`` names the first move that is wrong.
    """
    if is_algebraic_game(words):
        moves = read_algebraic(position, words, ranks, ranks_of_file)
        for move in moves:
            position.push(move)
        return moves
    first_rank = int(ranks == "1")
    if ranks == "auto" and words and all(is_coordinates(word) for word in words):
        try:
            words = position.game.read_moves(position, [word.rstrip("!?+#") for word in words], ranks)
        except UserError as error:
            raise WrongMoveError(0, f": {error.args[0]}", error.args[1]) from None
    return [_played(position, number, word, first_rank) for number, word in enumerate(words)]


def _played(position: Position, number: int, word: str, first_rank: int) -> str:
    """Play a move given in ICCS, WXF or Chinese notation; returns its ICCS text.

    ``number`` is the move's index in the game, for errors; ``first_rank`` the number of Red's home rank in coordinates.
    """
    try:
        move = parse_move_name(position, word, first_rank)
        position.push(move)
    except UserError as error:
        base = ", ranks from 1" if first_rank else ""
        written = "" if word in str(error) else f" ({word!r}{base})"
        raise WrongMoveError(number, f"{written}: {error.args[0]}", error.args[1]) from None
    return move


def is_algebraic_game(words: Sequence[str]) -> bool:
    """Whether most moves are in SAN. Coordinates never count as SAN, although some have the form of SAN (``H2e2``)."""
    return 2 * sum(is_algebraic(word) and not is_coordinates(word) for word in words) > len(words)


def format_move_name(position: Position, move: str, notation: str) -> str:
    """Convert an ICCS move (``h2e2``) to ``notation``, one of ``NOTATIONS``; raises ``MoveError`` if it is illegal."""
    code = position.code_of(move)
    if notation == "iccs":
        return format_coordinates(move)
    kind = _kind_on(position, code & 127)
    place = _place(position, kind, code & 127)
    rest = _rest_of(code, position.side_to_move)
    if notation == "wxf":
        return _wxf_origin(kind, place) + rest
    side = position.side_to_move
    origin = _chinese_origin(kind, place, side, notation)
    return origin + _DIRECTIONS[notation][rest[0]] + _numeral(int(rest[1]), side)


def format_coordinates(move: str) -> str:
    """Write a move with capital letters and a dash (``H2-E2``), as in game records. The move need not be legal."""
    return f"{move[:2]}-{move[2:]}".upper()


def parse_move_name(position: Position, text: str, first_rank: int = 0) -> str:
    """Convert a legal move from any notation, which is detected, to ICCS (``h2e2``).

    ``first_rank`` is the number of Red's home rank in coordinates, 0 or 1. Raises ``MoveError`` if the text is
    unreadable, or matches no legal move or several.
    """
    if is_coordinates(text):
        return _from_coordinates(position, text, first_rank)
    origin, rest = _parts(text)
    side = position.side_to_move
    candidates = [code for code in position.move_codes() if _rest_of(code, side) == rest]
    for reading in (_written_origins, _accepted_origins, _lenient_origins):
        found = [code for code in candidates if origin in reading(*_mover(position, code))]
        if len(found) == 1:
            return format_move(found[0])
        if found:
            moves = [format_move(code) for code in found]
            readings = " or ".join(f"{move} ({format_move_name(position, move, 'wxf')})" for move in moves)
            raise MoveError(f"move {text!r} may be {readings} in position {position.text!r}", "write one of these")
    raise MoveError(f"no legal move is {text!r} {position.after_moves} in position {position.text!r}")


def is_coordinates(text: str) -> bool:
    """Whether a move is written in coordinates (``h2e2``, ``H2-E2``)."""
    return _COORDINATES.fullmatch(_stripped(text)) is not None


def looks_like_a_move(text: str) -> bool:
    """Whether a text has the form of a move in any notation."""
    try:
        return is_coordinates(text) or bool(_parts(text))
    except MoveError:
        return False


def notation_of(text: str) -> str:
    """Detect which of ``NOTATIONS`` a move is written in; ``chinese`` if its characters belong to both scripts.

    SAN, which can be read but not written, counts as ICCS.
    """
    if is_coordinates(text) or is_algebraic(text):
        return "iccs"
    if text.isascii():
        return "wxf"
    if _ONLY_TRADITIONAL & set(text):
        return "traditional"
    return "chinese" if any(character in _READ_AS and character > "\u3000" for character in text) else "wxf"


def _stripped(text: str) -> str:
    """A move's text without spaces and trailing ``!?+#``; full-width characters become ASCII."""
    return re.sub(r"\s+", "", unicodedata.normalize("NFKC", text)).rstrip("!?+#")


def _from_coordinates(position: Position, text: str, first_rank: int) -> str:
    code = parse_coordinates(_stripped(text), first_rank)
    if code is None:
        ranks = f"ranks {first_rank} to {first_rank + 9}"
        raise MoveError(f"move {text!r} is off the board (files a to i, {ranks})")
    move = format_move(code)
    position.code_of(move)
    return move


def _parts(text: str) -> tuple[str, str]:
    """Split a move's text into the piece's name and its movement, translated to ASCII.

    Raises ``MoveError`` if the text does not have the form of a move.
    """
    read = _stripped(text).upper().translate(_READING)
    at = 0 if read[:1].isalpha() and read[:1] != "M" else 1
    letter = read[at : at + 1]
    read = read[:at] + _LETTER_SYNONYMS.get(letter, letter) + read[at + 1 :]
    match = _SHAPE.fullmatch(read)
    if match is None:
        forms = "h2e2, H2-E2, C2=5, Che2, 炮二平五 or 馬8進7"
        raise MoveError(f"cannot read move {text!r}: expected a form such as {forms}")
    return match[1], match[2]


def _kind_on(position: Position, square: int) -> int:
    return int(_KINDS[position.state.board[square]])


def _mover(position: Position, code: int) -> tuple[int, _Place]:
    kind = _kind_on(position, code & 127)
    return kind, _place(position, kind, code & 127)


def _file_number(square: int, side: int) -> int:
    return 9 - square % 9 if side == RED else square % 9 + 1


def _advance(square: int, side: int) -> int:
    """Number of ranks from the side's own back rank to a square, 0 to 9."""
    return square // 9 if side == RED else 9 - square // 9


def _place(position: Position, kind: int, square: int) -> _Place:
    side = position.side_to_move
    slots = _SLOTS[side][kind]
    squares = [other for other in position.state.square[slots[0] : slots[-1] + 1].tolist() if other != NOWHERE]
    squares.sort(key=lambda other: (_file_number(other, side), -_advance(other, side)))
    files = [other % 9 for other in squares]
    tandem = [other for other in squares if files.count(other % 9) > 1]
    same = [other for other in squares if other % 9 == square % 9]
    return _Place(
        file=_file_number(square, side),
        rank=same.index(square),
        count=len(same),
        tandem_files=len({other % 9 for other in tandem}),
        overall=tandem.index(square) if square in tandem else 0,
    )


def _rest_of(code: int, side: int) -> str:
    """Second half of a move's WXF name: ``=5`` to file 5, ``+1`` one point forward, ``-7`` diagonally back to file 7.

    ``code`` is the move's integer code.
    """
    origin, target = code & 127, code >> 7
    forward = _advance(target, side) - _advance(origin, side)
    if forward == 0:
        return f"={_file_number(target, side)}"
    number = abs(forward) if origin % 9 == target % 9 else _file_number(target, side)
    return f"{'+' if forward > 0 else '-'}{number}"


def _numeral(number: int, side: int) -> str:
    return _NUMERALS[number - 1] if side == RED else str(number)


def _named_by_file(kind: int, place: _Place) -> bool:
    """Whether the name of a piece of type ``kind`` needs only its file.

    This includes one of two advisors or elephants on a file: only one of the two can advance, and only the other can
    retreat.
    """
    return place.count == 1 or kind in (ADVISOR, ELEPHANT)


def _wxf_origin(kind: int, place: _Place) -> str:
    if _named_by_file(kind, place):
        return f"{_LETTERS[kind]}{place.file}"
    if place.count > 2 or place.tandem_files > 1:
        return f"{place.rank + 1}{place.file}"
    return _LETTERS[kind] + "+-"[place.rank]


def _chinese_origin(kind: int, place: _Place, side: int, notation: str) -> str:
    name = _NAMES[notation][side][kind]
    if _named_by_file(kind, place):
        return name + _numeral(place.file, side)
    if place.count > 3:
        return _NUMERALS[place.rank] + name
    where = _FRONT_TO_REAR[notation][place.end]
    return where + (_numeral(place.file, side) if place.tandem_files > 1 else name)


def _written_origins(kind: int, place: _Place) -> set[str]:
    """WXF and Chinese names, translated to ASCII, by which ``format_move_name`` writes a piece of type ``kind``."""
    chinese = _chinese_origin(kind, place, RED, "chinese").translate(_READING)
    return {_wxf_origin(kind, place), chinese}


def _accepted_origins(kind: int, place: _Place) -> set[str]:
    """Names of a piece of type ``kind`` in older or rarer styles, which are accepted as input but not written."""
    return set(_tandem_origins(kind, place)) if place.count > 1 else set()


def _tandem_origins(kind: int, place: _Place) -> Iterator[str]:
    letter, file = _LETTERS[kind], place.file
    end = ("+", "M", "-")[place.end]
    if place.end != 1 or place.middle:
        yield f"{end}{letter}"
        yield f"{end}{letter}{file}"
    if place.count <= 3 and place.end != 1:
        yield f"{letter}{end}"
    yield f"{(place.rank if place.tandem_files == 1 else place.overall) + 1}{letter}"
    if kind == PAWN:
        yield from _tandem_pawn_origins(place, end)


def _tandem_pawn_origins(place: _Place, end: str) -> Iterator[str]:
    file = place.file
    yield f"{place.rank + 1}{file}"
    yield f"P{'ABCDE'[place.overall]}"
    if place.middle:
        yield from (f"P{file}", f"{file}{file}", "P=", f"M{file}")
    elif place.end != 1:
        yield from (f"{end}{file}", f"{file}{end}")
    if place.count > 3:
        if place.end != 1:
            yield end + end
        if place.rank == 1:
            yield "P+"
        if place.rank == place.count - 2:
            yield "P-"


def _lenient_origins(kind: int, place: _Place) -> set[str]:
    """Names that give only the file, for one of exactly two pieces of type ``kind`` on a file. The set is empty for any
    other piece.

    Such a name is accepted as input if only one of the two pieces can make the move.
    """
    return {f"{_LETTERS[kind]}{place.file}"} if place.count == 2 else set()


# Standard algebraic notation, which is only read

_ALGEBRAIC_KINDS = {
    "K": GENERAL, "A": ADVISOR, "B": ELEPHANT, "E": ELEPHANT, "N": HORSE, "H": HORSE, "R": ROOK, "C": CANNON,
    "P": PAWN, "": PAWN,
}  # fmt: skip
_ALGEBRAIC = re.compile(r"([KABENHRCP]?)([a-i]?)(\d{1,2})?[x:-]?([a-i])(\d{1,2})[+#!?]*")
_PLAIN_COORDINATES = re.compile(r"[a-i]\d{1,2}-?[a-i]\d{1,2}[+#!?]*")


def is_algebraic(text: str) -> bool:
    """Whether a move is written in SAN. Coordinates with a capital letter (``H2e2``) also match."""
    return _ALGEBRAIC.fullmatch(text) is not None and _PLAIN_COORDINATES.fullmatch(text) is None


def parse_algebraic(position: Position, text: str, first_rank: int) -> str:
    """Convert a move from SAN to ICCS, with ranks counted from ``first_rank``.

    Raises ``MoveError`` if the text is not in SAN, or matches no legal move or several.
    """
    shape = _ALGEBRAIC.fullmatch(text)
    if shape is None:
        raise MoveError(f"cannot read move {text!r}: expected SAN such as Che2, R9xd7 or c4")
    letter, file, rank, to_file, to_rank = shape.groups()
    square, is_whole = _square(to_file, to_rank, first_rank), bool(not letter and file and rank)
    codes = [
        code
        for code in position.move_codes()
        if code >> 7 == square
        and (is_whole or SLOT_TYPE[position.state.board[code & 127]] == _ALGEBRAIC_KINDS[letter])
        and (not file or "abcdefghi"[(code & 127) % 9] == file)
        and (rank is None or (code & 127) // 9 == int(rank) - first_rank)
    ]
    if len(codes) == 1:
        return format_move(codes[0])
    if codes:
        moves = " or ".join(map(format_move, codes))
        raise MoveError(f"move {text!r} may be {moves} in position {position.text!r}", "write one of these")
    ranks = f"ranks from {first_rank}"
    raise MoveError(f"no legal move is {text!r} ({ranks}) {position.after_moves} in position {position.text!r}")


def read_algebraic(
    position: Position, texts: Sequence[str], ranks: str, ranks_of_file: Callable[[], str] = lambda: ""
) -> list[str]:
    """Convert a game's moves from SAN to ICCS, with ranks counted from 0 or 1, whichever makes all moves legal.

    If both do, ``ranks_of_file()`` decides: it returns the number that other games of the file use. If that is empty,
    ``ranks`` decides: ``0``, ``1`` or ``auto``. Raises ``WrongMoveError`` if neither number makes all moves legal, or
    if ``auto`` cannot decide. The error names the first illegal move under the number that makes more moves legal.
    """
    readings = [_read_in(position, texts, first_rank) for first_rank in (0, 1)]
    legal = [moves for moves, error in readings if error is None]
    if not legal:
        moves, error = max(readings, key=lambda reading: len(reading[0]))
        raise WrongMoveError(len(moves), f": {error}")
    if len(legal) == 1 or legal[0] == legal[1]:
        return legal[0]
    decided = ranks_of_file() or ranks
    if decided == "auto":
        raise WrongMoveError(
            0, f": moves {' '.join(texts)}: legal with ranks from 0 ({' '.join(legal[0])}) and from 1 "
            f"({' '.join(legal[1])})", f"say {argument('ranks', 0)} or {argument('ranks', 1)}",
        )  # fmt: skip
    return legal[int(decided)]


def ranks_from_moves(position: Position, texts: Sequence[str]) -> str:
    """The only number of the first rank, ``0`` or ``1``, with which all moves of a game are legal.

    Empty if the moves are legal with both numbers or with neither.
    """
    legal = [base for base in ("0", "1") if _read_in(position, texts, int(base))[1] is None]
    return legal[0] if len(legal) == 1 else ""


def _read_in(position: Position, texts: Sequence[str], first_rank: int) -> tuple[list[str], MoveError | None]:
    """Read moves in SAN, with ranks counted from ``first_rank``, up to the first illegal one.

    Returns the legal moves in ICCS, and the error that the illegal move raised. The error is ``None`` if all moves are
    legal.
    """
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
    """Index of a square: nine times the rank plus the file, where rank and file count from 0; -1 if the square is off
    the board.

    ``first_rank`` is the number of Red's home rank in ``rank``.
    """
    row = int(rank) - first_rank
    return row * 9 + "abcdefghi".index(file) if 0 <= row <= 9 else -1
