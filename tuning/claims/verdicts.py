"""How the verdict on a part of a claim follows from its cells and their simultaneous intervals.

Every cell (an engine at a limit) has one effect, turned so that the direction expected is positive, and an interval of
it. The intervals of a part's cells hold together, and at all looks, with probability 95 %: each of k cells has the
error rate 5 % / k (Bonferroni), spread over its looks in the manner of O'Brien and Fleming (repeated confidence
intervals: Jennison and Turnbull, "Group Sequential Methods", 2000, chapter 9); where there is but one look, it is a
plain interval. With the margin m, a cell is

- where a direction is expected: ``negligible`` if its interval lies inside (-m, m), else ``confirmed`` if it lies above
  0, ``refuted`` if it lies below -m. By the part's own ``refuted_by`` an interval below 0 refutes too (``opposite``),
  or one inside (-m, m) does (``negligible``);
- where equivalence is expected: ``confirmed`` if the interval lies inside (-m, m), ``refuted`` if it lies beyond m or
  below -m;
- where no deficit is expected (non-inferiority): ``confirmed`` if it lies above -m, ``refuted`` if it lies below -m; a
  significant deficit within the margin refutes nothing;
- where something is to occur: ``confirmed`` by one case; ``negligible`` if there is none and the interval of its rate
  ends below m;
- where all cases are to be alike: ``refuted`` by one that is not; ``confirmed`` if there is none and the interval of
  the rate of such cases ends below m;
- ``open`` otherwise.

The part has the verdict that all its cells have in common. It ``depends`` if two cells with different verdicts have
effects that differ by more than the margin: their intervals lie further apart than m. Otherwise it is ``open``, also
where one is confirmed and one refuted by a rule under which both may be true of the same effect. So every verdict on a
part is a consequence of intervals that hold together, and is false with a probability of at most 5 %.

Over the family of all parts that expect something, Holm's procedure says which verdicts would stay if the probability
of any false one among them all were to be 5 %: by each part's p-value, the smallest error rate at which its cells
would have decided so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from elolab.tuning.ablation.verdicts import ERROR_RATE
from elolab.tuning.keys.claims import REFUTED_BY

CONFIRMED, REFUTED, NEGLIGIBLE, DEPENDS, OPEN = "confirmed", "refuted", "negligible", "depends", "open"
SHOWN = "shown"
"""Instead of a verdict, where a part expects nothing."""
UNFINISHED = "unfinished"
"""Shown instead of ``open`` where games or searches are left."""
PART_VERDICTS = (CONFIRMED, REFUTED, NEGLIGIBLE, DEPENDS, OPEN)

TURNED = ("worse", "less", "below", "not_more")
"""Expectations whose effects are turned: what is expected is negative."""
EQUIVALENT = ("equivalent", "equal")
NON_INFERIOR = ("not_worse", "not_more")
OF_CASES = ("occurs", "same")
BY_MARGIN, BY_OPPOSITE, BY_NEGLIGIBLE = REFUTED_BY


@dataclass(frozen=True)
class Rule:
    """What decides a cell: the expectation, and the margin on the scale of its effect (0 is none)."""

    expect: str | None
    margin: float
    refuted_by: str = BY_MARGIN

    @property
    def sign(self) -> int:
        """-1 where what is expected is negative."""
        return -1 if self.expect in TURNED else 1

    def turned(self, low: float, high: float) -> tuple[float, float]:
        """The bounds of an effect as the rule sees it."""
        return (low, high) if self.sign > 0 else (-high, -low)

    def verdict(self, low: float, high: float) -> str:
        """The verdict on an interval of a turned effect; not of ``OF_CASES``."""
        margin = self.margin
        inside = -margin < low and high < margin
        if self.expect is None:
            return SHOWN
        if self.expect in EQUIVALENT:
            return CONFIRMED if inside else REFUTED if low > margin or high < -margin else OPEN
        if self.expect in NON_INFERIOR:
            return CONFIRMED if low > -margin else REFUTED if high < -margin else OPEN
        if inside:
            return REFUTED if self.refuted_by == BY_NEGLIGIBLE else NEGLIGIBLE
        if low > 0:
            return CONFIRMED
        return REFUTED if high < (0 if self.refuted_by == BY_OPPOSITE else -margin) else OPEN

    def verdict_of_cases(self, hits: int, cases: int, high: float) -> str:
        """The verdict where something is to occur, or all are to be alike; ``high`` bounds the rate, in percent."""
        if self.expect is None:
            return SHOWN
        if hits:
            return CONFIRMED if self.expect == "occurs" else REFUTED
        if not cases or high > self.margin:
            return OPEN
        return NEGLIGIBLE if self.expect == "occurs" else CONFIRMED

    def hypotheses(self, low: float, high: float) -> tuple[tuple[float, int], ...]:
        """What a verdict on an interval rejects: values of the turned effect, and on which side (+1 above) that is.

        Nothing where the interval decides nothing.
        """
        verdict, margin = self.verdict(low, high), self.margin
        if verdict in (OPEN, SHOWN):
            return ()
        if -margin < low and high < margin and self.expect not in NON_INFERIOR:
            return (-margin, 1), (margin, -1)
        if self.expect in EQUIVALENT:
            return ((margin, 1),) if low > margin else ((-margin, -1),)
        if verdict == CONFIRMED:
            return ((-margin if self.expect in NON_INFERIOR else 0.0, 1),)
        return ((0.0 if self.refuted_by == BY_OPPOSITE and self.expect not in NON_INFERIOR else -margin, -1),)

    def largest_deciding_reach(self, effect: float) -> float:
        """How far an interval around a turned effect may reach to either side and just decide; 0 if none would."""
        reaches = {abs(effect - border) for border in (-self.margin, 0.0, self.margin)} - {0.0}
        deciding = [
            reach for reach in reaches
            if self.verdict(effect - reach * (1 - 1e-9), effect + reach * (1 - 1e-9)) not in (OPEN, SHOWN)
        ]  # fmt: skip
        return max(deciding, default=0.0)


@dataclass(frozen=True)
class CellOutcome:
    """What a part's verdict takes from a cell."""

    verdict: str
    low: float
    """Simultaneous interval of the effect, on the scale of the margin."""
    high: float


def verdict_of_cells(cells: Sequence[CellOutcome], margin: float) -> str:
    """The verdict on a part, as the module's docstring defines it."""
    verdicts = {cell.verdict for cell in cells}
    if not cells or verdicts == {SHOWN}:
        return SHOWN if cells else OPEN
    if len(verdicts) == 1:
        return verdicts.pop()
    return DEPENDS if any(differ(*pair, margin) for pair in combinations(cells, 2)) else OPEN


def differ(one: CellOutcome, other: CellOutcome, margin: float) -> bool:
    """Whether two cells have different verdicts for different effects."""
    if one.verdict == other.verdict:
        return False
    return max(one.low - other.high, other.low - one.high) > margin


def stays_in_family(p_values: Mapping[str, float | None], family: int, error_rate: float = ERROR_RATE) -> set[str]:
    """By Holm's procedure, the names whose p-values are rejected among ``family`` hypotheses; ``None`` never is."""
    found: set[str] = set()
    known = sorted((p_value, name) for name, p_value in p_values.items() if p_value is not None)
    for place, (p_value, name) in enumerate(known):
        if p_value > error_rate / max(1, family - place):
            break
        found.add(name)
    return found
