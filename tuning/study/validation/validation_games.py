"""Validations: new matches on reserved openings, which decide whether a gain is real."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

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
from elolab.tuning.study.study_spec import INTERIM_PAIRS, TuningSpec, Validation

MAX_OWN_VALIDATIONS = 2
"""Maximum number of a study's own validations; further ones come after them."""
VALIDATED_METADATA = "tuning validated"
"""Metadata with the validated recommendations in order; a larger budget may add one."""
VALIDATION = "validation"
"""Prefix of the names of validation series."""


@dataclass(frozen=True)
class Verdict:
    """The result of one validation match, from the recommendation's view."""

    counts: Pentanomial
    limits: Limits
    kind: str
    """``sprt``, ``non_regression`` or ``fixed``."""
    test: SequentialTest | None
    """The sequential test at its end; ``None`` for a fixed length."""
    after_test: SequentialEstimate | None = None
    """Elo corrected for stopping at a bound; ``None`` for a fixed length."""
    unfinished_of: int | None = None
    """Maximum pairs of a match that was stopped; such a match never passes."""
    speed: SpeedRow | None = field(default=None, compare=False)
    """Depth, nodes and time of both sides per move; times differ between runs."""

    @property
    def estimate(self) -> Estimate:
        """Score, Elo and 95 % interval, computed as for a match of fixed length."""
        return self.counts.estimate()

    @property
    def elo(self) -> float:
        """The recommendation's Elo minus the base's; after a sequential test the median-unbiased estimate."""
        return self.estimate.elo if self.after_test is None else self.after_test.elo

    @property
    def interval(self) -> tuple[float, float]:
        """95 % bounds of ``elo``."""
        if self.after_test is None:
            return self.estimate.elo_low, self.estimate.elo_high
        return self.after_test.elo_low, self.after_test.elo_high

    @property
    def los(self) -> float:
        """Likelihood of superiority consistent with ``interval``, 0 to 1."""
        return self.estimate.los if self.after_test is None else self.after_test.los

    @property
    def passed(self) -> bool:
        """Whether the match supports the recommendation.

        A sequential test must accept its upper hypothesis: stronger, or for a non-regression test not weaker. An
        undecided test does not pass. A match of fixed length only accompanies such a test and must not contradict it:
        its 95 % interval must not lie below 0.
        """
        if self.unfinished_of is not None:
            return False
        if self.test is not None:
            return self.test.verdict == "upper accepted"
        return self.estimate.elo_high >= 0


@dataclass(frozen=True)
class PlannedValidation:
    """The limits, kind and length of a validation."""

    limits: Limits
    kind: str
    pairs: int
    """Its length, or the maximum of a sequential test."""


def planned_validations(validation: Validation, games: int, openings: int) -> list[PlannedValidation]:
    """The matches that a study's recommendation must pass, in order; ``games`` is the length of the study.

    Each pair has its own opening; ``openings`` is the number available.
    """
    planned = [PlannedValidation(validation.limits, "sprt", min(openings, validation.pairs(games)))]
    if validation.slow != "off":
        pairs = min(openings, validation.pairs_of_slow_match(games))
        planned.append(PlannedValidation(validation.slow_limits, validation.slow, pairs))
    return planned


