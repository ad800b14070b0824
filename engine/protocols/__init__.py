"""The engine as a program: each protocol is a thin layer over the same session.

Adding a protocol is a module here and a line in ``SESSIONS``. The modules are imported when they are asked for.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from elolab.engine.protocols.session import Session


@dataclass(frozen=True)
class SessionEntry:
    """One protocol that the engine speaks."""

    name: str
    """Name for the option ``--protocol``."""
    session: str
    """Name of the subclass of ``Session`` in the module."""
    games: tuple[str, ...]
    """The games that can be played over it."""
    title: str
    """Usual spelling, for texts."""
    note: str = ""
    """Short explanation, if the name needs one."""
    takes_first_rank: bool = False
    """Whether the session takes the number of the lowest rank as the argument ``first_rank``."""
    module: str = ""
    """Module in this package; empty if it has the protocol's name."""

    def load(self) -> type[Session]:
        """The class of its sessions."""
        kind: type[Session] = getattr(importlib.import_module(f"{__name__}.{self.module or self.name}"), self.session)
        return kind


SESSIONS: dict[str, SessionEntry] = {
    entry.name: entry
    for entry in (
        SessionEntry("ucci", "UcciSession", ("xiangqi",), "UCCI"),
        SessionEntry("uci", "UciSession", ("xiangqi",), "UCI", takes_first_rank=True),
        SessionEntry("ucicyclone", "UciCycloneSession", ("xiangqi",), "UCI-Cyclone", module="uci"),
        SessionEntry("xboard", "XboardSession", ("xiangqi",), "xboard"),
        SessionEntry("qianhong", "QianhongSession", ("xiangqi",), "Qianhong", "the plug-in protocol of Qianhong"),
        SessionEntry("gtp", "GtpSession", ("othello",), "GTP"),
        SessionEntry("nboard", "NBoardSession", ("othello",), "NBoard"),
    )
}
"""Protocols by name; for each game, the most common one comes first."""


def sessions_for(game: str) -> list[SessionEntry]:
    """The protocols that a game can be played over, the usual one first."""
    return [entry for entry in SESSIONS.values() if game in entry.games]


def choices_in_words() -> str:
    """``for GAME a (default), b or c; for ...``, for the help of ``--protocol``."""
    games = dict.fromkeys(game for entry in SESSIONS.values() for game in entry.games)
    return "; ".join(f"for {game.capitalize()} {_in_words(sessions_for(game))}" for game in games)


def _in_words(entries: list[SessionEntry]) -> str:
    words = [entry.name + (f": {entry.note}" if entry.note else "") for entry in entries]
    words[0] += " (default)"
    if len(words) < 3:
        return " or ".join(words)
    return f"{', '.join(words[:-1])}, or {words[-1]}"
