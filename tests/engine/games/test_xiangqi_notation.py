"""Text of Xiangqi positions and moves: every refusal names the place, every position survives the round trip."""

from __future__ import annotations

import random

import pyffish
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elolab.engine.games import game_named
from elolab.engine.games.contract import MoveError, PositionError
from elolab.engine.rules import Ending, Rules
from tests.engine.games.test_xiangqi_moves import ALLOWED_SQUARES, random_ending, random_game, to_pyffish

GAME = game_named("xiangqi")
FILES = "abcdefghi"


def fen_of(board: dict[tuple[int, int], str], side: str = "w") -> str:
    """FEN of pieces by file and rank."""
    rows = []
    for rank in range(9, -1, -1):
        row = "".join(board.get((file, rank), "1") for file in range(9))
        for run in range(9, 1, -1):
            row = row.replace("1" * run, str(run))
        rows.append(row)
    return f"{'/'.join(rows)} {side} - - 0 1"


# --- Refusals -------------------------------------------------------------------------------------------------------

REFUSED = [
    # Pieces where they can never stand: the square is named.
    ("3k5/9/9/9/9/9/9/5K3/9/K8 w", "Red has 2 generals, at most 1 .*f2"),
    ("3k5/9/9/9/9/9/9/9/9/K8 w", "Red general cannot stand on a0"),
    ("3k5/9/9/9/5K3/9/9/9/9/9 w", "Red general cannot stand on f5"),
    ("9/9/9/3k5/9/9/9/9/9/5K3 w", "Black general cannot stand on d6"),
    ("3k5/9/9/9/9/9/9/9/9/4AK3 w", "Red advisor cannot stand on e0"),
    ("3k5/9/9/9/9/9/9/9/8A/5K3 w", "Red advisor cannot stand on i1"),
    ("3k1a3/3a5/9/9/9/9/9/9/9/5K3 w", "Black advisor cannot stand on d8"),
    ("3k5/9/4B4/9/9/9/9/9/9/5K3 w", "Red elephant cannot stand on e7"),
    ("3k5/9/9/9/9/9/9/9/9/1B3K3 w", "Red elephant cannot stand on b0"),
    ("3k5/9/9/9/9/4b4/9/9/9/5K3 w", "Black elephant cannot stand on e4"),
    ("3k5/9/9/9/9/9/1P7/9/9/5K3 w", "Red pawn cannot stand on b3"),
    ("3k5/9/9/9/9/9/9/9/P8/5K3 w", "Red pawn cannot stand on a1"),
    ("3k5/9/9/1p7/9/9/9/9/9/5K3 w", "Black pawn cannot stand on b6"),
    ("3kp4/9/9/9/9/9/9/9/9/5K3 w", "Black pawn cannot stand on e9"),
    # Too many pieces.
    ("3k5/9/9/9/9/9/9/RRR6/9/5K3 w", "Red has 3 rooks, at most 2 .*c2"),
    ("3k5/9/2ccc4/9/9/9/9/9/9/5K3 w", "Black has 3 cannons, at most 2 .*e7"),
    ("3k5/9/PPPPPP3/9/9/9/9/9/9/5K3 w", "Red has 6 pawns, at most 5 .*f7"),
    ("3k5/9/9/9/9/9/9/9/9/9 w", "Red has no general"),
    ("9/9/9/9/9/9/9/9/9/5K3 w", "Black has no general"),
    # Generals.
    ("4k4/9/9/9/9/9/9/9/9/4K4 w", "generals face each other on e0 and e9"),
    ("4k4/9/9/9/9/9/9/4R4/9/5K3 w", "Black, who is not to move, is in check .general on e9"),
    ("3k5/9/9/9/9/9/9/4r4/9/4K4 b", "Red, who is not to move, is in check .general on e0"),
    # Form.
    ("", "expected a board and a side"),
    ("3k5/9/9/9/9/9/9/9/9/5K3", "expected a board and a side"),
    ("3k5/9/9/9/9/9/9/9/5K3 w", "9 ranks, expected 10"),
    ("3k5/9/9/9/9/9/9/9/9/9/5K3 w", "11 ranks, expected 10"),
    ("3k6/9/9/9/9/9/9/9/9/5K3 w", "rank 9 has 10 files, expected 9"),
    ("3k5/9/9/8/9/9/9/9/9/5K3 w", "rank 6 has 8 files, expected 9"),
    ("3k5/9/9/9/9/9/9/9/9/5Q3 w", "unknown piece 'Q' in rank 0"),
    ("3k5/9/9/9/9/9/9/9/9/5K3 x", "side to move is 'x'"),
    ("3k5/9/9/9/9/9/9/9/9/5K3 w - - many 1", "plies since the last capture is 'many'"),
    ("3k5/9/9/9/9/9/9/9/9/5K3 w - - 0 -3", "move number is '-3'"),
    ("3k5/9/9/9/9/9/9/9/9/5K3 w - - 0 1 junk", "'junk' is not part of it"),
    ("3k5/9/9/9/9/9/9/9/9/5K3 w - - 0 1 moves f0f1 d9d8", "'moves f0f1 d9d8' is not part of it"),
    ("3k5/9/9/9/9/9/9/9/9/5K3 w moves f0f1", "'moves f0f1' is not part of it"),
    ("3k5/9/9/9/9/9/9/9/9/5K3 w f0f1", "'f0f1' is a move, expected - - after the side to move"),
    ("3k5/9/9/9/9/9/9/9/9/5K3 w - F0F1", "'F0F1' is a move"),
    ("-" * 27 + "OX------XO" + "-" * 27 + " X", "Othello"),
]


