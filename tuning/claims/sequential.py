"""What a cell that was looked at several times has shown: its median-unbiased effect, and p-values.

Games go on until a look decides, so the plain estimate is biased towards what stopped them. The outcome of such a test
is a place in an order of all outcomes that it could have had, and its median-unbiased estimate is the effect under
which it lies in the middle of them. The order is stage-wise (Armitage, 1957; Jennison and Turnbull, "Group Sequential
Methods", 2000, chapter 8): stopping at the upper end comes above all else, the earlier the higher, at the lower end
below all else, the earlier the lower. Between them, by their estimates, lie the outcomes that stopped in the middle
(equivalence, futility) and those that reached the last look.

The sum of what was observed is a Brownian motion whose time is the share of the plan's pairs; its distribution among
the paths that have not stopped is carried from look to look by Gaussian quadrature.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from statistics import NormalDist

import numpy as np

from elolab.arena.sequential import POWER
from elolab.tuning.ablation.verdicts import FUTILITY_POWER, critical_values, normal_deviate, reach_of_t
from elolab.tuning.claims.verdicts import OPEN, SHOWN, Rule

_NORMAL = NormalDist()
REACH = 11.0
"""Standard deviations beyond which nothing of a distribution is looked for."""
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)
"""Of a panel two standard deviations of a step wide: good to ten digits."""
KNOWN_MASS = 0.99
"""Of all outcomes, from which on a distribution is taken to be known altogether."""
UPPER, MIDDLE, LOWER = 2, 1, 0
"""Where in the order an outcome lies."""
FUTILE = "futile"
"""Of a look: not decided, and all but certain never to be."""


@dataclass(frozen=True)
class Looks:
    """The plan of a cell's looks, and the rule by which they stop it, on the scale of its effect."""

    analyses: tuple[int, ...]
    """Pairs at each look, the final one last."""
    rule: Rule
    error_rate: float
    """Two-sided, over all looks."""

    @property
    def bounds(self) -> tuple[float, ...]:
        """Standard errors that the interval reaches to either side, at each look."""
        return critical_values(self.analyses, self.error_rate / 2)


@dataclass(frozen=True)
class Seen:
    """A cell after some of its looks."""

    looks: Looks
    done: int
    """Looks behind it, from 1 on."""
    effect: float
    """The plain estimate, turned: what is expected is positive."""
    error: float
    """Its standard error."""
    degrees: float = math.inf
    """Degrees of freedom of that error."""

    @property
    def fraction(self) -> float:
        """Of the planned pairs."""
        return self.looks.analyses[self.done - 1] / self.looks.analyses[-1]

    @property
    def unit(self) -> float:
        """The standard error at the end of the plan."""
        return self.error * math.sqrt(self.fraction)

    def reach(self, look: int) -> float:
        """How far the interval of a look (counted from 0) reaches, in standard errors at the end of the plan.

        By Student's t, as far as the error is known by then: with few pairs the interval is much wider.
        """
        bound, analyses = self.looks.bounds[look], self.looks.analyses
        fraction = analyses[look] / analyses[-1]
        degrees = (self.degrees + 1) * analyses[look] / analyses[self.done - 1] - 1
        return reach_of_t(bound, degrees) / math.sqrt(fraction)

    @cached_property
    def _paths(self) -> _Paths:
        return _Paths(self)

    def median_unbiased(self) -> float:
        """The effect under which half of all outcomes lie above this one."""
        if self.done == 1:
            return self.effect
        low, high = (self.effect + side * 8 * self.error for side in (-1, 1))
        for _ in range(50):
            middle = (low + high) / 2
            low, high = (middle, high) if self.chance_above(middle) < 0.5 else (low, middle)
        return (low + high) / 2

    def chance_above(self, effect: float) -> float:
        """Probability under ``effect`` of an outcome at or above this one."""
        return self._paths.chance_above(effect / self.unit)

    def p_value(self, low: float, high: float) -> float | None:
        """Of the verdict on the interval, two-sided; ``None`` if it decides nothing."""
        tails = [
            above if side > 0 else 1 - above
            for value, side in self.looks.rule.hypotheses(low, high)
            for above in (self._as_normal(value).chance_above(value),)
        ]
        return min(1.0, 2 * max(max(tails), 0.0)) if tails else None

    def _as_normal(self, value: float) -> Seen:
        """What lies as far from ``value`` where the error is known for certain: looks spend their errors by that."""
        deviations = normal_deviate((self.effect - value) / self.error, self.degrees)
        return replace(self, effect=value + deviations * self.error, degrees=math.inf)

    def is_futile(self) -> bool:
        """Whether no look is left, or the last one will all but certainly leave it open."""
        if self.done == len(self.looks.analyses):
            return True
        regions = _final_regions(self.looks, self.unit)
        return _predictive_power(regions, self.effect / self.unit, self.fraction) < FUTILITY_POWER

    def pairs_still_needed(self) -> int | None:
        """Pairs beyond those played that would decide, with probability ``POWER`` if the estimate is right."""
        deviation = self.error * math.sqrt(self.looks.analyses[self.done - 1])
        return still_needed(
            self.looks.rule, self.effect, deviation, self.looks.analyses[self.done - 1], self.looks.bounds[-1]
        )


