"""What a sequential test is expected to do, held against simulations of the test itself and published values."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from elolab import command_line, expect_test
from elolab.arena.reports.testing.expected_test import ExpectedTest
from elolab.arena.sequential import SequentialSettings, tilted_outcomes, typical_outcomes
from elolab.arena.statistics.brownian import expected_duration
from elolab.arena.statistics.elo import Array, Pentanomial, log_likelihood_ratios, score_of_elo
from elolab.arena.testing.expectation import (
    Expectation,
    expectation,
    expectations,
    logistic_elo,
    normalized_elo_of,
    outcomes_of_draws,
    outcomes_of_pairs,
)
from elolab.engine.errors import UserError

RUNS = 500
FEW_DRAWS, MANY_DRAWS = outcomes_of_draws(0.1), outcomes_of_draws(0.7)


def simulated(settings: SequentialSettings, elo: float, pairs: int, outcomes: Array | None) -> tuple[float, ...]:
    """Shares of tests that accept H1 and H0, and mean, median and 95 % quantile of their pairs."""
    shares = typical_outcomes(elo) if outcomes is None else tilted_outcomes(outcomes, elo)
    random, bounds = np.random.default_rng(5), settings.test(Pentanomial((0, 0, 0, 0, 0)))
    counts, lengths, verdicts = np.zeros((RUNS, 5)), np.full(RUNS, pairs), np.zeros(RUNS)
    running, played = np.arange(RUNS), 0
    while played < pairs and len(running):
        batch = min(settings.batch_pairs, pairs - played)
        played += batch
        counts[running] += random.multinomial(batch, shares, len(running))
        ratios = log_likelihood_ratios(counts[running], 2, settings.elo0, settings.elo1, settings.model)
        verdict = 1 * (ratios >= bounds.upper_bound) - 1 * (ratios <= bounds.lower_bound)
        verdicts[running], lengths[running] = verdict, np.where(verdict != 0, played, pairs)
        running = running[verdict == 0]
    quantiles = np.quantile(lengths, (0.5, 0.95))
    return float((verdicts > 0).mean()), float((verdicts < 0).mean()), float(lengths.mean()), *map(float, quantiles)


@pytest.mark.integration
@pytest.mark.parametrize(
    ("settings", "pairs", "outcomes"),
    [
        (SequentialSettings(0, 80), 1000, None),
        (SequentialSettings(0, 50, model="logistic"), 200, None),
        (SequentialSettings(-80, 0, alpha=0.01, beta=0.1), 1000, FEW_DRAWS),
        (SequentialSettings(-25, 25, batch_pairs=32), 2000, MANY_DRAWS),
    ],
)
def test_it_is_what_simulated_tests_do(settings: SequentialSettings, pairs: int, outcomes: Array | None) -> None:
    for row in expectations(settings, pairs, outcomes)[2::5]:
        h1, h0, *lengths = simulated(settings, row.elo, pairs, outcomes)
        assert (row.h1, row.h0) == pytest.approx((h1, h0), abs=3 * 0.5 / math.sqrt(RUNS))
        assert row.pairs == pytest.approx(lengths[0], rel=0.08)
        assert (row.median_pairs, row.late_pairs) == pytest.approx(lengths[1:], rel=0.12, abs=settings.batch_pairs)


PUBLISHED = """
-0.62 0.0128 28982 24199 53050
-0.00 0.0515 40145 31951 77467
0.62 0.1888 55858 43094 113389
1.24 0.5031 65163 48987 134934
1.86 0.8149 55612 42561 112514
2.48 0.9506 39821 31877 76254
3.10 0.9875 28835 24049 52675
"""
"""20000 simulated tests of 0 against 2.48 Elo, alpha = beta = 0.05, by game, at a draw elo of 250: true Elo, share that
passes, mean, median and 90 % quantile of the games. Source: the page of the program "sprt" by Lucas Braesch
(github.com/lucasart/sprt), its example "./sprt -1 5 1 20000 250 0 4 0.25 0.5 0.75 0.9"."""


@pytest.mark.parametrize("line", PUBLISHED.split("\n")[1:-1])
def test_it_agrees_with_published_simulations(line: str) -> None:
    elo, passed, games, median, _ = map(float, line.split())
    draws = 1 - 2 / (1 + 10 ** (250 / 400))
    settings = SequentialSettings(0, 2.48, model="logistic", batch_pairs=1)
    row = expectation(settings, elo, 10**7, outcomes_of_draws(draws))
    assert row.h1 == pytest.approx(passed, abs=0.005)
    assert 2 * row.pairs == pytest.approx(games, rel=0.01)
    assert 2 * row.median_pairs == pytest.approx(median, rel=0.02)


def walds(settings: SequentialSettings, elo: float, draws: float) -> tuple[float, float]:
    """Probability to pass and mean games by Wald's formulas, as in fishtest's calculator (tests.stockfishchess.org/
    sprt_calc): of a Brownian motion without end and without overshoot, with the variance of a game at 0 Elo."""
    lower, upper = (math.log(x) for x in (settings.beta / (1 - settings.alpha), (1 - settings.beta) / settings.alpha))
    low, high, score = map(score_of_elo, (settings.elo0, settings.elo1, elo))
    variance = (1 - draws) / 4
    drift, spread = (high - low) * (score - (low + high) / 2) / variance, (high - low) ** 2 / variance
    h = 2 * drift / spread
    if abs(h) < 1e-9:
        return -lower / (upper - lower), -lower * upper / spread
    passes = (1 - math.exp(-h * lower)) / (math.exp(-h * upper) - math.exp(-h * lower))
    return passes, (passes * upper + (1 - passes) * lower) / drift


@pytest.mark.parametrize("elo", [-2, 0, 1, 2, 4])
def test_without_batches_it_is_walds_approximation(elo: float) -> None:
    settings = SequentialSettings(0, 2, model="logistic", batch_pairs=1)
    row = expectation(settings, elo, 10**7, outcomes_of_draws(0.6))
    passes, games = walds(settings, elo, 0.6)
    assert row.h1 == pytest.approx(passes, abs=0.004)
    assert 2 * row.pairs == pytest.approx(games, rel=0.02)


def test_mean_durations_are_those_of_walds_identity_and_never_beyond_the_longest() -> None:
    assert expected_duration(-2, 3, 0.0, math.inf) == pytest.approx(6, rel=1e-6)
    for drift in (-3.0, -0.2, 0.01, 0.7, 40.0):
        up = math.expm1(4 * drift) / (math.exp(4 * drift) - math.exp(-6 * drift))
        expected = (3 * up - 2 * (1 - up)) / drift
        assert expected_duration(-2, 3, drift, math.inf) == pytest.approx(expected, rel=1e-5)
    assert expected_duration(-2, 3, 0.0, 1e-3) == pytest.approx(1e-3, rel=1e-6)


def test_outcomes_have_the_strength_and_the_draws_that_they_shall_have() -> None:
    for outcomes in (None, FEW_DRAWS, MANY_DRAWS, outcomes_of_pairs((3, 10, 40, 12, 0))):
        for strength in (-60.0, 0.0, 7.5, 90.0):
            elo = logistic_elo(strength, outcomes)
            tilted = typical_outcomes(elo) if outcomes is None else tilted_outcomes(outcomes, elo)
            assert normalized_elo_of(tilted) == pytest.approx(strength, abs=1e-6)
            assert tilted @ np.linspace(0, 1, 5) == pytest.approx(score_of_elo(elo))
    assert outcomes_of_draws(0.5) == pytest.approx([1 / 16, 1 / 4, 3 / 8, 1 / 4, 1 / 16])


@pytest.mark.integration
def test_the_command_plays_the_test_that_sprt_would_play(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["sprt", "--elo1", "10", "--pairs", "500", "--batch-pairs", "4", "--expect", "0", "10", "--json"]
    assert command_line.main(words) == 0
    data = json.loads(capsys.readouterr().out)
    settings = SequentialSettings(0, 10, batch_pairs=4)
    rows = [Expectation(**row) for row in data["expected"]]
    assert rows == expectations(settings, 500, None, [0, 10])
    assert data["most_pairs"] == 500
    assert command_line.main([word for word in words if word != "--json"]) == 0
    assert capsys.readouterr().out.splitlines() == ExpectedTest(settings, 500, rows).lines("en")


def test_python_has_the_same_rows() -> None:
    table = expect_test({"elo1": 10}, pairs=500, strengths=[0, 10], draws=0.5)
    rows = expectations(SequentialSettings(0, 10), 500, outcomes_of_draws(0.5), [0, 10])
    assert [Expectation(**row) for row in table.to_dict("records")] == rows
    for mistake in ({"draws": 1.0}, {"pentanomial": (0, 0, 0, 0, 0)}, {"sprt": {"elo0": 9}}, {"pairs": 0}):
        with pytest.raises(UserError, match="expect"):
            expect_test(**mistake)  # type: ignore[arg-type]


@pytest.mark.integration
@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--expect", "--draws", "1"], "--draws: '1'"),
        (["--expect", "--draws", "0.5", "--pentanomial", "1", "2", "3", "2", "1"], "both describe the pairs"),
        (["--expect", "--pentanomial", "0", "0", "0", "0", "0"], "no pairs; expected at least one"),
        (["a", "b", "--draws", "0.5"], "are for --expect"),
        (["--expect", "--elo0", "5"], "the second hypothesis must be above the first"),
        (["--expect", "--pairs", "9999999"], "pairs = 9999999"),
    ],
)
def test_mistakes_are_named(words: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["sprt", *words]) == 2
    assert says in capsys.readouterr().err
