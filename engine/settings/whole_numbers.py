"""Parsing of whole numbers from untrusted text."""

from __future__ import annotations

MAX_SEED = 2**63 - 1
"""The largest random seed: the largest whole number of TOML."""
MAX_NUMBER = 19
"""Digits beyond which a number is larger than any bound; Python refuses to read one of thousands."""


def natural_number(text: str) -> int | None:
    """The number that ASCII digits spell, ``None`` for anything else; one of too many digits is 10 ** 19."""
    if not text.isascii() or not text.isdigit():
        return None
    return int(text) if len(text) <= MAX_NUMBER else 10**MAX_NUMBER
