"""How much of an array the system holds in memory: pages that were never written are promised only."""

from __future__ import annotations

import ctypes
import os

import numpy as np


def resident_share(array: np.ndarray) -> float:
    """The share of an array's whole pages that are in memory, by ``mincore``."""
    page = os.sysconf("SC_PAGE_SIZE")
    first = -(-array.ctypes.data // page) * page
    pages = (array.ctypes.data + array.nbytes - first) // page
    states = (ctypes.c_ubyte * pages)()
    library = ctypes.CDLL(None, use_errno=True)
    if library.mincore(ctypes.c_void_p(first), ctypes.c_size_t(pages * page), states):
        raise OSError(ctypes.get_errno(), "mincore failed")
    return sum(state & 1 for state in states) / pages
