"""``elolab openings``: suites made, filtered and checked from the command line, and what it refuses."""

from __future__ import annotations

import gzip
import json
import os
import random
import signal
from pathlib import Path

import pyffish
import pytest

from elolab import command_line
from elolab.arena.notation.balance import Selection
from elolab.arena.notation.openings import load_suite
from elolab.engine.games import game_named
from elolab.engine.rules import Rules
from elolab.engine.settings.configuration import shipped_folder

EVERYTHING = ("--win-probability", "0", "1")
QUICK = ("--limit", "nodes=200")


@pytest.fixture(scope="module", autouse=True)
def _compiled() -> None:
    """What is compiled is compiled before what is printed counts."""
    for name in ("xiangqi", "othello"):
        game_named(name).position().judge(Rules())


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ELOLAB_LANGUAGE", raising=False)
    return tmp_path


def openings(*words: object, code: int = 0) -> None:
    assert command_line.main(["openings", *map(str, words)]) == code


def refused(capsys: pytest.CaptureFixture[str], *words: object, code: int = 2) -> str:
    """The one line with which a command line is refused."""
    openings(*words, code=code)
    printed = capsys.readouterr()
    assert printed.out == ""
    (line,) = printed.err.splitlines()
    return line.removeprefix("elolab: ")


def shipped_positions(count: int) -> list[str]:
    text = gzip.decompress((shipped_folder() / "openings" / "xiangqi.epd.gz").read_bytes()).decode()
    return [line for line in text.splitlines() if not line.startswith("#")][:count]


def write_games(path: Path, lines: list[list[str]]) -> None:
    games = [f'[Opening "line {number}"]\n\n{" ".join(line)} *\n' for number, line in enumerate(lines, 1)]
    path.write_text("\n".join(games))


def random_lines(count: int, plies: int) -> list[list[str]]:
    """Lines of legal moves by another program's rules, ranks counted from 1."""
    start, generator = pyffish.start_fen("xiangqi"), random.Random(1)
    lines: list[list[str]] = []
    for _ in range(count):
        line: list[str] = []
        for _ in range(plies):
            line.append(generator.choice(pyffish.legal_moves("xiangqi", start, line)))
        lines.append(line)
    return lines


def test_a_suite_of_no_openings_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert "argument --count: '0' is not a whole number from 1 to" in refused(capsys, "generate", "--count", 0)


