"""The cells of a run and their progress: games analysed look by look, or searches block by block.

A course's result is a pure function of the store, read in the order of its looks. So a run can stop and resume
anywhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from elolab.arena.play.estimates import estimated_game_seconds
from elolab.arena.statistics.elo import Pentanomial, elo_of_score, score_of_elo
from elolab.engine.games import game_named
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.parameters import Value
from elolab.tuning.ablation.factorial import contrast_estimate
from elolab.tuning.ablation.run import match_of
from elolab.tuning.ablation.verdicts import EffectEstimate, match_elo_estimate, match_estimate, reach_of_t
from elolab.tuning.claims.measures import (
    CONVERGED_MISSES,
    RATIO_UNITS,
    REACHED_END,
    Counted,
    Estimate,
    Searched,
    SuiteSearches,
    differing,
    exact_failures,
    log_ratio,
    log_ratio_of_ratios,
    mates_that_change,
    rate_of_cases,
    share_difference,
    share_of,
)
from elolab.tuning.claims.positions import LAST_PLIES, SuitePosition
from elolab.tuning.claims.results import CellKey, CellResult, CellRow
from elolab.tuning.claims.sequential import Looks, Seen, still_needed
from elolab.tuning.claims.spec import COMPARED, COSTS, OF_THRESHOLD, Cell, Claim, ClaimsSpec, Part
from elolab.tuning.claims.verdicts import OF_CASES, OPEN, SHOWN, CellOutcome, Rule
from elolab.tuning.matches import Match, MatchTable

DECIDED, COMPLETE, FUTILITY = "decided", "complete", "futility"
OUTCOMES = ("LL", "LD", "even", "WD", "WW")
ELO_SHOWN = 1200.0
"""Elo shown for a match that was won outright."""
UNITS = {"nodes": "×", "nodes_interaction": "×", "share_difference": "points", "differing": "%", "occurs": "cases",
         "mates": "cases", "exact": "cases"}  # fmt: skip


def series_of(part: Part, cell: Cell) -> str:
    """The store's series for a cell's games."""
    return f"{part.id} {cell.name}"


def key_of(part: Part, cell: Cell) -> CellKey:
    """The key of a cell's row."""
    return part.id, cell.engine, cell.limit


def games_at_most(cell: Cell) -> int:
    """Games of all looks of a cell."""
    return 2 * cell.analyses[-1] * len(cell.comparisons)


def game_seconds(cell: Cell) -> float:
    """Processor seconds that one of the cell's games may take."""
    return estimated_game_seconds((cell.limits, cell.reference_limits or cell.limits))


# Games


