"""Scripted dialogues with a session of the engine, in this process, over a pipe.

A transcript is a text file. ``> text`` is said to the engine, ``< text`` has to be its next line, ``<~ text`` one of
its next lines. In what it says ``*`` stands for anything and ``{name}`` for a word that may be used below.
``end of input`` closes the input. At the end the input is closed, and the engine has to end without another line,
unless a last line ``...`` lets it say more.
"""

from __future__ import annotations

import os
import queue
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

from elolab.engine.protocols.engine_server import EngineServer

TRANSCRIPTS = Path(__file__).parents[1] / "data" / "transcripts"
PATIENCE_S = 120
"""How long an answer may take, compilation included."""


class Listener:
    """A stream to write to whose lines are taken from a queue; it can go away as a closed pipe does."""

    def __init__(self) -> None:
        self.lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self.is_gone = False
        self._begun = ""

    def write(self, text: str) -> int:
        if self.is_gone:
            raise BrokenPipeError
        *lines, self._begun = (self._begun + text).split("\n")
        for line in lines:
            self.lines.put(line)
        return len(text)

    def flush(self) -> None:
        """Lines arrive at once."""


class Conversation:
    """A session that runs in a thread; leave it with ``close``."""

    def __init__(self, make: Callable[[TextIO], EngineServer]) -> None:
        self.listener = Listener()
        self.session = make(self.listener)  # type: ignore[arg-type]
        self.error: BaseException | None = None
        read, self._write = os.pipe()
        self._input_open = True
        self._thread = threading.Thread(target=self._run, args=(read,), daemon=True)
        self._thread.start()

    def _run(self, descriptor: int) -> None:
        try:
            self.session.run(descriptor)
        except BaseException as error:
            self.error = error
        self.listener.lines.put(None)

    def say(self, line: str) -> None:
        self.say_bytes(line.encode() + b"\n")

    def say_bytes(self, data: bytes) -> None:
        while data:
            data = data[os.write(self._write, data) :]

    def end_input(self) -> None:
        if self._input_open:
            os.close(self._write)
            self._input_open = False

    def hear(self) -> str | None:
        """The next line; ``None`` once the session has ended."""
        try:
            return self.listener.lines.get(timeout=PATIENCE_S)
        except queue.Empty:
            raise AssertionError("nothing was said") from None

    def hear_until(self, start: str) -> list[str]:
        """All lines up to the next that starts so."""
        heard: list[str] = []
        while True:
            line = self.hear()
            assert line is not None, f"ended without {start!r} after {heard[-5:]}, {self.error!r}"
            heard.append(line)
            if line.startswith(start):
                return heard

    def close(self) -> list[str]:
        """End the input, wait for the end, raise what the session raised; the lines that were left."""
        self.end_input()
        rest = list(iter(self.hear, None))
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive()
        if self.error is not None:
            raise self.error
        return rest


def play_transcript(path: Path, make: Callable[[TextIO], EngineServer]) -> None:
    """Hold the dialogue of a file; raises ``AssertionError`` with the file's line where it goes otherwise."""
    conversation = Conversation(make)
    known: dict[str, str] = {}
    may_say_more = False
    try:
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            kind, _, text = line.partition(" ")
            if kind == ">":
                conversation.say(text.format(**known))
            elif kind in ("<", "<~"):
                _expect(conversation, text, known, f"{path.name}:{number}", skips=kind == "<~")
            elif line == "end of input":
                conversation.end_input()
            elif line == "...":
                may_say_more = True
            else:
                assert not line or line.startswith("#"), f"{path.name}:{number}: cannot read {line!r}"
    finally:
        rest = conversation.close()
    assert may_say_more or not rest, f"{path.name}: said {rest} at the end"


def _expect(conversation: Conversation, text: str, known: dict[str, str], where: str, *, skips: bool) -> None:
    pattern = _pattern(text, known)
    heard: list[Any] = []
    while True:
        try:
            line = conversation.hear()
        except AssertionError as error:
            raise AssertionError(f"{where}: expected {text!r}, heard {heard[-5:]}, then {error}") from None
        heard.append(line)
        match = None if line is None else re.fullmatch(pattern, line)
        if match:
            known.update(match.groupdict())
            return
        if not skips or line is None:
            raise AssertionError(f"{where}: expected {text!r}, heard {heard[-5:]}")


def _pattern(text: str, known: dict[str, str]) -> str:
    """A regular expression for what is expected."""
    pattern = ""
    for piece in re.split(r"(\*|\{\w+\})", text):
        name = piece[1:-1]
        if piece == "*":
            pattern += ".*"
        elif not re.fullmatch(r"\{\w+\}", piece):
            pattern += re.escape(piece)
        elif name in known:
            pattern += re.escape(known[name])
        else:
            pattern += f"(?P={name})" if f"(?P<{name}>" in pattern else rf"(?P<{name}>\S+)"
    return pattern
