"""What all of an examination share: what was asked for, how a check can end, and what a program's words say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from elolab.engine.settings.limits import MARGIN_MS


@dataclass(frozen=True)
class CheckSettings:
    """The program to be checked, and how patient its examiner is."""

    game: str
    protocol: str
    """One of ``arena.checking.dialects.DIALECTS``."""
    command: tuple[str, ...]
    directory: str | None = None
    options: tuple[tuple[str, str], ...] = ()
    """Set after every start, as for a tournament."""
    margin_ms: int = MARGIN_MS
    """How much later than told an answer may come."""
    start_ms: int = 60_000
    """Longest wait for the handshake."""
    timeout_ms: int = 10_000
    """Longest wait for an answer that no clock bounds."""
    quiet_ms: int = 300
    """How long the program is listened to where it has nothing to say."""
    ending_ms: int = 2_000
    """Time to end after ``quit``, and after the end of the input."""
    stop_ms: int = 1_000
    """Time to answer ``stop``."""
    move_time_ms: int = 300
    clock_ms: int = 1_000
    increment_ms: int = 10
    game_moves: int = 100
    """Moves of both sides, played against itself on that clock."""
    depth: int = 4
    nodes: int = 20_000
    repetitions: int = 8
    """Positions whose answers have to be legal, and games over which memory is watched."""


class Remark(NamedTuple):
    """A sentence for people: a message of ``arena.checking`` with its fields."""

    key: str
    values: dict[str, Any]


def remark(key: str, **values: Any) -> Remark:
    """The message ``key`` with its fields."""
    return Remark(key, values)


class Failed(Exception):
    """A demand is not met; the message says what the program did."""

    def __init__(self, key: str, **values: Any) -> None:
        super().__init__(key)
        self.remark = Remark(key, values)


class Skipped(Exception):
    """A demand cannot be tried; the message says why."""

    def __init__(self, key: str, **values: Any) -> None:
        super().__init__(key)
        self.remark = Remark(key, values)


class Information(NamedTuple):
    """What one line says of a running search; ``None`` for what it does not say."""

    depth: int | None = None
    nodes: int | None = None
    has_score: bool = False
    variation: tuple[str, ...] = ()
    """Moves as the program wrote them."""


class Answer(NamedTuple):
    """What a search came to."""

    line: str
    """The answer in the program's words."""
    said: str | None
    """The move in the program's words; ``None`` if it has none."""
    move: str | None
    """The move in the game's notation; ``None`` if it has none, or none that can be read."""
    elapsed_ms: float
    lines: tuple[str, ...] = ()
    """What was said before the answer."""
    expected: str | None = None
    """The reply it expects, in the game's notation."""
    has_resigned: bool = False