class GameCourse:
    """A cell that is played in games."""

    def __init__(self, claim: Claim, part: Part, cell: Cell, openings: tuple[int, ...], table: MatchTable) -> None:
        self.claim, self.part, self.cell = claim, part, cell
        self._table = table
        width = len(cell.comparisons)
        most = cell.analyses[-1]
        self.matches: tuple[Match, ...] = tuple(
            match_of(
                cell.conditions, comparison, openings[:most],
                tuple(2 * (pair * width + place) for pair in range(most)), series_of(part, cell),
            )
            for place, comparison in enumerate(cell.comparisons)
        )  # fmt: skip
        self._is_in_elo, self.looks = is_in_elo(cell), looks_of(part, cell)
        self.done = 0
        """Number of looks analysed."""
        self.ended = ""
        self._estimate: EffectEstimate | None = None
        self._counts = Pentanomial((0, 0, 0, 0, 0))

    @property
    def next_matches(self) -> list[Match]:
        """The games up to the next look."""
        start, end = self.pairs, self.cell.analyses[self.done]
        return [match.part(start, end) for match in self.matches]

    @property
    def pairs(self) -> int:
        """Analysed pairs of each match."""
        return self.cell.analyses[self.done - 1] if self.done else 0

    @property
    def series(self) -> str:
        """The store's series for the cell's games."""
        return series_of(self.part, self.cell)

    @property
    def most_seconds(self) -> float:
        """Processor seconds that all its games may take."""
        return games_at_most(self.cell) * game_seconds(self.cell)

    @property
    def seconds_left(self) -> float:
        """Processor seconds that its remaining games may take; 0 once it has ended."""
        games = 0 if self.ended else games_at_most(self.cell) - 2 * self.pairs * len(self.matches)
        return games * game_seconds(self.cell)

    def absorb(self) -> None:
        """Analyse every look whose games are stored, until one ends the course."""
        while not self.ended:
            results = [self._table.results(match) for match in self.next_matches]
            if any(pair is None for match in results for pair in match):
                return
            self.done += 1
            self._analyse()

    def _analyse(self) -> None:
        scores = [self._table.results(match.part(0, self.pairs)) for match in self.matches]
        if self.cell.factorial is None:
            self._counts = self._table.counts(self.matches[0].part(0, self.pairs))
            estimate = match_elo_estimate if self._is_in_elo else match_estimate
            self._estimate = estimate(self._counts, self.part.margin)
        else:
            effect = next(one for one in self.cell.factorial.design.effects if len(one.factors) == 2)
            points = np.array(
                [[sum(pair or ()) / 2 for pair in scores[place]] for place in self.cell.factorial.comparisons]
            )
            self._estimate = contrast_estimate(effect.weights, points, self.part.margin)
        low, high = self._interval()
        seen = self._seen()
        if self.looks.rule.verdict(low, high) not in (OPEN, SHOWN):
            self.ended = DECIDED
        elif self.done == len(self.cell.analyses):
            self.ended = COMPLETE
        elif self.part.expect is not None and seen is not None and seen.is_futile():
            self.ended = FUTILITY

    def _interval(self) -> tuple[float, float]:
        """Bounds of the turned effect, on the scale of the estimate: scores of pairs, or Elo for interactions and fixed
        lengths."""
        if self._estimate is None:
            return -math.inf, math.inf
        low, high = self._estimate.interval(self.looks.bounds[self.done - 1])
        return self.looks.rule.turned(low - self._estimate.null_value, high - self._estimate.null_value)

    def _seen(self) -> Seen | None:
        return None if self._estimate is None else seen_of(self.looks, self.done, self._estimate)

    def result(self) -> CellResult:
        """The result so far."""
        turned, seen, rule = self._interval(), self._seen(), self.looks.rule
        low, high = sorted(self._shown(bound) for bound in turned)
        effect = 0.0 if seen is None else seen.effect
        unbiased = None if seen is None else unbiased_effect(seen)
        verdict = rule.verdict(*turned) if seen is not None else SHOWN if rule.expect is None else OPEN
        needed = seen.pairs_still_needed() if seen is not None and verdict == OPEN else None
        row = CellRow(
            **common_columns(self.claim, self.part, self.cell),
            unit="Elo",
            effect=finite_elo(self._shown(effect)),
            median_unbiased=None if unbiased is None else finite_elo(self._shown(unbiased)),
            low=low, high=high, verdict=verdict,
            p_value=None if seen is None else seen.p_value(*turned),
            cases=self.pairs, hits=0, games=2 * self.pairs * len(self.matches), looks=self.done,
            looks_planned=len(self.cell.analyses), ended=self.ended,
            games_needed=None if needed is None else 2 * needed * len(self.matches), positions_needed=None,
        )  # fmt: skip
        outcomes: dict[str, Any] = dict(zip(OUTCOMES, self._counts.counts, strict=True))
        row = replace(row, **outcomes)
        return CellResult(self.cell, row, CellOutcome(verdict, *rule.turned(low, high)))

    def _shown(self, turned: float) -> float:
        """Convert a turned effect from the estimate's scale to Elo."""
        return shown_elo(self.cell, self.looks.rule, turned)


def is_in_elo(cell: Cell) -> bool:
    """Whether a cell's estimate is in Elo (interactions, fixed lengths); otherwise it is the mean score of a pair."""
    return cell.factorial is not None or len(cell.analyses) == 1


def looks_of(part: Part, cell: Cell) -> Looks:
    """The looks planned for a cell, on the scale of its estimate."""
    margin = part.margin if is_in_elo(cell) else score_of_elo(part.margin) - 0.5
    return Looks(cell.analyses, Rule(part.expect, margin, part.refuted_by), part.error_rate)


def seen_of(looks: Looks, done: int, estimate: EffectEstimate) -> Seen | None:
    """A cell's estimate after ``done`` looks; ``None`` while it has no finite error."""
    if not math.isfinite(estimate.error):
        return None
    effect = looks.rule.sign * (estimate.value - estimate.null_value)
    return Seen(looks, done, effect, estimate.error, estimate.degrees)


