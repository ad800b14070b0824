"""How long games take, before any of them was played, and how that is said: for dry runs and budgets in time."""

from __future__ import annotations

from collections.abc import Sequence

from elolab.engine.settings.limits import Limits

PLIES = 120
"""Moves a game is taken to have, both sides together."""
NODES_PER_SECOND = 1_000_000
"""Speed the built-in engine is taken to have, about that of ``elolab bench`` on a shared cloud core."""
OWN_SECONDS = 0.1
"""Time a move that a player at its own level is taken to need."""
NODES_PER_PLY = 3
"""Factor by which one more ply of depth multiplies the nodes."""


def estimated_game_seconds(limits: Sequence[Limits]) -> float:
    """Seconds of one processor for a game between players with these limits, who have as many moves each."""
    return PLIES * sum(estimated_move_seconds(one) for one in limits) / len(limits)


def estimated_move_seconds(limits: Limits) -> float:
    """Seconds of one processor that a move under these limits takes."""
    candidates = []
    if limits.nodes is not None:
        candidates.append(limits.nodes / NODES_PER_SECOND)
    if limits.depth is not None:
        candidates.append(NODES_PER_PLY**limits.depth / NODES_PER_SECOND)
    # A node clock passes at its own speed, so many nodes a second of it.
    pace = 1.0 if limits.nodes_per_second is None else limits.nodes_per_second / NODES_PER_SECOND
    if limits.move_time_ms is not None:
        candidates.append(limits.move_time_ms / 1000 * pace)
    if limits.clock_ms is not None:
        moves = limits.moves_per_control or PLIES // 2
        candidates.append((limits.clock_ms / moves + limits.increment_ms) / 1000 * pace)
    return min(candidates, default=OWN_SECONDS)


def depends_on_speed(limits: Limits) -> bool:
    """Whether a move takes a slow program longer than a fast one, so that nothing is known of one never seen."""
    return not limits.is_timed or limits.clock_kind == "node" or limits.nodes is not None or limits.depth is not None


def duration_text(seconds: float, *, always_hours: bool = False) -> str:
    """``0:07``, ``12:34``, ``3:04:05``; with ``always_hours``, ``0:00:07``."""
    whole = max(0, round(seconds))
    hours, rest = divmod(whole, 3600)
    minutes, seconds = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours or always_hours else f"{minutes}:{seconds:02}"
