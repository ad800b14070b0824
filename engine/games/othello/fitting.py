"""Othello's interface to ``elolab fit-evaluation``: encodes positions as rows of integers, and counts their features.

A row is two uint64: the discs of the side to move, and the discs of the other side.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from elolab.engine.compiled.kernel import jit, new_record
from elolab.engine.games.contract import EvaluationFitting
from elolab.engine.games.othello import notation
from elolab.engine.games.othello.boards import NONE, legal_squares
from elolab.engine.games.othello.evaluation import count_features, read_patterns, step_of
from elolab.engine.games.othello.patterns import INSTANCE_STARTS, INSTANCES, LANES, weight_count, weight_numbers
from elolab.engine.games.othello.position import PASS_SQUARE, STATE_DTYPE, STOCK, make, other_discs, own_discs
from elolab.engine.games.othello.rules import A_DISC
from elolab.engine.rules import Adjudication
from elolab.engine.settings.features import OTHELLO
from elolab.engine.settings.weights import STEPS

_CODES = {notation.format_move(code): code for code in (STOCK + (square << 7) for square in range(PASS_SQUARE + 1))}
"""Integer code of every move, by its protocol notation."""


@jit
def _replay(state, codes, rows):
    """Play the legal moves ``codes``; write the start and each later position into ``rows``, uint64 (moves + 1, 2)."""
    for ply in range(rows.shape[0]):
        rows[ply, 0] = own_discs(state)
        rows[ply, 1] = other_discs(state)
        if ply < codes.shape[0]:
            make(state, np.int64(codes[ply]))


@jit
def _survey(rows, steps, can_move, counts):
    """Write the step and the features of n positions into ``steps``, shape (n,), and ``counts``, shape (n, features).

    Sets each position's element of ``can_move`` to 1 if the side to move can place a disc, otherwise to 0.
    """
    for index in range(rows.shape[0]):
        own = rows[index, 0]
        other = rows[index, 1]
        own_moves = legal_squares(own, other)
        found = count_features(own, other, own_moves, legal_squares(other, own))
        steps[index] = step_of(own, other)
        can_move[index] = 1 if own_moves != NONE else 0
        for feature in range(counts.shape[1]):
            counts[index, feature] = found[feature]


@jit
def _read_rows(rows, occupations):
    """Write the occupation indices of n positions into ``occupations``, of shape (n, LANES); see ``read_patterns``."""
    for index in range(rows.shape[0]):
        read_patterns(rows[index, 0], rows[index, 1], occupations[index])


class OthelloFitting(EvaluationFitting):
    """Othello as an ``EvaluationFitting``, for ``elolab fit-evaluation``."""

    parameter = "evaluation_weights"
    features = OTHELLO
    words = 2
    unit = A_DISC
    regression = "linear"
    phases = 6
    self_play_limit = "depth=3"
    # Long random openings reach positions that good moves avoid.
    opening_plies = (8, 28)
    adjudication = Adjudication(draw_moves=0, resign_moves=0, maximum_plies=0)
    # The fit solves the last positions of the games itself.
    self_play = MappingProxyType({"endgame_empties": 0})
    solved_steps = 48

    def rows_in_words(self, phases: int) -> str:
        """A sentence for the file of weights: the weights' unit, and the steps of the game that each row is for."""
        return f"Hundredths of a point; a row for each {STEPS // phases} of {STEPS} steps of a game."

    def rows_of_game(self, start: str, moves: Sequence[str]) -> np.ndarray:
        codes = np.array([_CODES[move] for move in moves], np.int64)
        rows = np.zeros((len(codes) + 1, self.words), np.uint64)
        _replay(notation.parse_position(start), codes, rows)
        return rows

    def usable(self, rows: np.ndarray) -> np.ndarray:
        """Boolean mask of the positions in which the side to move can place a disc; see ``EvaluationFitting``."""
        return self._survey(rows)[1] != 0

    def survey(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        steps, _, counts = self._survey(rows)
        return steps, counts

    def _survey(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        steps, can_move = np.zeros(len(rows), np.int64), np.zeros(len(rows), np.int64)
        counts = np.zeros((len(rows), len(self.features)), np.int64)
        _survey(np.ascontiguousarray(rows), steps, can_move, counts)
        return steps, can_move != 0, counts

    @property
    def pattern_weights(self) -> int:
        return weight_count()

    def patterns(self, rows: np.ndarray) -> np.ndarray:
        occupations = np.zeros((len(rows), LANES), np.uint16)
        _read_rows(np.ascontiguousarray(rows), occupations)
        places = occupations[:, : len(INSTANCES)] + INSTANCE_STARTS[: len(INSTANCES)].astype(np.int32)
        return weight_numbers()[places]

    def text_of(self, row: Any) -> str:
        """Text of the position that a row encodes, with the side to move as Black."""
        state = new_record(STATE_DTYPE)
        state.discs[0], state.discs[1] = row
        return notation.format_position(state)


FITTING = OthelloFitting()
