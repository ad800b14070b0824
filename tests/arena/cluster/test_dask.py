"""A real Dask cluster on this machine: equal games whatever happens to workers, scheduler and client."""

from __future__ import annotations

import hashlib
import html
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from elolab import command_line
from elolab.arena.cluster import dask_cluster
from elolab.arena.cluster.dask_cluster import DaskSite
from elolab.arena.cluster.runner import ClusterRunner
from elolab.arena.cluster.site import ClusterError
from elolab.arena.play import tournament_run
from elolab.arena.play.executor import GameRunner
from elolab.arena.play.store import Store, StoreError
from elolab.arena.records import GameJob, GameRecord, games_digest
from elolab.arena.tournament_reader import spec_from_mapping
from elolab.arena.tournament_spec import TournamentSpec
from elolab.engine.engine import StopFlag
from tests.support.local_cluster import ROOT, LocalCluster, free_port
from tests.support.marked_processes import wait_until
from tests.support.small_games import jobs_of, small_match

OTHER_ENGINE = "import elolab.engine.compiled.identity as identity\nidentity.engine_identity = lambda: '0123456789ab'\n"
OTHER_SOURCES = """
import elolab.arena.provenance.sources as identity

there = dict(identity.source_digests()) | {"arena/protocols/nboard.py": "0123456789ab"}
identity.source_digests = lambda: there
"""
WITHOUT_ELOLAB = "import sys\nsys.modules['elolab'] = None\n"
SLOW = """
import time
from elolab.arena.play.executor import GameRunner

def slowly(*arguments, quickly=GameRunner._play):
    time.sleep(%s)
    return quickly(*arguments)

GameRunner._play = slowly if GameRunner._play.__name__ != "slowly" else GameRunner._play
"""
MOCK = ROOT / "tests" / "support" / "mock_othello_engines.py"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    """Two workers that may play, one with another engine and one without elolab."""
    folder = tmp_path_factory.mktemp("cluster")
    programs = folder / "programs"
    programs.mkdir()
    program = programs / "othello-mock"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} {MOCK} "$@"\n')
    program.chmod(0o755)
    (folder / "other.py").write_text(OTHER_ENGINE)
    (folder / "without.py").write_text(WITHOUT_ELOLAB)
    with LocalCluster(folder) as cluster:
        cluster.start_worker("first")
        cluster.start_worker("second", path=str(programs))
        cluster.start_worker("other", "--preload", "other.py")
        cluster.start_worker("without", "--preload", "without.py")
        cluster.wait_for_workers(4)
        yield cluster


@pytest.fixture
def small_cluster(tmp_path: Path) -> Iterator[LocalCluster]:
    """Two workers for a test that ends some of them."""
    with LocalCluster(tmp_path) as cluster:
        cluster.start_worker("first")
        cluster.start_worker("second")
        cluster.wait_for_workers(2)
        yield cluster


