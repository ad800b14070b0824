"""Designs, plays and evaluates the rounds of a study in order. A round may begin before the previous one has ended.

A round plays settings pairs: two sets of values that play each other.
"""

from __future__ import annotations

import time
import uuid
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from elolab.arena.play.stages import StagePlan
from elolab.arena.play.store import Store
from elolab.arena.records import Outcome
from elolab.arena.run import Run
from elolab.tuning.study.console_words import round_words
from elolab.tuning.study.model.observations import Observations
from elolab.tuning.study.plan import TuningPlan
from elolab.tuning.study.result import DEVIATION_ATTRIBUTE, EXPECTED_ATTRIBUTE, RoundResult
from elolab.tuning.study.rounds.budgets import BudgetSchedule
from elolab.tuning.study.rounds.pairs_of_settings import ScheduledSettingsPair, round_pairs
from elolab.tuning.study.rounds.settings_pair_games import SettingsPairResults
from elolab.tuning.study.space import Values
from elolab.tuning.study.state import StudyState
from elolab.tuning.study.storage import RoundTrials

WORKER_METADATA = "tuning worker"
MAX_VALUE = 1000.0
"""Largest absolute Elo that Optuna receives, for a trial that won or lost every pair."""


@dataclass(eq=False)
class RoundUnderWay:
    """A round that has been designed and has not yet been finished."""

    number: int
    values: Values
    pairs: list[ScheduledSettingsPair]
    missing: set[str]
    """Keys of the round's games that are still to be played."""


