"""Intervals of a row of cells.csv at another error rate than its own.

A row has what is needed: a match its counts of pairs and its looks, another estimate its interval, from which the
standard error follows. So a verdict can be restated under another error rate without the games. With the interval of
the last look that was analysed this is valid for any rate, because repeated confidence intervals hold at all looks.
"""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import NormalDist

from elolab.arena.statistics.elo import Pentanomial, elo_of_score
from elolab.tuning.ablation.comparison_verdicts import (
    critical_values,
    match_elo_estimate,
    match_estimate,
    reach_of_t,
)
from elolab.tuning.claims.claims_results import CellRow, verdict_of_row
from elolab.tuning.claims.claims_spec import COSTS, STRENGTH, Part
from elolab.tuning.claims.part_verdicts import OF_CASES, OPEN, SHOWN

_NORMAL = NormalDist()
LEAST_RATE = 1e-12
"""Least error rate that is tried; smaller p-values are given as this one."""
STEPS = 14
"""Bisections of the logarithm of an error rate, which leave it accurate to about 0.2 %."""


def restated(part: Part, row: CellRow) -> CellRow:
    """The row with the interval, verdict and p-value at the part's error rate; unchanged if it has that rate already.

    The p-value is the smallest error rate with that verdict.
    """
    if row.error_rate in (0.0, part.error_rate) or not row.ended or not row.cases:
        return row
    return replace(_at(part, row, part.error_rate), p_value=p_value_of_row(part, row))


def p_value_of_row(part: Part, row: CellRow) -> float | None:
    """The smallest error rate at which the row has the verdict of the part's error rate; ``None`` without a verdict."""
    verdict = _at(part, row, part.error_rate).verdict
    if verdict in (OPEN, SHOWN):
        return None
    if part.expect in OF_CASES and row.hits:
        return 0.0
    low, high = math.log(LEAST_RATE), math.log(part.error_rate)
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if _at(part, row, math.exp(middle)).verdict == verdict else (middle, high)
    return math.exp(high)


def _at(part: Part, row: CellRow, error_rate: float) -> CellRow:
    low, high = interval_at(row, error_rate)
    row = replace(row, low=low, high=high, error_rate=error_rate)
    return replace(row, verdict=verdict_of_row(part, row))


def interval_at(row: CellRow, error_rate: float) -> tuple[float, float]:
    """The row's interval at another two-sided error rate, in the row's unit."""
    if not row.cases or not row.ended or not row.error_rate:
        return row.low, row.high
    if row.kind == "elo":
        return _of_match(row, error_rate)
    if row.kind == "interaction":
        return _scaled(row.low, row.high, _deviates(row, error_rate) / _deviates(row, row.error_rate))
    factor = _deviates(row, error_rate) / _deviates(row, row.error_rate)
    if row.kind in COSTS:
        low, high = _scaled(math.log(row.low), math.log(row.high), factor)
        return math.exp(low), math.exp(high)
    if row.unit in ("%", "cases"):
        return _of_rate(row, error_rate, factor)
    return _scaled(row.low, row.high, factor)


def _of_match(row: CellRow, error_rate: float) -> tuple[float, float]:
    """The interval of a match from its pairs: in Elo after a single look, otherwise by the mean score of a pair."""
    counts = Pentanomial((row.LL, row.LD, row.even, row.WD, row.WW))
    bound = _bound(row, error_rate)
    if row.looks_planned == 1:
        return match_elo_estimate(counts, row.margin).interval(bound)
    low, high = match_estimate(counts, row.margin).interval(bound)
    return elo_of_score(low), elo_of_score(high)


def _of_rate(row: CellRow, error_rate: float, factor: float) -> tuple[float, float]:
    """Wilson's interval of a percentage, or the exact one if nothing or everything was counted; in percent."""
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
    """Half width of the row's interval in standard errors; those of a rate are counted in unknown numbers of games."""
    degrees = math.inf if row.unit in ("%", "cases") else row.cases - 1
    return reach_of_t(_bound(row, error_rate), degrees)


def _bound(row: CellRow, error_rate: float) -> float:
    """The critical value of the row's last look, in standard normal deviates; looks are equally far apart."""
    if row.kind not in STRENGTH or row.looks_planned == 1:
        return _NORMAL.inv_cdf(1 - error_rate / 2)
    return critical_values(tuple(range(1, row.looks_planned + 1)), error_rate / 2)[row.looks - 1]


def _scaled(low: float, high: float, factor: float) -> tuple[float, float]:
    middle, reach = (low + high) / 2, (high - low) / 2
    return middle - factor * reach, middle + factor * reach
