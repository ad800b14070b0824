"""Writes commands to an external program and reads its output in compiled code, without Python's global interpreter
lock.

A program that plays on a clock must be timed at the moment its answer arrives. With many games in one process, a thread
may wait tens of milliseconds for the interpreter lock and would read the time too late. So one call of ``exchange``
does all of this in compiled code: it records the time, writes the command, waits, reads, and records the time of each
piece of output. It returns once the answer is complete; thinking output before the answer does not end the call.

The functions call ``write``, ``poll``, ``read`` and ``pread`` of the C library. Nothing here takes part in a search, so
this file is not part of the engine's identity.
"""

from __future__ import annotations

import ctypes
import functools
import os
import select
import sys
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from elolab.engine.compiled.exchanged import Received
from elolab.engine.compiled.kernel import (
    array_of,
    compiled_as,
    jit,
    load_word,
    monotonic_ns,
    new_record,
    read_flag,
    store_word,
)

if TYPE_CHECKING:
    from elolab.engine.engine import StopFlag

OUTPUT_BYTES = 65_536
"""Size in bytes of the buffer for a program's output."""
ERROR_BYTES = 65_536
"""Size in bytes of the buffer for a program's error stream."""
MAX_ARRIVALS = 512
"""Maximum number of pieces of output in the buffer; when it is reached, ``exchange`` returns ``FULL``."""
STOP_CHECK_NS = 100_000_000
"""Nanoseconds between checks of a stop flag that has no file descriptor to wait for."""
LONGEST_NS = 1_000_000_000_000
"""Maximum duration of one wait in nanoseconds. In milliseconds, it must fit the argument of ``poll``."""
READING_AGE_NS = 1_000_000
"""Maximum age, in nanoseconds, up to which a reading of a thread's waiting time is reused, to save a system call.

The measured time that a thread waited for a processor may therefore be too long by this number of nanoseconds.
"""
SCHEDULE_PATH = "/proc/thread-self/schedstat"
"""Linux file with the total time, in nanoseconds, that a thread has waited for a processor, as its second number."""
BEAT_MS = 2
"""Sleep time, in milliseconds, of the background thread that measures how late threads wake up (``_beat``).

The thread is used only on systems without ``SCHEDULE_PATH``.
"""
KEPT_BEATS = 32
"""Number of wake-ups of the background thread (``_beat``) whose delays are stored.

The last delay alone is not enough: the background thread may wake up several times before a reader that was delayed
together with it wakes up.
"""
WAKE_NS = 100_000_000
"""Nanoseconds after which ``exchange`` on the main thread returns ``WOKEN``, so that Python can handle signals."""
ALIVE_CHECK_NS = 1_000_000_000
"""Nanoseconds after which a call of ``exchange`` returns ``WOKEN``, so that the caller can check whether the program's
process is alive.

Used only if no file descriptor signals the end of the process.
"""
NOTHING_RECEIVED = Received()
NEVER_NS = 1 << 62
"""A time, or a period, in nanoseconds that is never reached."""

WRITE, READ_LINE, READ_ANSWER = 0, 1, 2
"""Modes of ``exchange``: how much output it reads after writing the command.

``WRITE``: none. ``READ_LINE``: up to the end of any line. ``READ_ANSWER``: up to the end of a line that is not thinking
output (see ``_is_thinking``).
"""

DONE, DEADLINE, FULL, ENDED, BROKEN, EXITED, STOPPED, WOKEN = range(8)
"""Reasons why ``exchange`` returned. ``DONE``: the line was read. ``DEADLINE``: time is up. ``FULL``: a buffer is full.
``ENDED``: the program closed its output. ``BROKEN``: the program closed its input. ``EXITED``: the process is dead.
``STOPPED``: the stop flag is set. ``WOKEN``: a signal came, or ``wake_ns`` was reached.
"""

