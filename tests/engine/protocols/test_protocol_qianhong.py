"""Qianhong's protocol: scripted dialogues, and how the program describes itself."""

from __future__ import annotations

from pathlib import Path
from typing import TextIO

import pytest

from elolab.engine.engine import Clock
from elolab.engine.protocols.engine_server import SearchTask
from elolab.engine.protocols.qianhong import LEVEL_SECONDS, QianhongServer, description
from elolab.engine.rules import RULES_DTYPE, Rules
from elolab.engine.settings.limits import Limits
from tests.support.conversation import TRANSCRIPTS, Listener, play_transcript


def make(output: TextIO) -> QianhongServer:
    return QianhongServer("xiangqi", {}, output)


@pytest.mark.parametrize("path", sorted(TRANSCRIPTS.glob("qianhong-*.txt")), ids=lambda path: path.stem)
def test_dialogue(path: Path) -> None:
    play_transcript(path, make)


class Recorder(QianhongServer):
    """Notes the searches that are asked for instead of making them."""

    def start(self, task: SearchTask) -> None:
        self.task = task


@pytest.mark.parametrize("level", range(len(LEVEL_SECONDS)))
def test_a_level_is_a_clock_for_the_next_moves(level: int) -> None:
    session = Recorder("xiangqi", {}, Listener())  # type: ignore[arg-type]
    session.open()
    session.handle(f"LEVEL {level}")
    session.handle("AI")
    total_ms = round(10_000 * LEVEL_SECONDS[level])
    assert session.task.limits == Limits(clock_ms=total_ms, moves_per_control=10)
    assert session.task.clock == Clock(total_ms, moves_to_go=10)


def test_a_move_taken_back_leaves_the_rules() -> None:
    listener = Listener()
    session = QianhongServer("xiangqi", {}, listener, rules=Rules("draw", 4, 50, False))  # type: ignore[arg-type]
    session.open()
    for line in ("PLAY H2-E2", "UNDO"):
        session.handle(line)
    assert session.position is not None
    state = session.position.state
    expected = Rules("draw", 4, 50, False).to_record()
    assert [state[name] for name in RULES_DTYPE.names] == [expected[name] for name in RULES_DTYPE.names]


def test_description() -> None:
    lines = description("elolab 1.0")
    assert lines[:3] == ["QHPLUGIN V1.3", "elolab 1.0", f"LEVELS {len(LEVEL_SECONDS)}"]
    assert lines[3] == "0 - about 0.1 s a move"
    assert lines[-1] == "ENDINFO"
