"""The ground the compiled code stands on: the one jit decorator, bit and clock intrinsics, game stubs.

Import this module before any other that compiles: it makes numba's cache on disk safe (``engine.compiled.cache``).
"""

from __future__ import annotations

import ctypes
import functools
import sys
import time
from collections.abc import Callable
from typing import Any

import numba
import numba.core.config
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.types.npytypes import Record
from numba.extending import intrinsic, overload

from engine.compiled.cache import CACHE_DIRECTORY

JIT_DISABLED = bool(getattr(numba.config, "DISABLE_JIT"))  # noqa: B009


def _dispatcher(function: Callable[..., Any], **more: Any) -> Any:
    # Nothing here is called from C: its wrappers would be a tenth of the work.
    options: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
    return numba.njit(**options, **more)(function)


def _without_constants(dispatcher: Any) -> Any:
    """The dispatcher, which takes a constant integer for any other of its type."""
    if not JIT_DISABLED:
        template_for = dispatcher.get_call_template

        def get_call_template(arguments: Any, keywords: Any) -> Any:
            return template_for([types.unliteral(argument) for argument in arguments], keywords)

        dispatcher.get_call_template = get_call_template
    return dispatcher


def jit_for_constants(function: Callable[..., Any]) -> Any:
    """As ``jit``, but compiled anew for each constant integer it is called with, as for a type of its own."""
    return _dispatcher(function)


def jit(function: Callable[..., Any]) -> Any:
    """Compile with the options every kernel shares: cached, without the interpreter lock, integer errors as in C."""
    return _without_constants(_dispatcher(function))


def jit_inlined(function: Callable[..., Any]) -> Any:
    """As ``jit``, but its code goes into every caller, however long: no loop with a call in it becomes vector code."""
    return _without_constants(_dispatcher(function, forceinline=True))


@functools.cache
def announce_compilation() -> None:
    """Say on standard error, once, that the first use of this state of the sources takes a while."""
    if not JIT_DISABLED and not any(CACHE_DIRECTORY.rglob("*.nbc")):
        print("elolab: compiling the engine, once for this version (about a minute)", file=sys.stderr, flush=True)


# --- Stubs that choose a game's function from the type of its state record ------------------------------------------

_IMPLEMENTATIONS: dict[tuple[str, str], Any] = {}