EXCHANGE_DTYPE = np.dtype([
    ("input", np.int64),  # file descriptors of the program's standard streams
    ("output", np.int64),
    ("error", np.int64),  # -1 if the stream has ended
    ("ended", np.int64),  # file descriptor that becomes readable when the process ends; -1 if there is none
    ("output_at", np.int64),  # addresses of the buffers
    ("errors_at", np.int64),
    ("question_at", np.int64),
    ("question_bytes", np.int64),
    ("written", np.int64),  # bytes of the question written so far
    ("asked_ns", np.int64),  # time at which the question's first byte was written
    ("allowance_ns", np.int64),  # time from asked_ns to the deadline; negative: the caller has set deadline_ns
    ("deadline_ns", np.int64),
    ("late_read_ns", np.int64),  # the last deadline after which the output was read once more
    ("filled", np.int64),  # bytes of output in the buffer
    ("line_start", np.int64),  # index of the beginning of the last, unfinished line
    ("is_in_line", np.int64),  # whether the buffer begins within a line
    ("arrivals", np.int64),
    ("error_filled", np.int64),
    ("waited_ns", np.int64),  # time that the thread waited for a processor before it read the last arrival; -1 unknown
    ("total_waited_ns", np.int64),  # total waiting time of this thread when last read; -1 unknown
    ("total_read_ns", np.int64),  # time at which total_waited_ns was read
    ("arrival_ends", np.int64, (MAX_ARRIVALS,)),  # offset of each arrival's end in the buffer
    ("arrival_ns", np.int64, (MAX_ARRIVALS,)),
    ("output_bytes", np.uint8, (OUTPUT_BYTES,)),
    ("error_bytes", np.uint8, (ERROR_BYTES,)),
])  # fmt: skip
"""State of the communication with one program. All times are on the clock of ``time.monotonic_ns``."""

# --- Calls of the system's library ----------------------------------------------------------------------------------

POLL_IN, _POLL_OUT, _POLL_ERROR, _POLL_HANG_UP, _POLL_INVALID = 1, 4, 8, 16, 32  # the same on Linux and macOS
_BROKEN_INPUT = _POLL_ERROR | _POLL_HANG_UP | _POLL_INVALID
_WORD, _HALF, _SHORT = ir.IntType(64), ir.IntType(32), ir.IntType(16)
_POINTER = ir.IntType(8).as_pointer()

if sys.platform != "win32":
    import llvmlite.binding

    _library = ctypes.PyDLL(None)  # keeps the interpreter's lock when called from Python
    for _name in ("write", "poll", "read", "pread"):
        llvmlite.binding.add_symbol(_name, ctypes.cast(getattr(_library, _name), ctypes.c_void_p).value)


def _declare_transfer(name: str, *more: ir.Constant) -> Any:
    """Make an intrinsic that calls the C library's ``name(descriptor, address, length)``, with ``more`` constant
    arguments.

    The intrinsic returns the number of bytes transferred, or -1.
    """

    @intrinsic
    def transfer(typingctx, descriptor, address, length):  # type: ignore[no-untyped-def]
        def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            function_type = ir.FunctionType(_WORD, [_HALF, _POINTER, _WORD, *(constant.type for constant in more)])
            function = cgutils.get_or_insert_function(builder.module, function_type, name)
            handle = builder.trunc(arguments[0], _HALF)
            return builder.call(function, [handle, builder.inttoptr(arguments[1], _POINTER), arguments[2], *more])

        return types.int64(types.int64, types.int64, types.int64), generate

    return transfer


@intrinsic
def _poll(typingctx, first, events, second, third, fourth, milliseconds):  # type: ignore[no-untyped-def]
    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        polled = ir.LiteralStructType([_HALF, _SHORT, _SHORT])
        array = ir.ArrayType(polled, 4)
        place = cgutils.alloca_once(builder, array)
        readable = ir.Constant(_SHORT, POLL_IN)
        asked = (builder.trunc(arguments[1], _SHORT), readable, readable, readable)
        for index, (descriptor, wanted) in enumerate(zip((arguments[0], *arguments[2:5]), asked, strict=True)):
            fields = (builder.trunc(descriptor, _HALF), wanted, ir.Constant(_SHORT, 0))
            for field, value in enumerate(fields):
                builder.store(value, cgutils.gep_inbounds(builder, place, 0, index, field))
        count = ir.IntType(32 if sys.platform == "darwin" else 64)
        function_type = ir.FunctionType(_HALF, [array.as_pointer(), count, _HALF])
        function = cgutils.get_or_insert_function(builder.module, function_type, "poll")
        patience = builder.trunc(arguments[5], _HALF)
        answer = builder.call(function, [place, ir.Constant(count, 4), patience])
        ready = ir.Constant(_WORD, 0)
        for index in range(4):
            found = builder.load(cgutils.gep_inbounds(builder, place, 0, index, 2))
            ready = builder.or_(ready, builder.shl(builder.zext(found, _WORD), ir.Constant(_WORD, 16 * index)))
        failed = builder.icmp_signed("<", answer, ir.Constant(_HALF, 0))
        return builder.select(failed, ir.Constant(_WORD, -1), ready)

    return types.int64(*[types.int64] * 6), generate


