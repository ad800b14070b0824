"""Checks statistics by simulation: coverage of intervals, errors of sequential tests, and estimates after a test.

    python benchmarks/statistics_simulation.py [--share 0.1]

Random seeds are fixed, so that a repeated run gives the same table. ``--share`` plays only this share of the matches.
Goals are for the whole simulation; with fewer matches chance alone may miss them.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from elolab.arena.statistics.elo import (
    NATURAL_TO_ELO,
    NORMALIZED_UNIT,
    Pentanomial,
    elo_of_score,
    estimate_after_test,
    log_likelihood_ratios,
    score_of_elo,
)
from elolab.arena.statistics.intervals import INTERVAL_DEVIATIONS, deviations_from
from elolab.arena.statistics.ratings import PairingCounts, fit_ratings, outcome_probabilities

Array = NDArray[np.float64]

SCORES = np.linspace(0, 1, 5)
KINDS = {
    "drawish": (0.01, 0.14, 0.70, 0.14, 0.01),
    "ordinary": (0.05, 0.20, 0.50, 0.20, 0.05),
    "decisive": (0.20, 0.10, 0.40, 0.10, 0.20),
}
"""Probabilities of the five outcomes of a game pair between equal players, by the kind of play."""
MATCHES = 10_000
PAIRS = 100
SHORT_MATCHES = 4_000
PAIRS_OF_MATCHES = (1, 2, 3, 5, 7, 10, 12, 15, 20, 25, 30, 40, 50, 70, 100, 200)
EXTREME_STRENGTHS = (0, 25, 50, 100, 200, 300, 400, 500, 600)
"""Simulated strengths of the stronger side, in Elo. The interval of the weaker side is the mirror image."""
DRAW_SHARES = (0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.95)
EXTREME_SHAPES = {
    **{f"{draws:.0%} drawn": (((1 - draws) / 2) ** 2, (1 - draws) * draws, (1 - draws) ** 2 / 2 + draws**2,
                              (1 - draws) * draws, ((1 - draws) / 2) ** 2) for draws in DRAW_SHARES},
    "games that differ": (0.003, 0.01, 0.974, 0.01, 0.003),
    "games often alike": (0.2, 0.1, 0.4, 0.1, 0.2),
    "games mostly alike": (0.45, 0.02, 0.06, 0.02, 0.45),
    "decided pairs are won twice": (0.1, 0, 0.8, 0, 0.1),
}  # fmt: skip
"""Outcome probabilities of a pair between equal players: independent games with draws, then dependent games."""
LEAST_COVERAGE = 0.93
"""Minimum coverage of 95 % intervals in every kind of match, also if it is very short, one-sided or drawish."""
STRENGTHS = (-200, -100, -50, 0, 20, 50, 100, 200)
COVERAGE_GOAL = (0.94, 0.96)
TESTS = 4_000
LOOK_PAIRS = 8
MAX_PAIRS = 40_000
ERROR = 0.05
ESTIMATED_TESTS = 1_500
TOURNAMENTS = 4_000
PARTS = ("coverage", "tests", "estimates", "joint")


@dataclass(frozen=True)
class Row:
    """One line of the table: what was simulated, the result, its goal, and whether the goal is met."""

    what: str
    figure: str
    goal: str
    met: bool


def tilted(kind: str | Sequence[float], score: float) -> Array:
    """Probabilities of a pair's five outcomes, tilted exponentially to the mean score ``score`` (0 to 1).

    ``kind`` is the distribution to tilt, or its key in ``KINDS``.
    """
    base = np.array(KINDS[kind] if isinstance(kind, str) else kind)
    low, high = -60.0, 60.0
    for _ in range(200):
        middle = (low + high) / 2
        weights = base * np.exp(middle * SCORES)
        low, high = (middle, high) if weights @ SCORES / weights.sum() < score else (low, middle)
    return weights / weights.sum()


def with_normalized_elo(kind: str, elo: float) -> Array:
    """Probabilities of a pair's outcomes in a kind of play, tilted so that the normalized Elo is ``elo``."""
    low, high = 0.01, 0.99
    for _ in range(60):
        middle = (low + high) / 2
        chances = tilted(kind, middle)
        deviation = math.sqrt(2 * chances @ (SCORES - middle) ** 2)
        low, high = (middle, high) if (middle - 0.5) / deviation * NORMALIZED_UNIT < elo else (low, middle)
    return chances


