"""How long the engine as a program takes from ``stop`` to ``bestmove`` over UCCI, searching without limit.

Each time the search has run for a random 20 to 80 ms. The time is from just before the line is written to the pipe
until the answer has been read from the other one, so the system's own share is in it.

    python benchmarks/stop_latency.py [repeats]
"""

from __future__ import annotations

import random
import statistics
import subprocess
import sys
import time

from measuring import count_of, report

POSITIONS = (
    "startpos",
    "startpos moves h2e2 h9g7 h0g2 i9h9 b0c2 c6c5",
    "fen 2bakab2/9/c7c/1C5C1/p1p1p1p1p/9/P1P1P1P1P/4B4/4A4/2BAK4 w - - 0 1",
    "fen 3ak4/4a4/4P4/2P3P2/9/9/2p6/9/4A4/4KA3 w - - 0 1",
)


class Program:
    """``elolab engine --protocol ucci``."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "elolab", "engine", "--protocol", "ucci"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.say("ucci")
        self.hear("ucciok")
        self.say("isready")
        self.hear("readyok")

    def say(self, line: str) -> None:
        """Write one command."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n".encode())
        self._process.stdin.flush()

    def hear(self, *starts: str) -> str:
        """Read up to a line that begins with one of ``starts``; the word it begins with."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            words = line.decode().split()
            if words and words[0] in starts:
                return words[0]
        raise RuntimeError(f"the engine ended before it said {' or '.join(starts)}")

    def close(self) -> None:
        """End the engine."""
        self.say("quit")
        self._process.wait(timeout=10)


def main() -> None:
    """Measure and print."""
    repeats = count_of(__doc__, "repeats", 500)
    chance = random.Random(1)
    program = Program()
    latencies = []
    for number in range(repeats):
        program.say(f"position {POSITIONS[number % len(POSITIONS)]}")
        program.say("go infinite")
        time.sleep(chance.uniform(0.02, 0.08))
        began_ns = time.perf_counter_ns()
        program.say("stop")
        if program.hear("bestmove", "nobestmove") != "bestmove":
            raise RuntimeError(f"no move in {POSITIONS[number % len(POSITIONS)]}")
        latencies.append((time.perf_counter_ns() - began_ns) / 1e6)
    program.close()
    report("from stop to bestmove", latencies, "ms", "at most 5 ms")
    if repeats > 1:
        print(f"99th percentile {statistics.quantiles(latencies, n=100)[98]:.3g} ms")


if __name__ == "__main__":
    main()
