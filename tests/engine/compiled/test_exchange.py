"""The exchange with a program in compiled code: what wakes the caller, and what is stamped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from elolab.engine.compiled.exchange import DEADLINE, DONE, ENDED, FULL, OUTPUT_BYTES, STOPPED, Conversation
from elolab.engine.engine import StopFlag

ROOT = Path(__file__).parents[3]


class Pipes:
    """A conversation with this test, which plays the program: ``heard`` reads the question, ``said`` writes output."""

    def __init__(self) -> None:
        self.heard, question = os.pipe()
        output, self.said = os.pipe()
        error, self.complained = os.pipe()
        self.all = [self.heard, question, output, self.said, error, self.complained]
        for descriptor in self.all:
            os.set_blocking(descriptor, False)
        self.talk = Conversation(question, output, error, -1)

    def say(self, text: bytes) -> None:
        os.write(self.said, text)

    def read(self, seconds: float = 5.0, stop: StopFlag | None = None, mode: int = Conversation.READ_ANSWER) -> int:
        return self.talk.exchange(mode, time.monotonic_ns() + int(seconds * 1e9), stop)


@contextmanager
def conversation() -> Iterator[Pipes]:
    pipes = Pipes()
    try:
        yield pipes
    finally:
        for descriptor in pipes.all:
            os.close(descriptor)


@pytest.mark.parametrize(
    "thinking",
    [b"info depth 1\n", b"  info\tdepth 1\n", b"12 +34 5 678 h2e2\n", b"\t9. -3 1 2\n", b"info string bestmove a0a1\n"],
)
def test_thinking_output_does_not_wake(thinking: bytes) -> None:
    with conversation() as pipes:
        pipes.say(thinking)
        assert pipes.read(0.0) == DEADLINE
        pipes.say(3 * thinking + b"bestmove a0a1\n")
        assert pipes.read() == DONE
        assert b"".join(output for output, _ in pipes.talk.take_output().pieces()) == 4 * thinking + b"bestmove a0a1\n"


@pytest.mark.parametrize(
    "line",
    [b"bestmove a0a1\n", b"information\n", b"info\n", b"\n", b"1. ... h2e2\n", b"1-0 {wins}\n", b"=1 c3\n", b"7\n"],
)
def test_any_other_line_wakes(line: bytes) -> None:
    with conversation() as pipes:
        pipes.say(b"info depth 1\n" + line)
        assert pipes.read(0.0) == DONE


def test_any_line_wakes_on_request() -> None:
    with conversation() as pipes:
        pipes.say(b"info depth 1")
        assert pipes.read(0.0, mode=Conversation.READ_LINE) == DEADLINE
        pipes.say(b"\n")
        assert pipes.read(0.0, mode=Conversation.READ_LINE) == DONE


def test_the_end_of_a_line_that_was_taken_in_part_wakes() -> None:
    with conversation() as pipes:
        pipes.talk.is_in_line = True
        pipes.say(b"info depth 1\n")
        assert pipes.read(0.0) == DONE


def test_a_question_is_stamped_before_and_an_answer_after_it_goes_through_the_pipe() -> None:
    with conversation() as pipes:
        before_ns = time.monotonic_ns()
        answered_ns = []

        def answer() -> None:
            while not (question := _read(pipes.heard)):
                time.sleep(0.001)
            assert question == b"go\n"
            answered_ns.append(time.monotonic_ns())
            pipes.say(b"info depth 1\n")
            pipes.say(b"bestmove a0a1\n")

        thread = threading.Thread(target=answer)
        pipes.talk.ask(b"go\n", 5_000_000_000)
        thread.start()
        assert pipes.talk.exchange(Conversation.READ_ANSWER, 0, None) == DONE  # the allowance counts, not the deadline
        thread.join()
        arrived_ns = [at_ns for _, at_ns in pipes.talk.take_output().pieces()][-1]
        assert before_ns <= pipes.talk.asked_ns <= answered_ns[0] <= arrived_ns <= time.monotonic_ns()
        assert pipes.talk.late_ns >= 0


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 100)
    except BlockingIOError:
        return b""


def test_why_a_call_ends() -> None:
    with conversation() as pipes:
        stop = StopFlag()
        stop.set()
        assert pipes.read(stop=stop) == STOPPED
        pipes.say(b"x" * 40_000)
        assert pipes.read(0.0) == DEADLINE
        pipes.say(b"x" * (OUTPUT_BYTES - 40_000))
        assert pipes.read() == FULL
        assert len(b"".join(output for output, _ in pipes.talk.take_output().pieces())) == OUTPUT_BYTES
        os.write(pipes.complained, b"error")
        os.close(pipes.said)
        pipes.all.remove(pipes.said)
        assert pipes.read() == ENDED
        assert pipes.talk.take_errors() == b"error"


@pytest.mark.integration
def test_it_works_without_compilation() -> None:
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    program = (
        "import time; from elolab.arena.players.process import EngineProcess\n"
        "later = time.monotonic_ns() + 10**10; cat = EngineProcess(('/bin/cat',))\n"
        "cat.ask(['info depth 1', 'bestmove a0a1'])\n"
        "print([cat.read_line(later, skips_thinking=True) for _ in range(2)]); cat.end()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "['info depth 1', 'bestmove a0a1']\n", done.stderr


READER = """
import sys, threading, time
from elolab.engine.compiled import exchange
exchange.SCHEDULE_PATH = "/no/such/file"
talk = exchange.Conversation(*map(int, sys.argv[1:3]), -1, -1)
def read():
    time.sleep(0.1)  # the beats have begun
    talk.ask(b"go\\n", -1)
    while talk.exchange(talk.READ_ANSWER, time.monotonic_ns() + 60 * 10**9, None) != exchange.DONE:
        pass
    print(talk.late_ns)
thread = threading.Thread(target=read)
exchange.load_exchange()
thread.start()
thread.join()
"""


@pytest.mark.integration
def test_lateness_is_noticed_where_the_system_does_not_say_how_long_a_thread_waited() -> None:
    with conversation() as pipes:
        heard, question, output, *_ = pipes.all
        for descriptor in (heard, question, output):
            os.set_blocking(descriptor, True)
        words = [sys.executable, "-c", READER, str(question), str(output)]
        with subprocess.Popen(words, stdout=subprocess.PIPE, cwd=ROOT, pass_fds=(question, output)) as process:
            assert os.read(heard, 9) == b"go\n"
            process.send_signal(signal.SIGSTOP)
            os.waitpid(process.pid, os.WUNTRACED)  # until then it could still read
            pipes.say(b"bestmove a0a1\n")
            time.sleep(0.2)
            process.send_signal(signal.SIGCONT)
            assert process.stdout is not None
            assert int(process.stdout.read()) >= 100_000_000
