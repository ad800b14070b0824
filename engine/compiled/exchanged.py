"""The lines that compiled code has exchanged with a program, in the form of its buffers.

Texts are made only if somebody reads them. Players import this module without numba.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

SENT = 20
"""Number of questions to a program that are kept for the dialogue."""
GO_BYTES = 256
"""Maximum length in bytes of a ``go`` line."""


class Received(NamedTuple):
    """Output of a program, as it was read."""

    output: bytes = b""
    ends: bytes = b""
    """Where each piece ends: numbers of 64 bits, as in ``times_ns``."""
    times_ns: bytes = b""
    """When each piece arrived (``time.monotonic_ns``)."""

    def pieces(self) -> Iterator[tuple[bytes, int]]:
        """The pieces, each with the time of its arrival."""
        begin = 0
        for end, at_ns in zip(_numbers(self.ends), _numbers(self.times_ns), strict=True):
            yield self.output[begin:end], at_ns
            begin = end

    def first(self, pieces: int) -> Received:
        """The first pieces."""
        return self._replace(ends=self.ends[: 8 * pieces], times_ns=self.times_ns[: 8 * pieces])

    @property
    def arrivals(self) -> int:
        """Number of pieces."""
        return len(self.ends) // 8


class Sent(NamedTuple):
    """The last questions to a program."""

    asked: int = 0
    """Number of questions; the last ``SENT`` are known."""
    line: bytes = b""
    """The last ``position`` line; each other one is its beginning."""
    records: bytes = b""
    """Numbers of 64 bits, ``SENT`` of each kind: when a question was sent, and the lengths of both of its lines."""
    goes: bytes = b""
    """The ``go`` lines, each in ``GO_BYTES`` bytes."""
    now_ns: int = 0
    """When the question was sent that is being answered, whose time is 0."""

    def texts(self) -> Iterator[tuple[int, str]]:
        """The questions, oldest first, with the time of each."""
        numbers = _numbers(self.records)
        for asked in range(max(0, self.asked - SENT), self.asked):
            slot = asked % SENT
            at_ns, line_bytes, go_bytes = numbers[slot::SENT]
            go = self.goes[slot * GO_BYTES :][:go_bytes]
            yield at_ns or self.now_ns, f"{self.line[:line_bytes].decode()}\n{go.decode()}"


def _numbers(data: bytes) -> list[int]:
    return memoryview(data).cast("q").tolist()
