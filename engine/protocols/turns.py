"""Plays moves that name their side, in games with forced passes. Some programs send a forced pass, others omit it."""

from __future__ import annotations

from elolab.engine.games.contract import MoveError, Position

PASS = "pass"


def must_pass(position: Position) -> bool:
    """Whether a pass is the only legal move in the position."""
    return position.legal_moves() == [PASS]


def play_in_turn(position: Position, side: int, move: str) -> None:
    """Play a move of a side (0 or 1). If it is the other side's turn and the other side must pass, the pass is added
    first.

    A pass in a finished game changes nothing. Raises ``MoveError`` without changing the position.
    """
    if move == PASS and not position.legal_moves():
        return
    if side == position.side_to_move:
        position.push(move)
        return
    if not must_pass(position):
        raise MoveError(f"it is not {position.game.side_names[side]}'s turn in position {position.text!r}")
    after_the_pass = position.copy()
    after_the_pass.push(PASS)
    after_the_pass.code_of(move)
    position.push(PASS)
    position.push(move)
