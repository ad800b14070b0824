"""Cells of a claims run and their progress: games with interim analyses (looks), or position searches in blocks.

A cell measures one part of a claim in one engine at one limit. Its result depends only on the stored games or searches,
which are read in a fixed order. So a run can stop and resume at any point.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from elolab.arena.play.estimates import estimated_game_seconds
from elolab.arena.statistics.elo import Pentanomial, elo_of_score, score_of_elo
from elolab.arena.statistics.standings import PENTANOMIAL_COLUMNS
from elolab.engine.games import game_named
from elolab.engine.settings.limits import Limits
from elolab.engine.settings.parameters import Value
from elolab.tuning.ablation.ablation_run import match_of
from elolab.tuning.ablation.comparison_verdicts import ERROR_RATE, EffectEstimate, match_elo_estimate, match_estimate
from elolab.tuning.ablation.factorial import contrast_estimate
from elolab.tuning.claims.claims_results import CellKey, CellResult, CellRow, rule_of_part
from elolab.tuning.claims.claims_spec import COMPARED, COSTS, OF_THRESHOLD, Cell, Claim, ClaimPart, ClaimsSpec
from elolab.tuning.claims.look_results import LookResult, PlannedLooks, still_needed
from elolab.tuning.claims.measures import (
    CONVERGED_MISSES,
    NOTHING_SEARCHED,
    RATIO_UNITS,
    REACHED_END,
    Counted,
    Searched,
    SearchEstimate,
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
from elolab.tuning.claims.part_verdicts import OF_CASES, OPEN, SHOWN, PartRule
from elolab.tuning.claims.position_suites import LAST_PLIES, SampledPosition
from elolab.tuning.matches import Match, MatchTable

DECIDED, COMPLETE, FUTILITY = "decided", "complete", "futility"
ELO_SHOWN = 1200.0
"""Largest absolute Elo that tables show for a match. If one side won every game, the Elo is infinite."""
UNITS = {"nodes": "×", "nodes_interaction": "×", "share_difference": "points", "differing": "%", "occurs": "cases",
         "mates": "cases", "exact": "cases"}  # fmt: skip


def series_of(part: ClaimPart, cell: Cell) -> str:
    """Name of the series that holds, in the store, a part's games in one engine at one limit (a cell)."""
    return f"{part.id} {cell.name}"


def key_of(part: ClaimPart, cell: Cell) -> CellKey:
    """The key of a measurement's row in tables: part, engine and name of the search limit."""
    return part.id, cell.engine, cell.limit


def games_at_most(cell: Cell) -> int:
    """Maximum number of games of a part in one engine at one limit (a cell), over all interim analyses."""
    return 2 * cell.analyses[-1] * len(cell.comparisons)


def game_seconds(cell: Cell) -> float:
    """Estimated processor seconds of one game at the cell's engine and limit."""
    return estimated_game_seconds((cell.limits, cell.reference_limits or cell.limits))


# Games


