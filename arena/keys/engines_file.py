"""The engines file, which several tournaments can share: one table per engine, with the keys of a ``[[players]]``
table.

A tournament may name its engines file (``engines = "engines.toml"``). Otherwise elolab looks for ``engines.toml`` in
the folder of the tournament's file, then in the current folder, then in the user's configuration folder. The engine
configurations of cutechess (``engines.json``) can be read too.
"""

from __future__ import annotations

import functools
import json
import os
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from elolab.arena.builds.players import with_commit
from elolab.arena.builds.repository import SHOWN_DIGITS, RepositoryError, split_source
from elolab.arena.keys.player import ANY_PLAYER, DESCRIPTION, RESTARTS, SOURCE, command_of
from elolab.engine.settings.configuration import ConfigurationError, nearest, read_toml
from elolab.engine.settings.schema import Table
from elolab.engine.settings.toml_values import format_toml

ENGINES_NAME = "engines.toml"


class EnginesFile:
    """The engines of an engines file, accessed by name.

    The file is read on first use. ``path`` is ``None`` if there is no file.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path

    @functools.cached_property
    def tables(self) -> Mapping[str, Mapping[str, Any]]:
        """The table of each engine, keyed by the engine's name; raises ``ConfigurationError`` for an invalid file."""
        if self.path is None:
            return {}
        if self.path.suffix == ".json":
            return _read_cutechess(self.path)
        tables = read_toml(self.path)
        for name, table in tables.items():
            if not isinstance(table, dict):
                raise ConfigurationError(
                    f"{self.path}: {name} = {format_toml(table)}, expected tables of engines such as [mine] with "
                    "command = ..."
                )
        return tables

    def __contains__(self, name: object) -> bool:
        """Whether ``entry`` finds an engine under this name, which may be ``NAME@REV``."""
        return name in self.tables or self._at_revision(str(name)) is not None

    def _at_revision(self, name: str) -> tuple[str, str] | None:
        """Split ``NAME@REV`` into an engine of this file and a git revision.

        Returns ``None`` if the name has another form, or if the engine has no ``source`` and so cannot be built from
        git.
        """
        engine, _, revision = name.partition("@")
        return (engine, revision) if revision and SOURCE in self.tables.get(engine, {}) else None

    def entry(self, name: str, where: str) -> dict[str, Any]:
        """The ``[[players]]`` table for the engine ``name``; ``where`` begins error messages.

        ``NAME@REV`` is an engine with a ``source``, built from the git revision ``REV``. Relative paths of programs and
        folders are first tried in the folder of the engines file. Raises ``ConfigurationError``, naming the file and
        the engine, if the engine is missing or its name, program or folder is invalid.
        """
        if self.path is None:
            raise ConfigurationError(
                f"{where}: engine {name!r}, but there is no engines file", f"write {ENGINES_NAME} with a table [{name}]"
            )
        revised = self._at_revision(name) if name not in self.tables else None
        if revised is not None:
            entry = self.entry(revised[0], where)
            source = f"{split_source(str(entry[SOURCE]))[0]}@{revised[1]}"
            entry = with_commit(entry | {SOURCE: source}, f"{self.path}: engine {name!r}")
            return entry | {"name": f"{revised[0]}@{split_source(entry[SOURCE])[1][:SHOWN_DIGITS]}"}
        if name not in self.tables:
            known = ", ".join(self.tables) or "none"
            raise ConfigurationError(
                f"{where}: engine {name!r} is not in {self.path}{nearest(name, self.tables)}", f"it has {known}"
            )
        table = Table(self.tables[name], f"{self.path}: engine {name!r}", ANY_PLAYER, knows_all=False)
        table.get("name")
        table.get("directory")
        command = command_of(table, str(self.path.parent)) if "command" in table else None
        return {"name": name} | _located(self.tables[name], command, self.path.parent)


def _located(entry: Mapping[str, Any], command: Sequence[str] | None, folder: Path) -> dict[str, Any]:
    """Copy an engine's table; a relative path that exists in ``folder`` is replaced by its path there.

    ``command`` is the engine's program and arguments, ``None`` if the table has no command.
    """
    located = {key: value for key, value in entry.items() if key != DESCRIPTION}
    if folder == Path():
        return located
    if SOURCE in located:  # folders and programs are in the tree of the commit
        with suppress(RepositoryError):  # the reader of players reports it
            repository, revision = split_source(str(located[SOURCE]))
            if (folder / repository).is_dir():
                located[SOURCE] = f"{folder / repository}@{revision}"
        return located
    directory = located.get("directory")
    if directory is not None and (folder / directory).is_dir():
        located["directory"] = str(folder / directory)
    if command is not None and os.sep in command[0]:
        beside = os.path.join(folder, os.path.normpath(command[0]))
        if os.path.isfile(beside):
            located["command"] = [beside, *command[1:]]
    return located


