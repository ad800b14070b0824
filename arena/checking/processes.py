"""Status of a program's processes, read from ``/proc``; Linux only."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")


@dataclass(frozen=True)
class ProcessStatus:
    """The status of one process at one moment."""

    number: int
    parent: int
    group: int
    state: str
    """State letter as shown by ``ps``: ``R`` running or runnable, ``S`` sleeping, ``Z`` zombie."""
    cpu_seconds: float
    started: int
    """Start time in clock ticks since the system booted; distinguishes processes that reuse a process number."""
    resident_bytes: int


def is_available() -> bool:
    """Whether this system has ``/proc``."""
    return sys.platform == "linux" and (_PROC / "self" / "stat").exists()


def family_of(number: int) -> list[ProcessStatus]:
    """The status of process ``number``, its descendants, and all members of its process group."""
    statuses = _all()
    family = {number}
    while True:
        more = {one.number for one in statuses if one.parent in family or one.group == number} - family
        if not more:
            return [one for one in statuses if one.number in family]
        family |= more


def alive(processes: Iterable[ProcessStatus]) -> list[ProcessStatus]:
    """The members of ``processes`` that still run; zombies do not count as running."""
    now = {one.number: one for one in _all()}
    return [
        one
        for one in processes
        if one.number in now and now[one.number].started == one.started and now[one.number].state not in "ZX"
    ]


def demanded_seconds(processes: Iterable[ProcessStatus]) -> float:
    """Processor time in seconds that the processes have used, or have waited for while other processes ran.

    On an otherwise idle machine, the processes would use this time. Unreported waiting counts as 0.
    """
    return sum(one.cpu_seconds + _waited_seconds(one.number) for one in processes)


def _waited_seconds(number: int) -> float:
    """Seconds for which the threads of a process have waited for a processor: the second field of ``schedstat``."""
    waited_ns = 0
    for path in (_PROC / str(number) / "task").glob("*/schedstat"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            waited_ns += int(path.read_text().split()[1])
    return waited_ns / 1e9


def _all() -> list[ProcessStatus]:
    statuses = []
    for path in _PROC.glob("[0-9]*/stat"):
        fields = _fields(path)
        if fields is not None:
            statuses.append(_status(int(path.parent.name), fields))
    return statuses


def _status(number: int, fields: list[str]) -> ProcessStatus:
    """Parse the status of process ``number``; ``fields`` is the result of ``_fields``."""
    return ProcessStatus(
        number,
        parent=int(fields[1]),
        group=int(fields[2]),
        state=fields[0],
        cpu_seconds=(int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"),
        started=int(fields[19]),
        resident_bytes=int(fields[21]) * os.sysconf("SC_PAGE_SIZE"),
    )


def _fields(path: Path) -> list[str] | None:
    """The fields of a ``stat`` file that follow the program's name; ``None`` if the process has ended."""
    try:
        return path.read_text("utf-8", "replace").rpartition(")")[2].split()
    except OSError:
        return None
