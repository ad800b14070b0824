"""Figures for claims: the measurements of one claim with their intervals, and the verdicts on the parts of all claims.

A claim consists of parts. A cell is one measurement of a part, in one engine at one search limit.

Every chart function takes results and the catalogue of the figure's texts (``tuning_charts.chart_words``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from elolab.arena.reports.drawing.marks import (
    draw_interval,
    draw_point,
    explain_marks,
    mark_ratios,
    ratio_bounds,
    settle,
    show_bounds,
    shown_bounds,
)
from elolab.arena.reports.drawing.style import GROUND, INK, LOSS, MUTED, SERIES, WIN, draw_grid, new_figure
from elolab.arena.statistics.numbers import signed
from elolab.engine.language import Catalogue
from elolab.tuning.claims.claims_results import CellRow, PartResult
from elolab.tuning.claims.claims_spec import COSTS
from elolab.tuning.claims.measures import RATIO_UNITS
from elolab.tuning.claims.part_verdicts import (
    CONFIRMED,
    NEGLIGIBLE,
    OPEN,
    REFUTED,
    SHOWN,
    UNFINISHED,
    VERDICTS,
)
from elolab.tuning.keys.claims import ENGINES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKS = {
    CONFIRMED: (WIN, "^"), REFUTED: (LOSS, "v"), NEGLIGIBLE: (SERIES[2], "s"), OPEN: (MUTED, "o"),
    UNFINISHED: (MUTED, "P"), SHOWN: (INK, "d"),
}  # fmt: skip
"""Colour and marker shape of each verdict; the marker of an open verdict is hollow."""
MARGIN_COLOR, MARGIN_ALPHA = SERIES[2], 0.15
THRESHOLD_COLOR = SERIES[4]
ROW_INCHES = 0.24
MOST_EXPLAINED, MOST_WITH_THRESHOLD = 6, 5
"""Largest number of entries in a line of the legend, without and with the entry for thresholds."""
MOST_IN_ONE = 40
"""Largest number of parts that the summary figure draws in one column; more parts are divided into two columns."""
UNITS = ("Elo", "×", "%", "points", "passes", "cases")
SEPARATING_FACTOR = 4.0
"""Ratios of costs get separate panels if their logarithms differ by this factor or more.

On a common axis, the smaller distance from 1 would not be visible.
"""
UNBOUNDED_SHARE = 0.15
"""Smallest width of the visible part of an interval that is unbounded on one side, as a share of the panel's width."""


def claim_chart(results: Sequence[PartResult], words: Catalogue) -> Figure | None:
    """The figure of one claim: effect and simultaneous interval of every cell, with a panel for each measured quantity.

    A cell is one part of the claim in one engine at one limit. Effects in games are median-unbiased estimates if known.
    A band shows the margin of equivalence, a vertical line the threshold of a share. Returns ``None`` if nothing has
    been measured yet.
    """
    panels = _panels([row for result in results for row in result.rows if row.cases])
    if not panels:
        return None
    height = sum(1.0 + ROW_INCHES * len(rows) for rows in panels) + 0.4
    figure, grid = new_figure(height, len(panels), 1, share_scale=False)
    grid[0, 0].get_gridspec().set_height_ratios([1.2 + len(rows) for rows in panels])
    for place, rows in enumerate(panels):
        _draw_cells(grid[place, 0], rows, words)
    shown = [row for rows in panels for row in rows]
    verdicts = {row.shown_verdict for row in shown}
    _explain(
        figure, [verdict for verdict in MARKS if verdict in verdicts], words,
        has_margin=any(row.margin for row in shown), has_threshold=any(row.threshold for row in shown),
    )  # fmt: skip
    return settle(figure)


