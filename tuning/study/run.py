"""A study: rounds of games that improve the parameters, a playoff, and validations that decide.

Two stores: the games (``arena.play.store``), which are the truth, and Optuna's study (``tuning.study.storage``). What
is played next is a function of the specification and of the games before, so that a study that was stopped anywhere
goes on as if it had not been, and a lost study file is made again from the games without playing one of them twice.
"""

from __future__ import annotations

import sys
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, Unpack

from arena.figures.standings import signed
from arena.figures.statistics import Pentanomial
from arena.notation.openings import Suite
from arena.play.estimates import estimated_game_seconds
from arena.play.store import STORE_NAME, Store
from arena.run import Purpose, Run, RunError, RunOptions, engines_of, was_begun
from engine.language import console
from engine.settings.parameters import Value
from tuning.engine_check import EngineCheck
from tuning.keys.study import DEFAULT_MAX_PAIRS, DEFAULT_SLOW_PAIRS
from tuning.matches import Match, MatchTable, read_openings
from tuning.study.pairs_of_settings import RoundDesign, SettingsPair, design_of, design_pair, first_design
from tuning.study.playoff import INTERVAL_90, SHARE, Decision, decide
from tuning.study.response import (
    Observations,
    ResponseModel,
    Values,
    combinations,
    expected_remaining_gain,
    fit,
    maximum,
)
from tuning.study.rounds import (
    PLAYOFF_SERIES,
    Round,
    ScheduledSettingsPair,
    SettingsPairGames,
    estimated_games,
    pairs_before_playoff,
    rounds_of,
)
from tuning.study.spec import TuningSpec, min_games
from tuning.study.validate import MAX_STAGES, Stage, Verdict, play_validation, stages_of, write_preset

if TYPE_CHECKING:
    from engine.settings.limits import Limits
    from tuning.study.storage import RoundResult, Study

KIND = "tuning"
FILE_METADATA = "tuning file"
"""The specification as it was read, and where it lay, so that it can be validated again from the folder alone."""
RECOMMENDATION_METADATA = "tuning recommendation"
VALIDATIONS_METADATA = "tuning validations"
"""What the further validations of this folder were, in the order of their places in the schedule."""
WORKER_METADATA = "tuning worker"
ESTIMATES_METADATA = "tuning estimates"
"""Of a budget in time: the games it was taken to allow, before and after the first round."""
METHOD_METADATA = "tuning method"
METHOD = "duels around the model's maximum"
"""The method that designed a run's settings pairs: another version of it cannot go on with the run."""
SECONDS_METADATA = "tuning seconds"
PLAYOFF_METADATA = "tuning playoff"
"""How many rounds were played when the playoff began, and its pairs."""
REFIT_GROWTH = 1.05
"""The model is fitted again when there are so many times the results of the last fit."""
MAX_COMBINATIONS = 16
MAX_VALUE = 1000.0
"""Elo: what is reported to Optuna for a trial that won or lost every pair."""


@dataclass(frozen=True)
class TuningPlan:
    """A study ready to run."""

    spec: TuningSpec
    suite: Suite
    openings: tuple[int, ...]
    """Places in the suite of the tuning's openings, all of the tournament half."""
    reserved: tuple[int, ...]
    """The same of the validations' openings, all of the half reserved for them."""

    @property
    def games(self) -> int | None:
        """Games of the tuning; ``None`` for a budget in time."""
        return self.spec.budget.games


@dataclass(frozen=True)
class RoundEnd:
    """How things stood when a round had ended."""

    number: int
    values: Values
    """The set at the centre when it began, or the trial's."""
    counts: Pentanomial
    """From the view of each settings pair's first set."""
    elo: float
    """What the model of the time made of ``values`` against the base; of a trial, its own observed Elo."""
    pairs: int
    """Of the study so far."""


