"""The rounds of a study: how a budget is cut into them, and how their pairs of settings become games of the run.

Everything is counted from the store: the settings that met are kept with every game.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from arena.figures.statistics import Pentanomial
from arena.notation.openings import Suite
from arena.records import Outcome, PlayerSpec
from arena.run import REMEDY, Run, RunError
from tuning.matches import Match, MatchTable
from tuning.study.pairs_of_settings import SettingsPair, game_pairs_per_settings_pair
from tuning.study.playoff import SHARE
from tuning.study.response import Values
from tuning.study.spec import DEFAULT_ROUND_PAIRS, MIN_ROUNDS, TuningSpec

SETTINGS_DETAIL = "sets"
"""Under this name a game keeps the values of the first and of the second settings of its pair."""
MAX_PLAYERS = 4096
"""Players kept ready at a time."""
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
class ScheduledSettingsPair:
    """A pair of settings and which of the run's pairs of games it has."""

    settings: SettingsPair
    first_pair: int
    pairs: int
    round: int = 0
    series: str = ""


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


def pairs_before_playoff(games: int) -> int:
    """Pairs of a budget that are left when the playoff has its share."""
    return games // 2 - int(games // 2 * SHARE)


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
    pairs = pairs_before_playoff(games)
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


def begun_before(rounds: Sequence[Round], games: SettingsPairGames, pairs: int) -> tuple[int, int | None]:
    """How many rounds a study keeps that is to have ``pairs`` before its playoff, and how much of the last of them.

    A round that was begun stays whole if there is room for it. Otherwise it ends where its games end, or the budget.
    """
    begun = max(games.begun(rounds), default=-1) + 1
    if not begun:
        return 0, None
    last = rounds[begun - 1]
    room = max(0, pairs - last.first_pair) // last.game_pairs
    if room >= last.settings_pairs:
        return begun, None
    kept = min(last.settings_pairs, max(room, games.complete_settings_pairs(last)))
    return (begun, kept) if kept else (begun - 1, None)


class SettingsPairGames:
    """Pairs of settings as games: plays what the run lacks, counts what is there."""

    def __init__(self, spec: TuningSpec, suite: Suite, openings: Sequence[int], run: Run) -> None:
        self._spec, self._openings, self._run = spec, openings, run
        self._table = MatchTable(spec.conditions.of_games, suite, run)
        self._players: dict[Values, PlayerSpec] = {}
        self._settings: dict[tuple[str, int], tuple[Values, Values]] = {
            pairing.place: (tuple(first), tuple(second))
            for pairing, (first, second) in run.store.details(SETTINGS_DETAIL)
        }
        """By a game's place: the two settings of its pair."""

    def play(self, pairs: Iterable[ScheduledSettingsPair]) -> bool:
        """Play what the run lacks of some pairs; False if games are left unplayed."""
        settings: dict[tuple[str, int], tuple[Values, Values]] = {}
        matches = []
        for scheduled in pairs:
            both = (scheduled.settings.first, scheduled.settings.second)
            match = self._match(scheduled)
            for number in match.numbers:
                for place in ((match.series, number), (match.series, number + 1)):
                    self._check(place, both)
                    settings[place] = both
            matches.append(match)

        def finished(outcome: Outcome) -> None:
            self._settings[outcome.pairing.place] = settings[outcome.pairing.place]

        return self._table.play(matches, finished)

    def _match(self, scheduled: ScheduledSettingsPair) -> Match:
        """The games of a pair of settings; none of one against itself, which is even by definition."""
        first, second = scheduled.settings.first, scheduled.settings.second
        pairs = range(scheduled.first_pair, scheduled.first_pair + (scheduled.pairs if first != second else 0))
        numbers = tuple(pair % len(self._openings) for pair in pairs)
        return Match(
            variant=self._player(first),
            reference=self._player(second),
            openings=tuple(self._openings[number] for number in numbers),
            numbers=tuple(2 * pair for pair in pairs),
            pair_numbers=numbers,
            series=scheduled.series,
            round=scheduled.round,
            detail={SETTINGS_DETAIL: [list(first), list(second)]},
        )

    def _check(self, place: tuple[str, int], settings: tuple[Values, Values]) -> None:
        if self._settings.get(place, settings) != settings:
            raise RunError(
                f"{self._run.directory}: game {place[1]} was played between other settings than this specification "
                f"leads to; {REMEDY}"
            )

    def missing_of(self, pairs: Iterable[ScheduledSettingsPair]) -> int:
        """How many different games of some pairs are still to be played."""
        return self._table.missing_games([self._match(pair) for pair in pairs])

    def begun(self, rounds: Sequence[Round]) -> set[int]:
        """The rounds of which games are stored."""
        return {one.number for one in rounds if self.missing_games(one.first_pair, one.pairs) < 2 * one.pairs}

    def missing_games(self, first_pair: int, pairs: int, series: str = "") -> int:
        """How many games of a stretch of the schedule are not stored."""
        return sum((series, number) not in self._settings for number in range(2 * first_pair, 2 * (first_pair + pairs)))

    def is_complete(self, scheduled: ScheduledSettingsPair) -> bool:
        """Whether all its games are stored."""
        return not self._table.missing_games([self._match(scheduled)])

    def complete_settings_pairs(self, one: Round) -> int:
        """How many pairs of settings of a round, from the first on, have their games."""
        for place in range(one.settings_pairs):
            if self.missing_games(one.first_pair + place * one.game_pairs, one.game_pairs):
                return place
        return one.settings_pairs

    def counts(self, scheduled: ScheduledSettingsPair) -> Pentanomial:
        """The outcomes of its pairs, from the view of the first settings; none of settings against themselves."""
        match = self._match(scheduled)
        counts = self._table.counts(match)
        self._table.forget(match)
        return counts

    def stored_pairs(self, one: Round) -> list[ScheduledSettingsPair]:
        """The pairs of settings of a round as the games tell them, as far as their games are all there."""
        found = []
        for place in range(one.settings_pairs):
            first_pair = one.first_pair + place * one.game_pairs
            known = self._settings.get(("", 2 * first_pair))
            if known is not None:
                settings = SettingsPair(one.first_settings_pair + place, *known)
                found.append(ScheduledSettingsPair(settings, first_pair, one.game_pairs, one.number))
        return [scheduled for scheduled in found if self.is_complete(scheduled)]

    def _player(self, values: Values) -> PlayerSpec:
        if values not in self._players:
            if len(self._players) >= MAX_PLAYERS:
                self._players.clear()
            self._players[values] = self._spec.player(dict(zip(self._spec.space.names, values, strict=True)))
        return self._players[values]


def estimated_games(seconds: float, seconds_per_game: float, concurrency: int) -> int:
    """Games that a time allows."""
    return max(2, math.floor(seconds * concurrency / max(seconds_per_game, 1e-6)))
