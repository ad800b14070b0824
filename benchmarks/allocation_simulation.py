"""Simulates the sequential allocation of games to comparisons, with fixed random seeds.

    python benchmarks/allocation_simulation.py [--runs N]

The simulation answers two questions. If no comparison has an effect, how often is a difference declared? This rate must
not exceed the nominal error rate by more than two Monte-Carlo standard errors. If effects are as in a typical ablation,
how often do the verdicts agree with the verdicts after an equal split of the games, and how many games does the
allocation save? Games follow Davidson's model with 40 % draws between equal players. Each opening favours a colour by
the same amount in every comparison.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

from elolab.arena.statistics.elo import Pentanomial, score_of_elo
from elolab.tuning.ablation.allocation import Allocation
from elolab.tuning.ablation.comparison_verdicts import (
    BETTER,
    DIFFERENT,
    EQUIVALENT,
    UNDECIDED,
    WORSE,
    EffectEstimate,
    Question,
    VerdictRule,
    match_evidence,
)

DRAW_RATE = 0.4
"""Share of draws between equal players."""
OPENING_DEVIATION_ELO = 60.0
"""Standard deviation of the advantage of a colour in an opening, as a difference of strength (see ``chances``)."""
ABLATION_EFFECTS = (-320, -190, -130, -90, -70, -55, -45, -35, -20, -10, 0, 0, 0, 15, 30)
"""Simulated effects of removing a feature, in logistic Elo: large losses, no effect, and gains."""
ABLATION_PAIRS = 1000
NULL_COMPARISONS = 15
NULL_PAIRS = 100


OPENING_POINTS = 32
"""Number of quadrature points for averages over the bias of openings."""


def chances(strengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities of a loss and of a draw in Davidson's model, given differences of strength: three arrays of one
    shape.

    Without draws, a difference of strength would be logistic Elo. The more draws there are, the less a difference
    changes the score: with 40 % draws, a difference of 10 is worth 5.9 Elo.
    """
    odds = 10 ** (strengths / 400)
    weight = 2 * DRAW_RATE / (1 - DRAW_RATE) * np.sqrt(odds)
    return 1 / (1 + odds + weight), weight / (1 + odds + weight)


@lru_cache
def strength_of(elo: float) -> float:
    """Difference of strength in Davidson's model that has, averaged over openings, the score of ``elo`` (logistic)."""
    points, weights = np.polynomial.hermite_e.hermegauss(OPENING_POINTS)
    low, high = -20 * abs(elo) - 1, 20 * abs(elo) + 1
    for _ in range(60):
        middle = (low + high) / 2
        lost, drawn = chances(middle + OPENING_DEVIATION_ELO * points)
        score = float(weights @ (1 - lost - drawn / 2) / weights.sum())
        low, high = (middle, high) if score < score_of_elo(elo) else (low, middle)
    return (low + high) / 2


def simulated_pairs(effects: Sequence[float], pairs: int, generator: np.random.Generator) -> np.ndarray:
    """Simulate outcomes of game pairs: 0 to 4 half points of the variant, LL to WW. The shape is (comparisons, pairs).

    All comparisons have the same openings. ``effects`` are in logistic Elo, like all Elo figures of ablations.
    """
    openings = generator.normal(0, OPENING_DEVIATION_ELO, pairs)
    strengths = np.array([strength_of(float(effect)) for effect in effects])
    total = np.zeros((len(effects), pairs), int)
    for sign in (1, -1):
        lost, drawn = chances(strengths[:, None] + sign * openings[None, :])
        drawn_at = generator.random(total.shape)
        total += np.where(drawn_at < lost, 0, np.where(drawn_at < lost + drawn, 1, 2))
    return total


@dataclass(frozen=True)
class Outcome:
    verdicts: tuple[str, ...]
    pairs: int


def played(outcomes: np.ndarray, rule: VerdictRule) -> Outcome:
    """Play a whole ablation on outcomes from ``simulated_pairs``, with the code that allocates games in ablations."""

    def question(match: int) -> Question:
        def estimate_after(pairs: int) -> EffectEstimate:
            counts = np.bincount(outcomes[match, :pairs], minlength=5)
            return match_evidence(Pentanomial(tuple(map(int, counts))), rule.margin_elo)  # type: ignore[arg-type]

        return Question.about((match,), estimate_after, outcomes.shape[1], rule)

    comparisons, pairs = outcomes.shape
    allocation = Allocation([pairs] * comparisons, [question(match) for match in range(comparisons)], rule)
    while (wanted := allocation.next_pairs()) is not None:
        allocation.analyse(wanted)
    return Outcome(tuple(question.verdict for question in allocation.questions), sum(allocation.pairs))


