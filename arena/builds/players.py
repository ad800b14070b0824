"""Players built from git: finds the commit named in a ``[[players]]`` table, builds it, and finds the program."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from elolab.arena.builds.build import BuildError, build_commit, tree_of
from elolab.arena.builds.repository import DIRTY_SHOWN, SHOWN_DIGITS, Repository, notify, split_source
from elolab.arena.keys.player import ANY_PLAYER, SOURCE, command_of
from elolab.arena.records import CommitBuild, PlayerSpec
from elolab.engine.errors import UserError
from elolab.engine.settings.configuration import ConfigurationError
from elolab.engine.settings.schema import Table


def with_commit(entry: Mapping[str, Any], where: str, *, fetch: bool = True) -> dict[str, Any]:
    """Return a ``[[players]]`` table with the full commit hash in ``source``; later commits do not change the player.

    Adds a name made from repository and commit if the table has none. Prints a warning if the working tree has changes,
    because uncommitted changes are not built. ``where`` names the table in messages; ``fetch`` is as for
    ``Repository.commit``. Raises ``UserError`` if the repository or the revision cannot be found.
    """
    table = Table(entry, where, ANY_PLAYER, knows_all=False)
    try:
        place, revision = split_source(table[SOURCE])
        repository = Repository(place)
        commit = repository.commit(revision, fetch=fetch)
    except UserError as error:
        raise type(error)(f"{where}: {error.args[0]}", error.args[1]) from None
    source = f"{repository.place}@{commit.name}"
    if source != entry[SOURCE] and (changed := repository.changed_files(commit.name)):
        files = ", ".join(changed[:DIRTY_SHOWN]) + (", ..." if len(changed) > DIRTY_SHOWN else "")
        notify("builds.dirty", repository=repository.place, count=len(changed), files=files, commit=commit.short)
    return {"name": f"{repository.name}@{commit.short}", **entry, SOURCE: source}


def with_program(entry: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return a ``[[players]]`` table whose ``command`` and ``directory`` are paths in the build of its commit.

    Builds the commit unless the cache has the build. ``where`` names the table in messages. Raises ``UserError`` if the
    build fails or does not contain the program.
    """
    entry = with_commit(entry, where)
    table = Table(entry, where, ANY_PLAYER, knows_all=False)
    if "command" not in table:
        raise ConfigurationError(
            f"{where}: source = {entry[SOURCE]!r} without a command",
            'give the program inside the tree, such as command = "./mine" (cmd=./mine on the command line)',
        )
    place, name = split_source(entry[SOURCE])
    repository = Repository(place)
    tree = build_commit(repository, repository.commit(name), table.get("build", ""))
    program, *arguments = command_of(table, str(tree))
    if (tree / program).is_file():
        program = str(tree / program)
    elif os.sep in program:
        found = _found(tree, program)
        raise BuildError(f"{where}: commit {name[:SHOWN_DIGITS]} has no program {program!r}{found}")
    return {**entry, "command": [program, *arguments], "directory": str(tree / table.get("directory", ""))}


def _found(tree: Path, program: str) -> str:
    """Hint for the error that ``program`` is missing: where ``tree`` has a program of this name.

    If ``tree`` has none, the hint is to check the keys ``command`` and ``build``.
    """
    name = os.path.basename(program)
    found = sorted(path for path in tree.rglob(name) if path.is_file() and os.access(path, os.X_OK))
    if not found:
        return "; does the build make it? see the keys command and build"
    return f" (did you mean ./{found[0].relative_to(tree)}?)"


def commit_build(table: Table) -> CommitBuild | None:
    """The build that a ``[[players]]`` table got from ``with_program``; ``None`` if the table has no ``source``.

    Raises ``ConfigurationError`` if the table has ``build`` without ``source``.
    """
    if SOURCE not in table:
        if "build" in table:
            raise table.error("build", "none without source = REPO@REV")
        return None
    repository, commit = split_source(table[SOURCE])
    build = table.get("build", "")
    return CommitBuild(repository, commit, build, str(tree_of(commit, build)))


def restored(player: PlayerSpec) -> PlayerSpec:
    """Return a stored player with paths that refer to its build in the current cache folder.

    Builds the commit again if the cache no longer has the build; raises ``UserError`` if that fails. A player that is
    not built from a commit is returned unchanged.
    """
    built = player.built
    if built is None:
        return player
    repository = Repository(built.repository)
    tree = str(build_commit(repository, repository.commit(built.commit), built.build))
    command = tuple(tree + word.removeprefix(built.tree) if built.holds(word) else word for word in player.command)
    directory = tree + str(player.directory).removeprefix(built.tree)
    return replace(player, command=command, directory=directory, built=replace(built, tree=tree))
