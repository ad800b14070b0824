"""Expensive figures of a run, drawn by a separate process, and only while there are viewers.

They are drawn rarely while games are played, at once for a finished run.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

LEAST_PAUSE_SECONDS = 20.0
PAUSE_FACTOR = 60
"""Least pause between drawings, as a multiple of the last one's processor time."""


class DrawnFigures:
    """The figures that a command writes for a folder in one language, as JSON with its processor time ``seconds``."""

    def __init__(self, command: Sequence[str], folder: Path, language: str) -> None:
        self._command = (*command, str(folder), language)
        self.data: dict[str, Any] | None = None
        """The latest figures; ``None`` before the first."""
        self.drawing = 0
        """Number of drawings begun."""
        self._basis: object = None
        self._next = 0.0
        self._task: asyncio.Task[None] | None = None

    def renew(self, basis: object, *, is_running: bool) -> None:
        """Redraw if ``basis`` has changed since the last drawing and, while the run goes on, the pause is over."""
        is_busy = self._task is not None and not self._task.done()
        if is_busy or basis == self._basis or (is_running and time.monotonic() < self._next):
            return
        self._basis = basis
        self._task = asyncio.get_running_loop().create_task(self._draw())

    async def _draw(self) -> None:
        # A helper as in ``engine.child_processes``: it ends with this process, and Ctrl-C does not reach it.
        process = await asyncio.create_subprocess_exec(
            *self._command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        assert process.stdout is not None
        try:
            text = await process.stdout.read()
            await process.wait()
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
        data = _read(text)
        self._next = time.monotonic() + max(LEAST_PAUSE_SECONDS, PAUSE_FACTOR * data.get("seconds", 0.0))
        if "html" in data:
            self.data = data
            self.drawing += 1

    async def close(self) -> None:
        """Abort a drawing in progress."""
        if self._task is not None and not self._task.done():
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task


def _read(text: bytes) -> dict[str, Any]:
    """Parse the command's output; empty if it failed, as it may while the run creates its folder."""
    try:
        data = json.loads(text)
    except ValueError:
        return {}
    return data if isinstance(data, dict) else {}
