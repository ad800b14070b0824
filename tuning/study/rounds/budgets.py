"""Division of a study's budget into rounds and a playoff; the budget may change when a run resumes.

A round plays settings pairs: two sets of values that play each other in a number of game pairs.
"""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from elolab.arena.play.store import Store
from elolab.arena.run import Run, plain
from elolab.tuning.study.model.response import ResponseModel
from elolab.tuning.study.playoff import SHARE
from elolab.tuning.study.rounds.pairs_of_settings import Round, game_pairs_per_settings_pair
from elolab.tuning.study.rounds.settings_pair_games import SettingsPairResults
from elolab.tuning.study.space import Values
from elolab.tuning.study.study_spec import (
    COMMAND_PAIRS,
    DEFAULT_ROUND_PAIRS,
    MIN_ITERATIONS,
    MIN_ROUNDS,
    MIN_SEARCH,
    SPSA_PAIRS,
    TuningSpec,
    min_games,
)
from elolab.tuning.study.validation.gain_test import confirming_pairs

PLAYOFF_SERIES = "playoff"
"""Name of the series of games of the first playoff. Later playoffs have this name with a number appended."""
PERIODS_METADATA = "tuning budgets"
"""Key in the store's metadata for the run's budget periods (``BudgetPeriod``)."""
SECONDS_METADATA = "tuning seconds"
ENDED_METADATA = "tuning rounds ended"
"""Key in the store's metadata for the number of finished rounds, including rounds that needed no new games."""
PLAYOFF_METADATA = "tuning playoff"
"""Key in the store's metadata for the number of rounds before the playoff, and the playoff's number of game pairs.

If the budget covers the validation, a third number follows: the game pairs left for the validation.
"""
RECOMMENDATION_METADATA = "tuning recommendation"
"""Key in the store's metadata for the recommended values that followed from the playoff."""
MIN_PLAYOFF_PAIRS = 3
CONFIRMING_POWER = 0.95
"""Probability with which the validation should confirm the expected gain in the games left for it."""
CAUTION = 2.0
"""The validation gets enough games for a gain that is this many standard deviations below the expected gain."""


@dataclass(frozen=True)
class BudgetPeriod:
    """A part of a study's run that has one budget.

    A new period begins when a resumed run has another budget, or when the games of a budget in time are estimated
    again. Rounds begun in earlier periods stay in the schedule.
    """

    games: int
    """The budget in games; for a budget in time, the estimated number of games."""
    budget: Mapping[str, Any]
    """The budget as plain data (``Budget.content``)."""
    rounds: int = 0
    """Number of rounds begun in earlier periods."""
    last_settings_pairs: int | None = None
    """Number of settings pairs of the last earlier round if the new budget shortened it; otherwise ``None``."""
    playoffs: int = 0
    """Number of playoffs under earlier, smaller budgets. These playoffs no longer affect the recommendation."""

    @property
    def playoff_series(self) -> str:
        """Name of the series that holds the games of this period's playoff in the store."""
        return f"{PLAYOFF_SERIES} {self.playoffs + 1}" if self.playoffs else PLAYOFF_SERIES


def search_games(spec: TuningSpec, games: int) -> int:
    """Largest number of games for the rounds and the playoff under a budget of ``games`` games."""
    return 2 * round(games / 2 * spec.search_share) if spec.validation.is_in_budget else games


def most_search_games(spec: TuningSpec, games: int) -> int:
    """Largest number of games of rounds and playoff under a budget of ``games`` games, after rounding to whole game
    pairs.

    The number may exceed ``search_games``, because rounding may lengthen a short playoff.
    """
    if not spec.validation.is_in_budget:
        return games
    share = spec.limit_shares.playoff_share(SHARE)
    before = pairs_before_playoff(search_games(spec, games), share)
    return 2 * (before + playoff_after(before, share))


