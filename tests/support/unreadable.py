"""Folders that may not be looked into, also for the superuser whom no permissions keep out."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest


def keep_out(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Let looking into a folder fail as it does without permission."""
    scandir: Any = os.scandir

    def scan(path: Any = ".") -> Any:
        if Path(path) == folder:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return scandir(path)

    monkeypatch.setattr("os.scandir", scan)
