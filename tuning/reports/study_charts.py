"""The figures of studies, drawn by matplotlib without a display.

Every function takes results and the words of the figure (``chart_words``) and returns a figure; none writes a file.
matplotlib is imported inside them only. Colours are those of ``arena.reports.charts``, so that the page can replace
them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from arena.figures.standings import clipped
from arena.reports.charts import GRID, GROUND, INK, LOSS, MUTED, SERIES, WIDTH_INCHES, WIN
from arena.reports.fonts import chart_language, font_families
from engine.language import Catalogue
from engine.settings.parameters import BY_NAME
from tuning.conditions import value_text
from tuning.study.playoff import INTERVAL_90
from tuning.study.space import Dimension

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from tuning.study.run import StudyResult

SLICES_PER_ROW = 3
SLICE_POINTS = 60
DENSITY_BARS = 26
CONTOUR_LEVELS = (-200, -100, -50, -30, -20, -10, -5, -2)
"""Elo below the recommendation."""
CONTOUR_POINTS = 600
RATIO_TICKS = (0.01, 0.03, 0.1, 0.25, 0.5, 1, 2, 4, 10, 30, 100, 1000)
AXIS_NAME_WIDTH = 26
"""Columns of the base's name beside an axis: the caption has it whole."""
MAX_SHOWN_ELO = 400.0
"""Elo: intervals are cut off here, so that a very weak variant does not flatten all others."""


def chart_words(message: Catalogue) -> Catalogue:
    """What figures say in a report of that language, as far as this machine can draw it."""
    return Catalogue(message.package, chart_language(message.language))


def unit_text(unit: str, message: Catalogue) -> str:
    """A parameter's unit in the report's language; one that the catalogue lacks as the parameter has it."""
    key = f"unit.{unit.replace(' ', '_')}"
    return message(key) if key in message else unit


def empty_figure(
    height_inches: float,
    rows: int = 1,
    columns: int = 1,
    widths: Sequence[float] | None = None,
    *,
    share_scale: bool = True,
) -> tuple[Figure, Any]:
    """An empty figure in the report's style and its axes, which share their vertical scale unless told otherwise."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    style = {
        "svg.fonttype": "none", "font.family": font_families(), "font.size": 10, "text.color": INK,
        "text.parse_math": False, "axes.labelcolor": MUTED, "axes.edgecolor": MUTED, "xtick.color": MUTED,
        "ytick.color": MUTED, "ytick.labelcolor": INK, "axes.unicode_minus": True,
    }  # fmt: skip
    matplotlib.rcParams.update(style)  # type: ignore[arg-type]
    figure = Figure(figsize=(WIDTH_INCHES, height_inches), layout="constrained", facecolor=GROUND)
    FigureCanvasAgg(figure)
    grid = figure.subplots(rows, columns, squeeze=False, sharey=share_scale, width_ratios=widths)
    for axes in grid.flat:
        axes.set_facecolor("none")
        for side in ("top", "right", "left"):
            axes.spines[side].set_visible(False)
        axes.tick_params(length=0)
        axes.set_axisbelow(True)
    return figure, grid


# Studies


def convergence_chart(result: StudyResult, words: Catalogue) -> Figure:
    """What every round's set is worth by the model of all games, with 90 % band, and the estimates of the time."""
    assert result.model is not None
    assert result.decision is not None
    figure, grid = empty_figure(3.7)
    axes: Axes = grid[0, 0]
    games = [2 * end.pairs for end in result.rounds]
    mean, deviation = result.model.gain([end.values for end in result.rounds])
    mean, deviation = np.clip(mean, -MAX_SHOWN_ELO, MAX_SHOWN_ELO), np.minimum(deviation, MAX_SHOWN_ELO)
    axes.axhline(0, color=MUTED, linewidth=0.9)
    if result.spec.sampler == "duel":
        band = INTERVAL_90 * deviation
        axes.fill_between(games, mean - band, mean + band, color=WIN, alpha=0.18, linewidth=0)
        axes.plot(games, mean, color=WIN, linewidth=1.8, label=words("chart.by_all_games_band"))
        observed = words("chart.by_model_of_time")
    else:
        axes.plot(games, mean, "_", color=WIN, markersize=9, markeredgewidth=2.2, label=words("chart.by_all_games"))
        observed = words("chart.observed")
    elo = [min(max(end.elo, -MAX_SHOWN_ELO), MAX_SHOWN_ELO) for end in result.rounds]
    axes.plot(games, elo, "o", color=LOSS, markersize=3.5, alpha=0.8, label=observed)
    place = games[-1] * 1.04
    low, high = result.decision.interval()
    shown = [(place, result.decision.gain, low, high, INK, words("chart.recommended_interval"))]
    for number, verdict in enumerate(result.verdicts):
        shown.append(
            (
                games[-1] * (1.08 + 0.04 * number), verdict.elo, *verdict.interval,
                SERIES[number % len(SERIES)], words("chart.validated_interval", limit=verdict.limits),
            )
        )  # fmt: skip
    for where, value, below, above, color, label in shown:
        below, above = max(below, -MAX_SHOWN_ELO), min(above, MAX_SHOWN_ELO)
        axes.plot([where, where], [below, above], color=color, linewidth=2.4, solid_capstyle="round")
        axes.plot([where], [value], "D", color=color, markersize=6, markeredgecolor=GROUND, label=label)
    axes.set_xlabel(words("chart.games"))
    axes.set_ylabel(words("chart.elo_against_base", base=clipped(result.spec.base_name, AXIS_NAME_WIDTH)))
    axes.grid(axis="y", color=GRID, linewidth=0.8)
    figure.legend(loc="outside upper center", ncols=2, frameon=False, fontsize=9, handlelength=1.2)
    return figure


