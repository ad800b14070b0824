"""Complete dialogues with engines, written while they happen to a folder with one file per player (``--log``).

Successive processes of a player share a file. Processes that run at the same time have one file each: ``NAME.log``,
``NAME.2.log`` and so on. Files are only appended to, and a writer locks its file against other threads and processes.
Each line has the time (UTC), the source (``>`` elolab, ``<`` the engine, ``!`` the engine's error stream, ``*`` a
remark) and the unmodified bytes.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import shlex
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from elolab.arena.files import FULL_DISK_ERRORS, FileError
from elolab.arena.records import digest_of
from elolab.engine.errors import argument
from elolab.engine.language import console

IN_THE_WAY = "a file of that name is in the way"
MAX_STEM_BYTES = 200
MAX_BEGUN_BYTES = 65_536
"""Number of bytes after which an unfinished line is written without waiting for its end."""


def check_log_folder(folder: Path) -> None:
    """Raise ``FileError`` if dialogues cannot be written to the folder; leaves no files there."""
    there = next(path for path in (folder, *folder.parents) if os.path.lexists(path))
    if not there.is_dir():
        raise _cannot_keep(folder, IN_THE_WAY if there == folder else os.strerror(errno.ENOTDIR))
    if not os.access(there, os.W_OK):
        raise _cannot_keep(folder, os.strerror(errno.EACCES))


def _cannot_keep(folder: Path, reason: str) -> FileError:
    return FileError(
        f"{folder}: dialogues cannot be written there: {reason}", f"give another folder with {argument('log')}"
    )


class DialogueLog:
    """A folder of dialogues with engines; after a write error, reported once, games continue without the log."""

    def __init__(self, folder: Path, warn: Callable[[str], None]) -> None:
        """Create the folder; raises ``FileError`` if files cannot be created in it.

        ``warn`` is called with the first write error, on any thread.
        """
        self.folder = folder
        self._warn = warn
        self._lock = threading.Lock()
        self.has_failed = False
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                pass
        except OSError as error:
            raise _cannot_keep(folder, IN_THE_WAY if isinstance(error, FileExistsError) else _reason(error)) from None

    def begin(self, player: str, command: Sequence[str], process_id: int) -> DialogueFile | None:
        """Open a log file for the dialogue with a new process of a player; ``None`` after a write error of the log."""
        if self.has_failed:
            return None
        try:
            file = DialogueFile(self, *self._taken(file_stem(player)))
        except OSError as error:
            self.fail(self.folder / f"{file_stem(player)}.log", error)
            return None
        file.write("*", f"player {player}, process {process_id}: {shlex.join(command)}\n".encode())
        return file

    def _taken(self, stem: str) -> tuple[Path, int]:
        """Lock the first of a player's log files that is not in use; returns its path and file descriptor."""
        number = 1
        while True:
            path = self.folder / (f"{stem}.log" if number == 1 else f"{stem}.{number}.log")
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return path, handle
            except OSError as error:
                os.close(handle)
                if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                    raise
            number += 1

    def fail(self, path: Path, error: OSError) -> None:
        """Stop the log because of ``error`` at ``path``; the error is reported once."""
        with self._lock:
            if self.has_failed:
                return
            self.has_failed = True
        self._warn(console("elolab.arena")("progress.log_failed", path=path, reason=_reason(error)))


class DialogueFile:
    """The log of the dialogue with one process; used by one thread at a time."""

    def __init__(self, log: DialogueLog, path: Path, handle: int) -> None:
        self._log, self._path, self._handle = log, path, handle
        self._begun: dict[str, bytes] = {}
        """Unfinished lines, by source."""

    def write(self, who: str, said: bytes, at_ns: int | None = None) -> None:
        """Record the bytes ``said`` by the source ``who``; they may begin and end within a line.

        ``who`` is ``>``, ``<``, ``!`` or ``*``, as described in the module. ``at_ns`` is the time of the bytes
        (``time.monotonic_ns``), ``None`` for now. The log shows the time at which a line ended.
        """
        *lines, begun = (self._begun.get(who, b"") + said).split(b"\n")
        if len(begun) > MAX_BEGUN_BYTES:
            lines.append(begun)
            begun = b""
        self._begun[who] = begun
        if lines:
            self._write_lines(who, lines, at_ns)

    def _write_lines(self, who: str, lines: Sequence[bytes], at_ns: int | None = None) -> None:
        at = datetime.now(UTC)
        if at_ns is not None:
            at -= timedelta(microseconds=(time.monotonic_ns() - at_ns) / 1000)
        head = f"{at.isoformat(timespec='microseconds').removesuffix('+00:00')}Z {who} ".encode()
        data = b"".join(b"%b%b\n" % (head, line) for line in lines)
        if self._log.has_failed:
            return
        try:
            while data:
                data = data[os.write(self._handle, data) :]
        except OSError as error:
            self._log.fail(self._path, error)

    def close(self) -> None:
        """Write unfinished lines and unlock the file; may be called twice."""
        if self._handle < 0:
            return
        for who, begun in self._begun.items():
            if begun:
                self._write_lines(who, [begun])
        os.close(self._handle)
        self._handle = -1


def file_stem(player: str) -> str:
    """Make a file name without suffix from a player's name; unsafe characters become ``%`` and hexadecimal digits.

    Different names give different results; a long name is truncated and gets a digest.
    """
    stem = re.sub(r"[^\w +(),.=@-]|^\.", lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()), player)
    if len(stem.encode()) <= MAX_STEM_BYTES:
        return stem
    return f"{stem.encode()[: MAX_STEM_BYTES - 20].decode(errors='ignore')}-{digest_of(player)[:16]}"


def _reason(error: OSError) -> str:
    return "the disk is full" if error.errno in FULL_DISK_ERRORS else str(error.strerror)
