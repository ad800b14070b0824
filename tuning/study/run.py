"""A study: rounds of games that improve the parameters, a playoff, and validations that decide.

Two stores: the games (``arena.play.store``), which are the truth, and Optuna's study (``tuning.study.storage``). What
is played next is a function of the specification and of the games before, so that a study that was stopped anywhere
goes on as if it had not been, and a lost study file is made again from the games without playing one of them twice.
"""

from __future__ import annotations

import sys
import time
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, Unpack

from arena.figures.standings import error_text, signed
from arena.figures.statistics import Pentanomial
from arena.notation.openings import Suite
from arena.play.estimates import estimated_game_seconds
from arena.play.live import first_that_fits
from arena.play.stages import GameStage, StagePlan
from arena.play.store import STORE_NAME, Store
from arena.run import Purpose, Run, RunError, RunOptions, engines_of, plain, was_begun
from engine.language import console
from engine.settings.limits import Limits
from engine.settings.parameters import Value
from tuning.engine_check import EngineCheck
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
    Leg,
    Round,
    ScheduledSettingsPair,
    SettingsPairGames,
    begun_before,
    estimated_games,
    pairs_before_playoff,
    rounds_of_legs,
)
from tuning.study.spec import LENGTHS, TuningSpec, min_games
from tuning.study.validate import MAX_STAGES, Stage, ValidationGames, Verdict, play_validation, stages_of, write_preset

if TYPE_CHECKING:
    from tuning.study.storage import RoundResult, Study

KIND = "tuning"
FILE_METADATA = "tuning file"
"""The specification as it was read, and where it lay, so that it can be validated again from the folder alone."""
RECOMMENDATION_METADATA = "tuning recommendation"
VALIDATIONS_METADATA = "tuning validations"
"""What the further validations of this folder were, in the order of their places in the schedule."""
WORKER_METADATA = "tuning worker"
LEGS_METADATA = "tuning budgets"
"""The budgets that the run has had, and what those in time were taken to allow: ``tuning.study.rounds.Leg``."""
ESTIMATES_METADATA = "tuning estimates"
"""Of runs that were begun before budgets could be changed, instead: the games that a time was taken to allow."""
VALIDATED_METADATA = "tuning validated"
"""The recommendations that were validated, in turn; there is more than one after a larger budget."""
DECIDED_METADATA = "tuning decided"
"""By series: the pairs after which a sequential test had its verdict."""
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

    def stages(self, games: int, store: Store | None = None) -> tuple[GameStage, ...]:
        """What is played at most: the tuning of so many games, then the matches that validate it."""
        spec, say = self.spec, console("tuning")
        stored = _stored_by_series(store) if store is not None else {}
        own = sum(count for series, count in stored.items() if not series.startswith(VALIDATION))
        limits = estimated_game_seconds([spec.conditions.limits])
        study = GameStage(say("stage.study"), max(games, own), limits, own, spec.budget.seconds)
        return (study, *(
            self._stage_of(stage, number, stored, store)
            for number, stage in enumerate(stages_of(spec.validation, games, len(self.reserved)))
        ))  # fmt: skip

    def _stage_of(self, stage: Stage, number: int, stored: Mapping[str, int], store: Store | None) -> GameStage:
        recommendation = 0 if store is None else len(store.metadata(VALIDATED_METADATA) or []) - 1
        games = stored.get(validation_series(number, recommendation), 0)
        seconds = estimated_game_seconds([stage.limits])
        return GameStage(stage_name(number), max(2 * stage.pairs, games), seconds, games)


VALIDATION = "validation"


def validation_series(number: int, recommendation: int = 0) -> str:
    """Where the games of a validation are counted: of which recommendation of the run, and which of its validations."""
    return f"{VALIDATION} {number:02d}" + (f" of {recommendation + 1}" if recommendation > 0 else "")


def stage_name(number: int) -> str:
    """A validation's name in the plan of the run."""
    return console("tuning")("stage.slow_validation" if number else "stage.validation")


