"""Rules and adjudication of a game as frozen dataclasses, and how a game can end.

Compiled code (``judge`` in each game, ``adjudicate`` in ``engine.play``) reads them as records, which ``to_record``
makes.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from elolab.engine.settings import schema

MAX_PLIES = 1_000
"""Upper limit of every setting that counts plies or moves."""
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
    "perpetual_attack",
    "tablebase",
)

REPETITION_RULES = ("draw", "check-only", "asian", "chinese")
FOLDS = (3, 4, 5)
MAX_SCORE = 30_000
MAX_TABLEBASE_PIECES = 7
"""Maximum number of pieces in Syzygy tables."""
TABLEBASE_RESULTS = ("both", "win_loss", "draw")
"""Values of ``Adjudication.tablebase_results``."""
MAX_SOLVED_EMPTIES = 24
"""Maximum of ``Adjudication.solved_empties``; with more empty squares, ``engine.play.SOLVING_NODES`` rarely suffice."""

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
        ("resign_twosided", np.int64),
        ("tablebase_pieces", np.int64),  # 0 without tablebases
    ]
)


@dataclass(frozen=True)
class Rules:
    """Options of a game's rules. The arbiter and the engine apply the same rules."""

    repetition: str = schema.choice(REPETITION_RULES, default=schema.COMPUTED, value="asian", example="draw")
    """Repetition rule: ``asian``, ``chinese``, ``check-only`` or ``draw``. In chess a repetition is always a draw.

    Under every rule but ``draw``, a side loses if it gave check on every move and the other side did not. Otherwise,
    under ``asian``, a side loses if only it chased one piece on every move. Under ``chinese``, a side loses if only it
    attacked on every move, by checks, threats of mate or chases.
    """
    fold: int = schema.choice(FOLDS, default=3, example=4)
    """Occurrence of a position, with the same side to move, at which the repetition rule applies: 3, 4 or 5."""
    move_limit: int = schema.whole(0, MAX_PLIES, default=schema.COMPUTED, value=120, example=100, unit="plies")
    """Number of plies without a capture after which the game is drawn; in chess, without a capture or pawn move.

    0 switches the rule off. In Xiangqi each side's checks beyond the tenth do not count. In chess the default is 100,
    the 50-move rule; 150 is the 75-move rule.
    """
    insufficient: bool = schema.switch(default=True)
    """Whether the game is drawn when the material is insufficient.

    In chess this means that no side can mate; in Xiangqi, that no side has a rook, horse, cannon or pawn.
    """

    def to_record(self) -> Any:
        """The rules as a numpy record of ``RULES_DTYPE``."""
        record = np.zeros(1, RULES_DTYPE).view(np.recarray)[0]
        record.repetition = REPETITION_RULES.index(self.repetition)
        record.fold = self.fold
        record.move_limit = self.move_limit
        record.insufficient = self.insufficient
        return record


def _by_game(low: int, high: int, value: int, *, example: int, unit: str) -> Any:
    """Declare a setting that is a whole number from ``low`` to ``high``. ``value`` is the default in games that have no
    default of their own.

    ``example`` is another value, for the reference; ``unit`` the number's unit.
    """
    return schema.whole(low, high, default=schema.COMPUTED, value=value, example=example, unit=unit)


@dataclass(frozen=True)
class Adjudication:
    """Rules by which a tournament ends a game early. If a rule's number of moves or plies is 0, it is off."""

    resign_score: int = _by_game(1, MAX_SCORE, 1000, example=800, unit="centipawns")
    """Score for resignation, in centipawns or hundredths of a disc.

    The loser's own score must be at or below minus this value. With ``resign_twosided`` the winner's own score must
    also be at or above the value itself.
    """
    resign_moves: int = _by_game(0, MAX_PLIES, 4, example=3, unit="moves")
    """Number of consecutive moves of each side for which ``resign_score`` must hold; 0 switches the rule off."""
    draw_score: int = _by_game(0, MAX_SCORE, 10, example=8, unit="centipawns")
    """Score for a draw, in centipawns or hundredths of a disc: both sides' scores must be this close to zero."""
    draw_moves: int = _by_game(0, MAX_PLIES, 0, example=6, unit="moves")
    """Number of consecutive moves of each side for which ``draw_score`` must hold; 0 switches the rule off."""
    draw_after_ply: int = _by_game(0, MAX_PLIES, 80, example=60, unit="plies")
    """Number of plies after the opening before moves count towards ``draw_moves``.

    In chess, plies are counted by the move number in the position's FEN, and a capture or pawn move restarts the count
    of ``draw_moves``.
    """
    maximum_plies: int = _by_game(0, MAX_PLIES, 400, example=300, unit="plies")
    """Number of plies after the opening at which the game is drawn; 0 switches the rule off.

    The maximum length of a stored game applies in any case.
    """
    solved_empties: int = _by_game(0, MAX_SOLVED_EMPTIES, 0, example=16, unit="squares")
    """Number of empty squares from which a position is solved and the game ends with the exact result; 0 for never."""
    resign_twosided: bool = schema.switch(default=True)
    """Whether resignation also requires the winner's scores to meet ``resign_score``; otherwise the loser's suffice."""
    tablebases: str = schema.text(default=schema.COMPUTED, value="", example="syzygy", expected="a folder of tables")
    """Folders with Syzygy tables, separated as in ``PATH``; empty for none. A game ends with the result in a table."""
    tablebase_pieces: int = _by_game(0, MAX_TABLEBASE_PIECES, 0, example=5, unit="pieces")
    """Maximum number of pieces, kings included, for which tables are probed; 0 for as many as the tables have."""
    tablebase_ignore_50: bool = schema.switch()
    """Whether a win that the 50-move rule prevents counts as a win instead of a draw."""
    tablebase_results: str = schema.choice(TABLEBASE_RESULTS, default=TABLEBASE_RESULTS[0], example="draw")
    """Results in a table that end a game: all (``both``), decisive ones (``win_loss``), or draws (``draw``)."""

    def to_record(self) -> Any:
        """The settings as a numpy record of ``ADJUDICATION_DTYPE``."""
        record = np.zeros(1, ADJUDICATION_DTYPE).view(np.recarray)[0]
        for name in ADJUDICATION_DTYPE.names or ():
            record[name] = getattr(self, name)
        record.tablebase_pieces = (self.tablebase_pieces or MAX_TABLEBASE_PIECES) if self.tablebases else 0
        return record

    def content(self) -> dict[str, int]:
        """The settings as plain data for digests.

        Settings that were added later are left out at the values that keep the earlier behaviour, so that old digests
        stay valid. The folders of tablebases are left out, because their paths differ between machines.
        """
        content = asdict(self)
        if not content.pop("tablebases"):
            del content["tablebase_pieces"], content["tablebase_ignore_50"], content["tablebase_results"]
        elif self.tablebase_results == TABLEBASE_RESULTS[0]:
            del content["tablebase_results"]
        if not self.solved_empties:
            del content["solved_empties"]
        if self.resign_twosided:
            del content["resign_twosided"]
        return content


@dataclass(frozen=True)
class Ending:
    """How a game ended: a result string of ``RESULTS`` and a reason of ``REASONS``."""

    result: str
    reason: str
    exact_score: int | None = None
    """Final score of a solved game in discs, for the side that moved first; otherwise ``None``."""
