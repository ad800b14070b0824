"""Numbers, lists and limits as text, for the reports of tuning."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import reduce

from elolab.arena.statistics.numbers import INFINITY, error_text, signed
from elolab.engine.language import Catalogue
from elolab.tuning.ablation.rows import AGAINST

MESSAGES = "elolab.tuning.reports"
"""Name of the package that holds the message catalogue of these reports."""


def elo_text(elo: float, error: float) -> str:
    """Elo and its error as text, such as ``+12.3 ± 4.5``; infinite values are shown as ``∞``."""
    return f"{signed(elo)} ± {error_text(error)}"


def interval_text(low: float, high: float) -> str:
    """An interval in Elo as text, such as ``[+1.2, +9.8]``."""
    return f"[{signed(low)}, {signed(high)}]"


def ratio_text(ratio: float) -> str:
    """A ratio as text with three significant digits: ``0.0315×``, ``1.50×``, ``1230×``."""
    if not math.isfinite(ratio) or ratio <= 0:
        return f"{ratio:g}×".replace("inf", INFINITY)
    digits = max(0, 2 - math.floor(math.log10(float(f"{ratio:.2e}"))))
    return f"{ratio:.{digits}f}×"


def counted(found: Iterable[tuple[str, int]], message: Catalogue) -> str:
    """A list of counts with their names, without counts of zero, such as ``2 better, 1 undecided``."""
    parts = [message("list.count", count=count, name=name) for name, count in found if count]
    return message("list.comma").join(parts)


def in_one(sentences: Iterable[str], message: Catalogue) -> str:
    """Join sentences into one text, with the spacing of the catalogue's language; empty without sentences."""
    texts = list(sentences)
    return reduce(lambda before, after: message("list.sentences", before=before, after=after), texts) if texts else ""


def limit_text(limit: str, message: Catalogue) -> str:
    """A comparison's search limit as text; if variant and reference have different limits, both limits."""
    own, _, other = limit.partition(AGAINST)
    return message("fact.limit_against", limit=own, other=other) if other else own
