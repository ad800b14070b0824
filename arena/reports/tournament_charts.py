"""The charts of a tournament's report.

Each chart function receives its data and a language, and returns a figure. matplotlib is imported on the first call.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from elolab.arena.records import GameSummary
from elolab.arena.reports.drawing.marks import (
    draw_interval,
    draw_point,
    settle,
    show_bounds,
    shown_bounds,
    widen_coinciding,
)
from elolab.arena.reports.drawing.style import (
    BLACK,
    EVEN,
    GAIN,
    GRID,
    GROUND,
    INK,
    LOSS,
    MUTED,
    SERIES,
    SETBACK,
    WHITE,
    WIN,
    draw_grid,
    legend_above,
    name_rows,
    single_axes,
    whole_numbers,
)
from elolab.arena.sequential import SequentialRun, ratios_by_pair
from elolab.arena.statistics.elo import Pentanomial
from elolab.arena.statistics.intervals import INTERVAL_DEVIATIONS
from elolab.arena.statistics.search_tables import SearchStatistics, iteration_rows, null_rows
from elolab.arena.statistics.standings import PENTANOMIAL_COLUMNS, PairCounter, Tables, rating_reference
from elolab.arena.statistics.text_table import shorten_unique
from elolab.engine.language import Catalogue
from elolab.engine.search_statistics import MATERIAL_STEP, summed_search_statistics

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIDES = {"Red": SERIES[1], "Black": BLACK, "White": WHITE}
"""The colour, in all themes, of bars for games that a side won; keyed by the side's English name."""
LINE_STYLES = ("-", "--", ":", "-.")
CONVERGENCE_POINTS = 40
NAME_COLUMNS = 28
"""Maximum width of players' names next to a chart, in characters; wide characters count twice."""
LEGEND_COLUMNS = 22
MAX_LEGEND = 20
"""Maximum number of lines in a chart with a legend."""
MAX_NAMED_ROWS = 40
"""Maximum number of players whose names label the rows of the crosstable chart; with more, row numbers do."""
MAX_NUMBERED_CELLS = 16
"""Maximum number of players for which the crosstable chart has scores in its cells; with more, it has a colour bar."""
DARK_SCORE = 85.0
"""Score in percent above which a cell of the crosstable chart is so dark that its text is light."""
NARROW_SEGMENT = 6.0
"""Minimum width of a bar's segment that shows its count, in percent of the bar."""
HALO_POINTS = 1.2
"""Width, in points, of the background-coloured outline that separates an interval from the bar below it."""


def _say(language: str) -> Catalogue:
    return Catalogue("elolab.arena.reports", language)


def ratings_chart(tables: Tables, language: str) -> Figure:
    """A forest plot of ratings with 95 % intervals, best player on top. A player without games has an empty row."""
    rows = tables.standings
    figure, axes = single_axes(1.0 + 0.36 * len(rows))
    rated = [(place, row) for place, row in enumerate(rows) if math.isfinite(row.rating_error)]
    intervals = {place: (row.rating - row.rating_error, row.rating + row.rating_error) for place, row in rated}
    ends = [end for interval in intervals.values() for end in interval]
    bounds = (min(ends), max(ends)) if ends and min(ends) < max(ends) else (-1.0, 1.0)
    for place, row in rated:
        draw_interval(axes, place, intervals[place], bounds, WIN, linewidth=2.4)
        draw_point(axes, place, row.rating, bounds, WIN, "o", size=7)
    show_bounds(axes, bounds, "x", 0.04)
    if not tables.referred_anchors:
        axes.axvline(0, color=MUTED, linewidth=0.9)
    name_rows(axes, shorten_unique([row.player for row in rows], NAME_COLUMNS))
    reference = rating_reference(tables, Catalogue("elolab.arena", language))
    say = _say(language)
    text = say("chart.rating", reference=reference if len(reference) < 60 else say("chart.elo"))
    figure.supxlabel(text, fontsize=12, color=MUTED)
    draw_grid(axes, "x")
    return settle(figure)


