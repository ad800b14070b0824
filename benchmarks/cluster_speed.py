"""What it costs to play on a Dask cluster: games a second there and here, and what a chunk takes beside its games.

Scheduler and workers are processes of their own on this machine, over TCP. Every repeat plays the same games with one
and with two threads of one process, and then with one and with two workers of one thread each; the figures are ratios
within the repeat, so that a machine that is slower for a while is so for both. The client, which stores the games, and
the scheduler share the processors with the workers. What a chunk costs is that of chunks without games, sent one after
another; in relation to ``CHUNK_SECONDS`` it is what a run pays.

    python benchmarks/cluster_speed.py [repeats]
"""

from __future__ import annotations

import io
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

from local_cluster import LocalCluster  # noqa: E402
from measuring import count_of, report  # noqa: E402

from elolab.arena.cluster.dask_cluster import DaskSite  # noqa: E402
from elolab.arena.cluster.runner import CHUNK_SECONDS  # noqa: E402
from elolab.arena.cluster.worker import Chunk  # noqa: E402
from elolab.arena.play import tournament  # noqa: E402
from elolab.arena.provenance.sources import sources_digest  # noqa: E402
from elolab.arena.spec import spec_from_mapping  # noqa: E402
from elolab.arena.tournament_spec import TournamentSpec  # noqa: E402
from elolab.engine.compiled.identity import engine_identity  # noqa: E402

PAIRS = 400
"""For each thread: about half a minute of games."""
CHUNKS = 200
WARMUP_PAIRS = 20


def match(pairs: int) -> TournamentSpec:
    """Othello at 1000 nodes a move."""
    players = [{"name": "base"}, {"name": "window-100", "set": {"aspiration_window": 100}}]
    content = {"game": "othello", "format": "match", "pairs": pairs, "limit": "nodes=1000", "players": players}
    return spec_from_mapping({**content, "name": "cluster-speed"}, "cluster_speed.py")


def games_per_second(pairs: int, threads: int, cluster: str | None = None) -> float:
    """Of a run, from its beginning to its last game."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        result = tournament.run(
            match(pairs), Path(folder) / "run", concurrency=threads, cluster=cluster, stream=io.StringIO()
        )
        return result.stored / (time.perf_counter() - began)


def chunk_ms(address: str) -> list[float]:
    """Milliseconds of each of ``CHUNKS`` chunks without games."""
    site = DaskSite(address, print)
    try:
        (worker,) = site.workers().values()
        times = []
        for number in range(CHUNKS):
            began = time.perf_counter()
            chunk = Chunk("benchmark", number, (), engine_identity(), sources_digest())
            worker.executor.submit(worker.play, chunk).result()
            times.append(1000 * (time.perf_counter() - began))
        return times
    finally:
        site.close()


def main() -> None:
    repeats = count_of(__doc__, "repeats", 5)
    ratios: dict[int, list[float]] = {1: [], 2: []}
    with tempfile.TemporaryDirectory() as folder, LocalCluster(Path(folder)) as cluster:
        cluster.start_worker("first")
        cluster.wait_for_workers(1)
        games_per_second(WARMUP_PAIRS, 1)
        games_per_second(WARMUP_PAIRS, 1, cluster.address)
        times = chunk_ms(cluster.address)
        report("a chunk without games", times, "ms")
        report("the same of a chunk's length", [time_ms / CHUNK_SECONDS / 10 for time_ms in times], "%", "below 5")
        for _ in range(repeats):
            for workers, pairs in ((1, PAIRS), (2, 2 * PAIRS)):
                if workers == 2:
                    cluster.start_worker("second")
                    cluster.wait_for_workers(2)
                    games_per_second(2 * WARMUP_PAIRS, 2, cluster.address)
                here = games_per_second(pairs, workers)
                there = games_per_second(pairs, workers, cluster.address)
                ratios[workers].append(100 * there / here)
                print(f"  {workers} at a time: {here:.1f} games a second here, {there:.1f} on workers", flush=True)
            cluster.kill("second")
    for workers, values in ratios.items():
        report(f"games a second with {workers} workers, of those with {workers} threads", values, "%", "at least 95")


if __name__ == "__main__":
    main()
