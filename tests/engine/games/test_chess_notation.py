"""Texts of chess positions: FEN, X-FEN and Shredder-FEN, and positions that cannot be."""

from __future__ import annotations

import chess
import pytest

from elolab.engine.games import game_named
from elolab.engine.games.chess.notation import is_chess960
from elolab.engine.games.contract import PositionError
from tests.support.cases import for_each

GAME = game_named("chess")


@for_each(range(0, 960, 7))
def test_starts_of_chess960_are_read_in_both_letters_and_written_as_x_fen(number: int) -> None:
    board = chess.Board.from_chess960_pos(number)
    for text in (board.fen(), board.fen(shredder=True), board.fen().replace("KQkq", "QKqk")):
        position = GAME.position(text)
        assert position.text == board.fen(), "canonical"
        assert is_chess960(position.state) == ((number != 518 and board.king(chess.WHITE) != chess.E1) or
                                               board.piece_at(chess.A1) != chess.Piece.from_symbol("R") or
                                               board.piece_at(chess.H1) != chess.Piece.from_symbol("R"))  # fmt: skip


@pytest.mark.parametrize(
    ("text", "castling"),
    [
        ("4k3/8/8/8/8/8/8/1RR1K3 w Q - 0 1", "Q"),  # the outermost rook
        ("4k3/8/8/8/8/8/8/1RR1K3 w B - 0 1", "Q"),
        ("4k3/8/8/8/8/8/8/1RR1K3 w C - 0 1", "C"),  # the inner one
        ("1r2k1rr/8/8/8/8/8/8/4K3 b gq - 0 1", "gq"),
        ("1r2k1rr/8/8/8/8/8/8/4K3 b hb - 0 1", "kq"),
        ("r3k2r/8/8/8/8/8/8/R3K2R w HAha - 0 1", "KQkq"),
        ("r3k2r/8/8/8/8/8/8/R3K2R w - - 0 1", "-"),
    ],
)
def test_castling_rights_are_canonical(text: str, castling: str) -> None:
    assert GAME.position(text).text.split()[2] == castling
    assert GAME.position(GAME.position(text).text).text == GAME.position(text).text


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("4k3/8/8/8/8/8/8/4K3 w", "4k3/8/8/8/8/8/8/4K3 w - - 0 1"),
        ("4k3/8/8/8/8/8/8/4K3 b - -", "4k3/8/8/8/8/8/8/4K3 b - - 0 1"),
        ("4k3/8/8/8/8/8/8/4K3 w - - 12 0", "4k3/8/8/8/8/8/8/4K3 w - - 12 1"),
        ("4k3/8/8/8/8/8/8/4K3 w - - - -", "4k3/8/8/8/8/8/8/4K3 w - - 0 1"),
        # In passing: no pawn beside it; a pawn beside it; one that is pinned along the rank.
        ("4k3/8/8/3p4/8/8/8/4K3 w - d6 0 2", "4k3/8/8/3p4/8/8/8/4K3 w - - 0 2"),
        ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2", "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2"),
        ("4k3/8/8/K2pP2r/8/8/8/8 w - d6 0 2", "4k3/8/8/K2pP2r/8/8/8/8 w - - 0 2"),
    ],
)
def test_fields_may_be_missing_and_are_written_in_one_way(text: str, canonical: str) -> None:
    assert GAME.position(text).text == canonical


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected a board and a side to move"),
        ("8/8/8/8 w", "4 ranks, expected 8 .rank 8 first"),
        ("4k3/8/8/8/8/8/8/4K2 w", "rank 1 has 7 files, expected 8"),
        ("4k3/8/8/8/8/8/8/4K4 w", "rank 1 has 9 files"),
        ("4k3/8/8/x7/8/8/8/4K3 w", "unknown piece 'x' in rank 5"),
        ("4k3/8/80/8/8/8/8/4K3 w", "unknown piece '0' in rank 6"),
        ("4k3/8/44/8/8/8/8/4K3 w", None),
        ("4k3/8/8/8/8/8/8/4K3 x", "side to move is 'x', expected w or b"),
        ("8/8/8/8/8/8/8/4K3 w", "Black has no king"),
        ("4k3/8/8/8/8/8/8/4KK2 w", "White has 2 kings"),
        ("8/8/8/3kK3/8/8/8/8 w", "kings stand side by side on e5 and d5"),
        ("4k3/8/8/8/8/8/8/P3K3 w", "a pawn cannot stand on a1"),
        ("p3k3/8/8/8/8/8/8/4K3 w", "a pawn cannot stand on a8"),
        ("4k3/pppppppp/p7/8/8/8/8/4K3 w", "Black has 9 pawns, at most 8"),
        ("4k3/8/8/8/8/8/PPPPPPPP/QQ2K3 w", "White has 8 pawns and 1 promoted pieces"),
        ("4k3/8/8/8/8/8/4R3/4K3 w", "Black, who is not to move, is in check .king on e8"),
        ("4k3/8/3N4/8/4R3/8/B7/4K2B b - - 0 1", None),
        ("4k3/8/3N1N2/8/4R3/8/8/4K3 b", "3 pieces give check to Black, at most 2"),
        ("r3k2r/8/8/8/8/8/8/4K3 w KQkq", "castling right 'K', but White has no rook for it on rank 1"),
        ("4k3/8/8/8/8/8/4K3/R6R w KQ", "White's king stands on e2, not on rank 1"),
        ("4k3/8/8/8/8/8/8/R3K3 w A z", "en passant square is 'z', expected a square on rank 6"),
        ("4k3/8/8/8/8/8/8/R3K3 w X", "castling rights are 'X', expected letters such as KQkq"),
        ("4k3/8/8/8/8/8/8/RR2K3 w AB", "castling rights 'AB' name two rooks on the same side"),
        ("4k3/8/8/8/8/8/8/R3K3 w QQ", "castling rights 'QQ' name two rooks"),
        ("4k3/8/8/8/8/8/8/4K3 w - e3", "en passant square is 'e3', expected a square on rank 6"),
        ("4k3/8/8/8/8/8/8/4K3 w - e6", "no pawn can have passed e6"),
        ("4k3/4p3/8/4p3/8/8/8/4K3 w - e6", "no pawn can have passed e6"),
        ("4k3/8/8/8/8/8/8/4K3 w - - x 1", "plies since the last capture or pawn's move is 'x'"),
        ("4k3/8/8/8/8/8/8/4K3 w - - 0 -3", "move number is '-3'"),
        ("4k3/8/8/8/8/8/8/4K3 w - - 0 1 bm", "'bm' is not part of it"),
        ("4k3/8/8/8/8/8/8/4K3 w e1e2", "'e1e2' is a move"),
        ("---------------------------OX------XO--------------------------- X", "this looks like an Othello board"),
        ("rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w", "10 ranks, expected 8"),
    ],
)  # fmt: skip
def test_impossible_positions_are_refused_in_one_line(text: str, message: str | None) -> None:
    if message is None:
        GAME.position(text)
        return
    with pytest.raises(PositionError, match=message) as caught:
        GAME.position(text)
    assert "\n" not in str(caught.value)


def test_the_board_is_drawn_with_white_at_the_bottom() -> None:
    rows = GAME.describe(GAME.position()).splitlines()
    assert rows[0] == "8  r n b q k b n r"
    assert rows[7] == "1  R N B Q K B N R"
    assert rows[8] == "   a b c d e f g h"
