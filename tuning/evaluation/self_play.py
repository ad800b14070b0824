"""Games of a setting against itself from random openings, played into the run's store: what evaluations are fitted to.

Game ``k`` of an iteration depends on the random seed, the iteration and ``k`` alone. So a run can be stopped anywhere
and go on, have more games added, and come out the same at any concurrency.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from elolab.arena.records import GameConditions, GameJob, GameRecord, Opening, Pairing, PlayerSpec
from elolab.engine.rules import Adjudication, Rules

if TYPE_CHECKING:
    from elolab.arena.play.store import Store
    from elolab.arena.run import Run
    from elolab.engine.games.contract import Game


GAMES_PER_ITERATION = 10**7
"""More than the games of one iteration, so that ``game_number`` tells the games of a run apart."""


def game_number(record: GameRecord) -> int:
    """The number of a game of self-play among those of all iterations of a run."""
    return record.pairing.round * GAMES_PER_ITERATION + record.pairing.number


def series_of_iteration(iteration: int) -> str:
    """Where the games of an iteration, from 0 on, are counted."""
    return f"games {iteration:03d}"


@dataclass(frozen=True)
class SelfPlay:
    """The games of one iteration."""

    game: str
    iteration: int
    """From 0 on."""
    player: PlayerSpec
    games: int
    seed: int
    opening_plies: tuple[int, int]
    """Fewest and most random plies before the player takes over, so that games are all different and not only even."""
    adjudication: Adjudication

    @property
    def series(self) -> str:
        """Where the run counts the games."""
        return series_of_iteration(self.iteration)

    def opening(self, game: Game, index: int) -> Opening:
        """The random opening of game ``index`` (from 0 on); the game is not over after it."""
        chance = random.Random(f"opening {self.seed} {self.iteration} {index}")
        position = game.position()
        for _ in range(chance.randint(*self.opening_plies)):
            position.push(chance.choice(position.legal_moves()))
            if not position.legal_moves():  # over before its time: from the start with other moves
                position = game.position()
        return Opening(position.start, tuple(position.moves))

    def job(self, game: Game, index: int) -> GameJob:
        """Game ``index``."""
        pairing = Pairing(index, index, 0, 0, index, self.iteration, self.series)
        conditions = GameConditions(self.game, Rules(), self.adjudication, self.seed)
        return conditions.job(pairing, self.player, self.player, self.opening(game, index))


def play_games(plan: SelfPlay, game: Game, run: Run) -> bool:
    """Play the games that the run lacks; False if some are left unplayed."""
    stored = stored_games(plan, run.store)
    return run.play(plan.job(game, index) for index in range(plan.games) if index not in stored)


def stored_games(plan: SelfPlay, store: Store) -> set[int]:
    """Which of the games (from 0 on) are in the store.

    Those of another player there are not: of weights that more games of an iteration before have changed since.
    """
    return store.numbers_of(plan.series, plan.player.name) & set(range(plan.games))


def games_of(plan: SelfPlay, store: Store) -> Iterator[GameRecord]:
    """The iteration's games in schedule order."""
    stored = stored_games(plan, store)
    return (
        record for record in store.iterate() if record.pairing.series == plan.series
        and record.pairing.number in stored and record.first == plan.player.name
    )  # fmt: skip
