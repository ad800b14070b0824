"""The xboard protocol from the engine's side: scripted dialogues, and what its commands ask of the search."""

from __future__ import annotations

from pathlib import Path
from typing import TextIO

import pytest

from elolab.engine.engine import Clock
from elolab.engine.protocols.engine_server import SearchProgress, SearchTask
from elolab.engine.protocols.options import EngineOption
from elolab.engine.protocols.xboard import XboardServer, format_option, format_score
from elolab.engine.settings.limits import Limits
from elolab.engine.values import MATE
from tests.support.conversation import TRANSCRIPTS, Listener, play_transcript


def make(output: TextIO) -> XboardServer:
    return XboardServer("xiangqi", {}, output)


@pytest.mark.parametrize("path", sorted(TRANSCRIPTS.glob("xboard-*.txt")), ids=lambda path: path.stem)
def test_dialogue(path: Path) -> None:
    play_transcript(path, make)


def test_chess() -> None:
    play_transcript(TRANSCRIPTS / "chess-xboard.txt", lambda output: XboardServer("chess", {}, output))


NODE_CLOCK = Limits(clock_ms=60_000, clock_kind="node", nodes_per_second=9)


class Recorder(XboardServer):
    """Notes the searches that are asked for instead of making them."""

    def start(self, task: SearchTask) -> None:
        self.task = task


@pytest.mark.parametrize(
    ("commands", "limits", "clock"),
    [
        ("sd 7", Limits(depth=7), None),
        ("sd 7\nst 2", Limits(7, move_time_ms=2000), None),
        ("st 2\nnps 500", Limits(nodes=1000), None),
        ("st 2\nnps 500\nnps -1", Limits(move_time_ms=2000), None),
        ("st 2\nnps 500\nnps 0", Limits(move_time_ms=2000, clock_kind="cpu"), None),
        ("st 2\nnps 500\nnew", Limits(move_time_ms=2000), None),
        ("", Limits(clock_ms=300_000), Clock(300_000, None, 40)),
        ("sd 3\ntime 100", Limits(3, clock_ms=1000), Clock(1000, None, 40)),
        ("level 0 1:30 0.5", Limits(clock_ms=90_000, increment_ms=500), Clock(90_000)),
        ("level 0 1 0\ntime 1234\notim 99\nhard", Limits(clock_ms=12_340), Clock(12_340, 990, ponders=True)),
        ("level 20 1 0\nnps 0", Limits(clock_ms=60_000, clock_kind="cpu"), Clock(60_000, None, 20)),
        ("level 20 1 0\nnps 9", NODE_CLOCK, Clock(60_000, None, 20)),
        ("st 5\nlevel 0 1 0", Limits(clock_ms=60_000), Clock(60_000)),
    ],
)
def test_what_a_move_may_cost(commands: str, limits: Limits, clock: Clock | None) -> None:
    session = Recorder("xiangqi", {}, Listener())  # type: ignore[arg-type]
    session.open()
    for line in [*commands.splitlines(), "go"]:
        session.handle(line)
    assert (session.task.limits, session.task.clock) == (limits, clock)


@pytest.mark.parametrize(
    ("command", "centiseconds"), [("nps 0", 25), ("nps 1000", 25), ("nps -1", 70), ("sd 9", 70), ("nps 0\nnew", 70)]
)
def test_with_nps_thinking_output_tells_processor_time(
    command: str, centiseconds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    listener = Listener()
    session = Recorder("xiangqi", {}, listener)  # type: ignore[arg-type]
    session.open()
    monkeypatch.setattr("time.process_time_ns", lambda: 5_000_000_000)
    for line in ["post", *command.splitlines(), "go"]:
        session.handle(line)
    monkeypatch.setattr("time.process_time_ns", lambda: 5_250_000_000)
    session.show(SearchProgress(1, 3, 17, 1234, 700.0, 5, ("h2e2", "h9g7")))
    assert listener.lines.get() == f"3 17 {centiseconds} 1234 h2e2 h9g7"


@pytest.mark.parametrize(("moves", "to_go"), [("", 3), ("h2e2", 3), ("h2e2 h9g7", 2), ("a0a1 a9a8 a1a0 a8a9 a0a1", 1)])
def test_moves_to_the_next_control_are_the_engine_s_own(moves: str, to_go: int) -> None:
    session = Recorder("xiangqi", {}, Listener())  # type: ignore[arg-type]
    session.open()
    for line in ["level 3 1 0", "force", *moves.split(), "go"]:
        session.handle(line)
    assert session.task.clock == Clock(60_000, None, to_go)


class Ponderer(XboardServer):
    """Notes the searches that are asked for and the hits, and ponders from the start."""

    def open(self) -> None:
        self.tasks: list[SearchTask] = []
        self.hits = 0
        super().open()
        for line in ("level 0 1 0", "hard", "force", "h2e2", "h9g7", "h0g2", "a9a8"):
            self.handle(line)
        self._plays = 0
        self._ponder_on(self.board.legal_moves()[0])

    def start(self, task: SearchTask) -> None:
        self.tasks.append(task)

    def ponder_hit(self) -> None:
        self.hits += 1


@pytest.mark.parametrize(
    ("commands", "limits"),
    [
        ([], None),
        (["time 700"], Limits(clock_ms=7000)),
        (["time 700", "otim 600"], Limits(clock_ms=7000)),
        (["sd 4"], Limits(4, clock_ms=60_000)),
        (["st 2"], Limits(move_time_ms=2000)),
        (["level 0 2 0"], Limits(clock_ms=120_000)),
        (["time 700", "level 0 1 0"], None),
    ],
)
def test_a_ponder_hit_goes_on_under_the_limits_told_last(commands: list[str], limits: Limits | None) -> None:
    session = Ponderer("xiangqi", {}, Listener())  # type: ignore[arg-type]
    session.open()
    for line in [*commands, session.expected]:
        session.handle(line)
    assert session.hits == (limits is None)
    assert [task.limits for task in session.tasks[1:]] == ([] if limits is None else [limits])
    assert [task.ponders for task in session.tasks] == [True, False][: len(session.tasks)]
    assert session.tasks[-1].position.moves == session.board.moves


@pytest.mark.parametrize(
    ("score", "text"),
    [(31, 31), (-31, -31), (MATE - 1, 100_001), (MATE - 5, 100_003), (4 - MATE, -100_002), (-MATE, -100_000)],
)
def test_scores(score: int, text: int) -> None:
    assert format_score(score) == text


def test_options() -> None:
    assert format_option(EngineOption("Tempo", "spin", "10", 0, 200)) == "Tempo -spin 10 0 200"
    assert format_option(EngineOption("NullMove", "check", "true")) == "NullMove -check 1"
    assert format_option(EngineOption("Driver", "combo", "b", choices=("a", "b"))) == "Driver -combo a /// *b"
    assert format_option(EngineOption("Weights", "string", "")) == "Weights -string"
