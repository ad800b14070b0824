"""The report's figures, drawn by matplotlib without a display, as SVG that follows the page's colours and as PNG.

Every function takes tables and the language of its words and returns a figure; none writes a file. matplotlib is
imported inside them only.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from arena.figures.ratings import fit_ratings
from arena.figures.search_statistics import SearchStatistics, iteration_rows, null_rows
from arena.figures.standings import PENTANOMIAL_COLUMNS, PairCounter, Tables, clipped, rating_reference
from arena.records import GameRecord
from arena.reports.fonts import LATIN, font_families
from arena.sequential import SequentialRun, ratios_by_pair
from engine.language import Catalogue

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH_INCHES = 6.8
INK, MUTED, GRID, GROUND = "#23272e", "#6a7079", "#dddddb", "#fffefc"
WIN, EVEN, LOSS = "#2f6f9f", "#b9bcc0", "#cf7a30"
GAIN, SETBACK = "#8fb5d1", "#e8bb8d"
SERIES = ("#2f6f9f", "#c8442f", "#3f8f5f", "#8a5aa8", "#b8862b", "#4d9fb5", "#a8486f", "#6f7f2f")
PALETTE = {
    INK: "ink", MUTED: "muted", GRID: "line", GROUND: "ground", WIN: "win", EVEN: "even", LOSS: "loss", GAIN: "gain",
    SETBACK: "setback", **{color: f"series-{number}" for number, color in enumerate(SERIES) if color != WIN},
}  # fmt: skip
"""The colours figures may use, and the page's variable that replaces each in SVG (so that dark mode works)."""
SIDES = {"Red": SERIES[1], "Black": INK, "White": GROUND}
"""How the games won by a side are filled."""
LINE_STYLES = ("-", "--", ":", "-.")
CONVERGENCE_POINTS = 40


def _figure(height_inches: float) -> tuple[Figure, Axes]:
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    matplotlib.rcParams.update(
        {
            "svg.fonttype": "none",
            "font.family": font_families(),
            "font.size": 12,
            "text.color": INK,
            "text.parse_math": False,
            "axes.labelcolor": MUTED,
            "axes.edgecolor": MUTED,
            "xtick.color": MUTED,
            "ytick.color": MUTED,
            "ytick.labelcolor": INK,
            "axes.unicode_minus": True,
        }
    )
    figure = Figure(figsize=(WIDTH_INCHES, height_inches), layout="constrained", facecolor=GROUND)
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    axes.set_facecolor("none")
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.tick_params(length=0)
    return figure, axes


def _lay_out(figure: Figure) -> None:
    """Find the places of all parts once: otherwise every file of the figure is laid out anew, and twice."""
    if figure.get_layout_engine() is not None:
        figure.draw_without_rendering()
        figure.set_layout_engine(None)


def png_bytes(figure: Figure) -> bytes:
    """The figure as PNG on a light ground, the same bytes for the same figure."""
    _lay_out(figure)
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=150, metadata={"Software": None})
    return stream.getvalue()


def svg_bytes(figure: Figure) -> bytes:
    """The figure as a picture of its own, the same bytes for the same figure; text stays text."""
    import matplotlib

    _lay_out(figure)
    stream = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "elolab"}):
        figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
    return stream.getvalue().encode()


def svg_text(figure: Figure, name: str, description: str) -> str:
    """The figure as an SVG element for a page: colours are the page's variables, ids begin with ``name``."""
    import html

    import matplotlib

    _lay_out(figure)
    stream = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": name}):
        figure.savefig(stream, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = stream.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'\bid="', f'id="{name}-', text)
    text = re.sub(r'(url\(#|href="#)', rf"\g<1>{name}-", text)
    for color, variable in PALETTE.items():
        text = text.replace(color, f"var(--{variable})")
    text = re.sub(rf"font: ([^\"]*?)'{LATIN}'[^;\"]*", r"font: \1var(--sans)", text)
    label = html.escape(description, quote=True)
    return re.sub(r"<svg ", f'<svg class="chart" role="img" aria-label="{label}" ', text, count=1)


