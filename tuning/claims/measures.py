"""Measures without games: nodes and time to a depth, shares of counted events, mates and exact scores.

Every number comes from searches of common positions, each with empty tables. Intervals are clustered by game, because
positions of one game are similar. The run's store keeps the measurements.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from elolab.arena.records import Opening
from elolab.engine.search_statistics import END_COLUMNS, ITERATION_COLUMNS, NULL_COLUMNS, SearchStatisticsSettings
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.parameters import Value
from elolab.tuning.ablation.comparison_verdicts import ERROR_RATE, EffectEstimate, normal_deviate, reach_of_t
from elolab.tuning.ablation.position_searches import PositionSearches

if TYPE_CHECKING:
    from elolab.engine.engine import Engine, SearchResult, StopFlag
    from elolab.engine.games.contract import Position

NULL_CUTOFF_SAMPLING = SearchStatisticsSettings(null_cutoff_interval=50, null_cutoff_nodes=20_000)
"""Search statistics that sample null-move cutoffs more densely than in games, because there are few searches."""
_NORMAL = NormalDist()


# Searches


@dataclass(frozen=True)
class Searched:
    """The result of one search of a position."""

    score: int
    nodes: int
    processor_ns: int
    """Processor time in nanoseconds; it depends on the machine."""
    hits: int = 0
    """Numerator of the counted share, if any; ``cases`` is its denominator."""
    cases: int = 0


@dataclass(frozen=True)
class Counted:
    """A share (ratio of two counts) or a condition, for which each search counts hits and cases."""

    of: str
    """Name of the share: one of ``SHARE_NAMES`` or ``CONDITIONS``, or ``REACHED_END``."""
    bound: int


class SuiteSearches(PositionSearches):
    """Searches of positions for parts of claims."""

    def search(
        self, values: Mapping[str, Value], limits: Limits, positions: Sequence[Opening], counted: Counted | None = None
    ) -> list[Searched] | None:
        """Search each position to ``limits``, or read the result from the store; ``None`` if the run stopped before the
        end.

        ``values`` are the engine's parameters; ``counted`` is the share to count, if any.
        """
        asked = None if counted is None else [counted.of, counted.bound]
        rows = self.kept(
            "searches of positions", [dict(values), str(limits), asked], positions, values,
            lambda engine, opening: _searched(engine, opening, limits, counted, self.stop),
            NULL_CUTOFF_SAMPLING if counted else None,
        )  # fmt: skip
        return None if rows is None else [Searched(*row) for row in rows]


def _searched(engine: Engine, opening: Opening, limits: Limits, counted: Counted | None, stop: StopFlag) -> list[int]:
    engine.new_game()
    position = engine.game.position(opening.position, opening.moves)
    before = time.thread_time_ns()
    result = engine.search(position, limits, stop=stop)
    taken = time.thread_time_ns() - before
    counts = (0, 0)
    if counted is not None and counted.of == MOVE_CHANGES:
        counts = _move_changes(engine, position, limits, result, stop)
    elif counted is not None and counted.of == REACHED_END:
        counts = int(result.depth >= engine.game.empty_squares(opening.position)), 1
    elif counted is not None:
        counts = _COUNTS[counted.of](result.search_statistics or {}, counted.bound)
    return [result.score, result.nodes, taken, *counts]


def _move_changes(
    engine: Engine, position: Position, limits: Limits, result: SearchResult, stop: StopFlag
) -> tuple[int, int]:
    """Numerator and denominator of ``MOVE_CHANGES`` for one search, each 0 or 1.

    The denominator is 1 if the search lasted longer than half of its planned time. The numerator is 1 if it then
    changed its move. A second search, limited to the nodes of that half, gives the earlier move. Both searches are
    identical up to that point, because the engine's clock counts nodes.
    """
    assert result.search_statistics is not None
    place = END_COLUMNS.index("proper_ns")
    proper_ns = sum(int(row[place]) for row in result.search_statistics["ends"].values())
    half = proper_ns // 2 // limits.nanoseconds_per_node
    if not 0 < half < result.nodes:
        return 0, 0
    engine.new_game()
    before = engine.search(position, Limits(nodes=half), stop=stop)
    return int(before.move != result.move), 1


# Shares


def _of_ends(data: Mapping[str, Any], reason: str) -> int:
    row = data["ends"].get(reason)
    return int(row[END_COLUMNS.index("searches")]) if row else 0


def _of_null(data: Mapping[str, Any], table: str, column: str, low: int = 0, high: int = 1 << 30) -> int:
    place = NULL_COLUMNS.index(column)
    return sum(int(row[place]) for key, row in data[table].items() if low <= int(key) < high)


def _researches(data: Mapping[str, Any]) -> int:
    """Number of repeated searches of the root: one for every aspiration window that was missed."""
    return int(data["counters"]["fails_low"] + data["counters"]["fails_high"])


def _of_iterations(data: Mapping[str, Any], column: str) -> int:
    """Sum of a column of ``ITERATION_COLUMNS`` over all iterations that follow another iteration of the same search."""
    place, before = ITERATION_COLUMNS.index(column), ITERATION_COLUMNS.index("nodes_before")
    return sum(int(row[place]) for row in data["iterations"].values() if row[before])


SHARES: dict[str, Callable[[Mapping[str, Any], int], tuple[int, int]]] = {
    "windows_missed": lambda data, _: (data["counters"]["windows_missed"], data["counters"]["windows"]),
    "researches_missed": lambda data, _: (
        _researches(data) - data["counters"]["windows_missed"], _researches(data),
    ),
    "verifications_failed": lambda data, low: (
        _of_null(data, "null_by_material", "refuted", low), _of_null(data, "null_by_material", "verified", low),
    ),
    "shallow_verifications_failed": lambda data, below: (
        _of_null(data, "null_by_depth", "refuted", 0, below), _of_null(data, "null_by_depth", "verified", 0, below),
    ),
    "null_cutoffs_wrong": lambda data, _: (
        _of_null(data, "null_by_depth", "wrong"),
        _of_null(data, "null_by_depth", "sampled") - _of_null(data, "null_by_depth", "unresolved"),
    ),
    "first_move_cutoffs": lambda data, _: (data["counters"]["first_move_cutoffs"], data["counters"]["cutoffs"]),
    "last_iteration": lambda data, _: (data["last_iteration_nodes"], data["nodes"]),
    "after_last_iteration": lambda data, _: (data["after_iteration_nodes"], data["nodes"]),
    "after_last_result": lambda data, _: (data["after_result_nodes"], data["nodes"]),
    "soft_stops": lambda data, _: (
        _of_ends(data, "soft_limit"), _of_ends(data, "soft_limit") + _of_ends(data, "hard_limit"),
    ),
    "growth": lambda data, _: (_of_iterations(data, "nodes"), _of_iterations(data, "nodes_before")),
    "passes": lambda data, _: (data["counters"]["mtdf_passes"], sum(row[0] for row in data["iterations"].values())),
    "alternations": lambda data, _: (data["counters"]["alternations"], data["counters"]["windows"]),
}  # fmt: skip
"""For each share, a function from a search's counters and a bound to the numerator and the denominator.

