"""Results printed on narrow terminals: no line is wider than the terminal, and tables keep their columns."""

from __future__ import annotations

from pathlib import Path

import pytest

from elolab import command_line
from elolab.engine.language import LANGUAGES, columns_of, fitted
from tests.support.small_tournaments import play, write_spec

FORMATS = {"round_robin": 4, "match": 2, "swiss": 4, "knockout": 4}
"""Number of players by format of the tournament."""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one small run of each format."""
    root = tmp_path_factory.mktemp("runs")
    for name, players in FORMATS.items():
        folder = root / name
        folder.mkdir()
        rest = {"swiss": "rounds = 2", "knockout": "tiebreak_pairs = 1"}.get(name, "")
        extra = f'format = "{name}"\n{rest}'
        play(write_spec(folder, players=players, pairs=1, limit="nodes=10", extra=extra), folder / "run")
    return root


COMMANDS = (
    *(("report", f"{name}/run") for name in FORMATS),
    ("runs", "."),
    ("stats", "--pentanomial", "100", "200", "300", "220", "120", "--elo0", "0", "--elo1", "5"),
    ("stats", "--wdl", "1000", "2000", "900"),
    ("sprt", "--expect", "--elo0", "0", "--elo1", "5", "--pairs", "3000"),
)


@pytest.mark.integration
@pytest.mark.usefixtures("without_charts")
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("columns", [48, 60, 80])
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_no_line_of_a_result_is_wider_than_the_terminal(
    words: tuple[str, ...],
    columns: int,
    language: str,
    runs: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(runs)
    monkeypatch.setenv("COLUMNS", str(columns))
    assert command_line.main([*words, "--language", language]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines
    assert [line for line in lines if columns_of(line) > columns] == []


def test_a_line_that_is_too_wide_goes_on_below_its_text() -> None:
    assert fitted(["Elo       one two three four"], 20) == ["Elo       one two", "          three four"]
    assert fitted(["  胜率    一二三四五六七八"], 20) == ["  胜率    一二三四五", "          六七八"]
    assert fitted(["x" * 25], 10) == ["x" * 10, "x" * 10, "x" * 5]
    assert fitted(["short", ""], 10) == ["short", ""]
