"""The summary report.md: the report without games, for reading in a repository or a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from arena.figures.search_statistics import SearchStatistics, player_row, shown_columns
from arena.figures.standings import HeadToHead, Tables, error_text, percent_text, rating_text
from arena.reports.contents import (
    CROSSTABLE_NOTE,
    SEARCH_STATISTICS_NOTE,
    SEARCH_STATISTICS_SECTION,
    SEQUENTIAL_NOTE,
    SUPERIORITY_NOTE,
    Contents,
    Plot,
    elo_text,
    facts_of,
    figure_text,
    interval_text,
    mean_text,
    repeat_command,
    sequential_facts,
    setting_text,
    summary_of,
    warnings_of,
)


def markdown(contents: Contents) -> str:
    """The report without games, for reading in a repository or a terminal; plots are linked."""
    spec, tables = contents.spec, contents.tables
    parts = [f"# {spec.name}", summary_of(contents), *(f"> {text}" for text in warnings_of(contents))]
    if contents.sequential is not None:
        parts += ["## Sequential test", SEQUENTIAL_NOTE.format(batch=contents.sequential.settings.batch_pairs)]
        parts += ["\n".join(f"- {label}: {text}" for label, text in sequential_facts(contents))]
        parts += [_plot_markdown(contents, "sequential")]
    parts += ["## Standings", contents.rating_note, _standings_markdown(tables), _plot_markdown(contents, "ratings")]
    parts += ["## Everyone against everyone", CROSSTABLE_NOTE, _duels_markdown(tables.duels)]
    if len(tables.standings) > 2:
        parts += ["## Who is stronger than whom", SUPERIORITY_NOTE, _superiority_markdown(tables)]
    parts += [_plot_markdown(contents, name) for name in ("crosstable", "pairs", "convergence", "endings", "lengths")]
    if contents.search_statistics:
        parts += [
            f"## {SEARCH_STATISTICS_SECTION[1]}",
            SEARCH_STATISTICS_NOTE,
            _search_statistics_markdown(contents.search_statistics),
        ]
        parts += [_plot_link(plot) for plot in contents.instrument_plots]
    parts += ["## What was played", "\n".join(f"- {label}: {text}" for label, text in facts_of(contents))]
    players = [(player.name, f"`{player.limits}`", setting_text(player, spec.game)) for player in spec.players]
    parts += [_table(("player", "limit", "setting"), players, numbers=())]
    parts += [f"{contents.again}:\n\n    {repeat_command(spec)}"]
    return "\n\n".join(parts) + "\n"


def _plot_markdown(contents: Contents, name: str) -> str:
    return _plot_link(contents.plot(name))


def _plot_link(plot: Plot) -> str:
    return f"![{plot.title}](plots/{plot.name}.png)\n\n*{plot.title}.* {plot.caption}"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int]) -> str:
    lines = [heads, ["---:" if column in numbers else "---" for column in range(len(heads))], *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def _search_statistics_markdown(search_statistics: SearchStatistics) -> str:
    """The main table turned over: one row a figure, one column a player."""
    rows = [player_row(name, total, search_statistics.games[name]) for name, total in search_statistics.totals.items()]
    cells = [
        (f"{head} ({unit})" if unit else head, *(figure_text(figure(row), digits) for row in rows))
        for head, unit, figure, digits in shown_columns()
    ]
    return _table(("figure", *(row["player"] for row in rows)), cells, numbers=range(1, len(rows) + 1))


def _standings_markdown(tables: Tables) -> str:
    heads = ("#", "player", "rating (Elo)", "±", "points", "games", "W-D-L", "score %", "pairs", "depth", "nodes", "ms")
    cells = [
        (
            str(row.rank), row.player, rating_text(row, tables), error_text(row, tables), f"{row.points:g}",
            str(row.games),
            f"{row.wins}-{row.draws}-{row.losses}", f"{100 * row.score:.1f}",
            f"{row.LL} / {row.LD} / {row.even} / {row.WD} / {row.WW}", mean_text(row.mean_depth, 1),
            mean_text(row.mean_nodes, 0), mean_text(row.mean_time_ms, 2),
        )
        for row in tables.standings
    ]  # fmt: skip
    return _table(heads, cells, numbers=(0, 2, 3, 4, 5, 7, 9, 10, 11))


def _superiority_markdown(tables: Tables) -> str:
    names = [row.player for row in tables.standings]
    cells = [
        (str(place + 1), name, *("" if other == place else percent_text(share) for other, share in enumerate(shares)))
        for place, (name, shares) in enumerate(zip(names, tables.superiority(), strict=True))
    ]
    heads = ("#", "player", *(str(number) for number in range(1, len(names) + 1)))
    return _table(heads, cells, numbers=(0, *range(2, len(names) + 2)))


def _duels_markdown(duels: Sequence[HeadToHead]) -> str:
    seen: set[frozenset[str]] = set()
    cells = []
    for duel in duels:
        if (both := frozenset((duel.player, duel.opponent))) in seen:
            continue
        seen.add(both)
        mark = "" if duel.from_pairs else " *"
        cells.append(
            (
                duel.player, duel.opponent, f"{elo_text(duel.elo)}{mark}", interval_text(duel.elo_error),
                percent_text(duel.los), f"{duel.wins}-{duel.draws}-{duel.losses}", f"{100 * duel.score:.1f}",
            )
        )  # fmt: skip
    return _table(("player", "opponent", "Elo", "±", "LOS %", "W-D-L", "score %"), cells, numbers=(2, 3, 4, 6))