def claims_forest(answers: Mapping[str, Mapping[str, CellRow]], words: Catalogue) -> Figure:
    """Forest plot: one row per claim, with one measurement in the engine ``then`` and one in ``now``.

    ``answers`` has the table rows of these measurements by claim, then by engine. Claims measured in one unit share a
    panel with one scale.
    """
    panels: dict[str, list[str]] = {unit: [] for unit in UNITS}
    for claim, rows in answers.items():
        panels[next(iter(rows.values())).unit].append(claim)
    shown = {unit: claims for unit, claims in panels.items() if claims}
    height = sum(0.75 + ROW_INCHES * len(claims) for claims in shown.values()) + 0.5
    figure, grid = new_figure(height, len(shown), len(ENGINES), share_scale=False)
    grid[0, 0].get_gridspec().set_height_ratios([2.2 + len(claims) for claims in shown.values()])
    for place, (unit, claims) in enumerate(shown.items()):
        known = [row for claim in claims for row in answers[claim].values()]
        bounds = _bounds(known)
        for column, engine in enumerate(ENGINES):
            axes = grid[place, column]
            _draw_rows(axes, [answers[claim].get(engine) for claim in claims], bounds)
            _scale(axes, len(claims), bounds, unit)
            axes.set_yticks(range(len(claims)), claims if not column else [""] * len(claims), fontsize=9)
            axes.set_xlabel(words(f"forest_axis.{unit}"), fontsize=8)
            if not place:
                axes.set_title(words(f"engine.{engine}"), fontsize=10, color=INK)
    verdicts = {row.shown_verdict for rows in answers.values() for row in rows.values()}
    _explain(figure, [verdict for verdict in MARKS if verdict in verdicts], words, has_margin=True, has_threshold=True)
    return settle(figure)


def _panels(rows: Sequence[CellRow]) -> list[list[CellRow]]:
    """Divide rows into panels, one for each unit and quantity; ratios are also separated by their distance from 1."""
    by_quantity: dict[tuple[int, str, str], list[CellRow]] = {}
    for row in rows:
        by_quantity.setdefault((UNITS.index(row.unit), row.kind, row.of), []).append(row)
    ordered = sorted(by_quantity.values(), key=lambda own: UNITS.index(own[0].unit))
    return [panel for own in ordered for panel in (_by_distance(own) if own[0].unit == "×" else [own])]


def _by_distance(rows: list[CellRow]) -> list[list[CellRow]]:
    """Divide rows with ratios into panels by the ratios' distance from 1, the farthest first.

    On a common axis, small distances would not be visible.
    """
    reaches: dict[str, float] = {}
    for row in rows:
        ends = [abs(math.log(end)) for end in (row.effect, row.low, row.high) if 0 < end < math.inf]
        reaches[row.part] = max([reaches.get(row.part, 0.0), *ends])
    widest = max(reaches.values())
    far = [row for row in rows if SEPARATING_FACTOR * reaches[row.part] >= widest]
    near = [row for row in rows if SEPARATING_FACTOR * reaches[row.part] < widest]
    return [far, *_by_distance(near)] if near else [far]


def _draw_cells(axes: Axes, rows: Sequence[CellRow], words: Catalogue) -> None:
    bounds = _bounds(rows)
    _draw_rows(axes, rows, bounds)
    labels = [f"{row.part}  {words(f'engine.{row.engine}')} {row.limit_name}" for row in rows]
    axes.set_yticks(range(len(rows)), labels, fontsize=9)
    _scale(axes, len(rows), bounds, rows[0].unit)
    axes.set_xlabel(axis_text(rows[0], words), fontsize=9)


def _draw_rows(axes: Axes, rows: Sequence[CellRow | None], bounds: tuple[float, float]) -> None:
    """Draw margin, threshold, interval and effect of each row; ``None`` leaves a row empty."""
    for place, row in enumerate(rows):
        if row is None:
            continue
        effect, low, high = _drawn(row)
        color, marker = MARKS[row.shown_verdict]
        _draw_margin(axes, place, row, bounds)
        draw_interval(axes, place, (low, high), bounds, color, linewidth=2.0)
        said = signed(effect, 0) if row.unit == "Elo" else f"{effect:.3g}"
        draw_point(axes, place, effect, bounds, color, marker, is_open=row.shown_verdict == OPEN, said=said)
    if not any(row is not None and row.threshold for row in rows):
        axes.axvline(1.0 if any(row is not None and row.unit == "×" for row in rows) else 0.0, color=MUTED,
                     linewidth=0.9)  # fmt: skip


