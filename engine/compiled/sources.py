"""The engine's source files, and their digest, which determines whether cached machine code can be reused.

The digest covers every byte of the package's sources, the versions of numba, llvmlite and numpy, and the flags that
change compilation. numba itself detects neither a change in a called function of another file nor a changed flag.
"""

from __future__ import annotations

import hashlib
import os
from importlib import metadata
from pathlib import Path

ENGINE_DIRECTORY = Path(__file__).parent.parent

DEBUG = os.environ.get("ELOLAB_DEBUG", "") not in ("", "0")
"""True if the search checks its preconditions (``engine.games.assertions``). It is then many times slower.

Read once from ``ELOLAB_DEBUG``, for tests. The caches of code with and without assertions are separate.
"""

NUMBA_LINKING = os.environ.get("ELOLAB_LINKING", "") == "numba"
"""True if ``ELOLAB_LINKING=numba`` disables ``engine.compiled.linking``, for comparison with numba's own linking."""


def engine_files() -> list[Path]:
    """Paths of all Python source files of the engine, in a fixed order."""
    return sorted(ENGINE_DIRECTORY.rglob("*.py"))


def cache_key() -> str:
    """Sixteen hexadecimal digits that change whenever cached machine code might be stale."""
    versions = [metadata.version(name) for name in ("numba", "llvmlite", "numpy")]
    flags = [*versions, os.environ.get("NUMBA_BOUNDSCHECK", "")]
    flags += [name for name, is_set in (("debug", DEBUG), ("numba", NUMBA_LINKING)) if is_set]
    digest = hashlib.sha256(" ".join(flags).encode())
    for path in engine_files():
        digest.update(str(path.relative_to(ENGINE_DIRECTORY).as_posix()).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
