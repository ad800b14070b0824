"""Validation of arguments that several functions of the Python interface share."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ParamSpec, TextIO, TypeVar

from elolab.arena.cluster.address import EXPECTED_CLUSTER, is_cluster
from elolab.arena.run import plain
from elolab.engine.errors import UserError

if TYPE_CHECKING:
    from concurrent.futures import Executor

Given = ParamSpec("Given")
Returned = TypeVar("Returned")

_SWITCHES = ("accept_engine_change", "scale_limits", "wall_clock_on_cluster")


def naming_arguments(folder: str) -> Callable[[Callable[Given, Returned]], Callable[Given, Returned]]:
    """Make a decorator: errors of the decorated function name keyword arguments instead of command-line options.

    For example, a remedy says ``pairs=3`` instead of ``--pairs 3``. ``folder`` is the name of the function's argument
    for the run's folder; errors name this argument instead of ``--out``.
    """

    def decorated(function: Callable[Given, Returned]) -> Callable[Given, Returned]:
        @functools.wraps(function)
        def called(*given: Given.args, **named: Given.kwargs) -> Returned:
            try:
                return function(*given, **named)
            except UserError as error:
                error.spell = functools.partial(_as_keyword, folder)
                raise

        return called

    return decorated


def _as_keyword(folder: str, name: str, value: str) -> str:
    """Convert the option ``--name value`` to a keyword argument such as ``pairs=3``.

    ``--out`` becomes the argument that ``folder`` names; ``--engine cmd=...`` becomes an entry of a player's mapping.
    """
    if name == "out":
        return f"{folder}=..."
    if name == "engine":
        word, _, text = value.partition("=")
        program, _, words = text.partition(" args=")
        key = {"cmd": "command", "conf": "engine"}.get(word, word)
        return f'{{"{key}": ["{program}", ...]}}' if words else f'{{"{key}": "{text}"}}'
    if name in _SWITCHES:
        return f"{name}=True"
    return f"{name}={value if value.isdigit() else json.dumps(value)}" if value else name


def specified(data: Any) -> Any:
    """Convert a specification to plain data: paths become strings; a ``command`` given as a path becomes ``[path]``."""
    return plain(_without_paths(data))


def _without_paths(data: Any) -> Any:
    if isinstance(data, Mapping):
        return {
            key: [os.fspath(value)] if key == "command" and isinstance(value, os.PathLike) else _without_paths(value)
            for key, value in data.items()
        }
    if isinstance(data, list | tuple):
        return [_without_paths(entry) for entry in data]
    return os.fspath(data) if isinstance(data, os.PathLike) else data


def path_text(given: object, name: str, expected: str = "a path") -> str:
    """Validate an argument that is a path or a name; returns it as a string.

    Raises ``UserError`` for any other type, and for an empty string, which would mean the current folder. ``name`` is
    the argument's name; ``expected`` describes valid values in the error message.
    """
    if isinstance(given, str | os.PathLike) and os.fspath(given):
        return os.fspath(given)
    raise UserError(f"{name} = {given!r}, expected {expected}")


def yes_or_no(given: object, name: str) -> bool:
    """Validate an argument that is ``True`` or ``False``. Raises ``UserError`` for anything else."""
    flag = plain(given)
    if isinstance(flag, bool):
        return flag
    raise UserError(f"{name} = {given!r}, expected True or False")


def stream_or_none(given: Any, name: str) -> TextIO | None:
    """Validate an argument that is a text stream or ``None``. Raises ``UserError`` for anything else."""
    if given is None or all(hasattr(given, method) for method in ("write", "flush", "isatty")):
        stream: TextIO | None = given
        return stream
    raise UserError(f"{name} = {given!r}, expected a text stream such as sys.stderr, or None")


def cluster_or_none(given: Any, name: str) -> str | Executor | None:
    """Validate a cluster: an address, an executor or ``None``. Raises ``UserError`` for anything else."""
    is_address = isinstance(given, str) and is_cluster(given)
    if given is None or is_address or hasattr(given, "submit"):
        cluster: str | Executor | None = given
        return cluster
    raise UserError(
        f"{name} = {given!r}, expected the address of a Dask scheduler, such as {EXPECTED_CLUSTER}, an executor of "
        "concurrent.futures, or None"
    )


def at_least_one(given: object, name: str) -> int:
    """Validate an argument that is a whole number of at least 1. Raises ``UserError`` for anything else."""
    number = plain(given)
    if isinstance(number, int) and not isinstance(number, bool) and number >= 1:
        return number
    raise UserError(f"{name} = {given!r}, expected a whole number of at least 1")
