"""A further validation of a finished study's recommendation, requested separately."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Unpack

from elolab.arena.play.estimates import estimated_game_seconds
from elolab.arena.play.stages import GameStage, StagePlan
from elolab.arena.play.store import STORE_NAME, Store
from elolab.arena.players.processors import Side
from elolab.arena.provenance.caveats import NO_CAVEATS, Caveats, caveats_of
from elolab.arena.run import Purpose, Run, RunError, RunOptions, check_directory, engines_of
from elolab.arena.statistics.faults import FORFEITS, FaultCount, faults_of
from elolab.engine.errors import argument
from elolab.engine.language import console
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.parameters import Value
from elolab.tuning.matches import MatchTable
from elolab.tuning.study.plan import FILE_METADATA, TuningPlan, plan_of_run, prepare_tuning, purpose_of, reach_of_stage
from elolab.tuning.study.run import RECOMMENDATION_METADATA
from elolab.tuning.study.spec import TuningSpec
from elolab.tuning.study.validation.match import VALIDATED_METADATA, Stage, Verdict, validation_series
from elolab.tuning.study.validation.preset import write_preset
from elolab.tuning.study.validation.stages import (
    further_games,
    games_to_validate,
    known_number,
    known_recommendation,
    number_of,
    own_validations,
    pairs_of_match,
    play_stage,
    recommendation_number,
    stored_of,
    stored_verdict,
)


@dataclass(frozen=True)
class ValidationResult:
    """The result of a further validation."""

    spec: TuningSpec
    directory: Path
    values: dict[str, Value]
    verdict: Verdict | None
    """The verdict so far; ``None`` before the first complete pair."""
    preset: Path | None = None
    failed: Verdict | None = None
    """The study's own match that rejected the recommendation, if any."""
    faults: tuple[FaultCount, ...] = ()
    """Faults by which players forfeited games of this validation."""
    caveats: Caveats = NO_CAVEATS

    @property
    def interrupted(self) -> bool:
        """Whether it was stopped early."""
        return self.verdict is None or self.verdict.unfinished_of is not None

    @property
    def exit_code(self) -> int:
        """0 if it passed and no match of the study failed; 1 if players also forfeited games of it by faults.

        3 if it did not pass, 130 after an interruption.
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
    """Let the recommendation of a finished study play the base again on the reserved openings.

    By default a sequential test at the tuning's limit, which has ``maximum_pairs`` at most; ``pairs`` makes it a match
    of fixed length, which counts no games of sequential tests. A recommendation that a sequential test accepts is
    written as a preset, unless a match of the study speaks against it. Given again it plays only what is missing.
    Raises ``UserError`` if the folder holds no finished study, or another engine's games.
    """
    plan, named = _recommended(directory)
    spec = plan.spec
    accepts = options.get("accept_engine_change", False)
    planned, _ = plan_of_validation(directory, limits, pairs, maximum_pairs, 1, accepts_changes=accepts)
    planned.refuse_the_impossible()
    with Run(directory, _purpose_of_validation(plan, limits), **options) as run:
        table, again = MatchTable(spec.conditions.of_games, plan.suite, run), recommendation_number(run.store, named)
        stage = further_stage(plan, run.store, limits, pairs, maximum_pairs, again)
        number = number_of(run.store, stage)
        games = further_games(plan, run.store, table, named, stage, number, again)
        planned = _planned(plan, directory, run.concurrency, stage, games.most_pairs, stored_of(games))
        run.progress.announce(planned)
        verdict = play_stage(run, games, planned.stages[0].name)
        engine = engines_of(run.store)
        counted = games.keys(0 if verdict is None else verdict.counts.pairs)
        faults = faults_of(record for record in run.store.ended_by(FORFEITS) if record.key in counted)
        caveats = caveats_of(run.store, faults, len(counted))
        # The study's own match, so far; stages after a failed one were not played.
        own = [stored_verdict(games, run.store) for games in own_validations(plan, run.store, table, named, again)]
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
        preset = write_preset(engine, spec, directory, named, verdict)
    return ValidationResult(spec, directory, named, verdict, preset, failed, faults, caveats)


def _recommended(directory: Path) -> tuple[TuningPlan, dict[str, Value]]:
    """A folder's study and its recommendation. Raises ``RunError`` if there is nothing to validate."""
    from elolab.tuning.study.spec import tuning_from_text

    recorded = values = None
    if (directory / STORE_NAME).is_file():
        with Store(directory, read_only=True) as store:
            recorded, values = store.metadata(FILE_METADATA), store.metadata(RECOMMENDATION_METADATA)
    if recorded is None or values is None:
        what = "no study in it" if recorded is None else "its study has no recommendation yet"
        raise RunError(f"{directory}: {what}", f"elolab tune SPEC.toml {argument('out', directory)} makes one")
    spec = tuning_from_text(*recorded)
    named = dict(zip(spec.space.names, values, strict=True))
    if named == spec.space.default:
        raise RunError(f"{directory}: its study recommends {spec.base_name} itself; there is nothing to validate")
    return prepare_tuning(spec), named


