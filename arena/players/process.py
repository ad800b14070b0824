"""The process of an external engine, run so that it cannot block elolab.

A program may hang, flood its output or its error stream, never end a line, ignore ``quit``, or leave children behind.
Every wait here still ends by its deadline, and memory stays bounded. ``end`` takes at most two seconds; the whole
process group has ended then. POSIX only.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import itertools
import os
import re
import shlex
import shutil
import signal
import subprocess
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from elolab.arena.command_lines import WINDOWS_PATH
from elolab.arena.players.player import Fault, GameStopped, PlayerFault, plain_line
from elolab.arena.players.processors import Processors, pin_process
from elolab.arena.players.supervisor import SUPERVISOR, kill_group
from elolab.engine.compiled.exchanged import Received, Sent

if TYPE_CHECKING:
    from elolab.engine.engine import StopFlag

LINE_BYTES = 65_536
"""Maximum length in bytes of a line from an engine; the excess is discarded."""
READ_BYTES = 65_536
UNASKED_BYTES = 1_048_576
"""Maximum number of bytes of unrequested output to read at once; more stays in the pipe."""
ERROR_TAIL_BYTES = 4_096
PIPE_BYTES = 1_048_576
"""Pipe capacity in bytes that is available without privileges (``fs.pipe-max-size``)."""
FAREWELL_MS = 500
"""Milliseconds for a process to exit after ``quit`` and the end of its input."""
TERMINATE_MS = 300
"""Milliseconds after SIGTERM at which elolab kills the whole process group."""

GATE = 'read -r go && exec "$@"'
"""Shell command that starts the engine's program after it has read a line of input.

elolab sends that line once the supervisor has registered the process group. If elolab dies earlier, the input ends and
the program never starts.
"""

SHORTAGES = (errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM)
"""Error numbers that mean a lack of file descriptors, processes or memory; the player is not at fault."""

FIRST_LINE_BYTES = 256
"""Number of bytes of a script's first line that the system reads (``BINPRM_BUF_SIZE``)."""

GAMES_DIRECTORIES = ("/usr/games", "/usr/local/games")
"""Debian's folders of game programs, which are not in root's ``PATH``."""


class DeadlinePassed(Exception):
    """Raised if the engine does not answer, or does not read its input, before a deadline."""


class ProcessEnded(Exception):
    """Raised if the engine's process has exited or closed its output."""


class DialogueSink(Protocol):
    """Stores the whole dialogue with an engine, for example in a log."""

    def write(self, who: str, said: bytes, at_ns: int | None = None) -> None:
        """Append the bytes ``said``, which may begin or end in the middle of a line.

        ``at_ns`` is the time at which the bytes were sent or received (``time.monotonic_ns``), ``None`` for now.

        ``who`` is ``>`` for elolab, ``<`` for the engine, ``!`` for its error stream, or ``*`` for a note.
        """

    def close(self) -> None:
        """Complete the stored dialogue; called after the process has exited."""


