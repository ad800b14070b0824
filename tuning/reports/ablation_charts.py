"""The figures of ablations, drawn by matplotlib without a display.

Every function takes rows and the words of the figure (``study_charts.chart_words``) and returns a figure; none writes a
file. matplotlib is imported inside them only.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from elolab.arena.reports.drawing.marks import (
    draw_interval,
    draw_point,
    settle,
    shown_bounds,
    widen_coinciding,
)
from elolab.arena.reports.drawing.style import (
    BLACK,
    GROUND,
    INK,
    LOSS,
    MUTED,
    SERIES,
    WHITE,
    WIN,
    draw_grid,
    single_axes,
)
from elolab.arena.statistics.names import shorten_unique
from elolab.arena.statistics.numbers import signed
from elolab.engine import language
from elolab.engine.language import Catalogue, columns_of
from elolab.tuning.ablation.comparison_verdicts import BETTER, EQUIVALENT, UNDECIDED, WORSE
from elolab.tuning.reports.study_charts import FONT_SIZE, RATIO_TICKS, empty_figure, unit_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from elolab.tuning.ablation.depth_cost import DepthRow
    from elolab.tuning.ablation.levels import Level
    from elolab.tuning.ablation.rows import AblationRow, CombinationRow

SAME = SERIES[2]
"""Colour of what was found equivalent."""
HEAT_LIMIT_ELO = 60.0
DARK_SHARE = 0.9
"""Of the largest worth: from there on a cell of the heat map is so dark that its text is light."""
LABEL_WIDTH = 36
LABEL_COLUMNS = 2 * LABEL_WIDTH - 4
"""Columns of a label beside a figure, over two or three lines."""
LINE_INCHES = 0.155
"""Of a label's lines."""
DEPTH_STYLES = ("o-", "s--", "^:", "D-.")
VERDICT_MARKS = {BETTER: (WIN, "^"), WORSE: (SERIES[1], "v"), EQUIVALENT: (SAME, "s"), UNDECIDED: (MUTED, "o")}
"""The colour and the shape of a verdict; the shape of an open one is hollow."""
UNASKED = (INK, "d")


def wrapped(label: str) -> str:
    """A label over several lines if it is long: what comparisons differ in often comes last."""
    if columns_of(label) > len(label):
        return "\n".join(language.wrapped(label, LABEL_WIDTH))
    return "\n".join(textwrap.wrap(label, LABEL_WIDTH, break_on_hyphens=False))


def row_labels(labels: Sequence[str]) -> tuple[list[str], float]:
    """Labels to stand beside a figure's rows, no two different ones alike, and the inches that a row needs for them."""
    shown = [wrapped(label) for label in shorten_unique(labels, LABEL_COLUMNS)]
    lines = max(text.count("\n") + 1 for text in shown)
    return shown, max(0.3, LINE_INCHES * lines + 0.04)


def forest_chart(rows: Sequence[AblationRow], words: Catalogue, margin: float = 0.0) -> Figure:
    """Elo of every comparison with both of its intervals, and beside it what the same depth costs.

    ``margin`` (Elo) is the width of the band that counts as nothing. An interval that is wider than the picture ends in
    an arrowhead; a point beyond it stands at the edge, with its Elo and the interval by which it is judged.
    """
    with_nodes = any(row.nodes_ratio is not None for row in rows)
    widths = (3, 2) if with_nodes else (1,)
    labels, row_inches = row_labels([row.label for row in rows])
    places = _layout(rows)
    height = 1.3 + row_inches * (max(places) + 1)
    figure, grid = empty_figure(height, 1, len(widths), widths=widths)
    axes: Axes = grid[0, 0]
    axes.axvline(0, color=MUTED, linewidth=0.9)
    if margin:
        axes.axvspan(-margin, margin, color=SAME, alpha=0.12, linewidth=0)
    bounds = shown_bounds(map(judged_interval, rows))
    for place, row in zip(places, rows, strict=True):
        _draw_comparison(axes, row, place, bounds)
    axes.set_yticks(places, labels, fontsize=9)
    axes.set_ylim(max(places) + 0.7, min(places) - 0.7)
    room = 0.05 * (bounds[1] - bounds[0])
    axes.set_xlim(bounds[0] - room, bounds[1] + room)
    axes.set_xlabel(words("chart.elo_difference"))
    draw_grid(axes, "x")
    if with_nodes:
        _draw_nodes(grid[0, 1], rows, places, words)
    _explain_marks(figure, _verdict_texts(rows, words))
    return settle(figure)


