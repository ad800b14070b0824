"""What it costs a run to be watched: processor time and wall time a game, with and without, in turns.

    python benchmarks/watch_cost.py [repeats] [--pairs N] [--nodes N] [--browser]

The same match is played again and again in a process of its own, every second time with ``elolab watch`` serving its
folder, also in a process of its own, to one reader of the event stream over a plain socket; with ``--browser``, to a
headless Chromium instead. Each repeat is a pair of runs, whose order changes, and gives one ratio. Processor time is
the steadier of the two, as the system counts it for the whole run with its start; where processors are fewer than what
runs, the wall time also holds what the watcher takes from the run. At last, in this process: what publishing moves adds
to ``live.json``, a second, and to a game.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import io
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from measuring import report

from elolab.arena.play.live import Progress
from elolab.arena.play.store import Store
from elolab.arena.records import GameConditions, Opening, Pairing, PlayerSpec, RunningGame, no_moves
from elolab.engine.games import game_named
from elolab.engine.play import PlayedMoves
from elolab.engine.rules import Adjudication, Rules
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.parameters import resolve

ROOT = Path(__file__).resolve().parent.parent
CHROMIUM = "chromium"
GAMES_RUNNING = 16
MOVES_MADE = 100
PUBLICATIONS = 200


@dataclass(frozen=True)
class Cost:
    """Of one run."""

    games: int
    cpu_seconds: float
    wall_seconds: float


def played(folder: Path, pairs: int, nodes: int) -> Cost:
    """Play the match in a new process."""
    words = ("match", "default", "material", "--pairs", str(pairs), "--limit", f"nodes={nodes}", "--out", str(folder))
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "elolab", *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT
    )
    _, status, usage = os.wait4(process.pid, 0)
    elapsed = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"the match in {folder} ended with exit code {process.returncode}")
    with Store(folder, read_only=True) as store:
        return Cost(len(store), usage.ru_utime + usage.ru_stime, elapsed)


def cpu_seconds(process: subprocess.Popen[str]) -> float:
    """What a process has used so far."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Watched:
    """A folder that is served and read."""

    def __init__(self, folder: Path, browser: bool) -> None:
        self._server = subprocess.Popen(
            [sys.executable, "-m", "elolab", "watch", str(folder), "--wait", "--port", "0"],
            stderr=subprocess.PIPE, text=True, cwd=ROOT,
        )  # fmt: skip
        assert self._server.stderr is not None
        line = self._server.stderr.readline()
        address = next((word for word in line.split() if word.startswith("http://")), "")
        if not address:
            raise SystemExit(f"elolab watch: {line.strip()}")
        self.bytes = 0
        self._reader = None if browser else threading.Thread(target=self._read, args=(address,), daemon=True)
        self._browser: subprocess.Popen[bytes] | None = None
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        if self._reader is not None:
            self._reader.start()
        else:
            words = ("--headless", "--no-sandbox", "--remote-debugging-port=0", f"--user-data-dir={self._profile.name}")
            self._browser = subprocess.Popen(
                [CHROMIUM, *words, address], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
        self._began, self._used = time.perf_counter(), cpu_seconds(self._server)

    def _read(self, address: str) -> None:
        place = urlsplit(address)
        connection = http.client.HTTPConnection(place.netloc)
        connection.request("GET", "/")
        found = connection.getresponse()
        found.read()
        connection.request("GET", f"{urlsplit(found.getheader('location', '/')).path}events")
        with contextlib.suppress(OSError, http.client.HTTPException):
            events = connection.getresponse()
            while some := events.read1(65536):
                self.bytes += len(some)

    def figures(self) -> tuple[float, float]:
        """The server's processor seconds and the bytes of events, a second since it began to be read."""
        elapsed = time.perf_counter() - self._began
        return (cpu_seconds(self._server) - self._used) / elapsed, self.bytes / elapsed

    def close(self) -> None:
        """End all of it."""
        if self._browser is not None:
            self._browser.terminate()
            self._browser.wait()
        self._server.send_signal(signal.SIGINT)
        self._server.wait()
        self._profile.cleanup()


@contextlib.contextmanager
def watched(folder: Path, browser: bool) -> Iterator[Watched]:
    """The folder being watched."""
    watching = Watched(folder, browser)
    try:
        yield watching
    finally:
        watching.close()


def measure_runs(repeats: int, pairs: int, nodes: int, *, browser: bool) -> None:
    """Play with and without, in turns, and print ratios."""
    cpu_ratios, wall_ratios, used, sent, speeds = [], [], [], [], []
    with tempfile.TemporaryDirectory() as place:
        played(Path(place) / "first", 2, nodes)  # so that everything is compiled
        for repeat in range(repeats):
            costs: dict[bool, Cost] = {}
            for is_watched in (False, True) if repeat % 2 else (True, False):
                folder = Path(place) / f"{repeat}-{is_watched}"
                if is_watched:
                    with watched(folder, browser) as watching:
                        costs[True] = played(folder, pairs, nodes)
                        share, rate = watching.figures()
                    used.append(share)
                    sent.append(rate)
                else:
                    costs[False] = played(folder, pairs, nodes)
                shutil.rmtree(folder)
            speeds.append(costs[False].games / costs[False].wall_seconds)
            cpu_ratios.append(costs[True].cpu_seconds / costs[False].cpu_seconds)
            wall_ratios.append(costs[True].wall_seconds / costs[False].wall_seconds)
    report("games a second, not watched", speeds, "", "about 100")
    report("processor time of a run, watched to not watched", cpu_ratios, "", "at most 1.01")
    report("wall time of a run, watched to not watched", wall_ratios, "", "at most 1.01")
    report("the watcher's processor seconds a second", used, "s/s")
    if not browser:
        report("events", [rate / 1000 for rate in sent], "kB/s")


def measure_publishing(repeats: int) -> None:
    """What games in progress with their moves add to ``live.json`` and to a game."""
    game = game_named("xiangqi")
    played_moves = PlayedMoves(game.name)
    codes = game.position(None, ()).move_codes()
    played_moves.record.moves[:MOVES_MADE] = [codes[place % len(codes)] for place in range(MOVES_MADE)]
    played_moves.record.scores[:MOVES_MADE] = range(MOVES_MADE)
    player = PlayerSpec("player", "builtin", Limits.parse("nodes=100"), parameters=tuple(resolve({}).items()))
    conditions = GameConditions(game.name, Rules(), Adjudication(), 1)
    jobs = [
        conditions.job(Pairing(number, number, 0, 1, 0), player, player, Opening(game.start))
        for number in range(GAMES_RUNNING)
    ]
    with_moves, without, making = [], [], []
    sizes: dict[object, int] = {}
    with tempfile.TemporaryDirectory() as folder:
        progress = Progress(io.StringIO(), live_file=Path(folder) / "live.json")
        for _ in range(repeats):
            for read, times in ((played_moves.read, with_moves), (no_moves, without)):
                running = [RunningGame(job, 1.0, read) for job in jobs]
                began = time.process_time()
                for _ in range(PUBLICATIONS):
                    progress.publish(running)
                times.append((time.process_time() - began) / PUBLICATIONS * 1e3)
                sizes[read] = (Path(folder) / "live.json").stat().st_size
            began = time.process_time()
            for _ in range(PUBLICATIONS):
                PlayedMoves(game.name)
            making.append((time.process_time() - began) / PUBLICATIONS * 1e6)
    games = f"{GAMES_RUNNING} games of {MOVES_MADE} moves"
    report(f"live.json with {games} ({sizes[played_moves.read] / 1000:.0f} kB), once a second", with_moves, "ms")
    report("the same without their moves", without, "ms")
    report("arrays of its own for a game", making, "us")


def main() -> None:
    """Measure both."""
    parser = argparse.ArgumentParser(description="What it costs a run to be watched.")
    parser.add_argument("repeats", nargs="?", type=int, default=10)
    parser.add_argument("--pairs", type=int, default=350, help="of the match that is played (default 350)")
    parser.add_argument("--nodes", type=int, default=700, help="a move (default 700)")
    parser.add_argument("--browser", action="store_true", help="let a headless Chromium look on, not a plain reader")
    arguments = parser.parse_args()
    if arguments.browser and shutil.which(CHROMIUM) is None:
        print(f"{CHROMIUM} is not installed; nothing measured")
        return
    measure_publishing(arguments.repeats)
    measure_runs(arguments.repeats, arguments.pairs, arguments.nodes, browser=arguments.browser)


if __name__ == "__main__":
    main()
