"""A list of openings in a temporary file, so that millions of openings need little memory."""

from __future__ import annotations

import os
import tempfile
from array import array
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import overload

from elolab.arena.records import Opening

_BLOCK = 1 << 12
"""Number of openings to read at once."""


class OpeningTable(Sequence[Opening]):
    """A list of openings in an unnamed temporary file; each opening takes 8 bytes of memory."""

    def __init__(self, check: Callable[[int, Opening], Opening] | None = None) -> None:
        """``check`` maps an index and the opening stored there to the opening that readers get; ``None``: no change."""
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the table
        self._ends = array("q", [0])
        self._check = check

    def append(self, opening: Opening) -> None:
        """Add an opening; it is readable after ``finish``."""
        line = "\t".join((opening.position, " ".join(opening.moves), opening.name)).encode("utf-8", "surrogatepass")
        self._file.write(line)
        self._ends.append(self._ends[-1] + len(line))

    def finish(self) -> OpeningTable:
        """Make the openings readable; returns the table."""
        self._file.flush()
        return self

    def __len__(self) -> int:
        return len(self._ends) - 1

    @overload
    def __getitem__(self, index: int) -> Opening: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Opening]: ...
    def __getitem__(self, index: int | slice) -> Opening | Sequence[Opening]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        index = range(len(self))[index]
        start, end = self._ends[index], self._ends[index + 1]
        opening = _opening_of(os.pread(self._file.fileno(), end - start, start))
        return opening if self._check is None else self._check(index, opening)

    def __iter__(self) -> Iterator[Opening]:
        if self._check is None:
            return self.unchecked()
        return (self._check(index, opening) for index, opening in enumerate(self.unchecked()))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(Opening.__eq__, self, other))

    __hash__ = None  # type: ignore[assignment]

    def unchecked(self) -> Iterator[Opening]:
        """Iterate over the openings as they were appended, without the function ``check``."""
        for first in range(0, len(self), _BLOCK):
            ends = self._ends[first : first + _BLOCK + 1]
            data = os.pread(self._file.fileno(), ends[-1] - ends[0], ends[0])
            for start, end in pairwise(ends):
                yield _opening_of(data[start - ends[0] : end - ends[0]])


def _opening_of(line: bytes) -> Opening:
    position, moves, name = line.decode("utf-8", "surrogatepass").split("\t", 2)
    return Opening(position, tuple(moves.split()), name)
