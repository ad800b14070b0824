"""Commands sent to a program and output received from it, as raw buffers of the compiled code.

The buffers are decoded to text only on demand. Players import this module without loading numba.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

SENT = 20
"""Number of the latest commands to a program that are stored for the log of the dialogue."""
GO_BYTES = 256
"""Maximum length in bytes of a ``go`` line."""


class Received(NamedTuple):
    """Output of a program, divided into pieces: one for each read."""

    output: bytes = b""
    ends: bytes = b""
    """Offset in ``output`` at which each piece ends, as packed int64."""
    times_ns: bytes = b""
    """Time at which each piece arrived (``time.monotonic_ns``), as packed int64."""

    def pieces(self) -> Iterator[tuple[bytes, int]]:
        """Yield each piece and the time of its arrival in nanoseconds (``time.monotonic_ns``)."""
        begin = 0
        for end, at_ns in zip(_numbers(self.ends), _numbers(self.times_ns), strict=True):
            yield self.output[begin:end], at_ns
            begin = end

    def first(self, pieces: int) -> Received:
        """The output up to the end of its first ``pieces`` pieces, each of one read."""
        return self._replace(ends=self.ends[: 8 * pieces], times_ns=self.times_ns[: 8 * pieces])

    @property
    def arrivals(self) -> int:
        """Number of pieces of output so far; one read makes one piece."""
        return len(self.ends) // 8


class Sent(NamedTuple):
    """The latest commands sent to a program: pairs of a ``position`` and a ``go`` line."""

    asked: int = 0
    """Number of commands sent since the beginning; only the last ``SENT`` of them are stored."""
    line: bytes = b""
    """The latest ``position`` line. Every earlier ``position`` line is a prefix of this line."""
    records: bytes = b""
    """Three packed int64 arrays: times in nanoseconds, lengths of the ``position`` lines, lengths of the ``go`` lines.

    Each array has ``SENT`` elements. Command number n, from 0, has the index n modulo ``SENT``.
    """
    goes: bytes = b""
    """The ``go`` lines, ``GO_BYTES`` bytes for each, with the same indices as ``records``."""
    now_ns: int = 0
    """Time, in nanoseconds, of the command that the program has not answered yet; ``records`` still has 0 for it."""

    def texts(self) -> Iterator[tuple[int, str]]:
        """Yield each stored command, oldest first: its time in nanoseconds (``time.monotonic_ns``), and its
        ``position`` and ``go`` lines as one text.
        """
        numbers = _numbers(self.records)
        for asked in range(max(0, self.asked - SENT), self.asked):
            slot = asked % SENT
            at_ns, line_bytes, go_bytes = numbers[slot::SENT]
            go = self.goes[slot * GO_BYTES :][:go_bytes]
            yield at_ns or self.now_ns, f"{self.line[:line_bytes].decode()}\n{go.decode()}"


def _numbers(data: bytes) -> list[int]:
    return memoryview(data).cast("q").tolist()
