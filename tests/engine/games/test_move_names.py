"""Move names: exact round trips in every notation, tandem pieces, the forms accepted, and what is refused."""

from __future__ import annotations

import random
import re

import hypothesis
import pyffish
import pytest
from hypothesis import strategies

from elolab.engine.games import game_named
from elolab.engine.games.contract import MoveError, Position, PositionError
from elolab.engine.games.xiangqi.move_names import (
    NOTATIONS,
    format_coordinates,
    format_move_name,
    is_coordinates,
    looks_like_a_move,
    notation_of,
    parse_move_name,
)
from tests.support.effort import EFFORT

GAME = game_named("xiangqi")

TWO_ROOKS = "4k4/9/9/2R6/9/9/2R6/9/9/3K5 w"
TWO_CANNONS_AT_THE_EDGE = "4k4/2C6/9/9/9/9/9/9/2C6/3K5 w"
TWO_HORSES = "4k4/9/9/2N6/9/9/9/2N6/9/3K5 w"
ADVISORS_AND_ELEPHANTS = "5k3/9/9/9/9/2B6/9/3A5/9/2BAK4 w"
TWO_PAWNS = "4k4/9/9/6P2/9/6P2/9/9/9/3K5 w"
THREE_PAWNS = "4k4/9/6P2/6P2/6P2/9/9/9/9/3K5 w"
FOUR_PAWNS = "4k4/9/6P2/6P2/6P2/6P2/9/9/9/3K5 w"
FIVE_PAWNS = "4k4/6P2/6P2/6P2/6P2/6P2/9/9/9/3K5 w"
TWO_AND_TWO_PAWNS = "4k4/9/9/2P3P2/2P3P2/9/9/9/9/3K5 w"
THREE_AND_TWO_PAWNS = "4k4/9/6P2/2P3P2/2P3P2/9/9/9/9/3K5 w"
BLACK_PAWNS = "4k4/9/9/9/9/2p3p2/2p3p2/6p2/9/3K5 b"
BLACK_FIVE_PAWNS = "4k4/9/9/9/9/p8/p8/p8/p8/p2K5 b"
CONSTRUCTED = (
    TWO_ROOKS, TWO_CANNONS_AT_THE_EDGE, TWO_HORSES, ADVISORS_AND_ELEPHANTS, TWO_PAWNS, THREE_PAWNS, FOUR_PAWNS,
    FIVE_PAWNS, TWO_AND_TWO_PAWNS, THREE_AND_TWO_PAWNS, BLACK_PAWNS, BLACK_FIVE_PAWNS,
)  # fmt: skip


def names(position: Position, move: str) -> list[str]:
    """WXF, simplified and traditional name of a move."""
    return [format_move_name(position, move, notation) for notation in NOTATIONS[1:]]


def check_round_trips(position: Position) -> None:
    """Every legal move has a name of its own in each notation, and each is read back."""
    moves = position.legal_moves()
    for notation in NOTATIONS:
        named = [format_move_name(position, move, notation) for move in moves]
        assert len(set(named)) == len(named), position.text
        assert [parse_move_name(position, name) for name in named] == moves, position.text


def fairy_name(position: Position, move: str) -> str:
    """The WXF name that pyffish gives a move, without its mark of check."""
    origin_file, origin_rank, target_file, target_rank = move
    coordinates = f"{origin_file}{int(origin_rank) + 1}{target_file}{int(target_rank) + 1}"
    name = pyffish.get_san("xiangqi", position.text, coordinates, False, pyffish.NOTATION_XIANGQI_WXF)
    return name[:4]


def check_against_pyffish(position: Position) -> int:
    """Names equal pyffish's with one documented exception; returns how often it applied.

    Of two tandem pieces pyffish names one by its file where the same step would take the other off the board; we
    always write + or -, as the federation's rules have it.
    """
    exceptions = 0
    for move in position.legal_moves():
        ours, theirs = format_move_name(position, move, "wxf"), fairy_name(position, move)
        if ours != theirs:
            assert re.fullmatch(r"[HRCP][+-][-+=]\d", ours), (position.text, ours, theirs)
            assert re.fullmatch(r"[HRCP]\d[-+=]\d", theirs), (position.text, ours, theirs)
            assert (ours[0], ours[2:]) == (theirs[0], theirs[2:])
            assert parse_move_name(position, theirs) == move
            exceptions += 1
    return exceptions


