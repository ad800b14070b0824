"""Compiled code on disk: damage is noticed before anything runs, and nothing half-written is ever seen."""

from __future__ import annotations

import errno
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from elolab.engine.compiled import cache
from elolab.engine.compiled.cache import CACHE_DIRECTORY, CodeFiles, read_kept, write_kept
from elolab.engine.compiled.identity import engine_identity

ROOT = Path(__file__).parents[3]
KEY = (("int64", "float64"), ("x86_64", "some processor", ""), ("0" * 64, "1" * 64))
STAMP = b"digest of the source"
DATA = {"machine code": bytes(range(256)) * 20, "names": ["one", "two"]}
TIMEOUT_SECONDS = 300


@pytest.fixture
def files(tmp_path: Path) -> CodeFiles:
    """Those of a function, with code under ``KEY``."""
    cache.report_damaged.cache_clear()
    kept = CodeFiles(str(tmp_path), "module.function-7.py311", STAMP)
    kept.save(KEY, DATA)
    return kept


def only_file(folder: Path) -> Path:
    (path,) = folder.iterdir()
    return path


def cut(content: bytes, chance: random.Random) -> bytes:
    return content[: chance.randrange(len(content))]


def flipped(content: bytes, chance: random.Random) -> bytes:
    place = chance.randrange(len(content))
    return content[:place] + bytes([content[place] ^ 1 << chance.randrange(8)]) + content[place + 1 :]


def emptied(content: bytes, chance: random.Random) -> bytes:
    return b""


def zeroed(content: bytes, chance: random.Random) -> bytes:
    return bytes(len(content))


def lengthened(content: bytes, chance: random.Random) -> bytes:
    return content + b"\0"


@pytest.mark.parametrize("damage", [cut, flipped, emptied, zeroed, lengthened])
def test_damaged_code_is_not_loaded_but_removed(
    damage: Callable[[bytes, random.Random], bytes], files: CodeFiles, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    path = only_file(tmp_path)
    sound, chance = path.read_bytes(), random.Random(5)
    for _ in range(40):
        path.write_bytes(damage(sound, chance))
        assert files.load(KEY) is None
        assert not path.exists()
    assert capsys.readouterr().err.count("has damaged files") == 1
    files.save(KEY, DATA)
    assert only_file(tmp_path).read_bytes() == sound
    assert files.load(KEY) == DATA


def test_code_of_other_types_or_of_another_source_is_not_loaded(files: CodeFiles, tmp_path: Path) -> None:
    assert files.load(((*KEY[0], "int8"), *KEY[1:])) is None
    edited = CodeFiles(str(tmp_path), "module.function-7.py311", b"another")
    assert edited.load(KEY) is None
    edited.save(KEY, "edited")
    assert edited.load(KEY) == "edited"
    assert files.load(KEY) is None


def test_forgetting_a_function_leaves_others(files: CodeFiles, tmp_path: Path) -> None:
    other = CodeFiles(str(tmp_path), "module.function-70.py311", STAMP)
    other.save(KEY, "other")
    files.flush()
    assert files.load(KEY) is None
    assert other.load(KEY) == "other"


def test_a_file_is_replaced_as_a_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "kept"
    write_kept(path, b"old")

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space left"):
            write_kept(path, b"new")
    assert [only_file(tmp_path), bytes(read_kept(path) or b"")] == [path, b"old"]


def test_what_is_no_file_counts_as_missing(tmp_path: Path) -> None:
    assert read_kept(tmp_path) is None
    assert read_kept(tmp_path / "missing") is None


@pytest.mark.integration
def test_a_command_whose_code_is_damaged_compiles_that_again(tmp_path: Path) -> None:
    """Short functions, and the identity: with all of them it would take a minute."""
    engine_identity()  # keeps the identity in the cache, if no command has
    copied = tmp_path / "elolab" / CACHE_DIRECTORY.name
    shutil.copytree(CACHE_DIRECTORY, copied)
    chance = random.Random(3)
    paths = [*copied.rglob("table.*.nbc"), *copied.rglob("clock.*.nbc"), copied / "identity"]
    assert len(paths) > 4
    for number, path in enumerate(paths):
        path.write_bytes((cut, flipped, emptied)[number % 3](path.read_bytes(), chance))

    def said() -> tuple[int, str, str]:
        done = subprocess.run(
            [sys.executable, str(ROOT / "elolab"), "match", "default", "no-quiescence", "--pairs", "1", "--limit",
             "nodes=20", "--out", str(tmp_path / "run"), "--json"],
            env={**os.environ, "XDG_CACHE_HOME": str(tmp_path)}, cwd=tmp_path, capture_output=True, text=True,
            timeout=TIMEOUT_SECONDS,
        )  # fmt: skip
        shutil.rmtree(tmp_path / "run")
        return done.returncode, done.stdout, done.stderr

    code, _, errors = said()
    assert code == 0, errors
    assert errors.count("has damaged files; their functions are compiled again") == 1
    assert "Traceback" not in errors
    code, _, errors = said()
    assert code == 0, errors
    assert "damaged" not in errors
