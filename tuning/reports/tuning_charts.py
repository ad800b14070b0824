"""Figures for tuning studies.

Every chart function takes results and the catalogue of the figure's texts (``chart_words``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from elolab.arena.reports.drawing.fonts import chart_language
from elolab.arena.reports.drawing.marks import draw_interval, draw_point, settle, show_bounds, shown_bounds
from elolab.arena.reports.drawing.style import (
    GROUND,
    INK,
    LOSS,
    MUTED,
    SERIES,
    WIN,
    draw_grid,
    legend_above,
    name_rows,
    new_figure,
    single_axes,
    whole_numbers,
)
from elolab.arena.statistics.text_table import shorten_unique
from elolab.engine.language import Catalogue, with_minus
from elolab.engine.settings.parameters import BY_NAME
from elolab.engine.settings.reference import unit_in
from elolab.tuning.conditions import value_text
from elolab.tuning.study.model.importance import values_along
from elolab.tuning.study.playoff import INTERVAL_90
from elolab.tuning.study.space import Dimension

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from elolab.tuning.study.result import RoundEnd, StudyResult

SLICES_PER_ROW = 3
MAX_ARROWHEADS = 8
"""Largest number of arrowheads along an edge where an interval band leaves the figure."""
DENSITY_BARS = 26
CONTOUR_STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)
"""Amounts of Elo below the recommendation at which contour lines may be drawn."""
MAX_CONTOURS = 7
CONTOUR_POINTS = 600
MAX_POWERS = 3
"""An axis over at most this many powers of ten also shows their multiples by two and five."""
NAME_COLUMNS = 28
AXIS_NAME_WIDTH = 26
"""Maximum width of the base's name in an axis label, in columns of text; the caption has the full name."""
FONT_SIZE = 10


def chart_words(message: Catalogue) -> Catalogue:
    """The catalogue of figure texts in a report's language, or in English if no installed font has its characters."""
    return Catalogue(message.package, chart_language(message.language))


def unit_text(unit: str, message: Catalogue) -> str:
    """A parameter's unit in the report's language, or unchanged without a translation."""
    key = f"unit.{unit.replace(' ', '_')}"
    return message(key) if key in message else unit


def convergence_chart(result: StudyResult, words: Catalogue) -> Figure:
    """Chart of the Elo of every round's set of values against the number of games, with the final intervals.

    Each set has two estimates: by the model at the end of the round, with a 90 % interval, and by the model of all
    games. For samplers that play trials, the interval is beside the trial's observed Elo.
    Arrowheads mark intervals and points that leave the axis.
    """
    assert result.model is not None
    assert result.decision is not None
    figure, axes = single_axes(3.7, FONT_SIZE)
    games = [2 * end.total_pairs for end in result.rounds]
    mean, _ = result.model.gain([end.values for end in result.rounds])
    is_paired = result.spec.is_paired
    bands = [_interval_at_round_end(end) for end in result.rounds]
    shown = _final_intervals(result, words)
    judged = [(value, value) for value, *_ in shown] + [interval for _, interval, *_ in shown]
    of_time = [(min(low, end.elo), max(high, end.elo)) for (low, high), end in zip(bands, result.rounds, strict=True)]
    bounds = shown_bounds([*of_time, *((float(value), float(value)) for value in mean)], judged)
    axes.axhline(0, color=MUTED, linewidth=0.9)
    is_banded = any(end.deviation is not None for end in result.rounds)
    label_of_time = words(f"chart.{'by_model_of_time' if is_paired else 'observed'}{'_band' * is_banded}")
    for place, (value, band, end) in enumerate(zip(mean, bands, result.rounds, strict=True)):
        draw_interval(axes, games[place], band, bounds, LOSS, upright=True, linewidth=1.2)
        draw_point(axes, games[place], float(value), bounds, WIN, "_", upright=True, size=8, is_open=True, said=None,
                   label=None if place else words("chart.by_all_games"))  # fmt: skip
        draw_point(axes, games[place], end.elo, bounds, LOSS, "o", upright=True, size=4, said=None,
                   label=None if place else label_of_time)  # fmt: skip
    if is_paired:
        axes.plot(games, np.clip(mean, *bounds), color=WIN, linewidth=1, alpha=0.5)
    room = 0.05 * max(1, games[-1])
    for place, (value, interval, color, marker, label) in enumerate(shown, start=1):
        where = games[-1] + place * room
        draw_interval(axes, where, interval, bounds, color, upright=True, linewidth=2.4)
        draw_point(axes, where, value, bounds, color, marker, upright=True, label=label)
    axes.set_xlim(0, games[-1] + (len(shown) + 1) * room)
    show_bounds(axes, bounds, "y", 0.06)
    whole_numbers(axes, "x", 6)
    axes.set_xlabel(words("chart.games"))
    (base,) = shorten_unique([result.spec.base_name], AXIS_NAME_WIDTH)
    axes.set_ylabel(words("chart.elo_against_base", base=base))
    draw_grid(axes, "y")
    legend_above(figure, 1, 9, "outside upper left", handlelength=1)
    return settle(figure)