def _scale(axes: Axes, rows: int, bounds: tuple[float, float], unit: str) -> None:
    """Set the scales of a panel with ``rows`` rows and effects within ``bounds``; ratios get a logarithmic scale."""
    axes.set_ylim(rows - 0.4, -0.6)
    if unit == "×":
        mark_ratios(axes, bounds)
    else:
        show_bounds(axes, bounds, "x")
    draw_grid(axes, "x")


def axis_text(row: CellRow, words: Catalogue) -> str:
    """Axis label: the row's measured quantity, its unit, and the side whose advantage is positive."""
    if row.of in RATIO_UNITS:
        return words(f"share_axis.{row.of}")
    return words(f"axis.{row.kind}", of=words(f"share_axis.{row.of}") if row.of else "")


def _bounds(rows: Sequence[CellRow]) -> tuple[float, float]:
    """Bounds of an axis that contain all margins and intervals, except intervals of Elo much wider than most."""
    values = [_drawn(row) for row in rows]
    margins = [_margin_ends(row) for row in rows if row.margin] + [(row.threshold,) * 2 for row in rows]
    if rows[0].unit == "×":
        return ratio_bounds([end for ends in (*values, *margins) for end in ends] + [1.0])
    intervals = [(low, high) for _, low, high in values]
    least, most = shown_bounds(intervals, margins if rows[0].unit == "Elo" else [*intervals, *margins])
    seen = UNBOUNDED_SHARE * (most - least)
    for low, high in intervals:
        if high == math.inf and math.isfinite(low):
            most = max(most, low + seen)
        if low == -math.inf and math.isfinite(high):
            least = min(least, high - seen)
    return least, most


def _drawn(row: CellRow) -> tuple[float, float, float]:
    """Effect, lower and upper bound to draw.

    For games the effect is the median-unbiased Elo if known, for counted cases the rate in percent.
    """
    if row.unit == "cases":
        return 100 * row.hits / row.cases, row.low, row.high
    return row.effect if row.median_unbiased is None else row.median_unbiased, row.low, row.high


def _margin_ends(row: CellRow) -> tuple[float, float]:
    """The ends of the equivalence band, in the row's unit."""
    if row.unit == "×" and row.kind in COSTS:
        return 1 / (1 + row.margin / 100), 1 + row.margin / 100
    if row.unit == "cases":
        return 0.0, row.margin
    return row.threshold - row.margin, row.threshold + row.margin


def _draw_margin(axes: Axes, place: int, row: CellRow, bounds: tuple[float, float]) -> None:
    """Draw the equivalence band behind the row at height ``place``, and a vertical line at the threshold of a share."""
    low, high = _margin_ends(row)
    if row.margin:
        axes.fill_between([low, high], place - 0.4, place + 0.4, color=MARGIN_COLOR, alpha=MARGIN_ALPHA, linewidth=0)
    if row.threshold and bounds[0] <= row.threshold <= bounds[1]:
        axes.plot([row.threshold] * 2, [place - 0.38, place + 0.38], color=THRESHOLD_COLOR, linewidth=1.8)


