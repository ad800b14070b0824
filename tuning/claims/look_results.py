"""Inference after several looks (interim analyses) at a cell: its median-unbiased effect, and p-values.

Games go on until a look decides, so the plain estimate is biased towards the result that stopped the games. To correct
the estimate, all outcomes that the test could have had are put in order. The median-unbiased estimate is the effect
under which half of all outcomes rank above the observed one. The order is stage-wise (Armitage, 1957; Jennison and
Turnbull, "Group Sequential Methods", 2000, chapter 8). Stops at the upper bound rank highest, earlier ones above later
ones. Stops at the lower bound rank lowest, earlier ones below later ones. Outcomes that stopped in the middle
(equivalence, futility) or reached the last look rank between them, by their estimates.

The sum of observations is a Brownian motion whose time is the fraction of planned pairs. Gaussian quadrature computes
the density of the paths that have not stopped, look by look.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from elolab.arena.sequential import POWER
from elolab.tuning.ablation.comparison_verdicts import (
    FUTILITY_POWER,
    EffectEstimate,
    critical_values,
    normal_deviate,
    reach_of_t,
)
from elolab.tuning.claims.part_verdicts import OPEN, SHOWN, PartRule

_NORMAL = NormalDist()
REACH = 11.0
"""Distance from the mean, in standard deviations, beyond which a distribution counts as 0."""
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)
"""Points and weights of Gauss-Legendre quadrature for a panel of two standard deviations: accurate to ten digits."""
KNOWN_MASS = 0.99
"""Once the computed outcomes have this total probability, their distribution counts as complete."""
UPPER, MIDDLE, LOWER = 2, 1, 0
"""First element of an outcome's rank: where the test stopped.

