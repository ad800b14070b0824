"""Two miniature games whose compilation takes the same steps, so that numba's own names for them are the same.

Run as a program, ``python record_twins.py [unpatched] alpha beta``: prints ``driver`` of each game named, in that
order, and the number of cache hits, as JSON. ``unpatched`` leaves numba's counting of record types in place, for the
proof that the danger is real.
"""

from __future__ import annotations

import json
import sys

import numpy as np

if "unpatched" in sys.argv:
    from numba.core.types.npytypes import Record

    numbas_own = Record.mangling_args

from elolab.engine.compiled.kernel import game_stub, implement, jit, new_record

if "unpatched" in sys.argv:
    Record.mangling_args = numbas_own

DTYPES = {
    "alpha": np.dtype([("twin_alpha", np.int64), ("value", np.int64)]),
    "beta": np.dtype([("twin_beta", np.int64), ("value", np.int64)]),
}


@game_stub
def worth(state):  # type: ignore[no-untyped-def]
    """What a game makes of its state."""


@jit
def alpha_worth(state):  # type: ignore[no-untyped-def]
    return state.value + 10


@jit
def beta_worth(state):  # type: ignore[no-untyped-def]
    return state.value + 10_000


@jit
def search(state, depth):  # type: ignore[no-untyped-def]
    """A recursion that no compiler turns into a loop; at depth 3 it has three leaves."""
    if depth <= 1:
        return worth(state)
    return search(state, depth - 1) + search(state, depth - 2)


@jit
def driver(state):  # type: ignore[no-untyped-def]
    return search(state, np.int64(3))


implement("twin_alpha", worth=alpha_worth)
implement("twin_beta", worth=beta_worth)

if __name__ == "__main__":
    values = [int(driver(new_record(DTYPES[word]))) for word in sys.argv[1:] if word in DTYPES]
    hits = sum(driver.stats.cache_hits.values())
    print(json.dumps({"values": values, "hits": hits}))
