"""Depth, nodes, time and speed per move of both sides of a comparison, measured in the games."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from elolab.arena.play.store import Store
from elolab.arena.records import GameRecord, MoveRecord
from elolab.tuning.ablation.ablation_spec import Comparison
from elolab.tuning.ablation.depth_cost import cost_ratio, ratio_columns
from elolab.tuning.matches import REFERENCE, VARIANT, Match, MatchTable


@dataclass(frozen=True)
class SpeedRow:
    """Averages of both sides over a comparison's counted games; ``None`` for values that were not reported."""

    label: str
    pairs: int
    """Number of complete pairs of games."""
    depth: float | None
    """Mean depth of the variant's moves, in plies."""
    reference_depth: float | None
    nodes: float | None
    """Mean nodes per move of the variant, over moves with reported nodes."""
    reference_nodes: float | None
    time_ms: float | None
    """Mean time per move of the variant in milliseconds, measured by the arena."""
    reference_time_ms: float | None
    nodes_per_second: float | None
    """The variant's total nodes divided by its total time, over moves with reported nodes."""
    reference_nodes_per_second: float | None
    speed_ratio: float | None
    """The variant's nodes per second divided by the reference's, geometric mean over pairs."""
    speed_ratio_low: float | None
    """Lower bound of the 95 % interval of ``speed_ratio``."""
    speed_ratio_high: float | None
    time_ratio: float | None
    """The variant's time per move divided by the reference's, geometric mean over pairs."""
    time_ratio_low: float | None
    time_ratio_high: float | None


class Spent(NamedTuple):
    """Time, depth and nodes of one side, totalled over its moves in one or more games."""

    moves: int = 0
    time_ms: float = 0.0
    depths: int = 0
    """Number of moves with a reported depth."""
    depth: int = 0
    counted: int = 0
    """Number of moves with reported nodes; ``nodes`` and ``counted_ms`` are totals over these moves only."""
    nodes: int = 0
    counted_ms: float = 0.0

    @classmethod
    def on(cls, moves: Sequence[MoveRecord]) -> Spent:
        """The totals over ``moves``, the moves of one side."""
        depths = [move.depth for move in moves if move.depth is not None]
        nodes = [(move.nodes, move.time_ms) for move in moves if move.nodes is not None]
        return cls(
            len(moves), sum(move.time_ms for move in moves), len(depths), sum(depths),
            len(nodes), sum(one for one, _ in nodes), sum(time_ms for _, time_ms in nodes),
        )  # fmt: skip

    @classmethod
    def total(cls, parts: Iterable[Spent]) -> Spent:
        """The sum of the totals ``parts``, for example over all games of a match."""
        return cls(*map(sum, zip(*parts, strict=True)))

    @property
    def means(self) -> dict[str, float | None]:
        """The columns of ``SpeedRow`` for one side, by name; ``None`` for values that the engine did not report."""
        return {
            "depth": self.depth / self.depths if self.depths else None,
            "nodes": self.nodes / self.counted if self.counted else None,
            "time_ms": self.time_ms / self.moves if self.moves else None,
            "nodes_per_second": 1000 * self.nodes / self.counted_ms if self.nodes and self.counted_ms > 0 else None,
        }


SpentByGame = Mapping[str, tuple[Spent, Spent]]
"""Totals of the first and of the second player's moves, by the game's key in the store."""


def speed_rows(
    comparisons: Sequence[Comparison], matches: Sequence[Match], table: MatchTable, store: Store, game: str
) -> tuple[SpeedRow, ...]:
    """One row per comparison, from the stored games; ``matches[i]`` holds the counted pairs of comparison i."""
    spent = spent_in(store.iterate(), game)
    return tuple(
        speed_row(comparison.label, match, table, spent) for comparison, match in zip(comparisons, matches, strict=True)
    )


def spent_in(records: Iterable[GameRecord], game: str) -> SpentByGame:
    """Time, depth and nodes that both players spent, by the keys of the games."""
    from elolab.engine.games import game_named

    found = {}
    for record in records:
        start = game_named(game).side_to_move(record.opening.position) + len(record.opening.moves)
        found[record.key] = Spent.on(record.moves[start % 2 :: 2]), Spent.on(record.moves[1 - start % 2 :: 2])
    return found


def speed_row(label: str, match: Match, table: MatchTable, spent: SpentByGame) -> SpeedRow:
    """The row of one match, from its complete pairs only; ``spent`` holds both players' totals in each game."""
    pairs = [
        tuple(
            Spent.total(spent[job.key][0 if job.pairing.first == side else 1] for job in jobs)
            for side in (VARIANT, REFERENCE)
        )
        for jobs in table.jobs(match)
        if all(job.key in spent for job in jobs)
    ]
    variant, reference = (Spent.total((Spent(), *sides)) for sides in (zip(*pairs, strict=True) if pairs else ((), ())))
    return SpeedRow(
        label=label,
        pairs=len(pairs),
        **variant.means,
        **{f"reference_{name}": value for name, value in reference.means.items()},
        **_ratio_columns("speed", [[side.means["nodes_per_second"] for side in pair] for pair in pairs]),
        **_ratio_columns("time", [[1e6 * side.time_ms / max(1, side.moves) for side in pair] for pair in pairs]),
    )


def _ratio_columns(name: str, pairs: Sequence[Sequence[float | None]]) -> dict[str, float | None]:
    """Columns of a table for the ratio called ``name``: geometric mean over pairs, and bounds of its 95 % interval.

    Each item of ``pairs`` is (variant's value, reference's value). A pair in which a value is missing is left out.
    """
    known = [(one, other) for one, other in pairs if one and other and math.isfinite(one * other)]
    return ratio_columns(name, cost_ratio(*zip(*known, strict=True)) if known else None)
