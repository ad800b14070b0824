"""Reports of more games than one page takes: chunks beside it, loaded by the browser, replaced as a whole."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from elolab.arena.files import FileError
from elolab.arena.play.store import Store
from elolab.arena.records import GameRecord
from elolab.arena.reports import packed_games
from elolab.arena.reports.packed_games import GAMES_FOLDER, GamePacker
from tests.arena.reports.test_report import NAMES, acted, body_of, game, loaded, sample, specification, unpacked
from tests.support.browser import Browser
from tests.support.report_files import chunk_of, write_report

pytestmark = pytest.mark.usefixtures("without_charts")


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few games fill a chunk, and no page takes one."""
    monkeypatch.setattr(packed_games, "CHUNK_MOVES", 8)
    monkeypatch.setattr(packed_games, "MAX_EMBEDDED", 100)


def index_of(page: Path) -> dict:
    """The index of a page's games, read independently of the page."""
    found = re.search(r'id="index">(.*?)</script>', page.read_text("utf-8"))
    assert found
    return json.loads(zlib.decompress(base64.b64decode(found.group(1))))


def chunk_in(path: Path) -> bytes:
    """The data of a chunk's file."""
    found = re.fullmatch(rf'receiveChunk\("{path.stem}", "([\w+/=]+)"\);\n', path.read_text("ascii"))
    assert found
    return zlib.decompress(base64.b64decode(found.group(1)))


@pytest.mark.usefixtures("small_chunks")
def test_chunks_have_every_game_once_and_the_page_none(tmp_path: Path) -> None:
    records = sample()
    page = write_report(tmp_path, specification(), records, planned_games=12)
    index = index_of(page)
    files = sorted((tmp_path / GAMES_FOLDER).iterdir())
    assert [f"{chunk['name']}.js" for chunk in index["chunks"]] == [path.name for path in files]
    assert len(files) > 2
    start = 0
    for chunk, path in zip(index["chunks"], files, strict=True):
        own = records[start : start + chunk["games"]]
        assert chunk_in(path) == chunk_of(own, "xiangqi")
        header, _ = unpacked(chunk_in(path))
        assert header["games"]["plies"] == index["games"]["plies"][start : start + chunk["games"]]
        start += chunk["games"]
    assert start == len(records) == len(index["games"]["number"])
    assert [index["reasons"][place] for place in index["games"]["reason"]] == [record.reason for record in records]
    assert 'class="chunk"' not in page.read_text("utf-8")


@pytest.mark.usefixtures("small_chunks")
def test_a_game_of_a_chunk_is_replayed_from_a_file(tmp_path: Path, browser: Browser) -> None:
    page = write_report(tmp_path, specification(), sample(), planned_games=12)
    seen = """[element("replay-title").textContent, replay.entries.map((entry) => entry.move).join(" "),
        element("failure").hidden, element("replay").hasAttribute("aria-busy")]"""
    last = len(sample()) - 1
    script = f"""element("filter-number").value = "{last}"; list.filter();
        element("filter-number").dispatchEvent(new KeyboardEvent("keydown", {{ key: "Enter" }}));"""
    document = acted(browser, page, script)
    heading, moves, is_fine, is_busy = browser.value(seen)
    record = sample()[-1]
    assert heading.startswith(f"Game {record.pairing.number}: {record.first} – {record.second}")
    assert moves == " ".join([*record.opening.moves, *(entry.move for entry in record.moves)])
    assert is_fine
    assert not is_busy
    assert body_of(document, "game-list").count("<tr") == 1


@pytest.mark.usefixtures("small_chunks")
def test_a_page_without_its_folder_says_what_is_missing(tmp_path: Path, browser: Browser) -> None:
    page = write_report(tmp_path, specification(), sample(), planned_games=12)
    (tmp_path / GAMES_FOLDER).rename(tmp_path / "elsewhere")
    document = loaded(browser, page, "#game=0&ply=0")
    assert re.search(r'<p id="failure" role="alert">[^<]*report-games/0001-\w{12}\.js next to this page', document)


@pytest.mark.usefixtures("small_chunks")
def test_chunks_of_an_earlier_report_go_with_its_page(tmp_path: Path) -> None:
    page = write_report(tmp_path, specification(), sample(), planned_games=12)
    kept = {path.name: path.stat().st_mtime_ns for path in (tmp_path / GAMES_FOLDER).iterdir()}
    page = write_report(tmp_path, specification(), sample()[:-1], planned_games=12)
    now = {path.name: path.stat().st_mtime_ns for path in (tmp_path / GAMES_FOLDER).iterdir()}
    assert sorted(now) == [f"{chunk['name']}.js" for chunk in index_of(page)["chunks"]]
    same = now.keys() & kept.keys()
    assert same
    assert kept.keys() - now.keys()
    assert all(now[name] == kept[name] for name in same)  # what is there as it should be is not written again


@pytest.mark.usefixtures("small_chunks")
def test_an_interrupted_report_leaves_the_one_before_usable(tmp_path: Path) -> None:
    page = write_report(tmp_path, specification(), sample(), planned_games=12)
    before = page.read_bytes()

    def interrupted() -> Iterator[GameRecord]:
        yield from (replace(record, key="f" * 32) for record in sample())
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_report(tmp_path, specification(), interrupted(), planned_games=12)
    assert page.read_bytes() == before
    names = {path.name for path in (tmp_path / GAMES_FOLDER).iterdir()}
    assert names > {f"{chunk['name']}.js" for chunk in index_of(page)["chunks"]}
    write_report(tmp_path, specification(), sample(), planned_games=12)
    assert {path.name for path in (tmp_path / GAMES_FOLDER).iterdir()} < names


def test_a_page_that_takes_all_games_again_has_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as limits:
        limits.setattr(packed_games, "MAX_EMBEDDED", 100)
        write_report(tmp_path, specification(), sample(), planned_games=12)
    assert (tmp_path / GAMES_FOLDER).is_dir()
    page = write_report(tmp_path, specification(), sample(), planned_games=12)
    assert not (tmp_path / GAMES_FOLDER).exists()
    assert 'class="chunk"' in page.read_text("utf-8")


@pytest.mark.usefixtures("small_chunks")
def test_chunks_that_cannot_be_written_are_said(tmp_path: Path) -> None:
    (tmp_path / GAMES_FOLDER).write_text("in the way")
    with pytest.raises(FileError, match=f"{GAMES_FOLDER}: cannot be made"):
        write_report(tmp_path, specification(), sample(), planned_games=12)


def test_packing_keeps_no_more_than_a_chunk_of_moves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed_games, "CHUNK_MOVES", 40)
    record = sample()[0]
    most = 0
    packer = GamePacker(NAMES, tmp_path, "xiangqi", "en")
    for _ in range(3000):
        packer.add(record)
        most = max(most, packer._chunk.moves)
    packed = packer.packed()
    assert packed.games == 3000
    assert most < 40


def test_figures_do_not_depend_on_how_games_come(tmp_path: Path) -> None:
    """A list, and a store that is read game by game, give the same files but for the page's times of writing."""
    records = [game(number, 0, 1, number // 2, "1-0", "checkmate") for number in range(6)]
    with Store(tmp_path / "stored") as store:
        for record in reversed(records):
            store.add(record)
        read = write_report(tmp_path / "stored", specification(), store.iterate(), planned_games=6)
    (tmp_path / "listed").mkdir()
    listed = write_report(tmp_path / "listed", specification(), records, planned_games=6)
    for path in sorted(path for path in listed.parent.rglob("*") if path.is_file()):
        assert (read.parent / path.relative_to(listed.parent)).read_bytes() == path.read_bytes(), path.name
