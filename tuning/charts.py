"""The figures of studies and ablations, drawn by matplotlib without a display.

Every function takes results and returns a figure; none writes a file. matplotlib is imported inside them only. Colours
are those of ``arena.charts``, so that the page can replace them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from arena.charts import GRID, GROUND, INK, LOSS, MUTED, SERIES, WIDTH_INCHES, WIN
from arena.standings import signed
from engine.parameters import BY_NAME, format_value
from tuning.recommend import Observation, Recommendation, noisy_elo
from tuning.space import Dimension, Space

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from tuning.ablation import AblationRow
    from tuning.study import Tuned

SLICES_A_ROW = 3
SLICE_POINTS = 60
RATIO_TICKS = (0.01, 0.03, 0.1, 0.25, 0.5, 1, 2, 4, 10, 30, 100, 1000)
WIDEST_ELO = 400.0
"""Elo: intervals are cut off here, so that a hopeless variant does not flatten all others."""


def _figure(
    height_inches: float, rows: int = 1, columns: int = 1, widths: Sequence[float] | None = None
) -> tuple[Figure, Any]:
    """An empty figure in the report's style and its axes, which share their vertical scale."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    style = {
        "svg.fonttype": "none", "font.family": ["DejaVu Sans"], "font.size": 10, "text.color": INK,
        "text.parse_math": False, "axes.labelcolor": MUTED, "axes.edgecolor": MUTED, "xtick.color": MUTED,
        "ytick.color": MUTED, "ytick.labelcolor": INK, "axes.unicode_minus": True,
    }  # fmt: skip
    matplotlib.rcParams.update(style)  # type: ignore[arg-type]
    figure = Figure(figsize=(WIDTH_INCHES, height_inches), layout="constrained", facecolor=GROUND)
    FigureCanvasAgg(figure)
    grid = figure.subplots(rows, columns, squeeze=False, sharey=True, width_ratios=widths)
    for axes in grid.flat:
        axes.set_facecolor("none")
        for side in ("top", "right", "left"):
            axes.spines[side].set_visible(False)
        axes.tick_params(length=0)
        axes.set_axisbelow(True)
    return figure, grid


# Studies


def history_chart(tuned: Tuned, predicted: Sequence[float | None]) -> Figure:
    """What every trial scored, with its 95 % interval, and what the model makes of it now."""
    figure, grid = _figure(3.7)
    axes: Axes = grid[0, 0]
    trials = [trial for trial in tuned.trials if trial.counts.pairs]
    numbers = [trial.number + 1 for trial in trials]
    estimates = [trial.counts.estimate() for trial in trials]
    axes.axhline(0, color=MUTED, linewidth=0.9)
    for number, estimate in zip(numbers, estimates, strict=True):
        low, high = max(estimate.elo_low, -WIDEST_ELO), min(estimate.elo_high, WIDEST_ELO)
        axes.plot([number, number], [low, high], color=GRID, linewidth=1.4)
    elo = [min(max(estimate.elo, -WIDEST_ELO), WIDEST_ELO) for estimate in estimates]
    axes.plot(numbers, elo, "o", color=LOSS, markersize=4.5, label="observed ± 95 %")
    model = [predicted[trial.number] for trial in trials]
    axes.plot(numbers, [math.nan if value is None else value for value in model], "_", color=WIN, markersize=9,
              markeredgewidth=2.2, label="expected by the model")  # fmt: skip
    if tuned.verdict is not None:
        verdict = tuned.verdict
        place = tuned.spec.trials + max(2.0, 0.04 * tuned.spec.trials)
        axes.plot([place, place], [verdict.low, verdict.high], color=WIN, linewidth=3, solid_capstyle="round")
        axes.plot([place], [verdict.estimate.elo], "D", color=WIN, markersize=7, markeredgecolor=GROUND,
                  label="validated")  # fmt: skip
    axes.set_xlabel("trial")
    axes.set_ylabel(f"Elo against {tuned.spec.conditions.base_name}")
    axes.grid(axis="y", color=GRID, linewidth=0.8)
    figure.legend(loc="outside upper center", ncols=3, frameon=False, fontsize=9, handlelength=1.2)
    return figure


