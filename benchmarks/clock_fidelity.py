"""What the arena adds to an engine's clock, with many games at a time, and what it costs.

The engines sleep (``free_engine.c``) and report how long they took by their own clock. The difference to the time
that the arena charges is what arena and system add. Their moves take 100 ms, the limit is 100 ms a move with a margin
of 20 ms, so a move that is charged with more than 120 ms loses the game. With ``--against`` the same engine also plays
in fastchess (chess instead of Xiangqi), in turns with elolab. fastchess stores whole milliseconds, cut off; half a
millisecond is added to each of its times, and its figures are exact to half a millisecond only. Processor time a move
is that of the arena alone, in the middle of its run.

    python benchmarks/clock_fidelity.py [--games-at-a-time 1 16 64 250] [--rounds 4] [--against FASTCHESS]
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
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).with_name("free_engine.c")
THINK_MS = 100
MARGIN_MS = 20
PLIES = 16
XIANGQI = "a3a4 a6a5 c3c4 c6c5 e3e4 e6e5 g3g4 g6g5 i3i4 i6i5 b2a2 b7a7 h2i2 h7i7 a0a1 a9a8"
CHESS = "a2a3 a7a6 b2b3 b7b6 c2c3 c7c6 d2d3 d7d6 e2e3 e7e6 f2f3 f7f6 g2g3 g7g6 h2h3 h7h6"
_MOVE = re.compile(r"(\d+\.\d+)s, n=(\d+)")


class Measured(NamedTuple):
    """The moves of one run."""

    added_ms: list[float]
    """What was added to each move."""
    games: int
    forfeits: int
    cpu_us: float
    """Processor time of the arena a move in microseconds, in the middle of the run."""


def main() -> None:
    """Measure and print one line for each arena and number of games."""
    if sys.argv[1:2] == ["--play"]:
        play_here(Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), sys.argv[5])
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games-at-a-time", type=int, nargs="+", default=[1, 16, 64, 250])
    parser.add_argument("--rounds", type=int, default=4, help="games each slot plays in one turn (default 4)")
    parser.add_argument("--turns", type=int, default=1, help="how often each arena is measured (default 1)")
    parser.add_argument("--against", help="path of fastchess, to be measured in turns with elolab")
    arguments = parser.parse_args()
    _allow_many_files()
    arenas: dict[str, Callable[[Path, int, int], Measured]] = {"elolab": measure_elolab}
    if arguments.against:
        arenas["fastchess"] = lambda folder, count, games: measure_fastchess(arguments.against, folder, count, games)
    print("arena      at a time  games   moves  forfeits   p50 ms   p99 ms  p99.9 ms  worst ms  cpu us a move")
    for count in arguments.games_at_a_time:
        runs: dict[str, list[Measured]] = {name: [] for name in arenas}
        for _ in range(arguments.turns):
            for name, measure in arenas.items():
                with tempfile.TemporaryDirectory() as folder:
                    runs[name].append(measure(_prepared(Path(folder)), count, count * arguments.rounds))
        for name, measured in runs.items():
            print(_line(name, count, measured), flush=True)


def _line(name: str, count: int, runs: Sequence[Measured]) -> str:
    added = sorted(ms for run in runs for ms in run.added_ms)
    share = [added[min(len(added) - 1, int(part * len(added)))] for part in (0.5, 0.99, 0.999)]
    games, forfeits = sum(run.games for run in runs), sum(run.forfeits for run in runs)
    cpu = statistics.mean(run.cpu_us for run in runs)
    return (
        f"{name:10} {count:9} {games:6} {len(added):7} {forfeits:9} {share[0]:8.2f} {share[1]:8.2f} {share[2]:9.2f} "
        f"{added[-1]:9.2f} {cpu:14.0f}"
    )


def _allow_many_files() -> None:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _prepared(folder: Path) -> Path:
    """The folder with the engine and the moves of both games."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        raise SystemExit("no C compiler (cc)")
    subprocess.run([compiler, "-O2", "-o", str(folder / "free_engine"), str(SOURCE)], check=True)
    (folder / "xiangqi.moves").write_text(XIANGQI.replace(" ", "\n"))
    (folder / "chess.moves").write_text(CHESS.replace(" ", "\n"))
    return folder