def game_stub(arguments: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make a function of ``arguments`` arguments, the state first, that every game implements.

    Compiled code resolves it by the marker, the first field of the state's record type; uncompiled code by the record.
    """

    def decorate(stub: Callable[..., Any]) -> Callable[..., Any]:
        name = stub.__name__

        def interpreted(*values: Any) -> Any:
            return _IMPLEMENTATIONS[values[0].dtype.names[0], name](*values)

        interpreted.__name__ = name
        interpreted.__doc__ = stub.__doc__

        def implementation_for(state: Any) -> Any:
            if not isinstance(state, Record):
                return None
            return _IMPLEMENTATIONS.get((next(iter(state.fields)), name))

        _OVERLOADS[arguments](interpreted, implementation_for)
        return interpreted

    return decorate


def implement(marker: str, **functions: Any) -> None:
    """Register a game's compiled functions under the marker field of its state record."""
    for name, function in functions.items():
        _IMPLEMENTATIONS[marker, name] = function


def is_registered(marker: str) -> bool:
    """Whether a game with that marker has registered its functions."""
    return any(known == marker for known, _ in _IMPLEMENTATIONS)


# One function an arity, because numba compares the argument names of an overload with those of its implementation.


def _overload_1(stub: Any, implementation_for: Any) -> None:
    @overload(stub)
    def typing(state):  # type: ignore[no-untyped-def]
        function = implementation_for(state)
        return None if function is None else lambda state: function(state)


def _overload_2(stub: Any, implementation_for: Any) -> None:
    @overload(stub)
    def typing(state, a):  # type: ignore[no-untyped-def]
        function = implementation_for(state)
        return None if function is None else lambda state, a: function(state, a)


def _overload_3(stub: Any, implementation_for: Any) -> None:
    @overload(stub)
    def typing(state, a, b):  # type: ignore[no-untyped-def]
        function = implementation_for(state)
        return None if function is None else lambda state, a, b: function(state, a, b)


def _overload_5(stub: Any, implementation_for: Any) -> None:
    @overload(stub)
    def typing(state, a, b, c, d):  # type: ignore[no-untyped-def]
        function = implementation_for(state)
        return None if function is None else lambda state, a, b, c, d: function(state, a, b, c, d)


def _overload_7(stub: Any, implementation_for: Any) -> None:
    @overload(stub)
    def typing(state, a, b, c, d, e, f):  # type: ignore[no-untyped-def]
        function = implementation_for(state)
        return None if function is None else lambda state, a, b, c, d, e, f: function(state, a, b, c, d, e, f)


_OVERLOADS = {1: _overload_1, 2: _overload_2, 3: _overload_3, 5: _overload_5, 7: _overload_7}


# --- Calls by address -----------------------------------------------------------------------------------------------

_UNCOMPILED: list[Callable[..., Any]] = []


def address_of(function: Any, *arguments: Any) -> int:
    """Where the machine code of a compiled function for such arguments is; it returns an int64.

    The code of every function that a compiled one calls is optimized and stored again with each of its callers. A call
    by address, ``call_at``, ends that: what is called so is compiled once. Numbers in place of addresses where nothing
    is compiled.
    """
    if JIT_DISABLED:
        if function not in _UNCOMPILED:
            _UNCOMPILED.append(function)
        return _UNCOMPILED.index(function) + 1
    signature = tuple(numba.typeof(argument) for argument in arguments)
    function.compile(signature)
    result = function.overloads[signature]
    if result.signature.return_type != types.int64:
        raise TypeError(f"{function.__name__} returns {result.signature.return_type}, not int64")
    return int(result.library.get_pointer_to_function(result.fndesc.llvm_func_name))


@intrinsic
def _call_at(typingctx, address, arguments):  # type: ignore[no-untyped-def]
    def generate(context, builder, signature, values):  # type: ignore[no-untyped-def]
        kinds = signature.args[1].types
        function_type = context.call_conv.get_function_type(types.int64, kinds)
        function = builder.inttoptr(values[0], function_type.as_pointer())
        unpacked = cgutils.unpack_tuple(builder, values[1])
        status, result = context.call_conv.call_function(builder, function, types.int64, kinds, unpacked)
        with cgutils.if_unlikely(builder, status.is_error):
            context.call_conv.return_status_propagate(builder, status)
        return result

    return types.int64(types.int64, arguments), generate


def call_at(address, arguments):  # type: ignore[no-untyped-def]
    """The result of the function at ``address``, see ``address_of``, which was asked for just these types."""
    return _UNCOMPILED[int(address) - 1](*arguments)


@overload(call_at)
def _call_at_typing(address, arguments):  # type: ignore[no-untyped-def]
    return lambda address, arguments: _call_at(np.int64(address), arguments)


# --- Bits -----------------------------------------------------------------------------------------------------------


@intrinsic
def _ctpop(typingctx, value):  # type: ignore[no-untyped-def]
    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        count = builder.ctpop(arguments[0])
        return builder.zext(count, ir.IntType(64)) if value.bitwidth < 64 else count

    return types.int64(value), generate


@intrinsic
def _cttz(typingctx, value):  # type: ignore[no-untyped-def]
    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        count = builder.cttz(arguments[0], cgutils.false_bit)
        return builder.zext(count, ir.IntType(64)) if value.bitwidth < 64 else count

    return types.int64(value), generate


@intrinsic
def _ctlz(typingctx, value):  # type: ignore[no-untyped-def]
    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        count = builder.ctlz(arguments[0], cgutils.false_bit)
        return builder.zext(count, ir.IntType(64)) if value.bitwidth < 64 else count

    return types.int64(value), generate


def popcount(value):  # type: ignore[no-untyped-def]
    """Number of one bits of a 64-bit integer, as int64."""
    return (int(value) & 0xFFFF_FFFF_FFFF_FFFF).bit_count()


def lowest_bit(value):  # type: ignore[no-untyped-def]
    """Index of the lowest one bit of a 64-bit integer, as int64; 64 if there is none."""
    bits = int(value) & 0xFFFF_FFFF_FFFF_FFFF
    return (bits & -bits).bit_length() - 1 if bits else 64


def leading_zeros(value):  # type: ignore[no-untyped-def]
    """Number of zero bits above the highest one bit of a 64-bit integer, as int64; 64 if there is none."""
    return 64 - (int(value) & 0xFFFF_FFFF_FFFF_FFFF).bit_length()


def add_words(one, other):  # type: ignore[no-untyped-def]
    """Sum of two uint64 modulo 2**64; uncompiled too, where plain addition warns of the overflow."""
    return np.uint64((int(one) + int(other)) & 0xFFFF_FFFF_FFFF_FFFF)


def multiply_words(one, other):  # type: ignore[no-untyped-def]
    """Product of two uint64 modulo 2**64; uncompiled too."""
    return np.uint64((int(one) * int(other)) & 0xFFFF_FFFF_FFFF_FFFF)


@overload(add_words)
def _add_words(one, other):  # type: ignore[no-untyped-def]
    return lambda one, other: np.uint64(one) + np.uint64(other)


@overload(multiply_words)
def _multiply_words(one, other):  # type: ignore[no-untyped-def]
    return lambda one, other: np.uint64(one) * np.uint64(other)


@overload(leading_zeros)
def _leading_zeros(value):  # type: ignore[no-untyped-def]
    if isinstance(value, types.Integer) and value.bitwidth == 64:
        return lambda value: _ctlz(value)
    return None


@overload(popcount)
def _popcount(value):  # type: ignore[no-untyped-def]
    if isinstance(value, types.Integer) and value.bitwidth == 64:
        return lambda value: _ctpop(value)
    return None


@overload(lowest_bit)
def _lowest_bit(value):  # type: ignore[no-untyped-def]
    if isinstance(value, types.Integer) and value.bitwidth == 64:
        return lambda value: _cttz(value)
    return None


# --- Clocks and the stop flag ---------------------------------------------------------------------------------------

# CLOCK_MONOTONIC and CLOCK_THREAD_CPUTIME_ID are numbered differently on the two systems.
_MONOTONIC = 6 if sys.platform == "darwin" else 1
_THREAD_CPU = 16 if sys.platform == "darwin" else 3


def _declare_clock(number: int) -> Any:
    @intrinsic
    def read(typingctx):  # type: ignore[no-untyped-def]
        def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            word = ir.IntType(64)
            timespec = ir.ArrayType(word, 2)
            place = cgutils.alloca_once(builder, timespec)
            function_type = ir.FunctionType(ir.IntType(32), [ir.IntType(32), timespec.as_pointer()])
            function = cgutils.get_or_insert_function(builder.module, function_type, "clock_gettime")
            builder.call(function, [ir.Constant(ir.IntType(32), number), place])
            seconds = builder.load(cgutils.gep_inbounds(builder, place, 0, 0))
            nanoseconds = builder.load(cgutils.gep_inbounds(builder, place, 0, 1))
            return builder.add(builder.mul(seconds, ir.Constant(word, 1_000_000_000)), nanoseconds)

        return types.int64(), generate

    return read


if sys.platform != "win32":
    import llvmlite.binding

    _library = ctypes.CDLL(None)
    llvmlite.binding.add_symbol("clock_gettime", ctypes.cast(_library.clock_gettime, ctypes.c_void_p).value)

_read_monotonic = _declare_clock(_MONOTONIC)
_read_thread_cpu = _declare_clock(_THREAD_CPU)


def monotonic_ns():  # type: ignore[no-untyped-def]
    """Monotonic time in nanoseconds (int64); the same clock as ``time.monotonic_ns``."""
    return time.monotonic_ns()


def thread_cpu_ns():  # type: ignore[no-untyped-def]
    """CPU time of the calling thread in nanoseconds (int64)."""
    return time.thread_time_ns()


@overload(monotonic_ns)
def _monotonic_ns():  # type: ignore[no-untyped-def]
    return lambda: _read_monotonic()


@overload(thread_cpu_ns)
def _thread_cpu_ns():  # type: ignore[no-untyped-def]
    return lambda: _read_thread_cpu()


@intrinsic
def _acquire_byte(typingctx, address):  # type: ignore[no-untyped-def]
    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        pointer = builder.inttoptr(arguments[0], ir.IntType(8).as_pointer())
        # Another thread writes it: a plain load could be hoisted out of the search.
        return builder.zext(builder.load_atomic(pointer, "acquire", 1), ir.IntType(64))

    return types.int64(types.int64), generate


def read_flag(address):  # type: ignore[no-untyped-def]
    """The byte at ``address``, which another thread may write at any time, as int64; address 0 reads 0."""
    return ctypes.c_uint8.from_address(int(address)).value if address else 0


@overload(read_flag)
def _read_flag(address):  # type: ignore[no-untyped-def]
    return lambda address: _acquire_byte(np.int64(address)) if address != 0 else 0


@intrinsic
def _load_word(typingctx, address, index):  # type: ignore[no-untyped-def]
    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        pointer = builder.inttoptr(arguments[0], ir.IntType(64).as_pointer())
        return builder.load(builder.gep(pointer, [arguments[1]]))

    return types.uint64(types.int64, types.int64), generate


@intrinsic
def _store_word(typingctx, address, index, word):  # type: ignore[no-untyped-def]
    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        pointer = builder.inttoptr(arguments[0], ir.IntType(64).as_pointer())
        builder.store(arguments[2], builder.gep(pointer, [arguments[1]]))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.uint64), generate