def judged_interval(row: AblationRow) -> tuple[float, float]:
    """The interval by which a row is judged: the one for all where there is a verdict, else its own."""
    if row.verdict:
        return row.simultaneous_low, row.simultaneous_high
    return row.elo_low, row.elo_high


def verdict_mark(verdict: str) -> tuple[str, str]:
    """The colour and the shape of a verdict: found better, worse, or equivalent; muted and hollow while open."""
    return VERDICT_MARKS.get(verdict, UNASKED)


def _draw_comparison(
    axes: Axes, row: AblationRow, place: float, bounds: tuple[float, float], *, upright: bool = False
) -> None:
    """A row's Elo in the shape of its verdict, its own interval (thick) and the one by which it is judged (thin)."""
    color, marker = verdict_mark(row.verdict)
    judged = judged_interval(row)
    draw_interval(axes, place, judged, bounds, color, upright=upright, linewidth=1.0)
    inner = max(row.elo_low, bounds[0]), min(row.elo_high, bounds[1])
    draw_interval(axes, place, inner, bounds, color, upright=upright, linewidth=2.4)
    said = "" if upright else f"{signed(row.elo, 0)} [{signed(judged[0], 0)}, {signed(judged[1], 0)}]"
    draw_point(axes, place, row.elo, bounds, color, marker, upright=upright, size=6, is_open=row.verdict == UNDECIDED,
               said=said)  # fmt: skip


def _verdict_texts(rows: Sequence[AblationRow], words: Catalogue) -> dict[str, str]:
    """The verdicts among the rows, and how they read."""
    return {row.verdict: words(f"verdict.{row.verdict}") for row in rows if row.verdict}


def _explain_marks(figure: Figure, meanings: dict[str, str]) -> None:
    """A line above the figure that says which shape and colour is which verdict."""
    from matplotlib.lines import Line2D

    handles = [
        Line2D(
            [], [], linestyle="none", color=color, marker=marker, markersize=6, label=meanings[verdict],
            markerfacecolor=GROUND if verdict == UNDECIDED else color,
        )
        for verdict, (color, marker) in VERDICT_MARKS.items() if verdict in meanings
    ]  # fmt: skip
    if handles:
        figure.legend(
            handles=handles, loc="outside upper center", ncols=len(handles), frameon=False, fontsize=9, handlelength=1,
            columnspacing=1.4,
        )  # fmt: skip


def _draw_nodes(axes: Axes, rows: Sequence[AblationRow], places: Sequence[float], words: Catalogue) -> None:
    axes.axvline(1, color=MUTED, linewidth=0.9)
    known = [
        (place, row.nodes_ratio, row.nodes_ratio_low, row.nodes_ratio_high)
        for place, row in zip(places, rows, strict=True)
        if row.nodes_ratio is not None and row.nodes_ratio_low is not None and row.nodes_ratio_high is not None
    ]
    bounds = ratio_bounds([end for _, *ends in known for end in ends])
    for place, ratio, low, high in known:
        draw_interval(axes, place, (low, high), bounds, INK, linewidth=1.6)
        draw_point(axes, place, ratio, bounds, INK, "s", size=4)
    mark_ratios(axes, bounds, max_ticks=3)
    axes.set_xlabel(words("chart.nodes_to_depth", depth=next(row.depth for row in rows if row.depth is not None)))
    draw_grid(axes, "x")


def ratio_bounds(ends: Sequence[float]) -> tuple[float, float]:
    """The least and the largest of ratios and 1; what is infinite or 0 lies beyond."""
    finite = [end for end in ends if math.isfinite(end) and end > 0]
    return min([*finite, 1.0]), max([*finite, 1.0])


