"""Tables of search statistics: one row or more for each built-in player, over all its games.

External players and players without statistics are left out. A rate is ``None`` if its denominator is 0. Names of
columns contain the units.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from elolab.arena.records import GameRecord
from elolab.engine.search_statistics import END_COLUMNS, ITERATION_COLUMNS, NULL_COLUMNS, add_search_statistics

if TYPE_CHECKING:
    from pandas import DataFrame

Row = dict[str, Any]
SHOWN_COLUMNS = (
    ("nodes", "a_search", "nodes_per_search", 0),
    ("branching", "factor", "branching_factor", 2),
    ("last_iteration", "of_nodes", "last_iteration_nodes_percent", 1),
    ("windows_held", "%", "aspiration_windows_held_percent", 1),
    ("first_move_cutoffs", "%", "cutoffs_by_first_move_percent", 1),
    ("table_hits", "of_probes", "table_hits_percent_of_probes", 1),
    ("table_cutoffs", "of_probes", "table_cutoffs_percent_of_probes", 1),
    ("null_cutoffs", "of_tries", "null_cutoffs_percent_of_tries", 1),
    ("failed_verifications", "%", "null_verifications_failed_percent", 2),
    ("wrong_null_cutoffs", "of_samples", "null_cutoffs_wrong_percent_of_decided", 2),
    ("after_last_iteration", "of_nodes", "after_last_iteration_nodes_percent", 1),
    ("after_last_result", "of_nodes", "after_last_result_nodes_percent", 1),
    ("time_used", "of_proper", "time_used_percent_of_proper", 1),
    ("soft_stops", "of_stops", "soft_stops_percent_of_both", 1),
)
"""Columns of the report's main table of search statistics.

Each has the message keys of its title and unit, its key in the result of ``player_row``, and its number of decimals.
"""


@dataclass(frozen=True)
class SearchStatistics:
    """Search statistics summed over the games of a tournament, for each player that has any."""

    totals: Mapping[str, Mapping[str, Any]]
    """Summed statistics (``engine.search_statistics``) by player name, in the order of the specification."""
    games: Mapping[str, int]
    """Number of games with statistics, keyed by the player's name."""

    def __bool__(self) -> bool:
        return bool(self.totals)

    def frames(self) -> dict[str, DataFrame]:
        """All tables of search statistics, keyed by the name of the CSV file without extension."""
        from pandas import DataFrame

        tables: dict[str, Callable[[str, Mapping[str, Any]], list[Row]]] = {
            "instruments": lambda name, total: [player_row(name, total, self.games[name])],
            "instruments_null_by_material": partial(null_rows, by="material"),
            "instruments_null_by_pieces": partial(null_rows, by="pieces"),
            "instruments_null_by_depth": partial(null_rows, by="depth"),
            "instruments_iterations": iteration_rows,
            "instruments_ends": end_rows,
        }
        return {
            file: DataFrame([row for name, total in self.totals.items() for row in rows(name, total)])
            for file, rows in tables.items()
        }


class SearchStatisticsCounter:
    """Sums the search statistics of each player, game by game."""

    def __init__(self, players: Sequence[str]) -> None:
        self._players = players
        self._totals: dict[str, dict[str, Any]] = {}
        self._games: dict[str, int] = dict.fromkeys(players, 0)

    def add(self, record: GameRecord) -> None:
        """Add the search statistics of both players in a game."""
        for name, counted in zip((record.first, record.second), record.search_statistics or (), strict=False):
            if counted:
                add_search_statistics(self._totals.setdefault(name, {}), counted)
                self._games[name] += 1

    def sums(self) -> SearchStatistics:
        """The sums over all games added so far."""
        totals = {name: self._totals[name] for name in self._players if name in self._totals}
        return SearchStatistics(totals, self._games)


def share(part: float, whole: float, factor: float = 1.0) -> float | None:
    """``factor`` * ``part`` / ``whole``; ``None`` if ``whole`` is 0."""
    return factor * part / whole if whole else None


