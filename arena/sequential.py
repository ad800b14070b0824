"""A sequential test over the games of a match, and its power within the planned length.

The match ends after the same game at any concurrency. Interim analyses have fixed places in the schedule: after every
``batch_pairs`` pairs and at the end. An analysis is made when all games before its place have ended. Later games that
have already ended are stored but do not count.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from elolab.arena.records import Outcome
from elolab.arena.statistics.brownian import upper_bound_probability
from elolab.arena.statistics.elo import (
    NORMALIZED_UNIT,
    SPRT_MODELS,
    Array,
    Pentanomial,
    SequentialEstimate,
    SequentialTest,
    Trinomial,
    elo_of_score,
    estimate_after_test,
    log_likelihood_ratios,
    score_of_elo,
    sequential_test,
)
from elolab.arena.statistics.numbers import given_text
from elolab.engine.language import Catalogue, with_minus
from elolab.engine.settings import schema

MAX_HYPOTHESIS = 200
"""Largest absolute value of a hypothesis, in Elo. No distribution of outcomes agrees with much larger values."""
ERROR_PROBABILITIES = (0.000001, 0.499999)
"""Smallest and largest error probability that a test may have."""
MAX_PAIRS = 1_000_000
MIN_GAP = 0.001
"""Smallest difference between the hypotheses in Elo; no realistic number of games could distinguish closer ones."""
DECIDED = ("upper accepted", "lower accepted")
POWER = 0.8
"""Probability with which a test should detect its target effect."""
PLAUSIBLE_ELO = 50.0
"""A large Elo gain for a single change of settings. A test that would probably miss this gain is too weak."""
TYPICAL_DEVIATION = 0.3
"""Standard deviation of a pair's mean score (0 to 1), assumed before any game is played."""
TYPICAL_OUTCOMES = np.array([0.13, 0.2, 0.34, 0.2, 0.13])
"""Probabilities of a pair's five outcomes between equal players, from two losses to two wins.

The standard deviation of the pair's mean score is ``TYPICAL_DEVIATION``.
"""
MOST_TILT = 60.0
LARGE_SAMPLE = 1e4
"""Sample size, in pairs, at which ``contribution_of_pair`` approximates derivatives by differences."""
MOST_ELO = 800.0
MOST_PAIRS = 10**9
"""Maximum length of a test, in pairs, that planning considers. Longer tests count as endless."""


@dataclass(frozen=True)
class SequentialSettings:
    """The hypotheses of a sequential test of player 1 against player 2, and its interim analyses."""

    elo0: float = schema.number(-MAX_HYPOTHESIS, MAX_HYPOTHESIS, default=0.0, example=-3, unit="Elo")
    """Hypothesis H0: the Elo of player 1 relative to player 2, on the scale of ``model``."""
    elo1: float = schema.number(-MAX_HYPOTHESIS, MAX_HYPOTHESIS, default=5.0, example=10, unit="Elo")
    """Hypothesis H1, on the same scale as ``elo0`` and above it."""
    alpha: float = schema.number(*ERROR_PROBABILITIES, default=0.05, example=0.01)
    """Probability of accepting H1 although H0 is true."""
    beta: float = schema.number(*ERROR_PROBABILITIES, default=0.05, example=0.01)
    """Probability of accepting H0 although H1 is true."""
    model: str = schema.choice(SPRT_MODELS, default="normalized", example="logistic")
    """Scale of the hypotheses: ``normalized`` or ``logistic`` Elo."""
    batch_pairs: int = schema.whole(1, MAX_PAIRS, default=8, example=20, unit="pairs")
    """Number of pairs between two interim analyses."""

    def test(self, counts: Pentanomial | Trinomial) -> SequentialTest:
        """The state of the test after ``counts``, results of pairs or games from the point of view of player 1."""
        return _tested(self, counts)

    def text(self, say: Catalogue) -> str:
        """One sentence with the hypotheses, their model, the error probabilities and the bounds of the log-likelihood
        ratio.

        ``say`` is the message catalogue of ``arena``.
        """
        state = self.test(Pentanomial((0, 0, 0, 0, 0)))
        return say(
            "reach.test", elo0=given_text(self.elo0), elo1=given_text(self.elo1), model=say(f"reach.{self.model}"),
            alpha=f"{self.alpha:g}", beta=f"{self.beta:g}", lower=with_minus(f"{state.lower_bound:.2f}"),
            upper=f"{state.upper_bound:.2f}", pairs=self.batch_pairs,
        )  # fmt: skip

    def estimate(self, counts: Pentanomial | Trinomial) -> SequentialEstimate:
        """The median-unbiased estimate of player 1's Elo, from its results ``counts`` of pairs or games."""
        return estimate_after_test(counts, self.elo0, self.elo1, self.model, self.alpha, self.beta, self.batch_pairs)


