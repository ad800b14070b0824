"""Further validations of a finished study's recommendation, which the user requests afterwards."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

from elolab.arena.play.estimates import estimated_game_seconds
from elolab.arena.play.stages import GameStage, StagePlan
from elolab.arena.play.store import STORE_NAME, Store
from elolab.arena.players.processors import PlayerLoad
from elolab.arena.provenance.caveats import NO_CAVEATS, Caveats, caveats_of
from elolab.arena.run import Purpose, Run, RunError, RunOptions, check_directory, engines_of
from elolab.arena.statistics.faults import FORFEITS, FaultCount, faults_of
from elolab.engine.errors import argument
from elolab.engine.language import console
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.parameters import Value
from elolab.tuning.study.console_words import validation_name
from elolab.tuning.study.plan import (
    FILE_METADATA,
    MATCHES_FILE_METADATA,
    TuningPlan,
    plan_of_run,
    prepare_tuning,
    purpose_of,
    reach_of_validation,
    stored_by_series,
)
from elolab.tuning.study.rounds.budgets import RECOMMENDATION_METADATA
from elolab.tuning.study.study_spec import FIRST_KINDS, GAIN, TuningSpec, matches_from_mapping, tuning_from_text
from elolab.tuning.study.tuning_run import options_for
from elolab.tuning.study.validation.preset import write_preset
from elolab.tuning.study.validation.recommended_games import (
    RecommendedGames,
    games_to_validate,
    own_plans,
    pairs_of_match,
    play_validation,
    recommendation_number,
    stored_verdict,
    validation_number,
)
from elolab.tuning.study.validation.validation_games import (
    PlannedValidation,
    ValidationGames,
    Verdict,
    conclusion_of,
    horizon_of,
    validation_series,
)


@dataclass(frozen=True)
class ValidationResult:
    """The result of a further validation, which the user requested after the study."""

    spec: TuningSpec
    directory: Path
    values: dict[str, Value]
    verdict: Verdict | None
    """The verdict on the games played so far; ``None`` before the first complete game pair."""
    preset: Path | None = None
    failed: Verdict | None = None
    """Verdict of the study's own validation that rejected the recommendation; ``None`` if none rejected it."""
    faults: tuple[FaultCount, ...] = ()
    """Number of games of this validation forfeited by faults, per player and kind of fault."""
    caveats: Caveats = NO_CAVEATS

    @property
    def interrupted(self) -> bool:
        """Whether the validation was stopped before its end."""
        return self.verdict is None or self.verdict.unfinished_of is not None

    @property
    def exit_code(self) -> int:
        """Exit code of the command.

        - 0: the validation passed, and no validation of the study rejected the recommendation
        - 1: like 0, but players forfeited games of the validation by faults
        - 3: the recommendation was not confirmed
        - 130: the validation was interrupted
        """
        if self.interrupted:
            return 130
        assert self.verdict is not None
        return int(any(fault.lost for fault in self.faults)) if self.verdict.passed and self.failed is None else 3


def validate_again(
    directory: Path,
    limits: Limits | None,
    pairs: int | None,
    maximum_pairs: int | None = None,
    **options: Unpack[RunOptions],
) -> ValidationResult:
    """Validate the recommendation of a finished study again, against the base on the reserved openings.

    By default the validation is a sequential test at the tuning's search limit, with at most ``maximum_pairs`` game
    pairs. With ``pairs`` it is instead a match of fixed length, which shares no games with sequential tests. A
    recommendation that a sequential test accepts is written as a preset, unless a match of the study rejects it. A
    repeated call plays only the missing games. Raises ``UserError`` if the folder holds no finished study, or another
    engine's games.
    """
    plan, named = _recommended(directory)
    options = options_for(plan.spec, options)
    spec, accepts = plan.spec, options.get("accept_engine_change", False)
    stages, purpose = plan_of_validation(directory, limits, pairs, maximum_pairs, 1, accepts_changes=accepts)
    with Run(directory, purpose, **options) as run:
        recommended = RecommendedGames(plan, run, named)
        planned = further_validation(plan, run.store, limits, pairs, maximum_pairs, recommended.recommendation)
        games = recommended.requested(validation_number(run.store, planned, records=True), planned)
        run.progress.announce(replace(stages, concurrency=run.concurrency))
        verdict = play_validation(run, games, stages.stages[0].name)
        engine = engines_of(run.store)
        counted: set[str] = set()
        if verdict is not None and isinstance(games, ValidationGames):
            counted = games.keys(verdict.counts.pairs)
        faults = faults_of(record for record in run.store.ended_by(FORFEITS) if record.key in counted)
        caveats = caveats_of(run.store, faults, len(counted))
        if verdict is not None and verdict.unfinished_of is None:
            run.conclusion = conclusion_of([verdict], is_confirmed=verdict.passed)
        # The study's own match, so far; matches after a failed one were not played.
        own = [stored_verdict(games, run.store) for games in recommended.own()]
    if verdict is None or verdict.unfinished_of is not None:
        return ValidationResult(spec, directory, named, verdict, faults=faults, caveats=caveats)
    # A new match replaces the study's own match of the same kind at the same limit.
    failed = next(
        (
            one for one in own
            if one is not None and one.unfinished_of is None and not one.passed
            and (one.kind, one.limits) != (verdict.kind, verdict.limits)
        ),
        None,
    )  # fmt: skip
    preset = None
    if verdict.kind in FIRST_KINDS and verdict.passed and failed is None and not spec.is_by_matches:
        preset = write_preset(engine, spec, directory, named, verdict)
    return ValidationResult(spec, directory, named, verdict, preset, failed, faults, caveats)