def _layout(rows: Sequence[AblationRow]) -> list[float]:
    """Where each row is drawn, with room between groups."""
    places: list[float] = []
    place = 0.0
    for number, row in enumerate(rows):
        if number and row.group != rows[number - 1].group:
            place += 0.7
        places.append(place)
        place += 1
    return places


@dataclass(frozen=True)
class Curve:
    """Levels along one integer parameter, each against the same reference."""

    title: str
    reference: Level
    """At which the curve is 0."""
    points: tuple[tuple[Level, AblationRow], ...]


def curves_chart(curves: Sequence[Curve], words: Catalogue) -> Figure:
    """Elo along each parameter: every value with its own 95 % interval, the one for all questions, and the verdict."""
    columns = min(2, len(curves))
    rows = math.ceil(len(curves) / columns)
    figure, grid = empty_figure(0.7 + 2.8 * rows, rows, columns)
    compared = [row for curve in curves for _, row in curve.points]
    bounds = shown_bounds(map(judged_interval, compared))
    for place, axes in enumerate(grid.flat):
        if place >= len(curves):
            axes.set_visible(False)
            continue
        _draw_curve(axes, curves[place], words, bounds)
    room = 0.06 * (bounds[1] - bounds[0])
    grid[0, 0].set_ylim(bounds[0] - room, bounds[1] + room)
    for axes in grid[:, 0]:
        axes.set_ylabel(words("chart.elo_against_reference"))
    _explain_marks(figure, _verdict_texts(compared, words))
    return settle(figure)


def _draw_curve(axes: Axes, curve: Curve, words: Catalogue, bounds: tuple[float, float]) -> None:
    """Values as a line with their intervals; what is switched off stands apart, on the left of all values."""
    reference = curve.reference
    levels = [*(level for level, _ in curve.points), curve.reference]
    places = level_places(levels, reference.scale == "log")
    heights = [min(max(elo, bounds[0]), bounds[1]) for elo in [*(row.elo for _, row in curve.points), 0.0]]
    values = sorted(
        (place, height) for place, height, level in zip(places, heights, levels, strict=True) if level.value is not None
    )
    axes.axhline(0, color=MUTED, linewidth=0.9)
    axes.plot(*zip(*values, strict=True), "-", color=WIN, linewidth=1.4)
    for place, height, (level, row) in zip(places, heights, curve.points, strict=False):
        if level.value is None:
            axes.plot([place, values[0][0]], [height, values[0][1]], ":", color=WIN, linewidth=1.2)
        _draw_comparison(axes, row, place, bounds, upright=True)
    axes.plot([places[-1]], [0], "D", color=GROUND, markeredgecolor=WIN, markersize=7, zorder=4)
    name, unit = reference.parameter, unit_text(reference.unit, words)
    axes.set_xlabel(words("chart.parameter_with_unit", parameter=name, unit=unit) if unit else name)
    if reference.scale == "log":
        axes.set_xscale("log")
        axes.minorticks_off()
    axes.set_xticks(places, [level.tick for level in levels], fontsize=9)
    if curve.title:
        axes.set_title(wrapped(curve.title), fontsize=10, loc="left")
    axes.tick_params(labelleft=True)
    axes.margins(x=0.08)
    draw_grid(axes, "y")


def level_places(levels: Sequence[Level], logarithmic: bool) -> list[float]:
    """Where levels lie on the axis: off is one smallest step, or factor, below the least."""
    values = sorted({float(level.value) for level in levels if level.value is not None})
    if logarithmic:
        off = values[0] / min((above / below for below, above in pairwise(values)), default=2.0)
    else:
        off = values[0] - min((above - below for below, above in pairwise(values)), default=1.0)
    return [off if level.value is None else float(level.value) for level in levels]