def _say(language: str) -> Catalogue:
    return Catalogue("arena.reports", language)


def _grid(axes: Axes, axis: str) -> None:
    axes.grid(axis=axis, color=GRID, linewidth=0.8)  # type: ignore[arg-type]
    axes.set_axisbelow(True)


def _names(names: Sequence[str], longest: int = 28) -> list[str]:
    return [clipped(name, longest) for name in names]


def ratings_chart(tables: Tables, language: str) -> Figure:
    """Forest plot: every player's rating with its 95 % interval, best on top."""
    rows = tables.standings
    figure, axes = _figure(1.0 + 0.36 * len(rows))
    places = list(range(len(rows)))
    for place, row in zip(places, rows, strict=True):
        axes.plot(
            [row.rating - row.rating_error, row.rating + row.rating_error], [place, place], color=WIN, linewidth=2.4,
            solid_capstyle="round",
        )  # fmt: skip
    axes.plot([row.rating for row in rows], places, "o", color=WIN, markersize=7, markeredgecolor=GROUND)
    if not tables.anchors:
        axes.axvline(0, color=MUTED, linewidth=0.9)
    axes.set_yticks(places, _names([row.player for row in rows]))
    axes.set_ylim(len(rows) - 0.4, -0.6)
    reference = rating_reference(tables.anchors, Catalogue("arena", language))
    say = _say(language)
    axes.set_xlabel(say("chart.rating", reference=reference if len(reference) < 60 else say("chart.elo")))
    _grid(axes, "x")
    return figure


def pairs_chart(tables: Tables, language: str) -> Figure:
    """Stacked bars: share of each outcome of a pair, for every player, from that player's view."""
    rows = tables.standings
    figure, axes = _figure(1.5 + 0.36 * len(rows))
    say = _say(language)
    names = ("both_lost", "loss_and_draw", "even", "win_and_draw", "both_won")
    labels = [say(f"chart.{name}") for name in names]
    start = [0.0] * len(rows)
    for column, label, color in zip(PENTANOMIAL_COLUMNS, labels, (LOSS, SETBACK, EVEN, GAIN, WIN), strict=True):
        shares = [100 * getattr(row, column) / max(1, row.pairs) for row in rows]
        axes.barh(range(len(rows)), shares, left=start, color=color, label=label, height=0.66, edgecolor=GROUND)
        start = [before + share for before, share in zip(start, shares, strict=True)]
    axes.set_yticks(range(len(rows)), _names([row.player for row in rows]))
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlim(0, 100)
    axes.set_xlabel(say("chart.pair_share"))
    axes.spines["bottom"].set_visible(False)
    figure.legend(loc="outside upper center", ncols=3, frameon=False, fontsize=11, handlelength=1, columnspacing=1.2)
    return figure


def convergence(tables: Tables, records: Sequence[GameRecord]) -> tuple[list[int], list[list[float]]]:
    """Complete pairs at each of some 40 moments, in schedule order, and every player's rating there.

    Ratings are lists in the order of the standings, one a moment.
    """
    names = tables.counter.players
    order = [names.index(row.player) for row in tables.standings]
    ordered = sorted(records, key=lambda record: record.pairing.number)
    moments = {round(len(ordered) * (step / CONVERGENCE_POINTS)) for step in range(1, CONVERGENCE_POINTS + 1)}
    counter = PairCounter(names)
    pairs: list[int] = []
    ratings: list[list[float]] = []
    for played, record in enumerate(ordered, start=1):
        counter.add(record)
        if played in moments and counter.complete_pairs:
            fit = fit_ratings(len(names), counter.pairings(), anchors=tables.ratings.anchors)
            pairs.append(counter.complete_pairs)
            ratings.append([float(fit.elo[player]) for player in order])
    return pairs, ratings


