"""Values of an examination: its settings, the remarks of its checks, and parsed output of the program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from elolab.engine.settings.limits import MARGIN_MS


@dataclass(frozen=True)
class CheckSettings:
    """The program to check, and the examiner's tolerances."""

    game: str
    protocol: str
    """One of ``arena.checking.dialects.DIALECTS``."""
    command: tuple[str, ...]
    directory: str | None = None
    options: tuple[tuple[str, str], ...] = ()
    """Options set after every start, as in a tournament."""
    margin_ms: int = MARGIN_MS
    """Tolerance for a late answer."""
    start_ms: int = 60_000
    """Longest wait for the handshake."""
    timeout_ms: int = 10_000
    """Longest wait for an answer that no clock bounds."""
    quiet_ms: int = 300
    """Listening time where the program should stay silent."""
    ending_ms: int = 2_000
    """Time to end after ``quit``, or after the end of input."""
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
    """Positions whose answers must be legal, and games over which memory is watched."""


class Remark(NamedTuple):
    """A message of ``arena.checking`` with its fields."""

    key: str
    values: dict[str, Any]


def remark(key: str, **values: Any) -> Remark:
    """The message ``key`` with its fields."""
    return Remark(key, values)


class CheckEnded(Exception):
    """A check ends without passing; its remark says why."""

    def __init__(self, key: str, **values: Any) -> None:
        super().__init__(key)
        self.remark = Remark(key, values)


class Failed(CheckEnded):
    """Raised when a program does not behave as a check demands; the message describes what it did."""


class Skipped(CheckEnded):
    """A demand cannot be tried on this program, in this game or protocol, or on this system."""


class SearchLine(NamedTuple):
    """Contents of one line about a running search; ``None`` for missing parts."""

    depth: int | None = None
    nodes: int | None = None
    has_score: bool = False
    variation: tuple[str, ...] = ()
    """Moves as the program wrote them."""


class SearchAnswer(NamedTuple):
    """The answer to a search."""

    line: str
    """The answer in the program's words."""
    said: str | None
    """The move in the program's words; ``None`` if it has none."""
    move: str | None
    """The move in the game's notation; ``None`` if there is none or it is unreadable."""
    elapsed_ms: float
    lines: tuple[str, ...] = ()
    """Output before the answer."""
    expected: str | None = None
    """The reply it expects, in the game's notation."""
    has_resigned: bool = False
