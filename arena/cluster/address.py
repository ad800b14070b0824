"""Recognition of clusters in texts, without importing Dask: a scheduler's address, or hosts that SSH reaches."""

from __future__ import annotations

import re
from typing import NamedTuple

_ADDRESS = re.compile(r"(tcp|tls)://(\[[0-9A-Fa-f:.]+\]|[^\s:/\[\]]+):\d{1,5}")
SSH = "ssh:"
"""Beginning of a text that lists hosts."""
_HOST = re.compile(r"(?:([^\s@,*:]+)@)?([A-Za-z0-9._-]+)(?::(\d{1,5}))?(?:\*([1-9]\d{0,3}))?")
EXPECTED_CLUSTER = "tcp://192.168.1.5:8786, or hosts for SSH, such as ssh:host1,me@host2:2222*8"
"""Examples of both kinds, for messages."""


class SshHost(NamedTuple):
    """A machine that SSH reaches; what is ``None`` follows from SSH's own settings, or from the machine."""

    name: str
    user: str | None = None
    port: int | None = None
    games: int | None = None
    """Number of games at a time; ``None`` for one per processor."""


def is_scheduler_address(text: str) -> bool:
    """Whether the text is protocol, host and port, such as ``tcp://192.168.1.5:8786``."""
    return bool(_ADDRESS.fullmatch(text))


def is_cluster(text: str) -> bool:
    """Whether the text is a scheduler's address or a list of hosts for SSH."""
    return is_scheduler_address(text) or bool(ssh_hosts(text))


def ssh_hosts(text: str) -> list[SshHost]:
    """The hosts of a text such as ``ssh:host1,me@host2:2222*8``; empty if it has another form."""
    if not text.startswith(SSH):
        return []
    found = [_HOST.fullmatch(word) for word in text.removeprefix(SSH).split(",")]
    hosts = [_host(*one.groups()) for one in found if one is not None]
    return hosts if len(hosts) == len(found) else []


def _host(user: str | None, name: str, port: str | None, games: str | None) -> SshHost:
    return SshHost(name, user, None if port is None else int(port), None if games is None else int(games))
