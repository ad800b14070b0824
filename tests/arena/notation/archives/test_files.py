"""Files, folders and zip files; encodings; suites and conversions from them; bytes of any kind raise nothing else."""

from __future__ import annotations

import bz2
import struct
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from elolab import command_line
from elolab.arena.notation.archives import archive_files as reading_files
from elolab.arena.notation.archives.archive import ArchiveFile, Reading
from elolab.arena.notation.archives.archive_files import COMPRESSED, packed, sources, unpacked
from elolab.arena.notation.archives.formats import FORMATS, entries, format_of, load_games
from elolab.arena.notation.convert import TRAINING, read_all
from elolab.arena.notation.openings import load_suite
from elolab.arena.notation.pgn import FORMATS as NOTATIONS
from elolab.arena.notation.pgn import PortableGame, PortableGameError, decode_text, result_of
from elolab.engine.errors import UserError
from elolab.engine.games import game_named
from tests.support.archive_writers import branches, names_file, wtb_file, xqf_file
from tests.support.unreadable import keep_out

START = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1"
XQF = xqf_file(branches("h2e2 h9g7"), START, 0x12, red="甲", black="乙", result=1)
UBB = "[DhtmlXQ_movelist]77471022[/DhtmlXQ_movelist]".encode("gb18030")
CBF = (
    '<?xml version="1.0" encoding="UTF-8"?><ChineseChessRecord Version="1.0"><Head><Red>甲</Red></Head><MoveList>'
    '<Move value="00-00"/><Move value="77-47"/><Move value="70-62" end="1"/></MoveList></ChineseChessRecord>'
).encode()
PGN = '[Game "Chinese Chess"]\n[Red "丙"]\n[Result "紅勝"]\n1. 相三進五 卒７進１ 1-0\n'
GGF = "(;GM[Othello]TY[8]BO[8 ---------------------------O*------*O--------------------------- *]B[d3]W[c5];)"
BIN = struct.pack(">QHHI", 0x463B96181691FC9C, 796, 1, 0) + struct.pack(">QHHI", 0x823C9B50FD114196, 3364, 1, 0)
"""A book with e2e4 in the start position and e7e5 as the answer."""
WTB = wtb_file([(0, 1, 2, 40, 40, "d3 c3"), (0, 1, 2, 40, 40, "c4 c3")])


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """A folder of everything, with what is no game."""
    folder = tmp_path / "mixed"
    (folder / "下").mkdir(parents=True)
    (folder / "a.xqf").write_bytes(XQF)
    (folder / "下" / "b.UBB").write_bytes(UBB)
    (folder / "c.txt").write_bytes(PGN.encode("big5"))
    (folder / "d.wtb").write_bytes(WTB)
    (folder / "d.jou").write_bytes(names_file(["", "Ann", "Bob"], 20))
    (folder / "e.ggf.bz2").write_bytes(bz2.compress(GGF.encode()))
    (folder / "f.epd").write_text(f"{START}\n", "utf-8")
    (folder / "readme.txt").write_text("what is in here\n", "utf-8")
    (folder / "picture.png").write_bytes(bytes(range(256)))
    (folder / ".hidden").write_bytes(XQF[:1100])
    return folder


def zipped(folder: Path) -> Path:
    path = folder.with_suffix(".zip")
    with zipfile.ZipFile(path, "w") as archive:
        for file in sorted(folder.rglob("*")):
            if file.is_file() and not file.name.startswith("."):
                archive.write(file, file.relative_to(folder))
    return path


def read(path: Path, game: str) -> tuple[list[str], list[str]]:
    """Moves of the games, and what was wrong."""
    found = list(read_all(path, Reading(game_named(game))))
    games = [" ".join(move.move for move in entry.moves) for entry in found if isinstance(entry, PortableGame)]
    return games, [str(entry) for entry in found if isinstance(entry, PortableGameError)]


@pytest.mark.parametrize("packed", [False, True])
def test_all_files_of_a_folder_or_zip_file_are_read(mixed: Path, packed: bool) -> None:
    path = zipped(mixed) if packed else mixed
    games, wrong = read(path, "xiangqi")
    assert sorted(games) == ["", "g0e2 g6g5", "h2e2 b9c7", "h2e2 h9g7"]
    assert [error.removeprefix(f"{path}/")[:36] for error in wrong] == [
        "d.wtb: WTHOR holds games of Othello,", "e.ggf.bz2: GGF holds games of Othell",
    ]  # fmt: skip
    games, wrong = read(path, "othello")
    assert games == ["d3 c3", "c4 c3", "d3 c5"]
    assert len(wrong) == 4