@contextmanager
def other_service(banner: bytes) -> Iterator[str]:
    """The address of a port that answers every connection with the banner and then waits."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        connections: list[socket.socket] = []

        def answer() -> None:
            with suppress(OSError):
                while True:
                    connections.append(server.accept()[0])
                    connections[-1].sendall(banner)

        threading.Thread(target=answer, daemon=True).start()
        yield f"tcp://127.0.0.1:{server.getsockname()[1]}"
        for connection in connections:
            connection.close()


def played_here(jobs: list[GameJob]) -> str:
    with GameRunner(2, StopFlag()) as runner:
        return games_digest(list(runner.run(jobs)))


def stored_in(folder: Path) -> int:
    """How many games there are by now."""
    try:
        with Store(folder, read_only=True) as store:
            return len(store)
    except StoreError:
        return 0


def played_on(
    cluster: LocalCluster, jobs: list[GameJob], told: list[str], after: Callable[[int], None] = lambda games: None
) -> list[GameRecord]:
    """The games as the cluster plays them; ``after`` each batch something may happen."""
    records: list[GameRecord] = []
    with ClusterRunner(DaskSite(cluster.address, told.append), StopFlag(), warn=told.append) as runner:
        for batch in runner.batches(jobs):
            records += batch
            after(len(records))
    return records


@pytest.mark.integration
def test_a_tournament_is_the_same_and_strange_workers_get_no_games(cluster: LocalCluster, tmp_path: Path) -> None:
    spec = small_match(24)
    tournament_run.run(spec, tmp_path / "here", concurrency=2)
    result = tournament_run.run(spec, tmp_path / "there", cluster=cluster.address)
    assert (result.stored, result.interrupted) == (24, False)
    digests = []
    for name in ("here", "there"):
        with Store(tmp_path / name, read_only=True) as store:
            digests.append(store.digest())
    assert digests[0] == digests[1]
    live = json.loads((tmp_path / "there" / "live.json").read_text())
    states = {worker["name"].split()[0]: worker["state"] for worker in live["workers"]}
    assert states == {"first": "idle", "second": "idle", "other": "refused", "without": "refused"}
    assert sum(worker["games"] for worker in live["workers"]) == 24


@pytest.mark.integration
def test_refused_workers_are_named_with_both_engines(cluster: LocalCluster) -> None:
    from elolab.engine.compiled.identity import engine_identity

    told: list[str] = []
    site = DaskSite(cluster.address, told.append)
    site.close()
    (other,) = (text for text in told if "worker other" in text)
    assert "tcp://127.0.0.1" in other
    assert "0123456789ab" in other
    assert engine_identity() in other
    (without,) = (text for text in told if "worker without" in text)
    assert "not installed" in without


@pytest.mark.integration
def test_a_program_is_looked_for_on_every_worker(cluster: LocalCluster) -> None:
    told: list[str] = []
    jobs = [job for job in jobs_of(8, "depth=1") if job.first.name == "a"]
    command = ("othello-mock", "good", "protocol=nboard")
    program = replace(jobs[0].first, protocol="nboard", parameters=(), command=command)
    records = played_on(cluster, [replace(job, first=program) for job in jobs], told)
    assert len(records) == len(jobs), told
    missing = [text for text in told if "cannot be started there" in text]
    assert len(missing) <= 1
    assert all("first" in text and "othello-mock" in text for text in missing)


def match_with_program(pairs: int) -> TournamentSpec:
    players = [{"name": "program", "protocol": "nboard", "command": ["othello-mock", "good", "protocol=nboard"]}, {}]
    content = {"game": "othello", "format": "match", "pairs": pairs, "limit": "depth=1", "players": players}
    return spec_from_mapping({**content, "name": "small"}, "small.toml")


def with_program(folder: Path, name: str, last_line: str = "") -> Path:
    """A folder for PATH with the program in it."""
    (folder / name).mkdir()
    program = folder / name / "othello-mock"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} {MOCK} "$@"\n{last_line}')
    program.chmod(0o755)
    return folder / name


@pytest.mark.integration
def test_workers_with_another_program_or_other_sources_get_no_games(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    own, other = with_program(tmp_path, "own"), with_program(tmp_path, "other", "# another build\n")
    (tmp_path / "sources.py").write_text(OTHER_SOURCES)
    monkeypatch.setenv("PATH", os.pathsep.join([str(own), os.environ["PATH"]]))
    digests = [hashlib.sha256((path / "othello-mock").read_bytes()).hexdigest()[:12] for path in (other, own)]
    with LocalCluster(tmp_path) as cluster:
        cluster.start_worker("good")
        cluster.start_worker("bad", path=str(other))
        cluster.start_worker("old", "--preload", "sources.py")
        cluster.wait_for_workers(3)
        result = tournament_run.run(match_with_program(12), tmp_path / "run", cluster=cluster.address)
        assert (result.stored, result.exit_code) == (24, 0)
        live = json.loads((tmp_path / "run" / "live.json").read_text())
        rows = {worker["name"].split()[0]: worker for worker in live["workers"]}
        assert {name: row["state"] for name, row in rows.items()} == {
            "good": "idle", "bad": "refused", "old": "refused"
        }  # fmt: skip
        assert {name: row["games"] for name, row in rows.items()} == {"good": 24, "bad": 0, "old": 0}
        reasons = {
            "bad": f"its program 'othello-mock' is {digests[0]}, not {digests[1]}",
            "old": "arena/protocols/nboard.py is 0123456789ab there, ",
        }
        said = capfd.readouterr().err
        assert command_line.main(["report", str(tmp_path / "run")]) == 0
        shown = " ".join(capfd.readouterr().out.split())
        page = html.unescape((tmp_path / "run" / "report.html").read_text())
        for name, reason in reasons.items():
            assert reason in rows[name]["reason"]
            for text in (said, shown, page, (tmp_path / "run" / "report.md").read_text()):
                assert reason in text.replace("\\", ""), text
        cluster.kill("good")
        with pytest.raises(ClusterError, match="none of its workers is suitable: ") as refusal:
            tournament_run.run(match_with_program(2), tmp_path / "none", cluster=cluster.address)
        assert all(reason in str(refusal.value) for reason in reasons.values())


def test_without_a_scheduler_there_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_cluster, "CONNECT_SECONDS", 0.3)
    with pytest.raises(ClusterError, match="no Dask scheduler answers"):
        DaskSite(f"tcp://127.0.0.1:{free_port()}", print)


@pytest.mark.parametrize("banner", [b"", b"SSH-2.0-OpenSSH_9.6\r\n"])
def test_a_port_of_another_service_is_no_scheduler(monkeypatch: pytest.MonkeyPatch, banner: bytes) -> None:
    monkeypatch.setattr(dask_cluster, "CONNECT_SECONDS", 0.5)
    began = time.monotonic()
    with other_service(banner) as address, pytest.raises(ClusterError, match="no Dask scheduler answers"):
        DaskSite(address, print)
    assert time.monotonic() - began < 5


@pytest.mark.integration
def test_a_worker_is_no_scheduler(cluster: LocalCluster) -> None:
    site = DaskSite(cluster.address, lambda text: None)
    try:
        with pytest.raises(ClusterError, match="no Dask scheduler answers"):
            DaskSite(next(iter(site.workers())), print)
    finally:
        site.close()


@pytest.mark.integration
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_wait_for_a_scheduler(tmp_path: Path, number: int) -> None:
    with other_service(b"") as address:
        command = ["match", "default", "no-quiescence", "--limit", "depth=1", "--out", "run", "--cluster", address]
        process = subprocess.Popen(
            [sys.executable, "-m", "elolab", *command], cwd=tmp_path, stderr=subprocess.PIPE, text=True
        )
        try:
            wait_until((tmp_path / "run" / "live.json").exists)
            process.send_signal(number)
            complaint = process.communicate(timeout=5)[1]
        finally:
            process.kill()
    assert complaint.startswith("elolab: interrupted")
    assert complaint.count("\n") == 1


def test_tls_without_settings_names_the_keys() -> None:
    with pytest.raises(ClusterError, match=r"distributed\.comm\.tls\.ca-file"):
        DaskSite(f"tls://127.0.0.1:{free_port()}", print)


def test_a_missing_certificate_is_one_line() -> None:
    import dask

    settings = {"distributed.comm.tls.ca-file": "none.pem", "distributed.comm.tls.client.cert": "none.pem"}
    with dask.config.set(settings), pytest.raises(ClusterError, match=r"distributed\.comm\.tls\.ca-file"):
        DaskSite(f"tls://127.0.0.1:{free_port()}", print)


# What happens to clusters


@pytest.mark.slow
def test_a_worker_is_killed_in_the_middle(small_cluster: LocalCluster) -> None:
    jobs = jobs_of(200, "nodes=1500")

    def after(games: int) -> None:
        if games > 20 and "first" in small_cluster.processes:
            small_cluster.kill("first")
            small_cluster.start_worker("third")

    assert games_digest(played_on(small_cluster, jobs, [], after)) == played_here(jobs)


@pytest.mark.slow
def test_a_slow_worker_gets_fewer_games_and_one_that_comes_later_some_too(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW % 0.5)
    (tmp_path / "other.py").write_text(OTHER_ENGINE)
    jobs, told, seen = jobs_of(400, "nodes=1500"), [], 0
    with LocalCluster(tmp_path) as cluster:
        cluster.start_worker("quick")
        cluster.start_worker("slow", "--preload", "slow.py")
        cluster.wait_for_workers(2)
        records: list[GameRecord] = []
        with ClusterRunner(DaskSite(cluster.address, told.append), StopFlag(), warn=told.append) as runner:
            for batch in runner.batches(jobs):
                if not records:
                    cluster.start_worker("later")
                    cluster.start_worker("stranger", "--preload", "other.py")
                records += batch
                seen = max([seen, *(len(game.read_moves()[0]) for game in runner.running())])
            loads = [worker.get("load") for worker in runner.workers()]
            games = {worker["name"].split()[0]: worker["games"] for worker in runner.workers()}
    assert games_digest(records) == played_here(jobs)
    assert 0 < games["slow"] < games["later"] < games["quick"], games
    assert games["stranger"] == 0
    assert any("worker stranger" in text for text in told), told
    assert seen, "moves of games in progress come in too"
    assert any(load is not None and load >= 0 for load in loads)


@pytest.mark.slow
def test_the_scheduler_is_killed_and_started_again(small_cluster: LocalCluster) -> None:
    jobs = jobs_of(200, "nodes=1500")
    restarts = iter([1])

    def after(games: int) -> None:
        if games > 20 and next(restarts, None):
            for name in ("scheduler", "first", "second"):
                small_cluster.kill(name)
            time.sleep(3)
            small_cluster.start_scheduler()
            small_cluster.start_worker("first")

    assert games_digest(played_on(small_cluster, jobs, [], after)) == played_here(jobs)


@pytest.mark.slow
def test_a_scheduler_that_stays_away_interrupts_the_run(
    small_cluster: LocalCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(dask_cluster, "PATIENCE_SECONDS", 3.0)
    spec = small_match(400, "nodes=1500")

    def kill() -> None:
        wait_until(lambda: stored_in(tmp_path / "run") > 20, 60)
        small_cluster.kill("scheduler")

    thread = threading.Thread(target=kill)
    thread.start()
    result = tournament_run.run(spec, tmp_path / "run", cluster=small_cluster.address)
    thread.join()
    assert result.interrupted
    assert 0 < result.stored < 400
    assert "the scheduler did not come back" in capfd.readouterr().err
    assert tournament_run.run(spec, tmp_path / "run", concurrency=2).stored == 400


@pytest.mark.slow
@pytest.mark.parametrize("signal_number", [signal.SIGKILL, signal.SIGINT])
def test_the_client_ends_and_is_started_again(small_cluster: LocalCluster, tmp_path: Path, signal_number: int) -> None:
    command = [
        sys.executable, "-m", "elolab", "match", "default", "fenon", "--limit", "nodes=300", "--pairs", "100",
        "--out", str(tmp_path / "run"),
    ]  # fmt: skip
    there = [*command, "--cluster", small_cluster.address]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}

    client = subprocess.Popen(there, cwd=tmp_path, env=environment, stderr=subprocess.PIPE)
    assert wait_until(lambda: stored_in(tmp_path / "run") > 20, 60)
    client.send_signal(signal_number)
    _, said = client.communicate(timeout=20)
    before = stored_in(tmp_path / "run")
    assert 20 < before < 200
    if signal_number == signal.SIGINT:
        assert client.returncode == 130
        assert small_cluster.address in said.decode()
    done = subprocess.run(there, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    here = [*command[:-1], str(tmp_path / "here")]
    subprocess.run(here, cwd=tmp_path, env=environment, capture_output=True, check=True)
    digests = []
    for name in ("run", "here"):
        with Store(tmp_path / name, read_only=True) as store:
            digests.append(store.digest())
    assert digests[0] == digests[1]
