"""The compiled game loop's arbiter and adjudication, a move at a time, for game loops in Python.

A move takes one call into compiled code: whether it is legal, making it, the rules, adjudication. Records are handed
over as arrays of one element, which numba takes apart many times faster than a single record with many fields.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from engine.compiled.kernel import JIT_DISABLED, jit, new_record
from engine.games.contract import Position, decode_verdict, encode_verdict, generate, in_check, judge, make
from engine.play import NO_SCORE, TRACKER_DTYPE, adjudicate
from engine.rules import Adjudication, Ending, Rules

_OPEN = encode_verdict("*", "unfinished")
_ILLEGAL = -1
_NO_MOVE = -1


@jit
def _play_move(states, lists, adjudications, trackers, code, score, ply):
    """Make a move if it is legal; the verdict code after it, or ``_ILLEGAL``."""
    state = states[0]
    row = lists[0]
    count = generate(state, row, 0)
    place = 0
    while place < count and row.moves[0, place] != code:
        place += 1
    if place == count:
        return np.int64(_ILLEGAL)
    mover = np.int64(state.side)
    # The move limit needs to know of every check on the way.
    in_check(state)
    make(state, code)
    in_check(state)
    verdict = np.int64(judge(state, row))
    if verdict == _OPEN:
        verdict = np.int64(adjudicate(adjudications[0], trackers[0], mover, score, ply))
    return verdict


def _array_of(record: Any) -> Any:
    """The array of one element that shares a record's memory; valid as long as the record lives."""
    address = np.frombuffer(record, np.uint8).ctypes.data
    buffer = (ctypes.c_byte * record.dtype.itemsize).from_address(address)
    array = np.frombuffer(buffer, record.dtype)
    return array.view(np.recarray) if JIT_DISABLED else array


_CODES: dict[str, dict[str, int]] = {}
"""By game, the kernels' numbers of moves seen so far; one that is not legal is looked up again."""


class Arbiter:
    """Makes the moves of one game on a position and says when it has ended."""

    def __init__(self, position: Position, rules: Rules, adjudication: Adjudication) -> None:
        """``position`` is the game's; its rules are set to ``rules``, and only the arbiter moves on it from now on."""
        self._position = position
        self._rules = rules
        self._moves = 0
        self._records = (position.state, position.lists, adjudication.to_record(), new_record(TRACKER_DTYPE))
        """Kept alive for the arrays."""
        self._arrays = tuple(map(_array_of, self._records))
        self._codes = _CODES.setdefault(position.game.name, {})
        position.game.apply_rules(position.state, rules)

    def verdict(self) -> Ending | None:
        """Of the position as it is, without adjudication; ``None`` while the game goes on."""
        return self._position.judge(self._rules)

    def play(self, move: str, score: int | None) -> Ending | None:
        """Make a move and say how the game has ended by it; ``None`` while it goes on.

        ``move`` is in the game's protocol notation, ``score`` the mover's own in centipawns, ``None`` if it did not
        say one. Raises ``MoveError`` if the move is not legal or the game too long to remember; then nothing changes.
        """
        position = self._position
        position.check_room()
        said = NO_SCORE if score is None else score
        verdict = _play_move(*self._arrays, self._codes.get(move, _NO_MOVE), said, self._moves + 1)
        if verdict == _ILLEGAL:
            code = self._codes[move] = position.code_of(move)
            verdict = _play_move(*self._arrays, code, said, self._moves + 1)
        self._moves += 1
        position.moves.append(move)
        return None if verdict == _OPEN else decode_verdict(verdict)
