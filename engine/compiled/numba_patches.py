"""Patches of numba that make calls of compiled functions cheaper.

* A numba function writes its result, and a pointer to an error description, into slots on its caller's stack. At its
  start, a caller clears the slots of every call in its source: 75 words for each node of the search. The patch
  omits the clearing, because a slot is read only after the callee has written to it.
* numba builds the type of every record argument in each call from Python, which took longer than the search of a
  small game. The patch caches the types by dtype.

Both patches rely on private parts of numba. With an unknown version of numba they do nothing.
"""

from __future__ import annotations

import functools
from typing import Any

import numba
import numba.np.numpy_support
from llvmlite import ir
from numba.core import types
from numba.core.callconv import CPUCallConv, excinfo_t

from elolab.engine.compiled.linking import KNOWN_VERSION
from elolab.engine.compiled.sources import NUMBA_LINKING

_call_function: Any = CPUCallConv.call_function


def _place(builder: Any, kind: Any) -> Any:
    with builder.goto_entry_block():
        return builder.alloca(kind)


def _call_uncleared(
    self: Any, builder: Any, callee: Any, result_type: Any, types_of_arguments: Any, arguments: Any, attrs: Any = None
) -> Any:
    """Replace ``CPUCallConv.call_function``; does not clear slots if the callee returns a number or nothing."""
    is_number = isinstance(result_type, (types.Integer, types.Boolean))
    if attrs is not None or not (is_number or result_type is types.none):
        return _call_function(self, builder, callee, result_type, types_of_arguments, arguments, attrs)
    result = _place(builder, self.get_return_type(result_type).pointee)
    error = _place(builder, ir.PointerType(excinfo_t))
    packed = self._get_arg_packer(types_of_arguments).as_arguments(builder, arguments)
    code = builder.call(callee, [result, error, *packed])
    status = self._get_return_status(builder, code, builder.load(error))
    return status, self.context.get_returned_value(builder, result_type, builder.load(result))


def apply_patches() -> None:
    """Apply the patches if this module knows the version of numba."""
    if not numba.__version__.startswith(KNOWN_VERSION):
        return
    support = numba.np.numpy_support
    if hasattr(support, "from_struct_dtype"):
        setattr(support, "from_struct_dtype", functools.cache(support.from_struct_dtype))  # noqa: B010
    if not NUMBA_LINKING and hasattr(CPUCallConv, "_get_arg_packer") and hasattr(CPUCallConv, "_get_return_status"):
        setattr(CPUCallConv, "call_function", _call_uncleared)  # noqa: B010 - a part of another package is replaced
