"""The joint fit of ratings against scipy and against what is known of simple cases."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from elolab.arena.statistics.elo import NATURAL_TO_ELO
from elolab.arena.statistics.ratings import (
    ADVANTAGE_PRIOR_DEVIATION,
    DRAW_PRIOR_DEVIATION,
    RATING_PRIOR_DEVIATION,
    PairingCounts,
    connected_groups,
    fit_ratings,
    outcome_probabilities,
)


def _pairing(first: int, second: int, pairs: np.ndarray, single: np.ndarray | None = None) -> PairingCounts:
    rows = tuple(tuple(int(count) for count in row) for row in pairs)
    loose = ((0, 0, 0), (0, 0, 0)) if single is None else tuple(tuple(int(c) for c in row) for row in single)
    return PairingCounts(first, second, rows, loose)  # type: ignore[arg-type]


def _simulate(
    generator: np.random.Generator, strengths: list[float], schedule: dict[tuple[int, int], int], advantage: float
) -> list[PairingCounts]:
    """Independent games at natural strengths, draw parameter 1.2; ``schedule`` gives pairs for each pairing."""
    pairings = []
    for (one, other), count in schedule.items():
        difference = strengths[one] - strengths[other]
        chances = outcome_probabilities(np.array([difference + advantage, difference - advantage]), 1.2)
        table = np.outer(chances[0], chances[1]).ravel()
        pairings.append(_pairing(one, other, generator.multinomial(count, table).reshape(3, 3)))
    return pairings


def test_joint_fit_is_scipys_maximum() -> None:
    optimize = pytest.importorskip("scipy.optimize")
    schedule = {(0, 1): 40, (1, 2): 30, (2, 3): 50, (0, 3): 9}
    pairings = _simulate(np.random.default_rng(3), [0.0, 0.4, -0.6, 1.0], schedule, 0.3)
    pairings.append(_pairing(0, 2, np.zeros((3, 3)), np.array([[1, 2, 3], [4, 0, 1]])))
    fit = fit_ratings(4, pairings)

    def negative(point: np.ndarray) -> float:
        value = (point[:4] ** 2).sum() / 2 / RATING_PRIOR_DEVIATION**2
        value += point[4] ** 2 / 2 / ADVANTAGE_PRIOR_DEVIATION**2 + point[5] ** 2 / 2 / DRAW_PRIOR_DEVIATION**2
        for pairing in pairings:
            for swapped, row in enumerate(pairing.outcomes()):
                gap = point[pairing.first] - point[pairing.second] + (-point[4] if swapped else point[4])
                weights = np.array([math.exp(-gap / 2), math.exp(point[5]), math.exp(gap / 2)])
                value -= row @ np.log(weights / weights.sum())
        return value

    found = optimize.minimize(negative, np.zeros(6), method="BFGS", options={"gtol": 1e-7})
    assert fit.draw_parameter == pytest.approx(math.exp(found.x[5]), rel=1e-4)
    natural = found.x[:4] - found.x[:4].mean()
    scale = fit.first_move_advantage / found.x[4]
    assert fit.elo == pytest.approx(natural * scale, abs=1e-2)
    # The covariance of the same games outside pairs, through scipy's own second differences.
    hessian = optimize.approx_fprime(found.x, lambda x: optimize.approx_fprime(x, negative, 1e-4), 1e-4)
    inverse = np.linalg.inv((hessian + hessian.T) / 2)[:4, :4] * scale**2
    contrast = np.array([1, 0, 0, -1])
    loose = [_pairing(entry.first, entry.second, np.zeros((3, 3)), entry.outcomes()) for entry in pairings]
    error = fit_ratings(4, loose).difference(0, 3)[1]
    assert error == pytest.approx(1.96 * math.sqrt(contrast @ inverse @ contrast), rel=1e-3)


def test_the_covariance_is_whites_with_every_pairing_s_own_dispersion() -> None:
    """All of it from its definition: second differences of the posterior, and loops over the pairs."""
    optimize = pytest.importorskip("scipy.optimize")
    pairings = [
        _pairing(0, 1, np.array([[6, 1, 9], [0, 2, 1], [14, 2, 5]]), np.array([[0, 0, 3], [1, 0, 1]])),
        _pairing(0, 2, np.array([[1, 1, 0], [2, 3, 0], [9, 4, 20]])),
        _pairing(1, 2, np.array([[0, 0, 0], [0, 0, 0], [0, 0, 0]]), np.array([[3, 1, 0], [2, 0, 2]])),
    ]
    fit = fit_ratings(3, pairings)

    def chances(point: np.ndarray, pairing: PairingCounts) -> np.ndarray:
        """Of loss, draw and win of ``first``: row 0 where it moves first, row 1 where it does not."""
        gaps = point[pairing.first] - point[pairing.second] + np.array([1, -1]) * point[3]
        weights = np.exp([[-gap / 2, point[4], gap / 2] for gap in gaps])
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def negative(point: np.ndarray, shares: list[list[float]]) -> float:
        deviations = [RATING_PRIOR_DEVIATION] * 3 + [ADVANTAGE_PRIOR_DEVIATION, DRAW_PRIOR_DEVIATION]
        value = float((point**2 / 2 / np.square(deviations)).sum())
        for pairing, share in zip(pairings, shares, strict=True):
            value -= float(np.array(share) @ (pairing.outcomes() * np.log(chances(point, pairing))).sum(axis=1))
        return value

    def information(shares: list[list[float]]) -> np.ndarray:
        """Of games that count so often, by central differences of 0.01."""
        steps = np.eye(5) * 0.01

        def second(a: np.ndarray, b: np.ndarray) -> float:
            signs = [(one, other) for one in (1, -1) for other in (1, -1)]
            return sum(one * other * negative(mode + one * a + other * b, shares) for one, other in signs) / 4e-4

        return np.array([[second(a, b) for b in steps] for a in steps])

    alike = [[1.0, 1.0]] * 3
    mode = optimize.minimize(negative, np.zeros(5), args=(alike,), method="BFGS", options={"gtol": 1e-9}).x
    surprises, expectations, pairs = np.zeros((3, 3))
    for place, pairing in enumerate(pairings):
        both = chances(mode, pairing)
        means = both @ [0, 0.5, 1]
        for row in range(3):
            for column in range(3):
                times = pairing.pairs[row][column]
                pairs[place] += times
                surprises[place] += times * ((row + column) / 2 - means.sum()) ** 2
        expectations[place] = pairs[place] * (both @ [0, 0.25, 1] - means**2).sum()
    assert surprises.sum() > 2
    left = (pairs.sum() - 3) / pairs.sum()  # of the freedom of all pairs: less two ratings and the advantage
    mean = expectations.sum() / pairs.sum()
    common = (surprises.sum() + 20 * mean) / (expectations.sum() * left + 20 * mean)
    assert fit.dispersion == pytest.approx(common, rel=1e-4)
    shares = []
    for place, pairing in enumerate(pairings):
        own = common
        if pairs[place]:
            each = expectations[place] / pairs[place]
            own = (surprises[place] + 20 * each * common) / (expectations[place] * left + 20 * each)
        loose = np.sum(pairing.single, axis=1)
        shares.append([float((own * pairs[place] + one) / (pairs[place] + one)) for one in loose])
    inverse = np.linalg.inv(information(alike))
    covariance = inverse @ information(shares) @ inverse
    unit = fit.first_move_advantage / mode[3]
    assert fit.first_move_error == pytest.approx(1.959964 * unit * math.sqrt(covariance[3, 3]), rel=1e-3)
    for one, other in ((0, 1), (0, 2), (1, 2)):
        contrast = np.eye(5)[one] - np.eye(5)[other]
        error = 1.959964 * unit * math.sqrt(contrast @ covariance @ contrast)
        assert fit.difference(one, other)[1] == pytest.approx(error, rel=1e-3)


def test_a_fit_of_many_games_ends() -> None:
    # Found among 50 000 games: no step changes the posterior's last digits to the better, nor is one small enough.
    tables = (
        [665, 198, 2606, 233, 573, 200, 2807, 206, 512],
        [624, 178, 2629, 236, 585, 197, 2834, 196, 521],
        [669, 181, 2579, 226, 632, 191, 2798, 206, 518],
    )
    pairings = [
        _pairing(*pair, np.reshape(table, (3, 3))) for pair, table in zip([(0, 1), (0, 2), (1, 2)], tables, strict=True)
    ]
    few = [_pairing(entry.first, entry.second, np.array(entry.pairs) // 8) for entry in pairings]
    assert fit_ratings(3, pairings).elo == pytest.approx(fit_ratings(3, few).elo, abs=0.5)


def test_two_players_rate_as_their_match() -> None:
    pairing = _pairing(0, 1, np.array([[40, 30, 50], [30, 90, 60], [40, 60, 80]]))
    elo, error = fit_ratings(2, [pairing]).difference(0, 1)
    match = pairing.pentanomial().estimate()
    assert elo == pytest.approx(match.elo, rel=0.03)
    assert error == pytest.approx(match.elo_error, rel=0.05)


def test_paired_openings_narrow_the_interval() -> None:
    decided_by_opening = _pairing(0, 1, np.array([[5, 0, 90], [0, 10, 0], [90, 0, 5]]))
    fit = fit_ratings(2, [decided_by_opening])
    assert fit.dispersion < 0.3
    assert fit.difference(0, 1)[1] == pytest.approx(decided_by_opening.pentanomial().estimate().elo_error, rel=0.35)


def test_each_pairing_has_the_dispersion_of_its_own_pairs() -> None:
    """Two players who are all but the same make nobody else's interval narrower."""
    alike = _pairing(0, 1, np.array([[1, 0, 150], [0, 10, 0], [150, 0, 1]]))
    different = _pairing(1, 2, np.array([[60, 30, 70], [20, 40, 20], [70, 30, 60]]))
    fit = fit_ratings(3, [alike, different])
    assert fit.difference(0, 1)[1] < 2 * alike.pentanomial().estimate().elo_error < fit.difference(1, 2)[1] / 2
    assert fit.difference(1, 2)[1] == pytest.approx(different.pentanomial().estimate().elo_error, rel=0.05)


