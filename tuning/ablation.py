"""An ablation: every comparison played on common openings, and one table of what each feature is worth."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from arena.executor import GameRunner, stopping_on_signals
from arena.openings import Suite
from arena.records import Pairing
from arena.statistics import Pentanomial
from arena.store import Store
from tuning.comparisons import AblationSpec, Comparison
from tuning.conditions import describe
from tuning.depth_cost import NodeRatio, node_ratio, nodes_to_depth
from tuning.matches import Match, MatchTable
from tuning.progress import RunProgress
from tuning.run_folder import claim, read_openings

if TYPE_CHECKING:
    from pandas import DataFrame

    from engine.engine import StopFlag


@dataclass(frozen=True)
class AblationRow:
    """What one comparison showed. Elo is the variant's minus the reference's: positive if the variant is stronger."""

    label: str
    group: str
    """``leave_one_out``, ``values`` or ``comparisons``."""
    variant: str
    """How the variant differs from the base; empty for the base itself."""
    reference: str
    limit: str
    elo: float
    elo_error: float
    """Half the width of the 95 % interval, in Elo."""
    elo_low: float
    elo_high: float
    los: float
    """Probability that the variant is the stronger, 0 to 1."""
    pairs: int
    """Complete pairs of games with colours swapped; below how many of each outcome, from the variant's view."""
    games: int
    LL: int
    LD: int
    even: int
    WD: int
    WW: int
    nodes_ratio: float | None
    """Nodes the variant needs to reach ``depth`` over the reference's; ``None`` if it was not measured."""
    nodes_ratio_low: float | None
    """Bounds of its 95 % interval."""
    nodes_ratio_high: float | None
    depth: int | None
    """Plies."""
    positions: int | None
    """Positions over which the nodes were counted."""


@dataclass(frozen=True)
class AblationPlan:
    """An ablation ready to run."""

    spec: AblationSpec
    suite: Suite
    openings: tuple[int, ...]
    """Places in the suite; every comparison begins with the first."""
    matches: tuple[Match, ...]
    """One a comparison."""

    @property
    def games(self) -> int:
        """Games of the whole ablation."""
        return 2 * sum(match.pairs for match in self.matches)


@dataclass(frozen=True)
class Ablated:
    """How a run of an ablation ended."""

    spec: AblationSpec
    directory: Path
    games: int
    """Games in the store."""
    planned: int
    interrupted: bool
    rows: tuple[AblationRow, ...] = ()
    digest: str = ""
    """Digest of all games."""
    report: Path | None = None

    @property
    def exit_code(self) -> int:
        """0, or 130 after an interruption."""
        return 130 if self.interrupted else 0

    def frame(self) -> DataFrame:
        """The table; its columns are the fields of ``AblationRow``."""
        return frame_of(self.rows)


def frame_of(rows: Sequence[AblationRow]) -> DataFrame:
    """Rows as a pandas table; its columns are the fields of ``AblationRow``."""
    import pandas

    return pandas.DataFrame([asdict(row) for row in rows], columns=[field.name for field in fields(AblationRow)])


def prepare_ablation(spec: AblationSpec) -> AblationPlan:
    """Read the openings and lay out the games. Raises ``UserError`` if the suite is at fault or too small."""
    suite, openings = read_openings(spec.conditions, spec.opening_part, most_pairs(spec))
    return AblationPlan(spec, suite, openings, _matches(spec, openings))


def _matches(spec: AblationSpec, openings: tuple[int, ...]) -> tuple[Match, ...]:
    """The comparisons' matches; the schedule plays pair 0 of all of them, then pair 1, and so on."""
    numbers: list[list[int]] = [[] for _ in spec.comparisons]
    number = 0
    for pair in range(len(openings)):
        for place, comparison in enumerate(spec.comparisons):
            if pair < comparison.pairs:
                numbers[place].append(number)
                number += 2
    return tuple(
        Match(
            variant=spec.conditions.player(dict(comparison.variant), comparison.limits),
            reference=spec.conditions.player(dict(comparison.reference), comparison.limits),
            openings=openings[: comparison.pairs],
            numbers=tuple(numbers[place]),
        )
        for place, comparison in enumerate(spec.comparisons)
    )


