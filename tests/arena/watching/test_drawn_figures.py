"""Tests of the figures that are drawn now and then of a run that is followed."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from arena.watching.figures import DrawnFigures


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
