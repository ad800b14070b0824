"""Files in which bits have changed: what is read is what was written, or one line says that it is not."""

from __future__ import annotations

import errno
import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from elolab.arena.play.store import STORE_NAME, DamagedStore, Store, StoreError, StoreFailure
from elolab.arena.records import GameRecord, MoveRecord, Opening, Pairing, digest_of
from elolab.arena.run import Purpose, Run, RunError

GAMES = 12
CONTENT = {"seed": 1, "limit": "nodes=10"}


def record_of(number: int) -> GameRecord:
    moves = tuple(MoveRecord("h2e2", ply, 5, 1000 + ply, 0.5) for ply in range(200 if number % 3 else 10))
    return GameRecord(
        key=digest_of(number), pairing=Pairing(number, number // 2, 0, 1, 5), first="Ann", second="Bob",
        opening=Opening("K w", ("a0a1",), "an opening"), moves=moves, result="1-0", reason="checkmate",
        engine_identity="identity1234", started_at="2025-01-02T03:04:05Z",
    )  # fmt: skip


RECORDS = [record_of(number) for number in range(GAMES)]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The file of a run of games."""
    folder = tmp_path_factory.mktemp("whole")
    with Store(folder) as store:
        store.record_metadata({"tournament": CONTENT})
        for record in RECORDS:
            store.add(record)
    return (folder / STORE_NAME).read_bytes()


@pytest.fixture
def damaged(whole: bytes, tmp_path: Path) -> Callable[[str], None]:
    """Changes a row of that file by an SQL statement, as if bits had changed."""

    def change(statement: str) -> None:
        (tmp_path / STORE_NAME).write_bytes(whole)
        connection = sqlite3.connect(tmp_path / STORE_NAME)
        with connection:
            connection.execute(statement)
        connection.close()

    return change


def read(folder: Path) -> str:
    """What keeps the games from being read; empty if they are read, and then they are those that were written."""
    try:
        with Store(folder, read_only=True) as store:
            assert (store.records(), store.metadata("tournament")) == (RECORDS, CONTENT)
    except StoreError as error:
        return str(error)
    return ""


def repaired(folder: Path) -> str:
    """The same of somebody who goes on with the run; what was saved is of what was written, and can be added to."""
    saved: list[int] = []
    try:
        with Store(folder, repaired=lambda games, copy: saved.append(games)) as store:
            kept = store.records()
            assert store.metadata("tournament") == CONTENT
            assert kept == [record for record in RECORDS if record in kept]
            assert len(kept) == (saved[0] if saved else GAMES)
            assert {store.add(record) for record in RECORDS if record not in kept} <= {True}
    except StoreError as error:
        return str(error)
    assert read(folder) == ""
    return ""


@pytest.mark.parametrize(("bits", "attempts"), [(1, 20), (8, 5), (100, 10)])
def test_flipped_bits_never_give_other_games(bits: int, attempts: int, whole: bytes, tmp_path: Path) -> None:
    chance = random.Random(bits)
    noticed = 0
    for attempt in range(attempts):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        content = bytearray(whole)
        for _ in range(bits):
            content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        (folder / STORE_NAME).write_bytes(content)
        if complaint := read(folder):
            noticed += 1
            assert complaint.startswith(f"{folder / STORE_NAME}: ")
            assert "\n" not in complaint
        if complaint := repaired(folder):
            assert "give another folder" in complaint
            assert (folder / STORE_NAME).read_bytes() == bytes(content)
    assert noticed > attempts / 2


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE games SET result = '0-1' WHERE number = 7",
        "UPDATE games SET moves = replace(moves, '1003', '1007') WHERE number = 7",
        "UPDATE games SET second_index = 0 WHERE number = 7",
        "UPDATE games SET series = 'playoff' WHERE number = 7",
        "UPDATE games SET first = x'ff' WHERE number = 7",
        "UPDATE games SET detail = '{\"exact_score\": 4}' WHERE number = 7",
    ],
)
def test_a_game_that_was_changed_is_noticed_and_left_out(
    statement: str, damaged: Callable[[str], None], tmp_path: Path
) -> None:
    damaged(statement)
    before = (tmp_path / STORE_NAME).read_bytes()
    for read_only in (True, False):
        with pytest.raises(DamagedStore, match=rf"damaged \(checksum of the game {RECORDS[7].key}\)"):
            Store(tmp_path, read_only=read_only)
    told: list[tuple[int, str]] = []
    with Store(tmp_path, repaired=lambda games, copy: told.append((games, copy))) as store:
        assert store.records() == RECORDS[:7] + RECORDS[8:]
    assert told == [(GAMES - 1, "games-damaged-1.sqlite")]
    assert (tmp_path / "games-damaged-1.sqlite").read_bytes() == before
    assert DamagedStore.exit_code == 1


def test_what_the_games_belong_to_must_be_whole(damaged: Callable[[str], None], tmp_path: Path) -> None:
    damaged("UPDATE facts SET value = replace(value, '1', '3')")
    with pytest.raises(DamagedStore, match=r"checksum of the entry tournament.*give another folder"):
        Store(tmp_path, repaired=lambda games, copy: None)
    assert not list(tmp_path.glob("*damaged*"))


@pytest.mark.parametrize("full", ["elolab.arena.play.damage._copy", "elolab.arena.play.damage._save"])
def test_a_damaged_file_stays_as_it_is_where_there_is_no_room_to_save_it(
    full: str, damaged: Callable[[str], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(source: object, target: sqlite3.Connection | Path) -> None:
        if isinstance(target, Path):
            target.write_bytes(b"the beginning")
            raise OSError(errno.ENOSPC, "No space left on device")
        target.execute(f"PRAGMA max_page_count = {target.execute('PRAGMA page_count').fetchone()[0]}")
        target.execute("CREATE TABLE more (column)")

    damaged("UPDATE games SET result = '0-1' WHERE number = 7")
    before = (tmp_path / STORE_NAME).read_bytes()
    monkeypatch.setattr(full, fail)
    with pytest.raises(StoreFailure, match=r"damaged \(.*\), and cannot be saved: (the disk is full|No space left)"):
        Store(tmp_path, repaired=lambda games, copy: None)
    assert (tmp_path / STORE_NAME).read_bytes() == before
    assert not [path for path in tmp_path.iterdir() if "damaged" in path.name or "new" in path.name]


def test_a_repair_that_is_cut_short_loses_nothing_of_the_log(
    whole: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log of a run that was killed is still beside the file if somebody looks on, as ``elolab watch`` does."""

    def cut_short(source: object, target: object) -> None:
        raise KeyboardInterrupt

    later = [record_of(number) for number in range(GAMES, GAMES + 3)]
    (played := tmp_path / "played").mkdir()
    (played / STORE_NAME).write_bytes(whole)
    with Store(played) as store:
        assert all(map(store.add, later))
        for name in (STORE_NAME, f"{STORE_NAME}-wal"):
            shutil.copyfile(played / name, tmp_path / name)
    file, log = tmp_path / STORE_NAME, tmp_path / f"{STORE_NAME}-wal"
    file.write_bytes(whole.replace(b"1007", b"1003"))
    with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as reader, monkeypatch.context() as patch:
        reader.execute("SELECT count(*) FROM games").fetchone()
        patch.setattr("os.replace", cut_short)
        with pytest.raises(KeyboardInterrupt):
            Store(tmp_path, repaired=lambda games, copy: None)
        assert not log.exists()
    with Store(tmp_path, repaired=lambda games, copy: None) as store:
        kept = store.records()
    assert 0 < len(kept) < GAMES + 3
    assert kept[-3:] == later


def test_places_and_entries_that_were_changed_by_us_are_whole(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.add(RECORDS[0])
        store.record_metadata({"name": 1})
        store.record_metadata({"name": "ü"}, [(RECORDS[0].key, Pairing(9, 4, 1, 0, 2, 3, "playoff"))])
    with Store(tmp_path, read_only=True) as store:
        assert store.records() == [replace(RECORDS[0], pairing=Pairing(9, 4, 1, 0, 2, 3, "playoff"))]


def test_a_run_says_what_it_saved_and_what_is_left_to_play(
    damaged: Callable[[str], None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    damaged("UPDATE games SET result = '0-1' WHERE number < 2")
    purpose = Purpose("tournament", CONTENT, "mine.toml")
    with Run(tmp_path, purpose, accept_engine_change=True) as run:
        assert run.scores.keys() == {record.key for record in RECORDS[2:]}
    said = capsys.readouterr().err
    assert f"elolab: {tmp_path}: the games were damaged; 10 are whole and kept" in said
    damaged("UPDATE games SET result = '0-1' WHERE number < 2")
    with pytest.raises(RunError, match="holds another tournament"):
        Run(tmp_path, replace(purpose, content={"seed": 2}), accept_engine_change=True).__enter__()
    assert "games-damaged-2.sqlite is the file as it was" in capsys.readouterr().err
