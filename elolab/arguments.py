"""What the Python interface takes as arguments of one kind, wherever they are given."""

from __future__ import annotations

import os

from arena.run import plain
from engine.errors import UserError


def path_text(given: object, name: str, expected: str = "a path") -> str:
    """An argument that is a path or a name, as it was given. Raises ``UserError`` for anything else."""
    if isinstance(given, str | os.PathLike):
        return os.fspath(given)
    raise UserError(f"{name} = {given!r}, expected {expected}")


def at_least_one(given: object, name: str) -> int:
    """An argument that is a whole number from 1 on. Raises ``UserError`` for anything else."""
    number = plain(given)
    if isinstance(number, int) and not isinstance(number, bool) and number >= 1:
        return number
    raise UserError(f"{name} = {given!r}, expected a whole number of at least 1")
