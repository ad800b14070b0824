"""The one boundary to other people's programs: an engine as a process that cannot hold the harness up.

Whatever the program does (hangs, floods its output or its error stream, never ends a line, ignores ``quit``, leaves
children behind), every call here returns by its deadline, memory stays bounded, and ``end`` is done within two seconds
with the whole process group gone. POSIX only.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import shutil
import signal
import subprocess
import time
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING

from arena.players.contract import GameStopped, PlayerFault
from arena.players.supervisor import SUPERVISOR, kill_group

if TYPE_CHECKING:
    from engine.engine import StopFlag

LINE_BYTES = 65_536
"""Longest line an engine may write; what is beyond is thrown away."""
READ_BYTES = 65_536
DRAIN_BYTES = 1_048_576
"""Most that is read at once of what an engine said unasked."""
ERROR_TAIL_BYTES = 4_096
PIPE_BYTES = 1_048_576
"""What a pipe may hold without a privilege (``fs.pipe-max-size``)."""
WAKE_MS = 100
"""How often a waiting thread polls the stop flag, and whether a process whose pipes others hold open has ended."""
FAREWELL_MS = 500
"""Time an engine has to end by itself after ``quit`` and the end of its input."""
TERMINATE_MS = 300
"""Time it has after SIGTERM, before the whole group is killed."""

GATE = 'read -r go && exec "$@"'
"""The engine's program starts only after a first line on its input, sent once the supervisor knows its group. Should
the harness die before that, the gate meets the end of the input, and the program never starts."""

GAMES_DIRECTORIES = ("/usr/games", "/usr/local/games")
"""Where Debian puts engines, though root's PATH lacks it."""


class DeadlinePassed(Exception):
    """The engine did not say what was waited for in time."""


class ProcessEnded(Exception):
    """The engine's process ended, or closed its output."""


class Dialogue:
    """The end of what was said both ways, with time stamps, in bounded memory.

    What the harness said has its own allowance, so that a flood of output cannot wash away the question.
    """

    RECEIVED_LINES = 180
    SENT_LINES = 20
    LINE_CHARACTERS = 1_000
    TOTAL_CHARACTERS = 65_536

    def __init__(self) -> None:
        self._began_ns = time.monotonic_ns()
        self._received: deque[tuple[int, str, str]] = deque(maxlen=self.RECEIVED_LINES)
        self._sent: deque[tuple[int, str, str]] = deque(maxlen=self.SENT_LINES)

    def sent(self, line: str) -> None:
        """The harness says ``line``."""
        self._sent.append((time.monotonic_ns(), ">", line))

    def received(self, line: str, at_ns: int) -> None:
        """The engine said ``line``."""
        self._received.append((at_ns, "<", line[: self.LINE_CHARACTERS]))

    def remark(self, line: str) -> None:
        """The harness notes ``line``."""
        self._sent.append((time.monotonic_ns(), "*", line))

    def tail(self) -> list[str]:
        """The lines, oldest first: seconds since the process started, who spoke (``>`` harness, ``<`` engine), text."""
        entries = sorted([*self._sent, *self._received], key=lambda entry: entry[0])
        lines = [f"{(at_ns - self._began_ns) / 1e9:.4f} {who} {text}" for at_ns, who, text in entries]
        kept = total = 0
        for line in reversed(lines):
            total += len(line) + 1
            if total > self.TOTAL_CHARACTERS:
                break
            kept += 1
        return lines[len(lines) - kept :]