def test_who_won_everything_gets_a_finite_rating_and_order() -> None:
    swept = np.zeros((3, 3))
    swept[2, 2] = 100
    fit = fit_ratings(3, [_pairing(0, 1, swept), _pairing(1, 2, swept)])
    assert np.isfinite(fit.elo).all()
    assert fit.elo[0] > fit.elo[1] > fit.elo[2]
    assert np.isfinite(fit.covariance).all()
    assert fit.los_matrix()[0, 2] > 0.99
    assert fit.elo.sum() == pytest.approx(0, abs=1e-6)


def test_disconnected_groups_are_said_to_be_so() -> None:
    even = np.full((3, 3), 4)
    fit = fit_ratings(5, [_pairing(0, 3, even), _pairing(1, 2, even)])
    assert fit.groups == ((0, 3), (1, 2), (4,))
    assert fit.difference(0, 1)[1] == math.inf
    assert math.isfinite(fit.difference(1, 2)[1])
    assert fit.los_matrix()[0, 1] == 0.5
    assert not np.isnan(fit.los_matrix()).any()
    assert connected_groups(3, [(0, 1), (1, 2)]) == ((0, 1, 2),)


def test_anchor_at_a_player_keeps_differences() -> None:
    pairings = _simulate(np.random.default_rng(8), [0.0, 0.5, -0.5], {(0, 1): 50, (1, 2): 50}, 0.0)
    centred, anchored = fit_ratings(3, pairings), fit_ratings(3, pairings, anchor=1)
    assert anchored.elo[1] == 0
    assert anchored.error(1) == 0
    assert anchored.difference(0, 2) == pytest.approx(centred.difference(0, 2))


