"""Tests of the figures that are drawn now and then of a run that is followed."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from elolab.arena.watching.figures import DrawnFigures
from tests.support.marked_processes import MARK, processes_marked, wait_until

ROOT = Path(__file__).parents[3]


def test_a_run_that_is_over_is_drawn_at_once_however_long_the_last_drawing_took(tmp_path: Path) -> None:
    drawn = '{"html": "x", "seconds": 100}'

    async def follow() -> None:
        figures = DrawnFigures([sys.executable, "-c", f"print({drawn!r})"], tmp_path, "en")

        async def wait_for(drawing: int) -> None:
            async with asyncio.timeout(60):
                while figures.drawing < drawing:
                    await asyncio.sleep(0.01)

        figures.renew((1, True), is_running=True)
        await wait_for(1)
        await figures.close()
        figures.renew((2, True), is_running=True)  # not for a long time yet
        figures.renew((2, False), is_running=False)
        await wait_for(2)
        await figures.close()
        figures.renew((2, False), is_running=False)  # nothing has changed
        assert figures.drawing == 2

    asyncio.run(follow())


WATCHER = """
import asyncio, sys
from pathlib import Path
from elolab.arena.watching.figures import DrawnFigures
from elolab.engine.child_processes import helper_command

async def draw():
    figures = [DrawnFigures(helper_command("endless_drawing"), Path(), language) for language in ("en", "zh")]
    for one in figures:
        one.renew(1, is_running=False)
    await asyncio.sleep(600)

asyncio.run(draw())
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
