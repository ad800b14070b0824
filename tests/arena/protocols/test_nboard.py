"""The NBoard player: the protocol by scripted dialogues, the player against mock engines and our own."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elolab.arena.players.player import MAX_VARIATION, GameStopped
from elolab.arena.players.registry import PlayerError, check_player
from elolab.arena.protocols.nboard import NBoardClient, NBoardPlayer, read_move
from elolab.arena.records import Opening
from elolab.engine.engine import StopFlag
from elolab.engine.games import game_named
from elolab.engine.settings.limits import Limits
from tests.support.othello_match import START, builtin, final_text, mock_spec, own_engine, play_one, playing

ANYWHERE = Opening("X--------------------------OX------XO-----------------------OO-- O")
"""No game leads there."""


def heard(session: NBoardClient, script: str) -> list[str]:
    return [event for event in map(session.receive, script.splitlines()) if event]


def test_a_whole_conversation() -> None:
    session = NBoardClient()
    assert session.synchronise("nboard 2") == ["nboard 2", "ping 1"]
    assert heard(session, "set myname X\npong 7\n=== D3\npong 1") == ["pong"]
    assert session.is_idle
    assert session.unexpected == 2
    assert session.think("set game G") == ["set game G", "ping 2", "go"]
    # What is said before pong is of an earlier search.
    assert heard(session, "search C4 9.00 0 9\n=== C4/9.00/1\npong 2\nstatus thinking") == ["pong"]
    assert not session.is_idle
    assert heard(session, "search D3C3 1.00 0 3\nsearch D3E3 1.25 0 4\nnodestats 500 0.1\n=== d3/-1.25/0.1") == ["==="]
    assert session.is_idle
    reply = session.reply(7)
    assert reply is not None
    assert (reply.move, reply.score, reply.depth, reply.nodes, reply.elapsed_ns) == ("d3", -125, 4, 500, 7)
    assert reply.principal_variation == "d3 e3"


@pytest.mark.parametrize(
    ("said", "variation"),
    [
        ("D3c5PAf6", "d3 c5 pass f6"),
        ("D3--f6", "d3 pass f6"),
        ("D3/9C5", "d3"),
        ("D3i4C5", "d3"),
        ("D3c", "d3"),
        ("+1.0", ""),
        ("a1b2" * 1000, " ".join(["a1 b2"] * (MAX_VARIATION // 2))),
    ],
)
def test_the_principal_variation(said: str, variation: str) -> None:
    session = NBoardClient()
    session.think("set game G")
    heard(session, f"pong 1\nsearch {said} 1.00 0 3\n=== d3")
    reply = session.reply(0)
    assert reply is not None
    assert reply.principal_variation == variation


def test_a_search_that_was_stopped_owes_no_move() -> None:
    for answers in ("pong 2", "=== D3\npong 2"):
        session = NBoardClient()
        session.think("set game G")
        heard(session, "pong 1")
        session.synchronise()
        heard(session, answers)
        assert session.is_idle


@pytest.mark.parametrize(
    ("line", "move", "score"),
    [
        ("=== D3", "d3", None),
        ("=== PA", "pass", None),
        ("===d6 -1.00 0.0", "d6", -100),
        ("=== D6//2.5", "d6", None),
        ("=== D6/1e9", "d6", 100),
        ("=== D6/999999", "d6", 6400),
    ],
)
def test_moves_and_their_scores(line: str, move: str, score: int | None) -> None:
    session = NBoardClient()
    session.think("set game G")
    heard(session, f"pong 1\n{line}")
    reply = session.reply(0)
    assert reply is not None
    assert (reply.move, reply.score, reply.depth, reply.nodes) == (move, score, None, None)


@given(st.lists(st.text(max_size=20), max_size=10))
def test_no_text_upsets_the_session(lines: list[str]) -> None:
    session = NBoardClient()
    session.think("set game G")
    heard(session, "pong 1")
    for line in lines:
        session.receive(line)
        session.receive(f"=== {line}")
        session.reply(0)
        read_move(line)


@pytest.mark.parametrize("limit", ["nodes=100", "move_time=1", "clock=10", "depth=4,nodes=10"])
def test_limits_that_the_protocol_does_not_know(limit: str) -> None:
    with pytest.raises(PlayerError, match='limits a search by depth only; give limit = "depth=N"'):
        check_player(mock_spec("nboard", limits=Limits.parse(limit)), "othello")


def test_mistakes_in_a_specification() -> None:
    for changes, text in (
        ({"options": (("a", "b"),)}, "NBoard has none"),
        ({"ponder": True}, "nboard has no pondering"),
        ({"limits": Limits()}, "no limit"),
    ):
        with pytest.raises(PlayerError, match=text):
            check_player(replace(mock_spec("nboard"), **changes), "othello")  # type: ignore[arg-type]


@pytest.mark.integration
@pytest.mark.parametrize("mode", ["good", "spaces", "twice"])
def test_games_from_anywhere(mode: str) -> None:
    first, second = mock_spec("nboard", mode), mock_spec("nboard", name="white")
    with playing(first, second) as play:
        for opening in (ANYWHERE, Opening(START, ("d3", "c3", "e6", "d2", "d1", "e1", "b2", "c1"))):
            record = play(opening)
            assert record.reason == "final_score", record.detail
            assert final_text(record) == record.final_position
            asked = [move for move in record.moves if move.move != "pass"]
            assert {(move.score, move.depth, move.nodes) for move in asked} == {(-250, 4, 1234)}


@pytest.mark.parametrize("mode", ["hang", "until_stop"])
def test_the_stop_flag_interrupts_a_search(mode: str) -> None:
    player = NBoardPlayer(mock_spec("nboard", mode, settings={"at": 1}), "othello")
    try:
        player.new_game(Opening(START), StopFlag())
        process, stop = player.process_id, StopFlag()
        stop.set()
        with pytest.raises(GameStopped):
            player.move(game_named("othello").position(), [], None, stop)
        player.new_game(Opening(START), StopFlag())
        assert (player.process_id == process) is (mode == "until_stop")
    finally:
        player.close()


@pytest.mark.integration
def test_over_nboard_it_plays_as_it_does_built_in() -> None:
    """Either side, from an opening with a pass: the same moves with the same scores."""
    expected = play_one(builtin("a"), builtin("b"))
    with playing(own_engine("nboard"), builtin()) as play:
        records = [play(swapped=swapped) for swapped in (False, True)]
    for first, record in enumerate(records):
        assert record.reason == "final_score", record.detail
        assert [move.move for move in record.moves] == [move.move for move in expected.moves]
        pairs = list(zip(record.moves, expected.moves, strict=True))[first::2]
        assert all(move.score == other.score for move, other in pairs if move.score is not None)
        lines = [(move.principal_variation, other.principal_variation) for move, other in pairs]
        assert all(line == other for line, other in lines if line)
        assert sum(bool(line) for line, _ in lines) > len(lines) // 2
