"""Positions of games with their results, as data for fitting evaluations.

One of every two consecutive positions of a game is selected at random. The results depend on the game. In a game with a
score of its own, such as Othello, positions near the end are solved. Earlier positions get the score of perfect play
from the first solved position, or optionally the score of a search. In other games, such as Xiangqi, the result is the
points won: 1, 1/2 or 0. The score of the search that chose the move is also kept.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from elolab.arena.records import GameRecord
from elolab.engine.engine import Engine
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.parameters import Value
from elolab.engine.values import BAN_BOUND
from elolab.tuning.evaluation.held_out import Columns
from elolab.tuning.evaluation.self_play import game_number

if TYPE_CHECKING:
    from elolab.engine.engine import StopFlag
    from elolab.engine.games.contract import EvaluationFitting, Game
    from elolab.engine.solving import Solver

PLIES_PER_POSITION = 2
GAMES_PER_TASK = 64
SOLVING = {"endgame_presearch": 1, "hash_mb": 1}
"""Engine settings that save time when many positions are solved."""
SEARCHING = {"hash_mb": 1}
"""Engine settings that save time when many positions are searched."""


@dataclass(frozen=True)
class Scoring:
    """Limits and settings of the searches that give a result to positions too early to solve."""

    limits: Limits
    settings: Mapping[str, Value]
    """Engine parameters that differ from ``SEARCHING``, by name."""


@dataclass(frozen=True)
class ScoredPositions(Columns):
    """Positions with results; ``games`` holds the ``game_number`` of each position's game."""

    rows: np.ndarray
    """uint64, shape (n, words): the positions, in the encoding of ``EvaluationFitting``."""
    results: np.ndarray
    """float64, shape (n,): the result from the point of view of the side to move.

    The unit is the point of the game's own score; in games without such a score, points won: 1, 1/2 or 0.
    """
    scores: np.ndarray
    """float64, shape (n,): score of the search that chose the move, in evaluation points, for the side to move.

    The value is 0 if the game has no record of the score, and in games with a score of their own, such as Othello.
    """


def joined(parts: Sequence[ScoredPositions]) -> ScoredPositions:
    """Concatenate several sets of positions into one."""
    names = [field.name for field in fields(ScoredPositions)]
    return ScoredPositions(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in names})


def positions_of(
    records: Iterable[GameRecord], game: Game, seed: int, concurrency: int, stop: StopFlag,
    finished: Callable[[], None] = lambda: None, scoring: Scoring | None = None,
) -> ScoredPositions | None:  # fmt: skip
    """Select positions from finished games, at random by ``seed``; ``None`` if the stop flag was set.

    ``concurrency`` is the number of threads; it does not affect the result. ``finished`` is called after each game.

    ``scoring`` applies only to games with a score of their own, such as Othello. It sets the limits of the searches
    that score positions too early to solve. Without ``scoring`` these positions get the score of the first solved
    position.
    """
    fitting = game.fitting
    assert fitting is not None
    local = threading.local()

    def work(chunk: Sequence[GameRecord]) -> list[ScoredPositions]:
        from elolab.engine.solving import Solver

        if fitting.regression == "logistic":
            return [_won_positions(record, game, fitting, seed) for record in chunk]
        if not hasattr(local, "solver"):
            local.solver = Solver(game.name, SOLVING, stop)
            local.score = None if scoring is None else _scorer(game, fitting, scoring, stop)
        return [_solved_positions(record, game, fitting, local.solver, local.score, seed, stop) for record in chunk]

    found: list[ScoredPositions] = []
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
    """Make a function that searches an encoded position and returns its score.

    The score is in points of the game's own score, from the point of view of the side to move.
    """
    engine = Engine(game.name, {**SEARCHING, **scoring.settings})

    def score(row: np.ndarray) -> float:
        engine.new_game()
        return engine.search(game.position(fitting.text_of(row)), scoring.limits, stop=stop).score / fitting.unit

    return score


def _rows_and_choice(record: GameRecord, fitting: EvaluationFitting, seed: int) -> tuple[np.ndarray, list[int]]:
    """All encoded positions of a game, one row per ply, and the plies of the selected positions."""
    before = len(record.opening.moves)
    rows = fitting.rows_of_game(record.opening.position, [*record.opening.moves, *(move.move for move in record.moves)])
    usable = fitting.usable(rows)
    chance = random.Random(f"positions {seed} {game_number(record)}")
    pairs = range(before, len(rows), PLIES_PER_POSITION)
    chosen = [start + chance.randrange(PLIES_PER_POSITION) for start in pairs]
    return rows, [ply for ply in chosen if ply < len(rows) and usable[ply]]


def _won_positions(record: GameRecord, game: Game, fitting: EvaluationFitting, seed: int) -> ScoredPositions:
    """Selected positions of a game, with the points won (1, 1/2 or 0) as results.

    Positions are left out if their search found a forced end of the game, or if the record has no score of the move.
    """
    before = len(record.opening.moves)
    rows, chosen = _rows_and_choice(record, fitting, seed)
    scores = {before + index: move.score for index, move in enumerate(record.moves)}
    first = record.score
    if first is None:
        return _positions(record, rows[:0], ())
    known = ((ply, scores.get(ply, 0)) for ply in chosen)
    kept = [(ply, score) for ply, score in known if score is not None and abs(score) < BAN_BOUND]
    side = game.position(record.opening.position).side_to_move
    won = [first if (ply + side) % 2 == 0 else 1 - first for ply, _ in kept]
    return _positions(record, rows[[ply for ply, _ in kept]], won, [score for _, score in kept])


def _positions(
    record: GameRecord, rows: np.ndarray, results: Sequence[float], scores: Sequence[float] = ()
) -> ScoredPositions:
    games = np.full(len(rows), game_number(record), np.int64)
    found = np.array(scores, np.float64) if scores else np.zeros(len(rows))
    return ScoredPositions(games, rows, np.array(results, np.float64), found)


def _solved_positions(
    record: GameRecord, game: Game, fitting: EvaluationFitting, solver: Solver,
    score: Callable[[np.ndarray], float] | None, seed: int, stop: StopFlag,
) -> ScoredPositions:  # fmt: skip
    """Selected positions of a game, with the game's own score as results.

    Positions near the end are solved; ``score`` evaluates earlier positions. Without ``score`` these get the score of
    the first solved position.
    """
    before = len(record.opening.moves)
    rows, chosen = _rows_and_choice(record, fitting, seed)
    steps, _ = fitting.survey(rows)
    solved = [ply for ply in range(before, len(rows)) if steps[ply] >= fitting.solved_steps]
    end = solved[0] if solved else len(rows) - 1
    results: dict[int, float] = {}
    for ply in {end, *chosen}:
        if stop.is_set():
            return _positions(record, rows[:0], ())
        if ply >= end:
            results[ply] = solver.score(game.position(fitting.text_of(rows[ply])))
        elif score is not None:
            results[ply] = score(rows[ply])
    for ply in chosen:
        if ply not in results:
            # The side to move alternates at every ply, including passes.
            results[ply] = results[end] if (end - ply) % 2 == 0 else -results[end]
    return _positions(record, rows[chosen], [results[ply] for ply in chosen])
