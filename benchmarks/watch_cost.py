"""Measures the cost of a viewer with all boards open: the ratio of a run's games per second with and without it.

Matches of the built-in engine on all processors are played in turns, one without and one with a viewer. The viewer is
``elolab watch`` in its own process, and a client that reads everything that the page with all boards would receive: the
events with the moves of all games, and the tables after each change. Drawing in a browser is not measured. Each repeat
is a pair of runs with the same seed and therefore the same games; their order alternates. On a busy machine this ratio
varies by more than the cost. So the processor time of the server while it follows the run is printed, too, as a share
of all processors (Linux).

    python benchmarks/watch_cost.py [repeats] [--games N] [--concurrency N] [--nodes N]
"""

from __future__ import annotations

import http.client
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from measuring import add_count, parser_of, report

TABLE_SECONDS = 2.0
"""Minimum interval, in seconds, at which the page loads each table after a change."""


class Viewer:
    """Context manager: ``elolab watch`` for a folder, with a client that loads everything the page would load."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.events = 0
        self.received = 0
        """Number of bytes of events received so far."""
        self.share = 0.0
        """Processor time of the server since the first event, as a share of the time of all processors."""

    def __enter__(self) -> Viewer:
        command = [sys.executable, "-m", "elolab", "watch", str(self._folder), "--wait", "--port", "0"]
        self._server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert self._server.stderr is not None
        found = re.search(r":(\d+)/", self._server.stderr.readline())
        assert found, "elolab watch has not started"
        self._port = int(found[1])
        self._over = threading.Event()
        self._first_event = time.monotonic(), 0.0
        self._threads = [threading.Thread(target=read, daemon=True) for read in (self._read_events, self._read_tables)]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        began, processor_began = self._first_event
        elapsed = (time.monotonic() - began) * (os.cpu_count() or 1)
        self.share = (self._processor_seconds() - processor_began) / elapsed
        self._over.set()
        self._server.terminate()
        self._server.wait()
        for thread in self._threads:
            thread.join(5)

    def _processor_seconds(self) -> float:
        """Processor seconds of the server so far; 0 if the system does not report processor times."""
        try:
            fields = Path(f"/proc/{self._server.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def _get(self, path: str) -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
        connection.request("GET", path)
        return connection.getresponse()

    def _run(self) -> str:
        return (self._get("/").getheader("location") or "").rstrip("/")

    def _read_events(self) -> None:
        answer = self._get(f"{self._run()}/events?boards=all")
        while not self._over.is_set():
            data = answer.read1(1 << 20)
            if not data:
                return
            if not self.received:
                self._first_event = time.monotonic(), self._processor_seconds()
            self.received += len(data)
            self.events += data.count(b"event: ")

    def _read_tables(self) -> None:
        run, seen = self._run(), -1
        while not self._over.wait(TABLE_SECONDS):
            if self.events != seen:
                seen = self.events
                for table in ("games", "openings"):
                    json.loads(self._get(f"{run}/{table}").read())


def games_per_second(folder: Path, games: int, concurrency: int, nodes: int, seed: int) -> float:
    """Play a match; return its games per second from the first stored game to the last."""
    command = [
        sys.executable, "-m", "elolab", "match", "default", "material", "--limit", f"nodes={nodes}", "--pairs",
        str(games // 2), "--concurrency", str(concurrency), "--seed", str(seed), "--out", str(folder),
    ]  # fmt: skip
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    from elolab.arena.play.store import Store

    with Store(folder, read_only=True) as store:
        rows = store.connection.execute("SELECT started_at, duration_ms FROM games").fetchall()
    from datetime import datetime

    begins = [datetime.fromisoformat(started).timestamp() for started, _ in rows]
    ends = [begin + duration / 1000 for begin, (_, duration) in zip(begins, rows, strict=True)]
    return len(rows) / (max(ends) - min(begins))


def main() -> None:
    parser = parser_of(__doc__)
    add_count(parser, "repeats", 5)
    parser.add_argument("--games", type=int, default=60, help="of each run (default 60)")
    parser.add_argument("--concurrency", type=int, default=os.cpu_count() or 1, help="default: all processors")
    parser.add_argument("--nodes", type=int, default=20_000, help="of each move (default 20000)")
    arguments = parser.parse_args()
    ratios, shares = [], []
    for repeat in range(arguments.repeats):
        speeds = {}
        for is_watched in (False, True) if repeat % 2 == 0 else (True, False):
            with tempfile.TemporaryDirectory() as place:
                folder = Path(place) / "run"
                settings = (folder, arguments.games, arguments.concurrency, arguments.nodes, repeat)
                if is_watched:
                    with Viewer(folder) as viewer:
                        speeds[True] = games_per_second(*settings)
                    assert viewer.events > 3, "the viewer has seen nothing"
                    shares.append(100 * viewer.share)
                    seen = f"{viewer.events} events of {viewer.received / max(1, viewer.events) / 1000:.1f} kB"
                else:
                    speeds[False] = games_per_second(*settings)
        ratios.append(speeds[True] / speeds[False])
        print(f"{speeds[False]:.3f} games/s alone, {speeds[True]:.3f} watched ({seen}): {ratios[-1]:.4f}", flush=True)
        time.sleep(1)
    report("speed with a viewer of all boards", ratios, "of the speed without", "above 0.99")
    report("processor time of the server", shares, "% of all processors", "under 1")


if __name__ == "__main__":
    main()
