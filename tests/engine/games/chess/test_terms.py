"""The terms of the full evaluation against counts made by python-chess, square by square."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache

import chess
import numpy as np
import pytest

from elolab.engine.games import game_named
from elolab.engine.games.chess.fitting import ChessFitting
from elolab.engine.games.chess.terms import sum_of_terms
from elolab.engine.games.packed_values import END
from elolab.engine.settings.features import CHESS, CHESS_PIECES, CHESS_TERMS
from elolab.engine.settings.parameters import resolve, to_record
from elolab.engine.settings.weights import find_weights, rows_of
from tests.support.plain_chess_terms import counted_terms

GAME = game_named("chess")
SPECIAL = (
    # Passed pawns of all kinds, with rooks behind.
    "4k3/8/3P4/2P5/8/1r3p2/8/3RK2r w - - 0 1",
    "3r2k1/1P3p1p/6p1/8/1p6/1R4P1/5P1P/6K1 b - - 0 1",
    "8/8/8/3P4/k6P/8/3r2p1/6K1 w - - 0 1",
    # An attack with queen, rook and knight on a bare king, and many pieces of one kind.
    "6k1/5p2/6pQ/6N1/8/8/6R1/4K2R w - - 0 1",
    "4k3/8/8/NNNNNNNN/bbbbbbbb/8/8/4K3 w - - 0 1",
    "7k/5ppp/8/QQQ5/QQQ5/8/8/K7 b - - 0 1",
    # A rook pinned to its king, and a rook shut in by its own.
    "4k3/4r3/8/8/8/4Q3/6PP/6KR w - - 0 1",
)


@cache
def positions() -> tuple[str, ...]:
    """Positions of random games that are not over, and some chosen ones."""
    generator = random.Random(3)
    texts = list(SPECIAL)
    while len(texts) < 45:
        board = chess.Board()
        for _ in range(generator.randrange(1, 150)):
            moves = list(board.legal_moves)
            if not moves:
                break
            board.push(generator.choice(moves))
        if any(board.legal_moves):
            texts.append(board.fen())
    return tuple(texts)


def seen_by_mover(text: str) -> chess.Board:
    """The position with the side to move as White."""
    board = chess.Board(text)
    return board if board.turn else board.mirror()


@cache
def counts_of(text: str) -> dict[str, int]:
    """White's counts minus Black's by python-chess, by term."""
    found = counted_terms(chess.Board(text))
    assert not set(found) - set(CHESS_TERMS)
    return {name: found[name] for name in CHESS_TERMS}


def surveyed(text: str) -> tuple[int, np.ndarray]:
    """Phase and features of a position, as the fit sees them."""
    fitting = ChessFitting()
    steps, features = fitting.survey(fitting.rows_of_game(text, ()))
    return int(steps[0]), features[0]


def placed(board: chess.Board) -> Iterator[str]:
    """Names of the features of White's pieces."""
    for square, piece in board.piece_map().items():
        if piece.color:
            file, rank = square % 8, square // 8
            yield f"{CHESS_PIECES[piece.piece_type - 1]}_{'abcddcba'[file]}{rank + 1}"


@pytest.mark.integration
def test_every_term_is_counted_as_defined() -> None:
    seen: set[str] = set()
    for text in positions():
        sign = 1 if chess.Board(text).turn else -1
        _, features = surveyed(text)
        got = dict(zip(CHESS_TERMS, (features * sign).tolist(), strict=False))
        assert got == counts_of(text), text
        seen |= {name for name, count in got.items() if count}
    assert not {name for name in set(CHESS_TERMS) - seen if "mobility" not in name and "danger" not in name}


@pytest.mark.integration
def test_pieces_are_counted_on_their_squares() -> None:
    for text in positions():
        board = seen_by_mover(text)
        _, features = surveyed(text)
        wanted = dict.fromkeys(CHESS[len(CHESS_TERMS) :], 0)
        for name in placed(board):
            wanted[name] += 1
        for name in placed(board.mirror()):
            wanted[name] -= 1
        assert dict(zip(CHESS[len(CHESS_TERMS) :], features[len(CHESS_TERMS) :].tolist(), strict=True)) == wanted


@pytest.mark.integration
def test_the_phase_counts_pieces_by_weight() -> None:
    for text in positions():
        board = chess.Board(text)
        kinds = {chess.KNIGHT: 1, chess.BISHOP: 1, chess.ROOK: 2, chess.QUEEN: 4}
        count = sum(kinds.get(piece.piece_type, 0) for piece in board.piece_map().values())
        assert surveyed(text)[0] == round(64 * min(count, 24) / 24)


def test_terms_are_weighed_by_the_file() -> None:
    weights = find_weights("chess", ("chess",))
    start, end = rows_of(weights)[:, : len(CHESS_TERMS)]
    parameters = to_record(resolve({}, game="chess"))
    for text in positions():
        counts = np.array(list(counts_of(text).values()))
        state = GAME.position(text).state
        GAME.kernels.prepare(state, parameters)
        # The second sum takes the terms of pawns and of material from their caches.
        for _ in range(2):
            assert int(sum_of_terms(state, None)) == int(counts @ start) + END * int(counts @ end)


def test_the_caches_of_pawn_and_material_terms_change_nothing() -> None:
    parameters = to_record(resolve({}, game="chess"))
    generator = random.Random(8)
    position = GAME.position()
    for ply in range(120):
        GAME.kernels.prepare(position.state, parameters)
        fresh = GAME.position(position.text)
        GAME.kernels.prepare(fresh.state, parameters)
        assert int(sum_of_terms(position.state, None)) == int(sum_of_terms(fresh.state, None)), ply
        moves = position.legal_moves()
        if not moves:
            break
        position.push(generator.choice(moves))


@pytest.mark.parametrize("text", SPECIAL)
def test_features_have_room_in_a_byte(text: str) -> None:
    assert max(map(abs, counts_of(text).values())) < 100
