"""Validations: new matches on reserved openings, which decide whether a gain is real."""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from elolab.arena.play.scores import MatchScores
from elolab.arena.play.store import Store
from elolab.arena.provenance.status import Conclusion
from elolab.arena.records import Outcome, PlayerSpec
from elolab.arena.statistics.elo import (
    Estimate,
    Pentanomial,
    SequentialEstimate,
    SequentialTest,
)
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.parameters import Value
from elolab.tuning.ablation.speed import SpeedRow
from elolab.tuning.matches import Match, MatchTable
from elolab.tuning.study.study_spec import GAIN, INTERIM_PAIRS, TuningSpec, Validation
from elolab.tuning.study.validation.gain_test import GainState, Outlook

MAX_OWN_VALIDATIONS = 2
"""Maximum number of a study's own validations. Further validations (``elolab validate``) have numbers from this one on.
"""
VALIDATED_METADATA = "tuning validated"
"""Key in the store's metadata for the run's validated recommendations, in order. A larger budget may lead to a
further recommendation.
"""
HORIZONS_METADATA = "tuning horizons"
"""Key in the store's metadata for the number of game pairs for which each test of a gain is planned.

``name_of_test`` names the test.
"""
VALIDATION = "validation"
"""Prefix of the names of series that hold the games of validations."""


@dataclass(frozen=True)
class Verdict:
    """The result of one validation match, from the recommendation's point of view."""

    counts: Pentanomial
    limits: Limits
    kind: str
    """Kind of the match: a sequential test ``gain``, ``sprt`` or ``non_regression``, or ``fixed``."""
    test: SequentialTest | GainState | None
    """State of the sequential test after the counted games; ``None`` for a match of fixed length."""
    after_test: SequentialEstimate | None = None
    """Elo and interval, corrected for the test's stopping rule; ``None`` for a match of fixed length."""
    unfinished_of: int | None = None
    """Maximum number of game pairs of a match that was stopped before its end; ``None`` for a finished match."""
    outlook: tuple[Outlook, ...] = ()
    """Prospects of longer tests, if a test of the kind ``gain`` has not confirmed a gain."""
    speed: SpeedRow | None = field(default=None, compare=False)
    """Depth, nodes and time per move of both sides; ignored when verdicts are compared, because times vary."""

    @property
    def estimate(self) -> Estimate:
        """Score, Elo and 95 % interval from the counts, without correction for a sequential test."""
        return self.counts.estimate()

    @property
    def elo(self) -> float:
        """The recommendation's Elo minus the base's; after a sequential test the median-unbiased estimate."""
        return self.estimate.elo if self.after_test is None else self.after_test.elo

    @property
    def interval(self) -> tuple[float, float]:
        """Lower and upper bound of the 95 % interval of ``elo``."""
        if self.after_test is None:
            return self.estimate.elo_low, self.estimate.elo_high
        return self.after_test.elo_low, self.after_test.elo_high

    @property
    def los(self) -> float:
        """Likelihood of superiority, 0 to 1, consistent with ``interval``."""
        return self.estimate.los if self.after_test is None else self.after_test.los

    @property
    def passed(self) -> bool:
        """Whether the match supports the recommendation.

        A sequential test passes if it accepts its upper hypothesis; an undecided test does not pass. A match of fixed
        length passes unless its whole 95 % interval lies below 0. A match that was stopped early never passes.
        """
        if self.unfinished_of is not None:
            return False
        if self.test is not None:
            return self.test.verdict == "upper accepted"
        return self.estimate.elo_high >= 0


def conclusion_of(verdicts: Sequence[Verdict], *, is_confirmed: bool) -> Conclusion:
    """The conclusion of a run: ``confirmed`` or ``not confirmed``, and whether each validation passed."""
    passed = {f"{one.kind} at {one.limits}": "passed" if one.passed else "not passed" for one in verdicts}
    return Conclusion("confirmed" if is_confirmed else "not confirmed", passed)


@dataclass(frozen=True)
class PlannedValidation:
    """The plan of a validation: its search limits, kind and length."""

    limits: Limits
    kind: str
    pairs: int
    """Number of game pairs; the maximum for a sequential test."""
    horizon: int = 0
    """Number of game pairs for which a test of the kind ``gain`` is planned; 0 for other kinds."""

    def looks(self, validation: Validation, pairs: int) -> tuple[int, ...]:
        """Numbers of game pairs after which a match of at most ``pairs`` game pairs is analysed, in ascending order."""
        if self.kind == GAIN:
            return validation.gain_test(self.horizon).analyses(pairs)
        step = max(pairs, 1) if self.kind == "fixed" else INTERIM_PAIRS
        return tuple(min(look, pairs) for look in range(step, pairs + step, step))


