"""Shortens names so that they stay distinguishable."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import takewhile

from elolab.engine.language import columns_of, cut

ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"
HEAD_SHARE = 0.6
"""Share of a shortened name's columns for its beginning; the rest shows the part that differs from other names."""
BEFORE_DIFFERENCE = 3
"""Characters shown before the place where names begin to differ."""


def shorten_unique(names: Sequence[str], columns: int) -> list[str]:
    """Shorten names to at most ``columns`` columns each (at least 8), so that different names stay different.

    A long name keeps its beginning and end. If some then look alike, it keeps its beginning and the place of the first
    difference; if that fails, it gets a number.
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
"""A function of a name, the place of its first difference from similar ones, and the available columns."""


def _take_unique(
    names: Sequence[str], shorten: Shorten, columns: int, shown: dict[str, str], taken: set[str]
) -> list[str]:
    """Add all uniquely shortened names to ``shown`` and ``taken``; returns the remaining names."""
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
    """The end of a text that fits into ``columns`` columns."""
    return cut(text[::-1], columns)[::-1]
