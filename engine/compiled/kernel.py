"""Foundations of the compiled code: jit decorators, functions that each game implements, and intrinsics.

The intrinsics count bits, read clocks and access memory. Import this module before any other that compiles: it makes
numba's on-disk cache safe (``engine.compiled.cache``).
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
from numba.core.typing.templates import AbstractTemplate, infer_global
from numba.extending import intrinsic, overload

from elolab.engine.compiled.cache import CACHE_DIRECTORY
from elolab.engine.compiled.linking import IS_DEFERRED, KernelDispatcher
from elolab.engine.compiled.numba_patches import apply_patches

apply_patches()

JIT_DISABLED = bool(getattr(numba.config, "DISABLE_JIT"))  # noqa: B009


def _dispatcher(function: Callable[..., Any], **more: Any) -> Any:
    # Nothing is called from C; omitting the C wrappers saves a tenth of the compilation.
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, **more}
    if JIT_DISABLED or not IS_DEFERRED:
        return numba.njit(cache=True, **options)(function)
    options |= {"nopython": True, "boundscheck": None, "no_cpython_wrapper": True}
    dispatcher = KernelDispatcher(function, targetoptions=options)
    dispatcher.enable_caching()
    return dispatcher


def _without_constants(dispatcher: Any) -> Any:
    """Keep a numba dispatcher from compiling one version for each constant integer argument; return the dispatcher."""
    if not JIT_DISABLED:
        template_for = dispatcher.get_call_template

        def get_call_template(arguments: Any, keywords: Any) -> Any:
            return template_for([types.unliteral(argument) for argument in arguments], keywords)

        dispatcher.get_call_template = get_call_template
    return dispatcher


def jit_for_constants(function: Callable[..., Any]) -> Any:
    """Compile like ``jit``, with a separate version for each constant integer argument."""
    return _dispatcher(function)


def jit(function: Callable[..., Any]) -> Any:
    """Compile a function with numba. The code is cached on disk and runs without the interpreter lock.

    Division by zero raises no error.
    """
    return _without_constants(_dispatcher(function))


def jit_inlined(function: Callable[..., Any]) -> Any:
    """Compile like ``jit``, but inline the function into every caller, so that loops that call it can be vectorized."""
    return _without_constants(_dispatcher(function, forceinline=True))


@functools.cache
def announce_compilation() -> None:
    """Print on standard error that the engine will be compiled, if the cache is empty."""
    if not JIT_DISABLED and not any(CACHE_DIRECTORY.rglob("*.nbc")):
        print("elolab: compiling the engine, once for this version (about a minute)", file=sys.stderr, flush=True)


# --- Functions with a replacement in compiled code ------------------------------------------------------------------


def compiled_as(function: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator that replaces calls of ``function`` in compiled code.

    The decorated function receives the argument types and returns the replacement: a compiled function, an intrinsic,
    or ``None`` for a type error. The decorator resembles numba's ``overload``, but needs no extra compiled function.
    """

    def decorate(choose: Callable[..., Any]) -> Callable[..., Any]:
        chosen: dict[Any, Any] = {}

        class ChosenFunction(AbstractTemplate):  # type: ignore[misc]
            key = function

            def generic(self, arguments: Any, keywords: Any) -> Any:
                target = choose(*arguments)
                if target is None:
                    return None
                target_type = self.context.resolve_value_type(target)
                signature = target_type.get_call_type(self.context, arguments, keywords)
                chosen[signature.args] = target_type.get_impl_key(signature)
                return signature

            def get_impl_key(self, signature: Any) -> Any:
                return chosen[signature.args]

        infer_global(function, types.Function(ChosenFunction))
        return choose

    return decorate


# --- Stubs that choose a game's function from the type of its state record ------------------------------------------

_IMPLEMENTATIONS: dict[tuple[str, str], Any] = {}


