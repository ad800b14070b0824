"""An ablation run: every comparison on common openings, and one table with the effect of each feature."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, Unpack

from elolab.arena.notation.openings import Suite
from elolab.arena.play.estimates import estimated_game_seconds
from elolab.arena.play.scores import MatchScores
from elolab.arena.play.stages import GameStage, StagePlan
from elolab.arena.play.store import STORE_NAME, Store
from elolab.arena.player_spec import MAX_NAME_LENGTH
from elolab.arena.players.processors import PlayerLoad
from elolab.arena.provenance.caveats import NO_CAVEATS, Caveats, caveats_of
from elolab.arena.records import Pairing
from elolab.arena.run import Purpose, Run, RunOptions, engines_of, was_begun
from elolab.arena.statistics.faults import FORFEITS, FaultCount, faults_of
from elolab.engine.language import console
from elolab.engine.settings.configuration import ConfigurationError
from elolab.engine.settings.parameters import Value
from elolab.tuning.ablation.ablation_spec import AblationSpec, Comparison
from elolab.tuning.ablation.allocation import Allocation
from elolab.tuning.ablation.comparison_verdicts import UNDECIDED, reach_of_comparison
from elolab.tuning.ablation.depth_cost import DepthCost, DepthRow, cost_ratio, costs_to_depth, depth_rows
from elolab.tuning.ablation.position_searches import PositionSearches
from elolab.tuning.ablation.rows import AblationRow, CombinationRow, EffectRow, PlayedComparisons, frame_of
from elolab.tuning.ablation.speed import SpeedRow, speed_rows
from elolab.tuning.conditions import Conditions, describe, shortened
from elolab.tuning.engine_check import EngineCheck
from elolab.tuning.matches import Match, MatchTable, read_openings

if TYPE_CHECKING:
    from pandas import DataFrame


FILE_METADATA = "ablation file"
"""Key in the store's metadata for the ablation file's text and path, which make the run folder self-contained."""


@dataclass(frozen=True)
class AblationPlan:
    """An ablation with its openings and matches, ready to run."""

    spec: AblationSpec
    suite: Suite
    openings: tuple[int, ...]
    """Indices, in the suite, of the openings to play; every comparison begins with the first of them."""
    matches: tuple[Match, ...]
    """One match per comparison, as long as the comparison may become."""

    @property
    def games(self) -> int:
        """Maximum number of games of the whole ablation."""
        most = 2 * self.spec.pairs_together([match.pairs for match in self.matches])
        return most if self.spec.max_games is None else min(most, self.spec.max_games)


@dataclass(frozen=True)
class AblationResult:
    """The result of an ablation run."""

    spec: AblationSpec
    directory: Path
    games: int
    """Number of games in the store."""
    planned: int
    counted: int
    """Number of games in complete pairs, on which the results are based.

    A game shared by several comparisons counts once.
    """
    interrupted: bool
    rows: tuple[AblationRow, ...] = ()
    effects: tuple[EffectRow, ...] = ()
    """Effects of the settings (factors) in factorial designs, and of the interactions between two settings."""
    combinations: tuple[CombinationRow, ...] = ()
    """Strength of each combination of levels in the 2 x 2 factorials."""
    depths: tuple[DepthRow, ...] = ()
    """Nodes and time that each setting needs to reach a depth, if measured; empty after an interruption."""
    speeds: tuple[SpeedRow, ...] = ()
    """Depth, nodes, time and speed that an external engine reported, one row per comparison; empty for the built-in
    engine.
    """
    plans: tuple[dict[str, Any], ...] = ()
    """Verdict rule and maximum number of pairs at each start of the run, oldest first.

    An entry equal to an earlier one is left out. So there are several only if the rule or a number has changed.
    """
    digest: str = ""
    """Digest of all games in the store."""
    engine: str = ""
    """Identity of the engine or engines that played; see ``arena.run.engines_of``."""
    faults: tuple[FaultCount, ...] = ()
    """Number of games forfeited by faults, per player and kind of fault."""
    caveats: Caveats = NO_CAVEATS

    @property
    def exit_code(self) -> int:
        """Exit code: 0 for success; 1 if players forfeited games by faults; 130 after an interruption."""
        return 130 if self.interrupted else int(any(fault.lost for fault in self.faults))

    def tables(self) -> dict[str, DataFrame]:
        """Every table by name: ``ablation``, and also ``effects``, ``depths`` and ``speeds`` if they have rows.

        The columns are the fields of ``AblationRow``, ``EffectRow``, ``DepthRow`` and ``SpeedRow``.
        """
        others = {"effects": self.effects, "depths": self.depths, "speeds": self.speeds}
        shown = {name: frame_of(rows) for name, rows in others.items() if rows}
        return {"ablation": frame_of(self.rows, AblationRow), **shown}


def prepare_ablation(spec: AblationSpec) -> AblationPlan:
    """Read the openings and plan the matches. Raises ``UserError`` if the suite is invalid or too small."""
    suite, openings = read_openings(spec.conditions, spec.opening_part, max_pairs(spec))
    return AblationPlan(spec, suite, openings, _matches(spec, openings))


def check_engine(spec: AblationSpec, stream: TextIO) -> None:
    """Start an external engine; check that it accepts all settings and that the sides of each comparison differ.

    Raises ``UserError`` otherwise. Warnings go to ``stream``.
    """
    if spec.conditions.external is None:
        return
    check = EngineCheck(spec.conditions)
    check.compare_builds(stream)
    for comparison in spec.comparisons:
        where = f"{spec.conditions.source}: {comparison.label}"
        variant, reference = (check.effective(dict(side), where) for side in (comparison.variant, comparison.reference))
        is_like_for_like = comparison.reference_limits in (None, comparison.limits) and not comparison.ponders
        if variant == reference and is_like_for_like:
            said = describe({name: value for name, value in comparison.variant if name in comparison.differences})
            raise ConfigurationError(f"{where}: both sides are the same, because the engine's own default is {said}")


def _matches(spec: AblationSpec, openings: tuple[int, ...]) -> tuple[Match, ...]:
    """One match per comparison; the schedule plays pair 0 of every match, then pair 1, and so on."""
    numbers: list[list[int]] = [[] for _ in spec.comparisons]
    number = 0
    for pair in range(len(openings)):
        for place, comparison in enumerate(spec.comparisons):
            if pair < comparison.pairs:
                numbers[place].append(number)
                number += 2
    return tuple(
        match_of(spec.conditions, comparison, openings[: comparison.pairs], tuple(numbers[place]))
        for place, comparison in enumerate(spec.comparisons)
    )


def match_of(
    conditions: Conditions,
    comparison: Comparison,
    openings: tuple[int, ...],
    numbers: tuple[int, ...],
    series: str = "",
) -> Match:
    """The match of a comparison, one game pair per opening; ``openings`` are indices into the suite.

    ``numbers`` has the number of each pair's first game in the schedule; ``series`` names the games in the store.
    """
    variant = conditions.player(dict(comparison.variant), comparison.limits)
    reference_limits = comparison.reference_limits or comparison.limits
    reference = conditions.player(dict(comparison.reference), reference_limits)
    if comparison.ponders:
        variant = replace(variant, name=shortened(f"{variant.name}, pondering", MAX_NAME_LENGTH), ponder=True)
    if reference_limits != comparison.limits:
        variant, reference = (
            replace(player, name=shortened(f"{player.name} at {player.limits}", MAX_NAME_LENGTH))
            for player in (variant, reference)
        )
    return Match(variant, reference, openings, numbers, tuple(range(len(openings))), series)


def purpose_of(plan: AblationPlan) -> Purpose:
    """The run's specification, and how it may change when the run resumes.

    Comparisons may be added, and their numbers of pairs may change.
    """
    spec = plan.spec
    content = {**spec.content(), "openings_digest": plan.suite.digest}
    lengths = tuple(f"comparisons.{comparison.label}.pairs" for comparison in spec.comparisons)
    source = spec.conditions.source
    more = {FILE_METADATA: [spec.text, str(Path(source).resolve())]}
    sides = tuple(
        side for one in spec.comparisons for side in sides_of(f"comparison {one.label!r}", spec.conditions, one)
    )
    return Purpose(
        "ablation", content, source, ("comparisons",), lengths, more=more, sides=sides,
        stop_after_faults=spec.conditions.stop_after_faults,
    )  # fmt: skip


def sides_of(place: str, conditions: Conditions, comparison: Comparison) -> tuple[PlayerLoad, PlayerLoad]:
    """The players of a comparison, variant first; ``place`` names the comparison in errors."""
    match = match_of(conditions, comparison, (), ())
    return PlayerLoad.of(place, match.variant), PlayerLoad.of(place, match.reference)


def ablate(spec: AblationSpec, directory: Path, **options: Unpack[RunOptions]) -> AblationResult:
    """Play the games that the folder lacks, and measure the nodes that each setting needs to reach a depth.

    Raises ``UserError`` if the folder belongs to another run or engine, or the disk is full; stored results stay.
    """
    plan = prepare_ablation(spec)
    purpose = purpose_of(plan)
    if not was_begun(directory, purpose):
        check_engine(spec, options.get("stream") or sys.stderr)
    with Run(directory, purpose, **options) as run:
        store, table = run.store, MatchTable(spec.conditions.of_games, plan.suite, run)
        played = PlayedComparisons(spec, plan.matches, table)
        allocation = Allocation(
            [match.pairs for match in plan.matches], played.questions(), spec.rule,
            None if spec.max_games is None else spec.max_games // 2, spec.pairs_together,
        )  # fmt: skip
        planned = plan_of_run(plan, directory, run.concurrency, store)
        run.progress.announce(planned)
        complete, counted = play_allocated(allocation, plan.matches, table, run, planned.stages[0])
        run.refuse_unavailable()
        costs = _measured(plan, run) if complete else None
        run.is_interrupted = costs is None
        store.record_metadata({}, _places(plan, counted, table, store))
        nodes = [[cost.nodes for cost in side] for side in costs or []]
        ratios = [cost_ratio(one, other) for one, other in zip(nodes[::2], nodes[1::2], strict=True)]
        rows, effects = played.rows(allocation, ratios or [None] * len(plan.matches), counted, complete)
        combinations = played.combinations(counted)
        named = [(row.label, row.verdict) for row in rows] + [(row.effect, row.verdict) for row in effects]
        run.conclusion.verdicts = {name: verdict for name, verdict in named if verdict}
        speeds = () if spec.conditions.external is None else speed_rows(
            spec.comparisons, _counted(plan, counted), table, store, spec.conditions.game
        )  # fmt: skip
        faults = faults_of(store.ended_by(FORFEITS))
        return AblationResult(
            spec, directory, len(store), plan.games, table.counted_games(_counted(plan, counted)), costs is None,
            rows, effects, combinations, depths_of_settings(spec, costs or []), speeds, _plans(store, spec),
            store.digest(), engines_of(store), faults, caveats_of(store, faults),
        )  # fmt: skip


def plan_of_run(plan: AblationPlan, directory: Path, concurrency: int, store: Store | None = None) -> StagePlan:
    """The planned games of an ablation and their estimated cost, for display before the run starts.

    ``store`` is the folder's store if it is already open.
    """
    if store is None and (directory / STORE_NAME).is_file():
        with Store(directory, read_only=True) as stored:
            return plan_of_run(plan, directory, concurrency, stored)
    known, spec = 0 if store is None else len(store), plan.spec
    limits = [(one.limits, one.reference_limits or one.limits) for one in spec.comparisons]
    games = [2 * one.pairs for one in spec.comparisons]
    seconds = sum(count * estimated_game_seconds(both) for count, both in zip(games, limits, strict=True))
    asked = [one.pairs for one in spec.comparisons if one.is_question] or [one.pairs for one in spec.comparisons]
    stage = GameStage(
        console("elolab.tuning")("stage.comparisons"), plan.games, seconds / max(1, sum(games)),
        min(known, plan.games), unknown_speed=() if known else spec.conditions.unknown_speed(chain(*limits)),
        reach=reach_of_comparison(min(asked), spec.questions, spec.rule, spec.conditions.source),
    )  # fmt: skip
    return StagePlan(spec.name, directory, (stage,), concurrency)


def play_allocated(
    allocation: Allocation, matches: Sequence[Match], table: MatchTable, run: Run, stage: GameStage
) -> tuple[bool, Sequence[int]]:
    """Play the matches in rounds; after each round, ``allocation`` decides which matches get more pairs.

    Returns whether all rounds were played, and the number of pairs to count in each match. After an interruption this
    number includes the pairs of the interrupted round. Only complete pairs of that round count.
    """

    def words() -> tuple[str, ...]:
        verdicts = [question.verdict for question in allocation.questions]
        decided = len(verdicts) - verdicts.count(UNDECIDED)
        return (console("elolab.tuning")("progress.verdicts", decided=decided, questions=len(verdicts)),)

    scores = MatchScores()
    if not run.stop.is_set():  # after an interruption, stored games are only read
        run.progress.begin(stage.games, words, done=0, is_bound=True, stage=stage.name, score=scores)
    known: set[str] = set()  # keys of games; comparisons may share games
    while (wanted := allocation.next_pairs()) is not None:
        parts = [
            match.part(before, after)
            for match, before, after in zip(matches, allocation.pairs, wanted, strict=True)
            if after > before
        ]
        if not run.stop.is_set():
            keys = {job.key for job in table.in_turn(parts)} - known
            known |= keys
            run.progress.done += len(keys) - table.missing_games(parts)
        if not table.play(parts, scores=scores):
            return False, wanted
        allocation.analyse(wanted)
    return True, allocation.pairs


def _plans(store: Store, spec: AblationSpec) -> tuple[dict[str, Any], ...]:
    """Record the verdict rule and the maximum number of pairs in the store; return the records of all starts of the
    run.
    """
    plan = {
        "rounds": spec.rule.rounds,
        "margin": spec.rule.margin_elo,
        "error_rate": spec.rule.error_rate,
        "questions": spec.questions,
        "pairs": max_pairs(spec),
    }
    plans = [*(store.metadata("verdict plans") or [])]
    if plan not in plans:
        plans.append(plan)
        store.record_metadata({"verdict plans": plans})
    return tuple(plans)


def _measured(plan: AblationPlan, run: Run) -> list[tuple[DepthCost, ...]] | None:
    """Costs of reaching a fixed depth, one tuple for each comparison's variant and reference; ``None`` if the run was
    interrupted.
    """
    wanted = plan.spec.nodes_to_depth
    if not wanted.depth:
        return []
    positions = [plan.suite.openings[place] for place in plan.openings[: wanted.positions]]
    sets = [dict(side) for comparison in plan.spec.comparisons for side in (comparison.variant, comparison.reference)]

    run.release_players()

    def show(finished: int, planned: int) -> None:
        percent = 100 * finished // planned
        run.progress.say(console("elolab.tuning")("progress.nodes_to_depth", depth=wanted.depth, percent=percent))
        run.tick()

    searches = PositionSearches(plan.spec.conditions.game, run.store, run.threads, run.stop, run.tick)
    return costs_to_depth(searches, sets, positions, wanted.depth, show)


def depths_of_settings(spec: AblationSpec, costs: Sequence[Sequence[DepthCost]]) -> tuple[DepthRow, ...]:
    """One table row per setting and depth, with the cost of reaching that depth.

    ``costs`` has two entries per comparison: the searches of the variant, then of the reference. A setting is named
    like its player in the games; in a comparison of ``add_one_in`` it has the shorter name from ``_name_of_added``.
    """
    names: dict[str, str] = {}
    rows: list[DepthRow] = []
    sides = [(comparison, dict(side)) for comparison in spec.comparisons
             for side in (comparison.variant, comparison.reference)]  # fmt: skip
    for (comparison, values), cost in zip(sides if costs else [], costs, strict=True):
        in_games = spec.conditions.player(values).name
        if in_games in names:
            continue
        name = _name_of_added(comparison, values) or in_games
        names[in_games] = in_games if name in names.values() else name
        rows += depth_rows(names[in_games], cost)
    return tuple(rows)


def _name_of_added(comparison: Comparison, values: Mapping[str, Value]) -> str:
    """Short name of the side with the settings ``values`` in an ``add_one_in`` comparison; empty for other groups.

    The bare engine differs from the base in every feature, so a name that lists all differences would be long.
    """
    if comparison.group != "add_one_in":
        return ""
    return comparison.label if values == dict(comparison.variant) else comparison.label.rpartition(" with ")[0]


def _places(plan: AblationPlan, counted: Sequence[int], table: MatchTable, store: Store) -> list[tuple[str, Pairing]]:
    """The key of every stored game, with the ``Pairing`` that locates the game in the current schedule.

    The location changes if the ablation is extended. ``counted`` is the number of pairs counted in each match. Games
    that only an earlier, longer version of the ablation planned come last.
    """
    parts = _counted(plan, counted)
    places = {job.key: job.pairing for part in parts for jobs in table.jobs(part) for job in jobs}
    others = [outcome for outcome in store.outcomes() if outcome.key not in places]
    if not others:
        return [*places.items()]
    planned = {job.key: job.pairing for match in plan.matches for jobs in table.jobs(match) for job in jobs}
    beyond = [outcome for outcome in others if outcome.key not in planned]
    places |= {one.key: planned[one.key] for one in others if one.key in planned}  # played but not counted
    end = 2 * sum(match.pairs for match in plan.matches)
    later = {one.key: replace(one.pairing, number=end + number) for number, one in enumerate(beyond)}
    return [*places.items(), *later.items()]


def _counted(plan: AblationPlan, counted: Sequence[int]) -> list[Match]:
    """The matches, each shortened to its counted pairs."""
    return [match.part(0, pairs) for match, pairs in zip(plan.matches, counted, strict=True)]


def max_pairs(spec: AblationSpec) -> int:
    """Number of pairs of the longest comparison, which is also the number of openings that the ablation needs."""
    return max(comparison.pairs for comparison in spec.comparisons)
