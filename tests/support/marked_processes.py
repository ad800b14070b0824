"""Finding whatever is left of the programs that a test has started, and of the programs that these have started."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

MARK = "ELOLAB_TEST_MARK"
"""An environment variable that is set while programs are started: whatever they start has it too."""


def processes_marked(mark: str) -> list[int]:
    """Running processes with ``MARK`` of that value in their environment. Linux only."""
    wanted = f"{MARK}={mark}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            is_marked = wanted in (entry / "environ").read_bytes().split(b"\0")
            if is_marked and (entry / "stat").read_text().rpartition(")")[2].split()[0] not in "ZX":
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def wait_until(condition: Callable[[], bool], seconds: float = 10.0) -> bool:
    """Whether it came true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
