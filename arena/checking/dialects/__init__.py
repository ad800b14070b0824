"""The conversation of the checks, one module per protocol; ``dialect_named`` finds it."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from elolab.arena.checking.dialects.dialect import Dialect

_CLASSES = {
    "uci": ("elolab.arena.checking.dialects.uci", "UciDialect"),
    "ucicyclone": ("elolab.arena.checking.dialects.uci", "UciCycloneDialect"),
    "ucci": ("elolab.arena.checking.dialects.uci", "UcciDialect"),
    "xboard": ("elolab.arena.checking.dialects.xboard", "XboardDialect"),
    "gtp": ("elolab.arena.checking.dialects.othello", "GtpDialect"),
    "nboard": ("elolab.arena.checking.dialects.othello", "NBoardDialect"),
}

DIALECTS = tuple(_CLASSES)
"""The protocols that a program can be examined in."""


def dialect_named(name: str) -> type[Dialect[Any]]:
    """The class of a protocol, one of ``DIALECTS``."""
    module, dialect = _CLASSES[name]
    found: type[Dialect[Any]] = getattr(importlib.import_module(module), dialect)
    return found
