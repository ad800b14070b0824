"""The file of engines that tournaments share: one table per engine, with the keys of a table [[players]].

A tournament may name it (``engines = "engines.toml"``). Otherwise it is ``engines.toml`` in the folder of the
tournament's file, in the current folder, or in the user's configuration folder. The engine configurations of cutechess
(``engines.json``) are read too.
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
    """The engines of a file by name, read on first use; ``path`` is ``None`` if there is no file."""

    def __init__(self, path: Path | None) -> None:
        self.path = path

    @functools.cached_property
    def tables(self) -> Mapping[str, Mapping[str, Any]]:
        """The table of each engine, by name; raises ``ConfigurationError`` for an invalid file."""
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
        """Whether ``entry`` knows an engine by this name."""
        return name in self.tables or self._at_revision(str(name)) is not None

    def _at_revision(self, name: str) -> tuple[str, str] | None:
        """Split ``NAME@REV`` into an engine with a ``source`` and another revision of it; ``None`` for other names."""
        engine, _, revision = name.partition("@")
        return (engine, revision) if revision and SOURCE in self.tables.get(engine, {}) else None

    def entry(self, name: str, where: str) -> dict[str, Any]:
        """The keys of a table [[players]] for the engine ``name``; ``where`` begins error messages.

        ``NAME@REV`` is an engine that is built from git, at another revision. Relative paths of its program or folder
        are tried in the folder of the file first. Raises ``ConfigurationError``, naming the file and the engine, if the
        engine is missing or its name, program or folder is invalid.
        """
        if self.path is None:
            raise ConfigurationError(
                f"{where}: engine {name!r}, but there is no file of engines; write {ENGINES_NAME} with a table [{name}]"
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
                f"{where}: engine {name!r} is not in {self.path}{nearest(name, self.tables)}; it has {known}"
            )
        table = Table(self.tables[name], f"{self.path}: engine {name!r}", ANY_PLAYER, knows_all=False)
        table.get("name")
        table.get("directory")
        command = command_of(table, str(self.path.parent)) if "command" in table else None
        return {"name": name} | _located(self.tables[name], command, self.path.parent)


def _located(entry: Mapping[str, Any], command: Sequence[str] | None, folder: Path) -> dict[str, Any]:
    """Copy an engine's table, with its program and directory as paths in ``folder`` if they exist there.

    ``command`` is the engine's program and arguments, ``None`` if the table has no command.
    """
    located = {key: value for key, value in entry.items() if key != DESCRIPTION}
    if folder == Path():
        return located
    if SOURCE in located:  # folders and programs lie in the tree of the commit
        with suppress(RepositoryError):  # which the reader of the entry reports
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
    """Open the file named ``given``, or else the default engines file for a specification in ``folder``.

    Raises ``ConfigurationError`` if the given file does not exist.
    """
    if given is None:
        places = (folder / ENGINES_NAME, Path(ENGINES_NAME), user_folder() / ENGINES_NAME)
        return EnginesFile(next((path for path in places if path.is_file()), None))
    path = Path(beside_or_here(given, str(folder / "-")))
    if not path.is_file():
        if path.is_dir() or (folder / given).is_dir():
            raise ConfigurationError(f"{given} is a folder; give the engines file in it")
        raise ConfigurationError(f"no engines file {given!r}, neither at that path nor in {folder}")
    return EnginesFile(path)


def beside_or_here(name: str, where: str) -> str:
    """Resolve a name given in the file ``where``: a path in that file's folder if it exists, else the name itself.

    An existing folder is only taken if the name is written as a path (``games/``): a bare word may name a shipped file.
    """
    beside = Path(where).parent / name
    is_folder = os.sep in name and not Path(name).exists() and beside.is_dir()
    return str(beside) if is_folder or (not Path(name).is_file() and beside.is_file()) else name


def user_folder() -> Path:
    """The user's configuration folder of elolab."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "elolab"


def _read_cutechess(path: Path) -> dict[str, dict[str, Any]]:
    """The tables of the engines in a cutechess configuration, by name; keys that elolab cannot use are dropped."""
    try:
        configurations = json.loads(path.read_text("utf-8-sig"))  # editors of Windows begin it with a mark
        return dict(
            _of_cutechess(configuration, f"{path}: engine {number}")
            for number, configuration in enumerate(configurations, start=1)
        )
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no list of engines with name and command"
        raise ConfigurationError(f"{path}: cannot be read as engines of cutechess: {reason}") from None


def _of_cutechess(configuration: Mapping[str, Any], where: str) -> tuple[str, dict[str, Any]]:
    """Convert an engine of cutechess; returns its name and its table of elolab's keys.

    Raises ``ConfigurationError`` if the name is not text.
    """
    entry: dict[str, Any] = {"command": _command_of_cutechess(configuration)}
    for theirs, ours in (("protocol", "protocol"), ("workingDirectory", "directory")):
        if configuration.get(theirs):
            entry[ours] = configuration[theirs]
    if configuration.get("ponder") is True:
        entry["ponder"] = True
    if configuration.get("restart") == "on":  # faults always restart: "auto", "off"
        entry["restart"] = RESTARTS[-1]
    if configuration.get("initStrings"):  # set-up lines: the reader refuses the key
        entry["initStrings"] = configuration["initStrings"]
    options = {
        _name_of(option, f"{where}: options"): option["value"]
        for option in configuration.get("options", ())
        if "value" in option and option["value"] != option.get("default")
    }
    return _name_of(configuration, where), entry | ({"options": options} if options else {})


def _command_of_cutechess(configuration: Mapping[str, Any]) -> object:
    """Program and arguments of a cutechess engine; cutechess treats the whole command as the program's path."""
    command, arguments = configuration["command"], configuration.get("arguments") or []
    if not isinstance(command, str):
        return command  # the reader of the entry refuses it
    return [command, *(shlex.split(arguments) if isinstance(arguments, str) else arguments)]


def _name_of(named: Mapping[str, Any], where: str) -> str:
    name = named["name"]
    if not isinstance(name, str):
        raise ConfigurationError(f"{where}: name = {format_toml(name)}, expected a text")
    return name
