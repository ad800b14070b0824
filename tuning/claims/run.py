"""A run through the claims: each one's games and searches, resumed where it was stopped, and its verdict."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from arena.figures.search_statistics import null_rows
from arena.play.stages import GameStage, StagePlan
from arena.play.store import STORE_NAME, Store
from arena.records import Opening
from arena.run import Purpose, Run, RunOptions, engines_of
from engine.games import game_named
from engine.search_statistics import summed_search_statistics
from engine.settings.limits import Limits
from engine.settings.parameters import Value
from tuning.ablation.allocation import Allocation
from tuning.ablation.depth_cost import DepthRow, depth_rows, node_ratio
from tuning.ablation.rows import AblationRow, CellRow, EffectRow, Judgement, PlayedComparisons, judgements_of, row_of
from tuning.ablation.run import match_of, play_allocated, stage_of
from tuning.ablation.spec import AblationSpec
from tuning.claims.measures import (
    RATIOS,
    Searched,
    SuiteSearches,
    exact_failures,
    last_positions,
    mates_that_change,
    sampled_positions,
    share_difference,
    share_of,
)
from tuning.claims.spec import (
    CONFIRMED,
    REFUTED,
    SHOWN,
    UNDECIDED,
    Claim,
    ClaimsSpec,
    Measure,
    outcome_of_interval,
    outcome_of_verdict,
    positions_needed,
    verdict_of_outcomes,
)
from tuning.conditions import describe
from tuning.matches import MatchTable, read_openings

if TYPE_CHECKING:
    from pandas import DataFrame

FILE_METADATA = "claims file"
"""The table of claims as it was read, where it lay, the budget and the claims that were picked."""
MAX_MATE_PLIES = 4
"""Plies: mates up to here are found by every search of that depth."""
MATE_DEPTHS = (4, 5, 6, 7)
FEW_EMPTY_SQUARES = 9


@dataclass(frozen=True)
class MeasureRow:
    """What one measure of a claim has shown."""

    claim: str
    label: str
    kind: str
    """``elo``, ``interaction``, ``nodes``, ``share``, ``share_difference``, ``occurs``, ``mates`` or ``exact``."""
    of: str
    """The share, or empty."""
    limit: str
    expect: str
    """Empty where the measure is only shown."""
    outcome: str
    """``confirmed``, ``refuted``, ``undecided`` or ``shown``."""
    unit: str
    """``Elo``, ``×`` (ratio), ``%``, ``points`` (difference of percentages) or ``cases``."""
    effect: float
    low: float
    """Bounds of the 95 % interval, of Elo of the one for the claim's comparisons and interim analyses together."""
    high: float
    threshold: float
    """What a share is compared with, in ``unit``; 0 for nothing."""
    cases: int
    """What was counted: pairs of games, positions, or cases of a share."""
    games: int
    games_needed: int | None
    """Games that would decide it if the estimate is right; ``None`` where that is not open."""
    positions_needed: int | None = None
    """Further positions that would, of what is measured by searches."""


@dataclass(frozen=True)
class ClaimResult:
    """The verdict on a claim, with all that bears on it."""

    claim: Claim
    verdict: str
    rows: tuple[MeasureRow, ...]
    strength: tuple[AblationRow, ...]
    """The comparisons of strength as an ablation shows them."""
    squares: tuple[tuple[CellRow, ...], ...]
    """The combinations of every interaction, in the order of the measures."""
    depths: tuple[DepthRow, ...]
    verified: Mapping[str, Mapping[str, Any]]
    """What was counted in searches whose null cutoffs were verified, by setting (``engine.search_statistics``)."""
    is_unfinished: bool = False
    """Whether the run was stopped before all was played and searched: then it is undecided, whatever it shows."""

    @property
    def games(self) -> int:
        """Games played for it."""
        return sum(row.games for row in self.rows)

    @property
    def headline(self) -> MeasureRow:
        """The measure that decided, or else the first that was to."""
        for outcome in (self.verdict, UNDECIDED, CONFIRMED):
            for row in self.rows:
                if row.outcome == outcome:
                    return row
        return self.rows[0]

    @property
    def games_needed(self) -> int | None:
        """Games that an open verdict would still need; ``None`` if none is open or games would not decide it."""
        needed = [row.games_needed for row in self.rows if row.outcome == UNDECIDED and row.games_needed]
        return sum(needed) if self.verdict == UNDECIDED and needed else None

    @property
    def positions_needed(self) -> int | None:
        """Further positions that an open verdict would need; ``None`` if none is open or they would not decide it."""
        needed = [row.positions_needed for row in self.rows if row.outcome == UNDECIDED and row.positions_needed]
        return max(needed) if self.verdict == UNDECIDED and needed else None


