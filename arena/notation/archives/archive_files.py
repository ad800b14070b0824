"""Reads the files at a path: one file, or all files in a folder or zip file, decompressed.

A text of more than ``PART_BYTES`` is read in parts, so that files of any length fit into memory. A part ends at the end
of a PGN game or of a line.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import os
import re
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

from elolab.arena.notation.archives.archive import ArchiveFile
from elolab.arena.notation.pgn import PortableGameError


def _zstandard() -> Any:
    """The module for Zstandard: ``compression.zstd`` of Python 3.14 and later, or its backport."""
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd

    return zstd


MAX_BYTES = 1 << 28
"""Maximum size of a decompressed file that cannot be read in parts; memory might not suffice for larger ones."""
PART_BYTES = 1 << 23
"""Approximate size of the parts in which a large text is read."""
COMPRESSED = ("", ".gz", ".bz2", ".zst")
"""Suffixes that may follow a file's own suffix: none if the file is not compressed, else the kind of compression."""

_BLOCK_BYTES = 1 << 16
"""Number of bytes to decompress at a time; after damage, the rest of the current block is lost."""
_EVENT = re.compile(rb'^\[\s*Event\s+"', re.MULTILINE)
_UNDIVIDED = (b"<", b"(;")
"""First bytes of text formats whose games can span several lines, so that they cannot be read in parts."""
_ZIP = b"PK\x03\x04"
_COMPRESSIONS: tuple[tuple[bytes, Callable[[IO[bytes]], IO[bytes]]], ...] = (
    (b"\x1f\x8b", lambda stream: cast("IO[bytes]", gzip.GzipFile(fileobj=stream))),
    (b"BZh", lambda stream: cast("IO[bytes]", bz2.BZ2File(stream))),
    (b"\x28\xb5\x2f\xfd", lambda stream: cast("IO[bytes]", _zstandard().ZstdFile(stream))),
)
"""First bytes of each kind of compressed file, and the function that opens it as a decompressed stream."""
_DAMAGE = (zipfile.BadZipFile, EOFError, RuntimeError, ValueError)
"""Exceptions raised for a damaged zip file; ``RuntimeError`` means encryption or an unknown compression method."""


