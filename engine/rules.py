"""Rules and adjudication of a game as frozen values, and how a game can end.

The compiled counterparts (``judge`` in each game, ``adjudicate`` in ``engine.play``) read the records made here.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

MAX_PLIES = 1_000
"""The most plies that a rule may speak of."""
RESULTS = ("1-0", "0-1", "1/2-1/2", "*")
"""Result strings; ``1-0`` means that the side that moved first won."""

# Codes of the reasons; the kernel returns the index. What they mean is in engine/messages.
REASONS = (
    "unfinished",
    "checkmate",
    "stalemate",
    "perpetual_check",
    "perpetual_chase",
    "repetition",
    "move_limit",
    "insufficient_material",
    "final_score",
    "resign_adjudication",
    "draw_adjudication",
    "maximum_length",
    "time_forfeit",
    "illegal_move",
    "crash",
    "no_answer",
    "startup_failure",
    "stopped",
    "resignation",
    "draw_agreement",
    "solved",
    "no_move",
)

REPETITION_RULES = ("draw", "check-only", "asian")

RULES_DTYPE = np.dtype(
    [("repetition", np.int64), ("fold", np.int64), ("move_limit", np.int64), ("insufficient", np.int64)]
)
ADJUDICATION_DTYPE = np.dtype(
    [
        ("resign_score", np.int64),
        ("resign_moves", np.int64),
        ("draw_score", np.int64),
        ("draw_moves", np.int64),
        ("draw_after_ply", np.int64),
        ("maximum_plies", np.int64),
        ("solved_empties", np.int64),
    ]
)


@dataclass(frozen=True)
class Rules:
    """The options of the rules that the arbiter and the engine share."""

    repetition: str = "asian"
    """``asian`` (check outranks chase outranks none), ``check-only``, or ``draw``."""
    fold: int = 3
    """Occurrences of a position, with the same side to move, at which a repetition is judged: 3 or 4."""
    move_limit: int = 120
    """Plies without a capture after which the game is drawn, each side's checks beyond 10 not counted; 0 is off."""
    insufficient: bool = True
    """Whether the game is drawn once no side has a rook, horse, cannon or pawn."""

    def to_record(self) -> Any:
        """The rules as a numpy record of ``RULES_DTYPE``."""
        record = np.zeros(1, RULES_DTYPE).view(np.recarray)[0]
        record.repetition = REPETITION_RULES.index(self.repetition)
        record.fold = self.fold
        record.move_limit = self.move_limit
        record.insufficient = self.insufficient
        return record


@dataclass(frozen=True)
class Adjudication:
    """When a tournament ends a game early; a value of 0 moves switches a rule off."""

    resign_score: int = 1000
    """Centipawns (or disc-hundredths): the loser's own score at or below minus this, the winner's at or above it."""
    resign_moves: int = 4
    """Consecutive moves of each side for which the scores must agree; 0 is off."""
    draw_score: int = 10
    """Centipawns: both sides' scores within this of zero."""
    draw_moves: int = 0
    """Consecutive moves of each side for which that must hold; 0 is off."""
    draw_after_ply: int = 80
    """Plies (the opening not counted) from which on the moves that agree on a draw are counted."""
    maximum_plies: int = 400
    """Plies (the opening not counted) after which the game is drawn; 0 is off (the store's limit still holds)."""
    solved_empties: int = 0
    """Empty squares from which on a position is solved, which ends the game with the exact result; 0 is off."""

    def to_record(self) -> Any:
        """The settings as a numpy record of ``ADJUDICATION_DTYPE``."""
        record = np.zeros(1, ADJUDICATION_DTYPE).view(np.recarray)[0]
        for field in fields(self):
            record[field.name] = getattr(self, field.name)
        return record

    def content(self) -> dict[str, int]:
        """The settings as plain data for digests; newer ones are included only if they are used."""
        content = asdict(self)
        if not self.solved_empties:
            del content["solved_empties"]
        return content


@dataclass(frozen=True)
class Ending:
    """How a game ended: a result string of ``RESULTS`` and a reason of ``REASONS``."""

    result: str
    reason: str
    exact_score: int | None = None
    """Final score of a solved game in the game's own units (discs), in the view of the side that moved first."""