def test_an_anchor_has_the_rating_it_was_given() -> None:
    pairings = _simulate(np.random.default_rng(8), [0.0, 0.5, -0.5], {(0, 1): 50, (1, 2): 50}, 0.0)
    free, anchored = fit_ratings(4, pairings), fit_ratings(4, pairings, anchors={1: 2000.0})
    assert anchored.elo[1] == 2000
    assert anchored.elo[0] - 2000 == pytest.approx(free.difference(0, 1)[0])
    assert anchored.error(0) == pytest.approx(free.difference(0, 1)[1])
    assert (anchored.error(1), anchored.elo[3], anchored.anchors) == (0, 0, {1: 2000.0})


def test_two_anchors_are_fixed_while_the_rest_is_fitted_as_by_scipy() -> None:
    optimize = pytest.importorskip("scipy.optimize")
    pairings = _simulate(np.random.default_rng(4), [0.0, 0.5, -0.5], {(0, 1): 50, (1, 2): 50, (0, 2): 30}, 0.2)
    fit = fit_ratings(3, pairings, anchors={0: 1900.0, 2: 2100.0})
    assert (fit.elo[0], fit.elo[2], fit.error(0), fit.difference(0, 2)[1]) == (1900, 2100, 0, 0)

    def scale(advantage: float, draw: float) -> float:
        chances = outcome_probabilities(np.array([advantage]), draw)[0]
        return 4 * (chances @ [0, 0.25, 1] - (chances @ [0, 0.5, 1]) ** 2) * NATURAL_TO_ELO

    def negative(point: np.ndarray, unit: float) -> float:
        strengths = np.array([-100 / unit, point[0], 100 / unit])
        value = point[0] ** 2 / 2 / RATING_PRIOR_DEVIATION**2 + point[1] ** 2 / 2 / ADVANTAGE_PRIOR_DEVIATION**2
        value += point[2] ** 2 / 2 / DRAW_PRIOR_DEVIATION**2
        for pairing in pairings:
            gap = strengths[pairing.first] - strengths[pairing.second]
            chances = outcome_probabilities(np.array([gap + point[1], gap - point[1]]), math.exp(point[2]))
            value -= (pairing.outcomes() * np.log(chances)).sum()
        return value

    unit = 170.0
    for _ in range(30):
        found = optimize.minimize(negative, np.zeros(3), args=(unit,), method="BFGS", options={"gtol": 1e-8}).x
        unit = scale(found[1], math.exp(found[2]))
    assert fit.elo[1] == pytest.approx(2000 + found[0] * unit, abs=1e-3)
    assert fit.first_move_advantage == pytest.approx(found[1] * unit, abs=1e-3)


