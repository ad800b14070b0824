"""Errors a user can cause: the problem with its place and value, and the remedy."""

from __future__ import annotations

import re
from collections.abc import Callable

_ARGUMENT = re.compile("\0(\\w+)=([^\0]*)\0")


def argument(name: str, value: object = "") -> str:
    """An argument of the user's call, to be named in a ``UserError``.

    The command line shows ``out`` as ``--out``, Python as ``folder=...``. Only ``UserError`` can spell it: the text
    returned here is a mark.
    """
    return f"\0{name}={value}\0"


def as_option(name: str, value: str) -> str:
    """An argument as the command line spells it."""
    return f"--{name.replace('_', '-')}{' ' if value else ''}{value}"


def spelt(text: str, spell: Callable[[str, str], str] = as_option) -> str:
    """A text with every ``argument`` in it spelt."""
    return _ARGUMENT.sub(lambda mark: spell(mark[1], mark[2]), text)


class UserError(Exception):
    """Wrong input, shown as one line without a traceback: the problem, and the remedy if there is one.

    Both texts may contain arguments made by ``argument``.
    """

    exit_code = 2
    spell: Callable[[str, str], str] = staticmethod(as_option)
    """Spells an argument, given its name and value; the value may be empty."""

    def __init__(self, problem: str, remedy: str = "") -> None:
        super().__init__(problem, remedy)

    @property
    def problem(self) -> str:
        """The mistake and its place."""
        return spelt(self.args[0], self.spell)

    @property
    def remedy(self) -> str:
        """The advice; may be empty."""
        return spelt(self.args[1], self.spell)

    def __str__(self) -> str:
        return "; ".join(filter(None, (self.problem, self.remedy)))
