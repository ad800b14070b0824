"""The figures of claims: a claim's cells with their intervals, and all parts by verdict.

Every function takes results and the words of the figure (``study_charts.chart_words``) and returns a figure; none
writes a file. matplotlib is imported inside them only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from arena.figures.standings import signed
from arena.reports.drawing.marks import draw_interval, draw_point, settle, shown_bounds
from arena.reports.drawing.style import GROUND, INK, LOSS, MUTED, SERIES, WIN, draw_grid
from engine.language import Catalogue
from tuning.claims.results import CellRow, PartResult
from tuning.claims.spec import COSTS
from tuning.claims.verdicts import (
    CONFIRMED,
    DEPENDS,
    NEGLIGIBLE,
    OPEN,
    PART_VERDICTS,
    REFUTED,
    SHOWN,
    UNFINISHED,
)
from tuning.reports.ablation_charts import mark_ratios, ratio_bounds
from tuning.reports.study_charts import empty_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKS = {
    CONFIRMED: (WIN, "^"), REFUTED: (LOSS, "v"), NEGLIGIBLE: (SERIES[2], "s"), DEPENDS: (SERIES[4], "D"),
    OPEN: (MUTED, "o"), UNFINISHED: (MUTED, "."), SHOWN: (INK, "d"),
}  # fmt: skip
"""The colour and the shape of a verdict; the shape of an open one is hollow."""
MARGIN_COLOR = SERIES[2]
ROW_INCHES = 0.24
MOST_EXPLAINED = 6
"""Verdicts that are explained in one line: more are wider than the figure."""
UNITS = ("Elo", "×", "%", "points", "passes", "cases")
AXES = {"Elo": "chart.elo_difference", "×": "chart.ratio", "%": "chart.percent", "points": "chart.percentage_points",
        "passes": "chart.passes", "cases": "chart.percent_of_cases"}  # fmt: skip


def claim_chart(results: Sequence[PartResult], words: Catalogue) -> Figure | None:
    """The effect in every cell of a claim's parts with its simultaneous interval, a picture for each unit.

    The band is the margin within which an effect is negligible. ``None`` where nothing was seen yet.
    """
    by_unit: dict[str, list[CellRow]] = {}
    for result in results:
        for row in result.rows:
            if row.cases:
                by_unit.setdefault(row.unit, []).append(row)
    if not by_unit:
        return None
    units = [unit for unit in UNITS if unit in by_unit]
    height = sum(1.0 + ROW_INCHES * len(by_unit[unit]) for unit in units) + 0.4
    figure, grid = empty_figure(height, len(units), 1, share_scale=False)
    grid[0, 0].get_gridspec().set_height_ratios([1.2 + len(by_unit[unit]) for unit in units])
    for place, unit in enumerate(units):
        _draw_cells(grid[place, 0], by_unit[unit], unit, words)
    shown = {row.shown_verdict for rows in by_unit.values() for row in rows}
    _explain(figure, [verdict for verdict in MARKS if verdict in shown], words)
    return settle(figure)


def _draw_cells(axes: Axes, rows: Sequence[CellRow], unit: str, words: Catalogue) -> None:
    values = [_drawn(row) for row in rows]
    if unit == "×":
        bounds = ratio_bounds([value for triple in values for value in triple] + [1.0])
    else:
        bounds = shown_bounds([(low, high) for _, low, high in values], [(row.threshold,) * 2 for row in rows])
    null = 1.0 if unit == "×" else 0.0
    if not any(row.threshold for row in rows):
        axes.axvline(null, color=MUTED, linewidth=0.9)
    for place, (row, (effect, low, high)) in enumerate(zip(rows, values, strict=True)):
        color, marker = MARKS[row.shown_verdict]
        _draw_margin(axes, place, row, bounds)
        draw_interval(axes, place, (low, high), bounds, color, linewidth=2.0)
        said = signed(effect, 0) if unit == "Elo" else f"{effect:.3g}"
        draw_point(axes, place, effect, bounds, color, marker, is_open=row.verdict == OPEN, said=said)
    labels = [f"{row.part}  {words(f'engine.{row.engine}')} {row.limit_name}" for row in rows]
    axes.set_yticks(range(len(rows)), labels, fontsize=9)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    if unit == "×":
        mark_ratios(axes, bounds)
    else:
        room = 0.05 * (bounds[1] - bounds[0])
        axes.set_xlim(bounds[0] - room, bounds[1] + room)
    axes.set_xlabel(words(AXES[unit]))
    draw_grid(axes, "x")


def _drawn(row: CellRow) -> tuple[float, float, float]:
    """Effect and bounds as they are drawn: of cases the rate in percent."""
    effect = 100 * row.hits / row.cases if row.unit == "cases" else row.effect
    return effect, row.low, row.high


def _draw_margin(axes: Axes, place: int, row: CellRow, bounds: tuple[float, float]) -> None:
    """The band around no effect, behind one row; an upright mark is what a share is compared with."""
    if row.unit == "×" and row.kind in COSTS:
        ends = (1 / (1 + row.margin / 100), 1 + row.margin / 100)
    elif row.unit == "cases":
        ends = (0.0, row.margin)
    else:
        ends = (row.threshold - row.margin, row.threshold + row.margin)
    low, high = (min(max(end, bounds[0]), bounds[1]) for end in ends)
    if row.margin and high > low:
        axes.fill_between([low, high], place - 0.4, place + 0.4, color=MARGIN_COLOR, alpha=0.15, linewidth=0)
    if row.threshold and bounds[0] <= row.threshold <= bounds[1]:
        axes.plot([row.threshold] * 2, [place - 0.38, place + 0.38], color=SERIES[4], linewidth=1.8)


def summary_chart(results: Sequence[PartResult], words: Catalogue) -> Figure:
    """All parts by verdict, and the verdict of each of their cells."""
    order = {verdict: place for place, verdict in enumerate((*PART_VERDICTS, UNFINISHED, SHOWN))}
    shown = sorted(results, key=lambda result: order[result.shown_verdict])
    columns = [words(f"column_head.{name}") for name in COLUMNS]
    figure, grid = empty_figure(3.0 + 0.2 * len(shown), 1, 1)
    axes: Axes = grid[0, 0]
    for place, result in enumerate(shown):
        _mark(axes, 0, place, result.shown_verdict, 8)
        for column, name in enumerate(COLUMNS[1:], start=1):
            rows = rows_of_column(result, name)
            for number, row in enumerate(rows):
                offset = 0.0 if len(rows) == 1 else (number / (len(rows) - 1) - 0.5) * 0.5
                _mark(axes, column + offset, place, row.shown_verdict, 6)
    axes.axvline(0.5, color=MUTED, linewidth=0.9)
    axes.set_yticks(range(len(shown)), [result.part.id for result in shown], fontsize=9)
    axes.set_ylim(len(shown) - 0.4, -0.6)
    axes.set_xticks(range(len(columns)), columns, fontsize=9)
    axes.set_xlim(-0.6, len(columns) - 0.4)
    axes.xaxis.tick_top()
    draw_grid(axes, "y")
    seen = {result.shown_verdict for result in shown} | {row.shown_verdict for result in shown for row in result.rows}
    _explain(figure, [verdict for verdict in MARKS if verdict in seen], words)
    return settle(figure)


COLUMNS = ("verdict", "then_first", "then_rest", "then_time", "now_first", "now_rest", "now_time")
"""Of the table of all parts, after its verdict: each engine at the first limit, at the others, at equal time."""


def rows_of_column(result: PartResult, column: str) -> list[CellRow]:
    """The cells that stand in a column of the table of all parts."""
    engine, _, which = column.partition("_")
    own = [one for one in result.cells if one.cell.engine == engine]
    at_nodes, at_time = [one for one in own if not one.cell.is_time], [one for one in own if one.cell.is_time]
    chosen = {"first": at_nodes[:1], "rest": at_nodes[1:], "time": at_time}[which]
    return [one.row for one in chosen]


def _mark(axes: Axes, column: float, place: int, verdict: str, size: float) -> None:
    color, marker = MARKS[verdict]
    face = GROUND if verdict == OPEN else color
    axes.plot([column], [place], marker, color=color, markerfacecolor=face, markersize=size)


def _explain(figure: Figure, verdicts: Sequence[str], words: Catalogue) -> None:
    """A line above the figure that says which shape and colour is which verdict."""
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], linestyle="none", color=MARKS[one][0], marker=MARKS[one][1], markersize=6,
               markerfacecolor=GROUND if one == OPEN else MARKS[one][0], label=words(f"outcome.{one}"))
        for one in verdicts
    ]  # fmt: skip
    rows = -(-len(handles) // MOST_EXPLAINED)
    columns = -(-len(handles) // rows)
    figure.legend(handles=handles, loc="outside upper right", ncols=columns, frameon=False, fontsize=9)
