"""Search for moves that lead from the start of the game to a given position.

A forward search with iterative deepening. It cuts off when a side needs more moves than it has left: each square that
lacks its piece needs at least the moves of the nearest such piece on an empty board, and each surplus piece needs a
capture. It is quick for openings and does not reach middle games.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

from elolab.engine.games.xiangqi.notation import START, format_position, parse_position

MAX_PLIES = 16
"""Longest game searched for, in plies."""
MAX_POSITIONS = 60_000
"""Positions visited before the search gives up, after a few seconds."""

_FILES, _RANKS = 9, 10
_STRAIGHT = ((0, 1), (1, 0), (0, -1), (-1, 0))
_DIAGONAL = ((1, 1), (1, -1), (-1, -1), (-1, 1))
_PIECES = "RNBAKCP"

Board = tuple[str, ...]
"""The piece on each square as in a FEN, or an empty text; square 0 is a0, square 9 is a1."""


@functools.lru_cache(maxsize=4096)
def moves_to(text: str) -> tuple[str, ...] | None:
    """Moves from the start of the game to a position; ``None`` if none were found.

    Raises ``PositionError`` for an invalid text.
    """
    target, side = _read(text)
    start, _ = _read(START)
    for plies in range(side, MAX_PLIES + 1, 2):
        search = _Search(target)
        if search.reach(start, 0, plies):
            return tuple(search.path)
        if search.positions >= MAX_POSITIONS:
            return None
    return None


def _read(text: str) -> tuple[Board, int]:
    board, side = format_position(parse_position(text)).split()[:2]
    rows = []
    for row in reversed(board.split("/")):
        for letter in row:
            rows += [""] * int(letter) if letter.isdigit() else [letter]
    return tuple(rows), int(side == "b")


class _Search:
    """Search for a game of a given length that ends in the target position."""

    def __init__(self, target: Board) -> None:
        self.path: list[str] = []
        self.positions = 0
        self._target = target
        self._wanted = {piece: _squares(target, piece) for piece in _PIECES + _PIECES.lower()}
        self._failed: set[tuple[Board, int]] = set()

    def reach(self, board: Board, side: int, plies: int) -> bool:
        """Whether the target was reached in exactly ``plies`` plies; appends the moves to ``path``."""
        if board == self._target and plies == 0:
            return True
        if plies == 0 or (board, plies) in self._failed or self.positions >= MAX_POSITIONS:
            return False
        self.positions += 1
        for origin, end in _moves(board, side):
            after = list(board)
            after[end], after[origin] = board[origin], ""
            next_board = tuple(after)
            if self._is_hopeless(next_board, 1 - side, plies - 1) or _is_in_check(next_board, side):
                continue
            self.path.append(_name(origin) + _name(end))
            if self.reach(next_board, 1 - side, plies - 1):
                return True
            self.path.pop()
        self._failed.add((board, plies))
        return False

    def _is_hopeless(self, board: Board, side: int, plies: int) -> bool:
        """Whether a side has too few moves left to place its pieces and capture the other side's surplus ones."""
        fewest, captures = [0, 0], [0, 0]
        for piece, wanted in self._wanted.items():
            own = piece.islower()
            squares = _squares(board, piece)
            spare = len(squares) - len(wanted)
            if spare < 0:
                return True
            captures[not own] += spare
            if squares != wanted:
                fewest[own] += sum(
                    min(_distance(piece, origin, end) for origin in squares) for end in wanted if end not in squares
                )
        left = ((plies + 1) // 2, plies // 2)
        return any(max(fewest[one], captures[one]) > left[one != side] for one in (0, 1))


def _squares(board: Board, piece: str) -> tuple[int, ...]:
    return tuple(square for square, letter in enumerate(board) if letter == piece)


def _name(square: int) -> str:
    return f"{'abcdefghi'[square % _FILES]}{square // _FILES}"


def _step(square: int, files: int, ranks: int) -> int | None:
    file, rank = square % _FILES + files, square // _FILES + ranks
    return rank * _FILES + file if 0 <= file < _FILES and 0 <= rank < _RANKS else None


def _moves(board: Board, side: int) -> Iterator[tuple[int, int]]:
    """Origin and target of every pseudo-legal move of a side; its general may be left attacked."""
    for square, piece in enumerate(board):
        if piece and piece.islower() == side:
            for end in _ends(board, square, piece):
                if not board[end] or board[end].islower() != side:
                    yield square, end


def _is_in_check(board: Board, side: int) -> bool:
    """Whether a side's general is attacked, by facing generals too."""
    own, other = board.index("Kk"[side]), board.index("kK"[side])
    if own % _FILES == other % _FILES and not any(board[min(own, other) + _FILES : max(own, other) : _FILES]):
        return True
    return any(end == own for _, end in _moves(board, 1 - side))


def _ends(board: Board, square: int, piece: str) -> Iterator[int]:
    """Target squares of a piece, including those occupied by its own side."""
    kind = piece.upper()
    if kind in "RC":
        yield from _sliding_ends(board, square, jumps=kind == "C")
        return
    for files, ranks in _STEPS[kind]:
        end = _step(square, files, ranks)
        if end is None or not _may_stand(piece, end) or (kind == "P" and not _advances(piece, square, files, ranks)):
            continue
        between = _between(square, files, ranks) if kind in "NB" else None
        if between is None or not board[between]:
            yield end


def _sliding_ends(board: Board, square: int, *, jumps: bool) -> Iterator[int]:
    for files, ranks in _STRAIGHT:
        end = _step(square, files, ranks)
        while end is not None and not board[end]:
            yield end
            end = _step(end, files, ranks)
        if jumps and end is not None:
            end = _step(end, files, ranks)
            while end is not None and not board[end]:
                end = _step(end, files, ranks)
        if end is not None:
            yield end


_STEPS = {
    "N": tuple((files, ranks) for files in (-2, -1, 1, 2) for ranks in (-2, -1, 1, 2) if abs(files) != abs(ranks)),
    "B": tuple((2 * files, 2 * ranks) for files, ranks in _DIAGONAL),
    "A": _DIAGONAL,
    "K": _STRAIGHT,
    "P": _STRAIGHT,
}


def _between(square: int, files: int, ranks: int) -> int:
    """The square that must be empty for a horse or an elephant to pass."""
    return square + int(files / 2) + _FILES * int(ranks / 2)


def _may_stand(piece: str, square: int) -> bool:
    kind, file = piece.upper(), square % _FILES
    rank = square // _FILES if piece.isupper() else _RANKS - 1 - square // _FILES
    if kind in "AK":
        return 3 <= file <= 5 and rank <= 2
    return kind != "B" or rank <= 4


def _advances(piece: str, square: int, files: int, ranks: int) -> bool:
    forward, rank = (1, square // _FILES) if piece.isupper() else (-1, _RANKS - 1 - square // _FILES)
    return ranks == forward if files == 0 else rank >= 5


@functools.cache
def _distance(piece: str, origin: int, end: int) -> int:
    """Moves that a piece needs on an empty board; a number above any game's length if it cannot get there."""
    return _distances(piece, origin).get(end, MAX_PLIES + 1)


@functools.cache
def _distances(piece: str, origin: int) -> dict[int, int]:
    empty = ("",) * (_FILES * _RANKS)
    found, edge = {origin: 0}, [origin]
    while edge:
        reached = {end for square in edge for end in _ends(empty, square, piece)} - found.keys()
        found |= dict.fromkeys(reached, found[edge[0]] + 1)
        edge = list(reached)
    return found
