"""``elolab solve``: one command for games with a solver and games with tablebases."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from elolab.command_line import main

FOLDER = str(Path(__file__).parents[1] / "data" / "syzygy")
PAWN = ["--fen", "4k3/8/4K3/4P3/8/8/8/8 w - - 0 1"]


@pytest.mark.integration
def test_a_position_of_chess_is_looked_up(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", *PAWN, "--tb", FOLDER, "--moves"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "White to move; scores are White's, in plies to mate, a capture or a pawn's move (DTZ); 0 is drawn" in lines
    assert {"e6d6 +3", "e6f6 +3", "e6d5 +0", "e6f5 +0", "score +3", "result won", "bestmove e6d6"} <= set(lines)
    assert main(["solve", "--game", "chess", *PAWN, "--tb", FOLDER, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["score"], data["result"], data["line"][0]) == (3, "won", "e6d6")


def test_a_position_of_othello_is_played_out(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", "--board", "X" * 60 + "OO--X"[:4] + " X", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["result"] == {1: "won", 0: "drawn", -1: "lost"}[(data["score"] > 0) - (data["score"] < 0)]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (PAWN, "positions of chess are looked up in Syzygy tablebases; give their folders: --tb FOLDERS"),
        ([*PAWN, "--tb", "nowhere"], "tablebases 'nowhere': no such folder"),
        ([*PAWN, "--tb", FOLDER, "--set", "null_move=off"], "--set and --preset change nothing in chess"),
        (["--board", "X" * 60 + "OO-- X", "--tb", FOLDER], "no tablebases for othello"),
        (["--game", "xiangqi", "--fen", "3k5/9/9/9/9/9/9/9/1r7/r3K4 w"], "solve is for othello and chess"),
        (["--game", "chess", "--board", "x"], "--board does not describe a position of chess; give --fen"),
        (["--game", "othello", "--fen", "x"], "--fen does not describe a position of othello; give --board"),
        (["--fen", "4k3/8/8/8/8/8/8/8 w - - 0 1", "--tb", FOLDER], "king"),
    ],
)
def test_wrong_input_is_one_line(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", *words]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line


def test_a_missing_library_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "chess.syzygy", None)
    assert main(["solve", *PAWN, "--tb", FOLDER]) == 2
    assert "python-chess, which is not installed; pip install 'elolab[syzygy]'" in capsys.readouterr().err
