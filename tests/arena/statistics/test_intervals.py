"""The interval of a match: coverage by enumeration, order, the oracles of its parts."""

from __future__ import annotations

import itertools
import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from elolab.arena.statistics.elo import Pentanomial, score_of_elo
from elolab.arena.statistics.intervals import INTERVAL_DEVIATIONS, deviations_from, score_bounds, tolerance

SCORES = np.linspace(0, 1, 5)
COUNTS = st.tuples(*[st.integers(0, 30)] * 5)


def pairs_of_games(elo: float, draws: float) -> np.ndarray:
    """Chances of LL, LD, even, WD, WW where games are independent; ``draws`` is the share of draws over the most."""
    score = score_of_elo(elo)
    drawn = 2 * draws * min(score, 1 - score)
    game = np.array([1 - score - drawn / 2, drawn, score - drawn / 2])
    return np.convolve(game, game)


def coverage(rows: np.ndarray, shares: np.ndarray, truth: float) -> float:
    """Share of the rows of counts, weighted by ``shares``, whose 95 % interval holds the truth."""
    held = [abs(deviations_from(tuple(row), truth)) <= INTERVAL_DEVIATIONS for row in rows.tolist()]
    return float(shares @ held)


def all_outcomes(pairs: int, kinds: list[int]) -> np.ndarray:
    """Every way in which so many pairs can have outcomes of these kinds (0 to 4), shape (ways, 5)."""
    rows = np.zeros((math.comb(pairs + len(kinds) - 1, len(kinds) - 1), 5), int)
    for row, bars in zip(rows, itertools.combinations(range(pairs + len(kinds) - 1), len(kinds) - 1), strict=True):
        row[kinds] = np.diff([-1, *bars, pairs + len(kinds) - 1]) - 1
    return rows


def exact_coverage(pairs: int, chances: np.ndarray) -> float:
    """The coverage by enumeration; what is less likely than one in ten million counts as not covered."""
    rows = all_outcomes(pairs, [kind for kind in range(5) if chances[kind]])
    shares = stats.multinomial.pmf(rows, pairs, chances)
    kept = shares > 1e-7
    return coverage(rows[kept], shares[kept], float(chances @ SCORES))


@pytest.mark.parametrize("pairs", [1, 2, 5, 8])
@pytest.mark.parametrize("elo", [0, 100, 300, 600])
@pytest.mark.parametrize("draws", [0.0, 0.5, 0.9])
def test_coverage_of_few_pairs_by_enumeration(pairs: int, elo: float, draws: float) -> None:
    assert exact_coverage(pairs, pairs_of_games(elo, draws)) >= 0.93


@pytest.mark.parametrize(("pairs", "elo"), [(10, 500), (15, 500), (15, 300), (20, 600), (20, 400), (30, 500)])
def test_coverage_of_one_sided_pairs_by_enumeration(pairs: int, elo: float) -> None:
    """Games without draws; 15 pairs at +500 Elo were covered in 86.9 % by Student's t."""
    assert exact_coverage(pairs, pairs_of_games(elo, 0.0)) >= 0.93


@pytest.mark.integration
@pytest.mark.parametrize("pairs", [9, 12, 14, 18, 24, 28, 40, 50])
def test_coverage_where_both_games_of_a_pair_end_alike_by_enumeration(pairs: int) -> None:
    """The least of all: 18 such pairs of equals were covered in 90.4 % by 1.96 standard errors."""
    rows = all_outcomes(pairs, [0, 4])
    for elo in range(0, 601, 20):
        score = score_of_elo(elo)
        assert coverage(rows, stats.binom.pmf(rows[:, 4], pairs, score), score) >= 0.93


@pytest.mark.integration
@pytest.mark.parametrize("pairs", [30, 70, 100, 200])
@pytest.mark.parametrize(("elo", "draws"), [(500, 0.0), (500, 0.9), (300, 0.6), (100, 0.0), (0, 0.98), (0, 0.5)])
def test_coverage_of_one_sided_and_drawish_matches(pairs: int, elo: float, draws: float) -> None:
    chances = pairs_of_games(elo, draws)
    drawn = np.random.default_rng(8).multinomial(pairs, chances, 1500)
    rows, times = np.unique(drawn, axis=0, return_counts=True)
    allowed = 2 * math.sqrt(0.93 * 0.07 / 1500)
    assert coverage(rows, times / 1500, float(chances @ SCORES)) >= 0.93 - allowed


