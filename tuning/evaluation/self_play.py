"""Games of a setting against itself from random openings, played into the run's store: what evaluations are fitted to.

Game ``k`` of an iteration depends on the random seed, the iteration and ``k`` alone. So a run can be stopped anywhere
and go on, have more games added, and come out the same at any concurrency.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from arena.records import GameJob, GameRecord, Opening, Pairing, PlayerSpec
from engine.rules import Adjudication, Rules
from tuning.matches import Runner

if TYPE_CHECKING:
    from arena.play.store import Store
    from engine.games.contract import Game

GAMES_AN_ITERATION = 10**7
"""Places kept in the run's schedule for the games of one iteration."""


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
    def numbers(self) -> range:
        """Places of the games in the run's schedule."""
        first = self.iteration * GAMES_AN_ITERATION
        return range(first, first + self.games)

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
        return GameJob(
            game=self.game,
            rules=Rules(),
            adjudication=self.adjudication,
            pairing=Pairing(self.numbers[index], index, 0, 0, index, self.iteration),
            first=self.player,
            second=self.player,
            opening=self.opening(game, index),
            seed=self.seed,
        )


def play_games(plan: SelfPlay, game: Game, store: Store, runner: Runner, finished: Callable[[], None]) -> bool:
    """Play the games that the store lacks; False if some are left unplayed. ``finished`` is called after each."""
    stored = stored_numbers(plan, store)
    missing = [index for index, number in enumerate(plan.numbers) if number not in stored]
    done = 0
    for record in runner.run(plan.job(game, index) for index in missing):
        store.add(record)
        done += 1
        finished()
    return done == len(missing)


def stored_numbers(plan: SelfPlay, store: Store) -> set[int]:
    """Which of the games are in the store, by their places in the schedule.

    Those of another player there are not: of weights that more games of an iteration before have changed since.
    """
    return store.numbers_of(plan.player.name) & set(plan.numbers)


def games_of(plan: SelfPlay, store: Store) -> Iterator[GameRecord]:
    """The iteration's games in schedule order."""
    numbers = plan.numbers
    name = plan.player.name
    return (record for record in store.iterate() if record.pairing.number in numbers and record.first == name)
