"""The Swiss system, against a search through all pairings of a round."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.formats.encounters import seeds_of
from arena.formats.swiss import PairedRound, PairingState, SwissTable, paired_round, swiss_table
from arena.records import Outcome
from arena.schedule import Course
from tests.support.fake_tournament import by_chance, order_of, played, specification


def all_pairings(players: list[int]) -> Iterator[tuple[list[tuple[int, int]], int | None]]:
    """Every way to pair them, with a bye if they are an odd number."""
    byes: list[int | None] = list(players) if len(players) % 2 else [None]
    for bye in byes:
        for couples in couplings([player for player in players if player != bye]):
            yield couples, bye


def couplings(players: list[int]) -> Iterator[list[tuple[int, int]]]:
    if not players:
        yield []
    for partner in players[1:]:
        for rest in couplings([player for player in players[1:] if player != partner]):
            yield [(players[0], partner), *rest]


def rounds_of(spec: Any, results: list[Outcome]) -> list[tuple[SwissTable, set[frozenset[int]], int | None]]:
    """Of each round: the table before it, its encounters, its bye."""
    after = swiss_table(spec, results)
    found = []
    for round in range(after.rounds):
        before = [outcome for outcome in results if outcome.pairing.round < round]
        met = {frozenset(encounter.players) for encounter in after.encounters if encounter.round == round}
        found.append((swiss_table(spec, before), met, after.byes[round]))
    return found


@given(st.integers(2, 9), st.integers(0, 10**6), st.sampled_from([20, 80]))
def test_nobody_meets_twice_and_every_round_can_be_paired_up_to_the_last(players: int, seed: int, draws: int) -> None:
    most = players - 1 + players % 2
    results = played(specification("swiss", players, rounds=most), by_chance(seed, draws)).results
    rounds = rounds_of(specification("swiss", players, rounds=most), results)
    assert len(rounds) == most
    met = [couple for _, couples, _ in rounds for couple in couples]
    assert set(met) == {frozenset(couple) for couple in itertools.combinations(range(players), 2)}
    assert len(met) == len(set(met))
    byes = [bye for _, _, bye in rounds if bye is not None]
    assert sorted(byes) == (list(range(players)) if players % 2 else [])


@given(st.integers(3, 7), st.integers(0, 10**6), st.sampled_from([20, 80]))
def test_the_bye_and_the_differences_of_score_are_the_least_possible(players: int, seed: int, draws: int) -> None:
    spec = specification("swiss", players)
    met: set[frozenset[int]] = set()
    had: set[int | None] = set()
    for table, couples, bye in rounds_of(spec, played(spec, by_chance(seed, draws)).results):
        ranking = sorted(seeds_of(spec), key=lambda player: -table.points[player])

        def cost(
            couples: list[tuple[int, int]], bye: int | None, ranking: list[int] = ranking, table: SwissTable = table
        ) -> tuple[int, float]:
            above = 0 if bye is None else len(ranking) - ranking.index(bye)
            return above, sum((table.points[one] - table.points[other]) ** 2 for one, other in couples)

        left = players - 1 + players % 2 - table.rounds - 1
        legal = [
            (cost(pairs, idle), can_be_completed(players, met | {*map(frozenset, pairs)}, had | {idle}, left))
            for pairs, idle in all_pairings(ranking)
            if not met & {frozenset(couple) for couple in pairs} and idle not in had - {None}
        ]
        chosen = cost([tuple(couple) for couple in couples], bye)  # type: ignore[misc]
        best = min(value for value, _ in legal)
        if (best, True) in legal:
            assert chosen[0] == best[0]
            assert chosen == best or not all(fine for value, fine in legal if value == best)
        assert (chosen, True) in legal
        met |= couples
        had.add(bye)


def can_be_completed(players: int, met: set[frozenset[int]], byes: set[int | None], rounds: int) -> bool:
    """Whether so many rounds more can be paired; the rule looks that far."""
    if not rounds:
        return True
    for couples, bye in all_pairings(list(range(players))):
        pairs = {frozenset(couple) for couple in couples}
        legal = not pairs & met and bye not in byes - {None}
        if legal and can_be_completed(players, met | pairs, byes | {bye}, rounds - 1):
            return True
    return False


def test_the_first_round_is_the_upper_half_against_the_lower() -> None:
    spec = specification("swiss", 9)
    (_, couples, bye), *_ = rounds_of(spec, played(spec, by_chance(1)).results)
    assert couples == {frozenset((place, place + 4)) for place in range(4)}
    assert bye == 8


def better_seed_wins(players: int, **keys: Any) -> list[tuple[set[frozenset[int]], int | None]]:
    """Encounters and bye of each round if the lower index wins every game."""
    spec = specification("swiss", players, **keys)
    course = Course(spec, order_of(spec))
    while not course.is_over:
        course.advance(
            {game.number: Outcome(str(game.number), game, float(game.first < game.second)) for game in course.batch}
        )
    return [(couples, bye) for _, couples, bye in rounds_of(spec, course.results)]


def test_eight_players_of_whom_the_better_seed_wins() -> None:
    """By hand: groups 0-3 and 4-7 fold; then {0, 1} have two points, {2..5} one and {6, 7} none."""
    first, second, third = (couples for couples, _ in better_seed_wins(8))
    assert first == {frozenset(couple) for couple in ((0, 4), (1, 5), (2, 6), (3, 7))}
    assert second == {frozenset(couple) for couple in ((0, 2), (1, 3), (4, 6), (5, 7))}
    assert third == {frozenset(couple) for couple in ((0, 1), (2, 4), (3, 5), (6, 7))}


def test_byes_go_up_from_the_bottom() -> None:
    """By hand: 0 beats 2 and 1 beats 3; of 2, 3 and 4, which has a point for its bye, 3 is last; then 2."""
    assert [bye for _, bye in better_seed_wins(5)] == [4, 3, 2]


def test_repeats_come_only_once_they_must() -> None:
    rounds = better_seed_wins(4, rounds=5, repeats=True)
    met = [couple for couples, _ in rounds for couple in couples]
    assert len(set(met[:6])) == 6
    assert len(met) == 10


def test_two_groups_of_three_cannot_be_paired_and_are_avoided() -> None:
    """Six players after two rounds: the cheapest third round would leave two triangles, and no fourth round."""
    for seed in range(30):
        spec = specification("swiss", 6, rounds=5)
        assert swiss_table(spec, played(spec, by_chance(seed, 10)).results).rounds == 5


def test_there_may_be_no_legal_pairing_left() -> None:
    """Three of whom everybody has met everybody, and one more: a state that only withdrawals lead to."""
    met = ((0, 1, 1, 0), (1, 0, 1, 1), (1, 1, 0, 1), (0, 1, 1, 0))
    state = PairingState((0, 1, 2, 3), (2.0, 1.0, 1.0, 0.0), met, (0,) * 4, (0,) * 4, False)
    assert paired_round(state) is None
    assert paired_round(state._replace(repeats=True)) is not None
    assert paired_round(PairingState((3,), (0.0,), ((0,),), (0,), (0,), False)) is None


def test_a_win_without_playing_counts_as_a_bye() -> None:
    """The last of three has won against somebody who was not there: the next bye is another's."""
    state = PairingState((0, 1, 2), (1.0, 1.0, 1.0), ((0,) * 3,) * 3, (0, 0, 0), (0, 0, 1), False)
    assert paired_round(state) == PairedRound([(0, 2)], 1)


@pytest.mark.parametrize(("players", "rounds"), [(2, 1), (3, 2), (4, 2), (5, 3), (8, 3), (9, 4), (16, 4), (17, 5)])
def test_rounds_by_default(players: int, rounds: int) -> None:
    assert specification("swiss", players).rounds == rounds


def test_many_players() -> None:
    spec = specification("swiss", 30, rounds=15)
    table = swiss_table(spec, played(spec, by_chance(2)).results)
    assert table.rounds == 15
    assert len({frozenset(encounter.players) for encounter in table.encounters}) == 15 * 15
