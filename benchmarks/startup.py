"""How long commands take to begin: help, the warm benchmark's first search, and compiling everything cold.

    python benchmarks/startup.py [repeats]
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

from measuring import report


def _seconds(words: list[str], environment: dict[str, str], first_line_only: bool = False) -> float:
    """Seconds until the command ends, or prints its first line."""
    start = time.monotonic()
    with subprocess.Popen(
        [sys.executable, "-m", "elolab", *words],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        process.stdout.readline()
        seconds = time.monotonic() - start
        if first_line_only:
            process.kill()
            return seconds
        process.stdout.read()
    return time.monotonic() - start


def main() -> None:
    """Measure and print."""
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    environment = dict(os.environ)
    report("elolab --help", [_seconds(["--help"], environment) for _ in range(repeats)], "s", "under 0.3")
    with tempfile.TemporaryDirectory() as cache:
        environment["NUMBA_CACHE_DIR"] = cache
        report("cold: elolab analyse --depth 1", [_seconds(["analyse", "--depth", "1"], environment)], "s", "under 30")
        # The benchmark prints its first line when its first search (0.1 s or so) is done.
        _seconds(["bench"], environment, first_line_only=True)
        warm = [_seconds(["bench"], environment, first_line_only=True) for _ in range(repeats)]
        report("warm: elolab bench until its first search is done", warm, "s", "under 1")


if __name__ == "__main__":
    main()
