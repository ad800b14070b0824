"""``elolab parameters``: the reference on the terminal."""

from __future__ import annotations

import json

import pytest

from elolab import command_line


@pytest.mark.parametrize("columns", ["50", "80", "200"])
def test_parameters_fit_the_terminal(
    columns: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert command_line.main(["parameters"]) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= int(columns)


def test_parameters_that_are_named_are_shown_in_full(capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["parameters", "valWINDOW", "endgame-empties", "AspirationWindow"]) == 0
    shown = capsys.readouterr().out
    assert [line for line in shown.splitlines() if line[:1].strip()] == ["aspiration_window", "endgame_empties"]
    assert command_line.main(["parameters", "NullDepth", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["name"], row["defaults"]) == ("null_depth", {"xiangqi": 3, "othello": 3, "chess": 3})
    assert command_line.main(["parameters", "hash", "--json", "--game", "othello"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["defaults"] == {"othello": 16}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["null_deph"], "unknown parameter 'null_deph' (did you mean 'null_depth'?)"),
        (["valWINDO"], "unknown parameter 'valWINDO' (did you mean 'aspiration_window'?)"),
        (["stop_on_mate", "--game", "othello"], "stop_on_mate does not apply to othello, only to xiangqi"),
        (["tempo", "--game", "xiangi"], "xiangqi"),
    ],
)
def test_parameters_that_cannot_be_shown_are_told_in_one_line(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command_line.main(["parameters", *words]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert said in captured.err
    assert captured.err.count("\n") == 1


def test_parameters_of_an_unknown_game_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["parameters", "--game", "xiangi"]) == 2
    assert "xiangqi" in capsys.readouterr().err
