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
    """Names and protocols of a game, available without importing its folder, which would load or compile code."""

    protocols: tuple[str, ...]
    """Names of the protocols that programs for this game use, the most common one first."""
    xboard_variants: tuple[str, ...] = ()
    """Names of the game in the xboard protocol. A second name, if any, is for games from Chess960 start positions."""
    is_ranked: bool = False
    """Whether some programs for this game number the first rank 0 in moves, and others 1."""
    has_own_signature: bool = True
    """Whether the benchmark prints a signature of its own for this game, ``Bench NAME``.

    The first games share the signature ``Bench``. A new game gets its own, so that ``Bench`` does not change.
    """


REGISTERED: dict[str, Registration] = {
    "xiangqi": Registration(
        ("ucci", "uci", "ucicyclone", "xboard", "qianhong"), ("xiangqi",), is_ranked=True, has_own_signature=False
    ),
    "othello": Registration(("gtp", "nboard"), has_own_signature=False),
    "chess": Registration(("uci", "xboard"), ("normal", "fischerandom")),
}
"""The games, by name, which is also the name of the game's folder."""

GAMES: tuple[str, ...] = tuple(REGISTERED)
DEFAULT_GAME = GAMES[0]
"""Name of the game that is used if none is given."""


@functools.cache
def game_named(name: str) -> Game:
    """Look up a game by name; raises ``UserError``, with the most similar name, for an unknown one."""
    if name not in REGISTERED:
        raise UserError(f"unknown game {name!r}, expected one of {', '.join(GAMES)}{nearest(name, GAMES)}")
    # Imported when asked for: it compiles or loads machine code.
    game: Game = importlib.import_module(f"{__name__}.{name}").GAME
    return game


def games_over(protocol: str) -> tuple[str, ...]:
    """Names of the games that programs can play over a protocol."""
    return tuple(name for name, entry in REGISTERED.items() if protocol in entry.protocols)
