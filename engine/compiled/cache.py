"""Numba's on-disk cache, made safe for several processes. Import this module before anything is compiled.

* Record types get a name derived from their content. Numba's own names contain a number counted in each process, so
  code that two processes cached for two games could have the same name.
* The cache directory's name contains a digest of all engine sources, because numba does not notice that a called
  function was edited.
* Each file contains a checksum, which is verified before use: numba unpickles and runs whatever it finds. One damaged
  file, for instance after a power cut, would crash every command. Damaged code is compiled again.
* Each set of argument types has its own file, named after them. Numba keeps an index of numbered files, in which two
  processes that compile a function for two games at once could assign the same number.
* The location of the sources does not matter: environments with equal sources share the compiled code. Numba would keep
  a cache for each path. The digest in the directory's name, of sources and compiler versions, makes this safe.
"""

from __future__ import annotations

import contextlib
import functools
import glob
import hashlib
import os
import pickle
import shutil
import stat
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numba
import numba.core.caching
import numba.core.config
import numba.np.arrayobj  # loading code imports it, which must not happen first in two threads at once
import numpy as np
import numpy.ma
from numba.core.caching import CacheImpl, UserProvidedCacheLocator
from numba.core.serialize import dumps
from numba.core.types.npytypes import Record

from elolab.engine.compiled.sources import ENGINE_DIRECTORY, cache_key
from elolab.engine.errors import UserError

KEPT_CACHES = 4
"""Number of caches of other versions of the sources to keep, so that switching versions needs no compilation."""
KEPT_SECONDS = 24 * 3600
"""Minimum age in seconds at which a cache may be deleted. A process may still be writing to a newer cache."""
CHECKSUM_BYTES = hashlib.sha256().digest_size
"""Length in bytes of the checksum (SHA-256 of the rest of the file) at the beginning of each cache file."""


def _record_mangling(record: Record) -> tuple[str, tuple[str, ...]]:
    """The two parts from which numba forms the internal name of a record type: base name and suffix.

    The suffix is a digest of the record's fields, size and alignment.
    """
    return "Record", ("R" + hashlib.sha256(record.name.encode()).hexdigest()[:24],)


def _prepare_mangling() -> None:
    setattr(Record, "mangling_args", property(_record_mangling))  # noqa: B010 - a property replaces a property
    probe = numba.from_dtype(np.dtype([("probe", np.int64)]))
    again = numba.from_dtype(np.dtype([("probe", np.int64)]))
    other = numba.from_dtype(np.dtype([("other", np.int64)]))
    if probe.mangling_args != again.mangling_args or probe.mangling_args == other.mangling_args:
        raise RuntimeError("numba's record mangling could not be replaced; cached code would be unsafe")


def default_cache_base() -> Path:
    if configured := os.environ.get("NUMBA_CACHE_DIR"):
        return Path(configured)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "elolab"
    # A variable that is empty counts as not set.
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "elolab"


def own_temporary_directory() -> Path:
    """A temporary directory that only this user can write to, because cached code is executed.

    Raises ``UserError`` if other users own the directory or can write to it.
    """
    directory = Path(tempfile.gettempdir()) / f"elolab-{os.getuid()}"
    with contextlib.suppress(FileExistsError):
        directory.mkdir(mode=0o700)
    found = directory.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o022:
        raise UserError(
            f"{directory}: other users can write to this folder, so compiled code would not be safe in it",
            "remove it, or set XDG_CACHE_HOME to a folder of yours",
        )
    return directory


def prepare_cache() -> Path:
    """Create the cache directory for the current sources, make numba use it, and delete old caches; return its path."""
    name = f"kernels-{cache_key()}"
    try:
        base = default_cache_base()
        directory = base / name
        directory.mkdir(parents=True, exist_ok=True)
        os.utime(directory)
        # Another process may delete the same directory at the same time.
        with contextlib.suppress(OSError):
            used = {path: path.stat().st_mtime for path in base.glob("kernels-*")}
            for stale in sorted(used, key=used.__getitem__, reverse=True)[KEPT_CACHES:]:
                if used[stale] < time.time() - KEPT_SECONDS:
                    shutil.rmtree(stale, ignore_errors=True)
    except (OSError, RuntimeError):
        # No writable home: use a temporary directory of this user.
        directory = own_temporary_directory() / name
        directory.mkdir(exist_ok=True)
    setattr(numba.config, "CACHE_DIR", str(directory))  # noqa: B010 - numba makes its settings at run time
    return directory