@dataclass(frozen=True)
class StudyResult:
    """How a run of a study ended."""

    spec: TuningSpec
    directory: Path
    rounds: tuple[RoundEnd, ...]
    planned_rounds: int
    games: int
    """Games in the store."""
    interrupted: bool = False
    waiting_for: tuple[int, ...] = ()
    """Rounds that other workers of a shared study are still playing."""
    stopped_early: bool = False
    """Whether the study ended before its budget because little was left to gain."""
    decision: Decision | None = None
    model: ResponseModel | None = None
    observations: Observations | None = None
    verdicts: tuple[Verdict, ...] = ()
    """Of the validations in turn; none if the recommendation is the base itself."""
    preset: Path | None = None
    """Where a validated recommendation was written."""
    digest: str = ""
    """Digest of all games."""
    engine: str = ""
    """Identity of the engine, or of several: ``arena.run.engines_of``."""
    own_seconds: float = 0.0
    """Processor time of this run outside the games: of the thread that decides what is played and keeps the books."""
    games_seconds: float = 0.0
    """Processor time of all its other threads, which play the built-in engine's games."""

    @property
    def recommended(self) -> dict[str, Value]:
        """The recommended values by name."""
        assert self.decision is not None
        return dict(zip(self.spec.space.names, self.decision.values, strict=True))

    @property
    def confirmed(self) -> bool:
        """Whether every validation speaks for the recommendation."""
        return bool(self.verdicts) and all(verdict.passed for verdict in self.verdicts)

    @property
    def exit_code(self) -> int:
        """0 if a gain was confirmed, 3 if not, 1 while other workers play, 130 after an interruption."""
        if self.interrupted:
            return 130
        if self.waiting_for:
            return 1
        return 0 if self.confirmed else 3


def prepare_tuning(spec: TuningSpec) -> TuningPlan:
    """Read the openings and check the sampler. Raises ``UserError``."""
    from tuning.study.sampler import check_sampler

    check_sampler(spec.sampler, spec.conditions.source)
    suite, openings = read_openings(spec.conditions, "tournament", None)
    _, reserved = read_openings(spec.conditions, "validation", None)
    validation = spec.validation
    for key, pairs, usual in (
        ("maximum_pairs", validation.maximum_pairs, DEFAULT_MAX_PAIRS),
        ("slow_pairs", validation.slow_pairs, DEFAULT_SLOW_PAIRS),
    ):
        if usual != pairs > len(reserved):  # the usual ones are as many as there are
            raise RunError(
                f"{spec.conditions.source}: [validation]: {key} = {pairs} needs as many different openings, but the "
                f"validation half of the suite {spec.conditions.openings!r} has {len(reserved)}; give fewer pairs or a "
                "larger suite"
            )
    return TuningPlan(spec, suite, openings, reserved)


def check_engine(spec: TuningSpec, stream: TextIO) -> None:
    """Start an external engine and ask whether it takes the ends of all ranges and every choice.

    Raises ``UserError`` if it does not; remarks go to ``stream``.
    """
    if spec.engine is None:
        return
    check = EngineCheck(spec.conditions)
    check.compare_builds(stream)
    base = spec.conditions.base_values
    check.effective(base)
    for dimension in spec.space.dimensions:
        for value in dimension.choices or (dimension.low, dimension.high):
            check.effective({**base, dimension.name: value})


def tune(
    spec: TuningSpec, directory: Path, *, presets: Path | None = None, **options: Unpack[RunOptions]
) -> StudyResult:
    """Run or resume a study in its folder: rounds, playoff, validations, preset.

    With a budget in games nothing but times depends on the concurrency. A validated recommendation is
    written to the folder ``presets`` (default: ``configs/engines`` if there is a ``configs`` here, else the run's
    folder). Raises ``UserError`` if the folder belongs to another run or engine, the
    storage cannot be reached, or the disk is full.
    """
    plan = prepare_tuning(spec)
    purpose = _purpose(plan)
    if not was_begun(directory, purpose):
        check_engine(spec, options.get("stream") or sys.stderr)
    own, whole = time.thread_time(), time.process_time()
    with Run(directory, purpose, **options) as run:
        result = StudyRun(plan, run).play()
        own, whole = time.thread_time() - own, time.process_time() - whole
        result = replace(
            result, games=len(run.store), digest=run.store.digest(), engine=engines_of(run.store), own_seconds=own,
            games_seconds=max(0.0, whole - own),
        )  # fmt: skip
    if result.interrupted or not result.confirmed:
        return result
    return replace(
        result, preset=write_preset(result.engine, spec, directory, result.recommended, result.verdicts[0], presets)
    )