@intrinsic
def _prefetch(typingctx, address):  # type: ignore[no-untyped-def]
    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        word = ir.IntType(32)
        byte_pointer = ir.IntType(8).as_pointer()
        function_type = ir.FunctionType(ir.VoidType(), [byte_pointer, word, word, word])
        function = cgutils.get_or_insert_function(builder.module, function_type, "llvm.prefetch.p0i8")
        # For reading, to be kept in every cache level, data.
        hints = [ir.Constant(word, 0), ir.Constant(word, 3), ir.Constant(word, 1)]
        builder.call(function, [builder.inttoptr(arguments[0], byte_pointer), *hints])
        return context.get_dummy_value()

    return types.void(types.int64), generate


def prefetch(address):  # type: ignore[no-untyped-def]
    """Ask the processor to fetch the memory at ``address``; changes nothing else."""


@overload(prefetch)
def _prefetch_typing(address):  # type: ignore[no-untyped-def]
    return lambda address: _prefetch(np.int64(address))


@intrinsic
def _release_word(typingctx, address, index, word):  # type: ignore[no-untyped-def]
    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        pointer = builder.inttoptr(arguments[0], ir.IntType(64).as_pointer())
        # Whoever sees this word sees what was stored before it.
        builder.store_atomic(arguments[2], builder.gep(pointer, [arguments[1]]), "release", 8)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.uint64), generate