def convergence_chart(tables: Tables, records: Sequence[GameRecord], language: str) -> Figure:
    """Ratings as games came in, in schedule order."""
    pairs, ratings = convergence(tables, records)
    figure, axes = _figure(3.6)
    for place, row in enumerate(tables.standings):
        axes.plot(
            pairs, [moment[place] for moment in ratings], LINE_STYLES[place // len(SERIES) % len(LINE_STYLES)],
            color=SERIES[place % len(SERIES)], linewidth=1.8, label=_names([row.player], 22)[0],
            marker="o" if len(pairs) < 2 else None,
        )  # fmt: skip
    # The first fits, from a handful of games, would set the scale for everything after them.
    settled = [value for moment in ratings[len(ratings) // 8 :] for value in moment]
    if settled:
        room = 0.08 * (max(settled) - min(settled)) + 5
        axes.set_ylim(min(settled) - room, max(settled) + room)
    if not tables.anchors:
        axes.axhline(0, color=MUTED, linewidth=0.9)
    say = _say(language)
    axes.set_xlabel(say("chart.pairs_of_all"))
    axes.set_ylabel(say("chart.elo" if tables.anchors else "chart.elo_above_mean"))
    _grid(axes, "y")
    if len(tables.standings) <= 20:
        figure.legend(loc="outside right center", frameon=False, fontsize=11, handlelength=1.6)
    return figure


def endings_chart(tables: Tables, sides: tuple[str, str], side_names: tuple[str, str], language: str) -> Figure:
    """Bars: games by reason, split by result; ``sides`` are keys of ``SIDES``, ``side_names`` what to call them."""
    say, endings = _say(language), Catalogue("engine", language)
    rows = tables.endings
    figure, axes = _figure(1.4 + 0.32 * max(1, len(rows)))
    start = [0] * len(rows)
    parts = (
        ("first_won", say("chart.won", side=side_names[0]), SIDES[sides[0]]), ("drawn", say("chart.drawn"), EVEN),
        ("second_won", say("chart.won", side=side_names[1]), SIDES[sides[1]]),
    )  # fmt: skip
    for column, label, color in parts:
        counts = [getattr(row, column) for row in rows]
        edge = MUTED if color == GROUND else GROUND
        axes.barh(range(len(rows)), counts, left=start, color=color, label=label, height=0.66, edgecolor=edge)
        start = [before + count for before, count in zip(start, counts, strict=True)]
    axes.set_yticks(range(len(rows)), [endings.name_of("ending", row.reason) for row in rows])
    axes.set_ylim(max(1, len(rows)) - 0.5, -0.5)
    for place, row in enumerate(rows):
        axes.annotate(
            f"{row.games}", (row.games, place), xytext=(4, 0), textcoords="offset points", va="center", color=MUTED,
            fontsize=11,
        )  # fmt: skip
    axes.margins(x=0.08)
    axes.set_xlabel(say("chart.games"))
    _grid(axes, "x")
    figure.legend(loc="outside upper center", ncols=3, frameon=False, fontsize=11, handlelength=1, columnspacing=1.2)
    return figure


def sequential_chart(run: SequentialRun, language: str) -> Figure:
    """The log-likelihood ratio of a sequential test after each pair, between its bounds."""
    figure, axes = _figure(3.2)
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
    axes.plot(range(pairs + 1), [0.0, *ratios_by_pair(run.settings, run.history)], color=WIN, linewidth=1.8)
    room = 0.22 * (test.upper_bound - test.lower_bound)
    low, high = axes.get_ylim()
    axes.set_ylim(min(low, test.lower_bound - room), max(high, test.upper_bound + room))
    axes.set_xlim(0, max(1, pairs))
    axes.set_xlabel(say("chart.pairs_in_order"))
    axes.set_ylabel(say("chart.ratio"))
    _grid(axes, "y")
    return figure


def lengths_chart(records: Sequence[GameRecord], language: str) -> Figure:
    """Histogram of the games' lengths in plies, decisive games and draws."""
    import numpy as np

    figure, axes = _figure(2.9)
    say = _say(language)
    decisive = [len(record.moves) for record in records if record.result in ("1-0", "0-1")]
    drawn = [len(record.moves) for record in records if record.result == "1/2-1/2"]
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
    _grid(axes, "y")
    figure.legend(loc="outside upper center", ncols=2, frameon=False, fontsize=11, handlelength=1)
    return figure


def iterations_chart(search_statistics: SearchStatistics, language: str) -> Figure:
    """Mean nodes from the start of a search to the end of each depth, on a logarithmic scale, by player."""
    from matplotlib.ticker import MaxNLocator

    figure, axes = _figure(3.4)
    for place, name in enumerate(search_statistics.totals):
        rows = iteration_rows(name, search_statistics.totals[name])
        axes.plot(
            [row["depth_plies"] for row in rows], [row["mean_nodes_to_depth"] for row in rows],
            LINE_STYLES[place // len(SERIES) % len(LINE_STYLES)], color=SERIES[place % len(SERIES)], linewidth=1.8,
            marker="o", markersize=4, label=_names([name], 22)[0],
        )  # fmt: skip
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}".replace(",", "\N{NO-BREAK SPACE}"))
    axes.yaxis.set_minor_formatter("")
    say = _say(language)
    axes.set_xlabel(say("chart.iteration_depth"))
    axes.set_ylabel(say("chart.nodes_to_its_end"))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    _grid(axes, "y")
    figure.legend(loc="outside right center", frameon=False, fontsize=11, handlelength=1.6)
    return figure


def null_failures_chart(search_statistics: SearchStatistics, language: str) -> Figure:
    """Failed verifications and wrong samples of null cutoffs against own material, all players together."""
    from engine.search_statistics import MATERIAL_STEP, summed_search_statistics

    figure, axes = _figure(3.2)
    total = {"null_by_material": {}, **summed_search_statistics(search_statistics.totals.values())}
    rows = null_rows("", total, "material")
    say = _say(language)
    parts = (
        ("refuted_percent_of_verified", say("chart.failed_verifications"), LOSS, "o-"),
        ("wrong_percent_of_decided", say("chart.wrong_samples"), WIN, "s--"),
    )
    for column, label, color, style in parts:
        known = [row for row in rows if row[column] is not None]
        axes.plot(
            [(row["own_material_from_centipawns"] + MATERIAL_STEP / 2) / 100 for row in known],
            [row[column] for row in known], style, color=color, label=label, markersize=5, linewidth=1.6,
        )  # fmt: skip
    axes.set_ylim(bottom=0)
    axes.set_xlim(left=0)
    axes.set_xlabel(say("chart.own_material", width=f"{MATERIAL_STEP / 100:g}"))
    axes.set_ylabel("%")
    _grid(axes, "y")
    figure.legend(loc="outside upper center", ncols=2, frameon=False, fontsize=11, handlelength=1.6)
    return figure


def crosstable_chart(tables: Tables, language: str) -> Figure:
    """Heat map: score of the row's player against the column's, in percent."""
    import numpy as np
    from matplotlib.colors import LinearSegmentedColormap

    names = [row.player for row in tables.standings]
    scores = np.full((len(names), len(names)), np.nan)
    for result in tables.head_to_heads:
        scores[names.index(result.player), names.index(result.opponent)] = 100 * result.score
    figure, axes = _figure(1.6 + 0.42 * len(names))
    colors = LinearSegmentedColormap.from_list("score", [LOSS, "#f6f3ee", WIN]).with_extremes(bad=GROUND)
    axes.imshow(np.ma.masked_invalid(scores), cmap=colors, vmin=0, vmax=100, aspect="auto")
    for (row, column), score in np.ndenumerate(scores):
        if not np.isnan(score):
            axes.text(column, row, f"{score:.1f}", ha="center", va="center", fontsize=11)
    short = _names(names, 16)
    turned: dict[str, Any] = {"rotation": 30, "ha": "right"} if len(names) > 4 else {}
    axes.set_xticks(range(len(names)), short, **turned)
    axes.set_yticks(range(len(names)), short)
    axes.tick_params(axis="x", labelcolor=INK)
    axes.set_xlabel(_say(language)("chart.opponent"))
    axes.spines["bottom"].set_visible(False)
    return figure
