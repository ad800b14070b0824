"""Parses the two ways to name a cluster, a scheduler's address or a list of SSH hosts, without importing Dask."""

from __future__ import annotations

import re
from typing import NamedTuple

_ADDRESS = re.compile(r"(tcp|tls)://(\[[0-9A-Fa-f:.]+\]|[^\s:/\[\]]+):\d{1,5}")
SSH = "ssh:"
"""Prefix of a list of SSH hosts."""
_HOST = re.compile(r"(?:([^\s@,*:]+)@)?([A-Za-z0-9._-]+)(?::(\d{1,5}))?(?:\*([1-9]\d{0,3}))?")
EXPECTED_CLUSTER = "tcp://192.168.1.5:8786, or hosts for SSH, such as ssh:host1,me@host2:2222*8"
"""Examples of a scheduler's address and of a list of SSH hosts, for error messages."""


class SshHost(NamedTuple):
    """A machine to reach by SSH. Without ``user`` or ``port``, SSH's configuration decides."""

    name: str
    user: str | None = None
    port: int | None = None
    games: int | None = None
    """Number of games to play at a time; ``None`` for one per processor."""


def is_scheduler_address(text: str) -> bool:
    """Whether the text is a Dask address, such as ``tcp://192.168.1.5:8786``."""
    return bool(_ADDRESS.fullmatch(text))


def is_cluster(text: str) -> bool:
    """Whether the text is a scheduler's address or a list of SSH hosts."""
    return is_scheduler_address(text) or bool(ssh_hosts(text))


def ssh_hosts(text: str) -> list[SshHost]:
    """Parse a list of SSH hosts such as ``ssh:host1,me@host2:2222*8``; empty if the text has another form.

    A host is ``[USER@]NAME[:PORT][*GAMES]``.
    """
    if not text.startswith(SSH):
        return []
    found = [_HOST.fullmatch(word) for word in text.removeprefix(SSH).split(",")]
    hosts = [_host(*one.groups()) for one in found if one is not None]
    return hosts if len(hosts) == len(found) else []


def _host(user: str | None, name: str, port: str | None, games: str | None) -> SshHost:
    return SshHost(name, user, None if port is None else int(port), None if games is None else int(games))
