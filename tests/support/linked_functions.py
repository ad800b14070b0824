"""Functions that call each other, for what is compiled to machine code and what a second process finds in the cache.

Run as a program, ``python linked_functions.py NAME...`` calls the functions named, in that order, and prints as JSON
the values, and what each function compiled, loaded and has as machine code.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np

from elolab.engine.compiled.kernel import jit
from elolab.engine.compiled.linking import IS_DEFERRED


@jit
def bottom(value):  # type: ignore[no-untyped-def]
    """Short, and with an error whose message is a Python object."""
    if value < 0:
        raise ValueError("less than nothing")
    return value + 1


@jit
def middle(value):  # type: ignore[no-untyped-def]
    """Calls the one below and itself."""
    if value <= 0:
        return bottom(value)
    return middle(value - np.int64(1)) + bottom(value)


@jit
def top(value):  # type: ignore[no-untyped-def]
    """Calls both."""
    return 100 * middle(value) + bottom(value)


FUNCTIONS = {"bottom": bottom, "middle": middle, "top": top}


def _called(name: str) -> Any:
    function = FUNCTIONS[name.removeprefix("failing ")]
    try:
        return int(function(np.int64(-1 if name.startswith("failing ") else 3)))
    except ValueError as error:
        return str(error)


def main(names: list[str]) -> None:
    """Call and print."""
    values = [_called(name) for name in names]
    print(
        json.dumps(
            {
                "deferred": IS_DEFERRED,
                "values": values,
                "compiled": {name: sum(each.stats.cache_misses.values()) for name, each in FUNCTIONS.items()},
                "loaded": {name: sum(each.stats.cache_hits.values()) for name, each in FUNCTIONS.items()},
                "machine code": [
                    name
                    for name, each in FUNCTIONS.items()
                    if any(result.library._finalized for result in each.overloads.values())
                ],
            }
        )
    )


if __name__ == "__main__":
    main(sys.argv[1:])
