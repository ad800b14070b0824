"""Names in little room: cut so that no two of them look alike."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import takewhile

from elolab.engine.language import columns_of, cut

ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"
HEAD_SHARE = 0.6
"""Of a shortened name's columns: the part for its beginning; the rest is for what tells it from others."""
BEFORE_DIFFERENCE = 3
"""Characters that are shown before the place where names begin to differ."""


def told_apart(names: Sequence[str], columns: int) -> list[str]:
    """The names in at most so many columns each, in their order; different ones are shown differently.

    One that is too long keeps its beginning and its end; where that leaves some alike, their beginning and the place
    where they differ; and where that does not help either, a number. ``columns`` is at least 8.
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
"""From a name, the place from which others that look like it differ, and the columns there are."""


def _take_unique(
    names: Sequence[str], shorten: Shorten, columns: int, shown: dict[str, str], taken: set[str]
) -> list[str]:
    """Put into ``shown`` and ``taken`` whatever no other one looks like; returns the names that are left."""
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
    """The end of a text that fits into so many columns."""
    return cut(text[::-1], columns)[::-1]
