"""Depth, nodes, time and speed per move of both sides of a comparison, from the games."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from elolab.arena.play.store import Store
from elolab.arena.records import GameRecord
from elolab.tuning.ablation.depth_cost import NodeRatio, node_ratio
from elolab.tuning.ablation.spec import Comparison
from elolab.tuning.matches import REFERENCE, VARIANT, Match, MatchTable


@dataclass(frozen=True)
class SpeedRow:
    """Averages of both sides of a comparison over the counted games; ``None`` for values that an engine did not
    report."""

    label: str
    pairs: int
    """Complete pairs of games."""
    depth: float | None
    """Mean plies over the variant's moves."""
    reference_depth: float | None
    nodes: float | None
    """Mean per move, over moves with reported nodes."""
    reference_nodes: float | None
    time_ms: float | None
    """Mean per move, measured by the arena."""
    reference_time_ms: float | None
    nodes_per_second: float | None
    """Total nodes over total time, for moves with reported nodes."""
    reference_nodes_per_second: float | None
    speed_ratio: float | None
    """Variant's nodes per second divided by the reference's, geometric mean over pairs."""
    speed_ratio_low: float | None
    """Bounds of the 95 % interval of ``speed_ratio``."""
    speed_ratio_high: float | None
    time_ratio: float | None
    """Variant's time per move divided by the reference's, geometric mean over pairs."""
    time_ratio_low: float | None
    time_ratio_high: float | None


@dataclass
class _Spent:
    """Sums over the moves of one side."""

    moves: int = 0
    time_ms: float = 0.0
    depths: int = 0
    depth: int = 0
    counted: int = 0
    """Moves with reported nodes; the fields below sum over these moves."""
    nodes: int = 0
    counted_ms: float = 0.0

    def add(self, other: _Spent) -> None:
        for name in self.__dataclass_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    @property
    def mean_time_ms(self) -> float | None:
        return self.time_ms / self.moves if self.moves else None

    @property
    def mean_time_ns(self) -> float | None:
        return 1e6 * self.time_ms / self.moves if self.moves else None

    @property
    def mean_depth(self) -> float | None:
        return self.depth / self.depths if self.depths else None

    @property
    def mean_nodes(self) -> float | None:
        return self.nodes / self.counted if self.counted else None

    @property
    def nodes_per_second(self) -> float | None:
        return 1000 * self.nodes / self.counted_ms if self.nodes and self.counted_ms > 0 else None


def speed_rows(
    comparisons: Sequence[Comparison], matches: Sequence[Match], table: MatchTable, store: Store, game: str
) -> tuple[SpeedRow, ...]:
    """One row per comparison; ``matches`` hold its counted pairs."""
    spent = spent_in(store.iterate(), game)
    return tuple(
        speed_row(comparison.label, match, table, spent) for comparison, match in zip(comparisons, matches, strict=True)
    )


SpentByGame = Mapping[str, tuple[_Spent, _Spent]]


def spent_in(records: Iterable[GameRecord], game: str) -> SpentByGame:
    """Sums for both colours, by the games' keys."""
    return {record.key: _by_colour(record, game) for record in records}


def speed_row(label: str, match: Match, table: MatchTable, spent: SpentByGame) -> SpeedRow:
    """The row of one match, over its complete pairs."""
    pairs = []
    for jobs in table.jobs(match):
        sides = {VARIANT: _Spent(), REFERENCE: _Spent()}
        for job in jobs:
            if job.key in spent:
                first, second = spent[job.key]
                sides[job.pairing.first].add(first)
                sides[job.pairing.second].add(second)
        if all(job.key in spent for job in jobs):
            pairs.append((sides[VARIANT], sides[REFERENCE]))
    return _row(label, pairs)


def _by_colour(record: GameRecord, game: str) -> tuple[_Spent, _Spent]:
    """Sums over a game's moves: for the first mover's colour, then for the other."""
    from elolab.engine.games import game_named

    sides = (_Spent(), _Spent())
    start = game_named(game).side_to_move(record.opening.position) + len(record.opening.moves)
    for place, move in enumerate(record.moves, start):
        one = sides[place % 2]
        one.moves += 1
        one.time_ms += move.time_ms
        if move.depth is not None:
            one.depths += 1
            one.depth += move.depth
        if move.nodes is not None:
            one.counted += 1
            one.nodes += move.nodes
            one.counted_ms += move.time_ms
    return sides


def _row(label: str, pairs: Sequence[tuple[_Spent, _Spent]]) -> SpeedRow:
    variant, reference = _Spent(), _Spent()
    for one, other in pairs:
        variant.add(one)
        reference.add(other)
    speed = _ratio((one.nodes_per_second, other.nodes_per_second) for one, other in pairs)
    time = _ratio((one.mean_time_ns, other.mean_time_ns) for one, other in pairs)
    return SpeedRow(
        label=label,
        pairs=len(pairs),
        depth=variant.mean_depth,
        reference_depth=reference.mean_depth,
        nodes=variant.mean_nodes,
        reference_nodes=reference.mean_nodes,
        time_ms=variant.mean_time_ms,
        reference_time_ms=reference.mean_time_ms,
        nodes_per_second=variant.nodes_per_second,
        reference_nodes_per_second=reference.nodes_per_second,
        speed_ratio=None if speed is None else speed.ratio,
        speed_ratio_low=None if speed is None else speed.low,
        speed_ratio_high=None if speed is None else speed.high,
        time_ratio=None if time is None else time.ratio,
        time_ratio_low=None if time is None else time.low,
        time_ratio_high=None if time is None else time.high,
    )


def _ratio(pairs: Iterable[tuple[float | None, float | None]]) -> NodeRatio | None:
    known = [(one, other) for one, other in pairs if one and other and math.isfinite(one * other)]
    return node_ratio(*zip(*known, strict=True)) if known else None
