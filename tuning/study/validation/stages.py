"""The validations of a run's recommendation: listing, playing and reading them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from elolab.arena.play.live import first_that_fits
from elolab.arena.play.store import Store
from elolab.arena.run import Run
from elolab.arena.statistics.numbers import error_text, signed
from elolab.engine.language import console
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.parameters import Value
from elolab.tuning.ablation.speed import speed_row, spent_in
from elolab.tuning.matches import Match, MatchTable
from elolab.tuning.study.plan import TuningPlan
from elolab.tuning.study.rounds.budgets import legs_of
from elolab.tuning.study.spec import TuningSpec, min_games
from elolab.tuning.study.validation.match import (
    MAX_STAGES,
    VALIDATED_METADATA,
    Looks,
    Stage,
    ValidationGames,
    Verdict,
    stages_of,
    validation_series,
)

VALIDATIONS_METADATA = "tuning validations"
"""Metadata with the folder's further validations, in schedule order."""
LENGTHS_METADATA = "tuning validation lengths"
"""Metadata with the latest requested or maximum pairs of each further validation, by its place in the schedule."""
DECIDED_METADATA = "tuning decided"
"""Metadata with the pairs after which a sequential test was decided, by series."""


def own_validations(
    plan: TuningPlan, store: Store, table: MatchTable, values: Mapping[str, Value], recommendation: int
) -> list[ValidationGames]:
    """The study's own validations."""
    stages = stages_of(plan.spec.validation, games_to_validate(plan.spec, store), len(plan.reserved))
    return [
        ValidationGames(plan.spec, table, plan.reserved, values, stage, validation_series(number, recommendation))
        for number, stage in enumerate(stages)
    ]


def further_verdicts(
    plan: TuningPlan, store: Store, table: MatchTable, values: Mapping[str, Value], recommendation: int
) -> tuple[Verdict, ...]:
    """Verdicts of validations requested separately from the study."""
    verdicts = []
    lengths = store.metadata(LENGTHS_METADATA) or {}
    for number, (limits, kind) in enumerate(store.metadata(VALIDATIONS_METADATA) or (), start=MAX_STAGES):
        stage = Stage(Limits.parse(limits), kind, lengths.get(str(number), 1))
        games = further_games(plan, store, table, values, stage, number, recommendation)
        verdict = stored_verdict(games, store)
        if verdict is not None:
            verdicts.append(with_speed(verdict, games, store))
    return tuple(verdicts)


def further_games(
    plan: TuningPlan, store: Store, table: MatchTable, values: Mapping[str, Value], stage: Stage, number: int,
    recommendation: int,
) -> ValidationGames:  # fmt: skip
    """The games of a separately requested validation; ``number`` is its number in the folder."""
    chosen = pairs_of_match(plan, store, stage.limits, recommendation) if stage.kind == "fixed" else None
    series = validation_series(number, recommendation)
    return ValidationGames(plan.spec, table, plan.reserved, values, stage, series, chosen)


def pairs_of_match(plan: TuningPlan, store: Store, limits: Limits, recommendation: int) -> tuple[int, ...]:
    """Numbers of pairs for a further match of fixed length at a limit, as ``ValidationGames.chosen``.

    First the pairs that such matches have begun, then new ones whose openings no sequential test has used at this
    limit. Games of a sequential test are excluded, because its stopping time depends on their results.
    """
    pairs: dict[str, set[int]] = {}
    for outcome in store.outcomes():
        pairs.setdefault(outcome.pairing.series, set()).add(outcome.pairing.pair)
    stages = stages_of(plan.spec.validation, games_to_validate(plan.spec, store), len(plan.reserved))
    kinds = {number: [str(stage.limits), stage.kind] for number, stage in enumerate(stages)}
    kinds.update(enumerate(store.metadata(VALIDATIONS_METADATA) or (), start=MAX_STAGES))
    begun: set[int] = set()
    tested: set[int] = set()
    for number, (limit, kind) in kinds.items():
        if limit == str(limits):
            found = begun if kind == "fixed" else tested
            found.update(pairs.get(validation_series(number, recommendation), ()))
    begun -= tested
    openings = len(plan.reserved)
    taken = tested | {number % openings for number in begun}
    return (*sorted(begun), *(openings + place for place in range(openings) if place not in taken))


def games_to_validate(spec: TuningSpec, store: Store) -> int:
    """The tuning's games that determine the length of its validation; for a budget in time, their estimate."""
    legs = legs_of(store)
    return spec.budget.games or (legs[-1].games if legs else min_games(spec))


