"""Communication with a checked program: one module per protocol; ``dialect_named`` finds the class of a protocol."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from elolab.arena.checking.dialects.dialect import Dialect

_CLASSES = {
    "uci": ("elolab.arena.checking.dialects.uci_dialect", "UciDialect"),
    "ucicyclone": ("elolab.arena.checking.dialects.uci_dialect", "UciCycloneDialect"),
    "ucci": ("elolab.arena.checking.dialects.uci_dialect", "UcciDialect"),
    "xboard": ("elolab.arena.checking.dialects.xboard_dialect", "XboardDialect"),
    "gtp": ("elolab.arena.checking.dialects.othello_dialects", "GtpDialect"),
    "nboard": ("elolab.arena.checking.dialects.othello_dialects", "NBoardDialect"),
}

DIALECTS = tuple(_CLASSES)
"""Names of the protocols that ``elolab check`` can test."""


def dialect_named(name: str) -> type[Dialect[Any]]:
    """The class for the protocol ``name``, which is one of ``DIALECTS``."""
    module, dialect = _CLASSES[name]
    found: type[Dialect[Any]] = getattr(importlib.import_module(module), dialect)
    return found
