"""Patches of numba that make calls of compiled functions cheaper.

* A numba function writes its result, and a pointer to an error description, into slots on its caller's stack. At its
  start, a caller clears the slots of every call in its source: 75 words for each node of the search. The patch
  omits the clearing, because a slot is read only after the callee has written to it.
* numba builds the type of every record argument in each call from Python, which took longer than the search of a
  small game. The patch caches the types by dtype.
* To type a recursive call, numba infers the types of the whole function again for each such call and each round of the
  inference: a fifth of the compilation time. For functions of elolab the patch keeps the first return type found.

The patches rely on private parts of numba. With an unknown version of numba they do nothing.
"""

from __future__ import annotations

import functools
from typing import Any

import numba
import numba.np.numpy_support
from llvmlite import ir
from numba.core import types
from numba.core.callconv import CPUCallConv, excinfo_t
from numba.core.errors import TypingError
from numba.core.typeinfer import TypeInferer

from elolab.engine.compiled.linking import KNOWN_VERSION
from elolab.engine.compiled.sources import NUMBA_LINKING

_OWN_PACKAGE = __name__.partition(".")[0] + "."
_call_function: Any = CPUCallConv.call_function
_infer_return_type: Any = getattr(TypeInferer, "return_types_from_partial", None)
_return_type: Any = getattr(TypeInferer, "get_return_type", None)


def _place(builder: Any, kind: Any) -> Any:
    with builder.goto_entry_block():
        return builder.alloca(kind)


def _call_uncleared(
    self: Any, builder: Any, callee: Any, result_type: Any, types_of_arguments: Any, arguments: Any, attrs: Any = None
) -> Any:
    """Replace ``CPUCallConv.call_function``; does not clear stack slots if the callee returns a number or nothing."""
    is_number = isinstance(result_type, (types.Integer, types.Boolean))
    if attrs is not None or not (is_number or result_type is types.none):
        return _call_function(self, builder, callee, result_type, types_of_arguments, arguments, attrs)
    result = _place(builder, self.get_return_type(result_type).pointee)
    error = _place(builder, ir.PointerType(excinfo_t))
    packed = self._get_arg_packer(types_of_arguments).as_arguments(builder, arguments)
    code = builder.call(callee, [result, error, *packed])
    status = self._get_return_status(builder, code, builder.load(error))
    return status, self.context.get_returned_value(builder, result_type, builder.load(result))


def _infer_return_type_once(self: Any) -> Any:
    """Replace ``TypeInferer.return_types_from_partial``: infer once, and keep the return type for further calls."""
    if not self.func_ir.func_id.modname.startswith(_OWN_PACKAGE):
        return _infer_return_type(self)
    known = vars(self).get("known_return_type")
    if known is None:
        known = self.known_return_type = _infer_return_type(self)
    return known


def _checked_return_type(self: Any, types_by_name: Any) -> Any:
    """Replace ``TypeInferer.get_return_type``; raise an error if the return type kept for recursive calls was wrong."""
    final = _return_type(self, types_by_name)
    known = vars(self).get("known_return_type")
    if known not in (None, final):
        raise TypingError(f"a recursive call was given the type {known}, but the function returns {final}")
    return final


def apply_patches() -> None:
    """Apply the patches if this module knows the version of numba."""
    if not numba.__version__.startswith(KNOWN_VERSION):
        return
    support = numba.np.numpy_support
    if hasattr(support, "from_struct_dtype"):
        setattr(support, "from_struct_dtype", functools.cache(support.from_struct_dtype))  # noqa: B010
    if not NUMBA_LINKING and hasattr(CPUCallConv, "_get_arg_packer") and hasattr(CPUCallConv, "_get_return_status"):
        setattr(CPUCallConv, "call_function", _call_uncleared)  # noqa: B010 - a part of another package is replaced
    if _infer_return_type and _return_type:
        setattr(TypeInferer, "return_types_from_partial", _infer_return_type_once)  # noqa: B010
        setattr(TypeInferer, "get_return_type", _checked_return_type)  # noqa: B010
