"""The figures of ablations.

Every chart function takes results and the catalogue of the figure's texts (``tuning_charts.chart_words``).
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from elolab.arena.reports.drawing.marks import (
    draw_interval,
    draw_point,
    explain_marks,
    mark_ratios,
    ratio_bounds,
    settle,
    show_bounds,
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
    legend_above,
    new_figure,
    single_axes,
    whole_numbers,
)
from elolab.arena.statistics.numbers import signed
from elolab.arena.statistics.text_table import shorten_unique
from elolab.engine import language
from elolab.engine.language import Catalogue, columns_of
from elolab.tuning.ablation.comparison_verdicts import BETTER, EQUIVALENT, UNDECIDED, WORSE
from elolab.tuning.reports.tuning_charts import FONT_SIZE, unit_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from elolab.tuning.ablation.depth_cost import DepthRow
    from elolab.tuning.ablation.levels import Level
    from elolab.tuning.ablation.rows import AblationRow, CombinationRow

SAME = SERIES[2]
"""Colour of equivalent results."""
HEAT_LIMIT_ELO = 60.0
DARK_SHARE = 0.9
"""Share of the scale's maximum above which a cell of the heat map, by its absolute value, has light text."""
LABEL_WIDTH = 36
LABEL_COLUMNS = 2 * LABEL_WIDTH - 4
"""Maximum width of a row's label in columns of text; the label is wrapped into two or three lines."""
LINE_INCHES = 0.155
"""Height of one line of a label, in inches."""
DEPTH_STYLES = ("o-", "s--", "^:", "D-.")
VERDICT_MARKS = {BETTER: (WIN, "^"), WORSE: (SERIES[1], "v"), EQUIVALENT: (SAME, "s"), UNDECIDED: (MUTED, "o")}
"""Colour and marker shape of each verdict; the marker of an undecided comparison is hollow."""
UNASKED = (INK, "d")


def wrapped(label: str) -> str:
    """The label wrapped into lines. Nothing is truncated, because labels often differ only at their ends."""
    if columns_of(label) > len(label):
        return "\n".join(language.wrapped(label, LABEL_WIDTH))
    return "\n".join(textwrap.wrap(label, LABEL_WIDTH, break_on_hyphens=False))


def row_labels(labels: Sequence[str]) -> tuple[list[str], float]:
    """The labels of a figure's rows, shortened, wrapped and distinct; and the height of a row in inches."""
    shown = [wrapped(label) for label in shorten_unique(labels, LABEL_COLUMNS)]
    lines = max(text.count("\n") + 1 for text in shown)
    return shown, max(0.3, LINE_INCHES * lines + 0.04)


def forest_chart(rows: Sequence[AblationRow], words: Catalogue, margin: float = 0.0) -> Figure:
    """Forest plot: each comparison's Elo with its own 95 % interval and its simultaneous interval.

    A second panel shows the ratio of nodes to a fixed depth, variant to reference, if it was measured.

    ``margin`` is half the width of the equivalence band, in Elo. Arrowheads mark intervals that leave the axis. A point
    beyond the axis is drawn at its edge, with Elo and interval as text.
    """
    with_nodes = any(row.nodes_ratio is not None for row in rows)
    widths = (3, 2) if with_nodes else (1,)
    labels, row_inches = row_labels([row.label for row in rows])
    places = _layout(rows)
    height = 1.3 + row_inches * (max(places) + 1)
    figure, grid = new_figure(height, 1, len(widths), widths=widths)
    axes: Axes = grid[0, 0]
    axes.axvline(0, color=MUTED, linewidth=0.9)
    if margin:
        axes.axvspan(-margin, margin, color=SAME, alpha=0.12, linewidth=0)
    bounds = shown_bounds(map(judged_interval, rows))
    for place, row in zip(places, rows, strict=True):
        _draw_comparison(axes, row, place, bounds)
    axes.set_yticks(places, labels, fontsize=9)
    axes.set_ylim(max(places) + 0.7, min(places) - 0.7)
    show_bounds(axes, bounds, "x")
    axes.set_xlabel(words("chart.elo_difference"))
    draw_grid(axes, "x")
    if with_nodes:
        _draw_nodes(grid[0, 1], rows, places, words)
    _explain_verdicts(figure, rows, words)
    return settle(figure)


def judged_interval(row: AblationRow) -> tuple[float, float]:
    """The Elo interval on which the verdict is based: the simultaneous interval.

    For a comparison without a verdict it is the 95 % interval.
    """
    if row.verdict:
        return row.simultaneous_low, row.simultaneous_high
    return row.elo_low, row.elo_high


def verdict_mark(verdict: str) -> tuple[str, str]:
    """The colour and marker shape of a verdict; comparisons without a verdict have their own mark."""
    return VERDICT_MARKS.get(verdict, UNASKED)