def slices_chart(space: Space, found: Recommendation, observations: Sequence[Observation]) -> Figure:
    """The model along each dimension through the recommendation, over the trials' results."""
    columns = min(SLICES_A_ROW, len(space.dimensions))
    rows = math.ceil(len(space.dimensions) / columns)
    figure, grid = _figure(0.5 + 2.2 * rows, rows, columns)
    measured = [noisy_elo(observation.counts)[0] for observation in observations]
    for place, axes in enumerate(grid.flat):
        if place >= len(space.dimensions):
            axes.set_visible(False)
            continue
        dimension = space.dimensions[place]
        values = _values_along(dimension)
        mean, deviation = found.model.predict([found.values | {dimension.name: value} for value in values])
        places = [_place(dimension, value) for value in values]
        axes.plot([_place(dimension, one.values[dimension.name]) for one in observations], measured, "o", color=LOSS,
                  markersize=3, alpha=0.55)  # fmt: skip
        if dimension.choices:
            axes.errorbar(places, mean, 1.96 * deviation, fmt="_", color=WIN, markersize=14, markeredgewidth=2.2)
        else:
            axes.fill_between(places, mean - 1.96 * deviation, mean + 1.96 * deviation, color=WIN, alpha=0.18, lw=0)
            axes.plot(places, mean, color=WIN, linewidth=1.8)
        _mark_axis(axes, space, dimension, found)
    low = min([*measured, 0.0])
    grid[0, 0].set_ylim(max(low, -WIDEST_ELO) - 10, max([*measured, 0.0]) + 15)
    for axes in grid[:, 0]:
        axes.set_ylabel("Elo")
    return figure


