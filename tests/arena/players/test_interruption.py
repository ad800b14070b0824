"""Requests to end a command's process: none is lost, wherever it comes, and a second one never waits."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from elolab.arena.play import executor
from elolab.arena.play.executor import GameRunner
from elolab.arena.players import interruption
from elolab.arena.players.interruption import SECOND_SECONDS, TOGETHER_SECONDS
from elolab.arena.records import GameJob, GameRecord, Opening, Pairing, PlayerSpec
from elolab.cli.shared.tournament_output import finishing
from elolab.engine.engine import StopFlag
from elolab.engine.games import game_named
from elolab.engine.rules import Adjudication, Rules
from elolab.engine.settings.limits import Limits

ROOT = Path(__file__).parents[3]
PATIENCE_SECONDS = 30.0
AT_ONCE_SECONDS = SECOND_SECONDS + 2.0
"""A process of a loaded machine takes a while to come to its turn."""

PROGRAM = """
import ctypes, signal, sys, threading, time
from elolab.arena.players.interruption import give_back_signals, stopping_on_signals, take_over_signals
from elolab.engine.errors import UserError
sys.path.insert(0, {folder!r})
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup has it ignored
take_over_signals()

class Stop:
    def set(self):
        print("stopping", flush=True)

def ready():
    print("ready", flush=True)

def hang():
    while True:
        try:
            time.sleep(60)
        except KeyboardInterrupt:
            pass

code = 0
try:
{body}
except KeyboardInterrupt:
    print("interrupted", flush=True)
    code = 130
finally:
    give_back_signals(code)
sys.exit(code)
"""

INTERRUPTED = "elolab: interrupted\n"


def started(body: str, folder: Path) -> subprocess.Popen[str]:
    """A process that runs ``body`` and has said that it is ready."""
    text = PROGRAM.format(folder=str(folder), body="".join(f"    {line}\n" for line in body.splitlines()))
    process = subprocess.Popen(
        [sys.executable, "-c", text], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.1)
    return process


def ended(process: subprocess.Popen[str], within: float = PATIENCE_SECONDS) -> tuple[int, str, str]:
    """Exit code, and what else the process printed."""
    began = time.monotonic()
    try:
        output, errors = process.communicate(timeout=PATIENCE_SECONDS)
    finally:
        process.kill()
    assert time.monotonic() - began < within
    return process.returncode, output, errors


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_request_outside_a_run_is_an_interruption(number: signal.Signals, tmp_path: Path) -> None:
    process = started("ready(); time.sleep(60)", tmp_path)
    process.send_signal(number)
    assert ended(process) == (130, "interrupted\n", "")


def test_an_import_is_not_left_by_an_exception(tmp_path: Path) -> None:
    """Whatever is imported might make something else of it, as compiled modules make an ImportError."""
    (tmp_path / "swallowing.py").write_text("import __main__\n__main__.ready()\n__main__.hang()\n")
    process = started("import swallowing", tmp_path)
    process.send_signal(signal.SIGINT)
    assert ended(process) == (130, "", INTERRUPTED)


def test_what_swallows_an_interruption_ends_nevertheless(tmp_path: Path) -> None:
    """As a function that C code calls does: llvmlite's, when code is loaded."""
    process = started("called = ctypes.CFUNCTYPE(None)(lambda: (ready(), time.sleep(60)))\ncalled()\nhang()", tmp_path)
    process.send_signal(signal.SIGINT)
    code, output, errors = ended(process)
    assert (code, output) == (130, "")
    assert errors.endswith(INTERRUPTED)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_second_request_ends_a_run_that_hangs(number: signal.Signals, tmp_path: Path) -> None:
    process = started("with stopping_on_signals(Stop()):\n    ready(); hang()", tmp_path)
    process.send_signal(number)
    assert process.stdout is not None
    assert process.stdout.readline() == "stopping\n"
    time.sleep(2 * TOGETHER_SECONDS)  # the process may count the first one a little later than it says so
    process.send_signal(number)
    assert ended(process, AT_ONCE_SECONDS) == (130, "", INTERRUPTED)


def test_a_second_request_ends_a_process_whose_main_thread_waits_for_a_lock(tmp_path: Path) -> None:
    body = "from threading import Thread\nwith stopping_on_signals(Stop()):\n    thread = Thread(target=hang)\n"
    process = started(body + "    thread.start(); ready(); thread.join()", tmp_path)
    process.send_signal(signal.SIGINT)
    assert process.stdout is not None
    assert process.stdout.readline() == "stopping\n"
    time.sleep(2 * TOGETHER_SECONDS)  # the process may count the first one a little later than it says so
    process.send_signal(signal.SIGINT)
    code, _, _ = ended(process, AT_ONCE_SECONDS)
    assert code == 130


