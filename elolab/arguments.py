"""What the Python interface takes as arguments of one kind, wherever they are given."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TextIO

from arena.cluster.address import is_scheduler_address
from arena.run import plain
from engine.errors import UserError

if TYPE_CHECKING:
    from concurrent.futures import Executor


def specified(data: Any) -> Any:
    """What a specification holds, as plain data; paths become texts, and one that is a command the program alone."""
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
    """An argument that is a path or a name, as it was given. Raises ``UserError`` for anything else.

    An empty text is none: it would be the current folder, which nobody means by it.
    """
    if isinstance(given, str | os.PathLike) and os.fspath(given):
        return os.fspath(given)
    raise UserError(f"{name} = {given!r}, expected {expected}")


def yes_or_no(given: object, name: str) -> bool:
    """An argument that is ``True`` or ``False``. Raises ``UserError`` for anything else."""
    flag = plain(given)
    if isinstance(flag, bool):
        return flag
    raise UserError(f"{name} = {given!r}, expected True or False")


def stream_or_none(given: Any, name: str) -> TextIO | None:
    """An argument that is a text stream, or ``None``. Raises ``UserError`` for anything else."""
    if given is None or all(hasattr(given, method) for method in ("write", "flush", "isatty")):
        stream: TextIO | None = given
        return stream
    raise UserError(f"{name} = {given!r}, expected a text stream such as sys.stderr, or None")


def cluster_or_none(given: Any, name: str) -> str | Executor | None:
    """An argument that says where else games are played. Raises ``UserError`` for anything that cannot."""
    is_address = isinstance(given, str) and is_scheduler_address(given)
    if given is None or is_address or hasattr(given, "submit"):
        cluster: str | Executor | None = given
        return cluster
    raise UserError(
        f"{name} = {given!r}, expected the address of a Dask scheduler, such as tcp://192.168.1.5:8786, an executor of "
        "concurrent.futures, or None"
    )


def at_least_one(given: object, name: str) -> int:
    """An argument that is a whole number from 1 on. Raises ``UserError`` for anything else."""
    number = plain(given)
    if isinstance(number, int) and not isinstance(number, bool) and number >= 1:
        return number
    raise UserError(f"{name} = {given!r}, expected a whole number of at least 1")
