"""A small process that ends running engines if elolab dies.

The supervisor holds the reading end of a pipe whose only writer is elolab. When elolab dies, for whatever reason, the
kernel closes the pipe. The supervisor then kills every registered process group and exits. This method requires neither
``prctl`` nor ``pidfd`` and works on every POSIX system. This file is also the supervisor's program and runs by path in
an isolated interpreter, so it imports only the standard library.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading


class Supervisor:
    """Tells the supervising process, through a pipe, which process groups to end when elolab ends; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._groups: set[int] = set()
        self._process: subprocess.Popen[bytes] | None = None

    def watch(self, group: int) -> None:
        """Register a process group; from now on the supervisor kills it if elolab dies."""
        with self._lock:
            self._groups.add(group)
            self._tell(f"+{group}\n")

    def release(self, group: int) -> None:
        """Unregister a process group that has ended, because its number may be reused."""
        with self._lock:
            if group in self._groups:
                self._groups.discard(group)
                self._tell(f"-{group}\n")

    @property
    def process_id(self) -> int | None:
        """Process id of the supervisor; ``None`` before it has started."""
        return self._process.pid if self._process else None

    def forget(self) -> None:
        """Detach a forked child from its parent's supervisor, so that the child does not hold the pipe open."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
            self._process.returncode = 0  # a child of another process: do not wait for it
        self._lock = threading.Lock()
        self._groups, self._process = set(), None

    def _tell(self, line: str) -> None:
        if self._process is not None and self._process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                os.write(self._process.stdin.fileno(), line.encode())
                return
            self._process.wait()
            self._process.stdin.close()
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", os.path.abspath(__file__)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            bufsize=0,
            start_new_session=True,  # Ctrl-C and a kill of elolab's group do not reach it
        )
        assert self._process.stdin is not None
        os.write(self._process.stdin.fileno(), "".join(f"+{group}\n" for group in sorted(self._groups)).encode())


SUPERVISOR = Supervisor()
"""The supervisor of this process; it starts together with the first engine."""
os.register_at_fork(after_in_child=SUPERVISOR.forget)


def kill_group(group: int, number: int = signal.SIGKILL) -> None:
    """Send the signal ``number`` to a process group; does nothing if the group has ended."""
    # macOS answers "not permitted" for a group that contains only zombies.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _supervise() -> None:
    """Read registrations of process groups until elolab's end of the pipe closes, then kill the registered groups."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    groups: set[int] = set()
    for line in sys.stdin.buffer:
        group = int(line[1:])
        if line[:1] == b"+":
            groups.add(group)
        else:
            groups.discard(group)
    for group in groups:
        kill_group(group)


if __name__ == "__main__":
    _supervise()
