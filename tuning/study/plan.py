"""The plan of a study's run, and checks that the study can use its openings, sampler and engine."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TextIO

from elolab.arena.notation.openings import Suite
from elolab.arena.play.estimates import estimated_game_seconds
from elolab.arena.play.stages import GameStage, StagePlan
from elolab.arena.play.store import STORE_NAME, Store
from elolab.arena.players.processors import PlayerLoad
from elolab.arena.records import digest_of
from elolab.arena.run import Purpose, RunError, plain
from elolab.arena.sequential import PLAUSIBLE_ELO, POWER, Reach, reach_of_test
from elolab.engine.language import Catalogue, console
from elolab.engine.settings.limits import Limits
from elolab.tuning.engine_check import EngineCheck
from elolab.tuning.match_command import MatchCommand
from elolab.tuning.matches import read_openings
from elolab.tuning.study.console_words import validation_name
from elolab.tuning.study.rounds.budgets import (
    PLAYOFF_METADATA,
    RECOMMENDATION_METADATA,
    estimated_games,
    most_search_games,
    periods_of,
    validation_pairs,
)
from elolab.tuning.study.study_spec import (
    GAIN,
    LENGTHS,
    MAX_GAMES,
    MAX_SEARCH,
    MAX_VALIDATION_PAIRS,
    MIN_SEARCH,
    NON_REGRESSION,
    TuningSpec,
    min_games,
)
from elolab.tuning.study.validation.gain_test import POWERS, confirming_pairs
from elolab.tuning.study.validation.validation_games import (
    VALIDATED_METADATA,
    VALIDATION,
    PlannedValidation,
    horizon_of,
    planned_validations,
    validation_series,
)

KIND, MATCHES_KIND = "tuning", "tuning by matches"
FILE_METADATA, MATCHES_FILE_METADATA = "tuning file", "file of a tuning by matches"
"""Keys in the store's metadata for the content and path of the study's file, one key for each kind of study.

So a later validation needs only the run's folder.
"""
MATCHES_METADATA = "games of matches"
"""Key in the store's metadata for the number of games by series, if a command or function plays the matches."""
ENDED_METADATA = "tuning ended"
"""Key in the store's metadata for the digest of the specification and the number of stored games when the study ended.
"""


def games_before_validation(store: Store) -> int:
    """Number of stored games of rounds and playoffs, that is, without validations."""
    return sum(count for series, count in stored_by_series(store).items() if not series.startswith(VALIDATION))


def stored_by_series(store: Store) -> Counter[str]:
    """Number of stored games by series, including matches that a command or a function has played."""
    found = Counter(outcome.pairing.series for outcome in store.outcomes())
    return found + Counter(store.metadata(MATCHES_METADATA) or {})


@dataclass(frozen=True)
class GainReach(Reach):
    """Power of a test of the kind ``gain``: what it can detect with its maximum number of pairs."""

    gains: tuple[tuple[float, float], ...] = ()
    """Pairs (probability, gain): the test confirms a true gain of this size, in Elo, with this probability."""

    def text(self, say: Catalogue) -> str:
        """One or two sentences about the test's power, in the language of ``say``."""
        say = Catalogue("elolab.tuning", say.language)
        gains = say("dry_run.comma").join(
            say("reach.gain", elo=math.ceil(elo), percent=f"{100 * power:.0f}") for power, elo in self.gains
        )
        text = say("reach.gains", pairs=self.pairs, gains=gains)
        if self.is_likely:
            return text
        times = f"{math.ceil(10 * self.target_pairs / self.pairs) / 10:g}"
        return text + say("reach.more", target=f"{self.target_elo:.0f}", pairs=self.target_pairs, times=times)


