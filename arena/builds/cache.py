"""The folder in which elolab keeps copies of repositories and builds, and locks for the files in it."""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


def cache_folder() -> Path:
    """The user's cache folder of elolab: ``~/.cache/elolab``, or in the folder that ``XDG_CACHE_HOME`` names."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "elolab"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "elolab"


@contextmanager
def waiting_lock(path: Path, waits: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Hold the lock of a file, which stays; the system releases the lock when the process ends, however it ends.

    Calls ``waits`` once if another process holds the lock, and waits until it is free.
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
