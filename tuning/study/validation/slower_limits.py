"""The search limit of a study's second, slow validation, derived from the limit of the first one."""

from __future__ import annotations

from dataclasses import replace

from elolab.arena.play.estimates import NODES_PER_SECOND, estimated_move_seconds
from elolab.engine.settings.limits import Limits

SLOW_FACTOR = 4
"""Factor by which the slow validation multiplies nodes or time."""


def slower(limits: Limits, factor: int = SLOW_FACTOR) -> Limits:
    """Limits with ``factor`` times the nodes and times; if only the depth is limited, one ply deeper."""
    depth = limits.depth
    if depth is not None and limits.nodes is None and not limits.is_timed:
        depth += 1
    return replace(
        limits,
        depth=depth,
        nodes=None if limits.nodes is None else factor * limits.nodes,
        move_time_ms=None if limits.move_time_ms is None else factor * limits.move_time_ms,
        clock_ms=None if limits.clock_ms is None else factor * limits.clock_ms,
        increment_ms=factor * limits.increment_ms,
    )


def on_processor_clock(limits: Limits, factor: int = SLOW_FACTOR) -> Limits:
    """Convert limits to limits on processor time that take about ``factor`` times as long.

    With such limits, an engine whose settings make each node slower searches fewer nodes. A game clock stays a game
    clock. Limits of nodes or depth become a time per move, at an assumed speed of the built-in engine; a measured speed
    could change when a run resumes.
    """
    if not limits.is_timed:
        return Limits(move_time_ms=max(1, round(1000 * factor * estimated_move_seconds(limits))), clock_kind="cpu")
    pace = 1.0 if limits.nodes_per_second is None else limits.nodes_per_second / NODES_PER_SECOND

    def scaled(milliseconds: int) -> int:
        return max(1, round(factor * pace * milliseconds)) if milliseconds else 0

    return replace(
        slower(limits, factor),
        move_time_ms=None if limits.move_time_ms is None else scaled(limits.move_time_ms),
        clock_ms=None if limits.clock_ms is None else scaled(limits.clock_ms),
        increment_ms=scaled(limits.increment_ms),
        clock_kind="cpu",
        nodes_per_second=None,
    )
