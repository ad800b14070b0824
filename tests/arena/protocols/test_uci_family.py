"""Reading lines of UCI and UCCI, whatever an engine writes, and moves in either rank base."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elolab.arena.players.announced_options import AnnouncedOption
from elolab.arena.protocols.uci import UciClient
from elolab.arena.protocols.uci_family import (
    parse_best_move,
    parse_information,
    parse_option,
)
from elolab.engine.rules import REPETITION_RULES, Rules
from elolab.engine.values import MATE
from tests.support.xiangqi_match import mock_spec, play_one, playing


def test_long_lines_are_read_at_once() -> None:
    """None may stop the games that others play: without bounds each of these took from seconds to hours."""
    noise = 5000
    assert parse_information("info depth 7 " + "score cp 1 " * noise).score == 1
    assert parse_information("info depth 7 " + "nodes " * noise + " nodes 9").nodes == 9
    assert parse_information("info depth 7 " + "pv a0a1 " * noise + "score cp 8 nodes 9").score == 8
    spaces = " " * 10 * noise
    style = AnnouncedOption("Style", "combo", choices=("a", "b"))
    assert parse_option(f"option name Style type combo{spaces}var a{spaces}var b{spaces}") == style
    assert parse_option("option name x" + " type" * noise) == AnnouncedOption("x", "type")
    assert parse_option(f"option name{spaces}") is None


@pytest.mark.parametrize(
    "line", ["", "option", "option name", "option name x", "optional name x type spin", "id name x"]
)
def test_what_is_no_option_is_none(line: str) -> None:
    assert parse_option(line) is None


@given(st.text(max_size=200))
def test_no_text_upsets_the_parsers(text: str) -> None:
    for line in (text, f"option name {text}", f"option name a type spin {text}"):
        parse_option(line)
    parse_information(f"info {text}")
    parse_best_move(f"bestmove {text}")
    session = UciClient()
    session.hello()
    session.receive(text)


def test_an_information_line() -> None:
    line = "info depth 12 seldepth 20 multipv 1 score cp -31 nodes 123456 nps 999 time 12 pv h3e3 h10g8"
    found = parse_information(line)
    assert (found.score, found.depth, found.nodes) == (-31, 12, 123456)
    assert parse_information("info string depth 3 score cp 4").score is None
    assert parse_information("info depth x score cp y").depth is None


def test_numbers_that_are_too_large_do_no_harm() -> None:
    huge = "9" * 5000
    found = parse_information(f"info depth {huge} score cp -{huge} nodes 18446744073709551615")
    assert (found.depth, found.nodes) == (10**6, 10**15)
    assert -MATE + 1000 < (found.score or 0) < -MATE + 2000
    option = parse_option(f"option name Seed type spin default 0 min -{huge} max 18446744073709551615")
    assert option is not None
    assert option.check("12345678901234567890") == "12345678901234567890"


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("mate 1", MATE - 1),
        ("mate 3", MATE - 5),
        ("mate 0", -MATE),
        ("mate -1", -MATE + 2),
        ("mate -4", -MATE + 8),
        ("mate 9999", MATE - 128),
        ("cp 0", 0),
        ("cp -250", -250),
    ],
)
def test_scores_in_plies_from_the_mover(text: str, score: int) -> None:
    assert parse_information(f"info depth 1 score {text} nodes 1").score == score


def test_a_score_in_centipawns_never_looks_like_a_mate() -> None:
    assert MATE - 2000 < (parse_information("info score cp 31999").score or 0) < MATE - 1000
    assert -MATE + 1000 < (parse_information("info score cp -999999999").score or 0) < -MATE + 2000


@pytest.mark.parametrize("text", ["bestmove", "bestmove (none)", "bestmove 0000", "bestmove (none) ponder h3e3"])
def test_no_move(text: str) -> None:
    assert parse_best_move(text) is None


def test_a_move_with_its_ponder_move() -> None:
    assert parse_best_move("bestmove h3e3 ponder h10g8") == "h3e3"


@pytest.mark.integration
@pytest.mark.parametrize(
    ("protocol", "said"),
    [
        ("ucci", {rule: f"setoption repetition {word}" for rule, word in (
            ("draw", "alwaysdraw"), ("check-only", "checkban"), ("asian", "asianrule"), ("chinese", "chineserule"))}),
        ("ucicyclone", {rule: f"setoption name Repetition Rule value {word}" for rule, word in (
            ("check-only", "AllowChase"), ("asian", "AsianRule"), ("chinese", "ChineseRule"))}),
    ],
)  # fmt: skip
def test_an_engine_with_an_option_for_the_rule_of_repetition_gets_it(
    protocol: str, said: dict[str, str], tmp_path: Path
) -> None:
    """Once, before its first search; a value that the engine lacks is not sent."""
    for rule in REPETITION_RULES:
        notes = tmp_path / rule
        spec = mock_spec(protocol, settings={"file": notes, "rule": "yes"})
        with playing(spec, mock_spec(protocol, name="black"), rules=Rules(repetition=rule)) as play:
            assert play().reason == play().reason == "repetition"
        heard = notes.read_text().splitlines()
        assert [line for line in heard if "epetition" in line] == ([said[rule]] if rule in said else [])
        if rule in said:
            assert heard.index(said[rule]) < next(at for at, line in enumerate(heard) if line.startswith("position"))


def test_the_players_own_option_for_the_rule_of_repetition_prevails(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    spec = mock_spec("ucci", settings={"file": notes, "rule": "yes"}, options=(("Repetition", "checkban"),))
    play_one(spec, mock_spec("ucci", name="black"))
    said = [line for line in notes.read_text().splitlines() if "repetition" in line]
    assert said == ["setoption repetition checkban"]
