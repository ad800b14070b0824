"""The Swiss system, against a search through all pairings of a round."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elolab.arena.formats.encounters import seeds_of
from elolab.arena.formats.swiss import PairedRound, PairingState, SwissTable, paired_round, swiss_table
from elolab.arena.records import Outcome
from elolab.arena.schedule import ScheduleState
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


@pytest.mark.integration
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


@pytest.mark.integration
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
    course = ScheduleState(spec, order_of(spec))
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


def paired(points: str, *met: tuple[int, int]) -> set[tuple[int, int]]:
    """Who meets whom, of players with a digit of points each, best first, some of whom have met."""
    players = range(len(points))
    meetings = tuple(tuple(int((one, other) in met or (other, one) in met) for other in players) for one in players)
    nobody = (0,) * len(points)
    found = paired_round(PairingState(tuple(players), tuple(map(float, points)), meetings, nobody, nobody, False))
    assert found is not None
    return {*found.encounters, *([] if found.bye is None else [(found.bye, found.bye)])}


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        # Everybody is of one group: its upper half meets its lower half in order, and the last has the bye.
        ("11", {(0, 1)}),
        ("1111", {(0, 2), (1, 3)}),
        ("111111", {(0, 3), (1, 4), (2, 5)}),
        ("1111111", {(0, 3), (1, 4), (2, 5), (6, 6)}),
        ("1111111111", {(0, 5), (1, 6), (2, 7), (3, 8), (4, 9)}),
        # The last of an odd group floats down, and meets the first of the next; the others fold.
        ("111000", {(0, 1), (2, 3), (4, 5)}),
        ("11111000", {(0, 2), (1, 3), (4, 5), (6, 7)}),
        ("1110000000", {(0, 1), (2, 3), (4, 7), (5, 8), (6, 9)}),
        # So does the last of an even group that somebody floats down to.
        ("2110", {(0, 1), (2, 3)}),
        ("21111000", {(0, 1), (2, 3), (4, 5), (6, 7)}),
        ("21111110", {(0, 1), (2, 4), (3, 5), (6, 7)}),
        ("2221111110", {(0, 1), (2, 3), (4, 6), (5, 7), (8, 9)}),
        ("2111111110", {(0, 1), (2, 5), (3, 6), (4, 7), (8, 9)}),
        # The bye comes after who floats down to its group.
        ("1110000", {(0, 1), (2, 3), (4, 5), (6, 6)}),
        ("100000000", {(0, 1), (2, 5), (3, 6), (4, 7), (8, 8)}),
    ],
)
def test_groups_are_folded_and_who_is_left_over_floats_down(points: str, expected: set[tuple[int, int]]) -> None:
    """By hand, as the FIDE (Dutch) System pairs where nobody has met."""
    assert paired(points) == expected


@pytest.mark.parametrize(
    ("points", "met", "expected"),
    [
        # The lower half changes its order before anybody meets one of the own half: 0 gets the next of it.
        ("1111", [(0, 2)], {(0, 3), (1, 2)}),
        ("111111", [(0, 3)], {(0, 4), (1, 3), (2, 5)}),
        ("111111", [(1, 4)], {(0, 3), (1, 5), (2, 4)}),
        ("111111", [(0, 3), (0, 4)], {(0, 5), (1, 3), (2, 4)}),
        ("111111", [(0, 3), (2, 5)], {(0, 4), (1, 5), (2, 3)}),
        ("111110", [(0, 2), (0, 3)], {(0, 4), (1, 2), (3, 5)}),
        ("111110", [(1, 3)], {(0, 2), (1, 4), (3, 5)}),
        # Only who has met all of the lower half meets another of the upper one: 2 and 3 change places.
        ("111111", [(2, 3), (2, 4), (2, 5)], {(0, 2), (1, 4), (3, 5)}),
        # Who floats down meets the next of the lower group, whose others fold.
        ("111000", [(2, 3)], {(0, 1), (2, 4), (3, 5)}),
        ("211111", [(0, 1)], {(0, 2), (1, 4), (3, 5)}),
        ("211111", [(0, 1), (0, 2)], {(0, 3), (1, 4), (2, 5)}),
        # Who floats down keeps the first of the group where the others can change places.
        ("211111", [(2, 4)], {(0, 1), (2, 5), (3, 4)}),
        # The last but one floats down where the last has met everybody below.
        ("11100", [(2, 3), (2, 4)], {(0, 2), (1, 3), (4, 4)}),
    ],
)
def test_who_has_met_moves_as_little_as_can_be(
    points: str, met: list[tuple[int, int]], expected: set[tuple[int, int]]
) -> None:
    """By hand, as the FIDE (Dutch) System tries transpositions of the lower half before exchanges between both."""
    assert paired(points, *met) == expected


def test_byes_go_up_from_the_bottom() -> None:
    """By hand: 0 beats 2 and 1 beats 3; of 2, 3 and 4, which has a point for its bye, 3 is last; then 2."""
    assert [bye for _, bye in better_seed_wins(5)] == [4, 3, 2]


def test_repeats_come_only_once_they_must() -> None:
    rounds = better_seed_wins(4, rounds=5, repeats=True)
    met = [couple for couples, _ in rounds for couple in couples]
    assert len(set(met[:6])) == 6
    assert len(met) == 10


@pytest.mark.integration
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


def test_who_could_not_be_started_gets_nothing_and_the_opponent_a_walkover() -> None:
    """player 0 meets 3, 1 meets 4, 2 meets 5; then three players are left."""
    spec = specification("swiss", 6, rounds=2)
    course = played(spec, lambda key: 1.0, absent=["player 0", "player 1", "player 4"], at_most=2)
    assert course.results
    table = swiss_table(spec, course.results)
    assert table.points == (0, 0, 0.5, 1, 0, 0.5)
    assert table.out == {0, 1, 4}
    state = table.state(spec)
    assert (state.ranking, state.walkovers, state.byes) == ((3, 2, 5), (1, 0, 0), (0, 0, 0))
    assert paired_round(state) == PairedRound([(3, 2)], 5)
    assert course.games == 6 + 2


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