def player_row(name: str, total: Mapping[str, Any], games: int) -> Row:
    """A player's row of ``instruments.csv``. ``total`` has the player's statistics, summed over ``games`` games."""
    counted, searches, nodes = total["counters"], total["searches"], total["nodes"]
    ends = {reason: dict(zip(END_COLUMNS, row, strict=True)) for reason, row in total["ends"].items()}
    null = _column_sums(total["null_by_depth"])
    stops = {reason: ends[reason]["searches"] if reason in ends else 0 for reason in ("soft_limit", "hard_limit")}

    def of_ends(column: str) -> int:
        return sum(row[column] for row in ends.values())

    iterations = sum(row[ITERATION_COLUMNS.index("searches")] for row in total["iterations"].values())
    decided = null["sampled"] - null["unresolved"]
    return {
        "player": name,
        "games": games,
        "searches": searches,
        "nodes": nodes,
        "nodes_per_search": share(nodes, searches),
        "time_per_search_ms": share(total["time_ns"] / 1e6, searches),
        "iterations_per_search": share(iterations, searches),
        "branching_factor": branching_factor(total),
        "last_iteration_nodes_percent": share(total["last_iteration_nodes"], nodes, 100),
        "pvs_researches_per_1000_nodes": share(counted["researches"], nodes, 1000),
        "lmr_researches_per_1000_nodes": share(counted["reduced_researches"], nodes, 1000),
        "aspiration_windows": counted["windows"],
        "aspiration_windows_held_percent": share(
            counted["windows"] - counted["windows_missed"], counted["windows"], 100
        ),
        "aspiration_fails_low": counted["fails_low"],
        "aspiration_fails_high": counted["fails_high"],
        "aspiration_alternations": counted["alternations"],
        "mtdf_passes_per_iteration": share(counted["mtdf_passes"], iterations),
        "null_tries_per_1000_nodes": share(counted["null_tries"], nodes, 1000),
        "null_cutoffs_percent_of_tries": share(counted["null_cutoffs"], counted["null_tries"], 100),
        "null_verifications": counted["null_verified"],
        "null_verifications_failed": counted["null_refuted"],
        "null_verifications_failed_percent": share(counted["null_refuted"], counted["null_verified"], 100),
        "null_cutoffs_sampled": null["sampled"],
        "null_cutoffs_sampled_undecided": null["unresolved"],
        "null_cutoffs_wrong": null["wrong"],
        "null_cutoffs_wrong_percent_of_decided": share(null["wrong"], decided, 100),
        "mate_threats": counted["mate_threats"],
        "mate_scores_at_offset_2": total["mate_at_two"],
        "mate_scores_at_offset_null_depth": total["mate_at_null_depth"],
        "table_hits_percent_of_probes": share(counted["table_hits"], counted["table_probes"], 100),
        "table_cutoffs_percent_of_probes": share(counted["table_cutoffs"], counted["table_probes"], 100),
        "cutoffs_by_first_move_percent": share(counted["first_move_cutoffs"], counted["cutoffs"], 100),
        "after_last_iteration_nodes_percent": share(total["after_iteration_nodes"], nodes, 100),
        "after_last_iteration_time_percent": share(total["after_iteration_ns"], total["time_ns"], 100),
        "after_last_iteration_ms_per_search": share(total["after_iteration_ns"] / 1e6, searches),
        "after_last_result_nodes_percent": share(total["after_result_nodes"], nodes, 100),
        "after_last_result_time_percent": share(total["after_result_ns"], total["time_ns"], 100),
        "after_last_result_ms_per_search": share(total["after_result_ns"] / 1e6, searches),
        "time_used_percent_of_proper": share(of_ends("proper_used_ns"), of_ends("proper_ns"), 100),
        "time_used_percent_of_hard": share(of_ends("hard_used_ns"), of_ends("hard_ns"), 100),
        "soft_stops": stops["soft_limit"],
        "hard_stops": stops["hard_limit"],
        "soft_stops_percent_of_both": share(stops["soft_limit"], sum(stops.values()), 100),
    }


def branching_factor(total: Mapping[str, Any]) -> float | None:
    """Mean effective branching factor; ``None`` if no search completed two iterations.

    The factor is the sum of the nodes of all iterations, divided by the sum of the nodes of the iterations before them.
    ``total`` has a player's summed statistics.
    """
    rows = [dict(zip(ITERATION_COLUMNS, row, strict=True)) for row in total["iterations"].values()]
    later = [row for row in rows if row["nodes_before"]]
    return share(sum(row["nodes"] for row in later), sum(row["nodes_before"] for row in later))


def _column_sums(table: Mapping[str, Sequence[int]]) -> dict[str, int]:
    return {column: sum(row[place] for row in table.values()) for place, column in enumerate(NULL_COLUMNS)}


def null_rows(name: str, total: Mapping[str, Any], by: str) -> list[Row]:
    """Rows on a player's null-move pruning, one for each material, number of pieces or depth.

    ``by`` is ``material``, ``pieces`` or ``depth``; ``total`` has the player's summed statistics.
    """
    label = {"material": "own_material_from_centipawns", "pieces": "pieces_on_board", "depth": "depth_plies"}[by]
    rows = []
    for key, values in sorted(total[f"null_by_{by}"].items(), key=lambda item: int(item[0])):
        row = dict(zip(NULL_COLUMNS, values, strict=True))
        rows.append(
            {
                "player": name,
                label: int(key),
                **row,
                "cutoffs_percent_of_tries": share(row["cutoffs"], row["tries"], 100),
                "refuted_percent_of_verified": share(row["refuted"], row["verified"], 100),
                "wrong_percent_of_decided": share(row["wrong"], row["sampled"] - row["unresolved"], 100),
            }
        )
    return rows


def iteration_rows(name: str, total: Mapping[str, Any]) -> list[Row]:
    """Rows on a player's iterations, one for each depth. Means are over the searches that completed the depth.

    ``total`` has the player's summed statistics.
    """
    rows = []
    for key, values in sorted(total["iterations"].items(), key=lambda item: int(item[0])):
        row = dict(zip(ITERATION_COLUMNS, values, strict=True))
        searches = row["searches"]
        rows.append(
            {
                "player": name,
                "depth_plies": int(key),
                "searches": searches,
                "mean_nodes": row["nodes"] / searches,
                "mean_time_ms": row["time_ns"] / searches / 1e6,
                "mean_nodes_to_depth": row["nodes_to"] / searches,
                "mean_time_to_depth_ms": row["time_to_ns"] / searches / 1e6,
                "branching_factor": share(row["nodes"], row["nodes_before"]),
            }
        )
    return rows


def end_rows(name: str, total: Mapping[str, Any]) -> list[Row]:
    """Rows on the reasons that ended a player's searches, by frequency; ``total`` has the player's sums."""
    rows = []
    for reason, values in total["ends"].items():
        row = dict(zip(END_COLUMNS, values, strict=True))
        rows.append(
            {
                "player": name,
                "reason": reason,
                "searches": row["searches"],
                "searches_percent": share(row["searches"], total["searches"], 100),
                "mean_nodes": row["nodes"] / row["searches"],
                "mean_time_ms": row["time_ns"] / row["searches"] / 1e6,
                "time_used_percent_of_proper": share(row["proper_used_ns"], row["proper_ns"], 100),
                "time_used_percent_of_hard": share(row["hard_used_ns"], row["hard_ns"], 100),
            }
        )
    return sorted(rows, key=lambda row: (-row["searches"], row["reason"]))
