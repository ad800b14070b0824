"""A study's run: rounds of games that improve the parameters, a playoff, and validations that decide.

The stored games (``arena.play.store``) are the source of all results. The next games depend only on the specification
and the earlier games. So an interruption changes nothing, and a lost Optuna study (``tuning.study.storage``) is rebuilt
without playing a game twice.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from elolab.arena.files import OTHER_FOLDER, replace_file
from elolab.arena.play.scores import MatchScores
from elolab.arena.play.store import STORE_NAME, Store
from elolab.arena.provenance.caveats import caveats_of
from elolab.arena.run import Run, RunError, RunOptions, check_directory, engines_of, was_begun
from elolab.arena.statistics.faults import FORFEITS, faults_of
from elolab.engine.language import console
from elolab.tuning.match_command import Match
from elolab.tuning.study.plan import (
    TuningPlan,
    check_engine,
    games_before_validation,
    prepare_tuning,
    purpose_of,
    record_end,
)
from elolab.tuning.study.playoff import Decision, decide
from elolab.tuning.study.result import STUDY_NAME, StudyResult
from elolab.tuning.study.rounds.budgets import RECOMMENDATION_METADATA, BudgetSchedule, periods_of
from elolab.tuning.study.rounds.pairs_of_settings import ScheduledSettingsPair, SettingsPair
from elolab.tuning.study.rounds.settings_pair_games import SettingsPairGames, SettingsPairResults
from elolab.tuning.study.rounds.settings_pair_matches import SettingsPairMatches
from elolab.tuning.study.state import StudyState
from elolab.tuning.study.study_spec import TuningSpec
from elolab.tuning.study.validation.preset import write_preset
from elolab.tuning.study.validation.recommended_games import further_verdicts, play_own_validations
from elolab.tuning.study.validation.validation_games import Verdict, conclusion_of

RECOMMENDED_NAME = "recommended.json"
"""Name of the file with the recommended values, if a command or a function plays the matches of the study."""
METHOD_METADATA = "tuning method"
METHOD = "duels around the mode's maximum, as wide as its curvatures let, departures at 400 to 1"
"""Name of the method by which settings pairs are drawn. A run that began with another method cannot be resumed."""


def tune(spec: TuningSpec, directory: Path, match: Match | None = None, **options: Unpack[RunOptions]) -> StudyResult:
    """Run or resume a study in its folder: rounds, playoff, validations, preset.

    With a budget in games, the concurrency affects only times. A validated recommendation is written to the folder as a
    preset. If ``match`` or the specification's command plays the matches, the recommended values so far are written to
    the file ``RECOMMENDED_NAME``. Raises ``UserError`` if the folder belongs to another run or engine, the storage
    cannot be reached, the disk is full, or a match fails.
    """
    result = play_study(spec, directory, match, **options)
    if spec.is_by_matches and result.decision is not None:
        text = json.dumps(result.recommended, ensure_ascii=False, indent=1)
        replace_file(directory / RECOMMENDED_NAME, f"{text}\n")
    if not result.confirmed or spec.is_by_matches:
        return result
    preset = write_preset(result.engine, spec, directory, result.recommended, result.verdicts[0])
    return replace(result, preset=preset)


def options_for(spec: TuningSpec, options: RunOptions) -> RunOptions:
    """The options with which to run a study. Raises ``UserError`` for an option that does not apply to its matches."""
    if not spec.is_by_matches:
        return options
    if options.get("cluster") is not None:
        raise RunError(
            f"{spec.conditions.source}: a cluster is for elolab's own games",
            "leave it out: a command reaches its machines itself",
        )
    return {**options, "accept_engine_change": True}


def play_study(
    spec: TuningSpec, directory: Path, match: Match | None = None, **options: Unpack[RunOptions]
) -> StudyResult:
    """Run or resume a study as ``tune`` does, but write no preset."""
    plan, options = prepare_tuning(spec), options_for(spec, options)
    purpose = purpose_of(plan)
    if not was_begun(directory, purpose):
        check_engine(spec, options.get("stream") or sys.stderr)
    own, whole = time.thread_time(), time.process_time()
    with Run(directory, purpose, **options) as run:
        result = _played(plan, run, match)
        if not result.interrupted and not result.waiting_for:
            run.conclusion = conclusion_of(result.verdicts, is_confirmed=result.confirmed)
            record_end(spec, run.store)
        own, whole = time.thread_time() - own, time.process_time() - whole
        faults = faults_of(run.store.ended_by(FORFEITS))
        digest = "" if spec.is_by_matches else run.store.digest()
        return replace(
            result, games=run.store.played, digest=digest, engine=engines_of(run.store), own_seconds=own,
            games_seconds=max(0.0, whole - own), faults=faults, caveats=caveats_of(run.store, faults),
        )  # fmt: skip


def check_folder(plan: TuningPlan, directory: Path, *, accepts_changes: bool) -> None:
    """Check that a study may run in a folder, without writing anything.

    Raises ``UserError`` if the folder belongs to another run or engine. ``accepts_changes`` allows another engine.
    """
    check_directory(directory, purpose_of(plan), accepts_changes=accepts_changes)
    if (directory / STORE_NAME).is_file():
        with Store(directory, read_only=True) as store:
            _check_method(plan.spec, store)


def _check_method(spec: TuningSpec, store: Store) -> None:
    """Raise ``RunError`` if the run began with another ``METHOD``."""
    if spec.sampler == "duel" and len(store) and store.metadata(METHOD_METADATA) != METHOD:
        raise RunError(
            f"{store.directory}: was begun by another version of elolab, which pairs settings differently",
            f"finish it with that version, or {OTHER_FOLDER}",
        )


def _played(plan: TuningPlan, run: Run, match: Match | None) -> StudyResult:
    """Play rounds, playoff and validations until they end or the run is stopped; return the result."""
    from elolab.tuning.study.rounds.round_stream import RoundStream  # which imports Optuna

    spec = plan.spec
    games: SettingsPairResults
    _check_method(spec, run.store)
    if spec.sampler == "duel":
        run.store.record_metadata({METHOD_METADATA: METHOD})
    if plan.suite is not None:
        games = SettingsPairGames(spec, plan.suite, plan.openings, run)
    else:
        games = SettingsPairMatches(spec, run, match)
        if not periods_of(run.store):  # an older version does not mark its study in Optuna as its own
            (run.directory / STUDY_NAME).unlink(missing_ok=True)
    schedule = BudgetSchedule(spec, run, games)
    rounds = RoundStream(plan, run, games, schedule)

    def ended(**more: Any) -> StudyResult:
        state = rounds.state
        planned = schedule.planned_games()
        return StudyResult(
            spec=spec,
            directory=run.directory,
            rounds=tuple(state.ends[number] for number in sorted(state.ends)),
            planned_rounds=len(schedule.rounds),
            games=run.store.played,
            planned=planned,
            study_games=planned - schedule.missing_games(state.results),
            games_before_validation=games_before_validation(run.store),
            model=state.model,
            observations=state.observations,
            stopped_early=rounds.is_stopped_early,
            **more,
        )

    if not rounds.play():
        rounds.refit(is_last=True)
        return ended(interrupted=True, decision=_best_so_far(rounds.state))
    others = rounds.others_unfinished()
    if others:
        return ended(waiting_for=others)
    rounds.refit(is_last=True)
    schedule.record_spent()
    if rounds.state.model is None:
        return ended(decision=None)
    decision, is_decided = _playoff(rounds.state, schedule, games, run)
    if not is_decided:
        return ended(interrupted=True, decision=decision)
    run.store.record_metadata({RECOMMENDATION_METADATA: list(decision.values)})
    verdicts: list[Verdict] = []
    further: tuple[Verdict, ...] = ()
    if not decision.is_base:
        values = dict(zip(spec.space.names, decision.values, strict=True))
        verdicts = play_own_validations(plan, run, values, games)
        further = further_verdicts(plan, run, values, games)
    else:
        run.progress.omit_later_stages()
    interrupted = run.is_interrupted or any(one.unfinished_of is not None for one in verdicts)
    return ended(interrupted=interrupted, decision=decision, verdicts=tuple(verdicts), further=further)


def _best_so_far(state: StudyState) -> Decision | None:
    """The recommendation so far, without a playoff, for an interrupted study with a fitted model.

    ``None`` if no game pair was played.
    """
    if state.model is None or state.best is None:
        return None
    return decide(state.model, state.best, region=state.observations.trust_region())


def _playoff(
    state: StudyState, schedule: BudgetSchedule, games: SettingsPairResults, run: Run
) -> tuple[Decision, bool]:
    """Play the playoff between the model's maximum and the base.

    Returns the decision, and whether all games of the playoff were played.
    """
    model, best, base, progress = state.model, state.best, state.observations.space.default_values, run.progress
    assert model is not None
    assert best is not None
    pairs = schedule.record_playoff(len(state.results))
    if best == base or not pairs:
        progress.planned = progress.done
        return decide(model, best, region=state.observations.trust_region()), True
    before = schedule.playoff_start(len(state.results))
    series = schedule.periods[-1].playoff_series
    playoff = ScheduledSettingsPair(SettingsPair(0, best, base), before, pairs, series=series)
    progress.planned = progress.done + games.missing_at(before, pairs, series)
    progress.say(console("elolab.tuning")("progress.playoff"))
    progress.score = scores = MatchScores()
    is_played = games.play_parts([[playoff]], scores=scores)
    if not is_played:
        run.refuse_unavailable()
    counts = games.counts(playoff)
    return decide(model, best, counts.pairs, counts.estimate().score if counts.pairs else 0.5), is_played
