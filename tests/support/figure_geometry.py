"""What a figure has to keep to, measured on what matplotlib lays out."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from elolab.arena.reports.drawing.marks import CUT

TOLERANCE = 1.0
"""Pixels at 100 dpi: hinting moves text about."""


def is_cut(axes: Axes) -> bool:
    """Whether anything in the picture has an arrowhead at its end."""
    return any(line.get_label() == CUT for line in axes.lines)


def check_figure(figure: Figure, name: str) -> None:
    """Tick labels do not overlap, differ from each other, and nothing that is written leaves the figure."""
    figure.draw_without_rendering()
    for axes in figure.axes:
        if not axes.get_visible():
            continue
        for axis in (axes.xaxis, axes.yaxis):
            _check_ticks([label for label in drawn_labels(axis) if label.get_text().strip()], name)
        for line in axes.lines:
            if len(line.get_xdata()) and line.get_label() == CUT:
                assert not line.get_clip_on(), f"{name}: an arrowhead is clipped"
    frame = figure.bbox
    for text in _texts(figure):
        box = text.get_window_extent()
        inside = frame.x0 - TOLERANCE <= box.x0 and box.x1 <= frame.x1 + TOLERANCE
        inside = inside and frame.y0 - TOLERANCE <= box.y0 and box.y1 <= frame.y1 + TOLERANCE
        assert inside, f"{name}: {text.get_text()!r} leaves the figure"


def _check_ticks(ticks: list[Any], name: str) -> None:
    boxes = []
    for tick in ticks:
        box, lines = tick.get_window_extent(), tick.get_text().split("\n")
        empty = next(number for number, line in enumerate(lines) if line) / len(lines)
        boxes.append((tick.get_text(), box.x0, box.x1, box.y0, box.y1 - empty * box.height))
    for (one, left, right, low, high), (other, its_left, its_right, its_low, its_high) in combinations(boxes, 2):
        apart = right <= its_left or its_right <= left or high <= its_low or its_high <= low
        assert apart, f"{name}: tick labels {one!r} and {other!r} overlap"
        assert one != other, f"{name}: two tick labels read {one!r}"


def _texts(figure: Figure) -> list[Any]:
    from matplotlib.text import Text

    hidden = set()
    for axes in figure.axes:
        if not axes.get_visible():
            hidden |= set(map(id, axes.findobj(Text)))
        for axis in (axes.xaxis, axes.yaxis):
            drawn = {id(label) for label in drawn_labels(axis)} | {id(axis.label)}
            hidden |= {id(text) for text in axis.findobj(Text)} - drawn
    return [
        text for text in figure.findobj(Text)
        if text.get_visible() and text.get_text().strip() and id(text) not in hidden
    ]  # fmt: skip


def drawn_labels(axis: Any) -> list[Any]:
    """The labels of the ticks that lie within the axis: matplotlib keeps others, and does not draw them."""
    return [tick.label1 for tick in axis._update_ticks() if tick.label1.get_visible()]
