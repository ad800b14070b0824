"""Several workers run each test once, and a worker that dies is noticed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
TESTS = """
import os, signal, warnings
import pytest

@pytest.mark.parametrize("number", range(5))
def test_a_name(number, tmp_path):
    with open(LIST, "a") as file:
        file.write(f"{__name__} {number}\\n")

def test_output(capfd):
    os.system("echo spoken")
    assert capfd.readouterr().out == "spoken\\n"
"""
FAILS = """
def test_it_fails():
    print("shown")
    warnings.warn("careful")
    assert os.getpid() == 1
"""
SKIPS = "def test_it_skips(): pytest.skip('a reason')\n"
DIES = "def test_it_dies(): os.kill(os.getpid(), signal.SIGKILL)\ndef test_it_comes_too_late(): pass\n"


def run(folder: Path, files: dict[str, str], *words: str) -> str:
    """What pytest prints about these files of tests; ``list`` in the folder gets the name of each one that is run."""
    for name, more in files.items():
        (folder / f"test_{name}.py").write_text(f"LIST = {str(folder / 'list')!r}\n{TESTS}{more}")
    command = [sys.executable, "-m", "pytest", "-q", "-ra", "-p", "tests.support.forked_workers", *words, str(folder)]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
    assert not done.stderr
    return done.stdout


def test_each_test_is_run_once_and_all_that_it_says_arrives(tmp_path: Path) -> None:
    names = [f"file{number}" for number in range(6)]
    printed = run(tmp_path, dict.fromkeys(names, "") | {"fails": FAILS, "skips": SKIPS}, "--workers", "3")
    expected = [f"test_{name} {number}" for name in (*names, "fails", "skips") for number in range(5)]
    assert sorted((tmp_path / "list").read_text().splitlines()) == sorted(expected)
    assert "1 failed, 48 passed, 1 skipped, 1 warning in" in printed
    for said in ("shown", "UserWarning: careful", "a reason", "FAILED test_fails.py::test_it_fails"):
        assert said in printed


def test_a_test_whose_worker_dies_has_failed_and_so_have_those_after_it(tmp_path: Path) -> None:
    printed = run(tmp_path, {"dies": DIES, "other": ""}, "--workers", "2")
    assert "2 failed, 12 passed in" in printed
    assert re.findall(r"FAILED test_dies.py::(\w+)", printed) == ["test_it_dies", "test_it_comes_too_late"]


def test_the_first_failure_ends_all_workers(tmp_path: Path) -> None:
    printed = run(tmp_path, dict.fromkeys(("one", "other"), FAILS + "import time\ndef test_end(): time.sleep(600)\n"),
                  "--workers", "2", "-x")  # fmt: skip
    assert "stopping after 1 failures" in printed
