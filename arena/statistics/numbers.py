"""Numbers for people: typographic signs, and no rounding to certainty."""

from __future__ import annotations

import math

from elolab.engine.language import with_minus

INFINITY = "∞"


def signed(value: float, digits: int = 1) -> str:
    """A number with its sign, ``+12.3``; infinity as ``+∞``; zero without a sign."""
    text = f"{value:+.{digits}f}"
    return text.lstrip("+-") if float(text) == 0 else with_minus(text).replace("inf", INFINITY)


def given_text(value: float) -> str:
    """A number as given by the user, without a plus sign."""
    return with_minus(f"{value:g}")


def percent_text(share: float) -> str:
    """A probability in percent with one digit; ``<0.1`` or ``>99.9`` near certainty."""
    if share < 0.0005:
        return "<0.1"
    if share >= 0.9995:
        return ">99.9"
    return f"{100 * share:.1f}"


def error_text(error: float) -> str:
    """Half the width of an interval, ``4.5``; infinity as ``∞``."""
    return f"{error:.1f}" if math.isfinite(error) else INFINITY
