"""Adjudication alone, by scores and without moves: the compiled function over a record of its own."""

from __future__ import annotations

from elolab.engine.compiled.kernel import new_record
from elolab.engine.games.contract import decode_verdict
from elolab.engine.play import NO_SCORE, TRACKER_DTYPE, adjudicate
from elolab.engine.rules import Adjudication, Ending


class Adjudicator:
    """Of one game."""

    def __init__(self, adjudication: Adjudication) -> None:
        self._adjudication = adjudication.to_record()
        self._tracker = new_record(TRACKER_DTYPE)

    def after_move(self, mover: int, score: int | None, ply: int, restarts: bool = False) -> Ending | None:
        """The ending after a move of side ``mover`` (0 or 1) with its own score; ``ply`` counts it in."""
        said = NO_SCORE if score is None else score
        verdict = adjudicate(self._adjudication, self._tracker, mover, said, ply, restarts)
        ending = decode_verdict(int(verdict))
        return None if ending.result == "*" else ending
