"""Linear algebra in one thread, so that results are equal to the last bit on any number of processors.

OpenBLAS, which numpy's packages contain, divides large products and factorizations among one thread per processor. This
changes the order of the sums. The last bits of a fit can decide which settings are compared, so a study would play
other games on another machine. Waiting threads also take processor time from games.
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
"""Name of the OpenBLAS function that gets or sets the number of threads; ``{}`` stands for ``get`` or ``set``."""


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit OpenBLAS to one thread, as a context manager or decorator; other libraries are not affected."""
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
    """The OpenBLAS library that numpy has loaded; ``None`` if numpy uses another library."""
    package = Path(np.__file__).parent
    for folder in (package.parent / "numpy.libs", package / ".dylibs"):
        for path in sorted(folder.glob("*scipy_openblas64_*")):
            library = ctypes.CDLL(str(path))  # it is loaded already: this is the same one
            if hasattr(library, SYMBOL.format("get")) and hasattr(library, SYMBOL.format("set")):
                return library
    return None