@pytest.mark.parametrize("outcomes", [((0, 0, 3), (0, 1, 0), (0, 0, 0)), ((0, 10, 10), (10, 40, 10), (10, 10, 0)),
                                      ((0, 0, 0), (0, 10, 0), (0, 0, 0))])  # fmt: skip
@pytest.mark.parametrize("gap", [50.0, 150.0, -600.0])
def test_anchors_far_from_what_the_games_say_are_kept(outcomes: Any, gap: float) -> None:
    pairings = [_pairing(0, 1, outcomes), _pairing(1, 2, np.full((3, 3), 2))]
    fit = fit_ratings(3, pairings, anchors={0: 2000.0, 1: 2000 + gap})
    assert (fit.elo[0], fit.elo[1]) == (2000, 2000 + gap)
    assert np.isfinite(fit.elo).all()
    assert np.isfinite(fit.covariance).all()


def test_anchors_of_different_groups_shift_each_its_own() -> None:
    even = np.full((3, 3), 4)
    fit = fit_ratings(4, [_pairing(0, 3, even), _pairing(1, 2, even)], anchors={0: 1000.0, 2: 3000.0})
    assert fit.elo == pytest.approx([1000, 3000, 3000, 1000])
    with pytest.raises(ValueError, match="from 0 to 3"):
        fit_ratings(4, [], anchors={4: 0.0})


def test_nothing_played_fits_to_nothing_known() -> None:
    fit = fit_ratings(2, [])
    assert fit.elo.tolist() == [0, 0]
    assert [fit.error(player) for player in (0, 1)] == [math.inf, math.inf]
    assert fit_ratings(2, [], anchor=0).error(0) == 0
    assert len(fit.groups) == 2
    assert fit.dispersion == 1


def test_drawn_games_promise_no_more_than_a_match_does() -> None:
    """All games of 20 pairs drawn: the interval is about as wide as that of the pairs."""
    table = np.zeros((3, 3), int)
    table[1, 1] = 20
    counts = PairingCounts(0, 1, tuple(map(tuple, table.tolist())))
    difference, error = fit_ratings(2, [counts]).difference(0, 1)
    assert difference == 0
    assert counts.pentanomial().estimate().elo_high == pytest.approx(59.1, abs=0.1)
    assert 35 < error < 60
