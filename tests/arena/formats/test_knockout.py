"""The knockout: who meets whom, what breaks ties, and who goes on without playing."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elolab.arena.formats.encounters import seeds_of
from elolab.arena.formats.knockout import Bracket, bracket_of
from elolab.arena.records import Outcome, Pairing
from elolab.arena.schedule import ScheduleState, Withdrawal, planned_games
from elolab.arena.tournament_spec import TournamentSpec
from tests.support.fake_tournament import by_chance, order_of, played, specification


def with_results(spec: TournamentSpec, score: Callable[[Pairing], float]) -> ScheduleState:
    """The whole tournament; ``score`` gives the points of the first player."""
    course = ScheduleState(spec, order_of(spec))
    while not course.is_over:
        course.advance({game.number: Outcome(str(game.number), game, score(game)) for game in course.batch})
    return course


def final_bracket(course: ScheduleState) -> Bracket:
    return bracket_of(course.spec, course.results)


def better_seed(spec: TournamentSpec) -> Callable[[Pairing], float]:
    seeds = seeds_of(spec)
    return lambda game: float(seeds.index(game.first) < seeds.index(game.second))


@pytest.mark.integration
@pytest.mark.parametrize("seeding", ["order", "random"])
@pytest.mark.parametrize("players", range(2, 18))
def test_if_the_better_seed_always_wins_the_best_are_left_in_every_round(players: int, seeding: str) -> None:
    spec = specification("knockout", players, seeding=seeding)
    bracket = final_bracket(with_results(spec, better_seed(spec)))
    left = list(seeds_of(spec))
    for ties in bracket.rounds:
        entrants = [player for tie in ties for player in tie.players if player is not None]
        assert sorted(entrants) == sorted(left)
        for tie in ties:  # the best meets the last, the second best the last but one, and so on
            one, other = tie.players
            if one is not None and other is not None:
                assert left.index(one) + left.index(other) == 2 * len(ties) - 1
        left = left[: len(ties)]
    assert bracket.final.winner == seeds_of(spec)[0]


@pytest.mark.parametrize("players", range(2, 18))
def test_byes_go_to_the_best_seeds(players: int) -> None:
    spec = specification("knockout", players)
    bracket = final_bracket(with_results(spec, better_seed(spec)))
    byes = [tie.winner for tie in bracket.ties if tie.reason == "bye"]
    size = 2 ** len(bracket.rounds)
    assert size / 2 < players <= size
    assert sorted(byes) == list(range(size - players))
    assert len({tie.round for tie in bracket.ties if tie.reason == "bye"}) == bool(byes)


@pytest.mark.integration
@given(st.integers(2, 12), st.integers(0, 10**6))
def test_whoever_loses_is_out(players: int, salt: int) -> None:
    course = played(specification("knockout", players), by_chance(salt, 70))
    lost: set[int] = set()
    for tie in final_bracket(course).ties:
        if tie.reason == "bye":
            continue
        assert not lost & set(tie.opponents)
        assert tie.winner in tie.opponents
        assert tie.loser is not None
        lost.add(tie.loser)
    assert len(lost) == players - 1


def test_the_draw_is_decided_by_the_random_seed_and_the_names() -> None:
    seedings = [seeds_of(specification("knockout", 8, seeding="random", seed=seed)) for seed in range(5)]
    assert len(set(seedings)) == 5
    assert all(sorted(seeding) == list(range(8)) for seeding in seedings)
    spec = specification("knockout", 8, seeding="random", seed=3)
    names = [spec.players[player].name for player in seeds_of(spec)]
    turned = replace(spec, players=spec.players[::-1])
    assert [turned.players[player].name for player in seeds_of(turned)] == names


def draws_until(pair: int, winner: int) -> Callable[[Pairing], float]:
    """All games before that pair of an encounter are drawn; then one player wins."""

    def score(game: Pairing) -> float:
        return 0.5 if game.pair < pair else float(game.first == winner)

    return score


@pytest.mark.parametrize(
    ("tiebreak_pairs", "winning_pair", "games", "reason"),
    [(3, 0, 4, "points"), (3, 2, 6, "sudden_death"), (3, 4, 10, "sudden_death"), (3, 5, 10, "seed"), (0, 2, 4, "seed")],
)
def test_sudden_death(tiebreak_pairs: int, winning_pair: int, games: int, reason: str) -> None:
    spec = specification("knockout", 2, 2, tiebreak_pairs=tiebreak_pairs)
    course = with_results(spec, draws_until(winning_pair, 1))
    final = final_bracket(course).final
    assert (final.games, final.reason) == (games, reason)
    assert final.winner == (0 if reason == "seed" else 1)
    assert [outcome.pairing.pair for outcome in course.results[::2]] == list(range(games // 2))
    assert planned_games(spec) == 2 * (2 + tiebreak_pairs)


def test_every_round_has_pairs_of_its_own_sudden_death_included() -> None:
    course = with_results(specification("knockout", 4, 2, tiebreak_pairs=3), lambda game: 0.5)
    assert [sorted({one.pairing.pair for one in course.results if one.pairing.round == round}) for round in (0, 1)] == [
        [0, 1, 2, 3, 4], [5, 6, 7, 8, 9],
    ]  # fmt: skip


def test_the_better_seed_is_that_of_the_draw_not_of_the_file() -> None:
    spec = specification("knockout", 2, seeding="random", seed=4)
    assert seeds_of(spec) == (1, 0)
    assert final_bracket(with_results(spec, lambda game: 0.5)).final.winner == 1


def test_the_coin_is_thrown_for_names_whoever_stands_first() -> None:
    for seed in range(8):
        spec = specification("knockout", 2, tiebreak="coin", seed=seed)
        turned = replace(spec, players=spec.players[::-1])
        one, other = (final_bracket(with_results(way, lambda game: 0.5)).final.winner for way in (spec, turned))
        assert {one, other} == {0, 1}


def test_the_coin_falls_by_the_random_seed_and_for_no_side() -> None:
    winners = []
    for seed in range(40):
        spec = specification("knockout", 2, tiebreak="coin", seed=seed)
        final = final_bracket(with_results(spec, lambda game: 0.5)).final
        assert final.reason == "coin"
        assert final == final_bracket(with_results(spec, lambda game: 0.5)).final
        winners.append(final.winner)
    assert 10 < sum(winner or 0 for winner in winners) < 30
    assert "".join(map(str, winners[:8])) == "00000101", "the winners of tournaments that were played with these seeds"


def test_the_losers_of_the_semi_finals_play_for_the_third_place_before_the_final_is_known() -> None:
    spec = specification("knockout", 8, third_place=True)
    course = with_results(spec, better_seed(spec))
    third = final_bracket(course).third_place
    assert third is not None
    assert (set(third.players), third.winner) == ({2, 3}, 2)
    last = [outcome.pairing for outcome in course.results if outcome.pairing.round == 2]
    assert [{game.first, game.second} for game in last] == [{2, 3}] * 2 + [{0, 1}] * 2
    assert final_bracket(with_results(specification("knockout", 8), better_seed(spec))).third_place is None


@pytest.mark.parametrize(("players", "third_place"), list(itertools.product([4, 5, 8], [False, True])))
def test_the_bound_is_reached_if_everything_is_drawn(players: int, third_place: bool) -> None:
    spec = specification("knockout", players, 2, third_place=third_place)
    course = with_results(spec, lambda game: 0.5)
    assert planned_games(spec) == len(course.results) == 2 * 5 * (players - 1 + third_place)


def walkovers(spec: TournamentSpec, absent: list[str]) -> tuple[ScheduleState, Bracket]:
    course = played(spec, by_chance(5, 0), absent=absent)
    return course, final_bracket(course)


def test_the_opponent_of_a_player_that_cannot_be_started_goes_on() -> None:
    spec = specification("knockout", 4, third_place=True)
    course, bracket = walkovers(spec, ["player 0"])
    semi_final = bracket.rounds[0][0]
    assert (semi_final.winner, semi_final.reason, semi_final.played) == (3, "walkover", 0)
    assert bracket.third_place is not None
    assert (bracket.third_place.winner, bracket.third_place.games) == (bracket.rounds[0][1].loser, 0)
    assert course.unplayable == 2
    assert course.is_over


def test_two_that_cannot_be_started_leave_a_gap() -> None:
    course, bracket = walkovers(specification("knockout", 4), ["player 0", "player 3"])
    assert (bracket.rounds[0][0].winner, bracket.rounds[0][0].reason) == (None, "walkover")
    assert (bracket.final.winner, bracket.final.reason) == (bracket.rounds[0][1].winner, "bye")
    assert {outcome.pairing.round for outcome in course.results} == {0}
    assert course.unplayable == 2


def test_a_player_that_fails_in_sudden_death_loses_the_encounter() -> None:
    spec = specification("knockout", 2, tiebreak_pairs=2)
    course = ScheduleState(spec, order_of(spec))
    course.advance({game.number: Outcome(str(game.number), game, 0.5) for game in course.batch})

    course.withdraw(Withdrawal("player 0", 0, "gone"))
    assert course.advance({})
    final = final_bracket(course).final
    assert (final.winner, final.reason, final.points, final.games, final.played) == (1, "walkover", (1, 1), 4, 2)
    assert course.is_over
