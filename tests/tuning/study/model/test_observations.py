"""What results are to the response model: scores of pairs, and by how much they vary more than the pairs say."""

from __future__ import annotations

import pytest

from elolab.arena.statistics.elo import Pentanomial
from elolab.tuning.study.model.observations import Observations
from elolab.tuning.study.model.posterior import fit
from elolab.tuning.study.space import Dimension, Space

SPACE = Space((Dimension("size", 0, 1000),), (("size", 500),), external=True)


def test_a_result_is_the_first_sets_mean_score_of_a_pair() -> None:
    """The view of the first set; nothing without pairs, and nothing of a set against itself."""
    observations = Observations(SPACE)
    for first, second, counts in (
        (400, 600, (0, 1, 2, 0, 1)), (600, 400, (3, 0, 0, 0, 0)), (400, 600, (0, 0, 0, 0, 0)), (7, 7, (0, 0, 9, 0, 0)),
    ):  # fmt: skip
        observations.add((first,), (second,), Pentanomial(counts))
    first, second, pairs, scores = observations.arrays()
    assert (first.tolist(), second.tolist()) == ([[0.4], [0.6]], [[0.6], [0.4]])
    assert (pairs.tolist(), scores.tolist(), observations.pairs) == ([4, 3], [0.5625, 0], 7)


def test_the_dispersion_is_pearsons_of_the_results_drawn_to_the_typical_one() -> None:
    """Sets that are equally good by all results together, of 8 pairs each, with 1/4 and 3/4 of the points in turn."""
    observations = Observations(SPACE)
    for number in range(60):
        observations.add_score((450,), (550,), 8, 0.25 if number % 2 else 0.75)
    each = 8 * 0.25**2 / (0.5 * 0.5)
    assert fit(observations).dispersion == pytest.approx((50 * 0.3 + 60 * each) / (50 + 60), rel=0.01)
