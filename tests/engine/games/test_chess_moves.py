"""Moves of chess: published counts, random games of chess and Chess960 against python-chess and pyffish, hashes."""

from __future__ import annotations

import json
import random
from pathlib import Path

import chess
import numpy as np
import pyffish
import pytest

from elolab.engine.games import game_named
from elolab.engine.games.chess import captures, evaluation, position
from elolab.engine.games.chess.notation import is_chess960, uci_move
from elolab.engine.games.contract import MoveError, Position
from elolab.engine.settings.parameters import resolve, to_record
from tests.support.effort import EFFORT

GAME = game_named("chess")
PERFT = json.loads((Path(__file__).parents[2] / "data" / "chess_perft.json").read_text("utf-8"))["positions"]
FEW_LEAVES = 20_000_000
"""Counts up to this are compared in every run, larger ones in the slow tests."""


def start_960(number: int) -> str:
    """FEN of a start position of Chess960 by its number, 0 to 959."""
    return chess.Board.from_chess960_pos(number).fen(shredder=True)


def random_start(generator: random.Random) -> str:
    """The start of chess, of Chess960, or of double Chess960, where both sides have rows of their own."""
    kind = generator.randrange(3)
    if kind == 0:
        return GAME.start
    white, black = (chess.Board.from_chess960_pos(generator.randrange(960)) for _ in range(2))
    if kind == 1:
        return white.fen()
    for square in chess.SquareSet(chess.BB_RANK_8):
        white.set_piece_at(square, black.piece_at(square))
    white.castling_rights = (white.castling_rights & chess.BB_RANK_1) | (black.castling_rights & chess.BB_RANK_8)
    return white.fen(shredder=True)


def random_game(seed: int, plies: int = 90) -> Position:
    """A random game with many castlings, promotions, captures in passing, captures, and double steps of pawns."""
    generator = random.Random(seed)
    game = GAME.position(random_start(generator))
    for ply in range(plies):
        codes = game.move_codes()
        if not codes:
            break
        captures_now = [code for code in codes if not captures.is_quiet(game.state, code)]
        special = [code for code in codes if code >> 14 or code >> 7 & 127 == game.state.en_passant]
        steps = [code for code in codes if abs((code >> 7 & 127) - (code & 127)) == 16]
        preferred = [special, captures_now, steps, codes][min(generator.randrange(8), 3)]
        game.push(GAME.format_move(generator.choice(special if special and ply % 2 else preferred or codes)))
    return game


def contents(state: np.ndarray) -> bytes:
    """All that a state says of its position: the fields before the undo arrays."""
    return state.tobytes()[: position.STATE_DTYPE.fields["undo_key"][1]]


# --- Counts ---------------------------------------------------------------------------------------------------------


def count_and_compare(case: dict, least: int, most: int) -> None:
    game = GAME.position(case["fen"])
    before = contents(game.state)
    for depth, count in case["perft"].items():
        if least <= count <= most:
            assert GAME.perft(game, int(depth)) == count, f"depth {depth}"
    assert contents(game.state) == before, "perft left another position behind"


@pytest.mark.parametrize("case", PERFT, ids=[case["name"] for case in PERFT])
def test_perft_equals_the_published_counts(case: dict) -> None:
    count_and_compare(case, 0, FEW_LEAVES)


@pytest.mark.slow
@pytest.mark.parametrize("case", PERFT, ids=[case["name"] for case in PERFT])
def test_deep_perft_equals_the_published_counts(case: dict) -> None:
    count_and_compare(case, FEW_LEAVES, 1 << 40)


@EFFORT
def test_perft_of_chess960_starts_equals_python_chess(effort: int) -> None:
    """Two plies of some starts, and with more effort three plies of all."""
    depth = 2 if effort == 1 else 3
    for number in range(0, 960, 120 if effort == 1 else 1):
        board = chess.Board.from_chess960_pos(number)
        assert GAME.perft(GAME.position(start_960(number)), depth) == leaves(board, depth), number


def leaves(board: chess.Board, depth: int) -> int:
    """Perft by python-chess."""
    if depth == 1:
        return board.legal_moves.count()
    total = 0
    for move in board.legal_moves:
        board.push(move)
        total += leaves(board, depth - 1)
        board.pop()
    return total


