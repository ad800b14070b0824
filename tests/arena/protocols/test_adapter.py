"""A UCCI engine behind Qianhong's protocol: the same dialogues as the built-in engine's, and engines that fail."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO

import pytest

from elolab.arena.players import external
from elolab.arena.protocols.adapter import AdaptedSession, adapted_spec
from elolab.arena.records import PlayerSpec
from elolab.command_line import main
from elolab.engine.games import game_named
from elolab.engine.settings.limits import Limits
from tests.support.conversation import TRANSCRIPTS, Conversation, play_transcript
from tests.support.xiangqi_match import ROOT, mock_spec, need_program, own_engine

Adapt = Callable[[PlayerSpec], Callable[[TextIO], AdaptedSession]]


@pytest.fixture
def adapt() -> Iterator[Adapt]:
    """Makes sessions with an engine; their programs are ended after the test."""
    sessions: list[AdaptedSession] = []

    def adapt(spec: PlayerSpec) -> Callable[[TextIO], AdaptedSession]:
        def make(output: TextIO) -> AdaptedSession:
            adapted = adapted_spec(spec.command, spec.options, None, "auto")
            sessions.append(AdaptedSession(replace(adapted, start_timeout_ms=spec.start_timeout_ms), output))
            return sessions[-1]

        return make

    yield adapt
    for session in sessions:
        session.close()


def mock(mode: str = "good", **settings: Any) -> PlayerSpec:
    return mock_spec("ucci", mode, settings=settings)


def hold(conversation: Conversation, *lines: tuple[str, str]) -> None:
    """Say what is on the left, and hear what is on the right."""
    for said, expected in lines:
        conversation.say(said)
        if expected:
            assert conversation.hear() == expected, said


@pytest.mark.integration
@pytest.mark.parametrize("path", sorted(TRANSCRIPTS.glob("qianhong-*.txt")), ids=lambda path: path.stem)
def test_our_engine_adapted_holds_the_dialogues_that_it_holds_by_itself(path: Path, adapt: Adapt) -> None:
    play_transcript(path, adapt(own_engine("ucci", "depth=1")))


def test_what_the_engine_is_told(tmp_path: Path, adapt: Adapt) -> None:
    notes = tmp_path / "notes"
    conversation = Conversation(adapt(mock(file=notes)))
    hold(
        conversation,
        ("LEVEL 0", "OK"), ("PLAY A0-A1", "OK"), ("BAN 2", ""), ("A9-A7", ""), ("H9-G7", "OK"), ("AI", "A9-A8"),
        ("UNDO", "OK"), ("UNDO", "OK"), ("AI", "A0-A1"),
    )  # fmt: skip
    conversation.say("QUIT")
    assert conversation.close() == ["BYE"]
    said = notes.read_text().splitlines()
    start = game_named("xiangqi").start
    assert said[1:] == [
        "ucci", "setoption usemillisec true", "setoption ponder true", "isready", "setoption newgame", "isready",
        f"position fen {start} moves a0a1", "banmoves a9a7 h9g7", "go time 1000 movestogo 10",
        f"position fen {start}", "go time 1000 movestogo 10",
    ]  # fmt: skip


def test_an_engine_that_ponders(tmp_path: Path, adapt: Adapt) -> None:
    notes = tmp_path / "notes"
    conversation = Conversation(adapt(mock(file=notes)))
    hold(
        conversation,
        ("BGTHINK ON", "OK"), ("AI", "A0-A1"), ("PLAY A9-A8", "OK"), ("AI", "A1-A0"),
        ("PLAY H9-G7", "OK"), ("UNDO", "OK"), ("PLAY A8-A9", "OK"), ("AI", "A0-A1"), ("BGTHINK OFF", "OK"),
    )  # fmt: skip
    conversation.close()
    said = notes.read_text().splitlines()
    assert sum(line.startswith("go ponder ") for line in said) == 3
    assert said.count("ponderhit") == 1
    assert said.count("stop") == 2


@pytest.mark.integration
@pytest.mark.parametrize("mode", ["exit", "illegal", "none", "garbage"])
def test_an_engine_that_fails_has_its_search_answered_and_starts_again(
    mode: str, tmp_path: Path, adapt: Adapt, capsys: pytest.CaptureFixture[str]
) -> None:
    notes = tmp_path / "notes"
    conversation = Conversation(adapt(mock(mode, file=notes, at=2)))
    hold(conversation, ("AI", "A0-A1"), ("PLAY A9-A8", "OK"), ("AI", "ERROR"), ("AI", "A1-A0"), ("UNDO", "OK"))
    conversation.close()
    assert len([line for line in notes.read_text().splitlines() if line.startswith("process")]) == 2
    assert "elolab: adapt: " in capsys.readouterr().err


def test_an_engine_that_resigns_moves_all_the_same(adapt: Adapt) -> None:
    conversation = Conversation(adapt(mock("resign", at=1)))
    hold(conversation, ("AI", "A0-A1"))
    conversation.close()


def test_an_engine_is_stopped_when_it_shall_move_now(adapt: Adapt, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(external, "LATE_ANSWER_MS", 0)  # of answers that nobody waits for
    conversation = Conversation(adapt(mock("until_stop", at=1)))
    hold(conversation, ("LEVEL 9", "OK"), ("AI", ""), ("SCR", "rnbakabnr"))
    for _ in range(9):
        conversation.hear()
    hold(conversation, ("TIMEOUT", "A0-A1"), ("AI", ""), ("ABORT", "ABORTED"))
    conversation.close()


def run_command(*words: str, text: str = "") -> subprocess.CompletedProcess[str]:
    program = [sys.executable, str(ROOT / "elolab"), "adapt", *words]
    return subprocess.run(program, input=text, capture_output=True, text=True, timeout=100, check=False)


@pytest.mark.integration
def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    words = (*mock().command[1:],)
    assert main(["adapt", "-info", "--", sys.executable, *words]) == 0
    described = capsys.readouterr().out.splitlines()
    assert described[:2] == ["QHPLUGIN V1.3", "Mock 1.0"]
    assert described[-1] == "ENDINFO"
    played = run_command("-plugin", "--option", "hashsize=32", "--", sys.executable, *words, text="AI\nQUIT\n")
    assert played.stdout.split()[-1] == "BYE"
    assert played.returncode == 0


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("no-such-engine",), "cannot start 'no-such-engine': no such program in PATH; is it installed?"),
        (("--time-unit", "hours", "eleeye"), "time_unit = 'hours', expected auto, milliseconds or seconds"),
        (("--option", "hashsize", "eleeye"), "--option: 'hashsize' is not NAME=VALUE"),
        (("--option", "hashsiz=3", "--", *mock().command), "did you mean 'hashsize'"),
    ],
)
def test_mistakes_are_told_in_a_line(
    words: tuple[str, ...], text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert main(["adapt", *words]) == 2
    said = capsys.readouterr()
    assert text in said.err
    assert len(said.err.splitlines()) == 1
    assert said.out == ""


@pytest.mark.integration
def test_fairy_stockfish_behind_it(adapt: Adapt) -> None:
    need_program("fairy-stockfish")
    conversation = Conversation(adapt(PlayerSpec("fairy", "ucci", Limits(depth=1), command=("fairy-stockfish",))))
    position = game_named("xiangqi").position()
    hold(conversation, ("LEVEL 0", "OK"), ("BGTHINK ON", "OK"))
    for _ in range(3):
        conversation.say("AI")
        answer = conversation.hear()
        assert answer is not None
        position.push(answer.lower().replace("-", ""))
        move = position.legal_moves()[0]
        position.push(move)
        hold(conversation, (f"PLAY {move[:2]}-{move[2:]}", "OK"))
    conversation.say("QUIT")
    assert conversation.close() == ["BYE"]
