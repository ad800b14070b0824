"""The engine as a program: each protocol is a thin layer over the same session."""

from __future__ import annotations

PROTOCOLS = ("ucci", "uci", "qianhong", "gtp", "nboard")
"""By the names of ``--protocol``; each is a module of this package."""

USUAL_PROTOCOLS = {"xiangqi": "ucci", "othello": "gtp"}
"""What programs that play a game mostly speak."""