def false_difference_rate(runs: int, rule: VerdictRule, comparisons: int = NULL_COMPARISONS, pairs: int = NULL_PAIRS,
                          random_seed: int = 1) -> float:  # fmt: skip
    """Share of runs without any effect in which at least one difference is declared."""
    generator = np.random.default_rng(random_seed)
    wrong = 0
    for _ in range(runs):
        outcome = played(simulated_pairs([0.0] * comparisons, pairs, generator), rule)
        wrong += any(verdict in DIFFERENT for verdict in outcome.verdicts)
    return wrong / runs


@dataclass(frozen=True)
class Comparison:
    """The sequential allocation compared with an equal split of the games."""

    same: float
    """Share of comparisons in which the allocation and the equal split give the same verdict, or both give none."""
    games: float
    """Number of games of the allocation divided by the number of games of the equal split."""
    false: tuple[float, float]
    """Share of runs with at least one false verdict: for the allocation, and for the equal split."""
    decided: tuple[float, float]
    """Share of comparisons that get a verdict: in the allocation, and in the equal split."""
    contradictions: float
    """Share of comparisons in which the allocation and the equal split both give a verdict, but different ones."""


def beside_equal_split(
    runs: int,
    rule: VerdictRule,
    effects: Sequence[float] = ABLATION_EFFECTS,
    pairs: int = ABLATION_PAIRS,
    random_seed: int = 2,
) -> Comparison:
    """Play the allocation and an equal split on common simulated outcomes, and compare them."""
    generator = np.random.default_rng(random_seed)
    same = played_pairs = contradictions = 0
    false, decided = [0, 0], [0, 0]
    for _ in range(runs):
        outcomes = simulated_pairs(effects, pairs, generator)
        ends = (played(outcomes, rule), played(outcomes, VerdictRule(rule.margin_elo, rule.error_rate, 1)))
        played_pairs += ends[0].pairs
        for one, other in zip(ends[0].verdicts, ends[1].verdicts, strict=True):
            same += one == other
            contradictions += UNDECIDED not in (one, other) and one != other
        for place, end in enumerate(ends):
            false[place] += any(map(is_false, end.verdicts, effects, [rule.margin_elo] * len(effects)))
            decided[place] += sum(verdict != UNDECIDED for verdict in end.verdicts)
    total = runs * len(effects)
    return Comparison(
        same / total, played_pairs / (total * pairs), (false[0] / runs, false[1] / runs),
        (decided[0] / total, decided[1] / total), contradictions / total,
    )  # fmt: skip


def is_false(verdict: str, elo: float, margin_elo: float) -> bool:
    """Whether a verdict contradicts the true effect ``elo``, given the equivalence margin ``margin_elo``."""
    return (
        (verdict == BETTER and elo <= 0)
        or (verdict == WORSE and elo >= 0)
        or (verdict == EQUIVALENT and abs(elo) >= margin_elo)
    )


def main() -> int:
    """Print both simulations; return 1 if one of them misses its goal."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=4000, help="simulated runs without effects (default %(default)s)")
    runs = parser.parse_args().runs
    goals = []
    for rule in (VerdictRule(rounds=5), VerdictRule(rounds=10), VerdictRule(margin_elo=40.0, rounds=5)):
        rate = false_difference_rate(runs, rule)
        most = rule.error_rate + 2 * math.sqrt(rule.error_rate * (1 - rule.error_rate) / runs)
        goals.append(rate <= most)
        print(
            f"no effects, {NULL_COMPARISONS} comparisons of {NULL_PAIRS} pairs, {rule.rounds} rounds, margin "
            f"{rule.margin_elo:g}: any false difference in {100 * rate:.2f} % of {runs} runs (at most {100 * most:.2f})"
        )
    for rounds in (5, 10):
        found = beside_equal_split(max(1, runs // 20), VerdictRule(rounds=rounds))
        goals += [found.games <= 0.6, found.same >= 0.95, found.contradictions == 0]
        print(
            f"an ablation's effects, {len(ABLATION_EFFECTS)} comparisons of {ABLATION_PAIRS} pairs, {rounds} rounds: "
            f"{100 * found.games:.1f} % of the games of a fixed equal split, {100 * found.same:.1f} % of the verdicts "
            f"the same, {100 * found.contradictions:.1f} % contradictory; decided {100 * found.decided[0]:.1f} % "
            f"against {100 * found.decided[1]:.1f} %; runs with a false verdict {100 * found.false[0]:.1f} % against "
            f"{100 * found.false[1]:.1f} %"
        )
    return 0 if all(goals) else 1


if __name__ == "__main__":
    sys.exit(main())
