"""Marks that keep figures from misleading: intervals that say where they are cut, lines and labels that stay apart."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from elolab.arena.reports.drawing.style import GROUND
from elolab.arena.statistics.numbers import signed
from elolab.engine.language import columns_of, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

DEFAULT_REACH = 100.0
"""Elo shown on either side where no interval has an end."""
TYPICAL_REACHES = 4.0
"""How many times the reach of half of the intervals is shown: a few very wide ones must not flatten all others."""
CUT, BEYOND = "_cut", "_beyond"
"""Labels of the arrowheads at the end of an interval that is cut, and of points that lie beyond what is shown."""
NEAR_POINTS = 1.5
"""Points (1/72 inch) within which two lines look like one."""
SAME_SHARE = 0.8
"""Of the points of two lines: so many have to be near."""
MAX_RIMS = 3
LABEL_GAP = 2.0
"""Pixels of the figure's own resolution between two tick labels, at least."""
LEAST_LEGEND_COLUMNS, LEGEND_STEP = 12, 4
"""Columns of text to which the lines of a legend may be broken, and by how many they become shorter at a time."""
MAX_STAGGER = 3
"""Lines over which tick labels are spread where they would overlap."""


def shown_bounds(
    intervals: Iterable[tuple[float, float]], whole: Iterable[tuple[float, float]] = ()
) -> tuple[float, float]:
    """The ends of an axis that has 0 on it and all intervals whole, but for a few that are much wider than most.

    Those of ``whole`` count as far as they are finite, however wide they are.
    """
    known_intervals = list(intervals)
    judged = [end for interval in whole for end in interval if math.isfinite(end)]
    known = [[end for end in interval if math.isfinite(end)] for interval in known_intervals]
    reaches = [max(map(abs, ends)) for ends in known if ends]
    if reaches and max(reaches) > 0:
        reach = max(TYPICAL_REACHES * median(reaches), max(reaches) / 100)
        if max(reaches) <= 1.5 * reach:
            reach = max(reaches)
    else:
        reach = 0.0
    ends = [min(max(end, -reach), reach) for own in known for end in own] + judged
    least, most = min([0.0, *ends]), max([0.0, *ends])
    if most == least:
        return -DEFAULT_REACH, DEFAULT_REACH
    # What is infinite stands at an edge that is clearly on its side of 0.
    if any(high == math.inf for _, high in known_intervals):
        most = max(most, -least / 2)
    if any(low == -math.inf for low, _ in known_intervals):
        least = min(least, -most / 2)
    return least, most


def draw_interval(
    axes: Axes,
    place: float,
    interval: tuple[float, float],
    bounds: tuple[float, float],
    color: str,
    *,
    upright: bool = False,
    linewidth: float = 2.2,
) -> None:
    """An interval as a line at ``place``, with an arrowhead at either end where it goes on beyond the bounds."""
    (low, high), (least, most) = interval, bounds
    ends = [max(low, least), min(high, most)]
    if ends[0] <= ends[1]:
        _plot(axes, ends, [place, place], upright, "-", color=color, linewidth=linewidth, solid_capstyle="butt")
    for is_cut, end, marker in ((low < least, least, "<v"), (high > most, most, ">^")):
        if is_cut:
            _plot(
                axes, [end], [place], upright, marker[upright], color=color, markersize=6,
                markeredgewidth=0, label=CUT, clip_on=False, zorder=3,
            )  # fmt: skip


def draw_point(
    axes: Axes,
    place: float,
    value: float,
    bounds: tuple[float, float],
    color: str,
    marker: str,
    *,
    upright: bool = False,
    size: float = 6,
    is_open: bool = False,
    said: str | None = "",
    label: str | None = None,
) -> None:
    """A point; one beyond the bounds stands at the edge, before an arrowhead, with ``said`` beside it.

    ``said`` is its value unless given; nothing is said where it is ``None``.
    """
    (least, most) = bounds
    edge = min(max(value, least), most)
    is_beyond = edge != value
    # Inside the arrowhead, which stands at the edge itself.
    inset = 0.03 * (most - least) if is_beyond else 0.0
    where = edge + (inset if value < least else -inset)
    _plot(
        axes, [where], [place], upright, marker, color=color, markersize=size, clip_on=False, zorder=4,
        markeredgecolor=color if is_open else GROUND, markeredgewidth=1.4 if is_open else 0.7,
        markerfacecolor=GROUND if is_open else color, label=label or (BEYOND if is_beyond else "_point"),
    )  # fmt: skip
    if not is_beyond:
        return
    below = value < least
    _plot(axes, [edge], [place], upright, ("<v" if below else ">^")[upright], color=color, markersize=6,
          markeredgewidth=0, label=CUT, clip_on=False, zorder=3)  # fmt: skip
    if said is None:
        return
    inwards = 1 if below else -1
    if upright:
        xy, offset, sides = (place, where), (0, 7 * inwards), ("center", "bottom" if below else "top")
    else:
        xy, offset, sides = (where, place), (4 * inwards, 3), ("left" if below else "right", "bottom")
    axes.annotate(
        said or signed(value, 0), xy, xytext=offset, textcoords="offset points", ha=sides[0], va=sides[1], color=color,
        fontsize=8, zorder=5,
    )  # fmt: skip


