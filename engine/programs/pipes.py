"""Non-blocking pipes in compiled code, by POSIX system calls.

The descriptors must be non-blocking. All errors look alike; callers leave their handling to Python.
"""

from __future__ import annotations

import ctypes
import select
import sys
from typing import Any

import llvmlite.binding
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, overload

_WORD = ir.IntType(64)
_HALF = ir.IntType(32)
_ADDRESS = ir.IntType(8).as_pointer()

if sys.platform != "win32":
    _library = ctypes.CDLL(None)
    for _name in ("read", "write", "poll"):
        llvmlite.binding.add_symbol(_name, ctypes.cast(getattr(_library, _name), ctypes.c_void_p).value)


def _declare_transfer(name: str) -> Any:
    @intrinsic
    def transfer(typingctx, descriptor, address, count):
        def generate(context, builder, signature, arguments):
            function_type = ir.FunctionType(_WORD, [_HALF, _ADDRESS, _WORD])
            function = cgutils.get_or_insert_function(builder.module, function_type, name)
            place = builder.inttoptr(arguments[1], _ADDRESS)
            return builder.call(function, [builder.trunc(arguments[0], _HALF), place, arguments[2]])

        return types.int64(types.int64, types.int64, types.int64), generate

    return transfer


_read = _declare_transfer("read")
_write = _declare_transfer("write")


@intrinsic
def _poll(typingctx, one, other, timeout_ms):
    def generate(context, builder, signature, arguments):
        # struct pollfd: int descriptor, short wanted, short happened.
        short = ir.IntType(16)
        entry = ir.LiteralStructType([_HALF, short, short])
        place = cgutils.alloca_once(builder, ir.ArrayType(entry, 2))
        for number in range(2):
            descriptor = builder.trunc(arguments[number], _HALF)
            builder.store(descriptor, cgutils.gep_inbounds(builder, place, 0, number, 0))
            builder.store(ir.Constant(short, select.POLLIN), cgutils.gep_inbounds(builder, place, 0, number, 1))
            builder.store(ir.Constant(short, 0), cgutils.gep_inbounds(builder, place, 0, number, 2))
        count_type = _HALF if sys.platform == "darwin" else _WORD  # nfds_t
        function_type = ir.FunctionType(_HALF, [_ADDRESS, count_type, _HALF])
        function = cgutils.get_or_insert_function(builder.module, function_type, "poll")
        builder.call(
            function,
            [
                builder.bitcast(place, _ADDRESS),
                ir.Constant(count_type, 2),
                builder.trunc(arguments[2], _HALF),
            ],
        )
        events = ir.Constant(_WORD, 0)
        for number in range(2):
            happened = builder.load(cgutils.gep_inbounds(builder, place, 0, number, 2))
            is_any = builder.icmp_signed("!=", happened, ir.Constant(short, 0))
            events = builder.or_(events, builder.shl(builder.zext(is_any, _WORD), ir.Constant(_WORD, number)))
        return events

    return types.int64(types.int64, types.int64, types.int64), generate


def read_bytes(descriptor, address, count):
    """Read at most ``count`` bytes to ``address``; returns the number (int64), 0 at the end, -1 for none or errors."""
    _library.read.restype = ctypes.c_ssize_t
    return _library.read(int(descriptor), ctypes.c_void_p(int(address)), ctypes.c_size_t(int(count)))


def write_bytes(descriptor, address, count):
    """Write at most ``count`` bytes from ``address``; returns their number (int64), -1 if no room or on error."""
    _library.write.restype = ctypes.c_ssize_t
    return _library.write(int(descriptor), ctypes.c_void_p(int(address)), ctypes.c_size_t(int(count)))


def wait_for_input(one, other, timeout_ms):
    """Wait until one of two descriptors (-1 for none) is readable or has ended, at most ``timeout_ms`` milliseconds.

    Returns 1 for the first, 2 for the second, their sum for both, and 0 for none (int64).
    """
    poll = select.poll()
    descriptors = [int(one), int(other)]
    for descriptor in descriptors:
        if descriptor >= 0:
            poll.register(descriptor, select.POLLIN)
    ready = {descriptor for descriptor, _ in poll.poll(int(timeout_ms))}
    return sum(1 << number for number, descriptor in enumerate(descriptors) if descriptor in ready)


@overload(read_bytes)
def _read_bytes(descriptor, address, count):
    return lambda descriptor, address, count: _read(np.int64(descriptor), np.int64(address), np.int64(count))


@overload(write_bytes)
def _write_bytes(descriptor, address, count):
    return lambda descriptor, address, count: _write(np.int64(descriptor), np.int64(address), np.int64(count))


@overload(wait_for_input)
def _wait_for_input(one, other, timeout_ms):
    return lambda one, other, timeout_ms: _poll(np.int64(one), np.int64(other), np.int64(timeout_ms))
