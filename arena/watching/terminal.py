"""A read-only view of a run in a terminal, updated every second and controlled by keys.

If the output is a file or pipe, it receives one snapshot. The terminal is restored in whatever way the view ends.
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import sys
import termios
import time
import tty
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TextIO

from elolab.arena.colours import coloured
from elolab.arena.watching.drawing import RenewedOutput
from elolab.arena.watching.snapshot import RunFollower, State
from elolab.arena.watching.view import GameChoice, Line, printed, screen

RENEWED_SECONDS = 1.0

NEXT, BEFORE, BOARD, QUIT = "next", "before", "board", "quit"
KEYS = {
    b"n": NEXT, b" ": NEXT, b"\x1b[C": NEXT, b"\x1b[B": NEXT, b"p": BEFORE, b"\x1b[D": BEFORE, b"\x1b[A": BEFORE,
    b"b": BOARD, b"q": QUIT, b"\x03": QUIT, b"\x04": QUIT,
}  # fmt: skip
"""The action for each key. A key is given by the bytes that it sends."""

_ENTER = "\x1b[?1049h\x1b[?25l"
"""Switches to the alternate screen (DEC private mode 1049) and hides the cursor."""
_LEAVE = "\x1b[?25h\x1b[?1049l"
_HOME, _REST_OF_LINE, _REST_OF_SCREEN = "\x1b[H", "\x1b[K", "\x1b[J"


def watch_in_terminal(
    folder: Path, language: str, outcome_command: Sequence[str] = (), stream: TextIO | None = None
) -> None:
    """Show a run until ``q`` or Ctrl-C. If ``stream`` is not a terminal, print it once.

    ``stream`` is the standard output by default. ``outcome_command`` prints the result so far, for a run that is not a
    tournament. Keys are read if the standard input is a terminal. Must be called on the main thread, which receives
    signals.
    """
    stream = stream or sys.stdout
    follower, outcome = RunFollower(folder), RenewedOutput(outcome_command)
    if not stream.isatty():
        state = follower.read()
        _renew(outcome, state, outcome_command)
        outcome.wait()
        for line in printed(state, outcome.text.splitlines(), language):
            stream.write("".join(text for text, _ in line).rstrip() + "\n")
        return
    try:
        with _alternate_screen(stream) as keyboard:
            _follow(follower, outcome, outcome_command, language, stream, keyboard)
    except KeyboardInterrupt:
        pass
    finally:
        outcome.close()


def _renew(outcome: RenewedOutput, state: State, command: Sequence[str]) -> None:
    """Start the command that prints the result so far, if games have ended since its last start."""
    if command and state["games"] and not state["standings"]:
        outcome.renew(state["games"])


def _follow(
    follower: RunFollower,
    outcome: RenewedOutput,
    command: Sequence[str],
    language: str,
    stream: TextIO,
    keyboard: int | None,
) -> None:
    """Redraw the screen every second, after every key, and when the size of the terminal changes.

    ``outcome`` is the output of ``command``, the result so far. ``keyboard`` is a file descriptor, ``None`` without
    keys.
    """
    choice, keys = GameChoice(), _KeyReader(keyboard)
    with _watching_size() as resized:
        while True:
            state = follower.read()
            _renew(outcome, state, command)
            until = time.monotonic() + RENEWED_SECONDS
            while True:
                columns, rows = shutil.get_terminal_size()
                lines = outcome.text.splitlines()
                _show(screen(state, lines, choice, language, columns, rows), stream)
                wanted = keys.wait(until - time.monotonic(), resized)
                if wanted == QUIT:
                    return
                if wanted in (NEXT, BEFORE):
                    choice.turn(1 if wanted == NEXT else -1)
                elif wanted == BOARD:
                    choice.with_board = not choice.shows_board(lines)
                if time.monotonic() >= until:
                    break


def _show(lines: Sequence[Line], stream: TextIO) -> None:
    """Draw the screen over its previous content, without clearing it first, so that it does not flicker."""
    texts = ["".join(coloured(text, colour, stream) for text, colour in line).rstrip() for line in lines]
    stream.write(_HOME + f"{_REST_OF_LINE}\r\n".join(texts) + _REST_OF_LINE + _REST_OF_SCREEN)
    stream.flush()


@contextlib.contextmanager
def _alternate_screen(stream: TextIO) -> Iterator[int | None]:
    """A context in the alternate screen of the terminal; yields the keyboard's file descriptor, or ``None`` without
    one.

    The terminal is restored at the end, when a signal ends the process, and while the process is stopped (Ctrl-Z).
    """
    keyboard = sys.stdin.fileno() if sys.stdin is not None and sys.stdin.isatty() else None
    usual = None if keyboard is None else termios.tcgetattr(keyboard)

    def take() -> None:
        if keyboard is not None:
            tty.setcbreak(keyboard)
        stream.write(_ENTER)
        stream.flush()

    def give_back() -> None:
        with contextlib.suppress(OSError, termios.error):  # the terminal may be closed
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
def _watching_size() -> Iterator[int]:
    """A context with a file descriptor that becomes readable when the size of the terminal changes."""
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
    """Waits for keys; ``keyboard`` is the file descriptor of standard input, ``None`` if it is not a terminal."""

    def __init__(self, keyboard: int | None) -> None:
        self._keyboard = keyboard

    def wait(self, seconds: float, resized: int) -> str:
        """Wait for the next key; returns its action.

        Empty for an unknown key, after ``seconds``, or if the size of the terminal changes. ``resized`` is a file
        descriptor that becomes readable then.
        """
        sources = [resized] if self._keyboard is None else [resized, self._keyboard]
        ready, _, _ = select.select(sources, [], [], max(0.0, seconds))
        if resized in ready:
            os.read(resized, 1024)
        if self._keyboard is None or self._keyboard not in ready:
            return ""
        typed = os.read(self._keyboard, 32)
        if not typed:  # the keyboard is closed
            self._keyboard = None
        return next((meaning for key, meaning in KEYS.items() if typed.startswith(key)), "")