@pytest.mark.integration
def test_one_illegal_line_among_many_is_named_and_nothing_is_written(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = shipped_positions(700)
    lines[598] = lines[598].replace("/", "/9/", 1)
    Path("mine.epd").write_text("\n".join(["# mine", *lines]))
    for words in (["balance", "mine.epd", *EVERYTHING, "--out", "new.epd"], ["check", "mine.epd"]):
        line = refused(capsys, *words)
        assert line.startswith("mine.epd: line 600: FEN ")
        assert line.endswith("11 ranks, expected 10 (rank 9 first)")
    assert not Path("new.epd").exists()
    openings("balance", "mine.epd", *EVERYTHING, "--skip-illegal", "--out", "new.epd")
    assert (
        capsys.readouterr().out
        == "new.epd: chose 699 openings from 700 candidates\nrejected: illegal, or game over: 1\n"
    )
    written = [opening.position for opening in load_suite("new.epd", "xiangqi").openings]
    assert written == [line for number, line in enumerate(lines) if number != 598]


def test_an_illegal_move_is_named_with_file_and_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = random_lines(15, 6)
    for wrong, words in (
        ("a1a10", "('a1a10', ranks from 1): illegal move 'a0a9' after 3 moves in position "),
        ("a1a99", ": move 'a1a99' is off the board (files a to i, ranks 1 to 10)"),
        ("C2=9", "no legal move is 'C2=9' after 3 moves in position "),
    ):
        lines[11][3] = wrong
        write_games(Path("mine.pgn"), lines)
        line = refused(capsys, "check", "mine.pgn")
        assert line.startswith("mine.pgn: game 12, line 47: Black's move 2")
        assert words in line


@pytest.mark.integration
@pytest.mark.parametrize("name", ["mine.pgn", "mine.pgn.gz", "mine.epd", "mine.epd.gz"])
def test_whatever_it_writes_it_reads(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_games(Path("games.pgn"), random_lines(12, 4))
    openings("balance", "games.pgn", *EVERYTHING, "--plies", 3, "--out", name)
    before = load_suite("games.pgn", "xiangqi", plies=3)
    after = load_suite(name, "xiangqi")
    capsys.readouterr()
    openings("check", name, "--json")
    counts = json.loads(capsys.readouterr().out)
    assert counts["all"] == len(after.openings) == len(before.openings) > 10
    assert counts["mirrored"] == 0
    if ".pgn" in name:
        assert after.openings == before.openings


def test_what_is_judged_is_written_and_can_be_repeated(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("mine.epd").write_text("\n".join(f'{line}; id "{n}"' for n, line in enumerate(shipped_positions(24))))
    openings("balance", "mine.epd", "--win-probability", "0.5", "0.7", *QUICK, "--json", "--out", "new.epd")
    counts = json.loads(capsys.readouterr().out)
    assert counts["seen"] == 24 == counts["openings"] + counts["dropped"]["outside"]
    header, *lines = Path("new.epd").read_text().splitlines()
    assert 0 < len(lines) == counts["openings"]
    assert all("; ce " in line and '; id "' in line and line.endswith('";') for line in lines)
    command = header.removeprefix("# elolab openings ")
    openings(*command.split(), "--out", "again.epd", "--concurrency", 1)
    assert Path("again.epd").read_bytes() == Path("new.epd").read_bytes()


def test_mirror_images_are_counted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, *others = shipped_positions(3)
    board, rest = first.split(" ", 1)
    image = f"{'/'.join(rank[::-1] for rank in board.split('/'))} {rest}"
    Path("mine.epd").write_text("\n".join([first, *others, image]))
    openings("check", "mine.epd")
    assert "4 openings, all legal and distinct (mirror images of others: 1)" in capsys.readouterr().out
    openings("balance", "mine.epd", *EVERYTHING, "--out", "new.epd", "--language", "zh")
    assert "舍去：与其他开局对称 1 个" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--win-probability", "0.7", "0.6"], "--win-probability 0.7 0.6: expected the lower one first"),
        (
            [*EVERYTHING, "--limit", "move_time=0.1"],
            "--limit move_time=0.1: the suite would depend on the machine's speed",
        ),
        ([*EVERYTHING, "--judge", "slow.toml"], "--judge slow.toml: limit = move_time=1: the suite would"),
        ([*EVERYTHING, "--out", "nowhere/new.epd"], "--out nowhere/new.epd: there is no folder nowhere"),
        ([*EVERYTHING, "--out", "."], "--out .: a folder; name a file"),
        ([*EVERYTHING, "--json"], "--json and the openings would both be printed; give --out FILE"),
        (["--win-probability", "0.9999", "1", *QUICK], "mine.epd: none of its openings is within the band (outside 2)"),
        ([*EVERYTHING, "--game", "othello"], "mine.epd: line 1: "),
    ],
)
def test_what_cannot_be_is_refused(
    words: list[str], message: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("mine.epd").write_text("\n".join(shipped_positions(2)))
    Path("slow.toml").write_text('protocol = "uci"\ncommand = "/bin/true"\nlimit = "move_time=1"\n')
    assert refused(capsys, "balance", "mine.epd", *words).startswith(message)
    assert sorted(path.name for path in folder.iterdir()) == ["mine.epd", "slow.toml"]


def test_an_interrupt_leaves_the_beginning(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(selection: Selection) -> None:
        if len(selection.kept) == 5:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr("elolab.cli.openings._progress", lambda key, wanted: interrupt)
    positions = shipped_positions(60)
    Path("mine.epd").write_text("\n".join(positions))
    openings("balance", "mine.epd", "--win-probability", "0.001", "1", *QUICK, "--out", "new.epd", code=130)
    _, note, *lines = Path("new.epd").read_text().splitlines()
    assert note == "# interrupted after 5: this is the beginning"
    assert [line.split(";")[0] for line in lines] == positions[:5]
    assert capsys.readouterr().out == "new.epd: interrupted: chose the first 5 openings from 5 candidates\n"
