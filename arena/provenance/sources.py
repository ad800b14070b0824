"""Which elolab plays: digests of its sources, beside ``engine.compiled.identity``.

Between a run and its workers every source that can decide a game has to be the same, byte for byte: whoever starts the
workers can install one version. A folder of games outlives versions. It is bound to the engine's identity and, where
other programs play, to ``driver_identity``; a change to a report, a figure or a comment is none to either.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from elolab.engine.compiled.identity import source_without_comments
from elolab.engine.compiled.sources import ENGINE_DIRECTORY

SHOWN_DIGITS = 12
"""Of a digest, for people."""
_ARENA = Path(__file__).parent.parent
_DECIDE_NOTHING = {"checking", "collection", "commands", "figures", "reports", "watching"}
"""Folders of ``arena`` and ``engine`` that only the client uses, after games or without any."""
_DRIVER = ("play/game.py", "players/*.py", "protocols/*.py")
"""What speaks to programs and judges their answers, in ``arena``."""
_NOT_DRIVER = {"detect.py", "processors.py", "registry.py", "supervisor.py"}


@functools.cache
def source_digests() -> Mapping[str, str]:
    """The digest of every source that can decide a game, by its path; as of the first call in this process."""
    packages = (_ARENA, ENGINE_DIRECTORY)
    files = [(path, path.relative_to(package.parent)) for package in packages for path in package.rglob("*.py")]
    return {
        name.as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()[:SHOWN_DIGITS]
        for path, name in sorted(files)
        if not _DECIDE_NOTHING & set(name.parts)
    }


def sources_digest() -> str:
    """Twelve hexadecimal digits for all of ``source_digests``."""
    return _digest_of(f"{name} {digest}\n" for name, digest in source_digests().items())


def difference_in_sources(there: Mapping[str, str]) -> str:
    """Where a worker's ``source_digests`` differ from those of this process, for people; empty if nowhere."""
    here = source_digests()
    names = [name for name in sorted({**here, **there}) if here.get(name) != there.get(name)]
    if not names:
        return ""
    first, more = names[0], f" and {len(names) - 1} more" if len(names) > 1 else ""
    return f"{first} is {there.get(first, 'missing')} there, {here.get(first, 'missing')} here{more}"


@functools.cache
def driver_identity() -> str:
    """Twelve hexadecimal digits that change whenever elolab might speak otherwise to a program, or judge it otherwise.

    Comments and docstrings do not count.
    """
    files = [path for pattern in _DRIVER for path in sorted(_ARENA.glob(pattern)) if path.name not in _NOT_DRIVER]
    files += sorted((ENGINE_DIRECTORY / "programs").glob("*.py"))
    return _digest_of(source_without_comments(path.read_text("utf-8")) for path in files)


def _digest_of(texts: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for text in texts:
        digest.update(text.encode())
    return digest.hexdigest()[:12]