def pairs_chart(tables: Tables, language: str) -> Figure:
    """A chart with a stacked bar for each player: the shares of the five pair outcomes.

    A mark on the bar shows the score with its 95 % interval.
    """
    rows = tables.standings
    figure, axes = single_axes(1.9 + 0.4 * len(rows))
    say = _say(language)
    names = ("both_lost", "loss_and_draw", "even", "win_and_draw", "both_won")
    start = [0.0] * len(rows)
    for column, name, color in zip(PENTANOMIAL_COLUMNS, names, (LOSS, SETBACK, EVEN, GAIN, WIN), strict=True):
        counts = [getattr(row, column) for row in rows]
        shares = [100 * count / max(1, row.pairs) for count, row in zip(counts, rows, strict=True)]
        axes.barh(
            range(len(rows)), shares, left=start, color=color, label=say(f"chart.{name}"), height=0.66, edgecolor=GROUND
        )
        for place, (count, share) in enumerate(zip(counts, shares, strict=True)):
            if share >= NARROW_SEGMENT:
                axes.text(start[place] + share / 2, place - 0.13, str(count), ha="center", va="center", fontsize=9,
                          color=GROUND if color == WIN else BLACK if color == LOSS else INK)  # fmt: skip
        start = [before + share for before, share in zip(start, shares, strict=True)]
    paired = [(place, row) for place, row in enumerate(rows) if row.pairs]
    seen = [Pentanomial((row.LL, row.LD, row.even, row.WD, row.WW)).estimate() for _, row in paired]
    scores = [100 * one.score for one in seen]
    reach = [[100 * (one.score - one.score_low) for one in seen], [100 * (one.score_high - one.score) for one in seen]]
    for color, rim in ((GROUND, HALO_POINTS), (INK, 0.0)):  # a single colour is not visible on every bar
        if paired:
            axes.errorbar(
                scores, [place + 0.17 for place, _ in paired], xerr=reach, fmt="o", color=color, markersize=4 + 2 * rim,
                linewidth=1.4 + 2 * rim, capsize=2.5 + rim, capthick=1 + 2 * rim, clip_on=False,
                label=None if rim else say("chart.score_interval"),
            )  # fmt: skip
    for place, row in paired:
        axes.annotate(
            str(row.pairs), (100, place), xytext=(5, 0), textcoords="offset points", va="center", color=MUTED,
            fontsize=10, annotation_clip=False,
        )  # fmt: skip
    name_rows(axes, shorten_unique([row.player for row in rows], NAME_COLUMNS))
    axes.set_xlim(0, 100)
    figure.supxlabel(say("chart.pair_share"), fontsize=12, color=MUTED)
    axes.spines["bottom"].set_visible(False)
    legend_above(figure, 3, 10, handlelength=1)
    return settle(figure)


Course = tuple[list[int], list[list[float]]]
"""The course of values during a run: numbers of complete pairs, and the list of values after each of these numbers.

Both lists have at most ``CONVERGENCE_POINTS`` entries.
"""


def _course(
    players: Sequence[str], records: Sequence[GameSummary], figures: Callable[[PairCounter], list[float]]
) -> Course:
    """Compute the course of values during a run, at up to ``CONVERGENCE_POINTS`` equally spaced games.

    ``figures`` computes the values from the games up to one of these points, in schedule order.
    """
    ordered = sorted(records, key=lambda record: record.pairing.number)
    moments = {round(len(ordered) * (step / CONVERGENCE_POINTS)) for step in range(1, CONVERGENCE_POINTS + 1)}
    counter = PairCounter(players)
    found: dict[int, list[float]] = {}
    for played, record in enumerate(ordered, start=1):
        counter.add(record)
        if played in moments and counter.complete_pairs and counter.complete_pairs not in found:
            found[counter.complete_pairs] = figures(counter)
    return [*found], [*found.values()]