@functools.lru_cache(maxsize=100_000)
def _tested(settings: SequentialSettings, counts: Pentanomial | Trinomial) -> SequentialTest:
    """The state of the test for these counts of results; cached, because callers repeat the same interim analyses."""
    return sequential_test(counts, settings.elo0, settings.elo1, settings.model, settings.alpha, settings.beta)


def ratios_by_pair(settings: SequentialSettings, pairs: Sequence[Pentanomial]) -> Array:
    """The log-likelihood ratio after each pair, shape (pairs,). An element of ``pairs`` has the counts of one pair."""
    counts = np.cumsum([pair.counts for pair in pairs], axis=0, dtype=float).reshape(-1, 5)
    return log_likelihood_ratios(counts, 2, settings.elo0, settings.elo1, settings.model)


class SequentialRun:
    """The sequential test of a match. Games are added in the order in which they end.

    Pair ``k`` consists of the games ``2k`` and ``2k + 1`` of the schedule.
    """

    def __init__(self, settings: SequentialSettings, pairs: int) -> None:
        """Start without games. ``pairs`` is the maximum length of the test."""
        self.settings = settings
        self.pairs = pairs
        self.counts = Pentanomial((0, 0, 0, 0, 0))
        """Outcomes of the pairs that count, from the point of view of player 1.

        These are the complete pairs before the first unfinished one, up to the decision.
        """
        self.history: list[Pentanomial] = []
        """The outcome of each pair in ``counts``, in schedule order."""
        self.games_seen = 0
        """Number of games in the evaluated pairs, including pairs in which a game has no result."""
        self.stopped_after: int | None = None
        """Number of games after which a hypothesis was accepted; ``None`` without a decision."""
        self._waiting: dict[int, float | None] = {}

    @classmethod
    def over(cls, settings: SequentialSettings, pairs: int, outcomes: Iterable[Outcome]) -> SequentialRun:
        """The test after games with these outcomes. ``pairs`` is the maximum length of the test."""
        run = cls(settings, pairs)
        for outcome in outcomes:
            run.add(outcome)
        return run

    @property
    def is_decided(self) -> bool:
        """Whether a hypothesis has been accepted. Later games do not count."""
        return self.stopped_after is not None

    @property
    def state(self) -> SequentialTest:
        """The state of the test after ``counts``. Its verdict only counts at interim analyses; see ``verdict``."""
        return self.settings.test(self.counts)

    @property
    def verdict(self) -> str:
        """The decision of the test: ``H1 accepted``, ``H0 accepted`` or ``undecided``."""
        if not self.is_decided:
            return "undecided"
        return "H1 accepted" if self.state.log_likelihood_ratio > 0 else "H0 accepted"

    def described(self) -> dict[str, Any]:
        """The state of the test as plain data."""
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
        """Add the outcome of a finished game; raises ``ValueError`` if a game with this number was added before."""
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


# --- What a test can show within its length ---------------------------------------------------------------------