def _interval_at_round_end(end: RoundEnd) -> tuple[float, float]:
    """90 % interval of the Elo of a round's set of values, by the model at the end of that round.

    The interval has zero width if the standard deviation is unknown.
    """
    reach = 0.0 if end.deviation is None else INTERVAL_90 * end.deviation
    middle = end.elo if end.expected is None else end.expected
    return middle - reach, middle + reach


FINAL_MARKERS = ("s", "^", "v", "P", "X")
"""Marker shapes of a study's validations: the first shape for the first validation, and so on."""


def _final_intervals(result: StudyResult, words: Catalogue) -> list[tuple[float, tuple[float, float], str, str, str]]:
    """Elo, interval, colour, marker and label: one entry for the recommendation, then one for each validation.

    The interval is a 90 % interval for the recommendation and a 95 % interval for validations. If the base is
    recommended, ``Decision.left`` takes the recommendation's place.
    """
    decision = result.decision
    assert decision is not None
    found = []
    if not decision.is_base:
        found.append((decision.gain, decision.interval(), INK, "D", words("chart.recommended_interval")))
    elif decision.left is not None:
        gain, low, high = decision.left
        label = words(f"chart.best_{'unknown' if decision.other is None else 'other'}_interval")
        found.append((gain, (low, high), INK, "D", label))
    for number, verdict in enumerate(result.verdicts):
        marker, color = FINAL_MARKERS[number % len(FINAL_MARKERS)], SERIES[number % len(SERIES)]
        label = words("chart.validated_interval", limit=verdict.limits)
        if result.spec.is_by_matches:
            label = words("chart.confirmation_interval")
        found.append((verdict.elo, verdict.interval, color, marker, label))
    return found


def slices_chart(result: StudyResult, words: Catalogue) -> Figure:
    """One panel per dimension: the Elo of the recommendation if only this value changes, and the density of games.

    The axes contain all expected values; arrowheads mark interval bands that leave the axis.
    """
    assert result.model is not None
    assert result.decision is not None
    assert result.observations is not None
    space, best = result.spec.space, result.decision.values
    columns = min(SLICES_PER_ROW, len(space.dimensions))
    rows = math.ceil(len(space.dimensions) / columns)
    figure, grid = new_figure(0.6 + 2.5 * rows, rows, columns)
    first, second, pairs, _ = result.observations.arrays()
    sampled, weights = np.concatenate([first, second]), np.concatenate([pairs, pairs])
    slices = []
    for place, dimension in enumerate(space.dimensions):
        values = values_along(dimension)
        sets = [space.effective_values((*best[:place], value, *best[place + 1 :])) for value in values]
        slices.append((dimension, values, *result.model.gain(sets, best)))
    bounds = _slice_bounds([(mean, INTERVAL_90 * deviation) for _, _, mean, deviation in slices])
    for place, axes in enumerate(grid.flat):
        if place >= len(slices):
            axes.set_visible(False)
            continue
        dimension, values, mean, deviation = slices[place]
        _draw_slice(axes, dimension, values, mean, INTERVAL_90 * deviation, bounds)
        _draw_density(axes, dimension, sampled[:, place], weights)
        _mark_axis(axes, result, dimension, words)
    show_bounds(grid[0, 0], bounds, "y")
    for axes in grid[:, 0]:
        axes.set_ylabel(words("chart.elo"))
    return settle(figure)


def _slice_bounds(slices: Sequence[tuple[Any, Any]]) -> tuple[float, float]:
    """Elo bounds of the axis; ``slices`` has each dimension's mean curve and the half width of its band.

    The bounds contain all mean curves. The space for bands above and below is at most the range of the curves.
    """
    least = min(float(mean.min()) for mean, _ in slices)
    most = max(0.0, *(float(mean.max()) for mean, _ in slices))
    room = max(most - least, 20.0)
    low = min(float((mean - band).min()) for mean, band in slices)
    high = max(float((mean + band).max()) for mean, band in slices)
    return max(low, least - room), min(high, most + room)