def convergence(tables: Tables, records: Sequence[GameSummary]) -> Course:
    """The course of all players' ratings during a run, in the order of the standings."""
    names = tables.counter.players
    order = [names.index(row.player) for row in tables.standings]

    def ratings(counter: PairCounter) -> list[float]:
        fit = counter.ratings(tables.ratings.anchors)
        return [float(fit.elo[player]) for player in order]

    return _course(names, records, ratings)


def match_course(tables: Tables, records: Sequence[GameSummary]) -> Course:
    """The course of the Elo difference during a match: first player minus second player.

    Each point has three values: the Elo difference and the bounds of its 95 % interval, which may be infinite.
    """

    def elo(counter: PairCounter) -> list[float]:
        seen = counter.between(0, 1).pentanomial().estimate()
        return [seen.elo, seen.elo_low, seen.elo_high]

    return _course(tables.counter.players, records, elo)


def course_chart(tables: Tables, records: Sequence[GameSummary], language: str) -> Figure:
    """A chart of the Elo difference of a match (first minus second player), with 95 % intervals, by number of pairs."""
    pairs, course = match_course(tables, records)
    figure, axes = single_axes(3.6)
    say = _say(language)
    axes.axhline(0, color=MUTED, linewidth=0.9)
    axes.set_ylim(-1, 1)
    axes.set_xlim(0, 1)
    if pairs:
        # The first intervals, from a handful of pairs, would dominate the scale.
        bounds = shown_bounds([(low, high) for _, low, high in course], [(course[-1][1], course[-1][2])])
        for place, (elo, low, high) in zip(pairs, course, strict=True):
            draw_interval(axes, place, (low, high), bounds, WIN, upright=True, linewidth=1.6)
            is_last = place == pairs[-1]
            draw_point(axes, place, elo, bounds, WIN, "o", upright=True, size=6 if is_last else 4,
                       said="" if is_last else None)  # fmt: skip
        show_bounds(axes, bounds, "y", 0.06)
        axes.set_xlim(0, 1.04 * pairs[-1] + 0.5)
    whole_numbers(axes, "x")
    one, other = shorten_unique(tables.counter.players, LEGEND_COLUMNS)
    figure.supxlabel(say("chart.pairs_in_order"), fontsize=12, color=MUTED)
    axes.set_title(say("chart.elo_of_match", one=one, other=other), fontsize=10, color=MUTED, loc="left")
    axes.set_ylabel(say("chart.elo"))
    draw_grid(axes, "y")
    return settle(figure)


