"""A Dask scheduler and workers as processes of their own, over TCP on this machine."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
WITHOUT_PROFILES = {
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
    "DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__INTERVAL": "10s",
}
"""Dask's workers look every 10 ms at what their threads do, which takes more time than small games."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class LocalCluster:
    """Use it as a context manager; ``folder`` is where its processes work and log."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> LocalCluster:
        self.start_scheduler()
        return self

    def __exit__(self, *exception: object) -> None:
        for name in list(self.processes):
            self.kill(name)

    def start_scheduler(self) -> None:
        """Start it, and wait until it can be reached."""
        self._start("scheduler", "--host", "127.0.0.1", "--port", str(self.port))
        deadline = time.monotonic() + 60
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                assert time.monotonic() < deadline, "the scheduler has not started"
                time.sleep(0.05)

    def start_worker(self, name: str, *options: str, path: str | None = None) -> None:
        """A worker of one thread; ``path`` comes before its PATH."""
        arguments = ("--nthreads", "1", "--no-nanny", "--name", name, "--host", "127.0.0.1", *options)
        self._start("worker", self.address, *arguments, path=path, name=name)

    def kill(self, name: str) -> None:
        """End it without warning."""
        process = self.processes.pop(name)
        process.kill()
        process.wait()

    def wait_for_workers(self, count: int) -> None:
        from distributed import Client

        with Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(count, timeout=60)

    def _start(self, kind: str, *arguments: str, path: str | None = None, name: str = "scheduler") -> None:
        environment = os.environ | WITHOUT_PROFILES | {"PYTHONPATH": str(ROOT)}
        if path is not None:
            environment["PATH"] = os.pathsep.join([path, environment["PATH"]])
        command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", *arguments, "--no-dashboard"]
        with (self.folder / f"{name}.log").open("ab") as log:
            self.processes[name] = subprocess.Popen(command, cwd=self.folder, env=environment, stdout=log, stderr=log)