def sources(path: Path) -> Iterator[ArchiveFile | PortableGameError]:
    """Yield the files at a path in the order of their names, with an error in place of an unreadable file.

    Errors for unreadable folders come first.
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
    """Decompress gzip, bzip2 or Zstandard, and convert UTF-16 to UTF-8; other data are returned unchanged.

    Raises ``PortableGameError`` for damaged or too large content.
    """
    for begins, decompress in _COMPRESSIONS:
        if data.startswith(begins):
            return _limited(lambda decompress=decompress: decompress(BytesIO(data)), where)  # type: ignore[misc]
    return _from_utf_16(data)


def packed(data: bytes, name: str) -> bytes | None:
    """Compress ``data`` in the format of the suffix of ``name``; ``None`` if the suffix means no compression.

    Equal content gives equal bytes.
    """
    if name.endswith(".gz"):
        return gzip.compress(data, mtime=0)
    if name.endswith(".bz2"):
        return bz2.compress(data)
    return _zstandard().compress(data) if name.endswith(".zst") else None


def _from_utf_16(data: bytes) -> bytes:
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace").encode()
    return data


def _files_below(folder: Path, unreadable: Callable[[OSError], None]) -> Iterator[Path]:
    for parent, folders, names in os.walk(folder, onerror=unreadable):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (Path(parent, name) for name in names if not name.startswith("."))


def _sources_of_file(path: Path, *, is_chosen: bool) -> Iterator[ArchiveFile | PortableGameError]:
    where = str(path)
    try:
        with ExitStack() as opened:
            file = opened.enter_context(path.open("rb"))
            stream: IO[bytes] = file
            begin = file.read(len(_ZIP))
            if begin == _ZIP:
                yield from _members(_whole(file, begin, where), where)
                return
            file.seek(0)
            for begins, decompress in _COMPRESSIONS:
                if begin.startswith(begins):
                    stream = opened.enter_context(decompress(file))
            for part in _parts(_Reader(stream, where), where, "" if stream is file else " when unpacked"):
                yield replace(part, is_chosen=is_chosen, beside=_beside_file(path))
    except PortableGameError as error:
        yield error
    except OSError as error:
        yield _unreadable(path, error)


class _Reader:
    """Reader of a stream with compressed content that may be damaged."""

    def __init__(self, stream: IO[bytes], where: str) -> None:
        self._stream = stream
        self._where = where
        self.damage: PortableGameError | None = None
        """The error for damaged content, ``None`` if no damage is found yet; earlier content can be read."""

    def read(self, size: int) -> bytes:
        """Read ``size`` bytes, or fewer at the end of the content; damage ends the content and sets ``damage``."""
        found = bytearray()
        while len(found) < size and self.damage is None:
            try:
                block = self._stream.read(min(_BLOCK_BYTES, size - len(found)))
            except Exception as error:  # each decompressor raises its own exceptions
                self.damage = PortableGameError(f"{self._where}: the compressed file is damaged: {error}")
                break
            if not block:
                break
            found += block
        return bytes(found)


def _whole(stream: IO[bytes], begin: bytes, where: str) -> bytes:
    """Return ``begin`` and the rest of the stream; raises ``PortableGameError`` if that is more than ``MAX_BYTES``."""
    data = begin + stream.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise PortableGameError(f"{where}: larger than {MAX_BYTES >> 20} MiB", "split it")
    return data


def _parts(reader: _Reader, where: str, when: str) -> Iterator[ArchiveFile]:
    """Yield the content of a file; a large text comes in parts.

    Raises ``PortableGameError`` for damaged content, after the parts before the damage, and for content that is too
    large. ``when`` is a phrase for the message about too large content: empty, or " when unpacked".
    """
    data = reader.read(PART_BYTES)
    if len(data) < PART_BYTES or b"\0" in data or data.lstrip().startswith(_UNDIVIDED):
        data += reader.read(MAX_BYTES + 1 - len(data))
        if reader.damage is not None:
            raise reader.damage
        if len(data) > MAX_BYTES:
            raise PortableGameError(f"{where}: larger than {MAX_BYTES >> 20} MiB{when}", "split it")
        yield ArchiveFile(where, _from_utf_16(data))
        return
    is_games = _EVENT.search(data) is not None
    first_line = first_game = 1
    while data:
        more = reader.read(PART_BYTES)
        is_last = not more and reader.damage is None
        end = len(data) if is_last else _end_of_part(data, is_games=is_games)
        if end:
            yield ArchiveFile(where, data[:end], first_line=first_line, first_game=first_game)
            first_line += data.count(b"\n", 0, end)
            first_game += len(_EVENT.findall(data, 0, end))
        if not more:
            break
        data = data[end:] + more
        if len(data) > MAX_BYTES:
            raise PortableGameError(f"{where}: line {first_line}: longer than {MAX_BYTES >> 20} MiB", "split it")
    if reader.damage is not None:
        raise reader.damage


def _end_of_part(data: bytes, *, is_games: bool) -> int:
    """Number of bytes up to the end of the last complete game (if ``is_games``) or line; 0 if there is none."""
    if not is_games:
        return data.rfind(b"\n") + 1
    place = len(data)
    while (place := data.rfind(b"[Event", 0, place)) > 0:
        if data.count(b"\n", len(data[max(0, place - 8) : place].rstrip()) + max(0, place - 8), place) > 1:
            return place
    return 0


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
    """Open a zip file; file names that are not flagged as UTF-8 are decoded as GB18030."""
    try:
        return zipfile.ZipFile(BytesIO(data), metadata_encoding="gb18030")
    except UnicodeDecodeError:
        return zipfile.ZipFile(BytesIO(data))


def _limited(opened: Callable[[], IO[bytes] | gzip.GzipFile], where: str) -> bytes:
    """Read a compressed stream; raises ``PortableGameError`` if it is damaged or has more than ``MAX_BYTES``."""
    try:
        with opened() as stream:
            data = stream.read(MAX_BYTES + 1)
    except Exception as error:  # each decompressor raises its own exceptions
        raise PortableGameError(f"{where}: the compressed file is damaged: {error}") from None
    if len(data) > MAX_BYTES:
        raise PortableGameError(f"{where}: larger than {MAX_BYTES >> 20} MiB when unpacked", "split it")
    return data