@dataclass(frozen=True)
class ClaimsResult:
    """How a run through the claims ended."""

    spec: ClaimsSpec
    directory: Path
    interrupted: bool
    results: tuple[ClaimResult, ...] = ()
    """Of all claims, or after an interruption of those of which something is known."""
    digest: str = ""
    engine: str = ""
    """Identity of the engine, or of several: ``arena.run.engines_of``."""

    @property
    def exit_code(self) -> int:
        """0, or 130 after an interruption."""
        return 130 if self.interrupted else 0

    @property
    def missing(self) -> tuple[str, ...]:
        """The claims that an interrupted run has not come to an end with."""
        done = {result.claim.id for result in self.results if not result.is_unfinished}
        return tuple(claim.id for claim in self.spec.claims if claim.id not in done)

    @property
    def is_indicative(self) -> bool:
        """Whether the budget is too small for verdicts to be relied on."""
        return self.spec.budget.name == "quick"

    def frame(self) -> DataFrame:
        """One row a claim.

        Columns: ``claim``, ``text``, ``source``, ``basis``, ``verdict``, ``measure``, ``unit``, ``effect``, ``low``,
        ``high`` (of the measure that decided), ``games``, ``games_needed``, ``positions_needed``.
        """
        import pandas

        rows = []
        for result in self.results:
            head = result.headline
            rows.append(
                {
                    "claim": result.claim.id, "text": result.claim.text, "source": result.claim.source,
                    "basis": result.claim.basis, "verdict": result.verdict, "measure": head.label, "unit": head.unit,
                    "effect": head.effect, "low": head.low, "high": head.high, "games": result.games,
                    "games_needed": result.games_needed, "positions_needed": result.positions_needed,
                }
            )  # fmt: skip
        columns = (
            "claim", "text", "source", "basis", "verdict", "measure", "unit", "effect", "low", "high", "games",
            "games_needed", "positions_needed",
        )  # fmt: skip
        frame = pandas.DataFrame(rows, columns=columns)  # without rows, too, as of a run that was stopped at once
        return frame.astype({"games_needed": "Int64", "positions_needed": "Int64"})

    def measures_frame(self) -> DataFrame:
        """One row a measure; its columns are the fields of ``MeasureRow``."""
        import pandas

        return pandas.DataFrame([asdict(row) for result in self.results for row in result.rows])

    def verified_frame(self) -> DataFrame:
        """Null moves by own material in searches that verified them: rows of ``arena.figures.search_statistics``."""
        import pandas

        rows = [
            {"claim": result.claim.id, **row}
            for result in self.results
            for setting, total in result.verified.items()
            for row in null_rows(setting, total, "material")
        ]
        return pandas.DataFrame(rows)

    def depths_frame(self) -> DataFrame:
        """Nodes, time, speed and branching to each depth; ``claim`` and the fields of ``DepthRow``."""
        import pandas

        return pandas.DataFrame(
            [{"claim": result.claim.id, **asdict(row)} for result in self.results for row in result.depths]
        )


def run_claims(spec: ClaimsSpec, directory: Path, **options: Unpack[RunOptions]) -> ClaimsResult:
    """Play and search what the folder lacks, and judge every claim.

    The cheapest claims come first, so that a run that is stopped has most to show: it judges the claims whose games and
    searches are all there, and shows what there is of others. Raises ``UserError`` if the folder belongs to another
    run.
    """
    source = [spec.text, str(Path(spec.source).resolve()), spec.budget.name, list(spec.only)]
    purpose = Purpose("claims", spec.content(), spec.source, more={FILE_METADATA: source})
    with Run(directory, purpose, **options) as run:
        planned = plan_of_run(spec, directory, run.concurrency, run.store)
        run.progress.announce(planned)
        experiments = _Experiments(spec, run, {stage.name: stage for stage in planned.stages})
        found: dict[str, ClaimResult] = {}
        for claim in _cheapest_first(spec):
            result = experiments.result(claim)
            # After a stop nothing is played or searched any more, but claims whose games are all there are judged.
            if result is not None:
                found[claim.id] = result
        results = tuple(found[claim.id] for claim in spec.claims if claim.id in found)
        run.is_interrupted = any(one.is_unfinished for one in results) or len(results) < len(spec.claims)
        return ClaimsResult(spec, directory, run.is_interrupted, results, run.store.digest(), engines_of(run.store))


