"""The tables common to a report's page and its summary, as text in the report's language."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from elolab.arena.reports.contents import (
    ARENA,
    REPORTS,
    Contents,
    figure_text,
    mean_text,
    number_text,
    setting_text,
)
from elolab.arena.statistics.numbers import error_text, percent_text, signed
from elolab.arena.statistics.placing import (
    KnockoutRow,
    Placing,
    SwissRow,
    points_text,
    reached_text,
    reason_text,
    round_name,
    round_text,
    round_title,
    score_text,
)
from elolab.arena.statistics.search_tables import end_rows, iteration_rows, player_row, shown_columns
from elolab.arena.statistics.standings import mean_score_text, rating_error_text, rating_text
from elolab.engine.language import Catalogue

NUMBER, TEXT = "number", ""


@dataclass(frozen=True)
class TextTable:
    """A table of texts."""

    heads: tuple[tuple[str, str], ...]
    """A title and a unit for each column."""
    kinds: tuple[str, ...]
    """``NUMBER`` or ``TEXT`` for each column."""
    rows: tuple[tuple[str, ...], ...]


Column = tuple[str, str, str]
"""Title, unit (both as ``_word`` reads them) and kind."""


def _table(say: Catalogue, columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> TextTable:
    """Build a table; lower-case words are keys of the messages ``column`` and ``unit``, other words stay as they
    are."""
    heads = tuple((_word(say, "column", title), _word(say, "unit", unit)) for title, unit, _ in columns)
    return TextTable(heads, tuple(kind for _, _, kind in columns), tuple(map(tuple, rows)))


def _word(say: Catalogue, table: str, word: str) -> str:
    return say(f"{table}.{word}") if f"{table}.{word}" in say else word


def standings_table(contents: Contents) -> TextTable:
    """Every player's rating, results and effort per move."""
    tables, arena = contents.tables, Catalogue(ARENA, contents.language)
    columns = (
        ("#", "", NUMBER), ("player", "", TEXT), ("rating", "Elo", NUMBER), ("±", "Elo", NUMBER),
        ("points", "", NUMBER), ("games", "", NUMBER), ("wins", "", NUMBER), ("draws", "", NUMBER),
        ("losses", "", NUMBER), ("score", "%", NUMBER), ("pairs", "pairs", NUMBER), ("depth", "plies", NUMBER),
        ("nodes", "per_move", NUMBER), ("time", "ms_per_move", NUMBER),
    )  # fmt: skip
    rows = [
        (
            str(row.rank), row.player, rating_text(row, tables), rating_error_text(row, tables, arena),
            f"{row.points:g}", number_text(row.games), number_text(row.wins), number_text(row.draws),
            number_text(row.losses),
            mean_score_text(row), f"{row.LL} / {row.LD} / {row.even} / {row.WD} / {row.WW}",
            mean_text(row.mean_depth, 1), mean_text(row.mean_nodes, 0), mean_text(row.mean_time_ms, 2),
        )
        for row in tables.standings
    ]  # fmt: skip
    return _table(contents.say, columns, rows)


def placing_table(placing: Placing, language: str) -> TextTable:
    """The placing: in a Swiss tournament points, tie-breaks and rounds; in a knockout the places."""
    say, heads = Catalogue(ARENA, language), Catalogue(REPORTS, language)
    if placing.bracket is not None:
        columns: list[Column] = [
            ("#", "", NUMBER), ("player", "", TEXT), ("seed", "", NUMBER), ("reached", "", TEXT),
            ("encounters_won", "", NUMBER), ("game_points", "", NUMBER),
        ]  # fmt: skip
        places = [
            (str(row.place), row.player, str(row.seed), reached_text(row.reached, say), str(row.encounters_won),
             points_text(row.game_points))
            for row in placing.rows if isinstance(row, KnockoutRow)
        ]  # fmt: skip
        return _table(heads, columns, places)
    rounds = [(str(number + 1), "", NUMBER) for number in range(placing.rounds_played)]
    columns = [
        ("#", "", NUMBER), ("player", "", TEXT), ("points", "", NUMBER), ("buchholz", "", NUMBER),
        ("sonneborn_berger", "", NUMBER), ("direct", "", NUMBER), ("game_points", "", NUMBER), ("seed", "", NUMBER),
        *rounds,
    ]  # fmt: skip
    rows = [
        (
            str(row.place), row.player, points_text(row.points), points_text(row.buchholz),
            points_text(row.sonneborn_berger),
            "\N{EN DASH}" if row.direct_encounter is None else points_text(row.direct_encounter),
            points_text(row.game_points), str(row.seed), *(round_text(cell, say) for cell in row.rounds),
        )
        for row in placing.rows if isinstance(row, SwissRow)
    ]  # fmt: skip
    return _table(heads, columns, rows)


def encounters_table(contents: Contents) -> TextTable:
    """The encounters of a knockout, round by round."""
    placing, say = contents.placing, Catalogue(ARENA, contents.language)
    assert placing is not None
    columns = (
        ("round", "", TEXT), ("player", "", TEXT), ("opponent", "", TEXT), ("points", "", TEXT), ("winner", "", TEXT),
        ("reason", "", TEXT),
    )  # fmt: skip
    rows = [
        (
            round_title("third_place" if row.for_third_place else round_name(row.round - 1, placing.rounds), say),
            row.player, row.opponent, score_text(row.points, row.opponent_points) if row.games else "", row.winner,
            reason_text(row.reason, say),
        )
        for row in placing.encounters
    ]  # fmt: skip
    return _table(contents.say, columns, rows)


