"""Positions of games with their results: what evaluations are fitted to.

Of every two moves of a game one position is taken, by chance. Its result is the game's, with perfect play from the
first position on that is solved exactly; positions near the end are solved themselves.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from arena.records import GameRecord

if TYPE_CHECKING:
    from engine.engine import StopFlag
    from engine.games.contract import EvaluationFitting, Game
    from engine.solving import Solver

PLIES_A_POSITION = 2
GAMES_A_TASK = 64
SOLVING = {"endgame_presearch": 1, "hash_mb": 1}
"""Settings for many short solutions."""


@dataclass(frozen=True)
class Positions:
    """Positions in the order of their games."""

    rows: np.ndarray
    """uint64, shape (n, words): see ``EvaluationFitting``."""
    results: np.ndarray
    """float64, shape (n,): points of the game's own score, the view of the side to move."""
    games: np.ndarray
    """int64, shape (n,): the number of each position's game in the run's schedule, ascending."""

    def __len__(self) -> int:
        return len(self.rows)

    def part(self, chosen: np.ndarray) -> Positions:
        """Some of the positions: an index array or a mask."""
        return Positions(self.rows[chosen], self.results[chosen], self.games[chosen])


def joined(parts: Sequence[Positions]) -> Positions:
    """Positions of several iterations."""
    return Positions(
        np.concatenate([part.rows for part in parts]),
        np.concatenate([part.results for part in parts]),
        np.concatenate([part.games for part in parts]),
    )


def positions_of(
    records: Iterable[GameRecord], game: Game, seed: int, concurrency: int, stop: StopFlag,
    finished: Callable[[], None] = lambda: None,
) -> Positions | None:  # fmt: skip
    """The positions chosen from finished games; ``None`` if the stop flag was set.

    Nothing but time depends on ``concurrency``. ``finished`` is called after each game.
    """
    fitting = game.fitting
    assert fitting is not None
    local = threading.local()

    def work(chunk: Sequence[GameRecord]) -> list[Positions]:
        from engine.solving import Solver

        if not hasattr(local, "solver"):
            local.solver = Solver(game.name, SOLVING, stop)
        return [_positions_of_game(record, game, fitting, local.solver, seed, stop) for record in chunk]

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
    while chunk := list(islice(source, GAMES_A_TASK)):
        yield chunk


def _positions_of_game(
    record: GameRecord, game: Game, fitting: EvaluationFitting, solver: Solver, seed: int, stop: StopFlag
) -> Positions:
    before = len(record.opening.moves)
    rows = fitting.rows_of_game(record.opening.position, [*record.opening.moves, *(move.move for move in record.moves)])
    steps, can_move, _ = fitting.survey(rows)
    chance = random.Random(f"positions {seed} {record.pairing.number}")
    pairs = range(before, len(rows), PLIES_A_POSITION)
    chosen = [ply for ply in (start + chance.randrange(PLIES_A_POSITION) for start in pairs) if ply < len(rows)]
    chosen = [ply for ply in chosen if can_move[ply]]
    solved = [ply for ply in range(before, len(rows)) if steps[ply] >= fitting.solved_steps]
    end = solved[0] if solved else len(rows) - 1
    results = {}
    for ply in {end, *(ply for ply in chosen if ply > end)}:
        if stop.is_set():
            return Positions(rows[:0], np.zeros(0), np.zeros(0, np.int64))
        results[ply] = solver.score(game.position(fitting.text_of(rows[ply])))
    for ply in chosen:
        if ply < end:
            # The side to move is another at every ply, passes included.
            results[ply] = results[end] if (end - ply) % 2 == 0 else -results[end]
    return Positions(
        rows[chosen],
        np.array([results[ply] for ply in chosen], np.float64),
        np.full(len(chosen), record.pairing.number, np.int64),
    )
