"""Games at 1000 nodes a move through ``elolab tournament`` itself, store, PGN and report included.

Two runs in turn, repeated: the benchmark (nodes per CPU second of plain searches) and a tournament in a process of its
own, whose CPU time is the operating system's account of the whole process, start-up included.

    python benchmarks/arena_speed.py [repeats]
"""

from __future__ import annotations

import csv
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measuring import report

SPECIFICATION = """\
name = "arena-speed"
game = "{game}"
pairs = 1000
seed = 1
limit = "nodes=1000"

[[players]]
preset = "default"

[[players]]
name = "window-100"
set = {{ aspiration_window = 100 }}
"""

GOALS = {"xiangqi": "at least 8400 on two cores", "othello": ""}
"""What is asked of plies per second."""


def _elolab(*words: str) -> tuple[str, float, float]:
    """Output, CPU seconds and wall seconds of one command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    done = subprocess.run([sys.executable, "-m", "elolab", *words], check=True, capture_output=True, text=True)
    wall = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def main() -> None:
    """Measure and print both speeds and their ratio, for each game."""
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    for game in GOALS:
        print(game)
        _measure(game, repeats)


def _measure(name: str, repeats: int) -> None:
    ratios, plies_a_second, games_a_second, lengths = [], [], [], []
    for _ in range(repeats):
        bench = json.loads(_elolab("bench", "--json")[0])["nodes_per_second"][name]
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "spec.toml").write_text(SPECIFICATION.format(game=name))
            _, cpu, wall = _elolab("tournament", f"{folder}/spec.toml", "--out", f"{folder}/run")
            with open(f"{folder}/run/games.csv", newline="") as file:
                games = list(csv.DictReader(file))
        nodes = sum(int(game["nodes"]) for game in games)
        plies = sum(int(game["plies"]) for game in games)
        ratios.append(nodes / cpu / bench)
        plies_a_second.append(plies / wall)
        games_a_second.append(len(games) / wall)
        lengths.append(plies / len(games))
    report("nodes per CPU second of the tournament / of the benchmark", ratios, "", "at least 0.85")
    report("plies per second", plies_a_second, "", GOALS[name])
    report("games per second", games_a_second, "")
    report("mean length", lengths, "plies")


if __name__ == "__main__":
    main()
