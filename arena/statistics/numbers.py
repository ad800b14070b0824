"""Formats numbers for people, with typographic signs. Probabilities near 0 or 1 are not rounded to 0 or 100 %."""

from __future__ import annotations

import math

from elolab.engine.language import with_minus

INFINITY = "∞"


def signed(value: float, digits: int = 1) -> str:
    """A number with its sign and ``digits`` decimals, such as ``+12.3``; infinity as ``+∞``, zero without a sign."""
    text = f"{value:+.{digits}f}"
    return text.lstrip("+-") if float(text) == 0 else with_minus(text).replace("inf", INFINITY)


def given_text(value: float) -> str:
    """A number that the user has given, without a plus sign."""
    return with_minus(f"{value:g}")


def percent_text(share: float) -> str:
    """A probability, 0 to 1, in percent with one decimal; ``<0.1`` or ``>99.9`` instead of 0 or 100."""
    if share < 0.0005:
        return "<0.1"
    if share >= 0.9995:
        return ">99.9"
    return f"{100 * share:.1f}"


def elo_text(elo: float, error: float) -> str:
    """An Elo and half the width of its interval, such as ``+12.3 ± 4.5``."""
    return f"{signed(elo)} ± {error_text(error)}"


def error_text(error: float) -> str:
    """Half the width of an interval with one decimal, such as ``4.5``; infinity as ``∞``."""
    return f"{error:.1f}" if math.isfinite(error) else INFINITY