def unbiased_effect(seen: Seen) -> float:
    """The unbiased turned effect, on the estimate's scale; the plain estimate if nothing is expected, as then nothing
    stops."""
    return seen.effect if seen.looks.rule.expect is None else seen.median_unbiased()


def shown_elo(cell: Cell, rule: Rule, turned: float) -> float:
    """Convert a turned effect from the estimate's scale to Elo."""
    value = rule.sign * turned
    return value if is_in_elo(cell) else elo_of_score(0.5 + value)


def finite_elo(elo: float) -> float:
    """Elo as shown, with a finite value for a match won outright."""
    return min(ELO_SHOWN, max(-ELO_SHOWN, elo))


# Searches


def sides_of(part: Part, cell: Cell) -> dict[str, tuple[dict[str, Value], Limits]]:
    """The searches per position that a part needs: settings and limits by the side's name."""
    variant, limits = dict(cell.variant), cell.limits
    if part.kind == "mates":
        deepest = limits.depth or 0
        first = deepest - part.further_plies
        return {f"{depth:03d}": (variant, Limits(depth=depth)) for depth in range(first, deepest + 1)}
    if part.kind == "exact":
        solved = Limits(depth=_plies_to_end(cell))
        return {"variant": (variant, limits), "solved": (variant | {"endgame_empties": 60}, solved)}
    if part.kind == "nodes_interaction":
        return {str(place): (dict(values), limits) for place, values in enumerate(cell.combinations)}
    sides = {"variant": (variant, limits)}
    if part.kind in COMPARED:
        sides["reference"] = (dict(cell.reference), limits)
    return sides


def _plies_to_end(cell: Cell) -> int:
    """Maximum plies from a position of a part about exact scores to a full board."""
    return cell.limits.depth or LAST_PLIES + 1


def searches_at_most(spec: ClaimsSpec, merged: Container[CellKey] = ()) -> int:
    """Maximum number of searches in a run, without the ``merged`` cells.

    Parts for which fewer positions qualify have fewer searches.
    """
    cells = [
        (part, cell) for part in spec.parts if not part.is_played
        for cell in part.cells if key_of(part, cell) not in merged
    ]  # fmt: skip
    return sum(part.positions * len(sides_of(part, cell)) for part, cell in cells)


