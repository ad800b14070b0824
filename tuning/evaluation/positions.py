"""Positions of games with their results: what evaluations are fitted to.

Of every two moves of a game one position is taken, by chance. In games with a score of their own its result is the
game's, with perfect play from the first position on that is solved exactly, or on request the score of a search of the
position; positions near the end are solved themselves. In games that are won or lost it is the game's points, and the
score of the search is kept beside it.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from elolab.arena.records import GameRecord
from elolab.engine.engine import Engine
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.parameters import Value
from elolab.engine.values import BAN_BOUND
from elolab.tuning.evaluation.self_play import game_number

if TYPE_CHECKING:
    from elolab.engine.engine import StopFlag
    from elolab.engine.games.contract import EvaluationFitting, Game
    from elolab.engine.solving import Solver

PLIES_PER_POSITION = 2
GAMES_PER_TASK = 64
SOLVING = {"endgame_presearch": 1, "hash_mb": 1}
"""Settings for many short solutions."""
SEARCHING = {"hash_mb": 1}
"""Settings for many short searches."""


@dataclass(frozen=True)
class Scoring:
    """Searches that give positions their results."""

    limits: Limits
    settings: Mapping[str, Value]
    """Overrides of the engine's."""


@dataclass(frozen=True)
class Positions:
    """Positions in the order of their games."""

    rows: np.ndarray
    """uint64, shape (n, words): see ``EvaluationFitting``."""
    results: np.ndarray
    """float64, shape (n,): points of the game's own score, or points won (1, 1/2, 0): the view of the side to move."""
    scores: np.ndarray
    """float64, shape (n,): the score that the search gave in the game, the view of the side to move."""
    games: np.ndarray
    """int64, shape (n,): ``game_number`` of each position's game, ascending."""

    def __len__(self) -> int:
        return len(self.rows)

    def part(self, chosen: np.ndarray) -> Positions:
        """Some of the positions: an index array or a mask."""
        return Positions(self.rows[chosen], self.results[chosen], self.scores[chosen], self.games[chosen])


def joined(parts: Sequence[Positions]) -> Positions:
    """Positions of several iterations."""
    return Positions(
        np.concatenate([part.rows for part in parts]),
        np.concatenate([part.results for part in parts]),
        np.concatenate([part.scores for part in parts]),
        np.concatenate([part.games for part in parts]),
    )


def positions_of(
    records: Iterable[GameRecord], game: Game, seed: int, concurrency: int, stop: StopFlag,
    finished: Callable[[], None] = lambda: None, scoring: Scoring | None = None,
) -> Positions | None:  # fmt: skip
    """The positions chosen from finished games; ``None`` if the stop flag was set.

    Nothing but time depends on ``concurrency``. ``finished`` is called after each game. Where the game has a score of
    its own, ``scoring`` gives results to positions that are not solved; without it they have their game's.
    """
    fitting = game.fitting
    assert fitting is not None
    local = threading.local()

    def work(chunk: Sequence[GameRecord]) -> list[Positions]:
        from elolab.engine.solving import Solver

        if fitting.regression == "logistic":
            return [_won_positions(record, fitting, seed) for record in chunk]
        if not hasattr(local, "solver"):
            local.solver = Solver(game.name, SOLVING, stop)
            local.score = None if scoring is None else _scorer(game, fitting, scoring, stop)
        return [_solved_positions(record, game, fitting, local.solver, local.score, seed, stop) for record in chunk]

    found: list[Positions] = []
    with ThreadPoolExecutor(concurrency, "positions") as pool:
        for parts in pool.map(work, _chunks(records)):
            found += parts
            for _ in parts:
                finished()
            if stop.is_set():
                pool.shutdown(cancel_futures=True)
                return None
    return joined(found) if found else None


def _chunks(records: Iterable[GameRecord]) -> Iterator[list[GameRecord]]:
    source = iter(records)
    while chunk := list(islice(source, GAMES_PER_TASK)):
        yield chunk


def _scorer(game: Game, fitting: EvaluationFitting, scoring: Scoring, stop: StopFlag) -> Callable[[np.ndarray], float]:
    """What a search says of a row: points of the game's own score, the view of the side to move."""
    engine = Engine(game.name, {**SEARCHING, **scoring.settings})

    def score(row: np.ndarray) -> float:
        engine.new_game()
        return engine.search(game.position(fitting.text_of(row)), scoring.limits, stop=stop).score / fitting.unit

    return score


def _rows_and_choice(record: GameRecord, fitting: EvaluationFitting, seed: int) -> tuple[np.ndarray, list[int]]:
    """The rows of a game, and the plies of the positions chosen."""
    before = len(record.opening.moves)
    rows = fitting.rows_of_game(record.opening.position, [*record.opening.moves, *(move.move for move in record.moves)])
    usable = fitting.usable(rows)
    chance = random.Random(f"positions {seed} {game_number(record)}")
    pairs = range(before, len(rows), PLIES_PER_POSITION)
    chosen = [start + chance.randrange(PLIES_PER_POSITION) for start in pairs]
    return rows, [ply for ply in chosen if ply < len(rows) and usable[ply]]


def _won_positions(record: GameRecord, fitting: EvaluationFitting, seed: int) -> Positions:
    """Positions of a game that is won or lost, but those of which the search saw the end."""
    before = len(record.opening.moves)
    rows, chosen = _rows_and_choice(record, fitting, seed)
    scores = {before + index: move.score for index, move in enumerate(record.moves)}
    first = record.score
    kept = [ply for ply in chosen if abs(scores.get(ply) or 0) < BAN_BOUND] if first is not None else []
    return Positions(
        rows[kept],
        # The colour that moves first in the game moves at even plies, for the games are played from its start.
        np.array([first if ply % 2 == 0 else 1 - first for ply in kept if first is not None], np.float64),
        np.array([scores.get(ply) or 0 for ply in kept], np.float64),
        np.full(len(kept), game_number(record), np.int64),
    )


def _solved_positions(
    record: GameRecord, game: Game, fitting: EvaluationFitting, solver: Solver,
    score: Callable[[np.ndarray], float] | None, seed: int, stop: StopFlag,
) -> Positions:  # fmt: skip
    """Positions of a game with a score of its own, solved near the end; ``score`` says what others are worth."""
    before = len(record.opening.moves)
    rows, chosen = _rows_and_choice(record, fitting, seed)
    steps, _ = fitting.survey(rows)
    solved = [ply for ply in range(before, len(rows)) if steps[ply] >= fitting.solved_steps]
    end = solved[0] if solved else len(rows) - 1
    results: dict[int, float] = {}
    for ply in {end, *chosen}:
        if stop.is_set():
            return Positions(rows[:0], np.zeros(0), np.zeros(0), np.zeros(0, np.int64))
        if ply >= end:
            results[ply] = solver.score(game.position(fitting.text_of(rows[ply])))
        elif score is not None:
            results[ply] = score(rows[ply])
    for ply in chosen:
        if ply not in results:
            # The side to move is another at every ply, passes included.
            results[ply] = results[end] if (end - ply) % 2 == 0 else -results[end]
    return Positions(
        rows[chosen],
        np.array([results[ply] for ply in chosen], np.float64),
        np.zeros(len(chosen)),
        np.full(len(chosen), game_number(record), np.int64),
    )
