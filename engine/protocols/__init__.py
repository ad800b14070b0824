"""The engine as a program: three protocols, each a thin layer over the same session."""

from __future__ import annotations

PROTOCOLS = ("ucci", "uci", "qianhong")
"""By the names of ``--protocol``; each is a module of this package."""