@pytest.mark.integration
@EFFORT
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_round_trips_and_pyffish_over_random_games(seed: int, effort: int) -> None:
    chooser = random.Random(seed)
    position = GAME.position()
    for ply in range(min(30 * effort, 200)):
        moves = position.legal_moves()
        if not moves:
            break
        move = chooser.choice(moves)
        for notation in NOTATIONS:
            assert parse_move_name(position, format_move_name(position, move, notation)) == move
        if ply % 5 == 0:
            check_round_trips(position)
            check_against_pyffish(position)
        position.push(move)


CROSSED = [rank * 9 + file for rank in range(5, 10) for file in range(9)]
"""Squares beyond the river, from Red."""


def text_of(board: dict[int, str], side: str) -> str:
    """FEN of pieces by square, seen from Red; turned round for Black."""
    rows = []
    for rank in range(9, -1, -1):
        row = "".join(board.get(rank * 9 + file, "1") for file in range(9))
        rows.append(row)
    if side == "b":
        rows = [row.swapcase() for row in reversed(rows)]
    return "/".join(rows) + f" {side}"


@strategies.composite
def tandem_positions(draw: strategies.DrawFn) -> str:
    """Up to five pawns on one or two files beyond the river, and two each of rooks, cannons and horses on files."""
    board = {3: "K", 86: "k"}
    files = draw(strategies.lists(strategies.integers(0, 8), min_size=1, max_size=2))
    squares = [square for square in CROSSED if square % 9 in files and square not in board]
    for square in draw(strategies.lists(strategies.sampled_from(squares), min_size=1, max_size=5, unique=True)):
        board[square] = "P"
    for letter in draw(strategies.lists(strategies.sampled_from("RCN"), max_size=2, unique=True)):
        file = draw(strategies.integers(0, 8))
        for rank in draw(strategies.lists(strategies.integers(0, 9), min_size=2, max_size=2, unique=True)):
            board.setdefault(rank * 9 + file, letter)
    return text_of(board, draw(strategies.sampled_from("wb")))


@pytest.mark.integration
@hypothesis.given(tandem_positions())
def test_round_trips_and_pyffish_over_tandem_positions(text: str) -> None:
    try:
        position = GAME.position(text)
    except PositionError:  # the side to move could take the general
        hypothesis.reject()
    check_round_trips(position)
    check_against_pyffish(position)