def slices_chart(result: StudyResult, words: Catalogue) -> Figure:
    """The model along each dimension through the recommendation, and where games were played."""
    assert result.model is not None
    assert result.decision is not None
    assert result.observations is not None
    space, best = result.spec.space, result.decision.values
    columns = min(SLICES_PER_ROW, len(space.dimensions))
    rows = math.ceil(len(space.dimensions) / columns)
    figure, grid = empty_figure(0.5 + 2.35 * rows, rows, columns)
    first, second, pairs, _ = result.observations.arrays()
    sampled, weights = np.concatenate([first, second]), np.concatenate([pairs, pairs])
    lowest = 0.0
    for place, axes in enumerate(grid.flat):
        if place >= len(space.dimensions):
            axes.set_visible(False)
            continue
        dimension = space.dimensions[place]
        values = _values_along(dimension)
        sets = [space.effective_values((*best[:place], value, *best[place + 1 :])) for value in values]
        mean, deviation = result.model.gain(sets, best)
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
        _mark_axis(axes, result, dimension, words)
    grid[0, 0].set_ylim(max(1.25 * lowest, -MAX_SHOWN_ELO) - 10, 20)
    for axes in grid[:, 0]:
        axes.set_ylabel(words("chart.elo"))
    return figure


def importance_chart(shares: Mapping[str, float], words: Catalogue) -> Figure:
    """How much of the model's variance each parameter accounts for."""
    figure, grid = empty_figure(0.8 + 0.28 * len(shares))
    axes: Axes = grid[0, 0]
    places = range(len(shares))
    axes.barh(places, [100 * share for share in shares.values()], 0.62, color=WIN)
    for place, share in zip(places, shares.values(), strict=True):
        axes.annotate(f"{100 * share:.0f} %", (100 * share, place), xytext=(4, 0), textcoords="offset points",
                      va="center", fontsize=9, color=INK)  # fmt: skip
    axes.set_yticks(places, list(shares))
    axes.invert_yaxis()
    axes.set_xlim(0, 112 * max([*shares.values(), 0.01]))
    axes.set_xlabel(words("chart.importance"))
    axes.grid(axis="x", color=GRID, linewidth=0.8)
    return figure


