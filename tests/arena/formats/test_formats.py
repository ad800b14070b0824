"""What every format keeps to: a schedule that results alone decide, resumed and extended without losing games."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elolab.arena.formats.encounters import encounters_of
from elolab.arena.schedule import FORMATS, ScheduleState, format_of, planned_games
from tests.support.fake_tournament import by_chance, key_of, order_of, played, specification

KINDS: list[tuple[str, dict[str, Any]]] = [
    ("round_robin", {"rounds": 2}),
    ("gauntlet", {"rounds": 2}),
    ("gauntlet", {"gauntlet_players": 2}),
    ("swiss", {}),
    ("swiss", {"rounds": 3, "seeding": "random"}),
    ("swiss", {"rounds": 6, "repeats": True}),
    ("knockout", {"third_place": True, "tiebreak": "coin"}),
    ("knockout", {"tiebreak_pairs": 0, "seeding": "random"}),
]
tournaments = st.builds(
    lambda kind, players, pairs: specification(kind[0], players, pairs, **kind[1]),
    st.sampled_from(KINDS), st.integers(4, 9), st.integers(1, 2),
)  # fmt: skip


def test_every_format_is_tried() -> None:
    assert {name for name, _ in KINDS} | {"match", "sprt"} == set(FORMATS)


@pytest.mark.integration
@given(tournaments, st.integers(0, 10**6), st.integers(0, 60))
def test_neither_arrival_nor_interruption_matters(spec: Any, seed: int, stop: int) -> None:
    result = by_chance(seed)
    plain = played(spec, result)
    stored: dict[str, float] = {}
    for attempt in range(3):
        played(spec, result, arrival=random.Random(seed + attempt), stored=stored, at_most=stop)
    resumed = played(spec, result, arrival=random.Random(seed), stored=stored)
    assert resumed.results == plain.results
    assert set(stored) == {outcome.key for outcome in plain.results}


@pytest.mark.integration
@given(tournaments, st.integers(0, 10**6))
def test_places_pairs_and_openings(spec: Any, seed: int) -> None:
    course = played(spec, by_chance(seed, draws=70))
    order, pairings = order_of(spec), [outcome.pairing for outcome in course.results]
    assert [pairing.number for pairing in pairings] == list(range(len(pairings)))
    for one, other in zip(pairings[::2], pairings[1::2], strict=True):
        assert (one.first, one.second, one.pair, one.round) == (other.second, other.first, other.pair, other.round)
    assert all(pairing.opening == order[pairing.pair] for pairing in pairings)
    keys = [outcome.key for outcome in course.results]
    assert len(set(keys)) == len(keys)
    assert [pairing.round for pairing in pairings] == sorted(pairing.round for pairing in pairings)


@pytest.mark.integration
@given(tournaments, st.integers(0, 10**6))
def test_never_more_games_than_planned_and_the_bound_only_falls(spec: Any, seed: int) -> None:
    course = played(spec, by_chance(seed, draws=70))
    bounds, results = [planned_games(spec)], []
    for outcome in course.results:
        results.append(outcome)
        following = ScheduleState.over(spec, results)
        if len(following.results) == len(results):  # a batch is complete
            bounds.append(following.games)
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[-1] == len(course.results) == course.games
    if format_of(spec).has_fixed_length:
        assert bounds[0] == bounds[-1]


@given(tournaments, st.integers(0, 10**6))
def test_the_course_is_known_again_from_the_games(spec: Any, seed: int) -> None:
    course = played(spec, by_chance(seed))
    again = ScheduleState.over(spec, course.results)
    assert again.results == course.results
    assert again.is_over


@pytest.mark.integration
@pytest.mark.parametrize(
    ("format", "small", "large"),
    [
        ("round_robin", {"pairs": 1}, {"pairs": 2, "rounds": 2}),
        ("round_robin", {"players": 4}, {"players": 6}),
        ("gauntlet", {"pairs": 1}, {"pairs": 3}),
        ("gauntlet", {"players": 4, "gauntlet_players": 2}, {"players": 6, "gauntlet_players": 2}),
        ("swiss", {"rounds": 2}, {"rounds": 5}),
        ("swiss", {"rounds": 2, "players": 7}, {"rounds": 7, "players": 7}),
    ],
)
def test_a_longer_tournament_has_the_games_of_the_shorter_one(
    format: str, small: dict[str, Any], large: dict[str, Any]
) -> None:
    for seed in range(8):
        one, other = (
            {key_of(spec, outcome.pairing) for outcome in played(spec, by_chance(seed)).results}
            for spec in (specification(format, **{"players": 6, **keys}) for keys in (small, large))
        )
        assert one < other


@pytest.mark.parametrize("challengers", [1, 2, 3])
def test_a_gauntlet_is_the_first_against_the_others(challengers: int) -> None:
    spec = specification("gauntlet", 5, 2, gauntlet_players=challengers, rounds=2)
    course = played(spec, by_chance(1))
    met = [(pairing.first, pairing.second) for pairing in (outcome.pairing for outcome in course.results)]
    expected = [(a, b) for a in range(challengers) for b in range(challengers, 5)]
    assert sorted(met) == sorted(4 * (expected + [(b, a) for a, b in expected]))
    assert {len([game for game in met if game == one]) for one in met} == {4}


def test_an_n_fold_round_robin_repeats_everything_from_new_openings() -> None:
    spec = specification("round_robin", 4, 2, rounds=3)
    results = played(spec, by_chance(1)).results
    for round in range(3):
        games = [outcome.pairing for outcome in results if outcome.pairing.round == round]
        assert len(games) == 4 * 3 * 2
        assert {(game.first, game.second) for game in games} == {(a, b) for a in range(4) for b in range(4) if a != b}
        assert {game.pair for game in games} == {2 * round, 2 * round + 1}


@pytest.mark.parametrize(("format", "players"), [("swiss", 6), ("swiss", 5), ("knockout", 8), ("knockout", 5)])
def test_a_player_that_cannot_be_started_holds_nobody_up(format: str, players: int) -> None:
    spec = specification(format, players, 2)
    for name in (f"player {number}" for number in range(players)):
        course = played(spec, by_chance(3), absent=[name])
        index = [player.name for player in spec.players].index(name)
        assert course.is_over
        assert course.games == len(course.results) <= planned_games(spec)
        lost = [encounter for encounter in encounters_of(course.results) if encounter.absent]
        assert [encounter.absent for encounter in lost] == [frozenset({index})] * len(lost)
        assert len(lost) <= 1  # it is not paired again
        assert course.unplayable == 4 * len(lost)
        again = ScheduleState.over(spec, [outcome for outcome in course.results if outcome.key], course.withdrawals)
        assert again.games == course.games
        assert [outcome.absent for outcome in again.results] == [outcome.absent for outcome in course.results]


def test_nobody_can_be_started() -> None:
    for format in ("swiss", "knockout"):
        course = played(specification(format, 4), by_chance(3), absent=[f"player {number}" for number in range(4)])
        assert course.unplayable == course.games == len(course.results)