def pairings_table(contents: Contents) -> TextTable:
    """Every pairing of two players who met, once."""
    columns = (
        ("player", "", TEXT), ("opponent", "", TEXT), ("Elo", "", NUMBER), ("±", "Elo", NUMBER), ("LOS", "%", NUMBER),
        ("results", "", TEXT), ("score", "%", NUMBER),
    )  # fmt: skip
    rank = {row.player: row.rank for row in contents.tables.standings}
    rows = [
        (
            result.player, result.opponent, f"{signed(result.elo)}{'' if result.from_pairs else ' *'}",
            error_text(result.elo_error), percent_text(result.los), f"{result.wins}-{result.draws}-{result.losses}",
            f"{100 * result.score:.1f}",
        )
        for result in contents.tables.head_to_heads
        if rank[result.player] < rank[result.opponent]
    ]  # fmt: skip
    return _table(contents.say, columns, rows)


def opponents_heads(contents: Contents) -> TextTable:
    """The column heads of one player's opponents, without rows."""
    columns = (
        ("#", "", NUMBER), ("opponent", "", TEXT), ("results", "", NUMBER), ("score", "%", NUMBER),
        ("Elo", "", NUMBER), ("LOS", "%", NUMBER), ("joint_difference", "Elo", NUMBER), ("joint_los", "%", NUMBER),
    )  # fmt: skip
    return _table(contents.say, columns, ())


def superiority_table(contents: Contents) -> TextTable:
    """Likelihood of superiority, in percent; players in the order of the standings."""
    names = [row.player for row in contents.tables.standings]
    columns = [("#", "", NUMBER), ("player", "", TEXT), *((str(place + 1), "", NUMBER) for place in range(len(names)))]
    rows = [
        (str(place + 1), name, *("" if other == place else percent_text(share) for other, share in enumerate(shares)))
        for place, (name, shares) in enumerate(zip(names, contents.tables.superiority(), strict=True))
    ]
    return _table(contents.say, columns, rows)


def search_statistics_table(contents: Contents) -> TextTable:
    """Search statistics, one row per player."""
    found = contents.search_statistics
    figures = shown_columns()
    columns = [("player", "", TEXT), *((title, unit, NUMBER) for title, unit, _, _ in figures)]
    rows = []
    for name, total in found.totals.items():
        row = player_row(name, total, found.games[name])
        rows.append((name, *(figure_text(figure(row), digits) for _, _, figure, digits in figures)))
    return _table(contents.say, columns, rows)


def turned_over(table: TextTable, corner: str) -> TextTable:
    """The transposed table, for few players and many statistics."""
    titles = [f"{title} ({unit})" if unit else title for title, unit in table.heads]
    rows = tuple((titles[column], *(row[column] for row in table.rows)) for column in range(1, len(titles)))
    heads = ((corner, ""), *((row[0], "") for row in table.rows))
    return TextTable(heads, (TEXT, *(NUMBER for _ in table.rows)), rows)


def search_ends_table(contents: Contents) -> TextTable:
    """Reasons that ended searches."""
    columns = (
        ("player", "", TEXT), ("ended_by", "", TEXT), ("searches", "", NUMBER), ("share", "%", NUMBER),
        ("nodes", "mean", NUMBER), ("time", "ms_mean", NUMBER),
    )  # fmt: skip
    rows = [
        (
            name, contents.say.name_of("search_end", row["reason"]), number_text(row["searches"]),
            figure_text(row["searches_percent"], 1), figure_text(row["mean_nodes"], 0),
            figure_text(row["mean_time_ms"], 2),
        )
        for name, total in contents.search_statistics.totals.items()
        for row in end_rows(name, total)
    ]  # fmt: skip
    return _table(contents.say, columns, rows)


def iterations_table(contents: Contents) -> TextTable:
    """The cost of each iteration."""
    columns = (
        ("player", "", TEXT), ("depth", "plies", NUMBER), ("searches", "", NUMBER), ("nodes", "mean", NUMBER),
        ("time", "ms_mean", NUMBER), ("nodes_to_depth", "mean", NUMBER), ("branching", "factor", NUMBER),
    )  # fmt: skip
    rows = [
        (
            name, str(row["depth_plies"]), number_text(row["searches"]), figure_text(row["mean_nodes"], 0),
            figure_text(row["mean_time_ms"], 2), figure_text(row["mean_nodes_to_depth"], 0),
            figure_text(row["branching_factor"], 2),
        )
        for name, total in contents.search_statistics.totals.items()
        for row in iteration_rows(name, total)
    ]  # fmt: skip
    return _table(contents.say, columns, rows)


def players_table(contents: Contents, code: str = "{}") -> TextTable:
    """Players' limits and settings; ``code`` formats a limit as code."""
    spec = contents.spec
    rows = [
        (player.name, code.format(player.limits), setting_text(player, spec.game, contents.say))
        for player in spec.players
    ]
    return _table(contents.say, (("player", "", TEXT), ("limit", "", TEXT), ("setting", "", TEXT)), rows)