def contour_chart(result: StudyResult, names: Sequence[tuple[str, str]], words: Catalogue) -> Figure:
    """Expected Elo over pairs of parameters, the others as recommended, with the sets that were played."""
    assert result.model is not None
    assert result.observations is not None
    figure, grid = empty_figure(3.9, 1, len(names), share_scale=False)
    first, second, _, _ = result.observations.arrays()
    sampled = np.concatenate([first, second])
    for axes, (across, up) in zip(grid[0], names, strict=True):
        places = [result.spec.space.names.index(name) for name in (across, up)]
        dimensions = [result.spec.space.dimensions[place] for place in places]
        values = [_values_along(dimension) for dimension in dimensions]
        best = list(result.recommended.values())
        sets = []
        for upper in values[1]:
            for right in values[0]:
                one = list(best)
                one[places[0]], one[places[1]] = right, upper
                sets.append(tuple(one))
        elo = result.model.gain(sets, tuple(best))[0].reshape(len(values[1]), len(values[0]))
        levels = CONTOUR_LEVELS
        drawn = axes.contour(values[0], values[1], elo, levels=levels, colors=WIN, linewidths=1.1, linestyles="solid")
        axes.clabel(drawn, fmt=lambda level: f"{level:.0f}".replace("-", "\N{MINUS SIGN}"), fontsize=8, colors=INK)
        kept = sampled[:: max(1, len(sampled) // CONTOUR_POINTS)]
        points = [
            [_value_of(dimension, float(coordinate)) for coordinate in kept[:, place]]
            for place, dimension in zip(places, dimensions, strict=True)
        ]
        axes.plot(*points, "o", color=LOSS, markersize=2.2, alpha=0.35, zorder=1)
        base = result.spec.space.default
        axes.plot(
            [base[across]], [base[up]], "s", color=MUTED, markersize=7, markeredgecolor=GROUND,
            label=words("chart.base"),
        )  # fmt: skip
        axes.plot(
            [result.recommended[across]], [result.recommended[up]], "D", color=INK, markersize=7,
            markeredgecolor=GROUND, label=words("chart.recommended"),
        )  # fmt: skip
        _scale_axis(axes, "x", dimensions[0])
        _scale_axis(axes, "y", dimensions[1])
        axes.set_xlabel(across)
        axes.set_ylabel(up)
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=2, frameon=False, fontsize=9)
    return figure


def _value_of(dimension: Dimension, coordinate: float) -> float:
    """The place of a coordinate on the axis of values."""
    if dimension.scale == "log":
        return float(dimension.low * (dimension.high / dimension.low) ** coordinate)
    return dimension.low + coordinate * (dimension.high - dimension.low)


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


def _mark_axis(axes: Axes, result: StudyResult, dimension: Dimension, words: Catalogue) -> None:
    """Name the axis and mark the base's and the recommended value on it."""
    unit = "" if result.spec.engine is not None else unit_text(BY_NAME[dimension.name].unit, words)
    axes.set_xlabel(f"{dimension.name}\n{unit}", fontsize=9)
    axes.axhline(0, color=MUTED, linewidth=0.8)
    axes.axvline(_place(dimension, result.spec.space.default[dimension.name]), color=MUTED, linewidth=1, linestyle=":")
    axes.axvline(_place(dimension, result.recommended[dimension.name]), color=WIN, linewidth=1)
    if dimension.choices:
        axes.set_xticks(range(len(dimension.choices)), [value_text(value) for value in dimension.choices], fontsize=8)
        axes.margins(x=0.2)
    else:
        _scale_axis(axes, "x", dimension)
    axes.grid(axis="y", color=GRID, linewidth=0.8)


def _scale_axis(axes: Axes, way: Literal["x", "y"], dimension: Dimension) -> None:
    """Whole numbers along a range; a logarithmic axis by itself would have powers of ten, written as formulas."""
    from matplotlib.ticker import MaxNLocator

    axis = axes.xaxis if way == "x" else axes.yaxis
    if dimension.scale != "log":
        axis.set_major_locator(MaxNLocator(nbins=6, integer=True))
        return
    round_numbers = [digit * 10**power for power in range(7) for digit in (1, 2, 5)]
    ticks = [tick for tick in round_numbers if dimension.low <= tick <= dimension.high]
    axes.set(**{f"{way}scale": "log"})
    axis.set_ticks(ticks, [str(tick) for tick in ticks], fontsize=9)
    axis.set_ticks([], minor=True)
