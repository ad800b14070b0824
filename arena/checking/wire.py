"""The connection to a program under examination; silence and sudden ends count as failures."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import PurePath

from elolab.arena.checking.contract import Failed
from elolab.arena.players.external import LogDialogue
from elolab.arena.players.process import DeadlinePassed, EngineProcess, ProcessEnded

MAX_LINES = 10_000
"""Most lines kept before an answer; older ones are dropped."""
WRITE_MS = 2_000
"""How long a program may leave its input unread."""


class Wire:
    """One process of the program. Raises ``PlayerFault`` if it cannot be started."""

    def __init__(self, command: Sequence[str], directory: str | None, log: LogDialogue | None = None) -> None:
        """``log`` is asked where the whole dialogue is kept."""
        self.process = EngineProcess(command, directory)
        if log is not None:
            name = PurePath(command[0]).name
            self.process.dialogue.sink = log(name, self.process.command, self.process.process_id)
        self.line_end = ""
        """Suffix of every line sent."""

    @property
    def arrived_ns(self) -> int:
        """Arrival time of the last awaited line."""
        return self.process.arrived_ns

    async def say(self, *lines: str) -> None:
        """Write lines; raises ``Failed`` if the program has ended or does not read them."""
        try:
            await self.process.send([line + self.line_end for line in lines], _after(WRITE_MS))
        except DeadlinePassed:
            raise Failed("failure.does_not_read", seconds=f"{WRITE_MS / 1000:g}") from None
        except ProcessEnded:
            raise await self.ended() from None

    async def hear(self, deadline_ns: int) -> str | None:
        """Read the next line, ``None`` on timeout; raises ``Failed`` if the program has ended."""
        try:
            return await self.process.read_line(deadline_ns)
        except DeadlinePassed:
            return None
        except ProcessEnded:
            raise await self.ended() from None

    async def hear_until(self, is_answer: Callable[[str], bool], ms: float, awaited: str) -> list[str]:
        """Read lines up to the answer; raises ``Failed``, naming ``awaited``, if it does not come."""
        deadline_ns = _after(ms)
        lines: deque[str] = deque(maxlen=MAX_LINES)
        while not lines or not is_answer(lines[-1]):
            line = await self.hear(deadline_ns)
            if line is None:
                key = "failure.no_answer" if self.process.dialogue.last_received() else "failure.silent"
                raise Failed(key, awaited=awaited, seconds=f"{ms / 1000:g}")
            lines.append(line)
        return list(lines)

    async def overhear(self, ms: float, is_answer: Callable[[str], bool] = lambda line: False) -> list[str]:
        """Read lines for that time, stopping at an answer."""
        deadline_ns = _after(ms)
        lines: deque[str] = deque(maxlen=MAX_LINES)
        while (line := await self.hear(deadline_ns)) is not None:
            lines.append(line)
            if is_answer(line):
                break
        return list(lines)

    async def leave(self, farewell: str | None, ms: int) -> bool:
        """Send the farewell, or close the input without one; returns whether the program ends by itself in time."""
        try:
            return await self.process.leave(farewell, ms)
        except (DeadlinePassed, ProcessEnded):
            return False

    def take_unasked(self) -> Sequence[str]:
        """Take the lines that arrived without being awaited."""
        return self.process.take_unasked()

    async def ended(self) -> Failed:
        """The failure of a program that has ended by itself; reaps its process."""
        await self.process.end()
        return Failed("failure.ended", how=self.process.exit.text())


def _after(ms: float) -> int:
    return time.monotonic_ns() + round(ms * 1_000_000)
