"""What tests can show within their length, held against simulated tests and against the tests themselves."""

from __future__ import annotations

import math

import numpy as np
import pytest

from elolab.arena.sequential import (
    POWER,
    Reach,
    SequentialSettings,
    acceptance_probability,
    detectable_gain,
    expected_pairs,
    least_pairs,
    pairs_to_accept,
    reach_of_test,
    target_of,
    typical_outcomes,
)
from elolab.arena.statistics.elo import Pentanomial, log_likelihood_ratios, score_of_elo
from elolab.engine.language import Catalogue

DEFAULT = SequentialSettings()
SEVERAL = [
    DEFAULT,
    SequentialSettings(-5, 0),
    SequentialSettings(0, 50),
    SequentialSettings(0, 10, model="logistic"),
    SequentialSettings(0, 10, alpha=0.2, beta=0.1),
]


def simulated(settings: SequentialSettings, elo: float, pairs: int, looks: int = 10, runs: int = 400) -> float:
    """The share of simulated tests that accept H1 within so many pairs, looked at so often."""
    batch = pairs // looks
    sampled = np.random.default_rng(7).multinomial(batch, typical_outcomes(elo), (runs, looks)).cumsum(1)
    ratios = log_likelihood_ratios(
        sampled.reshape(-1, 5).astype(float), 2, settings.elo0, settings.elo1, settings.model
    ).reshape(runs, looks)
    test = settings.test(Pentanomial((0, 0, 0, 0, 0)))
    up, down = (
        np.where(passed.any(1), passed.argmax(1), looks + 1)
        for passed in (ratios >= test.upper_bound, ratios <= test.lower_bound)
    )
    return float((up < down).mean())


@pytest.mark.integration
@pytest.mark.parametrize("settings", SEVERAL)
def test_the_probability_of_acceptance_is_that_of_simulated_tests(settings: SequentialSettings) -> None:
    for elo in (target_of(settings), 2 * target_of(settings)):
        pairs = 10 * math.ceil(pairs_to_accept(settings, elo) / 10)
        for length in (pairs, 10 * (pairs // 15)):
            expected = acceptance_probability(settings, elo, length)
            assert simulated(settings, elo, length) == pytest.approx(expected, abs=0.13)


@pytest.mark.parametrize("settings", SEVERAL)
def test_the_fewest_pairs_are_those_that_accept_when_all_are_won(settings: SequentialSettings) -> None:
    least = least_pairs(settings)
    assert settings.test(Pentanomial((0, 0, 0, 0, least))).verdict == "upper accepted"
    assert settings.test(Pentanomial((0, 0, 0, 0, least - 1))).verdict == "undecided"


@pytest.mark.integration
def test_the_gain_that_can_be_found_falls_with_the_pairs() -> None:
    gains = [detectable_gain(DEFAULT, pairs) for pairs in (50, 200, 800, 3200, 12800)]
    assert gains[0] == math.inf
    assert gains == sorted(gains, reverse=True)
    for pairs, gain in zip((200, 800, 3200), gains[1:], strict=False):
        assert acceptance_probability(DEFAULT, gain, pairs) == pytest.approx(POWER, abs=0.002)
        assert pairs_to_accept(DEFAULT, gain) == pytest.approx(pairs, abs=2)


@pytest.mark.parametrize("elo", [-700, -50, 0, 30, 400])
def test_typical_outcomes_have_the_score_of_their_elo(elo: float) -> None:
    outcomes = typical_outcomes(elo)
    assert outcomes.sum() == pytest.approx(1)
    assert outcomes @ np.linspace(0, 1, 5) == pytest.approx(score_of_elo(elo))


def test_an_undecided_test_goes_on_as_it_went() -> None:
    counts = Pentanomial((2, 20, 50, 60, 18))
    test = DEFAULT.test(counts)
    needed = expected_pairs(test, counts.pairs)
    assert needed is not None
    factor = math.ceil(needed / counts.pairs)
    more = [Pentanomial(tuple(times * count for count in counts.counts)) for times in (factor - 1, factor)]  # type: ignore[arg-type]
    assert [DEFAULT.test(one).verdict for one in more] == ["undecided", "upper accepted"]
    assert expected_pairs(DEFAULT.test(more[1]), more[1].pairs) is None, "decided"
    assert expected_pairs(DEFAULT.test(Pentanomial((0, 0, 0, 0, 0))), 0) is None


def reach(pairs: int, openings: int | None = None) -> Reach:
    return reach_of_test(DEFAULT, pairs, "gain", "study.toml", "maximum_pairs = {pairs}", "elo_upper", openings)


def test_what_is_said_names_the_gain_and_the_remedy() -> None:
    say = Catalogue("elolab.arena", "en")
    assert reach(800).text(say) == "800 pairs let the test accept a true gain of 47 Elo or more with 80 % probability."
    few = reach(400)
    assert few.is_possible
    assert not few.is_likely
    assert few.text(say).endswith("To accept a gain of 50 Elo, give maximum_pairs = 732.")
    none = reach(146)
    assert none.is_hopeless
    assert (
        "146 pairs are too few for the test to accept a gain, even if one side wins all of them; it needs at least 147."
        in none.text(say)
    )
    assert "a suite of 732 or more openings (this one has 500), or give a larger elo_upper" in reach(400, 500).text(say)
    for pairs in (100, 148, 400, 800):
        assert str(pairs) in reach(pairs).text(Catalogue("elolab.arena", "zh"))
