"""A player that makes no move though it has legal ones: asked again afresh, and then an ending of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from elolab.arena.players.external import without_history
from elolab.arena.records import GameRecord, Opening, PlayerSpec
from elolab.arena.statistics.faults import cause_of, fault_text, faults_of
from elolab.engine.games import game_named
from elolab.engine.language import LANGUAGES, Catalogue
from elolab.engine.rules import Rules
from tests.support import othello_match
from tests.support.xiangqi_match import START, mock_spec, play_one

REFUSALS = {
    "ucci": ("nobestmove", "bestmove", "bestmove {move} resign", "bestmove resign"),
    "ucicyclone": ("bestmove (none)", "bestmove 0000", "bestmove", "bestmove a0a0", "bestmove NULL ponder a0a1"),
}
CASES = [(protocol, refusal) for protocol, refusals in REFUSALS.items() for refusal in refusals]


def after(plies: int) -> Opening:
    """The start of the game so many plies after a capture."""
    return Opening(START.replace("- - 0 1", f"- - {plies} 60"))


EACH_LIMIT = pytest.mark.parametrize("limit", ["depth=3", pytest.param("clock=60", marks=pytest.mark.integration)])


def refusing(protocol: str, refusal: str, limit: str = "depth=3", **settings: Any) -> PlayerSpec:
    """A player that counts 100 plies, checks included."""
    return mock_spec(protocol, "good", limit, settings={"refuses_at": 100, "refusal": refusal, **settings})


def good(protocol: str, limit: str = "depth=3", **settings: Any) -> PlayerSpec:
    return mock_spec(protocol, "good", limit, name="black", settings=settings)


@pytest.mark.integration
@EACH_LIMIT
@pytest.mark.parametrize(("protocol", "refusal"), CASES)
def test_it_is_told_of_the_position_afresh_and_plays_on(
    tmp_path: Path, protocol: str, refusal: str, limit: str
) -> None:
    notes = tmp_path / "notes"
    spec = refusing(protocol, refusal, limit, file=notes)
    record = play_one(spec, good(protocol, limit), after(98))
    # The game goes on to where it ends by the rules in force; only what the rules say ends it.
    assert (record.reason, record.result) == ("repetition", "1/2-1/2"), record.detail
    assert record.detail.keys() <= {"disturbed"}  # a busy machine may hold up a move on a clock
    told = [line for line in notes.read_text().splitlines() if line.startswith("position")]
    position = game_named("xiangqi").position(START, ["a0a1", "a9a8"])
    afresh = told.index(f"position fen {without_history(position)}")
    assert told[afresh].endswith("w - - 0 1")
    assert told[afresh + 1] == f"{told[afresh]} moves a1a0 a8a9"


@pytest.mark.integration
@EACH_LIMIT
@pytest.mark.parametrize(("protocol", "refusal"), CASES)
def test_one_that_still_does_not_move_draws_where_counters_and_scores_say_so(
    protocol: str, refusal: str, limit: str
) -> None:
    record = play_one(refusing(protocol, refusal, limit, stubborn="yes"), good(protocol, limit), after(98))
    assert (record.reason, record.result, len(record.moves)) == ("no_move", "1/2-1/2", 2), record.detail
    assert "asked again, it answered" in record.detail["fault"]["text"]
    assert record.detail["dialogue"]


@pytest.mark.parametrize(("plies", "result"), [(98, "1/2-1/2"), (40, "0-1")])
def test_a_draw_that_is_claimed_over_xboard_without_setboard(plies: int, result: str) -> None:
    record = play_one(mock_spec("xboard", "claims_once"), good("xboard"), after(plies))
    assert (record.reason, record.result, len(record.moves)) == ("no_move", result, 2), record.detail
    assert "asked again, it does not support setboard" in record.detail["fault"]["text"]


@pytest.mark.parametrize(
    ("plies", "own", "other"),
    [
        (98, 101, 0),  # a score that claims more
        (98, 0, 101),
        (98, 0, -101),
        (40, 0, 0),  # counters that say nothing
    ],
)
def test_it_loses_otherwise(plies: int, own: int, other: int) -> None:
    settings = {"refuses_at": plies + 2, "stubborn": "yes", "score": own, "refusal": "nobestmove"}
    spec = mock_spec("ucci", settings=settings)
    record = play_one(spec, good("ucci", score=other), after(plies))
    assert (record.reason, record.result, len(record.moves)) == ("no_move", "0-1", 2), record.detail


def test_a_resignation_stays_one_where_nothing_supports_a_draw() -> None:
    for score in (0, -101):
        settings = {"refuses_at": 42, "stubborn": "yes", "score": score, "refusal": "bestmove {move} resign"}
        record = play_one(mock_spec("ucci", settings=settings), good("ucci"), after(40))
        assert (record.reason, record.result, record.detail) == ("resignation", "0-1", {})
    settings |= {"refuses_at": 100}  # it has lost by its own score: so it is not asked again
    assert play_one(mock_spec("ucci", settings=settings), good("ucci"), after(98)).reason == "resignation"


def test_which_positions_other_rules_call_drawn() -> None:
    game = game_named("xiangqi")
    there_and_back = ["a0a1", "a9a8", "a1a0", "a8a9"]
    cases = [
        (game.position(after(99).position), Rules(), False),
        (game.position(after(100).position), Rules(), True),
        (game.position(after(60).position), Rules(move_limit=60), True),
        (game.position(after(100).position), Rules(move_limit=0), True),
        (game.position(START, there_and_back), Rules(fold=4), False),
        (game.position(START, 2 * there_and_back), Rules(fold=4), True),
        (game.position("3k5/9/9/9/9/9/9/9/9/4KA3 w - - 0 1"), Rules(insufficient=False), True),
    ]
    for position, rules, expected in cases:
        assert game.supports_draw_claim(position, rules) is expected, position.text
    othello = game_named("othello")
    assert not othello.supports_draw_claim(othello.position(), Rules())


@pytest.mark.parametrize("mode", ["pass", "pass_once"])
def test_a_pass_where_there_are_moves(mode: str) -> None:
    players = othello_match.mock_spec("gtp", mode), othello_match.mock_spec("gtp", name="black")
    record = othello_match.play_one(*players, Opening(othello_match.START))
    if mode == "pass_once":
        assert (record.reason, record.detail) == ("final_score", {})
    else:
        assert (record.result, record.reason) == ("0-1", "no_move")


# --- What is reported -------------------------------------------------------------------------------------------------


def drawn() -> GameRecord:
    return play_one(refusing("ucci", "nobestmove", stubborn="yes"), good("ucci"), after(98))


def test_it_is_counted_among_the_faults_whoever_won() -> None:
    record = drawn()
    player, fault_found = cause_of(record) or ("", None)
    assert player == "mock good"
    assert fault_found is not None
    assert fault_found.text().endswith(
        "scored as a draw: under other rules the position is drawn, and no score contradicts this"
    )
    (fault,) = faults_of([record])
    assert (fault.reason, fault.games) == ("no_move", 1)
    told = [fault_text(fault, Catalogue("elolab.arena", language), language) for language in LANGUAGES]
    assert told[0].startswith(
        "mock good made no move in 1 game, scored as a draw (game 0): answered 'nobestmove', though"
    )
    assert told[1].startswith("mock good 在 1 局中拒绝走棋，判和（首次在第 0 局）：应答 'nobestmove'")
    assert (fault.drawn, fault.lost) == (1, 0)