@dataclass(frozen=True)
class Reach:
    """The power of a test within a maximum number of pairs."""

    kind: str
    """The effect to show: ``gain``, ``no_regression``, ``difference`` or ``equivalence``."""
    pairs: int
    least_pairs: int
    """Smallest number of pairs that can show the effect.

    This number suffices if all pairs are won or, for an equivalence, if all pairs have an even score.
    """
    elo: float
    """The smallest gain or difference, in logistic Elo, that the test detects with probability ``POWER``; infinite if
    none.

    For an equivalence test: the smallest margin within which the test shows equivalence with that probability.
    """
    target_elo: float
    """The effect that the test should detect, in logistic Elo: ``PLAUSIBLE_ELO``, or H1 if that is larger.

    For an equivalence test: the margin of equivalence.
    """
    target_pairs: int
    """Number of pairs needed to show ``target_elo`` with probability ``POWER``."""
    where: str
    """The file or command in which ``pairs`` is set."""
    length: str
    """Text that sets ``pairs`` in ``where``, with a placeholder for the number, such as ``--pairs {pairs}``."""
    easier: str
    """The key or option to increase in order to need fewer pairs, such as ``--elo1``."""
    openings: int | None = None
    """Maximum number of pairs that the available openings allow; ``None`` if unlimited."""

    @property
    def is_possible(self) -> bool:
        """Whether the effect can be shown at all within ``pairs`` pairs."""
        return self.pairs >= self.least_pairs

    @property
    def is_hopeless(self) -> bool:
        """Whether a run is pointless, because no outcome can show the ``gain`` or ``no_regression``.

        Always false for a ``difference`` or an ``equivalence``.
        """
        return not self.is_possible and self.kind in ("gain", "no_regression")

    @property
    def is_likely(self) -> bool:
        """Whether the test shows ``target_elo`` with a probability of at least ``POWER``."""
        return self.elo <= self.target_elo

    def data(self) -> dict[str, Any]:
        """The power of the test as plain data: the fields and properties of this class."""
        return asdict(self) | {"is_possible": self.is_possible, "is_likely": self.is_likely, "probability": POWER}

    def text(self, say: Catalogue) -> str:
        """One sentence about the power. ``say`` is the message catalogue of ``arena``."""
        state = "impossible" if not self.is_possible else "" if self.is_likely else "weak"
        if state == "weak" and math.isinf(self.elo):
            state = "never"
        return say(
            f"reach.{self.kind}{'_' * bool(state)}{state}",
            pairs=self.pairs,
            least=self.least_pairs,
            elo="" if math.isinf(self.elo) else with_minus(str(math.ceil(self.elo))),
            target=given_text(math.ceil(self.target_elo)),
            percent=f"{100 * POWER:.0f}",
            remedy=self.remedy(self.target_pairs, say),
        )

    def remedy(self, pairs: int, say: Catalogue) -> str:
        """Advice to allow ``pairs`` pairs or, if there are too few openings, to choose settings that need fewer."""
        if self.openings is not None and pairs > self.openings:
            return say("reach.more_openings", pairs=pairs, openings=self.openings, easier=self.easier)
        return say("reach.longer", length=self.length.format(pairs=pairs))


@functools.lru_cache(maxsize=1024)
def reach_of_test(
    settings: SequentialSettings, pairs: int, kind: str, where: str, length: str, easier: str,
    openings: int | None = None,
) -> Reach:  # fmt: skip
    """The power of a sequential test with at most ``pairs`` pairs; the other arguments are fields of ``Reach``."""
    target = target_of(settings)
    return Reach(
        kind, pairs, least_pairs(settings), detectable_gain(settings, pairs), target,
        pairs_to_accept(settings, target), where, length, easier, openings,
    )  # fmt: skip


def target_of(settings: SequentialSettings) -> float:
    """The gain that a test should detect, in logistic Elo: ``PLAUSIBLE_ELO``, or H1 if that is larger."""
    upper = settings.elo1
    if settings.model == "normalized":
        upper = elo_of_score(0.5 + TYPICAL_DEVIATION * math.sqrt(2) * upper / NORMALIZED_UNIT)
    return max(PLAUSIBLE_ELO, upper)


@functools.lru_cache(maxsize=1024)
def least_pairs(settings: SequentialSettings) -> int:
    """Smallest number of pairs after which H1 can be accepted, if player 1 wins all games."""
    return first_pairs(lambda pairs: settings.test(Pentanomial((0, 0, 0, 0, pairs))).verdict == "upper accepted")


def acceptance_probability(settings: SequentialSettings, elo: float, pairs: int) -> float:
    """Probability that H1 is accepted within ``pairs`` pairs if the true gain is ``elo`` (logistic Elo).

    Models the log-likelihood ratio as a Brownian motion with the mean and variance of its steps. This model ignores
    that analyses are only made after whole batches; ``arena.testing.expectation`` takes this into account.
    """
    mean, variance = _step(settings, elo)
    test = sequential_test(Pentanomial((0, 0, 0, 0, 0)), alpha=settings.alpha, beta=settings.beta)
    return upper_bound_probability(test.lower_bound, test.upper_bound, mean / variance, pairs * variance)


