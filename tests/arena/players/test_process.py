"""The process boundary: deadlines and memory hold, and nothing is left behind, whatever the program does."""

from __future__ import annotations

import fcntl
import os
import select
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from elolab.arena.players.player import GameStopped, PlayerFault
from elolab.arena.players.process import PIPE_BYTES, DeadlinePassed, Dialogue, EngineProcess, ProcessEnded, find_program
from elolab.arena.players.supervisor import SUPERVISOR, kill_group
from elolab.engine.engine import StopFlag

ROOT = Path(__file__).parents[3]
MOCK = str(Path(__file__).parents[2] / "support" / "mock_engines.py")


def mock_command(mode: str, **settings: object) -> tuple[str, ...]:
    return (sys.executable, "-I", "-S", MOCK, mode, *(f"{name}={value}" for name, value in settings.items()))


def is_alive(process_id: int) -> bool:
    """Whether a process runs; a zombie that nobody has reaped yet does not."""
    answer = subprocess.run(["ps", "-o", "stat=", "-p", str(process_id)], capture_output=True, text=True, check=False)
    return bool(answer.stdout.strip()) and not answer.stdout.strip().startswith("Z")


def wait_until(condition: Callable[[], bool], seconds: float = 5.0) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def soon(seconds: float = 5.0) -> int:
    return time.monotonic_ns() + int(seconds * 1e9)


def read_for_ever(process: EngineProcess, deadline_ns: int) -> None:
    def read() -> None:
        while True:
            process.read_line(deadline_ns)

    read()


@pytest.fixture
def start() -> Iterator[Callable[..., EngineProcess]]:
    """Start programs, and see that all of them are gone after the test."""
    started: list[EngineProcess] = []

    def start_one(*command: str, directory: str | None = None) -> EngineProcess:
        started.append(EngineProcess(command, directory))
        return started[-1]

    yield start_one
    for process in started:
        process.end()
        assert not is_alive(process.process_id)


def test_lines_go_both_ways_and_are_kept_with_times(start: Callable[..., EngineProcess]) -> None:
    process = start("/bin/cat")
    process.send(["one", "two"], soon())
    assert [process.read_line(soon()), process.read_line(soon())] == ["one", "two"]
    spoken = [line.split(" ", 1)[1] for line in process.dialogue.tail()]
    assert spoken == ["> one", "> two", "< one", "< two"]
    assert [float(line.split()[0]) for line in process.dialogue.tail()] == pytest.approx([0.0] * 4, abs=5.0)


def test_carriage_returns_and_a_last_line_without_an_end(start: Callable[..., EngineProcess]) -> None:
    process = start("/bin/sh", "-c", r"printf 'one\r\ntwo\r\nbestmove a0a1'")
    assert [process.read_line(soon()) for _ in range(3)] == ["one", "two", "bestmove a0a1"]
    with pytest.raises(ProcessEnded):
        process.read_line(soon())


def test_a_silent_program_is_waited_for_no_longer_than_the_deadline(start: Callable[..., EngineProcess]) -> None:
    process = start("/bin/sleep", "1000")
    began = time.monotonic()
    with pytest.raises(DeadlinePassed):
        process.read_line(soon(0.2))
    assert 0.19 < time.monotonic() - began < 2.0


def test_an_answer_that_lies_in_the_pipe_counts_however_late_it_is_read(start: Callable[..., EngineProcess]) -> None:
    process = start("/bin/sh", "-c", "echo bestmove a0a1; exec sleep 1000")
    assert wait_until(lambda: bool(select.select([process._output], [], [], 0)[0]))
    assert process.read_line(time.monotonic_ns() - 1) == "bestmove a0a1"


@pytest.mark.integration
@pytest.mark.parametrize("flood", ["yes info depth 1", "cat /dev/zero", "cat /dev/zero >&2"])
def test_floods_end_at_the_deadline_in_bounded_memory(start: Callable[..., EngineProcess], flood: str) -> None:
    import resource

    process = start("/bin/sh", "-c", f"{flood}; true")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    deadline_ns = soon(0.4)
    with pytest.raises(DeadlinePassed):
        read_for_ever(process, deadline_ns)
    assert time.monotonic_ns() < deadline_ns + 1_000_000_000
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < (20 << 20 if sys.platform == "darwin" else 20 << 10)  # bytes on macOS, KiB elsewhere