def _transferred(transfer: Callable[[], int]) -> int:
    try:
        return transfer()
    except OSError:
        return -1


def write_bytes(descriptor, address, length):  # type: ignore[no-untyped-def]
    """Write up to ``length`` bytes from memory at ``address`` to a file descriptor.

    Returns the number of bytes written, or -1 if nothing could be written.
    """
    return _transferred(lambda: os.write(descriptor, ctypes.string_at(int(address), length)))


def read_bytes(descriptor, address, length):  # type: ignore[no-untyped-def]
    """Read up to ``length`` bytes from a file descriptor into memory at ``address``.

    Returns the number of bytes read; 0 at the end of the file, -1 if nothing could be read.
    """

    def read() -> int:
        found = os.read(descriptor, length)
        ctypes.memmove(int(address), found, len(found))
        return len(found)

    return _transferred(read)


def read_from_start(descriptor, address, length):  # type: ignore[no-untyped-def]
    """Read up to ``length`` bytes from a file's start to memory at ``address``; returns their number, -1 on failure."""

    def read() -> int:
        found = os.pread(descriptor, length, 0)
        ctypes.memmove(int(address), found, len(found))
        return len(found)

    return _transferred(read)


def poll(first, events, second, third, fourth, milliseconds):  # type: ignore[no-untyped-def]
    """Wait until one of four file descriptors is ready, or until ``milliseconds`` have passed.

    ``events`` are the events to wait for on ``first``; the other descriptors are ready when they are readable. The
    descriptor -1 is ignored. Returns the events found: for ``first`` in bits 0 to 15, for each other descriptor in the
    next 16 bits. Returns -1 if a signal interrupted the wait.
    """
    waiting = select.poll()
    for descriptor, wanted in ((first, events), (second, POLL_IN), (third, POLL_IN), (fourth, POLL_IN)):
        if descriptor >= 0:
            waiting.register(int(descriptor), wanted)
    found = dict(waiting.poll(int(milliseconds)))
    return sum(
        found.get(descriptor, 0) << 16 * place for place, descriptor in enumerate((first, second, third, fourth))
    )


_write_at, _read_at = _declare_transfer("write"), _declare_transfer("read")
_pread_at = _declare_transfer("pread", ir.Constant(_WORD, 0))
compiled_as(write_bytes)(lambda descriptor, address, length: _write_at)
compiled_as(read_bytes)(lambda descriptor, address, length: _read_at)
compiled_as(read_from_start)(lambda descriptor, address, length: _pread_at)
compiled_as(poll)(lambda first, events, second, third, fourth, milliseconds: _poll)

# --- The exchange ---------------------------------------------------------------------------------------------------

_BLANK, _TAB, _NEWLINE, _ZERO, _NINE = 32, 9, 10, 48, 57
_INFO = tuple(b"info")
_MARKS = tuple(b".&+-!?:")
"""Characters that xboard engines append to the depth in thinking output."""
_SIGNS = tuple(b"+-")


@jit
def exchange(talks, mode, stop, schedule, wake_ns):  # type: ignore[no-untyped-def]
    """Write the rest of the command, then read the answer. Returns the reason why the call ended, such as ``DONE``.

    - ``talks``: array of one record of ``EXCHANGE_DTYPE``, which keeps the state from call to call. Numba receives an
      array much faster than a record.
    - ``mode``: what to read: ``WRITE``, ``READ_LINE`` or ``READ_ANSWER``.
    - ``stop``: address of a stop flag; 0 for none.
    - ``schedule``: file descriptor of ``SCHEDULE_PATH`` for this thread, or the negative address of the delays that
      ``_beat`` records.
    - ``wake_ns``: time, on the clock of ``time.monotonic_ns``, at which the call returns ``WOKEN`` at the latest.
    """
    talk = talks[0]
    if talk.written < talk.question_bytes:
        reason = _write_question(talk, stop, wake_ns)
        if reason != DONE:
            return reason
    return _read(talk, mode == READ_ANSWER, stop, schedule, wake_ns) if mode != WRITE else DONE


