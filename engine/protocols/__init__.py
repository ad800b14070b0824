"""The engine as a program for each protocol: a protocol's server is a subclass of ``EngineServer``.

To add a protocol, add a module here and a line in ``SERVED_PROTOCOLS``. A module is imported only when its server is
loaded.
"""

from __future__ import annotations

import pkgutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from elolab.engine.games import GAMES, REGISTERED, games_over

if TYPE_CHECKING:
    from elolab.engine.protocols.engine_server import EngineServer


@dataclass(frozen=True)
class ServedProtocol:
    """A protocol over which the engine can be played."""

    name: str
    """Name of the protocol as a value of the option ``--protocol``."""
    server: str
    """Name of the server class in the protocol's module."""
    title: str
    """The protocol's name in its usual spelling, for help texts and messages."""
    note: str = ""
    """Short explanation of the protocol for users; empty if the protocol's name needs no explanation."""
    module: str = ""
    """Name of the protocol's module in this package; empty if it equals the protocol's name."""

    @property
    def games(self) -> tuple[str, ...]:
        """Names of the games that can be played over the protocol."""
        return games_over(self.name)

    def load(self) -> type[EngineServer]:
        """Import the protocol's module and return its server class."""
        kind: type[EngineServer] = pkgutil.resolve_name(f"{__name__}.{self.module or self.name}:{self.server}")
        return kind


SERVED_PROTOCOLS: dict[str, ServedProtocol] = {
    entry.name: entry
    for entry in (
        ServedProtocol("ucci", "UcciServer", "UCCI"),
        ServedProtocol("uci", "UciServer", "UCI"),
        ServedProtocol("ucicyclone", "UciCycloneServer", "UCI-Cyclone", module="uci"),
        ServedProtocol("xboard", "XboardServer", "xboard"),
        ServedProtocol("qianhong", "QianhongServer", "Qianhong", "the plug-in protocol of Qianhong"),
        ServedProtocol("gtp", "GtpServer", "GTP"),
        ServedProtocol("nboard", "NBoardServer", "NBoard"),
    )
}
"""The protocols that the engine supports, by name."""


def protocols_for(game: str) -> list[ServedProtocol]:
    """The protocols for a game, the most common one first."""
    return [SERVED_PROTOCOLS[name] for name in REGISTERED[game].protocols] if game in REGISTERED else []


def protocol_choices() -> str:
    """The choices of ``--protocol``, as a sentence for the option's help: ``for GAME a (default), b or c; for ...``."""
    return "; ".join(f"for {game.capitalize()} {_in_words(protocols_for(game))}" for game in GAMES)


def _in_words(entries: list[ServedProtocol]) -> str:
    words = [entry.name + (f": {entry.note}" if entry.note else "") for entry in entries]
    words[0] += " (default)"
    if len(words) < 3:
        return " or ".join(words)
    return f"{', '.join(words[:-1])}, or {words[-1]}"
