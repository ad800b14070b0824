"""The store: nothing lost, nothing doubled, nothing silently mixed."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from elolab.arena.files import FileError, replace_file
from elolab.arena.play.store import LOCK_NAME, STORE_NAME, FolderLock, Store, StoreError, StoreFailure, is_in_use
from elolab.arena.records import GameRecord, MoveRecord, Opening, Pairing, digest_of, games_digest


def record_of(number: int = 0, score: int | None = 10, key: str = "") -> GameRecord:
    return GameRecord(
        key=key or digest_of(number),
        pairing=Pairing(number, number // 2, 0, 1, 5, 1),
        first="Ann",
        second="Bob",
        opening=Opening("K w", ("a0a1",), "some opening"),
        moves=(
            MoveRecord("h2e2", score, 5, 1000, 0.5),
            MoveRecord("h9g7", None, None, None, 1.25, "h9g7 h0g2"),
            MoveRecord("h0g2", None, None, None, 1.5, "", 1.0),
        ),
        result="1/2-1/2",
        reason="repetition",
        engine_identity="identity1234",
        started_at="2025-01-02T03:04:05Z",
        duration_ms=1.5,
        final_position="k b",
        detail={"overruns": [1, 2]},
    )


def test_the_first_games_of_the_schedule_are_so_by_their_numbers_whatever_their_keys(tmp_path: Path) -> None:
    records = [record_of(number, key=f"{9 - number}") for number in (2, 0, 1)]
    with Store(tmp_path) as store:
        assert all(store.add(record) for record in records)
        assert [outcome.key for outcome in store.outcomes()] == ["9", "8", "7"]
        assert [store.digest(count) for count in (0, 2, 3)] == [
            games_digest(()), games_digest(records[1:]), games_digest(records),
        ]  # fmt: skip


def test_records_come_back_as_they_were_in_schedule_order(tmp_path: Path) -> None:
    records = [record_of(number) for number in (2, 0, 1)]
    with Store(tmp_path / "deep" / "run") as store:
        assert all(store.add(record) for record in records)
    with Store(tmp_path / "deep" / "run", read_only=True) as store:
        assert store.records() == [records[1], records[2], records[0]]
        assert store.keys() == {record.key for record in records}
        assert list(store.iterate([records[0].key, records[1].key, "another"])) == [records[1], records[0]]
        assert list(store.iterate([])) == []
        assert len(store) == 3
        assert store.digest() == games_digest(records)
        assert [(outcome.pairing, outcome.score) for outcome in store.outcomes()] == [
            (record_of(number).pairing, 0.5) for number in range(3)
        ]
        assert store.mean_duration_ms() == 1.5


def test_the_digest_of_a_game_does_not_depend_on_variations_and_reported_times() -> None:
    record = record_of()
    silent = replace(
        record, moves=tuple(move._replace(principal_variation="", reported_ms=None) for move in record.moves)
    )
    assert silent.digest == record.digest


def test_a_reader_without_leave_to_write_sees_the_log_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store(tmp_path) as store:
        store.add(record_of(0))
        monkeypatch.setattr("elolab.arena.play.store.os.access", lambda path, mode: False)
        assert (tmp_path / "games.sqlite-wal").stat().st_size > 0  # the writer has not put it into the file yet
        with Store(tmp_path, read_only=True) as reader:
            assert len(reader) == 1
    with Store(tmp_path, read_only=True) as reader:
        assert len(reader) == 1


def test_the_same_game_again_is_ignored_and_a_different_one_refused(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        assert store.add(record_of())
        later = replace(record_of(), started_at="2026-01-01T00:00:00Z", duration_ms=9.0)
        assert not store.add(later)
        assert store.records() == [record_of()]
        different = record_of(score=11)
        with pytest.raises(StoreError, match="came out different"):
            store.add(different)
        assert not store.add(different, reproducible=False)
        assert not store.add(replace(different, engine_identity="another"))
        assert store.records() == [record_of()]


def test_games_that_come_together_are_stored_together_or_not_at_all(tmp_path: Path) -> None:
    first, second, third = (replace(record_of(number), key=f"{number:032x}") for number in range(3))
    with Store(tmp_path) as store:
        assert store.add_all([(first, True), (second, True), (first, True)]) == [True, True, False]
        other = replace(second, moves=second.moves[:-1])
        with pytest.raises(StoreError, match="came out different"):
            store.add_all([(third, True), (other, True)])
        assert store.keys() == {first.key, second.key, third.key}
        broken = replace(third, key="f" * 32, pairing=None)  # type: ignore[arg-type]
        with pytest.raises(AttributeError):
            store.add_all([(replace(third, key="e" * 32), True), (broken, True)])
        assert len(store) == 3


def test_metadata_and_places(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.add(record_of(0))
        assert store.metadata("name") is None
        place = Pairing(7, 3, 2, 4, 6, 1)
        store.record_metadata({"name": {"a": [1, "ü"]}}, [(record_of(0).key, place), ("none", Pairing(0, 1, 2, 3, 4))])
        assert store.metadata("name") == {"a": [1, "ü"]}
        assert store.records() == [replace(record_of(0), pairing=place)]


def test_finding_by_number_and_by_key(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        for number, key in enumerate(("ab12", "ab34", "1f00")):
            store.add(record_of(number, key=key))
        assert [found.key for found in store.find("1")] == ["ab34"]
        assert [found.key for found in store.find("ab")] == ["ab12", "ab34"]
        assert [found.key for found in store.find("1f")] == ["1f00"]
        assert store.find("12345678901234567890") == store.find("%") == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("PRAGMA user_version = 99", "another version of elolab"),
        ("PRAGMA application_id = 7", "not a file of elolab's"),
    ],
)
def test_files_of_others_are_refused(tmp_path: Path, change: str, words: str) -> None:
    Store(tmp_path).close()
    connection = sqlite3.connect(tmp_path / STORE_NAME)
    connection.execute(change)
    connection.close()
    with pytest.raises(StoreError, match=words):
        Store(tmp_path)
    (tmp_path / STORE_NAME).write_bytes(b"text" * 1000)
    with pytest.raises(StoreError, match=r"damaged, or not a file of elolab's"):
        Store(tmp_path)


def test_folders_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"a file of that name is in the way|Not a directory"):
        Store(tmp_path / "file")
    with pytest.raises(StoreError, match="no games in it"):
        Store(tmp_path / "nothing", read_only=True)
    assert not (tmp_path / "nothing").exists()


def test_one_writer_only(tmp_path: Path) -> None:
    with Store(tmp_path):
        with pytest.raises(StoreError, match=r"in use by another elolab \(process \d+\)"):
            Store(tmp_path)
        Store(tmp_path, read_only=True).close()
    Store(tmp_path).close()


def test_nothing_stays_beside_the_games_at_the_end(tmp_path: Path) -> None:
    with Store(tmp_path) as writer:
        writer.add(record_of(0))
        with Store(tmp_path, read_only=True, glance=True) as reader:
            assert len(reader) == 1
    assert os.listdir(tmp_path) == [STORE_NAME]
    for _ in range(2):
        with Store(tmp_path, read_only=True) as reader:
            reader.records()
        assert os.listdir(tmp_path) == [STORE_NAME]
        with Store(tmp_path) as writer:
            assert len(writer) == 1
        assert os.listdir(tmp_path) == [STORE_NAME]


def test_a_run_may_go_on_while_a_report_reads_its_games(tmp_path: Path) -> None:
    with Store(tmp_path) as writer:
        writer.add_all((record_of(number), True) for number in range(20))

    def go_on() -> int:
        with Store(tmp_path) as writer:
            writer.add(record_of(20))
            return len(writer)

    with Store(tmp_path, read_only=True) as reader, ThreadPoolExecutor(1) as thread:
        reading = reader.iterate()
        next(reading)
        going_on = thread.submit(go_on)
        assert len([*reading]) == 19
        assert going_on.result() == 21


def test_of_many_who_want_a_folder_one_has_it_at_a_time(tmp_path: Path) -> None:
    """Although each removes the lock's file at its end."""
    inside, most = [], []

    def work(number: int) -> int:
        taken = 0
        for _ in range(40):
            try:
                lock = FolderLock(tmp_path / LOCK_NAME)
            except StoreError:
                continue
            inside.append(number)
            most.append(len(inside))
            time.sleep(0.001)
            inside.remove(number)
            lock.release()
            taken += 1
        return taken

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(work, range(4))) > 40
    assert set(most) == {1}
    assert not os.listdir(tmp_path)