Only some shares use the bound.
"""


def _converged_misses(data: Mapping[str, Any]) -> int:
    """Number of missed aspiration windows in a search; 0 if some window failed both low and high."""
    return 0 if data["counters"]["alternations"] else int(data["counters"]["windows_missed"])


CONVERGED_MISSES = "converged_misses"
CONDITIONS: dict[str, Callable[[Mapping[str, Any], int], tuple[int, int]]] = {
    "windows_missed": SHARES["windows_missed"],
    CONVERGED_MISSES: lambda data, _: (_converged_misses(data), data["counters"]["windows"]),
}
"""Conditions that select positions: for each, a function from a search's counters to two counts.

A position is selected if the first count is positive. The functions ignore their second argument.
"""
_COUNTS = {**SHARES, **CONDITIONS}

MOVE_CHANGES = "move_changes"
"""Name of the share of searches that change their move in the second half of their planned time.

Its denominator is the number of searches that last longer than half of their planned time.
"""
SHARE_NAMES = (*SHARES, MOVE_CHANGES)
"""Names of all shares (ratios of two counts). ``MOVE_CHANGES`` needs a second search of each position."""

RATIO_UNITS = {"growth": "×", "passes": "passes"}
"""Units of the shares that are ratios and may exceed 1; all other shares are percentages."""


# Estimates


@dataclass(frozen=True)
class SearchEstimate:
    """An estimate from searches of positions. Its standard error is clustered by game."""

    value: float
    """The estimate: mean log ratio of costs; a share in percent or as a ratio; a difference in percentage points."""
    error: float
    """Standard error, clustered by game; infinite without cases."""
    units: int
    """Number of games from which the positions come."""
    cases: int
    """Number of positions, or the denominator of a share."""
    hits: int = 0
    """Numerator of a share."""
    one_sided: int = 0
    """-1 if the counted event never occurred, 1 if it always occurred, otherwise 0.

    With -1 or 1 the standard error is 0, and intervals come from another formula.
    """
    is_percentage: bool = False
    """Whether the estimate is a percentage, between 0 and 100."""

    def interval(self, error_rate: float) -> tuple[float, float]:
        """The two-sided interval with the given error rate, in the unit of ``value``.

        Percentages have Wilson's interval ("Probable inference", 1927) for the effective number of independent cases:
        Korn and Graubard, "Confidence intervals for proportions with small expected number of positive counts", 1998.
        This interval stays between 0 and 100, and has a positive width even if the share is 0 or 100 %.
        """
        if not math.isfinite(self.error):
            return -math.inf, math.inf
        if self.one_sided:
            reach = 100 * (1 - (error_rate / 2) ** (1 / self.units))
            return (0.0, reach) if self.one_sided < 0 else (100.0 - reach, 100.0)
        deviates = _NORMAL.inv_cdf(1 - error_rate / 2)
        if not self.is_percentage or not self.error:
            return self._effect.interval(deviates)
        rate, cases = self.value / 100, self._independent_cases
        squared = reach_of_t(deviates, self.units - 1) ** 2 / cases
        if not math.isfinite(squared):
            return 0.0, 100.0
        middle = (rate + squared / 2) / (1 + squared)
        reach = math.sqrt(squared * (rate * (1 - rate) + squared / 4)) / (1 + squared)
        return 100 * (middle - reach), 100 * (middle + reach)

    def tail(self, value: float, side: int) -> float:
        """One-sided p-value of the hypothesis that the true value is ``value``.

        It is the probability of an estimate at least as far from ``value`` on the same side. ``side`` is +1 for
        estimates above ``value``, -1 for estimates below.
        """
        if not math.isfinite(self.error):
            return 1.0
        if self.one_sided:
            rate = (value if self.one_sided < 0 else 100 - value) / 100
            return (1 - min(1.0, max(0.0, rate))) ** self.units if side == self.one_sided else 1.0
        if self.error == 0:
            return 0.0 if side * (self.value - value) > 0 else 1.0
        if self.is_percentage:
            # The error if ``value`` were true, as in the interval.
            if not 0 < value < 100:
                return 0.0 if side * (self.value - value) > 0 else 1.0
            error = math.sqrt(value * (100 - value) / self._independent_cases)
            return _NORMAL.cdf(-side * normal_deviate((self.value - value) / error, self.units - 1))
        return _NORMAL.cdf(-side * self._effect.deviations_from(value))

    @property
    def _independent_cases(self) -> float:
        """Number of independent cases that would give the percentage the same standard error."""
        return self.value * (100 - self.value) / self.error**2

    @property
    def _effect(self) -> EffectEstimate:
        return EffectEstimate(self.value, self.error, self.units - 1, 0.0, 0.0, 0.0)


NOTHING_SEARCHED = SearchEstimate(0.0, math.inf, 0, 0)


def clustered_error(parts: Sequence[float], games: Sequence[int]) -> tuple[float, int]:
    """Standard error of a sum of deviations, clustered by game, and the number of games.

    ``parts`` has each position's deviation, ``games`` the index of the game from which it comes. The error is the
    sandwich estimator of Cameron and Miller, "A Practitioner's Guide to Cluster-Robust Inference", 2015, with the
    factor G / (G - 1) for G games. The error is infinite for a single game.
    """
    sums: dict[int, float] = {}
    for part, game in zip(parts, games, strict=True):
        sums[game] = sums.get(game, 0.0) + part
    count = len(sums)
    if count < 2:
        return math.inf, count
    return math.sqrt(count / (count - 1) * sum(value * value for value in sums.values())), count


def log_ratio(costs: Sequence[tuple[float, float]], games: Sequence[int]) -> SearchEstimate:
    """Mean logarithm of the ratios of the variant's costs to the reference's, position by position.

    ``costs`` has the variant's and the reference's cost for each position, ``games`` the index of the game from which
    each position comes.
    """
    return _mean([math.log(max(one, 1) / max(other, 1)) for one, other in costs], games)


def log_ratio_of_ratios(costs: Sequence[Sequence[float]], games: Sequence[int]) -> SearchEstimate:
    """Interaction of two factors in their costs: mean log of the ratio of two cost ratios of the first factor.

    A cost ratio is the cost with the first factor high divided by the cost with the first factor low. The second factor
    is high in the numerator and low in the denominator. ``costs`` has one row per combination, in the order of
    ``Cell.combinations``, and one column per position. ``games`` has the index of the game from which each position
    comes.
    """
    return _mean(
        [
            math.log(max(both, 1) / max(second, 1)) - math.log(max(first, 1) / max(neither, 1))
            for neither, second, first, both in zip(*costs, strict=True)
        ],
        games,
    )


def _mean(logs: Sequence[float], games: Sequence[int]) -> SearchEstimate:
    mean = math.fsum(logs) / len(logs)
    error, units = clustered_error([(value - mean) / len(logs) for value in logs], games)
    return SearchEstimate(mean, error, units, len(logs))


def share_of(name: str, searches: Sequence[Searched], games: Sequence[int]) -> SearchEstimate:
    """Estimate of a share from searches that counted it: total hits divided by total cases.

    ``name`` is one of ``SHARE_NAMES``. The value is in percent, or a plain ratio for the names in ``RATIO_UNITS``.
    ``games`` has the index of the game from which each position comes.
    """
    hits, cases, parts = _counted(searches)
    if not cases:
        return NOTHING_SEARCHED
    factor = 1 if name in RATIO_UNITS else 100
    error, units = clustered_error(parts, games)
    one_sided = 0
    if name not in RATIO_UNITS and hits in (0, cases):
        # All games agree, so the observed spread is 0; ``units`` counts all games with cases.
        units = len({game for search, game in zip(searches, games, strict=True) if search.cases})
        one_sided, error = (1 if hits else -1), 0.0
    return SearchEstimate(factor * hits / cases, factor * error, units, cases, hits, one_sided, name not in RATIO_UNITS)


def share_difference(
    name: str, variant: Sequence[Searched], reference: Sequence[Searched], games: Sequence[int]
) -> SearchEstimate:
    """The share ``name`` in the variant's searches minus the share in the reference's, in percentage points.

    A share is a ratio of two counts of events. Both sides search the same positions. ``games`` has the index of the
    game from which each position comes.
    """
    shares = [share_of(name, side, games) for side in (variant, reference)]
    if not all(share.cases for share in shares):
        return NOTHING_SEARCHED
    factor = 1 if name in RATIO_UNITS else 100
    parts = zip(_counted(variant)[2], _counted(reference)[2], strict=True)
    error, units = clustered_error([factor * (one - other) for one, other in parts], games)
    # A share seen never or always has no observed spread, but its true value is still uncertain.
    error = math.hypot(error, *(_reach_of_one_sided(share) for share in shares if share.one_sided))
    return SearchEstimate(shares[0].value - shares[1].value, error, units, len(games))


def _reach_of_one_sided(share: SearchEstimate) -> float:
    """Value to use instead of a share's standard error, in percentage points, if the counted event occurred never or
    always.

    The standard error is 0 in these cases.
    """
    low, high = share.interval(ERROR_RATE)
    return (high - low) / _NORMAL.inv_cdf(1 - ERROR_RATE / 2)


def _counted(searches: Sequence[Searched]) -> tuple[int, int, list[float]]:
    """Total hits, total cases, and each position's contribution to the error of the ratio of these totals."""
    hits, cases = sum(one.hits for one in searches), sum(one.cases for one in searches)
    return hits, cases, [(one.hits - hits / cases * one.cases) / cases for one in searches] if cases else []


