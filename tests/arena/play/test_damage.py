"""Files in which bits have changed: what is read is what was written, or one line says that it is not."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from elolab.arena.play.store import STORE_NAME, DamagedStore, Store, StoreError
from elolab.arena.records import GameRecord, MoveRecord, Opening, Pairing, digest_of

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
            assert "restore it from a copy" in complaint or "not a file of elolab's" in complaint
            with pytest.raises(StoreError):
                Store(folder)
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
def test_a_game_that_was_changed_is_noticed(statement: str, damaged: Callable[[str], None], tmp_path: Path) -> None:
    damaged(statement)
    before = (tmp_path / STORE_NAME).read_bytes()
    for read_only in (True, False):
        with pytest.raises(DamagedStore, match=rf"damaged \(checksum of the game {RECORDS[7].key}\)"):
            Store(tmp_path, read_only=read_only)
    assert (tmp_path / STORE_NAME).read_bytes() == before
    assert DamagedStore.exit_code == 1


def test_what_the_games_belong_to_must_be_whole(damaged: Callable[[str], None], tmp_path: Path) -> None:
    damaged("UPDATE facts SET value = replace(value, '1', '3')")
    with pytest.raises(DamagedStore, match=r"checksum of the entry tournament.*restore it from a copy"):
        Store(tmp_path)


def test_places_and_entries_that_were_changed_by_us_are_whole(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.add(RECORDS[0])
        store.record_metadata({"name": 1})
        store.record_metadata({"name": "ü"}, [(RECORDS[0].key, Pairing(9, 4, 1, 0, 2, 3, "playoff"))])
    with Store(tmp_path, read_only=True) as store:
        assert store.records() == [replace(RECORDS[0], pairing=Pairing(9, 4, 1, 0, 2, 3, "playoff"))]