def planned_validations(
    validation: Validation, games: int, openings: int, in_budget: tuple[int, int] = (1, 1)
) -> list[PlannedValidation]:
    """The validations that a recommendation must pass, in order, after a tuning of ``games`` games.

    Each game pair has its own opening, so no validation has more pairs than ``openings``, the number of reserved
    openings. ``in_budget`` is used if the budget covers the first match. It has the maximum number of game pairs of the
    first match, and the number for which the match is planned.
    """
    if validation.is_in_budget:
        most, horizon = (max(1, min(openings, number)) for number in in_budget)
        pairs = validation.gain_test(horizon).analyses(max(most, horizon))[-1]
        planned = [PlannedValidation(validation.limits, GAIN, pairs, horizon)]
    else:
        planned = [PlannedValidation(validation.limits, "sprt", min(openings, validation.pairs(games)))]
    if validation.slow != "off":
        pairs = min(openings, validation.pairs_of_slow_match(games))
        planned.append(PlannedValidation(validation.slow_limits, validation.slow, pairs))
    return planned


def horizon_of(store: Store, recommendation: int, limits: Limits, pairs: int) -> int:
    """Number of game pairs for which the test of a recommendation's gain at these search limits is planned.

    If the test has begun, the result is the number in the store, otherwise ``pairs``.
    """
    return int((store.metadata(HORIZONS_METADATA) or {}).get(name_of_test(recommendation, limits), pairs))


def name_of_test(recommendation: int, limits: Limits) -> str:
    """Name, in ``HORIZONS_METADATA``, of the test of a recommendation's gain at these limits."""
    return f"{recommendation + 1} at {limits}"


@dataclass(frozen=True)
class ValidationResults(ABC):
    """Interface to the games of one validation: recommended values against the base at one search limit."""

    spec: TuningSpec
    openings: Sequence[int]
    """Indices of the reserved openings in the opening suite."""
    values: Mapping[str, Value]
    planned: PlannedValidation
    series: str
    chosen: tuple[int, ...] | None
    """Numbers of the game pairs that the validation may play, in order; ``None`` means the numbers from 0, one per
    opening.

    The opening of a pair is ``openings[number % len(openings)]``. Sequential tests have the value ``None``, and
    therefore share games if their search limits are equal.
    """

    @property
    def pair_numbers(self) -> Sequence[int]:
        """Numbers of all game pairs that the validation may play, in order."""
        return range(len(self.openings)) if self.chosen is None else self.chosen

    @abstractmethod
    def play_parts(
        self, parts: Iterable[range | None], finished: Callable[[Outcome], None], scores: MatchScores | None
    ) -> bool:
        """Play the missing games of the game pairs in ``parts``; return False if the run stopped before the last one.

        ``parts`` yields ranges of indices into ``pair_numbers``, or ``None`` while the next range depends on games in
        progress. ``finished`` is called with each game's outcome. ``scores`` holds the scores that the progress display
        shows.
        """

    @abstractmethod
    def missing_in(self, pairs: range) -> int:
        """Number of missing games of some pairs; ``pairs`` is a range of indices into ``pair_numbers``."""

    @abstractmethod
    def counts(self, pairs: range) -> Pentanomial:
        """Outcomes of complete pairs from the recommendation's point of view.

        ``pairs`` is a range of indices into ``pair_numbers``.
        """

    @property
    @abstractmethod
    def stored_pairs(self) -> int:
        """Number of stored game pairs before the first incomplete one, including pairs beyond the planned length."""

    @property
    def most_pairs(self) -> int:
        """Planned maximum number of game pairs, or ``stored_pairs`` if that is larger."""
        return max(min(self.planned.pairs, len(self.pair_numbers)), self.stored_pairs)


