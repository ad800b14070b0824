"""Repeats a slow command while a run continues, such as a command that draws a report's plots."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Sequence

from elolab.engine.child_processes import start_helper

LEAST_PAUSE_SECONDS = 20.0
PAUSE_FACTOR = 30
"""Minimum pause before the command is started again, as a multiple of the time that its last run took."""


class RenewedOutput:
    """Runs a command in a helper process and keeps its latest output. Not thread-safe."""

    def __init__(self, command: Sequence[str]) -> None:
        self.text = ""
        """Output of the last successful run of the command; empty before that."""
        self.count = 0
        """Number of successful runs of the command."""
        self._command = command
        self._process: subprocess.Popen[str] | None = None
        self._reader = threading.Thread()
        self._basis: object = None
        self._next = 0.0

    def renew(self, basis: object, *, is_last: bool = False) -> None:
        """Start the command, if ``basis`` has changed since the last start.

        ``basis`` is any value that differs when the command may have new output. Does nothing while the command is
        running. Also does nothing during the pause after a run of the command, unless ``is_last`` is set.
        """
        is_due = is_last or time.monotonic() >= self._next
        if self._reader.is_alive() or basis == self._basis or not is_due:
            return
        self._basis = basis
        self._process = start_helper(self._command, stderr=subprocess.DEVNULL)
        self._reader = threading.Thread(target=self._read, args=(self._process,), daemon=True)
        self._reader.start()

    def _read(self, process: subprocess.Popen[str]) -> None:
        began = time.monotonic()
        with process:
            assert process.stdout is not None
            text = process.stdout.read()
        self._next = time.monotonic() + max(LEAST_PAUSE_SECONDS, PAUSE_FACTOR * (time.monotonic() - began))
        if process.returncode == 0:
            self.text = text
            self.count += 1

    def wait(self) -> None:
        """Wait until the command has ended."""
        if self._reader.is_alive():
            self._reader.join()

    def close(self) -> None:
        """Stop the command if it is running."""
        if self._process is not None:
            self._process.kill()
        self.wait()
