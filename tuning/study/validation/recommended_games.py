"""The validations of a run's recommendation: their plans, games and verdicts."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from elolab.arena.play.scores import MatchScores
from elolab.arena.play.store import Store
from elolab.arena.records import Outcome
from elolab.arena.run import Run
from elolab.arena.statistics.elo import Pentanomial
from elolab.engine.language import console
from elolab.engine.settings.limits import OWN_LEVEL, Limits
from elolab.engine.settings.parameters import Value
from elolab.tuning.ablation.speed import speed_row, spent_in
from elolab.tuning.matches import MatchTable
from elolab.tuning.study.console_words import validation_name
from elolab.tuning.study.plan import TuningPlan
from elolab.tuning.study.rounds.budgets import PLAYOFF_METADATA, periods_of, validation_pairs
from elolab.tuning.study.rounds.pairs_of_settings import ScheduledSettingsPair, SettingsPair
from elolab.tuning.study.rounds.settings_pair_games import SettingsPairResults
from elolab.tuning.study.rounds.settings_pair_matches import SettingsPairMatches
from elolab.tuning.study.study_spec import GAIN, TuningSpec, min_games
from elolab.tuning.study.validation.validation_games import (
    HORIZONS_METADATA,
    MAX_OWN_VALIDATIONS,
    VALIDATED_METADATA,
    InterimAnalyses,
    PlannedValidation,
    ValidationGames,
    ValidationResults,
    Verdict,
    horizon_of,
    name_of_test,
    planned_validations,
    validation_series,
)

VALIDATIONS_METADATA = "tuning validations"
"""Key in the store's metadata for search limit and kind of each further validation, in the order of their numbers."""
LENGTHS_METADATA = "tuning validation lengths"
"""Key in the store's metadata for the number of game pairs of each further validation, as the user last requested it.
"""
DECIDED_METADATA = "tuning decided"
"""Key in the store's metadata for the number of game pairs after which each sequential test was decided, by series."""


@dataclass(frozen=True)
class ValidationMatches(ValidationResults):
    """A validation whose matches a user's command or function plays, instead of games that elolab plays."""

    matches: SettingsPairMatches

    def play_parts(
        self, parts: Iterable[range | None], finished: Callable[[Outcome], None], scores: MatchScores | None
    ) -> bool:
        """Play the missing matches of the game pairs in ``parts``; return False if the run stopped before the last one.

        ``parts`` yields ranges of indices into ``pair_numbers``, or ``None`` while the next range depends on matches in
        progress. ``finished`` is called with each match's outcome; ``scores`` stays unchanged.
        """
        return self.matches.play_parts((None if part is None else [self._pair(part)] for part in parts), finished)

    def missing_in(self, pairs: range) -> int:
        """Number of missing games of some pairs; ``pairs`` is a range of indices into ``pair_numbers``."""
        return self.matches.missing_games(self._pair(pairs))

    def counts(self, pairs: range) -> Pentanomial:
        """Outcomes of the stored matches from the recommendation's point of view; ``pairs`` are indices into
        ``pair_numbers``.
        """
        return self.matches.counts(self._pair(pairs))

    @functools.cached_property
    def stored_pairs(self) -> int:
        """Number of game pairs up to the last interim analysis with all matches stored. It is computed once."""
        found, validation = 0, self.spec.validation
        for look in self.planned.looks(validation, len(self.pair_numbers)):
            if not self.matches.is_complete(self._pair(range(found, look))):
                return found
            found = look
        return found

    def _pair(self, pairs: range) -> ScheduledSettingsPair:
        names, base = self.spec.space.names, self.spec.space.default_values
        settings = SettingsPair(0, tuple(self.values[name] for name in names), base)
        return ScheduledSettingsPair(settings, self.pair_numbers[pairs.start], len(pairs), series=self.series)


