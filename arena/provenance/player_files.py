"""The files that decide how external players play: their programs, and files among their arguments and options.

A file is known by its digest, so that games of two builds are not taken for those of one. Not covered: what a program
reads beside these, such as modules that a script imports or an opening book of a fixed name.
"""

from __future__ import annotations

import functools
import hashlib
import os
import stat
from typing import TYPE_CHECKING, NamedTuple

from elolab.arena.players.player import PlayerFault
from elolab.arena.players.process import find_program

if TYPE_CHECKING:
    from elolab.arena.records import PlayerSpec


class GameFile(NamedTuple):
    """A file that decides an external player's games."""

    word: str
    """The path, as the command, an argument or an option names it."""
    directory: str | None
    """The program's working directory; ``None`` is elolab's own."""
    is_program: bool = True

    def digest(self) -> str | None:
        """SHA-256 of its content as it is now, hexadecimal; ``None`` if no such file can be read here."""
        try:
            if self.is_program:
                path = find_program([self.word], self.directory)
            else:
                path = os.path.join(os.path.abspath(self.directory or ""), self.word)
            status = os.stat(path)
            if not stat.S_ISREG(status.st_mode):
                return None
            return _digest(path, status.st_mtime_ns, status.st_size, status.st_ino)
        except (PlayerFault, OSError, ValueError):  # a word with a null character is no path
            return None

    def is_of(self, player: PlayerSpec) -> bool:
        """Whether the player's command or options name it."""
        return self in _named_by(player)

    @property
    def kind(self) -> str:
        """``program`` or ``file``, for messages."""
        return "program" if self.is_program else "file"

    def __str__(self) -> str:
        return f"{self.kind} {self.word!r}" + ("" if self.directory is None else f" in {self.directory}")


@functools.lru_cache(256)
def _digest(path: str, changed_ns: int, size: int, number: int) -> str:
    """Hash a file once per state (time, size, inode): workers ask before every chunk of games."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def files_of(player: PlayerSpec) -> dict[GameFile, str]:
    """Digests of the files that an external player's command and options name and that exist here."""
    return {file: digest for file in _named_by(player) if (digest := file.digest()) is not None}


def _named_by(player: PlayerSpec) -> list[GameFile]:
    """Candidate files of a player: its program, and words with a dot or a folder, without logs."""
    if player.is_builtin or not player.command:
        return []
    program, *arguments = player.command
    named = [value for name, value in player.options if not _is_of_log(name)]
    for before, word in zip(["", *arguments], arguments, strict=False):
        name, _, value = word.partition("=")  # an argument such as --book=lines.bin names its file behind the sign
        if not (before.startswith("-") and _is_of_log(before)):
            named += [word] if _is_of_log(name) else [word, value]
    words = [word for word in dict.fromkeys(named) if (os.sep in word or "." in word) and not word.endswith(".log")]
    return [GameFile(program, player.directory), *(GameFile(word, player.directory, False) for word in words)]


def _is_of_log(name: str) -> bool:
    """Whether an option or flag of that name names a log, which the engine writes."""
    return "log" in name.lower()