def convergence_chart(tables: Tables, records: Sequence[GameSummary], language: str) -> Figure:
    """A line chart of the ratings of all players by number of complete pairs, in schedule order."""
    pairs, ratings = convergence(tables, records)
    figure, axes = _lines_figure(len(tables.standings), 3.6)
    names = [row.player for row in tables.standings]
    curves = [(pairs, [moment[place] for moment in ratings]) for place in range(len(names))]
    _draw_lines(axes, names, curves, marker="o" if len(pairs) < 2 else None)
    # The first fits, from a handful of games, would dominate the scale.
    settled = [value for moment in ratings[len(ratings) // 8 :] for value in moment]
    if settled:
        room = 0.08 * (max(settled) - min(settled)) + 5
        axes.set_ylim(min(settled) - room, max(settled) + room)
    if not tables.referred_anchors:
        axes.axhline(0, color=MUTED, linewidth=0.9)
    _name_lines(figure, axes)
    if len(pairs) < 2:  # with one point, there would be ticks at fractions of pairs
        axes.set_xlim(0, 1 + max(pairs, default=1))
    whole_numbers(axes, "x")
    say = _say(language)
    figure.supxlabel(say("chart.pairs_of_all"), fontsize=12, color=MUTED)
    axes.set_ylabel(say("chart.elo" if tables.referred_anchors else "chart.elo_above_mean"))
    draw_grid(axes, "y")
    return settle(figure)


def _lines_figure(lines: int, height_inches: float) -> tuple[Figure, Axes]:
    """Create an empty figure, high enough for a legend with ``lines`` entries; returns it and its axes."""
    return single_axes(height_inches if lines <= 9 or lines > MAX_LEGEND else 1.0 + 0.25 * lines)


def _draw_lines(
    axes: Axes, names: Sequence[str], curves: Sequence[tuple[Sequence[float], Sequence[float]]], **style: Any
) -> None:
    """Draw a line for each player in its own colour and style. ``style`` is passed to ``Axes.plot``.

    Each curve is a pair of the x coordinates and the y coordinates of its points.
    """
    for place, (name, curve) in enumerate(zip(shorten_unique(names, LEGEND_COLUMNS), curves, strict=True)):
        axes.plot(*curve, LINE_STYLES[place // len(SERIES) % len(LINE_STYLES)], color=SERIES[place % len(SERIES)],
                  linewidth=1.8, label=name, **style)  # fmt: skip


def _name_lines(figure: Figure, axes: Axes) -> None:
    """Add a legend on the right and widen coinciding lines, unless there are more than ``MAX_LEGEND`` lines."""
    lines = [line for line in axes.lines if not str(line.get_label()).startswith("_")]
    if len(lines) <= MAX_LEGEND:
        widen_coinciding(lines)
        figure.legend(loc="outside right center", frameon=False, fontsize=11, handlelength=1.6)


def endings_chart(tables: Tables, sides: tuple[str, str], side_names: tuple[str, str], language: str) -> Figure:
    """A bar chart of the reasons that ended the games, split by result.

    ``sides`` are the keys of the first and the second side in ``SIDES``; ``side_names`` are their names in
    ``language``.
    """
    say, endings = _say(language), Catalogue("elolab.engine", language)
    rows = tables.endings
    figure, axes = single_axes(1.4 + 0.32 * max(1, len(rows)))
    start = [0] * len(rows)
    parts = (
        ("first_won", say("chart.won", side=side_names[0]), SIDES[sides[0]]), ("drawn", say("chart.drawn"), EVEN),
        ("second_won", say("chart.won", side=side_names[1]), SIDES[sides[1]]),
    )  # fmt: skip
    for column, label, color in parts:
        counts = [getattr(row, column) for row in rows]
        edge = MUTED if color in (BLACK, WHITE) else GROUND
        axes.barh(range(len(rows)), counts, left=start, color=color, label=label, height=0.66, edgecolor=edge)
        start = [before + count for before, count in zip(start, counts, strict=True)]
    name_rows(axes, [endings.name_of("ending", row.reason) for row in rows])
    for place, row in enumerate(rows):
        axes.annotate(
            f"{row.games}", (row.games, place), xytext=(4, 0), textcoords="offset points", va="center", color=MUTED,
            fontsize=11,
        )  # fmt: skip
    axes.margins(x=0.08)
    axes.set_xlabel(say("chart.games"))
    whole_numbers(axes, "x")
    draw_grid(axes, "x")
    if not rows:
        axes.set_xlim(0, 1)
        return settle(figure)
    legend_above(figure, 3, handlelength=1)
    return settle(figure)


def sequential_chart(run: SequentialRun, language: str) -> Figure:
    """A chart of the log-likelihood ratio of a sequential test after each pair, with its bounds."""
    figure, axes = single_axes(3.2)
    test, pairs = run.state, run.counts.pairs
    say = _say(language)
    for bound, hypothesis in ((test.upper_bound, "H1"), (test.lower_bound, "H0")):
        axes.axhline(bound, color=MUTED, linewidth=1.2, linestyle="--")
        axes.annotate(
            say("chart.accepted", hypothesis=hypothesis), (0, bound), xycoords=("axes fraction", "data"),
            xytext=(4, 4 if bound > 0 else -4), textcoords="offset points", ha="left",
            va="bottom" if bound > 0 else "top", color=MUTED, fontsize=11,
        )  # fmt: skip
    axes.axhline(0, color=GRID, linewidth=0.9)
    axes.plot(
        range(pairs + 1), [0.0, *ratios_by_pair(run.settings, run.history)], color=WIN, linewidth=1.8,
        marker="o" if pairs < CONVERGENCE_POINTS else None, markersize=4, clip_on=False,
    )  # fmt: skip
    room = 0.22 * (test.upper_bound - test.lower_bound)
    low, high = axes.get_ylim()
    axes.set_ylim(min(low, test.lower_bound - room), max(high, test.upper_bound + room))
    axes.set_xlim(0, max(1, pairs))
    whole_numbers(axes, "x")
    axes.set_xlabel(say("chart.pairs_in_order"))
    axes.set_ylabel(say("chart.ratio"))
    draw_grid(axes, "y")
    return settle(figure)


def lengths_chart(records: Sequence[GameSummary], language: str) -> Figure:
    """A stacked histogram of game lengths in plies, for decisive games and draws."""
    import numpy as np

    figure, axes = single_axes(2.9)
    say = _say(language)
    decisive = [record.plies for record in records if record.result in ("1-0", "0-1")]
    drawn = [record.plies for record in records if record.result == "1/2-1/2"]
    longest = max([10, *decisive, *drawn])
    width = next(step for step in (1, 2, 5, 10, 20, 50, 100, 1000) if longest / step <= 50)
    bins: Any = np.arange(0, longest + width + 1, width)
    axes.hist(
        [decisive, drawn], bins=bins, stacked=True, color=[WIN, EVEN], edgecolor=GROUND, linewidth=0.6,
        label=[say("chart.decisive"), say("chart.drawn")],
    )  # fmt: skip
    axes.set_xlim(0, bins[-1])
    axes.set_xlabel(say("chart.plies", width=width))
    axes.set_ylabel(say("chart.games"))
    axes.set_ylim(0, max(1.0, axes.get_ylim()[1]))
    whole_numbers(axes, "y")
    draw_grid(axes, "y")
    legend_above(figure, 2, handlelength=1)
    return settle(figure)


def iterations_chart(search_statistics: SearchStatistics, language: str) -> Figure:
    """A chart of the mean number of nodes up to the end of each depth, for each player, on a logarithmic scale."""
    figure, axes = _lines_figure(len(search_statistics.totals), 3.4)
    rows = [iteration_rows(name, total) for name, total in search_statistics.totals.items()]
    curves = [([row["depth_plies"] for row in own], [row["mean_nodes_to_depth"] for row in own]) for own in rows]
    _draw_lines(axes, list(search_statistics.totals), curves, marker="o", markersize=4)
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}".replace(",", "\N{NO-BREAK SPACE}"))
    axes.yaxis.set_minor_formatter("")
    _name_lines(figure, axes)
    say = _say(language)
    axes.set_xlabel(say("chart.iteration_depth"))
    axes.set_ylabel(say("chart.nodes_to_its_end"))
    whole_numbers(axes, "x")
    draw_grid(axes, "y")
    return settle(figure)


def null_failures_chart(search_statistics: SearchStatistics, language: str) -> Figure:
    """A line chart of the errors of null-move pruning, over all players, by the material of the side to move.

    One line is the percentage of verification searches that refuted a cutoff, the other the percentage of sampled
    cutoffs that were wrong. Each point has Wilson's 95 % interval and its number of cases.
    """
    import numpy as np

    figure, axes = single_axes(3.4)
    total = {"null_by_material": {}, **summed_search_statistics(search_statistics.totals.values())}
    rows = null_rows("", total, "material")
    say = _say(language)
    parts = (
        ("refuted", lambda row: row["verified"], say("chart.failed_verifications"), LOSS, "o-", -0.06),
        ("wrong", lambda row: row["sampled"] - row["unresolved"], say("chart.wrong_samples"), WIN, "s--", 0.06),
    )
    for found, cases, label, color, style, shift in parts:
        known = [row for row in rows if cases(row)]
        places = [(row["own_material_from_centipawns"] + MATERIAL_STEP * (0.5 + shift)) / 100 for row in known]
        shares = [100 * row[found] / cases(row) for row in known]
        bounds = [wilson_interval(row[found], cases(row)) for row in known]
        errors = abs(np.array(shares) - 100 * np.array(bounds).reshape(-1, 2).T)
        axes.errorbar(
            places, shares, yerr=errors, fmt=style, color=color, label=label, markersize=5, linewidth=1.6,
            elinewidth=1.1, capsize=2,
        )  # fmt: skip
        for place, row, (_, high) in zip(places, known, bounds, strict=True):
            axes.annotate(
                f"{cases(row)}", (place, 100 * high), xytext=(0, 3), textcoords="offset points", ha="center",
                va="bottom", fontsize=8, color=color, rotation=90,
            )  # fmt: skip
    axes.margins(y=0.2)
    axes.set_ylim(bottom=0)
    axes.set_xlim(left=0)
    axes.set_xlabel(say("chart.own_material", width=f"{MATERIAL_STEP / 100:g}"))
    axes.set_ylabel("%")
    draw_grid(axes, "y")
    legend_above(figure, 2, handlelength=1.6)
    return settle(figure)


def wilson_interval(found: int, cases: int) -> tuple[float, float]:
    """Bounds, from 0 to 1, of Wilson's 95 % interval ("Probable inference", 1927) for the share ``found / cases``.

    ``cases`` must be at least 1.
    """
    square = INTERVAL_DEVIATIONS**2
    share = found / cases
    middle = (share + square / (2 * cases)) / (1 + square / cases)
    half = (
        INTERVAL_DEVIATIONS
        / (1 + square / cases)
        * math.sqrt(share * (1 - share) / cases + square / (4 * cases * cases))
    )
    return min(share, max(0.0, middle - half)), max(share, min(1.0, middle + half))


def crosstable_chart(tables: Tables, language: str) -> Figure:
    """A heat map of scores in percent: the player of the row against the player of the column.

    Columns are labelled by row number.
    """
    import numpy as np
    from matplotlib.colors import LinearSegmentedColormap

    names = [row.player for row in tables.standings]
    scores = np.full((len(names), len(names)), np.nan)
    for result in tables.head_to_heads:
        scores[names.index(result.player), names.index(result.opponent)] = 100 * result.score
    say = _say(language)
    is_named = len(names) <= MAX_NAMED_ROWS
    figure, axes = single_axes(1.4 + (min(0.42 * len(names), 3.0 + 0.2 * len(names)) if is_named else 9.0))
    colors = LinearSegmentedColormap.from_list("score", [LOSS, "#f6f3ee", WIN]).with_extremes(bad=GROUND)
    image = axes.imshow(
        np.ma.masked_invalid(scores), cmap=colors, vmin=0, vmax=100, aspect="auto",
        interpolation="auto" if is_named else "none",  # "none": one pixel per cell, an SVG of a twentieth of the size
    )  # fmt: skip
    if len(names) <= MAX_NUMBERED_CELLS:
        size = 11 if len(names) <= 8 else 7
        for (row, column), score in np.ndenumerate(scores):
            if not np.isnan(score):
                axes.text(column, row, f"{score:.1f}", ha="center", va="center", fontsize=size,
                          color=GROUND if score > DARK_SCORE else INK)  # fmt: skip
    else:
        figure.colorbar(image, ax=axes, shrink=0.5, label="%")
    small = 12 if len(names) <= MAX_NUMBERED_CELLS else 9
    numbers = [str(place + 1) for place in range(len(names))]
    step = 1 if is_named else 10
    places = range(step - 1, len(names), step)
    is_narrow = is_named and len(names) > 30
    axes.set_xticks(places, numbers[step - 1 :: step], fontsize=min(small, 7) if is_narrow else small)
    if is_named:
        shown = shorten_unique(names, NAME_COLUMNS - 4)
        axes.set_yticks(places, [f"{name}  {number}" for number, name in zip(numbers, shown, strict=True)],
                        fontsize=small)  # fmt: skip
    else:
        axes.set_yticks(places, numbers[step - 1 :: step], fontsize=small)
    axes.tick_params(axis="x", labelcolor=INK)
    figure.supxlabel(say("chart.opponent"), fontsize=12, color=MUTED)
    axes.spines["bottom"].set_visible(False)
    return settle(figure)
