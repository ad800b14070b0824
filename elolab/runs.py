"""What every function that plays games shares: its folder, its progress, its specification, and reading the games."""

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
from elolab.engine.commands.arguments import DEFAULT_GAME
from elolab.engine.settings.configuration import find_config, read_toml
from elolab.engine.settings.toml_values import toml_key, toml_lines

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from pandas import DataFrame

FolderLike = str | os.PathLike[str]
Specification = str | os.PathLike[str] | Mapping[str, Any]
"""A TOML file, the name of a specification that is shipped or in ``./configs``, or what such a file holds."""
Read = TypeVar("Read")

SPECIFICATION_NAME = "specification.toml"
"""What a run was given as a mapping, in its folder, so that the commands can go on with it."""


class RunFolder:
    """The folder of a run: the one that was asked for, or a temporary one that is gone when nobody holds this."""

    def __init__(self, folder: FolderLike | None) -> None:
        self.is_temporary = folder is None
        if folder is not None:
            self.path = Path(path_text(folder, "folder"))
            return
        self.path = Path(tempfile.mkdtemp(prefix="elolab-"))
        weakref.finalize(self, shutil.rmtree, str(self.path), ignore_errors=True)


class PlayedGames:
    """What every run with games has: ``folder``, and what is in it as tables, read when they are first asked for."""

    _run_folder: RunFolder

    @property
    def folder(self) -> Path:
        """Where the games are; a temporary folder lives as long as this object."""
        return self._run_folder.path

    @cached_property
    @naming_arguments("folder")
    def games(self) -> DataFrame:
        """One row a game; the columns are those of ``elolab.load_games``."""
        from elolab.games import table_of_games

        return table_of_games(self.folder, DEFAULT_GAME)

    @cached_property
    @naming_arguments("folder")
    def moves(self) -> DataFrame:
        """One row a move; the columns are those of ``elolab.load_moves``."""
        from elolab.games import table_of_moves

        return table_of_moves(self.folder, DEFAULT_GAME)

    @cached_property
    @naming_arguments("folder")
    def faults(self) -> DataFrame:
        """Faults of players that ended games, the most frequent first; no row if there were none.

        Columns: ``player``, ``reason`` (``crash``, ``no_answer``, ``illegal_move``, ``time_forfeit`` or ``no_move``),
        ``games`` (of which those by ``no_move`` may be drawn), ``number`` (the first of them, as in ``games``),
        ``text`` (what happened there).
        """
        import pandas

        from elolab.arena.figures.faults import FAULT_COLUMNS, faults_of
        from elolab.arena.play.store import Store

        with Store(self.folder, read_only=True) as store:
            found = faults_of(store.iterate())
        return pandas.DataFrame([row.data for row in found], columns=FAULT_COLUMNS)

    def __getstate__(self) -> dict[str, Any]:
        """What goes to another process: with the games of a temporary folder, which is gone there."""
        if self._run_folder.is_temporary and self.folder.exists():
            self.games, self.moves, self.faults  # noqa: B018 - what was read once is kept
        return self.__dict__


class _Silence(io.TextIOBase):
    """A stream that takes everything and shows nothing."""

    def write(self, text: str) -> int:
        return len(text)


def run_options(
    concurrency: int,
    progress: TextIO | None,
    accept_engine_change: bool,
    cluster: str | Executor | None = None,
    wall_clock_on_cluster: bool = False,
) -> RunOptions:
    """The arguments of playing as a run takes them. Raises ``UserError`` for one that is of another kind."""
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
    """The specification that is meant; ``kind`` is a key of ``SUFFIXES``, ``name`` names one that has no file.

    Raises ``UserError`` with one line for the first mistake.
    """
    if isinstance(given, Mapping):
        return read(specified(given), name)
    expected = "a TOML file, the name of one that is shipped, or a mapping"
    path = find_config(kind, path_text(given, "specification", expected))
    return read(read_toml(path), str(path))


def kept_specification(given: object) -> dict[str, str]:
    """What a run was given as a mapping, as a file for its folder that its command reads; nothing of a file or name."""
    return {SPECIFICATION_NAME: toml_text(specified(given))} if isinstance(given, Mapping) else {}


def toml_text(data: Mapping[str, Any]) -> str:
    """Plain data as TOML: values first, then tables, whose own tables are in line."""
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