def still_needed(rule: Rule, effect: float, deviation: float, seen: int, bound: float) -> int | None:
    """Observations beyond ``seen`` that would decide a turned effect, if its estimate is right; ``None`` if none would.

    ``deviation`` is the standard deviation of one, ``bound`` the standard errors that its interval reaches.
    """
    distance = rule.largest_deciding_reach(effect)
    if not distance or not math.isfinite(deviation):
        return None
    needed = ((bound + _NORMAL.inv_cdf(POWER)) * deviation / distance) ** 2
    return max(1, math.ceil(min(needed, 1e12)) - seen)


@dataclass(frozen=True)
class _Region:
    """An interval of estimates, in standard errors at the end, and what a look says of them."""

    low: float
    high: float
    verdict: str


def _final_regions(looks: Looks, unit: float) -> list[_Region]:
    """What the last look will say of every estimate; by then pairs are so many that the error is as good as known."""
    return _regions(looks.rule, looks.bounds[-1], unit)


def _regions(rule: Rule, reach: float, unit: float) -> list[_Region]:
    """What a look whose interval reaches so far says of every estimate: intervals from minus to plus infinity."""
    if math.isinf(reach):
        return [_Region(-math.inf, math.inf, OPEN)]
    margin = rule.margin / unit
    borders = sorted({sign * reach + value for sign in (-1, 1) for value in (-margin, 0.0, margin)})
    ends = [-math.inf, *borders, math.inf]
    found: list[_Region] = []
    for low, high in pairwise(ends):
        middle = high - 1 if math.isinf(low) else low + 1 if math.isinf(high) else (low + high) / 2
        verdict = rule.verdict((middle - reach) * unit, (middle + reach) * unit)
        if found and found[-1].verdict == verdict:
            found[-1] = _Region(found[-1].low, high, verdict)
        else:
            found.append(_Region(low, high, verdict))
    return found


def _predictive_power(final: Sequence[_Region], estimate: float, fraction: float) -> float:
    """Probability, given an estimate so far, that the last look decides; all in standard errors at the end."""
    deviation = math.sqrt(1 / fraction - 1)

    def below(value: float) -> float:
        return math.erfc((estimate - value) / deviation / math.sqrt(2)) / 2

    return sum(below(one.high) - below(one.low) for one in final if one.verdict not in (OPEN, SHOWN))


def _with_futility(regions: Sequence[_Region], final: Sequence[_Region], fraction: float) -> list[_Region]:
    """The regions with the futile estimates cut out of those that are open."""

    def excess(estimate: float) -> float:
        return _predictive_power(final, estimate, fraction) - FUTILITY_POWER

    found = []
    for region in regions:
        if region.verdict != OPEN:
            found.append(region)
            continue
        points = np.linspace(max(region.low, -60.0), min(region.high, 60.0), 65)
        signs = [excess(float(point)) < 0 for point in points]
        cuts = [
            _root(excess, float(points[place]), float(points[place + 1]))
            for place in range(len(points) - 1) if signs[place] != signs[place + 1]
        ]  # fmt: skip
        for low, high in pairwise([region.low, *cuts, region.high]):
            middle = (max(low, -60.0) + min(high, 60.0)) / 2
            found.append(_Region(low, high, FUTILE if excess(middle) < 0 else OPEN))
    return found


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    rises = function(high) > 0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if (function(middle) > 0) == rises else (middle, high)
    return (low + high) / 2