``UPPER`` means at the upper bound, ``LOWER`` at the lower bound, and ``MIDDLE`` between them or at the last look.
"""
FUTILE = "futile"
"""The verdict that stops a cell because even the last interim analysis would almost certainly not give a verdict."""
OUTERMOST = 60.0
"""Largest absolute estimate at which a futility boundary is searched for, in standard errors at the planned end."""


@dataclass(frozen=True)
class PlannedLooks:
    """The looks (interim analyses) planned for a cell, and its stopping rule, on the scale of its effect."""

    analyses: tuple[int, ...]
    """Number of pairs at each look, ascending."""
    rule: PartRule
    error_rate: float
    """Two-sided error rate over all looks."""

    @property
    def bounds(self) -> tuple[float, ...]:
        """Half width of the interval at each look, in standard errors."""
        return critical_values(self.analyses, self.error_rate / 2)

    def result(self, done: int, estimate: EffectEstimate) -> LookResult | None:
        """The result after ``done`` interim analyses with the given estimate; ``None`` if its standard error is not
        finite.
        """
        if not math.isfinite(estimate.error):
            return None
        effect = self.rule.sign * (estimate.value - estimate.null_value)
        return LookResult(self, done, effect, estimate.error, estimate.degrees)


@dataclass(frozen=True)
class LookResult:
    """The estimate of a cell after some of its looks (interim analyses)."""

    looks: PlannedLooks
    done: int
    """Number of looks done, from 1."""
    effect: float
    """Estimate of the effect, positive in the expected direction, not corrected for early stopping."""
    error: float
    """Standard error of ``effect``."""
    degrees: float = math.inf
    """Degrees of freedom of ``error``."""

    @property
    def fraction(self) -> float:
        """Analysed pairs divided by planned pairs."""
        return self.looks.analyses[self.done - 1] / self.looks.analyses[-1]

    @property
    def planned_error(self) -> float:
        """Standard error of the estimate at the planned end, once all planned pairs are played. Regions are in this
        unit.
        """
        return self.error * math.sqrt(self.fraction)

    def regions(self, look: int) -> list[Region]:
        """The estimates divided into regions by the verdict that they get at a look (counted from 0).

        Student's t has few degrees of freedom at early looks, which therefore need much larger effects.
        """
        analyses = self.looks.analyses
        degrees = (self.degrees + 1) * analyses[look] / analyses[self.done - 1] - 1
        reach = reach_of_t(self.looks.bounds[look], degrees) / math.sqrt(analyses[look] / analyses[-1])
        return _regions(self.looks.rule, reach, self.planned_error)

    @cached_property
    def final_regions(self) -> list[Region]:
        """The estimates divided into regions by the verdict that they get at the last look.

        The last look has so many pairs that its standard error is practically known.
        """
        return _regions(self.looks.rule, self.looks.bounds[-1], self.planned_error)

    @cached_property
    def _outcomes(self) -> _Outcomes:
        return _Outcomes(self)

    def unbiased_effect(self) -> float:
        """The median-unbiased estimate; the plain one if the part expects nothing, because then no look stops early."""
        if self.done == 1 or self.looks.rule.expect is None:
            return self.effect
        low, high = (self.effect + side * 8 * self.error for side in (-1, 1))
        for _ in range(50):
            middle = (low + high) / 2
            low, high = (middle, high) if self.chance_above(middle) < 0.5 else (low, middle)
        return (low + high) / 2

    def chance_above(self, effect: float) -> float:
        """Probability of an outcome ranked above the observed one, if the true effect is ``effect``."""
        return self._outcomes.chance_above(effect / self.planned_error)

    def p_value(self, low: float, high: float) -> float | None:
        """Two-sided p-value of the verdict on the interval (``low``, ``high``); ``None`` if the verdict is open."""
        tails = [
            above if side > 0 else 1 - above
            for value, side in self.looks.rule.hypotheses(low, high)
            for above in (self._as_normal(value).chance_above(value),)
        ]
        return min(1.0, 2 * max(max(tails), 0.0)) if tails else None

    def _as_normal(self, value: float) -> LookResult:
        """This result, with its standard error treated as known exactly.

        The new effect has the same tail probability relative to ``value`` under the normal distribution as the original
        effect has under Student's t.
        """
        deviations = normal_deviate((self.effect - value) / self.error, self.degrees)
        return replace(self, effect=value + deviations * self.error, degrees=math.inf)

    def is_futile(self) -> bool:
        """Whether to stop the cell: no look is left, or the last look will almost certainly not give a verdict."""
        if self.done == len(self.looks.analyses):
            return True
        return _excess_power(self.final_regions, self.effect / self.planned_error, self.fraction) < 0

    def pairs_still_needed(self) -> int | None:
        """Number of further pairs after which the verdict is known with probability ``POWER``, if the estimate is
        right.

        ``None`` if no number would be enough.
        """
        pairs = self.looks.analyses[self.done - 1]
        return still_needed(
            self.looks.rule, self.effect, self.error * math.sqrt(pairs), pairs, self.looks.bounds[-1]
        )  # fmt: skip


def still_needed(rule: PartRule, effect: float, deviation: float, seen: int, bound: float) -> int | None:
    """Number of further observations after which a verdict is probable, if the estimate ``effect`` is right.

    ``None`` if no number would be enough. ``effect`` is positive in the expected direction and rests on ``seen``
    observations. ``deviation`` is the standard deviation of one observation, ``bound`` the interval's half width in
    standard errors.
    """
    distance = rule.largest_deciding_reach(effect)
    if not distance or not math.isfinite(deviation):
        return None
    needed = ((bound + _NORMAL.inv_cdf(POWER)) * deviation / distance) ** 2
    return max(1, math.ceil(min(needed, 1e12)) - seen)


class Region(NamedTuple):
    """An interval of estimates, in standard errors at the planned end, with the verdict that a look gives on them."""

    low: float
    high: float
    verdict: str


def _regions(rule: PartRule, reach: float, unit: float) -> list[Region]:
    """All estimates divided into regions by the verdict that they get at a look.

    ``unit`` is the standard error at the planned end; ``reach`` is the half width of the look's interval in this unit.
    """
    if math.isinf(reach):
        return [Region(-math.inf, math.inf, OPEN)]
    margin = rule.margin / unit
    borders = sorted({sign * reach + value for sign in (-1, 1) for value in (-margin, 0.0, margin)})
    found: list[Region] = []
    for low, high in pairwise([-math.inf, *borders, math.inf]):
        middle = high - 1 if math.isinf(low) else low + 1 if math.isinf(high) else (low + high) / 2
        verdict = rule.verdict((middle - reach) * unit, (middle + reach) * unit)
        if found and found[-1].verdict == verdict:
            low = found.pop().low
        found.append(Region(low, high, verdict))
    return found


def _excess_power(final: Sequence[Region], estimate: float, fraction: float) -> float:
    """Probability that the last interim analysis gives a verdict, minus ``FUTILITY_POWER``.

    ``estimate`` is the estimate after a ``fraction`` of the planned pairs. ``final`` has the regions of the last
    analysis.
    """
    deviation = math.sqrt(1 / fraction - 1)

    def below(value: float) -> float:
        return math.erfc((estimate - value) / deviation / math.sqrt(2)) / 2

    return sum(below(one.high) - below(one.low) for one in final if one.verdict not in (OPEN, SHOWN)) - FUTILITY_POWER


def _with_futility(regions: Sequence[Region], final: Sequence[Region], fraction: float) -> list[Region]:
    """Divide each region with the verdict ``open`` into parts that stay open and parts that stop for futility.

    Other regions are unchanged. ``fraction`` is the analysed share of the planned pairs; ``final`` has the regions of
    the last look.
    """
    found = []
    for region in regions:
        if region.verdict != OPEN:
            found.append(region)
            continue
        points = np.linspace(max(region.low, -OUTERMOST), min(region.high, OUTERMOST), 65).tolist()
        is_futile = [_excess_power(final, point, fraction) < 0 for point in points]
        cuts = [
            _futility_boundary(final, fraction, points[place], points[place + 1])
            for place in range(len(points) - 1) if is_futile[place] != is_futile[place + 1]
        ]  # fmt: skip
        for low, high in pairwise([region.low, *cuts, region.high]):
            middle = (max(low, -OUTERMOST) + min(high, OUTERMOST)) / 2
            found.append(Region(low, high, FUTILE if _excess_power(final, middle, fraction) < 0 else OPEN))
    return found


def _futility_boundary(final: Sequence[Region], fraction: float, low: float, high: float) -> float:
    """Find by bisection the estimate between ``low`` and ``high`` at which stopping for futility begins or ends.

    ``final`` and ``fraction`` are as in ``_with_futility``.
    """
    rises = _excess_power(final, high, fraction) > 0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if (_excess_power(final, middle, fraction) > 0) == rises else (middle, high)
    return (low + high) / 2


class _Outcomes:
    """Possible outcomes of a sequential test up to the analysis that stopped it, if the observed effect is true.

    An outcome is a point with its probability. A point is a sum of observations, in standard errors at the planned
    end; its time is the number of pairs as a fraction of the planned pairs.
    """

    def __init__(self, observed: LookResult) -> None:
        self._drift = observed.effect / observed.planned_error
        looks, final = observed.looks, observed.final_regions
        fractions = [analysis / looks.analyses[-1] for analysis in looks.analyses]
        rank = self._rank(observed.done - 1, self._drift, observed.regions(observed.done - 1))
        stopped: list[tuple[np.ndarray, ...]] = []
        points, weights = np.zeros(1), np.ones(1)
        before = 0.0
        end = self._looks_to_rank(observed, rank[0] == MIDDLE)
        for look in range(end):
            now, regions, is_last = fractions[look], observed.regions(look), look == end - 1
            step = math.sqrt(now - before)
            running: list[tuple[np.ndarray, np.ndarray]] = []
            for region in regions if is_last else _with_futility(regions, final, now):
                for low, high in self._split(region):
                    own_points, own_weights = self._panels(low, high, now, step)
                    if not len(own_points):
                        continue
                    drifts = (own_points[:, None] - points[None, :] - self._drift * (now - before)) / step
                    densities = np.exp(-(drifts**2) / 2) @ weights / (step * math.sqrt(2 * math.pi))
                    mass = densities * own_weights
                    if region.verdict == OPEN and not is_last:
                        running.append((own_points, mass))
                        continue
                    is_above = self._rank(look, (max(low, -1e9) + min(high, 1e9)) / 2, regions) > rank
                    stopped.append((own_points, mass, np.full(len(mass), now), np.full(len(mass), is_above)))
            if not running:
                break
            points, weights = (np.concatenate(columns) for columns in zip(*running, strict=True))
            before = now
        self._sums, self._masses, self._times, self._is_above = map(np.concatenate, zip(*stopped, strict=True))

    @staticmethod
    def _looks_to_rank(observed: LookResult, is_in_middle: bool) -> int:
        """Number of looks whose outcomes must be ranked against the observed outcome.

        If the observed outcome stopped in the middle, all looks count, because outcomes of later looks rank above or
        below it. Otherwise the looks up to the observed outcome are enough.
        """
        drift = observed.effect / observed.planned_error
        at = next(one for one in observed.regions(observed.done - 1) if one.low <= drift <= one.high)
        has_stopped = at.verdict != OPEN or observed.is_futile()
        return len(observed.looks.analyses) if is_in_middle and has_stopped else observed.done

    def chance_above(self, drift: float) -> float:
        """Probability of an outcome ranked above the observed one, if the Brownian motion has the given drift."""
        change = (drift - self._drift) * self._sums - (drift**2 - self._drift**2) / 2 * self._times
        masses = self._masses * np.exp(np.minimum(change, 700.0))
        above, below = float(masses[self._is_above].sum()), float(masses[~self._is_above].sum())
        if above + below > KNOWN_MASS:
            return above / (above + below)
        # Far from the observed drift, the points only cover the tail that leads to the outcome.
        return above if drift < self._drift else 1 - below

    @staticmethod
    def _rank(look: int, estimate: float, regions: Sequence[Region]) -> tuple[int, float, float]:
        """Sort key of an outcome in the stage-wise order: ``UPPER``, ``MIDDLE`` or ``LOWER``, then look, then estimate.

        ``look`` counts from 0. ``regions`` are the regions of that look.
        """
        first, last = regions[0], regions[-1]
        if last.verdict != OPEN and estimate >= last.low:
            return UPPER, -look, estimate
        if first.verdict != OPEN and estimate <= first.high:
            return LOWER, look, estimate
        return MIDDLE, estimate, 0.0

    def _split(self, region: Region) -> list[tuple[float, float]]:
        """Divide a region at the observed estimate, where the rank of outcomes may change; return the parts as (low,
        high).
        """
        if region.low < self._drift < region.high:
            return [(region.low, self._drift), (self._drift, region.high)]
        return [(region.low, region.high)]

    def _panels(self, low: float, high: float, fraction: float, step: float) -> tuple[np.ndarray, np.ndarray]:
        """Quadrature points and weights for the estimates from ``low`` to ``high`` at the time ``fraction``.

        A point is the sum of observations that belongs to an estimate; ``step`` is the largest distance between points.
        """
        centre, reach = self._drift * fraction, REACH * math.sqrt(fraction)
        start, end = max(low * fraction, centre - reach), min(high * fraction, centre + reach)
        if end <= start:
            return np.zeros(0), np.zeros(0)
        edges = np.linspace(start, end, math.ceil((end - start) / (2 * step)) + 1)
        halves, middles = np.diff(edges)[:, None] / 2, (edges[1:] + edges[:-1])[:, None] / 2
        return (middles + halves * _NODES).ravel(), (halves * _WEIGHTS).ravel()
