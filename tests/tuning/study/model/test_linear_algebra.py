"""Fits come out alike to the last bit whatever number of threads numpy's linear algebra has."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from elolab.tuning.study.model import linear_algebra
from elolab.tuning.study.model.linear_algebra import SYMBOL, one_thread
from elolab.tuning.study.model.observations import Observations
from elolab.tuning.study.model.posterior import fit
from elolab.tuning.study.model.response import ResponseModel
from elolab.tuning.study.rounds.pairs_of_settings import design_pair, first_design
from elolab.tuning.study.space import Dimension, Space

PARAMETERS, RESULTS = 12, 600
"""So many that products of matrices are divided among threads."""


@pytest.fixture
def openblas() -> Iterator[object]:
    """numpy's linear algebra; the number of its threads is as before afterwards."""
    library = linear_algebra.openblas()
    if library is None:
        pytest.skip("this numpy was built with another library")
    before = threads(library)
    yield library
    set_threads(library, before)


def threads(library: object) -> int:
    return int(getattr(library, SYMBOL.format("get"))())


def set_threads(library: object, number: int) -> None:
    getattr(library, SYMBOL.format("set"))(number)


def observations() -> Observations:
    names = [f"number{place}" for place in range(PARAMETERS)]
    dimensions = tuple(Dimension(name, 0, 1000) for name in names)
    space = Space(dimensions, tuple((name, 300) for name in names), external=True)
    found, generator = Observations(space), np.random.default_rng(1)
    for number in range(RESULTS):
        pair = design_pair(space, 1, first_design(space), number, number)
        found.add_score(pair.first, pair.second, 1, generator.integers(5) / 4)
    return found


def bits(model: ResponseModel) -> bytes:
    points = np.linspace(0, 1, 5 * PARAMETERS).reshape(5, PARAMETERS)
    return model.elo(points).tobytes() + model.curvatures(model.space.default_values).tobytes()


def test_a_fit_does_not_depend_on_the_number_of_threads(openblas: object) -> None:
    results, found = observations(), []
    for number in (1, 2):
        set_threads(openblas, number)
        found.append(bits(fit(results)))
        assert threads(openblas) == number
    assert found[0] == found[1]


def test_threads_are_as_before_after_an_error(openblas: object) -> None:
    @one_thread()
    def stopped() -> None:
        raise ValueError(threads(openblas))

    set_threads(openblas, 2)
    with pytest.raises(ValueError, match="1"):
        stopped()
    assert threads(openblas) == 2
