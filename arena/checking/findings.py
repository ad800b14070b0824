"""Data types of an examination: its settings, the remarks of its checks, and the program's parsed output."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from elolab.engine.settings.limits import MARGIN_MS


@dataclass(frozen=True)
class CheckSettings:
    """The program to check, and the tolerances of the checks; fields that end in ``_ms`` are in milliseconds."""

    game: str
    protocol: str
    """Name of the protocol that the program uses: one of ``arena.checking.dialects.DIALECTS``."""
    command: tuple[str, ...]
    directory: str | None = None
    options: tuple[tuple[str, str], ...] = ()
    """Names and values of options that are set after every start of the program."""
    margin_ms: int = MARGIN_MS
    """Time by which an answer may exceed its limit."""
    start_ms: int = 60_000
    """Maximum time for the handshake."""
    timeout_ms: int = 10_000
    """Maximum time for an answer to a search without a time limit."""
    quiet_ms: int = 300
    """Time for which a check waits for output while the program should be silent."""
    ending_ms: int = 2_000
    """Maximum time for the program to end after ``quit`` or the end of its input."""
    stop_ms: int = 1_000
    """Maximum time for the answer to an interruption such as ``stop``."""
    move_time_ms: int = 300
    clock_ms: int = 1_000
    increment_ms: int = 10
    game_moves: int = 100
    """Number of plies of the self-play game that checks whether the program keeps within its time."""
    depth: int = 4
    nodes: int = 20_000
    repetitions: int = 8
    """Number of positions in the checks of legal moves, and number of games in the check of memory growth."""


class Remark(NamedTuple):
    """A remark of a check: a message key in the catalogue of ``arena.checking``, and the values of its fields."""

    key: str
    values: dict[str, Any]


def remark(key: str, **values: Any) -> Remark:
    """Make a remark from the key of a message and the values of its fields."""
    return Remark(key, values)


class CheckEnded(Exception):
    """Raised when a check ends without passing; the remark gives the reason."""

    def __init__(self, key: str, **values: Any) -> None:
        super().__init__(key)
        self.remark = Remark(key, values)


class Failed(CheckEnded):
    """Raised if a program does not behave as a check requires; the remark describes its behaviour."""


class Skipped(CheckEnded):
    """Raised when a check does not apply to this program, game, protocol or system."""


class LimitRemains(Exception):
    """Raised before a search that needs a new process, because the current one may keep an earlier search's limit."""


class SearchLine(NamedTuple):
    """Contents of one line of search output; ``depth`` and ``nodes`` are ``None`` if the line lacks them."""

    depth: int | None = None
    nodes: int | None = None
    has_score: bool = False
    variation: tuple[str, ...] = ()
    """Principal variation: moves as the program wrote them; empty if the line has none."""


class SearchAnswer(NamedTuple):
    """The answer to a search."""

    line: str
    """The line with the answer, as the program wrote it."""
    said: str | None
    """The move as the program wrote it; ``None`` if the answer contains no move."""
    move: str | None
    """The move in the game's notation; ``None`` if the answer contains no valid move."""
    elapsed_ms: float
    lines: tuple[str, ...] = ()
    """Output lines before the answer."""
    expected: str | None = None
    """The opponent's reply that the program expects, in the game's notation; ``None`` if the answer names none."""
    has_resigned: bool = False
