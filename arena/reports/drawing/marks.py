"""Chart elements that prevent misreading: arrowheads at cut intervals, rims around hidden lines, spaced tick labels."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from elolab.arena.reports.drawing.style import GROUND, legend_above
from elolab.arena.statistics.numbers import signed
from elolab.engine.language import columns_of, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

DEFAULT_REACH = 100.0
"""Elo range on each side of 0 for a chart in which no interval has a finite end."""
TYPICAL_REACHES = 4.0
"""Greatest distance from 0 that a chart shows, as a multiple of a typical interval's distance from 0.

The typical distance is the median of the distances of the intervals' outer ends. Without this limit, a few very wide
intervals would flatten all others.
"""
CUT, BEYOND = "_cut", "_beyond"
"""Labels of the matplotlib artists that mark cut intervals (``CUT``) and points outside the bounds (``BEYOND``)."""
NEAR_POINTS = 1.5
"""Distance below which two lines cannot be distinguished, in points (1/72 inch)."""
SAME_SHARE = 0.8
"""Two lines coincide if they are closer than ``NEAR_POINTS`` at this share, or more, of their common x values."""
MAX_RIMS = 3
LABEL_GAP = 2.0
"""Minimum gap between tick labels, in pixels at the figure's own resolution."""
LEAST_LEGEND_COLUMNS, LEGEND_STEP = 12, 4
"""Minimum line length of legend texts, and the step by which longer lines are shortened, both in characters."""
MAX_STAGGER = 3
"""Maximum number of lines over which crowded tick labels are staggered."""


