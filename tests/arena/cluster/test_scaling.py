"""Limits scaled to each machine's speed: the factors, the games, the reference speed, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from elolab import command_line
from elolab.arena.cluster import worker as cluster_worker
from elolab.arena.cluster.runner import ClusterRunner
from elolab.arena.cluster.scaling import REFERENCE, LimitScaling, measured_speed
from elolab.arena.cluster.site import ExecutorSite, Worker
from elolab.arena.cluster.worker import Chunk, play_chunk
from elolab.arena.play import tournament_run
from elolab.arena.play.executor import GameRunner
from elolab.arena.play.store import Store
from elolab.arena.records import GameJob, GameRecord
from elolab.arena.reports.packed_games import details_of_game
from elolab.engine.engine import StopFlag
from elolab.engine.settings.limits import Limits
from tests.support.local_cluster import LocalCluster
from tests.support.small_games import jobs_of, small_match

LIMIT = "move_time=0.004"
MACHINE = """
import platform

import elolab.arena.cluster.scaling as scaling

platform.node = lambda: {name!r}
scaling.measured_speed = lambda: {speed}
"""


class Machine(ThreadPoolExecutor):
    """An executor of one thread whose benchmark gives the next of the speeds, or fails with the next error."""

    def __init__(self, *speeds: float | Exception) -> None:
        super().__init__(1)
        self.left = list(speeds)

    def submit(self, function: Callable[..., Any], /, *given: Any, **named: Any) -> Future[Any]:
        if function is not measured_speed:
            return super().submit(function, *given, **named)
        done: Future[Any] = Future()
        speed = self.left.pop(0)
        if isinstance(speed, Exception):
            done.set_exception(speed)
        else:
            done.set_result(speed)
        return done


class Machines(ExecutorSite):
    """Workers that are threads of this process."""

    def __init__(self, machines: dict[str, Machine], hosts: dict[str, str] | None = None) -> None:
        super().__init__(next(iter(machines.values())), 1)
        self.here = {
            name: Worker(name, name, 1, machine, play_chunk, (hosts or {}).get(name, ""))
            for name, machine in machines.items()
        }
        self.turned_away: dict[str, str] = {}

    def workers(self) -> dict[str, Worker]:
        return dict(self.here)

    def refuse(self, worker: Worker, reason: str) -> None:
        del self.here[worker.address]
        self.turned_away[worker.name] = reason


def scales_of(site: Machines, scaling: LimitScaling) -> dict[str, float]:
    """The factors once every machine has been measured."""
    while True:
        ready = scaling.ready(site)
        if not scaling.is_measuring:
            return {name: scaling.scale_of(worker) for name, worker in ready.items()}


def test_the_first_machine_is_the_reference_and_factors_stay_in_their_range() -> None:
    kept, said = list[float](), list[str]()
    speeds = {"first": 1000.0, "alike": 1001.0, "slow": 500.0, "quick": 2000.0, "snail": 1.0, "rocket": 1e6}
    site = Machines({name: Machine(speed) for name, speed in speeds.items()})
    scales = scales_of(site, LimitScaling(None, kept.append, said.append))
    assert scales == {"first": 1, "alike": 0.999, "slow": 2, "quick": 0.5, "snail": 4, "rocket": 0.25}
    assert kept == [1000]
    assert [text.split(":")[0] for text in said] == [f"worker {name}" for name in ("slow", "quick", "snail", "rocket")]
    assert "multiplied by 2 (500 nodes/s, reference 1000 nodes/s)" in said[0]


def test_a_given_reference_stays_and_workers_of_one_machine_share_a_benchmark() -> None:
    kept = list[float]()
    site = Machines({"one": Machine(800.0), "other": Machine()}, hosts={"one": "host", "other": "host"})
    assert scales_of(site, LimitScaling(400.0, kept.append)) == {"one": 0.5, "other": 0.5}
    assert not kept


def test_no_game_is_sent_to_a_machine_before_its_benchmark_has_ended() -> None:
    slow = Machine(1.0)
    scaling, waiting = LimitScaling(1.0, lambda speed: None), Future[float]()
    slow.submit = lambda *given, **named: waiting  # type: ignore[method-assign]
    site = Machines({"quick": Machine(2.0), "slow": slow})
    scaling.ready(site)
    assert [*scaling.ready(site)] == ["quick"]
    assert scaling.is_measuring
    scaling.cancel()
    assert waiting.cancelled()


def test_a_failed_benchmark_refuses_the_worker_and_a_lost_one_is_repeated() -> None:
    site = Machines({"good": Machine(CancelledError(), 1.0), "bad": Machine(ValueError("no numba"))})
    site.here["lost"] = replace(
        site.here["good"], address="lost", name="lost", executor=Machine(*[CancelledError()] * 9)
    )
    assert scales_of(site, LimitScaling(None, lambda speed: None)) == {"good": 1}
    assert "ValueError: no numba" in site.turned_away["bad"]
    assert [*site.turned_away] == ["bad", "lost"]


@pytest.mark.integration
def test_games_keep_their_keys_and_are_played_under_scaled_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    played: list[GameJob] = []

    class Watched(GameRunner):
        def batches(
            self, jobs: Iterable[GameJob | None], enough: Callable[[], bool] = lambda: False
        ) -> Iterator[list[GameRecord]]:
            jobs = list(jobs)
            played.extend(job for job in jobs if job is not None)
            return super().batches(jobs, enough)

    monkeypatch.setattr(cluster_worker, "GameRunner", Watched)
    timed, counted = jobs_of(2, LIMIT), jobs_of(2)
    site = Machines({"slow": Machine(500.0)})
    scaling = LimitScaling(1000.0, lambda speed: None)
    with ClusterRunner(site, StopFlag(), wall_clock=True, scaling=scaling) as runner:
        records = {record.key: record for record in runner.run([*timed, *counted])}
        (worker,) = runner.workers()
    assert worker["limit_scale"] == 2
    assert {f"{job.first.limits}" for job in played} == {"move_time=0.008", "nodes=20"}
    assert [records[job.key].detail.get("limit_scale") for job in timed] == [2, 2]
    assert all("limit_scale" not in records[job.key].detail for job in counted)
    said = details_of_game(records[timed[0].key], "othello", "en")
    assert said.endswith("elolab multiplied time limits by 2 to match the speed of the machine.")


@pytest.mark.integration
def test_limits_that_are_not_scaled_leave_chunks_as_they_are() -> None:
    chunks: list[Chunk] = []

    def play(chunk: Chunk, *sent: Any) -> Any:
        chunks.append(chunk)
        return play_chunk(chunk, *sent)

    site = Machines({"one": Machine()})
    site.here["one"] = replace(site.here["one"], play=play)
    with ClusterRunner(site, StopFlag()) as runner:
        records = list(runner.run(jobs_of(2)))
        assert "limit_scale" not in runner.workers()[0]
    assert {chunk.limit_scale for chunk in chunks} == {None}
    assert all("limit_scale" not in record.detail for record in records)


@pytest.mark.parametrize(
    ("limit", "scaled"),
    [
        ("clock=40/10+0.1", "clock=40/5+0.05"),
        ("nodes=1000,move_time=0.1", "nodes=1000,move_time=0.05"),
        ("move_time=0.001", "move_time=0.001"),
        ("clock=10+0.1,cpu", "clock=10+0.1,cpu"),
        ("clock=10+0.1,node_clock=1000", "clock=10+0.1,node_clock=1000"),
        ("depth=6", "depth=6"),
    ],
)
def test_only_wall_time_is_scaled(limit: str, scaled: str) -> None:
    assert Limits.parse(limit).scaled(0.5) == Limits.parse(scaled)


@pytest.mark.integration
def test_a_cluster_scales_limits_and_the_run_keeps_its_reference(tmp_path: Path) -> None:
    with LocalCluster(tmp_path) as cluster:
        for name, speed in (("first", 1e6), ("second", 5e5)):
            (tmp_path / f"{name}.py").write_text(MACHINE.format(name=name, speed=speed))
            cluster.start_worker(name, "--preload", f"{name}.py")
        cluster.wait_for_workers(2)
        references = []
        for pairs in (3, 6):
            tournament_run.run(
                small_match(2 * pairs, LIMIT), tmp_path / "run", cluster=cluster.address, wall_clock_on_cluster=True,
                scale_limits=True,
            )  # fmt: skip
            with Store(tmp_path / "run", read_only=True) as store:
                references.append(store.metadata(REFERENCE))
                scales = {record.detail["limit_scale"] for record in store.iterate()}
    assert references[0] == references[1] in (1e6, 5e5)
    expected = {"first": references[0] / 1e6, "second": references[0] / 5e5}
    assert scales <= {*expected.values()}
    live = json.loads((tmp_path / "run" / "live.json").read_text())
    found = {row["name"].split()[0]: row["limit_scale"] for row in live["workers"] if "limit_scale" in row}
    assert found
    assert found.items() <= expected.items()


@pytest.mark.integration
@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (
            "--limit move_time=0.01",
            "--scale-limits scales limits on a cluster's machines; leave it out, or add --cluster",
        ),
        (
            "--cluster tcp://127.0.0.1:1",
            "--scale-limits scales wall-time limits, and no player has one; leave it out, or",
        ),
        ("--limit clock=9+1,cpu --cluster tcp://127.0.0.1:1", "scales wall-time limits, and no player has one"),
    ],
)
def test_an_option_without_effect_is_refused_in_one_line(
    words: str, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    command = ["match", "default", "fenon", "--out", "out", "--scale-limits", *words.split()]
    for dry_run in ([], ["--dry-run"]):
        assert command_line.main([*command, *dry_run]) == 2
        error = capsys.readouterr().err
        assert problem in error
        assert error.count("\n") == 1
        assert not Path("out").exists()
