"""Clusters that are started over SSH: which texts name one, what is wrong with a host, and a whole run."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from elolab.arena.cluster.address import SshHost, is_cluster, ssh_hosts
from elolab.arena.cluster.site import ClusterError
from elolab.arena.cluster.ssh_cluster import SshSite
from tests.support.local_cluster import ROOT, free_port
from tests.support.marked_processes import wait_until

pytest.importorskip("asyncssh")
SSHD = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin")


def test_hosts_have_a_user_a_port_and_games_at_a_time() -> None:
    assert ssh_hosts("ssh:host1,me@host-2.org:2222*8,10.0.0.3*2") == [
        SshHost("host1"), SshHost("host-2.org", "me", 2222, 8), SshHost("10.0.0.3", games=2)
    ]  # fmt: skip
    for wrong in ("ssh:", "ssh:a,,b", "ssh:a*0", "ssh:a b", "ssh:@a", "host", "ssh:a:", "ssh:-oProxyCommand=x"):
        assert not is_cluster(wrong), wrong
    assert is_cluster("ssh:a")
    assert is_cluster("tcp://a:1")


def test_an_unreachable_host_is_named_with_what_must_work() -> None:
    port = free_port()
    with pytest.raises(ClusterError) as failed:
        SshSite(f"ssh:me@127.0.0.1:{port}*2", print)
    (line,) = str(failed.value).splitlines()
    assert line.startswith(f"--cluster ssh:me@127.0.0.1:{port}*2: me@127.0.0.1: ")
    assert f"must work without a password: ssh -p {port} me@127.0.0.1 " in line


@pytest.mark.slow
@pytest.mark.skipif(SSHD is None or os.geteuid() != 0, reason="needs sshd, and root to start it")
def test_a_run_starts_its_cluster_and_ends_it(tmp_path: Path) -> None:
    home, port = tmp_path / "home", free_port()
    (home / ".ssh").mkdir(parents=True)
    for key in (tmp_path / "host", home / ".ssh" / "id_ed25519"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    public = (tmp_path / "host.pub").read_text()
    (home / ".ssh" / "known_hosts").write_text(f"[127.0.0.1]:{port} {public}")
    passed = [f"SetEnv XDG_CACHE_HOME={cache}" for cache in [os.environ.get("XDG_CACHE_HOME")] if cache]
    (tmp_path / "sshd_config").write_text(
        "\n".join(
            [
                f"Port {port}", "ListenAddress 127.0.0.1", f"HostKey {tmp_path}/host", "StrictModes no", "UsePAM no",
                f"AuthorizedKeysFile {home}/.ssh/id_ed25519.pub", "PermitRootLogin yes", "PidFile none", *passed,
            ]
        )
    )  # fmt: skip
    Path("/run/sshd").mkdir(exist_ok=True)
    server = subprocess.Popen([str(SSHD), "-D", "-f", str(tmp_path / "sshd_config")], stderr=subprocess.DEVNULL)
    try:
        time.sleep(1)
        words = ["match", "default", "material", "--pairs", "2", "--limit", "nodes=20", "--out", str(tmp_path / "run")]
        played = subprocess.run(
            ["python", str(ROOT / "elolab"), *words, "--cluster", f"ssh:root@127.0.0.1:{port}*2"],
            env={**os.environ, "HOME": str(home), "PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
        )  # fmt: skip
        assert played.returncode == 0, played.stderr
        assert wait_until(lambda: subprocess.run(["pgrep", "-f", "distributed.cli.dask_spec"]).returncode == 1, 60)
    finally:
        server.terminate()
        server.wait()
