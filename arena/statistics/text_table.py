"""Tables as text for terminals: aligned columns that fit the width, and shortened names that remain distinguishable."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import takewhile

from elolab.engine.language import clipped, columns_of, cut, padded

LEAST_NAME = 8
"""Minimum width of a column of names, in characters."""
ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"
HEAD_SHARE = 0.6
"""Share of a shortened name's width that is used for the beginning of the name.

The rest is used for the end of the name, or for the part that differs from similar names.
"""
BEFORE_DIFFERENCE = 3
"""Number of characters that are shown before the first character in which a name differs from similar names."""


@dataclass(frozen=True)
class Column:
    """A column of a table: its heading and a cell for each row."""

    head: str
    cells: Sequence[str]
    left: bool = False
    """Whether the cells are left-aligned, as for names; otherwise they are right-aligned, as for numbers."""
    rank: int = 0
    """Order in which a narrow table omits columns: the highest rank first. Columns of rank 0 are never omitted."""
    least: int = 0
    """Minimum width, in terminal columns, to which cells may be shortened; 0 if they must not be shortened."""
    names: Sequence[str] = ()
    """All names that must remain distinguishable when cells are shortened; if empty, cells are simply cut off."""

    @property
    def width(self) -> int:
        """Width of the longest cell or of the heading, in terminal columns."""
        return max(map(columns_of, (self.head, *self.cells)))

    @property
    def least_width(self) -> int:
        """Smallest width of the column, in terminal columns, that a narrow table may choose."""
        return min(self.width, self.least) if self.least else self.width


def name_column(head: str, cells: Sequence[str], names: Sequence[str] = (), least: int = LEAST_NAME) -> Column:
    """A column of names, which a narrow table shortens to ``least`` terminal columns but never omits.

    ``names`` are all names that must remain distinguishable, by default the cells.
    """
    return Column(head, cells, left=True, least=least, names=names or cells)


def fitting(columns: Sequence[Column], width: int | None) -> list[Column]:
    """The columns that fit into a table with a width of ``width`` terminal columns; all if ``width`` is ``None``."""
    shown = list(columns)
    while width is not None and sum(column.least_width for column in shown) + len(shown) - 1 > width:
        rank = max(column.rank for column in shown)
        if not rank:
            break
        shown = [column for column in shown if column.rank < rank]
    return shown


def table_lines(columns: Sequence[Column], width: int | None) -> list[str]:
    """Format a table: the headings and the rows, with the columns that fit into ``width`` terminal columns.

    ``None`` means any width. Two blanks separate the columns, or one blank if the table would be too wide.
    """
    shown = fitting(columns, width)
    gap = "  "
    if width is not None and sum(column.width for column in shown) + len(gap) * (len(shown) - 1) > width:
        gap = " "
    widths = _widths(shown, None if width is None else width - len(gap) * (len(shown) - 1))
    texts = [_in_width(column, room) for column, room in zip(shown, widths, strict=True)]
    lines = (gap.join(row).rstrip() for row in zip(*texts, strict=True))
    return [line if width is None else cut(line, width) for line in lines]


def _widths(columns: Sequence[Column], room: int | None) -> list[int]:
    """Widths of the columns, whose sum is at most ``room`` if possible. The widest columns shrink first."""
    widths = [column.width for column in columns]
    if room is None:
        return widths
    for least in ([column.least_width for column in columns], [LEAST_NAME] * len(columns)):
        while sum(widths) > room:
            wider = [place for place, column in enumerate(columns) if column.least and widths[place] > least[place]]
            if not wider:
                break
            widths[max(wider, key=lambda place: widths[place])] -= 1
    return widths


def _in_width(column: Column, width: int) -> list[str]:
    """The heading and cells of a column, all exactly ``width`` terminal columns wide."""
    cells = list(column.cells)
    if column.names and max(map(columns_of, cells), default=0) > width:
        short = dict(zip(column.names, shorten_unique(column.names, max(LEAST_NAME, width)), strict=True))
        cells = [short[cell] for cell in cells]
    texts = (cut(column.head, width), *(clipped(cell, width) if column.least else cell for cell in cells))
    return [padded(text, width, right=not column.left) for text in texts]


# Names


def shorten_unique(names: Sequence[str], columns: int) -> list[str]:
    """Shorten each name to at most ``columns`` terminal columns so that different names remain different.

    ``columns`` must be at least 8. A long name keeps its beginning and end. If two shortened names are equal, each
    keeps its beginning and the part with the first difference. Names that are still equal get a number.
    """
    shown = {name: name for name in names if columns_of(name) <= columns}
    longer = [name for name in dict.fromkeys(names) if name not in shown]
    taken = set(shown)
    for shorten in (_beginning_and_end, _beginning_and_difference):
        longer = _take_unique(longer, shorten, columns, shown, taken)
    for number, name in enumerate(longer, start=1):
        mark = f"{ELLIPSIS}{number}"
        while (text := cut(name, columns - columns_of(mark)) + mark) in taken:
            mark += "'"
        shown[name] = text
        taken.add(text)
    return [shown[name] for name in names]


Shorten = Callable[[str, int, int], str]
"""A function that shortens a name.

Its arguments are the name, the index of the first character in which it differs from similar names, and the available
width in terminal columns.
"""


def _take_unique(
    names: Sequence[str], shorten: Shorten, columns: int, shown: dict[str, str], taken: set[str]
) -> list[str]:
    """Shorten names; returns the names whose shortened form is not unique.

    Adds each unique form to ``shown``, keyed by the full name, and to ``taken``, the set of all forms in use. Each form
    has at most ``columns`` terminal columns.
    """
    groups: dict[str, list[str]] = defaultdict(list)
    for name in names:
        groups[cut(name, columns // 2)].append(name)
    texts: dict[str, list[str]] = defaultdict(list)
    for group in groups.values():
        differs = sum(1 for _ in takewhile(lambda letters: len(set(letters)) == 1, zip(*group, strict=False)))
        for name in group:
            texts[shorten(name, differs, columns)].append(name)
    left = []
    for text, same in texts.items():
        if len(same) == 1 and text not in taken:
            shown[same[0]] = text
            taken.add(text)
        else:
            left += same
    return sorted(left, key=names.index)


def _beginning_and_end(name: str, differs: int, columns: int) -> str:
    head = cut(name, int(HEAD_SHARE * (columns - 1)))
    return head + ELLIPSIS + _last(name, columns - 1 - columns_of(head))


def _beginning_and_difference(name: str, differs: int, columns: int) -> str:
    head = cut(name, int(HEAD_SHARE * (columns - 2)))
    start = max(len(head), differs - BEFORE_DIFFERENCE)
    return head + ELLIPSIS + cut(name[start:], columns - 2 - columns_of(head)) + ELLIPSIS


def _last(text: str, columns: int) -> str:
    """The longest suffix of a text that fits into ``columns`` terminal columns."""
    return cut(text[::-1], columns)[::-1]