def _stored_by_series(store: Store) -> Mapping[str, int]:
    return Counter(outcome.pairing.series for outcome in store.outcomes())


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
    """Whether something was left to be played; ``decision`` is then the best that is known so far."""
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
    planned: int = 0
    """Games of the rounds and the playoff, at most."""
    study_games: int = 0
    """How many of these are stored."""
    further: tuple[Verdict, ...] = ()
    """Of validations that were asked for apart from the study, as far as they came."""
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
        return not self.interrupted and bool(self.verdicts) and all(verdict.passed for verdict in self.verdicts)

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
    for key, pairs in (("maximum_pairs", validation.maximum_pairs), ("slow_pairs", validation.slow_pairs)):
        if pairs is not None and pairs > len(reserved):
            raise RunError(
                f"{spec.conditions.source}: [validation]: {key} = {pairs} needs as many different openings, but the "
                f"validation half of the suite {spec.conditions.openings!r} has {len(reserved)}; give fewer pairs or a "
                "larger suite"
            )
    return TuningPlan(spec, suite, openings, reserved)


def plan_of_run(plan: TuningPlan, directory: Path, concurrency: int) -> StagePlan:
    """What a run in that folder would consist of, going by what it holds."""
    budget = plan.spec.budget
    rough = estimated_game_seconds([plan.spec.conditions.limits])
    with ExitStack() as resources:
        store = None
        if (directory / STORE_NAME).is_file():
            store = resources.enter_context(Store(directory, read_only=True))
        games = budget.games
        if games is None:
            assert budget.seconds is not None
            legs = () if store is None else legs_of(store)
            known = bool(legs) and plain(legs[-1].budget) == plain(budget.content())
            games = legs[-1].games if known else max(
                min_games(plan.spec), estimated_games(budget.seconds, rough, concurrency)
            )  # fmt: skip
        return StagePlan(plan.spec.name, directory, plan.stages(games, store), concurrency)


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
    result = play_study(spec, directory, **options)
    if not result.confirmed:
        return result
    preset = write_preset(result.engine, spec, directory, result.recommended, result.verdicts[0], presets)
    return replace(result, preset=preset)


def play_study(spec: TuningSpec, directory: Path, **options: Unpack[RunOptions]) -> StudyResult:
    """``tune`` without writing a preset."""
    plan = prepare_tuning(spec)
    purpose = _purpose(plan)
    if not was_begun(directory, purpose):
        check_engine(spec, options.get("stream") or sys.stderr)
    own, whole = time.thread_time(), time.process_time()
    with Run(directory, purpose, **options) as run:
        result = StudyRun(plan, run).play()
        own, whole = time.thread_time() - own, time.process_time() - whole
        return replace(
            result, games=len(run.store), digest=run.store.digest(), engine=engines_of(run.store), own_seconds=own,
            games_seconds=max(0.0, whole - own),
        )  # fmt: skip


def _purpose(plan: TuningPlan) -> Purpose:
    spec = plan.spec
    source = spec.conditions.source
    content = {**spec.content(), "openings_digest": plan.suite.digest}
    lengths = LENGTHS if spec.storage is None else LENGTHS[1:]  # who share a study share its rounds
    return Purpose(
        KIND, content, source, lengths=lengths, more={FILE_METADATA: [spec.text, str(Path(source).resolve())]}
    )


@dataclass(frozen=True)
class ValidationResult:
    """How a further validation of a study's recommendation ended."""

    spec: TuningSpec
    directory: Path
    values: dict[str, Value]
    verdict: Verdict | None
    """As far as it came after an interruption; ``None`` before its first complete pair."""
    preset: Path | None = None
    failed: Verdict | None = None
    """The match of the study itself that spoke against the recommendation, if one did."""

    @property
    def interrupted(self) -> bool:
        """Whether it was stopped before its end."""
        return self.verdict is None or self.verdict.unfinished_of is not None

    @property
    def exit_code(self) -> int:
        """0 if it was passed and nothing speaks against it, 3 if not, 130 after an interruption."""
        if self.interrupted:
            return 130
        assert self.verdict is not None
        return 0 if self.verdict.passed and self.failed is None else 3