def _plot(axes: Axes, along: Sequence[float], across: Sequence[float], upright: bool, style: str, **rest: Any) -> None:
    axes.plot(*((across, along) if upright else (along, across)), style, **rest)


def widen_coinciding(lines: Sequence[Line2D]) -> None:
    """Of lines that run into one nearly all the way, draw the earlier ones wider, as rims of the later."""
    drawn = [_points_by_place(line) for line in lines]
    for place, (line, own) in enumerate(zip(lines, drawn, strict=True)):
        hidden = min(MAX_RIMS, sum(_run_together(own, other) for other in drawn[place + 1 :]))
        if hidden:
            line.set_linewidth(line.get_linewidth() + 2.4 * hidden)
            line.set_markersize(line.get_markersize() + 3.0 * hidden)
            line.set_linestyle("-")


def _points_by_place(line: Line2D) -> dict[float, float]:
    """Heights of a line in points by where it is on the horizontal axis."""
    axes = line.axes
    assert axes is not None
    figure = axes.get_figure()
    assert figure is not None
    shown = axes.transData.transform(line.get_xydata()) * 72 / figure.dpi
    return dict(zip(np.asarray(line.get_xdata(), float).tolist(), shown[:, 1].tolist(), strict=True))


def _run_together(one: dict[float, float], other: dict[float, float]) -> bool:
    common = one.keys() & other.keys()
    near = sum(abs(one[place] - other[place]) < NEAR_POINTS for place in common)
    return bool(common) and near >= SAME_SHARE * len(common)


def settle(figure: Figure) -> Figure:
    """Lay the figure out for good, so that legends lie inside and no tick labels overlap; returns it.

    Legends get fewer columns, and lines that are broken. Labels of categories are spread over several lines, or turned;
    numbers become fewer.
    """
    figure.draw_without_rendering()
    changed = _fit_legends(figure)
    for axes in figure.axes:
        if axes.get_visible():
            changed |= _separate_numbers(axes) or _separate_categories(figure, axes)
    if changed:
        figure.draw_without_rendering()
    figure.set_layout_engine("none")
    return figure


def _fit_legends(figure: Figure) -> bool:
    """Give a legend wider than the figure fewer columns, then shorter lines; the figure grows by its height."""
    changed = False
    for legend in figure.legends:
        box = legend.get_window_extent()
        height, columns = box.height, len(legend.get_texts())
        while legend.get_window_extent().width > figure.bbox.width and columns > 1:
            columns -= 1
            legend.set_ncols(columns)
            figure.draw_without_rendering()
            changed = True
        length = max((columns_of(text.get_text()) for text in legend.get_texts()), default=0)
        while legend.get_window_extent().width > figure.bbox.width and length > LEAST_LEGEND_COLUMNS:
            length -= LEGEND_STEP
            for text in legend.get_texts():
                text.set_text("\n".join(wrapped(text.get_text().replace("\n", " "), length)))
            figure.draw_without_rendering()
            changed = True
        grown = (legend.get_window_extent().height - height) / figure.dpi
        if grown > 0:
            figure.set_figheight(figure.get_figheight() + grown)
    if changed:
        figure.draw_without_rendering()
    return changed


def overlapping(labels: Sequence[Any]) -> list[tuple[str, str]]:
    """The texts of drawn labels that overlap, in pairs of neighbours by their order."""
    shown = [(label.get_text(), label.get_window_extent()) for label in labels if label.get_text().strip()]
    return [
        (one, other) for (one, box), (other, next_box) in pairwise(shown)
        if box.padded(LABEL_GAP / 2).overlaps(next_box)
    ]  # fmt: skip


def _separate_numbers(axes: Axes) -> bool:
    from matplotlib.ticker import MaxNLocator

    locator = axes.xaxis.get_major_locator()
    changed = False
    for bins in (5, 4, 3, 2):
        if not isinstance(locator, MaxNLocator) or not overlapping(axes.get_xticklabels()):
            break
        locator.set_params(nbins=bins)
        changed = True
    return changed


def _separate_categories(figure: Figure, axes: Axes) -> bool:
    from matplotlib.ticker import FixedLocator

    if not isinstance(axes.xaxis.get_major_locator(), FixedLocator) or not overlapping(axes.get_xticklabels()):
        return False
    ticks, texts = axes.get_xticks(), [label.get_text() for label in axes.get_xticklabels()]
    order = np.argsort(np.argsort(ticks))
    for lines in range(2, MAX_STAGGER + 1):
        axes.set_xticks(ticks, ["\n" * (place % lines) + text for place, text in zip(order, texts, strict=True)])
        figure.draw_without_rendering()
        if not _overlap_at_all(axes.get_xticklabels()):
            return True
    axes.set_xticks(ticks, texts, rotation=90)
    return True


def _overlap_at_all(labels: Sequence[Any]) -> bool:
    boxes = []
    for label in labels:
        lines = label.get_text().split("\n")
        box = label.get_window_extent()
        # Empty lines above a staggered label are no ink.
        boxes.append((box.x0, box.x1, box.y0, box.y0 + box.height / len(lines)))
    return any(
        one[0] < other[1] + LABEL_GAP and other[0] < one[1] + LABEL_GAP and one[2] < other[3] and other[2] < one[3]
        for place, one in enumerate(boxes)
        for other in boxes[place + 1 :]
    )
