"""Commands sent to a program and output received from it, as raw buffers of the compiled code.

The buffers are decoded to text only on demand. Players import this module without loading numba.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

SENT = 20
"""Number of latest commands to a program that are kept for the log of the dialogue."""
GO_BYTES = 256
"""Maximum length in bytes of a ``go`` line."""


class Received(NamedTuple):
    """Output of a program, in the pieces in which it was read."""

    output: bytes = b""
    ends: bytes = b""
    """Offset in ``output`` at which each piece ends, as packed int64."""
    times_ns: bytes = b""
    """Time at which each piece arrived (``time.monotonic_ns``), as packed int64."""

    def pieces(self) -> Iterator[tuple[bytes, int]]:
        """Yield each piece with the time of its arrival in nanoseconds."""
        begin = 0
        for end, at_ns in zip(_numbers(self.ends), _numbers(self.times_ns), strict=True):
            yield self.output[begin:end], at_ns
            begin = end

    def first(self, pieces: int) -> Received:
        """The first ``pieces`` pieces of the output."""
        return self._replace(ends=self.ends[: 8 * pieces], times_ns=self.times_ns[: 8 * pieces])

    @property
    def arrivals(self) -> int:
        """Number of pieces of output so far; one read makes one piece."""
        return len(self.ends) // 8


class Sent(NamedTuple):
    """The latest commands sent to a program: pairs of a ``position`` and a ``go`` line."""

    asked: int = 0
    """Number of commands sent; the last ``SENT`` of them are kept."""
    line: bytes = b""
    """The latest ``position`` line. Each earlier line is a prefix of it."""
    records: bytes = b""
    """Packed int64 arrays of length ``SENT``: times of the commands in nanoseconds, lengths of their two lines."""
    goes: bytes = b""
    """The ``go`` lines, ``GO_BYTES`` bytes for each."""
    now_ns: int = 0
    """Time in nanoseconds of the command that is being answered; it is 0 in ``records`` until then."""

    def texts(self) -> Iterator[tuple[int, str]]:
        """Yield each kept command, oldest first: its time in nanoseconds, and the text of its two lines."""
        numbers = _numbers(self.records)
        for asked in range(max(0, self.asked - SENT), self.asked):
            slot = asked % SENT
            at_ns, line_bytes, go_bytes = numbers[slot::SENT]
            go = self.goes[slot * GO_BYTES :][:go_bytes]
            yield at_ns or self.now_ns, f"{self.line[:line_bytes].decode()}\n{go.decode()}"


def _numbers(data: bytes) -> list[int]:
    return memoryview(data).cast("q").tolist()