@functools.lru_cache(maxsize=4096)
def _step(settings: SequentialSettings, elo: float) -> tuple[float, float]:
    """The result of ``contribution_of_pair`` at a true gain of ``elo`` (logistic Elo), cached."""
    return contribution_of_pair(settings, typical_outcomes(elo))


def contribution_of_pair(settings: SequentialSettings, outcomes: Array) -> tuple[float, float]:
    """Mean and variance of one pair's contribution to the log-likelihood ratio.

    ``outcomes`` has the probabilities of the five outcomes, shape (5,). The ratio is a homogeneous function of the
    counts, so each outcome contributes the partial derivative with respect to its count.
    """
    counts = LARGE_SAMPLE * outcomes
    rows = np.vstack([counts, counts + np.eye(len(outcomes))])
    ratios = log_likelihood_ratios(rows, 2, settings.elo0, settings.elo1, settings.model)
    steps = ratios[1:] - ratios[0]
    mean = float(outcomes @ steps)
    return mean, float(outcomes @ (steps - mean) ** 2)


def typical_outcomes(elo: float) -> Array:
    """Probabilities of a pair's five outcomes, from two losses to two wins, at a true gain of ``elo`` (logistic Elo).

    ``TYPICAL_OUTCOMES`` are tilted exponentially to the mean score that corresponds to ``elo``.
    """
    return tilted_outcomes(TYPICAL_OUTCOMES, elo)


def tilted_outcomes(base: Array, elo: float) -> Array:
    """Tilt the probabilities ``base``, shape (5,), exponentially to the mean score of ``elo`` (logistic)."""
    scores, wanted = np.linspace(0, 1, 5), score_of_elo(elo)
    low, high = -MOST_TILT, MOST_TILT
    for _ in range(60):
        middle = (low + high) / 2
        outcomes = base * np.exp(middle * (scores - wanted))
        outcomes /= outcomes.sum()
        low, high = (middle, high) if outcomes @ scores < wanted else (low, middle)
    return outcomes


def detectable_gain(settings: SequentialSettings, pairs: int) -> float:
    """The smallest gain, in logistic Elo, for which H1 is accepted within ``pairs`` pairs with probability ``POWER``.

    Infinite if there is none.
    """
    low, high = -MOST_ELO, MOST_ELO
    if acceptance_probability(settings, high, pairs) < POWER:
        return math.inf
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if acceptance_probability(settings, middle, pairs) >= POWER else (middle, high)
    return high


@functools.lru_cache(maxsize=1024)
def pairs_to_accept(settings: SequentialSettings, elo: float) -> int:
    """Smallest number of pairs within which H1 is accepted with probability ``POWER`` if the true gain is ``elo``.

    ``elo`` is logistic Elo; the result is at most ``MOST_PAIRS``.
    """
    return first_pairs(lambda pairs: acceptance_probability(settings, elo, pairs) >= POWER)


def expected_pairs(test: SequentialTest, pairs: int) -> int | None:
    """Total number of pairs that a test will probably need. ``test`` is the test's state after ``pairs`` pairs.

    Extrapolates the log-likelihood ratio linearly, above 0 to the upper bound and below 0 to the lower bound. Returns
    ``None`` for a decided test, and for a ratio that is too close to 0.
    """
    ratio = test.log_likelihood_ratio
    bound = test.upper_bound if ratio > 0 else test.lower_bound
    if test.verdict != "undecided" or abs(ratio) * MOST_PAIRS < abs(bound) * max(1, pairs):
        return None
    return math.ceil(pairs * bound / ratio)


def first_pairs(holds: Callable[[int], bool]) -> int:
    """Smallest number of pairs for which ``holds`` is true; ``MOST_PAIRS`` if it is false for all smaller numbers.

    Once ``holds`` is true, it must be true for all larger numbers.
    """
    high = 1
    while not holds(high):
        if high >= MOST_PAIRS:
            return MOST_PAIRS
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