@jit
def _write_question(talk, stop, wake_ns):  # type: ignore[no-untyped-def]
    """Record the time and write the command. Returns ``DONE``, or the reason why writing ended early.

    Meanwhile output is not read: it stays in its pipe, so that it cannot fill the memory. ``talk`` is a record of
    ``EXCHANGE_DTYPE``; the other arguments are as for ``exchange``.
    """
    if talk.written == 0:
        talk.asked_ns = monotonic_ns()
        if talk.allowance_ns >= 0:
            talk.deadline_ns = talk.asked_ns + talk.allowance_ns
    while True:
        count = write_bytes(talk.input, talk.question_at + talk.written, talk.question_bytes - talk.written)
        if count > 0:
            talk.written += count
            if talk.written == talk.question_bytes:
                return DONE
            continue
        now_ns = monotonic_ns()
        if now_ns >= talk.deadline_ns:
            return DEADLINE
        if read_flag(stop) != 0:
            return STOPPED
        if now_ns >= wake_ns:
            return WOKEN
        ready = poll(talk.input, _POLL_OUT, -1, -1, _wake_of(stop), _patience_ms(talk, stop, now_ns, wake_ns))
        if ready < 0:
            return WOKEN
        if ready & _BROKEN_INPUT:
            return BROKEN


@jit
def _read(talk, skips_thinking, stop, schedule, wake_ns):  # type: ignore[no-untyped-def]
    """Read output until a line is complete. Returns the reason why reading ended, such as ``DONE``.

    With ``skips_thinking``, lines of thinking output do not count. ``talk`` is a record of ``EXCHANGE_DTYPE``; the
    other arguments are as for ``exchange``.
    """
    looked_ns = monotonic_ns()
    is_known = looked_ns - talk.total_read_ns < READING_AGE_NS  # since then the thread cannot have waited long
    waited_ns = talk.total_waited_ns if is_known else _waited_ns(schedule)
    while True:
        now_ns = monotonic_ns()
        is_late, is_stopped = now_ns >= talk.deadline_ns, read_flag(stop) != 0
        if is_late:
            # An answer that is already in the pipe came in time, even if it is read late. Read only once more: a
            # program that writes without end always has output in the pipe.
            if talk.late_read_ns == talk.deadline_ns:
                return DEADLINE
            talk.late_read_ns = talk.deadline_ns
        elif now_ns >= wake_ns:
            return WOKEN
        patience_ms = 0 if is_late or is_stopped else _patience_ms(talk, stop, now_ns, wake_ns)
        ready = poll(talk.output, POLL_IN, talk.error, talk.ended, _wake_of(stop), patience_ms)
        if ready < 0:
            return WOKEN
        output, error, ended = ready & 0xFFFF, (ready >> 16) & 0xFFFF, (ready >> 32) & 0xFFFF
        reason = -1
        if output != 0:
            before = talk.filled
            count = read_bytes(talk.output, talk.output_at + before, OUTPUT_BYTES - before)
            now_ns = monotonic_ns()
            if count > 0:
                talk.filled += count
                talk.arrival_ends[talk.arrivals] = talk.filled
                talk.arrival_ns[talk.arrivals] = now_ns
                talk.arrivals += 1
                has_line = _has_line(talk, before, skips_thinking)
                if has_line or now_ns - looked_ns >= READING_AGE_NS:
                    before_ns, waited_ns = waited_ns, _waited_ns(schedule)
                    talk.waited_ns = waited_ns - before_ns if before_ns >= 0 else _beats_late_ns(schedule)
                    looked_ns = now_ns
                    talk.total_waited_ns, talk.total_read_ns = waited_ns, now_ns
                if has_line:
                    reason = DONE
                elif talk.filled == OUTPUT_BYTES or talk.arrivals == MAX_ARRIVALS:
                    reason = FULL
            elif count == 0 or output & (_POLL_ERROR | _POLL_INVALID):
                reason = ENDED
        if error != 0:
            room = ERROR_BYTES - talk.error_filled
            count = read_bytes(talk.error, talk.errors_at + talk.error_filled, room)
            if count > 0:
                talk.error_filled += count
                if count == room and reason < 0:
                    reason = FULL
            elif count == 0 or error & (_POLL_ERROR | _POLL_INVALID):
                talk.error = -1
        if reason >= 0:
            return reason
        if is_stopped:
            return STOPPED
        if ended != 0 and output == 0:
            return EXITED


