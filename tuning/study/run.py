"""A study: rounds of games that improve the parameters, a playoff, and validations that decide.

Two stores: the games (``arena.play.store``), which are the truth, and Optuna's study (``tuning.study.storage``). What
is played next is a function of the specification and of the games before, so that a study that was stopped anywhere
goes on as if it had not been, and a lost study file is made again from the games without playing one of them twice.
"""

from __future__ import annotations

import sys
import time
import uuid
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from elolab.arena.files import OTHER_FOLDER
from elolab.arena.play.live import first_that_fits
from elolab.arena.play.stages import StagePlan
from elolab.arena.play.store import STORE_NAME, Store
from elolab.arena.provenance.caveats import caveats_of
from elolab.arena.records import Outcome
from elolab.arena.run import Run, RunError, RunOptions, check_directory, engines_of, was_begun
from elolab.arena.statistics.faults import FORFEITS, faults_of
from elolab.arena.statistics.numbers import signed
from elolab.engine.language import console
from elolab.engine.settings.parameters import Value
from elolab.tuning.matches import MatchTable
from elolab.tuning.study.model.observations import Observations
from elolab.tuning.study.plan import (
    TuningPlan,
    check_engine,
    games_before_validation,
    prepare_tuning,
    purpose_of,
    stage_name,
)
from elolab.tuning.study.playoff import INTERVAL_90, Decision, decide
from elolab.tuning.study.result import DEVIATION_ATTRIBUTE, RoundEnd, RoundResult, StudyResult
from elolab.tuning.study.rounds.budgets import Schedule
from elolab.tuning.study.rounds.games import ScheduledSettingsPair, SettingsPairGames
from elolab.tuning.study.rounds.pairs_of_settings import RoundDesign, SettingsPair, design_pair
from elolab.tuning.study.rounds.schedule import Round
from elolab.tuning.study.space import Values
from elolab.tuning.study.spec import TuningSpec
from elolab.tuning.study.state import StudyState
from elolab.tuning.study.validation.match import Verdict
from elolab.tuning.study.validation.preset import write_preset
from elolab.tuning.study.validation.stages import further_verdicts, own_validations, play_stage, recommendation_number

if TYPE_CHECKING:
    from elolab.tuning.study.storage import Study

RECOMMENDATION_METADATA = "tuning recommendation"
WORKER_METADATA = "tuning worker"
METHOD_METADATA = "tuning method"
METHOD = "duels around the mode's maximum, as wide as its curvatures let, departures at 400 to 1"
"""The method that designed a run's settings pairs: another version of it cannot go on with the run."""
ANY_ROUND = -1
"""Of a shared study: the next round that nobody has."""
MAX_VALUE = 1000.0
"""Elo: what is reported to Optuna for a trial that won or lost every pair."""


def tune(spec: TuningSpec, directory: Path, **options: Unpack[RunOptions]) -> StudyResult:
    """Run or resume a study in its folder: rounds, playoff, validations, preset.

    With a budget in games nothing but times depends on the concurrency. A validated recommendation is written to the
    folder as a preset. Raises ``UserError`` if the folder belongs to another run or engine, the storage cannot be
    reached, or the disk is full.
    """
    result = play_study(spec, directory, **options)
    if not result.confirmed:
        return result
    preset = write_preset(result.engine, spec, directory, result.recommended, result.verdicts[0])
    return replace(result, preset=preset)


def play_study(spec: TuningSpec, directory: Path, **options: Unpack[RunOptions]) -> StudyResult:
    """``tune`` without writing a preset."""
    plan = prepare_tuning(spec)
    purpose = purpose_of(plan)
    if not was_begun(directory, purpose):
        check_engine(spec, options.get("stream") or sys.stderr)
    own, whole = time.thread_time(), time.process_time()
    with Run(directory, purpose, **options) as run:
        result = StudyRun(plan, run).play()
        own, whole = time.thread_time() - own, time.process_time() - whole
        faults = faults_of(run.store.ended_by(FORFEITS))
        return replace(
            result, games=len(run.store), digest=run.store.digest(), engine=engines_of(run.store), own_seconds=own,
            games_seconds=max(0.0, whole - own), faults=faults, caveats=caveats_of(run.store, faults),
        )  # fmt: skip