@dataclass(frozen=True)
class ValidationGames:
    """The games of a validation: its recommendation, limits and place in the run."""

    spec: TuningSpec
    table: MatchTable
    openings: tuple[int, ...]
    """Places in the suite, one per pair."""
    values: Mapping[str, Value]
    planned: PlannedValidation
    series: str
    chosen: tuple[int, ...] | None = None
    """Numbers of the pairs it may use, in order; each has the opening at its number modulo their count.

    By default all pairs from 0, which all sequential tests at one limit share.
    """

    @property
    def pair_numbers(self) -> Sequence[int]:
        """Numbers of all pairs that it may use."""
        return range(len(self.openings)) if self.chosen is None else self.chosen

    def match(self, pairs: range) -> Match:
        """A match of some of its pairs."""
        limits, numbers = self.planned.limits, self.pair_numbers[pairs.start : pairs.stop]
        return Match(
            variant=self.spec.player(self.values, limits),
            reference=self.spec.player(self.spec.space.default, limits),
            openings=tuple(self.openings[number % len(self.openings)] for number in numbers),
            numbers=tuple(2 * number for number in numbers),
            pair_numbers=tuple(numbers),
            series=self.series,
        )

    def keys(self, pairs: int) -> set[str]:
        """Keys of the games of the first ``pairs`` pairs."""
        return {job.key for pair in self.table.jobs(self.match(range(pairs))) for job in pair}

    @functools.cached_property
    def stored_pairs(self) -> int:
        """Number of leading pairs that were complete at the first access; all of them count, even above the maximum."""
        possible = len(self.pair_numbers)
        for start in range(0, possible, INTERIM_PAIRS):
            part = range(start, min(start + INTERIM_PAIRS, possible))
            results = self.table.results(self.match(part))
            if None in results:
                return start + results.index(None)
        return possible

    @property
    def most_pairs(self) -> int:
        """The match's maximum pairs, or ``stored_pairs`` if more were played under a larger maximum."""
        return max(min(self.planned.pairs, len(self.pair_numbers)), self.stored_pairs)

    @property
    def missing_games(self) -> int:
        """Number of games that may still be played."""
        return self.table.missing_games([self.match(range(self.most_pairs))])


class InterimAnalyses:
    """The progress of a validation: a sequential test is analysed after every ``INTERIM_PAIRS`` pairs.

    The analyses are made in order, each once all earlier games have ended. Up to ``overlap`` later parts may have begun
    by then. They are played to their end, so that the games do not depend on the concurrency, but do not count.
    """

    def __init__(
        self,
        games: ValidationGames,
        decided_after: int | None = None,
        show: Callable[[Verdict], None] = lambda verdict: None,
    ) -> None:
        """``decided_after`` keeps the verdict of a test that was decided after that many pairs.

        ``show`` gets each verdict.
        """
        self.games, self._show = games, show
        self._longest = games.most_pairs
        end = self._longest if decided_after is None else min(self._longest, decided_after)
        step = end if games.planned.kind == "fixed" else INTERIM_PAIRS
        self._parts = [games.match(range(start, min(start + step, end))) for start in range(0, end, step)]
        self._taken = 0
        self._counts = Pentanomial((0, 0, 0, 0, 0))
        self._verdict: Verdict | None = None

    @property
    def is_over(self) -> bool:
        """Whether the match is decided or complete."""
        test = None if self._verdict is None else self._verdict.test
        return self._taken == len(self._parts) or (test is not None and test.verdict != "undecided")

    def parts(self) -> Iterator[Match | None]:
        """The matches to play, part by part; ``None`` while an earlier part must end first."""
        for number, match in enumerate(self._parts):
            while number > self._taken - self.is_over + self.games.spec.overlap:
                if self.is_over:
                    return
                yield None
            yield match

    def analyse(self) -> None:
        """Analyse all parts whose games are complete."""
        table = self.games.table
        while not self.is_over and not table.missing_games([self._parts[self._taken]]):
            self._counts += table.counts(self._parts[self._taken])
            self._taken += 1
            self._verdict = judge(self.games.spec.validation, self.games.planned, self._counts)
            self._show(self._verdict)

    def verdict(self, *, is_complete: bool) -> Verdict | None:
        """The verdict of the last analysis, or of all complete pairs unless ``is_complete``; ``None`` without any."""
        if is_complete:
            return self._verdict
        counts = self._counts
        if not self.is_over:
            counts += self.games.table.counts(self._parts[self._taken])
        if not counts.pairs:
            return None
        return replace(judge(self.games.spec.validation, self.games.planned, counts), unfinished_of=self._longest)


def judge(validation: Validation, planned: PlannedValidation, counts: Pentanomial) -> Verdict:
    """The verdict of a validation at these counts."""
    if planned.kind == "fixed":
        return Verdict(counts, planned.limits, planned.kind, None)
    test = validation.test(planned.kind)
    return Verdict(counts, planned.limits, planned.kind, test.test(counts), test.estimate(counts))


def validation_series(number: int, recommendation: int = 0) -> str:
    """The series of a validation's games, by its number and its recommendation."""
    return f"{VALIDATION} {number:02d}" + (f" of {recommendation + 1}" if recommendation > 0 else "")
