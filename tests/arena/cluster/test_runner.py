"""Games in chunks on whatever executor: equal games, workers that end, players that are not everywhere."""

from __future__ import annotations

import hashlib
import itertools
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from elolab import command_line
from elolab.arena.cluster import worker
from elolab.arena.cluster.runner import MOST_LOSSES, ClusterRunner
from elolab.arena.cluster.site import ClusterError, ExecutorSite, RefusedWorker, Site, Worker
from elolab.arena.cluster.worker import Chunk, ChunkGame, Order, PlayedChunk, carry_out, play_chunk
from elolab.arena.play import executor
from elolab.arena.play.executor import GameRunner
from elolab.arena.players.processors import PlayerLoad
from elolab.arena.provenance.record import GameFile, files_of
from elolab.arena.provenance.sources import sources_digest
from elolab.arena.records import (
    GameConditions,
    GameJob,
    GameRecord,
    Opening,
    Pairing,
    PlayerSpec,
    games_digest,
)
from elolab.engine.compiled.identity import engine_identity
from elolab.engine.engine import StopFlag
from elolab.engine.games import game_named
from elolab.engine.rules import Adjudication, Rules
from elolab.engine.settings.configuration import find_config
from elolab.engine.settings.limits import Limits
from tests.support.marked_processes import wait_until
from tests.support.small_games import jobs_of

MOCK = Path(__file__).parents[2] / "support" / "mock_engines.py"


class Threads(Site):
    """Workers that are threads of this process."""

    def __init__(self, *names: str, play: Callable[[Chunk], PlayedChunk] = play_chunk) -> None:
        self.here = {name: Worker(name, name, 1, ThreadPoolExecutor(1), play) for name in names}
        self.turned_away: dict[str, RefusedWorker] = {}
        self.orders: list[Order] = []

    def workers(self) -> Mapping[str, Worker]:
        if not self.here:
            raise ClusterError(f"none is left: {self.turned_away}")
        return self.here

    def refused(self) -> Mapping[str, RefusedWorker]:
        return self.turned_away

    def refuse(self, worker: Worker, reason: str) -> None:
        self.here = {name: one for name, one in self.here.items() if one is not worker}
        self.turned_away[worker.address] = RefusedWorker(worker.name, reason)

    def lose(self, name: str) -> None:
        self.here = {other: one for other, one in self.here.items() if other != name}

    is_connected = True  # type: ignore[assignment]

    def given_up(self) -> str:
        return ""

    def is_loss(self, error: BaseException) -> bool:
        return isinstance(error, CancelledError | OSError)

    def send_order(self, order: Order) -> None:
        self.orders.append(order)
        carry_out(order)

    def ask_for_dialogue(self, run: str, chunk: int) -> None:
        self.send_order(Order(run, chunk, "dialogue"))

    def close(self) -> None:
        pass


class Reporting(Threads):
    """A worker that reports its games in progress."""

    def __init__(self) -> None:
        super().__init__("one", play=lambda chunk: play_chunk(chunk, report=partial(self.hear, chunk.number)))
        self.heard: list[tuple[int, ChunkGame]] = []

    def hear(self, chunk: int, games: list[ChunkGame]) -> None:
        self.heard = [(chunk, game) for game in games]

    def running(self, run: str) -> list[tuple[int, ChunkGame]]:
        return self.heard


def named_result(job: GameJob) -> GameRecord:
    """A record without a game."""
    return GameRecord(job.key, job.pairing, job.first.name, job.second.name, job.opening, (), "1-0", "mate", "here")


def made_up(chunk: Chunk) -> PlayedChunk:
    return PlayedChunk(tuple(map(named_result, chunk.jobs)), seconds=0.001 * len(chunk.jobs))


def played_here(jobs: list[GameJob]) -> str:
    with GameRunner(1, StopFlag()) as runner:
        return games_digest(list(runner.run(jobs)))


@pytest.mark.integration
def test_processes_play_the_games_that_this_one_plays() -> None:
    jobs = jobs_of(12)
    with ProcessPoolExecutor(2) as executor, ClusterRunner(ExecutorSite(executor, 2), StopFlag()) as runner:
        assert games_digest(list(runner.run(jobs))) == played_here(jobs)


