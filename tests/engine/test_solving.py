"""Positions of chess are solved by tablebases: scores, best moves, lines, and what the tables do not have."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import chess
import chess.syzygy
import pytest

from elolab.engine.engine import StopFlag
from elolab.engine.errors import UserError
from elolab.engine.games import game_named
from elolab.engine.solving import Solution, TableSolver, solvable_games

FOLDER = str(Path(__file__).parents[1] / "data" / "syzygy")
GAME = game_named("chess")
QUEEN = "8/8/8/4k3/8/8/8/KQ6 w - - {} 1"


def solved(text: str, *, ignore_50: bool = False) -> Solution:
    return TableSolver(FOLDER, ignore_50, StopFlag()).solve(GAME.position(text), every_move=True)


@pytest.mark.integration
def test_lines_of_random_positions_end_as_the_score_says() -> None:
    """Score and sign are those of python-chess's own DTZ, to the ply by which tables may round; wins end in mate."""
    chance = random.Random(1)
    solver = TableSolver(FOLDER, False, StopFlag())
    tables = chess.syzygy.open_tablebase(FOLDER)
    won = 0
    while won < 12:
        board = chess.Board(None)
        kinds = ["K", "k", chance.choice("QRPBNqrpbn")]
        squares = chance.sample(range(8, 56), 3)
        board.set_piece_map(
            {square: chess.Piece.from_symbol(kind) for square, kind in zip(squares, kinds, strict=True)}
        )
        board.turn = chance.random() < 0.5
        if not board.is_valid() or not any(board.legal_moves):
            continue
        found, dtz = solver.solve(GAME.position(board.fen()), every_move=True), tables.probe_dtz(board)
        assert found.moves is not None
        assert abs(found.score - dtz) <= (dtz != 0)
        assert (found.score > 0) - (found.score < 0) == (dtz > 0) - (dtz < 0)
        assert set(found.moves) == {move.uci() for move in board.legal_moves}
        assert found.best_move == found.line[0] == next(iter(found.moves))
        for move in found.line:
            board.push_uci(move)
        assert board.is_checkmate() == (found.score != 0)
        won += found.score != 0


@pytest.mark.parametrize(
    ("text", "best", "score"),
    [
        ("8/8/8/8/8/2k5/1q6/K7 w - - 0 1", None, -1),  # mated
        ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", None, 0),  # stalemate
        ("7k/8/6K1/8/8/8/8/1Q6 w - - 0 1", "b1b8", 1),
        ("4k3/8/4K3/4P3/8/8/8/8 w - - 0 1", "e6d6", 3),
        ("8/P7/8/8/8/k7/8/K7 w - - 0 1", "a7a8q", 1),
        ("8/8/8/8/8/1k6/8/KN6 w - - 0 1", "b1a3", 0),
    ],
)
def test_scores_of_known_positions(text: str, best: str | None, score: int) -> None:
    found = solved(text)
    assert found.score == score
    if score > 0 or best is None:
        assert found.best_move == best


@pytest.mark.integration
@pytest.mark.parametrize(("spent", "score"), [(0, 17), (82, 17), (83, 0), (99, 0)])
def test_the_rule_of_50_moves_counts_what_was_played(spent: int, score: int) -> None:
    """DTZ may be a ply too small, so the last ply of the rule is not relied on."""
    assert solved(QUEEN.format(spent)).score == score
    assert solved(QUEEN.format(spent), ignore_50=True).score == 17


def test_a_mate_on_the_last_ply_of_the_rule_counts() -> None:
    found = solved("7k/8/6K1/8/8/8/8/1Q6 w - - 99 1")
    assert (found.score, found.line) == (1, ("b1b8",))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("8/8/8/4k3/8/8/8/KQQ5 w - - 0 1", "4 pieces; the tablebases have at most 3"),
        ("4k3/8/8/8/8/8/8/R3K3 w Q - 0 1", "no positions in which a side may castle"),
    ],
)
def test_what_tables_never_have_is_one_line(text: str, words: str) -> None:
    with pytest.raises(UserError) as caught:
        solved(text)
    assert words in str(caught.value)


@pytest.mark.parametrize("missing", ["KQvK.rtbz", "KNvK.rtbw"])
def test_a_missing_table_is_named(missing: str, tmp_path: Path) -> None:
    shutil.copytree(FOLDER, tmp_path, dirs_exist_ok=True)
    (tmp_path / missing).unlink()
    with pytest.raises(UserError, match=f"the tablebases lack {missing}"):
        TableSolver(str(tmp_path), False, StopFlag()).solve(GAME.position("8/P7/8/8/8/k7/8/K7 w - - 0 1"))


def test_games_that_can_be_solved() -> None:
    assert solvable_games() == ["othello", "chess"]
