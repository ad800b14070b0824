"""Several search limits in one study: the limit of each settings pair, and its distance from the target limit.

A settings pair is two sets of values that play each other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from elolab.arena.play.estimates import estimated_game_seconds, estimated_move_seconds
from elolab.engine.settings.limits import Limits

GOLDEN_RATIO = (math.sqrt(5) - 1) / 2
"""The golden ratio. The fractional parts of its multiples are spread evenly from 0 to 1 (Weyl's theorem)."""


@dataclass(frozen=True)
class LimitShares:
    """Search limits of a study's games before the playoff, and the share of the games at each limit."""

    target: Limits
    """The search limit for which the recommendation is optimised."""
    limits: tuple[Limits, ...]
    shares: tuple[float, ...]
    """Share of the games at each of ``limits``; the sum is 1."""

    def of_settings_pair(self, number: int) -> Limits:
        """Search limit for the settings pair with the index ``number`` in the schedule.

        A settings pair is two sets of values that play each other. Limits alternate, so that any range of consecutive
        numbers has nearly the right shares.
        """
        drawn = (number * GOLDEN_RATIO) % 1.0
        for limits, share in zip(self.limits, self.shares, strict=True):
            drawn -= share
            if drawn < 0:
                return limits
        return self.limits[-1]

    def log_limit(self, limits: Limits) -> float:
        """Natural logarithm of the cost of a move at ``limits`` divided by its cost at the target limit; 0 at the
        target limit.
        """
        return 0.0 if limits == self.target else math.log(_cost(limits) / _cost(self.target))

    @property
    def game_seconds(self) -> float:
        """Estimated mean processor seconds per game."""
        seconds = [estimated_game_seconds([limits]) for limits in self.limits]
        return sum(share * one for share, one in zip(self.shares, seconds, strict=True))

    def playoff_share(self, share: float) -> float:
        """The playoff's share of the games for which it takes the part ``share`` of the total processor time.

        The playoff is played at the target limit, where games may take longer than at other limits.
        """
        if self.limits == (self.target,):
            return share
        odds = share / (1 - share) * self.game_seconds / estimated_game_seconds([self.target])
        return odds / (1 + odds)

    def content(self) -> dict[str, list[str] | list[float]]:
        """Limits and shares as plain data; empty if the target is the only limit."""
        if self.limits == (self.target,):
            return {}
        return {"limits": [str(limits) for limits in self.limits], "limit_shares": list(self.shares)}


def target_alone(target: Limits) -> LimitShares:
    """A ``LimitShares`` for a study whose only limit is the target limit."""
    return LimitShares(target, (target,), (1.0,))


def equal_cost(limits: Sequence[Limits]) -> tuple[float, ...]:
    """Shares of the games that give all limits equal processor time; their sum is 1."""
    return normalised([1 / _cost(one) for one in limits])


def normalised(shares: Sequence[float]) -> tuple[float, ...]:
    """The shares, multiplied by a common factor so that their sum is 1."""
    return tuple(share / sum(shares) for share in shares)


def _cost(limits: Limits) -> float:
    return estimated_move_seconds(limits)
