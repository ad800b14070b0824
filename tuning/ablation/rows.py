"""Rows of an ablation's tables: the results of every comparison and every factorial effect, counted from the store."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from elolab.arena.statistics.elo import Pentanomial, elo_of_score
from elolab.arena.statistics.intervals import INTERVAL_DEVIATIONS
from elolab.arena.statistics.standings import PENTANOMIAL_COLUMNS
from elolab.tuning.ablation.ablation_spec import AblationSpec, Comparison, Factorial
from elolab.tuning.ablation.allocation import Allocation
from elolab.tuning.ablation.comparison_verdicts import (
    EffectEstimate,
    Question,
    match_evidence,
    pairs_still_needed,
    simultaneous_interval,
)
from elolab.tuning.ablation.depth_cost import CostRatio, ratio_columns
from elolab.tuning.ablation.factorial import Effect, combination_weights, contrast_estimate
from elolab.tuning.conditions import describe, value_text
from elolab.tuning.matches import Match, MatchTable

if TYPE_CHECKING:
    from pandas import DataFrame


AGAINST = " against "
"""Text between the limits of variant and reference in tables, used if the limits differ."""


@dataclass(frozen=True)
class AblationRow:
    """The result of one comparison. Elo is positive if the variant is stronger than the reference."""

    label: str
    group: str
    """The key of the specification that declares the comparison: ``leave_one_out``, ``values``, ..."""
    variant: str
    """The settings in which the variant differs from the base, as text; empty for the base itself."""
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
    """``better``, ``worse``, ``equivalent`` or ``undecided``; empty if the comparison gets no verdict of its own."""
    simultaneous_low: float
    """Lower bound, in Elo, of the interval that holds for all questions and interim analyses together."""
    simultaneous_high: float
    games_needed: int | None
    """Number of games that an undecided comparison still needs if the estimate is right; ``None`` if decided."""
    pairs: int
    """Number of complete pairs; the next five fields are the numbers by outcome, from the variant's point of view."""
    games: int
    LL: int
    LD: int
    even: int
    WD: int
    WW: int
    nodes_ratio: float | None
    """The variant's nodes to ``depth`` divided by the reference's; ``None`` if not measured."""
    nodes_ratio_low: float | None
    """Lower bound of the 95 % interval of ``nodes_ratio``."""
    nodes_ratio_high: float | None
    depth: int | None
    """Depth, in plies, of the searches for ``nodes_ratio``; ``None`` if not measured."""
    positions: int | None
    """Number of positions searched for ``nodes_ratio``; ``None`` if not measured."""
    planned_pairs: int = 0
    """Maximum number of pairs of the comparison."""
    ended: str = ""
    """Why the comparison ended: ``complete``, ``decided``, ``futility``, or ``games`` if all games together reached
    their limit.

    It is empty while the run is in progress.
    """
    critical_value: float | None = None
    """Half width of the simultaneous interval, in standard normal deviates.

    For comparison, the interval from ``elo_low`` to ``elo_high`` has the half width 1.96.
    """


@dataclass(frozen=True)
class EffectRow:
    """An effect of a factorial, in Elo: the gain from the low to the high levels."""

    factorial: str
    """The factorial's label."""
    effect: str
    """Name of the effect: one factor, or an interaction of two. Aliased effects follow after ``=``."""
    group: str
    """The key of the specification that declares the factorial: ``factorial`` or ``interactions``."""
    order: int
    """1 for a main effect, 2 for an interaction."""
    elo: float
    elo_error: float
    """Half the width of the 95 % interval, in Elo."""
    elo_low: float
    elo_high: float
    verdict: str
    """``better`` (positive), ``worse`` (negative), ``equivalent`` or ``undecided``; empty if the effect gets no
    verdict.
    """
    simultaneous_low: float
    simultaneous_high: float
    games_needed: int | None
    pairs: int
    """Total number of game pairs in all matches of the factorial design."""
    games: int
    """Number of games in all matches of the factorial."""
    rests_on: str = ""
    """Weight of each match in the estimate, and its number of game pairs, such as ``0.4 x 60 + 0.6 x 90``."""
    critical_value: float | None = None
    """Half width of the interval that holds for all questions and interim analyses together, in standard normal
    deviates.
    """