# --- Against other programs -----------------------------------------------------------------------------------------


@EFFORT
def test_random_games_agree_with_python_chess_and_pyffish(effort: int) -> None:
    """Legal moves, check, FEN, captures, checks given, and both notations of castling, in every position."""
    castled = passed = promoted = checks = 0
    for seed in range(5 * effort):
        played = random_game(seed)
        game = GAME.position(played.start)
        is_960 = game.start != GAME.start
        board = chess.Board(game.start, chess960=True)
        variant_start = game.text
        for number in range(len(played.moves) + 1):
            codes = game.move_codes()
            names = {uci_move(code, True): code for code in codes}
            assert set(names) == {board.uci(move, chess960=True) for move in board.legal_moves}, game.text
            standard = {GAME.format_move(code): code for code in codes}
            if not is_960:
                assert set(standard) == {board.uci(move, chess960=False) for move in board.legal_moves}
            if number % 8 == 0:
                theirs = pyffish.legal_moves("chess", variant_start, played_960(played, number, is_960), is_960)
                assert set(theirs) == (set(names) if is_960 else set(standard)), game.text
            assert game.text == board.fen(en_passant="legal"), "FEN"
            assert game.in_check == board.is_check()
            assert is_chess960(game.state) <= is_960
            for name, code in names.items():
                move = chess.Move.from_uci(name)
                assert captures.is_quiet(game.state, code) == (not board.is_capture(move) and not move.promotion)
                assert GAME.kernels.gives_check(game.state, code) == board.gives_check(move), (game.text, name)
            noisy = {
                name
                for name, code in names.items()
                if not captures.is_quiet(game.state, code) and code >> 14 in (0, chess.QUEEN - 1)
            }
            count = GAME.kernels.generate_noisy(game.state, game.lists, 1)
            assert {uci_move(int(code), True) for code in game.lists.moves[1, :count]} == noisy
            if number < len(played.moves):
                move = board.parse_uci(played.moves[number])
                castled += board.is_castling(move)
                passed += board.is_en_passant(move)
                promoted += move.promotion is not None
                checks += board.gives_check(move)
                board.push(move)
                game.push(played.moves[number])
    assert min(castled, passed, promoted, checks) > 0, "otherwise nothing was tested"


def played_960(game: Position, count: int, is_960: bool) -> list[str]:
    """The first moves of a game, with castling as the king's move to its rook in Chess960."""
    trial, moves = GAME.position(game.start), []
    for move in game.moves[:count]:
        moves.append(uci_move(trial.code_of(move), is_960))
        trial.push(move)
    return moves


# --- Making and unmaking --------------------------------------------------------------------------------------------


@EFFORT
def test_making_and_unmaking_a_move_restores_everything(effort: int) -> None:
    """Keys of positions and pawns, counts, score and checkers equal those computed from scratch."""
    weights = to_record(resolve({}, game="chess"))
    for seed in range(2 * effort):
        played = random_game(100 + seed)
        game = GAME.position(played.start)
        GAME.kernels.prepare(game.state, weights)
        trail = [contents(game.state)]
        for move in played.moves:
            for number, code in enumerate(game.move_codes()):
                expected = GAME.kernels.key_after(game.state, code)
                before = contents(game.state)
                GAME.kernels.make(game.state, code)
                assert game.state.key == expected, "key_after"
                if number % 8 == 0:
                    check_sums(game)
                GAME.kernels.unmake(game.state)
                assert contents(game.state) == before
            game.push(move)
            trail.append(contents(game.state))
        while game.state.ply:
            assert contents(game.state) == trail.pop()
            GAME.kernels.unmake(game.state)


def check_sums(game: Position) -> None:
    """What the state keeps up to date equals what follows from its board."""
    state = game.state
    assert state.key == position.position_key(state)
    assert state.pawn_key == position.pawn_key(state)
    assert state.checkers == position.find_checkers(state)
    assert state.score == evaluation.full_score(state)
    board = state.board.tolist()
    for piece in (*range(6), *range(8, 14)):
        squares = [square for square in range(64) if board[square] == piece]
        assert int(state.pieces[piece]) == sum(1 << square for square in squares)
        assert position.count_of(state, piece) == len(squares)
    for side in range(2):
        assert state.pieces[8 * side + 6] == sum(int(state.pieces[8 * side + kind]) for kind in range(6))
        assert board[int(state.king[side])] == 8 * side + 5