def shown_bounds(
    intervals: Iterable[tuple[float, float]], whole: Iterable[tuple[float, float]] = ()
) -> tuple[float, float]:
    """Axis bounds that contain 0 and all ``intervals``. Intervals much wider than most are cut at their outer ends.

    Intervals in ``whole`` are not cut, if their ends are finite.
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
    # An infinite end needs an edge that is clearly on its side of 0.
    if any(high == math.inf for _, high in known_intervals):
        most = max(most, -least / 2)
    if any(low == -math.inf for low, _ in known_intervals):
        least = min(least, -most / 2)
    return least, most


def show_bounds(axes: Axes, bounds: tuple[float, float], way: Literal["x", "y"], share: float = 0.05) -> None:
    """Set the limits of an axis to ``bounds``, widened on each side by the fraction ``share`` of their distance.

    ``way`` is the axis, ``x`` or ``y``.
    """
    room = share * (bounds[1] - bounds[0])
    axes.set(**{f"{way}lim": (bounds[0] - room, bounds[1] + room)})


def draw_interval(
    axes: Axes, place: float, interval: tuple[float, float], bounds: tuple[float, float], color: str, *,
    upright: bool = False, linewidth: float = 2.2,
) -> None:  # fmt: skip
    """Draw an interval as a line, cut at ``bounds``, with an arrowhead at each end that is cut.

    ``place`` is the coordinate on the other axis. The line is vertical if ``upright``, otherwise horizontal.
    """
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
    axes: Axes, place: float, value: float, bounds: tuple[float, float], color: str, marker: str, *,
    upright: bool = False, size: float = 6, is_open: bool = False, said: str | None = "", label: str | None = None,
) -> None:  # fmt: skip
    """Draw a point at ``value`` on the axis with ``bounds`` and at ``place`` on the other axis.

    The axis with ``bounds`` is the y axis if ``upright``, otherwise the x axis. A point outside ``bounds`` is drawn at
    the edge, with an arrowhead and the text ``said``. If ``said`` is empty, the text is the value; ``None`` means no
    text. ``is_open`` draws a hollow marker.
    """
    (least, most) = bounds
    edge = min(max(value, least), most)
    is_beyond = edge != value
    # The point is inside the edge, where the arrowhead is.
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


RATIO_TICKS = (0.1, 10, 0.5, 2, 0.2, 5, 0.01, 100, 1000, 0.7, 1.5, 0.3, 3, 0.03, 30)
"""Candidates for ticks of a logarithmic axis besides 1, in order of preference."""
RATIO_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)


def ratio_bounds(ends: Sequence[float]) -> tuple[float, float]:
    """The smallest and the largest number among 1 and all positive, finite ``ends``."""
    finite = [end for end in ends if math.isfinite(end) and end > 0]
    return min([*finite, 1.0]), max([*finite, 1.0])


def mark_ratios(axes: Axes, bounds: tuple[float, float], max_ticks: int = 7, way: Literal["x", "y"] = "x") -> None:
    """Make an axis logarithmic, with limits around ``bounds`` and ticks for ratios such as ``0.5×``.

    ``way`` is the axis, ``x`` or ``y``. There are at most about ``max_ticks`` ticks, one of them at 1. Near 1, all
    labels have the same number of decimals.
    """
    low, high = bounds
    room = max(1.02, (high / low) ** 0.06)
    ends = low / room, high * room
    factor = (ends[1] / ends[0]) ** (1 / (max_ticks + 1))
    ticks = ratio_ticks(ends, factor)
    is_near = ticks[0] > 0.3 and ticks[-1] <= 3
    digits = max(len(f"{tick:g}".partition(".")[2]) for tick in ticks)
    labels = [f"{tick:.{digits}f}×" if is_near else f"{tick:g}×" for tick in ticks]
    axes.set(**{f"{way}scale": "log", f"{way}ticks": ticks, f"{way}ticklabels": labels, f"{way}lim": ends})
    axes.minorticks_off()


def ratio_ticks(ends: tuple[float, float], factor: float) -> list[float]:
    """Choose ticks between two ends, including 1, so that each tick is at least ``factor`` times the one before.

    For a narrow range around 1 the ticks have equal steps; otherwise they come from ``RATIO_TICKS``.
    """
    low, high = ends
    for step in RATIO_STEPS if high / low < 3 else ():
        ticks = [round(number * step, 2) for number in range(math.ceil(low / step), math.floor(high / step) + 1)]
        if 1.0 in ticks and all(after / before >= factor for before, after in pairwise(ticks)):
            return ticks
    kept = [1.0]
    for tick in RATIO_TICKS:
        if low < tick < high and all(max(tick / other, other / tick) >= factor for other in kept):
            kept.append(tick)
    return sorted(kept)


def explain_marks(
    figure: Figure, marks: Mapping[str, tuple[str, str, bool]], others: Sequence[Any] = (), most: int = 6
) -> None:
    """Add a legend above the figure. ``marks`` maps each text to a colour, a marker, and whether the marker is hollow.

    ``others`` are further legend entries (matplotlib artists). A row has at most ``most`` entries.
    """
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], linestyle="none", color=color, marker=shape, markersize=6, label=text,
               markerfacecolor=GROUND if is_hollow else color)
        for text, (color, shape, is_hollow) in marks.items()
    ]  # fmt: skip
    if entries := [*handles, *others]:
        lines = math.ceil(len(entries) / most)
        legend_above(figure, math.ceil(len(entries) / lines), 9, handles=entries, handlelength=1)


def widen_coinciding(lines: Sequence[Line2D]) -> None:
    """Widen each line that coincides with a later line, so that it remains visible as a rim around that line."""
    drawn = [_points_by_place(line) for line in lines]
    for place, (line, own) in enumerate(zip(lines, drawn, strict=True)):
        hidden = min(MAX_RIMS, sum(_run_together(own, other) for other in drawn[place + 1 :]))
        if hidden:
            line.set_linewidth(line.get_linewidth() + 2.4 * hidden)
            line.set_markersize(line.get_markersize() + 3.0 * hidden)
            line.set_linestyle("-")


def _points_by_place(line: Line2D) -> dict[float, float]:
    """The height of each point of a line in the figure, in units of 1/72 inch, keyed by the x value of the point."""
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
    """Finish the layout of a figure so that legends fit and tick labels do not overlap; returns the figure.

    Legends get fewer columns and shorter lines. Labels of categories are staggered or rotated; numeric axes get fewer
    ticks.
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
    """Make legends that are too wide fit the figure: reduce their columns, then the length of their lines.

    The figure grows in height as much as the legends. Returns whether anything changed.
    """
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
    """Pairs of neighbouring labels, as texts, that overlap in the drawn figure."""
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
        # Empty lines above a staggered label are invisible.
        boxes.append((box.x0, box.x1, box.y0, box.y0 + box.height / len(lines)))
    return any(
        one[0] < other[1] + LABEL_GAP and other[0] < one[1] + LABEL_GAP and one[2] < other[3] and other[2] < one[3]
        for place, one in enumerate(boxes)
        for other in boxes[place + 1 :]
    )