@pytest.mark.parametrize(
    ("text", "move", "expected"),
    [
        (None, "h2e2", ["C2=5", "炮二平五", "炮二平五"]),
        (None, "h0g2", ["H2+3", "马二进三", "馬二進三"]),
        (None, "a0a2", ["R9+2", "车九进二", "車九進二"]),
        (None, "e0e1", ["K5+1", "帅五进一", "帥五進一"]),
        (None, "g0e2", ["E3+5", "相三进五", "相三進五"]),
        (None, "f0e1", ["A4+5", "仕四进五", "仕四進五"]),
        (None, "c3c4", ["P7+1", "兵七进一", "兵七進一"]),
        (GAME.start.replace(" w ", " b "), "b7e7", ["C2=5", "炮2平5", "砲2平5"]),
        (GAME.start.replace(" w ", " b "), "h9g7", ["H8+7", "马8进7", "馬8進7"]),
        (GAME.start.replace(" w ", " b "), "e9e8", ["K5+1", "将5进1", "將5進1"]),
        (GAME.start.replace(" w ", " b "), "c9e7", ["E3+5", "象3进5", "象3進5"]),
        (GAME.start.replace(" w ", " b "), "d9e8", ["A4+5", "士4进5", "士4進5"]),
        (GAME.start.replace(" w ", " b "), "c6c5", ["P3+1", "卒3进1", "卒3進1"]),
        (TWO_ROOKS, "c6d6", ["R+=6", "前车平六", "前車平六"]),
        (TWO_ROOKS, "c3c0", ["R--3", "后车退三", "後車退三"]),
        (TWO_CANNONS_AT_THE_EDGE, "c8c9", ["C++1", "前炮进一", "前炮進一"]),
        (TWO_HORSES, "c6b8", ["H++8", "前马进八", "前馬進八"]),
        (TWO_HORSES, "c2b0", ["H--8", "后马退八", "後馬退八"]),
        (ADVISORS_AND_ELEPHANTS, "d0e1", ["A6+5", "仕六进五", "仕六進五"]),
        (ADVISORS_AND_ELEPHANTS, "d2e1", ["A6-5", "仕六退五", "仕六退五"]),
        (ADVISORS_AND_ELEPHANTS, "c0e2", ["E7+5", "相七进五", "相七進五"]),
        (ADVISORS_AND_ELEPHANTS, "c4e2", ["E7-5", "相七退五", "相七退五"]),
        (TWO_PAWNS, "g6f6", ["P+=4", "前兵平四", "前兵平四"]),
        (TWO_PAWNS, "g4g5", ["P-+1", "后兵进一", "後兵進一"]),
        (THREE_PAWNS, "g7f7", ["13=4", "前兵平四", "前兵平四"]),
        (THREE_PAWNS, "g6f6", ["23=4", "中兵平四", "中兵平四"]),
        (THREE_PAWNS, "g5f5", ["33=4", "后兵平四", "後兵平四"]),
        (FOUR_PAWNS, "g7f7", ["13=4", "一兵平四", "一兵平四"]),
        (FOUR_PAWNS, "g5f5", ["33=4", "三兵平四", "三兵平四"]),
        (FIVE_PAWNS, "g8g9", ["13+1", "一兵进一", "一兵進一"]),
        (FIVE_PAWNS, "g4f4", None),
        (FIVE_PAWNS, "g5f5", ["43=4", "四兵平四", "四兵平四"]),
        (TWO_AND_TWO_PAWNS, "g6f6", ["13=4", "前三平四", "前三平四"]),
        (TWO_AND_TWO_PAWNS, "c5b5", ["27=8", "后七平八", "後七平八"]),
        (THREE_AND_TWO_PAWNS, "g6f6", ["23=4", "中三平四", "中三平四"]),
        (THREE_AND_TWO_PAWNS, "g5f5", ["33=4", "后三平四", "後三平四"]),
        (THREE_AND_TWO_PAWNS, "c5b5", ["27=8", "后七平八", "後七平八"]),
        (BLACK_PAWNS, "g2f2", ["17=6", "前7平6", "前7平6"]),
        (BLACK_PAWNS, "g3f3", ["27=6", "中7平6", "中7平6"]),
        (BLACK_PAWNS, "c4b4", ["23=2", "后3平2", "後3平2"]),
        (BLACK_FIVE_PAWNS, "a0b0", ["11=2", "一卒平2", "一卒平2"]),
        (BLACK_FIVE_PAWNS, "a4b4", ["51=2", "五卒平2", "五卒平2"]),
    ],
)
def test_written_names(text: str | None, move: str, expected: list[str] | None) -> None:
    position = GAME.position(text)
    if expected is None:
        with pytest.raises(MoveError, match="illegal move"):
            names(position, move)
        return
    assert names(position, move) == expected
    for name in expected:
        assert parse_move_name(position, name) == move


@pytest.mark.parametrize("text", CONSTRUCTED)
def test_round_trips_of_constructed_positions(text: str) -> None:
    check_round_trips(GAME.position(text))


