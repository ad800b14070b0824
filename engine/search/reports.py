"""Reports progress of a running search to another thread, through a board in shared memory.

The board is a uint64 array owned by the reader. The search knows the array's address. The search appends one report for
each line of each completed iteration. Word 0 is the number of reports. The search increases this number only after a
report is written, so the reader sees only complete reports. There is room for every report of a search: none is
overwritten, and no lock is needed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elolab.engine.compiled.kernel import jit, publish_word, store_word
from elolab.engine.search.clock import elapsed_ns
from elolab.engine.search.records import MAX_LINES
from elolab.engine.values import MAX_DEPTH, MAX_PLY

_FIELDS = 7  # line, depth, score, nodes, nanoseconds, deepest ply, moves in the variation
_WORDS = _FIELDS + MAX_PLY + 2
_MAX_REPORTS = MAX_DEPTH * MAX_LINES


@jit
def report_line(search, line, depth):
    """Append a report on variation ``line`` at ``depth`` to the board, if there is a board."""
    if search.report_address == 0:
        return
    count = search.report_count
    if count >= _MAX_REPORTS:
        return
    start = 1 + count * _WORDS
    length = search.line_length[line]
    store_word(search.report_address, start, line)
    store_word(search.report_address, start + 1, depth)
    store_word(search.report_address, start + 2, search.line_score[line])
    store_word(search.report_address, start + 3, search.nodes)
    store_word(search.report_address, start + 4, elapsed_ns(search))
    store_word(search.report_address, start + 5, search.deepest_ply)
    store_word(search.report_address, start + 6, length)
    for index in range(length):
        store_word(search.report_address, start + _FIELDS + index, search.line_variation[line, index])
    search.report_count = count + 1
    publish_word(search.report_address, 0, search.report_count)


@dataclass(frozen=True)
class Report:
    """Report on one variation in a completed iteration."""

    line: int
    """Number of the variation; 0 is the best."""
    depth: int
    """Depth of the iteration, in plies."""
    score: int
    """Score in centipawns, from the point of view of the side to move at the root."""
    nodes: int
    """Number of nodes searched since the search began."""
    time_ns: int
    """Nanoseconds since the search began, on the search's clock."""
    deepest_ply: int
    variation: tuple[int, ...]
    """Moves of the variation, as integer move codes."""


class ReportBoard:
    """Memory for the reports of a search, with methods to read them. Only one search at a time may write to it."""

    def __init__(self) -> None:
        self._words = np.zeros(1 + _MAX_REPORTS * _WORDS, np.uint64)
        self._read = 0

    @property
    def address(self) -> int:
        """Memory address of the board, for the search record. It is valid as long as this object exists."""
        return int(self._words.ctypes.data)

    def clear(self) -> None:
        """Remove all reports, before another search."""
        self._words[0] = 0
        self._read = 0

    def unread(self) -> list[Report]:
        """The reports not returned by an earlier call, oldest first."""
        count = int(self._words[0])
        reports = [self._report(number) for number in range(self._read, count)]
        self._read = count
        return reports

    def _report(self, number: int) -> Report:
        start = 1 + number * _WORDS
        line, depth, score, nodes, time_ns, deepest_ply, length = (
            int(word) for word in self._words[start : start + _FIELDS].view(np.int64)
        )
        moves = self._words[start + _FIELDS : start + _FIELDS + length]
        return Report(line, depth, score, nodes, time_ns, deepest_ply, tuple(int(move) for move in moves))