def frame_of(rows: Sequence[Any], kind: type | None = None) -> DataFrame:
    """A pandas table of the rows; its columns are the fields of ``kind``, by default the first row's type."""
    import pandas

    return pandas.DataFrame([asdict(row) for row in rows], columns=[one.name for one in fields(kind or rows[0])])


@dataclass(frozen=True)
class CombinationRow:
    """Strength of one combination of a 2 x 2 factorial, in Elo relative to both factors low."""

    factorial: str
    first_level: int
    """Level of the first factor: -1 (low) or 1 (high)."""
    second_level: int
    first_text: str
    """Level of the first factor as text, such as ``algorithm pvs``."""
    second_text: str
    elo: float
    elo_error: float
    """Half the width of the 95 % interval, in Elo; 0 for the combination with both factors low."""


@dataclass(frozen=True)
class Judgement:
    """The verdict on a question, its simultaneous interval in Elo, and the games it still needs, as columns of a table.

    The defaults fill rows that have no verdict.
    """

    verdict: str = ""
    simultaneous_low: float = -math.inf
    simultaneous_high: float = math.inf
    critical_value: float | None = None
    games_needed: int | None = None


@dataclass(frozen=True)
class PlayedComparisons:
    """The matches of an ablation with the games so far, and the estimates, verdicts and tables computed from them."""

    spec: AblationSpec
    matches: Sequence[Match]
    """The match of each comparison, in the order of the comparisons."""
    table: MatchTable

    def counts(self, match: int, pairs: int) -> Pentanomial:
        """Outcomes of the first ``pairs`` pairs of the match with index ``match``."""
        return self.table.counts(self.matches[match].part(0, pairs))

    def questions(self) -> list[Question]:
        """The questions of the run, which get a verdict: first comparisons, then effects of factorials."""
        rule = self.spec.rule

        def of_match(place: int) -> Question:
            def estimate_after(pairs: int) -> EffectEstimate:
                return match_evidence(self.counts(place, pairs), rule.margin_elo)

            return Question.about((place,), estimate_after, self.matches[place].pairs, rule)

        def of_effect(factorial: Factorial, effect: Effect) -> Question:
            def estimate_after(pairs: int) -> EffectEstimate:
                return self._contrast(factorial, effect.weights, [pairs] * len(places))

            places = factorial.comparisons
            return Question.about(places, estimate_after, self.matches[places[0]].pairs, rule)

        return [
            *(of_match(place) for place, comparison in enumerate(self.spec.comparisons) if comparison.is_question),
            *(of_effect(one, effect) for one in self.spec.factorials for effect in self.spec.asked_effects(one)),
        ]

    def _contrast(self, factorial: Factorial, weights: Sequence[float], pairs: Sequence[int]) -> EffectEstimate:
        """Estimate a weighted sum of the Elo differences in a factorial's matches.

        ``weights`` has one weight per match, ``pairs`` the number of game pairs to use from each match.
        """
        return contrast_estimate(weights, self._scores(factorial, pairs), self.spec.rule.margin_elo)

    def _scores(self, factorial: Factorial, pairs: Sequence[int]) -> np.ndarray:
        """Scores, from 0 to 1, of the first pairs of a factorial's matches; NaN for unplayed pairs.

        The shape is (matches, largest number of pairs). ``pairs`` is the number of pairs to use from each match.
        """
        scores = np.full((len(pairs), max([*pairs, 1])), math.nan)
        for row, match, count in zip(scores, factorial.comparisons, pairs, strict=True):
            results = self.table.results(self.matches[match].part(0, count))
            row[:count] = [math.nan if result is None else sum(result) / 2 for result in results]
        return scores

    def combinations(self, counted: Sequence[int]) -> tuple[CombinationRow, ...]:
        """Strengths of the combinations of all 2 x 2 factorials; ``counted`` is the number of pairs to use from each
        match.
        """
        found = []
        for factorial in self.spec.factorials:
            for signs in ((-1, -1), (-1, 1), (1, -1), (1, 1)) if len(factorial.factors) == 2 else ():
                weights = combination_weights(factorial.design, signs)
                estimate = self._contrast(factorial, weights, [counted[place] for place in factorial.comparisons])
                low, high = estimate.interval(INTERVAL_DEVIATIONS) if any(weights) else (0.0, 0.0)
                first, second = (
                    f"{name} {value_text(levels[sign > 0])}"
                    for (name, *levels), sign in zip(factorial.factors, signs, strict=True)
                )
                found.append(
                    CombinationRow(factorial.label, *signs, first, second, estimate.value, (high - low) / 2)
                )  # fmt: skip
        return tuple(found)

    def rows(
        self, allocation: Allocation, ratios: Sequence[CostRatio | None], counted: Sequence[int], is_complete: bool
    ) -> tuple[tuple[AblationRow, ...], tuple[EffectRow, ...]]:
        """The table of comparisons and the table of effects, with the verdicts of the last analysis.

        ``ratios`` has the cost ratio of each comparison, ``None`` if not measured. ``counted`` is the number of pairs
        to use from each match. If ``is_complete``, the run has ended, and the rows state why each comparison ended.
        """
        judgements = iter(judgements_of(allocation))
        rows = tuple(
            row_of(
                self.spec, comparison, self.counts(place, counted[place]), ratio,
                next(judgements) if comparison.is_question else Judgement(),
                allocation.why_ended(place, comparison.pairs) if is_complete else "",
            )
            for place, (comparison, ratio) in enumerate(zip(self.spec.comparisons, ratios, strict=True))
        )  # fmt: skip
        effects = []
        for factorial in self.spec.factorials:
            pairs = [counted[place] for place in factorial.comparisons]
            asked = self.spec.asked_effects(factorial)
            for effect in factorial.design.effects:
                judgement = next(judgements) if effect in asked else Judgement()
                weights = effect.weights_of(self._scores(factorial, pairs))
                estimate = self._contrast(factorial, weights, pairs)
                effects.append(_effect_row(factorial, effect, estimate, weights, pairs, judgement))
        return rows, tuple(effects)


