"""What numba does again for every record that it is shown, done once.

The type of a record follows from its dtype alone; to make it anew each time took longer than the search of a
small game.

It stands on parts of numba that are not public. Where they are not those it knows numba goes its own way.
"""

from __future__ import annotations

import functools

import numba
import numba.np.numpy_support

from elolab.engine.compiled.linking import KNOWN_VERSION


def take_shortcuts() -> None:
    """Put them in the place of numba's own ways, if numba is one that we know."""
    if not numba.__version__.startswith(KNOWN_VERSION):
        return
    support = numba.np.numpy_support
    if hasattr(support, "from_struct_dtype"):
        setattr(support, "from_struct_dtype", functools.cache(support.from_struct_dtype))  # noqa: B010
