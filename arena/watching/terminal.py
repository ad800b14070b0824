"""A run followed in a terminal: a screen that renews itself and obeys keys; one picture of the run for a file or pipe.

Like the page it only reads. A terminal is put back as it was however the following ends.
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import subprocess
import sys
import termios
import threading
import time
import tty
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TextIO

from elolab.arena.colours import coloured
from elolab.arena.watching.snapshot import RunFollower
from elolab.arena.watching.view import Choice, Line, printed, screen
from elolab.engine.child_processes import start_helper

RENEWED_SECONDS = 1.0
OUTCOME_SECONDS = 20.0
"""Least time between two readings of what a run has come to, and so many times as long as one takes:"""
OUTCOME_SHARE = 20

NEXT, BEFORE, BOARD, QUIT = "next", "before", "board", "quit"
KEYS = {
    b"n": NEXT, b" ": NEXT, b"\x1b[C": NEXT, b"\x1b[B": NEXT, b"p": BEFORE, b"\x1b[D": BEFORE, b"\x1b[A": BEFORE,
    b"b": BOARD, b"q": QUIT, b"\x03": QUIT, b"\x04": QUIT,
}  # fmt: skip
"""Byte sequences of keys, and their meaning."""

_ENTER = "\x1b[?1049h\x1b[?25l"
"""The other screen of the terminal (DEC private mode 1049), without a cursor."""
_LEAVE = "\x1b[?25h\x1b[?1049l"
_HOME, _REST_OF_LINE, _REST_OF_SCREEN = "\x1b[H", "\x1b[K", "\x1b[J"


def watch_in_terminal(
    folder: Path, language: str, outcome_command: Sequence[str] = (), stream: TextIO | None = None
) -> None:
    """Show a run until ``q`` or Ctrl-C, or print how it stands where ``stream`` (standard output) is no terminal.

    ``outcome_command`` prints, for runs that are no tournaments, what they have come to so far. There are keys if
    standard input is a terminal. For the main thread, which alone is told of signals.
    """
    stream = stream or sys.stdout
    follower, outcome = RunFollower(folder), _Outcome(outcome_command)
    if not stream.isatty():
        state = follower.read()
        outcome.begin(state)
        outcome.wait()
        for line in printed(state, outcome.lines, language):
            stream.write("".join(text for text, _ in line).rstrip() + "\n")
        return
    try:
        with _taken(stream) as keyboard:
            _follow(follower, outcome, language, stream, keyboard)
    except KeyboardInterrupt:
        pass
    finally:
        outcome.end()


def _follow(follower: RunFollower, outcome: _Outcome, language: str, stream: TextIO, keyboard: int | None) -> None:
    """Renew the screen every second, at every key, and when its size changes."""
    choice, keys = Choice(), _KeyReader(keyboard)
    with _wakened_by_resizing() as resized:
        while True:
            state = follower.read()
            outcome.begin(state)
            until = time.monotonic() + RENEWED_SECONDS
            while True:
                columns, rows = shutil.get_terminal_size()
                _show(screen(state, outcome.lines, choice, language, columns, rows), stream)
                wanted = keys.wait(until - time.monotonic(), resized)
                if wanted == QUIT:
                    return
                if wanted in (NEXT, BEFORE):
                    choice.turn(1 if wanted == NEXT else -1)
                elif wanted == BOARD:
                    choice.with_board = not choice.shows_board(outcome.lines)
                if time.monotonic() >= until:
                    break


def _show(lines: Sequence[Line], stream: TextIO) -> None:
    """Replace the screen's content at once, without clearing it first, so that nothing flickers."""
    texts = ["".join(coloured(text, colour, stream) for text, colour in line).rstrip() for line in lines]
    stream.write(_HOME + f"{_REST_OF_LINE}\r\n".join(texts) + _REST_OF_LINE + _REST_OF_SCREEN)
    stream.flush()