class EngineProcess:
    """One running program in a session and process group of its own; used by one thread at a time.

    Raises ``PlayerFault`` with ``startup_failure`` if the program cannot be started.
    """

    def __init__(self, command: Sequence[str], directory: str | None = None) -> None:
        self.command = (find_program(command, directory), *command[1:])
        self.dialogue = Dialogue()
        self.arrived_ns = 0
        """When the last line that ``read_line`` returned arrived (``time.monotonic_ns``)."""
        self.error_bytes = 0
        """How much the engine wrote to its error stream; only the end is kept."""
        self._lines: deque[str] = deque()
        self._partial = b""
        self._skipping = False
        self._errors = b""
        self._ended = False
        self._gone = False
        self._exit = ""
        try:
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", GATE, "sh", *self.command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=directory,
                bufsize=0,
                start_new_session=True,  # its own process group, and out of reach of Ctrl-C
            )
        except OSError as error:
            raise PlayerFault("startup_failure", f"cannot start {command[0]!r}: {error.strerror}") from None
        self._watch_over(command[0])
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._input = self._process.stdin.fileno()
        self._output = self._process.stdout.fileno()
        self._error = self._process.stderr.fileno()
        self._poll = select.poll()
        for descriptor in (self._output, self._error):
            os.set_blocking(descriptor, False)
            self._poll.register(descriptor, select.POLLIN)
        self._error_is_open = True
        os.set_blocking(self._input, False)
        self._widen_output()
        with contextlib.suppress(OSError):  # if the shell is dead already, the next read will say so
            os.write(self._input, b"go\n")

    def _widen_output(self) -> None:
        """Let the pipe hold more: nobody reads it while the engine ponders, and a full one would stop its search."""
        if hasattr(fcntl, "F_SETPIPE_SZ"):  # Linux
            with contextlib.suppress(OSError):
                fcntl.fcntl(self._output, fcntl.F_SETPIPE_SZ, PIPE_BYTES)

    def _watch_over(self, program: str) -> None:
        try:
            SUPERVISOR.watch(self._process.pid)
        except OSError as error:
            self._process.kill()
            self._process.wait()
            raise PlayerFault(
                "startup_failure", f"cannot start {program!r}: no supervisor ({error.strerror})"
            ) from None

    @property
    def process_id(self) -> int:
        """Of the engine; also the number of its process group."""
        return self._process.pid

    @property
    def has_ended(self) -> bool:
        """Whether nothing more can come from this process."""
        return self._ended or self._gone

    @property
    def has_died(self) -> bool:
        """Whether it ended other than by ``end``."""
        return self._ended and not self._gone

    def send(self, lines: Sequence[str], deadline_ns: int) -> None:
        """Write whole lines. Raises ``ProcessEnded``; ``DeadlinePassed`` if the engine does not read them."""
        if self.has_ended:
            raise ProcessEnded
        for line in lines:
            self.dialogue.sent(line)
        data = memoryview(("\n".join(lines) + "\n").encode())
        while data:
            try:
                data = data[os.write(self._input, data) :]
            except BlockingIOError:
                # Output is left in the pipe meanwhile: an engine that floods and does not read must not fill memory.
                waiter = select.poll()
                waiter.register(self._input, select.POLLOUT)
                if self._error_is_open:
                    waiter.register(self._error, select.POLLIN)
                self._wait(waiter, deadline_ns, None)
            except OSError:
                self.drain()
                self._ended = True
                raise ProcessEnded from None

    def read_line(self, deadline_ns: int, stop: StopFlag | None = None) -> str:
        """The next line, without its end.

        Raises ``DeadlinePassed``, ``ProcessEnded``, and ``GameStopped`` once ``stop`` is set.
        """
        while not self._lines:
            if self.has_ended:
                raise ProcessEnded
            self._wait(self._poll, deadline_ns, stop)
        return self._lines.popleft()

    def drain(self) -> list[str]:
        """What the engine has said by now, without waiting for more."""
        drained = 0
        while not self.has_ended and drained < DRAIN_BYTES:
            events = self._poll.poll(0)
            if not events:
                break
            drained += self._take(events)
        lines = list(self._lines)
        self._lines.clear()
        return lines

    def end(self, farewell: str | None = None) -> None:
        """End the process and its group; with ``farewell`` (``quit``) it is given the chance to leave by itself."""
        if self._gone:
            return
        by_itself = self._wait_for_exit(20) if self._ended else False
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        if farewell is not None and not self._ended:
            with contextlib.suppress(OSError):
                self.dialogue.sent(farewell)
                os.write(self._input, f"{farewell}\n".encode())
            self._process.stdin.close()
            if not self._wait_for_exit(FAREWELL_MS):
                kill_group(self._process.pid, signal.SIGTERM)
                self._wait_for_exit(TERMINATE_MS)
        # The group is killed in every case, for the children, and before the leader is reaped: until then its number
        # cannot belong to anybody else.
        kill_group(self._process.pid)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=1.0)
        self._exit = self._describe_exit(by_itself)
        self._gone = True
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            pipe.close()
        SUPERVISOR.release(self._process.pid)
        for line in self._errors.decode(errors="replace").splitlines()[-20:]:
            self.dialogue.remark(f"stderr: {line[: Dialogue.LINE_CHARACTERS]}")
        self.dialogue.remark(self._exit)

    @property
    def exit_description(self) -> str:
        """After ``end``: how the process ended, with the last line of its error stream."""
        errors = self._errors.decode(errors="replace").strip().splitlines()
        return f"{self._exit}; its last words: {errors[-1][:200]}" if errors else self._exit

    def _describe_exit(self, by_itself: bool) -> str:
        status = self._process.returncode
        if not by_itself:
            return "ended by the harness" if not self._ended else "closed its output without exiting"
        if status is not None and status < 0:
            return f"killed by signal {-status} ({_signal_name(-status)})"
        return f"exited with code {status}"

    def _wait(self, waiter: select.poll, deadline_ns: int, stop: StopFlag | None) -> None:
        """Sleep until something can be read or written, the deadline, or ``WAKE_MS``; read what there is."""
        left_ns = deadline_ns - time.monotonic_ns()
        if left_ns <= 0:
            raise DeadlinePassed
        if stop is not None and stop.is_set():
            raise GameStopped
        events = waiter.poll(min(left_ns / 1e6, WAKE_MS))
        if events:
            self._take(events)
        elif self._has_exited():
            self._ended = True  # a child of the engine may still hold the pipes open

    def _take(self, events: Sequence[tuple[int, int]]) -> int:
        """Read once from each pipe that has something; the number of bytes read."""
        taken = 0
        for descriptor, event in events:
            if descriptor == self._output:
                taken += self._read_output()
            elif descriptor == self._error:
                taken += self._read_errors()
            elif event & (select.POLLERR | select.POLLHUP):
                self._ended = True
        return taken

    def _read_output(self) -> int:
        try:
            chunk = os.read(self._output, READ_BYTES)
        except BlockingIOError:
            return 0
        self.arrived_ns = now_ns = time.monotonic_ns()
        if not chunk:
            self._ended = True
            chunk = b"" if not self._partial else b"\n"  # the last words may lack an end of line
        parts = (self._partial + chunk).split(b"\n")
        self._partial = parts.pop()
        if self._skipping and parts:
            parts.pop(0)
            self._skipping = False
        for part in parts:
            line = part.decode(errors="replace").rstrip("\r")
            self._lines.append(line)
            self.dialogue.received(line, now_ns)
        if self._skipping:
            self._partial = b""
        elif len(self._partial) > LINE_BYTES:
            start = self._partial[: Dialogue.LINE_CHARACTERS].decode(errors="replace")
            self.dialogue.received(start, now_ns)
            self.dialogue.remark(f"that line is longer than {LINE_BYTES} bytes; it is thrown away")
            self._partial, self._skipping = b"", True
        return len(chunk)

    def _read_errors(self) -> int:
        try:
            chunk = os.read(self._error, READ_BYTES)
        except BlockingIOError:
            return 0
        if not chunk:
            self._poll.unregister(self._error)
            self._error_is_open = False
            return 0
        self.error_bytes += len(chunk)
        self._errors = (self._errors + chunk)[-ERROR_TAIL_BYTES:]
        return len(chunk)

    def _has_exited(self) -> bool:
        """Whether the process is dead, without reaping it where the system can say so."""
        if not hasattr(os, "waitid"):
            return self._process.poll() is not None
        if self._process.returncode is not None:
            return True
        try:
            return os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:
            return True

    def _wait_for_exit(self, max_ms: int) -> bool:
        """Wait for the process to die, its output read and thrown away so that it is not stuck in writing."""
        deadline_ns = time.monotonic_ns() + max_ms * 1_000_000
        pause_ms = 1.0
        while not self._has_exited():
            if time.monotonic_ns() >= deadline_ns:
                return False
            if self._ended:
                time.sleep(pause_ms / 1e3)
                pause_ms = min(2 * pause_ms, 20.0)
            else:
                self._take(self._poll.poll(20))
                self._lines.clear()
        return True


def find_program(command: Sequence[str], directory: str | None) -> str:
    """The program's path; raises ``PlayerFault`` (``startup_failure``) that says what is missing."""
    if not command:
        raise PlayerFault("startup_failure", "no command is given")
    program = command[0]
    if directory is not None and not os.path.isdir(directory):
        raise PlayerFault("startup_failure", f"cannot start {program!r}: no directory {directory!r}")
    if os.sep not in program:
        found = shutil.which(program) or shutil.which(program, path=os.pathsep.join(GAMES_DIRECTORIES))
        if found is None:
            raise PlayerFault("startup_failure", f"cannot start {program!r}: no such program in PATH; is it installed?")
        return os.path.abspath(found)
    program = os.path.expanduser(program)
    path = os.path.join(directory or "", program)
    if not os.path.isfile(path):
        path = program  # relative to where the harness runs
    if not os.path.isfile(path):
        raise PlayerFault("startup_failure", f"cannot start {program!r}: no such file")
    if not os.access(path, os.X_OK):
        raise PlayerFault("startup_failure", f"cannot start {program!r}: it is not executable (chmod +x {path})")
    return os.path.abspath(path)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"
