"""Tests of the output of a command that is renewed while a run goes on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from elolab.arena.watching import drawing
from elolab.arena.watching.drawing import RenewedOutput
from tests.support.marked_processes import MARK, processes_marked, wait_until

ROOT = Path(__file__).parents[3]


def test_a_finished_run_waits_for_no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "LEAST_PAUSE_SECONDS", 1000)
    output = RenewedOutput([sys.executable, "-c", "print('drawn')"])
    for basis, is_last, count in ((1, False, 1), (2, False, 1), (2, True, 2), (2, True, 2)):
        output.renew(basis, is_last=is_last)
        output.wait()
        assert (output.count, output.text) == (count, "drawn\n")


def test_a_command_that_fails_leaves_the_output_before() -> None:
    output = RenewedOutput([sys.executable, "-c", "print('half'); raise SystemExit(1)"])
    output.renew(1)
    output.wait()
    assert (output.count, output.text) == (0, "")


WATCHER = """
import time
from elolab.arena.watching.drawing import RenewedOutput
from elolab.engine.child_processes import helper_command

outputs = [RenewedOutput(helper_command("endless_drawing")) for _ in range(2)]
for one in outputs:
    one.renew(1)
time.sleep(600)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are found by /proc")
def test_drawings_end_when_the_server_is_killed(tmp_path: Path) -> None:
    (tmp_path / "endless_drawing.py").write_text("import time\ndef main(words):\n    time.sleep(600)\n")
    mark = f"drawings {os.getpid()}"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(tmp_path)]), MARK: mark}
    with subprocess.Popen([sys.executable, "-c", WATCHER], env=environment) as server:
        try:
            assert wait_until(lambda: len(processes_marked(mark)) == 3, 60)
        finally:
            server.kill()
    assert wait_until(lambda: not processes_marked(mark))
