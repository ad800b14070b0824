"""The tables of an ablation: results of every comparison and every effect of a factorial, counted from the store."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from elolab.arena.statistics.elo import Pentanomial, elo_of_score
from elolab.arena.statistics.intervals import INTERVAL_DEVIATIONS
from elolab.tuning.ablation.allocation import Allocation, ResearchQuestion
from elolab.tuning.ablation.depth_cost import NodeRatio
from elolab.tuning.ablation.factorial import Effect, cell_weights, contrast_estimate
from elolab.tuning.ablation.spec import AblationSpec, Comparison, Factorial
from elolab.tuning.ablation.verdicts import (
    EffectEstimate,
    Question,
    Rule,
    match_evidence,
    pairs_still_needed,
    simultaneous_interval,
)
from elolab.tuning.conditions import describe, value_text
from elolab.tuning.matches import Match, MatchTable

if TYPE_CHECKING:
    from pandas import DataFrame


AGAINST = " against "
"""Separates the two sides' limits in a comparison, if they differ."""


@dataclass(frozen=True)
class AblationRow:
    """The result of one comparison. Elo is positive if the variant is stronger than the reference."""

    label: str
    group: str
    """The key that declares it: ``leave_one_out``, ``values``, ..."""
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
    """Probability that the variant is the stronger side, 0 to 1."""
    verdict: str
    """``better``, ``worse``, ``equivalent`` or ``undecided``; empty if the comparison is not a question."""
    simultaneous_low: float
    """Bounds of the interval in Elo that holds for all questions and interim analyses together."""
    simultaneous_high: float
    games_needed: int | None
    """Games that an undecided comparison still needs if the estimate is right; ``None`` if it is decided."""
    pairs: int
    """Complete colour-swapped pairs; the fields below count them by outcome, from the variant's view."""
    games: int
    LL: int
    LD: int
    even: int
    WD: int
    WW: int
    nodes_ratio: float | None
    """The variant's nodes to ``depth`` divided by the reference's; ``None`` if not measured."""
    nodes_ratio_low: float | None
    """Bounds of the 95 % interval of ``nodes_ratio``."""
    nodes_ratio_high: float | None
    depth: int | None
    """Plies."""
    positions: int | None
    """Positions over which the nodes were counted."""
    planned_pairs: int = 0
    """The most pairs there could be."""
    ended: str = ""
    """Why there are no more pairs: ``complete``, ``decided``, ``futility`` or ``games`` (of all together)."""
    critical_value: float | None = None
    """Standard normal deviates of the simultaneous bounds, as 1.96 are those of ``elo_low`` and ``elo_high``."""


@dataclass(frozen=True)
class EffectRow:
    """An effect of a factorial, in Elo: the gain from the low to the high levels."""

    factorial: str
    """The factorial's label."""
    effect: str
    """One factor, averaged over the others' levels, or an interaction: the increase of one factor's effect through the
    other. Aliased effects follow after ``=``."""
    group: str
    """``factorial`` or ``interactions``."""
    order: int
    """1 for a main effect, 2 for an interaction."""
    elo: float
    elo_error: float
    """Half the width of the 95 % interval."""
    elo_low: float
    elo_high: float
    verdict: str
    """``better`` (positive), ``worse`` (negative), ``equivalent`` or ``undecided``; empty if the effect is not a
    question."""
    simultaneous_low: float
    simultaneous_high: float
    games_needed: int | None
    pairs: int
    """Counted pairs of all its matches."""
    games: int
    """Games of all its matches."""
    rests_on: str = ""
    """Weight and pairs of each of these matches, in the order of the comparisons: ``0.4 x 60 + 0.6 x 90``."""
    critical_value: float | None = None
    """Standard normal deviates of the simultaneous bounds."""


def frame_of(rows: Sequence[Any], kind: type = AblationRow) -> DataFrame:
    """Rows as a pandas table, whose columns are the fields of ``kind``."""
    import pandas

    return pandas.DataFrame([asdict(row) for row in rows], columns=[field.name for field in fields(kind)])


@dataclass(frozen=True)
class CellRow:
    """The strength of one combination of a 2 x 2 factorial, in Elo relative to the combination with both factors
    low."""

    factorial: str
    first_level: int
    """-1 (low) or 1 (high)."""
    second_level: int
    first_text: str
    """The level as text, such as ``algorithm pvs``."""
    second_text: str
    elo: float
    elo_error: float
    """Half the width of the 95 % interval; 0 for the combination with both factors low."""


