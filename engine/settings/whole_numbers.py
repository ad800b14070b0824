"""Parsing of whole numbers from untrusted text."""

from __future__ import annotations

MAX_SEED = 2**63 - 1
"""Maximum random seed: the largest integer in TOML."""
MAX_NUMBER = 19
"""Maximum number of digits that are read. Longer numbers exceed every bound, and Python may refuse to read them."""


def natural_number(text: str) -> int | None:
    """Parse a number written in ASCII digits; ``None`` if the text is anything else.

    A number with more than ``MAX_NUMBER`` digits is returned as 10 ** 19.
    """
    if not text.isascii() or not text.isdigit():
        return None
    return int(text) if len(text) <= MAX_NUMBER else 10**MAX_NUMBER
