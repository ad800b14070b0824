"""What any program can do amiss, whatever protocol it speaks: the part that all mock engines share.

Settings: ``at=N`` (the move, counted from 1, from which on it misbehaves), ``once=PATH`` (it behaves if PATH exists,
and creates it), ``seconds=S`` (how long it sleeps), ``file=PATH`` (where it notes process numbers). Only the standard
library, to start quickly.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from abc import ABC, abstractmethod


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


class Misbehaving(ABC):
    """A mock engine; its ``mode`` is the name of what it does amiss, which is a method ``any_MODE`` or of its own."""

    def __init__(self, mode: str, settings: dict[str, str]) -> None:
        self.mode = mode
        self.settings = settings
        self.searches = 0

    @abstractmethod
    def play(self) -> None:
        """Answer as a good engine does."""

    def begin(self) -> None:
        """What goes wrong before a word is said."""
        if self.mode == "exit_at_start":
            sys.stderr.write("cannot find my network file\n")
            sys.exit(3)
        if self.mode == "silent":
            time.sleep(1000)
        if self.mode.startswith("immortal"):
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN)
        if self.mode in ("child", "child_holds_pipe", "immortal_with_child"):
            self.note(str(subprocess.Popen(["sleep", "1000"]).pid))

    def note(self, line: str) -> None:
        if "file" in self.settings:
            with open(self.settings["file"], "a") as file:
                file.write(f"{line}\n")

    def leave(self) -> None:
        """Obey ``quit``, or the end of the input."""
        if self.mode.startswith("immortal"):
            time.sleep(1000)
        sys.exit(0)

    def is_time(self) -> bool:
        if self.searches < int(self.settings.get("at", "2")):
            return False
        marker = self.settings.get("once")
        if marker is not None:
            if os.path.exists(marker):
                return False
            open(marker, "w").close()
        return True

    def misdeed(self, prefix: str) -> bool:
        """Do what it was told to do amiss instead of answering, if it is time; whether it did."""
        misdeed = getattr(self, f"{prefix}_{self.mode}", None) or getattr(self, f"any_{self.mode}", None)
        if misdeed is None or not self.is_time():
            return False
        misdeed()
        return True

    def any_exit(self) -> None:
        sys.stderr.write("assertion failed: alpha < beta\n")
        sys.exit(5)

    any_child_holds_pipe = any_exit

    def any_segfault(self) -> None:
        os.kill(os.getpid(), signal.SIGSEGV)

    def any_hang(self) -> None:
        time.sleep(1000)

    def any_byte_flood(self) -> None:
        while True:
            sys.stdout.write("x" * 65536)

    def any_error_flood(self) -> None:
        for _ in range(128):
            sys.stderr.write("y" * 1_048_576)
        sys.stderr.flush()
        self.play()

    def any_long_line(self) -> None:
        say("z" * 2_000_000)
        self.play()

    def any_late(self) -> None:
        time.sleep(float(self.settings["seconds"]))
        self.play()

    def any_leave(self) -> None:
        """Answers, and is gone before the next question."""
        self.play()
        sys.exit(0)

    def any_deaf(self) -> None:
        """Answers, but does not read its input any more."""
        self.play()
        time.sleep(1000)
