"""What reading settings at run time costs: the engine against a twin that has them compiled in.

The twin is a copy in a temporary folder whose kernels have the default's literal wherever they read a parameter; the
other side is an unchanged copy. A pair is one process of each, on one pinned core, that search in turns of a fraction
of a second, so that both meet the same disturbances; each counts its CPU time, and both must search the same number of
nodes. Each pair has new processes, since the place of data and code in memory matters too. Printed is the median of
the pairs with the interval of its order statistics that covers it with at least 95 %.

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
from measuring import count_of, pin

from elolab.engine.settings.parameters import BY_NAME, resolve, to_record

PAIRS = 20
ROUNDS = 6
"""Turns of each side in a pair, every one a search of each position."""
NODES = 100_000
GOAL = 0.08

WORKER = f"""
import sys, time
from elolab.engine.engine import Engine
from elolab.engine.games import game_named
from elolab.engine.settings.limits import Limits
game = game_named("xiangqi")
engine = Engine("xiangqi")
positions = [game.position(bench.text) for bench in game.bench_positions[:4]]
engine.search(positions[0], Limits(nodes={NODES}))
import engine as package
print(package.__file__, flush=True)
for line in sys.stdin:
    nodes, seconds = 0, 0.0
    for position in positions:
        engine.new_game()
        start = time.thread_time()
        nodes += engine.search(position, Limits(nodes={NODES})).nodes
        seconds += time.thread_time() - start
    print(nodes, seconds, flush=True)
"""
"""What either side runs: plain searches of four positions with the default settings, for each line of input."""


def literal(name: str) -> str | None:
    """The default's value as the kernels read it; none of a file of weights, which every process keeps elsewhere."""
    if name not in BY_NAME or BY_NAME[name].kind == "weights":
        return None
    return f"({int(to_record(resolve({}, game='xiangqi'))[name])})"


class Side:
    """A process with the engine of a folder."""

    def __init__(self, folder: Path) -> None:
        environment = {**os.environ, "PYTHONPATH": str(folder), "NUMBA_CACHE_DIR": str(folder / "cache")}
        self._process = subprocess.Popen(
            [sys.executable, "-c", WORKER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
            cwd=folder,
        )
        assert self._process.stdout is not None
        where = self._process.stdout.readline().strip()
        if Path(where).parent.parent != folder:
            raise RuntimeError(f"{where or 'nothing'} was imported instead of the engine in {folder}")
        self.nodes, self.seconds = 0, 0.0

    def take_turn(self) -> None:
        """Search each position once."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("go\n")
        self._process.stdin.flush()
        nodes, seconds = self._process.stdout.readline().split()
        self.nodes += int(nodes)
        self.seconds += float(seconds)

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def cost_in_pair(base: Path, twin: Path) -> float:
    """The part of its speed that the base loses, by one process of each."""
    sides = [Side(base), Side(twin)]
    for turn in range(ROUNDS):
        for side in sides if turn % 2 == 0 else reversed(sides):
            side.take_turn()
    for side in sides:
        side.close()
    assert sides[0].nodes == sides[1].nodes, "the twin plays otherwise"
    return 1 - sides[1].seconds / sides[0].seconds


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
    pairs = count_of(__doc__, "pairs", PAIRS)
    pin()
    with tempfile.TemporaryDirectory() as name:
        base, twin = Path(name).resolve() / "base", Path(name).resolve() / "twin"
        make_twin(base, lambda _: None)
        replaced = make_twin(twin, literal)
        missing = sorted(set(BY_NAME) - set(replaced))
        print(f"{len(replaced)} reads of {len(set(replaced))} parameters replaced; not read by kernels: {missing}")
        # The first process of each compiles it.
        cost_in_pair(base, twin)
        costs = []
        for pair in range(pairs):
            costs.append(cost_in_pair(base, twin))
            print(f"pair {pair + 1:>2}: {100 * costs[-1]:+6.2f} %", flush=True)
    low, high = median_interval(costs)
    print(
        f"run-time switches cost {100 * statistics.median(costs):.2f} % of the nodes per CPU second, 95 % interval "
        f"{100 * low:.2f} to {100 * high:.2f} % over {pairs} pairs   (goal: at most {100 * GOAL:.0f})"
    )


if __name__ == "__main__":
    main()