@pytest.mark.parametrize(("fen", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_what_cannot_stand_on_a_board_is_refused(fen: str, message: str) -> None:
    with pytest.raises(PositionError, match=message) as caught:
        GAME.position(fen)
    assert "\n" not in str(caught.value)
    assert fen in str(caught.value)


def test_pyffish_accepts_what_we_refuse() -> None:
    """It is no validator, which is why none of the refusals above is compared with it."""
    assert pyffish.legal_moves("xiangqi", "4k4/9/9/9/9/9/9/4R4/9/5K3 w - - 0 1", [])


# --- What is accepted -----------------------------------------------------------------------------------------------


def test_other_letters_are_read_and_ours_are_written() -> None:
    start = GAME.position().text
    assert start == GAME.start
    assert GAME.position("rhbakabhr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RHEAKAEHR r").text == start
    assert GAME.position(start.rsplit(" ", 4)[0]).text == start
    board = start.split()[0]
    assert GAME.position(f"{board} b - - 7 12").text == f"{board} b - - 7 12"
    assert GAME.position("3k5/9/9/9/9/9/9/9/9/5K3 w - - - -").text == "3k5/9/9/9/9/9/9/9/9/5K3 w - - 0 1"


def test_the_counters_of_the_text_follow_the_game() -> None:
    game = GAME.position()
    for move, tail in [("h2e2", "b - - 1 1"), ("h9g7", "w - - 2 2"), ("e2e6", "b - - 0 2"), ("i9i8", "w - - 1 3")]:
        game.push(move)
        assert game.text.endswith(tail)


@pytest.mark.integration
def test_every_position_of_games_survives_the_round_trip() -> None:
    for seed in range(8):
        game = GAME.position()
        for move in random_game(seed, 120, "captures").moves:
            game.push(move)
            twin = GAME.position(game.text)
            assert twin.text == game.text
            assert twin.state.key == game.state.key
            assert sorted(twin.legal_moves()) == sorted(game.legal_moves())


@given(st.data())
def test_canonical_text_round_trips(data: st.DataObject) -> None:
    """Whatever is accepted is written canonically, and the canonical text is its own canonical text."""
    board: dict[tuple[int, int], str] = {}
    for letter in [*data.draw(st.lists(st.sampled_from("AABBNNRRCCPPPPPaabbnnrrccppppp"), max_size=14)), "K", "k"]:
        board[data.draw(st.sampled_from(ALLOWED_SQUARES[letter]))] = letter
    side = data.draw(st.sampled_from("wrb"))
    quiet, number = data.draw(st.integers(0, 300)), data.draw(st.integers(1, 400))
    text = fen_of(board, side).replace("0 1", f"{quiet} {number}")
    try:
        game = GAME.position(text)
    except PositionError:
        return
    assert game.text == text.replace(" r ", " w ")
    assert GAME.position(game.text).text == game.text
    placement, _, rest = text.split(" ", 2)
    other_letters = placement.translate(str.maketrans("NnBb", "HhEe"))
    assert GAME.position(f"{other_letters} {'b' if side == 'b' else 'r'} {rest}").text == game.text


@given(st.text(alphabet="kabnrcpKABNRCP123456789/ wb-0", max_size=60))
def test_no_text_makes_a_traceback(text: str) -> None:
    try:
        game = GAME.position(text)
    except PositionError:
        return
    assert GAME.position(game.text).text == game.text


# --- Moves ----------------------------------------------------------------------------------------------------------


def test_moves_in_both_rank_bases() -> None:
    from_zero = random_game(4, 40).moves
    from_one = [to_pyffish(move) for move in from_zero]
    assert GAME.position(moves=from_zero).text == GAME.position(moves=from_one, ranks="1").text
    assert GAME.position(moves=from_zero, ranks="auto").moves == from_zero
    assert GAME.position(moves=from_one, ranks="auto").moves == from_zero
    assert GAME.position(moves=["H2-E2", "h9g7"]).moves == ["h2e2", "h9g7"]


def test_a_move_list_that_fits_both_bases_is_refused_with_both_readings() -> None:
    with pytest.raises(MoveError) as caught:
        GAME.position("3k5/9/9/9/9/9/9/R8/R8/5K3 w", ["a2b2"], ranks="auto")
    assert "ranks 0-9 (a2b2)" in str(caught.value)
    assert "a1b1 in ranks 0-9" in str(caught.value)
    assert "--ranks 0 or --ranks 1" in str(caught.value)
    # One more move settles it for the whole list.
    game = GAME.position("3k5/9/9/9/9/9/9/R8/R8/5K3 w", ["a2b2", "d9d8", "a1a0"], ranks="auto")
    assert game.moves == ["a2b2", "d9d8", "a1a0"]


def test_auto_with_no_reading_says_why() -> None:
    with pytest.raises(MoveError):
        GAME.position(moves=["a5a6"], ranks="auto")
    assert GAME.position(moves=[], ranks="auto").moves == []


@pytest.mark.parametrize(
    ("moves", "ranks", "message"),
    [
        (["h2e9"], "0", "illegal move 'h2e9' after 0 moves"),
        (["h2e2", "h2e2"], "0", "illegal move 'h2e2' after 1 move in"),
        (["h2"], "0", "cannot read move 'h2'"),
        (["j2e2"], "0", "cannot read move 'j2e2'"),
        (["h2e2", "a10a9"], "0", "move 2, 'a10a9': off the board"),
        (["a0a1"], "1", "move 1, 'a0a1': off the board"),
        (["炮二平五"], "0", "cannot read move"),
    ],
)
def test_unreadable_and_illegal_moves_are_named(moves: list[str], ranks: str, message: str) -> None:
    with pytest.raises(MoveError, match=message) as caught:
        GAME.position(moves=moves, ranks=ranks)
    assert "\n" not in str(caught.value)


@given(st.integers(0, 89), st.integers(0, 89))
def test_every_code_has_its_own_coordinates(origin: int, target: int) -> None:
    from elolab.engine.games.xiangqi.notation import parse_coordinates

    text = GAME.format_move(origin | target << 7)
    assert parse_coordinates(text, 0) == origin | target << 7
    assert parse_coordinates(to_pyffish(text), 1) == origin | target << 7


def test_the_board_drawn_for_a_terminal_shows_every_piece() -> None:
    generator = random.Random(2)
    for _ in range(20):
        game = random_ending(generator)
        drawn = GAME.describe(game)
        pieces = sorted(letter for letter in game.text.split()[0] if letter.isalpha())
        lines = drawn.splitlines()[:10]
        assert sorted(letter for line in lines for letter in line[1:] if letter.isalpha()) == pieces
        assert [line[0] for line in lines] == [str(rank) for rank in range(9, -1, -1)]


def test_a_game_can_start_where_it_is_over() -> None:
    assert GAME.position("1R1k5/R8/9/9/9/9/9/9/9/4K4 b").judge(Rules()) == Ending("1-0", "checkmate")
