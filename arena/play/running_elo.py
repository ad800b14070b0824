"""Elo estimate of a match in progress, from its complete game pairs."""

from __future__ import annotations

import math
from collections.abc import Iterable

from elolab.arena.records import Outcome
from elolab.arena.statistics.elo import Estimate, Pentanomial, Trinomial
from elolab.arena.statistics.numbers import error_text, signed
from elolab.engine.language import columns_of, console, cut

LEAST_NAME = 8
"""Minimum number of columns to which a player's name is shortened."""


class RunningElo:
    """Counts the games of a match as they end, in any order, from the view of player 0."""

    def __init__(self, name: str, outcomes: Iterable[Outcome] = ()) -> None:
        """``name`` is player 0's name; ``outcomes`` are the games already stored."""
        self._name = name
        self._pairs = Pentanomial((0, 0, 0, 0, 0))
        self._single: dict[tuple[int, int], float] = {}
        """Points of player 0 in games whose colour-swapped partner has not ended yet, keyed by round and pair number.
        """
        for outcome in outcomes:
            self.add(outcome)

    def add(self, outcome: Outcome) -> None:
        """Count a game; one without a result is ignored."""
        if outcome.score is None:
            return
        place = outcome.pairing
        points = outcome.score if place.first == 0 else 1 - outcome.score
        before = self._single.pop((place.round, place.pair), None)
        if before is None:
            self._single[place.round, place.pair] = points
        else:
            self._pairs += Pentanomial.from_pairs([(before, points)])

    @property
    def counts(self) -> Pentanomial:
        """Results of the complete game pairs so far, from the view of player 0."""
        return self._pairs

    def estimate(self) -> Estimate | None:
        """Elo estimate for player 0 from complete game pairs, or from single games while no pair is complete; ``None``
        before the first result.
        """
        if self._pairs.pairs:
            return self._pairs.estimate()
        points = list(self._single.values())
        wins, draws = points.count(1.0), points.count(0.5)
        return Trinomial(wins, draws, len(points) - wins - draws).estimate() if points else None

    def words(self, columns: int) -> str:
        """Text with player 0's name, Elo and 95 % interval. It is empty if it does not fit in ``columns``, or while Elo
        or interval is infinite.
        """
        estimate = self.estimate()
        if estimate is None or not math.isfinite(estimate.elo) or not math.isfinite(estimate.elo_error):
            return ""
        say, figures = console("elolab.arena"), {"elo": signed(estimate.elo), "error": error_text(estimate.elo_error)}
        room = columns - columns_of(say("progress.elo", name="", **figures))
        if room < min(LEAST_NAME, columns_of(self._name)):
            return ""
        return say("progress.elo", name=cut(self._name, room), **figures)

    def direction(self) -> int:
        """1 if player 0's whole 95 % interval of Elo is above 0, -1 if it is below 0, else 0."""
        estimate = self.estimate()
        if estimate is None:
            return 0
        return int(estimate.elo_low > 0) - int(estimate.elo_high < 0)