@pytest.mark.parametrize(
    ("text", "name", "move"),
    [
        # Coordinates, spelling, width, marks.
        (None, "h2e2", "h2e2"),
        (None, "H2-E2", "h2e2"),
        (None, " H2E2! ", "h2e2"),
        (None, "c2.5", "h2e2"),
        (None, "C2=5+", "h2e2"),
        (None, "Ｃ２＝５", "h2e2"),
        (None, "N2+3", "h0g2"),
        (None, "B3+5", "g0e2"),
        (None, "G5+1", "e0e1"),
        (None, "S7+1", "c3c4"),
        # Chinese with other characters and numerals.
        (None, "砲二平五", "h2e2"),
        (None, "包2平5", "h2e2"),
        (None, "炮 二 平 五", "h2e2"),
        (None, "炮２平５", "h2e2"),
        (None, "俥九進一", "a0a1"),
        (None, "傌二上三", "h0g2"),
        (None, "士四进五", "f0e1"),
        (None, "象三进五", "g0e2"),
        (None, "将五进一", "e0e1"),
        (None, "卒七进一", "c3c4"),
        (GAME.start.replace(" w ", " b "), "馬八進七", "h9g7"),
        (GAME.start.replace(" w ", " b "), "马８进７", "h9g7"),
        # Two pieces on a file.
        (TWO_ROOKS, "+R=6", "c6d6"),
        (TWO_ROOKS, "-R-3", "c3c0"),
        (TWO_ROOKS, "R+.6", "c6d6"),
        (TWO_ROOKS, "前俥平六", "c6d6"),
        (TWO_ROOKS, "後車平六", "c3d3"),
        (TWO_ROOKS, "一车平六", "c6d6"),
        (TWO_CANNONS_AT_THE_EDGE, "C7+1", None),
        (TWO_CANNONS_AT_THE_EDGE, "C7-3", "c8c5"),
        (ADVISORS_AND_ELEPHANTS, "A++5", None),
        (ADVISORS_AND_ELEPHANTS, "A-+5", "d0e1"),
        (ADVISORS_AND_ELEPHANTS, "前相退五", "c4e2"),
        (TWO_PAWNS, "13=4", "g6f6"),
        (TWO_PAWNS, "P3=4", "g6f6"),
        (TWO_PAWNS, "Pa=4", "g6f6"),
        (TWO_PAWNS, "二兵进一", "g4g5"),
        # Three to five pawns on a file: the forms of 1982, of ElephantEye, and ordinals.
        (THREE_PAWNS, "P+.4", "g7f7"),
        (THREE_PAWNS, "P3.4", "g6f6"),
        (THREE_PAWNS, "P..4", "g6f6"),
        (THREE_PAWNS, "P-.4", "g5f5"),
        (THREE_PAWNS, "三兵平四", "g5f5"),
        (FOUR_PAWNS, "++.4", "g7f7"),
        (FOUR_PAWNS, "P+.4", "g6f6"),
        (FOUR_PAWNS, "P-.4", "g5f5"),
        (FOUR_PAWNS, "后兵进一", None),
        (FOUR_PAWNS, "前兵平四", "g7f7"),
        (FIVE_PAWNS, "++.4", "g8f8"),
        (FIVE_PAWNS, "P+.4", "g7f7"),
        (FIVE_PAWNS, "P3.4", "g6f6"),
        (FIVE_PAWNS, "中兵平四", "g6f6"),
        (FIVE_PAWNS, "P-.4", "g5f5"),
        (FIVE_PAWNS, "Pd=4", "g5f5"),
        # Two files.
        (THREE_AND_TWO_PAWNS, "3+.4", "g7f7"),
        (THREE_AND_TWO_PAWNS, "3-.4", "g5f5"),
        (THREE_AND_TWO_PAWNS, "7+.6", "c6d6"),
        (THREE_AND_TWO_PAWNS, "7-.6", "c5d5"),
        (THREE_AND_TWO_PAWNS, "前兵七平八", "c6b6"),
        (THREE_AND_TWO_PAWNS, "前兵平八", "c6b6"),
        (THREE_AND_TWO_PAWNS, "四兵平八", "c6b6"),
        (THREE_AND_TWO_PAWNS, "Pe=8", "c5b5"),
        (BLACK_PAWNS, "三卒平2", None),
        (BLACK_PAWNS, "前卒7平6", "g2f2"),
        (BLACK_PAWNS, "一卒平2", "c3b3"),
        (BLACK_FIVE_PAWNS, "2卒平2", "a1b1"),
    ],
)
def test_accepted_forms(text: str | None, name: str, move: str | None) -> None:
    position = GAME.position(text)
    if move is None:
        with pytest.raises(MoveError):
            parse_move_name(position, name)
    else:
        assert parse_move_name(position, name) == move


