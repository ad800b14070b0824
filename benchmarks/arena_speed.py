"""Measures the games per second of a tournament of two built-in players, compared with its searches alone.

The players search 1000 nodes per move. A round plays a tournament (openings, rules, adjudication, schedule, progress,
store) with one game at a time per available processor, at most two. A tournament of one pair is subtracted, which
removes the start and the end of a run; compilation and the report are excluded. Directly before and after the
tournament, its searches are repeated without an arena, in as many threads (``plain_searches.py``). Their speed gives
the games per second that a tournament without any other cost would have. With ``--against`` another checkout plays the
same tournament, in turns with this one, in its own process with the same interpreter and packages.

Every ratio comes from one round. It is computed from processor time and from elapsed time. Other programs hardly
disturb processor time; elapsed time needs a quiet machine. On two shared cloud cores, for Xiangqi with 50 pairs and by
processor time, a tournament plays 0.92 to 0.95 of the games per second that plain searches allow (medians of two runs
of 5 repeats).

    python benchmarks/arena_speed.py [repeats] [--game NAME] [--pairs N] [--against CHECKOUT]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measuring import report

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
GAMES_AT_A_TIME = 2
GOALS = {"plain": "at least 0.9", "against": "at least 2"}


@dataclass(frozen=True)
class Measured:
    """Totals of some games, or of the searches in them: games, plies, nodes, processor time and elapsed time."""

    games: int
    plies: int
    nodes: int
    cpu_seconds: float
    wall_seconds: float

    def games_per_second(self, threads: int, *, cpu: bool) -> float:
        """Games per second of elapsed time; with ``cpu``, as if ``threads`` threads never waited for a processor."""
        return self.games / (self.cpu_seconds / threads if cpu else self.wall_seconds)


def main() -> None:
    """Measure and print the speeds of tournaments and of plain searches, and the ratios to compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repeats", nargs="?", type=int, default=5)
    parser.add_argument("--game", choices=("xiangqi", "othello"), default="xiangqi")
    parser.add_argument("--pairs", type=int, default=150)
    parser.add_argument("--against", type=Path, metavar="CHECKOUT", help="another version, which plays in turn")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        _work(arguments.game, arguments.pairs)
        return
    threads = min(GAMES_AT_A_TIME, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1)
    print(f"{arguments.game}, {arguments.pairs} pairs, {threads} games at a time")
    this = Version(Path(__file__).parents[1], arguments.game, arguments.pairs)
    other = None if arguments.against is None else Version(arguments.against, arguments.game, arguments.pairs)
    rounds: list[tuple[Measured, Measured, Measured | None]] = []
    for _ in range(arguments.repeats):
        before = this.ask("search", threads)
        played = this.ask("play", threads)
        after = this.ask("search", threads)
        plain = Measured(
            before.games + after.games, before.plies + after.plies, before.nodes + after.nodes,
            before.cpu_seconds + after.cpu_seconds, before.wall_seconds + after.wall_seconds,
        )  # fmt: skip
        rounds.append((played, plain, None if other is None else other.ask("play", threads)))
    _print(rounds, threads)
    this.close()
    if other is not None:
        other.close()


def _print(rounds: list[tuple[Measured, Measured, Measured | None]], threads: int) -> None:
    for name, played in (("this version", rounds[0][0]), ("the other", rounds[0][2])):
        if played is not None:
            lengths = played.plies / played.games, played.nodes / played.plies
            print(f"{name}: {lengths[0]:.1f} moves a game, {lengths[1]:.0f} nodes a move")
    report("plain searches", [one.nodes / one.cpu_seconds / 1e6 for _, one, _ in rounds], "M nodes per CPU s")
    for by, cpu in (("by processor time", True), ("by time passed", False)):
        allowed = [one.games_per_second(threads, cpu=cpu) for _, one, _ in rounds]
        own = [one.games_per_second(threads, cpu=cpu) for one, _, _ in rounds]
        other = [one.games_per_second(threads, cpu=cpu) for _, _, one in rounds if one is not None]
        print(by)
        report("  games a second that plain searches allow", allowed, "")
        report("  games a second of the tournament", own, "")
        report("  tournament / plain searches", _ratios(own, allowed), "", GOALS["plain"])
        if other:
            report("  games a second of the other version", other, "")
            report("  this version / the other", _ratios(own, other), "", GOALS["against"])


def _ratios(speeds: list[float], others: list[float]) -> list[float]:
    return [speed / other for speed, other in zip(speeds, others, strict=True)]


class Version:
    """A process that runs one checkout's code, has compiled everything it needs, and waits for work."""

    def __init__(self, checkout: Path, game: str, pairs: int) -> None:
        command = [sys.executable, __file__, "--worker", "--game", game, "--pairs", str(pairs)]
        environment = {**os.environ, "PYTHONPATH": str(checkout.resolve())}
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        self.ask("load", 1)

    def ask(self, work: str, threads: int) -> Measured:
        """Let the process do ``work``, one of the kinds that ``_work`` accepts; return the measurements."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{work} {threads}\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit("a version has ended before its work was done")
        return Measured(**json.loads(line))

    def close(self) -> None:
        self._process.communicate()


def _work(game: str, pairs: int) -> None:
    """Do the work that each line of standard input names, and print its measurements as JSON.

    A line is ``load``, ``play`` or ``search``, followed by a number of threads.
    """
    from elolab.arena.tournament_reader import load_tournament

    searcher: Any = None
    records: list[Any] = []
    with tempfile.TemporaryDirectory() as folder:
        specifications = {}
        for kind, count in (("load", 1), ("play", pairs)):
            path = Path(folder) / f"{kind}.toml"
            path.write_text(SPECIFICATION.format(game=game, pairs=count))
            specifications[kind] = load_tournament(path)
        for line in sys.stdin:
            work, threads = line.split()
            if work == "load":
                measured, _ = _play(specifications["load"], int(threads))
            elif work == "play":
                least, _ = _play(specifications["load"], int(threads))
                measured, _ = _play(specifications["play"], int(threads))
                measured = _difference(measured, least)
            else:
                if searcher is None:
                    from plain_searches import Searcher

                    _, records = _play(specifications["play"], int(threads))
                    searcher = Searcher(game, specifications["play"].rules, specifications["play"].players, records)
                searched = searcher(int(threads))
                measured = _figures(records, searched.cpu_seconds, searched.wall_seconds)
            print(json.dumps(vars(measured)), flush=True)


def _play(specification: Any, threads: int) -> tuple[Measured, list[Any]]:
    """Play a tournament in a temporary folder; return its measurements and its games."""
    from elolab.arena.play.store import Store
    from elolab.arena.play.tournament_run import run

    with tempfile.TemporaryDirectory() as folder, open(os.devnull, "w") as nowhere:
        directory = Path(folder) / "run"
        cpu, wall = time.process_time(), time.monotonic()
        run(specification, directory, concurrency=threads, stream=nowhere)
        cpu, wall = time.process_time() - cpu, time.monotonic() - wall
        with Store(directory, read_only=True) as store:
            records = store.records()
    return _figures(records, cpu, wall), records


def _difference(more: Measured, less: Measured) -> Measured:
    return Measured(*(getattr(more, name) - getattr(less, name) for name in Measured.__dataclass_fields__))


def _figures(records: list[Any], cpu_seconds: float, wall_seconds: float) -> Measured:
    moves = [move for record in records for move in record.moves]
    return Measured(len(records), len(moves), sum(move.nodes for move in moves), cpu_seconds, wall_seconds)


if __name__ == "__main__":
    main()