@jit
def _wake_of(stop):  # type: ignore[no-untyped-def]
    """The file descriptor that becomes readable when the flag at address ``stop`` is set; -1 if there is none."""
    return np.int64(load_word(stop, 1)) - 1 if stop != 0 else np.int64(-1)


@jit
def _patience_ms(talk, stop, now_ns, wake_ns):  # type: ignore[no-untyped-def]
    """Milliseconds from ``now_ns`` to the first of: the deadline, ``wake_ns``, and the next check of the stop flag."""
    most_ns = STOP_CHECK_NS if stop != 0 and _wake_of(stop) < 0 else LONGEST_NS
    return (min(talk.deadline_ns - now_ns, wake_ns - now_ns, most_ns) + 999_999) // 1_000_000


@jit
def _has_line(talk, begin, skips_thinking):  # type: ignore[no-untyped-def]
    """Whether a line in the buffer ends at index ``begin`` or later; ``skips_thinking`` ignores thinking output."""
    for place in range(begin, talk.filled):
        if talk.output_bytes[place] == _NEWLINE:
            is_whole = talk.line_start > 0 or talk.is_in_line == 0
            if not (skips_thinking and is_whole and _is_thinking(talk.output_bytes, talk.line_start, place)):
                return True
            talk.line_start = place + 1
    return False


@jit
def _is_thinking(text, place, end):  # type: ignore[no-untyped-def]
    """Whether the line ``text[place:end]``, an array of bytes, is thinking output.

    Such a line begins with ``info`` (UCI and UCCI), or with a depth and a score (xboard).
    """
    place = _after_blanks(text, place, end)
    if end - place > len(_INFO) and text[place] == _INFO[0]:
        for index in range(1, len(_INFO)):
            if text[place + index] != _INFO[index]:
                return False
        return _is_blank(text[place + len(_INFO)])
    digits = place
    while place < end and _ZERO <= text[place] <= _NINE:
        place += 1
    if place == digits:
        return False
    place += place < end and text[place] in _MARKS
    score = _after_blanks(text, place, end)
    if score == place:
        return False
    score += score < end and text[score] in _SIGNS
    return score < end and _ZERO <= text[score] <= _NINE


@jit
def _is_blank(character):  # type: ignore[no-untyped-def]
    return character in (_BLANK, _TAB)


@jit
def _after_blanks(text, place, end):  # type: ignore[no-untyped-def]
    while place < end and _is_blank(text[place]):
        place += 1
    return place


@jit
def _waited_ns(schedule):  # type: ignore[no-untyped-def]
    """Nanoseconds that this thread has waited for a processor so far, as the file ``schedule`` says; -1 if unknown."""
    if schedule < 0:
        return -1
    text = np.empty(64, np.uint8)
    length = read_from_start(schedule, text.ctypes.data, 64)
    place, number = 0, 0
    while place < length and text[place] != _BLANK:
        place += 1
    place += 1
    if place >= length:
        return -1
    while place < length and _ZERO <= text[place] <= _NINE:
        number = 10 * number + np.int64(text[place]) - _ZERO
        place += 1
    return number


@jit
def _beat(beats, times):  # type: ignore[no-untyped-def]
    """Sleep for ``BEAT_MS`` milliseconds, ``times`` times, and record how late the thread wakes up each time.

    ``beats`` is the address of uint64 words: word 0 is the time of the next wake-up, the other ``KEPT_BEATS`` words are
    the latest delays, all in nanoseconds.
    """
    for number in range(times):
        due_ns = monotonic_ns() + BEAT_MS * 1_000_000
        store_word(beats, 0, np.uint64(due_ns))
        poll(-1, 0, -1, -1, -1, BEAT_MS)
        store_word(beats, 1 + number % KEPT_BEATS, np.uint64(max(np.int64(0), monotonic_ns() - due_ns)))


@jit
def _beats_late_ns(schedule):  # type: ignore[no-untyped-def]
    """Largest recent delay of a thread at wake-up, in nanoseconds, as recorded by ``_beat``; -1 without a record."""
    if schedule >= -1:
        return np.int64(-1)
    late_ns = monotonic_ns() - np.int64(load_word(-schedule, 0))
    for number in range(KEPT_BEATS):
        late_ns = max(late_ns, np.int64(load_word(-schedule, 1 + number)))
    return late_ns


# --- Its use from Python ---------------------------------------------------------------------------------------------


def words_of(dtype: np.dtype[Any]) -> Any:
    """Make a ``ctypes`` structure class for the int64 fields of a record type.

    An instance created at a record's address shares the record's memory. Python accesses fields of the instance faster.
    """
    fields = [
        (name, ctypes.c_int64 * field[0].shape[0] if field[0].shape else ctypes.c_int64)
        for name, field in dtype.fields.items()  # type: ignore[union-attr]
        if field[0].base == np.int64
    ]
    return type("Words", (ctypes.Structure,), {"_fields_": fields})


_Words = words_of(EXCHANGE_DTYPE)


class Conversation:
    """Communication with one program: ``ask`` sets a command, ``exchange`` sends it, ``take_output`` returns output."""

    WRITE, READ_LINE, READ_ANSWER = WRITE, READ_LINE, READ_ANSWER
    DEADLINE, ENDED, BROKEN, EXITED, STOPPED, WOKEN = DEADLINE, ENDED, BROKEN, EXITED, STOPPED, WOKEN

    def __init__(self, question: int, output: int, error: int, death: int) -> None:
        """``question``, ``output`` and ``error`` are file descriptors of pipes to the program: its standard input,
        standard output and standard error.

        ``death`` is a file descriptor that becomes readable when the program's process ends, or -1 if there is none.
        """
        load_exchange()
        self._record = new_record(EXCHANGE_DTYPE)
        self._array = array_of(self._record)
        address = self._array.ctypes.data
        places = {name: field[1] for name, field in EXCHANGE_DTYPE.fields.items()}  # type: ignore[union-attr]
        self._words = words = _Words.from_address(address)
        words.input, words.output, words.error, words.ended = question, output, error, death
        words.output_at, words.errors_at = address + places["output_bytes"], address + places["error_bytes"]
        self._memory = self._array.view(np.uint8).data
        self._output_at, self._ends_at, self._times_at = (
            places[name] for name in ("output_bytes", "arrival_ends", "arrival_ns")
        )
        words.allowance_ns = -1
        self._period_ns = NEVER_NS if death >= 0 else ALIVE_CHECK_NS
        self._polled = (ctypes.c_int * 2)(output, POLL_IN)  # a descriptor, and the events asked for and found
        self._polled_at = ctypes.addressof(self._polled)
        self._question = b""
        self._stop: StopFlag | None = None
        self._stop_at = 0
        """Address of ``_stop``, the stop flag of the last call; 0 without one."""

    @property
    def is_asking(self) -> bool:
        """Whether part of the command has not been written yet."""
        return bool(self._words.written < self._words.question_bytes)

    @property
    def error_is_open(self) -> bool:
        return bool(self._words.error >= 0)

    @property
    def has_unread(self) -> bool:
        """Whether output, or the end of the output, can be read without waiting.

        Does not release the interpreter lock: with many threads, getting the lock back would take long.
        """
        self._polled[1] = POLL_IN
        return bool(_library.poll(ctypes.c_void_p(self._polled_at), 1, 0))

    @property
    def asked_ns(self) -> int:
        """Time at which the first byte of the command was written (``time.monotonic_ns``)."""
        return int(self._words.asked_ns)

    @property
    def late_ns(self) -> int:
        """Nanoseconds that the thread waited for a processor before it read the last output; 0 if unknown."""
        return max(0, int(self._words.waited_ns))

    @property
    def is_in_line(self) -> bool:
        """Whether the next output continues a line whose beginning ``take_output`` has already returned."""
        return bool(self._words.is_in_line)

    @is_in_line.setter
    def is_in_line(self, is_in_line: bool) -> None:
        self._words.is_in_line = is_in_line

    def close_error(self) -> None:
        """Record that the error stream has ended."""
        self._words.error = -1

    def ask(self, question: bytes, allowance_ns: int) -> None:
        """Set the command, ``question``, that the next call of ``exchange`` writes.

        The deadline is ``allowance_ns`` nanoseconds after the command's first byte is written. If ``allowance_ns`` is
        negative, the deadline passed to ``exchange`` applies.
        """
        words = self._words
        self._question = question
        words.question_at = ctypes.cast(ctypes.c_char_p(question), ctypes.c_void_p).value or 0
        words.question_bytes, words.written, words.allowance_ns = len(question), 0, allowance_ns

    def exchange(self, mode: int, deadline_ns: int, stop: StopFlag | None) -> int:
        """Write the command and read output by the compiled function ``exchange``; returns why the function ended, such
        as ``DONE``.

        ``mode`` is what to read: ``WRITE``, ``READ_LINE`` or ``READ_ANSWER``. ``deadline_ns`` is on the clock of
        ``time.monotonic_ns``; this deadline applies if ``ask`` set no allowance.
        """
        words = self._words
        if words.allowance_ns < 0:
            words.deadline_ns = deadline_ns
        return int(exchange(self._array, mode, *self.wait_arguments(stop)))

    def wait_arguments(self, stop: StopFlag | None) -> tuple[int, int, int]:
        """The arguments ``stop``, ``schedule`` and ``wake_ns`` for a call of the compiled ``exchange``.

        They are valid only for a call that this thread makes at once.
        """
        if stop is not self._stop:
            self._stop, self._stop_at = stop, 0
            if stop is not None:
                stop.watch()
                self._stop_at = stop.address
        is_main = threading.get_ident() == threading.main_thread().ident
        period_ns = WAKE_NS if is_main else self._period_ns
        wake_ns = NEVER_NS if period_ns == NEVER_NS else time.monotonic_ns() + period_ns
        return self._stop_at, _schedule(), wake_ns

    @property
    def array(self) -> Any:
        """The record of ``EXCHANGE_DTYPE``, as an array of one element."""
        return self._array

    def output(self) -> Received:
        """The output that has been read and not yet returned by ``take_output``. Any thread may call this."""
        words, memory = self._words, self._memory
        count = 8 * words.arrivals
        ends = bytes(memory[self._ends_at : self._ends_at + count])
        filled = int.from_bytes(ends[-8:], "little")
        return Received(
            bytes(memory[self._output_at : self._output_at + filled]),
            ends,
            bytes(memory[self._times_at : self._times_at + count]),
        )

    def take_output(self) -> Received:
        """Return the output that has been read since the last call, and empty the buffer."""
        words = self._words
        if not words.arrivals:
            return NOTHING_RECEIVED
        output = self.output()
        words.filled = words.line_start = words.arrivals = 0
        return output

    def take_errors(self) -> bytes:
        """Return what has been read from the error stream since the last call, and empty the buffer."""
        words = self._words
        errors = ctypes.string_at(words.errors_at, words.error_filled) if words.error_filled else b""
        words.error_filled = 0
        return errors


@functools.cache
def load_exchange() -> None:
    """Load or compile the code of ``exchange``. The main thread must call this first: other threads must not import."""
    record = new_record(EXCHANGE_DTYPE)
    exchange(array_of(record), WRITE, 0, -1, NEVER_NS)
    _schedule()


@functools.cache
def _beats() -> Any:
    """Array that ``_beat`` fills: uint64, one word and ``KEPT_BEATS`` delays. The first call starts the thread."""
    beats = np.zeros(1 + KEPT_BEATS, np.uint64)
    beats[0] = np.uint64(NEVER_NS)
    _beat(beats.ctypes.data, 0)  # compiled here, because threads must not import
    threading.Thread(target=_beat, args=(beats.ctypes.data, NEVER_NS), name="beats", daemon=True).start()
    return beats


class _Schedule:
    """A thread's source for the time that it waited for a processor.

    ``descriptor`` is its open file ``SCHEDULE_PATH``, or, on systems without this file, the negative address of the
    delays that ``_beats`` measures.
    """

    def __init__(self) -> None:
        try:
            self.descriptor = os.open(SCHEDULE_PATH, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:  # not Linux
            self.descriptor = -int(_beats().ctypes.data)

    def __del__(self) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)


_OF_THREAD = threading.local()


def _schedule() -> int:
    """The argument ``schedule`` of ``exchange`` for the current thread."""
    try:
        return int(_OF_THREAD.schedule.descriptor)
    except AttributeError:
        _OF_THREAD.schedule = _Schedule()
        return int(_OF_THREAD.schedule.descriptor)