@contextlib.contextmanager
def _taken(stream: TextIO) -> Iterator[int | None]:
    """The other screen of the terminal, and the descriptor of its keyboard, which tells keys at once; ``None`` without.

    Both are given back at the end, also if the process is asked to end or its terminal is closed, and for the time
    that it is stopped (Ctrl-Z).
    """
    keyboard = sys.stdin.fileno() if sys.stdin is not None and sys.stdin.isatty() else None
    usual = None if keyboard is None else termios.tcgetattr(keyboard)

    def take() -> None:
        if keyboard is not None:
            tty.setcbreak(keyboard)
        stream.write(_ENTER)
        stream.flush()

    def give_back() -> None:
        with contextlib.suppress(OSError, termios.error):  # the terminal may be gone
            stream.write(_LEAVE)
            stream.flush()
            if keyboard is not None and usual is not None:
                termios.tcsetattr(keyboard, termios.TCSADRAIN, usual)

    def end(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    def stop(number: int, frame: object) -> None:
        give_back()
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, stop)
        take()

    handlers = {signal.SIGTERM: end, signal.SIGHUP: end, signal.SIGTSTP: stop}
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    take()
    try:
        yield keyboard
    finally:
        give_back()
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def _wakened_by_resizing() -> Iterator[int]:
    """A descriptor from which something can be read once the terminal has another size."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)

    def wake(number: int, frame: object) -> None:
        with contextlib.suppress(BlockingIOError):
            os.write(writing, b".")

    before = signal.signal(signal.SIGWINCH, wake)
    try:
        yield reading
    finally:
        signal.signal(signal.SIGWINCH, before)
        os.close(reading)
        os.close(writing)


class _KeyReader:
    """Waits for keys."""

    def __init__(self, keyboard: int | None) -> None:
        self._keyboard = keyboard

    def wait(self, seconds: float, resized: int) -> str:
        """The meaning of the next key; empty for an unknown key, on timeout, or if the terminal was resized."""
        sources = [resized] if self._keyboard is None else [resized, self._keyboard]
        ready, _, _ = select.select(sources, [], [], max(0.0, seconds))
        if resized in ready:
            os.read(resized, 1024)
        if self._keyboard is None or self._keyboard not in ready:
            return ""
        typed = os.read(self._keyboard, 32)
        if not typed:  # nobody types there any more
            self._keyboard = None
        return next((meaning for key, meaning in KEYS.items() if typed.startswith(key)), "")


class _Outcome:
    """Result so far of a tuning, ablation or the like, computed by a separate process because it takes seconds."""

    def __init__(self, command: Sequence[str]) -> None:
        self.lines: list[str] = []
        self._command = command
        self._process: subprocess.Popen[str] | None = None
        self._reader = threading.Thread()
        self._games: object = 0
        """Number of games when it was last started."""
        self._next = 0.0

    def begin(self, state: dict[str, object]) -> None:
        """Start computing it, if due and if games have ended since."""
        is_known = state["games"] == self._games or bool(state["standings"])
        if not self._command or is_known or self._reader.is_alive() or time.monotonic() < self._next:
            return
        self._games = state["games"]
        self._process = start_helper(self._command, stderr=subprocess.DEVNULL)
        self._reader = threading.Thread(target=self._read, args=(self._process,))
        self._reader.start()

    def _read(self, process: subprocess.Popen[str]) -> None:
        began = time.monotonic()
        with process:
            assert process.stdout is not None
            text = process.stdout.read()
        if process.returncode == 0:  # otherwise there is not enough to say anything
            self.lines = text.splitlines()
        self._next = time.monotonic() + max(OUTCOME_SECONDS, OUTCOME_SHARE * (time.monotonic() - began))

    def wait(self) -> None:
        """Wait for the result."""
        if self._reader.is_alive():
            self._reader.join()

    def end(self) -> None:
        """Abort the computation."""
        if self._process is not None:
            self._process.kill()
        self.wait()
