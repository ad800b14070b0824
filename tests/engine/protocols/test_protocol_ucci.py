"""UCCI: scripted dialogues, and what ``go`` asks of the search."""

from __future__ import annotations

from pathlib import Path
from typing import TextIO

import pytest

from elolab.engine.engine import Clock
from elolab.engine.protocols.engine_server import SearchTask
from elolab.engine.protocols.ucci import UcciServer
from elolab.engine.search.records import COUNTERS
from elolab.engine.settings.limits import Limits
from tests.support.conversation import TRANSCRIPTS, Conversation, Listener, play_transcript


def make(output: TextIO) -> UcciServer:
    return UcciServer("xiangqi", {}, output)


DIALOGUES = [*sorted(TRANSCRIPTS.glob("ucci-*.txt")), TRANSCRIPTS / "end-of-input.txt"]


@pytest.mark.parametrize("path", DIALOGUES, ids=lambda path: path.stem)
def test_dialogue(path: Path) -> None:
    play_transcript(path, make)


class Recorder(UcciServer):
    """Notes the searches that are asked for instead of making them."""

    def start(self, task: SearchTask) -> None:
        self.task = task

    def warm_up(self) -> None:
        """Nothing will be searched."""


def asked(*lines: str) -> Recorder:
    """A session that has heard some lines."""
    session = Recorder("xiangqi", {}, Listener())  # type: ignore[arg-type]
    session.open()
    for line in ("ucci", *lines):
        session.handle(line)
    return session


def test_it_does_not_resign_while_other_moves_were_not_searched() -> None:
    """The best move of the first iteration turns out to lose when the nodes run out."""
    conversation = Conversation(make)
    position = "3a5/n3Cr3/3abk2b/1C7/2p3P2/2P5p/5p3/B2AB4/c8/3AK2R1 b"
    for line in ("ucci", f"position fen {position}", "go nodes 300"):
        conversation.say(line)
    *_, shown, last = conversation.hear_until("bestmove")
    conversation.close()
    assert shown == "info depth 2 score -29998 pv a8b6 h0h7"
    assert last == "bestmove a8b6 ponder h0h7"


def test_with_debug_every_counter_is_told() -> None:
    conversation = Conversation(make)
    for line in ("ucci", "setoption debug on", "position startpos", "go depth 1"):
        conversation.say(line)
    *_, told, _ = conversation.hear_until("bestmove")
    conversation.close()
    assert told.split()[2::2] == list(COUNTERS)


@pytest.mark.parametrize(
    ("go", "limits", "clock"),
    [
        ("depth 7", Limits(depth=7), None),
        ("nodes 5000", Limits(nodes=5000), None),
        ("infinite", Limits(), None),
        ("depth infinite", Limits(), None),
        ("depth infinite nodes 50", Limits(nodes=50), None),
        ("movetime 1000", Limits(move_time_ms=1000), None),
        ("movetime 50 time 60", Limits(move_time_ms=50, clock_ms=60_000), Clock(60_000)),
        ("nonsense 7 depth 4", Limits(depth=4), None),
        ("", Limits(), None),
        ("time 60", Limits(clock_ms=60_000), Clock(60_000)),
        ("time 0.25 increment 1", Limits(clock_ms=250, increment_ms=1000), Clock(250)),
        ("time 60 movestogo 12", Limits(clock_ms=60_000), Clock(60_000, moves_to_go=12)),
        ("time 60 opptime 50 oppmovestogo 3", Limits(clock_ms=60_000), Clock(60_000, 50_000)),
        ("draw time 9 increment 2 opptime 8 oppincrement 2", Limits(None, None, None, 9000, 2000), Clock(9000, 8000)),
        ("depth 99999999999999999999999", Limits(depth=10**15), None),
        ("nodes -3", Limits(nodes=1), None),
        ("time -0.3 increment 1", Limits(clock_ms=0, increment_ms=1000), Clock(0)),
    ],
)
def test_limits_in_seconds(go: str, limits: Limits, clock: Clock | None) -> None:
    task = asked(f"go {go}").task
    assert (task.limits, task.clock, task.ponders) == (limits, clock, False)


def test_limits_in_milliseconds_and_the_ponder_option() -> None:
    session = asked("setoption usemillisec true", "setoption ponder true", "go ponder time 500 increment 20 opptime 90")
    assert session.task.limits == Limits(clock_ms=500, increment_ms=20)
    assert session.task.clock == Clock(500, 90, ponders=True)
    assert session.task.ponders


def test_which_searches_end_by_themselves() -> None:
    """In batch mode the input waits for these alone; the others could never be ended."""
    for go, ends in (("depth 3", True), ("time 5", True), ("infinite", False), ("ponder time 5", False)):
        assert asked(f"go {go}").task.ends_by_itself is ends


def test_banned_moves_are_those_not_searched() -> None:
    session = asked("position startpos moves h2e2", "banmoves h9g7 b9c7", "go depth 1")
    assert session.position is not None
    assert set(session.position.legal_moves()) - set(session.task.search_moves) == {"h9g7", "b9c7"}
    assert asked("go depth 1").task.search_moves == ()


def test_a_game_that_goes_on_is_not_played_through_again() -> None:
    session = asked("position startpos moves h2e2")
    before = session.position
    session.handle("position startpos moves h2e2 h9g7")
    assert session.position is before
    assert before is not None
    assert before.moves == ["h2e2", "h9g7"]
    session.handle("position startpos moves b2e2")
    assert session.position is not before
    assert session.position is not None
    assert session.position.moves == ["b2e2"]


def test_a_line_too_long_is_dropped_and_said_so() -> None:
    conversation = Conversation(make)
    conversation.say("ucci")
    conversation.hear_until("ucciok")
    conversation.say("position startpos moves " + "h2e2 " * 20_000)
    assert conversation.hear() == "info message a line was too long and is ignored"
    conversation.say("isready")
    assert conversation.hear() == "readyok"
    assert conversation.close() == []