@pytest.mark.integration
def test_chunks_grow_as_games_are_quick_and_shrink_towards_the_end() -> None:
    sent: dict[int, int] = {}

    def play(chunk: Chunk) -> PlayedChunk:
        sent[chunk.number] = len(chunk.jobs)
        return made_up(chunk)

    jobs = jobs_of(400)
    with ClusterRunner(Threads("one", "two", play=play), StopFlag()) as runner:
        records = list(runner.run(jobs))
    assert sorted(record.key for record in records) == sorted(job.key for job in jobs)
    sizes = [size for _, size in sorted(sent.items())]  # two workers need not begin in the order of sending
    assert sizes[0] == 1
    assert max(sizes) > 16
    assert sizes[-1] == 1


@pytest.mark.integration
def test_jobs_are_read_no_further_than_workers_need() -> None:
    jobs, read = jobs_of(400), []

    def source() -> Iterator[GameJob]:
        for job in jobs:
            read.append(job)
            yield job

    with ClusterRunner(Threads("one", play=made_up), StopFlag()) as runner:
        assert next(runner.batches(source()))
        assert len(read) < 20


def test_a_schedule_that_waits_for_results_is_asked_again() -> None:
    jobs, ended = jobs_of(12), 0

    def source() -> Iterator[GameJob | None]:
        for place, job in enumerate(jobs):
            while ended < place - place % 4:
                yield None
            yield job

    with ClusterRunner(Threads("one", "two", play=made_up), StopFlag()) as runner:
        for batch in runner.batches(source()):
            ended += len(batch)
    assert ended == len(jobs)


def test_a_worker_that_goes_leaves_its_games_to_the_others() -> None:
    site = Threads("stays", "goes")
    block = threading.Event()

    def never(chunk: Chunk) -> PlayedChunk:
        site.lose("goes")
        block.wait(30)
        return made_up(chunk)

    site.here["goes"] = replace(site.here["goes"], play=never)
    jobs = jobs_of(8)
    with ClusterRunner(site, StopFlag()) as runner:
        records = list(runner.run(jobs))
        block.set()
    assert games_digest(records) == played_here(jobs)
    assert {worker["name"]: worker["state"] for worker in runner.workers()} == {"stays": "idle", "goes": "gone"}


def test_a_game_that_ends_one_worker_after_another_ends_the_run_with_its_name() -> None:
    jobs = jobs_of(20)
    site = Threads()
    names = (f"worker {number}" for number in itertools.count())
    lock = threading.Lock()

    def join() -> None:
        name = next(names)

        def play(chunk: Chunk) -> PlayedChunk:
            if jobs[5] in chunk.jobs:
                with lock:
                    site.lose(name)
                    join()
                threading.Event().wait(0.05)
                raise OSError("killed")
            return made_up(chunk)

        site.here = {**site.here, name: Worker(name, name, 1, ThreadPoolExecutor(1), play)}

    join()
    stored: list[GameRecord] = []
    with ClusterRunner(site, StopFlag()) as runner, pytest.raises(ClusterError, match=f"{MOST_LOSSES} workers ended"):
        stored.extend(runner.run(jobs))
    assert jobs[5].key not in {record.key for record in stored}


def test_another_engine_is_refused_before_its_first_game() -> None:
    site = Threads("same", "other")

    def play_as_another(chunk: Chunk) -> PlayedChunk:
        return play_chunk(replace(chunk, identity="0123456789ab"))

    site.here["other"] = replace(site.here["other"], play=play_as_another)
    jobs = jobs_of(6)
    with ClusterRunner(site, StopFlag()) as runner:
        assert games_digest(list(runner.run(jobs))) == played_here(jobs)
        assert {worker["name"]: worker["state"] for worker in runner.workers()}["other"] == "refused"
    assert "0123456789ab" in site.turned_away["other"].reason
    alone = ClusterRunner(Threads("other", play=play_as_another), StopFlag())
    with alone as runner, pytest.raises(ClusterError, match="none is left"):
        list(runner.run(jobs))


