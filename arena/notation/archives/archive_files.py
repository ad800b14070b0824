"""Reads the files at a path: one file, or all files in a folder or zip file, decompressed."""

from __future__ import annotations

import bz2
import codecs
import gzip
import lzma
import os
import zipfile
import zlib
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import IO

from elolab.arena.notation.archives.archive import ArchiveFile
from elolab.arena.notation.pgn import PortableGameError

MAX_BYTES = 1 << 28
"""Maximum size of a decompressed file; larger ones are refused before they fill the memory."""

_ZIP, _GZIP, _BZIP2 = b"PK\x03\x04", b"\x1f\x8b", b"BZh"
_DAMAGE = (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile, zipfile.BadZipFile, RuntimeError, ValueError)
"""Exceptions that decompression raises for damaged files.

``RuntimeError`` means an encrypted zip file or an unknown compression method.
"""


def sources(path: Path) -> Iterator[ArchiveFile | PortableGameError]:
    """Yield the files at a path, sorted by name; an unreadable file yields an error instead.

    The errors of unreadable folders come first.
    """
    if path.is_dir():
        unreadable: list[OSError] = []
        files = sorted(_files_below(path, unreadable.append))
        yield from (_unreadable(error.filename, error) for error in unreadable)
        for file in files:
            yield from _sources_of_file(file, is_chosen=False)
    else:
        yield from _sources_of_file(path, is_chosen=True)


def unpacked(data: bytes, where: str) -> bytes:
    """Decompress gzip or bzip2 content, and convert UTF-16 with a byte-order mark to UTF-8.

    Raises ``PortableGameError``.
    """
    if data.startswith(_GZIP):
        return _limited(lambda: gzip.GzipFile(fileobj=BytesIO(data)), where)
    if data.startswith(_BZIP2):
        return _limited(lambda: bz2.BZ2File(BytesIO(data)), where)
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace").encode()
    return data


def _files_below(folder: Path, unreadable: Callable[[OSError], None]) -> Iterator[Path]:
    for parent, folders, names in os.walk(folder, onerror=unreadable):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (Path(parent, name) for name in names if not name.startswith("."))


def _sources_of_file(path: Path, *, is_chosen: bool) -> Iterator[ArchiveFile | PortableGameError]:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise PortableGameError(f"{path}: larger than {MAX_BYTES >> 20} MiB; split it")
        data = path.read_bytes()
        if data.startswith(_ZIP):
            yield from _members(data, str(path))
        else:
            yield ArchiveFile(str(path), unpacked(data, str(path)), is_chosen, _beside_file(path))
    except PortableGameError as error:
        yield error
    except OSError as error:
        yield _unreadable(path, error)


def _unreadable(path: Path | str, error: OSError) -> PortableGameError:
    return PortableGameError(f"{path}: cannot be read: {error.strerror}")


def _beside_file(path: Path) -> Callable[[str], bytes | None]:
    def beside(suffix: str) -> bytes | None:
        try:
            names = sorted(os.listdir(path.parent))
            found = next((name for name in names if name.lower().endswith(suffix)), None)
            return None if found is None else unpacked(path.with_name(found).read_bytes(), found)
        except OSError:
            return None

    return beside


def _members(data: bytes, where: str) -> Iterator[ArchiveFile | PortableGameError]:
    try:
        archive = _opened_zip(data)
        names = sorted(name for name in archive.namelist() if not name.endswith("/"))
    except _DAMAGE as error:
        yield PortableGameError(f"{where}: the zip file is damaged: {error}")
        return

    def read(name: str) -> bytes:
        return unpacked(_limited(lambda: archive.open(name), f"{where}/{name}"), f"{where}/{name}")

    def beside(member: str) -> Callable[[str], bytes | None]:
        folder = PurePosixPath(member).parent

        def named(suffix: str) -> bytes | None:
            near = (name for name in names if PurePosixPath(name).parent == folder and name.lower().endswith(suffix))
            found = next(near, None)
            return None if found is None else read(found)

        return named

    for name in names:
        try:
            yield ArchiveFile(f"{where}/{name}", read(name), False, beside(name))
        except PortableGameError as error:
            yield error


def _opened_zip(data: bytes) -> zipfile.ZipFile:
    """Open a zip file; file names not flagged as UTF-8 are decoded as Chinese."""
    try:
        return zipfile.ZipFile(BytesIO(data), metadata_encoding="gb18030")
    except UnicodeDecodeError:
        return zipfile.ZipFile(BytesIO(data))


def _limited(opened: Callable[[], IO[bytes] | gzip.GzipFile], where: str) -> bytes:
    """Read a stream; raises ``PortableGameError`` if it has more than ``MAX_BYTES``."""
    try:
        with opened() as stream:
            data = stream.read(MAX_BYTES + 1)
    except (*_DAMAGE, OSError) as error:
        raise PortableGameError(f"{where}: the compressed file is damaged: {error}") from None
    if len(data) > MAX_BYTES:
        raise PortableGameError(f"{where}: larger than {MAX_BYTES >> 20} MiB when unpacked; split it")
    return data
