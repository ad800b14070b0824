"""The plots of a report, with titles and captions."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from elolab.arena.files import FileError, replace_file
from elolab.arena.records import GameSummary
from elolab.arena.reports import tournament_charts as charts
from elolab.arena.reports.drawing.fonts import chart_language
from elolab.arena.reports.render import REPORTS
from elolab.engine.games import game_named
from elolab.engine.language import Catalogue, game_words

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from elolab.arena.sequential import SequentialRun
    from elolab.arena.statistics.search_tables import SearchStatistics
    from elolab.arena.statistics.standings import Tables

PLOT_FOLDER = "plots"
"""Name of the folder for plots inside the folder of a report."""


@dataclass(frozen=True)
class Plot:
    """One plot of a report."""

    name: str
    """Name of the plot's files without extension; also the prefix of the ids in its SVG in the page."""
    title: str
    caption: str
    """Text below the plot that explains it."""
    figure: Figure


def plots_of(
    tables: Tables, records: Sequence[GameSummary], run: SequentialRun | None, game: str, language: str
) -> tuple[Plot, ...]:
    """The plots of a tournament's report.

    ``records`` are the games that are counted in ``tables``. ``run`` is the sequential test, ``None`` without one.
    ``game`` is the game's name.
    """
    say = Catalogue(REPORTS, language)
    drawn = chart_language(language)
    sides, names = game_named(game).side_names, game_words(game, drawn).side_names
    origin = say(f"plot.origin_{tables.reference}")
    first = game_words(game, language).side_names[0]
    if len(tables.counter.players) == 2:
        one, other = tables.counter.players
        caption = say("plot.course_caption", one=one, other=other)
        course = Plot("convergence", say("plot.course"), caption, charts.course_chart(tables, records, drawn))
    else:
        course = _plot("convergence", charts.convergence_chart(tables, records, drawn), say)
    return (
        _plot("ratings", charts.ratings_chart(tables, drawn), say, origin=origin),
        course,
        _plot("pairs", charts.pairs_chart(tables, drawn), say),
        _plot("endings", charts.endings_chart(tables, sides, names, drawn), say, first=first),
        _plot("lengths", charts.lengths_chart(records, drawn), say),
        _plot("crosstable", charts.crosstable_chart(tables, drawn), say),
        *([] if run is None else [_plot("sequential", charts.sequential_chart(run, drawn), say)]),
    )


def search_statistics_plots(search_statistics: SearchStatistics, language: str) -> tuple[Plot, ...]:
    """The plots of search statistics: mean nodes up to each depth, and percentages of wrong null-move cutoffs."""
    say, drawn = Catalogue(REPORTS, language), chart_language(language)
    return (
        _plot("nodes_to_depth", charts.iterations_chart(search_statistics, drawn), say),
        _plot("null_failures", charts.null_failures_chart(search_statistics, drawn), say),
    )


def _plot(name: str, figure: Figure, say: Catalogue, **fields: str) -> Plot:
    return Plot(name, say(f"plot.{name}"), say(f"plot.{name}_caption", **fields), figure)


LATEX = "tex"
"""Value in the argument of ``also_written_as`` that selects tables in LaTeX."""
_WANTED: ContextVar[Collection[str]] = ContextVar("formats of reports", default=())


@contextmanager
def also_written_as(endings: Collection[str]) -> Iterator[None]:
    """A context in which reports are also written in the formats ``endings``.

    These are ``png`` and ``pdf`` for plots, and ``LATEX`` for tables.
    """
    token = _WANTED.set(endings)
    try:
        yield
    finally:
        _WANTED.reset(token)


def wanted_formats() -> Collection[str]:
    """The formats that the current context of ``also_written_as`` has set; empty outside of such a context."""
    return _WANTED.get()


def write_plots(directory: Path, plots: Sequence[Plot]) -> None:
    """Write all plots into ``directory/plots``, as SVG and in the formats set by ``also_written_as``.

    Files in other formats that already exist are updated too. A plot whose SVG file has not changed is skipped. Raises
    ``FileError`` if a file cannot be written.
    """
    from elolab.arena.reports.drawing.style import FORMATS, figure_file, svg_of

    folder = directory / PLOT_FOLDER
    there = {path.suffix[1:] for path in folder.glob("*.*")}
    formats = [ending for ending in FORMATS if ending == "svg" or ending in there or ending in wanted_formats()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{folder}: cannot be made: {error.strerror}") from None
    for plot in plots:
        files = [folder / f"{plot.name}.{ending}" for ending in formats]
        if all(file.is_file() for file in files) and files[-1].read_bytes() == svg_of(plot.figure).encode():
            continue
        for file, ending in zip(files, formats, strict=True):
            replace_file(file, figure_file(plot.figure, ending))
