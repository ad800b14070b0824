"""Fresh matches on reserved openings decide whether a gain is real."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from elolab.arena.figures.statistics import (
    Estimate,
    Pentanomial,
    SequentialEstimate,
    SequentialTest,
)
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.parameters import Value
from elolab.tuning.ablation.speed import SpeedRow
from elolab.tuning.matches import Match, MatchTable
from elolab.tuning.study.spec import INTERIM_PAIRS, TuningSpec, Validation

MAX_STAGES = 2
"""Validations that belong to a study itself; further ones come after them."""
VALIDATED_METADATA = "tuning validated"
"""The recommendations that were validated, in turn; there is more than one after a larger budget."""
VALIDATION = "validation"
"""How the names of series of validations begin."""


@dataclass(frozen=True)
class Verdict:
    """What one validation match showed, from the recommendation's view."""

    counts: Pentanomial
    limits: Limits
    kind: str
    """``sprt``, ``non_regression`` or ``fixed``."""
    test: SequentialTest | None
    """The sequential test where it ended; ``None`` of a match of fixed length."""
    after_test: SequentialEstimate | None = None
    """Elo without the bias of having stopped at a bound; ``None`` of a match of fixed length."""
    unfinished_of: int | None = None
    """Of a match that was stopped, the pairs that it has at most; whatever it shows, it has not been passed."""
    speed: SpeedRow | None = field(default=None, compare=False)
    """What both sides spent on their moves, as their games say; times differ from one playing to the next."""

    @property
    def estimate(self) -> Estimate:
        """Score, Elo, 95 % interval as of a match of fixed length."""
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
        """Likelihood of superiority, 0 to 1, that belongs to ``interval``."""
        return self.estimate.los if self.after_test is None else self.after_test.los

    @property
    def passed(self) -> bool:
        """Whether the match speaks for the recommendation.

        A sequential test must accept its upper hypothesis: that it is stronger, or of a test of no regression that it
        is not weaker. Undecided after the pairs that it has at most, it is not passed. A match of fixed length, which
        only accompanies such a test, must not speak against it: its 95 % interval must not lie below 0.
        """
        if self.unfinished_of is not None:
            return False
        if self.test is not None:
            return self.test.verdict == "upper accepted"
        return self.estimate.elo_high >= 0


@dataclass(frozen=True)
class Stage:
    """A validation match to be played."""

    limits: Limits
    kind: str
    pairs: int
    """Its length, or where a sequential test ends undecided."""


def stages_of(validation: Validation, games: int, openings: int) -> list[Stage]:
    """The matches that the recommendation of a study of so many games must pass, in turn.

    Each pair has an opening of its own, of which there are so many.
    """
    stages = [Stage(validation.limits, "sprt", min(openings, validation.pairs(games)))]
    if validation.slow != "off":
        pairs = min(openings, validation.pairs_of_slow_match(games))
        stages.append(Stage(validation.slow_limits, validation.slow, pairs))
    return stages


@dataclass(frozen=True)
class ValidationGames:
    """The games of a validation: of which recommendation, under which limits, where in the run."""

    spec: TuningSpec
    table: MatchTable
    openings: tuple[int, ...]
    """Places in the suite, one a pair."""
    values: Mapping[str, Value]
    stage: Stage
    series: str
    chosen: tuple[int, ...] | None = None
    """The numbers of the pairs it may have, in turn; each has the opening at its number modulo their count.

    Unless given all from 0 on, which sequential tests at one limit share: each goes through them from the first.
    """

    @property
    def pair_numbers(self) -> Sequence[int]:
        """The numbers of all pairs that it may have."""
        return range(len(self.openings)) if self.chosen is None else self.chosen

    def match(self, pairs: range) -> Match:
        """Some of its pairs."""
        limits, numbers = self.stage.limits, self.pair_numbers[pairs.start : pairs.stop]
        return Match(
            variant=self.spec.player(self.values, limits),
            reference=self.spec.player(self.spec.space.default, limits),
            openings=tuple(self.openings[number % len(self.openings)] for number in numbers),
            numbers=tuple(2 * number for number in numbers),
            pair_numbers=tuple(numbers),
            series=self.series,
        )

    def keys(self, pairs: int) -> set[str]:
        """The keys of the games of so many pairs from the first on."""
        return {job.key for pair in self.table.jobs(self.match(range(pairs))) for job in pair}

    @functools.cached_property
    def stored_pairs(self) -> int:
        """How many pairs from the first on were complete when it was asked first: they count, whatever the bound."""
        possible = len(self.pair_numbers)
        for start in range(0, possible, INTERIM_PAIRS):
            part = range(start, min(start + INTERIM_PAIRS, possible))
            results = self.table.results(self.match(part))
            if None in results:
                return start + results.index(None)
        return possible

    @property
    def most_pairs(self) -> int:
        """Where it ends: at its bound, or where a larger one that it had before let it come."""
        return max(min(self.stage.pairs, len(self.pair_numbers)), self.stored_pairs)

    @property
    def missing_games(self) -> int:
        """How many of its games may still be played."""
        return self.table.missing_games([self.match(range(self.most_pairs))])


