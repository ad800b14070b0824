"""The figures of a report with their titles and captions."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from elolab.arena.files import FileError, replace_file
from elolab.arena.records import GameSummary
from elolab.arena.reports.drawing.fonts import chart_language
from elolab.arena.reports.render import REPORTS
from elolab.engine.language import Catalogue, game_words

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from elolab.arena.sequential import SequentialRun
    from elolab.arena.statistics.search_tables import SearchStatistics
    from elolab.arena.statistics.standings import Tables

PLOT_FOLDER = "plots"
"""The folder of a report's figures."""


@dataclass(frozen=True)
class Plot:
    """One figure of a report."""

    name: str
    """File name without ending, and prefix of the ids in the page."""
    title: str
    caption: str
    """An explanation for the reader."""
    figure: Figure


def plots_of(
    tables: Tables, records: Sequence[GameSummary], run: SequentialRun | None, game: str, language: str
) -> tuple[Plot, ...]:
    """The figures of a tournament; ``records`` are the games that count, ``run`` is its sequential test, if any."""
    from elolab.arena.reports import tournament_charts as charts
    from elolab.engine.games import game_named

    say = Catalogue(REPORTS, language)
    drawn = chart_language(language)
    sides, names = game_named(game).side_names, game_words(game, drawn).side_names
    origin = say(f"plot.origin_{tables.reference}")
    first = game_words(game, language).side_names[0]
    return (
        _plot("ratings", charts.ratings_chart(tables, drawn), say, origin=origin),
        _course(tables, records, drawn, say),
        _plot("pairs", charts.pairs_chart(tables, drawn), say),
        _plot("endings", charts.endings_chart(tables, sides, names, drawn), say, first=first),
        _plot("lengths", charts.lengths_chart(records, drawn), say),
        _plot("crosstable", charts.crosstable_chart(tables, drawn), say),
        *([] if run is None else [_plot("sequential", charts.sequential_chart(run, drawn), say)]),
    )


def _course(tables: Tables, records: Sequence[GameSummary], drawn: str, say: Catalogue) -> Plot:
    """The figure of ratings after growing numbers of pairs, or of the Elo difference if there are two players."""
    from elolab.arena.reports import tournament_charts as charts

    if len(tables.counter.players) != 2:
        return _plot("convergence", charts.convergence_chart(tables, records, drawn), say)
    one, other = tables.counter.players
    caption = say("plot.course_caption", one=one, other=other)
    return Plot("convergence", say("plot.course"), caption, charts.course_chart(tables, records, drawn))


def search_statistics_plots(search_statistics: SearchStatistics, language: str) -> tuple[Plot, ...]:
    """The figures of search statistics."""
    from elolab.arena.reports import tournament_charts as charts

    say, drawn = Catalogue(REPORTS, language), chart_language(language)
    return (
        _plot("nodes_to_depth", charts.iterations_chart(search_statistics, drawn), say),
        _plot("null_failures", charts.null_failures_chart(search_statistics, drawn), say),
    )


def _plot(name: str, figure: Figure, say: Catalogue, **fields: str) -> Plot:
    return Plot(name, say(f"plot.{name}"), say(f"plot.{name}_caption", **fields), figure)


_WANTED: ContextVar[Collection[str]] = ContextVar("figure formats", default=())


@contextmanager
def figures_also_as(endings: Collection[str]) -> Iterator[None]:
    """Context manager in which ``write_plots`` also writes these formats, such as ``png``."""
    token = _WANTED.set(endings)
    try:
        yield
    finally:
        _WANTED.reset(token)


def write_plots(directory: Path, plots: Sequence[Plot]) -> None:
    """Write every figure into ``directory/plots`` as SVG and in requested formats. Raises ``FileError``.

    Formats of files already in the folder are written too, to keep these files up to date; other formats are not,
    because drawing is slow. A figure is skipped if its SVG, which is written last, is unchanged.
    """
    from elolab.arena.reports.drawing.style import FORMATS, figure_file, svg_of

    folder = directory / PLOT_FOLDER
    there = {path.suffix[1:] for path in folder.glob("*.*")}
    formats = [ending for ending in FORMATS if ending == "svg" or ending in there or ending in _WANTED.get()]
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
