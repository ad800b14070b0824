"""Measures the start of commands and libraries: help, imports, the first search with a full cache, and full
compilation.

    python benchmarks/startup.py [repeats]              seconds of commands, each as a ratio to `python -c pass`
    python benchmarks/startup.py --libraries NAME ...   milliseconds to import each library, and its size on disk

Everything runs on one processor. Commands and `python -c pass` take turns, so that both see the same load.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence

from measuring import pin, report

HELP_SECONDS = 0.15
"""Goal for the duration of ``elolab --help``, in seconds."""
ELOLAB = ("-m", "elolab")
NOTHING = ("-c", "pass")


def _seconds(words: Sequence[str], environment: dict[str, str] | None = None, first_line_only: bool = False) -> float:
    """Seconds until Python with these arguments ends, or with ``first_line_only`` prints its first line."""
    start = time.monotonic()
    with subprocess.Popen(
        [sys.executable, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment, text=True
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        seconds = time.monotonic() - start
        if first_line_only:
            process.kill()
            return seconds
        process.stdout.read()
    return time.monotonic() - start


def _measure_help(repeats: int) -> None:
    """Print the times of ``elolab --help`` and of an empty program, their ratio, and the slowest imports."""
    _seconds([*ELOLAB, "--help"])  # its bytecode may have to be written
    pairs = [(_seconds([*ELOLAB, "--help"]), _seconds(NOTHING)) for _ in range(repeats)]
    report("python -c pass", [nothing for _, nothing in pairs], "s")
    report("elolab --help", [helped for helped, _ in pairs], "s", f"under {HELP_SECONDS}")
    report("elolab --help over python -c pass", [helped / nothing for helped, nothing in pairs], "times")
    print("what `elolab --help` imports, its own time in ms:")
    done = subprocess.run([sys.executable, "-X", "importtime", *ELOLAB, "--help"], capture_output=True, text=True)
    rows = [line.removeprefix("import time:").split("|") for line in done.stderr.splitlines() if "|" in line][1:]
    for own, _, name in sorted(rows, key=lambda row: -int(row[0]))[:8]:
        print(f"  {int(own) / 1000:5.1f}  {name.strip()}")


def _import_milliseconds(name: str) -> float:
    """Milliseconds to import a library with everything that it imports, as Python's ``importtime`` reports it."""
    words = [sys.executable, "-X", "importtime", "-c", f"import {name}"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    rows = [line.split("|") for line in done.stderr.splitlines()]
    return next(int(row[1]) for row in reversed(rows) if row[-1].strip() == name) / 1000


def _installed_megabytes(name: str) -> float:
    """Size on disk, in MB, of the distribution that has a module, without bytecode and dependencies."""
    distributions = importlib.metadata.packages_distributions()[name.partition(".")[0]]
    files = importlib.metadata.files(distributions[0]) or []
    sizes = [file.locate().stat().st_size for file in files if file.suffix != ".pyc" and file.locate().is_file()]
    return sum(sizes) / 1e6


def _measure_libraries(names: Sequence[str], repeats: int) -> None:
    for name in names:
        try:
            times = [_import_milliseconds(name) for _ in range(repeats)]
        except subprocess.CalledProcessError:
            print(f"{name}: not installed")
            continue
        report(f"import {name} ({_installed_megabytes(name):.1f} MB)", times, "ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repeats", nargs="?", type=int, default=10)
    parser.add_argument("--libraries", nargs="+", metavar="NAME", help="measure these imports, and nothing else")
    parser.add_argument("--help-only", action="store_true", help="measure help, and nothing that compiles")
    arguments = parser.parse_args()
    pin()
    if arguments.libraries:
        _measure_libraries(arguments.libraries, arguments.repeats)
        return
    _measure_help(arguments.repeats)
    if arguments.help_only:
        return
    environment = dict(os.environ)
    with tempfile.TemporaryDirectory() as cache:
        environment["NUMBA_CACHE_DIR"] = cache
        cold = _seconds([*ELOLAB, "analyse", "--depth", "1"], environment)
        report("cold: elolab analyse --depth 1", [cold], "s", "under 30")
        # The benchmark prints its first line when its first search (0.1 s or so) is done.
        _seconds([*ELOLAB, "bench"], environment, first_line_only=True)
        warm = [_seconds([*ELOLAB, "bench"], environment, first_line_only=True) for _ in range(arguments.repeats)]
        report("warm: elolab bench until its first search is done", warm, "s", "under 1")


if __name__ == "__main__":
    main()