def validate_again(
    directory: Path,
    limits: Limits | None,
    pairs: int | None,
    maximum_pairs: int | None = None,
    *,
    presets: Path | None = None,
    **options: Unpack[RunOptions],
) -> ValidationResult:
    """Let the recommendation of a finished study play the base again on the reserved openings.

    By default a sequential test at the tuning's limit, which has ``maximum_pairs`` at most; ``pairs`` makes it a match
    of fixed length. A recommendation
    that a sequential test accepts is written as a preset, unless a match of the study speaks against it. Given again it
    plays only what is missing. Raises ``UserError`` if the folder holds no finished study, or another engine's games.
    """
    plan, named = _recommended(directory)
    spec = plan.spec
    with Run(directory, _purpose(plan), **options) as run:
        stage = further_stage(plan, run.store, limits, pairs, maximum_pairs)
        table, again = MatchTable(spec.conditions.of_games, plan.suite, run), _recommendation_number(run.store, named)
        number = _number_of(run.store, stage)
        games = ValidationGames(spec, table, plan.reserved, named, stage, validation_series(number, again))
        title = console("tuning")("stage.validation")
        planned = GameStage(title, 2 * games.most_pairs, estimated_game_seconds([stage.limits]), stored_of(games))
        run.progress.announce(StagePlan(spec.name, directory, (planned,), run.concurrency))
        verdict = _play_stage(run, games, title)
        engine = engines_of(run.store)
        # The study's own, as far as it came: a stage after a failed one was not played.
        own = [_stored_verdict(games, run.store) for games in _own_validations(plan, run.store, table, named, again)]
    if verdict is not None and verdict.unfinished_of is not None:
        return ValidationResult(spec, directory, named, verdict)
    # Of the same kind of match at the same limit the new one is the last word.
    failed = next(
        (
            one for one in own
            if one is not None and one.unfinished_of is None and verdict is not None and not one.passed
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


def plan_of_validation(
    directory: Path, limits: Limits | None, pairs: int | None, maximum_pairs: int | None, concurrency: int
) -> StagePlan:
    """What a further validation of a folder's study would consist of."""
    plan, _ = _recommended(directory)
    with Store(directory, read_only=True) as store:
        stage = further_stage(plan, store, limits, pairs, maximum_pairs)
    seconds = estimated_game_seconds([stage.limits])
    planned = GameStage(console("tuning")("stage.validation"), 2 * stage.pairs, seconds)
    return StagePlan(plan.spec.name, directory, (planned,), concurrency, is_bound=pairs is None)


def further_stage(
    plan: TuningPlan, store: Store, limits: Limits | None, pairs: int | None, maximum_pairs: int | None
) -> Stage:
    """The match of a further validation: a sequential test unless it is to have so many ``pairs``."""
    spec = plan.spec
    longest = pairs or maximum_pairs or spec.validation.pairs(_games_to_validate(spec, store))
    longest = min(longest, len(plan.reserved))
    return Stage(limits or spec.conditions.limits, "sprt" if pairs is None else "fixed", longest)


def _own_validations(
    plan: TuningPlan, store: Store, table: MatchTable, values: Mapping[str, Value], recommendation: int
) -> list[ValidationGames]:
    """The validations that belong to the study itself."""
    stages = stages_of(plan.spec.validation, _games_to_validate(plan.spec, store), len(plan.reserved))
    return [
        ValidationGames(plan.spec, table, plan.reserved, values, stage, validation_series(number, recommendation))
        for number, stage in enumerate(stages)
    ]


def _further_verdicts(
    plan: TuningPlan, store: Store, table: MatchTable, values: Mapping[str, Value], recommendation: int
) -> tuple[Verdict, ...]:
    """What the validations have shown that were asked for apart from the study."""
    verdicts = []
    for number, (limits, kind) in enumerate(store.metadata(VALIDATIONS_METADATA) or (), start=MAX_STAGES):
        stage = Stage(Limits.parse(limits), kind, 1)
        series = validation_series(number, recommendation)
        verdicts.append(
            _stored_verdict(ValidationGames(plan.spec, table, plan.reserved, values, stage, series), store)
        )
    return tuple(verdict for verdict in verdicts if verdict is not None and verdict.unfinished_of is None)


def _games_to_validate(spec: TuningSpec, store: Store) -> int:
    """The games of a tuning from which the length of its validation follows: of a budget in time, those it allowed."""
    legs = legs_of(store)
    return spec.budget.games or (legs[-1].games if legs else min_games(spec))


def _recommendation_number(store: Store, values: Mapping[str, Value]) -> int:
    """Which of the run's recommendations this is, from 0 on; a new one is recorded."""
    known = store.metadata(VALIDATED_METADATA) or []
    wanted = list(values.values())
    if wanted not in known:
        known.append(wanted)
        store.record_metadata({VALIDATED_METADATA: known})
    return int(known.index(wanted))


def stored_of(games: ValidationGames) -> int:
    """Games of a validation that are there."""
    return 2 * games.most_pairs - games.missing_games


def _stored_verdict(games: ValidationGames, store: Store) -> Verdict | None:
    """What the stored games of a validation show; ``None`` without a complete pair."""
    decided = (store.metadata(DECIDED_METADATA) or {}).get(games.series)
    return play_validation(games, lambda match: not games.table.missing_games([match]), decided_after=decided)


def _play_stage(run: Run, games: ValidationGames, name: str) -> Verdict | None:
    """Play a validation and show how it goes; unfinished, or ``None`` without a complete pair, if it was stopped."""
    progress, stage = run.progress, games.stage
    decided = run.store.metadata(DECIDED_METADATA) or {}
    words = console("tuning")("progress.validation", limit=stage.limits)
    progress.begin(2 * games.most_pairs, words, is_bound=stage.kind == "sprt", stage=name)

    def play(match: Match) -> bool:
        progress.done += 2 * match.pairs - games.table.missing_games([match])
        return games.table.play([match])

    def show(verdict: Verdict) -> None:
        progress.say(lambda columns: validation_words(verdict, columns))

    verdict = play_validation(games, play, show, decided.get(games.series))
    run.refuse_unavailable()
    test = None if verdict is None or verdict.unfinished_of is not None else verdict.test
    if verdict is not None and test is not None and test.verdict != "undecided":
        run.store.record_metadata({DECIDED_METADATA: {**decided, games.series: verdict.counts.pairs}})
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
        self._legs = self._planned_legs()
        self._rounds = rounds_of_legs(self._spec, self._legs)
        self._state = _StudyState(Observations(self._spec.space))
        self._study: Study = Study(self._spec, run.directory, self._worker())
        self._ends: dict[int, RoundEnd] = {}
        self._seconds_before = float(run.store.metadata(SECONDS_METADATA) or 0.0)
        self._started = time.monotonic()
        self._further: tuple[Verdict, ...] = ()
        self._is_given_out = False
        """Whether every round of a shared study has somebody who plays or has played it."""

    # The schedule

    def _planned_legs(self) -> tuple[Leg, ...]:
        """The budgets that the run has had, the last one being what it is asked for now."""
        legs, wanted = legs_of(self._store, (self._run.recorded or {}).get("budget")), self._spec.budget
        if not legs:
            legs = (Leg(self._games_allowed(0), wanted.content()),)
        elif plain(legs[-1].budget) != plain(wanted.content()):
            return self._with_other_budget(legs)
        self._store.record_metadata({LEGS_METADATA: [asdict(leg) for leg in legs]})
        return legs

    def _with_other_budget(self, legs: tuple[Leg, ...]) -> tuple[Leg, ...]:
        """Go on under another budget: the rounds that were begun stay, and a playoff if no round comes after it."""
        before = rounds_of_legs(self._spec, legs)
        played = sum(series == "" or series.startswith(PLAYOFF_SERIES) for series in self._series())
        games = self._games_allowed(played)
        begun, last = begun_before(before, self._games, pairs_before_playoff(games))
        leg = Leg(games, self._spec.budget.content(), begun, last, legs[-1].playoffs)
        playoff = self._store.metadata(PLAYOFF_METADATA)
        more = games > legs[-1].games and len(rounds_of_legs(self._spec, (*legs, leg))) > begun
        if playoff is not None and more:
            leg, playoff = replace(leg, playoffs=leg.playoffs + 1), None
        legs = (*legs, leg)
        changed = {LEGS_METADATA: [asdict(leg) for leg in legs], PLAYOFF_METADATA: playoff}
        self._store.record_metadata(changed)
        return legs

    def _series(self) -> Iterator[str]:
        return (outcome.pairing.series for outcome in self._store.outcomes())

    def _games_allowed(self, played: int) -> int:
        """The budget in games, or what its time is taken to allow: by the games that were played, or rough figures."""
        budget, spent = self._spec.budget, float(self._store.metadata(SECONDS_METADATA) or 0.0)
        if budget.games is not None:
            return budget.games
        assert budget.seconds is not None
        if played and spent:
            return max(min_games(self._spec), estimated_games(budget.seconds, spent / played, 1))
        each = estimated_game_seconds([self._spec.conditions.limits])
        return max(min_games(self._spec), estimated_games(budget.seconds, each, self._run.concurrency))

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
        budget = self._spec.budget.seconds
        if budget is None or len(self._legs) != 1:
            return
        games = estimated_games(budget, seconds, 1)
        games = max(games, min_games(self._spec), 4 * done.pairs)
        self._legs = (*self._legs, Leg(games, self._spec.budget.content(), 1))
        self._store.record_metadata({LEGS_METADATA: [asdict(leg) for leg in self._legs]})
        self._rounds = rounds_of_legs(self._spec, self._legs)
        self._announce()

    def _announce(self) -> None:
        """Say what is played at most, and show how far the tuning is."""
        spec, progress = self._spec, self._progress
        stages = self._plan.stages(self._legs[-1].games, self._store)
        progress.announce(StagePlan(spec.name, self._run.directory, stages, self._run.concurrency))
        planned = self._planned_games()
        progress.begin(planned, self._words, done=planned - self._missing_games(), stage=stages[0].name)

    def _planned_games(self) -> int:
        """Games of the rounds and the playoff."""
        return 2 * (sum(one.pairs for one in self._rounds) + self._playoff_pairs())

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
        games = self._spec.budget.games
        if games is not None:
            room = games // 2 - sum(one.pairs for one in self._rounds)  # less, if a larger budget has left too little
            return max(0, min(room, games // 2 - pairs_before_playoff(games)))
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
        self._announce()
        stopped_early = False
        while True:
            number = self._next_round()
            if number is None:
                break
            if self._is_little_left():
                stopped_early = True
                break
            if not self._play_round(number):
                return self._ended(interrupted=True, decision=self._best_so_far())
        if self._study.is_shared:
            self._read_all_rounds()
            others = self._study.others_unfinished()
            if others:
                return self._ended(waiting_for=tuple(others))
        self._refit(is_last=True)
        self._store.record_metadata({SECONDS_METADATA: self._spent()})
        if self._state.model is None:
            return self._ended(decision=None)
        decision, is_decided = self._playoff()
        if not is_decided:
            return self._ended(interrupted=True, decision=decision, stopped_early=stopped_early)
        self._store.record_metadata({RECOMMENDATION_METADATA: list(decision.values)})
        verdicts = self._validate(dict(zip(self._spec.space.names, decision.values, strict=True)))
        interrupted = self._run.is_interrupted or any(one.unfinished_of is not None for one in verdicts)
        return self._ended(
            interrupted=interrupted, decision=decision, verdicts=tuple(verdicts), stopped_early=stopped_early
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
        if self._run.stop.is_set() and not self._has_games_from(asked):
            self._run.is_interrupted = True
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
            self._observe_part(pairs)
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

    def _has_games_from(self, number: int) -> bool:
        """Whether any games are stored of that round of an own study or of what comes after it."""
        if number < 0 or self._study.is_shared:
            return False
        return bool(self._store.metadata(PLAYOFF_METADATA) or self._games.begun(self._rounds[number:]))

    def _observe_part(self, pairs: Sequence[ScheduledSettingsPair]) -> None:
        """Take up what is there of a round that was stopped, for what can be said so far."""
        for pair in filter(self._games.is_complete, pairs):
            counts = self._games.counts(pair)
            if counts.pairs:
                self._state.observations.add(pair.settings.first, pair.settings.second, counts)

    def _best_so_far(self) -> Decision | None:
        """What the games show before the playoff; ``None`` if there is no complete pair."""
        self._refit(is_last=True)
        state = self._state
        return None if state.model is None or state.best is None else decide(state.model, state.best)

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

    def _playoff(self) -> tuple[Decision, bool]:
        """Let the finalists meet and decide; whether that is the end of it, or it was stopped."""
        model, best = self._state.model, self._state.best
        assert model is not None
        assert best is not None
        base = self._spec.space.default_values
        pairs = self._playoff_pairs()
        self._store.record_metadata({PLAYOFF_METADATA: [len(self._state.results), pairs]})
        if best == base or not pairs:
            self._progress.planned = self._progress.done
            return decide(model, best), True
        before = sum(self._rounds[number].pairs for number in self._state.results if number < len(self._rounds))
        series = self._legs[-1].playoff_series
        playoff = ScheduledSettingsPair(SettingsPair(0, best, base), before, pairs, series=series)
        progress = self._progress
        progress.planned = progress.done + self._games.missing_games(before, pairs, series)
        progress.say(console("tuning")("progress.playoff"))
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
        recommendation = _recommendation_number(self._store, values)
        for number, games in enumerate(_own_validations(self._plan, self._store, table, values, recommendation)):
            verdict = _play_stage(self._run, games, stage_name(number))
            if verdict is not None:
                verdicts.append(verdict)
            if verdict is None or not verdict.passed:
                break
        self._further = _further_verdicts(self._plan, self._store, table, values, recommendation)
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
        whole = message("progress.round_gain", number=number, rounds=rounds, **gain)
        return first_that_fits(columns, whole, message("progress.gain", **gain))

    def _ended(self, **more: Any) -> StudyResult:
        return StudyResult(
            spec=self._spec,
            directory=self._run.directory,
            rounds=tuple(self._ends[number] for number in sorted(self._ends)),
            planned_rounds=len(self._rounds),
            games=len(self._store),
            planned=self._planned_games(),
            study_games=self._planned_games() - self._missing_games(),
            model=self._state.model,
            observations=self._state.observations,
            further=self._further,
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


def validation_words(verdict: Verdict, columns: int) -> str:
    """A validation so far, for the live line."""
    message, elo, test = console("tuning"), signed(verdict.elo), verdict.test
    if test is None:
        return message("progress.validation_match", elo=elo, error=error_text(verdict.estimate.elo_error))
    ratio = {"ratio": test.log_likelihood_ratio, "lower": test.lower_bound, "upper": test.upper_bound}
    return first_that_fits(
        columns, message("progress.validation_test", elo=elo, **ratio), message("progress.ratio", **ratio)
    )


def legs_of(store: Store, budget: Mapping[str, Any] | None = None) -> tuple[Leg, ...]:
    """The budgets that a run has had; of one that was begun before they could be changed, the one recorded then."""
    recorded = store.metadata(LEGS_METADATA)
    if recorded is not None:
        return tuple(Leg(**leg) for leg in recorded)
    if budget is None:
        return ()
    estimates = store.metadata(ESTIMATES_METADATA) or [budget["games"]]
    return tuple(Leg(games, budget, rounds) for rounds, games in enumerate(estimates))
