"""Ctrl-C and other requests to end: a first one stops the work cleanly, a second one ends the process, whatever hangs.

Within a run (``stopping_on_signals``) the first one sets the run's stop flag. Elsewhere it raises ``KeyboardInterrupt``
in the main thread, but not while that imports modules or loads compiled code: an exception there may be swallowed, come
out as another one, or leave a lock that nobody gives back. There the process ends at once, because nothing was begun.

A thread of a command's process hears signals beside the main thread, which may hang. It ends the process
``SECOND_SECONDS`` after a second request, ``FIRST_SECONDS`` after a first one outside a run, and ``COMPILING_SECONDS``
after a first one within a run that then waits for code to be compiled. What is stored is safe at any moment, and the
supervisor ends the engines.
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
"""Time that a command which is no run has to end by itself after a first request."""
SECOND_SECONDS = 0.5
"""Time that anything has after a second request."""
COMPILING_SECONDS = 6.0
"""Time after which a run that was asked to end waits no longer for a thread that compiles or imports."""
FLUSH_SECONDS = 0.2
"""Time for what was printed to be written: whoever reads it may have stopped reading."""
TOGETHER_SECONDS = 0.2
"""Requests closer together count as one: wrappers and ``timeout`` pass on what the terminal has sent already."""
UNSAFE_PACKAGES = ("_frozen_importlib", "_frozen_importlib_external", "importlib", "llvmlite", "numba")
"""Packages whose functions must not be left by an exception that they know nothing of."""


class Stoppable(Protocol):
    """What a request to end stops, such as a ``StopFlag``."""

    def set(self) -> None:
        """Stop; called in the midst of whatever the main thread is doing."""


@dataclass
class Pauses:
    """How often the process has been stopped and continued, as by Ctrl-Z and ``fg``; see ``stopping_on_signals``."""

    count: int = 0


class _Requests:
    """Counts requests to end."""

    def __init__(self) -> None:
        self.count = 0
        self._last = -TOGETHER_SECONDS

    def add(self) -> bool:
        """Count one; whether it is another one than the last."""
        before, self._last = self._last, time.monotonic()
        is_new = self._last - before >= TOGETHER_SECONDS
        self.count += is_new
        return is_new


class _Listener:
    """Hears the signals of a command's process in a thread, and ends the process if nothing else does."""

    def __init__(self) -> None:
        self.requests = _Requests()
        self.runs = 0
        """Runs under way that a first request stops."""
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._writer, False)

    def start(self) -> None:
        """Listen from now on; for the main thread."""
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
        """End the process once a run has had time to end and a thread compiles, which takes up to a minute."""
        time.sleep(COMPILING_SECONDS)
        while self.runs:
            if any(map(_is_unsafe, sys._current_frames().values())):
                end_process(EXIT_INTERRUPTED, after=0.0, word="interrupted")
            time.sleep(1.0)


_LISTENER: list[_Listener] = []
"""That of this process, if it is a command's."""


def take_over_signals() -> None:
    """Let Ctrl-C end this process as described above, from now on; for the main thread of a command.

    What the process was told to ignore, as a job in the background is, stays ignored.
    """
    _LISTENER.append(_Listener())
    _LISTENER[0].start()
    if signal.getsignal(signal.SIGINT) in (signal.SIG_DFL, signal.default_int_handler):
        signal.signal(signal.SIGINT, _interrupt_once)


def give_back_signals(code: int) -> None:
    """Let the process come to its end: Ctrl-C ends it at once, and after a request to end nothing holds it up."""
    if signal.getsignal(signal.SIGINT) is _interrupt_once:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    if requests_to_end():  # a thread that compiles would be waited for
        end_process(code, after=SECOND_SECONDS)


def requests_to_end() -> int:
    """How often a command's process was asked to end; 0 in any other."""
    return sum(listener.requests.count for listener in _LISTENER)


def interrupt(number: int, frame: FrameType | None) -> None:
    """Raise ``KeyboardInterrupt``, or end a command's process where that would not be safe; a handler of signals."""
    if _LISTENER and _is_unsafe(frame):
        end_process(EXIT_INTERRUPTED, after=0.0, word="interrupted")
        while True:  # the main thread goes no further
            time.sleep(1.0)
    raise KeyboardInterrupt


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
    """End the process so many seconds from now, if it is still there then; ``word`` is what it says."""
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
def stopping_on_signals(stop: Stoppable, pauses: Pauses | None = None) -> Iterator[None]:
    """Within it, Ctrl-C, a request to end and the end of the terminal set the stop flag; a second one interrupts.

    That the process goes on after it was stopped is counted in ``pauses``. What the process was told to ignore, as a
    job in the background is, stays ignored. Does nothing outside the main thread, where Python handles no signals.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    requests = _Requests()

    def end(number: int, frame: FrameType | None) -> None:
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
        yield
    finally:
        for listener in _LISTENER:
            listener.runs -= 1
        for number, previous in before.items():
            signal.signal(number, previous)
