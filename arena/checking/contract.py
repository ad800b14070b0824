"""What a check is made of: what was asked for, how a check can end, and what a program's words say."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from arena.checking.examination import Examination


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
    margin_ms: int = 100
    """How much later than told an answer may come."""
    timeout_ms: int = 10_000
    """Longest wait for an answer that no clock bounds, and for the program's start."""
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
    """Positions whose answers have to be legal, and searches after which memory is compared."""


class Failed(Exception):
    """A demand is not met; ``key`` is a message that says what the program did, with its fields."""

    def __init__(self, key: str, **values: Any) -> None:
        super().__init__(key)
        self.key = key
        self.values = values


class Skipped(Exception):
    """A demand cannot be tried; ``key`` is a message that says why, with its fields."""

    def __init__(self, key: str, **values: Any) -> None:
        super().__init__(key)
        self.key = key
        self.values = values


@dataclass(frozen=True)
class Check:
    """One line of the examination; what it demands is the message ``demand.NAME``."""

    name: str
    test: Callable[[Examination], Coroutine[Any, Any, None]]
    """Returns if the demand is met; raises ``Failed`` or ``Skipped``."""
    is_advice: bool = False
    """Whether a failure is told but does not count."""
    needs: tuple[str, ...] = ("handshake",)
    """Checks without which it cannot be tried."""
    is_fresh: bool = False
    """Whether it begins with a new process."""


@dataclass(frozen=True)
class Option:
    """An option as the program announced it."""

    name: str
    kind: str
    """``check``, ``spin``, ``combo``, ``button`` or ``string``."""
    default: str = ""
    low: int | None = None
    high: int | None = None
    choices: tuple[str, ...] = ()
    line: str = ""
    """The words in which it was announced."""


@dataclass(frozen=True)
class Information:
    """What one line says of a running search; ``None`` for what it does not say."""

    depth: int | None = None
    nodes: int | None = None
    has_score: bool = False
    is_mate: bool = False
    variation: tuple[str, ...] = ()
    """Moves as the program wrote them."""


@dataclass(frozen=True)
class Answer:
    """What a search came to."""

    line: str
    """The answer in the program's words."""
    said: str | None
    """The move as it wrote it; ``None`` if it has none."""
    move: str | None
    """The move in the game's notation; ``None`` if it has none, or none that can be read."""
    elapsed_ms: float
    lines: tuple[str, ...] = ()
    """What was said before the answer."""
    expected: str | None = None
    """The reply it expects, in the game's notation."""
    has_resigned: bool = False