def recommendation_number(store: Store, values: Mapping[str, Value]) -> int:
    """The number of this recommendation in the run, from 0; a new one is recorded."""
    known = store.metadata(VALIDATED_METADATA) or []
    number = known_recommendation(known, values)
    if number == len(known):
        store.record_metadata({VALIDATED_METADATA: [*known, list(values.values())]})
    return number


def known_recommendation(known: Sequence[list[Value]], values: Mapping[str, Value]) -> int:
    """The index of a known recommendation, or the next free one."""
    wanted = list(values.values())
    return known.index(wanted) if wanted in known else len(known)


def stored_of(games: ValidationGames) -> int:
    """Number of stored games of a validation."""
    return 2 * games.most_pairs - games.missing_games


def stored_verdict(games: ValidationGames, store: Store) -> Verdict | None:
    """The verdict of a validation's stored games; ``None`` without a complete pair."""
    decided = (store.metadata(DECIDED_METADATA) or {}).get(games.series)
    looks = Looks(games, decided)
    looks.take_up()
    return looks.verdict(is_complete=looks.is_over)


def play_stage(run: Run, games: ValidationGames, name: str) -> Verdict | None:
    """Play a validation and show its progress; if stopped, the verdict is unfinished, or ``None`` without a complete
    pair."""
    progress, stage = run.progress, games.stage
    decided = run.store.metadata(DECIDED_METADATA) or {}
    words = console("elolab.tuning")("progress.validation", limit=stage.limits)
    progress.begin(2 * games.most_pairs, words, is_bound=stage.kind != "fixed", stage=name)

    def show(verdict: Verdict) -> None:
        progress.say(lambda columns: validation_words(verdict, columns))

    looks = Looks(games, decided.get(games.series), show)

    def parts() -> Iterator[list[Match] | None]:
        for match in looks.parts():
            if match is not None:
                progress.done += 2 * match.pairs - games.table.missing_games([match])
            yield None if match is None else [match]

    looks.take_up()
    verdict = looks.verdict(is_complete=games.table.play_parts(parts(), lambda outcome: looks.take_up()))
    run.refuse_unavailable()
    test = None if verdict is None or verdict.unfinished_of is not None else verdict.test
    if verdict is not None and test is not None and test.verdict != "undecided":
        run.store.record_metadata({DECIDED_METADATA: {**decided, games.series: verdict.counts.pairs}})
    return verdict if verdict is None else with_speed(verdict, games, run.store)


def with_speed(verdict: Verdict, games: ValidationGames, store: Store) -> Verdict:
    """The verdict with both sides' depth, nodes and time over the counted games."""
    match = games.match(range(verdict.counts.pairs))
    spent = spent_in(store.iterate(games.keys(verdict.counts.pairs)), games.spec.conditions.game)
    return replace(verdict, speed=speed_row(games.series, match, games.table, spent))


def number_of(store: Store, stage: Stage) -> int:
    """The number of a further validation in the folder, after the study's own; its length is recorded."""
    number, known = known_number(store, stage), store.metadata(VALIDATIONS_METADATA) or []
    if number == MAX_STAGES + len(known):
        known.append([str(stage.limits), stage.kind])
    lengths = {**(store.metadata(LENGTHS_METADATA) or {}), str(number): stage.pairs}
    store.record_metadata({VALIDATIONS_METADATA: known, LENGTHS_METADATA: lengths})
    return number


def known_number(store: Store, stage: Stage) -> int:
    """The number of a further validation, or the next free one; records nothing."""
    wanted, known = [str(stage.limits), stage.kind], store.metadata(VALIDATIONS_METADATA) or []
    return MAX_STAGES + (int(known.index(wanted)) if wanted in known else len(known))


def validation_words(verdict: Verdict, columns: int) -> str:
    """A validation's state for the progress line."""
    message, elo, test = console("elolab.tuning"), signed(verdict.elo), verdict.test
    if test is None:
        return message("progress.validation_match", elo=elo, error=error_text(verdict.estimate.elo_error))
    ratio = {
        "ratio": signed(test.log_likelihood_ratio, 2), "lower": signed(test.lower_bound),
        "upper": signed(test.upper_bound),
    }  # fmt: skip
    return first_that_fits(
        columns, message("progress.validation_test", elo=elo, **ratio), message("progress.ratio", **ratio)
    )
