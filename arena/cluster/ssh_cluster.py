"""A Dask cluster for one run: Dask starts the scheduler and the workers over SSH, and ends them after the run.

The scheduler runs on the first host, a worker on every host. Each uses the Python interpreter at this process's path.
"""

from __future__ import annotations

import asyncio
import logging
import shlex
import sys
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from contextlib import suppress
from typing import Any

from elolab.arena.cluster.address import SshHost, ssh_hosts
from elolab.arena.cluster.dask_cluster import DaskSite
from elolab.arena.cluster.site import ClusterError
from elolab.engine.errors import argument

CONNECT_SECONDS = 15
START_SECONDS = 90.0
"""Time limit in seconds for the start of the scheduler and all workers."""
LOOK_SECONDS = 0.1
FAREWELL_SECONDS = 20.0
"""Time limit in seconds for ending the processes that an interrupted or failed start has already started."""
ORPHANED_WORKER, ORPHANED_SCHEDULER = "60 s", "1 h"
"""Times after which a worker without scheduler, and an idle scheduler, exit by themselves.

Worker and scheduler therefore end even if this process is killed.
"""
PROBE = f"{shlex.quote(sys.executable)} -c 'import elolab, distributed'"
"""Shell command that succeeds on hosts on which a worker can be started."""
QUIET_LOGGERS = ("distributed.deploy.ssh", "distributed.deploy.spec", "asyncssh")
"""Loggers silenced because they repeat the machines' output, or errors that elolab reports itself."""
INSTALL = 'pip install "elolab[ssh]"'


class SshSite(DaskSite):
    """The workers of a cluster that is started over SSH and ends when the site is closed."""

    def __init__(self, text: str, warn: Callable[[str], None], is_stopped: Callable[[], bool] = lambda: False) -> None:
        """Start the cluster on the hosts of ``text`` (see ``ssh_hosts``) and connect to it, as ``DaskSite`` does.

        Raises ``ClusterError`` if a host cannot be reached or its Python lacks elolab or Dask, and
        ``KeyboardInterrupt`` if ``is_stopped`` returns true first.
        """
        self._deployment = _Deployment(text, is_stopped)
        try:
            super().__init__(self._deployment.address, warn, is_stopped)
        except BaseException:
            self._deployment.close()
            raise

    def close(self) -> None:
        """Close the connection, then end workers and scheduler."""
        super().close()
        self._deployment.close()


class _Deployment:
    """Scheduler and workers as an instance of Dask's ``SpecCluster``."""

    def __init__(self, text: str, is_stopped: Callable[[], bool]) -> None:
        for name in QUIET_LOGGERS:
            logging.getLogger(name).setLevel(logging.CRITICAL)
        self._text = text
        self._pool = ThreadPoolExecutor(1, "ssh")
        started = self._pool.submit(_started, ssh_hosts(text))
        try:
            self._cluster = self._awaited(started, is_stopped)
        except BaseException:
            with suppress(Exception):  # any error, or a timeout
                started.result(FAREWELL_SECONDS).close()
            self._pool.shutdown(wait=False)
            raise
        self.address: str = self._cluster.scheduler_address

    def _awaited(self, started: Future[Any], is_stopped: Callable[[], bool]) -> Any:
        waited = 0.0
        while True:
            try:
                return started.result(LOOK_SECONDS)
            except NotYet:
                waited += LOOK_SECONDS
            except ImportError:
                raise ClusterError(f"{argument('cluster', self._text)} needs Dask and asyncssh", INSTALL) from None
            except Exception as error:
                raise self._failed(error) from None
            if is_stopped():
                raise KeyboardInterrupt
            if waited > START_SECONDS:
                raise self._failed(OSError(f"no answer within {START_SECONDS:.0f} s"))

    def _failed(self, error: BaseException) -> ClusterError:
        place, said = argument("cluster", self._text), " ".join(str(error).split()) or type(error).__name__
        if not isinstance(error, _HostError):
            return ClusterError(f"{place}: the cluster cannot be started: {said}")
        host = error.host
        login = host.name if host.user is None else f"{host.user}@{host.name}"
        port = "" if host.port is None else f"-p {host.port} "
        return ClusterError(
            f"{place}: {login}: {said}", f"this must work without a password: ssh {port}{login} {PROBE}"
        )

    def close(self) -> None:
        """End workers and scheduler."""
        self._pool.submit(self._cluster.close).result()
        self._pool.shutdown()


def _started(hosts: list[SshHost]) -> Any:
    """Start a scheduler on the first host and a worker on each host; returns the cluster.

    Raises ``_HostError`` if a host is unsuitable, before anything is started.
    """
    from distributed.deploy.spec import SpecCluster
    from distributed.deploy.ssh import Scheduler, Worker

    asyncio.run(_check(hosts))
    scheduler = {
        "cls": Scheduler,
        "options": {
            "address": hosts[0].name, "connect_options": _connection(hosts[0]),
            "kwargs": {"port": 0, "dashboard": False, "idle_timeout": ORPHANED_SCHEDULER},
        },
    }  # fmt: skip
    workers = {
        place: {
            "cls": Worker,
            "options": {
                "address": host.name, "connect_options": _connection(host),
                "kwargs": {"death_timeout": ORPHANED_WORKER}
                | ({} if host.games is None else {"nthreads": host.games}),
            },
        }
        for place, host in enumerate(hosts)
    }  # fmt: skip
    return SpecCluster(workers, scheduler, name="elolab")


async def _check(hosts: list[SshHost]) -> None:
    """Raise ``_HostError`` unless SSH reaches every host and the Python there has elolab and Dask."""
    await asyncio.gather(*map(_check_one, hosts))


async def _check_one(host: SshHost) -> None:
    import asyncssh

    try:
        async with asyncssh.connect(host.name, **_connection(host)) as connection:
            found = await connection.run(PROBE)
    except (OSError, asyncssh.Error) as error:
        raise _HostError(host, " ".join(str(error).split()) or type(error).__name__) from None
    if found.exit_status:
        lines = str(found.stderr).strip().splitlines()
        raise _HostError(host, lines[-1] if lines else f"exit code {found.exit_status}")


class _HostError(Exception):
    """Raised if no worker can be started on a host; the error holds the host and the reason."""

    def __init__(self, host: SshHost, reason: str) -> None:
        super().__init__(reason)
        self.host = host


def _connection(host: SshHost) -> dict[str, Any]:
    """Keyword arguments for ``asyncssh.connect``; it reads all other settings from ``~/.ssh/config``."""
    chosen = {"username": host.user, "port": host.port, "connect_timeout": CONNECT_SECONDS}
    return {name: value for name, value in chosen.items() if value is not None}