def _purpose(plan: TuningPlan) -> Purpose:
    spec = plan.spec
    source = spec.conditions.source
    content = {**spec.content(), "openings_digest": plan.suite.digest}
    return Purpose(KIND, content, source, more={FILE_METADATA: [spec.text, str(Path(source).resolve())]})


@dataclass(frozen=True)
class ValidationResult:
    """How a further validation of a study's recommendation ended."""

    spec: TuningSpec
    directory: Path
    values: dict[str, Value]
    verdict: Verdict | None
    """``None`` after an interruption."""
    preset: Path | None = None
    failed: Verdict | None = None
    """The match of the study itself that spoke against the recommendation, if one did."""

    @property
    def exit_code(self) -> int:
        """0 if it was passed and nothing speaks against it, 3 if not, 130 after an interruption."""
        if self.verdict is None:
            return 130
        return 0 if self.verdict.passed and self.failed is None else 3


def validate_again(
    directory: Path,
    limits: Limits | None,
    pairs: int | None,
    *,
    presets: Path | None = None,
    **options: Unpack[RunOptions],
) -> ValidationResult:
    """Let the recommendation of a finished study play the base again on the reserved openings.

    By default a sequential test at the tuning's limit; ``pairs`` makes it a match of fixed length. A recommendation
    that a sequential test accepts is written as a preset, unless a match of the study speaks against it. Given again it
    plays only what is missing. Raises ``UserError`` if the folder holds no finished study, or another engine's games.
    """
    plan, named = _recommended(directory)
    spec = plan.spec
    longest = spec.validation.maximum_pairs if pairs is None else pairs
    stage = Stage(limits or spec.conditions.limits, "sprt" if pairs is None else "fixed", longest)
    with Run(directory, _purpose(plan), **options) as run:
        table = MatchTable(spec.conditions.of_games, plan.suite, run)
        verdict = _play_stage(plan, run, table, named, stage, _number_of(run.store, stage))
        engine = engines_of(run.store)
        # The study's own, as far as it came: a stage after a failed one was not played.
        own = [
            play_validation(
                spec, table, plan.reserved, named, stage, number, lambda match: not table.missing_games([match])
            )
            for number, stage in enumerate(stages_of(spec.validation))
        ]
    # Of the same kind of match at the same limit the new one is the last word.
    failed = next(
        (
            one for one in own
            if one is not None and verdict is not None and not one.passed
            and (one.kind, one.limits) != (verdict.kind, verdict.limits)
        ),
        None,
    )  # fmt: skip
    preset = None
    if verdict is not None and verdict.kind == "sprt" and verdict.passed and failed is None:
        preset = write_preset(engine, spec, directory, named, verdict, presets)
    return ValidationResult(spec, directory, named, verdict, preset, failed)


def _recommended(directory: Path) -> tuple[TuningPlan, dict[str, Value]]:
    """The study of a folder and what it recommends. Raises ``RunError`` if there is nothing to validate."""
    from tuning.study.spec import tuning_from_text

    recorded = values = None
    if (directory / STORE_NAME).is_file():
        with Store(directory, read_only=True) as store:
            recorded, values = store.metadata(FILE_METADATA), store.metadata(RECOMMENDATION_METADATA)
    if recorded is None or values is None:
        what = "no study in it" if recorded is None else "its study has no recommendation yet"
        raise RunError(f"{directory}: {what}; elolab tune SPEC.toml --out {directory} makes one")
    spec = tuning_from_text(*recorded)
    named = dict(zip(spec.space.names, values, strict=True))
    if named == spec.space.default:
        raise RunError(f"{directory}: its study recommends {spec.base_name} itself; there is nothing to validate")
    return prepare_tuning(spec), named