class _Paths:
    """All outcomes up to the look of one that was seen, as masses of points; sums in standard errors at the end."""

    def __init__(self, seen: Seen) -> None:
        self._drift = seen.effect / seen.unit
        self._seen = seen
        looks, unit = seen.looks, seen.unit
        fractions = [analysis / looks.analyses[-1] for analysis in looks.analyses]
        final = _final_regions(looks, unit)
        self._observed = self._key(seen.done - 1, self._drift, self._regions(seen.done - 1))
        sums: list[np.ndarray] = []
        masses: list[np.ndarray] = []
        times: list[np.ndarray] = []
        is_above: list[np.ndarray] = []
        points, weights = np.zeros(1), np.ones(1)
        before = 0.0
        end = self._end(len(fractions))
        for look in range(end):
            now, regions = fractions[look], self._regions(look)
            step = math.sqrt(now - before)
            is_last = look == end - 1
            following: list[tuple[np.ndarray, np.ndarray]] = []
            for region in regions if is_last else _with_futility(regions, final, now):
                for low, high in self._split(region):
                    own_points, own_weights = self._panels(low, high, now, step)
                    if not len(own_points):
                        continue
                    drifts = (own_points[:, None] - points[None, :] - self._drift * (now - before)) / step
                    densities = np.exp(-(drifts**2) / 2) @ weights / (step * math.sqrt(2 * math.pi))
                    mass = densities * own_weights
                    if region.verdict == OPEN and not is_last:
                        following.append((own_points, mass))
                        continue
                    sums.append(own_points)
                    masses.append(mass)
                    times.append(np.full(len(mass), now))
                    above = self._key(look, (max(low, -1e9) + min(high, 1e9)) / 2, regions) > self._observed
                    is_above.append(np.full(len(mass), above))
            points, weights = (
                (np.concatenate(columns) for columns in zip(*following, strict=True))
                if following else (np.zeros(0), np.zeros(0))
            )  # fmt: skip
            before = now
            if not len(points) and not is_last:
                break
        self._sums, self._masses = np.concatenate(sums), np.concatenate(masses)
        self._times, self._is_above = np.concatenate(times), np.concatenate(is_above)

    def _regions(self, look: int) -> list[_Region]:
        return _regions(self._seen.looks.rule, self._seen.reach(look), self._seen.unit)

    def _end(self, planned: int) -> int:
        """The last of the ``planned`` looks of which outcomes have to be told from this one.

        Those after one that stopped in the middle lie on either side of it. All others, and those of a cell that is to
        go on, compare with what was left at its own look.
        """
        done = self._seen.done
        regions = self._regions(done - 1)
        at = next(one for one in regions if one.low <= self._drift <= one.high)
        is_over = at.verdict != OPEN or self._seen.is_futile()
        return planned if self._observed[0] == MIDDLE and is_over else done

    def chance_above(self, drift: float) -> float:
        """Probability under a drift of an outcome above the one that was seen."""
        change = (drift - self._drift) * self._sums - (drift**2 - self._drift**2) / 2 * self._times
        masses = self._masses * np.exp(np.minimum(change, 700.0))
        above, below = float(masses[self._is_above].sum()), float(masses[~self._is_above].sum())
        if above + below > KNOWN_MASS:
            return above / (above + below)
        # So far from what was seen only the tail that leads to it lies among the points.
        return above if drift < self._drift else 1 - below

    def _key(self, look: int, estimate: float, regions: Sequence[_Region]) -> tuple[int, float, float]:
        """An outcome's place in the order."""
        first, last = regions[0], regions[-1]
        if last.verdict != OPEN and estimate >= last.low:
            return UPPER, -look, estimate
        if first.verdict != OPEN and estimate <= first.high:
            return LOWER, look, estimate
        return MIDDLE, estimate, 0.0

    def _split(self, region: _Region) -> list[tuple[float, float]]:
        """A region cut at the estimate that was seen, where the order may change; in estimates."""
        cut = self._drift
        if region.low < cut < region.high:
            return [(region.low, cut), (cut, region.high)]
        return [(region.low, region.high)]

    def _panels(self, low: float, high: float, fraction: float, step: float) -> tuple[np.ndarray, np.ndarray]:
        """Points and weights between two estimates, as sums at that time."""
        centre, reach = self._drift * fraction, REACH * math.sqrt(fraction)
        start, end = max(low * fraction, centre - reach), min(high * fraction, centre + reach)
        if end <= start:
            return np.zeros(0), np.zeros(0)
        edges = np.linspace(start, end, math.ceil((end - start) / (2 * step)) + 1)
        halves, middles = np.diff(edges)[:, None] / 2, (edges[1:] + edges[:-1])[:, None] / 2
        return (middles + halves * _NODES).ravel(), (halves * _WEIGHTS).ravel()
