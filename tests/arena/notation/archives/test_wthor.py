"""WTHOR: records, names beside them, passes left out, databases that are cut, of another size or of names alone."""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path

import pytest

from elolab.arena.notation.archives.archive import ArchiveFile, Entry, Reading
from elolab.arena.notation.archives.archive_files import sources
from elolab.arena.notation.archives.formats import entries, is_games
from elolab.arena.notation.pgn import PortableGame, PortableGameError
from elolab.engine.games import game_named
from tests.support.archive_writers import names_file, wtb_file

SQUARES = (
    "d3 c5 e6 d2 c6 d6 b5 f5 e7 f6 f4 f3 g4 d7 g3 g5 h6 h5 h4 e8 c7 h3 c3 h7 e3 b6 g6 f7 d8 c2 d1 c4 b4 a5 f8 f2 e2 a4 "
    "a3 b3 f1 g7 b7 c8 a6 a7 c1 b2 a8 b8 a2 e1 h8 g8 h2 g1 h1 g2 a1 b1"
)
"""A game played on GGS (Saio against itself, 2003), a draw in which Black passes before a1."""
RECORD = (1, 2, 0, 32, 34, SQUARES)
SHORT = (0, 0, 9, 40, 36, "f5 d6 c3")


def read(data: bytes, plies: int | None = None) -> list[Entry]:
    return list(entries(ArchiveFile("WTH_2001.wtb", data), Reading(game_named("othello"), plies=plies)))


def test_games_of_a_year() -> None:
    first, second = read(wtb_file([RECORD, SHORT]))
    assert isinstance(first, PortableGame)
    assert isinstance(second, PortableGame)
    assert " ".join(entry.move for entry in first.moves) == SQUARES.replace("a1", "pass a1")
    assert (first.result, second.result) == ("1/2-1/2", "1-0")
    assert dict(second.tags) == {
        "Event": "tournament 0", "Date": "2001.??.??", "Black": "player 0", "White": "player 9",
        "DiscDifference": "+16", "TheoreticalDiscDifference": "+8", "TheoreticalEmpties": "24",
    }  # fmt: skip
    assert [len(entry.moves) for entry in read(wtb_file([RECORD]), plies=59) if isinstance(entry, PortableGame)] == [59]


def test_names_lie_beside_the_games_or_in_the_same_zip_file(tmp_path: Path) -> None:
    files = {
        "WTH_2001.wtb": wtb_file([RECORD]),
        "WTHOR.JOU": names_file(["???", "Tastet Marc", "Caspard Stéphane"], 20),
        "wthor.trn": names_file(["", "Étoiles d'or"], 26)[:-1],
    }
    with zipfile.ZipFile(tmp_path / "base.zip", "w") as archive:
        for name, data in files.items():
            (tmp_path / name).write_bytes(data)
            archive.writestr(f"folder/{name}", data)
    for path in (tmp_path / "WTH_2001.wtb", tmp_path / "base.zip"):
        found = [source for source in sources(path) if isinstance(source, ArchiveFile) and is_games(source)]
        ((game,),) = [list(entries(source, Reading(game_named("othello")))) for source in found]
        assert isinstance(game, PortableGame)
        assert (game.tag("Black"), game.tag("White")) == ("Caspard Stéphane", "???")
        assert game.tag("Event") == "tournament 1"  # its name is cut


def test_a_compressed_database_is_read(tmp_path: Path) -> None:
    path = tmp_path / "WTH_2001.wtb.gz"
    path.write_bytes(gzip.compress(wtb_file([RECORD])))
    (source,) = sources(path)
    assert isinstance(source, ArchiveFile)
    assert source.data == wtb_file([RECORD])


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (
            wtb_file([SHORT], announced=4_000_000_000),
            "game 2: truncated: 4000000000 games are announced, 1 are complete",
        ),
        (wtb_file([SHORT, SHORT])[:-1], "WTH_2001.wtb: game 2: truncated: 2 games are announced, 1 are complete"),
        (wtb_file([SHORT, (0, 0, 0, 0, 0, "f5 d6 d6")]), "WTH_2001.wtb: game 2, ply 3: illegal move 'd6'"),
        (wtb_file([SHORT, (0, 0, 0, 65, 0, "f5")]), "WTH_2001.wtb: game 2: 65 black discs on 64 squares"),
        (
            wtb_file([SHORT, SHORT])[:92] + b"\x09" + bytes(59),
            "WTH_2001.wtb: game 2, ply 1: 9 is not a square; expected",
        ),
    ],
)
def test_a_wrong_game_is_one_line_and_the_others_are_read(data: bytes, words: str) -> None:
    game, error = read(data)
    assert isinstance(game, PortableGame)
    assert isinstance(error, PortableGameError)
    assert words in str(error)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (wtb_file([SHORT], size=10), "WTH_2001.wtb: WTHOR games on 10 x 10 squares, expected 8 x 8"),
        (wtb_file([SHORT], solitaire=1), "WTH_2001.wtb: a WTHOR file of solitaires"),
        (wtb_file([]), "WTH_2001.wtb: no games in it"),
        (names_file(["Tastet"], 20), "WTH_2001.wtb: names of WTHOR; give the file of games"),
    ],
)
def test_what_holds_no_games_is_refused(data: bytes, words: str) -> None:
    (error,) = read(data)
    assert words in str(error)


def test_another_game_is_refused_in_one_line() -> None:
    source = ArchiveFile("WTH_2001.wtb", wtb_file([RECORD]))
    (error,) = entries(source, Reading(game_named("xiangqi")))
    assert str(error) == (
        "WTH_2001.wtb: WTHOR holds games of Othello, not of Chinese Chess; choose the game othello or another file"
    )
