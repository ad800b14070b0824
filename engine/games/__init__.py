"""The games that elolab plays. A new game needs a folder here and an entry in ``REGISTERED``."""

from __future__ import annotations

import functools
import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from elolab.engine.errors import UserError
from elolab.engine.settings.configuration import nearest

if TYPE_CHECKING:
    from elolab.engine.games.contract import Game


@dataclass(frozen=True)
class Registration:
    """A game: its protocols and names, which are known without an import of its folder.

    That import loads or compiles machine code.
    """

    protocols: tuple[str, ...]
    """Protocols that programs of the game speak, the usual one first."""
    xboard_variants: tuple[str, ...] = ()
    """Names of the game in the xboard protocol; a second one is for games from the start positions of Chess960."""
    is_ranked: bool = False
    """Whether programs count the ranks of moves from 0 or from 1."""
    has_own_signature: bool = True
    """Whether the benchmark's signature of the game is ``Bench NAME``; the first games share the signature ``Bench``.

    A new game thus leaves ``Bench`` as it was."""


REGISTERED: dict[str, Registration] = {
    "xiangqi": Registration(
        ("ucci", "uci", "ucicyclone", "xboard", "qianhong"), ("xiangqi",), is_ranked=True, has_own_signature=False
    ),
    "othello": Registration(("gtp", "nboard"), has_own_signature=False),
    "chess": Registration(("uci", "xboard"), ("normal", "fischerandom")),
}
"""The games, by the names of their folders."""

GAMES: tuple[str, ...] = tuple(REGISTERED)
DEFAULT_GAME = GAMES[0]
"""The game to use if none is named."""


@functools.cache
def game_named(name: str) -> Game:
    """Look up a game by name; raises ``UserError``, with the most similar name, for an unknown one."""
    if name not in REGISTERED:
        raise UserError(f"unknown game {name!r}, expected one of {', '.join(GAMES)}{nearest(name, GAMES)}")
    # Imported when asked for: it compiles or loads machine code.
    game: Game = importlib.import_module(f"{__name__}.{name}").GAME
    return game


def games_over(protocol: str) -> tuple[str, ...]:
    """Names of the games that programs play over a protocol."""
    return tuple(name for name, entry in REGISTERED.items() if protocol in entry.protocols)