def _recommended(directory: Path) -> tuple[TuningPlan, dict[str, Value]]:
    """The plan of the study in a folder, and its recommended values by name.

    Raises ``RunError`` if there is no recommendation, or if the base is recommended.
    """
    recorded: Any = None
    matches: Any = None
    values: Any = None
    if (directory / STORE_NAME).is_file():
        with Store(directory, read_only=True) as store:
            recorded, values = store.metadata(FILE_METADATA), store.metadata(RECOMMENDATION_METADATA)
            matches = store.metadata(MATCHES_FILE_METADATA)
    if (recorded is None and matches is None) or values is None:
        what = "no study in it" if recorded is None and matches is None else "its study has no recommendation yet"
        raise RunError(f"{directory}: {what}", f"elolab tune SPEC.toml {argument('out', directory)} makes one")
    spec = tuning_from_text(*recorded) if matches is None else matches_from_mapping(*matches)
    named = dict(zip(spec.space.names, values, strict=True))
    if named == spec.space.default:
        raise RunError(f"{directory}: its study recommends {spec.base_name} itself; there is nothing to validate")
    return prepare_tuning(spec), named


def plan_of_validation(
    directory: Path, limits: Limits | None, pairs: int | None, maximum_pairs: int | None, concurrency: int,
    *, accepts_changes: bool,
) -> tuple[StagePlan, Purpose]:  # fmt: skip
    """The planned games of a further validation, for display before it starts, and the run's specification.

    The folder's other games are a second stage without missing games; their durations predict the validation's. With
    ``accepts_changes`` another engine may continue the run. Raises ``UserError`` if the folder holds no finished study,
    or another engine's games, or if the test cannot accept a gain.
    """
    plan, named = _recommended(directory)
    # The study's purpose with only this validation's sides, because the other games are not played.
    purpose = purpose_of(plan)
    if plan.spec.is_by_matches and limits is not None:
        raise RunError(f"validate: {argument('limit', str(limits))}: a command's matches have no limit", "leave it out")
    if not plan.spec.is_by_matches:
        side = PlayerLoad.of("limit" if limits is None else "--limit", plan.spec.conditions.player({}, limits))
        purpose = replace(purpose, sides=(side,))
    check_directory(directory, purpose, accepts_changes=accepts_changes)
    with Store(directory, read_only=True) as store:
        recommendation = recommendation_number(store, named, records=False)
        planned = further_validation(plan, store, limits, pairs, maximum_pairs, recommendation)
        series = validation_series(validation_number(store, planned, records=False), recommendation)
        # Tests of a command's matches share them, whatever their series.
        is_shared = plan.spec.is_by_matches and planned.kind == GAIN
        counts = stored_by_series(store)
        stored = counts[validation_series(0) if is_shared else series]
    games, seconds = 2 * planned.pairs, estimated_game_seconds([planned.limits])
    reach = reach_of_validation(plan, planned, "--maximum-pairs {pairs}")
    unknown = plan.spec.unknown_speed([planned.limits]) if plan.spec.is_by_matches else ()
    stage = GameStage(validation_name(0), games, seconds, min(stored, games), unknown_speed=unknown, reach=reach)
    stages = StagePlan(plan.spec.name, directory, (stage,), concurrency, pairs is None)
    stages.check_attainable()
    study = plan_of_run(plan, directory, concurrency)
    usual = sum(one.stored * one.game_seconds for one in study.stages) / study.stored
    rest = counts.total() - stage.stored
    others = GameStage(console("elolab.tuning")("stage.others"), rest, usual, rest)
    return replace(stages, stages=(stage, others)), purpose


def further_validation(
    plan: TuningPlan, store: Store, limits: Limits | None, pairs: int | None, maximum_pairs: int | None,
    recommendation: int,
) -> PlannedValidation:  # fmt: skip
    """Plan a further validation of the recommendation with the index ``recommendation`` in the run.

    The validation is a sequential test: of the kind ``gain`` if the study's first validation had this kind, otherwise
    ``sprt``. With ``pairs`` it is instead a match of fixed length. Raises ``RunError`` if there are too few openings.
    """
    spec = plan.spec
    for option, wanted in (("--pairs", pairs), ("--maximum-pairs", maximum_pairs)):
        if wanted is not None and wanted > len(plan.reserved):
            raise RunError(
                f"validate: {option} {wanted} needs as many different openings, but the validation half of the suite "
                f"{spec.conditions.openings!r} has {len(plan.reserved)}",
                "give fewer pairs",
            )
    limits = limits or spec.conditions.limits
    if pairs is not None and pairs > (left := len(pairs_of_match(plan, store, limits, recommendation))):
        raise RunError(
            f"validate: {argument('pairs', pairs)} needs as many openings from which no sequential test has played at "
            f"{limits}, but the validation half of the suite {spec.conditions.openings!r} has {left} of them",
            f"give fewer pairs or another {argument('limit')}",
        )
    if pairs is not None:
        return PlannedValidation(limits, "fixed", pairs)
    openings, (own, *_) = len(plan.reserved), own_plans(plan, store, recommendation)
    if own.kind != GAIN:
        longest = maximum_pairs or spec.validation.pairs(games_to_validate(spec, store))
        return PlannedValidation(limits, "sprt", min(longest, openings))
    longest = min(maximum_pairs or own.pairs, openings)
    horizon = horizon_of(store, recommendation, limits, longest)
    test = spec.validation.gain_test(horizon)
    return PlannedValidation(limits, GAIN, (test.analyses(longest) or (longest,))[-1], horizon)
