"""The tables of a tournament's report, as texts in the report's language."""

from __future__ import annotations

from collections.abc import Sequence

from elolab.arena.notation.variations import KINDS, VariationCount
from elolab.arena.reports.contents import ARENA, Contents, figure_text, mean_text, number_text, setting_text
from elolab.arena.reports.document import NUMBER, TEXT, TextTable
from elolab.arena.reports.render import REPORTS
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
from elolab.arena.statistics.search_tables import SHOWN_COLUMNS, end_rows, iteration_rows, player_row
from elolab.arena.statistics.standings import mean_score_text, rating_error_text, rating_text
from elolab.engine.language import Catalogue

TEXT_COLUMNS = {
    "player", "opponent", "reached", "round", "winner", "reason", "results", "ended_by", "limit", "setting"
}  # fmt: skip
"""Names of the left-aligned columns. All other columns contain numbers and are right-aligned.

A name is a key of the table ``column`` in the message catalogue.
"""


def _table(say: Catalogue, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> TextTable:
    """Create a table. The cells of the column ``player``, or else of the first column, are the titles of the rows.

    A column is given as ``title`` or ``title unit``: keys of the tables ``column`` and ``unit`` in the catalogue
    ``say``. Words that are not in the catalogue are shown unchanged.
    """
    parts = [column.partition(" ") for column in columns]
    heads = tuple((_word(say, "column", title), _word(say, "unit", unit)) for title, _, unit in parts)
    kinds = tuple(TEXT if title in TEXT_COLUMNS else NUMBER for title, _, _ in parts)
    return TextTable(heads, kinds, tuple(map(tuple, rows)), int("player" in columns) and columns.index("player"))


def _word(say: Catalogue, table: str, word: str) -> str:
    return say(f"{table}.{word}") if f"{table}.{word}" in say else word


def standings_table(contents: Contents) -> TextTable:
    """The standings: each player's rating and results, and its mean depth, nodes and time per move."""
    tables, arena = contents.tables, Catalogue(ARENA, contents.language)
    columns = (
        "#", "player", "rating Elo", "± Elo", "points", "games", "wins", "draws", "losses", "score %", "pairs pairs",
        "depth plies", "nodes per_move", "time ms_per_move",
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
    """The final places of all players.

    A Swiss tournament has points, tie-breaks and rounds; a knockout the round that each player reached.
    """
    say, heads = Catalogue(ARENA, language), Catalogue(REPORTS, language)
    if placing.bracket is not None:
        places = [
            (str(row.place), row.player, str(row.seed), reached_text(row.reached, say), str(row.encounters_won),
             points_text(row.game_points))
            for row in placing.rows if isinstance(row, KnockoutRow)
        ]  # fmt: skip
        return _table(heads, ("#", "player", "seed", "reached", "encounters_won", "game_points"), places)
    columns = (
        "#", "player", "points", "buchholz", "sonneborn_berger", "direct", "game_points", "seed",
        *(str(number + 1) for number in range(placing.rounds_played)),
    )  # fmt: skip
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


def encounters_table(placing: Placing, language: str) -> TextTable:
    """The encounters of a knockout, round by round."""
    say = Catalogue(ARENA, language)
    columns = ("round", "player", "opponent", "points", "winner", "reason")
    rows = [
        (
            round_title("third_place" if row.for_third_place else round_name(row.round - 1, placing.rounds), say),
            row.player, row.opponent, score_text(row.points, row.opponent_points) if row.games else "", row.winner,
            reason_text(row.reason, say),
        )
        for row in placing.encounters
    ]  # fmt: skip
    return _table(Catalogue(REPORTS, language), columns, rows)


def pairings_table(contents: Contents) -> TextTable:
    """The results of each pair of players who met, one row for each pair."""
    columns = ("player", "opponent", "Elo", "± Elo", "LOS %", "results", "score %")
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


def search_statistics_table(contents: Contents) -> TextTable:
    """The search statistics, one row for each player. With few players, the table is transposed."""
    found = contents.search_statistics
    columns = ("player", *(f"{title} {unit}" for title, unit, _, _ in SHOWN_COLUMNS))
    rows = []
    for name, total in found.totals.items():
        row = player_row(name, total, found.games[name])
        rows.append((name, *(figure_text(row[column], digits) for _, _, column, digits in SHOWN_COLUMNS)))
    table = _table(contents.say, columns, rows)
    return _transposed(table, contents.say("column.figure")) if len(rows) < len(SHOWN_COLUMNS) / 2 else table


def _transposed(table: TextTable, corner: str) -> TextTable:
    titles = [f"{title} ({unit})" if unit else title for title, unit in table.heads]
    rows = tuple((titles[column], *(row[column] for row in table.rows)) for column in range(1, len(titles)))
    heads = ((corner, ""), *((row[0], "") for row in table.rows))
    return TextTable(heads, (TEXT, *(NUMBER for _ in table.rows)), rows)


def search_ends_table(contents: Contents) -> TextTable:
    """The number of searches, with mean nodes and time, for each player and each reason that ended a search."""
    columns = ("player", "ended_by", "searches", "share %", "nodes mean", "time ms_mean")
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
    """Mean nodes, mean time and branching factor of each iteration, for each player."""
    columns = (
        "player", "depth plies", "searches", "nodes mean", "time ms_mean", "nodes_to_depth mean", "branching factor",
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


def players_table(contents: Contents) -> TextTable:
    """The search limit and settings of each player."""
    game, say = contents.spec.game, contents.say
    rows = [(player.name, str(player.limits), setting_text(player, game, say)) for player in contents.spec.players]
    return _table(say, ("player", "limit", "setting"), rows)


def variations_table(contents: Contents) -> TextTable:
    """For each player, the number of moves with a faulty variation, mate, score or depth.

    There is one column for each kind of fault that occurs.
    """
    kinds = [kind for kind in KINDS if any(count.counts[kind] for count in contents.variations)]
    rows = [
        (
            count.player, number_text(count.moves), number_text(count.lines),
            *(_found_text(count, kind) for kind in kinds),
        )
        for count in contents.variations
    ]  # fmt: skip
    return _table(contents.say, ("player", "said_moves", "lines_read", *kinds), rows)


def _found_text(count: VariationCount, kind: str) -> str:
    """Number of a player's moves with one kind of fault, and game and ply of the first one: ``3 (12:40)``."""
    if not count.counts[kind]:
        return "0"
    game, ply = count.first[kind]
    return f"{number_text(count.counts[kind])} ({game}:{ply})"
