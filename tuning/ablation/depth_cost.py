"""The cost of searching to a fixed depth: nodes, time and branching factor of several settings on common positions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from elolab.arena.records import Opening
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.parameters import BY_NAME, Value
from elolab.tuning.ablation.position_searches import PositionSearches

if TYPE_CHECKING:
    from elolab.engine.engine import Engine


class CostRatio(NamedTuple):
    """The variant's cost divided by the reference's: geometric mean over positions, with its 95 % interval."""

    ratio: float
    low: float
    high: float


def cost_ratio(variant: Sequence[float], reference: Sequence[float]) -> CostRatio:
    """Geometric mean of the ratios variant / reference, one ratio per position.

    The interval comes from Student's t for the mean logarithm.
    """
    logs = [math.log(max(one, 1) / max(other, 1)) for one, other in zip(variant, reference, strict=True)]
    mean = sum(logs) / len(logs)
    if len(logs) < 2:
        return CostRatio(math.exp(mean), 0.0, math.inf)
    variance = sum((value - mean) ** 2 for value in logs) / (len(logs) - 1)
    margin = half_width_of_t(len(logs) - 1) * math.sqrt(variance / len(logs))
    return CostRatio(math.exp(mean), math.exp(mean - margin), math.exp(mean + margin))


def ratio_columns(name: str, ratio: CostRatio | None) -> dict[str, Any]:
    """Table columns of the ratio called ``name``: its value and the interval's bounds; ``None`` if not measured."""
    columns = (f"{name}_ratio", f"{name}_ratio_low", f"{name}_ratio_high")
    return dict(zip(columns, ratio or (None, None, None), strict=True))


@lru_cache(maxsize=1024)
def half_width_of_t(degrees: int) -> float:
    """The half width of Student's 95 % interval, in standard errors, for a number of degrees of freedom (1 or more)."""
    low, high = 1.9, 13.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _probability_within(middle, degrees) < 0.95 else (low, middle)
    return high


def _probability_within(value: float, degrees: int) -> float:
    """Probability of Student's t between -``value`` and ``value``.

    A finite sum of powers of a cosine (Abramowitz and Stegun, "Handbook of Mathematical Functions", 26.7.3, 26.7.4).
    """
    angle, is_odd = math.atan(value / math.sqrt(degrees)), degrees % 2
    steps = np.arange(1, (degrees - is_odd) // 2)
    factors = (2 * steps - 1 + is_odd) / (2 * steps + is_odd) * math.cos(angle) ** 2
    total = math.sin(angle) * (1 + float(np.cumprod(factors).sum()))
    if not is_odd:
        return total
    return 2 / math.pi * (angle + (total * math.cos(angle) if degrees > 1 else 0.0))


@dataclass(frozen=True)
class DepthCost:
    """The cost of one search of a position to a fixed depth."""

    nodes: int
    """Nodes of the whole search."""
    iterations: tuple[tuple[int, int, int], ...]
    """Depth, nodes and nanoseconds since the start of the search, for each completed iteration."""


@dataclass(frozen=True)
class DepthRow:
    """The cost of one depth under one setting, over all counted positions."""

    setting: str
    depth: int
    """Depth of the iteration, in plies."""
    positions: int
    """Number of positions that completed the depth."""
    nodes: float
    """Nodes from the start of the search to the end of this depth: geometric mean over the positions."""
    time_ms: float
    """Milliseconds from the start of the search to the end of this depth: geometric mean over the positions.

    The time depends on the machine and its load.
    """
    branching_factor: float | None
    """Nodes to this depth divided by nodes to the previous depth: geometric mean over the positions.

    ``None`` if the table has no row for the previous depth.
    """
    nodes_per_second: float


def depth_rows(setting: str, searches: Sequence[DepthCost]) -> list[DepthRow]:
    """One row per depth that every counted position completed; ``setting`` names the engine's settings.

    Searches that ended early because they found a mate are left out, so that all rows cover the same positions.
    """
    rows: list[DepthRow] = []
    tables = [{depth: (nodes, time_ns) for depth, nodes, time_ns in one.iterations} for one in searches]
    deepest = max((max(table, default=0) for table in tables), default=0)
    tables = [table for table in tables if deepest in table]
    common = sorted(set.intersection(*(set(table) for table in tables))) if tables else []
    for depth in common:
        nodes = _geometric_mean([table[depth][0] for table in tables])
        time_ms = _geometric_mean([max(table[depth][1], 1000) for table in tables]) / 1e6
        before = rows[-1] if rows and rows[-1].depth == depth - 1 else None
        rows.append(
            DepthRow(
                setting, depth, len(tables), nodes, time_ms, None if before is None else nodes / before.nodes,
                1000 * nodes / time_ms,
            )
        )  # fmt: skip
    return rows


def _geometric_mean(values: Sequence[int]) -> float:
    return math.exp(sum(math.log(max(value, 1)) for value in values) / len(values))


def costs_to_depth(
    searches: PositionSearches,
    sets: Sequence[Mapping[str, Value]],
    positions: Sequence[Opening],
    depth: int,
    done: Callable[[int, int], None] = lambda finished, planned: None,
) -> list[tuple[DepthCost, ...]] | None:
    """Search each position to ``depth`` with each set of parameters; ``None`` if the run's stop flag was set.

    The result has a tuple for each set, with one cost per position. Parameters that only affect the clock are ignored.
    Before each set, ``done`` is called with the number of finished sets and the total number of sets.
    """
    from elolab.engine.search.reports import ReportBoard

    def search(engine: Engine, opening: Opening) -> list[Any]:
        engine.new_game()
        board = ReportBoard()
        position = engine.game.position(opening.position, opening.moves)
        result = engine.search(position, Limits(depth=depth), stop=searches.stop, board=board)
        return [result.nodes, [[report.depth, report.nodes, report.time_ns] for report in board.unread()]]

    costs: list[tuple[DepthCost, ...]] = []
    for values in sets:
        done(len(costs), len(sets))
        own = {name: value for name, value in values.items() if not BY_NAME[name].acts_on_clock_only}
        rows = searches.kept("costs_to_depth", [own, depth], positions, own, search)
        if rows is None:
            return None
        costs.append(tuple(DepthCost(nodes, tuple(map(tuple, iterations))) for nodes, iterations in rows))
    return costs