def plan_of_validation(
    directory: Path, limits: Limits | None, pairs: int | None, maximum_pairs: int | None, concurrency: int,
    *, accepts_changes: bool,
) -> tuple[StagePlan, Purpose]:  # fmt: skip
    """The stages of a further validation of a folder's study, and its purpose.

    Raises ``UserError`` as ``validate_again``.
    """
    plan, named = _recommended(directory)
    purpose = _purpose_of_validation(plan, limits)
    check_directory(directory, purpose, accepts_changes=accepts_changes)
    with Store(directory, read_only=True) as store:
        recommendation = known_recommendation(store.metadata(VALIDATED_METADATA) or [], named)
        stage = further_stage(plan, store, limits, pairs, maximum_pairs, recommendation)
        series = validation_series(known_number(store, stage), recommendation)
        stored = sum(outcome.pairing.series == series for outcome in store.outcomes())
    planned = _planned(plan, directory, concurrency, stage, stage.pairs, min(stored, 2 * stage.pairs))
    return replace(planned, is_bound=pairs is None), purpose


def _purpose_of_validation(plan: TuningPlan, limits: Limits | None) -> Purpose:
    """The study's purpose with only this validation's sides, because the other games are not played."""
    place = "limit" if limits is None else "--limit"
    return replace(purpose_of(plan), sides=(Side.of(place, plan.spec.conditions.player({}, limits)),))


def _planned(plan: TuningPlan, directory: Path, concurrency: int, stage: Stage, pairs: int, stored: int) -> StagePlan:
    """The plan of a further validation; the study's games predict its duration."""
    seconds = estimated_game_seconds([stage.limits])
    reach = reach_of_stage(plan, replace(stage, pairs=pairs), "--maximum-pairs {pairs}")
    games = GameStage(console("elolab.tuning")("stage.validation"), 2 * pairs, seconds, stored, reach=reach)
    study = plan_of_run(plan, directory, concurrency)
    return StagePlan(plan.spec.name, directory, (games,), concurrency, paced_by=study)


def further_stage(
    plan: TuningPlan, store: Store, limits: Limits | None, pairs: int | None, maximum_pairs: int | None,
    recommendation: int,
) -> Stage:  # fmt: skip
    """The match of a further validation: a sequential test, or a fixed length of ``pairs`` pairs."""
    spec = plan.spec
    for option, wanted in (("--pairs", pairs), ("--maximum-pairs", maximum_pairs)):
        if wanted is not None and wanted > len(plan.reserved):
            raise RunError(
                f"validate: {option} {wanted} needs as many different openings, but the validation half of the suite "
                f"{spec.conditions.openings!r} has {len(plan.reserved)}; give fewer pairs"
            )
    limits = limits or spec.conditions.limits
    if pairs is not None and pairs > (left := len(pairs_of_match(plan, store, limits, recommendation))):
        raise RunError(
            f"validate: {argument('pairs', pairs)} needs as many openings from which no sequential test has played at "
            f"{limits}, but the validation half of the suite {spec.conditions.openings!r} has {left} of them",
            f"give fewer pairs or another {argument('limit')}",
        )
    longest = pairs or maximum_pairs or spec.validation.pairs(games_to_validate(spec, store))
    longest = min(longest, len(plan.reserved))
    return Stage(limits, "sprt" if pairs is None else "fixed", longest)
