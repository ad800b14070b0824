"""elolab's cache folder for copies of repositories and for builds, and locks on files in it."""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


def cache_folder() -> Path:
    """elolab's folder in the user's cache: below ``$XDG_CACHE_HOME`` or ``~/.cache``; on macOS ``~/Library/Caches``."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "elolab"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "elolab"


@contextmanager
def waiting_lock(path: Path, waits: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Context manager that holds an exclusive lock on a file, waiting until it is free.

    Creates the file if needed and does not remove it. Calls ``waits`` once if another process holds the lock. The
    system releases the lock even if this process is killed.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waits()
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