def plan_of_run(spec: ClaimsSpec, directory: Path, concurrency: int, store: Store | None = None) -> StagePlan:
    """What a run in that folder, whose ``store`` may be open, would consist of: a stage a claim, the cheapest first."""
    if store is None and (directory / STORE_NAME).is_file():
        with Store(directory, read_only=True) as stored:
            return plan_of_run(spec, directory, concurrency, stored)
    outcomes = () if store is None else store.outcomes()
    stored_games = Counter(outcome.pairing.series.partition(".")[0] for outcome in outcomes)
    stages = tuple(_stage(claim, stored_games[series_of(claim)]) for claim in _cheapest_first(spec))
    return StagePlan(spec.name, directory, stages, concurrency)


def _cheapest_first(spec: ClaimsSpec) -> list[Claim]:
    def estimated_seconds(claim: Claim) -> float:
        stage = _stage(claim, 0)
        return stage.games * stage.game_seconds

    return sorted(spec.claims, key=estimated_seconds)


def _stage(claim: Claim, stored: int) -> GameStage:
    """A claim's games at most."""
    return stage_of(claim.id, [one for group in claim.groups for one in group.comparisons], stored)


def series_of(claim: Claim) -> str:
    """Where its games are counted: by the claim's own number, so that it is the same whichever claims are picked."""
    return f"C{int(claim.id.removeprefix('C')):02d}"


@dataclass(frozen=True)
class _Strength:
    """What the matches of a claim's group have shown."""

    comparisons: tuple[tuple[AblationRow, Judgement], ...]
    interactions: tuple[EffectRow, ...]
    squares: tuple[tuple[CellRow, ...], ...]
    is_complete: bool