class RecommendedGames:
    """The validations of a run's recommendation."""

    def __init__(
        self, plan: TuningPlan, run: Run, values: Mapping[str, Value], played: SettingsPairResults | None = None
    ) -> None:
        """``values`` are the recommended values by name, ``played`` the matches of a command or function.

        By default these matches are read from the run's folder.
        """
        self._plan, self._run, self._values, self._matches = plan, run, values, played
        if plan.suite is not None:
            self._table = MatchTable(plan.spec.conditions.of_games, plan.suite, run)
        elif played is None:
            self._matches = SettingsPairMatches(plan.spec, run)
        self.recommendation = recommendation_number(run.store, values, records=True)
        """Number of the recommendation among all recommendations of the run, from 0."""

    def own(self) -> list[ValidationResults]:
        """Games of the validations that belong to the study itself."""
        plans = own_plans(self._plan, self._run.store, self.recommendation)
        return [self._games(number, planned) for number, planned in enumerate(plans)]

    def requested(self, number: int, planned: PlannedValidation) -> ValidationResults:
        """Games of a further validation, which the user requested; ``number`` is the validation's index in the run."""
        chosen = None
        if planned.kind == "fixed":
            chosen = pairs_of_match(self._plan, self._run.store, planned.limits, self.recommendation)
        return self._games(number, planned, chosen)

    def _games(
        self, number: int, planned: PlannedValidation, chosen: tuple[int, ...] | None = None
    ) -> ValidationResults:
        series = validation_series(number, self.recommendation)
        if planned.kind == GAIN:
            _record_horizon(self._run.store, self.recommendation, planned)
        given = (self._plan.spec, self._plan.reserved, self._values, planned, series, chosen)
        if isinstance(self._matches, SettingsPairMatches):
            return ValidationMatches(*given, self._matches)
        return ValidationGames(*given, self._table)


def own_plans(plan: TuningPlan, store: Store, recommendation: int) -> list[PlannedValidation]:
    """Plans of the validations that belong to the study itself, in order, for the recommendation with this number."""
    validation, games, openings = plan.spec.validation, games_to_validate(plan.spec, store), len(plan.reserved)
    if not validation.is_in_budget:
        return planned_validations(validation, games, openings)
    pairs = validation_pairs(plan.spec, games, store.metadata(PLAYOFF_METADATA))
    horizon = horizon_of(store, recommendation, validation.limits, min(pairs, openings))
    return planned_validations(validation, games, openings, (pairs, horizon))


def _record_horizon(store: Store, recommendation: int, planned: PlannedValidation) -> None:
    """Record the number of game pairs for which a test of a gain is planned, before its first game."""
    known = store.metadata(HORIZONS_METADATA) or {}
    store.record_metadata({HORIZONS_METADATA: {name_of_test(recommendation, planned.limits): planned.horizon, **known}})


def play_own_validations(
    plan: TuningPlan, run: Run, values: Mapping[str, Value], played: SettingsPairResults
) -> list[Verdict]:
    """Play the validations that belong to the study itself, until one fails or the run stops.

    ``values`` are the recommended values by name. Returns the verdicts; the last one may be unfinished.
    """
    verdicts: list[Verdict] = []
    recommended = RecommendedGames(plan, run, values, played)
    for number, games in enumerate(recommended.own()):
        verdict = play_validation(run, games, validation_name(number))
        if verdict is not None:
            verdicts.append(verdict)
        if verdict is None or not verdict.passed:
            break
    return verdicts


def further_verdicts(
    plan: TuningPlan, run: Run, values: Mapping[str, Value], played: SettingsPairResults
) -> tuple[Verdict, ...]:
    """Verdicts on the stored games of the further validations, which the user requested after the study.

    ``values`` are the recommended values by name.
    """
    verdicts, store = [], run.store
    recommended, lengths = RecommendedGames(plan, run, values, played), store.metadata(LENGTHS_METADATA) or {}
    for number, (limits, kind) in enumerate(store.metadata(VALIDATIONS_METADATA) or (), start=MAX_OWN_VALIDATIONS):
        at = Limits() if limits == OWN_LEVEL else Limits.parse(limits)
        planned = PlannedValidation(at, kind, lengths.get(str(number), 1))
        if kind == GAIN:
            horizon = horizon_of(store, recommended.recommendation, planned.limits, planned.pairs)
            planned = replace(planned, horizon=horizon)
        games = recommended.requested(number, planned)
        verdict = stored_verdict(games, store)
        if verdict is not None:
            verdicts.append(with_speed(verdict, games, store))
    return tuple(verdicts)


