"""The figures of studies, drawn by matplotlib without a display.

Every function takes results and returns a figure; none writes a file. matplotlib is imported inside them only. Colours
are those of ``arena.charts``, so that the page can replace them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from arena.charts import GRID, GROUND, INK, LOSS, MUTED, SERIES, WIDTH_INCHES, WIN
from engine.parameters import BY_NAME, format_value
from tuning.playoff import INTERVAL_90
from tuning.space import Dimension

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from tuning.study import Tuned

SLICES_A_ROW = 3
SLICE_POINTS = 60
DENSITY_BARS = 26
RATIO_TICKS = (0.01, 0.03, 0.1, 0.25, 0.5, 1, 2, 4, 10, 30, 100, 1000)
WIDEST_ELO = 400.0
"""Elo: intervals are cut off here, so that a hopeless variant does not flatten all others."""


def empty_figure(
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


def convergence_chart(tuned: Tuned) -> Figure:
    """What every round's set is worth by the model of all games, with 90 % band, and the estimates of the time."""
    assert tuned.model is not None
    assert tuned.decision is not None
    figure, grid = empty_figure(3.7)
    axes: Axes = grid[0, 0]
    games = [2 * end.pairs for end in tuned.rounds]
    mean, deviation = tuned.model.gain([end.values for end in tuned.rounds])
    mean, deviation = np.clip(mean, -WIDEST_ELO, WIDEST_ELO), np.minimum(deviation, WIDEST_ELO)
    axes.axhline(0, color=MUTED, linewidth=0.9)
    if tuned.spec.sampler == "duel":
        band = INTERVAL_90 * deviation
        axes.fill_between(games, mean - band, mean + band, color=WIN, alpha=0.18, linewidth=0)
        axes.plot(games, mean, color=WIN, linewidth=1.8, label="by the model of all games ± 90 %")
        observed = "by the model of the time"
    else:
        axes.plot(games, mean, "_", color=WIN, markersize=9, markeredgewidth=2.2, label="by the model of all games")
        observed = "observed"
    elo = [min(max(end.elo, -WIDEST_ELO), WIDEST_ELO) for end in tuned.rounds]
    axes.plot(games, elo, "o", color=LOSS, markersize=3.5, alpha=0.8, label=observed)
    place = games[-1] * 1.04
    low, high = tuned.decision.interval()
    shown = [(place, tuned.decision.gain, low, high, INK, "recommended ± 90 %")]
    for number, verdict in enumerate(tuned.verdicts):
        estimate = verdict.estimate
        shown.append(
            (
                games[-1] * (1.08 + 0.04 * number), estimate.elo, estimate.elo_low, estimate.elo_high,
                SERIES[number % len(SERIES)], f"validated at {verdict.limits} ± 95 %",
            )
        )  # fmt: skip
    for where, value, below, above, color, label in shown:
        below, above = max(below, -WIDEST_ELO), min(above, WIDEST_ELO)
        axes.plot([where, where], [below, above], color=color, linewidth=2.4, solid_capstyle="round")
        axes.plot([where], [value], "D", color=color, markersize=6, markeredgecolor=GROUND, label=label)
    axes.set_xlabel("games")
    axes.set_ylabel(f"Elo against {tuned.spec.base_name}")
    axes.grid(axis="y", color=GRID, linewidth=0.8)
    figure.legend(loc="outside upper center", ncols=3, frameon=False, fontsize=9, handlelength=1.2)
    return figure


def slices_chart(tuned: Tuned) -> Figure:
    """The model along each dimension through the recommendation, and where games were played."""
    assert tuned.model is not None
    assert tuned.decision is not None
    assert tuned.evidence is not None
    space, best = tuned.spec.space, tuned.decision.values
    columns = min(SLICES_A_ROW, len(space.dimensions))
    rows = math.ceil(len(space.dimensions) / columns)
    figure, grid = empty_figure(0.5 + 2.2 * rows, rows, columns)
    first, second, pairs, _ = tuned.evidence.arrays()
    sampled, weights = np.concatenate([first, second]), np.concatenate([pairs, pairs])
    lowest = 0.0
    for place, axes in enumerate(grid.flat):
        if place >= len(space.dimensions):
            axes.set_visible(False)
            continue
        dimension = space.dimensions[place]
        values = _values_along(dimension)
        sets = [(*best[:place], value, *best[place + 1 :]) for value in values]
        mean, deviation = tuned.model.gain(sets, best)
        places = [_place(dimension, value) for value in values]
        band = INTERVAL_90 * deviation
        if dimension.choices:
            axes.errorbar(places, mean, band, fmt="_", color=WIN, markersize=14, markeredgewidth=2.2)
            lowest = min(lowest, float(mean.min()))
        else:
            axes.fill_between(places, mean - band, mean + band, color=WIN, alpha=0.18, lw=0)
            axes.plot(places, mean, color=WIN, linewidth=1.8)
            inside = (np.array([dimension.coordinate(value) for value in values]) >= sampled[:, place].min()) & (
                np.array([dimension.coordinate(value) for value in values]) <= sampled[:, place].max()
            )
            lowest = min(lowest, float(mean[inside].min(initial=0.0)))
        _draw_density(axes, dimension, sampled[:, place], weights)
        _mark_axis(axes, tuned, dimension)
    grid[0, 0].set_ylim(max(1.25 * lowest, -WIDEST_ELO) - 10, 20)
    for axes in grid[:, 0]:
        axes.set_ylabel("Elo")
    return figure


def _draw_density(axes: Axes, dimension: Dimension, sampled: Any, weights: Any) -> None:
    """How many pairs were played about each value, as bars from the lower edge, the highest a quarter of the height."""
    if dimension.choices:
        edges = np.arange(len(dimension.choices) + 1) - 0.5
    else:
        edges = np.linspace(-0.02, 1.02, DENSITY_BARS + 1)
    heights, _ = np.histogram(sampled, edges, weights=weights)
    if dimension.choices:
        bounds = edges
    elif dimension.scale == "log":
        bounds = dimension.low * (dimension.high / dimension.low) ** edges
    else:
        bounds = dimension.low + edges * (dimension.high - dimension.low)
    axes.bar(
        bounds[:-1], 0.25 * heights / max(1.0, heights.max()), np.diff(bounds), align="edge", color=LOSS, alpha=0.35,
        transform=axes.get_xaxis_transform(),
    )  # fmt: skip


def _values_along(dimension: Dimension) -> list[Any]:
    if dimension.choices:
        return list(dimension.choices)
    step = max(1, (dimension.high - dimension.low) // SLICE_POINTS)
    return [*range(dimension.low, dimension.high, step), dimension.high]


def _place(dimension: Dimension, value: Any) -> float:
    return dimension.coordinate(value) if dimension.choices else float(value)


def _mark_axis(axes: Axes, tuned: Tuned, dimension: Dimension) -> None:
    """Name the axis and mark the base's and the recommended value on it."""
    unit = "" if tuned.spec.engine is not None else BY_NAME[dimension.name].unit
    axes.set_xlabel(f"{dimension.name}{f' ({unit})' if unit else ''}", fontsize=9)
    axes.axhline(0, color=MUTED, linewidth=0.8)
    axes.axvline(_place(dimension, tuned.spec.space.default[dimension.name]), color=MUTED, linewidth=1, linestyle=":")
    axes.axvline(_place(dimension, tuned.recommended[dimension.name]), color=WIN, linewidth=1)
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
