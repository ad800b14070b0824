"""Helper processes: they end with whoever started them, also while siblings of theirs go on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from elolab.engine.child_processes import EXIT_ORPHANED, helper_command, start_helper
from tests.support.marked_processes import MARK, processes_marked, wait_until

ROOT = Path(__file__).parents[2]
PARENT = """
import sys, time
from elolab.engine.child_processes import helper_command, start_helper
helpers = [start_helper(helper_command("sleeping_helper")) for _ in range(3)]
for helper in helpers:
    print(helper.stdout.readline(), end="", flush=True)
time.sleep(600)
"""
"""Starts three helpers, tells that each is there, and goes on."""
SLEEPER = """
import time
def main(words):
    print("ready", *words, flush=True)
    time.sleep(600)
"""

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are found by /proc")


@linux
def test_helpers_end_with_their_parent(tmp_path: Path) -> None:
    (tmp_path / "sleeping_helper.py").write_text(SLEEPER)
    mark = f"helpers {os.getpid()}"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(tmp_path)]), MARK: mark}
    parent = subprocess.Popen([sys.executable, "-c", PARENT], env=environment, stdout=subprocess.PIPE, text=True)
    with parent:
        assert parent.stdout is not None
        assert [parent.stdout.readline() for _ in range(3)] == ["ready\n"] * 3
        assert len(processes_marked(mark)) == 4
        parent.kill()
        parent.wait()
        assert wait_until(lambda: not processes_marked(mark))


def test_a_helper_ends_when_its_input_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sleeping_helper.py").write_text(SLEEPER)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    with start_helper(helper_command("sleeping_helper", ["a word", "'"])) as helper:
        assert helper.stdout is not None
        assert helper.stdout.readline() == "ready a word '\n"
    assert helper.returncode == EXIT_ORPHANED


@pytest.mark.integration
@linux
def test_killing_the_compilation_leaves_nothing_behind(tmp_path: Path) -> None:
    mark = f"compile {os.getpid()}"
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), MARK: mark}
    command = [sys.executable, str(ROOT / "elolab"), "compile"]
    process = subprocess.Popen(command, env=environment, cwd=tmp_path, stderr=subprocess.PIPE, start_new_session=True)
    with process:
        assert wait_until(lambda: len(processes_marked(mark)) >= 3, 60), "it and a helper for each game"
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert wait_until(lambda: not processes_marked(mark))