class Dialogue:
    """The last lines exchanged with an engine, with time stamps, in bounded memory.

    Sent and received lines have separate limits, so that a flood of output cannot displace the request that caused it.
    Output is stored as bytes and decoded only on demand, because most of it is never shown.
    """

    RECEIVED_LINES = 180
    RECEIVED_BYTES = 262_144
    RECEIVED_PIECES = 4_096
    SENT_LINES = 20
    LINE_CHARACTERS = 1_000
    TOTAL_CHARACTERS = 65_536

    def __init__(self) -> None:
        self._began_ns = time.monotonic_ns()
        self._received: deque[Received] = deque()
        self._received_bytes = 0
        self._sent: deque[tuple[int, str, str] | Sent] = deque(maxlen=self.SENT_LINES)
        self.sink: DialogueSink | None = None
        """Receives the whole dialogue as it happens; ``None`` if the dialogue is not stored."""
        self.unread: Callable[[], tuple[Sent, Received]] = lambda: (Sent(), Received())
        """Thread-safe function that returns what compiled code has exchanged and not yet passed to ``exchanged``."""

    def sent(self, text: str, at_ns: int | None = None) -> None:
        """Record lines sent to the engine; ``at_ns`` is the time (``time.monotonic_ns``), ``None`` for now."""
        self._sent.append((time.monotonic_ns() if at_ns is None else at_ns, ">", text))
        if self.sink is not None:
            self.sink.write(">", text.encode() + b"\n")

    def received(self, output: bytes, at_ns: int) -> None:
        """Record output of the engine, which may begin or end in the middle of a line.

        ``at_ns`` is the time of its arrival (``time.monotonic_ns``).
        """
        output = output[-self.RECEIVED_BYTES :]
        self._keep(Received(output, len(output).to_bytes(8, "little"), at_ns.to_bytes(8, "little")))

    def exchanged(self, sent: Sent, received: Received) -> None:
        """Record lines that compiled code has sent to the engine, and the engine's output that it has received."""
        if 2 * sent.asked >= self.SENT_LINES:  # each request has two lines
            self._sent.clear()
        if sent.asked:
            self._sent.append(sent)
        if received.output:
            self._keep(received)

    def _keep(self, received: Received) -> None:
        self._received.append(received)
        self._received_bytes += len(received.output)
        while self._received_bytes > self.RECEIVED_BYTES or len(self._received) > self.RECEIVED_PIECES:
            self._received_bytes -= len(self._received.popleft().output)

    def remark(self, line: str, *, is_new: bool = True) -> None:
        """Record a note about the dialogue, and write it to ``sink``.

        ``is_new=False`` does not write the note; use it if ``sink`` already contains the text, such as error output.
        """
        self._sent.append((time.monotonic_ns(), "*", line))
        if is_new and self.sink is not None:
            self.sink.write("*", line.encode() + b"\n")

    def tail(self, since_ns: int = 0) -> list[str]:
        """The stored lines, oldest first, each as text: seconds since the process started, source, line.

        The source is ``>`` for elolab, ``<`` for the engine, or ``*`` for a note. ``since_ns``, a time of
        ``time.monotonic_ns``, leaves out earlier lines.
        """
        entries = sorted([*self._sent_lines(), *self._received_lines()], key=lambda entry: entry[0])
        entries = [entry for entry in entries if entry[0] >= since_ns]
        lines = [f"{(at_ns - self._began_ns) / 1e9:.4f} {who} {text}" for at_ns, who, text in entries]
        kept = total = 0
        for line in reversed(lines):
            total += len(line) + 1
            if total > self.TOTAL_CHARACTERS:
                break
            kept += 1
        return lines[len(lines) - kept :]

    def last_received(self, since_ns: int = 0) -> str:
        """The engine's last line, complete or not; empty if it arrived before ``since_ns`` (``time.monotonic_ns``)."""
        return next(iter(self.last_two_received(since_ns)), "")

    def last_two_received(self, since_ns: int = 0) -> list[str]:
        """The engine's last line, then the line before it; lines that arrived before ``since_ns`` are omitted."""
        return [text for at_ns, _, text in self._received_lines()[:-3:-1] if at_ns >= since_ns]

    def last_error(self) -> str:
        """First line of the engine's final error message; empty if its last line does not contain the word ``error``.

        The message is the last block of lines that all contain that word, in upper or lower case.
        """
        found = ""
        for _, _, text in reversed(self._received_lines()):
            if "error" not in text.lower():
                break
            found = text
        return found

    def _sent_lines(self) -> list[tuple[int, str, str]]:
        """The stored sent lines and notes, each as time in ns, ``>`` or ``*``, and text."""
        lines: list[tuple[int, str, str]] = []
        # Another thread may add entries meanwhile; a list of a deque is a copy made in one step.
        for entry in [*list(self._sent), self.unread()[0]]:
            texts = [entry] if not isinstance(entry, Sent) else [(at_ns, ">", text) for at_ns, text in entry.texts()]
            lines += [(at_ns, who, line) for at_ns, who, text in texts for line in text.split("\n")]
        return lines[-self.SENT_LINES :]

    def _received_lines(self) -> list[tuple[int, str, str]]:
        """The stored lines of the engine, each as arrival time in ns, ``<``, and text; the last may be incomplete."""
        lines: list[tuple[int, str, str]] = []
        begun = b""
        at_ns = 0
        received = [*list(self._received), self.unread()[1]]
        for output, at_ns in (piece for some in received for piece in some.pieces()):
            *ended, rest = output.split(b"\n")
            for part in ended:
                lines.append((at_ns, "<", self._shown(begun + part)))
                begun = b""
            begun = (begun + rest)[: 4 * self.LINE_CHARACTERS]  # the maximum length of that many characters in UTF-8
        if begun:
            lines.append((at_ns, "<", self._shown(begun)))
        return lines[-self.RECEIVED_LINES :]

    def _shown(self, line: bytes) -> str:
        return line.decode(errors="replace").rstrip("\r")[: self.LINE_CHARACTERS]


