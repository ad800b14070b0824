"""Verdicts on the parts of claims, one for each engine, from the intervals of their cells.

Every cell (an engine at a limit) has one effect, with the expected direction as positive. Its interval has an error
rate of 5 % over all looks, by O'Brien-Fleming spending (repeated confidence intervals: Jennison and Turnbull, "Group
Sequential Methods", 2000, chapter 9). With a single look it is a plain interval. With the margin m:

- An expected direction is ``negligible`` if the interval lies inside (-m, m), else ``confirmed`` above 0 and
  ``refuted`` below -m. The part's ``refuted_by`` may also refute by an interval below 0 (``opposite``), or inside (-m,
  m) (``negligible``).
- Expected equivalence is ``confirmed`` inside (-m, m), and ``refuted`` beyond m or below -m.
- Expected non-inferiority is ``confirmed`` above -m and ``refuted`` below -m; a significant deficit within the margin
  refutes nothing.
- An expected occurrence is ``confirmed`` by one case; it is ``negligible`` without one if the interval of the rate ends
  below m.
- Expected uniformity is ``refuted`` by one exception; it is ``confirmed`` without one if the interval of the rate of
  exceptions ends below m.
- Otherwise the cell is ``open``.

A part has one verdict for the engine of the claim's source and one for today's engine, never a common one. An engine's
verdict is the one that all its cells share, otherwise ``open``. It makes one claim about every limit at once, so it is
an intersection-union test. It is false with a probability of at most 5 %, without a correction for the number of cells
(Berger, "Multiparameter hypothesis testing and acceptance sampling", 1982).

A part ``depends`` on the engine if its two verdicts differ, and the intervals of the two engines at one limit lie
further apart than m. Any limit may show the difference. So these intervals hold together for all k cells of the part,
each with the error rate 5 % / k (Bonferroni).

Holm's correction covers all engine verdicts with an expectation. It shows which of them would stay if the probability
of any false one were at most 5 %. The p-value of a cell is the smallest error rate at which its verdict would be the
same. The p-value of an engine's verdict is the largest of its cells.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from elolab.tuning.ablation.comparison_verdicts import ERROR_RATE
from elolab.tuning.keys.claims import REFUTED_BY

CONFIRMED, REFUTED, NEGLIGIBLE, OPEN = "confirmed", "refuted", "negligible", "open"
SHOWN = "shown"
"""The verdict on a part that expects nothing."""
UNFINISHED = "unfinished"
"""Shown instead of the verdict ``open`` while games or searches are left."""
VERDICTS = (CONFIRMED, REFUTED, NEGLIGIBLE, OPEN)

TURNED = ("worse", "less", "below", "not_more")
"""Expected results that mean a negative effect; the sign of the effect is reversed for them."""
EQUIVALENT = ("equivalent", "equal")
NON_INFERIOR = ("not_worse", "not_more")
OF_CASES = ("occurs", "same")
BY_MARGIN, BY_OPPOSITE, BY_NEGLIGIBLE = REFUTED_BY


@dataclass(frozen=True)
class PartRule:
    """The rule for a cell's verdict: the expected result, and the margin on the scale of the effect (0 means no
    margin).
    """

    expect: str | None
    margin: float
    refuted_by: str = BY_MARGIN

    @property
    def sign(self) -> int:
        """-1 if the expected effect is negative, else 1."""
        return -1 if self.expect in TURNED else 1

    def turned(self, low: float, high: float) -> tuple[float, float]:
        """Convert an interval of the effect so that the expected direction is positive.

        If a negative effect is expected, both bounds are negated and change places.
        """
        return (low, high) if self.sign > 0 else (-high, -low)

    def verdict(self, low: float, high: float) -> str:
        """The verdict for an interval of the effect that is positive in the expected direction.

        Expectations in ``OF_CASES`` need ``verdict_of_cases`` instead.
        """
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
        """The verdict on a part that expects an occurrence, or that all ``cases`` agree.

        ``hits`` is the number of occurrences, or of exceptions to the agreement; ``high`` is the upper confidence
        limit of their rate, in percent.
        """
        if self.expect is None:
            return SHOWN
        if hits:
            return CONFIRMED if self.expect == "occurs" else REFUTED
        if not cases or high > self.margin:
            return OPEN
        return NEGLIGIBLE if self.expect == "occurs" else CONFIRMED

    def hypotheses(self, low: float, high: float) -> tuple[tuple[float, int], ...]:
        """Values of the effect that the verdict rejects, each with the side on which the effect lies: +1 above, -1
        below.

        ``low`` and ``high`` are the bounds of the interval, with the expected direction as positive. The result is
        empty if the verdict is open.
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
        """Largest half width of an interval around ``effect`` that still gives a verdict; 0 if none does."""
        reaches = {abs(effect - border) for border in (-self.margin, 0.0, self.margin)} - {0.0}
        deciding = [
            reach for reach in reaches
            if self.verdict(effect - reach * (1 - 1e-9), effect + reach * (1 - 1e-9)) not in (OPEN, SHOWN)
        ]  # fmt: skip
        return max(deciding, default=0.0)


def verdict_of_cells(verdicts: Sequence[str]) -> str:
    """The verdict on a part in one engine: the one that all its cells share, otherwise ``open``."""
    return verdicts[0] if len(set(verdicts)) == 1 else OPEN


def are_apart(one: tuple[float, float], other: tuple[float, float], margin: float) -> bool:
    """Whether the gap between two intervals (low, high) is larger than ``margin``."""
    return max(one[0] - other[1], other[0] - one[1]) > margin


def stays_in_family(p_values: Mapping[str, float | None], family: int, error_rate: float = ERROR_RATE) -> set[str]:
    """Names of the hypotheses that Holm's correction rejects.

    ``family`` is the total number of hypotheses. A hypothesis with the p-value ``None`` is never rejected.
    """
    found: set[str] = set()
    known = sorted((p_value, name) for name, p_value in p_values.items() if p_value is not None)
    for place, (p_value, name) in enumerate(known):
        if p_value > error_rate / max(1, family - place):
            break
        found.add(name)
    return found