def rate_of_cases(hits: int, cases: int) -> SearchEstimate:
    """Estimate, in percent, of the rate of hits among ``cases`` independent cases."""
    if not cases:
        return NOTHING_SEARCHED
    rate = hits / cases
    error = 100 * math.sqrt(max(rate * (1 - rate), 0.0) / cases)
    return SearchEstimate(100 * rate, error, cases, cases, hits, -1 if not hits else 1 if hits == cases else 0, True)


def differing(variant: Sequence[Searched], reference: Sequence[Searched], games: Sequence[int]) -> SearchEstimate:
    """Percentage of positions at which variant and reference need different numbers of nodes to the same depth.

    ``games`` has the index of the game from which each position comes.
    """
    counted = [
        replace(one, hits=int(one.nodes != other.nodes), cases=1) for one, other in zip(variant, reference, strict=True)
    ]
    return share_of("", counted, games)


# Mates and exact scores

REACHED_END = "reached_end"
"""Name of the share of searches with a clock that lasted until the board was full."""


def mates_that_change(searches: Mapping[int, Sequence[Searched]], deepest_mate: int) -> tuple[int, int]:
    """Number of mates in at most ``deepest_mate`` plies, and number of such mates that a deeper search contradicts.

    ``searches`` has, for each depth, the searches of all positions.
    """
    from elolab.engine.values import mate_distance

    depths = sorted(searches)
    found = changed = 0
    for place in range(len(searches[depths[0]])):
        scores = [searches[depth][place].score for depth in depths]
        first = next(
            (number for number, score in enumerate(scores)
             if (plies := mate_distance(score)) is not None and 0 < abs(plies) <= deepest_mate), None,
        )  # fmt: skip
        if first is not None:
            found += 1
            changed += any(score != scores[first] for score in scores[first:])
    return found, changed


def exact_failures(pairs: Sequence[tuple[Searched, Searched]]) -> int:
    """Number of positions for which a search to the end of the game and the endgame solver find different scores.

    Each item of ``pairs`` has the two searches of one position.
    """
    return sum(searched.score != solved.score for searched, solved in pairs)
