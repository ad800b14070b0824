"""Inference after several looks at a cell: its median-unbiased effect, and p-values.

Games go on until a look decides, so the plain estimate is biased towards the result that stopped them. The outcome has
a rank among all outcomes that the test could have had. The median-unbiased estimate is the effect under which it is the
median. The order is stage-wise (Armitage, 1957; Jennison and Turnbull, "Group Sequential Methods", 2000, chapter 8):
stops at the upper bound rank highest, earlier ones above later ones; stops at the lower bound rank lowest, earlier ones
below later ones. Outcomes that stopped in the middle (equivalence, futility) or reached the last look rank between
them, by their estimates.

The sum of observations is a Brownian motion whose time is the fraction of planned pairs. Gaussian quadrature carries
its density on the paths still running from look to look.
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
"""Standard deviations beyond which distributions are cut off."""
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)
"""Quadrature on panels two standard deviations of a step wide: accurate to ten digits."""
KNOWN_MASS = 0.99
"""Probability of known outcomes from which a distribution counts as complete."""
UPPER, MIDDLE, LOWER = 2, 1, 0
"""Rank of an outcome's region in the order."""
FUTILE = "futile"
"""A look that did not decide, in a cell that almost certainly never will."""


@dataclass(frozen=True)
class Looks:
    """A cell's planned looks and stopping rule, on the scale of its effect."""

    analyses: tuple[int, ...]
    """Pairs at each look, the final one last."""
    rule: Rule
    error_rate: float
    """Two-sided error rate over all looks."""

    @property
    def bounds(self) -> tuple[float, ...]:
        """Half width of the interval at each look, in standard errors."""
        return critical_values(self.analyses, self.error_rate / 2)


@dataclass(frozen=True)
class Seen:
    """A cell after some of its looks."""

    looks: Looks
    done: int
    """Number of looks done, from 1."""
    effect: float
    """The plain estimate, turned so that the expected direction is positive."""
    error: float
    """Its standard error."""
    degrees: float = math.inf
    """Degrees of freedom of ``error``."""

    @property
    def fraction(self) -> float:
        """Fraction of the planned pairs."""
        return self.looks.analyses[self.done - 1] / self.looks.analyses[-1]

    @property
    def unit(self) -> float:
        """The standard error at the end of the plan."""
        return self.error * math.sqrt(self.fraction)

    def reach(self, look: int) -> float:
        """Half width of a look's interval (looks count from 0), in standard errors at the end of the plan.

        By Student's t with the degrees of freedom at that look: with few pairs the interval is much wider.
        """
        bound, analyses = self.looks.bounds[look], self.looks.analyses
        fraction = analyses[look] / analyses[-1]
        degrees = (self.degrees + 1) * analyses[look] / analyses[self.done - 1] - 1
        return reach_of_t(bound, degrees) / math.sqrt(fraction)

    @cached_property
    def _paths(self) -> _Paths:
        return _Paths(self)

    def median_unbiased(self) -> float:
        """The effect under which this outcome is the median."""
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
        """Two-sided p-value of the verdict on the interval; ``None`` if it decides nothing."""
        tails = [
            above if side > 0 else 1 - above
            for value, side in self.looks.rule.hypotheses(low, high)
            for above in (self._as_normal(value).chance_above(value),)
        ]
        return min(1.0, 2 * max(max(tails), 0.0)) if tails else None

    def _as_normal(self, value: float) -> Seen:
        """The outcome with a known error and the same tail probability relative to ``value``."""
        deviations = normal_deviate((self.effect - value) / self.error, self.degrees)
        return replace(self, effect=value + deviations * self.error, degrees=math.inf)

    def is_futile(self) -> bool:
        """Whether no look is left, or the last look will almost certainly not decide."""
        if self.done == len(self.looks.analyses):
            return True
        regions = _final_regions(self.looks, self.unit)
        return _predictive_power(regions, self.effect / self.unit, self.fraction) < FUTILITY_POWER

    def pairs_still_needed(self) -> int | None:
        """Further pairs that would decide with probability ``POWER`` if the estimate is right."""
        deviation = self.error * math.sqrt(self.looks.analyses[self.done - 1])
        return still_needed(
            self.looks.rule, self.effect, deviation, self.looks.analyses[self.done - 1], self.looks.bounds[-1]
        )