class SearchCourse:
    """A cell of position searches, in blocks; it is judged when all positions are searched."""

    def __init__(
        self, claim: Claim, part: Part, cell: Cell, searches: SuiteSearches,
        positions: Callable[[], list[SuitePosition] | None], block: int,
    ) -> None:  # fmt: skip
        """``block`` is the number of positions searched at a time."""
        self.claim, self.part, self.cell = claim, part, cell
        self._searches, self._read_positions, self._block = searches, positions, block
        self._positions: list[SuitePosition] = []
        self._sides: dict[str, list[Searched]] = {}
        self.ended = ""
        self.rule = Rule(part.expect, self._margin(), part.refuted_by)

    @property
    def searched(self) -> int:
        """Positions searched by all sides."""
        return min((len(one) for one in self._sides.values()), default=0)

    @property
    def positions(self) -> int:
        """Number of positions, if known yet."""
        return len(self._positions)

    def step(self) -> bool:
        """Search one block, or read it from the store; returns whether there was one left."""
        if self.ended:
            return False
        if not self._positions:
            found = self._read_positions()
            if found is None:
                return False
            if self.part.kind == "exact":
                # Positions from which a search to that depth reaches the end.
                game, depth = game_named(self.cell.conditions.game), _plies_to_end(self.cell)
                found = [one for one in found if game.empty_squares(one.opening.position) < depth]
            self._positions = found
        start = self.searched
        block = [one.opening for one in self._positions[start : start + self._block]]
        results = {}
        for name, (values, limits) in sides_of(self.part, self.cell).items():
            found_block = self._searches.search(values, limits, block, self._counted) if block else []
            if found_block is None:
                return False
            results[name] = found_block
        for name, rows in results.items():
            self._sides.setdefault(name, []).extend(rows)
        if self.searched == len(self._positions):
            self.ended = COMPLETE
        return True

    @property
    def _counted(self) -> Counted | None:
        if self.part.kind == "exact":
            # A search limited by depth reaches the end; one limited by a clock must be checked.
            return Counted(REACHED_END, 0) if self.cell.limits.depth is None else None
        name = self.part.of or self.part.where
        return Counted(name, self.part.bound) if name else None

    def _margin(self) -> float:
        """The margin on the scale of the estimate."""
        return math.log1p(self.part.margin / 100) if self.part.kind in COSTS else self.part.margin

    def _estimate(self) -> Estimate:
        """The estimate from the positions searched so far."""
        kind, part = self.part.kind, self.part
        sides = {name: rows[: self.searched] for name, rows in self._sides.items()}
        if not self.searched:
            return Estimate(0.0, math.inf, 0, 0)
        games = [one.game for one in self._positions[: self.searched]]
        if kind == "mates":
            depths = {int(name): rows for name, rows in sides.items()}
            found, changed = mates_that_change(depths, min(depths))
            return rate_of_cases(changed, found)
        if kind == "exact":
            # Searches by depth all reached the end, and were not counted: 0 of 0.
            ended = [place for place, row in enumerate(sides["variant"]) if row.hits == row.cases]
            searched, solved = ([sides[name][place] for place in ended] for name in ("variant", "solved"))
            return rate_of_cases(exact_failures(searched, solved), len(ended))
        if kind == "nodes":
            return self._ratio_of_costs(sides["variant"], sides["reference"], games)
        if kind == "nodes_interaction":
            return log_ratio_of_ratios([[row.nodes for row in rows] for rows in sides.values()], games)
        if kind == "share_difference":
            return share_difference(part.of, sides["variant"], sides["reference"], games)
        if kind == "differing":
            return differing(sides["variant"], sides["reference"], games)
        return share_of(part.of, sides["variant"], games)

    def _ratio_of_costs(
        self, variant: Sequence[Searched], reference: Sequence[Searched], games: Sequence[int]
    ) -> Estimate:
        """The ratio of costs over all positions, or over those where the searches counted the part's condition."""
        both = self.part.where == CONVERGED_MISSES
        chosen = [
            place
            for place, (one, other) in enumerate(zip(variant, reference, strict=True))
            if not self.part.where or (other.hits and (one.hits or not both))
        ]
        if not chosen:
            return Estimate(0.0, math.inf, 0, 0)
        one, other = ([self._cost(side[place]) for place in chosen] for side in (variant, reference))
        return log_ratio(one, other, [games[place] for place in chosen])

    def _cost(self, searched: Searched) -> int:
        return searched.processor_ns if self.cell.is_time else searched.nodes

    def result(self) -> CellResult:
        """The result so far; open until all positions are searched."""
        part, estimate = self.part, self._estimate()
        null = part.threshold if part.kind in OF_THRESHOLD else 0.0
        # The interval holds for all positions together; it promises nothing before.
        low, high = estimate.interval(part.error_rate) if self.ended else (-math.inf, math.inf)
        turned = self.rule.turned(low - null, high - null)
        of_cases = part.expect in OF_CASES
        verdict, p_value = SHOWN if part.expect is None else OPEN, None
        if self.ended and estimate.cases and part.expect is not None:
            if of_cases:
                verdict = self.rule.verdict_of_cases(estimate.hits, estimate.cases, high)
                tail = 0.0 if estimate.hits else estimate.tail(part.margin, -1)
                p_value = min(1.0, 2 * tail) if verdict != OPEN else None
            else:
                verdict = self.rule.verdict(*turned)
                p_value = self._p_value(estimate, turned, null)
        needed = self._needed(estimate, null) if self.ended and verdict == OPEN else None
        show, unit = self._unit()
        row = CellRow(
            **common_columns(self.claim, part, self.cell),
            unit=unit,
            effect=show(estimate.value) if unit != "cases" else float(estimate.hits),
            median_unbiased=None, low=show(low), high=show(high), verdict=verdict, p_value=p_value,
            cases=estimate.cases, hits=estimate.hits, games=0, looks=int(bool(self.ended)), looks_planned=1,
            ended=(DECIDED if verdict not in (OPEN, SHOWN) else self.ended) if self.ended else "",
            games_needed=None, positions_needed=needed,
        )  # fmt: skip
        searched = self.searched
        return CellResult(
            self.cell, row, CellOutcome(verdict, *turned), self._positions[:searched],
            {side: rows[:searched] for side, rows in self._sides.items()},
        )  # fmt: skip

    def _p_value(self, estimate: Estimate, turned: tuple[float, float], null: float) -> float | None:
        sign = self.rule.sign
        tails = [estimate.tail(null + sign * value, sign * side) for value, side in self.rule.hypotheses(*turned)]
        return min(1.0, 2 * max(tails)) if tails else None

    def _needed(self, estimate: Estimate, null: float) -> int | None:
        """Further positions that would decide, if the estimate is right."""
        if not estimate.cases or not math.isfinite(estimate.error) or self.part.expect in OF_CASES:
            return None
        if estimate.one_sided:
            distance = abs(estimate.value - null) / 100
            if not 0 < distance < 1:
                return None
            games = math.log(self.part.error_rate / 2) / math.log1p(-distance)
            return max(1, math.ceil(self.searched * games / estimate.units) - self.searched)
        bound = Looks((2,), self.rule, self.part.error_rate).bounds[0]
        effect = self.rule.sign * (estimate.value - null)
        return still_needed(self.rule, effect, estimate.error * math.sqrt(self.searched), self.searched, bound)

    def _unit(self) -> tuple[Callable[[float], float], str]:
        """The conversion of an estimate for display, and its unit."""
        kind = self.part.kind
        if kind in COSTS:
            return (lambda value: math.exp(min(value, 700.0)) if value < math.inf else math.inf), UNITS[kind]
        if kind == "share":
            return float, RATIO_UNITS.get(self.part.of, "%")
        return float, UNITS[kind]