@dataclass(frozen=True)
class Judgement:
    """A question's verdict, if any, with its interval in Elo."""

    verdict: str = ""
    low: float = -math.inf
    high: float = math.inf
    critical_value: float | None = None
    games_needed: int | None = None


class PlayedComparisons:
    """The played matches of a run: estimates for its questions, and its tables."""

    def __init__(
        self,
        comparisons: Sequence[Comparison],
        matches: Sequence[Match],
        factorials: Sequence[Factorial],
        table: MatchTable,
        rule: Rule,
    ) -> None:
        self._comparisons = comparisons
        self._matches = matches
        self._factorials = factorials
        self._table = table
        self._rule = rule

    def counts(self, match: int, pairs: int) -> Pentanomial:
        """Outcomes of the first ``pairs`` pairs of a match."""
        return self._table.counts(self._matches[match].part(0, pairs))

    def research_questions(self, spec: AblationSpec) -> list[ResearchQuestion]:
        """The questions of the run: first the comparisons, then the effects of factorials."""
        found = [
            ResearchQuestion((place,), self._of_match(place))
            for place, comparison in enumerate(self._comparisons)
            if comparison.is_question
        ]
        for factorial in self._factorials:
            for effect in spec.asked_effects(factorial):
                estimate_after = self._of_effect(factorial, effect)
                found.append(ResearchQuestion(factorial.comparisons, estimate_after))
        return found

    def _of_match(self, match: int) -> Callable[[int], EffectEstimate]:
        return lambda pairs: match_evidence(self.counts(match, pairs), self._rule.margin_elo)

    def _of_effect(self, factorial: Factorial, effect: Effect) -> Callable[[int], EffectEstimate]:
        matches = len(factorial.comparisons)
        return lambda pairs: self.contrast(factorial, effect.weights, [pairs] * matches)

    def contrast(self, factorial: Factorial, weights: Sequence[float], pairs: Sequence[int]) -> EffectEstimate:
        """Estimate a weighted sum of matches from the first ``pairs`` pairs of each match of a factorial."""
        return contrast_estimate(weights, self._scores(factorial, pairs), self._rule.margin_elo)

    def _scores(self, factorial: Factorial, pairs: Sequence[int]) -> np.ndarray:
        """Scores of the first so many pairs of each match, 0 to 1, shape (matches, pairs); NaN where not played."""
        scores = np.full((len(pairs), max([*pairs, 1])), math.nan)
        for row, match, count in zip(scores, factorial.comparisons, pairs, strict=True):
            results = self._table.results(self._matches[match].part(0, count))
            row[:count] = [math.nan if result is None else sum(result) / 2 for result in results]
        return scores

    def cells(self, counted: Sequence[int]) -> tuple[CellRow, ...]:
        """The combinations of all 2 x 2 factorials; ``counted`` are the pairs of each match to use."""
        found = []
        for factorial in self._factorials:
            if len(factorial.factors) == 2:
                pairs = [counted[place] for place in factorial.comparisons]
                found += [self._cell(factorial, cell, pairs) for cell in ((-1, -1), (-1, 1), (1, -1), (1, 1))]
        return tuple(found)

    def _cell(self, factorial: Factorial, cell: tuple[int, int], pairs: Sequence[int]) -> CellRow:
        weights = cell_weights(factorial.design, cell)
        estimate = self.contrast(factorial, weights, pairs)
        low, high = estimate.interval(INTERVAL_DEVIATIONS) if any(weights) else (0.0, 0.0)
        texts = [
            f"{name} {value_text(levels[sign > 0])}"
            for (name, *levels), sign in zip(factorial.factors, cell, strict=True)
        ]
        return CellRow(factorial.label, *cell, texts[0], texts[1], estimate.value, (high - low) / 2)

    def rows(
        self,
        spec: AblationSpec,
        allocation: Allocation,
        costs: Sequence[NodeRatio | None],
        counted: Sequence[int],
        is_complete: bool,
    ) -> tuple[tuple[AblationRow, ...], tuple[EffectRow, ...]]:
        """The tables of comparisons and effects; ``counted`` are the pairs of each match to use. Verdicts are from the
        last analysis."""
        judgements = iter(judgements_of(allocation))
        rows = tuple(
            replace(
                row_of(
                    spec, comparison, self.counts(place, counted[place]), cost,
                    next(judgements) if comparison.is_question else Judgement(),
                ),
                ended=allocation.why_ended(place, comparison.pairs) if is_complete else "",
            )
            for place, (comparison, cost) in enumerate(zip(self._comparisons, costs, strict=True))
        )  # fmt: skip
        effects = []
        for factorial in self._factorials:
            pairs = [counted[place] for place in factorial.comparisons]
            for effect in factorial.design.effects:
                asked = effect in spec.asked_effects(factorial)
                judgement = next(judgements) if asked else Judgement()
                weights = effect.weights_of(self._scores(factorial, pairs))
                estimate = self.contrast(factorial, weights, pairs)
                effects.append(_effect_row(factorial, effect, estimate, weights, pairs, judgement))
        return rows, tuple(effects)


