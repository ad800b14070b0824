"""Event queue of an engine server: input lines, the end of the input, and results of searches.

A daemon thread reads the input through its own buffer and not through ``sys.stdin``. Otherwise, a thread that still
waits for input when the engine exits would hold the lock of ``sys.stdin``, and Python would wait for that lock.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

MAX_LINE = 1 << 16
"""Maximum number of bytes in a line; longer lines are dropped. The moves of the longest game need a tenth of this."""
MAX_LINES = 1024
"""Maximum number of lines in the queue; the reader thread waits while it is full."""


@dataclass(frozen=True)
class InputLine:
    """A line of the input, without the line end; NUL characters and bytes that are not UTF-8 are replaced."""

    text: str


@dataclass(frozen=True)
class LineTooLong:
    """Event for a dropped line of more than ``MAX_LINE`` bytes."""


@dataclass(frozen=True)
class EndOfInput:
    """Event for the end of the input."""


@dataclass(frozen=True)
class SearchEnded:
    """Event for the end of a search."""

    number: int
    """Number of the search within the session."""
    outcome: Any
    """The search's result, or the exception that ended the search."""


InboxEvent = InputLine | LineTooLong | EndOfInput | SearchEnded


class Inbox:
    """Queue of events for a server. Results of searches are returned before lines."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._lines: deque[InboxEvent] = deque()
        self._results: deque[SearchEnded] = deque()
        self._closed = False

    def take(self, timeout_s: float | None, *, lines: bool = True) -> InboxEvent | None:
        """Wait for the next event and return it; return ``None`` after ``timeout_s`` seconds. If ``timeout_s`` is
        ``None``, wait without limit.

        ``lines=False`` returns results of searches only, and leaves lines in the queue.
        """
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
        """Add a search's result. The search's thread calls this."""
        with self._changed:
            self._results.append(result)
            self._changed.notify_all()

    def put_line(self, event: InboxEvent) -> bool:
        """Add a line or the end of the input. Waits while the queue is full; returns false if the queue is closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or len(self._lines) < MAX_LINES)
            self._lines.append(event)
            self._changed.notify_all()
            return not self._closed

    def close(self) -> None:
        """Close the queue: ``put_line`` then returns false, so that the reader thread ends after its next line."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def listen(self, descriptor: int | None) -> None:
        """Start a thread that reads the input to its end. If ``descriptor`` is ``None``, the input is empty."""
        if descriptor is None:
            self.put_line(EndOfInput())
            return
        stream = open(descriptor, "rb", closefd=False)  # noqa: SIM115 - the thread may outlive this call
        threading.Thread(target=self._read, args=(stream,), name="input", daemon=True).start()

    def _read(self, stream: BinaryIO) -> None:
        for event in read_lines(stream):
            if not self.put_line(event):
                return


def read_lines(stream: BinaryIO) -> Iterator[InboxEvent]:
    """Yield an event for each line of a stream and for its end; at most ``MAX_LINE`` + 1 bytes are held in memory."""
    is_end_of_long_line = False
    while True:
        try:
            line = stream.readline(MAX_LINE + 1)
        except OSError:  # a terminal that is gone
            line = b""
        is_part = len(line) > MAX_LINE and not line.endswith(b"\n")
        if not is_part and (is_end_of_long_line or line):
            yield (
                LineTooLong()
                if is_end_of_long_line
                else InputLine(line.replace(b"\0", b" ").decode("utf-8", "replace").strip())
            )
        if not line:
            yield EndOfInput()
            return
        is_end_of_long_line = is_part
