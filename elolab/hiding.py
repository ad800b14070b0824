"""Whether a user's own files hide packages of ours.

Beside ``elolab`` lie the packages ``engine``, ``arena`` and ``tuning``, and a script's own folder comes before them on
Python's path. So an ``engine.py`` beside a script would be imported in place of our package, and the error that came of
it would tell nobody why.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

EXIT_WRONG_INPUT = 2

PACKAGES = ("engine", "arena", "tuning")
"""Our packages that must not be hidden. ``configs`` is found by its place, and may be hidden by anything."""


def hidden_packages() -> str:
    """What hides which of our packages and the remedy, in one line; empty if nothing does.

    Nothing is imported for it.
    """
    from importlib.util import find_spec

    root = Path(__file__).absolute().parent.parent
    for name in PACKAGES:
        loaded = sys.modules.get(name)
        if loaded is not None:
            found = _place(getattr(loaded, "__path__", ()), getattr(loaded, "__file__", None))
        else:
            specification = find_spec(name)
            if specification is None:
                return f"its package {name!r} is not beside it in {root}; install elolab anew"
            found = _place(specification.submodule_search_locations or (), specification.origin)
        if found is None:
            return f"another module {name!r} hides elolab's package {name!r}; rename it"
        if not _is_same(found, root / name):
            return f"{found} hides elolab's package {name!r}; rename it or start the script from another folder"
    return ""


def exit_if_packages_are_hidden() -> None:
    """End the process with ``hidden_packages`` on standard error, if there is something to say."""
    hidden = hidden_packages()
    if hidden:
        print(f"elolab: {hidden}", file=sys.stderr)
        sys.exit(EXIT_WRONG_INPUT)


def _place(folders: Iterable[str], file: str | None) -> Path | None:
    """A package's folder or a module's file; ``None`` of what has neither."""
    for folder in folders:
        return Path(folder).absolute()
    return None if file is None else Path(file).absolute()


def _is_same(one: Path, other: Path) -> bool:
    """Whether two paths lead to the same place; a link counts as what it leads to."""
    try:
        return one == other or one.samefile(other)
    except OSError:
        return False


def is_command_line(arguments: Sequence[str]) -> bool:
    """Whether ``sys.argv`` is that of elolab's own command line, or not known yet as Python still looks for ``-m``."""
    return bool(arguments) and (arguments[0] == "-m" or Path(arguments[0]).stem == "elolab")