def playoff_after(pairs: int, share: float) -> int:
    """Number of game pairs of a playoff after rounds of ``pairs`` game pairs, if the budget also covers the validation.

    ``share`` is the playoff's share of the game pairs of rounds and playoff.
    """
    return max(MIN_PLAYOFF_PAIRS, round(pairs * share / (1 - share)))


def validation_pairs(spec: TuningSpec, games: int, playoff: Sequence[int] | None) -> int:
    """Number of game pairs that remain for the validation under a budget of ``games`` games that covers the validation.

    ``playoff`` is the record of ``BudgetSchedule.record_playoff``; ``None`` before the playoff.
    """
    return games // 2 - most_search_games(spec, games) // 2 if playoff is None or len(playoff) < 3 else playoff[2]


def is_time_to_confirm(model: ResponseModel, best: Values, played: int, following: int, total: int) -> bool:
    """Whether to end the rounds, so that the remaining games probably confirm the gain that the model expects.

    ``played`` is the number of game pairs so far, ``following`` the number in the next round, and ``total`` the number
    in the budget. The rounds go on while another round and the longer playoff would leave enough pairs to confirm the
    gain. If the gain needs more pairs than the budget has, the rounds end as early as possible.
    """
    base = model.space.default_values
    if best == base or played < MIN_SEARCH * (1 - SHARE) * total:
        return False
    gain, deviation = model.difference(best, base)
    left = total - (played + following) / (1 - SHARE)
    return left < confirming_pairs(gain - CAUTION * deviation, CONFIRMING_POWER)


def pairs_before_playoff(games: int, share: float = SHARE) -> int:
    """Number of game pairs of the rounds under a budget of ``games`` games, if the playoff gets the part ``share`` of
    the budget.
    """
    return games // 2 - int(games // 2 * share)


def rounds_of_periods(spec: TuningSpec, periods: Iterable[BudgetPeriod]) -> tuple[Round, ...]:
    """The schedule of a study's rounds, from all of its budget periods."""
    rounds: tuple[Round, ...] = ()
    for period in periods:
        before = rounds[: period.rounds]
        if period.last_settings_pairs is not None:
            before = (*before[:-1], replace(before[-1], settings_pairs=period.last_settings_pairs))
        rounds = rounds_of(spec, period.games, before)
    return rounds


