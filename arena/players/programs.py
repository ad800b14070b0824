"""Which build of a program plays, so that games of two builds are not taken for those of one."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from arena.players.contract import PlayerFault
from arena.players.process import find_program


def program_digest(command: Sequence[str], directory: str | None) -> str | None:
    """The digest (SHA-256, hexadecimal) of the file that a command starts; ``None`` if none can be read here."""
    try:
        with open(find_program(command, directory), "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (PlayerFault, OSError):
        return None  # it plays on other machines, or its games will say what is wrong
