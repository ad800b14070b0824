"""Several limits in one study: which pair of settings plays at which, and how far each is from the one that counts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from elolab.arena.play.estimates import estimated_game_seconds, estimated_move_seconds
from elolab.engine.settings.limits import Limits

GOLDEN_RATIO = (math.sqrt(5) - 1) / 2
"""Its multiples, without their whole parts, are spread evenly from 0 to 1 however many there are (Weyl)."""


@dataclass(frozen=True)
class LimitShares:
    """The limits that the games of a study are played at, the playoff and the validations apart."""

    target: Limits
    """Where the recommendation is to be good."""
    limits: tuple[Limits, ...]
    shares: tuple[float, ...]
    """Of the games, which sum to 1."""

    def of_settings_pair(self, number: int) -> Limits:
        """The limit of a settings pair; the shares are kept as well as they can be from any number to any other."""
        drawn = (number * GOLDEN_RATIO) % 1.0
        for limits, share in zip(self.limits, self.shares, strict=True):
            drawn -= share
            if drawn < 0:
                return limits
        return self.limits[-1]

    def log_limit(self, limits: Limits) -> float:
        """Natural logarithm of what a move costs at a limit over what it costs at the target; 0 there."""
        return 0.0 if limits == self.target else math.log(_cost(limits) / _cost(self.target))

    @property
    def game_seconds(self) -> float:
        """Seconds of one processor for a game, roughly."""
        seconds = [estimated_game_seconds([limits]) for limits in self.limits]
        return sum(share * one for share, one in zip(self.shares, seconds, strict=True))

    def playoff_share(self, share: float) -> float:
        """The share of the games at the target that takes this share of the processor time of all."""
        if self.limits == (self.target,):
            return share
        odds = share / (1 - share) * self.game_seconds / estimated_game_seconds([self.target])
        return odds / (1 + odds)

    def content(self) -> dict[str, list[str] | list[float]]:
        """What decides the games, as plain data; nothing where there is but the target."""
        if self.limits == (self.target,):
            return {}
        return {"limits": [str(limits) for limits in self.limits], "limit_shares": list(self.shares)}


def target_alone(target: Limits) -> LimitShares:
    """All games at the target."""
    return LimitShares(target, (target,), (1.0,))


def equal_cost(limits: Sequence[Limits]) -> tuple[float, ...]:
    """Shares of the games that give each limit as much processor time."""
    return normalised([1 / _cost(one) for one in limits])


def normalised(shares: Sequence[float]) -> tuple[float, ...]:
    """The same in proportion, with the sum 1."""
    return tuple(share / sum(shares) for share in shares)


def _cost(limits: Limits) -> float:
    return estimated_move_seconds(limits)