@dataclass(frozen=True)
class ValidationGames(ValidationResults):
    """The games of a validation that elolab plays itself, without a user's command or function."""

    table: MatchTable

    @functools.cached_property
    def _players(self) -> tuple[PlayerSpec, PlayerSpec]:
        """The two players: the recommendation, then the base."""
        limits = self.planned.limits
        return self.spec.player(self.values, limits), self.spec.player(self.spec.space.default, limits)

    def match(self, pairs: range) -> Match:
        """The match of some game pairs; ``pairs`` is a range of indices into ``pair_numbers``."""
        numbers = self.pair_numbers[pairs.start : pairs.stop]
        return Match(
            variant=self._players[0],
            reference=self._players[1],
            openings=tuple(self.openings[number % len(self.openings)] for number in numbers),
            numbers=tuple(2 * number for number in numbers),
            pair_numbers=tuple(numbers),
            series=self.series,
        )

    def keys(self, pairs: int) -> set[str]:
        """Keys of the games of the validation's first ``pairs`` game pairs."""
        return {job.key for pair in self.table.jobs(self.match(range(pairs))) for job in pair}

    def play_parts(
        self, parts: Iterable[range | None], finished: Callable[[Outcome], None], scores: MatchScores | None
    ) -> bool:
        """Play the games of the pairs in ``parts`` that the store lacks; return False if the run stopped before the
        last one.

        ``parts`` yields ranges of indices into ``pair_numbers``, or ``None`` while the next range depends on games in
        progress. ``finished`` is called with each game's outcome; ``scores`` is what the progress display shows.
        """
        matches = (None if part is None else [self.match(part)] for part in parts)
        return self.table.play_parts(matches, finished, scores)

    def missing_in(self, pairs: range) -> int:
        """Number of missing games of some pairs; ``pairs`` is a range of indices into ``pair_numbers``."""
        return self.table.missing_games([self.match(pairs)])

    def counts(self, pairs: range) -> Pentanomial:
        """Outcomes of complete pairs from the recommendation's point of view.

        ``pairs`` is a range of indices into ``pair_numbers``.
        """
        return self.table.counts(self.match(pairs))

    @functools.cached_property
    def stored_pairs(self) -> int:
        """Number of stored game pairs before the first incomplete one. The number is computed once."""
        possible = len(self.pair_numbers)
        for start in range(0, possible, INTERIM_PAIRS):
            part = range(start, min(start + INTERIM_PAIRS, possible))
            results = self.table.results(self.match(part))
            if None in results:
                return start + results.index(None)
        return possible


class InterimAnalyses:
    """The interim analyses of a validation, at the numbers of game pairs that ``PlannedValidation.looks`` returns.

    The match is divided into parts that end at these numbers. A part is analysed when its games and all earlier games
    have ended. Until then, up to ``overlap`` later parts may begin. The ``overlap`` parts after the deciding part are
    also played, so that the games do not depend on the concurrency, but the verdict ignores these parts.
    """

    def __init__(
        self,
        games: ValidationResults,
        decided_after: int | None = None,
    ) -> None:
        """``decided_after`` is the number of game pairs after which an earlier run decided the test, or ``None``."""
        self.games = games
        self._longest = games.most_pairs
        end = self._longest if decided_after is None else min(self._longest, decided_after)
        looks = games.planned.looks(games.spec.validation, end)
        self._parts = [range(start, look) for start, look in pairwise((0, *looks))]
        self._taken = 0
        self._counts = Pentanomial((0, 0, 0, 0, 0))
        self._verdict: Verdict | None = None

    @property
    def is_over(self) -> bool:
        """Whether the sequential test is decided, or all game pairs have been analysed."""
        test = None if self._verdict is None else self._verdict.test
        return self._taken == len(self._parts) or (test is not None and test.verdict != "undecided")

    def parts(self) -> Iterator[range | None]:
        """Yield the parts of the match in order, as ranges of indices into ``pair_numbers``.

        ``None`` means that the next part may not begin before an earlier part has been analysed.
        """
        for number, part in enumerate(self._parts):
            while number > self._taken - self.is_over + self.games.spec.overlap:
                if self.is_over:
                    return
                yield None
            yield part

    def analyse(self) -> None:
        """Analyse the parts in order, until the test is decided or a part has missing games."""
        while not self.is_over and not self.games.missing_in(self._parts[self._taken]):
            self._counts += self.games.counts(self._parts[self._taken])
            self._taken += 1
            self._verdict = judge(self.games.spec.validation, self.games.planned, self._counts)

    def verdict(self, *, is_complete: bool) -> Verdict | None:
        """The verdict of the last analysis if all games were played (``is_complete``).

        Otherwise it is an unfinished verdict on all complete game pairs, or ``None`` if there are none.
        """
        if is_complete:
            return self._verdict
        counts = self._counts
        if not self.is_over:
            counts += self.games.counts(self._parts[self._taken])
        if not counts.pairs:
            return None
        return replace(judge(self.games.spec.validation, self.games.planned, counts), unfinished_of=self._longest)


def judge(validation: Validation, planned: PlannedValidation, counts: Pentanomial) -> Verdict:
    """The verdict of a validation, given the outcomes ``counts`` of its game pairs."""
    if planned.kind == "fixed":
        return Verdict(counts, planned.limits, planned.kind, None)
    if planned.kind == GAIN:
        gain_test = validation.gain_test(planned.horizon)
        state, estimate = gain_test.test(counts), gain_test.estimate(counts)
        return Verdict(counts, planned.limits, planned.kind, state, estimate, outlook=gain_test.outlook(counts))
    test = validation.test(planned.kind)
    return Verdict(counts, planned.limits, planned.kind, test.test(counts), test.estimate(counts))


def validation_series(number: int, recommendation: int = 0) -> str:
    """Name of the series of a validation's games; validations and recommendations are numbered from 0."""
    return f"{VALIDATION} {number:02d}" + (f" of {recommendation + 1}" if recommendation > 0 else "")