def test_a_null_move_changes_the_turn_and_forgets_the_right_to_capture_in_passing() -> None:
    game = GAME.position(moves=["e2e4", "a7a6", "e4e5", "d7d5"])
    before = contents(game.state)
    GAME.kernels.make_null(game.state)
    assert game.state.key == position.position_key(game.state)
    assert game.text.split()[1:4] == ["b", "KQkq", "-"]
    GAME.kernels.unmake_null(game.state)
    assert contents(game.state) == before


def test_transpositions_have_one_key() -> None:
    """Only a legal capture in passing is part of the position."""
    one = GAME.position(moves=["e2e4", "e7e5", "g1f3"])
    other = GAME.position(moves=["g1f3", "e7e5", "e2e4"])
    assert one.state.key == other.state.key
    able, unable = "4k3/8/8/8/4p3/8/3P4/4K3 w - - 0 1", "4k3/8/8/8/p7/8/3P4/4K3 w - - 0 1"
    for start, squares in ((able, "d3"), (unable, "-")):
        assert GAME.position(start, ["d2d4"]).text.split()[3] == squares


# --- Exchanges ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "move", "loses"),
    [
        ("4k3/8/3p4/4p3/8/8/8/4RK2 w - - 0 1", "e1e5", True),  # a rook for a pawn
        ("4k3/8/8/4p3/8/8/8/4RK2 w - - 0 1", "e1e5", False),
        ("4k3/8/3p4/4n3/8/5N2/8/4K3 w - - 0 1", "f3e5", False),  # knight for knight
        ("4k3/8/3n4/4p3/8/5N2/8/4RK2 w - - 0 1", "f3e5", False),  # undefended
        ("4k3/4r3/3p4/4p3/8/5N2/8/4RK2 w - - 0 1", "f3e5", True),
        ("3rk3/P7/8/8/8/8/8/4K3 w - - 0 1", "a7a8q", True),  # the new queen falls
        ("4k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a7a8q", False),
        ("2b1k3/1P6/8/8/8/8/8/4K3 w - - 0 1", "b7c8q", False),
        ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2", "e5d6", False),
        ("3rk3/8/8/3pP3/8/8/8/4K3 w - d6 0 2", "e5d6", False),  # pawn for pawn
        ("4k3/8/8/8/8/3b4/4P3/4K3 b - - 0 1", "d3e2", True),  # the king recaptures
        ("4k3/8/8/8/8/3b4/4P2r/4K3 b - - 0 1", "d3e2", False),  # it cannot: a rook defends
    ],
)
def test_a_capture_loses_material_by_exchanges_on_its_square(text: str, move: str, loses: bool) -> None:
    game = GAME.position(text)
    codes = {GAME.format_move(code): code for code in game.move_codes()}
    assert GAME.kernels.loses_material(game.state, codes[move]) == loses


# --- Texts of moves -------------------------------------------------------------------------------------------------


def test_both_spellings_of_castling_are_read() -> None:
    text = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"
    for moves in (["e1g1", "e8c8"], ["e1h1", "e8a8"], ["E1-G1", "e8a8"]):
        assert GAME.position(text, moves).moves == ["e1g1", "e8c8"]
    rook = "3k4/8/8/8/8/8/8/K3R3 w - - 0 1"
    assert GAME.position(rook, ["e1h1"]).moves == ["e1h1"], "a rook's move is not castling"
    assert GAME.position("1k6/8/8/8/8/8/8/RK5R w KQ - 0 1", ["b1h1"]).text.startswith("1k6/8/8/8/8/8/8/R4RK1 b")


@pytest.mark.parametrize("move", ["e2", "e2e9", "Nf3", "e7e8k", "", "0000"])
def test_unreadable_moves_are_refused(move: str) -> None:
    with pytest.raises(MoveError, match="cannot read"):
        GAME.position(moves=[move])


@pytest.mark.parametrize("move", ["e2e5", "e1g1", "e7e5", "e2e4q"])
def test_illegal_moves_are_refused(move: str) -> None:
    with pytest.raises(MoveError, match="illegal move"):
        GAME.position(moves=[move])