def _draw_slice(
    axes: Axes, dimension: Dimension, values: Sequence[Any], mean: Any, band: Any, bounds: tuple[float, float]
) -> None:
    """Draw the model along one dimension: a line with its band for a range, points with intervals for choices.

    ``mean`` and ``band`` have the Elo and its half width for each of ``values``; ``bounds`` are the ends of the Elo
    axis.
    """
    places = [_place(dimension, value) for value in values]
    if dimension.choices:
        for place, value, width in zip(places, mean, band, strict=True):
            draw_interval(axes, place, (value - width, value + width), bounds, WIN, upright=True)
            draw_point(axes, place, float(value), bounds, WIN, "_", upright=True, size=12, is_open=True)
        return
    axes.fill_between(places, mean - band, mean + band, color=WIN, alpha=0.18, lw=0)
    axes.plot(places, mean, color=WIN, linewidth=1.8, clip_on=False)
    step = max(1, len(places) // MAX_ARROWHEADS)
    for place, low, high in list(zip(places, mean - band, mean + band, strict=True))[::step]:
        if low < bounds[0] or high > bounds[1]:
            draw_interval(axes, place, (low, high), bounds, WIN, upright=True, linewidth=0)


def importance_chart(shares: Mapping[str, float], words: Catalogue) -> Figure:
    """A bar chart: each parameter's share of the model's variance."""
    figure, axes = single_axes(0.8 + 0.28 * len(shares), FONT_SIZE)
    places = range(len(shares))
    axes.barh(places, [100 * share for share in shares.values()], 0.62, color=WIN)
    for place, share in zip(places, shares.values(), strict=True):
        axes.annotate(f"{100 * share:.0f} %", (100 * share, place), xytext=(4, 0), textcoords="offset points",
                      va="center", fontsize=9, color=INK)  # fmt: skip
    name_rows(axes, shorten_unique(list(shares), NAME_COLUMNS))
    axes.set_xlim(0, 112 * max([*shares.values(), 0.01]))
    axes.set_xlabel(words("chart.importance"))
    draw_grid(axes, "x")
    return settle(figure)


def contour_chart(result: StudyResult, names: Sequence[tuple[str, str]], words: Catalogue) -> Figure:
    """One panel per pair of parameters: contours of expected Elo, and the sets that were played.

    All other parameters have their recommended values.
    """
    assert result.model is not None
    assert result.observations is not None
    figure, grid = new_figure(3.9, 1, len(names), share_scale=False)
    first, second, _, _ = result.observations.arrays()
    sampled = np.concatenate([first, second])
    for axes, (across, up) in zip(grid[0], names, strict=True):
        places = [result.spec.space.names.index(name) for name in (across, up)]
        dimensions = [result.spec.space.dimensions[place] for place in places]
        values = [values_along(dimension) for dimension in dimensions]
        best = list(result.recommended.values())
        chosen = [dict(zip(places, (right, upper), strict=True)) for upper in values[1] for right in values[0]]
        sets = [tuple(own.get(place, value) for place, value in enumerate(best)) for own in chosen]
        sets = [result.spec.space.effective_values(one) for one in sets]
        elo = result.model.gain(sets, tuple(best))[0].reshape(len(values[1]), len(values[0]))
        levels = _contour_levels(float(elo.max() - elo.min()))
        drawn = axes.contour(values[0], values[1], elo, levels=levels, colors=WIN, linewidths=1.1, linestyles="solid")
        _label_contours(axes, drawn)
        kept = sampled[:: max(1, len(sampled) // CONTOUR_POINTS)]
        points = [_values_at(dimension, kept[:, place]) for place, dimension in zip(places, dimensions, strict=True)]
        axes.plot(*points, "o", color=LOSS, markersize=2.2, alpha=0.35, zorder=1)
        for own, marker, color, label in (
            (result.spec.space.default, "s", MUTED, words("chart.base")),
            (result.recommended, "D", INK, words("chart.recommended")),
        ):
            axes.plot([own[across]], [own[up]], marker, color=color, markersize=7, markeredgecolor=GROUND, label=label,
                      clip_on=False, zorder=4)  # fmt: skip
        _scale_axis(axes, "x", dimensions[0])
        _scale_axis(axes, "y", dimensions[1])
        axes.set_xlabel(across)
        axes.set_ylabel(up)
    legend_above(figure, 2, 9, "outside upper left", handles=grid[0, 0].get_legend_handles_labels()[0])
    return settle(figure)


def _contour_levels(depth: float) -> list[float]:
    """Contour levels in ascending order: negative Elo relative to the recommendation, not below ``-depth``."""
    steps = [step for step in CONTOUR_STEPS if step < depth] or [CONTOUR_STEPS[0]]
    return [-float(step) for step in reversed(steps[-MAX_CONTOURS:])]


def _label_contours(axes: Axes, drawn: Any) -> None:
    """Label every contour with its Elo, unless the label would overlap another label or leave the axes."""
    labels = axes.clabel(drawn, fmt=lambda level: with_minus(f"{level:.0f}"), fontsize=8, colors=INK)
    kept: list[Any] = []
    inside = axes.get_window_extent()
    for label in labels:
        box = label.get_window_extent()
        is_inside = inside.x0 <= box.x0 and box.x1 <= inside.x1 and inside.y0 <= box.y0 and box.y1 <= inside.y1
        if is_inside and not any(box.overlaps(other) for other in kept):
            kept.append(box)
        else:
            label.set_visible(False)


def _values_at(dimension: Dimension, coordinates: Any) -> Any:
    """Convert coordinates of a range to values; coordinate 0 is its low end, 1 its high end."""
    if dimension.scale == "log":
        return dimension.low * (dimension.high / dimension.low) ** coordinates
    return dimension.low + coordinates * (dimension.high - dimension.low)


def _draw_density(axes: Axes, dimension: Dimension, sampled: Any, weights: Any) -> None:
    """Draw a histogram of game pairs by value at the bottom; its highest bar has a quarter of the axes' height.

    ``sampled`` are coordinates of sets that played, ``weights`` their numbers of game pairs.
    """
    if dimension.choices:
        edges = np.arange(len(dimension.choices) + 1) - 0.5
    else:
        edges = np.linspace(-0.02, 1.02, DENSITY_BARS + 1)
    heights, _ = np.histogram(sampled, edges, weights=weights)
    bounds = edges if dimension.choices else _values_at(dimension, edges)
    axes.bar(
        bounds[:-1], 0.25 * heights / max(1.0, heights.max()), np.diff(bounds), align="edge", color=LOSS, alpha=0.35,
        transform=axes.get_xaxis_transform(),
    )  # fmt: skip


def _place(dimension: Dimension, value: Any) -> float:
    return dimension.coordinate(value) if dimension.choices else float(value)


def _mark_axis(axes: Axes, result: StudyResult, dimension: Dimension, words: Catalogue) -> None:
    """Label the axis, and mark the value of the base and the recommended value."""
    unit = ""
    if result.spec.engine is None and not result.spec.is_by_matches:
        unit = unit_in(result.spec.conditions.game, BY_NAME[dimension.name])
    axes.set_xlabel(f"{dimension.name}\n{unit_text(unit, words)}", fontsize=9)
    axes.axhline(0, color=MUTED, linewidth=0.8)
    axes.axvline(_place(dimension, result.spec.space.default[dimension.name]), color=MUTED, linewidth=1, linestyle=":")
    axes.axvline(_place(dimension, result.recommended[dimension.name]), color=WIN, linewidth=1)
    if dimension.choices:
        names = shorten_unique([value_text(value) for value in dimension.choices], NAME_COLUMNS)
        axes.set_xticks(range(len(dimension.choices)), names, fontsize=8)
        axes.margins(x=0.2)
    else:
        _scale_axis(axes, "x", dimension)
    draw_grid(axes, "y")


def _scale_axis(axes: Axes, way: Literal["x", "y"], dimension: Dimension) -> None:
    """Set the axis to the dimension's scale, with round numbers as tick labels instead of powers of ten."""
    if dimension.scale != "log":
        whole_numbers(axes, way, 6)
        return
    powers = range(math.floor(math.log10(dimension.low)), math.ceil(math.log10(dimension.high)) + 1)
    digits = (1, 2, 5) if len(powers) <= MAX_POWERS else (1,)
    round_numbers = [float(f"{digit}e{power}") for power in powers for digit in digits]
    ticks = [tick for tick in round_numbers if dimension.low <= tick <= dimension.high]
    axes.set(**{f"{way}scale": "log"})
    axis = axes.xaxis if way == "x" else axes.yaxis
    axis.set_ticks(ticks, [f"{tick:.15g}" for tick in ticks], fontsize=9)
    axis.set_ticks([], minor=True)
