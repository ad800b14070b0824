"""The figures of a report with their titles and captions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from arena.records import GameRecord
from arena.reports.contents import REPORTS, Plot
from arena.reports.fonts import chart_language
from engine.language import Catalogue, game_words

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from arena.figures.search_statistics import SearchStatistics
    from arena.figures.standings import Tables
    from arena.sequential import SequentialRun


def plots_of(
    tables: Tables, records: Sequence[GameRecord], run: SequentialRun | None, game: str, language: str
) -> tuple[Plot, ...]:
    """The figures of results; ``records`` are those that count, ``run`` is the sequential test if there is one."""
    from arena.reports import charts
    from engine.games import game_named

    say = Catalogue(REPORTS, language)
    drawn = chart_language(language)
    sides, names = game_named(game).side_names, game_words(game, drawn).side_names
    origin = say("plot.origin_anchors" if tables.anchors else "plot.origin_mean")
    first = game_words(game, language).side_names[0]
    return (
        _plot("ratings", charts.ratings_chart(tables, drawn), say, origin=origin),
        _plot("convergence", charts.convergence_chart(tables, records, drawn), say),
        _plot("pairs", charts.pairs_chart(tables, drawn), say),
        _plot("endings", charts.endings_chart(tables, sides, names, drawn), say, first=first),
        _plot("lengths", charts.lengths_chart(records, drawn), say),
        _plot("crosstable", charts.crosstable_chart(tables, drawn), say),
        *([] if run is None else [_plot("sequential", charts.sequential_chart(run, drawn), say)]),
    )


def search_statistics_plots(search_statistics: SearchStatistics, language: str) -> tuple[Plot, ...]:
    """The figures of what the searches counted."""
    from arena.reports import charts

    say, drawn = Catalogue(REPORTS, language), chart_language(language)
    return (
        _plot("nodes_to_depth", charts.iterations_chart(search_statistics, drawn), say),
        _plot("null_failures", charts.null_failures_chart(search_statistics, drawn), say),
    )


def _plot(name: str, figure: Figure, say: Catalogue, **fields: str) -> Plot:
    return Plot(name, say(f"plot.{name}"), say(f"plot.{name}_caption", **fields), figure)
