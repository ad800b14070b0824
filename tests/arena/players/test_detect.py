"""Finding a program's protocol: whatever it says or does, one answer or one line, and no process left behind."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from elolab.arena.player_spec import PlayerReader, is_installed
from elolab.arena.players import detect
from elolab.arena.players.detect import DetectionError, ProtocolFinder, greet, other_protocol
from elolab.arena.players.registry import Protocol, protocols
from elolab.arena.protocols.gtp import is_version
from elolab.arena.records import PlayerSpec
from elolab.engine.games import GAMES
from elolab.engine.settings.limits import Limits

SPEAKER = str(Path(__file__).parents[2] / "support" / "speaker.py")
PYTHON = (sys.executable, "-I", "-S")
SECONDS = 20.0
"""Far more than any of these programs takes, so that no test hangs on how fast the machine is."""
ANSWERS = {
    "uci": ("uci=uciok",),
    "ucci": ("ucci=ucciok",),
    "xboard": ('protover=feature ping=1 variants="xiangqi"', "ping=pong 1"),
    "gtp": ("protocol_version== 2\n",),
    "nboard": ("ping 1=pong 1",),
}
"""What a program says that speaks a protocol, and no other."""
RECOGNISED = [protocol for protocol in protocols() if protocol.greeting is not None]


@pytest.fixture(autouse=True)
def _soon_greeted_in_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detect, "HEAD_START_SECONDS", 0.02)


def speaker(*words: str) -> tuple[str, ...]:
    return (*PYTHON, SPEAKER, *words)


def game_of(protocol: Protocol) -> str:
    return (protocol.games or GAMES)[0]


def processes_in(file: Path) -> list[int]:
    return [int(line) for line in file.read_text().split()] if file.exists() else []


def is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("protocol", RECOGNISED, ids=lambda protocol: protocol.name)
def test_each_protocol_is_recognised_told_once_and_asked_once(protocol: Protocol, tmp_path: Path) -> None:
    told: list[tuple[str, str]] = []
    finder = ProtocolFinder(tell=lambda program, found: told.append((program, found.name)))
    command = speaker(f"file={tmp_path / 'processes'}", *ANSWERS[protocol.name])
    assert finder.protocol_of(command, None, game_of(protocol), SECONDS) is protocol
    processes = processes_in(tmp_path / "processes")
    assert processes
    assert finder.protocol_of(command, None, game_of(protocol), SECONDS) is protocol
    assert processes_in(tmp_path / "processes") == processes
    assert [name for _, name in told] == [protocol.name]
    assert not any(map(is_running, processes))


def test_every_protocol_of_programs_is_recognised_by_an_answer_that_an_echo_does_not_give() -> None:
    assert {protocol.name for protocol in RECOGNISED} == set(ANSWERS)
    for protocol in RECOGNISED:
        assert protocol.greeting is not None
        assert not any(map(protocol.greeting.is_answer, ["", *protocol.greeting.lines]))


@pytest.mark.integration
@pytest.mark.parametrize(
    ("program", "names"),
    [
        ("fairy-stockfish", {"uci", "ucci", "xboard"}),
        ("hoixiangqi", {"xboard"}),
        ("maxqi", {"xboard"}),
        ("gtp-rhino", {"gtp"}),
    ],
)  # fmt: skip
def test_real_engines_are_recognised_in_what_they_speak_and_nothing_else(program: str, names: set[str]) -> None:
    if not is_installed(program):
        pytest.skip(f"{program} is not installed")
    for protocol in RECOGNISED:
        seconds = SECONDS if protocol.name in names else 0.3
        found, _ = greet(((program,), None), [protocol], seconds)
        assert (found is not None) == (protocol.name in names), protocol.name


def test_a_program_of_gtp_may_write_its_version_with_decimals() -> None:
    assert ProtocolFinder().protocol_of(speaker("protocol_version== 2.0\n"), None, "othello", SECONDS).name == "gtp"
    assert [is_version(text) for text in ("2", "2.0", "", "2.", "two", "2 2")] == [True, True, *[False] * 4]


def test_nobody_is_asked_whom_an_earlier_run_knows() -> None:
    entry = {"command": "./not-there --any", "protocol": "uci"}
    player = PlayerReader("xiangqi", Limits(nodes=1)).read(entry, "then")
    finder = ProtocolFinder([player])
    assert finder.protocol_of(player.command, None, "xiangqi", SECONDS).name == "uci"
    for other in (("./not-there", "--other"), ("./not-there",)):
        with pytest.raises(DetectionError, match="no such file"):
            finder.protocol_of(other, None, "xiangqi", SECONDS)


def test_a_program_for_another_game_is_told_as_such() -> None:
    command = speaker(*ANSWERS["gtp"])
    said = "speaks GTP, over which othello is played, not xiangqi; add --game othello"
    with pytest.raises(DetectionError, match=said):
        ProtocolFinder().protocol_of(command, None, "xiangqi", SECONDS)


def test_the_answer_to_a_ping_does_not_make_a_program_of_xboard_one_of_nboard() -> None:
    command = speaker("nboard=Error (unknown command): nboard", *ANSWERS["nboard"])
    with pytest.raises(DetectionError, match="answers in none of the protocols"):
        ProtocolFinder().protocol_of(command, None, "othello", 0.3)


@pytest.mark.parametrize("protocol", RECOGNISED, ids=lambda protocol: protocol.name)
def test_who_does_not_answer_is_said_to_speak_what_it_answers_in(
    protocol: Protocol, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(detect, "HINT_SECONDS", SECONDS)
    wrong = "ucicyclone" if protocol.name == "uci" else "uci"
    player = PlayerSpec("mine", wrong, Limits(), command=speaker(*ANSWERS[protocol.name]))
    assert other_protocol(player) == f'it answers over {protocol.title}: give protocol = "{protocol.name}"'


def test_of_who_answers_in_no_other_protocol_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detect, "HINT_SECONDS", 0.3)
    for command in (speaker(*ANSWERS["uci"]), speaker("*={line}"), ("./not-there",)):
        assert other_protocol(PlayerSpec("mine", "uci", Limits(), command=command)) == ""


@pytest.mark.integration
@pytest.mark.parametrize(
    ("command", "seconds", "said"),
    [
        ((*PYTHON, "-c", "raise SystemExit(3)"), SECONDS, "exited with code 3"),
        ((*PYTHON, "-c", "raise SystemExit('no network file')"), SECONDS, "no network file"),
        ((*PYTHON, "-c", "import os; os.abort()"), SECONDS, "SIGABRT"),
        (speaker("*={line}"), 0.3, "it said '(uci|protocol_version)'"),
        (speaker("*=\x1b[31m{line} ?"), 0.3, r"it said '\\x1b\[31m"),
        (speaker("uci=id name X"), 0.3, "it said 'id name X'"),
        (speaker(), 0.3, "said nothing within 0.3 s"),
        (("/bin/sh", "-c", "yes error"), SECONDS, "it said 'error'"),
        (("/bin/sh", "-c", "cat /dev/zero"), 0.3, "said nothing within 0.3 s"),
        (("/bin/sh", "-c", "trap '' TERM; exec sleep 1000"), 0.3, "said nothing within 0.3 s"),
    ],
    ids=["exits", "complains", "aborts", "echoes", "escapes", "unfinished", "silent", "floods", "endless", "ignores"],
)  # fmt: skip
def test_what_speaks_no_protocol_is_refused_in_one_line(command: tuple[str, ...], seconds: float, said: str) -> None:
    with pytest.raises(DetectionError, match=said) as refused:
        ProtocolFinder().protocol_of(command, None, "xiangqi", seconds)
    assert "\n" not in str(refused.value)
    assert str(refused.value).isprintable()


def test_what_cannot_be_started_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("")
    for program, said in (("absent", "no such file"), ("plain", "chmod"), (".", "this is a folder")):
        with pytest.raises(DetectionError, match=said):
            ProtocolFinder().protocol_of([str(tmp_path / program)], None, "xiangqi", SECONDS)


def test_ctrl_c_leaves_no_process(tmp_path: Path) -> None:
    def interrupt(*arguments: Any) -> None:
        raise KeyboardInterrupt

    file = tmp_path / "processes"
    with pytest.raises(KeyboardInterrupt):
        ProtocolFinder(tell_slow=interrupt).protocol_of(speaker(f"file={file}"), None, "othello", SECONDS)
    assert not any(map(is_running, processes_in(file)))


def test_a_slow_program_is_waited_for_and_that_is_told(tmp_path: Path) -> None:
    """It answers once its user has been told that it is slow."""
    waiting = "import os, sys, time\nwhile not os.path.exists(sys.argv[1]): time.sleep(0.01)\n"
    slow = (*PYTHON, "-c", f"{waiting}print(input() + 'ok', flush=True); input()", str(tmp_path / "told"))
    told: list[float] = []

    def tell(program: str, seconds: float) -> None:
        told.append(seconds)
        (tmp_path / "told").touch()

    assert ProtocolFinder(tell_slow=tell).protocol_of(slow, None, "xiangqi", SECONDS).name in ("uci", "ucci")
    assert told == [SECONDS]