REASONS_NOT_KEPT: list[str] = []
"""Reasons why this process could not save compiled code; empty if all of it was saved."""


@functools.cache
def report_not_kept(reason: str) -> None:
    REASONS_NOT_KEPT.append(reason)
    print(
        f"elolab: {CACHE_DIRECTORY}: compiled code cannot be kept there ({reason}), so it is compiled again next time",
        file=sys.stderr,
        flush=True,
    )


@functools.cache
def report_damaged() -> None:
    print(
        f"elolab: {CACHE_DIRECTORY}: has damaged files; their functions are compiled again (up to a minute)",
        file=sys.stderr,
        flush=True,
    )


def write_kept(path: Path, content: bytes) -> None:
    """Atomically replace a cache file by ``content`` and its checksum. Raises ``OSError`` if writing fails."""
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(hashlib.sha256(content).digest())
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def read_kept(path: Path) -> memoryview | None:
    """The content of a file written by ``write_kept``; ``None`` if the file is missing or damaged.

    Deletes a damaged file, and reports the first damaged file on standard error.
    """
    try:
        whole = memoryview(path.read_bytes())
    except OSError:
        return None
    checksum, content = whole[:CHECKSUM_BYTES], whole[CHECKSUM_BYTES:]
    if hashlib.sha256(content).digest() == checksum:
        return content
    report_damaged()
    with contextlib.suppress(OSError):
        path.unlink()
    return None


class CodeFiles:
    """The cache files of one function: one file for each combination of argument types and processor.

    Replaces numba's ``IndexDataCacheFile``. Numba's keys also contain digests of the function's bytecode and closure.
    """

    def __init__(self, cache_path: str, filename_base: str, source_stamp: Any) -> None:
        self._folder, self._name, self._stamp = Path(cache_path), filename_base, source_stamp

    def load(self, key: Any) -> Any:
        """Load the machine code saved under ``key`` for the current source text; ``None`` if there is none."""
        content = read_kept(self._path(key))
        if content is None:
            return None
        stamp, data = pickle.loads(content)
        return data if stamp == self._stamp else None

    def save(self, key: Any, data: Any) -> None:
        """Save the machine code ``data`` under ``key``. If that fails, print each new reason once on standard error."""
        try:
            write_kept(self._path(key), dumps((self._stamp, data)))
        except OSError as error:  # the code stays usable in memory
            report_not_kept(error.strerror)

    def flush(self) -> None:
        for path in self._folder.glob(f"{glob.escape(self._name)}.*.nbc"):
            path.unlink(missing_ok=True)

    def _path(self, key: Any) -> Path:
        return self._folder / f"{self._name}.{hashlib.sha256(repr(key).encode()).hexdigest()[:16]}.nbc"


_PREPARED: set[str] = set()
"""Cache folders that this process has already checked for existence and write access."""


class _EngineLocator(UserProvidedCacheLocator):
    """Tells numba the cache folder of a function of the engine, by the path of the function's source file in the
    package.

    The folder in which the package is installed does not matter.
    """

    @classmethod
    def get_suitable_cache_subpath(cls, py_file: str) -> str:
        """Name of the folder, within the cache directory, for the functions of the source file ``py_file``."""
        folder = Path(py_file).parent.relative_to(ENGINE_DIRECTORY)
        # Code that calls Intel's vector library (SVML) runs only where it is installed.
        library = ("svml",) if getattr(numba.config, "USING_SVML", False) else ()
        return "_".join((ENGINE_DIRECTORY.name, *folder.parts, *library))

    def ensure_cache_path(self) -> None:
        """Create the cache folder and check that it is writable. Later calls for the same folder do nothing."""
        if self._cache_path not in _PREPARED:
            super().ensure_cache_path()
            _PREPARED.add(self._cache_path)

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> Any:
        """Make the locator for a function of the engine in the file ``py_file``; ``None`` for any other function."""
        return super().from_function(py_func, py_file) if ENGINE_DIRECTORY in Path(py_file).parents else None


def _prepare_places() -> None:
    CacheImpl._locator_classes.insert(0, _EngineLocator)
    setattr(numba.core.caching, "IndexDataCacheFile", CodeFiles)  # noqa: B010 - a class of another package is replaced


_prepare_mangling()
_prepare_places()
CACHE_DIRECTORY = prepare_cache()
