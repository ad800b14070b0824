"""Converts Xiangqi positions given as the squares of 32 pieces, and game results as Xiangqi programs name them."""

from __future__ import annotations

from collections.abc import Sequence

from elolab.arena.notation.pgn import PortableGameError

PIECES = "RNBAKABNRCCPPPPPrnbakabnrccppppp"
"""Letters of the 32 pieces in the order of XQStudio and DhtmlXQ: Red's pieces from the left, then Black's."""
FILES = "abcdefghi"
RANKS = 10

Square = tuple[int, int]
"""A square: its file from 0 (a) and its rank from 0 (Red's home rank)."""


def is_square(square: Square) -> bool:
    """Whether the square is on the board."""
    return 0 <= square[0] < len(FILES) and 0 <= square[1] < RANKS


def move_name(origin: Square, target: Square, where: str) -> str:
    """Format a move as ``h2e2``; raises ``PortableGameError`` if a square is not on the board."""
    for file, rank in (origin, target):
        if not is_square((file, rank)):
            raise PortableGameError(f"{where}: file {file + 1}, rank {rank} is off the board (9 files, ranks 0 to 9)")
    return "".join(FILES[file] + str(rank) for file, rank in (origin, target))


def fen_of(squares: Sequence[Square | None], first_origin: Square | None, side: int, where: str) -> str:
    """Build the FEN from 32 squares in the order of ``PIECES``; a captured piece has ``None``.

    ``first_origin`` is the origin of the first move. The owner of the piece on that square is to move, because the
    stored ``side`` is often wrong; ``side`` counts only if there is no first move. ``where`` names the game in the
    message of ``PortableGameError``.
    """
    board: dict[Square, str] = {}
    for piece, square in zip(PIECES, squares, strict=True):
        if square is None:
            continue
        if square in board:
            raise PortableGameError(f"{where}: two pieces on {FILES[square[0]]}{square[1]} at the start")
        board[square] = piece
    first = board.get(first_origin) if first_origin is not None else None
    if first is not None:
        side = int(first.islower())
    ranks = ["".join(board.get((file, rank), " ") for file in range(len(FILES))) for rank in reversed(range(RANKS))]
    return f"{'/'.join(map(_counted_spaces, ranks))} {'wb'[side]} - - 0 1"


def _counted_spaces(rank: str) -> str:
    for size in range(len(FILES), 0, -1):
        rank = rank.replace(" " * size, str(size))
    return rank