def interactions_chart(squares: Sequence[Sequence[CombinationRow]], words: Catalogue) -> Figure:
    """For every 2 x 2 factorial the strength of its four combinations: parallel lines mean no interaction."""
    columns = min(2, len(squares))
    rows = math.ceil(len(squares) / columns)
    figure, grid = empty_figure(0.6 + 3.1 * rows, rows, columns)
    bounds = shown_bounds(
        [(cell.elo - cell.elo_error, cell.elo + cell.elo_error) for square in squares for cell in square]
    )
    for place, axes in enumerate(grid.flat):
        if place >= len(squares):
            axes.set_visible(False)
            continue
        _draw_square(axes, squares[place], bounds)
    room = 0.06 * (bounds[1] - bounds[0])
    grid[0, 0].set_ylim(bounds[0] - room, bounds[1] + room)
    for axes in grid[:, 0]:
        axes.set_ylabel(words("chart.elo_above_low"))
    return settle(figure)


def _draw_square(axes: Axes, square: Sequence[CombinationRow], bounds: tuple[float, float]) -> None:
    cells = {(cell.first_level, cell.second_level): cell for cell in square}
    names = shorten_unique([cells[level, -1].first_text for level in (-1, 1)], LABEL_WIDTH - 8)
    for level, name, color, style, marker in ((-1, names[0], LOSS, "--", "s"), (1, names[1], WIN, "-", "o")):
        line = [cells[level, other] for other in (-1, 1)]
        places = [0.02 * level, 1 + 0.02 * level]
        axes.plot(places, [min(max(cell.elo, bounds[0]), bounds[1]) for cell in line], style, color=color,
                  linewidth=1.7, marker=marker, label=name)  # fmt: skip
        for place, cell in zip(places, line, strict=True):
            interval = cell.elo - cell.elo_error, cell.elo + cell.elo_error
            draw_interval(axes, place, interval, bounds, color, upright=True, linewidth=1.4)
            draw_point(axes, place, cell.elo, bounds, color, marker, upright=True)
    axes.axhline(0, color=MUTED, linewidth=0.9)
    axes.set_xlim(-0.35, 1.35)
    axes.set_xticks([0, 1], shorten_unique([cells[-1, level].second_text for level in (-1, 1)], LABEL_WIDTH // 2))
    axes.tick_params(axis="x", labelcolor=INK, labelleft=True)
    # Below the title, which leaves room for it, and above the picture, where no line can run.
    legend = axes.legend(frameon=False, fontsize=9, loc="lower left", bbox_to_anchor=(-0.02, 0.99), borderpad=0)
    legend.set_in_layout(False)
    axes.set_title(wrapped(square[0].factorial), fontsize=10, loc="left", pad=34)
    draw_grid(axes, "y")


def heat_chart(features: Sequence[str], worth: Any, known: Any, words: Catalogue) -> Figure:
    """Heat map of pairs: by how many Elo the effect of one technique grows with the other.

    ``worth`` has shape (features, features), symmetric; ``known`` says which verdicts have fallen.
    """
    from matplotlib.colors import LinearSegmentedColormap

    figure, axes = single_axes(1.5 + 0.5 * len(features), FONT_SIZE)
    shown = np.ma.masked_invalid(worth)
    limit = max(10.0, min(HEAT_LIMIT_ELO, float(np.abs(shown).max()) if shown.count() else 10.0))
    colors = LinearSegmentedColormap.from_list("worth", [SERIES[1], "#f6f3ee", WIN]).with_extremes(bad="none")
    axes.imshow(shown, cmap=colors, vmin=-limit, vmax=limit, aspect="auto")
    for (row, column), value in np.ndenumerate(worth):
        if not np.isnan(value):
            weight = "bold" if known[row, column] else "normal"
            color = WHITE if abs(value) > DARK_SHARE * limit else BLACK
            axes.text(
                column, row, signed(float(value), 0), ha="center", va="center", fontsize=10, fontweight=weight,
                color=color,
            )  # fmt: skip
    names = shorten_unique(features, LABEL_WIDTH // 2)
    axes.set_xticks(range(len(features)), names)
    axes.set_yticks(range(len(features)), names)
    axes.tick_params(axis="x", labelcolor=INK)
    axes.set_xlabel(words("chart.interaction"))
    axes.spines["bottom"].set_visible(False)
    return settle(figure)


def depths_chart(rows: Sequence[DepthRow], words: Catalogue) -> Figure:
    """Nodes to the end of each depth over the first setting's, on a logarithmic scale, a line for each setting."""
    from matplotlib.ticker import MaxNLocator

    settings = list(dict.fromkeys(row.setting for row in rows))
    reference = {row.depth: row.nodes for row in rows if row.setting == settings[0]}
    names = [wrapped(name) for name in shorten_unique(settings, LABEL_COLUMNS)]
    legend_lines = math.ceil(len(names) / 2) * max(name.count("\n") + 1 for name in names)
    figure, axes = single_axes(3.0 + LINE_INCHES * legend_lines, FONT_SIZE)
    lines = []
    ratios = [1.0]
    for place, (setting, name) in enumerate(zip(settings, names, strict=True)):
        own = {row.depth: row.nodes / reference[row.depth] for row in rows
               if row.setting == setting and row.depth in reference}  # fmt: skip
        ratios += own.values()
        lines += axes.plot(
            list(own), list(own.values()), DEPTH_STYLES[place % len(DEPTH_STYLES)],
            color=SERIES[place % len(SERIES)], markersize=4.5, linewidth=1.7, label=name,
        )  # fmt: skip
    mark_ratios(axes, ratio_bounds(ratios), way="y")
    widen_coinciding(lines)
    axes.set_xlabel(words("chart.depth"))
    axes.set_ylabel(words("chart.nodes_over_reference"))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    draw_grid(axes, "y")
    figure.legend(loc="outside upper center", ncols=2, frameon=False, fontsize=9, handlelength=2)
    return settle(figure)


NEAR_FACTOR = 3.0
"""Ratios that lie within this factor have ticks at equal steps."""
RATIO_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
LEAST_ROOM = 1.02
"""The factor by which an axis of ratios goes on beyond its bounds, at least."""


def mark_ratios(axes: Axes, bounds: tuple[float, float], max_ticks: int = 7, way: Literal["x", "y"] = "x") -> None:
    """A logarithmic axis of ratios, its ticks all with the same number of digits behind the point."""
    low, high = bounds
    room = max(LEAST_ROOM, (high / low) ** 0.06)
    ends = low / room, high * room
    axes.set(**{f"{way}scale": "log"})
    factor = (ends[1] / ends[0]) ** (1 / (max_ticks + 1))
    ticks = stepped_ticks(ends, factor) if high / low < NEAR_FACTOR else []
    if not ticks:
        ticks = spaced_ticks([tick for tick in RATIO_TICKS if ends[0] < tick < ends[1]], factor)
    axes.set(**{f"{way}ticks": ticks, f"{way}ticklabels": ratio_labels(ticks), f"{way}lim": ends})
    axes.minorticks_off()


def ratio_labels(ticks: Sequence[float]) -> list[str]:
    """Factors; of those near 1 all with as many digits behind the point as the finest has."""
    if min(ticks) < 1 / NEAR_FACTOR or max(ticks) > NEAR_FACTOR:
        return [f"{tick:g}×" for tick in ticks]
    digits = max(len(f"{tick:g}".partition(".")[2]) for tick in ticks)
    return [f"{tick:.{digits}f}×" for tick in ticks]


def stepped_ticks(ends: tuple[float, float], factor: float) -> list[float]:
    """Ticks at the finest step at which neighbours lie apart by at least the factor; none if there is no such step."""
    low, high = ends
    for step in RATIO_STEPS:
        ticks = [round(number * step, 2) for number in range(math.ceil(low / step), math.floor(high / step) + 1)]
        if 1.0 in ticks and all(after / before >= factor for before, after in pairwise(ticks)):
            return ticks
    return []


def spaced_ticks(ticks: Sequence[float], factor: float) -> list[float]:
    """1, and of other ticks, the preferred first, those that lie apart by at least the factor; rising."""
    kept = [1.0]
    for tick in ticks:
        if tick != 1 and all(max(tick / other, other / tick) >= factor for other in kept):
            kept.append(tick)
    return sorted(kept)