# Intervals of a match


def coverage(kind: str | Sequence[float], elo: float, matches: int, pairs: int = PAIRS) -> float:
    """Share of matches of ``pairs`` pairs whose 95 % interval contains the true score."""
    truth = score_of_elo(elo)
    generator = np.random.default_rng(11)
    drawn = generator.multinomial(pairs, tilted(kind, truth), matches)
    rows, times = np.unique(drawn, axis=0, return_counts=True)
    holds = [abs(deviations_from(tuple(row), truth)) <= INTERVAL_DEVIATIONS for row in rows.tolist()]
    return float(times @ holds) / matches


def coverage_rows(share: float) -> Iterator[Row]:
    """Yield lines about coverage for every kind of play and strength."""
    matches = round(MATCHES * share)
    for kind in KINDS:
        for elo in STRENGTHS:
            found = coverage(kind, elo, matches)
            met = COVERAGE_GOAL[0] <= found <= COVERAGE_GOAL[1]
            yield Row(f"95 % interval, {kind}, {elo:+d} Elo", f"{100 * found:.2f} %", "94 to 96 %", met)
    matches = round(SHORT_MATCHES * share)
    for pairs in PAIRS_OF_MATCHES:
        found_at = {
            (shape, elo): coverage(outcomes, elo, matches, pairs)
            for shape, outcomes in EXTREME_SHAPES.items()
            for elo in EXTREME_STRENGTHS
        }
        shape, elo = min(found_at, key=found_at.__getitem__)
        least, mean = found_at[shape, elo], float(np.mean(list(found_at.values())))
        yield Row(
            f"95 % interval, {pairs} pairs, {len(found_at)} x {matches} matches",
            f"least {100 * least:.1f} % ({shape}, {elo:+d} Elo), mean {100 * mean:.1f} %",
            f"at least {100 * LEAST_COVERAGE:.0f} %", least >= LEAST_COVERAGE,
        )  # fmt: skip


# Sequential tests


@dataclass(frozen=True)
class Stopped:
    """Results of simulated sequential tests that have ended."""

    counts: Array
    """Counts of pair outcomes at the end of each test, shape (tests, 5)."""
    accepted: NDArray[np.int64]
    """1 if H1 was accepted, -1 if H0 was, 0 if the test reached ``MAX_PAIRS``; shape (tests,)."""

    @property
    def pairs(self) -> Array:
        """Number of pairs of each test, shape (tests,)."""
        pairs: Array = self.counts.sum(axis=1)
        return pairs