def test_machines_with_fewer_processors_than_games_are_named() -> None:
    clock = Limits.parse("clock=10+0.1")
    sides, said = [PlayerLoad("player 'a'", clock), PlayerLoad("player 'b'", clock)], list[str]()
    site = Threads("small", "beside", "large", play=made_up)
    machines = {"small": ("one", 2), "beside": ("one", 2), "large": ("other", 9)}
    site.here = {
        name: replace(worker, threads=2, host=machines[name][0], processors=machines[name][1])
        for name, worker in site.here.items()
    }
    with ClusterRunner(site, StopFlag(), warn=said.append, sides=sides, oversubscribe=True) as runner:
        list(runner.run(jobs_of(6)))
    assert said
    assert all(re.match("(small|beside): too few processors: 4 games at a time", text) for text in said)
    assert all("at most 2 threads in total (--nthreads)" in text for text in said)
    with ClusterRunner(site, StopFlag(), sides=sides) as runner:
        assert len(list(runner.run(jobs_of(6)))) == 6
        states = {worker["name"]: worker["state"] for worker in runner.workers()}
    assert sorted([states["small"], states["beside"]]) == ["idle", "refused"]
    assert states["large"] == "idle"


def jobs_of_script(script: Path, games: int = 6) -> list[GameJob]:
    """Games between two programs, which nobody plays."""
    command = (sys.executable, str(script))
    return [
        replace(
            job, first=replace(job.first, protocol="nboard", parameters=(), command=command),
            second=replace(job.second, protocol="nboard", parameters=(), command=command),
        )
        for job in jobs_of(games)
    ]  # fmt: skip


def test_other_sources_of_elolab_are_refused() -> None:
    (job,) = jobs_of(2)[:1]
    played = play_chunk(Chunk("run", 0, (job,), engine_identity(), "0123456789ab"))
    assert re.match(rf"the sources .* are {sources_digest()}, not 0123456789ab", played.refusal)
    assert not played.records


def test_another_file_of_a_player_is_refused_by_its_name_and_both_digests(tmp_path: Path) -> None:
    script = tmp_path / "engine.py"
    script.write_text("1")
    jobs = jobs_of_script(script)
    wanted = {file: 64 * "0" for file in files_of(jobs[0].first) if not file.is_program}
    assert [file.word for file in wanted] == [str(script)]
    played = play_chunk(Chunk("run", 0, tuple(jobs), engine_identity(), sources_digest(), files=wanted))
    here = hashlib.sha256(b"1").hexdigest()[:12]
    assert played.refusal == f"its file '{script}' is {here}, not 000000000000"
    script.unlink()
    played = play_chunk(Chunk("run", 0, tuple(jobs), engine_identity(), sources_digest(), files=wanted))
    assert played.unavailable.keys() == {"a", "b"}
    assert set(played.unavailable.values()) == {f"its file '{script}' is missing"}


def test_shipped_weights_that_are_others_there_are_refused() -> None:
    jobs = jobs_of(2, settings={"evaluation_weights": "othello"})
    first = dict(jobs[0].first.parameters)
    first["evaluation_weights"] = first["evaluation_weights"].split("#")[0] + "#0123456789ab"
    job = replace(jobs[0], first=replace(jobs[0].first, parameters=tuple(first.items())))
    played = play_chunk(Chunk("run", 0, (job,), engine_identity(), sources_digest()))
    assert re.search(r"weights othello#0123456789ab: .* digest [0-9a-f]{12};", played.refusal)


def test_a_file_that_only_workers_have_binds_them_to_the_first(tmp_path: Path) -> None:
    """The second worker began before anything was known of the file; its games do not count."""
    file = GameFile("engine-of-workers", None)
    begun = threading.Barrier(2)

    def of(digest: str, waits: bool) -> Callable[[Chunk], PlayedChunk]:
        def play(chunk: Chunk) -> PlayedChunk:
            if not chunk.files:
                begun.wait(10)
                if waits:
                    time.sleep(0.3)
            return replace(made_up(chunk), files={file: digest})

        return play

    site = Threads("first", "second")
    plays = {"first": of(64 * "a", False), "second": of(64 * "b", True)}
    site.here = {name: replace(worker, play=plays[name]) for name, worker in site.here.items()}
    files: dict[GameFile, str] = {}
    with ClusterRunner(site, StopFlag(), files=files) as runner:
        records = list(runner.run(jobs_of(8)))
        rows = {worker["name"]: worker for worker in runner.workers()}
        assert runner.refused() == {"second": rows["second"]["reason"]}
    assert len({record.key for record in records}) == len(records) == 8
    assert files == {file: 64 * "a"}
    assert (rows["second"]["state"], rows["second"]["games"]) == ("refused", 0)
    assert rows["second"]["reason"] == f"its program 'engine-of-workers' is {12 * 'b'}, not {12 * 'a'}"


