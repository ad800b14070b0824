"""A cache of numba's record types by dtype.

numba rebuilds the type of every record argument in each call from Python, which took longer than the search of a small
game.

It relies on private parts of numba. With an unknown version it does nothing.
"""

from __future__ import annotations

import functools

import numba
import numba.np.numpy_support

from elolab.engine.compiled.linking import KNOWN_VERSION


def take_shortcuts() -> None:
    """Patch numba with the cache, if its version is known."""
    if not numba.__version__.startswith(KNOWN_VERSION):
        return
    support = numba.np.numpy_support
    if hasattr(support, "from_struct_dtype"):
        setattr(support, "from_struct_dtype", functools.cache(support.from_struct_dtype))  # noqa: B010
