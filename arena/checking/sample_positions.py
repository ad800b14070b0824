"""Test positions from games of random moves; the same in every run.

No position is from a game that a move limit or repetition rule has ended. Most positions come with all moves since the
start, because some programs cannot set up a position in any other way.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Callable
from dataclasses import dataclass, replace

from elolab.engine.games import game_named
from elolab.engine.games.contract import Game, Position

GAMES = 20
"""Number of random games from which the positions are taken."""
LONG_PLIES = 300
ENDGAME_PLIES = 6
"""Number of plies before the end of a random game at which the endgame position is taken."""
SPACING = 4
"""The ordinary position of random game ``i`` is taken after ``i`` times this number of plies."""
QUIET_PLIES = (99, 100, 119, 120)
"""Lengths in plies of games without a capture, chosen around the move limits that some engines apply themselves."""
MOVES_TRIED = 100
"""Maximum number of random moves tried at a position to find one without a capture."""


@dataclass(frozen=True)
class SamplePositions:
    """Test positions of one game, such as chess; a field is ``None`` if the random games had no such position."""

    ordinary: tuple[Position, ...]
    """One position of each random game: from game ``i`` the position after ``SPACING * i`` plies.

    The first is therefore the start position. A game that is too short gives its penultimate position.
    """
    long: Position
    """Position after ``LONG_PLIES`` plies of the longest random game.

    If that game is too short, the position ``ENDGAME_PLIES`` plies before its end.
    """
    in_check: Position | None
    only_move: Position | None
    """A position with exactly one legal move, which is not a pass."""
    must_pass: Position | None
    endgame: Position | None
    quiet: tuple[Position, ...]
    """Positions after each of ``QUIET_PLIES`` plies without a capture; empty in games such as Othello."""
    repeated: Position | None
    """The start position, reached again after each side has moved a piece out and back."""
    over: Position | None
    """A finished position: a checkmate in Xiangqi, no legal moves for either side in Othello."""
    stalemate: Position | None
    """A stalemate, given without the moves that lead to it; ``None`` in games without stalemate."""


@functools.cache
def positions_of(name: str) -> SamplePositions:
    """The test positions of a game; do not modify them."""
    game = game_named(name)
    games = [_random_game(game, seed) for seed in range(GAMES)]
    ended = [positions for positions in games if not positions[-1].legal_moves()]
    long = max(games, key=len)

    def first(is_wanted: Callable[[Position], bool]) -> Position | None:
        return next((position for positions in games for position in positions if is_wanted(position)), None)

    in_check = first(lambda position: position.in_check and len(position.legal_moves()) > 1)
    last = [positions[-1] for positions in ended]
    return SamplePositions(
        ordinary=tuple(positions[min(SPACING * number, len(positions) - 2)] for number, positions in enumerate(games)),
        long=long[LONG_PLIES if len(long) > LONG_PLIES else -ENDGAME_PLIES],
        in_check=in_check,
        only_move=first(lambda position: len(position.legal_moves()) == 1 and not must_pass(position)),
        must_pass=first(must_pass),
        endgame=ended[0][-ENDGAME_PLIES] if ended else None,
        quiet=_quiet(game.position()),
        repeated=_repeated(game.position()),
        over=next((position for position in last if position.in_check or in_check is None), None),
        stalemate=game.position(game.stalemate) if game.stalemate else None,
    )


def must_pass(position: Position) -> bool:
    """Whether the only legal move is a pass."""
    codes = position.move_codes()
    return len(codes) == 1 and bool(position.game.kernels.is_pass(position.state, codes[0]))


def _random_game(game: Game, seed: int) -> list[Position]:
    """Play random moves until the game ends or exceeds ``LONG_PLIES`` plies by one.

    Returns all positions from the start on. If a move limit or repetition rule ended the game, the final position is
    left out.
    """
    chance = random.Random(seed)
    position = game.position()
    positions = [position.copy()]
    while position.ply < LONG_PLIES + 1:
        moves = position.legal_moves()
        if not moves:
            break
        position.push(chance.choice(moves))
        if position.legal_moves() and position.judge(position.game.standard_rules) is not None:
            break
        positions.append(position.copy())
    return positions


def _quiet(start: Position) -> tuple[Position, ...]:
    """Positions of a random game without captures, one after each of ``QUIET_PLIES`` plies.

    Repetition does not end this game. Empty if the game cannot last so many plies without a capture.
    """
    chance, position, found = random.Random(0), start.copy(), []
    unlimited = replace(start.game.standard_rules, move_limit=0)
    while position.ply < QUIET_PLIES[-1]:
        for _ in range(MOVES_TRIED):
            after = position.copy()
            after.push(chance.choice(position.legal_moves()))
            if _pieces(after) == _pieces(position) and after.judge(unlimited) is None:
                break
        else:
            return ()
        position = after
        if position.ply in QUIET_PLIES:
            found.append(position)
    return tuple(found)


def _pieces(position: Position) -> list[str]:
    """The letters of the pieces on the board, sorted."""
    return sorted(letter for letter in position.text.split()[0] if letter.isalpha())


def _repeated(start: Position) -> Position | None:
    """The position in which the board of ``start`` is reached again after two moves of each side.

    ``None`` if the first moves of the game cannot be taken back.
    """
    position = start.copy()
    moves: list[str] = []
    for _ in range(2):
        there = next((move for move in position.legal_moves() if _returns(position, move)), None)
        if there is None:
            return None
        position.push(there)
        moves.append(there)
    for move in moves:
        position.push(_back(move))
    return position


def _returns(position: Position, move: str) -> bool:
    """Whether the move can be undone: after it and some reply, both sides can move back to the original board."""
    after = position.copy()
    board = position.text.split()[0]
    after.push(move)
    for reply in after.legal_moves():
        later = after.copy()
        later.push(reply)
        if _back(move) in later.legal_moves():
            later.push(_back(move))
            if _back(reply) in later.legal_moves():
                later.push(_back(reply))
                return later.text.split()[0] == board
    return False


def _back(move: str) -> str:
    """The move from the target square back to the origin."""
    return move[len(move) // 2 :] + move[: len(move) // 2]