def with_players(jobs: list[GameJob], **missing: set[str]) -> Callable[[str], Callable[[Chunk], PlayedChunk]]:
    """What workers do who lack some players."""

    def of(name: str) -> Callable[[Chunk], PlayedChunk]:
        def play(chunk: Chunk) -> PlayedChunk:
            lacks = missing[name] & {player.name for job in chunk.jobs for player in (job.first, job.second)}
            playable = [job for job in chunk.jobs if not {job.first.name, job.second.name} & lacks]
            return PlayedChunk(tuple(map(named_result, playable)), dict.fromkeys(lacks, "no such program"), (), 0.001)

        return play

    return of


@pytest.mark.parametrize(
    ("missing", "left_out", "are_played"),
    [
        ({"one": {"a"}, "two": set()}, {}, True),
        ({"one": {"a"}, "two": {"a"}}, {"a": "no such program"}, False),
        ({"one": {"a"}, "two": {"b"}}, {"a": "no worker has both"}, False),
    ],
)
def test_players_that_are_missing_on_workers(
    missing: dict[str, set[str]], left_out: dict[str, str], are_played: bool
) -> None:
    jobs, said = jobs_of(6), []
    play = with_players(jobs, **missing)
    site = Threads("one", "two")
    site.here = {name: replace(worker, play=play(name)) for name, worker in site.here.items()}
    with ClusterRunner(site, StopFlag(), warn=said.append) as runner:
        records = list(runner.run(jobs))
        assert runner.unavailable.keys() == left_out.keys()
        assert all(left_out[player] in reason for player, reason in runner.unavailable.items())
    assert len(records) == (len(jobs) if are_played else 0)
    assert any("one" in text and "'a'" in text and "no such program" in text for text in said)


def test_dialogues_are_reported_once_somebody_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executor, "TICK_SECONDS", 0.02)
    monkeypatch.setattr(worker, "REPORT_SECONDS", 0.0)
    command = (sys.executable, "-I", "-S", str(MOCK), "hang", "at=1")
    hangs = PlayerSpec("hangs", "uci", Limits(nodes=1), command=command, watchdog_ms=60_000)
    conditions = GameConditions("xiangqi", Rules(), Adjudication(), seed=1)
    opening = Opening(game_named("xiangqi").start)
    jobs = [conditions.job(Pairing(0, 0, 0, 1, 0), hangs, replace(hangs, name="waits"), opening)]
    site, stop = Reporting(), StopFlag()
    with ClusterRunner(site, stop) as runner, ThreadPoolExecutor(1) as pool:
        played = pool.submit(lambda: list(runner.run(jobs)))
        try:
            assert wait_until(lambda: bool(site.heard))
            assert site.heard[0][1].dialogue == ([], [])
            assert wait_until(lambda: "> ucinewgame" in str([game.read_dialogue() for game in runner.running()]))
        finally:
            stop.set()
        assert played.result() == []


def test_enough_lets_running_games_end_and_stop_gives_them_up() -> None:
    """A worker's next chunk waits until the games before it have been counted, and for the order once they suffice."""
    jobs = jobs_of(200)
    records: list[GameRecord] = []
    returned = 0

    def play(chunk: Chunk) -> PlayedChunk:
        nonlocal returned
        while not site.orders and not returned == len(records) <= most:
            time.sleep(0.001)
        played = play_chunk(chunk)
        returned += len(played.records)
        return played

    most, site = 4, Threads("one", play=play)
    with ClusterRunner(site, StopFlag()) as runner:
        for record in runner.run(jobs, lambda: len(records) > most):
            records.append(record)
        assert most < len(records) < len(jobs)
        assert "finish" in {order.kind for order in site.orders}
        again = {record.key for record in runner.run(jobs[:20])}
    assert again == {job.key for job in jobs[:20]}
    records.clear()
    stop, returned = StopFlag(), 0
    most, site = 0, Threads("one", play=play)
    with ClusterRunner(site, stop) as runner:
        for record in runner.run(jobs):
            records.append(record)
            stop.set()
    assert "stop" in {order.kind for order in site.orders}


