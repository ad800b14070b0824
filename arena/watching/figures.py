"""Heavy figures of a run, drawn by a process of their own, and only while somebody looks at them.

Seldom while games are played; of a run that is over at once, for its games can no longer be held up.
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
"""How many times the processor time of the last drawing it is at least until the next one begins."""


class DrawnFigures:
    """What a command writes of a folder in one language, as JSON with its processor time as ``seconds``."""

    def __init__(self, command: Sequence[str], folder: Path, language: str) -> None:
        self._command = (*command, str(folder), language)
        self.data: dict[str, Any] | None = None
        """What was drawn last; ``None`` before anything was."""
        self.drawing = 0
        """How often something was."""
        self._basis: object = None
        self._next = 0.0
        self._task: asyncio.Task[None] | None = None

    def renew(self, basis: object, *, is_running: bool) -> None:
        """Draw anew if ``basis`` is not what the last drawing was of and, while it runs, enough time has passed."""
        is_busy = self._task is not None and not self._task.done()
        if is_busy or basis == self._basis or (is_running and time.monotonic() < self._next):
            return
        self._basis = basis
        self._task = asyncio.get_running_loop().create_task(self._draw())

    async def _draw(self) -> None:
        # A helper as in ``engine.programs.children``: it ends with this process, and Ctrl-C does not reach it.
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
        """End a drawing that is under way."""
        if self._task is not None and not self._task.done():
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task


def _read(text: bytes) -> dict[str, Any]:
    """What the command wrote; nothing where it failed, as it may while the run makes its folder."""
    try:
        data = json.loads(text)
    except ValueError:
        return {}
    return data if isinstance(data, dict) else {}
