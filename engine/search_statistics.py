"""Optional search statistics: settings, columns, and sums over searches and games as plain data.

The data of one search, one player's game or many games have the same shape, a dictionary for JSON:

- ``searches``, ``nodes``, ``time_ns``: totals, on the search's clock;
- ``counters``: counts by the names of ``engine.search.records.COUNTERS``;
- ``mate_at_two``, ``mate_at_null_depth``: null searches whose score was -MATE + ply + 2, and -MATE + ply + null_depth;
  both are counted, although ``mate_threat_offset`` selects one of them;
- ``last_iteration_nodes`` and ``_ns``: nodes and time of the last completed iterations;
- ``after_iteration_nodes`` and ``_ns``: in aborted searches, from the last completed iteration to the abort;
- ``after_result_nodes`` and ``_ns``: from the last new result of the root (a move became best, the first move of an
  iteration included) to the end of the search;
- ``ends``: by the reason that ended the search, rows of ``END_COLUMNS``;
- ``iterations``: by depth in plies, rows of ``ITERATION_COLUMNS``;
- ``null_by_material``: by own material, the lower bound in centipawns of steps of ``MATERIAL_STEP``;
  ``null_by_pieces``: by pieces of both sides on the board; ``null_by_depth``: by remaining depth in plies. All three
  have rows of ``NULL_COLUMNS``.

Rows without a count are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from elolab.engine.settings import schema

ITERATION_COLUMNS = ("searches", "nodes", "time_ns", "nodes_to", "time_to_ns", "nodes_before")
"""Columns for the searches that completed a depth: their number, nodes and time of the iteration, nodes and time from
the search's start to the iteration's end, and nodes of the iteration before it."""

END_COLUMNS = (
    "searches", "nodes", "time_ns", "proper_searches", "proper_used_ns", "proper_ns", "hard_searches", "hard_used_ns",
    "hard_ns",
)  # fmt: skip
"""Columns for the searches that ended for a reason: their number, nodes and time; the number with a proper time, the
time they used, and their proper time; the same three for searches with a hard limit."""

NULL_COLUMNS = ("tries", "cutoffs", "verified", "refuted", "sampled", "wrong", "unresolved")
"""Columns for null moves: null moves tried; null cutoffs accepted; null fail-highs verified, and of these refuted; null
cutoffs sampled and searched again without null moves, of these refuted, and of these undecided within the node limit.
"""

MAX_INTERVAL = 10**9
MATERIAL_STEP = 300
"""Width of a row of ``null_by_material``, in centipawns of own material. ElephantEye's material limits coincide with
borders of rows."""


@dataclass(frozen=True)
class SearchStatisticsSettings:
    """Settings for sampling null cutoffs, which are then searched again without null moves.

    A long search gives at most 16 samples, spread over the search.
    """

    null_cutoff_interval: int = schema.whole(0, MAX_INTERVAL, default=500, example=100)
    """Number of null cutoffs of a player from one sample to the next; 0 switches sampling off."""
    null_cutoff_nodes: int = schema.whole(1, MAX_INTERVAL, default=100_000, example=20_000, unit="nodes")
    """Node limit for searching a sample again."""


def add_search_statistics(total: dict[str, Any], part: Mapping[str, Any]) -> None:
    """Add the data of one search or game to ``total``, in place."""
    for name, value in part.items():
        if isinstance(value, Mapping):
            add_search_statistics(total.setdefault(name, {}), value)
        elif name not in total:
            total[name] = list(value) if isinstance(value, list) else value
        elif isinstance(value, list):
            total[name] = [before + more for before, more in zip(total[name], value, strict=True)]
        else:
            total[name] += value


def summed_search_statistics(parts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The sum of the data of several searches or games; an empty dictionary if there are none."""
    total: dict[str, Any] = {}
    for part in parts:
        add_search_statistics(total, part)
    return total
