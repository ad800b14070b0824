"""Games at 1000 nodes a move through ``elolab tournament`` itself, store, PGN and report included.

What is compared: the CPU time of a tournament, by the operating system's account of its whole process from start-up to
the last file of the report, with what the same nodes cost in plain searches, which are those of ``elolab bench`` under
the default settings, repeated in this process right before and right after each tournament.

Nodes are compared with nodes of their kind. Solving an Othello endgame makes several times as many nodes a second as
searching does; one of the benchmark's six positions is solved, but few of a tournament's nodes are. So the nodes of
moves that were solved to the end are counted at the solver's speed, all others at that of the searches. Beside the
ratio stand two others: with all of the benchmark's nodes thrown together, and without the fixed cost of a run, which is
that of a run of one pair.

    python benchmarks/arena_speed.py [repeats]
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from measuring import report

from arena.play.store import Store
from engine.bench import BenchSearch, searches_of, speed
from engine.games import game_named

SPECIFICATION = """\
name = "arena-speed"
game = "{game}"
pairs = {pairs}
seed = 1
limit = "nodes=1000"

[[players]]
preset = "default"

[[players]]
name = "window-100"
set = {{ aspiration_window = 100 }}
"""

PAIRS = 1000
GOALS = {"xiangqi": "at least 8400 on two cores", "othello": ""}
"""What is asked of plies per second."""
PLAIN_SECONDS = 2.0
"""CPU time of the plain searches before and again after each tournament."""


@dataclass(frozen=True)
class Run:
    """What one tournament did and took."""

    cpu_seconds: float
    wall_seconds: float
    games: int
    plies: int
    searched_nodes: int
    solved_nodes: int
    """Of moves whose search reached the end of the game."""


def main() -> None:
    """Measure and print both speeds and their ratio, for each game."""
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    for game in GOALS:
        print(game)
        _measure(game, repeats)


def _measure(name: str, repeats: int) -> None:
    ratios, mixed, lasting, runs = [], [], [], []
    _play(name, 1)  # whatever has to be compiled
    for _ in range(repeats):
        plain = _plain_searches(name)
        run, least = _play(name, PAIRS), _play(name, 1)
        plain += _plain_searches(name)
        searching = _seconds_per_node(speed(plain))
        solving = _seconds_per_node(speed(plain, solves=True))
        needed = run.searched_nodes * searching + run.solved_nodes * solving
        ratios.append(needed / run.cpu_seconds)
        lasting.append(needed / (run.cpu_seconds - least.cpu_seconds))
        together = sum(search.cpu_seconds for search in plain) / sum(search.nodes for search in plain)
        mixed.append((run.searched_nodes + run.solved_nodes) * together / run.cpu_seconds)
        runs.append(run)
    report("CPU time of plain searches / of the tournament, nodes of each kind", ratios, "", "at least 0.85")
    report("the same, all of the benchmark's nodes thrown together", mixed, "")
    report("the same of each kind, without what a run of one pair takes", lasting, "")
    solved, searched = runs[0].solved_nodes, runs[0].searched_nodes
    share = 100 * solved / (solved + searched)
    print(f"nodes of moves that were solved to the end: {share:.1f} % of {solved + searched}")
    report("plies per second", [run.plies / run.wall_seconds for run in runs], "", GOALS[name])
    report("games per second", [run.games / run.wall_seconds for run in runs], "")
    report("mean length", [run.plies / run.games for run in runs], "plies")


def _seconds_per_node(nodes_per_second: float | None) -> float:
    return 0.0 if nodes_per_second is None else 1 / nodes_per_second


def _plain_searches(name: str) -> list[BenchSearch]:
    """The benchmark's searches under the default settings, again and again."""
    list(searches_of(name, "default"))  # from cold caches
    found: list[BenchSearch] = []
    while sum(search.cpu_seconds for search in found) < PLAIN_SECONDS:
        found += searches_of(name, "default")
    return found


def _play(name: str, pairs: int) -> Run:
    """A tournament in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        specification = Path(folder) / "spec.toml"
        specification.write_text(SPECIFICATION.format(game=name, pairs=pairs))
        command = [sys.executable, "-m", "elolab", "tournament", str(specification), "--out", f"{folder}/run"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = time.monotonic()
        subprocess.run(command, check=True, capture_output=True)
        wall = time.monotonic() - start
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        with Store(Path(folder) / "run", read_only=True) as store:
            records = store.records()
    game = game_named(name)
    plies, searched, solved = 0, 0, 0
    for record in records:
        left = int(game.kernels.plies_left(game.position(record.opening.position, record.opening.moves).state))
        for entry in record.moves:
            if (entry.depth or 0) >= left:
                solved += entry.nodes or 0
            else:
                searched += entry.nodes or 0
            left -= entry.move != "pass"
        plies += len(record.moves)
    return Run(cpu, wall, len(records), plies, searched, solved)


if __name__ == "__main__":
    main()
