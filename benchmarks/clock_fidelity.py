"""Measures the time that the arena adds to an engine's clock, and its processor time, with many games at a time.

The engines sleep (``free_engine.c``) and report how long they took by their own clock. The arena charges more; the
difference comes from the arena and the operating system. A move takes 100 ms. The limit is 100 ms per move with a
margin of 20 ms, so a move that is charged more than 120 ms loses the game. On a loaded machine an engine may oversleep:
the column ``own`` counts the forfeits in which the engine's own clock shows more than 120 ms too. Only elolab's games
have this column. With ``--against`` the engine also plays chess in fastchess, in turns with elolab. The times that
fastchess stores are truncated to milliseconds, so half a millisecond is added to each. They are exact to half a
millisecond only. Processor time per move counts the arena alone: the difference between a long and a short run, divided
by the difference in moves. By default games have only 16 plies, so starting and storing a game is a large part of this
cost.

    python benchmarks/clock_fidelity.py [--games-at-a-time 1 16 64 250] [--rounds 4] [--plies 16] [--against FASTCHESS]
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from measuring import arena_cost, long_game

if TYPE_CHECKING:
    from elolab.arena.records import GameRecord

SOURCE = Path(__file__).with_name("free_engine.c")
ENGINE = "free_engine"
THINK_MS = 100
MARGIN_MS = 20
_MOVE = re.compile(r"(\d+\.\d+)s, n=(\d+)")
_NODES = re.compile(r" nodes (\d+)")


class Measured(NamedTuple):
    """Measurements of one run."""

    added_ms: list[float]
    """Milliseconds that the arena adds to the time of each move, as the engine measures that time."""
    games: int
    forfeits: int
    own_forfeits: int | None
    """Forfeits in which the engine took too long by its own clock; ``None`` if unknown."""
    cpu_seconds: float
    """Processor time of the arena, in seconds."""


def main() -> None:
    """Measure and print one line for each arena and number of games."""
    if sys.argv[1:2] == ["--play"]:
        play_here(Path(sys.argv[2]), *map(int, sys.argv[3:]))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games-at-a-time", type=int, nargs="+", default=[1, 16, 64, 250])
    parser.add_argument("--rounds", type=int, default=4, help="games each slot plays in one turn (default 4)")
    parser.add_argument("--plies", type=int, default=16, help="length of each game (default 16)")
    parser.add_argument("--turns", type=int, default=1, help="how often each arena is measured (default 1)")
    parser.add_argument("--against", help="path of fastchess, to be measured in turns with elolab")
    arguments = parser.parse_args()
    _allow_many_files()
    plies: int = arguments.plies
    arenas: dict[str, Callable[[Path, int, int], Measured]] = {"elolab": partial(measure_elolab, plies)}
    if arguments.against:
        arenas["fastchess"] = partial(measure_fastchess, plies, arguments.against)
    print("arena      at a time  games   moves  forfeits  own   p50 ms   p99 ms  p99.9 ms  worst ms  cpu us a move")
    for count in arguments.games_at_a_time:
        runs: dict[str, list[Measured]] = {name: [] for name in arenas}
        costs: dict[str, list[float]] = {name: [] for name in arenas}
        for _ in range(arguments.turns):
            for name, measure in arenas.items():
                measured = []
                for games in (count, count * arguments.rounds):
                    with tempfile.TemporaryDirectory() as folder:
                        measured.append(measure(_prepared(Path(folder), plies), count, games))
                short, long = measured
                runs[name].append(long)
                more_moves = max(1, len(long.added_ms) - len(short.added_ms))
                costs[name].append(1e6 * (long.cpu_seconds - short.cpu_seconds) / more_moves)
        for name, long_runs in runs.items():
            print(_line(name, count, long_runs, statistics.mean(costs[name])), flush=True)


def _line(name: str, count: int, runs: Sequence[Measured], cpu_us: float) -> str:
    added = sorted(ms for run in runs for ms in run.added_ms)
    share = [added[min(len(added) - 1, int(part * len(added)))] for part in (0.5, 0.99, 0.999)]
    games, forfeits = sum(run.games for run in runs), sum(run.forfeits for run in runs)
    own = [run.own_forfeits for run in runs if run.own_forfeits is not None]
    return (
        f"{name:10} {count:9} {games:6} {len(added):7} {forfeits:9} {sum(own) if own else '-':>4} {share[0]:8.2f} "
        f"{share[1]:8.2f} {share[2]:9.2f} "
        f"{added[-1]:9.2f} {cpu_us:14.0f}"
    )


def _allow_many_files() -> None:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _prepared(folder: Path, plies: int) -> Path:
    """Compile the engine, and write a Xiangqi and a chess game for it into ``folder``; return the folder."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        raise SystemExit("no C compiler (cc)")
    subprocess.run([compiler, "-O2", "-o", str(folder / ENGINE), str(SOURCE)], check=True)
    for game in ("xiangqi", "chess"):
        (folder / f"{game}.moves").write_text("\n".join(long_game(game, plies + 2)))
    return folder