class Looks:
    """A validation as far as it has come: a sequential test is looked at after every ``INTERIM_PAIRS`` pairs.

    Looks come in turn, each once all games before it have ended. Up to ``overlap`` of the following ones may have begun
    by then; those of the look that decides are played to their end too, so that the games do not depend on how many are
    played at a time, but they do not count.
    """

    def __init__(
        self,
        games: ValidationGames,
        decided_after: int | None = None,
        show: Callable[[Verdict], None] = lambda verdict: None,
    ) -> None:
        """A test that once had its verdict ``decided_after`` so many pairs keeps it. ``show`` is told of each look."""
        self._games, self._show = games, show
        self._longest = games.most_pairs
        end = self._longest if decided_after is None else min(self._longest, decided_after)
        step = end if games.stage.kind == "fixed" else INTERIM_PAIRS
        self._parts = [games.match(range(start, min(start + step, end))) for start in range(0, end, step)]
        self._taken = 0
        self._counts = Pentanomial((0, 0, 0, 0, 0))
        self._verdict: Verdict | None = None

    @property
    def is_over(self) -> bool:
        """Whether the match has been decided or has come to its end."""
        test = None if self._verdict is None else self._verdict.test
        return self._taken == len(self._parts) or (test is not None and test.verdict != "undecided")

    def parts(self) -> Iterator[Match | None]:
        """What is to be played, look by look; ``None`` while the one before must end first."""
        for number, match in enumerate(self._parts):
            while number > self._taken - self.is_over + self._games.spec.overlap:
                if self.is_over:
                    return
                yield None
            yield match

    def take_up(self) -> None:
        """Go through the looks whose games are all there."""
        table = self._games.table
        while not self.is_over and not table.missing_games([self._parts[self._taken]]):
            self._counts += table.counts(self._parts[self._taken])
            self._taken += 1
            self._verdict = judge(self._games.spec.validation, self._games.stage, self._counts)
            self._show(self._verdict)

    def verdict(self, *, is_complete: bool) -> Verdict | None:
        """Of the last look or, unless the match ``is_complete``, of the pairs that are there; ``None`` without one."""
        if is_complete:
            return self._verdict
        counts = self._counts
        if not self.is_over:
            counts += self._games.table.counts(self._parts[self._taken])
        if not counts.pairs:
            return None
        return replace(judge(self._games.spec.validation, self._games.stage, counts), unfinished_of=self._longest)


def judge(validation: Validation, stage: Stage, counts: Pentanomial) -> Verdict:
    """The verdict of a stage at these counts."""
    if stage.kind == "fixed":
        return Verdict(counts, stage.limits, stage.kind, None)
    test = validation.test(stage.kind)
    return Verdict(counts, stage.limits, stage.kind, test.test(counts), test.estimate(counts))


def validation_series(number: int, recommendation: int = 0) -> str:
    """Where the games of a validation are counted: of which recommendation of the run, and which of its validations."""
    return f"{VALIDATION} {number:02d}" + (f" of {recommendation + 1}" if recommendation > 0 else "")
