"""Intervals of a row of cells.csv at another error rate, computed from the row without games or searches.

The interval of a match is computed from the counts of pairs and the interim analyses (looks) in the row. The intervals
of other measures are computed from the standard error, which follows from the row's interval. The new interval, too,
holds for all looks together.
"""

from __future__ import annotations

import math
from statistics import NormalDist

from elolab.arena.statistics.elo import Pentanomial, elo_of_score
from elolab.tuning.ablation.comparison_verdicts import (
    critical_values,
    match_elo_estimate,
    match_estimate,
    reach_of_t,
)
from elolab.tuning.claims.claims_results import CellRow
from elolab.tuning.claims.claims_spec import COSTS, STRENGTH

_NORMAL = NormalDist()


def interval_at(row: CellRow, error_rate: float) -> tuple[float, float]:
    """The row's interval at another two-sided error rate, in the row's unit."""
    if not row.cases or not row.ended or not row.error_rate:
        return row.low, row.high
    if row.kind == "elo":
        return _match_interval(row, error_rate)
    factor = _deviates(row, error_rate) / _deviates(row, row.error_rate)
    if row.kind in COSTS:
        low, high = _scaled(math.log(row.low), math.log(row.high), factor)
        return math.exp(low), math.exp(high)
    if row.unit in ("%", "cases"):
        return _rate_interval(row, error_rate, factor)
    return _scaled(row.low, row.high, factor)


def _match_interval(row: CellRow, error_rate: float) -> tuple[float, float]:
    """Interval of a match in Elo, from its counts of pairs.

    With several interim analyses, the result is the interval of the mean score, converted to Elo.
    """
    counts = Pentanomial((row.LL, row.LD, row.even, row.WD, row.WW))
    bound = _bound(row, error_rate)
    if row.looks_planned == 1:
        return match_elo_estimate(counts, row.margin).interval(bound)
    low, high = match_estimate(counts, row.margin).interval(bound)
    return elo_of_score(low), elo_of_score(high)


def _rate_interval(row: CellRow, error_rate: float, factor: float) -> tuple[float, float]:
    """Interval of a rate, in percent: Wilson's, or the exact binomial interval if the rate is 0 or 100 %.

    ``factor`` is the half width at ``error_rate`` divided by the half width of the row's interval, in standard errors.
    """
    rate = row.hits / row.cases
    if row.hits in (0, row.cases):
        reach = row.high / 100 if not row.hits else 1 - row.low / 100
        reach = 100 * -math.expm1(math.log1p(-reach) * math.log(error_rate / 2) / math.log(row.error_rate / 2))
        return (0.0, reach) if not row.hits else (100 - reach, 100.0)
    bound = row.low / 100
    squared = factor**2 * (rate - bound) ** 2 / (bound * (1 - bound))
    middle = (rate + squared / 2) / (1 + squared)
    reach = math.sqrt(squared * (rate * (1 - rate) + squared / 4)) / (1 + squared)
    return 100 * (middle - reach), 100 * (middle + reach)


def _deviates(row: CellRow, error_rate: float) -> float:
    """Half width of the interval at ``error_rate``, in standard errors.

    For a rate it comes from the normal distribution instead of Student's t, because the row does not have the number of
    games.
    """
    degrees = math.inf if row.unit in ("%", "cases") else row.cases - 1
    return reach_of_t(_bound(row, error_rate), degrees)


def _bound(row: CellRow, error_rate: float) -> float:
    """Critical value at the row's last interim analysis, in standard normal deviates.

    The analyses are assumed to be at equal distances in pairs.
    """
    if row.kind not in STRENGTH or row.looks_planned == 1:
        return _NORMAL.inv_cdf(1 - error_rate / 2)
    return critical_values(tuple(range(1, row.looks_planned + 1)), error_rate / 2)[row.looks - 1]


def _scaled(low: float, high: float, factor: float) -> tuple[float, float]:
    middle, reach = (low + high) / 2, (high - low) / 2
    return middle - factor * reach, middle + factor * reach
