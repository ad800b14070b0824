"""Removal of runs; refuses to remove other folders and runs in use."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from elolab.arena.collection.listing import is_run, run_folders
from elolab.arena.files import FileError
from elolab.arena.play.store import LOCK_NAME, FolderLock, Store, StoreError
from elolab.engine.errors import UserError

REPORT_FOLDERS = ("plots", "report-games")
"""Names of subfolders that a report may have created in a run's folder."""


class RemovalError(UserError):
    """Raised for a folder that must not be removed; the message names it and the reason."""


def check(folders: Sequence[Path]) -> None:
    """Raise ``RemovalError`` unless each folder holds exactly one run; removes nothing."""
    for folder in folders:
        if not folder.is_dir():
            raise RemovalError(f"{folder}: {'not a folder' if folder.exists() else 'no such folder'}")
        if folder.is_symlink():
            raise RemovalError(f"{folder}: a link; give the folder {os.readlink(folder)} itself")
        if not is_run(folder):
            inside = run_folders(folder)[:1]
            hint = f"; give its runs one by one, such as {inside[0]}" if inside else ""
            raise RemovalError(f"{folder}: contains no run, so elolab does not remove it{hint}")
        if Path.cwd().is_relative_to(os.path.realpath(folder)):
            raise RemovalError(f"{folder}: the current folder is this one or inside it; change to another folder first")
        inside_it = sorted(other.name for other in folder.iterdir() if other.is_dir())
        others = [name for name in inside_it if name not in REPORT_FOLDERS]
        if others:
            raise RemovalError(
                f"{folder}: contains a folder {others[0]!r} that does not belong to the run; move it elsewhere"
            )


def games_in(folder: Path) -> int | None:
    """Number of games in a run, which its removal would lose; ``None`` if the store is unreadable."""
    try:
        with Store(folder, read_only=True) as store:
            return store.played
    except StoreError:
        return None


def remove(folders: Sequence[Path]) -> None:
    """Remove folders that ``check`` has accepted; if one is in use, raises ``StoreError`` and removes none."""
    with ExitStack() as locks:
        for folder in folders:
            locks.callback(FolderLock(folder / LOCK_NAME).release)
        for folder in folders:
            try:
                shutil.rmtree(folder)
            except OSError as error:
                raise FileError(f"{error.filename}: cannot be removed: {error.strerror}") from None
