"""How much of an array the system holds in memory: pages that were never written are promised only."""

from __future__ import annotations

import ctypes
import mmap

import numpy as np

_LIBRARY = ctypes.CDLL(None, use_errno=True)


def give_back(array: np.ndarray) -> None:
    """Return an array's whole pages to the system, which promises zeroed ones instead.

    A fresh array of zeros need not be such a promise: ``calloc`` clears memory that the process has used before.
    """
    first, size = _whole_pages(array)
    if _LIBRARY.madvise(ctypes.c_void_p(first), ctypes.c_size_t(size), mmap.MADV_DONTNEED):
        raise OSError(ctypes.get_errno(), "madvise failed")


def resident_share(array: np.ndarray) -> float:
    """The share of an array's whole pages that are in memory, by ``mincore``."""
    first, size = _whole_pages(array)
    states = (ctypes.c_ubyte * (size // mmap.PAGESIZE))()
    if _LIBRARY.mincore(ctypes.c_void_p(first), ctypes.c_size_t(size), states):
        raise OSError(ctypes.get_errno(), "mincore failed")
    return sum(state & 1 for state in states) / len(states)


def _whole_pages(array: np.ndarray) -> tuple[int, int]:
    """Address and size in bytes of the pages that lie in an array as a whole."""
    first = -(-array.ctypes.data // mmap.PAGESIZE) * mmap.PAGESIZE
    return first, (array.ctypes.data + array.nbytes - first) // mmap.PAGESIZE * mmap.PAGESIZE
