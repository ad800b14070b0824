"""The simulation of clusters against what can be worked out on paper."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from cluster_simulation import FREE, Batches, Design, SequentialTest, looks, simulate, tournament, tuning

SINGLE = Design(chunk_seconds=0.0)


@pytest.mark.parametrize("workers", [1, 7, 100])
@pytest.mark.parametrize("design", [SINGLE, Design(2.0)])
def test_games_that_cost_nothing_else_are_as_fast_as_the_workers(workers: int, design: Design) -> None:
    found = simulate(tournament(40 * workers), workers, replace(FREE, game=0.5), design)
    assert found.games_per_second == pytest.approx(workers / 0.5)
    assert (found.used, found.limit, found.lost) == (pytest.approx(1), "workers", {})


def test_batches_that_do_not_fill_the_workers_leave_the_others_idle() -> None:
    """25 games for 10 workers take three games' time, in which two and a half are played by each."""
    found = simulate(looks([25] * 4), 10, FREE, SINGLE)
    assert found.seconds == pytest.approx(4 * 3)
    assert found.used == pytest.approx(2.5 / 3)
    assert found.limit == "look"
    assert found.lost == {"look": pytest.approx(3 / 4 * 0.5 / 3), "end": pytest.approx(1 / 4 * 0.5 / 3)}


def test_rounds_that_overlap_fill_the_workers() -> None:
    """With one round in hand nobody waits: 100 games of a second by 10 workers, in rounds of 25."""
    sizes = [25] * 4
    assert simulate(Batches(sizes, [0, 0, 1, 2], "round"), 10, FREE, SINGLE).seconds == pytest.approx(10)
    assert simulate(Batches(sizes, [0, 1, 2, 3], "round"), 10, FREE, SINGLE).seconds == pytest.approx(12)


@pytest.mark.integration
def test_one_writer_stores_so_many_games_in_a_second_and_no_more() -> None:
    costs = replace(FREE, commit=0.01, row=0.001)
    single = simulate(tournament(20_000), 1000, costs, SINGLE)
    assert single.games_per_second == pytest.approx(100, rel=0.02)
    assert single.limit == "writer"
    # Twenty games of a tenth of a second in a commit: 0.01 + 19 * 0.001 seconds. Only the last chunks are smaller.
    costs = replace(costs, game=0.1)
    chunks = simulate(tournament(200_000), 100, costs, Design(2.0))
    assert chunks.games_per_second == pytest.approx(20 / 0.029, rel=0.05)


@pytest.mark.integration
def test_the_wire_carries_so_many_chunks_and_bytes() -> None:
    chunks = simulate(tournament(20_000), 1000, replace(FREE, chunk=0.01), SINGLE)
    assert chunks.games_per_second == pytest.approx(100, rel=0.02)
    assert chunks.limit == "wire"
    sent = simulate(tournament(20_000), 1000, replace(FREE, result_bytes=5_000, bytes_per_second=1e6), SINGLE)
    assert sent.games_per_second == pytest.approx(200, rel=0.02)


def test_a_model_fit_between_rounds_keeps_everybody_waiting() -> None:
    rounds = Batches([10] * 5, range(5), "round", lambda complete: 1.0)
    found = simulate(rounds, 10, FREE, SINGLE)
    assert found.seconds == pytest.approx(5 * 2)
    assert (found.limit, found.lost) == ("model fit", {"model fit": pytest.approx(0.5)})


def test_a_tuning_fits_its_model_when_there_is_enough_that_is_new_and_lays_out_every_round() -> None:
    costs = replace(FREE, game=1e-6, fits=((1, 1.0),), lay_out=0.0)
    # 1000 games: twenty rounds of 22 pairs and a last one of 10, after each of the 21 a fit.
    assert simulate(tuning(1000, 0, costs), 1, costs, SINGLE).seconds == pytest.approx(21, rel=0.01)
    costs = replace(costs, fits=(), lay_out=0.01)
    laid_out = 2 * (450 - 22)  # the first round is laid out before it begins
    assert simulate(tuning(1000, 0, costs), 1, costs, SINGLE).seconds == pytest.approx(0.01 * laid_out, rel=0.01)


def test_games_beyond_the_end_of_a_sequential_test_do_not_count() -> None:
    """100 of equal length by 8 workers: 13 rows of 8, the last of which has four that count."""
    found = simulate(SequentialTest(100), 8, FREE, SINGLE)
    assert found.seconds == pytest.approx(13)
    assert found.games_per_second == pytest.approx(100 / 13)
    assert found.lost == {"beyond the end": pytest.approx(4 / 104)}


def test_the_same_seed_gives_the_same_run() -> None:
    costs = replace(FREE, variation=0.5, commit=0.01, chunk=0.01)
    found = [simulate(looks([40] * 5), 10, costs, Design(2.0), seed) for seed in (1, 1, 2)]
    assert found[0] == found[1] != found[2]
