"""What reading settings at run time costs: the engine against a twin that has them compiled in.

The twin is a copy in a temporary folder whose kernels have the default's literal wherever they read a parameter; the
other side is an unchanged copy. Each run is a process of its own on one pinned core and counts its CPU time; runs
alternate, and both must search the same number of nodes. Printed is the median of the pairs with the interval of its
order statistics that covers it with at least 95 %.

    python benchmarks/switch_cost.py [pairs]
"""

from __future__ import annotations

import math
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from engine_twin import make_twin
from measuring import pin

from engine.parameters import BY_NAME, resolve, to_record

PAIRS = 20
NODES = 1_000_000
GOAL = 0.08

WORKER = f"""
import time
from engine.engine import Engine
from engine.games import game_named
from engine.limits import Limits
game = game_named("xiangqi")
engine = Engine("xiangqi")
engine.search(game.position(), Limits(nodes=1000))
nodes, seconds = 0, 0.0
for bench in game.bench_positions[:4]:
    position = game.position(bench.text)
    engine.new_game()
    start = time.thread_time()
    nodes += engine.search(position, Limits(nodes={NODES})).nodes
    seconds += time.thread_time() - start
import engine as package
print(nodes, seconds, package.__file__)
"""
"""What either side runs: plain searches of four positions with the default settings."""


def literal(name: str) -> str | None:
    """The default's value as the kernels read it."""
    if name not in BY_NAME:
        return None
    return f"({int(to_record(resolve({}, game='xiangqi'))[name])})"


def run(folder: Path) -> tuple[int, float]:
    """Nodes and CPU seconds of one process with the engine of that folder."""
    environment = {**os.environ, "PYTHONPATH": str(folder), "NUMBA_CACHE_DIR": str(folder / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", WORKER], check=True, capture_output=True, text=True, env=environment, cwd=folder
    )
    nodes, seconds, where = done.stdout.split()
    if Path(where).parent.parent != folder:
        raise RuntimeError(f"{where} was imported instead of the engine in {folder}")
    return int(nodes), float(seconds)


def median_interval(values: Sequence[float], coverage: float = 0.95) -> tuple[float, float]:
    """The narrowest symmetric pair of order statistics that covers the median with that probability (sign test).

    The whole range if there are too few values for it.
    """
    ordered = sorted(values)
    count = len(ordered)
    tail, rank = 0.0, 0
    while rank < count // 2:
        tail += math.comb(count, rank) / 2**count
        if 2 * tail > 1 - coverage:
            break
        rank += 1
    first = max(rank - 1, 0)
    return ordered[first], ordered[count - 1 - first]


def main() -> None:
    """Make both copies, run the pairs, print the cost."""
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else PAIRS
    pin()
    with tempfile.TemporaryDirectory() as name:
        base, twin = Path(name).resolve() / "base", Path(name).resolve() / "twin"
        make_twin(base, lambda _: None)
        replaced = make_twin(twin, literal)
        missing = sorted(set(BY_NAME) - set(replaced))
        print(f"{len(replaced)} reads of {len(set(replaced))} parameters replaced; not read by kernels: {missing}")
        # The first run of each compiles it.
        run(base)
        run(twin)
        costs = []
        for pair in range(pairs):
            order = (base, twin) if pair % 2 == 0 else (twin, base)
            found = {folder: run(folder) for folder in order}
            assert found[base][0] == found[twin][0], f"the twin plays otherwise: {found}"
            costs.append(1 - found[twin][1] / found[base][1])
            print(f"pair {pair + 1:>2}: {100 * costs[-1]:+6.2f} %", flush=True)
    low, high = median_interval(costs)
    print(
        f"run-time switches cost {100 * statistics.median(costs):.2f} % of the nodes per CPU second, 95 % interval "
        f"{100 * low:.2f} to {100 * high:.2f} % over {pairs} pairs   (goal: at most {100 * GOAL:.0f})"
    )


if __name__ == "__main__":
    main()
