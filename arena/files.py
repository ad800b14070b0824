"""Atomic replacement of files: a reader never sees a partial file, and a crash leaves the old file intact."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from elolab.engine.errors import UserError, argument

FULL_DISK_ERRORS = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)


OTHER_FOLDER = f"give another folder with {argument('out')}"
"""Advice to choose another folder, used in many error messages about a run's folder."""


class FileError(UserError):
    """Raised if a file of a run cannot be written; the message gives the path and the reason."""

    exit_code = 1


def replace_file(path: Path, content: str | bytes | Callable[[IO[str]], None], *, durable: bool = True) -> None:
    """Replace the file ``path``. ``content`` is text, bytes, or a function that writes to the open text file.

    See ``replacing`` for pipes, links and ``durable``. Raises ``FileError`` and leaves the old file untouched if
    writing fails.
    """
    with replacing(path, binary=isinstance(content, bytes), durable=durable) as stream:
        if callable(content):
            content(stream)
        else:
            stream.write(content)


@contextmanager
def replacing(path: Path, *, binary: bool = False, durable: bool = True) -> Iterator[IO[Any]]:
    r"""Open a temporary file that replaces ``path`` at the end of the ``with`` block, unless an exception is raised.

    The file is text in UTF-8 with ``\n`` line ends, unless it is ``binary``. With ``durable``, the block ends only
    after the content is on the disk (``fsync``). A pipe or terminal is written to directly. A symbolic link stays and
    its target is replaced. Temporary files of killed processes are removed. Raises ``FileError`` and leaves the old
    file untouched if writing fails.
    """
    temporary = None
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            with _opened(os.open(path, os.O_WRONLY), binary) as stream:
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
        _remove(temporary)
        is_full = error.errno in FULL_DISK_ERRORS
        reason, remedy = ("the disk is full", "free some space") if is_full else (str(error.strerror), "")
        raise FileError(f"{path}: cannot be written: {reason}", remedy) from None
    except BaseException:
        _remove(temporary)
        raise


def _remove_unfinished(target: Path) -> None:
    """Remove the temporary files for ``target`` that killed processes have left behind."""
    prefix = f".{target.name}."
    try:
        names = os.listdir(target.parent)
    except OSError:  # missing or unreadable folder: the write reports it later
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
    except (PermissionError, OverflowError):  # another user's process, or one that has just ended
        pass
    return True


def _opened(handle: int, binary: bool) -> IO[Any]:
    return os.fdopen(handle, "wb") if binary else os.fdopen(handle, "w", encoding="utf-8", newline="\n")


def _remove(temporary: str | None) -> None:
    if temporary is not None:
        with suppress(OSError):
            os.unlink(temporary)