def _values_along(dimension: Dimension) -> list[Any]:
    if dimension.choices:
        return list(dimension.choices)
    step = max(1, (dimension.high - dimension.low) // SLICE_POINTS)
    return [*range(dimension.low, dimension.high, step), dimension.high]


def _place(dimension: Dimension, value: Any) -> float:
    return dimension.coordinate(value) if dimension.choices else float(value)


def _mark_axis(axes: Axes, space: Space, dimension: Dimension, found: Recommendation) -> None:
    """Name the axis and mark the base's and the recommended value on it."""
    unit = BY_NAME[dimension.name].unit
    axes.set_xlabel(f"{dimension.name}{f' ({unit})' if unit else ''}", fontsize=9)
    axes.axhline(0, color=MUTED, linewidth=0.8)
    axes.axvline(_place(dimension, space.default[dimension.name]), color=MUTED, linewidth=1, linestyle=":")
    axes.axvline(_place(dimension, found.values[dimension.name]), color=WIN, linewidth=1)
    if dimension.choices:
        axes.set_xticks(range(len(dimension.choices)), [format_value(value) for value in dimension.choices], fontsize=8)
        axes.margins(x=0.2)
    elif dimension.scale == "log":
        axes.set_xscale("log")
        round_numbers = [digit * 10**power for power in range(7) for digit in (1, 2, 5)]
        ticks = [tick for tick in round_numbers if dimension.low <= tick <= dimension.high]
        axes.set_xticks(ticks, [str(tick) for tick in ticks], fontsize=9)
        axes.minorticks_off()
    else:
        from matplotlib.ticker import MaxNLocator

        axes.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    axes.grid(axis="y", color=GRID, linewidth=0.8)


# Ablations


def forest_chart(rows: Sequence[AblationRow]) -> Figure:
    """Elo of every comparison with its 95 % interval, and beside it what the same depth costs."""
    with_nodes = any(row.nodes_ratio is not None for row in rows)
    wide = (3, 2) if with_nodes else (1,)
    figure, grid = _figure(1.0 + 0.3 * (len(rows) + 0.7 * _groups(rows)), 1, len(wide), wide)
    places = _layout(rows)
    axes: Axes = grid[0, 0]
    axes.axvline(0, color=MUTED, linewidth=0.9)
    limit = _shown_limit(rows)
    for place, row in zip(places, rows, strict=True):
        _draw_interval(axes, row, place, limit)
    axes.set_yticks(places, [row.label if len(row.label) <= 40 else row.label[:39] + "…" for row in rows])
    axes.set_ylim(max(places) + 0.7, min(places) - 0.7)
    low, high = min(row.elo_low for row in rows), max(row.elo_high for row in rows)
    axes.set_xlim(max(min(low, 0.0), -limit) - 0.05 * limit, min(max(high, 0.0), limit) + 0.05 * limit)
    axes.set_xlabel("Elo, variant minus reference")
    axes.grid(axis="x", color=GRID, linewidth=0.8)
    if with_nodes:
        _draw_nodes(grid[0, 1], rows, places)
    return figure


def _shown_limit(rows: Sequence[AblationRow]) -> float:
    """Elo up to which intervals are drawn to scale: a few hopeless variants must not flatten all others."""
    reaches = sorted(max(abs(row.elo_low), abs(row.elo_high)) for row in rows)
    typical = reaches[(2 * len(reaches)) // 3]
    return min(reaches[-1], 3 * typical, WIDEST_ELO) if len(rows) > 2 else min(reaches[-1], WIDEST_ELO)


def _draw_interval(axes: Axes, row: AblationRow, place: float, limit: float) -> None:
    """Point and line; an arrow with the number where the point lies beyond what is drawn to scale."""
    settled = row.elo_low > 0 or row.elo_high < 0
    color = (WIN if row.elo > 0 else SERIES[1]) if settled else MUTED
    if abs(row.elo) > limit:
        edge = math.copysign(limit, row.elo)
        axes.plot([edge], [place], "<" if row.elo < 0 else ">", color=color, markersize=7)
        axes.annotate(
            f"{signed(row.elo, 0)}", (edge, place), xytext=(9 if row.elo < 0 else -9, 0), textcoords="offset points",
            ha="left" if row.elo < 0 else "right", va="center", color=color, fontsize=9,
        )  # fmt: skip
        return
    low, high = max(row.elo_low, -limit), min(row.elo_high, limit)
    axes.plot([low, high], [place, place], color=color, linewidth=2.2, solid_capstyle="round")
    axes.plot([row.elo], [place], "o", color=color, markersize=5, markeredgecolor=GROUND, markeredgewidth=0.7)


def _draw_nodes(axes: Axes, rows: Sequence[AblationRow], places: Sequence[float]) -> None:
    axes.axvline(1, color=MUTED, linewidth=0.9)
    axes.set_xscale("log")
    seen = [1.0]
    for place, row in zip(places, rows, strict=True):
        if row.nodes_ratio is None or row.nodes_ratio_low is None or row.nodes_ratio_high is None:
            continue
        if math.isfinite(row.nodes_ratio_high):
            axes.plot([row.nodes_ratio_low, row.nodes_ratio_high], [place, place], color=INK, linewidth=1.6)
            seen += [row.nodes_ratio_low, row.nodes_ratio_high]
        axes.plot([row.nodes_ratio], [place], "s", color=INK, markersize=4)
        seen.append(row.nodes_ratio)
    ticks = [
        tick for tick in (0.01, 0.1, 0.25, 0.5, 1, 2, 4, 10, 30, 100, 1000) if min(seen) / 2 < tick < max(seen) * 2
    ]
    axes.set_xticks(ticks, [f"{tick:g}×" for tick in ticks])
    axes.minorticks_off()
    axes.set_xlim(min(seen) / 1.2, max(seen) * 1.2)
    axes.set_xlabel(f"nodes to depth {rows[0].depth}, ratio")
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