class MergedCourse:
    """A cell that ended in another results folder."""

    def __init__(self, claim: Claim, part: Part, cell: Cell, row: CellRow) -> None:
        self.claim, self.part, self.cell = claim, part, cell
        self.ended = row.ended
        self._row = row

    def result(self) -> CellResult:
        """The result from the merged row."""
        row = replace(self._of_counts, **common_columns(self.claim, self.part, self.cell))
        return CellResult(self.cell, row, outcome_of_row(self.part, row))

    @property
    def engine_identity(self) -> str:
        """Identity of the engine that played or searched it, or of several."""
        return self._row.engine_identity

    @cached_property
    def _of_counts(self) -> CellRow:
        """The row, with estimates recomputed from the pair counts if it has them."""
        row, cell = self._row, self.cell
        counts = Pentanomial((row.LL, row.LD, row.even, row.WD, row.WW))
        if not self.part.is_played or cell.factorial is not None or counts.pairs != row.cases or not row.looks:
            return row
        looks = looks_of(self.part, cell)
        estimate = match_elo_estimate if is_in_elo(cell) else match_estimate
        seen = seen_of(looks, row.looks, estimate(counts, self.part.margin))
        if seen is None or row.cases != cell.analyses[row.looks - 1]:
            return row
        reach = reach_of_t(looks.bounds[row.looks - 1], seen.degrees) * seen.error
        unbiased = finite_elo(shown_elo(cell, looks.rule, unbiased_effect(seen)))
        return replace(row, median_unbiased=unbiased, p_value=seen.p_value(seen.effect - reach, seen.effect + reach))


CellCourse = GameCourse | SearchCourse | MergedCourse


def outcome_of_row(part: Part, row: CellRow) -> CellOutcome:
    """Apply the part's rule to a row's interval or cases."""
    if part.kind in COSTS:
        low, high = (math.log(bound) if bound > 0 else -math.inf for bound in (row.low, row.high))
        margin = math.log1p(part.margin / 100)
    else:
        null = part.threshold if part.kind in OF_THRESHOLD else 0.0
        low, high, margin = row.low - null, row.high - null, part.margin
    rule = Rule(part.expect, margin, part.refuted_by)
    turned = rule.turned(low, high)
    if part.expect in OF_CASES:
        return CellOutcome(rule.verdict_of_cases(row.hits, row.cases, row.high), *turned)
    return CellOutcome(rule.verdict(*turned), *turned)


def common_columns(claim: Claim, part: Part, cell: Cell) -> dict[str, Any]:
    """The columns of a cell's row that come from the specification."""
    limit = str(cell.limits)
    if cell.reference_limits is not None:
        limit += f" against {cell.reference_limits}"
    return {
        "claim": claim.id, "part": part.id, "engine": cell.engine, "preset": cell.conditions.base_name,
        "limit_name": cell.limit, "limit": limit, "kind": part.kind, "of": part.of, "expect": part.expect or "",
        "threshold": part.threshold, "margin": part.margin, "error_rate": part.error_rate,
        **part.settings_of(cell),
    }  # fmt: skip


def block_size(positions: int, rounds: int) -> int:
    """Number of positions to search at a time."""
    return max(1, -(-positions // rounds))