def engines_file(given: str | None, folder: Path) -> EnginesFile:
    """Open the engines file named ``given``, or the default engines file for a specification in ``folder``.

    Raises ``ConfigurationError`` if the given file does not exist.
    """
    if given is None:
        places = (folder / ENGINES_NAME, Path(ENGINES_NAME), user_folder() / ENGINES_NAME)
        return EnginesFile(next((path for path in places if path.is_file()), None))
    path = Path(beside_or_here(given, str(folder / "-")))
    if not path.is_file():
        if path.is_dir() or (folder / given).is_dir():
            raise ConfigurationError(f"{given} is a folder", "give the engines file in it")
        raise ConfigurationError(f"no engines file {given!r}, neither at that path nor in {folder}")
    return EnginesFile(path)


def beside_or_here(name: str, where: str) -> str:
    """Resolve a path ``name`` that the file ``where`` contains: relative to that file's folder, if it exists there.

    Otherwise, or if the current folder has this file, returns ``name`` unchanged. A folder is recognised only if the
    path contains a separator (``games/``), because a bare word may name a file that elolab ships.
    """
    beside = Path(where).parent / name
    is_folder = os.sep in name and not Path(name).exists() and beside.is_dir()
    return str(beside) if is_folder or (not Path(name).is_file() and beside.is_file()) else name


def user_folder() -> Path:
    """The user's configuration folder for elolab, ``~/.config/elolab`` by default."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "elolab"


def _read_cutechess(path: Path) -> dict[str, dict[str, Any]]:
    """Read the engines of a cutechess configuration; returns a table with elolab's keys for each engine name.

    Keys that elolab cannot use are dropped. Raises ``ConfigurationError`` if the file is not such a configuration.
    """
    try:
        configurations = json.loads(path.read_text("utf-8-sig"))  # Windows editors write a byte order mark
        return dict(
            _of_cutechess(configuration, f"{path}: engine {number}")
            for number, configuration in enumerate(configurations, start=1)
        )
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not a list of engines with name and command"
        raise ConfigurationError(f"{path}: cannot be read as engines of cutechess: {reason}") from None


def _of_cutechess(configuration: Mapping[str, Any], where: str) -> tuple[str, dict[str, Any]]:
    """Convert an engine of a cutechess configuration; returns its name and its table with elolab's keys.

    ``where`` begins error messages. Raises ``ConfigurationError`` if the name is not text.
    """
    entry: dict[str, Any] = {"command": _command_of_cutechess(configuration)}
    for theirs, ours in (("protocol", "protocol"), ("workingDirectory", "directory")):
        if configuration.get(theirs):
            entry[ours] = configuration[theirs]
    if configuration.get("ponder") is True:
        entry["ponder"] = True
    if configuration.get("restart") == "on":  # "auto" and "off" restart only after faults, as elolab does
        entry["restart"] = RESTARTS[-1]
    if configuration.get("initStrings"):  # lines sent at the start: the reader rejects this key
        entry["initStrings"] = configuration["initStrings"]
    options = {
        _name_of(option, f"{where}: options"): option["value"]
        for option in configuration.get("options", ())
        if "value" in option and option["value"] != option.get("default")
    }
    return _name_of(configuration, where), entry | ({"options": options} if options else {})


def _command_of_cutechess(configuration: Mapping[str, Any]) -> object:
    """The program and arguments of a cutechess engine as a list. ``configuration`` is the engine's entry in its file.

    Cutechess treats the whole value of ``command`` as the program's path, even if it contains blanks. A value that is
    not text is returned unchanged, for the reader of players to reject.
    """
    command, arguments = configuration["command"], configuration.get("arguments") or []
    if not isinstance(command, str):
        return command  # the reader of players rejects it
    return [command, *(shlex.split(arguments) if isinstance(arguments, str) else arguments)]


def _name_of(named: Mapping[str, Any], where: str) -> str:
    name = named["name"]
    if not isinstance(name, str):
        raise ConfigurationError(f"{where}: name = {format_toml(name)}, expected a text")
    return name