def pairs_of_match(plan: TuningPlan, store: Store, limits: Limits, recommendation: int) -> tuple[int, ...]:
    """Numbers of the game pairs that a further match of fixed length at a search limit may use, in order.

    Pairs that earlier matches of fixed length have begun come first. Then come new pairs with openings that no
    sequential test has used at this limit. Games of sequential tests are excluded: the results decided when such a test
    stopped, so its games are biased.
    """
    pairs: dict[str, set[int]] = {}
    for outcome in store.outcomes():
        pairs.setdefault(outcome.pairing.series, set()).add(outcome.pairing.pair)
    own = own_plans(plan, store, recommendation)
    kinds = {number: [str(one.limits), one.kind] for number, one in enumerate(own)}
    kinds.update(enumerate(store.metadata(VALIDATIONS_METADATA) or (), start=MAX_OWN_VALIDATIONS))
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
    """Number of games of the tuning, which determines the length of the validation.

    The number is an estimate if the budget is a time.
    """
    periods = periods_of(store)
    return spec.budget.games or (periods[-1].games if periods else min_games(spec))


def recommendation_number(store: Store, values: Mapping[str, Value], *, records: bool) -> int:
    """Index, from 0, of the recommendation ``values`` among all recommendations of the run.

    A new recommendation has the next index; if ``records`` is set, the store's list gets the recommendation.
    """
    return _number_in(store, VALIDATED_METADATA, list(values.values()), records=records)


def validation_number(store: Store, planned: PlannedValidation, *, records: bool) -> int:
    """Index of a further validation in the run. Indices below ``MAX_OWN_VALIDATIONS`` belong to the study itself.

    A new validation has the next index; if ``records`` is set, the store's list gets the validation.
    """
    number = _number_in(store, VALIDATIONS_METADATA, [str(planned.limits), planned.kind], records=records)
    number += MAX_OWN_VALIDATIONS
    if records:
        lengths = store.metadata(LENGTHS_METADATA) or {}
        store.record_metadata({LENGTHS_METADATA: {**lengths, str(number): planned.pairs}})
    return number


def _number_in(store: Store, name: str, entry: list[Any], *, records: bool) -> int:
    """Index of ``entry`` in the list with the key ``name`` in the store's metadata.

    A new entry has the next index; if ``records`` is set, it is appended to the stored list.
    """
    known = store.metadata(name) or []
    if entry not in known:
        known = [*known, entry]
        if records:
            store.record_metadata({name: known})
    return int(known.index(entry))


def stored_verdict(games: ValidationResults, store: Store) -> Verdict | None:
    """The verdict on the stored games of a validation; ``None`` if no game pair is complete."""
    decided = (store.metadata(DECIDED_METADATA) or {}).get(games.series)
    analyses = InterimAnalyses(games, decided)
    analyses.analyse()
    return analyses.verdict(is_complete=analyses.is_over)


def play_validation(run: Run, games: ValidationResults, name: str) -> Verdict | None:
    """Play a validation, show its progress as the stage ``name``, and return its verdict.

    If the run is stopped, the verdict is unfinished, or ``None`` if no game pair is complete.
    """
    progress, planned = run.progress, games.planned
    decided = run.store.metadata(DECIDED_METADATA) or {}
    words = name
    if not games.spec.is_by_matches:
        words = console("elolab.tuning")("progress.validation", limit=planned.limits)
    has_ratio = planned.kind not in ("fixed", GAIN)
    test = games.spec.validation.test(planned.kind) if has_ratio else None
    scores = MatchScores(lambda score: None if test is None else test.test(score.counts))
    progress.begin(2 * games.most_pairs, words, is_bound=planned.kind != "fixed", stage=name, score=scores)
    analyses = InterimAnalyses(games, decided.get(games.series))

    def parts() -> Iterator[range | None]:
        for part in analyses.parts():
            if part is not None:
                progress.done += 2 * len(part) - games.missing_in(part)
            yield part

    analyses.analyse()
    is_complete = games.play_parts(parts(), lambda outcome: analyses.analyse(), scores)
    verdict = analyses.verdict(is_complete=is_complete)
    run.refuse_unavailable()
    state = None if verdict is None or verdict.unfinished_of is not None else verdict.test
    if verdict is not None and state is not None and state.verdict != "undecided":
        run.store.record_metadata({DECIDED_METADATA: {**decided, games.series: verdict.counts.pairs}})
    return verdict if verdict is None else with_speed(verdict, games, run.store)


def with_speed(verdict: Verdict, games: ValidationResults, store: Store) -> Verdict:
    """A copy of the verdict with depth, nodes and time of both sides in the counted games, if the games have them."""
    if not isinstance(games, ValidationGames):
        return verdict
    match = games.match(range(verdict.counts.pairs))
    spent = spent_in(store.iterate(games.keys(verdict.counts.pairs)), games.spec.conditions.game)
    return replace(verdict, speed=speed_row(games.series, match, games.table, spent))
