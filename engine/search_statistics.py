"""Optional search statistics: settings, columns, and sums over searches and games as plain data.

The data of one search, one player's game or many games have the same form, a dictionary for JSON:

- ``searches``, ``nodes``, ``time_ns``: totals; times are on the search's clock;
- ``counters``: counts, by the names in ``engine.search.records.COUNTERS``;
- ``mate_at_two``, ``mate_at_null_depth``: null searches with a score of -MATE + ply + 2, and of -MATE + ply +
  null_depth; both are counted, although ``mate_threat_offset`` selects one of them;
- ``last_iteration_nodes`` and ``_ns``: nodes and time of the last completed iterations;
- ``after_iteration_nodes`` and ``_ns``: in aborted searches, from the last completed iteration to the abort;
- ``after_result_nodes`` and ``_ns``: from the last new result at the root (a move became best, the first move of an
  iteration included) to the end of the search;
- ``ends``: rows of ``END_COLUMNS``, by the reason that ended the search;
- ``iterations``: rows of ``ITERATION_COLUMNS``, by depth in plies;
- ``null_by_material``, ``null_by_pieces``, ``null_by_depth``: rows of ``NULL_COLUMNS``, by own material (lower bound in
  centipawns of a step of ``MATERIAL_STEP``), by the number of pieces on the board, and by remaining depth in plies.

Rows with only zeros are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from elolab.engine.settings import schema

ITERATION_COLUMNS = ("searches", "nodes", "time_ns", "nodes_to", "time_to_ns", "nodes_before")
"""Columns of a table with a row for each depth: the number of searches that completed the depth; nodes and nanoseconds
of the iteration; nodes and nanoseconds from the search's start to the iteration's end; nodes of the previous iteration.
"""

END_COLUMNS = (
    "searches", "nodes", "time_ns", "proper_searches", "proper_used_ns", "proper_ns", "hard_searches", "hard_used_ns",
    "hard_ns",
)  # fmt: skip
"""Columns of a table with a row for each reason that ends a search. The first three are the number of searches that
ended for this reason, their nodes, and their time in nanoseconds.

The next three count only searches with a proper time (see ``engine.search.clock``): the number of these searches, the
time used, and the sum of the proper times. The last three count only searches with a hard limit: the number of
searches, the time used, and the sum of the limits.
"""

NULL_COLUMNS = ("tries", "cutoffs", "verified", "refuted", "sampled", "wrong", "unresolved")
"""Columns for null moves, all counts: null moves tried, cutoffs accepted, fail-highs verified, and verifications that
refuted the cutoff. The last three are for samples, which are cutoffs searched again without null moves: samples,
refuted samples, and samples undecided within the node limit.
"""

MAX_INTERVAL = 10**9
MATERIAL_STEP = 300
"""Range of own material, in centipawns, that a row of ``null_by_material`` covers. ElephantEye's material limits are
multiples of this range.
"""


@dataclass(frozen=True)
class SearchStatisticsSettings:
    """Settings for sampling null cutoffs. Each sample is searched again without null moves.

    A long search gives at most 16 samples, spread over the search.
    """

    null_cutoff_interval: int = schema.whole(0, MAX_INTERVAL, default=500, example=100)
    """Number of a player's null cutoffs from one sample to the next; 0 switches sampling off."""
    null_cutoff_nodes: int = schema.whole(1, MAX_INTERVAL, default=100_000, example=20_000, unit="nodes")
    """Node limit for the repeated search of a sample."""


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