class PlayedCell:
    """A cell measured in games, and its progress. A cell is one part of a claim in one engine at one limit."""

    def __init__(self, claim: Claim, part: ClaimPart, cell: Cell, openings: tuple[int, ...], table: MatchTable) -> None:
        self.claim, self.part, self.cell = claim, part, cell
        self._table = table
        width, most = len(cell.comparisons), cell.analyses[-1]
        self.series = series_of(part, cell)
        self.matches: tuple[Match, ...] = tuple(
            match_of(
                cell.conditions, comparison, openings[:most],
                tuple(2 * (pair * width + place) for pair in range(most)), self.series,
            )
            for place, comparison in enumerate(cell.comparisons)
        )  # fmt: skip
        self._is_in_elo = cell.factorial is not None or len(cell.analyses) == 1
        """Whether the estimate is in Elo (interactions and single looks); otherwise it is a pair's mean score."""
        margin = part.margin if self._is_in_elo else score_of_elo(part.margin) - 0.5
        self.looks = PlannedLooks(cell.analyses, PartRule(part.expect, margin, part.refuted_by), ERROR_RATE)
        self.done = 0
        """Number of looks (interim analyses) done."""
        self.ended = ""
        self._interval = -math.inf, math.inf
        """Bounds of the effect on the estimate's scale; positive values point in the expected direction."""
        self._result: LookResult | None = None
        """The result after the last look; ``None`` until the estimate has a finite standard error."""
        self._counts = Pentanomial((0, 0, 0, 0, 0))

    @property
    def pairs(self) -> int:
        """Number of game pairs of each match that have been analysed."""
        return self.cell.analyses[self.done - 1] if self.done else 0

    @property
    def matches_until_next_look(self) -> list[Match]:
        """The game pairs between the last interim analysis (look) and the next one, as one partial match per
        comparison.
        """
        return [match.part(self.pairs, self.cell.analyses[self.done]) for match in self.matches]

    @property
    def most_seconds(self) -> float:
        """Estimated processor seconds of all games of the cell."""
        return games_at_most(self.cell) * game_seconds(self.cell)

    @property
    def seconds_left(self) -> float:
        """Estimated processor seconds of the cell's remaining games; 0 once the cell has ended."""
        games = 0 if self.ended else games_at_most(self.cell) - 2 * self.pairs * len(self.matches)
        return games * game_seconds(self.cell)

    def analyse_stored(self) -> None:
        """Analyse every look (interim analysis) whose games are all stored, until a look ends the cell."""
        while not self.ended:
            results = [self._table.results(match) for match in self.matches_until_next_look]
            if any(pair is None for match in results for pair in match):
                return
            self.done += 1
            self._analyse()

    def _analyse(self) -> None:
        estimate, rule = self._estimate(), self.looks.rule
        low, high = estimate.interval(self.looks.bounds[self.done - 1])
        self._interval = rule.turned(low - estimate.null_value, high - estimate.null_value)
        self._result = self.looks.result(self.done, estimate)
        if rule.verdict(*self._interval) not in (OPEN, SHOWN):
            self.ended = DECIDED
        elif self.done == len(self.cell.analyses):
            self.ended = COMPLETE
        elif rule.expect is not None and self._result is not None and self._result.is_futile():
            self.ended = FUTILITY

    def _estimate(self) -> EffectEstimate:
        """The effect in the games up to the last interim analysis: Elo if ``_is_in_elo``, else mean score of a pair."""
        matches = [match.part(0, self.pairs) for match in self.matches]
        if self.cell.factorial is None:
            self._counts = self._table.counts(matches[0])
            return (match_elo_estimate if self._is_in_elo else match_estimate)(self._counts, self.part.margin)
        interaction = next(one for one in self.cell.factorial.design.effects if len(one.factors) == 2)
        scores = [self._table.results(matches[place]) for place in self.cell.factorial.comparisons]
        points = np.array([[sum(pair or ()) / 2 for pair in match] for match in scores])
        return contrast_estimate(interaction.weights, points, self.part.margin)

    def result(self) -> CellResult:
        """The result at the last interim analysis so far."""
        result, rule, sides = self._result, self.looks.rule, 2 * len(self.matches)
        low, high = sorted(map(self._in_elo, self._interval))
        verdict = rule.verdict(*self._interval) if result is not None else SHOWN if rule.expect is None else OPEN
        needed = result.pairs_still_needed() if result is not None and verdict == OPEN else None
        outcomes: dict[str, Any] = dict(zip(PENTANOMIAL_COLUMNS, self._counts.counts, strict=True))
        row = CellRow(
            **common_columns(self.claim, self.part, self.cell),
            unit="Elo",
            effect=self._shown_elo(0.0 if result is None else result.effect),
            median_unbiased=None if result is None else self._shown_elo(result.unbiased_effect()),
            low=low, high=high, verdict=verdict,
            p_value=None if result is None else result.p_value(*self._interval),
            cases=self.pairs, hits=0, games=self.pairs * sides, looks=self.done, looks_planned=len(self.cell.analyses),
            ended=self.ended, games_needed=None if needed is None else needed * sides, positions_needed=None,
            **outcomes,
        )  # fmt: skip
        return CellResult(self.cell, row)

    def _in_elo(self, turned: float) -> float:
        """Convert ``turned``, an effect that is positive in the expected direction, to Elo.

        The result is positive if the variant is stronger than the reference.
        """
        value = self.looks.rule.sign * turned
        return value if self._is_in_elo else elo_of_score(0.5 + value)

    def _shown_elo(self, turned: float) -> float:
        """Convert an effect to Elo like ``_in_elo``, but limit its absolute value to ``ELO_SHOWN``."""
        return min(ELO_SHOWN, max(-ELO_SHOWN, self._in_elo(turned)))


