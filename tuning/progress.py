"""What a running study or ablation shows: one line that renews itself on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import TextIO

from arena.progress import PLAIN_SECONDS, SPEED_WINDOW_SECONDS, TERMINAL_SECONDS, WIDTH, duration_text


class RunProgress:
    """Counts games and shows them with speed, time left and the run's own words."""

    def __init__(self, planned: int, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self.planned = planned
        """Games that are still to be played when the run starts."""
        self.done = 0
        self.words: Callable[[], str] = str
        """What to say beside the games, such as the trial and the best so far."""
        self._stream = stream
        self._is_terminal = stream.isatty()
        self._clock = clock
        self._started = self._shown = clock()
        self._finishes: deque[float] = deque()

    def finished(self) -> None:
        """Count a game that has just ended."""
        self.done += 1
        self._finishes.append(self._clock())

    def tick(self) -> None:
        """Renew what is shown, if it is time."""
        now = self._clock()
        if now - self._shown >= (TERMINAL_SECONDS if self._is_terminal else PLAIN_SECONDS):
            self._shown = now
            self._write(self.line(), keep=False)

    def close(self) -> None:
        """Show the last state and leave the line."""
        if self.done:
            self._write(self.line(), keep=True)
        elif self._is_terminal:
            self._write("", keep=False)

    def line(self) -> str:
        """Games, speed, time left and the run's own words, within 79 columns."""
        parts = [f"{self.done}/{self.planned} games"]
        speed = self._games_per_second()
        if speed:
            parts.append(f"{speed:.0f}/s" if speed >= 10 else f"{speed:.1f}/s")
            parts.append(f"{duration_text(max(0, self.planned - self.done) / speed)} left")
        words = self.words()
        return "  ".join([*parts, *([words] if words else [])])[:WIDTH]

    def _games_per_second(self) -> float | None:
        now = self._clock()
        while self._finishes and self._finishes[0] < now - SPEED_WINDOW_SECONDS:
            self._finishes.popleft()
        elapsed = min(now - self._started, SPEED_WINDOW_SECONDS)
        return len(self._finishes) / elapsed if self._finishes and elapsed > 0 else None

    def _write(self, text: str, *, keep: bool) -> None:
        if self._is_terminal:
            self._stream.write("\r\x1b[K" + text + ("\n" if keep else ""))
        else:
            self._stream.write(text + "\n")
        self._stream.flush()