def summary_chart(results: Sequence[PartResult], words: Catalogue) -> Figure:
    """Summary figure: the verdicts on all parts, by engine and by search limit.

    Parts are sorted by their verdicts in the engine ``then``, then by their verdicts in ``now``. Engines and limits
    without measurements are left out.
    """
    order = {verdict: place for place, verdict in enumerate((*VERDICTS, UNFINISHED, SHOWN))}

    def key(result: PartResult) -> list[int]:
        shown = [result.verdicts[engine].shown_verdict for engine in ENGINES if engine in result.verdicts]
        return [order[verdict] for verdict in shown]

    shown = sorted(results, key=key)
    columns = [name for name in COLUMNS if any(_marks_of_column(result, name) for result in shown)]
    pictures = 2 if len(shown) > MOST_IN_ONE else 1
    length = -(-len(shown) // pictures)
    figure, grid = new_figure(1.0 + 0.2 * length, 1, pictures, share_scale=False)
    for picture in range(pictures):
        _draw_parts(grid[0, picture], shown[picture * length : (picture + 1) * length], columns, length, words)
    seen = {verdict for result in shown for name in columns for verdict in _marks_of_column(result, name)}
    _explain(figure, [verdict for verdict in MARKS if verdict in seen], words)
    return settle(figure)


def _marks_of_column(result: PartResult, column: str) -> list[str]:
    """Verdicts to draw for a part in ``column``: the engine's verdict, or the verdicts at the column's limits."""
    engine, _, which = column.partition("_")
    if which == "verdict":
        return [result.verdicts[engine].shown_verdict] if engine in result.verdicts else []
    return [row.shown_verdict for row in rows_of_column(result, column)]


def _draw_parts(axes: Axes, shown: Sequence[PartResult], columns: Sequence[str], length: int, words: Catalogue) -> None:
    """Draw the marks of the parts ``shown``, one per line, in axes with space for ``length`` lines.

    A vertical line separates the engines.
    """
    for place, result in enumerate(shown):
        for column, name in enumerate(columns):
            verdicts = _marks_of_column(result, name)
            for number, verdict in enumerate(verdicts):
                offset = 0.0 if len(verdicts) == 1 else (number / (len(verdicts) - 1) - 0.5) * 0.5
                _mark(axes, column + offset, place, verdict, 8 if name.endswith("_verdict") else 6)
    for column, name in enumerate(columns[1:], start=1):
        if name.endswith("_verdict"):
            axes.axvline(column - 0.5, color=MUTED, linewidth=0.9)
    axes.set_yticks(range(len(shown)), [result.part.id for result in shown], fontsize=9)
    axes.set_ylim(length - 0.4, -0.6)
    axes.set_xticks(range(len(columns)), [words(f"column_tick.{name}") for name in columns], fontsize=8)
    axes.set_xlim(-0.6, len(columns) - 0.4)
    axes.xaxis.tick_top()
    draw_grid(axes, "y")


COLUMNS = (
    "then_verdict", "then_first", "then_rest", "then_time", "now_verdict", "now_first", "now_rest", "now_time",
)  # fmt: skip
"""Columns of the table of parts. Each engine (``then``, ``now``) has its verdict, then three columns of measurements.

These are the measurements at the first search limit, at the other limits, and at equal time.
"""


def rows_of_column(result: PartResult, column: str) -> list[CellRow]:
    """The rows of the part's measurements in ``column``, which is a column of ``COLUMNS`` without verdicts."""
    engine, _, which = column.partition("_")
    own = [one for one in result.cells if one.cell.engine == engine]
    at_nodes, at_time = [one for one in own if not one.cell.is_time], [one for one in own if one.cell.is_time]
    chosen = {"first": at_nodes[:1], "rest": at_nodes[1:], "time": at_time}[which]
    return [one.row for one in chosen]


def _mark(axes: Axes, column: float, place: int, verdict: str, size: float) -> None:
    color, marker = MARKS[verdict]
    face = GROUND if verdict == OPEN else color
    axes.plot([column], [place], marker, color=color, markerfacecolor=face, markersize=size)


def _explain(
    figure: Figure, verdicts: Sequence[str], words: Catalogue, *, has_margin: bool = False, has_threshold: bool = False
) -> None:
    """Draw the legend above the figure: verdicts, the equivalence band and the threshold."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    others: list[Any] = []
    if has_margin:
        others.append(Patch(color=MARGIN_COLOR, alpha=MARGIN_ALPHA, linewidth=0, label=words("chart.margin")))
    if has_threshold:
        others.append(Line2D([], [], linestyle="none", color=THRESHOLD_COLOR, marker="|", markersize=9,
                             markeredgewidth=1.8, label=words("chart.threshold")))  # fmt: skip
    marks = {words(f"outcome.{one}"): (*MARKS[one], one == OPEN) for one in verdicts}
    explain_marks(figure, marks, others, MOST_WITH_THRESHOLD if has_threshold else MOST_EXPLAINED)