def game_stub(stub: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator that makes a stub: a function that every game implements. The function's first argument must be the
    game's state record.

    A call in compiled code runs the implementation of the game whose marker is the first field of the record's type.
    """
    name = stub.__name__

    @functools.wraps(stub)
    def interpreted(*values: Any) -> Any:
        return _IMPLEMENTATIONS[values[0].dtype.names[0], name](*values)

    @compiled_as(interpreted)
    def implementation(state: Any, *others: Any) -> Any:
        return _IMPLEMENTATIONS.get((next(iter(state.fields)), name)) if isinstance(state, Record) else None

    return interpreted


def implement(marker: str, **functions: Any) -> None:
    """Register a game's compiled functions, by stub name.

    ``marker`` identifies the game: it is the name of the first field of the game's state record.
    """
    for name, function in functions.items():
        _IMPLEMENTATIONS[marker, name] = function


# --- Calls by address -----------------------------------------------------------------------------------------------

_UNCOMPILED: list[Callable[..., Any]] = []


def address_of(function: Any, *arguments: Any) -> int:
    """Address of a compiled function's machine code for the types of ``arguments``. The function must return int64.

    Normally a function's code is optimized and stored again with each of its callers. A function that is called by
    address, with ``call_at``, is compiled only once. With compilation disabled, consecutive numbers stand for
    addresses.
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
    """Call the function at ``address`` and return its int64 result. ``arguments``, a tuple, must have exactly the types
    that were given to ``address_of``.
    """
    return _UNCOMPILED[int(address) - 1](*arguments)


compiled_as(call_at)(lambda address, arguments: _call_at)


# --- Bits -----------------------------------------------------------------------------------------------------------


def _declare_count(count: Callable[[Any, Any], Any]) -> Any:
    """Make an intrinsic that counts bits of a 64-bit word and returns int64. ``count`` emits the LLVM instruction."""

    @intrinsic
    def counted(typingctx, value):  # type: ignore[no-untyped-def]
        return types.int64(value), lambda context, builder, signature, arguments: count(builder, arguments[0])

    return counted


def _declare_sum(instruction: Callable[..., Any]) -> Any:
    """Make an intrinsic from an LLVM instruction for two 64-bit words, without the checks of numba's operators."""

    @intrinsic
    def combined(typingctx, one, other):  # type: ignore[no-untyped-def]
        signature = types.uint64(types.uint64, types.uint64)
        return signature, lambda context, builder, signature, arguments: instruction(builder, *arguments)

    return combined


_ctpop = _declare_count(lambda builder, word: builder.ctpop(word))
_cttz = _declare_count(lambda builder, word: builder.cttz(word, cgutils.false_bit))
_ctlz = _declare_count(lambda builder, word: builder.ctlz(word, cgutils.false_bit))
_add = _declare_sum(ir.IRBuilder.add)
_multiply = _declare_sum(ir.IRBuilder.mul)


@intrinsic
def _sum_of_products(typingctx, ones, first, others, start, count):  # type: ignore[no-untyped-def]
    # numba leaves short loops of a known length to be unrolled, one number at a time.
    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        factors = []
        for array_type, array, index in ((ones, arguments[0], arguments[1]), (others, arguments[2], arguments[3])):
            data = context.make_array(array_type)(context, builder, array).data
            vector = ir.VectorType(ir.IntType(16), count.literal_value)
            pointer = builder.bitcast(builder.gep(data, [index]), vector.as_pointer())
            numbers = builder.load(pointer)
            numbers.align = 2
            factors.append(builder.sext(numbers, ir.VectorType(ir.IntType(32), count.literal_value)))
        products = builder.mul(*factors)
        name = f"llvm.vector.reduce.add.v{count.literal_value}i32"
        function_type = ir.FunctionType(ir.IntType(32), [products.type])
        total = builder.call(cgutils.get_or_insert_function(builder.module, function_type, name), [products])
        return builder.sext(total, ir.IntType(64))

    if not isinstance(count, types.IntegerLiteral):
        return None
    if not all(array.dtype == types.int16 and array.layout == "C" and array.ndim == 1 for array in (ones, others)):
        return None
    return types.int64(ones, types.int64, others, types.int64, count), generate


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


def sum_of_products(ones, first, others, start, count):  # type: ignore[no-untyped-def]
    """Sum of ``ones[first + i] * others[start + i]`` for i from 0 to ``count`` - 1, as int64.

    ``count`` must be a constant. Both arrays are 1-d int16. The sum must fit into 32 bits; indices are not checked.
    """
    one, other = ones[first : first + count], others[start : start + count]
    return np.dot(one.astype(np.int64), other.astype(np.int64))


def add_words(one, other):  # type: ignore[no-untyped-def]
    """Sum of two uint64 modulo 2**64. In uncompiled code it gives no overflow warning."""
    return np.uint64((int(one) + int(other)) & 0xFFFF_FFFF_FFFF_FFFF)


def multiply_words(one, other):  # type: ignore[no-untyped-def]
    """Product of two uint64 modulo 2**64. In uncompiled code it gives no overflow warning."""
    return np.uint64((int(one) * int(other)) & 0xFFFF_FFFF_FFFF_FFFF)


def _is_word(value: Any) -> bool:
    return isinstance(value, types.Integer) and bool(value.bitwidth == 64)  # type: ignore[attr-defined]


compiled_as(add_words)(lambda one, other: _add)
compiled_as(multiply_words)(lambda one, other: _multiply)
compiled_as(sum_of_products)(
    lambda ones, first, others, start, count: _sum_of_products if isinstance(count, types.IntegerLiteral) else None
)
compiled_as(popcount)(lambda value: _ctpop if _is_word(value) else None)
compiled_as(lowest_bit)(lambda value: _cttz if _is_word(value) else None)
compiled_as(leading_zeros)(lambda value: _ctlz if _is_word(value) else None)


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


compiled_as(monotonic_ns)(lambda: _read_monotonic)
compiled_as(thread_cpu_ns)(lambda: _read_thread_cpu)


@intrinsic
def _acquire_byte(typingctx, address):  # type: ignore[no-untyped-def]
    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        pointer = builder.inttoptr(arguments[0], ir.IntType(8).as_pointer())
        # Another thread writes it: a plain load could be hoisted out of the search.
        return builder.zext(builder.load_atomic(pointer, "acquire", 1), ir.IntType(64))

    return types.int64(types.int64), generate


def read_flag(address):  # type: ignore[no-untyped-def]
    """The byte at ``address`` as int64; 0 for address 0. Always read from memory: another thread may write it."""
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
        # Arguments of LLVM's prefetch: for reading, for all cache levels, for the data cache.
        hints = [ir.Constant(word, 0), ir.Constant(word, 3), ir.Constant(word, 1)]
        builder.call(function, [builder.inttoptr(arguments[0], byte_pointer), *hints])
        return context.get_dummy_value()

    return types.void(types.int64), generate


def prefetch(address):  # type: ignore[no-untyped-def]
    """Start loading the memory at ``address`` into the processor's cache. Has no other effect."""


compiled_as(prefetch)(lambda address: _prefetch)


@intrinsic
def _release_word(typingctx, address, index, word):  # type: ignore[no-untyped-def]
    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        pointer = builder.inttoptr(arguments[0], ir.IntType(64).as_pointer())
        # A thread that reads this word also reads everything stored before it.
        builder.store_atomic(arguments[2], builder.gep(pointer, [arguments[1]]), "release", 8)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.uint64), generate


