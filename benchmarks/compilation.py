"""Measures the processor seconds to compile the engine for a game, with elolab's method and with numba alone.

    python benchmarks/compilation.py [--repeats N] [GAME ...]

Every measurement is a new process. The two methods take turns. Each compiles with an empty cache and searches. It then
starts again with the filled cache, where nothing may be compiled, and searches. The last figure is the time of ``elolab
compile`` after a first search; it compiles the functions that a search does not use.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from measuring import report

GOAL = 0.6
"""Largest accepted ratio of elolab's compilation time to the time that numba alone takes."""
WAYS = {"elolab": "", "numba": "numba"}

_PROGRAM = """
import json, resource, sys, time
import numba.core.event as event
class Counter(event.Listener):
    count = 0
    def on_start(self, event):
        self.count += 1
    def on_end(self, event):
        pass
counter = Counter()
event.register("numba:compile", counter)
started = time.monotonic()
task, game = sys.argv[1:]
if task == "compile":
    from elolab.engine.compiled.compilation import compile_game
    compile_game(game)
else:
    from elolab.engine.engine import Engine
    from elolab.engine.games import game_named
    from elolab.engine.settings.limits import Limits
    engine, position = Engine(game), game_named(game).position()
    engine.search(position, Limits(depth=1))
result = {}
if task == "search":
    nodes, seconds = 0, 0.0
    for bench in game_named(game).bench_positions[:4]:
        engine.new_game()
        before = time.process_time()
        nodes += engine.search(game_named(game).position(bench.text), Limits(nodes=600_000)).nodes
        seconds += time.process_time() - before
    result["speed"] = nodes / seconds / 1e6
used = resource.getrusage(resource.RUSAGE_SELF)
result |= {
    "cpu": used.ru_utime + used.ru_stime, "wall": time.monotonic() - started, "functions": counter.count,
    "memory": used.ru_maxrss / 1024,
}
print(json.dumps(result))
"""


def _run(task: str, game: str, cache: str, way: str) -> dict[str, float]:
    environment = {**os.environ, "XDG_CACHE_HOME": cache, "ELOLAB_LINKING": WAYS[way]}
    environment.pop("NUMBA_CACHE_DIR", None)
    command = [sys.executable, "-c", _PROGRAM, task, game]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    measured: dict[str, float] = json.loads(done.stdout)
    return measured


def _measure(game: str, way: str) -> dict[str, float]:
    """All measurements of one method (``way``) of compiling a game, by name with unit."""
    with tempfile.TemporaryDirectory() as cache:
        cold = _run("compile", game, cache, way)
        warm = _run("compile", game, cache, way)
        search = _run("search", game, cache, way)
        size = sum(path.stat().st_size for path in Path(cache).rglob("*") if path.is_file()) / 1e6
    if warm["functions"]:
        raise RuntimeError(f"{way}: a second process compiled {warm['functions']} functions")
    with tempfile.TemporaryDirectory() as cache:
        first = _run("analyse", game, cache, way)
        second = _run("compile", game, cache, way)
    return {
        "cold, CPU s": cold["cpu"],
        "cold, wall s": cold["wall"],
        "compiled functions": cold["functions"],
        "memory, MiB": cold["memory"],
        "cache, MB": size,
        "warm, CPU s": warm["cpu"],
        "first analysis, CPU s": first["cpu"],
        "the rest after it, CPU s": second["cpu"],
        "M nodes per CPU s": search["speed"],
    }


def main() -> None:
    """Measure both methods in turns and print their ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*", metavar="GAME", default=["xiangqi", "othello"])
    parser.add_argument("--repeats", type=int, default=2)
    arguments = parser.parse_args()
    for game in arguments.games:
        print(game)
        pairs = [{way: _measure(game, way) for way in WAYS} for _ in range(arguments.repeats)]
        for figure in pairs[0]["elolab"]:
            name, _, unit = figure.partition(", ")
            for way in WAYS:
                report(f"  {name}, {way}", [pair[way][figure] for pair in pairs], unit)
            ratios = [pair["elolab"][figure] / pair["numba"][figure] for pair in pairs]
            report(f"  {name}, ratio", ratios, "times", f"at most {GOAL}" if figure == "cold, CPU s" else "")


if __name__ == "__main__":
    main()
