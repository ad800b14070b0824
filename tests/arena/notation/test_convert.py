"""``elolab convert``: every target from every source, encodings, standard streams, errors in one line."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from elolab import command_line
from elolab.arena.notation.convert import holds_positions
from elolab.arena.notation.pgn import FORMATS
from elolab.engine.errors import UserError
from elolab.engine.games import game_named
from tests.support.portable_texts import convert, read_games

START = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1"
AFTER_TWO = "rnbakab1r/9/1c4nc1/p1p1p1p1p/9/9/P1P1P1P1P/1C2C4/9/RNBAKABNR w - - 2 2"
GAMES = """\
[Red "甲"]
[Black "乙"]
1. 炮二平五 马8进7 {good} 1-0

[Opening "same; \\"mirrored\\" #1"]
1. B2-E2 B9-C7 2. A0-A1 *
"""


def convert_text(text: str, target: str, ranks: str = "0", plies: int | None = None) -> str:
    return convert(text, "some.pgn", "xiangqi", target, ranks, plies)


def moves_of(text: str) -> list[list[str]]:
    return [[entry.move for entry in portable.moves] for portable in read_games(text, "again", "xiangqi")]


@pytest.mark.parametrize("source", FORMATS)
@pytest.mark.parametrize("target", FORMATS)
def test_every_notation_becomes_every_other(source: str, target: str) -> None:
    expected = [["h2e2", "h9g7"], ["b2e2", "b9c7", "a0a1"]]
    first = convert_text(GAMES, source)
    second = convert_text(first, target)
    assert moves_of(first) == moves_of(second) == expected
    assert second == convert_text(GAMES, target)
    assert f'[Format "{FORMATS[target]}"]' in second
    assert "{good} 1-0" in second
    assert convert_text(second, "pgn") == second


def test_games_become_positions() -> None:
    assert convert_text(GAMES, "fen", plies=0) == f"{START}\n{START}\n"
    first, second = convert_text(GAMES, "fen", plies=2).splitlines()
    assert first == AFTER_TWO
    assert second != first
    # In a suite a position stands once; its mirror image is another.
    assert convert_text(GAMES, "epd", plies=2) == f'{AFTER_TWO}; id "甲 - 乙";\n{second}; id "same mirrored 1";\n'
    assert convert_text(GAMES, "epd").splitlines()[1].endswith('; id "same mirrored 1";')


def test_positions_become_games_and_back() -> None:
    text = f'# a suite\n{START}\n\n{AFTER_TWO.replace(" w ", " r ")}; id "two" # comment\n'
    games = convert_text(text, "wxf")
    assert games.count("[Game ") == 2
    assert f'[FEN "{AFTER_TWO}"]' in games
    assert convert_text(games, "epd") == convert_text(text, "epd") == f'{START}\n{AFTER_TWO}; id "two";\n'
    assert convert_text(text, "fen") == f"{START}\n{AFTER_TWO}\n"


def test_shortened_games_lose_their_end() -> None:
    text = '[PlyCount "3"]\n[Result "1-0"]\n1. C2=5 H8+7 {kept} 2. H2+3 {gone} 1-0'
    short = convert_text(text, "iccs", plies=2)
    assert short.endswith("1. H2-E2 H9-G7 {kept} *\n")
    assert "PlyCount" not in short
    assert convert_text(text, "iccs", plies=3).endswith("{gone} 1-0\n")


def test_ranks_from_one() -> None:
    assert convert_text("h3e3 h10g8", "fen", ranks="1") == convert_text("h3e3 h10g8", "fen", ranks="auto")
    assert convert_text("h3e3 h10g8", "fen", ranks="1") == f"{AFTER_TWO}\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"# comment\n\n{START}", True),
        (START, True),
        ("rnbakabnr/9/1c5c1 w", False),
        ('[FEN "' + START + '"]', False),
        ("1. C2=5", False),
        ("", False),
    ],
)
def test_positions_are_told_from_games(text: str, expected: bool) -> None:
    assert holds_positions(text, game_named("xiangqi")) == expected


def test_moves_behind_a_position_are_not_lost_without_a_word() -> None:
    with pytest.raises(UserError, match=r"some\.epd: line 2: a line is one position and has no moves; give"):
        convert(f"{START}\n{START} moves h2e2\n", "some.epd", "xiangqi", "fen")


def test_positions_of_othello_are_read_and_written() -> None:
    game = game_named("othello")
    line = game.position(None, ("f5", "d6")).text
    assert convert(f'{line}; id "two"\n', "some.epd", "othello", "epd") == f'{line}; id "two";\n'
    assert line in convert(line, "some.epd", "othello", "pgn")
    assert convert("f5 d6", "some.txt", "othello", "fen") == f"{line}\n"
    with pytest.raises(UserError, match=r"some\.epd: line 1: "):
        convert(line[1:], "some.epd", "othello", "epd")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1. C2=5 C2=5 C2=5", "some.pgn: game 1, line 1: Red's move 2: no legal move"),
        (f"{START}\n{START.replace('R', 'X')}", "some.pgn: line 2: FEN"),
        ("", "some.pgn: no games in it"),
    ],
)
def test_errors(text: str, words: str) -> None:
    with pytest.raises(UserError, match=words):
        convert_text(text, "iccs")


# The command


@pytest.mark.parametrize("target", [*FORMATS, "fen", "epd", "pgn"])
def test_the_command_writes_what_the_function_returns(
    target: str, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    source, out = tmp_path / "games.pgn", tmp_path / "out"
    source.write_bytes(GAMES.encode("gbk"))
    assert command_line.main(["convert", str(source), "--to", target]) == 0
    printed = capfdbinary.readouterr().out
    assert printed.decode("utf-8") == convert_text(GAMES, target)
    assert command_line.main(["convert", str(source), "--to", target, "--out", str(out), "--encoding", "gbk"]) == 0
    assert out.read_bytes() == convert_text(GAMES, target).encode("gbk")
    assert capfdbinary.readouterr() == (b"", b"")


def test_the_command_reads_standard_input(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO("炮二平五 马8进7 马二进三".encode())))
    assert command_line.main(["convert", "-", "--to", "fen", "--plies", "2"]) == 0
    assert capfdbinary.readouterr().out.decode() == f"{AFTER_TWO}\n"


@pytest.mark.parametrize(
    ("content", "words", "message"),
    [
        (None, [], "games.pgn: cannot be read: No such file"),
        (b"\xff\xff", [], "games.pgn: line 1: neither UTF-8 nor GBK"),
        ("C2=5 {😀}".encode(), ["--encoding", "gbk"], "standard output: line 5: gbk has no '😀'"),
        (b"C2=6x", [], "games.pgn: game 1, line 1: Red's move 1: cannot read move 'C2=6x'"),
        (b"C2=5", ["--plies", "-1"], "'-1' is not a whole number"),
        (b"C2=5", ["--to", "word"], "invalid choice: 'word'"),
        (b"f5d6", ["--game", "othello", "--to", "wxf"], "--to wxf: moves of othello have one notation only; give --to"),
    ],
)
def test_mistakes_are_one_line(
    content: bytes | None, words: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "games.pgn"
    if content is not None:
        path.write_bytes(content)
    assert command_line.main(["convert", str(path), *words]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.startswith("elolab: ")
    assert error.count("\n") == 1