def still_needed(rule: Rule, effect: float, deviation: float, seen: int, bound: float) -> int | None:
    """Observations beyond ``seen`` that would decide a turned effect if its estimate is right; ``None`` if none would.

    ``deviation`` is the standard deviation of one observation, ``bound`` the interval's half width in standard errors.
    """
    distance = rule.largest_deciding_reach(effect)
    if not distance or not math.isfinite(deviation):
        return None
    needed = ((bound + _NORMAL.inv_cdf(POWER)) * deviation / distance) ** 2
    return max(1, math.ceil(min(needed, 1e12)) - seen)


@dataclass(frozen=True)
class _Region:
    """An interval of estimates, in standard errors at the end, and a look's verdict on them."""

    low: float
    high: float
    verdict: str


def _final_regions(looks: Looks, unit: float) -> list[_Region]:
    """The last look's verdicts on all estimates; its many pairs make the error practically known."""
    return _regions(looks.rule, looks.bounds[-1], unit)


def _regions(rule: Rule, reach: float, unit: float) -> list[_Region]:
    """A look's verdicts on all estimates, for half width ``reach``: intervals from minus to plus infinity."""
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
    """Probability, given an estimate so far, that the last look decides; in standard errors at the end."""
    deviation = math.sqrt(1 / fraction - 1)

    def below(value: float) -> float:
        return math.erfc((estimate - value) / deviation / math.sqrt(2)) / 2

    return sum(below(one.high) - below(one.low) for one in final if one.verdict not in (OPEN, SHOWN))


def _with_futility(regions: Sequence[_Region], final: Sequence[_Region], fraction: float) -> list[_Region]:
    """The regions, with futile estimates cut out of the open ones."""

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
    """All outcomes up to the observed look, as masses at points; sums are in standard errors at the end."""

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
        """The last of the ``planned`` looks whose outcomes must be ranked against this one.

        If this outcome stopped in the middle, later outcomes lie on either side of it. Any other outcome only needs the
        probability left at its own look.
        """
        done = self._seen.done
        regions = self._regions(done - 1)
        at = next(one for one in regions if one.low <= self._drift <= one.high)
        is_over = at.verdict != OPEN or self._seen.is_futile()
        return planned if self._observed[0] == MIDDLE and is_over else done

    def chance_above(self, drift: float) -> float:
        """Probability under a drift of an outcome above the observed one."""
        change = (drift - self._drift) * self._sums - (drift**2 - self._drift**2) / 2 * self._times
        masses = self._masses * np.exp(np.minimum(change, 700.0))
        above, below = float(masses[self._is_above].sum()), float(masses[~self._is_above].sum())
        if above + below > KNOWN_MASS:
            return above / (above + below)
        # Far from the observed drift, the points only cover the tail that leads to the outcome.
        return above if drift < self._drift else 1 - below

    def _key(self, look: int, estimate: float, regions: Sequence[_Region]) -> tuple[int, float, float]:
        """An outcome's rank in the order."""
        first, last = regions[0], regions[-1]
        if last.verdict != OPEN and estimate >= last.low:
            return UPPER, -look, estimate
        if first.verdict != OPEN and estimate <= first.high:
            return LOWER, look, estimate
        return MIDDLE, estimate, 0.0

    def _split(self, region: _Region) -> list[tuple[float, float]]:
        """A region of estimates, cut at the observed one, where the order may change."""
        cut = self._drift
        if region.low < cut < region.high:
            return [(region.low, cut), (cut, region.high)]
        return [(region.low, region.high)]

    def _panels(self, low: float, high: float, fraction: float, step: float) -> tuple[np.ndarray, np.ndarray]:
        """Quadrature points and weights between two estimates, as sums at that time."""
        centre, reach = self._drift * fraction, REACH * math.sqrt(fraction)
        start, end = max(low * fraction, centre - reach), min(high * fraction, centre + reach)
        if end <= start:
            return np.zeros(0), np.zeros(0)
        edges = np.linspace(start, end, math.ceil((end - start) / (2 * step)) + 1)
        halves, middles = np.diff(edges)[:, None] / 2, (edges[1:] + edges[:-1])[:, None] / 2
        return (middles + halves * _NODES).ravel(), (halves * _WEIGHTS).ravel()
