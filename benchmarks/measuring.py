"""Functions that benchmarks share: pinning, repeats with their range, and a UCI engine to compare with."""

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
    """Pin this process and its future child processes to one processor, if the system allows it."""
    if hasattr(os, "sched_setaffinity"):
        usable = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {usable[processor % len(usable)]})


def parser_of(description: str | None) -> argparse.ArgumentParser:
    """A parser of arguments whose help is the docstring of a benchmark."""
    return argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)


def add_count(parser: argparse.ArgumentParser, name: str, default: int) -> None:
    """Add an optional whole number, such as a number of repeats, to a parser."""
    parser.add_argument(name, nargs="?", type=whole_number(1), default=default, help=f"how many (default {default})")


def count_of(description: str | None, name: str, default: int) -> int:
    """Parse the command line of a benchmark whose only argument is a count; a wrong argument ends the program."""
    parser = parser_of(description)
    add_count(parser, name, default)
    count: int = getattr(parser.parse_args(), name)
    return count


def report(name: str, values: Sequence[float], unit: str, goal: str = "") -> None:
    """Print the median and the range of repeated measurements, with their unit and the goal, if there is one."""
    goal = f"   (goal: {goal})" if goal else ""
    middle, low, high = statistics.median(values), min(values), max(values)
    spread = f"from {low:.4g} to {high:.4g} over {len(values)} repeats"
    print(f"{name}: median {middle:.4g} {unit}, {spread}{goal}", flush=True)


def need_program(path: str) -> None:
    """Exit with a message if there is no file ``path``. The message names the program's Debian package."""
    if not os.path.exists(path):
        name = os.path.basename(path)
        print(f"{name} is not installed (Debian's package {name}); nothing measured")
        sys.exit(0)


def long_game(game: str, plies: int) -> list[str]:
    """``plies`` random moves from the start of a game, after which the game is not over under its standard rules."""
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
    """A UCI engine, by default fairy-stockfish for Xiangqi; ``options`` are arguments of ``setoption name``."""

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
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def until(self, start: str) -> list[str]:
        """Read lines up to and including the first one that begins with ``start``, and return all these lines."""
        assert self._process.stdout is not None
        lines = []
        for line in self._process.stdout:
            lines.append(line.strip())
            if line.startswith(start):
                return lines
        raise RuntimeError(f"the engine ended before it said {start!r}")

    def new_game(self) -> None:
        """Send ``ucinewgame`` and wait until the engine is ready."""
        self.send("ucinewgame")
        self.send("isready")
        self.until("readyok")

    def cpu_seconds(self) -> float:
        """Processor seconds that the engine has used so far."""
        with open(f"/proc/{self._process.pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        self.send("quit")
        self._process.wait(timeout=10)


def arena_cost(
    words: Sequence[str], folder: Path, engines: Sequence[str], output: Path | None = None
) -> tuple[float, float, float]:
    """Run an arena with the command ``words``; return elapsed seconds, processor seconds and largest memory in MB.

    Helper processes of the arena count, but child processes whose command line contains one of ``engines`` do not.
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
    """Ids of the child processes of process ``number`` that are neither engines nor shells that start engines."""
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