def measure_elolab(folder: Path, count: int, games: int) -> Measured:
    """Play with elolab in a process of its own."""
    words = [sys.executable, __file__, "--play", str(folder), str(count), str(games), str(folder / "results")]
    cpu_us = _cpu_of(words, THINK_MS, count)
    lines = (folder / "results").read_text().splitlines()
    forfeits, played = map(int, lines[0].split())
    return Measured([float(line) for line in lines[1:]], played, forfeits, cpu_us)


def play_here(folder: Path, count: int, games: int, results: str) -> None:
    """Play the games in this process; write forfeits and games, and then what was added to each move."""
    from elolab.arena.play.store import Store
    from elolab.arena.records import GameConditions, Opening, Pairing, PlayerSpec
    from elolab.arena.run import Purpose, Run
    from elolab.engine.games import game_named
    from elolab.engine.rules import Adjudication, Rules
    from elolab.engine.settings.limits import Limits

    command = (str(folder / "free_engine"), str(folder / "xiangqi.moves"), "1", str(THINK_MS))
    limits = Limits.parse(f"move_time={THINK_MS / 1000:g}")
    first, second = (
        PlayerSpec(
            name, "uci", limits, command=command, options=(("ranks", "0"),), margin_ms=MARGIN_MS,
            start_timeout_ms=120_000,
        )
        for name in ("one", "other")
    )  # fmt: skip
    adjudication = Adjudication(resign_moves=0, draw_moves=0, maximum_plies=PLIES)
    conditions = GameConditions("xiangqi", Rules(), adjudication, seed=1)
    opening = Opening(game_named("xiangqi").start)
    jobs = [conditions.job(Pairing(number, number, 0, 1, 0), first, second, opening) for number in range(games)]
    with (
        open(os.devnull, "w") as nowhere,
        Run(folder / "run", Purpose("benchmark", {}, "benchmark"), stream=nowhere, concurrency=count) as run,
    ):
        run.play(jobs)
    with Store(folder / "run", read_only=True) as store:
        records = store.records()
    added = [move.time_ms - (move.nodes or 0) / 1000 for record in records for move in record.moves]
    forfeits = sum(record.reason in ("time_forfeit", "no_answer") for record in records)
    Path(results).write_text("\n".join([f"{forfeits} {len(records)}", *(f"{ms:.4f}" for ms in added)]))


def measure_fastchess(program: str, folder: Path, count: int, games: int) -> Measured:
    """Play with fastchess; half a millisecond is added to its times, which are cut off."""
    engine = [f"cmd={folder / 'free_engine'}", f"args={folder / 'chess.moves'} 1 {THINK_MS}"]
    words = [
        os.path.abspath(program), "-engine", *engine, "name=one", "-engine", *engine, "name=other",
        "-each", f"st={THINK_MS / 1000:g}", f"timemargin={MARGIN_MS}", "-rounds", str((games + 1) // 2), "-games", "2",
        "-repeat", "-concurrency", str(count), "-force-concurrency", "-maxmoves", str(PLIES // 2),
        "-pgnout", f"file={folder / 'games.pgn'}", "nodes=true", "append=false",
    ]  # fmt: skip
    cpu_us = _cpu_of(words, THINK_MS, count, folder)
    text = (folder / "games.pgn").read_text()
    added = [1000 * float(seconds) + 0.5 - int(us) / 1000 for seconds, us in _MOVE.findall(text)]
    return Measured(added, text.count("[Result "), text.count('[Termination "time forfeit"]'), cpu_us)


def _cpu_of(words: Sequence[str], think_ms: int, count: int, folder: Path | None = None) -> float:
    """Run a program; returns its own processor time a move in microseconds, in the middle of its run."""
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=folder)
    errors: list[bytes] = []
    assert process.stderr is not None
    reader = threading.Thread(target=lambda: errors.append(process.stderr.read()))  # type: ignore[union-attr]
    reader.start()
    samples: list[tuple[float, float]] = []
    while process.poll() is None:
        seconds = _cpu_seconds(process.pid)
        if seconds is not None:
            samples.append((time.monotonic(), seconds))
        time.sleep(0.05)
    reader.join()
    if process.returncode:
        raise SystemExit(f"{words[0]} ended with {process.returncode}: {errors[0].decode()[-2000:]}")
    begin, end = samples[len(samples) // 2], samples[9 * len(samples) // 10]
    moves = (end[0] - begin[0]) * 1000 / think_ms * count
    return 1e6 * (end[1] - begin[1]) / moves


def _cpu_seconds(number: int) -> float | None:
    """Processor time of a process without its children; ``None`` if it is gone or the system does not say."""
    try:
        fields = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
