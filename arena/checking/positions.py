"""Positions to ask for moves in, found in games of random moves, so that every game has them and every run the same.

The arbiter has ended none of them. Each has its moves with it, for programs that can be told nothing else.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Callable
from dataclasses import dataclass

from engine.games import game_named
from engine.games.contract import Game, Position
from engine.rules import Rules

GAMES = 20
"""Random games that are looked through."""
LONG_PLIES = 300
ENDGAME_PLIES = 6
"""How far from the end of a random game an endgame is."""


@dataclass(frozen=True)
class Positions:
    """Of one game; ``None`` where the random games had none of the kind."""

    ordinary: tuple[Position, ...]
    """After few moves, then more; the first is the start."""
    long: Position
    """After ``LONG_PLIES``, or near the end where games are shorter."""
    in_check: Position | None
    only_move: Position | None
    """One legal move, which is no pass."""
    must_pass: Position | None
    endgame: Position | None
    over: Position | None
    """No legal move is left."""


@functools.cache
def positions_of(name: str) -> Positions:
    """The positions of a game; they are not to be changed."""
    game = game_named(name)
    games = [_random_game(game, seed) for seed in range(GAMES)]
    over = [positions for positions in games if not positions[-1].legal_moves()]
    long = max(games, key=len)

    def first(is_wanted: Callable[[Position], bool]) -> Position | None:
        return next((position for positions in games for position in positions if is_wanted(position)), None)

    return Positions(
        ordinary=tuple(positions[min(4 * number, len(positions) - 2)] for number, positions in enumerate(games)),
        long=long[LONG_PLIES if len(long) > LONG_PLIES else -ENDGAME_PLIES],
        in_check=first(lambda position: position.in_check and len(position.legal_moves()) > 1),
        only_move=first(lambda position: len(position.legal_moves()) == 1 and not must_pass(position)),
        must_pass=first(must_pass),
        endgame=over[0][-ENDGAME_PLIES] if over else None,
        over=over[0][-1] if over else None,
    )


def must_pass(position: Position) -> bool:
    """Whether the only legal move gives the turn away."""
    codes = position.move_codes()
    return len(codes) == 1 and bool(position.game.kernels.is_pass(position.state, codes[0]))


def _random_game(game: Game, seed: int) -> list[Position]:
    """Every position up to the end, or to where the arbiter ends it."""
    chance = random.Random(seed)
    position = game.position()
    positions = [position.copy()]
    while position.ply < LONG_PLIES + 1:
        moves = position.legal_moves()
        if not moves:
            break
        position.push(chance.choice(moves))
        if position.legal_moves() and position.judge(Rules()) is not None:
            break
        positions.append(position.copy())
    return positions