def load_word(address, index):  # type: ignore[no-untyped-def]
    """Element ``index`` of the uint64 array whose data start at ``address``.

    Recursive functions pass an address, because each call with an array would update the array's reference count
    atomically. The caller must keep the array alive, and the index within the array's bounds.
    """
    return np.uint64(ctypes.c_uint64.from_address(int(address) + 8 * int(index)).value)


def store_word(address, index, word):  # type: ignore[no-untyped-def]
    """Set element ``index`` of the uint64 array whose data start at ``address``."""
    ctypes.c_uint64.from_address(int(address) + 8 * int(index)).value = int(word)


def publish_word(address, index, word):  # type: ignore[no-untyped-def]
    """Store a word like ``store_word``, but with release order: a reader of the word also sees all earlier stores."""
    store_word(address, index, word)


compiled_as(publish_word)(lambda address, index, word: _release_word)
compiled_as(load_word)(lambda address, index: _load_word)
compiled_as(store_word)(lambda address, index, word: _store_word)


def new_record(dtype: np.dtype[Any]) -> Any:
    """Create a zeroed record that compiled and uncompiled functions can change in place."""
    return np.zeros(1, dtype).view(np.recarray)[0]


def array_of(record: Any) -> Any:
    """The array of one element that shares a record's memory; valid as long as the record lives."""
    address = np.frombuffer(record, np.uint8).ctypes.data
    buffer = (ctypes.c_byte * record.dtype.itemsize).from_address(address)
    array = np.frombuffer(buffer, _first_equal(record.dtype))
    return array.view(np.recarray) if JIT_DISABLED else array


@functools.cache
def _first_equal(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The first record type passed to this function that equals ``dtype``.

    Each new record has its own type object. Numba recognizes a type object that it has seen before at once. For another
    object of an equal type it compares all fields, in each call and for each argument.
    """
    return dtype