def run_tests(chances: Array, elo0: float, elo1: float, model: str, tests: int, seed: int) -> Stopped:
    """Simulate many sequential tests until all have ended; ``chances`` are the probabilities of a pair's outcomes."""
    generator = np.random.default_rng(seed)
    counts = np.zeros((tests, 5))
    accepted = np.zeros(tests, np.int64)
    going = np.arange(tests)
    bound = math.log((1 - ERROR) / ERROR)
    for _ in range(MAX_PAIRS // LOOK_PAIRS):
        counts[going] += generator.multinomial(LOOK_PAIRS, chances, len(going))
        ratios = log_likelihood_ratios(counts[going], 2, elo0, elo1, model)
        accepted[going] = np.where(ratios >= bound, 1, np.where(ratios <= -bound, -1, 0))
        going = going[np.abs(ratios) < bound]
        if not len(going):
            break
    return Stopped(counts, accepted)


def test_rows(share: float) -> Iterator[Row]:
    """Yield lines about error rates and lengths of sequential tests, under both hypotheses and half-way between."""
    tests = round(TESTS * share)
    allowed = ERROR + 2 * math.sqrt(ERROR * (1 - ERROR) / tests)
    for model, kind, elo0, elo1 in (
        ("normalized", "ordinary", 0, 30), ("normalized", "drawish", 0, 30), ("normalized", "decisive", 0, 30),
        ("logistic", "ordinary", 0, 30), ("normalized", "ordinary", -15, 15),
    ):  # fmt: skip
        for place, wrong in ((0.0, 1), (0.5, 0), (1.0, -1)):
            elo = elo0 + place * (elo1 - elo0)
            chances = with_normalized_elo(kind, elo) if model == "normalized" else tilted(kind, score_of_elo(elo))
            ended = run_tests(chances, elo0, elo1, model, tests, 21)
            what = f"test of {elo0} against {elo1} {model} Elo, {kind}, truth {elo:g}"
            pairs = f"{ended.pairs.mean():.0f} pairs"
            if not wrong:
                yield Row(what, f"H1 in {100 * (ended.accepted == 1).mean():.1f} %, {pairs}", "", True)
                continue
            rate = float((ended.accepted == wrong).mean())
            goal = f"at most {100 * allowed:.1f} %"
            yield Row(what, f"wrong in {100 * rate:.2f} %, {pairs}", goal, rate <= allowed)


def estimate_rows(share: float) -> Iterator[Row]:
    """Yield lines about estimates after a test: how often they are too high, and the coverage of their intervals."""
    tests = round(ESTIMATED_TESTS * share)
    for kind, truth in (("ordinary", 0.0), ("ordinary", 15.0), ("ordinary", 30.0), ("decisive", 15.0)):
        chances = with_normalized_elo(kind, truth)
        elo = elo_of_score(float(chances @ SCORES))
        ended = run_tests(chances, 0, 30, "normalized", tests, 31)
        counts = [Pentanomial(tuple(int(count) for count in row)) for row in ended.counts]  # type: ignore[arg-type]
        after = [estimate_after_test(row, 0, 30) for row in counts]
        above = float(np.mean([entry.elo > elo for entry in after]))
        covered = float(np.mean([entry.elo_low <= elo <= entry.elo_high for entry in after]))
        naive = float(np.median([row.estimate().elo for row in counts])) - elo
        median = float(np.median([entry.elo for entry in after])) - elo
        what = f"Elo after a test of 0 against 30, {kind}, truth {truth:g}"
        margin = 2 / math.sqrt(4 * tests) + 0.02
        yield Row(
            f"{what}: too high", f"{100 * above:.1f} % (median off by {median:+.2f}, without correction {naive:+.2f})",
            f"50 ± {100 * margin:.1f} %", abs(above - 0.5) <= margin,
        )  # fmt: skip
        margin = 2 * math.sqrt(0.05 * 0.95 / tests) + 0.01
        yield Row(
            f"{what}: interval", f"{100 * covered:.1f} %", f"95 ± {100 * margin:.1f} %", abs(covered - 0.95) <= margin
        )


# The joint fit


STRENGTHS_OF_PLAYERS = (0.0, 0.05, 0.3, -0.4, 0.8, -1.2)
"""Strengths of the players as natural logarithms; the first two players are almost the same program."""
SCHEDULE = {(0, 1): 200, (0, 2): 60, (0, 3): 25, (0, 4): 100, (1, 4): 30, (2, 3): 15, (3, 5): 40}
"""Number of game pairs for each two players, by their indices. The schedule is uneven, and some players do not meet."""
SHORT_GAUNTLET = {(0, other): 5 for other in range(1, 6)}
"""Schedule of a gauntlet so short that intervals from each pairing's own results would need Student's t."""
ADVANTAGE = 0.25
DRAW_PARAMETER = 1.2
SAME_ENGINE = 0.6
"""Share of pairs of the first two players in which both games have the same moves, as between almost equal programs."""


def play_tournament(
    generator: np.random.Generator, schedule: Mapping[tuple[int, int], int] = SCHEDULE
) -> list[PairingCounts]:
    """Simulate one tournament; return the results of its pairings."""
    played = []
    for (one, other), pairs in schedule.items():
        gap = STRENGTHS_OF_PLAYERS[one] - STRENGTHS_OF_PLAYERS[other]
        as_first, as_second = outcome_probabilities(np.array([gap + ADVANTAGE, gap - ADVANTAGE]), DRAW_PARAMETER)
        table = np.outer(as_first, as_second)
        if (one, other) == (0, 1):
            table = coupled(table, as_first, as_second)
        counts = generator.multinomial(pairs, table.ravel()).reshape(3, 3)
        rows = tuple(tuple(int(count) for count in row) for row in counts)
        played.append(PairingCounts(one, other, rows))  # type: ignore[arg-type]
    return played


def coupled(table: Array, as_first: Array, as_second: Array) -> Array:
    """Outcome probabilities of a pair's two games, shape (3, 3), if a player often wins one game and loses the other.

    ``as_first`` and ``as_second`` are the margins of ``table``; the result has the same margins. It is a mixture of
    ``table`` and of the most extreme table with these margins, which the north-east corner rule gives.
    """
    extreme = np.zeros((3, 3))
    rows, columns = as_first.copy(), as_second.copy()
    for row in range(3):
        for column in reversed(range(3)):
            extreme[row, column] = min(rows[row], columns[column])
            rows[row] -= extreme[row, column]
            columns[column] -= extreme[row, column]
    mixed: Array = (1 - SAME_ENGINE) * table + SAME_ENGINE * extreme
    return mixed


def joint_coverage(
    tournaments: int, schedule: Mapping[tuple[int, int], int] = SCHEDULE
) -> dict[tuple[int, int], float]:
    """By two players' indices: share of tournaments in which the interval of their difference holds the true one."""
    generator = np.random.default_rng(41)
    players = len(STRENGTHS_OF_PLAYERS)
    _, draw, win = outcome_probabilities(np.array([ADVANTAGE]), DRAW_PARAMETER)[0]
    unit = 4 * (draw / 4 + win - (draw / 2 + win) ** 2) * NATURAL_TO_ELO
    covered = {(one, other): 0 for one in range(players) for other in range(one + 1, players)}
    for _ in range(tournaments):
        fit = fit_ratings(players, play_tournament(generator, schedule))
        for one, other in covered:
            elo, error = fit.difference(one, other)
            truth = (STRENGTHS_OF_PLAYERS[one] - STRENGTHS_OF_PLAYERS[other]) * unit
            covered[one, other] += abs(elo - truth) <= error
    return {key: count / tournaments for key, count in covered.items()}


def joint_rows(share: float) -> Iterator[Row]:
    """Yield lines about the joint fit: coverage of the differences on an uneven schedule and in a short gauntlet."""
    found = joint_coverage(round(TOURNAMENTS * share))
    low, high = COVERAGE_GOAL
    mean = float(np.mean(list(found.values())))
    what = f"joint fit, uneven schedule of {len(STRENGTHS_OF_PLAYERS)} players"
    yield Row(f"{what}: mean of all differences", f"{100 * mean:.2f} %", "94 to 96 %", low <= mean <= high)
    for (one, other), rate in found.items():
        pairs = SCHEDULE.get((one, other), 0)
        yield Row(
            f"{what}: {one} against {other} ({pairs} pairs)", f"{100 * rate:.2f} %", "93 to 97 %", 0.93 <= rate <= 0.97
        )
    few = float(np.mean(list(joint_coverage(round(TOURNAMENTS * share), SHORT_GAUNTLET).values())))
    what = f"joint fit, gauntlet of {len(STRENGTHS_OF_PLAYERS)} players and 5 pairs each: mean of all differences"
    yield Row(what, f"{100 * few:.2f} %", "94 to 99 %", 0.94 <= few <= 0.99)


def main() -> int:
    """Run all parts and print the table; return 1 if a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--share", type=float, default=1.0, help="part of the matches to play (default 1)")
    parser.add_argument("--only", choices=PARTS, help="one part of the table")
    arguments = parser.parse_args()
    missed = 0
    parts = {"coverage": coverage_rows, "tests": test_rows, "estimates": estimate_rows, "joint": joint_rows}
    for name, rows in parts.items():
        if arguments.only not in (None, name):
            continue
        started = time.perf_counter()
        for row in rows(arguments.share):
            missed += not row.met
            goal = f"   (goal: {row.goal}{'' if row.met else ': MISSED'})" if row.goal else ""
            print(f"{row.what}: {row.figure}{goal}", flush=True)
        print(f"    {time.perf_counter() - started:.0f} s", flush=True)
    print(f"{missed or 'no'} goal{'' if missed == 1 else 's'} missed")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