COMPILING = """\
compiler = dict(__name__="numba.core.compiler", sleep=time.sleep)
exec("def compile(): sleep(60)", compiler)
thread = threading.Thread(target=compiler["compile"])
thread.start()
with stopping_on_signals(Stop()):
    ready(); thread.join()
"""


@pytest.mark.integration
def test_a_run_that_waits_for_compilation_ends_after_one_request(tmp_path: Path) -> None:
    process = started(COMPILING, tmp_path)
    process.send_signal(signal.SIGTERM)
    assert ended(process) == (130, "stopping\n", INTERRUPTED)


def test_a_request_that_is_passed_on_twice_counts_once(tmp_path: Path) -> None:
    body = "with stopping_on_signals(Stop()):\n    ready(); time.sleep(1); print('done', flush=True)\n"
    process = started(f"{body}code = 7", tmp_path)
    process.send_signal(signal.SIGTERM)
    time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    code, output, errors = ended(process)
    assert (code, output.splitlines()[-1], errors) == (7, "done", "")


def test_after_a_request_no_thread_holds_up_the_end(tmp_path: Path) -> None:
    body = "threading.Thread(target=hang).start()\nwith stopping_on_signals(Stop()):\n    ready(); time.sleep(1)\n"
    process = started(f"{body}code = 7", tmp_path)
    process.send_signal(signal.SIGTERM)
    assert ended(process) == (7, "stopping\n", "")


def test_a_second_request_skips_a_report_whatever_error_it_comes_out_as(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for before, after, error in ((1, 2, KeyboardInterrupt), (1, 1, ImportError), (0, 0, ImportError)):
        counts = iter((before, after))
        monkeypatch.setattr(interruption, "requests_to_end", lambda counts=counts: next(counts))
        with pytest.raises(error), finishing():
            raise ImportError("a drawing that was interrupted")
        said = capsys.readouterr().err
        assert ("writing the report; press Ctrl-C again to skip it" in said) == bool(before)


def test_games_that_do_not_end_are_left_to_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    """As while the engine is compiled for the first time."""
    release, begun = threading.Event(), threading.Event()

    def compiling(runner: GameRunner, *task: object) -> GameRecord | None:
        begun.set()
        release.wait(PATIENCE_SECONDS)
        return None

    monkeypatch.setattr(GameRunner, "_play_compiled", compiling)
    monkeypatch.setattr(executor, "STOPPING_SECONDS", 0.2)
    opening, stop = Opening(game_named("xiangqi").start), StopFlag()
    player = PlayerSpec("one", "builtin", Limits(nodes=9))
    job = GameJob(
        "xiangqi", Rules(), Adjudication(), Pairing(0, 0, 0, 1, 0), player, replace(player, name="other"), opening,
        seed=1,
    )  # fmt: skip

    def jobs() -> Iterator[GameJob | None]:
        yield job
        begun.wait(PATIENCE_SECONDS)
        stop.set()
        yield None

    began = time.monotonic()
    try:
        with GameRunner(1, stop) as runner:
            assert list(runner.run(jobs())) == []
        assert time.monotonic() - began < PATIENCE_SECONDS / 2
    finally:
        release.set()


HEARING = """
import sys, threading
main = threading.main_thread()
def heard(event, arguments):
    if event == "import" and threading.current_thread() is not main:
        print("imported", arguments[0], flush=True)
sys.addaudithook(heard)
from elolab.command_line import main as command
sys.exit(command(["tournament", "cup.toml", "--concurrency", "2", "--out", "out"]))
"""
"""A tournament that tells what is imported in other threads than the main one."""
MOCK = json.dumps([sys.executable, "-I", "-S", str(ROOT / "tests" / "support" / "mock_engines.py"), "good"])


@pytest.mark.integration
@pytest.mark.parametrize("other", ['preset = "no-quiescence"', f'protocol = "uci"\ncommand = {MOCK}'])
def test_games_import_nothing_in_their_threads(other: str, tmp_path: Path) -> None:
    """Threads that import for the first time may wait for each other for ever."""
    (tmp_path / "cup.toml").write_text(
        'pairs = 2\nlimit = "nodes=50"\n[adjudication]\nmaximum_plies = 20\n'
        f'[[players]]\nname = "default"\n[[players]]\nname = "other"\n{other}\n'
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", HEARING], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300
    )
    assert "games digest" in done.stdout, done.stderr
    assert [line for line in done.stdout.splitlines() if line.startswith("imported")] == []
