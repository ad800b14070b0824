"""Rough estimates of the duration of games before any game is played, for dry runs and time budgets."""

from __future__ import annotations

from collections.abc import Sequence

from elolab.engine.settings.limits import Limits

PLIES = 120
"""Assumed plies per game."""
NODES_PER_SECOND = 1_000_000
"""Assumed speed of the built-in engine, about that of ``elolab bench`` on a shared cloud core."""
OWN_SECONDS = 0.1
"""Assumed seconds per move of a player that has no limits and chooses its own time."""
NODES_PER_PLY = 3
"""Assumed factor by which each additional ply of depth multiplies the nodes."""


def estimated_game_seconds(limits: Sequence[Limits]) -> float:
    """Estimated processor seconds of a game between players with these limits, who make equally many moves."""
    return PLIES * sum(estimated_move_seconds(one) for one in limits) / len(limits)


def estimated_move_seconds(limits: Limits) -> float:
    """Estimated processor seconds of a move under these limits."""
    candidates = []
    if limits.nodes is not None:
        candidates.append(limits.nodes / NODES_PER_SECOND)
    if limits.depth is not None:
        candidates.append(NODES_PER_PLY**limits.depth / NODES_PER_SECOND)
    # A node clock runs at its own speed, in nodes per second.
    pace = 1.0 if limits.nodes_per_second is None else limits.nodes_per_second / NODES_PER_SECOND
    if limits.move_time_ms is not None:
        candidates.append(limits.move_time_ms / 1000 * pace)
    if limits.clock_ms is not None:
        moves = limits.moves_per_control or PLIES // 2
        candidates.append((limits.clock_ms / moves + limits.increment_ms) / 1000 * pace)
    return min(candidates, default=OWN_SECONDS)


def depends_on_speed(limits: Limits) -> bool:
    """Whether the duration of a move depends on the speed of the program, so that it is unknown for a new program."""
    return not limits.is_timed or limits.clock_kind == "node" or limits.nodes is not None or limits.depth is not None


def duration_text(seconds: float, *, always_hours: bool = False) -> str:
    """Format a duration as ``0:07``, ``12:34`` or ``3:04:05``; with ``always_hours`` as ``0:00:07``."""
    whole = max(0, round(seconds))
    hours, rest = divmod(whole, 3600)
    minutes, seconds = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours or always_hours else f"{minutes}:{seconds:02}"
