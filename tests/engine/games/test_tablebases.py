"""Syzygy tablebases end games of chess with the right result, in both game loops."""

from __future__ import annotations

import random
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import chess
import pytest

from elolab.engine.engine import StopFlag
from elolab.engine.errors import UserError
from elolab.engine.games import game_named
from elolab.engine.games.tablebases import Tablebases, open_tablebases
from elolab.engine.play import Arbiter, CompiledGames, PlayerSettings
from elolab.engine.rules import TABLEBASE_RESULTS, Adjudication, Ending, Rules
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.parameters import resolve

FOLDER = str(Path(__file__).parents[2] / "data" / "syzygy")
GAME = game_named("chess")
TABLES = Adjudication(resign_moves=0, draw_moves=0, maximum_plies=60, tablebases=FOLDER)


def result(text: str) -> int | None:
    return open_tablebases(FOLDER).result(text, False)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("8/8/8/4k3/8/8/8/KQ6 w - - 0 1", 1),
        ("8/8/8/4k3/8/8/8/KQ6 b - - 0 1", -1),
        ("4k3/8/4K3/4P3/8/8/8/8 w - - 0 1", 1),
        ("4k3/4P3/4K3/8/8/8/8/8 b - - 0 1", 0),
        ("8/8/8/4k3/8/8/8/KQ6 w - - 3 1", None),
        ("4k3/8/8/8/8/8/8/R3K3 w Q - 0 1", None),
        ("8/8/8/4k3/8/8/8/KQQ5 w - - 0 1", None),
    ],
)
def test_results_for_the_side_to_move(text: str, expected: int | None) -> None:
    assert result(text) == expected


def test_long_wins_are_draws_under_the_rule_of_50_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    tables = Tablebases(FOLDER)
    for value, ignoring, respecting in [(2, 1, 1), (1, 1, 0), (0, 0, 0), (-1, -1, 0), (-2, -1, -1)]:
        monkeypatch.setattr(tables._tables, "probe_wdl", lambda board, value=value: value)
        position = "8/8/8/4k3/8/8/8/KQ6 w - - 0 1"
        assert (tables.result(position, True), tables.result(position, False)) == (ignoring, respecting)


@pytest.mark.parametrize(
    ("text", "result", "ended_by"),
    [("4k3/8/8/4P3/8/8/8/4K3 w - - 0 1", "1/2-1/2", "draw"), ("8/k7/8/4P3/8/8/8/4K3 w - - 0 1", "1-0", "win_loss")],
)
def test_only_the_wanted_results_end_a_game(text: str, result: str, ended_by: str) -> None:
    for wanted in TABLEBASE_RESULTS:
        arbiter = Arbiter(GAME.position(text), Rules(), replace(TABLES, tablebase_results=wanted))
        assert arbiter.play("e5e6", 0) is None
        assert arbiter.has_to_solve
        assert arbiter.solve() == (Ending(result, "tablebase") if wanted in ("both", ended_by) else None)
        assert not arbiter.has_to_solve


def test_both_loops_end_the_game_by_the_tables() -> None:
    chance = random.Random(1)
    player = PlayerSettings(resolve({"hash_mb": 1}, game="chess"), Limits(nodes=30))
    reasons = set()
    for number in range(12):
        strong = chance.choice([chess.QUEEN, chess.ROOK, chess.PAWN])
        pieces = [chess.Piece(kind, True) for kind in (chess.KING, strong)]
        pieces += [chess.Piece(kind, False) for kind in (chess.KING, chess.KNIGHT)]
        board = chess.Board(None)
        while True:
            board.set_piece_map(dict(zip(chance.sample(range(8, 56), 4), pieces, strict=True)))
            board.turn = bool(number % 2)
            if board.is_valid() and list(board.legal_moves):
                break
        played = CompiledGames("chess").play(board.fen(), (), player, player, Rules(), TABLES, StopFlag())
        arbiter = Arbiter(GAME.position(board.fen()), Rules(), TABLES)
        ending: Ending | None = None
        for move, score in zip(played.moves, played.scores, strict=True):
            assert ending is None
            ending = arbiter.play(move, score)
            if arbiter.has_to_solve:
                ending = arbiter.solve()
        assert ending == Ending(played.result, played.reason)
        reasons.add(played.reason)
        if played.reason == "tablebase":
            known = result(GAME.position(board.fen(), played.moves).text)
            assert known is not None
            mover = GAME.position(board.fen(), played.moves).side_to_move
            white = -known if mover else known
            assert played.result == {1: "1-0", 0: "1/2-1/2", -1: "0-1"}[white]
    assert "tablebase" in reasons


def test_only_used_tables_are_part_of_a_game_and_their_place_is_not() -> None:
    assert Adjudication().content() == Adjudication(tablebase_pieces=4).content()
    other = Adjudication(tablebases="/elsewhere")
    assert Adjudication(tablebases=FOLDER).content() == other.content() != Adjudication().content()
    drawing = Adjudication(tablebases=FOLDER, tablebase_results="draw")
    assert drawing.content() == {**other.content(), "tablebase_results": "draw"}
    assert Adjudication(tablebase_results="draw").content() == Adjudication().content()
    assert Adjudication(tablebase_pieces=4).to_record().tablebase_pieces == 0
    assert other.to_record().tablebase_pieces == 7


@pytest.mark.parametrize(
    ("folders", "words"), [("nowhere", "tablebases 'nowhere': no such folder"), (".", "no Syzygy tables (.rtbw) in it")]
)
def test_missing_tables_are_one_line(folders: str, words: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError) as caught:
        Tablebases(folders)
    assert words in str(caught.value)


def test_a_missing_library_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "chess.syzygy", None)
    with pytest.raises(UserError, match="tablebases are read by python-chess, which is not installed"):
        Tablebases(FOLDER)
