"""The games that elolab plays. A new game needs a folder here and a line in ``_MODULES``."""

from __future__ import annotations

import functools
import importlib
from typing import TYPE_CHECKING

from elolab.engine.errors import UserError
from elolab.engine.settings.configuration import nearest

if TYPE_CHECKING:
    from elolab.engine.games.contract import Game

_MODULES = {
    "xiangqi": "elolab.engine.games.xiangqi",
    "othello": "elolab.engine.games.othello",
    "chess": "elolab.engine.games.chess",
}

GAMES: tuple[str, ...] = tuple(_MODULES)
DEFAULT_GAME = GAMES[0]
"""The game to use if none is named."""


@functools.cache
def game_named(name: str) -> Game:
    """Look up a game by name; raises ``UserError``, with the most similar name, for an unknown one."""
    if name not in _MODULES:
        raise UserError(f"unknown game {name!r}, expected one of {', '.join(GAMES)}{nearest(name, GAMES)}")
    # Imported when asked for: it compiles or loads machine code.
    game: Game = importlib.import_module(_MODULES[name]).GAME
    return game
