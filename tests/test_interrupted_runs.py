"""Whatever kills a run, and whenever: the same command goes on, nothing is lost, doubled or left behind.

How often each kind is killed: ``make soak ARGUMENTS="tests/test_interrupted_runs.py --interruptions 200"``.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.interrupted_runs import KINDS, ROOT, Ended, Server, finished_run, has_ended_by_itself, interrupt
from tests.support.marked_processes import MARK, processes_marked, wait_until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are found by /proc"),
]

SIGNALS = ("SIGTERM", "SIGHUP", "SIGINT", "SIGINT SIGINT", "SIGSTOP SIGCONT")
MOST_COMPILING_SECONDS = 45.0


def options(request: pytest.FixtureRequest) -> tuple[int, int]:
    """How many interruptions, and the seed of their moments."""
    return request.config.getoption("--interruptions"), request.config.getoption("--seed")


@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if not kind.on_clock])
def test_killed_at_any_moment(name: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    print(f"\n{name}: {interrupt(KINDS[name], tmp_path, *options(request))}")


@pytest.mark.parametrize("name", ["round_robin", "sprt", "tune", "ablate", "claims", "fit-evaluation"])
def test_told_to_end_or_paused_at_any_moment(name: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    print(f"\n{name}: {interrupt(KINDS[name], tmp_path, *options(request), SIGNALS)}")


def test_nobody_loses_on_time_because_of_a_pause(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    print(f"\nclock: {interrupt(KINDS['clock'], tmp_path, *options(request), ['SIGSTOP SIGCONT'])}")


def test_killed_while_it_compiles_for_the_first_time(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """A third of the interruptions, for this takes a minute or two: in the end the games are those of a warm start."""
    interruptions, seed = options(request)
    chance, mark, kind = random.Random(seed), f"compiling {os.getpid()}", KINDS["round_robin"]
    with Server(tmp_path) as server:
        kind.prepare(tmp_path)
        server.start(kind.command(tmp_path / "warm"), mark)
        expected = finished_run(server.wait(), tmp_path / "warm")
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache"), MARK: mark, "PYTHONPATH": str(ROOT)}
    words = [sys.executable, str(ROOT / "elolab"), *kind.command(tmp_path / "cold")]
    killed = 0
    for kill in [True] * max(1, interruptions // 3) + [False]:
        process = subprocess.Popen(
            words, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        try:
            output, errors = process.communicate(timeout=chance.uniform(0, MOST_COMPILING_SECONDS) if kill else None)
        except subprocess.TimeoutExpired:
            process.kill()
            output, errors = process.communicate()
        killed += process.returncode == -signal.SIGKILL
        assert wait_until(lambda: not processes_marked(mark))
    ended = Ended(process.returncode, output, errors, 0.0)
    assert has_ended_by_itself(ended), ended
    cold = finished_run(ended, tmp_path / "cold")
    warm, now = ({key: game[:3] for key, game in one.games.items()} for one in (expected, cold))
    assert now == warm
    assert cold.files == expected.files
    print(f"\ncompilation: {killed} kills")
