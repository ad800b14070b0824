"""What a fixed depth costs: nodes of two sets of parameters over the same positions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from arena.records import Opening, digest_of
from arena.statistics import INTERVAL_DEVIATIONS
from arena.store import Store
from engine.limits import Limits
from engine.parameters import Value
from tuning.conditions import needs_clock

if TYPE_CHECKING:
    from engine.engine import StopFlag

POSITIONS_A_TASK = 8


@dataclass(frozen=True)
class NodeRatio:
    """Nodes of the variant over nodes of the reference, geometric mean over the positions, with 95 % interval."""

    ratio: float
    low: float
    high: float


def node_ratio(variant: Sequence[int], reference: Sequence[int]) -> NodeRatio:
    """The geometric mean of the ratios position by position; the interval is that of the mean logarithm."""
    logs = [math.log(max(one, 1) / max(other, 1)) for one, other in zip(variant, reference, strict=True)]
    mean = sum(logs) / len(logs)
    if len(logs) < 2:
        return NodeRatio(math.exp(mean), 0.0, math.inf)
    variance = sum((value - mean) ** 2 for value in logs) / (len(logs) - 1)
    margin = INTERVAL_DEVIATIONS * math.sqrt(variance / len(logs))
    return NodeRatio(math.exp(mean), math.exp(mean - margin), math.exp(mean + margin))


def nodes_to_depth(
    game: str,
    sets: Sequence[Mapping[str, Value]],
    positions: Sequence[Opening],
    depth: int,
    store: Store,
    concurrency: int,
    stop: StopFlag,
    done: Callable[[int, int], None] = lambda finished, planned: None,
) -> list[tuple[int, ...]] | None:
    """Nodes that each set needs to complete ``depth`` in each position; ``None`` if the stop flag was set.

    Every search begins with an empty memory. What was measured before is read from the store, where the rest is kept.
    Parameters that act on a clock only do not matter. ``done`` is told how many searches are over.
    """
    from engine.identity import engine_identity

    contents = [_content(values) for values in sets]
    names = {
        index: _fact_name(game, engine_identity(), content, positions, depth) for index, content in enumerate(contents)
    }
    missing = {name: contents[index] for index, name in names.items() if store.fact(name) is None}
    chunks = [
        (name, content, positions[start : start + POSITIONS_A_TASK])
        for name, content in missing.items()
        for start in range(0, len(positions), POSITIONS_A_TASK)
    ]
    measured: dict[str, list[int]] = {}
    with ThreadPoolExecutor(concurrency, "depth") as pool:
        tasks = pool.map(lambda chunk: _search_all(game, chunk[1], chunk[2], depth, stop), chunks)
        for finished, ((name, _, _), nodes) in enumerate(zip(chunks, tasks, strict=True), start=1):
            if nodes is None:
                pool.shutdown(cancel_futures=True)
                return None
            measured.setdefault(name, []).extend(nodes)
            if len(measured[name]) == len(positions):
                store.record_facts({name: measured[name]})
            done(finished, len(chunks))
    return [tuple(store.fact(names[index])) for index in range(len(sets))]


def _search_all(
    game: str, values: Mapping[str, Value], positions: Sequence[Opening], depth: int, stop: StopFlag
) -> list[int] | None:
    """Nodes for each position, ``None`` if stopped."""
    from engine.engine import Engine

    engine = Engine(game, values)
    nodes = []
    for opening in positions:
        if stop.is_set():
            return None
        engine.new_game()
        position = engine.game.position(opening.position, opening.moves)
        nodes.append(engine.search(position, Limits(depth=depth), stop=stop).nodes)
    return None if stop.is_set() else nodes


def _content(values: Mapping[str, Value]) -> dict[str, Value]:
    return {name: value for name, value in values.items() if not needs_clock(name)}


def _fact_name(game: str, identity: str, content: Any, positions: Sequence[Opening], depth: int) -> str:
    places = [[opening.position, list(opening.moves)] for opening in positions]
    return f"nodes_to_depth {digest_of([game, identity, content, places, depth])}"