def _draw_comparison(
    axes: Axes, row: AblationRow, place: float, bounds: tuple[float, float], *, upright: bool = False
) -> None:
    """Draw a comparison: the Elo with the marker of the verdict, and the intervals.

    A thick line is the 95 % interval, a thin line the interval from ``judged_interval``. ``place`` is the comparison's
    coordinate on the axis of rows, ``bounds`` are the ends of the Elo axis. With ``upright`` the Elo axis is vertical.
    """
    color, marker = verdict_mark(row.verdict)
    judged = judged_interval(row)
    draw_interval(axes, place, judged, bounds, color, upright=upright, linewidth=1.0)
    inner = max(row.elo_low, bounds[0]), min(row.elo_high, bounds[1])
    draw_interval(axes, place, inner, bounds, color, upright=upright, linewidth=2.4)
    said = "" if upright else f"{signed(row.elo, 0)} [{signed(judged[0], 0)}, {signed(judged[1], 0)}]"
    draw_point(axes, place, row.elo, bounds, color, marker, upright=upright, size=6, is_open=row.verdict == UNDECIDED,
               said=said)  # fmt: skip


def _explain_verdicts(figure: Figure, rows: Sequence[AblationRow], words: Catalogue) -> None:
    """Draw the legend of the verdicts' shapes and colours above the figure."""
    verdicts = {row.verdict for row in rows}
    explain_marks(figure, {words(f"verdict.{verdict}"): (*mark, verdict == UNDECIDED)
                           for verdict, mark in VERDICT_MARKS.items() if verdict in verdicts})  # fmt: skip


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


def _layout(rows: Sequence[AblationRow]) -> list[float]:
    """Vertical position of each row, in row heights from the top, with a gap between groups of comparisons."""
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
    """Several values of one integer parameter, each compared with the same reference value."""

    title: str
    reference: Level
    """The reference value of the parameter, where the curve is 0 Elo."""
    points: tuple[tuple[Level, AblationRow], ...]


def curves_chart(curves: Sequence[Curve], words: Catalogue) -> Figure:
    """One panel per integer parameter: Elo, 95 % interval, simultaneous interval and verdict of every value."""
    figure, grid, panels = _panels(len(curves), 0.7, 2.8)
    compared = [row for curve in curves for _, row in curve.points]
    bounds = shown_bounds(map(judged_interval, compared))
    for axes, curve in zip(panels, curves, strict=True):
        _draw_curve(axes, curve, words, bounds)
    show_bounds(grid[0, 0], bounds, "y", 0.06)
    for axes in grid[:, 0]:
        axes.set_ylabel(words("chart.elo_against_reference"))
    _explain_verdicts(figure, compared, words)
    return settle(figure)


def _panels(count: int, inches: float, row_inches: float) -> tuple[Figure, Any, list[Axes]]:
    """Make a figure with ``count`` panels in two columns; return the figure, its grid of axes, and the used axes.

    The figure's height is ``inches`` plus ``row_inches`` per row of panels.
    """
    columns = min(2, count)
    rows = math.ceil(count / columns)
    figure, grid = new_figure(inches + row_inches * rows, rows, columns)
    for unused in grid.flat[count:]:
        unused.set_visible(False)
    return figure, grid, [*grid.flat[:count]]


def _draw_curve(axes: Axes, curve: Curve, words: Catalogue, bounds: tuple[float, float]) -> None:
    """Draw the values as a line with intervals; a level that is off is a separate point on the left."""
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
    """Coordinates of levels on an axis, which is linear or ``logarithmic``.

    A level that switches the parameter off has no value; it lies to the left of the smallest value. Its distance from
    the smallest value is the smallest distance between two values, measured on the axis.
    """
    values = sorted({float(level.value) for level in levels if level.value is not None})
    if logarithmic:
        off = values[0] / min((above / below for below, above in pairwise(values)), default=2.0)
    else:
        off = values[0] - min((above - below for below, above in pairwise(values)), default=1.0)
    return [off if level.value is None else float(level.value) for level in levels]


def interactions_chart(squares: Sequence[Sequence[CombinationRow]], words: Catalogue) -> Figure:
    """A panel for each 2 x 2 factorial with the Elo of the four combinations as two lines. Parallel lines mean no
    interaction.
    """
    figure, grid, panels = _panels(len(squares), 0.6, 3.1)
    bounds = shown_bounds(
        [(cell.elo - cell.elo_error, cell.elo + cell.elo_error) for square in squares for cell in square]
    )
    for axes, square in zip(panels, squares, strict=True):
        _draw_square(axes, square, bounds)
    show_bounds(grid[0, 0], bounds, "y", 0.06)
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
    # The legend fits between title and axes, where it covers no line.
    legend = axes.legend(frameon=False, fontsize=9, loc="lower left", bbox_to_anchor=(-0.02, 0.99), borderpad=0)
    legend.set_in_layout(False)
    axes.set_title(wrapped(square[0].factorial), fontsize=10, loc="left", pad=34)
    draw_grid(axes, "y")


def heat_chart(features: Sequence[str], worth: Any, known: Any, words: Catalogue) -> Figure:
    """Heat map of interactions: the Elo by which the effect of one feature grows if the other feature is on.

    ``worth`` contains these Elo values: a symmetric matrix, shape (features, features), with NaN for pairs that were
    not played. ``known`` has the same shape, and is true for pairs with a verdict.
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
    """One line per setting: nodes to each depth, divided by the nodes of the first setting in ``rows``.

    The axis of the ratios is logarithmic.
    """
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
    whole_numbers(axes, "x", 9)
    draw_grid(axes, "y")
    legend_above(figure, 2, 9, handlelength=2)
    return settle(figure)