def test_who_only_asks_whether_a_folder_is_in_use_keeps_nobody_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    FolderLock(tmp_path / "lock").release()
    answers = iter([False, True])
    monkeypatch.setattr("elolab.arena.play.store._locked", lambda handle: next(answers))
    FolderLock(tmp_path / "lock").release()
    assert next(answers, None) is None


def test_askers_take_no_lock_that_needs_leave_to_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on NFS, which refuses an exclusive lock of a file that is open for reading."""
    flock = fcntl.flock

    def flock_of_nfs(handle: int, operation: int) -> None:
        if operation & fcntl.LOCK_EX and fcntl.fcntl(handle, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        flock(handle, operation)

    monkeypatch.setattr("fcntl.flock", flock_of_nfs)
    with Store(tmp_path):
        assert is_in_use(tmp_path)
    assert not is_in_use(tmp_path)
    (tmp_path / LOCK_NAME).touch()
    asker = os.open(tmp_path / LOCK_NAME, os.O_RDONLY)
    flock(asker, fcntl.LOCK_SH)
    assert not is_in_use(tmp_path)
    os.close(asker)


def test_a_file_system_without_locks_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_flock(handle: int, operation: int) -> None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    (tmp_path / LOCK_NAME).touch()
    monkeypatch.setattr("fcntl.flock", no_flock)
    with pytest.raises(StoreError, match=r"has no locks to keep a second run out .*; give a folder on a local disk"):
        Store(tmp_path)
    assert not is_in_use(tmp_path)


def test_a_snapshot_does_not_see_what_is_added_meanwhile(tmp_path: Path) -> None:
    with Store(tmp_path) as writer, Store(tmp_path, read_only=True) as reader:
        writer.add(record_of(0))
        with reader.snapshot():
            digest = reader.digest()
            writer.add(record_of(1))
            assert (len(reader), len(reader.outcomes()), reader.digest()) == (1, 1, digest)
        assert len(reader) == 2


def test_the_lock_dies_with_its_process(tmp_path: Path) -> None:
    program = (
        "import sys, time; from pathlib import Path; from elolab.arena.play.store import FolderLock\n"
        "lock = FolderLock(Path(sys.argv[1])); print('locked', flush=True); time.sleep(60)"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path / "lock")],
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[3],
    )
    assert child.stdout is not None
    assert child.stdout.readline() == b"locked\n"
    with pytest.raises(StoreError, match=str(child.pid)):
        FolderLock(tmp_path / "lock")
    child.kill()
    child.wait()
    child.stdout.close()
    FolderLock(tmp_path / "lock").release()


def test_a_full_disk_loses_nothing_that_was_stored(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        pages = store.connection.execute("PRAGMA page_count").fetchone()[0]
        store.connection.execute(f"PRAGMA max_page_count = {pages + 12}")
        with pytest.raises(StoreFailure, match=r"the disk is full.*every game stored before is safe"):
            all(store.add(record_of(number)) for number in range(1000))
        stored = len(store)
        assert 0 < stored < 1000
    with Store(tmp_path) as store:
        assert [record.pairing.number for record in store.records()] == list(range(stored))
        assert store.connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert store.add(record_of(stored))
    assert StoreFailure.exit_code == 1


def test_metadata_and_places_change_together_or_not_at_all(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.add(record_of(0))
        with pytest.raises(StoreError, match="cannot be used"):
            store.record_metadata(
                {"name": 1}, [(record_of(0).key, Pairing(7, 3, 2, 4, 6)), (b"", Pairing({}, 1, 2, 3, 4))]
            )
        assert store.metadata("name") is None
        assert store.records() == [record_of(0)]


def test_what_is_no_file_is_written_to_and_a_link_stays(tmp_path: Path) -> None:
    real, link, pipe = tmp_path / "real.txt", tmp_path / "link.txt", tmp_path / "pipe"
    real.write_text("old")
    link.symlink_to(real)
    replace_file(link, "new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    os.mkfifo(pipe)
    heard: list[str] = []
    listener = threading.Thread(target=lambda: heard.append(pipe.read_text()))
    listener.start()
    replace_file(pipe, "words")
    listener.join(10)
    assert heard == ["words"]
    assert pipe.is_fifo()
    with pytest.raises(FileError, match=r"missing/x: cannot be written: No such file"):
        replace_file(tmp_path / "missing" / "x", "")


KILLED_WHILE_WRITING = """
import os, signal, sys
from pathlib import Path
from elolab.arena.files import replace_file

def write(stream):
    stream.write("half")
    stream.flush()
    os.kill(os.getpid(), signal.SIGKILL)

replace_file(Path(sys.argv[1]), write)
"""


def test_what_a_killed_process_left_of_a_file_goes_with_the_next_one(tmp_path: Path) -> None:
    target = tmp_path / "report.md"
    target.write_text("old")
    words = [sys.executable, "-c", KILLED_WHILE_WRITING, str(target)]
    assert subprocess.run(words, cwd=Path(__file__).parents[3], check=False).returncode == -signal.SIGKILL
    (unfinished,) = set(tmp_path.iterdir()) - {target}
    assert (target.read_text(), unfinished.read_text()) == ("old", "half")
    kept = [tmp_path / f".report.md.{os.getpid()}.other", tmp_path / ".report.md.backup", tmp_path / ".report"]
    for path in kept:  # of a process that runs, and files of the user's
        path.touch()
    replace_file(target, "new")
    assert set(tmp_path.iterdir()) == {target, *kept}
    assert target.read_text() == "new"
