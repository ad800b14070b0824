"""Event queue of a session: lines of its input, the end of the input, and results of its searches, in order.

The input is read in a thread of its own, from the descriptor itself: Python's buffered reader would be locked by a
thread that waits in it when the program ends.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from dataclasses import dataclass
from typing import Any

MAX_LINE = 1 << 16
"""Bytes of a line; a longer one is dropped whole. The longest game needs a tenth of it."""
MAX_LINES = 1024
"""Most lines in the queue; the reader waits while it is full."""

_READ_SIZE = 1 << 16


@dataclass(frozen=True)
class Line:
    """A line of the input, without its end and without NUL; what is not UTF-8 is replaced."""

    text: str


@dataclass(frozen=True)
class LineTooLong:
    """A line of more than ``MAX_LINE`` bytes was dropped."""


@dataclass(frozen=True)
class EndOfInput:
    """No further line will come."""


@dataclass(frozen=True)
class SearchEnded:
    """A search is over."""

    number: int
    """Number of the search within the session."""
    outcome: Any
    """A ``SearchResult``, or the exception that ended it."""


Event = Line | LineTooLong | EndOfInput | SearchEnded


class Inbox:
    """A queue in which the results of searches overtake lines, and lines may be left waiting."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._lines: deque[Event] = deque()
        self._results: deque[SearchEnded] = deque()
        self._closed = False

    def take(self, timeout_s: float | None, *, lines: bool = True) -> Event | None:
        """The next event; ``None`` if none has come in time. ``lines=False`` leaves the input waiting."""
        with self._changed:
            self._changed.wait_for(lambda: self._results or (lines and self._lines), timeout_s)
            if self._results:
                return self._results.popleft()
            if lines and self._lines:
                event = self._lines.popleft()
                self._changed.notify_all()
                return event
            return None

    def put_result(self, result: SearchEnded) -> None:
        """Add a search's result; called by the search's thread."""
        with self._changed:
            self._results.append(result)
            self._changed.notify_all()

    def put_line(self, event: Event) -> bool:
        """Add a line or the end of the input; called by the reader, waits while the queue is full. False if closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or len(self._lines) < MAX_LINES)
            self._lines.append(event)
            self._changed.notify_all()
            return not self._closed

    def close(self) -> None:
        """Let the reader end with the next line it reads."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def listen(self, descriptor: int | None) -> None:
        """Read an input in a thread until it ends; no descriptor is an input that has ended."""
        if descriptor is None:
            self.put_line(EndOfInput())
            return
        threading.Thread(target=self._read, args=(descriptor,), name="input", daemon=True).start()

    def _read(self, descriptor: int) -> None:
        splitter = LineSplitter()
        while True:
            try:
                piece = os.read(descriptor, _READ_SIZE)
            except OSError:  # a terminal that is gone
                piece = b""
            for event in splitter.split(piece) if piece else splitter.rest():
                if not self.put_line(event):
                    return
            if not piece:
                self.put_line(EndOfInput())
                return


class LineSplitter:
    """Turns pieces of bytes into lines, never keeping more than one longest line."""

    def __init__(self) -> None:
        self._begun = b""
        self._dropping = False

    def split(self, piece: bytes) -> list[Event]:
        """The lines that a further piece of the input completes."""
        events: list[Event] = []
        *complete, begun = piece.split(b"\n")
        for line in complete:
            events += self._end_line(self._begun + line)
            self._begun = b""
        self._begun += begun
        if len(self._begun) > MAX_LINE:
            self._dropping = True
            self._begun = b""
        return events

    def rest(self) -> list[Event]:
        """The last line, if the input ended without ending it."""
        return self._end_line(self._begun) if self._begun or self._dropping else []

    def _end_line(self, line: bytes) -> list[Event]:
        if self._dropping or len(line) > MAX_LINE:
            self._dropping = False
            return [LineTooLong()]
        return [Line(line.replace(b"\0", b" ").decode("utf-8", "replace").strip())]