def test_a_folder_below_that_cannot_be_read_is_told(
    mixed: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (mixed / "closed").mkdir()
    keep_out(monkeypatch, mixed / "closed")
    games, wrong = read(mixed, "xiangqi")
    assert len(games) == 4
    assert wrong[0] == f"{mixed}/closed: cannot be read: Permission denied"
    assert command_line.main(["openings", "check", str(mixed)]) == 2
    assert capsys.readouterr().err == f"elolab: {wrong[0]}\n"


def test_an_archive_is_known_by_its_content(tmp_path: Path) -> None:
    for name, data in {
        "XQF": XQF, "CBF": CBF, "WTHOR": WTB, "GGF": GGF.encode(), "DhtmlXQ": UBB, "Polyglot": BIN, "PGN": PGN.encode(),
    }.items():  # fmt: skip
        found = format_of(data)
        assert found is not None
        assert found.name == name
        (tmp_path / "games.dat").write_bytes(data)
        assert load_games(tmp_path / "games.dat", found.game or "xiangqi")
    assert {archive.name for archive in FORMATS} == {"XQF", "CBF", "WTHOR", "GGF", "DhtmlXQ", "Polyglot", "PGN"}


def test_archives_are_suites(mixed: Path, tmp_path: Path) -> None:
    suite = load_suite(str(mixed / "d.wtb"), "othello", plies=1)
    assert [(opening.moves, opening.name) for opening in suite.openings] == [(("d3",), "Ann - Bob")]  # c4 mirrors it
    folder = tmp_path / "suite"
    folder.mkdir()
    for name in ("a.xqf", "c.txt", "f.epd", "readme.txt"):
        (mixed / name).rename(folder / name)
    for path in (folder, zipped(folder)):
        openings = load_suite(str(path), "xiangqi", plies=2).openings
        assert sorted(opening.moves for opening in openings) == [(), ("g0e2", "g6g5"), ("h2e2", "h9g7")]
    with pytest.raises(UserError, match=r"d\.wtb: WTHOR holds games of Othello"):
        load_suite(str(mixed / "d.wtb"), "xiangqi")
    with pytest.raises(UserError, match=r"no games in it that elolab can read"):
        load_suite(str(empty(tmp_path)), "xiangqi")


FOREIGN = {
    "games.cbr": b"CCBridge Record\0\0", "othello.wtb": wtb_file([(0, 1, 2, 40, 40, "d3 c3")]), "a.ggf": GGF.encode(),
    "names.jou": names_file(["Ann"], 20), "a.sgf": b"(;FF[4]GM[2]SZ[8];B[dc])", "readme.md": b"# Openings\n",
    "picture.png": b"\x89PNG\r\n\x1a\n", "settings.json": b'{"a": 1}', "page.html": b"<html></html>",
    "a.py": b"print()\n",
}  # fmt: skip


def test_a_folder_of_openings_may_hold_foreign_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.epd").write_text(f"{START}\n", "utf-8")
    for name, data in FOREIGN.items():
        (tmp_path / name).write_bytes(data)
    for path in (tmp_path, zipped(tmp_path)):
        assert command_line.main(["openings", "check", str(path)]) == 0
        assert "1 opening, all legal" in capsys.readouterr().out


REFUSED = {
    "games.cbr": "CCBridge's own format is not read",
    "a.sgf": "SGF is not read",
    "picture.png": "not games",
    "settings.json": "JSON",
    "page.html": "an HTML page",
    "names.jou": "names of WTHOR",
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_refused_file_names_what_it_seems_to_be(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_bytes(FOREIGN[name])
    for words in (["convert"], ["openings", "check"]):
        assert command_line.main([*words, str(tmp_path / name)]) == 2
        printed = capsys.readouterr()
        assert REFUSED[name] in printed.err
        assert printed.err.count("\n") == 1


@pytest.mark.parametrize(("moves", "said"), [
    ("1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. O-O", "SAN of chess"), ("1. e4 e5 2. Nf3 Nc6", "SAN of chess"),
    ("1. f5 d6 2. c3 d3", "Othello"),
    ("1. Che2 Hg7 2. Hc5", "SAN of Xiangqi"), ("1. h2e2 h9g7 2. h2e2", "coordinates of Xiangqi"),
    ("1. C2=5 H8+7 2. C2=5", "WXF of Xiangqi"), ("1. 炮二平五 马8进7 2. 炮二平五", "Chinese notation of Xiangqi"),
])  # fmt: skip
def test_a_refused_game_names_the_notation_that_it_seems_to_be_in(
    moves: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.pgn").write_text(f'[Event "one"]\n\n{moves} *\n', "utf-8")
    assert command_line.main(["convert", str(tmp_path / "a.pgn")]) == 2
    assert f"; the moves look like {said}\n" in capsys.readouterr().err


def test_moves_that_nothing_announces_are_openings_as_they_are_games(tmp_path: Path) -> None:
    for text in ("1. Che2 Hg7 2. Hg2\n", "{a comment} 1. Che2 Hg7 2. Hg2\n", "C2=5 H8+7 H2+3"):
        (tmp_path / "a.txt").write_text(text, "utf-8")
        (opening,) = load_suite(str(tmp_path / "a.txt"), "xiangqi").openings
        assert opening.moves == ("h2e2", "h9g7", "h0g2")


def test_epd_says_how_many_positions_it_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.pgn").write_text("1. h2e2 *\n1. h2e2 *\n1. b2e2 *\n1. h2e2 *\n", "utf-8")
    assert command_line.main(["convert", str(tmp_path / "a.pgn"), "--to", "epd"]) == 0
    printed = capsys.readouterr()
    assert len(printed.out.splitlines()) == 2  # an opening and its mirror image
    assert printed.err == "elolab: 2 positions left out: the same board and side to move came up before\n"


def empty(folder: Path) -> Path:
    (folder / "empty").mkdir()
    (folder / "empty" / "notes.txt").write_text("nothing", "utf-8")
    return folder / "empty"


def test_the_command_names_what_is_wrong_and_writes_the_others(
    mixed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "all.pgn"
    assert command_line.main(["convert", str(mixed), "--out", str(out)]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == error.count("elolab: ") == 2
    assert out.read_text("utf-8").count("[Game ") == 4
    assert '[Red "甲"]' in out.read_text("utf-8")
    assert command_line.main(["convert", str(mixed / "d.wtb"), "--out", str(out)]) == 2
    assert out.read_text("utf-8").count("[Game ") == 4  # nothing could be read: the file stays
    assert command_line.main(["convert", str(empty(tmp_path)), "--out", str(out)]) == 2
    assert "no games or positions in it that elolab can read" in capsys.readouterr().err


def test_the_command_stops_complaining(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.wtb"
    path.write_bytes(wtb_file([(0, 1, 2, 40, 40, "d3 d3")] * 30 + [(0, 1, 2, 40, 40, "d3 c3")]))
    assert command_line.main(["convert", str(path), "--game", "othello"]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 21
    assert lines[-1] == "elolab: and 10 more games that cannot be read"


def test_damaged_and_endless_files_are_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = zipped_bytes(tmp_path)
    monkeypatch.setattr(reading_files, "MAX_BYTES", 1 << 20)
    for name, data, words in [
        ("a.zip", whole[:-30], "the zip file is damaged"),
        ("b.bz2", bz2.compress(bytes(100))[:-5], "the compressed file is damaged"),
        ("c.bz2", bz2.compress(bytes(1 << 21)), "larger than 1 MiB when unpacked"),
        ("d.xqf", bytes((1 << 20) + 1), "larger than 1 MiB; split it"),
        ("e.cbr", b"CCBridge Record\0", "CCBridge's own format is not read"),
    ]:
        (tmp_path / name).write_bytes(data)
        games, wrong = read(tmp_path / name, "xiangqi")
        assert not games
        assert len(wrong) == 1
        assert wrong[0].startswith(f"{tmp_path / name}: ")
        assert words in wrong[0]


def test_damaged_data_in_a_zip_file_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "y.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("a.xqf", bytes(range(256)) * 40)
    data = bytearray(path.read_bytes())
    data[60:120] = bytes(60)
    path.write_bytes(data)
    games, (wrong,) = read(path, "xiangqi")
    assert not games
    assert wrong.startswith(f"{path}/a.xqf: the compressed file is damaged: ")


def zipped_bytes(folder: Path) -> bytes:
    path = folder / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("甲.xqf", XQF)
    return path.read_bytes()


@pytest.mark.parametrize(
    "packing", [COMPRESSED[0], *(pytest.param(one, marks=pytest.mark.integration) for one in COMPRESSED[1:])]
)
def test_a_large_text_is_read_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packing: str) -> None:
    def file_of(name: str, text: str) -> Path:
        path = tmp_path / f"{name}{packing}"
        data = text.encode()
        path.write_bytes(packed(data, path.name) or data)
        return path

    games = "\n".join(f'[Event "{n}"]\n[Red "a"]\n[Result "*"]\n\n1. H2-E2 {{{n}}} H9-G7 *\n' for n in range(60))
    moves = ["h2e2", "h9g7"]
    positions = [game_named("xiangqi").position(None, [*moves[:1], move]).text for move in others(moves[0])]
    pgn, epd = file_of("a.pgn", games), file_of("a.epd", "\n".join(positions))
    whole = [list(read_all(path, Reading(game_named("xiangqi")))) for path in (pgn, epd)]
    suites = [load_suite(str(path), "xiangqi").digest for path in (pgn, epd)]
    monkeypatch.setattr(reading_files, "PART_BYTES", 600)
    assert len(list(sources(pgn))) > 5
    assert len(list(sources(epd))) > 5
    assert [list(read_all(path, Reading(game_named("xiangqi")))) for path in (pgn, epd)] == whole
    pgn.touch()
    epd.touch()
    assert [load_suite(str(path), "xiangqi").digest for path in (pgn, epd)] == suites
    for path, words in [
        (file_of("b.pgn", games.replace("{50} H9-G7", "H9-G8")), f"game 51, line {50 * 6 + 5}: Black's move 1 "),
        (file_of("b.epd", "\n".join([*positions[:20], "9/9/9/9/9/9/9/9/9/9 w"])), "line 21: FEN "),
    ]:
        found = read_all(path, Reading(game_named("xiangqi")))
        (wrong,) = [str(entry) for entry in found if not isinstance(entry, PortableGame)]
        assert wrong.startswith(f"{path}: {words}")


def others(first: str) -> list[str]:
    return game_named("xiangqi").position(None, [first]).legal_moves()


@pytest.mark.integration
@pytest.mark.parametrize("packing", COMPRESSED[1:])
def test_games_before_the_damage_of_a_large_file_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packing: str
) -> None:
    monkeypatch.setattr(reading_files, "PART_BYTES", 600)
    monkeypatch.setattr(reading_files, "_BLOCK_BYTES", 100)
    many = 3000 if packing == ".zst" else 1200  # blocks of .zst have 128 KiB
    text = "\n".join(f'[Event "{hash(str(n))}"]\n[Result "*"]\n\n1. H2-E2 {{{hash(str(-n))}}} *\n' for n in range(many))
    path = tmp_path / f"cut.pgn{packing}"
    data = packed(text.encode(), path.name)
    assert data is not None
    path.write_bytes(data[: len(data) * 2 // 3] if packing != ".bz2" else data[:-9])
    games, (wrong,) = read(path, "xiangqi")
    assert len(games) > 500
    assert set(games) == {"h2e2"}
    assert wrong.startswith(f"{path}: the compressed file is damaged: ")
    with pytest.raises(UserError, match="the compressed file is damaged"):
        load_suite(str(path), "xiangqi")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030", "big5"])
@pytest.mark.parametrize("text", [PGN, '[Red "丁"]\r\n1. 炮二平五 馬8進7\r\n', '[Red "王"]\n1. C2.5 H8+7 *\n'])
def test_texts_in_every_encoding(text: str, encoding: str) -> None:
    assert decode_text(unpacked(text.encode(encoding), "a"), "a") == text.replace("\r", "")


@pytest.mark.parametrize(
    ("words", "result"),
    [("红胜", "1-0"), ("先負", "0-1"), ("雙方和棋", "1/2-1/2"), ("未知", "*"), ("1-0", "1-0"), ("maybe", None)],
)
def test_results_in_words(words: str, result: str | None) -> None:
    assert result_of(words) == result


# Whatever the bytes are, there are games and single lines, and nothing else


def contents() -> Iterator[st.SearchStrategy[bytes]]:
    yield st.binary(max_size=300)
    for data in (XQF, xqf_file(branches("h2e2 h9g7", {1: "注"}), START, 0x0A), WTB, GGF.encode(), UBB, PGN.encode()):
        yield st.builds(changed, st.just(data), st.integers(0, len(data)), st.binary(max_size=6), st.booleans())


def changed(data: bytes, place: int, insertion: bytes, cut: bool) -> bytes:
    return data[:place] + insertion + (b"" if cut else data[place + len(insertion) :])


@pytest.mark.integration
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.one_of(*contents()), st.sampled_from(["xiangqi", "othello"]))
def test_any_bytes_are_games_or_single_lines(data: bytes, game: str) -> None:
    for archive in [*FORMATS, None]:
        source = ArchiveFile("file", data)
        reading = Reading(game_named(game))
        if archive is None:
            found = list(entries(source, reading))
        elif archive.recognises(data) and archive.game in ("", game):
            try:
                found = list(archive.read(source, reading))
            except PortableGameError as error:
                found = [error]
        else:
            continue
        for entry in found:
            if isinstance(entry, PortableGame):
                game_named(game).position(entry.start, [move.move for move in entry.moves])
            else:
                assert "\n" not in str(entry)
                assert str(entry).startswith("file: ")


def test_every_target_is_written_from_an_archive(mixed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for target in (*NOTATIONS, "fen", "epd", "pgn", *TRAINING):
        assert command_line.main(["convert", str(mixed / "a.xqf"), "--to", target]) == 0
        printed = capsys.readouterr()
        assert bool(printed.out) == (target != "plain")
        assert ("no ply is left" in printed.err) == (target == "plain")  # the file has no scores