class EngineProcess:
    """A running program in its own process group.

    Only one thread at a time may communicate with it. Compiled code writes and reads without Python's global lock
    (``engine.compiled.exchange``), so that other threads do not delay the time stamps of lines. Output stays in its
    pipe as long as no caller waits for a line. Each ``deadline_ns`` is a time of ``time.monotonic_ns``.

    The constructor raises ``PlayerFault`` with ``startup_failure`` if the program cannot be started, and ``OSError`` if
    the system has run out of a resource (``SHORTAGES``).
    """

    def __init__(
        self, command: Sequence[str], directory: str | None = None, processors: Processors = frozenset()
    ) -> None:
        """Start the program; it and its children may use only ``processors``, or any if the set is empty."""
        self.command = (find_program(command, directory), *command[1:])
        self.dialogue = Dialogue()
        self.asked_ns = 0
        """Time at which the first byte of the last request was written (``time.monotonic_ns``)."""
        self.arrived_ns = 0
        """Time at which the last output arrived (``time.monotonic_ns``)."""
        self.late_ns = 0
        """Nanoseconds by which ``arrived_ns`` may be late, because the thread had to wait for a processor."""
        self.error_bytes = 0
        """Number of bytes that the engine has written to its error stream; only the last part of them is kept."""
        self._lines: deque[bytes] = deque()
        """Complete lines of output that no caller has taken yet."""
        self._begun = b""
        """The beginning of an incomplete line; empty if the output so far ends with a complete line."""
        self._skipping = False
        self._errors = b""
        self._ended = False
        self._gone = False
        self._exit: Fault | None = None
        self.exit_signal: int | None = None
        """Number of the signal that killed the process.

        ``None`` before ``end`` is called, if no signal killed it, or if elolab sent the signal.
        """
        self._start(command[0], directory)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._input = self._process.stdin.fileno()
        self._output = self._process.stdout.fileno()
        self._error = self._process.stderr.fileno()
        for descriptor in (self._input, self._output, self._error):
            os.set_blocking(descriptor, False)
        self._death = _descriptor_of(self._process.pid)
        from elolab.engine.compiled.exchange import Conversation

        self.talk = Conversation(self._input, self._output, self._error, self._death)
        self._widen_output()
        if processors:
            pin_process(self._process.pid, processors)  # the shell that becomes the program
        with contextlib.suppress(OSError):  # if the shell has exited already, the next read reports it
            os.write(self._input, b"go\n")

    def _start(self, program: str, directory: str | None) -> None:
        try:
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", GATE, "sh", *self.command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=directory,
                bufsize=0,
                # Ctrl-C does not reach this group. In its own session, Linux would give it as much processor time
                # as all of elolab.
                process_group=0,
            )
        except OSError as error:
            if error.errno in SHORTAGES:
                raise
            raise _cannot_start(program, f"{error.strerror}") from None
        try:
            SUPERVISOR.watch(self._process.pid)
        except OSError as error:
            self._process.kill()
            self._process.communicate()  # closes the pipes
            if error.errno in SHORTAGES:
                raise
            raise _cannot_start(program, f"no supervisor ({error.strerror})") from None

    def _widen_output(self) -> None:
        """Enlarge the output pipe, because elolab does not read it while the engine ponders."""
        if hasattr(fcntl, "F_SETPIPE_SZ"):  # Linux
            with contextlib.suppress(OSError):
                fcntl.fcntl(self._output, fcntl.F_SETPIPE_SZ, PIPE_BYTES)

    @property
    def process_id(self) -> int:
        """Process id of the engine, which is also the id of its process group."""
        return self._process.pid

    @property
    def has_ended(self) -> bool:
        """Whether the engine's output has ended, or ``end`` has ended the process."""
        return self._ended or self._gone

    @property
    def is_in_overlong_line(self) -> bool:
        """Whether the current line exceeds ``LINE_BYTES`` and is being discarded."""
        return self._skipping

    @property
    def has_died(self) -> bool:
        """Whether the process exited by itself; false once ``end`` has been called."""
        return self._ended and not self._gone

    # Writing and reading.

    def send(self, lines: Sequence[str], deadline_ns: int) -> None:
        """Write lines to the engine; raises ``ProcessEnded``, or ``DeadlinePassed`` if the engine does not read them in
        time.

        The engine's output is not read meanwhile: it stays in the pipe, so that an engine that writes without reading
        cannot exhaust memory.
        """
        self.ask(lines)
        while self.talk.is_asking:
            self._exchange(self.talk.WRITE, deadline_ns, None)

    def ask(self, lines: Sequence[str], allowance_ns: int = -1) -> None:
        """Let the next ``read_line`` first write these lines, in the same call of compiled code.

        If ``allowance_ns`` is not negative, ``read_line`` ignores its argument ``deadline_ns``: the deadline is
        ``allowance_ns`` nanoseconds after the writing begins. Raises ``ProcessEnded`` if the process has ended.
        """
        if self.has_ended:
            raise ProcessEnded
        text = "\n".join(lines)
        self.dialogue.sent(text)
        self.talk.ask(text.encode() + b"\n", allowance_ns)

    def read_line(self, deadline_ns: int, stop: StopFlag | None = None, *, skips_thinking: bool = False) -> str:
        """Wait for the next line of output and return it, normalised by ``plain_line``.

        With ``skips_thinking``, thinking output such as ``info`` lines does not wake the thread. These lines are only
        returned when a line of another kind arrives or the deadline passes. Raises ``DeadlinePassed`` or
        ``ProcessEnded`` if no line comes, ``GameStopped`` once ``stop`` is set.
        """
        while self.talk.is_asking or not self._lines:
            if self.has_ended:
                raise ProcessEnded
            mode = self.talk.READ_ANSWER if skips_thinking else self.talk.READ_LINE
            self._exchange(mode, deadline_ns, stop)
        return plain_line(self._lines.popleft().decode(errors="replace"))

    def _exchange(self, mode: int, deadline_ns: int, stop: StopFlag | None) -> None:
        """Write the pending request and read output, until there is a line or a reason to raise an exception.

        ``mode`` is ``WRITE``, ``READ_LINE`` or ``READ_ANSWER`` of ``engine.compiled.exchange``.
        """
        talk = self.talk
        reason = talk.exchange(mode, deadline_ns, stop)
        self.asked_ns = talk.asked_ns
        self._keep_output()
        if reason in (talk.EXITED, talk.BROKEN):  # a child of the engine may still hold the pipes open
            self._read_rest()
        if reason in (talk.ENDED, talk.EXITED, talk.BROKEN):
            self._end_output()
        if talk.is_asking and reason in (talk.DEADLINE, talk.STOPPED, talk.ENDED, talk.EXITED, talk.BROKEN):
            talk.ask(b"", -1)
            if reason not in (talk.DEADLINE, talk.STOPPED):
                raise ProcessEnded
        elif self._lines or self._ended:
            return
        if reason == talk.DEADLINE:
            raise DeadlinePassed
        if reason == talk.STOPPED:
            raise GameStopped
        if reason == talk.WOKEN and self._death < 0 and self._has_exited():
            self._read_rest()
            self._end_output()

    def _keep_output(self) -> None:
        """Take the output and the error output that the last exchange has read, and store them."""
        talk = self.talk
        for output, at_ns in talk.take_output().pieces():
            self._note_output(output, at_ns)
            self.late_ns = talk.late_ns
        errors = talk.take_errors()
        if errors:
            self._note_errors(errors)

    def keep_exchanged(self, sent: Sent, received: Received, used: int) -> None:
        """Record what compiled code has sent to the engine and received from it during a game.

        Compiled code has processed the first ``used`` pieces of output. The lines in the later pieces are left for
        ``read_line`` to return.
        """
        self.asked_ns = self.talk.asked_ns
        if used < received.arrivals:
            self.dialogue.exchanged(sent, received.first(used))
            for output, at_ns in itertools.islice(received.pieces(), used, None):
                self._note_output(output, at_ns)
                self.late_ns = self.talk.late_ns
        else:
            self.dialogue.exchanged(sent, received)
        errors = self.talk.take_errors()
        if errors:
            self._note_errors(errors)

    @property
    def is_quiet(self) -> bool:
        """Whether the process is running and no output waits to be read."""
        return not (self.has_ended or self._lines or self._begun or self._skipping)

    def take_unasked(self) -> Sequence[str]:
        """Return and remove the complete lines that arrived while no caller waited, in the form of ``read_line``."""
        if not self.has_ended and self.talk.has_unread and self._read_output() == READ_BYTES:
            self._read_rest()
        if not self._lines:
            return ()
        lines = [plain_line(line.decode(errors="replace")) for line in self._lines]
        self._lines.clear()
        return lines

    def leave(self, farewell: str | None, max_ms: int) -> bool:
        """Ask the process to exit, and wait; returns whether it exits within ``max_ms`` milliseconds.

        Sends the command ``farewell``; if that is ``None``, closes the input.
        """
        if farewell is not None:
            self.send([farewell], time.monotonic_ns() + max_ms * 1_000_000)
        elif self._process.stdin is not None:
            self._process.stdin.close()
        return self._wait_for_exit(max_ms)

    # Reading.

    def _read_rest(self) -> None:
        """Read everything that the output pipe and the error pipe contain now, at most about ``UNASKED_BYTES``."""
        taken = 1
        total = 0
        while taken and total < UNASKED_BYTES:
            taken = self._read_output() if not self._ended else 0
            taken += self._read_errors() if self.talk.error_is_open else 0
            total += taken

    def _read_output(self) -> int:
        """Read the output pipe once; returns the number of bytes read."""
        try:
            chunk = os.read(self._output, READ_BYTES)
        except BlockingIOError:
            return 0
        except OSError:
            chunk = b""
        if not chunk:
            self._end_output()
            return 0
        self._note_output(chunk, time.monotonic_ns())
        return len(chunk)

    def _note_output(self, chunk: bytes, at_ns: int) -> None:
        self.arrived_ns = at_ns
        if self.dialogue.sink is not None:
            self.dialogue.sink.write("<", chunk, at_ns)
        self._take(chunk, at_ns)
        self.talk.is_in_line = self._skipping or self._begun != b""

    def _end_output(self) -> None:
        self._ended = True
        if self._begun:  # the last line may lack a newline
            self._lines.append(self._begun)
            self._begun = b""

    def _take(self, chunk: bytes, at_ns: int) -> None:
        """Split new output into lines and store these; the part of a line beyond ``LINE_BYTES`` is discarded."""
        if self._skipping:
            _, end, chunk = chunk.partition(b"\n")
            self._skipping = not end
        if not chunk:
            return
        self.dialogue.received(chunk, at_ns)
        *lines, self._begun = (self._begun + chunk).split(b"\n")
        self._lines += lines
        if len(self._begun) > LINE_BYTES:
            self._begun, self._skipping = b"", True
            self.dialogue.received(b"\n", at_ns)
            self.dialogue.remark(f"that line is longer than {LINE_BYTES} bytes; it is thrown away")

    def _read_errors(self) -> int:
        try:
            chunk = os.read(self._error, READ_BYTES)
        except BlockingIOError:
            return 0
        except OSError:
            chunk = b""
        if not chunk:
            self.talk.close_error()
            return 0
        self._note_errors(chunk)
        return len(chunk)

    def _note_errors(self, chunk: bytes) -> None:
        if self.dialogue.sink is not None:
            self.dialogue.sink.write("!", chunk)
        self.error_bytes += len(chunk)
        self._errors = (self._errors + chunk)[-ERROR_TAIL_BYTES:]

    # Ending.

    def end(self, farewell: str | None = None) -> None:
        """End the process and its group; a command ``farewell`` such as ``quit`` first lets it exit by itself."""
        if self._gone:
            return
        by_itself = self._wait_for_exit(20) if self._ended else False
        has_left = False
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        if farewell is not None and not self._ended:
            with contextlib.suppress(OSError):
                self.dialogue.sent(farewell)
                os.write(self._input, f"{farewell}\n".encode())
            self._process.stdin.close()
            has_left = self._wait_for_exit(FAREWELL_MS)
            if not has_left:
                kill_group(self._process.pid, signal.SIGTERM)
                self._wait_for_exit(TERMINATE_MS)
        # The group is killed in every case, for the children, and before the leader is reaped: until then its number
        # cannot belong to anybody else.
        kill_group(self._process.pid)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=1.0)
        self._exit = self._describe_exit(by_itself or has_left)
        if by_itself and (self._process.returncode or 0) < 0:
            self.exit_signal = -self._process.returncode
        self._gone = True
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            pipe.close()
        if self._death >= 0:
            os.close(self._death)
        SUPERVISOR.release(self._process.pid)
        for line in self._errors.decode(errors="replace").splitlines()[-20:]:
            self.dialogue.remark(f"stderr: {line[: Dialogue.LINE_CHARACTERS]}", is_new=False)
        self.dialogue.remark(self._exit.text())
        if self.dialogue.sink is not None:
            self.dialogue.sink.close()

    @property
    def exit(self) -> Fault:
        """Description of how the process ended; call it only after ``end``.

        Quotes the last line of the error stream or, if there is none, an error in the normal output.
        """
        assert self._exit is not None, "a process that has been ended"
        errors = self._errors.decode(errors="replace").strip().splitlines()
        said = errors[-1] if errors else self.dialogue.last_error()
        if not said:
            return self._exit
        words = "".join(letter if letter.isprintable() else "?" for letter in said[:200].rstrip("."))
        return Fault("last_words", exit=self._exit, words=words)

    def _describe_exit(self, by_itself: bool) -> Fault:
        status = self._process.returncode
        if not by_itself:
            return Fault("exit_closed" if self._ended else "exit_harness")
        if status is not None and status < 0:
            return Fault("exit_signal", number=-status, name=_signal_name(-status))
        return Fault("exit_code", code=str(status))

    def _has_exited(self) -> bool:
        """Whether the process has exited.

        If the system has ``waitid``, the exited process remains a zombie, so that its process id is not reused.
        """
        if not hasattr(os, "waitid"):
            return self._process.poll() is not None
        if self._process.returncode is not None:
            return True
        try:
            return os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:
            return True

    def _wait_for_exit(self, max_ms: int) -> bool:
        """Wait at most ``max_ms`` milliseconds until the process exits; returns whether it has exited.

        Discards the process's output, so that writing cannot block the process.
        """
        deadline_ns = time.monotonic_ns() + max_ms * 1_000_000
        pause_ms = 1.0
        while not self._has_exited():
            if time.monotonic_ns() >= deadline_ns:
                return False
            if not self._ended:
                self._read_rest()
                self._lines.clear()
            time.sleep(pause_ms / 1e3)
            pause_ms = min(2 * pause_ms, 20.0)
        self._read_rest()
        return True


