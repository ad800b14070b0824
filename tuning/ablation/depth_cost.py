"""The cost of a fixed depth: nodes, time and branching factor of settings on the same positions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from elolab.arena.play.store import Store
from elolab.arena.records import Opening, digest_of
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.parameters import BY_NAME, Value
from elolab.tuning.ablation.student import student_quantile

if TYPE_CHECKING:
    from elolab.engine.engine import StopFlag

POSITIONS_PER_TASK = 8


@dataclass(frozen=True)
class NodeRatio:
    """The variant's nodes divided by the reference's: geometric mean over positions, with 95 % interval."""

    ratio: float
    low: float
    high: float


def node_ratio(variant: Sequence[float], reference: Sequence[float]) -> NodeRatio:
    """Geometric mean of the ratios per position, with the interval of the mean logarithm by Student's t."""
    logs = [math.log(max(one, 1) / max(other, 1)) for one, other in zip(variant, reference, strict=True)]
    mean = sum(logs) / len(logs)
    if len(logs) < 2:
        return NodeRatio(math.exp(mean), 0.0, math.inf)
    variance = sum((value - mean) ** 2 for value in logs) / (len(logs) - 1)
    margin = student_quantile(0.975, len(logs) - 1) * math.sqrt(variance / len(logs))
    return NodeRatio(math.exp(mean), math.exp(mean - margin), math.exp(mean + margin))


@dataclass(frozen=True)
class DepthCost:
    """The cost of one search to a fixed depth."""

    nodes: int
    """Nodes of the whole search."""
    iterations: tuple[tuple[int, int, int], ...]
    """Depth, nodes and nanoseconds since the start of the search, for each completed iteration."""


@dataclass(frozen=True)
class DepthRow:
    """The cost of one depth under one setting."""

    setting: str
    depth: int
    """Plies."""
    positions: int
    """Number of positions that completed the depth."""
    nodes: float
    """Nodes since the start of the search, geometric mean."""
    time_ms: float
    """Geometric mean; depends on the machine and its load."""
    branching_factor: float | None
    """Geometric mean of nodes to this depth divided by nodes to the previous depth."""
    nodes_per_second: float


def depth_rows(setting: str, searches: Sequence[Iterations]) -> list[DepthRow]:
    """One row per depth, over the positions that reached the maximum depth; searches that end early with a mate are
    left out."""
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


class Iterations(Protocol):
    """Any search that records its iterations."""

    @property
    def iterations(self) -> tuple[tuple[int, int, int], ...]:
        """Depth, nodes and nanoseconds since the start of the search, for each completed iteration."""


def costs_to_depth(
    game: str,
    sets: Sequence[Mapping[str, Value]],
    positions: Sequence[Opening],
    depth: int,
    store: Store,
    concurrency: int,
    stop: StopFlag,
    done: Callable[[int, int], None] = lambda finished, planned: None,
) -> list[tuple[DepthCost, ...]] | None:
    """Search each position to ``depth`` with each set of parameters; ``None`` if the stop flag was set.

    Every search starts with empty tables. Earlier measurements are read from the store, new ones are added to it.
    Parameters that only affect the clock are ignored. ``done(finished, planned)`` reports progress in searches.
    """
    from elolab.engine.compiled.identity import equivalent_identities

    contents = [_content(values) for values in sets]
    names = {}
    for index, content in enumerate(contents):
        known = [_metadata_name(game, identity, content, positions, depth) for identity in equivalent_identities()]
        names[index] = next((name for name in known if store.metadata(name) is not None), known[0])
    missing = {name: contents[index] for index, name in names.items() if store.metadata(name) is None}
    chunks = [
        (name, content, positions[start : start + POSITIONS_PER_TASK])
        for name, content in missing.items()
        for start in range(0, len(positions), POSITIONS_PER_TASK)
    ]
    measured: dict[str, list[Any]] = {}
    with ThreadPoolExecutor(concurrency, "depth") as pool:
        tasks = pool.map(lambda chunk: _search_all(game, chunk[1], chunk[2], depth, stop), chunks)
        for finished, ((name, _, _), costs) in enumerate(zip(chunks, tasks, strict=True), start=1):
            if costs is None:
                pool.shutdown(cancel_futures=True)
                return None
            measured.setdefault(name, []).extend(costs)
            if len(measured[name]) == len(positions):
                store.record_metadata({name: measured[name]})
            done(finished, len(chunks))
    return [
        tuple(DepthCost(nodes, tuple(map(tuple, iterations))) for nodes, iterations in store.metadata(names[index]))
        for index in range(len(sets))
    ]


def _search_all(
    game: str, values: Mapping[str, Value], positions: Sequence[Opening], depth: int, stop: StopFlag
) -> list[Any] | None:
    """Nodes and iterations for each position; ``None`` if stopped."""
    from elolab.engine.engine import Engine
    from elolab.engine.search.reports import ReportBoard

    engine = Engine(game, values)
    board = ReportBoard()
    costs = []
    for opening in positions:
        if stop.is_set():
            return None
        engine.new_game()
        position = engine.game.position(opening.position, opening.moves)
        board.clear()
        result = engine.search(position, Limits(depth=depth), stop=stop, board=board)
        reports = [[report.depth, report.nodes, report.time_ns] for report in board.unread()]
        costs.append([result.nodes, reports])
    return None if stop.is_set() else costs


def _content(values: Mapping[str, Value]) -> dict[str, Value]:
    return {name: value for name, value in values.items() if not BY_NAME[name].acts_on_clock_only}


def _metadata_name(game: str, identity: str, content: Any, positions: Sequence[Opening], depth: int) -> str:
    places = [[opening.position, list(opening.moves)] for opening in positions]
    return f"costs_to_depth {digest_of([game, identity, content, places, depth])}"
