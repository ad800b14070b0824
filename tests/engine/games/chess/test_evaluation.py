"""The evaluation's symmetries, its bounds, its incremental sums, and what it knows of endgames."""

from __future__ import annotations

import random
from functools import cache

import chess
import numpy as np
import pytest

from elolab.engine.engine import Engine
from elolab.engine.games import game_named
from elolab.engine.games.chess.evaluation import MATERIAL, full_score
from elolab.engine.games.contract import Position
from elolab.engine.games.evaluation_cache import WORDS
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.parameters import BY_NAME, resolve, to_record
from elolab.engine.values import BAN_BOUND, INFINITY
from tests.engine.games.chess.test_terms import positions

GAME = game_named("chess")
EVALUATIONS = BY_NAME["evaluation"].legal


@cache
def settings(evaluation: str) -> np.record:
    return to_record(resolve({"evaluation": evaluation}, game="chess"))


def prepared(text: str, evaluation: str = "full") -> Position:
    position = GAME.position(text)
    GAME.kernels.prepare(position.state, settings(evaluation))
    return position


def evaluated(text: str, evaluation: str = "full", alpha: int = -INFINITY, beta: int = INFINITY) -> int:
    """The evaluation for the side to move."""
    return int(GAME.kernels.evaluate(prepared(text, evaluation).state, 0, alpha, beta))


@pytest.mark.parametrize("evaluation", EVALUATIONS)
def test_colours_do_not_matter(evaluation: str) -> None:
    for text in positions():
        assert evaluated(text, evaluation) == evaluated(chess.Board(text).mirror().fen(), evaluation), text


@pytest.mark.parametrize("evaluation", EVALUATIONS)
def test_left_and_right_do_not_matter_once_castling_is_gone(evaluation: str) -> None:
    for text in positions():
        board = chess.Board(text)
        board.castling_rights = chess.BB_EMPTY
        board.ep_square = None
        mirrored = board.transform(chess.flip_horizontal)
        assert evaluated(board.fen(), evaluation) == evaluated(mirrored.fen(), evaluation), text


@pytest.mark.parametrize("evaluation", EVALUATIONS)
def test_the_sum_of_the_pieces_is_kept_up_to_date(evaluation: str) -> None:
    generator = random.Random(4)
    for _ in range(4):
        position = prepared(GAME.start, evaluation)
        for _ in range(150):
            moves = position.legal_moves()
            if not moves:
                break
            position.push(generator.choice(moves))
            assert int(position.state.score) == int(full_score(position.state))


@pytest.mark.parametrize(
    ("evaluation", "values"), [("material", MATERIAL), ("material_chess", (100, 300, 300, 500, 900))]
)
def test_material_is_counted(evaluation: str, values: tuple[int, ...]) -> None:
    for text in positions():
        board = chess.Board(text)
        own, other = (
            sum(values[kind - 1] * len(board.pieces(kind, side)) for kind in range(1, 6))
            for side in (board.turn, not board.turn)
        )
        assert evaluated(text, evaluation) == own - other
        if evaluation == "material":
            assert int(GAME.kernels.material(prepared(text).state)) == own


def test_a_value_outside_the_window_is_a_bound() -> None:
    generator = random.Random(5)
    bounds = 0
    for text in positions():
        value = evaluated(text)
        for _ in range(20):
            alpha = value + generator.randrange(-1500, 1500)
            beta = alpha + generator.choice((1, 50, 400))
            found = evaluated(text, alpha=alpha, beta=beta)
            if found != value:
                bounds += 1
                assert value <= found <= alpha or beta <= found <= value, text
    assert bounds


def test_the_cache_of_evaluations_changes_nothing() -> None:
    cache_of = np.zeros(WORDS, np.uint64)
    for text in [*positions(), *positions()]:
        state = prepared(text).state
        assert int(GAME.kernels.evaluate(state, cache_of.ctypes.data, -INFINITY, INFINITY)) == evaluated(text)
        if not GAME.kernels.in_check(state):
            GAME.kernels.make_null(state)
            pieces, side, castling, _, *counts = text.split()
            turned = " ".join((pieces, "b" if side == "w" else "w", castling, "-", *counts))
            assert int(GAME.kernels.evaluate(state, cache_of.ctypes.data, -INFINITY, INFINITY)) == evaluated(turned)


def test_evaluations_stay_below_decided_games() -> None:
    for text in ("7k/5ppp/8/QQQQ4/QQQQ4/Q7/8/K7 b - - 0 1", *positions()):
        assert abs(evaluated(text)) < BAN_BOUND - 1000


def test_what_a_capture_can_gain_bounds_the_change_of_the_squares() -> None:
    for text in positions():
        position = prepared(text)
        for code in position.move_codes():
            if GAME.kernels.is_quiet(position.state, code):
                continue
            gain = int(GAME.kernels.capture_gain(position.state, code))
            board = chess.Board(text)
            move = chess.Move.from_uci(GAME.format_move(code))
            taken = chess.PAWN if board.is_en_passant(move) else board.piece_type_at(move.to_square)
            assert gain > (60 if taken == chess.PAWN else 0)
            if taken is not None and taken > chess.PAWN:
                assert gain > 200


DRAWN = (
    "4k3/8/8/8/8/8/8/1NN1K3 w - - 0 1",  # two knights
    "4k3/8/8/8/8/8/8/2B1K3 w - - 0 1",
    "k7/8/8/P7/8/4B3/8/4K3 w - - 0 1",  # a rook's pawn and the wrong bishop
    "7k/8/7P/7P/8/8/8/4K3 w - - 0 1",
)
ALMOST = (
    "4k3/4r3/8/8/8/8/8/R1B1K3 w - - 0 1",  # rook and bishop against rook
    "4k3/4b3/8/8/8/8/8/4RK2 w - - 0 1",
)


@pytest.mark.parametrize("text", DRAWN)
def test_material_that_cannot_win_is_a_draw(text: str) -> None:
    assert evaluated(text) == evaluated(chess.Board(text).mirror().fen()) == 0


@pytest.mark.parametrize("text", ALMOST)
def test_a_minor_piece_without_pawns_is_worth_little(text: str) -> None:
    assert 0 < evaluated(text) < 80


def test_bishops_of_opposite_colours_halve_an_advantage() -> None:
    opposite, same = "4k3/8/5b2/8/3P4/2P2B2/8/4K3 w - - 0 1", "4k3/8/5b2/8/3P4/2P3B1/8/4K3 w - - 0 1"
    assert 0 < evaluated(opposite) < 0.75 * evaluated(same)


@pytest.mark.parametrize("text", ["8/8/8/4k3/8/8/8/4KQ2 w - - 0 1", "8/8/8/4k3/8/8/8/R3K3 w - - 0 1"])
def test_queen_and_rook_mate_a_lone_king(text: str) -> None:
    engine = Engine("chess")
    position = GAME.position(text)
    for _ in range(80):
        result = engine.search(position, Limits(nodes=20_000))
        if result.move is None:
            break
        position.push(result.move)
    board = chess.Board(position.text)
    assert board.is_checkmate()