def _descriptor_of(process_id: int) -> int:
    """File descriptor that becomes readable when the process exits; -1 if the system does not support that."""
    if hasattr(os, "pidfd_open"):
        with contextlib.suppress(OSError):
            return os.pidfd_open(process_id)
    return -1


def find_program(command: Sequence[str], directory: str | None) -> str:
    """Absolute path of a command's program; raises ``PlayerFault`` (``startup_failure``) if it cannot be started."""
    if not command:
        raise PlayerFault("startup_failure", Fault("no_command"))
    program = command[0]
    if directory is not None and not os.path.isdir(directory):
        raise _cannot_start(program, Fault("no_directory", directory=directory))
    if os.sep not in program:
        found = shutil.which(program) or shutil.which(program, path=os.pathsep.join(GAMES_DIRECTORIES))
        if found is None:
            raise _cannot_start(program, _missing(program, "", Fault("not_in_path")))
        _check_first_line(program, found)
        return os.path.abspath(found)
    program = os.path.expanduser(program)
    path = os.path.join(directory or "", program)
    if not os.path.isfile(path):
        path = program  # relative to elolab's working directory
    if os.path.isdir(path):
        raise _cannot_start(program, Fault("is_folder"))
    if not os.path.isfile(path):
        raise _cannot_start(program, _missing(program, directory or "", Fault("no_file")))
    if not os.access(path, os.X_OK):
        raise _cannot_start(program, Fault("not_executable", path=path))
    _check_first_line(program, path)
    return os.path.abspath(path)