def test_wall_clocks_are_refused_unless_allowed() -> None:
    jobs = jobs_of(2, "move_time=0.01")
    with ClusterRunner(Threads("one"), StopFlag()) as runner, pytest.raises(ClusterError, match="wall clock"):
        list(runner.run(jobs))
    with ClusterRunner(Threads("one", play=made_up), StopFlag(), wall_clock=True) as runner:
        assert len(list(runner.run(jobs))) == 2
    for limit in ("move_time=0.01,cpu", "move_time=0.01,node_clock=10000"):
        with ClusterRunner(Threads("one", play=made_up), StopFlag()) as runner:
            assert len(list(runner.run(jobs_of(2, limit)))) == 2


WALL_CLOCKS = {
    "match default material --limit move_time=0.01": "match: player 'default'",
    "tournament cup.toml": "cup.toml: player 'late'",
    "ablate lone.toml": "lone.toml: comparison 'null_move off'",
    "tune mine.toml": "mine.toml: [validation]: slow_limit",
}
FILES = {
    "cup.toml": """limit = "nodes=50"
pairs = 1
players = [{ name = "early", limit = "move_time=0.01,cpu" }, { name = "late", limit = "clock=1+0.01" }]
""",
    "lone.toml": """limit = "nodes=50"
pairs = 20
comparisons = [{ label = "null_move off", variant = { null_move = false }, limit = "move_time=0.01" }]
""",
    "mine.toml": """limit = "nodes=50"
parameters = ["null_depth"]
budget = { games = 100 }
validation = { slow = "fixed", slow_limit = "move_time=0.01", slow_pairs = 2 }
""",
}


@pytest.mark.integration
@pytest.mark.parametrize(
    "words",
    [pytest.param(words, marks=[] if words[:5] == "match" else [pytest.mark.integration]) for words in WALL_CLOCKS],
)
def test_wall_clocks_on_a_cluster_are_refused_before_anything_is_played(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also of a game that would come late, and in a dry run; no scheduler is looked for, and no folder made."""
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text)
    command = [*words.split(), "--out", "out", "--cluster", "tcp://127.0.0.1:1"]
    for dry_run in ([], ["--dry-run"]):
        assert command_line.main([*command, *dry_run]) == 2
        error = capsys.readouterr().err
        assert re.fullmatch(rf"elolab: {re.escape(WALL_CLOCKS[words])}: \S+ is a wall clock, and .*cluster\n", error)
        assert not Path("out").exists()
    assert command_line.main([*command, "--dry-run", "--wall-clock-on-cluster"]) == 0
    assert command_line.main([*words.split(), "--out", "out", "--dry-run"]) == 0


def test_a_script_without_its_main_part_is_told_so() -> None:
    """Its processes run the script anew as they start, and end at once."""

    class Broken(ThreadPoolExecutor):
        def submit(self, *_: Any, **__: Any) -> Future[Any]:
            raise BrokenProcessPool("A process in the process pool was terminated abruptly")

    told = pytest.raises(ClusterError, match='belongs under if __name__ == "__main__":')
    with ClusterRunner(ExecutorSite(Broken(), 1), StopFlag()) as runner, told:
        list(runner.run(jobs_of(2)))


@pytest.mark.integration
def test_weights_travel_with_the_games(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shipped = find_config("weights", "othello").read_text("utf-8")
    numbers = re.search(r"phases = \[\s*\[\s*(-?\d+)", shipped)
    assert numbers is not None
    (tmp_path / "own.toml").write_text(shipped.replace(numbers[0], f"phases = [[{int(numbers[1]) + 7}", 1), "utf-8")
    monkeypatch.chdir(tmp_path)
    jobs = jobs_of(4, settings={"evaluation_weights": "own"})
    here = played_here(jobs)
    elsewhere = ProcessPoolExecutor(1, initializer=os.chdir, initargs=("/",))
    with elsewhere as executor, ClusterRunner(ExecutorSite(executor, 1), StopFlag()) as runner:
        assert games_digest(list(runner.run(jobs))) == here
