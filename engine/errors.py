"""Errors that a user can cause. Each states the problem, with its place and the wrong value, and the remedy."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Self

_ARGUMENT = re.compile("\0(\\w+)=([^\0]*)\0")


def argument(name: str, value: object = "") -> str:
    """Placeholder, in the text of a ``UserError``, for the argument ``name`` that the user gave. With ``value``, the
    placeholder includes the argument's value.

    ``UserError`` replaces it by the argument as the user writes it: ``out`` becomes ``--out`` on the command line and
    ``folder=...`` in Python.
    """
    return f"\0{name}={value}\0"


def as_option(name: str, value: str) -> str:
    """An argument as it is written on a command line, such as ``--name value``."""
    return f"--{name.replace('_', '-')}{' ' if value else ''}{value}"


def spelt(text: str, spell: Callable[[str, str], str] = as_option) -> str:
    """Replace every placeholder made by ``argument`` in a text by ``spell(name, value)``."""
    return _ARGUMENT.sub(lambda mark: spell(mark[1], mark[2]), text)


class UserError(Exception):
    """Wrong input, shown as one line without a traceback: the problem, and the remedy if there is one.

    Both texts may contain arguments made by ``argument``.
    """

    exit_code = 2
    spell: Callable[[str, str], str] = staticmethod(as_option)
    """Function that writes an argument as the user would, given its name and its value, which may be empty."""

    def __init__(self, problem: str, remedy: str = "") -> None:
        super().__init__(problem, remedy)

    @classmethod
    def at(cls, place: str, error: UserError) -> Self:
        """Error of this class with the problem and remedy of ``error``; the text ``place`` precedes the problem."""
        return cls(f"{place}: {error.args[0]}", error.args[1])

    @property
    def problem(self) -> str:
        """Text that describes the mistake and its place."""
        return spelt(self.args[0], self.spell)

    @property
    def remedy(self) -> str:
        """Advice on how to correct the mistake; empty if there is none."""
        return spelt(self.args[1], self.spell)

    def __str__(self) -> str:
        return "; ".join(filter(None, (self.problem, self.remedy)))


class PositionError(UserError):
    """An unreadable or impossible position; the message says what is wrong."""


class MoveError(UserError):
    """An unreadable or illegal move; the message names the move and the position."""


class WrongMoveError(MoveError):
    """A move of a game that cannot be read or is not legal; ``number`` is its index in the game, from 0."""

    def __init__(self, number: int, problem: str, remedy: str = "") -> None:
        super().__init__(problem, remedy)
        self.number = number
