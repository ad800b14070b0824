"""What numba does again at every start and for every record, done once or not at all.

* The type of a record follows from its dtype alone; numba makes it anew for each record that it is shown, which took
  longer than the search of a small game.
* Whether there is a BLAS is what numba finds out by importing SciPy's, where SciPy is installed: a tenth of the time
  until an engine answers. Whether SciPy is there can be told without; what calls a BLAS imports it then.

It stands on parts of numba that are not public. Where they are not those it knows numba goes its own way.
"""

from __future__ import annotations

import functools
import importlib.util
import sys

import numba
import numba.np.linalg
import numba.np.numpy_support

from engine.compiled.linking import KNOWN_VERSION


def take_shortcuts() -> None:
    """Put them in the place of numba's own ways, if numba is one that we know."""
    if not numba.__version__.startswith(KNOWN_VERSION):
        return
    support, algebra = numba.np.numpy_support, numba.np.linalg
    if hasattr(support, "from_struct_dtype"):
        setattr(support, "from_struct_dtype", functools.cache(support.from_struct_dtype))  # noqa: B010
    if "numba.np.arraymath" in sys.modules or not hasattr(algebra, "ensure_blas"):
        return
    ensure_blas = algebra.ensure_blas

    def is_scipy_installed() -> None:
        """Answers the one question of ``numba.np.arraymath`` when that is imported."""
        setattr(algebra, "ensure_blas", ensure_blas)  # noqa: B010
        if importlib.util.find_spec("scipy") is None:
            raise ImportError("SciPy is not installed")

    setattr(algebra, "ensure_blas", is_scipy_installed)  # noqa: B010
