"""The UCI-Cyclone player: what it says other than UCI's, faults, and games of our own engine."""

from __future__ import annotations

from pathlib import Path

import pytest

from elolab.arena.players.registry import PlayerError, check_player
from elolab.arena.records import Opening
from tests.support.xiangqi_match import assert_same_games, mock_spec, play_one, playing

OTHER_START = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 4 3"


def test_a_game_as_it_is_told(tmp_path: Path) -> None:
    """No variant, no search in the handshake, the start by its name, and ranks from 0."""
    notes = tmp_path / "notes"
    spec = mock_spec("ucicyclone", settings={"file": notes}, options=(("hash", "32"),))
    with playing(spec, mock_spec("ucicyclone", name="black")) as play:
        assert play().reason == "repetition"
        assert play(Opening(OTHER_START)).reason == "repetition"
    said = notes.read_text().splitlines()[1:]
    assert said[:6] == ["uci", "setoption name Hash value 32", "isready", "ucinewgame", "isready", "position startpos"]
    assert "position startpos moves a0a1 a9a8 a1a0 a8a9" in said
    assert f"position fen {OTHER_START}" in said
    assert said.count("go depth 3") == 8
    assert not any("UCI_Variant" in line for line in said)


def test_what_the_dialect_leaves_no_choice_about_is_refused() -> None:
    with pytest.raises(PlayerError, match='ranks always count from 0; give protocol = "uci" for others'):
        check_player(mock_spec("ucicyclone", options=(("ranks", "1"),)), "xiangqi")
    with pytest.raises(PlayerError, match="othello cannot be played over ucicyclone"):
        check_player(mock_spec("ucicyclone"), "othello")


def test_an_engine_of_another_dialect_is_named_so() -> None:
    record = play_one(mock_spec("ucicyclone", "other_dialect"), mock_spec("ucicyclone", name="black"))
    assert record.reason == "startup_failure"
    assert (
        'has an option UCI_Variant, so it does not speak UCI-Cyclone; give protocol = "uci"'
        in (record.detail["fault"]["text"])
    )


def test_the_wrong_rank_base_is_named() -> None:
    wrong = mock_spec("ucicyclone", "illegal", settings={"ranks": 1, "at": 1})
    record = play_one(wrong, mock_spec("ucicyclone", name="black"))
    assert (record.result, record.reason) == ("0-1", "illegal_move"), record.detail
    assert "ranks counted from 0" in record.detail["fault"]["text"]


def test_pondering(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    spec = mock_spec("ucicyclone", limit="clock=60", settings={"file": notes}, ponder=True)
    record = play_one(spec, mock_spec("ucicyclone", name="black"))
    assert record.detail["pondering"][0] == {"tries": 3, "hits": [2, 4, 6]}
    said = notes.read_text().splitlines()
    assert said.count("ponderhit") == 3
    assert "position startpos moves a0a1 a9a8" in said


@pytest.mark.integration
def test_over_the_dialect_it_plays_as_it_does_built_in() -> None:
    assert_same_games("ucicyclone")