def check_folder(plan: TuningPlan, directory: Path, *, accepts_changes: bool) -> None:
    """Raise ``UserError`` as ``tune`` does if the folder belongs to another run or engine; nothing is written."""
    check_directory(directory, purpose_of(plan), accepts_changes=accepts_changes)
    if (directory / STORE_NAME).is_file():
        with Store(directory, read_only=True) as store:
            _check_method(plan.spec, store)


def _check_method(spec: TuningSpec, store: Store) -> None:
    """Raise ``RunError`` if the run was begun by another version of the method."""
    if spec.sampler == "duel" and len(store) and store.metadata(METHOD_METADATA) != METHOD:
        raise RunError(
            f"{store.directory}: was begun by another version of elolab, which paired its settings otherwise",
            f"finish it with that version, or {OTHER_FOLDER}",
        )


@dataclass(eq=False)
class _RoundUnderWay:
    """A round that was laid out and whose results are not known yet."""

    number: int
    values: Values
    pairs: list[ScheduledSettingsPair]
    missing: set[str]
    """Keys of the games that are still to be played; it becomes smaller."""


class StudyRun:
    """One run of a study: round after round, then the playoff and the validations."""

    def __init__(self, plan: TuningPlan, run: Run) -> None:
        from elolab.tuning.study.storage import Study

        self._plan, self._spec, self._run = plan, plan.spec, run
        self._store, self._progress = run.store, run.progress
        self._games = SettingsPairGames(self._spec, plan.suite, plan.openings, run)
        _check_method(self._spec, self._store)
        if self._spec.sampler == "duel":
            self._store.record_metadata({METHOD_METADATA: METHOD})
        self._schedule = Schedule(self._spec, run, self._games)
        self._state = StudyState(
            Observations(self._spec.space), len(plan.openings), limit_shares=self._spec.limit_shares
        )
        self._study: Study = Study(self._spec, run.directory, self._worker())
        self._ends: dict[int, RoundEnd] = {}
        self._further: tuple[Verdict, ...] = ()
        self._under_way: list[_RoundUnderWay] = []
        """The rounds that were laid out and not taken up, in their order."""
        self._not_begun: deque[_RoundUnderWay] = deque()
        """Those of which no game was asked for yet."""
        self._games_ended = 0
        self._began = self._first_ended = time.monotonic()
        self._are_all_laid_out = False
        """Whether no further round is laid out, for whatever reason."""
        self._is_stopped = False
        """Whether that is so because the run was stopped."""
        self._is_stopped_early = False
        """Whether it is because little is left to gain."""

    def _announce(self) -> None:
        """Say what is played at most, and show how far the tuning is."""
        spec, progress = self._spec, self._progress
        stages = self._plan.stages(self._schedule.legs[-1].games, self._store)
        progress.announce(StagePlan(spec.name, self._run.directory, stages, self._run.concurrency))
        planned = self._schedule.planned_games(len(self._state.results))
        done = planned - self._schedule.missing_games(self._state.results)
        progress.begin(planned, self._words, done=done, stage=stages[0].name)

    # Results and model

    def _read_all_rounds(self) -> None:
        """Read the rounds of all workers of a shared study."""
        finished = self._study.finished()
        before = self._state
        if finished.keys() <= before.results.keys():
            return
        self._state = before.without_results()
        for number in sorted(finished):
            self._add_result(finished[number])
            self._note_end(finished[number])
        self._state.refit(is_last=False)

    def _add_result(self, result: RoundResult) -> None:
        rounds = self._schedule.rounds
        self._state.add(result, rounds[result.number] if result.number < len(rounds) else None)

    # Playing

    def play(self) -> StudyResult:
        """Go through to the end, or as far as the stop flag lets."""
        self._announce()
        if not self._play_rounds():
            return self._ended(interrupted=True, decision=self._best_so_far())
        if self._study.is_shared:
            self._read_all_rounds()
            others = self._study.others_unfinished()
            if others:
                return self._ended(waiting_for=tuple(others))
        self._state.refit(is_last=True)
        self._schedule.record_spent()
        if self._state.model is None:
            return self._ended(decision=None)
        decision, is_decided = self._playoff()
        if not is_decided:
            return self._ended(interrupted=True, decision=decision)
        self._store.record_metadata({RECOMMENDATION_METADATA: list(decision.values)})
        verdicts = self._validate(dict(zip(self._spec.space.names, decision.values, strict=True)))
        interrupted = self._run.is_interrupted or any(one.unfinished_of is not None for one in verdicts)
        return self._ended(interrupted=interrupted, decision=decision, verdicts=tuple(verdicts))

    def _play_rounds(self) -> bool:
        """Play the rounds as one stream of games; False if it was stopped before its end."""
        self._began = time.monotonic()
        self._go_on()
        is_complete = self._games.play_parts(self._parts(), self._note_game)
        if is_complete and not self._is_stopped:
            return True
        self._schedule.record_spent()
        self._run.refuse_unavailable()
        self._run.is_interrupted = True
        for one in self._under_way:
            self._observe_part(one.pairs)
        return False

    def _parts(self) -> Iterator[list[ScheduledSettingsPair] | None]:
        """The rounds' pairs of settings, round after round; ``None`` while the next one is not known yet."""
        while self._under_way:
            yield self._not_begun.popleft().pairs if self._not_begun else None

    def _note_game(self, outcome: Outcome) -> None:
        if not self._games_ended:
            self._first_ended = time.monotonic()
        self._games_ended += 1
        for one in self._under_way:
            one.missing.discard(outcome.key)
        self._go_on()

    def _go_on(self) -> None:
        """Lay out and take up rounds, as far as that goes.

        Rounds are taken up in their order, and one is laid out as soon as no more than ``overlap`` others are under
        way, before anything else is known: so what is known when it is laid out follows from its number alone.
        """
        while True:
            if len(self._under_way) <= self._spec.overlap and not self._are_all_laid_out:
                self._are_all_laid_out = not self._lay_out()
            elif self._under_way and not self._under_way[0].missing:
                self._take_up(self._under_way.pop(0))
            else:
                return

    def _next_round(self) -> int | None:
        """The round to lay out now: one of ours that was begun, or a new one; ``None`` if the budget is spent."""
        taken = len(self._state.results) + len(self._under_way)
        if not self._study.is_shared:
            return None if self._schedule.is_over(taken) else taken
        self._restore_own()
        self._read_all_rounds()
        under_way = {one.number for one in self._under_way}
        unfinished = [number for number in self._study.own_unfinished() if number not in under_way]
        if unfinished:
            return unfinished[0]
        taken = len(self._state.results) + len(self._under_way)
        return None if self._schedule.is_over(taken) else ANY_ROUND

    def _restore_own(self) -> None:
        """Tell a shared study of rounds that it has lost and this folder's games tell of."""
        finished = self._study.finished()
        for one in self._schedule.rounds:
            if one.number in finished or one.number in self._state.results:
                continue
            stored = self._games.stored_pairs(one)
            if len(stored) == one.settings_pairs and self._study.trial_of(one.number) is None:
                results = tuple((pair.settings, self._games.counts(pair)) for pair in stored)
                self._study.add_lost(RoundResult(one.number, self._state.design().centre, results), 0.0, None)

    def _lay_out(self) -> bool:
        """Lay out another round; False if there is none to be played."""
        asked = self._next_round()
        if asked is None:
            return False
        if self._spec.stop_below and not self._state.is_left_to_gain(self._spec.stop_below):
            self._is_stopped_early = True
            return False
        if self._run.stop.is_set() and not self._has_games_from(asked):
            self._is_stopped = True
            return False
        design, rounds = self._state.design(), self._schedule.rounds
        is_any = asked == ANY_ROUND
        number, values, start = self._study.ask(
            design.centre, design.plain(), None if is_any else asked, self._games.begun(rounds) if is_any else ()
        )
        if number >= len(rounds):  # every round of a shared study has somebody who plays or has played it
            self._study.give_up(number)
            return False
        pairs = self._designed(rounds[number], values, RoundDesign.from_plain(values, start))
        one = _RoundUnderWay(number, values, pairs, self._games.missing_keys(pairs))
        self._under_way.append(one)
        self._not_begun.append(one)
        return True

    def _take_up(self, one: _RoundUnderWay) -> None:
        """Learn from a round all of whose games are there, and tell Optuna of it."""
        if one in self._not_begun:  # its games are all of an earlier run
            self._not_begun.remove(one)
        results = tuple((pair.settings, self._games.counts(pair)) for pair in one.pairs)
        result = RoundResult(one.number, one.values, results)
        self._add_result(result)
        self._state.refit(is_last=False)
        end = self._note_end(result)
        self._schedule.record_ended(len(self._state.results))  # before Optuna knows, whose trials stay as they are
        if not self._is_stopped:  # otherwise a sampler of Optuna's would know more of the next round than it should
            value = min(max(end.elo, -MAX_VALUE), MAX_VALUE)
            self._study.tell(result, value, {"total_pairs": end.total_pairs, DEVIATION_ATTRIBUTE: end.deviation})
        if one.number == 0 and self._games_ended and self._schedule.correct_estimate(self._seconds_per_game()):
            self._announce()
        # Settings that meet themselves or meet again from the same opening play no games.
        self._progress.done = self._progress.planned - self._schedule.missing_games(self._state.results)

    def _seconds_per_game(self) -> float:
        """From one end of a game to the next one's; what the first game waited for, such as compiling, is left out."""
        each = (self._run.store.mean_duration_ms() or 0.0) / 1000
        waited = max(0.0, self._first_ended - self._began - each)
        seconds = (time.monotonic() - self._began - waited) / self._games_ended
        # Games that are told of all at once have one end: they took what they took.
        return max(seconds, each / self._run.concurrency)

    def _has_games_from(self, number: int) -> bool:
        """Whether any games are stored of that round of an own study or of what comes after it."""
        return not self._study.is_shared and self._schedule.has_games_from(number)

    def _observe_part(self, pairs: Sequence[ScheduledSettingsPair]) -> None:
        """Take up what is there of a round that was stopped, for what can be said so far."""
        for pair in filter(self._games.is_complete, pairs):
            self._state.observe(pair.settings, pair.first_pair, self._games.counts(pair))

    def _best_so_far(self) -> Decision | None:
        """What the games show before the playoff; ``None`` if there is no complete pair."""
        self._state.refit(is_last=True)
        state = self._state
        if state.model is None or state.best is None:
            return None
        return decide(state.model, state.best, region=state.observations.trust_region())

    def _designed(self, one: Round, values: Values, design: RoundDesign) -> list[ScheduledSettingsPair]:
        """The pairs of settings of a round; of another sampler than ``duel``, its trial against the base."""
        space = self._spec.space
        if self._spec.sampler != "duel":
            settings = SettingsPair(one.first_settings_pair, space.effective_values(values), space.default_values)
            return [ScheduledSettingsPair(settings, one.first_pair, one.game_pairs, one.number)]
        pairs = []
        for place in range(one.settings_pairs):
            first_pair = one.first_pair + place * one.game_pairs
            number = one.first_settings_pair + place
            settings = design_pair(space, self._spec.conditions.seed, design, number, first_pair)
            pairs.append(ScheduledSettingsPair(settings, first_pair, one.game_pairs, one.number))
        return pairs

    def _note_end(self, result: RoundResult) -> RoundEnd:
        model, deviation = self._state.model, result.deviation
        if self._spec.sampler != "duel":
            elo = result.counts.estimate().elo if result.counts.pairs else 0.0
        elif result.elo is not None:
            elo = result.elo
        else:
            elo, deviation = (0.0, None) if model is None else model.difference(
                result.values, self._spec.space.default_values
            )  # fmt: skip
        pairs = sum(one.counts.pairs for one in self._state.results.values())
        end = RoundEnd(result.number, result.values, result.counts, elo, pairs, deviation)
        self._ends[result.number] = end
        return end

    def _playoff(self) -> tuple[Decision, bool]:
        """Let the finalists meet and decide; whether that is the end of it, or it was stopped."""
        model, best = self._state.model, self._state.best
        assert model is not None
        assert best is not None
        base = self._spec.space.default_values
        pairs = self._schedule.record_playoff(len(self._state.results))
        if best == base or not pairs:
            self._progress.planned = self._progress.done
            return decide(model, best, region=self._state.observations.trust_region()), True
        rounds = self._schedule.rounds
        before = sum(rounds[number].pairs for number in self._state.results if number < len(rounds))
        series = self._schedule.legs[-1].playoff_series
        playoff = ScheduledSettingsPair(SettingsPair(0, best, base), before, pairs, series=series)
        progress = self._progress
        progress.planned = progress.done + self._games.missing_games(before, pairs, series)
        progress.say(console("elolab.tuning")("progress.playoff"))
        is_played = self._games.play([playoff])
        if not is_played:
            self._run.refuse_unavailable()
        counts = self._games.counts(playoff)
        return decide(model, best, counts.pairs, counts.estimate().score if counts.pairs else 0.5), is_played

    def _validate(self, values: Mapping[str, Value]) -> list[Verdict]:
        """Play the validations in turn, as long as they are passed; the last one may be unfinished."""
        if values == self._spec.space.default:
            return []
        verdicts: list[Verdict] = []
        table = MatchTable(self._spec.conditions.of_games, self._plan.suite, self._run)
        recommendation = recommendation_number(self._store, values)
        for number, games in enumerate(own_validations(self._plan, self._store, table, values, recommendation)):
            verdict = play_stage(self._run, games, stage_name(number))
            if verdict is not None:
                verdicts.append(verdict)
            if verdict is None or not verdict.passed:
                break
        self._further = further_verdicts(self._plan, self._store, table, values, recommendation)
        return verdicts

    # What is shown and returned

    def _words(self, columns: int) -> str:
        message = console("elolab.tuning")
        rounds = len(self._schedule.rounds)
        number = min(len(self._state.results) + 1, rounds)
        model = self._state.model
        best = self._state.best
        if model is None or best is None:
            return message("progress.round", number=number, rounds=rounds)
        if best == self._spec.space.default_values:
            return message("progress.round_base", number=number, rounds=rounds)
        mean, deviation = model.difference(best, self._spec.space.default_values)
        low, high = mean - INTERVAL_90 * deviation, mean + INTERVAL_90 * deviation
        gain = {"gain": signed(mean, 0), "low": signed(low, 0), "high": signed(high, 0)}
        whole = message("progress.round_gain", number=number, rounds=rounds, **gain)
        return first_that_fits(columns, whole, message("progress.gain", **gain))

    def _ended(self, **more: Any) -> StudyResult:
        planned = self._schedule.planned_games(len(self._state.results))
        return StudyResult(
            spec=self._spec,
            directory=self._run.directory,
            rounds=tuple(self._ends[number] for number in sorted(self._ends)),
            planned_rounds=len(self._schedule.rounds),
            games=len(self._store),
            planned=planned,
            study_games=planned - self._schedule.missing_games(self._state.results),
            games_before_validation=games_before_validation(self._store),
            model=self._state.model,
            observations=self._state.observations,
            further=self._further,
            stopped_early=self._is_stopped_early,
            **more,
        )

    def _worker(self) -> str:
        """The name of this folder among the workers of a shared study."""
        name = self._store.metadata(WORKER_METADATA)
        if name is None:
            name = uuid.uuid4().hex
            self._store.record_metadata({WORKER_METADATA: name})
        return str(name)