# Searches


def sides_of(part: ClaimPart, cell: Cell) -> dict[str, tuple[dict[str, Value], Limits]]:
    """Parameters and limits of each search that a part needs at every position, by the search's name.

    The names depend on the kind of measure. Comparisons have ``variant`` and ``reference``. Mates have the depth with
    three digits, such as ``008``. Exact scores have ``variant``, and ``solved`` for the endgame solver. Interactions
    have the index of the combination of settings.
    """
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
    """Maximum number of plies from a searched position to a full board, for a part that checks exact scores."""
    return cell.limits.depth or LAST_PLIES + 1


def searches_at_most(spec: ClaimsSpec) -> int:
    """Maximum number of searches in a run.

    A part whose positions must meet a condition may have fewer searches.
    """
    return sum(
        part.positions * len(sides_of(part, cell)) for part in spec.parts if not part.is_played for cell in part.cells
    )


class SearchedCell:
    """A cell (one part of a claim, in one engine at one limit) measured by searches of positions, in blocks.

    Its verdict is open until all positions are searched.
    """

    def __init__(
        self, claim: Claim, part: ClaimPart, cell: Cell, searches: SuiteSearches,
        positions: Callable[[], list[SampledPosition] | None], block: int,
    ) -> None:  # fmt: skip
        """Prepare the searches; ``block`` is the number of positions searched at a time.

        ``positions`` is a function that draws the positions. The function returns ``None`` if the run stops.
        """
        self.claim, self.part, self.cell = claim, part, cell
        self._searches, self._read_positions, self._block = searches, positions, block
        self._positions: list[SampledPosition] = []
        self._sides: dict[str, list[Searched]] = {}
        self.ended = ""
        self.rule = rule_of_part(part)

    @property
    def searched(self) -> int:
        """Number of positions for which all searches are done."""
        return min((len(one) for one in self._sides.values()), default=0)

    def step(self) -> bool:
        """Search the next block of positions, or read its results from the store.

        Returns ``False`` if no position was left or if the run stops.
        """
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
            rows = self._searches.search(values, limits, block, self._counted) if block else []
            if rows is None:
                return False
            results[name] = rows
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

    def _estimate(self) -> SearchEstimate:
        """The estimate from the positions searched so far."""
        kind, part, sides = self.part.kind, self.part, self._sides
        if not self.searched:
            return NOTHING_SEARCHED
        games = [one.game for one in self._positions[: self.searched]]
        if kind == "mates":
            depths = {int(name): rows for name, rows in sides.items()}
            found, changed = mates_that_change(depths, min(depths))
            return rate_of_cases(changed, found)
        if kind == "exact":
            # Searches by depth all reached the end, and were not counted: 0 of 0.
            pairs = zip(sides["variant"], sides["solved"], strict=True)
            ended = [(searched, solved) for searched, solved in pairs if searched.hits == searched.cases]
            return rate_of_cases(exact_failures(ended), len(ended))
        if kind == "nodes_interaction":
            return log_ratio_of_ratios([[row.nodes for row in rows] for rows in sides.values()], games)
        if kind in ("share", "occurs"):
            return share_of(part.of, sides["variant"], games)
        both = sides["variant"], sides["reference"]
        if kind == "share_difference":
            return share_difference(part.of, *both, games)
        return differing(*both, games) if kind == "differing" else self._ratio_of_costs(*both, games)

    def _ratio_of_costs(
        self, variant: Sequence[Searched], reference: Sequence[Searched], games: Sequence[int]
    ) -> SearchEstimate:
        """Estimate the ratio of costs (nodes or time) over the positions that meet the part's condition ``where``.

        Without a condition all positions count. ``variant`` and ``reference`` hold one search per position. ``games``
        has the index of the game from which each position comes.
        """
        both = self.part.where == CONVERGED_MISSES
        chosen = [
            (one, other, game)
            for one, other, game in zip(variant, reference, games, strict=True)
            if not self.part.where or (other.hits and (one.hits or not both))
        ]
        if not chosen:
            return NOTHING_SEARCHED
        cost = attrgetter("processor_ns" if self.cell.is_time else "nodes")
        return log_ratio([(cost(one), cost(other)) for one, other, _ in chosen], [game for _, _, game in chosen])

    def result(self) -> CellResult:
        """The result so far; its verdict is open until all positions are searched."""
        part, estimate, sign = self.part, self._estimate(), self.rule.sign
        null = part.threshold if part.kind in OF_THRESHOLD else 0.0
        # The interval holds for all positions together; it promises nothing before.
        low, high = estimate.interval(ERROR_RATE) if self.ended else (-math.inf, math.inf)
        verdict, tails = SHOWN if part.expect is None else OPEN, []
        if self.ended and estimate.cases and part.expect is not None:
            if part.expect in OF_CASES:
                verdict = self.rule.verdict_of_cases(estimate.hits, estimate.cases, high)
                tails = [] if verdict == OPEN else [0.0 if estimate.hits else estimate.tail(part.margin, -1)]
            else:
                turned = self.rule.turned(low - null, high - null)
                verdict = self.rule.verdict(*turned)
                hypotheses = self.rule.hypotheses(*turned)
                tails = [estimate.tail(null + sign * value, sign * side) for value, side in hypotheses]
        show, unit = self._unit()
        row = CellRow(
            **common_columns(self.claim, part, self.cell),
            unit=unit,
            effect=show(estimate.value) if unit != "cases" else float(estimate.hits),
            median_unbiased=None, low=show(low), high=show(high), verdict=verdict,
            p_value=min(1.0, 2 * max(tails)) if tails else None,
            cases=estimate.cases, hits=estimate.hits, games=0, looks=int(bool(self.ended)), looks_planned=1,
            ended=(DECIDED if verdict not in (OPEN, SHOWN) else self.ended) if self.ended else "",
            games_needed=None,
            positions_needed=self._needed(estimate, null) if self.ended and verdict == OPEN else None,
        )  # fmt: skip
        return CellResult(self.cell, row, self._positions[: self.searched], self._sides)

    def _needed(self, estimate: SearchEstimate, null: float) -> int | None:
        """Number of further positions after which the cell probably has a verdict, if the estimate is right.

        ``None`` if no number would be enough. ``null`` is the value with which the estimate is compared.
        """
        if not estimate.cases or not math.isfinite(estimate.error) or self.part.expect in OF_CASES:
            return None
        if estimate.one_sided:
            distance = abs(estimate.value - null) / 100
            if not 0 < distance < 1:
                return None
            games = math.log(ERROR_RATE / 2) / math.log1p(-distance)
            return max(1, math.ceil(self.searched * games / estimate.units) - self.searched)
        bound = PlannedLooks((2,), self.rule, ERROR_RATE).bounds[0]
        effect = self.rule.sign * (estimate.value - null)
        return still_needed(self.rule, effect, estimate.error * math.sqrt(self.searched), self.searched, bound)

    def _unit(self) -> tuple[Callable[[float], float], str]:
        """A function that converts the estimate to the value in tables, and the unit of that value."""
        kind = self.part.kind
        if kind in COSTS:
            return (lambda value: math.exp(min(value, 700.0)) if value < math.inf else math.inf), UNITS[kind]
        return float, RATIO_UNITS.get(self.part.of, "%") if kind == "share" else UNITS[kind]


RunningCell = PlayedCell | SearchedCell


def common_columns(claim: Claim, part: ClaimPart, cell: Cell) -> dict[str, Any]:
    """The columns of a cell's row that the specification alone determines, by name."""
    limit = str(cell.limits)
    if cell.reference_limits is not None:
        limit += f" against {cell.reference_limits}"
    return {
        "claim": claim.id, "part": part.id, "engine": cell.engine, "preset": cell.conditions.base_name,
        "limit_name": cell.limit, "limit": limit, "kind": part.kind, "of": part.of, "expect": part.expect or "",
        "threshold": part.threshold, "margin": part.margin, "error_rate": ERROR_RATE,
        **part.settings_of(cell),
    }  # fmt: skip
