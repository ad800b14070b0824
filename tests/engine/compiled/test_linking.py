"""What becomes machine code, what the cache keeps, and numba's own way, each in processes of their own."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from numba.core.compiler import Flags
from numba.core.targetconfig import TargetConfig

from elolab.engine.compiled import linking

ROOT = Path(__file__).parents[3]
PROGRAM = ROOT / "tests" / "support" / "linked_functions.py"
TOP = 100 * (1 + 2 + 3 + 4) + 4


def run(cache: Path, *names: str, **settings: str) -> dict[str, Any]:
    """What the program prints for these calls."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "ELOLAB_"))}
    environment = {**inherited, "PYTHONPATH": str(ROOT), "NUMBA_CACHE_DIR": str(cache), **settings}
    command = [sys.executable, str(PROGRAM), *names]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def kept(cache: Path) -> set[str]:
    """Functions with code in the cache."""
    return {path.name.split(".")[1].split("-")[0] for path in cache.rglob("*.nbc")}


@pytest.fixture(scope="module")
def with_top(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """A cache, and what the first process printed that used it, which called ``top``."""
    cache = tmp_path_factory.mktemp("cache")
    return cache, run(cache, "top")


@pytest.mark.integration
def test_only_what_python_calls_is_machine_code_and_kept(with_top: tuple[Path, dict[str, Any]]) -> None:
    cache, first = with_top
    assert first["deferred"]
    assert first["values"] == [TOP]
    assert first["machine code"] == ["top"]
    assert kept(cache) == {"top"}
    again = run(cache, "top", "failing top")
    assert again["values"] == [TOP, "less than nothing"]
    assert again["compiled"] == {"bottom": 0, "middle": 0, "top": 0}
    assert again["loaded"]["top"] == 1


@pytest.mark.integration
def test_a_function_compiled_for_a_caller_is_called_from_python_too(tmp_path: Path) -> None:
    found = run(tmp_path, "top", "bottom", "failing bottom", "middle", "failing middle", "failing top", "top")
    assert found["values"] == [TOP, 4, *["less than nothing"], 10, *["less than nothing"] * 2, TOP]
    assert found["compiled"] == {"bottom": 1, "middle": 1, "top": 1}
    assert kept(tmp_path) == {"bottom", "middle", "top"}
    again = run(tmp_path, "bottom", "top", "middle", "failing bottom")
    assert again["values"] == [4, TOP, 10, "less than nothing"]
    assert not any(again["compiled"].values())


@pytest.mark.integration
def test_a_caller_of_what_was_loaded_compiles_it_again(tmp_path: Path) -> None:
    run(tmp_path, "bottom", "middle")
    found = run(tmp_path, "bottom", "middle", "top", "failing top", "failing bottom", "bottom")
    assert found["values"] == [4, 10, TOP, *["less than nothing"] * 2, 4]
    assert found["loaded"] == {"bottom": 1, "middle": 1, "top": 0}
    assert found["compiled"] == {"bottom": 1, "middle": 1, "top": 1}


@pytest.mark.integration
def test_numba_goes_its_own_way_when_asked_to_and_in_a_cache_of_its_own(
    with_top: tuple[Path, dict[str, Any]],
) -> None:
    cache, _ = with_top
    assert len(list(cache.glob("kernels-*"))) == 1
    for process in range(2):
        found = run(cache, "top", "bottom", "failing middle", ELOLAB_LINKING="numba")
        assert not found["deferred"]
        assert found["values"] == [TOP, 4, "less than nothing"]
        assert found["compiled"]["top"] == 1 - process
    assert len(list(cache.glob("kernels-*"))) == 2


def test_another_numba_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    replaced = linking.JITCPUCodegen._library_class
    for version, reason in (("0.69.0", "version"), ("0.68.1", "already replaced")):
        monkeypatch.setattr(linking.numba, "__version__", version)
        assert not linking.patch_numba(), reason
    monkeypatch.setattr(linking.JITCPUCodegen, "_library_class", linking.JITCodeLibrary)
    monkeypatch.delattr(linking.JITCPUCodegen, "set_env")
    assert not linking.patch_numba()
    assert linking.JITCPUCodegen._library_class is linking.JITCodeLibrary is not replaced


def test_flags_have_the_values_that_numba_gives_them() -> None:
    for settings in ({}, {"nrt": True}, {"forceinline": True, "error_model": "numpy", "release_gil": True}):
        flags = Flags()
        for name, value in settings.items():
            setattr(flags, name, value)
        assert TargetConfig.values(flags) == {name: getattr(flags, name) for name in flags.options}
        assert list(TargetConfig.values(flags)) == list(flags.options)


def test_compiling_leaves_garbage_collection_as_it_was() -> None:
    before = gc.get_threshold()
    with linking.rare_garbage_collection():
        assert gc.get_threshold()[0] > before[0]
    assert gc.get_threshold() == before