def ablate(
    spec: AblationSpec,
    directory: Path,
    *,
    concurrency: int = 1,
    accept_engine_change: bool = False,
    stream: TextIO | None = None,
    stop: StopFlag | None = None,
) -> Ablated:
    """Play what the folder lacks of an ablation, measure nodes to depth, write table and report.

    Nothing but times depends on ``concurrency``. Progress goes to ``stream`` (default: standard error). Raises
    ``UserError`` if the folder belongs to another run or engine, or the disk is full; what was stored before stays.
    """
    from engine.engine import StopFlag
    from tuning.report import write_ablation_report

    plan = prepare_ablation(spec)
    stop = stop or StopFlag()
    with Store(directory) as store:
        content = {**spec.content(), "openings_digest": plan.suite.digest}
        growing = ("comparisons", *(f"comparisons.{comparison.label}.pairs" for comparison in spec.comparisons))
        claim(store, "ablation", content, growing, spec.conditions.source, accept_engine_change)
        table = MatchTable(spec.conditions, plan.suite, store)
        progress = RunProgress(table.missing_games(plan.matches), stream or sys.stderr)
        with stopping_on_signals(stop):
            complete = _play(plan, table, concurrency, stop, progress)
            costs = _measured(plan, store, concurrency, stop, progress) if complete else None
        store.record_facts({}, _places(plan, table))
        ended = Ablated(spec, directory, len(store), plan.games, interrupted=costs is None)
        if costs is None:
            return ended
        rows = tuple(
            row_of(spec, comparison, table.counts(match), cost)
            for comparison, match, cost in zip(spec.comparisons, plan.matches, costs, strict=True)
        )
        ended = replace(ended, rows=rows, digest=store.digest())
    return replace(ended, report=write_ablation_report(ended))


def _play(plan: AblationPlan, table: MatchTable, concurrency: int, stop: StopFlag, progress: RunProgress) -> bool:
    comparisons = len(plan.matches)
    progress.words = lambda: f"{comparisons} comparisons"
    with GameRunner(concurrency, stop, tick=progress.tick) as runner:
        try:
            return table.play(plan.matches, runner, progress.finished)
        finally:
            progress.close()


def _measured(
    plan: AblationPlan, store: Store, concurrency: int, stop: StopFlag, progress: RunProgress
) -> list[NodeRatio | None] | None:
    """Each comparison's cost of a fixed depth; ``None`` instead of the list after an interruption."""
    wanted = plan.spec.nodes_to_depth
    if not wanted.depth:
        return [None] * len(plan.matches)
    positions = [plan.suite.openings[place] for place in plan.openings[: wanted.positions]]
    sets = [dict(side) for comparison in plan.spec.comparisons for side in (comparison.variant, comparison.reference)]

    def show(finished: int, planned: int) -> None:
        progress.words = lambda: f"nodes to depth {wanted.depth}: {100 * finished // planned} %"
        progress.tick()

    nodes = nodes_to_depth(plan.spec.conditions.game, sets, positions, wanted.depth, store, concurrency, stop, show)
    if nodes is None:
        return None
    return [node_ratio(variant, reference) for variant, reference in zip(nodes[::2], nodes[1::2], strict=True)]


def _places(plan: AblationPlan, table: MatchTable) -> list[tuple[str, Pairing]]:
    """Every game's place in the schedule as it is now, which changes when an ablation is extended."""
    return [
        (key, job.pairing)
        for match in plan.matches
        for jobs, keys in zip(table.jobs(match), table.keys(match), strict=True)
        for job, key in zip(jobs, keys, strict=True)
    ]


def row_of(spec: AblationSpec, comparison: Comparison, counts: Pentanomial, cost: NodeRatio | None) -> AblationRow:
    """A comparison's row of the table."""
    estimate = counts.estimate()
    wanted = spec.nodes_to_depth
    return AblationRow(
        label=comparison.label,
        group=comparison.group,
        variant=describe(spec.conditions.differences(dict(comparison.variant))),
        reference=describe(spec.conditions.differences(dict(comparison.reference))),
        limit=str(comparison.limits),
        elo=estimate.elo,
        elo_error=estimate.elo_error,
        elo_low=estimate.elo_low,
        elo_high=estimate.elo_high,
        los=estimate.los,
        pairs=counts.pairs,
        games=2 * counts.pairs,
        LL=counts.counts[0],
        LD=counts.counts[1],
        even=counts.counts[2],
        WD=counts.counts[3],
        WW=counts.counts[4],
        nodes_ratio=None if cost is None else cost.ratio,
        nodes_ratio_low=None if cost is None else cost.low,
        nodes_ratio_high=None if cost is None else cost.high,
        depth=None if cost is None else wanted.depth,
        positions=None if cost is None else min(wanted.positions, most_pairs(spec)),
    )


def most_pairs(spec: AblationSpec) -> int:
    """Pairs of the longest comparison: the openings that an ablation needs."""
    return max(comparison.pairs for comparison in spec.comparisons)
