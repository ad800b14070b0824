"""Removal of runs; refuses to remove other folders and runs in use."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from elolab.arena.collection.listing import is_bisection, is_run, run_folders
from elolab.arena.files import FileError
from elolab.arena.play.store import LOCK_NAME, FolderLock, Store, StoreError
from elolab.arena.provenance.status import FAULTS_FOLDER
from elolab.engine.errors import UserError

OWN_FOLDERS = ("plots", "report-games", FAULTS_FOLDER)
"""Names of subfolders that a run or its report may have created in the run's folder."""


class RemovalError(UserError):
    """Raised for a folder that must not be removed; the message gives the folder and the reason."""


def check(folders: Sequence[Path]) -> None:
    """Raise ``RemovalError`` unless each folder holds exactly one run or bisection; removes nothing."""
    for folder in folders:
        if not folder.is_dir():
            raise RemovalError(f"{folder}: {'not a folder' if folder.exists() else 'no such folder'}")
        if folder.is_symlink():
            raise RemovalError(f"{folder}: a link", f"give the folder {os.readlink(folder)} itself")
        runs = _runs_of(folder)
        if not runs:
            inside = run_folders(folder)[:1]
            remedy = f"give its runs one by one, such as {inside[0]}" if inside else ""
            raise RemovalError(f"{folder}: contains no run, so elolab does not remove it", remedy)
        if Path.cwd().is_relative_to(os.path.realpath(folder)):
            raise RemovalError(
                f"{folder}: the current folder is this one or inside it", "change to another folder first"
            )
        for run in {folder, *runs}:
            inside_it = sorted(other.name for other in run.iterdir() if other.is_dir() and other not in runs)
            others = [name for name in inside_it if name not in OWN_FOLDERS]
            if others:
                raise RemovalError(
                    f"{run}: contains a folder {others[0]!r} that does not belong to the run", "move it elsewhere"
                )


def _runs_of(folder: Path) -> list[Path]:
    """The run folders that ``folder`` consists of: a run itself, or a bisection's steps; empty for other folders."""
    if is_run(folder):
        return [folder]
    return [run for run in run_folders(folder) if run.parent == folder] if is_bisection(folder) else []


def games_in(folder: Path) -> int | None:
    """Number of games that are lost when a run or bisection is removed; ``None`` if a store is unreadable."""
    games = 0
    try:
        for run in _runs_of(folder):
            with Store(run, read_only=True) as store:
                games += store.played
    except StoreError:
        return None
    return games


def remove(folders: Sequence[Path]) -> None:
    """Remove folders that ``check`` has accepted; if one is in use, raises ``StoreError`` and removes none."""
    with ExitStack() as locks:
        for run in (run for folder in folders for run in dict.fromkeys((folder, *_runs_of(folder)))):
            locks.callback(FolderLock(run / LOCK_NAME, remedy="wait for it to end, or stop it").release)
        for folder in folders:
            try:
                shutil.rmtree(folder)
            except OSError as error:
                raise FileError(f"{error.filename}: cannot be removed: {error.strerror}") from None
