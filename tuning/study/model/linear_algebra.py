"""Linear algebra in one thread, so that results are equal to the last bit on any number of processors.

OpenBLAS, which numpy's packages contain, divides large products and factorizations among as many threads as there are
processors, which changes the order of the sums. The last bits of a fit can decide which settings meet, so a
study would lead to other games on another machine. Threads that wait for a part also take processor time from games.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

SYMBOL = "scipy_openblas_{}_num_threads64_"
"""OpenBLAS's ``openblas_get_num_threads`` and its counterpart, as numpy's packages name them."""


@contextmanager
def one_thread() -> Iterator[None]:
    """Let OpenBLAS use one thread; also a decorator. With another library nothing changes."""
    library = openblas()
    before = 1 if library is None else getattr(library, SYMBOL.format("get"))()
    if library is None or before == 1:
        yield
        return
    set_threads = getattr(library, SYMBOL.format("set"))
    set_threads(1)
    try:
        yield
    finally:
        set_threads(before)


@cache
def openblas() -> Any:
    """The library that numpy has loaded; ``None`` if it was built with another one."""
    package = Path(np.__file__).parent
    for folder in (package.parent / "numpy.libs", package / ".dylibs"):
        for path in sorted(folder.glob("*scipy_openblas64_*")):
            library = ctypes.CDLL(str(path))  # it is loaded already: this is the same one
            if hasattr(library, SYMBOL.format("get")) and hasattr(library, SYMBOL.format("set")):
                return library
    return None