class _Experiments:
    """The experiments of all claims of a run."""

    def __init__(self, spec: ClaimsSpec, run: Run, stages: Mapping[str, GameStage]) -> None:
        self._spec, self._run, self._stages = spec, run, stages
        self._searches = SuiteSearches(spec.game, run.store, run.threads, run.stop, run.tick)
        self._positions: dict[str, list[Opening]] = {}

    def result(self, claim: Claim) -> ClaimResult | None:
        """A claim's experiments and verdict; after an interruption what there is of them, ``None`` if nothing is."""
        strength: list[_Strength] = []
        for place, group in enumerate(claim.groups):
            done = self._run.progress.done if strength else 0
            strength.append(self._played(claim, group, f"{series_of(claim)}.{place:02d}", done))
        is_unfinished = not all(one.is_complete for one in strength)
        rows: list[MeasureRow] = []
        depths: list[DepthRow] = []
        verified: dict[str, Mapping[str, Any]] = {}
        for measure in claim.measures:
            if measure.kind == "elo":
                row, judgement = strength[measure.group].comparisons[measure.comparison]
                rows.append(_elo_row(claim, measure, row, judgement, claim.groups[measure.group].rule.margin_elo))
                continue
            if measure.kind == "interaction":
                rows.append(_interaction_row(claim, measure, strength[measure.group]))
                continue
            if not self._run.stop.is_set():
                self._run.release_players()
                self._run.progress.begin(0, f"{claim.id}  {measure.label}")
            found = self._measured(claim, measure, depths, verified)
            if found is None:
                is_unfinished = True
            else:
                rows.append(found)
        if is_unfinished:
            rows = [row for row in rows if row.cases]
        if not rows:
            return None
        verdict = UNDECIDED if is_unfinished else verdict_of_outcomes([row.outcome for row in rows])
        played = tuple(row for group in strength for row, _ in group.comparisons)
        squares = tuple(square for group in strength for square in group.squares)
        return ClaimResult(
            claim, verdict, tuple(rows), played, squares, tuple(dict.fromkeys(depths)), verified, is_unfinished
        )

    def _played(self, claim: Claim, spec: AblationSpec, series: str, done: int) -> _Strength:
        most = max(comparison.pairs for comparison in spec.comparisons)
        suite, openings = read_openings(spec.conditions, spec.opening_part, most)
        matches = []
        for place, comparison in enumerate(spec.comparisons):
            numbers = tuple(2 * (pair * len(spec.comparisons) + place) for pair in range(comparison.pairs))
            matches.append(match_of(spec.conditions, comparison, openings[: comparison.pairs], numbers, series))
        table = MatchTable(spec.conditions.of_games, suite, self._run)
        played = PlayedComparisons(spec.comparisons, matches, spec.factorials, table, spec.rule)
        allocation = Allocation([match.pairs for match in matches], played.research_questions(spec), spec.rule)
        stage = self._stages[claim.id]
        is_complete, counted = play_allocated(
            allocation, matches, table, self._run, stage, done=done, prefix=f"{claim.id}  "
        )
        judgements = judgements_of(allocation)
        _, effects = played.rows(spec, allocation, [None] * len(matches), counted, is_complete)
        cells = played.cells(counted)
        return _Strength(
            tuple(
                (row_of(spec, comparison, played.counts(place, counted[place]), None, judgement), judgement)
                for place, (comparison, judgement) in enumerate(zip(spec.comparisons, judgements, strict=False))
            ),
            tuple(effect for effect in effects if effect.order > 1),
            tuple(tuple(cells[at : at + 4]) for at in range(0, len(cells), 4)),
            is_complete,
        )

    def _measured(
        self, claim: Claim, measure: Measure, depths: list[DepthRow], verified: dict[str, Mapping[str, Any]]
    ) -> MeasureRow | None:
        if measure.kind == "mates":
            return self._mates(claim, measure)
        if measure.kind == "exact":
            return self._exact(claim, measure)
        positions = self._suite(measure.suite)
        variant = self._searches.search(dict(measure.variant), measure.limits, positions)
        reference = None
        if measure.has_reference:
            reference = self._searches.search(dict(measure.reference), measure.limits, positions)
        if variant is None or (measure.has_reference and reference is None):
            return None
        if measure.kind == "nodes":
            assert reference is not None
            depths += depth_rows(self._setting(claim, measure.variant), variant)
            depths += depth_rows(self._setting(claim, measure.reference), reference)
            ratio = node_ratio([one.nodes for one in variant], [one.nodes for one in reference])
            return _row(claim, measure, "×", ratio.ratio, ratio.low, ratio.high, len(positions),
                        positions=len(positions))  # fmt: skip
        if measure.kind == "share_difference":
            assert reference is not None
            value, low, high = share_difference(measure.of, variant, reference, measure.bound)
            return _row(claim, measure, "points", 100 * value, 100 * low, 100 * high, len(positions),
                        positions=len(positions))  # fmt: skip
        if measure.of == "verifications_failed":
            verified[self._setting(claim, measure.variant)] = summed_search_statistics(
                one.search_statistics for one in variant
            )
        share = share_of(measure.of, variant, measure.bound)
        if measure.kind == "occurs":
            outcome = None if measure.expect is None else CONFIRMED if share.hits else UNDECIDED
            return _row(claim, measure, "cases", share.hits, share.hits, share.hits, share.cases, outcome)
        if measure.limits.depth is not None and measure.of in ("growth", "last_iteration"):
            depths += depth_rows(self._setting(claim, measure.variant), variant)
        unit, factor = ("×", 1) if measure.of in RATIOS else ("%", 100)
        return _row(claim, measure, unit, factor * share.value, factor * share.low, factor * share.high, share.cases,
                    positions=len(positions))  # fmt: skip

    def _setting(self, claim: Claim, values: tuple[tuple[str, Value], ...]) -> str:
        """A setting by its differences from the claim's base, if that is not the default with the base's name."""
        conditions = claim.conditions
        changed = describe(conditions.differences(dict(values)))
        if conditions.base == self._spec.conditions.base:
            return changed or conditions.base_name
        return f"{conditions.base_name} with {changed}" if changed else conditions.base_name

    def _mates(self, claim: Claim, measure: Measure) -> MeasureRow | None:
        by_depth: dict[int, Sequence[Searched]] = {}
        for depth in MATE_DEPTHS:
            found = self._searches.search(dict(measure.variant), Limits(depth=depth), self._suite("last"))
            if found is None:
                return None
            by_depth[depth] = found
        mates, changed = mates_that_change(by_depth, MAX_MATE_PLIES)
        return _row(claim, measure, "cases", changed, changed, _at_most(changed, mates), mates,
                    _same_outcome(measure, mates, changed))  # fmt: skip

    def _exact(self, claim: Claim, measure: Measure) -> MeasureRow | None:
        game = game_named(self._spec.game)
        positions = [one for one in self._suite("last") if game.empty_squares(one.position) <= FEW_EMPTY_SQUARES]
        sides = [
            self._searches.search(values, Limits(depth=FEW_EMPTY_SQUARES + 1), positions)
            for values in (dict(measure.variant), dict(measure.variant) | {"endgame_empties": 60})
        ]
        if sides[0] is None or sides[1] is None:
            return None
        failures = exact_failures(sides[0], sides[1])
        return _row(claim, measure, "cases", failures, failures, _at_most(failures, len(positions)), len(positions),
                    _same_outcome(measure, len(positions), failures))  # fmt: skip

    def _suite(self, name: str) -> list[Opening]:
        """The positions of that name: ``games`` (from self-play) or ``last`` (the ends of such games)."""
        if name not in self._positions:
            game, budget = self._spec.game, self._spec.budget
            conditions = self._spec.conditions
            suite, places = read_openings(conditions, "all", min(budget.positions, 100))
            openings = [suite.openings[place] for place in places]
            if name == "games":
                self._positions[name] = sampled_positions(game, openings, budget.positions)
            else:
                few = openings[: max(2, budget.positions // 4)]
                self._positions[name] = last_positions(game, few, FEW_EMPTY_SQUARES)
        return self._positions[name]


def _same_outcome(measure: Measure, cases: int, changed: int) -> str | None:
    if measure.expect is None:
        return None
    return REFUTED if changed else CONFIRMED if cases else UNDECIDED


def _at_most(count: int, cases: int) -> float:
    """Of so many cases, how many may be of a kind seen ``count`` times: the bound for none, else the count."""
    return cases * (1 - 0.025 ** (1 / cases)) if cases and not count else float(count)


def _row(
    claim: Claim, measure: Measure, unit: str, effect: float, low: float, high: float, cases: int,
    outcome: str | None = None, positions: int = 0,
) -> MeasureRow:  # fmt: skip
    needed = None
    if outcome is None:
        outcome = outcome_of_interval(measure.kind, measure.expect, low, high, measure.threshold)
        if not cases and outcome != SHOWN:
            outcome = UNDECIDED
        if outcome == UNDECIDED and measure.expect and positions:
            needed = positions_needed(measure.kind, measure.expect, effect, low, high, measure.threshold, positions)
    return MeasureRow(
        claim.id, measure.label, measure.kind, measure.of, str(measure.limits), measure.expect or "", outcome, unit,
        effect, low, high, measure.threshold, cases, 0, None, needed,
    )  # fmt: skip


def _interaction_row(claim: Claim, measure: Measure, strength: _Strength) -> MeasureRow:
    """An interaction's row; its matches' games count there where no other measure of the claim counts them."""
    spec = claim.groups[measure.group]
    effect = strength.interactions[measure.comparison]
    outcome = outcome_of_verdict(
        measure.expect, effect.verdict, effect.simultaneous_low, effect.simultaneous_high, spec.rule.margin_elo
    )
    counted = {one.comparison for one in claim.measures if (one.kind, one.group) == ("elo", measure.group)}
    for one in claim.measures:
        if one is measure:
            break
        if (one.kind, one.group) == ("interaction", measure.group):
            counted.update(spec.factorials[one.comparison].comparisons)
    own = set(spec.factorials[measure.comparison].comparisons) - counted
    return MeasureRow(
        claim.id, measure.label, "interaction", "", str(measure.limits), measure.expect or "", outcome, "Elo",
        effect.elo, effect.simultaneous_low, effect.simultaneous_high, 0.0, effect.pairs,
        sum(strength.comparisons[place][0].games for place in own),
        effect.games_needed if outcome == UNDECIDED else None,
    )  # fmt: skip


def _elo_row(claim: Claim, measure: Measure, row: AblationRow, judgement: Judgement, margin: float) -> MeasureRow:
    low, high = judgement.low, judgement.high
    outcome = outcome_of_verdict(measure.expect, judgement.verdict, low, high, margin)
    needed = judgement.games_needed if outcome == UNDECIDED else None
    effect = row.elo if math.isfinite(row.elo) else math.copysign(1200, row.elo)
    return MeasureRow(
        claim.id, row.label, "elo", "", row.limit, measure.expect or "", outcome, "Elo", effect, low, high, 0.0,
        row.pairs, row.games, needed,
    )  # fmt: skip