def test_a_line_too_long_is_dropped_and_the_next_is_whole(start: Callable[..., EngineProcess]) -> None:
    process = start("/bin/sh", "-c", "head -c 1000000 /dev/zero | tr '\\0' z; echo; echo next")
    assert process.read_line(soon()) == "next"
    assert any("longer than" in line for line in process.dialogue.tail())


def test_a_program_that_does_not_read_cannot_block_the_harness(start: Callable[..., EngineProcess]) -> None:
    process = start("/bin/sleep", "1000")
    with pytest.raises(DeadlinePassed):
        process.send(["x" * 1_000_000], soon(0.2))


def test_a_large_question_gets_through_in_pieces(start: Callable[..., EngineProcess]) -> None:
    process = start("/bin/sh", "-c", "sleep 0.2; exec wc -c")
    process.send(["x" * 299_999], soon())
    process._process.stdin.close()  # wc answers at the end of its input
    assert process.read_line(soon()).split() == ["300000"]


@pytest.mark.skipif(not hasattr(fcntl, "F_SETPIPE_SZ"), reason="pipes cannot be widened here")
def test_a_program_that_nobody_reads_for_long_can_still_say_much(
    start: Callable[..., EngineProcess], tmp_path: Path
) -> None:
    went_on = tmp_path / "went on"
    written = PIPE_BYTES // 2
    line = 63 * "y"
    process = start("/bin/sh", "-c", f"yes {line} | head -c {written}; : > {shlex.quote(str(went_on))}")
    # As while it ponders. By itself a pipe holds 64 KiB, and a program that fills it is stopped.
    assert wait_until(went_on.exists)
    assert [process.read_line(soon()) for _ in range(written // 64)] == [line] * (written // 64)


def test_the_stop_flag_ends_the_wait(start: Callable[..., EngineProcess]) -> None:
    process, flag = start("/bin/sleep", "1000"), StopFlag()
    began = time.monotonic()
    threading.Timer(0.1, flag.set).start()
    with pytest.raises(GameStopped):
        process.read_line(soon(30), flag)
    assert time.monotonic() - began < 5.0


def test_an_exit_is_noticed_and_described_with_the_last_words(start: Callable[..., EngineProcess]) -> None:
    process = start("/bin/sh", "-c", "echo assertion failed >&2; exit 7")
    with pytest.raises(ProcessEnded):
        process.read_line(soon())
    process.end()
    assert process.exit.text() == "exited with code 7; the end of its error output: assertion failed"


def test_an_error_among_the_answers_stands_for_the_last_words(start: Callable[..., EngineProcess]) -> None:
    """As engines of the Stockfish family say that their network is missing."""
    said = "id name Mock", "info string ERROR: no network.", "info string ERROR: the engine ends now."
    process = start("/bin/sh", "-c", f"printf '%s\\n' {' '.join(map(shlex.quote, said))}; exit 1")
    assert [process.read_line(soon()) for _ in said] == list(said)
    with pytest.raises(ProcessEnded):
        process.read_line(soon())
    process.end()
    assert process.exit.text() == "exited with code 1; the end of its error output: info string ERROR: no network"


def test_a_signal_is_named(start: Callable[..., EngineProcess]) -> None:
    process = start("/bin/sh", "-c", "kill -SEGV $$")
    with pytest.raises(ProcessEnded):
        process.read_line(soon())
    process.end()
    assert process.exit.text().startswith("killed by signal 11 (SIGSEGV)")


def test_an_exit_is_noticed_though_a_child_holds_the_pipes(start: Callable[..., EngineProcess]) -> None:
    process = start("/bin/sh", "-c", "sleep 1000 & echo $!; exit 7")
    child = int(process.read_line(soon()))
    began = time.monotonic()
    with pytest.raises(ProcessEnded):
        process.read_line(soon(30))
    assert time.monotonic() - began < 5.0
    process.end()
    assert "code 7" in process.exit.text()
    assert wait_until(lambda: not is_alive(child))


def test_closing_the_output_counts_as_the_end(start: Callable[..., EngineProcess]) -> None:
    process = start("/bin/sh", "-c", "exec >&-; sleep 1000")
    with pytest.raises(ProcessEnded):
        process.read_line(soon())
    process.end()
    assert process.exit.text() == "closed its output without exiting"


def test_a_polite_program_ends_by_itself(start: Callable[..., EngineProcess], tmp_path: Path) -> None:
    tidied = tmp_path / "tidied"
    process = start("/bin/sh", "-c", f"echo up; read word; echo $word > {tidied}")
    process.read_line(soon())
    process.end("quit")
    assert tidied.read_text() == "quit\n"


@pytest.mark.parametrize("farewell", ["quit", None])
def test_an_immortal_program_and_its_children_are_gone_within_two_seconds(
    start: Callable[..., EngineProcess], farewell: str | None
) -> None:
    process = start("/bin/sh", "-c", "trap '' TERM INT HUP; sleep 1000 & echo $!; while :; do sleep 1000; done")
    child = int(process.read_line(soon()))
    began = time.monotonic()
    process.end(farewell)
    assert time.monotonic() - began < 2.0
    assert not is_alive(process.process_id)
    assert wait_until(lambda: not is_alive(child))
    process.end(farewell)  # twice does no harm


def test_a_polite_program_that_leaves_a_child_behind(start: Callable[..., EngineProcess]) -> None:
    process = start("/bin/sh", "-c", "sleep 1000 & echo $!; read word")
    child = int(process.read_line(soon()))
    process.end("quit")
    assert wait_until(lambda: not is_alive(child))


def test_a_loop_forgets_a_process_that_is_ended_while_it_does_not_run(start: Callable[..., EngineProcess]) -> None:
    """It would take output of the next process, whose pipes get the same numbers."""

    def greet(process: EngineProcess) -> str:
        process.send(["hello"], soon())
        return process.read_line(soon())

    for _ in range(3):
        process = start("cat")
        assert greet(process) == "hello"
        process.end()


def test_nothing_can_be_said_to_a_process_that_was_ended(start: Callable[..., EngineProcess]) -> None:
    process = start("/bin/cat")
    process.end()
    with pytest.raises(ProcessEnded):
        process.send(["hello"], soon())
    with pytest.raises(ProcessEnded):
        process.read_line(soon())


@pytest.mark.parametrize(
    ("command", "directory", "text"),
    [
        (("no-such-engine-anywhere",), None, "no such program in PATH"),
        (("./no/such/engine",), None, "no such file$"),
        (("./no/such/engine -v",), None, "no such file$"),
        (("/bin/cat -u",), None, "no such file; if '/bin/cat' is the program, give its arguments as separate words"),
        (("./cat -u",), "/bin", "no such file; if './cat' is the program"),
        (("/etc/passwd",), None, "not executable"),
        (("/bin/cat",), "/no/such/directory", "no directory '/no/such/directory'"),
        ((), None, "no command"),
    ],
)
def test_what_cannot_be_started_says_why(command: tuple[str, ...], directory: str | None, text: str) -> None:
    with pytest.raises(PlayerFault, match=text) as caught:
        EngineProcess(command, directory)
    assert caught.value.reason == "startup_failure"


@pytest.mark.parametrize(
    ("first", "text"),
    [
        ("#!/no/such/interpreter\n", "first line names the program '/no/such/interpreter'"),
        ("#!/no/such/interpreter -u\r\n", "first line names the program '/no/such/interpreter'"),
        ("#!/bin/sh\r\n", "ends with a Windows carriage return"),
        ("#! /usr/bin/env sh\r\n", "ends with a Windows carriage return"),
        ("#!/bin/sh\t-e\n", ""),
        ("#! /bin/sh", ""),
        ("\x00\xff no text\r\n", ""),
    ],
)
def test_a_script_without_an_interpreter_says_so(first: str, text: str, tmp_path: Path) -> None:
    script = tmp_path / "an engine"
    script.write_bytes(first.encode("latin-1"))
    script.chmod(0o755)
    if not text:
        assert find_program((str(script),), None) == str(script)
        return
    with pytest.raises(PlayerFault, match=text) as caught:
        find_program((str(script),), None)
    assert caught.value.text.isprintable()


def test_the_working_directory_and_a_program_relative_to_it(
    start: Callable[..., EngineProcess], tmp_path: Path
) -> None:
    script = tmp_path / "engine"
    script.write_text("#!/bin/sh\npwd\n")
    script.chmod(0o755)
    process = start("./engine", directory=str(tmp_path))
    assert os.path.realpath(process.read_line(soon())) == os.path.realpath(tmp_path)


def test_a_flood_cannot_wash_the_question_out_of_the_dialogue() -> None:
    dialogue = Dialogue()
    dialogue.sent("go nodes 1000")
    for number in range(100_000):
        dialogue.received(f"info depth {number} {'x' * 2_000}\n".encode(), time.monotonic_ns())
    tail = dialogue.tail()
    assert len(tail) <= 200
    assert sum(len(line) + 1 for line in tail) <= Dialogue.TOTAL_CHARACTERS
    assert tail[-1].split(" ", 1)[1].startswith("< info depth 99999 ")
    short = Dialogue()
    short.sent("go nodes 1000")
    for number in range(1_000):
        short.received(f"info depth {number}\n".encode(), time.monotonic_ns())
    assert short.tail()[0].endswith("> go nodes 1000")
    assert len(short.tail()) == 181


HARNESS = """
import os, signal, sys, time
sys.path.insert(0, {root!r})
from elolab.arena.players.process import EngineProcess
from elolab.arena.players.supervisor import SUPERVISOR
deadline = time.monotonic_ns() + 10**10
engines = [EngineProcess({command!r}) for _ in range(2)]
for engine in engines:
    engine.send(["uci"], deadline)
    while engine.read_line(deadline) != "uciok":
        pass
ended = EngineProcess(("/bin/cat",))
ended.end("quit")
print(SUPERVISOR.process_id, flush=True)
if {how!r} == "exit":
    sys.exit(0)
if {how!r} == "fork":
    os.fork()
if {how!r} == "group":
    os.killpg(0, signal.SIGKILL)
if {how!r} == "abort":
    os.abort()
time.sleep(1000)
"""


@pytest.mark.integration
@pytest.mark.parametrize(
    "how", ["kill", *(pytest.param(how, marks=pytest.mark.integration) for how in ("group", "abort", "exit", "fork"))]
)
@pytest.mark.parametrize("mode", ["immortal", "child"])
def test_the_engines_end_with_the_harness_however_it_dies(how: str, mode: str, tmp_path: Path) -> None:
    notes = tmp_path / "processes"
    program = HARNESS.format(root=str(ROOT), command=mock_command(mode, file=notes), how=how)
    harness = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
    )
    assert harness.stdout is not None
    supervisor = int(harness.stdout.readline())
    processes = [int(word) for word in notes.read_text().split()]
    assert len(processes) == {"immortal": 2, "child": 4}[mode]
    if how in ("kill", "fork"):  # a forked process goes on
        assert all(is_alive(process) for process in processes)
        harness.send_signal(signal.SIGKILL)
    harness.wait(timeout=10)
    harness.stdout.close()
    try:
        assert wait_until(lambda: not any(is_alive(process) for process in [*processes, supervisor]))
    finally:
        kill_group(harness.pid)


def test_a_supervisor_that_was_killed_is_replaced_and_told_everything(
    start: Callable[..., EngineProcess], tmp_path: Path
) -> None:
    first = start("/bin/cat")
    killed = SUPERVISOR.process_id
    assert killed is not None
    kill_group(killed)
    assert wait_until(lambda: not is_alive(killed))
    start("/bin/cat")
    assert SUPERVISOR.process_id != killed
    assert first.process_id in SUPERVISOR._groups


def test_the_program_never_starts_if_the_harness_dies_first(tmp_path: Path) -> None:
    from elolab.arena.players.process import GATE

    mark = tmp_path / "started"
    gate = subprocess.run(
        ["/bin/sh", "-c", GATE, "sh", "/usr/bin/touch", str(mark)], stdin=subprocess.DEVNULL, check=False
    )
    assert gate.returncode != 0
    assert not mark.exists()
