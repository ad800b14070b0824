"""Shortens names so that they stay distinguishable."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import takewhile

from elolab.engine.language import columns_of, cut

ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"
HEAD_SHARE = 0.6
"""Share of a shortened name's width that shows the beginning of the name.

The rest shows its end or the part that differs from similar names.
"""
BEFORE_DIFFERENCE = 3
"""Number of characters shown before the first character that differs from similar names."""


def shorten_unique(names: Sequence[str], columns: int) -> list[str]:
    """Shorten each name to at most ``columns`` terminal columns, so that different names stay different.

    ``columns`` is at least 8. A long name keeps its beginning and end. If shortened names are then equal, each keeps
    its beginning and the characters at the first difference. Names that are still equal get a number.
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

Its arguments are the name, the index of the first character that differs from similar names, and the available columns.
"""


def _take_unique(
    names: Sequence[str], shorten: Shorten, columns: int, shown: dict[str, str], taken: set[str]
) -> list[str]:
    """Shorten names and return the names whose shortened form is not unique.

    Adds each unique form to ``shown``, by the full name, and to ``taken``.
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
    """The longest end of a text that fits into ``columns`` terminal columns."""
    return cut(text[::-1], columns)[::-1]
