"""A sequential test over the games of a match: it ends the match at the same game however many are played at a time.

Interim analyses come at fixed places of the schedule, after every ``batch_pairs`` pairs and at the end, and only once
every game before that place has ended. Games of later pairs that ended in the meantime are kept, but do not count.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from arena.figures.numbers import signed
from arena.figures.statistics import (
    Array,
    Pentanomial,
    SequentialEstimate,
    SequentialTest,
    Trinomial,
    estimate_after_test,
    log_likelihood_ratios,
    sequential_test,
)
from arena.records import Outcome

MAX_HYPOTHESIS = 200
"""Elo of a hypothesis, either way; far beyond, no distribution of outcomes fulfils it."""
MIN_GAP = 0.001
"""Elo between the hypotheses: no number of games tells closer ones apart."""
DECIDED = ("upper accepted", "lower accepted")


@dataclass(frozen=True)
class SequentialSettings:
    """The hypotheses of a sequential test of player 1 against player 2, and its interim analyses."""

    elo0: float = 0.0
    """Hypothesis H0, in the unit of ``model``."""
    elo1: float = 5.0
    """Hypothesis H1, above H0."""
    alpha: float = 0.05
    """Probability of accepting H1 though H0 holds."""
    beta: float = 0.05
    """Probability of accepting H0 though H1 holds."""
    model: str = "normalized"
    """``normalized`` or ``logistic`` Elo."""
    batch_pairs: int = 8
    """Pairs between two interim analyses."""

    def test(self, counts: Pentanomial | Trinomial) -> SequentialTest:
        """The state of the test after these pairs."""
        return _tested(self, counts)

    def estimate(self, counts: Pentanomial | Trinomial) -> SequentialEstimate:
        """The median-unbiased estimate after these pairs."""
        return estimate_after_test(counts, self.elo0, self.elo1, self.model, self.alpha, self.beta)


@functools.lru_cache(maxsize=100_000)
def _tested(settings: SequentialSettings, counts: Pentanomial | Trinomial) -> SequentialTest:
    """Kept, because a run's interim analyses are gone through again for the counts, the report and the exit code."""
    return sequential_test(counts, settings.elo0, settings.elo1, settings.model, settings.alpha, settings.beta)


def ratios_by_pair(settings: SequentialSettings, pairs: Sequence[Pentanomial]) -> Array:
    """The log-likelihood ratio after each pair, shape (pairs,); every element of ``pairs`` counts one pair."""
    counts = np.cumsum([pair.counts for pair in pairs], axis=0, dtype=float).reshape(-1, 5)
    return log_likelihood_ratios(counts, 2, settings.elo0, settings.elo1, settings.model)


class SequentialRun:
    """The test over a match whose pair ``k`` is games ``2k`` and ``2k + 1``, given in whatever order they end."""

    def __init__(self, settings: SequentialSettings, pairs: int) -> None:
        """``pairs`` is the most there can be."""
        self.settings = settings
        self.pairs = pairs
        self.counts = Pentanomial((0, 0, 0, 0, 0))
        """Pairs of the complete part of the schedule, as far as they count, from the view of player 1."""
        self.history: list[Pentanomial] = []
        """The same one by one."""
        self.games_seen = 0
        """Games of that part."""
        self.stopped_after: int | None = None
        """Games after which a hypothesis was accepted."""
        self._waiting: dict[int, float | None] = {}

    @classmethod
    def over(cls, settings: SequentialSettings, pairs: int, outcomes: Iterable[Outcome]) -> SequentialRun:
        """The test after these games."""
        run = cls(settings, pairs)
        for outcome in outcomes:
            run.add(outcome)
        return run

    @property
    def is_decided(self) -> bool:
        """Whether a hypothesis has been accepted; later games do not count."""
        return self.stopped_after is not None

    @property
    def state(self) -> SequentialTest:
        """The log-likelihood ratio of ``counts`` and the verdict, which falls only at interim analyses."""
        return self.settings.test(self.counts)

    @property
    def verdict(self) -> str:
        """``H1 accepted``, ``H0 accepted`` or ``undecided``."""
        if not self.is_decided:
            return "undecided"
        return "H1 accepted" if self.state.log_likelihood_ratio > 0 else "H0 accepted"

    def words(self, columns: int) -> str:
        """The log-likelihood ratio and its bounds, for the live line."""
        test = self.state
        ratio, low, high = (
            signed(value, 2) for value in (test.log_likelihood_ratio, test.lower_bound, test.upper_bound)
        )
        return f"LLR {ratio} [{low}, {high}]"[:columns]

    def described(self) -> dict[str, Any]:
        """The state as plain data."""
        test = self.state
        return {
            "verdict": self.verdict,
            "pairs": self.counts.pairs,
            "pentanomial": list(self.counts.counts),
            "llr": test.log_likelihood_ratio,
            "lower_bound": test.lower_bound,
            "upper_bound": test.upper_bound,
        }

    def add(self, outcome: Outcome) -> None:
        """Take up a game that has ended; raises ``ValueError`` if there is another one at its place already."""
        place, score = outcome.pairing.number, outcome.score
        if place in self._waiting or place < self.games_seen:
            raise ValueError(f"game {place} has ended twice")
        own = score if outcome.pairing.first == 0 or score is None else 1 - score
        self._waiting[place] = own
        while not self.is_decided and {self.games_seen, self.games_seen + 1} <= self._waiting.keys():
            one, other = (self._waiting.pop(self.games_seen + turn) for turn in (0, 1))
            self.games_seen += 2
            if one is not None and other is not None:
                self.history.append(Pentanomial.from_pairs([(one, other)]))
                self.counts += self.history[-1]
            pairs = self.games_seen // 2
            if (pairs % self.settings.batch_pairs == 0 or pairs == self.pairs) and self.state.verdict in DECIDED:
                self.stopped_after = self.games_seen