@pytest.mark.parametrize(
    ("text", "name", "words"),
    [
        (None, "", "cannot read move ''"),
        (None, "hello", "cannot read move 'hello': expected a form such as"),
        (None, "C2=0", "cannot read"),
        (None, "C2=55", "cannot read"),
        (None, "炮二平", "cannot read"),
        (None, "h2e", "cannot read"),
        (None, "h2e10", "off the board"),
        (None, "h2h9h", "cannot read"),
        (None, "h2e3", "illegal move 'h2e3'"),
        (None, "C3=5", "no legal move is 'C3=5' after 0 moves in position"),
        (None, "C2+9", "no legal move"),
        (None, "前炮平五", "no legal move"),
        (None, "H2+4", "no legal move"),
        (TWO_ROOKS, "R7=6", r"'R7=6' may be c\dd\d \(R[+-]=6\) or c\dd\d \(R[+-]=6\).*; write one of these"),
        (TWO_ROOKS, "车七平六", "may be"),
        (TWO_AND_TWO_PAWNS, "前兵进一", r"may be c6c7 \(17\+1\) or g6g7 \(13\+1\)|may be g6g7 .* or c6c7"),
        (THREE_PAWNS, "63=4", "no legal move"),
        (THREE_PAWNS, "P3+1", "no legal move"),
    ],
)
def test_refusals(text: str | None, name: str, words: str) -> None:
    with pytest.raises(MoveError, match=words) as raised:
        parse_move_name(GAME.position(text), name)
    assert "\n" not in str(raised.value)


def test_a_newer_meaning_goes_before_an_older_one() -> None:
    """``33=4`` was the middle one of three pawns until 2018 and is the third since; it is read as it is written."""
    assert parse_move_name(GAME.position(THREE_AND_TWO_PAWNS), "33=4") == "g5f5"
    # Where the third pawn cannot do that, only the older meaning is left.
    blocked = GAME.position("4k4/9/6P2/6P2/2P6/2P6/6P2/9/9/3K5 w")
    assert parse_move_name(blocked, "33=4") == "g6f6"


def test_only_legal_moves_have_names() -> None:
    with pytest.raises(MoveError, match="illegal move 'h2h3x'"):
        format_move_name(GAME.position(), "h2h3x", "wxf")
    pinned = GAME.position("3rk4/9/9/9/9/9/9/9/3C5/3K5 w")
    for name in ("d1e1", "C6=5", "炮六平五"):
        with pytest.raises(MoveError):
            parse_move_name(pinned, name)


@pytest.mark.parametrize(
    ("text", "notation"),
    [
        ("h2e2", "iccs"),
        ("H2-E2!", "iccs"),
        ("C2=5", "wxf"),
        ("Ｃ２＝５", "wxf"),
        ("炮二平五", "chinese"),
        ("马８进７", "chinese"),
        ("馬８進７", "traditional"),
        ("前車退一", "traditional"),
    ],
)
def test_notation_is_told_from_the_form(text: str, notation: str) -> None:
    assert notation_of(text) == notation
    assert looks_like_a_move(text)
    assert is_coordinates(text) == (notation == "iccs")


@pytest.mark.parametrize("text", ["1-0", "1.", "12", "...", "[Event", "http://www.example.net/", "=====", "hello"])
def test_other_words_are_no_moves(text: str) -> None:
    assert not looks_like_a_move(text)


def test_coordinates_of_records() -> None:
    assert format_coordinates("h2e2") == format_move_name(GAME.position(), "h2e2", "iccs") == "H2-E2"