@given(COUNTS, st.integers(0, 3), st.sampled_from([1.0, INTERVAL_DEVIATIONS, 4.0]))
def test_a_better_pair_never_lowers_a_bound(counts: tuple[int, ...], place: int, deviations: float) -> None:
    if not counts[place]:
        return
    better = [*counts]
    better[place] -= 1
    better[place + 1] += 1
    for before, after in zip(score_bounds(counts, deviations), score_bounds(tuple(better), deviations), strict=True):
        assert after >= before - 1e-12


def test_a_draw_among_wins_does_not_raise_the_lower_bound() -> None:
    won, drew = (Pentanomial(counts).estimate() for counts in ((0, 0, 0, 0, 20), (0, 0, 0, 1, 19)))
    assert drew.elo_low < won.elo_low
    assert won.elo_low == pytest.approx(277.39, abs=0.01)


@pytest.mark.parametrize(("lost", "won"), [(0, 7), (1, 9), (4, 3), (30, 20)])
def test_won_and_lost_pairs_have_at_most_the_interval_of_clopper_and_pearson(lost: int, won: int) -> None:
    """And at least that with the error that is tolerated; scipy's beta distribution."""
    low, high = score_bounds((lost, 0, 0, 0, won))
    tail = NormalDist().cdf(-INTERVAL_DEVIATIONS)
    for bound, exact in (
        (low, lambda error: stats.beta.ppf(error, won, lost + 1)),
        (high, lambda error: stats.beta.ppf(1 - error, won + 1, lost) if lost else 1.0),
    ):
        ends = sorted((float(exact(tail)), float(exact(tolerance(lost + won) * tail))))
        assert ends[0] - 1e-9 <= bound <= ends[1] + 1e-9


@pytest.mark.parametrize(
    ("counts", "error"), [((1, 2, 5, 7, 3), 0.035), ((0, 0, 4, 0, 1), 0.025), ((3, 0, 0, 2, 9), 0.035)]
)
def test_bounds_of_few_pairs_are_quantiles_of_weighted_means(counts: tuple[int, ...], error: float) -> None:
    """A million draws of weights for all results and one more lost pair; the usual bound may be up to 1.4 times off."""
    weights = np.random.default_rng(3).dirichlet(np.add(counts, (1, 0, 0, 0, 0)) + 1e-12, 1_000_000)
    low, _ = score_bounds(counts)
    assert float((weights @ SCORES <= low).mean()) == pytest.approx(error, abs=0.0007)


@given(COUNTS.filter(lambda counts: sum(counts) > 0), st.floats(0.01, 0.99))
def test_deviates_are_the_inverse_of_bounds(counts: tuple[int, ...], score: float) -> None:
    deviations = deviations_from(counts, score)
    if 1 < abs(deviations) < 5:
        assert score_bounds(counts, abs(deviations))[deviations < 0] == pytest.approx(score, abs=1e-5)


@given(COUNTS.filter(lambda counts: sum(counts) > 0))
def test_superiority_is_certain_to_975_where_the_interval_lies_above_0(counts: tuple[int, int, int, int, int]) -> None:
    seen = Pentanomial(counts).estimate()
    assert (seen.los > 0.975) == (seen.elo_low > 0)


@pytest.mark.parametrize("others", [(2, 20, 18, 3), (9, 9, 9, 9)])
def test_nothing_jumps_at_any_number_of_pairs(others: tuple[int, int, int, int]) -> None:
    """In standard errors the interval narrows smoothly, also from 99 to 100 pairs, where t became z: by 0.068."""
    widths = []
    for even in range(110 - sum(others)):
        counts = np.array([*others[:2], even, *others[2:]])
        low, high = score_bounds(tuple(counts.tolist()))
        mean = counts @ SCORES / counts.sum()
        widths.append((high - low) / math.sqrt(counts @ (SCORES - mean) ** 2) * counts.sum())
    assert max(abs(np.diff(widths[30:]))) < 0.02


@pytest.mark.parametrize("counts", [(50, 400, 2000, 900, 200), (365, 16618, 36229, 16974, 390), (96, 111, 136)])
def test_many_ordinary_results_have_the_usual_interval(counts: tuple[int, ...]) -> None:
    scores = np.repeat(np.linspace(0, 1, len(counts)), counts)
    usual = stats.norm.interval(0.95, scores.mean(), scores.std() / math.sqrt(len(scores)))
    assert score_bounds(counts) == pytest.approx(usual, abs=1e-12)
