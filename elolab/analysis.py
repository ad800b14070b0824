"""Analyses positions with the built-in engine, from Python."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from elolab.arguments import path_text
from elolab.background import in_background
from elolab.documented import documented
from elolab.engine.engine import Engine as SearchingEngine
from elolab.engine.engine import Line, SearchResult, StopFlag
from elolab.engine.errors import UserError
from elolab.engine.games import DEFAULT_GAME
from elolab.engine.games.contract import Position
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.parameters import Value, by_canonical_name
from elolab.engine.settings.presets import load_preset

for kind in (Line, SearchResult):
    documented(kind)

Moves = str | Sequence[str]
"""Moves in the game's protocol notation: a list, or a text with spaces between them."""


class Engine:
    """The built-in engine for one game under one set of parameters.

    ``game`` is ``xiangqi``, ``othello`` or ``chess``. ``settings`` are parameters by name (``elolab parameters`` lists
    them and their defaults), the name of a preset such as ``"fenon"``, or the path of its file. The hash table keeps
    its contents for the next search with the same node limit, until ``new_game``. Raises ``UserError`` for an unknown
    game, preset, parameter or value.

    >>> engine = Engine("xiangqi", {"null_move": False})
    >>> found = engine.search(moves="h2e2 h9g7", limit="depth=3")
    >>> found.depth
    3
    >>> found.move in engine.legal_moves(moves="h2e2 h9g7")
    True

    Every method takes the text of a ``position`` and the ``moves`` played from there. The text is a FEN, or in Othello
    a board and the side to move; ``None`` is the start of the game.

    Threads may share an engine: it runs one search at a time. A copy of an engine, made by copying or pickling, has the
    same game and settings but an empty hash table.
    """

    def __init__(
        self, game: str = DEFAULT_GAME, settings: Mapping[str, Any] | str | os.PathLike[str] | None = None
    ) -> None:
        game = str(game)
        if settings is None or isinstance(settings, Mapping):
            overrides = by_canonical_name(settings or {})
        else:
            from elolab.engine.games import game_named

            expected = "parameters by name, or the name or file of a preset"
            overrides = load_preset(path_text(settings, "settings", expected), game_named(game).name)
        self._engine = SearchingEngine(game, overrides)
        self._one_at_a_time = threading.Lock()  # compiled code writes into the engine's memory without locks

    def __reduce__(self) -> tuple[type[Engine], tuple[str, dict[str, Value]]]:
        """Pickle only the game and the settings, because the search memory holds addresses of this process."""
        return type(self), (self.game, self.settings)

    @property
    def game(self) -> str:
        """Name of the game."""
        return self._engine.game.name

    @property
    def settings(self) -> dict[str, Value]:
        """Every parameter with its value, by name."""
        return dict(self._engine.parameters)

    def search(
        self,
        position: str | None = None,
        moves: Moves = (),
        *,
        limit: str = "nodes=100000",
        lines: int = 1,
        search_moves: Moves = (),
    ) -> SearchResult:
        """Search a position.

        ``limit`` is ``nodes=N``, ``depth=N``, ``move_time=SECONDS`` or several of them, separated by commas. ``lines``
        is the number of best moves to report; ``search_moves`` restricts the first move. Ctrl-C ends the search.

        The result's ``move`` is ``None`` if there is no legal move. ``score`` is for the side to move, in centipawns,
        in Othello in hundredths of a disc. A mate in N plies is 30 000 - N, at least 29 872; being mated in N plies is
        N - 30 000. ``depth`` is in plies, ``time_ms`` in milliseconds. Each of the ``lines`` has ``move``, ``score``,
        ``depth`` and ``principal_variation``. Raises ``UserError`` for an invalid position, move or limit.
        """
        place = self._position(position, moves)
        limits, stop = Limits.parse(limit), StopFlag()
        if not hasattr(lines, "__index__"):
            raise UserError(f"lines = {lines!r}, expected a whole number")
        wanted = place.game.read_moves(place, _split(search_moves, "search_moves"), "0")
        with self._one_at_a_time:
            future = in_background(
                partial(self._engine.search, place, limits, stop=stop, search_moves=wanted, lines=lines)
            )
            try:
                return future.result()
            except KeyboardInterrupt:
                stop.set()
                future.result()
                raise

    def static_score(self, position: str | None = None, moves: Moves = ()) -> int:
        """The static evaluation, without search, for the side to move, in the unit of the scores of ``search``."""
        return self._engine.static_score(self._position(position, moves))

    def legal_moves(self, position: str | None = None, moves: Moves = ()) -> list[str]:
        """The legal moves in the position, in protocol notation."""
        return self._position(position, moves).legal_moves()

    def diagram(self, position: str | None = None, moves: Moves = ()) -> str:
        """The position as several lines of text."""
        return self._engine.game.describe(self._position(position, moves))

    def new_game(self) -> None:
        """Clear everything that the engine remembers from earlier searches, including the hash table."""
        with self._one_at_a_time:
            self._engine.new_game()

    def _position(self, position: str | None, moves: Moves) -> Position:
        if not isinstance(position, str | None):
            raise UserError(f"position = {position!r}, expected a text, or None for the start of the game")
        return self._engine.game.position(position, _split(moves))


def _split(moves: Moves, name: str = "moves") -> list[str]:
    if isinstance(moves, str):
        return moves.split()
    found = list(moves) if isinstance(moves, Iterable) else [None]
    if not all(isinstance(move, str) for move in found):
        raise UserError(f"{name} = {moves!r}, expected a list of moves, or a text with spaces between them")
    return found