def _play_stage(
    plan: TuningPlan, run: Run, table: MatchTable, values: Mapping[str, Value], stage: Stage, number: int
) -> Verdict | None:
    """Play a validation and show how it goes; ``None`` if it was stopped."""
    progress = run.progress
    games = 2 * min(stage.pairs, len(plan.reserved))
    words = console("tuning")("progress.validation", limit=stage.limits)
    progress.begin(games, words, is_bound=stage.kind == "sprt")

    def play(match: Match) -> bool:
        stored = 2 * match.pairs - table.missing_games([match])
        progress.done += stored
        return table.play([match])

    def show(verdict: Verdict) -> None:
        progress.words = lambda columns: validation_words(verdict)

    verdict = play_validation(plan.spec, table, plan.reserved, values, stage, number, play, show)
    run.refuse_unavailable()
    return verdict


def _number_of(store: Store, stage: Stage) -> int:
    """Which of the folder's validations a further one is; those of the study itself come first."""
    wanted = [str(stage.limits), stage.kind]
    known = store.metadata(VALIDATIONS_METADATA) or []
    if wanted not in known:
        known.append(wanted)
        store.record_metadata({VALIDATIONS_METADATA: known})
    return MAX_STAGES + int(known.index(wanted))


@dataclass
class _StudyState:
    """The results of the rounds so far, and the model fitted to them."""

    observations: Observations
    results: dict[int, RoundResult] = field(default_factory=dict)
    seen: set[tuple[frozenset[Values], int]] = field(default_factory=set)
    """Settings pairs and the opening they began with: a repeated one is the same games again."""
    fitted_results: int = 0
    """Results that the last fit was made of."""
    model: ResponseModel | None = None
    best: Values | None = None
    """The maximum of the model inside what was sampled when it was fitted."""


