"""Digests of elolab's own sources outside the engine; for the engine see ``engine.compiled.identity``.

All sources that can influence a game must be identical in a run and its workers; installing the same version ensures
that. A folder may be continued with a later version of elolab: then only the engine's identity must match and, if
external programs play, ``driver_identity``. Changes to reports, statistics or comments affect neither.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from elolab.engine.compiled.identity import source_without_comments
from elolab.engine.compiled.sources import ENGINE_DIRECTORY

SHOWN_DIGITS = 12
"""Number of hexadecimal digits of a digest that messages contain."""
_ARENA = Path(__file__).parent.parent
_DECIDE_NOTHING = {"checking", "collection", "reports", "statistics", "watching"}
"""Folders of ``arena`` and ``engine`` whose sources cannot influence a game."""
_DRIVER = ("play/game.py", "players/*.py", "protocols/*.py")
"""Patterns of the modules in ``arena`` that communicate with programs and judge their answers.

Modules in ``_NOT_DRIVER`` are exceptions.
"""
_NOT_DRIVER = {"detect.py", "processors.py", "registry.py", "supervisor.py"}


@functools.cache
def source_digests() -> Mapping[str, str]:
    """A shortened digest of each source that can influence a game, keyed by path. Computed once per process."""
    packages = (_ARENA, ENGINE_DIRECTORY)
    files = [(path, path.relative_to(package.parent)) for package in packages for path in package.rglob("*.py")]
    return {
        name.as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()[:SHOWN_DIGITS]
        for path, name in sorted(files)
        if not _DECIDE_NOTHING & set(name.parts)
    }


def sources_digest() -> str:
    """A single digest of all sources that can influence a game: twelve hexadecimal digits."""
    return _digest_of(f"{name} {digest}\n" for name, digest in source_digests().items())


def difference_in_sources(there: Mapping[str, str]) -> str:
    """A phrase that names the first source that differs between a worker and this process, and counts the others.

    Empty if all sources agree. ``there`` has the ``source_digests`` of the worker.
    """
    here = source_digests()
    names = [name for name in sorted({**here, **there}) if here.get(name) != there.get(name)]
    if not names:
        return ""
    first, more = names[0], f" and {len(names) - 1} more" if len(names) > 1 else ""
    return f"{first} is {there.get(first, 'missing')} there, {here.get(first, 'missing')} here{more}"


@functools.cache
def driver_identity() -> str:
    """Digest of the code that communicates with programs and judges their answers: twelve hexadecimal digits.

    Comments and docstrings do not affect it.
    """
    files = [path for pattern in _DRIVER for path in sorted(_ARENA.glob(pattern)) if path.name not in _NOT_DRIVER]
    return _digest_of(source_without_comments(path.read_text("utf-8")) for path in files)


def _digest_of(texts: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for text in texts:
        digest.update(text.encode())
    return digest.hexdigest()[:12]
