"""How the budget of a study is cut into rounds, and how the rounds go on when it is changed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from elolab.tuning.study.playoff import SHARE
from elolab.tuning.study.rounds.pairs_of_settings import game_pairs_per_settings_pair
from elolab.tuning.study.spec import DEFAULT_ROUND_PAIRS, MIN_ROUNDS, TuningSpec

PLAYOFF_SERIES = "playoff"
"""Where the playoff's games are counted."""


@dataclass(frozen=True)
class Round:
    """A piece of the schedule: one trial of Optuna's."""

    number: int
    first_settings_pair: int
    """Number of its first pair of settings."""
    settings_pairs: int
    """How many there are."""
    game_pairs: int
    """Pairs of games of each of them."""
    first_pair: int
    """Place of its first pair in the schedule."""

    @property
    def pairs(self) -> int:
        """Pairs of games of the round."""
        return self.settings_pairs * self.game_pairs


@dataclass(frozen=True)
class Leg:
    """A stretch of a study under one budget, or one estimate of what a time allows; the rounds before it stay."""

    games: int
    """The budget, or what it is taken to allow."""
    budget: Mapping[str, Any]
    """As it was asked for: ``Budget.content``."""
    rounds: int = 0
    """Rounds that were begun before."""
    last_settings_pairs: int | None = None
    """Pairs of settings of the last of them, if it was cut short."""
    playoffs: int = 0
    """Playoffs of shorter budgets before, which decide nothing any more."""

    @property
    def playoff_series(self) -> str:
        """Where the games of its playoff are counted."""
        return f"{PLAYOFF_SERIES} {self.playoffs + 1}" if self.playoffs else PLAYOFF_SERIES


def pairs_before_playoff(games: int, share: float = SHARE) -> int:
    """Pairs of a budget that are left when the playoff has its share of the games."""
    return games // 2 - int(games // 2 * share)


def rounds_of_legs(spec: TuningSpec, legs: Iterable[Leg]) -> tuple[Round, ...]:
    """The rounds of a study whose budget was changed on the way."""
    rounds: tuple[Round, ...] = ()
    for leg in legs:
        before = rounds[: leg.rounds]
        if leg.last_settings_pairs is not None:
            before = (*before[:-1], replace(before[-1], settings_pairs=leg.last_settings_pairs))
        rounds = rounds_of(spec, leg.games, before)
    return rounds


def rounds_of(spec: TuningSpec, games: int, before: Sequence[Round] = ()) -> tuple[Round, ...]:
    """The rounds of a budget in games; those in ``before`` were begun under another one and stay.

    Trials of other samplers than ``duel`` stay as long as the first ones; another budget has more or fewer of them.
    """
    pairs = pairs_before_playoff(games, spec.limit_shares.playoff_share(SHARE))
    if spec.sampler != "duel":
        each = before[0].pairs if before else trial_pairs(spec, pairs)
        trials = max(len(before), pairs // each) if before else spec.trials
        return tuple(Round(number, number, 1, each, number * each) for number in range(trials))
    spent_settings_pairs = sum(one.settings_pairs for one in before)
    spent_pairs = sum(one.pairs for one in before)
    game_pairs = game_pairs_per_settings_pair(games)
    left = max(0, pairs - spent_pairs) // game_pairs
    wanted = spec.round_pairs or min(DEFAULT_ROUND_PAIRS, max(1, pairs // MIN_ROUNDS))
    each = max(1, round(wanted / game_pairs))
    found = list(before)
    for start in range(0, left, each):
        settings_pairs = min(each, left - start)
        first_settings_pair, first_pair = spent_settings_pairs + start, spent_pairs + start * game_pairs
        found.append(Round(len(found), first_settings_pair, settings_pairs, game_pairs, first_pair))
    return tuple(found)


def trial_pairs(spec: TuningSpec, pairs: int) -> int:
    """Pairs of each trial of a sampler other than ``duel``."""
    if spec.budget.games is None:
        return spec.round_pairs or max(1, DEFAULT_ROUND_PAIRS // 4)
    return max(1, pairs // spec.trials)


def estimated_games(seconds: float, seconds_per_game: float, concurrency: int) -> int:
    """Games that a time allows."""
    return max(2, math.floor(seconds * concurrency / max(seconds_per_game, 1e-6)))
