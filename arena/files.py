"""Replacing files atomically, so that a reader never sees half of one and a crash leaves the old one whole."""

from __future__ import annotations

import errno
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from elolab.engine.errors import UserError

FULL_DISK_ERRORS = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
MAX_LINKS = 40
"""Longest chain of symbolic links followed, as on Linux."""


class FileError(UserError):
    """A file of a run that cannot be written; the message names it and the reason."""

    exit_code = 1


def replace_file(path: Path, content: str | bytes | Callable[[IO[str]], None], *, durable: bool = True) -> None:
    """Replace ``path`` by ``content``, which may be a function that writes to the open text file it is given.

    See ``replacing`` for pipes, links and ``durable``. Raises ``FileError``; the old file is then untouched.
    """
    with replacing(path, binary=isinstance(content, bytes), durable=durable) as stream:
        if callable(content):
            content(stream)
        else:
            stream.write(content)


@contextmanager
def replacing(path: Path, *, binary: bool = False, durable: bool = True) -> Iterator[IO[Any]]:
    """Open a new file that replaces ``path`` on leaving the context, unless an error occurs.

    Text is written in UTF-8 with plain line ends. ``durable`` waits until the content is on the disk. Raises
    ``FileError``; the old file is then untouched. Pipes, terminals and open descriptors (``/dev/stdout``) are written
    to directly. A symbolic link stays; its target is replaced. Also removes the temporary files that killed processes
    left behind.
    """
    temporary = None
    try:
        if (handle := _written_to(path)) is not None:
            with _opened(handle, binary) as stream:
                yield stream
                stream.flush()
            return
        target = Path(os.path.realpath(path))
        _remove_unfinished(target)
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.{os.getpid()}.", dir=target.parent)
        with _opened(handle, binary) as stream:
            yield stream
            stream.flush()
            if durable:
                os.fsync(stream.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, target)
    except OSError as error:
        if temporary is not None:
            _remove(temporary)
        reason = "the disk is full; free some space" if error.errno in FULL_DISK_ERRORS else str(error.strerror)
        raise FileError(f"{path}: cannot be written: {reason}") from None
    except BaseException:
        if temporary is not None:
            _remove(temporary)
        raise


def descriptor_of(path: Path) -> int | None:
    """The number of the open descriptor that ``/dev/stdout``, ``/dev/fd/3`` and similar paths mean, else ``None``.

    Links of such a path are not followed to the end: whoever opened the file behind it may write there before and after
    this process.
    """
    folders = {os.path.realpath(folder) for folder in ("/dev/fd", "/proc/self/fd")}
    for _ in range(MAX_LINKS):
        folder = os.path.realpath(path.parent)
        if folder in folders:
            return int(path.name) if path.name.isascii() and path.name.isdigit() else None
        if not path.is_symlink():
            return None
        path = Path(folder, os.readlink(path))
    return None


def _written_to(path: Path) -> int | None:
    """A new descriptor for a path that must be written to directly (``replacing``); ``None`` for all others."""
    number = descriptor_of(path)
    if number is not None:
        for stream in (sys.stdout, sys.stderr):  # append after earlier output
            stream.flush()
        return os.dup(number)
    is_other = path.exists() and not path.is_file() and not path.is_dir()
    return os.open(path, os.O_WRONLY) if is_other else None


def _remove_unfinished(target: Path) -> None:
    """Remove temporary files for ``target`` left by processes that were killed."""
    prefix = f".{target.name}."
    try:
        names = os.listdir(target.parent)
    except OSError:  # no such folder, or one without read permission: the later write reports it
        return
    for name in names:
        process = name.removeprefix(prefix).partition(".")[0]
        if name.startswith(prefix) and process.isascii() and process.isdigit() and not _is_running(int(process)):
            _remove(str(target.parent / name))


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):  # another user's, or already gone
        pass
    return True


def _opened(handle: int, binary: bool) -> IO[Any]:
    return os.fdopen(handle, "wb") if binary else os.fdopen(handle, "w", encoding="utf-8", newline="\n")


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass
