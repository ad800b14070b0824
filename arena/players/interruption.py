"""Handling of Ctrl-C and termination signals: the first stops the work cleanly, a second ends even a process that
hangs.

Within a run (``stopping_on_signals``) the first signal sets the run's stop flag. Elsewhere it raises
``KeyboardInterrupt`` in the main thread. During imports and the loading of compiled code, an exception may be
swallowed, change its type, or leave a lock held. The process then exits immediately instead, because no work has begun.

In the process of a command, a second thread also receives the signals, because the main thread may hang. This thread
ends the process ``SECOND_SECONDS`` after a second signal, and ``FIRST_SECONDS`` after a first signal outside a run. If
a run waits for code to be compiled, the thread ends it ``COMPILING_SECONDS`` after the first signal. Stored games are
always safe, and the supervisor ends the engines.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Protocol

EXIT_INTERRUPTED = 130
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
FIRST_SECONDS = 3.0
"""Seconds that a command without a run has to exit after a first signal."""
SECOND_SECONDS = 0.5
"""Seconds that the process has to exit after a second signal."""
COMPILING_SECONDS = 6.0
"""Seconds after a first signal for which the process stays alive while a thread compiles or imports."""
FLUSH_SECONDS = 0.2
"""Maximum seconds to wait until the output is flushed; the program that reads it may have stopped reading."""
TOGETHER_SECONDS = 0.2
"""Signals within this number of seconds count as one, because ``timeout`` and wrappers repeat the terminal's signal."""
UNSAFE_PACKAGES = ("_frozen_importlib", "_frozen_importlib_external", "importlib", "llvmlite", "numba")
"""Packages in which an exception must not interrupt a function."""


class Stoppable(Protocol):
    """An object that can be asked to stop, such as a ``StopFlag``."""

    def set(self) -> None:
        """Request the stop; a signal handler may call this while the main thread executes any code."""


@dataclass
class Pauses:
    """Counts how often the process was stopped and continued, as by Ctrl-Z and ``fg``; see ``stopping_on_signals``."""

    count: int = 0


class _Requests:
    """Counts signals that ask the process to end; signals within ``TOGETHER_SECONDS`` count as one."""

    def __init__(self) -> None:
        self.count = 0
        self._last = -TOGETHER_SECONDS

    def add(self) -> bool:
        """Count a signal unless it repeats the previous one; returns whether it was counted."""
        before, self._last = self._last, time.monotonic()
        is_new = self._last - before >= TOGETHER_SECONDS
        self.count += is_new
        return is_new


class _Listener:
    """Thread that receives the signals of a command's process, and ends the process if it does not exit in time."""

    def __init__(self) -> None:
        self.requests = _Requests()
        self.runs = 0
        """Number of active runs; a first signal stops them cleanly."""
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._writer, False)

    def start(self) -> None:
        """Start listening to signals; call this on the main thread."""
        signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
        threading.Thread(target=self._listen, daemon=True, name="signals").start()

    def _listen(self) -> None:
        while True:
            for number in os.read(self._reader, 256):
                if number in ENDING and self.requests.add():
                    self._heed()

    def _heed(self) -> None:
        if self.requests.count > 1:
            end_process(EXIT_INTERRUPTED, after=SECOND_SECONDS, word="interrupted")
        elif self.runs:
            threading.Thread(target=self._end_if_compiling, daemon=True, name="compiling").start()
        else:
            end_process(EXIT_INTERRUPTED, after=FIRST_SECONDS, word="interrupted")

    def _end_if_compiling(self) -> None:
        """End the process if a run is still active after ``COMPILING_SECONDS`` while a thread compiles or imports.

        Returns when no run is active.
        """
        time.sleep(COMPILING_SECONDS)
        while self.runs:
            if any(map(_is_unsafe, sys._current_frames().values())):
                end_process(EXIT_INTERRUPTED, after=0.0, word="interrupted")
            time.sleep(1.0)


_LISTENER: list[_Listener] = []
"""List with the listener of a command's process; empty in other processes."""


def take_over_signals() -> None:
    """Install the signal handling that the module describes; call this on the main thread of a command.

    A signal that is already ignored, as in a background job, stays ignored.
    """
    _LISTENER.append(_Listener())
    _LISTENER[0].start()
    for number in ENDING:
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, _interrupt_once)


def give_back_signals(code: int) -> None:
    """Restore the default handling of the signals: from now on, a signal ends the process immediately.

    If a signal has already been received, the process soon exits with ``code``, even if a thread is still compiling.
    """
    for number in ENDING:
        if signal.getsignal(number) is _interrupt_once:
            signal.signal(number, signal.SIG_DFL)
    if requests_to_end():  # Python would wait for a thread that compiles
        end_process(code, after=SECOND_SECONDS)


def requests_to_end() -> int:
    """Number of signals, such as Ctrl-C, that have asked this process to end; always 0 outside a command."""
    return sum(listener.requests.count for listener in _LISTENER)


def interrupt(number: int, frame: FrameType | None) -> None:
    """Signal handler: raises ``KeyboardInterrupt`` with the signal's number, or ends a command's process during imports
    and compilation.
    """
    if _LISTENER and _is_unsafe(frame):
        end_process(EXIT_INTERRUPTED, after=0.0, word="interrupted")
        while True:  # the main thread must not continue
            time.sleep(1.0)
    raise KeyboardInterrupt(number)


_INTERRUPTIONS = _Requests()


def _interrupt_once(number: int, frame: FrameType | None) -> None:
    if _INTERRUPTIONS.add():
        interrupt(number, frame)


def _is_unsafe(frame: FrameType | None) -> bool:
    while frame is not None:
        if str(frame.f_globals.get("__name__")).partition(".")[0] in UNSAFE_PACKAGES:
            return True
        frame = frame.f_back
    return False


def end_process(code: int, *, after: float, word: str = "") -> None:
    """End the process with exit code ``code`` after ``after`` seconds, unless it has exited before; returns
    immediately.

    ``word`` is printed to standard error just before the end.
    """
    threading.Thread(target=_end, args=(code, after, word), daemon=True, name="end").start()


def _end(code: int, after: float, word: str) -> None:
    time.sleep(after)
    speaker = threading.Thread(target=_say, args=(word,), daemon=True)
    speaker.start()
    speaker.join(FLUSH_SECONDS)
    os._exit(code)


def _say(word: str) -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            pass
    if word:
        os.write(2, f"elolab: {word}\n".encode())


@contextmanager
def stopping_on_signals(stop: Stoppable, pauses: Pauses | None = None) -> Iterator[list[int]]:
    """Context manager in which Ctrl-C, SIGTERM and SIGHUP set the stop flag; a second signal raises
    ``KeyboardInterrupt``.

    The context gives a list to which the number of each signal is added. ``pauses`` counts how often the process was
    stopped and continued. Signals that are already ignored, as in a background job, stay ignored. Does nothing outside
    the main thread, because Python handles signals only there.
    """
    received: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield received
        return

    requests = _Requests()

    def end(number: int, frame: FrameType | None) -> None:
        received.append(number)
        if requests.add() and requests.count > 1:
            interrupt(number, frame)
        stop.set()

    def go_on(number: int, frame: FrameType | None) -> None:
        if pauses is not None:
            pauses.count += 1

    handlers = {**dict.fromkeys(ENDING, end), signal.SIGCONT: go_on}
    before = {number: signal.getsignal(number) for number in handlers}
    for number, handler in handlers.items():
        if before[number] != signal.SIG_IGN:
            signal.signal(number, handler)
    for listener in _LISTENER:
        listener.runs += 1
    try:
        yield received
    finally:
        for listener in _LISTENER:
            listener.runs -= 1
        for number, previous in before.items():
            signal.signal(number, previous)
