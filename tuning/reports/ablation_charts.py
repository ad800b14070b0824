"""The figures of ablations and claims, drawn by matplotlib without a display.

Every function takes rows and the words of the figure (``study_charts.chart_words``) and returns a figure; none writes a
file. matplotlib is imported inside them only.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from arena.figures.standings import signed
from arena.reports.charts import GRID, GROUND, INK, LOSS, MUTED, SERIES, WIN
from engine.language import Catalogue
from tuning.ablation.verdicts import DIFFERENT, EQUIVALENT
from tuning.reports.study_charts import MAX_SHOWN_ELO, RATIO_TICKS, empty_figure, unit_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from tuning.ablation.depth_cost import DepthRow
    from tuning.ablation.levels import Level
    from tuning.ablation.rows import AblationRow, CellRow
    from tuning.claims.run import MeasureRow

SAME = SERIES[2]
"""Colour of what was found equivalent."""
HEAT_LIMIT_ELO = 60.0
LABEL_WIDTH = 36
DEPTH_STYLES = ("o-", "s--", "^:", "D-.")


def wrapped(label: str) -> str:
    """A label on two lines if it is long: what comparisons differ in often comes last."""
    lines = textwrap.wrap(label, LABEL_WIDTH)
    return "\n".join(lines[:2])


def forest_chart(rows: Sequence[AblationRow], words: Catalogue, margin: float = 0.0) -> Figure:
    """Elo of every comparison with both of its intervals, and beside it what the same depth costs.

    ``margin`` (Elo) is the width of the band that counts as nothing.
    """
    with_nodes = any(row.nodes_ratio is not None for row in rows)
    wide = (3, 2) if with_nodes else (1,)
    figure, grid = empty_figure(1.0 + 0.3 * (len(rows) + 0.7 * _groups(rows)), 1, len(wide), wide)
    places = _layout(rows)
    axes: Axes = grid[0, 0]
    axes.axvline(0, color=MUTED, linewidth=0.9)
    if margin:
        axes.axvspan(-margin, margin, color=SAME, alpha=0.12, linewidth=0)
    limit = _shown_limit(rows)
    for place, row in zip(places, rows, strict=True):
        _draw_interval(axes, row, place, limit)
    axes.set_yticks(places, [wrapped(row.label) for row in rows], fontsize=9)
    axes.set_ylim(max(places) + 0.7, min(places) - 0.7)
    low, high = min(row.elo_low for row in rows), max(row.elo_high for row in rows)
    axes.set_xlim(max(min(low, 0.0), -limit) - 0.05 * limit, min(max(high, 0.0), limit) + 0.05 * limit)
    axes.set_xlabel(words("chart.elo_difference"))
    axes.grid(axis="x", color=GRID, linewidth=0.8)
    if with_nodes:
        _draw_nodes(grid[0, 1], rows, places, words)
    return figure


def _shown_limit(rows: Sequence[AblationRow]) -> float:
    """Elo up to which intervals are drawn to scale: a few very weak variants must not flatten all others."""
    reaches = sorted(max(abs(row.elo_low), abs(row.elo_high)) for row in rows)
    typical = reaches[(2 * len(reaches)) // 3]
    return min(reaches[-1], 3 * typical, MAX_SHOWN_ELO) if len(rows) > 2 else min(reaches[-1], MAX_SHOWN_ELO)


def _draw_interval(axes: Axes, row: AblationRow, place: float, limit: float) -> None:
    """Point and line; an arrow with the number where the point lies beyond what is drawn to scale."""
    color = verdict_color(row.verdict, row.elo)
    if abs(row.elo) > limit:
        edge = math.copysign(limit, row.elo)
        axes.plot([edge], [place], "<" if row.elo < 0 else ">", color=color, markersize=7)
        axes.annotate(
            f"{signed(row.elo, 0)}", (edge, place), xytext=(9 if row.elo < 0 else -9, 0), textcoords="offset points",
            ha="left" if row.elo < 0 else "right", va="center", color=color, fontsize=9,
        )  # fmt: skip
        return
    if row.verdict:
        wide = max(row.simultaneous_low, -1.5 * limit), min(row.simultaneous_high, 1.5 * limit)
        axes.plot(wide, [place, place], color=color, linewidth=0.9)
    low, high = max(row.elo_low, -limit), min(row.elo_high, limit)
    axes.plot([low, high], [place, place], color=color, linewidth=2.2, solid_capstyle="round")
    axes.plot([row.elo], [place], "o", color=color, markersize=5, markeredgecolor=GROUND, markeredgewidth=0.7)


def verdict_color(verdict: str, elo: float) -> str:
    """The colour of a verdict: found better, worse, or equivalent; muted while open."""
    if verdict in DIFFERENT:
        return WIN if elo > 0 else SERIES[1]
    return SAME if verdict == EQUIVALENT else MUTED


def _draw_nodes(axes: Axes, rows: Sequence[AblationRow], places: Sequence[float], words: Catalogue) -> None:
    axes.axvline(1, color=MUTED, linewidth=0.9)
    seen = [1.0]
    for place, row in zip(places, rows, strict=True):
        if row.nodes_ratio is None or row.nodes_ratio_low is None or row.nodes_ratio_high is None:
            continue
        if math.isfinite(row.nodes_ratio_high):
            axes.plot([row.nodes_ratio_low, row.nodes_ratio_high], [place, place], color=INK, linewidth=1.6)
            seen += [row.nodes_ratio_low, row.nodes_ratio_high]
        axes.plot([row.nodes_ratio], [place], "s", color=INK, markersize=4)
        seen.append(row.nodes_ratio)
    _mark_ratios(axes, seen, max_ticks=3)
    axes.set_xlabel(words("chart.nodes_to_depth", depth=rows[0].depth))
    axes.grid(axis="x", color=GRID, linewidth=0.8)


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


def _groups(rows: Sequence[AblationRow]) -> int:
    return len({row.group for row in rows})


@dataclass(frozen=True)
class Curve:
    """Levels along one integer parameter, each against the same reference."""

    title: str
    reference: Level
    """At which the curve is 0."""
    points: tuple[tuple[Level, AblationRow], ...]


def curves_chart(curves: Sequence[Curve], words: Catalogue) -> Figure:
    """Elo along each parameter, with its 95 % intervals."""
    columns = min(2, len(curves))
    figure, grid = empty_figure(0.7 + 2.6 * math.ceil(len(curves) / columns), math.ceil(len(curves) / columns), columns)
    for place, axes in enumerate(grid.flat):
        if place >= len(curves):
            axes.set_visible(False)
            continue
        _draw_curve(axes, curves[place], words)
    for axes in grid[:, 0]:
        axes.set_ylabel(words("chart.elo_against_reference"))
    return figure


def _draw_curve(axes: Axes, curve: Curve, words: Catalogue) -> None:
    """Values as a line with a band; what is switched off stands apart, on the left of all values."""
    reference = curve.reference
    levels = [*(level for level, _ in curve.points), curve.reference]
    found = [*((one.elo, one.elo_low, one.elo_high) for _, one in curve.points), (0.0, 0.0, 0.0)]
    places = level_places(levels, reference.scale == "log")
    shown = np.column_stack([places, np.clip(found, -MAX_SHOWN_ELO, MAX_SHOWN_ELO)])
    is_off = np.array([level.value is None for level in levels])
    line = shown[~is_off]
    values, elo, low, high = line[np.argsort(line[:, 0])].T
    axes.axhline(0, color=MUTED, linewidth=0.9)
    axes.fill_between(values, low, high, color=WIN, alpha=0.18, linewidth=0)
    axes.plot(values, elo, "o-", color=WIN, markersize=5, linewidth=1.6)
    for place, worth, *interval in shown[is_off]:
        axes.plot([place, values[0]], [worth, elo[0]], ":", color=WIN, linewidth=1.2)
        axes.plot([place, place], interval, color=LOSS, linewidth=2.2, solid_capstyle="round")
        axes.plot([place], [worth], "s", color=LOSS, markersize=5)
    axes.plot([places[-1]], [0], "D", color=GROUND, markeredgecolor=WIN, markersize=7)
    name, unit = reference.parameter, unit_text(reference.unit, words)
    axes.set_xlabel(words("chart.parameter_with_unit", parameter=name, unit=unit) if unit else name)
    if reference.scale == "log":
        axes.set_xscale("log")
        axes.minorticks_off()
    axes.set_xticks(places, [level.tick for level in levels], fontsize=9)
    if curve.title:
        axes.set_title(curve.title, fontsize=10, loc="left")
    axes.tick_params(labelleft=True)
    axes.grid(axis="y", color=GRID, linewidth=0.8)


def level_places(levels: Sequence[Level], logarithmic: bool) -> list[float]:
    """Where levels lie on the axis: off is one smallest step, or factor, below the least."""
    values = sorted({float(level.value) for level in levels if level.value is not None})
    if logarithmic:
        off = values[0] / min((above / below for below, above in pairwise(values)), default=2.0)
    else:
        off = values[0] - min((above - below for below, above in pairwise(values)), default=1.0)
    return [off if level.value is None else float(level.value) for level in levels]


def interactions_chart(squares: Sequence[Sequence[CellRow]], words: Catalogue) -> Figure:
    """For every 2 x 2 factorial the strength of its four combinations: parallel lines mean no interaction."""
    columns = min(2, len(squares))
    figure, grid = empty_figure(
        0.6 + 2.7 * math.ceil(len(squares) / columns), math.ceil(len(squares) / columns), columns
    )
    for place, axes in enumerate(grid.flat):
        if place >= len(squares):
            axes.set_visible(False)
            continue
        cells = {(cell.first_level, cell.second_level): cell for cell in squares[place]}
        low = squares[place][0]
        for level, color, style in ((-1, LOSS, "s--"), (1, WIN, "o-")):
            line = [cells[level, other] for other in (-1, 1)]
            shift = 0.02 * level
            axes.errorbar(
                [shift, 1 + shift], [cell.elo for cell in line], [cell.elo_error for cell in line], fmt=style,
                color=color, markersize=6, linewidth=1.7, capsize=3, label=line[0].first_text,
            )  # fmt: skip
        axes.axhline(0, color=MUTED, linewidth=0.9)
        axes.set_xlim(-0.35, 1.35)
        axes.set_xticks([0, 1], [cells[-1, level].second_text for level in (-1, 1)])
        axes.tick_params(axis="x", labelcolor=INK, labelleft=True)
        axes.set_title(low.factorial, fontsize=10, loc="left")
        axes.margins(y=0.3)
        axes.legend(frameon=False, fontsize=9, loc="upper right", ncols=2, borderpad=0)
        axes.grid(axis="y", color=GRID, linewidth=0.8)
    for axes in grid[:, 0]:
        axes.set_ylabel(words("chart.elo_above_low"))
    return figure


def heat_chart(features: Sequence[str], worth: Any, known: Any, words: Catalogue) -> Figure:
    """Heat map of pairs: by how many Elo the effect of one technique grows with the other.

    ``worth`` has shape (features, features), symmetric; ``known`` says which verdicts have fallen.
    """
    from matplotlib.colors import LinearSegmentedColormap

    figure, grid = empty_figure(1.5 + 0.5 * len(features))
    axes: Axes = grid[0, 0]
    shown = np.ma.masked_invalid(worth)
    limit = max(10.0, min(HEAT_LIMIT_ELO, float(np.abs(shown).max()) if shown.count() else 10.0))
    colors = LinearSegmentedColormap.from_list("worth", [SERIES[1], "#f6f3ee", WIN]).with_extremes(bad=GROUND)
    axes.imshow(shown, cmap=colors, vmin=-limit, vmax=limit, aspect="auto")
    for (row, column), value in np.ndenumerate(worth):
        if not np.isnan(value):
            weight = "bold" if known[row, column] else "normal"
            axes.text(column, row, signed(float(value), 0), ha="center", va="center", fontsize=10, fontweight=weight)
    axes.set_xticks(range(len(features)), features, rotation=30 if len(features) > 3 else 0,
                    ha="right" if len(features) > 3 else "center")  # fmt: skip
    axes.set_yticks(range(len(features)), features)
    axes.tick_params(axis="x", labelcolor=INK)
    axes.set_xlabel(words("chart.interaction"))
    axes.spines["bottom"].set_visible(False)
    return figure


def depths_chart(rows: Sequence[DepthRow], words: Catalogue) -> Figure:
    """Nodes to the end of each depth on a logarithmic scale, a line for each setting."""
    from matplotlib.ticker import MaxNLocator

    figure, grid = empty_figure(3.3)
    axes: Axes = grid[0, 0]
    settings = list(dict.fromkeys(row.setting for row in rows))
    for place, setting in enumerate(settings):
        own = [row for row in rows if row.setting == setting]
        axes.plot(
            [row.depth for row in own], [row.nodes for row in own], DEPTH_STYLES[place % len(DEPTH_STYLES)],
            color=SERIES[place % len(SERIES)], markersize=4.5, linewidth=1.7,
            label=wrapped(setting),
        )  # fmt: skip
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}".replace(",", "\N{NO-BREAK SPACE}"))
    axes.yaxis.set_minor_formatter("")
    axes.set_xlabel(words("chart.depth"))
    axes.set_ylabel(words("chart.nodes"))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(axis="y", color=GRID, linewidth=0.8)
    figure.legend(loc="outside upper center", ncols=2, frameon=False, fontsize=9, handlelength=2)
    return figure


def measures_chart(rows: Sequence[MeasureRow], words: Catalogue) -> Figure:
    """What is measured without games, all of one unit: points with their 95 % intervals, and what is compared with."""
    figure, grid = empty_figure(1.1 + 0.34 * len(rows))
    axes: Axes = grid[0, 0]
    is_ratio = rows[0].kind == "nodes"
    finite = [value for row in rows for value in (row.effect, row.low, row.high) if math.isfinite(value)]
    axes.axvline(1 if is_ratio else 0, color=MUTED, linewidth=0.9)
    for place, row in enumerate(rows):
        color = {"confirmed": WIN, "refuted": SERIES[1]}.get(row.outcome, MUTED if row.expect else INK)
        high = row.high if math.isfinite(row.high) else max(finite)
        low = row.low if math.isfinite(row.low) else min(finite)
        axes.plot([low, high], [place, place], color=color, linewidth=2.2, solid_capstyle="round")
        axes.plot([row.effect], [place], "o", color=color, markersize=6, markeredgecolor=GROUND)
        if row.threshold:
            axes.plot([row.threshold] * 2, [place - 0.35, place + 0.35], color=SERIES[4], linewidth=2)
    axes.set_yticks(range(len(rows)), [wrapped(row.label) for row in rows], fontsize=9)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    if is_ratio:
        _mark_ratios(axes, [value for value in finite if value > 0])
    units = {"×": "chart.node_ratio" if is_ratio else "chart.ratio", "%": "chart.percent",
             "points": "chart.percentage_points"}  # fmt: skip
    axes.set_xlabel(words(units[rows[0].unit]))
    axes.grid(axis="x", color=GRID, linewidth=0.8)
    return figure


def _mark_ratios(axes: Axes, values: Sequence[float], max_ticks: int = 7) -> None:
    low, high = min([*values, 1.0]), max([*values, 1.0])
    axes.set_xscale("log")
    fine = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1, 1.05, 1.1, 1.2, 1.3, 1.5, 1.75, 2)
    ticks = [tick for tick in (fine if high / low < 3 else RATIO_TICKS) if low / 1.1 < tick < high * 1.1]
    ticks = spaced_ticks(ticks, (high / low * 1.08**2) ** (1 / (max_ticks + 1)))
    axes.set_xticks(ticks, [f"{tick:g}×" for tick in ticks])
    axes.minorticks_off()
    axes.set_xlim(low / 1.08, high * 1.08)


def spaced_ticks(ticks: Sequence[float], factor: float) -> list[float]:
    """Of rising ticks around 1, which stays, those that lie apart by at least the factor."""
    kept = [1.0]
    for tick in sorted(set(ticks) - {1.0}, key=lambda tick: abs(math.log(tick))):
        if all(max(tick / other, other / tick) >= factor for other in kept):
            kept.append(tick)
    return sorted(kept)
