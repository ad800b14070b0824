"""The round robin: everybody meets everybody, colours swapped, openings never repeated, extension keeps games."""

from __future__ import annotations

from dataclasses import asdict, replace

import pytest

from elolab.arena.notation.openings import Suite
from elolab.arena.records import Opening, Outcome, digest_of
from elolab.arena.schedule import format_of, job_of, opening_order, planned_games
from elolab.arena.tournament_reader import spec_from_mapping
from elolab.arena.tournament_spec import TournamentSpec
from elolab.engine.errors import UserError

SUITE = Suite("made up", tuple(Opening(f"k{number}/9 w - - 0 1", (), str(number)) for number in range(20)))


def specification(players: int = 4, pairs: int = 3, **changes: object) -> TournamentSpec:
    entries = [{"name": f"player {number}", "set": {"tempo": number}} for number in range(players)]
    data = {"pairs": pairs, "limit": "nodes=100", "players": entries, "openings": "made up", **changes}
    return spec_from_mapping(data, "cup.toml")


def schedule(spec: TournamentSpec) -> list:
    return list(format_of(spec).pairings(spec, opening_order(spec, SUITE.part("all")), []))


def test_everybody_meets_everybody_with_both_colours_from_every_opening() -> None:
    spec = specification()
    pairings = schedule(spec)
    assert len(pairings) == planned_games(spec) == 4 * 3 * 3
    assert [pairing.number for pairing in pairings] == list(range(36))
    games = {(pairing.pair, pairing.first, pairing.second) for pairing in pairings}
    assert games == {(pair, a, b) for pair in range(3) for a in range(4) for b in range(4) if a != b}
    order = opening_order(spec, SUITE.part("all"))
    assert all(pairing.opening == order[pairing.pair] for pairing in pairings)
    assert len(set(order)) == format_of(spec).openings_needed(spec) == 3


def test_the_games_of_a_pair_are_neighbours_and_pairs_fill_evenly() -> None:
    pairings = schedule(specification())
    for one, other in zip(pairings[::2], pairings[1::2], strict=True):
        assert (one.first, one.second, one.pair) == (other.second, other.first, other.pair)
    assert [pairing.pair for pairing in pairings] == [0] * 12 + [1] * 12 + [2] * 12


@pytest.mark.parametrize("form", ["round_robin", "swiss", "knockout", "gauntlet"])
def test_without_swapped_colours_the_player_listed_first_opens_each_of_its_openings_once(form: str) -> None:
    spec = specification(format=form, pairs=2, swap_colours=False)
    order = opening_order(spec, SUITE.part("all"))
    assert len(set(order)) == format_of(spec).openings_needed(spec) == 2 * format_of(spec).opened_pairs(spec)
    pairings = list(format_of(spec).pairings(spec, order, []))
    assert all(pairing.first < pairing.second for pairing in pairings)
    for one, other in zip(pairings[::2], pairings[1::2], strict=True):
        assert (one.opening, other.opening) == (order[2 * one.pair], order[2 * one.pair + 1])
        assert (one.pair, one.first, one.second) == (other.pair, other.first, other.second)


def test_rounds() -> None:
    pairings = schedule(specification(pairs=2, rounds=3))
    assert [pairing.round for pairing in pairings] == [0] * 24 + [1] * 24 + [2] * 24


def test_one_batch_is_all() -> None:
    spec = specification()
    pairing = schedule(spec)[0]
    assert list(format_of(spec).pairings(spec, range(20), [Outcome("key", pairing, 1.0)])) == []


def test_extension_keeps_the_keys_of_the_games() -> None:
    def keys(spec: TournamentSpec) -> set[str]:
        return {job_of(spec, SUITE, pairing).key for pairing in schedule(spec)}

    small = keys(specification(3, 2))
    assert len(small) == 12
    assert small < keys(specification(3, 5))
    assert small < keys(specification(5, 2))
    moved = replace(specification(4, 2), players=specification(4, 2).players[::-1])
    assert small < keys(moved)
    assert not small & keys(specification(3, 2, seed=9))
    assert not small & keys(specification(3, 2, limit="nodes=101"))


def test_the_key_is_the_digest_of_what_decides_the_game() -> None:
    spec = specification()
    for pairing in schedule(spec)[:4]:
        job = job_of(spec, SUITE, pairing)
        assert job.key == digest_of(
            {
                "game": job.game, "rules": asdict(job.rules), "adjudication": job.adjudication.content(),
                "first": job.first.content(), "second": job.second.content(),
                "opening": [job.opening.position, list(job.opening.moves)], "pair": job.pairing.pair, "seed": job.seed,
            }
        )  # fmt: skip


def test_what_decides_games_may_grow_without_new_keys_for_those_that_do_not_use_it() -> None:
    """Otherwise a run of other people's engines would play all of its games again after an update."""
    entries = [{"name": name, "protocol": "uci", "command": f"./{name}"} for name in "ab"]
    data = {"pairs": 1, "limit": "nodes=100", "players": entries, "openings": "made up"}
    spec = spec_from_mapping(data, "cup.toml")
    keys = [job_of(spec, SUITE, pairing).key for pairing in schedule(spec)]
    assert keys == ["c9dd1e446cfde75dea1fbf23e8ddd31c", "a56d4687ed27047dba1bf1adba361a4d"]


def test_a_pairing_never_plays_an_opening_twice() -> None:
    spec = specification(pairs=21)
    with pytest.raises(UserError, match=r"cup.toml: pairs = 21 needs 21 different openings.*has 20"):
        opening_order(spec, SUITE.part("all"))
    half = SUITE.part("tournament")
    with pytest.raises(UserError, match=rf"pairs = 10 in 2 rounds needs 20 .* tournament half .* has {len(half)}"):
        opening_order(specification(pairs=10, rounds=2), half)
    assert len(opening_order(specification(pairs=20), SUITE.part("all"))) == 20


def test_openings_are_played_again_on_a_clock_if_asked_for() -> None:
    clock = {"limit": "clock=1+0.1", "opening_reuse": True}
    order = opening_order(specification(pairs=45, **clock), SUITE.part("all"))
    assert order == (order[:20] * 3)[:45]
    assert order[:20] == opening_order(specification(pairs=20), SUITE.part("all"))
    with pytest.raises(UserError, match=r", or play them again with --openings made up reuse=true"):
        opening_order(replace(specification(pairs=21, limit="clock=1"), source="match"), SUITE.part("all"))
    with pytest.raises(UserError, match=r"has 20; .*, or play them again with opening_reuse = true"):
        opening_order(specification(pairs=21, limit="clock=1+0.1"), SUITE.part("all"))
    for limit in ("nodes=9", "clock=1,node_clock=1000"):
        with pytest.raises(UserError, match="opening_reuse = true: 'player 0' and 'player 1' would repeat their games"):
            opening_order(specification(pairs=21, limit=limit, opening_reuse=True), SUITE.part("all"))
