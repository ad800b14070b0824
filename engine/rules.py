"""Rules and adjudication of a game as frozen values, and how a game can end.

The compiled counterparts (``judge`` in each game, ``adjudicate`` in ``engine.play``) read the records made here.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from elolab.engine.settings import schema

MAX_PLIES = 1_000
"""Maximum value of a rule's number of plies."""
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
FOLDS = (3, 4)
MAX_SCORE = 30_000
MAX_SOLVED_EMPTIES = 24
"""Maximum of ``solved_empties``: with more empty squares, ``engine.play.SOLVING_NODES`` hardly ever suffice."""

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
    """Options of a game's rules, for the arbiter and the engine."""

    repetition: str = schema.choice(REPETITION_RULES, default="asian", example="draw")
    """``asian`` (check outranks chase outranks none), ``check-only``, or ``draw``."""
    fold: int = schema.choice(FOLDS, default=3, example=4)
    """Occurrences of a position, with the same side to move, at which a repetition is judged: 3 or 4."""
    move_limit: int = schema.whole(0, MAX_PLIES, default=120, example=100, unit="plies")
    """Plies without a capture after which the game is drawn, each side's checks beyond 10 not counted; 0 is off."""
    insufficient: bool = schema.switch(default=True)
    """Whether the game is drawn once no side has a rook, horse, cannon or pawn."""

    def to_record(self) -> Any:
        """The rules as a numpy record of ``RULES_DTYPE``."""
        record = np.zeros(1, RULES_DTYPE).view(np.recarray)[0]
        record.repetition = REPETITION_RULES.index(self.repetition)
        record.fold = self.fold
        record.move_limit = self.move_limit
        record.insufficient = self.insufficient
        return record


def _by_game(low: int, high: int, value: int, *, example: int, unit: str) -> Any:
    """A whole number whose default a game may change."""
    return schema.whole(low, high, default=schema.COMPUTED, value=value, example=example, unit=unit)


@dataclass(frozen=True)
class Adjudication:
    """When a tournament ends a game early; a value of 0 moves switches a rule off."""

    resign_score: int = _by_game(1, MAX_SCORE, 1000, example=800, unit="centipawns")
    """Centipawns (or disc-hundredths): the loser's own score at or below minus this, the winner's at or above it."""
    resign_moves: int = _by_game(0, MAX_PLIES, 4, example=3, unit="moves")
    """Consecutive moves of each side for which the scores must agree; 0 is off."""
    draw_score: int = _by_game(0, MAX_SCORE, 10, example=8, unit="centipawns")
    """Centipawns: both sides' scores within this of zero."""
    draw_moves: int = _by_game(0, MAX_PLIES, 0, example=6, unit="moves")
    """Consecutive moves of each side with such scores; 0 is off."""
    draw_after_ply: int = _by_game(0, MAX_PLIES, 80, example=60, unit="plies")
    """Plies after the opening from which moves count towards ``draw_moves``."""
    maximum_plies: int = _by_game(0, MAX_PLIES, 400, example=300, unit="plies")
    """Plies after the opening at which the game is drawn; 0 is off, but the store's limit still holds."""
    solved_empties: int = _by_game(0, MAX_SOLVED_EMPTIES, 0, example=16, unit="squares")
    """Number of empty squares at or below which the position is solved, ending the game with the exact result; 0 is
    off."""

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