class RoundStream:
    """Plays the rounds of a run. A round is designed as soon as at most ``overlap`` other rounds are in progress."""

    def __init__(self, plan: TuningPlan, run: Run, games: SettingsPairResults, schedule: BudgetSchedule) -> None:
        spec = plan.spec
        self._plan, self._spec, self._run, self._games, self._schedule = plan, spec, run, games, schedule
        self._trials = RoundTrials(
            spec, run.directory, worker_name(run.store), sum(one.pairs for one in schedule.rounds)
        )
        self.state = StudyState(Observations(spec.space), len(plan.openings), spec.limit_shares, spec.is_paired)
        """The results so far and the model fitted to them."""
        self._under_way: list[RoundUnderWay] = []
        """Rounds that are designed and not yet finished, in order."""
        self._not_begun: deque[RoundUnderWay] = deque()
        """Rounds that are designed, but have not started any game."""
        self._games_ended = 0
        self._began = self._first_ended = time.monotonic()
        self._are_all_laid_out = self._is_stopped = False
        self.is_stopped_early = False  # because little is left to gain

    def play(self) -> bool:
        """Play all rounds; return False if the run was stopped before the last one ended."""
        self._announce()
        self._began = time.monotonic()
        self._go_on()
        is_complete = self._games.play_parts(self._parts(), self._note_game)
        if is_complete and not self._is_stopped:
            if self._trials.is_shared:
                self._read_all_rounds()
            return True
        self._schedule.record_spent()
        self._run.refuse_unavailable()
        self._run.is_interrupted = True
        for one in self._under_way:
            for pair in filter(self._games.is_complete, one.pairs):
                self.state.observe(pair.settings, pair.first_pair, self._games.counts(pair))
        return False

    def refit(self, *, is_last: bool) -> None:
        """Fit the model to all results if the number of results has grown enough, or if ``is_last``.

        A sampler may have its own candidate for the recommendation, such as the last iterate of SPSA. Such a
        candidate replaces the model's maximum.
        """
        self.state.refit(is_last=is_last)
        candidate = self._trials.candidate()
        if self.state.model is not None and candidate is not None:
            self.state.best = candidate

    def others_unfinished(self) -> tuple[int, ...]:
        """Numbers of the rounds that other workers of a shared study are still playing."""
        return tuple(self._trials.others_unfinished()) if self._trials.is_shared else ()

    def _announce(self) -> None:
        """Show the stages of the run and start the progress display."""
        spec, progress = self._spec, self._run.progress
        stages = self._plan.stages(self._schedule.periods[-1].games, self._run.store)
        progress.announce(StagePlan(spec.name, self._run.directory, stages, self._run.concurrency))
        planned = self._schedule.planned_games()
        done = planned - self._schedule.missing_games(self.state.results)
        progress.begin(
            planned, lambda: round_words(self.state, len(self._schedule.rounds)), done=done, stage=stages[0].name,
        )  # fmt: skip

    def _parts(self) -> Iterator[list[ScheduledSettingsPair] | None]:
        """Yield the settings pairs of each round; ``None`` while the next round depends on games in progress."""
        while self._under_way:
            yield self._not_begun.popleft().pairs if self._not_begun else None

    def _note_game(self, outcome: Outcome) -> None:
        if not self._games_ended:
            self._first_ended = time.monotonic()
        self._games_ended += self._games.games_of(outcome)
        for one in self._under_way:
            one.missing.discard(outcome.key)
        self._go_on()

    def _go_on(self) -> None:
        """Design and finish as many rounds as possible.

        Rounds are finished in order. Which results are known when a round is designed depends only on its number.
        """
        while True:
            if len(self._under_way) <= self._spec.overlap and not self._are_all_laid_out:
                self._are_all_laid_out = not self._lay_out()
            elif self._under_way and not self._under_way[0].missing:
                self._finish(self._under_way.pop(0))
            else:
                return

    def _is_over(self) -> bool:
        return self._schedule.is_over(len(self.state.results) + len(self._under_way))

    def _lay_out(self) -> bool:
        """Design another round; return False if no round is left or if the run stops."""
        number: int | None = len(self.state.results) + len(self._under_way)
        if self._trials.is_shared:
            self._read_all_rounds()
            under_way = {one.number for one in self._under_way}
            number = next((one for one in self._trials.own_unfinished() if one not in under_way), None)
        if (number is None or not self._trials.is_shared) and self._is_over():
            return False
        if self._spec.stop_below and not self.state.is_left_to_gain(self._spec.stop_below):
            self.is_stopped_early = True
            return False
        first = len(self.state.results) + len(self._under_way)
        if self._schedule.is_time_to_confirm(self.state.model, self.state.best, first):
            return False
        has_games = number is not None and not self._trials.is_shared and self._schedule.has_games_from(number)
        if self._run.stop.is_set() and not has_games:
            self._is_stopped = True
            return False
        rounds = self._schedule.rounds
        number, values, start = self._trials.ask(self.state, sum(one.pairs for one in rounds), number)
        if number >= len(rounds):  # every round of a shared study is finished or under way
            self._trials.give_up(number)
            return False
        pairs = round_pairs(self._spec.space, self._spec.conditions.seed, values, start, rounds[number])
        one = RoundUnderWay(number, values, pairs, self._games.missing_keys(pairs))
        self._under_way.append(one)
        self._not_begun.append(one)
        return True

    def _finish(self, one: RoundUnderWay) -> None:
        """Add a completed round to the results, refit the model if needed, and record the round in Optuna."""
        if one in self._not_begun:  # its games are all of an earlier run
            self._not_begun.remove(one)
        results = tuple((pair.settings, self._games.counts(pair)) for pair in one.pairs)
        result = RoundResult(one.number, one.values, results)
        self.state.add(result, self._schedule.rounds)
        self.refit(is_last=False)
        end = self.state.note_end(result)
        self._schedule.record_ended(len(self.state.results))  # before Optuna's trial, which cannot be changed
        if not self._is_stopped:  # otherwise Optuna's sampler would know too many results in the next round
            value = min(max(end.elo, -MAX_VALUE), MAX_VALUE)
            found = {DEVIATION_ATTRIBUTE: end.deviation, EXPECTED_ATTRIBUTE: end.expected}
            self._trials.tell(result, value, {"total_pairs": end.total_pairs, **found})
        if one.number == 0 and self._games_ended:
            each = (self._run.store.mean_duration_ms() or 0.0) / 1000
            times = (self._began, self._first_ended, time.monotonic())
            seconds = seconds_per_game(times, self._games_ended, each, self._run.concurrency)
            if self._schedule.correct_estimate(seconds):
                self._announce()
        # Equal settings, and settings that meet again from the same opening, play no games.
        ended = self.state.results
        self._run.progress.done = self._schedule.planned_games() - self._schedule.missing_games(ended)

    def _read_all_rounds(self) -> None:
        """Read the finished rounds of all workers of a shared study."""
        finished = self._trials.finished()
        if finished.keys() <= self.state.results.keys():
            return
        self.state = self.state.without_results()
        for number in sorted(finished):
            self.state.add(finished[number], self._schedule.rounds)
            self.state.note_end(finished[number])
        self.refit(is_last=False)


def seconds_per_game(times: tuple[float, float, float], games: int, each: float, concurrency: int) -> float:
    """Mean time between the ends of successive games, in seconds.

    ``times`` has three times in seconds: the start, the end of the first game, and now. ``each`` is the mean duration
    of a game. A delay before the first game, for example by compilation, is subtracted. The result is at least ``each``
    divided by ``concurrency``.
    """
    began, first_ended, now = times
    waited = max(0.0, first_ended - began - each)
    return max((now - began - waited) / games, each / concurrency)


def worker_name(store: Store) -> str:
    """Name of the worker that owns this store, for a shared study; it is created and recorded at the first use."""
    name = store.metadata(WORKER_METADATA)
    if name is None:
        name = uuid.uuid4().hex
        store.record_metadata({WORKER_METADATA: name})
    return str(name)
