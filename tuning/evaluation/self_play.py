"""Self-play games from random openings, played into the run's store, as data for fitting evaluations.

Game ``k`` of an iteration depends only on the seed, the iteration and ``k``. So a run can stop
anywhere, resume and add games, and its result does not depend on the concurrency.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from elolab.arena.records import GameConditions, GameJob, GameRecord, Opening, Pairing, PlayerSpec
from elolab.engine.rules import Adjudication

if TYPE_CHECKING:
    from elolab.arena.play.store import Store
    from elolab.arena.run import Run
    from elolab.engine.games.contract import Game


GAMES_PER_ITERATION = 10**7
"""Upper bound on the number of games in an iteration, so that ``game_number`` is unique within a run."""


def game_number(record: GameRecord) -> int:
    """A number that identifies a game among the self-play games of all iterations of a run."""
    return record.pairing.round * GAMES_PER_ITERATION + record.pairing.number


def series_of_iteration(iteration: int) -> str:
    """Name of the series of games that holds an iteration's games in the store; iterations count from 0."""
    return f"games {iteration:03d}"


@dataclass(frozen=True)
class SelfPlay:
    """The plan of one iteration's self-play games."""

    game: str
    iteration: int
    """Number of the iteration, from 0."""
    player: PlayerSpec
    games: int
    seed: int
    opening_plies: tuple[int, int]
    """Minimum and maximum number of random plies before the player takes over."""
    adjudication: Adjudication

    @property
    def series(self) -> str:
        """Name of the series that holds the games in the store."""
        return series_of_iteration(self.iteration)

    def opening(self, game: Game, index: int) -> Opening:
        """The random opening of game ``index`` (from 0); the side to move at its end has a legal move."""
        chance = random.Random(f"opening {self.seed} {self.iteration} {index}")
        position = game.position()
        for _ in range(chance.randint(*self.opening_plies)):
            position.push(chance.choice(position.legal_moves()))
            if not position.legal_moves():  # the game ended early: start again with other moves
                position = game.position()
        return Opening(position.start, tuple(position.moves))

    def job(self, game: Game, index: int) -> GameJob:
        """The job that plays game ``index`` (from 0)."""
        pairing = Pairing(index, index, 0, 0, index, self.iteration, self.series)
        conditions = GameConditions(self.game, game.standard_rules, self.adjudication, self.seed)
        return conditions.job(pairing, self.player, self.player, self.opening(game, index))


def play_games(plan: SelfPlay, game: Game, run: Run) -> bool:
    """Play the iteration's missing games; return ``False`` if the run stopped before the end."""
    stored = stored_games(plan, run.store)
    return run.play(plan.job(game, index) for index in range(plan.games) if index not in stored)


def stored_games(plan: SelfPlay, store: Store) -> set[int]:
    """Indices (from 0) of the iteration's games in the store, without games that other weights played.

    The store has games of other weights if an earlier iteration was later extended by more games: the fit of that
    iteration then gave other weights.
    """
    return store.numbers_of(plan.series, plan.player.name) & set(range(plan.games))


def games_of(plan: SelfPlay, store: Store) -> Iterator[GameRecord]:
    """The iteration's stored games in schedule order."""
    stored = stored_games(plan, store)
    return (
        record
        for record in store.iterate()
        if record.pairing.series == plan.series and record.pairing.number in stored and record.first == plan.player.name
    )
