"""Limits of a player's moves: depth, nodes, time per move, or a clock."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from elolab.engine.errors import UserError
from elolab.engine.settings.configuration import nearest
from elolab.engine.settings.whole_numbers import natural_number

GRAMMAR = (
    "nodes=1000 | depth=6 | move_time=0.1 | clock=10+0.1[,node_clock=N|,cpu] "
    "(seconds; clock=40/10+0.1 is 40 moves in 10 s plus 0.1 s a move)"
)
LIMIT_NAMES = ("nodes", "depth", "move_time", "clock", "node_clock", "cpu")

MARGIN_MS = 100
"""Default margin, in milliseconds, by which a move may exceed its time without losing the game."""

OWN_LEVEL = "own"
"""Text of a limit that limits nothing: the player plays at its own level, because its protocol has no limits."""


class LimitError(UserError):
    """An unreadable limit; the message quotes it and shows the grammar."""


@dataclass(frozen=True)
class Limits:
    """The limits of one player, for every move of a game.

    Any combination may be set; the first limit reached ends the search. ``None`` means that there is no such limit.
    """

    depth: int | None = None
    """Maximum depth of the search, in plies."""
    nodes: int | None = None
    """Maximum number of nodes per move; one node is one move made in the main or the quiescence search."""
    move_time_ms: int | None = None
    """Time for each move, in milliseconds."""
    clock_ms: int | None = None
    """Time on the clock at the start of the game, or of each time control, in milliseconds."""
    increment_ms: int = 0
    """Time added to the clock after each move, in milliseconds."""
    moves_per_control: int = 0
    """Number of a player's moves after which ``clock_ms`` is added again; 0 if the time is for the whole game."""
    clock_kind: str = "wall"
    """Clock: ``wall`` for real time, ``cpu`` for the search thread's CPU time, ``node`` for nodes at a fixed speed."""
    nodes_per_second: int | None = None
    """Speed of the node clock: number of nodes that count as one second."""

    @property
    def is_timed(self) -> bool:
        """Whether the limits include a clock or a time per move."""
        return self.move_time_ms is not None or self.clock_ms is not None

    @property
    def is_on_wall_clock(self) -> bool:
        """Whether the limits include wall-clock time, which also runs while a player waits for a processor."""
        return self.is_timed and self.clock_kind == "wall"

    def scaled(self, scale: float) -> Limits:
        """A copy with clock, increment and time per move multiplied by ``scale``, in whole milliseconds.

        If the limits do not use wall-clock time, they are returned unchanged.
        """
        if not self.is_on_wall_clock:
            return self

        def times(milliseconds: int | None) -> int | None:
            return None if milliseconds is None else max(1, round(milliseconds * scale))

        increment_ms = round(self.increment_ms * scale)
        return replace(
            self, move_time_ms=times(self.move_time_ms), clock_ms=times(self.clock_ms), increment_ms=increment_ms
        )

    @property
    def is_reproducible(self) -> bool:
        """Whether games under these limits are the same on every machine and at any load."""
        if self.is_timed:
            return self.clock_kind == "node"
        return self.depth is not None or self.nodes is not None

    @property
    def nanoseconds_per_node(self) -> int:
        """Time that one node counts on the node clock, in nanoseconds; 0 for other clocks."""
        if self.nodes_per_second is None:
            return 0
        return max(1, 1_000_000_000 // self.nodes_per_second)

    @classmethod
    def parse(cls, text: str) -> Limits:
        """Parse limits in the notation of the command line and of configuration files (see ``GRAMMAR``).

        Raises ``LimitError``, which quotes the text and shows the grammar.
        """
        found: dict[str, int | str] = {}

        def put(key: str, value: int | str) -> None:
            if key in found:
                raise LimitError(f"limit {text!r}: {key} is given twice")
            found[key] = value

        for part in str(text).split(","):
            name, _, value = (piece.strip() for piece in part.partition("="))
            if name == "cpu" and not value:
                put("clock_kind", "cpu")
            elif name == "depth":
                put("depth", _count(text, name, value, 1, 120))
            elif name == "nodes":
                put("nodes", _count(text, name, value, 1, 10**15))
            elif name == "move_time":
                put("move_time_ms", _milliseconds(text, value, least=1))
            elif name == "node_clock":
                put("clock_kind", "node")
                put("nodes_per_second", _count(text, name, value, 1, 10**9))
            elif name == "clock":
                match = re.fullmatch(r"(?:(\d+)/)?([0-9.]+)(?:\+([0-9.]+))?", value)
                if not match:
                    raise LimitError(f"limit {text!r}: cannot read clock {value!r}", f"expected {GRAMMAR}")
                moves, base, increment = match.groups()
                put("moves_per_control", _count(text, "moves to a control", moves or "0", 0, 10_000))
                put("clock_ms", _milliseconds(text, base, least=1))
                put("increment_ms", _milliseconds(text, increment or "0", least=0))
            else:
                hint = nearest(name, LIMIT_NAMES)
                raise LimitError(f"limit {text!r}: cannot read {part.strip()!r}{hint}", f"expected {GRAMMAR}")
        limits = cls(**found)  # type: ignore[arg-type]
        if limits.clock_kind != "wall" and not limits.is_timed:
            raise LimitError(
                f"limit {text!r}: {limits.clock_kind} clock without clock= or move_time=", f"expected {GRAMMAR}"
            )
        return limits

    def __str__(self) -> str:
        parts = []
        if self.depth is not None:
            parts.append(f"depth={self.depth}")
        if self.nodes is not None:
            parts.append(f"nodes={self.nodes}")
        if self.move_time_ms is not None:
            parts.append(f"move_time={_seconds(self.move_time_ms)}")
        if self.clock_ms is not None:
            control = f"{self.moves_per_control}/" if self.moves_per_control else ""
            parts.append(f"clock={control}{_seconds(self.clock_ms)}+{_seconds(self.increment_ms)}")
        if self.clock_kind == "node":
            parts.append(f"node_clock={self.nodes_per_second}")
        elif self.clock_kind == "cpu":
            parts.append("cpu")
        return ",".join(parts) or OWN_LEVEL


def _seconds(milliseconds: int) -> str:
    return f"{milliseconds // 1000}.{milliseconds % 1000:03d}".rstrip("0").rstrip(".")


def _count(text: str, name: str, value: str, low: int, high: int) -> int:
    number = natural_number(value.replace("_", ""))
    if number is None or not low <= number <= high:
        raise LimitError(f"limit {text!r}: {name} is {value!r}, expected a whole number from {low} to {high}")
    return number


def _milliseconds(text: str, value: str, least: int) -> int:
    try:
        milliseconds = round(float(value) * 1000)
    except (ValueError, OverflowError):
        milliseconds = -1
    if not least <= milliseconds <= 10**9:
        raise LimitError(f"limit {text!r}: time {value!r} is not between {least / 1000:g} and 1000000 seconds")
    return milliseconds
