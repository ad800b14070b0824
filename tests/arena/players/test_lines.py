"""Lines of programs are words: white space around and between them changes nothing, in any protocol."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from elolab.arena.players.detect import ProtocolFinder
from elolab.arena.players.player import first_word, plain_line
from elolab.arena.protocols.gtp import GtpClient
from elolab.arena.protocols.ucci import UcciClient
from elolab.arena.protocols.uci import UciClient
from elolab.arena.protocols.xboard import XboardClient
from elolab.arena.records import GameRecord, Opening, PlayerSpec
from tests.support import othello_match, xiangqi_match
from tests.support.reformatting import FORMS

REFORMATTING = str(Path(__file__).parents[2] / "support" / "reformatting.py")


def reformatted(spec: PlayerSpec, form: str) -> PlayerSpec:
    return replace(spec, command=(sys.executable, "-I", "-S", REFORMATTING, form, *spec.command))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("bestmove h2e2", "bestmove h2e2"),
        (" bestmove h2e2", "bestmove h2e2"),
        ("\tbestmove\th2e2 \r", "bestmove h2e2"),
        ("info  depth 1", "info depth 1"),
        (" \t", ""),
    ],
)
def test_plain_line(text: str, expected: str) -> None:
    assert plain_line(text) == expected
    assert plain_line(expected) == expected


def test_first_words() -> None:
    assert [first_word(line) for line in ("", "  ", "info", "\tinfo depth 1", "information")] == [
        "", "", "info", "info", "information"
    ]  # fmt: skip


def played(record: GameRecord) -> tuple[object, ...]:
    return (
        record.result, record.reason,
        [(move.move, move.score, move.depth, move.nodes, move.principal_variation) for move in record.moves],
    )  # fmt: skip


WHITE_SPACE = tuple(form for form in FORMS if form != "edax")


@pytest.mark.integration
@pytest.mark.parametrize(
    ("protocol", "limit"), [("ucicyclone", "clock=60"), ("ucci", "depth=3"), ("xboard", "clock=60")]
)
def test_games_of_xiangqi_are_the_same(protocol: str, limit: str) -> None:
    spec = xiangqi_match.mock_spec(protocol, limit=limit, options=(("hashsize", "32"),) if protocol == "ucci" else ())
    other = xiangqi_match.mock_spec("ucci", limit=limit, name="black")
    expected = played(xiangqi_match.play_one(spec, other))
    assert expected[1] == "repetition"
    for form in WHITE_SPACE:
        assert played(xiangqi_match.play_one(reformatted(spec, form), other)) == expected, form


@pytest.mark.integration
@pytest.mark.parametrize("protocol", ["gtp", "nboard"])
def test_games_of_othello_are_the_same(protocol: str) -> None:
    spec, other = othello_match.mock_spec(protocol), othello_match.mock_spec(protocol, name="white")
    opening = Opening(othello_match.START)
    expected = played(othello_match.play_one(spec, other, opening))
    assert expected[1] == "final_score"
    for form in (*WHITE_SPACE, *(["edax"] if protocol == "gtp" else [])):
        assert played(othello_match.play_one(reformatted(spec, form), other, opening)) == expected, form


@pytest.mark.integration
@pytest.mark.parametrize(
    ("module", "protocol"),
    [
        (xiangqi_match, "ucci"),
        (othello_match, "gtp"),
        (xiangqi_match, "xboard"),
        (othello_match, "nboard"),
    ],
)
def test_protocols_are_detected(module: object, protocol: str) -> None:
    spec = module.mock_spec(protocol)  # type: ignore[attr-defined]
    commands = [reformatted(spec, form).command for form in ("blank", "tabs", "crlf")]
    with ThreadPoolExecutor(len(commands)) as pool:  # detection mostly waits
        found = pool.map(lambda command: ProtocolFinder().protocol_of(command, None, None, 10.0).name, commands)
        assert list(found) == [protocol] * len(commands)


def test_a_session_takes_words_and_no_prefixes() -> None:
    for session, line in ((UciClient(), "bestmoves h2e2"), (UcciClient(), "nobestmoves"), (UciClient(), "readyoks")):
        session.synchronise(*session.think())
        assert session.receive(line) == ""
        assert session.unexpected == 0
    session = UciClient()
    session.think()
    session.receive(" info depth 3 score cp 5 nodes 9")
    session.receive("information score cp 7")
    assert session.receive("\tbestmove h2e2") == "bestmove"
    assert session.information().score == 5
    xboard = XboardClient()
    xboard.think()
    assert xboard.receive("resigning is for others") == ""


# --- Numbers of GTP ---------------------------------------------------------------------------------------------------


def answers(*lines: str) -> list[str]:
    """What some lines, each followed by an empty one, answer to as many commands."""
    session = GtpClient()
    session.ask(*(["protocol_version", "name", "genmove b", "play w d3"][: len(lines)]))
    for line in lines:
        session.receive(line)
        session.receive("")
    return [answer.said for answer in session.answers]


@pytest.mark.parametrize(
    "lines",
    [
        ("=1 2", "=2 Name", "=3 c3", "?4 no"),
        ("= 1 2", "= 2 Name", "= 3 c3", "? 4 no"),
        ("=  1  2", "=\t2 Name", "= 3\tc3", "? 4 no"),
        (" = 1 2", " = 2 Name", " = 3 c3", " ? 4 no"),
        ("= 2", "= Name", "= c3", "? no"),
    ],
)
def test_numbers_stand_where_the_engine_writes_them(lines: tuple[str, ...]) -> None:
    assert answers(*map(plain_line, lines)) == ["= 2", "= Name", "= c3", "? no"]


def test_a_text_that_is_the_number_of_its_command_is_no_number() -> None:
    """Of an engine that does not number its answers, and says that it speaks version 1."""
    assert answers("= 1", "= 2 fast", "= c3") == ["= 1", "= 2 fast", "= c3"]


def test_an_empty_answer_with_its_number_after_a_blank() -> None:
    session = GtpClient()
    session.ask("protocol_version", "clear_board", "genmove b")
    for line in ("= 1 2", "", "= 2", "", "= 7 d3", "", "= 3 c3", ""):
        session.receive(line)
    assert [answer.said for answer in session.answers] == ["= 2", "= ", "= c3"]
    assert session.unexpected == 1