def _check_first_line(program: str, path: str) -> None:
    """Raise ``PlayerFault`` if the interpreter of the script ``path`` is missing; the system's error would not name it.

    Messages contain ``program``, the name of the program as the user gave it.
    """
    try:
        with open(path, "rb") as file:
            first = file.readline(FIRST_LINE_BYTES).decode(errors="replace").rstrip("\n")
    except OSError:
        return  # an executable file need not be readable
    if not first.startswith("#!"):
        return
    interpreter, *arguments = re.split(r"[ \t]+", first[2:].strip(" \t"))
    if first.endswith("\r") and (not arguments or os.path.basename(interpreter) == "env"):
        why = Fault("carriage_return", path=shlex.quote(path))
    elif os.path.isabs(interpreter) and not os.path.exists(interpreter):
        why = Fault("no_interpreter", interpreter=interpreter)
    else:
        return
    raise _cannot_start(program, why)


def _missing(program: str, directory: str, why: Fault) -> Fault:
    """The reason why a program cannot be found: a likely mistake in its name, or ``why`` if none is recognised.

    ``directory`` is the folder in which relative paths start.
    """
    if WINDOWS_PATH.match(program):
        return Fault("windows_path")
    alone = program.split()[0] if program.split() else program
    if alone != program and (os.path.isfile(os.path.join(directory, alone)) or shutil.which(alone)):
        return Fault("holds_arguments", alone=alone)
    return why


def _cannot_start(program: str, why: Fault | str) -> PlayerFault:
    shown = f"'{program}'" if program.isprintable() and "'" not in program else repr(program)  # keep backslashes single
    return PlayerFault("startup_failure", Fault("cannot_start", program=shown, why=why))


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"