class StudyRun:
    """One run of a study: round after round, then the playoff and the validations."""

    def __init__(self, plan: TuningPlan, run: Run) -> None:
        from tuning.study.storage import Study

        self._plan, self._spec, self._run = plan, plan.spec, run
        self._store, self._progress = run.store, run.progress
        self._games = SettingsPairGames(self._spec, plan.suite, plan.openings, run)
        self._check_method()
        self._rounds = self._planned()
        self._state = _StudyState(Observations(self._spec.space))
        self._study: Study = Study(self._spec, run.directory, self._worker())
        self._ends: dict[int, RoundEnd] = {}
        self._seconds_before = float(run.store.metadata(SECONDS_METADATA) or 0.0)
        self._started = time.monotonic()
        self._is_given_out = False
        """Whether every round of a shared study has somebody who plays or has played it."""

    # The schedule

    def _planned(self) -> tuple[Round, ...]:
        """The rounds of the budget, or of what a time is taken to allow."""
        budget = self._spec.budget
        if budget.games is not None:
            return rounds_of(self._spec, budget.games)
        estimates = self._store.metadata(ESTIMATES_METADATA)
        if estimates is None:
            assert budget.seconds is not None
            each = estimated_game_seconds([self._spec.conditions.limits])
            games = estimated_games(budget.seconds, each, self._run.concurrency)
            estimates = [max(min_games(self._spec), games)]
            self._store.record_metadata({ESTIMATES_METADATA: estimates})
        first = rounds_of(self._spec, estimates[0])
        return first if len(estimates) == 1 else rounds_of(self._spec, estimates[1], first[:1])

    def _check_method(self) -> None:
        """Raise ``RunError`` if the run was begun by another version of the method."""
        if self._spec.sampler != "duel":
            return
        if len(self._store) and self._store.metadata(METHOD_METADATA) != METHOD:
            raise RunError(
                f"{self._run.directory}: was begun by another version of elolab, which paired its settings otherwise; "
                "finish it with that version, or give another folder with --out"
            )
        self._store.record_metadata({METHOD_METADATA: METHOD})

    def _correct_estimate(self, done: Round, seconds: float) -> None:
        """After the first round of a budget in time: plan the rest from the ``seconds`` that a game took."""
        estimates = self._store.metadata(ESTIMATES_METADATA)
        budget = self._spec.budget.seconds
        if budget is None or len(estimates) != 1:
            return
        games = estimated_games(budget, seconds, 1)
        games = max(games, min_games(self._spec), 4 * done.pairs)
        self._store.record_metadata({ESTIMATES_METADATA: [estimates[0], games]})
        self._rounds = self._planned()
        self._progress.planned = 2 * (sum(one.pairs for one in self._rounds) + self._playoff_pairs())

    def _spent(self) -> float:
        """Seconds of this and of earlier runs."""
        return self._seconds_before + time.monotonic() - self._started

    def _is_over(self, finished: int) -> bool:
        """Whether the budget ends before the next round."""
        if finished >= len(self._rounds):
            return True
        budget = self._spec.budget.seconds
        if budget is None or not finished:
            return False
        playoff = self._store.metadata(PLAYOFF_METADATA)
        if playoff is not None:
            return finished >= int(playoff[0])
        is_stored = self._games.missing_games(self._rounds[finished].first_pair, 1) == 0
        return not is_stored and self._spent() >= budget * (1 - SHARE)

    def _missing_games(self) -> int:
        """Games that are still to be played, validations not counted."""
        finished = self._state.results
        rounds = (one for one in self._rounds if one.number not in finished)
        return sum(self._games.missing_games(one.first_pair, one.pairs) for one in rounds) + 2 * self._playoff_pairs()

    def _playoff_pairs(self) -> int:
        recorded = self._store.metadata(PLAYOFF_METADATA)
        if recorded is not None:
            return int(recorded[1])
        if self._spec.budget.games is not None:
            return self._spec.budget.games // 2 - pairs_before_playoff(self._spec.budget.games)
        rounds = list(self._rounds)[: len(self._state.results) or None]
        return max(3, round(sum(one.pairs for one in rounds) * SHARE / (1 - SHARE)))

    # Results and model

    def _add_result(self, result: RoundResult) -> None:
        """Add a finished round to the observations, and to the results by number."""
        state = self._state
        state.results[result.number] = result
        if result.number < len(self._rounds):
            one = self._rounds[result.number]
            for place, (settings, counts) in enumerate(result.results):
                opening = (one.first_pair + place * one.game_pairs) % len(self._plan.openings)
                # Either way round the games are the same.
                meeting = (frozenset((settings.first, settings.second)), opening)
                if meeting not in state.seen:
                    state.seen.add(meeting)
                    state.observations.add(settings.first, settings.second, counts)

    def _read_all_rounds(self) -> None:
        """Read the rounds of all workers of a shared study."""
        finished = self._study.finished()
        before = self._state
        if finished.keys() <= before.results.keys():
            return
        self._state = _StudyState(
            Observations(self._spec.space), fitted_results=before.fitted_results, model=before.model, best=before.best
        )
        for number in sorted(finished):
            self._add_result(finished[number])
            self._note_end(finished[number])
        self._refit(is_last=False)

    def _refit(self, *, is_last: bool) -> None:
        """Fit the model again if there is enough that is new; when depends on the number of results alone."""
        state = self._state
        if not len(state.observations):
            return
        if is_last or len(state.observations) >= REFIT_GROWTH * state.fitted_results:
            state.fitted_results = len(state.observations)
            state.model = fit(state.observations)
            space = self._spec.space
            starts = [state.best or space.default_values, *combinations(space, MAX_COMBINATIONS)]
            state.best = maximum(state.model, state.observations.trust_region(), starts)

    def _design(self) -> RoundDesign:
        """The design of the next round's settings pairs."""
        state = self._state
        if state.model is None or state.best is None:
            return first_design(self._spec.space)
        return design_of(state.model, state.best)

    # Playing

    def play(self) -> StudyResult:
        """Go through to the end, or as far as the stop flag lets."""
        missing = self._missing_games()
        planned = 2 * (sum(one.pairs for one in self._rounds) + self._playoff_pairs())
        self._progress.begin(planned, self._words, done=planned - missing)
        stopped_early = False
        while True:
            number = self._next_round()
            if number is None:
                break
            if self._is_little_left():
                stopped_early = True
                break
            if not self._play_round(number):
                return self._ended(interrupted=True)
        if self._study.is_shared:
            self._read_all_rounds()
            others = self._study.others_unfinished()
            if others:
                return self._ended(waiting_for=tuple(others))
        self._refit(is_last=True)
        self._store.record_metadata({SECONDS_METADATA: self._spent()})
        if self._state.model is None:
            return self._ended(decision=None)
        decision = self._playoff()
        if decision is None:
            return self._ended(interrupted=True)
        self._store.record_metadata({RECOMMENDATION_METADATA: list(decision.values)})
        verdicts = self._validate(dict(zip(self._spec.space.names, decision.values, strict=True)))
        return self._ended(
            interrupted=verdicts is None, decision=decision, verdicts=tuple(verdicts or ()), stopped_early=stopped_early
        )

    def _next_round(self) -> int | None:
        """The round to play now: one of ours that was begun, or a new one; ``None`` if the budget is spent."""
        if not self._study.is_shared:
            number = len(self._state.results)
            return None if self._is_over(number) else number
        self._restore_own()
        self._read_all_rounds()
        unfinished = self._study.own_unfinished()
        if unfinished:
            return unfinished[0]
        return None if self._is_given_out or self._is_over(len(self._state.results)) else -1

    def _restore_own(self) -> None:
        """Tell a shared study of rounds that it has lost and this folder's games tell of."""
        finished = self._study.finished()
        for one in self._rounds:
            if one.number in finished or one.number in self._state.results:
                continue
            stored = self._games.stored_pairs(one)
            if len(stored) == one.settings_pairs and self._study.trial_of(one.number) is None:
                results = tuple((pair.settings, self._games.counts(pair)) for pair in stored)
                self._study.add_lost(_result(one.number, self._design().centre, results), 0.0, None)

    def _is_little_left(self) -> bool:
        """Whether what is expected to remain to be gained is below the specification's threshold."""
        model = self._state.model
        best = self._state.best
        if not self._spec.stop_below or model is None or best is None or len(self._state.results) <= 1:
            return False
        region = self._state.observations.trust_region()
        return expected_remaining_gain(model, region, best) < self._spec.stop_below

    def _play_round(self, asked: int) -> bool:
        """Ask for a round, play what is missing of it, tell what came of it; False if it was stopped."""
        if self._run.stop.is_set():
            return False
        design = self._design()
        number, values, start = self._study.ask(
            design.centre, design.plain(), None if asked < 0 else asked, self._games.begun(self._rounds)
        )
        if number >= len(self._rounds):
            self._study.give_up(number)
            self._is_given_out = True
            return True
        one = self._rounds[number]
        pairs = self._designed(one, values, RoundDesign.from_plain(values, start))
        missing = self._games.missing_of(pairs)
        began = time.monotonic()
        if not self._games.play(pairs):
            self._store.record_metadata({SECONDS_METADATA: self._spent()})
            self._run.refuse_unavailable()
            return False
        results = [(pair.settings, self._games.counts(pair)) for pair in pairs]
        result = _result(number, values, tuple(results))
        self._add_result(result)
        self._refit(is_last=False)
        end = self._note_end(result)
        self._study.tell(result, end.elo, {"pairs": end.pairs})
        self._store.record_metadata({SECONDS_METADATA: self._spent()})
        if missing and number == 0:
            self._correct_estimate(one, (time.monotonic() - began) / missing)
        # Settings that meet themselves or meet again from the same opening play no games.
        self._progress.done = self._progress.planned - self._missing_games()
        return True

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
        if self._spec.sampler == "duel":
            model = self._state.model
            elo = 0.0 if model is None else float(model.gain([result.values])[0][0])
        else:
            elo = result.counts.estimate().elo if result.counts.pairs else 0.0
        end = RoundEnd(
            result.number,
            result.values,
            result.counts,
            min(max(elo, -MAX_VALUE), MAX_VALUE),
            sum(one.counts.pairs for one in self._state.results.values()),
        )
        self._ends[result.number] = end
        return end

    def _playoff(self) -> Decision | None:
        """Let the finalists meet and decide; ``None`` if it was stopped."""
        model = self._state.model
        assert model is not None
        base = self._spec.space.default_values
        best = self._state.best
        assert best is not None
        pairs = self._playoff_pairs()
        self._store.record_metadata({PLAYOFF_METADATA: [len(self._state.results), pairs]})
        if best == base:
            return decide(model, base)
        before = sum(self._rounds[number].pairs for number in self._state.results if number < len(self._rounds))
        playoff = ScheduledSettingsPair(SettingsPair(0, best, base), before, pairs, series=PLAYOFF_SERIES)
        missing = self._games.missing_games(before, pairs, PLAYOFF_SERIES)
        self._progress.begin(2 * pairs, console("tuning")("progress.playoff"), done=2 * pairs - missing)
        if not self._games.play([playoff]):
            self._run.refuse_unavailable()
            return None
        counts = self._games.counts(playoff)
        return decide(model, best, counts.pairs, counts.estimate().score if counts.pairs else 0.5)

    def _validate(self, values: Mapping[str, Value]) -> list[Verdict] | None:
        """Play the validations in turn, as long as they are passed; ``None`` if they were stopped."""
        if values == self._spec.space.default:
            return []
        verdicts: list[Verdict] = []
        table = MatchTable(self._spec.conditions.of_games, self._plan.suite, self._run)
        for number, stage in enumerate(stages_of(self._spec.validation)):
            verdict = _play_stage(self._plan, self._run, table, values, stage, number)
            if verdict is None:
                return None
            verdicts.append(verdict)
            if not verdict.passed:
                break
        return verdicts

    # What is shown and returned

    def _words(self, columns: int) -> str:
        message = console("tuning")
        rounds = len(self._rounds)
        number = min(len(self._state.results) + 1, rounds)
        model = self._state.model
        best = self._state.best
        if model is None or best is None:
            return message("progress.round", number=number, rounds=rounds)
        mean, deviation = model.difference(best, self._spec.space.default_values)
        low, high = mean - INTERVAL_90 * deviation, mean + INTERVAL_90 * deviation
        gain = {"gain": signed(mean, 0), "low": signed(low, 0), "high": signed(high, 0)}
        return message("progress.round_gain", number=number, rounds=rounds, **gain)

    def _ended(self, **more: Any) -> StudyResult:
        return StudyResult(
            spec=self._spec,
            directory=self._run.directory,
            rounds=tuple(self._ends[number] for number in sorted(self._ends)),
            planned_rounds=len(self._rounds),
            games=len(self._store),
            model=self._state.model,
            observations=self._state.observations,
            **more,
        )

    def _worker(self) -> str:
        """The name of this folder among the workers of a shared study."""
        name = self._store.metadata(WORKER_METADATA)
        if name is None:
            name = uuid.uuid4().hex
            self._store.record_metadata({WORKER_METADATA: name})
        return str(name)


def _result(number: int, values: Values, results: tuple[tuple[SettingsPair, Pentanomial], ...]) -> RoundResult:
    from tuning.study.storage import RoundResult

    return RoundResult(number, values, results)


def validation_words(verdict: Verdict) -> str:
    """A validation so far, for the live line."""
    message, elo, test = console("tuning"), signed(verdict.elo), verdict.test
    if test is None:
        error = verdict.estimate.elo_error
        return message("progress.validation_match", limit=verdict.limits, elo=elo, error=error)
    return message(
        "progress.validation_test",
        limit=verdict.limits,
        elo=elo,
        ratio=test.log_likelihood_ratio,
        lower=test.lower_bound,
        upper=test.upper_bound,
    )
