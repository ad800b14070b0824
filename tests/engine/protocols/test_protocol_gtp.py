"""GTP: scripted dialogues, and what ``genmove`` asks of the search."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TextIO

import pytest

from elolab.engine.engine import Clock, Engine
from elolab.engine.protocols.engine_server import SearchTask
from elolab.engine.protocols.gtp import DEFAULT_LIMITS, GtpServer, Timer
from elolab.engine.settings.limits import Limits
from tests.support.conversation import TRANSCRIPTS, Conversation, Listener, play_transcript


def make(output: TextIO) -> GtpServer:
    return GtpServer("othello", {}, output)


@pytest.mark.parametrize("path", sorted(TRANSCRIPTS.glob("gtp-*.txt")), ids=lambda path: path.stem)
def test_dialogue(path: Path) -> None:
    play_transcript(path, make)


class Recorder(GtpServer):
    """Notes the searches that are asked for instead of making them."""

    def start(self, task: SearchTask) -> None:
        self.task = task

    def warm_up(self) -> None:
        """Nothing will be searched."""


def asked(*lines: str) -> SearchTask:
    """The search of a session that has heard some lines and then ``genmove b``."""
    session = Recorder("othello", {}, Listener())  # type: ignore[arg-type]
    session.open()
    for line in (*lines, "genmove b"):
        session.handle(line)
    return session.task


@pytest.mark.parametrize(
    ("lines", "limits", "clock"),
    [
        ([], DEFAULT_LIMITS, None),
        (["elolab-limit depth=4"], Limits(depth=4), None),
        (["elolab-limit nodes = 1000"], Limits(nodes=1000), None),
        (["time_settings 60 0 0"], Limits(clock_ms=60_000), Clock(60_000)),
        (["time_settings 60 0 0", "time_left b 41 0"], Limits(clock_ms=41_000), Clock(41_000)),
        (["time_settings 60 0 0", "time_left w 41 0"], Limits(clock_ms=60_000), Clock(60_000)),
        (["time_settings 60 0 0", "time_left b 2.5 0"], Limits(clock_ms=2500), Clock(2500)),
        (["time_settings 0 30 10"], Limits(clock_ms=30_000), Clock(30_000, moves_to_go=10)),
        (["time_settings 60 30 10"], Limits(clock_ms=63_000, increment_ms=3000), Clock(63_000)),
        (["time_settings 60 30 10", "time_left b 12 4"], Limits(clock_ms=12_000), Clock(12_000, moves_to_go=4)),
        (["time_settings 0 30 0"], DEFAULT_LIMITS, None),
        (["time_settings 60 30 0"], DEFAULT_LIMITS, None),
        (["time_settings 0 0 0"], DEFAULT_LIMITS, None),
        (["time_settings 60 0 0", "elolab-limit depth=3"], Limits(depth=3, clock_ms=60_000), Clock(60_000)),
        (["time_settings 60 0 0", "time_left b 1 0", "clear_board"], Limits(clock_ms=60_000), Clock(60_000)),
    ],
)
def test_limits(lines: list[str], limits: Limits, clock: Clock | None) -> None:
    task = asked(*lines)
    assert (task.limits, task.clock) == (limits, clock)


def test_a_timer_that_is_told_nothing_keeps_count() -> None:
    timer = Timer(main_ms=10_000, period_ms=6000, stones=2)
    assert timer.bound(Limits())[1] == Clock(13_000)
    timer.spend(4000)
    assert timer.bound(Limits())[1] == Clock(9000)
    timer.spend(7000)  # one second into the first period, of which it was the first move
    assert timer.bound(Limits())[1] == Clock(5000, moves_to_go=1)
    timer.spend(4000)
    assert timer.bound(Limits())[1] == Clock(6000, moves_to_go=2)
    timer.spend(9000)
    assert timer.bound(Limits())[1] == Clock(0, moves_to_go=1)
    sudden_death = Timer(main_ms=1000)
    sudden_death.spend(2000)
    assert sudden_death.bound(Limits())[1] == Clock(0)


def test_the_clock_of_each_side_goes_down_with_its_moves() -> None:
    conversation = Conversation(make)
    session = conversation.session
    assert isinstance(session, GtpServer)
    for line in ("time_settings 5 0 0", "elolab-limit depth=9", "genmove b"):
        conversation.say(line)
        conversation.hear_until("=")
    conversation.close()
    black, white = session.timers
    assert black.remaining_ms < 5000 == white.remaining_ms


def test_a_failed_search_is_told_in_its_answer_and_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise MemoryError

    conversation = Conversation(make)
    conversation.say("name")
    conversation.hear_until("= elolab")
    monkeypatch.setattr(Engine, "search", fail)
    conversation.say("4 genmove b")
    assert conversation.hear_until("?")[-1] == "?4 not enough memory; choose a smaller hash table"
    conversation.say("undo")
    assert conversation.hear_until("?")[-1] == "? cannot undo"
    conversation.close()


def test_a_line_too_long_is_dropped_and_said_so() -> None:
    conversation = Conversation(make)
    conversation.say("play b " + "d3 " * 40_000)
    assert conversation.hear_until("?") == ["? a line was too long and is ignored"]
    conversation.say("9 play b d3")
    assert conversation.hear_until("=")[-1] == "=9"
    conversation.close()


def test_its_games_end_with_the_score_that_it_tells() -> None:
    """Both sides played by ``genmove`` until it passes twice running; the board is counted independently."""
    conversation = Conversation(make)
    conversation.say("elolab-limit depth=1")
    conversation.hear_until("=")
    answers: list[str] = []
    while answers[-2:] != ["= pass", "= pass"]:
        conversation.say(f"genmove {'bw'[len(answers) % 2]}")
        answers += conversation.hear_until("=")[-1:]
        assert len(answers) < 130
    conversation.say("showboard")
    board = "".join(conversation.hear_until("the game is over")[:-1])
    conversation.say("final_score")
    score = conversation.hear_until("=")[-1]
    conversation.close()
    squares = re.findall(r"(?<= )[XO-](?= |[1-8]|$)", board)
    assert len(squares) == 64
    lead = squares.count("X") - squares.count("O")
    empties = squares.count("-")
    expected = f"= {'B' if lead > 0 else 'W'}+{abs(lead) + empties}" if lead else "= 0"
    assert score == expected