@dataclass(frozen=True)
class TuningPlan:
    """A study with its openings, ready to run."""

    spec: TuningSpec
    suite: Suite | None
    """The opening suite; ``None`` if a command or function plays the matches, which then differ by their seeds."""
    openings: Sequence[int]
    """Indices, in the opening suite, of the openings for the tuning: the tournament half of the suite."""
    reserved: Sequence[int]
    """Indices, in the opening suite, of the openings for validations: the reserved half of the suite."""

    def stages(self, games: int, store: Store | None = None) -> tuple[GameStage, ...]:
        """Stages of the run with their maximum numbers of games: a tuning of ``games`` games, then each validation.

        ``store`` has the games already played; ``None`` before the run begins. The games of earlier playoffs and of
        other validations are a stage of their own, because the budget does not cover them.
        """
        spec, say = self.spec, console("elolab.tuning")
        stored: Counter[str] = Counter() if store is None else stored_by_series(store)
        own, playoff = stored[""], _playoff(store, games)
        searched = most_search_games(spec, games)
        if store is not None and playoff is not None:
            searched = own + 2 * playoff[1] if spec.validation.is_in_budget else searched
            own += stored[periods_of(store)[-1].playoff_series]
        digest, games_then = (None if store is None else store.metadata(ENDED_METADATA)) or ("", 0)
        has_ended = digest == digest_of(spec.content()) and stored.total() >= games_then
        searched = own if has_ended else max(searched, own)
        limits = spec.limit_shares.game_seconds
        unknown = () if stored and not spec.is_by_matches else spec.unknown_speed(spec.limit_shares.limits)
        study = GameStage(say("stage.study"), searched, limits, own, spec.budget.seconds, unknown)
        stages = [study]
        recommendation = _recommendation(store, games)
        for number, planned in enumerate(self.planned_validations(games, store)):
            stage = self._stage_of(planned, number, stored, recommendation, is_rest=playoff is None)
            stages.append(replace(stage, games=stage.stored) if has_ended else stage)
        others = stored.total() - sum(stage.stored for stage in stages)
        if others > 0:
            stages.append(GameStage(say("stage.others"), others, limits, others))
        return tuple(stages)

    def planned_validations(self, games: int, store: Store | None) -> list[PlannedValidation]:
        """The validations planned for the run's recommendation, which may still be unknown.

        ``games`` is the number of games of the tuning.
        """
        validation, openings = self.spec.validation, len(self.reserved)
        if not validation.is_in_budget:
            return planned_validations(validation, games, openings)
        pairs = horizon = min(openings, validation_pairs(self.spec, games, _playoff(store, games)))
        if store is not None:
            horizon = horizon_of(store, _recommendation(store, games), validation.limits, pairs)
        return planned_validations(validation, games, openings, (pairs, horizon))

    def _stage_of(
        self, planned: PlannedValidation, number: int, stored: Mapping[str, int], recommendation: int, *, is_rest: bool
    ) -> GameStage:
        """The stage of a validation: its maximum and stored games, their estimated cost, and the test's power.

        ``stored`` has the number of stored games by series. ``is_rest`` means that the playoff has not begun. If the
        budget covers the validation, rounds may then still end early, and the validation gets more games than
        ``planned``.
        """
        games = stored.get(validation_series(number, recommendation), 0)
        seconds = estimated_game_seconds([planned.limits])
        unknown = () if stored and not self.spec.is_by_matches else self.spec.unknown_speed([planned.limits])
        is_rest = is_rest and planned.kind == GAIN
        most = max(2 * (planned.horizon if is_rest else planned.pairs), games)  # the rest may allow another analysis
        if not is_rest:
            planned = replace(planned, pairs=most // 2)
        elif self.spec.sampler == "duel":  # which may end its search early
            pairs = min(len(self.reserved), round(planned.pairs * (1 - MIN_SEARCH) / (1 - MAX_SEARCH)))
            planned = PlannedValidation(planned.limits, GAIN, pairs, pairs)
        reach = reach_of_validation(self, planned, length_of(planned.kind, number))
        return GameStage(
            validation_name(number), most, seconds, games, unknown_speed=unknown, reach=reach, is_rest=is_rest
        )


def record_end(spec: TuningSpec, store: Store) -> None:
    """Record that the study has ended under this specification; it then plays no further games when resumed."""
    store.record_metadata({ENDED_METADATA: [digest_of(spec.content()), stored_by_series(store).total()]})


def length_of(kind: str, number: int) -> str:
    """TOML text that sets the maximum number of pairs of validation ``number``, with ``{pairs}`` in place of the value.

    ``kind`` is the kind of the match. ``Reach.length`` holds such texts.
    """
    key = "slow_maximum_pairs" if number and kind == NON_REGRESSION else "maximum_pairs"
    return f"[validation] {key} = {{pairs}}"


def reach_of_validation(plan: TuningPlan, planned: PlannedValidation, length: str) -> tuple[Reach, ...]:
    """The gain that a sequential validation can confirm within its maximum number of pairs; empty for a fixed length.

    ``length`` is the TOML text or option that sets this maximum, with ``{pairs}`` in place of the number.
    """
    if planned.kind == "fixed":
        return ()
    if planned.kind == GAIN:
        return (gain_reach(plan, planned),)
    kind, easier = ("no_regression", "slow_elo_upper") if planned.kind == NON_REGRESSION else ("gain", "elo_upper")
    test, where = plan.spec.validation.test(planned.kind), plan.spec.conditions.source
    return (reach_of_test(test, planned.pairs, kind, where, length, easier, len(plan.reserved)),)


def gain_reach(plan: TuningPlan, planned: PlannedValidation) -> GainReach:
    """The gains that a validation of the kind ``gain`` confirms with its maximum number of pairs."""
    validation, openings = plan.spec.validation, len(plan.reserved)
    test = validation.gain_test(planned.horizon)
    gains = tuple((power, test.confirmed_gain(power, planned.pairs)) for power in POWERS)
    elo = dict(gains)[POWER]
    target = confirming_pairs(PLAUSIBLE_ELO, POWER, error=validation.alpha)
    return GainReach(
        GAIN, planned.pairs, 1, elo, PLAUSIBLE_ELO, target, plan.spec.conditions.source, "{pairs}", "budget", openings,
        gains,
    )  # fmt: skip


def _playoff(store: Store | None, games: int) -> Sequence[int] | None:
    """The record of the run's playoff, as ``BudgetSchedule.record_playoff`` writes it; ``None`` before the playoff.

    Also ``None`` if ``games``, the budget in games, has grown, because the run then plays another playoff.
    """
    periods = () if store is None else periods_of(store)
    if store is None or not periods or games > periods[-1].games:
        return None
    return store.metadata(PLAYOFF_METADATA)


def _recommendation(store: Store | None, games: int) -> int:
    """Index, from 0, of the run's recommendation in the list of all validated recommendations.

    If the recommendation is not known yet, the result is the next index.
    """
    if store is None:
        return 0
    values = None if _playoff(store, games) is None else store.metadata(RECOMMENDATION_METADATA)
    known: list[Any] = store.metadata(VALIDATED_METADATA) or []
    return known.index(values) if values in known else len(known)


def prepare_tuning(spec: TuningSpec) -> TuningPlan:
    """Read the openings and check the sampler. Raises ``UserError`` if the study cannot use them."""
    from elolab.tuning.study.sampler import check_sampler

    check_sampler(spec.sampler, spec.conditions.source)
    if spec.is_by_matches:
        if spec.command:
            MatchCommand(spec.command, spec.conditions.source)
        return TuningPlan(spec, None, range(MAX_GAMES), range(MAX_VALIDATION_PAIRS))
    suite, openings = read_openings(spec.conditions, "tournament", None)
    _, reserved = read_openings(spec.conditions, "validation", None)
    validation = spec.validation
    for key in ("maximum_pairs", "slow_maximum_pairs", "slow_pairs"):
        pairs: int | None = getattr(validation, key)
        if pairs is not None and pairs > len(reserved):
            raise RunError(
                f"{spec.conditions.source}: [validation]: {key} = {pairs} needs as many different openings, but the "
                f"validation half of the suite {spec.conditions.openings!r} has {len(reserved)}",
                "give fewer pairs or a larger suite",
            )
    return TuningPlan(spec, suite, openings, reserved)


def plan_of_run(plan: TuningPlan, directory: Path, concurrency: int) -> StagePlan:
    """The planned games of a study and their estimated cost, for display before the run starts.

    Games that ``directory`` already stores are taken into account.
    """
    budget = plan.spec.budget
    rough = plan.spec.limit_shares.game_seconds
    with ExitStack() as resources:
        store = None
        if (directory / STORE_NAME).is_file():
            store = resources.enter_context(Store(directory, read_only=True))
        games = budget.games
        if games is None:
            assert budget.seconds is not None
            periods = () if store is None else periods_of(store)
            known = bool(periods) and plain(periods[-1].budget) == plain(budget.content())
            games = periods[-1].games if known else max(
                min_games(plan.spec), estimated_games(budget.seconds, rough, concurrency)
            )  # fmt: skip
        return StagePlan(plan.spec.name, directory, plan.stages(games, store), concurrency)


def check_engine(spec: TuningSpec, stream: TextIO) -> None:
    """Start an external engine and check that it accepts the ends of all ranges and every choice.

    Raises ``UserError`` otherwise. Warnings go to ``stream``.
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


def purpose_of(plan: TuningPlan) -> Purpose:
    """The run's specification. A resumed run may change only the keys ``LENGTHS`` and keys without effect."""
    spec = plan.spec
    source = spec.conditions.source
    if plan.suite is None:
        # Older versions recorded the lengths of matches that followed from the budget.
        lengths = ("budget", *(key for key in ("match_pairs", "round_pairs") if getattr(spec, key) is None))
        file = {MATCHES_FILE_METADATA: [json.loads(spec.text), source]}
        return Purpose(MATCHES_KIND, spec.content(), source, lengths=lengths, more=file)
    content = {**spec.content(), "openings_digest": plan.suite.digest}
    lengths = LENGTHS if spec.storage is None else LENGTHS[1:]  # workers share the rounds
    lengths += spec.keys_without_effect  # older versions accepted and recorded any value
    return Purpose(
        KIND, content, source, lengths=lengths, more={FILE_METADATA: [spec.text, str(Path(source).resolve())]},
        sides=tuple(PlayerLoad.of(place, spec.conditions.player({}, limits)) for place, limits in _limits_of(spec)),
        stop_after_faults=spec.conditions.stop_after_faults,
    )  # fmt: skip


def _limits_of(spec: TuningSpec) -> tuple[tuple[str, Limits], ...]:
    """The search limits of all games, each with the key of the specification that sets it."""
    validation = spec.validation
    slow = () if validation.slow == "off" else (("[validation]: slow_limit", validation.slow_limits),)
    shared = (("limits", limits) for limits in spec.limit_shares.limits)
    return ("limit", spec.conditions.limits), *shared, ("[validation]: limit", validation.limits), *slow