def rounds_of(spec: TuningSpec, games: int, before: Sequence[Round] = ()) -> tuple[Round, ...]:
    """The schedule of a study's rounds under a budget of ``games`` games.

    The schedule includes the rounds ``before``, which began under an earlier budget. With samplers that play trials,
    new trials are as long as earlier ones; only the number of trials changes.
    """
    games = search_games(spec, games)
    pairs = pairs_before_playoff(games, spec.limit_shares.playoff_share(SHARE))
    if not spec.is_paired:
        each = before[0].pairs if before else trial_pairs(spec, pairs)
        trials = max(len(before), pairs // each) if before or spec.is_by_matches else spec.trials
        return tuple(Round(number, number, 1, each, number * each) for number in range(trials))
    spent_settings_pairs = sum(one.settings_pairs for one in before)
    spent_pairs = sum(one.pairs for one in before)
    if spec.sampler == "spsa":
        most, iterations = (spec.match_pairs, MIN_ROUNDS) if spec.match_pairs else (SPSA_PAIRS, MIN_ITERATIONS)
        game_pairs, each = spec.round_pairs or min(most, max(1, pairs // iterations)), 1
    else:
        wanted = spec.round_pairs or min(DEFAULT_ROUND_PAIRS, max(1, pairs // MIN_ROUNDS))
        game_pairs = min(spec.match_pairs, wanted) if spec.match_pairs else game_pairs_per_settings_pair(games)
        each = max(1, round(wanted / game_pairs))
    left = max(0, pairs - spent_pairs) // game_pairs
    if spec.is_by_matches:  # whole rounds, as trials are
        left -= left % each
    found = list(before)
    for start in range(0, left, each):
        settings_pairs = min(each, left - start)
        first_settings_pair, first_pair = spent_settings_pairs + start, spent_pairs + start * game_pairs
        found.append(Round(len(found), first_settings_pair, settings_pairs, game_pairs, first_pair))
    return tuple(found)


def trial_pairs(spec: TuningSpec, pairs: int) -> int:
    """Number of game pairs per trial, for samplers that play trials; ``pairs`` is the number for all trials."""
    if spec.is_by_matches and (spec.round_pairs or spec.budget.games is None):
        return spec.round_pairs or COMMAND_PAIRS
    if spec.budget.games is None:
        return spec.round_pairs or max(1, DEFAULT_ROUND_PAIRS // 4)
    return max(1, pairs // spec.trials)


def first_games(spec: TuningSpec, concurrency: int) -> int:
    """First estimate of the number of games in a budget in time, if a command or a function plays the matches.

    The speed of such matches is unknown before the first round. With this estimate, each worker plays one match in the
    first round.
    """
    pairs = MIN_ROUNDS * concurrency * (spec.match_pairs or 1)
    return max(min_games(spec), math.ceil(2 * pairs / (1 - SHARE) / spec.search_share))


def estimated_games(seconds: float, seconds_per_game: float, concurrency: int) -> int:
    """Estimated number of games that fit in ``seconds``, at least 2.

    A game takes ``seconds_per_game``, and ``concurrency`` games run at once.
    """
    return max(2, math.floor(seconds * concurrency / max(seconds_per_game, 1e-6)))


class BudgetSchedule:
    """The schedule of rounds under the current budget. Rounds begun under earlier budgets stay in the schedule."""

    def __init__(self, spec: TuningSpec, run: Run, games: SettingsPairResults) -> None:
        self._spec, self._run, self._store, self._games = spec, run, run.store, games
        self._seconds_before = float(run.store.metadata(SECONDS_METADATA) or 0.0)
        self._started = time.monotonic()
        self.periods = self._planned_periods()
        """The run's budget periods; the last one is current."""
        self.rounds = rounds_of_periods(spec, self.periods)

    def _planned_periods(self) -> tuple[BudgetPeriod, ...]:
        periods, wanted = periods_of(self._store), self._spec.budget
        if not periods:
            periods = (BudgetPeriod(self._games_allowed(0), wanted.content()),)
        elif plain(periods[-1].budget) != plain(wanted.content()):
            return self._with_other_budget(periods)
        self._store.record_metadata({PERIODS_METADATA: [asdict(period) for period in periods]})
        return periods

    def _with_other_budget(self, periods: tuple[BudgetPeriod, ...]) -> tuple[BudgetPeriod, ...]:
        """Begin a period for a changed budget, and return all budget periods.

        Rounds that have begun stay in the schedule. A playoff that has begun stays if no further round comes before it.
        """
        before = rounds_of_periods(self._spec, periods)
        series = [outcome.pairing.series for outcome in self._store.outcomes()]
        games = self._games_allowed(sum(one == "" or one.startswith(PLAYOFF_SERIES) for one in series))
        playoff = self._store.metadata(PLAYOFF_METADATA)
        ended = int(self._store.metadata(ENDED_METADATA) or 0) if playoff is None else int(playoff[0])
        begun, last = begun_before(before, self._games, self._pairs_before_playoff(games), ended)
        period = BudgetPeriod(games, self._spec.budget.content(), begun, last, periods[-1].playoffs)
        more = games > periods[-1].games and len(rounds_of_periods(self._spec, (*periods, period))) > begun
        if playoff is not None and more:
            period, playoff = replace(period, playoffs=period.playoffs + 1), None
        periods = (*periods, period)
        changed = {PERIODS_METADATA: [asdict(period) for period in periods], PLAYOFF_METADATA: playoff}
        self._store.record_metadata(changed)
        return periods

    def _games_allowed(self, played: int) -> int:
        """The budget in games. A budget in time is converted by an estimate.

        The estimate uses the speed of the ``played`` games, or a typical speed if no games were played.
        """
        budget = self._spec.budget
        if budget.games is not None:
            return budget.games
        assert budget.seconds is not None
        if played and self._seconds_before:
            return max(min_games(self._spec), estimated_games(budget.seconds, self._seconds_before / played, 1))
        if self._spec.is_by_matches:
            return first_games(self._spec, self._run.concurrency)
        each = self._spec.limit_shares.game_seconds
        return max(min_games(self._spec), estimated_games(budget.seconds, each, self._run.concurrency))

    def correct_estimate(self, seconds: float) -> bool:
        """Plan the rounds of a budget in time again after the first round; ``seconds`` is the measured time per game.

        Rounds that may already be in progress do not change. Returns whether the rounds were planned again.
        """
        budget = self._spec.budget.seconds
        if budget is None or len(self.periods) != 1:
            return False
        games = estimated_games(budget, seconds, 1)
        kept = self.rounds[: 1 + self._spec.overlap]
        games = max(games, min_games(self._spec), 4 * sum(one.pairs for one in kept))
        self.periods = (*self.periods, BudgetPeriod(games, self._spec.budget.content(), len(kept)))
        self._store.record_metadata({PERIODS_METADATA: [asdict(period) for period in self.periods]})
        self.rounds = rounds_of_periods(self._spec, self.periods)
        return True

    def is_over(self, number: int) -> bool:
        """Whether the budget is used up when round ``number`` should begin."""
        if number >= len(self.rounds):
            return True
        budget, in_budget = self._spec.budget.seconds, self._spec.validation.is_in_budget
        playoff = self._store.metadata(PLAYOFF_METADATA)
        if playoff is not None and (in_budget or budget is not None) and number:
            return number >= int(playoff[0])
        if budget is None or not number:
            return False
        return self._spent() >= budget * self._spec.search_share * (1 - SHARE) and not self.has_games_from(number)

    def has_games_from(self, number: int) -> bool:
        """Whether the store has games of round ``number``, of later rounds or of the playoff."""
        return bool(self._store.metadata(PLAYOFF_METADATA) or self._games.begun(self.rounds[number:]))

    def _rounds_to_play(self) -> tuple[Round, ...]:
        """The rounds of the search; those before the playoff once it has begun, because a search may end early."""
        playoff = self._store.metadata(PLAYOFF_METADATA)
        return self.rounds if playoff is None else self.rounds[: int(playoff[0])]

    def planned_games(self) -> int:
        """Planned number of games of rounds and playoff."""
        rounds = self._rounds_to_play()
        return 2 * (sum(one.pairs for one in rounds) + self.playoff_pairs(len(rounds)))

    def missing_games(self, finished: Collection[int]) -> int:
        """Number of games still to play before validations; ``finished`` has the finished rounds' numbers."""
        rounds = self._rounds_to_play()
        unfinished = (one for one in rounds if one.number not in finished)
        missing = sum(self._games.missing_at(one.first_pair, one.pairs) for one in unfinished)
        pairs = self.playoff_pairs(len(rounds))
        if self._store.metadata(PLAYOFF_METADATA) is None:
            return missing + 2 * pairs
        return missing + self._games.missing_at(self.playoff_start(len(rounds)), pairs, self.periods[-1].playoff_series)

    def playoff_pairs(self, finished: int) -> int:
        """Number of game pairs of the playoff after ``finished`` rounds.

        If the number of rounds is not fixed, the playoff is a share of the game pairs of these rounds.
        """
        recorded = self._store.metadata(PLAYOFF_METADATA)
        if recorded is not None:
            return int(recorded[1])
        games = self._spec.budget.games
        if games is not None and not self._spec.validation.is_in_budget:
            room = games // 2 - sum(one.pairs for one in self.rounds)  # may be small if the budget has changed
            return max(0, min(room, games // 2 - self._pairs_before_playoff(games)))
        pairs = sum(one.pairs for one in self.rounds[: finished or None])
        return playoff_after(pairs, self._spec.limit_shares.playoff_share(SHARE))

    def playoff_start(self, finished: int) -> int:
        """Number of the playoff's first game pair in the schedule, after ``finished`` rounds.

        The playoff follows the last round's pairs and uses the next openings. For matches of a command or function,
        which have no openings, the number is 0.
        """
        return 0 if self._spec.is_by_matches else sum(one.pairs for one in self.rounds[:finished])

    def record_playoff(self, finished: int) -> int:
        """Record that the playoff comes after ``finished`` rounds; return its number of game pairs."""
        if self._store.metadata(PLAYOFF_METADATA) is None:
            pairs = self.playoff_pairs(finished)
            left = [self._pairs_left(finished, pairs)] if self._spec.validation.is_in_budget else []
            self._store.record_metadata({PLAYOFF_METADATA: [finished, pairs, *left], RECOMMENDATION_METADATA: None})
        return self.playoff_pairs(finished)

    def is_time_to_confirm(self, model: ResponseModel | None, best: Values | None, number: int) -> bool:
        """Whether to end the rounds before round ``number`` and leave all remaining games of the budget to the
        validation.
        """
        if model is None or best is None or not self._spec.validation.is_in_budget or self._spec.sampler != "duel":
            return False
        following = self.rounds[number]
        return is_time_to_confirm(model, best, following.first_pair, following.pairs, self.periods[-1].games // 2)

    def _pairs_left(self, finished: int, playoff: int) -> int:
        """Number of game pairs left in the budget after ``finished`` rounds and a playoff of ``playoff`` pairs."""
        played, budget = sum(one.pairs for one in self.rounds[:finished]), self._spec.budget.seconds
        total = self.periods[-1].games // 2
        if budget is not None and self._spent():
            total = round(played * budget / self._spent())
        return max(1, total - played - playoff)

    def _pairs_before_playoff(self, games: int) -> int:
        return pairs_before_playoff(search_games(self._spec, games), self._spec.limit_shares.playoff_share(SHARE))

    def _spent(self) -> float:
        """Seconds of play so far, in this run and in earlier runs of the study."""
        return self._seconds_before + time.monotonic() - self._started

    def record_spent(self) -> None:
        """Record the seconds of play so far in the store."""
        self._store.record_metadata({SECONDS_METADATA: self._spent()})

    def record_ended(self, rounds: int) -> None:
        """Record the number of finished rounds and the seconds of play so far.

        The recorded number never falls, although a restarted run counts its rounds from 0.
        """
        ended = max(rounds, int(self._store.metadata(ENDED_METADATA) or 0))
        self._store.record_metadata({ENDED_METADATA: ended, SECONDS_METADATA: self._spent()})


def begun_before(rounds: Sequence[Round], games: SettingsPairResults, pairs: int, ended: int) -> tuple[int, int | None]:
    """Number of begun rounds that stay after a change of budget, and the new length of the last one in settings pairs.

    The length is ``None`` if the last round stays whole, because the new budget has enough game pairs for it. Otherwise
    the round ends after its stored games, or where the budget ends, whichever is later. ``pairs`` is the number of game
    pairs that the new budget plays before the playoff.

    The first ``ended`` rounds are finished and always stay. A finished round may have no stored games: settings that
    are equal, or that met in an earlier round, play none.
    """
    begun = max(games.begun(rounds), default=-1) + 1
    while begun > ended:
        last = rounds[begun - 1]
        room = max(0, pairs - last.first_pair) // last.game_pairs
        if room >= last.settings_pairs:
            return begun, None
        kept = min(last.settings_pairs, max(room, games.complete_settings_pairs(last)))
        if kept:
            return begun, kept
        begun -= 1
    return ended, None


def periods_of(store: Store) -> tuple[BudgetPeriod, ...]:
    """The budget periods of a run, in order; empty before its start."""
    return tuple(BudgetPeriod(**period) for period in store.metadata(PERIODS_METADATA) or ())