def judgements_of(allocation: Allocation) -> list[Judgement]:
    """One judgement per question: its verdict and its simultaneous interval in Elo."""
    found, rule, questions = [], allocation.rule, allocation.questions
    for question in questions:
        low, high = (
            # Contrasts are in Elo already, matches are mean scores.
            bound if question.estimate.null_value == 0 else elo_of_score(bound)
            for bound in simultaneous_interval(question, len(questions), rule)
        )
        needed = pairs_still_needed(question, len(questions), rule)
        found.append(
            Judgement(
                question.verdict, low, high,
                question.bound(rule.error_rate / len(questions)) if question.analyses_done else None,
                None if needed is None else 2 * needed * len(question.matches),
            )
        )  # fmt: skip
    return found


def row_of(
    spec: AblationSpec,
    comparison: Comparison,
    counts: Pentanomial,
    ratio: CostRatio | None = None,
    judgement: Judgement | None = None,
    ended: str = "",
) -> AblationRow:
    """The row of a comparison in the table, from the outcomes of its pairs."""
    limit = str(comparison.limits)
    if comparison.reference_limits is not None:
        limit += f"{AGAINST}{comparison.reference_limits}"
    estimate, wanted = counts.estimate(), spec.nodes_to_depth
    longest = max(one.pairs for one in spec.comparisons)
    outcomes: dict[str, Any] = dict(zip(PENTANOMIAL_COLUMNS, counts.counts, strict=True))
    return AblationRow(
        label=comparison.label,
        group=comparison.group,
        variant=describe(spec.conditions.differences(dict(comparison.variant))),
        reference=describe(spec.conditions.differences(dict(comparison.reference))),
        limit=limit,
        **{name: getattr(estimate, name) for name in ("elo", "elo_error", "elo_low", "elo_high", "los")},
        **asdict(judgement or Judgement()),
        pairs=counts.pairs,
        games=2 * counts.pairs,
        **outcomes,
        **ratio_columns("nodes", ratio),
        depth=None if ratio is None else wanted.depth,
        positions=None if ratio is None else min(wanted.positions, longest),
        planned_pairs=comparison.pairs,
        ended=ended,
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
    counted = sum(count for count, _ in used)
    return EffectRow(
        factorial=factorial.label,
        effect=factorial.effect_label(effect),
        group=factorial.group,
        order=len(effect.factors),
        elo=estimate.value,
        elo_error=(high - low) / 2,
        elo_low=low,
        elo_high=high,
        **asdict(judgement),
        pairs=counted,
        games=2 * counted,
        rests_on=" + ".join(f"{weight:.3g} x {count}" for count, weight in used),
    )