def load_word(address, index):  # type: ignore[no-untyped-def]
    """Element ``index`` of the uint64 array whose data start at ``address``.

    An array passed through a recursion costs an atomic reference count a call; an address costs nothing. Whoever stores
    the address keeps the array alive, and masks the index.
    """
    return np.uint64(ctypes.c_uint64.from_address(int(address) + 8 * int(index)).value)


def store_word(address, index, word):  # type: ignore[no-untyped-def]
    """Set element ``index`` of the uint64 array whose data start at ``address``."""
    ctypes.c_uint64.from_address(int(address) + 8 * int(index)).value = int(word)


def publish_word(address, index, word):  # type: ignore[no-untyped-def]
    """As ``store_word``, for another thread to see: what was stored before is complete when it reads the word."""
    store_word(address, index, word)


@overload(publish_word)
def _publish_word_typing(address, index, word):  # type: ignore[no-untyped-def]
    return lambda address, index, word: _release_word(np.int64(address), np.int64(index), np.uint64(word))


@overload(load_word)
def _load_word_typing(address, index):  # type: ignore[no-untyped-def]
    return lambda address, index: _load_word(np.int64(address), np.int64(index))


@overload(store_word)
def _store_word_typing(address, index, word):  # type: ignore[no-untyped-def]
    return lambda address, index, word: _store_word(np.int64(address), np.int64(index), np.uint64(word))


def new_record(dtype: np.dtype[Any]) -> Any:
    """A zeroed record that kernels can change in place (compiled, bounds-checked and uncompiled alike)."""
    return np.zeros(1, dtype).view(np.recarray)[0]


def array_of(record: Any) -> Any:
    """The array of one element that shares a record's memory; valid as long as the record lives."""
    address = np.frombuffer(record, np.uint8).ctypes.data
    buffer = (ctypes.c_byte * record.dtype.itemsize).from_address(address)
    array = np.frombuffer(buffer, record.dtype)
    return array.view(np.recarray) if JIT_DISABLED else array
