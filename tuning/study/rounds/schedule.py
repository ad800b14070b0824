"""The division of a study's budget into rounds, also after a change of the budget."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from elolab.tuning.study.playoff import SHARE
from elolab.tuning.study.rounds.pairs_of_settings import game_pairs_per_settings_pair
from elolab.tuning.study.spec import DEFAULT_ROUND_PAIRS, MIN_ROUNDS, TuningSpec

PLAYOFF_SERIES = "playoff"
"""The series of the playoff's games."""


@dataclass(frozen=True)
class Round:
    """A part of the schedule: one Optuna trial."""

    number: int
    first_settings_pair: int
    """Number of its first settings pair."""
    settings_pairs: int
    """Number of settings pairs."""
    game_pairs: int
    """Pairs of games per settings pair."""
    first_pair: int
    """Place of its first pair of games in the schedule."""

    @property
    def pairs(self) -> int:
        """Pairs of games of the round."""
        return self.settings_pairs * self.game_pairs


@dataclass(frozen=True)
class Leg:
    """A stretch of a study under one budget, or one estimate for a budget in time; earlier rounds stay."""

    games: int
    """The budget in games, or its estimate."""
    budget: Mapping[str, Any]
    """The budget as given: ``Budget.content``."""
    rounds: int = 0
    """Rounds begun earlier."""
    last_settings_pairs: int | None = None
    """Settings pairs of the last earlier round, if it was cut short."""
    playoffs: int = 0
    """Earlier playoffs under smaller budgets, which no longer decide."""

    @property
    def playoff_series(self) -> str:
        """The series of its playoff's games."""
        return f"{PLAYOFF_SERIES} {self.playoffs + 1}" if self.playoffs else PLAYOFF_SERIES


def pairs_before_playoff(games: int, share: float = SHARE) -> int:
    """Pairs of a budget that remain after the playoff's share."""
    return games // 2 - int(games // 2 * share)


def rounds_of_legs(spec: TuningSpec, legs: Iterable[Leg]) -> tuple[Round, ...]:
    """The rounds of a study whose budget changed."""
    rounds: tuple[Round, ...] = ()
    for leg in legs:
        before = rounds[: leg.rounds]
        if leg.last_settings_pairs is not None:
            before = (*before[:-1], replace(before[-1], settings_pairs=leg.last_settings_pairs))
        rounds = rounds_of(spec, leg.games, before)
    return rounds


def rounds_of(spec: TuningSpec, games: int, before: Sequence[Round] = ()) -> tuple[Round, ...]:
    """The rounds of a budget in games; those in ``before`` were begun under another budget and stay.

    For samplers other than ``duel``, trials keep the length of the first ones; only their number changes.
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
    """Pairs per trial for samplers other than ``duel``."""
    if spec.budget.games is None:
        return spec.round_pairs or max(1, DEFAULT_ROUND_PAIRS // 4)
    return max(1, pairs // spec.trials)


def estimated_games(seconds: float, seconds_per_game: float, concurrency: int) -> int:
    """Number of games that fit in a time."""
    return max(2, math.floor(seconds * concurrency / max(seconds_per_game, 1e-6)))