def judgements_of(allocation: Allocation) -> list[Judgement]:
    """Every question's verdict, with its simultaneous interval in Elo."""
    found = []
    share = allocation.rule.error_rate / max(1, len(allocation.questions))
    for question, research_question in zip(allocation.questions, allocation.research_questions, strict=True):
        interval = simultaneous_interval(question, len(allocation.questions), allocation.rule)
        low, high = (_in_elo(question, bound) for bound in interval)
        needed = pairs_still_needed(question, len(allocation.questions), allocation.rule)
        games = None if needed is None else 2 * needed * len(research_question.matches)
        bound = question.bound(share) if question.analyses_done else None
        found.append(Judgement(question.verdict, low, high, bound, games))
    return found


def _in_elo(question: Question, value: float) -> float:
    """Convert a value of the estimate's scale to Elo: contrasts are in Elo already, matches are mean scores."""
    return value if question.estimate.null_value == 0 else elo_of_score(value)


def row_of(
    spec: AblationSpec,
    comparison: Comparison,
    counts: Pentanomial,
    cost: NodeRatio | None = None,
    judgement: Judgement | None = None,
) -> AblationRow:
    """A comparison's row."""
    estimate = counts.estimate()
    judgement = judgement or Judgement()
    wanted = spec.nodes_to_depth
    longest = max(one.pairs for one in spec.comparisons)
    limit = str(comparison.limits)
    if comparison.reference_limits is not None:
        limit += f"{AGAINST}{comparison.reference_limits}"
    return AblationRow(
        label=comparison.label,
        group=comparison.group,
        variant=describe(spec.conditions.differences(dict(comparison.variant))),
        reference=describe(spec.conditions.differences(dict(comparison.reference))),
        limit=limit,
        elo=estimate.elo,
        elo_error=estimate.elo_error,
        elo_low=estimate.elo_low,
        elo_high=estimate.elo_high,
        los=estimate.los,
        verdict=judgement.verdict,
        simultaneous_low=judgement.low,
        simultaneous_high=judgement.high,
        critical_value=judgement.critical_value,
        games_needed=judgement.games_needed,
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
        positions=None if cost is None else min(wanted.positions, longest),
        planned_pairs=comparison.pairs,
    )


def _effect_row(
    factorial: Factorial,
    effect: Effect,
    estimate: EffectEstimate,
    weights: Sequence[float],
    pairs: Sequence[int],
    judgement: Judgement,
) -> EffectRow:
    used = [(count, weight) for count, weight in zip(pairs, weights, strict=True) if weight]
    low, high = estimate.interval(INTERVAL_DEVIATIONS)
    return EffectRow(
        factorial=factorial.label,
        effect=factorial.effect_label(effect),
        group=factorial.group,
        order=len(effect.factors),
        elo=estimate.value,
        elo_error=(high - low) / 2,
        elo_low=low,
        elo_high=high,
        verdict=judgement.verdict,
        simultaneous_low=judgement.low,
        simultaneous_high=judgement.high,
        critical_value=judgement.critical_value,
        games_needed=judgement.games_needed,
        pairs=sum(count for count, _ in used),
        games=2 * sum(count for count, _ in used),
        rests_on=" + ".join(f"{weight:.3g} x {count}" for count, weight in used),
    )
