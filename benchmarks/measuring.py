"""What the benchmarks share: pinning, repeats with their spread, and a UCI engine to measure against."""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from elolab.cli.shared.options import whole_number
from elolab.engine.games import game_named

FAIRY_STOCKFISH = shutil.which("fairy-stockfish") or "/usr/games/fairy-stockfish"
STOCKFISH = shutil.which("stockfish") or "/usr/games/stockfish"


def pin(processor: int = 0) -> None:
    """Run this process, and those it starts, on one processor, where the system allows it."""
    if hasattr(os, "sched_setaffinity"):
        usable = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {usable[processor % len(usable)]})


def parser_of(description: str | None) -> argparse.ArgumentParser:
    """A reader of arguments whose help is the docstring of a benchmark."""
    return argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)


def add_count(parser: argparse.ArgumentParser, name: str, default: int) -> None:
    """A whole number, such as of repeats, that need not be given."""
    parser.add_argument(name, nargs="?", type=whole_number(1), default=default, help=f"how many (default {default})")


def count_of(description: str | None, name: str, default: int) -> int:
    """The number of repeats, pairs or the like that is the only argument of a benchmark; ends with a wrong one."""
    parser = parser_of(description)
    add_count(parser, name, default)
    count: int = getattr(parser.parse_args(), name)
    return count


def report(name: str, values: Sequence[float], unit: str, goal: str = "") -> None:
    """Print the median of some repeats with their range."""
    goal = f"   (goal: {goal})" if goal else ""
    middle, low, high = statistics.median(values), min(values), max(values)
    spread = f"from {low:.4g} to {high:.4g} over {len(values)} repeats"
    print(f"{name}: median {middle:.4g} {unit}, {spread}{goal}", flush=True)


def need_program(path: str) -> None:
    """End with a message if a program, named like its Debian package, is not installed."""
    if not os.path.exists(path):
        name = os.path.basename(path)
        print(f"{name} is not installed (Debian's package {name}); nothing measured")
        sys.exit(0)


def long_game(game: str, plies: int) -> list[str]:
    """Random moves of a game, none of which ends it under its standard rules."""
    generator = random.Random(1)
    position = game_named(game).position()
    while position.ply < plies:
        move = generator.choice(position.legal_moves())
        trial = position.copy()
        trial.push(move)
        if trial.judge(trial.game.standard_rules) is None:
            position = trial
    return position.moves


class UciProgram:
    """A UCI engine without a network, as simple as a benchmark needs it: by default fairy-stockfish for Xiangqi.

    ``options`` are further words of ``setoption name``.
    """

    def __init__(
        self, command: Sequence[str] = (FAIRY_STOCKFISH,), options: Sequence[str] = ("UCI_Variant value xiangqi",)
    ) -> None:
        self._process = subprocess.Popen(
            list(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        self.send("uci")
        self.until("uciok")
        for option in (*options, "Use NNUE value false", "Threads value 1", "Hash value 16"):
            self.send(f"setoption name {option}")
        self.new_game()

    def send(self, line: str) -> None:
        """Write one command."""
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def until(self, start: str) -> list[str]:
        """The lines up to the one that begins with ``start``, that one included."""
        assert self._process.stdout is not None
        lines = []
        for line in self._process.stdout:
            lines.append(line.strip())
            if line.startswith(start):
                return lines
        raise RuntimeError(f"the engine ended before it said {start!r}")

    def new_game(self) -> None:
        """Empty the tables and wait until that is done."""
        self.send("ucinewgame")
        self.send("isready")
        self.until("readyok")

    def cpu_seconds(self) -> float:
        """CPU time spent by the engine so far."""
        with open(f"/proc/{self._process.pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        """End the engine."""
        self.send("quit")
        self._process.wait(timeout=10)


def arena_cost(
    words: Sequence[str], folder: Path, engines: Sequence[str], output: Path | None = None
) -> tuple[float, float, float]:
    """Run an arena; returns its seconds, processor seconds and largest memory in MB, those of its helpers included.

    Child processes whose command line has one of ``engines`` do not count.
    """
    output = output or folder / "output.txt"
    began, memory_mb = time.monotonic(), 0.0
    helpers: dict[int, float] = {}
    with output.open("w") as stream, subprocess.Popen(words, stdout=stream, stderr=stream, cwd=folder) as process:
        try:
            while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
                numbers = [process.pid, *_helpers(process.pid, engines)]
                memory_mb = max(memory_mb, sum(map(_resident_mb, numbers)))
                helpers |= {number: _cpu_seconds(number) for number in numbers[1:]}
                time.sleep(0.25)
            seconds = time.monotonic() - began
            cpu_seconds = _cpu_seconds(process.pid) + sum(helpers.values())  # it has ended and not been waited for
        except BaseException:
            process.send_signal(signal.SIGTERM)
            raise
    if process.returncode:
        raise SystemExit(f"{words[0]} ended with {process.returncode}:\n{output.read_text()[-2000:]}")
    return seconds, cpu_seconds, memory_mb


def _helpers(number: int, engines: Sequence[str]) -> list[int]:
    """The arena's child processes that are neither engines nor shells that are going to be engines."""
    found = []
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{number}/task").iterdir():
            for child in (task / "children").read_text().split():
                command = Path(f"/proc/{child}/cmdline").read_bytes().decode(errors="replace")
                if not any(engine in command for engine in engines):
                    found.append(int(child))
    return found


def _cpu_seconds(number: int) -> float:
    try:
        fields = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _resident_mb(number: int) -> float:
    try:
        found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{number}/status").read_text())
    except OSError:
        return 0.0
    return int(found[1]) / 1024 if found else 0.0
