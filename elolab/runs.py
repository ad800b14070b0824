"""Helpers for functions that play games: the run's folder, options and specification, and tables of its games."""

from __future__ import annotations

import io
import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, TypeVar, cast

from elolab.arena.run import RunOptions
from elolab.arguments import (
    at_least_one,
    cluster_or_none,
    naming_arguments,
    path_text,
    specified,
    stream_or_none,
    yes_or_no,
)
from elolab.engine.settings.configuration import find_config, read_toml
from elolab.engine.settings.toml_values import toml_key, toml_lines

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from pandas import DataFrame

FolderLike = str | os.PathLike[str]
Specification = str | os.PathLike[str] | Mapping[str, Any]
"""Specification of a run: a path, a name or a mapping.

It is the path of a TOML file, the name of a file that is shipped or in ``./configs``, or a mapping with the contents of
such a file.
"""
Read = TypeVar("Read")

SPECIFICATION_NAME = "specification.toml"
"""Name of the file that keeps a specification given as a mapping. Commands use it to resume the run."""


class RunFolder:
    """Folder of a run: one that the caller gave, or a temporary one that is deleted together with this object."""

    def __init__(self, folder: FolderLike | None) -> None:
        self.is_temporary = folder is None
        if folder is not None:
            self.path = Path(path_text(folder, "folder"))
            return
        self.path = Path(tempfile.mkdtemp(prefix="elolab-"))
        weakref.finalize(self, shutil.rmtree, str(self.path), ignore_errors=True)


class PlayedGames:
    """Base class of results with games: their ``folder``, and tables of the games, which are read on first access."""

    _run_folder: RunFolder

    @property
    def folder(self) -> Path:
        """The folder with the games. A temporary folder is deleted together with this object."""
        return self._run_folder.path

    @cached_property
    @naming_arguments("folder")
    def games(self) -> DataFrame:
        """One row per game, with the columns of ``elolab.load_games``."""
        from elolab.games import load_games

        return load_games(self.folder)

    @cached_property
    @naming_arguments("folder")
    def moves(self) -> DataFrame:
        """One row per move, with the columns of ``elolab.load_moves``."""
        from elolab.games import load_moves

        return load_moves(self.folder)

    @cached_property
    @naming_arguments("folder")
    def faults(self) -> DataFrame:
        """Players' faults that ended games, most frequent first; empty if there were none.

        Columns: ``player``; ``reason``: ``crash``, ``no_answer``, ``illegal_move``, ``time_forfeit`` or ``no_move``;
        ``games``: number of games (one that ended by ``no_move`` may be a draw); ``number``: place in the schedule of
        the first such game; ``text``: description of the fault in that game.
        """
        import pandas

        from elolab.arena.play.store import Store
        from elolab.arena.statistics.faults import FAULT_COLUMNS, faults_of

        with Store(self.folder, read_only=True) as store:
            found = faults_of(store.iterate())
        return pandas.DataFrame([row.data for row in found], columns=FAULT_COLUMNS)

    @naming_arguments("folder")
    def write_report(self) -> Path:
        """Write the report, with tables, plots and a tournament's PGN, into ``folder``; returns its page's path."""
        return self._written_report()

    def _written_report(self) -> Path:
        from elolab.arena.play.store import Store
        from elolab.arena.play.tournament_run import stored_tournament
        from elolab.arena.reports.write import export

        with Store(self.folder, read_only=True) as store:
            report = export(stored_tournament(store), store).report
        assert report is not None
        return report

    def __getstate__(self) -> dict[str, Any]:
        """State for pickling, with the games of a temporary folder, which another process may be unable to read."""
        if self._run_folder.is_temporary and self.folder.exists():
            self.games, self.moves, self.faults  # noqa: B018 - what was read once is kept
        return self.__dict__


class _Silence(io.TextIOBase):
    """A text stream that discards everything written to it."""

    def write(self, text: str) -> int:
        return len(text)


def run_options(
    concurrency: int,
    progress: TextIO | None,
    accept_engine_change: bool,
    cluster: str | Executor | None = None,
    wall_clock_on_cluster: bool = False,
) -> RunOptions:
    """Build a run's options from arguments that all runs share. Raises ``UserError`` for a value of the wrong type."""
    return RunOptions(
        concurrency=at_least_one(concurrency, "concurrency"),
        stream=stream_or_none(progress, "progress") or cast(TextIO, _Silence()),
        accept_engine_change=yes_or_no(accept_engine_change, "accept_engine_change"),
        cluster=cluster_or_none(cluster, "cluster"),
        wall_clock_on_cluster=yes_or_no(wall_clock_on_cluster, "wall_clock_on_cluster"),
    )


def read_specification(
    given: Specification, kind: str, name: str, read: Callable[[Mapping[str, Any], str], Read]
) -> Read:
    """Read a specification by calling ``read`` with its contents and a name for error messages.

    That name is the file's path, or ``name`` for a mapping. ``kind`` is a key of ``FILE_KINDS``; a file given by name
    is searched for in that kind's folders. Raises ``UserError``, with one line about the first mistake.
    """
    if isinstance(given, Mapping):
        return read(specified(given), name)
    expected = "a TOML file, the name of one that is shipped, or a mapping"
    path = find_config(kind, path_text(given, "specification", expected))
    return read(read_toml(path), str(path))


def kept_specification(given: object) -> dict[str, str]:
    """Files to store in a run's folder, text by name: the specification, if it was given as a mapping."""
    return {SPECIFICATION_NAME: toml_text(specified(given))} if isinstance(given, Mapping) else {}


def toml_text(data: Mapping[str, Any]) -> str:
    """Write plain data as TOML text: values first, then tables; tables within tables are inline."""
    lines, tables = [], []
    for key, value in data.items():
        if isinstance(value, Mapping):
            tables += ["", f"[{toml_key(key)}]", *toml_lines(value)]
        elif isinstance(value, list) and value and all(isinstance(entry, Mapping) for entry in value):
            for entry in value:
                tables += ["", f"[[{toml_key(key)}]]", *toml_lines(entry)]
        else:
            lines += toml_lines({key: value})
    return "\n".join([*lines, *tables]).lstrip("\n") + "\n"