def measure_elolab(plies: int, folder: Path, count: int, games: int) -> Measured:
    """Play with elolab in a separate process; ``count`` games run at a time."""
    from elolab.arena.play.store import Store

    words = [sys.executable, __file__, "--play", str(folder), str(count), str(games), str(plies)]
    _, cpu_seconds, _ = arena_cost(words, folder, [ENGINE])
    with Store(folder / "run", read_only=True) as store:
        records = store.records()
    added = [move.time_ms - (move.nodes or 0) / 1000 for record in records for move in record.moves]
    forfeits = [record for record in records if record.reason in ("time_forfeit", "no_answer")]
    return Measured(added, len(records), len(forfeits), sum(map(_overslept, forfeits)), cpu_seconds)


def _overslept(record: GameRecord) -> bool:
    """Whether the engine that lost on time took too long by its own clock, according to its last line of output."""
    reported_us = _NODES.findall("\n".join(record.detail["dialogue"]))
    return bool(reported_us) and int(reported_us[-1]) / 1000 > THINK_MS + MARGIN_MS


def play_here(folder: Path, count: int, games: int, plies: int) -> None:
    """Play the games in this process, into the subfolder ``run`` of ``folder``; ``count`` games run at a time."""
    from elolab.arena.records import GameConditions, Opening, Pairing, PlayerSpec
    from elolab.arena.run import Purpose, Run
    from elolab.engine.games import game_named
    from elolab.engine.rules import Adjudication, Rules
    from elolab.engine.settings.limits import Limits

    command = (str(folder / ENGINE), str(folder / "xiangqi.moves"), "1", str(THINK_MS))
    limits = Limits.parse(f"move_time={THINK_MS / 1000:g}")
    first, second = (
        PlayerSpec(
            name, "uci", limits, command=command, options=(("ranks", "0"),), margin_ms=MARGIN_MS,
            start_timeout_ms=120_000,
        )
        for name in ("one", "other")
    )  # fmt: skip
    adjudication = Adjudication(resign_moves=0, draw_moves=0, maximum_plies=plies)
    conditions = GameConditions("xiangqi", Rules(), adjudication, seed=1)
    opening = Opening(game_named("xiangqi").start)
    jobs = [conditions.job(Pairing(number, number, 0, 1, 0), first, second, opening) for number in range(games)]
    with (
        open(os.devnull, "w") as nowhere,
        Run(
            folder / "run",
            Purpose("benchmark", {}, "benchmark"),
            stream=nowhere,
            concurrency=count,
            stop_after_faults=0,
        ) as run,
    ):
        run.play(jobs)


def measure_fastchess(plies: int, program: str, folder: Path, count: int, games: int) -> Measured:
    """Play with fastchess (``program``), which truncates times; half a millisecond is added to each move's time."""
    engine = [f"cmd={folder / ENGINE}", f"args={folder / 'chess.moves'} 1 {THINK_MS}"]
    words = [
        os.path.abspath(program), "-engine", *engine, "name=one", "-engine", *engine, "name=other",
        "-each", f"st={THINK_MS / 1000:g}", f"timemargin={MARGIN_MS}", "-rounds", str((games + 1) // 2), "-games", "2",
        "-repeat", "-concurrency", str(count), "-force-concurrency", "-maxmoves", str(plies // 2),
        "-pgnout", f"file={folder / 'games.pgn'}", "nodes=true", "append=false",
    ]  # fmt: skip
    _, cpu_seconds, _ = arena_cost(words, folder, [ENGINE])
    text = (folder / "games.pgn").read_text()
    added = [1000 * float(seconds) + 0.5 - int(us) / 1000 for seconds, us in _MOVE.findall(text)]
    return Measured(added, text.count("[Result "), text.count('[Termination "time forfeit"]'), None, cpu_seconds)


if __name__ == "__main__":
    main()
